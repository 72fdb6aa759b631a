//! `svc`: switches power, radios and USB. A Java program that a script wraps; the script took over
//! the radios one by one. Sources: `Svc.java` and `svc.sh` of Android 4.4 to 14, the words of a
//! running 4.4.4.

use super::Invocation;
use super::network::{switch_data, switch_wifi};
use crate::phone::VirtualPhone;
use thumbwire_virtual_android_system::release::Release;
use thumbwire_virtual_phone::KeyCode;
use thumbwire_virtual_shell::io::Status;

const POWER_4: &str = include_str!("words/android-4.4/svc-power.txt");
const DATA_4: &str = include_str!("words/android-4.4/svc-data.txt");
const WIFI_4: &str = include_str!("words/android-4.4/svc-wifi.txt");
const USB_4: &str = include_str!("words/android-4.4/svc-usb.txt");

/// A subcommand: name, short help, first release, and the first release whose script answers it.
const COMMANDS: [(&str, &str, u32, u32); 8] = [
    ("help", "Show information about the subcommands", 1, u32::MAX),
    ("power", "Control the power manager", 1, u32::MAX),
    ("data", "Control mobile data connectivity", 1, 12),
    ("wifi", "Control the Wi-Fi manager", 1, 11),
    ("usb", "Control Usb state", 1, u32::MAX),
    ("nfc", "Control NFC functions", 5, u32::MAX),
    ("bluetooth", "Control Bluetooth service", 5, 13),
    ("system-server", "System server process related command", 11, u32::MAX),
];

/// `svc COMMAND …`
pub(super) async fn svc(call: Invocation) -> Status {
    let release = call.release();
    let name = call.arg(0).unwrap_or_default();
    let found = COMMANDS.iter().find(|row| row.0 == name && row.2 <= release.major);
    let Some(&(name, _, _, script)) = found else { return help(&call).await };
    let by_script = script <= release.major;
    let on = match call.arg(1) {
        Some("enable") => Some(true),
        Some("disable") => Some(false),
        _ => None,
    };
    match (name, on) {
        ("wifi", Some(on)) => switch_wifi(&call, on),
        ("data", Some(on)) => switch_data(&call, on),
        ("bluetooth", Some(on)) => {
            let value = if on { "1" } else { "0" };
            call.phone.with(|phone| phone.world.put_setting("global", "bluetooth_on", value));
            Ok(0)
        }
        ("wifi" | "data" | "bluetooth", None) if by_script => {
            call.out(script_usage(name)).await?;
            Ok(1)
        }
        ("power", _) => power(&call).await,
        ("nfc", _) => {
            // This phone has no NFC.
            call.err("Got a null NfcAdapter, is the system ready?\n").await;
            Ok(0)
        }
        ("help", _) => help(&call).await,
        _ => usage(&call, name).await,
    }
}

/// `svc help [COMMAND]`: the usage of a command, else all of them.
async fn help(call: &Invocation) -> Status {
    let release = call.release();
    let major = release.major;
    let shown: Vec<_> =
        COMMANDS.iter().filter(|row| row.2 <= major && major < row.3).copied().collect();
    if call.arg(0) == Some("help")
        && let Some(row) = shown.iter().find(|row| Some(row.0) == call.arg(1))
    {
        return usage(call, row.0).await;
    }
    let width = shown.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let rows = shown.iter().map(|row| format!("    {:<width$}    {}\n", row.0, row.1));
    call.err(format!("Available commands:\n{}", rows.collect::<String>())).await;
    Ok(0)
}

/// The Java program's usage of a command.
async fn usage(call: &Invocation, name: &str) -> Status {
    call.err(long_help(name, call.release())).await;
    Ok(0)
}

