//! The phone's half of `sync:`, versions 1 and 2, over any store of files.
//!
//! Files pass through in pieces of at most 64 KiB, compressed or not: neither side holds one whole,
//! and a slow host or a slow store slows the other down. As in AOSP's `file_sync_service.cpp`, a file
//! that cannot be taken is answered at once and read to its end, and then the stream ends; so it does
//! after one that cannot be given.

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::framed::Framed;
use crate::link::LinkStream;
use crate::wire::Malformed;
use crate::wire::compress::{Compression, Compressor, Decompressor};
use crate::wire::sync::{
    Entry, MAX_DATA, Request, Stat, Upload, emit_data, emit_done, emit_entry, emit_fail,
    emit_listing_end, emit_okay, emit_stat,
};
use crate::wire::sync2::{self, Details, Errno};
use crate::{Error, Features};

/// The bits of a file type in a mode, and those of a link (`stat.h`).
const FILE_TYPE: u32 = 0o170_000;
const LINK: u32 = 0o120_000;

/// A phone's files. Reasons are told to the host as they are ("No such file or directory").
#[async_trait]
pub trait Files: Send + Sync {
    /// What is at a path; of a link, only if `follow`, what it leads to.
    async fn details(&self, path: &str, follow: bool) -> Result<Details, Errno>;

    /// What a folder holds, links not followed, `.` and `..` included if the store has them; nothing
    /// when it is none.
    async fn list(&self, path: &str) -> Vec<(String, Result<Details, Errno>)>;

    /// Opens a file for reading.
    async fn read(&self, path: &str) -> Result<Box<dyn AsyncRead + Send + Unpin>, String>;

    /// Begins to write a file with these permissions, making the folders on the way.
    async fn write(&self, path: &str, mode: u32) -> Result<Box<dyn Upcoming>, String>;

    /// Makes a symbolic link in place of whatever file or link is there, and the folders on the way.
    /// `mtime` is its last change, in seconds since 1970.
    async fn link(&self, path: &str, target: &str, mtime: u32) -> Result<(), String>;
}

/// A file that is being written. Dropped before [`Upcoming::done`], it was broken off.
#[async_trait]
pub trait Upcoming: Send {
    /// Takes the next bytes.
    async fn chunk(&mut self, data: Bytes) -> Result<(), String>;

    /// That was all. `mtime` is its last change, in seconds since 1970.
    async fn done(self: Box<Self>, mtime: u32) -> Result<(), String>;
}

