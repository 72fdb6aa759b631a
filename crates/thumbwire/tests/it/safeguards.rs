//! The safeguards of a run, each enabled and disabled, on a virtual phone with faults.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::json;
use thumbwire_agent::{
    Agent, AgentOptions, AgentStatus, Budgets, ConfirmMode, ControlRow, Decision, FunctionCall,
    Memory, Observation, RedactedPerform, RunResult, Safeguards, StopReason, Vault,
};
use thumbwire_core::action::{AskUser, Call, Question, UserAnswer};
use thumbwire_core::event::ObservedPerform;
use thumbwire_core::trace::Recorder;
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::agent::{Script, Step, an_hour, clicks, does, id_of, options, says, session, step};

/// Runs a script on a phone with these faults, and returns the observations.
async fn run(
    faults: &[&str],
    steps: Vec<Step>,
    with: AgentOptions,
) -> (RunResult, Vec<Observation>, VirtualPhone) {
    let phone = VirtualPhone::new(Setup::default());
    faults.iter().for_each(|rule| phone.add_fault(rule.parse().unwrap()));
    let mind = Script::of(steps);
    let agent = Agent::new(mind.clone(), Arc::new(session(&phone)), with);
    let ended = agent.run(&an_hour(), "a test", Memory::default()).await;
    (ended, mind.seen(), phone)
}

fn without(change: fn(&mut Safeguards)) -> AgentOptions {
    let mut options = options();
    change(&mut options.safeguards);
    options
}

fn launch(app: &'static str) -> Step {
    step("launch_app", json!({ "package_name": app }))
}

fn done() -> Step {
    says(AgentStatus::Finish, "done")
}

fn shows(observation: &Observation, name: &str) -> bool {
    observation.current_controls.iter().any(|row| row.name == name)
}

#[tokio::test(start_paused = true)]
async fn ineffective_tap_is_reported_with_a_screenshot() {
    let steps = || vec![launch("Members"), clicks("Sign in"), done()];
    let (_, seen, _) = run(&[], steps(), options()).await;
    assert!(
        seen[2].feedback[0].starts_with("Nothing on the screen changed after the tap"),
        "{:?}",
        seen[2].feedback
    );
    assert!(seen[2].doubt.as_deref().unwrap().contains("changed nothing"));
    let (_, seen, _) = run(&[], steps(), without(|it| it.verification = false)).await;
    assert_eq!((seen[2].feedback.len(), &seen[2].doubt), (0, &None));
}

#[tokio::test(start_paused = true)]
async fn unresponsive_app_is_waited_for() {
    let steps = || vec![launch("Members"), clicks("Email"), done()];
    let fault = ["anr:times=1"];
    let (_, seen, _) = run(&fault, steps(), options()).await;
    assert!(shows(&seen[2], "Sign in"), "{:?}", seen[2].current_controls);
    assert!(
        seen[2].feedback[0].contains("after a wait it responds again"),
        "{:?}",
        seen[2].feedback
    );
    let (_, seen, _) = run(&fault, steps(), without(|it| it.repair = false)).await;
    assert!(!shows(&seen[2], "Sign in"));
    assert!(seen[2].feedback[0].starts_with("An app is not responding"), "{:?}", seen[2].feedback);
}

#[tokio::test(start_paused = true)]
async fn crashed_app_is_reported() {
    let steps = || vec![launch("Members"), clicks("Email"), done()];
    let (_, seen, _) = run(&["app-crash:times=1"], steps(), options()).await;
    let out = seen[2].feedback.join(" ");
    assert!(out.contains("crashed"), "{out} {:?}", seen[2].current_controls);
}

#[tokio::test(start_paused = true)]
async fn system_alert_is_reported_with_its_buttons() {
    let steps = || vec![launch("Members"), step("wait", json!({ "seconds": 1 })), done()];
    let (_, seen, _) = run(&["popup:times=1,after=1"], steps(), options()).await;
    let out: Vec<&String> = seen.iter().flat_map(|sight| &sight.feedback).collect();
    assert!(out.iter().any(|it| it.starts_with("A system window")), "{out:?}");
}

