//! Whether a call names the control that its number stands for.
//!
//! Start with [`check`]. A model that reads a number from the wrong line, or from an earlier list,
//! still says what it wants: a name that contradicts the control's is refused before anything is
//! touched, and the refusal says where the named control is. The toolset of UFO's servers keeps
//! their warning instead. Nothing here reads a phone.

use thumbwire_base::truncate;
use thumbwire_base::visible::{quoted, without_hidden};
use thumbwire_core::action::{ControlNumber, Controls};
use thumbwire_core::snapshot::{NumberedLine, kind, numbered_outline};
use thumbwire_device::{Node, text_field};

use crate::policy::decision::FunctionCall;

/// The arguments that name a control.
const NAME: &str = "control_name";
const ID: &str = "control_id";

/// The longest name in a message, in characters.
const MAX_NAME: usize = 60;
/// How many other controls a message names.
const MAX_OTHERS: usize = 3;
/// A name of this length may be the beginning of a longer one that a model cut.
const MIN_CUT: usize = 24;

/// Checks that the control with the call's number, in the list that the policy saw, has the name
/// that the call gives it. Case, spaces, quotes and invisible characters make no difference, and
/// any text of the control's line will do. A call without a name, or for a control that has none,
/// passes.
///
/// # Errors
/// Both names and where the named control is, as a sentence for the policy.
pub(crate) fn check(call: &FunctionCall, listed: &Controls) -> Result<(), String> {
    let Some(id) = call.arguments.get(ID).and_then(serde_json::Value::as_str) else {
        return Ok(());
    };
    let meant = call.arguments.get(NAME).and_then(serde_json::Value::as_str).unwrap_or_default();
    let lines = numbered_outline(listed);
    let named = |number: ControlNumber| {
        let node = listed.node_of(number)?;
        let line = lines.iter().find(|line| line.number == Some(number));
        Some(Names::of(listed, node, line))
    };
    let control = call.control().and_then(named);
    let wanted = GivenName::of(meant);
    let others = || -> Vec<(ControlNumber, Names)> {
        let numbers = listed.iter().map(|(number, _)| number);
        let others = numbers.filter(|number| Some(*number) != call.control());
        others.filter_map(|number| Some((number, named(number)?))).collect()
    };
    let Some(control) = control else {
        return Err(format!("there is no control {}{}", label(id), wanted.elsewhere(&others())));
    };
    if wanted.is_empty() || control.has(&wanted) {
        return Ok(());
    }
    let others = others();
    // Nothing contradicts the name of a control that has none, unless another control has it.
    if control.is_open && !others.iter().any(|(_, other)| other.has(&wanted)) {
        return Ok(());
    }
    let shown = quoted(&truncate(&control.shown, MAX_NAME));
    let elsewhere = wanted.elsewhere(&others);
    Err(format!("control {id} is {shown}, not {}{elsewhere}", label(meant)))
}

/// The name by which the action is reported: the control's own.
pub(crate) fn set_own_name(call: &mut FunctionCall, node: &Node) {
    if call.arguments.contains_key(NAME) {
        call.arguments.insert(NAME.into(), node.name().into());
    }
}

fn label(text: &str) -> String {
    quoted(&truncate(text, MAX_NAME))
}

/// The names of a control.
struct Names {
    /// In comparable form.
    all: Vec<String>,
    /// As it is shown to the policy.
    shown: String,
    /// Whether it has no name that another could contradict: an icon without text and id, or a
    /// field whose label is unknown.
    is_open: bool,
}

impl Names {
    fn of(listed: &Controls, at: usize, line: Option<&NumberedLine>) -> Self {
        let snapshot = &listed.snapshot;
        let nodes = &snapshot.tree.nodes;
        let node = &nodes[at];
        let in_line = line.map(|line| quoted_texts(&line.text)).unwrap_or_default();
        let own = [&*node.text, &*node.description, &*node.hint];
        let mut texts: Vec<String> = own.into_iter().map(str::to_owned).collect();
        texts.extend(in_line.iter().cloned());
        if node.text.is_empty() && node.description.is_empty() {
            let inside = (at + 1..nodes.len()).take_while(|&below| nodes[below].depth > node.depth);
            texts.extend(inside.flat_map(|below| {
                [&*nodes[below].text, &*nodes[below].description].map(str::to_owned)
            }));
        }
        texts.retain(|text| !text.trim().is_empty());
        let id = node.id.rsplit('/').next().unwrap_or_default();
        let is_nameless = texts.is_empty();
        let value_only = text_field::is_text_field(node)
            && node.description.is_empty()
            && node.hint.is_empty()
            && in_line.len() <= 1;
        let shown = match (in_line.first(), is_nameless) {
            (Some(first), _) => first.clone(),
            (None, false) => texts[0].clone(),
            (None, true) if !id.is_empty() => format!("#{id}"),
            (None, true) => kind(node).to_owned(),
        };
        let joined = |texts: &[String]| normal(&texts.join(" "));
        let mut all: Vec<String> = texts.iter().map(|text| normal(text)).collect();
        all.extend([joined(&in_line), joined(&texts)]);
        all.extend([words(&in_line.join(" ")), words(&texts.join(" "))]);
        if !id.is_empty() {
            all.extend([normal(id), words(id)]);
        }
        if is_nameless {
            // UFO's list has the class in place of a name.
            all.push(normal(kind(node)));
        }
        Self { all, shown, is_open: (is_nameless && id.is_empty()) || value_only }
    }

