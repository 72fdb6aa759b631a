//! Hostile texts come out of a flow as they were on the screen, and names mean one element.

use std::path::Path;
use std::sync::atomic::AtomicU32;

use proptest::prelude::*;
use serde_json::{Value, json};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_core::yaml::to_yaml;
use thumbwire_device::{Flags, Node, Point, Rect, Tree};

use super::naming::{Naming, Touched};
use super::recorded::Screen;
use super::wording::{Kind, Parameters, script_string};
use crate::element_pattern::ElementPattern;
use crate::parse::read;
use crate::plan::{Flow, Place, StepKind};
use crate::script::{ScriptEngine, ScriptValue};

/// A node with a text: parent, text, id, left, top.
fn node(parent: Option<usize>, text: &str, id: &str, left: i32, top: i32) -> Node {
    let id = if id.is_empty() { String::new() } else { format!("app:id/{id}") };
    Node {
        parent,
        text: text.into(),
        id: id.into(),
        class: "android.widget.TextView".into(),
        bounds: Rect { left, top, right: left + 90, bottom: top + 40 },
        flags: Flags { enabled: true, clickable: parent.is_some(), ..Flags::default() },
        ..Node::default()
    }
}

fn screen(mut nodes: Vec<Node>) -> Screen {
    nodes[0].bounds = Rect { left: 0, top: 0, right: 1000, bottom: 2000 };
    for at in 1..nodes.len() {
        nodes[at].depth = nodes[nodes[at].parent.unwrap()].depth + 1;
    }
    let tree = Tree { nodes, ..Tree::default() };
    Screen::of(Snapshot::number(tree, None, &AtomicU32::new(1)))
}

fn parsed(command: &Value) -> Flow {
    let text = format!("appId: a.b\n---\n{}", to_yaml(&json!([command])));
    let files = |_: &Path| Ok(text.clone());
    read("flow.yaml", &<_>::default(), &files).unwrap_or_else(|errors| {
        panic!("{}\n{text}", errors.iter().map(ToString::to_string).collect::<String>())
    })
}

/// How a flow names the element at a place, as it is written and as it is read.
fn named(screen: &Screen, at: Point, maestro: bool) -> Option<(Value, ElementPattern)> {
    let parameters = Parameters::default();
    let naming = Naming { parameters: &parameters, maestro };
    let name = naming.name(screen, &Touched::at(screen, at)?)?;
    let written = name.written(&parameters);
    let flow = parsed(&json!({ "tapOn": written }));
    let StepKind::Touch(touch) = &flow.cases[0].steps[0].kind else { panic!("{flow:?}") };
    let Place::Element(element, None) = &touch.at else { panic!("{touch:?}") };
    Some((written, (**element).clone()))
}

fn found(screen: &Screen, pattern: &ElementPattern) -> Vec<usize> {
    pattern.find(&screen.snapshot.tree, &|_| true)
}

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("${NAME}"),
        Just("${"),
        Just("\\${"),
        Just("\\"),
        Just("}"),
        Just("'"),
        Just("\""),
        Just("`"),
        Just("\n"),
        Just("\r"),
        Just("\t"),
        Just(": "),
        Just(" #"),
        Just("- "),
        Just("---"),
        Just("{{PIN}}"),
        Just("\\Q"),
        Just("\\E"),
        Just("(?="),
        Just("\u{202e}"),
        Just("\u{200b}"),
        Just("\u{7f}"),
        Just("\u{85}"),
        Just("\u{2028}"),
        Just("\u{feff}"),
        Just("\u{e0041}"),
        Just("\u{0}"),
        Just(".*"),
        Just("[a]"),
        Just("^$"),
        Just("yes"),
        Just("~"),
        Just("0x1"),
        Just("!!str"),
        Just("&a"),
        Just("*a"),
        Just("%"),
        Just("@"),
        Just("אב"),
        Just("Ä"),
        Just("ß"),
        Just(" "),
        Just("x")
    ];
    prop_oneof![
        proptest::collection::vec(piece, 1..8).prop_map(|all| all.concat()),
        any::<String>().prop_filter("not empty", |text| !text.is_empty()),
    ]
}

