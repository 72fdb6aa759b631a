//! How field contents are judged, and typing on a scripted phone with one field.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_adb::AdbServer;
use thumbwire_base::lock;
use thumbwire_device::{
    AppId, AppList, ByteString, Device, DeviceInfo, Error, Facets, Flags, Foreground, Gesture,
    Identity, Key, LaunchArgument, Platform, Rect, Screenshot, Size, TextEditing, Tree, TreeDetail,
};

use super::*;
use crate::action::{Action, Call, ControlNumber, Perform as _};
use crate::providers::DeviceProviders;
use crate::session::Session;

/// A phone with one focused field.
struct OneField {
    identity: Identity,
    node: Mutex<Node>,
    /// A hint that the platform does not distinguish from text, shown while the field is empty.
    untold_hint: &'static str,
    /// Erasing does nothing.
    stuck: bool,
    /// A text can replace what the field has.
    replaces: bool,
    /// Enter takes the text away.
    submits: bool,
    /// Errors of the reads that follow typing.
    fails: Mutex<Vec<Error>>,
    holds: Mutex<String>,
    erased: Mutex<Vec<usize>>,
    /// What the keyboard says about the field.
    editor: Mutex<Option<Editor>>,
    /// Looks that still show an empty field.
    late: Mutex<usize>,
}

impl OneField {
    fn new(change: impl FnOnce(&mut Self)) -> Arc<Self> {
        let identity =
            Identity { id: "one".into(), platform: Platform::Android, model: String::new() };
        let node = Node {
            class: "android.widget.EditText".into(),
            id: "p:id/field".into(),
            bounds: Rect { left: 0, top: 0, right: 100, bottom: 50 },
            flags: Flags { enabled: true, focused: true, ..Flags::default() },
            ..Node::default()
        };
        let mut phone = Self {
            identity,
            node: Mutex::new(node),
            untold_hint: "",
            stuck: false,
            replaces: false,
            submits: false,
            fails: Mutex::default(),
            holds: Mutex::default(),
            erased: Mutex::default(),
            editor: Mutex::default(),
            late: Mutex::default(),
        };
        change(&mut phone);
        Arc::new(phone)
    }

    fn holding(text: &str, change: impl FnOnce(&mut Self)) -> Arc<Self> {
        Self::new(|phone| {
            *lock(&phone.holds) = text.into();
            change(phone);
        })
    }

    fn hides(&mut self) {
        lock(&self.node).flags.password = true;
    }
}

#[async_trait]
impl Device for OneField {
    fn identity(&self) -> &Identity {
        &self.identity
    }
    async fn probe(&self) -> Result<(), Error> {
        Ok(())
    }
    async fn screen_size(&self) -> Result<Size, Error> {
        Ok(Size { width: 100, height: 200 })
    }
    async fn screenshot(&self) -> Result<Screenshot, Error> {
        Err(self.unsupported("pictures"))
    }
    async fn tree(&self, _detail: TreeDetail) -> Result<Tree, Error> {
        let mut holds = lock(&self.holds).clone();
        let mut late = lock(&self.late);
        if *late > 0 && !holds.is_empty() {
            *late -= 1;
            holds.clear();
        }
        if !holds.is_empty()
            && let Some(error) = lock(&self.fails).pop()
        {
            return Err(error);
        }
        let mut node = lock(&self.node).clone();
        node.text = match (holds.as_str(), node.flags.password) {
            ("", _) if node.hint.is_empty() => self.untold_hint.into(),
            ("", _) => node.hint.clone(),
            (_, true) => ByteString::new(),
            (text, false) => text.into(),
        };
        Ok(Tree { nodes: vec![node], ..Tree::default() })
    }
    async fn touch(&self, _gesture: Gesture) -> Result<(), Error> {
        Ok(())
    }
    async fn type_text(&self, text: &str) -> Result<TypingMethod, Error> {
        let mut holds = lock(&self.holds);
        holds.push_str(text);
        if self.submits && text.ends_with('\n') {
            holds.clear();
        }
        Ok(TypingMethod::Keys)
    }
    async fn restore_borrowed(&self) {}
    async fn disconnect(&self) {}
    fn facets(&self) -> Facets<'_> {
        Facets { text: Some(self), ..Facets::default() }
    }
    async fn press(&self, _key: Key) -> Result<(), Error> {
        Ok(())
    }
    async fn apps(&self) -> Result<AppList, Error> {
        Ok(Vec::new().into())
    }
    async fn launch(&self, _app: &AppId, _: &[LaunchArgument]) -> Result<String, Error> {
        Ok(String::new())
    }
    async fn stop(&self, _app: &AppId) -> Result<(), Error> {
        Ok(())
    }
    async fn foreground(&self) -> Result<Foreground, Error> {
        Ok(Foreground::Unknown)
    }
    async fn info(&self) -> Result<DeviceInfo, Error> {
        Err(self.unsupported("telling of itself"))
    }
}

