//! Files with secrets: readable by their owner only. What is in them belongs to the callers.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// The mode of a file that others than its owner can access; `None` if it is private.
#[cfg(unix)]
pub(crate) fn shared_mode(about: &fs::Metadata) -> Option<u32> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Windows has no modes.
#[cfg(not(unix))]
pub(crate) fn shared_mode(_: &fs::Metadata) -> Option<u32> {
    None
}

/// Creates the folder of a file, for its owner only, if it is missing.
pub(crate) fn make_folder(file: &Path) -> io::Result<()> {
    let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Creates a file that is private from the start. Fails if it exists.
pub(crate) fn create(file: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(content)
}
