//! `input`: touches, keys and text. Android 12 and later run it inside the input service (`cmd input`), which is the form modelled here;
//! source of arguments, texts and statuses: `InputShellCommand.java` of Android 12 to 16.
//!
//! Before, it was a Java program of its own, which reads its arguments the same way and tells of mistakes otherwise: [`program`]; and
//! in the days of 4.4 another one: [`old`].
//!
//! Time passes as on a phone (a swipe takes its 300 ms), but virtually.

mod old;
mod program;

use super::{Invocation, keycodes};
use crate::latency::Work;
use crate::release::Input;
use crate::release::shapes::Shape;
use crate::sh::io::Status;
use crate::world::{Key, Phase, Point};
use std::time::Duration;

/// The long-press time of Android's `ViewConfiguration`, in milliseconds, and a little more.
const LONG_PRESS_MS: u64 = 500;

/// A swipe is reported in steps of this many milliseconds, about what a touch panel does.
const STEP_MS: u64 = 10;

/// Steps of one swipe at most; a longer one has longer steps.
const MOST_STEPS: u64 = 200;

const SOURCES: [&str; 11] = [
    "trackball",
    "joystick",
    "touchnavigation",
    "mouse",
    "keyboard",
    "gamepad",
    "touchpad",
    "dpad",
    "stylus",
    "touchscreen",
    "rotaryencoder",
];

/// `input [SOURCE] [-d DISPLAY] COMMAND ARG…`
pub(super) async fn input(call: Invocation) -> Status {
    match call.manners().input {
        Input::Counting => return old::input(&call).await,
        Input::Program => return program::input(&call).await,
        Input::Service => {}
    }
    let mut args = Args { args: &call.args, at: 0 };
    let first = args.next().unwrap_or_default().to_owned();
    match perform(&call, first.clone(), &mut args).await {
        Ok(status) => status,
        Err(Thrown::Missing(after)) => {
            call.exception(
                &first,
                &format!("java.lang.IllegalArgumentException: Argument expected after \"{after}\""),
            )
            .await
        }
        Err(Thrown::Invalid(what)) => {
            call.exception(&first, &format!("java.lang.IllegalArgumentException: {what}")).await
        }
        Err(Thrown::Null) => {
            let what = "java.lang.NullPointerException: Attempt to get length of null array\n\
                        \tat com.android.server.input.InputShellCommand.sendText(InputShellCommand.java:296)";
            call.exception(&first, what).await
        }
        Err(Thrown::Unknown(word)) if matches!(word.as_str(), "" | "help" | "-h") => {
            call.out(call.manners().input_usage).await.map(|()| 0)
        }
        Err(Thrown::Unknown(word)) => {
            call.out(format!("Unknown command: {word}\n")).await.map(|()| 0)
        }
    }
}

/// What Java code throws, or what comes of a word that it does not know.
enum Thrown {
    /// An argument is missing behind this one.
    Missing(String),
    Invalid(String),
    /// `KeyCharacterMap.getEvents` has no keys for one character and so none for all, and `sendText` does not expect that.
    Null,
    Unknown(String),
}

struct Args<'a> {
    args: &'a [String],
    at: usize,
}

impl<'a> Args<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let arg = self.args.get(self.at)?;
        self.at += 1;
        Some(arg)
    }

    fn required(&mut self) -> Result<&'a str, Thrown> {
        let before =
            self.at.checked_sub(1).and_then(|at| self.args.get(at)).cloned().unwrap_or_default();
        self.next().ok_or(Thrown::Missing(before))
    }

    /// A number as `Float.parseFloat` takes it, in whole pixels.
    fn pixels(&mut self, command: &str) -> Result<i32, Thrown> {
        let arg = self.required()?.trim();
        let number: f32 =
            arg.trim_end_matches(['f', 'F', 'd', 'D']).parse().map_err(|_| invalid(command))?;
        Ok(number as i32)
    }

    fn point(&mut self, command: &str) -> Result<Point, Thrown> {
        Ok(Point { x: self.pixels(command)?, y: self.pixels(command)? })
    }
}

fn invalid(command: &str) -> Thrown {
    Thrown::Invalid(format!("Error: Invalid arguments for command: {command}"))
}

async fn perform(call: &Invocation, first: String, args: &mut Args<'_>) -> Result<Status, Thrown> {
    let mut command = first;
    let manners = call.manners();
    // The wheel of a watch came with what it is good for.
    let wheel = command == "rotaryencoder" && !manners.input_words.contains(&"scroll");
    if SOURCES.contains(&command.as_str()) && !wheel {
        command = args.required()?.to_owned();
    }
    // Displays have been told apart since 10.
    if command == "-d" && manners.shape >= Shape::Eleven {
        args.required()?;
        command = args.required()?.to_owned();
    }
    if !manners.input_words.contains(&command.as_str()) {
        return Err(Thrown::Unknown(command));
    }
    match command.as_str() {
        "text" => text(call, args.required()?).await?,
        "keyevent" => keyevent(call, args).await?,
        "tap" => tap(call, args.point(&command)?),
        "press" => tap(call, Point { x: 0, y: 0 }),
        "swipe" | "draganddrop" => {
            let (from, to) = (args.point(&command)?, args.point(&command)?);
            let duration = match args.next() {
                None => -1,
                Some(arg) => arg.parse::<i32>().map_err(|_| invalid(&command))?,
            };
            let hold = if command == "draganddrop" { LONG_PRESS_MS } else { 0 };
            swipe(call, from, to, u64::try_from(duration).unwrap_or(300), hold).await;
        }
        // A trackball that rolls moves nothing that is on the screen.
        "roll" => drop(args.point(&command)?),
        // Nor does a wheel; its arguments are read no further than to the point that some sources want.
        "scroll" => {}
        "motionevent" => {
            let word = args.required()?;
            // A touch can be taken back since it is no Java program any more.
            let java = call.manners().input == Input::Program;
            let phase = match word.to_ascii_uppercase().as_str() {
                "DOWN" => Phase::Down,
                "UP" => Phase::Up,
                "MOVE" => Phase::Move,
                "CANCEL" if !java => Phase::Cancel,
                _ if java => return Err(Thrown::Invalid(format!("Unknown motionevent {word}"))),
                _ => return Err(Thrown::Invalid(format!("Unknown action: {word}"))),
            };
            let place = if phase == Phase::Cancel && args.args.len() < args.at + 2 {
                Point { x: 0, y: 0 }
            } else {
                args.point(&command)?
            };
            touch(call, phase, place);
        }
        "keycombination" => keycombination(call, args).await?,
        _ => return Err(Thrown::Unknown(command)),
    }
    Ok(Ok(0))
}

