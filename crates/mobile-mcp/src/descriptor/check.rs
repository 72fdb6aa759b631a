//! Checks the elements of a descriptor against sections 1.2.1 and 1.2.2.
//!
//! One checker serves text and compiled files. It descends exactly as deep as a descriptor is, so
//! the result does not depend on how the elements were made.

use std::collections::BTreeSet;

use super::{
    Capability, Descriptor, MAX_CAPABILITIES, MAX_PARAMETERS, Param, ParamType, ParsedDescriptor,
};
use crate::{
    Element, Finding, MAX_DESCRIPTION, MAX_NAME, Mode, Rule, SourcePosition, VERSION, Value,
};
use thumbwire_base::{is_longer, sanitize, truncate};

/// Limit on reported findings of each kind: fatal to lint, and not.
const MAX_FINDINGS: usize = 128;

/// The root element's name in the specification.
const ROOT: &str = "mobile-mcp-capabilities";

pub(crate) fn check(root: &Element) -> ParsedDescriptor {
    let mut found = Findings::default();
    let version = root_version(root, &mut found);
    let mut capabilities = Vec::new();
    let mut ids = BTreeSet::new();
    let mut count = 0;
    for child in &root.children {
        if child.name != "capability" {
            found.unknown_element(child, "the root", "<capability>");
            continue;
        }
        count += 1;
        if count > MAX_CAPABILITIES {
            let message = format!(
                "more than {MAX_CAPABILITIES} capabilities; this one and the rest are ignored"
            );
            found.add(Rule::Cut, child.position, message);
            break;
        }
        capabilities.extend(capability(child, &mut ids, &mut found));
    }
    if count == 0 {
        found.add(
            Rule::Capabilities,
            root.position,
            "no `<capability>`: the tool offers nothing".into(),
        );
    }
    let mut findings = found.findings;
    findings.sort_by_key(|finding| finding.position);
    ParsedDescriptor { descriptor: Descriptor { version, capabilities }, findings }
}

fn root_version(root: &Element, found: &mut Findings) -> String {
    if root.name != ROOT {
        let message = format!("the root element is `<{}>`; expected `<{ROOT}>`", short(&root.name));
        found.add(Rule::Root, root.position, message);
    }
    found.unknown_attributes(root, &["version"]);
    let Some(written) = root.attribute("version") else {
        let message = format!("the root element has no `version`; add version=\"{VERSION}\"");
        found.add(Rule::RootVersion, root.position, message);
        return String::new();
    };
    let version = written.value.to_text();
    // A compiled 1.0 that lost its text counts as 1.0, however it was written.
    let is_ours = match written.value {
        Value::Float(number, None) => number == 1.0,
        _ => version == VERSION,
    };
    if !is_ours {
        let message =
            format!("the version is `{}`; expected version=\"{VERSION}\"", short(&version));
        found.add(Rule::RootVersion, written.position, message);
    }
    truncate(&version, MAX_NAME)
}

