//! What goes down and what comes back, of a phone that shows what a test wants.

use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use thumbwire_device::{
    Acted, AppId, Format, Image, LogEntry, LogFilter, Point, Priority, Size, Tree, TypedBy,
};

use super::super::super::scene::made::node;
use super::*;
use crate::action::{Answered, AppCall, Target, Typing};

const VALUE: &str = "hunter2&co";

/// Shows these nodes and these answers, and keeps what it was asked.
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

    fn look(&self) -> Arc<Look> {
        let xml = |node: &Node| format!("<node text=\"{}\" />", node.text.replace('&', "&amp;"));
        let source: String = self.nodes.iter().map(xml).collect();
        let tree = Tree { nodes: self.nodes.clone(), source: source.into(), ..Tree::default() };
        Arc::new(Look::number(tree, None, &AtomicU32::new(1)))
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
            Action::Look(_) => Outcome::Look(self.look()),
            Action::Controls { .. } => Outcome::Controls(Arc::new(Controls::of(self.look()))),
            Action::Screenshot(_) => Outcome::Picture(white()),
            Action::Snapshot(_) => Outcome::Snapshot(white(), self.look()),
            _ => Outcome::Done,
        })
    }
}

async fn asked(phone: Phone, action: Action) -> (Result<Outcome, Failure>, Vec<Action>) {
    let seen = Arc::clone(&phone.asked);
    let vault = Vault::new([("PASSWORD".to_owned(), VALUE.to_owned())]).unwrap();
    let done = Secrets::new(phone, Arc::new(vault))
        .perform(&Call::within(Duration::from_secs(9)), action)
        .await;
    let seen = seen.lock().unwrap().clone();
    (done, seen)
}

fn holds(done: &Result<Outcome, Failure>) -> bool {
    let printed = format!("{done:?}").to_lowercase();
    printed.contains("hunter2")
}

#[tokio::test]
async fn a_name_becomes_its_value_in_what_is_typed_and_nowhere_else() {
    let typing = |text: &str| Action::Type(Typing::of(text));
    let (_, seen) = asked(Phone::default(), typing("me {{PASSWORD}}")).await;
    assert_eq!(seen, [typing("me hunter2&co")]);
    let tap = Action::TapElement(Target::text("{{PASSWORD}}"));
    assert_eq!(asked(Phone::default(), tap.clone()).await.1, [tap]);
    let (refused, seen) = asked(Phone::default(), typing("{{PASSWORT}}")).await;
    let failure = refused.unwrap_err();
    assert_eq!(failure.cause.to_string(), "there is no secret PASSWORT; there are: PASSWORD");
    assert_eq!((failure.acted, seen.len()), (Acted::No, 0));
}

#[tokio::test]
async fn a_screen_that_shows_the_value_anywhere_shows_its_name() {
    let mut other = node("TextView", "Hello", 1);
    other.description = format!("you are {VALUE}!");
    let nodes = vec![node("EditText", VALUE, 0), other, node("TextView", "HUNTER2&CO", 2)];
    for action in [
        Action::LOOK,
        Action::Controls { no_older_than: Duration::ZERO },
        Action::Snapshot(Shape::default()),
    ] {
        let (done, _) = asked(Phone::showing(nodes.clone()), action).await;
        assert!(!holds(&done), "{done:?}");
        assert!(format!("{done:?}").contains("you are {{PASSWORD}}!"));
    }
}

#[tokio::test]
async fn a_screen_without_a_secret_is_passed_on_as_it_is() {
    let (done, _) = asked(Phone::showing(vec![node("TextView", "Hello", 0)]), Action::LOOK).await;
    let Ok(Outcome::Look(look)) = done else { panic!("{done:?}") };
    assert_eq!(look.tree.nodes[0].text, "Hello");
    assert_eq!(&*look.tree.source, "<node text=\"Hello\" />");
}

#[tokio::test]
async fn a_control_that_calls_itself_by_a_secrets_name_is_not_taken_for_the_secret() {
    let nodes = vec![node("Button", "Type {{PASSWORD}}", 0)];
    let (done, _) = asked(Phone::showing(nodes), Action::LOOK).await;
    let Ok(Outcome::Look(look)) = done else { panic!("{done:?}") };
    assert_eq!(look.tree.nodes[0].text, "Type { {PASSWORD}}");
    assert!(!look.tree.source.contains("{{PASSWORD}}"));
}

