//! Several users of one phone: Thumbwires share its helper, and other programs that need
//! UiAutomation have their turn.

use std::time::Duration;

use serde_json::json;
use thumbwire_adb::services::shell;
use thumbwire_adb::{DirectTransport, Transport};
use thumbwire_core::allowed_apps::AllowedApps;
use thumbwire_core::session::SessionOptions;
use thumbwire_core::toolset::android;
use thumbwire_device::android::HelperMode;
use thumbwire_virtual_android::{ClockMode, Profile, Setup, VirtualPhone};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};

use crate::caller::Caller;
use crate::support::McpProcess;

const LOOK: &str = "mobile_get_accessibility_tree";
const MAIN: &str = "org.thumbwire.helper.Main";

/// Whether `uiautomator dump`, as from somebody's script, had a tree.
async fn dumps(adb: &dyn Transport) -> bool {
    let output = shell::run(adb, "uiautomator dump /dev/tty").await.unwrap();
    String::from_utf8_lossy(&output.stdout).contains("</hierarchy>")
}

fn starts(phone: &VirtualPhone) -> usize {
    phone.commands().iter().filter(|command| command.argv.iter().any(|arg| arg == MAIN)).count()
}

/// Two processes and stock `uiautomator` in turns.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_and_uiautomator_take_turns() {
    let phone = VirtualPhone::new(Setup::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = phone.clone();
    tokio::spawn(async move { served.listen(listener).await });
    let adb = DirectTransport::tcp(address.clone());
    let arguments =
        ["--device", &address, "--helper", "require", "--observe", "off", "--lease", "0"];
    let mut servers = [McpProcess::connected(&arguments), McpProcess::connected(&arguments)];
    for round in 0..200 {
        let server = &mut servers[round % 2];
        // Every act and look of ours succeeds, after another program had the phone.
        let looked = tokio::task::block_in_place(|| server.say(LOOK, json!({})));
        assert!(looked.contains("Maps"), "round {round}: {looked}");
        if round % 3 == 0 {
            let tapped = tokio::task::block_in_place(|| {
                server.say("mobile_tap", json!({ "x": 540, "y": 3 }))
            });
            assert!(tapped.starts_with("Tapped"), "round {round}: {tapped}");
        }
        assert!(dumps(&adb).await, "round {round}");
    }
    assert_eq!(starts(&phone), 1, "one helper for both");
    for server in servers {
        assert_eq!(server.close(), Some(0));
    }
}

/// A dump that begins at any time before, during or after looks of two sessions, one of which waits
/// for something to appear: nobody fails. The time is the test's.
#[tokio::test(start_paused = true)]
async fn dump_at_any_time_fails_nobody() {
    let setup = Setup { clock: ClockMode::Real, profile: Profile::Pixel, ..Setup::default() };
    let phone = VirtualPhone::new(setup);
    let users = [Caller::of(phone.clone()), Caller::of(phone.clone())];
    for user in &users {
        user.said(LOOK, json!({})).await;
    }
    let adb = DirectTransport::from_io(phone.in_memory());
    let mut longest = Duration::ZERO;
    for after in (0..600).step_by(20) {
        let after = Duration::from_millis(after);
        let dump = async {
            sleep(after).await;
            assert!(dumps(&adb).await, "a dump {after:?} after a look began");
        };
        let look = async |user: &Caller| {
            let mut longest = Duration::ZERO;
            for _ in 0..4 {
                let began = Instant::now();
                user.said(LOOK, json!({})).await;
                longest = longest.max(began.elapsed());
                sleep(Duration::from_millis(90)).await;
            }
            longest
        };
        let waits = users[1].call("mobile_wait_for", json!({ "text": "nowhere", "timeout": 1 }));
        let ((), one, other, (failed, said)) =
            tokio::join!(dump, look(&users[0]), look(&users[1]), waits);
        assert!(failed && said.contains("wait until \"nowhere\" is visible"), "{said}");
        longest = longest.max(one).max(other);
        sleep(Duration::from_secs(1)).await;
    }
    // A look waits for a dump that is under way, which takes a second.
    assert!(longest < Duration::from_millis(2_500), "{longest:?}");
    assert_eq!(starts(&phone), 1);
}

/// Without the helper our own dump waits for another one.
#[tokio::test(start_paused = true)]
async fn dump_of_ours_waits_for_another_one() {
    let setup = Setup { clock: ClockMode::Real, profile: Profile::Pixel, ..Setup::default() };
    let phone = VirtualPhone::new(setup);
    let caller = Caller::of(phone.clone()).with_helper(HelperMode::Off);
    let adb = DirectTransport::from_io(phone.in_memory());
    for after in (0..1_000).step_by(100) {
        let ours = async {
            sleep(Duration::from_millis(after)).await;
            caller.said(LOOK, json!({})).await
        };
        let (theirs, tree) = tokio::join!(dumps(&adb), ours);
        // The one that asks first has its turn; ours comes in any case.
        assert!(theirs || after == 0, "{after}");
        assert!(tree.contains("Maps"), "{after}: {tree}");
    }
}

/// The trees of the `android` toolset are those of `uiautomator dump --compressed`, by the helper.
#[tokio::test]
async fn compressed_trees_of_the_helper_are_uiautomators() {
    for release in ["4.4", "9", "13", "14", "16"] {
        for app in ["com.android.notes", "com.android.settings", "com.android.chrome"] {
            let phone = VirtualPhone::new(Setup::of_release(release).unwrap());
            if !phone.world(|world| world.start(app, None).is_ok()) {
                continue;
            }
            let caller = |mode| Caller {
                surface: android::toolset(),
                ..Caller::of(phone.clone()).with_helper(mode)
            };
            for (tool, arguments) in [
                ("get_ui_layout", json!({})),
                ("list_screen_elements", json!({})),
                ("find_elements", json!({ "class_name": "View" })),
            ] {
                let by_shell = caller(HelperMode::Off).said(tool, arguments.clone()).await;
                let before = phone.commands().len();
                let by_helper = caller(HelperMode::Require).said(tool, arguments).await;
                assert!(by_helper == by_shell, "{release} {app} {tool}\n{by_helper}\n{by_shell}");
                let programs = phone.commands().split_off(before);
                assert!(programs.iter().all(|it| it.argv[0] != "uiautomator"), "{programs:?}");
            }
        }
    }
}

/// As `serve` guards the pages of Settings: before an act the helper tells which app is in front,
/// and only Settings is looked at closer.
#[tokio::test]
async fn acts_run_no_program_unless_settings_is_in_front() {
    let phone = VirtualPhone::new(Setup::default());
    let options =
        SessionOptions { allowed_apps: AllowedApps::matching([]), ..SessionOptions::default() };
    let caller = Caller::of(phone.clone()).with_options(options);
    caller.said(LOOK, json!({})).await;
    let act = async || {
        let before = phone.commands().len();
        caller.said("mobile_tap", json!({ "x": 540, "y": 3 })).await;
        let (from, to) = (json!({ "start_x": 540, "start_y": 900 }), json!(800));
        let mut swipe = from;
        swipe["end_x"] = 540.into();
        swipe["end_y"] = to;
        caller.said("mobile_swipe", swipe).await;
        caller.said("mobile_press_key", json!({ "key": "menu" })).await;
        phone.commands().split_off(before)
    };
    // The first asks for the size of the screen, too.
    act().await;
    let ran = act().await;
    assert!(ran.is_empty(), "{ran:?}");
    phone.world(|world| world.start("com.android.settings", None).is_ok());
    assert!(act().await.iter().any(|command| command.argv[0] == "dumpsys"));
}