async fn text(call: &Invocation, text: &str) -> Result<(), Thrown> {
    let typed = unescape(text);
    // The virtual keyboard's character map knows ASCII; one character beyond it and none is typed.
    if !typed.chars().all(|c| matches!(c, ' '..='~' | '\n' | '\t')) {
        return Err(Thrown::Null);
    }
    for c in typed.chars() {
        press_char(call, c);
        call.phone.spend(Work::Character).await;
    }
    Ok(())
}

/// `%s` is a space. A `%` before it stays, as the original's loop leaves it.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut percent = false;
    for c in text.chars() {
        if percent && c == 's' {
            out.pop();
            out.push(' ');
            percent = false;
            continue;
        }
        out.push(c);
        percent = c == '%';
    }
    out
}

async fn keyevent(call: &Invocation, args: &mut Args<'_>) -> Result<(), Thrown> {
    let (mut long, mut twice, mut delay) = (false, false, 0);
    let mut arg = Some(args.required()?);
    while let Some(option) = arg
        && option.starts_with("--")
    {
        match option {
            "--longpress" => long = true,
            "--doubletap" => twice = true,
            "--delay" => {
                delay = args.required()?.parse::<u64>().map_err(|_| invalid("keyevent"))?
            }
            _ => {}
        }
        arg = args.next();
    }
    let mut first = true;
    while let Some(name) = arg {
        if !std::mem::take(&mut first) {
            call.phone.take(Duration::from_millis(delay)).await;
        }
        for _ in 0..=u8::from(twice) {
            press(call, keycodes::code(name));
            if long {
                call.phone.take(Duration::from_millis(LONG_PRESS_MS)).await;
            }
        }
        arg = args.next();
    }
    Ok(())
}

async fn keycombination(call: &Invocation, args: &mut Args<'_>) -> Result<(), Thrown> {
    let mut arg = args.required()?;
    if arg == "-t" {
        let hold = args.required()?.parse::<u64>().map_err(|_| invalid("keycombination"))?;
        call.phone.take(Duration::from_millis(hold)).await;
        arg = args.required()?;
    }
    let mut codes = Vec::new();
    let mut next = Some(arg);
    while let Some(name) = next {
        match keycodes::code(name) {
            0 => return Err(Thrown::Invalid(format!("Unknown keycode: {name}"))),
            code => codes.push(code),
        }
        next = args.next();
    }
    if codes.len() < 2 {
        return Err(Thrown::Invalid("keycombination requires at least 2 keycodes".to_owned()));
    }
    codes.into_iter().for_each(|code| press(call, code));
    Ok(())
}

fn press(call: &Invocation, code: u32) {
    call.phone.with(|phone| phone.world.key(Key(code)));
}

fn press_char(call: &Invocation, c: char) {
    call.phone.with(|phone| match c {
        '\n' => phone.world.key(Key(66)),
        '\t' => phone.world.key(Key(61)),
        c => drop(phone.world.type_char(c)),
    });
}

fn touch(call: &Invocation, phase: Phase, at: Point) {
    call.phone.with(|phone| phone.world.pointer(phase, at));
}

fn tap(call: &Invocation, at: Point) {
    touch(call, Phase::Down, at);
    touch(call, Phase::Up, at);
}

async fn swipe(call: &Invocation, from: Point, to: Point, duration_ms: u64, hold_ms: u64) {
    touch(call, Phase::Down, from);
    call.phone.take(Duration::from_millis(hold_ms)).await;
    let steps = (duration_ms / STEP_MS).clamp(1, MOST_STEPS);
    let between = |a: i32, b: i32, step: u64| {
        // In 64 bits, since the ends may be anywhere in 32.
        (i64::from(a) + (i64::from(b) - i64::from(a)) * step as i64 / steps as i64) as i32
    };
    for step in 0..steps {
        touch(
            call,
            Phase::Move,
            Point { x: between(from.x, to.x, step), y: between(from.y, to.y, step) },
        );
        let (done, next) = (duration_ms * step / steps, duration_ms * (step + 1) / steps);
        call.phone.take(Duration::from_millis(next - done)).await;
    }
    touch(call, Phase::Move, to);
    touch(call, Phase::Up, to);
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn percent_s_is_a_space_and_other_percents_stay() {
        for (text, typed) in
            [("a%sb", "a b"), ("100%", "100%"), ("%%s", "% "), ("%s%s", "  "), ("s%d", "s%d")]
        {
            assert_eq!(unescape(text), typed);
        }
    }
}
