//! Which anomalies are found, on screens of a few nodes.

use super::*;
use crate::safeguards::screen_state::made::{buttons, node, scene};

fn deed(function: &str, arguments: Value) -> FunctionCall {
    doing(function, arguments)
}

fn click_on(id: &str) -> FunctionCall {
    deed("click_control", json!({ "control_id": id, "control_name": "x" }))
}

fn found(before: &ScreenState, call: &FunctionCall, after: &ScreenState) -> Vec<AnomalyKind> {
    findings(before, call, true, after).iter().map(|it| it.kind).collect()
}

fn findings(
    before: &ScreenState,
    call: &FunctionCall,
    success: bool,
    after: &ScreenState,
) -> Vec<Anomaly> {
    let launched = (call.function == "launch_app").then_some("com.maps");
    verify(before, &AttemptedCall { call, success, launched }, after)
}

#[test]
fn tap_without_effect_is_reported() {
    let before = buttons(&["Next", "10:05"]);
    assert_eq!(
        found(&before, &click_on("1"), &buttons(&["Next", "10:06"])),
        [AnomalyKind::NoEffect]
    );
    assert_eq!(found(&before, &click_on("1"), &buttons(&["Previous", "10:05"])), []);
    let moved = scene("app", vec![node("Button", "Next", 3), node("Button", "10:05", 4)]);
    assert_eq!(found(&before, &click_on("1"), &moved), [AnomalyKind::TargetMoved]);
    assert_eq!(found(&before, &deed("wait", json!({})), &before), []);
    assert_eq!(found(&before, &click_on("1"), &ScreenState::default()), []);
    let failed = findings(&before, &click_on("1"), false, &before);
    assert!(failed.is_empty(), "its own words tell: {failed:?}");
}

#[test]
fn swipe_without_movement_reports_end_of_list() {
    let list = buttons(&["One", "Two"]);
    let swipe = deed("swipe", json!({ "start_x": 1, "start_y": 9, "end_x": 1, "end_y": 2 }));
    let out = findings(&list, &swipe, true, &list);
    assert_eq!(out[0].kind, AnomalyKind::EndOfList);
    assert!(out[0].text.contains("at its end"));
    assert!(matches!(out[0].repairs[..], [Repair::Recheck(_)]));
    assert_eq!(found(&list, &swipe, &buttons(&["Two", "Three"])), []);
}

#[test]
fn app_not_in_front_is_started_again() {
    let home = scene("com.android.launcher3", vec![node("TextView", "Maps", 0)]);
    let launch = deed("launch_app", json!({ "package_name": "maps" }));
    let out = findings(&home, &launch, true, &home);
    assert_eq!(out[0].kind, AnomalyKind::WrongApp);
    assert!(out[0].text.starts_with("com.maps was started, but com.android.launcher3"));
    let [Repair::Recheck(_), Repair::Act(steps)] = &out[0].repairs[..] else { panic!("{out:?}") };
    assert_eq!(steps[0].call.arguments["package_name"], "com.maps");
    let maps = scene("com.maps", vec![node("Button", "Search", 0)]);
    assert!(findings(&home, &launch, true, &maps).is_empty());
    assert!(findings(&home, &launch, true, &ScreenState::default()).is_empty());
}

#[test]
fn leaving_an_app_unasked_is_reported() {
    let app = scene("com.app", vec![node("Button", "Go", 0)]);
    let home = scene("com.android.launcher3", vec![node("TextView", "Maps", 0)]);
    let other = scene("com.browser", vec![node("Button", "Reload", 0)]);
    assert_eq!(found(&app, &click_on("1"), &home), [AnomalyKind::LeftApp]);
    assert_eq!(found(&app, &click_on("1"), &other), [AnomalyKind::LeftApp]);
    assert_eq!(found(&home, &click_on("1"), &app), []);
    let key = |name: &str| deed("press_key", json!({ "key_code": name }));
    assert_eq!(found(&app, &key("KEYCODE_HOME"), &home), []);
    assert_eq!(found(&app, &key("KEYCODE_ENTER"), &home), [AnomalyKind::LeftApp]);
}

/// iOS has no back key, and its home screen is an app like any other.
#[test]
fn way_back_is_the_platforms() {
    let text = |app: &str, class: &str| {
        let before = scene("com.app", vec![node("Button", "Go", 0)]);
        let after = scene(app, vec![Node { class: class.into(), ..node("Button", "Reload", 0) }]);
        findings(&before, &click_on("1"), true, &after)[0].text.clone()
    };
    assert!(text("com.browser", "android.widget.Button").ends_with("go back with KEYCODE_BACK."));
    let ios = text("com.apple.mobilesafari", "XCUIElementTypeButton");
    assert!(ios.ends_with("go back with the button at the top left."), "{ios}");
    let home = text("com.apple.springboard", "XCUIElementTypeIcon");
    assert!(home.starts_with("The home screen is in front"), "{home}");
}

