//! `appops`, a script for `cmd appops`: what apps may do beyond permissions. Modes are stored; no
//! app of this phone asks for them. Source: `AppOpsService.java` of Android 9 to 14; 4.4 has no
//! such program.

use super::Invocation;
use thumbwire_virtual_shell::io::Status;

/// An operation's debug name and its mode by default, in the order of their numbers
/// (`AppOpsManager.OP_…`).
#[rustfmt::skip]
const OPS: [(&str, &str); 90] = [
    ("COARSE_LOCATION", ALLOW), ("FINE_LOCATION", ALLOW), ("GPS", ALLOW), ("VIBRATE", ALLOW), ("READ_CONTACTS", ALLOW),
    ("WRITE_CONTACTS", ALLOW), ("READ_CALL_LOG", ALLOW), ("WRITE_CALL_LOG", ALLOW), ("READ_CALENDAR", ALLOW),
    ("WRITE_CALENDAR", ALLOW), ("WIFI_SCAN", ALLOW), ("POST_NOTIFICATION", ALLOW), ("NEIGHBORING_CELLS", ALLOW),
    ("CALL_PHONE", ALLOW), ("READ_SMS", ALLOW), ("WRITE_SMS", "ignore"), ("RECEIVE_SMS", ALLOW),
    ("RECEIVE_EMERGECY_SMS", ALLOW), ("RECEIVE_MMS", ALLOW), ("RECEIVE_WAP_PUSH", ALLOW), ("SEND_SMS", ALLOW),
    ("READ_ICC_SMS", ALLOW), ("WRITE_ICC_SMS", ALLOW), ("WRITE_SETTINGS", DEFAULT), ("SYSTEM_ALERT_WINDOW", DEFAULT),
    ("ACCESS_NOTIFICATIONS", ALLOW), ("CAMERA", ALLOW), ("RECORD_AUDIO", ALLOW), ("PLAY_AUDIO", ALLOW),
    ("READ_CLIPBOARD", ALLOW), ("WRITE_CLIPBOARD", ALLOW), ("TAKE_MEDIA_BUTTONS", ALLOW), ("TAKE_AUDIO_FOCUS", ALLOW),
    ("AUDIO_MASTER_VOLUME", ALLOW), ("AUDIO_VOICE_VOLUME", ALLOW), ("AUDIO_RING_VOLUME", ALLOW),
    ("AUDIO_MEDIA_VOLUME", ALLOW), ("AUDIO_ALARM_VOLUME", ALLOW), ("AUDIO_NOTIFICATION_VOLUME", ALLOW),
    ("AUDIO_BLUETOOTH_VOLUME", ALLOW), ("WAKE_LOCK", ALLOW), ("MONITOR_LOCATION", ALLOW),
    ("MONITOR_HIGH_POWER_LOCATION", ALLOW), ("GET_USAGE_STATS", DEFAULT), ("MUTE_MICROPHONE", ALLOW),
    ("TOAST_WINDOW", ALLOW), ("PROJECT_MEDIA", "ignore"), ("ACTIVATE_VPN", "ignore"), ("WRITE_WALLPAPER", ALLOW),
    ("ASSIST_STRUCTURE", ALLOW), ("ASSIST_SCREENSHOT", ALLOW), ("READ_PHONE_STATE", ALLOW), ("ADD_VOICEMAIL", ALLOW),
    ("USE_SIP", ALLOW), ("PROCESS_OUTGOING_CALLS", ALLOW), ("USE_FINGERPRINT", ALLOW), ("BODY_SENSORS", ALLOW),
    ("READ_CELL_BROADCASTS", ALLOW), ("MOCK_LOCATION", "deny"), ("READ_EXTERNAL_STORAGE", ALLOW),
    ("WRITE_EXTERNAL_STORAGE", ALLOW), ("TURN_SCREEN_ON", ALLOW), ("GET_ACCOUNTS", ALLOW), ("RUN_IN_BACKGROUND", ALLOW),
    ("AUDIO_ACCESSIBILITY_VOLUME", ALLOW), ("READ_PHONE_NUMBERS", ALLOW), ("REQUEST_INSTALL_PACKAGES", DEFAULT),
    ("PICTURE_IN_PICTURE", ALLOW), ("INSTANT_APP_START_FOREGROUND", DEFAULT), ("ANSWER_PHONE_CALLS", ALLOW),
    ("RUN_ANY_IN_BACKGROUND", ALLOW), ("CHANGE_WIFI_STATE", ALLOW), ("REQUEST_DELETE_PACKAGES", ALLOW),
    ("BIND_ACCESSIBILITY_SERVICE", ALLOW), ("ACCEPT_HANDOVER", ALLOW), ("MANAGE_IPSEC_TUNNELS", "deny"),
    ("START_FOREGROUND", ALLOW), ("BLUETOOTH_SCAN", ALLOW), ("USE_BIOMETRIC", ALLOW), ("ACTIVITY_RECOGNITION", ALLOW),
    ("SMS_FINANCIAL_TRANSACTIONS", DEFAULT), ("READ_MEDIA_AUDIO", ALLOW), ("WRITE_MEDIA_AUDIO", "deny"),
    ("READ_MEDIA_VIDEO", ALLOW), ("WRITE_MEDIA_VIDEO", "deny"), ("READ_MEDIA_IMAGES", ALLOW),
    ("WRITE_MEDIA_IMAGES", "deny"), ("LEGACY_STORAGE", DEFAULT), ("ACCESS_ACCESSIBILITY", ALLOW),
    ("READ_DEVICE_IDENTIFIERS", "deny"),
];
const ALLOW: &str = "allow";
const DEFAULT: &str = "default";

