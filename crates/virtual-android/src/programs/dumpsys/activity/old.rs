//! `dumpsys activity` of Android 4.4: `ActivityStackSupervisor.dump`, `ActivityRecord.dump` and
//! `Activity.dump`; the captures `043`, `044` and `118`.

use super::super::{fingerprint, old::configuration, task, uid};
use crate::phone::State;
use thumbwire_virtual_android_system::packages::base_path;
use thumbwire_virtual_phone::Node;

fn address(of: &str) -> String {
    format!("{:08x}", 0xa650_0000 | (fingerprint(of) & 0xf_ffff))
}

/// The one task in front, in the one stack of apps.
pub(super) fn activities(phone: &State) -> String {
    let top = phone.world.foreground();
    let (record, package, short) = (task(phone), &top.package, top.short());
    let packages = phone.world.packages();
    let manifest = packages.into_iter().find(|manifest| manifest.package == *package);
    let file = manifest.map_or(String::new(), |it| base_path(it, phone.release()));
    let home = manifest.is_none_or(|it| it.launcher.is_none());
    let (kind, number) = if home { ("HOME", 1) } else { ("APPLICATION", 0) };
    let pid = phone.world.pid_of(package).unwrap_or(0);
    let app = uid(phone, package).saturating_sub(10_000);
    let process = format!("ProcessRecord{{{} {pid}:{package}/u0a{app}}}", address(package));
    let line = format!("TaskRecord{{a6760818 #1 A={package} U=0 sz=1}}");
    let now = phone.world.since_restart().as_millis();
    let density = phone.world.display().density;
    let config = configuration(phone);
    let lines = |indent: &str| {
        [
            format!("numActivities=1 rootWasReset=false userId=0 mTaskType={number} numFullscreen=1 mOnTopOfHome=false"),
            format!("affinity={package}"),
            format!("intent={{flg=0x10000000 cmp={short}}}"),
            format!("realActivity={short}"),
            format!("Activities=[{record}]"),
            "askedCompatMode=false".to_owned(),
            "lastThumbnail=null lastDescription=null".to_owned(),
            format!("lastActiveTime={now} (inactive for 0s)"),
        ]
        .map(|line| format!("{indent}{line}\n"))
        .concat()
    };
    let (of_task, of_recent) = (lines("      "), lines("    "));
    format!(
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)
  Stack #0:
    Task id #1
    * {line}
{of_task}      * Hist #0: {record}
          packageName={package} processName={package}
          launchedFromUid=2000 launchedFromPackage=null userId=0
          app={process}
          Intent {{ flg=0x10000000 cmp={short} }}
          frontOfTask=true task={line}
          taskAffinity={package}
          realActivity={short}
          baseDir={file}
          dataDir=/data/data/{package}
          stateNotNeeded=false componentSpecified=true mActivityType={number}
          compat={{{density}dpi always-compat}} labelRes=0x7f0a0001 icon=0x7f020001 theme=0x0
          config={config}
          launchFailed=false launchCount=0 lastLaunchTime=-{now}ms
          haveState=false icicle=null
          state=RESUMED stopped=false delayedResume=false finishing=false
          keysPaused=false inHistory=true visible=true sleeping=false idle=true
          fullscreen=true noDisplay=false immersive=false launchMode=0
          frozenBeforeDestroy=false thumbnailNeeded=false forceNewConfig=false
          mActivityType={kind}_ACTIVITY_TYPE
          thumbHolder: a6760818 bm=null desc=null
          waitingVisible=false nowVisible=true lastVisibleTime=-{now}ms

    Running activities (most recent first):
      {line}
        Run #0: {record}

    mResumedActivity: {record}
    mLastPausedActivity: {record}

  mFocusedActivity: {record}
  mDismissKeyguardOnNextActivity=false
  mFocusedStack=ActivityStack{{a67db3e0 stackId=0, 1 tasks}} mStackState=STACK_STATE_HOME_IN_BACK
  mSleepTimeout=false
  mCurTaskId=1
  mUserStackInFront={{}}

  Recent tasks:
  * Recent #0: {line}
{of_recent}"
    )
}

