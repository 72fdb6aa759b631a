//! Running processes and background commands of the phone.

use super::{State, VirtualPhone};
use thumbwire_virtual_shell::processes::jobs::JobList;
use thumbwire_virtual_shell::processes::{ADBD, ProcessRow};

/// Maximum commands that outlive their shell and host; beyond that the oldest ends. A real phone
/// has no limit.
const MAX_DETACHED: usize = 32;

impl State {
    /// Processes by number: some of the system's, running apps, and the programs of shells.
    pub(crate) fn process_rows(&self) -> Vec<ProcessRow> {
        let old = !self.release().userland.toybox;
        let row = |user: &str, pid, parent, name: &str| ProcessRow {
            user: user.to_owned(),
            pid,
            parent,
            argv: vec![name.to_owned()],
        };
        let mut rows = vec![
            row("root", 1, 0, if old { "/init" } else { "init" }),
            row("root", 2, 0, "kthreadd"),
            row(
                "system",
                398,
                1,
                if old { "/system/bin/surfaceflinger" } else { "surfaceflinger" },
            ),
            row("root", 402, 1, if old { "zygote" } else { "zygote64" }),
            row("shell", ADBD, 1, if old { "/sbin/adbd" } else { "adbd" }),
            row("system", 1_432, 402, "system_server"),
            row("u0_a95", 1_655, 402, "com.android.systemui"),
        ];
        if !old {
            rows.push(row("logd", 212, 1, "logd"));
        }
        for manifest in self.world.packages() {
            if let Some(pid) = self.world.pid_of(&manifest.package) {
                let user = match manifest.uid {
                    1_000 => "system".to_owned(),
                    uid => format!("u0_a{}", uid % 10_000),
                };
                rows.push(row(&user, pid, 402, &manifest.package));
            }
        }
        rows.extend(self.kernel.processes.rows());
        rows.sort_by_key(|row| row.pid);
        rows
    }
}

impl VirtualPhone {
    /// Keeps background commands that outlive their host, up to the phone's limit.
    pub(crate) fn adopt_jobs(&self, jobs: &JobList) {
        let jobs = jobs.take_running();
        self.with(|phone| {
            for job in jobs {
                phone.detached_jobs.keep(job, MAX_DETACHED);
            }
        });
    }
}
