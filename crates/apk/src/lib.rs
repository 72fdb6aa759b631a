//! What an Android package says of itself: its manifest, its resources, its compiled XML files, who signed it.
//!
//! Begin with [`Apk::open`]: it takes a [`Source`] that reads ranges, because a package of many megabytes lies on a phone and only its tail
//! and a few entries are wanted. All that a file claims is bounded by [`Limits`]: packages come from strangers.
//!
//! The virtual phone has a reader of its own and never this one, so that the two cannot agree on a mistake.

use async_trait::async_trait;
use bytes::Bytes;

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
    /// Bytes of the list of files.
    pub directory: u64,
    /// Bytes of one file in the package, packed and unpacked.
    pub entry: u64,
    /// How deep elements may be nested.
    pub depth: usize,
    /// How many elements and attributes a file may have.
    pub nodes: usize,
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
