//! System windows over an app, from a host's view.

use crate::common::Wired;
use thumbwire_virtual_android::Setup;

const MAPS: &str = "com.google.android.apps.maps";
const FINE: &str = "android.permission.ACCESS_FINE_LOCATION";

#[tokio::test]
async fn error_dialog_shows_in_the_dump_and_the_window_list() {
    let wired = Wired::new();
    wired.stdout("am start -n com.android.settings/.Settings").await;
    wired.phone.world(|world| world.stop_responding("com.android.settings"));
    let dump = wired.stdout("uiautomator dump /dev/tty").await;
    assert!(
        dump.contains("text=\"Settings isn't responding\" resource-id=\"android:id/alertTitle\"")
    );
    assert!(dump.contains("resource-id=\"android:id/aerr_wait\" class=\"android.widget.Button\""));
    let windows = wired.stdout("dumpsys window -a").await;
    let focus = windows.lines().find(|line| line.contains("mCurrentFocus=")).expect("a focus");
    assert!(focus.ends_with(" u0 Application Not Responding: com.android.settings}"), "{focus}");
    let mut lines = windows.lines().skip_while(|line| !line.contains(" package=android "));
    let owner = lines.next().unwrap_or_default();
    let wanted = "mOwnerUid=1000 showForAllUsers=true package=android appop=SYSTEM_ALERT_WINDOW";
    assert_eq!(owner.trim(), wanted);
    let attributes = lines.next().unwrap_or_default();
    assert!(attributes.contains(" ty=SYSTEM_ALERT fmt=TRANSLUCENT"), "{attributes}");
    let log = wired.stdout("logcat -d -b events,system -s am_anr ActivityManager").await;
    assert!(log.contains("ANR in com.android.settings (com.android.settings/.Settings)"), "{log}");
}

#[tokio::test]
async fn shell_grants_revokes_and_lists_permissions() {
    let wired = Wired::new();
    let listed = || async {
        let dump = wired.stdout(&format!("dumpsys package {MAPS}")).await;
        let lines = dump.lines().skip_while(|line| *line != "      runtime permissions:").skip(1);
        lines.map(str::trim).map(str::to_owned).take(2).collect::<Vec<_>>()
    };
    let flags = "USER_SENSITIVE_WHEN_GRANTED|USER_SENSITIVE_WHEN_DENIED";
    assert_eq!(listed().await[0], format!("{FINE}: granted=false, flags=[ {flags}]"));
    assert_eq!(wired.stdout(&format!("pm grant {MAPS} {FINE}")).await, "");
    assert_eq!(listed().await[0], format!("{FINE}: granted=true, flags=[ {flags}]"));
    wired.stdout(&format!("pm revoke --user 0 {MAPS} {FINE}")).await;
    assert!(listed().await[0].contains("granted=false"));
    wired.stdout(&format!("pm grant {MAPS} {FINE}")).await;
    wired.stdout("pm reset-permissions").await;
    assert!(listed().await[0].contains("granted=false"));
    for (what, words) in [
        ("com.nope android.permission.CAMERA", "Unknown package: com.nope"),
        (
            "com.android.notes android.permission.CAMERA",
            "Package com.android.notes has not requested permission android.permission.CAMERA",
        ),
        (
            "com.google.android.apps.maps android.permission.INTERNET",
            "Permission android.permission.INTERNET requested by com.google.android.apps.maps is not a changeable permission type",
        ),
    ] {
        let (status, out, err) = wired.all(&format!("pm grant {what}")).await;
        assert_eq!((status, out.as_str()), (255, ""), "{what}");
        assert!(err.contains(words), "{what}: {err}");
    }
}

#[tokio::test]
async fn host_sees_which_app_requests_a_permission() {
    let wired = Wired::made(Setup::of_release("13").expect("a release"));
    wired.stdout(&format!("am start -n {MAPS}/com.google.android.maps.MapsActivity")).await;
    wired.phone.world(|world| {
        let button =
            world.scene().focused().and_then(|window| window.root.find("mylocation_button"));
        let at = button.expect("the button").bounds.center();
        world.pointer(thumbwire_virtual_phone::TouchPhase::Down, at);
        world.pointer(thumbwire_virtual_phone::TouchPhase::Up, at);
    });
    let dump = wired.stdout("uiautomator dump /dev/tty").await;
    assert!(dump.contains("package=\"com.google.android.permissioncontroller\""));
    assert!(dump.contains("com.android.permissioncontroller:id/permission_deny_button"));
    let top = wired.stdout("dumpsys activity activities").await;
    assert!(
        top.contains("com.android.permissioncontroller.permission.ui.GrantPermissionsActivity")
    );
}

