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
mod archive;
mod atrace;
mod awk;
mod bmgr;
mod bytes;
mod class_path;
mod clock;
mod cmd;
mod columns;
mod content;
mod device_config;
mod deviceidle;
mod diff;
mod digest;
mod display;
mod dump;
mod dumpsys;
mod evdev;
mod file_ops;
mod find;
mod format;
mod getopt;
pub(crate) mod helper;
mod ime;
mod init;
mod input;
mod intent;
mod interfaces;
mod kernel;
mod keycodes;
mod launch;
mod locale;
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
mod requestsync;
mod run_as;
mod screen;
mod screenrecord;
mod sed;
mod service;
mod settings;
mod signals;
mod sm;
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
use crate::program::{Invocation, Program, ProgramTable};
use futures::future::{BoxFuture, FutureExt};
use options::ended;

/// Every program, sorted by name.
pub(crate) static PROGRAMS: ProgramTable = ProgramTable(&[
    Program { name: "am", work: Work::Service, run: |call| am::am(call).boxed() },
    Program {
        name: "app_process",
        work: Work::Java,
        run: |call| app_process::app_process(call).boxed(),
    },
    Program { name: "appops", work: Work::Service, run: |call| appops::appops(call).boxed() },
    Program { name: "atrace", work: Work::Native, run: |call| atrace::atrace(call).boxed() },
    Program {
        name: "awk",
        work: Work::Native,
        run: |call| ended(call, |call| awk::awk(call).boxed()),
    },
    Program { name: "base64", work: Work::Native, run: |call| text::base64(call).boxed() },
    Program {
        name: "basename",
        work: Work::Native,
        run: |call| ended(call, |call| paths::basename(call).boxed()),
    },
    Program { name: "bmgr", work: Work::Java, run: |call| bmgr::bmgr(call).boxed() },
    Program {
        name: "cal",
        work: Work::Native,
        run: |call| ended(call, |call| numbers::cal(call).boxed()),
    },
    Program { name: "cat", work: Work::Native, run: |call| text::cat(call).boxed() },
    Program { name: "chmod", work: Work::Native, run: |call| file_ops::chmod(call).boxed() },
    Program {
        name: "cksum",
        work: Work::Native,
        run: |call| ended(call, |call| digest::cksum(call).boxed()),
    },
    Program {
        name: "clear",
        work: Work::Native,
        run: |call| ended(call, |call| machine::clear(call).boxed()),
    },
    Program { name: "cmd", work: Work::Service, run: |call| cmd::cmd(call).boxed() },
    Program {
        name: "cmp",
        work: Work::Native,
        run: |call| ended(call, |call| bytes::cmp(call).boxed()),
    },
    Program {
        name: "comm",
        work: Work::Native,
        run: |call| ended(call, |call| columns::comm(call).boxed()),
    },
    Program { name: "content", work: Work::Java, run: |call| content::content(call).boxed() },
    Program { name: "cp", work: Work::Native, run: |call| file_ops::cp(call).boxed() },
    Program {
        name: "cut",
        work: Work::Native,
        run: |call| ended(call, |call| columns::cut(call).boxed()),
    },
    Program { name: "date", work: Work::Native, run: |call| clock::date(call).boxed() },
    Program { name: "dd", work: Work::Native, run: |call| file_ops::dd(call).boxed() },
    Program {
        name: "device_config",
        work: Work::Service,
        run: |call| device_config::device_config(call).boxed(),
    },
    Program { name: "df", work: Work::Native, run: |call| ls::df(call).boxed() },
    Program {
        name: "diff",
        work: Work::Native,
        run: |call| ended(call, |call| diff::diff(call).boxed()),
    },
    Program {
        name: "dirname",
        work: Work::Native,
        run: |call| ended(call, |call| paths::dirname(call).boxed()),
    },
    Program { name: "dmesg", work: Work::Native, run: |call| kernel::dmesg(call).boxed() },
    Program {
        name: "du",
        work: Work::Native,
        run: |call| ended(call, |call| paths::du(call).boxed()),
    },
    Program { name: "dumpsys", work: Work::Report, run: |call| dumpsys::dumpsys(call).boxed() },
    Program { name: "env", work: Work::Native, run: |call| system::env(call).boxed() },
    Program {
        name: "expr",
        work: Work::Native,
        run: |call| ended(call, |call| numbers::expr(call).boxed()),
    },
    Program {
        name: "find",
        work: Work::Native,
        run: |call| ended(call, |call| find::find(call).boxed()),
    },
    Program {
        name: "free",
        work: Work::Native,
        run: |call| ended(call, |call| machine::free(call).boxed()),
    },
    Program {
        name: "getenforce",
        work: Work::Native,
        run: |call| kernel::getenforce(call).boxed(),
    },
    Program { name: "getevent", work: Work::Native, run: |call| evdev::getevent(call).boxed() },
    Program { name: "getprop", work: Work::Client, run: |call| properties::getprop(call).boxed() },
    Program { name: "grep", work: Work::Native, run: |call| text::grep(call).boxed() },
    Program {
        name: "gunzip",
        work: Work::Native,
        run: |call| ended(call, |call| archive::gzip(call).boxed()),
    },
    Program {
        name: "gzip",
        work: Work::Native,
        run: |call| ended(call, |call| archive::gzip(call).boxed()),
    },
    Program {
        name: "hd",
        work: Work::Native,
        run: |call| ended(call, |call| bytes::hd(call).boxed()),
    },
    Program { name: "head", work: Work::Native, run: |call| text::head(call).boxed() },
    Program {
        name: "hostname",
        work: Work::Native,
        run: |call| ended(call, |call| machine::hostname(call).boxed()),
    },
    Program { name: "id", work: Work::Native, run: |call| system::id(call).boxed() },
    Program { name: "ifconfig", work: Work::Native, run: |call| network::ifconfig(call).boxed() },
    Program { name: "ime", work: Work::Service, run: |call| ime::ime(call).boxed() },
    Program { name: "input", work: Work::Service, run: |call| input::input(call).boxed() },
    Program {
        name: "ionice",
        work: Work::Native,
        run: |call| ended(call, |call| launch::ionice(call).boxed()),
    },
    Program { name: "ip", work: Work::Client, run: |call| network::ip(call).boxed() },
    Program { name: "kill", work: Work::Native, run: |call| signals::kill(call).boxed() },
    Program { name: "killall", work: Work::Native, run: |call| signals::killall(call).boxed() },
    Program { name: "ln", work: Work::Native, run: |call| file_ops::ln(call).boxed() },
    Program { name: "log", work: Work::Client, run: |call| logcat::log(call).boxed() },
    Program { name: "logcat", work: Work::Logs, run: |call| logcat::logcat(call).boxed() },
    Program { name: "ls", work: Work::Native, run: |call| ls::ls(call).boxed() },
    Program {
        name: "lsof",
        work: Work::Native,
        run: |call| ended(call, |call| machine::lsof(call).boxed()),
    },
    Program {
        name: "md5",
        work: Work::Native,
        run: |call| ended(call, |call| digest::md5(call).boxed()),
    },
    Program { name: "md5sum", work: Work::Native, run: |call| text::md5sum(call).boxed() },
    Program { name: "media", work: Work::Java, run: |call| media::media(call).boxed() },
    Program { name: "mkdir", work: Work::Native, run: |call| file_ops::mkdir(call).boxed() },
    Program {
        name: "mktemp",
        work: Work::Native,
        run: |call| ended(call, |call| paths::mktemp(call).boxed()),
    },
    Program { name: "monkey", work: Work::Java, run: |call| monkey::monkey(call).boxed() },
    Program {
        name: "mount",
        work: Work::Native,
        run: |call| ended(call, |call| machine::mount(call).boxed()),
    },
    Program { name: "mv", work: Work::Native, run: |call| file_ops::mv(call).boxed() },
    Program { name: "netcfg", work: Work::Native, run: |call| interfaces::netcfg(call).boxed() },
    Program { name: "netstat", work: Work::Native, run: |call| interfaces::netstat(call).boxed() },
    Program {
        name: "nice",
        work: Work::Native,
        run: |call| ended(call, |call| launch::nice(call).boxed()),
    },
    Program {
        name: "nl",
        work: Work::Native,
        run: |call| ended(call, |call| columns::nl(call).boxed()),
    },
    Program {
        name: "nohup",
        work: Work::Native,
        run: |call| ended(call, |call| launch::nohup(call).boxed()),
    },
    Program {
        name: "nproc",
        work: Work::Native,
        run: |call| ended(call, |call| machine::nproc(call).boxed()),
    },
    Program {
        name: "od",
        work: Work::Native,
        run: |call| ended(call, |call| bytes::od(call).boxed()),
    },
    Program {
        name: "paste",
        work: Work::Native,
        run: |call| ended(call, |call| columns::paste(call).boxed()),
    },
    Program { name: "pgrep", work: Work::Client, run: |call| signals::pgrep(call).boxed() },
    Program { name: "pidof", work: Work::Native, run: |call| ps::pidof(call).boxed() },
    Program { name: "ping", work: Work::Native, run: |call| ping::ping(call).boxed() },
    Program { name: "pkill", work: Work::Client, run: |call| signals::pgrep(call).boxed() },
    Program { name: "pm", work: Work::Service, run: |call| pm::pm(call).boxed() },
    Program { name: "printenv", work: Work::Native, run: |call| system::env(call).boxed() },
    Program { name: "ps", work: Work::Client, run: |call| ps::ps(call).boxed() },
    Program { name: "readlink", work: Work::Native, run: |call| ls::readlink(call).boxed() },
    Program {
        name: "realpath",
        work: Work::Native,
        run: |call| ended(call, |call| paths::realpath(call).boxed()),
    },
    Program { name: "reboot", work: Work::Client, run: |call| system::reboot(call).boxed() },
    Program {
        name: "renice",
        work: Work::Native,
        run: |call| ended(call, |call| launch::renice(call).boxed()),
    },
    Program {
        name: "requestsync",
        work: Work::Java,
        run: |call| requestsync::requestsync(call).boxed(),
    },
    Program {
        name: "rev",
        work: Work::Native,
        run: |call| ended(call, |call| columns::rev(call).boxed()),
    },
    Program { name: "rm", work: Work::Native, run: |call| file_ops::rm(call).boxed() },
    Program { name: "rmdir", work: Work::Native, run: |call| file_ops::rmdir(call).boxed() },
    Program { name: "run-as", work: Work::Native, run: |call| run_as::run_as(call).boxed() },
    Program { name: "screencap", work: Work::Native, run: |call| screen::screencap(call).boxed() },
    Program {
        name: "screenrecord",
        work: Work::Recorder,
        run: |call| screenrecord::screenrecord(call).boxed(),
    },
    Program {
        name: "sed",
        work: Work::Native,
        run: |call| ended(call, |call| sed::sed(call).boxed()),
    },
    Program { name: "sendevent", work: Work::Native, run: |call| evdev::sendevent(call).boxed() },
    Program {
        name: "seq",
        work: Work::Native,
        run: |call| ended(call, |call| numbers::seq(call).boxed()),
    },
    Program { name: "service", work: Work::Client, run: |call| service::service(call).boxed() },
    Program { name: "setprop", work: Work::Client, run: |call| properties::setprop(call).boxed() },
    Program {
        name: "setsid",
        work: Work::Native,
        run: |call| ended(call, |call| launch::setsid(call).boxed()),
    },
    Program { name: "settings", work: Work::Service, run: |call| settings::settings(call).boxed() },
    Program { name: "sh", work: Work::Client, run: |call| sh(call).boxed() },
    Program {
        name: "sha1sum",
        work: Work::Native,
        run: |call| ended(call, |call| digest::shasum(call).boxed()),
    },
    Program {
        name: "sha224sum",
        work: Work::Native,
        run: |call| ended(call, |call| digest::shasum(call).boxed()),
    },
    Program {
        name: "sha256sum",
        work: Work::Native,
        run: |call| ended(call, |call| digest::shasum(call).boxed()),
    },
    Program {
        name: "sha384sum",
        work: Work::Native,
        run: |call| ended(call, |call| digest::shasum(call).boxed()),
    },
    Program {
        name: "sha512sum",
        work: Work::Native,
        run: |call| ended(call, |call| digest::shasum(call).boxed()),
    },
    Program { name: "sm", work: Work::Java, run: |call| sm::sm(call).boxed() },
    Program {
        name: "sort",
        work: Work::Native,
        run: |call| ended(call, |call| sort::sort(call).boxed()),
    },
    Program {
        name: "split",
        work: Work::Native,
        run: |call| ended(call, |call| columns::split_file(call).boxed()),
    },
    Program { name: "start", work: Work::Native, run: |call| init::start_stop(call).boxed() },
    Program { name: "stat", work: Work::Native, run: |call| ls::stat(call).boxed() },
    Program { name: "stop", work: Work::Native, run: |call| init::start_stop(call).boxed() },
    Program {
        name: "strings",
        work: Work::Native,
        run: |call| ended(call, |call| bytes::strings(call).boxed()),
    },
    Program { name: "svc", work: Work::Service, run: |call| svc::svc(call).boxed() },
    Program {
        name: "sync",
        work: Work::Native,
        run: |call| ended(call, |call| machine::sync(call).boxed()),
    },
    Program {
        name: "tac",
        work: Work::Native,
        run: |call| ended(call, |call| columns::tac(call).boxed()),
    },
    Program { name: "tail", work: Work::Native, run: |call| text::tail(call).boxed() },
    Program {
        name: "tar",
        work: Work::Native,
        run: |call| ended(call, |call| archive::tar(call).boxed()),
    },
    Program {
        name: "tee",
        work: Work::Native,
        run: |call| ended(call, |call| columns::tee(call).boxed()),
    },
    Program {
        name: "time",
        work: Work::Native,
        run: |call| ended(call, |call| launch::time(call).boxed()),
    },
    Program {
        name: "timeout",
        work: Work::Native,
        run: |call| ended(call, |call| launch::timeout(call).boxed()),
    },
    Program {
        name: "toolbox",
        work: Work::Native,
        run: |call| ended(call, |call| launch::toolbox(call).boxed()),
    },
    Program { name: "top", work: Work::Client, run: |call| top::top(call).boxed() },
    Program { name: "touch", work: Work::Native, run: |call| file_ops::touch(call).boxed() },
    Program {
        name: "toybox",
        work: Work::Native,
        run: |call| ended(call, |call| launch::toybox(call).boxed()),
    },
    Program {
        name: "tr",
        work: Work::Native,
        run: |call| ended(call, |call| tr::tr(call).boxed()),
    },
    Program {
        name: "truncate",
        work: Work::Native,
        run: |call| ended(call, |call| bytes::truncate(call).boxed()),
    },
    Program {
        name: "tty",
        work: Work::Native,
        run: |call| ended(call, |call| machine::tty(call).boxed()),
    },
    Program { name: "uiautomator", work: Work::Dump, run: |call| dump::uiautomator(call).boxed() },
    Program {
        name: "umount",
        work: Work::Native,
        run: |call| ended(call, |call| machine::umount(call).boxed()),
    },
    Program { name: "uname", work: Work::Native, run: |call| system::uname(call).boxed() },
    Program {
        name: "uniq",
        work: Work::Native,
        run: |call| ended(call, |call| columns::uniq(call).boxed()),
    },
    Program {
        name: "unlink",
        work: Work::Native,
        run: |call| ended(call, |call| paths::unlink(call).boxed()),
    },
    Program { name: "uptime", work: Work::Native, run: |call| clock::uptime(call).boxed() },
    Program { name: "vmstat", work: Work::Native, run: |call| kernel::vmstat(call).boxed() },
    Program { name: "wc", work: Work::Native, run: |call| text::wc(call).boxed() },
    Program { name: "which", work: Work::Native, run: |call| system::which(call).boxed() },
    Program { name: "whoami", work: Work::Native, run: |call| system::whoami(call).boxed() },
    Program { name: "wm", work: Work::Service, run: |call| screen::wm(call).boxed() },
    Program {
        name: "xargs",
        work: Work::Native,
        run: |call| ended(call, |call| launch::xargs(call).boxed()),
    },
    Program {
        name: "xxd",
        work: Work::Native,
        run: |call| ended(call, |call| bytes::xxd(call).boxed()),
    },
    Program {
        name: "yes",
        work: Work::Native,
        run: |call| ended(call, |call| columns::yes(call).boxed()),
    },
    Program {
        name: "zcat",
        work: Work::Native,
        run: |call| ended(call, |call| archive::gzip(call).boxed()),
    },
]);

