//! The `mobile` toolset with an Android 4.4 phone: no `exec:`, no exit status, a terminal around
//! every program, scripts that split their arguments. The phone's output follows a recording; see
//! `thumbwire-virtual-phone`.

use std::time::Duration;

use serde_json::json;
use thumbwire_adb::DirectTransport;
use thumbwire_core::action::Call;
use thumbwire_core::toolset::Content;
use thumbwire_device::image::Pixels;
use thumbwire_virtual_android::{ProgramStub, Setup, VirtualPhone};
use tokio::time::Instant;

use crate::caller::Caller;

const MAPS: &str = "com.google.android.apps.maps";

impl Caller {
    fn old() -> Self {
        Self::of(VirtualPhone::new(Setup::of_release("4.4").unwrap()))
    }

    /// The same without a helper: all work is done by programs of the phone.
    fn old_without_helper() -> Self {
        let setup = Setup { helper: false, ..Setup::of_release("4.4").unwrap() };
        Self::of(VirtualPhone::new(setup))
    }

    fn focused(&self) -> Option<String> {
        self.phone.world(|world| world.focused_text())
    }

    /// Puts the cursor into the search field of Maps.
    async fn searching(&self) {
        self.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
        self.said("mobile_tap_element", json!({ "text": "Search here" })).await;
        assert_eq!(self.focused(), Some(String::new()));
    }
}

#[tokio::test]
async fn old_phone_completes_the_example() {
    let old = Caller::old();
    old.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
    assert!(old.said("mobile_get_current_app", json!({})).await.contains(MAPS));
    let tree = old.said("mobile_get_accessibility_tree", json!({})).await;
    assert!(tree.contains("\"Search here\" e"), "{tree}");
    old.said("mobile_tap_element", json!({ "text": "Search here" })).await;
    old.said("mobile_type_keys", json!({ "text": "restaurants\n" })).await;
    let first = old.said("mobile_get_accessibility_tree", json!({})).await;
    old.said("mobile_scroll", json!({ "direction": "down" })).await;
    let further = old.said("mobile_get_accessibility_tree", json!({})).await;
    assert_ne!(first, further, "the list has scrolled");
    old.said("mobile_press_key", json!({ "key": "back" })).await;
    let swipe = json!({ "start_x": 240, "start_y": 600, "end_x": 240, "end_y": 300 });
    old.said("mobile_swipe", swipe).await;
    old.said("mobile_long_press", json!({ "x": 240, "y": 400 })).await;
    old.said("mobile_press_key", json!({ "key": "home" })).await;
    old.said("mobile_tap", json!({ "x": 240, "y": 400 })).await;
    let apps = old.said("mobile_list_apps", json!({ "app_type": "all" })).await;
    assert!(apps.contains(MAPS), "{apps}");
    let info = old.said("mobile_get_device_info", json!({})).await;
    for told in ["Virtual Phone 4.4", "4.4.4", "480", "800", "19"] {
        assert!(info.contains(told), "{told}: {info}");
    }
    old.said("mobile_close_app", json!({ "bundle_id": MAPS })).await;
    assert_eq!(old.phone.world(|world| world.pid_of(MAPS)), None);
}

/// The terminal's changes are undone: the screenshot equals the file that the phone itself writes.
#[tokio::test]
async fn screenshot_survives_the_terminal() {
    let old = Caller::old();
    let tool = old.surface.tool("mobile_take_screenshot").unwrap();
    let call = Call::with_timeout(Duration::from_secs(60));
    let reply = old.surface.answer(tool, serde_json::Map::new(), call, &old.session).await;
    let picture = reply.content.into_iter().find_map(|content| match content {
        Content::Image(image) => Some(image.bytes),
        _ => None,
    });
    let by_hand = DirectTransport::from_io(old.phone.in_memory());
    thumbwire_adb::run(&by_hand, "screencap -p /sdcard/s.png").await.unwrap();
    let file = old.phone.files(|files| files.read("/sdcard/s.png")).unwrap();
    assert!(picture.unwrap() == file.as_ref(), "every byte");
    let shells = old.phone.commands();
    assert!(shells.iter().all(|command| command.service == "shell"), "no other service was used");
}

