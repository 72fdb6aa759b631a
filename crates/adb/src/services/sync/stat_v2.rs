//! File metadata beyond version 1: full sizes, owners, and error numbers.

use super::{FileSync, MAX_LISTING, failed};
use crate::wire::sync::Stat;
use crate::wire::sync_v2::{Errno, LS_V2, Reply, Request, STAT_V2, StatV2};
use crate::{Error, Transport};

/// Stats a path without following a link. Without `stat_v2` only mode, size (modulo 4 GiB) and modification time are
/// known; the other fields are 0.
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

/// The same, or `None` if nothing is at the path. Without `stat_v2` that includes what is not accessible.
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

/// Lists a folder with metadata, as complete as [`details`] has it. An entry that cannot be read carries its error
/// instead. A missing or unreadable folder is empty.
///
/// # Errors
/// The phone cannot be reached, or see [`FileSync::list`].
pub async fn list_details(
    transport: &dyn Transport,
    path: &str,
) -> Result<Vec<(String, Result<StatV2, Errno>)>, Error> {
    let newer = transport.features().await?.has(LS_V2);
    let mut sync = FileSync::open(transport).await?;
    if newer {
        return sync.list_details(path).await;
    }
    let entries = sync.list(path).await?;
    Ok(entries.into_iter().map(|entry| (entry.name, Ok(from_v1(entry.stat)))).collect())
}

impl FileSync {
    /// Stats a path without following a link. Only for phones with `stat_v2`: others close the stream.
    ///
    /// # Errors
    /// [`Error::Phone`] with the reason, or the stream breaks.
    pub async fn details(&mut self, path: &str) -> Result<StatV2, Error> {
        let found = self.details_or_errno(path).await?;
        found.map_err(|errno| failed("stat", path, errno.to_string()))
    }

    async fn details_or_errno(&mut self, path: &str) -> Result<Result<StatV2, Errno>, Error> {
        self.request_v2(&Request::Details { path: path.to_owned(), follow: false }).await?;
        match self.read_v2_reply().await? {
            Reply::Details(found) => Ok(found),
            Reply::Fail(said) => Err(failed("stat", path, said)),
            Reply::Entry(..) | Reply::Done => Err(self.desynchronized()),
        }
    }

    /// Lists a folder, without `.` and `..`. Only for phones with `ls_v2`: others close the stream.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than 16 MiB of names, or the stream breaks.
    pub async fn list_details(
        &mut self,
        path: &str,
    ) -> Result<Vec<(String, Result<StatV2, Errno>)>, Error> {
        self.request_v2(&Request::List(path.to_owned())).await?;
        let mut entries = Vec::new();
        let mut length = 0;
        loop {
            match self.read_v2_reply().await? {
                Reply::Entry(name, _) if name == "." || name == ".." => {}
                Reply::Entry(name, details) => {
                    length += size_of::<(String, StatV2)>() + name.len();
                    if length > MAX_LISTING {
                        let what = format!("the listing of {path:?}");
                        return Err(Error::TooLarge { what, limit: MAX_LISTING });
                    }
                    entries.push((name, details));
                }
                Reply::Done => return Ok(entries),
                Reply::Fail(said) => return Err(failed("list", path, said)),
                Reply::Details(_) => return Err(self.desynchronized()),
            }
        }
    }

    pub(super) async fn request_v2(&mut self, request: &Request) -> Result<(), Error> {
        self.begin(request.path())?;
        request.emit(&mut self.out);
        self.send().await
    }

    async fn read_v2_reply(&mut self) -> Result<Reply, Error> {
        let reply = self.framed.next(Reply::decode).await?;
        let reply = reply
            .ok_or_else(|| Error::disconnected("the phone closed the stream without a reply"))?;
        self.in_request = matches!(reply, Reply::Entry(..));
        Ok(reply)
    }

    fn desynchronized(&mut self) -> Error {
        self.in_request = true;
        Error::protocol("an unexpected sync reply")
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
