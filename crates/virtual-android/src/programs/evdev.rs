//! `getevent` and `sendevent`: the phone's input devices, as the kernel shows them under
//! `/dev/input`.
//!
//! `devices` lists them. Nothing writes to them: touches by `input` begin above the kernel, on a
//! real phone too, and the shell may not open them for writing here. Sources: toolbox's
//! `getevent.c` with the words of a running 4.4.4, toybox's `sendevent.c`, `linux/input.h`.

pub(super) mod devices;

use super::Invocation;
use devices::devices;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_shell::io::Status;

const USAGE: &str = include_str!("words/android-4.4/getevent.txt");

/// What to print about devices.
#[derive(Default)]
struct Options {
    labels: bool,
    quiet: bool,
    possible: bool,
    info: bool,
    switches: bool,
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
    let mut found = call.phone.with(|phone| devices(phone));
    if let Some(path) = &options.path {
        found.retain(|device| device.path() == *path);
        if found.is_empty() {
            let known = call.phone.with(|phone| phone.kernel.files.stat(path, true).is_ok());
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
    // No event ever comes.
    std::future::pending().await
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
                'l' => options.labels = true,
                'q' => options.quiet = true,
                'p' => options.possible = true,
                'i' => options.info = true,
                'S' => options.switches = true,
                'n' | 'd' | 'r' | 't' | 'v' => {}
                's' | 'c' => {
                    let rest = letters.as_str();
                    let value = if rest.is_empty() { args.next() } else { Some(rest) };
                    if letter == 's' && value.is_some() {
                        options.switches = true;
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

/// `sendevent DEVICE TYPE CODE VALUE`
pub(super) async fn sendevent(call: Invocation) -> Status {
    let old = call.release().form == ToolKind::Java;
    let [path, _, _, _] = call.args.as_slice() else {
        call.err(match old {
            true => format!("use: {} device type code value\n", call.name),
            false => "sendevent: Need 4 arguments\n".to_owned(),
        })
        .await;
        return Ok(1);
    };
    let device = call.phone.with(|phone| devices(phone)).iter().any(|it| it.path() == *path);
    let known = call.phone.with(|phone| phone.kernel.files.stat(path, true).is_ok());
    let (old_text, text) = match (device, known) {
        (true, _) => ("open", "Permission denied"),
        (_, true) => ("get driver version for", "Not a typewriter"),
        _ => ("open", "No such file or directory"),
    };
    call.err(match (old, !device && known) {
        (true, _) => format!("could not {old_text} {path}, {text}\n"),
        (false, true) => format!("sendevent: EVIOCGVERSION failed for {path}: {text}\n"),
        (false, false) => format!("sendevent: {path}: {text}\n"),
    })
    .await;
    Ok(1)
}
