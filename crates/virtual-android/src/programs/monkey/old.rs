//! `monkey` of Android 4.4 (`Monkey.java`), whose script echoes nothing, and which fails on a phone
//! without hardware system keys: the captures `149` and `151`, and a running 4.4.4.

use super::Invocation;
use crate::io::Status;

const USAGE: &str = include_str!("../words/android-4.4/monkey.txt");

/// The shares of the kinds of events, in percent, in the order of `MonkeySourceRandom`, and their
/// options.
const SHARES: [(&str, f32); 11] = [
    ("touch", 15.0),
    ("motion", 10.0),
    ("pinchzoom", 2.0),
    ("trackball", 15.0),
    ("rotation", -0.0),
    ("nav", 25.0),
    ("majornav", 15.0),
    ("syskeys", 2.0),
    ("appswitch", 2.0),
    ("flip", 1.0),
    ("anyevent", 13.0),
];

/// Options without a value.
const FLAGS: [&str; 16] = [
    "--dbg-no-events",
    "--hprof",
    "--ignore-crashes",
    "--ignore-timeouts",
    "--ignore-security-exceptions",
    "--ignore-native-crashes",
    "--kill-process-after-error",
    "--monitor-native-crashes",
    "--randomize-script",
    "--randomize-throttle",
    "--script-log",
    "--bugreport",
    "--periodic-bugreport",
    "--wait-dbg",
    "-h",
    "-v",
];

/// Options with a number, and how an error calls it.
const NUMBERS: [(&str, &str); 5] = [
    ("-s", "Seed"),
    ("--throttle", "delay (in milliseconds) to wait between events"),
    ("--port", "Server port to listen on for commands"),
    ("--profile-wait", "Profile delay"),
    ("--device-sleep-time", "Device sleep time(in milliseconds)"),
];

/// A parsed command line.
struct Request {
    packages: Vec<String>,
    categories: Vec<String>,
    count: i64,
    seed: i64,
    verbose: usize,
    shares: [f32; 11],
}

/// `monkey [-p PACKAGE]… [-c CATEGORY]… [OPTION…] COUNT`
pub(super) async fn monkey(call: &Invocation) -> Status {
    let request = match read(&call.args) {
        Ok(request) => request,
        Err(reason) => {
            call.err(format!("{reason}{USAGE}")).await;
            return Ok(255);
        }
    };
    let verbose = request.verbose > 0;
    if verbose {
        let mut head = format!(":Monkey: seed={} count={}\n", request.seed, request.count);
        head.extend(request.packages.iter().map(|name| format!(":AllowPackage: {name}\n")));
        head.extend(request.categories.iter().map(|name| format!(":IncludeCategory: {name}\n")));
        call.out(head).await?;
    }
    let launcher = request.categories.iter().any(|name| name.ends_with(".LAUNCHER"));
    // It looks for the apps first.
    let apps: Vec<(String, String)> = call.phone.with(|phone| {
        let packages = phone.world.packages().into_iter();
        let chosen = packages.filter(|it| {
            launcher && (request.packages.is_empty() || request.packages.contains(&it.package))
        });
        let starts = chosen.filter_map(|it| {
            let class = it.launcher.as_ref()?;
            Some((it.package.clone(), super::super::pm::short(&it.package, class)))
        });
        starts.collect()
    });
    if apps.is_empty() {
        call.err("** No activities found to run, monkey aborted.\n").await;
        return Ok(252);
    }
    let given: f32 = request.shares.iter().filter(|share| **share < 0.0).map(|it| -it).sum();
    if given > 100.0 {
        call.err("** Event weights > 100%\n").await;
        return Ok(251);
    }
    let rest: f32 = request.shares.iter().filter(|share| **share > 0.0).sum();
    let scale = if rest > 0.0 { (100.0 - given) / rest } else { 0.0 };
    let shares = request.shares.map(|share| if share > 0.0 { share * scale } else { -share });
    let system_keys = SHARES.iter().zip(shares).find(|((name, _), _)| *name == "syskeys");
    if let Some((_, share)) = system_keys.filter(|(_, share)| *share > 0.0) {
        call.err(format!("** SYS_KEYS has no physical keys but with factor {share:?}%.\n")).await;
        return Ok(251);
    }
    if verbose {
        let rows = shares.iter().enumerate().map(|(nth, share)| match share {
            0.0 => format!("//   {nth}: -0.0%\n"),
            share => format!("//   {nth}: {share:?}%\n"),
        });
        call.out(format!("// Event percentages:\n{}", rows.collect::<String>())).await?;
    }
    // The first event switches to one of the apps.
    if let Some((package, component)) = apps.first().filter(|_| request.count > 0) {
        if verbose {
            call.out(format!(
                ":Switch: #Intent;action=android.intent.action.MAIN;category=android.intent.category.LAUNCHER;launchFlags=0x10200000;component={component};end\n    // Allowing start of Intent {{ act=android.intent.action.MAIN cat=[android.intent.category.LAUNCHER] cmp={component} }} in package {package}\n"
            ))
            .await?;
        }
        // Installed, and has an icon.
        if !request.packages.is_empty() {
            let _ = call.phone.with(|phone| phone.world.start(package, None));
        }
    }
    let count = request.count;
    let (dropped, finished) = match verbose {
        true => (
            ":Sending rotation degree=0, persist=false\n:Dropped: keys=0 pointers=0 trackballs=0 flips=0 rotations=0\n",
            "// Monkey finished\n",
        ),
        false => ("", ""),
    };
    call.out(format!(
        "Events injected: {count}\n{dropped}## Network stats: elapsed time=59ms (0ms mobile, 0ms wifi, 59ms not connected)\n{finished}"
    ))
    .await?;
    Ok(0)
}

