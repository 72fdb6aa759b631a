//! Test cases for and against each rule of an app's files.

use std::collections::BTreeSet;

use thumbwire_mobile_mcp::declaration::{CAPABILITIES, DESCRIPTION, NAME};
use thumbwire_mobile_mcp::{Declaration, Finding, Mode, Rule, Value, declaration, descriptor};

/// An app to check, or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CaseInput {
    /// Its services with the action `mobile.mcp.SERVICE`.
    Services(Vec<Declaration>),
    /// Its descriptor.
    Descriptor(String),
}

impl CaseInput {
    /// The findings of our own checker.
    pub(crate) fn check(&self) -> Vec<Finding> {
        match self {
            Self::Services(services) => declaration::check(services),
            Self::Descriptor(xml) => descriptor::read(xml).findings,
        }
    }
}

/// An app that keeps a rule, or violates only that one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    /// The rule.
    pub(crate) rule: Rule,
    /// Whether the app violates it.
    pub(crate) broken: bool,
    /// What is special about this app.
    pub(crate) what: &'static str,
    /// The app.
    pub(crate) input: CaseInput,
}

/// A case for and a case against each MUST of an app's files; more where a rule can be violated in
/// several ways.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case =
        |rule, broken, what, given| cases.push(Case { rule, broken, what, input: given });
    for (rule, broken, what, services) in services() {
        case(rule, broken, what, CaseInput::Services(services));
    }
    for (rule, broken, what, xml) in DESCRIPTORS {
        // Most cases are one capability of an otherwise correct descriptor.
        let whole = match xml.starts_with("<capability") {
            true => format!(
                "<mobile-mcp-capabilities version=\"1.0\">\n{xml}\n</mobile-mcp-capabilities>"
            ),
            false => (*xml).to_owned(),
        };
        case(*rule, *broken, what, CaseInput::Descriptor(whole));
    }
    cases
}

