//! Proves the flows of recorded runs of the tasks: a session becomes a flow, and that a proved one,
//! after which the task's own success conditions still hold.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use thumbwire_core::action::{Action, Call};
use thumbwire_core::event::NoEvents;
use thumbwire_core::trace::Trace;
use thumbwire_flow::{
    Attempt, Conditions, Flow, FlowRunner, FreshPhones, Options, Proof, Prover, proof_text, read,
};
use thumbwire_virtual_android::{Profile, Setup, VirtualPhone};

use super::to_flow::{Recorded, convert, for_each_task, prepared_phone, setting};
use crate::faults;
use crate::phone::EvalPhone;
use crate::state::{PhoneState, judge};
use crate::task::Task;
use crate::tasks;

/// Phones that are prepared for a task.
struct TaskPhones<'a> {
    task: &'a Task,
    seed: u64,
    answer: &'a str,
    /// Why the task's conditions did not hold after runs without faults that passed.
    broken_conditions: Mutex<Vec<String>>,
    /// Whether the last run under each condition passed, for those in which a fault struck.
    struck: Mutex<BTreeMap<(String, u32), bool>>,
}

impl FreshPhones for TaskPhones<'_> {
    fn run(
        &self,
        flow: Flow,
        options: Options,
        conditions: &Conditions,
    ) -> Result<Attempt, String> {
        let Conditions { fault, nth } = conditions;
        let rule = |fault: &String| faults::rule_of_run(fault, *nth);
        let rules: Vec<String> = fault.iter().map(rule).collect();
        let speeds = ["instant", "pixel", "old"].map(|name| Profile::named(name).unwrap());
        let profile = speeds[*nth as usize % speeds.len()];
        let phone = VirtualPhone::new(Setup { seed: self.seed, profile, ..Setup::default() });
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        let runtime = runtime.unwrap();
        let ran = runtime.block_on(async {
            let phone = EvalPhone::Android(phone);
            let (env, case) = prepared_phone(self.task, self.seed, phone, &rules);
            let before = PhoneState::of(&env.phone);
            let runner = FlowRunner {
                perform: env.perform(),
                options,
                events: Arc::new(NoEvents),
                goals: None,
                goldens: None,
                network: None,
            };
            let call = Call::with_timeout(Duration::from_secs(3_600));
            let report = runner.run(&call, vec![flow]).await.map_err(|error| error.to_string())?;
            let attempt = report.cases[0].attempts[0].clone();
            let judged = judge(&before, &env.phone, self.answer, &case.wants);
            if let Some(fault) = fault.clone().filter(|_| env.phone.injected_faults() > 0) {
                let passed = attempt.failed.is_none();
                self.struck.lock().unwrap().insert((fault, *nth), passed);
            }
            Ok::<_, String>((attempt, judged))
        });
        runtime.shutdown_background();
        let (attempt, judged) = ran?;
        if let (None, Err(reason), None) = (&attempt.failed, judged, fault) {
            self.broken_conditions.lock().unwrap().push(reason);
        }
        Ok(attempt)
    }
}

/// A proof of the flow that a task's recorded run became.
struct Proved {
    task: &'static str,
    proof: Proof,
    /// Whether the task wants an answer, which a flow does not give.
    is_question: bool,
    /// The acts of the task's oracle, and of the shortest flow.
    oracle_acts: u32,
    acts: u32,
    struck: BTreeMap<(String, u32), bool>,
    took: Duration,
    /// Why the task's conditions do not hold after the shortest flow.
    judged: Result<(), String>,
}

