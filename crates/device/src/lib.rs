//! What a phone can do, whichever phone it is.
//!
//! [`Device`] is the handle that everything above holds. It is small on purpose: a driver says how its platform
//! looks, touches, types and starts apps, and leaves the rest at "not possible here". Begin with the trait, then
//! [`android`] for how one platform does it; [`find`] turns a platform's node tree into elements to aim at, [`saved`]
//! reads trees out of files, [`picture`] changes pictures, and [`Scaled`] serves smaller ones.
//!
//! Coordinates are pixels of the screenshot everywhere; a driver converts. Waiting, retrying, caching and the
//! search for an element live above. This crate knows no tool dialect, no MCP, and no JSON but the helper's on the wire.

pub mod android;
mod app_tools;
mod error;
pub mod field;
pub mod find;
mod ios;
mod keys;
mod logs;
mod markup;
mod media;
pub mod picture;
pub mod saved;
mod scaled;
mod values;

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::io::AsyncWrite;

pub use app_tools::{Answer, Component, Delivery, Letter, Package, Undelivered};
pub use error::{Acted, Error, Remedy};
pub use keys::{Key, KeyCode};
pub use logs::{LogEntry, LogFilter, LogStream, Priority};
pub use media::{Check, Health, Recording, RecordingWish};
pub use picture::{Blank, Format, Image, Screenshot};
pub use scaled::Scaled;
pub use values::*;

/// A handle on one phone.
///
/// Every method may be dropped at any time: whoever holds a deadline drops the future, and the driver gives up
/// whatever it had opened. Methods that act say in their error whether the act may have happened ([`Error::acted`]).
#[async_trait]
pub trait Device: Send + Sync {
    /// Who this is, as far as it was learnt when the handle was made.
    fn identity(&self) -> &Identity;

    /// What this device can be asked for beyond looking, touching, typing and apps. Readable before acting.
    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    /// Whether the phone answers at all; the cheapest question there is.
    async fn probe(&self) -> Result<(), Error>;

    /// The size of the screen as it is turned now, in screenshot pixels.
    async fn screen_size(&self) -> Result<Size, Error>;

    /// A picture of the screen, straight from the phone.
    async fn screenshot(&self) -> Result<Screenshot, Error>;

    /// The platform's node tree of what is on the screen now, with its [`Tree::source`]; never an older one.
    async fn tree(&self, detail: Detail) -> Result<Tree, Error>;

    /// Carries out one gesture.
    async fn touch(&self, gesture: Gesture) -> Result<(), Error>;

    /// Types text into whatever has the focus, and tells by which way it went. Text that this phone cannot type is refused
    /// before the first key.
    async fn type_text(&self, text: &str) -> Result<TypedBy, Error>;

    /// Refuses text that [`Device::type_text`] would refuse, before anything is done for its sake.
    async fn check_text(&self, _text: &str) -> Result<(), Error> {
        Ok(())
    }

    /// Takes so many characters away on each side of the cursor, in whatever has the focus.
    async fn erase(&self, _characters: usize) -> Result<(), Error> {
        Err(self.unsupported("clearing a field"))
    }

    /// Presses and releases a key.
    async fn press(&self, key: Key) -> Result<(), Error>;

    /// The installed apps, in the phone's order.
    async fn apps(&self) -> Result<Vec<App>, Error>;

    /// Starts an app at its launcher entry, or brings it to the front. Gives the phone's words.
    async fn launch(&self, app: &AppId) -> Result<String, Error>;

    /// Ends an app and everything it runs.
    async fn stop(&self, app: &AppId) -> Result<(), Error>;

    /// Ends an app and has it forget all that it keeps, its permissions too, as if it had just been installed.
    async fn clear_data(&self, _app: &AppId) -> Result<(), Error> {
        Err(self.unsupported("clearing an app's data"))
    }

    /// Gives an app a permission that it asks for, or takes it away, by the platform's name of it.
    async fn permit(&self, _app: &AppId, _permission: &str, _granted: bool) -> Result<(), Error> {
        Err(self.unsupported("changing permissions"))
    }

    /// The app whose window has the focus; `None` while no window has it.
    async fn foreground(&self) -> Result<Option<Foreground>, Error>;

    /// What the phone says of itself.
    async fn info(&self) -> Result<Info, Error>;

    /// The platform's own properties, name and value, sorted by name.
    async fn properties(&self) -> Result<Vec<(String, String)>, Error>;

    /// How the screen is turned.
    async fn orientation(&self) -> Result<Orientation, Error> {
        Err(self.unsupported("reading the orientation"))
    }

