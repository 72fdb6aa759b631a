//! File names that callers choose: what they may contain, and why one is refused.
//!
//! Start with [`check_name`]. A name is used on the phone and on this machine, so it has no folder
//! and must be valid on every common file system. The session decides where the files go.

use std::fmt;

use serde::{Deserialize, Serialize};
use thumbwire_base::visible::has_hidden;

/// The longest name, in bytes. File systems allow 255; an extension and a number may follow.
pub const MAX_NAME: usize = 240;

/// What the Android MCP server refuses in a name, plus the backslash, which separates folders on
/// Windows.
const FORBIDDEN: [char; 9] = ['<', '>', ':', '"', '|', '?', '*', '\\', '\0'];

/// Why a file name is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileNameError {
    /// It is empty.
    Empty,
    /// It points outside the output folder: it starts with `/` or contains `..`.
    EscapesRoot,
    /// It contains a folder.
    Folder,
    /// It starts with a dash: a program that gets the name would take it for an option.
    LeadingDash,
    /// It ends in a dot: with an extension it would contain `..`, and some file systems drop the
    /// dot.
    EndsInDot,
    /// It contains characters that file systems do not allow: these, sorted, each once.
    Characters(Vec<char>),
    /// It contains invisible characters, or some that change the direction of text.
    Hidden,
    /// It has more than [`MAX_NAME`] bytes. Holds its length in characters.
    TooLong(usize),
}

/// Checks a file name.
///
/// # Errors
/// Why it is invalid.
pub fn check_name(name: &str) -> Result<(), FileNameError> {
    if name.trim().is_empty() || name == "." {
        return Err(FileNameError::Empty);
    }
    if name.contains("..") || name.starts_with('/') {
        return Err(FileNameError::EscapesRoot);
    }
    let mut invalid: Vec<char> =
        name.chars().filter(|c| FORBIDDEN.contains(c) || c.is_control()).collect();
    if !invalid.is_empty() {
        invalid.sort_unstable();
        invalid.dedup();
        return Err(FileNameError::Characters(invalid));
    }
    if name.contains('/') {
        return Err(FileNameError::Folder);
    }
    if name.starts_with('-') {
        return Err(FileNameError::LeadingDash);
    }
    if name.ends_with('.') {
        return Err(FileNameError::EndsInDot);
    }
    if has_hidden(name) {
        return Err(FileNameError::Hidden);
    }
    if name.len() > MAX_NAME {
        return Err(FileNameError::TooLong(name.chars().count()));
    }
    Ok(())
}

/// Fits after "is not a valid file name: ".
impl fmt::Display for FileNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::EscapesRoot => f.write_str("it points outside the output folder"),
            Self::Folder => f.write_str("it contains a folder; use a name without `/`"),
            Self::LeadingDash => f.write_str("it starts with a dash"),
            Self::EndsInDot => f.write_str("it ends in a dot"),
            Self::Characters(invalid) => {
                let invalid: Vec<String> = invalid.iter().map(|c| format!("{c:?}")).collect();
                write!(f, "it contains {}", invalid.join(", "))
            }
            Self::Hidden => f.write_str("it contains invisible characters"),
            Self::TooLong(characters) => {
                write!(f, "its {characters} characters exceed the limit of {MAX_NAME} bytes")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Result<(), FileNameError>) {
        assert_eq!(check_name(name), expected, "{name:?}");
    }

    #[test]
    fn usual_file_names_are_valid() {
        for name in ["shot", "shot one.png", "été.png", "a'b;id", ".hidden", "$(id)", "屏幕"] {
            check(name, Ok(()));
        }
    }

    #[test]
    fn names_with_paths_are_refused() {
        for name in ["../x.png", "/etc/passwd", "..", "a/../b", "x..y"] {
            check(name, Err(FileNameError::EscapesRoot));
        }
        check("no/such/dir.png", Err(FileNameError::Folder));
        check("trailing/", Err(FileNameError::Folder));
        check("c:x", Err(FileNameError::Characters(vec![':'])));
        check("a\\b", Err(FileNameError::Characters(vec!['\\'])));
    }

    #[test]
    fn names_that_deceive_are_refused() {
        check("-rf", Err(FileNameError::LeadingDash));
        check("--output=x.png", Err(FileNameError::LeadingDash));
        for hidden in ['\u{202e}', '\u{2066}', '\u{200b}', '\u{e0041}', '\u{2028}', '\u{feff}'] {
            check(&format!("photo{hidden}gnp.exe"), Err(FileNameError::Hidden));
        }
    }

    #[test]
    fn names_that_end_in_a_dot_are_refused() {
        for name in ["shot.", "shot.png.", " ."] {
            check(name, Err(FileNameError::EndsInDot));
        }
    }

    #[test]
    fn forbidden_characters_are_listed_once() {
        check("a:b?:.png", Err(FileNameError::Characters(vec![':', '?'])));
        check("a\0b\n", Err(FileNameError::Characters(vec!['\0', '\n'])));
        check("", Err(FileNameError::Empty));
        check("  ", Err(FileNameError::Empty));
        check(".", Err(FileNameError::Empty));
    }

    #[test]
    fn long_names_are_refused() {
        check(&"x".repeat(MAX_NAME), Ok(()));
        check(&"x".repeat(MAX_NAME + 1), Err(FileNameError::TooLong(241)));
        check(&"é".repeat(121), Err(FileNameError::TooLong(121)));
    }
}
