//! Runs a goal at the terminal: progress output, questions to the user, Ctrl-C and the exit code.
//!
//! Begin with [`run_goal`]. Standard output holds only the
//! answer, or the events with `--json`; progress goes to standard error ([`super::live`]). Exit
//! codes are those of all verbs, plus 130 after Ctrl-C, as in shells. [`super::run_setup`] provides
//! the phone and the trace.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::app_tools::AllowFlags;
use super::live::{JsonLines, LiveView};
use super::model_flags::{BudgetFlags, ConfirmFlag, MAX_STEPS, ModelFlags};
use super::resume_command::ResumeCommand;
use super::run_setup::{self, Run};
use super::screenshot_size::ScreenshotSize;
use super::shutdown::{INTERRUPTED, ShutdownSignal};
use super::terminal_prompt::{self, PauseOutput};
use super::{CliError, FILES, PERMISSIONS, PHONES, PhoneSources, print};
use crate::config::{self, Config};
use crate::shell_quote::shell_quote;
use thumbwire_agent::{AgentStatus, Budgets, Limit, Policy, RunResult, ScreenshotMode, StopReason};
use thumbwire_core::action::{
    AskBeside, Call, InfoResult, NoUser, Perform, TypedPerform as _, request,
};
use thumbwire_core::event::{EventSink, EventSinks, NoEvents};
use thumbwire_core::trace::Recorder;

/// Flags shared by `run` and `test`: model, limits, secrets and questions.
#[derive(clap::Args)]
#[group(skip)]
pub(super) struct RunFlags {
    #[command(flatten)]
    pub(super) sources: PhoneSources,
    /// Size of screenshots: `full` (the default), the pixels of the longer side, or `auto` for what
    /// vision models look at. All coordinates are pixels of the screenshot
    #[arg(long, value_name = "SIZE", help_heading = PHONES)]
    pub(super) screenshot_size: Option<ScreenshotSize>,
    #[command(flatten)]
    pub(super) allow: AllowFlags,
    /// Secret that can be typed by its name but is never shown; its value is read from
    /// $THUMBWIRE_SECRET_NAME, else from a prompt (repeatable)
    #[arg(long, value_name = "NAME", help_heading = PERMISSIONS)]
    pub(super) secret: Vec<String>,
    /// Leave typed texts, the content of text fields and pictures out of what is recorded
    #[arg(long, help_heading = FILES)]
    pub(super) redact: bool,
    #[command(flatten)]
    pub(super) limits: BudgetFlags,
    #[command(flatten)]
    pub(super) model: ModelFlags,
    #[command(flatten)]
    pub(super) confirm: ConfirmFlag,
    /// Never ask questions
    #[arg(long = "non-interactive", visible_alias = "no-ask")]
    pub(super) no_ask: bool,
}

impl RunFlags {
    /// The settings of a run on this phone.
    pub(super) fn context<'a>(
        &self,
        device: Option<String>,
        output: OutputFlags,
        config: &'a Config,
    ) -> RunContext<'a> {
        RunContext {
            device,
            budgets: self.limits.budgets(FOREVER),
            confirm: self.confirm,
            asks: !self.no_ask && terminal_prompt::is_there(),
            output,
            config,
            watchers: Vec::new(),
            ask_beside: None,
        }
    }
}

/// What a run of a goal prints.
#[derive(Debug, Clone, Copy, clap::Args)]
#[group(skip)]
pub(super) struct OutputFlags {
    /// Print events as JSON lines
    #[arg(short, long)]
    json: bool,
    /// Print only the answer
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    /// Print every call with its result, times and tokens
    #[arg(short, long, conflicts_with_all = ["json", "quiet"])]
    verbose: bool,
}

