//! Files of a session: their names, from an injected clock, and how they are fetched from a phone.
//!
//! Start with [`SessionCall::save_screenshot`]. A file without a requested name is named after the
//! time, and names are unique within a session. If a file cannot be fetched, the action still
//! succeeds and reports that, since the file is on the phone. [`ArtifactStore`] decides where local
//! files go; recordings and logs have their own modules.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::civil::DateTime;
use thumbwire_base::lock;
use thumbwire_device::{Device, Error};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use super::{Session, SessionCall};
use crate::action::{Call, Cause, Failure, FetchResult, Outcome, SavedScreenshot, check_name};
use crate::artifacts::{ArtifactStore, Folder};

/// Where files are stored on a phone.
pub(super) const STORAGE: &str = "/sdcard";

/// The part of a call's time reserved for reporting that a file was not fetched.
const REPORTING: Duration = Duration::from_millis(1500);

/// How long a transfer may take while somebody waits for it.
const FETCHING: Duration = Duration::from_secs(600);

/// How long a phone may take to delete a fetched file.
const REMOVING: Duration = Duration::from_secs(1);

/// File naming and storage of a session.
pub(super) struct LocalFiles {
    clock: fn() -> DateTime,
    files: Option<ArtifactStore>,
    /// The last timestamp of each kind, and how many names were made with it.
    stamps: Mutex<BTreeMap<&'static str, (String, u32)>>,
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaKind {
    Picture,
    Video,
}

impl MediaKind {
    /// The default name prefix and the extension.
    fn verbs(self) -> (&'static str, &'static str) {
        match self {
            Self::Picture => ("screenshot", "png"),
            Self::Video => ("recording", "mp4"),
        }
    }
}

impl LocalFiles {
    pub(super) fn new(files: Option<ArtifactStore>, clock: fn() -> DateTime) -> Self {
        Self { clock, files, stamps: Mutex::default() }
    }

    /// `KIND_YYYYMMDD_HHMMSS` by the clock; the second name within one second ends in `_2`.
    pub(super) fn stamp(&self, kind: &'static str) -> String {
        let now = (self.clock)().strftime("%Y%m%d_%H%M%S").to_string();
        let mut stamps = lock(&self.stamps);
        let (last, count) = stamps.entry(kind).or_default();
        *count = if *last == now { *count + 1 } else { 1 };
        last.clone_from(&now);
        if *count == 1 { now } else { format!("{now}_{count}") }
    }

    /// The requested name, with its extension, or one made from the time.
    pub(super) fn name(
        &self,
        requested: Option<String>,
        content: MediaKind,
    ) -> Result<String, Failure> {
        let (kind, extension) = content.verbs();
        match requested {
            Some(requested) => with_extension(requested, extension),
            None => Ok(format!("{kind}_{}.{extension}", self.stamp(kind))),
        }
    }

    /// The local store.
    pub(super) fn files(&self) -> Result<&ArtifactStore, Failure> {
        let reason =
            || Cause::Refused { reason: "this session has no directory for files".into() }.into();
        self.files.as_ref().ok_or_else(reason)
    }

    /// Fetches a file before the deadline and deletes it on the phone. On failure nothing stays
    /// here, and the phone keeps its file.
    async fn fetch(
        &self,
        device: Arc<dyn Device>,
        request: FetchRequest,
        until: Instant,
    ) -> FetchResult {
        let from = request.from.clone();
        let fetching =
            async { fetch(self.files().map_err(describe_failure)?, device, request).await };
        timeout_at(until, fetching).await.unwrap_or_else(|_| Err(late(&from)))
    }

    /// Fetches a file in a separate task, for transfers longer than a call. Dropping it aborts the
    /// transfer.
    pub(super) fn fetching(
        &self,
        device: Arc<dyn Device>,
        request: FetchRequest,
    ) -> JoinSet<FetchResult> {
        let store = self.files().cloned().map_err(describe_failure);
        let mut fetching = JoinSet::new();
        fetching.spawn(async move {
            let from = request.from.clone();
            let fetching = async { fetch(&store?, device, request).await };
            timeout(FETCHING, fetching).await.unwrap_or_else(|_| Err(late(&from)))
        });
        fetching
    }