/// Reads a capability; `None` if it cannot be called. `ids` holds the ids of all earlier
/// capabilities, unusable ones included: which of two capabilities an id names must not depend on
/// their other faults.
fn capability(
    element: &Element,
    ids: &mut BTreeSet<String>,
    found: &mut Findings,
) -> Option<Capability> {
    found.unknown_attributes(element, &["id", "description", "version"]);
    let id = found.required_text(element, "id", Rule::CapabilityId, "a capability");
    let named = match &id {
        Some(id) => format!("the capability `{}`", short(id)),
        None => "a capability".into(),
    };
    let description = found.description(element, Rule::CapabilityDescription, &named);
    let version = found.required_text(element, "version", Rule::CapabilityVersion, &named);
    let mut usable = id.is_some();
    if id.as_ref().is_some_and(|id| is_longer(id, MAX_NAME)) {
        found.too_long(element, "id", Rule::CapabilityBounds, &named);
        usable = false;
    }
    if let Some(id) = &id
        && !ids.insert(id.clone())
    {
        let position = element.attribute("id").map_or(element.position, |id| id.position);
        let message =
            format!("duplicate capability id `{}`; give each capability its own id", short(id));
        found.add(Rule::CapabilityIdUnique, position, message);
        usable = false;
    }
    let (mut input, mut output) = (None, None);
    for child in &element.children {
        let (list, is_input) = match child.name.as_str() {
            "input" => (&mut input, true),
            "output" => (&mut output, false),
            _ => {
                found.unknown_element(child, &named, "<input> or <output>");
                continue;
            }
        };
        found.unknown_attributes(child, &[]);
        if list.is_some() {
            let message = format!(
                "{named} has more than one `<{}>`; merge their parameters into one",
                child.name
            );
            found.add(Rule::OneInputOutput, child.position, message);
        }
        usable &= parameters(child, is_input, list.get_or_insert_with(Vec::new), &named, found);
    }
    usable.then(|| Capability {
        id: id.unwrap_or_default(),
        description,
        version: truncate(&version.unwrap_or_default(), MAX_NAME),
        input: input.unwrap_or_default(),
        output: output.unwrap_or_default(),
    })
}

/// Reads the parameters of one list. Returns whether the capability can be called with them.
fn parameters(
    list: &Element,
    is_input: bool,
    params: &mut Vec<Param>,
    of: &str,
    found: &mut Findings,
) -> bool {
    let mut usable = true;
    for child in &list.children {
        if child.name != "param" {
            found.unknown_element(child, &format!("the `<{}>` of {of}", list.name), "<param>");
            continue;
        }
        if params.len() >= MAX_PARAMETERS {
            let message =
                format!("{of} has more than {MAX_PARAMETERS} parameters in its `<{}>`", list.name);
            found.add(Rule::CapabilityBounds, child.position, message);
            return false;
        }
        match parameter(child, is_input, of, found) {
            None => usable = false,
            Some(param) if params.iter().any(|other| other.name == param.name) => {
                let position = child.attribute("name").map_or(child.position, |name| name.position);
                let message = format!(
                    "duplicate parameter name `{}` in {of}; give each parameter its own name",
                    short(&param.name)
                );
                found.add(Rule::ParamNameUnique, position, message);
            }
            Some(param) => params.push(param),
        }
    }
    usable
}

/// Reads a parameter; `None` if it cannot be sent.
fn parameter(element: &Element, is_input: bool, of: &str, found: &mut Findings) -> Option<Param> {
    let known: &[&str] = match is_input {
        true => &["name", "type", "required", "description"],
        false => &["name", "type", "description"],
    };
    found.unknown_attributes(element, known);
    let name =
        found.required_text(element, "name", Rule::ParamName, &format!("a parameter of {of}"));
    let named = match &name {
        Some(name) => format!("the parameter `{}` of {of}", short(name)),
        None => format!("a parameter of {of}"),
    };
    let written = found.required_text(element, "type", Rule::ParamType, &named);
    let kind = written.as_deref().map(|written| (written, ParamType::of(written)));
    if let Some((written, None)) = kind {
        let position =
            element.attribute("type").map_or(element.position, |written| written.position);
        let message = format!(
            "unknown type `{}` of {named}, read as string; the known types are string, boolean, integer and number",
            short(written)
        );
        found.add(Rule::ParamTypeKnown, position, message);
    }
    let kind = kind.and_then(|(_, kind)| kind).unwrap_or_default();
    let required = is_input && required(element, &named, found);
    let description = found.description(element, Rule::ParamDescription, &named);
    let name = name?;
    if is_longer(&name, MAX_NAME) {
        found.too_long(element, "name", Rule::CapabilityBounds, &named);
        return None;
    }
    let written = truncate(&written.unwrap_or_default(), MAX_NAME);
    Some(Param { name, kind, written, required, description })
}

