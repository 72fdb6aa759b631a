//! Sets up a run of a goal: the session with its secrets, and a folder for the run's trace.
//!
//! Shared by `run`, `serve` (for the tool `mobile_run_task`) and the demo. A run is
//! recorded in `logs/run-TIME/` under `--out`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use super::model_flags::{ConfirmFlag, ModelSetup};
use super::{CliError, shutdown, terminal_prompt};
use crate::config;
use thumbwire_agent::run_task::{RunTask, TaskOverrides, TaskResult};
use thumbwire_agent::{
    Agent, AgentOptions, AgentStatus, Budgets, Memory, Policy, RedactedPerform, Safeguards,
    ScreenshotMode, Vault, check_secret_name,
};
use thumbwire_base::files::Folder;
use thumbwire_core::action::{Call, Perform};
use thumbwire_core::event::{EventSink, EventSinks, ObservedPerform};
use thumbwire_core::session::Session;
use thumbwire_core::trace::Recorder;
use thumbwire_core::trace::format::TraceRecord;
use thumbwire_flow::RunGoal;

/// A session, and where its runs are recorded.
pub(super) struct RunSetup {
    /// The session.
    pub(super) session: Arc<Session>,
    /// The secrets that can be typed.
    pub(super) vault: Arc<Vault>,
    /// The parent of `logs/`.
    pub(super) out: PathBuf,
    /// Whether typed texts and pictures are left out of the trace.
    pub(super) redact: bool,
}

/// A run that is ready to start.
pub(super) struct Run {
    /// Writes its trace.
    pub(super) recorder: Arc<Recorder>,
    /// The memory it starts with; empty unless it resumes a run.
    pub(super) memory: Memory,
    perform: Arc<dyn Perform>,
    /// The sinks for the run's calls and the agent's events. The recorder is the first.
    events: EventSinks,
    vault: Arc<Vault>,
    apps: AppToolPerform,
}

/// Gives access to app tools, if the session allows any.
pub(super) struct AppToolPerform(Option<Arc<dyn Perform>>);

impl AppToolPerform {
    /// The app tools that this session may call.
    pub(super) fn of(session: &Arc<Session>) -> Self {
        Self(session.may_call_apps().then(|| Arc::clone(session) as Arc<dyn Perform>))
    }

    /// Adds app tools to the agent's functions.
    fn given_to(&self, agent: Agent) -> Agent {
        match &self.0 {
            Some(apps) => agent.with_app_functions(Arc::clone(apps)),
            None => agent,
        }
    }
}

impl RunSetup {
    /// Begins a run in a new folder `logs/run-TIME`.
    pub(super) fn begin(&self) -> Result<Run, String> {
        let recorder = begin(&self.out)?;
        Ok(self.run(recorder, Memory::default()))
    }

    /// Resumes the run in that folder. Returns it with its goal.
    pub(super) fn resume(&self, folder: &Path) -> Result<(Run, String), String> {
        let wrong = |reason: &dyn std::fmt::Display| {
            format!("cannot resume {}: {reason}", folder.display())
        };
        let (recorder, lines) = Recorder::resume(folder).map_err(|error| wrong(&error))?;
        let goal = lines.iter().rev().find_map(|line| match line {
            TraceRecord::Goal(goal) => Some(goal.request.clone()),
            _ => None,
        });
        let goal = goal.ok_or_else(|| wrong(&"the trace has no goal"))?;
        let ended = lines.iter().rev().find_map(|line| match line {
            TraceRecord::GoalEnd { status, .. } => Some(status.as_str()),
            _ => None,
        });
        if ended == Some("FINISH") {
            return Err(wrong(&"the run is already finished"));
        }
        Ok((self.run(recorder, Memory::of(&lines)), goal))
    }

    /// The session with secrets redacted, without a trace.
    pub(super) fn redacted_session(&self) -> RedactedPerform<Arc<Session>> {
        RedactedPerform::new(Arc::clone(&self.session), Arc::clone(&self.vault))
    }

    fn run(&self, recorder: Recorder, memory: Memory) -> Run {
        let recorder = Arc::new(recorder.with_redaction(self.redact));
        let events = EventSinks::default().with(Arc::clone(&recorder));
        let perform = Arc::new(ObservedPerform::new(self.redacted_session(), events.clone()));
        let (vault, apps) = (Arc::clone(&self.vault), AppToolPerform::of(&self.session));
        Run { recorder, memory, perform, events, vault, apps }
    }
}

impl Run {
    /// The folder of its trace.
    pub(super) fn folder(&self) -> String {
        self.recorder.folder().display().to_string()
    }

    /// The agent that runs it, watched by `watch`.
    pub(super) fn agent(
        &self,
        policy: Arc<dyn Policy>,
        options: AgentOptions,
        watch: Arc<dyn EventSink>,
    ) -> Agent {
        self.events.add(watch);
        let agent = Agent::new(policy, Arc::clone(&self.perform), options)
            .with_trace(Arc::clone(&self.recorder))
            .with_event_sink(Arc::new(self.events.clone()))
            .with_secrets(Arc::clone(&self.vault));
        self.apps.given_to(agent)
    }
}

/// Runs the goals in flows.
pub(super) struct FlowGoalRunner {
    pub(super) model: ModelSetup,
    pub(super) budgets: Budgets,
    pub(super) vault: Arc<Vault>,
    pub(super) confirm: ConfirmFlag,
    pub(super) apps: AppToolPerform,
    /// Folder of the flows' traces, for display.
    pub(super) folder: String,
}

