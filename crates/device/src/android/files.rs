//! Files on the phone, by the sync service, `screencap` and `rm`. Parts of files are read in
//! `read_range`.
//!
//! A file is written under another name and then renamed, so that it appears whole or not at all.
//!
//! They are sent uncompressed: screenshots and recordings, the usual files here, do not compress
//! further.

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_adb as adb;
use thumbwire_adb::services::sync::{self, FileSync};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};

use super::temporary_file::{TemporaryFile, remove_command};
use super::{Android, ShellCommand, transport_error};
use crate::error::excerpt;
use crate::{DeviceFiles, Error, FileDetails, FileKind, SideEffect};

/// A regular file that its owner and group may write and others read: what `adb push` makes of an
/// ordinary file.
const MODE: u32 = 0o100_644;

#[async_trait]
impl DeviceFiles for Android {
    async fn screenshot_into(&self, path: &str) -> Result<(), Error> {
        self.run_silent("take a screenshot", screenshot_command(path)?).await
    }

    async fn fetch_file(
        &self,
        path: &str,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<u64, Error> {
        refuse_nul(path)?;
        let pulled = async {
            let mut sync = FileSync::open(&*self.transport).await?;
            sync.pull(path, into).await
        };
        pulled.await.map_err(|error| match error {
            adb::Error::Phone { text, .. } => {
                Error::Failed { what: "send the file", text: excerpt(text) }
            }
            adb::Error::Local { reason, .. } => Error::Failed {
                what: "copy the file: cannot write it on this computer",
                text: reason,
            },
            error => transport_error(error, SideEffect::None),
        })
    }

    async fn store_file(
        &self,
        path: &str,
        from: &mut (dyn AsyncRead + Send + Unpin),
        length: u64,
        modified: u32,
    ) -> Result<(), Error> {
        refuse_nul(path)?;
        let Some((folder, _)) = path.rsplit_once('/') else {
            let reason = "it is not absolute; begin it with `/`".into();
            return Err(Error::Refused { what: "path", reason });
        };
        let part = TemporaryFile::new(self, folder, true, ".part").await?;
        let stored = async {
            self.push(part.path(), from, length, modified).await?;
            self.run_silent("rename the file", rename_command(part.path(), path)?).await
        };
        match stored.await {
            Ok(()) => {
                part.keep();
                Ok(())
            }
            Err(error) => {
                part.remove().await;
                Err(error)
            }
        }
    }

    async fn file_details(&self, path: &str) -> Result<Option<FileDetails>, Error> {
        refuse_nul(path)?;
        let found = sync::details_if_exists(&*self.transport, path).await;
        let found = found.map_err(|error| match error {
            adb::Error::Phone { text, .. } => {
                Error::Failed { what: "look at the path", text: excerpt(text) }
            }
            error => transport_error(error, SideEffect::None),
        })?;
        Ok(found.map(|stat| FileDetails {
            kind: kind(stat.mode),
            size: stat.size,
            modified: u64::try_from(stat.mtime).unwrap_or(0),
        }))
    }

    async fn read_file(&self, path: &str, from: u64, length: u64) -> Result<Bytes, Error> {
        self.read_range(path, from, length).await
    }

    async fn file_length(&self, path: &str) -> Result<u64, Error> {
        self.length_of(path).await
    }

    async fn remove_file(&self, path: &str) -> Result<(), Error> {
        self.run_silent("remove the file", remove_command(path)?).await
    }
}

impl Android {
    /// Writes a file by the sync service, which creates missing folders.
    pub(super) async fn push(
        &self,
        path: &str,
        from: &mut (dyn AsyncRead + Send + Unpin),
        length: u64,
        modified: u32,
    ) -> Result<(), Error> {
        let pushed = async {
            let mut sync = FileSync::open(&*self.transport).await?;
            sync.push(path, MODE, modified, from.take(length)).await
        };
        let pushed = pushed.await.map_err(|error| match error {
            adb::Error::Phone { text, .. } => not_written(&text),
            adb::Error::Local { reason, .. } => unreadable(reason),
            error => transport_error(error, SideEffect::None),
        })?;
        if pushed == length { Ok(()) } else { Err(shorter(pushed, length)) }
    }
}

/// The error for a file on this computer that cannot be read.
pub(super) fn unreadable(reason: String) -> Error {
    let reason = format!("it cannot be read on this computer: {reason}");
    Error::Refused { what: "file", reason }
}

/// The error for a file that the phone does not write; it has removed what it had.
fn not_written(text: &str) -> Error {
    let next = if text.contains("No space left") {
        "free storage on the phone"
    } else {
        "choose another folder"
    };
    Error::Refused {
        what: "file",
        reason: format!("the phone cannot write it: {}; {next}", excerpt(text)),
    }
}

/// The error for a file on this computer that ended early.
pub(super) fn shorter(read: u64, length: u64) -> Error {
    unreadable(format!("it has only {read} of {length} bytes left; it changed meanwhile"))
}

fn refuse_nul(path: &str) -> Result<(), Error> {
    if path.contains('\0') {
        let reason = "it contains a NUL character, which is not allowed in paths; remove it".into();
        return Err(Error::Refused { what: "path", reason });
    }
    Ok(())
}

/// `S_IFMT` and its values (`sys/stat.h`).
fn kind(mode: u32) -> FileKind {
    match mode & 0o170_000 {
        0o100_000 => FileKind::File,
        0o040_000 => FileKind::Folder,
        0o120_000 => FileKind::Link,
        _ => FileKind::Other,
    }
}

/// Renames a file, replacing another one. Both paths are absolute, so neither can be an option: the
/// `mv` of Android 4.4 has no `--`. It asks nothing, because its input is not a terminal.
fn rename_command(from: &str, to: &str) -> Result<ShellCommand, Error> {
    ShellCommand::new("mv").arg(from)?.arg(to)
}

/// Saves a screenshot as PNG, whatever the file's extension.
fn screenshot_command(path: &str) -> Result<ShellCommand, Error> {
    ShellCommand::new("screencap -p --").arg(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_quoted_and_cannot_be_an_option() {
        let line = remove_command("-r /'s").unwrap();
        assert_eq!(line.as_str(), r"rm -f -- '-r /'\''s'");
        let line = screenshot_command("/sdcard/a b.png").unwrap();
        assert_eq!(line.as_str(), "screencap -p -- '/sdcard/a b.png'");
        assert!(remove_command("/sdcard/\0").is_err());
    }
}
