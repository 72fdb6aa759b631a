//! What is made of a field's content, and the whole of typing over a phone with one field that does what a test says.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_adb::AdbServer;
use thumbwire_device::{
    App, AppId, Detail, Device, Error, Flags, Foreground, Gesture, Identity, Info, Key, Platform,
    Rect, Screenshot, Size, Tree,
};

use super::*;
use crate::action::{Action, Call, Perform as _};
use crate::session::{Phones, Session, lock};

/// A phone with one field, which has the focus.
struct OneField {
    identity: Identity,
    node: Mutex<Node>,
    /// What is shown while the field is empty, and not told apart from text.
    untold_hint: &'static str,
    /// Keys that erase do nothing.
    stuck: bool,
    /// What becomes of the connection, or the dump, once something was typed.
    fails: Mutex<Vec<Error>>,
    holds: Mutex<String>,
    erased: Mutex<Vec<usize>>,
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
            fails: Mutex::default(),
            holds: Mutex::default(),
            erased: Mutex::default(),
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
    async fn tree(&self, _detail: Detail) -> Result<Tree, Error> {
        let holds = lock(&self.holds).clone();
        if !holds.is_empty()
            && let Some(error) = lock(&self.fails).pop()
        {
            return Err(error);
        }
        let mut node = lock(&self.node).clone();
        node.text = match (holds.as_str(), node.flags.password) {
            ("", _) if node.hint.is_empty() => self.untold_hint.into(),
            ("", _) => node.hint.clone(),
            (_, true) => String::new(),
            (text, false) => text.into(),
        };
        Ok(Tree { nodes: vec![node], ..Tree::default() })
    }
    async fn touch(&self, _gesture: Gesture) -> Result<(), Error> {
        Ok(())
    }
    async fn type_text(&self, text: &str) -> Result<TypedBy, Error> {
        lock(&self.holds).push_str(text);
        Ok(TypedBy::Keys)
    }
    async fn erase(&self, characters: usize) -> Result<(), Error> {
        lock(&self.erased).push(characters);
        let mut holds = lock(&self.holds);
        let keep = holds.chars().count().saturating_sub(characters);
        if !self.stuck {
            *holds = holds.chars().take(keep).collect();
        }
        Ok(())
    }
    async fn press(&self, _key: Key) -> Result<(), Error> {
        Ok(())
    }
    async fn apps(&self) -> Result<Vec<App>, Error> {
        Ok(Vec::new())
    }
    async fn launch(&self, _app: &AppId) -> Result<String, Error> {
        Ok(String::new())
    }
    async fn stop(&self, _app: &AppId) -> Result<(), Error> {
        Ok(())
    }
    async fn foreground(&self) -> Result<Option<Foreground>, Error> {
        Ok(None)
    }
    async fn info(&self) -> Result<Info, Error> {
        Err(self.unsupported("telling of itself"))
    }
    async fn properties(&self) -> Result<Vec<(String, String)>, Error> {
        Ok(Vec::new())
    }
}

async fn ask(phone: &Arc<OneField>, typing: Typing) -> Result<Readback, Failure> {
    let session = Session::new(Phones::new(AdbServer::new("127.0.0.1:9")), Some("one".into()));
    session.keep("one", Arc::<OneField>::clone(phone));
    let call = Call::within(Duration::from_secs(60));
    match session.perform(&call, Action::Type(typing)).await? {
        Outcome::Typed(typed) => Ok(typed.field),
        other => panic!("{other:?}"),
    }
}

fn cleared(text: &str) -> Typing {
    Typing { clear: true, ..Typing::of(text) }
}

#[tokio::test]
async fn what_a_field_hides_is_cleared_typed_and_not_read() {
    let phone = OneField::holding("old secret", OneField::hides);
    assert_eq!(ask(&phone, cleared("secret")).await, Ok(Readback::Hidden));
    assert_eq!(*lock(&phone.holds), "secret");
    assert_eq!(*lock(&phone.erased), [UNTOLD], "it does not tell how long it is");
}

#[tokio::test]
async fn a_field_that_cannot_be_cleared_says_what_still_stands_there() {
    // Its hint is known, so what it shows is its content.
    let phone = OneField::holding("for ever", |phone| {
        phone.stuck = true;
        lock(&phone.node).hint = "Name".into();
    });
    let failure = ask(&phone, cleared("new")).await.unwrap_err();
    let Cause::PhoneFailed { said } = &failure.cause else { panic!("{failure:?}") };
    assert!(said.contains("still shows \"for ever\""), "{said}");
    assert_eq!(failure.acted, Acted::Maybe);
    assert_eq!(*lock(&phone.holds), "for ever", "nothing was typed behind it");
}

