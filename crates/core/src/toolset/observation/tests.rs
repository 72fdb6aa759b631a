//! What replies tell of made-up screens.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use thumbwire_device::{Flags, Node, Rect, Tree};

use super::*;

/// Twenty rows of 100 pixels on a screen of 1000, scrolled down by so much.
fn rows(by: i32, last: Option<&Snapshot>) -> Arc<Snapshot> {
    let screen = Rect { left: 0, top: 0, right: 500, bottom: 1000 };
    let flags = Flags { scrollable: true, enabled: true, ..Flags::default() };
    let mut nodes = vec![Node { bounds: screen, flags, ..Node::default() }];
    nodes.extend(
        (0..20).map(|at| (at, at * 100 - by)).filter(|(_, top)| (0..1000).contains(top)).map(
            |(at, top)| Node {
                parent: Some(0),
                depth: 1,
                text: format!("row {at}").into(),
                bounds: Rect { left: 0, top, right: 500, bottom: top + 100 },
                ..Node::default()
            },
        ),
    );
    Arc::new(Snapshot::number(Tree { nodes, ..Tree::default() }, last, &AtomicU32::new(1)))
}

fn reply_after(by: i32, direction: Direction) -> String {
    let before = rows(500, None);
    let now = rows(500 + by, Some(&before));
    let seen =
        Observation { now, before: Some(before), settled: true, took: Duration::from_millis(2400) };
    screen_text(&seen, ObserveMode::Diff, Some(AskedScroll { direction, distance: 0.5 }))
}

#[test]
fn scroll_tells_how_far_and_whether_it_met_the_end() {
    let whole = reply_after(500, Direction::Down);
    assert!(whole.starts_with("Moved 500 px\n"), "{whole}");
    assert!(whole.ends_with("\n(looking took 2.4 s)"), "{whole}");
    assert!(
        reply_after(200, Direction::Down).starts_with("Moved 200 px; the end down is reached\n")
    );
    assert!(reply_after(-500, Direction::Up).starts_with("Moved 500 px\n"));
    assert_eq!(
        reply_after(0, Direction::Up),
        "Nothing moved: this is the end up, or it does not scroll\n(looking took 2.4 s)"
    );
}

#[test]
fn another_page_beside_what_stays_is_no_end() {
    let before = rows(500, None);
    let mut tree = rows(500, None).tree.clone();
    tree.nodes[3].text = "Page 2".into();
    let now = Arc::new(Snapshot::number(tree, Some(&before), &AtomicU32::new(50)));
    let took = Duration::ZERO;
    let seen = Observation { now, before: Some(before), settled: true, took };
    let scroll = AskedScroll { direction: Direction::Right, distance: 0.5 };
    let text = screen_text(&seen, ObserveMode::Diff, Some(scroll));
    assert!(text.contains("Page 2") && !text.contains("Nothing moved"), "{text}");
}
