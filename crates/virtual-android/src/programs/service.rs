//! The system's services: their names, and `service`, which lists them.
//!
//! `service list`, `dumpsys -l` and `cmd -l` all use [`names`]. A listed service need not have a
//! report or commands here. Sources: `frameworks/native/cmds/service/service.cpp`, the words of a
//! running 4.4.4.

mod table;

use super::Invocation;
use thumbwire_virtual_android_system::release::Release;
use thumbwire_virtual_shell::io::Status;

/// The services of a release, sorted by name.
pub(super) fn names(release: &Release) -> impl Iterator<Item = &'static str> {
    let mut names: Vec<_> = table::of(release).into_iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.into_iter()
}

/// `service list | check NAME | call NAME CODE …`. Two transactions of `statusbar` work; others are
/// unknown, as a wrong code is to any service.
pub(super) async fn service(call: Invocation) -> Status {
    let release = call.release();
    let services = table::of(release);
    let known = |name: &str| services.iter().any(|(service, _)| *service == name);
    match (call.arg(0), call.arg(1)) {
        (Some("list"), _) => {
            let rows: String = services
                .iter()
                .enumerate()
                .map(|(at, (name, interface))| format!("{at}\t{name}: [{interface}]\n"))
                .collect();
            call.out(format!("Found {} services:\n{rows}", services.len())).await?;
            Ok(0)
        }
        (Some("check"), Some(name)) => {
            let found = if known(name) { "found" } else { "not found" };
            call.out(format!("Service {name}: {found}\n")).await.map(|()| 0)
        }
        (Some("check"), None) => {
            call.err("service: No service specified for check\n").await;
            usage(&call).await
        }
        (Some("call"), Some("statusbar")) if matches!(call.arg(2), Some("1" | "2")) => {
            super::notification::transact(&call).await
        }
        (Some("call"), Some(name)) if call.arg(2).is_some() => {
            if !known(name) {
                call.err(format!("service: Service {name} does not exist\n")).await;
                return Ok(10);
            }
            // `Parcel.print` of the status `UNKNOWN_TRANSACTION`, which is -EBADMSG.
            let width = if release.major < 5 { "ffffffb6" } else { "ffffffffffffffb6" };
            let text = format!("Result: Parcel(Error: 0x{width} \"Not a data message\")\n");
            call.out(text).await.map(|()| 0)
        }
        (Some("call"), name) => {
            // The program itself mixes up the two.
            let missing = if name.is_some() { "service" } else { "code" };
            call.err(format!("service: No {missing} specified for call\n")).await;
            usage(&call).await
        }
        (Some(other), _) => {
            call.err(format!("service: Unknown command {other}\n")).await;
            usage(&call).await
        }
        (None, _) => usage(&call).await,
    }
}

/// A bare `service` succeeds on 4.4.
async fn usage(call: &Invocation) -> Status {
    let status = if call.args.is_empty() && call.release().major < 5 { 0 } else { 10 };
    call.out(if call.release().major < 5 { USAGE_4 } else { USAGE }).await.map(|()| status)
}

const USAGE_4: &str = "\
Usage: service [-h|-?]
       service list
       service check SERVICE
       service call SERVICE CODE [i32 INT | s16 STR] ...
Options:
   i32: Write the integer INT into the send parcel.
   s16: Write the UTF-16 string STR into the send parcel.
";

const USAGE: &str = "\
Usage: service [-h|-?]
       service list
       service check SERVICE
       service call SERVICE CODE [i32 N | i64 N | f N | d N | s16 STR | null | fd f | nfd n | afd f ] ...
Options:
   i32: Write the 32-bit integer N into the send parcel.
   i64: Write the 64-bit integer N into the send parcel.
   f:   Write the 32-bit single-precision number N into the send parcel.
   d:   Write the 64-bit double-precision number N into the send parcel.
   s16: Write the UTF-16 string STR into the send parcel.
   null: Write a null binder into the send parcel.
   fd: Write a file descriptor for the file f into the send parcel.
   nfd: Write the file descriptor n into the send parcel.
   afd: Write an ashmem file descriptor for a region containing the data from
          file f into the send parcel.
";