#[tokio::test]
async fn what_looks_like_a_hint_and_is_none_shows_when_something_stands_behind_it() {
    let phone = OneField::holding("for ever", |phone| phone.stuck = true);
    let shows = "for evernew".into();
    assert_eq!(ask(&phone, cleared("new")).await, Ok(Readback::Differs { shows }));
    assert_eq!(lock(&phone.erased).len(), 2, "twice is enough to know");
}

#[tokio::test]
async fn a_hint_that_comes_forth_is_known_for_one() {
    let phone = OneField::holding("old", |phone| phone.untold_hint = "Name");
    assert_eq!(ask(&phone, cleared("")).await, Ok(Readback::Same));
    assert_eq!(*lock(&phone.erased), [3]);
}

#[tokio::test]
async fn a_screen_that_cannot_be_read_costs_nobody_the_news_that_it_was_typed() {
    let busy = || Error::NotReady { what: "dump the screen", said: "no idle state".into() };
    // It is asked for once more.
    for (fails, told) in [(vec![busy()], Readback::Same), (vec![busy(), busy()], Readback::NoField)]
    {
        let phone = OneField::new(|phone| *lock(&phone.fails) = fails);
        assert_eq!(ask(&phone, Typing::of("x")).await, Ok(told));
    }
    let gone = Error::NotConnected { why: "unplugged".into(), acted: Acted::No };
    let phone = OneField::new(|phone| *lock(&phone.fails) = vec![gone]);
    let failure = ask(&phone, Typing::of("x")).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    assert_eq!(failure.acted, Acted::Maybe, "it was typed");
}

#[tokio::test]
async fn text_goes_into_a_numbered_control() {
    let phone = OneField::holding("old", |_| ());
    let session = Session::new(Phones::new(AdbServer::new("127.0.0.1:9")), Some("one".into()));
    session.keep("one", Arc::<OneField>::clone(&phone));
    let call = Call::within(Duration::from_secs(60));
    let typing = Typing { into: Some(Target::Control("1".into())), ..cleared("new") };
    let blind = session.perform(&call, Action::Type(typing.clone())).await.unwrap_err();
    assert!(matches!(blind.cause, Cause::NotListed { none: true, .. }), "{blind:?}");
    session.perform(&call, Action::Controls { no_older_than: Duration::ZERO }).await.unwrap();
    let done = session.perform(&call, Action::Type(typing)).await;
    let Ok(Outcome::Typed(Typed { into: Some(hit), field: Readback::Same, .. })) = done else {
        panic!("{done:?}")
    };
    assert_eq!((hit.name(), &**lock(&phone.holds)), ("old", "new"));
}

#[test]
fn a_text_that_stands_there_is_found_wherever_the_cursor_was() {
    for (before, shows) in [
        (None, "hello"),
        (None, "say hello!"),
        (Some(""), "hello"),
        (Some("say "), "say hello"),
        (Some("hello"), "hellohello"),
        (Some("[]"), "[hello]"),
        (Some("Search here"), "hello"),
    ] {
        assert_eq!(judge("hello", before, shows), Verdict::Same, "{before:?} {shows:?}");
    }
}

#[test]
fn what_is_missing_is_told_from_what_the_app_made_of_it() {
    let lost = |whole: &str| Verdict::Lost { whole: whole.into() };
    for (before, shows, verdict) in [
        (Some(""), "splay", lost("display")),
        (Some("[]"), "[dply]", lost("[display]")),
        (Some("Search here"), "splay", lost("display")),
        (Some(""), "", Verdict::NothingCame),
        (Some("Search here"), "Search here", Verdict::NothingCame),
        (Some(""), "Display", Verdict::Differs),
        (Some(""), "display settings", Verdict::Differs),
        (Some("a"), "b", Verdict::Differs),
        (Some("\u{e9}"), "\u{e9}splay", Verdict::Differs),
        (None, "splay", Verdict::Differs),
        (None, "", Verdict::Differs),
    ] {
        assert_eq!(judge("display", before, shows), verdict, "{before:?} {shows:?}");
    }
}

#[test]
fn a_line_end_may_have_taken_the_text_elsewhere() {
    assert_eq!(judge("a\nb", Some(""), "a\nb"), Verdict::Same);
    assert_eq!(judge("a\r\nb", None, "x a\nb"), Verdict::Same);
    assert_eq!(judge("restaurants\n", Some(""), ""), Verdict::Elsewhere);
    assert_eq!(judge("restaurants\n", Some(""), "restaurants"), Verdict::Elsewhere);
}

#[test]
fn an_insertion_is_found_among_characters_of_any_length() {
    assert_eq!(inserted("\u{e9}\u{6f22}", "\u{e9}x\u{6f22}"), Some((2, "x")));
    assert_eq!(inserted("aa", "aaa"), Some((2, "a")));
    assert_eq!(inserted("abc", "ab"), None);
    assert!(is_part("", "") && is_part("ac", "abc") && !is_part("ca", "abc"));
}
