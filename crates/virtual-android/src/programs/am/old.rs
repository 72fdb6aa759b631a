//! `am` as a Java program: `Am.java` of Android 4.4, the captures `113` to `148`, and a running
//! 4.4.4.

use super::{Invocation, NEW_TASK, ParsedIntent, intent, launch, services};
use crate::latency;
use thumbwire_virtual_phone::{StartError, StartResult};
use thumbwire_virtual_shell::io::{Abort, Status};

/// What `am` prints before an error.
const USAGE: &str = include_str!("../words/android-4.4/am.txt");

/// Why a command ends early.
enum Refusal {
    /// An `IllegalArgumentException`: its message after the usage.
    Usage(String),
    /// An option that the command itself does not know: only a message.
    Option(String),
    /// Any other exception: its text and its own lines of the trace.
    Thrown(String, &'static [&'static str]),
    /// The phone stops the program.
    Abort(Abort),
}

impl From<Abort> for Refusal {
    fn from(abort: Abort) -> Self {
        Self::Abort(abort)
    }
}

type Outcome = Result<(), Refusal>;

/// The last lines of every trace.
const TRACE: [&str; 5] = [
    "com.android.internal.os.BaseCommand.run(BaseCommand.java:47)",
    "com.android.commands.am.Am.main(Am.java:76)",
    "com.android.internal.os.RuntimeInit.nativeFinishInit(Native Method)",
    "com.android.internal.os.RuntimeInit.main(RuntimeInit.java:243)",
    "dalvik.system.NativeStart.main(Native Method)",
];

/// `am COMMAND …`
pub(super) async fn am(call: &Invocation) -> Status {
    let Some((command, rest)) = call.args.split_first() else {
        // `BaseCommand.run` without arguments prints only the usage.
        return call.out(USAGE).await.map(|()| 0);
    };
    let text = match run(call, command, rest).await {
        Ok(()) => return Ok(0),
        Err(Refusal::Abort(abort)) => return Err(abort),
        Err(Refusal::Usage(reason)) => format!("{USAGE}Error: {reason}\n"),
        Err(Refusal::Option(option)) => format!("Error: Unknown option: {option}\n"),
        Err(Refusal::Thrown(what, own)) => {
            let trace = own.iter().chain(&TRACE).map(|line| format!("\tat {line}\n"));
            format!("{what}\n{}", trace.collect::<String>())
        }
    };
    call.err(text).await;
    Ok(0)
}

async fn run(call: &Invocation, command: &str, rest: &[String]) -> Outcome {
    match command {
        "start" => start(call, rest).await,
        "startservice" => {
            let Some(parsed) = parse(call, rest).await? else { return Ok(()) };
            services::start(call, &parsed, false).await?;
            Ok(())
        }
        "broadcast" => broadcast(call, rest).await,
        "force-stop" | "kill" => {
            let rest = without_user(rest)?;
            let package = argument(&rest, command)?;
            if package.starts_with('-') {
                return Err(Refusal::Option(package.to_owned()));
            }
            call.phone.with(|phone| phone.world.force_stop(package));
            Ok(())
        }
        "instrument" => instrument(call, rest).await,
        // The recorded one knows more; nobody calls those here.
        "stack" => {
            let what = argument(&rest.iter().map(String::as_str).collect::<Vec<_>>(), command)?;
            Err(Refusal::Usage(format!("unknown command '{what}'")))
        }
        other => Err(Refusal::Usage(format!("unknown command '{other}'"))),
    }
}

/// `nextArgRequired`: the first of these, which follow `after`.
fn argument<'a>(rest: &[&'a str], after: &str) -> Result<&'a str, Refusal> {
    let missing = || Refusal::Usage(format!("Argument expected after \"{after}\""));
    rest.first().copied().ok_or_else(missing)
}

/// `Integer.parseInt`.
fn number(text: &str) -> Result<i32, Refusal> {
    text.parse().map_err(|_| Refusal::Usage(format!("Invalid int: \"{text}\"")))
}

/// The arguments without `--user ID`.
fn without_user(args: &[String]) -> Result<Vec<&str>, Refusal> {
    let mut rest = Vec::new();
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "--user" => {
                user(argument(&args.next().into_iter().collect::<Vec<_>>(), "--user")?)?;
            }
            arg => rest.push(arg),
        }
    }
    Ok(rest)
}

/// `parseUserArg`.
fn user(text: &str) -> Result<(), Refusal> {
    match text {
        "all" | "current" | "cur" => Ok(()),
        other => number(other).map(drop),
    }
}

