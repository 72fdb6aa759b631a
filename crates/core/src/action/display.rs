//! The words of actions and their parts, for messages.

use std::fmt;

use thumbwire_device::{Gesture, Point};

use super::{AppSelector, ElementSelector, Observe, Target, WaitCondition};

/// A gesture in a few words.
pub(super) fn gesture_text(gesture: Gesture) -> String {
    let path = |verb: &str, from: Point, to: Point| {
        format!("{verb} ({}, {}) to ({}, {})", from.x, from.y, to.x, to.y)
    };
    match gesture {
        Gesture::Tap { at } => format!("tap ({}, {})", at.x, at.y),
        Gesture::DoubleTap { at } => format!("double tap ({}, {})", at.x, at.y),
        Gesture::LongPress { at, .. } => format!("long press ({}, {})", at.x, at.y),
        Gesture::Drag { from, to, .. } => path("drag", from, to),
        Gesture::Swipe { from, to, .. } => path("swipe", from, to),
        Gesture::Pinch { middle, .. } => format!("pinch at ({}, {})", middle.x, middle.y),
    }
}

/// The words of an action, which begin with a verb, as they are while it is being done: `tap (1,
/// 2)` is `tapping (1, 2)`.
pub(super) fn under_way(text: &str) -> String {
    const DOUBLING: [&str; 5] = ["drag", "get", "set", "stop", "tap"];
    let verb_at = ["double ", "long "].iter().find(|word| text.starts_with(**word));
    let (before, rest) = text.split_at(verb_at.map_or(0, |word| word.len()));
    let (verb, rest) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
    let stem = match verb.strip_suffix('e') {
        Some(stem) => stem.to_owned(),
        None if DOUBLING.contains(&verb) => format!("{verb}{}", &verb[verb.len() - 1..]),
        None => verb.to_owned(),
    };
    format!("{before}{stem}ing{rest}")
}

/// The last part of a path. Its folders may contain the operator's name.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The words of looking at the screen.
impl fmt::Display for Observe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Until { condition, .. } => write!(f, "wait until {condition}"),
            Self::Now | Self::Settled => f.write_str("read accessibility tree"),
        }
    }
}

/// Fits after "launch".
impl fmt::Display for AppSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(app) => app.fmt(f),
            Self::Named(name) => f.write_str(name),
            Self::ListIndex(number) => write!(f, "app {number}"),
        }
    }
}

/// Fits after "wait until".
impl fmt::Display for WaitCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shown(target) => write!(f, "{target} is visible"),
            Self::Gone(target) => write!(f, "{target} is gone"),
            Self::App(app) => write!(f, "{app} is in front"),
            Self::Idle => f.write_str("the screen stays the same"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed(id) => id.fmt(f),
            Self::Named { id: Some(id), text: None } => f.write_str(id),
            Self::Named { id: None, text: Some(text) } => write!(f, "{text:?}"),
            Self::Named { id: Some(id), text: Some(text) } if id == text => write!(f, "{text:?}"),
            Self::Named { id: Some(id), text: Some(text) } => write!(f, "{id} or {text:?}"),
            Self::Named { id: None, text: None } => f.write_str("(no element given)"),
            Self::Selector { selector, .. } => selector.fmt(f),
        }
    }
}

impl fmt::Display for ElementSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [
            ("text", &self.text),
            ("id", &self.id),
            ("description", &self.description),
            ("class", &self.class),
        ];
        let given = words.iter().filter_map(|(name, word)| Some((name, word.as_ref()?)));
        let output: Vec<_> = given.map(|(name, word)| format!("{name} {word:?}")).collect();
        f.write_str(&output.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use thumbwire_device::{Gesture, Point};

    use super::*;
    use crate::action::{Action, TextInput};

    #[test]
    fn progress_message_has_no_typed_text() {
        let check = |action: Action, expected: &str| assert_eq!(action.under_way(), expected);
        check(Action::Wait(Duration::from_secs(3)), "waiting 3 s");
        check(Action::Health, "checking device health");
        check(Action::CurrentApp, "getting current app");
        check(Action::Type(TextInput::of("hunter2")), "typing 7 characters");
        let at = Point { x: 1, y: 2 };
        check(Action::Touch(Gesture::DoubleTap { at }), "double tapping (1, 2)");
        let shown = WaitCondition::Shown(Target::text("a\u{202e}b"));
        let condition =
            Action::Observe(Observe::Until { condition: shown, timeout: Duration::from_secs(9) });
        check(condition, "waiting until \"a\\u{202e}b\" is visible");
    }
}
