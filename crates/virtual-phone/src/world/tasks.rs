//! Which app is in front: starts and stops apps, and performs their requests.

use crate::app::{App, AppContext, Event, InstalledApp, Request};
use crate::log::SYSTEM_PID;
use crate::packages::{Component, Intent, Manifest, StartError, StartResult};
use crate::tasks::HOME;
use crate::world::World;
use std::time::Duration;

const MAIN: &str = "android.intent.action.MAIN";

const MAPS: &str = "com.google.android.apps.maps";

const SETTINGS: &str = "com.android.settings";

/// Which package handles the addresses of a scheme.
const SCHEMES: [(&str, &str); 5] = [
    ("geo", MAPS),
    ("http", "com.android.chrome"),
    ("https", "com.android.chrome"),
    ("sms", "com.google.android.apps.messaging"),
    ("smsto", "com.google.android.apps.messaging"),
];

/// A duration below a minute, formatted as by `TimeUtils.formatDuration`.
fn lasted(time: Duration) -> String {
    let millis = time.as_millis().max(1);
    match millis / 1_000 {
        0 => format!("+{millis}ms"),
        seconds => format!("+{seconds}s{}ms", millis % 1_000),
    }
}

impl World {
    /// Starts an app by its icon, or one of its activities (`full.Class` or `.Class`). A running
    /// app comes to the front as it was.
    ///
    /// # Errors
    /// See [`StartError`]; nothing changes then.
    pub fn start(
        &mut self,
        package: &str,
        activity: Option<&str>,
    ) -> Result<StartResult, StartError> {
        self.start_with(package, activity, &Intent::default())
    }

    /// Starts an intent: its component, the home screen for `MAIN` with category `HOME`, a
    /// package's icon for `MAIN`, the handler of a URI scheme (`geo:`, `sms:`, `https:`), Settings
    /// for `android.settings.…`.
    ///
    /// # Errors
    /// [`StartError::NotLaunchable`] if nothing handles it, else as [`World::start`].
    pub fn start_intent(&mut self, intent: &Intent) -> Result<StartResult, StartError> {
        if let Some(component) = &intent.component {
            let activity = (!component.activity.is_empty()).then_some(component.activity.as_str());
            return self.start_with(&component.package, activity, intent);
        }
        let home =
            intent.categories.iter().any(|category| category == "android.intent.category.HOME");
        if home && intent.action.as_deref() == Some(MAIN) {
            self.go_home();
            return Ok(StartResult::BroughtToFront);
        }
        if let Some(package) = intent.data.as_deref().and_then(Self::app_for_address) {
            return self.start_with(package, None, intent);
        }
        if intent.action.as_deref().is_some_and(|action| action.starts_with("android.settings.")) {
            return self.start_with(SETTINGS, None, intent);
        }
        match self.answering(intent) {
            Some((package, activity)) => self.start_with(&package, Some(&activity), intent),
            None => Err(StartError::NotLaunchable),
        }
    }

