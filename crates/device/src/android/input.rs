//! Touches, keys and text, by the helper or by the phone's `input` program.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::legacy::Legacy;
use super::{Android, ShellCommand};
use crate::{
    Editor, EditorSize, Error, Gesture, Key, SideEffect, TextEditing, TypingMethod, UntypableText,
};

/// The first API level whose `input` is no Java program: it starts in milliseconds.
const FAST_INPUT: u32 = 31;

/// The first API level whose `input` drags.
const DRAGGING: u32 = 24;

/// Performs one gesture on a phone of this API level; `None` if it takes two fingers, which `input`
/// does not have.
pub(super) fn touch_command(gesture: Gesture, level: u32) -> Option<ShellCommand> {
    let tap = |line: ShellCommand, at: crate::Point| line.number(at.x).number(at.y);
    Some(match gesture {
        Gesture::Pinch { .. } => return None,
        Gesture::Tap { at } => tap(ShellCommand::new("input tap"), at),
        // Android takes taps 40 to 300 ms apart as a double tap (`ViewConfiguration`).
        Gesture::DoubleTap { at } if level >= FAST_INPUT => {
            tap(tap(ShellCommand::new("input tap"), at).then("; sleep 0.06; input tap"), at)
        }
        // The second program starts while the first one still does: each takes longer than a double
        // tap may.
        Gesture::DoubleTap { at } => {
            let first = tap(ShellCommand::new("(sleep 0.1; input tap"), at);
            tap(first.then(") & input tap"), at).then("; wait")
        }
        Gesture::Drag { from, to, duration } if level >= DRAGGING => {
            moving(ShellCommand::new("input draganddrop"), from, to, duration)
        }
        // Moves what needs no long press, such as a slider.
        Gesture::Drag { from, to, duration } => swipe_command(from, to, duration),
        // `input` has no long press; a swipe from a point to itself is one.
        Gesture::LongPress { at, held } => swipe_command(at, at, held),
        Gesture::Swipe { from, to, duration } => swipe_command(from, to, duration),
    })
}

/// Moves a finger in a straight line; the same on every release.
pub(super) fn swipe_command(
    from: crate::Point,
    to: crate::Point,
    duration: Duration,
) -> ShellCommand {
    moving(ShellCommand::new("input swipe"), from, to, duration)
}

fn moving(
    line: ShellCommand,
    from: crate::Point,
    to: crate::Point,
    duration: Duration,
) -> ShellCommand {
    let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    line.number(from.x).number(from.y).number(to.x).number(to.y).number(millis)
}

/// Presses and releases one key.
pub(super) fn key_command(key: Key) -> ShellCommand {
    ShellCommand::new("input keyevent").number(key_code(key))
}

/// Numbers, not names: phones before Android 4 know no names. Source: `android.view.KeyEvent`.
pub(crate) fn key_code(key: Key) -> i64 {
    match key {
        Key::Home => 3,
        Key::Back => 4,
        Key::VolumeUp => 24,
        Key::VolumeDown => 25,
        Key::Power => 26,
        Key::Menu => 82,
        Key::Android(code) => i64::from(code.0),
    }
}

const ENTER: i32 = 66;

/// Characters per command. `input text` stamps all its keys when it starts, and Android drops keys
/// older than 10 s (`InputDispatcher`, `STALE_EVENT_TIMEOUT`): so a key may take up to 100 ms.
const PIECE: usize = 100;

/// About how long a key takes (reports: 5 ms).
const PER_CHARACTER: Duration = Duration::from_millis(5);

/// Maximum bytes per command on any phone. Old adb servers reject service names over 1,024 bytes; a
/// quoted single quote takes four bytes, and on an old phone the text around it takes 175.
const MAX_PIECE: usize = 205;

/// How a text can be typed.
pub(super) enum TypingPlan {
    /// With keys: these lines, and Enter between them.
    Keys(Vec<String>),
    /// Not with keys: these characters have none.
    NoKeyFor(Vec<char>),
}

