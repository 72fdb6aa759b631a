//! What is found, of screens made of a few nodes.

use super::super::scene::made::{buttons, node, scene};
use super::*;

fn deed(function: &str, arguments: Value) -> Doing {
    doing(function, arguments)
}

fn click_on(id: &str) -> Doing {
    deed("click_control", json!({ "control_id": id, "control_name": "x" }))
}

fn found(before: &Scene, doing: &Doing, after: &Scene) -> Vec<Kind> {
    findings(before, doing, json!({ "success": true }), after).iter().map(|it| it.kind).collect()
}

fn findings(before: &Scene, doing: &Doing, reply: Value, after: &Scene) -> Vec<Finding> {
    let success = reply["success"] == true;
    verify(before, &Deed { doing, success, reply: &reply }, after)
}

#[test]
fn a_tap_that_changed_nothing_is_told_and_one_that_changed_something_is_not() {
    let before = buttons(&["Next", "10:05"]);
    assert_eq!(found(&before, &click_on("1"), &buttons(&["Next", "10:06"])), [Kind::Nothing]);
    assert_eq!(found(&before, &click_on("1"), &buttons(&["Previous", "10:05"])), []);
    let moved = scene("app", vec![node("Button", "Next", 3), node("Button", "10:05", 4)]);
    assert_eq!(found(&before, &click_on("1"), &moved), [Kind::Moved]);
    assert_eq!(found(&before, &deed("wait", json!({})), &before), []);
    assert_eq!(found(&before, &click_on("1"), &Scene::default()), []);
    let failed = findings(&before, &click_on("1"), json!({ "success": false }), &before);
    assert!(failed.is_empty(), "its own words tell: {failed:?}");
}

#[test]
fn a_swipe_that_moved_nothing_tells_of_the_end() {
    let list = buttons(&["One", "Two"]);
    let swipe = deed("swipe", json!({ "start_x": 1, "start_y": 9, "end_x": 1, "end_y": 2 }));
    let told = findings(&list, &swipe, json!({ "success": true }), &list);
    assert_eq!(told[0].kind, Kind::End);
    assert!(told[0].says.contains("at its end"));
    assert!(matches!(told[0].repairs[..], [Repair::LookAgain(_)]));
    assert_eq!(found(&list, &swipe, &buttons(&["Two", "Three"])), []);
}

#[test]
fn an_app_that_did_not_come_to_the_front_is_started_once_more() {
    let home = scene("com.android.launcher3", vec![node("TextView", "Maps", 0)]);
    let launch = deed("launch_app", json!({ "package_name": "maps" }));
    let reply = json!({ "success": true, "package_name": "com.maps" });
    let told = findings(&home, &launch, reply.clone(), &home);
    assert_eq!(told[0].kind, Kind::WrongApp);
    assert!(told[0].says.starts_with("com.maps was started, and yet com.android.launcher3"));
    let [Repair::LookAgain(_), Repair::Do(steps)] = &told[0].repairs[..] else {
        panic!("{told:?}")
    };
    assert_eq!(steps[0].doing.arguments["package_name"], "com.maps");
    let maps = scene("com.maps", vec![node("Button", "Search", 0)]);
    assert!(findings(&home, &launch, reply.clone(), &maps).is_empty());
    assert!(findings(&home, &launch, reply, &Scene::default()).is_empty());
}

#[test]
fn an_app_that_was_left_is_told_unless_that_was_asked_for() {
    let app = scene("com.app", vec![node("Button", "Go", 0)]);
    let home = scene("com.android.launcher3", vec![node("TextView", "Maps", 0)]);
    let other = scene("com.browser", vec![node("Button", "Reload", 0)]);
    assert_eq!(found(&app, &click_on("1"), &home), [Kind::LeftApp]);
    assert_eq!(found(&app, &click_on("1"), &other), [Kind::LeftApp]);
    assert_eq!(found(&home, &click_on("1"), &app), []);
    let key = |name: &str| deed("press_key", json!({ "key_code": name }));
    assert_eq!(found(&app, &key("KEYCODE_HOME"), &home), []);
    assert_eq!(found(&app, &key("KEYCODE_ENTER"), &home), [Kind::LeftApp]);
}

fn field(text: &str) -> Node {
    let mut field = node("EditText", text, 0);
    field.id = "app:id/name".into();
    field.flags.focused = true;
    field
}

fn form(text: &str) -> Scene {
    scene("app", vec![field(text), node("Button", "Save", 1)])
}

