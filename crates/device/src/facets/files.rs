//! Files on a phone.

use async_trait::async_trait;
use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::Error;

/// Reads, writes and removes files on the phone, and saves screenshots there.
#[async_trait]
pub trait DeviceFiles: Send + Sync {
    /// Copies a file from the phone. Returns its size in bytes.
    async fn fetch_file(
        &self,
        path: &str,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<u64, Error>;

    /// Copies the `length` bytes of `from` into a file on the phone, which appears whole or not at
    /// all: an existing file is replaced at the end, and nothing else stays there, even if the call
    /// is cancelled. Missing folders are created. `modified` is its modification time, in seconds
    /// since 1970.
    async fn store_file(
        &self,
        path: &str,
        from: &mut (dyn AsyncRead + Send + Unpin),
        length: u64,
        modified: u32,
    ) -> Result<(), Error>;

    /// What is at a path, without following a link; `None` if nothing is, or the phone does not
    /// report it.
    async fn file_details(&self, path: &str) -> Result<Option<FileDetails>, Error>;

    /// Reads part of a file on the phone: `length` bytes at offset `from`, fewer only at the end of
    /// the file.
    async fn read_file(&self, path: &str, from: u64, length: u64) -> Result<Bytes, Error>;

    /// Size of a file on the phone, in bytes.
    async fn file_length(&self, path: &str) -> Result<u64, Error>;

    /// Removes a file from the phone. A missing file is not an error.
    async fn remove_file(&self, path: &str) -> Result<(), Error>;

    /// Saves a PNG screenshot to a file on the phone. The file keeps the screen's own pixels,
    /// whatever size [`Device::screenshot`](crate::Device::screenshot) serves.
    async fn screenshot_into(&self, path: &str) -> Result<(), Error>;
}

/// What a phone reports about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileDetails {
    /// What it is.
    pub kind: FileKind,
    /// Size in bytes. Phones before Android 8 report it modulo 4 GiB.
    pub size: u64,
    /// Modification time, in seconds since 1970.
    pub modified: u64,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, wherever it points.
    Link,
    /// A pipe, a socket, a device.
    Other,
}
