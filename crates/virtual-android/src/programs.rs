//! The programs of `/system/bin`: one file per subject, one line in [`PROGRAMS`] each.
//!
//! A program is a function from an [`Invocation`] (arguments, descriptors, the phone) to an exit
//! status. It takes the phone's lock only for single steps, so a long one (`cat` of a pipe) blocks
//! nobody, and it may be dropped at any `await` when its client disconnects.
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
mod clock;
mod cmd;
mod columns;
mod content;
mod deviceidle;
mod digest;
mod dump;
mod dumpsys;
mod evdev;
mod file_ops;
mod find;
mod format;
mod getopt;
mod grep;
pub(crate) mod helper;
mod ime;
mod init;
mod input;
mod intent;
mod interfaces;
mod kernel;
mod keycodes;
mod launch;
mod location;
mod logcat;
mod ls;
mod machine;
mod media;
mod monkey;
mod network;
mod notification;
mod numbers;
mod options;
mod paths;
mod ping;
mod platform;
pub(crate) mod pm;
mod properties;
mod ps;
mod regex;
mod run_as;
mod screen;
mod screenrecord;
mod sed;
mod service;
mod settings;
mod signals;
mod sort;
mod svc;
mod system;
mod text;
mod top;
mod tr;
mod uiautomator2;

use crate::fingerprint::fingerprint;
use crate::io::Status;
use crate::latency::Work;
use crate::program::CalledBy::{Client, Everyday, Product, Recording};
use crate::program::{Invocation, Program, ProgramTable};
use futures::future::{BoxFuture, FutureExt};
use options::ended;

/// One row per program: name, minimum time, caller, how it parses (`options`: by
/// [`options::Options`], with toybox's endings), function, and that of toolbox's variant.
macro_rules! programs {
    ($($name:literal $work:ident $by:ident $(($client:literal))?
        $parses:ident $run:path $(, toolbox $old:path)?;)*) => {
        &[$(Program {
            name: $name,
            work: Work::$work,
            called_by: $by $(($client))?,
            run: programs!(@run $parses $run $(, $old)?),
        }),*]
    };
    (@run own $run:path) => { |call| $run(call).boxed() };
    (@run options $run:path, $old:path) => {
        |call| match call.release().toybox {
            true => ended(call, |call| $run(call).boxed()),
            false => $old(call).boxed(),
        }
    };
    (@run options $run:path) => { |call| ended(call, |call| $run(call).boxed()) };
}

