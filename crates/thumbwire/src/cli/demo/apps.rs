//! The demo's second part: the same goal by an app's own tool and by tapping, on one phone, side by side.
//!
//! The phone lives in a time of its own: what its work takes moves its clock on and nobody waits, so that the phone's time and ours are known
//! apart. A model's thinking between two steps of tapping is not counted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use thumbwire_adb::AdbServer;
use thumbwire_device::{AppId, Key};
use thumbwire_virtual_phone::{Setup, VirtualPhone};

use super::super::app_tools::millis;
use super::super::{Ended, print};
use crate::action::{Action, AppCall, Call, Choice, Heard, Outcome, Perform as _, Phase};
use crate::bridge::{BridgeOptions, Trust};
use crate::mcp::Client;
use crate::session::{Phones, Session, VIRTUAL};
use crate::surface::{Content, mobile};

/// The app, which comes with the phone.
const NOTES: &str = "com.android.notes";

const LIMIT: Duration = Duration::from_secs(60);

/// Keeps a note in both ways, and tells what each took.
pub(super) async fn compare() -> Result<(), Ended> {
    let phone = VirtualPhone::new(Setup::default());
    let phones = Phones::new(AdbServer::default()).with_virtual(phone.clone());
    let trust = Trust { allow: vec![NOTES.into()], ..Trust::default() };
    let session = Session::new(phones, Some(VIRTUAL.into()));
    let session = session.with_bridge(BridgeOptions { trust, ..BridgeOptions::default() });
    let session = Arc::new(session);
    let compared = Compared { phone, session: Arc::clone(&session) };
    let told = compared.tell().await;
    session.end().await;
    told
}

struct Compared {
    phone: VirtualPhone,
    session: Arc<Session>,
}

/// What a piece of work took: the phone's own time, and the rest.
#[derive(Debug, Clone, Copy, Default)]
struct Took {
    phone: Duration,
    ours: Duration,
}

impl Took {
    fn and(self, other: Self) -> Self {
        Self { phone: self.phone + other.phone, ours: self.ours + other.ours }
    }

    fn together(self) -> Duration {
        self.phone + self.ours
    }
}

impl Compared {
    async fn tell(&self) -> Result<(), Ended> {
        // The connection is not what is compared.
        self.perform(Action::CurrentApp).await?;
        let list = Action::ListAppTools { no_older_than: Duration::ZERO };
        let (offered, found) = self.perform(list).await?;
        let Outcome::AppTools(catalog) = offered else { return Err(odd()) };
        let Some(notes) = catalog.of(&AppId(NOTES.into())) else {
            return Err(Ended::failed("Notes offers nothing"));
        };
        let ids: Vec<_> = notes.tools.iter().map(|tool| tool.id.as_str()).collect();
        print(&format!(
            "{} offers {} to programs. A note, kept by its own tool and by tapping, on one phone:\n\n{:28}{:>12}{:>12}\n",
            notes.name,
            ids.join(" and "),
            "",
            "the phone",
            "ours"
        ))?;
        row("find out what there is", found, &catalog.phases)?;
        // Since Android 8 an app that was not in front for a while may not be started by a service alone.
        let (_, launched) = self.perform(Action::Launch(Choice::Id(AppId(NOTES.into())))).await?;
        let (_, home) = self.perform(Action::Press(Key::Home)).await?;
        row("launch Notes, go home", launched.and(home), &[])?;
        let arguments = json!({ "title": "Milk", "text": "two bottles" });
        let (answered, called) = self.perform(call("add_note", arguments)).await?;
        let Outcome::Answered(answered) = answered else { return Err(odd()) };
        if !matches!(answered.heard, Heard::Answer { success: true, .. }) {
            return Err(Ended::failed("Notes did not keep the note"));
        }
        row("call add_note", called, &answered.phases)?;
        let (answered, again) =
            self.perform(call("add_note", json!({ "title": "Tea", "text": "" }))).await?;
        let Outcome::Answered(answered) = answered else { return Err(odd()) };
        row("call it once more", again, &answered.phases)?;

        print("\n")?;
        let mut tapped = Took::default();
        let client = Client::connect(Arc::new(mobile::surface()), self.session.clone()).await;
        let client = client.map_err(|error| Ended::failed(error.to_string()))?;
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
            row(&format!("{title}, and look"), took, &[])?;
        }
        row("together", tapped, &[])?;
        let ratio =
            |took: Took| tapped.together().as_secs_f64() / took.together().as_secs_f64().max(1e-9);
        print(&format!(
            "\nOnce the app and the helper run, a call is {:.0} times as quick as the taps; with all that came before the first, {:.0} times.\n",
            ratio(again),
            ratio(found.and(launched).and(home).and(called)),
        ))
    }

    async fn perform(&self, action: Action) -> Result<(Outcome, Took), Ended> {
        let (began, before) = (Instant::now(), self.uptime());
        let outcome = self.session.perform(&Call::within(LIMIT), action).await?;
        Ok((outcome, Took { phone: self.uptime().saturating_sub(before), ours: began.elapsed() }))
    }

    async fn step(&self, client: &Client, tool: &str, arguments: Value) -> Result<Took, Ended> {
        let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        let (began, before) = (Instant::now(), self.uptime());
        let reply = client.call(tool, arguments).await;
        let reply = reply.map_err(|error| Ended::failed(format!("{tool}: {error}")))?;
        match reply.content.as_slice() {
            [Content::Text(words), ..] if reply.is_error => {
                Err(Ended::failed(format!("{tool}: {words}")))
            }
            _ => Ok(Took { phone: self.uptime().saturating_sub(before), ours: began.elapsed() }),
        }
    }

    fn uptime(&self) -> Duration {
        self.phone.world(|world| world.uptime())
    }
}

fn call(tool: &str, arguments: Value) -> Action {
    Action::CallAppTool(AppCall {
        app: AppId(NOTES.into()),
        service: None,
        tool: tool.into(),
        arguments: arguments.as_object().cloned().unwrap_or_default(),
        send_only: false,
    })
}

/// A line; the phases are ours alone, since nobody waits for the phone.
fn row(title: &str, took: Took, phases: &[(Phase, Duration)]) -> Result<(), Ended> {
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

fn odd() -> Ended {
    Ended::failed("the phone answered something else than was asked")
}