#[tokio::test]
async fn what_is_left_of_a_value_in_a_field_is_hidden_too() {
    let nodes = vec![node("EditText", "hunte2&co", 0), node("TextView", "hunte2&co", 1)];
    let (done, _) = asked(Phone::showing(nodes), Action::LOOK).await;
    let Ok(Outcome::Look(look)) = done else { panic!("{done:?}") };
    assert_eq!(look.tree.nodes[0].text, "(a part of {{PASSWORD}})");
    assert_eq!(look.tree.nodes[1].text, "(a part of {{PASSWORD}})");
    assert!(!look.tree.source.contains("hunte2"), "{}", look.tree.source);

    let field = Readback::Differs { shows: "hntr2&co and".into() };
    let typed = Outcome::Typed(Typed { by: TypedBy::Keys, field, into: None });
    let (done, _) =
        asked(Phone::answering(Ok(typed)), Action::Type(Typing::of("{{PASSWORD}}"))).await;
    let Ok(Outcome::Typed(typed)) = done else { panic!("{done:?}") };
    assert_eq!(
        typed.field,
        Readback::Differs { shows: "(something else than {{PASSWORD}})".into() }
    );

    let said = "the field was erased 6 times and still shows \"hunter2co\"".to_owned();
    let failed = Err(Failure { cause: Cause::PhoneFailed { said }, acted: Acted::Maybe });
    let (done, _) = asked(Phone::answering(failed), Action::Type(Typing::of("{{PASSWORD}}"))).await;
    let failure = done.unwrap_err();
    assert!(
        failure.cause.to_string().ends_with("still shows \"(a part of {{PASSWORD}})\""),
        "{failure:?}"
    );
}

#[tokio::test]
async fn a_number_that_an_app_spaces_is_hidden_and_painted_over() {
    let nodes = vec![node("EditText", "4929 1234 5678 9012", 0)];
    let vault = Vault::new([("CARD".to_owned(), "4929123456789012".to_owned())]).unwrap();
    let secrets = Secrets::new(Phone::showing(nodes), Arc::new(vault));
    let shot = Action::Snapshot(Shape::default());
    let done = secrets.perform(&Call::within(Duration::from_secs(9)), shot).await;
    let Ok(Outcome::Snapshot(picture, look)) = done else { panic!("{done:?}") };
    assert_eq!(look.tree.nodes[0].text, "{{CARD}}");
    assert!(!look.tree.source.contains("4929"), "{}", look.tree.source);
    assert!(is_grey(&picture, 1, 1));
}

#[tokio::test]
async fn a_log_and_a_failure_that_tell_the_value_tell_its_name() {
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
        most: 9,
        clear: false,
    };
    let (done, _) = asked(Phone::answering(Ok(Outcome::Log(vec![entry]))), read).await;
    let Ok(Outcome::Log(entries)) = &done else { panic!("{done:?}") };
    assert_eq!(entries[0].message, "typed {{PASSWORD}}");

    let said = format!("input text '{VALUE}': Killed");
    let (done, _) =
        asked(Phone::answering(Err(Cause::PhoneFailed { said }.into())), Action::LOOK).await;
    assert_eq!(done.unwrap_err().cause.to_string(), "input text '{{PASSWORD}}': Killed");
}

#[tokio::test]
async fn what_an_app_answers_tells_a_value_nowhere() {
    let output = serde_json::json!({
        "said": [VALUE, { VALUE: 1 }],
        VALUE: true,
        "pin": 48_151_623,
        "sum": 42,
    });
    let heard = Heard::Answer {
        success: true,
        message: format!("You said {VALUE}"),
        output: output.as_object().cloned().unwrap(),
        warnings: vec![format!("{VALUE} is not declared")],
    };
    let (app, tool) = (AppId("com.x".into()), "log_in".to_owned());
    let answered = Answered { app: app.clone(), tool: tool.clone(), heard, phases: Vec::new() };
    let values = [("PASSWORD", VALUE), ("PIN", "48151623")];
    let values = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let vault = Arc::new(Vault::new(values).unwrap());
    let phone = Phone::answering(Ok(Outcome::Answered(answered)));
    let call = AppCall { app, service: None, tool, arguments: Map::new(), send_only: false };
    let guard = Secrets::new(phone, vault);
    let done =
        guard.perform(&Call::within(Duration::from_secs(1)), Action::CallAppTool(call)).await;
    assert!(!holds(&done) && !format!("{done:?}").contains("48151623"), "{done:?}");
    assert!(format!("{done:?}").contains("42"), "{done:?}");
}

