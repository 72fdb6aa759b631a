//! Files on this computer that may be sent to a phone: those of one folder, which the operator
//! names.
//!
//! Start with [`InputFolder::open`]. The caller is a model that may have been misled, so nothing
//! outside of the folder can be named, neither by `..` nor through a symbolic link, and only
//! regular files are read. Files that the server writes are in [`crate::artifacts`].

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_apk::{Apk, Limits, Manifest, Source};
use thumbwire_base::files::Folder;
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio::sync::Mutex;

/// The largest file that is sent or fetched, in bytes: 1 GiB.
pub const MAX_SIZE: u64 = 1 << 30;

/// The folder whose files may be sent, or several.
#[derive(Debug, Clone)]
pub struct InputFolder {
    folders: Vec<Folder>,
}

/// Why a file is not sent. Messages fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is larger than [`MAX_SIZE`].
    #[error("send {path:?}: it has {length} bytes; {MAX_SIZE} are allowed")]
    TooLarge {
        /// The requested path.
        path: String,
        /// Its size in bytes.
        length: u64,
    },
    /// It is not in the folder, not a regular file, or the operating system refuses.
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
        Self::of([root.into()])
    }

    /// The files of these folders. A relative path is one in the first.
    pub fn of(roots: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { folders: roots.into_iter().map(Folder::new).collect() }
    }

    /// Opens a file by its path, which is absolute or relative to the folder.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn open(&self, path: &str) -> Result<InputFile, Error> {
        let refused =
            |error: io::Error| Error::Io { path: path.to_owned(), reason: error.to_string() };
        let named = Path::new(path);
        let holding = self.folders.iter().find(|folder| folder.holds(named));
        let folder = holding.or(self.folders.first());
        let folder = folder.ok_or_else(|| refused(io::ErrorKind::NotFound.into()))?;
        let file = folder.open(named).map_err(refused)?;
        let metadata = file.metadata().map_err(refused)?;
        let length = metadata.len();
        if length > MAX_SIZE {
            return Err(Error::TooLarge { path: path.to_owned(), length });
        }
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let modified = metadata.modified().ok();
        let file = Mutex::new(File::from_std(file));
        Ok(InputFile { path: path.to_owned(), name, length, modified, file })
    }
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

    fn root(folder: &InputFolder) -> &Path {
        folder.folders[0].root()
    }

    #[tokio::test]
    async fn files_of_the_folder_are_opened_by_relative_and_absolute_paths() {
        let (_all, folder) = folders();
        let absolute = root(&folder).join("sub/x").display().to_string();
        for (path, name, length) in
            [("a b.txt", "a b.txt", 5), ("./sub/x", "x", 0), (&absolute, "x", 0)]
        {
            let file = folder.open(path).unwrap();
            assert_eq!((file.name(), file.length()), (name, length), "{path}");
            assert!(file.modified() > 1_700_000_000);
        }
    }

    #[tokio::test]
    async fn nothing_outside_of_the_folder_is_opened() {
        let (all, folder) = folders();
        let secret = all.path().join("secret").display().to_string();
        let around = root(&folder).join("../secret").display().to_string();
        for path in
            [&*secret, &around, "../secret", "sub/../../secret", "/etc/passwd", "/nonexistent"]
        {
            let error = folder.open(path).unwrap_err();
            assert!(error.to_string().contains(": only files in "), "{path}: {error}");
        }
        for path in ["", ".", "sub", "/"] {
            assert!(folder.open(path).is_err(), "{path}");
        }
        for path in ["nope", "a\0b", "-rf"] {
            let error = folder.open(path).unwrap_err();
            assert!(matches!(error, Error::Io { .. }), "{path:?}: {error}");
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn links_are_followed_inside_of_the_folder_only() {
        let (all, folder) = folders();
        let link = |to: &Path, name: &str| {
            std::os::unix::fs::symlink(to, root(&folder).join(name)).unwrap();
        };
        link(&all.path().join("secret"), "leak");
        link(all.path(), "up");
        link(Path::new("a b.txt"), "inner");
        link(Path::new("sub"), "same");
        for path in ["up/secret", "up/in/../secret"] {
            let error = folder.open(path).unwrap_err();
            assert!(error.to_string().contains(": only files in "), "{path}: {error}");
        }
        for path in ["leak", "inner"] {
            let error = folder.open(path).unwrap_err();
            assert!(error.to_string().contains("it is a link"), "{path}: {error}");
        }
        assert_eq!(folder.open("same/x").unwrap().length(), 0);
        let socket = std::os::unix::net::UnixListener::bind(root(&folder).join("socket")).unwrap();
        let error = folder.open("socket").unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
        drop(socket);
    }

    #[tokio::test]
    async fn file_of_more_than_a_gigabyte_is_refused() {
        let (_all, folder) = folders();
        // Takes no room: it has no content.
        let large = std::fs::File::create(root(&folder).join("large")).unwrap();
        large.set_len(MAX_SIZE + 1).unwrap();
        let error = folder.open("large").unwrap_err();
        assert_eq!(
            error.to_string(),
            "send \"large\": it has 1073741825 bytes; 1073741824 are allowed"
        );
    }

    #[tokio::test]
    async fn only_packages_have_a_manifest() {
        let (_all, folder) = folders();
        let file = folder.open("a b.txt").unwrap();
        let error = file.read_manifest().await.unwrap_err();
        assert!(error.to_string().starts_with("read \"a b.txt\" as an Android package"), "{error}");
        let packages = InputFolder::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/apk"));
        let file = packages.open("hello-2.apk").unwrap();
        let manifest = file.read_manifest().await.unwrap();
        assert_eq!((&*manifest.package, manifest.version_code), ("org.example.hello", 2));
        let length = file.length();
        let mut bytes = Vec::new();
        file.into_reader().await.unwrap().read_to_end(&mut bytes).await.unwrap();
        assert_eq!(bytes.len() as u64, length);
        assert!(bytes.starts_with(b"PK"));
    }
}
