//! Files of a session: what they are called, by the clock that is handed in, and how they come here from a phone.
//!
//! Begin with [`Session::save_screenshot`]. Names without a caller's wish are made of the time, and no two of a session are
//! the same. A file that could not be fetched is told beside what was done, since it lies on the phone: that is no
//! failure of the whole. Where files lie here is [`Keep`]'s matter, recordings and logs have rooms of their own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::civil::DateTime;
use thumbwire_device::{Device, Error};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use super::{Course, Session, lock};
use crate::action::{Call, Cause, Failure, Fetched, Outcome, Saved, check_name};
use crate::keep::{Folder, Keep};

/// Where files lie on a phone.
pub(super) const STORAGE: &str = "/sdcard";

/// The part of a call's time that is kept for telling that a file did not come.
const TELLING: Duration = Duration::from_millis(1500);

/// How long a file may take to come, as long as somebody wants it.
const FETCHING: Duration = Duration::from_secs(600);

/// How long a phone may take to remove a file that has been fetched.
const REMOVING: Duration = Duration::from_secs(1);

/// What a session knows of files.
pub(super) struct Saving {
    clock: Box<dyn Fn() -> DateTime + Send + Sync>,
    files: Option<Keep>,
    /// The last name of each kind that was made of the time, and how many were made of that second.
    stamps: Mutex<BTreeMap<&'static str, (String, u32)>>,
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    Picture,
    Video,
}

impl Content {
    /// How its name begins where none was wished, and its extension.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Picture => ("screenshot", "png"),
            Self::Video => ("recording", "mp4"),
        }
    }
}

impl Saving {
    pub(super) fn new() -> Self {
        Self { clock: Box::new(|| DateTime::ZERO), files: None, stamps: Mutex::default() }
    }

    /// `KIND_YYYYMMDD_HHMMSS` by the clock; the second of one second ends in `_2`.
    pub(super) fn stamp(&self, kind: &'static str) -> String {
        let now = (self.clock)().strftime("%Y%m%d_%H%M%S").to_string();
        let mut stamps = lock(&self.stamps);
        let (last, count) = stamps.entry(kind).or_default();
        *count = if *last == now { *count + 1 } else { 1 };
        last.clone_from(&now);
        if *count == 1 { now } else { format!("{now}_{count}") }
    }

    /// The name that a caller wishes, with its extension, or one of the time.
    pub(super) fn name(&self, wish: Option<String>, content: Content) -> Result<String, Failure> {
        let (kind, extension) = content.words();
        match wish {
            Some(wish) => with_extension(wish, extension),
            None => Ok(format!("{kind}_{}.{extension}", self.stamp(kind))),
        }
    }

    /// Where files are kept here.
    pub(super) fn files(&self) -> Result<&Keep, Failure> {
        let why = || Cause::Refused { why: "this session keeps no files".into() }.into();
        self.files.as_ref().ok_or_else(why)
    }

    /// Fetches a file until then, and removes it from the phone once it is here. Where that fails nothing stays here, and
    /// the file on the phone stays as it is.
    async fn fetch(&self, device: Arc<dyn Device>, wanted: Wanted, until: Instant) -> Fetched {
        let from = wanted.from.clone();
        let fetching = async { fetch(self.files().map_err(in_words)?, device, wanted).await };
        timeout_at(until, fetching).await.unwrap_or_else(|_| Err(late(&from)))
    }

    /// The same by a task of its own, for what may take longer than a call. Dropped, it is given up.
    pub(super) fn fetching(&self, device: Arc<dyn Device>, wanted: Wanted) -> JoinSet<Fetched> {
        let keep = self.files().cloned().map_err(in_words);
        let mut fetching = JoinSet::new();
        fetching.spawn(async move {
            let from = wanted.from.clone();
            let fetching = async { fetch(&keep?, device, wanted).await };
            timeout(FETCHING, fetching).await.unwrap_or_else(|_| Err(late(&from)))
        });
        fetching
    }

    /// Removes what is half written.
    pub(super) fn abandon(&self) {
        if let Some(files) = &self.files {
            files.abandon();
        }
    }
}

