//! Starts services of apps: who may, what the app does, and what it replies.

use crate::log::SYSTEM_PID;
use crate::packages::{ComponentKind, DeclaredComponent};
use crate::services::{
    CallbackKeys, CallbackReply, Caller, RunningService, SYSTEM, ServiceName, ServiceOutcome,
    ServiceStart, StartServiceResult, foreground_deadline, lacking,
};
use crate::world::World;
use std::time::Duration;

/// Apps made for this API level and later may not start services from the background
/// (`appRestrictedInBackground`).
const LIMITED_FROM: u32 = 26;
/// The release that introduced those limits.
const LIMITS_SINCE: u32 = 8;
/// Since this release the system sends on behalf of the creator of a `PendingIntent`.
const SYSTEM_SENDS_SINCE: u32 = 7;
/// Maximum replies to one start.
const MAX_ANSWERS: usize = 8;

impl World {
    /// Starts a service by name, like `startService` with an explicit Intent. When this returns,
    /// the app has done its work and its screen shows that; the reply arrives later
    /// ([`CallbackReply::after`]).
    pub fn start_service(
        &mut self,
        by: Caller,
        to: &ServiceName,
        extras: &[(String, String)],
        callback: Option<CallbackKeys>,
    ) -> StartServiceResult {
        self.begin_service(by, to, extras, callback, false)
    }

    /// The same, like `startForegroundService`: the background limits do not apply, but the app is
    /// killed after some seconds if its service does not call `startForeground`.
    pub fn start_foreground_service(
        &mut self,
        by: Caller,
        to: &ServiceName,
        extras: &[(String, String)],
        callback: Option<CallbackKeys>,
    ) -> StartServiceResult {
        self.begin_service(by, to, extras, callback, true)
    }

    /// Starts a service of an app by the app itself, which puts it into the foreground; none of the
    /// app's code runs. `false` if there is no such service.
    pub fn start_own_service(&mut self, to: &ServiceName) -> bool {
        let Some((at, _)) = self.service(to) else { return false };
        self.process_for_service(at, to);
        self.enter_service(to, true, true);
        true
    }

    /// Starts the process of an installed app without any component, as an instrumentation does,
    /// and returns its id. `None` if there is no such package.
    pub fn start_process(&mut self, package: &str) -> Option<u32> {
        let at = self.apps.position(package)?;
        let to = ServiceName { package: package.to_owned(), class: String::new() };
        Some(self.process_for_service(at, &to).0)
    }

    /// Whether a process runs; an app that does not run sends no reply.
    pub fn runs(&self, pid: u32) -> bool {
        self.apps.iter().any(|app| app.pid == Some(pid))
    }

    /// Lets an app start services from the background for that long (`deviceidle tempwhitelist`).
    /// `false` if no such package is installed.
    pub fn temp_allowlist(&mut self, package: &str, time: Duration) -> bool {
        let until = self.clock.now().saturating_add(time);
        let there = self.apps.position(package).is_some();
        if there {
            self.services.allow(package, until);
        }
        there
    }

    /// Adds an app to, or removes it from, those that may always start services from the background
    /// (`deviceidle whitelist`). `false` if no such package is installed.
    pub fn exempt_from_limits(&mut self, package: &str, exempt: bool) -> bool {
        if !exempt {
            return self.services.disallow(package);
        }
        self.temp_allowlist(package, Duration::MAX)
    }

    /// The running services of all apps.
    pub fn running_services(&self) -> impl Iterator<Item = (&ServiceName, &RunningService)> {
        self.services.running()
    }

    /// Remembers which app was in front; call it whenever that may have changed.
    pub(crate) fn note_front(&mut self) {
        self.services.note_front(self.foreground().package, self.clock.now());
    }

