//! Android's UiAutomation, of which a phone has one: while a program holds it, every other one that
//! needs it fails.
//!
//! Start with [`AutomationGuard::take`], for a program that holds it while it runs and puts the
//! rotation settings back at its end (measured on Android 4.4.4), and [`State::hold_automation`],
//! for Thumbwire's helper, which lets it go after some time without use, or when another program
//! starts that wants it, and leaves the rotation as it is. Such programs are seen in the process
//! table ([`State::automation_rivals`]).

use super::{State, VirtualPhone};
use std::time::Duration;
use thumbwire_virtual_shell::processes::ProcessEntry;

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
    /// The settings that it puts back.
    rotation: Option<[Option<String>; 2]>,
}

/// Whether the program uses UiAutomation: `uiautomator`, the server of Python's `uiautomator2`, an
/// instrumented test, Thumbwire's helper.
fn is_rival(process: &ProcessEntry) -> bool {
    let name = process.argv.first().map_or("", |path| path.rsplit('/').next().unwrap_or(path));
    let has = |part: &str| process.argv.iter().any(|arg| arg.contains(part));
    match name {
        "uiautomator" => true,
        "am" | "cmd" => process.argv.iter().any(|arg| arg == "instrument"),
        _ => {
            name == "app_process" && (has("uiautomator") || has("uia2") || has("thumbwire.helper"))
        }
    }
}

impl State {
    /// The processes, except this one, that use UiAutomation.
    pub(crate) fn automation_rivals(&self, own: u32) -> impl Iterator<Item = &ProcessEntry> {
        let all = self.kernel.processes.all().map(|process| &**process);
        all.filter(move |process| process.pid != own && is_rival(process))
    }

    /// The program that holds UiAutomation.
    pub(crate) fn automation_holder(&mut self) -> Option<&str> {
        let now = self.world.uptime();
        let is_over = |holder: &Holder| holder.until.is_some_and(|until| until <= now);
        if self.automation.0.as_ref().is_some_and(is_over) {
            self.release_automation();
        }
        self.automation.0.as_ref().map(|holder| holder.name.as_str())
    }

    /// Has the program hold UiAutomation until a time of the phone's clock, or until it lets go,
    /// and leave the rotation as it is. Registering it fails, and this is `false`, if another one
    /// holds it.
    pub(crate) fn hold_automation(&mut self, name: &str, until: Option<Duration>) -> bool {
        match self.automation_holder() {
            Some(holder) if holder != name => return false,
            _ => {}
        }
        self.automation.0 = Some(Holder { name: name.to_owned(), until, rotation: None });
        true
    }

    /// Has the program hold UiAutomation until it lets go; then the rotation is put back.
    fn take_automation(&mut self, name: &str) -> bool {
        if self.automation_holder().is_some() {
            return false;
        }
        let setting = |name| self.world.setting("system", name).map(str::to_owned);
        let rotation = Some(ROTATION.map(setting));
        self.automation.0 = Some(Holder { name: name.to_owned(), until: None, rotation });
        true
    }

    /// Ends the connection of a holder between two uses.
    pub(crate) fn drop_unused_automation(&mut self) {
        if self.automation.0.as_ref().is_some_and(|holder| holder.until.is_some()) {
            self.automation.0 = None;
        }
    }

    /// Ends the connection of this holder, if it is one: the rotation settings stay as they are.
    pub(crate) fn drop_automation(&mut self, name: &str) {
        if self.automation_holder() == Some(name) {
            self.automation.0 = None;
        }
    }

    /// Ends the connection of its holder. `false` if nobody holds it.
    pub(crate) fn release_automation(&mut self) -> bool {
        let Some(holder) = self.automation.0.take() else { return false };
        for (name, before) in ROTATION.into_iter().zip(holder.rotation.into_iter().flatten()) {
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
        // Where nothing waits, the program's start took no time in which it could have been seen.
        let was_seen = !phone.waits();
        let take = |phone: &mut State| {
            if was_seen {
                phone.drop_unused_automation();
            }
            phone.take_automation(name)
        };
        phone.with(take).then(|| Self(phone.clone()))
    }
}

impl Drop for AutomationGuard {
    fn drop(&mut self) {
        self.0.with(State::release_automation);
    }
}
