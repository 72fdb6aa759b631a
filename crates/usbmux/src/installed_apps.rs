//! The installed apps of an iPhone on USB or Wi-Fi, from iOS's own service for it
//! (`instproxy_browse` of libimobiledevice's `installation_proxy.c`). WebDriverAgent knows only the
//! active ones.

use std::time::Duration;

use plist::{Dictionary, Value};
use tokio::time::timeout;

use super::client::{UsbmuxClient, text};
use super::lockdown::{Lockdown, LockdownError};

const SERVICE: &str = "com.apple.mobile.installation_proxy";

/// How long the whole list may take. A phone with 300 apps sends it within a second.
const LISTING: Duration = Duration::from_secs(10);

/// How many apps a list may have.
const MAX_APPS: usize = 10_000;

/// An installed app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledApp {
    /// Such as `com.apple.Preferences`.
    pub bundle_id: String,
    /// Whether it belongs to iOS.
    pub is_system: bool,
}

/// The apps of the phone with this UDID that its home screen can show, by their bundle ids. The
/// phone must be paired with this computer.
///
/// # Errors
/// As [`Lockdown::start_session`]; or the phone does not send the list in time, or something else.
pub async fn installed_apps(
    client: &UsbmuxClient,
    udid: &str,
) -> Result<Vec<InstalledApp>, LockdownError> {
    let listing = async {
        let mut lockdown = Lockdown::connect(client, udid).await?;
        lockdown.start_session().await?;
        let mut service = lockdown.start_service(SERVICE).await?;
        service.send(browse_command()).await?;
        let mut apps = Vec::new();
        loop {
            // The list comes in parts, and ends with a message without one.
            let answer = service.receive(LISTING).await?;
            if let Some(word) = text(&answer, "Error") {
                return Err(LockdownError::Refused(word.chars().take(100).collect()));
            }
            apps.extend(read_apps(&answer));
            if text(&answer, "Status") == Some("Complete") {
                apps.sort_by(|one: &InstalledApp, other| one.bundle_id.cmp(&other.bundle_id));
                return Ok(apps);
            }
            if apps.len() > MAX_APPS {
                return Err(LockdownError::Protocol(format!("more than {MAX_APPS} apps")));
            }
        }
    };
    timeout(LISTING, listing).await.unwrap_or(Err(LockdownError::TimedOut(LISTING)))
}

fn browse_command() -> Dictionary {
    let attributes = ["ApplicationType", "CFBundleIdentifier", "SBAppTags"];
    let attributes = attributes.map(|name| Value::String(name.into())).into();
    let mut options = Dictionary::new();
    options.insert("ReturnAttributes".into(), Value::Array(attributes));
    let mut command = Dictionary::new();
    command.insert("ClientOptions".into(), Value::Dictionary(options));
    command.insert("Command".into(), Value::String("Browse".into()));
    command
}

/// The apps of one part of the list.
fn read_apps(answer: &Dictionary) -> Vec<InstalledApp> {
    let list = answer.get("CurrentList").and_then(Value::as_array).map(Vec::as_slice);
    let entries = list.unwrap_or_default().iter().filter_map(Value::as_dictionary);
    entries
        .filter(|entry| !is_hidden(entry))
        .filter_map(|entry| {
            let bundle_id = text(entry, "CFBundleIdentifier").filter(|id| !id.is_empty())?;
            let is_system = text(entry, "ApplicationType") != Some("User");
            Some(InstalledApp { bundle_id: bundle_id.to_owned(), is_system })
        })
        .collect()
}

/// Parts of iOS that are installed as apps and have no icon.
fn is_hidden(entry: &Dictionary) -> bool {
    let tags = entry.get("SBAppTags").and_then(Value::as_array);
    tags.is_some_and(|tags| tags.iter().any(|tag| tag.as_string() == Some("hidden")))
}
