//! A phone with a helper, written by hand from the protocol description: frames of two lengths, a
//! JSON header and a body; `hello`, `call_service`, `cancel`, `bye`. The test supplies the replies.
//! It goes on when its hosts have gone, for a while that no test waits for.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use thumbwire_adb::daemon::{self, Handler, ServiceRefused, Services, handler};
use thumbwire_adb::wire::shell::{Id, emit};
use thumbwire_adb::{Banner, DirectTransport, Features, LinkStream};
use thumbwire_device::android::{Android, HelperMode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Notify;

const JAR: &str = "/data/local/tmp/thumbwire-helper-1.jar";

/// What the helper does with a request other than `hello`: nothing, one or several replies, or
/// breaking off.
pub(crate) type HelperReplies = fn(&Value) -> Vec<HelperOutput>;

pub(crate) enum HelperOutput {
    /// A frame with this header.
    Header(Value),
    /// The same, and a body.
    Body(Value, Vec<u8>),
    /// Raw bytes.
    Bytes(Vec<u8>),
    /// The process dies.
    Death,
}

pub(crate) struct PushedFile {
    pub(crate) path: String,
    pub(crate) mode: u32,
    pub(crate) content: Vec<u8>,
    pub(crate) mtime: u32,
}

/// A phone with a helper.
pub(crate) struct Phone {
    pub(crate) old: bool,
    pub(crate) lies_there: AtomicBool,
    /// Files that were written: path, permissions, content and modification time.
    pub(crate) files: Mutex<Vec<PushedFile>>,
    pub(crate) is_full: bool,
    pub(crate) listens: bool,
    pub(crate) hello: fn(&Value) -> Value,
    manner: HelperReplies,
    pub(crate) looked: AtomicUsize,
    pub(crate) starts: AtomicUsize,
    pub(crate) spared: AtomicUsize,
    /// The name at which it listens; empty if none runs.
    started: Mutex<String>,
    heard: Mutex<Vec<Value>>,
    pub(crate) hears: Notify,
    connections: AtomicUsize,
}

/// What only the shell can read.
pub(crate) const KEY: &str = "0123456789abcdef0123456789abcdef";

const OPS: [&str; 15] = [
    "apps",
    "call_service",
    "clip_get",
    "clip_set",
    "events",
    "front",
    "key",
    "release",
    "shot",
    "stream",
    "swipe",
    "tap",
    "text",
    "touch",
    "tree",
];

fn good_hello(_: &Value) -> Value {
    json!({ "ok": true, "key": KEY, "protocol": 1, "sdk": 34, "uid": 2000, "ops": OPS, "new": {} })
}

impl Phone {
    /// A normal phone, with these replies.
    pub(crate) fn with(manner: HelperReplies) -> Self {
        Self {
            old: false,
            lies_there: AtomicBool::new(true),
            files: Mutex::default(),
            is_full: false,
            listens: true,
            hello: good_hello,
            manner,
            looked: AtomicUsize::new(0),
            starts: AtomicUsize::new(0),
            spared: AtomicUsize::new(0),
            started: Mutex::default(),
            heard: Mutex::default(),
            hears: Notify::new(),
            connections: AtomicUsize::new(0),
        }
    }

    /// The phone, and a handle on it.
    pub(crate) async fn attach(self) -> (Arc<Self>, Arc<Android>) {
        let (phone, direct) = self.serve();
        let device = Android::attach("helped", direct).await.unwrap();
        (phone, Arc::new(device))
    }

    /// The phone, and a handle on it that uses the helper in this way.
    pub(crate) async fn attach_with(self, mode: HelperMode) -> (Arc<Self>, Arc<Android>) {
        let (phone, direct) = self.serve();
        (phone, attach_again(direct, mode).await)
    }

    /// The phone, and a connection to it.
    pub(crate) fn serve(self) -> (Arc<Self>, Arc<DirectTransport>) {
        let phone = Arc::new(self);
        let (near, far) = tokio::io::duplex(1 << 16);
        tokio::spawn(daemon::serve(far, Arc::new(Shared(Arc::clone(&phone)))));
        (phone, Arc::new(DirectTransport::from_io(near)))
    }

    /// The requests with this op.
    pub(crate) fn heard(&self, op: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|said| said["op"] == op).cloned().collect()
    }

    /// All requests since the handshake.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|said| said["op"] != "hello").cloned().collect()
    }

    pub(crate) async fn until_heard(&self, op: &str, times: usize) {
        loop {
            let hears = self.hears.notified();
            if self.heard(op).len() >= times {
                return;
            }
            hears.await;
        }
    }

    /// Waits until no host is connected to it.
    pub(crate) async fn until_left(&self) {
        loop {
            let hears = self.hears.notified();
            if self.connections.load(Ordering::SeqCst) == 0 {
                return;
            }
            hears.await;
        }
    }

    /// `sync:`, version 1: stats the archive and receives files.
    async fn sync(self: Arc<Self>, mut stream: LinkStream) {
        let mut head = [0; 8];
        while stream.read_exact(&mut head).await.is_ok() {
            let length = u32::from_le_bytes(head[4..].try_into().unwrap());
            let mut path = vec![0; length as usize];
            stream.read_exact(&mut path).await.unwrap();
            let path = String::from_utf8(path).unwrap();
            if &head[..4] == b"SEND" {
                self.receive(&path, &mut stream).await;
                continue;
            }
            if &head[..4] == b"RECV" {
                assert_eq!(path, format!("/data/local/tmp/{}.key", self.started.lock().unwrap()));
                let length = u32::try_from(KEY.len()).unwrap().to_le_bytes();
                let file = [&b"DATA"[..], &length, KEY.as_bytes(), b"DONE\0\0\0\0"].concat();
                stream.write_all(&file).await.unwrap();
                continue;
            }
            assert_eq!((&head[..4], &*path), (&b"STAT"[..], JAR));
            self.looked.fetch_add(1, Ordering::SeqCst);
            let stat = match self.files.lock().unwrap().iter().find(|file| file.path == JAR) {
                Some(file) => [file.mode, u32::try_from(file.content.len()).unwrap(), file.mtime],
                None if self.lies_there.load(Ordering::SeqCst) => [0o100_444, 14_000, 0],
                None => [0; 3],
            };
            let stat = stat.map(u32::to_le_bytes).concat();
            stream.write_all(&[&b"STAT"[..], &stat].concat()).await.unwrap();
        }
    }

    async fn receive(&self, request: &str, stream: &mut LinkStream) {
        let (path, mode) = request.rsplit_once(',').unwrap();
        let (path, mode, mut content) = (path.to_owned(), mode.parse().unwrap(), Vec::new());
        loop {
            let mut head = [0; 8];
            stream.read_exact(&mut head).await.unwrap();
            let number = u32::from_le_bytes(head[4..].try_into().unwrap());
            if &head[..4] == b"DONE" {
                let answer = match self.is_full {
                    true => b"FAIL\x07\0\0\0no room".to_vec(),
                    false => b"OKAY\0\0\0\0".to_vec(),
                };
                self.files.lock().unwrap().push(PushedFile { path, mode, content, mtime: number });
                return stream.write_all(&answer).await.unwrap();
            }
            assert_eq!(&head[..4], b"DATA");
            let from = content.len();
            content.resize(from + number as usize, 0);
            stream.read_exact(&mut content[from..]).await.unwrap();
        }
    }

    /// Shell commands: `getprop`, and the helper.
    async fn shell(self: Arc<Self>, command: String, mut stream: LinkStream) {
        let framed = !self.old;
        let out = move |text: &str| {
            let mut bytes = bytes::BytesMut::new();
            match framed {
                true => emit(&mut bytes, Id::Stdout, text.as_bytes()),
                false => bytes.extend_from_slice(text.replace('\n', "\r\n").as_bytes()),
            }
            bytes
        };
        if command.starts_with("getprop") {
            stream.write_all(&out(if self.old { "19\n" } else { "34\n" })).await.unwrap();
        } else if command.starts_with("cmd deviceidle") {
            assert_eq!(command, "cmd deviceidle tempwhitelist -d 15000 'com.x'");
            self.spared.fetch_add(1, Ordering::SeqCst);
        } else if let Some(names) = command.strip_prefix("mv ") {
            let [from, to] =
                names.split(' ').map(|name| name.trim_matches('\'')).collect::<Vec<_>>()[..]
            else {
                panic!("{command}")
            };
            let mut files = self.files.lock().unwrap();
            files.retain(|file| file.path != to);
            files.iter_mut().find(|file| file.path == from).unwrap().path = to.to_owned();
        } else {
            let (_, name) = command.rsplit_once(' ').unwrap();
            assert!(command.contains("exec app_process /system/bin org.thumbwire.helper.Main"));
            assert!(command.contains(&format!("CLASSPATH={JAR}")), "{command}");
            let name = name.trim_matches('\'').to_owned();
            assert!(name.len() == 27 && name.starts_with("thumbwire-helper-1-"), "{name}");
            assert!(command.starts_with("umask 077; trap '' HUP; "), "it outlives us: {command}");
            self.starts.fetch_add(1, Ordering::SeqCst);
            self.hears.notify_waiters();
            if self.listens {
                *self.started.lock().unwrap() = name;
                stream.write_all(&out("WARNING: linker: x\nready\n")).await.unwrap();
                // Until the host closes it.
                let _ = stream.read(&mut [0; 9]).await;
                return;
            }
            stream.write_all(&out("Error: no such class\nAborted\n")).await.unwrap();
        }
        if framed {
            let mut end = bytes::BytesMut::new();
            emit(&mut end, Id::Exit, &[0]);
            let _ = stream.write_all(&end).await;
        }
    }

    async fn socket(self: Arc<Self>, stream: LinkStream) {
        self.connections.fetch_add(1, Ordering::SeqCst);
        self.serve_host(stream).await;
        self.connections.fetch_sub(1, Ordering::SeqCst);
        self.hears.notify_waiters();
    }

    async fn serve_host(&self, mut stream: LinkStream) {
        let mut lengths = [0; 8];
        while stream.read_exact(&mut lengths).await.is_ok() {
            let [header, body] = [0, 4]
                .map(|at| u32::from_be_bytes(lengths[at..at + 4].try_into().unwrap()) as usize);
            let mut output = vec![0; header + body];
            stream.read_exact(&mut output).await.unwrap();
            let reply: Value = serde_json::from_slice(&output[..header]).unwrap();
            self.heard.lock().unwrap().push(reply.clone());
            self.hears.notify_waiters();
            let answers = match reply["op"].as_str() {
                Some("hello") => {
                    assert_eq!(reply["protocol"], 1);
                    vec![answer(&reply, (self.hello)(&reply))]
                }
                Some("bye") if reply["all"] == true => vec![HelperOutput::Death],
                _ => (self.manner)(&reply),
            };
            for one in answers {
                match one {
                    HelperOutput::Header(header) => {
                        stream.write_all(&frame(&header, b"")).await.unwrap()
                    }
                    HelperOutput::Body(header, body) => {
                        stream.write_all(&frame(&header, &body)).await.unwrap()
                    }
                    HelperOutput::Bytes(bytes) => stream.write_all(&bytes).await.unwrap(),
                    HelperOutput::Death => {
                        self.started.lock().unwrap().clear();
                        return;
                    }
                }
            }
        }
    }
}

