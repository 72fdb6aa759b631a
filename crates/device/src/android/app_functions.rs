//! AppFunctions, built into Android 16: lists the functions that apps declare and calls them, with
//! `cmd app_function`.
//!
//! The printed JSON is returned unchanged. Source: `AppFunctionManagerServiceShellCommand.java` of
//! Android 16 and the platform's documentation; not yet tested on a phone that has it.

use super::{Android, CommandOutput, ShellCommand, intents};
use crate::error::excerpt;
use crate::{AppId, Error, Platform};

/// API level of Android 16.
const FIRST: u32 = 36;

const WHAT: &str = "app functions (Android 16 and later)";

impl Android {
    /// The first builds of Android 16 cannot filter by app and list all.
    pub(super) async fn list_app_functions(&self, app: Option<&AppId>) -> Result<String, Error> {
        self.has_functions().await?;
        if let Some(app) = app {
            let output = self.ask(list_command().then("--package").arg(&app.0)?).await?;
            if !output.out.contains("Unknown option") && !output.err.contains("Unknown option") {
                return read_list(&output);
            }
        }
        read_list(&self.ask(list_command()).await?)
    }

    pub(super) async fn call_app_function(
        &self,
        app: &AppId,
        function: &str,
        parameters: &str,
    ) -> Result<String, Error> {
        let line = call_command(app, function, parameters)?;
        let (length, max) = (line.as_str().len(), intents::MAX_LINE);
        if length > max {
            let reason =
                format!("the command has {length} bytes, but the phone accepts {max}; send less");
            return Err(Error::Refused { what: "calling the function", reason });
        }
        self.has_functions().await?;
        read_call(&self.ask(line).await?)
    }

    async fn has_functions(&self) -> Result<(), Error> {
        if self.api_level().await? < FIRST { Err(unsupported()) } else { Ok(()) }
    }
}

fn unsupported() -> Error {
    Error::Unsupported { what: WHAT, platform: Platform::Android }
}

fn list_command() -> ShellCommand {
    ShellCommand::new("cmd app_function list-app-functions")
}

fn call_command(app: &AppId, function: &str, parameters: &str) -> Result<ShellCommand, Error> {
    ShellCommand::new("cmd app_function execute-app-function --package")
        .arg(&app.0)?
        .then("--function")
        .arg(function)?
        .then("--parameters")
        .arg(parameters)
}

fn read_list(output: &CommandOutput) -> Result<String, Error> {
    let failed = output.status.is_some_and(|status| status != 0);
    match json(output) {
        Some(json) if !failed => Ok(json.to_owned()),
        _ => Err(missing(output).unwrap_or_else(|| Error::Failed {
            what: "list app functions",
            text: error_text(output),
        })),
    }
}

fn read_call(output: &CommandOutput) -> Result<String, Error> {
    // For a function without a result the command prints `{}`, then keeps waiting and prints "Timed
    // out" ten seconds later.
    if let Some(json) = json(output) {
        return Ok(json.to_owned());
    }
    if let Some(error) = missing(output) {
        return Err(error);
    }
    let lines = || output.out.lines().chain(output.err.lines()).map(str::trim);
    let code = lines().find_map(|line| {
        let rest = line.strip_prefix("Error executing app function: ")?;
        rest.split(' ').next()?.parse::<u32>().ok()
    });
    // Constants of `AppFunctionException`. Other codes mean that the call had started.
    let reason = match code {
        Some(1000) => Some("the phone does not allow calls from a computer"),
        Some(1001) => Some("invalid parameters"),
        Some(1002) => Some("the function is disabled"),
        Some(1003) => Some("no such function; list the functions again"),
        Some(2002) => Some("blocked by the owner's organization"),
        _ => None,
    };
    if let Some(reason) = reason {
        let reason = format!("{reason}: {}", error_text(output));
        return Err(Error::Refused { what: "calling the function", reason });
    }
    // Thrown before anything is sent: the parameters are not a JSON object.
    if lines().any(|line| line.starts_with("Exception: org.json.JSONException")) {
        let reason = format!("the parameters are not a JSON object: {}", error_text(output));
        return Err(Error::Refused { what: "calling the function", reason });
    }
    Err(Error::Failed { what: "call the function", text: error_text(output) })
}

