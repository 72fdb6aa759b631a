//! Controls by the rules of the UFO MobileAgent servers: what their ids mean, and for how long.

use proptest::prelude::*;

use super::*;
use crate::action::{ControlNumber, Controls, NumberedList, SnapshotOptions};
use crate::snapshot::Snapshot;

const FIVE_SECONDS: Duration = Duration::from_secs(5);
const MINUTE: Duration = Duration::from_secs(60);

fn button(text: &str, bounds: [i32; 4]) -> Node {
    Node { class: "android.widget.Button".into(), ..label(text, bounds) }
}

async fn list(session: &Session, max_age: Duration) -> Arc<Controls> {
    match ask(session, Action::Controls { max_age }).await {
        Ok(Outcome::Controls(controls)) => controls,
        other => panic!("{other:?}"),
    }
}

fn tap(number: &str) -> Action {
    Action::TapElement(Target::listed(number.parse::<ControlNumber>().unwrap()))
}

async fn hit(session: &Session, number: &str) -> (String, Point) {
    match ask(session, tap(number)).await {
        Ok(Outcome::Tapped(hit)) => (hit.name().to_owned(), hit.at),
        other => panic!("{other:?}"),
    }
}

/// Why the id was refused, and whether there was no list at all.
async fn refused(session: &Session, number: &str) -> (Option<String>, bool) {
    match ask(session, tap(number)).await {
        Err(Failure {
            cause:
                Cause::StaleReference { list: NumberedList::Controls, number: stale, reason, none },
            side_effect: SideEffect::None,
        }) => {
            assert_eq!(stale, number);
            (reason, none)
        }
        other => panic!("{other:?}"),
    }
}