#[async_trait]
impl TextEditing for OneField {
    async fn check_text(&self, _text: &str) -> Result<(), Error> {
        Ok(())
    }
    async fn typing_time(&self, _text: &str) -> Result<Duration, Error> {
        Ok(Duration::ZERO)
    }
    async fn editor(&self) -> Result<Option<Editor>, Error> {
        Ok(lock(&self.editor).clone())
    }
    async fn replace_text(&self, text: &str) -> Result<Option<TypingMethod>, Error> {
        if !self.replaces {
            return Ok(None);
        }
        *lock(&self.holds) = text.into();
        Ok(Some(TypingMethod::SetText))
    }
    async fn delete_at_end(&self, _field: EditorSize, characters: usize) -> Result<(), Error> {
        if characters == 0 {
            return Ok(());
        }
        self.delete_around_cursor(characters).await
    }
    async fn delete_around_cursor(&self, characters: usize) -> Result<(), Error> {
        lock(&self.erased).push(characters);
        let mut holds = lock(&self.holds);
        let keep = holds.chars().count().saturating_sub(characters);
        if !self.stuck {
            *holds = holds.chars().take(keep).collect();
        }
        Ok(())
    }
    async fn clipboard(&self) -> Result<Option<String>, Error> {
        Err(self.unsupported("the clipboard"))
    }
    async fn set_clipboard(&self, _text: &str) -> Result<(), Error> {
        Err(self.unsupported("the clipboard"))
    }
}

async fn ask(phone: &Arc<OneField>, typing: TextInput) -> Result<Readback, Failure> {
    let session =
        Session::new(DeviceProviders::adb(AdbServer::new("127.0.0.1:9")), Some("one".into()));
    session.keep("one", Arc::<OneField>::clone(phone));
    let call = Call::with_timeout(Duration::from_secs(60));
    match session.perform(&call, Action::Type(typing)).await? {
        Outcome::Typed(typed) => Ok(typed.field),
        other => panic!("{other:?}"),
    }
}

fn cleared(text: &str) -> TextInput {
    TextInput { clear: true, ..TextInput::of(text) }
}

#[tokio::test]
async fn hidden_text_is_cleared_and_typed_but_not_read() {
    let phone = OneField::holding("old secret", OneField::hides);
    assert_eq!(ask(&phone, cleared("secret")).await, Ok(Readback::Hidden));
    assert_eq!(*lock(&phone.holds), "secret");
    assert_eq!(*lock(&phone.erased), [UNTOLD], "its length is hidden");
}

#[tokio::test]
async fn hidden_text_is_lost_if_the_cursor_is_before_its_length() {
    let blind = || TextInput { blind: true, ..TextInput::of("secret") };
    let hidden = |many: &str| Readback::Differs { shows: format!("{many} hidden characters") };
    // At 0 the field may have taken the text and be ready for the next.
    for (cursor, readback) in
        [(6, Readback::Hidden), (4, hidden("4")), (9, Readback::Hidden), (0, Readback::Hidden)]
    {
        let phone = OneField::new(|phone| {
            phone.hides();
            *lock(&phone.editor) = Some(Editor {
                package: "p".into(),
                id: "field".into(),
                hint: String::new(),
                cursor: Some(cursor),
                multi_line: false,
                popup: false,
            });
        });
        lock(&phone.node).package = "p".into();
        assert_eq!(ask(&phone, blind()).await, Ok(readback), "{cursor}");
    }
}

#[tokio::test]
async fn a_late_look_does_not_type_twice() {
    let phone = OneField::new(|phone| *lock(&phone.late) = 1);
    assert_eq!(ask(&phone, TextInput::of("Milk")).await, Ok(Readback::Same));
    assert_eq!(*lock(&phone.holds), "Milk");
}

