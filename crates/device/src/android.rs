//! Android over ADB. One file per subject, with each command next to the parser of its output.
//!
//! Start with [`Android`], which runs shell commands and maps transport errors. Then see
//! [`ui`](mod@ui) for trees; `screen` for screenshots; `display` for sizes; `rotation` for
//! rotation; `input` for touches and text; `apps`, `launcher` and `install`; `logs`,
//! `notifications`, `record`, `video`, `files`, `temporary_file` and `health`. `services`,
//! `packages`, `read_range`, `intents`, `app_functions` and the `helper` are for app tools.
//! `legacy` has what only phones before Android 7 need. Only [`shell_command`] puts text into a
//! shell command, and it quotes. Nothing here remembers a screen. An operation waits only for an
//! effect that it started itself: the helper's start, the screen that was woken, a recording's
//! beginning. Each facet is implemented beside its commands and listed in [`Device::facets`].

mod app_functions;
mod app_pages;
mod apps;
mod black_screen;
mod display;
mod editor;
mod files;
mod front;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod health;
mod helper;
mod info;
mod input;
mod install;
mod intents;
mod launcher;
mod legacy;
mod links;
mod location;
mod logs;
mod notifications;
mod packages;
mod read_range;
mod record;
mod refusal;
mod rotation;
mod screen;
mod services;
mod shell_command;
mod temporary_file;
pub mod ui;
mod unlock;
mod video;
mod windows;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_adb::{self as adb, Transport};
use tokio::time::{Instant, sleep};

use crate::error::{excerpt, without_returns};
use crate::{
    AppId, AppList, Device, DeviceInfo, Error, Facets, Foreground, ForegroundApp, Format,
    FormatPreference, Gesture, Identity, Key, LaunchArgument, Platform, Screenshot, SideEffect,
    Size, Tree, TreeDetail, TreeMethod, TypingMethod,
};
pub use helper::HelperMode;
#[cfg(feature = "ios")]
pub(crate) use input::key_code;
use legacy::Legacy;
#[cfg(feature = "ios")]
pub(crate) use logs::{LogLines, filter_takes};
use shell_command::ShellCommand;
#[cfg(feature = "ios")]
pub(crate) use ui::read_page_source;

/// The pause before another attempt to dump a screen that another tool reads.
const HELD_PAUSE: Duration = Duration::from_millis(200);

/// Maximum output size.
const MAX_OUTPUT: usize = 64 << 20;

/// An Android phone behind a transport.
pub struct Android {
    transport: Arc<dyn Transport>,
    identity: Identity,
    /// What is different on a phone before Android 7; `None` on a newer one.
    legacy: Option<Legacy>,
    /// The phone has warned that a screenshot may be of any of its panels.
    several_panels: AtomicBool,
    /// API level, once it was read.
    level: OnceLock<u32>,
    /// The user whose apps are on the screen, and when that was read.
    current_user: Mutex<Option<(u32, Instant)>>,
    helper: helper::Helper,
    /// Held by every [`temporary_file::TemporaryFile`] on the phone.
    uploads: Arc<tokio::sync::RwLock<()>>,
}

impl Android {
    /// A handle on the phone at the other end of `transport`; connects if necessary.
    ///
    /// `id` is the name by which clients select this phone.
    pub async fn attach(id: &str, transport: Arc<dyn Transport>) -> Result<Self, Error> {
        let unreachable = |error| match transport_error(error, SideEffect::None) {
            // Something other than adbd listens at that address.
            Error::Unreadable { text, .. } => {
                Error::NotConnected { reason: text, acted: SideEffect::None }
            }
            error => error,
        };
        let banner = transport.banner().await.map_err(unreachable)?;
        let model = banner.model().unwrap_or_default().replace('_', " ");
        let identity = Identity { id: id.to_owned(), platform: Platform::Android, model };
        Ok(Self {
            transport,
            identity,
            legacy: Legacy::of(&banner.features),
            several_panels: AtomicBool::new(false),
            level: OnceLock::new(),
            current_user: Mutex::default(),
            helper: helper::Helper::default(),
            uploads: Arc::default(),
        })
    }

