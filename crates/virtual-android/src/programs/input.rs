//! `input`: touches, keys and text. Android 12 and later run it inside the input service (`cmd
//! input`), which is modelled here; source of arguments, texts and statuses:
//! `InputShellCommand.java` of Android 12 to 16.
//!
//! Earlier it was a Java program that parses its arguments the same way and reports errors
//! differently: [`program`]; and in 4.4 yet another one: [`old`].
//!
//! Time passes as on a phone (a swipe takes its 300 ms), but virtually.

mod old;
mod program;
mod typing;

use super::{Invocation, keycodes};
use std::time::Duration;
use thumbwire_virtual_android_system::release::InputKind;
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;
use thumbwire_virtual_phone::{KeyCode, Point, TouchPhase};
use thumbwire_virtual_shell::io::Status;

/// The long-press time of Android's `ViewConfiguration`, in milliseconds, plus a little.
const LONG_PRESS_MS: u64 = 500;

/// Interval of a swipe's touch events in milliseconds, similar to a touch panel's.
const STEP_MS: u64 = 10;

/// Maximum steps of a swipe; a longer one has longer steps.
const MAX_STEPS: u64 = 200;

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
    match call.release().input {
        InputKind::Counting => return old::input(&call).await,
        InputKind::Program => return program::input(&call).await,
        InputKind::Service => {}
    }
    let mut args = Args { args: &call.args, at: 0 };
    let first = args.next().unwrap_or_default().to_owned();
    match perform(&call, first.clone(), &mut args).await {
        Ok(status) => status,
        Err(InputError::Missing(after)) => {
            call.exception(
                &first,
                &format!("java.lang.IllegalArgumentException: Argument expected after \"{after}\""),
            )
            .await
        }
        Err(InputError::Invalid(what)) => {
            call.exception(&first, &format!("java.lang.IllegalArgumentException: {what}")).await
        }
        Err(InputError::Null) => {
            let what = "java.lang.NullPointerException: Attempt to get length of null array\n\
                        \tat com.android.server.input.InputShellCommand.sendText(InputShellCommand.java:296)";
            call.exception(&first, what).await
        }
        Err(InputError::Unknown(word)) if matches!(word.as_str(), "" | "help" | "-h") => {
            call.out(call.release().input_usage).await.map(|()| 0)
        }
        Err(InputError::Unknown(word)) => {
            call.out(format!("Unknown command: {word}\n")).await.map(|()| 0)
        }
    }
}

/// A Java exception, or the error for an unknown word.
enum InputError {
    /// An argument is missing after this one.
    Missing(String),
    Invalid(String),
    /// If `KeyCharacterMap.getEvents` has no keys for one character, it returns none for all, and
    /// `sendText` does not expect that.
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

    fn required(&mut self) -> Result<&'a str, InputError> {
        let before =
            self.at.checked_sub(1).and_then(|at| self.args.get(at)).cloned().unwrap_or_default();
        self.next().ok_or(InputError::Missing(before))
    }

    /// A number as `Float.parseFloat` parses it, in whole pixels.
    fn pixels(&mut self, command: &str) -> Result<i32, InputError> {
        let arg = self.required()?.trim();
        let number: f32 =
            arg.trim_end_matches(['f', 'F', 'd', 'D']).parse().map_err(|_| invalid(command))?;
        Ok(number as i32)
    }

    fn point(&mut self, command: &str) -> Result<Point, InputError> {
        Ok(Point { x: self.pixels(command)?, y: self.pixels(command)? })
    }
}

fn invalid(command: &str) -> InputError {
    InputError::Invalid(format!("Error: Invalid arguments for command: {command}"))
}

async fn perform(
    call: &Invocation,
    first: String,
    args: &mut Args<'_>,
) -> Result<Status, InputError> {
    let mut command = first;
    let release = call.release();
    // The `rotaryencoder` source and the `scroll` command came together.
    let wheel = command == "rotaryencoder" && !release.input_words.contains(&"scroll");
    if SOURCES.contains(&command.as_str()) && !wheel {
        command = args.required()?.to_owned();
    }
    // Displays can be selected since 10.
    if command == "-d" && release.shape >= DumpsysFormat::Eleven {
        args.required()?;
        command = args.required()?.to_owned();
    }
    if !release.input_words.contains(&command.as_str()) {
        return Err(InputError::Unknown(command));
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
        // A rolling trackball moves nothing on the screen.
        "roll" => drop(args.point(&command)?),
        // Nor does a wheel; its arguments are parsed only up to the point that some sources
        // require.
        "scroll" => {}
        "motionevent" => {
            let word = args.required()?;
            // Touches can be cancelled since it is no longer a Java program.
            let java = call.release().input == InputKind::Program;
            let phase = match word.to_ascii_uppercase().as_str() {
                "DOWN" => TouchPhase::Down,
                "UP" => TouchPhase::Up,
                "MOVE" => TouchPhase::Move,
                "CANCEL" if !java => TouchPhase::Cancel,
                _ if java => {
                    return Err(InputError::Invalid(format!("Unknown motionevent {word}")));
                }
                _ => return Err(InputError::Invalid(format!("Unknown action: {word}"))),
            };
            let place = if phase == TouchPhase::Cancel && args.args.len() < args.at + 2 {
                Point { x: 0, y: 0 }
            } else {
                args.point(&command)?
            };
            touch(call, phase, place);
        }
        "keycombination" => keycombination(call, args).await?,
        _ => return Err(InputError::Unknown(command)),
    }
    Ok(Ok(0))
}

