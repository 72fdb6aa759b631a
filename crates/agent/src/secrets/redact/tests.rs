//! What goes down and what comes back, with a phone that shows what a test wants.

use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use thumbwire_device::{
    App, AppId, Format, Image, LogEntry, LogFilter, Notification, Point, Priority, SideEffect,
    Size, Tree, TypingMethod, UntypableText,
};

use super::*;
use crate::safeguards::screen_state::made::node;
use thumbwire_core::action::{
    AppFilter, AppToolCall, AppToolResult, CrashList, LabelledApps, ScreenshotAndSnapshot, Since,
    Target, TextInput,
};
use thumbwire_core::crash::{Crash, CrashKind};

const VALUE: &str = "hunter2&co";

/// Shows these nodes, gives these answers, and records what it was asked.
#[derive(Default)]
struct Phone {
    nodes: Vec<Node>,
    answers: Mutex<Vec<Result<Outcome, Failure>>>,
    asked: Arc<Mutex<Vec<Action>>>,
}

impl Phone {
    fn showing(nodes: Vec<Node>) -> Self {
        Self { nodes, ..Self::default() }
    }

    fn answering(answer: Result<Outcome, Failure>) -> Self {
        Self { answers: Mutex::new(vec![answer]), ..Self::default() }
    }

    fn look(&self) -> Arc<Snapshot> {
        let xml = |node: &Node| format!("<node text=\"{}\" />", node.text.replace('&', "&amp;"));
        let source: String = self.nodes.iter().map(xml).collect();
        let tree = Tree { nodes: self.nodes.clone(), source: source.into(), ..Tree::default() };
        Arc::new(Snapshot::number(tree, None, &AtomicU32::new(1)))
    }
}

fn white() -> Screenshot {
    let pixels = Pixels::new(400, 200, vec![255; 400 * 200 * 3]).unwrap();
    Screenshot {
        image: pixels.write(Format::Png).unwrap(),
        size: Size { width: 400, height: 200 },
        blank: None,
    }
}

#[async_trait]
impl Perform for Phone {
    async fn perform(&self, _call: &Call, action: Action) -> Result<Outcome, Failure> {
        self.asked.lock().unwrap().push(action.clone());
        if let Some(answer) = self.answers.lock().unwrap().pop() {
            return answer;
        }
        Ok(match action {
            Action::Snapshot(_) => Outcome::Snapshot(self.look()),
            Action::Controls { .. } => Outcome::Controls(Arc::new(Controls::of(self.look()))),
            Action::Screenshot(_) => Outcome::Screenshot(white()),
            Action::ScreenshotAndSnapshot(_) => {
                Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot {
                    screenshot: white(),
                    snapshot: self.look(),
                })
            }
            _ => Outcome::Done,
        })
    }
}

async fn asked(phone: Phone, action: Action) -> (Result<Outcome, Failure>, Vec<Action>) {
    let seen = Arc::clone(&phone.asked);
    let vault = Vault::new([("PASSWORD".to_owned(), VALUE.to_owned())]).unwrap();
    let done = RedactedPerform::new(phone, Arc::new(vault))
        .perform(&Call::with_timeout(Duration::from_secs(9)), action)
        .await;
    let seen = seen.lock().unwrap().clone();
    (done, seen)
}

fn holds(done: &Result<Outcome, Failure>) -> bool {
    let printed = format!("{done:?}").to_lowercase();
    printed.contains("hunter2")
}

#[tokio::test]
async fn placeholder_is_filled_only_in_typed_text() {
    let typing = |text: &str| Action::Type(TextInput::of(text));
    let (_, seen) = asked(Phone::default(), typing("me {{PASSWORD}}")).await;
    assert_eq!(seen, [typing("me hunter2&co")]);
    let tap = Action::TapElement(Target::text("{{PASSWORD}}"));
    assert_eq!(asked(Phone::default(), tap.clone()).await.1, [tap]);
    let (refused, seen) = asked(Phone::default(), typing("{{PASSWORT}}")).await;
    let failure = refused.unwrap_err();
    assert_eq!(failure.cause.to_string(), "there is no secret PASSWORT; the secrets are PASSWORD");
    assert_eq!((failure.side_effect, seen.len()), (SideEffect::None, 0));
}

#[tokio::test]
async fn refused_text_names_no_character_of_a_secret() {
    let refusal = UntypableText::Keyless(vec!['\u{2019}', 'h', '\u{e9}']);
    let refused = || Err(Failure::from(Cause::TextNotTypable(refusal.clone())));
    let typing = Action::Type(TextInput::of("it\u{2019}s {{PASSWORD}}"));
    let (done, _) = asked(Phone::answering(refused()), typing).await;
    let kept = UntypableText::Keyless(vec!['\u{2019}']);
    assert_eq!(done.unwrap_err().cause, Cause::TextNotTypable(kept));
    // Without a secret in it, the caller wrote all of it.
    let typing = Action::Type(TextInput::of("it\u{2019}s"));
    let (done, _) = asked(Phone::answering(refused()), typing).await;
    assert_eq!(done.unwrap_err().cause, Cause::TextNotTypable(refusal));
}

