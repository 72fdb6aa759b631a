//! Touches, keys and text, by the phone's `input` program.

use std::time::Duration;

use super::Line;
use crate::{Error, Gesture, Key};

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
    })
}

const ENTER: i32 = 66;

/// How many characters go into one command: old phones refuse a service name of more than 1,024 bytes, and a
/// quote takes four once quoted.
const PIECE: usize = 250;

/// The commands that type `text`, in order. Nothing is typed when one character cannot be.
///
/// A line end (`\n` or `\r\n`) is the Enter key: in a field of one line that sends it off, as on a keyboard. `input text` drops
/// what has no key on the phone's virtual keyboard without a word, so only printable ASCII is let through.
pub(super) fn text_commands(text: &str) -> Result<Vec<Line>, Error> {
    let text = text.replace("\r\n", "\n");
    if let Some(odd) = text.chars().find(|&char| !matches!(char, ' '..='~' | '\n')) {
        let why = format!(
            "{} (U+{:04X}) has no key on the phone's keyboard and would be lost; only printable ASCII and line ends can be typed",
            odd.escape_debug(),
            u32::from(odd)
        );
        return Err(Error::Refused { what: "text", why });
    }
    let mut commands = Vec::new();
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            commands.push(Line::new("input keyevent").number(ENTER));
        }
        for piece in pieces(line) {
            // `--` is no option of `input`; a leading dash needs none, because it takes the next word as it is.
            commands.push(Line::new("input text").word(piece)?);
        }
    }
    Ok(commands)
}

/// Cuts a line into pieces that `input text` types as they stand: it turns `%s` into a space, so the two
/// characters never stand in one piece.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let longest = rest.len().min(PIECE);
        let cut = rest.find("%s").map_or(longest, |at| longest.min(at + 1));
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
        let lines = text_commands(text).unwrap();
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
    fn what_has_no_key_is_refused_by_name_before_anything_is_typed() {
        for (text, named) in
            [("a\0b", "U+0000"), ("caf\u{e9}", "U+00E9"), ("\t", "U+0009"), ("a\rb", "U+000D")]
        {
            let error = text_commands(text).unwrap_err().to_string();
            assert!(error.contains(named), "{text:?}: {error}");
        }
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
