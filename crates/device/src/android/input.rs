//! Touches, keys and text, by the phone's `input` program.
//!
//! What has no key there goes through a keyboard app: `keyboard.rs`.

use std::time::Duration;

use super::Line;
use crate::{Acted, Error, Gesture, Key};

/// One gesture.
pub(super) fn touch_command(gesture: Gesture) -> Line {
    match gesture {
        Gesture::Tap { at } => Line::new("input tap").number(at.x).number(at.y),
        // `input` has no long press; a swipe that stays where it is is one.
        Gesture::LongPress { at, held } => swipe(at, at, held),
        Gesture::Swipe { from, to, lasting } => swipe(from, to, lasting),
    }
}

fn swipe(from: crate::Point, to: crate::Point, lasting: Duration) -> Line {
    let millis = i64::try_from(lasting.as_millis()).unwrap_or(i64::MAX);
    let line = Line::new("input swipe").number(from.x).number(from.y).number(to.x).number(to.y);
    line.number(millis)
}

/// One key, pressed and released.
pub(super) fn key_command(key: Key) -> Line {
    // Numbers, not names: phones before Android 4 know no names. android.view.KeyEvent.
    Line::new("input keyevent").number(match key {
        Key::Home => 3,
        Key::Back => 4,
        Key::VolumeUp => 24,
        Key::VolumeDown => 25,
        Key::Power => 26,
        Key::Menu => 82,
        Key::Android(code) => i64::from(code.0),
    })
}

const ENTER: i32 = 66;

/// How many characters go into one command: a service name of more than 1,024 bytes is refused by adb servers of old, a
/// quote takes four once quoted, and what stands before the text on an old phone takes 105.
const PIECE: usize = 225;

/// How a text can be typed.
pub(super) enum Way {
    /// By these commands, in order.
    Keys(Vec<Line>),
    /// Not by keys: this character has none.
    Keyless(char),
}

/// Sorts a text by how it can be typed. `input text` drops what has no key on the phone's virtual keyboard without a
/// word, so only printable ASCII and line ends go that way.
///
/// A line end (`\n` or `\r\n`) is the Enter key: in a field of one line that sends it off, as on a keyboard.
///
/// # Errors
/// [`Error::Refused`] for a control character: no keyboard types it.
pub(super) fn way_to_type(text: &str) -> Result<Way, Error> {
    let text = text.replace("\r\n", "\n");
    if let Some(odd) = text.chars().find(|&char| char.is_control() && char != '\n') {
        let why = format!(
            "{} (U+{:04X}) is a control character, which no keyboard types; leave it out",
            odd.escape_debug(),
            u32::from(odd)
        );
        return Err(Error::Refused { what: "text", why });
    }
    if let Some(keyless) = text.chars().find(|&char| !matches!(char, ' '..='~' | '\n')) {
        return Ok(Way::Keyless(keyless));
    }
    let mut commands = Vec::new();
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            commands.push(enter_command());
        }
        for piece in pieces(line) {
            // `--` is no option of `input`; a leading dash needs none, because it takes the next word as it is.
            commands.push(Line::new("input text").word(piece)?);
        }
    }
    Ok(Way::Keys(commands))
}

/// The Enter key.
pub(super) fn enter_command() -> Line {
    Line::new("input keyevent").number(ENTER)
}

/// What an error after `sent` pieces of a text means: those were typed.
pub(super) fn partly(error: Error, sent: usize) -> Error {
    match error {
        Error::NotConnected { why, .. } if sent > 0 => {
            Error::NotConnected { why, acted: Acted::Maybe }
        }
        Error::NotReady { what, said } if sent > 0 => Error::Failed { what, said },
        error => error,
    }
}

/// android.view.KeyEvent: what stands before the cursor goes, what stands behind it goes.
const DEL: i32 = 67;
const FORWARD_DEL: i32 = 112;

/// How many keys go into one command. `input` takes several at once since Android 4.4 (its usage, in a capture); before
/// that it presses the first.
const KEYS: usize = 200;

/// How many characters are erased at most in one go: no field of a screen holds more.
const MOST_ERASED: usize = 20_000;

