//! `sm`: storage volumes and disks. The phone has its internal storage only. Source: `Sm.java` of
//! Android 9 to 14; 4.4 has no such program.

use super::Invocation;
use crate::io::Status;

const USAGE: &str = "\
usage: sm list-disks [adoptable]
       sm list-volumes [public|private|emulated|all]
       sm has-adoptable
       sm get-primary-storage-uuid
       sm set-force-adoptable [on|off|default]
       sm set-virtual-disk [true|false]

       sm partition DISK [public|private|mixed] [ratio]
       sm mount VOLUME
       sm unmount VOLUME
       sm format VOLUME
       sm benchmark VOLUME
       sm idle-maint [run|abort]
       sm fstrim

       sm forget [UUID|all]

       sm set-emulate-fbe [true|false]

       sm start-checkpoint <num-retries>

       sm supports-checkpoint

       sm unmount-app-data-dirs PACKAGE_NAME PID

       sm set-isolated-storage [on|off|default]

";

/// `sm list-disks|list-volumes|has-adoptable|get-primary-storage-uuid|…`
pub(super) async fn sm(call: Invocation) -> Status {
    // The user's emulated volume has its number since 11.
    let emulated = if call.release().major >= 11 { "emulated;0" } else { "emulated" };
    let text = match (call.arg(0), call.arg(1)) {
        (Some("list-disks"), _) => String::new(),
        (Some("list-volumes"), Some("public")) => String::new(),
        (Some("list-volumes"), Some("private")) => "private mounted null\n".to_owned(),
        (Some("list-volumes"), Some("emulated")) => format!("{emulated} mounted null\n"),
        (Some("list-volumes"), _) => {
            format!("private mounted null\n{emulated} mounted null\n")
        }
        (Some("has-adoptable" | "supports-checkpoint"), _) => "false\n".to_owned(),
        (Some("get-primary-storage-uuid"), _) => "null\n".to_owned(),
        (Some("set-force-adoptable" | "set-isolated-storage" | "fstrim" | "idle-maint"), _) => {
            String::new()
        }
        _ => {
            call.err(USAGE).await;
            return Ok(1);
        }
    };
    call.out(text).await.map(|()| 0)
}
