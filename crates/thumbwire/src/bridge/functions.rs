//! The platform's own functions of apps, AppFunctions, since Android 16: what `cmd app_function` prints, read leniently.
//!
//! A list is a JSON object of packages with what Android's search keeps of each function. That store knows lists alone, so that every
//! value stands in one: `"description": ["…"]`. Source: AOSP, `AppFunctionManagerServiceShellCommand` (`runListAppFunctions`), and
//! androidx.appfunctions' metadata documents for the names and the numbers of types. Not seen on a phone by us. Begin with [`ask`] and
//! [`read`]; [`answer`] reads what a call gave.

use std::cell::Cell;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use thumbwire_device::{AppId, Device, Error};
use thumbwire_mobile_mcp::words::harmless;

use crate::action::{AppTool, Complaint, Parameter};

/// How deep types may refer to each other.
const DEPTH: usize = 8;

/// The most members of an object, and parameters of a function, that are taken.
const MOST_MEMBERS: usize = 64;

/// The most functions that are looked at, and the most types and choices that are taken for one of them: types refer to each other,
/// and to themselves.
const MOST_FUNCTIONS: usize = 1_024;
const MOST_TYPES: usize = 512;

/// The longest name and the longest choice, in characters. Each may be copied for every place that refers to its type.
const LONGEST_NAME: usize = 120;

/// The most bytes that are read.
const LARGEST: usize = 8 << 20;

/// The name under which a result stands (AOSP, `ExecuteAppFunctionResponse.PROPERTY_RETURN_VALUE`).
const RETURNED: &str = "androidAppfunctionsReturnValue";

/// What is known of a phone's functions.
#[derive(Debug, Clone, Default)]
pub(super) enum Functions {
    /// It was never asked.
    #[default]
    Unknown,
    /// It has no such thing.
    Unsupported,
    /// These were there when it was asked last.
    Listed(Vec<Offered>),
}

/// What an app offers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Offered {
    pub(super) app: AppId,
    pub(super) tools: Vec<AppTool>,
    pub(super) complaints: Vec<Complaint>,
}

impl Functions {
    pub(super) fn is_known(&self) -> bool {
        matches!(self, Self::Listed(_))
    }

    pub(super) fn offered(&self) -> Vec<Offered> {
        match self {
            Self::Listed(offered) => offered.clone(),
            Self::Unknown | Self::Unsupported => Vec::new(),
        }
    }
}

/// Asks a phone, unless it is known to have none. Where it fails, what it said before counts on: a list that comes and goes is of no use.
pub(super) async fn ask(device: &dyn Device, last: Functions) -> Functions {
    if let Functions::Unsupported = last {
        return last;
    }
    match device.app_functions(None).await {
        Ok(said) => match read(&said) {
            Ok(offered) => Functions::Listed(offered),
            Err(why) => {
                tracing::warn!("the phone's list of app functions is not understood: {why}");
                last
            }
        },
        Err(Error::Unsupported { .. }) => Functions::Unsupported,
        Err(error) => {
            tracing::debug!("the phone does not list app functions: {error}");
            last
        }
    }
}

/// Reads a list.
pub(super) fn read(said: &str) -> Result<Vec<Offered>, String> {
    let Some(start) = said.find('{').filter(|_| said.len() <= LARGEST) else {
        // Nothing is printed as `{}`; words are none of it.
        return Err(harmless(said, 200));
    };
    // What a phone prints before or after is passed over.
    let mut values = serde_json::Deserializer::from_str(&said[start..]).into_iter::<Value>();
    let packages = match values.next() {
        Some(Ok(Value::Object(packages))) => packages,
        Some(Err(error)) => return Err(error.to_string()),
        _ => return Err("it is no object".into()),
    };
    let (mut offered, mut left) = (Vec::new(), MOST_FUNCTIONS);
    for (package, documents) in packages {
        let Value::Array(documents) = documents else { continue };
        let (mut tools, mut complaints) = (Vec::<AppTool>::new(), Vec::new());
        let types = Types::of(&documents);
        for document in &documents {
            let function = function(document, &types);
            left -= usize::from(function.is_some());
            if left == 0 {
                let says =
                    format!("{MOST_FUNCTIONS} functions are looked at, of all apps together");
                complaints.push(Complaint { rule: "bounds".into(), fatal: true, says });
                break;
            }
            match function {
                Some(Ok(tool)) if tools.iter().all(|known| known.id != tool.id) => tools.push(tool),
                Some(Err(says)) if complaints.len() < 20 => {
                    complaints.push(Complaint { rule: "function".into(), fatal: true, says });
                }
                _ => {}
            }
        }
        if !tools.is_empty() || !complaints.is_empty() {
            offered.push(Offered { app: AppId(package), tools, complaints });
        }
        if left == 0 {
            break;
        }
    }
    Ok(offered)
}