/// Stands for "no time limit": the run then ends at its step limit.
pub(super) const FOREVER: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What to run.
pub(super) struct RunRequest {
    /// The goal, in words.
    pub(super) goal: String,
    /// The policy that decides.
    pub(super) policy: Arc<dyn Policy>,
    /// Which screenshots the policy sees.
    pub(super) pictures: ScreenshotMode,
    /// Display name of the phone ([`phone`]).
    pub(super) phone: String,
    /// How an unfinished run is resumed; `None` if it cannot be.
    pub(super) resume: Option<ResumeCommand>,
}

/// Where and how to run it.
pub(super) struct RunContext<'a> {
    /// The device id that calls use.
    pub(super) device: Option<String>,
    pub(super) budgets: Budgets,
    pub(super) confirm: ConfirmFlag,
    /// Whether to ask the user at the terminal.
    pub(super) asks: bool,
    pub(super) output: OutputFlags,
    pub(super) config: &'a Config,
    /// Other sinks for what happens.
    pub(super) watchers: Vec<Arc<dyn EventSink>>,
    /// Where else the user is asked.
    pub(super) ask_beside: Option<Arc<dyn AskBeside>>,
}

/// Runs a goal, shows its progress and returns the exit code.
pub(super) async fn run_goal(
    mut run: Run,
    request: RunRequest,
    context: RunContext<'_>,
) -> Result<u8, CliError> {
    let RunContext { device, budgets, confirm, asks, output, config, watchers, ask_beside } =
        context;
    let folder = run.folder();
    let limit = budgets.time.filter(|time| *time < FOREVER);
    // Drop the default week, so that neither the model nor the log reports it as remaining time.
    let budgets = Budgets { time: limit, ..budgets };
    let view = match (output.json, output.quiet) {
        (true, _) => OutputMode::Json(Arc::new(JsonLines)),
        (_, true) => OutputMode::Quiet,
        _ => OutputMode::Live(Arc::new(LiveView::new(config.colours, limit, asks, output.verbose))),
    };
    if let OutputMode::Live(live) = &view {
        live.begin(&request.goal, &[request.phone, request.policy.name(), folder.clone()]);
    }
    let mut call = Call::with_timeout(FOREVER).on(device);
    call.ask = if asks { terminal_prompt::person(view.pausable()) } else { Arc::new(NoUser) };
    if let Some(beside) = ask_beside {
        call.ask = beside.asking(call.ask);
    }
    // Nobody else acts between two steps.
    call.exclusive = true;
    let limits = budgets.clone();
    let options = run_setup::options(request.pictures, budgets, folder.clone());
    let live = view.live();
    let notice = move |text: &str| live.iter().for_each(|live| live.notice(text));
    let interrupts = tokio::spawn(interrupts(call.cancelled.clone(), notice));
    let memory = std::mem::take(&mut run.memory);
    let events = watchers.into_iter().fold(EventSinks::default(), EventSinks::with);
    let events = Arc::new(events.with(view.watch()));
    let agent = run.agent(request.policy, options, events).with_confirm_mode(confirm.mode());
    let ended = agent.run(&call, &request.goal, memory).await;
    interrupts.abort();
    let resume = request.resume.filter(|_| ended.status == AgentStatus::Continue);
    let resume = resume.map(|resume| resume.command(raised_limit(&ended, &limits)));
    print_result(&ended, &view, &run.recorder, resume)
}

/// The flag of the limit that ended the run, with twice its value: usage accumulates over resumes,
/// so that the same limit would end the run at once.
fn raised_limit(result: &RunResult, budgets: &Budgets) -> Option<(Limit, String)> {
    let limit = result.limit?;
    let value = match limit {
        Limit::Steps => (budgets.rounds.saturating_mul(2)).min(MAX_STEPS).to_string(),
        Limit::Time => format!("{}s", budgets.time?.as_secs().max(1).saturating_mul(2)),
        Limit::Tokens => budgets.tokens?.saturating_mul(2).to_string(),
        Limit::Cost => (budgets.dollars? * 2.0).to_string(),
    };
    Some((limit, value))
}

