//! Services of apps: who may start which, and what they reply.

use crate::packages::{Apk, built_in};
use std::time::Duration;
use thumbwire_virtual_phone::{
    CallbackKeys, CallbackReply, Caller, Display, Installation, Manifest, Node, ServiceName, Setup,
    StartServiceResult, TouchPhase, World,
};

const NOTES: &str = "com.android.notes";
const SHOP: &str = "com.example.shop";
const SHELL: Caller = Caller { uid: 2_000, pid: 4_711 };
const ODD: &str = "org.example.odd";
const ATTENDANCE: &str = "org.example.attendance";

/// A phone with this APK of `fixtures/apk` installed.
fn with(android: u32, name: &str) -> World {
    let mut world = World::new(Setup { android, ..Setup::default() });
    install(&mut world, name);
    world
}

/// A phone that shows an app of its own.
fn app(package: &str) -> World {
    let display = Display { width: 480, height: 900, density: 192, rotation: 0 };
    let mut world = World::new(Setup { display, ..Setup::default() });
    built_in::packages().for_each(|package| world.set_built_in(package));
    world.start(package, None).expect("it is there");
    world
}

fn shows(world: &mut World, text: &str) -> bool {
    let root = &world.scene().focused().expect("a window").root;
    root.walk().any(|node| node.text == text || node.description == text)
}

/// Taps the node with this id, or else with this text or description.
fn tap(world: &mut World, what: &str) {
    let root = &world.scene().focused().expect("a window").root;
    let says = |node: &&Node| node.text == what || node.description == what;
    let found = root.find(what).or_else(|| root.walk().find(says));
    let at = found.unwrap_or_else(|| panic!("no {what} on the screen")).bounds.center();
    world.pointer(TouchPhase::Down, at);
    world.pointer(TouchPhase::Up, at);
}

fn install(world: &mut World, name: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/apk/");
    let bytes = std::fs::read(format!("{path}{name}.apk")).expect("it is in the repository");
    let declared = Apk::read(&bytes, 3).expect("it can be read").declared;
    let installation = Installation { declared, ..Installation::unknown() };
    world.install(Manifest::of_installation(installation), None);
}

fn service(package: &str, class: &str) -> ServiceName {
    ServiceName { package: package.to_owned(), class: format!("{package}.{class}") }
}

fn callback() -> Option<CallbackKeys> {
    Some(CallbackKeys(vec!["mcp_callback".to_owned(), "callback".to_owned()]))
}

