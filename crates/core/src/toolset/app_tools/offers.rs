//! Merges the app tools of several phones into one list, with names and descriptions for the model.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value};
use thumbwire_device::AppId;

use super::names::{ToolIdentity, names};
use super::sanitize::{fence, sanitize};
use super::schema::{PublishedSchema, publish};
use crate::action::{AppTool, AppToolCall, AppToolProtocol, AppTools, Catalog, TrustStatus};

/// The maximum number of tools per app, in total, and their total size in bytes. A model reads all
/// of them before each call; clients have their own limits (OpenAI's API accepts 128 functions).
/// Omitted tools can be called with `mobile_call_app_tool`.
const MAX_OF_AN_APP: usize = 32;
const MAX_COUNT: usize = 96;
const MAX_BYTES: usize = 64_000;
/// The maximum length of a description, and of the list of outputs, in characters.
const MAX_DESCRIPTION: usize = 300;
const MAX_OUTPUTS: usize = 120;

/// A tool that an app offers on some phones.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// Its MCP name.
    pub name: String,
    /// The app.
    pub app: AppId,
    /// The protocol that offers it.
    pub by: AppToolProtocol,
    /// The service's full class name; `None` if the platform finds it.
    pub service: Option<String>,
    /// The tool's id in the app.
    pub id: String,
    /// The app's description, sanitized and truncated, without our introduction.
    pub text: String,
    /// The phones that have it, in order.
    pub phones: Vec<String>,
    taken: PublishedSchema,
}

/// The tools that apps offer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offers {
    /// Grouped by app, in the app's order.
    pub all: Vec<Offer>,
    /// Omitted tools with the reason, as messages.
    pub left_out: Vec<String>,
}

/// The callable tools of the apps on these phones, within the size limits. The same tool on several
/// phones is one entry; the newest version determines its schema, and each phone validates its own
/// calls.
pub fn offers(phones: &[(String, Arc<Catalog>)]) -> Offers {
    let mut found: BTreeMap<ToolIdentity, FoundTool<'_>> = BTreeMap::new();
    let mut left_out = Vec::new();
    for (phone, catalog) in phones {
        let trusted = catalog.apps.iter().filter(|app| app.trusted == TrustStatus::Yes);
        for app in trusted {
            if app.tools.len() > MAX_OF_AN_APP {
                let more = app.tools.len() - MAX_OF_AN_APP;
                left_out
                    .push(format!("{more} tools of {} on {phone}: the app has too many", app.app));
            }
            for (place, tool) in app.tools.iter().take(MAX_OF_AN_APP).enumerate() {
                let now = FoundTool { app, place, tool, phones: Vec::new() };
                let found = found.entry(key(app, tool)).or_insert_with(|| now.clone());
                if app.version > found.app.version {
                    *found = FoundTool { phones: std::mem::take(&mut found.phones), ..now };
                }
                if !found.phones.contains(phone) {
                    found.phones.push(phone.clone());
                }
            }
        }
    }
    let mut found: Vec<(ToolIdentity, FoundTool<'_>)> = found.into_iter().collect();
    let order =
        |(key, found): &(ToolIdentity, FoundTool<'_>)| (key.app.clone(), key.by, found.place);
    found.sort_by_key(order);
    let (keys, found): (Vec<ToolIdentity>, Vec<FoundTool<'_>>) = found.into_iter().unzip();
    // Includes those omitted below, so that a name does not depend on the size of other tools.
    let named = names(&keys).into_iter().zip(keys).zip(found);
    let (mut all, mut bytes) = (Vec::new(), 0);
    for ((name, key), found) in named {
        let offer = match publish(found.tool) {
            Ok(taken) => Offer {
                name,
                app: found.app.app.clone(),
                by: found.app.by,
                service: found.tool.service.as_ref().map(|service| service.class.clone()),
                id: key.id,
                text: described(found.tool),
                phones: found.phones,
                taken,
            },
            Err(reason) => {
                left_out.push(format!("{name}: {reason}"));
                continue;
            }
        };
        let size = offer.name.len()
            + offer.description().len()
            + Value::from(offer.taken.schema.clone()).to_string().len();
        if all.len() == MAX_COUNT || bytes + size > MAX_BYTES {
            left_out.push(format!("{}: too many tools in total", offer.name));
            continue;
        }
        bytes += size;
        all.push(offer);
    }
    Offers { all, left_out }
}

impl Offer {
    /// The description for the model: the app's words, introduced as such.
    pub fn description(&self) -> String {
        fence(&self.app.0, &self.text)
    }

    /// The published JSON schema of its arguments.
    pub fn schema(&self) -> &Map<String, Value> {
        &self.taken.schema
    }

    /// The call with these arguments, which must be valid for the schema.
    pub fn call(&self, arguments: Map<String, Value>) -> AppToolCall {
        AppToolCall {
            app: self.app.clone(),
            service: self.service.clone(),
            tool: self.id.clone(),
            arguments: self.taken.originals(arguments),
            send_only: false,
        }
    }
}

/// A tool as found on a phone, and all phones that have it.
#[derive(Clone)]
struct FoundTool<'a> {
    app: &'a AppTools,
    place: usize,
    tool: &'a AppTool,
    phones: Vec<String>,
}

fn key(app: &AppTools, tool: &AppTool) -> ToolIdentity {
    let service = tool.service.as_ref().map(|service| service.class.clone());
    ToolIdentity {
        app: app.app.0.clone(),
        by: app.by.name(),
        service: service.unwrap_or_default(),
        id: tool.id.clone(),
    }
}

/// The app's description and the outputs.
fn described(tool: &AppTool) -> String {
    let mut text = sanitize(&tool.description, MAX_DESCRIPTION);
    let mut outputs = String::new();
    for output in tool.output.iter().take(MAX_OUTPUTS) {
        let comma = if outputs.is_empty() { "" } else { ", " };
        let _ = write!(outputs, "{comma}{} ({})", sanitize(&output.name, MAX_OUTPUTS), output.kind);
    }
    if !outputs.is_empty() {
        let end = if text.is_empty() || text.ends_with(['.', '!', '?']) { "" } else { "." };
        let gap = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{end}{gap}Returns {}", sanitize(&outputs, MAX_OUTPUTS));
    }
    text
}
