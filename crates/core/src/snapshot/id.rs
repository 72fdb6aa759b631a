//! The ids by which a client names an element of a list that it received.
//!
//! Toolsets and other callers parse them from text; everything below passes them on as
//! [`ElementId`].

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The id of an element in the last list of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ElementId {
    /// A ref of a snapshot: `e12`.
    Ref(ElementRef),
    /// A number in the controls by the rules of the UFO MobileAgent servers.
    Number(ControlNumber),
}

/// A ref to an element, written `e12`. A session never uses a number for two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ElementRef(pub u32);

/// The number of a control in a list, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "NonZeroUsize", from = "NonZeroUsize")]
pub struct ControlNumber(usize);

/// A text that is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {expected}")]
pub struct InvalidId {
    text: String,
    expected: &'static str,
}

impl ControlNumber {
    /// The number of the control at this index of a list.
    pub fn at(index: usize) -> Self {
        Self(index + 1)
    }

    /// The index in the list, counted from 0.
    pub fn index(self) -> usize {
        self.0 - 1
    }
}

/// Parses a number written as lists write it: "05" and "+5" are in no list.
pub(crate) fn parse_exactly<N: FromStr + ToString>(text: &str) -> Option<N> {
    text.parse().ok().filter(|number: &N| number.to_string() == text)
}

impl FromStr for ElementRef {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let number = text.strip_prefix('e').and_then(parse_exactly);
        number
            .map(Self)
            .ok_or_else(|| InvalidId { text: text.into(), expected: "a ref such as e12" })
    }
}

impl FromStr for ControlNumber {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let number = parse_exactly(text).filter(|&number| number > 0);
        number
            .map(Self)
            .ok_or_else(|| InvalidId { text: text.into(), expected: "the number of a control" })
    }
}

impl From<ElementRef> for String {
    fn from(id: ElementRef) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for ElementRef {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<ControlNumber> for NonZeroUsize {
    fn from(number: ControlNumber) -> Self {
        Self::MIN.saturating_add(number.index())
    }
}

impl From<NonZeroUsize> for ControlNumber {
    fn from(number: NonZeroUsize) -> Self {
        Self(number.get())
    }
}

impl fmt::Display for ElementRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.0)
    }
}

impl fmt::Display for ControlNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Fits after "element" in a message.
impl fmt::Display for ElementId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ref(id) => id.fmt(f),
            Self::Number(number) => write!(f, "control {number}"),
        }
    }
}

impl From<ElementRef> for ElementId {
    fn from(id: ElementRef) -> Self {
        Self::Ref(id)
    }
}

impl From<ControlNumber> for ElementId {
    fn from(number: ControlNumber) -> Self {
        Self::Number(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_accepted_only_as_lists_write_them() {
        assert_eq!("e12".parse(), Ok(ElementRef(12)));
        assert_eq!("12".parse(), Ok(ControlNumber::at(11)));
        assert_eq!(ControlNumber::at(11).to_string(), "12");
        for other in ["", "0", "05", "+5", " 5", "1.0", "-1", "e1", "18446744073709551616"] {
            assert!(other.parse::<ControlNumber>().is_err(), "{other:?}");
        }
        for other in ["", "e", "12", "e05", "e+5", "e 5", "E5", "e-1", "e4294967296", "email"] {
            assert!(other.parse::<ElementRef>().is_err(), "{other:?}");
        }
        let error = "x".parse::<ElementRef>().unwrap_err().to_string();
        assert_eq!(error, "\"x\" is not a ref such as e12");
    }
}