/// The program that implements a service's commands, for `cmd`.
pub(crate) fn commands_of(service: &str) -> Option<fn(Invocation) -> BoxFuture<'static, Status>> {
    Some(match service {
        "activity" => |call| am::am(call).boxed(),
        "appops" => |call| appops::appops(call).boxed(),
        "app_function" => |call| app_function::app_function(call).boxed(),
        "bluetooth_manager" => |call| cmd::bluetooth(call).boxed(),
        "device_config" => |call| device_config::device_config(call).boxed(),
        "deviceidle" => |call| deviceidle::deviceidle(call).boxed(),
        "display" => |call| display::display(call).boxed(),
        "input" => |call| input::input(call).boxed(),
        "input_method" => |call| ime::input_method(call).boxed(),
        "locale" => |call| locale::locale(call).boxed(),
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

/// `sh -c TEXT [NAME ARG…]`, `sh FILE [ARG…]`, or `sh` reading its standard input.
pub(crate) async fn sh(mut call: Invocation) -> Status {
    let mut shell = crate::sh::Shell::nested(&call);
    // `-ec TEXT` is `-e -c TEXT`; `-i` and `-l` have no effect.
    while let Some(letters) = call.arg(0).and_then(|arg| arg.strip_prefix('-'))
        && !letters.is_empty()
        && letters.chars().all(|c| "acefilnuvx".contains(c))
        && letters != "c"
    {
        for letter in letters.chars().filter(|letter| !"cil".contains(*letter)) {
            shell.set_option_letter(letter, true);
        }
        if letters.contains('c') {
            call.args[0] = "-c".to_owned();
        } else {
            call.args.remove(0);
        }
    }
    let text = match call.arg(0) {
        None | Some("-" | "-s") => return Ok(Box::pin(shell.interact(&call.io, None)).await),
        Some("-c") => {
            let Some(text) = call.arg(1) else {
                call.err("/system/bin/sh: -c: requires an argument\n").await;
                return Ok(2);
            };
            shell.positional = call.args.get(3..).unwrap_or_default().to_vec();
            if let Some(name) = call.arg(2) {
                name.clone_into(&mut shell.name);
            }
            text.to_owned()
        }
        Some(path) => {
            let absolute = call.path(path);
            path.clone_into(&mut shell.name);
            shell.positional = call.args.get(1..).unwrap_or_default().to_vec();
            match call.phone.with(|phone| phone.files.read(&absolute)) {
                Ok(contents) => String::from_utf8_lossy(contents.as_ref()).into_owned(),
                Err(reason) => {
                    call.err(format!("/system/bin/sh: {path}: {reason}\n")).await;
                    return Ok(127);
                }
            }
        }
    };
    Ok(Box::pin(shell.run(&text, &call.io)).await)
}

#[cfg(test)]
mod tests {
    use super::PROGRAMS;

    #[test]
    fn the_table_is_sorted_by_name() {
        assert!(PROGRAMS.0.is_sorted_by(|a, b| a.name < b.name));
    }
}
