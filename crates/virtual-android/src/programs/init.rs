//! `start` and `stop` ask init to start or stop a daemon, which it allows only to root; `reboot`
//! asks it to restart the phone. Sources:
//! `start.cpp` of Android 9 to 14; on a running 4.4.4 they say nothing and nothing happens.

use super::Invocation;
use crate::phone::VirtualPhone;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_shell::io::Status;

/// `start [SERVICE…]`, `stop [SERVICE…]`
pub(super) async fn start_stop(call: Invocation) -> Status {
    if call.release().form == ToolKind::Java {
        return Ok(0);
    }
    let name = &call.name;
    if call.arg(0) == Some("--help") {
        let does = if name == "start" { "Start" } else { "Stop" };
        call.err(format!(
            "usage: {name} [SERVICE...]\n\n{does} the given system service, or netd/surfaceflinger/zygotes.\n"
        ))
        .await;
        return Ok(0);
    }
    call.err(format!("{name}: must be root\n")).await;
    Ok(1)
}

/// `reboot [MODE]`: the phone disconnects, until it is plugged in again.
pub(super) async fn reboot(call: Invocation) -> Status {
    // `reboot.c` does not return, for scripts that wait for the phone next.
    call.phone.defer(VirtualPhone::reboot);
    call.phone.unplugged().await;
    Ok(0)
}
