//! `pm install` and `pm uninstall`. Source: `PackageManagerShellCommand.java` of Android 14. The
//! sessions are in `sessions`.
//!
//! The checks of an APK, and every `Failure […]`, are in
//! `thumbwire_virtual_android_system::packages`.

use super::super::Invocation;
use crate::latency;
use crate::phone::VirtualPhone;
use thumbwire_virtual_android_system::packages::{Apk, InstallError, InstallOptions};
use thumbwire_virtual_android_system::release::sdk;
use thumbwire_virtual_shell::io::{Abort, Status};

/// `pm install [OPTION…] [-S BYTES] [PATH…|-]`, also `install-streaming` and `install-incremental`.
pub(super) async fn install(call: &Invocation, command: &str) -> Status {
    let (chosen, rest) = match options(call.args.get(1..).unwrap_or_default()) {
        Ok(read) => read,
        Err(what) => return call.exception(command, &what).await,
    };
    let from_stdin = rest.first().is_none_or(|path| path == "-");
    if from_stdin && chosen.size.is_none() {
        let reason = "Error: must either specify a package size or an APK file\n";
        return call.out(reason).await.map(|()| 1);
    }
    if from_stdin && rest.len() > 1 {
        return call.out("Error: can't specify SPLIT(s) along with STDIN\n").await.map(|()| 1);
    }
    if !from_stdin {
        for path in &rest {
            if let Err(said) = check_path(call, path) {
                call.err(said.lines).await;
                return call.exception(command, &said.exception).await;
            }
        }
    }
    let size = chosen.size;
    let wanted = match from_stdin {
        true => size.unwrap_or(0),
        false => rest.iter().map(|path| length(call, path)).sum(),
    };
    let Some(session) = SessionGuard::new(&call.phone, chosen) else {
        return call.exception(command, TOO_MANY).await;
    };
    let (used, capacity) = call.phone.files(|files| files.usage());
    if wanted > capacity.saturating_sub(used) {
        // The host keeps sending; read it all, so that the host gets to read the answer.
        if from_stdin {
            take(call, wanted, |_| true).await;
        }
        return failed(
            call,
            &InstallError {
                code: "INSTALL_FAILED_INSUFFICIENT_STORAGE",
                reason: "Failed to override installation location".to_owned(),
            },
        )
        .await;
    }
    let files = if from_stdin { vec!["-".to_owned()] } else { rest };
    for (nth, path) in files.iter().enumerate() {
        // With several paths each is a split, named after its file.
        let name = match nth {
            0 => "base.apk".to_owned(),
            _ => format!("{nth}-{}", path.rsplit('/').next().unwrap_or_default()),
        };
        if !write(call, session.id, &name, path, size).await? {
            return Ok(1);
        }
    }
    call.phone.run_work(latency::INSTALL).await;
    match call.phone.with(|phone| phone.installer().commit(session.id)) {
        Ok(()) => call.out("Success\n").await.map(|()| 0),
        Err(refusal) => failed(call, &refusal).await,
    }
}

/// `pm install-existing [--user USER] PACKAGE`
pub(super) async fn existing(call: &Invocation) -> Status {
    let Some(package) = operand(call) else {
        return call.out("Error: package name not specified\n").await.map(|()| 1);
    };
    match call.phone.with(|phone| phone.world.packages().iter().any(|it| it.package == package)) {
        true => call.out(format!("Package {package} installed for user: 0\n")).await.map(|()| 0),
        false => {
            let what = "android.content.pm.PackageManager$NameNotFoundException";
            call.out(format!("{what}: Package {package} doesn't exist\n")).await.map(|()| 1)
        }
    }
}

