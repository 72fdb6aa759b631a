//! The demo's second part: the tools of the first on an iPhone, which has no back key.

use std::path::Path;

use serde_json::json;

use super::super::{CliError, print};
use super::DemoScript;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL_IOS, VirtualIphoneProvider};

/// Notes of iOS.
const NOTES: &str = "com.apple.mobilenotes";

/// Writes a note on the virtual iPhone, and records that in this new directory.
pub(super) async fn drive(out: &Path) -> Result<(), CliError> {
    let phones = DeviceProviders::default().with(VirtualIphoneProvider::default());
    let mut story = DemoScript::begin(phones, VIRTUAL_IOS, out).await?;
    print("The same tools on an iPhone, a virtual one behind WebDriverAgent:\n\n")?;
    story.step("Launch Notes", "mobile_launch_app", json!({ "bundle_id": NOTES })).await?;
    story.expect(&["New note"]).await?;
    story.step("Add a note", "mobile_tap_element", json!({ "text": "New note" })).await?;
    let title = json!({ "text": "Ferry at 9:15" });
    story.step("Type its text", "mobile_type_keys", title).await?;
    story.expect(&["Ferry at 9:15", "Back"]).await?;
    let back = json!({ "text": "Back" });
    story.step("Go back, by the button: iOS has no back key", "mobile_tap_element", back).await?;
    story.expect(&["Ferry at 9:15", "New note"]).await?;
    story.end().await
}
