//! Services of apps, started by an explicit Intent: who may start which, what the app does, and
//! what it sends to the callback.
//!
//! Start with `World::start_service`. The rules are those of `ActiveServices.startServiceLocked`
//! and `retrieveServiceLocked` of AOSP, which return a component to the caller: the service's own
//! (started), null (not found), `!` with what is missing (refused), or `?` with the reason (the
//! background limits of Android 8). The app runs the service (`App::on_start_command`); for an app
//! with unknown code nothing happens, like a real tool that stays silent.
//!
//! Not here: the programs that start services (`programs/am`, the helper's `call_service`), waiting
//! for replies, bound services.

mod rules;

pub(crate) use self::rules::{SYSTEM, foreground_deadline, lacking};

use crate::packages::Component;
use std::collections::BTreeMap;
use std::time::Duration;

/// The caller that starts a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// Its uid: 0 for root, 2000 for the shell.
    pub uid: u32,
    /// Its process id, for the log.
    pub pid: u32,
}

/// A service's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServiceName {
    /// The package.
    pub package: String,
    /// The full class name.
    pub class: String,
}

/// The extras that carry the callback (a `PendingIntent`) of a start; all hold the same one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallbackKeys(pub Vec<String>);

/// The result of a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartServiceResult {
    /// Delivered. Contains what the app will send to the callback; `None` if it sends nothing.
    Started(Option<CallbackReply>),
    /// There is no such service, or it or its app is disabled (a null component).
    NotFound,
    /// The caller may not start it: the class of the component `!`, which is the missing permission
    /// or `not exported from uid 10123`.
    Refused(String),
    /// The app is in the background and may not start services: the class of the component `?`.
    Background(String),
}

/// What an app sends to a callback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackReply {
    /// When, in phone time since the start. Sent only if the app still runs at that time:
    /// [`World::runs`] with `pid`.
    pub after: Duration,
    /// The result code.
    pub code: i32,
    /// The text extras.
    pub extras: Vec<(String, String)>,
    /// The caller that the callback sees: the app's uid; since Android 7 the system's (1000), which
    /// forwards it.
    pub uid: u32,
    /// The app's process.
    pub pid: u32,
    /// What the app sends after it: a callback can be used more than once. `after` counts from the
    /// start too.
    pub then: Option<Box<CallbackReply>>,
}

/// A start as the app's service receives it (`onStartCommand`).
pub(crate) struct ServiceStart<'a> {
    /// Full class name of the service.
    pub(crate) class: &'a str,
    /// The text extras.
    pub(crate) extras: &'a [(String, String)],
    /// The extras that hold a callback; empty for none.
    pub(crate) callback: &'a [String],
}

impl ServiceStart<'_> {
    /// The text extra with that name.
    pub(crate) fn extra(&self, key: &str) -> Option<&str> {
        self.extras.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Whether one of these names carries a callback.
    pub(crate) fn calls_back(&self, keys: &[&str]) -> bool {
        self.callback.iter().any(|key| keys.contains(&key.as_str()))
    }
}

/// What an app's service did with a start.
#[derive(Debug, Default)]
pub(crate) struct ServiceOutcome {
    /// Its replies, in order: the delay and the text extras.
    pub(crate) answers: Vec<(Duration, Vec<(String, String)>)>,
    /// Whether it then crashes.
    pub(crate) dies: bool,
    /// Whether it becomes a foreground service at once, as after `startForegroundService` it must.
    pub(crate) in_foreground: bool,
}

impl ServiceOutcome {
    /// One immediate reply.
    pub(crate) fn answer(extras: Vec<(String, String)>) -> Self {
        Self { answers: vec![(Duration::ZERO, extras)], ..Self::no_answer() }
    }

    /// No reply, from an app that otherwise behaves well.
    pub(crate) fn no_answer() -> Self {
        Self { in_foreground: true, ..Self::default() }
    }
}

/// The system's record of services.
#[derive(Debug)]
pub(crate) struct Services {
    /// Time from a start to the reply: of a running app, and of one that has to be started first.
    times: (Duration, Duration),
    running: BTreeMap<ServiceName, RunningService>,
    /// The app last in front, and when others left the front.
    front: String,
    left_front: BTreeMap<String, Duration>,
    /// Apps that may start services from the background, and until when.
    allowed: BTreeMap<String, Duration>,
}

