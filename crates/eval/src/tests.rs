//! Tests of each task: its oracle succeeds; doing nothing, claiming success or doing something else
//! does not.

mod prompt_cost;
pub(crate) mod prompt_only;
mod prompt_text;
mod prove;
mod skills;
mod to_flow;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use async_trait::async_trait;

use self::prompt_only::PromptOnlyModel;
use super::oracle::run_script;
use super::policy::ScriptedPolicy;
use super::script::{ScriptStep, ScriptTarget, with_text};
use super::state::{PhoneState, judge};
use super::tasks::all;
use super::{
    Category, Difficulty, EvalPhone, LONG, Plan, PolicyChoice, Task, TaskEnv, TaskInstance,
    TimeMode, TrialOptions,
};
use thumbwire_agent::model::{Model, ModelError, ModelResponse, OnText};
use thumbwire_agent::{
    AgentStatus, ControlRow, Decision, ModelPolicy, Observation, Policy, PolicyError, PolicyOutput,
    Prompt, ScreenshotMode,
};
use thumbwire_core::action::Call;
use thumbwire_core::event::{EventSink, NoEvents};
use thumbwire_core::snapshot::NumberedLine;
use thumbwire_virtual_phone::Platform;

const SEEDS: std::ops::Range<u64> = 0..3;

/// Runs the script of one case and judges by the success conditions of the same or another case.
async fn tried(seed: u64, done: &TaskInstance, wanted: &TaskInstance) -> Result<u32, String> {
    let env = prepared(seed, done);
    let before = PhoneState::of(&env.phone);
    let result = run_script(&*env.perform(), &done.script).await?;
    judge(&before, &env.phone, &result.answer, &wanted.wants)?;
    Ok(result.acts)
}

fn case(task: &Task, seed: u64) -> TaskInstance {
    EvalPhone::new(Platform::Android, seed).world(|world| task.case(seed, world))
}

/// The scores of all attempts of a plan.
fn run_all(plan: &Plan) -> Vec<super::Score> {
    plan.run(&Arc::default(), &|_, _| true, &|_, _| {}).unwrap().concat()
}

fn attempts(
    policy: PolicyChoice,
    tasks: Vec<Task>,
    seeds: Vec<u64>,
    jobs: usize,
) -> Vec<super::Score> {
    let plan = Plan { tasks, seeds, options: vec![TrialOptions::of(policy)], jobs };
    run_all(&plan)
}

/// One run of a task's script.
struct OracleRun {
    task: Task,
    seed: u64,
    /// The oracle's actions, or why it failed.
    acts: Result<u32, String>,
    /// How the same run is judged if one thing more was changed.
    with_a_change_more: Result<(), String>,
}

/// Runs `with` for each of these in two threads, each time on its own runtime with a paused clock.
fn in_parallel<T: Sync, R: Send>(of: &[T], with: impl AsyncFn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::default();
    let work = || {
        while let Some((at, one)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, of.get(at)?)))
        {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().start_paused(true).build().unwrap();
            let result = runtime.block_on(with(one));
            results.lock().unwrap().push((at, result));
        }
    };
    thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The oracle's runs of all tasks, made once for all tests.
fn oracle_runs() -> &'static [OracleRun] {
    static RUNS: OnceLock<Vec<OracleRun>> = OnceLock::new();
    RUNS.get_or_init(|| {
        let tasks = all().into_iter();
        let all: Vec<(Task, u64)> =
            tasks.flat_map(|task| SEEDS.map(move |seed| (task, seed))).collect();
        in_parallel(&all, async |&(task, seed)| {
            let case = case(&task, seed);
            let env = prepared(seed, &case);
            let before = PhoneState::of(&env.phone);
            let result = run_script(&*env.perform(), &case.script).await;
            let judged = |answer: &str| judge(&before, &env.phone, answer, &case.wants);
            let acts = result.as_ref().map_err(String::clone);
            let acts = acts.and_then(|result| judged(&result.answer).map(|()| result.acts));
            env.phone.world(|world| {
                assert!(world.set_preference("com.android.notes", "note/77/title", Some("More")));
            });
            let with_a_change_more =
                judged(&result.map(|result| result.answer).unwrap_or_default());
            OracleRun { task, seed, acts, with_a_change_more }
        })
    })
}

/// A phone in the initial state of a case.
fn prepared(seed: u64, case: &TaskInstance) -> TaskEnv {
    let phone = EvalPhone::new(Platform::Android, seed);
    let env = TaskEnv::new(phone, &[], TimeMode::Paused, false);
    env.apply(case);
    env
}

/// The median of the oracle's actions.
fn length(task: &Task) -> u32 {
    let runs = oracle_runs().iter().filter(|run| run.task.name == task.name);
    let mut acts: Vec<u32> = runs.filter_map(|run| run.acts.clone().ok()).collect();
    acts.sort_unstable();
    acts.get(acts.len() / 2).copied().unwrap_or(0)
}

