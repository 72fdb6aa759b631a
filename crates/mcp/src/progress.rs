//! Progress of a call, on its way to the client that requested it.

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use thumbwire_core::action::Progress;
use thumbwire_core::toolset::Reply;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many progress steps may queue for a slow client; later ones are dropped.
pub(super) const UNREAD: usize = 64;

/// A step of progress: how much is done, out of how much if known, and a message.
pub(super) type ProgressStep = (u32, Option<u32>, String);

/// Queues progress for the client that requested it.
pub(super) struct ProgressQueue(pub(super) mpsc::Sender<ProgressStep>);

impl Progress for ProgressQueue {
    fn report(&self, done: u32, total: Option<u32>, text: &str) {
        // A client that does not read its progress must not delay the work.
        let _ = self.0.try_send((done, total, text.to_owned()));
    }
}

/// Runs the work and sends its progress meanwhile: in order, and all of it before the reply.
pub(super) async fn with_progress(
    work: impl Future<Output = Reply>,
    mut telling: mpsc::Receiver<ProgressStep>,
    peer: &Peer<RoleServer>,
    token: &ProgressToken,
) -> Reply {
    let tell = |step| notify_progress(peer, token, step);
    let done = CancellationToken::new();
    let working = async {
        let reply = work.await;
        done.cancel();
        reply
    };
    let formatter = async {
        loop {
            tokio::select! {
                biased;
                step = telling.recv() => match step {
                    Some(step) => tell(step).await,
                    None => return,
                },
                // The sender may outlive the work, but has no more progress.
                () = done.cancelled() => telling.close(),
            }
        }
    };
    tokio::join!(working, formatter).0
}

/// Sends a step of progress.
pub(super) async fn notify_progress(
    peer: &Peer<RoleServer>,
    token: &ProgressToken,
    (done, total, words): ProgressStep,
) {
    let mut out = ProgressNotificationParam::new(token.clone(), done.into());
    out.total = total.map(f64::from);
    out.message = Some(words);
    // If the client has disconnected, sending the reply will fail.
    let _ = peer.notify_progress(out).await;
}