#[tokio::test]
async fn value_on_screen_is_redacted_everywhere() {
    let mut other = node("TextView", "Hello", 1);
    other.description = format!("you are {VALUE}!").into();
    let nodes = vec![node("EditText", VALUE, 0), other, node("TextView", "HUNTER2&CO", 2)];
    for action in [
        Action::LOOK,
        Action::Controls { max_age: Duration::ZERO },
        Action::ScreenshotAndSnapshot(ScreenshotOptions::default()),
    ] {
        let (done, _) = asked(Phone::showing(nodes.clone()), action).await;
        assert!(!holds(&done), "{done:?}");
        assert!(format!("{done:?}").contains("you are {{PASSWORD}}!"));
    }
}

#[tokio::test]
async fn screen_without_secret_is_unchanged() {
    let (done, _) = asked(Phone::showing(vec![node("TextView", "Hello", 0)]), Action::LOOK).await;
    let Ok(Outcome::Snapshot(look)) = done else { panic!("{done:?}") };
    assert_eq!(look.tree.nodes[0].text, "Hello");
    assert_eq!(&*look.tree.source, "<node text=\"Hello\" />");
}

#[tokio::test]
async fn control_named_like_a_placeholder_is_broken_up() {
    let nodes = vec![node("Button", "Type {{PASSWORD}}", 0)];
    let (done, _) = asked(Phone::showing(nodes), Action::LOOK).await;
    let Ok(Outcome::Snapshot(look)) = done else { panic!("{done:?}") };
    assert_eq!(look.tree.nodes[0].text, "Type { {PASSWORD}}");
    assert!(!look.tree.source.contains("{{PASSWORD}}"));
}

#[tokio::test]
async fn partial_value_in_a_field_is_redacted() {
    let nodes = vec![node("EditText", "hunte2&co", 0), node("TextView", "hunte2&co", 1)];
    let (done, _) = asked(Phone::showing(nodes), Action::LOOK).await;
    let Ok(Outcome::Snapshot(look)) = done else { panic!("{done:?}") };
    assert_eq!(look.tree.nodes[0].text, "(part of {{PASSWORD}})");
    assert_eq!(look.tree.nodes[1].text, "(part of {{PASSWORD}})");
    assert!(!look.tree.source.contains("hunte2"), "{}", look.tree.source);

    let field = Readback::Differs { shows: "hntr2&co and".into() };
    let typed =
        Outcome::Typed(TypeResult { by: TypingMethod::Keys, field, into: None, tapped: false });
    let (done, _) =
        asked(Phone::answering(Ok(typed)), Action::Type(TextInput::of("{{PASSWORD}}"))).await;
    let Ok(Outcome::Typed(typed)) = done else { panic!("{done:?}") };
    assert_eq!(
        typed.field,
        Readback::Differs { shows: "(something other than {{PASSWORD}})".into() }
    );

    let output = "cannot clear the field: after 6 attempts it still shows \"hunter2co\"".to_owned();
    let failed = Err(Failure {
        cause: Cause::DeviceError { text: output },
        side_effect: SideEffect::Possible,
    });
    let (done, _) =
        asked(Phone::answering(failed), Action::Type(TextInput::of("{{PASSWORD}}"))).await;
    let failure = done.unwrap_err();
    assert!(
        failure.cause.to_string().ends_with("still shows \"(part of {{PASSWORD}})\""),
        "{failure:?}"
    );
}

#[tokio::test]
async fn number_with_spaces_is_redacted_and_painted_over() {
    let nodes = vec![node("EditText", "4929 1234 5678 9012", 0)];
    let vault = Vault::new([("CARD".to_owned(), "4929123456789012".to_owned())]).unwrap();
    let secrets = RedactedPerform::new(Phone::showing(nodes), Arc::new(vault));
    let shot = Action::ScreenshotAndSnapshot(ScreenshotOptions::default());
    let done = secrets.perform(&Call::with_timeout(Duration::from_secs(9)), shot).await;
    let Ok(Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot {
        screenshot: picture,
        snapshot: look,
    })) = done
    else {
        panic!("{done:?}")
    };
    assert_eq!(look.tree.nodes[0].text, "{{CARD}}");
    assert!(!look.tree.source.contains("4929"), "{}", look.tree.source);
    assert!(is_grey(&picture, 1, 1));
}

