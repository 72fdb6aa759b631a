//! What the system does beside the apps: opening addresses, notifications, the location.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{AppId, Error};

/// Opens addresses.
#[async_trait]
pub trait Links: Send + Sync {
    /// The app that the phone would open an address with, without opening it; `None` if the phone
    /// does not say. That can be a system app that asks the user which app to use.
    ///
    /// # Errors
    /// As [`Links::open_link`].
    async fn app_for_link(&self, address: &str) -> Result<Option<AppId>, Error>;

    /// Opens an address (`https://…`, `geo:…`, an app's own scheme) and returns the app that the
    /// phone opened it with, if the phone says so. That can be a system app that asks the user
    /// which app to use.
    ///
    /// # Errors
    /// [`Error::Refused`] if the address is not one that a link could have, or no app opens it.
    async fn open_link(&self, address: &str) -> Result<Option<AppId>, Error>;
}

/// Lists notifications.
#[async_trait]
pub trait Notifications: Send + Sync {
    /// The notifications that are posted now, in the phone's order, `max` at most. Their texts are
    /// other people's and apps' words, and may have any characters.
    async fn notifications(&self, max: usize) -> Result<Vec<Notification>, Error>;
}

/// Simulates where the phone is.
#[async_trait]
pub trait SimulatedLocation: Send + Sync {
    /// Makes apps believe that the phone is here, until it restarts or uses its own location again.
    async fn set_location(&self, at: Location) -> Result<(), Error>;
}

/// A notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// A place on Earth, in degrees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// From -90 (south) to 90 (north).
    pub latitude: f64,
    /// From -180 (west) to 180 (east).
    pub longitude: f64,
}

impl Location {
    /// A place; `None` if it is not on Earth.
    pub fn new(latitude: f64, longitude: f64) -> Option<Self> {
        let on_earth = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
        on_earth.then_some(Self { latitude, longitude })
    }
}
