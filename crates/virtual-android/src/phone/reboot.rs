//! `reboot`, by a host or a program: memory is lost, and the phone disappears until it is plugged
//! in.

use super::VirtualPhone;
use thumbwire_virtual_android_system::Properties;
use thumbwire_virtual_shell::processes::Signal;

impl VirtualPhone {
    /// Ends everything that runs and disconnects, as [`VirtualPhone::unplug`] does. The phone has
    /// restarted when it is plugged in.
    pub(crate) fn reboot(&self) {
        self.with(|phone| {
            let running: Vec<u32> =
                phone.kernel.processes.all().map(|running| running.pid).collect();
            for pid in running {
                phone.kernel.processes.send(pid, Signal::KILL);
            }
            phone.world.restart();
            if self.setup().locked {
                phone.world.lock();
            }
            phone.properties.restart(Properties::new(self.setup(), self.serial()));
        });
        self.unplug();
    }
}
