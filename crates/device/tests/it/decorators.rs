//! Facets through decorators: a device around a device loses none of them; and what is said where
//! there is none.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_device::image::PixelLimits;
use thumbwire_device::{
    AppData, AppId, AppIntegration, AppList, AppManagement, Component, Device, DeviceFiles,
    DeviceInfo, DisplayControl, Editor, EditorSize, Error, Facets, FileDetails, Foreground,
    Gesture, Health, HealthChecks, HelperChecks, HelperStatus, Identity, InstallOptions, Key,
    LaunchArgument, LauncherApps, Links, Location, LogEntry, LogFilter, LogStream, Logs,
    Notification, Notifications, Orientation, Package, Platform, Recording, RecordingOptions,
    RotationOwner, ScaledDevice, ScreenCapture, ScreenStream, ScreenStreaming, ScreenWatch,
    Screenshot, ServiceReply, ServiceRequest, SimulatedLocation, Size, StreamOptions, TextEditing,
    Tree, TreeDetail, TypingMethod, VideoOptions, VideoStream,
};
use tokio::io::{AsyncRead, AsyncWrite};

/// A phone that has every facet, or none, and does nothing.
struct Phone {
    identity: Identity,
    facets: bool,
}

impl Phone {
    fn device(platform: Platform, facets: bool) -> Arc<dyn Device> {
        let identity = Identity { id: "p".into(), platform, model: String::new() };
        Arc::new(Self { identity, facets })
    }

    fn nothing<T>(&self) -> Result<T, Error> {
        Err(self.unsupported("doing anything"))
    }
}

/// Every decorator that there is, around a device.
fn decorated(device: &Arc<dyn Device>) -> Vec<Arc<dyn Device>> {
    let twice = ScaledDevice::new(Arc::clone(device), PixelLimits::longer_side(900));
    vec![
        Arc::new(ScaledDevice::new(Arc::clone(device), PixelLimits::longer_side(600))),
        Arc::new(ScaledDevice::new(Arc::new(twice), PixelLimits::longer_side(600))),
    ]
}

#[test]
fn a_decorator_around_a_device_that_has_every_facet_loses_none() {
    let all = Phone::device(Platform::Android, true);
    assert_eq!(all.facets().features().collect::<Vec<_>>(), Facets::FEATURES, "the phone has all");
    for (at, outer) in decorated(&all).iter().enumerate() {
        assert_eq!(
            outer.facets().features().collect::<Vec<_>>(),
            Facets::FEATURES,
            "decorator {at}"
        );
    }
}

#[test]
fn a_decorator_adds_no_facet_that_the_device_lacks() {
    for outer in decorated(&Phone::device(Platform::Android, false)) {
        assert_eq!(outer.facets().features().count(), 0);
    }
}

#[tokio::test]
async fn what_a_decorator_does_not_change_is_asked_of_the_device_itself() {
    let all = Phone::device(Platform::Android, true);
    let asked = "doing anything is not supported on Android";
    for outer in decorated(&all) {
        let out = outer.logs().unwrap().clear_logs().await.unwrap_err();
        assert_eq!(out.to_string(), asked);
        // One that `ScaledDevice` changes.
        let out = outer.orientation_control().unwrap().orientation().await.unwrap_err();
        assert_eq!(out.to_string(), asked);
    }
}

#[test]
fn a_facet_that_is_not_there_is_told_with_the_platforms_name() {
    let none = Phone::device(Platform::Ios, false);
    let out: Vec<String> = [
        none.text_editing().err(),
        none.orientation_control().err(),
        none.screen_lock().err(),
        none.logs().err(),
        none.notifications().err(),
        none.screen_recording().err(),
        none.screenshot_files().err(),
        none.device_files().err(),
        none.packages().err(),
        none.app_installation().err(),
        none.app_pages().err(),
        none.launcher().err(),
        none.app_data().err(),
        none.links().err(),
        none.app_permissions().err(),
        none.app_services().err(),
        none.app_functions().err(),
        none.clipboard().err(),
        none.simulated_location().err(),
        none.health_checks().err(),
        none.helper_checks().err(),
        none.screen_changes().err(),
        none.screen_streaming().err(),
    ]
    .into_iter()
    .map(|error| error.expect("it has no facet").to_string())
    .collect();
    let text = [
        "clearing a field",
        "setting the orientation",
        "unlocking the screen",
        "reading the log",
        "listing notifications",
        "recording the screen",
        "saving screenshots on the phone",
        "reading files",
        "reading package details",
        "installing apps",
        "reading which page of an app is shown",
        "listing the launcher's apps",
        "clearing an app's data",
        "opening an address",
        "changing permissions",
        "listing services",
        "app functions",
        "the clipboard",
        "setting the location",
        "health checks",
        "the helper",
        "watching the screen",
        "streaming the screen",
    ];
    assert_eq!(out, text.map(|words| format!("{words} is not supported on iOS")));
    assert_eq!(out.len(), Facets::FEATURES.len());
}

