//! `cmd locale`: the languages of single apps, since Android 13. They are stored; no app of this
//! phone has more than one language. Source: `LocaleManagerShellCommand.java` of Android 13 and 14.

use super::Invocation;
use crate::io::Status;

/// The longest list of language tags that is stored, in bytes.
const MAX_LENGTH: usize = 1_000;

/// `cmd locale set-app-locales|get-app-locales PACKAGE [--user USER] [--locales TAGS]`
pub(super) async fn locale(call: Invocation) -> Status {
    let Some(command) = call.arg(0) else {
        return call.out(usage(&call)).await.map(|()| 255);
    };
    let configs = call.release().major >= 14;
    let known = match command {
        "help" | "-h" => return call.out(usage(&call)).await.map(|()| 0),
        "set-app-locales" | "get-app-locales" => true,
        "set-app-localeconfig" | "get-app-localeconfig" => configs,
        _ => false,
    };
    if !known {
        return call.out(format!("Unknown command: {command}\n")).await.map(|()| 255);
    }
    let Some(package) = call.arg(1).map(str::to_owned) else {
        call.err("Error: no package specified\n").await;
        return Ok(255);
    };
    let (mut locales, mut args) = (String::new(), call.args.iter().skip(2).map(String::as_str));
    while let Some(arg) = args.next() {
        match arg {
            "--user" => drop(args.next()),
            "--delegate" if configs && command == "set-app-locales" => drop(args.next()),
            "--locales" if command.starts_with("set") => {
                let given = args.next().unwrap_or_default();
                if given.starts_with('-') {
                    let what =
                        format!("java.lang.IllegalArgumentException: Unknown locales: {given}");
                    return call.exception(command, &what).await;
                }
                given.clone_into(&mut locales);
            }
            other => {
                let what = format!("java.lang.IllegalArgumentException: Unknown option: {other}");
                return call.exception(command, &what).await;
            }
        }
    }
    let exists = call.phone.with(|phone| {
        let known = phone.world.packages();
        known.iter().any(|manifest| manifest.package == package)
    });
    let text = match (command, exists) {
        ("get-app-localeconfig", _) => {
            format!("LocaleConfig for {package} for user 0 is null\n")
        }
        ("set-app-localeconfig", _) => String::new(),
        (_, false) => format!("Unknown package {package} for userId 0\n"),
        ("set-app-locales", _) => {
            locales.truncate(locales.floor_char_boundary(MAX_LENGTH));
            call.phone.with(|phone| match locales.is_empty() {
                true => drop(phone.services.locales.remove(&package)),
                false => drop(phone.services.locales.insert(package, locales)),
            });
            String::new()
        }
        _ => {
            let locales = call.phone.with(|phone| phone.services.locales.get(&package).cloned());
            let locales = locales.unwrap_or_default();
            format!("Locales for {package} for user 0 are [{locales}]\n")
        }
    };
    call.out(text).await.map(|()| 0)
}

fn usage(call: &Invocation) -> &'static str {
    match call.release().major {
        ..=13 => include_str!("words/android-13/locale.txt"),
        _ => include_str!("words/android-14/locale.txt"),
    }
}