#[async_trait]
impl RunGoal for FlowGoalRunner {
    async fn run_goal(
        &self,
        perform: Arc<dyn Perform>,
        recorder: Option<Arc<Recorder>>,
        call: &Call,
        goal: &str,
    ) -> Result<(), String> {
        let folder = recorder.as_ref().map(|recorder| recorder.folder().display().to_string());
        let folder = folder.unwrap_or_else(|| self.folder.clone());
        let options = options(self.model.pictures(), self.budgets.clone(), folder);
        let agent = Agent::new(self.model.policy(None), perform, options)
            .with_secrets(Arc::clone(&self.vault))
            .with_confirm_mode(self.confirm.mode());
        let agent = match recorder {
            Some(recorder) => agent.with_trace(recorder),
            None => agent,
        };
        let ended = self.apps.given_to(agent).run(call, goal, Memory::default()).await;
        match ended.status {
            AgentStatus::Finish => Ok(()),
            _ => Err(ended.reason),
        }
    }
}

/// A path `logs/run-TIME` for the traces of flows that does not exist yet.
///
/// # Errors
/// If `logs` is elsewhere.
pub(super) fn new_folder(out: &Path) -> Result<PathBuf, CliError> {
    let now = jiff::Zoned::now();
    check_place(out).map_err(CliError::failed)?;
    let mut names = (1..100).map(|number| folder(out, &now, number));
    Ok(names.find(|folder| !folder.exists()).unwrap_or_else(|| folder(out, &now, 100)))
}

/// Refuses a link in the place of `logs` that leads out of the folder.
fn check_place(out: &Path) -> Result<(), String> {
    Folder::new(out).check(Path::new("logs/run")).map_err(|error| {
        format!("cannot record the run in {}: {error}", out.join("logs").display())
    })
}

fn folder(out: &Path, now: &jiff::Zoned, number: u32) -> PathBuf {
    let name = format!("run-{}", now.strftime("%Y%m%d-%H%M%S"));
    let logs = match out.as_os_str() == "." {
        // Print `logs`, not `./logs`.
        true => PathBuf::from("logs"),
        false => out.join("logs"),
    };
    match number {
        1 => logs.join(name),
        number => logs.join(format!("{name}-{number}")),
    }
}

/// Creates a folder `logs/run-TIME` with an empty trace. The second run within a second gets a
/// number after the time.
fn begin(out: &Path) -> Result<Recorder, String> {
    let now = jiff::Zoned::now();
    check_place(out)?;
    for number in 1..100 {
        let folder = folder(out, &now, number);
        match Recorder::begin(&folder, now.timestamp().to_string()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(format!("cannot record the run in {}: {error}", folder.display()));
            }
            Ok(recorder) => return Ok(recorder),
        }
    }
    Err(format!("cannot record the run in {}: too many runs started this second", out.display()))
}

/// The agent's options for a run in that folder.
pub(super) fn options(pictures: ScreenshotMode, budgets: Budgets, folder: String) -> AgentOptions {
    AgentOptions {
        pictures,
        budgets,
        safeguards: Safeguards::default(),
        log_path: folder,
        clock: || jiff::Zoned::now().datetime(),
    }
}

/// Reads these secrets from the environment, else from a prompt at the terminal.
pub(super) fn secrets(names: &[String]) -> Result<Arc<Vault>, CliError> {
    let mut given = Vec::new();
    if names.iter().any(|name| config::secret(name).is_none()) {
        // The prompt turns the terminal's echo off.
        shutdown::exit_at_signal(terminal_prompt::leave_question);
    }
    for name in names {
        check_secret_name(name).map_err(|reason| CliError::usage(format!("--secret: {reason}")))?;
        let variable = config::secret_variable(name);
        let value = config::secret(name).or_else(|| {
            terminal_prompt::read_secret(&format!("Secret {name} (input is hidden): "))
        });
        let value = value.ok_or_else(|| {
            CliError::usage(format!("--secret {name}: set the environment variable {variable}"))
        })?;
        given.push((name.clone(), value));
    }
    Vault::new(given).map(Arc::new).map_err(|reason| CliError::usage(format!("--secret: {reason}")))
}

/// Runs the goals that MCP clients pass to `mobile_run_task`.
pub(super) struct McpTaskRunner {
    pub(super) setup: RunSetup,
    pub(super) model: ModelSetup,
    pub(super) budgets: Budgets,
    pub(super) confirm: ConfirmFlag,
}

#[async_trait]
impl RunTask for McpTaskRunner {
    async fn run(
        &self,
        goal: &str,
        overrides: TaskOverrides,
        call: &Call,
        watch: Arc<dyn EventSink>,
    ) -> Result<TaskResult, String> {
        let mut run = self.setup.begin()?;
        let mut budgets = self.budgets.clone();
        budgets.rounds =
            overrides.rounds.map_or(budgets.rounds, |rounds| rounds.min(budgets.rounds));
        budgets.time = overrides.time.into_iter().chain(budgets.time).min();
        let pictures = overrides.pictures.unwrap_or(self.model.pictures());
        let options = options(pictures, budgets, run.folder());
        let policy = self.model.policy(overrides.pictures);
        let memory = std::mem::take(&mut run.memory);
        let agent = run.agent(policy, options, watch);
        let agent = agent.with_confirm_mode(self.confirm.mode());
        let ended = agent.run(call, goal, memory).await;
        Ok(TaskResult { result: ended, trace: Some(run.folder()) })
    }
}
