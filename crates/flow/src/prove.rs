//! Proves a flow: runs it on phones with faults and on mutated apps, drops the commands that prove
//! nothing, and adds the checks that are missing.
//!
//! Start with [`Prover::prove`]. What is wrong with an app is a `Mutation` of `probe`; `mutant`
//! derives them from a run of the flow, `document` edits its file, `proof` is the result. Not here:
//! where fresh phones come from, which is [`FreshPhones`].

mod document;
mod mutant;
mod proof;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use thumbwire_base::lock;
use thumbwire_core::action::Action;
use thumbwire_core::trace::Trace;

use super::plan::{Assertion, Condition, Flow, FlowStep, StepKind};
use super::probe::{Mutation, Probe};
use super::report::{Attempt, FailureKind};
use super::run::Options;
use document::{CommandId, Document, Position};
use mutant::{Mutant, Truth};
use proof::{Added, CommandOfFlow, MutantResult, RunsResult};
pub use proof::{Proof, proof_text};

/// What a phone for one run is like.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Conditions {
    /// The kind of fault that it has.
    pub fault: Option<String>,
    /// The number of the run, from 0: by it phones differ in speed, and in when faults strike.
    pub nth: u32,
}

/// Phones that are as they were before the flow's first run.
pub trait FreshPhones: Sync {
    /// Runs a flow once, with these options.
    ///
    /// # Errors
    /// Why it could not run.
    fn run(&self, flow: Flow, options: Options, conditions: &Conditions)
    -> Result<Attempt, String>;
}

/// Proves flows.
pub struct Prover<'a> {
    /// The phones.
    pub phones: &'a dyn FreshPhones,
    /// Reads a version of the flow's file.
    pub read: &'a (dyn Fn(&str) -> Result<Flow, String> + Sync),
    /// What the flow may do.
    pub options: Options,
    /// A folder for the trace of one run.
    pub folder: &'a Path,
    /// How often it runs without faults, and with each kind.
    pub runs: u32,
    /// The kinds of faults.
    pub faults: Vec<String>,
    /// The number of runs after which nothing more is tried.
    pub max_runs: usize,
    /// How many phones run at once.
    pub parallel: usize,
    /// Tells what comes next.
    pub on_progress: &'a (dyn Fn(String) + Sync),
    /// Whether the time is up: then no other version is tried, either.
    pub is_over: &'a (dyn Fn() -> bool + Sync),
}

/// Why nothing can be proved of a flow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// It cannot be run, or changed.
    #[error("{0}")]
    Unfit(String),
    /// It fails as it is.
    #[error("the flow fails without faults, so nothing can be proved of it: {0}")]
    Fails(String),
}

/// How a run ended.
#[derive(Debug, Clone)]
enum RunEnd {
    Passed,
    /// The command that failed, if one did, and why.
    Failed(Option<CommandId>, String),
    /// It did not run, or its phone was lost.
    Unknown(String),
}

/// One run: a version of the flow, the phone, and what is wrong with the app.
type Job<'a> = (&'a Document, Conditions, Option<&'a Mutant>);

/// What a run's end depends on: the flow's text, the phone, and what is wrong with the app.
type RunKey = (String, Conditions, Option<Mutation>);

/// Which command failed on each mutant; `None` for those on which the flow passes.
type Kills = Vec<Option<Option<CommandId>>>;

/// A proof under way.
struct Proving<'a> {
    prover: &'a Prover<'a>,
    /// The ends of all runs so far.
    known: Mutex<HashMap<RunKey, RunEnd>>,
    runs: AtomicUsize,
    original: &'a Document,
    truth: Truth,
    mutants: Vec<Mutant>,
    /// On which of some phones the flow passed as it was: a shorter one must, too.
    passed: Vec<Conditions>,
}

/// The kind of fault by which an alert of the system covers the app.
const ALERT_FAULT: &str = "popup";

/// The line of a header against that.
const DISMISS_ALERTS: &str = "autoDismissAlerts: true";

/// The speeds that phones have.
const SPEEDS: u32 = 3;

/// A version of the flow.
struct Draft {
    document: Document,
    kills: Kills,
    added: Vec<Added>,
    dropped: Vec<CommandOfFlow>,
}

