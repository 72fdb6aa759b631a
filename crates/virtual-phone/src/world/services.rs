//! Services of apps, started by an Intent that names one: who may start which, what the app does with it, and what it sends back through
//! the callback that came with it.
//!
//! Begin at [`World::start_service`]. The rules are those of `ActiveServices.startServiceLocked` and `retrieveServiceLocked` of AOSP, which
//! answer a caller by a component: the service's own (started), none (not found), `!` with what is missing (refused), `?` with why not
//! (the limits on apps in the background, Android 8). What a service does is its app's business ([`App::serve`]); of an app whose code the
//! phone does not know, nothing happens, as with a real tool that stays silent.
//!
//! Not here: the programs that ask (`programs/am`, the helper's `courier`), waiting until a reply is due, services that are bound.

mod rules;

use std::collections::BTreeMap;
use std::time::Duration;

use self::rules::{SYSTEM, foreground_within, lacking};
use super::World;
use super::app::{Component, Reach};
use super::packages::{Class, DeclaredComponent};
use super::tasks::{Installed, SYSTEM_PID};

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
pub enum Delivered {
    /// The service has it. With what the app will send through the callback; `None` where it will send nothing.
    Started(Option<Reply>),
    /// There is no such service, or it or its app is disabled (a null component).
    NotFound,
    /// The caller may not: the class of the component `!`, which is the permission that it lacks, or `not exported from uid 10123`.
    Refused(String),
    /// The app is in the background and may not start services: the class of the component `?`.
    Background(String),
}

/// What an app sends through a callback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
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
    pub then: Option<Box<Reply>>,
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
pub(crate) struct Served {
    /// What it sends back, in order: how long that takes it, and the text extras.
    pub(crate) answers: Vec<(Duration, Vec<(String, String)>)>,
    /// Whether it then dies of an exception.
    pub(crate) dies: bool,
    /// Whether it makes itself a foreground service at once, as whoever is started by `startForegroundService` must.
    pub(crate) in_foreground: bool,
}

impl Served {
    /// One answer, at once.
    pub(crate) fn answer(extras: Vec<(String, String)>) -> Self {
        Self { answers: vec![(Duration::ZERO, extras)], ..Self::quiet() }
    }

    /// No answer, of an app that otherwise does as it should.
    pub(crate) fn quiet() -> Self {
        Self { in_foreground: true, ..Self::default() }
    }
}

/// What the system keeps about services.
#[derive(Debug, Default)]
pub(crate) struct Services {
    running: BTreeMap<ServiceName, Running>,
    /// The app that was in front last, and when others left the front.
    front: String,
    left_front: BTreeMap<String, Duration>,
    /// Apps that may start services from the background, and until when.
    allowed: BTreeMap<String, Duration>,
}

/// A service that was started and has not been stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Running {
    /// When it was started first, of the phone's uptime.
    pub(crate) since: Duration,
    /// How often.
    pub(crate) starts: u32,
    pub(crate) in_foreground: bool,
    /// When Android ends its app because it did not make itself a foreground service.
    overdue: Option<Duration>,
}

/// How long an app that left the front is not idle (`BACKGROUND_SETTLE_TIME` of `ActivityManagerConstants`).
const SETTLES: Duration = Duration::from_secs(60);
/// Apps made for this API level and later may not start services from the background (`appRestrictedInBackground`).
const LIMITED_FROM: u32 = 26;
/// The Android that brought those limits.
const LIMITS_SINCE: u32 = 8;
/// From this Android on the system sends what is sent through a `PendingIntent` of somebody else's making.
const SYSTEM_SENDS_SINCE: u32 = 7;
/// Answers to one start that are taken.
const MOST_ANSWERS: usize = 8;

impl World {
    /// Starts a service by its name, as `startService` does with an explicit Intent. The app has done its work when this returns, and a
    /// screen of it shows that; the answer takes its time ([`Reply::after`]).
    pub fn start_service(
        &mut self,
        by: Caller,
        to: &ServiceName,
        extras: &[(String, String)],
        callback: Option<CallbackKeys>,
    ) -> Delivered {
        self.begin_service(by, to, extras, callback, false)
    }

    /// The same as `startForegroundService` does: the limits on apps in the background do not hold it, but the app is ended some seconds
    /// later if it does not make its service a foreground one.
    pub fn start_foreground_service(
        &mut self,
        by: Caller,
        to: &ServiceName,
        extras: &[(String, String)],
        callback: Option<CallbackKeys>,
    ) -> Delivered {
        self.begin_service(by, to, extras, callback, true)
    }

    /// Whether an app's process runs: one that does not sends no reply.
    pub fn runs(&self, pid: u32) -> bool {
        self.apps.iter().any(|app| app.pid == Some(pid))
    }

