//! Which app is in front: tasks with their back stacks, and apps that hang or crashed.
//!
//! A task is an app's stack of activities; the last task in the list is on the screen. The
//! launcher's task always exists. `world/tasks.rs` starts and stops apps.

use crate::packages::Component;
use std::collections::BTreeMap;
use std::time::Duration;

/// An app's activities, full class names, bottom to top.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Task {
    package: String,
    activities: Vec<String>,
}

/// The package of the home screen.
pub(crate) const HOME: &str = "com.android.launcher3";

/// The tasks, and the state of their processes.
#[derive(Debug)]
pub(crate) struct Tasks {
    /// Back to front; the launcher's is always in it.
    tasks: Vec<Task>,
    next_pid: u32,
    /// Hanging apps, and the uptime at which they began to hang.
    frozen: BTreeMap<String, Duration>,
    /// When an app last crashed.
    crashes: BTreeMap<String, Duration>,
    /// Time from the start of an app that was not running to its first frame, for the log.
    cold_start: Duration,
}

impl Default for Tasks {
    fn default() -> Self {
        Self {
            tasks: Vec::new(),
            next_pid: 2400,
            frozen: BTreeMap::new(),
            crashes: BTreeMap::new(),
            cold_start: Duration::from_millis(300),
        }
    }
}

impl Tasks {
    /// The activity on the screen.
    pub(crate) fn foreground(&self) -> Component {
        let task = self.tasks.last();
        Component {
            package: task.map(|task| task.package.clone()).unwrap_or_default(),
            activity: task.and_then(|task| task.activities.last().cloned()).unwrap_or_default(),
        }
    }

    /// Brings a package's task to the front, with this activity in it. Returns whether the task and
    /// the activity are new.
    pub(crate) fn bring_to_front(&mut self, package: &str, class: &str) -> bool {
        let known = self.tasks.iter().position(|task| task.package == package);
        let mut task = match known {
            Some(at) => self.tasks.remove(at),
            None => Task { package: package.to_owned(), activities: Vec::new() },
        };
        let fresh = !task.activities.iter().any(|activity| activity == class);
        if fresh {
            task.activities.push(class.to_owned());
        }
        self.tasks.push(task);
        fresh
    }

    /// Brings the previous task to the front again; `false` if there is none.
    pub(crate) fn switch_to_last(&mut self) -> bool {
        let Some(before) = self.tasks.len().checked_sub(2) else { return false };
        let task = self.tasks.remove(before);
        self.tasks.push(task);
        true
    }

    /// Finishes the top activity of a package's task. The last one of a task is not finished: since
    /// Android 12 the task goes to the back as it is (developer.android.com, "Behavior changes:
    /// Android 12", back button). `false` if there is no such task.
    pub(crate) fn finish(&mut self, package: &str) -> bool {
        let Some(at) = self.tasks.iter().position(|task| task.package == package) else {
            return false;
        };
        if self.tasks[at].activities.len() > 1 {
            self.tasks[at].activities.pop();
        } else if package != HOME {
            let task = self.tasks.remove(at);
            self.tasks.insert(0, task);
        }
        true
    }

    /// Removes a package's task; `true` if no task is left.
    pub(crate) fn remove(&mut self, package: &str) -> bool {
        self.tasks.retain(|task| task.package != package);
        self.tasks.is_empty()
    }

    /// A new process id.
    pub(crate) fn next_pid(&mut self) -> u32 {
        self.next_pid += 17;
        self.next_pid
    }

    /// Time from the start of an app that was not running to its first frame.
    pub(crate) fn cold_start(&self) -> Duration {
        self.cold_start
    }

    /// Sets that time, for the log.
    pub(crate) fn set_cold_start(&mut self, time: Duration) {
        self.cold_start = time;
    }

    /// Since when an app hangs; `None` if it responds.
    pub(crate) fn frozen_since(&self, package: &str) -> Option<Duration> {
        self.frozen.get(package).copied()
    }

    /// Marks an app as hanging; `false` if it already is.
    pub(crate) fn freeze(&mut self, package: &str, now: Duration) -> bool {
        self.frozen.insert(package.to_owned(), now).is_none()
    }

    /// Marks an app as responding, or ended.
    pub(crate) fn thaw(&mut self, package: &str) {
        self.frozen.remove(package);
    }

    /// Records an app's crash, and returns the time of its previous one.
    pub(crate) fn note_crash(&mut self, package: &str, now: Duration) -> Option<Duration> {
        self.crashes.insert(package.to_owned(), now)
    }

    /// Forgets all crashes.
    pub(crate) fn forget_crashes(&mut self) {
        self.crashes.clear();
    }
}
