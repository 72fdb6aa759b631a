//! The XML that descriptors need, from text or from a compiled file.

/// An element.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// Its name, without a prefix.
    pub name: String,
    /// Its attributes, in order.
    pub attributes: Vec<Attribute>,
    /// Its child elements, in order. This protocol gives no meaning to text between them.
    pub children: Vec<Element>,
    /// Its source position.
    pub position: SourcePosition,
}

/// An attribute of an [`Element`].
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Its name, without a prefix.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Its source position; its element's if no better one is known.
    pub position: SourcePosition,
}

/// The value of an attribute. Compiled files are typed: aapt stores `version="1.0"` as a float and
/// `required="true"` as a boolean.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Text.
    Text(String),
    /// An integer.
    Integer(i64),
    /// A float, with the text that it was written as if the file kept it.
    Float(f32, Option<String>),
    /// A boolean.
    Boolean(bool),
    /// The id of a resource that could not be resolved: `0x7f0b0001`.
    Reference(u32),
}

/// A position in a file, counted from 1. Compiled files know only lines, or nothing (0).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePosition {
    /// The line.
    pub line: u32,
    /// The column in characters; 0 if unknown.
    pub column: u32,
}

impl Element {
    /// The attribute with this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|one| one.name == name)
    }
}

impl Value {
    /// The text as written, as far as a typed value tells: a float without its text becomes `1.0`,
    /// not `1`.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(number) => number.to_string(),
            Self::Float(_, Some(written)) => written.clone(),
            Self::Float(number, None) => format!("{number:?}"),
            Self::Boolean(is) => is.to_string(),
            Self::Reference(id) => format!("@{id:#010x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_value_yields_its_source_text() {
        for (value, words) in [
            (Value::Float(1.0, Some("1.0".into())), "1.0"),
            (Value::Float(1.0, None), "1.0"),
            (Value::Integer(1), "1"),
            (Value::Boolean(true), "true"),
            (Value::Reference(0x7f0b_0001), "@0x7f0b0001"),
            (Value::Text("@string/app".into()), "@string/app"),
        ] {
            assert_eq!(value.to_text(), words);
        }
    }
}
