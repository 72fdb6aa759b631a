//! Installs and uninstalls apps.
//!
//! A package is the input of `cmd package install`, so that no file is needed. Source:
//! `adb_install.cpp` in AOSP, which does the same.

use std::pin::pin;

use async_trait::async_trait;
use thumbwire_adb::services::shell;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use super::files::{shorter, unreadable};
use super::{Android, CommandOutput, ShellCommand, transport_error};
use crate::app_name::check_name;
use crate::error::excerpt;
use crate::{AppId, AppManagement, Error, InstallOptions, LauncherApps, Package, SideEffect};

/// The most that an installation prints: a stack trace.
const MAX_OUTPUT: usize = 1 << 20;

/// How many bytes of a package are sent at once.
const PIECE: usize = 64 << 10;

#[async_trait]
impl AppManagement for Android {
    async fn install(
        &self,
        package: &mut (dyn AsyncRead + Send + Unpin),
        length: u64,
        options: InstallOptions,
    ) -> Result<(), Error> {
        let output = match &self.legacy {
            Some(legacy) => legacy.install(self, package, length, options).await?,
            None => self.install_stream(package, length, options).await?,
        };
        self.explained(&output, read_result(&output, "install the app")).await
    }

    async fn uninstall(&self, app: &AppId) -> Result<(), Error> {
        check_name(app)?;
        let command = ShellCommand::new("pm uninstall").for_user(self.user().await?);
        let output = self.ask(command.arg(&app.0)?).await?;
        match self.explained(&output, read_result(&output, "uninstall the app")).await {
            Err(_) if !self.is_installed(app).await? => Err(self.no_such_app(app).await),
            result => result,
        }
    }

    async fn package_info(&self, app: &AppId) -> Result<Package, Error> {
        self.read_package_info(app).await
    }

    async fn launcher_apps(&self) -> Result<LauncherApps, Error> {
        self.read_launcher_apps().await
    }

    async fn fragments(&self, app: &AppId) -> Result<Vec<String>, Error> {
        self.shown_fragments(app).await
    }

    async fn set_permission(
        &self,
        app: &AppId,
        permission: &str,
        granted: bool,
    ) -> Result<(), Error> {
        self.change_permission(app, permission, granted).await
    }
}

impl Android {
    async fn install_stream(
        &self,
        package: &mut (dyn AsyncRead + Send + Unpin),
        length: u64,
        options: InstallOptions,
    ) -> Result<CommandOutput, Error> {
        let lost = |error| transport_error(error, SideEffect::Possible);
        let line = stream_command(length, options, self.user().await?);
        let stream = shell::exec(&*self.transport, line.as_str()).await.map_err(lost)?;
        let (output, mut input) = tokio::io::split(stream);
        // The phone may refuse before it has everything, and then reads no more.
        let mut reading = pin!(shell::read_to_end(output, MAX_OUTPUT));
        let sent = tokio::select! {
            biased;
            output = &mut reading => Some(output),
            sent = send(package, length, &mut input) => {
                sent?;
                None
            }
        };
        let output = match sent {
            Some(output) => output,
            None => reading.await,
        };
        let out = String::from_utf8_lossy(&output.map_err(lost)?).into_owned();
        Ok(CommandOutput { out, err: String::new(), status: None })
    }
}

/// Sends the package. Losing the phone here is not an error: it may have answered and closed, and
/// reading shows it.
async fn send(
    package: &mut (dyn AsyncRead + Send + Unpin),
    length: u64,
    input: &mut (impl tokio::io::AsyncWrite + Unpin),
) -> Result<(), Error> {
    let mut package = package.take(length);
    let mut piece = vec![0; PIECE];
    let mut sent = 0;
    loop {
        let read = package.read(&mut piece).await.map_err(|error| unreadable(error.to_string()))?;
        if read == 0 {
            break;
        }
        if input.write_all(&piece[..read]).await.is_err() {
            return Ok(());
        }
        sent += read as u64;
    }
    let _ = input.flush().await;
    if sent < length { Err(shorter(sent, length)) } else { Ok(()) }
}

/// `-r` updates an installed app and keeps its data.
pub(super) fn with_options(line: ShellCommand, options: InstallOptions) -> ShellCommand {
    let line = line.then("-r");
    if options.allow_test_only { line.then("-t") } else { line }
}