    fn has(&self, wanted: &GivenName) -> bool {
        let is = |form: &String| self.all.contains(form);
        let begins = |form: &String| {
            wanted.is_cut
                && form.chars().count() >= 4
                && self.all.iter().any(|name| name.starts_with(form.as_str()))
        };
        wanted.forms.iter().any(|form| is(form) || begins(form))
    }

    fn resembles(&self, wanted: &GivenName) -> bool {
        let Some(form) = wanted.forms.first().filter(|form| form.chars().count() >= 3) else {
            return false;
        };
        self.all.iter().any(|name| name.contains(form.as_str()))
    }
}

/// The name that a call gives a control.
struct GivenName {
    /// The forms that it may have, comparable.
    forms: Vec<String>,
    /// Whether it may be the beginning of a longer name.
    is_cut: bool,
    said: String,
}

impl GivenName {
    fn of(meant: &str) -> Self {
        let trimmed = meant.trim();
        let is_cut = trimmed.ends_with('…')
            || trimmed.ends_with("...")
            || trimmed.chars().count() >= MIN_CUT;
        let whole = normal(trimmed);
        let mut forms = vec![whole.clone()];
        // A whole line of the list, or a part of it: `button "Save" [off] 7`, `Name = "Ada"`.
        forms.extend(quoted_texts(trimmed).first().map(|text| normal(text)));
        if trimmed.starts_with('#') || trimmed.contains(", ") {
            forms.push(words(trimmed));
        }
        for mark in [" = ", " ["] {
            forms.extend(trimmed.split_once(mark).map(|(name, _)| normal(name)));
        }
        // `Save button`, `the Save button`.
        let plain = whole.strip_prefix("the ").unwrap_or(&whole);
        for role in ROLES {
            let rest = plain.strip_suffix(role).or_else(|| plain.strip_prefix(role));
            forms.extend(rest.map(str::trim).filter(|rest| !rest.is_empty()).map(normal));
        }
        forms.retain(|form| !form.is_empty());
        forms.dedup();
        Self { forms, is_cut, said: trimmed.to_owned() }
    }

    fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Where the control with this name is: `; "Save" is 7`.
    fn elsewhere(&self, others: &[(ControlNumber, Names)]) -> String {
        if self.is_empty() {
            return "; take the id from the current list".into();
        }
        let numbers: Vec<String> = others
            .iter()
            .filter(|(_, names)| names.has(self))
            .map(|(number, _)| number.to_string())
            .take(MAX_OTHERS)
            .collect();
        if !numbers.is_empty() {
            return format!("; {} is {}", label(&self.said), numbers.join(" or "));
        }
        let near: Vec<String> = others
            .iter()
            .filter(|(_, names)| names.resembles(self))
            .map(|(number, names)| format!("{} is {number}", label(&names.shown)))
            .take(MAX_OTHERS)
            .collect();
        match near.is_empty() {
            true => "; no control has that name: choose from the current list".into(),
            false => format!("; similar: {}", near.join(", ")),
        }
    }
}

/// Words that a model adds to a name to say what it is.
const ROLES: [&str; 12] = [
    "button", "icon", "field", "tab", "checkbox", "switch", "link", "row", "image", "option",
    "item", "key",
];

/// The texts in double quotes in a line of the list, without their escapes.
fn quoted_texts(line: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut current: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (&mut current, c) {
            (None, '"') => current = Some(String::new()),
            (None, _) => {}
            (Some(_), '"') => texts.extend(current.take()),
            (Some(text), '\\') => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(quote @ ('"' | '\\')) => text.push(quote),
                // A mark such as `\u{202e}` stays.
                Some(other) => text.extend(['\\', other]),
                None => text.push('\\'),
            },
            (Some(text), c) => text.push(c),
        }
    }
    texts
}

/// A name in comparable form: lower case, single spaces, without invisible characters and without
/// the marks around it.
fn normal(text: &str) -> String {
    let shown = without_hidden(text).replace("\\n", " ").replace("\\t", " ");
    let small = shown.replace(['\u{2019}', '`'], "'").replace('\u{a0}', " ").to_lowercase();
    let spaced = small.split_whitespace().collect::<Vec<_>>().join(" ");
    let marks = ['"', '\'', '“', '”', '„', '«', '»', '#', '…', '.', ':'];
    match spaced.trim_matches(|c: char| marks.contains(&c) || c == ' ') {
        // A key of a calculator.
        "" => spaced,
        bare => bare.to_owned(),
    }
}