/// The function that a document tells of; `None` where it tells of something else, or of one that is switched off.
fn function(document: &Value, types: &Types<'_>) -> Option<Result<AppTool, String>> {
    let (told, runtime) = parts(document)?;
    let id = ["functionId", "functionIdentifier", "id", "function"]
        .iter()
        .find_map(|name| text(told, name))?;
    let id = match id.split_once('#') {
        // The document's own id has the package before the function's.
        Some((package, rest)) if !package.contains('.') || rest.contains('#') => rest,
        _ => id,
    };
    if id.is_empty() || id.chars().count() > 300 || harmless(id, 300) != id {
        return Some(Err(format!("the id {} cannot be used", harmless(id, 60))));
    }
    // Of the runtime's part: 0 is as the app has it, 1 on, 2 off (`AppFunctionManager.APP_FUNCTION_STATE_*`).
    let state = runtime.and_then(|it| first(it, "enabled")).and_then(Value::as_i64);
    let by_default = first(told, "enabledByDefault").and_then(Value::as_bool);
    if state == Some(2) || (state != Some(1) && by_default == Some(false)) {
        return None;
    }
    types.left.set(MOST_TYPES);
    let mut input = Vec::new();
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for it in list(told, "parameters").take(MOST_MEMBERS) {
        let Some(name) = text(it, "name").filter(|name| !name.is_empty()) else { continue };
        if !is_plain(name) {
            let name = harmless(name, 60);
            return Some(Err(format!("{id} has a parameter whose name {name} cannot be used")));
        }
        let kind = first(it, "dataTypeMetadata").map(|kind| types.schema(kind, DEPTH));
        let mut schema = kind.unwrap_or_else(|| json!({ "type": "string" }));
        let description = harmless(text(it, "description").unwrap_or_default(), 500);
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
    let output = first(told, "response")
        .and_then(|it| first(it, "valueType"))
        .map(|kind| types.schema(kind, DEPTH));
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    Some(Ok(AppTool {
        id: id.to_owned(),
        description: harmless(text(told, "description").unwrap_or_default(), 2_000),
        service: None,
        input,
        output: output.map(|schema| gives(&schema)).unwrap_or_default(),
        schema: schema.as_object().cloned(),
    }))
}

/// What a function gives: the members of an object, or one value.
fn gives(schema: &Value) -> Vec<Parameter> {
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

/// The documents of a function: what the app says of it, and what the phone has set.
fn parts<'a>(document: &'a Value) -> Option<(&'a Value, Option<&'a Value>)> {
    let members = document.as_object()?;
    let starting = |members: &'a Map<String, Value>, start: &str| {
        members.iter().find(|(name, _)| name.starts_with(start)).map(|(_, part)| part)
    };
    // What was joined to a document stands under its kind twice (AOSP, `searchResultToJsonObject`).
    let part = |start: &str| {
        let part = starting(members, start)?;
        Some(inside(part.as_object().and_then(|joined| starting(joined, start)).unwrap_or(part)))
    };
    let runtime = part("AppFunctionRuntimeMetadata");
    if let Some(told) = part("AppFunctionStaticMetadata") {
        return Some((told, runtime));
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

/// A document's own members, which may stand one level deeper.
fn inside(document: &Value) -> &Value {
    let document = alone(document);
    document.get("properties").filter(|inner| inner.is_object()).unwrap_or(document)
}

/// The value of a list of one.
fn alone(value: &Value) -> &Value {
    match value {
        Value::Array(items) => items.first().unwrap_or(value),
        other => other,
    }
}

fn first<'a>(document: &'a Value, name: &str) -> Option<&'a Value> {
    document.get(name).map(alone).filter(|value| !value.is_null() && !value.is_array())
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
    /// How many may still be taken for the function that is read.
    left: Cell<usize>,
}

/// Whether a name or a choice is short and has nothing in it that does not show.
fn is_plain(words: &str) -> bool {
    !words.is_empty() && harmless(words, LONGEST_NAME) == words
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
        Self { by_name: types, left: Cell::new(MOST_TYPES) }
    }

    /// The JSON schema of a type. What refers to itself, or to what is not there, is any value.
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
                    .take(MOST_MEMBERS)
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
        let most = MOST_MEMBERS.min(self.left.get());
        let choices: Vec<_> =
            list(kind, "enumValues").filter(is_choice).take(most).cloned().collect();
        self.left.set(self.left.get() - choices.len());
        if let (Some(schema), false) = (schema.as_object_mut(), choices.is_empty()) {
            schema.insert("enum".into(), choices.into());
        }
        schema
    }

    fn object(&self, kind: &Value, depth: usize) -> Value {
        let mut properties = Map::new();
        for one in list(kind, "properties").take(MOST_MEMBERS) {
            let Some(name) = text(one, "name").filter(|name| is_plain(name)) else { continue };
            if self.left.get() == 0 {
                break;
            }
            let of = first(one, "dataTypeMetadata");
            let schema = of.map_or_else(|| json!({}), |kind| self.schema(kind, depth - 1));
            properties.insert(name.to_owned(), schema);
        }
        let required = list(kind, "required").take(MOST_MEMBERS).filter_map(Value::as_str);
        let required: Vec<_> = required.filter(|name| properties.contains_key(*name)).collect();
        json!({ "type": "object", "properties": properties, "required": required })
    }
}

/// Reads what a call gave: the values by name.
///
/// # Errors
/// The phone's words, where they are no result.
pub(super) fn answer(said: &str, tool: &AppTool) -> Result<Map<String, Value>, String> {
    let Some(start) = said.find('{').filter(|_| said.len() <= LARGEST) else {
        return Err(harmless(said, 300));
    };
    let mut values = serde_json::Deserializer::from_str(&said[start..]).into_iter::<Value>();
    let Some(Ok(Value::Object(mut result))) = values.next() else {
        return Err(harmless(said, 300));
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