    /// Lets an app start services from the background for so long (`deviceidle tempwhitelist`). `false` when no such package is installed.
    pub fn allow_in_background(&mut self, package: &str, time: Duration) -> bool {
        let until = self.uptime.saturating_add(time);
        let there = self.app_index(package).is_some();
        if there {
            self.services.allowed.insert(package.to_owned(), until);
        }
        there
    }

    /// Whether an app is among those that may start services from the background for good (`deviceidle whitelist`): puts it there, or takes
    /// it away from there. `false` when no such package is installed.
    pub fn exempt_from_limits(&mut self, package: &str, exempt: bool) -> bool {
        if !exempt {
            return self.services.allowed.remove(package).is_some();
        }
        self.allow_in_background(package, Duration::MAX)
    }

    /// The services that run, of all apps.
    pub(crate) fn running_services(&self) -> impl Iterator<Item = (&ServiceName, &Running)> {
        self.services.running.iter()
    }

    /// Remembers which app was in front until now; to be called when another one may be.
    pub(crate) fn note_front(&mut self) {
        let front = self.foreground().package;
        if front != self.services.front {
            let before = std::mem::replace(&mut self.services.front, front);
            self.services.left_front.insert(before, self.uptime);
        }
    }

    /// An app's process has ended, and with it its services.
    pub(crate) fn end_services(&mut self, package: &str) {
        self.services.running.retain(|name, _| name.package != package);
        self.services.left_front.remove(package);
    }

    /// What a restart leaves: apps that are exempt for good.
    pub(crate) fn restart_services(&mut self) {
        self.services.running.clear();
        self.services.left_front.clear();
        self.services.allowed.retain(|_, until| *until == Duration::MAX);
    }

    /// Ends the apps that were started as foreground services and did not become that in time.
    pub(crate) fn end_overdue_services(&mut self) {
        let overdue = |running: &Running| running.overdue.is_some_and(|at| at <= self.uptime);
        let running = self.services.running.iter();
        let late: Vec<ServiceName> =
            running.filter(|(_, it)| overdue(it)).map(|(name, _)| name.clone()).collect();
        for name in late {
            let kind = match self.android {
                12.. => "$ForegroundServiceDidNotStartInTimeException",
                _ => "",
            };
            let what = format!(
                "android.app.RemoteServiceException{kind}: Context.startForegroundService() did not then call Service.startForeground(): ServiceRecord{{{}}}",
                name.short()
            );
            self.crash(&name.package, &what);
        }
    }

    fn begin_service(
        &mut self,
        by: Caller,
        to: &ServiceName,
        extras: &[(String, String)],
        callback: Option<CallbackKeys>,
        foreground: bool,
    ) -> Delivered {
        let Some((at, service)) = self.service(to) else {
            let line =
                format!("Unable to start service Intent {{ cmp={} }} U=0: not found", to.short());
            self.write_log('W', "ActivityManager", SYSTEM_PID, &line);
            return Delivered::NotFound;
        };
        let uid = self.apps[at].manifest.uid;
        if let Some(lacking) = lacking(by, uid, &service) {
            let why = match service.exported {
                true => format!(" requires {lacking}"),
                false => format!(" that is {lacking}"),
            };
            let line = format!(
                "Permission Denial: Accessing service {} from pid={}, uid={}{why}",
                to.short(),
                by.pid,
                by.uid
            );
            self.write_log('W', "ActivityManager", SYSTEM_PID, &line);
            return Delivered::Refused(lacking);
        }
        if !foreground && !self.services.running.contains_key(to) && self.is_held_back(at) {
            let line = format!(
                "Background start not allowed: service Intent {{ cmp={short} }} to {short} from pid={} uid={} pkg=com.android.shell startFg?=false",
                by.pid,
                by.uid,
                short = to.short()
            );
            self.write_log('W', "ActivityManager", SYSTEM_PID, &line);
            return Delivered::Background(format!(
                "app is in background uid {}",
                self.record_of(at)
            ));
        }
        let (pid, takes) = self.process_for_service(at, to);
        let served = self.tell_service(at, to, extras, callback.as_ref());
        self.enter_service(to, foreground, served.in_foreground);
        if served.dies {
            self.crash(&to.package, "java.lang.IllegalStateException: the tool gave up half-way");
            return Delivered::Started(None);
        }
        let sender = if self.android < SYSTEM_SENDS_SINCE { uid } else { SYSTEM };
        let answers = if callback.is_some() { served.answers } else { Vec::new() };
        let replies = answers.into_iter().take(MOST_ANSWERS).rev().fold(None, |then, answer| {
            let (work, extras) = answer;
            Some(Reply {
                after: takes + work,
                code: 0,
                extras,
                uid: sender,
                pid,
                then: then.map(Box::new),
            })
        });
        Delivered::Started(replies)
    }