fn stream_command(length: u64, options: InstallOptions, user: Option<u32>) -> ShellCommand {
    let line = with_options(ShellCommand::new("cmd package install").for_user(user), options);
    line.then("-S").number(i64::try_from(length).unwrap_or(i64::MAX))
}

/// Parses the output of `pm install` and `pm uninstall`: a line `Success`, or `Failure [CODE:
/// details]`. The details are missing before Android 5, and the code may be, too: Android 4.4
/// prints `Failure` for an app that it does not uninstall. The exit status says nothing on old
/// phones.
fn read_result(output: &CommandOutput, what: &'static str) -> Result<(), Error> {
    let text = format!("{}\n{}", output.out, output.err);
    if text.lines().any(|line| line.trim() == "Success") {
        return Ok(());
    }
    Err(read_code(&text).unwrap_or_else(|| Error::Failed { what, text: excerpt(&text) }))
}

/// The code and details in brackets.
fn read_code(text: &str) -> Option<Error> {
    let (_, rest) = text.split_once("Failure [")?;
    let (inside, _) = rest.rsplit_once(']')?;
    let is_code = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let (code, details) = inside.split_at(inside.find(|c| !is_code(c)).unwrap_or(inside.len()));
    // "not installed for 0" is no code.
    let details = details.strip_prefix(':').or(details.is_empty().then_some(""))?;
    if code.is_empty() {
        return None;
    }
    let details = details.trim();
    let text = if details.is_empty() { String::new() } else { excerpt(details) };
    Some(Error::PackageRefused { code: code.to_owned(), text })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(out: &str) -> Result<(), Error> {
        let output = CommandOutput { out: out.into(), err: String::new(), status: None };
        read_result(&output, "install the app")
    }

    fn check(out: &str, code: &str, text: &str) {
        match read(out) {
            Err(Error::PackageRefused { code: found, text: details }) => {
                assert_eq!((&*found, &*details), (code, text), "{out}");
            }
            other => panic!("{out}: {other:?}"),
        }
    }

    #[test]
    fn success_is_a_line_of_its_own() {
        // Android 4.4, through a terminal.
        assert!(read("\tpkg: /data/local/tmp/x.apk\r\nSuccess\r\n").is_ok());
        assert!(read("Success\n").is_ok());
        assert!(read("\tpkg: /data/local/tmp/Success.apk\nFailure [INSTALL_FAILED_X]\n").is_err());
        assert!(read("").unwrap_err().to_string().contains("(no output)"));
    }

    #[test]
    fn code_and_details_are_separated() {
        check(
            "\tpkg: /data/local/tmp/x.apk\nFailure [INSTALL_FAILED_OLDER_SDK]\n",
            "INSTALL_FAILED_OLDER_SDK",
            "",
        );
        let details =
            "Existing package com.x signatures do not match newer version; ignoring! [a] b";
        let out = format!("Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: {details}]\n");
        check(&out, "INSTALL_FAILED_UPDATE_INCOMPATIBLE", &format!("{details:?}"));
        check("Failure [DELETE_FAILED_INTERNAL_ERROR]\n\n", "DELETE_FAILED_INTERNAL_ERROR", "");
    }

    #[test]
    fn other_output_is_passed_on() {
        for out in [
            "Failure\r\n",
            "Failure [not installed for 0]\n",
            "Failure []\n",
            "Failure [: x]\n",
            "Exception occurred while executing 'install':\njava.lang.SecurityException: no\n",
        ] {
            let error = read(out).unwrap_err();
            assert!(matches!(error, Error::Failed { .. }), "{out}: {error:?}");
            assert!(error.to_string().contains(&out.trim()[..7]), "{error}");
        }
    }

    #[test]
    fn options_are_fixed() {
        let test = InstallOptions { allow_test_only: true };
        assert_eq!(
            stream_command(7, test, Some(0)).as_str(),
            "cmd package install --user 0 -r -t -S 7"
        );
    }

    proptest! {
        #[test]
        fn no_output_panics(out in "(Failure \\[|\\]|\\PC|[A-Z_:\r\n ])*") {
            let _ = read(&out);
        }
    }
}
