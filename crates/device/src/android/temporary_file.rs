//! A file that must not stay on the phone, whatever happens.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_adb::{self as adb, Transport};
use tokio::sync::OwnedRwLockReadGuard;
use tokio::time::timeout;

use super::{Android, ShellCommand};
use crate::Error;

/// How long removing it may take: a phone that does not answer keeps the file.
const REMOVAL: Duration = Duration::from_secs(10);

/// A file on the phone, to be created. If dropped, it is removed in the background: its call was
/// cancelled.
pub(super) struct TemporaryFile {
    path: String,
    transport: Arc<dyn Transport>,
    /// `None` once nothing is to be removed.
    removing: Option<(ShellCommand, OwnedRwLockReadGuard<()>)>,
}

impl TemporaryFile {
    /// A file in this folder, with a new name that begins with `thumbwire-` and ends with `end`;
    /// `hidden` puts a dot before it, so that no app takes it for one of its files. Nothing is
    /// created.
    pub(super) async fn new(
        device: &Android,
        folder: &str,
        hidden: bool,
        end: &str,
    ) -> Result<Self, Error> {
        let dot = if hidden { "." } else { "" };
        let path = format!("{folder}/{dot}thumbwire-{}{end}", random_hex::<8>()?);
        let command = remove_command(&path)?;
        let held = Arc::clone(&device.uploads).read_owned().await;
        let transport = Arc::clone(&device.transport);
        Ok(Self { path, transport, removing: Some((command, held)) })
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Forgets it: it has been moved to its place.
    pub(super) fn keep(mut self) {
        self.removing = None;
    }

    /// Removes it now. A failure is only logged: the caller has something better to report.
    pub(super) async fn remove(mut self) {
        let Some((command, _)) = &self.removing else { return };
        let removed = adb::services::shell::run(&*self.transport, command.as_str());
        match timeout(REMOVAL, removed).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!("cannot remove {} on the phone: {error}", self.path),
            Err(_) => tracing::warn!("cannot remove {} on the phone: no answer", self.path),
        }
        // Only now: until here, dropping it removes the file.
        self.removing = None;
    }
}

/// Removes a file. With `-f`, a missing file is not an error.
pub(super) fn remove_command(path: &str) -> Result<ShellCommand, Error> {
    ShellCommand::new("rm -f --").arg(path)
}

/// Random bytes in hexadecimal. Unguessable, because other programs may write into the same folder.
pub(super) fn random_hex<const BYTES: usize>() -> Result<String, Error> {
    let mut bytes = [0; BYTES];
    let filled = getrandom::fill(&mut bytes);
    let text = |error| format!("cannot get random bytes: {error}");
    filled.map_err(|error| Error::NotReady { what: "choose a name", text: text(error) })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let Some((command, held)) = self.removing.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let transport = Arc::clone(&self.transport);
        runtime.spawn(async move {
            let _held = held;
            let removed = adb::services::shell::run(&*transport, command.as_str());
            let _ = timeout(REMOVAL, removed).await;
        });
    }
}