/// `pm uninstall [-k] [--user USER] [--versionCode N] PACKAGE`
pub(super) async fn uninstall(call: &Invocation) -> Status {
    let Some(package) = operand(call) else {
        return call.out("Error: package name not specified\n").await.map(|()| 1);
    };
    let keep = call.args.iter().any(|arg| arg == "-k");
    let user = call.args.iter().skip_while(|arg| *arg != "--user").nth(1).map(String::as_str);
    let one_user = user.is_some_and(|user| user != "all");
    let gone = call.phone.with(|phone| {
        let known = phone.world.packages().iter().any(|it| it.package == package);
        (known || !one_user).then(|| phone.installer().uninstall(package, keep))
    });
    call.phone.run_work(latency::INSTALL).await;
    match gone {
        Some(true) => call.out("Success\n").await.map(|()| 0),
        Some(false) => call.out("Failure [DELETE_FAILED_INTERNAL_ERROR]\n").await.map(|()| 1),
        None => {
            let user = user.filter(|user| user.parse::<u32>().is_ok()).unwrap_or("0");
            call.out(format!("Failure [not installed for {user}]\n")).await.map(|()| 1)
        }
    }
}

pub(super) const TOO_MANY: &str =
    "java.lang.IllegalStateException: Too many active sessions for UID 2000";

/// Parses the install options (`makeInstallParams`), and returns the remaining arguments. The error
/// is what Java throws.
pub(super) fn options(args: &[String]) -> Result<(InstallOptions, Vec<String>), String> {
    let mut chosen = InstallOptions { replace: true, ..InstallOptions::default() };
    let mut args = args.iter();
    while let Some(option) =
        args.as_slice().first().filter(|arg| arg.starts_with('-') && *arg != "-")
    {
        args.next();
        let mut value = || {
            args.next().cloned().ok_or_else(|| {
                format!("java.lang.IllegalArgumentException: Argument expected after \"{option}\"")
            })
        };
        match option.as_str() {
            "-R" => chosen.replace = false,
            "-t" => chosen.test = true,
            "-d" => chosen.downgrade = true,
            "-g" => chosen.grant = true,
            "-i" => chosen.installer = Some(value()?),
            "-p" => chosen.inherit = Some(value()?),
            "-S" => chosen.size = Some(number(Some(&value()?))?),
            "--user"
            | "--abi"
            | "--pkg"
            | "--install-location"
            | "--install-reason"
            | "--originating-uri"
            | "--referrer"
            | "--force-uuid"
            | "--package-source"
            | "--staged-ready-timeout"
            | "--rollback-impact-level" => drop(value()?),
            "-r"
            | "-f"
            | "-s"
            | "-l"
            | "-w"
            | "--dont-kill"
            | "--full"
            | "--preload"
            | "--force-sdk"
            | "--enable-rollback"
            | "--staged"
            | "--force-queryable"
            | "--skip-verification"
            | "--skip-enable"
            | "--bypass-low-target-sdk-block"
            | "--restrict-permissions"
            | "--update-ownership"
            | "--instant"
            | "--instantapp"
            | "--ephemeral"
            | "--non-staged"
            | "--no-wait" => {}
            other => {
                return Err(format!("java.lang.IllegalArgumentException: Unknown option {other}"));
            }
        }
    }
    Ok((chosen, args.cloned().collect()))
}

pub(super) fn number(text: Option<&str>) -> Result<u64, String> {
    let parsed = text.map(str::parse::<u64>);
    match (parsed, text) {
        (Some(Ok(number)), _) => Ok(number),
        (_, Some(text)) => {
            Err(format!("java.lang.NumberFormatException: For input string: \"{text}\""))
        }
        _ => Err("java.lang.NumberFormatException: Cannot parse null string: null".to_owned()),
    }
}

/// The last argument that does not belong to an option.
fn operand(call: &Invocation) -> Option<&str> {
    let mut args = call.args.iter().skip(1);
    let mut found = None;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--user" | "--versionCode" => drop(args.next()),
            option if option.starts_with('-') => {}
            name => {
                found.get_or_insert(name);
            }
        }
    }
    found
}

pub(super) async fn failed(call: &Invocation, refusal: &InstallError) -> Status {
    call.out(format!("Failure [{refusal}]\n")).await.map(|()| 1)
}

/// A session that is discarded with the command that opened it.
pub(super) struct SessionGuard {
    phone: VirtualPhone,
    pub(super) id: u32,
}

impl SessionGuard {
    pub(super) fn new(phone: &VirtualPhone, chosen: InstallOptions) -> Option<Self> {
        let id = phone.with(|phone| phone.installer().open_session(chosen))?;
        Some(Self { phone: phone.clone(), id })
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        self.phone.with(|phone| phone.installer().abandon(self.id));
    }
}

