//! `input` as a Java program of its own, before Android 5: `Input.java` of Android 4.4, and the captures `065` to `091`.
//!
//! It looks at the number of arguments first, knows no display, and ends with status 0 whatever happened.

use super::{Invocation, LONG_PRESS_MS, keycodes, press, press_char, swipe, tap, unescape};
use crate::latency::Work;
use crate::sh::io::Status;
use crate::world::Point;
use std::time::Duration;

/// What `input` alone prints, and behind every mistake.
const USAGE: &str = include_str!("../words/android-4.4/input.txt");

/// 128 + `SIGKILL`: Android's runtime kills a program that threw what nobody catches.
const KILLED: i32 = 137;

/// `input [SOURCE] COMMAND ARG…`
pub(super) async fn input(call: &Invocation) -> Status {
    let mut args: Vec<&str> = call.args.iter().map(String::as_str).collect();
    if args.first().is_some_and(|first| super::SOURCES.contains(first)) {
        args.remove(0);
    }
    let wrong = match perform(call, &args).await {
        Did::Well => return Ok(0),
        Did::Die => {
            call.err("Killed\n").await;
            return Ok(KILLED);
        }
        Did::Nothing => String::new(),
        Did::Wrong => format!("Error: Invalid arguments for command: {}\n", args[0]),
        Did::Unknown => format!("Error: Unknown command: {}\n", args[0]),
    };
    call.err(format!("{wrong}{USAGE}")).await;
    Ok(0)
}

enum Did {
    Well,
    /// Asked for nothing.
    Nothing,
    Wrong,
    Unknown,
    Die,
}

async fn perform(call: &Invocation, args: &[&str]) -> Did {
    match args {
        [] => return Did::Nothing,
        ["text", text] => {
            let typed = unescape(text);
            // `KeyCharacterMap.getEvents` has no keys for one character and so none for all, and `sendText` does not expect that.
            if !typed.chars().all(|c| matches!(c, ' '..='~' | '\n' | '\t')) {
                return Did::Die;
            }
            for c in typed.chars() {
                press_char(call, c);
                call.phone.spend(Work::Character).await;
            }
        }
        ["keyevent", rest @ ..] => {
            let (long, names) = match rest {
                ["--longpress", names @ ..] => (true, names),
                names => (false, names),
            };
            if names.is_empty() {
                return Did::Wrong;
            }
            for name in names {
                press(call, keycodes::code(name));
                if long {
                    call.phone.take(Duration::from_millis(LONG_PRESS_MS)).await;
                }
            }
        }
        ["tap", x, y] => match point(x, y) {
            Some(at) => tap(call, at),
            None => return Did::Wrong,
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
                _ => return Did::Wrong,
            }
        }
        ["press"] => tap(call, Point { x: 0, y: 0 }),
        // A trackball that rolls moves nothing that is on the screen.
        ["roll", x, y] if point(x, y).is_some() => {}
        ["text" | "tap" | "swipe" | "press" | "roll", ..] => return Did::Wrong,
        [_, ..] => return Did::Unknown,
    }
    Did::Well
}

fn point(x: &str, y: &str) -> Option<Point> {
    let pixels = |text: &str| text.trim().parse::<f32>().ok().map(|number| number as i32);
    Some(Point { x: pixels(x)?, y: pixels(y)? })
}