fn long_help(name: &str, release: &Release) -> String {
    let old = release.major < 5;
    match name {
        "power" if old => POWER_4.to_owned(),
        "data" if old => DATA_4.to_owned(),
        "wifi" if old => WIFI_4.to_owned(),
        "usb" if old => USB_4.to_owned(),
        "power" => {
            let (dock, suspend) = match release.major >= 13 {
                true => (
                    "|dock",
                    "       svc power forcesuspend [t]\n         Force the system into suspend, ignoring all wakelocks.\n         't' - Number of milliseconds to wait before issuing force-suspend.\n",
                ),
                false => ("", ""),
            };
            format!(
                "Control the power manager\n\nusage: svc power stayon [true|false|usb|ac|wireless{dock}]\n         Set the 'keep awake while plugged in' setting.\n       svc power reboot [reason]\n         Perform a runtime shutdown and reboot device with specified reason.\n       svc power shutdown\n         Perform a runtime shutdown and power off the device.\n{suspend}\n"
            )
        }
        "data" => "Control mobile data connectivity\n\nusage: svc data [enable|disable]\n         Turn mobile data on or off.\n\n".to_owned(),
        "wifi" => "Control the Wi-Fi manager\n\nusage: svc wifi [enable|disable]\n         Turn Wi-Fi on or off.\n\n".to_owned(),
        "bluetooth" => "Control Bluetooth service\n\nusage: svc bluetooth [enable|disable]\n         Turn Bluetooth on or off.\n\n".to_owned(),
        "nfc" => "Control NFC functions\n\nusage: svc nfc [enable|disable]\n         Turn NFC on or off.\n\n".to_owned(),
        "usb" => {
            let newer = match release.major >= 11 {
                true => "       svc usb resetUsbGadget\n         Reset usb gadget\n       svc usb getUsbSpeed\n         Gets current USB speed\n         possible values of USB speed are any of 'low speed', 'full speed',\n         'high speed', 'super speed', 'super speed (10G)',\n         'super speed (20G)', or higher (future extension)\n       svc usb getGadgetHalVersion\n         Gets current Gadget Hal Version\n         possible values of Hal version are any of 'unknown', 'V1_0', 'V1_1',\n         'V1_2'\n",
                false => "",
            };
            let ncm = if newer.is_empty() { "'midi'" } else { "'midi', 'ncm (if supporting gadget hal v1.2)'" };
            format!(
                "Control Usb state\n\nusage: svc usb setFunctions [function]\n         Set the current usb function. If function is blank, sets to charging.\n       svc usb setScreenUnlockedFunctions [function]\n         Sets the functions which, if the device was charging, become current onscreen unlock. If function is blank, turn off this feature.\n       svc usb getFunctions\n         Gets the list of currently enabled functions\n         possible values of [function] are any of 'mtp', 'ptp', 'rndis',\n         {ncm}\n{newer}\n"
            )
        }
        "system-server" => "System server process related command\n\nusage: system-server wait-for-crash\n         Wait until the system server process crashes.\n\n".to_owned(),
        _ => "Show information about the subcommands\n".to_owned(),
    }
}

/// What the script prints about a radio.
fn script_usage(name: &str) -> &'static str {
    match name {
        "wifi" => {
            "Control the Wi-Fi manager\n\nusage: svc wifi [enable|disable]\n         Turn Wi-Fi on or off.\n\n"
        }
        "data" => "Enable/Disable Mobile Data Connectivity\n\nusage: svc data [enable|disable]\n\n",
        _ => {
            "Control the Bluetooth manager\n\nusage: svc bluetooth [enable|disable]\n         Turn Bluetooth on or off.\n\n"
        }
    }
}

/// `svc power stayon|reboot|shutdown`
async fn power(call: &Invocation) -> Status {
    let dock = if call.release().major >= 13 { 8 } else { 0 };
    let plugs = match (call.arg(1), call.arg(2), call.arg(3)) {
        // `BatteryManager.BATTERY_PLUGGED_…`
        (Some("stayon"), Some(word), None) => match word {
            "true" => Some(7 | dock),
            "false" => Some(0),
            "ac" => Some(1),
            "usb" => Some(2),
            "wireless" => Some(4),
            "dock" if dock > 0 => Some(dock),
            _ => None,
        },
        (Some("reboot" | "shutdown"), ..) => {
            call.phone.defer(VirtualPhone::reboot);
            call.phone.unplugged().await;
            return Ok(0);
        }
        _ => None,
    };
    let Some(plugs) = plugs else { return usage(call, "power").await };
    call.phone.with(|phone| {
        if plugs > 0 {
            phone.world.key(KeyCode::WAKEUP);
        }
        phone.world.put_setting("global", "stay_on_while_plugged_in", &plugs.to_string());
    });
    Ok(0)
}
