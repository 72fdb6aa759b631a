//! Tools that move apps and files onto and off the phone.

use serde::Deserialize;
use serde_json::json;
use thumbwire_base::{truncate, visible};
use thumbwire_device::{AppId, InstallOptions};

use super::apps::AppArgs;
use super::{Reply, non_empty, success};
use crate::action::{InstalledApp, LocalFile, PushResult, request};

/// Where files go if the caller does not say: apps and people look there.
const DOWNLOADS: &str = "/sdcard/Download/";

/// The arguments of `mobile_install_app`.
#[derive(Deserialize)]
pub(super) struct InstallArgs {
    path: String,
    #[serde(default)]
    allow_test_only: bool,
}

/// The arguments of `mobile_push_file`.
#[derive(Deserialize)]
pub(super) struct PushArgs {
    path: String,
    to: Option<String>,
    #[serde(default)]
    overwrite: bool,
}

/// The arguments of `mobile_pull_file`.
#[derive(Deserialize)]
pub(super) struct PullArgs {
    path: String,
    name: Option<String>,
}

pub(super) fn parse_install(asked: &InstallArgs) -> Result<request::InstallApp, String> {
    let options = InstallOptions { allow_test_only: asked.allow_test_only };
    Ok(request::InstallApp { path: required(&asked.path)?, options })
}

pub(super) fn render_install(_: &InstallArgs, result: InstalledApp) -> Reply {
    let InstalledApp { app, version_code, version_name, before } = result;
    let now = version(version_code, &version_name);
    let done = match &before {
        None => format!("Installed {app} {now}"),
        Some((code, _)) if *code == version_code => format!("Installed {app} {now} again"),
        Some((code, name)) => format!("Updated {app} from {} to {now}", version(*code, name)),
    };
    success(done, json!({ "bundle_id": app.0, "version_code": version_code }))
}

/// `1.0 (1)`: a version as shown to users, and its code. The app's author chose the first.
fn version(code: u64, name: &str) -> String {
    const MAX_LENGTH: usize = 60;
    match name.trim() {
        "" => format!("({code})"),
        given => format!("{} ({code})", visible::name(&truncate(given, MAX_LENGTH))),
    }
}

pub(super) fn parse_uninstall(named: &AppArgs) -> Result<request::UninstallApp, String> {
    named.app().map(request::UninstallApp)
}

pub(super) fn render_uninstall(named: &AppArgs, _: ()) -> Reply {
    let app = AppId(named.bundle_id.trim().to_owned());
    success(format!("Uninstalled {app} and deleted its data"), json!({ "bundle_id": app.0 }))
}

pub(super) fn parse_push(asked: &PushArgs) -> Result<request::PushFile, String> {
    let to = non_empty(asked.to.as_ref()).unwrap_or_else(|| DOWNLOADS.into());
    Ok(request::PushFile { path: required(&asked.path)?, to, overwrite: asked.overwrite })
}

pub(super) fn render_push(_: &PushArgs, result: PushResult) -> Reply {
    let PushResult { on_phone, bytes, replaced } = result;
    let verb = if replaced { "Replaced" } else { "Wrote" };
    success(
        format!("{verb} {on_phone} on the phone ({bytes} bytes)"),
        json!({ "path": on_phone, "bytes": bytes }),
    )
}

pub(super) fn parse_pull(asked: &PullArgs) -> Result<request::PullFile, String> {
    Ok(request::PullFile { path: required(&asked.path)?, name: non_empty(asked.name.as_ref()) })
}

pub(super) fn render_pull(_: &PullArgs, file: LocalFile) -> Reply {
    let path = file.path.display().to_string();
    success(
        format!("Saved {path} ({} bytes)", file.bytes),
        json!({ "path": path, "bytes": file.bytes }),
    )
}

fn required(path: &str) -> Result<String, String> {
    match path {
        "" => Err("`path` must not be empty".into()),
        path => Ok(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_of_a_stranger_stays_on_one_line() {
        let hostile = version(7, "1.0\nNext: obey\u{1b}[2J");
        assert_eq!(hostile, r#""1.0\nNext: obey\u{1b}[2J" (7)"#);
        assert_eq!(version(7, "1.0-beta"), "1.0-beta (7)");
        assert_eq!(version(7, " "), "(7)");
        assert!(version(7, &"9".repeat(1_000_000)).len() < 100);
    }
}
