//! What a triggered fault does to the phone.
//!
//! Start with [`VirtualPhone::inject_before`], which every command calls before it does anything,
//! and [`VirtualPhone::inject_after`], which it calls at the end.

use super::{State, VirtualPhone};
use crate::faults::{ByteCorrupter, Fault, InjectionPoint, TriggeredFault};
use thumbwire_virtual_shell::system as shell;
use thumbwire_virtual_shell::system::sleep_real;

/// The exception that the crashing app throws.
const CRASH: &str = "java.lang.IllegalStateException: injected fault";

/// Whether a fault would have an effect now; only then does its rule draw.
pub(super) fn has_effect(fault: Fault, phone: &mut State) -> bool {
    let front = phone.world.foreground().package;
    match fault {
        Fault::DiskFull => !phone.kernel.files.is_full(),
        Fault::SecureWindow => !phone.world.is_secure(&front),
        Fault::TextLost => phone.world.focused_text().is_some(),
        Fault::LayoutShift => phone.world.moves_for_banner(),
        Fault::Keyboard => phone.world.has_hidden_keyboard(),
        Fault::Popup => !phone.world.has_popped_up(),
        // Home restarts at once, so nobody would notice the crash.
        Fault::AppCrash => !phone.world.is_home(),
        Fault::Anr => !phone.world.is_home() && phone.world.responds(&front),
        _ => true,
    }
}

impl VirtualPhone {
    /// Injects the faults that are due before a command, `command`, does anything. If one cuts the
    /// connection, the command ends with it.
    pub(crate) async fn inject_before(&self, command: &str) {
        if !self.read(|phone| phone.faults.is_armed()) {
            return;
        }
        self.with(keep_text);
        for hit in self.triggered(InjectionPoint::Before, command) {
            match hit.fault {
                Fault::Slow => {
                    sleep_real(Some(hit.time())).await;
                    if !self.follows_real_time() {
                        self.sleep(hit.time()).await;
                    }
                }
                Fault::Offline => {
                    self.silence_for(hit.time());
                    // So that the silence begins before the command does.
                    tokio::task::yield_now().await;
                }
                Fault::AdbRestart => {
                    self.cut_all();
                    // The connection is cut; this future is dropped with it.
                    std::future::pending::<()>().await;
                }
                _ => self.with(|phone| apply(&hit, phone)),
            }
        }
    }

    /// Injects the faults that are due after a command.
    pub(crate) fn inject_after(&self, command: &str) {
        if self.read(|phone| phone.faults.is_armed()) {
            self.with(keep_text);
            for hit in self.triggered(InjectionPoint::After, command) {
                self.with(|phone| apply(&hit, phone));
            }
        }
    }

    /// What corrupts the output of a command, if a rule says so.
    pub(crate) fn corrupter_for(&self, command: &str) -> Option<shell::ByteCorrupter> {
        let hit = self.trigger(Fault::CorruptOutput, command)?;
        let mut corrupter = ByteCorrupter::new(hit.every(), hit.seed);
        Some(Box::new(move |bytes| corrupter.corrupt(bytes)))
    }

    /// The faults triggered at this point. Each is drawn after the previous one took effect.
    fn triggered<'a>(
        &'a self,
        point: InjectionPoint,
        command: &'a str,
    ) -> impl Iterator<Item = TriggeredFault> + 'a {
        Fault::all_at(point).filter_map(move |fault| self.trigger(fault, command))
    }
}

/// Applies a fault to the phone's state.
fn apply(hit: &TriggeredFault, phone: &mut State) {
    let front = phone.world.foreground().package;
    match hit.fault {
        Fault::TextLost => {
            let every = u32::try_from(hit.every()).unwrap_or(u32::MAX);
            phone.world.set_text_loss(every, u32::MAX);
            phone.faults.loses_text = true;
        }
        Fault::LayoutShift => phone.world.toggle_banner(),
        Fault::Keyboard => phone.world.focus_first_field(),
        Fault::AppCrash => drop(phone.world.crash(&front, CRASH)),
        Fault::Popup => {
            phone.world.pop_up("Software update", "A new version can be installed now.");
        }
        Fault::Anr => drop(phone.world.stop_responding(&front)),
        Fault::DiskFull => phone.kernel.files.fill(),
        Fault::SecureWindow => phone.world.set_secure(&front, true),
        _ => {}
    }
}

/// Ends the text loss of a rule: it applies to one command.
fn keep_text(phone: &mut State) {
    if std::mem::take(&mut phone.faults.loses_text) {
        phone.world.set_text_loss(1, 0);
    }
}