#[tokio::test]
async fn log_entries_and_failures_are_redacted() {
    let entry = LogEntry {
        time: "2024-03-05T10:00:00".into(),
        priority: Priority::Info,
        tag: "Login".into(),
        pid: 1,
        tid: 1,
        message: format!("typed {VALUE}"),
    };
    let read = Action::ReadLog {
        filter: LogFilter { tag: None, priority: Priority::Info },
        max: 9,
        clear: false,
    };
    let (done, _) = asked(Phone::answering(Ok(Outcome::Log(vec![entry]))), read).await;
    let Ok(Outcome::Log(entries)) = &done else { panic!("{done:?}") };
    assert_eq!(entries[0].message, "typed {{PASSWORD}}");

    let output = format!("input text '{VALUE}': Killed");
    let (done, _) =
        asked(Phone::answering(Err(Cause::DeviceError { text: output }.into())), Action::LOOK)
            .await;
    assert_eq!(done.unwrap_err().cause.to_string(), "input text '{{PASSWORD}}': Killed");
}

/// Every app can read the clipboard, and an address leaves the phone, so no value goes there, and
/// no name instead of it.
#[tokio::test]
async fn clipboard_gets_no_value_and_shows_none() {
    for text in ["{{PASSWORD}}", "https://x.org/?q={{PASSWORD}}"] {
        for action in [Action::SetClipboard(text.into()), Action::OpenUrl(text.into())] {
            let (done, asked) = asked(Phone::default(), action).await;
            let reason = done.unwrap_err().cause.to_string();
            assert!(asked.is_empty() && reason.contains("can only be typed"), "{reason}");
        }
    }
    let set = Action::SetClipboard("tea".into());
    assert_eq!(asked(Phone::default(), set.clone()).await.1, [set]);
    let clipboard = Outcome::Clipboard(Some(format!("copied {VALUE}")));
    let (done, _) = asked(Phone::answering(Ok(clipboard)), Action::ReadClipboard).await;
    assert!(matches!(&done, Ok(Outcome::Clipboard(Some(text))) if text == "copied {{PASSWORD}}"));
}

#[tokio::test]
async fn notifications_crashes_and_labels_are_redacted() {
    let (secret, name) = (format!("it is {VALUE}"), "it is {{PASSWORD}}");
    let app = || AppId("com.x".into());
    let notification = Notification {
        app: app(),
        key: format!("0|com.x|1|{VALUE}|10100"),
        title: secret.clone(),
        text: secret.clone(),
        time: None,
        ongoing: false,
    };
    let list = Action::ListNotifications { max: 9 };
    let (done, _) =
        asked(Phone::answering(Ok(Outcome::Notifications(vec![notification]))), list).await;
    let Ok(Outcome::Notifications(all)) = &done else { panic!("{done:?}") };
    assert_eq!((&*all[0].title, &*all[0].text), (name, name));
    assert_eq!(all[0].key, "0|com.x|1|{{PASSWORD}}|10100");

    let crash = Crash {
        kind: CrashKind::Exception,
        time: String::new(),
        process: Some("com.x".into()),
        what: secret.clone(),
        excerpt: vec![secret.clone()],
    };
    let crashes =
        Outcome::Crashes(CrashList { crashes: vec![crash], now: String::new(), cut: None });
    let read = Action::ReadCrashes { since: Since::Ago(Duration::from_secs(9)), app: None };
    let (done, _) = asked(Phone::answering(Ok(crashes)), read).await;
    let Ok(Outcome::Crashes(CrashList { crashes, .. })) = &done else { panic!("{done:?}") };
    assert_eq!((&*crashes[0].what, &*crashes[0].excerpt[0]), (name, name));

    let apps = vec![(App { id: app(), system: false }, Some(Label::Text(secret)))];
    let labelled =
        Outcome::LabelledApps(LabelledApps { apps, has_labels: true, is_complete: true });
    let list = Action::ListLabelledApps { which: AppFilter::All };
    let (done, _) = asked(Phone::answering(Ok(labelled)), list).await;
    let Ok(Outcome::LabelledApps(LabelledApps { apps, .. })) = &done else { panic!("{done:?}") };
    assert_eq!(apps[0].1.as_ref().and_then(Label::text), Some(name));
}