fn field(text: &str) -> Node {
    let mut field = node("EditText", text, 0);
    field.id = "app:id/name".into();
    field.flags.focused = true;
    field
}

fn form(text: &str) -> ScreenState {
    scene("app", vec![field(text), node("Button", "Save", 1)])
}

#[test]
fn missing_text_is_retyped_if_nothing_is_lost() {
    let typing = |clear: bool| {
        let arguments = json!({ "text": "Ada L", "control_id": "1", "control_name": "", "clear_current_text": clear });
        deed("type_text", arguments)
    };
    assert_eq!(found(&form(""), &typing(false), &form("Ada L")), []);
    assert_eq!(found(&form("x"), &typing(false), &form("xada-l.")), []);
    let out = findings(&form(""), &typing(false), true, &form("Aa"));
    assert_eq!(out[0].kind, AnomalyKind::TextMismatch);
    assert!(out[0].text.starts_with("The field shows \"Aa\""), "{}", out[0].text);
    let [Repair::Recheck(_), Repair::Act(steps)] = &out[0].repairs[..] else { panic!("{out:?}") };
    assert_eq!(steps[0].call.arguments["clear_current_text"], true);
    assert_eq!(steps[0].target.as_ref().map(|(_, node)| *node), Some(0));

    let kept = findings(&form("Dear "), &typing(false), true, &form("Dear "));
    assert_eq!(kept[0].repairs.len(), 1, "what stood there would be lost");
    let cleared = findings(&form("Dear "), &typing(true), true, &form(""));
    assert_eq!(cleared[0].repairs.len(), 2);
}

#[test]
fn password_or_missing_field_is_not_verified() {
    let typing = deed("type_text", json!({ "text": "Ada", "control_id": "1", "control_name": "" }));
    let mut hidden = field("\u{2022}\u{2022}");
    hidden.flags.password = true;
    assert_eq!(found(&form(""), &typing, &scene("app", vec![hidden])), []);
    assert_eq!(found(&form(""), &typing, &buttons(&["Results"])), []);
}

#[test]
fn unchanged_checkbox_is_reported() {
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
    assert_eq!(
        found(&check(false, "Switch"), &click_on("1"), &stayed("Switch")),
        [AnomalyKind::ToggleUnchanged]
    );
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
    Node {
        id: format!("android:id/{id}").into(),
        package: "android".into(),
        ..node("Button", text, at)
    }
}

#[test]
fn app_not_responding_is_awaited() {
    let says = of_android("Maps isn't responding", "alertTitle", 0);
    let nodes =
        vec![says, of_android("Close app", "aerr_close", 1), of_android("Wait", "aerr_wait", 2)];
    let out = findings(&buttons(&["Go"]), &click_on("1"), false, &scene("app", nodes));
    assert_eq!(out[0].kind, AnomalyKind::NotResponding);
    assert!(out[0].text.contains("\"Maps isn't responding\""));
    let [Repair::Act(steps)] = &out[0].repairs[..] else { panic!("{out:?}") };
    assert_eq!(steps[0].target.as_ref().map(|(_, node)| *node), Some(2));
}

#[test]
fn crashed_app_is_restarted() {
    let says = of_android("Maps has stopped", "alertTitle", 0);
    let nodes = vec![
        says,
        of_android("App info", "aerr_app_info", 1),
        of_android("Close app", "aerr_close", 2),
    ];
    let out = findings(&buttons(&["Go"]), &click_on("1"), true, &scene("android", nodes));
    assert_eq!(out[0].kind, AnomalyKind::Crashed);
    let [Repair::Act(steps)] = &out[0].repairs[..] else { panic!("{out:?}") };
    let functions: Vec<&str> = steps.iter().map(|step| &*step.call.function).collect();
    assert_eq!(functions, ["click_control", "launch_app"]);
    assert_eq!(steps[1].call.arguments["package_name"], "app");
}

