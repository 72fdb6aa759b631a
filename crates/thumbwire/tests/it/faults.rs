//! What callers see when things go wrong on a phone: a clear error with the next step, and no hang.
//! The clock is paused, so an endless wait would end a test at once.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use thumbwire_adb::{AdbServer, DirectTransport};
use thumbwire_core::action::{Action, Outcome};
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::Session;
use thumbwire_core::toolset::mobile;
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::caller::Caller;
use crate::support::thumbwire;

const MAPS: &str = "com.google.android.apps.maps";
const NOTES: &str = "com.android.notes";

impl Caller {
    /// With a phone that shows Notes and is connected.
    async fn on(setup: Setup) -> Self {
        let caller = Self::of(VirtualPhone::new(setup));
        caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
        caller
    }

    /// The same, with these faults and without a helper.
    async fn meeting(rules: &[&str]) -> Self {
        let caller = Self::on(Setup { helper: false, ..Setup::default() }).await;
        caller.add(rules);
        caller
    }

    fn add(&self, rules: &[&str]) {
        rules.iter().for_each(|rule| self.phone.add_fault(rule.parse().unwrap()));
    }

    async fn tree(&self) -> (bool, String) {
        self.call("mobile_get_accessibility_tree", json!({})).await
    }

    fn struck(&self) -> usize {
        self.phone.injections().len()
    }
}

/// `thumbwire phone` as a separate process; it ends with the test.
struct Process(std::process::Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Starts it with these options; returns it and its address.
    fn start(options: &[&str]) -> (Self, String) {
        let mut command = thumbwire();
        command.args(["phone", "--listen", "127.0.0.1:0", "--clock", "virtual"]).args(options);
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut phone = Self(piped.spawn().unwrap());
        let mut greeting = String::new();
        BufReader::new(phone.0.stdout.take().unwrap()).read_line(&mut greeting).unwrap();
        let address = greeting.split("listens on ").nth(1).unwrap().split(';').next().unwrap();
        (phone, address.to_owned())
    }
}

#[tokio::test]
async fn phone_process_reports_faults_on_stderr() {
    let rules = ["--fault", "corrupt-output:on=getprop", "--fault", "slow:ms=0,on=input"];
    let (mut phone, address) = Process::start(&rules);
    let adb = DirectTransport::tcp(address);
    thumbwire_adb::run(&adb, "getprop ro.serialno; input text secret").await.unwrap();
    let mut out = BufReader::new(phone.0.stderr.take().unwrap()).lines();
    let mut line = || out.next().unwrap().unwrap();
    assert_eq!(line(), "VP00000001 after 0.000 s: fault corrupt-output, at getprop ro.serialno");
    assert_eq!(line(), "VP00000001 after 0.005 s: fault slow, at input text");
}

#[tokio::test]
async fn phone_process_sets_app_preferences() {
    let kept = ["--app-pref", "com.android.notes:note/40/title=Milk: 2 = 3"];
    let (_phone, address) = Process::start(&kept);
    let snapshot = "monkey -p com.android.notes 1 >/dev/null; uiautomator dump /dev/tty";
    let shown = thumbwire_adb::run(&DirectTransport::tcp(address), snapshot).await.unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("\"Milk: 2 = 3\""), "{shown}");
}

/// The text of each failure, by the fault that caused it.
#[tokio::test(start_paused = true)]
async fn every_fault_is_reported_with_the_next_step() {
    let (tree, picture) = ("mobile_get_accessibility_tree", "mobile_take_screenshot");
    let (press, back) = ("mobile_press_key", json!({ "key": "back" }));
    let mut out = String::new();
    for (rule, tool, arguments) in [
        ("offline:ms=3600000", press, back.clone()),
        ("slow:ms=600000,on=screencap", picture, json!({})),
        ("slow:ms=600000,on=uiautomator", tree, json!({})),
        ("adb-restart:on=input", press, back.clone()),
        ("adb-restart:on=uiautomator", tree, json!({})),
        ("corrupt-output:every=64,on=screencap", picture, json!({})),
        ("corrupt-output:every=4096,on=screencap", picture, json!({})),
        ("corrupt-output:every=64,on=uiautomator", tree, json!({})),
        ("dump-not-idle", tree, json!({})),
        ("dump-killed", tree, json!({})),
    ] {
        let caller = Caller::meeting(&[rule]).await;
        let text = caller.refused(tool, arguments).await;
        assert!(caller.struck() > 0, "{rule} never struck");
        out.push_str(&format!("{rule}\n  {tool}: {}\n\n", text.replace('\n', "\n  ")));
    }
    insta::assert_snapshot!("faults", out);
}

