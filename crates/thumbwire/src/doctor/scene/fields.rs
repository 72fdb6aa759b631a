//! Where text may be typed: search fields, and a message without a recipient.
//!
//! A search field keeps nothing. A form for a new contact is never used: old Androids store it when
//! it is left.

use thumbwire_core::action::{Target, request};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_device::text_field::is_text_field;
use thumbwire_device::{AppId, Key};

use super::FieldSpot;
use super::targets::field_packages;
use crate::doctor::answer::{Problem, failed};
use crate::doctor::look::Eye;

/// An app with a text field.
pub(super) struct FieldApp {
    app: AppId,
    is_home: bool,
    /// What the field shows when it is empty.
    empty: String,
}

/// How buttons and rows that open a field begin, in lower case, the best first.
const OPENERS: [&str; 5] = ["search", "find contacts", "new message", "start chat", "compose"];

/// The apps to look for a text field in.
pub(super) fn field_apps(apps: &[AppId], home: &AppId) -> Vec<FieldApp> {
    let of = |app: AppId, is_home| FieldApp { app, is_home, empty: String::new() };
    let mut found: Vec<FieldApp> =
        field_packages(apps).into_iter().map(|app| of(app, false)).collect();
    if !home.0.is_empty() {
        found.push(of(home.clone(), true));
    }
    found
}

impl FieldApp {
    /// Opens the field for the first time and remembers what it shows when it is empty.
    pub(super) async fn open(&mut self, eye: Eye<'_>) -> Result<FieldSpot, Problem> {
        let spot = self.reach(eye).await?;
        self.empty = spot.screen.tree.nodes[spot.node].text.to_string();
        Ok(FieldSpot { empty: self.empty.clone(), ..spot })
    }

    /// The field, opened again if it is not on the screen.
    pub(super) async fn spot(&self, eye: Eye<'_>) -> Result<FieldSpot, Problem> {
        let screen = eye.screen().await?;
        match field(&screen) {
            Some(node) => Ok(FieldSpot { screen, node, empty: self.empty.clone() }),
            None => self.reach(eye).await,
        }
    }

    async fn reach(&self, eye: Eye<'_>) -> Result<FieldSpot, Problem> {
        if self.is_home {
            let _ = eye.act(request::Press(Key::Home)).await;
            eye.pause().await;
        } else {
            let _ = eye.act(request::Stop(self.app.clone())).await;
            eye.launch(&self.app).await?;
        }
        let mut screen = eye.screen().await?;
        if field(&screen).is_none() {
            let Some(opener) = opener(&screen) else { return failed("no search button") };
            let Some(id) = screen.ref_of(opener) else { return failed("no search button") };
            if let Err(failure) = eye.act(request::TapElement(Target::listed(id))).await {
                return failed(format!("cannot open the search field: {}", failure.cause));
            }
            screen = match eye.screen_other_than(&screen).await? {
                Some(screen) => screen,
                None => return failed("the search field does not open"),
            };
        }
        match field(&screen) {
            Some(node) => Ok(FieldSpot { screen, node, empty: self.empty.clone() }),
            None => failed("no text field"),
        }
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
