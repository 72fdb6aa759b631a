//! The cable between the phone and its hosts, and what cuts it.

use super::VirtualPhone;
use std::time::Duration;
use thumbwire_virtual_phone::time::LATEST;
use thumbwire_virtual_shell::system::sleep_real;
use tokio::time::Instant;

/// Delay between the phone's last reply and a reboot or adbd restart, so that hosts receive the
/// reply.
const SOON: Duration = Duration::from_millis(200);

/// Whether hosts can reach the phone, and how often they were disconnected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cable {
    pub(crate) unplugged: bool,
    pub(crate) cuts: u64,
    /// Connections stay open, but nothing passes.
    pub(crate) silence: Silence,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Silence {
    #[default]
    None,
    Until(Instant),
    Lasting,
}

impl Silence {
    pub(crate) fn lasts(self) -> bool {
        match self {
            Self::None => false,
            Self::Until(end) => Instant::now() < end,
            Self::Lasting => true,
        }
    }

    /// Completes when the silence ends.
    pub(crate) async fn silence_ended(self) {
        match self {
            Self::None => {}
            Self::Until(end) => tokio::time::sleep_until(end).await,
            Self::Lasting => std::future::pending().await,
        }
    }
}

impl VirtualPhone {
    /// Cuts all connections and refuses new ones until [`VirtualPhone::plug`], as if the cable was
    /// pulled.
    pub fn unplug(&self) {
        self.cable().send_modify(|cable| {
            cable.unplugged = true;
            cable.cuts += 1;
        });
    }

    /// Accepts connections again.
    pub fn plug(&self) {
        self.cable().send_modify(|cable| cable.unplugged = false);
    }

    /// Waits until the phone is unplugged: by [`VirtualPhone::unplug`], or because a host rebooted
    /// it. Returns at once if it already is. Then call [`VirtualPhone::plug`] to bring it back.
    pub async fn unplugged(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.cable().subscribe().wait_for(|cable| cable.unplugged).await;
    }

    /// Stops all traffic in both directions while connections stay open: the phone falls silent.
    pub fn silence(&self, silent: bool) {
        let silence = if silent { Silence::Lasting } else { Silence::None };
        self.cable().send_modify(|cable| cable.silence = silence);
    }

    /// The same for a limited real time, because no command could reach the phone to end it.
    pub(crate) fn silence_for(&self, time: Duration) {
        let silence = Silence::Until(Instant::now() + time.min(LATEST));
        self.cable().send_modify(|cable| cable.silence = silence);
    }

    /// Runs `step` shortly after, even if the caller has gone: for reboots and adbd restarts.
    pub(crate) fn defer(&self, step: fn(&Self)) {
        let phone = self.clone();
        tokio::spawn(async move {
            sleep_real(Some(SOON)).await;
            step(&phone);
        });
    }

    /// Cuts all connections; new ones are accepted.
    pub(crate) fn cut_all(&self) {
        self.cable().send_modify(|cable| cable.cuts += 1);
    }
}