/// The operations that Android 9 has.
const OPS_OF_9: usize = 78;

/// `AppOpsManager.MODE_NAMES`; `foreground` came with 10.
const MODES: [&str; 5] = ["allow", "ignore", "deny", "default", "foreground"];

const USAGE: &str = "\
AppOps service (appops) commands:
  help
    Print this help text.
  start [--user <USER_ID>] <PACKAGE | UID> <OP> 
    Starts a given operation for a particular application.
  stop [--user <USER_ID>] <PACKAGE | UID> <OP> 
    Stops a given operation for a particular application.
  set [--user <USER_ID>] <PACKAGE | UID> <OP> <MODE>
    Set the mode for a particular application and operation.
  get [--user <USER_ID>] <PACKAGE | UID> [<OP>]
    Return the mode for a particular application and optional operation.
  query-op [--user <USER_ID>] <OP> [<MODE>]
    Print all packages that currently have the given op in the given mode.
  reset [--user <USER_ID>] [<PACKAGE>]
    Reset the given application or all applications to default modes.
  write-settings
    Immediately write pending changes to storage.
  read-settings
    Read the last written settings, replacing current state in RAM.
  options:
    <PACKAGE> an Android package name.
    <OP>      an AppOps operation.
    <MODE>    one of allow, ignore, deny, or default
    <USER_ID> the user id under which the package is installed. If --user is not
              specified, the current user is assumed.
";

/// `appops set|get|query-op|reset|…`
pub(super) async fn appops(call: Invocation) -> Status {
    let mut words = Vec::new();
    let mut args = call.args.iter().skip(1).map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "--user" => drop(args.next()),
            "--uid" => {}
            arg => words.push(arg),
        }
    }
    let done = match call.arg(0) {
        Some("get") => get(&call, &words),
        Some("set") => set(&call, &words),
        Some("start" | "stop") => {
            target(&call, &words).and_then(|_| op(&call, words.get(1))).map(|_| String::new())
        }
        Some("query-op") => query(&call, &words),
        Some("reset") => {
            let package = words.first().copied();
            call.phone.with(|phone| {
                phone.services.app_ops.retain(|(of, _), _| package.is_some_and(|it| it != of));
            });
            let what =
                package.map_or("all packages".to_owned(), |package| format!("package {package}"));
            Ok(format!("Reset all modes for: user 0, {what}\n"))
        }
        Some("write-settings") => Ok("Current settings written.\n".to_owned()),
        Some("read-settings") => Ok("Last settings read.\n".to_owned()),
        Some("help" | "-h") => Ok(USAGE.to_owned()),
        None => {
            call.out(USAGE).await?;
            return Ok(255);
        }
        Some(other) => {
            call.out(format!("Unknown command: {other}\n")).await?;
            return Ok(255);
        }
    };
    match done {
        Ok(text) => call.out(text).await.map(|()| 0),
        Err(reason) => {
            call.err(format!("Error: {reason}\n")).await;
            Ok(255)
        }
    }
}