    /// Sets whether the phone's helper is used. The default is [`HelperMode::Auto`].
    #[must_use]
    pub fn with_helper(mut self, mode: HelperMode) -> Self {
        self.helper.mode = mode;
        self
    }

    /// Runs a command in the phone's shell and returns its output.
    async fn ask(&self, line: ShellCommand) -> Result<CommandOutput, Error> {
        let output = adb::services::shell::run(&*self.transport, line.as_str())
            .await
            .map_err(|error| transport_error(error, SideEffect::Possible))?;
        Ok(output.into())
    }

    /// Runs a command with binary output.
    async fn fetch(&self, line: ShellCommand) -> Result<Bytes, Error> {
        let fetched = async {
            if let Some(legacy) = &self.legacy {
                return legacy.fetch(&*self.transport, &line, MAX_OUTPUT).await;
            }
            let stream = adb::services::shell::exec(&*self.transport, line.as_str()).await?;
            adb::services::shell::read_to_end(stream, MAX_OUTPUT).await.map(Bytes::from)
        };
        fetched.await.map_err(|error| transport_error(error, SideEffect::None))
    }

    /// Runs a command that prints nothing on success.
    async fn run_silent(&self, what: &'static str, line: ShellCommand) -> Result<(), Error> {
        let output = self.ask(line).await?;
        self.explained(&output, output.silent(what)).await
    }
}

/// The output of a command. Without shell v2 there is no status, and both streams are in `out`.
struct CommandOutput {
    out: String,
    err: String,
    status: Option<i32>,
}

impl From<adb::CommandOutput> for CommandOutput {
    fn from(output: adb::CommandOutput) -> Self {
        let text = |bytes: &[u8]| without_noise(without_returns(&String::from_utf8_lossy(bytes)));
        Self { out: text(&output.stdout), err: text(&output.stderr), status: output.status }
    }
}

impl CommandOutput {
    /// Whether a command that prints nothing on success succeeded.
    fn silent(&self, what: &'static str) -> Result<(), Error> {
        match self.error_text().or_else(|| self.unexpected()) {
            None => Ok(()),
            Some(complaint) => Err(Error::Failed { what, text: complaint }),
        }
    }

    /// The phone's error message, if any. Old phones return status 0 for everything, and on some
    /// `input` prints exceptions with status 0, so the output counts too.
    fn error_text(&self) -> Option<String> {
        let text = if self.err.trim().is_empty() { &self.out } else { &self.err };
        let failed = self.status.is_some_and(|status| status != 0);
        let marked = ["Exception", "Error:", "error:", "usage:", "Usage:", "Killed"];
        (failed || marked.iter().any(|mark| text.contains(mark))).then(|| match self.status {
            Some(status) if status != 0 => format!("{} (exit status {status})", excerpt(text)),
            _ => excerpt(text),
        })
    }

    /// Unexpected output of a command that should print nothing, if there is no status.
    fn unexpected(&self) -> Option<String> {
        let unexpected = |line: &&str| !line.trim().is_empty() && !is_noise(line);
        let text: Vec<&str> = self.out.lines().filter(unexpected).collect();
        (self.status.is_none() && !text.is_empty()).then(|| excerpt(text.join("\n")))
    }
}

/// Whether a line is what loaders and vendors' libraries print into the output of any program. It
/// says nothing about the program. Words that are not listed here cost nothing either, as long as
/// what a reader looks for has a form of its own.
fn is_noise(line: &str) -> bool {
    const STARTS: [&str; 6] = [
        // The linker of Android 4.4 to 6 about libraries, since 11 about its configuration.
        "WARNING: linker:",
        // `screencap` of a phone with several panels, Android 15.
        "[Warning] ",
        // Huawei's `logcat`.
        "int logctl_get(): ",
        "Note: log switch off",
        "ERROR: ld.so: ",
        "libc: ",
    ];
    STARTS.iter().any(|start| line.trim_start().starts_with(start))
}

fn without_noise(text: String) -> String {
    if !text.lines().any(is_noise) {
        return text;
    }
    text.split_inclusive('\n').filter(|line| !is_noise(line)).collect()
}

