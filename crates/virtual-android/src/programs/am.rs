//! `am`: starting and stopping apps. Source: `ActivityManagerShellCommand.java` of Android 14;
//! texts as in the captures `113` to `148` and `shell/am`.

mod old;
mod services;

use super::dumpsys::configuration;
use super::intent::{self, ParsedIntent};
use super::uiautomator2::appium;
use super::{Invocation, appium_settings};
use crate::latency;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;
use thumbwire_virtual_phone::{Component, StartError, StartResult, World};
use thumbwire_virtual_shell::io::Status;

/// The exception that `am crash` throws in the app on Android 12 and later.
const SHELL_CRASH: &str =
    "android.app.RemoteServiceException$CrashedByAdbException: shell-induced crash";

/// `FLAG_ACTIVITY_NEW_TASK`, which `am start` adds.
const NEW_TASK: u32 = 0x1000_0000;
/// `FLAG_RECEIVER_FROM_SHELL`, which `am broadcast` adds.
const FROM_SHELL: u32 = 0x0040_0000;

/// `am COMMAND …`, also `cmd activity COMMAND …`.
pub(super) async fn am(call: Invocation) -> Status {
    if call.release().form == ToolKind::Java {
        return old::am(&call).await;
    }
    let rest = call.args.get(1..).unwrap_or_default();
    let command = call.arg(0).unwrap_or_default();
    let shape = call.release().shape;
    match command {
        "start" | "start-activity" => start(&call, command, rest).await,
        "force-stop" | "kill" | "stop-app" => {
            let Some(package) = rest.iter().rfind(|arg| !arg.starts_with('-')) else {
                return call.exception(command, &expected(command)).await;
            };
            call.phone.with(|phone| phone.world.force_stop(package));
            Ok(0)
        }
        "kill-all" => Ok(0),
        "crash" => {
            // `ActivityManagerShellCommand.runCrash`: a package, or a process by its number.
            let Some(what) = rest.iter().rfind(|arg| !arg.starts_with('-')) else {
                return call.exception(command, &expected(command)).await;
            };
            call.phone.with(|phone| {
                let package = match what.parse::<u32>() {
                    Ok(pid) => phone
                        .world
                        .packages()
                        .iter()
                        .find(|manifest| phone.world.pid_of(&manifest.package) == Some(pid))
                        .map(|manifest| manifest.package.clone()),
                    Err(_) => Some(what.to_string()),
                };
                package.is_some_and(|package| phone.world.crash(&package, SHELL_CRASH))
            });
            Ok(0)
        }
        "broadcast" => match intent::parse(rest) {
            Err(what) => call.exception(command, &what).await,
            Ok(parsed) => {
                let shown = intent::shown(&parsed, parsed.flags | FROM_SHELL);
                let package = parsed.package.as_deref();
                let got = call.phone.with(|phone| {
                    let answer = appium_settings::broadcast(phone, &parsed.intent);
                    answer.unwrap_or_else(|| phone.world.broadcast(&parsed.intent, package))
                });
                let data = got.data.map_or(String::new(), |data| format!(", data=\"{data}\""));
                let result = got.result;
                call.out(format!(
                    "Broadcasting: {shown}\nBroadcast completed: result={result}{data}\n"
                ))
                .await?;
                Ok(0)
            }
        },
        "startservice"
        | "start-service"
        | "startforegroundservice"
        | "start-foreground-service" => match intent::parse(rest) {
            Err(what) => call.exception(command, &what).await,
            Ok(parsed) => {
                match services::start(&call, &parsed, command.contains("foreground")).await? {
                    true => Ok(0),
                    false => Ok(255),
                }
            }
        },
        "instrument" => instrument(&call, rest).await,
        "get-current-user" => call.out("0\n").await.map(|()| 0),
        "stack" if rest.first().is_some_and(|arg| arg == "list") => {
            let word = if shape >= DumpsysFormat::Thirteen { "RootTask" } else { "Stack" };
            let listed = call.phone.with(|phone| {
                let (top, bounds) = (phone.world.foreground(), phone.world.display().bounds());
                let bounds = format!("[0,0][{},{}]", bounds.right, bounds.bottom);
                let configuration = configuration(phone, "standard");
                let name = format!("{}/{}", top.package, top.activity);
                format!(
                    "{word} id=1 bounds={bounds} displayId=0 userId=0\n configuration={configuration}\n  taskId=1: {name} bounds={bounds} userId=0 visible=true topActivity=ComponentInfo{{{name}}}\n"
                )
            });
            call.out(listed).await?;
            Ok(0)
        }
        "" | "help" | "-h" => {
            call.out(USAGE).await.map(|()| if command.is_empty() { 255 } else { 0 })
        }
        other => call.out(format!("Unknown command: {other}\n")).await.map(|()| 255),
    }
}

