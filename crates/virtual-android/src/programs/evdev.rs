//! `getevent` and `sendevent`: the phone's input devices, as the kernel shows them under
//! `/dev/input`.
//!
//! `devices` lists them. What `sendevent` writes reaches every `getevent` that listens, and acts on
//! the screen like a finger or a key. Touches by `input` begin above the kernel, on a real phone
//! too, so `getevent` does not see them. Sources: toolbox's `getevent.c` with the words of a
//! running 4.4.4, toybox's `sendevent.c`, `linux/input.h`.

pub(super) mod devices;

use super::Invocation;
use crate::io::{Abort, Status};
use crate::phone::State;
use crate::release::ToolKind;
use crate::service_state::InputEvent;
use devices::{Device, code_name, devices, kind_name, value_name};
use thumbwire_virtual_phone::{KeyCode, Point, TouchPhase};

const USAGE: &str = include_str!("words/android-4.4/getevent.txt");

/// What to print about events and devices.
#[derive(Default)]
struct Options {
    times: bool,
    labels: bool,
    quiet: bool,
    possible: bool,
    info: bool,
    switches: bool,
    count: Option<u64>,
    path: Option<String>,
}

/// `getevent [-tlqpiS] [-c COUNT] [DEVICE]`
pub(super) async fn getevent(call: Invocation) -> Status {
    let options = match parse(&call) {
        Ok(options) => options,
        Err(reason) => {
            call.err(reason).await;
            return Ok(1);
        }
    };
    let start = call.phone.read(|phone| phone.services.events.end());
    let mut found = call.phone.with(|phone| devices(phone));
    if let Some(path) = &options.path {
        found.retain(|device| device.path() == *path);
        if found.is_empty() {
            let known = call.phone.with(|phone| phone.files.stat(path, true).is_ok());
            if !options.quiet {
                call.err(match known {
                    true => format!("could not get driver version for {path}, Not a typewriter\n"),
                    false => format!("could not open {path}, No such file or directory\n"),
                })
                .await;
            }
            return Ok(1);
        }
    }
    let named = options.path.is_none() || options.possible || options.info;
    for (nth, device) in found.iter().enumerate() {
        if named && !options.quiet {
            call.out(device.describe(nth + 1, options.possible, options.info, options.labels))
                .await?;
        }
        if options.switches {
            call.out("0000\n").await?;
        }
    }
    if options.possible || options.info || options.switches {
        return Ok(0);
    }
    follow(&call, &options, &found, start).await
}

fn parse(call: &Invocation) -> Result<Options, String> {
    let mut options = Options::default();
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let Some(letters) = arg.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            options.path = Some(arg.to_owned());
            continue;
        };
        let mut letters = letters.chars();
        while let Some(letter) = letters.next() {
            match letter {
                't' => options.times = true,
                'l' => options.labels = true,
                'q' => options.quiet = true,
                'p' => options.possible = true,
                'i' => options.info = true,
                'S' => options.switches = true,
                'n' | 'd' | 'r' => {}
                'v' => {}
                's' | 'c' => {
                    let rest = letters.as_str();
                    let value = if rest.is_empty() { args.next() } else { Some(rest) };
                    // C's `strtoul`: text is 0.
                    let number = value.and_then(|text| text.parse().ok()).unwrap_or(0);
                    match letter {
                        'c' => options.count = Some(number).filter(|count| *count > 0),
                        _ => options.switches = true,
                    }
                    break;
                }
                'h' => return Err(USAGE.to_owned()),
                odd => return Err(format!("{}: invalid option -{odd}\n{USAGE}", call.name)),
            }
        }
    }
    Ok(options)
}

/// Prints events from that position on, until the count is reached or the program is ended.
async fn follow(call: &Invocation, options: &Options, found: &[Device], start: u64) -> Status {
    let mut position = start;
    let mut left = options.count;
    loop {
        // Before looking, so that no event in between is missed.
        let changed = call.phone.changed();
        let (events, end) = call.phone.read(|phone| {
            let events: Vec<_> = phone.services.events.since(position).collect();
            (events, phone.services.events.end())
        });
        position = end;
        for event in events {
            let Some(device) = found.iter().find(|device| device.number == event.device) else {
                continue;
            };
            print(call, options, device, event).await?;
            left = left.map(|left| left - 1);
            if left == Some(0) {
                return Ok(0);
            }
        }
        changed.await;
    }
}

