//! Service calls through the helper: answers in any order, misbehaving services, and interruptions.

use crate::common::Wired;
use crate::common::helper::{RunningHelper, Talk};
use serde_json::{Value, json};
use std::time::Duration;
use thumbwire_virtual_android::{ClockMode, Setup};
use tokio::time::{Instant, timeout};

const NAME: &str = "thumbwire-0123456789abcdef";
const ODD: &str = "org.example.odd";
const ODD_SERVICE: &str = "org.example.odd/org.example.odd.OddService";
const ATTENDANCE: &str = "org.example.attendance";

/// A phone with the tool apps of `fixtures/apk`, in virtual or tokio's time.
async fn with_tools(release: &str, clock: ClockMode) -> Wired {
    let wired = Wired::made(Setup { clock, ..Setup::of_release(release).expect("a release") });
    for name in ["odd", "attendance"] {
        let path = format!("{}/../../fixtures/apk/{name}.apk", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(&path).expect(&path);
        let there = "/data/local/tmp/x.apk";
        wired.phone.files(|files| files.write(there, &bytes, 0o644)).expect("written");
        assert_eq!(wired.stdout(&format!("pm install {there}")).await, "Success\n");
    }
    wired.phone.world(|world| assert!(world.temp_allowlist(ODD, Duration::MAX)));
    wired
}

/// A request to Odd with that capability.
fn odd(capability: &str, args: Value, limit_ms: u64) -> Value {
    let capability = json!({ "id": capability, "args": args });
    let request = json!({ "version": "1.0", "request": { "id": "r-1", "capability": capability } });
    service_call(
        ODD_SERVICE,
        &[("mobile-mcp-request", json!({ "mobile-mcp-request": request }).to_string())],
        limit_ms,
    )
}

fn service_call(component: &str, extras: &[(&str, String)], limit_ms: u64) -> Value {
    json!({
        "op": "call_service", "component": component, "extras": extras, "callbacks": ["mcp_callback", "callback"],
        "result_extras": ["mobile-mcp-response", "response"], "limit_ms": limit_ms,
    })
}

/// The status in Odd's answer.
fn status(answer: &Value) -> String {
    let [[key, value]] = serde_json::from_value::<[[String; 2]; 1]>(answer["extras"].clone())
        .unwrap_or_else(|_| panic!("{answer}"));
    assert_eq!(key, "mobile-mcp-response");
    let response: Value = serde_json::from_str(&value).expect("JSON");
    let status = &response["mobile-mcp-response"]["response"]["status"];
    status.as_str().unwrap_or_default().to_owned()
}

#[tokio::test(start_paused = true)]
async fn service_call_changes_the_app_and_returns_its_reply() {
    let wired = with_tools("14", ClockMode::Virtual).await;
    let _helper = RunningHelper::started(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    wired.phone.world(|world| world.start(ATTENDANCE, None)).expect("Attendance");
    let capability = json!({ "id": "clock_in_today", "input": {} });
    let request = json!({ "id": "a b", "capability": capability }).to_string();
    let component = "org.example.attendance/.ToolService";
    let before = wired.phone.world(|world| world.uptime());
    let answer = talk.ask(service_call(component, &[("request", request)], 5_000)).await;
    assert_eq!((&answer["ok"], &answer["code"]), (&json!(true), &json!(0)), "{answer}");
    // Since Android 7 the system calls back.
    assert_eq!(answer["uid"], 1_000);
    // `mcp_request_id` was not requested.
    assert_eq!(answer["extras"][0][0], "response");
    assert_eq!(answer["extras"].as_array().map(Vec::len), Some(1));
    let response: Value =
        serde_json::from_str(answer["extras"][0][1].as_str().expect("text")).expect("JSON");
    assert_eq!((&response["id"], &response["status"]), (&json!("a b"), &json!("success")));
    let took = wired.phone.world(|world| world.uptime()) - before;
    assert!((1..40).contains(&took.as_millis()), "{took:?}");
    wired.phone.world(|world| {
        let kept = world.preferences(ATTENDANCE);
        assert!(kept.iter().any(|(key, _)| key.starts_with("day/2024-03-05")), "{kept:?}");
    });
}

#[tokio::test(start_paused = true)]
async fn refused_service_calls_get_the_phones_message() {
    let wired = with_tools("14", ClockMode::Virtual).await;
    let _helper = RunningHelper::started(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    for (class, error, message) in [
        (".Missing", "not_found", "no service org.example.odd/org.example.odd.Missing"),
        (
            ".DisabledService",
            "not_found",
            "no service org.example.odd/org.example.odd.DisabledService",
        ),
        (".PrivateService", "refused", "not exported from uid 1"),
        (".GuardedService", "refused", "org.example.odd.USE"),
    ] {
        let answer = talk.ask(service_call(&format!("{ODD}/{class}"), &[], 1_000)).await;
        assert_eq!(answer["error"], error, "{answer}");
        assert!(answer["message"].as_str().expect("words").contains(message), "{answer}");
    }
    let answer = talk.ask(service_call("org.example.attendance/.ToolService", &[], 1_000)).await;
    assert_eq!(answer["error"], "background", "{answer}");
    assert!(
        answer["message"].as_str().expect("words").starts_with("app is in background"),
        "{answer}"
    );
    // UTF-16 units, keys included: this has 200,001.
    let large = [("k", "😀".repeat(100_000))];
    let answer = talk.ask(service_call(ODD_SERVICE, &large, 1_000)).await;
    assert_eq!(answer["error"], "too_large", "{answer}");
    let fits = [("kk", "😀".repeat(99_999))];
    assert_eq!(talk.ask(service_call(ODD_SERVICE, &fits, 1_000)).await["error"], "timeout");
}

#[tokio::test(start_paused = true)]
async fn silent_dead_or_late_service_times_out() {
    let wired = with_tools("14", ClockMode::Virtual).await;
    let _helper = RunningHelper::started(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    for (request, least) in [
        (odd("nothing", json!({}), 3_000), 3_000),
        (odd("die", json!({}), 3_000), 3_000),
        (odd("late", json!({"seconds": 4}), 3_000), 3_000),
        (service_call(ODD_SERVICE, &[("mobile-mcp-request", "no JSON".into())], 700), 700),
    ] {
        let before = wired.phone.world(|world| world.uptime());
        let answer = talk.ask(request).await;
        assert_eq!(answer["error"], "timeout", "{answer}");
        let took = wired.phone.world(|world| world.uptime()) - before;
        assert_eq!(took.as_millis(), least);
    }
    // Without a callback there is no reply.
    let mut request = odd("answer", json!({}), 500);
    request["callbacks"] = json!([]);
    assert_eq!(talk.ask(request).await["error"], "timeout");
    assert_eq!(status(&talk.ask(odd("late", json!({"seconds": 4}), 5_000)).await), "success");
    assert_eq!(status(&talk.ask(odd("fail", json!({}), 5_000)).await), "failure");
}

#[tokio::test(start_paused = true)]
async fn only_the_first_callback_is_the_reply() {
    let wired = with_tools("14", ClockMode::Real).await;
    let _helper = RunningHelper::started(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    assert_eq!(status(&talk.ask(odd("twice", json!({}), 5_000)).await), "success");
    let more = timeout(Duration::from_secs(5), talk.answer()).await;
    assert!(more.is_err(), "{more:?}");
    assert_eq!(status(&talk.ask(odd("answer", json!({}), 5_000)).await), "success");
}

#[tokio::test(start_paused = true)]
async fn replies_arrive_out_of_order_and_requests_can_be_cancelled() {
    let wired = with_tools("14", ClockMode::Real).await;
    let _helper = RunningHelper::started(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    let began = Instant::now();
    let late = talk.send(odd("late", json!({"seconds": 2}), 60_000)).await;
    let never = talk.send(odd("nothing", json!({}), 60_000)).await;
    let quick = talk.send(odd("answer", json!({}), 60_000)).await;
    assert_eq!(talk.answer().await.expect("quick")["id"], quick);
    assert!(began.elapsed() < Duration::from_millis(200), "{:?}", began.elapsed());
    assert_eq!(talk.answer().await.expect("late")["id"], late);
    let cancel = talk.send(json!({"op": "cancel", "of": never})).await;
    let mut answers = [talk.answer().await.expect("one"), talk.answer().await.expect("two")];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!((&answers[0]["id"], &answers[0]["error"]), (&json!(never), &json!("cancelled")));
    assert_eq!(answers[1], json!({"id": cancel, "ok": true, "cancelled": true}));
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn concurrent_and_repeated_requests_keep_their_ids() {
    let wired = with_tools("14", ClockMode::Real).await;
    let _helper = RunningHelper::started(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    let began = Instant::now();
    let mut asked = Vec::new();
    for _ in 0..8 {
        asked.push(talk.send(odd("answer", json!({}), 5_000)).await);
    }
    let mut result = Vec::new();
    for _ in 0..8 {
        result.push(talk.answer().await.expect("an answer")["id"].as_u64().expect("a number"));
    }
    assert!(began.elapsed() < Duration::from_millis(150), "{:?}", began.elapsed());
    result.sort_unstable();
    assert_eq!(result, asked);
    for nth in 0..1_000 {
        // `ask` compares the id.
        assert_eq!(status(&talk.ask(odd("answer", json!({}), 5_000)).await), "success", "{nth}");
    }
}

#[tokio::test(start_paused = true)]
async fn restarted_app_has_lost_its_callback() {
    let wired = with_tools("14", ClockMode::Real).await;
    let _helper = RunningHelper::started(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    let began = Instant::now();
    let late = talk.send(odd("late", json!({"seconds": 2}), 10_000)).await;
    assert_eq!(status_of(&wired, &mut talk).await, "success");
    wired.stdout(&format!("am force-stop {ODD}")).await;
    assert_eq!(status_of(&wired, &mut talk).await, "success");
    let answer = talk.answer().await.expect("an answer");
    assert_eq!((&answer["id"], &answer["error"]), (&json!(late), &json!("timeout")));
    assert_eq!(began.elapsed().as_secs(), 10);
}

/// The answer to a quick request.
async fn status_of(wired: &Wired, talk: &mut Talk) -> String {
    wired.phone.world(|world| world.temp_allowlist(ODD, Duration::from_secs(600)));
    status(&talk.ask(odd("answer", json!({}), 5_000)).await)
}

#[tokio::test(start_paused = true)]
async fn killed_helper_can_be_restarted() {
    let wired = with_tools("14", ClockMode::Real).await;
    let held = RunningHelper::started(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    talk.send(odd("late", json!({"seconds": 30}), 60_000)).await;
    wired.stdout("sleep 1").await;
    wired.stdout("kill -9 $(pidof app_process)").await;
    assert_eq!(talk.answer().await, None);
    assert_eq!(held.end().await.1, Some(137));
    let _helper = RunningHelper::started(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    assert_eq!(status_of(&wired, &mut talk).await, "success");
}

#[tokio::test(start_paused = true)]
async fn unplugging_during_a_service_call_hangs_nothing() {
    let wired = with_tools("14", ClockMode::Real).await;
    let held = RunningHelper::started(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    talk.send(odd("late", json!({"seconds": 30}), 60_000)).await;
    wired.phone.unplug();
    assert_eq!(talk.answer().await, None);
    assert_eq!(held.end().await.1, None);
    wired.phone.plug();
    // Its shell is gone, and the helper with it.
    assert_eq!(wired.all("pidof app_process").await.0, 1);
    let held = RunningHelper::started(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    wired.phone.add_fault("adb-restart:times=1,on=call_service".parse().expect("a rule"));
    talk.send(odd("answer", json!({}), 5_000)).await;
    assert_eq!(talk.answer().await, None);
    assert_eq!(held.end().await.1, None);
    let strikes = wired.phone.injections();
    assert_eq!(strikes[0].what, "call_service org.example.odd.OddService");
    let _helper = RunningHelper::started(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    wired.phone.add_fault("slow:ms=3000,times=1,on=call_service".parse().expect("a rule"));
    let began = Instant::now();
    assert_eq!(status_of(&wired, &mut talk).await, "success");
    assert_eq!(began.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn crash_or_anr_during_a_service_call_is_reported() {
    let wired = with_tools("14", ClockMode::Virtual).await;
    let _helper = RunningHelper::started(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    let request = json!({ "id": "1", "capability": { "id": "clock_in_today", "input": {} } });
    let call = || {
        service_call(
            "org.example.attendance/.ToolService",
            &[("request", request.to_string())],
            4_000,
        )
    };
    for (rule, error) in [("app-crash", "background"), ("anr", "timeout")] {
        wired.phone.world(|world| world.start(ATTENDANCE, None)).expect("Attendance");
        wired.phone.add_fault(format!("{rule}:times=1,on=call_service").parse().expect("a rule"));
        let answer = talk.ask(call()).await;
        assert_eq!(answer["error"], error, "{rule}: {answer}");
        wired.stdout(&format!("am force-stop {ATTENDANCE}")).await;
    }
    wired.phone.world(|world| world.start(ATTENDANCE, None)).expect("Attendance");
    assert_eq!(talk.ask(call()).await["ok"], true);
}

#[tokio::test(start_paused = true)]
async fn old_phone_replies_as_measured() {
    let setup = Setup { clock: ClockMode::Real, ..Setup::of_release("4.4").expect("a release") };
    let wired = Wired::made(setup);
    let path = format!("{}/../../fixtures/apk/odd.apk", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).expect(&path);
    wired
        .phone
        .files(|files| files.write("/data/local/tmp/x.apk", &bytes, 0o644))
        .expect("written");
    wired.run("pm install /data/local/tmp/x.apk").await;
    let mut stream = crate::common::helper::in_a_terminal(&wired, NAME).await;
    let mut talk = Talk::known(&wired, NAME).await;
    let uid = wired.phone.world(|world| {
        let odd = world.packages().into_iter().find(|app| app.package == ODD);
        odd.map(|app| app.uid)
    });
    for least in [92, 37] {
        let began = Instant::now();
        let answer = talk.ask(odd("answer", json!({}), 5_000)).await;
        assert_eq!(
            (status(&answer).as_str(), answer["uid"].as_u64()),
            ("success", uid.map(u64::from))
        );
        let took = began.elapsed().as_millis();
        assert!((least..least + 12).contains(&took), "{took}");
    }
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"\x03").await.expect("written");
    assert_eq!(talk.answer().await, None);
}