#[tokio::test]
async fn app_answers_are_redacted() {
    let output = serde_json::json!({
        "said": [VALUE, { VALUE: 1 }],
        VALUE: true,
        "pin": 48_151_623,
        "sum": 42,
    });
    let heard = AppToolReply::Answer {
        success: true,
        message: format!("You said {VALUE}"),
        output: output.as_object().cloned().unwrap(),
        warnings: vec![format!("{VALUE} is not declared")],
    };
    let (app, tool) = (AppId("com.x".into()), "log_in".to_owned());
    let answered =
        AppToolResult { app: app.clone(), tool: tool.clone(), heard, phases: Vec::new() };
    let values = [("PASSWORD", VALUE), ("PIN", "48151623")];
    let values = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let vault = Arc::new(Vault::new(values).unwrap());
    let phone = Phone::answering(Ok(Outcome::AppToolResult(answered)));
    let call = AppToolCall { app, service: None, tool, arguments: Map::new(), send_only: false };
    let guard = RedactedPerform::new(phone, vault);
    let done =
        guard.perform(&Call::with_timeout(Duration::from_secs(1)), Action::CallAppTool(call)).await;
    assert!(!holds(&done) && !format!("{done:?}").contains("48151623"), "{done:?}");
    assert!(format!("{done:?}").contains("42"), "{done:?}");
}

fn is_grey(picture: &Screenshot, x: usize, y: usize) -> bool {
    let pixels = Pixels::read(&picture.image).unwrap();
    pixels.rgb()[(y * 400 + x) * 3] == 64
}

#[tokio::test]
async fn screenshot_is_painted_over_at_the_value() {
    let nodes = vec![node("TextView", "Hello", 0), node("TextView", VALUE, 1)];
    let (done, _) =
        asked(Phone::showing(nodes), Action::Screenshot(ScreenshotOptions::default())).await;
    let Ok(Outcome::Screenshot(picture)) = done else { panic!("{done:?}") };
    assert_eq!(picture.image.format, Format::Png);
    let seen =
        [(0, 0), (399, 49), (0, 50), (399, 99), (0, 100)].map(|(x, y)| is_grey(&picture, x, y));
    assert_eq!(seen, [false, false, true, true, false]);
}

#[tokio::test]
async fn screenshot_of_unreadable_screen_is_withheld() {
    let failed = Err(Cause::NotReady { text: "could not get idle state".into() }.into());
    let (done, seen) =
        asked(Phone::answering(failed), Action::Screenshot(ScreenshotOptions::default())).await;
    let Ok(Outcome::Screenshot(picture)) = done else { panic!("{done:?}") };
    assert!(is_grey(&picture, 0, 0) && is_grey(&picture, 399, 199));
    let Some(BlackReason::Secure { window }) = &picture.blank else { panic!("{picture:?}") };
    assert!(window.contains("could not get idle state"), "{window}");
    assert_eq!(seen.len(), 2);
}

#[tokio::test]
async fn screenshot_that_cannot_be_painted_is_withheld() {
    let broken =
        Screenshot { image: Image { format: Format::Png, bytes: vec![1].into() }, ..white() };
    let snapshot = Phone::showing(vec![node("TextView", VALUE, 0)]).look();
    let (done, _) = asked(
        Phone::answering(Ok(Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot {
            screenshot: broken,
            snapshot,
        }))),
        Action::Screenshot(ScreenshotOptions::default()),
    )
    .await;
    assert!(done.unwrap_err().cause.to_string().contains("could not be painted over"));
}

#[tokio::test]
async fn files_that_would_contain_a_secret_are_refused() {
    let save = Action::SaveScreenshot { name: None, fetch: true };
    let (done, seen) = asked(Phone::showing(vec![node("TextView", VALUE, 0)]), save.clone()).await;
    assert!(done.is_err() && seen == [Action::LOOK], "{seen:?}");
    assert!(asked(Phone::default(), save).await.0.is_ok());
    let filter = LogFilter { tag: None, priority: Priority::Info };
    let follow = Action::StartMonitor { filter, file: Some("log".into()) };
    assert!(asked(Phone::default(), follow).await.0.is_err());
    let duration = Duration::from_secs(9);
    let record = Action::StartRecording { name: None, duration, bit_rate: None, size: None };
    assert!(asked(Phone::default(), record).await.0.is_err());
}

#[tokio::test]
async fn empty_vault_changes_nothing() {
    let phone = Phone::default();
    let seen = Arc::clone(&phone.asked);
    let secrets = RedactedPerform::new(phone, Arc::default());
    let call = Call::with_timeout(Duration::from_secs(9));
    secrets.perform(&call, Action::Screenshot(ScreenshotOptions::default())).await.unwrap();
    secrets
        .perform(&call, Action::Touch(thumbwire_device::Gesture::Tap { at: Point { x: 1, y: 1 } }))
        .await
        .unwrap();
    assert_eq!(seen.lock().unwrap().len(), 2);
    let refused =
        secrets.perform(&call, Action::Type(TextInput::of("{{PASSWORD}}"))).await.unwrap_err();
    assert!(refused.cause.to_string().contains("and no other"));
}
