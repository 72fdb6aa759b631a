//! The examination of one phone: calls the tool of a check, measures it, and knows the screens to
//! try it on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};
use thumbwire_core::action::{
    Call, Cause, Failure, InfoResult, Perform, TypedPerform as _, request,
};
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_core::toolset::{ObserveMode, Tool, Toolset, android};
use thumbwire_device::{AppId, DeviceInfo, Key, Platform};
use tokio::time::Instant;

use super::answer::{Answer, Found, Problem, Refusal, failed, read};
use super::look::Phone;
use super::mask::Mask;
use super::report::{CheckResult, PhoneSummary, Report, Verdict, ms};
use super::scene::{Scenes, plain_apps};
use super::{LEFT_FILE, Options, TestApp};

/// The examination of one phone.
pub struct Exam<'a> {
    pub(super) phone: Phone<'a>,
    pub(super) scenes: Scenes,
    /// The phone's properties, read at the start.
    pub(super) info: DeviceInfo,
    /// Its platform.
    pub(super) platform: Platform,
    /// Id of the phone.
    pub(super) device: String,
    /// The app behind the home key; empty in an examination that changes nothing.
    pub(super) home: AppId,
    /// The installed apps.
    pub(super) apps: Vec<AppId>,
    /// The recording that runs.
    pub(super) recording: Option<String>,
    /// The log monitor that runs.
    pub(super) monitor: Option<String>,
    /// The app to install, if the user brought one.
    pub(super) test_app: Option<TestApp>,
    /// That app, while it is on the phone.
    pub(super) installed: Option<TestApp>,
    /// What the clipboard had before it was changed; `None` inside if it was empty.
    pub(super) clipboard: Option<Option<String>>,
    /// Whether [`LEFT_FILE`] may be on the phone.
    pub(super) has_left_file: bool,
    pub(super) full: bool,
    session: &'a dyn Perform,
    toolsets: [Toolset; 2],
    /// The check in progress.
    toolset: &'static str,
    tool: &'static str,
    took: Option<Duration>,
    files: PathBuf,
    input: PathBuf,
    mask: Mask,
    transport: String,
    began: Instant,
}

/// Timeout for the questions at the start.
const START_TIMEOUT: Duration = Duration::from_secs(60);

