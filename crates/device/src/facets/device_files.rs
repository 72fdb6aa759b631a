//! Files on a phone.

use async_trait::async_trait;
use bytes::Bytes;
use tokio::io::AsyncWrite;

use crate::Error;

/// Reads and removes files on the phone.
#[async_trait]
pub trait DeviceFiles: Send + Sync {
    /// Copies a file from the phone. Returns its size in bytes.
    async fn fetch_file(
        &self,
        path: &str,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<u64, Error>;

    /// Reads part of a file on the phone: `length` bytes at offset `from`, fewer only at the end of the file.
    async fn read_file(&self, path: &str, from: u64, length: u64) -> Result<Bytes, Error>;

    /// Size of a file on the phone, in bytes.
    async fn file_length(&self, path: &str) -> Result<u64, Error>;

    /// Removes a file from the phone. A missing file is not an error.
    async fn remove_file(&self, path: &str) -> Result<(), Error>;
}
