//! Each task is tried: its oracle succeeds, and who does nothing, claims success or does something else does not.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::oracle::carry_out;
use super::policy::Scripted;
use super::script::{Step, says};
use super::state::{State, judge};
use super::tasks::all;
use super::{Bench, Case, Manner, Plan, Task, Time, Who};
use crate::action::Call;
use crate::agent::{
    ControlRow, Decision, Mind, Sight, Status, Thinking, Undecided, Unwatched, Watch,
};

const SEEDS: std::ops::Range<u64> = 0..5;

/// Carries out the script of a case, and judges by the wants of that case or another.
async fn tried(seed: u64, done: &Case, wanted: &Case) -> Result<u32, String> {
    let bench = Bench::new(seed, &[], Time::Held, false);
    bench.lay(done);
    let before = State::of(&bench.phone);
    let went = carry_out(&*bench.perform(), &done.script).await?;
    judge(&before, &bench.phone, &went.answer, &wanted.wants)?;
    Ok(went.acts)
}

fn case(task: &Task, seed: u64) -> Case {
    Bench::phone_of(seed).world(|world| task.case(seed, world))
}

fn attempts(who: Who, tasks: Vec<Task>, seeds: Vec<u64>, jobs: usize) -> Vec<super::Score> {
    let plan = Plan { tasks, seeds, manners: vec![Manner::of(who)], jobs };
    plan.run(&|_, _| {}).unwrap().concat()
}

#[tokio::test(start_paused = true)]
async fn the_oracle_of_each_task_succeeds() {
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
fn there_are_forty_tasks_over_twelve_apps_a_fifth_of_them_across_apps() {
    let tasks = all();
    let names: BTreeSet<&str> = tasks.iter().map(|task| task.name).collect();
    assert_eq!(names.len(), tasks.len(), "two tasks share a name");
    assert!(tasks.len() >= 40, "{}", tasks.len());
    let apps: BTreeSet<&str> = tasks.iter().flat_map(|task| task.apps).copied().collect();
    assert!(apps.len() >= 12, "{apps:?}");
    let across = tasks.iter().filter(|task| task.apps.len() > 1).count();
    assert!(across * 5 >= tasks.len(), "{across} of {}", tasks.len());
}

#[test]
fn parameters_come_from_the_seed_and_from_nothing_else() {
    for task in all() {
        assert_eq!(case(&task, 3), case(&task, 3), "{}", task.name);
        let goals: BTreeSet<String> =
            (0..12).map(|seed| format!("{:?}", case(&task, seed))).collect();
        assert!(goals.len() > 1, "{} is always the same", task.name);
    }
}

#[test]
fn what_stands_on_the_phone_before_is_no_success() {
    for task in all() {
        for seed in SEEDS {
            let case = case(&task, seed);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let bench = Bench::new(seed, &[], Time::Held, false);
                bench.lay(&case);
                let before = State::of(&bench.phone);
                let judged = judge(&before, &bench.phone, "", &case.wants);
                assert!(judged.is_err(), "{} {seed}", task.name);
            });
        }
    }
}

/// The same task with other parameters is a near miss: another note deleted, another sum sent.
#[tokio::test(start_paused = true)]
async fn what_was_done_for_other_parameters_is_no_success() {
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
fn who_does_nothing_or_claims_success_reaches_nothing() {
    for who in [Who::Idle, Who::Claims] {
        let scores = attempts(who, all(), vec![1], 2);
        let reached: Vec<_> = scores.iter().filter(|score| score.success).collect();
        assert!(reached.is_empty(), "{reached:?}");
    }
}

/// Does what is to be done, and goes on for ever.
struct Restless(Scripted);

#[async_trait]
impl Mind for Restless {
    fn name(&self) -> String {
        "restless".into()
    }

    async fn decide(
        &self,
        sight: &Sight,
        call: &Call,
        watch: &dyn Watch,
    ) -> Result<Thinking, Undecided> {
        let thinking = self.0.decide(sight, call, watch).await?;
        let decision = Decision { status: Status::Continue, ..thinking.decision };
        Ok(Thinking { decision, ..thinking })
    }
}

#[test]
fn who_never_says_that_it_is_done_has_not_succeeded() {
    let task = all().into_iter().find(|task| task.name == "notes-add").unwrap();
    let script = case(&task, 1).script;
    let who = Who::Other(Arc::new(move || Arc::new(Restless(Scripted::new(script.clone())))));
    let [score] = attempts(who, vec![task], vec![1], 1).try_into().unwrap();
    assert!(!score.success, "{score:?}");
    assert!(score.why.contains("never said"), "{score:?}");
}

#[tokio::test]
async fn the_scripted_policy_sees_no_more_than_a_prompt_has_room_for() {
    let row = |id: usize, name: String| ControlRow {
        id: id.to_string(),
        name,
        kind: "Button".into(),
        rect: [0, 0, 100, 40],
        state: Vec::new(),
    };
    let many = (0..300).map(|id| row(id, format!("Row {id}, {}", "which is long ".repeat(4))));
    let last = row(300, "Last".into());
    for (rows, does) in
        [(vec![last.clone()], "click_control"), (many.chain([last]).collect(), "wait")]
    {
        let sight = Sight { current_controls: rows, ..Sight::default() };
        let mind = Scripted::new(vec![Step::Tap(says("Last"))]);
        let call = Call::within(Duration::from_secs(60));
        let thinking = mind.decide(&sight, &call, &Unwatched).await.unwrap();
        assert_eq!(thinking.decision.actions[0].function, does);
    }
}

#[test]
fn the_scripted_policy_reaches_what_the_oracle_does() {
    let scores = attempts(Who::Scripted, all(), vec![2], 2);
    let failed: Vec<_> = scores.iter().filter(|score| !score.success).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn the_same_seeds_give_the_same_scores_however_many_run_beside_each_other() {
    let some = |name: &str| ["notes-add", "shop-cart", "errands-alarm"].contains(&name);
    let tasks: Vec<Task> = all().into_iter().filter(|task| some(task.name)).collect();
    let faults = vec!["popup:p=0.2".to_owned(), "slow:p=0.1".to_owned()];
    let told = |jobs| {
        let manner = Manner { faults: faults.clone(), rounds: 9, ..Manner::of(Who::Scripted) };
        let plan = Plan { tasks: tasks.clone(), seeds: vec![4, 5], manners: vec![manner], jobs };
        let scores = plan.run(&|_, _| {}).unwrap().concat();
        assert!(scores.iter().any(|score| score.strikes > 0));
        serde_json::to_string(&scores).unwrap()
    };
    assert_eq!(told(1), told(3));
}