/// The words of a resource name: `btn_save` is `btn save`.
fn words(id: &str) -> String {
    let parts = id.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::safeguards::screen_state::made::{controls, node};

    fn call(id: &str, name: &str) -> FunctionCall {
        let arguments = json!({ "control_id": id, "control_name": name });
        FunctionCall {
            function: "click_control".into(),
            arguments: arguments.as_object().cloned().unwrap(),
        }
    }

    fn screen() -> std::sync::Arc<Controls> {
        let mut icon = node("ImageButton", "", 4);
        icon.id = "app:id/btn_delete_all".into();
        let mut field = node("EditText", "Ada", 5);
        field.hint = "Your name".into();
        let mut mark = node("ImageView", "", 6);
        mark.flags.clickable = true;
        let mut described = node("ImageButton", "", 7);
        described.description = "More options".into();
        controls(vec![
            node("Button", "Save", 0),
            node("Button", "Delete all", 1),
            node("Button", "Save", 2),
            node("TextView", "A very long name of a page that the list shows cut", 3),
            icon,
            field,
            mark,
            described,
            node("Button", "+", 8),
            node("Button", "Pay\u{200b} now\u{202e}", 9),
        ])
    }

    #[test]
    fn contradicting_name_is_refused_with_both_names_and_where_it_is() {
        let check = |id: &str, name: &str| super::check(&call(id, name), &screen()).unwrap_err();
        assert_eq!(
            check("2", "Save"),
            "control 2 is \"Delete all\", not \"Save\"; \"Save\" is 1 or 3"
        );
        assert_eq!(
            check("1", "Delete"),
            "control 1 is \"Save\", not \"Delete\"; similar: \"Delete all\" is 2, \"#btn_delete_all\" is 5"
        );
        assert_eq!(
            check("2", "Print\n\u{202e}"),
            "control 2 is \"Delete all\", not \"Print\\n\\u{202e}\"; no control has that name: choose from the current list"
        );
        assert_eq!(
            check("5", "Save"),
            "control 5 is \"#btn_delete_all\", not \"Save\"; \"Save\" is 1 or 3"
        );
        assert_eq!(check("99", "Save"), "there is no control \"99\"; \"Save\" is 1 or 3");
        assert_eq!(
            check("e7", ""),
            "there is no control \"e7\"; take the id from the current list"
        );
        // A part of the name is another name.
        assert!(check("2", "Delete").starts_with("control 2 is \"Delete all\""));
        assert!(check("2", "All").starts_with("control 2 is"));
        assert!(check("9", "-").starts_with("control 9 is \"+\""));
        // A control without a name is not the one that another has.
        assert!(check("7", "More options").ends_with("\"More options\" is 8"));
        assert!(check("6", "Save").ends_with("\"Save\" is 1 or 3"));
    }

    #[test]
    fn same_name_in_another_form_passes() {
        for (id, name) in [
            ("1", "Save"),
            ("1", " save "),
            ("1", "\u{201c}Save\u{201d}"),
            ("1", "the Save button"),
            ("1", "button \"Save\" @200,25 1"),
            ("1", ""),
            ("2", "DELETE  ALL"),
            ("4", "A very long name of a page that"),
            ("4", "A very long…"),
            ("5", "#btn_delete_all"),
            ("5", "btn delete all"),
            ("5", "ImageButton"),
            ("6", "Your name"),
            ("6", "Ada"),
            ("6", "Your name = \"Ada\""),
            ("7", "a heart, as the picture shows"),
            ("8", "More options"),
            ("9", "+"),
            ("10", "Pay now"),
            ("10", "Pay\\u{200b} now\\u{202e}"),
        ] {
            assert_eq!(super::check(&call(id, name), &screen()), Ok(()), "{id} {name}");
        }
        let tap = FunctionCall { function: "tap".into(), ..FunctionCall::default() };
        assert_eq!(super::check(&tap, &screen()), Ok(()));
    }

    /// A row takes the texts inside it and beside it as its name.
    #[test]
    fn texts_of_a_row_and_beside_a_switch_are_names() {
        let mut row = node("LinearLayout", "", 0);
        row.bounds.bottom = 100;
        let inside = |text: &str, at| {
            let mut it = node("TextView", text, at);
            (it.parent, it.depth, it.flags.clickable) = (Some(0), 1, false);
            it
        };
        let listed = controls(vec![row, inside("Mum", 0), inside("call me", 1)]);
        for name in ["Mum", "call me", "Mum call me", "Mum, call me", "mum"] {
            assert_eq!(super::check(&call("1", name), &listed), Ok(()), "{name}");
        }
        assert!(super::check(&call("1", "Dad"), &listed).is_err());
    }
}
