//! Signals by which somebody asks the program to end.

/// Listens for them from when it is made: a second one is not lost while the first is acted upon.
pub(super) struct Asked {
    #[cfg(unix)]
    signals: Vec<tokio::signal::unix::Signal>,
}

impl Asked {
    /// Begins to listen. Where a signal cannot be listened for, it ends the program as ever.
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

    /// Until somebody asks the program to end: by Ctrl-C, or as a service manager or a closed terminal does.
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