/// The error is what it prints before its usage. A share of 0 stays 0; others are negative when
/// given.
fn read(args: &[String]) -> Result<Request, String> {
    let mut request = Request {
        packages: Vec::new(),
        categories: Vec::new(),
        count: 0,
        // The clock and an identity hash on a phone.
        seed: 1_709_632_800_000,
        verbose: 0,
        shares: SHARES.map(|(_, share)| share),
    };
    let mut count = None;
    let mut args = args.iter().map(String::as_str).peekable();
    if args.peek().is_none() {
        return Err(String::new());
    }
    let number = |what: &str, text: Option<&str>| {
        text.and_then(|text| text.parse::<i64>().ok()).ok_or_else(|| {
            let text = text.unwrap_or("null");
            format!(
                "** Error: {what} is not a number\n** Error: java.lang.NumberFormatException: Invalid long: \"{text}\"\n"
            )
        })
    };
    while let Some(arg) = args.next() {
        let share = arg.strip_prefix("--pct-");
        let share = SHARES.iter().position(|(name, _)| Some(*name) == share);
        match arg {
            "-h" => return Err(String::new()),
            "-v" => request.verbose += 1,
            "-p" => request.packages.extend(args.next().map(str::to_owned)),
            "-c" => request.categories.extend(args.next().map(str::to_owned)),
            "-f" | "--setup" | "--pkg-blacklist-file" | "--pkg-whitelist-file" => drop(args.next()),
            _ if share.is_some() => {
                let what = format!("{} events percentage", &arg["--pct-".len()..]);
                let given = number(&what, args.next())?;
                if let Some(at) = share {
                    request.shares[at] = -(given as f32);
                }
            }
            _ if FLAGS.contains(&arg) => {}
            option if option.starts_with('-') => {
                let known = NUMBERS.iter().find(|(name, _)| *name == option);
                let Some((_, what)) = known else {
                    return Err(format!("** Error: Unknown option: {option}\n"));
                };
                let given = number(what, args.next())?;
                if option == "-s" {
                    request.seed = given;
                }
            }
            text => count = Some(text),
        }
    }
    let count = count.ok_or("** Error: Count not specified\n")?;
    request.count = count.parse().map_err(|_| "** Error: Count is not a number\n".to_owned())?;
    if request.categories.is_empty() {
        let names = ["android.intent.category.LAUNCHER", "android.intent.category.MONKEY"];
        request.categories.extend(names.map(str::to_owned));
    }
    Ok(request)
}
