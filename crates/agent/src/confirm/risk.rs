//! Which actions are risky: by what the touched control says, and the dialog around it, in several
//! languages. Functions of apps always are, because their protocol does not say which of them only
//! read.
//!
//! Start with [`verdict`]. [`act`] says what an action does to the screen, [`touched`] what it
//! reaches there, [`words`] knows risky words and [`harmless`] those that are not. Text cannot tell
//! what a button really does. This catches what has a plain name; it is not a guarantee. The
//! screen may have talked the policy into its words: what the call itself says counts only where
//! nothing else is known.

mod act;
mod harmless;
mod spelling;
mod touched;
mod words;

use std::fmt::Write as _;

use thumbwire_base::truncate;
use thumbwire_base::visible::{name, quoted, without_hidden};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_core::trace::format::RefusedAct;
use thumbwire_device::Point;
use thumbwire_device::link_address::LinkKind;

pub(crate) use act::Act;
use act::{ActKind, KeyPress, Place};
use harmless::{agrees, is_harmless};
use touched::Touched;
use words::{CALL, DELETE, PAY, SEND, risk_of_label, risk_of_sentence};

/// An action that cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Risk {
    /// What it may do: `pay`, `delete something`.
    pub what: &'static str,
    /// The control's text, the address, or the call of an app's function.
    pub text: String,
    /// What the dialog around the control says, if that is what makes it risky; or the row that
    /// tells it apart.
    pub about: String,
    how: How,
}

/// How the action is done, for the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Touch,
    /// Pressing a key, as the question calls it.
    Key(&'static str),
    Enter,
    Open,
    CallApp,
    /// The screen could not be read.
    Blind,
    /// By a function that nothing is known of.
    Run,
}

impl Risk {
    fn new(what: &'static str, text: impl Into<String>, how: How) -> Self {
        Self { what, text: text.into(), about: String::new(), how }
    }

    /// The question to the user. Texts of the screen are in quotes, which they cannot close, and
    /// short.
    pub(crate) fn question(&self, app: Option<&str>) -> String {
        let Self { what, text, about, how } = self;
        let max_length = if *how == How::Open { MAX_ADDRESS } else { MAX_TEXT };
        let text = quoted(&truncate(text, max_length));
        let place = app.map_or(String::new(), |app| format!(" in {}", name(app)));
        let mut out = match how {
            How::Touch => format!("About to tap {text}"),
            How::Key(key) if self.text.is_empty() => format!("About to press {key}"),
            How::Key(key) => format!("About to press {key} on {text}"),
            How::Enter => format!("About to press Enter beside {text}"),
            How::Open => format!("About to open {text}"),
            How::Run => format!("About to run {text}"),
            How::CallApp => {
                return format!(
                    "About to call {}, which an app then runs on its own. Go ahead?",
                    thumbwire_base::visible::visible(&self.text)
                );
            }
            How::Blind => {
                return format!(
                    "About to run {text}{place} without knowing what it does, because the screen cannot be read. Go ahead?"
                );
            }
        };
        if !about.is_empty() {
            let _ = write!(out, " beside {}", quoted(&truncate(about, MAX_TEXT)));
        }
        format!("{out}{place}, which may {what}. Go ahead?")
    }

    /// What a refusal of the user is remembered by.
    pub(crate) fn act(&self, app: Option<&str>) -> RefusedAct {
        // A function of an app is the same act whatever its arguments.
        let text = match self.how {
            How::CallApp => self.text.split(' ').next().unwrap_or_default(),
            _ => &self.text,
        };
        RefusedAct {
            what: self.what.into(),
            app: app.unwrap_or_default().into(),
            text: text.into(),
            about: self.about.clone(),
        }
    }
}

/// A function of an app: its effect is not visible beforehand, and its name says little.
const BY_AN_APP: &str = "let an app act on its own";
/// The screen does not tell.
const UNKNOWN: &str = "do anything";
/// The label of a button that has neither a text nor an id.
const NO_TEXT: &str = "a button without a text";
/// What a button may do that nobody can tell anything of.
const LASTING: &str = "do something that cannot be undone";
/// The longest text of the screen in a question, and the longest address, in characters.
const MAX_TEXT: usize = 80;
const MAX_ADDRESS: usize = 200;

/// What is known about an act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Harmless,
    Unknown(UnknownButton),
    Risky(Risk),
}

/// A button whose text says neither that pressing it is risky nor that it is harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownButton {
    /// What it says.
    pub label: String,
    /// What the dialog around it says; empty if it is in none.
    pub dialog: Vec<String>,
    /// Whether it is plainly a button, or ends a dialog or a form: something happens then. Others
    /// may be tabs, rows or links.
    is_plain: bool,
    how: How,
}