    /// Kills apps that did not call `startForeground` in time.
    pub(crate) fn end_overdue_services(&mut self) {
        for name in self.services.late(self.clock.now()) {
            let kind = match self.device.android() {
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
    ) -> StartServiceResult {
        let Some((at, service)) = self.service(to) else {
            let line =
                format!("Unable to start service Intent {{ cmp={} }} U=0: not found", to.short());
            self.write_log('W', "ActivityManager", SYSTEM_PID, &line);
            return StartServiceResult::NotFound;
        };
        let uid = self.apps[at].manifest.uid;
        if let Some(lacking) = lacking(by, uid, &service) {
            let reason = match service.exported {
                true => format!(" requires {lacking}"),
                false => format!(" that is {lacking}"),
            };
            let line = format!(
                "Permission Denial: Accessing service {} from pid={}, uid={}{reason}",
                to.short(),
                by.pid,
                by.uid
            );
            self.write_log('W', "ActivityManager", SYSTEM_PID, &line);
            return StartServiceResult::Refused(lacking);
        }
        if !foreground && !self.services.runs(to) && self.is_deferred(at) {
            let line = format!(
                "Background start not allowed: service Intent {{ cmp={short} }} to {short} from pid={} uid={} pkg=com.android.shell startFg?=false",
                by.pid,
                by.uid,
                short = to.short()
            );
            self.write_log('W', "ActivityManager", SYSTEM_PID, &line);
            return StartServiceResult::Background(format!(
                "app is in background uid {}",
                self.record_of(at)
            ));
        }
        let (pid, takes) = self.process_for_service(at, to);
        let served = self.send_to_service(at, to, extras, callback.as_ref());
        self.enter_service(to, foreground, served.in_foreground);
        if served.dies {
            self.crash(&to.package, "java.lang.IllegalStateException: the tool gave up half-way");
            return StartServiceResult::Started(None);
        }
        let sender = if self.android() < SYSTEM_SENDS_SINCE { uid } else { SYSTEM };
        let answers = if callback.is_some() { served.answers } else { Vec::new() };
        let replies = answers.into_iter().take(MAX_ANSWERS).rev().fold(None, |then, answer| {
            let (work, extras) = answer;
            Some(CallbackReply {
                after: takes + work,
                code: 0,
                extras,
                uid: sender,
                pid,
                then: then.map(Box::new),
            })
        });
        StartServiceResult::Started(replies)
    }

    /// A service that can be started, and its app's index.
    fn service(&self, name: &ServiceName) -> Option<(usize, DeclaredComponent)> {
        let at = self.apps.position(&name.package)?;
        let declared = self.apps[at].manifest.declared()?;
        let mut services =
            declared.components.iter().filter(|it| it.class == ComponentKind::Service);
        let service = services.find(|it| it.name == name.class)?;
        (service.enabled && !declared.disabled).then(|| (at, service.clone()))
    }

    /// Whether background limits prevent this app from starting services.
    fn is_deferred(&self, at: usize) -> bool {
        let manifest = &self.apps[at].manifest;
        let target = manifest.declared().map_or(0, |declared| declared.target_sdk);
        let package = &manifest.package;
        let now = self.clock.now();
        let in_front = self.screen.is_on() && self.foreground().package == *package;
        let lately = self.apps[at].pid.is_some() && self.services.left_front_lately(package, now);
        let active = in_front || lately || self.services.has_foreground(package);
        let allowed = self.services.is_allowed(package, now);
        self.device.android() >= LIMITS_SINCE && target >= LIMITED_FROM && !active && !allowed
    }

    /// `UidRecord.toString` of an idle app; an app that does not run has none.
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

    /// The process of a service, started if necessary, and how long it takes until the service
    /// runs.
    pub(super) fn process_for_service(&mut self, at: usize, to: &ServiceName) -> (u32, Duration) {
        let (warm, cold) = self.services.times();
        if let Some(pid) = self.apps[at].pid {
            return (pid, warm);
        }
        let (pid, uid) = (self.tasks.next_pid(), self.apps[at].manifest.uid);
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

    /// Passes a start to the app and handles the app's requests. A hanging app does not receive it.
    fn send_to_service(
        &mut self,
        at: usize,
        to: &ServiceName,
        extras: &[(String, String)],
        callback: Option<&CallbackKeys>,
    ) -> ServiceOutcome {
        if !self.responds(&to.package) {
            return ServiceOutcome::default();
        }
        let callback = callback.map_or(&[][..], |keys| &keys.0);
        let start = ServiceStart { class: &to.class, extras, callback };
        let served = self.with_app(at, |app, reach| app.on_start_command(&start, reach));
        self.rebuild();
        served
    }

    fn enter_service(&mut self, to: &ServiceName, asked_foreground: bool, in_foreground: bool) {
        let (now, android) = (self.clock.now(), self.android());
        let must = asked_foreground && android >= LIMITS_SINCE && !in_foreground;
        let overdue_from = must.then(|| now + foreground_deadline(android));
        self.services.enter(to, now, asked_foreground && in_foreground, overdue_from);
    }
}
