//! What apps offer, as tools of a surface: named, described, bounded, and always as it is on the phones by now.
//!
//! Begin with [`offers`], which makes [`Offer`]s of what the phones' apps offer: pure, and the one place that decides what a model is told of
//! a capability. [`AppTools`] keeps them up to date and hands them to a server as [`Guests`]; the agent takes them from [`offers`] directly.
//! Only what may be called becomes a tool; `mobile_list_app_tools` tells of the rest. Who may be called, and whether a call is right, is
//! decided below ([`crate::action::Action::CallAppTool`]).
//!
//! Everything that an app says of itself is a stranger's word. It is cleaned and cut (`words`), stands behind a sentence that says whose it is,
//! and never becomes part of a name unless a name may have it (`names`, `schema`).

mod live;
mod names;
mod offers;
mod reply;
mod schema;
mod words;

use std::sync::Arc;

use async_trait::async_trait;

use super::Tool;
pub use live::{AppTools, Which};
pub use names::PREFIX;
pub use offers::{Offer, Offers, offers};
pub use reply::answered;
pub use words::clean;

/// Tools of a surface that come and go.
#[async_trait]
pub trait Guests: Send + Sync {
    /// Those that there are now. It may take some seconds and not more, whatever the phones do.
    async fn tools(&self) -> Vec<Arc<Tool>>;

    /// The one of that name.
    async fn tool(&self, name: &str) -> Option<Arc<Tool>>;

    /// Which list was the last: a number that is another one for each list, and 0 where none is known yet.
    fn version(&self) -> u64;

    /// Waits until there is another list than the one that was `seen`, of which it becomes the number. While somebody waits, it is looked
    /// now and then whether there is. The first list of all is none that has changed.
    async fn changed(&self, seen: &mut u64);
}

/// Whether a tool of this name is an app's.
pub fn is_app_tool(name: &str) -> bool {
    name.starts_with(PREFIX)
}
