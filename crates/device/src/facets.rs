//! Facets: what only some phones support, beyond screenshots, trees, touch, typing, keys and apps.
//!
//! One file per subject, with its traits and the values that only they use. Start with [`Facets`],
//! the list of all of them. A platform supports a facet as a whole or not at all: if one supports
//! only a part, that part is a facet of its own. The methods have no default bodies. If one phone
//! cannot do what its platform can, for example because its release is too old, the method returns
//! [`Error::Unsupported`].
//!
//! How to add a facet is described in the [crate's documentation](crate).

mod app_integration;
mod apps;
mod display;
mod files;
mod health;
mod logs;
mod system;
mod text;

use std::fmt;

pub use app_integration::{
    AppIntegration, CallbackResult, Component, ServiceReply, ServiceRequest, StartServiceError,
};
pub use apps::{
    AppData, AppManagement, InstallOptions, LabelSource, LauncherApp, LauncherApps, LauncherLabel,
    Package,
};
pub use display::{
    DisplayControl, Recording, RecordingOptions, RotationOwner, ScreenCapture, ScreenChange,
    ScreenStream, ScreenStreaming, ScreenWatch, StreamOptions, VideoOptions, VideoPicture,
    VideoStream,
};
pub use files::{DeviceFiles, FileDetails, FileKind};
pub use health::{Check, Health, HealthChecks, HelperChecks, HelperStatus};
pub use logs::{LogEntry, LogFilter, LogStream, Logs, Priority};
pub use system::{Links, Location, Notification, Notifications, SimulatedLocation};
pub use text::{Editor, EditorSize, TextEditing};

use crate::{Device, Error};

/// Generates [`Facets`], the names of the features, and an accessor on `dyn Device` for each
/// feature. A row is a facet: its field and trait, and in braces its features, each with what is
/// impossible without it, for the error "… is not supported on iOS".
macro_rules! facets {
    ($(
        $(#[$doc:meta])*
        $field:ident: $facet:ident { $($feature:ident: $what:literal),+ $(,)? }
    )*) => {
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
            /// The names of all features, in the order of the table.
            pub const FEATURES: &'static [&'static str] = &[$($(stringify!($feature)),+),*];

            /// The names of the features that this device has.
            pub fn features(self) -> impl Iterator<Item = &'static str> {
                let has_feature = [$($({
                    let _ = stringify!($feature);
                    self.$field.is_some()
                }),+),*];
                Self::FEATURES.iter().zip(has_feature).filter_map(|(name, has)| has.then_some(*name))
            }
        }

        impl dyn Device + '_ {
            $($(
                #[doc = concat!("The facet for ", $what, ".")]
                ///
                /// # Errors
                /// [`Error::Unsupported`] if this device does not have the facet.
                pub fn $feature(&self) -> Result<&dyn $facet, Error> {
                    self.facets().$field.ok_or_else(|| self.unsupported($what))
                }
            )+)*
        }
    };
}

facets! {
    /// Apps: installing, describing, permissions, and what the launcher and the app itself show.
    apps: AppManagement {
        packages: "reading package details",
        app_installation: "installing apps",
        app_pages: "reading which page of an app is shown",
        launcher: "listing the launcher's apps",
        app_permissions: "changing permissions",
    }
    /// Clearing the data of an app.
    app_data: AppData { app_data: "clearing an app's data" }
    /// Services of apps, and the platform's own functions of apps (Android's AppFunctions).
    app_integration: AppIntegration {
        app_services: "listing services",
        app_functions: "app functions",
    }
    /// Editing the focused text field, and the clipboard.
    text: TextEditing { text_editing: "clearing a field", clipboard: "the clipboard" }
    /// Orientation and screen lock.
    display: DisplayControl {
        orientation_control: "setting the orientation",
        screen_lock: "unlocking the screen",
    }
    /// Recordings of the screen, and notices of changes on it.
    screen_capture: ScreenCapture {
        screen_recording: "recording the screen",
        screen_changes: "watching the screen",
    }
    /// Pictures of the screen while it changes.
    screen_streaming: ScreenStreaming { screen_streaming: "streaming the screen" }
    /// Files on the phone.
    files: DeviceFiles {
        device_files: "reading files",
        screenshot_files: "saving screenshots on the phone",
    }
    /// Reading, clearing and following the log.
    logs: Logs { logs: "reading the log" }
    /// Opening addresses in the apps that handle them.
    links: Links { links: "opening an address" }
    /// Listing what the phone notifies about.
    notifications: Notifications { notifications: "listing notifications" }
    /// Simulating where the phone is.
    location: SimulatedLocation { simulated_location: "setting the location" }
    /// Checking how well the phone can be driven.
    health: HealthChecks { health_checks: "health checks" }
    /// Checking our helper on the phone.
    helper: HelperChecks { helper_checks: "the helper" }
}

impl fmt::Debug for Facets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.features()).finish()
    }
}