impl Prover<'_> {
    /// Proves a flow: its file's text.
    ///
    /// # Errors
    /// Why nothing can be proved of it.
    pub fn prove(&self, text: &str) -> Result<Proof, ProofError> {
        let unfit = ProofError::Unfit;
        let flow = (self.read)(text).map_err(unfit)?;
        let file = flow.file.clone();
        let original = Document::read(text, &flow).map_err(unfit)?;
        // A look after each command shows what it changed.
        let screenshot_step = json!({ "takeScreenshot": "proof" });
        let watched = original.commands().into_iter().fold(original.clone(), |document, id| {
            let extended = document.with(&screenshot_step, Position::After(id));
            extended.map_or(document, |(extended, _)| extended)
        });
        let probe = Probe::new(None);
        let options = Options {
            probe: Some(Arc::clone(&probe)),
            folder: Some(self.folder.to_owned()),
            ..self.options.clone()
        };
        let flow = (self.read)(&watched.text()).map_err(unfit)?;
        let first = self.phones.run(flow, options, &<_>::default()).map_err(unfit)?;
        if let Some(failed) = first.failed {
            let step = failed.step.map(|(step, _)| format!("{step}: ")).unwrap_or_default();
            return Err(ProofError::Fails(format!("{step}{}", failed.what)));
        }
        let trace = Trace::open(&first.trace.unwrap_or_default());
        let trace = trace.map_err(|error| unfit(format!("no trace of its run: {error}")))?;
        let truth = Truth::of(&watched, probe.steps(), &trace);
        let mutants = truth.mutants();
        let mut proving = Proving {
            prover: self,
            known: Mutex::default(),
            runs: AtomicUsize::new(1),
            original: &original,
            truth,
            mutants,
            passed: Vec::new(),
        };
        Ok(Proof { file, ..proving.prove() })
    }
}

