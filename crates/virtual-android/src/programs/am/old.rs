//! `am` as a Java program: `Am.java` of Android 4.4, and the captures `113` to `148`.

use super::{Invocation, NEW_TASK, ParsedIntent, intent, launch, services};
use crate::io::Status;
use crate::latency::Work;
use thumbwire_virtual_phone::{StartError, StartResult};

/// What `am` prints before an error.
const USAGE: &str = include_str!("../words/android-4.4/am.txt");

/// `am COMMAND …`
pub(super) async fn am(call: &Invocation) -> Status {
    let rest = call.args.get(1..).unwrap_or_default();
    let wrong = match call.arg(0) {
        Some("start") => start(call, rest).await?,
        Some("force-stop" | "kill") => match rest.iter().rfind(|arg| !arg.starts_with('-')) {
            Some(package) => {
                call.phone.with(|phone| phone.world.force_stop(package));
                None
            }
            None => Some("Argument required".to_owned()),
        },
        Some("kill-all") => None,
        Some("broadcast") => match parse(rest) {
            Err(what) => Some(message(&what)),
            Ok(parsed) => {
                let shown = intent::shown(&parsed, parsed.flags);
                let got = call.phone.with(|phone| phone.world.broadcast(&parsed.intent, None));
                let data = got.data.map_or(String::new(), |data| format!(", data=\"{data}\""));
                let result = got.result;
                call.out(format!(
                    "Broadcasting: {shown}\nBroadcast completed: result={result}{data}\n"
                ))
                .await?;
                None
            }
        },
        Some("startservice") => match parse(rest) {
            Err(what) => Some(message(&what)),
            Ok(parsed) => {
                services::start(call, &parsed, false).await?;
                None
            }
        },
        Some("instrument") => {
            let name = rest.iter().rfind(|arg| !arg.starts_with('-')).cloned().unwrap_or_default();
            let full = intent::component(&name)
                .map_or(name, |component| format!("{}/{}", component.package, component.activity));
            // Without -w nobody waits for a status.
            if rest.iter().any(|arg| arg == "-w") {
                call.out(format!(
                    "INSTRUMENTATION_STATUS: id=ActivityManagerService\n\
                     INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{{{full}}}\n\
                     INSTRUMENTATION_STATUS_CODE: -1\n"
                ))
                .await?;
            }
            call.err(format!(
                "android.util.AndroidException: INSTRUMENTATION_FAILED: {full}\n\
                 \tat com.android.commands.am.Am.runInstrument(Am.java:865)\n\
                 \tat com.android.commands.am.Am.onRun(Am.java:282)\n\
                 \tat com.android.internal.os.BaseCommand.run(BaseCommand.java:47)\n\
                 \tat com.android.commands.am.Am.main(Am.java:76)\n\
                 \tat com.android.internal.os.RuntimeInit.nativeFinishInit(Native Method)\n\
                 \tat com.android.internal.os.RuntimeInit.main(RuntimeInit.java:243)\n\
                 \tat dalvik.system.NativeStart.main(Native Method)\n"
            ))
            .await;
            None
        }
        // `BaseCommand.run` without arguments prints only the usage.
        None => {
            call.out(USAGE).await?;
            None
        }
        Some(other) => Some(format!("unknown command '{other}'")),
    };
    if let Some(wrong) = wrong {
        call.err(format!("{USAGE}Error: {wrong}\n")).await;
    }
    Ok(0)
}

/// Parses an intent as in this release: its usage has no package option (`-p`).
fn parse(args: &[String]) -> Result<ParsedIntent, String> {
    let parsed = intent::parse(args)?;
    match parsed.package {
        Some(_) => Err("java.lang.IllegalArgumentException: Unknown option: -p".to_owned()),
        None => Ok(parsed),
    }
}

/// Returns what is wrong with the arguments, if anything.
async fn start(call: &Invocation, args: &[String]) -> Result<Option<String>, crate::io::Abort> {
    let (mut wait, mut stop_first) = (false, false);
    let mut rest = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-W" => wait = true,
            "-S" => stop_first = true,
            "-D" | "--opengl-trace" => {}
            "-P" | "-R" | "--user" | "--start-profiler" => drop(args.next()),
            _ => rest.push(arg.clone()),
        }
    }
    let parsed = match parse(&rest) {
        Ok(parsed) => parsed,
        Err(what) => return Ok(Some(message(&what))),
    };
    if stop_first && let Some(component) = &parsed.intent.component {
        call.out(format!("Stopping: {}\n", component.package)).await?;
        call.phone.with(|phone| phone.world.force_stop(&component.package));
    }
    call.out(format!("Starting: {}\n", intent::shown(&parsed, parsed.flags))).await?;
    let started = launch(call, &parsed);
    match &started {
        Ok(StartResult::New) => {}
        Ok(StartResult::BroughtToFront) => {
            call.err(
                "Warning: Activity not started, its current task has been brought to the front\n",
            )
            .await;
        }
        Err(why) => match (&parsed.intent.component, why) {
            (Some(component), StartError::NoSuchPackage | StartError::NoSuchActivity) => {
                call.err(format!(
                    "Error type 3\nError: Activity class {{{}/{}}} does not exist.\n",
                    component.package, component.activity
                ))
                .await;
            }
            _ => {
                let shown = intent::shown(&parsed, parsed.flags | NEW_TASK);
                call.err(format!("Error: Activity not started, unable to resolve {shown}\n")).await;
            }
        },
    }
    if started.is_err() {
        return Ok(None);
    }
    let cost = call.phone.run_work(Work::ColdStart).await.as_millis();
    if wait {
        let top = call.phone.with(|phone| phone.world.foreground().short());
        call.out(format!(
            "Status: ok\nActivity: {top}\nThisTime: {cost}\nTotalTime: {cost}\nComplete\n"
        ))
        .await?;
    }
    Ok(None)
}

/// An exception's message without its class.
fn message(thrown: &str) -> String {
    thrown.split_once(": ").map_or(thrown, |(_, what)| what).to_owned()
}
