//! A dark screen and a lock screen: what a caller is told, and what opens them.

use std::time::Duration;

use serde_json::json;
use thumbwire_core::action::{Action, Call, Perform as _};
use thumbwire_device::Key;
use thumbwire_virtual_android::{ScreenLock, Setup, VirtualPhone};
use tokio::time::Instant;

use crate::caller::Caller;

const NOTES: &str = "com.android.notes";
const LONG: Duration = Duration::from_secs(60);

async fn turn_off(caller: &Caller) {
    caller.session.perform(&Call::with_timeout(LONG), Action::Press(Key::Power)).await.unwrap();
    assert!(!caller.phone.world(|world| world.screen_on()));
}

#[tokio::test]
async fn dark_screen_is_reported_and_unlocked() {
    for release in ["4.4", "9", "14", "16"] {
        let caller = Caller::of(VirtualPhone::new(Setup::of_release(release).unwrap()));
        caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
        turn_off(&caller).await;
        for (tool, arguments) in [
            ("mobile_get_accessibility_tree", json!({})),
            ("mobile_tap", json!({ "x": 100, "y": 300 })),
        ] {
            let (failed, text) = caller.call(tool, arguments).await;
            // A touch is refused once a look has shown the dark screen, and a tree always.
            assert!(failed && text.contains("the screen is off"), "{release} {tool}: {text}");
            assert!(text.contains("mobile_unlock"), "{release} {tool}: {text}");
        }
        let front = caller.said("mobile_get_current_app", json!({})).await;
        assert!(front.contains("the screen is off") && !front.contains(NOTES), "{front}");
        let done = caller.said("mobile_unlock", json!({})).await;
        assert!(done.contains(NOTES), "{release}: {done}");
        let tree = caller.said("mobile_get_accessibility_tree", json!({})).await;
        assert!(tree.contains("Notes"), "{release}: {tree}");
        // Nothing to do is no error.
        caller.said("mobile_unlock", json!({})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn pin_is_left_to_a_person() {
    for release in ["4.4", "14"] {
        let setup = Setup::of_release(release).unwrap();
        let setup = Setup { screen_lock: ScreenLock::Pin("1234".into()), locked: true, ..setup };
        let caller = Caller::of(VirtualPhone::new(setup));
        let (failed, text) = caller.call("mobile_tap", json!({ "x": 100, "y": 300 })).await;
        assert!(failed && text.contains("the lock screen is in front"), "{release}: {text}");
        let began = Instant::now();
        let (failed, text) = caller.call("mobile_unlock", json!({})).await;
        assert!(failed && text.contains("PIN"), "{release}: {text}");
        let took = began.elapsed();
        assert!(took >= Duration::from_secs(3), "a pause lies between two looks: {took:?}");
        let started = caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
        assert!(started.contains("the lock screen is in front"), "{release}: {started}");
        let front = caller.said("mobile_get_current_app", json!({})).await;
        assert!(front.contains("the lock screen") && !front.contains(NOTES), "{front}");
        let tree = caller.said("mobile_get_accessibility_tree", json!({})).await;
        assert!(tree.contains("the lock screen is in front"), "{release}: {tree}");
    }
}
