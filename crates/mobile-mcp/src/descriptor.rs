//! What a tool can do: its descriptor (section 1.2).
//!
//! [`read`] takes XML text, [`check()`] takes the elements of a compiled file. Both return the
//! usable part and the findings. The app tool host calls what is in the [`Descriptor`]; lint prints
//! the findings.

mod check;

use serde_json::Value;

use crate::{Element, Finding};

/// Limit on the capabilities read from one tool.
pub const MAX_CAPABILITIES: usize = 512;

/// Limit on the input parameters, and on the output parameters, read from one capability.
pub const MAX_PARAMETERS: usize = 64;

/// A tool's capabilities.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Descriptor {
    /// The protocol version that it names; empty if none.
    pub version: String,
    /// Its capabilities, in file order; ids are unique.
    pub capabilities: Vec<Capability>,
}

/// A function that a tool offers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capability {
    /// Unique within its tool.
    pub id: String,
    /// The app's own text. A model must never take it for an instruction of its user.
    pub description: String,
    /// Its version as written; empty if missing.
    pub version: String,
    /// Input parameters, in order.
    pub input: Vec<Param>,
    /// Output parameters, in order.
    pub output: Vec<Param>,
}

/// An input or output parameter of a capability.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Param {
    /// Unique within its list.
    pub name: String,
    /// Its JSON type.
    pub kind: ParamType,
    /// The type as written in the descriptor.
    pub written: String,
    /// Whether a call must supply it; always false for output.
    pub required: bool,
    /// The app's own text.
    pub description: String,
}

/// The JSON type of a value. The specification lists none; these are the ones that tools use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ParamType {
    /// `string`, and every unknown type.
    #[default]
    String,
    /// `boolean`
    Boolean,
    /// `integer`: a number without a fraction.
    Integer,
    /// `number`
    Number,
}

impl ParamType {
    /// All of them.
    pub const ALL: &[Self] = &[Self::String, Self::Boolean, Self::Integer, Self::Number];

    /// The type's name in descriptors and JSON schemas.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
        }
    }

    /// The type with this name; `None` if unknown.
    pub fn of(written: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == written)
    }

    /// Whether `value` has this type by the rules of JSON Schema: 1.0 is an integer, a quoted
    /// number is a string, and null has none of these types.
    pub fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Self::String, Value::String(_)) | (Self::Boolean, Value::Bool(_)) => true,
            (Self::Number, Value::Number(_)) => true,
            (Self::Integer, Value::Number(number)) => {
                let whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
                number.is_i64() || number.is_u64() || whole
            }
            _ => false,
        }
    }
}

/// The result of reading a descriptor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParsedDescriptor {
    /// The part that the lenient rules accept.
    pub descriptor: Descriptor,
    /// Its findings, in file order.
    pub findings: Vec<Finding>,
}

impl Descriptor {
    /// The capability with this id.
    pub fn capability(&self, id: &str) -> Option<&Capability> {
        self.capabilities.iter().find(|one| one.id == id)
    }
}

/// Reads a descriptor from the elements of a compiled file.
pub fn check(root: &Element) -> ParsedDescriptor {
    check::check(root)
}

