//! The definition of a tool app: the TOML file that `app-tools new` reads, and its validation.

use std::collections::BTreeSet;

use serde::Deserialize;

/// A tool app, as defined by its developer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    /// The app's package.
    pub(super) package: String,
    /// Class name of the service.
    pub(super) class: String,
    /// Display name of the tool.
    pub(super) name: String,
    /// What it is for.
    pub(super) description: String,
    /// Its capabilities.
    #[serde(default, rename = "capability")]
    pub(super) capabilities: Vec<CapabilitySpec>,
}

/// A capability.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CapabilitySpec {
    /// Its id, unique in the tool.
    pub(super) id: String,
    /// What it does.
    pub(super) description: String,
    /// Its version.
    #[serde(default = "first_version")]
    pub(super) version: String,
    /// Its input parameters.
    #[serde(default)]
    pub(super) input: Vec<InputSpec>,
    /// Its output values.
    #[serde(default)]
    pub(super) output: Vec<OutputSpec>,
}

/// An input parameter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputSpec {
    /// Its name.
    pub(super) name: String,
    /// How it travels.
    #[serde(rename = "type")]
    pub(super) kind: Type,
    /// Whether a call must include it.
    #[serde(default = "needed")]
    pub(super) required: bool,
    /// What it means.
    pub(super) description: String,
}

/// An output value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputSpec {
    /// Its name.
    pub(super) name: String,
    /// How it travels.
    #[serde(rename = "type")]
    pub(super) kind: Type,
    /// What it means.
    pub(super) description: String,
}

/// A type that every agent understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Type {
    String,
    Boolean,
    Integer,
    Number,
}

impl Type {
    /// The name in descriptors.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
        }
    }
}

fn first_version() -> String {
    "1.0".into()
}

fn needed() -> bool {
    true
}

/// Maximum number of capabilities, and of inputs or outputs of one. Below the limits of agents
/// (`thumbwire-mobile-mcp`).
const MAX_ITEMS: usize = 64;

/// Maximum length of a text, in characters.
const MAX_TEXT: usize = 2000;

/// Parses and checks a definition.
///
/// # Errors
/// A message with the line: invalid TOML, an unknown field, or something that cannot be written as
/// XML or Kotlin.
pub(super) fn read(text: &str) -> Result<Plan, String> {
    let plan: Plan = toml::from_str(text).map_err(|error| error.to_string())?;
    check(&plan)?;
    Ok(plan)
}

fn check(plan: &Plan) -> Result<(), String> {
    package(&plan.package)?;
    if !is_identifier(&plan.class) || !plan.class.starts_with(|c: char| c.is_ascii_uppercase()) {
        return Err(format!(
            "invalid `class` {:?}: expected a bare class name such as \"NotesTools\"",
            plan.class
        ));
    }
    if plan.class == BASE {
        return Err(format!("`class` must not be {BASE}, which is the class it extends"));
    }
    check_text("name", &plan.name)?;
    check_text("description", &plan.description)?;
    if plan.capabilities.is_empty() {
        return Err("no [[capability]]: a tool needs at least one".into());
    }
    check_count("capabilities", plan.capabilities.len())?;
    let ids = plan.capabilities.iter().map(|one| one.id.as_str());
    unique("capability", ids)?;
    for one in &plan.capabilities {
        let at = |what: &str| format!("{what} of the capability `{}`", one.id);
        check_text(&at("description"), &one.description)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if one.version.is_empty() || !one.version.chars().all(plain) || one.version.len() > 32 {
            return Err(format!(
                "invalid {} {:?}: expected one such as \"1.0\"",
                at("version"),
                one.version
            ));
        }
        check_count(&at("inputs"), one.input.len())?;
        check_count(&at("outputs"), one.output.len())?;
        unique(&at("input"), one.input.iter().map(|it| it.name.as_str()))?;
        unique(&at("output"), one.output.iter().map(|it| it.name.as_str()))?;
        let taken = one.input.iter().map(|it| (&it.name, &it.description));
        for (name, text) in taken.chain(one.output.iter().map(|it| (&it.name, &it.description))) {
            check_text(&at(&format!("description of `{name}`")), text)?;
        }
    }
    Ok(())
}

/// The class that the service extends.
pub(super) const BASE: &str = "MobileMcpService";

/// Checks Android's rule for application ids: at least two segments, each beginning with a letter.
/// Java keywords are not allowed, because Java compiles the generated `R`. Kotlin keywords are: all
/// apps from India begin with `in.`.
fn package(package: &str) -> Result<(), String> {
    let segments: Vec<&str> = package.split('.').collect();
    let good = |it: &&str| {
        is_identifier(it) && it.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_java(it)
    };
    match segments.len() > 1 && segments.iter().all(good) && package.len() <= 200 {
        true => Ok(()),
        false => Err(format!(
            "invalid `package` {package:?}: expected the app's package, such as \"org.example.notes\""
        )),
    }
}

