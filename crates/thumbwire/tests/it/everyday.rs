//! Tools of every day, on virtual phones of the oldest and the newest form: addresses, app names,
//! double taps, drags, keys.

use std::time::Duration;

use serde_json::json;
use thumbwire_core::action::{Action, Outcome};
use thumbwire_core::providers::VIRTUAL;
use thumbwire_virtual_android::{ClockMode, Setup, VirtualPhone};

use crate::caller::Caller;
use crate::wire::ask;

const MAPS: &str = "com.google.android.apps.maps";
const CHROME: &str = "com.android.chrome";
const RELEASES: [&str; 4] = ["4.4", "9", "11", "14"];

fn on(release: &str) -> Caller {
    Caller::of(VirtualPhone::new(Setup::of_release(release).unwrap()))
}

fn front(caller: &Caller) -> String {
    caller.phone.world(|world| world.foreground().package)
}

#[tokio::test(start_paused = true)]
async fn address_opens_in_its_app() {
    for release in RELEASES {
        let caller = on(release);
        let said = caller.said("mobile_open_url", json!({ "url": "https://example.com/" })).await;
        assert_eq!(
            (said.as_str(), front(&caller).as_str()),
            ("Opened in com.android.chrome", CHROME)
        );
        // The app is in front already.
        let said = caller.said("mobile_open_url", json!({ "url": "https://example.org/" })).await;
        assert_eq!(said, "Opened in com.android.chrome", "{release}");
        let said = caller.said("mobile_open_url", json!({ "url": "geo:0,0?q=caf\u{e9} x" })).await;
        assert_eq!((said.contains(MAPS), front(&caller).as_str()), (true, MAPS), "{release}");
        let mut argv = caller.phone.commands().into_iter().map(|command| command.argv);
        let sent = argv.rfind(|argv| argv[..2] == ["am", "start"]).unwrap();
        assert_eq!(sent.last().unwrap(), "geo:0,0?q=caf%C3%A9%20x");
    }
}

