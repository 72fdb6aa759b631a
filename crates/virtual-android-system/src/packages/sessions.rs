//! Install sessions: collect an app's files until all have arrived.
//!
//! Start with [`PackageInstaller::open_session`]; files are staged as they arrive, and
//! `PackageInstaller::commit` (in `install`) checks and installs them. They are stored in the
//! phone's file tree, so they use its space.

use crate::fingerprint::fingerprint;
use crate::properties::Properties;
use crate::release::Release;
use std::collections::BTreeMap;
use thumbwire_virtual_phone::World;
use thumbwire_virtual_shell::files::{Error, Files, Id};

/// Maximum open sessions (`MAX_ACTIVE_SESSIONS_NO_PERMISSION`).
const MAX_SESSIONS: usize = 50;
/// Maximum files of a session.
const MAX_FILES: usize = 500;

/// Install options.
#[derive(Debug, Clone, Default)]
pub struct InstallOptions {
    /// Replace an installed app of that package.
    pub replace: bool,
    /// Allow a downgrade of a debuggable app (`-d`).
    pub downgrade: bool,
    /// Allow a test-only app (`-t`).
    pub test: bool,
    /// Grant all requested permissions (`-g`).
    pub grant: bool,
    /// The installer (`-i`).
    pub installer: Option<String>,
    /// Add splits to those of this installed package (`-p`).
    pub inherit: Option<String>,
    /// Total bytes, if the host gave them.
    pub size: Option<u64>,
}

/// Package state besides the installed packages.
#[derive(Debug, Default)]
pub struct InstallSessions {
    pub(super) sessions: BTreeMap<u32, Session>,
    /// Sessions opened so far.
    opened: u64,
    /// User ids of uninstalled packages that left their data (`uninstall -k`).
    pub(super) left: BTreeMap<String, u32>,
}

/// The staged files of a session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) options: InstallOptions,
    /// Names of its files, in order of arrival.
    pub(super) files: Vec<String>,
}

/// Installs and uninstalls apps; holds the parts of the phone that this changes.
pub struct PackageInstaller<'a> {
    /// Has the installed packages.
    pub world: &'a mut World,
    /// Have the APKs and the apps' data.
    pub files: &'a mut Files,
    /// Name the release and the ABIs.
    pub properties: &'a Properties,
    /// The sessions in progress.
    pub packages: &'a mut InstallSessions,
}

impl PackageInstaller<'_> {
    /// The phone's Android release.
    pub(super) fn release(&self) -> &'static Release {
        Release::of(self.world.android())
    }

    /// Opens a session; `None` if too many are open.
    pub fn open_session(&mut self, options: InstallOptions) -> Option<u32> {
        if self.packages.sessions.len() >= MAX_SESSIONS {
            return None;
        }
        self.packages.opened += 1;
        // Android takes a random 31-bit number.
        let word = format!("session {} {}", self.world.seed(), self.packages.opened);
        let mut id = (fingerprint(&word) % 0x7fff_ffff) as u32 + 1;
        while self.packages.sessions.contains_key(&id) {
            id = id % 0x7fff_ffff + 1;
        }
        self.packages.sessions.insert(id, Session { options, files: Vec::new() });
        Some(id)
    }

    /// Whether the session exists.
    pub fn has_session(&self, id: u32) -> bool {
        self.packages.sessions.contains_key(&id)
    }

    /// Starts a file of a session; append its bytes to the returned id. An existing file of that
    /// name is emptied.
    ///
    /// # Errors
    /// Those of the file tree; [`Error::Invalid`] for an invalid name.
    pub fn stage(&mut self, id: u32, name: &str) -> Result<Id, Error> {
        // `FileUtils.isValidExtFilename`
        if name.is_empty()
            || name.len() > 255
            || name == "."
            || name == ".."
            || name.contains(['/', '\0'])
        {
            return Err(Error::Invalid);
        }
        let session = self.packages.sessions.get_mut(&id).ok_or(Error::NotFound)?;
        if session.files.len() >= MAX_FILES {
            return Err(Error::NoSpace);
        }
        if !session.files.iter().any(|known| known == name) {
            session.files.push(name.to_owned());
        }
        let folder = staging(id);
        self.files.make_folder_for(&folder, thumbwire_virtual_shell::files::SYSTEM, 0o775)?;
        self.files.create_as_system(&format!("{folder}/{name}"), 0o644)
    }

    /// Discards a session and its files. `false` if it does not exist.
    pub fn abandon(&mut self, id: u32) -> bool {
        self.files.remove_all(&staging(id));
        self.packages.sessions.remove(&id).is_some()
    }
}

/// The staging folder of a session.
pub(super) fn staging(id: u32) -> String {
    format!("/data/app/vmdl{id}.tmp")
}
