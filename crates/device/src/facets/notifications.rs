//! The notifications that a phone shows.

use async_trait::async_trait;

use crate::{AppId, Error};

/// Lists notifications.
#[async_trait]
pub trait Notifications: Send + Sync {
    /// The notifications that are posted now, in the phone's order, `max` at most. Their texts are
    /// other people's and apps' words, and may have any characters.
    async fn notifications(&self, max: usize) -> Result<Vec<Notification>, Error>;
}

/// A notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The app that posted it.
    pub app: AppId,
    /// The phone's key for it: `user|package|id|tag|uid`; empty before Android 5.
    pub key: String,
    /// The title; empty if it has none.
    pub title: String,
    /// The text, with all of it where the app gave more for the expanded form; empty if it has
    /// none.
    pub text: String,
    /// When it was posted or last updated, by the phone's own clock and time zone:
    /// `2024-09-01T12:13:14`. `None` if the phone does not say: before Android 7.
    pub time: Option<String>,
    /// Whether it stays until what it is about ends: a call, music, a download.
    pub ongoing: bool,
}