#[tokio::test(start_paused = true)]
async fn keyboard_over_the_target_is_hidden() {
    // Low enough to be under a key.
    let low: fn() -> Step = || {
        Box::new(|sight| {
            let far = |row: &ControlRow| (row.rect[1].midpoint(row.rect[3]) - 1800).abs();
            let text = sight
                .current_controls
                .iter()
                .filter(|row| row.kind == "TextView" && row.name.len() > 2);
            let row = text.min_by_key(|row| far(row)).unwrap();
            assert!(far(row) < 200, "{row:?}");
            Ok(does("click_control", json!({ "control_id": row.id, "control_name": row.name })))
        })
    };
    let steps = || vec![launch("Shop"), low(), done()];
    let is_list = |observation: &Observation| {
        observation.current_controls.iter().any(|row| row.kind == "EditText")
    };
    // The home screen has no field; the policy decides after the next tree but one.
    let fault = ["keyboard:times=1"];
    let (_, seen, phone) = run(&fault, steps(), options()).await;
    assert_eq!(phone.injections().len(), 1, "{:?}", phone.injections());
    assert!(!is_list(&seen[2]), "{:?} {:?}", seen[2].feedback, seen[2].current_controls);
    // The tap itself closes the keyboard that the tree's own report shows.
    let (_, seen, _) = run(&fault, steps(), without(|it| it.repair = false)).await;
    assert!(!is_list(&seen[2]), "{:?} {:?}", seen[2].feedback, seen[2].current_controls);
}

#[tokio::test(start_paused = true)]
async fn loop_ends_the_run_before_the_budget() {
    let steps = || {
        let mut steps = vec![launch("Members")];
        steps.extend((0..12).map(|_| clicks("Sign in")));
        steps
    };
    let budgets = Budgets { rounds: 12, ..Budgets::default() };
    let (ended, seen, _) =
        run(&[], steps(), AgentOptions { budgets: budgets.clone(), ..options() }).await;
    assert_eq!(
        (ended.status, ended.stopped, ended.rounds),
        (AgentStatus::Fail, Some(StopReason::Loop), 11)
    );
    assert!(seen[4].feedback.iter().any(|it| it.contains("in a loop")), "{:?}", seen[4].feedback);
    assert!(seen[3].feedback.iter().all(|it| !it.contains("in a loop")));
    let (ended, ..) =
        run(&[], steps(), AgentOptions { budgets, ..without(|it| it.loops = false) }).await;
    assert_eq!(
        (ended.status, ended.stopped, ended.rounds),
        (AgentStatus::Continue, Some(StopReason::Budget), 12)
    );
}

#[tokio::test(start_paused = true)]
async fn run_ends_before_exceeding_its_tokens() {
    let budgets = Budgets { tokens: Some(250), ..Budgets::default() };
    let steps = (0..9).map(|_| step("wait", json!({ "seconds": 1 }))).collect();
    let (ended, seen, _) = run(&[], steps, AgentOptions { budgets, ..options() }).await;
    assert_eq!((ended.stopped, ended.rounds), (Some(StopReason::Budget), 2), "{ended:?}");
    assert!(seen[1].left.contains("140 of 250 tokens"), "{}", seen[1].left);
}

/// Clicks the button with this name, which a heading has too.
fn presses(name: &'static str) -> Step {
    Box::new(move |sight| {
        let id = id_of(sight, |row| row.name == name && row.kind == "Button");
        Ok(does("click_control", json!({ "control_id": id, "control_name": name })))
    })
}

/// Types into both fields of the form in one reply, by the numbers of one listing.
fn both_fields(first: &'static str, second: &'static str) -> Step {
    Box::new(move |sight| {
        let fields = sight.current_controls.iter().filter(|row| row.kind == "EditText");
        let typing = |(row, text): (&ControlRow, &str)| {
            let arguments = json!({ "text": text, "control_id": row.id, "control_name": row.name });
            FunctionCall {
                function: "type_text".into(),
                arguments: arguments.as_object().cloned().unwrap(),
            }
        };
        Ok(Decision {
            actions: fields.zip([first, second]).map(typing).collect(),
            ..Decision::default()
        })
    })
}

#[tokio::test(start_paused = true)]
async fn second_action_of_a_reply_finds_its_control_again() {
    let steps = || {
        vec![
            launch("Members"),
            both_fields("ada@example.com", "correct horse"),
            presses("Sign in"),
            done(),
        ]
    };
    let (_, seen, _) = run(&[], steps(), options()).await;
    assert!(shows(&seen[3], "Sign out"), "{:?} {:?}", seen[3].feedback, seen[2].feedback);
    let (_, seen, _) =
        run(&[], steps(), without(|it| (it.verification, it.repair) = (false, false))).await;
    assert!(shows(&seen[3], "Sign out"), "{:?}", seen[2].feedback);
}

