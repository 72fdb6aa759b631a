//! `input` as a Java program, before Android 5: `Input.java` of Android 4.4, and the captures `065`
//! to `091`.
//!
//! It checks the number of arguments first, has no displays, and always exits with status 0.

use super::typing::{press_and_wait, type_text};
use super::{Invocation, LONG_PRESS_MS, keycodes, swipe, tap, unescape};
use std::time::Duration;
use thumbwire_virtual_phone::Point;
use thumbwire_virtual_shell::io::Status;

/// 128 + `SIGKILL`: Android's runtime kills a program with an uncaught exception.
const KILLED: i32 = 137;

/// `input [SOURCE] COMMAND ARG…`
pub(super) async fn input(call: &Invocation) -> Status {
    let mut args: Vec<&str> = call.args.iter().map(String::as_str).collect();
    if args.first().is_some_and(|first| super::SOURCES.contains(first)) {
        args.remove(0);
    }
    let wrong = match perform(call, &args).await {
        OldInputResult::Ok => return Ok(0),
        OldInputResult::Die => {
            call.err("Killed\n").await;
            return Ok(KILLED);
        }
        OldInputResult::Nothing => String::new(),
        OldInputResult::Invalid => format!("Error: Invalid arguments for command: {}\n", args[0]),
        OldInputResult::Unknown => format!("Error: Unknown command: {}\n", args[0]),
    };
    call.err(format!("{wrong}{}", call.release().input_usage)).await;
    Ok(0)
}

enum OldInputResult {
    Ok,
    /// No command was given.
    Nothing,
    Invalid,
    Unknown,
    Die,
}

async fn perform(call: &Invocation, args: &[&str]) -> OldInputResult {
    match args {
        [] => return OldInputResult::Nothing,
        ["text", text] => {
            let typed = unescape(text);
            // If `KeyCharacterMap.getEvents` has no keys for one character, it returns none for
            // all, and `sendText` does not expect that.
            if !typed.chars().all(|c| matches!(c, ' '..='~' | '\n' | '\t')) {
                return OldInputResult::Die;
            }
            type_text(call, &typed).await;
        }
        ["keyevent", rest @ ..] => {
            let (long, names) = match rest {
                ["--longpress", names @ ..] => (true, names),
                names => (false, names),
            };
            if names.is_empty() {
                return OldInputResult::Invalid;
            }
            for name in names {
                press_and_wait(call, key_code(name)).await;
                if long {
                    call.phone.sleep(Duration::from_millis(LONG_PRESS_MS)).await;
                }
            }
        }
        ["tap", x, y] => match point(x, y) {
            Some(at) => tap(call, at),
            None => return OldInputResult::Invalid,
        },
        ["swipe", x1, y1, x2, y2, rest @ ..] => {
            let duration = match rest {
                [] => Some(300),
                [millis] => {
                    millis.parse::<i32>().ok().map(|millis| u64::try_from(millis).unwrap_or(300))
                }
                _ => None,
            };
            match (point(x1, y1), point(x2, y2), duration) {
                (Some(from), Some(to), Some(duration)) => swipe(call, from, to, duration, 0).await,
                _ => return OldInputResult::Invalid,
            }
        }
        ["press"] => tap(call, Point { x: 0, y: 0 }),
        // A rolling trackball moves nothing on the screen.
        ["roll", x, y] if point(x, y).is_some() => {}
        ["text" | "tap" | "swipe" | "press" | "roll", ..] => return OldInputResult::Invalid,
        [_, ..] => return OldInputResult::Unknown,
    }
    OldInputResult::Ok
}

/// A code that means no key is taken for a name: `keyevent 0` types the digit (seen on a real
/// Android 4.4.4).
fn key_code(name: &str) -> u32 {
    match keycodes::code(name) {
        0 => keycodes::code(&format!("KEYCODE_{name}")),
        code => code,
    }
}

fn point(x: &str, y: &str) -> Option<Point> {
    let pixels = |text: &str| text.trim().parse::<f32>().ok().map(|number| number as i32);
    Some(Point { x: pixels(x)?, y: pixels(y)? })
}