impl Proving<'_> {
    fn prove(&mut self) -> Proof {
        let Prover { runs, faults, max_runs, on_progress, .. } = self.prover;
        on_progress(format!(
            "Runs: one on each mutant ({}), at most {max_runs} to find a shorter flow that proves \
             more; then {runs} of that without faults, and {runs} with each kind of fault ({})",
            self.mutants.len(),
            faults.len(),
        ));
        let mut added = Vec::new();
        let document = self.dismissing_alerts(self.original.clone(), &mut added);
        let document = self.scrolling(document, &mut added);
        let jobs = self.all_runs(&document).into_iter().filter(|(_, conditions, _)| {
            conditions.nth == 0 || (conditions.fault.is_none() && conditions.nth < SPEEDS)
        });
        let jobs: Vec<Job<'_>> = jobs.collect();
        let ends = self.run_all(&jobs);
        let passed = jobs.iter().zip(&ends).filter(|(_, end)| end.passed());
        self.passed = passed.map(|((_, conditions, _), _)| conditions.clone()).collect();
        let kills = self.kills(&document, &self.mutants_of(&document));
        let killed_before = kills.iter().flatten().count();
        let mut draft = Draft { document, kills, added, dropped: Vec::new() };
        self.drop_centering(&mut draft);
        self.add_checks(&mut draft);
        // After the checks, which notice when a tap that moved nothing gave a field the focus.
        let unnoticed = self.mutants.iter().zip(&draft.kills).filter(|(_, kill)| kill.is_none());
        let idle = unnoticed.filter(|(mutant, _)| self.is_idle(mutant));
        let idle = idle.map(|(mutant, _)| mutant.command).collect();
        self.drop_commands(&mut draft, idle);
        let checks = self.checks(&draft.document);
        self.drop_commands(&mut draft, checks);
        let is_cut_short = !self.may_run(1);
        self.proof(draft, killed_before, is_cut_short)
    }

    /// The runs that the result is about.
    fn proof(&self, draft: Draft, killed_before: usize, is_cut_short: bool) -> Proof {
        let Draft { document, mut added, dropped, .. } = draft;
        let ends = self.run_all(&self.all_runs(&document));
        let names =
            std::iter::once("no faults").chain(self.prover.faults.iter().map(String::as_str));
        let count = usize::try_from(self.prover.runs.max(1)).unwrap_or(1);
        let phones = names.zip(ends.chunks(count)).map(|(name, ends)| RunsResult {
            phones: name.to_owned(),
            passed: ends.iter().filter(|end| end.passed()).count(),
            of: ends.len(),
            reason: ends.iter().find_map(RunEnd::reason),
        });
        let phones = phones.collect();
        let mut left = self.mutants_of(&document);
        let kills = self.kills(&document, &left);
        let is_idle = |at: &usize| kills[*at].is_none() && self.is_idle(&self.mutants[*at]);
        let idle = left.iter().copied().filter(is_idle).map(|at| self.mutants[at].command);
        let idle = idle.map(|id| self.original.describe(id).into()).collect();
        left.retain(|at| !is_idle(at));
        let mutants = left.iter().map(|&at| MutantResult {
            step: self.original.describe(self.mutants[at].command).0,
            mutant: self.mutants[at].describe(self.original),
            killed_by: kills[at].map(|by| {
                by.map_or_else(|| "the end of the case".into(), |id| document.describe(id).1)
            }),
        });
        let mutants = mutants.collect();
        let commands = document.commands();
        added.retain(|one| one.id.is_none_or(|id| commands.contains(&id)));
        Proof {
            file: String::new(),
            runs: self.runs.load(Ordering::SeqCst),
            phones,
            killed_before,
            mutants_before: self.mutants.len(),
            mutants,
            steps_before: self.original.commands().len(),
            steps: commands.len(),
            acts: commands.iter().filter(|id| self.truth.acts(**id)).count(),
            added,
            dropped,
            idle,
            is_cut_short,
            text: document.text(),
        }
    }

    /// The mutants of the commands that this version still has.
    fn mutants_of(&self, document: &Document) -> Vec<usize> {
        let is_left = |at: &usize| self.mutants[*at].mutation(document).is_some();
        (0..self.mutants.len()).filter(is_left).collect()
    }

    /// Whether the command without effect had none that can be seen.
    fn is_idle(&self, mutant: &Mutant) -> bool {
        mutant.is_without_effect() && self.truth.is_idle(mutant.command)
    }

    fn may_run(&self, more: usize) -> bool {
        let runs = self.runs.load(Ordering::SeqCst) + more;
        runs <= self.prover.max_runs && !(self.prover.is_over)()
    }

    /// Runs what was not run before, several at once.
    fn run_all(&self, jobs: &[Job<'_>]) -> Vec<RunEnd> {
        let ends = Mutex::new(vec![RunEnd::Unknown("it did not run".into()); jobs.len()]);
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..self.prover.parallel.clamp(1, jobs.len().max(1)) {
                scope.spawn(|| {
                    while let (at, Some(job)) = {
                        let at = next.fetch_add(1, Ordering::SeqCst);
                        (at, jobs.get(at))
                    } {
                        let end = self.run(job);
                        lock(&ends)[at] = end;
                    }
                });
            }
        });
        ends.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn run(&self, (document, conditions, mutant): &Job<'_>) -> RunEnd {
        let mutation = mutant.and_then(|mutant| mutant.mutation(document));
        let key = (document.text(), conditions.clone(), mutation.clone());
        if let Some(end) = lock(&self.known).get(&key) {
            return end.clone();
        }
        self.runs.fetch_add(1, Ordering::SeqCst);
        let probe = Probe::new(mutation);
        let options = Options { probe: Some(Arc::clone(&probe)), ..self.prover.options.clone() };
        let ran = (self.prover.read)(&key.0)
            .and_then(|flow| self.prover.phones.run(flow, options, conditions));
        let end = match ran.map(|attempt| attempt.failed) {
            Err(reason) => RunEnd::Unknown(reason),
            Ok(None) => RunEnd::Passed,
            Ok(Some(failed)) if failed.kind == FailureKind::Phone => RunEnd::Unknown(failed.what),
            Ok(Some(failed)) => {
                let steps = probe.steps();
                let last = steps.iter().rev().find_map(|step| document.at(step.line));
                let (step, at) = failed.step.unzip();
                let step = step.map(|step| format!("{step}: ")).unwrap_or_default();
                RunEnd::Failed(at.and(last), format!("{step}{}", failed.what))
            }
        };
        lock(&self.known).insert(key, end.clone());
        end
    }

    fn runs<'b>(&self, document: &'b Document, fault: Option<&String>) -> Vec<Job<'b>> {
        let conditions = |nth| Conditions { fault: fault.cloned(), nth };
        (0..self.prover.runs).map(|nth| (document, conditions(nth), None)).collect()
    }

    /// The runs without faults, then those with each kind.
    fn all_runs<'b>(&self, document: &'b Document) -> Vec<Job<'b>> {
        let faults = std::iter::once(None).chain(self.prover.faults.iter().map(Some));
        faults.flat_map(|fault| self.runs(document, fault)).collect()
    }

    /// Runs the flow on these mutants.
    fn kills(&self, document: &Document, mutants: &[usize]) -> Kills {
        let job = |&at: &usize| (document, Conditions::default(), Some(&self.mutants[at]));
        let jobs: Vec<Job<'_>> = mutants.iter().map(job).collect();
        let mut kills: Kills = vec![None; self.mutants.len()];
        for (&at, end) in mutants.iter().zip(self.run_all(&jobs)) {
            if let RunEnd::Failed(command, _) = end {
                kills[at] = Some(command);
            }
        }
        kills
    }

    /// Whether a version passes where the flow passed as it was.
    fn passes(&self, document: &Document) -> bool {
        let job = |conditions: &Conditions| (document, conditions.clone(), None);
        let jobs: Vec<Job<'_>> = self.passed.iter().map(job).collect();
        // Most versions that fail do so at once. How many run at once does not change the result.
        self.may_run(jobs.len())
            && jobs.chunks(2).all(|some| self.run_all(some).iter().all(RunEnd::passed))
    }

    /// Drops commands from the end, as long as the flow passes as before and fails on all mutants
    /// as before.
    fn drop_commands(&self, draft: &mut Draft, commands: BTreeSet<CommandId>) {
        let order = draft.document.commands().into_iter().rev();
        for id in order.filter(|id| commands.contains(id)) {
            let shorter = draft.document.without(id);
            if self.try_shorter(draft, shorter, id) && self.original.lines(id).is_some() {
                draft.dropped.push(self.original.describe(id).into());
            }
        }
    }

    /// Scrolls no further than until an element is visible, where that is enough.
    fn drop_centering(&self, draft: &mut Draft) {
        for id in draft.document.commands() {
            let Some(shorter) = draft.document.without_centering(id) else { continue };
            if self.try_shorter(draft, shorter, id) && self.original.lines(id).is_some() {
                let (step, _) = self.original.describe(id);
                draft.dropped.push(CommandOfFlow { step, text: document::CENTERING.into() });
            }
        }
    }

    /// Takes a version that does less for a command, if it passes as before and fails on all
    /// mutants as before. Returns whether it does.
    fn try_shorter(&self, draft: &mut Draft, shorter: Document, id: CommandId) -> bool {
        let is_check = !self.truth.acts(id);
        let left = self.mutants_of(&shorter);
        // Up to a check that fails, nothing depends on the checks after it.
        let depends = |at: &usize| draft.kills[*at].is_some_and(|by| !is_check || by == Some(id));
        let again: Vec<usize> = left.iter().copied().filter(depends).collect();
        if !self.may_run(again.len()) {
            return false;
        }
        let now = self.kills(&shorter, &again);
        if again.iter().any(|&at| now[at].is_none()) || !self.passes(&shorter) {
            return false;
        }
        for (at, kill) in draft.kills.iter_mut().enumerate() {
            *kill = if left.contains(&at) { now[at].or(*kill) } else { None };
        }
        draft.document = shorter;
        true
    }

    /// The commands that only check or wait.
    fn checks(&self, document: &Document) -> BTreeSet<CommandId> {
        let Ok(flow) = (self.prover.read)(&document.text()) else { return BTreeSet::new() };
        let steps = flow.cases.iter().flat_map(|case| &case.steps);
        let (checks, others): (Vec<&FlowStep>, Vec<&FlowStep>) =
            steps.partition(|step| is_check(step));
        let commands = |steps: Vec<&FlowStep>| -> BTreeSet<CommandId> {
            steps.into_iter().filter_map(|step| document.at(step.at.line)).collect()
        };
        &commands(checks) - &commands(others)
    }

    /// Adds checks for what nobody notices.
    fn add_checks(&self, draft: &mut Draft) {
        for at in self.mutants_of(&draft.document) {
            let mutant = &self.mutants[at];
            for (position, check) in &mutant.checks {
                if draft.kills[at].is_some() || self.is_idle(mutant) || !self.may_run(1) {
                    break;
                }
                let Some((extended, id)) = draft.document.with(check, *position) else { continue };
                if self.kills(&extended, &[at])[at].is_none() || !self.passes(&extended) {
                    continue;
                }
                let mut left = self.mutants_of(&extended);
                left.retain(|&one| draft.kills[one].is_none());
                let now = self.kills(&extended, &left);
                for (kill, now) in draft.kills.iter_mut().zip(now) {
                    *kill = kill.or(now);
                }
                let reason = format!("else nobody notices when {}", mutant.describe(self.original));
                draft.added.push(Added { id: Some(id), text: extended.describe(id).1, reason });
                draft.document = extended;
            }
        }
    }

    /// The flow with the key that dismisses alerts, if it fails without on a phone that has them.
    fn dismissing_alerts(&self, document: Document, added: &mut Vec<Added>) -> Document {
        let fault = self.prover.faults.iter().find(|fault| **fault == *ALERT_FAULT);
        let jobs = fault.map(|fault| self.runs(&document, Some(fault))).unwrap_or_default();
        let failed = jobs.iter().find(|job| !self.run(job).passed());
        let Some((_, conditions, _)) = failed else { return document };
        let extended = document.with_header(DISMISS_ALERTS);
        if !self.run(&(&extended, conditions.clone(), None)).passed() {
            return document;
        }
        let reason = "else it fails when an alert of the system covers the app".into();
        added.push(Added { id: None, text: DISMISS_ALERTS.into(), reason });
        extended
    }

    /// The flow with scrolling to elements that faults move off the screen, and time for it.
    fn scrolling(&self, mut document: Document, added: &mut Vec<Added>) -> Document {
        /// A banner moves the elements of all screens.
        const MAX_SCROLLS: usize = 5;
        let some = 0..self.prover.runs.min(SPEEDS);
        let faults = self.prover.faults.iter().map(|fault| Some(fault.clone()));
        let some = faults.flat_map(|fault| some.clone().map(move |nth| (fault.clone(), nth)));
        for (fault, nth) in some {
            let conditions = Conditions { fault, nth };
            let mut extended = document.clone();
            let mut scrolls = Vec::new();
            let passes = loop {
                let command = match self.run(&(&extended, conditions.clone(), None)) {
                    RunEnd::Passed => break !scrolls.is_empty(),
                    RunEnd::Failed(Some(command), _) => command,
                    RunEnd::Failed(None, _) | RunEnd::Unknown(_) => break false,
                };
                let (_, text) = extended.describe(command);
                let (longer, id, reason) = if let Some(longer) = extended.with_more_time(command) {
                    (longer, command, "else it runs out of time on a slow phone".into())
                } else if let Some((longer, id)) = extended.scrolling_to(command) {
                    (longer, id, format!("else `{text}` fails when something moves it away"))
                } else {
                    break false;
                };
                if scrolls.len() == MAX_SCROLLS {
                    break false;
                }
                scrolls.push((id, reason));
                extended = longer;
            };
            if passes && self.run(&(&extended, <_>::default(), None)).passed() {
                added.extend(scrolls.into_iter().map(|(id, reason)| Added {
                    id: Some(id),
                    text: extended.describe(id).1,
                    reason,
                }));
                document = extended;
            }
        }
        document
    }
}

impl RunEnd {
    fn passed(&self) -> bool {
        matches!(self, Self::Passed)
    }

    fn reason(&self) -> Option<String> {
        match self {
            Self::Passed => None,
            Self::Failed(_, reason) | Self::Unknown(reason) => Some(reason.clone()),
        }
    }
}

/// Whether a step only checks or waits. What must not be on the screen stays checked: no mutant
/// shows too much.
fn is_check(step: &FlowStep) -> bool {
    match &step.kind {
        StepKind::Expect(expected) => !matches!(expected, Assertion::NotVisible(_)),
        StepKind::Condition(condition) => matches!(condition, Condition::Visible(_)),
        StepKind::Act(Action::Wait(_)) | StepKind::WaitUntilIdle(_) | StepKind::HideKeyboard => {
            true
        }
        StepKind::When { conditions, steps } => conditions.is_empty() && steps.iter().all(is_check),
        _ => false,
    }
}
