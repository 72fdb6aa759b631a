//! The named places inside a phone that has no sockets: programs listen there, hosts reach them by
//! `tcp:`, `localabstract:` and the like, and hosts listen there themselves by `reverse:`.
//!
//! Begin with [`Sockets`]: a phone has one for all of its connections, and gives it the services that
//! it does not serve itself. [`Sockets::listen`] and [`Sockets::connect`] are for the programs inside.
//! Words and order of the answers are those of `handle_forward_request` in AOSP's `adb.cpp`, as
//! compiled for a phone.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use super::{Handler, Refused, handler};
use crate::link::{LinkStream, Opener};
use crate::splice::splice;
use crate::transport::Io;
use crate::wire::forward::{Forward, Request};
use crate::wire::smart;

/// Places at which somebody may listen at once.
const MAX_PLACES: usize = 256;
/// Who may wait at one place until they are taken in.
const BACKLOG: usize = 16;
/// Bytes under way inside the phone, each way.
const ROOM: usize = 64 * 1024;
/// The kinds of places that are known; `socket_spec.cpp` in AOSP's adb has a few more.
const KINDS: [&str; 5] = ["tcp", "local", "localabstract", "localreserved", "localfilesystem"];
/// From where on ports are chosen, as Linux does.
const FIRST_FREE: u16 = 32768;

/// A phone's places. A clone is another handle on the same ones.
#[derive(Clone, Default)]
pub struct Sockets(Arc<Mutex<BTreeMap<String, Ear>>>);

/// One end of a connection.
pub type Pipe = Box<dyn Io>;

/// Why nobody can listen at a place, or connect there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unavailable {
    /// It is no name of a place.
    NoPlace,
    /// Somebody listens there already.
    InUse,
    /// There are too many, or too many wait to be taken in.
    Full,
    /// Nobody listens there, or a host that listened is gone or refuses.
    Nobody,
}

impl fmt::Display for Unavailable {
    /// Linux' words.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NoPlace => "Invalid argument",
            Self::InUse => "Address already in use",
            Self::Full => "Too many open files",
            Self::Nobody => "Connection refused",
        })
    }
}

/// Who listens at a place.
enum Ear {
    Program(mpsc::Sender<Pipe>),
    Host { opener: Opener, target: String },
}

impl Ear {
    fn is_gone(&self) -> bool {
        match self {
            Self::Program(sender) => sender.is_closed(),
            Self::Host { opener, .. } => opener.is_ended(),
        }
    }
}

/// What a program accepts connections from. Dropping it frees the place.
pub struct Listener {
    place: String,
    connections: mpsc::Receiver<Pipe>,
}

impl Listener {
    /// Where it listens: with the port that was chosen.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Waits for the next who connects. Safe to be cancelled.
    pub async fn accept(&mut self) -> Option<Pipe> {
        self.connections.recv().await
    }
}

impl Sockets {
    /// Lets a program of the phone listen at `place`, such as `localabstract:helper` or `tcp:0`.
    ///
    /// # Errors
    /// It is no place, it is taken, or there are too many.
    pub fn listen(&self, place: &str) -> Result<Listener, Unavailable> {
        let (sender, connections) = mpsc::channel(BACKLOG);
        let place = self.put(place, Ear::Program(sender), false)?;
        Ok(Listener { place, connections })
    }

    /// Connects a program of the phone to `place`, whoever listens there: another program, or a host
    /// that had it reversed.
    ///
    /// # Errors
    /// Nobody listens there, or too many wait already.
    pub async fn connect(&self, place: &str) -> Result<Pipe, Unavailable> {
        let place = normal(place).ok_or(Unavailable::NoPlace)?;
        let (opener, target) = match self.lock().get(&place) {
            Some(Ear::Host { opener, target }) => (opener.clone(), target.clone()),
            Some(Ear::Program(sender)) => return knock(sender),
            None => return Err(Unavailable::Nobody),
        };
        let stream = opener.open(&target).await.map_err(|_| Unavailable::Nobody)?;
        Ok(Box::new(stream))
    }

    /// Serves what a host asks of places; `None` when `service` is something else.
    pub fn serve(&self, service: &str) -> Option<Result<Handler, Refused>> {
        let sockets = self.clone();
        if let Some(request) = service.strip_prefix("reverse:") {
            let request = Request::read(request).map_err(|malformed| malformed.0);
            return Some(Ok(handler(async move |mut stream: LinkStream| {
                let answer = sockets.answer(request, &stream);
                // A host that has gone needs no answer.
                let _ = stream.write_all(&answer).await;
            })));
        }
        let (kind, _) = service.split_once(':')?;
        KINDS.contains(&kind).then(|| {
            let place = normal(service).ok_or(Refused)?;
            match self.lock().get(&place) {
                Some(Ear::Program(sender)) => {
                    let pipe = knock(sender).map_err(|_| Refused)?;
                    Ok(handler(move |stream| splice(pipe, stream)))
                }
                // Another host, or the same one: it is asked meanwhile.
                Some(Ear::Host { .. }) => Ok(handler(async move |stream| {
                    if let Ok(pipe) = sockets.connect(&place).await {
                        splice(pipe, stream).await;
                    }
                })),
                None => Err(Refused),
            }
        })
    }

