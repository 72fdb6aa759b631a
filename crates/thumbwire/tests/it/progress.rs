//! Progress of calls that last long: each second the client is told what is going on.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_core::action::{Action, Call, Failure, Outcome, Perform};
use thumbwire_core::toolset::mobile;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::caller::Caller;
use crate::http_support::Served;
use crate::pipe_client::{PipeClient, standalone};

/// A call that waits 3.5 s for something that does not come. The text has a character without ink.
fn waiting() -> Value {
    let arguments = json!({ "text": "a\u{202e}b", "timeout": 3.5 });
    json!({ "name": "mobile_wait_for", "arguments": arguments, "_meta": { "progressToken": 7 } })
}

fn check(reports: &[Value]) {
    let values: Vec<_> = reports.iter().map(|it| it["params"]["progress"].as_f64()).collect();
    assert_eq!(values, [Some(0.001), Some(0.002), Some(0.003)]);
    for report in reports {
        assert_eq!(report["method"], "notifications/progress");
        assert_eq!(report["params"]["progressToken"], 7);
        assert_eq!(report["params"]["total"], Value::Null);
        let text = "waiting until \"a\\u{202e}b\" is visible";
        assert_eq!(report["params"]["message"], text);
    }
}

#[tokio::test(start_paused = true)]
async fn long_call_tells_each_second_what_it_does() {
    let caller = Caller::of(VirtualPhone::new(Setup::default()));
    let mut client = PipeClient::connected(mobile::toolset(), Arc::new(caller.session)).await;
    for params in [waiting(), standalone(waiting(), json!({}))] {
        let began = Instant::now();
        let id = client.request("tools/call", params).await;
        let mut reports = Vec::new();
        for second in 1..=3 {
            reports.push(client.read().await);
            assert_eq!(began.elapsed().as_secs(), second);
        }
        let (more, answer) = client.answer(id).await;
        assert_eq!((more, &answer["result"]["isError"]), (vec![], &json!(true)));
        check(&reports);
        // Nothing comes after the reply.
        assert!(timeout(Duration::from_secs(9), client.read()).await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn client_without_a_token_and_a_short_call_get_none() {
    let caller = Caller::of(VirtualPhone::new(Setup::default()));
    let mut client = PipeClient::connected(mobile::toolset(), Arc::new(caller.session)).await;
    let mut silent = waiting();
    silent.as_object_mut().unwrap().shift_remove("_meta");
    let short = json!({ "name": "mobile_wait_for", "arguments": { "text": "Nope", "timeout": 0.5 },
        "_meta": { "progressToken": 7 } });
    for params in [silent, short] {
        let id = client.request("tools/call", params).await;
        assert_eq!(client.answer(id).await.0, [] as [Value; 0]);
    }
}

/// A phone whose actions take 3.5 s.
struct Slow(Arc<Notify>);

#[async_trait]
impl Perform for Slow {
    async fn perform(&self, _call: &Call, _action: Action) -> Result<Outcome, Failure> {
        self.0.notify_one();
        let _ = timeout(Duration::from_millis(3500), std::future::pending::<()>()).await;
        Ok(Outcome::Done)
    }
}

#[tokio::test]
async fn reports_are_streamed_over_http_before_the_reply() {
    let begun = Arc::new(Notify::new());
    let view = mobile::toolset();
    let server = Served::of(view, Arc::new(Slow(Arc::clone(&begun)))).await;
    let (session, _) = server.initialize("2025-11-25").await;
    let press = json!({ "name": "mobile_press_key", "arguments": { "key": "back" }, "_meta": { "progressToken": 7 } });
    let message =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": press.clone() });
    for is_old in [true, false] {
        let stopping_the_clock = async {
            begun.notified().await;
            tokio::time::pause();
        };
        let asking = async {
            match is_old {
                true => server.post(Some(&session), &message).await,
                false => server.post_alone("tools/call", press.clone()).await,
            }
        };
        let (answer, ()) = tokio::join!(asking, stopping_the_clock);
        tokio::time::resume();
        let events = answer.events();
        let [reports @ .., last] = events.as_slice() else { panic!("no events") };
        assert_eq!(last["result"]["content"][0]["text"], "Pressed back");
        let messages: Vec<_> = reports.iter().map(|it| &it["params"]["message"]).collect();
        assert_eq!(messages, ["pressing back"; 3]);
    }
}
