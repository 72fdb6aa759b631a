//! Which phones there are to choose from, and which one is meant by a call that names none.
//!
//! Begin with [`Session::chosen_id`]. Who asks for any phone gets one by seed 003's order ([`Session::choose_any`]); all
//! others get the chosen one, or the only one. The built-in phone is taken by neither unless it was named.

use thumbwire_device::{Identity, Platform};

use super::{Course, Known, Session, VIRTUAL, lock, phones};
use crate::action::{Cause, Chosen, Failure, Listed, Outcome};

/// The state of a chosen phone that is reached by its address, before it was.
const NOT_YET: &str = "not connected; the next call connects";

/// How the serials of Android's emulators begin.
const EMULATOR: &str = "emulator-";

impl Session {
    /// The chosen phone; without a choice, the only one that is there. That is remembered, so that a second
    /// phone plugged in later does not change what is driven. The built-in phone is never taken so: who wants it
    /// names it.
    pub(super) async fn chosen_id(&self) -> Result<String, Failure> {
        if let Some(id) = &*lock(&self.chosen) {
            return Ok(id.clone());
        }
        let there = self.phones.list().await?;
        let attached: Vec<_> = there.iter().filter(|phone| phone.id != VIRTUAL).collect();
        let ready = attached.iter().filter(|phone| phone.is_ready());
        match (ready.collect::<Vec<_>>().as_slice(), attached.as_slice()) {
            ([only], _) => Ok(lock(&self.chosen).get_or_insert_with(|| only.id.clone()).clone()),
            // The one that is there is most likely the one that is wanted.
            ([], [unready]) => Err(phones::not_ready(unready)),
            _ => Err(Cause::NoDeviceChosen { there }.into()),
        }
    }

    /// All phones to choose from: also those that no adb server lists, because they are reached by their address.
    pub(super) async fn there(&self) -> Result<Vec<Listed>, Failure> {
        let mut there = self.phones.list().await?;
        let listed = |there: &[Listed], id: &str| there.iter().any(|phone| phone.id == id);
        let connected: Vec<_> = lock(&self.known).values().filter_map(Known::attached).collect();
        for attached in connected {
            let Identity { id, platform, model } = attached.identity().clone();
            // Of what the server knows, it knows best.
            if phones::is_address(&id) && !listed(&there, &id) {
                let (state, properties) = ("device".into(), Vec::new());
                there.push(Listed { id, platform, model, state, properties });
            }
        }
        let chosen = lock(&self.chosen).clone();
        if let Some(id) = chosen.filter(|id| phones::is_address(id) && !listed(&there, id)) {
            // Listing connects to nothing: that may take long, and ask the phone's owner something.
            let state = NOT_YET.into();
            let (model, properties) = (String::new(), Vec::new());
            there.push(Listed { id, platform: Platform::Android, model, state, properties });
        }
        Ok(there)
    }

    pub(super) async fn choose(
        &self,
        id: &str,
        platform: Option<Platform>,
        course: &Course,
    ) -> Result<Outcome, Failure> {
        if platform == Some(Platform::Ios) {
            let what = format!("driving {id}");
            return Err(Cause::PlatformNotSupported { what, platform: Platform::Ios }.into());
        }
        let attached = self.attach(id, course).await?;
        attached.answers().await?;
        *lock(&self.chosen) = Some(id.to_owned());
        Ok(Outcome::Using(attached.identity().clone()))
    }

    /// Chooses by seed 003's order (`select_device` without an id): the phone that was chosen before, if it can still be
    /// driven, else the first physical one, else the first emulator. A phone that is reached by its address is connected
    /// to: nothing else tells whether it can be driven.
    pub(super) async fn choose_any(&self, course: &Course) -> Result<Outcome, Failure> {
        let there = self.there().await?;
        let before = lock(&self.chosen).clone();
        let still_there = |id: &String| match there.iter().find(|phone| phone.id == *id) {
            Some(phone) => phone.is_ready() || phone.state == NOT_YET,
            None => id == VIRTUAL,
        };
        let (id, chosen) = match before.filter(still_there) {
            Some(id) => (id, Chosen::Before),
            None => first(there)?,
        };
        let attached = self.attach(&id, course).await?;
        attached.answers().await?;
        *lock(&self.chosen) = Some(id.clone());
        let Identity { platform, model, .. } = attached.identity().clone();
        let listed = self.there().await?.into_iter().find(|phone| phone.id == id);
        // It may have been unlisted just now.
        let (state, properties) = ("device".into(), Vec::new());
        let listed = listed.unwrap_or(Listed { id, platform, model, state, properties });
        Ok(Outcome::Chosen(listed, chosen))
    }
}

/// The first physical phone that can be driven, else the first emulator.
fn first(mut there: Vec<Listed>) -> Result<(String, Chosen), Failure> {
    there.retain(|phone| phone.id != VIRTUAL);
    let ready = |emulator: bool| {
        let of_kind = |phone: &&Listed| phone.id.starts_with(EMULATOR) == emulator;
        there.iter().filter(|phone| phone.is_ready()).find(of_kind).map(|phone| phone.id.clone())
    };
    match (ready(false), ready(true)) {
        (Some(id), _) => Ok((id, Chosen::FirstPhysical)),
        (None, Some(id)) => Ok((id, Chosen::FirstEmulator)),
        (None, None) => Err(Cause::NoDeviceChosen { there }.into()),
    }
}