#[tokio::test]
async fn every_printable_character_survives_splitting_scripts() {
    for text in [
        "two words",
        " a  b ",
        "*",
        "?",
        "[a-z]*",
        "{a,b} {1..3}",
        "it's; $(reboot) `id` && reboot | cat > /sdcard/x",
        "%s 100% \\ \"",
        "-n",
        "''''",
    ] {
        let old = Caller::old();
        old.searching().await;
        let (failed, words) = old.call("mobile_type_keys", json!({ "text": text })).await;
        assert!(!failed, "{text:?}: {words}");
        assert_eq!(old.focused().as_deref(), Some(text));
    }
}

#[tokio::test]
async fn long_text_of_quotes_fits_into_service_names() {
    let old = Caller::old();
    old.searching().await;
    let text = "'".repeat(1_000);
    let reply = old.said("mobile_type_keys", json!({ "text": text })).await;
    assert_eq!(old.focused(), Some(text), "{reply}");
}

/// No string argument of any tool becomes a second command or a second argument.
#[tokio::test]
async fn hostile_strings_run_nothing_on_an_old_phone() {
    let old = Caller::old_without_helper();
    let mut hostile = crate::wire::hostile_strings();
    assert!(hostile.len() >= 500, "{}", hostile.len());
    // Strings that a splitting script would see as two arguments.
    let splitting = ["com.x 500", "-p android 9", "{a,b}", "com.x -c android.intent.category.HOME"];
    hostile.extend(splitting.map(str::to_owned));
    for (nth, string) in hostile.iter().enumerate() {
        // An app's name is trimmed.
        let trimmed = string.trim();
        for (tool, argument) in [
            ("mobile_launch_app", "bundle_id"),
            ("mobile_close_app", "bundle_id"),
            ("mobile_tap_element", "text"),
            ("mobile_tap_element", "element_id"),
            ("mobile_type_keys", "text"),
        ] {
            // It reaches no shell, and costs a snapshot.
            if tool == "mobile_tap_element" && nth % 20 > 0 {
                continue;
            }
            let ran = || old.phone.commands().len() as u64 + old.phone.commands_dropped();
            let before = ran();
            old.call(tool, json!({ argument: string })).await;
            let new = usize::try_from(ran() - before).unwrap();
            for command in old.phone.commands().into_iter().rev().take(new) {
                let argv: Vec<&str> = command.argv.iter().map(String::as_str).collect();
                let as_made = match argv.as_slice() {
                    ["dumpsys", "package", app] | ["am", "force-stop", app] => *app == trimmed,
                    ["monkey", "--pct-syskeys", "0", "-p", app, "-c", _, "1"] => {
                        *app == trimmed && app.chars().all(|c| c.is_ascii_alphanumeric())
                    }
                    ["app_process", _, "com.android.commands.input.Input", "text", piece] => {
                        string.contains(piece)
                    }
                    ["input", "keyevent", "66"] => string.contains('\n'),
                    // The helper lists them with their names.
                    ["sha256sum", "/data/local/tmp/thumbwire-helper-1.jar"]
                    | ["umask", "077"]
                    | ["trap", "", "HUP"]
                    | ["mkdir", "-p", "/data/local/tmp/dalvik-cache"]
                    | ["exec", "app_process", "/system/bin", "org.thumbwire.helper.Main", _] => {
                        tool == "mobile_launch_app"
                    }
                    // A name is compared with those of the installed apps; none of these has it.
                    ["pm", "list", "packages"] | ["pm", "list", "packages", "-3" | "-f"] => {
                        tool == "mobile_launch_app"
                    }
                    ["dumpsys", "package"] | ["getprop"] => tool == "mobile_launch_app",
                    ["dd", file, ..] => {
                        tool == "mobile_launch_app"
                            && file.starts_with("if=/")
                            && file.ends_with(".apk")
                    }
                    ["uiautomator", "dump", "/dev/tty"]
                    | ["echo"]
                    | ["echo", "==", "windows"]
                    | ["dumpsys", "power"]
                    | ["dumpsys", "window", "-a" | "windows"]
                    | ["dumpsys", "input_method"]
                    | ["cat", "/proc/uptime"]
                    | ["ime", "list", "-a", "-s"] => true,
                    // Once, when a session connects to a phone.
                    ["cat", "/data/local/tmp/thumbwire-orientation"] => true,
                    _ => false,
                };
                assert!(as_made, "{tool} {argument}={string:?} ran {argv:?}");
            }
        }
    }
}

