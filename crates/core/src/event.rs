//! One stream of events for calls, phones, the agent and flows.
//!
//! Start with [`Event`]. Consumers implement [`EventSink`]: the terminal's lines, JSON lines, the
//! log, the trace recorder and MCP progress. [`EventSinks`] sends each event to several of them.
//! [`ObservedPerform`], a decorator, reports calls; the [`session`](crate::session) reports phones.
//! The layers above, the agent and flows, report their own types as an [`EventPayload`]: consumers
//! that know the type get it back with [`Event::payload`], all others get JSON.
//!
//! To add a consumer, implement [`EventSink`] and add it where the command line sets up the sinks.
//! To add an event, add a variant here, or to the payload of the layer that reports it.

mod observed_perform;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::Value;
use thumbwire_base::lock;
use thumbwire_device::Backends;
use tokio::time::Instant;

use crate::action::{Action, ClientName, Failure, Outcome};
pub use observed_perform::ObservedPerform;

/// An event.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A call starts.
    CallStarted(ObservedCall<'a>),
    /// A call ended. Reported before the caller gets the result.
    CallFinished {
        /// The call.
        call: ObservedCall<'a>,
        /// The elapsed time.
        took: Duration,
        /// Its result.
        result: CallResult<'a>,
        /// Whether the helper or shell commands did the phone's operations; empty for an abandoned
        /// call.
        backends: &'a Backends,
    },
    /// A phone is ready: it was plugged in, or connected by its address.
    DeviceConnected {
        /// Its id.
        device: &'a str,
        /// Its model; empty if unknown without asking the phone.
        model: &'a str,
    },
    /// A phone is gone or no longer ready.
    DeviceLost {
        /// Its id.
        device: &'a str,
        /// The reason.
        reason: &'a str,
    },
    /// An event of a layer above: a step of the agent or of a flow.
    Task(&'a dyn EventPayload),
}

impl<'a> Event<'a> {
    /// The payload, if it has this type.
    pub fn payload<T: EventPayload>(&self) -> Option<&'a T> {
        match self {
            Self::Task(payload) => {
                let payload: &dyn Any = *payload;
                payload.downcast_ref()
            }
            _ => None,
        }
    }
}

/// A call and what it asks for.
#[derive(Debug, Clone, Copy)]
pub struct ObservedCall<'a> {
    /// Its number among the calls of one [`ObservedPerform`], counted from 1, to tell concurrent
    /// calls apart.
    pub number: u64,
    /// The phone it names; `None` for the session's selected one.
    pub device: Option<&'a str>,
    /// What its client calls itself; empty if it says nothing.
    pub client: &'a ClientName,
    /// The requested action.
    pub action: &'a Action,
    /// When it started.
    pub started: Instant,
}

/// The result of a call.
#[derive(Debug, Clone, Copy)]
pub enum CallResult<'a> {
    /// It succeeded.
    Done(&'a Outcome),
    /// It failed.
    Failed(&'a Failure),
    /// The caller dropped the call before it ended; the action may have happened.
    Abandoned,
}

/// An event of a layer above: owned, plain data.
pub trait EventPayload: Any + Debug + Send + Sync {
    /// The layer: `agent` or `flow`.
    fn source(&self) -> &'static str;

    /// The event as a JSON object, for consumers that do not know its type; `event` names it. Built
    /// on demand.
    fn to_json(&self) -> Value;
}

/// Receives events, in order from each source. Must not block.
pub trait EventSink: Send + Sync {
    /// Receives an event.
    fn on_event(&self, event: &Event<'_>);
}

impl<S: EventSink + ?Sized> EventSink for Arc<S> {
    fn on_event(&self, event: &Event<'_>) {
        (**self).on_event(event);
    }
}

/// Ignores all events.
#[derive(Debug, Clone, Copy)]
pub struct NoEvents;

impl EventSink for NoEvents {
    fn on_event(&self, _event: &Event<'_>) {}
}

/// Sends each event to several sinks, in the order in which they were added. Clones share the
/// sinks.
#[derive(Clone, Default)]
pub struct EventSinks(Arc<Mutex<Vec<Arc<dyn EventSink>>>>);

impl EventSinks {
    /// Adds a sink.
    pub fn with(self, sink: impl EventSink + 'static) -> Self {
        self.add(Arc::new(sink));
        self
    }

    /// Adds a sink, which gets all events from now on.
    pub fn add(&self, sink: Arc<dyn EventSink>) {
        self.lock().push(sink);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<dyn EventSink>>> {
        lock(&self.0)
    }
}

impl EventSink for EventSinks {
    fn on_event(&self, event: &Event<'_>) {
        // A sink may add another one.
        let sinks = self.lock().clone();
        sinks.iter().for_each(|sink| sink.on_event(event));
    }
}
