//! Drives phones of any platform.
//!
//! [`Device`] is the handle that everything above uses: what every phone can do (look, touch, type,
//! keys, apps). What only some phones can do is a *facet*, an object-safe trait such as [`Logs`] or
//! [`DeviceFiles`]. [`Device::facets`] lists the facets of a device; `device.logs()?` returns
//! one, or the error that says the phone does not support it.
//!
//! Start with the trait, then see [`Facets`], then [`android`] for a driver. [`find`] turns a
//! platform's node tree into elements, [`saved_tree`] reads trees from files, [`image`] converts
//! images, and [`ScaledDevice`] is a decorator that serves smaller screenshots.
//!
//! # Adding a driver
//!
//! 1. Add `NAME.rs` (its parts in `NAME/`) beside `android.rs` with a type that implements
//!    [`Device`], and a `pub mod` line here. The smallest driver returns `Facets::default()`.
//! 2. If the platform is new, add it to [`Platform`] in `values.rs`, and its classes of text fields
//!    to [`text_field`].
//! 3. For each facet that its phones support, implement the facet's trait beside its commands and
//!    set its field in [`Device::facets`].
//!
//! Nothing else changes in this crate. Listing phones and opening them belongs to a device provider
//! in `thumbwire-core`.
//!
//! # Adding a facet
//!
//! 1. Add the trait, and the values that only it uses, to the file of its subject in `facets/`.
//! 2. In `facets.rs`, add the names to the `pub use` and a row to the table, which makes the field
//!    of [`Facets`] and the accessors on `dyn Device`. A method that belongs to an existing facet
//!    needs no row, or only a feature in that facet's row.
//! 3. Implement it in the drivers that support it, as above. Decorators do not change: they start
//!    from the inner device's facets.
//!
//! # Writing a decorator
//!
//! Implement [`Device`] around an `Arc` of another device. Return `self.inner.facets()` with the
//! changed facets replaced, as [`ScaledDevice`] does.
//!
//! Coordinates are screenshot pixels everywhere; drivers convert. Waiting, retries, caching and
//! finding elements belong to the layers above. This crate knows no toolset, no MCP, and no JSON
//! except the helper's wire format.

pub mod android;
mod app_name;
mod backends;
mod error;
mod facets;
pub mod find;
#[cfg(fuzzing)]
pub mod fuzzing;
mod ios;
#[cfg(feature = "ios")]
pub mod iphone;
mod keys;
pub mod link_address;
mod markup;
pub mod millis;
pub mod phone_time;
pub mod saved_tree;
mod scaled_device;
pub mod text_field;
mod untypable;
mod values;
#[cfg(feature = "ios")]
pub mod webdriver;

use async_trait::async_trait;

pub use backends::{Backend, Backends, backend_names, with_backends};
pub use bytestring::ByteString;
pub use error::{Error, KEEPS_MOVING, SideEffect};
pub use facets::*;
pub use image::{BlackReason, Format, FormatPreference, Image, Screenshot, Size};
pub use keys::{Key, KeyCode};
pub use scaled_device::ScaledDevice;
pub use thumbwire_image as image;
pub use untypable::UntypableText;
pub use values::*;

/// A handle on one phone.
///
/// Every future may be dropped at any time: a caller that enforces a deadline drops it, and the
/// driver releases what it had opened. The errors of methods that act say whether the action may
/// have happened ([`Error::acted`]).
#[async_trait]
pub trait Device: Send + Sync {
    /// Identity of the phone, as known when the handle was created.
    fn identity(&self) -> &Identity;

    /// What this device supports beyond the methods here. Can be checked before acting, and does
    /// not change while the handle lives.
    ///
    /// There is no default body, so that a decorator cannot forget to pass on the inner device's
    /// facets.
    fn facets(&self) -> Facets<'_>;

    /// Checks that the phone responds; the cheapest request there is.
    async fn probe(&self) -> Result<(), Error>;

    /// Screen size in the current orientation, in screenshot pixels.
    async fn screen_size(&self) -> Result<Size, Error>;

    /// A screenshot as the phone takes it.
    async fn screenshot(&self) -> Result<Screenshot, Error>;

    /// A screenshot for a caller who wants this format. A device that encodes its screenshots
    /// itself uses it; any other returns what it has, for [`image::fit`] to convert.
    async fn screenshot_as(&self, _format: image::FormatPreference) -> Result<Screenshot, Error> {
        self.screenshot().await
    }

    /// A JPEG whose longer side has at most so many pixels, if the phone itself scales and
    /// compresses screenshots: that saves the cable and this computer most of the work. Its size
    /// is that of the JPEG.
    async fn scaled_jpeg(&self, _max_side: i32) -> Result<Option<Screenshot>, Error> {
        Ok(None)
    }

    /// The node tree of the current screen, with its [`Tree::source`]; never a stale one.
    async fn tree(&self, detail: TreeDetail) -> Result<Tree, Error>;

    /// Performs a gesture.
    async fn touch(&self, gesture: Gesture) -> Result<(), Error>;

    /// Types text into the focused field and returns the method used. Text that the phone cannot
    /// type is rejected before the first key press.
    async fn type_text(&self, text: &str) -> Result<TypingMethod, Error>;

    /// Presses and releases a key.
    async fn press(&self, key: Key) -> Result<(), Error>;

    /// Installed apps, or those that the phone reports.
    async fn apps(&self) -> Result<AppList, Error>;

    /// Starts an app at its launcher entry, or brings it to the front. Returns the phone's output.
    /// An app that gets arguments is started again on iOS.
    async fn launch(&self, app: &AppId, arguments: &[LaunchArgument]) -> Result<String, Error>;

    /// Stops an app and all its processes.
    async fn stop(&self, app: &AppId) -> Result<(), Error>;

    /// What is in front: the app whose window has the focus, or what keeps a person from using it.
    async fn foreground(&self) -> Result<Foreground, Error>;

    /// The activity in front of an unlocked screen that is on, if the phone tells it in a few
    /// milliseconds. A window of the system may be above it: only [`Device::foreground`] tells.
    async fn activity_in_front(&self) -> Result<Option<ForegroundApp>, Error> {
        Ok(None)
    }

    /// What the phone reports about itself.
    async fn info(&self) -> Result<DeviceInfo, Error>;

    /// Waits until what abandoned calls had put on the phone is gone, such as parts of files;
    /// returns at once if there is nothing. Call it before the program exits, which would cancel
    /// that work.
    async fn restore_borrowed(&self);

    /// Ends the connection and gives the phone a moment to notice. Call it before the program
    /// exits, because some phones do not answer a new host before they have. A later call connects
    /// again.
    async fn disconnect(&self);

    /// The error for a feature that this device does not have. A decorator passes on the inner
    /// device's: that may say how to get the feature.
    fn unsupported(&self, what: &'static str) -> Error {
        Error::Unsupported { what, platform: self.identity().platform }
    }
}
