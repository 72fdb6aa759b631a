//! `cmd notification`, `cmd statusbar` and `dumpsys notification`: posted notifications, and the
//! shade that shows them.
//!
//! Sources: `NotificationShellCmd.java` and `StatusBarShellCommand.java` of Android 10 to 14,
//! `NotificationRecord.dump` of Android 4.4 to 14 for the report, `IStatusBarService.aidl` for the
//! transaction numbers. The report has only what tools read.

use super::{Invocation, fingerprint, intent};
use crate::phone::State;
use thumbwire_virtual_phone::Notification;
use thumbwire_virtual_shell::io::Status;

/// `cmd notification post [-t TITLE] [-S STYLE] [-c …] [-v] TAG TEXT | list`
pub(super) async fn notification(call: Invocation) -> Status {
    match call.arg(0) {
        Some("post" | "notify") => post(&call).await,
        Some("list") => {
            let keys = call.phone.with(|phone| {
                let all = phone.world.notifications().iter();
                all.map(|one| format!("{}\n", key(phone, one))).collect::<String>()
            });
            call.out(keys).await.map(|()| 0)
        }
        Some(command @ ("allow_listener" | "disallow_listener")) => listener(&call, command).await,
        Some("help" | "-h") => call.out(USAGE).await.map(|()| 0),
        None => call.out(USAGE).await.map(|()| 255),
        Some(other) => call.out(format!("Unknown command: {other}\n")).await.map(|()| 255),
    }
}

/// The setting with the services that may read notifications, separated by colons.
const LISTENERS: &str = "enabled_notification_listeners";

/// `cmd notification allow_listener COMPONENT [USER]` and `disallow_listener`
async fn listener(call: &Invocation, command: &str) -> Status {
    let Ok(component) = intent::component(call.arg(1).unwrap_or_default()) else {
        return call.out("Invalid listener - must be a ComponentName\n").await.map(|()| 255);
    };
    let name = format!("{}/{}", component.package, component.activity);
    call.phone.with(|phone| {
        let now = phone.world.setting("secure", LISTENERS).unwrap_or_default();
        let mut names: Vec<&str> =
            now.split(':').filter(|it| !it.is_empty() && *it != name).collect();
        if command == "allow_listener" {
            names.push(&name);
        }
        let names = names.join(":");
        phone.world.put_setting("secure", LISTENERS, &names);
    });
    Ok(0)
}

async fn post(call: &Invocation) -> Status {
    let (mut title, mut words) = (None, Vec::new());
    let mut args = call.args.iter().skip(1).map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "-t" | "--title" => title = args.next(),
            "-S" | "--style" | "-c" | "--content-intent" | "-i" | "--icon" | "-I"
            | "--large-icon" | "-p" | "--picture" | "-l" | "--line" | "-m" | "--message" => {
                args.next();
            }
            option if option.starts_with('-') => {}
            word => words.push(word),
        }
    }
    let [tag, text, ..] = *words.as_slice() else {
        return call.out(POST_USAGE).await.map(|()| 255);
    };
    let title = title.unwrap_or_default();
    call.phone.with(|phone| phone.world.post_from_shell(tag, title, text));
    call.out(
        "posting:\n  Notification(channel=shell_cmd shortcut=null contentView=null vibrate=null sound=null defaults=0x0 flags=0x0 color=0x00000000 vis=PRIVATE)\n",
    )
    .await
    .map(|()| 0)
}

/// `cmd statusbar expand-notifications | expand-settings | collapse`
pub(super) async fn statusbar(call: Invocation) -> Status {
    match call.arg(0) {
        Some("expand-notifications") => call.phone.with(|phone| phone.world.open_shade(false)),
        Some("expand-settings") => call.phone.with(|phone| phone.world.open_shade(true)),
        Some("collapse") => call.phone.with(|phone| phone.world.close_shade()),
        Some("check-support") => call.out("true\n").await?,
        Some("help" | "-h") => call.out(STATUSBAR_USAGE).await?,
        None => return call.out(STATUSBAR_USAGE).await.map(|()| 255),
        Some(other) => {
            return call.out(format!("Unknown command: {other}\n")).await.map(|()| 255);
        }
    }
    Ok(0)
}

/// `service call statusbar 1` (`expandNotificationsPanel`) and `2` (`collapsePanels`).
pub(super) async fn transact(call: &Invocation) -> Status {
    call.phone.with(|phone| match call.arg(2) {
        Some("1") => phone.world.open_shade(false),
        _ => phone.world.close_shade(),
    });
    call.out("Result: Parcel(00000000    '....')\n").await.map(|()| 0)
}

/// `dumpsys notification [--noredact]`: since Android 7, texts are omitted without the flag. Before
/// Android 5 texts have no class and records no key, before Android 7 no times.
pub(super) fn report(phone: &mut State, args: &[&str]) -> String {
    let android = phone.world.android();
    let plain = android < 7 || args.iter().any(|arg| matches!(*arg, "--noredact" | "--reveal"));
    let booted = phone.world.unix_time() - phone.world.uptime().as_secs();
    let mut text = String::from("Current Notification Manager state:\n  Notification List:\n");
    for one in phone.world.notifications() {
        let (key, uid) = (key(phone, one), phone.world.uid_of(&one.package));
        let shown = |words: &str| match (android, plain) {
            (..5, _) => words.to_owned(),
            (_, true) => format!("String ({words})"),
            _ => format!("String [length={}]", words.chars().count()),
        };
        let (package, id, tag) = (&one.package, Notification::NUMBER, &one.tag);
        let address = fingerprint(&key) & 0xffff_ffff;
        let mine = format!(
            "NotificationRecord(0x{address:08x}: pkg={package} user=UserHandle{{0}} id={id} tag={tag}"
        );
        let views = "contentView=null vibrate=null sound=null defaults=0x0 flags=0x10";
        text.push_str(&match android {
            ..5 => format!("    {mine} score=0: Notification(pri=0 {views} kind=[null]))\n"),
            5..7 => format!("    {mine} score=0 key={key}: Notification(pri=0 {views} color=0x00000000 vis=PRIVATE))\n"),
            _ => format!("    {mine} importance=3 key={key}: Notification(channel=default shortcut=null {views} color=0x00000000 vis=PRIVATE))\n"),
        });
        text.push_str(&format!("      uid={uid} userId=0\n"));
        if android >= 7 {
            text.push_str(&format!("      key={key}\n      seen=false\n"));
        }
        let (title, words) = (shown(&one.title), shown(&one.text));
        text.push_str(&format!(
            "      extras={{\n          android.title={title}\n          android.text={words}\n      }}\n"
        ));
        if android >= 7 {
            let millis = u128::from(booted) * 1000 + one.at.as_millis();
            text.push_str(&format!(
                "      mCreationTimeMs={millis}\n      mVisibleSinceMs=0\n      mUpdateTimeMs={millis}\n"
            ));
        }
    }
    text
}

fn key(phone: &State, one: &Notification) -> String {
    one.key(phone.world.uid_of(&one.package))
}

const USAGE: &str = "\
usage: cmd notification SUBCMD [args]

SUBCMDs:
  list
  post [--help | flags] TAG TEXT
";

const POST_USAGE: &str = "\
usage: cmd notification post [flags] <tag> <text>

flags:
  -h|--help
  -v|--verbose
  -t|--title <text>
  -S|--style <style> [styleargs]
";

const STATUSBAR_USAGE: &str = "\
Status bar commands:
  help
    Print this help text.

  expand-notifications
    Open the notifications panel.

  expand-settings
    Open the notifications panel and expand quick settings if present.

  collapse
    Collapse the notifications and settings panel.
";
