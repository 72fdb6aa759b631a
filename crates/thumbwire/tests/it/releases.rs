//! The driver on every Android release of the virtual phone: an agent's first calls, and all output
//! whose format differs between releases. The phones are reached directly, without an adb server.

use serde_json::json;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_phone::Display;

use crate::caller::Caller;

const MAPS: &str = "com.google.android.apps.maps";

impl Caller {
    async fn of_release(release: &str) -> Self {
        // Shown when a test fails.
        println!("Android {release}");
        Self::reaching(VirtualPhone::new(Setup::of_release(release).unwrap())).await
    }

    fn display(&self) -> Display {
        self.phone.world(|world| *world.display())
    }
}

#[tokio::test]
async fn every_release_behaves_alike() {
    for release in Setup::releases() {
        let held = Caller::of_release(release).await;
        let says = |text: &str, part: &str| {
            assert!(text.contains(part), "Android {release}: {part:?} in {text}");
        };
        let natural = held.display();

        let info = held.said("mobile_get_device_info", json!({})).await;
        says(&info, &natural.width.to_string());
        says(&info, &natural.density.to_string());
        let apps = held.said("mobile_list_apps", json!({ "app_type": "all" })).await;
        says(&apps, MAPS);
        says(&apps, "com.android.settings");

        held.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
        says(&held.said("mobile_get_current_app", json!({})).await, MAPS);
        says(&held.said("mobile_get_accessibility_tree", json!({})).await, "Search here");
        held.said("mobile_tap_element", json!({ "text": "Search here" })).await;
        held.said("mobile_type_keys", json!({ "text": "café 漢字" })).await;
        let typed = held.phone.world(|world| world.focused_text());
        assert_eq!(typed.as_deref(), Some("café 漢字"), "Android {release}");

        held.said("mobile_set_orientation", json!({ "orientation": "landscape" })).await;
        let turned = held.display();
        assert_eq!((turned.width, turned.height), (natural.height, natural.width), "{release}");
        says(&held.said("mobile_get_device_info", json!({})).await, "landscape");
        held.said("mobile_set_orientation", json!({ "orientation": "portrait" })).await;
        assert_eq!(held.display(), natural, "Android {release}");

        says(&held.said("mobile_take_screenshot", json!({})).await, "bytes of");
        held.said("mobile_close_app", json!({ "bundle_id": MAPS })).await;
        assert_eq!(held.phone.world(|world| world.pid_of(MAPS)), None, "Android {release}");
    }
}

/// The reason for a black screenshot comes from the window and power reports.
#[tokio::test]
async fn black_screenshot_has_its_reason_on_every_release() {
    for release in Setup::releases() {
        let held = Caller::of_release(release).await;
        held.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
        held.phone.world(|world| world.set_secure(MAPS, true));
        let secure = held.said("mobile_take_screenshot", json!({})).await;
        assert!(secure.contains(MAPS), "Android {release}: {secure}");
        held.phone.world(|world| world.set_secure(MAPS, false));
        held.said("mobile_press_key", json!({ "key": "power" })).await;
        let off = held.said("mobile_take_screenshot", json!({})).await;
        assert!(off.contains("screen is off"), "Android {release}: {off}");
    }
}
