//! Tools of apps for clients with a fixed tool list: listed page by page, called by name.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::apps::app_id;
use super::{Reply, non_empty};
use crate::action::{
    AppTool, AppToolCall, AppToolFinding, AppToolResult, AppTools, Catalog, Parameter, TrustStatus,
    request,
};
use crate::toolset::app_tools::{answered, sanitize};

/// The maximum length of an app's names and sentences, in characters.
const MAX_NAME: usize = 120;
const MAX_SENTENCE: usize = 300;
/// The maximum size of a page in bytes; it has at least one row.
const PAGE: usize = 16_000;
/// The maximum number of findings per app, of values per tool, and the maximum size of a tool's own
/// schema in bytes.
const MAX_COMPLAINTS: usize = 10;
const MAX_VALUES: usize = 32;
const MAX_SCHEMA: usize = 4_000;

#[derive(Deserialize)]
pub(super) struct ListAppToolsArgs {
    bundle_id: Option<String>,
    offset: Option<usize>,
}

pub(super) fn parse_list_app_tools(_: &ListAppToolsArgs) -> Result<request::ListAppTools, String> {
    Ok(request::ListAppTools { max_age: Duration::ZERO })
}

/// A row is a tool; an app without tools counts as one row.
pub(super) fn render_list_app_tools(wanted: &ListAppToolsArgs, catalog: Arc<Catalog>) -> Reply {
    let app = non_empty(wanted.bundle_id.as_ref());
    let is_wanted =
        |tools: &&std::sync::Arc<AppTools>| app.as_ref().is_none_or(|app| tools.app.0 == *app);
    let apps = catalog.apps.iter().filter(is_wanted);
    let rows: Vec<(&AppTools, Option<&AppTool>)> = apps
        .flat_map(|app| {
            let none = app.tools.is_empty().then_some((&**app, None));
            app.tools.iter().map(|tool| (&**app, Some(tool))).chain(none)
        })
        .collect();
    let from = wanted.offset.unwrap_or_default().min(rows.len());
    let (mut listed, mut bytes, mut next) = (Vec::<Value>::new(), 0, None);
    let mut last: Option<&AppTools> = None;
    for (place, (app, tool)) in rows.iter().enumerate().skip(from) {
        let same = last.is_some_and(|last| std::ptr::eq(last, *app));
        let head = (!same).then(|| head(app));
        let row = tool.map(row);
        let size = |value: &Option<Value>| value.as_ref().map_or(0, |it| it.to_string().len());
        let more = size(&head) + size(&row);
        if bytes > 0 && bytes + more > PAGE {
            next = Some(place);
            break;
        }
        bytes += more;
        last = Some(app);
        listed.extend(head);
        let tools = listed.last_mut().and_then(|app| app["tools"].as_array_mut());
        if let Some(tools) = tools {
            tools.extend(row);
        }
    }
    Reply::json(json!({ "apps": listed, "total": rows.len(), "next": next }))
}

/// An app without its tools.
fn head(app: &AppTools) -> Value {
    let AppTools { app: id, by, name, description, version, trusted, complaints, .. } = app;
    let mut head = json!({
        "bundle_id": sanitize(&id.0, MAX_NAME),
        "by": by.name(),
        "name": sanitize(name, MAX_NAME),
        "version": version,
        "trust": trusted.name(),
    });
    if !description.is_empty() {
        head["description"] = sanitize(description, MAX_SENTENCE).into();
    }
    if let TrustStatus::Changed(what) = trusted {
        head["changed"] = sanitize(what, MAX_SENTENCE).into();
    }
    let complaint = |AppToolFinding { rule, fatal, message }: &AppToolFinding| json!({ "rule": sanitize(rule, MAX_NAME), "fatal": fatal, "says": sanitize(message, MAX_SENTENCE) });
    if !complaints.is_empty() {
        let out: Vec<Value> = complaints.iter().take(MAX_COMPLAINTS).map(complaint).collect();
        head["complaints"] = out.into();
        if complaints.len() > MAX_COMPLAINTS {
            head["more_complaints"] = (complaints.len() - MAX_COMPLAINTS).into();
        }
    }
    head["tools"] = json!([]);
    head
}

fn row(tool: &AppTool) -> Value {
    let mut row = json!({
        "tool": sanitize(&tool.id, MAX_SENTENCE),
        "description": sanitize(&tool.description, MAX_SENTENCE),
    });
    if !tool.version.is_empty() {
        row["version"] = sanitize(&tool.version, MAX_NAME).into();
    }
    if let Some(service) = &tool.service {
        row["service"] = sanitize(&service.class, MAX_SENTENCE).into();
    }
    let own = tool.schema.as_ref().map(|schema| Value::from(schema.clone()));
    match own.filter(|schema| schema.to_string().len() <= MAX_SCHEMA) {
        Some(own) => row["schema"] = cleaned(own),
        None => row["takes"] = values(&tool.input, true),
    }
    row["gives"] = values(&tool.output, false);
    row
}

/// Sanitizes the descriptions in an app's schema; the names stay, since calls use them.
fn cleaned(schema: Value) -> Value {
    match schema {
        Value::Object(all) => {
            let text = |(name, value): (String, Value)| match value {
                Value::String(words) if name == "description" || name == "title" => {
                    (name, sanitize(&words, MAX_SENTENCE).into())
                }
                value => (name, cleaned(value)),
            };
            all.into_iter().map(text).collect::<Map<_, _>>().into()
        }
        Value::Array(all) => all.into_iter().map(cleaned).collect(),
        other => other,
    }
}

fn values(all: &[Parameter], are_taken: bool) -> Value {
    let value = |Parameter { name, kind, required, description }: &Parameter| {
        let mut value = json!({ "name": sanitize(name, MAX_NAME), "type": kind });
        if are_taken {
            value["required"] = (*required).into();
        }
        if !description.is_empty() {
            value["description"] = sanitize(description, MAX_NAME).into();
        }
        value
    };
    all.iter().take(MAX_VALUES).map(value).collect()
}

#[derive(Deserialize)]
pub(super) struct CallAppToolArgs {
    bundle_id: String,
    tool: String,
    arguments: Option<Map<String, Value>>,
    service: Option<String>,
    send_only: Option<bool>,
}

pub(super) fn parse_call_app_tool(
    called: &CallAppToolArgs,
) -> Result<request::CallAppTool, String> {
    let app = called.bundle_id.trim();
    if app.is_empty() || called.tool.is_empty() {
        return Err("`bundle_id` and `tool` are required; mobile_list_app_tools lists them".into());
    }
    Ok(request::CallAppTool(AppToolCall {
        app: app_id(app)?,
        service: non_empty(called.service.as_ref()),
        tool: called.tool.clone(),
        arguments: called.arguments.clone().unwrap_or_default(),
        send_only: called.send_only.unwrap_or_default(),
    }))
}

pub(super) fn render_call_app_tool(_: &CallAppToolArgs, result: AppToolResult) -> Reply {
    answered(result)
}

#[cfg(test)]
mod tests;
