//! Shutdown signals.

#[cfg(feature = "agent")]
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of an interrupted run (128 + SIGINT).
#[cfg(feature = "agent")]
pub(super) const INTERRUPTED: u8 = 130;

/// Whether a run handles signals itself.
#[cfg(feature = "agent")]
static HANDLED: AtomicBool = AtomicBool::new(false);

/// From now on until [`ShutdownSignal::handled`], a signal ends the program, after `first`.
#[cfg(feature = "agent")]
pub(super) fn exit_at_signal(first: fn()) {
    let mut asked = ShutdownSignal::new();
    tokio::spawn(async move {
        loop {
            asked.ending().await;
            if !HANDLED.load(Ordering::SeqCst) {
                first();
                std::process::exit(INTERRUPTED.into());
            }
        }
    });
}

/// Listens for shutdown signals from its creation on, so that a second one is not lost while the
/// first is handled.
pub(super) struct ShutdownSignal {
    #[cfg(unix)]
    signals: Vec<tokio::signal::unix::Signal>,
}

impl ShutdownSignal {
    /// Starts listening. A signal that cannot be caught ends the program as usual.
    pub(super) fn new() -> Self {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
            Self { signals: kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect() }
        }
        #[cfg(not(unix))]
        Self {}
    }

    /// Starts listening, and ends what [`exit_at_signal`] began.
    #[cfg(feature = "agent")]
    pub(super) fn handled() -> Self {
        HANDLED.store(true, Ordering::SeqCst);
        Self::new()
    }

    /// Waits for the next signal: Ctrl-C, or SIGTERM and SIGHUP from a service manager or a closed
    /// terminal.
    pub(super) async fn ending(&mut self) {
        #[cfg(unix)]
        {
            let asked = self.signals.iter_mut().map(|signal| Box::pin(signal.recv()));
            let asked: Vec<_> = asked.collect();
            if asked.is_empty() {
                std::future::pending::<()>().await;
            }
            futures::future::select_all(asked).await;
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
