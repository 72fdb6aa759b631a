//! `dumpsys activity`: the activity in front, and the processes. Formats: `shell/activity` of the
//! captures for Android 14 and 16, emulators as listed in `window` for the others. Those of 4.4 are
//! in [`old`].

mod old;

use super::{configuration, fingerprint, task, task_record, uid};
use crate::phone::State;
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;
use thumbwire_virtual_android_system::release::sdk;

pub(super) fn report(phone: &mut State, args: &[&str]) -> String {
    let shape = phone.release().shape;
    let old = shape == DumpsysFormat::Android4;
    match args.first().copied() {
        None | Some("activities" | "a") => match shape {
            DumpsysFormat::Android4 => old::activities(phone),
            DumpsysFormat::Nine => activities_of_nine(phone),
            DumpsysFormat::Eleven => activities_of_eleven(phone),
            _ => activities(phone, shape),
        },
        Some("top") if old => old::top(phone),
        Some("top") => top(phone),
        Some("recents" | "r") if !old => recents(phone),
        Some("processes" | "p") => processes(phone),
        Some("services" | "s") => services(phone, args.get(1).copied()),
        Some("broadcasts" | "b") => {
            "ACTIVITY MANAGER BROADCAST STATE (dumpsys activity broadcasts)\n  (nothing)\n"
                .to_owned()
        }
        Some("intents" | "i") if old => {
            "ACTIVITY MANAGER PENDING INTENTS (dumpsys activity intents)\n  (nothing)\n".to_owned()
        }
        Some(word @ ("service" | "provider")) if old => {
            let name = args.get(1).copied().unwrap_or_default();
            format!("No {word}s match: {name}\nUse -h for help.\n")
        }
        Some(option) if old && option.starts_with('-') => {
            let unknown = super::old::unknown_option(args, &["-a", "-c"]);
            let unknown = unknown.map_or_else(String::new, |option| {
                format!("Unknown argument: {option}; use -h for help\n")
            });
            let rest: Vec<&str> =
                args.iter().copied().skip_while(|arg| arg.starts_with('-')).collect();
            format!("{unknown}{}", report(phone, &rest))
        }
        Some(name) if old => {
            format!("Bad activity command, or no activities match: {name}\nUse -h for help.\n")
        }
        Some(name) => format!(
            "Unknown command: {name}\nBad activity command, or no activities match: {name}\nUse -h for help.\n"
        ),
    }
}

fn address(of: &str) -> String {
    format!("{:07x}", fingerprint(of) & 0xfff_ffff)
}