#[tokio::test(start_paused = true)]
async fn next_call_works_after_a_fault() {
    for rule in [
        "offline:ms=30000,times=1",
        "disconnect:at=2000,times=1",
        "adb-restart:times=1",
        "corrupt-packets:at=30,times=1",
        "dump-not-idle:times=1",
        "dump-killed:times=1",
        "corrupt-output:times=1,on=uiautomator",
        "slow:ms=600000,times=1,on=uiautomator",
    ] {
        let caller = Caller::meeting(&[rule]).await;
        // So that rules about connections hit one.
        caller.add(&["adb-restart:times=1,on=getprop"]);
        let mut answers = Vec::new();
        for _ in 0..4 {
            answers.push(caller.tree().await);
        }
        let (failed, words) = answers.last().unwrap();
        assert!(!failed && words.contains("New note"), "{rule}: {answers:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn unauthorized_phone_error_names_the_prompt() {
    let phone = VirtualPhone::new(Setup::default());
    phone.add_fault("unauthorized".parse().unwrap());
    let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"))
        .with(VirtualPhoneProvider::new(phone.clone()));
    let caller = Caller {
        phone,
        surface: mobile::toolset(),
        session: Session::new(phones, Some(VIRTUAL.into())),
    };
    let text = caller.refused("mobile_take_screenshot", json!({})).await;
    assert!(text.contains("USB debugging"), "{text}");
    assert_eq!(caller.phone.injections()[0].fault, "unauthorized");
}

#[tokio::test(start_paused = true)]
async fn lost_text_is_reported_with_the_fields_content() {
    let caller = Caller::meeting(&["text-lost:every=3,times=1"]).await;
    caller.said("mobile_tap_element", json!({ "text": "New note" })).await;
    let text = caller.said("mobile_type", json!({ "text": "abcdefghi" })).await;
    assert_eq!(caller.struck(), 1);
    assert!(text.contains("But the field shows \"abdegh\""), "{text}");
}

/// A control that was listed before a banner appeared is found at its new place, or not tapped at
/// all.
#[tokio::test(start_paused = true)]
async fn moved_target_is_found_again_after_a_snapshot() {
    let caller = Caller::on(Setup::default()).await;
    caller.said("mobile_launch_app", json!({ "bundle_id": "com.android.settings" })).await;
    caller.add(&["layout-shift:times=1"]);
    let listed = caller.said("mobile_snapshot", json!({})).await;
    let row = listed.lines().find(|line| line.contains("Battery")).unwrap();
    let id = row
        .split(|c: char| !c.is_ascii_alphanumeric())
        .find(|word| word.strip_prefix('e').is_some_and(|digits| digits.parse::<u32>().is_ok()));
    let id = id.unwrap_or_else(|| panic!("no ref in {row}"));
    tokio::time::advance(Duration::from_secs(6)).await;
    caller.said("mobile_tap_element", json!({ "element_id": id })).await;
    assert_eq!(caller.struck(), 1);
    let (_, words) = caller.tree().await;
    assert!(words.contains("Battery"), "{words}");
}

#[tokio::test(start_paused = true)]
async fn next_snapshot_shows_a_new_alert() {
    let caller = Caller::meeting(&["popup:times=1"]).await;
    caller.said("mobile_snapshot", json!({})).await;
    let (_, words) = caller.tree().await;
    assert!(words.contains("Software update") && !words.contains("New note"), "{words}");
    let text = caller.refused("mobile_tap_element", json!({ "text": "New note" })).await;
    assert!(text.contains("New note"), "{text}");
    caller.said("mobile_tap_element", json!({ "text": "Later" })).await;
    assert!(caller.tree().await.1.contains("New note"));
}

#[tokio::test(start_paused = true)]
async fn next_snapshot_does_not_show_a_crashed_app() {
    for (rule, sign) in [("app-crash:times=1", "Notes"), ("anr:times=1", "isn't responding")] {
        let caller = Caller::meeting(&[rule]).await;
        caller.call("mobile_tap", json!({ "x": 500, "y": 500 })).await;
        assert_eq!(caller.struck(), 1);
        let (_, words) = caller.tree().await;
        assert!(words.contains(sign) && !words.contains("New note"), "{rule}: {words}");
    }
}

#[tokio::test(start_paused = true)]
async fn secure_window_is_named_with_its_black_screenshot() {
    let caller = Caller::meeting(&["secure-window"]).await;
    let text = caller.said("mobile_take_screenshot", json!({})).await;
    assert!(text.contains(NOTES), "{text}");
}

#[tokio::test(start_paused = true)]
async fn covered_control_is_not_tapped_through_the_keyboard() {
    let caller = Caller::on(Setup::default()).await;
    caller.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
    caller.said("mobile_tap_element", json!({ "text": "Search here" })).await;
    caller.said("mobile_press_key", json!({ "key": "back" })).await;
    caller.add(&["keyboard:times=1"]);
    caller.said("mobile_snapshot", json!({})).await;
    assert_eq!(caller.struck(), 1);
    assert!(caller.phone.world(|world| world.keyboard_shown()));
    // The next call takes a new snapshot: the phone is as it says.
    let (failed, words) = caller.tree().await;
    assert!(!failed, "{words}");
}

/// A dump can be the one before, of another app. Here, one in eight is.
#[tokio::test(start_paused = true)]
async fn no_tree_of_the_app_before_passes_for_the_one_in_front() {
    const APPS: [&str; 4] =
        ["com.android.notes", "com.android.settings", "com.example.shop", "com.example.members"];
    let display =
        thumbwire_virtual_phone::Display { width: 480, height: 800, density: 200, rotation: 0 };
    let caller = Caller::of(VirtualPhone::new(Setup { display, ..Setup::default() }));
    let phone = &caller.phone;
    phone.add_fault("dump-stale:p=0.125,seed=7".parse().unwrap());
    let (mut taken, mut told) = (0, 0);
    for turn in 0..1_500 {
        let app = APPS[turn % APPS.len()];
        phone.world(|world| world.start(app, None)).expect("an app");
        match crate::wire::ask(&caller.session, Action::LOOK).await {
            Ok(Outcome::Snapshot(seen)) => {
                assert_eq!((&*seen.tree.nodes[0].package, turn), (app, turn));
                taken += 1;
            }
            // Three in a row.
            Err(failure) => {
                let text = failure.cause.to_string();
                assert!(text.contains("it still dumps "), "{text}");
                told += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    let stale = phone.injections().len();
    assert!(
        stale > 120 && taken + told == 1_500 && told < 15,
        "{stale} dumps were stale, {told} trees"
    );
}

/// A phone that goes on dumping the app before: that is told, and nothing of it can be acted on.
#[tokio::test(start_paused = true)]
async fn tree_that_stays_stale_is_refused_with_the_reason() {
    let caller = Caller::of(VirtualPhone::new(Setup::default()));
    let open = |app: &str| caller.phone.world(|world| world.start(app, None)).expect("an app");
    open("com.android.notes");
    caller.phone.add_fault("dump-stale".parse().unwrap());
    let list = caller.said("mobile_get_accessibility_tree", json!({})).await;
    let id = list
        .lines()
        .find_map(|line| line.rsplit(' ').next().filter(|it| it.starts_with('e')))
        .unwrap();
    open("com.android.settings");
    let text = caller.refused("mobile_get_accessibility_tree", json!({})).await;
    assert!(
        text.contains("it still dumps com.android.notes, but com.android.settings is in front"),
        "{text}"
    );
    let before = caller.phone.commands().len();
    tokio::time::advance(std::time::Duration::from_secs(10)).await;
    caller.refused("mobile_tap_element", json!({ "element_id": id })).await;
    let input = caller.phone.commands().into_iter().skip(before).any(|it| it.argv[0] == "input");
    assert!(!input, "nothing was tapped");
}