/// Plans how to type a text. `input text` silently drops characters that have no key on the phone's
/// virtual keyboard, so only printable ASCII and line breaks are typed with keys.
///
/// A line break (`\n` or `\r\n`) is the Enter key; in a single-line field it submits, as on a
/// keyboard.
///
/// # Errors
/// [`Error::Untypable`] for control characters: no keyboard can type them.
pub(super) fn plan_typing(text: &str) -> Result<TypingPlan, Error> {
    let text = text.replace("\r\n", "\n");
    let control = distinct(&text, |char| char.is_control() && char != '\n');
    if !control.is_empty() {
        return Err(Error::Untypable(UntypableText::Control(control)));
    }
    let keyless = distinct(&text, |char| !matches!(char, ' '..='~' | '\n'));
    if !keyless.is_empty() {
        return Ok(TypingPlan::NoKeyFor(keyless));
    }
    Ok(TypingPlan::Keys(text.split('\n').map(str::to_owned).collect()))
}

/// Splits off the next line break, or the line before it. `None` at the end.
fn next_part(text: &str) -> Option<(&str, &str)> {
    let length = match text.find('\n') {
        Some(0) => 1,
        Some(at) => at,
        None => text.len(),
    };
    (length > 0).then(|| text.split_at(length))
}

/// The characters of the text that `is_odd`, each once, in their order.
fn distinct(text: &str, is_odd: impl Fn(char) -> bool) -> Vec<char> {
    let mut seen = BTreeSet::new();
    text.chars().filter(|&char| is_odd(char) && seen.insert(char)).collect()
}

/// Types one piece.
fn text_command(piece: &str) -> Result<ShellCommand, Error> {
    // `input` does not support `--`. It takes the next argument literally, so a leading dash is
    // safe.
    ShellCommand::new("input text").arg(piece)
}

impl Android {
    /// Types a text: its lines by the helper while that can, the rest with keys.
    pub(super) async fn type_anywhere(&self, text: &str) -> Result<TypingMethod, Error> {
        let plan = plan_typing(text)?;
        let text = text.replace("\r\n", "\n");
        let mut by = TypingMethod::Keys;
        let mut done = 0;
        while let Some((part, rest)) = next_part(&text[done..]) {
            let typed = match part {
                "\n" => self
                    .press_by_helper(i64::from(ENTER), 1)
                    .await
                    .map(|pressed| pressed.then(|| by.clone())),
                line => self.type_by_helper(line, false).await,
            };
            match typed.map_err(|error| partial_error(error, done))? {
                Some(method) => by = method,
                None if done == 0 => return self.type_by_shell(plan).await,
                None => {
                    let typed = self.type_by_shell(plan_typing(&text[done..])?).await;
                    return typed.map_err(|error| partial_error(error, done));
                }
            }
            done = text.len() - rest.len();
        }
        Ok(by)
    }

    /// Presses these keys one after the other, to erase.
    async fn press_all(&self, presses: &[Presses]) -> Result<(), Error> {
        let mut pressed = 0;
        for (nth, &(key, times)) in presses.iter().enumerate() {
            let by_helper = self.press_by_helper(i64::from(key), times).await;
            if !by_helper.map_err(|error| partial_error(error, pressed))? {
                for line in press_commands(&presses[nth..]) {
                    self.run_silent("erase", line).await?;
                }
                return Ok(());
            }
            pressed += times;
        }
        Ok(())
    }

    async fn type_by_shell(&self, plan: TypingPlan) -> Result<TypingMethod, Error> {
        match plan {
            TypingPlan::Keys(lines) => self.type_lines(&lines).await,
            TypingPlan::NoKeyFor(characters) => {
                Err(Error::Untypable(UntypableText::Keyless(characters)))
            }
        }
    }

