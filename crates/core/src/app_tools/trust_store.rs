//! Pins: who signed the apps whose tools were called, and which tools were accepted.
//!
//! A pin belongs to a package, whichever phone it is on. Android itself identifies an app by
//! package and certificate, a model uses the package name on any phone, and another signer's app
//! with the same name on a second phone is exactly what a pin must catch.
//!
//! Start with [`TrustStore`]; [`FileStore`] keeps a JSON file, [`MemoryStore`] nothing beyond the
//! session. [`super::trust`] interprets pins.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use thumbwire_base::files::{self, Guard};
use thumbwire_base::lock;

/// Pins by package.
pub type Pins = BTreeMap<String, Pin>;

/// What is stored about an app.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Whether the operator allowed its tools, in addition to the session's own list.
    #[serde(default)]
    pub allowed: bool,
    /// SHA-256 of its signing certificate when it was first used, in hex; empty if that was
    /// unknown.
    #[serde(default)]
    pub certificate: String,
    /// What was accepted: digests of each tool's texts, newest last, by tool name. Several, because
    /// two phones may have different versions of the app.
    #[serde(default)]
    pub accepted: BTreeMap<String, Vec<String>>,
}

/// Stores pins.
pub trait TrustStore: Send + Sync {
    /// All pins.
    ///
    /// # Errors
    /// Why they cannot be read. An unreadable store is never treated as empty.
    fn pins(&self) -> Result<Pins, String>;

    /// Stores a pin in place of the app's previous one; `None` removes it.
    ///
    /// # Errors
    /// Why it cannot be stored.
    fn save(&self, package: &str, pin: Option<Pin>) -> Result<(), String>;

    /// Replaces the pin `known` (`None`: no pin yet). Returns `false` and stores nothing if
    /// somebody else has changed it.
    ///
    /// # Errors
    /// Why it cannot be stored.
    fn replace(&self, package: &str, known: Option<&Pin>, pin: Pin) -> Result<bool, String>;
}

/// Pins in memory.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Pins>);

impl TrustStore for MemoryStore {
    fn pins(&self) -> Result<Pins, String> {
        Ok(lock(&self.0).clone())
    }

    fn save(&self, package: &str, pin: Option<Pin>) -> Result<(), String> {
        put(&mut lock(&self.0), package, pin);
        Ok(())
    }

    fn replace(&self, package: &str, known: Option<&Pin>, pin: Pin) -> Result<bool, String> {
        let mut apps = lock(&self.0);
        let is_still = apps.get(package) == known;
        if is_still {
            put(&mut apps, package, Some(pin));
        }
        Ok(is_still)
    }
}

/// Pins in a JSON file that only its owner can read. Several programs may use it at once.
#[derive(Debug, Clone)]
pub struct FileStore {
    path: PathBuf,
}

/// The version of the file.
const VERSION: u32 = 1;

/// The maximum file size, in bytes: some thousand apps.
const MAX_SIZE: u64 = 16 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PinFile {
    version: u32,
    apps: Pins,
}

impl FileStore {
    /// Stores pins in this file, which is created with the first pin.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn read(&self) -> Result<Pins, String> {
        let name = self.path.display();
        let text = match files::read_guarded(&self.path, Guard::Unchanged, MAX_SIZE) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Pins::new()),
            Err(error) => return Err(format!("cannot read {name}: {error}")),
        };
        let broken = |reason: String| {
            format!(
                "cannot read the list of trusted apps in {name}: {reason}. Repair the file, or delete it and trust each app again"
            )
        };
        let stored: PinFile =
            serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        match stored.version {
            VERSION => Ok(stored.apps),
            other => Err(broken(format!("it has version {other}, expected {VERSION}"))),
        }
    }

    fn write(&self, apps: Pins) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(&PinFile { version: VERSION, apps })?;
        text.push('\n');
        files::write(&self.path, text.as_bytes())
    }

    /// The lock for changing the file, held for a few milliseconds.
    fn turn(&self) -> io::Result<File> {
        files::make_folder_of(&self.path)?;
        let mut name = self.path.as_os_str().to_owned();
        name.push(".lock");
        let file = files::append_guarded(Path::new(&name))?;
        file.lock()?;
        Ok(file)
    }
}