#[tokio::test]
async fn text_replaces_another_in_one_step_where_the_phone_can() {
    let phone = OneField::holding("old", |phone| phone.replaces = true);
    assert_eq!(ask(&phone, cleared("new")).await, Ok(Readback::Same));
    assert_eq!(*lock(&phone.holds), "new");
    assert_eq!(ask(&phone, cleared("")).await, Ok(Readback::Same));
    assert_eq!((&**lock(&phone.holds), &**lock(&phone.erased)), ("", &[][..]));
}

#[tokio::test]
async fn line_is_read_back_before_its_enter_submits_it() {
    for clear in [false, true] {
        let phone = OneField::new(|phone| phone.submits = true);
        let typing = TextInput { clear, ..TextInput::of("restaurants\n") };
        assert_eq!(ask(&phone, typing).await, Ok(Readback::Same), "{clear}");
        assert_eq!(*lock(&phone.holds), "", "it was submitted");
    }
    let phone = OneField::new(|_| ());
    assert_eq!(ask(&phone, TextInput::of("one\n")).await, Ok(Readback::Same));
    assert_eq!(*lock(&phone.holds), "one\n", "a field of several lines keeps its end");
}

#[tokio::test]
async fn uncleared_field_reports_its_remaining_text() {
    // Its hint is known, so the text shown is its content.
    let phone = OneField::holding("for ever", |phone| {
        phone.stuck = true;
        lock(&phone.node).hint = "Name".into();
    });
    let failure = ask(&phone, cleared("new")).await.unwrap_err();
    let Cause::DeviceError { text } = &failure.cause else { panic!("{failure:?}") };
    assert!(text.contains("still shows \"for ever\""), "{text}");
    assert_eq!(failure.side_effect, SideEffect::Possible);
    assert_eq!(*lock(&phone.holds), "for ever", "nothing was appended");
}

#[tokio::test]
async fn stuck_text_taken_for_a_hint_is_found_after_typing() {
    let phone = OneField::holding("for ever", |phone| phone.stuck = true);
    let shows = "for evernew".into();
    assert_eq!(ask(&phone, cleared("new")).await, Ok(Readback::Differs { shows }));
    assert_eq!(lock(&phone.erased).len(), 2, "two attempts are enough");
}

#[tokio::test]
async fn hint_that_appears_after_clearing_is_recognized() {
    let phone = OneField::holding("old", |phone| phone.untold_hint = "Name");
    assert_eq!(ask(&phone, cleared("")).await, Ok(Readback::Same));
    assert_eq!(*lock(&phone.erased), [3]);
}

#[tokio::test]
async fn unreadable_screen_does_not_hide_that_text_was_typed() {
    let busy = || Error::NotReady { what: "dump the screen", text: "no idle state".into() };
    // It is retried once.
    for (fails, expected) in
        [(vec![busy()], Readback::Same), (vec![busy(), busy()], Readback::NoField)]
    {
        let phone = OneField::new(|phone| *lock(&phone.fails) = fails);
        assert_eq!(ask(&phone, TextInput::of("x")).await, Ok(expected));
    }
    let gone = Error::NotConnected { reason: "unplugged".into(), acted: SideEffect::None };
    let phone = OneField::new(|phone| *lock(&phone.fails) = vec![gone]);
    let failure = ask(&phone, TextInput::of("x")).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    assert_eq!(failure.side_effect, SideEffect::Possible, "it was typed");
}

#[tokio::test]
async fn text_is_typed_into_a_control_by_id() {
    let phone = OneField::holding("old", |_| ());
    let session =
        Session::new(DeviceProviders::adb(AdbServer::new("127.0.0.1:9")), Some("one".into()));
    session.keep("one", Arc::<OneField>::clone(&phone));
    let call = Call::with_timeout(Duration::from_secs(60));
    let typing = TextInput { into: Some(Target::listed(ControlNumber::at(0))), ..cleared("new") };
    let blind = session.perform(&call, Action::Type(typing.clone())).await.unwrap_err();
    assert!(matches!(blind.cause, Cause::StaleReference { none: true, .. }), "{blind:?}");
    session.perform(&call, Action::Controls { max_age: Duration::ZERO }).await.unwrap();
    let done = session.perform(&call, Action::Type(typing.clone())).await;
    let Ok(Outcome::Typed(TypeResult { into: Some(hit), field: Readback::Same, tapped, .. })) =
        done
    else {
        panic!("{done:?}")
    };
    assert!(!tapped, "it had the focus already");
    assert_eq!((hit.name(), &**lock(&phone.holds)), ("old", "new"));
    session.perform(&call, Action::Controls { max_age: Duration::ZERO }).await.unwrap();
    let always = TextInput { tap_focused: true, ..typing };
    let done = session.perform(&call, Action::Type(always)).await;
    let tapped = |outcome: &Outcome| matches!(outcome, Outcome::Typed(typed) if typed.tapped);
    assert!(done.as_ref().is_ok_and(tapped), "{done:?}");
}

