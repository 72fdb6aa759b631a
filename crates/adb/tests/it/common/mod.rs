//! A minimal phone: five commands, and files in memory.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod owner;
pub(crate) mod stock;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use thumbwire_adb::daemon::compress::{Compression, Decompressor, Stored};
use thumbwire_adb::daemon::shell::{ShellControl, ShellIo};
use thumbwire_adb::daemon::sockets::{Listener, Sockets};
use thumbwire_adb::daemon::sync::{self, IncomingFile, RequestV2, SyncStore};
use thumbwire_adb::daemon::{self, Handler, HostAuthorizer, ServiceRefused, Services, handler};
use thumbwire_adb::wire::sync::{self as wire, MAX_DATA, Reply};
use thumbwire_adb::wire::sync_v2::{Errno, StatV2};
use thumbwire_adb::{Banner, Features, Transport};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

/// The phone. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct TinyPhone {
    pub(crate) features: Features,
    pub(crate) store: Store,
    pub(crate) sockets: Sockets,
    /// Number of opened streams.
    pub(crate) opened: Arc<AtomicUsize>,
    /// Number of `hang` commands whose host has disconnected.
    pub(crate) left_alone: Arc<AtomicUsize>,
}

impl TinyPhone {
    pub(crate) fn modern() -> Self {
        Self { features: Features::read("shell_v2,cmd"), ..Self::default() }
    }

    /// Serves on a port chosen by the system.
    pub(crate) async fn listen(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let phone = self.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                socket.set_nodelay(true).unwrap();
                tokio::spawn(daemon::serve(socket, Arc::new(phone.clone())));
            }
        });
        address
    }

    /// Like [`Self::listen`], with authorization.
    pub(crate) async fn listen_guarded(&self, door: Arc<dyn HostAuthorizer>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let phone = self.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                socket.set_nodelay(true).unwrap();
                let (phone, door) = (Arc::new(phone.clone()), door.clone());
                tokio::spawn(daemon::serve_with_auth(socket, phone, door));
            }
        });
        address
    }

    /// The host's end of a pipe whose other end is served.
    pub(crate) fn pipe(&self) -> tokio::io::DuplexStream {
        let (near, far) = tokio::io::duplex(256 * 1024);
        tokio::spawn(daemon::serve(far, Arc::new(self.clone())));
        near
    }

    /// Runs a command: `say TEXT`, `both`, `exit N`, `cat`, `flood BYTES`, `hang`.
    async fn run(
        &self,
        command: &str,
        mut stdin: impl AsyncRead + Unpin,
        mut stdout: impl AsyncWrite + Unpin,
        mut stderr: Option<impl AsyncWrite + Unpin>,
        control: Option<&ShellControl>,
    ) -> std::io::Result<u8> {
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        match verb {
            "say" => stdout.write_all(rest.as_bytes()).await?,
            "both" => {
                stdout.write_all(b"out\n").await?;
                match &mut stderr {
                    Some(stderr) => stderr.write_all(b"err\n").await?,
                    None => stdout.write_all(b"err\n").await?,
                }
                return Ok(9);
            }
            "exit" => return Ok(rest.parse().unwrap_or(255)),
            "cat" => drop(tokio::io::copy(&mut stdin, &mut stdout).await?),
            "flood" => {
                let mut left: usize = rest.parse().unwrap_or(0);
                while left > 0 {
                    let piece = left.min(10_000);
                    stdout.write_all(&vec![b'x'; piece]).await?;
                    left -= piece;
                }
            }
            "hang" => {
                if let Some(control) = control {
                    control.closed().await;
                    self.left_alone.fetch_add(1, Ordering::SeqCst);
                }
            }
            _ => return Ok(127),
        }
        Ok(0)
    }
}

impl Services for TinyPhone {
    fn banner(&self) -> Banner {
        Banner::phone("tiny", "Tiny Phone", "tiny", self.features.clone())
    }

    fn open(&self, service: &str) -> Result<Handler, ServiceRefused> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        let phone = self.clone();
        let (name, rest) = service.split_once(':').ok_or(ServiceRefused)?;
        let command = rest.to_owned();
        let mut parts = name.split(',');
        match (parts.next(), parts.any(|part| part == "v2")) {
            (Some("sync"), _) => Ok(handler(async move |stream| {
                let _ = sync::serve(stream, &phone.store, &phone.features).await;
            })),
            (Some("shell"), true) => Ok(handler(async move |stream| {
                let ShellIo { stdin, stdout, stderr, control } = ShellIo::new(stream);
                let ran = phone.run(&command, stdin, stdout, Some(stderr), Some(&control));
                let status = ran.await.unwrap_or(1);
                control.exit(status).await;
            })),
            (Some("shell" | "exec"), false) => Ok(handler(async move |stream| {
                let none = None::<tokio::io::Sink>;
                let _ = phone.run(&command, &stream, &stream, none, None).await;
            })),
            _ => self.sockets.serve(service).unwrap_or(Err(ServiceRefused)),
        }
    }
}

/// Echoes everything to each client.
pub(crate) fn echo_inside(mut listener: Listener) {
    tokio::spawn(async move {
        while let Some(pipe) = listener.accept().await {
            tokio::spawn(async move {
                let (mut reads, mut writes) = tokio::io::split(pipe);
                let _ = tokio::io::copy(&mut reads, &mut writes).await;
            });
        }
    });
}

/// Like [`echo_inside`], on a port of this computer, which it returns.
pub(crate) async fn echo_outside() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut reads, mut writes) = socket.split();
                let _ = tokio::io::copy(&mut reads, &mut writes).await;
            });
        }
    });
    port
}

