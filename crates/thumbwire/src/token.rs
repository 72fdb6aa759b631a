//! The token that callers over HTTP must hold: made at the first start, kept in a file of its owner.
//!
//! Loopback is shared by all users of a computer, and by every web page that they open; a secret in a file that only
//! one of them can read tells their programs apart. Begin with [`read_or_make`]. Who asks for it is not known here.

use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;

use crate::random;

/// A secret that a caller shows as `Authorization: Bearer …`. It is never written by `{:?}`.
#[derive(Clone)]
pub struct Token(String);

/// A token, and whether it is new.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The token.
    pub token: Token,
    /// It was made by this call, so that its owner has not seen it yet.
    pub made: bool,
}

impl Token {
    /// A token of 32 random bytes.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn generate() -> Result<Self, String> {
        Ok(Self(URL_SAFE_NO_PAD.encode(random::bytes::<32>()?)))
    }

    /// Takes a secret that somebody chose: 32 to 512 characters that a header can carry (RFC 6750, `b64token`).
    pub fn parse(text: &str) -> Option<Self> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        let long_enough = (SHORTEST..=LONGEST).contains(&text.len());
        (long_enough && text.bytes().all(fits)).then(|| Self(text.to_owned()))
    }

    /// Whether that is the same one. How long it takes tells nothing of how much of it fits.
    pub fn is(&self, offered: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(offered).into()
    }

    /// The secret itself, for its owner's eyes.
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
const LONGEST: usize = 512;

/// Reads the token in `file`, or makes one there that only its owner can read.
///
/// # Errors
/// In words: the file cannot be read or made, others can read it, or it holds something else.
pub fn read_or_make(file: &Path) -> Result<Kept, String> {
    let place = file.display();
    match fs::File::open(file) {
        Ok(open) => read(&open, file).map(|token| Kept { token, made: false }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let token = Token::generate()?;
            match keep(file, &token) {
                Ok(()) => Ok(Kept { token, made: true }),
                // Another server was quicker; it is that token its owner has seen.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let open = fs::File::open(file)
                        .map_err(|error| format!("cannot read the token in {place}: {error}"))?;
                    read(&open, file).map(|token| Kept { token, made: false })
                }
                Err(error) => Err(format!("cannot keep a new token in {place}: {error}")),
            }
        }
        Err(error) => Err(format!("cannot read the token in {place}: {error}")),
    }
}

/// Reads what was opened, so that no other file can be put in its place after it was judged.
fn read(open: &fs::File, file: &Path) -> Result<Token, String> {
    let place = file.display();
    let failed = |error: io::Error| format!("cannot read the token in {place}: {error}");
    let about = open.metadata().map_err(failed)?;
    if !about.is_file() {
        return Err(format!("{place} is no file; name one with --token-file"));
    }
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            return Err(format!(
                "the token in {place} is open to other users of this computer (mode {mode:04o}); \
                 run `chmod 600 {place}`, or remove it and a new one is made"
            ));
        }
    }
    let mut text = String::new();
    open.take(LONGEST as u64 + 16).read_to_string(&mut text).map_err(failed)?;
    Token::parse(text.trim()).ok_or_else(|| {
        format!(
            "{place} holds no token: one line of {SHORTEST} to {LONGEST} letters, digits and \
             `-._~+/=`; remove it and a new one is made"
        )
    })
}

/// Puts the token where nothing is. It is written beside and then linked, so that nobody ever reads half of it.
fn keep(file: &Path, token: &Token) -> io::Result<()> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    let beside = Path::new(&beside);
    write(beside, token)?;
    let linked = fs::hard_link(beside, file);
    fs::remove_file(beside)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // Some file systems know no links (FAT, some network shares).
            write(file, token)
        }
        linked => linked,
    }
}

/// Writes a file that was not there, readable by its owner from its first moment.
fn write(file: &Path, token: &Token) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(format!("{}\n", token.reveal()).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_and_for_its_owner_only() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("state/thumbwire/token");
        let made = read_or_make(&file).unwrap();
        assert!(made.made && made.token.reveal().len() == 43, "32 bytes in base64url");
        let found = read_or_make(&file).unwrap();
        assert!(!found.made && found.token.is(made.token.reveal().as_bytes()));
        let beside = fs::read_dir(file.parent().unwrap()).unwrap().count();
        assert_eq!(beside, 1, "nothing is left beside it");
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
    fn a_token_that_others_can_read_is_refused_and_the_words_name_chmod() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("token");
        read_or_make(&file).unwrap();
        for mode in [0o644, 0o640, 0o604, 0o620] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let error = read_or_make(&file).unwrap_err();
            assert!(error.contains(&format!("(mode {mode:04o}); run `chmod 600 ")), "{error}");
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
        read_or_make(&file).unwrap();
    }

    #[test]
    fn a_file_that_holds_no_token_is_named_and_its_text_is_not_told() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("token");
        for text in ["", "short", &"x y".repeat(20), &"a".repeat(600)] {
            let _ = fs::remove_file(&file);
            write(&file, &Token(text.to_owned())).unwrap();
            let error = read_or_make(&file).unwrap_err();
            assert!(error.contains("token holds no token"), "{error}");
            assert!(text.is_empty() || !error.contains(text), "{error}");
        }
        let error = read_or_make(home.path()).unwrap_err();
        assert!(error.contains("is no file"), "{error}");
    }

    #[test]
    fn a_token_is_the_same_only_as_a_whole_and_is_never_written_out() {
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