/// Parses an intent as in this release: its usage has no package option (`-p`). Of an unknown
/// option only a message remains, and no intent (`Am.makeIntent`).
async fn parse(call: &Invocation, args: &[String]) -> Result<Option<ParsedIntent>, Refusal> {
    let reason = match intent::parse(args) {
        _ if args.iter().any(|arg| arg == "-p") => "Unknown option: -p".to_owned(),
        Ok(parsed) => return Ok(Some(parsed)),
        Err(what) => message(&what),
    };
    if reason.starts_with("Unknown option") {
        call.err(format!("Error: {reason}\n")).await;
        return Ok(None);
    }
    Err(Refusal::Usage(reason))
}

async fn start(call: &Invocation, args: &[String]) -> Outcome {
    let (mut wait, mut stop_first) = (false, false);
    let mut rest = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || {
            let missing = || Refusal::Usage(format!("Argument expected after \"{arg}\""));
            args.next().ok_or_else(missing)
        };
        match arg.as_str() {
            "-W" => wait = true,
            "-S" => stop_first = true,
            "-D" | "--opengl-trace" => {}
            "-P" | "--start-profiler" => drop(value()?),
            "-R" => drop(number(value()?)?),
            "--user" => user(value()?)?,
            _ => rest.push(arg.clone()),
        }
    }
    let Some(parsed) = parse(call, &rest).await? else { return Ok(()) };
    if stop_first && let Some(component) = &parsed.intent.component {
        call.out(format!("Stopping: {}\n", component.package)).await?;
        call.phone.with(|phone| phone.world.force_stop(&component.package));
    }
    call.out(format!("Starting: {}\n", intent::shown_fully(&parsed, parsed.flags))).await?;
    let started = launch(call, &parsed);
    match &started {
        Ok(StartResult::New) => {}
        Ok(StartResult::BroughtToFront) => {
            call.err(
                "Warning: Activity not started, its current task has been brought to the front\n",
            )
            .await;
        }
        Err(reason) => match (&parsed.intent.component, reason) {
            (Some(component), StartError::NoSuchPackage | StartError::NoSuchActivity) => {
                call.err(format!(
                    "Error type 3\nError: Activity class {{{}/{}}} does not exist.\n",
                    component.package, component.activity
                ))
                .await;
            }
            _ => {
                let shown = intent::shown_fully(&parsed, parsed.flags | NEW_TASK);
                call.err(format!("Error: Activity not started, unable to resolve {shown}\n")).await;
            }
        },
    }
    if started.is_err() {
        return Ok(());
    }
    let cost = call.phone.run_work(latency::COLD_START).await.as_millis();
    if wait {
        let top = call.phone.with(|phone| phone.world.foreground().short());
        call.out(format!(
            "Status: ok\nActivity: {top}\nThisTime: {cost}\nTotalTime: {cost}\nComplete\n"
        ))
        .await?;
    }
    Ok(())
}

async fn broadcast(call: &Invocation, args: &[String]) -> Outcome {
    let Some(parsed) = parse(call, args).await? else { return Ok(()) };
    let shown = intent::shown_fully(&parsed, parsed.flags);
    let got = call.phone.with(|phone| phone.world.broadcast(&parsed.intent, None));
    let data = got.data.map_or(String::new(), |data| format!(", data=\"{data}\""));
    let result = got.result;
    call.out(format!("Broadcasting: {shown}\nBroadcast completed: result={result}{data}\n"))
        .await?;
    Ok(())
}

/// No app of this phone has an instrumentation.
async fn instrument(call: &Invocation, args: &[String]) -> Outcome {
    let (mut wait, mut name, mut last) = (false, None, "instrument");
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        last = arg;
        match arg {
            "-w" => wait = true,
            "-r" | "--no-window-animation" | "--no_window_animation" => {}
            "-p" | "--user" | "--abi" => drop(args.next()),
            "-e" => drop((args.next(), args.next())),
            option if option.starts_with('-') => return Err(Refusal::Option(option.to_owned())),
            other => name = Some(other),
        }
    }
    let name = argument(&name.into_iter().collect::<Vec<_>>(), last)?;
    let component = intent::component(name).map_err(|what| Refusal::Usage(message(&what)))?;
    let full = format!("{}/{}", component.package, component.activity);
    if wait {
        call.out(format!(
            "INSTRUMENTATION_STATUS: id=ActivityManagerService\n\
             INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{{{full}}}\n\
             INSTRUMENTATION_STATUS_CODE: -1\n"
        ))
        .await?;
    }
    Err(Refusal::Thrown(
        format!("android.util.AndroidException: INSTRUMENTATION_FAILED: {full}"),
        &[
            "com.android.commands.am.Am.runInstrument(Am.java:865)",
            "com.android.commands.am.Am.onRun(Am.java:282)",
        ],
    ))
}

/// An exception's message without its class, in Dalvik's words.
fn message(thrown: &str) -> String {
    let what = thrown.split_once(": ").map_or(thrown, |(_, what)| what);
    match what.strip_prefix("For input string: ") {
        Some(text) => format!("Invalid int: {text}"),
        None => what.to_owned(),
    }
}
