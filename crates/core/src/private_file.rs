//! Files with secrets: readable by their owner only. What is in them belongs to the callers.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// The mode of a file that others than its owner can access; `None` if it is private.
#[cfg(unix)]
pub fn shared_mode(about: &fs::Metadata) -> Option<u32> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Windows has no modes.
#[cfg(not(unix))]
pub fn shared_mode(_: &fs::Metadata) -> Option<u32> {
    None
}

/// Creates the folder of a file, for its owner only, if it is missing.
///
/// # Errors
/// The system's.
pub fn make_folder(file: &Path) -> io::Result<()> {
    let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Options with which a new file is private from the start.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a file that is private from the start.
///
/// # Errors
/// The system's; [`io::ErrorKind::AlreadyExists`] if the file exists.
pub fn create(file: &Path, content: &[u8]) -> io::Result<()> {
    options().write(true).create_new(true).open(file)?.write_all(content)
}
