//! What a goal is carried out on: a session with its secrets, and for each run a folder with its story.
//!
//! Shared by `run`, by `trace replay`, by `serve` for the tool `mobile_run_task`, and by the demo. A run lies in `logs/run-TIME/` under `--out`, a
//! replay of one in `logs/replay-TIME/`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use super::carry::ConfirmFlag;
use super::mind::Thinker;
use super::{Ended, terminal};
use crate::action::{Call, Perform};
use crate::agent::task::{Carried, Carry, Wanted};
use crate::agent::{
    Agent, Budgets, Memory, Mind, Options, Pictures, Safeguards, Secrets, Status, Vault, Watch,
    check_secret_name,
};
use crate::config;
use crate::flow::Pursue;
use crate::session::Session;
use crate::trace::format::Line;
use crate::trace::{Recorder, Traced};

/// A session, and where its runs are kept.
pub(super) struct Stage {
    /// The session.
    pub(super) session: Arc<Session>,
    /// The secrets that can be typed.
    pub(super) vault: Arc<Vault>,
    /// The folder in which `logs/` lies.
    pub(super) out: PathBuf,
}

/// A run about to be carried out.
pub(super) struct Run {
    /// Where its story is told.
    pub(super) recorder: Arc<Recorder>,
    /// What it remembers already.
    pub(super) memory: Memory,
    perform: Arc<dyn Perform>,
    vault: Arc<Vault>,
    apps: Apps,
}

/// Who is asked what apps offer, where some app may be called.
pub(super) struct Apps(Option<Arc<dyn Perform>>);

impl Apps {
    /// The apps that this session may call.
    pub(super) fn of(session: &Arc<Session>) -> Self {
        Self(session.may_call_apps().then(|| Arc::clone(session) as Arc<dyn Perform>))
    }

    /// The agent, with what they offer among its functions.
    fn given_to(&self, agent: Agent) -> Agent {
        match &self.0 {
            Some(apps) => agent.using_apps(Arc::clone(apps)),
            None => agent,
        }
    }
}

impl Stage {
    /// A new run, in a folder of its own: `logs/KIND-TIME`.
    pub(super) fn begin(&self, kind: &str) -> Result<Run, String> {
        let recorder = begin(&self.out, kind)?;
        Ok(self.run(recorder, Memory::default()))
    }

    /// The run in that folder, taken up again; with its goal.
    pub(super) fn resume(&self, folder: &Path) -> Result<(Run, String), String> {
        let wrong =
            |why: &dyn std::fmt::Display| format!("cannot go on with {}: {why}", folder.display());
        let (recorder, lines) = Recorder::resume(folder).map_err(|error| wrong(&error))?;
        let goal = lines.iter().rev().find_map(|line| match line {
            Line::Goal(goal) => Some(goal.request.clone()),
            _ => None,
        });
        let goal = goal.ok_or_else(|| wrong(&"it carries out no goal"))?;
        let ended = lines.iter().rev().find_map(|line| match line {
            Line::Ended { status, .. } => Some(status.as_str()),
            _ => None,
        });
        if ended == Some("FINISH") {
            return Err(wrong(&"it is finished"));
        }
        Ok((self.run(recorder, Memory::of(&lines)), goal))
    }

    /// The session with its secrets hidden, of which no story is told.
    pub(super) fn hidden(&self) -> Secrets<Arc<Session>> {
        Secrets::new(Arc::clone(&self.session), Arc::clone(&self.vault))
    }

    fn run(&self, recorder: Recorder, memory: Memory) -> Run {
        let recorder = Arc::new(recorder);
        let perform = Arc::new(Traced::new(self.hidden(), Arc::clone(&recorder)));
        let (vault, apps) = (Arc::clone(&self.vault), Apps::of(&self.session));
        Run { recorder, memory, perform, vault, apps }
    }
}

impl Run {
    /// The folder of its story.
    pub(super) fn folder(&self) -> String {
        self.recorder.folder().display().to_string()
    }

    /// The agent that carries it out.
    pub(super) fn agent(
        &self,
        mind: Arc<dyn Mind>,
        options: Options,
        watch: Arc<dyn Watch>,
    ) -> Agent {
        let agent = Agent::new(mind, Arc::clone(&self.perform), options)
            .with_story(Arc::clone(&self.recorder))
            .watched_by(watch)
            .with_vault(Arc::clone(&self.vault));
        self.apps.given_to(agent)
    }
}

/// Pursues the goals that stand in flows.
pub(super) struct Pursuer {
    pub(super) thinker: Thinker,
    pub(super) budgets: Budgets,
    pub(super) vault: Arc<Vault>,
    pub(super) confirm: ConfirmFlag,
    pub(super) apps: Apps,
    /// Where the flows' stories lie, as it is told.
    pub(super) folder: String,
}