/// The lines of the activity in front; up to 11 they are indented further.
fn record(phone: &State, shape: DumpsysFormat) -> String {
    let top = phone.world.foreground();
    let (record, package, short) = (task(phone), &top.package, top.short());
    let (uid, pid) = (uid(phone, package), phone.world.pid_of(package).unwrap_or(0));
    let app = uid.saturating_sub(10_000);
    let process = format!("ProcessRecord{{{} {pid}:{package}/u0a{app}}}", address(&short));
    let configuration = configuration(phone, "standard");
    let (from, holder, affinity, named, state) = match shape {
        DumpsysFormat::Android4 | DumpsysFormat::Nine => (
            "launchedFromPackage=null",
            format!("frontOfTask=true task={}", task_of_nine(phone)),
            package.clone(),
            "realActivity",
            "state=RESUMED stopped=false delayedResume=false finishing=false\nkeysPaused=false inHistory=true visible=true sleeping=false idle=true mStartingWindowState=STARTING_WINDOW_REMOVED",
        ),
        DumpsysFormat::Eleven => (
            "launchedFromPackage=com.android.shell launchedFromFeature=null",
            format!("rootOfTask=true task={}", task_record(phone)),
            format!("{uid}:{package}"),
            "mActivityComponent",
            "state=RESUMED stopped=false delayedResume=false finishing=false\nkeysPaused=false inHistory=true setToSleep=false idle=true mStartingWindowState=STARTING_WINDOW_REMOVED",
        ),
        later => (
            "launchedFromPackage=com.android.shell launchedFromFeature=null",
            format!("rootOfTask=true task={}", task_record(phone)),
            format!("{uid}:{package}"),
            "mActivityComponent",
            match later {
                DumpsysFormat::Thirteen => {
                    "state=RESUMED stopped=false delayedResume=false finishing=false\nkeysPaused=false inHistory=true idle=true"
                }
                DumpsysFormat::Sixteen => {
                    "state=RESUMED finishing=false\nkeysPaused=false inHistory=true idle=true"
                }
                _ => {
                    "state=RESUMED delayedResume=false finishing=false\nkeysPaused=false inHistory=true idle=true"
                }
            },
        ),
    };
    // What remains visible of it, since windows and activities were merged.
    let seen = match shape {
        DumpsysFormat::Android4 | DumpsysFormat::Nine => "",
        DumpsysFormat::Eleven => {
            "\nmVisibleRequested=true mVisible=true mClientVisible=true reportedDrawn=true reportedVisible=true"
        }
        _ => {
            "\nmVisibleRequested=true mVisible=true mClientVisible=true reportedDrawn=true reportedVisible=true"
        }
    };
    let lines = format!(
        "packageName={package} processName={package}\nlaunchedFromUid=2000 {from} userId=0\napp={process}\nIntent {{ flg=0x10000000 cmp={short} }}\n{holder}\ntaskAffinity={affinity}\n{named}={short}\nCurrentConfiguration={configuration}\n{state}{seen}\nmActivityType=standard\nnowVisible=true lastVisibleTime=-1s0ms\n"
    );
    let (head, inner) = match shape >= DumpsysFormat::Thirteen {
        true => ("    * Hist  #0: ", "      "),
        false => ("      * Hist #0: ", "          "),
    };
    let indented: String = lines.lines().map(|line| format!("{inner}{line}\n")).collect();
    format!("{head}{record}\n{indented}")
}

fn task_of_nine(phone: &State) -> String {
    let package = phone.world.foreground().package;
    format!("TaskRecord{{{} #1 A={package} U=0 StackId=1 sz=1}}", address(&package))
}

/// Stacks of tasks. Source: an emulator of Android 9, see `window`.
fn activities_of_nine(phone: &State) -> String {
    let (asleep, locked) = (!phone.world.screen_on(), phone.world.keyguard_shown());
    let top = phone.world.foreground();
    let (record, line, package, short) =
        (task(phone), task_of_nine(phone), &top.package, top.short());
    let stack = format!(
        "ActivityStack{{{} stackId=1 type=standard mode=fullscreen visible=true translucent=false, 1 tasks}}",
        address(&record)
    );
    format!(
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\nDisplay #0 (activities from top to bottom):\n\n  Stack #1: type=standard mode=fullscreen\n  isSleeping={asleep}\n  mBounds=Rect(0, 0 - 0, 0)\n    Task id #1\n    mBounds=Rect(0, 0 - 0, 0)\n    mMinWidth=-1\n    mMinHeight=-1\n    mLastNonFullscreenBounds=null\n    * {line}\n      userId=0 effectiveUid=u0a{} mCallingUid=2000 mUserSetupComplete=true mCallingPackage=null\n      affinity={package}\n      intent={{flg=0x10000000 cmp={short}}}\n      realActivity={short}\n      autoRemoveRecents=false isPersistable=true numFullscreen=1 activityType=1\n      rootWasReset=false mNeverRelinquishIdentity=true mReuseTask=false mLockTaskAuth=LOCK_TASK_AUTH_PINNABLE\n      Activities=[{record}]\n      askedCompatMode=false inRecents=true isAvailable=true\n      stackId=1\n      hasBeenVisible=true mResizeMode=RESIZE_MODE_RESIZEABLE mSupportsPictureInPicture=false isResizeable=true lastActiveTime=1 (inactive for 0s)\n{}\n    Running activities (most recent first):\n      {line}\n        Run #0: {record}\n\n    mResumedActivity: {record}\n\n  ResumedActivity: {record}\n  mFocusedStack={stack} mLastFocusedStack={stack}\n  mCurTaskIdForUser={{0=1}}\n  mUserStackInFront={{}}\n  displayId=0 stacks=1\n  isHomeRecentsComponent=false  KeyguardController:\n    mKeyguardShowing={locked}\n    mAodShowing=false\n    mKeyguardGoingAway=false\n    mOccluded=false\n",
        uid(phone, package).saturating_sub(10_000),
        self::record(phone, DumpsysFormat::Nine),
    )
}

