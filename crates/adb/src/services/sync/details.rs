//! What a phone tells of files beyond version 1: true sizes, owners, and why it tells nothing.

use super::{FileSync, MAX_LISTING, failed};
use crate::wire::sync::Stat;
use crate::wire::sync2::{Details, Errno, LS_V2, Reply, Request, STAT_V2};
use crate::{Error, Transport};

/// What the phone tells of a path, a link not followed. A phone without `stat_v2` tells mode, size
/// (modulo 4 GiB) and last change alone; the other fields are 0.
///
/// # Errors
/// The phone cannot be reached, or [`Error::Phone`] with why it tells nothing.
pub async fn details(transport: &dyn Transport, path: &str) -> Result<Details, Error> {
    let newer = transport.features().await?.has(STAT_V2);
    let mut sync = FileSync::open(transport).await?;
    if newer {
        return sync.details(path).await;
    }
    let stat = sync.stat(path).await?;
    if !stat.exists() {
        return Err(failed("look at", path, "nothing is there, or it may not be seen".into()));
    }
    Ok(from_older(stat))
}

/// What a folder of the phone holds, with details as far as [`details`] tells them. An entry that
/// may not be looked at has the reason instead. A folder that is missing or may not be read counts
/// as empty.
///
/// # Errors
/// The phone cannot be reached, or as [`FileSync::list`].
pub async fn list_details(
    transport: &dyn Transport,
    path: &str,
) -> Result<Vec<(String, Result<Details, Errno>)>, Error> {
    let newer = transport.features().await?.has(LS_V2);
    let mut sync = FileSync::open(transport).await?;
    if newer {
        return sync.list_details(path).await;
    }
    let entries = sync.list(path).await?;
    Ok(entries.into_iter().map(|entry| (entry.name, Ok(from_older(entry.stat)))).collect())
}

impl FileSync {
    /// What the phone tells of a path, a link not followed. Only for phones with `stat_v2`: others
    /// close the stream.
    ///
    /// # Errors
    /// [`Error::Phone`] with why it tells nothing, or the stream breaks.
    pub async fn details(&mut self, path: &str) -> Result<Details, Error> {
        self.ask_newer(&Request::Details { path: path.to_owned(), follow: false }).await?;
        match self.newer_reply().await? {
            Reply::Details(Ok(details)) => Ok(details),
            Reply::Details(Err(errno)) => Err(failed("look at", path, errno.to_string())),
            Reply::Fail(said) => Err(failed("look at", path, said)),
            Reply::Entry(..) | Reply::Done => Err(self.out_of_turn()),
        }
    }

    /// What a folder holds, `.` and `..` left out. Only for phones with `ls_v2`: others close the
    /// stream.
    ///
    /// # Errors
    /// [`Error::TooLarge`] when it holds more than 16 MiB of names, or the stream breaks.
    pub async fn list_details(
        &mut self,
        path: &str,
    ) -> Result<Vec<(String, Result<Details, Errno>)>, Error> {
        self.ask_newer(&Request::List(path.to_owned())).await?;
        let mut entries = Vec::new();
        let mut length = 0;
        loop {
            match self.newer_reply().await? {
                Reply::Entry(name, _) if name == "." || name == ".." => {}
                Reply::Entry(name, details) => {
                    length += size_of::<(String, Details)>() + name.len();
                    if length > MAX_LISTING {
                        let what = format!("the list of {path:?}");
                        return Err(Error::TooLarge { what, limit: MAX_LISTING });
                    }
                    entries.push((name, details));
                }
                Reply::Done => return Ok(entries),
                Reply::Fail(said) => return Err(failed("list", path, said)),
                Reply::Details(_) => return Err(self.out_of_turn()),
            }
        }
    }

    pub(super) async fn ask_newer(&mut self, request: &Request) -> Result<(), Error> {
        self.begin(request.path())?;
        request.emit(&mut self.out);
        self.send().await
    }

    async fn newer_reply(&mut self) -> Result<Reply, Error> {
        let reply = self.framed.next(Reply::decode).await?;
        let reply =
            reply.ok_or_else(|| Error::vanished("the phone closed the stream without a reply"))?;
        self.in_request = matches!(reply, Reply::Entry(..));
        Ok(reply)
    }

    fn out_of_turn(&mut self) -> Error {
        self.in_request = true;
        Error::protocol("a sync reply out of turn")
    }
}

fn from_older(stat: Stat) -> Details {
    Details {
        mode: stat.mode,
        size: stat.size.into(),
        mtime: stat.mtime.into(),
        ..Details::default()
    }
}
