//! The token that HTTP clients must send: created at the first start and stored in a private file.
//!
//! All users of a computer share loopback, and so does every web page that they open. A secret in a
//! file that only one user can read tells their programs apart. Start with [`read_or_make`]. This
//! module knows nothing about HTTP.

use std::fmt;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;
use thumbwire_base::files::{self, Guard};

pub use thumbwire_core::action::Scope;
use thumbwire_core::random;

/// A secret that clients send as `Authorization: Bearer …`. `{:?}` never prints it.
#[derive(Clone)]
pub struct Token(String);

/// The token of one of several callers.
#[derive(Debug, Clone)]
pub struct NamedToken {
    /// The caller's name, for logs.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// The secret.
    pub token: Token,
}

/// A token from its file, and whether it is new.
#[derive(Debug, Clone)]
pub struct StoredToken {
    /// The token.
    pub token: Token,
    /// Whether this call created it, so that its owner has not seen it yet.
    pub made: bool,
}

impl Token {
    /// Generates a token of 32 random bytes.
    ///
    /// # Errors
    /// If the system provides no random bytes.
    pub fn generate() -> Result<Self, String> {
        Ok(Self(URL_SAFE_NO_PAD.encode(random::bytes::<32>()?)))
    }

    /// Accepts a user's own secret: 32 to 512 characters that are valid in a header (RFC 6750,
    /// `b64token`).
    pub fn parse(text: &str) -> Option<Self> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        let long_enough = (SHORTEST..=MAX_LENGTH).contains(&text.len());
        (long_enough && text.bytes().all(fits)).then(|| Self(text.to_owned()))
    }

    /// Compares in constant time.
    pub fn is(&self, offered: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(offered).into()
    }

    /// The secret itself, to show to its owner.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

const SHORTEST: usize = 32;
const MAX_LENGTH: usize = 512;

/// The largest file that is read, in bytes.
const MAX_SIZE: u64 = 4096;

/// Reads the token in `file`. If the file is missing, creates it, readable only by its owner.
///
/// # Errors
/// A message, if the file cannot be read or created, is readable by others, or does not hold a
/// token.
pub fn read_or_make(file: &Path) -> Result<StoredToken, String> {
    let place = file.display();
    let found = |token| StoredToken { token, made: false };
    match read(file)? {
        Some(token) => Ok(found(token)),
        None => {
            let token = Token::generate()?;
            match keep(file, &token) {
                // Its folder is checked, too.
                Ok(()) => read(file).map(|_| StoredToken { token, made: true }),
                // Another server created one first and showed it to the owner; use that.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    read(file)?.map(found).ok_or_else(|| {
                        format!("cannot read the token in {place}: a link is in the way")
                    })
                }
                Err(error) => Err(format!("cannot write a new token to {place}: {error}")),
            }
        }
    }
}

/// Whether `file` holds a token that [`read_or_make`] would use; `false` if it is missing. Creates
/// nothing.
///
/// # Errors
/// As [`read_or_make`].
pub fn check(file: &Path) -> Result<bool, String> {
    read(file).map(|token| token.is_some())
}

/// The token in the file; `None` if it is missing.
fn read(file: &Path) -> Result<Option<Token>, String> {
    let place = file.display();
    let text = match files::read_guarded(file, Guard::Secret, MAX_SIZE) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read the token in {place}: {error}")),
    };
    Token::parse(text.trim()).map(Some).ok_or_else(|| {
        format!(
            "invalid token in {place}: expected one line of {SHORTEST} to {MAX_LENGTH} letters, digits and \
             `-._~+/=`. Remove the file to get a new one"
        )
    })
}

/// Creates the token file, of which nobody reads a half.
fn keep(file: &Path, token: &Token) -> io::Result<()> {
    files::make_folder_of(file)?;
    files::write_new(file, format!("{}\n", token.reveal()).as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn token_is_created_once_with_private_mode() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("state/thumbwire/token");
        let made = read_or_make(&file).unwrap();
        assert!(made.made && made.token.reveal().len() == 43, "32 bytes in base64url");
        let found = read_or_make(&file).unwrap();
        assert!(!found.made && found.token.is(made.token.reveal().as_bytes()));
        let beside = fs::read_dir(file.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "no temporary file remains");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&file), 0o600);
            assert_eq!(mode(file.parent().unwrap()), 0o700);
        }
    }

    #[cfg(unix)]
    #[test]
    fn token_readable_by_others_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("token");
        read_or_make(&file).unwrap();
        for mode in [0o644, 0o640, 0o604, 0o620] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let error = read_or_make(&file).unwrap_err();
            assert!(error.contains(&format!("(mode {mode:04o}). Run `chmod 600 ")), "{error}");
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
        read_or_make(&file).unwrap();
    }

    #[test]
    fn invalid_token_file_is_reported_without_its_text() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("token");
        for text in ["", "short", &"x y".repeat(20), &"a".repeat(600)] {
            let _ = fs::remove_file(&file);
            keep(&file, &Token(text.to_owned())).unwrap();
            let error = read_or_make(&file).unwrap_err();
            assert!(error.contains("invalid token in "), "{error}");
            assert!(text.is_empty() || !error.contains(text), "{error}");
        }
        let error = read_or_make(home.path()).unwrap_err();
        assert!(error.contains("not a regular file"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_fifo_is_refused_at_once() {
        let home = tempfile::tempdir().unwrap();
        let pipe = home.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = read_or_make(&pipe).unwrap_err();
        assert!(error.contains("not a regular file"), "{error}");
    }

    #[test]
    fn token_matches_exactly_and_stays_out_of_debug_output() {
        let token = Token::generate().unwrap();
        let text = token.reveal().to_owned();
        assert!(token.is(text.as_bytes()));
        for other in ["", &text[..42], &format!("{text}A"), &text.to_uppercase()] {
            assert!(!token.is(other.as_bytes()), "{other}");
        }
        assert!(!format!("{token:?}").contains(&text));
        assert_ne!(Token::generate().unwrap().reveal(), text);
    }
}