/// Reads a descriptor from XML text. Text that is not well-formed yields no capabilities.
pub fn read(xml: &str) -> ParsedDescriptor {
    match crate::xml::read(xml) {
        Ok(root) => check(&root),
        Err(finding) => {
            ParsedDescriptor { descriptor: Descriptor::default(), findings: vec![finding] }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Attribute, Mode, Rule, SourcePosition, Value};
    use super::*;

    /// The sample of the specification's authors, in their descriptor's shape.
    const CLOCK_IN: &str = r#"<mobile-mcp-capabilities version="1.0">
  <capability id="clock_in_today" description="Clock in today." version="1"/>
  <capability id="query_clock_in" description="Query a date." version="1">
    <input><param name="date" type="string" required="true" description="yyyy-MM-dd"/></input>
    <output>
      <param name="date" type="string" description="The date"/>
      <param name="has_clocked_in" type="boolean" description="Whether"/>
    </output>
  </capability>
</mobile-mcp-capabilities>"#;

    #[test]
    fn valid_descriptor_is_read_completely() {
        let ParsedDescriptor { descriptor, findings } = read(CLOCK_IN);
        assert_eq!(findings, []);
        assert_eq!(descriptor.version, "1.0");
        let ids: Vec<_> = descriptor.capabilities.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["clock_in_today", "query_clock_in"]);
        let query = descriptor.capability("query_clock_in").unwrap();
        assert_eq!((query.version.as_str(), query.description.as_str()), ("1", "Query a date."));
        assert!(query.input[0].required && query.input[0].kind == ParamType::String);
        assert_eq!(query.output[1].kind, ParamType::Boolean);
    }

    #[test]
    fn older_dialects_are_reported_and_accepted() {
        let reading = read("<mcp><capability id='a' description='b'/></mcp>");
        let rules: Vec<_> = reading.findings.iter().map(|one| one.rule).collect();
        assert_eq!(rules, [Rule::Root, Rule::RootVersion, Rule::CapabilityVersion]);
        assert!(
            reading
                .findings
                .iter()
                .all(|one| one.is_fatal(Mode::Strict) && !one.is_fatal(Mode::Lenient))
        );
        assert_eq!(reading.descriptor.capabilities.len(), 1);
    }

    #[test]
    fn unusable_capability_still_claims_its_id() {
        let reading = read(
            "<mobile-mcp-capabilities version='1.0'>\
               <capability id='pay' description='a' version='1'><output>\
                 <param type='string' description='b'/></output></capability>\
               <capability id='pay' description='c' version='1'/>\
             </mobile-mcp-capabilities>",
        );
        let rules: Vec<_> = reading.findings.iter().map(|one| one.rule).collect();
        assert_eq!(rules, [Rule::ParamName, Rule::CapabilityIdUnique]);
        assert_eq!(reading.descriptor.capabilities, []);
    }

    fn compiled(name: &str, attributes: Vec<(&str, Value)>, children: Vec<Element>) -> Element {
        let attributes = attributes.into_iter();
        let attributes = attributes.map(|(name, value)| Attribute {
            name: name.into(),
            value,
            position: SourcePosition::default(),
        });
        Element {
            name: name.into(),
            attributes: attributes.collect(),
            children,
            position: SourcePosition::default(),
        }
    }

    /// aapt stores `version="1.0"` as a float with its text, `version="1"` as an integer and
    /// `required="true"` as a boolean (measured with Debian's aapt 10.0.0).
    #[test]
    fn typed_attributes_of_compiled_files_keep_their_text() {
        let text = |text: &str| Value::Text(text.into());
        let param = compiled(
            "param",
            vec![
                ("name", text("n")),
                ("type", text("integer")),
                ("required", Value::Boolean(true)),
                ("description", text("d")),
            ],
            vec![],
        );
        let capability = compiled(
            "capability",
            vec![
                ("id", Value::Integer(7)),
                ("description", text("d")),
                ("version", Value::Integer(1)),
            ],
            vec![compiled("input", vec![], vec![param])],
        );
        for (version, is_fine) in [
            (Value::Float(1.0, Some("1.0".into())), true),
            (Value::Float(1.0, None), true),
            (Value::Text("1.0".into()), true),
            (Value::Integer(1), false),
            (Value::Float(1.1, Some("1.1".into())), false),
            (Value::Float(1.1, None), false),
            (Value::Float(1.0, Some("1.00".into())), false),
            (Value::Reference(0x7f01_0000), false),
        ] {
            let root = compiled(
                "mobile-mcp-capabilities",
                vec![("version", version.clone())],
                vec![capability.clone()],
            );
            let reading = check(&root);
            assert_eq!(reading.findings.is_empty(), is_fine, "{version:?}: {:?}", reading.findings);
            let read = &reading.descriptor.capabilities[0];
            assert_eq!((read.id.as_str(), read.version.as_str()), ("7", "1"));
            assert!(read.input[0].required && read.input[0].kind == ParamType::Integer);
        }
    }
}
