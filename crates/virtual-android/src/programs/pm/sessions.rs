//! Install sessions: `pm install-create`, `-write`, `-commit`, `-abandon`. Source:
//! `PackageManagerShellCommand.java` of Android 14.

use super::super::Invocation;
use super::install::{TOO_MANY, failed, length, number, opened, options, unable, write};
use crate::latency;
use thumbwire_virtual_shell::io::Status;

/// `pm install-create [OPTION…]`
pub(super) async fn create(call: &Invocation) -> Status {
    let chosen = match options(call.args.get(1..).unwrap_or_default()) {
        Ok((chosen, _)) => chosen,
        Err(what) => return call.exception("install-create", &what).await,
    };
    match call.phone.with(|phone| phone.installer().open_session(chosen)) {
        Some(id) => {
            call.out(format!("Success: created install session [{id}]\n")).await.map(|()| 0)
        }
        None => call.exception("install-create", TOO_MANY).await,
    }
}

/// `pm install-write [-S BYTES] SESSION NAME [PATH|-]`
pub(super) async fn write_file(call: &Invocation) -> Status {
    const COMMAND: &str = "install-write";
    let mut args = call.args.iter().skip(1).map(String::as_str).peekable();
    let mut size = None;
    while let Some(option) = args.next_if(|arg| arg.starts_with('-') && *arg != "-") {
        if option != "-S" {
            let what = format!("java.lang.IllegalArgumentException: Unknown option: {option}");
            return call.exception(COMMAND, &what).await;
        }
        match number(args.next()) {
            Ok(bytes) => size = Some(bytes),
            Err(what) => return call.exception(COMMAND, &what).await,
        }
    }
    let id = match number(args.next()) {
        Ok(id) => id as u32,
        Err(what) => return call.exception(COMMAND, &what).await,
    };
    let (name, path) = (args.next().unwrap_or_default(), args.next().unwrap_or("-"));
    if let Some(what) = stranger(call, id) {
        return call.exception(COMMAND, &what).await;
    }
    if path == "-" && size.is_none_or(|size| size == 0) {
        call.err("Error: must specify an APK size\n").await;
        return Ok(1);
    }
    if path != "-" && opened(call, path).is_none() {
        call.err(unable(path)).await;
        return Ok(255);
    }
    let size = if path == "-" { size } else { Some(length(call, path)) };
    match write(call, id, name, path, size).await? {
        true => {
            let size = size.unwrap_or(0);
            call.out(format!("Success: streamed {size} bytes\n")).await.map(|()| 0)
        }
        false => Ok(1),
    }
}

/// `pm install-commit SESSION`
pub(super) async fn commit(call: &Invocation) -> Status {
    let id = match session_of(call) {
        Ok(id) => id,
        Err(what) => return call.exception("install-commit", &what).await,
    };
    call.phone.run_work(latency::INSTALL).await;
    match call.phone.with(|phone| phone.installer().commit(id)) {
        Ok(()) => call.out("Success\n").await.map(|()| 0),
        Err(refusal) => failed(call, &refusal).await,
    }
}

/// `pm install-abandon SESSION`
pub(super) async fn abandon(call: &Invocation) -> Status {
    match session_of(call) {
        Ok(id) => {
            call.phone.with(|phone| phone.installer().abandon(id));
            call.out("Success\n").await.map(|()| 0)
        }
        Err(what) => call.exception("install-abandon", &what).await,
    }
}

fn session_of(call: &Invocation) -> Result<u32, String> {
    let id =
        number(call.args.iter().skip(1).map(String::as_str).find(|arg| !arg.starts_with('-')))?;
    let id = u32::try_from(id).unwrap_or(0);
    stranger(call, id).map_or(Ok(id), Err)
}

/// The exception for a session that does not exist.
fn stranger(call: &Invocation, id: u32) -> Option<String> {
    let known = call.phone.with(|phone| phone.installer().has_session(id));
    (!known).then(|| format!("java.lang.SecurityException: Caller has no access to session {id}"))
}