/// Tasks in stacks. Source: an emulator of Android 11, see `window`.
fn activities_of_eleven(phone: &State) -> String {
    let asleep = !phone.world.screen_on();
    let top = phone.world.foreground();
    let (record, line, package, short) =
        (task(phone), task_record(phone), &top.package, top.short());
    let uid = uid(phone, package);
    format!(
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\nDisplay #0 (activities from top to bottom):\n  Stack #1: type=standard mode=fullscreen\n  isSleeping={asleep}\n  mBounds=Rect(0, 0 - 0, 0)\n    mResumedActivity: {record}\n    * {line}\n      mBounds=Rect(0, 0 - 0, 0)\n      mMinWidth=-1 mMinHeight=-1\n      userId=0 effectiveUid=u0a{} mCallingUid=2000 mUserSetupComplete=true mCallingPackage=com.android.shell mCallingFeatureId=null\n      affinity={uid}:{package}\n      intent={{flg=0x10000000 cmp={short}}}\n      mActivityComponent={short}\n      autoRemoveRecents=false isPersistable=true activityType=1\n      rootWasReset=false mNeverRelinquishIdentity=true mReuseTask=false mLockTaskAuth=LOCK_TASK_AUTH_PINNABLE\n      Activities=[{record}]\n      askedCompatMode=false inRecents=true isAvailable=true\n      taskId=1 stackId=1\n      mHasBeenVisible=true\n      mResizeMode=RESIZE_MODE_RESIZEABLE mSupportsPictureInPicture=false isResizeable=true\n      lastActiveTime=1 (inactive for 0s)\n{}\n  Resumed activities in task display areas (from top to bottom):\n    Resumed: {record}\n\n  ResumedActivity: {record}\n\nActivityStackSupervisor state:\n  topDisplayFocusedStack={line}\n",
        uid.saturating_sub(10_000),
        self::record(phone, DumpsysFormat::Eleven),
    )
}

/// Tasks in tasks, since 12. Sources: emulators of Android 13 and 14, see `window`, and the
/// captures of 14 and 16.
fn activities(phone: &State, shape: DumpsysFormat) -> String {
    let asleep = !phone.world.screen_on();
    let (record, line) = (task(phone), task_record(phone));
    let whole = line.trim_end_matches('}');
    let asks = match shape {
        DumpsysFormat::Sixteen => "    fullscreenRequestAllowMode=NONE\n",
        _ => "",
    };
    format!(
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\nDisplay #0 (activities from top to bottom):\n  * {whole} U=0 visible=true visibleRequested=true mode=fullscreen translucent=false sz=1}}\n{asks}    mLastPausedActivity: null\n    isSleeping={asleep}\n    topResumedActivity={record}\n{}\n  Resumed activities in task display areas (from top to bottom):\n    Resumed: {record}\n\n  ResumedActivity: {record}\n\nActivityTaskSupervisor state:\n  topDisplayFocusedRootTask={line}\n",
        self::record(phone, shape),
    )
}

fn top(phone: &State) -> String {
    let top = phone.world.foreground();
    let pid = phone.world.pid_of(&top.package).unwrap_or(0);
    format!(
        "TASK {} id=1 userId=0\n  ACTIVITY {} {} pid={pid}\n    Local Activity {} State:\n      mResumed=true mStopped=false mFinished=false\n",
        top.package,
        top.short(),
        address(&top.short()),
        address(&top.activity),
    ) + &fragments(phone)
}