    /// What a host that asks by `stream` is told.
    fn answer(&self, request: Result<Request, String>, stream: &LinkStream) -> Vec<u8> {
        let done = match request {
            Ok(Request::List) => return text(&self.list()),
            Ok(Request::KillAll) => {
                self.lock().retain(|_, ear| matches!(ear, Ear::Program(_)));
                Ok(None)
            }
            Ok(Request::Kill { listen }) => self.kill(&listen).map(|()| None),
            Ok(Request::Forward { listen, target, rebind }) => {
                let ear = Ear::Host { opener: stream.opener(), target };
                self.put(&listen, ear, rebind).map(|place| port(&place)).map_err(|why| match why {
                    Unavailable::InUse if !rebind => "cannot rebind existing socket".to_owned(),
                    why => format!("cannot bind listener: {why}"),
                })
            }
            Err(said) => Err(said),
        };
        match done {
            Ok(None) => b"OKAY".to_vec(),
            Ok(Some(port)) => [&b"OKAY"[..], &text(&port.to_string())].concat(),
            Err(said) => [&b"FAIL"[..], &text(&said)].concat(),
        }
    }

    /// Takes a place, and tells its name.
    fn put(&self, place: &str, ear: Ear, rebind: bool) -> Result<String, Unavailable> {
        let mut place = normal(place).ok_or(Unavailable::NoPlace)?;
        let mut places = self.lock();
        places.retain(|_, ear| !ear.is_gone());
        if place == "tcp:0" {
            let mut free = (FIRST_FREE..=u16::MAX).map(|port| format!("tcp:{port}"));
            place = free.find(|place| !places.contains_key(place)).ok_or(Unavailable::Full)?;
        }
        match places.get(&place) {
            Some(Ear::Host { .. }) if rebind => {}
            Some(_) => return Err(Unavailable::InUse),
            None if places.len() >= MAX_PLACES => return Err(Unavailable::Full),
            None => {}
        }
        places.insert(place.clone(), ear);
        Ok(place)
    }

    fn kill(&self, listen: &str) -> Result<(), String> {
        let place = normal(listen).unwrap_or_default();
        let mut places = self.lock();
        match places.get(&place) {
            Some(ear @ Ear::Host { .. }) if !ear.is_gone() => drop(places.remove(&place)),
            _ => return Err(format!("listener '{listen}' not found")),
        }
        Ok(())
    }

    /// What hosts listen to. An adbd names its hosts by a number each; here all are one.
    fn list(&self) -> String {
        let line = |(place, ear): (&String, &Ear)| match ear {
            Ear::Host { target, .. } if !ear.is_gone() => Some(
                Forward {
                    serial: "(reverse)".into(),
                    listen: place.clone(),
                    target: target.clone(),
                }
                .to_string(),
            ),
            _ => None,
        };
        self.lock().iter().filter_map(line).collect()
    }

    /// Each change is one call of the map: a panic cannot leave it half changed.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Ear>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connects to a program.
fn knock(sender: &mpsc::Sender<Pipe>) -> Result<Pipe, Unavailable> {
    let (near, far) = tokio::io::duplex(ROOM);
    match sender.try_send(Box::new(far)) {
        Ok(()) => Ok(Box::new(near)),
        Err(mpsc::error::TrySendError::Full(_)) => Err(Unavailable::Full),
        Err(mpsc::error::TrySendError::Closed(_)) => Err(Unavailable::Nobody),
    }
}

/// A place by the one name that it has here; `None` when it is none. A port may be given with the
/// phone's own address; `local:` means `localreserved:` on a phone (`socket_spec.cpp` in AOSP's adb).
fn normal(place: &str) -> Option<String> {
    let (kind, name) = place.split_once(':')?;
    match kind {
        "tcp" => {
            let port = name.rsplit_once(':').map_or(Some(name), |(host, port)| {
                ["localhost", "127.0.0.1", "[::1]"].contains(&host).then_some(port)
            })?;
            port.parse::<u16>().ok().map(|port| format!("tcp:{port}"))
        }
        "local" if !name.is_empty() => Some(format!("localreserved:{name}")),
        _ if KINDS.contains(&kind) && !name.is_empty() => Some(place.to_owned()),
        _ => None,
    }
}

/// The port of a place that has one.
fn port(place: &str) -> Option<u16> {
    place.strip_prefix("tcp:")?.parse().ok()
}

/// A text with its length; an empty one instead of one that is too long.
fn text(text: &str) -> Vec<u8> {
    smart::text(text).unwrap_or_else(|_| b"0000".to_vec())
}
