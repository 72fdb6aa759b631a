//! What the tree of files is asked with and answers: errors, stats, contents. Types only; the tree is in `files.rs`.

use std::fmt;
use std::sync::Arc;

/// What a failed file operation says; `Display` gives the words of `strerror`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// `ENOENT`
    NotFound,
    /// `EEXIST`
    Exists,
    /// `ENOTDIR`
    NotADirectory,
    /// `EISDIR`
    IsADirectory,
    /// `EACCES`
    Denied,
    /// `EROFS`
    ReadOnly,
    /// `ENOTEMPTY`
    NotEmpty,
    /// `ENOSPC`
    NoSpace,
    /// `ELOOP`
    TooManyLinks,
    /// `ENAMETOOLONG`
    NameTooLong,
    /// `EINVAL`
    Invalid,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound => "No such file or directory",
            Self::Exists => "File exists",
            Self::NotADirectory => "Not a directory",
            Self::IsADirectory => "Is a directory",
            Self::Denied => "Permission denied",
            Self::ReadOnly => "Read-only file system",
            Self::NotEmpty => "Directory not empty",
            Self::NoSpace => "No space left on device",
            Self::TooManyLinks => "Too many symbolic links encountered",
            Self::NameTooLong => "File name too long",
            Self::Invalid => "Invalid argument",
        })
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Its number on Linux (`errno-base.h`, `errno.h`).
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::NotFound => 2,
            Self::Denied => 13,
            Self::Exists => 17,
            Self::NotADirectory => 20,
            Self::IsADirectory => 21,
            Self::Invalid => 22,
            Self::NoSpace => 28,
            Self::ReadOnly => 30,
            Self::NameTooLong => 36,
            Self::NotEmpty => 39,
            Self::TooManyLinks => 40,
        }
    }
}

/// A node's number; never used twice, so that a writer of a deleted file cannot hit another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(pub(super) u64);

/// A file's bytes at one moment. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Contents(pub(super) Arc<Vec<u8>>);

impl From<Vec<u8>> for Contents {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(bytes))
    }
}

impl AsRef<[u8]> for Contents {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Nodes that are no stored bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `/dev/null`: takes everything, gives nothing.
    Null,
    /// `/dev/zero`: takes everything, and gives zeros to whoever streams it; as [`Contents`] it is empty.
    Zero,
    /// `/dev/tty`, `/dev/stdout`, `/proc/self/fd/1`: the standard output of whoever opens it.
    Stdout,
    /// `/dev/stderr`, `/proc/self/fd/2`.
    Stderr,
    /// `/dev/stdin`, `/proc/self/fd/0`.
    Stdin,
}

/// What a path leads to when it is opened.
#[derive(Clone, Debug)]
pub enum Opened {
    /// A stored file.
    File(Id),
    /// A device node.
    Special(Special),
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A character device.
    Device,
}

/// What `stat` tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Its number, which no other node of the phone has ever had.
    pub inode: u64,
    /// What it is.
    pub kind: Kind,
    /// Permission bits, `0o7777`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Bytes; for a link the length of its target; 3452 (as f2fs says) for a directory.
    pub size: u64,
    /// Seconds since 1970.
    pub modified: u64,
    /// Where a link points.
    pub target: Option<String>,
}

impl Stat {
    /// `st_mode`: the kind's bits and the permissions, as the sync protocol sends it.
    pub fn full_mode(&self) -> u32 {
        self.mode
            | match self.kind {
                Kind::File => 0o100_000,
                Kind::Directory => 0o040_000,
                Kind::Link => 0o120_000,
                Kind::Device => 0o020_000,
            }
    }
}
