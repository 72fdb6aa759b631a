//! Which phones can be selected, and which one a call without a device means.
//!
//! Start with [`SessionCall::chosen_id`]. A caller who asks for any phone gets one in the order of
//! the Android MCP server reference ([`SessionCall::select_default`]); everyone else gets the
//! selected one, or the only one. Neither picks the built-in virtual phone unless it was named.

use std::time::Duration;

use futures::future::join_all;
use thumbwire_base::truncate;
use thumbwire_device::{Identity, Platform};

use super::SessionCall;
use crate::action::{
    Cause, DefaultDevice, DeviceKind, Failure, ListedDevice, Outcome, SelectionReason,
};

/// How long listing may take to connect. The owner has some seconds to accept our key; the tool
/// that lists has 15 s.
const CONNECTING: Duration = Duration::from_secs(9);

/// A state quotes what the transport reports.
const MAX_STATE: usize = 300;

impl SessionCall<'_> {
    /// The phone that the call's client selected; without a selection, the only one there is. That
    /// choice is remembered, so a second phone plugged in later does not change which one is used.
    /// The built-in virtual phone must be named. If the operator named several phones, there is no
    /// default, whichever are connected.
    pub(super) async fn chosen_id(&self) -> Result<String, Failure> {
        if let Some(id) = self.selected_device() {
            return Ok(id);
        }
        if self.session.configured.len() > 1 {
            return Err(Cause::NoDeviceChosen { devices: self.list_devices().await }.into());
        }
        let devices = self.session.listed_everywhere().await;
        let attached = DeviceKind::candidates(&devices);
        let ready = attached.iter().filter(|phone| phone.is_ready());
        let none = || Cause::NoDeviceChosen { devices: devices.clone() }.into();
        match (ready.collect::<Vec<_>>().as_slice(), attached.as_slice()) {
            ([only], _) => Ok(self.select_if_none(&only.id)),
            // The only phone there is most likely the one that is meant.
            ([], [unready]) => Err(unready.not_ready().unwrap_or_else(none)),
            _ => Err(none()),
        }
    }

    /// All phones to choose from, including those with an address, which no list announces:
    /// connected, selected, or named by the operator.
    pub(super) async fn list_devices(&self) -> Vec<ListedDevice> {
        let mut devices = self.session.listed_everywhere().await;
        let listed =
            |devices: &[ListedDevice], id: &str| devices.iter().any(|phone| phone.id == id);
        for attached in self.session.connections.all() {
            let Identity { id, platform, model } = attached.identity().clone();
            // If a provider lists the phone, use its entry.
            if let Some(phone) =
                self.session.connections.phones.unlisted(&id).filter(|_| !listed(&devices, &id))
            {
                let state = ListedDevice::READY.into();
                devices.push(ListedDevice { platform, model, state, ..phone });
            }
        }
        let chosen = self.selected_device();
        for id in chosen.iter().chain(&self.session.configured) {
            if !listed(&devices, id) {
                devices.extend(self.session.connections.phones.unlisted(id));
            }
        }
        devices
    }

    /// Connects to the selected phone, and to those that the operator named, if they have an
    /// address, which no list announces. Returns the ids and states of those that cannot be used.
    pub(super) async fn connect_named(&self) -> Vec<(String, String)> {
        let mut ids: Vec<String> = self.selected_device().into_iter().collect();
        for id in &self.session.configured {
            if !ids.contains(id) {
                ids.push(id.clone());
            }
        }
        let asked = join_all(ids.into_iter().map(|id| self.connect_to(id))).await;
        asked.into_iter().flatten().collect()
    }

    async fn connect_to(&self, id: String) -> Option<(String, String)> {
        self.session.connections.phones.unlisted(&id)?;
        // Not the call's own phone: a phone that does not answer is part of the list.
        let connected = tokio::time::timeout(CONNECTING, self.session.connected(&id)).await;
        let state = match connected {
            Ok(Ok(_)) => return None,
            Ok(Err(Failure { cause: Cause::DeviceNotAuthorized { .. }, .. })) => {
                "unauthorized".into()
            }
            Ok(Err(Failure { cause, .. })) => match cause {
                Cause::DeviceNotConnected { reason, .. }
                | Cause::DeviceNotAnswering { reason, .. } => format!("not connected: {reason}"),
                cause => format!("not connected: {cause}"),
            },
            Err(_) => format!("not connected: no answer within {} s", CONNECTING.as_secs()),
        };
        Some((id, truncate(&state, MAX_STATE)))
    }

    pub(super) async fn choose(
        &self,
        id: &str,
        platform: Option<Platform>,
    ) -> Result<Outcome, Failure> {
        let attached = self.attach(id).await?;
        if let Some(platform) = platform.filter(|it| *it != attached.identity().platform) {
            let what = format!("selecting {id}");
            return Err(Cause::PlatformNotSupported { what, platform }.into());
        }
        attached.answers().await?;
        self.set_selected_device(id);
        Ok(Outcome::DeviceSelected(attached.identity().clone()))
    }

    /// Selects in the order of the Android MCP server reference (`select_device` without an id):
    /// the previous phone if it is still usable, else the first physical one, else the first
    /// emulator. A phone with an address is connected first: nothing else tells whether it is
    /// usable.
    pub(super) async fn select_default(&self) -> Result<Outcome, Failure> {
        let devices = self.list_devices().await;
        let before = self.selected_device();
        let is_usable = |id: &String| match devices.iter().find(|phone| phone.id == *id) {
            Some(phone) => phone.is_ready() || phone.state == ListedDevice::NOT_YET,
            None => self.session.connections.phones.owns(id) || self.session.is_remote(id),
        };
        let (id, chosen) = match before.filter(is_usable) {
            Some(id) => (id, SelectionReason::AlreadySelected),
            None => first(devices)?,
        };
        let Identity { platform, model, .. } = self.select(&id).await?;
        let listed = self.list_devices().await.into_iter().find(|phone| phone.id == id);
        // It may have disappeared from the list since.
        let listed = listed.unwrap_or_else(|| ListedDevice {
            id,
            platform,
            model,
            state: ListedDevice::READY.into(),
            kind: DeviceKind::Physical,
            properties: Vec::new(),
        });
        Ok(Outcome::DefaultDeviceSelected(DefaultDevice { device: listed, reason: chosen }))
    }
}

/// The first physical phone that is ready, else the first emulator.
fn first(devices: Vec<ListedDevice>) -> Result<(String, SelectionReason), Failure> {
    let candidates = DeviceKind::candidates(&devices);
    let ready = |is_emulator: bool| {
        let mut ready = candidates.iter().filter(|phone| phone.is_ready());
        ready
            .find(|phone| (phone.kind == DeviceKind::Emulator) == is_emulator)
            .map(|phone| phone.id.clone())
    };
    match (ready(false), ready(true)) {
        (Some(id), _) => Ok((id, SelectionReason::FirstPhysical)),
        (None, Some(id)) => Ok((id, SelectionReason::FirstEmulator)),
        (None, None) => Err(Cause::NoDeviceChosen { devices }.into()),
    }
}