/// An Android 16 without app functions or without this command.
fn missing(output: &CommandOutput) -> Option<Error> {
    let marks =
        ["Can't find service: app_function", "No shell command implementation", "Unknown command"];
    let text = format!("{}{}", output.out, output.err);
    marks.iter().any(|mark| text.contains(mark)).then(unsupported)
}

/// The JSON in the output: from the first line that starts it, without what may follow it.
fn json(output: &CommandOutput) -> Option<&str> {
    let mut at = 0;
    for line in output.out.split_inclusive('\n') {
        if line.starts_with(['{', '[']) {
            let json = &output.out[at..];
            let end = json.rfind(['}', ']']).map_or(json.len(), |end| end + 1);
            return Some(&json[..end]);
        }
        at += line.len();
    }
    None
}

fn error_text(output: &CommandOutput) -> String {
    excerpt(format!("{}{}", output.out, output.err))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn output(out: &str, status: i32) -> CommandOutput {
        CommandOutput { out: out.into(), err: String::new(), status: Some(status) }
    }

    #[test]
    fn json_is_returned_unchanged() {
        let list = "{\n  \"com.x\": [\n    {}\n  ]\n}\n";
        assert_eq!(read_list(&output(list, 0)).unwrap(), list.trim_end());
        let warned = format!("Invalid user ID: null. Using current user.\n{list}");
        assert_eq!(read_list(&output(&warned, 0)).unwrap(), list.trim_end());
        assert_eq!(read_call(&output("[\n  1\n]\n", 0)).unwrap(), "[\n  1\n]");
    }

    #[test]
    fn function_without_a_result_succeeds() {
        assert_eq!(read_call(&output("{}\nTimed out\n", 255)).unwrap(), "{}");
        let text = "[\n  \"Unknown command\"\n]\n";
        assert_eq!(
            read_call(&output(text, 0)).unwrap(),
            text.trim_end(),
            "its content does not matter"
        );
        let error = read_call(&output("Timed out\n", 255)).unwrap_err();
        assert!(matches!(error, Error::Failed { .. }), "{error}");
    }

    #[test]
    fn error_codes_become_messages() {
        let out = |code: u32| {
            let thrown = "android.app.appfunctions.AppFunctionException: x";
            read_call(&output(&format!("Error executing app function: {code} - {thrown}\n"), 255))
                .unwrap_err()
        };
        for (code, part) in
            [(1000, "from a computer"), (1001, "invalid"), (1002, "disabled"), (1003, "no such")]
        {
            let error = out(code);
            assert!(
                matches!(&error, Error::Refused { reason, .. } if reason.contains(part)),
                "{error}"
            );
        }
        for code in [2000, 2001, 3000, 9] {
            assert!(matches!(out(code), Error::Failed { .. }), "{code}");
        }
        let thrown = "Exception: org.json.JSONException: Value x of type java.lang.String\n";
        assert!(matches!(read_call(&output(thrown, 255)), Err(Error::Refused { .. })));
    }

    #[test]
    fn phone_without_app_functions_is_recognized() {
        for words in
            ["cmd: Can't find service: app_function\n", "No shell command implementation.\n"]
        {
            assert!(matches!(read_list(&output(words, 20)), Err(Error::Unsupported { .. })));
            assert!(matches!(read_call(&output(words, 20)), Err(Error::Unsupported { .. })));
        }
        let thrown = "Exception: java.lang.IllegalAccessError: Only allow shell or root\n";
        let error = read_list(&output(thrown, 255)).unwrap_err();
        assert!(error.to_string().contains("Only allow"), "{error}");
    }

    #[test]
    fn names_and_parameters_are_quoted() {
        let line = call_command(&AppId("com.x".into()), "c.S#f", "{\"a\":\"b'c\"}").unwrap();
        let expected = r#"cmd app_function execute-app-function --package 'com.x' --function 'c.S#f' --parameters '{"a":"b'\''c"}'"#;
        assert_eq!(line.as_str(), expected);
    }

    proptest! {
        #[test]
        fn no_words_panic(out in "(\\PC|[\n{\\[])*", status in any::<i32>()) {
            let _ = read_list(&output(&out, status));
            let _ = read_call(&output(&out, status));
        }
    }
}