proptest! {
    #[test]
    fn hostile_texts_of_screens_name_their_element_alone(text in hostile(), has_id: bool) {
        let id = if has_id { "it" } else { "" };
        let screen = screen(vec![
            node(None, "", "", 0, 0),
            node(Some(0), &text, id, 100, 100),
            node(Some(0), &format!("{text}x"), "", 100, 200),
            node(Some(0), "other", "", 100, 300),
        ]);
        if let Some((written, pattern)) = named(&screen, Point { x: 110, y: 110 }, true) {
            prop_assert_eq!(found(&screen, &pattern), [1], "{}", written);
            let yaml = to_yaml(&json!([written]));
            let is_hidden = yaml.contains(['\u{202e}', '\u{200b}']);
            prop_assert!(!is_hidden);
        }
    }

    #[test]
    fn hostile_texts_are_typed_as_they_were(text in hostile()) {
        let written = Parameters::default().typed(&text);
        let flow = parsed(&json!({ "inputText": written }));
        let StepKind::Type { text: typed, .. } = &flow.cases[0].steps[0].kind else {
            panic!("{flow:?}")
        };
        prop_assert_eq!(typed, &text);
    }

    #[test]
    fn hostile_defaults_of_parameters_are_what_was_typed(text in hostile()) {
        let mut engine = ScriptEngine::new("android", <_>::default(), None).unwrap();
        let script = format!("NAME || {}", script_string(&text));
        prop_assert!(!script.contains('$'));
        let value = engine.evaluate(&script).unwrap();
        prop_assert_eq!(value, ScriptValue::Text(text.clone()));
        let command = json!({ "runFlow": {
            "env": { "NAME": format!("${{{script}}}") }, "commands": [{ "inputText": "${NAME}" }],
        } });
        parsed(&command);
    }
}

#[test]
fn elements_are_named_by_what_lasts() {
    let mut nodes = vec![
        node(None, "", "", 0, 0),
        node(Some(0), "Inbox", "title", 10, 0),
        node(Some(0), "", "row", 0, 100),
        node(Some(2), "Pan", "name", 10, 110),
        node(Some(2), "More", "more", 500, 110),
        node(Some(0), "", "row", 0, 200),
        node(Some(5), "Kettle", "name", 10, 210),
        node(Some(5), "More", "more", 500, 210),
        node(Some(0), "Rate (4.5)?", "", 10, 300),
        node(Some(0), "10:45", "clock", 10, 400),
        node(Some(0), "17", "", 10, 500),
    ];
    for row in [2, 5] {
        nodes[row].bounds.right = 1000;
    }
    nodes[3].flags.clickable = false;
    let screen = screen(nodes);
    for (x, y, expected) in [
        (20, 10, json!("Inbox")),
        (20, 130, json!("Pan")),
        (510, 230, json!({ "text": "More", "childOf": { "containsChild": "Kettle" } })),
        (20, 310, json!("Rate \\(4\\.5\\)\\?")),
        (20, 410, json!({ "id": "clock" })),
        (20, 510, json!("17")),
    ] {
        let (written, pattern) = named(&screen, Point { x, y }, true).unwrap();
        let expected_text = expected.to_string();
        assert_eq!(written, expected, "{expected_text}");
        assert_eq!(found(&screen, &pattern).len(), 1, "{expected_text}");
    }
}

#[test]
fn texts_that_change_are_not_checked() {
    let mut parameters = Parameters::default();
    parameters.add("Call 112", "Title", Kind::Parameter);
    parameters.add("Milk", "Title", Kind::Parameter);
    for text in ["Notes", "Milk", "Call 112 (copy)", "Añadir nota"] {
        assert!(parameters.lasts(text), "{text}");
    }
    for text in
        ["10:45", "3 notes", "Tue, Mar", "Today", "a", "{{PIN}}", "two\nlines", "a\u{202e}b"]
    {
        assert!(!parameters.lasts(text), "{text}");
    }
    assert_eq!(parameters.pattern("Milk"), "${TITLE_2}");
    assert_eq!(parameters.pattern("Delete Milk?"), "Delete ${TITLE_2}\\?");
    assert_eq!(parameters.typed("Milkshake, Milk"), "Milkshake, ${TITLE_2}");
    assert_eq!(parameters.typed("\\Milk"), "\\Milk");
    parameters.add("5", "Count", Kind::Parameter);
    parameters.add("hunter2 is mine", "Password", Kind::Secret);
    parameters.add("Cheese", "Title", Kind::Literal);
    assert_eq!(
        ["5", "5 rows", "Cheese"].map(|it| parameters.pattern(it)),
        ["${COUNT}", "5 rows", "Cheese"]
    );
    assert_eq!(parameters.typed("hunter2 is mine"), "${PASSWORD}");
    assert_eq!(
        ["hunter2 is mine", "Cheese", "5 rows"].map(|it| parameters.value_in(it).is_some()),
        [false, true, false]
    );
}
