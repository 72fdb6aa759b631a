//! `settings get|put|delete|list`: the tables `system`, `secure` and `global`. Source:
//! `SettingsService.java` of Android 14, captures `028`, `029` and `shell/settings`. That of 4.4 is
//! in [`old`].

mod old;

use super::Invocation;
use crate::phone::State;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_shell::io::Status;

/// Maximum bytes of a value.
const MAX_LENGTH: usize = 20_000;

impl State {
    /// Rotates the screen manually: auto-rotation is turned off, and the screen stays at this many
    /// quarter turns.
    pub(super) fn rotate(&mut self, rotation: u8) {
        self.world.put_setting("system", "user_rotation", &rotation.to_string());
        self.world.put_setting("system", "accelerometer_rotation", "0");
    }
}

/// `settings [--user N] get|put|delete|list TABLE [NAME [VALUE]]`, also `cmd settings …`.
pub(super) async fn settings(call: Invocation) -> Status {
    if call.release().form == ToolKind::Java {
        return old::settings(&call).await;
    }
    let mut args = Vec::new();
    let mut rest = call.args.iter().map(String::as_str);
    while let Some(arg) = rest.next() {
        match arg {
            "--user" => drop(rest.next()),
            arg => args.push(arg),
        }
    }
    let table = args.get(1).copied().unwrap_or_default();
    if args.len() > 1 && !["system", "secure", "global"].contains(&table) {
        call.err(format!("Invalid namespace '{table}'\n")).await;
        return Ok(255);
    }
    match args.as_slice() {
        ["get", table, name] => {
            let value = call
                .phone
                .with(|phone| phone.world.setting(table, name).unwrap_or("null").to_owned());
            call.out(format!("{value}\n")).await?;
        }
        ["put", table, name, value, ..] if value.len() <= MAX_LENGTH && name.len() <= 256 => {
            call.phone.with(|phone| phone.world.put_setting(table, name, value));
        }
        ["put", _, _, _, ..] => {
            return call
                .exception("put", "java.lang.IllegalArgumentException: value too long")
                .await;
        }
        ["delete", table, name] => {
            let gone = call.phone.with(|phone| phone.world.remove_setting(table, name));
            call.out(format!("Deleted {} rows\n", u8::from(gone))).await?;
        }
        ["list", table] => {
            let listed = call.phone.with(|phone| {
                let rows = phone.world.settings().list(table);
                rows.map(|(name, value)| format!("{name}={value}\n")).collect::<String>()
            });
            call.out(listed).await?;
        }
        [] | ["help" | "-h"] => {
            call.out(USAGE).await?;
            return Ok(if args.is_empty() { 255 } else { 0 });
        }
        ["get" | "put" | "delete" | "list", ..] => {
            call.err("Bad arguments\n").await;
            return Ok(255);
        }
        [other, ..] => {
            call.out(format!("Unknown command: {other}\n")).await?;
            return Ok(255);
        }
    }
    Ok(0)
}

const USAGE: &str = "\
Settings provider (settings) commands:
  help
      Print this help text.
  get [--user <USER_ID> | current] NAMESPACE KEY
      Retrieve the current value of KEY.
  put [--user <USER_ID> | current] NAMESPACE KEY VALUE [TAG] [default]
      Change the contents of KEY to VALUE.
  delete [--user <USER_ID> | current] NAMESPACE KEY
      Delete the entry for KEY.
  list [--user <USER_ID> | current] NAMESPACE
      Print all defined keys.
";
