//! Proves the flows of recorded runs of the tasks: a session becomes a flow, and that a proved one,
//! after which the task's own success conditions still hold.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thumbwire_core::action::Call;
use thumbwire_core::event::NoEvents;
use thumbwire_flow::{
    Attempt, Conditions, Flow, FlowRunner, FreshPhones, Options, Proof, Prover, proof_text, read,
};
use thumbwire_virtual_android::{Profile, Setup, VirtualPhone};

use super::to_flow::{Recorded, convert, prepared_phone};
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
    misjudged: Mutex<Vec<String>>,
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
            Ok::<_, String>((attempt, judged))
        });
        runtime.shutdown_background();
        let (attempt, judged) = ran?;
        if let (None, Err(reason), None) = (&attempt.failed, judged, fault) {
            self.misjudged.lock().unwrap().push(reason);
        }
        Ok(attempt)
    }
}

/// A proof of the flow that a task's recorded run became.
struct Proved {
    task: &'static str,
    proof: Proof,
    /// Why the task's conditions do not hold after the shortest flow.
    judged: Result<(), String>,
}

fn prove(task: &Task, seed: u64, runs: u32, faults: &[&str]) -> Proved {
    let conversion = convert(task, seed, Recorded::Oracle, false).unwrap();
    let (passwords, answer) = (conversion.passwords, conversion.answer);
    let flow = conversion.flow.unwrap();
    let phones = TaskPhones { task, seed, answer: &answer, misjudged: Mutex::default() };
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
    // Mutants may pass without the task's effect; the flow itself must not.
    phones.misjudged.lock().unwrap().clear();
    let shortest = read(&proof.text).unwrap();
    let attempt = phones.run(shortest, Options::default(), &Conditions::default()).unwrap();
    let failed = attempt.failed.map(|failed| failed.what);
    let misjudged = phones.misjudged.into_inner().unwrap().pop();
    let judged = failed.or(misjudged).map_or(Ok(()), Err);
    Proved { task: task.name, proof, judged }
}

fn read_flow(text: &str, passwords: &BTreeMap<String, String>) -> Result<Flow, String> {
    let files = |_: &Path| Ok(text.to_owned());
    read("flow.yaml", passwords, &files)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

/// Calls `on_proved` after each, in any order.
fn prove_all(
    tasks: &[Task],
    seeds: std::ops::Range<u64>,
    (runs, faults): (u32, &[&str]),
    on_proved: &(dyn Fn(&Proved) + Sync),
) -> Vec<Proved> {
    let all = tasks.iter().flat_map(|task| seeds.clone().map(move |seed| (*task, seed)));
    let jobs = Mutex::new(all.collect::<Vec<_>>().into_iter());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some((task, seed)) = jobs.lock().unwrap().next() else { return };
                    let one = prove(&task, seed, runs, faults);
                    on_proved(&one);
                    done.lock().unwrap().push(one);
                }
            });
        }
    });
    done.into_inner().unwrap()
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
    let kinds = all.first().map(|one| one.proof.phones.as_slice()).unwrap_or_default();
    for (at, kind) in kinds.iter().enumerate() {
        let passed = sum(&|proof| proof.phones[at].passed);
        let of = sum(&|proof| proof.phones[at].of);
        let _ = writeln!(text, "  {}: {passed} of {of}", kind.phones);
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

#[test]
fn flows_of_recorded_runs_are_proved() {
    let task = tasks::all().into_iter().find(|task| task.name == "notes-delete").unwrap();
    let all = prove_all(&[task], 0..1, (1, &["slow"]), &|_| ());
    let text = summary(&all);
    assert!(all.iter().all(|one| one.judged.is_ok() && one.proof.is_proved()), "{text}");
    insta::assert_snapshot!("notes-delete", all[0].proof.text);
}

/// `PROVE_RUNS` is the number of runs without faults and with each kind; with `PROVE_EVERY=6` only
/// every sixth task is taken.
#[test]
#[ignore = "an hour: all tasks, with each kind of fault"]
fn flows_of_all_tasks_are_proved() {
    let number = |name: &str, otherwise: usize| {
        std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
    };
    let some: Vec<Task> = tasks::all().into_iter().step_by(number("PROVE_EVERY", 1)).collect();
    let runs = u32::try_from(number("PROVE_RUNS", 20)).unwrap();
    let faults = [&faults::PASSING[..], &["popup"]].concat();
    let print = |one: &Proved| println!("{}", summary(std::slice::from_ref(one)));
    let all = prove_all(&some, 0..1, (runs, &faults), &print);
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
