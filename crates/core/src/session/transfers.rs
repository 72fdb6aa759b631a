//! Copies files to and from a phone.
//!
//! Start with [`SessionCall::push_file`] and [`SessionCall::pull_file`]. What may be read here is
//! decided by [`InputFolder`](crate::input_files::InputFolder), where files are written here by
//! [`ArtifactStore`](crate::artifacts::ArtifactStore), and which folders of the phone are allowed
//! by [`check_device_path`]. A copy is whole or does not exist, on either side.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use thumbwire_base::truncate;
use thumbwire_device::{FileDetails, FileKind};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::attached_device::AttachedDevice;
use super::{Session, SessionCall};
use crate::action::{
    Cause, Failure, MAX_NAME, Outcome, Progress, PushResult, check_device_path, check_name,
};
use crate::artifacts::{self, Folder};
use crate::input_files::{self, InputFile, MAX_SIZE};

impl Session {
    /// Opens a file that may be sent.
    pub(super) async fn input_file(&self, path: &str) -> Result<InputFile, Failure> {
        let folder = self.input.as_ref().ok_or(Cause::NoInputFolder)?;
        folder.open(path).map_err(|error| refuse_input(&error))
    }
}

impl SessionCall<'_> {
    /// Copies a local file to the phone.
    pub(super) async fn push_file(
        &self,
        path: &str,
        to: String,
        overwrite: bool,
    ) -> Result<Outcome, Failure> {
        // Both paths are checked before the phone is asked.
        let file = self.session.input_file(path).await?;
        let to = if to.ends_with('/') { to + file.name() } else { to };
        check_path(&to)?;
        let attached = self.attached().await?;
        let replaced = match attached.file_details(&to).await? {
            None => false,
            Some(FileDetails { kind: FileKind::File, .. }) if overwrite => true,
            Some(FileDetails { kind, .. }) => return Err(in_the_way(&to, kind)),
        };
        let (bytes, modified) = (file.length(), file.modified());
        let reader = file.into_reader().await.map_err(|error| refuse_input(&error))?;
        let mut reader = ReportingReader::new(reader, bytes, &self.call.progress);
        let storing = async {
            attached.device.device_files()?.store_file(&to, &mut reader, bytes, modified).await
        };
        attached.act_unseen(storing).await?;
        match attached.file_details(&to).await? {
            Some(FileDetails { kind: FileKind::File, size, .. }) if size == bytes => {
                Ok(Outcome::Pushed(PushResult { on_phone: to, bytes, replaced }))
            }
            found => {
                let size = found.map_or(0, |found| found.size);
                let text = format!("the phone has {size} of the {bytes} bytes of {to}");
                Err(Cause::DeviceError { text }.into())
            }
        }
    }

    /// Copies a file from the phone to a local one.
    pub(super) async fn pull_file(
        &self,
        path: &str,
        name: Option<String>,
    ) -> Result<Outcome, Failure> {
        check_path(path)?;
        let name = name.unwrap_or_else(|| path.rsplit('/').next().unwrap_or_default().to_owned());
        check_name(&name)
            .map_err(|reason| Cause::InvalidFileName { name: name.clone(), reason })?;
        let store = self.session.files.files()?;
        let attached = self.attached().await?;
        let shown = truncate(path, MAX_NAME);
        let details = match attached.file_details(path).await? {
            Some(details @ FileDetails { kind: FileKind::File, .. }) => details,
            Some(FileDetails { kind, .. }) => {
                let reason = format!("{shown} is {}; only files can be copied", describe(kind));
                return Err(Cause::InvalidArgument { reason }.into());
            }
            None => {
                let reason = format!("{shown} does not exist on the phone, or is not accessible");
                return Err(Cause::InvalidArgument { reason }.into());
            }
        };
        if details.size > MAX_SIZE {
            let reason = format!("{shown} has {} bytes; {MAX_SIZE} are allowed", details.size);
            return Err(Cause::Refused { reason }.into());
        }
        let local = |error: artifacts::Error| {
            let reason = format!("cannot {error}");
            Failure::from(Cause::Refused { reason })
        };
        let mut draft = store.begin(Folder::Files, &name).map_err(local)?;
        // The phone may report a wrong size, or the file may grow.
        let mut writer = LimitedWriter { inner: draft.writer().map_err(local)?, left: MAX_SIZE };
        let fetching =
            async { attached.device.device_files()?.fetch_file(path, &mut writer).await };
        fetching.await.map_err(|error| attached.failed(&error))?;
        draft.set_modified(details.modified).await.map_err(local)?;
        Ok(Outcome::Pulled(draft.persist().await.map_err(local)?))
    }
}

