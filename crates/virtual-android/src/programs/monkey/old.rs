//! `monkey` of Android 4.4 (`Monkey.java`), whose script echoes nothing, and which fails on a phone
//! without hardware system keys: the captures `149` and `151`, and a running 4.4.4.

use super::Invocation;
use thumbwire_virtual_shell::io::Status;

const USAGE: &str = include_str!("../words/android-4.4/monkey.txt");

/// A parsed command line.
struct Request {
    packages: Vec<String>,
    categories: Vec<String>,
    count: i64,
    /// Whether some events would press keys that the phone does not have.
    system_keys: bool,
}

/// `monkey [-p PACKAGE]… [-c CATEGORY]… [--pct-syskeys 0] COUNT`
pub(super) async fn monkey(call: &Invocation) -> Status {
    let request = match read(&call.args) {
        Ok(request) => request,
        Err(reason) => {
            call.err(format!("{reason}{USAGE}")).await;
            return Ok(255);
        }
    };
    let launcher = request.categories.iter().any(|name| name.ends_with(".LAUNCHER"));
    // It looks for the apps first.
    let app = call.phone.with(|phone| {
        let packages = phone.world.packages().into_iter();
        let mut chosen = packages.filter(|it| {
            launcher && (request.packages.is_empty() || request.packages.contains(&it.package))
        });
        chosen.find(|it| it.launcher.is_some()).map(|it| it.package.clone())
    });
    let Some(app) = app else {
        call.err("** No activities found to run, monkey aborted.\n").await;
        return Ok(252);
    };
    if request.system_keys {
        call.err("** SYS_KEYS has no physical keys but with factor 2.0%.\n").await;
        return Ok(251);
    }
    // The first event switches to one of the apps: installed, and has an icon.
    if request.count > 0 && !request.packages.is_empty() {
        let _ = call.phone.with(|phone| phone.world.start(&app, None));
    }
    let count = request.count;
    call.out(format!(
        "Events injected: {count}\n## Network stats: elapsed time=59ms (0ms mobile, 0ms wifi, 59ms not connected)\n"
    ))
    .await?;
    Ok(0)
}

/// The error is what it prints before its usage.
fn read(args: &[String]) -> Result<Request, String> {
    let (mut packages, mut categories) = (Vec::new(), Vec::new());
    let (mut count, mut system_keys) = (None, true);
    let mut args = args.iter();
    if args.len() == 0 {
        return Err(String::new());
    }
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-h" => return Err(String::new()),
            "-p" => packages.extend(args.next().cloned()),
            "-c" => categories.extend(args.next().cloned()),
            "--pct-syskeys" => system_keys = args.next().is_none_or(|share| share != "0"),
            "-s" | "--throttle" => drop(args.next()),
            share if share.starts_with("--pct-") => drop(args.next()),
            "-v" => {}
            option if option.starts_with('-') && !USAGE.contains(&format!("[{option}]")) => {
                return Err(format!("** Error: Unknown option: {option}\n"));
            }
            option if option.starts_with('-') => {}
            number => count = Some(number),
        }
    }
    let count = count.ok_or("** Error: Count not specified\n")?;
    let count = count.parse().map_err(|_| "** Error: Count is not a number\n".to_owned())?;
    if categories.is_empty() {
        categories.push("android.intent.category.LAUNCHER".to_owned());
    }
    Ok(Request { packages, categories, count, system_keys })
}