async fn print(
    call: &Invocation,
    options: &Options,
    device: &Device,
    event: InputEvent,
) -> Result<(), Abort> {
    let mut line = String::new();
    if options.times {
        let (seconds, micros) = (event.micros / 1_000_000, event.micros % 1_000_000);
        line += &format!("[{seconds:>8}.{micros:06}] ");
    }
    if options.path.is_none() {
        line += &format!("{}: ", device.path());
    }
    line += &match options.labels {
        true => format!(
            "{:<12} {:<20} {:<20}",
            kind_name(event.kind),
            code_name(event.kind, event.code),
            value_name(event),
        ),
        false => format!("{:04x} {:04x} {:08x}", event.kind, event.code, event.value),
    };
    call.out(line + "\n").await
}

/// `sendevent DEVICE TYPE CODE VALUE`
pub(super) async fn sendevent(call: Invocation) -> Status {
    let old = call.release().form == ToolKind::Java;
    let [path, kind, code, value] = call.args.as_slice() else {
        call.err(match old {
            true => format!("use: {} device type code value\n", call.name),
            false => "sendevent: Need 4 arguments\n".to_owned(),
        })
        .await;
        return Ok(1);
    };
    let found = call.phone.with(|phone| devices(phone));
    let Some(device) = found.into_iter().find(|device| device.path() == *path) else {
        let known = call.phone.with(|phone| phone.files.stat(path, true).is_ok());
        call.err(match (old, known) {
            (true, true) => format!("could not get driver version for {path}, Not a typewriter\n"),
            (true, false) => format!("could not open {path}, No such file or directory\n"),
            (false, true) => {
                format!("sendevent: EVIOCGVERSION failed for {path}: Not a typewriter\n")
            }
            (false, false) => format!("sendevent: {path}: No such file or directory\n"),
        })
        .await;
        return Ok(1);
    };
    let [kind, code, value] = [kind, code, value].map(|text| number(text));
    call.phone.with(|phone| inject(phone, &device, kind as u16, code as u16, value as i32));
    Ok(0)
}

/// C's `atoi`, for numbers beyond its range too: 4294967295 is -1.
fn number(text: &str) -> i64 {
    let digits = text.trim_start_matches('-');
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let value: i64 = digits[..end].parse().unwrap_or(0);
    if text.starts_with('-') { -value } else { value }
}

/// Hands an event to the kernel, which drops what the device cannot send, and acts on it.
fn inject(phone: &mut State, device: &Device, kind: u16, code: u16, value: i32) {
    if !device.sends(kind, code) {
        return;
    }
    let micros = u64::try_from(phone.world.uptime().as_micros()).unwrap_or(u64::MAX);
    let event = InputEvent { device: device.number, kind, code, value, micros };
    phone.services.events.push(event);
    match (kind, code) {
        (devices::SYN, _) => report_touch(phone, device),
        (devices::KEY, devices::BTN_TOUCH) => phone.services.touch.touching = value != 0,
        (devices::KEY, code) if value == 1 => {
            if let Some(key) = devices::android_key(code) {
                phone.world.key(KeyCode(key));
            }
        }
        (devices::ABS, devices::X) => phone.services.touch.x = value,
        (devices::ABS, devices::Y) => phone.services.touch.y = value,
        (devices::ABS, devices::TRACKING_ID) => phone.services.touch.touching = value >= 0,
        _ => {}
    }
}

/// At the end of a group of events: the finger goes down, moves, or comes up.
fn report_touch(phone: &mut State, device: &Device) {
    let touch = &mut phone.services.touch;
    let phase = match (touch.touching, touch.reported) {
        (true, false) => TouchPhase::Down,
        (true, true) => TouchPhase::Move,
        (false, true) => TouchPhase::Up,
        (false, false) => return,
    };
    touch.reported = touch.touching;
    let at = Point { x: touch.x, y: touch.y };
    let at = device.on_screen(phone, at);
    phone.world.pointer(phase, at);
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        for (text, value) in
            [("12", 12), ("-1", -1), ("4294967295", 4_294_967_295), ("3x", 3), ("x", 0)]
        {
            assert_eq!(number(text), value, "{text}");
        }
        assert_eq!(number("4294967295") as i32, -1);
    }
}