type ServiceCase = (Rule, bool, &'static str, Vec<Declaration>);

fn services() -> Vec<ServiceCase> {
    let good = service();
    let with = |change: &dyn Fn(&mut Declaration)| {
        let mut changed = service();
        change(&mut changed);
        vec![changed]
    };
    let without = |name: &str| with(&|service| service.meta.retain(|(key, _)| key != name));
    let saying = |name: &str, value: Value| {
        with(&|service| {
            for (key, says) in &mut service.meta {
                if key == name {
                    *says = value.clone();
                }
            }
        })
    };
    let text = |words: &str| Value::Text(words.into());
    let one = || vec![good.clone()];
    vec![
        (Rule::OneService, false, "one service", one()),
        (Rule::OneService, true, "no service has the intent filter", vec![]),
        (
            Rule::OneService,
            true,
            "two services have the intent filter",
            vec![good.clone(), good.clone()],
        ),
        (Rule::ServiceReachable, false, "the service is exported and enabled", one()),
        (
            Rule::ServiceReachable,
            true,
            "the service is not exported",
            with(&|service| service.exported = false),
        ),
        (
            Rule::ServiceReachable,
            true,
            "the service is not enabled",
            with(&|service| service.enabled = false),
        ),
        (Rule::ToolName, false, "the name is a string", one()),
        (Rule::ToolName, true, "there is no name", without(NAME)),
        (Rule::ToolName, true, "the name is empty", saying(NAME, text(" "))),
        (Rule::ToolName, true, "the name is a number", saying(NAME, Value::Integer(7))),
        (Rule::ToolDescription, false, "the description is a string", one()),
        (Rule::ToolDescription, true, "there is no description", without(DESCRIPTION)),
        (
            Rule::ToolDescription,
            true,
            "the description is a boolean",
            saying(DESCRIPTION, Value::Boolean(true)),
        ),
        (Rule::ToolCapabilities, false, "an XML resource is named", one()),
        (Rule::ToolCapabilities, true, "no descriptor is named", without(CAPABILITIES)),
        (
            Rule::ToolCapabilities,
            true,
            "the descriptor's name is text",
            saying(CAPABILITIES, text("mcp_capabilities")),
        ),
        (Rule::Resolved, false, "the words are there", one()),
        (
            Rule::Resolved,
            true,
            "the name is a resource that does not exist",
            saying(NAME, Value::Reference(0x7f01_0001)),
        ),
    ]
}

/// A service that keeps every rule.
fn service() -> Declaration {
    Declaration {
        service: "com.example.clockin.ToolService".into(),
        exported: true,
        enabled: true,
        permission: None,
        meta: vec![
            (NAME.into(), Value::Text("Clock-in".into())),
            (DESCRIPTION.into(), Value::Text("Keeps a day's attendance.".into())),
            (CAPABILITIES.into(), Value::Reference(0x7f0b_0001)),
        ],
    }
}

/// Rule, whether it is violated, what is special, and the descriptor or one capability of it.
const DESCRIPTORS: &[(Rule, bool, &str, &str)] = &[
    (
        Rule::WellFormed,
        false,
        "an XML declaration, a comment and an empty root",
        "<?xml version=\"1.0\"?><!-- none --><mobile-mcp-capabilities version=\"1.0\"/>",
    ),
    (
        Rule::WellFormed,
        true,
        "an element is not closed",
        "<mobile-mcp-capabilities version=\"1.0\">",
    ),
    (
        Rule::WellFormed,
        true,
        "there is a document type",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><mobile-mcp-capabilities version=\"1.0\"/>",
    ),
    (Rule::WellFormed, true, "it is not XML", "{\"capabilities\": []}"),
    (
        Rule::Root,
        false,
        "the root is the specification's",
        "<mobile-mcp-capabilities version=\"1.0\"/>",
    ),
    (
        Rule::Root,
        true,
        "the root of an older version of the specification",
        "<mcp version=\"1.0\"/>",
    ),
    (Rule::RootVersion, false, "the version is 1.0", "<mobile-mcp-capabilities version=\"1.0\"/>"),
    (Rule::RootVersion, true, "there is no version", "<mobile-mcp-capabilities/>"),
    (Rule::RootVersion, true, "the version is 2.0", "<mobile-mcp-capabilities version=\"2.0\"/>"),
    (
        Rule::CapabilityId,
        false,
        "a capability has an id",
        "<capability id=\"a\" description=\"d\" version=\"1\"/>",
    ),
    (
        Rule::CapabilityId,
        true,
        "a capability has none",
        "<capability description=\"d\" version=\"1\"/>",
    ),
    (
        Rule::CapabilityId,
        true,
        "its id is empty",
        "<capability id=\"\" description=\"d\" version=\"1\"/>",
    ),
    (
        Rule::CapabilityIdUnique,
        false,
        "two capabilities have different ids",
        "<capability id=\"a\" description=\"d\" version=\"1\"/><capability id=\"b\" description=\"d\" version=\"1\"/>",
    ),
    (
        Rule::CapabilityIdUnique,
        true,
        "two capabilities share an id",
        "<capability id=\"a\" description=\"d\" version=\"1\"/><capability id=\"a\" description=\"e\" version=\"1\"/>",
    ),
    (
        Rule::CapabilityDescription,
        false,
        "a capability has a description",
        "<capability id=\"a\" description=\"d\" version=\"1\"/>",
    ),
    (
        Rule::CapabilityDescription,
        true,
        "a capability has none",
        "<capability id=\"a\" version=\"1\"/>",
    ),
    (
        Rule::CapabilityVersion,
        false,
        "a capability has a version",
        "<capability id=\"a\" description=\"d\" version=\"1\"/>",
    ),
    (
        Rule::CapabilityVersion,
        true,
        "a capability has none",
        "<capability id=\"a\" description=\"d\"/>",
    ),
    (
        Rule::OneInputOutput,
        false,
        "one input and one output, both empty",
        "<capability id=\"a\" description=\"d\" version=\"1\"><input/><output/></capability>",
    ),
    (
        Rule::OneInputOutput,
        true,
        "two inputs",
        "<capability id=\"a\" description=\"d\" version=\"1\"><input/><input/></capability>",
    ),
    (
        Rule::OneInputOutput,
        true,
        "two outputs",
        "<capability id=\"a\" description=\"d\" version=\"1\"><output/><output/></capability>",
    ),
    (
        Rule::ParamName,
        false,
        "a parameter has a name",
        "<capability id=\"a\" description=\"d\" version=\"1\"><input><param name=\"p\" type=\"string\" required=\"true\" description=\"d\"/></input></capability>",
    ),
    (
        Rule::ParamName,
        true,
        "a parameter of the input has none",
        "<capability id=\"a\" description=\"d\" version=\"1\"><input><param type=\"string\" required=\"true\" description=\"d\"/></input></capability>",
    ),
    (
        Rule::ParamName,
        true,
        "a parameter of the output has none",
        "<capability id=\"a\" description=\"d\" version=\"1\"><output><param type=\"string\" description=\"d\"/></output></capability>",
    ),
    (
        Rule::ParamNameUnique,
        false,
        "the same name in input and output",
        "<capability id=\"a\" description=\"d\" version=\"1\"><input><param name=\"p\" type=\"string\" required=\"false\" description=\"d\"/></input><output><param name=\"p\" type=\"string\" description=\"d\"/></output></capability>",
    ),
    (
        Rule::ParamNameUnique,
        true,
        "the same name twice in the input",
        "<capability id=\"a\" description=\"d\" version=\"1\"><input><param name=\"p\" type=\"string\" required=\"false\" description=\"d\"/><param name=\"p\" type=\"string\" required=\"false\" description=\"d\"/></input></capability>",
    ),
    (
        Rule::ParamType,
        false,
        "a parameter has a type",
        "<capability id=\"a\" description=\"d\" version=\"1\"><output><param name=\"p\" type=\"boolean\" description=\"d\"/></output></capability>",
    ),
    (
        Rule::ParamType,
        true,
        "a parameter of the input has none",
        "<capability id=\"a\" description=\"d\" version=\"1\"><input><param name=\"p\" required=\"true\" description=\"d\"/></input></capability>",
    ),
    (
        Rule::ParamType,
        true,
        "a parameter of the output has none",
        "<capability id=\"a\" description=\"d\" version=\"1\"><output><param name=\"p\" description=\"d\"/></output></capability>",
    ),
    (
        Rule::ParamRequired,
        false,
        "an input parameter is explicitly optional; an output parameter omits `required`",
        "<capability id=\"a\" description=\"d\" version=\"1\"><input><param name=\"p\" type=\"string\" required=\"false\" description=\"d\"/></input><output><param name=\"q\" type=\"string\" description=\"d\"/></output></capability>",
    ),
    (
        Rule::ParamRequired,
        true,
        "an input parameter omits `required`",
        "<capability id=\"a\" description=\"d\" version=\"1\"><input><param name=\"p\" type=\"string\" description=\"d\"/></input></capability>",
    ),
    (
        Rule::ParamRequiredValue,
        false,
        "true and false",
        "<capability id=\"a\" description=\"d\" version=\"1\"><input><param name=\"p\" type=\"string\" required=\"true\" description=\"d\"/><param name=\"q\" type=\"string\" required=\"false\" description=\"d\"/></input></capability>",
    ),
    (
        Rule::ParamRequiredValue,
        true,
        "yes",
        "<capability id=\"a\" description=\"d\" version=\"1\"><input><param name=\"p\" type=\"string\" required=\"yes\" description=\"d\"/></input></capability>",
    ),
    (
        Rule::ParamDescription,
        false,
        "a parameter has a description",
        "<capability id=\"a\" description=\"d\" version=\"1\"><output><param name=\"p\" type=\"string\" description=\"d\"/></output></capability>",
    ),
    (
        Rule::ParamDescription,
        true,
        "a parameter of the input has none",
        "<capability id=\"a\" description=\"d\" version=\"1\"><input><param name=\"p\" type=\"string\" required=\"true\"/></input></capability>",
    ),
    (
        Rule::ParamDescription,
        true,
        "a parameter of the output has none",
        "<capability id=\"a\" description=\"d\" version=\"1\"><output><param name=\"p\" type=\"string\"/></output></capability>",
    ),
];

/// The rules with a section that are fatal to lint: the MUSTs of an app's files.
fn rules_of_files() -> impl Iterator<Item = Rule> {
    let all = Rule::ALL.iter().copied();
    all.filter(|rule| !rule.section().is_empty() && rule.is_fatal(Mode::Strict))
}

fn reported(input: &CaseInput) -> Vec<Rule> {
    input.check().iter().map(|finding| finding.rule).collect()
}

#[test]
fn every_file_must_has_passing_and_failing_cases() {
    let cases = cases();
    for rule in rules_of_files() {
        for broken in [false, true] {
            let is_there = |case: &Case| case.rule == rule && case.broken == broken;
            assert!(cases.iter().any(is_there), "{} {broken}", rule.name());
        }
    }
    for case in cases {
        let fatal: BTreeSet<Rule> =
            reported(&case.input).into_iter().filter(|rule| rule.is_fatal(Mode::Strict)).collect();
        let expected = if case.broken { BTreeSet::from([case.rule]) } else { BTreeSet::new() };
        assert_eq!(fatal, expected, "{}: {}", case.rule.name(), case.what);
    }
}