/// A request in the sample apps' format.
fn sample(id: &str, capability: &str, input: &str) -> Vec<(String, String)> {
    let request =
        format!(r#"{{"id":"{id}","capability":{{"id":"{capability}","input":{input}}}}}"#);
    vec![("request".to_owned(), request)]
}

/// A request in the specification's format.
fn request(id: &str, capability: &str, args: &str) -> Vec<(String, String)> {
    let text = format!(
        r#"{{"mobile-mcp-request":{{"version":"1.0","request":{{"id":"{id}","capability":{{"id":"{capability}","args":{args}}}}}}}}}"#
    );
    vec![("mobile-mcp-request".to_owned(), text)]
}

fn reply(delivered: StartServiceResult) -> CallbackReply {
    match delivered {
        StartServiceResult::Started(Some(reply)) => reply,
        other => panic!("no reply: {other:?}"),
    }
}

fn odd(world: &mut World, capability: &str, args: &str) -> StartServiceResult {
    world.start_foreground_service(
        SHELL,
        &service(ODD, "OddService"),
        &request("r1", capability, args),
        callback(),
    )
}

#[test]
fn clocking_in_by_service_updates_the_open_screen() {
    let mut world = with(14, "attendance");
    world.start(ATTENDANCE, None).expect("it is there");
    tap(&mut world, "March 2024");
    assert!(!shows(&mut world, "Clocked in at 10:00"));
    let to = service(ATTENDANCE, "ToolService");
    let extras = sample("7", "clock_in_today", "{}");
    let output = reply(world.start_service(SHELL, &to, &extras, callback()));
    assert_eq!(output.extras[0], ("mcp_request_id".to_owned(), "7".to_owned()));
    assert!(output.extras[1].1.contains(r#""status":"success""#), "{output:?}");
    assert!(shows(&mut world, "Clocked in at 10:00"));
}

#[test]
fn clocking_in_by_hand_works() {
    let mut world = with(14, "attendance");
    world.start(ATTENDANCE, None).expect("it is there");
    for words in ["March 2024", "4 March", "Make up clock-in", "Confirm"] {
        tap(&mut world, words);
    }
    assert!(world.preferences(ATTENDANCE).iter().any(|(key, _)| *key == "day/2024-03-04"));
}

#[test]
fn sample_tool_reports_errors_or_stays_silent() {
    let mut world = with(14, "attendance");
    world.start(ATTENDANCE, None).expect("it is there");
    let to = service(ATTENDANCE, "ToolService");
    for (extras, words) in [
        (sample("1", "fly", "{}"), "Unknown capability ID: fly"),
        (sample("1", "query_clock_in", "{}"), "Missing args."),
        (sample("1", "query_clock_in", r#"{"date":"soon"}"#), "Not a date: soon"),
        (sample("1", "make_up_clock_in", r#"{"date":"2024-03-06"}"#), "2024-03-06 is yet to come."),
    ] {
        let output = reply(world.start_service(SHELL, &to, &extras, callback()));
        let response = &output.extras[1].1;
        assert!(response.contains(words) && response.contains("failure"), "{response}");
    }
    let right = sample("1", "clock_in_today", "{}");
    for (extras, callback) in [
        (Vec::new(), callback()),
        (vec![("request".to_owned(), "{".to_owned())], callback()),
        (right.clone(), None),
        (right, Some(CallbackKeys(vec!["callback".to_owned()]))),
    ] {
        assert_eq!(
            world.start_service(SHELL, &to, &extras, callback),
            StartServiceResult::Started(None)
        );
    }
}

#[test]
fn forbidden_service_start_gets_androids_error() {
    let mut world = with(14, "odd");
    let uid = world.packages().iter().find(|it| it.package == ODD).expect("it is there").uid;
    let mut start = |by, to: &ServiceName| world.start_foreground_service(by, to, &[], None);
    let named = |class| service(ODD, class);
    assert_eq!(start(SHELL, &named("NoService")), StartServiceResult::NotFound);
    assert_eq!(start(SHELL, &service("org.example.none", "Service")), StartServiceResult::NotFound);
    assert_eq!(start(SHELL, &named("DisabledService")), StartServiceResult::NotFound);
    let private = StartServiceResult::Refused(format!("not exported from uid {uid}"));
    assert_eq!(start(SHELL, &named("PrivateService")), private);
    let guarded = StartServiceResult::Refused("org.example.odd.USE".to_owned());
    assert_eq!(start(SHELL, &named("GuardedService")), guarded);
    for uid in [0, 1_000, uid] {
        let by = Caller { uid, pid: 1 };
        assert_eq!(start(by, &named("PrivateService")), StartServiceResult::Started(None));
    }
    let by = Caller { uid: uid + 1, pid: 1 };
    assert_eq!(start(by, &named("GuardedService")), guarded);
}

#[test]
fn background_app_may_not_start_services_since_android_8() {
    for (android, held) in [(4, false), (9, true), (14, true)] {
        let mut world = with(android, "attendance");
        let to = service(ATTENDANCE, "ToolService");
        let start = |world: &mut World| {
            let extras = sample("1", "clock_in_today", "{}");
            let delivered = world.start_service(SHELL, &to, &extras, callback());
            assert_ne!(delivered, StartServiceResult::Started(None));
            match delivered {
                StartServiceResult::Background(reason) => {
                    assert!(reason.starts_with("app is in background uid "), "{reason}");
                    true
                }
                _ => false,
            }
        };
        assert_eq!(start(&mut world), held, "not running, on {android}");
        world.force_stop(ATTENDANCE);
        world.start(ATTENDANCE, None).expect("it is there");
        assert!(!start(&mut world), "in front, on {android}");
        world.force_stop(ATTENDANCE);
        world.start(ATTENDANCE, None).expect("it is there");
        world.start("com.android.settings", None).expect("it is there");
        let left = world.uptime();
        world.advance(left + Duration::from_secs(61));
        assert_eq!(start(&mut world), held, "long in the background, on {android}");
        world.force_stop(ATTENDANCE);
        assert!(world.temp_allowlist(ATTENDANCE, Duration::from_secs(15)));
        assert!(!start(&mut world), "allowed for a while, on {android}");
        world.force_stop(ATTENDANCE);
        world.advance(left + Duration::from_secs(80));
        assert_eq!(start(&mut world), held, "and no longer, on {android}");
    }
}

#[test]
fn recently_left_app_is_not_in_the_background() {
    let mut world = with(14, "attendance");
    world.start(ATTENDANCE, None).expect("it is there");
    world.start("com.android.settings", None).expect("it is there");
    let to = service(ATTENDANCE, "ToolService");
    let extras = sample("1", "clock_in_today", "{}");
    reply(world.start_service(SHELL, &to, &extras, callback()));
}

#[test]
fn system_forwards_replies_since_android_7() {
    for (android, system) in [(4, false), (9, true)] {
        let mut world = with(android, "attendance");
        world.start(ATTENDANCE, None).expect("it is there");
        let uid = world.packages().iter().find(|it| it.package == ATTENDANCE).expect("there").uid;
        let to = service(ATTENDANCE, "ToolService");
        let output = reply(world.start_service(
            SHELL,
            &to,
            &sample("1", "clock_in_today", "{}"),
            callback(),
        ));
        assert_eq!(output.uid, if system { 1_000 } else { uid });
        assert_eq!(world.pid_of(ATTENDANCE), Some(output.pid));
    }
}

#[test]
fn reply_is_lost_when_its_process_dies() {
    let mut world = with(14, "odd");
    let late = reply(odd(&mut world, "late", r#"{"seconds":3}"#));
    assert!(late.after >= Duration::from_secs(3) && world.runs(late.pid));
    world.force_stop(ODD);
    assert!(!world.runs(late.pid));
    let late = reply(odd(&mut world, "late", r#"{"seconds":3}"#));
    assert!(world.crash(ODD, "java.lang.IllegalStateException: no") && !world.runs(late.pid));
    let late = reply(odd(&mut world, "late", r#"{"seconds":3}"#));
    assert!(world.uninstall(ODD).is_some() && !world.runs(late.pid));
}

#[test]
fn odd_tool_misbehaves_in_every_way() {
    let mut world = with(14, "odd");
    let text = |reply: &CallbackReply| reply.extras[0].1.clone();
    assert!(text(&reply(odd(&mut world, "answer", "{}"))).contains(r#""id":"r1""#));
    assert!(text(&reply(odd(&mut world, "fail", "{}"))).contains("failure"));
    assert!(!text(&reply(odd(&mut world, "other_id", "{}"))).contains("r1"));
    assert!(text(&reply(odd(&mut world, "other_capability", "{}"))).contains(r#""id":"answer""#));
    let broken = text(&reply(odd(&mut world, "broken", "{}")));
    assert!(serde_json::from_str::<serde_json::Value>(&broken).is_err());
    let twice = reply(odd(&mut world, "twice", "{}"));
    let second = twice.then.expect("there are two");
    assert!(second.after > twice.after && second.then.is_none());
    assert_eq!(odd(&mut world, "silent", "{}"), StartServiceResult::Started(None));
    assert!(world.pid_of(ODD).is_some());
    assert_eq!(odd(&mut world, "die", "{}"), StartServiceResult::Started(None));
    assert_eq!(world.pid_of(ODD), None);
}

#[test]
fn app_without_start_foreground_is_killed() {
    for (android, seconds) in [(9, 10), (14, 30)] {
        let mut world = with(android, "odd");
        reply(odd(&mut world, "answer", "{}"));
        let start = world.uptime();
        world.advance(start + Duration::from_secs(seconds - 1));
        assert!(world.pid_of(ODD).is_some());
        world.advance(start + Duration::from_secs(seconds));
        assert_eq!(world.pid_of(ODD), None);
    }
    let mut world = with(14, "attendance");
    let to = service(ATTENDANCE, "ToolService");
    world.start_foreground_service(SHELL, &to, &[], None);
    world.advance(Duration::from_secs(100));
    assert!(world.pid_of(ATTENDANCE).is_some());
}

/// Calls one of the phone's app tools and returns the response.
fn ask(world: &mut World, package: &str, capability: &str, args: &str) -> serde_json::Value {
    let extras = request("r1", capability, args);
    let to = service(package, "ToolService");
    let output = reply(world.start_foreground_service(SHELL, &to, &extras, callback()));
    let text =
        output.extras.iter().find(|(key, _)| key == "mobile-mcp-response").expect("an answer");
    let whole: serde_json::Value = serde_json::from_str(&text.1).expect("JSON");
    let response = whole["mobile-mcp-response"]["response"].clone();
    assert_eq!(response["id"], "r1");
    response
}

/// The output of a response with this name.
fn given(response: &serde_json::Value, name: &str) -> serde_json::Value {
    assert_eq!(response["status"], "success", "{response}");
    let output = response["capability"]["output"].as_array().expect("a list");
    let one = output.iter().find(|one| one["name"] == name).expect(name);
    one["value"].clone()
}

#[test]
fn note_added_by_the_tool_shows_on_the_open_screen() {
    let mut world = app(NOTES);
    assert!(!shows(&mut world, "Buy flour"));
    let added = ask(&mut world, NOTES, "add_note", r#"{"title":"Buy flour","text":"two\nbags"}"#);
    assert!(shows(&mut world, "Buy flour"));
    let found = ask(&mut world, NOTES, "find_notes", r#"{"words":"FLOUR bags"}"#);
    assert_eq!(given(&found, "count"), 1);
    let line = format!("{}: Buy flour | two", given(&added, "number"));
    assert_eq!(given(&found, "notes"), line);
    let empty = ask(&mut world, NOTES, "add_note", r#"{"title":" ","text":""}"#);
    assert_eq!((&empty["status"], &empty["message"]).0, "failure");
    let all = ask(&mut world, NOTES, "find_notes", r#"{"words":""}"#);
    assert_eq!(given(&all, "count"), 7);
}

#[test]
fn items_added_by_the_tool_show_in_the_cart() {
    let mut world = app(SHOP);
    let found = ask(&mut world, SHOP, "search_products", r#"{"words":"vintage kettle"}"#);
    let products = given(&found, "products");
    let name = products.as_str().and_then(|line| line.split(',').next()).expect("a line");
    assert_eq!((given(&found, "count"), name), (1.into(), "Vintage Kettle"));
    let args = r#"{"product":"vintage kettle","count":3}"#;
    let added = ask(&mut world, SHOP, "add_to_cart", args);
    assert_eq!(given(&added, "in_cart"), 3);
    tap(&mut world, "cart_button");
    assert!(shows(&mut world, "Vintage Kettle"));
    let added = ask(&mut world, SHOP, "add_to_cart", r#"{"product":"Vintage Kettle"}"#);
    assert_eq!(given(&added, "in_cart"), 4);
    let cart = ask(&mut world, SHOP, "cart", "{}");
    assert_eq!(given(&cart, "items"), 4);
    assert!(given(&cart, "total").as_f64().is_some_and(|total| total > 10.0), "{cart}");
    for args in [
        r#"{"product":"Flying Carpet"}"#,
        r#"{"product":"Vintage Kettle","count":0}"#,
        r#"{"product":"Vintage Kettle","count":96}"#,
    ] {
        let refused = ask(&mut world, SHOP, "add_to_cart", args);
        assert_eq!(refused["status"], "failure", "{refused}");
    }
    let missing = ask(&mut world, SHOP, "add_to_cart", "{}");
    assert!(
        missing["message"].as_str().is_some_and(|it| it.contains("Missing args.")),
        "{missing}"
    );
}

#[test]
fn built_in_tool_replies_in_the_format_of_the_request() {
    let mut world = app(NOTES);
    let extras = sample("9", "find_notes", r#"{"words":"tomatoes"}"#);
    let to = service(NOTES, "ToolService");
    let output = reply(world.start_service(SHELL, &to, &extras, callback()));
    let (_, text) = output.extras.iter().find(|(key, _)| key == "response").expect("an answer");
    let whole: serde_json::Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(whole["capability"]["output"]["count"], 1, "{whole}");
}