#[test]
fn system_alert_is_reported_and_not_repaired() {
    let alert = |text: &str, at| Node {
        package: "com.android.systemui".into(),
        ..node("Button", text, at)
    };
    let after =
        scene("app", vec![alert("Software update", 0), alert("Later", 1), alert("Install", 2)]);
    let out = findings(&buttons(&["Go"]), &click_on("1"), true, &after);
    assert_eq!(out[0].kind, AnomalyKind::SystemWindow);
    assert!(out[0].text.contains("\"Software update\", \"Later\", \"Install\""), "{}", out[0].text);
    assert!(out[0].repairs.is_empty());
    // A window that was there before and is answered is not reported again.
    assert_eq!(found(&after, &click_on("2"), &buttons(&["Go"])), []);
}

#[test]
fn tap_on_the_keyboard_is_undone() {
    let mut resting = field("Ad");
    resting.flags.focused = false;
    let before = scene("app", vec![resting, node("Button", "Save", 1)]);
    let out = findings(&before, &click_on("2"), true, &form("Adg"));
    assert_eq!(out[0].kind, AnomalyKind::KeyboardCovers);
    assert!(out[0].text.starts_with("The keyboard covers \"Save\""), "{}", out[0].text);
    let [Repair::Act(steps)] = &out[0].repairs[..] else { panic!("{out:?}") };
    let functions: Vec<&str> = steps.iter().map(|step| &*step.call.function).collect();
    assert_eq!(functions, ["type_text", "press_key", "click_control"]);
    assert_eq!(steps[0].call.arguments["text"], "Ad");
    // A key that types nothing.
    let out = findings(&before, &click_on("2"), true, &form("Ad"));
    let [Repair::Act(steps)] = &out[0].repairs[..] else { panic!("{out:?}") };
    assert_eq!((out[0].kind, steps.len()), (AnomalyKind::KeyboardCovers, 2));
    // A button may write more than a key does, or clear the field.
    assert_eq!(found(&before, &click_on("2"), &form("")), []);
    assert_eq!(found(&before, &click_on("2"), &form("Ada Lovelace")), []);
    // If the field had the focus before, it is only reported.
    assert!(findings(&form("Ad"), &click_on("2"), true, &form("Adg"))[0].repairs.is_empty());
    let keys = |shows: &str| scene("app", vec![field(shows), node("Button", "7", 1)]);
    assert_eq!(found(&keys("1"), &click_on("2"), &keys("17")), [], "a calculator");
}

#[test]
fn one_key_press_changes_one_character() {
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
fn tap_on_moved_control_is_repeated_if_without_effect() {
    let list = |first: i32| {
        ["Ann", "Ben"].into_iter().zip(first..).map(|(name, at)| node("Button", name, at))
    };
    let banner = || [node("TextView", "News", 0)].into_iter();
    let plain = scene("app", list(0).collect());
    let shifted = scene("app", banner().chain(list(1)).collect());
    let result = findings(&plain, &click_on("2"), true, &shifted);
    assert_eq!(result[0].kind, AnomalyKind::TargetMoved);
    assert!(result[0].text.starts_with("\"Ben\" had moved before the tap"), "{}", result[0].text);
    assert!(result[0].repairs.is_empty(), "the new words may be what the tap led to");
    let went = findings(&shifted, &click_on("3"), true, &plain);
    let [Repair::Act(steps)] = &went[0].repairs[..] else { panic!("{went:?}") };
    assert_eq!(steps[0].target.as_ref().map(|(_, node)| *node), Some(1));
    let mut ticked = node("Button", "Ben", 2);
    ticked.flags.checked = true;
    let did = scene("app", banner().chain([node("Button", "Ann", 1), ticked]).collect());
    assert_eq!(found(&plain, &click_on("2"), &did), [], "it did what it was for");
}

#[test]
fn page_of_the_neighbouring_row_is_reported() {
    let row = |name: &str, at: i32| {
        let mut row = node("TextView", name, at);
        row.id = "app:id/title".into();
        row
    };
    let list = scene("app", vec![row("Museum", 0), row("Weather", 1), row("Harbour", 2)]);
    let page = |name: &str| scene("app", vec![row(name, 0), node("Button", "Save", 1)]);
    let result = findings(&list, &click_on("2"), true, &page("Museum"));
    assert_eq!(result[0].kind, AnomalyKind::NeighbourOpened);
    assert!(result[0].text.starts_with("The screen shows \"Museum\" but not \"Weather\""));
    assert_eq!(found(&list, &click_on("2"), &page("Weather")), []);
    assert_eq!(found(&list, &click_on("1"), &page("Harbour")), [], "it does not lie beside it");
    let rest = scene("app", vec![row("Museum", 0), row("Harbour", 1)]);
    assert_eq!(found(&list, &click_on("2"), &rest), [], "the row was taken out of the list");
}