/// Display name of the phone: model, id, platform and version.
pub(super) async fn phone(
    session: &dyn Perform,
    device: Option<String>,
) -> Result<String, CliError> {
    let call = Call::with_timeout(Duration::from_secs(15)).on(device);
    let asked = request::DeviceInfo { max_age: Duration::ZERO };
    let InfoResult { identity, info, .. } = session.request(&call, asked).await?;
    let name = if info.model.is_empty() { identity.id.clone() } else { info.model };
    let id = if name == identity.id { String::new() } else { format!(" ({})", identity.id) };
    Ok(format!("{name}{id}, {} {}", identity.platform, info.os_version))
}

/// On the first shutdown signal, cancels the run after the current action; on the second, exits.
/// `notice` prints this to the user.
pub(super) async fn interrupts(cancelled: CancellationToken, notice: impl Fn(&str)) {
    let mut asked = ShutdownSignal::handled();
    asked.ending().await;
    cancelled.cancel();
    terminal_prompt::leave_question();
    notice("Stopping after this action. Press Ctrl-C again to stop now.");
    asked.ending().await;
    terminal_prompt::show_again();
    std::process::exit(INTERRUPTED.into());
}

/// Where events go.
enum OutputMode {
    Live(Arc<LiveView>),
    Json(Arc<JsonLines>),
    Quiet,
}

impl OutputMode {
    fn watch(&self) -> Arc<dyn EventSink> {
        match self {
            Self::Live(live) => Arc::clone(live) as Arc<dyn EventSink>,
            Self::Json(json) => Arc::clone(json) as Arc<dyn EventSink>,
            Self::Quiet => Arc::new(NoEvents),
        }
    }

    /// What draws on the terminal and has to make room for a question.
    fn pausable(&self) -> Option<Arc<dyn PauseOutput>> {
        Some(self.live()?.status_line())
    }

    fn live(&self) -> Option<Arc<LiveView>> {
        match self {
            Self::Live(live) => Some(Arc::clone(live)),
            _ => None,
        }
    }
}

/// Prints the result and returns the exit code.
fn print_result(
    result: &RunResult,
    view: &OutputMode,
    recorder: &Recorder,
    resume: Option<String>,
) -> Result<u8, CliError> {
    let folder = &recorder.folder().display().to_string();
    let interrupted = result.stopped == Some(StopReason::Cancelled);
    let program = config::program();
    let mut lines = vec![format!("Report: {program} trace report {}", shell_quote(folder))];
    if let Some(reason) = recorder.failure() {
        lines.insert(0, format!("The trace is incomplete: {}", super::style::sanitize(&reason)));
    }
    lines.extend(resume.iter().map(|command| format!("Resume with: {command}")));
    match view {
        OutputMode::Live(live) => live.end(result, &lines),
        OutputMode::Json(json) => json.end(result, Some(folder), resume.as_deref()),
        OutputMode::Quiet if result.status != AgentStatus::Finish => {
            eprintln!("thumbwire: {}", super::style::sanitize(&result.reason));
            if let Some(command) = resume {
                eprintln!("Resume with: {command}");
            }
        }
        OutputMode::Quiet => {}
    }
    if result.status == AgentStatus::Finish
        && !matches!(view, OutputMode::Json(_))
        && !result.reason.is_empty()
    {
        print(&format!("{}\n", plain(&result.reason)))?;
    }
    Ok(match (result.status, result.stopped) {
        (AgentStatus::Finish, _) => 0,
        _ if interrupted => INTERRUPTED,
        (_, Some(StopReason::Budget)) => 4,
        _ => 1,
    })
}

/// The answer with its line breaks, but without terminal control characters.
fn plain(text: &str) -> String {
    text.lines().map(super::style::sanitize).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_keeps_lines_but_no_control_characters() {
        assert_eq!(plain("one\n  two\x1b[2J"), "one\ntwo\\u{1b}[2J");
    }
}