/// Checks that ids or names are valid in every request format and distinct in Kotlin.
fn unique<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut known = BTreeSet::new();
    for name in names {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let good = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(plain)
            && name.len() <= 48;
        if !good || ["true", "false"].contains(&name) {
            return Err(format!(
                "invalid {what} {name:?}: use at most 48 letters (a to z), digits and `_`, beginning with a letter"
            ));
        }
        if !known.insert(camel(name)) {
            return Err(format!(
                "duplicate {what} {name:?}: another one has the same name in Kotlin"
            ));
        }
    }
    Ok(())
}

fn check_text(what: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err(format!("{what} is empty"));
    }
    if text.chars().count() > MAX_TEXT {
        return Err(format!("{what} is longer than {MAX_TEXT} characters"));
    }
    // XML 1.0, production 2: these characters are not allowed in a file at all.
    let unfit = |c: char| c.is_control() && !"\n\t".contains(c) || "\u{fffe}\u{ffff}".contains(c);
    match text.chars().find(|&c| unfit(c)) {
        Some(character) => Err(format!("{what} contains {character:?}, which XML does not allow")),
        None => Ok(()),
    }
}

fn check_count(what: &str, count: usize) -> Result<(), String> {
    match count <= MAX_ITEMS {
        true => Ok(()),
        false => Err(format!("too many {what}: {count}; the limit is {MAX_ITEMS}")),
    }
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Converts a name to Kotlin style: `clock_in_today` to `clockInToday`.
pub(super) fn camel(name: &str) -> String {
    let mut camel = String::new();
    for part in name.split('_').filter(|part| !part.is_empty()) {
        let mut characters = part.chars();
        let Some(first) = characters.next() else { continue };
        match camel.is_empty() {
            true => camel.push(first.to_ascii_lowercase()),
            false => camel.push(first.to_ascii_uppercase()),
        }
        camel.push_str(characters.as_str());
    }
    camel
}

/// Whether a word is reserved in Kotlin or Java. `KOTLIN` lists the hard keywords (kotlinlang.org,
/// "Keywords and operators") that are not Java's.
pub(super) fn is_reserved(word: &str) -> bool {
    const KOTLIN: &[&str] =
        &["as", "fun", "in", "is", "object", "typealias", "typeof", "val", "var", "when"];
    KOTLIN.contains(&word) || is_java(word)
}

/// Whether a word is reserved in Java (JLS 3.9).
fn is_java(word: &str) -> bool {
    const JAVA: &str = "\
        abstract assert boolean break byte case catch char class const continue default \
        do double else enum extends false final finally float for goto if implements \
        import instanceof int interface long native new null package private protected \
        public return short static strictfp super switch synchronized this throw throws \
        transient true try void volatile while";
    JAVA.split(' ').any(|reserved| reserved == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
package = "org.example.notes"
class = "NotesTools"
name = "Notes"
description = "Keeps notes"

[[capability]]
id = "add_note"
description = "Adds a note"
input = [{ name = "text", type = "string", description = "What it says" }]
"#;

    #[test]
    fn omitted_fields_have_defaults() {
        let plan = read(GOOD).unwrap();
        let one = &plan.capabilities[0];
        assert_eq!((one.version.as_str(), one.input[0].required), ("1.0", true));
        assert!(one.output.is_empty());
    }

    #[test]
    fn invalid_definitions_are_rejected_by_name() {
        let check = |from: &str, to: &str, text: &str| {
            assert!(GOOD.contains(from), "{from}");
            let reason = read(&GOOD.replacen(from, to, 1)).unwrap_err();
            assert!(reason.contains(text), "{reason}");
        };
        check("org.example.notes", "notes", "invalid `package` \"notes\"");
        check("org.example.notes", "org.example.new", "`package`");
        check("org.example.notes", "org.example.class", "`package`");
        check("NotesTools", "org.example.NotesTools", "bare class name");
        check("NotesTools", "notesTools", "bare class name");
        check("NotesTools", "MobileMcpService", "the class it extends");
        check("\"Keeps notes\"", "\" \"", "description is empty");
        check("Adds a note", "Adds\\u0007a note", "'\\u{7}'");
        check("add_note", "add-note", "capability \"add-note\"");
        check("add_note", "true", "capability \"true\"");
        check("\"string\"", "\"text\"", "line 10");
        check("class =", "klass =", "unknown field `klass`");
        check("[[capability]]", "[[capabilities]]", "unknown field `capabilities`");
        let twice = "[[capability]]\nid = \"addNote\"\ndescription = \"Adds one\"\n[[capability]]";
        check("[[capability]]", twice, "duplicate capability");
        let none = GOOD.split("[[capability]]").next().unwrap();
        assert!(read(none).unwrap_err().contains("no [[capability]]"));
    }

    #[test]
    fn names_convert_to_camel_case() {
        for (name, camel_case) in
            [("clock_in_today", "clockInToday"), ("ID", "iD"), ("a__b_", "aB"), ("date", "date")]
        {
            assert_eq!(camel(name), camel_case);
        }
    }
}
