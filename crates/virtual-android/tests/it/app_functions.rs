//! `cmd app_function`: lists, calls and enables app functions since Android 16, over the wire.

use crate::common::Wired;
use serde_json::{Value, json};
use std::time::Duration;
use thumbwire_test_support::quoted;
use thumbwire_virtual_android::Setup;

const NOTES: &str = "com.android.notes";
const CREATE_NOTE: &str = "com.android.notes.NotesFunctions#createNote";
const CLOCK: &str = "com.google.android.deskclock";

fn of_release(name: &str) -> Wired {
    Wired::made(Setup::of_release(name).expect("a release"))
}

fn execute(package: &str, function: &str, parameters: &str) -> String {
    format!(
        "cmd app_function execute-app-function --package {package} --function {} --parameters {}",
        quoted(function),
        quoted(parameters)
    )
}

/// Calls a function and returns its result.
async fn called(wired: &Wired, package: &str, function: &str, parameters: Value) -> Value {
    let output = wired.stdout(&execute(package, function, &parameters.to_string())).await;
    let whole: Value = serde_json::from_str(&output).expect(&output);
    whole["androidAppfunctionsReturnValue"].clone()
}

#[tokio::test(start_paused = true)]
async fn function_list_contains_typed_documents() {
    let wired = of_release("16");
    let output = wired.stdout("cmd app_function list-app-functions").await;
    // `org.json` escapes slashes.
    assert!(output.contains("android$apps-db\\/apps#com.android.notes"), "{output}");
    let list: Value = serde_json::from_str(&output).expect("JSON");
    let packages: Vec<&String> = list.as_object().expect("an object").keys().collect();
    assert_eq!(packages, [NOTES, CLOCK]);
    let mut properties = String::new();
    write_properties("", &list[NOTES], &mut properties);
    insta::assert_snapshot!("app_functions_of_notes", properties);
}

/// Writes a document as AppSearch has it, where each property is a list, in one line per list of
/// plain values.
fn write_properties(path: &str, value: &Value, out: &mut String) {
    match value {
        Value::Object(properties) => {
            for (name, value) in properties {
                write_properties(&format!("{path}.{name}"), value, out);
            }
        }
        Value::Array(documents) if documents.iter().any(Value::is_object) => {
            for (number, document) in documents.iter().enumerate() {
                write_properties(&format!("{path}[{number}]"), document, out);
            }
        }
        values => out.push_str(&format!("{path} = {values}\n")),
    }
}

#[tokio::test(start_paused = true)]
async fn functions_act_on_what_the_apps_show() {
    let wired = of_release("16");
    let given = json!({"title": "Röck ’n’ \"roll\" & $PATH", "content": "a/b"});
    let made = called(&wired, NOTES, CREATE_NOTE, given).await;
    assert_eq!(made[0]["title"], json!(["Röck ’n’ \"roll\" & $PATH"]));
    // Its process runs now, and its screen shows the note.
    assert!(wired.phone.world(|world| world.pid_of(NOTES)).is_some());
    wired.phone.world(|world| world.start(NOTES, None)).expect("Notes");
    let dump = wired.stdout("uiautomator dump /dev/tty").await;
    assert!(dump.contains("Röck ’n’ \"roll\" &amp; $PATH"), "{dump}");
    let find = "com.android.notes.NotesFunctions#findNotes";
    let found = called(&wired, NOTES, find, json!({"query": ["RÖCK"]})).await;
    assert_eq!(found, made);
    let all = called(&wired, NOTES, find, json!({})).await;
    assert_eq!(all.as_array().map(Vec::len), Some(7));
    // An empty result is an empty document.
    let output = wired.stdout(&execute(NOTES, find, "{\"query\":\"no such words\"}")).await;
    assert_eq!(output, "{}\n");

    let create = "com.android.deskclock.ClockFunctions#createAlarm";
    let made =
        called(&wired, CLOCK, create, json!({"hour": 6, "minute": 45, "label": "Train"})).await;
    assert_eq!(
        made,
        json!([{"id": [2], "hour": [6], "minute": [45], "label": ["Train"], "enabled": [true]}])
    );
    let list = "com.android.deskclock.ClockFunctions#listAlarms";
    let alarms = called(&wired, CLOCK, list, json!({})).await;
    assert_eq!(alarms[2], made[0]);
    // It rings the next morning, like one that was set by hand.
    wired.phone.world(|world| world.advance(Duration::from_secs(21 * 3_600)));
    let posted = wired.stdout("dumpsys notification --noredact").await;
    assert!(posted.contains("Train"), "{posted}");
}

