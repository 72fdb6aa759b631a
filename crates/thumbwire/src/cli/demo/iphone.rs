//! The demo's second part: the tools of the first on an iPhone, which has no back key.

use std::path::Path;

use serde_json::json;

use super::super::CliError;
use super::super::style::Style;
use super::{DemoScript, Stage};
use thumbwire_core::providers::{DeviceProviders, VIRTUAL_IOS, VirtualIphoneProvider};
use thumbwire_core::trace::report::SuiteRun;

/// Notes of iOS.
const NOTES: &str = "com.apple.mobilenotes";

const TITLE: &str = "2. The same tools drive an iPhone";

/// Writes a note on the virtual iPhone, and records that in a new directory of `out`.
pub(super) async fn drive(out: &Path, stage: Stage) -> Result<SuiteRun, CliError> {
    let phones = DeviceProviders::default().with(VirtualIphoneProvider::default());
    let mut demo = DemoScript::begin(phones, VIRTUAL_IOS, &out.join("iphone"), stage).await?;
    stage.output.title(TITLE)?;
    let about = "a virtual iPhone behind WebDriverAgent, in this program";
    stage.output.line((Style::Plain, ""), &[(Style::Dim, about)])?;
    stage.output.gap()?;
    let app = json!({ "bundle_id": NOTES });
    demo.step("Launch Notes", "mobile_launch_app", app, &["New note"]).await?;
    let new = json!({ "text": "New note" });
    demo.step("Add a note", "mobile_tap_element", new, &[]).await?;
    let text = json!({ "text": "Ferry at 9:15" });
    demo.step("Type its text", "mobile_type_keys", text, &["Ferry at 9:15", "Back"]).await?;
    let back = json!({ "text": "Back" });
    let title = "Tap Back: iOS has no back key";
    demo.step(title, "mobile_tap_element", back, &["Ferry at 9:15", "New note"]).await?;
    demo.end("iphone", TITLE).await
}
