//! Tests of each task: its oracle succeeds; doing nothing, claiming success or doing something else does not.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::oracle::run_script;
use super::policy::ScriptedPolicy;
use super::script::{ScriptStep, with_text};
use super::state::{PhoneState, judge};
use super::summary::Summary;
use super::tasks::all;
use super::{EvalPhone, Plan, PolicyChoice, Task, TaskEnv, TaskInstance, TimeMode, TrialOptions};
use thumbwire_agent::{
    AgentStatus, ControlRow, Decision, Observation, Policy, PolicyError, PolicyOutput,
};
use thumbwire_core::action::Call;
use thumbwire_core::event::{EventSink, NoEvents};
use thumbwire_core::snapshot::NumberedLine;
use thumbwire_virtual_phone::Platform;

const SEEDS: std::ops::Range<u64> = 0..5;

/// Runs the script of one case and judges by the success conditions of the same or another case.
async fn tried(seed: u64, done: &TaskInstance, wanted: &TaskInstance) -> Result<u32, String> {
    let phone = EvalPhone::new(Platform::Android, seed);
    let bench = TaskEnv::new(phone, &[], TimeMode::Paused, false);
    bench.apply(done);
    let before = PhoneState::of(&bench.phone);
    let went = run_script(&*bench.perform(), &done.script).await?;
    judge(&before, &bench.phone, &went.answer, &wanted.wants)?;
    Ok(went.acts)
}

fn case(task: &Task, seed: u64) -> TaskInstance {
    EvalPhone::new(Platform::Android, seed).world(|world| task.case(seed, world))
}

fn attempts(
    who: PolicyChoice,
    tasks: Vec<Task>,
    seeds: Vec<u64>,
    jobs: usize,
) -> Vec<super::Score> {
    let plan = Plan { tasks, seeds, manners: vec![TrialOptions::of(who)], jobs };
    plan.run(&|_, _| {}).unwrap().concat()
}

