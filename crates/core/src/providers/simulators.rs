//! Xcode's simulators of iPhones and iPads, on macOS, by `xcrun simctl`.
//!
//! A simulator's WebDriverAgent has a port of this computer, which the operator names (`--wda`):
//! simulators are only listed here, with that step. [`read_booted`] is the parser; what runs the
//! program is all that needs a Mac.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use thumbwire_base::visible::visible;
use thumbwire_device::Platform;
use thumbwire_device::iphone::Missing;
use tokio::process::Command;
use tokio::time::timeout;

use super::{DeviceProvider, OpenResult};
use crate::action::{Cause, DeviceKind, Failure, ListedDevice};

/// How long the program may take. The first call after Xcode was updated takes longer, and then
/// lists nothing.
const LISTING: Duration = Duration::from_secs(3);

/// The simulators that run on this computer; only macOS has any.
pub struct SimulatorProvider {
    program: Option<&'static str>,
}

impl Default for SimulatorProvider {
    fn default() -> Self {
        Self { program: cfg!(target_os = "macos").then_some("xcrun") }
    }
}

#[async_trait]
impl DeviceProvider for SimulatorProvider {
    fn name(&self) -> &'static str {
        "simctl"
    }

    async fn list(&self) -> Result<Vec<ListedDevice>, Failure> {
        let Some(program) = self.program else { return Ok(Vec::new()) };
        let mut command = Command::new(program);
        command.args(["simctl", "list", "devices", "--json"]).kill_on_drop(true);
        match timeout(LISTING, command.output()).await {
            Ok(Ok(output)) if output.status.success() => Ok(read_booted(&output.stdout)),
            Ok(Ok(output)) => {
                // simctl comes with Xcode.
                let errors = String::from_utf8_lossy(&output.stderr);
                tracing::debug!("simctl: {}", visible(errors.trim()));
                Ok(Vec::new())
            }
            Ok(Err(error)) => {
                tracing::debug!("{program}: {error}");
                Ok(Vec::new())
            }
            Err(_) => {
                tracing::warn!("no simulators: simctl did not answer within {LISTING:?}");
                Ok(Vec::new())
            }
        }
    }

    /// Opens none, and says why if the id is that of a simulator.
    async fn open(&self, id: &str) -> Result<OpenResult, Failure> {
        // Other phones' ids are not UUIDs, and cost no program.
        if self.program.is_none() || !is_uuid(id) {
            return Ok(OpenResult::NotMine(None));
        }
        let listed = self.list().await?;
        match listed.into_iter().find(|phone| phone.id == id) {
            Some(phone) => {
                Err(Cause::DeviceNotReady { device: phone.id, state: phone.state }.into())
            }
            None => Ok(OpenResult::NotMine(None)),
        }
    }
}

fn is_uuid(id: &str) -> bool {
    let is_digit = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    id.len() == 36 && id.bytes().enumerate().all(is_digit)
}

/// Reads `simctl list --json`: the simulators of iPhones and iPads that run.
fn read_booted(output: &[u8]) -> Vec<ListedDevice> {
    let list: Value = serde_json::from_slice(output).unwrap_or_default();
    let runtimes = list["devices"].as_object();
    let of_ios = runtimes
        .into_iter()
        .flatten()
        .filter_map(|(runtime, devices)| Some((ios_version(runtime)?, devices.as_array()?)));
    let mut booted = Vec::new();
    for (version, devices) in of_ios {
        for device in devices.iter().filter(|device| device["state"] == "Booted") {
            let Some(udid) = device["udid"].as_str().filter(|udid| is_uuid(udid)) else { continue };
            let name = device["name"].as_str().unwrap_or("simulator");
            booted.push(ListedDevice {
                id: udid.to_owned(),
                platform: Platform::Ios,
                model: visible(&format!("{name} (simulator, iOS {version})")).into_owned(),
                state: Missing::SimulatorUrl.state().into(),
                kind: DeviceKind::Emulator,
                properties: Vec::new(),
            });
        }
    }
    booted
}

/// The release of a runtime, if it is one of iOS: `com.apple.CoreSimulator.SimRuntime.iOS-17-4`, or
/// `iOS 12.1` before Xcode 10.2.
fn ios_version(runtime: &str) -> Option<String> {
    let name = runtime.rsplit('.').find(|part| part.starts_with("iOS"));
    let name = if runtime.starts_with("iOS ") { Some(runtime) } else { name };
    let version = name?.strip_prefix("iOS")?.strip_prefix(['-', ' '])?;
    Some(version.replace('-', "."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thumbwire_test_support::capture;

    const UDID: &str = "E17597CE-71EE-4402-8B1C-1B526446A3A2";

    fn list(runtime: &str, state: &str) -> String {
        format!(
            r#"{{"devices":{{"{runtime}":[{{"state":"{state}","isAvailable":true,"name":"iPhone 5s","udid":"{UDID}"}}]}}}}"#
        )
    }

    #[test]
    fn only_booted_iphones_and_ipads_are_read() {
        let check = |runtime: &str, state: &str, expected: Option<&str>| {
            let read = read_booted(list(runtime, state).as_bytes());
            let models: Vec<&str> = read.iter().map(|phone| &*phone.model).collect();
            assert_eq!(models, Vec::from_iter(expected), "{runtime} {state}");
        };
        let current = "com.apple.CoreSimulator.SimRuntime.iOS-17-4";
        check(current, "Booted", Some("iPhone 5s (simulator, iOS 17.4)"));
        check("iOS 12.1", "Booted", Some("iPhone 5s (simulator, iOS 12.1)"));
        check(current, "Shutdown", None);
        check(current, "Shutting Down", None);
        check("com.apple.CoreSimulator.SimRuntime.tvOS-12-1", "Booted", None);
        check("com.apple.CoreSimulator.SimRuntime.watchOS-5-1", "Booted", None);
        for invalid in ["", "[]", "{}", r#"{"devices":[]}"#, r#"{"devices":{"iOS 1":[1]}}"#] {
            assert_eq!(read_booted(invalid.as_bytes()), [], "{invalid}");
        }
        let phone = &read_booted(list(current, "Booted").as_bytes())[0];
        assert!(phone.next_step().unwrap().contains("--wda"));
    }

    /// No simulator runs in the captures, so each is booted here: all of them are read, those of
    /// other platforms are not.
    #[test]
    fn captured_lists_are_read() {
        for (file, expected) in [
            ("devices.json", 7),
            ("devices-with-unavailable.json", 14),
            ("list-full_detox.json", 112),
        ] {
            let text = String::from_utf8(capture(&format!("ios/simctl/{file}")).unwrap()).unwrap();
            assert_eq!(read_booted(text.as_bytes()), [], "{file}");
            let booted = text.replace("\"Shutdown\"", "\"Booted\"");
            let read = read_booted(booted.as_bytes());
            assert_eq!(read.len(), expected, "{file}");
            assert!(read.iter().all(|phone| phone.model.starts_with("iP")), "{read:?}");
        }
    }

    #[tokio::test]
    async fn computer_without_simctl_has_no_simulators() {
        let provider = SimulatorProvider { program: Some("/nonexistent/xcrun") };
        assert_eq!(provider.list().await.unwrap(), []);
        assert!(matches!(provider.open(UDID).await, Ok(OpenResult::NotMine(None))));
        // Whatever it prints: `true` prints nothing, `false` fails.
        for program in ["true", "false"] {
            let provider = SimulatorProvider { program: Some(program) };
            assert_eq!(provider.list().await.unwrap(), []);
        }
    }
}
