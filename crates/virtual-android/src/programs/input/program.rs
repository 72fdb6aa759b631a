//! `input` as a Java program up to Android 11: it works like `cmd input` inside `BaseCommand`'s
//! frame.
//!
//! Sources: `Input.java` and `BaseCommand.java` of Android 9 and 11; the trace is
//! `shell/errors/input-text_unicode_NPE_android9.txt` of the captures. An error is printed after
//! the usage with status 0; any other exception ends it with 1.

use super::{Args, InputError, Invocation, perform};
use thumbwire_virtual_shell::io::Status;

/// `input [SOURCE] [-d DISPLAY] COMMAND ARG…`
pub(super) async fn input(call: &Invocation) -> Status {
    let usage = call.release().input_usage;
    let mut args = Args { args: &call.args, at: 0 };
    let Some(first) = args.next().map(str::to_owned) else {
        return call.out(usage).await.map(|()| 0);
    };
    let wrong = match perform(call, first, &mut args).await {
        Ok(status) => return status,
        Err(InputError::Missing(after)) => format!("Argument expected after \"{after}\""),
        Err(InputError::Invalid(what)) => what,
        Err(InputError::Unknown(word)) => format!("Error: Unknown command: {word}"),
        Err(InputError::Null) => {
            call.err(NULL).await;
            return Ok(1);
        }
    };
    call.err(format!("{usage}\nError: {wrong}\n")).await;
    Ok(0)
}

/// The line numbers are those of Android 9.
const NULL: &str = "\
java.lang.NullPointerException: Attempt to get length of null array
\tat com.android.commands.input.Input$InputText.sendText(Input.java:168)
\tat com.android.commands.input.Input$InputText.run(Input.java:140)
\tat com.android.commands.input.Input.onRun(Input.java:107)
\tat com.android.internal.os.BaseCommand.run(BaseCommand.java:56)
\tat com.android.commands.input.Input.main(Input.java:71)
\tat com.android.internal.os.RuntimeInit.nativeFinishInit(Native Method)
\tat com.android.internal.os.RuntimeInit.main(RuntimeInit.java:338)
";
