//! One host at a time: an adbd of Android 4.4 never answers a connection that is made while it
//! serves another.
//!
//! Measured on a phone with 4.4.4: the second connection is accepted and stays open, but gets no
//! answer, not even when the first host has left; a third one that is made then is served at once.

use super::VirtualPhone;
use std::time::Duration;
use thumbwire_virtual_shell::system::sleep_real;
use tokio::sync::watch;

/// How long a connection may wait for the previous one to be cleared away after its host has left.
const CLEARING: Duration = Duration::from_millis(100);

/// The place of the host that is served; dropping it frees the place.
pub(crate) struct HostSlot(watch::Sender<bool>);

impl VirtualPhone {
    /// Takes the only place for a host; `None` if another host has it.
    pub(crate) async fn take_host_slot(&self) -> Option<HostSlot> {
        let taken = self.host_slot();
        let take = || taken.send_if_modified(|taken| !std::mem::replace(taken, true));
        if take() {
            return Some(HostSlot(taken.clone()));
        }
        let mut changes = taken.subscribe();
        tokio::select! {
            _ = changes.wait_for(|taken| !taken) => {}
            () = sleep_real(Some(CLEARING)) => {}
        }
        take().then(|| HostSlot(taken.clone()))
    }
}

impl Drop for HostSlot {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}