#[test]
fn a_text_that_is_not_in_its_field_is_typed_once_more_where_nothing_is_lost_by_it() {
    let typing = |clear: bool| {
        let arguments = json!({ "text": "Ada L", "control_id": "1", "control_name": "", "clear_current_text": clear });
        deed("type_text", arguments)
    };
    assert_eq!(found(&form(""), &typing(false), &form("Ada L")), []);
    assert_eq!(found(&form("x"), &typing(false), &form("xada-l.")), []);
    let told = findings(&form(""), &typing(false), json!({ "success": true }), &form("Aa"));
    assert_eq!(told[0].kind, Kind::Text);
    assert!(told[0].says.starts_with("The field shows \"Aa\""), "{}", told[0].says);
    let [Repair::LookAgain(_), Repair::Do(steps)] = &told[0].repairs[..] else {
        panic!("{told:?}")
    };
    assert_eq!(steps[0].doing.arguments["clear_current_text"], true);
    assert_eq!(steps[0].target.as_ref().map(|(_, node)| *node), Some(0));

    let kept = findings(&form("Dear "), &typing(false), json!({ "success": true }), &form("Dear "));
    assert_eq!(kept[0].repairs.len(), 1, "what stood there would be lost");
    let cleared = findings(&form("Dear "), &typing(true), json!({ "success": true }), &form(""));
    assert_eq!(cleared[0].repairs.len(), 2);
}

#[test]
fn a_field_that_hides_what_it_holds_or_is_gone_is_not_judged() {
    let typing = deed("type_text", json!({ "text": "Ada", "control_id": "1", "control_name": "" }));
    let mut hidden = field("\u{2022}\u{2022}");
    hidden.flags.password = true;
    assert_eq!(found(&form(""), &typing, &scene("app", vec![hidden])), []);
    assert_eq!(found(&form(""), &typing, &buttons(&["Results"])), []);
}

#[test]
fn a_box_that_did_not_flip_is_told() {
    let check = |checked: bool, class: &str| {
        let mut it = node(class, "Wi-Fi", 0);
        (it.flags.checkable, it.flags.checked) = (true, checked);
        scene("app", vec![it, node("TextView", if checked { "a" } else { "b" }, 1)])
    };
    let stayed = |class: &str| {
        scene(
            "app",
            vec![check(false, class).nodes().next().unwrap().1.clone(), node("TextView", "c", 1)],
        )
    };
    assert_eq!(found(&check(false, "Switch"), &click_on("1"), &stayed("Switch")), [Kind::Toggle]);
    assert_eq!(found(&check(false, "Switch"), &click_on("1"), &check(true, "Switch")), []);
    let chosen = check(true, "RadioButton");
    assert_eq!(
        found(
            &chosen,
            &click_on("1"),
            &scene("app", vec![chosen.nodes().next().unwrap().1.clone()])
        ),
        []
    );
}

fn of_android(text: &str, id: &str, at: i32) -> Node {
    Node { id: format!("android:id/{id}"), package: "android".into(), ..node("Button", text, at) }
}

#[test]
fn an_app_that_does_not_answer_is_waited_for() {
    let says = of_android("Maps isn't responding", "alertTitle", 0);
    let nodes =
        vec![says, of_android("Close app", "aerr_close", 1), of_android("Wait", "aerr_wait", 2)];
    let told = findings(
        &buttons(&["Go"]),
        &click_on("1"),
        json!({ "success": false }),
        &scene("app", nodes),
    );
    assert_eq!(told[0].kind, Kind::NotResponding);
    assert!(told[0].says.contains("\"Maps isn't responding\""));
    let [Repair::Do(steps)] = &told[0].repairs[..] else { panic!("{told:?}") };
    assert_eq!(steps[0].target.as_ref().map(|(_, node)| *node), Some(2));
}

#[test]
fn an_app_that_crashed_is_started_again() {
    let says = of_android("Maps has stopped", "alertTitle", 0);
    let nodes = vec![
        says,
        of_android("App info", "aerr_app_info", 1),
        of_android("Close app", "aerr_close", 2),
    ];
    let told = findings(
        &buttons(&["Go"]),
        &click_on("1"),
        json!({ "success": true }),
        &scene("android", nodes),
    );
    assert_eq!(told[0].kind, Kind::Crashed);
    let [Repair::Do(steps)] = &told[0].repairs[..] else { panic!("{told:?}") };
    let functions: Vec<&str> = steps.iter().map(|step| &*step.doing.function).collect();
    assert_eq!(functions, ["click_control", "launch_app"]);
    assert_eq!(steps[1].doing.arguments["package_name"], "app");
}

#[test]
fn an_alert_of_the_system_is_told_with_its_words_and_left_to_whoever_decides() {
    let alert = |text: &str, at| Node {
        package: "com.android.systemui".into(),
        ..node("Button", text, at)
    };
    let after =
        scene("app", vec![alert("Software update", 0), alert("Later", 1), alert("Install", 2)]);
    let told = findings(&buttons(&["Go"]), &click_on("1"), json!({ "success": true }), &after);
    assert_eq!(told[0].kind, Kind::SystemWindow);
    assert!(
        told[0].says.contains("\"Software update\", \"Later\", \"Install\""),
        "{}",
        told[0].says
    );
    assert!(told[0].repairs.is_empty());
    // Whoever was there already, and answers it, is not told again.
    assert_eq!(found(&after, &click_on("2"), &buttons(&["Go"])), []);
}

