//! `requestsync`: asks for a synchronization. The phone has no accounts, so nothing follows.
//! Source: `RequestSync.java`, the words of a running 4.4.4.

use super::Invocation;
use crate::io::Status;

const USAGE: &str = include_str!("words/android-4.4/requestsync.txt");

/// `requestsync [-n ACCOUNT] [-t TYPE] [-a AUTHORITY] …`
pub(super) async fn requestsync(call: Invocation) -> Status {
    let (mut authority, mut args) = (None, call.args.iter().map(String::as_str));
    while let Some(arg) = args.next() {
        match arg {
            "-h" | "--help" => {
                call.err(USAGE).await;
                return Ok(0);
            }
            "-n" | "--account-name" | "-t" | "--account-type" | "-a" | "--authority" => {
                let Some(value) = args.next() else { return refuse(&call, "").await };
                if arg.ends_with('a') || arg.ends_with("authority") {
                    authority = Some(value);
                }
            }
            "-e" | "--es" | "--extra-string" | "--ei" | "--extra-int" | "--el" | "--extra-long"
            | "--ef" | "--extra-float" | "--ed" | "--extra-double" | "--ez" | "--extra-bool" => {
                args.next();
                args.next();
            }
            "--esn" | "--extra-string-null" => drop(args.next()),
            "--is"
            | "--ignore-settings"
            | "--ib"
            | "--ignore-backoff"
            | "--dd"
            | "--discard-deletions"
            | "--nr"
            | "--no-retry"
            | "--ex"
            | "--expedited"
            | "-i"
            | "--initialize"
            | "-m"
            | "--manual"
            | "--od"
            | "--override-deletions"
            | "-u"
            | "--upload-only" => {}
            odd => return refuse(&call, &format!("Error: Unknown option: {odd}\n")).await,
        }
    }
    let authority = authority.unwrap_or("All");
    call.out(format!("Requesting sync for: \n  Account: all\n  Authority: {authority}\n")).await?;
    Ok(0)
}

async fn refuse(call: &Invocation, reason: &str) -> Status {
    call.err(format!("{reason}{USAGE}")).await;
    Ok(0)
}