/// Every program, sorted by name.
#[rustfmt::skip]
pub(crate) static PROGRAMS: ProgramTable = ProgramTable(programs! {
    "am" Service Product own am::am;
    "app_process" Java Product own app_process::app_process;
    "appops" Service Product own appops::appops;
    "base64" Native Product options text::base64;
    "basename" Native Everyday options paths::basename;
    "cat" Native Product options text::cat, toolbox text::old::cat;
    "chmod" Native Product options file_ops::chmod, toolbox file_ops::old::chmod;
    "clear" Native Everyday options machine::clear;
    "cmd" Service Product own cmd::cmd;
    "content" Java Product own content::content;
    "cp" Native Recording options file_ops::cp, toolbox file_ops::old::cp;
    "cut" Native Everyday options columns::cut;
    "date" Native Recording options clock::date, toolbox clock::old::date;
    "dd" Native Everyday own file_ops::dd;
    "df" Native Recording options ls::df, toolbox ls::old::df;
    "dirname" Native Everyday options paths::dirname;
    "dmesg" Native Recording own kernel::dmesg;
    "du" Native Everyday options paths::du;
    "dumpsys" Report Product own dumpsys::dumpsys;
    "env" Native Recording options system::env;
    "find" Native Everyday options find::find;
    "free" Native Recording options machine::free;
    "getevent" Native Recording own evdev::getevent;
    "getprop" Client Product own properties::getprop;
    "grep" Native Recording options grep::grep;
    "head" Native Recording options text::head;
    "id" Native Recording options system::id, toolbox system::old_id;
    "ifconfig" Native Recording own network::ifconfig;
    "ime" Service Recording own ime::ime;
    "input" Service Product own input::input;
    "ip" Client Client("adbutils") own network::ip;
    "kill" Native Product own signals::kill;
    "killall" Native Everyday options signals::killall;
    "ln" Native Everyday options file_ops::ln, toolbox file_ops::old::ln;
    "log" Client Recording own logcat::log;
    "logcat" Logs Product own logcat::logcat;
    "ls" Native Recording options ls::ls, toolbox ls::old::ls;
    "lsof" Native Recording options machine::lsof;
    "md5" Native Client("uiautomator2") options digest::md5;
    "md5sum" Native Client("uiautomator2") options digest::shasum;
    "media" Java Recording own media::media;
    "mkdir" Native Product options file_ops::mkdir, toolbox file_ops::old::mkdir;
    "mktemp" Native Everyday options paths::mktemp;
    "monkey" Java Recording own monkey::monkey;
    "mount" Native Everyday options machine::mount;
    "mv" Native Everyday options file_ops::mv, toolbox file_ops::old::mv;
    "netcfg" Native Recording own interfaces::netcfg;
    "netstat" Native Recording own interfaces::netstat;
    "nohup" Native Everyday options launch::nohup;
    "nproc" Native Everyday options machine::nproc;
    "paste" Native Everyday options columns::paste;
    "pgrep" Client Everyday options signals::pgrep;
    "pidof" Native Everyday options ps::pidof;
    "ping" Native Everyday own ping::ping;
    "pkill" Client Everyday options signals::pgrep;
    "pm" Service Product own pm::pm;
    "printenv" Native Everyday options system::printenv;
    "ps" Client Product options ps::ps, toolbox ps::old::ps;
    "readlink" Native Everyday options ls::readlink;
    "realpath" Native Everyday options paths::realpath;
    "reboot" Client Product own system::reboot;
    "rm" Native Product options file_ops::rm, toolbox file_ops::old::rm;
    "rmdir" Native Everyday options file_ops::rmdir, toolbox file_ops::old::rmdir;
    "run-as" Native Client("Appium") own run_as::run_as;
    "screencap" Native Product own screen::screencap;
    "screenrecord" Recorder Product own screenrecord::screenrecord;
    "sed" Native Recording options sed::sed;
    "sendevent" Native Recording own evdev::sendevent;
    "seq" Native Everyday options numbers::seq;
    "service" Client Recording own service::service;
    "setprop" Client Recording own properties::setprop;
    "setsid" Native Everyday options launch::setsid;
    "settings" Service Product own settings::settings;
    "sh" Client Everyday own launch::sh;
    "sha1sum" Native Everyday options digest::shasum;
    "sha256sum" Native Everyday options digest::shasum;
    "sha512sum" Native Everyday options digest::shasum;
    "sort" Native Everyday options sort::sort;
    "start" Native Recording own init::start_stop;
    "stat" Native Everyday options ls::stat;
    "stop" Native Client("Appium") own init::start_stop;
    "svc" Service Recording own svc::svc;
    "sync" Native Everyday options machine::sync;
    "tail" Native Everyday options text::tail;
    "tee" Native Everyday options columns::tee;
    "time" Native Everyday options launch::time;
    "timeout" Native Everyday options launch::timeout;
    "toolbox" Native Recording options launch::toolbox;
    "top" Client Recording own top::top;
    "touch" Native Product options file_ops::touch, toolbox file_ops::old::touch;
    "toybox" Native Client("uiautomator2") options launch::toybox;
    "tr" Native Everyday options tr::tr;
    "uiautomator" Dump Product own dump::uiautomator;
    "uname" Native Everyday options system::uname;
    "uniq" Native Everyday options columns::uniq;
    "uptime" Native Recording options clock::uptime, toolbox clock::old::uptime;
    "vmstat" Native Recording own kernel::vmstat;
    "wc" Native Everyday options text::wc;
    "which" Native Product options system::which;
    "whoami" Native Recording options system::whoami;
    "wm" Service Product own screen::wm;
    "xargs" Native Everyday options launch::xargs;
    "yes" Native Everyday options columns::yes;
});

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
    use super::PROGRAMS;
    use crate::program::{CalledBy, Program};
    use std::path::{Path, PathBuf};
    use thumbwire_test_support::capture;

    #[test]
    fn the_table_is_sorted_by_name() {
        assert!(PROGRAMS.0.is_sorted_by(|a, b| a.name < b.name));
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

    #[test]
    fn every_program_has_its_caller() {
        let product = text_of(&["../device/src", "../core/src", "../adb/src", "../thumbwire/src"]);
        let tests = text_of(&["tests/it", "../thumbwire/tests/it"]);
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
                CalledBy::Product => calls(&product, name),
                CalledBy::Client(client) => tests.contains(client) && calls(&tests, name),
                CalledBy::Recording => recorded.as_ref().is_none_or(|text| calls(text, name)),
                CalledBy::Everyday => calls(&tests, name),
            }
        };
        let rows = PROGRAMS.0.iter().filter(|program| !called(program));
        let uncalled: Vec<_> = rows.map(|program| (program.name, program.called_by)).collect();
        assert!(uncalled.is_empty(), "{uncalled:?}");
    }
}
