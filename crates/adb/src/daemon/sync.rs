//! The phone's end of `sync:`, versions 1 and 2, over any file store.
//!
//! Files pass through in chunks of at most 64 KiB, compressed or not. Neither side holds a whole
//! file, and a slow host or store slows down the other. As in AOSP's `file_sync_service.cpp`, a
//! failed upload is reported at once and read to its end, and then the stream ends; so it does
//! after a failed download.

mod request;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::compress::{Compression, Decompressor, Stored};
use crate::framed::Framed;
use crate::link::LinkStream;
use crate::wire::MalformedMessage;
use crate::wire::sync::{
    Entry, MAX_DATA, Request, Stat, Upload, emit_data, emit_done, emit_entry, emit_fail,
    emit_listing_end, emit_okay, emit_stat,
};
use crate::wire::sync_v2::{self, Errno, StatV2};
use crate::{Error, Features};
pub use request::Request as RequestV2;
use request::SENDRECV_V2;

/// Mode bits for the file type, and for a symbolic link (`stat.h`).
const FILE_TYPE: u32 = 0o170_000;
const LINK: u32 = 0o120_000;

/// A phone's file store. Error texts reach the host unchanged ("No such file or directory").
#[async_trait]
pub trait SyncStore: Send + Sync {
    /// Stats a path; follows a link only if `follow` is set.
    async fn stat_v2(&self, path: &str, follow: bool) -> Result<StatV2, Errno>;

    /// Lists a folder without following links, including `.` and `..` if the store has them; empty
    /// if it is not a folder.
    async fn list(&self, path: &str) -> Vec<(String, Result<StatV2, Errno>)>;

    /// Opens a file for reading.
    async fn read(&self, path: &str) -> Result<Box<dyn AsyncRead + Send + Unpin>, String>;

    /// Starts writing a file with these permissions, creating missing folders.
    async fn write(&self, path: &str, mode: u32) -> Result<Box<dyn IncomingFile>, String>;

    /// Creates a symbolic link, replacing a file or link, and missing folders. `mtime` is its
    /// modification time in seconds since 1970.
    async fn link(&self, path: &str, target: &str, mtime: u32) -> Result<(), String>;
}

/// A file being written. Dropping it before [`IncomingFile::done`] aborts the upload.
#[async_trait]
pub trait IncomingFile: Send {
    /// Writes the next bytes.
    async fn chunk(&mut self, data: Bytes) -> Result<(), String>;

    /// Completes the file. `mtime` is its modification time in seconds since 1970.
    async fn done(self: Box<Self>, mtime: u32) -> Result<(), String>;
}

/// Serves one `sync:` stream until the host quits or disconnects, or a transfer fails. Supports the
/// parts of version 2 that `features` announces.
///
/// # Errors
/// The host violated the protocol and got an error, or disconnected in the middle of a message.
pub async fn serve(
    stream: LinkStream,
    files: &dyn SyncStore,
    features: &Features,
) -> Result<(), Error> {
    let mut host = SyncConnection { framed: Framed::new(&stream), out: BytesMut::new() };
    loop {
        let goes_on = match host.framed.next(|bytes| AnyRequest::decode(bytes, features)).await {
            Ok(Some(AnyRequest::First(request))) => host.answer(request, files).await,
            Ok(Some(AnyRequest::Second(request))) => host.answer_second(request, files).await,
            Ok(None) => return Ok(()),
            Err(error) => Err(error),
        };
        match goes_on {
            Ok(goes_on) => {
                host.send().await?;
                if !goes_on {
                    return Ok(());
                }
            }
            Err(error) => return host.give_up(error).await,
        }
    }
}

/// A request of either version.
enum AnyRequest {
    First(Request),
    Second(RequestV2),
}