impl AttachedDevice {
    async fn file_details(&self, path: &str) -> Result<Option<FileDetails>, Failure> {
        let asking = async { self.device.device_files()?.file_details(path).await };
        asking.await.map_err(|error| self.failed(&error))
    }
}

/// The failure for a local file that cannot be sent.
pub(super) fn refuse_input(error: &input_files::Error) -> Failure {
    let reason = format!("cannot {}", truncate(&error.to_string(), 500));
    Cause::InvalidArgument { reason }.into()
}

fn check_path(path: &str) -> Result<(), Failure> {
    check_device_path(path).map_err(|reason| {
        let reason = format!("{:?}: {reason}", truncate(path, MAX_NAME));
        Cause::InvalidArgument { reason }.into()
    })
}

fn in_the_way(path: &str, kind: FileKind) -> Failure {
    let path = truncate(path, MAX_NAME);
    let next = match kind {
        FileKind::File => "; use `overwrite` to replace it, or another name",
        FileKind::Folder => "; to copy into it, end the path in `/`",
        FileKind::Link | FileKind::Other => "; use another name",
    };
    let reason = format!("{path} on the phone is {}{next}", describe(kind));
    Cause::InvalidArgument { reason }.into()
}

fn describe(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "an existing file",
        FileKind::Folder => "a folder",
        FileKind::Link => "a symbolic link",
        FileKind::Other => "not a regular file",
    }
}

/// Reports to the caller how much has been read, in steps of a tenth: a client that hears nothing
/// may give up.
pub(super) struct ReportingReader<'a, R> {
    inner: R,
    read: u64,
    total: u64,
    reported: u64,
    progress: &'a Arc<dyn Progress>,
}

impl<'a, R> ReportingReader<'a, R> {
    pub(super) fn new(inner: R, total: u64, progress: &'a Arc<dyn Progress>) -> Self {
        Self { inner, read: 0, total, reported: 0, progress }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for ReportingReader<'_, R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        const STEPS: u64 = 10;
        let before = into.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, into))?;
        self.read += (into.filled().len() - before) as u64;
        let step = self.read.saturating_mul(STEPS) / self.total.max(1);
        if step > self.reported {
            self.reported = step;
            let (sent, total) = (self.read >> 10, self.total >> 10);
            let text = format!("{sent} of {total} KiB sent to the phone");
            let done = u32::try_from(step.min(STEPS)).unwrap_or(u32::MAX);
            self.progress.report(done, u32::try_from(STEPS).ok(), &text);
        }
        Poll::Ready(Ok(()))
    }
}

/// A writer that refuses more than `left` bytes.
struct LimitedWriter<W> {
    inner: W,
    left: u64,
}

impl<W: AsyncWrite + Unpin> AsyncWrite for LimitedWriter<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        if data.len() as u64 > self.left {
            let text = format!("it has more than the {MAX_SIZE} bytes that are allowed");
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::FileTooLarge, text)));
        }
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, data))?;
        self.left -= written as u64;
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use thumbwire_base::lock;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[derive(Default)]
    struct Reports(Mutex<Vec<(u32, String)>>);

    impl Progress for Reports {
        fn report(&self, done: u32, total: Option<u32>, text: &str) {
            assert_eq!(total, Some(10));
            lock(&self.0).push((done, text.to_owned()));
        }
    }

    #[tokio::test]
    async fn progress_is_reported_in_tenths() {
        let reports = Arc::new(Reports::default());
        let progress: Arc<dyn Progress> = Arc::clone(&reports) as _;
        let bytes = vec![0; 50 << 10];
        let mut reader = ReportingReader::new(&bytes[..], bytes.len() as u64, &progress);
        let mut piece = vec![0; 1 << 10];
        while reader.read(&mut piece).await.unwrap() > 0 {}
        let reports = lock(&reports.0);
        assert_eq!(reports.len(), 10);
        assert_eq!(reports[4], (5, "25 of 50 KiB sent to the phone".to_owned()));
    }

    #[tokio::test]
    async fn writer_refuses_what_exceeds_its_limit() {
        let mut writer = LimitedWriter { inner: Vec::new(), left: 5 };
        writer.write_all(b"12345").await.unwrap();
        let error = writer.write_all(b"6").await.unwrap_err();
        assert!(error.to_string().contains("1073741824 bytes"), "{error}");
        assert_eq!(writer.inner, b"12345");
    }
}
