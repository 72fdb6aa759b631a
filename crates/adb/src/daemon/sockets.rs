//! Named sockets inside a phone that has no real ones. Programs listen on them, hosts connect to
//! them through `tcp:`, `localabstract:` and the like, and hosts listen on them through `reverse:`.
//!
//! Start with [`Sockets`]: a phone has one for all its connections, and passes it the services that
//! it does not serve itself. [`Sockets::listen`] and [`Sockets::connect`] are for programs on the
//! phone. Texts and order of the replies follow `handle_forward_request` in AOSP's `adb.cpp`, as
//! compiled for a phone.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use thumbwire_base::{Io, lock};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use super::reverse_request::Request;
use super::splice::splice;
use super::{Handler, ServiceRefused, handler};
use crate::link::{LinkStream, StreamOpener};
use crate::wire::smart;

/// Limit on sockets that are listened on.
const MAX_SOCKETS: usize = 256;
/// Limit on connections that wait to be accepted at one socket.
const MAX_BACKLOG: usize = 16;
/// Bytes in flight inside the phone, each way.
const PIPE_BUFFER: usize = 64 * 1024;
/// The known kinds of sockets; `socket_spec.cpp` in AOSP's adb has a few more.
const KINDS: [&str; 5] = ["tcp", "local", "localabstract", "localreserved", "localfilesystem"];
/// The first port to choose automatically, as on Linux.
const FIRST_FREE: u16 = 32768;

/// A phone's sockets. Clones share them.
#[derive(Clone, Default)]
pub struct Sockets(Arc<Mutex<BTreeMap<String, SocketOwner>>>);

/// One end of a connection.
pub type Pipe = Box<dyn Io>;

/// Why listening or connecting failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketError {
    /// Not a valid socket name.
    InvalidName,
    /// The socket is already listened on.
    AddrInUse,
    /// Too many sockets, or too many connections waiting.
    TooMany,
    /// Nobody listens, or the listening host is gone or refuses.
    ConnectionRefused,
}

impl fmt::Display for SocketError {
    /// Linux' messages.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::InvalidName => "Invalid argument",
            Self::AddrInUse => "Address already in use",
            Self::TooMany => "Too many open files",
            Self::ConnectionRefused => "Connection refused",
        })
    }
}

/// Who listens on a socket.
enum SocketOwner {
    Program(mpsc::Sender<Pipe>),
    Host { opener: StreamOpener, target: String },
}

impl SocketOwner {
    fn is_gone(&self) -> bool {
        match self {
            Self::Program(sender) => sender.is_closed(),
            Self::Host { opener, .. } => opener.is_ended(),
        }
    }
}

/// Accepts connections for a program. Dropping it frees the socket.
pub struct Listener {
    name: String,
    connections: mpsc::Receiver<Pipe>,
}

impl Listener {
    /// The socket's name, with the chosen port.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits for the next connection. Cancel-safe.
    pub async fn accept(&mut self) -> Option<Pipe> {
        self.connections.recv().await
    }
}

impl Sockets {
    /// Lets a program of the phone listen on `name`, such as `localabstract:helper` or `tcp:0`.
    ///
    /// # Errors
    /// The name is invalid, the socket is in use, or there are too many.
    pub fn listen(&self, name: &str) -> Result<Listener, SocketError> {
        let (sender, connections) = mpsc::channel(MAX_BACKLOG);
        let name = self.bind(name, SocketOwner::Program(sender), false)?;
        Ok(Listener { name, connections })
    }

    /// Connects a program of the phone to `name`: to another program, or to a host with a reverse
    /// forward.
    ///
    /// # Errors
    /// Nobody listens, or too many connections are waiting.
    pub async fn connect(&self, name: &str) -> Result<Pipe, SocketError> {
        let name = normal(name).ok_or(SocketError::InvalidName)?;
        let (opener, target) = match self.lock().get(&name) {
            Some(SocketOwner::Host { opener, target }) => (opener.clone(), target.clone()),
            Some(SocketOwner::Program(sender)) => return connect_to_program(sender),
            None => return Err(SocketError::ConnectionRefused),
        };
        let stream = opener.open(&target).await.map_err(|_| SocketError::ConnectionRefused)?;
        Ok(Box::new(stream))
    }

    /// Serves a host's request about sockets; `None` if `service` is something else.
    pub fn serve(&self, service: &str) -> Option<Result<Handler, ServiceRefused>> {
        let sockets = self.clone();
        if let Some(request) = service.strip_prefix("reverse:") {
            let request = Request::read(request).map_err(|malformed| malformed.0);
            return Some(Ok(handler(async move |mut stream: LinkStream| {
                let answer = sockets.answer(request, &stream);
                // A disconnected host needs no reply.
                let _ = stream.write_all(&answer).await;
            })));
        }
        let (kind, _) = service.split_once(':')?;
        KINDS.contains(&kind).then(|| {
            let name = normal(service).ok_or(ServiceRefused)?;
            match self.lock().get(&name) {
                Some(SocketOwner::Program(sender)) => {
                    let pipe = connect_to_program(sender).map_err(|_| ServiceRefused)?;
                    Ok(handler(move |stream| splice(pipe, stream)))
                }
                // The same or another host: ask it meanwhile.
                Some(SocketOwner::Host { .. }) => Ok(handler(async move |stream| {
                    if let Ok(pipe) = sockets.connect(&name).await {
                        splice(pipe, stream).await;
                    }
                })),
                None => Err(ServiceRefused),
            }
        })
    }

