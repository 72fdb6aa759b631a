//! The rules that an app's declaration and descriptor can break, and what was found.

use std::fmt;

use super::Place;

/// How strictly an app is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// As the specification has it: every MUST counts. For app developers (lint).
    Strict,
    /// As far as it can be called: what real apps get wrong is listed and passed over. For the bridge.
    Lenient,
}

/// What an app has against a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// Where.
    pub place: Place,
    /// What is wrong there and what would be right: one sentence.
    pub says: String,
}

impl Finding {
    /// Whether what it is about cannot be used in this mode.
    pub fn is_fatal(&self, mode: Mode) -> bool {
        self.rule.is_fatal(mode)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.says, self.rule.name())
    }
}

/// What of an app a rule is about, and so what cannot be used where it is broken and fatal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The app as a tool.
    Tool,
    /// Its descriptor, and with it the tool.
    Descriptor,
    /// One capability; the others stay.
    Capability,
    /// One parameter; its capability stays.
    Parameter,
}

impl Part {
    /// The word for it in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Descriptor => "descriptor",
            Self::Capability => "capability",
            Self::Parameter => "parameter",
        }
    }
}

/// Makes the rules with what is to be known of each: name, section, the part that it is about, whether it is fatal to lint and to the
/// bridge.
macro_rules! rules {
    ($($(#[doc = $doc:literal])* $rule:ident $name:literal $section:literal $part:ident $strict:literal $lenient:literal;)*) => {
        /// A rule of the specification, or one of ours: for files that would hurt whoever reads them, and for what helps nobody.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[doc = $doc])* $rule,)*
        }

        impl Rule {
            /// All of them, in the order of the specification.
            pub const ALL: &[Self] = &[$(Self::$rule,)*];

            /// Its name, as lint prints it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)* }
            }

            /// The section of the specification that has it; empty for one of ours.
            pub fn section(self) -> &'static str {
                match self { $(Self::$rule => $section,)* }
            }

            /// What it demands, in a sentence.
            pub fn demands(self) -> &'static str {
                match self { $(Self::$rule => concat!($($doc),*).trim_ascii(),)* }
            }

            /// What it is about.
            pub fn part(self) -> Part {
                match self { $(Self::$rule => Part::$part,)* }
            }

            /// Whether what breaks it cannot be used in this mode: the [`Part`] that it is about.
            pub fn is_fatal(self, mode: Mode) -> bool {
                match self {
                    $(Self::$rule => match mode { Mode::Strict => $strict, Mode::Lenient => $lenient },)*
                }
            }
        }
    };
}

rules! {
    /// A tool has exactly one service with the action `mobile.mcp.SERVICE`.
    OneService "one-service" "1.1" Tool true false;
    /// The service can be started by others: exported and enabled.
    ServiceReachable "service-reachable" "1.1" Tool true true;
    /// The service asks no permission of its callers, which an agent may not have.
    ServicePermission "service-permission" "" Tool false false;
    /// The service has a human-readable name, a string (`mobile.mcp.tool.name`).
    ToolName "tool-name" "1.1.2" Tool true false;
    /// The service has a description, a string (`mobile.mcp.tool.description`).
    ToolDescription "tool-description" "1.1.3" Tool true false;
    /// The service points to its descriptor, an XML resource (`mobile.mcp.tool.capabilities`).
    ToolCapabilities "tool-capabilities" "1.1.4" Tool true true;
    /// What is to be words is words: a reference to a resource that is not there says nothing.
    Resolved "resolved" "1.1" Tool true false;
    /// The descriptor is well-formed XML, without a document type.
    WellFormed "well-formed" "1.2" Descriptor true true;
    /// Elements and attributes are those of the specification.
    Unknown "unknown" "1.2" Descriptor false false;
    /// The root element is `mobile-mcp-capabilities`.
    Root "root" "1.2.1" Descriptor true false;
    /// The root has a version, and it is 1.0.
    RootVersion "root-version" "1.2.1" Descriptor true false;
    /// There is a capability.
    Capabilities "capabilities" "" Descriptor false false;
    /// A capability has an id.
    CapabilityId "capability-id" "1.2.2" Capability true true;
    /// Ids of capabilities are unique in a tool; of several, the first is used.
    CapabilityIdUnique "capability-id-unique" "1.2.2" Capability true true;
    /// A capability has a description.
    CapabilityDescription "capability-description" "1.2.2" Capability true false;
    /// A capability has a version.
    CapabilityVersion "capability-version" "1.2.2" Capability true false;
    /// A capability has at most one `<input>` and one `<output>`; of several, the parameters are taken together.
    OneInputOutput "one-input-output" "1.2.2" Capability true false;
    /// A parameter has a name; its capability cannot be called without.
    ParamName "param-name" "1.2.2" Capability true true;
    /// Names of parameters are unique in their list; of several, the first is used.
    ParamNameUnique "param-name-unique" "1.2.2" Parameter true true;
    /// A parameter has a type; without one it is taken for a string.
    ParamType "param-type" "1.2.2" Parameter true false;
    /// The type is one that is known: string, boolean, integer, number. Others are taken for a string.
    ParamTypeKnown "param-type-known" "" Parameter false false;
    /// An input parameter says whether it is required; without that it is not.
    ParamRequired "param-required" "1.2.2" Parameter true false;
    /// `required` is true or false.
    ParamRequiredValue "param-required-value" "1.2.2" Parameter true false;
    /// A parameter has a description.
    ParamDescription "param-description" "1.2.2" Parameter true false;
    /// A file has at most 1 MiB, 16 elements in each other, 64 attributes in one.
    Bounds "bounds" "" Descriptor true true;
    /// A capability has at most 64 parameters each way, an id or a name at most 256 characters.
    CapabilityBounds "capability-bounds" "" Capability true true;
    /// A tool has at most 512 capabilities, a description 4,000 characters, a tool's name 256; the rest is cut, as are findings after 128 of
    /// a kind.
    Cut "cut" "" Descriptor false false;
}

/// The rules as a table in Markdown, for the documents.
pub fn table() -> String {
    let mut table = String::from(
        "| rule | section | demands | about | strict (lint) | lenient (bridge) |\n|---|---|---|---|---|---|\n",
    );
    for rule in Rule::ALL {
        let says = |mode| if rule.is_fatal(mode) { "**fatal**" } else { "listed" };
        let section = if rule.section().is_empty() { "ours" } else { rule.section() };
        table.push_str(&format!(
            "| `{}` | {section} | {} | {} | {} | {} |\n",
            rule.name(),
            rule.demands(),
            rule.part().name(),
            says(Mode::Strict),
            says(Mode::Lenient),
        ));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fatal_to_the_bridge_is_fatal_to_lint() {
        for rule in Rule::ALL {
            assert!(!rule.is_fatal(Mode::Lenient) || rule.is_fatal(Mode::Strict), "{rule:?}");
        }
    }

    #[test]
    fn names_of_rules_are_unique() {
        let names: std::collections::BTreeSet<_> =
            Rule::ALL.iter().map(|rule| rule.name()).collect();
        assert_eq!(names.len(), Rule::ALL.len());
    }
}