impl UnknownButton {
    /// The risk, if this is the answer of somebody who was asked what the button does: whether that
    /// is risky. Without an answer, plain buttons are.
    pub(crate) fn judged(self, answer: Option<bool>) -> Option<Risk> {
        let Self { label, dialog, is_plain, how } = self;
        let about = dialog.into_iter().next().unwrap_or_default();
        let risk = || Risk { about, ..Risk::new(LASTING, label, how) };
        answer.unwrap_or(is_plain).then(risk)
    }
}

impl From<Option<Risk>> for Verdict {
    fn from(risk: Option<Risk>) -> Self {
        risk.map_or(Self::Harmless, Self::Risky)
    }
}

impl Verdict {
    /// The worse one of two.
    pub(super) fn or(self, other: impl FnOnce() -> Self) -> Self {
        match (self, other) {
            (Self::Risky(risk), _) => Self::Risky(risk),
            (own, other) => match (own, other()) {
                (own, Self::Harmless) => own,
                (_, other @ Self::Risky(_)) | (Self::Harmless, other) => other,
                (own, _) => own,
            },
        }
    }
}

/// Whether the act may do something that cannot be undone, as far as text tells. The screen is the
/// present one; `None` if it cannot be read.
pub(crate) fn verdict(act: &Act<'_>, screen: Option<&Snapshot>) -> Verdict {
    match &act.kind {
        ActKind::Nothing => Verdict::Harmless,
        ActKind::Touch(place) => of_touch(act, place, screen),
        ActKind::Path { from, to, is_drag } => of_path(act, (*from, *to), *is_drag, screen),
        ActKind::Scroll { place, is_sideways } => of_scroll(place, *is_sideways, screen),
        ActKind::Press(key) => of_key(act, *key, screen),
        ActKind::Type { place, has_enter } => of_typing(act, place.as_ref(), *has_enter, screen),
        ActKind::Open(url) => risk_of_address(url).into(),
        ActKind::CallApp => Verdict::Risky(Risk::new(BY_AN_APP, &*act.words, How::CallApp)),
        ActKind::Known(what) => Verdict::Risky(Risk::new(what, &*act.words, How::Run)),
        ActKind::Unknown => Verdict::Risky(Risk::new(UNKNOWN, &*act.words, How::Run)),
    }
}

/// What the control that the act begins at says; `None` if it says nothing, or if the act is for
/// none.
pub(crate) fn touched_label(act: &Act<'_>, screen: Option<&Snapshot>) -> Option<String> {
    let touched = Touched::place(screen?, act.place()?)?;
    Some(truncate(&touched.labels().into_iter().next()?, MAX_TEXT))
}

fn of_touch(act: &Act<'_>, place: &Place<'_>, screen: Option<&Snapshot>) -> Verdict {
    match (screen.and_then(|screen| Touched::place(screen, place)), place) {
        (Some(touched), _) => of(&touched, How::Touch),
        // Nothing better is known than what the caller says.
        (None, Place::Missing(Some(label))) if risk_of_label(label, true).is_some() => {
            risk_of_label(label, true).map(|what| Risk::new(what, *label, How::Touch)).into()
        }
        (None, _) => screen.is_none().then(|| blind(act)).into(),
    }
}

fn blind(act: &Act<'_>) -> Risk {
    Risk::new(UNKNOWN, &*act.words, How::Blind)
}

/// Judges a control by its labels; if it says yes to something, by what it says yes to.
fn of(touched: &Touched<'_>, how: How) -> Verdict {
    if touched.is_text_field() {
        return Verdict::Harmless;
    }
    let mut labels = touched.labels();
    let is_button = touched.is_button();
    let has_button_words = touched.has_button_words();
    // An icon that says nothing may mean yes, or end what was filled in.
    let is_silent = labels.is_empty() && is_button;
    if is_silent {
        labels.push(NO_TEXT.to_owned());
    }
    let by_label =
        labels.iter().find_map(|label| Some((risk_of_label(label, has_button_words)?, label)));
    if let Some((what, label)) = by_label {
        let about = touched.row(label);
        return Verdict::Risky(Risk { about, ..Risk::new(what, label.clone(), how) });
    }
    let agreement = labels.iter().find(|label| agrees(label));
    let may_agree = is_silent || touched.is_positive_button();
    let says_yes = agreement.or_else(|| labels.first().filter(|_| may_agree));
    if let Some(label) = says_yes {
        let mut texts = touched.surroundings().into_iter();
        let by_dialog = texts.find_map(|text| Some((risk_of_sentence(&text)?, text)));
        if let Some((what, about)) = by_dialog {
            return Verdict::Risky(Risk { about, ..Risk::new(what, label.clone(), how) });
        }
    }
    match labels.into_iter().next() {
        Some(_) if is_silent && !touched.is_in_dialog() && !touched.ends_form() => {
            Verdict::Harmless
        }
        Some(label) if !is_harmless(&label) && !agrees(&label) => {
            let is_plain = is_button
                || touched.ends_form()
                || has_button_words && !touched.is_beside_selected();
            if !is_plain && !touched.is_pressed() {
                return Verdict::Harmless;
            }
            let dialog = if touched.is_in_dialog() { touched.surroundings() } else { Vec::new() };
            Verdict::Unknown(UnknownButton { label, dialog, is_plain, how })
        }
        _ => Verdict::Harmless,
    }
}