#[tokio::test(start_paused = true)]
async fn failures_get_the_commands_messages() {
    let wired = of_release("16");
    let exception = |reason: &str| {
        format!(
            "Error executing app function: android.app.appfunctions.AppFunctionException: {reason}. See logcat for more details. \n"
        )
    };
    for (package, function, parameters, stdout) in [
        (NOTES, "no.such#function", "{}", exception("App function not found.")),
        ("com.none", CREATE_NOTE, "{}", exception("App function not found.")),
        (NOTES, CREATE_NOTE, "{}", exception("Parameter title is required")),
        (NOTES, CREATE_NOTE, "{\"title\":null}", exception("Parameter title is required")),
        (NOTES, CREATE_NOTE, "{\"title\":5}", exception("Parameter title has another type")),
        (
            NOTES,
            CREATE_NOTE,
            "[1]",
            "Exception: org.json.JSONException: Value [1] of type org.json.JSONArray cannot be converted to JSONObject\n".into(),
        ),
        (NOTES, CREATE_NOTE, "", "Exception: org.json.JSONException: End of input at character 0 of \n".into()),
    ] {
        let all = wired.all(&execute(package, function, parameters)).await;
        assert_eq!(all, (255, stdout, String::new()), "{function} {parameters}");
    }
    for (arguments, stdout) in [
        ("list-app-functions --package com.android.notes", "Unknown option: --package\n"),
        ("execute-app-function", "Error: --package must be specified.\n"),
        ("execute-app-function --package x", "Error: --function must be specified.\n"),
        (
            "execute-app-function --package x --function y",
            "Error: --parameters must be specified.\n",
        ),
        (
            "execute-app-function --package",
            "Exception: java.lang.IllegalArgumentException: Argument expected after \"--package\"\n",
        ),
        ("tree", "Unknown command: tree\n"),
    ] {
        let all = wired.all(&format!("cmd app_function {arguments}")).await;
        assert_eq!(all, (255, stdout.to_owned(), String::new()), "{arguments}");
    }
    let (_, help, _) = wired.all("cmd app_function help").await;
    assert!(help.starts_with("AppFunctionManagerService commands:\n  help\n"), "{help}");
}

#[tokio::test(start_paused = true)]
async fn disabled_function_is_listed_but_not_callable() {
    let wired = of_release("16");
    let switch = |state: &str| {
        format!(
            "cmd app_function set-enabled --package {NOTES} --function '{CREATE_NOTE}' --state {state}"
        )
    };
    let done = "App function enabled state updated successfully.\n";
    let call = execute(NOTES, CREATE_NOTE, "{\"title\":\"x\"}");
    assert_eq!(wired.stdout(&switch("disable")).await, done);
    let (status, stdout, _) = wired.all(&call).await;
    assert!(status == 255 && stdout.contains(": The app function is disabled. See"), "{stdout}");
    let list = wired.stdout("cmd app_function list-app-functions").await;
    let list: Value = serde_json::from_str(&list).expect("JSON");
    let key = "AppFunctionRuntimeMetadata-com.android.notes";
    assert_eq!(list[NOTES][0][key][key]["enabled"], json!([2]));
    assert_eq!(wired.stdout(&switch("default")).await, done);
    assert_eq!(wired.all(&call).await.0, 0);
    assert!(wired.all(&switch("maybe")).await.1.starts_with("Error: --state must be specified."));
    let none = wired.stdout(&switch("enable").replace("createNote", "none")).await;
    assert!(
        none.ends_with("Function com.android.notes.NotesFunctions#none does not exist\n"),
        "{none}"
    );
}

#[tokio::test(start_paused = true)]
async fn call_to_a_hanging_app_times_out() {
    let wired = of_release("16");
    wired.phone.world(|world| world.start(NOTES, None)).expect("Notes");
    wired.phone.world(|world| world.stop_responding(NOTES));
    let before = wired.phone.world(|world| world.uptime());
    let call = execute(NOTES, CREATE_NOTE, "{\"title\":\"x\"}");
    let all = wired.all(&format!("{call} --timeout-duration 7")).await;
    assert_eq!(all, (255, "Timed out\n".to_owned(), String::new()));
    let took = wired.phone.world(|world| world.uptime()) - before;
    assert_eq!(took.as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn earlier_releases_have_no_such_service() {
    for release in ["9", "11", "13", "14"] {
        let wired = of_release(release);
        let all = wired.all("cmd app_function list-app-functions").await;
        let output = "cmd: Can't find service: app_function\n".to_owned();
        assert_eq!(all, (20, String::new(), output), "{release}");
        assert!(!wired.stdout("service list").await.contains("app_function"));
    }
}
