//! `dumpsys activity`: which activity is in front, and the processes. Shapes: `shell/activity` of the captures for Android 14 and 16,
//! `043` and `118` for 4.4.

use super::{fingerprint, task};
use crate::phone::State;
use crate::release::Form;

pub(super) fn report(phone: &mut State, args: &[&str]) -> String {
    let old = phone.manners().form == Form::Java;
    match args.first().copied() {
        None | Some("activities" | "a") if old => old_activities(phone),
        None | Some("activities" | "a") => activities(phone),
        Some("top") => top(phone, old),
        Some("recents" | "r") => recents(phone),
        Some("processes" | "p") => processes(phone),
        Some("services" | "s") => {
            "ACTIVITY MANAGER SERVICES (dumpsys activity services)\n  (nothing)\n".to_owned()
        }
        Some("broadcasts" | "b") => {
            "ACTIVITY MANAGER BROADCAST STATE (dumpsys activity broadcasts)\n  (nothing)\n"
                .to_owned()
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

fn activities(phone: &State) -> String {
    let top = phone.world.foreground();
    let (record, package) = (task(phone), &top.package);
    let uid = uid(phone, package);
    let stack = format!("Task{{{} #1 type=standard A={uid}:{package}", address(package));
    format!(
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\nDisplay #0 (activities from top to bottom):\n  * {stack} U=0 visible=true visibleRequested=true mode=fullscreen translucent=false sz=1}}\n    mLastPausedActivity: null\n    isSleeping=false\n    topResumedActivity={record}\n    * Hist  #0: {record}\n        packageName={package} processName={package}\n        launchedFromUid=2000 launchedFromPackage=com.android.shell launchedFromFeature=null userId=0\n        Intent {{ flg=0x10000000 cmp={short} }}\n        rootOfTask=true task={stack}}}\n        taskAffinity={uid}:{package}\n        mActivityComponent={short}\n        state=RESUMED delayedResume=false finishing=false\n        visible=true visibleRequested=true\n\n  Resumed activities in task display areas (from top to bottom):\n    Resumed: {record}\n\n  ResumedActivity: {record}\n\nActivityTaskSupervisor state:\n  topDisplayFocusedRootTask={stack}}}\n",
        short = top.short(),
    )
}

fn old_activities(phone: &State) -> String {
    let top = phone.world.foreground();
    let (record, package) = (task(phone), &top.package);
    let line = format!("TaskRecord{{a6760818 #1 A={package} U=0 sz=1}}");
    format!(
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\n  Stack #0:\n    Task id #1\n    * {line}\n      numActivities=1 rootWasReset=true userId=0 mTaskType=0 numFullscreen=1 mOnTopOfHome=false\n      affinity={package}\n      intent={{flg=0x10000000 cmp={short}}}\n      realActivity={short}\n      Activities=[{record}]\n      askedCompatMode=false\n      * Hist #0: {record}\n          packageName={package} processName={package}\n          launchedFromUid=2000 launchedFromPackage=null userId=0\n          Intent {{ flg=0x10000000 cmp={short} }}\n          frontOfTask=true task={line}\n          taskAffinity={package}\n          realActivity={short}\n          state=RESUMED stopped=false delayedResume=false finishing=false\n          keysPaused=false inHistory=true visible=true sleeping=false idle=true\n\n    Running activities (most recent first):\n      {line}\n        Run #0: {record}\n\n    mResumedActivity: {record}\n\n  mFocusedActivity: {record}\n  mDismissKeyguardOnNextActivity=false\n  mSleepTimeout=false\n  mCurTaskId=1\n  mUserStackInFront={{}}\n\n  Recent tasks:\n  * Recent #0: {line}\n    numActivities=1 rootWasReset=true userId=0 mTaskType=0 numFullscreen=1 mOnTopOfHome=false\n",
        short = top.short(),
    )
}

fn top(phone: &State, old: bool) -> String {
    let top = phone.world.foreground();
    let pid = phone.world.pid_of(&top.package).unwrap_or(0);
    let user = if old { "" } else { " userId=0" };
    format!(
        "TASK {} id=1{user}\n  ACTIVITY {} {} pid={pid}\n    Local Activity {} State:\n      mResumed=true mStopped=false mFinished=false\n",
        top.package,
        top.short(),
        address(&top.short()),
        address(&top.activity),
    )
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

fn uid(phone: &State, package: &str) -> u32 {
    let packages = phone.world.packages();
    packages.into_iter().find(|manifest| manifest.package == package).map_or(0, |found| found.uid)
}
