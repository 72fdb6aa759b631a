//! Typing end to end on the virtual phone: with and without a keyboard app, cleared, read back, repaired.

use std::sync::Arc;
use std::time::Duration;

use thumbwire::action::{
    Action, Call, Cause, Choice, Failure, Outcome, Perform as _, Readback, Target, Typed, Typing,
};
use thumbwire::session::Session;
use thumbwire_adb::Direct;
use thumbwire_device::android::Android;
use thumbwire_device::{Acted, AppId, Device as _, TypedBy};
use thumbwire_virtual_phone::world::{BroadcastKeyboard, Key};
use thumbwire_virtual_phone::{Setup, VirtualPhone};

use crate::wire::{ask, focused, hostile_strings, of, ran, tap_text};

const LATIN: &str = "com.android.inputmethod.latin/.LatinIME";
const UNICODE: &str = "\u{e9}\u{6f22}\u{5b57}\u{1f600}";

/// A phone with these keyboard apps, and the editor of a new note open.
async fn editing(keyboards: &[BroadcastKeyboard], android: u32) -> (Session, VirtualPhone) {
    let keyboards = keyboards.to_vec();
    let (session, phone) = of(Setup { keyboards, android, ..Setup::default() });
    ask(&session, Action::Launch(Choice::Id(AppId("com.android.notes".into())))).await.unwrap();
    tap_text(&session, "New note").await;
    assert_eq!(focused(&phone), Some(String::new()));
    (session, phone)
}

fn field(id: &str) -> Option<Target> {
    Some(Target::id(id))
}

async fn typed(session: &Session, typing: Typing) -> Typed {
    match ask(session, Action::Type(typing)).await {
        Ok(Outcome::Typed(typed)) => typed,
        other => panic!("{other:?}"),
    }
}

/// What `settings` keeps of the keyboards: the one that types, and those that may.
fn keyboards(phone: &VirtualPhone) -> (String, String) {
    let setting = |name: &str| {
        phone.world(|world| world.setting("secure", name).unwrap_or_default().to_owned())
    };
    (setting("default_input_method"), setting("enabled_input_methods"))
}

fn by_app(keyboard: BroadcastKeyboard) -> TypedBy {
    let package = keyboard.id().split('/').next().unwrap();
    TypedBy::Keyboard { app: AppId(package.into()) }
}

#[tokio::test]
async fn characters_without_keys_are_typed_by_a_keyboard_app_and_the_phone_gets_its_own_back() {
    for keyboard in [BroadcastKeyboard::AdbKeyboard, BroadcastKeyboard::Uiautomator2] {
        let (session, phone) = editing(&[keyboard], 14).await;
        let text = format!("{UNICODE} and plain\nsecond {UNICODE}");
        let done = typed(&session, Typing::of(text.clone())).await;
        assert_eq!(done, Typed { by: by_app(keyboard), field: Readback::Same, into: None });
        assert_eq!(focused(&phone), Some(text));
        assert_eq!(keyboards(&phone), (LATIN.into(), LATIN.into()), "neither selected nor enabled");
    }
}

#[tokio::test]
async fn a_keyboard_app_that_is_the_phones_own_stays_and_is_not_looked_for_twice() {
    let (session, phone) = editing(&[BroadcastKeyboard::AdbKeyboard], 14).await;
    let id = BroadcastKeyboard::AdbKeyboard.id();
    phone.world(|world| {
        world.put_setting("secure", "enabled_input_methods", &format!("{LATIN}:{id}"));
        world.put_setting("secure", "default_input_method", id);
    });
    typed(&session, Typing::of("\u{e9}")).await;
    let before = phone.commands().len();
    typed(&session, Typing::of("\u{6f22}")).await;
    assert_eq!(focused(&phone).as_deref(), Some("\u{e9}\u{6f22}"));
    assert_eq!(keyboards(&phone).0, id);
    let programs: Vec<String> =
        ran(&phone, before).into_iter().map(|argv| argv[0].clone()).collect();
    assert_eq!(programs, ["settings", "dumpsys", "am", "uiautomator"]);
}

#[tokio::test]
async fn without_a_keyboard_app_the_missing_piece_is_named_and_nothing_is_typed() {
    let (session, phone) = editing(&[], 14).await;
    let before = phone.commands().len();
    let failure =
        ask(&session, Action::Type(Typing::of("plain, then \u{6f22}"))).await.unwrap_err();
    let Cause::Refused { why } = &failure.cause else { panic!("{failure:?}") };
    assert!(why.contains("\u{6f22} (U+6F22)") && why.contains("com.android.adbkeyboard"), "{why}");
    assert_eq!((focused(&phone), failure.acted), (Some(String::new()), Acted::No));
    assert_eq!(ran(&phone, before), [["ime", "list", "-a", "-s"]]);
}