impl AnyRequest {
    fn decode(bytes: &mut BytesMut, features: &Features) -> Result<Option<Self>, MalformedMessage> {
        let Some(id) = bytes.first_chunk::<4>().copied() else { return Ok(None) };
        if !RequestV2::knows(id) {
            return Ok(Request::decode(bytes)?.map(Self::First));
        }
        let Some(request) = RequestV2::decode(bytes)? else { return Ok(None) };
        if !features.has(request.feature()) {
            // adbd's messages for an unknown flag of a known request, and for an unknown request.
            let flags = request.unknown_flags(features);
            if flags != 0 && features.has(SENDRECV_V2) {
                return Err(MalformedMessage(format!("unknown flags: {}", flags as i32)));
            }
            let id = u32::from_le_bytes(id);
            return Err(MalformedMessage(format!("unknown command {id:08x}")));
        }
        Ok(Some(Self::Second(request)))
    }
}

struct SyncConnection<'a> {
    framed: Framed<&'a LinkStream>,
    out: BytesMut,
}

/// Each method returns whether the stream continues.
impl SyncConnection<'_> {
    async fn answer(&mut self, request: Request, files: &dyn SyncStore) -> Result<bool, Error> {
        match request {
            Request::Stat(path) => {
                let details = files.stat_v2(&path, false).await;
                emit_stat(&mut self.out, details.map(first).unwrap_or_default());
            }
            Request::List(path) => {
                for (name, details) in files.list(&path).await {
                    // Version 1 cannot report an entry that cannot be read.
                    let Ok(details) = details else { continue };
                    emit_entry(&mut self.out, &Entry { name, stat: first(details) });
                    self.send_if_much().await?;
                }
                emit_listing_end(&mut self.out);
            }
            Request::Recv(path) => {
                return self.send_file(files.read(&path).await, Compression::None).await;
            }
            Request::Send { path, mode } if mode & FILE_TYPE == LINK => {
                return self.take_link(Some(files), &path).await;
            }
            Request::Send { path, mode } => {
                let file = files.write(&path, mode).await.map(Some);
                return self.receive_file(file, Compression::None).await;
            }
            Request::Quit => return Ok(false),
        }
        Ok(true)
    }

    async fn answer_second(
        &mut self,
        request: RequestV2,
        files: &dyn SyncStore,
    ) -> Result<bool, Error> {
        match request {
            RequestV2::Details { path, follow } => {
                let details = files.stat_v2(&path, follow).await;
                sync_v2::emit_details(&mut self.out, follow, details);
            }
            RequestV2::List(path) => {
                for (name, details) in files.list(&path).await {
                    sync_v2::emit_entry(&mut self.out, &name, details);
                    self.send_if_much().await?;
                }
                sync_v2::emit_listing_end(&mut self.out);
            }
            RequestV2::Recv { path, compression } => {
                return self.send_file(files.read(&path).await, compression).await;
            }
            RequestV2::Send { path, mode, dry_run, .. } if mode & FILE_TYPE == LINK => {
                return self.take_link((!dry_run).then_some(files), &path).await;
            }
            RequestV2::Send { path, mode, compression, dry_run } => {
                let file = match dry_run {
                    true => Ok(None),
                    false => files.write(&path, mode).await.map(Some),
                };
                return self.receive_file(file, compression).await;
            }
        }
        Ok(true)
    }

    async fn send(&mut self) -> Result<(), Error> {
        let out = self.out.split();
        let mut rest = &out[..];
        while !rest.is_empty() {
            let (piece, later) = rest.split_at(rest.len().min(MAX_DATA));
            self.framed.stream.write_frame(piece, &[]).await.map_err(Error::from_io)?;
            rest = later;
        }
        Ok(())
    }

    async fn send_if_much(&mut self) -> Result<(), Error> {
        if self.out.len() >= MAX_DATA { self.send().await } else { Ok(()) }
    }

    async fn send_file(
        &mut self,
        file: Result<Box<dyn AsyncRead + Send + Unpin>, String>,
        compression: Compression,
    ) -> Result<bool, Error> {
        let mut file = match file {
            Ok(file) => file,
            Err(reason) => return Ok(self.fail(&reason)),
        };
        let mut stored = Stored::new(compression);
        let (mut chunk, mut packed) = (vec![0; MAX_DATA], BytesMut::new());
        loop {
            let read = match file.read(&mut chunk).await {
                Ok(read) => read,
                Err(error) => return Ok(self.fail(&format!("read failed: {error}"))),
            };
            if read > 0 {
                stored.push(&chunk[..read], &mut packed);
            } else {
                stored.finish(&mut packed);
            }
            while !packed.is_empty() {
                emit_data(&mut self.out, &packed.split_to(packed.len().min(MAX_DATA)));
                self.send().await?;
            }
            if read == 0 {
                emit_done(&mut self.out, 0);
                return Ok(true);
            }
        }
    }

    /// Receives a file to its end; without a file, only checks that the data is well-formed.
    async fn receive_file(
        &mut self,
        file: Result<Option<Box<dyn IncomingFile>>, String>,
        compression: Compression,
    ) -> Result<bool, Error> {
        let mut file = match file {
            Ok(file) => file,
            Err(reason) => return self.refuse(&reason).await,
        };
        let mut decompressor = Decompressor::new(compression);
        let mtime = loop {
            match self.upload().await? {
                Upload::Data(data) => decompressor.push(data),
                Upload::Done { mtime } => break mtime,
            }
            loop {
                let piece = match decompressor.pull() {
                    Ok(Some(piece)) => piece,
                    Ok(None) => break,
                    Err(_) => return self.refuse("decompress failed").await,
                };
                if let Some(file) = &mut file
                    && let Err(reason) = file.chunk(piece).await
                {
                    return self.refuse(&reason).await;
                }
                // A few bytes can expand to many chunks; let other tasks run.
                tokio::task::yield_now().await;
            }
        };
        if decompressor.finish().is_err() {
            return Ok(self.fail("decompress failed"));
        }
        if let Some(file) = file
            && let Err(reason) = file.done(mtime).await
        {
            return Ok(self.fail(&reason));
        }
        emit_okay(&mut self.out);
        Ok(true)
    }

    /// A link arrives as the single DATA of its file, with a trailing NUL, never compressed.
    async fn take_link(
        &mut self,
        files: Option<&dyn SyncStore>,
        path: &str,
    ) -> Result<bool, Error> {
        let Upload::Data(target) = self.upload().await? else {
            return Ok(self.fail("invalid data message: expected ID_DATA"));
        };
        let target = target.split(|byte| *byte == 0).next().unwrap_or_default();
        let target = String::from_utf8_lossy(target).into_owned();
        let Upload::Done { mtime } = self.upload().await? else {
            return Ok(self.fail("invalid data message: expected ID_DONE"));
        };
        if let Some(files) = files
            && let Err(reason) = files.link(path, &target, mtime).await
        {
            return Ok(self.fail(&reason));
        }
        emit_okay(&mut self.out);
        Ok(true)
    }

    async fn upload(&mut self) -> Result<Upload, Error> {
        let message = self.framed.next(Upload::decode).await?;
        message.ok_or_else(|| Error::disconnected("the host left during an upload"))
    }

    fn fail(&mut self, reason: &str) -> bool {
        emit_fail(&mut self.out, reason);
        false
    }

    /// Reports the reason at once, and keeps reading until the host notices.
    async fn refuse(&mut self, reason: &str) -> Result<bool, Error> {
        self.fail(reason);
        self.send().await?;
        while let Ok(Upload::Data(_)) = self.upload().await {}
        Ok(false)
    }

    /// After malformed data there is no place to resume: report it and end.
    async fn give_up(&mut self, error: Error) -> Result<(), Error> {
        if let Error::Protocol { saw } = &error {
            self.fail(saw);
            self.send().await?;
        }
        Err(error)
    }
}

/// The fields of version 1, 32 bits each.
fn first(details: StatV2) -> Stat {
    Stat { mode: details.mode, size: details.size as u32, mtime: details.mtime as u32 }
}