impl FileStore {
    /// Changes the pins under the lock.
    fn change(&self, change: impl FnOnce(&mut Pins)) -> Result<(), String> {
        let refused = |error: io::Error| format!("cannot write {}: {error}", self.path.display());
        let _turn = self.turn().map_err(refused)?;
        let was = self.read()?;
        let mut apps = was.clone();
        change(&mut apps);
        if apps == was { Ok(()) } else { self.write(apps).map_err(refused) }
    }
}

impl TrustStore for FileStore {
    fn pins(&self) -> Result<Pins, String> {
        self.read()
    }

    fn save(&self, package: &str, pin: Option<Pin>) -> Result<(), String> {
        self.change(|apps| put(apps, package, pin))
    }

    fn replace(&self, package: &str, known: Option<&Pin>, pin: Pin) -> Result<bool, String> {
        let mut is_still = false;
        self.change(|apps| {
            is_still = apps.get(package) == known;
            if is_still {
                put(apps, package, Some(pin));
            }
        })?;
        Ok(is_still)
    }
}

fn put(apps: &mut Pins, package: &str, pin: Option<Pin>) {
    match pin {
        Some(pin) => apps.insert(package.to_owned(), pin),
        None => apps.remove(package),
    };
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn pin(certificate: &str) -> Pin {
        let accepted = BTreeMap::from([("clock_in".into(), vec!["ab".into()])]);
        Pin { allowed: true, certificate: certificate.into(), accepted }
    }

    #[test]
    fn pins_persist_in_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/trust.json");
        let store = FileStore::new(&path);
        assert_eq!(store.pins(), Ok(Pins::new()), "a missing file holds no pins");
        store.save("com.x", Some(pin("aa"))).unwrap();
        store.save("com.y", Some(pin("bb"))).unwrap();
        store.save("com.x", Some(pin("cc"))).unwrap();
        let again = FileStore::new(&path);
        let expected = Pins::from([("com.x".into(), pin("cc")), ("com.y".into(), pin("bb"))]);
        assert_eq!(again.pins(), Ok(expected));
        again.save("com.y", None).unwrap();
        assert_eq!(store.pins().unwrap().len(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn unreadable_file_is_not_treated_as_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trust.json");
        for text in [
            "",
            "{",
            "{}",
            "[]",
            r#"{"version":3,"apps":{}}"#,
            r#"{"version":1,"apps":{"a":{"allow":true}}}"#,
        ] {
            fs::write(&path, text).unwrap();
            let store = FileStore::new(&path);
            let reason = store.pins().unwrap_err();
            assert!(
                reason.contains("trust.json") && reason.contains("Repair the file"),
                "{text}: {reason}"
            );
            assert!(store.save("com.x", Some(pin("aa"))).is_err(), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "it is left as it was");
        }
        fs::write(&path, r#"{"version":1,"apps":{"com.x":{}}}"#).unwrap();
        assert_eq!(FileStore::new(&path).pins().unwrap()["com.x"], Pin::default());
    }

    #[test]
    fn pin_replaces_only_the_one_that_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = FileStore::new(folder.path().join("trust.json"));
        let (first, second) = (pin("aa"), pin("bb"));
        for store in [&MemoryStore::default() as &dyn TrustStore, &file] {
            assert_eq!(store.replace("com.x", Some(&first), second.clone()), Ok(false));
            assert_eq!(store.pins(), Ok(Pins::new()), "it was removed in the meantime");
            assert_eq!(store.replace("com.x", None, first.clone()), Ok(true));
            assert_eq!(store.replace("com.x", None, second.clone()), Ok(false));
            assert_eq!(store.replace("com.x", Some(&second), second.clone()), Ok(false));
            assert_eq!(store.pins().unwrap()["com.x"], first, "another writer was first");
            assert_eq!(store.replace("com.x", Some(&first), second.clone()), Ok(true));
            assert_eq!(store.pins().unwrap()["com.x"], second);
        }
    }

    #[test]
    fn concurrent_writers_lose_no_pins() {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::new(folder.path().join("trust.json"));
        std::thread::scope(|scope| {
            for worker in 0..8 {
                let store = store.clone();
                scope.spawn(move || {
                    for app in 0..5 {
                        store.save(&format!("com.w{worker}.a{app}"), Some(pin("aa"))).unwrap();
                    }
                });
            }
        });
        assert_eq!(store.pins().unwrap().len(), 40);
    }
}