#[test]
fn a_tap_that_hit_the_keyboard_is_taken_back() {
    let mut resting = field("Ad");
    resting.flags.focused = false;
    let before = scene("app", vec![resting, node("Button", "Save", 1)]);
    let told = findings(&before, &click_on("2"), json!({ "success": true }), &form("Adg"));
    assert_eq!(told[0].kind, Kind::Keyboard);
    assert!(told[0].says.starts_with("The keyboard lies over \"Save\""), "{}", told[0].says);
    let [Repair::Do(steps)] = &told[0].repairs[..] else { panic!("{told:?}") };
    let functions: Vec<&str> = steps.iter().map(|step| &*step.doing.function).collect();
    assert_eq!(functions, ["type_text", "press_key", "click_control"]);
    assert_eq!(steps[0].doing.arguments["text"], "Ad");
    // A key that writes nothing.
    let told = findings(&before, &click_on("2"), json!({ "success": true }), &form("Ad"));
    let [Repair::Do(steps)] = &told[0].repairs[..] else { panic!("{told:?}") };
    assert_eq!((told[0].kind, steps.len()), (Kind::Keyboard, 2));
    // A button may well write more than a key does, or clear the field.
    assert_eq!(found(&before, &click_on("2"), &form("")), []);
    assert_eq!(found(&before, &click_on("2"), &form("Ada Lovelace")), []);
    // Where the field had the focus before, it is told and no more.
    assert!(
        findings(&form("Ad"), &click_on("2"), json!({ "success": true }), &form("Adg"))[0]
            .repairs
            .is_empty()
    );
    let keys = |shows: &str| scene("app", vec![field(shows), node("Button", "7", 1)]);
    assert_eq!(found(&keys("1"), &click_on("2"), &keys("17")), [], "a calculator");
}

#[test]
fn one_key_adds_or_takes_one_sign() {
    for (was, is, apart) in [
        ("", "g", true),
        ("Ad", "Adg", true),
        ("Ad", "A", true),
        ("Ad", "gAd", true),
        ("Ad", "Ad", false),
        ("Ad", "Ag", false),
        ("Adam", "Ad", false),
    ] {
        assert_eq!(is_a_key_apart(was, is), apart, "{was:?} {is:?}");
    }
}

#[test]
fn a_tap_whose_control_had_moved_is_told_and_made_again_where_it_led_to_nothing() {
    let list = |first: i32| {
        ["Ann", "Ben"].into_iter().zip(first..).map(|(name, at)| node("Button", name, at))
    };
    let banner = || [node("TextView", "News", 0)].into_iter();
    let plain = scene("app", list(0).collect());
    let shifted = scene("app", banner().chain(list(1)).collect());
    let came = findings(&plain, &click_on("2"), json!({ "success": true }), &shifted);
    assert_eq!(came[0].kind, Kind::Moved);
    assert!(came[0].says.starts_with("\"Ben\" had moved by the time"), "{}", came[0].says);
    assert!(came[0].repairs.is_empty(), "the new words may be what the tap led to");
    let went = findings(&shifted, &click_on("3"), json!({ "success": true }), &plain);
    let [Repair::Do(steps)] = &went[0].repairs[..] else { panic!("{went:?}") };
    assert_eq!(steps[0].target.as_ref().map(|(_, node)| *node), Some(1));
    let mut ticked = node("Button", "Ben", 2);
    ticked.flags.checked = true;
    let did = scene("app", banner().chain([node("Button", "Ann", 1), ticked]).collect());
    assert_eq!(found(&plain, &click_on("2"), &did), [], "it did what it was for");
}

#[test]
fn a_page_about_the_neighbour_of_what_was_tapped_is_told() {
    let row = |name: &str, at: i32| {
        let mut row = node("TextView", name, at);
        row.id = "app:id/title".into();
        row
    };
    let list = scene("app", vec![row("Museum", 0), row("Weather", 1), row("Harbour", 2)]);
    let page = |name: &str| scene("app", vec![row(name, 0), node("Button", "Save", 1)]);
    let came = findings(&list, &click_on("2"), json!({ "success": true }), &page("Museum"));
    assert_eq!(came[0].kind, Kind::Moved);
    assert!(came[0].says.starts_with("\"Museum\" shows now, and \"Weather\" does not"));
    assert_eq!(found(&list, &click_on("2"), &page("Weather")), []);
    assert_eq!(found(&list, &click_on("1"), &page("Harbour")), [], "it does not lie beside it");
    let rest = scene("app", vec![row("Museum", 0), row("Harbour", 1)]);
    assert_eq!(found(&list, &click_on("2"), &rest), [], "the row was taken out of the list");
}
