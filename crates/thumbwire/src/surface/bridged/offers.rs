//! What the apps on some phones offer, as one list: by name, with all that a model is told.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value};
use thumbwire_device::AppId;

use super::names::{Key, names};
use super::schema::{Taken, taken};
use super::words::{clean, fence};
use crate::action::{AppCall, AppTool, AppTools, By, Catalog, Trusted};

/// So many tools of one app become tools, and so many of all, of so many bytes. A model reads all of them before each call; clients have
/// their own bounds (OpenAI's API takes 128 functions). What is left out can be called by name.
const MOST_OF_AN_APP: usize = 32;
const MOST: usize = 96;
const MOST_BYTES: usize = 64_000;
/// How much is told of what a tool does, in characters, and of what it gives.
const LONGEST_DESCRIPTION: usize = 300;
const LONGEST_GIFTS: usize = 120;

/// Something that an app offers on some phones.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// What it is called by.
    pub name: String,
    /// The app.
    pub app: AppId,
    /// By which protocol.
    pub by: By,
    /// The service's full class name; `None` where the platform finds it.
    pub service: Option<String>,
    /// The tool's id in the app.
    pub id: String,
    /// What it does: the app's words, cleaned and cut, with nothing of ours around them.
    pub words: String,
    /// The phones that have it, in their order.
    pub phones: Vec<String>,
    taken: Taken,
}

/// What apps offer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offers {
    /// By app, in the app's order.
    pub all: Vec<Offer>,
    /// What is offered and stands not among them, with the reason, in words.
    pub left_out: Vec<String>,
}

/// What the apps on these phones offer: what may be called, and is small enough to be told. The same tool on several phones is one; of
/// several versions the newest tells what it takes, and each phone decides for itself whether a call is right.
pub fn offers(phones: &[(String, Arc<Catalog>)]) -> Offers {
    let mut found: BTreeMap<Key, Found<'_>> = BTreeMap::new();
    let mut left_out = Vec::new();
    for (phone, catalog) in phones {
        let trusted = catalog.apps.iter().filter(|app| app.trusted == Trusted::Yes);
        for app in trusted {
            if app.tools.len() > MOST_OF_AN_APP {
                let more = app.tools.len() - MOST_OF_AN_APP;
                left_out.push(format!("{more} tools of {} on {phone}: it has too many", app.app));
            }
            for (place, tool) in app.tools.iter().take(MOST_OF_AN_APP).enumerate() {
                let now = Found { app, place, tool, phones: Vec::new() };
                let found = found.entry(key(app, tool)).or_insert_with(|| now.clone());
                if app.version > found.app.version {
                    *found = Found { phones: std::mem::take(&mut found.phones), ..now };
                }
                if !found.phones.contains(phone) {
                    found.phones.push(phone.clone());
                }
            }
        }
    }
    let mut found: Vec<(Key, Found<'_>)> = found.into_iter().collect();
    let order = |(key, found): &(Key, Found<'_>)| (key.app.clone(), key.by, found.place);
    found.sort_by_key(order);
    let (keys, found): (Vec<Key>, Vec<Found<'_>>) = found.into_iter().unzip();
    // Also of those that are left out below, so that a name does not hang on somebody else's size.
    let named = names(&keys).into_iter().zip(keys).zip(found);
    let (mut all, mut bytes) = (Vec::new(), 0);
    for ((name, key), found) in named {
        let offer = match taken(found.tool) {
            Ok(taken) => Offer {
                name,
                app: found.app.app.clone(),
                by: found.app.by,
                service: found.tool.service.as_ref().map(|service| service.class.clone()),
                id: key.id,
                words: described(found.tool),
                phones: found.phones,
                taken,
            },
            Err(why) => {
                left_out.push(format!("{name}: {why}"));
                continue;
            }
        };
        let size = offer.name.len()
            + offer.description().len()
            + Value::from(offer.taken.schema.clone()).to_string().len();
        if all.len() == MOST || bytes + size > MOST_BYTES {
            left_out.push(format!("{}: there are too many", offer.name));
            continue;
        }
        bytes += size;
        all.push(offer);
    }
    Offers { all, left_out }
}

impl Offer {
    /// What it does: the app's words behind a sentence that says so.
    pub fn description(&self) -> String {
        fence(&self.app.0, &self.words)
    }

    /// The JSON schema of its arguments, as they are published.
    pub fn schema(&self) -> &Map<String, Value> {
        &self.taken.schema
    }

    /// The call that these arguments are, which fit its schema.
    pub fn call(&self, arguments: Map<String, Value>) -> AppCall {
        AppCall {
            app: self.app.clone(),
            service: self.service.clone(),
            tool: self.id.clone(),
            arguments: self.taken.originals(arguments),
            send_only: false,
        }
    }
}

/// A tool as it was met on a phone, and all phones where it was.
#[derive(Clone)]
struct Found<'a> {
    app: &'a AppTools,
    place: usize,
    tool: &'a AppTool,
    phones: Vec<String>,
}

fn key(app: &AppTools, tool: &AppTool) -> Key {
    let service = tool.service.as_ref().map(|service| service.class.clone());
    Key {
        app: app.app.0.clone(),
        by: app.by.name(),
        service: service.unwrap_or_default(),
        id: tool.id.clone(),
    }
}

/// What the app says that it does, and what it gives.
fn described(tool: &AppTool) -> String {
    let mut words = clean(&tool.description, LONGEST_DESCRIPTION);
    let mut gifts = String::new();
    for gift in tool.output.iter().take(LONGEST_GIFTS) {
        let comma = if gifts.is_empty() { "" } else { ", " };
        let _ = write!(gifts, "{comma}{} ({})", clean(&gift.name, LONGEST_GIFTS), gift.kind);
    }
    if !gifts.is_empty() {
        let end = if words.is_empty() || words.ends_with(['.', '!', '?']) { "" } else { "." };
        let gap = if words.is_empty() { "" } else { " " };
        let _ = write!(words, "{end}{gap}Gives {}", clean(&gifts, LONGEST_GIFTS));
    }
    words
}
