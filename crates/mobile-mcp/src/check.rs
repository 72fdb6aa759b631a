//! The rules of sections 1.2.1 and 1.2.2, held against the elements of a descriptor.
//!
//! The one checker for text and compiled files. It goes as deep as a descriptor does and no deeper, so that nothing here depends on how
//! the elements were made.

use std::collections::BTreeSet;

use super::descriptor::{MOST_CAPABILITIES, MOST_PARAMETERS, Reading};
use super::words::{MOST_IN_A_DESCRIPTION, MOST_IN_A_NAME, is_longer, shortened};
use super::{
    Capability, Descriptor, Element, Finding, Kind, Mode, Param, Place, Rule, VERSION, Value,
};

/// The most findings that are told of a kind: fatal to lint, and not.
const MOST_FINDINGS: usize = 128;

/// The name that the specification gives to the root.
const ROOT: &str = "mobile-mcp-capabilities";

pub(crate) fn check(root: &Element) -> Reading {
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
        if count > MOST_CAPABILITIES {
            let says = format!(
                "there are more than {MOST_CAPABILITIES} capabilities; this one and what follows are left out"
            );
            found.add(Rule::Cut, child.place, says);
            break;
        }
        capabilities.extend(capability(child, &mut ids, &mut found));
    }
    if count == 0 {
        found.add(
            Rule::Capabilities,
            root.place,
            "there is no `<capability>`: the tool offers nothing".into(),
        );
    }
    let mut findings = found.told;
    findings.sort_by_key(|finding| finding.place);
    Reading { descriptor: Descriptor { version, capabilities }, findings }
}

fn root_version(root: &Element, found: &mut Findings) -> String {
    if root.name != ROOT {
        let says = format!(
            "the root element is `<{}>`: the specification has `<{ROOT}>`",
            short(&root.name)
        );
        found.add(Rule::Root, root.place, says);
    }
    found.unknown_attributes(root, &["version"]);
    let Some(written) = root.attribute("version") else {
        let says = format!("the root element has no `version`: write version=\"{VERSION}\"");
        found.add(Rule::RootVersion, root.place, says);
        return String::new();
    };
    let version = written.value.words();
    // A compiled 1.0 that kept no words is one whatever it was written like.
    let is_ours = match written.value {
        Value::Float(number, None) => number == 1.0,
        _ => version == VERSION,
    };
    if !is_ours {
        let says = format!(
            "the version is `{}`: the specification has version=\"{VERSION}\"",
            short(&version)
        );
        found.add(Rule::RootVersion, written.place, says);
    }
    shortened(&version, MOST_IN_A_NAME)
}

/// Reads a capability; `None` where it cannot be called. `ids` are those of the earlier ones, also of what cannot be called: which of two
/// is meant by an id must not hang on what else is wrong with them.
fn capability(
    element: &Element,
    ids: &mut BTreeSet<String>,
    found: &mut Findings,
) -> Option<Capability> {
    found.unknown_attributes(element, &["id", "description", "version"]);
    let id = found.words(element, "id", Rule::CapabilityId, "a capability");
    let named = match &id {
        Some(id) => format!("the capability `{}`", short(id)),
        None => "a capability".into(),
    };
    let description = found.description(element, Rule::CapabilityDescription, &named);
    let version = found.words(element, "version", Rule::CapabilityVersion, &named);
    let mut usable = id.is_some();
    if id.as_ref().is_some_and(|id| is_longer(id, MOST_IN_A_NAME)) {
        found.too_long(element, "id", Rule::CapabilityBounds, &named);
        usable = false;
    }
    if let Some(id) = &id
        && !ids.insert(id.clone())
    {
        let place = element.attribute("id").map_or(element.place, |id| id.place);
        let says = format!(
            "`{}` is the id of an earlier capability: give this one an id of its own",
            short(id)
        );
        found.add(Rule::CapabilityIdUnique, place, says);
        usable = false;
    }
    let (mut input, mut output) = (None, None);
    for child in &element.children {
        let (list, is_input) = match child.name.as_str() {
            "input" => (&mut input, true),
            "output" => (&mut output, false),
            _ => {
                found.unknown_element(child, &named, "<input> and <output>");
                continue;
            }
        };
        found.unknown_attributes(child, &[]);
        if list.is_some() {
            let says = format!(
                "{named} has more than one `<{}>`: put their parameters into one",
                child.name
            );
            found.add(Rule::OneInputOutput, child.place, says);
        }
        usable &= parameters(child, is_input, list.get_or_insert_with(Vec::new), &named, found);
    }
    usable.then(|| Capability {
        id: id.unwrap_or_default(),
        description,
        version: shortened(&version.unwrap_or_default(), MOST_IN_A_NAME),
        input: input.unwrap_or_default(),
        output: output.unwrap_or_default(),
    })
}

/// Reads the parameters of one list; whether the capability can be called with them.
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
        if params.len() >= MOST_PARAMETERS {
            let says =
                format!("{of} has more than {MOST_PARAMETERS} parameters in its `<{}>`", list.name);
            found.add(Rule::CapabilityBounds, child.place, says);
            return false;
        }
        match parameter(child, is_input, of, found) {
            None => usable = false,
            Some(param) if params.iter().any(|other| other.name == param.name) => {
                let place = child.attribute("name").map_or(child.place, |name| name.place);
                let says = format!(
                    "`{}` is the name of an earlier parameter of {of}: give this one its own",
                    short(&param.name)
                );
                found.add(Rule::ParamNameUnique, place, says);
            }
            Some(param) => params.push(param),
        }
    }
    usable
}

