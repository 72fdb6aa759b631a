//! Which app is in front: the tasks with their back stacks, and the apps that hang or crashed.
//!
//! A task is an app's stack of activities; the last task in the list is on the screen. The launcher's task always exists. Starting and
//! stopping apps is `world/tasks.rs`.

use crate::packages::Component;
use std::collections::BTreeMap;
use std::time::Duration;

/// An app's activities, full class names, from the bottom to the top.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Task {
    package: String,
    activities: Vec<String>,
}

/// The package of the home screen.
pub(crate) const HOME: &str = "com.android.launcher3";

/// The tasks, and how the processes behind them fare.
#[derive(Debug)]
pub(crate) struct Tasks {
    /// From the back to the front; the launcher's is always there.
    tasks: Vec<Task>,
    next_pid: u32,
    /// Apps that hang, and the uptime at which they began to.
    frozen: BTreeMap<String, Duration>,
    /// When an app crashed last.
    crashes: BTreeMap<String, Duration>,
    /// From the start of an app that did not run to its first picture, as the log tells it.
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

    /// Brings the task of a package to the front, with this activity somewhere in it: whether the task or the activity began with this.
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

    /// Brings the task that was in front before this one back; `false` where there is none.
    pub(crate) fn switch_to_last(&mut self) -> bool {
        let Some(before) = self.tasks.len().checked_sub(2) else { return false };
        let task = self.tasks.remove(before);
        self.tasks.push(task);
        true
    }

    /// Ends the activity on top of a package's task. The last one of a task does not end: since Android 12 the task goes to the back as it
    /// is (developer.android.com, "Behavior changes: Android 12", back button). `false` where there is no such task.
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

    /// Takes the task of a package away; `true` where none is left at all.
    pub(crate) fn remove(&mut self, package: &str) -> bool {
        self.tasks.retain(|task| task.package != package);
        self.tasks.is_empty()
    }

    /// A number for a new process.
    pub(crate) fn next_pid(&mut self) -> u32 {
        self.next_pid += 17;
        self.next_pid
    }

    /// From the start of an app that did not run to its first picture.
    pub(crate) fn cold_start(&self) -> Duration {
        self.cold_start
    }

    /// From now on a start takes so long, as the log tells it.
    pub(crate) fn set_cold_start(&mut self, time: Duration) {
        self.cold_start = time;
    }

    /// Since when an app hangs; `None` for one that answers.
    pub(crate) fn frozen_since(&self, package: &str) -> Option<Duration> {
        self.frozen.get(package).copied()
    }

    /// An app hangs from now on; `false` where it did so already.
    pub(crate) fn freeze(&mut self, package: &str, now: Duration) -> bool {
        self.frozen.insert(package.to_owned(), now).is_none()
    }

    /// An app answers again, or has ended.
    pub(crate) fn thaw(&mut self, package: &str) {
        self.frozen.remove(package);
    }

    /// An app crashed: when it did so before.
    pub(crate) fn note_crash(&mut self, package: &str, now: Duration) -> Option<Duration> {
        self.crashes.insert(package.to_owned(), now)
    }

    /// Forgets who crashed when.
    pub(crate) fn forget_crashes(&mut self) {
        self.crashes.clear();
    }
}