    /// A service that can be started, and its app's place.
    fn service(&self, name: &ServiceName) -> Option<(usize, DeclaredComponent)> {
        let at = self.app_index(&name.package)?;
        let declared = self.apps[at].manifest.declared()?;
        let mut services = declared.components.iter().filter(|it| it.class == Class::Service);
        let service = services.find(|it| it.name == name.class)?;
        (service.enabled && !declared.disabled).then(|| (at, service.clone()))
    }

    /// Whether the limits on apps in the background keep this one from starting services.
    fn is_held_back(&self, at: usize) -> bool {
        let manifest = &self.apps[at].manifest;
        let target = manifest.declared().map_or(0, |declared| declared.target_sdk);
        let package = &manifest.package;
        let recent = |since: &Duration| self.uptime.saturating_sub(*since) < SETTLES;
        let in_front = self.screen_on && self.foreground().package == *package;
        let active = in_front
            || self.apps[at].pid.is_some()
                && self.services.left_front.get(package).is_some_and(recent)
            || self
                .services
                .running
                .iter()
                .any(|(name, it)| name.package == *package && it.in_foreground);
        let allowed = self.services.allowed.get(package).is_some_and(|until| *until > self.uptime);
        self.android >= LIMITS_SINCE && target >= LIMITED_FROM && !active && !allowed
    }

    /// `UidRecord.toString` of an app that is idle; of one that does not run there is none.
    fn record_of(&self, at: usize) -> String {
        let app = &self.apps[at];
        match app.pid {
            None => "null".to_owned(),
            Some(pid) => format!(
                "UidRecord{{{:07x} u0a{} CEM  idle change:idle|uncached procs:1 seq(0,0,0)}}",
                pid.wrapping_mul(0x9e37_79b1) & 0xfff_ffff,
                app.manifest.uid % 10_000
            ),
        }
    }

    /// The process in which a service runs, started if need be, and how long it takes to come to its work.
    pub(super) fn process_for_service(&mut self, at: usize, to: &ServiceName) -> (u32, Duration) {
        let (warm, cold) = self.service_times;
        if let Some(pid) = self.apps[at].pid {
            return (pid, warm);
        }
        self.next_pid += 17;
        let (pid, uid) = (self.next_pid, self.apps[at].manifest.uid);
        self.apps[at].pid = Some(pid);
        let (package, class) = (&to.package, &to.class);
        let line = format!(
            "Start proc {pid}:{package}/u0a{} for service {{{}}}",
            uid % 10_000,
            to.short()
        );
        self.write_log('I', "ActivityManager", SYSTEM_PID, &line);
        self.note(
            "am_proc_start",
            &format!("[0,{pid},{uid},{package},service,{{{package}/{class}}}]"),
        );
        self.note("am_proc_bound", &format!("[0,{pid},{package}]"));
        (pid, cold)
    }

    /// Hands a start to the app, and does what it asks the phone for. An app that hangs does not come to it.
    fn tell_service(
        &mut self,
        at: usize,
        to: &ServiceName,
        extras: &[(String, String)],
        callback: Option<&CallbackKeys>,
    ) -> Served {
        if !self.responds(&to.package) {
            return Served::default();
        }
        let (now, in_front) =
            (self.uptime, self.screen_on && self.foreground().package == to.package);
        let Installed { app, store, .. } = &mut self.apps[at];
        let mut reach = Reach { store, now, in_front, asked: Vec::new() };
        let callback = callback.map_or(&[][..], |keys| &keys.0);
        let start = ServiceStart { class: &to.class, extras, callback };
        let served = app.serve(&start, &mut reach);
        let asked = reach.asked;
        self.next_wake = None;
        for request in asked {
            self.fulfil(&to.package, request);
        }
        self.settle();
        served
    }

    fn enter_service(&mut self, to: &ServiceName, asked_foreground: bool, in_foreground: bool) {
        let now = self.uptime;
        let limit = foreground_within(self.android);
        let fresh = Running { since: now, starts: 0, in_foreground: false, overdue: None };
        let running = self.services.running.entry(to.clone()).or_insert(fresh);
        running.starts = running.starts.saturating_add(1);
        running.in_foreground |= asked_foreground && in_foreground;
        running.overdue = match asked_foreground && self.android >= LIMITS_SINCE && !in_foreground {
            true => running.overdue.or(Some(now + limit)),
            false => running.overdue,
        };
    }
}

impl ServiceName {
    /// `package/.Class`, as Android shortens it.
    pub fn short(&self) -> String {
        Component { package: self.package.clone(), activity: self.class.clone() }.short()
    }
}
