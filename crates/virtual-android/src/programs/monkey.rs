//! `monkey`, as far as it is used to start an app: `monkey -p PACKAGE -c android.intent.category.LAUNCHER 1`. It makes
//! no random events. Texts as in the capture `shell/am/monkey_ok_launcher.txt`; of Android 4.4 as in `149` and `151`.

use super::Invocation;
use crate::io::Status;
use crate::release::ToolKind;

/// `monkey [-p PACKAGE]… [-c CATEGORY]… COUNT`
pub(super) async fn monkey(call: Invocation) -> Status {
    if call.release().form == ToolKind::Java {
        return old(&call).await;
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

/// As on Android 4.4, where the script echoes nothing and `Monkey.java` fails on a phone without hardware system keys.
async fn old(call: &Invocation) -> Status {
    let (mut package, mut categories, mut count, mut syskeys) = (None, Vec::new(), None, true);
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-p" => package = args.next().cloned(),
            "-c" => categories.extend(args.next().cloned()),
            "--pct-syskeys" => syskeys = args.next().is_none_or(|share| share != "0"),
            "-s" | "--throttle" | "-f" | "--port" => drop(args.next()),
            option if option.starts_with("--pct-") => drop(args.next()),
            option if option.starts_with('-') => {}
            number => count = number.parse::<i64>().ok(),
        }
    }
    let Some(count) = count else {
        let wrong = if call.args.is_empty() { "" } else { "** Error: Count not specified\n" };
        call.err(format!("{wrong}{OLD_USAGE}")).await;
        return Ok(255);
    };
    let launchable =
        categories.is_empty() || categories.iter().any(|name| name.ends_with(".LAUNCHER"));
    let there = package.as_ref().is_none_or(|package| {
        call.phone.with(|phone| {
            let packages = phone.world.packages();
            packages.iter().any(|known| known.package == *package && known.launcher.is_some())
        })
    });
    // It looks for the apps first.
    if !there || !launchable {
        call.err("** No activities found to run, monkey aborted.\n").await;
        return Ok(252);
    }
    if syskeys {
        call.err("** SYS_KEYS has no physical keys but with factor 2.0%.\n").await;
        return Ok(251);
    }
    if let Some(package) = package {
        // Installed, and has an icon.
        let _ = call.phone.with(|phone| phone.world.start(&package, None));
    }
    call.out(format!(
        "Events injected: {count}\n## Network stats: elapsed time=59ms (0ms mobile, 0ms wifi, 59ms not connected)\n"
    ))
    .await?;
    Ok(0)
}

const OLD_USAGE: &str = include_str!("words/android-4.4/monkey.txt");

const USAGE: &str = "\
usage: monkey [-p ALLOWED_PACKAGE [-p ALLOWED_PACKAGE] ...]
              [-c MAIN_CATEGORY [-c MAIN_CATEGORY] ...]
              [-s SEED] [-v [-v] ...]
              [--throttle MILLISEC]
              COUNT
";