#[tokio::test]
async fn nothing_is_cleared_for_a_text_that_is_refused() {
    let (session, phone) = editing(&[], 14).await;
    typed(&session, Typing::of("precious")).await;
    let into = field("edit_note_text");
    let typing = Typing { into, clear: true, ..Typing::of(UNICODE) };
    let failure = ask(&session, Action::Type(typing)).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::Refused { .. }), "{failure:?}");
    assert_eq!((focused(&phone).as_deref(), failure.acted), (Some("precious"), Acted::No));
}

#[tokio::test]
async fn a_keyboard_app_that_finds_no_field_is_taken_back_and_says_so() {
    for keyboard in [BroadcastKeyboard::AdbKeyboard, BroadcastKeyboard::Uiautomator2] {
        let (session, phone) = of(Setup { keyboards: vec![keyboard], ..Setup::default() });
        let failure = ask(&session, Action::Type(Typing::of(UNICODE))).await.unwrap_err();
        let Cause::NotReady { said } = &failure.cause else { panic!("{failure:?}") };
        assert!(said.contains("no text field has the focus"), "{said}");
        assert_eq!(keyboards(&phone), (LATIN.into(), LATIN.into()));
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_half_way_leaves_the_phone_its_own_keyboard() {
    let (session, phone) = editing(&[BroadcastKeyboard::AdbKeyboard], 14).await;
    let call = Call::within(Duration::from_secs(60));
    let cancelled = call.cancelled.clone();
    let text = Action::Type(Typing::of(UNICODE.repeat(2_000)));
    let stop = async {
        while keyboards(&phone).0 == LATIN {
            tokio::task::yield_now().await;
        }
        cancelled.cancel();
    };
    let (done, ()) = tokio::join!(session.perform(&call, text), stop);
    let expected = Failure { cause: Cause::Cancelled, acted: Acted::Maybe };
    assert_eq!(done.unwrap_err(), expected);
    // The program may end with the session.
    session.end().await;
    assert_eq!(keyboards(&phone), (LATIN.into(), LATIN.into()), "its own keyboard is back");
}

#[tokio::test]
async fn ten_thousand_characters_of_any_kind_arrive_whole() {
    let (session, phone) = editing(&[BroadcastKeyboard::Uiautomator2], 14).await;
    let text: String = ["a", "\u{e9}", "\u{6f22}", "\u{1f600}"].concat().repeat(2_500);
    let done = typed(&session, Typing::of(text.clone())).await;
    assert_eq!(done.field, Readback::Same);
    assert_eq!(focused(&phone), Some(text));
}

#[tokio::test]
async fn what_is_lost_on_the_way_is_typed_once_more_where_the_field_is_known() {
    for text in ["lost and found".to_owned(), format!("lost {UNICODE} found")] {
        let (session, phone) = editing(&[BroadcastKeyboard::AdbKeyboard], 14).await;
        phone.world(|world| world.lose_typed(4, 2));
        let into = field("editable_title");
        let done = typed(&session, Typing { into, ..Typing::of(text.clone()) }).await;
        assert_eq!(done.field, Readback::Repaired);
        assert_eq!(focused(&phone), Some(text));
    }
}

#[tokio::test]
async fn what_stood_in_the_field_survives_a_repair() {
    let (session, phone) = editing(&[], 14).await;
    typed(&session, Typing { into: field("editable_title"), ..Typing::of("first, ") }).await;
    ask(&session, Action::LOOK).await.unwrap();
    phone.world(|world| world.lose_typed(2, 3));
    assert_eq!(typed(&session, Typing::of("second")).await.field, Readback::Repaired);
    assert_eq!(focused(&phone).as_deref(), Some("first, second"));
}

#[tokio::test]
async fn a_loss_is_told_where_it_is_not_known_what_the_field_held() {
    let (session, phone) = editing(&[], 14).await;
    phone.world(|world| world.lose_typed(1, 2));
    let done = typed(&session, Typing::of("display")).await;
    assert_eq!(done.field, Readback::Differs { shows: "splay".into() });
    assert_eq!(focused(&phone).as_deref(), Some("splay"), "nothing was erased on a guess");
}

#[tokio::test]
async fn a_loss_that_goes_on_is_told_and_not_tried_for_ever() {
    let (session, phone) = editing(&[], 14).await;
    phone.world(|world| world.lose_typed(3, 100));
    let into = field("editable_title");
    let done = typed(&session, Typing { into, ..Typing::of("display") }).await;
    assert_eq!(done.field, Readback::Differs { shows: focused(&phone).unwrap() });
}

#[tokio::test]
async fn clearing_goes_on_until_the_field_reads_empty_and_knows_a_hint() {
    // Before Android 14 a dump does not tell a hint from a text.
    for android in [14, 12] {
        let (session, phone) = editing(&[], android).await;
        let first = "a b ".repeat(300);
        let into = || field("editable_title");
        typed(&session, Typing { into: into(), ..Typing::of(first.clone()) }).await;
        // The cursor stands somewhere in the middle.
        phone.world(|world| (0..500).for_each(|_| world.key(Key::DPAD_LEFT)));
        let again = Typing { into: into(), clear: true, ..Typing::of("second") };
        assert_eq!(typed(&session, again).await.field, Readback::Same, "Android {android}");
        assert_eq!(focused(&phone).as_deref(), Some("second"));
        let only = || Typing { clear: true, ..Typing::of("") };
        assert_eq!(typed(&session, only()).await.field, Readback::Same, "Android {android}");
        assert_eq!(focused(&phone).as_deref(), Some(""));
        // It is empty and shows its hint.
        let told = match android {
            14 => Readback::Same,
            _ => Readback::Differs { shows: "Title".into() },
        };
        assert_eq!(typed(&session, only()).await.field, told, "Android {android}");
        let third = Typing { clear: true, ..Typing::of("third") };
        assert_eq!(typed(&session, third).await.field, Readback::Same);
        assert_eq!(focused(&phone).as_deref(), Some("third"));
    }
}

#[tokio::test]
async fn nothing_is_typed_where_the_target_takes_no_text_or_nothing_has_the_focus() {
    let (session, phone) = editing(&[], 14).await;
    let into = Some(Target::text("Delete note"));
    let failure =
        ask(&session, Action::Type(Typing { into, ..Typing::of("x") })).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::ElementNotFound { .. }), "{failure:?}");
    assert_eq!(failure.acted, Acted::Maybe, "it was tapped");
    let before = phone.commands().len();
    let clear = Typing { clear: true, ..Typing::of("x") };
    let failure = ask(&session, Action::Type(clear)).await.unwrap_err();
    let Cause::Refused { why } = &failure.cause else { panic!("{failure:?}") };
    assert!(why.contains("no text field has the focus"), "{why}");
    assert_eq!(failure.acted, Acted::No);
    assert_eq!(ran(&phone, before), [["uiautomator", "dump", "/dev/tty"]]);
}

