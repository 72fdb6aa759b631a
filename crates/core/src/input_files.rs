//! Files on this computer that may be sent to a phone: those of one folder, which the operator
//! names.
//!
//! Start with [`InputFolder::open`]. The caller is a model that may have been misled, so nothing
//! outside of the folder can be named, neither by `..` nor through a symbolic link, and only
//! regular files are read. Files that the server writes are in [`crate::artifacts`].

use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_apk::{Apk, Limits, Manifest, Source};
use tokio::fs::{self, File};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio::sync::Mutex;

/// The largest file that is sent or fetched, in bytes: 1 GiB.
pub const MAX_SIZE: u64 = 1 << 30;

/// The folder whose files may be sent.
#[derive(Debug, Clone)]
pub struct InputFolder {
    root: PathBuf,
}

/// Why a file is not sent. Messages fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path leaves the folder. Use a file in it.
    #[error("open {path:?}: only files in {} can be sent", .root.display())]
    Outside {
        /// The requested path.
        path: String,
        /// The folder.
        root: PathBuf,
    },
    /// A folder, a pipe, a device. Use a regular file.
    #[error("open {path:?}: it is not a regular file")]
    NotAFile {
        /// The requested path.
        path: String,
    },
    /// It is larger than [`MAX_SIZE`].
    #[error("send {path:?}: it has {length} bytes; {MAX_SIZE} are allowed")]
    TooLarge {
        /// The requested path.
        path: String,
        /// Its size in bytes.
        length: u64,
    },
    /// The operating system refuses, or there is no such file.
    #[error("open {path:?}: {reason}")]
    Io {
        /// The requested path.
        path: String,
        /// The system's reason.
        reason: String,
    },
    /// Not an Android package, or a broken one.
    #[error("read {path:?} as an Android package (APK): {reason}")]
    NotAPackage {
        /// The requested path.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl InputFolder {
    /// The files of this folder.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Opens a file by its path, which is absolute or relative to the folder.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn open(&self, path: &str) -> Result<InputFile, Error> {
        let refused =
            |error: io::Error| Error::Io { path: path.to_owned(), reason: error.to_string() };
        let outside = || Error::Outside { path: path.to_owned(), root: self.root.clone() };
        let root = fs::canonicalize(&self.root).await;
        let root = root.map_err(|error| Error::Io {
            path: self.root.display().to_string(),
            reason: error.to_string(),
        })?;
        // Before the disk is asked, so that the answer does not tell which files there are
        // elsewhere.
        let inside = self.relative(&root, path).ok_or_else(outside)?;
        let real = fs::canonicalize(root.join(inside)).await.map_err(refused)?;
        if !real.starts_with(&root) {
            return Err(outside());
        }
        // Opening a pipe would wait for its other end.
        if !fs::symlink_metadata(&real).await.map_err(refused)?.is_file() {
            return Err(Error::NotAFile { path: path.to_owned() });
        }
        let file = File::open(&real).await.map_err(refused)?;
        let metadata = file.metadata().await.map_err(refused)?;
        if !is_same_file(&metadata, &fs::symlink_metadata(&real).await.map_err(refused)?) {
            return Err(outside());
        }
        let length = metadata.len();
        if length > MAX_SIZE {
            return Err(Error::TooLarge { path: path.to_owned(), length });
        }
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let modified = metadata.modified().ok();
        Ok(InputFile { path: path.to_owned(), name, length, modified, file: Mutex::new(file) })
    }

    /// The path below the root; `None` if it is not, or has a `..`.
    fn relative(&self, root: &Path, path: &str) -> Option<PathBuf> {
        let path = Path::new(path);
        let inside = match path.is_absolute() {
            true => path.strip_prefix(&self.root).or_else(|_| path.strip_prefix(root)).ok()?,
            false => path,
        };
        let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        inside.components().all(is_plain).then(|| inside.to_owned())
    }
}

/// Whether the path still leads to the file that was opened: a folder of it may have become a link
/// meanwhile.
#[cfg(unix)]
fn is_same_file(opened: &std::fs::Metadata, current: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    opened.is_file() && (opened.dev(), opened.ino()) == (current.dev(), current.ino())
}

#[cfg(not(unix))]
fn is_same_file(opened: &std::fs::Metadata, current: &std::fs::Metadata) -> bool {
    opened.is_file() && current.is_file()
}

/// An open file of the folder.
#[derive(Debug)]
pub struct InputFile {
    path: String,
    name: String,
    length: u64,
    modified: Option<SystemTime>,
    file: Mutex<File>,
}

impl InputFile {
    /// Its name, without folders.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its length in bytes, when it was opened.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// When it was changed last, in seconds since 1970; 0 if the system does not tell.
    pub fn modified(&self) -> u32 {
        let since = self.modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        since.map_or(0, |since| u32::try_from(since.as_secs()).unwrap_or(u32::MAX))
    }