/// Maps a transport error. `acted` applies if the connection was lost during the call. The service
/// name is left out: it contains the command and so any typed text, which may be a password.
fn transport_error(error: adb::Error, acted: SideEffect) -> Error {
    use adb::Error as Wire;
    let acted = if error.may_have_happened() { acted } else { SideEffect::None };
    let reason = match &error {
        Wire::Refused { text, .. } => excerpt(text),
        Wire::TimedOut { after, .. } => format!("no answer within {after:?}"),
        Wire::TooLarge { limit, .. } => format!("more than {limit} bytes"),
        error => format!("failed to {error}"),
    };
    match error {
        Wire::NotReachable { .. }
        | Wire::Unanswered { .. }
        | Wire::Disconnected { .. }
        | Wire::Offline { .. }
        | Wire::NoSuchDevice { .. }
        | Wire::TimedOut { .. } => Error::NotConnected { reason, acted },
        Wire::Unauthorized { .. } => Error::Unauthorized { reason },
        Wire::Refused { .. } => Error::Failed { what: "open a service", text: reason },
        Wire::TooLarge { .. } => {
            Error::Failed { what: "transfer so much data at once", text: reason }
        }
        Wire::Phone { .. } | Wire::Local { .. } => Error::Failed { what: "respond", text: reason },
        // Anything else is a gap of ours.
        _ => Error::Unreadable { command: "adb".into(), text: reason },
    }
}

