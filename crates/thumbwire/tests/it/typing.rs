//! Typing by keys end to end on the virtual phone: cleared, read back, repaired.

use std::time::Duration;

use thumbwire_core::action::{
    Action, AppSelector, Call, Cause, Outcome, Perform as _, Readback, Target, TextInput,
    TypeResult,
};
use thumbwire_core::session::Session;
use thumbwire_device::{AppId, SideEffect};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_phone::KeyCode;

use crate::wire::{ask, focused, of, ran, tap_text};

const UNICODE: &str = "\u{e9}\u{6f22}\u{5b57}\u{1f600}";

/// A phone without the helper, and a new note open in its editor.
async fn editing(android: u32) -> (Session, VirtualPhone) {
    let (session, phone) = of(Setup { android, helper: false, ..Setup::default() });
    ask(&session, Action::Launch(AppSelector::Id(AppId("com.android.notes".into()))))
        .await
        .unwrap();
    tap_text(&session, "New note").await;
    assert_eq!(focused(&phone), Some(String::new()));
    (session, phone)
}

fn field(id: &str) -> Option<Target> {
    Some(Target::id(id))
}

async fn typed(session: &Session, typing: TextInput) -> TypeResult {
    match ask(session, Action::Type(typing)).await {
        Ok(Outcome::Typed(typed)) => typed,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn text_without_keys_needs_the_helper_and_nothing_is_typed() {
    let (session, phone) = editing(14).await;
    let before = phone.commands().len();
    let failure =
        ask(&session, Action::Type(TextInput::of("plain, then \u{6f22}"))).await.unwrap_err();
    let Cause::TextNotTypable(odd) = &failure.cause else { panic!("{failure:?}") };
    assert!(odd.to_string().contains("\u{6f22} (U+6F22)"), "{odd}");
    let next = failure.next_step();
    assert!(next.contains("ASCII") && next.contains("--helper off"), "{next}");
    assert_eq!((focused(&phone), failure.side_effect), (Some(String::new()), SideEffect::None));
    assert!(ran(&phone, before).is_empty());
}

#[tokio::test]
async fn refused_text_clears_nothing() {
    let (session, phone) = editing(14).await;
    typed(&session, TextInput::of("precious")).await;
    let into = field("edit_note_text");
    let typing = TextInput { into, clear: true, ..TextInput::of(UNICODE) };
    let failure = ask(&session, Action::Type(typing)).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::TextNotTypable(_)), "{failure:?}");
    assert_eq!(
        (focused(&phone).as_deref(), failure.side_effect),
        (Some("precious"), SideEffect::None)
    );
}

#[tokio::test]
async fn lost_text_is_typed_again_in_a_known_field() {
    for text in ["lost and found".to_owned(), "lost, found and lost again".to_owned()] {
        let (session, phone) = editing(14).await;
        phone.world(|world| world.set_text_loss(4, 2));
        let into = field("editable_title");
        let done = typed(&session, TextInput { into, ..TextInput::of(text.clone()) }).await;
        assert_eq!(done.field, Readback::Corrected);
        assert_eq!(focused(&phone), Some(text));
    }
}

#[tokio::test]
async fn earlier_text_survives_a_repair() {
    let (session, phone) = editing(14).await;
    typed(&session, TextInput { into: field("editable_title"), ..TextInput::of("first, ") }).await;
    ask(&session, Action::LOOK).await.unwrap();
    phone.world(|world| world.set_text_loss(2, 3));
    assert_eq!(typed(&session, TextInput::of("second")).await.field, Readback::Corrected);
    assert_eq!(focused(&phone).as_deref(), Some("first, second"));
}

#[tokio::test]
async fn loss_is_reported_if_the_earlier_text_is_unknown() {
    let (session, phone) = editing(14).await;
    phone.world(|world| world.set_text_loss(1, 2));
    let done = typed(&session, TextInput::of("display")).await;
    assert_eq!(done.field, Readback::Differs { shows: "splay".into() });
    assert_eq!(focused(&phone).as_deref(), Some("splay"), "nothing was erased on a guess");
}

#[tokio::test]
async fn repeated_loss_is_reported_after_a_few_tries() {
    let (session, phone) = editing(14).await;
    phone.world(|world| world.set_text_loss(3, 100));
    let into = field("editable_title");
    let done = typed(&session, TextInput { into, ..TextInput::of("display") }).await;
    assert_eq!(done.field, Readback::Differs { shows: focused(&phone).unwrap() });
}

