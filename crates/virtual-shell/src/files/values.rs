//! Types of the file tree: errors, stats, contents. The tree is in `files.rs`.

use std::fmt;
use std::sync::Arc;

/// Why a file operation failed; `Display` prints the text of `strerror`.
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
    /// `EPERM`
    NotPermitted,
    /// `EXDEV`
    CrossDevice,
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
            Self::NotPermitted => "Operation not permitted",
            Self::CrossDevice => "Cross-device link",
        })
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Its errno on Linux (`errno-base.h`, `errno.h`).
    pub fn number(self) -> u32 {
        match self {
            Self::NotPermitted => 1,
            Self::NotFound => 2,
            Self::Denied => 13,
            Self::Exists => 17,
            Self::CrossDevice => 18,
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

/// A node's id; never reused, so that a writer of a deleted file cannot hit another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(pub(super) u64);

/// A snapshot of a file's bytes. Cheap to clone.
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

/// Special files, which store no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialFile {
    /// `/dev/null`: discards writes, reads nothing.
    Null,
    /// `/dev/zero`: discards writes and streams zeros; as [`Contents`] it is empty.
    Zero,
    /// `/dev/tty`, `/dev/stdout`, `/proc/self/fd/1`: the opener's standard output.
    Stdout,
    /// `/dev/stderr`, `/proc/self/fd/2`.
    Stderr,
    /// `/dev/stdin`, `/proc/self/fd/0`.
    Stdin,
}

/// The result of opening a path.
#[derive(Clone, Debug)]
pub enum OpenTarget {
    /// A stored file.
    File(Id),
    /// A device node.
    Special(SpecialFile),
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A character device.
    Device,
}

/// The result of `stat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Its inode number, never reused on this phone.
    pub inode: u64,
    /// The file type.
    pub kind: FileType,
    /// Permission bits, `0o7777`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Size in bytes; for a link the length of its target; 3452 (as in f2fs) for a directory.
    pub size: u64,
    /// Seconds since 1970.
    pub modified: u64,
    /// The target of a link.
    pub target: Option<String>,
}

impl Stat {
    /// `st_mode`: file type and permission bits, as the sync protocol sends them.
    pub fn full_mode(&self) -> u32 {
        self.mode
            | match self.kind {
                FileType::File => 0o100_000,
                FileType::Directory => 0o040_000,
                FileType::Link => 0o120_000,
                FileType::Device => 0o020_000,
            }
    }
}
