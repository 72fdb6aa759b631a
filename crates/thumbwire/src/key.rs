//! The key by which phones know this computer: adb's own, made where there is none.
//!
//! A phone that trusts the user's `adb` then trusts us as well, and the other way round.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use thumbwire_adb::Key;

/// Reads the private key in `file`, or makes one there, readable by its owner only, with its public half beside it
/// in `file.pub`. `name` is what a phone shows for it, such as `user@host`.
///
/// # Errors
/// In words: the file cannot be read or made, or holds something else.
pub fn read_or_make(file: &Path, name: &str) -> Result<Key, String> {
    let place = file.display();
    match fs::read_to_string(file) {
        Ok(pem) => Key::from_pem(&pem).map_err(|error| format!("{place}: failed to {error}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = Key::generate().map_err(|error| format!("failed to {error}"))?;
            let pem = key.to_pem().map_err(|error| format!("failed to {error}"))?;
            match keep(file, &pem, &key.public_line(name)) {
                Ok(()) => Ok(key),
                // Another program was quicker; it is that key the phone will know.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let pem = fs::read_to_string(file).map_err(|e| format!("{place}: {e}"))?;
                    Key::from_pem(&pem).map_err(|error| format!("{place}: failed to {error}"))
                }
                Err(error) => Err(format!("cannot keep a new key in {place}: {error}")),
            }
        }
        Err(error) => Err(format!("cannot read {place}: {error}")),
    }
}

fn keep(file: &Path, private: &str, public: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(private.as_bytes())?;
    let mut beside = file.as_os_str().to_owned();
    beside.push(".pub");
    fs::write(beside, format!("{public}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_for_its_owner_only() {
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
    fn a_file_that_holds_no_key_is_named_and_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("adbkey");
        fs::write(&file, "not a key").unwrap();
        let error = read_or_make(&file, "me@here").map(drop).unwrap_err();
        assert!(error.contains("adbkey") && !error.contains("not a key"), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "not a key");
    }
}
