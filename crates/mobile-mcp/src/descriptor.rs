//! What a tool can do: its descriptor (section 1.2).

use super::{Element, Finding};

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
pub fn check(_root: &Element) -> Reading {
    Reading::default()
}

/// Reads a descriptor out of XML text.
pub fn read(_xml: &str) -> Reading {
    Reading::default()
}