impl<'a> Exam<'a> {
    /// Connects to the phone and asks what it is.
    ///
    /// # Errors
    /// If it is not connected, or its screen is off.
    pub(super) async fn begin(session: &'a dyn Perform, options: Options) -> Result<Self, Failure> {
        let began = Instant::now();
        let phone = Phone::new(session);
        let call = || Call::with_timeout(START_TIMEOUT);
        let health = session.request(&call(), request::Health).await?.health;
        let off = health.checks.iter().find(|check| check.name == "screen_state" && !check.passed);
        if let Some(check) = off.filter(|_| options.full) {
            let reason = format!(
                "the screen is {}: turn it on, unlock the phone and call again",
                check.details
            );
            return Err(Cause::Refused { reason }.into());
        }
        let asked = request::DeviceInfo { max_age: Duration::ZERO };
        let InfoResult { identity, info, .. } = session.request(&call(), asked).await?;
        let apps = phone.apps().await.unwrap_or_default();
        let home = match options.full {
            true => home(phone, &apps).await,
            false => AppId(String::new()),
        };
        let mut masked = vec![
            (options.device.clone(), "ID"),
            (info.serial.clone(), "SERIAL"),
            (options.files.display().to_string(), "FILES"),
        ];
        masked.extend(options.test_app.iter().map(|test| (test.app.0.clone(), "APP")));
        let mask = Mask::new(masked);
        Ok(Self {
            phone,
            scenes: Scenes::default(),
            info,
            platform: identity.platform,
            device: options.device,
            home,
            apps,
            recording: None,
            monitor: None,
            test_app: options.test_app,
            installed: None,
            clipboard: None,
            has_left_file: false,
            full: options.full,
            session,
            toolsets: [
                mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, &ToolGroup::ALL),
                android::toolset(),
            ],
            toolset: "",
            tool: "",
            took: None,
            files: options.files,
            input: options.input,
            mask,
            transport: options.transport,
            began,
        })
    }

    /// Whether a tool only reads.
    pub(super) fn changes_nothing(&self, toolset: &str, tool: &str) -> bool {
        self.tool(toolset, tool).is_some_and(|(_, tool)| tool.effect.is_read_only())
    }

    /// Begins the check of a tool.
    pub(super) fn turn_to(&mut self, toolset: &'static str, tool: &'static str) {
        (self.toolset, self.tool, self.took) = (toolset, tool, None);
    }

    /// The result of the check in progress, which confirms what `checked` says.
    pub(super) fn result(&self, checked: &str, found: Found) -> CheckResult {
        let (verdict, detail) = match found {
            Ok(note) => (Verdict::Passed, note),
            Err(Problem::Failed(reason)) => (Verdict::Failed, reason),
            Err(Problem::Skipped(reason)) => (Verdict::Skipped, reason),
        };
        let budget = self.tool(self.toolset, self.tool).map(|(_, tool)| ms(tool.budget));
        CheckResult {
            toolset: self.toolset.to_owned(),
            tool: self.tool.to_owned(),
            verdict,
            checked: checked.to_owned(),
            detail: self.mask.apply(&detail),
            took_ms: self.took.map(ms),
            budget_ms: budget.unwrap_or(0),
        }
    }

    fn tool(&self, toolset: &str, tool: &str) -> Option<(&Toolset, &Tool)> {
        let toolset = self.toolsets.iter().find(|one| one.name == toolset)?;
        Some((toolset, toolset.tool(tool)?))
    }

    /// Calls the tool of the current check, which must succeed.
    pub(super) async fn call(&mut self, arguments: Value) -> Result<Answer, Problem> {
        Ok(self.try_call(arguments).await?)
    }

    /// Calls the tool of the current check and measures it.
    pub(super) async fn try_call(&mut self, arguments: Value) -> Result<Answer, Refusal> {
        let Some((toolset, tool)) = self.tool(self.toolset, self.tool) else {
            return Err(Refusal { text: "bug: this tool does not exist".into(), cause: None });
        };
        let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        let began = Instant::now();
        let call = Call::with_timeout(tool.budget);
        let reply = toolset.answer(tool, arguments, call, self.session).await;
        self.took = Some(began.elapsed());
        read(reply)
    }

    /// How long the call of the current check took.
    pub(super) fn took(&self) -> Duration {
        self.took.unwrap_or_default()
    }

    /// Reads a file that the tool says it saved.
    pub(super) fn saved_file(&self, path: &str) -> Result<Vec<u8>, Problem> {
        let path = Path::new(path);
        let path = if path.is_absolute() { path.to_owned() } else { self.files.join(path) };
        std::fs::read(&path).or_else(|error| failed(format!("cannot read the saved file: {error}")))
    }

    /// Writes a file that a tool may send.
    pub(super) fn write_input(&self, name: &str, bytes: &[u8]) -> Result<(), Problem> {
        let written = std::fs::write(self.input.join(name), bytes);
        written.or_else(|error| failed(format!("cannot write a file to send: {error}")))
    }

    /// Clears the text, stops what still runs, removes what is left and shows the home screen.
    pub(super) async fn restore(&mut self) {
        if self.scenes.clear_field(self.phone).await.is_err() {
            tracing::warn!("cannot clear the text field that was typed into");
        }
        let _ = self.phone.act(request::StopRecording { recording: None, fetch: false }).await;
        let _ = self.phone.act(request::StopMonitor(None)).await;
        if let Some(test) = self.installed.take() {
            let _ = self.phone.act(request::UninstallApp(test.app)).await;
        }
        if let Some(before) = self.clipboard.take() {
            // No operation empties it.
            let _ = self.phone.act(request::SetClipboard(before.unwrap_or_default())).await;
        }
        if self.has_left_file {
            // A screenshot is removed from the phone once it is fetched.
            let name = Some(LEFT_FILE.to_owned());
            let _ = self.phone.act(request::SaveScreenshot { name, fetch: true }).await;
        }
        let _ = self.phone.act(request::Press(Key::Home)).await;
    }

    /// The report, with the results in the order of the toolsets.
    pub(super) fn report(self, mut results: Vec<CheckResult>) -> Report {
        let position = |result: &CheckResult| {
            let toolset = self.toolsets.iter().position(|toolset| toolset.name == result.toolset);
            let tools = toolset.map(|at| &self.toolsets[at].tools);
            let tool = tools.and_then(|all| all.iter().position(|tool| tool.name == result.tool));
            // A tool that only some servers have comes last in its toolset.
            (toolset, tool.unwrap_or(usize::MAX))
        };
        results.sort_by_key(position);
        let DeviceInfo { manufacturer, model, os_version, api_level, screen, .. } = self.info;
        Report {
            thumbwire: env!("CARGO_PKG_VERSION").to_owned(),
            phone: PhoneSummary {
                manufacturer,
                model: self.mask.apply(&model),
                platform: self.platform.to_string(),
                os_version,
                api_level,
                screen: format!("{}x{}", screen.width, screen.height),
                transport: self.transport,
            },
            full: self.full,
            seconds: self.began.elapsed().as_secs_f64(),
            results,
        }
    }
}

/// Goes home and returns the app that is in front there. A slow phone still shows the app before
/// for some seconds, so two looks must agree.
async fn home(phone: Phone<'_>, apps: &[AppId]) -> AppId {
    const LOOKS: usize = 5;
    let plain = plain_apps(apps);
    let mut last = AppId(String::new());
    for _ in 0..LOOKS {
        let _ = phone.act(request::Press(Key::Home)).await;
        phone.pause().await;
        phone.pause().await;
        let Ok(front) = phone.front().await else { continue };
        if front == last && !front.0.is_empty() && !plain.contains(&front) {
            break;
        }
        last = front;
    }
    last
}
