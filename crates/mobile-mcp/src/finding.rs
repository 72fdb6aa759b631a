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

/// Makes the rules with what is to be known of each.
macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident $name:literal $section:literal $strict:literal $lenient:literal;)*) => {
        /// A rule of the specification, or one of ours for files that would hurt whoever reads them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[$doc])* $rule,)*
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

            /// Whether what breaks it cannot be used in this mode: the capability or the tool that it is about.
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
    OneService "one-service" "1.1" true false;
    /// The service can be started by others: exported, enabled.
    ServiceReachable "service-reachable" "1.1" true true;
    /// The service has a human-readable name (`mobile.mcp.tool.name`), a string.
    ToolName "tool-name" "1.1.2" true false;
    /// The service has a description (`mobile.mcp.tool.description`), a string.
    ToolDescription "tool-description" "1.1.3" true false;
    /// The service points to its descriptor (`mobile.mcp.tool.capabilities`), an XML resource.
    ToolCapabilities "tool-capabilities" "1.1.4" true true;
    /// The descriptor is well-formed XML.
    WellFormed "well-formed" "1.2" true true;
    /// The root element is `mobile-mcp-capabilities`.
    Root "root" "1.2.1" true false;
    /// The root has a version, and it is 1.0.
    RootVersion "root-version" "1.2.1" true false;
    /// A capability has an id.
    CapabilityId "capability-id" "1.2.2" true true;
    /// Ids of capabilities are unique in a tool.
    CapabilityIdUnique "capability-id-unique" "1.2.2" true true;
    /// A capability has a description.
    CapabilityDescription "capability-description" "1.2.2" true false;
    /// A capability has a version.
    CapabilityVersion "capability-version" "1.2.2" true false;
    /// A capability has at most one `<input>` and one `<output>`.
    OneInputOutput "one-input-output" "1.2.2" true false;
    /// A parameter has a name.
    ParamName "param-name" "1.2.2" true true;
    /// Names of parameters are unique in their list.
    ParamNameUnique "param-name-unique" "1.2.2" true true;
    /// A parameter has a type.
    ParamType "param-type" "1.2.2" true false;
    /// The type is one that is known: string, boolean, integer, number. Others pass as string.
    ParamTypeKnown "param-type-known" "1.2.2" false false;
    /// An input parameter says whether it is required.
    ParamRequired "param-required" "1.2.2" true false;
    /// `required` is true or false.
    ParamRequiredValue "param-required-value" "1.2.2" true false;
    /// A parameter has a description.
    ParamDescription "param-description" "1.2.2" true false;
    /// Elements and attributes are those of the specification.
    Unknown "unknown" "1.2" false false;
    /// A value is there in words: a reference to a resource that is not there says nothing.
    Resolved "resolved" "1.1" true false;
    /// It is not larger than what is read: bytes, depth, capabilities, parameters, characters.
    Bounds "bounds" "" true true;
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
}
