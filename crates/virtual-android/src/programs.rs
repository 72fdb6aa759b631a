//! The programs of `/system/bin` that are Android's: one file per subject, one line in the table
//! each. Those of POSIX are in `thumbwire-virtual-shell`.
//!
//! A program is a function from an [`Invocation`] (arguments, descriptors, the phone) to an exit
//! status. It takes the phone's lock only for single steps, so a long one blocks nobody, and it may
//! be dropped at any `await` when its client disconnects.
//!
//! Texts, usage and errors follow captures of real phones and the public sources of Android 14. If
//! a program differs much in an old release, that variant is in a file `old` with texts in
//! `words/`, and the program asks the release which one applies. Service commands go through
//! [`commands_of`], so that `cmd package …` and `pm …` are one program.

mod am;
mod app_function;
mod app_process;
mod appium_settings;
mod appops;
mod class_path;
mod cmd;
mod content;
mod deviceidle;
mod dump;
mod dumpsys;
mod evdev;
pub(crate) mod helper;
mod ime;
mod init;
mod input;
mod intent;
mod interfaces;
mod keycodes;
mod location;
mod logcat;
mod media;
mod monkey;
mod network;
mod notification;
mod ping;
mod platform;
pub(crate) mod pm;
mod properties;
mod run_as;
pub(crate) mod scrcpy;
mod screen;
mod screenrecord;
mod service;
mod settings;
mod svc;
mod uiautomator2;

use crate::latency;
use crate::program::Invocation;
use futures::future::{BoxFuture, FutureExt};
use thumbwire_virtual_android_system::fingerprint;
use thumbwire_virtual_android_system::release::Release;
use thumbwire_virtual_phone::time::Work;
use thumbwire_virtual_shell::io::Status;
use thumbwire_virtual_shell::program::CalledBy::{Client, Everyday, Product, Recording};
use thumbwire_virtual_shell::program::{self as shell, Program, ProgramTable};
use thumbwire_virtual_shell::programs::PROGRAMS as POSIX;

/// One row per program: name, minimum time, caller, function.
macro_rules! programs {
    ($($name:literal $work:ident $by:ident $(($client:literal))? $run:path;)*) => {
        /// The phone's own programs, sorted by name.
        static OWN: &[Program] = &[$(Program {
            name: $name,
            called_by: $by $(($client))?,
            run: |call| on_phone(call, |call| $run(call).boxed()),
        }),*];

        /// Their minimum times: to start and to run them; longer steps add to it.
        static WORK: &[(&str, Work)] = &[$(($name, latency::$work)),*];
    };
}

programs! {
    "am" SERVICE Product am::am;
    "app_process" JAVA Product app_process::app_process;
    "appops" SERVICE Product appops::appops;
    "cmd" SERVICE Product cmd::cmd;
    "content" JAVA Recording content::content;
    "dumpsys" REPORT Product dumpsys::dumpsys;
    "getevent" NATIVE Recording evdev::getevent;
    "getprop" CLIENT Product properties::getprop;
    "ifconfig" NATIVE Recording network::ifconfig;
    "ime" SERVICE Recording ime::ime;
    "input" SERVICE Product input::input;
    "ip" CLIENT Client("adbutils") network::ip;
    "log" CLIENT Recording logcat::log;
    "logcat" LOGS Product logcat::logcat;
    "media" JAVA Recording media::media;
    "monkey" JAVA Recording monkey::monkey;
    "netcfg" NATIVE Recording interfaces::netcfg;
    "netstat" NATIVE Recording interfaces::netstat;
    "ping" NATIVE Everyday ping::ping;
    "pm" SERVICE Product pm::pm;
    "reboot" CLIENT Product init::reboot;
    "run-as" NATIVE Client("Appium") run_as::run_as;
    "screencap" NATIVE Product screen::screencap;
    "screenrecord" RECORDER Product screenrecord::screenrecord;
    "sendevent" NATIVE Recording evdev::sendevent;
    "service" CLIENT Recording service::service;
    "setprop" CLIENT Recording properties::setprop;
    "settings" SERVICE Product settings::settings;
    "start" NATIVE Recording init::start_stop;
    "stop" NATIVE Client("Appium") init::start_stop;
    "svc" SERVICE Recording svc::svc;
    "uiautomator" JAVA Product dump::uiautomator;
    "wm" SERVICE Product screen::wm;
}

/// Every program.
pub(crate) static PROGRAMS: ProgramTable = ProgramTable(&[OWN, POSIX]);

/// Those of POSIX that read all of `/proc`, or the shell's start-up files.
const CLIENTS: [&str; 5] = ["pgrep", "pkill", "ps", "sh", "top"];

