//! The conversation with WebDriverAgent: its session, what is repeated, and what goes wrong on the
//! way.

use thumbwire_device::webdriver::WebDriverPhone;
use thumbwire_device::{AppId, Device, Error, Gesture, Key, Point, SideEffect, TreeDetail};
use tokio::time::{Duration, Instant};

use crate::wda::{Fault, StandIn};

const TAP: Gesture = Gesture::Tap { at: Point { x: 300, y: 600 } };

#[tokio::test]
async fn session_is_created_once_and_gets_its_settings() {
    let (wda, ios) = StandIn::attach().await;
    assert_eq!(wda.state().sessions, 0, "attaching needs none");
    ios.probe().await.unwrap();
    ios.touch(TAP).await.unwrap();
    ios.tree(TreeDetail::Full).await.unwrap();
    assert_eq!(wda.state().sessions, 1);
    let settings = wda.state().settings.clone();
    assert_eq!(settings["snapshotMaxDepth"], 60);
    assert_eq!(
        (&settings["customSnapshotTimeout"], &settings["snapshotTimeout"]),
        (&20.into(), &20.into())
    );
    assert_eq!(settings["waitForIdleTimeout"], 2);
    ios.disconnect().await;
    assert_eq!(wda.state().session, None);
    ios.touch(TAP).await.unwrap();
    assert_eq!(wda.state().sessions, 2, "it connects again");
}

#[tokio::test]
async fn concurrent_calls_share_one_session() {
    let (wda, ios) = StandIn::attach().await;
    let (tree, front, tap) =
        tokio::join!(ios.tree(TreeDetail::Full), ios.foreground(), ios.touch(TAP));
    tree.unwrap();
    front.unwrap();
    tap.unwrap();
    assert_eq!(wda.state().sessions, 1);
}

#[tokio::test]
async fn lost_session_is_renewed_and_the_command_happens_once() {
    let (wda, ios) = StandIn::attach().await;
    ios.touch(TAP).await.unwrap();
    wda.fail("POST /actions", Fault::LoseSession);
    ios.touch(TAP).await.unwrap();
    assert_eq!(wda.sessions_and_touches(), (2, 2));
    wda.fail("GET /source", Fault::LoseSession);
    ios.tree(TreeDetail::Full).await.unwrap();
    assert_eq!(wda.sessions_and_touches(), (3, 2));
    assert_eq!(wda.count("GET /source"), 2);
}

/// The answer of a real server.
#[tokio::test]
async fn recorded_invalid_session_renews_the_session() {
    let Some(body) = thumbwire_test_support::capture("ios/errors/wda_invalid-session_404.json")
    else {
        return;
    };
    let (wda, ios) = StandIn::attach().await;
    ios.touch(TAP).await.unwrap();
    wda.fail("POST /actions", Fault::Answer(404, String::from_utf8(body).unwrap()));
    ios.touch(TAP).await.unwrap();
    assert_eq!(wda.sessions_and_touches(), (2, 2));
}

#[tokio::test]
async fn session_that_is_taken_each_time_ends_the_call() {
    let (wda, ios) = StandIn::attach().await;
    ios.touch(TAP).await.unwrap();
    for _ in 0..2 {
        wda.fail("POST /actions", Fault::LoseSession);
    }
    let error = ios.touch(TAP).await.unwrap_err();
    assert!(error.to_string().contains("another client takes"), "{error}");
    assert!(matches!(error, Error::NotReady { .. }), "{error:?}");
    assert_eq!(wda.state().touches.len(), 1);
}

#[tokio::test]
async fn act_whose_reply_was_lost_is_not_repeated() {
    for fault in [Fault::LoseReply, Fault::CutBody] {
        let (wda, ios) = StandIn::attach().await;
        ios.touch(TAP).await.unwrap();
        wda.fail("POST /actions", fault.clone());
        let error = ios.touch(TAP).await.unwrap_err();
        assert!(matches!(error, Error::NotConnected { .. }), "{fault:?}: {error}");
        assert_eq!(error.acted(), SideEffect::Possible, "{fault:?}");
        assert_eq!(wda.state().touches.len(), 2, "{fault:?}: it happened, once");
        ios.touch(TAP).await.unwrap();
    }
}