/// `am instrument [-r] [-w] [-e NAME VALUE] COMPONENT`. The code of installed packages does not run
/// here: only Appium's server does something, because the phone implements it.
async fn instrument(call: &Invocation, args: &[String]) -> Status {
    let (mut wait, mut name) = (false, None);
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "-w" => wait = true,
            "-e" => drop((args.next(), args.next())),
            "-p" | "--user" | "--abi" | "-f" => drop(args.next()),
            option if option.starts_with('-') => {}
            component => name = Some(component),
        }
    }
    let Some(name) = name else {
        call.err(format!("{USAGE}\nError: Argument expected after \"instrument\"\n")).await;
        return Ok(1);
    };
    let Ok(component) = intent::component(name) else {
        call.err(format!(
            "java.lang.IllegalArgumentException: Bad component name: {name}\n{}",
            frames(call.release().major)
        ))
        .await;
        return Ok(1);
    };
    let full = format!("{}/{}", component.package, component.activity);
    if let Some(tested) = call.phone.with(|phone| tested_package(&phone.world, &component)) {
        if tested == appium::PACKAGE {
            return appium::run(call, wait).await;
        }
        if wait {
            let reason = "none of this app's code runs on the virtual phone";
            call.out(format!(
                "INSTRUMENTATION_RESULT: shortMsg={reason}\nINSTRUMENTATION_CODE: 0\n"
            ))
            .await?;
        }
        return Ok(0);
    }
    if wait {
        call.out(format!(
            "INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{{{full}}}\n\
             INSTRUMENTATION_STATUS: id=ActivityManagerService\nINSTRUMENTATION_STATUS_CODE: -1\n"
        ))
        .await?;
    }
    let frames = frames(call.release().major);
    call.err(format!("android.util.AndroidException: INSTRUMENTATION_FAILED: {full}\n{frames}"))
        .await;
    Ok(1)
}

/// The package that an instrumentation tests; `None` if no installed package has the
/// instrumentation.
fn tested_package(world: &World, component: &Component) -> Option<String> {
    let packages = world.packages();
    let manifest = packages.iter().find(|manifest| manifest.package == component.package)?;
    let known = &manifest.declared()?.instrumentations;
    let found = known.iter().find(|(class, _)| *class == component.activity);
    found.map(|(_, tested)| tested.clone())
}

/// Where `am` throws when an instrumentation cannot start, as public transcripts of those releases
/// show it.
fn frames(major: u32) -> String {
    let (run, runtime) = match major {
        ..=9 => (507, 338),
        10..=12 => (519, 399),
        13..=14 => (543, 355),
        _ => (552, 371),
    };
    format!(
        "\tat com.android.commands.am.Instrument.run(Instrument.java:{run})\n\
         \tat com.android.commands.am.Am.runInstrument(Am.java:202)\n\
         \tat com.android.commands.am.Am.onRun(Am.java:80)\n\
         \tat com.android.internal.os.BaseCommand.run(BaseCommand.java:60)\n\
         \tat com.android.commands.am.Am.main(Am.java:50)\n\
         \tat com.android.internal.os.RuntimeInit.nativeFinishInit(Native Method)\n\
         \tat com.android.internal.os.RuntimeInit.main(RuntimeInit.java:{runtime})\n"
    )
}

fn expected(after: &str) -> String {
    format!("java.lang.IllegalArgumentException: Argument expected after \"{after}\"")
}