impl Default for Services {
    fn default() -> Self {
        Self {
            times: (Duration::from_millis(10), Duration::from_millis(60)),
            running: BTreeMap::new(),
            front: String::new(),
            left_front: BTreeMap::new(),
            allowed: BTreeMap::new(),
        }
    }
}

impl Services {
    /// Reply times: of a running app, and of one that has to be started first.
    pub(crate) fn times(&self) -> (Duration, Duration) {
        self.times
    }

    /// Sets the reply times.
    pub(crate) fn set_times(&mut self, warm: Duration, cold: Duration) {
        self.times = (warm, cold);
    }

    /// The running services of all apps.
    pub(crate) fn running(&self) -> impl Iterator<Item = (&ServiceName, &RunningService)> {
        self.running.iter()
    }

    /// Whether a service runs.
    pub(crate) fn runs(&self, name: &ServiceName) -> bool {
        self.running.contains_key(name)
    }

    /// Records a start. `overdue_from` is when the app is killed unless it becomes a foreground
    /// service, if that is required.
    pub(crate) fn enter(
        &mut self,
        name: &ServiceName,
        now: Duration,
        in_foreground: bool,
        overdue_from: Option<Duration>,
    ) {
        let fresh = RunningService { since: now, starts: 0, in_foreground: false, overdue: None };
        let running = self.running.entry(name.clone()).or_insert(fresh);
        running.starts = running.starts.saturating_add(1);
        running.in_foreground |= in_foreground;
        running.overdue = running.overdue.or(overdue_from);
    }

    /// The services that should be foreground services by this time and are not.
    pub(crate) fn late(&self, now: Duration) -> Vec<ServiceName> {
        let late = |running: &RunningService| running.overdue.is_some_and(|at| at <= now);
        self.running().filter(|(_, it)| late(it)).map(|(name, _)| name.clone()).collect()
    }

    /// Notes the app in front.
    pub(crate) fn note_front(&mut self, front: String, now: Duration) {
        if front != self.front {
            let before = std::mem::replace(&mut self.front, front);
            self.left_front.insert(before, now);
        }
    }

    /// Whether a running app left the front only recently, so that it is not idle yet.
    pub(crate) fn left_front_lately(&self, package: &str, now: Duration) -> bool {
        self.left_front.get(package).is_some_and(|since| now.saturating_sub(*since) < SETTLES)
    }

    /// Whether an app has a foreground service.
    pub(crate) fn has_foreground(&self, package: &str) -> bool {
        self.running().any(|(name, it)| name.package == package && it.in_foreground)
    }

    /// Lets an app start services from the background until that time.
    pub(crate) fn allow(&mut self, package: &str, until: Duration) {
        self.allowed.insert(package.to_owned(), until);
    }

    /// Revokes that; `false` if it was not allowed.
    pub(crate) fn disallow(&mut self, package: &str) -> bool {
        self.allowed.remove(package).is_some()
    }

    /// Whether an app may start services from the background.
    pub(crate) fn is_allowed(&self, package: &str, now: Duration) -> bool {
        self.allowed.get(package).is_some_and(|until| *until > now)
    }

    /// Removes an app's services, because its process has ended.
    pub(crate) fn end(&mut self, package: &str) {
        self.running.retain(|name, _| name.package != package);
        self.left_front.remove(package);
    }

    /// Resets everything except permanent exemptions, as a restart does.
    pub(crate) fn restart(&mut self) {
        self.running.clear();
        self.left_front.clear();
        self.allowed.retain(|_, until| *until == Duration::MAX);
    }
}

/// A started service that has not been stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningService {
    /// The uptime of its first start.
    pub since: Duration,
    /// Number of starts.
    pub starts: u32,
    pub in_foreground: bool,
    /// When Android kills its app because it did not become a foreground service.
    overdue: Option<Duration>,
}

/// How long an app is not idle after it left the front (`BACKGROUND_SETTLE_TIME` of
/// `ActivityManagerConstants`).
const SETTLES: Duration = Duration::from_secs(60);

impl ServiceName {
    /// `package/.Class`, as Android shortens it.
    pub fn short(&self) -> String {
        Component { package: self.package.clone(), activity: self.class.clone() }.short()
    }
}
