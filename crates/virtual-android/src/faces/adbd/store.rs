//! The phone's files as the sync protocol serves them. Error messages are adbd's
//! (`file_sync_service.cpp`).

use crate::phone::VirtualPhone;
use async_trait::async_trait;
use bytes::Bytes;
use std::io::Cursor;
use thumbwire_adb::daemon::sync::{IncomingFile, SyncStore};
use thumbwire_adb::wire::sync_v2::{Errno, StatV2};
use thumbwire_virtual_shell::files::{Error, FileType, OpenTarget, Stat};
use tokio::io::AsyncRead;

/// Device number of the only file system: 254:6, a `dm` device as on a real phone.
const DEVICE: u64 = 254 << 8 | 6;

pub(super) struct Store(pub(super) VirtualPhone);

#[async_trait]
impl SyncStore for Store {
    async fn stat_v2(&self, path: &str, follow: bool) -> Result<StatV2, Errno> {
        let stat = self.0.files(|files| files.stat(path, follow));
        stat.map(|stat| to_stat_v2(&stat)).map_err(|reason| Errno(reason.number()))
    }

    async fn list(&self, path: &str) -> Vec<(String, Result<StatV2, Errno>)> {
        self.0.files(|files| {
            let Ok(entries) = files.list(path) else { return Vec::new() };
            let here = files
                .stat(path, true)
                .into_iter()
                .flat_map(|stat| [(".".to_owned(), stat.clone()), ("..".to_owned(), stat)]);
            here.chain(entries).map(|(name, stat)| (name, Ok(to_stat_v2(&stat)))).collect()
        })
    }

    async fn read(&self, path: &str) -> Result<Box<dyn AsyncRead + Send + Unpin>, String> {
        self.0.inject_before(&format!("pull {path}")).await;
        let contents = self.0.files(|files| files.read(path));
        contents
            .map(|contents| Box::new(Cursor::new(contents)) as Box<dyn AsyncRead + Send + Unpin>)
            .map_err(|reason| format!("open failed: {reason}"))
    }

    async fn write(&self, path: &str, mode: u32) -> Result<Box<dyn IncomingFile>, String> {
        self.0.inject_before(&format!("push {path}")).await;
        self.clear(path);
        self.make_folders(path)?;
        // Owner permissions apply to everyone.
        let mode = mode & 0o777;
        let mode = mode | mode >> 3 & 0o070;
        let mode = mode | mode >> 3 & 0o007;
        let opened = self.0.files(|files| match files.stat(path, true) {
            Ok(stat) if stat.kind == FileType::Directory => Err(Error::IsADirectory),
            _ => files.open_to_write(path, mode, false),
        });
        let opened = opened.map_err(|reason| format!("couldn't create file: {reason}"))?;
        Ok(Box::new(Upload { phone: self.0.clone(), path: path.to_owned(), opened, whole: false }))
    }

    async fn link(&self, path: &str, target: &str, mtime: u32) -> Result<(), String> {
        self.clear(path);
        self.make_folders(path)?;
        self.0.files(|files| {
            files.link(path, target).map_err(|reason| format!("symlink failed: {reason}"))?;
            // Like adbd: failing to set the time is not an error.
            let _ = files.set_modified(path, false, mtime.into());
            Ok(())
        })
    }
}

impl Store {
    /// Removes a file or link at the target path. If that fails, the next step reports it.
    fn clear(&self, path: &str) {
        self.0.files(|files| {
            if let Ok(stat) = files.stat(path, false)
                && matches!(stat.kind, FileType::File | FileType::Link)
            {
                let _ = files.remove(path, false);
            }
        });
    }

    fn make_folders(&self, path: &str) -> Result<(), String> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        self.0.files(|files| {
            for end in folder.match_indices('/').map(|(at, _)| at).skip(1).chain([folder.len()]) {
                if end > 0 && files.stat(&folder[..end], true).is_err() {
                    files
                        .make_directory(&folder[..end], 0o775)
                        .map_err(|reason| format!("secure_mkdirs failed: {reason}"))?;
                }
            }
            Ok(())
        })
    }
}

fn to_stat_v2(stat: &Stat) -> StatV2 {
    let time = i64::try_from(stat.modified).unwrap_or(i64::MAX);
    StatV2 {
        device: DEVICE,
        inode: stat.inode,
        mode: stat.full_mode(),
        links: if stat.kind == FileType::Directory { 2 } else { 1 },
        user: stat.uid,
        group: stat.gid,
        size: stat.size,
        // The phone keeps a single time for all three.
        atime: time,
        mtime: time,
        ctime: time,
    }
}

struct Upload {
    phone: VirtualPhone,
    path: String,
    opened: OpenTarget,
    whole: bool,
}

/// Removes an incomplete upload: adbd's `handle_send_file` does so when the host disconnects or the
/// disk is full.
impl Drop for Upload {
    fn drop(&mut self) {
        if let (OpenTarget::File(id), false) = (&self.opened, self.whole) {
            self.phone.files(|files| files.discard(&self.path, *id));
        }
    }
}

#[async_trait]
impl IncomingFile for Upload {
    async fn chunk(&mut self, data: Bytes) -> Result<(), String> {
        match self.opened {
            OpenTarget::File(id) => self
                .phone
                .files(|files| files.append(id, &data))
                .map_err(|reason| format!("write failed: {reason}")),
            OpenTarget::Special(_) => Ok(()),
        }
    }

    async fn done(mut self: Box<Self>, mtime: u32) -> Result<(), String> {
        self.whole = true;
        // Like adbd: failing to set the time does not fail the upload.
        let _ = self.phone.files(|files| files.set_modified(&self.path, false, mtime.into()));
        Ok(())
    }
}