#[async_trait]
impl Device for Android {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn facets(&self) -> Facets<'_> {
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
        self.ask(ShellCommand::new("true")).await.map(drop)
    }

    async fn screen_size(&self) -> Result<Size, Error> {
        self.display().await.map(|display| display.size)
    }

    async fn screenshot(&self) -> Result<Screenshot, Error> {
        let picture = self.take_picture().await?;
        self.explain_black(picture).await
    }

    async fn screenshot_as(&self, format: FormatPreference) -> Result<Screenshot, Error> {
        if format == FormatPreference::Only(Format::Jpeg)
            && let Some(picture) = self.jpeg_by_helper(None).await?
        {
            return self.explain_black(picture).await;
        }
        self.screenshot().await
    }

    async fn scaled_jpeg(&self, max_side: i32) -> Result<Option<Screenshot>, Error> {
        match self.jpeg_by_helper(Some(max_side)).await? {
            Some(picture) => self.explain_black(picture).await.map(Some),
            None => Ok(None),
        }
    }

    async fn tree(&self, detail: TreeDetail) -> Result<Tree, Error> {
        if let Some(read) = self.tree_by_helper(detail).await? {
            let tree = ui::read_screen(read.xml, &read.reports)?;
            return Ok(Tree { method: TreeMethod::Helper, ..tree });
        }
        self.release_ui_automation().await;
        let until = Instant::now() + helper::AUTOMATION;
        loop {
            let output = self.fetch(ui::dump_command(detail)).await?;
            let (dump, reports) = ui::split(&output);
            let text = match ui::read_screen(dump, &reports) {
                Err(ui::DumpError::MayBeHeld(text)) => text,
                read => return Ok(read?),
            };
            let holder = self.find_holder().await;
            let is_held = text == ui::HELD || holder.is_some();
            if !is_held || Instant::now() >= until {
                return Err(health::held_by(&text, holder));
            }
            // Somebody's dump ends by itself.
            sleep(HELD_PAUSE).await;
        }
    }

    async fn touch(&self, gesture: Gesture) -> Result<(), Error> {
        if self.touch_by_helper(gesture).await? {
            return Ok(());
        }
        let level = match gesture {
            Gesture::DoubleTap { .. } | Gesture::Drag { .. } => self.api_level().await?,
            // The same on every release.
            Gesture::Tap { .. }
            | Gesture::LongPress { .. }
            | Gesture::Swipe { .. }
            | Gesture::Pinch { .. } => 0,
        };
        let Some(line) = input::touch_command(gesture, level) else {
            return Err(self.unsupported("this gesture"));
        };
        match gesture {
            Gesture::Tap { .. } => self.run_input("touch the screen", line).await,
            // Their time is the gesture's own.
            _ => self.run_silent("touch the screen", line).await,
        }
    }

    async fn type_text(&self, text: &str) -> Result<TypingMethod, Error> {
        self.type_anywhere(text).await
    }

    async fn press(&self, key: Key) -> Result<(), Error> {
        if self.press_by_helper(input::key_code(key), 1).await? {
            return Ok(());
        }
        self.run_input("press the key", input::key_command(key)).await
    }

    async fn apps(&self) -> Result<AppList, Error> {
        self.read_apps().await.map(AppList::from)
    }

    async fn launch(&self, app: &AppId, arguments: &[LaunchArgument]) -> Result<String, Error> {
        crate::app_name::check_name(app)?;
        match self.start_app(app, arguments).await {
            Err(Error::NoSuchApp { app: name }) => match self.is_installed(app).await? {
                true => Err(Error::NotLaunchable { app: name }),
                false => Err(self.no_such_app(app).await),
            },
            started => started,
        }
    }

    async fn stop(&self, app: &AppId) -> Result<(), Error> {
        crate::app_name::check_name(app)?;
        if let Some(legacy) = &self.legacy {
            return legacy.stop(self, app).await;
        }
        let output = self.ask(apps::stop_command(app, self.user().await?)?).await?;
        match self.explained(&output, apps::read_stop(app, &output)).await {
            Err(Error::NoSuchApp { .. }) => Err(self.no_such_app(app).await),
            stopped => stopped,
        }
    }

    async fn foreground(&self) -> Result<Foreground, Error> {
        self.read_front().await
    }

    async fn activity_in_front(&self) -> Result<Option<ForegroundApp>, Error> {
        self.front_by_helper().await
    }

    async fn info(&self) -> Result<DeviceInfo, Error> {
        self.read_info().await
    }

    async fn restore_borrowed(&self) {
        let removed = async { drop(self.uploads.write().await) };
        tokio::join!(self.helper.shut_down(), removed);
    }

    async fn disconnect(&self) {
        self.transport.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_output_is_an_error_if_there_is_no_status() {
        let output =
            |out: &str, status| CommandOutput { out: out.into(), err: String::new(), status };
        let missing = "/system/bin/sh: input: not found\r\n";
        let linker = "WARNING: linker: libx.so has text relocations.\r\n";
        assert_eq!(
            output(missing, None).unexpected().as_deref(),
            Some("\"/system/bin/sh: input: not found\"")
        );
        for (out, status) in [("", None), ("\r\n", None), (linker, None), (missing, Some(0))] {
            assert_eq!(output(out, status).unexpected(), None, "{out:?} {status:?}");
        }
    }

    #[test]
    fn noise_around_an_output_is_dropped() {
        let output = |text: &str| {
            let (stdout, stderr) = (text.as_bytes().to_vec(), Vec::new());
            CommandOutput::from(adb::CommandOutput { stdout, stderr, status: Some(0) }).out
        };
        assert_eq!(
            output(
                "WARNING: linker: Warning: failed to find generated linker configuration from \"/linkerconfig/ld.config.txt\"\n34\n"
            ),
            "34\n"
        );
        assert_eq!(output("[Warning] Multiple displays\r\none\r\nlibc: x\r\ntwo"), "one\ntwo");
        let real = "Warning: Activity not started\nWARNING: failed at 1920x1080\n";
        assert_eq!(output(real), real);
    }

    #[test]
    fn transport_errors_never_contain_typed_text() {
        let service = "shell,v2,raw:input text 'hunter2'".to_owned();
        let what = format!("get an answer to {service:?} from the adb server");
        let after = std::time::Duration::from_secs(10);
        let errors = [
            adb::Error::Refused { service: service.clone(), text: "closed".into() },
            adb::Error::TimedOut { what, after },
            adb::Error::TooLarge { what: format!("the output of {service:?}"), limit: 7 },
        ];
        for error in errors {
            let out = format!("{:?}", transport_error(error.clone(), SideEffect::Possible));
            assert!(!out.contains("hunter2"), "{out}");
        }
    }
}
