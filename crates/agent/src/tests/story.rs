//! What a run leaves: its trace, its memory items, and the memory of a resumed run.

use super::*;
use thumbwire_core::event::ObservedPerform;
use thumbwire_core::trace::Recorder;
use thumbwire_core::trace::format::TraceRecord;

/// The steps in a trace.
fn rounds(lines: &[TraceRecord]) -> Vec<thumbwire_core::trace::format::AgentStep> {
    let round = |line: &TraceRecord| match line {
        TraceRecord::AgentStep(round) => Some((**round).clone()),
        _ => None,
    };
    lines.iter().filter_map(round).collect()
}

#[tokio::test(start_paused = true)]
async fn resumed_run_has_the_same_memory() {
    let decisions = || {
        let launch = doing("launch_app", json!({ "package_name": "com.google.android.apps.maps" }));
        let note = Decision { remember: vec!["the code is 42".into()], ..does([launch]) };
        [note, does([doing("fly", json!({}))]), does([click("1")]), finishes()]
    };
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let agent = |recorder: &Arc<Recorder>, policy: &Arc<Script>, rounds: u32| {
        let traced = ObservedPerform::new(Phone::new(), Arc::clone(recorder));
        let mut options = options();
        options.budgets.rounds = rounds;
        Agent::new(policy.clone(), Arc::new(traced), options).with_trace(Arc::clone(recorder))
    };
    let started = "2025-11-14T10:30:45Z";
    let whole = Script::of(decisions());
    let recorder = Arc::new(Recorder::begin(folders[0].path(), started.into()).unwrap());
    let ended = agent(&recorder, &whole, 50).run(&an_hour(), REQUEST, Memory::default()).await;
    assert_eq!(ended.status, AgentStatus::Finish);

    let before = Script::of(decisions());
    let recorder = Arc::new(Recorder::begin(folders[1].path(), started.into()).unwrap());
    let ended = agent(&recorder, &before, 2).run(&an_hour(), REQUEST, Memory::default()).await;
    assert_eq!((ended.status, ended.stopped), (AgentStatus::Continue, Some(StopReason::Budget)));
    drop(recorder);
    let after = Script::of(decisions().into_iter().skip(2));
    let (recorder, lines) = Recorder::resume(folders[1].path()).unwrap();
    let memory = Memory::of(&lines);
    assert_eq!((memory.rounds(), memory.spent().calls), (2, 2));
    let recorder = Arc::new(recorder);
    let ended = agent(&recorder, &after, 50).run(&an_hour(), REQUEST, memory).await;
    assert_eq!((ended.status, ended.rounds, ended.spent.calls), (AgentStatus::Finish, 4, 4));

    let (whole, after) = (whole.seen(), after.seen());
    for (one, other) in whole[2..].iter().zip(&after) {
        assert_eq!(one.round, other.round);
        assert_eq!(one.previous_plan, other.previous_plan);
        assert_eq!(one.last_success_actions, other.last_success_actions);
        assert_eq!(one.feedback, other.feedback);
        assert_eq!(one.blackboard, other.blackboard);
        assert_eq!(one.left, other.left);
    }
    assert_eq!(after[0].blackboard, ["the code is 42"]);
    assert_eq!(after[0].last_success_actions.len(), 1);
    // Memory is derived from the trace alone, so both traces give the same memory, except for the
    // time.
    let [one, other] = folders.map(|folder| {
        let lines = thumbwire_core::trace::read(folder.path()).unwrap();
        rounds(&lines)
    });
    let out = |step: &thumbwire_core::trace::format::AgentStep| {
        (step.step, step.actions.clone(), step.status.clone())
    };
    assert_eq!(one.iter().map(out).collect::<Vec<_>>(), other.iter().map(out).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn the_story_has_the_goal_each_round_with_its_files_and_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Arc::new(Recorder::begin(folder.path(), "2025-11-14T10:30:45Z".into()).unwrap());
    let traced = Arc::new(ObservedPerform::new(Phone::new(), Arc::clone(&recorder)));
    let policy = Script::of([does([click("1")]), finishes()]);
    // The safeguards' snapshots are in the trace too; their own tests cover them.
    let mut options = options();
    options.safeguards.verification = false;
    let agent = Agent::new(policy, traced, options).with_trace(recorder);
    agent.run(&an_hour(), REQUEST, Memory::default()).await;
    let lines = thumbwire_core::trace::read(folder.path()).unwrap();
    assert!(matches!(&lines[1], TraceRecord::Goal(goal) if goal.request == REQUEST));
    assert!(
        matches!(lines.last(), Some(TraceRecord::GoalEnd { status, .. }) if status == "FINISH")
    );
    let mut files: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("_step1"))
        .collect();
    files.sort();
    let round = &rounds(&lines)[0];
    let out = serde_json::to_string_pretty(round).unwrap();
    let read = |file: &str| std::fs::read_to_string(folder.path().join(file)).unwrap();
    let prompt = read("prompt_step1.json");
    let items = read("memory.jsonl");
    assert_eq!(items.lines().count(), 2, "one memory item for each step");
    let item: Value = serde_json::from_str(items.lines().next().unwrap()).unwrap();
    let item = serde_json::to_string_pretty(&item).unwrap();
    insta::assert_snapshot!(format!("{}\n\n{out}\n\n{prompt}\n\n{item}", files.join("\n")));
}

#[test]
fn what_a_policy_can_do() {
    let functions = functions::Functions::new(&[], false);
    let out = |function: &Function| {
        let arguments = function.schema.get("properties").and_then(Value::as_object);
        let arguments: Vec<&str> = arguments.unwrap().keys().map(String::as_str).collect();
        let effect = if function.acts { "acts" } else { "reads" };
        format!("{}({}) {effect}", function.name, arguments.join(", "))
    };
    let functions: Vec<String> = functions.all().iter().map(out).collect();
    insta::assert_snapshot!(functions.join("\n"));
}

/// The arguments of the UFO MobileAgent strategy's own example, and the duration of a swipe.
#[tokio::test(start_paused = true)]
async fn id_of_an_app_and_duration_of_a_swipe_reach_the_phone_and_the_memory() {
    let launch = |id: &str| {
        let package = "com.google.android.apps.maps";
        doing("launch_app", json!({ "package_name": package, "id": id }))
    };
    let swipe = json!({ "start_x": 50, "start_y": 200, "end_x": 50, "end_y": 40, "duration": 700 });
    let calls = [launch("1"), launch("9"), launch("2"), doing("swipe", swipe)];
    let policy = Script::of(calls.map(|call| does([call])).into_iter().chain([finishes()]));
    let phone = Arc::new(Phone::new());
    run(Arc::clone(&phone), Arc::clone(&policy)).await;
    let last = policy.seen().pop().unwrap();
    let done: Vec<String> = last
        .last_success_actions
        .iter()
        .map(|done| format!("{} {}", Value::from(done.call.arguments.clone()), done.message))
        .collect();
    assert_eq!(
        done,
        [
            r#"{"package_name":"com.google.android.apps.maps","id":"2"} Launched com.google.android.apps.maps"#,
            r#"{"start_x":50,"start_y":200,"end_x":50,"end_y":40,"duration":700} Done: swipe(50,200)->(50,40) in 700ms"#,
        ]
    );
    let failed: Vec<&String> =
        last.history.iter().map(|past| &past.message).filter(|it| it.contains("id ")).collect();
    assert_eq!(
        failed,
        [
            "id 1 is com.android.chrome, not com.google.android.apps.maps: nothing was launched",
            "no installed app has the id 9: nothing was launched"
        ]
    );
}
