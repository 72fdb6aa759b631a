//! `monkey`, as far as it is used to start an app: `monkey -p PACKAGE -c
//! android.intent.category.LAUNCHER 1`. It makes no random events. Texts as in the capture
//! `shell/am/monkey_ok_launcher.txt`; that of Android 4.4 is in [`old`].

mod old;

use super::Invocation;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_shell::io::Status;

/// `monkey [-p PACKAGE]… [-c CATEGORY]… COUNT`
pub(super) async fn monkey(call: Invocation) -> Status {
    if call.release().form == ToolKind::Java {
        return old::monkey(&call).await;
    }
    let echo: String = call.args.iter().map(|arg| format!("bash arg: {arg}\n")).collect();
    call.out(echo).await?;
    let (mut packages, mut categories, mut count) = (Vec::new(), Vec::new(), None);
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-p" => packages.extend(args.next().cloned()),
            "-c" => categories.extend(args.next().cloned()),
            "-s" | "--throttle" | "-f" | "--port" => {
                args.next();
            }
            "--pct-touch" | "--pct-motion" | "--pct-syskeys" | "--pct-anyevent" | "--pct-nav"
            | "--pct-majornav" | "--pct-appswitch" => {
                args.next();
            }
            option if option.starts_with('-') => {}
            number => count = number.parse::<i64>().ok(),
        }
    }
    let Some(count) = count else {
        call.err("** Error: Count not specified\n").await;
        call.err(USAGE).await;
        return Ok(255);
    };
    let mut traced = format!("args: [{}]\n", call.args.join(", "));
    traced.extend(call.args.iter().map(|arg| format!(" arg: \"{arg}\"\n")));
    traced.extend(packages.iter().chain(&categories).map(|data| format!("data=\"{data}\"\n")));
    call.err(traced).await;
    let launchable = categories.is_empty()
        || categories
            .iter()
            .any(|category| category.ends_with(".LAUNCHER") || category.ends_with(".MONKEY"));
    let started = call.phone.with(|phone| match packages.first() {
        Some(package) if launchable => phone.world.start(package, None).is_ok(),
        Some(_) => false,
        None => true,
    });
    if !started {
        call.err("** No activities found to run, monkey aborted.\n").await;
        // `return -4` in Monkey.java
        return Ok(252);
    }
    call.out(format!(
        "Events injected: {count}\n## Network stats: elapsed time=59ms (0ms mobile, 0ms wifi, 59ms not connected)\n"
    ))
    .await?;
    Ok(0)
}

const USAGE: &str = "\
usage: monkey [-p ALLOWED_PACKAGE [-p ALLOWED_PACKAGE] ...]
              [-c MAIN_CATEGORY [-c MAIN_CATEGORY] ...]
              [-s SEED] [-v [-v] ...]
              [--throttle MILLISEC]
              COUNT
";
