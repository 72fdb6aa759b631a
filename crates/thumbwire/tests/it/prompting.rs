//! Prompts for a model on the virtual phone, and how its replies are handled: the model policy with
//! scripted replies.

use std::sync::Arc;

use serde_json::{Value, json};
use thumbwire_agent::model::ScriptedModel;
use thumbwire_agent::{
    Agent, AgentStatus, ContentPart, Knowledge, Memory, ModelPolicy, Observation, Policy,
    RunResult, ScreenshotMode,
};
use thumbwire_core::event::NoEvents;
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::agent::{Script, an_hour, options, says, session, step};

/// Runs the model policy with these replies.
async fn run(
    prompter: impl FnOnce(ModelPolicy) -> ModelPolicy,
    replies: Value,
    request: &str,
) -> (RunResult, VirtualPhone) {
    let model = ScriptedModel::read("replies", &replies.to_string(), None).unwrap();
    let mind = prompter(ModelPolicy::new(Arc::new(model)));
    let phone = VirtualPhone::new(Setup::default());
    let agent = Agent::new(Arc::new(mind), Arc::new(session(&phone)), options());
    (agent.run(&an_hour(), request, Memory::default()).await, phone)
}

const GOAL: &str = "Search for restaurants on Maps";

#[tokio::test(start_paused = true)]
async fn goal_is_reached_despite_malformed_replies() {
    let fenced = "Maps has to be opened first.\n```json\n{\"thought\": \"Open it\", \"action\": {\"function\": \"launch_app\", \
                  \"arguments\": {\"package_name\": \"com.google.android.apps.maps\"}}}\n```\nThat is all.";
    let search = json!({ "control_id": "2", "control_name": "Search here" });
    let typing = json!({ "text": "restaurants", "control_id": "2", "control_name": "Search here" });
    let aloud = "<think>Are those {\"all\": true}?</think>{\"action\": null, \"status\": \"FINISH\", \"result\": \"18 places\"}";
    let replies = [
        (json!(fenced), json!([GOAL, "\"Maps\""])),
        // There is no such function: the model is asked again.
        (
            json!({ "action": { "function": "tap_control", "arguments": search } }),
            json!("Search here"),
        ),
        // The status is at the top level.
        (
            json!({ "action": { "function": "click_control", "arguments": search }, "status": "CONTINUE" }),
            json!(["Search here", "there is no function"]),
        ),
        // Two actions in a list.
        (
            json!({ "actions": [
                { "function": "type_text", "arguments": typing },
                { "function": "press_key", "arguments": { "key_code": "KEYCODE_ENTER" }, "status": "CONTINUE" },
            ] }),
            json!("[focused]"),
        ),
        (json!(aloud), json!(["18 places", "Thai Orchid"])),
        (json!({ "reached": "yes", "why": "they are listed" }), json!("Thai Orchid")),
    ];
    let tokens = json!({ "input": 100, "output": 10 });
    let entry = |(reply, expect)| json!({ "reply": reply, "expect": expect, "tokens": tokens });
    let script: Value = replies.into_iter().map(entry).collect();
    let (ended, phone) = run(|prompter| prompter, script, GOAL).await;
    assert_eq!((ended.status, &*ended.reason), (AgentStatus::Finish, "18 places"), "{ended:?}");
    assert_eq!(ended.rounds, 4, "a repeated question is not a step");
    let spent = &ended.spent;
    assert_eq!((spent.calls, spent.input_tokens, spent.output_tokens), (6, 600, 60));
    let recent = phone.world(|world| {
        let kept = world.preferences("com.google.android.apps.maps");
        kept.iter().any(|(name, value)| *name == "recent" && value.contains("restaurants"))
    });
    assert!(recent, "the phone recorded it");
}

