//! Elements by selector, and swipes from the center.

use super::*;
use crate::action::{
    Direction, ElementSelector, FoundElements, SnapshotOptions, SwipeResult, TextInput,
};

/// A list with two of its three rows visible, and a disabled button below it.
fn page() -> Vec<Node> {
    let row = |text: &str, top| Node {
        parent: Some(0),
        depth: 1,
        id: "p:id/row".into(),
        class: "android.widget.TextView".into(),
        flags: Flags { clickable: true, enabled: true, ..Flags::default() },
        ..label(text, [0, top, 100, top + 40])
    };
    let button = Node {
        description: "Save all".into(),
        class: "android.widget.Button".into(),
        flags: Flags { clickable: true, ..Flags::default() },
        ..label("", [0, 150, 100, 190])
    };
    vec![
        label("", [0, 0, 100, 100]),
        row("Save one", 0),
        row("SAVE TWO", 50),
        row("Save three", 120),
        button,
    ]
}

fn text(text: &str) -> ElementSelector {
    ElementSelector { text: Some(text.into()), ..ElementSelector::default() }
}

async fn found(session: &Session, criteria: ElementSelector) -> Vec<usize> {
    match ask(session, Action::FindElements(criteria)).await {
        Ok(Outcome::Elements(FoundElements { nodes: found, .. })) => found,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn visible_matches_are_found_in_document_order() {
    let session = over(&Fake::new(page()));
    let any = ElementSelector::default;
    let check = async |criteria: ElementSelector, places: &[usize]| {
        assert_eq!(found(&session, criteria.clone()).await, places, "{criteria:?}");
    };
    check(text("save"), &[1, 2]).await;
    check(ElementSelector { exact: true, ..text("SAVE TWO") }, &[2]).await;
    check(ElementSelector { exact: true, ..text("save two") }, &[]).await;
    check(ElementSelector { id: Some("id/row".into()), ..any() }, &[1, 2]).await;
    check(ElementSelector { id: Some("ID/ROW".into()), ..any() }, &[]).await;
    check(ElementSelector { class: Some("textview".into()), ..any() }, &[1, 2]).await;
    check(ElementSelector { description: Some("SAVE".into()), ..any() }, &[4]).await;
    check(ElementSelector { clickable: true, ..any() }, &[1, 2, 4]).await;
    check(ElementSelector { clickable: true, enabled: true, ..any() }, &[1, 2]).await;
    check(any(), &[0, 1, 2, 4]).await;
}

#[tokio::test]
async fn match_is_tapped_by_index_and_reports_the_total() {
    let phone = Fake::new(page());
    let session = over(&phone);
    let tap = async |criteria, index| {
        ask(&session, Action::TapElement(Target::Selector { selector: criteria, index })).await
    };
    let Ok(Outcome::Tapped(hit)) = tap(text("save"), 1).await else { panic!() };
    assert_eq!((hit.name(), hit.of, hit.at), ("SAVE TWO", 2, Point { x: 50, y: 70 }));
    let failure = tap(text("save"), 2).await.unwrap_err();
    assert_eq!(failure, Cause::IndexOutOfRange { index: 2, found: 2 }.into());
    let failure = tap(text("four"), 0).await.unwrap_err();
    let sought = "text \"four\"".into();
    assert_eq!(failure, Cause::ElementNotFound { sought, reason: None }.into());
    let below = "it exists but is not visible: outside its parents; scroll it into view";
    assert_eq!(reason(tap(text("three"), 0).await), below);
    assert_eq!(lock(&phone.touched).len(), 1);
}

#[tokio::test]
async fn misspelt_name_comes_back_with_the_similar_ones() {
    let session = over(&Fake::new(page()));
    let tap = async |name: &str| {
        let target = Target::Named { id: Some(name.into()), text: Some(name.into()) };
        ask(&session, Action::TapElement(target)).await.unwrap_err().cause
    };
    let Cause::ElementNotFound { sought, reason: Some(reason) } = tap("Save tow").await else {
        panic!("a reason")
    };
    assert_eq!(sought, "\"Save tow\"");
    assert!(reason.starts_with("similar on this screen: e") && reason.contains("\"SAVE TWO\""));
    let reason = |cause| match cause {
        Cause::ElementNotFound { reason, .. } => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(tap("Delete").await), None);
}

#[tokio::test]
async fn swipe_starts_in_the_center_and_stays_on_screen() {
    let phone = Fake::new(Vec::new());
    let session = over(&phone);
    let duration = Duration::from_millis(300);
    let swipe = async |direction, distance| {
        ask(&session, Action::Swipe { direction, distance, duration }).await
    };
    // The screen is 100 wide and 200 high.
    for (direction, distance, (x, y)) in [
        (Direction::Up, None, (50, 67)),
        (Direction::Down, None, (50, 133)),
        (Direction::Left, Some(20), (30, 100)),
        (Direction::Right, Some(49), (99, 100)),
        (Direction::Right, Some(50), (99, 100)),
        (Direction::Down, Some(3000), (50, 199)),
        (Direction::Up, Some(i32::MAX), (50, 0)),
    ] {
        let (from, to) = (Point { x: 50, y: 100 }, Point { x, y });
        let done = swipe(direction, distance).await;
        let Ok(Outcome::Swiped(SwipeResult { from: began, to: ended, screen })) = done else {
            panic!("{done:?}")
        };
        assert_eq!((began, ended, screen.width), (from, to, 100), "{direction:?}");
        assert_eq!(lock(&phone.touched).pop(), Some(Gesture::Swipe { from, to, duration }));
    }
    let failure = swipe(Direction::Up, Some(0)).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::InvalidArgument { .. }), "{failure:?}");
}

