//! Typing end to end on the virtual phone: with and without a keyboard app, cleared, read back, repaired.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_adb::DirectTransport;
use thumbwire_core::action::{
    Action, AppSelector, Call, Cause, Failure, Outcome, Perform as _, Readback, Target, TextInput,
    TypeResult,
};
use thumbwire_core::session::Session;
use thumbwire_device::android::{Android, HelperMode};
use thumbwire_device::{AppId, Device as _, SideEffect, TypingMethod};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_phone::{BroadcastKeyboard, KeyCode};

use crate::wire::{ask, focused, hostile_strings, of, ran, tap_text};

const LATIN: &str = "com.android.inputmethod.latin/.LatinIME";
const UNICODE: &str = "\u{e9}\u{6f22}\u{5b57}\u{1f600}";

/// A phone with these keyboard apps, and a new note open in its editor.
async fn editing(keyboards: &[BroadcastKeyboard], android: u32) -> (Session, VirtualPhone) {
    let keyboards = keyboards.to_vec();
    let (session, phone) = of(Setup { keyboards, android, helper: false, ..Setup::default() });
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

/// The input methods in `settings`: the selected one, and the enabled ones.
fn keyboards(phone: &VirtualPhone) -> (String, String) {
    let setting = |name: &str| {
        phone.world(|world| world.setting("secure", name).unwrap_or_default().to_owned())
    };
    (setting("default_input_method"), setting("enabled_input_methods"))
}

fn by_app(keyboard: BroadcastKeyboard) -> TypingMethod {
    let package = keyboard.id().split('/').next().unwrap();
    TypingMethod::Keyboard { app: AppId(package.into()) }
}

#[tokio::test]
async fn keyboard_app_types_unicode_and_is_then_deselected() {
    for keyboard in [BroadcastKeyboard::AdbKeyboard, BroadcastKeyboard::Uiautomator2] {
        let (session, phone) = editing(&[keyboard], 14).await;
        let text = format!("{UNICODE} and plain\nsecond {UNICODE}");
        let done = typed(&session, TextInput::of(text.clone())).await;
        assert_eq!(done, TypeResult { by: by_app(keyboard), field: Readback::Same, into: None });
        assert_eq!(focused(&phone), Some(text));
        assert_eq!(keyboards(&phone), (LATIN.into(), LATIN.into()), "neither selected nor enabled");
    }
}

#[tokio::test]
async fn preselected_keyboard_app_stays_selected() {
    let (session, phone) = editing(&[BroadcastKeyboard::AdbKeyboard], 14).await;
    let id = BroadcastKeyboard::AdbKeyboard.id();
    phone.world(|world| {
        world.put_setting("secure", "enabled_input_methods", &format!("{LATIN}:{id}"));
        world.put_setting("secure", "default_input_method", id);
    });
    typed(&session, TextInput::of("\u{e9}")).await;
    let before = phone.commands().len();
    typed(&session, TextInput::of("\u{6f22}")).await;
    assert_eq!(focused(&phone).as_deref(), Some("\u{e9}\u{6f22}"));
    assert_eq!(keyboards(&phone).0, id);
    let programs: Vec<String> =
        ran(&phone, before).into_iter().map(|argv| argv[0].clone()).collect();
    assert_eq!(programs[..4], ["settings", "dumpsys", "am", "uiautomator"]);
    assert_eq!(programs.iter().filter(|name| *name == "uiautomator").count(), 1);
}

#[tokio::test]
async fn missing_keyboard_app_is_named_and_nothing_is_typed() {
    let (session, phone) = editing(&[], 14).await;
    let before = phone.commands().len();
    let failure =
        ask(&session, Action::Type(TextInput::of("plain, then \u{6f22}"))).await.unwrap_err();
    let Cause::TextNotTypable(odd) = &failure.cause else { panic!("{failure:?}") };
    assert!(odd.to_string().contains("\u{6f22} (U+6F22)"), "{odd}");
    let next = failure.next_move();
    assert!(next.contains("ASCII") && next.contains("com.android.adbkeyboard"), "{next}");
    assert_eq!((focused(&phone), failure.side_effect), (Some(String::new()), SideEffect::None));
    assert_eq!(ran(&phone, before), [["ime", "list", "-a", "-s"]]);
}

#[tokio::test]
async fn refused_text_clears_nothing() {
    let (session, phone) = editing(&[], 14).await;
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
async fn missing_focus_is_reported_and_the_keyboard_restored() {
    for keyboard in [BroadcastKeyboard::AdbKeyboard, BroadcastKeyboard::Uiautomator2] {
        let (session, phone) =
            of(Setup { keyboards: vec![keyboard], helper: false, ..Setup::default() });
        let failure = ask(&session, Action::Type(TextInput::of(UNICODE))).await.unwrap_err();
        let Cause::NotReady { text } = &failure.cause else { panic!("{failure:?}") };
        assert!(text.contains("no text field has the focus"), "{text}");
        assert_eq!(keyboards(&phone), (LATIN.into(), LATIN.into()));
    }
}

#[tokio::test]
async fn cancelled_call_restores_the_keyboard() {
    let (session, phone) = editing(&[BroadcastKeyboard::AdbKeyboard], 14).await;
    let call = Call::with_timeout(Duration::from_secs(60));
    let cancelled = call.cancelled.clone();
    let text = Action::Type(TextInput::of(UNICODE.repeat(2_000)));
    let stop = async {
        while keyboards(&phone).0 == LATIN {
            tokio::task::yield_now().await;
        }
        cancelled.cancel();
    };
    let (done, ()) = tokio::join!(session.perform(&call, text), stop);
    let expected = Failure { cause: Cause::Cancelled, side_effect: SideEffect::Possible };
    assert_eq!(done.unwrap_err(), expected);
    // The program may exit after the session ends.
    session.end().await;
    assert_eq!(keyboards(&phone), (LATIN.into(), LATIN.into()), "its own keyboard is back");
}

#[tokio::test]
async fn ten_thousand_unicode_characters_arrive() {
    let (session, phone) = editing(&[BroadcastKeyboard::Uiautomator2], 14).await;
    let text: String = ["a", "\u{e9}", "\u{6f22}", "\u{1f600}"].concat().repeat(2_500);
    let done = typed(&session, TextInput::of(text.clone())).await;
    assert_eq!(done.field, Readback::Same);
    assert_eq!(focused(&phone), Some(text));
}

#[tokio::test]
async fn lost_text_is_typed_again_in_a_known_field() {
    for text in ["lost and found".to_owned(), format!("lost {UNICODE} found")] {
        let (session, phone) = editing(&[BroadcastKeyboard::AdbKeyboard], 14).await;
        phone.world(|world| world.set_text_loss(4, 2));
        let into = field("editable_title");
        let done = typed(&session, TextInput { into, ..TextInput::of(text.clone()) }).await;
        assert_eq!(done.field, Readback::Corrected);
        assert_eq!(focused(&phone), Some(text));
    }
}

#[tokio::test]
async fn earlier_text_survives_a_repair() {
    let (session, phone) = editing(&[], 14).await;
    typed(&session, TextInput { into: field("editable_title"), ..TextInput::of("first, ") }).await;
    ask(&session, Action::LOOK).await.unwrap();
    phone.world(|world| world.set_text_loss(2, 3));
    assert_eq!(typed(&session, TextInput::of("second")).await.field, Readback::Corrected);
    assert_eq!(focused(&phone).as_deref(), Some("first, second"));
}

#[tokio::test]
async fn loss_is_reported_if_the_earlier_text_is_unknown() {
    let (session, phone) = editing(&[], 14).await;
    phone.world(|world| world.set_text_loss(1, 2));
    let done = typed(&session, TextInput::of("display")).await;
    assert_eq!(done.field, Readback::Differs { shows: "splay".into() });
    assert_eq!(focused(&phone).as_deref(), Some("splay"), "nothing was erased on a guess");
}

#[tokio::test]
async fn repeated_loss_is_reported_after_a_few_tries() {
    let (session, phone) = editing(&[], 14).await;
    phone.world(|world| world.set_text_loss(3, 100));
    let into = field("editable_title");
    let done = typed(&session, TextInput { into, ..TextInput::of("display") }).await;
    assert_eq!(done.field, Readback::Differs { shows: focused(&phone).unwrap() });
}

#[tokio::test]
async fn clearing_stops_at_an_empty_field_or_a_hint() {
    // Before Android 14, a dump does not distinguish a hint from text; the keyboard knows the hint.
    for android in [14, 12] {
        let (session, phone) = editing(&[], android).await;
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
    let (session, phone) = editing(&[], 14).await;
    let into = Some(Target::text("Delete note"));
    let failure =
        ask(&session, Action::Type(TextInput { into, ..TextInput::of("x") })).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::ElementNotFound { .. }), "{failure:?}");
    assert_eq!(failure.side_effect, SideEffect::Possible, "it was tapped");
    let before = phone.commands().len();
    let clear = TextInput { clear: true, ..TextInput::of("x") };
    let failure = ask(&session, Action::Type(clear)).await.unwrap_err();
    let Cause::Refused { reason } = &failure.cause else { panic!("{failure:?}") };
    assert!(reason.contains("no text field has focus"), "{reason}");
    assert_eq!(failure.side_effect, SideEffect::None);
    let ran = ran(&phone, before);
    assert_eq!(ran[0], ["uiautomator", "dump", "/dev/tty"]);
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
    let (session, phone) = editing(&[], 14).await;
    let before = phone.commands().len();
    typed(&session, TextInput::of("plain")).await;
    let dump = ["uiautomator", "dump", "/dev/tty"].map(str::to_owned).to_vec();
    let text = ["input", "text", "plain"].map(str::to_owned).to_vec();
    let ran = ran(&phone, before);
    assert_eq!(ran[..2], [text, dump.clone()]);
    assert_eq!(ran.iter().filter(|command| **command == dump).count(), 1);
}

#[tokio::test]
async fn hostile_text_runs_nothing_through_a_keyboard_app() {
    use base64::Engine as _;
    let keyboard = BroadcastKeyboard::AdbKeyboard;
    let (_session, phone) = editing(&[keyboard], 14).await;
    let way = DirectTransport::from_io(phone.in_memory());
    let device = Android::attach("hostile", Arc::new(way)).await.unwrap();
    let device = device.with_helper(HelperMode::Off);
    let mut sent = 0;
    for string in hostile_strings() {
        let text = format!("{UNICODE}{string}");
        let since = phone.commands().len() as u64 + phone.commands_dropped();
        let _ = device.type_text(&text).await;
        let now = phone.commands().len() as u64 + phone.commands_dropped();
        let all = phone.commands();
        for command in &all[all.len() - usize::try_from(now - since).unwrap()..] {
            let argv: Vec<&str> = command.argv.iter().map(String::as_str).collect();
            let as_made = match argv.as_slice() {
                [
                    "am",
                    "broadcast",
                    "-p",
                    "com.android.adbkeyboard",
                    "-a",
                    "ADB_INPUT_B64",
                    "--es",
                    "msg",
                    word,
                ] => {
                    let bytes = base64::engine::general_purpose::STANDARD.decode(word).unwrap();
                    sent += 1;
                    text.contains(std::str::from_utf8(&bytes).unwrap())
                }
                ["ime", "enable" | "disable" | "set", id] => [LATIN, keyboard.id()].contains(id),
                ["ime", "list", "-a", "-s"]
                | ["settings", "get", "secure", "default_input_method"]
                | ["dumpsys", "input_method"]
                | ["input", "keyevent", "66"] => true,
                _ => false,
            };
            assert!(as_made, "{text:?} ran {argv:?}");
        }
    }
    assert!(sent > 250, "{sent} pieces");
    assert_eq!(keyboards(&phone).0, LATIN);
}

#[tokio::test]
async fn trace_records_how_the_text_was_typed() {
    use thumbwire_core::event::ObservedPerform;
    use thumbwire_core::trace::Recorder;
    use thumbwire_core::trace::format::{ActionResult, StoredAction, StoredOutcome, TraceRecord};
    let (session, phone) = editing(&[BroadcastKeyboard::Uiautomator2], 14).await;
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::begin(folder.path(), "2024-03-05T10:00:00Z".into()).unwrap();
    let traced = ObservedPerform::new(session, recorder);
    let call = Call::with_timeout(Duration::from_secs(60));
    traced.perform(&call, Action::Type(TextInput::of(UNICODE))).await.unwrap();
    phone.world(|world| world.set_text_loss(1, 1));
    traced.perform(&call, Action::Type(TextInput::of("ab"))).await.unwrap();
    let lines = thumbwire_core::trace::read(folder.path()).unwrap();
    let out = lines.into_iter().filter_map(|line| match line {
        TraceRecord::Action {
            action: StoredAction::Type { .. },
            end: ActionResult::Outcome(got),
            ..
        } => Some(got),
        _ => None,
    });
    let out: Vec<StoredOutcome> = out.collect();
    let shows = Some(format!("{UNICODE}b"));
    let expected = [
        StoredOutcome::Typed {
            by: "keyboard com.github.uiautomator".into(),
            field: "same".into(),
            shows: None,
        },
        StoredOutcome::Typed { by: "keys".into(), field: "differs".into(), shows },
    ];
    assert_eq!(out, expected);
}
