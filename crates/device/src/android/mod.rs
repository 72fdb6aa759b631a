//! Android over ADB: one file a subject, each command beside the reader of what it prints.
//!
//! Begin with [`Android`], which asks the phone's shell and sorts the wire's errors; then [`ui`](mod@ui) for trees,
//! `screen` for pictures, `display` for sizes, `turning`, `input` and `keyboard` for touches and text, `apps`; `logs`,
//! `record`, `files` and `health`; for what apps offer to programs `services`, `packages`, `ranges` of files, `intents`, `functions` and
//! the `helper`. Only [`line`](mod@line) puts words into a shell command, and it quotes them. Nothing here
//! waits, retries or remembers a screen, but that a keyboard app is waited for until it is there, and a recording until it
//! has begun.

mod apps;
mod blank;
mod display;
mod files;
mod functions;
mod health;
mod helper;
mod info;
mod input;
mod intents;
mod keyboard;
mod line;
mod logs;
mod packages;
mod ranges;
mod raw;
mod record;
mod screen;
mod services;
mod turning;
pub mod ui;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_adb::{self as adb, Stream, Transport};
use tokio::io::AsyncWrite;

use crate::error::excerpt;
use crate::{
    Abilities, Acted, App, AppId, Component, Delivery, Detail, Device, Error, Foreground, Gesture,
    Health, Identity, Info, Key, Letter, LogEntry, LogFilter, LogStream, Orientation, Package,
    Platform, Recording, RecordingWish, Screenshot, Size, Tree, TurnedBy, TypedBy,
};
use line::Line;

/// The longest answer that is taken: a raw picture of a large screen has some 20 MB.
const LONGEST: usize = 64 << 20;

/// An Android phone behind a transport.
pub struct Android {
    transport: Arc<dyn Transport>,
    identity: Identity,
    exec_refused: AtomicBool,
    /// It has warned that its pictures may be of any of its panels.
    several_panels: AtomicBool,
    png_refused: AtomicBool,
    keyboards: keyboard::Keyboards,
    old: OnceLock<bool>,
    /// Its API level, once it was asked for.
    level: OnceLock<u32>,
    helper: helper::Helper,
}

impl Android {
    /// A handle on the phone at the far end of `transport`, which is connected if it is not yet.
    ///
    /// `id` is the name by which callers choose this phone.
    pub async fn attach(id: &str, transport: Arc<dyn Transport>) -> Result<Self, Error> {
        let banner =
            transport.banner().await.map_err(|error| match unreached(error, Acted::No) {
                // Something else listens at that address.
                Error::Unreadable { said: why, .. } => {
                    Error::NotConnected { why, acted: Acted::No }
                }
                error => error,
            })?;
        let model = banner.model().unwrap_or_default().replace('_', " ");
        let identity = Identity { id: id.to_owned(), platform: Platform::Android, model };
        Ok(Self {
            transport,
            identity,
            exec_refused: AtomicBool::new(false),
            several_panels: AtomicBool::new(false),
            png_refused: AtomicBool::new(false),
            keyboards: keyboard::Keyboards::default(),
            old: OnceLock::new(),
            level: OnceLock::new(),
            helper: helper::Helper::default(),
        })
    }

    /// Runs a command in the phone's shell and gives what it printed.
    async fn ask(&self, line: Line) -> Result<Said, Error> {
        let line = match line.for_old_scripts() {
            Some(past) if self.is_old().await? => past,
            _ => line,
        };
        let output = adb::services::shell::run(&*self.transport, line.as_str())
            .await
            .map_err(|error| unreached(error, Acted::Maybe))?;
        Ok(output.into())
    }

    /// Whether this is a phone before Android 7: its shell tells no exit status, and its scripts are not to be trusted with
    /// words that hold more than letters. It is asked once.
    async fn is_old(&self) -> Result<bool, Error> {
        if let Some(old) = self.old.get() {
            return Ok(*old);
        }
        let features = self.transport.features().await;
        let features = features.map_err(|error| unreached(error, Acted::No))?;
        Ok(*self.old.get_or_init(|| !features.has(adb::wire::banner::SHELL_V2)))
    }