#[tokio::test]
async fn missing_app_is_not_found() {
    let old = Caller::old();
    for tool in ["mobile_launch_app", "mobile_close_app"] {
        let text = old.refused(tool, json!({ "bundle_id": "com.example.nope" })).await;
        assert!(text.starts_with("App not found: com.example.nope"), "{text}");
    }
}

/// The exit status is 0 or missing, whatever happened. The output decides; unknown output is
/// quoted, not guessed at.
#[tokio::test]
async fn failures_quote_the_phones_output() {
    let nothing = || json!({});
    let launch = || ("mobile_launch_app", json!({ "bundle_id": MAPS }));
    let tap = || ("mobile_tap", json!({ "x": 5, "y": 5 }));
    let snapshot = || ("mobile_get_accessibility_tree", nothing());
    let unheard = "something that no phone has said before\n";
    let cases = [
        ("uiautomator", "ERROR: could not get idle state.\n", snapshot()),
        ("uiautomator", "ERROR: null root node returned by UiTestAutomationBridge.\n", snapshot()),
        ("uiautomator", "Killed\n", snapshot()),
        ("uiautomator", "<?xml version='1.0'?><hierarchy rotation=\"0\"><node", snapshot()),
        ("uiautomator", unheard, snapshot()),
        ("screencap", "Error opening file: x\n", ("mobile_take_screenshot", nothing())),
        ("input", "Killed\n", tap()),
        ("input", "java.lang.SecurityException: Injecting to another application\n", tap()),
        ("input", unheard, tap()),
        ("monkey", unheard, launch()),
        ("monkey", "** SYS_KEYS has no physical keys but with factor 2.0%.\n", launch()),
        ("dumpsys", "Can't find service: window\n", ("mobile_get_current_app", nothing())),
        ("dumpsys", "Can't find service: window\n", ("mobile_get_device_info", nothing())),
        ("pm", "Error: java.lang.NullPointerException\n", ("mobile_list_apps", nothing())),
    ];
    for (program, words, (tool, arguments)) in cases {
        let old = Caller::old_without_helper();
        // From here on the screen size is known.
        old.said(tap().0, tap().1).await;
        old.phone.stub_program(program, Some(ProgramStub::printing(words)));
        let out = old.refused(tool, arguments.clone()).await;
        let named = if words.contains("hierarchy") { "</hierarchy>" } else { words.trim() };
        assert!(out.contains(named), "{program} {words:?}: {out}");
        old.phone.stub_program(program, None);
        old.said(tool, arguments).await;
    }
}

