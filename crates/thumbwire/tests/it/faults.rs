//! What our callers are told when things go wrong on a phone: a clear error with the next move, and nothing hangs. The clock is held;
//! whatever waits for ever would end a test at once.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use thumbwire::session::{Phones, Session, VIRTUAL};
use thumbwire::surface::mobile;
use thumbwire_adb::{AdbServer, Direct};
use thumbwire_virtual_phone::{Setup, VirtualPhone};

use crate::caller::Caller;
use crate::support::thumbwire;

const MAPS: &str = "com.google.android.apps.maps";
const NOTES: &str = "com.android.notes";

impl Caller {
    /// Of a phone that shows Notes and has been met.
    async fn on(setup: Setup) -> Self {
        let caller = Self::of(VirtualPhone::new(setup));
        caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
        caller
    }

    async fn meeting(rules: &[&str]) -> Self {
        let caller = Self::on(Setup::default()).await;
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
        self.phone.strikes().len()
    }
}

/// `thumbwire phone` as a process of its own; it ends with the test.
struct Process(std::process::Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Switched on with these options, and its address.
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
async fn a_phone_for_others_tells_on_standard_error_what_struck() {
    let rules = ["--fault", "garbage:on=getprop", "--fault", "slow:ms=0,on=input"];
    let (mut phone, address) = Process::start(&rules);
    let adb = Direct::tcp(address);
    thumbwire_adb::run(&adb, "getprop ro.serialno; input text secret").await.unwrap();
    let mut told = BufReader::new(phone.0.stderr.take().unwrap()).lines();
    let mut line = || told.next().unwrap().unwrap();
    assert_eq!(line(), "VP00000001 after 0.000 s: fault garbage, at getprop ro.serialno");
    assert_eq!(line(), "VP00000001 after 0.005 s: fault slow, at input text");
}

#[tokio::test]
async fn an_app_of_a_phone_for_others_keeps_what_it_was_given() {
    let kept = ["--keep", "com.android.notes:note/40/title=Milk: 2 = 3"];
    let (_phone, address) = Process::start(&kept);
    let look = "monkey -p com.android.notes 1 >/dev/null; uiautomator dump /dev/tty";
    let shown = thumbwire_adb::run(&Direct::tcp(address), look).await.unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("text=\"Milk: 2 = 3\""), "{shown}");
}

/// The words of each refusal, by the fault that caused it.
#[tokio::test(start_paused = true)]
async fn what_goes_wrong_is_told_with_the_next_move() {
    let (tree, picture) = ("mobile_get_accessibility_tree", "mobile_take_screenshot");
    let (press, back) = ("mobile_press_key", json!({ "key": "back" }));
    let mut told = String::new();
    for (rule, tool, arguments) in [
        ("offline:ms=3600000", press, back.clone()),
        ("slow:ms=600000,on=screencap", picture, json!({})),
        ("slow:ms=600000,on=uiautomator", tree, json!({})),
        ("adb-restart:on=input", press, back.clone()),
        ("adb-restart:on=uiautomator", tree, json!({})),
        ("garbage:every=64,on=screencap", picture, json!({})),
        ("garbage:every=4096,on=screencap", picture, json!({})),
        ("garbage:every=64,on=uiautomator", tree, json!({})),
        ("dump-not-idle", tree, json!({})),
        ("dump-killed", tree, json!({})),
    ] {
        let caller = Caller::meeting(&[rule]).await;
        let words = caller.refused(tool, arguments).await;
        assert!(caller.struck() > 0, "{rule} never struck");
        told.push_str(&format!("{rule}\n  {tool}: {}\n\n", words.replace('\n', "\n  ")));
    }
    insta::assert_snapshot!("faults", told);
}

