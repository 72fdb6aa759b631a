//! Crashes and ANRs of apps: what they log, and when a dialog appears.
//!
//! Sources: `AppErrors.java`, `ProcessErrorStateRecord.java` and `AppErrorDialog.java` of Android 9
//! to 15; the crash trace is that of the capture `logcat/crash_compose-app_threadtime.txt`. Not
//! here: the dialogs (`overlays/errors.rs`).

use std::time::Duration;

use crate::log::Buffer;
use crate::log::SYSTEM_PID;
use crate::overlays::{AnrDialog, CrashDialog};
use crate::overlays::{LISTS_FROM, title_of_crash};
use crate::world::World;
use thumbwire_virtual_screen::Platform;

/// `ApplicationInfo.flags` of an arbitrary app, as `am_anr` prints them.
const FLAGS: u32 = 953_728_580;

impl World {
    /// Ends an app as an uncaught exception does: logs a stack trace, kills its process and removes
    /// its task. `false` if it is not running.
    ///
    /// The dialog appears as on Android: on Android 4.4 every time; later not for the first crash,
    /// unless the setting `global show_first_crash_dialog` (or `secure
    /// show_first_crash_dialog_dev_option`) is `1`, but for one that follows within a minute or two
    /// ("X keeps stopping").
    pub fn crash(&mut self, package: &str, exception: &str) -> bool {
        let Some((pid, uid)) = self.process_of(package) else { return false };
        let front = self.foreground();
        let trace = format!(
            "FATAL EXCEPTION: main\nProcess: {package}, PID: {pid}\n{exception}\n\
             \tat android.app.ActivityThread.throwRemoteServiceException(ActivityThread.java:2082)\n\
             \tat android.os.Handler.dispatchMessage(Handler.java:106)\n\
             \tat android.os.Looper.loop(Looper.java:294)\n\
             \tat android.app.ActivityThread.main(ActivityThread.java:8177)"
        );
        self.write_line(Buffer::Crash, 'E', "AndroidRuntime", (pid, uid), &trace);
        let (class, what) = exception.split_once(": ").unwrap_or((exception, ""));
        let crashed = format!("[{pid},0,{package},0,{class},{what},ActivityThread.java,2082]");
        self.note("am_crash", &crashed);
        if front.package == package {
            let line = format!("  Force finishing activity {}", front.short());
            self.write_log('W', "ActivityTaskManager", SYSTEM_PID, &line);
            self.note_finished(&front, "force-crash");
        }
        let line = format!("Process {package} (pid {pid}) has died: fg  TOP");
        self.write_log('I', "ActivityManager", SYSTEM_PID, &line);
        self.note("am_proc_died", &format!("[0,{pid},{package},0,2]"));
        self.end(package);
        self.log_crash(package);
        true
    }

    /// Makes an app hang: its screen freezes, touches and keys do nothing, the dialog "X isn't
    /// responding" appears over it, and the log gets the lines of an ANR. "Close app" ends it,
    /// "Wait" revives it. A running app that is not in front is killed without a dialog, as on
    /// Android. `false` if it is not running.
    pub fn stop_responding(&mut self, package: &str) -> bool {
        let Some((pid, _)) = self.process_of(package) else { return false };
        let front = self.foreground();
        let reason = format!(
            "Input dispatching timed out ({}/{} (server) is not responding. Waited 5001ms for MotionEvent)",
            front.package, front.activity
        );
        self.note("am_anr", &format!("[0,{pid},{package},{FLAGS},{reason}]"));
        let of =
            if front.package == package { format!(" ({})", front.short()) } else { String::new() };
        let line = format!(
            "ANR in {package}{of}\nPID: {pid}\nReason: {reason}\nParent: {}\nFrozen: false\nLoad: 0.37 / 0.2 / 0.14",
            front.short()
        );
        self.write_log('E', "ActivityManager", SYSTEM_PID, &line);
        if front.package != package {
            self.note("am_kill", &format!("[0,{pid},{package},900,bg anr]"));
            self.end(package);
            return true;
        }
        drop(self.input.take_fling());
        if self.tasks.freeze(package, self.clock.now()) {
            let (package, label) = (package.to_owned(), self.apps.label_of(package));
            // iOS says nothing about an app that hangs.
            if self.platform() == Platform::Android {
                self.push_overlay(AnrDialog { package, label });
            }
        }
        true
    }

    /// Whether the app responds, i.e. does not hang.
    pub fn responds(&self, package: &str) -> bool {
        self.tasks.frozen_since(package).is_none()
    }

    /// The user chose "Wait"; the app responds again.
    pub(crate) fn respond_again(&mut self, package: &str) {
        self.tasks.thaw(package);
    }

    /// The user closed an app that failed.
    pub(crate) fn kill_after_error(&mut self, package: &str) {
        if let Some((pid, uid)) = self.process_of(package) {
            let line = format!(
                "Killing {pid}:{package}/u0a{} (adj 0): user request after error",
                uid % 10_000
            );
            self.write_log('I', "ActivityManager", SYSTEM_PID, &line);
            let killed = format!("[0,{pid},{package},0,user request after error]");
            self.note("am_kill", &killed);
        }
        self.end(package);
    }

    fn log_crash(&mut self, package: &str) {
        let before = self.tasks.note_crash(package, self.clock.now());
        let again =
            before.is_some_and(|before| self.clock.now() - before < soon(self.device.android()));
        let first = self.settings.on("global", "show_first_crash_dialog")
            || self.settings.on("secure", "show_first_crash_dialog_dev_option");
        let title = title_of_crash(package);
        let shown = self.overlays.any(|overlay| overlay.title() == title);
        if shown || !(again || first || self.android() < LISTS_FROM) {
            return;
        }
        // On iOS an app that crashed is just gone.
        if self.platform() == Platform::Ios {
            return;
        }
        let line = format!("Showing crash dialog for package {package} u0");
        self.write_log('I', "ActivityManager", SYSTEM_PID, &line);
        let (package, label) = (package.to_owned(), self.apps.label_of(package));
        self.push_overlay(CrashDialog { package, label, again });
    }
}

/// How soon a crash must follow another to count as repeated (`MIN_CRASH_INTERVAL`).
fn soon(android: u32) -> Duration {
    Duration::from_secs(if android < 12 { 60 } else { 120 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Setup;

    #[test]
    fn crash_logs_a_trace_and_shows_the_screen_behind() {
        let mut world = World::new(Setup::default());
        assert!(!world.crash("com.android.settings", "java.lang.IllegalStateException: no"));
        world.start("com.android.settings", None).expect("it is there");
        assert!(world.crash("com.android.settings", "java.lang.IllegalStateException: no"));
        assert_eq!(world.pid_of("com.android.settings"), None);
        assert_ne!(world.foreground().package, "com.android.settings");
        let crash = world.log().lines().find(|line| line.buffer == Buffer::Crash);
        let text = crash.map(|line| line.text.clone()).unwrap_or_default();
        assert!(text.starts_with("FATAL EXCEPTION: main\nProcess: com.android.settings, PID: "));
    }
}
