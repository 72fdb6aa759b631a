//! What happens at the nodes, for those who watch them: each event is published as JSON at
//! `thumbwire.events.NODE`.
//!
//! Events tell who does what on which phone, never texts or pictures. They are not kept: those
//! who do not listen miss them.

use async_nats::Subscriber;
use futures::{Stream, StreamExt as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thumbwire_core::action::{Action, ClientName};
use thumbwire_core::event::{Event, EventSink};
use tokio::sync::mpsc;

use crate::connection::{ConnectError, Connection};
use crate::registry::fleet_id;

/// Where nodes publish.
const SUBJECT: &str = "thumbwire.events";

/// How many events wait for NATS; more are dropped.
const MAX_WAITING: usize = 1000;

/// Something that happened at a node. Phones have their names in the fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum NodeEvent {
    /// A call of a door ended.
    Call {
        /// The phone.
        phone: String,
        /// The client, as it calls itself.
        client: ClientName,
        /// The name of the action.
        action: String,
        /// Whether it succeeded.
        done: bool,
        /// The duration in milliseconds.
        took_ms: u64,
    },
    /// A phone is ready.
    PhoneConnected {
        /// The phone.
        phone: String,
    },
    /// A phone is gone, or no longer ready.
    PhoneLost {
        /// The phone.
        phone: String,
        /// Why.
        reason: String,
    },
}

/// Listens to the events of all nodes, from now on. What cannot be read is left out.
///
/// # Errors
/// If NATS does not allow it.
pub async fn watch(
    connection: &Connection,
) -> Result<impl Stream<Item = NodeEvent> + use<>, ConnectError> {
    let subscribed: Result<Subscriber, _> =
        connection.client.subscribe(format!("{SUBJECT}.*")).await;
    let subscribed = subscribed.map_err(|error| ConnectError::NotConnected {
        url: connection.address(),
        reason: error.to_string(),
    })?;
    Ok(subscribed.filter_map(async |message| serde_json::from_slice(&message.payload).ok()))
}

/// Takes the events of a node, and publishes them. Clones share the way.
#[derive(Clone)]
pub(crate) struct NodeEvents {
    node: String,
    waiting: mpsc::Sender<NodeEvent>,
}

impl NodeEvents {
    /// Events of this node, and what publishes them until it is dropped.
    pub(crate) fn new(
        node: &str,
        connection: &Connection,
    ) -> (Self, impl Future<Output = ()> + use<>) {
        let (waiting, mut events) = mpsc::channel(MAX_WAITING);
        let (client, subject) = (connection.client.clone(), format!("{SUBJECT}.{node}"));
        let publish = async move {
            while let Some(event) = events.recv().await {
                let Ok(json) = serde_json::to_vec::<NodeEvent>(&event) else { continue };
                if let Err(error) = client.publish(subject.clone(), json.into()).await {
                    tracing::info!("cannot publish what happens: {error}");
                }
            }
        };
        (Self { node: node.to_owned(), waiting }, publish)
    }

    pub(crate) fn send(&self, event: NodeEvent) {
        // Nothing waits for those who watch.
        let _ = self.waiting.try_send(event);
    }
}

impl EventSink for NodeEvents {
    fn on_event(&self, event: &Event<'_>) {
        match event {
            Event::DeviceConnected { device, .. } => {
                self.send(NodeEvent::PhoneConnected { phone: fleet_id(&self.node, device) });
            }
            Event::DeviceLost { device, reason } => {
                let phone = fleet_id(&self.node, device);
                self.send(NodeEvent::PhoneLost { phone, reason: (*reason).to_owned() });
            }
            _ => {}
        }
    }
}

/// The name of an action in JSON, without its values.
pub(crate) fn name_of(action: &Action) -> String {
    match serde_json::to_value(action) {
        Ok(Value::String(name)) => name,
        Ok(Value::Object(values)) => values.keys().next().cloned().unwrap_or_default(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use thumbwire_device::Key;

    use super::*;

    #[test]
    fn actions_are_named_without_what_they_type() {
        assert_eq!(name_of(&Action::Press(Key::Home)), "press");
        assert_eq!(name_of(&Action::Unlock), "unlock");
    }
}
