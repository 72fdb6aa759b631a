//! A way to a NATS server that can be held up, or cut off.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What the way does with bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It passes them on.
    Open,
    /// It keeps them, as the network of a program that was stopped does.
    Held,
    /// It is cut off: connections break, and new ones fail.
    Cut,
}

/// A port that leads to a server's.
pub(crate) struct Relay {
    pub(crate) port: u16,
    way: watch::Sender<Way>,
    accepting: tokio::task::JoinHandle<()>,
}

impl Relay {
    pub(crate) async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (way, state) = watch::channel(Way::Open);
        let accepting = tokio::spawn(async move {
            while let Ok((from, _)) = listener.accept().await {
                if *state.borrow() == Way::Cut {
                    continue;
                }
                let Ok(to) = TcpStream::connect(("127.0.0.1", server)).await else { continue };
                let ((from_read, from_write), (to_read, to_write)) =
                    (from.into_split(), to.into_split());
                tokio::spawn(pass(from_read, to_write, state.clone()));
                tokio::spawn(pass(to_read, from_write, state.clone()));
            }
        });
        Self { port, way, accepting }
    }

    pub(crate) fn set(&self, way: Way) {
        self.way.send_replace(way);
    }

    /// What opens the way again.
    pub(crate) fn opening(&self) -> Opening {
        Opening(self.way.clone())
    }
}

/// Opens a way.
pub(crate) struct Opening(watch::Sender<Way>);

impl Opening {
    pub(crate) fn open(&self) {
        self.0.send_replace(Way::Open);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Passes bytes on until an end closes, or the way is cut off.
async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut state: watch::Receiver<Way>) {
    let mut buffer = vec![0; 64 << 10];
    while is_open(&mut state).await {
        let count = tokio::select! {
            count = from.read(&mut buffer) => count.unwrap_or_default(),
            changed = state.changed() => match changed {
                Ok(()) => continue,
                Err(_) => return,
            },
        };
        // What came while the way was held up waits for it.
        if count == 0 || !is_open(&mut state).await || to.write_all(&buffer[..count]).await.is_err()
        {
            return;
        }
    }
}

/// Waits while the way is held up. Returns `false` once it is cut off, or gone.
async fn is_open(state: &mut watch::Receiver<Way>) -> bool {
    state.wait_for(|way| *way != Way::Held).await.is_ok_and(|way| *way == Way::Open)
}
