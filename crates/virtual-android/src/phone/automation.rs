//! Android's UiAutomation, of which a phone has one: while a program holds it, every other one that
//! needs it fails.
//!
//! Start with [`AutomationGuard::take`], for a program that holds it while it runs, and
//! [`State::hold_automation`], for one that lets it go after some time without use. Letting go puts
//! the rotation settings back to what they were at the start (measured on Android 4.4.4).

use super::{State, VirtualPhone};
use std::time::Duration;

/// The settings that it puts back.
const ROTATION: [&str; 2] = ["accelerometer_rotation", "user_rotation"];

/// Who holds it.
#[derive(Debug, Clone, Default)]
pub(crate) struct UiAutomation(Option<Holder>);

#[derive(Debug, Clone)]
struct Holder {
    name: String,
    /// When it lets go; `None` while it runs.
    until: Option<Duration>,
    rotation: [Option<String>; 2],
}

impl State {
    /// The program that holds UiAutomation.
    pub(crate) fn automation_holder(&mut self) -> Option<&str> {
        let now = self.world.uptime();
        let is_over = |holder: &Holder| holder.until.is_some_and(|until| until <= now);
        if self.automation.0.as_ref().is_some_and(is_over) {
            self.release_automation();
        }
        self.automation.0.as_ref().map(|holder| holder.name.as_str())
    }

    /// Has the program hold UiAutomation until a time of the phone's clock, or until it lets go.
    /// `false` if another one holds it.
    pub(crate) fn hold_automation(&mut self, name: &str, until: Option<Duration>) -> bool {
        match self.automation_holder() {
            Some(holder) if holder != name => return false,
            Some(_) => {}
            None => {
                let setting = |name| self.world.setting("system", name).map(str::to_owned);
                let rotation = ROTATION.map(setting);
                self.automation.0 = Some(Holder { name: name.to_owned(), until: None, rotation });
            }
        }
        if let Some(holder) = &mut self.automation.0 {
            holder.until = until;
        }
        true
    }

    /// Ends the connection of a holder that was killed: the rotation settings stay as they are.
    pub(crate) fn drop_automation(&mut self, name: &str) {
        if self.automation_holder() == Some(name) {
            self.automation.0 = None;
        }
    }

    /// Ends the connection of its holder. `false` if nobody holds it.
    pub(crate) fn release_automation(&mut self) -> bool {
        let Some(holder) = self.automation.0.take() else { return false };
        for (name, before) in ROTATION.into_iter().zip(holder.rotation) {
            if let Some(before) = before
                && self.world.setting("system", name) != Some(before.as_str())
            {
                self.world.put_setting("system", name, &before);
            }
        }
        true
    }
}

/// Holds UiAutomation until dropped.
pub(crate) struct AutomationGuard(VirtualPhone);

impl AutomationGuard {
    /// Takes it for a program; `None` if another one has it.
    pub(crate) fn take(phone: &VirtualPhone, name: &str) -> Option<Self> {
        let is_free = |phone: &mut State| phone.automation_holder().is_none();
        phone
            .with(|phone| is_free(phone) && phone.hold_automation(name, None))
            .then(|| Self(phone.clone()))
    }
}

impl Drop for AutomationGuard {
    fn drop(&mut self) {
        self.0.with(State::release_automation);
    }
}