    /// Types lines with keys, each in pieces that the phone types in time.
    pub(super) async fn type_lines(&self, lines: &[String]) -> Result<TypingMethod, Error> {
        let mut sent = 0;
        for (i, line) in lines.iter().enumerate() {
            if i > 0 {
                let entered = self.run_silent("type", enter_command()).await;
                entered.map_err(|error| partial_error(error, sent))?;
                sent += 1;
            }
            let mut rest = line.as_str();
            while !rest.is_empty() {
                let longest = self.legacy.as_ref().map_or(PIECE, Legacy::piece);
                let (piece, after) = split_piece(rest, longest);
                let typed = match &self.legacy {
                    Some(legacy) => legacy.type_piece(self, piece).await,
                    None => self.run_silent("type", text_command(piece)?).await,
                };
                typed.map_err(|error| partial_error(error, sent))?;
                sent += 1;
                rest = after;
            }
        }
        Ok(TypingMethod::Keys)
    }

    /// Runs a command that presses a key or taps the screen.
    pub(super) async fn run_input(
        &self,
        what: &'static str,
        line: ShellCommand,
    ) -> Result<(), Error> {
        let started = Instant::now();
        self.run_silent(what, line).await?;
        if let Some(legacy) = &self.legacy {
            legacy.learn_start(started.elapsed());
        }
        Ok(())
    }
}

/// Presses Enter.
pub(super) fn enter_command() -> ShellCommand {
    ShellCommand::new("input keyevent").number(ENTER)
}

/// Adjusts an error that occurred after `sent` parts of a text were typed.
pub(super) fn partial_error(error: Error, sent: usize) -> Error {
    match error {
        Error::NotConnected { reason, .. } if sent > 0 => {
            Error::NotConnected { reason, acted: SideEffect::Possible }
        }
        Error::NotReady { what, text } if sent > 0 => Error::Failed { what, text },
        Error::Refused { reason, .. } if sent > 0 => {
            Error::Failed { what: "type all of it", text: reason }
        }
        Error::Untypable(untypable) if sent > 0 => {
            Error::Failed { what: "type all of it", text: untypable.to_string() }
        }
        error => error,
    }
}

#[async_trait]
impl TextEditing for Android {
    async fn check_text(&self, text: &str) -> Result<(), Error> {
        match plan_typing(text)? {
            TypingPlan::Keys(_) => Ok(()),
            TypingPlan::NoKeyFor(_) if self.has_text_by_helper().await? => Ok(()),
            TypingPlan::NoKeyFor(characters) => {
                Err(Error::Untypable(UntypableText::Keyless(characters)))
            }
        }
    }

    async fn typing_time(&self, text: &str) -> Result<Duration, Error> {
        let characters = text.chars().count();
        if characters > SHORT && self.has_text_by_helper().await? {
            return Ok(BY_HELPER);
        }
        match &self.legacy {
            Some(legacy) => {
                if characters > SHORT {
                    legacy.measure_pace(self).await?;
                }
                Ok(legacy.typing_time(characters))
            }
            None => Ok(PER_CHARACTER.saturating_mul(u32::try_from(characters).unwrap_or(u32::MAX))),
        }
    }

    async fn editor(&self) -> Result<Option<Editor>, Error> {
        self.read_editor().await
    }

    async fn replace_text(&self, text: &str) -> Result<Option<TypingMethod>, Error> {
        plan_typing(text)?;
        if text.contains(['\r', '\n']) {
            return Ok(None);
        }
        self.type_by_helper(text, true).await
    }

    async fn delete_at_end(&self, field: EditorSize, characters: usize) -> Result<(), Error> {
        self.press_all(&end_keys(field, characters)).await
    }

    async fn delete_around_cursor(&self, characters: usize) -> Result<(), Error> {
        self.press_all(&delete_keys(characters)).await
    }

    async fn clipboard(&self) -> Result<Option<String>, Error> {
        self.read_clipboard().await
    }

    async fn set_clipboard(&self, text: &str) -> Result<(), Error> {
        self.write_clipboard(text).await
    }
}

/// How long the helper takes for a long text (measured on Android 4.4.4: 0.23 s for 1,200
/// characters).
const BY_HELPER: Duration = Duration::from_secs(1);

/// A text this short is typed in time by any phone.
const SHORT: usize = 60;