    /// What the file says about itself as an Android package.
    ///
    /// # Errors
    /// [`Error::NotAPackage`].
    pub async fn read_manifest(&self) -> Result<Manifest, Error> {
        let reading = async { Apk::open(Ranges(self), Limits::default()).await?.manifest().await };
        reading.await.map_err(|error| Error::NotAPackage {
            path: self.path.clone(),
            reason: error.to_string(),
        })
    }

    /// The file, to be read from its beginning.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub async fn into_reader(self) -> Result<File, Error> {
        let mut file = self.file.into_inner();
        file.rewind()
            .await
            .map_err(|error| Error::Io { path: self.path, reason: error.to_string() })?;
        Ok(file)
    }
}

/// Ranges of the file, for the package reader.
struct Ranges<'a>(&'a InputFile);

#[async_trait]
impl Source for Ranges<'_> {
    async fn length(&self) -> Result<u64, String> {
        Ok(self.0.length)
    }

    async fn read(&self, from: u64, length: u64) -> Result<Bytes, String> {
        let mut file = self.0.file.lock().await;
        let mut bytes = Vec::new();
        let reading = async {
            file.seek(io::SeekFrom::Start(from)).await?;
            (&mut *file).take(length).read_to_end(&mut bytes).await
        };
        reading.await.map_err(|error| error.to_string())?;
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a file, and a secret beside the folder.
    fn folders() -> (tempfile::TempDir, InputFolder) {
        let all = tempfile::tempdir().unwrap();
        let root = all.path().join("in");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::write(root.join("a b.txt"), "hello").unwrap();
        std::fs::write(root.join("sub/x"), "").unwrap();
        std::fs::write(all.path().join("secret"), "secret").unwrap();
        (all, InputFolder::new(root))
    }

    #[tokio::test]
    async fn files_of_the_folder_are_opened_by_relative_and_absolute_paths() {
        let (_all, folder) = folders();
        let absolute = folder.root.join("sub/x").display().to_string();
        for (path, name, length) in
            [("a b.txt", "a b.txt", 5), ("./sub/x", "x", 0), (&absolute, "x", 0)]
        {
            let file = folder.open(path).await.unwrap();
            assert_eq!((file.name(), file.length()), (name, length), "{path}");
            assert!(file.modified() > 1_700_000_000);
        }
    }

    #[tokio::test]
    async fn nothing_outside_of_the_folder_is_opened() {
        let (all, folder) = folders();
        let secret = all.path().join("secret").display().to_string();
        let around = folder.root.join("../secret").display().to_string();
        for path in
            [&*secret, &around, "../secret", "sub/../../secret", "/etc/passwd", "/nonexistent"]
        {
            let error = folder.open(path).await.unwrap_err();
            assert!(matches!(error, Error::Outside { .. }), "{path}: {error}");
        }
        for path in ["", ".", "sub", "/"] {
            assert!(folder.open(path).await.is_err(), "{path}");
        }
        for path in ["nope", "a\0b", "-rf"] {
            let error = folder.open(path).await.unwrap_err();
            assert!(matches!(error, Error::Io { .. }), "{path:?}: {error}");
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn links_are_followed_inside_of_the_folder_only() {
        let (all, folder) = folders();
        let link = |to: &Path, name: &str| {
            std::os::unix::fs::symlink(to, folder.root.join(name)).unwrap();
        };
        link(&all.path().join("secret"), "leak");
        link(all.path(), "up");
        link(Path::new("a b.txt"), "inner");
        for path in ["leak", "up/secret", "up/in/../secret"] {
            let error = folder.open(path).await.unwrap_err();
            assert!(matches!(error, Error::Outside { .. }), "{path}: {error}");
        }
        assert_eq!(folder.open("inner").await.unwrap().length(), 5);
        let socket = std::os::unix::net::UnixListener::bind(folder.root.join("socket")).unwrap();
        let error = folder.open("socket").await.unwrap_err();
        assert!(matches!(error, Error::NotAFile { .. }), "{error}");
        drop(socket);
    }

    #[tokio::test]
    async fn file_of_more_than_a_gigabyte_is_refused() {
        let (_all, folder) = folders();
        // Takes no room: it has no content.
        let large = std::fs::File::create(folder.root.join("large")).unwrap();
        large.set_len(MAX_SIZE + 1).unwrap();
        let error = folder.open("large").await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "send \"large\": it has 1073741825 bytes; 1073741824 are allowed"
        );
    }

    #[tokio::test]
    async fn only_packages_have_a_manifest() {
        let (_all, folder) = folders();
        let file = folder.open("a b.txt").await.unwrap();
        let error = file.read_manifest().await.unwrap_err();
        assert!(error.to_string().starts_with("read \"a b.txt\" as an Android package"), "{error}");
        let packages = InputFolder::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/apk"));
        let file = packages.open("hello-2.apk").await.unwrap();
        let manifest = file.read_manifest().await.unwrap();
        assert_eq!((&*manifest.package, manifest.version_code), ("org.example.hello", 2));
        let length = file.length();
        let mut bytes = Vec::new();
        file.into_reader().await.unwrap().read_to_end(&mut bytes).await.unwrap();
        assert_eq!(bytes.len() as u64, length);
        assert!(bytes.starts_with(b"PK"));
    }
}
