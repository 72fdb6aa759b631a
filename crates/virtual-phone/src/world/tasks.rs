//! Which app is in front: installed packages, tasks, their back stacks, starting and stopping.
//!
//! A task is an app's stack of activities; the last task in the list is on the screen. The launcher's
//! task always exists. An app's value is its process: it is made anew after a forced stop, while what
//! it stored stays.

use std::time::Duration;

use super::World;
use super::app::{
    App, Component, Event, Intent, Manifest, Reach, Request, StartError, Started, Store,
};

/// An installed package.
pub(crate) struct Installed {
    pub(crate) manifest: Manifest,
    pub(crate) app: Box<dyn App>,
    /// Its process started anew, on a phone with that seed.
    pub(crate) make: Box<dyn Fn(u64) -> Box<dyn App> + Send>,
    pub(crate) store: Store,
    /// The process, while it runs.
    pub(crate) pid: Option<u32>,
}

impl Installed {
    /// The package of app `A`, as installed on a phone with this seed.
    pub(crate) fn of<A: App + 'static>(seed: u64) -> Installed {
        Installed {
            manifest: A::manifest(),
            app: Box::new(A::new(seed)),
            make: Box::new(|seed| Box::new(A::new(seed))),
            store: Store::default(),
            pid: None,
        }
    }
}

/// An app's activities, full class names, from the bottom to the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) package: String,
    pub(crate) activities: Vec<String>,
}

/// The package of the home screen.
pub(crate) const HOME: &str = "com.android.launcher3";
/// The process that speaks for the system in the log.
pub(crate) const SYSTEM_PID: u32 = 1432;
/// How long a toast stays; Android's `LENGTH_SHORT`.
const TOAST: Duration = Duration::from_secs(2);
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

/// A time as `TimeUtils.formatDuration` writes those below a minute.
fn lasted(time: Duration) -> String {
    let millis = time.as_millis().max(1);
    match millis / 1_000 {
        0 => format!("+{millis}ms"),
        seconds => format!("+{seconds}s{}ms", millis % 1_000),
    }
}

impl World {
    /// Starts an app by its icon, or a named activity of it (`full.Class` or `.Class`). An app that
    /// runs comes to the front as it was.
    ///
    /// # Errors
    /// See [`StartError`]; nothing has changed then.
    pub fn start(&mut self, package: &str, activity: Option<&str>) -> Result<Started, StartError> {
        self.start_with(package, activity, &Intent::default())
    }