/// `android.view.KeyEvent`: delete before the cursor, delete after the cursor, and keys that move
/// the cursor.
const DEL: i32 = 67;
const FORWARD_DEL: i32 = 112;
const PAGE_DOWN: i32 = 93;
const MOVE_END: i32 = 123;

/// A page of a text field shows at least so many characters.
const PAGE: usize = 100;

/// Keys per command. `input` accepts several since Android 4.4 (its usage text, in a capture);
/// older versions press only the first.
const KEYS: usize = 200;

/// Maximum number of characters to delete in one call; no field on a screen has more.
const MAX_ERASED: usize = 20_000;

/// A key, and how often it is pressed.
type Presses = (i32, usize);

/// The keys that delete `characters` characters on each side of the cursor.
fn delete_keys(characters: usize) -> Vec<Presses> {
    let count = characters.min(MAX_ERASED);
    vec![(DEL, count), (FORWARD_DEL, count)]
}

/// The keys that move the cursor to the end of a field and delete before it. `MOVE_END` goes to the
/// end of a line, and `PAGE_DOWN` to the last line; without a further page it does nothing, while
/// an arrow would leave the field.
fn end_keys(field: EditorSize, characters: usize) -> Vec<Presses> {
    let pages = match field {
        EditorSize::OneLine => 0,
        EditorSize::Lines(characters) => (characters / PAGE + 1).min(KEYS),
    };
    vec![(PAGE_DOWN, pages), (MOVE_END, 1), (DEL, characters.min(MAX_ERASED))]
}

/// The commands that press these keys.
fn press_commands(presses: &[Presses]) -> Vec<ShellCommand> {
    let keys = presses.iter().flat_map(|&(key, times)| std::iter::repeat_n(key, times));
    keys.collect::<Vec<_>>().chunks(KEYS).map(press_command).collect()
}

fn press_command(keys: &[i32]) -> ShellCommand {
    keys.iter().fold(ShellCommand::new("input keyevent"), |line, &key| line.number(key))
}