/// As measured: a character beyond the basic plane crashes `uiautomator` on this release. The error
/// says so; no older screen is returned instead.
#[tokio::test]
async fn emoji_on_the_screen_is_reported_as_a_failure() {
    let old = Caller::old_without_helper();
    old.searching().await;
    old.phone.world(|world| world.type_char('\u{1f600}'));
    let text = old.refused("mobile_get_accessibility_tree", json!({})).await;
    assert!(text.contains("Killed"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn slow_old_phone_times_out_within_the_deadline() {
    let old = Caller::old();
    old.said("mobile_take_screenshot", json!({})).await;
    old.phone.pause_programs();
    let began = Instant::now();
    let limit = Duration::from_secs(10);
    let (failed, words) = old.call_within(limit, "mobile_get_accessibility_tree", json!({})).await;
    assert!(failed && words.starts_with("Operation timed out"), "{words}");
    assert!(began.elapsed() <= limit);
    old.phone.resume_programs();
    old.said("mobile_get_accessibility_tree", json!({})).await;
}

/// Before Android 5 `screencap` prints the panel in its natural orientation: seen on a real 4.4.4,
/// whose landscape screenshots lie on their side.
#[tokio::test]
async fn screenshot_is_turned_as_the_screen() {
    for release in ["4.4", "14"] {
        for rotation in [0, 1, 2, 3] {
            let caller = Caller::of(VirtualPhone::new(Setup::of_release(release).unwrap()));
            caller.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
            caller.phone.world(|world| world.set_rotation(rotation));
            let tool = caller.surface.tool("mobile_take_screenshot").unwrap();
            let call = Call::with_timeout(Duration::from_secs(60));
            let reply =
                caller.surface.answer(tool, serde_json::Map::new(), call, &caller.session).await;
            let image = reply.content.into_iter().find_map(|content| match content {
                Content::Image(image) => Some(image),
                _ => None,
            });
            let shown = Pixels::read(&image.unwrap()).unwrap();
            let frame = caller.phone.world(|world| world.capture());
            let expected: Vec<u8> =
                frame.rgba.chunks_exact(4).flat_map(|pixel| pixel[..3].to_vec()).collect();
            assert_eq!(shown.size().width, frame.width as i32, "{release}, rotation {rotation}");
            assert!(shown.rgb() == expected, "{release}, rotation {rotation}: other pixels");
        }
    }
}

/// What the four kinds of field cost, and what they hold afterwards.
#[tokio::test]
async fn typing_into_a_field_takes_two_dumps_at_most() {
    const NOTES: &str = "com.android.notes";
    const BANK: &str = "com.example.bank";
    const SECRET: &str = "com.example.bank:id/login_password";
    const TITLE: &str = "com.android.notes:id/editable_title";
    const BODY: &str = "com.android.notes:id/edit_note_text";
    let old = Caller::old();
    let dumps = || {
        let ran = old.phone.commands();
        ran.iter().filter(|command| command.argv[0] == "uiautomator").count()
    };
    let type_into = async |id: &str, text: &str, clear: bool, expected: &str| {
        let before = dumps();
        let arguments = json!({ "text": text, "element_id": id, "clear": clear });
        let reply = old.said("mobile_type", arguments).await;
        assert_eq!(old.focused().as_deref(), Some(expected), "{id}: {reply}");
        assert!(dumps() - before <= 2, "{id} {text:?}: {} dumps", dumps() - before);
        reply
    };
    old.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
    old.said("mobile_tap_element", json!({ "text": "New note" })).await;
    // Empty, in front; empty, tapped; filled; cleared; a hint that reads like a text.
    type_into(TITLE, "teh quik", false, "teh quik").await;
    type_into(BODY, "misspelt wrods aer hree", false, "misspelt wrods aer hree").await;
    type_into(TITLE, " brwon fox", false, "teh quik brwon fox").await;
    type_into(BODY, " too", false, "misspelt wrods aer hree too").await;
    type_into(TITLE, "Title", true, "Title").await;
    type_into(TITLE, "", true, "").await;
    type_into(BODY, "new\ntext", true, "new\ntext").await;
    type_into(TITLE, "after the hint", false, "after the hint").await;
    // A password: the length that the keyboard knows is all that can be checked.
    old.said("mobile_launch_app", json!({ "bundle_id": BANK })).await;
    let reply = type_into(SECRET, "s3cret", false, "s3cret").await;
    assert!(reply.contains("hides its content"), "{reply}");
    type_into(SECRET, "An0ther", true, "An0ther").await;
}

/// The time of a long text is known before its first key, on a phone that has pressed none yet; and
/// finding it out types nothing.
#[tokio::test]
async fn first_text_of_a_session_arrives_alone() {
    let old = Caller::old();
    old.searching().await;
    let fresh = Caller::of(old.phone.clone());
    let text: String = (' '..='~').cycle().take(200).collect();
    fresh.said("mobile_type", json!({ "text": text })).await;
    assert_eq!(fresh.focused().as_deref(), Some(text.as_str()));
}