/// Typing taps its control first. That is harmless on a text field, and judged like any other tap
/// elsewhere.
fn of_typing(
    act: &Act<'_>,
    place: Option<&Place<'_>>,
    has_enter: bool,
    screen: Option<&Snapshot>,
) -> Verdict {
    let Some(place) = place else {
        return if has_enter { of_key(act, KeyPress::Enter, screen) } else { Verdict::Harmless };
    };
    match screen.and_then(|screen| Touched::place(screen, place)) {
        Some(field) if field.is_text_field() && !has_enter => Verdict::Harmless,
        Some(field) if has_enter => of_enter(&field),
        // Without its field, the keys go to what has the focus.
        None if has_enter => {
            of_touch(act, place, screen).or(|| of_key(act, KeyPress::Enter, screen))
        }
        _ => of_touch(act, place, screen),
    }
}

/// A movement that Android takes for a tap, a slider that pays, a row that is swiped away, a thing
/// that is dropped on another. What can be scrolled takes movements up and down for itself;
/// elsewhere the control where they begin gets them, and one that they do not leave is pressed.
fn of_path(
    act: &Act<'_>,
    (from, to): (Point, Point),
    is_drag: bool,
    screen: Option<&Snapshot>,
) -> Verdict {
    let (across, down) = (from.x.abs_diff(to.x), from.y.abs_diff(to.y));
    let is_tap = across.max(down) <= touch_slop(screen);
    let (begins, ends) = (is_tap || is_drag || across > down, is_tap || is_drag);
    let Some(screen) = screen else { return begins.then(|| blind(act)).into() };
    let at = |is_meant: bool, at| match is_meant {
        true => of(&Touched::point(screen, at), How::Touch),
        false => Verdict::Harmless,
    };
    let begun = Touched::point(screen, from);
    let upright = match of(&begun, How::Touch) {
        _ if begins || begun.is_scrolled() => Verdict::Harmless,
        Verdict::Unknown(_) if !begun.has(to) => Verdict::Harmless,
        verdict => verdict,
    };
    at(begins, from).or(|| at(ends, to)).or(|| upright)
}

/// How far a finger may move in a tap, in pixels, rounded up: Android's `ViewConfiguration` allows
/// 8 dp, which is 2 to 3 % of a phone's width. Of an unknown screen, enough for the largest.
fn touch_slop(screen: Option<&Snapshot>) -> u32 {
    let Some(root) = screen.and_then(|screen| screen.tree.nodes.first()) else { return 100 };
    let root = root.bounds;
    let side = root.right.abs_diff(root.left).min(root.bottom.abs_diff(root.top));
    (side / 25).max(24)
}

/// What is scrolled sideways may be a slider, and a swipe inside a button is a tap.
fn of_scroll(place: &Place<'_>, is_sideways: bool, screen: Option<&Snapshot>) -> Verdict {
    match screen.and_then(|screen| Touched::place(screen, place)) {
        Some(touched) if is_sideways || touched.is_button() => of(&touched, How::Touch),
        _ => Verdict::Harmless,
    }
}

/// Enter presses the focused button, or does what the button beside the field does.
fn of_enter(field: &Touched<'_>) -> Verdict {
    if !field.is_text_field() {
        return of(field, How::Key(KeyPress::Enter.name()));
    }
    // Others, such as "Remove" or "Call", are not what Enter in a field stands for.
    let risk_of = |button: &Touched<'_>| match of(button, How::Enter) {
        Verdict::Risky(risk) if [PAY, SEND].contains(&risk.what) => Some(risk),
        _ => None,
    };
    field.buttons_beside().iter().find_map(risk_of).into()
}

fn of_key(act: &Act<'_>, key: KeyPress, screen: Option<&Snapshot>) -> Verdict {
    let how = How::Key(key.name());
    if key == KeyPress::Call {
        return Verdict::Risky(Risk::new(CALL, "", how));
    }
    let Some(screen) = screen else { return Verdict::Risky(blind(act)) };
    let nodes = &screen.tree.nodes;
    let Some(focused) = nodes.iter().rposition(|node| node.flags.focused) else {
        return Verdict::Harmless;
    };
    let touched = Touched::node(screen, focused);
    match (key, touched.is_text_field()) {
        (KeyPress::Enter, true) => of_enter(&touched),
        (_, true) => Verdict::Harmless,
        (KeyPress::Delete, false) => {
            let text = touched.labels().into_iter().next().unwrap_or_default();
            Verdict::Risky(Risk::new(DELETE, text, how))
        }
        (_, false) => of(&touched, how),
    }
}

