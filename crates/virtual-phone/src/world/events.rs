//! What Android's services write to the events buffer.
//!
//! Formats follow the capture `logcat/mediatek_android12_threadtime.txt` (tags and field order are
//! those of Android's `event-log-tags`). An activity record's number is derived from its name; on a
//! phone it is an identity hash.

use crate::log::SYSTEM_PID;
use crate::log::{Buffer, LogLine};
use crate::packages::Component;
use crate::world::World;

/// The user id of the system server.
const SYSTEM: u32 = 1_000;

impl World {
    /// Logs an event of the system server.
    pub(crate) fn note(&mut self, tag: &str, text: &str) {
        self.note_of((SYSTEM_PID, SYSTEM), tag, text);
    }

    /// Logs that a process was started for an activity.
    pub(crate) fn note_process(&mut self, pid: u32, uid: u32, component: &Component) {
        let Component { package, activity } = component;
        let started =
            format!("[0,{pid},{uid},{package},next-top-activity,{{{package}/{activity}}}]");
        self.note("am_proc_start", &started);
        self.note("am_proc_bound", &format!("[0,{pid},{package}]"));
    }

    /// Logs that an activity came to the front; `began` if it is new.
    pub(crate) fn note_activity(&mut self, component: &Component, action: &str, began: bool) {
        let (short, record) = (component.short(), record(component));
        let task = self.apps.position(&component.package).unwrap_or_default() + 1;
        if began {
            let flags = 0x1000_0000;
            let created = format!("[0,{record},{task},{short},{action},NULL,NULL,{flags}]");
            self.note("wm_create_activity", &created);
            self.note("wm_task_to_front", &format!("[0,{task}]"));
            self.note("wm_restart_activity", &format!("[0,{record},{task},{short}]"));
        } else {
            self.note("wm_task_to_front", &format!("[0,{task}]"));
            self.note("wm_resume_activity", &format!("[0,{record},{task},{short}]"));
        }
        let reason = if began { "minimalResumeActivityLocked" } else { "resumeTopActivity" };
        self.note("wm_set_resumed_activity", &format!("[0,{short},{reason}]"));
        let Some((pid, uid)) = self.process_of(&component.package) else { return };
        let class = &component.activity;
        if began {
            let created = format!("[{record},{class},performCreate]");
            self.note_of((pid, uid), "wm_on_create_called", &created);
        }
        let resumed = format!("[{record},{class},RESUME_ACTIVITY]");
        self.note_of((pid, uid), "wm_on_resume_called", &resumed);
    }

    /// Logs that the screen went on or off.
    pub(crate) fn note_screen(&mut self, on: bool) {
        self.note("screen_toggled", if on { "1" } else { "0" });
    }

    /// Logs that the system finished an activity.
    pub(crate) fn note_finished(&mut self, component: &Component, reason: &str) {
        let (short, record) = (component.short(), record(component));
        self.note("wm_finish_activity", &format!("[0,{record},1,{short},{reason}]"));
    }

    /// The process id and user id of a running app.
    pub(crate) fn process_of(&self, package: &str) -> Option<(u32, u32)> {
        let app = self.apps.get(package)?;
        Some((app.pid?, app.manifest.uid))
    }

    fn note_of(&mut self, who: (u32, u32), tag: &str, text: &str) {
        self.write_line(Buffer::Events, 'I', tag, who, text);
    }

    /// Writes an entry.
    pub(crate) fn write_line(
        &mut self,
        buffer: Buffer,
        priority: char,
        tag: &str,
        (pid, uid): (u32, u32),
        text: &str,
    ) {
        let (at, tag, text) = (self.clock.now(), tag.to_owned(), text.to_owned());
        self.log.push(LogLine { at, buffer, priority, tag, pid, uid, text });
    }
}

/// The number of an activity's record, stable for each activity (FNV-1a, 28 bits).
fn record(component: &Component) -> u32 {
    let hash = component
        .short()
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash >> 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Setup;

    fn events(world: &World) -> Vec<String> {
        let lines = world.log().lines().filter(|line| line.buffer == Buffer::Events);
        lines.map(|line| format!("{} {}", line.tag, line.text)).collect()
    }

    #[test]
    fn app_start_logs_the_captured_events_in_order() {
        let mut world = World::new(Setup::default());
        let before = events(&world).len();
        world.start("com.android.settings", None).expect("it is there");
        let events = &events(&world)[before..];
        let tags: Vec<_> = events.iter().filter_map(|event| event.split(' ').next()).collect();
        assert_eq!(
            tags,
            [
                "am_proc_start",
                "am_proc_bound",
                "wm_create_activity",
                "wm_task_to_front",
                "wm_restart_activity",
                "wm_set_resumed_activity",
                "wm_on_create_called",
                "wm_on_resume_called"
            ]
        );
        assert!(
            events[0].contains(",com.android.settings,next-top-activity,{com.android.settings/")
        );
        assert!(
            events[5].ends_with("[0,com.android.settings/.Settings,minimalResumeActivityLocked]")
        );
    }
}
