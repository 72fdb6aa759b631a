//! `settings get|put|delete|list`: the tables `system`, `secure` and `global`. Source: `SettingsService.java` of Android 14, captures
//! `028`, `029` and `shell/settings`.

use super::Invocation;
use crate::phone::State;
use crate::sh::io::Status;
use std::collections::BTreeMap;

/// Entries of all tables together, and bytes of one value.
const MOST: usize = 4_000;
const LONGEST: usize = 20_000;

/// Table to name to value.
#[derive(Debug)]
pub(crate) struct Settings(BTreeMap<String, BTreeMap<String, String>>);

impl Default for Settings {
    fn default() -> Self {
        let mut settings = Self(
            ["global", "secure", "system"].map(|table| (table.to_owned(), BTreeMap::new())).into(),
        );
        for (table, name, value) in [
            ("global", "adb_enabled", "1"),
            ("global", "airplane_mode_on", "0"),
            ("global", "animator_duration_scale", "1.0"),
            ("global", "device_name", "Virtual Pixel"),
            ("global", "device_provisioned", "1"),
            ("global", "stay_on_while_plugged_in", "7"),
            ("global", "transition_animation_scale", "1.0"),
            ("global", "window_animation_scale", "1.0"),
            ("global", "wifi_on", "1"),
            ("secure", "android_id", "d782e5ebfdd5edf0"),
            ("secure", "default_input_method", "com.android.inputmethod.latin/.LatinIME"),
            ("secure", "enabled_input_methods", "com.android.inputmethod.latin/.LatinIME"),
            ("secure", "location_mode", "3"),
            ("secure", "user_setup_complete", "1"),
            ("system", "accelerometer_rotation", "1"),
            ("system", "font_scale", "1.0"),
            ("system", "screen_brightness", "128"),
            ("system", "screen_off_timeout", "600000"),
            ("system", "user_rotation", "0"),
        ] {
            settings.put(table, name, value);
        }
        settings
    }
}

impl Settings {
    pub(super) fn get(&self, table: &str, name: &str) -> Option<&str> {
        self.0.get(table)?.get(name).map(String::as_str)
    }

    pub(super) fn put(&mut self, table: &str, name: &str, value: &str) {
        if self.0.values().map(BTreeMap::len).sum::<usize>() < MOST
            && let Some(table) = self.0.get_mut(table)
        {
            table.insert(name.to_owned(), value.to_owned());
        }
    }
}

impl State {
    /// Turns the screen by hand: rotation by the sensor ends, the screen stays so many quarter turns round.
    pub(super) fn rotate(&mut self, rotation: u8) {
        self.settings.put("system", "accelerometer_rotation", "0");
        self.settings.put("system", "user_rotation", &rotation.to_string());
        self.world.set_rotation(rotation);
    }
}

/// `settings [--user N] get|put|delete|list TABLE [NAME [VALUE]]`, also `cmd settings …`.
pub(super) async fn settings(call: Invocation) -> Status {
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
                .with(|phone| phone.settings.get(table, name).unwrap_or("null").to_owned());
            call.out(format!("{value}\n")).await?;
        }
        ["put", table, name, value, ..] if value.len() <= LONGEST => call.phone.with(|phone| {
            phone.settings.put(table, name, value);
            let held = phone.settings.get("system", "accelerometer_rotation") == Some("0");
            if held && matches!(*name, "user_rotation" | "accelerometer_rotation") {
                let rotation = phone
                    .settings
                    .get("system", "user_rotation")
                    .and_then(|value| value.parse().ok());
                phone.world.set_rotation(rotation.unwrap_or(0));
            }
        }),
        ["put", _, _, _, ..] => {
            return call
                .exception("put", "java.lang.IllegalArgumentException: value too long")
                .await;
        }
        ["delete", table, name] => {
            let gone = call.phone.with(|phone| {
                phone.settings.0.get_mut(*table).and_then(|table| table.remove(*name)).is_some()
            });
            call.out(format!("Deleted {} rows\n", u8::from(gone))).await?;
        }
        ["list", table] => {
            let listed = call.phone.with(|phone| {
                let rows = phone.settings.0.get(*table).into_iter().flatten();
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
