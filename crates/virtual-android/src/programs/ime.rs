//! `ime`: lists, enables and selects input methods. Since Android 8 it is a script around `cmd
//! input_method ime`.
//!
//! Source of texts and statuses: `InputMethodManagerService.java` of Android 9 and 14
//! (`handleShellCommand…`); the long list as in the capture `166-ime-list-a`. That of 4.4 is in
//! [`old`].

pub(super) mod old;

use super::Invocation;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_shell::io::Status;

/// `ime COMMAND …`
pub(super) async fn ime(call: Invocation) -> Status {
    if call.release().form == ToolKind::Java {
        return old::ime(&call).await;
    }
    let option = call.args.iter().position(|arg| arg == "--user");
    let mut args: Vec<&str> = call.args.iter().map(String::as_str).collect();
    if let Some(at) = option {
        args.drain(at..args.len().min(at + 2));
    }
    let names_user = call.release().ime_names_user;
    let user = if names_user { " for user #0" } else { "" };
    match args.as_slice() {
        ["list", options @ ..] => {
            let (all, brief) = (options.contains(&"-a"), options.contains(&"-s"));
            let ids = call.phone.with(|phone| match all {
                true => phone.world.input_methods(),
                false => phone.world.enabled_input_methods(),
            });
            let listed: String = ids.into_iter().map(|id| described(id, brief)).collect();
            call.out(listed).await?;
            Ok(0)
        }
        [word @ ("enable" | "disable"), id, ..] => {
            let enable = *word == "enable";
            let before = call.phone.with(|phone| phone.world.enable_input_method(id, enable));
            if before.is_none() && enable {
                return unknown(&call, id, "enabled").await;
            }
            let already = before.unwrap_or(false) == enable;
            let (how, what) = (
                if already { "already" } else { "now" },
                if enable { "enabled" } else { "disabled" },
            );
            call.out(format!("Input method {id}: {how} {what}{user}\n")).await?;
            Ok(0)
        }
        ["set", id, ..] => {
            if call.phone.with(|phone| phone.world.select_input_method(id)) {
                call.out(format!("Input method {id} selected{user}\n")).await?;
                return Ok(0);
            }
            unknown(&call, id, "selected").await
        }
        ["reset", ..] => {
            let selected = call.phone.with(|phone| {
                phone.world.reset_input_methods();
                phone.world.input_method().to_owned()
            });
            call.out(match names_user {
                true => format!(
                    "Reset current and enabled IMEs for user #0\n  Selected: {selected}\n   Enabled: {selected}\n"
                ),
                false => format!(
                    "Reset current and enabled IMEs\nNewly selected IME:\n  {selected}\nNewly enabled IMEs:\n  {selected}\n"
                ),
            })
            .await?;
            Ok(0)
        }
        [] | ["help" | "-h", ..] => call.out(USAGE).await.map(|()| 0),
        [word @ ("enable" | "disable" | "set")] => {
            let what =
                format!("java.lang.IllegalArgumentException: Argument expected after \"{word}\"");
            call.exception("ime", &what).await
        }
        [other, ..] => call.out(format!("Unknown command: {other}\n")).await.map(|()| 255),
    }
}

/// Before it named users, the service threw an exception
/// (`InputMethodManagerService.setInputMethodEnabledLocked`).
async fn unknown(call: &Invocation, id: &str, what: &str) -> Status {
    if call.release().ime_names_user {
        call.err(format!("Unknown input method {id} cannot be {what} for user #0\n")).await;
        return Ok(255);
    }
    call.exception("ime", &format!("java.lang.IllegalArgumentException: Unknown id: {id}")).await
}

/// `cmd input_method ime COMMAND …`
pub(super) async fn input_method(mut call: Invocation) -> Status {
    match call.arg(0) {
        Some("ime") => {
            call.args.remove(0);
            ime(call).await
        }
        other => {
            let other = other.unwrap_or_default().to_owned();
            call.out(format!("Unknown command: {other}\n")).await.map(|()| 255)
        }
    }
}

fn described(id: &str, brief: bool) -> String {
    if brief {
        return format!("{id}\n");
    }
    let (package, class) = id.split_once('/').unwrap_or((id, ""));
    let class = if class.starts_with('.') { format!("{package}{class}") } else { class.to_owned() };
    format!(
        "{id}:\n  mId={id} mSettingsActivityName=null\n  mIsDefaultResId=0x0\n  Service:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false\n    ServiceInfo:\n      name={class}\n      packageName={package}\n      enabled=true exported=true processName={package}\n      permission=android.permission.BIND_INPUT_METHOD\n      flags=0x0\n"
    )
}

const USAGE: &str = "\
ime <command>:
  list [-a] [-s]
    prints all enabled input methods.
      -a: see all input methods
      -s: only a single summary line of each
  enable [--user <USER_ID>] <ID>
    allows the given input method ID to be used.
  disable [--user <USER_ID>] <ID>
    disallows the given input method ID to be used.
  set [--user <USER_ID>] <ID>
    switches to the given input method ID.
  reset [--user <USER_ID>]
    reset currently selected/enabled IMEs to the default ones as if the device is initially booted with the current locale.
";