#[tokio::test]
async fn clearing_stops_at_an_empty_field_or_a_hint() {
    // Before Android 14, a dump does not distinguish a hint from text; the keyboard knows the hint.
    for android in [14, 12] {
        let (session, phone) = editing(android).await;
        let first = "a b ".repeat(300);
        let into = || field("editable_title");
        typed(&session, TextInput { into: into(), ..TextInput::of(first.clone()) }).await;
        // The cursor is somewhere in the middle.
        phone.world(|world| (0..500).for_each(|_| world.key(KeyCode::DPAD_LEFT)));
        let again = TextInput { into: into(), clear: true, ..TextInput::of("second") };
        assert_eq!(typed(&session, again).await.field, Readback::Same, "Android {android}");
        assert_eq!(focused(&phone).as_deref(), Some("second"));
        let only = || TextInput { clear: true, ..TextInput::of("") };
        assert_eq!(typed(&session, only()).await.field, Readback::Same, "Android {android}");
        assert_eq!(focused(&phone).as_deref(), Some(""));
        // The field is empty and shows its hint.
        assert_eq!(typed(&session, only()).await.field, Readback::Same, "Android {android}");
        let third = TextInput { clear: true, ..TextInput::of("third") };
        assert_eq!(typed(&session, third).await.field, Readback::Same);
        assert_eq!(focused(&phone).as_deref(), Some("third"));
    }
}

#[tokio::test]
async fn nothing_is_typed_without_a_focused_text_field() {
    let (session, phone) = editing(14).await;
    let into = Some(Target::text("Delete note"));
    let failure =
        ask(&session, Action::Type(TextInput { into, ..TextInput::of("x") })).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::ElementNotFound { .. }), "{failure:?}");
    assert_eq!(failure.side_effect, SideEffect::None, "a button is not tapped");
    ask(&session, Action::TapElement(Target::text("Delete note"))).await.unwrap();
    let before = phone.commands().len();
    let failure = ask(&session, Action::Type(TextInput::of("x"))).await.unwrap_err();
    assert_eq!(failure.cause, Cause::NoFocusedField { act: "type".into() });
    assert!(ran(&phone, before).iter().all(|command| command[0] != "input"));
    let before = phone.commands().len();
    let clear = TextInput { clear: true, ..TextInput::of("x") };
    let failure = ask(&session, Action::Type(clear)).await.unwrap_err();
    assert_eq!(failure.cause, Cause::NoFocusedField { act: "clear".into() });
    assert_eq!(failure.side_effect, SideEffect::None);
    let ran = ran(&phone, before);
    assert!(ran.iter().all(|command| command[0] != "input"), "{ran:?}");
}

#[tokio::test]
async fn one_call_finds_clears_types_and_submits() {
    let (session, phone) = of(Setup { helper: false, ..Setup::default() });
    ask(&session, Action::Launch(AppSelector::Id(AppId("com.google.android.apps.maps".into()))))
        .await
        .unwrap();
    let into = Some(Target::text("Search here"));
    let typing = TextInput { into, clear: true, submit: true, ..TextInput::of("restaurants") };
    assert_eq!(typed(&session, typing).await.field, Readback::Same);
    let Outcome::Snapshot(look) = ask(&session, Action::LOOK).await.unwrap() else { panic!() };
    let titles = look.tree.nodes.iter().filter(|node| node.id.ends_with(":id/title"));
    assert!(titles.count() > 2, "the results are listed");
    assert_eq!(focused(&phone), None);
}

#[tokio::test]
async fn plain_text_costs_one_snapshot_beyond_typing() {
    let (session, phone) = editing(14).await;
    let before = phone.commands().len();
    typed(&session, TextInput::of("plain")).await;
    let dump = ["uiautomator", "dump", "/dev/tty"].map(str::to_owned).to_vec();
    let text = ["input", "text", "plain"].map(str::to_owned).to_vec();
    let ran = ran(&phone, before);
    // Whether a field has the focus, and the text.
    let typing = ran.iter().filter(|command| command[0] != "dumpsys");
    assert_eq!(typing.take(2).collect::<Vec<_>>(), [&text, &dump]);
    assert_eq!(ran.iter().filter(|command| **command == dump).count(), 1);
}

#[tokio::test]
async fn trace_records_how_the_text_was_typed() {
    use thumbwire_core::event::ObservedPerform;
    use thumbwire_core::trace::Recorder;
    use thumbwire_core::trace::format::{ActionResult, StoredOutcome, TraceRecord};
    let (session, phone) = editing(14).await;
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::begin(folder.path(), "2024-03-05T10:00:00Z".into()).unwrap();
    let traced = ObservedPerform::new(session, recorder);
    let call = Call::with_timeout(Duration::from_secs(60));
    traced.perform(&call, Action::Type(TextInput::of("first, "))).await.unwrap();
    phone.world(|world| world.set_text_loss(1, 1));
    traced.perform(&call, Action::Type(TextInput::of("ab"))).await.unwrap();
    let lines = thumbwire_core::trace::read(folder.path()).unwrap();
    let out = lines.into_iter().filter_map(|line| match line {
        TraceRecord::Action {
            action: Action::Type(_), end: ActionResult::Outcome(got), ..
        } => Some(got),
        _ => None,
    });
    let out: Vec<StoredOutcome> = out.collect();
    let expected = [
        StoredOutcome::Typed { by: "keys".into(), field: "same".into(), shows: None },
        StoredOutcome::Typed { by: "keys".into(), field: "repaired".into(), shows: None },
    ];
    assert_eq!(out, expected);
}