#[tokio::test]
async fn text_without_a_focused_field_is_typed_only_blind() {
    let phone = OneField::new(|phone| lock(&phone.node).flags.focused = false);
    let failure = ask(&phone, TextInput::of("x")).await.unwrap_err();
    assert!(failure.cause.to_string().contains("no text field has focus"), "{failure:?}");
    assert_eq!((failure.side_effect, &**lock(&phone.holds)), (SideEffect::None, ""));
    let blind = TextInput { blind: true, ..TextInput::of("x") };
    assert_eq!(ask(&phone, blind).await, Ok(Readback::NoField));
    assert_eq!(*lock(&phone.holds), "x");
}

#[test]
fn typed_text_is_found_at_any_cursor_position() {
    for (before, shows) in [
        (None, "hello"),
        (None, "say hello!"),
        (Some(""), "hello"),
        (Some("say "), "say hello"),
        (Some("hello"), "hellohello"),
        (Some("[]"), "[hello]"),
        (Some("Search here"), "hello"),
    ] {
        assert_eq!(judge("hello", before, shows, false), Verdict::Same, "{before:?} {shows:?}");
    }
}

#[test]
fn lost_characters_differ_from_changes_by_the_app() {
    let lost = |whole: &str| Verdict::Lost { whole: whole.into() };
    for (before, shows, verdict) in [
        (Some(""), "splay", lost("display")),
        (Some("[]"), "[dply]", lost("[display]")),
        (Some("Search here"), "splay", lost("display")),
        (Some(""), "", Verdict::NothingTyped),
        (Some("Search here"), "Search here", Verdict::NothingTyped),
        (Some(""), "Display", Verdict::Differs),
        (Some(""), "display settings", Verdict::Differs),
        (Some("a"), "b", Verdict::Differs),
        (Some("\u{e9}"), "\u{e9}splay", Verdict::Differs),
        (None, "splay", Verdict::Differs),
        (None, "", Verdict::Differs),
    ] {
        assert_eq!(judge("display", before, shows, false), verdict, "{before:?} {shows:?}");
    }
}

#[test]
fn line_end_may_submit_the_text() {
    assert_eq!(judge("a\nb", Some(""), "a\nb", false), Verdict::Same);
    assert_eq!(judge("a\r\nb", None, "x a\nb", false), Verdict::Same);
    assert_eq!(judge("restaurants\n", Some(""), "", false), Verdict::WrongField);
    assert_eq!(judge("restaurants\n", Some(""), "restaurants", false), Verdict::WrongField);
}

#[test]
fn insertion_is_found_in_multibyte_text() {
    assert_eq!(inserted("\u{e9}\u{6f22}", "\u{e9}x\u{6f22}"), Some((2, "x")));
    assert_eq!(inserted("aa", "aaa"), Some((2, "a")));
    assert_eq!(inserted("abc", "ab"), None);
    assert!(is_part("", "") && is_part("ac", "abc") && !is_part("ca", "abc"));
}

#[test]
fn text_for_the_end_is_not_found_in_the_middle() {
    let lost = |whole: &str| Verdict::Lost { whole: whole.into() };
    for (before, shows, verdict) in [
        ("hello", "helloXYZ", Verdict::Same),
        ("hello", "heXYZllo", lost("helloXYZ")),
        ("hello", "XYZhello", lost("helloXYZ")),
        ("hello", "helloYZ", lost("helloXYZ")),
        ("Search here", "XYZ", Verdict::Same),
        ("XYZ", "XYZXYZ", Verdict::Same),
        ("h\u{e9}llo", "h\u{e9}XYZllo", Verdict::Differs),
    ] {
        assert_eq!(judge("XYZ", Some(before), shows, true), verdict, "{before:?} {shows:?}");
    }
    // Where the cursor was, if nobody moved it; and the text around it is still there.
    assert_eq!(judge("XYZ", Some("hello"), "heXYZllo", false), Verdict::Same);
    assert_ne!(judge("XYZ", Some("hello"), "heXYZl", false), Verdict::Same);
}
