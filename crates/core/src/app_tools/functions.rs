//! AppFunctions, the platform's own app functions since Android 16: a lenient reader for `cmd
//! app_function`.
//!
//! A list is a JSON object of packages with the documents that Android's search stores for each
//! function. That store knows only lists, so every value is in one: `"description": ["…"]`. Source:
//! AOSP, `AppFunctionManagerServiceShellCommand` (`runListAppFunctions`), and
//! androidx.appfunctions' metadata documents for the names and type numbers. We have not seen it on
//! a phone. Start with [`ask`] and [`read`]; [`answer`] reads the result of a call.

use std::cell::Cell;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use thumbwire_base::sanitize;
use thumbwire_device::{AppId, Device, Error};

use crate::action::{AppTool, AppToolFinding, Parameter};

/// How deep types may nest through references.
const DEPTH: usize = 8;

/// The maximum number of members of an object and of parameters of a function.
const MAX_MEMBERS: usize = 64;

/// The maximum number of functions, and of types and enum values per function: types refer to each
/// other and to themselves.
const MAX_FUNCTIONS: usize = 1_024;
const MAX_TYPES: usize = 512;

/// The longest name and enum value, in characters. Each may be copied wherever its type is
/// referenced.
const MAX_NAME: usize = 120;

/// The maximum size of a list, in bytes.
const MAX_SIZE: usize = 8 << 20;

/// The name of a result (AOSP, `ExecuteAppFunctionResponse.PROPERTY_RETURN_VALUE`).
const RETURNED: &str = "androidAppfunctionsReturnValue";

/// What is known about a phone's functions.
#[derive(Debug, Clone, Default)]
pub(super) enum AppFunctionsState {
    /// The phone was never asked.
    #[default]
    Unknown,
    /// The phone has no AppFunctions.
    Unsupported,
    /// The functions of the last query.
    Listed(Vec<AppFunctionSet>),
}

/// What an app offers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AppFunctionSet {
    pub(super) app: AppId,
    pub(super) tools: Vec<AppTool>,
    pub(super) complaints: Vec<AppToolFinding>,
}

impl AppFunctionsState {
    pub(super) fn is_known(&self) -> bool {
        matches!(self, Self::Listed(_))
    }

    pub(super) fn offered(&self) -> Vec<AppFunctionSet> {
        match self {
            Self::Listed(offered) => offered.clone(),
            Self::Unknown | Self::Unsupported => Vec::new(),
        }
    }
}

/// Asks a phone, unless it is known to have no AppFunctions. If that fails, the last list stays
/// valid: a list that comes and goes is of no use.
pub(super) async fn ask(device: &dyn Device, last: AppFunctionsState) -> AppFunctionsState {
    if let AppFunctionsState::Unsupported = last {
        return last;
    }
    let listing = async { device.app_functions()?.list_functions(None).await };
    match listing.await {
        Ok(said) => match read(&said) {
            Ok(offered) => AppFunctionsState::Listed(offered),
            Err(reason) => {
                tracing::warn!("cannot parse the phone's list of app functions: {reason}");
                last
            }
        },
        Err(Error::Unsupported { .. }) => AppFunctionsState::Unsupported,
        Err(error) => {
            tracing::debug!("cannot list the phone's app functions: {error}");
            last
        }
    }
}

/// Parses a list.
pub(super) fn read(text: &str) -> Result<Vec<AppFunctionSet>, String> {
    let Some(start) = text.find('{').filter(|_| text.len() <= MAX_SIZE) else {
        // An empty list is printed as `{}`; other text is an error message.
        return Err(sanitize(text, 200));
    };
    // Text before and after the JSON is ignored.
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let packages = match values.next() {
        Some(Ok(Value::Object(packages))) => packages,
        Some(Err(error)) => return Err(error.to_string()),
        _ => return Err("expected a JSON object".into()),
    };
    let (mut offered, mut left) = (Vec::new(), MAX_FUNCTIONS);
    for (package, documents) in packages {
        let Value::Array(documents) = documents else { continue };
        let (mut tools, mut complaints) = (Vec::<AppTool>::new(), Vec::new());
        let types = Types::of(&documents);
        for document in &documents {
            let function = function(document, &types);
            left -= usize::from(function.is_some());
            if left == 0 {
                let message = format!("at most {MAX_FUNCTIONS} functions are read, over all apps");
                complaints.push(AppToolFinding { rule: "bounds".into(), fatal: true, message });
                break;
            }
            match function {
                Some(Ok(tool)) if tools.iter().all(|known| known.id != tool.id) => tools.push(tool),
                Some(Err(message)) if complaints.len() < 20 => {
                    complaints.push(AppToolFinding {
                        rule: "function".into(),
                        fatal: true,
                        message,
                    });
                }
                _ => {}
            }
        }
        if !tools.is_empty() || !complaints.is_empty() {
            offered.push(AppFunctionSet { app: AppId(package), tools, complaints });
        }
        if left == 0 {
            break;
        }
    }
    Ok(offered)
}