fn frame(header: &Value, body: &[u8]) -> Vec<u8> {
    let header = header.to_string();
    let length = |length: usize| u32::try_from(length).unwrap().to_be_bytes();
    [&length(header.len())[..], &length(body.len()), header.as_bytes(), body].concat()
}

/// The reply to a request, with its id.
pub(crate) fn answer(reply: &Value, mut answer: Value) -> HelperOutput {
    answer["id"] = reply["id"].clone();
    HelperOutput::Header(answer)
}

/// Another handle on a phone.
pub(crate) async fn attach_again(direct: Arc<DirectTransport>, mode: HelperMode) -> Arc<Android> {
    Arc::new(Android::attach("helped", direct).await.unwrap().with_helper(mode))
}

struct Shared(Arc<Phone>);

impl Services for Shared {
    fn banner(&self) -> Banner {
        let features = if self.0.old { "" } else { "shell_v2" };
        Banner::phone("p", "Helped", "d", Features::read(features))
    }

    fn open(&self, service: &str) -> Result<Handler, ServiceRefused> {
        let phone = Arc::clone(&self.0);
        let service = service.trim_end_matches('\0');
        let name = phone.started.lock().unwrap().clone();
        if service == "sync:" {
            return Ok(handler(async move |stream| phone.sync(stream).await));
        }
        if !name.is_empty() && service == format!("localabstract:{name}") {
            return Ok(handler(async move |stream| phone.socket(stream).await));
        }
        let shell = if phone.old { "shell:" } else { "shell,v2,raw:" };
        let command = service.strip_prefix(shell).ok_or(ServiceRefused)?.to_owned();
        Ok(handler(async move |stream| phone.shell(command, stream).await))
    }
}