/// Reads a parameter; `None` where it cannot be sent.
fn parameter(element: &Element, is_input: bool, of: &str, found: &mut Findings) -> Option<Param> {
    let known: &[&str] = match is_input {
        true => &["name", "type", "required", "description"],
        false => &["name", "type", "description"],
    };
    found.unknown_attributes(element, known);
    let name = found.words(element, "name", Rule::ParamName, &format!("a parameter of {of}"));
    let named = match &name {
        Some(name) => format!("the parameter `{}` of {of}", short(name)),
        None => format!("a parameter of {of}"),
    };
    let written = found.words(element, "type", Rule::ParamType, &named);
    let kind = written.as_deref().map(|written| (written, Kind::of(written)));
    if let Some((written, None)) = kind {
        let place = element.attribute("type").map_or(element.place, |written| written.place);
        let says = format!(
            "the type `{}` of {named} is not known and taken for a string: string, boolean, integer and number are",
            short(written)
        );
        found.add(Rule::ParamTypeKnown, place, says);
    }
    let kind = kind.and_then(|(_, kind)| kind).unwrap_or_default();
    let required = is_input && required(element, &named, found);
    let description = found.description(element, Rule::ParamDescription, &named);
    let name = name?;
    if is_longer(&name, MOST_IN_A_NAME) {
        found.too_long(element, "name", Rule::CapabilityBounds, &named);
        return None;
    }
    let written = shortened(&written.unwrap_or_default(), MOST_IN_A_NAME);
    Some(Param { name, kind, written, required, description })
}

fn required(element: &Element, named: &str, found: &mut Findings) -> bool {
    let Some(written) = element.attribute("required") else {
        let says = format!("{named} has no `required`: write required=\"true\" or \"false\"");
        found.add(Rule::ParamRequired, element.place, says);
        return false;
    };
    let words = written.value.words();
    match (&written.value, words.as_str()) {
        (Value::Boolean(required), _) => *required,
        (Value::Text(_), "true") => true,
        (Value::Text(_), "false") => false,
        _ => {
            let says = format!(
                "`required` of {named} is `{}`: it is \"true\" or \"false\"",
                short(&words)
            );
            found.add(Rule::ParamRequiredValue, written.place, says);
            words.eq_ignore_ascii_case("true")
        }
    }
}

/// An app's words in a finding.
fn short(words: &str) -> String {
    super::words::harmless(words, 60)
}

#[derive(Default)]
struct Findings {
    told: Vec<Finding>,
    /// How many there are that lint calls errors, and how many others.
    counts: [usize; 2],
}

impl Findings {
    fn add(&mut self, rule: Rule, place: Place, says: String) {
        let count = &mut self.counts[usize::from(rule.is_fatal(Mode::Strict))];
        *count += 1;
        if *count <= MOST_FINDINGS {
            self.told.push(Finding { rule, place, says });
        } else if *count == MOST_FINDINGS + 1 {
            let says = format!(
                "there are more than {MOST_FINDINGS} findings of this kind; the others are not listed"
            );
            self.told.push(Finding { rule: Rule::Cut, place, says });
        }
    }

    /// The words of an attribute that must be there and say something.
    fn words(&mut self, element: &Element, name: &str, rule: Rule, of: &str) -> Option<String> {
        let Some(attribute) = element.attribute(name) else {
            self.add(rule, element.place, format!("{of} has no `{name}`"));
            return None;
        };
        if let Value::Reference(_) = attribute.value {
            let says = format!(
                "`{name}` of {of} is {}, a resource that is not there",
                attribute.value.words()
            );
            let fatal = rule.is_fatal(Mode::Lenient);
            self.add(if fatal { rule } else { Rule::Resolved }, attribute.place, says);
            return None;
        }
        let words = attribute.value.words();
        if words.trim().is_empty() {
            self.add(rule, attribute.place, format!("`{name}` of {of} is empty"));
            return None;
        }
        Some(words)
    }

    fn description(&mut self, element: &Element, rule: Rule, of: &str) -> String {
        let words = self.words(element, "description", rule, of).unwrap_or_default();
        if !is_longer(&words, MOST_IN_A_DESCRIPTION) {
            return words;
        }
        let place = element.attribute("description").map_or(element.place, |words| words.place);
        let says = format!(
            "the description of {of} has more than {MOST_IN_A_DESCRIPTION} characters; the rest is cut"
        );
        self.add(Rule::Cut, place, says);
        shortened(&words, MOST_IN_A_DESCRIPTION)
    }

    fn too_long(&mut self, element: &Element, name: &str, rule: Rule, of: &str) {
        let place = element.attribute(name).map_or(element.place, |words| words.place);
        self.add(
            rule,
            place,
            format!("the {name} of {of} has more than {MOST_IN_A_NAME} characters"),
        );
    }

    fn unknown_element(&mut self, element: &Element, within: &str, known: &str) {
        let says =
            format!("`<{}>` is not known in {within}: there may be {known}", short(&element.name));
        self.add(Rule::Unknown, element.place, says);
    }

    fn unknown_attributes(&mut self, element: &Element, known: &[&str]) {
        for attribute in element.attributes.iter().filter(|one| !known.contains(&one.name.as_str()))
        {
            let says = format!(
                "`{}` is not known in `<{}>`",
                short(&attribute.name),
                short(&element.name)
            );
            self.add(Rule::Unknown, attribute.place, says);
        }
    }
}
