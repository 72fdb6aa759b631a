//! The phone's half of `sync:`, version 1, over any store of files.
//!
//! Files pass through in pieces of at most 64 KiB: neither side holds one whole, and a slow host or a
//! slow store slows the other down. As in AOSP's `file_sync_service.cpp`, an upload that fails is
//! read to its end and then answered, and the stream goes on.

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::Error;
use crate::framed::Framed;
use crate::link::LinkStream;
use crate::wire::sync::{
    Entry, MAX_DATA, Request, Stat, Upload, emit_data, emit_done, emit_entry, emit_fail,
    emit_listing_end, emit_okay, emit_stat,
};

/// A phone's files. Reasons are told to the host as they are ("No such file or directory").
#[async_trait]
pub trait Files: Send + Sync {
    /// What is at a path; `None` when there is nothing.
    async fn stat(&self, path: &str) -> Option<Stat>;

    /// What a folder holds, `.` and `..` included if the store has them; nothing when it is none.
    async fn list(&self, path: &str) -> Vec<Entry>;

    /// Opens a file for reading.
    async fn read(&self, path: &str) -> Result<Box<dyn AsyncRead + Send + Unpin>, String>;

    /// Begins to write a file with these permissions, making the folders on the way.
    async fn write(&self, path: &str, mode: u32) -> Result<Box<dyn Upcoming>, String>;
}

/// A file that is being written. Dropped before [`Upcoming::done`], it was broken off.
#[async_trait]
pub trait Upcoming: Send {
    /// Takes the next bytes.
    async fn chunk(&mut self, data: Bytes) -> Result<(), String>;

    /// That was all. `mtime` is its last change, in seconds since 1970.
    async fn done(self: Box<Self>, mtime: u32) -> Result<(), String>;
}

/// Serves one `sync:` stream until the host quits or goes away.
///
/// # Errors
/// The host broke the protocol, which it has been told; or it vanished in the middle of a message.
pub async fn serve(stream: LinkStream, files: &dyn Files) -> Result<(), Error> {
    let mut host = Host { framed: Framed::new(&stream), out: BytesMut::new() };
    loop {
        let request = match host.framed.next(Request::decode).await {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) => return host.give_up(error).await,
        };
        match request {
            Request::Stat(path) => {
                emit_stat(&mut host.out, files.stat(&path).await.unwrap_or_default());
            }
            Request::List(path) => host.list(files.list(&path).await).await?,
            Request::Recv(path) => host.give(files.read(&path).await).await?,
            Request::Send { path, mode } => {
                let taken = host.take(files.write(&path, mode).await).await;
                match taken {
                    Ok(Ok(())) => emit_okay(&mut host.out),
                    Ok(Err(reason)) => emit_fail(&mut host.out, &reason),
                    Err(error) => return host.give_up(error).await,
                }
            }
            Request::Quit => return Ok(()),
        }
        host.send().await?;
    }
}

struct Host<'a> {
    framed: Framed<&'a LinkStream>,
    out: BytesMut,
}

impl Host<'_> {
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

    async fn list(&mut self, entries: Vec<Entry>) -> Result<(), Error> {
        for entry in &entries {
            emit_entry(&mut self.out, entry);
            if self.out.len() >= MAX_DATA {
                self.send().await?;
            }
        }
        emit_listing_end(&mut self.out);
        Ok(())
    }

    async fn give(
        &mut self,
        file: Result<Box<dyn AsyncRead + Send + Unpin>, String>,
    ) -> Result<(), Error> {
        let mut file = match file {
            Ok(file) => file,
            Err(reason) => {
                emit_fail(&mut self.out, &reason);
                return Ok(());
            }
        };
        let mut chunk = vec![0; MAX_DATA];
        loop {
            match file.read(&mut chunk).await {
                Ok(0) => {
                    emit_done(&mut self.out, 0);
                    return Ok(());
                }
                Ok(read) => emit_data(&mut self.out, &chunk[..read]),
                Err(error) => {
                    emit_fail(&mut self.out, &error.to_string());
                    return Ok(());
                }
            }
            self.send().await?;
        }
    }

    /// Takes an upload to its end. The inner error is why the store did not want it.
    async fn take(
        &mut self,
        file: Result<Box<dyn Upcoming>, String>,
    ) -> Result<Result<(), String>, Error> {
        let mut file = file;
        loop {
            let message = self.framed.next(Upload::decode).await?;
            match (message, file) {
                (Some(Upload::Data(data)), Ok(mut upcoming)) => {
                    file = upcoming.chunk(data).await.map(|()| upcoming);
                }
                (Some(Upload::Data(_)), Err(reason)) => file = Err(reason),
                (Some(Upload::Done { mtime }), Ok(upcoming)) => {
                    return Ok(upcoming.done(mtime).await);
                }
                (Some(Upload::Done { .. }), Err(reason)) => return Ok(Err(reason)),
                (None, _) => return Err(Error::vanished("the host left during an upload")),
            }
        }
    }

    /// What cannot be understood leaves no place to go on from: say why and end.
    async fn give_up(&mut self, error: Error) -> Result<(), Error> {
        if let Error::Protocol { saw } = &error {
            emit_fail(&mut self.out, saw);
            self.send().await?;
        }
        Err(error)
    }
}