fn is_grey(picture: &Screenshot, x: usize, y: usize) -> bool {
    let pixels = Pixels::read(&picture.image).unwrap();
    pixels.rgb()[(y * 400 + x) * 3] == 64
}

#[tokio::test]
async fn a_picture_is_painted_over_where_a_value_stands() {
    let nodes = vec![node("TextView", "Hello", 0), node("TextView", VALUE, 1)];
    let (done, _) = asked(Phone::showing(nodes), Action::Screenshot(Shape::default())).await;
    let Ok(Outcome::Picture(picture)) = done else { panic!("{done:?}") };
    assert_eq!(picture.image.format, Format::Png);
    let seen =
        [(0, 0), (399, 49), (0, 50), (399, 99), (0, 100)].map(|(x, y)| is_grey(&picture, x, y));
    assert_eq!(seen, [false, false, true, true, false]);
}

#[tokio::test]
async fn a_picture_of_a_screen_that_cannot_be_read_is_kept_back() {
    let failed = Err(Cause::NotReady { said: "could not get idle state".into() }.into());
    let (done, seen) = asked(Phone::answering(failed), Action::Screenshot(Shape::default())).await;
    let Ok(Outcome::Picture(picture)) = done else { panic!("{done:?}") };
    assert!(is_grey(&picture, 0, 0) && is_grey(&picture, 399, 199));
    let Some(Blank::Secure { window }) = &picture.blank else { panic!("{picture:?}") };
    assert!(window.contains("could not get idle state"), "{window}");
    assert_eq!(seen.len(), 2);
}

#[tokio::test]
async fn a_picture_that_cannot_be_painted_over_is_not_given() {
    let broken =
        Screenshot { image: Image { format: Format::Png, bytes: vec![1].into() }, ..white() };
    let look = Phone::showing(vec![node("TextView", VALUE, 0)]).look();
    let (done, _) = asked(
        Phone::answering(Ok(Outcome::Snapshot(broken, look))),
        Action::Screenshot(Shape::default()),
    )
    .await;
    assert!(done.unwrap_err().cause.to_string().contains("could not be painted over"));
}

#[tokio::test]
async fn files_that_would_hold_a_secret_are_refused() {
    let save = Action::SaveScreenshot { name: None, fetch: true };
    let (done, seen) = asked(Phone::showing(vec![node("TextView", VALUE, 0)]), save.clone()).await;
    assert!(done.is_err() && seen == [Action::LOOK], "{seen:?}");
    assert!(asked(Phone::default(), save).await.0.is_ok());
    let filter = LogFilter { tag: None, priority: Priority::Info };
    let follow = Action::StartMonitor { filter, file: Some("log".into()) };
    assert!(asked(Phone::default(), follow).await.0.is_err());
}

#[tokio::test]
async fn without_secrets_nothing_is_done_for_their_sake() {
    let phone = Phone::default();
    let seen = Arc::clone(&phone.asked);
    let secrets = Secrets::new(phone, Arc::default());
    let call = Call::within(Duration::from_secs(9));
    secrets.perform(&call, Action::Screenshot(Shape::default())).await.unwrap();
    secrets
        .perform(&call, Action::Touch(thumbwire_device::Gesture::Tap { at: Point { x: 1, y: 1 } }))
        .await
        .unwrap();
    assert_eq!(seen.lock().unwrap().len(), 2);
    let refused =
        secrets.perform(&call, Action::Type(Typing::of("{{PASSWORD}}"))).await.unwrap_err();
    assert!(refused.cause.to_string().contains("and no other"));
}
