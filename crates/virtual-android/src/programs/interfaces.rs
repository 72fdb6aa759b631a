//! `netcfg` and `netstat`: the interfaces and sockets of the phone. Sources: toolbox's `netcfg.c`
//! and `netstat.c` with the words of a running 4.4.4, toybox's `netstat.c`.

use super::{Invocation, network};
use thumbwire_virtual_shell::io::Status;

/// `netcfg [INTERFACE dhcp|up|down]`, up to Android 5.
pub(super) async fn netcfg(call: Invocation) -> Status {
    let text = match (call.arg(0), call.arg(1), call.arg(2)) {
        (None, ..) => {
            let (state, address, flags) = match network::is_up(&call) {
                true => ("UP", format!("{}/24", network::ADDRESS), 0x1043),
                false => ("DOWN", "0.0.0.0/0".to_owned(), 0x1002),
            };
            let row = |name: &str, state: &str, address: &str, flags: u32, mac: &str| {
                format!("{name:<8} {state:<4}{:33}{address:<14}0x{flags:08x} {mac}\n", "")
            };
            row("lo", "UP", "127.0.0.1/8", 0x49, "00:00:00:00:00:00")
                + &row("wlan0", state, &address, flags, "02:00:00:00:00:00")
        }
        (Some(_), Some(action @ ("up" | "down" | "dhcp")), None) => {
            call.err(format!("action '{action}' failed (Operation not permitted)\n")).await;
            return Ok(1);
        }
        _ => {
            call.err("usage: netcfg [<interface> {dhcp|up|down}]\n").await;
            return Ok(1);
        }
    };
    call.out(text).await.map(|()| 0)
}

/// `netstat`: nothing on this phone has a socket of the network; adbd's is the cable.
pub(super) async fn netstat(call: Invocation) -> Status {
    if !call.release().userland.toybox {
        let title = "Proto Recv-Q Send-Q Local Address          Foreign Address        State\n";
        return call.out(title).await.map(|()| 0);
    }
    let letters: String = call.args.iter().filter_map(|arg| arg.strip_prefix('-')).collect();
    if let Some(odd) = letters.chars().find(|letter| !"pWrxwutneal".contains(*letter)) {
        call.err(format!("netstat: Unknown option '{odd}' (see \"netstat --help\")\n")).await;
        return Ok(1);
    }
    if letters.contains('r') {
        call.out("Kernel IP routing table\nDestination     Gateway         Genmask         Flags   MSS Window  irtt Iface\n").await?;
        return Ok(0);
    }
    let which = match (letters.contains('a'), letters.contains('l')) {
        (true, _) => "servers and established",
        (_, true) => "only servers",
        _ => "w/o servers",
    };
    let chosen = letters.contains(['t', 'u', 'w', 'x']);
    let mut text = String::new();
    if !chosen || letters.contains(['t', 'u', 'w']) {
        text += &format!(
            "Active Internet connections ({which})\nProto Recv-Q Send-Q Local Address           Foreign Address         State      \n"
        );
    }
    if !chosen || letters.contains('x') {
        text += &format!(
            "Active UNIX domain sockets ({which})\nProto RefCnt Flags       Type       State           I-Node Path\n"
        );
    }
    call.out(text).await.map(|()| 0)
}