async fn start(call: &Invocation, command: &str, args: &[String]) -> Status {
    let (mut wait, mut stop_first) = (false, false);
    let mut rest = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-W" => wait = true,
            "-S" => stop_first = true,
            "-D" | "-N" | "--track-allocation" | "--streaming" | "--task-overlay"
            | "--lock-task" => {}
            "-P" | "-R" | "--user" | "--display" | "--windowingMode" | "--activityType"
            | "--task" | "--start-profiler" | "--sampling" => {
                args.next();
            }
            _ => rest.push(arg.clone()),
        }
    }
    let parsed = match intent::parse(&rest) {
        Ok(parsed) => parsed,
        Err(what) => return call.exception(command, &what).await,
    };
    if stop_first
        && let Some(package) = parsed
            .intent
            .component
            .as_ref()
            .map(|component| &component.package)
            .or(parsed.package.as_ref())
    {
        call.out(format!("Stopping: {package}\n")).await?;
        call.phone.with(|phone| phone.world.force_stop(package));
    }
    call.out(format!("Starting: {}\n", intent::shown(&parsed, parsed.flags))).await?;
    if call.phone.with(|phone| appium_settings::start(phone, &parsed.intent)) {
        return Ok(0);
    }
    let before = call.phone.with(|phone| phone.world.foreground());
    let started = launch(call, &parsed);
    // `ActivityStarter.recycleTask`: a task that was already in front only receives the intent.
    let on_top = started == Ok(StartResult::BroughtToFront)
        && before == call.phone.with(|phone| phone.world.foreground());
    // Without -W the result goes to stderr.
    let out = match &started {
        Ok(StartResult::New) => String::new(),
        Ok(_) if on_top => {
            "Warning: Activity not started, intent has been delivered to currently running top-most instance.\n"
                .to_owned()
        }
        Ok(StartResult::BroughtToFront) => {
            "Warning: Activity not started, its current task has been brought to the front\n"
                .to_owned()
        }
        Err(StartError::NotLaunchable) => {
            let shown = intent::shown(&parsed, parsed.flags | NEW_TASK);
            format!("Error: Activity not started, unable to resolve {shown}\n")
        }
        Err(StartError::NoSuchPackage | StartError::NoSuchActivity) => {
            match &parsed.intent.component {
                Some(component) => format!(
                    "Error type 3\nError: Activity class {{{}/{}}} does not exist.\n",
                    component.package, component.activity
                ),
                None => {
                    let shown = intent::shown(&parsed, parsed.flags | NEW_TASK);
                    format!("Error: Activity not started, unable to resolve {shown}\n")
                }
            }
        }
    };
    if wait {
        call.out(out).await?;
    } else {
        call.err(out).await;
    }
    let Ok(started) = started else { return Ok(0) };
    let (state, work) = match started {
        StartResult::New => ("COLD", Some(latency::COLD_START)),
        _ if on_top => ("UNKNOWN (0)", None),
        StartResult::BroughtToFront => ("HOT", Some(latency::HOT_START)),
    };
    let cost = match work {
        Some(work) => call.phone.run_work(work).await.as_millis(),
        None => 0,
    };
    if wait {
        let top = call.phone.with(|phone| phone.world.foreground().short());
        let (before, after) = match call.release().launch_state {
            true => (format!("LaunchState: {state}\n"), String::new()),
            false => (String::new(), format!("ThisTime: {cost}\n")),
        };
        call.out(format!(
            "Status: ok\n{before}Activity: {top}\n{after}TotalTime: {cost}\nWaitTime: {}\nComplete\n",
            cost + 5
        ))
        .await?;
    }
    Ok(0)
}

fn launch(call: &Invocation, parsed: &ParsedIntent) -> Result<StartResult, StartError> {
    call.phone.with(|phone| match (&parsed.intent.component, &parsed.package) {
        (None, Some(package))
            if parsed.intent.action.as_deref() == Some("android.intent.action.MAIN") =>
        {
            phone.world.start(package, None)
        }
        _ => phone.world.start_intent(&parsed.intent),
    })
}

const USAGE: &str = "\
Activity manager (activity) commands:
  help
      Print this help text.
  start-activity [-W] [-S] [--user <USER_ID> | current] <INTENT>
      Start an Activity.
  force-stop [--user <USER_ID> | all | current] <PACKAGE>
      Completely stop the given application package.
  kill [--user <USER_ID> | all | current] <PACKAGE>
      Kill all background processes associated with the given application.
  broadcast [--user <USER_ID> | all | current] <INTENT>
      Send a broadcast Intent.
  get-current-user
      Returns id of the current foreground user.
  stack list
      List all of the activity stacks and their sizes.
";
