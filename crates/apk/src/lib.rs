//! Reads Android packages: manifest, resources, compiled XML files and signer certificates.
//!
//! Start with [`Apk::open`]. It takes a [`Source`] that reads byte ranges, because a package of
//! many megabytes is on a phone and only its tail and a few entries are needed. Packages come from
//! strangers, so [`Limits`] bound everything that a file declares.
//!
//! `archive` finds files in the package and `ranges` caches what was read. `xml` and
//! `resource_table` are the two compiled formats; both consist of chunks (`chunk`) with a string
//! pool (`string_pool`). `manifest` combines them; `signing` and `der` find certificates. Unusual
//! files are read as Android reads them (AOSP's libziparchive and androidfw), because such packages
//! work on phones. Nothing here verifies a signature or a checksum: the phone did that at
//! installation.
//!
//! Why not the crates `apk-info-axml` and `rawzip`? `apk-info-axml` returns every value as text, so
//! a reference looks like a string; it picks a resource of any configuration in hash map order, and
//! follows circular references until the stack overflows. `rawzip` needs the whole package in
//! memory or a blocking reader (our tests compare against it). The virtual phone has its own reader
//! and never uses this one, so the two cannot share a bug.

mod apk;
mod archive;
mod chunk;
mod configuration;
mod der;
mod manifest;
mod ranges;
mod resource_table;
mod signing;
mod string_pool;
pub mod xml;

use async_trait::async_trait;
use bytes::Bytes;

pub use apk::Apk;
pub use configuration::resource_language;
pub use manifest::{IntentFilter, LauncherEntry, Manifest, MetaData, Service};
pub use signing::{Certificate, Scheme};

/// Reads byte ranges of a package.
#[async_trait]
pub trait Source: Send + Sync {
    /// The length in bytes.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    async fn length(&self) -> Result<u64, String>;

    /// `length` bytes at offset `from`; fewer only at the end of the package.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    async fn read(&self, from: u64, length: u64) -> Result<Bytes, String>;
}

/// A package that is in memory.
#[async_trait]
impl Source for Bytes {
    async fn length(&self) -> Result<u64, String> {
        Ok(self.len() as u64)
    }

    async fn read(&self, from: u64, length: u64) -> Result<Bytes, String> {
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(self.len());
        Ok(self.slice(at(from)..at(from.saturating_add(length))))
    }
}

/// Size limits for reading a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the central directory. Default: 8 MiB, about 100,000 files.
    pub directory: u64,
    /// Bytes of one file in the package, packed and unpacked. Default: 32 MiB; the largest resource
    /// tables are smaller.
    pub entry: u64,
    /// Nesting depth of elements. Default: 64.
    pub depth: usize,
    /// Number of elements and attributes in a file, or of chunks in a resource table. Default:
    /// 100,000.
    pub nodes: usize,
    /// Bytes of text from one XML file or resource table, where one string may be used many times.
    /// Default: 8 MiB.
    pub text: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { directory: 8 << 20, entry: 32 << 20, depth: 64, nodes: 100_000, text: 8 << 20 }
    }
}

/// Why a package cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The [`Source`] failed; this is its reason.
    #[error("{0}")]
    Source(String),
    /// Not a package, or a broken one.
    #[error("{what}: {reason}")]
    Malformed {
        /// What was being read.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// It exceeds one of the [`Limits`].
    #[error("{what} exceeds the limit of {limit}")]
    TooLarge {
        /// What was being read.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The package has no such file or resource.
    #[error("the package has no {0}")]
    Missing(String),
}

impl Error {
    pub(crate) fn malformed(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Malformed { what, reason: reason.into() }
    }
}
