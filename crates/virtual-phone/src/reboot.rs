//! `reboot`, by a host or by a program: what was in memory is gone, and so is the phone, until its owner plugs it in.

use crate::phone::VirtualPhone;
use crate::processes::Signal;
use crate::programs::Properties;

impl VirtualPhone {
    /// Ends everything that runs and goes away, as [`VirtualPhone::unplug`] does. It is found restarted when it is plugged in.
    pub(crate) fn reboot(&self) {
        self.with(|phone| {
            let running: Vec<u32> = phone.processes.all().map(|running| running.pid).collect();
            for pid in running {
                phone.processes.send(pid, Signal::KILL);
            }
            phone.world.restart();
            phone.properties.restart(Properties::new(self.setup(), self.serial()));
        });
        self.unplug();
    }
}