#[tokio::test(start_paused = true)]
async fn unusable_replies_count_towards_usage() {
    let tokens = json!({ "input": 100, "output": 10 });
    let script: Value =
        (0..4).map(|_| json!({ "reply": "I would rather not.", "tokens": tokens })).collect();
    let (ended, _) = run(|prompter| prompter, script, GOAL).await;
    assert_eq!(ended.status, AgentStatus::Fail, "{ended:?}");
    assert!(
        ended.reason.contains("none of 4 answers from scripted replies could be used"),
        "{ended:?}"
    );
    assert_eq!((ended.spent.calls, ended.spent.input_tokens), (4, 400));
}

/// The prompt for this observation.
async fn asked(observation: &Observation, pictures: ScreenshotMode) -> (String, String) {
    let replies = json!([{ "reply": { "action": null } }]).to_string();
    let model = Arc::new(ScriptedModel::read("replies", &replies, None).unwrap());
    let mind = ModelPolicy::new(model).with_pictures(pictures);
    let thinking = mind.decide(observation, &an_hour(), &NoEvents).await.unwrap();
    let text = |part: &ContentPart| match part {
        ContentPart::Text(text) => text.clone(),
        ContentPart::Image(image) => format!("(a picture of type {})\n", image.format.mime()),
        other => panic!("{other:?}"),
    };
    (thinking.prompt.system, thinking.prompt.turns[0].parts.iter().map(text).collect())
}

#[tokio::test(start_paused = true)]
async fn matching_documents_are_in_every_prompt() {
    let knowledge =
        [("maps.md".to_owned(), "Restaurants are found by the search field.".to_owned())];
    let shown = r#"{"source": "maps.md", "text": "Restaurants are found by the search field."}"#;
    let replies = json!([
        { "reply": { "action": null, "status": "CONTINUE" }, "expect": shown },
        { "reply": { "action": null, "status": "FAIL" }, "expect": shown },
    ]);
    let knowing = |prompter: ModelPolicy| prompter.with_knowledge(Knowledge::new(&knowledge));
    let (ended, _) = run(knowing, replies, "Search for restaurants on Maps").await;
    assert_eq!((ended.status, ended.rounds), (AgentStatus::Fail, 2), "{ended:?}");
}

/// The screens of the virtual phone's apps as observations.
async fn screens() -> Vec<Observation> {
    const APPS: [&str; 6] = ["Settings", "Maps", "Contacts", "Clock", "Shop", "Notes"];
    let launches = APPS.map(|app| step("launch_app", json!({ "package_name": app })));
    let mind = Script::of(launches.into_iter().chain([says(AgentStatus::Fail, "seen")]).collect());
    let phone = VirtualPhone::new(Setup::default());
    let agent = Agent::new(mind.clone(), Arc::new(session(&phone)), options());
    agent.run(&an_hour(), "Look around", Memory::default()).await;
    let seen = mind.seen();
    assert_eq!(seen.len(), APPS.len() + 1, "{:?}", seen.last().map(|sight| &sight.feedback));
    seen
}

#[tokio::test(start_paused = true)]
async fn the_prompt_of_a_screen_is_small() {
    let screens = screens().await;
    for sight in &screens {
        let (system, text) = asked(sight, ScreenshotMode::None).await;
        assert!(system.len() < 4_500, "{} bytes in the system prompt", system.len());
        assert!(text.len() < 1_600, "{} bytes for {:?}:\n{text}", text.len(), sight.app);
    }
    let settings = &screens[1];
    assert_eq!(settings.app.as_deref(), Some("com.android.settings"));
    let (_, text) = asked(settings, ScreenshotMode::Both).await;
    insta::assert_snapshot!(text);
}