#[async_trait]
impl Device for Phone {
    fn identity(&self) -> &Identity {
        &self.identity
    }
    fn facets(&self) -> Facets<'_> {
        if !self.facets {
            return Facets::default();
        }
        // Without `..`: the compiler asks for each new facet.
        Facets {
            apps: Some(self),
            app_data: Some(self),
            app_integration: Some(self),
            text: Some(self),
            display: Some(self),
            screen_capture: Some(self),
            screen_streaming: Some(self),
            files: Some(self),
            logs: Some(self),
            links: Some(self),
            notifications: Some(self),
            location: Some(self),
            health: Some(self),
            helper: Some(self),
        }
    }
    async fn probe(&self) -> Result<(), Error> {
        self.nothing()
    }
    async fn screen_size(&self) -> Result<Size, Error> {
        self.nothing()
    }
    async fn screenshot(&self) -> Result<Screenshot, Error> {
        self.nothing()
    }
    async fn tree(&self, _: TreeDetail) -> Result<Tree, Error> {
        self.nothing()
    }
    async fn touch(&self, _: Gesture) -> Result<(), Error> {
        self.nothing()
    }
    async fn type_text(&self, _: &str) -> Result<TypingMethod, Error> {
        self.nothing()
    }
    async fn press(&self, _: Key) -> Result<(), Error> {
        self.nothing()
    }
    async fn apps(&self) -> Result<AppList, Error> {
        self.nothing()
    }
    async fn launch(&self, _: &AppId, _: &[LaunchArgument]) -> Result<String, Error> {
        self.nothing()
    }
    async fn stop(&self, _: &AppId) -> Result<(), Error> {
        self.nothing()
    }
    async fn foreground(&self) -> Result<Foreground, Error> {
        self.nothing()
    }
    async fn info(&self) -> Result<DeviceInfo, Error> {
        self.nothing()
    }
    async fn restore_borrowed(&self) {}
    async fn disconnect(&self) {}
}

#[async_trait]
impl AppManagement for Phone {
    async fn install(
        &self,
        _: &mut (dyn AsyncRead + Send + Unpin),
        _: u64,
        _: InstallOptions,
    ) -> Result<(), Error> {
        self.nothing()
    }
    async fn uninstall(&self, _: &AppId) -> Result<(), Error> {
        self.nothing()
    }
    async fn package_info(&self, _: &AppId) -> Result<Package, Error> {
        self.nothing()
    }
    async fn launcher_apps(&self) -> Result<LauncherApps, Error> {
        self.nothing()
    }
    async fn fragments(&self, _: &AppId) -> Result<Vec<String>, Error> {
        self.nothing()
    }
    async fn set_permission(&self, _: &AppId, _: &str, _: bool) -> Result<(), Error> {
        self.nothing()
    }
}

#[async_trait]
impl AppData for Phone {
    async fn clear_data(&self, _: &AppId) -> Result<(), Error> {
        self.nothing()
    }
}

#[async_trait]
impl AppIntegration for Phone {
    async fn find_services(&self, _: &str) -> Result<Vec<Component>, Error> {
        self.nothing()
    }
    async fn start_service(&self, _: &ServiceRequest) -> Result<(), Error> {
        self.nothing()
    }
    async fn call_service(&self, _: &ServiceRequest, _: Duration) -> Result<ServiceReply, Error> {
        self.nothing()
    }
    async fn list_functions(&self, _: Option<&AppId>) -> Result<String, Error> {
        self.nothing()
    }
    async fn call_function(&self, _: &AppId, _: &str, _: &str) -> Result<String, Error> {
        self.nothing()
    }
}

