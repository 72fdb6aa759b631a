//! What an Android package says of itself: its manifest, its resources, its compiled XML files, who signed it.
//!
//! Begin with [`Apk::open`]: it takes a [`Source`] that reads ranges, because a package of many megabytes lies on a phone and only its tail
//! and a few entries are wanted. All that a file claims is bounded by [`Limits`]: packages come from strangers.
//!
//! `archive` finds files in the package, `window` keeps what was read; `xml` and `table` are the two compiled formats, both made of
//! `chunk`s with a string `pool`; `manifest` puts them together; `signing` and `der` find certificates. Where a file is odd, the rule is
//! what Android itself does (AOSP's libziparchive and androidfw), because the package works on a phone that reads it that way. Nothing
//! here verifies a signature or a checksum: the phone did when it installed the package.
//!
//! The formats are read here and not by the crates `apk-info-axml` and `rawzip`: the former gives every value as text, so that a reference
//! and words look alike, takes a resource of any configuration in the order of a hash map, and follows references in circles until the
//! stack ends; the latter wants the whole package in memory or a blocking reader (it judges ours in the tests). The virtual phone has a
//! reader of its own and never this one, so that the two cannot agree on a mistake.

mod apk;
mod archive;
mod chunk;
mod configuration;
mod der;
mod manifest;
mod pool;
mod signing;
mod table;
mod window;
pub mod xml;

use async_trait::async_trait;
use bytes::Bytes;

pub use apk::Apk;
pub use manifest::{Filter, Manifest, Meta, Service};
pub use signing::{Certificate, Scheme};

/// Reads ranges of a package.
#[async_trait]
pub trait Source: Send + Sync {
    /// How long it is, in bytes.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    async fn length(&self) -> Result<u64, String>;

    /// The bytes from `from` on, `length` of them; fewer only where it ends.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    async fn read(&self, from: u64, length: u64) -> Result<Bytes, String>;
}

/// A package that is here as a whole.
#[async_trait]
impl Source for Bytes {
    async fn length(&self) -> Result<u64, String> {
        Ok(self.len() as u64)
    }

    async fn read(&self, from: u64, length: u64) -> Result<Bytes, String> {
        let at = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(self.len());
        Ok(self.slice(at(from)..at(from.saturating_add(length))))
    }
}

/// What is read at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the list of files; by default 8 MiB, about 100,000 files.
    pub directory: u64,
    /// Bytes of one file in the package, packed and unpacked; by default 32 MiB, which the largest resource tables stay below.
    pub entry: u64,
    /// How deep elements may be nested; by default 64.
    pub depth: usize,
    /// How many elements and attributes a file may have, and a resource table parts; by default 100,000.
    pub nodes: usize,
    /// Bytes of text that are taken out of one XML file, and out of a resource table: one string may be referred to often. By default 8 MiB.
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
    /// Its bytes did not come.
    #[error("{0}")]
    Source(String),
    /// It is none, or is broken.
    #[error("{what}: {why}")]
    Malformed {
        /// What was read.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// It is larger than what is read.
    #[error("{what} is larger than {limit}")]
    TooLarge {
        /// What.
        what: &'static str,
        /// The bound.
        limit: u64,
    },
    /// It has no such file or resource.
    #[error("there is no {0} in it")]
    Missing(String),
}

impl Error {
    pub(crate) fn malformed(what: &'static str, why: impl Into<String>) -> Self {
        Self::Malformed { what, why: why.into() }
    }
}
