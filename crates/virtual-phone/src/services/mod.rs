//! Services of apps, started by an Intent that names one: who may start which, what the app does with it, and what it sends back through
//! the callback that came with it.
//!
//! Begin at `World::start_service`. The rules are those of `ActiveServices.startServiceLocked` and `retrieveServiceLocked` of AOSP, which
//! answer a caller by a component: the service's own (started), none (not found), `!` with what is missing (refused), `?` with why not
//! (the limits on apps in the background, Android 8). What a service does is its app's business (`App::on_start_command`); of an app whose code the
//! phone does not know, nothing happens, as with a real tool that stays silent.
//!
//! Not here: the programs that ask (`programs/am`, the helper's `courier`), waiting until a reply is due, services that are bound.

mod rules;

pub(crate) use self::rules::{SYSTEM, foreground_deadline, lacking};

use crate::packages::Component;
use std::collections::BTreeMap;
use std::time::Duration;

/// Who starts a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// Its Linux user: 0 for root, 2000 for the shell.
    pub uid: u32,
    /// Its process, for the log.
    pub pid: u32,
}

/// A service, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServiceName {
    /// The package.
    pub package: String,
    /// The full class name.
    pub class: String,
}

/// The extras under which a start brings a callback (a `PendingIntent`): all of them are the same one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallbackKeys(pub Vec<String>);

/// What came of a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartServiceResult {
    /// The service has it. With what the app will send through the callback; `None` where it will send nothing.
    Started(Option<CallbackReply>),
    /// There is no such service, or it or its app is disabled (a null component).
    NotFound,
    /// The caller may not: the class of the component `!`, which is the permission that it lacks, or `not exported from uid 10123`.
    Refused(String),
    /// The app is in the background and may not start services: the class of the component `?`.
    Background(String),
}

/// What an app sends through a callback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackReply {
    /// When, counted from the start, of the phone's time. It is sent only if the app still runs then: [`World::runs`] with `pid`.
    pub after: Duration,
    /// The result code.
    pub code: i32,
    /// The text extras.
    pub extras: Vec<(String, String)>,
    /// Whom the callback sees as its caller: the app's user; since Android 7 the system's (1000), which hands it on.
    pub uid: u32,
    /// The app's process.
    pub pid: u32,
    /// What the app sends after that: a callback can be used more than once. `after` counts from the start here too.
    pub then: Option<Box<CallbackReply>>,
}

/// A start, as the app's service gets it (`onStartCommand`).
pub(crate) struct ServiceStart<'a> {
    /// Full class name of the service.
    pub(crate) class: &'a str,
    /// The text extras.
    pub(crate) extras: &'a [(String, String)],
    /// The extras that hold a callback; empty for none.
    pub(crate) callback: &'a [String],
}

impl ServiceStart<'_> {
    /// The text extra of that name.
    pub(crate) fn extra(&self, key: &str) -> Option<&str> {
        self.extras.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Whether a callback came under one of these names.
    pub(crate) fn calls_back(&self, keys: &[&str]) -> bool {
        self.callback.iter().any(|key| keys.contains(&key.as_str()))
    }
}

/// What an app's service did with a start.
#[derive(Debug, Default)]
pub(crate) struct ServiceOutcome {
    /// What it sends back, in order: how long that takes it, and the text extras.
    pub(crate) answers: Vec<(Duration, Vec<(String, String)>)>,
    /// Whether it then dies of an exception.
    pub(crate) dies: bool,
    /// Whether it makes itself a foreground service at once, as whoever is started by `startForegroundService` must.
    pub(crate) in_foreground: bool,
}

impl ServiceOutcome {
    /// One answer, at once.
    pub(crate) fn answer(extras: Vec<(String, String)>) -> Self {
        Self { answers: vec![(Duration::ZERO, extras)], ..Self::no_answer() }
    }

    /// No answer, of an app that otherwise does as it should.
    pub(crate) fn no_answer() -> Self {
        Self { in_foreground: true, ..Self::default() }
    }
}

/// What the system keeps about services.
#[derive(Debug)]
pub(crate) struct Services {
    /// From the start of a service to its answer: of an app that runs, and of one that has to be started first.
    times: (Duration, Duration),
    running: BTreeMap<ServiceName, RunningService>,
    /// The app that was in front last, and when others left the front.
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
    /// How long an answer takes: of an app that runs, and of one that has to be started first.
    pub(crate) fn times(&self) -> (Duration, Duration) {
        self.times
    }

    /// From now on answers take so long.
    pub(crate) fn set_times(&mut self, warm: Duration, cold: Duration) {
        self.times = (warm, cold);
    }

    /// The services that run, of all apps.
    pub(crate) fn running(&self) -> impl Iterator<Item = (&ServiceName, &RunningService)> {
        self.running.iter()
    }

    /// Whether a service runs.
    pub(crate) fn runs(&self, name: &ServiceName) -> bool {
        self.running.contains_key(name)
    }

    /// A service was started. `overdue_from`: when its app is ended unless it becomes a foreground service, where that is asked of it.
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

    /// The services that should be foreground services by now and are not.
    pub(crate) fn late(&self, now: Duration) -> Vec<ServiceName> {
        let late = |running: &RunningService| running.overdue.is_some_and(|at| at <= now);
        self.running().filter(|(_, it)| late(it)).map(|(name, _)| name.clone()).collect()
    }

    /// This app is in front now.
    pub(crate) fn note_front(&mut self, front: String, now: Duration) {
        if front != self.front {
            let before = std::mem::replace(&mut self.front, front);
            self.left_front.insert(before, now);
        }
    }

    /// Whether an app that runs left the front only just now, so that it is not idle yet.
    pub(crate) fn left_front_lately(&self, package: &str, now: Duration) -> bool {
        self.left_front.get(package).is_some_and(|since| now.saturating_sub(*since) < SETTLES)
    }

    /// Whether an app has a foreground service.
    pub(crate) fn has_foreground(&self, package: &str) -> bool {
        self.running().any(|(name, it)| name.package == package && it.in_foreground)
    }

    /// Lets an app start services from the background until then.
    pub(crate) fn allow(&mut self, package: &str, until: Duration) {
        self.allowed.insert(package.to_owned(), until);
    }

    /// Takes that back; `false` where it was not so.
    pub(crate) fn disallow(&mut self, package: &str) -> bool {
        self.allowed.remove(package).is_some()
    }

    /// Whether an app may start services from the background.
    pub(crate) fn is_allowed(&self, package: &str, now: Duration) -> bool {
        self.allowed.get(package).is_some_and(|until| *until > now)
    }

    /// An app's process has ended, and with it its services.
    pub(crate) fn end(&mut self, package: &str) {
        self.running.retain(|name, _| name.package != package);
        self.left_front.remove(package);
    }

    /// What a restart leaves: apps that are exempt for good.
    pub(crate) fn restart(&mut self) {
        self.running.clear();
        self.left_front.clear();
        self.allowed.retain(|_, until| *until == Duration::MAX);
    }
}

/// A service that was started and has not been stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningService {
    /// When it was started first, of the phone's uptime.
    pub since: Duration,
    /// How often.
    pub starts: u32,
    pub in_foreground: bool,
    /// When Android ends its app because it did not make itself a foreground service.
    overdue: Option<Duration>,
}

/// How long an app that left the front is not idle (`BACKGROUND_SETTLE_TIME` of `ActivityManagerConstants`).
const SETTLES: Duration = Duration::from_secs(60);

impl ServiceName {
    /// `package/.Class`, as Android shortens it.
    pub fn short(&self) -> String {
        Component { package: self.package.clone(), activity: self.class.clone() }.short()
    }
}