    /// The preinstalled app that opens an address, by its scheme.
    pub fn app_for_address(address: &str) -> Option<&'static str> {
        let (scheme, _) = address.split_once(':')?;
        let handler = SCHEMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(scheme));
        handler.map(|(_, package)| *package)
    }

    pub(crate) fn start_with(
        &mut self,
        package: &str,
        activity: Option<&str>,
        intent: &Intent,
    ) -> Result<StartResult, StartError> {
        let at = self.apps.position(package).ok_or(StartError::NoSuchPackage)?;
        let manifest = &self.apps[at].manifest;
        let class = match activity {
            Some(activity) => {
                manifest.resolve(activity).ok_or(StartError::NoSuchActivity)?.to_owned()
            }
            None if package == HOME => manifest.activities.first().cloned().unwrap_or_default(),
            None => manifest.launcher.clone().ok_or(StartError::NotLaunchable)?,
        };
        let class = manifest.resolve_alias(&class).to_owned();
        let component = Component { package: package.to_owned(), activity: class.clone() };
        let began = self.tasks.bring_to_front(package, &class);
        self.write_start(&component, intent);
        if self.apps[at].pid.is_none() {
            let (pid, uid) = (self.tasks.next_pid(), self.apps[at].manifest.uid);
            self.apps[at].pid = Some(pid);
            let line = format!(
                "Start proc {pid}:{package}/u0a{} for next-top-activity {{{}}}",
                uid % 10_000,
                component.short()
            );
            self.write_log('I', "ActivityManager", SYSTEM_PID, &line);
            self.note_process(pid, uid, &component);
        }
        let action = intent.action.as_deref().unwrap_or(MAIN);
        self.note_activity(&component, action, began);
        self.leave_screen();
        self.send_event(package, Event::Intent(intent.clone()));
        self.rebuild();
        if began {
            let line = format!(
                "Displayed {} for user 0: {}",
                component.short(),
                lasted(self.tasks.cold_start())
            );
            self.write_log('I', "ActivityTaskManager", SYSTEM_PID, &line);
        }
        Ok(if began { StartResult::New } else { StartResult::BroughtToFront })
    }

    /// Force-stops an app: its task and memory are gone, stored data stays. `false` if no such
    /// package is installed.
    pub fn force_stop(&mut self, package: &str) -> bool {
        let Some(at) = self.apps.position(package) else { return false };
        if let Some(pid) = self.apps[at].pid {
            let uid = self.apps[at].manifest.uid;
            let line = format!("Force stopping {package} appid={uid} user=0: from pid {pid}");
            self.write_log('I', "ActivityManager", SYSTEM_PID, &line);
            self.note("am_kill", &format!("[0,{pid},{package},0,stop {package}]"));
        }
        self.cancel_of(package);
        self.end(package);
        true
    }

    /// Ends an app's process and task, for whatever reason.
    pub(crate) fn end(&mut self, package: &str) {
        let Some(at) = self.apps.position(package) else { return };
        let installed = &mut self.apps[at];
        installed.app = (installed.make)(self.device.seed());
        installed.pid = None;
        self.tasks.thaw(package);
        self.services.end(package);
        self.permissions.end_once(package);
        self.remove_overlays(|overlay| overlay.about() == Some(package));
        let in_front = self.foreground().package == package;
        let none_left = self.tasks.remove(package);
        self.screen.forget_scrolls_of(package);
        if in_front {
            self.leave_screen();
        }
        if in_front || none_left {
            self.go_home();
        }
    }

    /// Stops an app and deletes its stored data. `false` if no such package is installed.
    pub fn clear_data(&mut self, package: &str) -> bool {
        let Some(at) = self.apps.position(package) else { return false };
        self.apps[at].store.clear();
        self.clock.forget_next_wake();
        self.permissions.forget(package);
        self.force_stop(package)
    }

    /// The activity on the screen.
    pub fn foreground(&self) -> Component {
        self.tasks.foreground()
    }

    /// The class of the fragment that the app in front shows, as the newest release names it;
    /// `None` if it has none.
    pub fn front_fragment(&self) -> Option<&'static str> {
        self.apps.get(&self.foreground().package)?.app.fragment()
    }

    /// All installed packages, by name.
    pub fn packages(&self) -> Vec<&Manifest> {
        self.apps.iter().map(|app| &app.manifest).collect()
    }

    /// The process id of a running app.
    pub fn pid_of(&self, package: &str) -> Option<u32> {
        self.apps.get(package)?.pid
    }

    /// Handles the home key and the home gesture.
    pub(crate) fn press_home(&mut self) {
        self.remove_overlays(|overlay| overlay.closes_on_home());
        self.go_home();
    }

    /// Shows the home screen.
    pub(crate) fn go_home(&mut self) {
        let intent = Intent {
            action: Some(MAIN.to_owned()),
            categories: vec!["android.intent.category.HOME".to_owned()],
            ..Intent::default()
        };
        // The launcher is always installed and has its activity.
        let _ = self.start_with(HOME, None, &intent);
    }

    /// Switches to the previous app.
    pub(crate) fn switch_to_last(&mut self) {
        if self.tasks.switch_to_last() {
            self.leave_screen();
            self.rebuild();
        }
    }

    /// Sends an event to the app in front and handles its requests.
    pub(crate) fn send_event_to_foreground(&mut self, event: Event) {
        let package = self.foreground().package;
        self.send_event(&package, event);
        self.rebuild();
    }

    /// Sends an event to an app and performs its requests. A hanging app does not receive it.
    pub(crate) fn send_event(&mut self, package: &str, event: Event) {
        let Some(at) = self.apps.position(package).filter(|_| self.responds(package)) else {
            return;
        };
        self.with_app(at, |app, reach| app.handle(event, reach));
    }

    /// Lets an app do something, then performs its requests.
    pub(crate) fn with_app<T>(
        &mut self,
        at: usize,
        run: impl FnOnce(&mut dyn App, &mut AppContext<'_>) -> T,
    ) -> T {
        let now = self.clock.now();
        let package = self.apps[at].manifest.package.clone();
        let visible = self.screen.is_on() && !self.keyguard_shown();
        let in_front = visible && self.foreground().package == package;
        let InstalledApp { app, store, manifest, .. } = &mut self.apps[at];
        let descriptor = manifest.descriptor();
        let mut reach = AppContext { store, now, in_front, descriptor, asked: Vec::new() };
        let result = run(&mut **app, &mut reach);
        let asked = reach.asked;
        self.clock.forget_next_wake();
        for request in asked {
            self.handle_request(&package, request);
        }
        result
    }

    pub(super) fn handle_request(&mut self, package: &str, request: Request) {
        match request {
            Request::Finish => self.finish(package),
            Request::Open(activity) => {
                let _ = self.start_with(package, Some(activity), &Intent::default());
            }
            Request::Launch(other) => {
                let _ = self.start(&other, None);
            }
            Request::Focus(field) => {
                self.rebuild();
                self.focus_field(field);
            }
            Request::Unfocus => self.input.set_focus(None),
            Request::Toast(text) => self.notices.show_toast(text, self.clock.now()),
            Request::ScrollToTop(id) => {
                drop(self.input.take_fling());
                let owner = self.scroll_owner();
                self.screen.scroll_to_top(&(owner, format!("#{id}")));
            }
            Request::Storage(request) => self.storage.request(request),
            Request::AskPermission(permission) => self.ask_permission(package, permission),
            Request::Notify { tag, title, text, data } => {
                self.post(package, &tag, &title, &text, data);
            }
            Request::Dismiss(tag) => self.dismiss(package, &tag),
            Request::Copy(text) => self.set_clipboard(text),
            Request::Setting { table, name, value } => self.change_setting(&table, &name, &value),
        }
    }

    /// Finishes the top activity; see [`Tasks::finish`](crate::tasks::Tasks::finish).
    fn finish(&mut self, package: &str) {
        if self.tasks.finish(package) {
            self.leave_screen();
        }
    }

    /// Clears the state that belongs to the current screen.
    fn leave_screen(&mut self) {
        self.note_front();
        self.close_popups();
        self.input.leave_screen();
    }

    fn write_start(&mut self, component: &Component, intent: &Intent) {
        let action = intent.action.as_deref().unwrap_or(MAIN);
        let data = intent.data.as_deref();
        let data = data.map(|data| format!("dat={data} ")).unwrap_or_default();
        let categories = match intent.categories.as_slice() {
            [] if intent.action.is_none() => "cat=[android.intent.category.LAUNCHER] ".to_owned(),
            [] => String::new(),
            some => format!("cat=[{}] ", some.join(",")),
        };
        let line = format!(
            "START u0 {{act={action} {data}{categories}flg=0x10000000 cmp={}}} with LAUNCH_MULTIPLE from uid 2000 result code=0",
            component.short()
        );
        self.write_log('I', "ActivityTaskManager", SYSTEM_PID, &line);
    }
}
