//! What apps offer, for clients whose list of tools does not change: told page by page, called by name.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_device::AppId;

use super::{Reply, given, odd};
use crate::action::{Action, AppCall, AppTool, AppTools, Complaint, Outcome, Parameter, Trusted};
use crate::surface::bridged::{answered, clean};

/// How much of an app's words is told, in characters: of a name, of a sentence.
const LONGEST_NAME: usize = 120;
const LONGEST_SENTENCE: usize = 300;
/// So many bytes a page has at most, and one row at least.
const PAGE: usize = 16_000;
/// So many rules that an app breaks are told, so many values of a tool, and so long may a schema of its own be.
const MOST_COMPLAINTS: usize = 10;
const MOST_VALUES: usize = 32;
const LARGEST_SCHEMA: usize = 4_000;

#[derive(Deserialize)]
pub(super) struct Wanted {
    bundle_id: Option<String>,
    offset: Option<usize>,
}

pub(super) fn list(_: &Wanted) -> Result<Action, String> {
    Ok(Action::ListAppTools { no_older_than: Duration::ZERO })
}

/// Rows are tools, in their apps; an app without any counts as one.
pub(super) fn listed(wanted: &Wanted, outcome: Outcome) -> Reply {
    let Outcome::AppTools(catalog) = outcome else { return odd(&outcome) };
    let app = given(wanted.bundle_id.as_ref());
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
    let (mut told, mut bytes, mut next) = (Vec::<Value>::new(), 0, None);
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
        told.extend(head);
        let tools = told.last_mut().and_then(|app| app["tools"].as_array_mut());
        if let Some(tools) = tools {
            tools.extend(row);
        }
    }
    Reply::json(json!({ "apps": told, "total": rows.len(), "next": next }))
}

/// An app, without its tools.
fn head(app: &AppTools) -> Value {
    let AppTools { app: id, by, name, description, version, trusted, complaints, .. } = app;
    let mut head = json!({
        "bundle_id": clean(&id.0, LONGEST_NAME),
        "by": by.name(),
        "name": clean(name, LONGEST_NAME),
        "version": version,
        "trust": trusted.name(),
    });
    if !description.is_empty() {
        head["description"] = clean(description, LONGEST_SENTENCE).into();
    }
    if let Trusted::Changed(what) = trusted {
        head["changed"] = clean(what, LONGEST_SENTENCE).into();
    }
    let complaint = |Complaint { rule, fatal, says }: &Complaint| json!({ "rule": clean(rule, LONGEST_NAME), "fatal": fatal, "says": clean(says, LONGEST_SENTENCE) });
    if !complaints.is_empty() {
        let told: Vec<Value> = complaints.iter().take(MOST_COMPLAINTS).map(complaint).collect();
        head["complaints"] = told.into();
        if complaints.len() > MOST_COMPLAINTS {
            head["more_complaints"] = (complaints.len() - MOST_COMPLAINTS).into();
        }
    }
    head["tools"] = json!([]);
    head
}

fn row(tool: &AppTool) -> Value {
    let mut row = json!({
        "tool": clean(&tool.id, LONGEST_SENTENCE),
        "description": clean(&tool.description, LONGEST_SENTENCE),
    });
    if let Some(service) = &tool.service {
        row["service"] = clean(&service.class, LONGEST_SENTENCE).into();
    }
    let own = tool.schema.as_ref().map(|schema| Value::from(schema.clone()));
    match own.filter(|schema| schema.to_string().len() <= LARGEST_SCHEMA) {
        Some(own) => row["schema"] = cleaned(own),
        None => row["takes"] = values(&tool.input, true),
    }
    row["gives"] = values(&tool.output, false);
    row
}

/// A schema of an app, with its words cleaned; its names stay, since a call has to use them.
fn cleaned(schema: Value) -> Value {
    match schema {
        Value::Object(all) => {
            let words = |(name, value): (String, Value)| match value {
                Value::String(words) if name == "description" || name == "title" => {
                    (name, clean(&words, LONGEST_SENTENCE).into())
                }
                value => (name, cleaned(value)),
            };
            all.into_iter().map(words).collect::<Map<_, _>>().into()
        }
        Value::Array(all) => all.into_iter().map(cleaned).collect(),
        other => other,
    }
}

fn values(all: &[Parameter], are_taken: bool) -> Value {
    let value = |Parameter { name, kind, required, description }: &Parameter| {
        let mut value = json!({ "name": clean(name, LONGEST_NAME), "type": kind });
        if are_taken {
            value["required"] = (*required).into();
        }
        if !description.is_empty() {
            value["description"] = clean(description, LONGEST_NAME).into();
        }
        value
    };
    all.iter().take(MOST_VALUES).map(value).collect()
}

#[derive(Deserialize)]
pub(super) struct Called {
    bundle_id: String,
    tool: String,
    arguments: Option<Map<String, Value>>,
    service: Option<String>,
    send_only: Option<bool>,
}

pub(super) fn call(called: &Called) -> Result<Action, String> {
    let app = called.bundle_id.trim();
    if app.is_empty() || called.tool.is_empty() {
        return Err("`bundle_id` and `tool` must be told; list the apps' tools".into());
    }
    Ok(Action::CallAppTool(AppCall {
        app: AppId(app.into()),
        service: given(called.service.as_ref()),
        tool: called.tool.clone(),
        arguments: called.arguments.clone().unwrap_or_default(),
        send_only: called.send_only.unwrap_or_default(),
    }))
}

pub(super) fn called(_: &Called, outcome: Outcome) -> Reply {
    match outcome {
        Outcome::Answered(told) => answered(told),
        other => odd(&other),
    }
}

#[cfg(test)]
mod tests;
