//! What an action changed on the screen, in a few words for the history.

use std::collections::HashSet;

use thumbwire_base::truncate;
use thumbwire_core::snapshot::numbered_outline;

use super::screen_state::ScreenState;

/// How many lines of the screen are named, and how much of each, in characters.
const MAX_LINES: usize = 2;
const MAX_LINE: usize = 60;

/// What is on the screen `after` an action and was not `before`; empty if a screen could not be
/// read. Texts of the screen are in quotes, as in the list.
pub(crate) fn effect(before: &ScreenState, after: &ScreenState) -> String {
    let (Some(was), Some(is)) = (&before.controls, &after.controls) else { return String::new() };
    let (old, new) = (numbered_outline(was), numbered_outline(is));
    let text = |line: &thumbwire_core::snapshot::NumberedLine| line.text.clone();
    let (old, new): (Vec<String>, Vec<String>) =
        (old.iter().map(text).collect(), new.iter().map(text).collect());
    let header = new.first().map_or("", String::as_str);
    let is_another = before.app != after.app
        || before.screen != after.screen
        || is.snapshot.is_another_screen(&was.snapshot);
    if is_another {
        // The list tells where it is now. The history needs the step from one app or page to the
        // next.
        let (app, page) = header.split_once(' ').unwrap_or((header, ""));
        let page = page.split(" [").next().unwrap_or_default();
        let place = match before.app.as_deref() == Some(app) && !page.is_empty() {
            true => page.rsplit('.').next().unwrap_or(page),
            false => app,
        };
        return format!("now {place}{}", named(": ", new.iter().skip(1)));
    }
    let known: HashSet<&String> = old.iter().collect();
    let still: HashSet<&String> = new.iter().collect();
    let added = named("", new.iter().filter(|line| !known.contains(line)));
    let gone = named("gone: ", old.iter().filter(|line| !still.contains(line)));
    [added, gone].into_iter().find(|text| !text.is_empty()).unwrap_or("nothing changed".into())
}

/// The first lines, and how many more there are.
fn named<'a>(intro: &str, lines: impl Iterator<Item = &'a String>) -> String {
    let lines: Vec<&String> = lines.collect();
    if lines.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = lines.iter().take(MAX_LINES).map(|line| start_of(line)).collect();
    let more = match lines.len().saturating_sub(MAX_LINES) {
        0 => String::new(),
        more => format!(" (+{more})"),
    };
    format!("{intro}{}{more}", shown.join("; "))
}

/// The start of a line. A quotation that is cut is closed: what follows it is ours again.
fn start_of(line: &str) -> String {
    let mut start = truncate(line, MAX_LINE);
    if start.len() >= line.len() {
        return start;
    }
    let (mut in_quotes, mut escaped) = (false, false);
    for c in start.chars() {
        in_quotes ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
    }
    if in_quotes {
        start.push('"');
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safeguards::screen_state::made::{buttons, node, scene};

    #[test]
    fn effect_names_what_is_new_or_gone() {
        let check = |was: &[&str], is: &[&str], expected: &str| {
            assert_eq!(effect(&buttons(was), &buttons(is)), expected);
        };
        check(&["One", "Two"], &["One", "Two"], "nothing changed");
        check(&["One", "Two"], &["One", "Two", "Saved"], r#"button "Saved""#);
        check(&["One", "Two", "Three"], &["One", "Two"], r#"gone: button "Three""#);
        check(&["One", "Two"], &["One", "Two", "A", "B", "C"], r#"button "A"; button "B" (+1)"#);
        assert_eq!(effect(&ScreenState::default(), &buttons(&["One"])), "");
    }

    #[test]
    fn another_screen_is_named() {
        let was = buttons(&["One", "Two", "Three", "Four", "Five"]);
        let is = scene("other", vec![node("Button", "Title", 0), node("Button", "Text", 1)]);
        // The list names the package of its first node.
        assert_eq!(effect(&was, &is), r#"now app: button "Title"; button "Text""#);
        let same_app = buttons(&["Title", "Text", "Save"]);
        assert_eq!(effect(&was, &same_app), r#"now app: button "Title"; button "Text" (+1)"#);
    }

    #[test]
    fn long_text_is_cut_inside_its_quotes() {
        let long = "word ".repeat(40);
        let text = effect(&buttons(&["One"]), &buttons(&["One", &long]));
        assert!(text.starts_with("button \"word") && text.ends_with('"'), "{text}");
        assert!(text.chars().count() < 80, "{text}");
    }
}
