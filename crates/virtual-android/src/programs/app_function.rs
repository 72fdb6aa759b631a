//! `cmd app_function`: lists, enables and calls app functions.
//!
//! Start with [`app_function`]. Texts, options and the order of checks are those of
//! `AppFunctionManagerServiceShellCommand` of AOSP in the second quarterly release of Android 16
//! (API level 36.1), whose output has been published; the first Android 16 has the service but
//! prints "No shell command implementation.", and later sources add `--package` to the list.
//! Documents become JSON as in `AppSearchDataJsonConverter`: every property is a list; metadata
//! names and type numbers are those of androidx.appfunctions.
//!
//! Not here: `--brief-yaml` (accepted, answered in JSON), access checks (the shell may call all),
//! users other than the first.

use super::Invocation;
use serde_json::{Map, Value, json};
use std::time::Duration;
use thumbwire_virtual_phone::functions::{
    AppFunction, FunctionArgs, FunctionError, ListedFunction, ObjectType, ValueType,
};
use thumbwire_virtual_shell::io::Status;

const HELP: &str = include_str!("words/android-16/app_function.txt");
/// The property that holds a function's result
/// (`ExecuteAppFunctionResponse.PROPERTY_RETURN_VALUE`).
const RETURNED: &str = "androidAppfunctionsReturnValue";
/// Default timeout of a call in seconds (`DEFAULT_EXECUTE_TIMEOUT_SECONDS`).
const PATIENCE: u64 = 30;
/// A failing command returns -1.
const FAILED: i32 = 255;
/// Maximum nesting of objects in parameters.
const MAX_DEPTH: usize = 64;

/// `cmd app_function list-app-functions | execute-app-function | set-enabled | help`
pub(super) async fn app_function(call: Invocation) -> Status {
    let (said, status) = match call.arg(0) {
        None | Some("help" | "-h") => (HELP.to_owned(), FAILED),
        Some(command @ ("list-app-functions" | "execute-app-function" | "set-enabled")) => {
            match Options::read(command, call.args.get(1..).unwrap_or_default()) {
                Ok(options) => run(&call, command, options).await,
                Err(reason) => (reason + "\n", FAILED),
            }
        }
        Some(other) => (format!("Unknown command: {other}\n"), FAILED),
    };
    call.out(said).await.map(|()| status)
}

async fn run(call: &Invocation, command: &str, options: Options) -> (String, i32) {
    if command == "list-app-functions" {
        return (list(call), 0);
    }
    let Some(package) = options.package else { return missing("--package must be specified.") };
    let Some(function) = options.function else { return missing("--function must be specified.") };
    if command == "set-enabled" {
        return switch(call, &package, &function, options.state.as_deref());
    }
    let Some(parameters) = options.parameters else {
        return missing("--parameters must be specified.");
    };
    let given = match parse(&parameters) {
        Ok(given) => given,
        Err(reason) => return (format!("Exception: org.json.JSONException: {reason}\n"), FAILED),
    };
    let patience = Duration::from_secs(options.timeout);
    let done = call.phone.with(|phone| phone.world.call_app_function(&package, &function, &given));
    match done {
        Ok((value, takes)) if takes <= patience => {
            call.phone.sleep(takes).await;
            (printed(&returned(&value)), 0)
        }
        Ok(_) | Err(FunctionError::Silent) => {
            call.phone.sleep(patience).await;
            ("Timed out\n".to_owned(), FAILED)
        }
        Err(FunctionError::Thrown(reason)) => {
            let thrown = format!("android.app.appfunctions.AppFunctionException: {reason}");
            let output =
                format!("Error executing app function: {thrown}. See logcat for more details. \n");
            (output, FAILED)
        }
    }
}

fn missing(what: &str) -> (String, i32) {
    (format!("Error: {what}\n"), FAILED)
}

fn switch(call: &Invocation, package: &str, id: &str, state: Option<&str>) -> (String, i32) {
    let on = match state {
        Some("enable") => Some(true),
        Some("disable") => Some(false),
        Some("default") => None,
        _ => {
            return missing(
                "--state must be specified. The accepted values are: `enable`, `disable`, `default`.",
            );
        }
    };
    let output = match call.phone.with(|phone| phone.world.switch_app_function(package, id, on)) {
        true => "App function enabled state updated successfully.\n".to_owned(),
        false => format!(
            "Error setting app function state: android.os.ParcelableException: java.lang.IllegalArgumentException: Function {id} does not exist\n"
        ),
    };
    (output, 0)
}