#[async_trait]
impl TextEditing for Phone {
    async fn replace_text(&self, _text: &str) -> Result<Option<TypingMethod>, Error> {
        self.nothing()
    }
    async fn check_text(&self, _: &str) -> Result<(), Error> {
        self.nothing()
    }
    async fn typing_time(&self, _: &str) -> Result<Duration, Error> {
        self.nothing()
    }
    async fn editor(&self) -> Result<Option<Editor>, Error> {
        self.nothing()
    }
    async fn delete_at_end(&self, _: EditorSize, _: usize) -> Result<(), Error> {
        self.nothing()
    }
    async fn delete_around_cursor(&self, _: usize) -> Result<(), Error> {
        self.nothing()
    }
    async fn clipboard(&self) -> Result<Option<String>, Error> {
        self.nothing()
    }
    async fn set_clipboard(&self, _: &str) -> Result<(), Error> {
        self.nothing()
    }
}

#[async_trait]
impl DisplayControl for Phone {
    async fn orientation(&self) -> Result<Orientation, Error> {
        self.nothing()
    }
    async fn set_orientation(&self, _: Orientation, _: &str) -> Result<(), Error> {
        self.nothing()
    }
    async fn restore_orientation(&self, _: RotationOwner<'_>) -> Result<bool, Error> {
        self.nothing()
    }
    async fn unlock(&self) -> Result<Foreground, Error> {
        self.nothing()
    }
}

#[async_trait]
impl ScreenCapture for Phone {
    async fn start_recording(&self, _: &RecordingOptions) -> Result<Box<dyn Recording>, Error> {
        self.nothing()
    }
    async fn watch_screen(&self) -> Result<Option<ScreenWatch>, Error> {
        self.nothing()
    }
}

#[async_trait]
impl ScreenStreaming for Phone {
    async fn stream_screen(&self, _: StreamOptions) -> Result<Option<ScreenStream>, Error> {
        self.nothing()
    }
    async fn stream_video(&self, _: VideoOptions) -> Result<Option<VideoStream>, Error> {
        self.nothing()
    }
}

#[async_trait]
impl DeviceFiles for Phone {
    async fn fetch_file(
        &self,
        _: &str,
        _: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<u64, Error> {
        self.nothing()
    }
    async fn store_file(
        &self,
        _: &str,
        _: &mut (dyn AsyncRead + Send + Unpin),
        _: u64,
        _: u32,
    ) -> Result<(), Error> {
        self.nothing()
    }
    async fn file_details(&self, _: &str) -> Result<Option<FileDetails>, Error> {
        self.nothing()
    }
    async fn read_file(&self, _: &str, _: u64, _: u64) -> Result<Bytes, Error> {
        self.nothing()
    }
    async fn file_length(&self, _: &str) -> Result<u64, Error> {
        self.nothing()
    }
    async fn remove_file(&self, _: &str) -> Result<(), Error> {
        self.nothing()
    }
    async fn screenshot_into(&self, _: &str) -> Result<(), Error> {
        self.nothing()
    }
}

#[async_trait]
impl Logs for Phone {
    async fn read_logs(&self, _: &LogFilter, _: usize) -> Result<Vec<LogEntry>, Error> {
        self.nothing()
    }
    async fn log_clock(&self) -> Result<String, Error> {
        self.nothing()
    }
    async fn clear_logs(&self) -> Result<(), Error> {
        self.nothing()
    }
    async fn follow_logs(
        &self,
        _: &LogFilter,
        _: Option<&LogEntry>,
    ) -> Result<Box<dyn LogStream>, Error> {
        self.nothing()
    }
}

#[async_trait]
impl Links for Phone {
    async fn app_for_link(&self, _: &str) -> Result<Option<AppId>, Error> {
        self.nothing()
    }
    async fn open_link(&self, _: &str) -> Result<Option<AppId>, Error> {
        self.nothing()
    }
}

#[async_trait]
impl Notifications for Phone {
    async fn notifications(&self, _: usize) -> Result<Vec<Notification>, Error> {
        self.nothing()
    }
}

#[async_trait]
impl SimulatedLocation for Phone {
    async fn set_location(&self, _: Location) -> Result<(), Error> {
        self.nothing()
    }
}

#[async_trait]
impl HealthChecks for Phone {
    async fn check_health(&self) -> Result<Health, Error> {
        self.nothing()
    }
}

#[async_trait]
impl HelperChecks for Phone {
    async fn check_helper(&self) -> Result<HelperStatus, Error> {
        self.nothing()
    }
}
