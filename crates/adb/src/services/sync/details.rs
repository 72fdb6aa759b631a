//! File metadata beyond version 1: full sizes, owners, and error numbers.

use super::{FileSync, failed};
use crate::wire::sync::Stat;
use crate::wire::sync_v2::{Errno, Reply, STAT_V2, StatV2, emit_stat_request};
use crate::{Error, Transport};

/// Stats a path without following a link. Without `stat_v2` only mode, size (modulo 4 GiB) and
/// modification time are known; the other fields are 0.
///
/// # Errors
/// The phone cannot be reached, or [`Error::Phone`] with the reason.
pub async fn details(transport: &dyn Transport, path: &str) -> Result<StatV2, Error> {
    let newer = transport.features().await?.has(STAT_V2);
    let mut sync = FileSync::open(transport).await?;
    if newer {
        return sync.details(path).await;
    }
    let stat = sync.stat(path).await?;
    if !stat.exists() {
        return Err(failed("stat", path, "it does not exist or is not accessible".into()));
    }
    Ok(from_v1(stat))
}

/// Like [`details`], but `None` if nothing is at the path. Without `stat_v2` that includes files
/// that are not accessible.
///
/// # Errors
/// The phone cannot be reached, or [`Error::Phone`] with the reason.
pub async fn details_if_exists(
    transport: &dyn Transport,
    path: &str,
) -> Result<Option<StatV2>, Error> {
    let newer = transport.features().await?.has(STAT_V2);
    let mut sync = FileSync::open(transport).await?;
    if newer {
        return match sync.details_or_errno(path).await? {
            Ok(found) => Ok(Some(found)),
            Err(errno) if MISSING.contains(&errno.0) => Ok(None),
            Err(errno) => Err(failed("stat", path, errno.to_string())),
        };
    }
    let stat = sync.stat(path).await?;
    Ok(stat.exists().then(|| from_v1(stat)))
}

/// `ENOENT`, and `ENOTDIR` for a path below a file.
const MISSING: [u32; 2] = [2, 20];

impl FileSync {
    /// Stats a path without following a link. Only for phones with `stat_v2`: others close the
    /// stream.
    ///
    /// # Errors
    /// [`Error::Phone`] with the reason, or the stream breaks.
    pub async fn details(&mut self, path: &str) -> Result<StatV2, Error> {
        let found = self.details_or_errno(path).await?;
        found.map_err(|errno| failed("stat", path, errno.to_string()))
    }

    async fn details_or_errno(&mut self, path: &str) -> Result<Result<StatV2, Errno>, Error> {
        self.begin(path)?;
        emit_stat_request(&mut self.out, path);
        self.send().await?;
        let reply = self.framed.next(Reply::decode).await?;
        let reply = reply
            .ok_or_else(|| Error::disconnected("the phone closed the stream without a reply"))?;
        self.in_request = false;
        match reply {
            Reply::Details(found) => Ok(found),
            Reply::Fail(reason) => Err(failed("stat", path, reason)),
        }
    }
}

fn from_v1(stat: Stat) -> StatV2 {
    StatV2 {
        mode: stat.mode,
        size: stat.size.into(),
        mtime: stat.mtime.into(),
        ..StatV2::default()
    }
}