/// Splits off a piece of at most `longest` bytes that `input text` types literally: it turns `%s`
/// into a space, so the two characters must not be in the same piece.
fn split_piece(line: &str, longest: usize) -> (&str, &str) {
    let longest = line.len().min(longest).min(MAX_PIECE);
    let cut = line[..longest].find("%s").map_or(longest, |at| at + 1);
    line.split_at(cut)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Point;

    fn pieces(mut line: &str, longest: usize) -> Vec<&str> {
        let mut pieces = Vec::new();
        while !line.is_empty() {
            let (piece, after) = split_piece(line, longest);
            pieces.push(piece);
            line = after;
        }
        pieces
    }

    /// The commands for a text, on a phone that types any piece in time.
    fn typed(text: &str) -> Vec<String> {
        let TypingPlan::Keys(lines) = plan_typing(text).unwrap() else {
            panic!("{text:?} has no keys")
        };
        let line = |line: &String| -> Vec<String> {
            let pieces = pieces(line, PIECE);
            pieces.iter().map(|piece| text_command(piece).unwrap().as_str().to_owned()).collect()
        };
        lines.iter().map(line).collect::<Vec<_>>().join(&enter_command().as_str().to_owned())
    }

    #[test]
    fn gestures_become_commands() {
        let at = Point { x: 3, y: 4 };
        let command = |gesture, level| touch_command(gesture, level).unwrap().as_str().to_owned();
        assert_eq!(command(Gesture::Tap { at }, 34), "input tap 3 4");
        let held = Duration::from_millis(900);
        assert_eq!(command(Gesture::LongPress { at, held }, 34), "input swipe 3 4 3 4 900");
        let to = Point { x: 5, y: 60 };
        let duration = Duration::from_secs(1);
        let swipe = Gesture::Swipe { from: at, to, duration };
        assert_eq!(command(swipe, 34), "input swipe 3 4 5 60 1000");
        let drag = Gesture::Drag { from: at, to, duration };
        assert_eq!(command(drag, 24), "input draganddrop 3 4 5 60 1000");
        assert_eq!(command(drag, 23), "input swipe 3 4 5 60 1000");
        let double = Gesture::DoubleTap { at };
        assert_eq!(command(double, 31), "input tap 3 4 ; sleep 0.06; input tap 3 4");
        assert_eq!(command(double, 30), "(sleep 0.1; input tap 3 4 ) & input tap 3 4 ; wait");
    }

    #[test]
    fn text_is_quoted_and_line_breaks_are_keys() {
        assert_eq!(typed("Don't!"), [r"input text 'Don'\''t!'"]);
        let two = ["input text 'one'", "input keyevent 66", "input text 'two'"];
        assert_eq!(typed("one\ntwo"), two);
        assert_eq!(typed("one\r\ntwo"), two);
        assert_eq!(typed("\n"), ["input keyevent 66"]);
        assert_eq!(typed(""), [""; 0]);
    }

    #[test]
    fn parts_are_lines_and_line_breaks() {
        let parts = |mut text| {
            let mut parts = Vec::new();
            while let Some((part, rest)) = next_part(text) {
                parts.push(part);
                text = rest;
            }
            parts
        };
        assert_eq!(parts("one\n\né\n"), ["one", "\n", "\n", "é", "\n"]);
        assert_eq!(parts(""), [""; 0]);
    }

    #[test]
    fn percent_s_is_never_typed_as_a_space() {
        assert_eq!(typed("100%safe"), ["input text '100%'", "input text 'safe'"]);
        assert_eq!(typed("%%s%"), ["input text '%%'", "input text 's%'"]);
    }

    #[test]
    fn control_character_is_rejected_by_name() {
        for (text, named) in
            [("a\0b", "U+0000"), ("\u{e9}\u{1b}", "U+001B"), ("\t", "U+0009"), ("a\rb", "U+000D")]
        {
            let Err(error) = plan_typing(text) else { panic!("{text:?} was accepted") };
            assert!(error.to_string().contains(named), "{text:?}: {error}");
        }
    }

    #[test]
    fn one_keyless_character_rules_out_keys_for_the_text() {
        for (text, keyless) in [
            ("caf\u{e9} \u{6f22} \u{e9}", vec!['\u{e9}', '\u{6f22}']),
            ("a\u{a0}b", vec!['\u{a0}']),
        ] {
            let Ok(TypingPlan::NoKeyFor(characters)) = plan_typing(text) else {
                panic!("{text:?} has keys")
            };
            assert_eq!(characters, keyless);
        }
    }

    #[test]
    fn deleting_presses_equal_keys_on_each_side() {
        let lines: Vec<String> =
            press_commands(&delete_keys(2)).iter().map(|line| line.as_str().to_owned()).collect();
        assert_eq!(lines, ["input keyevent 67 67 112 112"]);
        assert!(press_commands(&delete_keys(0)).is_empty());
        let many = press_commands(&delete_keys(usize::MAX));
        assert_eq!(many.len(), 2 * MAX_ERASED / KEYS);
        assert!(many.iter().all(|line| line.as_str().len() < 1_000));
    }

    #[test]
    fn cursor_moves_to_the_end_before_erasing() {
        let lines = |field, characters| -> Vec<String> {
            let lines = press_commands(&end_keys(field, characters));
            lines.iter().map(|line| line.as_str().to_owned()).collect()
        };
        assert_eq!(lines(EditorSize::OneLine, 0), ["input keyevent 123"]);
        assert_eq!(lines(EditorSize::OneLine, 2), ["input keyevent 123 67 67"]);
        assert_eq!(lines(EditorSize::Lines(150), 1), ["input keyevent 93 93 123 67"]);
    }

    proptest! {
        #[test]
        fn parts_contain_all_text_and_no_percent_s(line in "[%s'a]{0,600}", longest in 1_usize..300) {
            let pieces = pieces(&line, longest);
            prop_assert_eq!(pieces.concat(), line.as_str());
            let fits = |piece: &&str| piece.len() <= longest.min(MAX_PIECE) && !piece.contains("%s");
            prop_assert!(pieces.iter().all(fits));
        }
    }
}