    /// The reply to the host behind `stream`.
    fn answer(&self, request: Result<Request, String>, stream: &LinkStream) -> Vec<u8> {
        let done = match request {
            Ok(Request::List) => return text(&self.list()),
            Ok(Request::KillAll) => {
                self.lock().retain(|_, owner| matches!(owner, SocketOwner::Program(_)));
                Ok(None)
            }
            Ok(Request::Kill { listen }) => self.kill(&listen).map(|()| None),
            Ok(Request::Forward { listen, target, rebind }) => {
                let owner = SocketOwner::Host { opener: stream.opener(), target };
                self.bind(&listen, owner, rebind).map(|name| port(&name)).map_err(|reason| {
                    match reason {
                        SocketError::AddrInUse if !rebind => {
                            "cannot rebind existing socket".to_owned()
                        }
                        reason => format!("cannot bind listener: {reason}"),
                    }
                })
            }
            Err(reason) => Err(reason),
        };
        match done {
            Ok(None) => b"OKAY".to_vec(),
            Ok(Some(port)) => [&b"OKAY"[..], &text(&port.to_string())].concat(),
            Err(reason) => [&b"FAIL"[..], &text(&reason)].concat(),
        }
    }

    /// Binds a socket and returns its name.
    fn bind(&self, name: &str, owner: SocketOwner, rebind: bool) -> Result<String, SocketError> {
        let mut name = normal(name).ok_or(SocketError::InvalidName)?;
        let mut sockets = self.lock();
        sockets.retain(|_, owner| !owner.is_gone());
        if name == "tcp:0" {
            let mut free = (FIRST_FREE..=u16::MAX).map(|port| format!("tcp:{port}"));
            name = free.find(|name| !sockets.contains_key(name)).ok_or(SocketError::TooMany)?;
        }
        match sockets.get(&name) {
            Some(SocketOwner::Host { .. }) if rebind => {}
            Some(_) => return Err(SocketError::AddrInUse),
            None if sockets.len() >= MAX_SOCKETS => return Err(SocketError::TooMany),
            None => {}
        }
        sockets.insert(name.clone(), owner);
        Ok(name)
    }

    fn kill(&self, listen: &str) -> Result<(), String> {
        let name = normal(listen).unwrap_or_default();
        let mut sockets = self.lock();
        match sockets.get(&name) {
            Some(owner @ SocketOwner::Host { .. }) if !owner.is_gone() => {
                drop(sockets.remove(&name))
            }
            _ => return Err(format!("listener '{listen}' not found")),
        }
        Ok(())
    }

    /// The sockets that hosts listen on. adbd numbers its hosts; here all are one.
    fn list(&self) -> String {
        let line = |(name, owner): (&String, &SocketOwner)| match owner {
            SocketOwner::Host { target, .. } if !owner.is_gone() => {
                Some(format!("(reverse) {name} {target}\n"))
            }
            _ => None,
        };
        self.lock().iter().filter_map(line).collect()
    }

    /// Each change is one map operation, so a panic cannot leave the map half changed.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, SocketOwner>> {
        lock(&self.0)
    }
}

/// Connects to a program.
fn connect_to_program(sender: &mpsc::Sender<Pipe>) -> Result<Pipe, SocketError> {
    let (near, far) = tokio::io::duplex(PIPE_BUFFER);
    match sender.try_send(Box::new(far)) {
        Ok(()) => Ok(Box::new(near)),
        Err(mpsc::error::TrySendError::Full(_)) => Err(SocketError::TooMany),
        Err(mpsc::error::TrySendError::Closed(_)) => Err(SocketError::ConnectionRefused),
    }
}

/// The canonical name of a socket; `None` if invalid. A port may come with the phone's own address;
/// `local:` means `localreserved:` on a phone (`socket_spec.cpp` in AOSP's adb).
fn normal(name: &str) -> Option<String> {
    let (kind, rest) = name.split_once(':')?;
    match kind {
        "tcp" => {
            let port = rest.rsplit_once(':').map_or(Some(rest), |(host, port)| {
                ["localhost", "127.0.0.1", "[::1]"].contains(&host).then_some(port)
            })?;
            port.parse::<u16>().ok().map(|port| format!("tcp:{port}"))
        }
        "local" if !rest.is_empty() => Some(format!("localreserved:{rest}")),
        _ if KINDS.contains(&kind) && !rest.is_empty() => Some(name.to_owned()),
        _ => None,
    }
}

/// The port in a socket name, if any.
fn port(name: &str) -> Option<u16> {
    name.strip_prefix("tcp:")?.parse().ok()
}

/// Text with its length; empty if too long.
fn text(text: &str) -> Vec<u8> {
    smart::text(text).unwrap_or_else(|_| b"0000".to_vec())
}