#[tokio::test(start_paused = true)]
async fn every_tasks_oracle_succeeds() {
    let mut failed = Vec::new();
    for task in all() {
        for seed in SEEDS {
            let case = case(&task, seed);
            if let Err(why) = tried(seed, &case, &case).await {
                failed.push(format!("{} {seed}: {why}", task.name));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn suite_has_forty_tasks_in_twelve_apps_with_a_fifth_across() {
    let tasks = all();
    let names: BTreeSet<&str> = tasks.iter().map(|task| task.name).collect();
    assert_eq!(names.len(), tasks.len(), "two tasks share a name");
    assert!(tasks.len() >= 40, "{}", tasks.len());
    let apps: BTreeSet<&str> = tasks.iter().flat_map(|task| task.apps).copied().collect();
    assert!(apps.len() >= 12, "{apps:?}");
    let across = tasks.iter().filter(|task| task.apps.len() > 1).count();
    assert!(across * 5 >= tasks.len(), "{across} of {}", tasks.len());
}

/// Through the driver for iPhones and the virtual iPhone's WebDriverAgent.
#[test]
fn oracle_of_each_task_for_an_iphone_succeeds_there() {
    let tasks: Vec<Task> = all().into_iter().filter(|task| task.runs_on(Platform::Ios)).collect();
    assert!(tasks.len() >= 60, "{}", tasks.len());
    // A failed oracle fails the plan.
    let manner =
        TrialOptions { platform: Platform::Ios, ..TrialOptions::of(PolicyChoice::AlwaysFinish) };
    let plan = Plan { tasks, seeds: vec![1], manners: vec![manner], jobs: 2 };
    let scores = plan.run(&|_, _| {}).unwrap().concat();
    assert!(scores.iter().all(|score| !score.success));
}

#[test]
fn scripted_policy_succeeds_on_an_iphone() {
    let some =
        ["notes-retitle", "calendar-move", "contacts-delete", "shop-order", "clock-alarm-add"];
    let tasks = all().into_iter().filter(|task| some.contains(&task.name)).collect();
    let manner =
        TrialOptions { platform: Platform::Ios, ..TrialOptions::of(PolicyChoice::Scripted) };
    let plan = Plan { tasks, seeds: vec![3], manners: vec![manner], jobs: 2 };
    let scores = plan.run(&|_, _| {}).unwrap().concat();
    let failed: Vec<_> = scores.iter().filter(|score| !score.success).collect();
    assert!(failed.is_empty() && scores.len() == some.len(), "{failed:?}");
}

#[test]
fn parameters_depend_only_on_the_seed() {
    for task in all() {
        assert_eq!(case(&task, 3), case(&task, 3), "{}", task.name);
        let goals: BTreeSet<String> =
            (0..12).map(|seed| format!("{:?}", case(&task, seed))).collect();
        assert!(goals.len() > 1, "{} is always the same", task.name);
    }
}

#[test]
fn initial_state_is_not_a_success() {
    for task in all() {
        for seed in SEEDS {
            let case = case(&task, seed);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let phone = EvalPhone::new(Platform::Android, seed);
                let bench = TaskEnv::new(phone, &[], TimeMode::Paused, false);
                bench.apply(&case);
                let before = PhoneState::of(&bench.phone);
                let judged = judge(&before, &bench.phone, "", &case.wants);
                assert!(judged.is_err(), "{} {seed}", task.name);
            });
        }
    }
}

/// The same task with other parameters is a near miss: another note deleted, another amount sent.
#[tokio::test(start_paused = true)]
async fn result_for_other_parameters_is_not_a_success() {
    let mut taken = Vec::new();
    for task in all() {
        let meant = case(&task, 0);
        let others = (1..40).map(|seed| case(&task, seed));
        let mut others = others.filter(|other| other.wants != meant.wants);
        let Some(other) = others.next() else { continue };
        if tried(0, &meant, &other).await.is_ok() {
            taken.push(task.name);
        }
    }
    assert!(taken.is_empty(), "{taken:?}");
}

#[test]
fn idle_and_always_finish_policies_fail() {
    for who in [PolicyChoice::Idle, PolicyChoice::AlwaysFinish] {
        let scores = attempts(who, all(), vec![1], 2);
        let reached: Vec<_> = scores.iter().filter(|score| score.success).collect();
        assert!(reached.is_empty(), "{reached:?}");
    }
}

/// Completes the task, but never stops.
struct Restless(ScriptedPolicy);

#[async_trait]
impl Policy for Restless {
    fn name(&self) -> String {
        "restless".into()
    }

    async fn decide(
        &self,
        observation: &Observation,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        let thinking = self.0.decide(observation, call, watch).await?;
        let decision = Decision { status: AgentStatus::Continue, ..thinking.decision };
        Ok(PolicyOutput { decision, ..thinking })
    }
}

#[test]
fn policy_that_never_finishes_does_not_succeed() {
    let task = all().into_iter().find(|task| task.name == "notes-add").unwrap();
    let script = case(&task, 1).script;
    let who = PolicyChoice::Other(Arc::new(move || {
        Arc::new(Restless(ScriptedPolicy::new(script.clone())))
    }));
    let [score] = attempts(who, vec![task], vec![1], 1).try_into().unwrap();
    assert!(!score.success, "{score:?}");
    assert!(score.reason.contains("never reported"), "{score:?}");
}

#[tokio::test]
async fn scripted_policy_sees_no_more_than_a_prompt_holds() {
    let row = |id: usize, name: String| ControlRow {
        id: (id + 1).to_string(),
        name,
        kind: "Button".into(),
        rect: [0, 0, 100, 40],
        state: Vec::new(),
    };
    // Of a long list, the middle is left out.
    let long = |id: usize| row(id, format!("Row {id}, {}", "which is long ".repeat(4)));
    let many = (0..150).map(long).chain([row(150, "Middle".into())]).chain((151..301).map(long));
    for (rows, does) in [(vec![row(0, "Middle".into())], "click_control"), (many.collect(), "wait")]
    {
        let line = |row: &ControlRow| NumberedLine {
            text: format!("button {:?}", row.name),
            number: row.id.parse().ok(),
            ..NumberedLine::default()
        };
        let screen = rows.iter().map(line).collect();
        let observation = Observation { current_controls: rows, screen, ..Observation::default() };
        let mind = ScriptedPolicy::new(vec![ScriptStep::Tap(with_text("Middle"))]);
        let call = Call::with_timeout(Duration::from_secs(60));
        let thinking = mind.decide(&observation, &call, &NoEvents).await.unwrap();
        assert_eq!(thinking.decision.actions[0].function, does);
    }
}

#[test]
fn scripted_policy_matches_the_oracle() {
    let scores = attempts(PolicyChoice::Scripted, all(), vec![2], 2);
    let failed: Vec<_> = scores.iter().filter(|score| !score.success).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn scores_depend_on_seeds_not_on_parallelism() {
    let some = |name: &str| ["notes-add", "shop-cart", "errands-alarm"].contains(&name);
    let tasks: Vec<Task> = all().into_iter().filter(|task| some(task.name)).collect();
    let faults = vec!["popup:p=0.2".to_owned(), "slow:p=0.1".to_owned()];
    let out = |jobs| {
        let manner = TrialOptions {
            faults: faults.clone(),
            rounds: 9,
            ..TrialOptions::of(PolicyChoice::Scripted)
        };
        let plan = Plan { tasks: tasks.clone(), seeds: vec![4, 5], manners: vec![manner], jobs };
        let scores = plan.run(&|_, _| {}).unwrap().concat();
        assert!(scores.iter().any(|score| score.injected_faults > 0));
        serde_json::to_string(&scores).unwrap()
    };
    assert_eq!(out(1), out(3));
}

/// With places, packages and JSON, a step took 2,426 tokens of text on the same screens, 1,919 of them in the system part.
#[test]
fn prompt_of_a_step_stays_within_its_budget() {
    const MOST: f64 = 2_426.0 / 2.0;
    let count = |text: &str| bpe_openai::o200k_base().count(text) as u64;
    let manner = TrialOptions { count, ..TrialOptions::of(PolicyChoice::Scripted) };
    let plan = Plan { tasks: all(), seeds: vec![2], manners: vec![manner], jobs: 2 };
    let scores = plan.run(&|_, _| {}).unwrap().concat();
    let prompt = Summary::of(&scores).prompt;
    println!(
        "{} steps: {} tokens of system part and {} of messages a step",
        prompt.rounds,
        prompt.system / prompt.rounds,
        prompt.messages / prompt.rounds,
    );
    assert!(prompt.per_round() <= MOST, "{prompt:?}");
}