/// Copies a file, or this many bytes of standard input, into a session. Prints the error and
/// returns `false` on failure.
pub(super) async fn write(
    call: &Invocation,
    id: u32,
    name: &str,
    path: &str,
    size: Option<u64>,
) -> Result<bool, Abort> {
    let begun = call.phone.with(|phone| phone.installer().stage(id, name));
    let file = match begun {
        Ok(file) => file,
        Err(why) => {
            call.err(format!("Error: failed to write; {why}\n")).await;
            return Ok(false);
        }
    };
    let append = |bytes: &[u8]| call.phone.files(|files| files.append(file, bytes)).is_ok();
    let whole = match path {
        "-" => take(call, size.unwrap_or(0), append).await,
        path => opened(call, path).is_some_and(|bytes| append(&bytes)),
    };
    if !whole {
        call.err("Error: failed to write; write failed: ENOSPC (No space left on device)\n").await;
    }
    Ok(whole)
}

/// Passes this many bytes of standard input on, or all of it, until `hand` refuses a piece; then
/// returns `false`.
async fn take(call: &Invocation, size: u64, mut hand: impl FnMut(&[u8]) -> bool) -> bool {
    let (mut left, mut good) = (size, true);
    while left > 0 {
        let bytes = call.io.stdin.at_most(left).await;
        if bytes.is_empty() {
            break;
        }
        left -= bytes.len() as u64;
        good = good && hand(&bytes);
    }
    good
}

/// A message for stderr, and an exception.
struct InstallOutput {
    lines: String,
    exception: String,
}

/// `setParamsSize`: the file is opened and parsed before there is a session.
fn check_path(call: &Invocation, path: &str) -> Result<(), InstallOutput> {
    let Some(bytes) = opened(call, path) else {
        let cannot = format!("Error: Can't open file: {path}");
        return Err(InstallOutput {
            lines: format!("{}{cannot}\n", unable(path)),
            exception: format!("java.lang.IllegalArgumentException: {cannot}"),
        });
    };
    let reason = call.phone.read(|phone| phone.check_header(&bytes)).err();
    let Some(why) = reason else { return Ok(()) };
    let cannot = format!("Error: Failed to parse APK file: {path}");
    let exception = format!("java.lang.IllegalArgumentException: {cannot}");
    Err(match why.is_empty() {
        true => InstallOutput { lines: format!("{cannot}\n"), exception },
        false => InstallOutput {
            lines: String::new(),
            exception: format!("{exception}: {}", why.replace("PATH", path)),
        },
    })
}

/// `ShellCommand.openFileForSystem`
pub(super) fn unable(path: &str) -> String {
    format!("Error: Unable to open file: {path}\nConsider using a file under /data/local/tmp/\n")
}

/// A file's bytes, if the installer, which runs in the system server, may read it: nothing in
/// shared storage (`avc: denied { read } … tcontext=u:object_r:fuse:s0`).
pub(super) fn opened(call: &Invocation, path: &str) -> Option<Vec<u8>> {
    let path = call.path(path);
    let shared = ["/sdcard/", "/storage/"].iter().any(|place| path.starts_with(place));
    let read = call.phone.files(|files| files.read(&path)).ok();
    read.filter(|_| !shared).map(|contents| contents.as_ref().to_vec())
}

pub(super) fn length(call: &Invocation, path: &str) -> u64 {
    let path = call.path(path);
    call.phone.files(|files| files.stat(&path, true)).map_or(0, |stat| stat.size)
}

impl crate::phone::State {
    /// The parser's error about a file to be installed, with `PATH` for its path; empty if this
    /// release prints no details.
    fn check_header(&self, bytes: &[u8]) -> Result<(), String> {
        let rules = self.release().packages;
        let level = sdk(self.world.android());
        let reason = match Apk::read(bytes, rules.schemes) {
            Err(fault) => rules.short(&fault.reason),
            Ok(apk) if rules.plain_sdk_words && apk.declared.min_sdk > level => format!(
                "Requires newer sdk version #{} (current version is #{level})",
                apk.declared.min_sdk
            ),
            Ok(_) => return Ok(()),
        };
        Err(if rules.causes { reason } else { String::new() })
    }
}