/// The function that a document describes; `None` if it describes something else or a disabled
/// function.
fn function(document: &Value, types: &Types<'_>) -> Option<Result<AppTool, String>> {
    let (metadata, runtime) = parts(document)?;
    let id = ["functionId", "functionIdentifier", "id", "function"]
        .iter()
        .find_map(|name| text(metadata, name))?;
    let id = match id.split_once('#') {
        // The document's own id puts the package before the function.
        Some((package, rest)) if !package.contains('.') || rest.contains('#') => rest,
        _ => id,
    };
    if id.is_empty() || id.chars().count() > 300 || sanitize(id, 300) != id {
        return Some(Err(format!("the id {} is invalid", sanitize(id, 60))));
    }
    // In the runtime document: 0 is the app's default, 1 enabled, 2 disabled
    // (`AppFunctionManager.APP_FUNCTION_STATE_*`).
    let state = runtime.and_then(|it| first(it, "enabled")).and_then(Value::as_i64);
    let by_default = first(metadata, "enabledByDefault").and_then(Value::as_bool);
    if state == Some(2) || (state != Some(1) && by_default == Some(false)) {
        return None;
    }
    types.left.set(MAX_TYPES);
    let mut input = Vec::new();
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for it in list(metadata, "parameters").take(MAX_MEMBERS) {
        let Some(name) = text(it, "name").filter(|name| !name.is_empty()) else { continue };
        if !is_plain(name) {
            let name = sanitize(name, 60);
            return Some(Err(format!("{id} has a parameter with the invalid name {name}")));
        }
        let kind = first(it, "dataTypeMetadata").map(|kind| types.schema(kind, DEPTH));
        let mut schema = kind.unwrap_or_else(|| json!({ "type": "string" }));
        let description = sanitize(text(it, "description").unwrap_or_default(), 500);
        let must = first(it, "isRequired").and_then(Value::as_bool).unwrap_or(true);
        let parameter = Parameter {
            name: name.to_owned(),
            kind: kind_of(&schema),
            required: must,
            description: description.clone(),
        };
        if let (Some(schema), false) = (schema.as_object_mut(), description.is_empty()) {
            schema.insert("description".into(), description.into());
        }
        if must {
            required.push(Value::from(name));
        }
        properties.insert(name.to_owned(), schema);
        input.push(parameter);
    }
    let output = first(metadata, "response")
        .and_then(|it| first(it, "valueType"))
        .map(|kind| types.schema(kind, DEPTH));
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    Some(Ok(AppTool {
        id: id.to_owned(),
        description: sanitize(text(metadata, "description").unwrap_or_default(), 2_000),
        version: String::new(),
        service: None,
        input,
        output: output.map(|schema| output_parameters(&schema)).unwrap_or_default(),
        schema: schema.as_object().cloned(),
    }))
}

/// What a function returns: the members of an object, or one value.
fn output_parameters(schema: &Value) -> Vec<Parameter> {
    let one = |name: &str, schema: &Value| Parameter {
        name: name.to_owned(),
        kind: kind_of(schema),
        required: false,
        description: String::new(),
    };
    match (schema["type"].as_str(), schema["properties"].as_object()) {
        (Some("null"), _) => Vec::new(),
        (_, Some(members)) => members.iter().map(|(name, schema)| one(name, schema)).collect(),
        _ => vec![one("result", schema)],
    }
}

fn kind_of(schema: &Value) -> &'static str {
    let kinds = ["boolean", "integer", "number", "array", "object", "string"];
    kinds.into_iter().find(|kind| schema["type"] == **kind).unwrap_or("string")
}

/// The documents of a function: the app's description and the phone's settings.
fn parts<'a>(document: &'a Value) -> Option<(&'a Value, Option<&'a Value>)> {
    let members = document.as_object()?;
    let starting = |members: &'a Map<String, Value>, start: &str| {
        members.iter().find(|(name, _)| name.starts_with(start)).map(|(_, part)| part)
    };
    // Joined documents appear twice under their schema type (AOSP, `searchResultToJsonObject`).
    let part = |start: &str| {
        let part = starting(members, start)?;
        Some(inside(part.as_object().and_then(|joined| starting(joined, start)).unwrap_or(part)))
    };
    let runtime = part("AppFunctionRuntimeMetadata");
    if let Some(metadata) = part("AppFunctionStaticMetadata") {
        return Some((metadata, runtime));
    }
    let other = [
        "AppFunctionComponent",
        "AppFunctionRuntime",
        "AppFunctionInventory",
        "AppFunctionPackage",
    ];
    let kind = text(document, "schemaType").unwrap_or_default();
    let is_other = |start: &&str| {
        kind.starts_with(*start) || members.keys().any(|name| name.starts_with(*start))
    };
    (!other.iter().any(is_other)).then(|| (inside(document), runtime))
}

/// A document's own members, which may be one level deeper.
fn inside(document: &Value) -> &Value {
    let document = unwrap_single(document);
    document.get("properties").filter(|inner| inner.is_object()).unwrap_or(document)
}

/// The value in a list of one.
fn unwrap_single(value: &Value) -> &Value {
    match value {
        Value::Array(items) => items.first().unwrap_or(value),
        other => other,
    }
}