    /// Runs a command whose output is bytes. Phones before Android 5 have no service for that: theirs come through
    /// the shell's terminal, which writes each line end as `\r\n`.
    async fn fetch(&self, line: Line) -> Result<Bytes, Error> {
        let fetched = async {
            let stream = match self.open_exec(&line).await? {
                Some(stream) => stream,
                None => self.transport.open(&format!("shell:{}", line.as_str())).await?,
            };
            adb::services::shell::read_to_end(stream, LONGEST).await
        };
        fetched.await.map(Bytes::from).map_err(|error| unreached(error, Acted::No))
    }

    /// `None` from a phone that has no `exec:`; it is asked once.
    async fn open_exec(&self, line: &Line) -> Result<Option<Stream>, adb::Error> {
        if self.exec_refused.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match adb::services::shell::exec(&*self.transport, line.as_str()).await {
            Ok(stream) => Ok(Some(stream)),
            Err(adb::Error::Refused { .. }) => {
                self.exec_refused.store(true, Ordering::Relaxed);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Runs a command that prints nothing when all went well.
    async fn order(&self, what: &'static str, line: Line) -> Result<(), Error> {
        let said = self.ask(line).await?;
        match said.complaint().or_else(|| said.unexpected()) {
            None => Ok(()),
            Some(complaint) => Err(Error::Failed { what, said: complaint }),
        }
    }
}

/// What a command printed. Phones without shell v2 give no status and mix both streams into `out`.
struct Said {
    out: String,
    err: String,
    status: Option<i32>,
}

impl From<adb::Output> for Said {
    fn from(output: adb::Output) -> Self {
        Self {
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            status: output.status,
        }
    }
}

impl Said {
    /// The phone's words if it says that something went wrong. Old phones answer status 0 to everything, and
    /// `input` prints its exceptions with status 0 on some: so the words count too.
    fn complaint(&self) -> Option<String> {
        let words = if self.err.trim().is_empty() { &self.out } else { &self.err };
        let failed = self.status.is_some_and(|status| status != 0);
        let marked = ["Exception", "Error:", "error:", "usage:", "Usage:", "Killed"];
        (failed || marked.iter().any(|mark| words.contains(mark))).then(|| match self.status {
            Some(status) if status != 0 => format!("{} (exit status {status})", excerpt(words)),
            _ => excerpt(words),
        })
    }

    /// What a command that should have said nothing said, where no status tells how it ended. The linker of Android 4.4 to 6
    /// warns of libraries at every start; those words are no complaint.
    fn unexpected(&self) -> Option<String> {
        let odd = |line: &&str| !line.trim().is_empty() && !line.starts_with("WARNING: linker:");
        let words: Vec<&str> = self.out.lines().filter(odd).collect();
        (self.status.is_none() && !words.is_empty()).then(|| excerpt(words.join("\n")))
    }
}

/// Sorts an error of the wire. `acted` tells what a loss during the call would mean. The service that was asked for
/// is not named: it holds the command, and with it what was typed, which may be a password.
fn unreached(error: adb::Error, acted: Acted) -> Error {
    use adb::Error as Wire;
    let acted = if error.may_have_happened() { acted } else { Acted::No };
    let why = match &error {
        Wire::Refused { said, .. } => said.clone(),
        Wire::TimedOut { after, .. } => format!("no answer within {after:?}"),
        Wire::TooLarge { limit, .. } => format!("more than {limit} bytes"),
        error => format!("failed to {error}"),
    };
    match error {
        Wire::NotReachable { .. }
        | Wire::Vanished { .. }
        | Wire::Offline { .. }
        | Wire::NoSuchDevice { .. }
        | Wire::TimedOut { .. } => Error::NotConnected { why, acted },
        Wire::Unauthorized { .. } => Error::Unauthorized { why },
        Wire::Refused { .. } => Error::Failed { what: "open a service", said: why },
        Wire::TooLarge { .. } => Error::Failed { what: "take or give so much at once", said: why },
        Wire::Phone { .. } | Wire::Local { .. } => Error::Failed { what: "answer", said: why },
        // What is not known is a gap of ours.
        _ => Error::Unreadable { command: "adb".into(), said: why },
    }
}

#[async_trait]
impl Device for Android {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn abilities(&self) -> Abilities {
        Abilities { orientation: true, logs: true, recordings: true, files: true }
    }

    async fn probe(&self) -> Result<(), Error> {
        self.ask(Line::new("true")).await.map(drop)
    }

    async fn screen_size(&self) -> Result<Size, Error> {
        self.display().await.map(|display| display.size)
    }

    async fn screenshot(&self) -> Result<Screenshot, Error> {
        let picture = self.take_picture().await?;
        self.name_blank(picture).await
    }

    async fn tree(&self, detail: Detail) -> Result<Tree, Error> {
        let said = self.fetch(ui::dump_command(detail)).await?;
        ui::read_dump(&said)
    }

    async fn touch(&self, gesture: Gesture) -> Result<(), Error> {
        self.order("touch the screen", input::touch_command(gesture)).await
    }

    async fn type_text(&self, text: &str) -> Result<TypedBy, Error> {
        let commands = match input::way_to_type(text)? {
            input::Way::Keys(commands) => commands,
            input::Way::Keyless(odd) => return self.type_by_keyboard(text, odd).await,
        };
        for (sent, line) in commands.into_iter().enumerate() {
            self.order("type", line).await.map_err(|error| input::partly(error, sent))?;
        }
        Ok(TypedBy::Keys)
    }

    async fn check_text(&self, text: &str) -> Result<(), Error> {
        match input::way_to_type(text)? {
            input::Way::Keys(_) => Ok(()),
            input::Way::Keyless(odd) => self.find_keyboard(odd).await.map(drop),
        }
    }

    async fn settle(&self) {
        tokio::join!(self.keyboards.settle(), self.helper.settle());
    }

    async fn erase(&self, characters: usize) -> Result<(), Error> {
        for line in input::erase_commands(characters) {
            self.order("erase", line).await?;
        }
        Ok(())
    }

    async fn press(&self, key: Key) -> Result<(), Error> {
        self.order("press the key", input::key_command(key)).await
    }

    async fn apps(&self) -> Result<Vec<App>, Error> {
        self.read_apps().await
    }

    async fn launch(&self, app: &AppId) -> Result<String, Error> {
        if !apps::is_a_name(app) && self.is_old().await? {
            return Err(Error::NoSuchApp { app: app.0.clone() });
        }
        let said = self.ask(apps::launch_command(app)?).await?;
        apps::read_launch(app, &said)
    }

    async fn stop(&self, app: &AppId) -> Result<(), Error> {
        let said = self.ask(apps::stop_command(app)?).await?;
        apps::read_stop(app, &said)
    }

    async fn clear_data(&self, app: &AppId) -> Result<(), Error> {
        let said = self.ask(apps::clear_command(app)?).await?;
        apps::read_clear(app, &said)
    }

    async fn permit(&self, app: &AppId, permission: &str, granted: bool) -> Result<(), Error> {
        let said = self.ask(apps::permit_command(app, permission, granted)?).await?;
        apps::read_permit(app, permission, &said)
    }

    async fn foreground(&self) -> Result<Option<Foreground>, Error> {
        let said = self.ask(apps::focus_command()).await?;
        apps::read_focus(&said.out)
    }

    async fn info(&self) -> Result<Info, Error> {
        self.read_info().await
    }

    async fn properties(&self) -> Result<Vec<(String, String)>, Error> {
        let said = self.ask(info::properties_command()).await?;
        Ok(info::read_properties(&said.out))
    }

    async fn orientation(&self) -> Result<Orientation, Error> {
        self.display().await.map(|display| display.orientation())
    }

    async fn set_orientation(&self, orientation: Orientation, owner: &str) -> Result<(), Error> {
        self.turn(orientation, owner).await
    }

    async fn restore_orientation(&self, turned: TurnedBy<'_>) -> Result<bool, Error> {
        self.turn_back(turned).await
    }

    async fn logs(&self, filter: &LogFilter, most: usize) -> Result<Vec<LogEntry>, Error> {
        self.read_logs(filter, most).await
    }

    async fn clear_logs(&self) -> Result<(), Error> {
        self.empty_log().await
    }

    async fn follow_logs(
        &self,
        filter: &LogFilter,
        last: Option<&LogEntry>,
    ) -> Result<Box<dyn LogStream>, Error> {
        self.follow(filter, last).await
    }

    async fn record(&self, wish: &RecordingWish) -> Result<Box<dyn Recording>, Error> {
        self.begin_recording(wish).await
    }

    async fn screenshot_into(&self, path: &str) -> Result<(), Error> {
        self.order("take a picture", files::screenshot_command(path)?).await
    }

    async fn fetch_file(
        &self,
        path: &str,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<u64, Error> {
        self.pull(path, into).await
    }

    async fn remove_file(&self, path: &str) -> Result<(), Error> {
        self.order("remove the file", files::remove_command(path)?).await
    }

    async fn read_file(&self, path: &str, from: u64, length: u64) -> Result<Bytes, Error> {
        self.read_range(path, from, length).await
    }

    async fn file_length(&self, path: &str) -> Result<u64, Error> {
        self.length_of(path).await
    }

    async fn services(&self, action: &str) -> Result<Vec<Component>, Error> {
        self.find_services(action).await
    }

    async fn package(&self, app: &AppId) -> Result<Package, Error> {
        self.look_into(app).await
    }

    async fn start_service(&self, letter: &Letter) -> Result<(), Error> {
        self.post(letter).await
    }

    async fn courier(&self, letter: &Letter, limit: Duration) -> Result<Delivery, Error> {
        self.carry(letter, limit).await
    }

    async fn app_functions(&self, app: Option<&AppId>) -> Result<String, Error> {
        self.list_functions(app).await
    }

    async fn call_app_function(
        &self,
        app: &AppId,
        function: &str,
        parameters: &str,
    ) -> Result<String, Error> {
        self.call_function(app, function, parameters).await
    }

    async fn health(&self) -> Result<Health, Error> {
        Ok(self.check_health().await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_status_whatever_is_said_to_an_order_is_a_complaint() {
        let said = |out: &str, status| Said { out: out.into(), err: String::new(), status };
        let missing = "/system/bin/sh: input: not found\r\n";
        let linker = "WARNING: linker: libx.so has text relocations.\r\n";
        assert_eq!(
            said(missing, None).unexpected().as_deref(),
            Some("/system/bin/sh: input: not found")
        );
        for (out, status) in [("", None), ("\r\n", None), (linker, None), (missing, Some(0))] {
            assert_eq!(said(out, status).unexpected(), None, "{out:?} {status:?}");
        }
    }

    #[test]
    fn what_was_typed_stands_in_no_error_of_the_wire() {
        let service = "shell,v2,raw:input text 'hunter2'".to_owned();
        let what = format!("get an answer to {service:?} from the adb server");
        let after = std::time::Duration::from_secs(10);
        let errors = [
            adb::Error::Refused { service: service.clone(), said: "closed".into() },
            adb::Error::TimedOut { what, after },
            adb::Error::TooLarge { what: format!("the output of {service:?}"), limit: 7 },
        ];
        for error in errors {
            let told = format!("{:?}", unreached(error.clone(), Acted::Maybe));
            assert!(!told.contains("hunter2"), "{told}");
        }
    }
}
