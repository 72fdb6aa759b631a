//! Tools of apps as MCP tools: named, described, bounded, and always up to date with the phones.
//!
//! Start with [`offers()`], which turns the tools of the phones' apps into [`Offer`]s. It is pure,
//! and the only place that decides what a model sees of a capability. [`AppToolSource`] keeps them
//! up to date and passes them to a server as [`DynamicTools`]; the agent uses [`offers()`]
//! directly. Only tools that may be called become MCP tools; `mobile_list_app_tools` lists the
//! rest. Trust and arguments are checked below, by [`crate::action::Action::CallAppTool`].
//!
//! Everything that an app says about itself is untrusted. It is sanitized and truncated
//! (`sanitize`), follows a sentence that names its source, and becomes part of a name only with
//! characters that names allow (`names`, `schema`).

mod dynamic;
mod names;
mod offers;
mod reply;
mod sanitize;
mod schema;

use std::sync::Arc;

use async_trait::async_trait;

use super::Tool;
pub use dynamic::{AppToolSource, DeviceFilter};
pub use names::PREFIX;
pub use offers::{Offer, Offers, offers};
pub use reply::answered;
pub use sanitize::sanitize;

/// Tools of a toolset that change at run time.
#[async_trait]
pub trait DynamicTools: Send + Sync {
    /// The present tools. Takes a few seconds at most, whatever the phones do.
    async fn tools(&self) -> Vec<Arc<Tool>>;

    /// The tool with this name.
    async fn tool(&self, name: &str) -> Option<Arc<Tool>>;

    /// The version of the last list; 0 before the first one.
    fn version(&self) -> u64;

    /// Waits until the list changes from version `seen`, and updates `seen`. Polls the phones while
    /// someone waits. The first list does not count as a change.
    async fn changed(&self, seen: &mut u64);
}

/// Whether a tool with this name belongs to an app.
pub fn is_app_tool(name: &str) -> bool {
    name.starts_with(PREFIX)
}
