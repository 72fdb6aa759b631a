//! Files on the phone, by the sync service, `screencap` and `rm`. Parts of files are read in `read_range`.
//!
//! They are sent uncompressed: screenshots and recordings, the usual files here, do not compress further.

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_adb as adb;
use thumbwire_adb::services::sync::FileSync;
use tokio::io::AsyncWrite;

use super::{Android, ShellCommand, transport_error};
use crate::{DeviceFiles, Error, ScreenshotFiles, SideEffect};

#[async_trait]
impl ScreenshotFiles for Android {
    async fn screenshot_into(&self, path: &str) -> Result<(), Error> {
        self.run_silent("take a screenshot", screenshot_command(path)?).await
    }
}

#[async_trait]
impl DeviceFiles for Android {
    async fn fetch_file(
        &self,
        path: &str,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<u64, Error> {
        if path.contains('\0') {
            let reason =
                "it contains a NUL character, which is not allowed in paths; remove it".into();
            return Err(Error::Refused { what: "path", reason });
        }
        let pulled = async {
            let mut sync = FileSync::open(&*self.transport).await?;
            sync.pull(path, into).await
        };
        pulled.await.map_err(|error| match error {
            adb::Error::Phone { text, .. } => Error::Failed { what: "send the file", text },
            adb::Error::Local { reason, .. } => Error::Failed {
                what: "copy the file: cannot write it on this computer",
                text: reason,
            },
            error => transport_error(error, SideEffect::None),
        })
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

/// Saves a screenshot as PNG, whatever the file's extension.
fn screenshot_command(path: &str) -> Result<ShellCommand, Error> {
    ShellCommand::new("screencap -p --").arg(path)
}

/// Removes a file. With `-f`, a missing file is not an error.
fn remove_command(path: &str) -> Result<ShellCommand, Error> {
    ShellCommand::new("rm -f --").arg(path)
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