fn prove(task: &Task, seed: u64, runs: u32, faults: &[&str]) -> Proved {
    let began = Instant::now();
    let conversion = convert(task, seed, Recorded::Oracle, false).unwrap();
    let oracle_acts = conversion.oracle_acts;
    let (passwords, answer) = (conversion.passwords, conversion.answer);
    let flow = conversion.flow.unwrap();
    let phones = TaskPhones {
        task,
        seed,
        answer: &answer,
        broken_conditions: Mutex::default(),
        struck: Mutex::default(),
    };
    let read = |text: &str| read_flow(text, &passwords);
    let folder = tempfile::tempdir().unwrap();
    let prover = Prover {
        phones: &phones,
        read: &read,
        options: Options::default(),
        folder: folder.path(),
        runs,
        faults: faults.iter().map(|&fault| fault.to_owned()).collect(),
        max_runs: 2_000,
        parallel: 1,
        on_progress: &|_| (),
        is_over: &|| false,
    };
    let proof = prover.prove(&flow.text).unwrap_or_else(|error| panic!("{}: {error}", task.name));
    if let Some(out) = setting("PROVE_OUT") {
        let out = Path::new(&out);
        std::fs::write(out.join(format!("{}.yaml", task.name)), &flow.text).unwrap();
        std::fs::write(out.join(format!("{}.proved.yaml", task.name)), &proof.text).unwrap();
    }
    // Mutants may pass without the task's effect; the flow itself must not.
    phones.broken_conditions.lock().unwrap().clear();
    let shortest = read(&proof.text).unwrap();
    let recorded = Options { folder: Some(folder.path().join("shortest")), ..Options::default() };
    let attempt = phones.run(shortest, recorded, &Conditions::default()).unwrap();
    let acts = acts(&Trace::open(&attempt.trace.unwrap()).unwrap());
    let failed = attempt.failed.map(|failed| failed.what);
    let broken_conditions = phones.broken_conditions.into_inner().unwrap().pop();
    let judged = failed.or(broken_conditions).map_or(Ok(()), Err);
    let struck = phones.struck.into_inner().unwrap();
    let is_question = !answer.is_empty();
    let took = began.elapsed();
    Proved { task: task.name, proof, is_question, oracle_acts, acts, struck, took, judged }
}

/// What a run did on the phone, counted as the oracle does: a tap into a field, erasing it and the
/// text typed there are one act.
fn acts(trace: &Trace) -> u32 {
    let actions = trace.entries.iter().flat_map(|entry| &entry.actions);
    let acts = actions.filter(|action| {
        action.action.changes_screen()
            && !matches!(
                action.action,
                // Parts of the start and of `launchApp`.
                Action::Unlock | Action::Stop(_) | Action::SetPermission { .. }
            )
    });
    let acts: Vec<&Action> = acts.map(|action| &action.action).collect();
    let is_into_field =
        |pair: &[&Action]| matches!(pair, [Action::Touch(_) | Action::Type(_), Action::Type(_)]);
    let into_fields = acts.windows(2).filter(|pair| is_into_field(pair)).count();
    u32::try_from(acts.len() - into_fields).unwrap()
}