/// A file on a phone that is wanted here.
pub(super) struct Wanted {
    /// Where it lies there.
    pub(super) from: String,
    /// What it is to be called here.
    pub(super) name: String,
    pub(super) content: Content,
}

async fn fetch(keep: &Keep, device: Arc<dyn Device>, wanted: Wanted) -> Fetched {
    let Wanted { from, name, content } = wanted;
    let stays = |why: String| format!("{why}; it stays on the phone: {from}");
    let failed = |error: crate::keep::Error| stays(format!("failed to {error}"));
    let mut draft = keep.begin(Folder::Assets, &name).await.map_err(failed)?;
    let writer = draft.writer().map_err(failed)?;
    let fetched = device.fetch_file(&from, writer).await;
    match fetched.map_err(|error| stays(error.to_string()))? {
        0 => return Err(stays(format!("{from} is empty"))),
        _ if content == Content::Video => draft.check_video().await.map_err(failed)?,
        _ => {}
    }
    let here = draft.keep().await.map_err(failed)?;
    match timeout(REMOVING, device.remove_file(&from)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::info!("{from} was fetched and stays there: {error}"),
        Err(_) => tracing::info!("{from} was fetched and stays there: no answer"),
    }
    Ok(here)
}

fn late(from: &str) -> String {
    format!("it did not come in time; it stays on the phone: {from}")
}

fn in_words(failure: Failure) -> String {
    failure.cause.to_string()
}

/// Checks a name, and adds the extension where it is missing.
pub(super) fn with_extension(name: String, extension: &str) -> Result<String, Failure> {
    let has = name.rsplit_once('.').is_some_and(|(_, is)| is.eq_ignore_ascii_case(extension));
    match check_name(&name) {
        Ok(()) if has => Ok(name),
        Ok(()) => Ok(format!("{name}.{extension}")),
        Err(why) => Err(Cause::BadFileName { name, why }.into()),
    }
}

/// Until when a call may wait for a file.
pub(super) fn until(call: &Call) -> Instant {
    let left = call.deadline.saturating_duration_since(Instant::now());
    call.deadline - TELLING.min(left / 3)
}

impl Session {
    /// The same session, which keeps files here. Without, none are: pictures stay on the phone.
    pub fn with_files(mut self, files: Keep) -> Self {
        self.saving.files = Some(files);
        self
    }

    /// The same session with a clock, which tells the local time: files are called after it. Without, it is always the
    /// beginning of the year 0.
    pub fn with_clock(mut self, clock: impl Fn() -> DateTime + Send + Sync + 'static) -> Self {
        self.saving.clock = Box::new(clock);
        self
    }

    /// A picture into a file on the phone, and from there here.
    pub(super) async fn save_screenshot(
        &self,
        call: &Call,
        name: Option<String>,
        fetch: bool,
        course: &Course,
    ) -> Result<Outcome, Failure> {
        let name = self.saving.name(name, Content::Picture)?;
        let attached = self.attached(call, course).await?;
        let on_phone = format!("{STORAGE}/{name}");
        let taken = attached.device.screenshot_into(&on_phone).await;
        taken.map_err(|error| attached.failed(&error))?;
        let here = if fetch {
            let (from, name, content) = (on_phone.clone(), name.clone(), Content::Picture);
            let device = Arc::clone(&attached.device);
            Some(self.saving.fetch(device, Wanted { from, name, content }, until(call)).await)
        } else {
            None
        };
        Ok(Outcome::Saved(Saved { name, on_phone, here }))
    }

    /// The phone of this id, found to answer: a connection that has ended is let go and made anew.
    pub(super) async fn reach(&self, id: &str) -> Result<Arc<dyn Device>, Failure> {
        for _ in 0..2 {
            let course = Course::default();
            let attached = self.attach(id, &course).await?;
            match attached.device.probe().await {
                Ok(()) => return Ok(Arc::clone(&attached.device)),
                Err(Error::NotConnected { .. }) => self.let_go(attached),
                Err(error) => return Err(attached.failed(&error)),
            }
        }
        let why = "its connection ends as soon as it is made".into();
        Err(Cause::DeviceNotConnected { device: id.to_owned(), why }.into())
    }
}
