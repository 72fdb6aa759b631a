//! Names of files that a caller may choose: what they may hold, and why one is refused.
//!
//! Begin with [`check_name`]. A name is used twice, on the phone and here; it is one name without a folder, which every
//! usual file system takes. Where files lie is the session's matter.

use std::fmt;

/// The longest name, in bytes. File systems take 255; an extension and a number may come behind it.
pub const LONGEST_NAME: usize = 240;

/// What seed 003's server refuses in a name, and the backslash, which parts folders on Windows.
const FORBIDDEN: [char; 9] = ['<', '>', ':', '"', '|', '?', '*', '\\', '\0'];

/// Why a file may not be called so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadName {
    /// There is nothing of it.
    Empty,
    /// It leads out of the folder in which files are kept: it begins with `/`, or holds `..`.
    Leaves,
    /// It names a folder as well.
    Folder,
    /// It holds what file systems do not take: these, in order, each once.
    Characters(Vec<char>),
    /// It has more than [`LONGEST_NAME`] bytes; how many characters it has.
    TooLong(usize),
}

/// Refuses what cannot be the name of a file.
///
/// # Errors
/// Why not.
pub fn check_name(name: &str) -> Result<(), BadName> {
    if name.trim().is_empty() || name == "." {
        return Err(BadName::Empty);
    }
    if name.contains("..") || name.starts_with('/') {
        return Err(BadName::Leaves);
    }
    let mut odd: Vec<char> =
        name.chars().filter(|c| FORBIDDEN.contains(c) || c.is_control()).collect();
    if !odd.is_empty() {
        odd.sort_unstable();
        odd.dedup();
        return Err(BadName::Characters(odd));
    }
    if name.contains('/') {
        return Err(BadName::Folder);
    }
    if name.len() > LONGEST_NAME {
        return Err(BadName::TooLong(name.chars().count()));
    }
    Ok(())
}

/// Fits after "cannot be a file's name: ".
impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Leaves => f.write_str("it leads out of the folder where files are kept"),
            Self::Folder => f.write_str("it names a folder; files are kept in one folder"),
            Self::Characters(odd) => {
                let odd: Vec<String> = odd.iter().map(|c| format!("{c:?}")).collect();
                write!(f, "it holds {}", odd.join(", "))
            }
            Self::TooLong(characters) => {
                write!(f, "its {characters} characters are more than {LONGEST_NAME} bytes")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Result<(), BadName>) {
        assert_eq!(check_name(name), expected, "{name:?}");
    }

    #[test]
    fn a_name_is_letters_digits_and_whatever_else_files_are_called() {
        for name in ["shot", "shot one.png", "été.png", "a'b;id", ".hidden", "-rf", "$(id)", "屏幕"]
        {
            check(name, Ok(()));
        }
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        for name in ["../x.png", "/etc/passwd", "..", "a/../b", "x..y"] {
            check(name, Err(BadName::Leaves));
        }
        check("no/such/dir.png", Err(BadName::Folder));
        check("trailing/", Err(BadName::Folder));
        check("c:x", Err(BadName::Characters(vec![':'])));
        check("a\\b", Err(BadName::Characters(vec!['\\'])));
    }

    #[test]
    fn what_file_systems_do_not_take_is_named_each_once() {
        check("a:b?:.png", Err(BadName::Characters(vec![':', '?'])));
        check("a\0b\n", Err(BadName::Characters(vec!['\0', '\n'])));
        check("", Err(BadName::Empty));
        check("  ", Err(BadName::Empty));
        check(".", Err(BadName::Empty));
    }

    #[test]
    fn a_name_is_as_long_as_file_systems_take() {
        check(&"x".repeat(LONGEST_NAME), Ok(()));
        check(&"x".repeat(LONGEST_NAME + 1), Err(BadName::TooLong(241)));
        check(&"é".repeat(121), Err(BadName::TooLong(121)));
    }
}