    /// Starts what an intent asks for: its component, home for `MAIN` with category `HOME`, a
    /// package's icon for `MAIN`, whoever handles the scheme of an address (`geo:`, `sms:`, `https:`), Settings for `android.settings.…`.
    ///
    /// # Errors
    /// [`StartError::NotLaunchable`] when nothing handles it, else as [`World::start`].
    pub fn start_intent(&mut self, intent: &Intent) -> Result<Started, StartError> {
        if let Some(component) = &intent.component {
            let activity = (!component.activity.is_empty()).then_some(component.activity.as_str());
            return self.start_with(&component.package, activity, intent);
        }
        let home =
            intent.categories.iter().any(|category| category == "android.intent.category.HOME");
        if home && intent.action.as_deref() == Some(MAIN) {
            self.go_home();
            return Ok(Started::BroughtToFront);
        }
        let scheme = intent.data.as_deref().and_then(|data| data.split_once(':'));
        let handler = scheme.and_then(|(scheme, _)| {
            SCHEMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(scheme))
        });
        if let Some((_, package)) = handler {
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

    pub(crate) fn start_with(
        &mut self,
        package: &str,
        activity: Option<&str>,
        intent: &Intent,
    ) -> Result<Started, StartError> {
        let at = self.app_index(package).ok_or(StartError::NoSuchPackage)?;
        let manifest = &self.apps[at].manifest;
        let class = match activity {
            Some(activity) => {
                manifest.resolve(activity).ok_or(StartError::NoSuchActivity)?.to_owned()
            }
            None if package == HOME => manifest.activities.first().cloned().unwrap_or_default(),
            None => manifest.launcher.clone().ok_or(StartError::NotLaunchable)?,
        };
        let class = manifest.behind(&class).to_owned();
        let component = Component { package: package.to_owned(), activity: class.clone() };
        let task = self.tasks.iter().position(|task| task.package == package);
        let (task, started) = match task {
            Some(task) => (self.tasks.remove(task), Started::BroughtToFront),
            None => (Task { package: package.to_owned(), activities: Vec::new() }, Started::New),
        };
        self.tasks.push(task);
        let mut began = started == Started::New;
        if let Some(task) = self.tasks.last_mut()
            && !task.activities.contains(&class)
        {
            task.activities.push(class);
            began = true;
        }
        self.write_start(&component, intent);
        if self.apps[at].pid.is_none() {
            self.next_pid += 17;
            let (pid, uid) = (self.next_pid, self.apps[at].manifest.uid);
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
        self.tell(package, Event::Intent(intent.clone()));
        self.settle();
        if began {
            let line =
                format!("Displayed {} for user 0: {}", component.short(), lasted(self.cold_start));
            self.write_log('I', "ActivityTaskManager", SYSTEM_PID, &line);
        }
        Ok(if began { Started::New } else { started })
    }

    /// Stops an app: its task and what it had in mind are gone, what it stored stays. `false` when no
    /// such package is installed.
    pub fn force_stop(&mut self, package: &str) -> bool {
        let Some(at) = self.app_index(package) else { return false };
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

    /// Ends an app's process and task, whatever ended it.
    pub(crate) fn end(&mut self, package: &str) {
        let Some(at) = self.app_index(package) else { return };
        let installed = &mut self.apps[at];
        installed.app = (installed.make)(self.seed);
        installed.pid = None;
        self.frozen.remove(package);
        self.end_services(package);
        self.end_permissions_given_once(package);
        self.take_away(|overlay| overlay.about() == Some(package));
        let in_front = self.foreground().package == package;
        self.tasks.retain(|task| task.package != package);
        self.scrolls.retain(|(owner, _), _| !owner.starts_with(&format!("{package}/")));
        if in_front {
            self.leave_screen();
        }
        if in_front || self.tasks.is_empty() {
            self.go_home();
        }
    }

    /// Stops an app and forgets what it stored. `false` when no such package is installed.
    pub fn clear_data(&mut self, package: &str) -> bool {
        let Some(at) = self.app_index(package) else { return false };
        self.apps[at].store.clear();
        self.next_wake = None;
        self.forget_permissions(package);
        self.force_stop(package)
    }

    /// The activity on the screen.
    pub fn foreground(&self) -> Component {
        let task = self.tasks.last();
        Component {
            package: task.map(|task| task.package.clone()).unwrap_or_default(),
            activity: task.and_then(|task| task.activities.last().cloned()).unwrap_or_default(),
        }
    }

    /// All installed packages, by name.
    pub fn packages(&self) -> Vec<&Manifest> {
        self.apps.iter().map(|app| &app.manifest).collect()
    }

    /// The process of a running app.
    pub fn pid_of(&self, package: &str) -> Option<u32> {
        self.apps[self.app_index(package)?].pid
    }

    pub(crate) fn app_index(&self, package: &str) -> Option<usize> {
        self.apps.iter().position(|app| app.manifest.package == package)
    }

    /// What the home key and the home gesture do.
    pub(crate) fn press_home(&mut self) {
        self.take_away(|overlay| overlay.leaves_for_home());
        self.go_home();
    }

    /// Shows the home screen.
    pub(crate) fn go_home(&mut self) {
        let intent = Intent {
            action: Some(MAIN.to_owned()),
            categories: vec!["android.intent.category.HOME".to_owned()],
            ..Intent::default()
        };
        // The launcher is always installed and always has its activity.
        let _ = self.start_with(HOME, None, &intent);
    }

    /// Shows the app that was in front before this one.
    pub(crate) fn switch_to_last(&mut self) {
        let Some(before) = self.tasks.len().checked_sub(2) else { return };
        let task = self.tasks.remove(before);
        self.tasks.push(task);
        self.leave_screen();
        self.settle();
    }

    /// Tells the app on the screen that something happened, and does what it asks for.
    pub(crate) fn tell_front(&mut self, event: Event) {
        let package = self.foreground().package;
        self.tell(&package, event);
        self.settle();
    }

    pub(crate) fn tell(&mut self, package: &str, event: Event) {
        let Some(at) = self.app_index(package).filter(|_| self.responds(package)) else { return };
        let now = self.uptime;
        let in_front = self.screen_on && self.foreground().package == package;
        let Installed { app, store, .. } = &mut self.apps[at];
        let mut reach = Reach { store, now, in_front, asked: Vec::new() };
        app.on(event, &mut reach);
        self.next_wake = None;
        for request in reach.asked {
            self.fulfil(package, request);
        }
    }

    pub(super) fn fulfil(&mut self, package: &str, request: Request) {
        match request {
            Request::Finish => self.finish(package),
            Request::Open(activity) => {
                let _ = self.start_with(package, Some(activity), &Intent::default());
            }
            Request::Launch(other) => {
                let _ = self.start(&other, None);
            }
            Request::Focus(field) => {
                self.settle();
                self.focus_field(field);
            }
            Request::Unfocus => self.focus = None,
            Request::Toast(text) => self.toast = Some((text, self.uptime + TOAST)),
            Request::ScrollToTop(id) => {
                self.fling = None;
                let owner = self.scroll_owner();
                self.scrolls.remove(&(owner, format!("#{id}")));
            }
            Request::Wish(wish) => self.wish(wish),
            Request::AskPermission(permission) => self.ask_permission(package, permission),
            Request::Notify { tag, title, text, data } => {
                self.post(package, &tag, &title, &text, data);
            }
            Request::Dismiss(tag) => self.dismiss(package, &tag),
            Request::Copy(text) => self.set_clipboard(text),
            Request::Setting { table, name, value } => self.change_setting(&table, &name, &value),
        }
    }

    /// Ends the activity on top. The last one of a task does not end: since Android 12 the task goes
    /// to the back as it is (developer.android.com, "Behavior changes: Android 12", back button).
    fn finish(&mut self, package: &str) {
        let Some(at) = self.tasks.iter().position(|task| task.package == package) else { return };
        if self.tasks[at].activities.len() > 1 {
            self.tasks[at].activities.pop();
        } else if package != HOME {
            let task = self.tasks.remove(at);
            self.tasks.insert(0, task);
        }
        self.leave_screen();
    }

    /// Forgets what belongs to the screen that is left.
    fn leave_screen(&mut self) {
        self.note_front();
        self.focus = None;
        self.forget_aside();
        self.gesture = None;
        self.fling = None;
        self.keyboard = super::keyboard::Keyboard::default();
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
