//! Facets: what only some phones support, beyond screenshots, trees, touch, typing, keys and apps.
//!
//! One file per facet, with its trait and the values that only it uses. Start with [`Facets`], the
//! list of all of them. A platform supports a facet as a whole or not at all; features that some
//! platform has only one of are separate facets. The methods have no default bodies. If one phone
//! cannot do what its platform can, for example because its release is too old, the method returns
//! [`Error::Unsupported`].
//!
//! How to add a facet is described in the [crate's documentation](crate).

mod app_data;
mod app_functions;
mod app_installation;
mod app_pages;
mod app_permissions;
mod app_services;
mod clipboard;
mod device_files;
mod health_checks;
mod launcher;
mod links;
mod logs;
mod notifications;
mod orientation_control;
mod packages;
mod screen_changes;
mod screen_lock;
mod screen_recording;
mod screen_streaming;
mod screenshot_files;
mod simulated_location;
mod system_properties;
mod text_editing;

use std::fmt;

pub use app_data::AppData;
pub use app_functions::AppFunctions;
pub use app_installation::{AppInstallation, InstallOptions};
pub use app_pages::AppPages;
pub use app_permissions::AppPermissions;
pub use app_services::{
    AppServices, CallbackResult, Component, ServiceReply, ServiceRequest, StartServiceError,
};
pub use clipboard::Clipboard;
pub use device_files::{DeviceFiles, FileDetails, FileKind};
pub use health_checks::{
    Check, Health, HealthChecks, HelperStatus, HelperTrial, Leftover, OperationTrial, TrialResult,
};
pub use launcher::{LabelSource, Launcher, LauncherApp, LauncherApps, LauncherLabel};
pub use links::Links;
pub use logs::{LogEntry, LogFilter, LogStream, Logs, Priority};
pub use notifications::{Notification, Notifications};
pub use orientation_control::{OrientationControl, RotationOwner};
pub use packages::{Package, Packages};
pub use screen_changes::{ScreenChange, ScreenChanges, ScreenWatch};
pub use screen_lock::ScreenLock;
pub use screen_recording::{Recording, RecordingOptions, ScreenRecording};
pub use screen_streaming::{ScreenStream, ScreenStreaming, StreamOptions};
pub use screenshot_files::ScreenshotFiles;
pub use simulated_location::{Location, SimulatedLocation};
pub use system_properties::SystemProperties;
pub use text_editing::{Editor, EditorSize, TextEditing};

use crate::{Device, Error};

/// Generates [`Facets`], its names, and an accessor on `dyn Device` from one row per facet: the
/// field, the trait, and what is impossible without it, for the error "… is not supported on iOS".
macro_rules! facets {
    ($($(#[$doc:meta])* $field:ident: $facet:ident, $what:literal;)*) => {
        /// The facets of a device: `None` for what it does not support.
        ///
        /// A driver sets what it supports; a decorator replaces what it changes and passes on the
        /// rest:
        ///
        /// ```ignore
        /// Facets { logs: Some(self), ..Facets::default() }
        /// Facets { logs: Some(self), ..self.inner.facets() }
        /// ```
        #[derive(Clone, Copy, Default)]
        pub struct Facets<'a> {
            $($(#[$doc])* pub $field: Option<&'a dyn $facet>,)*
        }

        impl Facets<'_> {
            /// The names of all facets: the fields of this struct, in order.
            pub const ALL: &'static [&'static str] = &[$(stringify!($field)),*];

            /// The names of the facets that this device has.
            pub fn names(self) -> impl Iterator<Item = &'static str> {
                let held = [$(self.$field.is_some()),*];
                Self::ALL.iter().zip(held).filter_map(|(name, held)| held.then_some(*name))
            }
        }

        impl dyn Device + '_ {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// [`Error::Unsupported`] if this device does not have the facet.
                pub fn $field(&self) -> Result<&dyn $facet, Error> {
                    self.facets().$field.ok_or_else(|| self.unsupported($what))
                }
            )*
        }
    };
}

facets! {
    /// Clearing a text field, and checking text before any other action.
    text_editing: TextEditing, "clearing a field";
    /// Reading, setting and restoring the orientation.
    orientation_control: OrientationControl, "setting the orientation";
    /// Waking and unlocking the screen.
    screen_lock: ScreenLock, "unlocking the screen";
    /// Reading, clearing and following the log.
    logs: Logs, "reading the log";
    /// Listing what the phone notifies about.
    notifications: Notifications, "listing notifications";
    /// Recording the screen to a file on the phone.
    screen_recording: ScreenRecording, "recording the screen";
    /// Saving screenshots to files on the phone.
    screenshot_files: ScreenshotFiles, "saving screenshots on the phone";
    /// Reading, writing and removing files on the phone.
    device_files: DeviceFiles, "reading files";
    /// What the phone knows about an installed app.
    packages: Packages, "reading package details";
    /// Installing and uninstalling apps.
    app_installation: AppInstallation, "installing apps";
    /// Which pages of an app are shown.
    app_pages: AppPages, "reading which page of an app is shown";
    /// The apps that the launcher shows.
    launcher: Launcher, "listing the launcher's apps";
    /// Clearing the data of an app.
    app_data: AppData, "clearing an app's data";
    /// Opening addresses in the apps that handle them.
    links: Links, "opening an address";
    /// Granting and revoking permissions of apps.
    app_permissions: AppPermissions, "changing permissions";
    /// Finding, starting and calling the services of apps.
    app_services: AppServices, "listing services";
    /// The platform's own functions of apps (Android's AppFunctions).
    app_functions: AppFunctions, "app functions";
    /// Reading and setting the clipboard.
    clipboard: Clipboard, "the clipboard";
    /// Simulating where the phone is.
    simulated_location: SimulatedLocation, "setting the location";
    /// Listing platform properties.
    system_properties: SystemProperties, "reading properties";
    /// Checking how well the phone can be driven.
    health_checks: HealthChecks, "health checks";
    /// Watching the screen for changes.
    screen_changes: ScreenChanges, "watching the screen";
    /// Pictures of the screen while it changes.
    screen_streaming: ScreenStreaming, "streaming the screen";
}

impl fmt::Debug for Facets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
