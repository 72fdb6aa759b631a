//! Where text may be typed: search fields, and a message without a recipient.
//!
//! A search field keeps nothing. A form for a new contact is never used: old Androids store it when
//! it is left.

use thumbwire_core::action::{Target, request};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_device::text_field::is_text_field;
use thumbwire_device::{AppId, Key};

use super::Spot;
use super::targets::field_packages;
use crate::doctor::answer::{Problem, failed};
use crate::doctor::look::Phone;

/// An app with a text field.
pub(super) struct FieldApp {
    app: AppId,
    is_home: bool,
}

/// How buttons and rows that open a field begin, in lower case, the best first.
const OPENERS: [&str; 5] = ["search", "find contacts", "new message", "start chat", "compose"];

/// The apps to look for a text field in.
pub(super) fn field_apps(apps: &[AppId], home: &AppId) -> Vec<FieldApp> {
    let packages = field_packages(apps).into_iter();
    let mut found: Vec<FieldApp> = packages.map(|app| FieldApp { app, is_home: false }).collect();
    if !home.0.is_empty() {
        found.push(FieldApp { app: home.clone(), is_home: true });
    }
    found
}

impl FieldApp {
    /// The field, opened if it is not on the screen.
    pub(super) async fn spot(&self, phone: Phone<'_>) -> Result<Spot, Problem> {
        let screen = phone.screen().await?;
        if let Some(node) = field(&screen).filter(|&node| self.has(&screen, node)) {
            return Ok(Spot { screen, node });
        }
        if self.is_home {
            let _ = phone.act(request::Press(Key::Home)).await;
            phone.pause().await;
        } else {
            let _ = phone.act(request::Stop(self.app.clone())).await;
            phone.launch(&self.app).await?;
        }
        let mut screen = phone.screen().await?;
        if field(&screen).is_none() {
            let Some(opener) = opener(&screen) else { return failed("no search button") };
            let Some(id) = screen.ref_of(opener) else { return failed("no search button") };
            if let Err(failure) = phone.act(request::TapElement(Target::listed(id))).await {
                return failed(format!("cannot open the search field: {}", failure.cause));
            }
            screen = match phone.screen_other_than(&screen).await? {
                Some(screen) => screen,
                None => return failed("the search field does not open"),
            };
        }
        match field(&screen) {
            Some(node) => Ok(Spot { screen, node }),
            None => failed("no text field"),
        }
    }

    /// Whether the node is of this app: another one's field may hold something.
    fn has(&self, screen: &Snapshot, node: usize) -> bool {
        *screen.tree.nodes[node].package == *self.app.0
    }
}

/// The field to type into: the focused one, else the last, which in a message is the text and not
/// the recipient.
fn field(screen: &Snapshot) -> Option<usize> {
    let nodes = &screen.tree.nodes;
    let fits = |&node: &usize| {
        let flags = nodes[node].flags;
        is_text_field(&nodes[node])
            && flags.enabled
            && !flags.password
            && screen.ref_of(node).is_some()
    };
    let all: Vec<usize> = (0..nodes.len()).filter(fits).collect();
    let focused = all.iter().copied().find(|&node| nodes[node].flags.focused);
    focused.or_else(|| all.last().copied())
}

/// The element that opens a field.
fn opener(screen: &Snapshot) -> Option<usize> {
    let begins = |node: usize, word: &str| {
        let node = &screen.tree.nodes[node];
        [&node.text, &node.description].iter().any(|name| name.to_lowercase().starts_with(word))
    };
    OPENERS.iter().find_map(|word| {
        let with = screen.refs.iter().map(|element| element.node).find(|&node| begins(node, word));
        with.filter(|&node| {
            let receiver = thumbwire_device::find::tap_receiver(&screen.tree, node);
            screen.tree.nodes[receiver].flags.clickable
        })
    })
}
