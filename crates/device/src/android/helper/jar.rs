//! The helper's archive: its bytes, its place on the phone, and how it gets there.
//!
//! A file with our size and modification time is there already: we set that time to a part of our
//! hash. Whether it is ours is checked by its hash in the command that starts it. Old phones have
//! no program that computes hashes: there it is written before each start.

use thumbwire_adb::services::sync;
use thumbwire_adb::wire::sync_v2::StatV2;
use thumbwire_adb::{self as adb, Transport};

use super::HelperUnavailable;
use crate::android::temporary_file::random_hex;
use crate::android::{ShellCommand, transport_error};
use crate::error::excerpt;
use crate::{Error, SideEffect};

/// Where it is. The name contains the version of the wire, so no other version is used by accident.
pub(super) const PATH: &str = "/data/local/tmp/thumbwire-helper-1.jar";

/// [`PATH`] as the class path of `app_process`.
pub(super) const CLASS_PATH: &str = "CLASSPATH=/data/local/tmp/thumbwire-helper-1.jar";

/// The start of the name of its socket. A phone has one helper of each build, for all Thumbwires.
const SOCKET: &str = "thumbwire-helper-1-";

/// What `helper/build` makes from `helper/src`, and the hashes of both.
const BYTES: &[u8] = include_bytes!("../../../../../helper/thumbwire-helper.jar");
const HASHES: &str = include_str!("../../../../../helper/thumbwire-helper.txt");

/// A regular file without write permission: Android 14 starts no classes from a writable one.
const MODE: u32 = 0o100_444;

/// Writes our archive to the phone, unless it seems to be there.
pub(super) async fn push(transport: &dyn Transport) -> Result<(), HelperUnavailable> {
    let lost = |error| HelperUnavailable::from(transport_error(error, SideEffect::None));
    let (size, mtime) = (BYTES.len() as u64, i64::from(mtime()));
    let existing = details(transport).await.map_err(lost)?;
    match existing.is_some_and(|file| file.size == size && file.mtime == mtime) {
        true => Ok(()),
        false => replace(transport).await,
    }
}

/// Writes our archive to the phone. It takes the place of another file once it is complete.
pub(super) async fn replace(transport: &dyn Transport) -> Result<(), HelperUnavailable> {
    let lost = |error| HelperUnavailable::from(transport_error(error, SideEffect::None));
    let mtime = mtime();
    let new = format!("{PATH}.{}", random_hex::<4>()?);
    match sync::push(transport, &new, MODE, mtime, BYTES).await {
        Ok(_) => {}
        Err(adb::Error::Phone { text, .. }) => {
            return Err(HelperUnavailable::Failed(format!("cannot write {new}: {text}")));
        }
        Err(error) => return Err(lost(error)),
    }
    // Not `mv -f`: Android 4.4 does not know it, and replaces the file without it.
    let replace = ShellCommand::new("mv").arg(&new)?.arg(PATH)?;
    let output = adb::services::shell::run(transport, replace.as_str()).await.map_err(lost)?;
    let text = [&output.stdout[..], &output.stderr].concat();
    if !text.trim_ascii().is_empty() {
        return Err(HelperUnavailable::Failed(format!("cannot write {PATH}: {}", excerpt(text))));
    }
    tracing::debug!("pushed the helper to {PATH}");
    Ok(())
}

async fn details(transport: &dyn Transport) -> Result<Option<StatV2>, adb::Error> {
    match sync::details(transport, PATH).await {
        Ok(details) => Ok(Some(details)),
        Err(adb::Error::Phone { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The modification time that marks our archive: the first 31 bits of its hash, which fit all
/// phones.
fn mtime() -> u32 {
    u32::from_str_radix(hash(), 16).unwrap_or(0) >> 1
}

/// The abstract socket at which it listens.
pub(super) fn socket() -> String {
    format!("{SOCKET}{}", hash())
}

/// The file with the key that it tells at the handshake, which only the shell can read: any app may
/// listen at such a name.
pub(super) fn key_path() -> String {
    format!("/data/local/tmp/{}.key", socket())
}

/// The first eight digits of the hash of our archive.
fn hash() -> &'static str {
    whole_hash().get(..8).unwrap_or_default()
}

/// The SHA-256 of our archive, in hexadecimal.
fn whole_hash() -> &'static str {
    let hash = HASHES.lines().find_map(|line| line.strip_prefix("jar ")).unwrap_or_default();
    hash.trim()
}

/// What the phone prints if the file is another one.
pub(super) const NOT_OURS: &str = "this is not our helper";

/// The beginning of a command that ends here unless the file is ours. `is_fresh`: we have just
/// written it, so that a phone without `sha256sum` may believe it.
pub(super) fn check_command(line: ShellCommand, is_fresh: bool) -> Result<ShellCommand, Error> {
    let line = line.then("h=$(sha256sum").arg(PATH)?.then("2>/dev/null);");
    let line = if is_fresh { line.then("[ -z \"$h\" ] ||") } else { line };
    let line = line.then("[ \"${h%% *}\" =").arg(whole_hash())?.then("] || { echo");
    Ok(line.arg(NOT_OURS)?.then("; exit; };"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_is_marked_by_its_hash() {
        assert!(mtime() > 0 && mtime() < 1 << 31);
        assert!(BYTES.starts_with(b"PK\x03\x04") && whole_hash().len() == 64);
    }
}