/// The fragments of the activity in front (`FragmentManager.dump` of AOSP and AndroidX: `mAdded`,
/// and before it the active ones with their state, which are left out here).
fn fragments(phone: &State) -> String {
    let Some(newest) = phone.world.front_fragment() else { return String::new() };
    let api = sdk(phone.release().major);
    // The list of subjects had no fragment before Android 5.
    if newest == "TopLevelSettings" && api < 21 {
        return String::new();
    }
    let class = fragment_of_release(newest, api);
    format!("    Added Fragments:\n      #0: {class}{{{} #0 id=0x7f0a0399}}\n", address(class))
}

/// The class of a fragment of Settings in older releases: `SettingsGateway.ENTRY_FRAGMENTS` and,
/// before Android 7, that of `SettingsActivity` and `Settings`.
fn fragment_of_release(newest: &'static str, api: u32) -> &'static str {
    match newest {
        "MainClear" if api < 31 => "MasterClear",
        "DevelopmentSettingsDashboardFragment" if api < 26 => "DevelopmentSettings",
        "ResetDashboardFragment" if api < 28 => "PrivacySettings",
        "AccountDashboardFragment" if api < 21 => "ManageAccountsSettings",
        "AccountDashboardFragment" if api < 26 => "AccountSettings",
        "AccountDashboardFragment" if api < 28 => "UserAndAccountDashboardFragment",
        "TopLevelSettings" if api < 29 => "DashboardSummary",
        newest => newest,
    }
}

fn recents(phone: &State) -> String {
    let top = phone.world.foreground();
    format!(
        "ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)\n  Recent tasks:\n  * Recent #0: Task{{{} #1 type=standard A={}:{}}}\n    realActivity={}\n",
        address(&top.package),
        uid(phone, &top.package),
        top.package,
        top.short(),
    )
}

/// The running services, of one package or of all. Source: `ActiveServices.dumpLocked` and
/// `ServiceRecord.dump` of AOSP, reduced to what all releases have in common.
fn services(phone: &State, only: Option<&str>) -> String {
    let now = phone.world.uptime();
    let wanted = |package: &str, short: &str| {
        only.is_none_or(|word| package == word || short.contains(word))
    };
    let running = phone.world.running_services();
    let rows: String = running
        .filter(|(name, _)| wanted(&name.package, &name.short()))
        .map(|(name, running)| {
            let (short, package) = (name.short(), &name.package);
            let (pid, uid) = (phone.world.pid_of(package).unwrap_or(0), uid(phone, package));
            let ago = now.saturating_sub(running.since).as_millis();
            let foreground = match running.in_foreground {
                true => "    isForeground=true foregroundId=1\n",
                false => "",
            };
            format!(
                "  * ServiceRecord{{{} u0 {short}}}\n    intent={{cmp={short}}}\n    packageName={package}\n    processName={package}\n    app=ProcessRecord{{{} {pid}:{package}/u0a{}}}\n{foreground}    createTime=-{}s{}ms\n    startRequested=true delayedStop=false stopIfKilled=false callStart=true lastStartId={}\n\n",
                address(&short),
                address(package),
                uid.saturating_sub(10_000),
                ago / 1_000,
                ago % 1_000,
                running.starts
            )
        })
        .collect();
    let rows = match rows.as_str() {
        "" => "  (nothing)\n".to_owned(),
        rows => format!("  User 0 active services:\n{rows}"),
    };
    format!("ACTIVITY MANAGER SERVICES (dumpsys activity services)\n{rows}")
}

fn processes(phone: &State) -> String {
    let rows: String = phone
        .world
        .packages()
        .into_iter()
        .filter_map(|manifest| {
            let pid = phone.world.pid_of(&manifest.package)?;
            let app = manifest.uid.saturating_sub(10_000);
            Some(format!(
                "  *APP* UID {} ProcessRecord{{{} {pid}:{}/u0a{app}}}\n",
                manifest.uid,
                address(&manifest.package),
                manifest.package,
            ))
        })
        .collect();
    format!(
        "ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)\n  All known processes:\n{rows}"
    )
}