fn required(element: &Element, named: &str, found: &mut Findings) -> bool {
    let Some(written) = element.attribute("required") else {
        let message =
            format!("{named} has no `required`; add required=\"true\" or required=\"false\"");
        found.add(Rule::ParamRequired, element.position, message);
        return false;
    };
    let text = written.value.to_text();
    match (&written.value, text.as_str()) {
        (Value::Boolean(required), _) => *required,
        (Value::Text(_), "true") => true,
        (Value::Text(_), "false") => false,
        _ => {
            let message = format!(
                "`required` of {named} is `{}`; expected \"true\" or \"false\"",
                short(&text)
            );
            found.add(Rule::ParamRequiredValue, written.position, message);
            text.eq_ignore_ascii_case("true")
        }
    }
}

/// An app's text, made fit for a finding.
fn short(text: &str) -> String {
    sanitize(text, 60)
}

#[derive(Default)]
struct Findings {
    findings: Vec<Finding>,
    /// Findings that lint calls errors, and all others.
    counts: [usize; 2],
}

impl Findings {
    fn add(&mut self, rule: Rule, position: SourcePosition, text: String) {
        let count = &mut self.counts[usize::from(rule.is_fatal(Mode::Strict))];
        *count += 1;
        if *count <= MAX_FINDINGS {
            self.findings.push(Finding { rule, position, message: text });
        } else if *count == MAX_FINDINGS + 1 {
            let message =
                format!("more than {MAX_FINDINGS} findings of this kind; the rest are not listed");
            self.findings.push(Finding { rule: Rule::Cut, position, message });
        }
    }

    /// The text of a required, non-empty attribute.
    fn required_text(
        &mut self,
        element: &Element,
        name: &str,
        rule: Rule,
        of: &str,
    ) -> Option<String> {
        let Some(attribute) = element.attribute(name) else {
            self.add(rule, element.position, format!("{of} has no `{name}`"));
            return None;
        };
        if let Value::Reference(_) = attribute.value {
            let message = format!(
                "`{name}` of {of} is {}, a resource that does not exist",
                attribute.value.to_text()
            );
            let fatal = rule.is_fatal(Mode::Lenient);
            self.add(if fatal { rule } else { Rule::Resolved }, attribute.position, message);
            return None;
        }
        let text = attribute.value.to_text();
        if text.trim().is_empty() {
            self.add(rule, attribute.position, format!("`{name}` of {of} is empty"));
            return None;
        }
        Some(text)
    }

    fn description(&mut self, element: &Element, rule: Rule, of: &str) -> String {
        let text = self.required_text(element, "description", rule, of).unwrap_or_default();
        if !is_longer(&text, MAX_DESCRIPTION) {
            return text;
        }
        let position =
            element.attribute("description").map_or(element.position, |words| words.position);
        let message = format!(
            "the description of {of} has more than {MAX_DESCRIPTION} characters and is truncated"
        );
        self.add(Rule::Cut, position, message);
        truncate(&text, MAX_DESCRIPTION)
    }

    fn too_long(&mut self, element: &Element, name: &str, rule: Rule, of: &str) {
        let position = element.attribute(name).map_or(element.position, |words| words.position);
        self.add(rule, position, format!("the {name} of {of} has more than {MAX_NAME} characters"));
    }

    fn unknown_element(&mut self, element: &Element, within: &str, known: &str) {
        let message =
            format!("unknown element `<{}>` in {within}; expected {known}", short(&element.name));
        self.add(Rule::Unknown, element.position, message);
    }

    fn unknown_attributes(&mut self, element: &Element, known: &[&str]) {
        for attribute in element.attributes.iter().filter(|one| !known.contains(&one.name.as_str()))
        {
            let message = format!(
                "unknown attribute `{}` in `<{}>`",
                short(&attribute.name),
                short(&element.name)
            );
            self.add(Rule::Unknown, attribute.position, message);
        }
    }
}
