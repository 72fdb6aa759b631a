//! `cmd SERVICE …`: the dispatcher to the shell commands of system services.

use super::{Invocation, service};
use crate::sh::io::Status;

/// Services reached by `cmd`, for `cmd -l`.
const SERVICES: [&str; 6] = ["activity", "input", "input_method", "package", "settings", "window"];

/// `cmd [-l | SERVICE ARG…]`; source of texts and statuses: `cmd.cpp` of Android 14.
pub(super) async fn cmd(mut call: Invocation) -> Status {
    let Some(name) = call.arg(0).map(str::to_owned) else {
        call.err("cmd: No service specified; use -l to list all running services. Use -w to start and wait for a service.\n").await;
        return Ok(20);
    };
    if name == "-l" {
        let listed: String = SERVICES.iter().map(|name| format!("  {name}\n")).collect();
        return call.out(format!("Currently running services:\n{listed}")).await.map(|()| 0);
    }
    let Some(run) = service(&name) else {
        call.err(format!("cmd: Can't find service: {name}\n")).await;
        return Ok(20);
    };
    call.args.remove(0);
    run(call).await
}