async fn text(call: &Invocation, text: &str) -> Result<(), InputError> {
    let typed = unescape(text);
    // The virtual keyboard's character map is ASCII; a single character outside it, and nothing is
    // typed.
    if !typed.chars().all(|c| matches!(c, ' '..='~' | '\n' | '\t')) {
        return Err(InputError::Null);
    }
    typing::type_text(call, &typed).await;
    Ok(())
}

/// `%s` is a space. A `%` before it stays, as in the original's loop.
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

async fn keyevent(call: &Invocation, args: &mut Args<'_>) -> Result<(), InputError> {
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
            call.phone.sleep(Duration::from_millis(delay)).await;
        }
        let code = keycodes::code(name);
        // Since 12 a long press lasts as long as a finger's, which is what the power key's menu
        // waits for.
        if long && code == KeyCode::POWER.0 && call.release().input == InputKind::Service {
            call.phone.sleep(Duration::from_millis(LONG_PRESS_MS)).await;
            call.phone.with(|phone| phone.world.open_power_menu());
            arg = args.next();
            continue;
        }
        for _ in 0..=u8::from(twice) {
            typing::press_and_wait(call, code).await;
            if long {
                call.phone.sleep(Duration::from_millis(LONG_PRESS_MS)).await;
            }
        }
        arg = args.next();
    }
    Ok(())
}

async fn keycombination(call: &Invocation, args: &mut Args<'_>) -> Result<(), InputError> {
    let mut arg = args.required()?;
    if arg == "-t" {
        let hold = args.required()?.parse::<u64>().map_err(|_| invalid("keycombination"))?;
        call.phone.sleep(Duration::from_millis(hold)).await;
        arg = args.required()?;
    }
    let mut codes = Vec::new();
    let mut next = Some(arg);
    while let Some(name) = next {
        match keycodes::code(name) {
            0 => return Err(InputError::Invalid(format!("Unknown keycode: {name}"))),
            code => codes.push(code),
        }
        next = args.next();
    }
    if codes.len() < 2 {
        return Err(InputError::Invalid("keycombination requires at least 2 keycodes".to_owned()));
    }
    codes.into_iter().for_each(|code| press(call, code));
    Ok(())
}

fn press(call: &Invocation, code: u32) {
    call.phone.with(|phone| phone.world.key(KeyCode(code)));
}

fn press_char(call: &Invocation, c: char) {
    call.phone.with(|phone| match c {
        '\n' => phone.world.key(KeyCode(66)),
        '\t' => phone.world.key(KeyCode(61)),
        c => drop(phone.world.type_char(c)),
    });
}

fn touch(call: &Invocation, phase: TouchPhase, at: Point) {
    call.phone.with(|phone| phone.world.pointer(phase, at));
}

fn tap(call: &Invocation, at: Point) {
    touch(call, TouchPhase::Down, at);
    touch(call, TouchPhase::Up, at);
}

async fn swipe(call: &Invocation, from: Point, to: Point, duration_ms: u64, hold_ms: u64) {
    touch(call, TouchPhase::Down, from);
    call.phone.sleep(Duration::from_millis(hold_ms)).await;
    let steps = (duration_ms / STEP_MS).clamp(1, MAX_STEPS);
    let between = |a: i32, b: i32, step: u64| {
        // In 64 bits, since both ends may be any 32-bit number.
        (i64::from(a) + (i64::from(b) - i64::from(a)) * step as i64 / steps as i64) as i32
    };
    for step in 0..steps {
        touch(
            call,
            TouchPhase::Move,
            Point { x: between(from.x, to.x, step), y: between(from.y, to.y, step) },
        );
        let (done, next) = (duration_ms * step / steps, duration_ms * (step + 1) / steps);
        call.phone.sleep(Duration::from_millis(next - done)).await;
    }
    touch(call, TouchPhase::Move, to);
    touch(call, TouchPhase::Up, to);
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
