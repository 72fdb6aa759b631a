//! What clients are notified of: changed tools, changed lists of resources, and changed screens.
//!
//! In the revisions before 2026-07-28 a client subscribes to single resources
//! (`resources/subscribe`), and [`Subscriptions`] keeps to which; in 2026-07-28 they come with
//! `subscriptions/listen`. [`Changes`] waits for what there is to say.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use rmcp::model::{
    ErrorCode, ErrorData, Notification, ResourceUpdatedNotification,
    ResourceUpdatedNotificationParam, ServerNotification,
};
use serde_json::json;
use thumbwire_base::lock;
use thumbwire_core::action::ClientId;
use thumbwire_core::toolset::app_tools::DynamicTools;
use thumbwire_core::toolset::resource_changes::{ResourceChange, ResourceChanges};
use thumbwire_core::toolset::resources::ResourceProvider;
use tokio::sync::watch;

/// The maximum number of resources that a client subscribes to.
const MAX_RESOURCES: usize = 16;

/// The longest URI in bytes that a client can subscribe to.
const MAX_URI: usize = 1024;

/// The URIs that each client of an older revision subscribed to.
#[derive(Default)]
pub(super) struct Subscriptions(Mutex<HashMap<ClientId, watch::Sender<BTreeSet<String>>>>);

impl Subscriptions {
    /// Subscribes a client to a resource.
    ///
    /// # Errors
    /// If the resource cannot change, or the client has too many.
    pub(super) fn subscribe(
        &self,
        client: &ClientId,
        uri: String,
        provider: &dyn ResourceProvider,
    ) -> Result<(), ErrorData> {
        if !can_subscribe(&uri, provider) {
            let data = Some(json!({ "uri": uri }));
            let text =
                "Resource not found, or it never changes: subscribe to the screen of a device";
            return Err(ErrorData::resource_not_found(text, data));
        }
        let wanted = self.sender(client);
        if !wanted.borrow().contains(&uri) && wanted.borrow().len() >= MAX_RESOURCES {
            let text = format!(
                "a client can subscribe to {MAX_RESOURCES} resources: unsubscribe from one"
            );
            return Err(ErrorData::new(ErrorCode::INVALID_REQUEST, text, None));
        }
        wanted.send_if_modified(|all| all.insert(uri));
        Ok(())
    }

    /// Ends a client's subscription.
    pub(super) fn unsubscribe(&self, client: &ClientId, uri: &str) {
        if let Some(wanted) = lock(&self.0).get(client) {
            wanted.send_if_modified(|all| all.remove(uri));
        }
    }

    /// What a client subscribes to, now and later.
    pub(super) fn of(&self, client: &ClientId) -> watch::Receiver<BTreeSet<String>> {
        self.sender(client).subscribe()
    }

    /// Ends all subscriptions of a client that has left.
    pub(super) fn client_left(&self, client: &ClientId) {
        lock(&self.0).remove(client);
    }

    fn sender(&self, client: &ClientId) -> watch::Sender<BTreeSet<String>> {
        // There are as many as sessions, which are limited by token: none gives way to another's.
        lock(&self.0).entry(client.clone()).or_default().clone()
    }
}

/// The resources among these that a client of revision 2026-07-28 may subscribe to.
pub(super) fn accepted<'a>(
    uris: &'a [String],
    provider: &'a dyn ResourceProvider,
) -> impl Iterator<Item = String> + use<'a> {
    let fits = uris.iter().filter(|uri| can_subscribe(uri, provider));
    fits.take(MAX_RESOURCES).cloned()
}

fn can_subscribe(uri: &str, provider: &dyn ResourceProvider) -> bool {
    uri.len() <= MAX_URI && provider.can_change(uri)
}

/// A set of URIs that stays as it is.
pub(super) fn fixed(uris: impl IntoIterator<Item = String>) -> watch::Receiver<BTreeSet<String>> {
    watch::channel(uris.into_iter().collect()).1
}

/// What a client is notified of.
pub(super) struct Changes {
    /// With the version that the client knows.
    pub(super) tools: Option<(Arc<dyn DynamicTools>, u64)>,
    pub(super) resources: Option<ResourceChanges>,
    /// Whether the client wants to know that the list of resources has changed.
    pub(super) resource_list: bool,
}

impl Changes {
    /// The next notification. Dropping the future loses none.
    pub(super) async fn next(&mut self) -> ServerNotification {
        loop {
            let tools = async {
                match &mut self.tools {
                    Some((dynamic, seen)) => dynamic.changed(seen).await,
                    None => std::future::pending().await,
                }
            };
            let resources = async {
                match &mut self.resources {
                    Some(changes) => changes.next().await,
                    None => std::future::pending().await,
                }
            };
            let change = tokio::select! {
                () = tools => return ServerNotification::ToolListChangedNotification(Default::default()),
                change = resources => change,
            };
            match change {
                ResourceChange::List if self.resource_list => {
                    return ServerNotification::ResourceListChangedNotification(Default::default());
                }
                ResourceChange::List => {}
                ResourceChange::Updated(uri) => {
                    let updated = ResourceUpdatedNotificationParam::new(uri);
                    let updated: ResourceUpdatedNotification = Notification::new(updated);
                    return ServerNotification::ResourceUpdatedNotification(updated);
                }
            }
        }
    }
}