/// The parsed options.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    package: Option<String>,
    function: Option<String>,
    parameters: Option<String>,
    state: Option<String>,
    timeout: u64,
}

impl Options {
    /// Parses the options; the error is the message about an unknown one.
    fn read(command: &str, args: &[String]) -> Result<Self, String> {
        let mut options = Self { timeout: PATIENCE, ..Self::default() };
        let mut args = args.iter();
        while let Some(option) = args.next().filter(|arg| arg.starts_with('-')) {
            let known: &[&str] = match command {
                "list-app-functions" => &["--user"],
                "set-enabled" => &["--user", "--package", "--function", "--state"],
                _ => &[
                    "--user",
                    "--package",
                    "--function",
                    "--parameters",
                    "--timeout-duration",
                    "--brief-yaml",
                ],
            };
            if !known.contains(&option.as_str()) {
                return Err(format!("Unknown option: {option}"));
            }
            if option == "--brief-yaml" {
                continue;
            }
            let value = args.next().cloned().ok_or_else(|| {
                format!("Exception: java.lang.IllegalArgumentException: Argument expected after \"{option}\"")
            })?;
            match option.as_str() {
                "--package" => options.package = Some(value),
                "--function" => options.function = Some(value),
                "--parameters" => options.parameters = Some(value),
                "--state" => options.state = Some(value),
                "--timeout-duration" => options.timeout = value.parse().unwrap_or(PATIENCE),
                _ => {}
            }
        }
        Ok(options)
    }
}

/// Parses parameters as `convertJsonToGenericDocument` does: a property is a list of values of its
/// first one's type; an empty list and `null` count as absent. Its messages about invalid JSON are
/// similar, not identical.
fn parse(text: &str) -> Result<FunctionArgs, String> {
    let value: Value = serde_json::from_str(text).map_err(|reason| match text.trim() {
        "" => "End of input at character 0 of ".to_owned(),
        _ => format!("Unterminated object at character {} of {text}", reason.column()),
    })?;
    match value {
        Value::Object(members) => document(&members, MAX_DEPTH).map(FunctionArgs),
        other => {
            let kind = match &other {
                Value::Array(_) => "org.json.JSONArray",
                Value::Bool(_) => "java.lang.Boolean",
                Value::Number(_) => "java.lang.Integer",
                _ => "java.lang.String",
            };
            Err(format!("Value {other} of type {kind} cannot be converted to JSONObject"))
        }
    }
}

fn document(members: &Map<String, Value>, depth: usize) -> Result<Map<String, Value>, String> {
    let mut properties = Map::new();
    for (name, value) in members {
        let values = match value {
            Value::Null => continue,
            Value::Array(values) if values.is_empty() => continue,
            Value::Array(values) => values.clone(),
            one => vec![one.clone()],
        };
        let first = values.first().map(std::mem::discriminant);
        if values.iter().any(|value| Some(std::mem::discriminant(value)) != first) {
            return Err(format!("Value at 1 is of another type than the first of {name}"));
        }
        let values: Result<Vec<Value>, String> = values
            .into_iter()
            .map(|value| match value {
                Value::Object(_) if depth == 0 => Err("Nesting problem".to_owned()),
                Value::Object(members) => document(&members, depth - 1).map(Value::Object),
                other => Ok(other),
            })
            .collect();
        properties.insert(name.clone(), Value::Array(values?));
    }
    Ok(properties)
}

/// All functions of all packages, with their enabled states.
fn list(call: &Invocation) -> String {
    let packages = call.phone.with(|phone| {
        let listed = phone.world.app_functions().into_iter();
        listed
            .map(|(package, all)| (package.to_owned(), listing(package, &all)))
            .collect::<Map<_, _>>()
    });
    printed(&Value::Object(packages))
}