fn first<'a>(document: &'a Value, name: &str) -> Option<&'a Value> {
    document.get(name).map(unwrap_single).filter(|value| !value.is_null() && !value.is_array())
}

fn text<'a>(document: &'a Value, name: &str) -> Option<&'a str> {
    first(document, name)?.as_str()
}

fn list<'a>(document: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    document.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// The types that an app's functions share.
struct Types<'a> {
    by_name: BTreeMap<&'a str, &'a Value>,
    /// How many more types may be expanded for the current function.
    left: Cell<usize>,
}

/// Whether a name or enum value is short and has only visible characters.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && sanitize(text, MAX_NAME) == text
}

impl<'a> Types<'a> {
    fn of(documents: &'a [Value]) -> Self {
        let mut types = BTreeMap::new();
        for document in documents {
            let Some(members) = document.as_object() else { continue };
            let parts = members.values().map(inside).chain([inside(document)]);
            let holders = parts
                .flat_map(|part| list(part, "components").chain(Some(part)).collect::<Vec<_>>());
            for one in holders.flat_map(|part| list(part, "dataTypes").collect::<Vec<_>>()) {
                if let (Some(name), Some(kind)) =
                    (text(one, "name"), first(one, "dataTypeMetadata"))
                {
                    types.insert(name, kind);
                }
            }
        }
        Self { by_name: types, left: Cell::new(MAX_TYPES) }
    }

    /// The JSON schema of a type. A type that refers to itself or to a missing type accepts any
    /// value.
    fn schema(&self, kind: &Value, depth: usize) -> Value {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        if depth == 0 || left == 0 {
            return json!({});
        }
        let number = first(kind, "type").and_then(Value::as_i64);
        // androidx.appfunctions, `AppFunctionDataTypeMetadata.TYPE_*`.
        let mut schema = match number {
            Some(0) => json!({ "type": "null" }),
            Some(1) => json!({ "type": "boolean" }),
            Some(13 | 14) => json!({}),
            Some(4 | 5) => json!({ "type": "number" }),
            Some(6 | 7) => json!({ "type": "integer" }),
            Some(10) => match first(kind, "itemType") {
                Some(item) => json!({ "type": "array", "items": self.schema(item, depth - 1) }),
                None => json!({ "type": "array" }),
            },
            Some(3) => self.object(kind, depth),
            Some(11) => {
                let name = text(kind, "dataTypeReference").unwrap_or_default();
                match self.by_name.get(name) {
                    Some(kind) => self.schema(kind, depth - 1),
                    None => json!({}),
                }
            }
            Some(12) => {
                let all: Vec<_> = list(kind, "allOf")
                    .take(MAX_MEMBERS)
                    .map(|one| self.schema(one, depth - 1))
                    .collect();
                json!({ "type": "object", "allOf": all })
            }
            _ => json!({ "type": "string" }),
        };
        let is_choice = |value: &&Value| match value {
            Value::String(words) => is_plain(words),
            other => other.is_number() || other.is_boolean(),
        };
        let max = MAX_MEMBERS.min(self.left.get());
        let choices: Vec<_> =
            list(kind, "enumValues").filter(is_choice).take(max).cloned().collect();
        self.left.set(self.left.get() - choices.len());
        if let (Some(schema), false) = (schema.as_object_mut(), choices.is_empty()) {
            schema.insert("enum".into(), choices.into());
        }
        schema
    }

    fn object(&self, kind: &Value, depth: usize) -> Value {
        let mut properties = Map::new();
        for one in list(kind, "properties").take(MAX_MEMBERS) {
            let Some(name) = text(one, "name").filter(|name| is_plain(name)) else { continue };
            if self.left.get() == 0 {
                break;
            }
            let of = first(one, "dataTypeMetadata");
            let schema = of.map_or_else(|| json!({}), |kind| self.schema(kind, depth - 1));
            properties.insert(name.to_owned(), schema);
        }
        let required = list(kind, "required").take(MAX_MEMBERS).filter_map(Value::as_str);
        let required: Vec<_> = required.filter(|name| properties.contains_key(*name)).collect();
        json!({ "type": "object", "properties": properties, "required": required })
    }
}

/// Parses the result of a call: the values by name.
///
/// # Errors
/// The phone's output, if it is not a result.
pub(super) fn answer(text: &str, tool: &AppTool) -> Result<Map<String, Value>, String> {
    let Some(start) = text.find('{').filter(|_| text.len() <= MAX_SIZE) else {
        return Err(sanitize(text, 300));
    };
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let Some(Ok(Value::Object(mut result))) = values.next() else {
        return Err(sanitize(text, 300));
    };
    let Some(returned) = result.remove(RETURNED) else { return Ok(Map::new()) };
    let is_list = |name: &str| tool.output.iter().any(|it| it.name == name && it.kind == "array");
    let single = |name: &str, value: Value| match value {
        Value::Array(mut items) if items.len() == 1 && !is_list(name) => items.remove(0),
        other => other,
    };
    Ok(match single("result", returned) {
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| {
                let value = single(&name, value);
                (name, value)
            })
            .collect(),
        value => Map::from_iter([("result".to_owned(), value)]),
    })
}