    /// Removes partial files.
    pub(super) fn abandon(&self) {
        if let Some(files) = &self.files {
            files.discard();
        }
    }
}

/// A file on a phone to fetch.
pub(super) struct FetchRequest {
    /// Its path on the phone.
    pub(super) from: String,
    /// Its local name.
    pub(super) name: String,
    pub(super) content: MediaKind,
}

async fn fetch(
    store: &ArtifactStore,
    device: Arc<dyn Device>,
    request: FetchRequest,
) -> FetchResult {
    let FetchRequest { from, name, content } = request;
    let stays = |reason: String| format!("{reason}; the file is still on the phone: {from}");
    let failed = |error: crate::artifacts::Error| stays(format!("failed to {error}"));
    let mut draft = store.begin(Folder::Assets, &name).map_err(failed)?;
    let writer = draft.writer().map_err(failed)?;
    let files = device.device_files().map_err(|error| stays(error.to_string()))?;
    let fetched = files.fetch_file(&from, writer).await;
    match fetched.map_err(|error| stays(error.to_string()))? {
        0 => return Err(stays(format!("{from} is empty"))),
        _ if content == MediaKind::Video => draft.check_video().await.map_err(failed)?,
        _ => {}
    }
    let here = draft.persist().await.map_err(failed)?;
    match timeout(REMOVING, files.remove_file(&from)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::info!("fetched {from} but could not delete it on the phone: {error}")
        }
        Err(_) => tracing::info!("fetched {from} but could not delete it on the phone: no answer"),
    }
    Ok(here)
}

fn late(from: &str) -> String {
    format!("the transfer timed out; the file is still on the phone: {from}")
}

fn describe_failure(failure: Failure) -> String {
    failure.cause.to_string()
}

/// Checks a name and adds the extension if it is missing.
pub(super) fn with_extension(name: String, extension: &str) -> Result<String, Failure> {
    let has = name.rsplit_once('.').is_some_and(|(_, is)| is.eq_ignore_ascii_case(extension));
    match check_name(&name) {
        Ok(()) if has => Ok(name),
        Ok(()) => Ok(format!("{name}.{extension}")),
        Err(reason) => Err(Cause::InvalidFileName { name, reason }.into()),
    }
}

/// How long a call may wait for a file.
pub(super) fn until(call: &Call) -> Instant {
    let left = call.deadline.saturating_duration_since(Instant::now());
    call.deadline - REPORTING.min(left / 3)
}

impl SessionCall<'_> {
    /// Saves a screenshot to a file on the phone and fetches it.
    pub(super) async fn save_screenshot(
        &self,
        name: Option<String>,
        fetch: bool,
    ) -> Result<Outcome, Failure> {
        let name = self.session.files.name(name, MediaKind::Picture)?;
        let attached = self.attached().await?;
        let on_phone = format!("{STORAGE}/{name}");
        let taking = async { attached.device.screenshot_files()?.screenshot_into(&on_phone).await };
        taking.await.map_err(|error| attached.failed(&error))?;
        let here = if fetch {
            let (from, name, content) = (on_phone.clone(), name.clone(), MediaKind::Picture);
            let device = Arc::clone(&attached.device);
            let request = FetchRequest { from, name, content };
            Some(self.session.files.fetch(device, request, until(self.call)).await)
        } else {
            None
        };
        Ok(Outcome::ScreenshotSaved(SavedScreenshot { name, on_phone, local_file: here }))
    }
}

impl Session {
    /// The phone with this id, after a successful probe; a dead connection is replaced.
    pub(super) async fn reach(&self, id: &str) -> Result<Arc<dyn Device>, Failure> {
        for _ in 0..2 {
            let attached = self.connected(id).await?;
            match attached.device.probe().await {
                Ok(()) => return Ok(Arc::clone(&attached.device)),
                Err(Error::NotConnected { reason, .. }) => {
                    self.drop_connection(&attached, &reason);
                }
                Err(error) => return Err(attached.failed(&error)),
            }
        }
        let reason = "the connection closes as soon as it is opened".into();
        Err(Cause::DeviceNotConnected { device: id.to_owned(), reason }.into())
    }
}