/// The package that a command is about: named, or by its user id.
fn target(call: &Invocation, words: &[&str]) -> Result<String, String> {
    let name = words.first().ok_or("Package name not specified.")?;
    // The shell's own package, which has no app.
    if ["com.android.shell", "2000", "shell"].contains(name) {
        return Ok("com.android.shell".to_owned());
    }
    let packages = call.phone.with(|phone| {
        let packages = phone.world.packages().into_iter();
        packages.map(|it| (it.package.clone(), it.uid)).collect::<Vec<_>>()
    });
    // `10123` and `u0a123` name a user id.
    let uid = name.parse().ok().or_else(|| {
        let number: u32 = name.strip_prefix("u0a")?.parse().ok()?;
        Some(number + 10_000)
    });
    let found = packages.into_iter().find(|(package, id)| package == name || Some(*id) == uid);
    found.map(|(package, _)| package).ok_or_else(|| format!("No UID for {name} in user 0"))
}

/// An operation by its debug name, public name (`android:camera`) or number: its index in [`OPS`].
fn op(call: &Invocation, name: Option<&&str>) -> Result<usize, String> {
    let name = *name.ok_or("Operation not specified.")?;
    let known = if call.release().major < 10 { &OPS[..OPS_OF_9] } else { &OPS[..] };
    let plain = name.strip_prefix("android:").map(str::to_ascii_uppercase);
    let plain = plain.as_deref().unwrap_or(name);
    if let Ok(number) = name.parse::<usize>() {
        return Some(number)
            .filter(|number| *number < known.len())
            .ok_or(format!("Unknown operation string: {name}"));
    }
    let place = known.iter().position(|(debug, _)| *debug == plain);
    place.ok_or_else(|| format!("Unknown operation string: {name}"))
}

fn mode(call: &Invocation, name: &str) -> Result<&'static str, String> {
    let known = if call.release().major < 10 { &MODES[..4] } else { &MODES[..] };
    let number = name.parse::<usize>().ok();
    let found = known.iter().enumerate().find(|(at, mode)| **mode == name || Some(*at) == number);
    found.map(|(_, mode)| *mode).ok_or_else(|| format!("Mode {name} is not valid"))
}

/// The stored modes of a package, in the order of the operations.
fn stored(call: &Invocation, package: &str) -> Vec<(usize, &'static str)> {
    let modes = call.phone.with(|phone| phone.services.app_ops.clone());
    let mut rows: Vec<_> = modes
        .into_iter()
        .filter(|((of, _), _)| of == package)
        .filter_map(|((_, name), mode)| Some((OPS.iter().position(|op| op.0 == name)?, mode)))
        .collect();
    rows.sort_unstable();
    rows
}

fn get(call: &Invocation, words: &[&str]) -> Result<String, String> {
    let wanted = words.get(1).map(|name| op(call, Some(name))).transpose();
    let package = match words.first() {
        None => return Err("Package name not specified.".to_owned()),
        // An unknown operation is reported before an unknown package.
        Some(_) => wanted.and_then(|wanted| Ok((wanted, target(call, words)?))),
    };
    let (wanted, package) = package?;
    let mut rows = stored(call, &package);
    rows.retain(|(at, _)| wanted.is_none_or(|wanted| wanted == *at));
    if rows.is_empty() {
        let default = wanted.map(|at| format!("Default mode: {}\n", OPS[at].1));
        return Ok(format!("No operations.\n{}", default.unwrap_or_default()));
    }
    Ok(rows.into_iter().map(|(at, mode)| format!("{}: {mode}\n", OPS[at].0)).collect())
}

fn set(call: &Invocation, words: &[&str]) -> Result<String, String> {
    if words.is_empty() {
        return Err("Package name not specified.".to_owned());
    }
    let at = op(call, words.get(1))?;
    let package = target(call, words)?;
    let mode = mode(call, words.get(2).ok_or("Mode not specified.")?)?;
    let (name, default) = OPS[at];
    call.phone.with(|phone| {
        let key = (package, name.to_owned());
        match mode == default {
            true => phone.services.app_ops.remove(&key),
            false => phone.services.app_ops.insert(key, mode),
        }
    });
    Ok(String::new())
}

fn query(call: &Invocation, words: &[&str]) -> Result<String, String> {
    let at = op(call, words.first())?;
    let wanted = words.get(1).map_or(Ok("ignore"), |name| mode(call, name))?;
    let modes = call.phone.with(|phone| phone.services.app_ops.clone());
    let of_op: Vec<_> = modes.into_iter().filter(|((_, name), _)| name == OPS[at].0).collect();
    if of_op.is_empty() {
        return Ok("No operations.\n".to_owned());
    }
    let found = of_op.into_iter().filter(|(_, mode)| *mode == wanted);
    Ok(found.map(|((package, _), _)| format!("{package}\n")).collect())
}