/// The minimum time of a program on a phone of that release.
pub(crate) fn work_of(name: &str, release: &Release) -> Work {
    if release.java_programs.contains(&name) {
        return latency::JAVA;
    }
    match WORK.iter().find(|(known, _)| *known == name) {
        Some((_, work)) => *work,
        None if CLIENTS.contains(&name) => latency::CLIENT,
        None => latency::NATIVE,
    }
}

/// Runs a program of the phone's own; on another system there is none.
fn on_phone(
    call: shell::Invocation,
    run: fn(Invocation) -> BoxFuture<'static, Status>,
) -> BoxFuture<'static, Status> {
    match Invocation::of(call) {
        Some(call) => run(call),
        None => std::future::ready(Ok(127)).boxed(),
    }
}

/// The program that implements a service's commands, for `cmd`.
pub(crate) fn commands_of(service: &str) -> Option<fn(Invocation) -> BoxFuture<'static, Status>> {
    Some(match service {
        "activity" => |call| am::am(call).boxed(),
        "appops" => |call| appops::appops(call).boxed(),
        "app_function" => |call| app_function::app_function(call).boxed(),
        "bluetooth_manager" => |call| cmd::bluetooth(call).boxed(),
        "deviceidle" => |call| deviceidle::deviceidle(call).boxed(),
        "input" => |call| input::input(call).boxed(),
        "input_method" => |call| ime::input_method(call).boxed(),
        "location" => |call| location::location(call).boxed(),
        "media_session" => |call| media::media(call).boxed(),
        "notification" => |call| notification::notification(call).boxed(),
        "package" => |call| pm::pm(call).boxed(),
        "phone" => |call| network::phone(call).boxed(),
        "settings" => |call| settings::settings(call).boxed(),
        "statusbar" => |call| notification::statusbar(call).boxed(),
        "uimode" => |call| cmd::uimode(call).boxed(),
        "wifi" => |call| network::wifi(call).boxed(),
        "window" => |call| screen::wm(call).boxed(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{OWN, PROGRAMS};
    use std::path::{Path, PathBuf};
    use thumbwire_test_support::capture;
    use thumbwire_virtual_shell::program::{CalledBy, Program};

    #[test]
    fn the_table_is_sorted_by_name() {
        assert!(OWN.is_sorted_by(|a, b| a.name < b.name));
    }

    /// The text of all files below these folders, from this crate's.
    fn text_of(folders: &[&str]) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut open: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
        let mut text = String::new();
        while let Some(path) = open.pop() {
            match std::fs::read_dir(&path) {
                Ok(entries) => open.extend(entries.flatten().map(|entry| entry.path())),
                Err(_) => text += &std::fs::read_to_string(&path).unwrap_or_default(),
            }
        }
        text
    }

    /// Whether code has a string that runs the program: the name begins the string, or follows what
    /// separates commands.
    fn runs(code: &str, name: &str) -> bool {
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let mut lines = lines.map(|line| line.match_indices(name).map(move |(at, _)| (line, at)));
        lines.any(|mut all| {
            all.any(|(line, at)| {
                let (before, after) = (line[..at].trim_end_matches(' '), &line[at + name.len()..]);
                let is_alone = before.ends_with("ShellCommand::new(\"") && after.starts_with('"');
                let begins =
                    before.ends_with(['"', ';', '|', '&', ')']) || before.ends_with("exec");
                is_alone || begins && after.starts_with(' ')
            })
        })
    }

    #[test]
    fn every_program_has_its_caller() {
        let product = text_of(&["../device/src", "../core/src", "../adb/src", "../thumbwire/src"]);
        let tests = text_of(&["tests/it", "../virtual-shell/tests/it", "../thumbwire/tests/it"]);
        let recorded = ["android-4.4.4/index.tsv", "android-4.4.4/more-commands.json"].map(capture);
        let recorded: Option<Vec<Vec<u8>>> = recorded.into_iter().collect();
        let recorded = recorded.map(|files| String::from_utf8_lossy(&files.concat()).into_owned());
        let calls = |text: &str, name: &str| {
            text.match_indices(name).any(|(at, name)| {
                let around = |c: Option<char>| {
                    c.is_none_or(|c| c.is_whitespace() || "\"'`;|&($/){},\\".contains(c))
                };
                around(text[..at].chars().next_back())
                    && around(text[at + name.len()..].chars().next())
            })
        };
        let called = |program: &Program| {
            let name = program.name;
            match program.called_by {
                CalledBy::Product => runs(&product, name),
                CalledBy::Client(client) => tests.contains(client) && calls(&tests, name),
                CalledBy::Recording => recorded.as_ref().is_none_or(|text| calls(text, name)),
                CalledBy::Everyday => calls(&tests, name),
            }
        };
        let rows = PROGRAMS.all().filter(|program| !called(program));
        let uncalled: Vec<_> = rows.map(|program| (program.name, program.called_by)).collect();
        assert!(uncalled.is_empty(), "{uncalled:?}");
    }
}
