//! A piece of XML as descriptors need it, whether it was text or compiled.

/// An element.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// Its name, without a prefix.
    pub name: String,
    /// Its attributes, in order.
    pub attributes: Vec<Attribute>,
    /// The elements in it, in order. Text between them says nothing in this protocol.
    pub children: Vec<Element>,
    /// Where it stands.
    pub place: Place,
}

/// An attribute of an [`Element`].
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Its name, without a prefix.
    pub name: String,
    /// What it says.
    pub value: Value,
    /// Where it stands; that of its element where nothing nearer is known.
    pub place: Place,
}

/// What an attribute says. Compiled files have types: aapt stores `version="1.0"` as a float and `required="true"` as a boolean.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Words.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number, with the words that it was written in where the file kept them.
    Float(f32, Option<String>),
    /// True or false.
    Boolean(bool),
    /// A resource that could not be found, by its id: `0x7f0b0001`.
    Reference(u32),
}

/// A place in a file, counted from 1. Compiled files know lines alone, or nothing (0).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters; 0 where it is not known.
    pub column: u32,
}

impl Element {
    /// The attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|one| one.name == name)
    }
}

impl Value {
    /// The words as they were written, as near as a typed value tells: a float without its words is `1.0`, not `1`.
    pub fn words(&self) -> String {
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
    fn a_typed_value_gives_the_words_that_it_was_written_in() {
        for (value, words) in [
            (Value::Float(1.0, Some("1.0".into())), "1.0"),
            (Value::Float(1.0, None), "1.0"),
            (Value::Integer(1), "1"),
            (Value::Boolean(true), "true"),
            (Value::Reference(0x7f0b_0001), "@0x7f0b0001"),
            (Value::Text("@string/app".into()), "@string/app"),
        ] {
            assert_eq!(value.words(), words);
        }
    }
}