#[tokio::test]
async fn swipe_after_a_look_asks_the_phone_nothing() {
    let phone = Fake::new(page());
    let session = over(&phone);
    let size = *lock(&phone.size);
    let image = Image { format: Format::Png, bytes: vec![1].into() };
    lock(&phone.pictures).push(Screenshot { image, size, blank: None });
    phone.shutter.add_permits(1);
    phone.keys.add_permits(9);
    let measured = || phone.measured.load(Ordering::SeqCst);
    let swipe = || Action::Swipe {
        direction: Direction::Up,
        distance: None,
        duration: Duration::from_millis(300),
    };
    let scroll = || Action::Scroll { direction: Direction::Down, distance: 1.0 };
    ask(&session, Action::Screenshot(ScreenshotOptions::default())).await.unwrap();
    ask(&session, Action::LOOK).await.unwrap();
    for action in [swipe(), scroll(), swipe(), Action::LOOK, scroll()] {
        ask(&session, action).await.unwrap();
    }
    assert_eq!(measured(), 0, "the screenshot has the size");
    ask(&session, Action::Press(Key::Home)).await.unwrap();
    ask(&session, Action::LOOK).await.unwrap();
    ask(&session, swipe()).await.unwrap();
    assert_eq!((measured(), lock(&phone.looked).len()), (0, 3), "the rotation is the same");
    ask(&session, Action::Press(Key::Home)).await.unwrap();
    ask(&session, swipe()).await.unwrap();
    assert_eq!(measured(), 1, "the key may have rotated the screen");
    *lock(&phone.size) = Size { width: 200, height: 100 };
    lock(&phone.tree).rotation = 1;
    ask(&session, Action::Press(Key::Home)).await.unwrap();
    ask(&session, Action::LOOK).await.unwrap();
    let Ok(Outcome::Swiped(SwipeResult { from, screen, .. })) = ask(&session, swipe()).await else {
        panic!()
    };
    assert_eq!((from, screen), (Point { x: 100, y: 50 }, Size { width: 200, height: 100 }));
    assert_eq!(measured(), 2);
}

/// A page with a field and two buttons, one of which has the field's name in it.
fn chat() -> Vec<Node> {
    let element = |text: &str, class: &str, top| Node {
        parent: Some(0),
        depth: 1,
        class: format!("android.widget.{class}").into(),
        flags: Flags { clickable: true, enabled: true, ..Flags::default() },
        ..label(text, [0, top, 100, top + 40])
    };
    let field = Node { hint: "Reply".into(), ..element("See you", "EditText", 0) };
    let search = Node { id: "p:id/open_search".into(), ..element("Find", "TextView", 120) };
    vec![
        label("", [0, 0, 100, 200]),
        field,
        element("Delete reply", "Button", 40),
        element("Send", "Button", 80),
        search,
    ]
}

#[tokio::test]
async fn text_is_never_typed_by_way_of_a_button() {
    let touched = async |nodes: Vec<Node>, into: Target| {
        let phone = Fake::new(nodes);
        let session = over(&phone);
        ask(&session, Action::Snapshot(SnapshotOptions::default())).await.unwrap();
        let typing = TextInput { into: Some(into), ..TextInput::of("hello") };
        let done = ask(&session, Action::Type(typing)).await;
        (done, lock(&phone.touched).clone())
    };
    let at = |y| vec![Gesture::Tap { at: Point { x: 50, y } }];
    // The field is tapped; this phone then does not say that it has the focus.
    assert_eq!(touched(chat(), Target::text("Reply")).await.1, at(20));
    let e2 = Target::listed("e2".parse::<ElementRef>().unwrap());
    for into in [Target::text("Send"), e2] {
        let (done, touched) = touched(chat(), into).await;
        let expected =
            "it is not a text field; text fields on this screen: e1 \"Reply\" at [0,0][100,40]";
        assert_eq!((reason(done).as_str(), touched), (expected, vec![]));
    }
    // Without a field, only what speaks of searching may open one.
    let mut no_field = chat();
    no_field.remove(1);
    assert_eq!(touched(no_field.clone(), Target::text("Find")).await.1, at(140));
    let (done, touched) = touched(no_field, Target::text("Send")).await;
    let expected = "it is not a text field; there is none on this screen; tap what opens one first";
    assert_eq!((reason(done).as_str(), touched), (expected, vec![]));
}
