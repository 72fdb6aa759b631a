//! What a tool can do: its descriptor (section 1.2).
//!
//! [`read`] takes XML text, [`check`] the elements of a compiled file; both give what can be used and what is against the rules. The bridge
//! calls what is in the [`Descriptor`]; lint prints the findings.

use serde_json::Value;

use super::{Element, Finding, Place, Rule};

/// The most capabilities of a tool that are read.
pub const MOST_CAPABILITIES: usize = 512;

/// The most parameters that are read of what one capability takes, and of what it gives.
pub const MOST_PARAMETERS: usize = 64;

/// A tool's capabilities.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Descriptor {
    /// The version of the protocol that it names; empty where it names none.
    pub version: String,
    /// What it can do, in order; ids are unique.
    pub capabilities: Vec<Capability>,
}

/// One thing that a tool can do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capability {
    /// Unique in its tool.
    pub id: String,
    /// In words, by the app: nothing that a model may take for an order of its user.
    pub description: String,
    /// Its version, as it is written; empty where the app leaves it out.
    pub version: String,
    /// What it takes, in order.
    pub input: Vec<Param>,
    /// What it gives, in order.
    pub output: Vec<Param>,
}

/// A value that a capability takes or gives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Param {
    /// Unique in its list.
    pub name: String,
    /// How it travels.
    pub kind: Kind,
    /// The type as it is written.
    pub written: String,
    /// Whether a call must have it. Of what is given: false.
    pub required: bool,
    /// In words, by the app.
    pub description: String,
}

/// How a value travels in JSON. The specification has no list; these are what tools are seen to use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// `string`, and whatever is not known.
    #[default]
    String,
    /// `boolean`
    Boolean,
    /// `integer`: a number without a fraction.
    Integer,
    /// `number`
    Number,
}

impl Kind {
    /// All of them.
    pub const ALL: &[Self] = &[Self::String, Self::Boolean, Self::Integer, Self::Number];

    /// Its name, in descriptors and in JSON schemas.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
        }
    }

    /// The kind of this name; `None` where no tool is known to use it.
    pub fn of(written: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == written)
    }

    /// Whether a value is of this kind, as JSON Schema has it: 1.0 is an integer, a number in quotes is a string, and null is none.
    pub fn fits(self, value: &Value) -> bool {
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

/// What was read of a descriptor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// What can be used of it, by the lenient rules.
    pub descriptor: Descriptor,
    /// What it has against the rules, in the order of the file.
    pub findings: Vec<Finding>,
}

impl Descriptor {
    /// The capability of this id.
    pub fn capability(&self, id: &str) -> Option<&Capability> {
        self.capabilities.iter().find(|one| one.id == id)
    }
}

/// Reads a descriptor out of a compiled file's elements.
pub fn check(root: &Element) -> Reading {
    super::check::check(root)
}

/// Reads a descriptor out of XML text. A text that is not well-formed gives no capabilities.
pub fn read(xml: &str) -> Reading {
    match super::xml::read(xml) {
        Ok(root) => check(&root),
        Err(finding) => Reading { descriptor: Descriptor::default(), findings: vec![finding] },
    }
}

/// Reads a descriptor out of a file with XML text, in UTF-8.
pub fn read_bytes(file: &[u8]) -> Reading {
    match std::str::from_utf8(file) {
        Ok(text) => read(text),
        Err(error) => {
            let before = file.get(..error.valid_up_to()).unwrap_or_default();
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let place = Place { line: u32::try_from(line).unwrap_or(u32::MAX), column: 0 };
            let says = "the file is no text in UTF-8".into();
            let finding = Finding { rule: Rule::WellFormed, place, says };
            Reading { descriptor: Descriptor::default(), findings: vec![finding] }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Attribute, Mode, Value};
    use super::*;

    /// The sample of the specification's authors, in the shape of their descriptor: no version at the root.
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
    fn a_descriptor_without_a_fault_is_read_whole() {
        let Reading { descriptor, findings } = read(CLOCK_IN);
        assert_eq!(findings, []);
        assert_eq!(descriptor.version, "1.0");
        let ids: Vec<_> = descriptor.capabilities.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["clock_in_today", "query_clock_in"]);
        let query = descriptor.capability("query_clock_in").unwrap();
        assert_eq!((query.version.as_str(), query.description.as_str()), ("1", "Query a date."));
        assert!(query.input[0].required && query.input[0].kind == Kind::String);
        assert_eq!(query.output[1].kind, Kind::Boolean);
    }

    #[test]
    fn older_dialects_are_listed_and_passed_over() {
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
    fn an_id_is_taken_by_a_capability_that_cannot_be_called_too() {
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
            place: Place::default(),
        });
        Element {
            name: name.into(),
            attributes: attributes.collect(),
            children,
            place: Place::default(),
        }
    }

    /// aapt stores `version="1.0"` as a float with its words, `version="1"` as an integer and `required="true"` as a boolean (measured with
    /// Debian's aapt 10.0.0).
    #[test]
    fn typed_attributes_of_compiled_files_are_read_as_what_they_were_written() {
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
            assert!(read.input[0].required && read.input[0].kind == Kind::Integer);
        }
    }
}
