//! `bmgr`: the backup manager. It is off until it is enabled, knows one transport, and backs up
//! nothing. Sources: `Bmgr.java` of Android 4.4 to 14, the words of a running 4.4.4.

use super::Invocation;
use crate::io::Status;
use crate::release::ToolKind;

const USAGE_4: &str = include_str!("words/android-4.4/bmgr.txt");
const USAGE_9: &str = include_str!("words/android-9/bmgr.txt");

/// The frames of a refused restore on 4.4.4.
const RESTORE: &str = "\
\tat android.os.Parcel.readException(Parcel.java:1469)
\tat android.os.Parcel.readException(Parcel.java:1419)
\tat android.app.backup.IBackupManager$Stub$Proxy.beginRestoreSession(IBackupManager.java:860)
\tat com.android.commands.bmgr.Bmgr.doRestorePackage(Bmgr.java:357)
\tat com.android.commands.bmgr.Bmgr.doRestore(Bmgr.java:335)
\tat com.android.commands.bmgr.Bmgr.run(Bmgr.java:91)
\tat com.android.commands.bmgr.Bmgr.main(Bmgr.java:42)
\tat com.android.internal.os.RuntimeInit.nativeFinishInit(Native Method)
\tat com.android.internal.os.RuntimeInit.main(RuntimeInit.java:243)
\tat dalvik.system.NativeStart.main(Native Method)
";

/// `bmgr COMMAND …`
pub(super) async fn bmgr(call: Invocation) -> Status {
    let old = call.release().form == ToolKind::Java;
    let transport = match old {
        true => "android/com.android.internal.backup.LocalTransport",
        false => "com.android.localtransport/.LocalTransport",
    };
    let usage = if old { USAGE_4 } else { USAGE_9 };
    let enabled = call.phone.with(|phone| phone.services.backup);
    let text = match (call.arg(0), call.arg(1)) {
        (Some("enabled"), _) => {
            let word = if enabled { "enabled" } else { "disabled" };
            format!("Backup Manager currently {word}\n")
        }
        (Some("enable"), Some(value)) => {
            let on = value.eq_ignore_ascii_case("true");
            if !old && !on && !value.eq_ignore_ascii_case("false") {
                call.err(format!("Invalid boolean value: {value}\n")).await;
                return call.out(usage).await.map(|()| 0);
            }
            call.phone.with(|phone| phone.services.backup = on);
            format!("Backup Manager now {}\n", if on { "enabled" } else { "disabled" })
        }
        (Some("list"), Some("transports")) => format!("  * {transport}\n"),
        (Some("list"), Some("sets")) => "  1 : Local disk image\n".to_owned(),
        (Some("list" | "run" | "cancel"), _) => String::new(),
        (Some("backup" | "fullbackup" | "init"), Some(_)) => String::new(),
        (Some("activated"), _) if !old => {
            "Backup Manager currently activated for user 0\n".to_owned()
        }
        (Some("backupnow"), Some(package)) if !old => {
            let known = call.phone.with(|phone| {
                phone.world.packages().iter().any(|manifest| manifest.package == package)
            });
            let result = match (enabled, known) {
                (false, _) => "Backup finished with result: Backup is not allowed\n".to_owned(),
                (true, true) => format!(
                    "Package {package} with result: Success\nBackup finished with result: Success\n"
                ),
                (true, false) => format!(
                    "Package {package} with result: Package not found\nBackup finished with result: Success\n"
                ),
            };
            format!("Running incremental backup for 1 requested packages.\n{result}")
        }
        (Some("transport"), Some(name)) if name == transport => {
            format!("Selected transport {name} (formerly {transport})\n")
        }
        (Some("transport"), Some(name)) => {
            format!("Unknown transport '{name}' specified; no changes made.\n")
        }
        (Some("wipe"), Some(_)) if call.arg(2).is_some() => {
            let package = call.arg(2).unwrap_or_default();
            format!("Wiped backup data for {package} on {}\n", call.arg(1).unwrap_or_default())
        }
        (Some("restore"), Some("1")) => "Scheduling restore: Local disk image\ndone\n".to_owned(),
        (Some("restore"), Some(token)) if old && token.parse::<u64>().is_err() => {
            call.err(format!(
                "Exception caught:\njava.lang.IllegalArgumentException: Package {token} not found\n{RESTORE}"
            ))
            .await;
            return Ok(0);
        }
        (Some("restore"), Some(_)) => {
            "No matching restore set token.  Available sets:\n  1 : Local disk image\ndone\n"
                .to_owned()
        }
        (Some("enable" | "backup" | "transport" | "wipe" | "restore"), _) | (None, _) => {
            call.err(usage).await;
            return Ok(0);
        }
        (Some(_), _) => {
            call.err(format!("Unknown command\n{usage}")).await;
            return Ok(0);
        }
    };
    call.out(text).await.map(|()| 0)
}