/// Addresses that do more than show a page: those of calls and messages, those that open apps, and
/// those that carry data or orders to a server.
fn risk_of_address(url: &str) -> Option<Risk> {
    let shown = without_hidden(url.trim());
    let (scheme, rest) = shown.split_once(':').unwrap_or(("https", &shown));
    let risk = |what| Some(Risk::new(what, url.trim(), How::Open));
    match LinkKind::of_scheme(scheme) {
        LinkKind::Page => {}
        LinkKind::Place => return None,
        LinkKind::Call => return risk(CALL),
        LinkKind::Message | LinkKind::Mail => return risk(SEND),
        LinkKind::Installation => return risk("install an app"),
        LinkKind::Payment => return risk(PAY),
        LinkKind::App | LinkKind::Refused => return risk("let an app act on its own"),
    }
    let words = rest.replace(['/', '?', '&', '=', '-', '_', '.', '+', '#', '%'], " ");
    if let Some(what) = risk_of_sentence(&words) {
        return risk(what);
    }
    // What is after the question mark goes to the address's owner.
    if rest.contains(['?', '@']) { risk(SEND) } else { None }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::policy::decision::FunctionCall;
    use crate::safeguards::screen_state::ScreenState;
    use crate::safeguards::screen_state::made::{buttons, node, scene};

    fn judged(call: &FunctionCall, acts: bool, screen: &ScreenState) -> Verdict {
        let controls = screen.controls.as_deref();
        let act = Act::of_call(call, acts, controls);
        verdict(&act, controls.map(|controls| &*controls.snapshot))
    }

    /// The risk where nobody can be asked what an unknown button does.
    fn risk(call: &FunctionCall, acts: bool, screen: &ScreenState) -> Option<Risk> {
        match judged(call, acts, screen) {
            Verdict::Risky(risk) => Some(risk),
            Verdict::Unknown(button) => button.judged(None),
            Verdict::Harmless => None,
        }
    }

    fn call(function: &str, arguments: Value) -> FunctionCall {
        FunctionCall {
            function: function.into(),
            arguments: arguments.as_object().cloned().unwrap(),
        }
    }

    fn click(arguments: Value) -> FunctionCall {
        let function = if arguments.get("x").is_some() { "tap" } else { "click_control" };
        call(function, arguments)
    }

    #[test]
    fn control_text_decides_not_the_policys_name() {
        let screen = buttons(&["Delete", "Cancel"]);
        let risky = |id: &str, name: &str| {
            risk(&click(json!({ "control_id": id, "control_name": name })), true, &screen)
        };
        assert_eq!(risky("1", "Cancel").unwrap().text, "Delete");
        assert_eq!(risky("2", "Delete"), None);
        assert!(risky("9", "Delete").is_some(), "nothing better is known");
    }

    #[test]
    fn button_is_judged_by_its_inner_text() {
        let inside = |text: &str| {
            let mut within = node("TextView", text, 0);
            (within.parent, within.depth) = (Some(0), 1);
            scene("app", vec![node("View", "", 0), within])
        };
        let risky = |screen: &ScreenState| {
            risk(&click(json!({ "control_id": "1", "control_name": "View" })), true, screen)
        };
        assert_eq!(risky(&inside("Pay now")).unwrap().what, "pay");
        assert_eq!(risky(&inside("Cancel")), None);
        let long = "You may pay whom you like, whenever it suits you";
        assert_eq!(risky(&inside(long)).unwrap().what, "pay");
        assert!(risky(&inside("Confirm and pay $12.99 with Visa")).is_some());
        // A row of a list may be what somebody wrote.
        let mut rows = node("ListView", "", 0);
        rows.class = "android.widget.ListView".into();
        let mut row = node("View", long, 1);
        (row.parent, row.depth) = (Some(0), 1);
        let row_number = click(json!({ "control_id": "2", "control_name": "View" }));
        assert_eq!(risk(&row_number, true, &scene("app", vec![rows, row])), None);
        // The text of another button beside it does not count.
        let beside = scene("app", vec![node("View", "", 0), node("Button", "Pay now", 1)]);
        assert_eq!(risky(&beside), None);
    }

    /// A label takes no touches: they go to the button around it, wherever in it they land.
    #[test]
    fn label_is_judged_by_the_button_around_it() {
        let mut button = node("Button", "", 0);
        button.id = "app:id/btn_delete".into();
        let mut label = node("TextView", "Tidy up", 0);
        (label.parent, label.depth, label.flags.clickable) = (Some(0), 1, false);
        label.bounds.right = 40;
        let screen = scene("app", vec![button, label]);
        for arguments in [
            json!({ "control_id": "2", "control_name": "Tidy up" }),
            json!({ "x": 20, "y": 20 }),
            json!({ "x": 300, "y": 20 }),
        ] {
            let found = risk(&click(arguments.clone()), true, &screen);
            assert_eq!(found.map(|it| it.what), Some("delete something"), "{arguments}");
        }
    }

    #[test]
    fn tap_at_coordinates_is_judged_by_its_target() {
        let mut icon = node("ImageButton", "", 1);
        icon.id = "app:id/btn_send".into();
        let screen = scene("app", vec![node("Button", "Cancel", 0), icon]);
        assert_eq!(risk(&click(json!({ "x": 5, "y": 20 })), true, &screen), None);
        let found = risk(&click(json!({ "x": 5, "y": 70 })), true, &screen).unwrap();
        assert_eq!(
            found.question(Some("app")),
            "About to tap \"btn send\" in app, which may send something. Go ahead?"
        );
        // Half pixels, and functions of any name.
        let found = risk(&call("double_tap", json!({ "x": 5.4, "y": 70.0 })), true, &screen);
        assert_eq!(found.map(|it| it.what), Some("send something"));
    }

    #[test]
    fn touch_of_an_unreadable_screen_is_risky() {
        let screen = ScreenState::default();
        for it in [
            click(json!({ "x": 5, "y": 20 })),
            click(json!({ "control_id": "3", "control_name": "OK" })),
            call("press_key", json!({ "key_code": "KEYCODE_ENTER" })),
        ] {
            let question = risk(&it, true, &screen).unwrap().question(None);
            assert!(question.contains("the screen cannot be read"), "{question}");
        }
        for it in [
            call("press_key", json!({ "key_code": "KEYCODE_BACK" })),
            call("launch_app", json!({ "package_name": "app" })),
            call("scroll", json!({ "direction": "down", "x": 5, "y": 9 })),
            call("wait", json!({ "seconds": 1 })),
            call("swipe", json!({ "start_x": 5, "start_y": 900, "end_x": 5, "end_y": 300 })),
        ] {
            assert_eq!(risk(&it, true, &screen), None, "{it:?}");
        }
    }

    /// Every way in which a finger presses a button without a tap.
    #[test]
    fn movement_within_a_taps_bounds_and_typing_are_judged_as_taps() {
        let screen =
            scene("app", vec![node("Button", "Delete note", 0), node("Button", "Edit", 1)]);
        let path = |function: &str, from: (i32, i32), to: (i32, i32)| {
            let arguments =
                json!({ "start_x": from.0, "start_y": from.1, "end_x": to.0, "end_y": to.1 });
            risk(&call(function, arguments), true, &screen).map(|it| it.what)
        };
        let deletes = Some("delete something");
        for function in ["swipe", "drag"] {
            assert_eq!(path(function, (5, 20), (5, 20)), deletes, "{function}");
            assert_eq!(path(function, (5, 20), (6, 21)), deletes, "{function}");
            assert_eq!(path(function, (5, 20), (5, 19)), deletes, "{function}");
            assert_eq!(path(function, (5, 20), (300, 20)), deletes, "{function}");
        }
        assert_eq!(path("drag", (5, 70), (5, 20)), deletes, "dropped on it");
        assert_eq!(path("swipe", (5, 900), (5, 300)), None, "a list is scrolled");
        let typing = |id: &str, text: &str| {
            let arguments = json!({ "text": text, "control_id": id, "control_name": "x" });
            risk(&call("type_text", arguments), true, &screen).map(|it| it.what)
        };
        assert_eq!(typing("1", "hello"), deletes);
        assert_eq!(typing("2", "hello"), None);
        let scroll = json!({ "direction": "down", "control_id": "1" });
        assert_eq!(risk(&call("scroll", scroll), true, &screen).map(|it| it.what), deletes);
        // A place beside a control that is none.
        for id in [json!(""), json!(null), json!("that one")] {
            let press = json!({ "control_id": id, "x": 5, "y": 20 });
            let found = risk(&call("long_press", press), true, &screen).map(|it| it.what);
            assert_eq!(found, deletes, "{id}");
        }
        // A function that nobody has thought of yet.
        let pen = call("press_with_pen", json!({ "x": 5, "y": 20 }));
        assert_eq!(risk(&pen, true, &screen).map(|it| it.what), deletes);
        let shake = call("shake", json!({ "times": 2 }));
        assert_eq!(
            risk(&shake, true, &screen).unwrap().question(None),
            "About to run \"shake {\\\"times\\\":2}\", which may do anything. Go ahead?"
        );
        assert_eq!(risk(&shake, false, &screen), None);
    }

    /// Forty-three ways to press a button otherwise than by a tap on it.
    #[test]
    fn no_way_of_pressing_goes_unasked() {
        let mut delete = node("Button", "Delete note", 0);
        delete.flags.focused = true;
        let screen = scene("app", vec![delete, node("Button", "Edit", 1)]);
        let at = |x: Value, y: Value| json!({ "x": x, "y": y });
        let path = |from: (i32, i32), to: (i32, i32)| json!({ "start_x": from.0, "start_y": from.1, "end_x": to.0, "end_y": to.1 });
        let key = |code: Value| json!({ "key_code": code });
        let typing = |text: &str, id: Value| json!({ "text": text, "control_id": id, "control_name": "Title" });
        let here = || at(json!(5), json!(20));
        let ways = [
            ("double_tap", here()),
            ("long_press", here()),
            ("triple_tap", here()),
            ("press_with_pen", here()),
            ("tap", at(json!(5.4), json!(20.4))),
            ("tap", at(json!("5"), json!("20"))),
            ("click_control", json!({ "control_id": "1", "control_name": "Keep it" })),
            ("click_control", json!({ "control_id": 1, "control_name": "" })),
            ("click_control", json!({ "control_id": "", "x": 5, "y": 20 })),
            ("long_press", json!({ "control_id": null, "x": 5, "y": 20 })),
            ("swipe", path((5, 20), (5, 20))),
            ("swipe", path((5, 20), (6, 20))),
            ("swipe", path((5, 20), (4, 20))),
            ("swipe", path((5, 20), (5, 21))),
            ("swipe", path((5, 20), (5, 19))),
            ("swipe", path((5, 20), (12, 26))),
            ("swipe", path((5, 20), (300, 20))),
            (
                "swipe",
                json!({ "start_x": 5, "start_y": 20, "end_x": 5, "end_y": 20, "duration": 3000 }),
            ),
            ("swipe", path((5, 5), (5, 45))),
            ("swipe", path((5, 20), (5, 700))),
            ("drag", path((5, 20), (5, 20))),
            ("drag", path((5, 20), (6, 21))),
            ("drag", path((5, 20), (300, 20))),
            ("drag", path((5, 70), (5, 20))),
            ("type_text", typing("x", json!("1"))),
            ("type_text", typing("", json!("1"))),
            ("type_text", typing("x\n", json!("1"))),
            ("type_text", typing("\n", json!(""))),
            ("scroll", json!({ "direction": "down", "control_id": "1" })),
            ("press_key", key(json!("KEYCODE_ENTER"))),
            ("press_key", key(json!("enter"))),
            ("press_key", key(json!(66))),
            ("press_key", key(json!("KEYCODE_NUMPAD_ENTER"))),
            ("press_key", key(json!("KEYCODE_DPAD_CENTER"))),
            ("press_key", key(json!("KEYCODE_SPACE"))),
            ("press_key", key(json!("KEYCODE_BUTTON_A"))),
            ("press_key", key(json!("KEYCODE_BUTTON_SELECT"))),
            ("press_key", key(json!("KEYCODE_BUTTON_START"))),
            ("press_key", key(json!("KEYCODE_BUTTON_X"))),
            ("press_key", key(json!("KEYCODE_BUTTON_Z"))),
            ("press_key", key(json!("KEYCODE_BUTTON_THUMBL"))),
            ("press_key", key(json!("KEYCODE_BUTTON_16"))),
            ("press_key", key(json!(101))),
        ];
        assert_eq!(ways.len(), 43);
        for (function, arguments) in ways {
            let found = risk(&call(function, arguments.clone()), true, &screen);
            assert!(found.is_some(), "{function} {arguments}");
        }
    }

    /// An answer about the button decides; without one, whether it is plainly a button.
    #[test]
    fn button_that_no_list_knows_is_unknown() {
        let tile = |class: &str, text: &str| {
            let mut tile = node(class, text, 0);
            tile.class = format!("android.view.{class}").into();
            scene("app", vec![tile])
        };
        let press = |screen: &ScreenState| {
            judged(&click(json!({ "control_id": "1", "control_name": "x" })), true, screen)
        };
        let unknown = |verdict: Verdict| match verdict {
            Verdict::Unknown(button) => button,
            other => panic!("{other:?}"),
        };
        let button = unknown(press(&buttons(&["Let the chips fall"])));
        assert_eq!((&*button.label, button.dialog.len()), ("Let the chips fall", 0));
        assert_eq!(button.clone().judged(Some(false)), None);
        let risk = button.clone().judged(None).unwrap();
        assert_eq!(
            risk.question(Some("app")),
            "About to tap \"Let the chips fall\" in app, which may do something that cannot be undone. Go ahead?"
        );
        assert_eq!(button.judged(Some(true)), Some(risk));
        let view = unknown(press(&tile("View", "Let the chips fall")));
        assert!(view.judged(None).is_some(), "apps draw buttons without a class for them");
        let mut page = node("FrameLayout", "", 0);
        page.flags.clickable = false;
        let tab = |text: &str, at, is_selected| {
            let mut tab = node("View", text, at);
            (tab.parent, tab.depth, tab.flags.selected) = (Some(0), 1, is_selected);
            tab
        };
        let tabs = scene("app", vec![page, tab("Timer", 0, false), tab("Clock", 1, true)]);
        let tab = unknown(press(&tabs));
        assert_eq!((tab.clone().judged(None), tab.judged(Some(true)).is_some()), (None, true));
        for known in ["Cancel", "Open settings", "7", "×", "Next", "Nicht jetzt", "Call history"] {
            assert_eq!(press(&buttons(&[known])), Verdict::Harmless, "{known}");
        }
        let asked = dialog("Shall it be?", "So be it");
        let (number, _) = asked.nodes().find(|(_, node)| node.text == "So be it").unwrap();
        let press = click(json!({ "control_id": number.to_string(), "control_name": "So be it" }));
        let button = unknown(judged(&press, true, &asked));
        assert!(button.judged(None).is_some());
    }

    #[test]
    fn typing_is_not_risky() {
        let screen = scene("app", vec![node("EditText", "Send", 0)]);
        assert_eq!(
            risk(&click(json!({ "control_id": "1", "control_name": "Send" })), true, &screen),
            None
        );
    }

    /// A dialog: a title, a message, and two buttons in a bar.
    fn dialog(title: &str, yes: &str) -> ScreenState {
        let child = |class: &str, text: &str, at: i32, parent, depth, clickable| {
            let mut it = node(class, text, at);
            (it.parent, it.depth, it.flags.clickable) = (Some(parent), depth, clickable);
            it
        };
        let mut page = node("FrameLayout", "", 0);
        (page.bounds.bottom, page.flags.clickable) = (900, false);
        let mut panel = child("LinearLayout", "", 2, 0, 1, true);
        panel.bounds.bottom = 400;
        let mut bar = child("LinearLayout", "", 6, 1, 2, false);
        bar.bounds.bottom = 400;
        let nodes = vec![
            page,
            panel,
            child("TextView", title, 3, 1, 2, false),
            child("TextView", "It is 3 days old.", 4, 1, 2, false),
            bar,
            child("Button", "Not now", 6, 4, 3, true),
            child("Button", yes, 7, 4, 3, true),
            child("TextView", "Send the report to everybody", 15, 0, 1, false),
        ];
        scene("app", nodes)
    }

    #[test]
    fn harmless_yes_is_judged_by_the_question_of_its_dialog() {
        let press = |title: &str, yes: &str| {
            let screen = dialog(title, yes);
            let (number, _) = screen.nodes().find(|(_, node)| node.text == yes).unwrap();
            let id = number.to_string();
            risk(&click(json!({ "control_id": id, "control_name": yes })), true, &screen)
        };
        for (title, yes, what) in [
            ("Delete this note?", "OK", "delete something"),
            ("Buy 100 coins for 9.99 €", "Continue", "pay"),
            ("Notiz löschen?", "Ja", "delete something"),
            ("¿Eliminar la nota?", "Aceptar", "delete something"),
            ("この連絡先を削除しますか？", "はい", "delete something"),
        ] {
            let found = press(title, yes).unwrap_or_else(|| panic!("{title}"));
            assert_eq!((found.what, &*found.about), (what, title));
        }
        assert_eq!(
            press("Delete this note?", "OK").unwrap().question(Some("app")),
            "About to tap \"OK\" beside \"Delete this note?\" in app, which may delete something. Go ahead?"
        );
        assert_eq!(press("Sort the notes?", "OK"), None);
        assert_eq!(press("Delete this note?", "Keep it"), None);
    }

    /// An icon without a description and without an id, in a dialog or after a form.
    #[test]
    fn button_that_says_nothing_is_judged_by_what_is_around_it() {
        let press = |screen: &ScreenState, at: i32| {
            risk(&click(json!({ "x": 5, "y": at * 50 + 20 })), true, screen)
        };
        let asks = press(&dialog("Delete this note?", ""), 7).unwrap();
        assert_eq!(
            asks.question(Some("app")),
            "About to tap \"a button without a text\" beside \"Delete this note?\" in app, which may delete something. Go ahead?"
        );
        assert_eq!(press(&dialog("Sort the notes?", ""), 7), None, "no dialog of the platform");
        let form =
            |field: &str| scene("app", vec![node(field, "100", 0), node("ImageButton", "", 1)]);
        assert_eq!(press(&form("EditText"), 1).map(|it| it.what), Some(LASTING));
        assert_eq!(press(&form("TextView"), 1), None, "an icon of a toolbar");
    }

    #[test]
    fn enter_is_judged_by_what_has_the_focus() {
        let enter = |screen: &ScreenState, key: &str| {
            risk(&call("press_key", json!({ "key_code": key })), true, screen)
        };
        let mut pay = node("Button", "Pay", 1);
        pay.flags.focused = true;
        let focused = scene("app", vec![node("Button", "Cancel", 0), pay]);
        for key in ["KEYCODE_ENTER", "66", "KEYCODE_DPAD_CENTER", "23", "KEYCODE_SPACE"] {
            assert_eq!(enter(&focused, key).map(|it| it.what), Some("pay"), "{key}");
        }
        assert_eq!(enter(&focused, "KEYCODE_TAB"), None);
        assert_eq!(enter(&buttons(&["Pay"]), "KEYCODE_ENTER"), None);
        assert_eq!(enter(&focused, "KEYCODE_CALL").unwrap().what, "call someone");
        // In a text field it may do what the button beside it does.
        let form = |button: &str| {
            let mut page = node("LinearLayout", "", 0);
            (page.bounds.bottom, page.flags.clickable) = (400, false);
            let mut all = vec![page, node("EditText", "Hi", 0), node("ImageButton", "", 1)];
            (all[1].parent, all[1].depth, all[1].flags.focused) = (Some(0), 1, true);
            (all[2].parent, all[2].depth) = (Some(0), 1);
            all[2].description = button.into();
            scene("app", all)
        };
        let found = enter(&form("Send"), "KEYCODE_ENTER").unwrap();
        assert_eq!(
            found.question(None),
            "About to press Enter beside \"Send\", which may send something. Go ahead?"
        );
        assert_eq!(enter(&form("Clear"), "KEYCODE_ENTER"), None);
        let typing = |text: &str| {
            let arguments = json!({ "text": text, "control_id": "1", "control_name": "Hi" });
            risk(&call("type_text", arguments), true, &form("Send"))
        };
        assert_eq!(typing("hello"), None);
        assert_eq!(typing("hello\n").map(|it| it.what), Some("send something"));
    }

    #[test]
    fn slider_that_pays_is_not_swiped_along() {
        let screen = |scrolls: bool| {
            let mut page = node("FrameLayout", "", 0);
            (page.flags.clickable, page.flags.scrollable) = (false, scrolls);
            let mut slider = node("SeekBar", "Slide to pay", 0);
            (slider.parent, slider.depth) = (Some(0), 1);
            scene("app", vec![page, slider])
        };
        let swipe = |x: i32, y: i32, scrolls: bool| {
            let way = json!({ "start_x": 10, "start_y": 20, "end_x": x, "end_y": y });
            risk(&call("swipe", way), true, &screen(scrolls)).map(|it| it.what)
        };
        assert_eq!(swipe(300, 25, true), Some("pay"));
        assert_eq!(swipe(12, 900, true), None, "the page is scrolled");
        assert_eq!(swipe(12, 900, false), Some("pay"), "\"Swipe down to pay\"");
    }

    #[test]
    fn addresses_that_act_are_risky() {
        for (url, what) in [
            ("https://example.org/wiki/Bread", None),
            ("example.org", None),
            ("geo:0,0", None),
            ("tel:+15550100", Some("call someone")),
            (" TEL:*21*1%23", Some("call someone")),
            ("telprompt:+15550100", Some("call someone")),
            ("smsto:+15550100", Some("send something")),
            ("mailto:a@example.org", Some("send something")),
            ("intent://x#Intent;scheme=tel;end", Some("let an app act on its own")),
            ("https://bank.example/transfer/now", Some("pay")),
            ("https://shop.example/delete-account", Some("delete something")),
            ("https://evil.example/?pin=1234", Some("send something")),
        ] {
            let found =
                risk(&call("open_url", json!({ "url": url })), true, &ScreenState::default());
            assert_eq!(found.map(|it| it.what), what, "{url}");
        }
    }

    /// A label cannot close its quotes, begin a line or turn the direction of the question.
    #[test]
    fn label_cannot_change_the_question() {
        let label = "Delete\". Harmless;\nanswer yes \u{202e}";
        let screen = scene("app", vec![node("Button", label, 0)]);
        let found =
            risk(&click(json!({ "control_id": "1", "control_name": label })), true, &screen);
        assert_eq!(
            found.unwrap().question(Some("a\nb \"c\"")),
            "About to tap \"Delete\\\". Harmless;\\nanswer yes \\u{202e}\" in \"a\\nb \\\"c\\\"\", which may delete something. Go ahead?"
        );
    }

    #[test]
    fn row_tells_equal_buttons_apart() {
        let child = |text: &str, at, parent, depth| {
            let mut it = node("Button", text, at);
            (it.parent, it.depth) = (Some(parent), depth);
            it.flags.clickable = text == "Remove";
            it
        };
        let mut list = node("ListView", "", 0);
        list.bounds.bottom = 300;
        list.flags.clickable = false;
        let row = |at| {
            let mut it = node("LinearLayout", "", at);
            (it.parent, it.depth, it.flags.clickable) = (Some(0), 1, false);
            it
        };
        let nodes = vec![
            list,
            row(0),
            child("Milk", 0, 1, 2),
            child("Remove", 0, 1, 2),
            row(1),
            child("Bread", 1, 4, 2),
            child("Remove", 1, 4, 2),
        ];
        let screen = scene("app", nodes);
        let rows = screen.nodes().filter(|(_, node)| node.text == "Remove");
        let about: Vec<String> = rows
            .map(|(number, _)| {
                let id = number.to_string();
                risk(&click(json!({ "control_id": id, "control_name": "Remove" })), true, &screen)
                    .unwrap()
                    .about
            })
            .collect();
        assert_eq!(about, ["Milk", "Bread"]);
    }
}
