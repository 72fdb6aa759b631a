//! Reports calls as events: a decorator around any [`Perform`].
//!
//! It wraps the decorator that hides secrets, so that sinks see what the caller may see. That is
//! why the session does not report calls itself.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use thumbwire_device::{Backends, with_backends};
use tokio::time::Instant;

use super::{CallResult, Event, EventSink, ObservedCall};
use crate::action::{Action, Call, ClientId, Failure, Outcome, Perform};

/// A decorator: forwards each action to the inner [`Perform`], and reports when the call starts and
/// ends.
pub struct ObservedPerform<P> {
    inner: P,
    events: Box<dyn EventSink>,
    calls: AtomicU64,
}

impl<P> ObservedPerform<P> {
    /// Reports the calls of `inner` to `events`.
    pub fn new(inner: P, events: impl EventSink + 'static) -> Self {
        Self { inner, events: Box::new(events), calls: AtomicU64::new(0) }
    }
}

#[async_trait]
impl<P: Perform> Perform for ObservedPerform<P> {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        // The server's looks repeat for as long as somebody watches: no steps of a run.
        if call.client == ClientId::Server {
            return self.inner.perform(call, action).await;
        }
        let asked = action.clone();
        let observed = ObservedCall {
            number: self.calls.fetch_add(1, Ordering::Relaxed) + 1,
            device: call.device.as_deref(),
            client: &call.client_name,
            action: &asked,
            started: Instant::now(),
        };
        self.events.on_event(&Event::CallStarted(observed));
        let mut under_way = UnderWay { call: Some(observed), events: &*self.events };
        let (done, backends) = with_backends(self.inner.perform(call, action)).await;
        let result = match &done {
            Ok(outcome) => CallResult::Done(outcome),
            Err(failure) => CallResult::Failed(failure),
        };
        under_way.end(result, &backends);
        done
    }
}

/// A call in progress. If the caller drops it, it is reported as abandoned.
struct UnderWay<'a> {
    call: Option<ObservedCall<'a>>,
    events: &'a dyn EventSink,
}

impl UnderWay<'_> {
    fn end(&mut self, result: CallResult<'_>, backends: &Backends) {
        if let Some(call) = self.call.take() {
            let took = call.started.elapsed();
            self.events.on_event(&Event::CallFinished { call, took, result, backends });
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.end(CallResult::Abandoned, &Backends::new());
    }
}