#[tokio::test(start_paused = true)]
async fn once_the_fault_has_passed_the_next_call_works() {
    for rule in [
        "offline:ms=30000,times=1",
        "cut:at=2000,times=1",
        "adb-restart:times=1",
        "garbage-packets:at=30,times=1",
        "dump-not-idle:times=1",
        "dump-killed:times=1",
        "garbage:times=1,on=uiautomator",
        "slow:ms=600000,times=1,on=uiautomator",
    ] {
        let caller = Caller::meeting(&[rule]).await;
        // So that rules for connections meet one.
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
async fn a_phone_that_forgot_our_key_names_the_question_on_its_screen() {
    let phone = VirtualPhone::new(Setup::default());
    phone.add_fault("unauthorized".parse().unwrap());
    let phones = Phones::new(AdbServer::new("127.0.0.1:9")).with_virtual(phone.clone());
    let caller = Caller {
        phone,
        surface: mobile::surface(),
        session: Session::new(phones, Some(VIRTUAL.into())),
    };
    let words = caller.refused("mobile_take_screenshot", json!({})).await;
    assert!(words.contains("USB debugging"), "{words}");
    assert_eq!(caller.phone.strikes()[0].fault, "unauthorized");
}

#[tokio::test(start_paused = true)]
async fn text_that_was_lost_is_told_with_what_the_field_holds() {
    let caller = Caller::meeting(&["text-lost:every=3,times=1"]).await;
    caller.said("mobile_tap_element", json!({ "text": "New note" })).await;
    let words = caller.said("mobile_type", json!({ "text": "abcdefghi" })).await;
    assert_eq!(caller.struck(), 1);
    assert!(words.contains("But the field shows \"abdegh\""), "{words}");
}

/// A control that was listed before a banner came is found where it lies now, or not touched at all.
#[tokio::test(start_paused = true)]
async fn a_target_that_moved_between_look_and_touch_is_found_again_after_a_while() {
    let caller = Caller::on(Setup::default()).await;
    caller.said("mobile_launch_app", json!({ "bundle_id": "com.android.settings" })).await;
    caller.add(&["target-moved:times=1"]);
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
async fn an_alert_that_came_after_the_look_is_what_the_next_look_shows() {
    let caller = Caller::meeting(&["popup:times=1"]).await;
    caller.said("mobile_snapshot", json!({})).await;
    let (_, words) = caller.tree().await;
    assert!(words.contains("Software update") && !words.contains("New note"), "{words}");
    let words = caller.refused("mobile_tap_element", json!({ "text": "New note" })).await;
    assert!(words.contains("New note"), "{words}");
    caller.said("mobile_tap_element", json!({ "text": "Later" })).await;
    assert!(caller.tree().await.1.contains("New note"));
}

#[tokio::test(start_paused = true)]
async fn an_app_that_crashes_or_hangs_is_not_what_the_next_look_shows() {
    for (rule, sign) in [("app-crash:times=1", "Notes"), ("anr:times=1", "isn't responding")] {
        let caller = Caller::meeting(&[rule]).await;
        caller.call("mobile_tap", json!({ "x": 500, "y": 500 })).await;
        assert_eq!(caller.struck(), 1);
        let (_, words) = caller.tree().await;
        assert!(words.contains(sign) && !words.contains("New note"), "{rule}: {words}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_secure_window_is_named_beside_its_black_picture() {
    let caller = Caller::meeting(&["secure-window"]).await;
    let words = caller.said("mobile_take_screenshot", json!({})).await;
    assert!(words.contains(NOTES), "{words}");
}

#[tokio::test(start_paused = true)]
async fn what_a_keyboard_covers_is_not_touched_through_it() {
    let caller = Caller::on(Setup::default()).await;
    caller.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
    caller.said("mobile_tap_element", json!({ "text": "Search here" })).await;
    caller.said("mobile_press_key", json!({ "key": "back" })).await;
    caller.add(&["keyboard:times=1"]);
    caller.said("mobile_snapshot", json!({})).await;
    assert_eq!(caller.struck(), 1);
    assert!(caller.phone.world(|world| world.keyboard_shown()));
    // What follows looks anew: the phone is as it says.
    let (failed, words) = caller.tree().await;
    assert!(!failed, "{words}");
}
