//! The demo's last part: the same goal with an app's own tool and by tapping, on one phone, side by
//! side.
//!
//! The phone uses its virtual clock: work advances the clock and nobody waits, which separates the
//! phone's time from ours. A model's thinking time between taps is not counted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use thumbwire_device::{AppId, Key};
use thumbwire_virtual_android::{Setup, VirtualPhone};

use super::super::app_tools::millis;
use super::super::style::Style;
use super::super::{CliError, print_styled};
use super::Stage;
use thumbwire_core::action::{
    AppSelector, AppToolCall, AppToolPhase, AppToolReply, Call, Request, TypedPerform as _, request,
};
use thumbwire_core::app_tools::{AppToolOptions, TrustRules};
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::{Content, mobile};
use thumbwire_core::trace::report::{SuiteRun, Verdict};
use thumbwire_mcp::Client;

/// An app that the virtual phone includes.
const NOTES: &str = "com.android.notes";

const LIMIT: Duration = Duration::from_secs(60);

const TITLE: &str = "4. An app's own tool, and the same by tapping";

/// Saves a note in both ways and prints how long each took.
pub(super) async fn compare(stage: Stage) -> Result<SuiteRun, CliError> {
    let began = Instant::now();
    let phone = VirtualPhone::new(Setup::default());
    let phones = DeviceProviders::default().with(VirtualPhoneProvider::new(phone.clone()));
    let trust = TrustRules { allow: vec![NOTES.into()], ..TrustRules::default() };
    let options = SessionOptions {
        app_tools: AppToolOptions { trust, ..AppToolOptions::default() },
        ..SessionOptions::from(Some(VIRTUAL.into()))
    };
    let session = Arc::new(Session::new(phones, options));
    let mut compared =
        Comparison { phone, session: Arc::clone(&session), stage, printed: String::new() };
    let out = compared.run().await;
    session.end().await;
    out?;
    Ok(SuiteRun {
        name: TITLE.into(),
        verdict: Verdict::Passed,
        text: compared.printed,
        duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        ..SuiteRun::default()
    })
}

struct Comparison {
    phone: VirtualPhone,
    session: Arc<Session>,
    stage: Stage,
    /// What was printed.
    printed: String,
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
    async fn run(&mut self) -> Result<(), CliError> {
        // Connect first, so that the connection is not measured.
        self.timed(request::CurrentApp).await?;
        let list = request::ListAppTools { max_age: Duration::ZERO };
        let (catalog, found) = self.timed(list).await?;
        let Some(notes) = catalog.of(&AppId(NOTES.into())) else {
            return Err(CliError::failed("Notes offers no tools"));
        };
        let ids: Vec<_> = notes.tools.iter().map(|tool| tool.id.as_str()).collect();
        self.stage.output.title(TITLE)?;
        let about = format!(
            "{} offers {}. The same note is saved with its tool, then by tapping.",
            notes.name,
            ids.join(" and ")
        );
        self.say(&[(Style::Dim, &about)])?;
        self.gap()?;
        self.table(&format!("{:28}{:>12}{:>12}", "", "phone", "Thumbwire"), Style::Dim, &[])?;
        self.row("list app tools", found, &catalog.phases)?;
        // Since Android 8, a service of an app that has been in the background for a while cannot
        // be started.
        let (_, launched) =
            self.timed(request::Launch(AppSelector::Id(AppId(NOTES.into())))).await?;
        let (_, home) = self.timed(request::Press(Key::Home)).await?;
        self.row("launch Notes, go home", launched.and(home), &[])?;
        let arguments = json!({ "title": "Milk", "text": "two bottles" });
        let (answered, called) = self.timed(call("add_note", arguments)).await?;
        if !matches!(answered.heard, AppToolReply::Answer { success: true, .. }) {
            return Err(CliError::failed("Notes did not save the note"));
        }
        self.row("call add_note", called, &answered.phases)?;
        let (answered, again) =
            self.timed(call("add_note", json!({ "title": "Tea", "text": "" }))).await?;
        self.row("call add_note again", again, &answered.phases)?;

        self.gap()?;
        let mut tapped = Timing::default();
        let client = Client::connect(Arc::new(mobile::toolset()), self.session.clone()).await;
        let client = client.map_err(CliError::failed)?;
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
            self.row(&format!("{title}, snapshot"), took, &[])?;
        }
        self.row("total", tapped, &[])?;
        let ratio = |took: Timing| {
            tapped.together().as_secs_f64() / took.together().as_secs_f64().max(1e-9)
        };
        self.gap()?;
        let text = format!(
            "With the app and the helper running, a call is {:.0} times as fast as tapping; including the setup, {:.0} times.",
            ratio(again),
            ratio(found.and(launched).and(home).and(called)),
        );
        self.say(&[(Style::Plain, &text)])
    }

    /// Prints a text, and keeps it for the page.
    fn say(&mut self, words: &[(Style, &str)]) -> Result<(), CliError> {
        words.iter().for_each(|(_, text)| self.printed.push_str(text));
        self.printed.push('\n');
        self.stage.output.line((Style::Plain, ""), words)
    }

    fn gap(&mut self) -> Result<(), CliError> {
        self.printed.push('\n');
        self.stage.output.gap()
    }

    /// Prints a line of the table as it is; the phases only if much is to be printed.
    fn table(
        &mut self,
        line: &str,
        style: Style,
        phases: &[(AppToolPhase, Duration)],
    ) -> Result<(), CliError> {
        self.printed.push_str(line);
        self.printed.push('\n');
        print_styled(&format!("{}\n", self.stage.output.style.painted(style, line)))?;
        if !self.stage.verbose || phases.is_empty() {
            return Ok(());
        }
        let phases: Vec<_> = phases
            .iter()
            .map(|(phase, took)| format!("{} {}", phase.name(), millis(*took)))
            .collect();
        self.stage.output.line((Style::Plain, "      "), &[(Style::Dim, &phases.join(", "))])
    }

    /// Prints a row of the table. The phases are Thumbwire's time only.
    fn row(
        &mut self,
        title: &str,
        took: Timing,
        phases: &[(AppToolPhase, Duration)],
    ) -> Result<(), CliError> {
        let (phone, ours) = (millis(took.phone), millis(took.ours));
        self.table(&format!("  {title:26}{phone:>12}{ours:>12}"), Style::Plain, phases)
    }

    /// Performs an action and measures it.
    async fn timed<R: Request>(&self, request: R) -> Result<(R::Output, Timing), CliError> {
        let (began, before) = (Instant::now(), self.uptime());
        let output = self.session.request(&Call::with_timeout(LIMIT), request).await?;
        Ok((output, Timing { phone: self.uptime().saturating_sub(before), ours: began.elapsed() }))
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

fn call(tool: &str, arguments: Value) -> request::CallAppTool {
    request::CallAppTool(AppToolCall {
        app: AppId(NOTES.into()),
        service: None,
        tool: tool.into(),
        arguments: arguments.as_object().cloned().unwrap_or_default(),
        send_only: false,
    })
}