fn read_flow(text: &str, passwords: &BTreeMap<String, String>) -> Result<Flow, String> {
    let files = |_: &Path| Ok(text.to_owned());
    read("flow.yaml", passwords, &files)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

/// The figures, and what could not be proved.
fn summary(all: &[Proved]) -> String {
    let sum = |of: &dyn Fn(&Proof) -> usize| all.iter().map(|one| of(&one.proof)).sum::<usize>();
    let killed =
        |proof: &Proof| proof.mutants.iter().filter(|mutant| mutant.killed_by.is_some()).count();
    let mut text = format!(
        "{}: {} flows, {} proved; {} runs; mutants {} of {}, before {} of {}; commands {} of {}, acts {}; {} added, {} dropped\n",
        all.first().map_or("", |one| one.task),
        all.len(),
        all.iter().filter(|one| one.proof.is_proved()).count(),
        sum(&|proof| proof.runs),
        sum(&killed),
        sum(&|proof| proof.mutants.len()),
        sum(&|proof| proof.killed_before),
        sum(&|proof| proof.mutants_before),
        sum(&|proof| proof.steps),
        sum(&|proof| proof.steps_before),
        sum(&|proof| proof.acts),
        sum(&|proof| proof.added.len()),
        sum(&|proof| proof.dropped.len()),
    );
    let mut ratios: Vec<(f64, &str)> = all
        .iter()
        .map(|one| (f64::from(one.acts) / f64::from(one.oracle_acts.max(1)), one.task))
        .collect();
    ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (median, longest) = (ratios[ratios.len() / 2].0, ratios.last().unwrap());
    let acts: u32 = all.iter().map(|one| one.acts).sum();
    let oracle: u32 = all.iter().map(|one| one.oracle_acts).sum();
    let questions = all.iter().filter(|one| one.is_question).count();
    let took: Duration = all.iter().map(|one| one.took).sum();
    let _ = writeln!(
        text,
        "  {acts} acts, the oracle's {oracle}: median {median:.2}, max {:.2} ({}); {questions} questions; {took:.0?}",
        longest.0, longest.1,
    );
    for (ratio, task) in ratios.iter().filter(|(ratio, _)| *ratio > 1.2) {
        let _ = writeln!(text, "  {task} is {ratio:.2} times as long as its oracle");
    }
    let kinds = all.first().map(|one| one.proof.phones.as_slice()).unwrap_or_default();
    for (at, kind) in kinds.iter().enumerate() {
        let passed = sum(&|proof| proof.phones[at].passed);
        let of = sum(&|proof| proof.phones[at].of);
        let struck = all.iter().flat_map(|one| &one.struck);
        let struck = struck.filter(|((fault, _), _)| *fault == kind.phones);
        let (passes, fails): (Vec<bool>, Vec<bool>) =
            struck.map(|(_, passed)| *passed).partition(|passed| *passed);
        let of_struck = passes.len() + fails.len();
        let _ = writeln!(
            text,
            "  {}: {passed} of {of}; of those that a fault struck, {} of {of_struck}",
            kind.phones,
            passes.len(),
        );
    }
    for one in all {
        if let Err(reason) = &one.judged {
            let _ = writeln!(text, "  {} is not done: {reason}", one.task);
        }
        if !one.proof.is_proved() {
            let _ = writeln!(text, "{}\n{}", one.task, proof_text(&one.proof, true));
        }
    }
    text
}

/// One task. With `PROVE_TASKS`, `all` or those whose names begin so, on phones with each kind of
/// fault, `PROVE_RUNS` times each; `PROVE_OUT` is a folder for the flows.
#[test]
fn flows_of_recorded_runs_are_proved() {
    let Some(names) = setting("PROVE_TASKS") else {
        let task = tasks::all().into_iter().find(|task| task.name == "notes-delete").unwrap();
        let one = prove(&task, 0, 1, &["slow"]);
        let text = summary(std::slice::from_ref(&one));
        assert!(one.judged.is_ok() && one.proof.is_proved(), "{text}");
        insta::assert_snapshot!("notes-delete", one.proof.text);
        return;
    };
    let is_chosen =
        |task: &Task| names == "all" || names.split(',').any(|begin| task.name.starts_with(begin));
    let some: Vec<Task> = tasks::all().into_iter().filter(is_chosen).collect();
    let runs = setting("PROVE_RUNS").map_or(20, |runs| runs.parse().unwrap());
    let all = for_each_task(&some, 0..1, &|task, seed| {
        let one = prove(task, seed, runs, &faults::PASSING);
        println!("{}", summary(std::slice::from_ref(&one)));
        one
    });
    println!("{}", summary(&all));
    let sum = |of: &dyn Fn(&Proof) -> usize| all.iter().map(|one| of(&one.proof)).sum::<usize>();
    let killed = |proof: &Proof| proof.mutants.iter().filter(|one| one.killed_by.is_some()).count();
    assert!(all.iter().all(|one| one.judged.is_ok()));
    assert!(sum(&killed) * 100 >= sum(&|proof| proof.mutants.len()) * 95);
    for at in 0..=faults::PASSING.len() {
        let percent = if at == 0 { 100 } else { 95 };
        let (passed, of) =
            (sum(&|proof| proof.phones[at].passed), sum(&|proof| proof.phones[at].of));
        assert!(passed * 100 >= of * percent, "{at}: {passed} of {of}");
    }
}
