//! What is remembered of the apps whose tools were called: who signed them, and what was agreed to.
//!
//! A pin belongs to a package, whichever phone it is on: Android itself takes the package and its certificate for the app, a model calls
//! it by that name on any phone, and an app of the same name by somebody else on a second phone is just what a pin is for.
//!
//! Begin with [`TrustStore`]; [`FileStore`] keeps a JSON file, [`MemoryStore`] nothing beyond the session. What a pin means is
//! [`super::trust`]'s.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::lock;

/// Pins by package.
pub type Pins = BTreeMap<String, Pin>;

/// What is remembered of an app.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Whether the operator said that its tools may be called, beside the session's own list.
    #[serde(default)]
    pub allowed: bool,
    /// SHA-256 of the certificate that it was signed with when it was first used, in hexadecimal digits; empty where that was not known.
    #[serde(default)]
    pub certificate: String,
    /// What was agreed to: the digests of each tool's words, the newest last, by the tool's name among the app's. Several, because two
    /// phones may have two versions of the app.
    #[serde(default)]
    pub agreed: BTreeMap<String, Vec<String>>,
}

/// Keeps pins.
pub trait TrustStore: Send + Sync {
    /// All of them.
    ///
    /// # Errors
    /// Why they cannot be known, in words. What is there and cannot be read is never taken for nothing.
    fn pins(&self) -> Result<Pins, String>;

    /// Keeps one, in place of the app's last; `None` forgets the app.
    ///
    /// # Errors
    /// Why it cannot be kept, in words.
    fn keep(&self, package: &str, pin: Option<Pin>) -> Result<(), String>;

    /// Keeps one in place of this one, `None` being that there is none. `false`, and nothing is kept, where somebody else has changed it
    /// by now.
    ///
    /// # Errors
    /// Why it cannot be kept, in words.
    fn replace(&self, package: &str, known: Option<&Pin>, pin: Pin) -> Result<bool, String>;
}

/// Pins for as long as this is there.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Pins>);

impl TrustStore for MemoryStore {
    fn pins(&self) -> Result<Pins, String> {
        Ok(lock(&self.0).clone())
    }

    fn keep(&self, package: &str, pin: Option<Pin>) -> Result<(), String> {
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

/// The version of the file that this program writes.
const VERSION: u32 = 1;

/// The most that is read, in bytes: some thousand apps.
const LARGEST: u64 = 16 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    apps: Pins,
}

impl FileStore {
    /// Pins in this file, which is made when the first is kept.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    fn read(&self) -> Result<Pins, String> {
        let name = self.path.display();
        let mut text = String::new();
        let read = match File::open(&self.path) {
            Ok(file) => file.take(LARGEST + 1).read_to_string(&mut text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Pins::new()),
            Err(error) => Err(error),
        };
        let length = read.map_err(|error| format!("{name} cannot be read: {error}"))?;
        if length as u64 > LARGEST {
            return Err(format!("{name} is larger than {LARGEST} bytes"));
        }
        let broken = |why: String| {
            format!(
                "{name} is no list of trusted apps ({why}); mend it, or remove it and agree to each app again"
            )
        };
        let stored: Stored =
            serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        match stored.version {
            VERSION => Ok(stored.apps),
            other => Err(broken(format!("its version is {other}, and {VERSION} is known"))),
        }
    }

    /// Writes a file beside it and puts that in its place, so that whoever reads sees the old one or the new one.
    fn write(&self, apps: Pins) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(&Stored { version: VERSION, apps })?;
        text.push('\n');
        let beside = beside(&self.path, ".new");
        // What a crash left behind may have been another's to read.
        let _ = fs::remove_file(&beside);
        let mut file = owners_own(OpenOptions::new().write(true).create_new(true)).open(&beside)?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        let placed = written.and_then(|()| fs::rename(&beside, &self.path));
        placed.inspect_err(|_| {
            let _ = fs::remove_file(&beside);
        })
    }

    /// Held by whoever changes the file, for the few milliseconds that it takes.
    fn turn(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        let file = owners_own(OpenOptions::new().write(true).create(true).truncate(false))
            .open(beside(&self.path, ".lock"))?;
        file.lock()?;
        Ok(file)
    }
}