/// Each act of the driver, with the request that does it.
#[tokio::test]
async fn no_act_is_sent_twice() {
    for request in [
        "POST /actions",
        "POST /wda/keys",
        "POST /wda/pressButton",
        "POST /wda/apps/launch",
        "POST /wda/apps/activate",
        "POST /wda/apps/terminate",
        "POST /url",
        "POST /wda/setPasteboard",
        "POST /wda/lock",
        "POST /wda/performIoHidEvent",
        "POST /orientation",
        "/clear",
        "POST /wda/unlock",
    ] {
        let (wda, ios) = StandIn::attach().await;
        wda.state().field = Some(("Ada".into(), [10.0, 100.0, 300.0, 40.0]));
        wda.state().locked = request == "POST /wda/unlock";
        ios.touch(TAP).await.unwrap();
        wda.fail(request, Fault::LoseReply);
        let device: &dyn Device = &ios;
        let off = AppId("com.example.off".into());
        let error = match request {
            "POST /actions" => ios.touch(TAP).await,
            "POST /wda/keys" => ios.type_text("x").await.map(drop),
            "POST /wda/pressButton" => ios.press(Key::Home).await,
            "POST /wda/apps/launch" => ios.launch(&off, &[]).await.map(drop),
            "POST /wda/apps/activate" => {
                ios.launch(&AppId("com.apple.Preferences".into()), &[]).await.map(drop)
            }
            "POST /wda/apps/terminate" => ios.stop(&off).await,
            "POST /url" => device.links().unwrap().open_link("https://example.com").await.map(drop),
            "POST /wda/setPasteboard" => device.clipboard().unwrap().set_clipboard("x").await,
            "POST /wda/lock" => ios.press(Key::Power).await,
            "POST /wda/performIoHidEvent" => ios.press(Key::from_any_name("left").unwrap()).await,
            "POST /orientation" => {
                let control = device.orientation_control().unwrap();
                control.set_orientation(thumbwire_device::Orientation::Landscape, "me").await
            }
            "/clear" => device.text_editing().unwrap().replace_text("x").await.map(drop),
            _ => device.screen_lock().unwrap().unlock().await.map(drop),
        };
        let error = error.expect_err(request);
        assert_eq!(error.acted(), SideEffect::Possible, "{request}: {error}");
        assert!(matches!(error, Error::NotConnected { .. }), "{request}: {error}");
        assert_eq!(wda.count(request) - usize::from(request == "POST /actions"), 1, "{request}");
    }
}

#[tokio::test]
async fn question_whose_reply_was_lost_is_asked_once_more() {
    for fault in [Fault::LoseReply, Fault::Close, Fault::CutBody] {
        let (wda, ios) = StandIn::attach().await;
        ios.screenshot().await.unwrap();
        wda.fail("GET /screenshot", fault.clone());
        ios.screenshot().await.unwrap();
        assert_eq!(wda.count("GET /screenshot"), 3, "{fault:?}");
        for _ in 0..2 {
            wda.fail("GET /screenshot", fault.clone());
        }
        let error = ios.screenshot().await.unwrap_err();
        assert!(matches!(error, Error::NotConnected { acted: SideEffect::None, .. }), "{error}");
    }
}

#[tokio::test]
async fn server_that_is_not_there_is_named_with_the_next_step() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = WebDriverPhone::attach_wda("phone", &url).await.err().unwrap();
    let text = error.to_string();
    assert!(text.contains(&url) && text.contains("iproxy") && text.contains("refused"), "{text}");
    assert!(matches!(error, Error::NotConnected { acted: SideEffect::None, .. }), "{text}");
}

