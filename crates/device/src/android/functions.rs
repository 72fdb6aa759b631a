//! AppFunctions, which Android 16 has of its own: what apps declare, and calling it, by `cmd app_function`.
//!
//! What is printed is JSON, which is handed on as it is. Source: `AppFunctionManagerServiceShellCommand.java` of Android 16 and
//! the platform's documentation; no phone was seen that has it.

use super::{Android, Line, Said, intents};
use crate::error::excerpt;
use crate::{AppId, Error, Platform};

/// The level of Android 16.
const FIRST: u32 = 36;

const WHAT: &str = "app functions (there since Android 16)";

impl Android {
    /// What one app declares, or all. The first builds of Android 16 take no app's name: they give those of all.
    pub(super) async fn list_functions(&self, app: Option<&AppId>) -> Result<String, Error> {
        self.has_functions().await?;
        if let Some(app) = app {
            let said = self.ask(list_command().then("--package").word(&app.0)?).await?;
            if !said.out.contains("Unknown option") && !said.err.contains("Unknown option") {
                return read_list(&said);
            }
        }
        read_list(&self.ask(list_command()).await?)
    }

    pub(super) async fn call_function(
        &self,
        app: &AppId,
        function: &str,
        parameters: &str,
    ) -> Result<String, Error> {
        let line = call_command(app, function, parameters)?;
        let (length, most) = (line.as_str().len(), intents::LONGEST_LINE);
        if length > most {
            let why = format!(
                "it makes a command of {length} bytes, and the phone takes {most}; send less"
            );
            return Err(Error::Refused { what: "calling the function", why });
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

fn list_command() -> Line {
    Line::new("cmd app_function list-app-functions")
}

fn call_command(app: &AppId, function: &str, parameters: &str) -> Result<Line, Error> {
    Line::new("cmd app_function execute-app-function --package")
        .word(&app.0)?
        .then("--function")
        .word(function)?
        .then("--parameters")
        .word(parameters)
}

fn read_list(said: &Said) -> Result<String, Error> {
    let failed = said.status.is_some_and(|status| status != 0);
    match json(said) {
        Some(json) if !failed => Ok(json.to_owned()),
        _ => Err(missing(said)
            .unwrap_or_else(|| Error::Failed { what: "list app functions", said: words(said) })),
    }
}

fn read_call(said: &Said) -> Result<String, Error> {
    // A function without a result prints `{}`, and then the command goes on to wait: ten seconds later it says "Timed out" behind it.
    if let Some(json) = json(said) {
        return Ok(json.to_owned());
    }
    if let Some(error) = missing(said) {
        return Err(error);
    }
    let lines = || said.out.lines().chain(said.err.lines()).map(str::trim);
    let code = lines().find_map(|line| {
        let rest = line.strip_prefix("Error executing app function: ")?;
        rest.split(' ').next()?.parse::<u32>().ok()
    });
    // The constants of `AppFunctionException`. The others tell of a call that had begun.
    let reason = match code {
        Some(1000) => Some("the phone does not let a computer call it"),
        Some(1001) => Some("its parameters are wrong"),
        Some(1002) => Some("it is turned off"),
        Some(1003) => Some("there is no such function; list them again"),
        Some(2002) => Some("the owner's organisation forbids it"),
        _ => None,
    };
    if let Some(reason) = reason {
        let why = format!("{reason}: {}", words(said));
        return Err(Error::Refused { what: "calling the function", why });
    }
    // Thrown before anything is sent: parameters that are no JSON object.
    if lines().any(|line| line.starts_with("Exception: org.json.JSONException")) {
        let why = format!("its parameters are no JSON object: {}", words(said));
        return Err(Error::Refused { what: "calling the function", why });
    }
    Err(Error::Failed { what: "call the function", said: words(said) })
}

/// A phone whose Android 16 is without them, or without this command.
fn missing(said: &Said) -> Option<Error> {
    let marks =
        ["Can't find service: app_function", "No shell command implementation", "Unknown command"];
    let words = format!("{}{}", said.out, said.err);
    marks.iter().any(|mark| words.contains(mark)).then(unsupported)
}

/// The JSON among what was printed: from the first line that begins it, without the line that may follow it.
fn json(said: &Said) -> Option<&str> {
    let mut at = 0;
    for line in said.out.split_inclusive('\n') {
        if line.starts_with(['{', '[']) {
            let json = said.out[at..].trim_end();
            return Some(json.strip_suffix("Timed out").unwrap_or(json).trim_end());
        }
        at += line.len();
    }
    None
}

fn words(said: &Said) -> String {
    excerpt(format!("{}{}", said.out, said.err))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(out: &str, status: i32) -> Said {
        Said { out: out.into(), err: String::new(), status: Some(status) }
    }

    #[test]
    fn the_json_is_handed_on_as_it_is() {
        let list = "{\n  \"com.x\": [\n    {}\n  ]\n}\n";
        assert_eq!(read_list(&said(list, 0)).unwrap(), list.trim_end());
        let warned = format!("Invalid user ID: null. Using current user.\n{list}");
        assert_eq!(read_list(&said(&warned, 0)).unwrap(), list.trim_end());
        assert_eq!(read_call(&said("[\n  1\n]\n", 0)).unwrap(), "[\n  1\n]");
    }

    #[test]
    fn a_function_without_a_result_has_not_timed_out() {
        assert_eq!(read_call(&said("{}\nTimed out\n", 255)).unwrap(), "{}");
        let words = "[\n  \"Unknown command\"\n]\n";
        assert_eq!(read_call(&said(words, 0)).unwrap(), words.trim_end(), "whatever it says");
        let error = read_call(&said("Timed out\n", 255)).unwrap_err();
        assert!(matches!(error, Error::Failed { .. }), "{error}");
    }

    #[test]
    fn the_codes_of_a_refusal_are_told_in_words() {
        let told = |code: u32| {
            let thrown = "android.app.appfunctions.AppFunctionException: x";
            read_call(&said(&format!("Error executing app function: {code} - {thrown}\n"), 255))
                .unwrap_err()
        };
        for (code, part) in
            [(1000, "let a computer"), (1001, "wrong"), (1002, "off"), (1003, "no such")]
        {
            let error = told(code);
            assert!(matches!(&error, Error::Refused { why, .. } if why.contains(part)), "{error}");
        }
        for code in [2000, 2001, 3000, 9] {
            assert!(matches!(told(code), Error::Failed { .. }), "{code}");
        }
        let thrown = "Exception: org.json.JSONException: Value x of type java.lang.String\n";
        assert!(matches!(read_call(&said(thrown, 255)), Err(Error::Refused { .. })));
    }

    #[test]
    fn a_phone_without_them_is_told_apart() {
        for words in
            ["cmd: Can't find service: app_function\n", "No shell command implementation.\n"]
        {
            assert!(matches!(read_list(&said(words, 20)), Err(Error::Unsupported { .. })));
            assert!(matches!(read_call(&said(words, 20)), Err(Error::Unsupported { .. })));
        }
        let thrown = "Exception: java.lang.IllegalAccessError: Only allow shell or root\n";
        let error = read_list(&said(thrown, 255)).unwrap_err();
        assert!(error.to_string().contains("Only allow"), "{error}");
    }

    #[test]
    fn names_and_parameters_are_one_word_each() {
        let line = call_command(&AppId("com.x".into()), "c.S#f", "{\"a\":\"b'c\"}").unwrap();
        let expected = r#"cmd app_function execute-app-function --package 'com.x' --function 'c.S#f' --parameters '{"a":"b'\''c"}'"#;
        assert_eq!(line.as_str(), expected);
    }

    proptest! {
        #[test]
        fn no_words_panic(out in "(\\PC|[\n{\\[])*", status in any::<i32>()) {
            let _ = read_list(&said(&out, status));
            let _ = read_call(&said(&out, status));
        }
    }
}
