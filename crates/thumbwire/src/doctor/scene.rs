//! Screens to try tools on: apps that exist on any phone, and places in them where a tap, a swipe
//! or a text does no harm.
//!
//! Start with [`Scenes`]. Each kind of screen is searched once among the installed apps and opened
//! again when it is needed: [`targets`] knows what may be tapped and scrolled, [`fields`] where
//! text may be typed.

mod fields;
mod targets;

use std::sync::Arc;

use thumbwire_core::action::{Target, TextInput, request};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_device::{AppId, Key, Rect};

use super::answer::{Problem, skipped};
use super::look::Phone;
pub(super) use targets::plain_apps;

/// The screens that were found.
#[derive(Default)]
pub(super) struct Scenes {
    tap: Option<targets::TapApp>,
    scroll: Option<AppId>,
    field: Option<fields::FieldApp>,
    /// Whether the next swipe goes back, because the last one moved the content.
    backwards: bool,
    /// Whether a swipe ended without moving the content, so that nobody knows where it is.
    lost: bool,
}

/// A node of a snapshot that was just taken.
pub(super) struct Spot {
    pub(super) screen: Arc<Snapshot>,
    pub(super) node: usize,
}

/// What to swipe, and which way.
pub(super) struct ScrollSpot {
    pub(super) screen: Arc<Snapshot>,
    pub(super) area: Rect,
    pub(super) horizontal: bool,
    /// Whether the content before the present one is to be shown.
    pub(super) backwards: bool,
}

impl Scenes {
    /// A place that may be tapped, on the screen now. The app is chosen at the first call.
    pub(super) async fn tap_spot(
        &mut self,
        phone: Phone<'_>,
        apps: &[AppId],
        home: &AppId,
    ) -> Result<Spot, Problem> {
        if let Some(app) = &self.tap {
            return app.spot(phone).await;
        }
        for app in targets::tap_apps(apps, home) {
            if let Ok(spot) = app.spot(phone).await {
                self.tap = Some(app);
                return Ok(spot);
            }
        }
        skipped("no known app with something harmless to tap: Settings, Calculator or the launcher")
    }

    /// Something that scrolls, on the screen now.
    pub(super) async fn scroll_spot(
        &mut self,
        phone: Phone<'_>,
        apps: &[AppId],
    ) -> Result<ScrollSpot, Problem> {
        let chosen = self.scroll.clone();
        let candidates = chosen.map_or_else(|| targets::scroll_apps(apps), |app| vec![app]);
        for app in candidates {
            if std::mem::take(&mut self.lost) {
                let _ = phone.act(request::Stop(app.clone())).await;
            }
            let in_front = match self.scroll.is_some() {
                true => phone.front().await.ok(),
                false => None,
            };
            if in_front.as_ref() != Some(&app) {
                self.backwards = false;
                if phone.launch(&app).await.is_err() {
                    continue;
                }
            }
            let screen = phone.screen().await?;
            let Some(node) = targets::scrollable(&screen) else { continue };
            self.scroll = Some(app);
            self.lost = true;
            return Ok(ScrollSpot {
                area: screen.shown(node),
                horizontal: targets::is_horizontal(&screen.tree.nodes[node].class),
                backwards: self.backwards,
                screen,
            });
        }
        skipped("nothing scrolls in Settings, Contacts, Calculator, Clock and Messaging")
    }

    /// Remembers that the content moved, so that the next swipe goes the other way and has
    /// somewhere to go.
    pub(super) fn scrolled(&mut self) {
        self.backwards = !self.backwards;
        self.lost = false;
    }

    /// A text field that text may be typed into, on the screen now.
    pub(super) async fn field_spot(
        &mut self,
        phone: Phone<'_>,
        apps: &[AppId],
        home: &AppId,
    ) -> Result<Spot, Problem> {
        if let Some(app) = &self.field {
            return app.spot(phone).await;
        }
        for app in fields::field_apps(apps, home) {
            if let Ok(spot) = app.spot(phone).await {
                self.field = Some(app);
                return Ok(spot);
            }
        }
        skipped(
            "no text field found: searched Settings, Contacts, Messaging and the launcher for a search field",
        )
    }

    /// Clears the field that was typed into, if there was one.
    pub(super) async fn clear_field(&mut self, phone: Phone<'_>) -> Result<(), Problem> {
        let Some(app) = self.field.take() else { return Ok(()) };
        let Spot { screen, node } = app.spot(phone).await?;
        let into = screen.ref_of(node).map(Target::listed);
        let _ =
            phone.act(request::Type(TextInput { into, clear: true, ..TextInput::of("") })).await;
        let _ = phone.act(request::Press(Key::Back)).await;
        Ok(())
    }
}