fn row() -> Vec<Node> {
    ["7", "8", "9"]
        .into_iter()
        .zip(0..)
        .map(|(text, at)| button(text, [at * 30, 0, at * 30 + 30, 20]))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn controls_beside_a_screenshot_give_ids_their_meaning() {
    let phone = Fake::new(row());
    *lock(&phone.pictures) = vec![picture(b"shot")];
    phone.shutter.add_permits(1);
    let session = over(&phone);
    assert_eq!(refused(&session, "2").await, (None, true));
    let taken = ask(&session, Action::ScreenshotAndControls(ScreenshotOptions::default())).await;
    let Ok(Outcome::ScreenshotAndControls(taken)) = taken else { panic!("{taken:?}") };
    assert_eq!(&taken.screenshot.image.bytes[..], b"shot");
    assert_eq!(taken.controls.nodes, [0, 1, 2]);
    assert_eq!(hit(&session, "2").await.0, "8");
    assert_eq!(list(&session, FIVE_SECONDS).await.nodes, [0, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn old_control_id_follows_its_control_until_an_action() {
    let phone = Fake::new(row());
    let session = over(&phone);
    list(&session, Duration::ZERO).await;
    tokio::time::advance(MINUTE).await;
    // A new element pushed it down.
    lock(&phone.tree).nodes = vec![button("New", [0, 0, 30, 20]), button("8", [30, 100, 60, 120])];
    assert_eq!(hit(&session, "2").await, ("8".into(), Point { x: 45, y: 110 }));
    let before = Some("stale reference: the screen changed since it was listed".into());
    assert_eq!(refused(&session, "2").await, (before, false));
    assert_eq!(lock(&phone.touched).len(), 1);
    assert_eq!(lock(&phone.looked).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn recent_control_id_needs_no_snapshot() {
    let phone = Fake::new(row());
    let session = over(&phone);
    list(&session, Duration::ZERO).await;
    tokio::time::advance(FIVE_SECONDS).await;
    assert_eq!(hit(&session, "1").await, ("7".into(), Point { x: 15, y: 10 }));
    assert_eq!(lock(&phone.looked).len(), 1);
    list(&session, Duration::ZERO).await;
    tokio::time::advance(FIVE_SECONDS + Duration::from_millis(1)).await;
    assert_eq!(hit(&session, "1").await, ("7".into(), Point { x: 15, y: 10 }));
    assert_eq!(lock(&phone.looked).len(), 3, "an older id is looked up again");
}

#[tokio::test(start_paused = true)]
async fn invalid_control_id_is_refused_with_a_reason() {
    let phone = Fake::new(row());
    let session = over(&phone);
    assert_eq!(refused(&session, "1").await, (None, true));
    list(&session, Duration::ZERO).await;
    assert_eq!(refused(&session, "4").await, (None, false));
    tokio::time::advance(MINUTE).await;
    let eight = |top| button("8", [30, top, 60, top + 20]);
    lock(&phone.tree).nodes = vec![eight(100), eight(150), button("9", [60, 0, 90, 20])];
    let (gone, _) = refused(&session, "1").await;
    assert_eq!(gone.unwrap(), "it is no longer on the screen, or its text changed");
    let (several, none) = refused(&session, "2").await;
    assert!(several.unwrap().starts_with("2 elements match"));
    assert!(!none && lock(&phone.touched).is_empty());
    // Looking up ids again makes no new list: the third id keeps its meaning.
    assert_eq!(hit(&session, "3").await.0, "9");
}

#[tokio::test(start_paused = true)]
async fn control_without_text_is_tapped_only_in_place() {
    let mute = |left| button("", [left, 0, left + 30, 20]);
    let phone = Fake::new(vec![mute(0), mute(30)]);
    let session = over(&phone);
    list(&session, Duration::ZERO).await;
    tokio::time::advance(MINUTE).await;
    lock(&phone.tree).nodes = vec![mute(30)];
    assert!(refused(&session, "1").await.0.is_some());
    assert_eq!(hit(&session, "2").await.1, Point { x: 45, y: 10 });
}

/// A list of messages: each row has a name and, in a separate frame, the same two buttons.
fn messages(names: &[&str]) -> Vec<Node> {
    let below = |parent, depth, node| Node { parent: Some(parent), depth, ..node };
    let mut nodes = vec![label("", [0, 0, 100, 200])];
    for (name, top) in names.iter().zip((0..).step_by(20)) {
        let (row, bottom) = (nodes.len(), top + 20);
        nodes.push(below(0, 1, label("", [0, top, 100, bottom])));
        nodes.push(below(row, 2, label(name, [0, top, 40, bottom])));
        nodes.push(below(row, 2, label("", [40, top, 100, bottom])));
        nodes.push(below(row + 2, 3, button("Reply", [40, top, 70, bottom])));
        nodes.push(below(row + 2, 3, button("Delete", [70, top, 100, bottom])));
    }
    nodes
}

#[tokio::test(start_paused = true)]
async fn repeated_button_is_tapped_only_in_its_own_row() {
    // The ids of the delete buttons: 3, 6, 9.
    for (then, now, number, hit_at) in [
        (["Anna", "Ben"].as_slice(), ["Ben"].as_slice(), "3", None),
        (&["Anna", "Ben"], &["Ben"], "6", Some(10)),
        (&["Anna", "Ben"], &["Carl", "Anna", "Ben"], "3", Some(30)),
        (&["Anna", "Ben"], &["Carl", "Ben"], "3", None),
        (&["Anna"], &["Carl", "Anna"], "3", Some(30)),
        (&["Anna"], &["Carl", "Dora"], "3", None),
        (&["Anna", "Anna"], &["Anna"], "3", None),
        (&["Anna", "Anna"], &["Anna", "Anna"], "6", Some(30)),
        (&["Anna", "Anna", "Ben"], &["Ben", "Anna", "Anna"], "6", None),
        (&["Anna", "Ben"], &["Ben", "Anna", "Anna"], "3", None),
    ] {
        let phone = Fake::new(messages(then));
        let session = over(&phone);
        list(&session, Duration::ZERO).await;
        tokio::time::advance(MINUTE).await;
        lock(&phone.tree).nodes = messages(now);
        match hit_at {
            Some(y) => {
                let expected = ("Delete".into(), Point { x: 85, y });
                assert_eq!(hit(&session, number).await, expected, "{then:?} {now:?} {number}");
            }
            None => assert!(refused(&session, number).await.0.is_some(), "{then:?} {now:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn ref_does_not_move_to_a_similar_element() {
    for (then, now) in
        [(["Anna", "Ben"].as_slice(), ["Ben"].as_slice()), (&["Anna", "Ben"], &["Carl", "Ben"])]
    {
        let phone = Fake::new(messages(then));
        let session = over(&phone);
        let snapshot = look_now(&session).await;
        let delete =
            snapshot.refs.iter().find(|it| snapshot.tree.nodes[it.node].name() == "Delete");
        let id = delete.unwrap().id.to_string();
        let stays =
            snapshot.refs.iter().filter(|it| now.contains(&snapshot.tree.nodes[it.node].name()));
        let stays: Vec<ElementRef> = stays.map(|it| it.id).collect();
        lock(&phone.tree).nodes = messages(now);
        let snapshot = look_now(&session).await;
        let out = reason(ask(&session, number(&id)).await);
        assert_eq!(out, "it is not in the last snapshot", "{then:?} {now:?}");
        let kept = snapshot.refs.iter().any(|it| stays.contains(&it.id));
        assert!(kept, "what is still there keeps its ref, moved or not");
    }
}

async fn look_now(session: &Session) -> Arc<Snapshot> {
    let looking = SnapshotOptions { detail: TreeDetail::Full, max_age: Duration::ZERO };
    match ask(session, Action::Snapshot(looking)).await {
        Ok(Outcome::Snapshot(look)) => look,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn same_button_in_another_app_is_not_tapped() {
    let of = |app: &str| Node { package: app.into(), ..button("OK", [0, 0, 30, 20]) };
    let phone = Fake::new(vec![of("com.shop")]);
    let session = over(&phone);
    list(&session, Duration::ZERO).await;
    tokio::time::advance(MINUTE).await;
    lock(&phone.tree).nodes = vec![of("android")];
    assert!(refused(&session, "1").await.0.is_some());
}

#[tokio::test(start_paused = true)]
async fn hidden_control_has_an_id_but_is_not_tapped() {
    let phone = Fake::new(vec![
        Node {
            flags: Flags { scrollable: true, ..Flags::default() },
            ..label("", [0, 0, 100, 100])
        },
        Node { parent: Some(0), depth: 1, ..button("Below", [0, 110, 30, 130]) },
        button("Aside", [300, 0, 330, 20]),
    ]);
    let session = over(&phone);
    assert_eq!(list(&session, Duration::ZERO).await.nodes, [0, 1, 2]);
    assert_eq!(reason(ask(&session, tap("2")).await), "it is not visible (outside its parents)");
    assert!(reason(ask(&session, tap("3")).await).contains("is outside the screen"));
    assert!(lock(&phone.touched).is_empty());
}

#[tokio::test(start_paused = true)]
async fn control_ids_refer_to_the_newest_list() {
    let phone = Fake::new(row());
    let session = over(&phone);
    let first = list(&session, FIVE_SECONDS).await;
    lock(&phone.tree).nodes.reverse();
    tokio::time::advance(FIVE_SECONDS).await;
    assert!(Arc::ptr_eq(&first, &list(&session, FIVE_SECONDS).await));
    tokio::time::advance(Duration::from_millis(1)).await;
    list(&session, FIVE_SECONDS).await;
    assert_eq!(hit(&session, "1").await.0, "9");
    list(&session, FIVE_SECONDS).await;
    assert_eq!(lock(&phone.looked).len(), 3, "an action invalidates the list");
}

#[tokio::test(start_paused = true)]
async fn control_ids_requested_before_an_action_are_stale() {
    let phone = Fake::new(row());
    let session = over(&phone);
    phone.keys.add_permits(1);
    let listing = ask(&session, Action::Controls { max_age: Duration::ZERO });
    let (listed, done) = tokio::join!(listing, ask(&session, Action::Press(Key::Home)));
    assert!(listed.is_ok() && done.is_ok());
    assert!(refused(&session, "1").await.0.is_some());
}

#[tokio::test(start_paused = true)]
async fn concurrent_lists_share_one_snapshot() {
    let phone = Fake::new(row());
    let session = over(&phone);
    let (one, two) = tokio::join!(list(&session, FIVE_SECONDS), list(&session, FIVE_SECONDS));
    assert!(Arc::ptr_eq(&one, &two));
    assert_eq!(lock(&phone.looked).len(), 1);
}

/// An event between a list and the taps by its ids.
#[derive(Debug, Clone)]
enum Step {
    List,
    /// The screen changes by itself to these texts, each in its own place.
    Shows(Vec<(u8, i32)>),
    Act,
    Wait(u64),
    Tap(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let shows = prop::collection::btree_map(0..8_i32, 0..5_u8, 0..6);
    let shows = shows.prop_map(|shows| shows.into_iter().map(|(place, word)| (word, place)));
    let step = prop_oneof![
        2 => Just(Step::List),
        3 => shows.prop_map(|shows| Step::Shows(shows.collect())),
        1 => Just(Step::Act),
        2 => (0..12_u64).prop_map(Step::Wait),
        5 => (1..7_usize).prop_map(Step::Tap),
    ];
    prop::collection::vec(step, 1..40)
}

/// One button per place; word 0 is the empty text.
fn showing(shows: &[(u8, i32)]) -> Vec<Node> {
    let word = |word: u8| if word == 0 { String::new() } else { format!("word {word}") };
    let node =
        |&(said, place): &(u8, i32)| button(&word(said), [0, place * 20, 50, place * 20 + 20]);
    shows.iter().map(node).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens, a tap by id hits the control that the id was assigned to, on the screen as
    /// it was within the last five seconds; and nothing after an action.
    #[test]
    fn taps_by_id_never_hit_another_control(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let phone = Fake::new(Vec::new());
            let session = over(&phone);
            // The list, and when it was seen; none after an act.
            let mut out: Option<(Vec<Node>, Instant)> = None;
            for step in &steps {
                match step {
                    Step::List => {
                        list(&session, Duration::ZERO).await;
                        out = Some((lock(&phone.tree).nodes.clone(), Instant::now()));
                    }
                    Step::Shows(shows) => lock(&phone.tree).nodes = showing(shows),
                    Step::Act => {
                        phone.keys.add_permits(1);
                        ask(&session, Action::Press(Key::Back)).await.unwrap();
                        out = None;
                    }
                    Step::Wait(seconds) => {
                        tokio::time::advance(Duration::from_secs(*seconds)).await;
                    }
                    Step::Tap(number) => {
                        let done = ask(&session, tap(&number.to_string())).await;
                        let touched = lock(&phone.touched).pop();
                        assert_eq!(done.is_ok(), touched.is_some(), "{done:?}");
                        let Some(touched) = touched else { continue };
                        let (list, seen) = out.take().expect("expected a list since the last action");
                        let meant = &list[number - 1];
                        let now = match seen.elapsed() <= FIVE_SECONDS {
                            true => list.clone(),
                            false => lock(&phone.tree).nodes.clone(),
                        };
                        let [at, _] = touched.ends();
                        let hit = now.iter().find(|node| node.bounds.contains(at)).unwrap();
                        assert_eq!(hit.text, meant.text);
                        let alike = now.iter().filter(|node| node.text == meant.text).count();
                        assert!(alike == 1 || hit.bounds == meant.bounds, "one of {alike}");
                        assert!(!meant.text.is_empty() || hit.bounds == meant.bounds);
                    }
                }
            }
        });
    }
}
