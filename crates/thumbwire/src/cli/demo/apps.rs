//! The demo's third part: the same goal with an app's own tool and by tapping, on one phone, side by side.
//!
//! The phone uses its virtual clock: work advances the clock and nobody waits, which separates the phone's time from ours. A model's
//! thinking time between taps is not counted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use thumbwire_device::{AppId, Key};
use thumbwire_virtual_android::{Setup, VirtualPhone};

use super::super::app_tools::millis;
use super::super::{CliError, print};
use thumbwire_core::action::{
    Action, AppSelector, AppToolCall, AppToolPhase, AppToolReply, Call, Outcome, Perform as _,
};
use thumbwire_core::app_tools::{AppToolOptions, TrustRules};
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::Session;
use thumbwire_core::toolset::{Content, mobile};
use thumbwire_mcp::Client;

/// An app that the virtual phone includes.
const NOTES: &str = "com.android.notes";

const LIMIT: Duration = Duration::from_secs(60);

/// Saves a note in both ways and prints how long each took.
pub(super) async fn compare() -> Result<(), CliError> {
    let phone = VirtualPhone::new(Setup::default());
    let phones = DeviceProviders::default().with(VirtualPhoneProvider::new(phone.clone()));
    let trust = TrustRules { allow: vec![NOTES.into()], ..TrustRules::default() };
    let session = Session::new(phones, Some(VIRTUAL.into()));
    let session = session.with_app_tool_host(AppToolOptions { trust, ..AppToolOptions::default() });
    let session = Arc::new(session);
    let compared = Comparison { phone, session: Arc::clone(&session) };
    let out = compared.run().await;
    session.end().await;
    out
}

struct Comparison {
    phone: VirtualPhone,
    session: Arc<Session>,
}

/// Elapsed time: the phone's and ours.
#[derive(Debug, Clone, Copy, Default)]
struct Timing {
    phone: Duration,
    ours: Duration,
}

impl Timing {
    fn and(self, other: Self) -> Self {
        Self { phone: self.phone + other.phone, ours: self.ours + other.ours }
    }

    fn together(self) -> Duration {
        self.phone + self.ours
    }
}

impl Comparison {
    async fn run(&self) -> Result<(), CliError> {
        // Connect first, so that the connection is not measured.
        self.perform(Action::CurrentApp).await?;
        let list = Action::ListAppTools { max_age: Duration::ZERO };
        let (offered, found) = self.perform(list).await?;
        let Outcome::AppTools(catalog) = offered else { return Err(unexpected_outcome()) };
        let Some(notes) = catalog.of(&AppId(NOTES.into())) else {
            return Err(CliError::failed("Notes offers no tools"));
        };
        let ids: Vec<_> = notes.tools.iter().map(|tool| tool.id.as_str()).collect();
        print(&format!(
            "{} offers {}. Saving a note with its tool, then by tapping, on one phone:\n\n{:28}{:>12}{:>12}\n",
            notes.name,
            ids.join(" and "),
            "",
            "phone",
            "Thumbwire"
        ))?;
        row("list app tools", found, &catalog.phases)?;
        // Since Android 8, a service of an app that has been in the background for a while cannot be started.
        let (_, launched) =
            self.perform(Action::Launch(AppSelector::Id(AppId(NOTES.into())))).await?;
        let (_, home) = self.perform(Action::Press(Key::Home)).await?;
        row("launch Notes, go home", launched.and(home), &[])?;
        let arguments = json!({ "title": "Milk", "text": "two bottles" });
        let (answered, called) = self.perform(call("add_note", arguments)).await?;
        let Outcome::AppToolResult(answered) = answered else { return Err(unexpected_outcome()) };
        if !matches!(answered.heard, AppToolReply::Answer { success: true, .. }) {
            return Err(CliError::failed("Notes did not save the note"));
        }
        row("call add_note", called, &answered.phases)?;
        let (answered, again) =
            self.perform(call("add_note", json!({ "title": "Tea", "text": "" }))).await?;
        let Outcome::AppToolResult(answered) = answered else { return Err(unexpected_outcome()) };
        row("call add_note again", again, &answered.phases)?;

        print("\n")?;
        let mut tapped = Timing::default();
        let client = Client::connect(Arc::new(mobile::toolset()), self.session.clone()).await;
        let client = client.map_err(|error| CliError::failed(error.to_string()))?;
        for (title, tool, arguments) in [
            ("launch Notes", "mobile_launch_app", json!({ "bundle_id": NOTES })),
            ("tap New note", "mobile_tap_element", json!({ "text": "New note" })),
            (
                "type its title",
                "mobile_type",
                json!({ "element_id": "editable_title", "text": "Bread" }),
            ),
            (
                "type its text",
                "mobile_type",
                json!({ "element_id": "edit_note_text", "text": "one loaf" }),
            ),
            ("go back", "mobile_press_key", json!({ "key": "back" })),
        ] {
            let took = self.step(&client, tool, arguments).await?;
            let seen = self.step(&client, "mobile_get_accessibility_tree", json!({})).await?;
            let took = took.and(seen);
            tapped = tapped.and(took);
            row(&format!("{title}, snapshot"), took, &[])?;
        }
        row("total", tapped, &[])?;
        let ratio = |took: Timing| {
            tapped.together().as_secs_f64() / took.together().as_secs_f64().max(1e-9)
        };
        print(&format!(
            "\nWith the app and the helper running, a call is {:.0} times as fast as tapping; including the setup, {:.0} times.\n",
            ratio(again),
            ratio(found.and(launched).and(home).and(called)),
        ))
    }

    async fn perform(&self, action: Action) -> Result<(Outcome, Timing), CliError> {
        let (began, before) = (Instant::now(), self.uptime());
        let outcome = self.session.perform(&Call::with_timeout(LIMIT), action).await?;
        Ok((outcome, Timing { phone: self.uptime().saturating_sub(before), ours: began.elapsed() }))
    }

    async fn step(
        &self,
        client: &Client,
        tool: &str,
        arguments: Value,
    ) -> Result<Timing, CliError> {
        let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        let (began, before) = (Instant::now(), self.uptime());
        let reply = client.call(tool, arguments).await;
        let reply = reply.map_err(|error| CliError::failed(format!("{tool}: {error}")))?;
        match reply.content.as_slice() {
            [Content::Text(words), ..] if reply.is_error => {
                Err(CliError::failed(format!("{tool}: {words}")))
            }
            _ => Ok(Timing { phone: self.uptime().saturating_sub(before), ours: began.elapsed() }),
        }
    }

    fn uptime(&self) -> Duration {
        self.phone.world(|world| world.uptime())
    }
}

fn call(tool: &str, arguments: Value) -> Action {
    Action::CallAppTool(AppToolCall {
        app: AppId(NOTES.into()),
        service: None,
        tool: tool.into(),
        arguments: arguments.as_object().cloned().unwrap_or_default(),
        send_only: false,
    })
}

/// Prints a row of the table. The phases are Thumbwire's time only.
fn row(title: &str, took: Timing, phases: &[(AppToolPhase, Duration)]) -> Result<(), CliError> {
    let phases: Vec<_> =
        phases.iter().map(|(phase, took)| format!("{} {}", phase.name(), millis(*took))).collect();
    let line = format!(
        "  {title:26}{:>12}{:>12}  {}",
        millis(took.phone),
        millis(took.ours),
        phases.join(", ")
    );
    print(&format!("{}\n", line.trim_end()))
}

fn unexpected_outcome() -> CliError {
    CliError::failed("unexpected outcome of an action")
}