#[tokio::test]
async fn a_search_is_found_cleared_typed_and_sent_off_in_one_call() {
    let (session, phone) = of(Setup::default());
    ask(&session, Action::Launch(Choice::Id(AppId("com.google.android.apps.maps".into()))))
        .await
        .unwrap();
    let into = Some(Target::text("Search here"));
    let typing = Typing { into, clear: true, submit: true, ..Typing::of("restaurants") };
    assert_eq!(typed(&session, typing).await.field, Readback::Same);
    let Outcome::Look(look) = ask(&session, Action::LOOK).await.unwrap() else { panic!() };
    let titles = look.tree.nodes.iter().filter(|node| node.id.ends_with(":id/title"));
    assert!(titles.count() > 2, "the results are listed");
    assert_eq!(focused(&phone), None);
}

#[tokio::test]
async fn plain_text_costs_one_look_more_than_the_typing() {
    let (session, phone) = editing(&[], 14).await;
    let before = phone.commands().len();
    typed(&session, Typing::of("plain")).await;
    let dump = ["uiautomator", "dump", "/dev/tty"].map(str::to_owned).to_vec();
    let text = ["input", "text", "plain"].map(str::to_owned).to_vec();
    assert_eq!(ran(&phone, before), [text, dump]);
}

#[tokio::test]
async fn hostile_text_runs_nothing_on_its_way_through_a_keyboard_app() {
    use base64::Engine as _;
    let keyboard = BroadcastKeyboard::AdbKeyboard;
    let (_session, phone) = editing(&[keyboard], 14).await;
    let way = Direct::over(phone.in_memory());
    let device = Android::attach("hostile", Arc::new(way)).await.unwrap();
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
async fn a_trace_tells_how_the_text_went() {
    use thumbwire::trace::format::{Act, End, Got, Line};
    use thumbwire::trace::{Recorder, Traced};
    let (session, phone) = editing(&[BroadcastKeyboard::Uiautomator2], 14).await;
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::begin(folder.path(), "2024-03-05T10:00:00Z".into()).unwrap();
    let traced = Traced::new(session, recorder);
    let call = Call::within(Duration::from_secs(60));
    traced.perform(&call, Action::Type(Typing::of(UNICODE))).await.unwrap();
    phone.world(|world| world.lose_typed(1, 1));
    traced.perform(&call, Action::Type(Typing::of("ab"))).await.unwrap();
    let lines = thumbwire::trace::read(folder.path()).unwrap();
    let told = lines.into_iter().filter_map(|line| match line {
        Line::Step { action: Act::Type { .. }, end: End::Outcome(got), .. } => Some(got),
        _ => None,
    });
    let told: Vec<Got> = told.collect();
    let shows = Some(format!("{UNICODE}b"));
    let expected = [
        Got::Typed {
            by: "keyboard com.github.uiautomator".into(),
            field: "same".into(),
            shows: None,
        },
        Got::Typed { by: "keys".into(), field: "differs".into(), shows },
    ];
    assert_eq!(told, expected);
}
