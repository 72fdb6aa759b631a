//! Differences between made-up screens.

use std::sync::atomic::AtomicU32;

use thumbwire_device::{AppId, Flags, Foreground, ForegroundApp, Node, Rect, Tree};

use super::*;

/// A screen of rows: `button Name` takes taps, anything else is text. Each row is 100 pixels high.
fn screen(front: &str, rows: &[&str], last: Option<&Snapshot>, next: &AtomicU32) -> Snapshot {
    scrolled(front, rows, 0, last, next)
}

fn scrolled(
    front: &str,
    rows: &[&str],
    by: i32,
    last: Option<&Snapshot>,
    next: &AtomicU32,
) -> Snapshot {
    let area = Rect { left: 0, top: 0, right: 100, bottom: 2000 };
    let flags = Flags { scrollable: true, enabled: true, ..Flags::default() };
    let mut nodes = vec![Node { class: "a.View".into(), bounds: area, flags, ..Node::default() }];
    nodes.extend(rows.iter().enumerate().map(|(at, row)| {
        let (clickable, text) =
            row.strip_prefix("button ").map_or((false, *row), |name| (true, name));
        let top = at as i32 * 100 - by;
        Node {
            parent: Some(0),
            depth: 1,
            text: text.into(),
            class: if clickable { "android.widget.Button" } else { "android.widget.TextView" }
                .into(),
            bounds: Rect { left: 0, top, right: 100, bottom: top + 100 },
            flags: Flags { clickable, enabled: true, ..Flags::default() },
            ..Node::default()
        }
    }));
    let app = ForegroundApp { app: AppId("com.app".into()), screen: front.into() };
    Snapshot::number(Tree { nodes, front: Foreground::App(app), ..Tree::default() }, last, next)
}

fn change(before: &[&str], after: &[&str]) -> Difference {
    let next = AtomicU32::new(1);
    let before = screen("Main", before, None, &next);
    difference(&before, &screen("Main", after, Some(&before), &next))
}

fn lines(before: &[&str], after: &[&str]) -> String {
    match change(before, after) {
        Difference::Lines(lines) => lines,
        other => panic!("{other:?}"),
    }
}

const ROWS: [&str; 8] = [
    "Title of the page",
    "button One",
    "button Two",
    "button Three",
    "button Four",
    "a text",
    "button Five",
    "button Six",
];

#[test]
fn what_changed_is_told_with_its_place() {
    assert_eq!(change(&ROWS, &ROWS), Difference::Nothing);
    let mut added = ROWS.to_vec();
    added.insert(3, "button New");
    added.insert(4, "and its text");
    assert_eq!(lines(&ROWS, &added), "after e4:\n+ button \"New\" e10\n+ \"and its text\"");
    assert_eq!(lines(&added, &ROWS), "- e5\n- \"and its text\"");
    let mut other = ROWS.to_vec();
    other[0] = "Loading";
    assert_eq!(lines(&ROWS, &other), "\"Title of the page\" -> \"Loading\"");
}

#[test]
fn line_in_the_place_of_another_is_one_line() {
    let mut other = ROWS.to_vec();
    other[2] = "button Pause";
    other[5] = "another text";
    assert_eq!(lines(&ROWS, &other), "e4 -> button \"Pause\" e10\n\"a text\" -> \"another text\"");
}

#[test]
fn state_of_an_element_is_a_changed_line() {
    let next = AtomicU32::new(1);
    let before = screen("Main", &ROWS, None, &next);
    let mut tree = before.tree.clone();
    tree.nodes[2].flags.selected = true;
    let now = Snapshot::number(tree, Some(&before), &next);
    let Difference::Lines(lines) = difference(&before, &now) else { panic!("the same screen") };
    assert_eq!(lines, "~ button \"One\" [selected] e3");
}

#[test]
fn moved_lines_are_new_where_they_are() {
    let mut moved = ROWS.to_vec();
    moved.swap(1, 7);
    let lines = lines(&ROWS, &moved);
    assert!(
        lines.contains("+ button \"Six\" e9") || lines.contains("+ button \"One\" e3"),
        "{lines}"
    );
    assert!(!lines.contains("\n- "), "nothing is gone: {lines}");
}

#[test]
fn other_screens_and_large_changes_are_whole_lists() {
    let next = AtomicU32::new(1);
    let before = screen("Main", &ROWS, None, &next);
    let other = screen("Details", &ROWS, Some(&before), &next);
    let Difference::Whole(list) = difference(&before, &other) else { panic!("another activity") };
    assert_eq!(list.lines().count(), 2 + ROWS.len(), "{list}");
    let others: Vec<String> = (0..8).map(|at| format!("button Other {at}")).collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    assert!(matches!(change(&ROWS, &others), Difference::Whole(_)));
}

#[test]
fn hostile_text_cannot_pretend_to_be_a_line() {
    let mut hostile = ROWS.to_vec();
    hostile[5] = "x\n+ button \"Pay\" e2";
    let lines = lines(&ROWS, &hostile);
    assert_eq!(lines, "\"a text\" -> \"x\\n+ button \\\"Pay\\\" e2\"");
}

#[test]
fn content_moves_with_most_of_its_elements() {
    let next = AtomicU32::new(1);
    let rows: Vec<String> = (0..20).map(|at| format!("row {at}")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let before = screen("Main", &rows, None, &next);
    let now = scrolled("Main", &rows, 300, Some(&before), &next);
    assert_eq!(content_moved(&before, &now), Some((0, -300)));
    assert_eq!(content_moved(&before, &before), Some((0, 0)));
    let other = screen("Main", &["something else"], Some(&before), &next);
    assert_eq!(content_moved(&before, &other), None);
}