#[tokio::test]
async fn shell_posts_and_lists_notifications_and_opens_the_shade() {
    let wired = Wired::new();
    let output =
        wired.stdout("cmd notification post -S bigtext -t 'Back up' backup 'All is safe'").await;
    assert!(output.starts_with("posting:\n  Notification(channel=shell_cmd"), "{output}");
    let key = "0|com.android.shell|2020|backup|2000";
    assert_eq!(wired.stdout("cmd notification list").await, format!("{key}\n"));
    let report = wired.stdout("dumpsys notification --noredact").await;
    assert!(report.contains(&format!(" key={key}: Notification(")), "{report}");
    assert!(report.contains("android.title=String (Back up)\n"), "{report}");
    let redacted = wired.stdout("dumpsys notification").await;
    assert!(redacted.contains("android.text=String [length=11]") && !redacted.contains("safe"));
    wired.stdout("cmd statusbar expand-notifications").await;
    let dump = wired.stdout("uiautomator dump /dev/tty").await;
    assert!(dump.contains("com.android.systemui:id/notification_stack_scroller"));
    assert!(dump.contains("text=\"Back up\" resource-id=\"android:id/title\""));
    let focus = wired.stdout("dumpsys window displays").await;
    assert!(focus.contains(" u0 NotificationShade}"), "{focus}");
    wired.stdout("cmd statusbar collapse").await;
    assert!(!wired.phone.world(|world| world.shade_shown()));
    assert_eq!(
        wired.stdout("service call statusbar 1").await,
        "Result: Parcel(00000000    '....')\n"
    );
    assert!(wired.phone.world(|world| world.shade_shown()));
    wired.stdout("service call statusbar 2").await;
    assert!(!wired.phone.world(|world| world.shade_shown()));
    let (status, out, _) = wired.all("cmd statusbar fold").await;
    assert_eq!((status, out.as_str()), (255, "Unknown command: fold\n"));
}

/// The centres of a dump's nodes with this text.
async fn places(wired: &Wired, text: &str) -> Vec<(i32, i32)> {
    let dump = wired.stdout("uiautomator dump /dev/tty").await;
    let nodes = dump.split("<node").filter(|node| node.contains(text));
    let edges = nodes.map(|node| {
        let bounds = node.split("bounds=\"").nth(1).and_then(|rest| rest.split('"').next());
        let edges = bounds.expect("bounds").split(|c: char| !c.is_ascii_digit());
        let edges: Vec<i32> = edges.filter_map(|edge| edge.parse().ok()).collect();
        (i32::midpoint(edges[0], edges[2]), i32::midpoint(edges[1], edges[3]))
    });
    edges.collect()
}

#[tokio::test]
async fn dump_waits_for_a_fling() {
    let wired = Wired::new();
    wired.stdout("am start -n com.example.shop/.MainActivity").await;
    wired.stdout("input swipe 540 1900 540 900 100").await;
    assert!(wired.phone.world(|world| world.keeps_moving()));
    let before = wired.phone.world(|world| world.uptime());
    let dump = wired.stdout("uiautomator dump /dev/tty").await;
    assert!(dump.ends_with("UI hierchary dumped to: /dev/tty\n"), "{dump}");
    let waited = wired.phone.world(|world| world.uptime()) - before;
    assert!((2..10).contains(&waited.as_secs()), "{waited:?}");
    assert!(!wired.phone.world(|world| world.keeps_moving()));
}

#[tokio::test]
async fn input_can_drag_notes_and_double_tap_maps() {
    let wired = Wired::new();
    wired.stdout("am start -n com.android.notes/.NotesActivity").await;
    let first = places(&wired, "id/browse_note").await;
    let ((ax, ay), (bx, by)) = (first[2], first[0]);
    wired.stdout(&format!("input draganddrop {ax} {ay} {bx} {by} 500")).await;
    let order = wired.phone.world(|world| {
        world.preferences("com.android.notes").iter().any(|(key, _)| *key == "order")
    });
    assert!(order, "it was moved");
    wired
        .stdout("am start -n com.google.android.apps.maps/com.google.android.maps.MapsActivity")
        .await;
    wired.stdout("sleep 3").await;
    let before = wired.phone.world(|world| world.frame());
    wired.stdout("input tap 540 1200; input tap 540 1200").await;
    assert_ne!(wired.phone.world(|world| world.frame()), before);
}