#[tokio::test(start_paused = true)]
async fn address_that_no_app_opens_is_refused() {
    for release in RELEASES {
        let caller = on(release);
        let text = caller.refused("mobile_open_url", json!({ "url": "mailto:a@b.c" })).await;
        assert!(
            text.contains("no app on this phone opens `mailto:` addresses"),
            "{release}: {text}"
        );
        assert!(text.contains("\nNext: "), "{text}");
        let before = caller.phone.commands().len();
        for url in ["file:///sdcard/x", "intent:#Intent;end", "example.com", "javascript:x"] {
            let text = caller.refused("mobile_open_url", json!({ "url": url })).await;
            assert!(text.starts_with("Refused: opening the address: "), "{text}");
        }
        let argv = caller.phone.commands().into_iter().skip(before).map(|command| command.argv);
        assert_eq!(argv.filter(|argv| argv[0] == "am").count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn address_waits_for_no_locked_phone() {
    let caller = on("14");
    caller.said("mobile_press_key", json!({ "key": "power" })).await;
    let text = caller.refused("mobile_open_url", json!({ "url": "geo:0,0" })).await;
    assert!(text.contains("mobile_unlock"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn app_is_launched_by_a_part_of_its_id() {
    for release in RELEASES {
        let caller = on(release);
        for name in ["Maps", "maps"] {
            let said = caller.said("mobile_launch_app", json!({ "bundle_id": name })).await;
            assert_eq!(said, format!("Launched {MAPS}"), "{release}");
        }
        assert_eq!(front(&caller), MAPS);
        let text = caller.refused("mobile_launch_app", json!({ "bundle_id": "no such" })).await;
        assert!(text.starts_with("App not found: no such\nNext: list"), "{text}");
    }
}

/// A double tap zooms the map; two taps that are further apart do not.
#[tokio::test(start_paused = true)]
async fn double_tap_is_one_gesture() {
    for release in RELEASES {
        let mut setup = Setup::of_release(release).unwrap();
        setup.clock = ClockMode::Real;
        let caller = Caller::of(VirtualPhone::new(setup));
        caller.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
        let frame = || caller.phone.world(|world| world.frame());
        let screen = caller.phone.world(|world| world.display().bounds());
        let (x, y) = (screen.right / 2, screen.bottom * 5 / 8);
        let later = || tokio::time::advance(Duration::from_secs(1));
        later().await;
        let before = frame();
        for _ in 0..2 {
            caller.said("mobile_tap", json!({ "x": x, "y": y })).await;
            later().await;
        }
        assert!(frame() == before, "{release}: slow taps do nothing");
        let said = caller.said("mobile_double_tap", json!({ "x": x, "y": y })).await;
        assert_eq!(said, format!("Double-tapped at ({x}, {y})"));
        assert!(frame() != before, "{release}: the map is closer");
    }
}

/// The titles of the notes on the screen, and their places.
async fn notes(caller: &Caller) -> Vec<(String, serde_json::Value)> {
    let Outcome::Snapshot(seen) = ask(&caller.session, Action::LOOK).await.unwrap() else {
        panic!()
    };
    let titles = seen.tree.nodes.iter().filter(|node| node.id.ends_with(":id/index_note_title"));
    let place = |node: &thumbwire_device::Node| {
        let middle = node.bounds.center();
        json!([middle.x, middle.y])
    };
    titles.map(|node| (node.text.to_string(), place(node))).collect()
}

#[tokio::test(start_paused = true)]
async fn drag_carries_a_note_to_another_place() {
    for release in ["9", "11", "14"] {
        let caller = on(release);
        caller.said("mobile_launch_app", json!({ "bundle_id": "com.android.notes" })).await;
        let before = notes(&caller).await;
        assert!(before.len() > 3, "{release}: {before:?}");
        let (from, to) = (&before[3].1, &before[0].1);
        let path =
            json!({ "start_x": from[0], "start_y": from[1], "end_x": to[0], "end_y": to[1] });
        let said = caller.said("mobile_drag", path).await;
        assert!(said.starts_with("Dragged from ("), "{said}");
        assert_eq!(notes(&caller).await[0].0, before[3].0, "{release}");
    }
}

#[tokio::test(start_paused = true)]
async fn any_key_is_pressed() {
    let caller = on("14");
    caller.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
    caller.said("mobile_tap_element", json!({ "text": "Search here" })).await;
    caller.said("mobile_type_keys", json!({ "text": "parks" })).await;
    let text = || caller.phone.world(|world| world.focused_text());
    assert_eq!(text().as_deref(), Some("parks"));
    assert_eq!(caller.said("mobile_key", json!({ "key": "delete" })).await, "Pressed delete");
    assert_eq!(text().as_deref(), Some("park"));
    for key in ["left", "left", "KEYCODE_DEL"] {
        caller.said("mobile_key", json!({ "key": key })).await;
    }
    assert_eq!(text().as_deref(), Some("prk"));
    let steps = json!({ "steps": [{ "press": "right" }, { "press": "delete" }] });
    caller.said("mobile_do", steps).await;
    assert_eq!(text().as_deref(), Some("pk"));
    caller.said("mobile_key", json!({ "key": "home" })).await;
    assert_ne!(front(&caller), MAPS);
    let refused = caller.refused("mobile_key", json!({ "key": "jump" })).await;
    assert!(
        refused.starts_with("Invalid argument: unknown key \"jump\"; use enter, "),
        "{refused}"
    );
}

/// The schema of the specification asks for the platform; the id says it too.
#[tokio::test]
async fn device_is_selected_without_its_platform() {
    let caller = on("14");
    let schema = &caller.surface.tool("mobile_use_device").unwrap().schema;
    assert_eq!(schema["required"], json!(["device_id", "platform"]));
    let said = caller.said("mobile_use_device", json!({ "device_id": VIRTUAL })).await;
    assert!(said.contains("\"android\""), "{said}");
    let wrong = json!({ "device_id": VIRTUAL, "platform": "ios" });
    let refused = caller.refused("mobile_use_device", wrong).await;
    assert!(refused.starts_with("Platform not supported: selecting virtual on iOS"), "{refused}");
    let none = caller.refused("mobile_use_device", json!({ "platform": "android" })).await;
    assert!(none.contains("device_id"), "{none}");
}
