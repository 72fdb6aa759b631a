//! Lists of made screens.

use std::sync::atomic::AtomicU32;

use thumbwire_device::{AppId, Flags, ForegroundApp, Node, Tree};

use super::*;

/// A node at a depth, with a class, texts, and flags as words.
struct Spec(usize, &'static str, &'static str, &'static str);

/// A tree of these nodes, each 10 pixels below the one before.
fn tree(specs: &[Spec]) -> Tree {
    let mut nodes: Vec<Node> = Vec::new();
    for (at, Spec(depth, class, texts, words)) in specs.iter().enumerate() {
        let has = |word: &str| words.split(' ').any(|given| given == word);
        let (text, description) = texts.split_once('|').unwrap_or((texts, ""));
        let value = |key: &str| {
            words.split(' ').find_map(|word| word.strip_prefix(key)).unwrap_or_default()
        };
        let flags = Flags {
            clickable: has("click"),
            long_clickable: has("long"),
            checkable: has("check") || has("checked"),
            checked: has("checked"),
            scrollable: has("scroll"),
            selected: has("selected"),
            focused: has("focused"),
            password: has("password"),
            enabled: !has("disabled"),
            ..Flags::default()
        };
        let top = if has("same") { nodes[at - 1].bounds.top } else { at as i32 * 10 };
        let bottom = if has("gone") { top } else { 1000 };
        nodes.push(Node {
            parent: nodes.iter().rposition(|node| node.depth + 1 == *depth),
            depth: *depth,
            class: (*class).into(),
            text: text.into(),
            description: description.into(),
            hint: value("hint=").into(),
            id: value("id=").into(),
            bounds: Rect { left: 0, top, right: 100, bottom },
            flags,
            ..Node::default()
        });
    }
    let front = ForegroundApp { app: AppId("com.app".into()), screen: "com.app.Main".into() };
    Tree { nodes, front: Foreground::App(front), ..Tree::default() }
}

fn list(specs: &[Spec]) -> String {
    let snapshot = Snapshot::number(tree(specs), None, &AtomicU32::new(1));
    let text = outline(&snapshot, OutlineDetail::Compact);
    text.strip_prefix("com.app .Main\n").unwrap_or(&text).to_owned()
}

/// Text is typed without them, and they would be most of the list.
#[test]
fn keys_of_an_ios_keyboard_for_characters_have_no_lines() {
    let screen = [
        Spec(0, "XCUIElementTypeTextField", "", "click hint=Name"),
        Spec(0, "XCUIElementTypeKeyboard", "", ""),
        Spec(1, "XCUIElementTypeKey", "q", "click"),
        Spec(1, "XCUIElementTypeButton", "shift", "click"),
        Spec(1, "XCUIElementTypeKey", "space", "click"),
        Spec(1, "XCUIElementTypeButton", "return", "click"),
        Spec(0, "XCUIElementTypeButton", "X", "click"),
    ];
    let snapshot = Snapshot::number(tree(&screen), None, &AtomicU32::new(1));
    let text = outline(&snapshot, OutlineDetail::Compact);
    let (header, text) = text.split_once('\n').unwrap();
    assert_eq!(header, "com.app .Main [keyboard shown]");
    assert_eq!(
        text,
        "field placeholder \"Name\" e1\nbutton \"shift\" e3\n\"space\" e4\nbutton \"return\" e5\nbutton \"X\" e6"
    );
}

#[test]
fn row_is_one_line_with_its_texts() {
    let row = [
        Spec(0, "a.RecyclerView", "", "scroll"),
        Spec(1, "a.LinearLayout", "|Thai Orchid, 4.7 stars", "click"),
        Spec(2, "a.TextView", "Thai Orchid", ""),
        Spec(2, "a.TextView", "4.7", ""),
        Spec(2, "a.TextView", "star", ""),
        Spec(2, "a.TextView", "Open", ""),
        Spec(2, "a.TextView", "Open", ""),
        Spec(2, "a.ImageButton", "|More", "click"),
    ];
    let expected =
        "list e1\n \"Thai Orchid, 4.7 stars\" \"star\" \"Open\" e2\n  button \"More\" e8";
    assert_eq!(list(&row), expected);
}

#[test]
fn nameless_button_takes_its_label_else_its_id_else_its_place() {
    let buttons = [
        Spec(0, "a.FrameLayout", "", ""),
        Spec(1, "a.Button", "", "click"),
        Spec(2, "a.TextView", "Pay", ""),
        Spec(1, "a.ImageButton", "", "click id=com.app:id/fab"),
        Spec(1, "a.View", "", "long"),
    ];
    let expected = "button \"Pay\" e1\nbutton #fab e3\n[0,40][100,1000] [long press] e4";
    assert_eq!(list(&buttons), expected);
}

#[test]
fn controls_take_the_label_beside_them() {
    let row = [
        Spec(0, "a.LinearLayout", "", "click"),
        Spec(1, "a.TextView", "Airplane mode", ""),
        Spec(1, "a.Switch", "", "checked"),
        Spec(0, "a.LinearLayout", "", ""),
        Spec(1, "a.TextView", "Volume", ""),
        Spec(1, "a.SeekBar", "50", ""),
        Spec(0, "a.LinearLayout", "", ""),
        Spec(1, "a.TextView", "Terms", ""),
        Spec(1, "a.CheckBox", "", "click check disabled"),
        Spec(0, "a.ProgressBar", "30%", ""),
    ];
    let expected = "switch \"Airplane mode\" [on] e1\nslider \"Volume\" = \"50\" e5\n\
                    checkbox \"Terms\" [unchecked] [disabled] e7\nprogress = \"30%\"";
    assert_eq!(list(&row), expected);
}

#[test]
fn control_takes_a_label_that_repeats_its_name() {
    let row = [
        Spec(0, "a.LinearLayout", "", ""),
        Spec(1, "a.TextView", "Brightness", ""),
        Spec(1, "a.TextView", "50%", ""),
        Spec(1, "a.SeekBar", "|Brightness", ""),
        Spec(0, "a.LinearLayout", "", ""),
        Spec(1, "a.TextView", "Now playing", ""),
        Spec(1, "a.SeekBar", "|Position", ""),
    ];
    let expected = "slider \"Brightness\" \"50%\" e3\n\"Now playing\"\nslider \"Position\" e5";
    assert_eq!(list(&row), expected);
}

#[test]
fn text_beside_a_control_names_it() {
    let row = [
        Spec(0, "a.LinearLayout", "", ""),
        Spec(1, "a.TextView", "Volume", ""),
        Spec(1, "a.SeekBar", "50", ""),
        Spec(0, "a.LinearLayout", "", "click"),
        Spec(1, "a.TextView", "Airplane mode", ""),
        Spec(1, "a.Switch", "", "checked"),
        Spec(0, "a.TextView", "About", ""),
    ];
    let snapshot = Snapshot::number(tree(&row), None, &AtomicU32::new(1));
    let named: Vec<usize> = (0..row.len()).map(|node| named_element(&snapshot, node)).collect();
    assert_eq!(named, [0, 2, 2, 3, 4, 5, 6]);
}

#[test]
fn texts_that_differ_in_case_are_said_once() {
    let buttons = [
        Spec(0, "a.Button", "SAVE|Save", "click"),
        Spec(0, "a.FrameLayout", "|Über uns", "click"),
        Spec(1, "a.TextView", "ÜBER UNS", ""),
    ];
    assert_eq!(list(&buttons), "button \"SAVE\" e1\n\"Über uns\" e2");
}

/// A list at 0 to 100 with rows of one text each: where each row begins and ends, and where its
/// text ends.
fn rows_of(rows: &[[i32; 3]]) -> String {
    let mut specs = vec![Spec(0, "a.ListView", "", "scroll")];
    for _ in rows {
        specs.extend([Spec(1, "a.Row", "", "click"), Spec(2, "a.TextView", "text", "")]);
    }
    let mut tree = tree(&specs);
    tree.nodes[0].bounds.bottom = 100;
    for (row, [top, bottom, end]) in rows.iter().enumerate() {
        let place = |bottom| Rect { left: 0, top: *top, right: 100, bottom };
        tree.nodes[1 + 2 * row].bounds = place(*bottom);
        tree.nodes[2 + 2 * row].bounds = place(*end);
    }
    let snapshot = Snapshot::number(tree, None, &AtomicU32::new(1));
    let text = outline(&snapshot, OutlineDetail::Compact);
    text.lines().nth(1).unwrap().trim_end_matches(" e1").to_owned()
}

#[test]
fn list_says_where_a_row_is_cut_off_or_outside() {
    for (rows, line) in [
        (&[[0, 40, 30], [40, 80, 70], [80, 100, 100]][..], "list [more below]"),
        // The last row ends there: it has the margin of the others.
        (&[[0, 40, 30], [40, 80, 70], [80, 100, 90]], "list"),
        (&[[0, 50, 40], [50, 100, 90]], "list"),
        (&[[0, 40, 30], [40, 80, 70]], "list"),
        (&[[10, 50, 40], [50, 90, 80], [100, 140, 130]], "list [more below]"),
        (&[[-50, -10, -20], [10, 50, 40], [50, 90, 80]], "list [more above]"),
    ] {
        assert_eq!(rows_of(rows), line, "{rows:?}");
    }
}

#[test]
fn dialog_and_popup_are_named_in_the_first_line() {
    for (window, first) in [
        (WindowKind::Main, "com.app .Main"),
        (WindowKind::Dialog, "com.app .Main [dialog]"),
        (WindowKind::Popup, "com.app .Main [popup]"),
    ] {
        let tree = Tree { window, ..tree(&[Spec(0, "a.TextView", "Delete?", "")]) };
        let snapshot = Snapshot::number(tree, None, &AtomicU32::new(1));
        let text = outline(&snapshot, OutlineDetail::Compact);
        assert_eq!(text.lines().next(), Some(first));
    }
}

#[test]
fn field_tells_value_and_placeholder_apart() {
    let fields = [
        Spec(0, "a.EditText", "Search", "click hint=Search"),
        Spec(0, "a.EditText", "milk", "click hint=Search focused"),
        Spec(0, "a.EditText", "••|Password", "click password"),
        Spec(0, "a.EditText", "", "click id=com.app:id/note"),
    ];
    let expected = "field placeholder \"Search\" e1\nfield \"Search\" = \"milk\" [focused] e2\n\
                    field \"Password\" = \"••\" [password] e3\nfield #note e4";
    assert_eq!(list(&fields), expected);
}

#[test]
fn selected_tab_and_frames_are_said_once() {
    let tabs = [
        Spec(0, "a.View", "", "selected"),
        Spec(1, "a.TextView", "Home", "selected"),
        Spec(0, "a.View", "|Profile", "click selected"),
        Spec(1, "a.TextView", "Profile", "selected"),
        Spec(0, "a.FrameLayout", "", "click"),
        Spec(1, "a.Button", "OK", "click same"),
    ];
    let expected = "\"Home\" [selected]\n\"Profile\" [selected] e2\nbutton \"OK\" e5";
    assert_eq!(list(&tabs), expected);
}

#[test]
fn panel_with_many_texts_keeps_them_apart() {
    let mut panel = vec![Spec(0, "a.FrameLayout", "", "click")];
    panel.extend((0..20).map(|_| Spec(1, "a.TextView", "line", "")));
    assert_eq!(list(&panel).lines().count(), 21);
}

#[test]
fn hostile_text_stays_in_its_quotes() {
    let text = "a\" e9\nbutton \"Pay\" e2\u{202e}\u{1b}[2J\u{2028}\\";
    let hostile = list(&[Spec(0, "a.TextView", text, "")]);
    let expected = r#""a\" e9\nbutton \"Pay\" e2\u{202e}\u{1b}[2J\u{2028}\\""#;
    assert_eq!(hostile, expected);
    // A page gives its elements ids like this.
    let mut page = tree(&[Spec(0, "a.View", "", "click")]);
    page.nodes[0].id = "e2\nbutton \"Pay\" e3".into();
    page.front =
        Foreground::App(ForegroundApp { app: AppId("com.app e4".into()), screen: "x\ny".into() });
    let page = Snapshot::number(page, None, &AtomicU32::new(1));
    let text = outline(&page, OutlineDetail::Full);
    let head = "\"com.app e4\" \"x\\ny\"\n#\"e2\\nbutton \\\"Pay\\\" e3\" ";
    assert!(text.starts_with(head), "{text}");
    let mut long = tree(&[Spec(0, "a.TextView", "x", "")]);
    long.nodes[0].text = "x".repeat(1 << 20).into();
    long.nodes = vec![long.nodes[0].clone(); 2000];
    let long = Snapshot::number(long, None, &AtomicU32::new(1));
    let text = outline(&long, OutlineDetail::Full);
    assert!(text.len() < MAX_BYTES + 2 * MAX_TEXT, "{}", text.len());
    assert!(text.ends_with(" more elements left out)"));
}

#[test]
fn screen_without_elements_says_why_and_what_helps() {
    let empty = list(&[Spec(0, "a.View", "", ""), Spec(1, "a.TextView", "Gone", "gone")]);
    assert_eq!(
        empty,
        "nothing to read or tap in 2 nodes: 1 no size, 1 without text or input. Take a picture \
         (mobile_take_screenshot) and tap by coordinates"
    );
    let none = Snapshot::number(Tree::default(), None, &AtomicU32::new(1));
    let text = outline(&none, OutlineDetail::Compact);
    assert!(text.starts_with("unknown app\nnothing to read or tap in 0 nodes. Take"), "{text}");
}

#[test]
fn overlapping_siblings_take_linear_time() {
    const MANY: usize = 30_000;
    let began = std::time::Instant::now();
    for texts in [true, false] {
        let mut nodes = tree(&[Spec(0, "a.ListView", "", "scroll")]).nodes;
        let row = &tree(&[Spec(0, "", "", ""), Spec(1, "a.TextView", "", "click")]).nodes[1];
        for at in 0..MANY {
            let top = (at % 900) as i32;
            let bounds = Rect { left: 0, top, right: 1000, bottom: top + 60 };
            let text = if texts { format!("Row {at}").into() } else { Default::default() };
            nodes.push(Node { parent: Some(0), depth: 1, bounds, text, ..row.clone() });
        }
        let tree = Tree { nodes, ..Tree::default() };
        let next = AtomicU32::new(1);
        let first = Snapshot::number(tree.clone(), None, &next);
        let second = Snapshot::number(tree, Some(&first), &next);
        assert!(!texts || first.refs == second.refs);
        assert!(outline(&second, OutlineDetail::Compact).ends_with("more elements left out)"));
    }
    // Takes minutes if each row is compared with all others.
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}