#[test]
fn every_tasks_oracle_succeeds() {
    let failed: Vec<String> = oracle_runs()
        .iter()
        .filter_map(|run| {
            let reason = run.acts.as_ref().err()?;
            Some(format!("{} {}: {reason}", run.task.name, run.seed))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_change_more_than_asked_is_not_a_success() {
    let runs = oracle_runs().iter().filter(|run| run.with_a_change_more.is_ok());
    let taken: Vec<&str> = runs.map(|run| run.task.name).collect();
    assert!(taken.is_empty(), "{taken:?}");
}

#[test]
fn difficulty_is_by_the_oracles_actions() {
    let wrong: Vec<String> = all()
        .iter()
        .filter(|task| task.difficulty != Difficulty::of(length(task)))
        .map(|task| format!("{}: {} actions", task.name, length(task)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// AndroidWorld has 116 tasks.
#[test]
fn suite_has_as_many_tasks_as_androidworld_in_all_its_categories() {
    let tasks = all();
    let names: BTreeSet<&str> = tasks.iter().map(|task| task.name).collect();
    assert_eq!(names.len(), tasks.len(), "two tasks share a name");
    assert!(tasks.len() >= 116, "{}", tasks.len());
    let apps: BTreeSet<&str> = tasks.iter().flat_map(|task| task.apps).copied().collect();
    assert_eq!(apps.len(), 14, "{apps:?}");
    let across = tasks.iter().filter(|task| task.apps.len() > 1).count();
    assert!(across >= 15, "{across}");
    let long = tasks.iter().filter(|task| length(task) >= LONG).count();
    assert!(long >= 10, "{long}");
    let mut count: BTreeMap<Category, usize> = BTreeMap::new();
    for task in &tasks {
        for category in task.categories(&case(task, 0)) {
            *count.entry(category).or_default() += 1;
        }
    }
    // All but `long`, which depends on the attempt.
    assert_eq!(count.len(), 14, "{count:?}");
    assert!(count[&Category::InformationRetrieval] >= 20, "{count:?}");
    assert!(count[&Category::Composite] >= 15, "{count:?}");
    let of = |level: Difficulty| tasks.iter().filter(|task| task.difficulty == level).count();
    let easy = of(Difficulty::Easy);
    assert!(easy * 3 <= tasks.len() * 2, "{easy} of {} tasks are easy", tasks.len());
    // The page has these numbers.
    let ios = tasks.iter().filter(|task| task.runs_on(Platform::Ios)).count();
    count.insert(Category::Long, long);
    let mut lines = vec![format!("runs {} tasks on virtual phones, {ios} of them", tasks.len())];
    for (level, actions) in [
        (Difficulty::Easy, "up to 5"),
        (Difficulty::Medium, "6 to 12"),
        (Difficulty::Hard, "13 or more"),
    ] {
        lines.push(format!("| {} | {actions} | {} |", level.name(), of(level)));
    }
    lines.extend(
        count.iter().map(|(category, count)| format!("| `{}` | {count} |", category.name())),
    );
    let page = include_str!("../../../docs/eval.md");
    let missing: Vec<&String> = lines.iter().filter(|line| !page.contains(*line)).collect();
    assert!(missing.is_empty(), "docs/eval.md lacks {missing:#?}");
}

/// What scripts name although the goal does not say it so: texts that people know or work out. Task
/// and text.
const WORKED_OUT: [(&str, &str); 13] = [
    // The Arabic title of the story that the goal is about.
    ("akhbar-", ""),
    ("across-news-", ""),
    // Digits of a number picker, and what a timer shows on the way.
    ("clock-alarm-", ""),
    ("clock-three-alarms", ""),
    ("clock-timer", "00h"),
    ("clock-timer-extend", " timer"),
    // A checkbox that some goals leave as it is.
    ("browser-form", "Send me the newsletter"),
    // "The first six months".
    ("files-months", " 20"),
    // The state of what is to be turned.
    ("launcher-quick-setting", ", O"),
    // The platform's words for "only while I use the app".
    ("maps-locate", ""),
    // The weekday of a date.
    ("across-message-to-event", " March"),
    ("calendar-", " March"),
    ("settings-", " seconds"),
];

/// The texts that a step names.
fn texts_of(step: &ScriptStep) -> Vec<String> {
    fn named(target: &ScriptTarget) -> Vec<String> {
        match target {
            ScriptTarget::Text(text) => vec![text.clone()],
            ScriptTarget::SameRow(one, other) | ScriptTarget::Or(one, other) => {
                [named(one), named(other)].concat()
            }
            ScriptTarget::Pattern(_) | ScriptTarget::Field(_) => Vec::new(),
        }
    }
    match step {
        ScriptStep::Tap(target)
        | ScriptStep::LongPress(target)
        | ScriptStep::ScrollTo(target, _)
        | ScriptStep::SetSwitch(target, _) => named(target),
        ScriptStep::Type(_, text) => text.lines().map(str::to_owned).collect(),
        ScriptStep::TapUntil { shows, .. } => named(shows),
        _ => Vec::new(),
    }
}

/// Otherwise a policy that gets the script would be told what it should find out.
#[test]
fn scripts_act_by_nothing_but_the_goal_and_the_screen() {
    let mut found = Vec::new();
    for task in all() {
        let texts = |seed| -> BTreeSet<String> {
            case(&task, seed).script.iter().flat_map(texts_of).collect()
        };
        let (meant, goal) = (texts(0), case(&task, 0).goal);
        for text in &meant {
            // What is the same with other seeds is the app's own.
            let varies = (1..6).any(|seed| !texts(seed).contains(text));
            let is_given = goal.contains(text.as_str()) || text.contains('{');
            let known = WORKED_OUT
                .iter()
                .any(|(name, part)| task.name.starts_with(name) && text.contains(part));
            if varies && !is_given && !known {
                found.push(format!("{}: {text:?}", task.name));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Steps that can be left out: what they enter is there already, or what they lead to is reached
/// without them. Task and part of the step.
const NOT_NEEDED: [(&str, &str); 10] = [
    // The form starts on the day that was tapped before.
    ("", "Later day"),
    // A search whose result is on the screen without it.
    ("contacts-whose-number", "Type"),
    ("contacts-delete-two", "Type"),
    ("across-number-to-note", "Type"),
    ("launcher-search", "Type"),
    ("settings-search", "Type"),
    ("settings-evening", "Type"),
    // The way back at the end.
    ("", "Navigate up"),
    ("", "Back"),
    ("akhbar-save-two", "Tap"),
];

/// What a task enters, sets and answers is checked, and so is its last act.
#[test]
fn a_script_without_one_of_its_entries_or_without_its_last_act_fails() {
    let mut shorter = Vec::new();
    for task in all() {
        let whole = case(&task, 0);
        let acts = |step: &ScriptStep| matches!(step, ScriptStep::Tap(_) | ScriptStep::Press(_));
        let last = whole.script.iter().rposition(acts);
        for (at, step) in whole.script.iter().enumerate() {
            let enters = matches!(
                step,
                ScriptStep::Type(..)
                    | ScriptStep::SetSwitch(..)
                    | ScriptStep::TapUntil { .. }
                    | ScriptStep::LongPress(_)
                    | ScriptStep::Answer(_)
            );
            // What is tapped to be read may be told before.
            let is_last =
                last == Some(at) && !matches!(whole.script.last(), Some(ScriptStep::Answer(_)));
            if enters || is_last || *step == ScriptStep::Tap(with_text("Cash on delivery")) {
                let mut script = whole.script.clone();
                script.remove(at);
                shorter.push((task, step.clone(), TaskInstance { script, ..whole.clone() }));
            }
        }
    }
    assert!(shorter.len() > 2 * all().len(), "{}", shorter.len());
    let result = in_parallel(&shorter, async |(_, _, case)| tried(0, case, case).await);
    let taken: Vec<String> = shorter
        .iter()
        .zip(result)
        .filter(|(_, result)| result.is_ok())
        .map(|((task, step, _), _)| format!("{}: {step:?}", task.name))
        .filter(|taken| {
            !NOT_NEEDED.iter().any(|(name, step)| taken.starts_with(name) && taken.contains(step))
        })
        .collect();
    assert!(taken.is_empty(), "{}", taken.join("\n"));
}

/// Through the driver for iPhones and the virtual iPhone's WebDriverAgent.
#[test]
fn oracle_of_each_task_for_an_iphone_succeeds_there() {
    let tasks: Vec<Task> = all().into_iter().filter(|task| task.runs_on(Platform::Ios)).collect();
    assert!(tasks.len() >= 60, "{}", tasks.len());
    // A failed oracle fails the plan.
    let options =
        TrialOptions { platform: Platform::Ios, ..TrialOptions::of(PolicyChoice::AlwaysFinish) };
    let plan = Plan { tasks, seeds: vec![1], options: vec![options], jobs: 2 };
    let scores = run_all(&plan);
    assert!(scores.iter().all(|score| !score.success));
}

#[test]
fn scripted_policy_succeeds_on_an_iphone() {
    let some =
        ["notes-retitle", "calendar-move", "contacts-delete", "shop-order", "clock-alarm-add"];
    let tasks = all().into_iter().filter(|task| some.contains(&task.name)).collect();
    let options =
        TrialOptions { platform: Platform::Ios, ..TrialOptions::of(PolicyChoice::Scripted) };
    let plan = Plan { tasks, seeds: vec![3], options: vec![options], jobs: 2 };
    let scores = run_all(&plan);
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
                let env = TaskEnv::new(phone, &[], TimeMode::Paused, false);
                env.apply(&case);
                let before = PhoneState::of(&env.phone);
                let judged = judge(&before, &env.phone, "", &case.wants);
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
    for policy in [PolicyChoice::Idle, PolicyChoice::AlwaysFinish] {
        let scores = attempts(policy, all(), vec![1], 2);
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
    let policy = PolicyChoice::Other(Arc::new(move || {
        Arc::new(Restless(ScriptedPolicy::new(script.clone())))
    }));
    let [score] = attempts(policy, vec![task], vec![1], 1).try_into().unwrap();
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
        let policy = ScriptedPolicy::new(vec![ScriptStep::Tap(with_text("Middle"))]);
        let call = Call::with_timeout(Duration::from_secs(60));
        let thinking = policy.decide(&observation, &call, &NoEvents).await.unwrap();
        assert_eq!(thinking.decision.actions[0].function, does);
    }
}

#[test]
fn scripted_policy_matches_the_oracle() {
    let scores = attempts(PolicyChoice::Scripted, all(), vec![2], 2);
    let failed: Vec<_> = scores.iter().filter(|score| !score.success).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

/// Through the prompt, a model's answer as text, and its parsing.
#[test]
fn prompt_only_policy_solves_95_percent() {
    let scores = attempts(PolicyChoice::PromptOnly, all(), vec![0], 2);
    let failed: Vec<String> = scores
        .iter()
        .filter(|score| !score.success)
        .map(|score| {
            format!("{} {}: {} ({:?})", score.task, score.seed, score.reason, score.status)
        })
        .collect();
    println!("{}", failed.join("\n"));
    assert!(failed.len() * 20 <= scores.len(), "{} of {} failed", failed.len(), scores.len());
    assert!(scores.iter().all(|score| score.usage.calls >= score.steps));
}

/// A model that talks instead of answering every third time, until it is asked again.
struct SlippingModel {
    inner: PromptOnlyModel,
    answers: AtomicUsize,
}

#[async_trait]
impl Model for SlippingModel {
    fn name(&self) -> String {
        self.inner.name()
    }

    async fn complete(
        &self,
        prompt: &Prompt,
        shape: Option<&serde_json::Value>,
        call: &Call,
        on_text: &OnText<'_>,
    ) -> Result<ModelResponse, ModelError> {
        let response = self.inner.complete(prompt, shape, call, on_text).await?;
        let is_repeated = prompt.turns.len() > 1;
        let slips = !is_repeated && self.answers.fetch_add(1, Ordering::Relaxed) % 3 == 2;
        let text = "That looks good. I go on with the next step.".to_owned();
        Ok(if slips { ModelResponse { text, ..response } } else { response })
    }
}

/// An unusable answer is returned to the model, with what is wrong with it.
#[test]
fn prompt_only_policy_succeeds_although_answers_are_unusable() {
    let some = ["notes-add", "errands-code", "shop-price"];
    for task in all().into_iter().filter(|task| some.contains(&task.name)) {
        let script = case(&task, 2).script;
        let policy = PolicyChoice::Other(Arc::new(move || {
            let inner = PromptOnlyModel::new(script.clone());
            let model = SlippingModel { inner, answers: AtomicUsize::new(0) };
            Arc::new(ModelPolicy::new(Arc::new(model)).with_pictures(ScreenshotMode::None))
        }));
        let [score] = attempts(policy, vec![task], vec![2], 1).try_into().unwrap();
        assert!(score.success, "{score:?}");
        // Each step and the judgement ask once; the rest is repair.
        assert!(score.usage.calls > score.steps + 1, "{score:?}");
    }
}

#[test]
fn scores_depend_on_seeds_not_on_parallelism() {
    let some = |name: &str| ["notes-add", "shop-cart", "errands-alarm"].contains(&name);
    let tasks: Vec<Task> = all().into_iter().filter(|task| some(task.name)).collect();
    let faults = vec!["popup:p=0.2".to_owned(), "slow:p=0.1".to_owned()];
    let out = |jobs| {
        let options = TrialOptions {
            faults: faults.clone(),
            rounds: 9,
            ..TrialOptions::of(PolicyChoice::Scripted)
        };
        let plan = Plan { tasks: tasks.clone(), seeds: vec![4, 5], options: vec![options], jobs };
        let mut scores = run_all(&plan);
        assert!(scores.iter().any(|score| score.injected_faults > 0));
        scores.iter_mut().for_each(|score| score.elapsed_ms = 0);
        serde_json::to_string(&scores).unwrap()
    };
    assert_eq!(out(1), out(3));
}