/// The activity in front, and its views.
pub(super) fn top(phone: &mut State) -> String {
    let top = phone.world.foreground();
    let pid = phone.world.pid_of(&top.package).unwrap_or(0);
    let (record, local) = (address(&top.short()), address(&top.activity));
    let config = configuration(phone);
    let now = phone.world.since_restart().as_millis();
    let scene = phone.world.scene();
    let views = scene.focused().map_or(String::new(), |window| {
        let size = format!("0,0-{},{}", window.bounds.width(), window.bounds.height());
        let head = format!(
            "      com.android.internal.policy.impl.PhoneWindow$DecorView{{{record} V.E..... R.....I. {size}}}\n        android.widget.LinearLayout{{{local} V.E..... ......I. {size}}}\n"
        );
        head + &view(&window.root, (window.bounds.left, window.bounds.top), 10)
    });
    let fragments = super::fragments(phone);
    format!(
        "TASK {} id=1
  ACTIVITY {} {record} pid={pid}
    Local Activity {local} State:
      mResumed=true mStopped=false mFinished=false
      mLoadersStarted=true
      mChangingConfigurations=false
      mCurrentConfig={config}
{fragments}    FragmentManager misc state:
      mActivity={}@{local}
      mContainer=android.app.Activity$1@{record}
      mCurState=5 mStateSaved=false mDestroyed=false
    ViewRoot:
      mAdded=true mRemoved=false
      mConsumeBatchedInputScheduled=false
      mPendingInputEventCount=0
      mProcessInputEventsScheduled=false
      mTraversalScheduled=false
      android.view.ViewRootImpl$NativePreImeInputStage: mQueueLength=0
      android.view.ViewRootImpl$ImeInputStage: mQueueLength=0
      android.view.ViewRootImpl$NativePostImeInputStage: mQueueLength=0
    Choreographer:
      mFrameScheduled=false
      mLastFrameTime={now} (0 ms ago)
    View Hierarchy:
{views}    Looper (main, tid 1) {{{local}}}
      (Total messages: 0, idling=false, quitting=false)

",
        top.package,
        top.short(),
        top.activity,
    )
}

/// A view and those below it (`View.toString`): its flags, and its bounds in its parent, whose
/// corner is at `corner`.
fn view(node: &Node, corner: (i32, i32), indent: usize) -> String {
    let bounds = node.bounds;
    let flag = |is_set: bool, letter: char| if is_set { letter } else { '.' };
    let flags = &node.flags;
    let id = node.id.as_deref().and_then(|id| id.split_once(":id/"));
    let id = id.map_or(String::new(), |(package, name)| {
        let who = if package == "android" { "android" } else { "app" };
        format!(" #{:08x} {who}:id/{name}", 0x7f0a_0000 | (fingerprint(name) & 0xffff))
    });
    let mut text = format!(
        "{:indent$}{}{{{} V{}{}.{}.{}. {}.{}...I. {},{}-{},{}{id}}}\n",
        "",
        node.class,
        address(&format!("{}{bounds:?}", node.class)),
        flag(flags.focusable, 'F'),
        flag(flags.enabled, 'E'),
        flag(flags.scrollable, 'V'),
        flag(flags.clickable, 'C'),
        flag(flags.focused, 'F'),
        flag(flags.selected, 'S'),
        bounds.left - corner.0,
        bounds.top - corner.1,
        bounds.right - corner.0,
        bounds.bottom - corner.1,
    );
    // Deeper trees than the screen of a real app has do not occur: apps are drawn here.
    for child in &node.children {
        text.push_str(&view(child, (bounds.left, bounds.top), indent + 2));
    }
    text
}