#[async_trait]
impl Pursue for Pursuer {
    async fn pursue(
        &self,
        perform: Arc<dyn Perform>,
        story: Option<Arc<Recorder>>,
        call: &Call,
        goal: &str,
    ) -> Result<(), String> {
        let folder = story.as_ref().map(|story| story.folder().display().to_string());
        let folder = folder.unwrap_or_else(|| self.folder.clone());
        let options = options(self.thinker.pictures(), self.budgets.clone(), folder);
        let agent = Agent::new(self.thinker.mind(None), perform, options)
            .with_vault(Arc::clone(&self.vault))
            .confirming(self.confirm.before(call.ask.is_there()));
        let agent = match story {
            Some(story) => agent.with_story(story),
            None => agent,
        };
        let ended = self.apps.given_to(agent).run(call, goal, Memory::default()).await;
        match ended.status {
            Status::Finish => Ok(()),
            _ => Err(ended.why),
        }
    }
}

/// A folder for the stories of flows, `logs/run-TIME`, which is not there yet.
pub(super) fn new_folder(out: &Path) -> PathBuf {
    let now = jiff::Zoned::now();
    let mut names = (1..100).map(|number| folder(out, "run", &now, number));
    names.find(|folder| !folder.exists()).unwrap_or_else(|| folder(out, "run", &now, 100))
}

fn folder(out: &Path, kind: &str, now: &jiff::Zoned, number: u32) -> PathBuf {
    let name = format!("{kind}-{}", now.strftime("%Y%m%d-%H%M%S"));
    let logs = match out.as_os_str() == "." {
        // As a person would write it.
        true => PathBuf::from("logs"),
        false => out.join("logs"),
    };
    match number {
        1 => logs.join(name),
        number => logs.join(format!("{name}-{number}")),
    }
}

/// A new folder `logs/KIND-TIME` with an empty story. Of two runs of one second the later has a number behind its time.
fn begin(out: &Path, kind: &str) -> Result<Recorder, String> {
    let now = jiff::Zoned::now();
    for number in 1..100 {
        let folder = folder(out, kind, &now, number);
        match Recorder::begin(&folder, now.timestamp().to_string()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(format!("cannot keep the run in {}: {error}", folder.display()));
            }
            Ok(recorder) => return Ok(recorder),
        }
    }
    Err(format!("cannot keep the run in {}: too many began this second", out.display()))
}

/// How a run is carried out in that folder.
pub(super) fn options(pictures: Pictures, budgets: Budgets, folder: String) -> Options {
    Options {
        pictures,
        budgets,
        safeguards: Safeguards::default(),
        log_path: folder,
        clock: || jiff::Zoned::now().datetime(),
    }
}

/// The secrets of these names: from the environment, else from the person at the terminal.
pub(super) fn secrets(names: &[String]) -> Result<Arc<Vault>, Ended> {
    let mut given = Vec::new();
    for name in names {
        check_secret_name(name).map_err(|why| Ended::usage(format!("--secret: {why}")))?;
        let variable = config::secret_variable(name);
        let value = config::secret(name)
            .or_else(|| terminal::unseen(&format!("Secret {name} (it does not show): ")));
        let value = value.ok_or_else(|| {
            Ended::usage(format!("--secret {name}: set the environment variable {variable}"))
        })?;
        given.push((name.clone(), value));
    }
    Vault::new(given).map(Arc::new).map_err(|why| Ended::usage(format!("--secret: {why}")))
}

/// Carries out the goals that MCP clients hand to `mobile_run_task`.
pub(super) struct Tasks {
    pub(super) stage: Stage,
    pub(super) thinker: Thinker,
    pub(super) budgets: Budgets,
    pub(super) confirm: ConfirmFlag,
}

#[async_trait]
impl Carry for Tasks {
    async fn carry_out(
        &self,
        goal: &str,
        wanted: Wanted,
        call: &Call,
        watch: Arc<dyn Watch>,
    ) -> Result<Carried, String> {
        let mut run = self.stage.begin("run")?;
        let mut budgets = self.budgets.clone();
        budgets.rounds = wanted.rounds.map_or(budgets.rounds, |rounds| rounds.min(budgets.rounds));
        budgets.time = wanted.time.into_iter().chain(budgets.time).min();
        let pictures = wanted.pictures.unwrap_or(self.thinker.pictures());
        let options = options(pictures, budgets, run.folder());
        let mind = self.thinker.mind(wanted.pictures);
        let memory = std::mem::take(&mut run.memory);
        let agent = run.agent(mind, options, watch);
        let agent = agent.confirming(self.confirm.before(call.ask.is_there()));
        let ended = agent.run(call, goal, memory).await;
        Ok(Carried { ended, trace: Some(run.folder()) })
    }
}
