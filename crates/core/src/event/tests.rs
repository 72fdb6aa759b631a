//! Calls as sinks see them, and several sinks.

use async_trait::async_trait;

use super::*;
use crate::action::{Call, Cause, ClientId, Perform};

/// Records events as text.
#[derive(Default)]
struct Keeps(Mutex<Vec<String>>);

impl Keeps {
    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl EventSink for Keeps {
    fn on_event(&self, event: &Event<'_>) {
        let text = match event {
            Event::CallStarted(call) => {
                format!("{} {} on {:?}", call.number, call.action, call.device)
            }
            Event::CallFinished { call, took, result, .. } => {
                let result = match result {
                    CallResult::Done(_) => "done",
                    CallResult::Failed(_) => "failed",
                    CallResult::Abandoned => "abandoned",
                };
                format!("{} {result} after {took:?}", call.number)
            }
            Event::Task(payload) => format!("{} {}", payload.source(), payload.to_json()),
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().push(text);
    }
}

/// Can wait, and hangs on one action; all others fail.
struct Waits;

#[async_trait]
impl Perform for Waits {
    async fn perform(&self, _: &Call, action: Action) -> Result<Outcome, Failure> {
        match action {
            Action::Wait(time) => {
                tokio::time::advance(time).await;
                Ok(Outcome::Done)
            }
            Action::CurrentApp => std::future::pending().await,
            _ => Err(Cause::Cancelled.into()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_reported_when_it_starts_and_when_it_ends() {
    let kept = Arc::new(Keeps::default());
    let observed = ObservedPerform::new(Waits, Arc::clone(&kept));
    let call = Call::with_timeout(Duration::from_secs(60)).on(Some("one".into()));
    observed.perform(&call, Action::Wait(Duration::from_secs(2))).await.unwrap();
    observed.perform(&call, Action::Health).await.unwrap_err();
    let out = kept.lines();
    assert_eq!(out.len(), 4, "{out:?}");
    assert!(out[0].starts_with("1 ") && out[0].ends_with("on Some(\"one\")"), "{out:?}");
    assert_eq!([&*out[1], &*out[3]], ["1 done after 2s", "2 failed after 0ns"]);
}

/// They repeat for as long as somebody watches: a trace would fill with them.
#[tokio::test(start_paused = true)]
async fn the_servers_own_looks_are_not_reported() {
    let kept = Arc::new(Keeps::default());
    let observed = ObservedPerform::new(Waits, Arc::clone(&kept));
    let call = Call::with_timeout(Duration::from_secs(60));
    let own = Call { client: ClientId::Server, ..call.clone() };
    observed.perform(&own, Action::Wait(Duration::from_secs(2))).await.unwrap();
    assert!(kept.lines().is_empty());
    observed.perform(&call, Action::Wait(Duration::from_secs(2))).await.unwrap();
    assert_eq!(kept.lines().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_reported_as_abandoned() {
    let kept = Arc::new(Keeps::default());
    let observed = ObservedPerform::new(Waits, Arc::clone(&kept));
    let call = Call::with_timeout(Duration::from_secs(60));
    let left =
        tokio::time::timeout(Duration::from_secs(3), observed.perform(&call, Action::CurrentApp));
    left.await.unwrap_err();
    assert_eq!(kept.lines()[1], "1 abandoned after 3s");
}

#[derive(Debug, PartialEq)]
struct Step(u32);

impl EventPayload for Step {
    fn source(&self) -> &'static str {
        "test"
    }

    fn to_json(&self) -> Value {
        serde_json::json!({ "event": "step", "number": self.0 })
    }
}

#[test]
fn a_payload_comes_back_as_its_type_and_as_json() {
    let kept = Arc::new(Keeps::default());
    let sinks = EventSinks::default().with(NoEvents);
    sinks.clone().add(Arc::clone(&kept) as Arc<dyn EventSink>);
    let event = Event::Task(&Step(7));
    sinks.on_event(&event);
    assert_eq!(kept.lines(), [r#"test {"event":"step","number":7}"#]);
    assert_eq!(event.payload::<Step>(), Some(&Step(7)));
    let lost = Event::DeviceLost { device: "one", reason: "unplugged" };
    assert_eq!(lost.payload::<Step>(), None);
}
