//! `device_config`, a script for `cmd device_config`: flags by namespace. The phone has none of its
//! own. Source: `DeviceConfigService.java` of Android 10 to 14; releases before lack it.

use super::Invocation;
use crate::io::Status;

/// `device_config get|put|delete|list|reset|…`
pub(super) async fn device_config(call: Invocation) -> Status {
    let args: Vec<&str> = call.args.iter().map(String::as_str).collect();
    // Flags can be overridden, and the lists of namespaces printed, since 13.
    let newer = call.release().major >= 13;
    let text = match args.as_slice() {
        [] | ["help" | "-h", ..] => {
            call.out(if newer { USAGE_13 } else { USAGE_11 }).await?;
            return Ok(255);
        }
        ["get", namespace, key] => {
            let value =
                call.phone.with(|phone| phone.services.flag(namespace, key).map(str::to_owned));
            format!("{}\n", value.as_deref().unwrap_or("null"))
        }
        ["put", namespace, key, value] | ["put", namespace, key, value, "default"] => {
            call.phone.with(|phone| phone.services.set_flag(namespace, key, value));
            String::new()
        }
        ["delete", namespace, key] => {
            let gone = call.phone.with(|phone| phone.services.delete_flag(namespace, key));
            match gone {
                true => format!("Successfully deleted {key} from {namespace}\n"),
                false => format!("Failed to delete {key} from {namespace}\n"),
            }
        }
        ["list"] => call.phone.with(|phone| {
            let rows = phone.services.flags();
            rows.map(|(space, key, value)| format!("{space}/{key}={value}\n")).collect()
        }),
        ["list", namespace] => call.phone.with(|phone| {
            let rows = phone.services.flags().filter(|row| row.0 == *namespace);
            rows.map(|(_, key, value)| format!("{key}={value}\n")).collect()
        }),
        [
            "reset",
            mode @ ("untrusted_defaults" | "untrusted_clear" | "trusted_defaults"),
            rest @ ..,
        ] if rest.len() < 2 => {
            // Only the last one clears what a trusted shell wrote.
            if *mode == "trusted_defaults" {
                call.phone.with(|phone| phone.services.reset_flags(rest.first().copied()));
            }
            String::new()
        }
        ["set_sync_disabled_for_tests", "none" | "persistent" | "until_reboot"] => String::new(),
        ["get_sync_disabled_for_tests"] if newer => "none\n".to_owned(),
        ["is_sync_disabled_for_tests"] if !newer => "false\n".to_owned(),
        ["reset", mode, ..] if !mode.ends_with("defaults") && *mode != "untrusted_clear" => {
            return refuse(&call, &format!("Invalid reset mode: {mode}")).await;
        }
        ["set_sync_disabled_for_tests", mode, ..] => {
            return refuse(&call, &format!("Invalid sync disabled mode: {mode}")).await;
        }
        ["get" | "delete", _, _, _, ..]
        | ["list", _, _, ..]
        | ["put" | "reset", _, _, _, _, ..] => {
            return refuse(&call, "Too many arguments").await;
        }
        ["get" | "put" | "delete" | "reset" | "set_sync_disabled_for_tests", ..] => {
            return refuse(&call, "Bad arguments").await;
        }
        [other, ..] => return refuse(&call, &format!("Invalid command: {other}")).await,
    };
    call.out(text).await.map(|()| 0)
}

async fn refuse(call: &Invocation, reason: &str) -> Status {
    call.err(format!("{reason}\n")).await;
    Ok(255)
}

const USAGE_11: &str = "\
Device Config (device_config) commands:
  help
      Print this help text.
  get NAMESPACE KEY
      Retrieve the current value of KEY from the given NAMESPACE.
  put NAMESPACE KEY VALUE [default]
      Change the contents of KEY to VALUE for the given NAMESPACE.
      {default} to set as the default value.
  delete NAMESPACE KEY
      Delete the entry for KEY for the given NAMESPACE.
  list [NAMESPACE]
      Print all keys and values defined, optionally for the given NAMESPACE.
  reset RESET_MODE [NAMESPACE]
      Reset all flag values, optionally for a NAMESPACE, according to RESET_MODE.
      RESET_MODE is one of {untrusted_defaults, untrusted_clear, trusted_defaults}
      NAMESPACE limits which flags are reset if provided, otherwise all flags are reset
";

const USAGE_13: &str = "\
Device Config (device_config) commands:
  help
      Print this help text.
  get NAMESPACE KEY
      Retrieve the current value of KEY from the given NAMESPACE.
  put NAMESPACE KEY VALUE [default]
      Change the contents of KEY to VALUE for the given NAMESPACE.
      {default} to set as the default value.
  delete NAMESPACE KEY
      Delete the entry for KEY for the given NAMESPACE.
  list [NAMESPACE]
      Print all keys and values defined, optionally for the given NAMESPACE.
  reset RESET_MODE [NAMESPACE]
      Reset all flag values, optionally for a NAMESPACE, according to RESET_MODE.
      RESET_MODE is one of {untrusted_defaults, untrusted_clear, trusted_defaults}
      NAMESPACE limits which flags are reset if provided, otherwise all flags are reset
  set_sync_disabled_for_tests SYNC_DISABLED_MODE
      Modifies bulk property setting behavior for tests. When in one of the disabled modes this ensures that config isn't overwritten.
      SYNC_DISABLED_MODE is one of:
        none: Sync is not disabled. A reboot may be required to restart syncing.
        persistent: Sync is disabled, this state will survive a reboot.
        until_reboot: Sync is disabled until the next reboot.
  get_sync_disabled_for_tests
      Prints one of the SYNC_DISABLED_MODE values, see set_sync_disabled_for_tests
";