/// Serves one `sync:` stream until the host quits or goes away, or a file could not be taken or
/// given. Of version 2 it knows what `features` announce.
///
/// # Errors
/// The host broke the protocol, which it has been told; or it vanished in the middle of a message.
pub async fn serve(
    stream: LinkStream,
    files: &dyn Files,
    features: &Features,
) -> Result<(), Error> {
    let mut host = Host { framed: Framed::new(&stream), out: BytesMut::new() };
    loop {
        let goes_on = match host.framed.next(|bytes| Asked::decode(bytes, features)).await {
            Ok(Some(Asked::First(request))) => host.answer(request, files).await,
            Ok(Some(Asked::Second(request))) => host.answer_second(request, files).await,
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
enum Asked {
    First(Request),
    Second(sync2::Request),
}

impl Asked {
    fn decode(bytes: &mut BytesMut, features: &Features) -> Result<Option<Self>, Malformed> {
        let Some(id) = bytes.first_chunk::<4>().copied() else { return Ok(None) };
        if !sync2::Request::knows(id) {
            return Ok(Request::decode(bytes)?.map(Self::First));
        }
        let Some(request) = sync2::Request::decode(bytes)? else { return Ok(None) };
        if !features.has(request.feature()) {
            // adbd's words for what it has not: a flag of a request that it has, or the request.
            let flags = request.unknown_flags(features);
            if flags != 0 && features.has(sync2::SENDRECV_V2) {
                return Err(Malformed(format!("unknown flags: {}", flags as i32)));
            }
            let id = u32::from_le_bytes(id);
            return Err(Malformed(format!("unknown command {id:08x}")));
        }
        Ok(Some(Self::Second(request)))
    }
}

struct Host<'a> {
    framed: Framed<&'a LinkStream>,
    out: BytesMut,
}

/// Each answer tells whether the stream goes on.
impl Host<'_> {
    async fn answer(&mut self, request: Request, files: &dyn Files) -> Result<bool, Error> {
        match request {
            Request::Stat(path) => {
                let details = files.details(&path, false).await;
                emit_stat(&mut self.out, details.map(first).unwrap_or_default());
            }
            Request::List(path) => {
                for (name, details) in files.list(&path).await {
                    // Version 1 has no words for one that may not be looked at.
                    let Ok(details) = details else { continue };
                    emit_entry(&mut self.out, &Entry { name, stat: first(details) });
                    self.send_if_much().await?;
                }
                emit_listing_end(&mut self.out);
            }
            Request::Recv(path) => {
                return self.give(files.read(&path).await, Compression::None).await;
            }
            Request::Send { path, mode } if mode & FILE_TYPE == LINK => {
                return self.take_link(Some(files), &path).await;
            }
            Request::Send { path, mode } => {
                let file = files.write(&path, mode).await.map(Some);
                return self.take(file, Compression::None).await;
            }
            Request::Quit => return Ok(false),
        }
        Ok(true)
    }

    async fn answer_second(
        &mut self,
        request: sync2::Request,
        files: &dyn Files,
    ) -> Result<bool, Error> {
        match request {
            sync2::Request::Details { path, follow } => {
                let details = files.details(&path, follow).await;
                sync2::emit_details(&mut self.out, follow, details);
            }
            sync2::Request::List(path) => {
                for (name, details) in files.list(&path).await {
                    sync2::emit_entry(&mut self.out, &name, details);
                    self.send_if_much().await?;
                }
                sync2::emit_listing_end(&mut self.out);
            }
            sync2::Request::Recv { path, compression } => {
                return self.give(files.read(&path).await, compression).await;
            }
            sync2::Request::Send { path, mode, dry_run, .. } if mode & FILE_TYPE == LINK => {
                return self.take_link((!dry_run).then_some(files), &path).await;
            }
            sync2::Request::Send { path, mode, compression, dry_run } => {
                let file = match dry_run {
                    true => Ok(None),
                    false => files.write(&path, mode).await.map(Some),
                };
                return self.take(file, compression).await;
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

    async fn give(
        &mut self,
        file: Result<Box<dyn AsyncRead + Send + Unpin>, String>,
        compression: Compression,
    ) -> Result<bool, Error> {
        let mut file = match file {
            Ok(file) => file,
            Err(reason) => return Ok(self.fail(&reason)),
        };
        let mut compressor = Compressor::new(compression);
        let (mut chunk, mut packed) = (vec![0; MAX_DATA], BytesMut::new());
        loop {
            let read = match file.read(&mut chunk).await {
                Ok(read) => read,
                Err(error) => return Ok(self.fail(&format!("read failed: {error}"))),
            };
            let pushed = if read > 0 {
                compressor.push(&chunk[..read], &mut packed)
            } else {
                std::mem::replace(&mut compressor, Compressor::new(Compression::None))
                    .finish(&mut packed)
            };
            if let Err(error) = pushed {
                return Ok(self.fail(&format!("compress failed: {error}")));
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

    /// Takes a file to its end; without one, only looks whether it can be understood.
    async fn take(
        &mut self,
        file: Result<Option<Box<dyn Upcoming>>, String>,
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
                // A few bytes can stand for many pieces, and others have their turn.
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

    /// A link comes as the one DATA of its file, with a NUL at its end, never compressed.
    async fn take_link(&mut self, files: Option<&dyn Files>, path: &str) -> Result<bool, Error> {
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
        message.ok_or_else(|| Error::vanished("the host left during an upload"))
    }

    fn fail(&mut self, reason: &str) -> bool {
        emit_fail(&mut self.out, reason);
        false
    }

    /// Says why at once, and reads what the host sends until it notices.
    async fn refuse(&mut self, reason: &str) -> Result<bool, Error> {
        self.fail(reason);
        self.send().await?;
        while let Ok(Upload::Data(_)) = self.upload().await {}
        Ok(false)
    }

    /// What cannot be understood leaves no place to go on from: say why and end.
    async fn give_up(&mut self, error: Error) -> Result<(), Error> {
        if let Error::Protocol { saw } = &error {
            self.fail(saw);
            self.send().await?;
        }
        Err(error)
    }
}

/// What version 1 has room for: 32 bits each.
fn first(details: Details) -> Stat {
    Stat { mode: details.mode, size: details.size as u32, mtime: details.mtime as u32 }
}