/// Sends `length` bytes and expects the same bytes back.
pub(crate) async fn echoes(pipe: impl AsyncRead + AsyncWrite, length: usize) {
    let sent = pattern(length);
    let (mut reads, mut writes) = tokio::io::split(pipe);
    let mut back = vec![0; length];
    let (written, read) =
        tokio::join!(async { writes.write_all(&sent).await }, reads.read_exact(&mut back));
    written.unwrap();
    read.unwrap();
    assert!(back == sent, "{length} bytes");
}

/// Files by their full path: metadata, and content or link target.
#[derive(Clone, Default)]
pub(crate) struct Store(pub(crate) Arc<Mutex<BTreeMap<String, (StatV2, Bytes)>>>);

impl Store {
    fn keep(&self, path: &str, mode: u32, mtime: u32, data: Bytes) {
        let details =
            StatV2 { mode, size: data.len() as u64, mtime: mtime.into(), ..StatV2::default() };
        self.0.lock().unwrap().insert(path.to_owned(), (details, data));
    }
}

#[async_trait]
impl SyncStore for Store {
    async fn stat_v2(&self, path: &str, _: bool) -> Result<StatV2, Errno> {
        if path == "/" || path == "/sdcard" {
            return Ok(StatV2 { mode: 0o040_755, size: 4096, mtime: 1, ..StatV2::default() });
        }
        self.0.lock().unwrap().get(path).map(|(details, _)| *details).ok_or(Errno(2))
    }

    async fn list(&self, path: &str) -> Vec<(String, Result<StatV2, Errno>)> {
        let files = self.0.lock().unwrap();
        let within = |(name, (details, _)): (&String, &(StatV2, Bytes))| {
            let name = name.strip_prefix(path)?.strip_prefix('/')?;
            (!name.contains('/')).then(|| (name.to_owned(), Ok(*details)))
        };
        files.iter().filter_map(within).collect()
    }

    async fn read(&self, path: &str) -> Result<Box<dyn AsyncRead + Send + Unpin>, String> {
        match self.0.lock().unwrap().get(path) {
            Some((_, data)) => Ok(Box::new(Cursor::new(data.clone()))),
            None => Err(format!("open failed: No such file or directory ({path})")),
        }
    }

    async fn write(&self, path: &str, mode: u32) -> Result<Box<dyn IncomingFile>, String> {
        if path.starts_with("/system") {
            return Err("couldn't create file: Read-only file system".into());
        }
        let (store, path) = (self.clone(), path.to_owned());
        Ok(Box::new(Growing { store, path, mode, data: Vec::new() }))
    }

    async fn link(&self, path: &str, target: &str, mtime: u32) -> Result<(), String> {
        self.keep(path, 0o120_777, mtime, target.as_bytes().to_vec().into());
        Ok(())
    }
}

struct Growing {
    store: Store,
    path: String,
    mode: u32,
    data: Vec<u8>,
}

#[async_trait]
impl IncomingFile for Growing {
    async fn chunk(&mut self, data: Bytes) -> Result<(), String> {
        self.data.extend_from_slice(&data);
        Ok(())
    }

    async fn done(self: Box<Self>, mtime: u32) -> Result<(), String> {
        self.store.keep(&self.path, 0o100_000 | self.mode, mtime, self.data.into());
        Ok(())
    }
}

/// Bytes that reveal a lost, duplicated or swapped chunk.
pub(crate) fn pattern(length: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// Reads a stream to its end as text.
pub(crate) async fn text(mut stream: impl AsyncRead + Unpin) -> String {
    let mut all = String::new();
    stream.read_to_string(&mut all).await.unwrap();
    all
}

/// Writes a file by sync version 2, as adb does.
pub(crate) async fn push_compressed(
    adb: &dyn Transport,
    path: &str,
    compression: Compression,
    content: &[u8],
) {
    let (mut packed, mut out) = (BytesMut::new(), BytesMut::new());
    let mut stored = Stored::new(compression);
    for piece in content.chunks(MAX_DATA) {
        stored.push(piece, &mut packed);
    }
    stored.finish(&mut packed);
    let (path, mode, dry_run) = (path.to_owned(), 0o640, false);
    RequestV2::Send { path, mode, compression, dry_run }.emit(&mut out);
    for piece in packed.chunks(MAX_DATA) {
        wire::emit_data(&mut out, piece);
    }
    wire::emit_done(&mut out, 7);
    wire::Request::Quit.emit(&mut out);
    let mut stream = adb.open("sync:").await.unwrap();
    stream.write_all(&out).await.unwrap();
    assert_eq!(text(stream).await, "OKAY\0\0\0\0", "{compression:?}");
}

/// Reads a file by sync version 2, as adb does.
pub(crate) async fn pull_compressed(
    adb: &dyn Transport,
    path: &str,
    compression: Compression,
) -> Vec<u8> {
    let mut out = BytesMut::new();
    RequestV2::Recv { path: path.to_owned(), compression }.emit(&mut out);
    wire::Request::Quit.emit(&mut out);
    let mut stream = adb.open("sync:").await.unwrap();
    stream.write_all(&out).await.unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await.unwrap();
    let mut received = BytesMut::from(&received[..]);
    let (mut decompressor, mut content) = (Decompressor::new(compression), Vec::new());
    loop {
        match Reply::decode(&mut received, false).unwrap().expect("the reply is complete") {
            Reply::Data(data) => decompressor.push(data),
            Reply::Done => break,
            other => panic!("{compression:?}: {other:?}"),
        }
        while let Some(piece) = decompressor.pull().unwrap() {
            content.extend_from_slice(&piece);
        }
    }
    decompressor.finish().unwrap();
    content
}