/// The same goal with native calls, a planner and a judge, each by its own model.
#[tokio::test(start_paused = true)]
async fn goal_is_reached_with_native_calls_a_planner_and_a_judge() {
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let tokens = |input: u64| json!({ "input": input, "output": 10 });
    let search = json!({ "control_id": "2", "control_name": "Search here" });
    let typing = json!({ "text": "restaurants", "control_id": "2", "control_name": "Search here" });
    let enter = call("press_key", json!({ "key_code": "KEYCODE_ENTER" }));
    let done = json!({ "plan": ["done: Maps is open", "restaurants are listed"], "remember": ["Maps was closed"] });
    let replies = json!([
        {
            "reply": "Maps must be open first.",
            "calls": [call("launch_app", json!({ "package_name": "Maps" }))],
            "expect": ["[Previous Plan]: [\"Maps is open\", \"restaurants are listed\"]", "finish: Ends the run"],
            "tokens": tokens(100),
        },
        // The argument is missing: the model is asked again, and keeps its plan all the same.
        { "calls": [call("update_plan", done.clone()), call("click_control", json!({ "control_id": "2" }))], "tokens": tokens(100) },
        {
            "calls": [call("update_plan", done), call("click_control", search)],
            "expect": ["rejected: the arguments of click_control do not match", "not called, because another call"],
            "tokens": tokens(100),
        },
        {
            "calls": [call("type_text", typing), enter],
            "expect": ["[Previous Plan]: [\"done: Maps is open\"", "Maps was closed"],
            "tokens": tokens(100),
        },
        { "reply": "They are listed.", "calls": [call("finish", json!({ "result": "18 places" }))], "expect": "Thai Orchid", "tokens": tokens(100) },
    ]);
    let model = |name: &str, replies: Value, price: &str| {
        Arc::new(ScriptedModel::read(name, &replies.to_string(), price.parse().ok()).unwrap())
    };
    let plan = json!([{
        "reply": { "why": "one app has it", "plan": ["Maps is open", "restaurants are listed"] },
        "expect": [GOAL, "[Reason]: \"the run starts\"", "click_control"],
        "tokens": tokens(1000),
    }]);
    let verdict = json!([{ "reply": { "why": "they are listed", "reached": true }, "expect": "18 places", "tokens": tokens(10) }]);
    let prompter = ModelPolicy::new(model("replies", replies, "1,0"))
        .with_planner(model("plan", plan, "3,0"))
        .with_judge(model("verdict", verdict, "10,0"));
    let phone = VirtualPhone::new(Setup::default());
    let agent = Agent::new(Arc::new(prompter), Arc::new(session(&phone)), options());
    let ended = agent.run(&an_hour(), GOAL, Memory::default()).await;
    assert_eq!((ended.status, &*ended.reason), (AgentStatus::Finish, "18 places"), "{ended:?}");
    assert_eq!(ended.rounds, 4);
    let spent = &ended.spent;
    assert_eq!((spent.calls, spent.input_tokens), (7, 500 + 1000 + 10));
    let dollars = (500.0 + 3.0 * 1000.0 + 10.0 * 10.0) / 1e6;
    assert!((spent.dollars.unwrap() - dollars).abs() < 1e-12, "each by its own price: {spent:?}");
}

/// A planner is asked again when the run is stuck.
#[tokio::test(start_paused = true)]
async fn planner_is_asked_again_after_actions_without_effect() {
    let wait = json!({ "name": "press_key", "arguments": { "key_code": "KEYCODE_HOME" } });
    let replies: Value = (0..3).map(|_| json!({ "calls": [wait] })).collect();
    let mut replies = replies.as_array().unwrap().clone();
    replies.push(json!({ "calls": [{ "name": "fail", "arguments": { "reason": "no way" } }], "expect": "another way" }));
    let model = |name: &str, replies: Value| {
        Arc::new(ScriptedModel::read(name, &replies.to_string(), None).unwrap())
    };
    let plans = model(
        "plans",
        json!([
            { "reply": { "plan": ["go home"] } },
            { "reply": { "plan": ["another way"] }, "expect": "the agent is stuck: " },
        ]),
    );
    let prompter = ModelPolicy::new(model("replies", replies.into())).with_planner(plans.clone());
    let phone = VirtualPhone::new(Setup::default());
    let agent = Agent::new(Arc::new(prompter), Arc::new(session(&phone)), options());
    let ended = agent.run(&an_hour(), GOAL, Memory::default()).await;
    assert_eq!((ended.status, &*ended.reason), (AgentStatus::Fail, "no way"), "{ended:?}");
    assert_eq!(plans.left(), 0);
}