impl FileStore {
    /// Changes what is remembered, with nobody else doing so in between.
    fn change(&self, change: impl FnOnce(&mut Pins)) -> Result<(), String> {
        let refused =
            |error: io::Error| format!("{} cannot be written: {error}", self.path.display());
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

    fn keep(&self, package: &str, pin: Option<Pin>) -> Result<(), String> {
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

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Only the owner reads and writes what is made.
fn owners_own(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(certificate: &str) -> Pin {
        let agreed = BTreeMap::from([("clock_in".into(), vec!["ab".into()])]);
        Pin { allowed: true, certificate: certificate.into(), agreed }
    }

    #[test]
    fn pins_outlive_the_program_in_a_file_of_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/trust.json");
        let store = FileStore::new(&path);
        assert_eq!(store.pins(), Ok(Pins::new()), "no file is no pins");
        store.keep("com.x", Some(pin("aa"))).unwrap();
        store.keep("com.y", Some(pin("bb"))).unwrap();
        store.keep("com.x", Some(pin("cc"))).unwrap();
        let again = FileStore::new(&path);
        let expected = Pins::from([("com.x".into(), pin("cc")), ("com.y".into(), pin("bb"))]);
        assert_eq!(again.pins(), Ok(expected));
        again.keep("com.y", None).unwrap();
        assert_eq!(store.pins().unwrap().len(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_no_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trust.json");
        for text in [
            "",
            "{",
            "{}",
            "[]",
            r#"{"version":2,"apps":{}}"#,
            r#"{"version":1,"apps":{"a":{"allow":true}}}"#,
        ] {
            fs::write(&path, text).unwrap();
            let store = FileStore::new(&path);
            let why = store.pins().unwrap_err();
            assert!(why.contains("trust.json") && why.contains("mend it"), "{text}: {why}");
            assert!(store.keep("com.x", Some(pin("aa"))).is_err(), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "it is left as it was");
        }
        fs::write(&path, r#"{"version":1,"apps":{"com.x":{}}}"#).unwrap();
        assert_eq!(FileStore::new(&path).pins().unwrap()["com.x"], Pin::default());
    }

    #[test]
    fn a_pin_takes_the_place_of_the_one_that_was_seen_and_of_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let file = FileStore::new(folder.path().join("trust.json"));
        let (first, second) = (pin("aa"), pin("bb"));
        for store in [&MemoryStore::default() as &dyn TrustStore, &file] {
            assert_eq!(store.replace("com.x", Some(&first), second.clone()), Ok(false));
            assert_eq!(store.pins(), Ok(Pins::new()), "it was taken away meanwhile");
            assert_eq!(store.replace("com.x", None, first.clone()), Ok(true));
            assert_eq!(store.replace("com.x", None, second.clone()), Ok(false));
            assert_eq!(store.replace("com.x", Some(&second), second.clone()), Ok(false));
            assert_eq!(store.pins().unwrap()["com.x"], first, "somebody else was first");
            assert_eq!(store.replace("com.x", Some(&first), second.clone()), Ok(true));
            assert_eq!(store.pins().unwrap()["com.x"], second);
        }
    }

    #[test]
    fn many_who_pin_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::new(folder.path().join("trust.json"));
        std::thread::scope(|scope| {
            for worker in 0..8 {
                let store = store.clone();
                scope.spawn(move || {
                    for app in 0..5 {
                        store.keep(&format!("com.w{worker}.a{app}"), Some(pin("aa"))).unwrap();
                    }
                });
            }
        });
        assert_eq!(store.pins().unwrap().len(), 40);
    }
}
