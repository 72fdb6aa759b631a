//! `ime` as a Java program: `Ime.java` of Android 4.4, the capture `166-ime-list-a`, and a running
//! 4.4.4.

use super::Invocation;
use thumbwire_virtual_shell::io::Status;

const USAGE: &str = include_str!("../words/android-4.4/ime.txt");

/// `ime list|enable|disable|set …`
pub(super) async fn ime(call: &Invocation) -> Status {
    let args: Vec<&str> = call.args.iter().map(String::as_str).collect();
    let text = match args.as_slice() {
        [] => USAGE.to_owned(),
        ["list", options @ ..] => {
            let options = options.iter().take_while(|option| option.starts_with('-'));
            let options: Vec<&str> = options.copied().collect();
            match options.iter().find(|option| !["-a", "-s"].contains(*option)) {
                Some(option) => format!("Error: Unknown option: {option}\n{USAGE}"),
                None => call.phone.with(|phone| {
                    let ids = match options.contains(&"-a") {
                        true => phone.world.input_methods(),
                        false => phone.world.enabled_input_methods(),
                    };
                    ids.into_iter().map(|id| described(id, options.contains(&"-s"))).collect()
                }),
            }
        }
        ["enable" | "disable" | "set"] => format!("Error: no input method ID specified\n{USAGE}"),
        [word @ ("enable" | "disable"), id, ..] => {
            let enable = *word == "enable";
            let (before, current) = call.phone.with(|phone| {
                let before = phone.world.enable_input_method(id, enable);
                (before, phone.world.input_method().to_owned())
            });
            match (before, enable) {
                // The service names the current one instead of the unknown one.
                (None, _) => format!("Error: Unknown id: {current}\n"),
                (Some(true), true) => format!("Input method {id}: already enabled\n"),
                (Some(false), true) => format!("Input method {id}: now enabled\n"),
                (Some(true), false) => format!("Input method {id}: now disabled\n"),
                (Some(false), false) => format!("Input method {id}: already disabled\n"),
            }
        }
        ["set", id, ..] => match call.phone.with(|phone| phone.world.select_input_method(id)) {
            true => format!("Input method {id} selected\n"),
            false => format!("Error: Unknown id: {id}\n"),
        },
        [other, ..] => format!("Error: unknown command '{other}'\n{USAGE}"),
    };
    call.out(text).await.map(|()| 0)
}

/// An input method as [`super::described`] does it, with its label.
pub(in crate::programs) fn described(id: &str, brief: bool) -> String {
    super::described(id, brief).replace(
        "      enabled=true",
        "      labelRes=0x7f0a0039 nonLocalizedLabel=null icon=0x0\n      enabled=true",
    )
}
