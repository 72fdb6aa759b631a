//! `content`: queries and changes what apps provide under `content://` URIs.
//!
//! Start with [`content`]: `arguments` parses the command, `providers` says who answers a URI. On
//! this phone the settings and the people of Contacts have rows; the other providers that Android
//! brings are empty. Sources: `Content.java` of Android 4.4 to 14 with the words of a running
//! 4.4.4, `SettingsProvider.java` of both kinds.

mod arguments;
mod providers;
mod rows;

use super::Invocation;
use arguments::{Command, Operation};
use providers::Outcome;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_shell::io::Status;

const USAGE_4: &str = include_str!("words/android-4.4/content.txt");
const USAGE_9: &str = include_str!("words/android-9/content.txt");

/// `content query|insert|update|delete|call|read|write|gettype --uri URI …`
pub(super) async fn content(call: Invocation) -> Status {
    let command = match Command::parse(&call.args, call.release()) {
        Ok(command) => command,
        Err(reason) => {
            let usage = if call.release().form == ToolKind::Java { USAGE_4 } else { USAGE_9 };
            call.out(format!("{usage}[ERROR] {reason}\n")).await?;
            return Ok(0);
        }
    };
    let pid = call.running.pid;
    let outcome = call.phone.with(|phone| providers::answer(phone, &command, pid));
    match outcome {
        Outcome::Text(text) => call.out(text).await?,
        Outcome::Exception { thrown, at } => {
            let trace = trace(&call, &command, at);
            let authority = command.uri.authority();
            call.err(format!("Error while accessing provider:{authority}\n{thrown}\n{trace}"))
                .await;
        }
    }
    Ok(0)
}

/// Where an exception came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thrower {
    /// The program itself: it found no provider.
    Program,
    /// The activity manager, which refused the provider.
    ActivityManager,
    /// The provider.
    Provider,
    /// The provider's database.
    Database,
    /// The provider, which refused the caller.
    ProviderAccess,
    /// The program, when a provider of 4.4 answered a call with nothing.
    Reply,
}

/// The frames of the exception. Line numbers of 4.4.4 are recorded, those of 14 are public
/// transcripts; between the releases only they differ.
fn trace(call: &Invocation, command: &Command, at: Thrower) -> String {
    let old = call.release().form == ToolKind::Java;
    let (execute, main, runtime) = match call.release().major {
        ..=4 => (381, 544, 243),
        5..=9 => (487, 699, 338),
        10..=12 => (512, 719, 399),
        13..=14 => (521, 727, 355),
        _ => (522, 728, 371),
    };
    let (class, method) = match command.operation {
        Operation::Query { .. } => ("Query", "query"),
        Operation::Insert { .. } => ("Insert", "insert"),
        Operation::Update { .. } => ("Update", "update"),
        Operation::Delete { .. } => ("Delete", "delete"),
        Operation::Call { .. } => ("Call", "call"),
        Operation::Read => ("Read", "openFile"),
        Operation::Write => ("Write", "openFile"),
        Operation::GetType => ("GetType", "getType"),
    };
    let line = match command.operation {
        Operation::Query { .. } => 474,
        Operation::Insert { .. } => 406,
        Operation::Update { .. } => 536,
        Operation::Delete { .. } => 419,
        _ => 437,
    };
    let proxy = match command.operation {
        Operation::Query { .. } => 413,
        Operation::Insert { .. } => 468,
        Operation::Update { .. } => 560,
        Operation::Delete { .. } => 541,
        _ => 600,
    };
    let utils = format!(
        "\tat android.database.DatabaseUtils.readExceptionFromParcel(DatabaseUtils.java:{})\n",
        if old { 137 } else { 142 },
    );
    let from_provider = format!(
        "{utils}\tat android.content.ContentProviderProxy.{method}(ContentProviderNative.java:{proxy})\n\
         \tat com.android.commands.content.Content${class}Command.onExecute(Content.java:{line})\n"
    );
    let parcel = "\tat android.os.Parcel.readException(Parcel.java:1465)\n";
    let first = |number| {
        format!(
            "\tat android.database.DatabaseUtils.readExceptionFromParcel(DatabaseUtils.java:{number})\n"
        )
    };
    let (frames, execute) = match at {
        Thrower::Program => (String::new(), execute - 3),
        Thrower::ActivityManager => (
            format!(
                "{parcel}\tat android.os.Parcel.readException(Parcel.java:1419)\n\
                 \tat android.app.ActivityManagerProxy.getContentProviderExternal(ActivityManagerNative.java:2867)\n"
            ),
            execute - 6,
        ),
        Thrower::Provider => (first(if old { 167 } else { 172 }) + &from_provider, execute),
        Thrower::Database => (first(if old { 181 } else { 186 }) + &from_provider, execute),
        Thrower::Reply => (
            "\tat com.android.commands.content.Content$CallCommand.onExecute(Content.java:456)\n"
                .to_owned(),
            execute,
        ),
        Thrower::ProviderAccess => {
            let denied = first(if old { 185 } else { 190 });
            let parcel = match command.operation {
                Operation::Insert { .. } => {
                    "\tat android.os.Parcel.readException(Parcel.java:1471)\n"
                }
                _ => parcel,
            };
            let denied = if old { parcel.to_owned() + &denied } else { denied };
            (denied + &from_provider, execute)
        }
    };
    let end = if old { "\tat dalvik.system.NativeStart.main(Native Method)\n" } else { "" };
    format!(
        "{frames}\tat com.android.commands.content.Content$Command.execute(Content.java:{execute})\n\
         \tat com.android.commands.content.Content.main(Content.java:{main})\n\
         \tat com.android.internal.os.RuntimeInit.nativeFinishInit(Native Method)\n\
         \tat com.android.internal.os.RuntimeInit.main(RuntimeInit.java:{runtime})\n{end}"
    )
}
