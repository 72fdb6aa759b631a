//! The rules for an app's declaration and descriptor, and the findings against them.

use std::fmt;

use super::SourcePosition;

/// How strictly to read an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// By the specification: every MUST counts. For app developers (lint).
    Strict,
    /// By what can be called: common mistakes of real apps are reported and accepted. For the app
    /// tool host.
    Lenient,
}

/// A violation of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The violated rule.
    pub rule: Rule,
    /// Where it was found.
    pub position: SourcePosition,
    /// One sentence: what is wrong and how to fix it.
    pub message: String,
}

impl Finding {
    /// Whether the subject of the rule is unusable in this mode.
    pub fn is_fatal(&self, mode: Mode) -> bool {
        self.rule.is_fatal(mode)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.rule.name())
    }
}

/// What a rule is about, and so what becomes unusable when a fatal rule is violated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleSubject {
    /// The app as a tool.
    Tool,
    /// Its descriptor, and therefore the tool.
    Descriptor,
    /// One capability; the others stay usable.
    Capability,
    /// One parameter; its capability stays usable.
    Parameter,
}

impl RuleSubject {
    /// The word used in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Descriptor => "descriptor",
            Self::Capability => "capability",
            Self::Parameter => "parameter",
        }
    }
}

/// Generates the rules: name, section, subject, and whether a violation is fatal to lint and to the
/// app tool host.
macro_rules! rules {
    ($($(#[doc = $doc:literal])* $rule:ident $name:literal $section:literal $part:ident $strict:literal $lenient:literal;)*) => {
        /// A rule of the specification, or one of ours: limits that protect the reader, and hints.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[doc = $doc])* $rule,)*
        }

        impl Rule {
            /// All rules, in the order of the specification.
            pub const ALL: &[Self] = &[$(Self::$rule,)*];

            /// The rule's name, as printed by lint.
            pub fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)* }
            }

            /// Its section in the specification; empty for a rule of ours.
            pub fn section(self) -> &'static str {
                match self { $(Self::$rule => $section,)* }
            }

            /// The requirement, as a sentence.
            pub fn requirement(self) -> &'static str {
                match self { $(Self::$rule => concat!($($doc),*).trim_ascii(),)* }
            }

            /// What the rule is about.
            pub fn subject(self) -> RuleSubject {
                match self { $(Self::$rule => RuleSubject::$part,)* }
            }

            /// Whether a violation makes the rule's [`RuleSubject`] unusable in this mode.
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
    /// Other apps can start the service: it is exported and enabled.
    ServiceReachable "service-reachable" "1.1" Tool true true;
    /// The service requires no permission of its callers: an agent may not hold it.
    ServicePermission "service-permission" "" Tool false false;
    /// The service has a human-readable name, a string (`mobile.mcp.tool.name`).
    ToolName "tool-name" "1.1.2" Tool true false;
    /// The service has a description, a string (`mobile.mcp.tool.description`).
    ToolDescription "tool-description" "1.1.3" Tool true false;
    /// The service points to its descriptor, an XML resource (`mobile.mcp.tool.capabilities`).
    ToolCapabilities "tool-capabilities" "1.1.4" Tool true true;
    /// Every text is present: a reference to a missing resource does not count as text.
    Resolved "resolved" "1.1" Tool true false;
    /// The descriptor is well-formed XML, without a document type.
    WellFormed "well-formed" "1.2" Descriptor true true;
    /// The descriptor has only elements and attributes of the specification.
    Unknown "unknown" "1.2" Descriptor false false;
    /// The root element is `mobile-mcp-capabilities`.
    Root "root" "1.2.1" Descriptor true false;
    /// The root has a version, and it is 1.0.
    RootVersion "root-version" "1.2.1" Descriptor true false;
    /// The descriptor has at least one capability.
    Capabilities "capabilities" "" Descriptor false false;
    /// A capability has an id.
    CapabilityId "capability-id" "1.2.2" Capability true true;
    /// Capability ids are unique within a tool; of duplicates, the first is used.
    CapabilityIdUnique "capability-id-unique" "1.2.2" Capability true true;
    /// A capability has a description.
    CapabilityDescription "capability-description" "1.2.2" Capability true false;
    /// A capability has a version.
    CapabilityVersion "capability-version" "1.2.2" Capability true false;
    /// A capability has at most one `<input>` and one `<output>`; several are merged.
    OneInputOutput "one-input-output" "1.2.2" Capability true false;
    /// A parameter has a name; without one its capability cannot be called.
    ParamName "param-name" "1.2.2" Capability true true;
    /// Parameter names are unique within their list; of duplicates, the first is used.
    ParamNameUnique "param-name-unique" "1.2.2" Parameter true true;
    /// A parameter has a type; without one it is read as a string.
    ParamType "param-type" "1.2.2" Parameter true false;
    /// The type is string, boolean, integer or number; any other is read as a string.
    ParamTypeKnown "param-type-known" "" Parameter false false;
    /// An input parameter says whether it is required; the default is optional.
    ParamRequired "param-required" "1.2.2" Parameter true false;
    /// `required` is true or false.
    ParamRequiredValue "param-required-value" "1.2.2" Parameter true false;
    /// A parameter has a description.
    ParamDescription "param-description" "1.2.2" Parameter true false;
    /// A file has at most 1 MiB, 16 levels of elements and 64 attributes per element.
    Bounds "bounds" "" Descriptor true true;
    /// A capability has at most 64 input and 64 output parameters; an id or name has at most 256
    /// characters.
    CapabilityBounds "capability-bounds" "" Capability true true;
    /// A tool has at most 512 capabilities, a description 4,000 characters, a tool's name 256; the
    /// rest is truncated, as are findings after 128 of a kind.
    Cut "cut" "" Descriptor false false;
}

/// The rules as a Markdown table, for the docs.
pub fn table() -> String {
    let mut table = String::from(
        "| rule | section | requirement | about | strict (lint) | lenient (host) |\n|---|---|---|---|---|---|\n",
    );
    for rule in Rule::ALL {
        let effect = |mode| if rule.is_fatal(mode) { "**fatal**" } else { "listed" };
        let section = if rule.section().is_empty() { "ours" } else { rule.section() };
        table.push_str(&format!(
            "| `{}` | {section} | {} | {} | {} | {} |\n",
            rule.name(),
            rule.requirement(),
            rule.subject().name(),
            effect(Mode::Strict),
            effect(Mode::Lenient),
        ));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_fatal_to_the_host_are_fatal_to_lint() {
        for rule in Rule::ALL {
            assert!(!rule.is_fatal(Mode::Lenient) || rule.is_fatal(Mode::Strict), "{rule:?}");
        }
    }

    #[test]
    fn rule_names_are_unique() {
        let names: std::collections::BTreeSet<_> =
            Rule::ALL.iter().map(|rule| rule.name()).collect();
        assert_eq!(names.len(), Rule::ALL.len());
    }
}
