//! Addresses that apps open.

use async_trait::async_trait;

use crate::{AppId, Error};

/// Opens addresses.
#[async_trait]
pub trait Links: Send + Sync {
    /// The app that the phone would open an address with, without opening it; `None` if the phone
    /// does not say. That can be a system app that asks the user which app to use.
    ///
    /// # Errors
    /// As [`Links::open_link`].
    async fn app_for_link(&self, address: &str) -> Result<Option<AppId>, Error> {
        let _ = address;
        Ok(None)
    }

    /// Opens an address (`https://…`, `geo:…`, an app's own scheme) and returns the app that the
    /// phone opened it with, if the phone says so. That can be a system app that asks the user
    /// which app to use.
    ///
    /// # Errors
    /// [`Error::Refused`] if the address is not one that a link could have, or no app opens it.
    async fn open_link(&self, address: &str) -> Result<Option<AppId>, Error>;
}