#[tokio::test]
async fn other_servers_are_not_taken_for_webdriveragent() {
    for (status, body) in [
        (200, "<html>hello</html>"),
        (404, "not found"),
        (200, "[]"),
        (200, ""),
        (404, r#"{"value":{"error":"unknown command","message":"no","traceback":""}}"#),
    ] {
        let wda = StandIn::start().await;
        wda.fail("GET /status", Fault::Answer(status, body.into()));
        let error = WebDriverPhone::attach_wda("phone", wda.url()).await.err().unwrap();
        assert!(matches!(error, Error::NotConnected { .. }), "{body}: {error}");
        assert!(error.to_string().contains("is not WebDriverAgent"), "{error}");
    }
}

#[tokio::test]
async fn recorded_statuses_are_accepted() {
    for name in ["wda-status_ios15_no-session.json", "wda-status_old_with-session.json"] {
        let Some(body) = thumbwire_test_support::capture(&format!("ios/status/{name}")) else {
            continue;
        };
        let wda = StandIn::start().await;
        wda.fail("GET /status", Fault::Answer(200, String::from_utf8(body).unwrap()));
        WebDriverPhone::attach_wda("phone", wda.url()).await.unwrap();
    }
}

#[tokio::test]
async fn recorded_session_is_used() {
    let Some(body) = thumbwire_test_support::capture("ios/status/wda-session_created_ios12.json")
    else {
        return;
    };
    let (wda, ios) = StandIn::attach().await;
    wda.state().session = Some("DE71FBC9-190F-4CDA-9881-B354CB4245BB".into());
    wda.fail("POST /session", Fault::Answer(200, String::from_utf8(body).unwrap()));
    ios.touch(TAP).await.unwrap();
    assert_eq!(wda.state().touches.len(), 1);
}

/// Time is paused once the request has arrived, and then jumps to the deadline.
#[tokio::test]
async fn request_that_hangs_ends_at_its_deadline() {
    let (wda, ios) = StandIn::attach().await;
    ios.touch(TAP).await.unwrap();
    let long = Gesture::LongPress { at: Point { x: 1, y: 1 }, held: Duration::from_secs(5) };
    for (gesture, seconds) in [(TAP, 20), (long, 25)] {
        wda.fail("POST /actions", Fault::Hang);
        let begun = Instant::now();
        let acting = ios.touch(gesture);
        let error = hang(&wda, acting).await.unwrap_err();
        let took = begun.elapsed().as_secs();
        assert!((seconds..=seconds + 1).contains(&took), "{took}");
        assert!(
            matches!(error, Error::NotConnected { acted: SideEffect::Possible, .. }),
            "{error}"
        );
        assert!(error.to_string().contains(&format!("within {seconds}s")), "{error}");
    }
    wda.fail("GET /source", Fault::Hang);
    let error = hang(&wda, ios.tree(TreeDetail::Full)).await.unwrap_err();
    assert!(matches!(error, Error::NotConnected { acted: SideEffect::None, .. }), "{error}");
    assert!(error.to_string().contains("within 30s"), "{error}");
    assert_eq!(wda.count("GET /source"), 1, "a question that hangs is not repeated");
    ios.tree(TreeDetail::Full).await.unwrap();
}

/// Runs a call whose request hangs, with the clock stopped from then on until it ends.
async fn hang<T>(wda: &StandIn, call: impl Future<Output = T>) -> T {
    let mut call = std::pin::pin!(call);
    tokio::select! {
        _ = &mut call => panic!("it did not hang"),
        () = wda.arrived() => {}
    }
    tokio::time::pause();
    let output = call.await;
    tokio::time::resume();
    output
}

#[tokio::test]
async fn slow_answer_is_waited_for() {
    let (wda, ios) = StandIn::attach().await;
    ios.touch(TAP).await.unwrap();
    wda.fail("POST /actions", Fault::Wait);
    let mut call = std::pin::pin!(ios.touch(TAP));
    tokio::select! {
        _ = &mut call => panic!("it did not wait"),
        () = wda.arrived() => {}
    }
    wda.go_on();
    call.await.unwrap();
    assert_eq!(wda.state().touches.len(), 2);
}

#[tokio::test]
async fn odd_answers_are_typed_errors() {
    let (wda, ios) = StandIn::attach().await;
    ios.touch(TAP).await.unwrap();
    let failure = |error: &str, message: &str| {
        format!(
            r#"{{"value":{{"error":"{error}","message":"{message}","traceback":""}},"sessionId":"S"}}"#
        )
    };
    let check = async |status: u16, body: String, is: fn(&Error) -> bool, acted: SideEffect| {
        wda.fail("POST /actions", Fault::Answer(status, body.clone()));
        let error = ios.touch(TAP).await.unwrap_err();
        assert!(is(&error) && error.acted() == acted, "{status} {body}: {error:?}");
    };
    let [none, possible] = [SideEffect::None, SideEffect::Possible];
    let is_failed = |error: &Error| matches!(error, Error::Failed { .. });
    let is_unreadable = |error: &Error| matches!(error, Error::Unreadable { .. });
    check(500, failure("unknown error", "it broke"), is_failed, possible).await;
    check(408, failure("timeout", "too long"), is_failed, possible).await;
    check(400, failure("invalid argument", "no"), |e| matches!(e, Error::Refused { .. }), none)
        .await;
    check(404, failure("unknown command", "no"), |e| matches!(e, Error::Unsupported { .. }), none)
        .await;
    let is_not_ready = |error: &Error| matches!(error, Error::NotReady { .. });
    check(500, failure("unexpected alert open", "Allow?"), is_not_ready, none).await;
    check(500, "Internal Server Error".into(), is_unreadable, possible).await;
    check(200, "\u{0}\u{1}garbage".into(), is_unreadable, possible).await;
    check(200, String::new(), is_unreadable, possible).await;
    assert_eq!(wda.state().touches.len(), 1);
    // A question that failed did nothing.
    wda.fail("GET /screenshot", Fault::Answer(500, failure("unknown error", "busy")));
    let error = ios.screenshot().await.unwrap_err();
    assert!(is_not_ready(&error), "{error:?}");
    // What a server says cannot fill a reply.
    wda.fail("POST /actions", Fault::Answer(500, failure("unknown error", &"x".repeat(100_000))));
    assert!(ios.touch(TAP).await.unwrap_err().to_string().len() < 500);
}

#[tokio::test]
async fn endless_answer_is_given_up() {
    let (wda, ios) = StandIn::attach().await;
    ios.screenshot().await.unwrap();
    wda.fail("GET /screenshot", Fault::Huge);
    let error = ios.screenshot().await.unwrap_err();
    assert!(error.to_string().contains("67108864 bytes"), "{error}");
}

#[tokio::test]
async fn dropped_call_leaves_the_driver_usable() {
    let (wda, ios) = StandIn::attach().await;
    wda.fail("POST /session", Fault::Hang);
    {
        let mut call = std::pin::pin!(ios.touch(TAP));
        tokio::select! {
            _ = &mut call => panic!("it did not hang"),
            () = wda.arrived() => {}
        }
    }
    ios.touch(TAP).await.unwrap();
    assert_eq!(wda.state().touches.len(), 1);
}