    /// Turns the screen on behalf of `owner`, one short word. What was set before the first turn is kept on the phone
    /// until [`Device::restore_orientation`]. When this ends the phone has taken the order; the screen follows within
    /// about a second, unless the app in front keeps it as it is.
    async fn set_orientation(&self, _orientation: Orientation, _owner: &str) -> Result<(), Error> {
        Err(self.unsupported("setting the orientation"))
    }

    /// Puts back what was set before the screen was turned. Gives whether there was anything to put back.
    async fn restore_orientation(&self, _turned: TurnedBy<'_>) -> Result<bool, Error> {
        Ok(false)
    }

    /// The newest entries of the log that a filter lets through, the oldest first, `most` at most.
    async fn logs(&self, _filter: &LogFilter, _most: usize) -> Result<Vec<LogEntry>, Error> {
        Err(self.unsupported("reading the log"))
    }

    /// Empties the log.
    async fn clear_logs(&self) -> Result<(), Error> {
        Err(self.unsupported("clearing the log"))
    }

    /// Follows the log: what comes after `last`, an entry that was read before, or from now on.
    async fn follow_logs(
        &self,
        _filter: &LogFilter,
        _last: Option<&LogEntry>,
    ) -> Result<Box<dyn LogStream>, Error> {
        Err(self.unsupported("following the log"))
    }

    /// Begins to record the screen into a file on the phone.
    async fn record(&self, _wish: &RecordingWish) -> Result<Box<dyn Recording>, Error> {
        Err(self.unsupported("recording the screen"))
    }

    /// Takes a picture of the screen, PNG, into a file on the phone.
    async fn screenshot_into(&self, _path: &str) -> Result<(), Error> {
        Err(self.unsupported("pictures into files"))
    }

    /// Fetches a file from the phone. Gives its length in bytes.
    async fn fetch_file(
        &self,
        _path: &str,
        _into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<u64, Error> {
        Err(self.unsupported("reading files"))
    }

    /// Removes a file from the phone; one that is not there is no error.
    async fn remove_file(&self, _path: &str) -> Result<(), Error> {
        Err(self.unsupported("removing files"))
    }

    /// Reads a part of a file on the phone: `length` bytes from `from` on, fewer only where the file ends.
    async fn read_file(&self, _path: &str, _from: u64, _length: u64) -> Result<Bytes, Error> {
        Err(self.unsupported("reading files"))
    }

    /// How long a file on the phone is, in bytes.
    async fn file_length(&self, _path: &str) -> Result<u64, Error> {
        Err(self.unsupported("reading files"))
    }

    /// The services that answer an action, in the phone's order.
    async fn services(&self, _action: &str) -> Result<Vec<Component>, Error> {
        Err(self.unsupported("listing services"))
    }

    /// What the phone knows of an installed app.
    async fn package(&self, _app: &AppId) -> Result<Package, Error> {
        Err(self.unsupported("looking into apps"))
    }

    /// Starts a service with text extras. What it answers is not heard: for that there is [`Device::courier`].
    async fn start_service(&self, _letter: &Letter) -> Result<(), Error> {
        Err(self.unsupported("starting services"))
    }

    /// Starts a service with text extras and a callback, and waits so long for what comes back by it. Needs our helper on the phone;
    /// without it [`Error::Unsupported`], and nothing was sent.
    async fn courier(&self, _letter: &Letter, _limit: Duration) -> Result<Delivery, Error> {
        Err(self.unsupported("hearing an app's answer"))
    }

    /// The platform's own functions of apps (Android's AppFunctions), of one app or of all: the JSON that the phone prints.
    async fn app_functions(&self, _app: Option<&AppId>) -> Result<String, Error> {
        Err(self.unsupported("app functions"))
    }

    /// Calls one of them. `parameters` is a JSON object. Gives the JSON that the phone prints.
    async fn call_app_function(
        &self,
        _app: &AppId,
        _function: &str,
        _parameters: &str,
    ) -> Result<String, Error> {
        Err(self.unsupported("app functions"))
    }

    /// How well the phone can be driven. A phone that does not answer is told in the checks.
    async fn health(&self) -> Result<Health, Error> {
        Err(self.unsupported("checking its health"))
    }

    /// Waits until the phone has back what calls that were given up had borrowed of it, such as its keyboard; at once where
    /// that is nothing. For the end of a program, which ends such work too.
    async fn settle(&self) {}

    /// The refusal for something that this device cannot do.
    fn unsupported(&self, what: &'static str) -> Error {
        Error::Unsupported { what, platform: self.identity().platform }
    }
}
