//! Sessions: files of an app on their way onto the phone, until all are there.
//!
//! Begin at [`State::open_session`]; files are staged as they arrive, and `State::commit` (in `install`) asks and installs. They lie in the
//! phone's tree, so that they take room there.

use crate::files::{Error, Id};
use crate::phone::{State, VirtualPhone};
use crate::programs::fingerprint;
use std::collections::BTreeMap;

/// Sessions that wait for more at one time (`MAX_ACTIVE_SESSIONS_NO_PERMISSION`).
const MOST_SESSIONS: usize = 50;
/// Files of one session.
const MOST_FILES: usize = 500;

/// How an app shall be installed.
#[derive(Debug, Clone, Default)]
pub(crate) struct How {
    /// An app of that package may be there already.
    pub(crate) replace: bool,
    /// It may be newer (`-d`), if it can be debugged.
    pub(crate) downgrade: bool,
    /// It may be a test (`-t`).
    pub(crate) test: bool,
    /// It gets all permissions that it asks for (`-g`).
    pub(crate) grant: bool,
    /// Who installs it (`-i`).
    pub(crate) installer: Option<String>,
    /// Splits are put beside those that this package has (`-p`).
    pub(crate) inherit: Option<String>,
    /// Bytes that will come, where the host said.
    pub(crate) size: Option<u64>,
}

/// What is known of packages beside those that are installed.
#[derive(Debug, Default)]
pub(crate) struct Packages {
    pub(super) sessions: BTreeMap<u32, Session>,
    /// Sessions that there ever were.
    opened: u64,
    /// Users of packages that went and left their data (`uninstall -k`).
    pub(super) left: BTreeMap<String, u32>,
}

/// Files that wait to be installed together.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) how: How,
    /// Names of its files, in the order of their coming.
    pub(super) files: Vec<String>,
}

impl VirtualPhone {
    /// Installs an app, as `adb install -r -t` does: its APK, and those of its splits.
    ///
    /// # Errors
    /// What Android says between the brackets of `Failure […]`.
    pub fn install(&self, apks: &[&[u8]]) -> Result<(), String> {
        let how = How { replace: true, test: true, ..How::default() };
        self.with(|phone| {
            let id = phone.open_session(how).ok_or("Too many active sessions for UID 2000")?;
            for (nth, apk) in apks.iter().enumerate() {
                let staged = phone.stage(id, &format!("{nth}.apk"));
                if let Err(why) = staged.and_then(|file| phone.files.append(file, apk)) {
                    phone.abandon(id);
                    return Err(format!("INSTALL_FAILED_INSUFFICIENT_STORAGE: {why}"));
                }
            }
            phone.commit(id).map_err(|refusal| refusal.to_string())
        })
    }
}

impl State {
    /// Opens a session; `None` where too many are open.
    pub(crate) fn open_session(&mut self, how: How) -> Option<u32> {
        if self.packages.sessions.len() >= MOST_SESSIONS {
            return None;
        }
        self.packages.opened += 1;
        // Android takes a random number up to the largest of 31 bits.
        let word = format!("session {} {}", self.world.seed(), self.packages.opened);
        let mut id = (fingerprint(&word) % 0x7fff_ffff) as u32 + 1;
        while self.packages.sessions.contains_key(&id) {
            id = id % 0x7fff_ffff + 1;
        }
        self.packages.sessions.insert(id, Session { how, files: Vec::new() });
        Some(id)
    }

    /// Whether there is such a session.
    pub(crate) fn has_session(&self, id: u32) -> bool {
        self.packages.sessions.contains_key(&id)
    }

    /// Begins a file of a session; bytes are appended to what is given. A file of that name begins anew.
    ///
    /// # Errors
    /// Those of the tree; [`Error::Invalid`] for a name that is none.
    pub(crate) fn stage(&mut self, id: u32, name: &str) -> Result<Id, Error> {
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
        if session.files.len() >= MOST_FILES {
            return Err(Error::NoSpace);
        }
        if !session.files.iter().any(|known| known == name) {
            session.files.push(name.to_owned());
        }
        let folder = staging(id);
        self.files.make_folder_for(&folder, crate::files::SYSTEM, 0o775)?;
        self.files.create_as_system(&format!("{folder}/{name}"), 0o644)
    }

    /// Forgets a session and what was staged in it. `false` where there is none such.
    pub(crate) fn abandon(&mut self, id: u32) -> bool {
        self.files.take_away(&staging(id));
        self.packages.sessions.remove(&id).is_some()
    }
}

/// The folder in which a session's files wait.
pub(super) fn staging(id: u32) -> String {
    format!("/data/app/vmdl{id}.tmp")
}