/// The commands that take `characters` away on each side of the cursor.
pub(super) fn erase_commands(characters: usize) -> Vec<Line> {
    let most = characters.min(MOST_ERASED);
    let keys: Vec<i32> = [DEL, FORWARD_DEL].into_iter().flat_map(|key| vec![key; most]).collect();
    let press =
        |keys: &[i32]| keys.iter().fold(Line::new("input keyevent"), |line, &key| line.number(key));
    keys.chunks(KEYS).map(press).collect()
}

/// Cuts a line into pieces that `input text` types as they stand: it turns `%s` into a space, so the two
/// characters never stand in one piece.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let longest = rest.len().min(PIECE);
        // The whole rest is not searched again for each piece: a text may be a book.
        let cut = rest[..longest].find("%s").map_or(longest, |at| at + 1);
        let (piece, after) = rest.split_at(cut);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Point;

    fn typed(text: &str) -> Vec<String> {
        let Way::Keys(lines) = way_to_type(text).unwrap() else { panic!("{text:?} has no keys") };
        lines.iter().map(|line| line.as_str().to_owned()).collect()
    }

    #[test]
    fn gestures_become_commands() {
        let at = Point { x: 3, y: 4 };
        assert_eq!(touch_command(Gesture::Tap { at }).as_str(), "input tap 3 4");
        let held = Duration::from_millis(900);
        let press = touch_command(Gesture::LongPress { at, held });
        assert_eq!(press.as_str(), "input swipe 3 4 3 4 900");
        let to = Point { x: 5, y: 60 };
        let swipe = touch_command(Gesture::Swipe { from: at, to, lasting: Duration::from_secs(1) });
        assert_eq!(swipe.as_str(), "input swipe 3 4 5 60 1000");
    }

    #[test]
    fn text_is_quoted_and_line_ends_are_keys() {
        assert_eq!(typed("Don't!"), [r"input text 'Don'\''t!'"]);
        let two = ["input text 'one'", "input keyevent 66", "input text 'two'"];
        assert_eq!(typed("one\ntwo"), two);
        assert_eq!(typed("one\r\ntwo"), two);
        assert_eq!(typed("\n"), ["input keyevent 66"]);
        assert_eq!(typed(""), [""; 0]);
    }

    #[test]
    fn a_percent_s_is_never_taken_for_a_space() {
        assert_eq!(typed("100%safe"), ["input text '100%'", "input text 'safe'"]);
        assert_eq!(typed("%%s%"), ["input text '%%'", "input text 's%'"]);
    }

    #[test]
    fn a_control_character_is_refused_by_name() {
        for (text, named) in
            [("a\0b", "U+0000"), ("\u{e9}\u{1b}", "U+001B"), ("\t", "U+0009"), ("a\rb", "U+000D")]
        {
            let Err(error) = way_to_type(text) else { panic!("{text:?} was taken") };
            assert!(error.to_string().contains(named), "{text:?}: {error}");
        }
    }

    #[test]
    fn one_character_without_a_key_takes_the_whole_text_another_way() {
        for (text, first) in [("caf\u{e9} \u{6f22}", '\u{e9}'), ("a\u{a0}b", '\u{a0}')] {
            let Ok(Way::Keyless(odd)) = way_to_type(text) else { panic!("{text:?} has keys") };
            assert_eq!(odd, first);
        }
    }

    #[test]
    fn erasing_presses_as_many_keys_on_each_side_in_commands_that_fit() {
        let lines: Vec<String> =
            erase_commands(2).iter().map(|line| line.as_str().to_owned()).collect();
        assert_eq!(lines, ["input keyevent 67 67 112 112"]);
        assert!(erase_commands(0).is_empty());
        let many = erase_commands(usize::MAX);
        assert_eq!(many.len(), 2 * MOST_ERASED / KEYS);
        assert!(many.iter().all(|line| line.as_str().len() < 1_000));
    }

    proptest! {
        #[test]
        fn pieces_hold_all_of_the_text_and_no_percent_s(line in "[%s'a]{0,600}") {
            let pieces = pieces(&line);
            prop_assert_eq!(pieces.concat(), line.as_str());
            prop_assert!(pieces.iter().all(|piece| piece.len() <= PIECE && !piece.contains("%s")));
        }
    }
}
