//! The phone's radios and addresses: `cmd wifi`, `cmd phone data`, `ifconfig`, `ip addr`.
//!
//! There is no network behind them: while Wi-Fi is on, the phone has an address from the range that
//! RFC 5737 reserves for examples. Sources: `WifiShellCommand.java` of Android 14, the `ifconfig.c`
//! of toybox and toolbox, iproute2.

use super::Invocation;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_phone::World;
use thumbwire_virtual_shell::io::Status;

/// The address of `wlan0`.
pub(super) const ADDRESS: &str = "192.0.2.15";
const BROADCAST: &str = "192.0.2.255";
const AIRPLANE: &str = "airplane_mode_on";

/// `cmd wifi set-wifi-enabled enabled|disabled`, `cmd wifi status`.
pub(super) async fn wifi(call: Invocation) -> Status {
    match (call.arg(0), call.arg(1)) {
        (Some("set-wifi-enabled"), Some("enabled")) => switch_wifi(&call, true),
        (Some("set-wifi-enabled"), Some("disabled")) => switch_wifi(&call, false),
        (Some("set-wifi-enabled"), _) => {
            call.err("Invalid args to set-wifi-enabled: expected 'enabled' or 'disabled'\n").await;
            Ok(255)
        }
        (Some("status"), _) => {
            let word = if is_up(&call) { "enabled" } else { "disabled" };
            call.out(format!("Wifi is {word}\n")).await.map(|()| 0)
        }
        _ => {
            call.err("Wi-Fi (wifi) commands:\n  help or -h\n    Print this help text.\n  set-wifi-enabled enabled|disabled\n    Enables/disables Wifi on this device.\n  status\n    Current wifi status\n").await;
            Ok(255)
        }
    }
}

/// `cmd phone data enable|disable`
pub(super) async fn phone(call: Invocation) -> Status {
    match (call.arg(0), call.arg(1)) {
        (Some("data"), Some("enable")) => switch_data(&call, true),
        (Some("data"), Some("disable")) => switch_data(&call, false),
        _ => {
            call.err("Telephony Commands:\n  data enable: enable mobile data connectivity\n  data disable: disable mobile data connectivity\n").await;
            Ok(255)
        }
    }
}

/// Turns the radio on or off.
pub(super) fn switch_wifi(call: &Invocation, on: bool) -> Status {
    call.phone.with(|phone| {
        let world = &mut phone.world;
        // `WifiSettingsStore.java`: 2 is on despite airplane mode.
        let value = match (on, world.setting("global", AIRPLANE) == Some("1")) {
            (false, _) => "0",
            (true, false) => "1",
            (true, true) => "2",
        };
        world.put_setting("global", "wifi_on", value);
    });
    Ok(0)
}

/// Turns the radio on or off.
pub(super) fn switch_data(call: &Invocation, on: bool) -> Status {
    let value = if on { "1" } else { "0" };
    call.phone.with(|phone| phone.world.put_setting("global", "mobile_data", value));
    Ok(0)
}

/// Whether Wi-Fi is on.
pub(super) fn is_up(call: &Invocation) -> bool {
    let wifi = |world: &World| matches!(world.setting("global", "wifi_on"), Some("1" | "2"));
    call.phone.with(|phone| wifi(&phone.world))
}

/// `ifconfig [INTERFACE]`
pub(super) async fn ifconfig(call: Invocation) -> Status {
    let up = is_up(&call);
    let name = call.arg(0).filter(|name| !name.starts_with('-'));
    if call.release().form == ToolKind::Java {
        return old_ifconfig(&call, name, up).await;
    }
    let wlan0 = format!(
        "wlan0     Link encap:UNSPEC    Driver virtual\n{}          UP BROADCAST{} MULTICAST  MTU:1500  Metric:1\n{COUNTED}",
        if up {
            format!("          inet addr:{ADDRESS}  Bcast:{BROADCAST}  Mask:255.255.255.0 \n")
        } else {
            String::new()
        },
        if up { " RUNNING" } else { "" },
    );
    let lo = format!(
        "lo        Link encap:UNSPEC    \n          inet addr:127.0.0.1  Mask:255.0.0.0 \n          inet6 addr: ::1/128 Scope: Host\n          UP LOOPBACK RUNNING  MTU:65536  Metric:1\n{COUNTED}"
    );
    match name {
        None => call.out(wlan0 + &lo).await.map(|()| 0),
        Some("wlan0") => call.out(wlan0).await.map(|()| 0),
        Some("lo") => call.out(lo).await.map(|()| 0),
        Some(_) => {
            call.err("ifconfig: ioctl 8913: No such device\n").await;
            Ok(1)
        }
    }
}

/// Traffic counters, always zero.
const COUNTED: &str = "          RX packets:0 errors:0 dropped:0 overruns:0 frame:0 \n          TX packets:0 errors:0 dropped:0 overruns:0 carrier:0 \n          collisions:0 txqueuelen:1000 \n          RX bytes:0 TX bytes:0 \n\n";

/// Toolbox's: one line for the named interface.
async fn old_ifconfig(call: &Invocation, name: Option<&str>, up: bool) -> Status {
    let text = match (name, up) {
        (Some("lo"), _) => "lo: ip 127.0.0.1 mask 255.0.0.0 flags [up loopback running]\n".into(),
        (Some("wlan0"), true) => format!(
            "wlan0: ip {ADDRESS} mask 255.255.255.0 flags [up broadcast running multicast]\n"
        ),
        (Some("wlan0"), false) => {
            "wlan0: ip 0.0.0.0 mask 0.0.0.0 flags [broadcast multicast]\n".into()
        }
        (Some(name), _) => {
            call.err(format!("{name}: No such device\n")).await;
            return Ok(255);
        }
        (None, _) => return Ok(255),
    };
    call.out(text).await.map(|()| 0)
}

/// `ip [-4|-f inet] addr [show] [dev] [INTERFACE]`; there are no routes.
pub(super) async fn ip(call: Invocation) -> Status {
    let output = |arg: &&str| !matches!(*arg, "-4" | "-f" | "inet" | "show" | "dev");
    let words: Vec<&str> = call.args.iter().map(String::as_str).filter(output).collect();
    let up = is_up(&call);
    let lo = "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000\n    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n    inet 127.0.0.1/8 scope host lo\n       valid_lft forever preferred_lft forever\n";
    let wlan0 = match up {
        true => format!(
            "2: wlan0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000\n    link/ether 02:00:00:00:00:00 brd ff:ff:ff:ff:ff:ff\n    inet {ADDRESS}/24 brd {BROADCAST} scope global wlan0\n       valid_lft forever preferred_lft forever\n"
        ),
        false => "2: wlan0: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 1500 qdisc mq state DOWN group default qlen 1000\n    link/ether 02:00:00:00:00:00 brd ff:ff:ff:ff:ff:ff\n".to_owned(),
    };
    let text = match words.as_slice() {
        ["a" | "addr" | "address"] => lo.to_owned() + &wlan0,
        ["a" | "addr" | "address", "wlan0"] => wlan0,
        ["a" | "addr" | "address", "lo"] => lo.to_owned(),
        ["a" | "addr" | "address", other] => {
            call.err(format!("Device \"{other}\" does not exist.\n")).await;
            return Ok(1);
        }
        ["r" | "route", ..] => String::new(),
        _ => {
            call.err("Usage: ip [ OPTIONS ] OBJECT { COMMAND | help }\nwhere  OBJECT := { address | route }\n").await;
            return Ok(255);
        }
    };
    call.out(text).await.map(|()| 0)
}
