//! `cmd deviceidle`: exempts apps from the background limits. Source:
//! `DeviceIdleController.onShellCommand` of AOSP.
//!
//! Not here: Doze itself (`force-idle`, `step`): this phone never enters it.

use super::Invocation;
use std::time::Duration;
use thumbwire_virtual_shell::io::Status;

/// Default duration of a temporary exemption (`onShellCommand`: 10 s).
const WHILE: u64 = 10_000;

/// `cmd deviceidle tempwhitelist [-u USER] [-d MILLISECONDS] [-r] PACKAGE`, `cmd deviceidle
/// whitelist +PACKAGE|-PACKAGE`
pub(super) async fn deviceidle(call: Invocation) -> Status {
    match call.arg(0) {
        Some("tempwhitelist") => {
            let (mut time, mut remove, mut package) = (Some(WHILE), false, None);
            let mut args = call.args.iter().skip(1);
            while let Some(arg) = args.next() {
                match arg.as_str() {
                    "-u" => drop(args.next()),
                    "-d" => time = args.next().and_then(|millis| millis.parse().ok()),
                    "-r" => remove = true,
                    name => package = Some(name),
                }
            }
            let Some(time) = time else {
                let what = "java.lang.NumberFormatException: For input string";
                return call.exception("tempwhitelist", what).await;
            };
            // An unknown package is silently ignored.
            if let Some(package) = package {
                call.phone.with(|phone| match remove {
                    true => phone.world.exempt_from_limits(package, false),
                    false => phone.world.temp_allowlist(package, Duration::from_millis(time)),
                });
            }
            Ok(0)
        }
        Some("whitelist") => {
            for arg in call.args.iter().skip(1) {
                let (sign, package) = arg.split_at_checked(1).unwrap_or(("", arg));
                let done = match sign {
                    "+" => call.phone.with(|phone| phone.world.exempt_from_limits(package, true)),
                    "-" => call.phone.with(|phone| phone.world.exempt_from_limits(package, false)),
                    _ => {
                        call.out(format!("Package must be prefixed with +, -, or =: {arg}\n"))
                            .await?;
                        return Ok(255);
                    }
                };
                match (sign, done) {
                    ("+", true) => call.out(format!("Added: {package}\n")).await?,
                    ("+", false) => call.out(format!("Unknown package: {package}\n")).await?,
                    (_, true) => call.out(format!("Removed: {package}\n")).await?,
                    _ => {}
                }
            }
            Ok(0)
        }
        Some(other) => call.out(format!("Unknown command: {other}\n")).await.map(|()| 255),
        None => call.out("Device idle controller (deviceidle) commands:\n").await.map(|()| 255),
    }
}