/// A package's documents: one per function, joined with its enabled state, and one for the shared
/// types.
fn listing(package: &str, functions: &[ListedFunction]) -> Value {
    let (key, set) = (
        format!("AppFunctionStaticMetadata-{package}"),
        format!("AppFunctionRuntimeMetadata-{package}"),
    );
    let mut documents: Vec<Value> = functions
        .iter()
        .map(|(function, switched)| {
            let (id, escaped) = (function.id, function.id.replace('#', "\\#"));
            let mut runtime = json!({
                "packageName": [package],
                "functionId": [id],
                "appFunctionStaticMetadataQualifiedId": [format!("android$apps-db/app_functions#{package}/{escaped}")],
            });
            if let Some(on) = switched {
                // `AppFunctionManager.APP_FUNCTION_STATE_…`
                runtime["enabled"] = json!([if *on { 1 } else { 2 }]);
            }
            json!({ &key: metadata(package, function), &set: { &set: runtime } })
        })
        .collect();
    let mut shapes: Vec<&ObjectType> = Vec::new();
    for (function, _) in functions {
        if let ValueType::Object(shape) | ValueType::List(shape) = function.returns
            && shapes.iter().all(|known| known.name != shape.name)
        {
            shapes.push(shape);
        }
    }
    let types: Vec<Value> = shapes.into_iter().map(shape).collect();
    let components = format!("AppFunctionComponentMetadataDocument-{package}");
    documents.push(json!({ components: { "dataTypes": types } }));
    Value::Array(documents)
}

fn metadata(package: &str, function: &AppFunction) -> Value {
    let parameters: Vec<Value> = function
        .parameters
        .iter()
        .map(|it| {
            json!({
                "name": [it.name],
                "description": [it.description],
                "isRequired": [it.required],
                "dataTypeMetadata": [kind(it.kind, !it.required)],
            })
        })
        .collect();
    let mut out = json!({
        "packageName": [package],
        "functionId": [function.id],
        "description": [function.description],
        "enabledByDefault": [true],
        "response": [{ "valueType": [kind(function.returns, false)] }],
        "mobileApplicationQualifiedId": [format!("android$apps-db/apps#{package}")],
    });
    if !parameters.is_empty() {
        out["parameters"] = Value::Array(parameters);
    }
    out
}

/// A type, with the numbers of `AppFunctionDataTypeMetadata`.
fn kind(kind: ValueType, nullable: bool) -> Value {
    match kind {
        ValueType::Boolean => json!({ "type": [1], "isNullable": [nullable] }),
        ValueType::Int => json!({ "type": [7], "isNullable": [nullable] }),
        ValueType::Text => json!({ "type": [8], "isNullable": [nullable] }),
        ValueType::Object(shape) => {
            json!({ "type": [11], "isNullable": [nullable], "dataTypeReference": [shape.name] })
        }
        ValueType::List(shape) => {
            json!({ "type": [10], "isNullable": [nullable], "itemType": [self::kind(ValueType::Object(shape), false)] })
        }
    }
}

fn shape(shape: &ObjectType) -> Value {
    let members = shape.members.iter();
    let properties: Vec<Value> = members
        .clone()
        .map(|(name, of)| json!({ "name": [name], "dataTypeMetadata": [kind(*of, false)] }))
        .collect();
    let required: Vec<&str> = members.map(|(name, _)| *name).collect();
    json!({
        "name": [shape.name],
        "dataTypeMetadata": [{
            "type": [3],
            "isNullable": [false],
            "objectQualifiedName": [shape.name],
            "properties": properties,
            "required": required,
        }],
    })
}

/// A function's result as the document that the system passes on.
fn returned(value: &Value) -> Value {
    match wrapped(value) {
        Value::Array(values) if values.is_empty() => json!({}),
        values => json!({ RETURNED: values }),
    }
}

/// A value as a property holds it: in a list, objects member by member.
fn wrapped(value: &Value) -> Value {
    let one = |value: &Value| match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), wrapped(value))).collect()
        }
        other => other.clone(),
    };
    Value::Array(match value {
        Value::Null => Vec::new(),
        Value::Array(values) => values.iter().map(one).collect(),
        value => vec![one(value)],
    })
}

/// JSON as `org.json` prints it with an indent of two: slashes are escaped.
fn printed(value: &Value) -> String {
    format!("{value:#}\n").replace('/', "\\/")
}
