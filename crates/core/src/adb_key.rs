//! The RSA key that authenticates this computer to phones: adb's own, created if missing.
//!
//! A phone that has authorized the user's `adb` has therefore authorized Thumbwire as well, and
//! vice versa.

use std::io;
use std::path::Path;

use thumbwire_adb::Key;
use thumbwire_base::files;

/// The largest file that is read, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// Reads the private key in `file`. If the file is missing, creates it, readable only by its owner,
/// with the public key in `file.pub`. `name` is what a phone displays for the key, such as
/// `user@host`.
///
/// # Errors
/// A message, if the file cannot be read or created or does not hold a key.
pub fn read_or_make(file: &Path, name: &str) -> Result<Key, String> {
    let place = file.display();
    match files::read_text(file, MAX_SIZE) {
        Ok(pem) => Key::from_pem(&pem).map_err(|error| format!("{place}: failed to {error}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = Key::generate().map_err(|error| format!("failed to {error}"))?;
            let pem = key.to_pem().map_err(|error| format!("failed to {error}"))?;
            match keep(file, &pem, &key.public_line(name)) {
                Ok(()) => Ok(key),
                // Another program created one first; use that.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let pem =
                        files::read_text(file, MAX_SIZE).map_err(|e| format!("{place}: {e}"))?;
                    Key::from_pem(&pem).map_err(|error| format!("{place}: failed to {error}"))
                }
                Err(error) => Err(format!("cannot write a new key to {place}: {error}")),
            }
        }
        Err(error) => Err(format!("cannot read {place}: {error}")),
    }
}

/// The state of a key's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// It holds a key.
    Private,
    /// It holds a key, and other users of this computer can read it.
    ReadableByOthers,
    /// The file does not exist.
    Missing,
}

/// What [`read_or_make`] would find in `file`. Creates nothing.
///
/// # Errors
/// A message, if the file cannot be read or does not hold a key.
pub fn check(file: &Path) -> Result<KeyState, String> {
    let about = match files::open(file).and_then(|open| open.metadata()) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(KeyState::Missing),
        Err(error) => return Err(format!("cannot read {}: {error}", file.display())),
    };
    read_or_make(file, "")?;
    Ok(match files::shared_mode(&about) {
        Some(_) => KeyState::ReadableByOthers,
        None => KeyState::Private,
    })
}

fn keep(file: &Path, private: &str, public: &str) -> io::Result<()> {
    files::make_folder_of(file)?;
    files::write_new(file, private.as_bytes())?;
    let mut beside = file.as_os_str().to_owned();
    beside.push(".pub");
    files::write(Path::new(&beside), format!("{public}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn key_is_created_once_with_private_mode() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".android/adbkey");
        let made = read_or_make(&file, "me@here").unwrap().public_line("");
        assert_eq!(read_or_make(&file, "me@here").unwrap().public_line(""), made);
        let public = fs::read_to_string(home.path().join(".android/adbkey.pub")).unwrap();
        assert!(public.starts_with(made.trim()) && public.trim().ends_with(" me@here"), "{public}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn invalid_key_file_is_reported_and_kept() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("adbkey");
        fs::write(&file, "not a key").unwrap();
        let error = read_or_make(&file, "me@here").map(drop).unwrap_err();
        assert!(error.contains("adbkey") && !error.contains("not a key"), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "not a key");
    }
}