/// Gives the same answer to each question, and records it.
struct Person(&'static str, Mutex<Vec<String>>);

#[async_trait]
impl AskUser for Person {
    async fn ask(&self, question: &Question) -> UserAnswer {
        self.1.lock().unwrap().push(question.to_string());
        UserAnswer::Text(self.0.into())
    }

    async fn ask_secret(&self, question: &Question) -> UserAnswer {
        self.ask(question).await
    }
}

fn with_person(answer: &'static str) -> (Call, Arc<Person>) {
    let person = Arc::new(Person(answer, Mutex::default()));
    (Call { ask: person.clone(), ..an_hour() }, person)
}

#[tokio::test(start_paused = true)]
async fn risky_action_needs_confirmation() {
    for (confirm, answer, asked, sent) in [
        (ConfirmMode::Risky, "no", 1, false),
        (ConfirmMode::Risky, "yes", 1, true),
        (ConfirmMode::Never, "no", 0, true),
        (ConfirmMode::Always, "yes", 3, true),
    ] {
        let phone = VirtualPhone::new(Setup::default());
        let mind = Script::of(vec![
            launch("Members"),
            clicks("Forgot password?"),
            clicks("Send link"),
            done(),
        ]);
        let agent = Agent::new(mind.clone(), Arc::new(session(&phone)), options())
            .with_confirm_mode(confirm);
        let (call, person) = with_person(answer);
        agent.run(&call, "a test", Memory::default()).await;
        let questions = person.1.lock().unwrap().clone();
        assert_eq!(questions.len(), asked, "{questions:?}");
        if let Some(last) = questions.last() {
            assert_eq!(
                last,
                "About to tap \"Send link\" in com.example.members, which may send something. Go ahead? (yes / no)"
            );
        }
        let last = mind.seen().pop().unwrap();
        assert_eq!(!shows(&last, "Send link"), sent, "{confirm:?} {answer}");
        assert_eq!(last.feedback.iter().any(|it| it.contains("the user said no")), !sent);
    }
}

/// Names of all files in a run's folder that contain the text.
fn holding(folder: &Path, words: &str) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let holds = |file: &std::path::PathBuf| {
        let text = String::from_utf8_lossy(&fs::read(file).unwrap()).to_lowercase();
        text.contains(words)
    };
    files.filter(holds).map(|file| file.display().to_string()).collect()
}

/// The value is on the phone's screen, in a note's title and in the list of notes, and nowhere in
/// the run's folder.
#[tokio::test(start_paused = true)]
async fn secret_is_typed_and_never_recorded() {
    const VALUE: &str = "Tr0ub4dor & <three>";
    let folder = tempfile::tempdir().unwrap();
    let recorder = Arc::new(Recorder::begin(folder.path(), "2024-03-05T10:00:00Z".into()).unwrap());
    let phone = VirtualPhone::new(Setup::default());
    let vault = Arc::new(Vault::default());
    let perform = ObservedPerform::new(
        RedactedPerform::new(session(&phone), vault.clone()),
        recorder.clone(),
    );
    let mind = Script::of(vec![
        step("ask", json!({ "question": "The password?", "secret": "PASSWORD" })),
        launch("Notes"),
        clicks("New note"),
        Box::new(|sight| {
            assert_eq!(sight.secrets, ["PASSWORD"]);
            let id = id_of(sight, |row| row.kind == "EditText");
            Ok(does(
                "type_text",
                json!({ "text": "{{PASSWORD}}", "control_id": id, "control_name": "Title" }),
            ))
        }),
        clicks("Navigate up"),
        step("wait", json!({ "seconds": 1 })),
        done(),
    ]);
    let agent = Agent::new(mind.clone(), Arc::new(perform), options())
        .with_trace(recorder)
        .with_secrets(vault);
    let (call, _) = with_person(VALUE);
    let ended = agent.run(&call, "keep my password", Memory::default()).await;
    assert_eq!(ended.status, AgentStatus::Finish, "{ended:?}");

    let seen = mind.seen();
    assert!(seen.iter().any(|sight| shows(sight, "{{PASSWORD}}")), "{:?}", seen.last());
    assert!(!format!("{seen:?}").contains("Tr0ub4dor"));
    assert_eq!(holding(folder.path(), "tr0ub4dor"), [""; 0]);
    assert!(!holding(folder.path(), "{{password}}").is_empty(), "the trace contains its name");
    let notes = phone.world(|world| {
        world
            .preferences("com.android.notes")
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect::<Vec<_>>()
    });
    assert!(notes.iter().any(|(_, value)| value == VALUE), "{notes:?}");
    // The screenshot is omitted while the list of notes shows the title.
    let last = seen.last().unwrap();
    let row = last.current_controls.iter().find(|row| row.name == "{{PASSWORD}}").unwrap();
    let pixels = thumbwire_device::image::Pixels::read(last.clean.as_ref().unwrap()).unwrap();
    let [left, top, right, bottom] = row.rect.map(|edge| usize::try_from(edge).unwrap());
    let width = usize::try_from(pixels.size().width).unwrap();
    let grey = |x: usize, y: usize| pixels.rgb()[(y * width + x) * 3..][..3] == [64, 64, 64];
    assert!((top..bottom).all(|y| (left..right).all(|x| grey(x, y))));
}
