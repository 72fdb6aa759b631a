//! The app shown for an installed APK: its name and the activity's. None of its code runs, and the
//! screen says so.

use crate::app::{App, AppContext, DrawContext, Event};
use crate::packages::ComponentKind;
use crate::packages::{AppIcon, Manifest};
use crate::theme;
use crate::theme::{Colour, TextAppearance};
use crate::view::{View, class, column, row, text};
use crate::widgets::{badge, page};
use std::collections::BTreeMap;

/// An installed app.
#[derive(Debug, Clone)]
pub(crate) struct GenericApp {
    label: String,
    /// Activities with their own label.
    titles: BTreeMap<String, String>,
    fill: Colour,
}

impl GenericApp {
    pub(crate) fn of(manifest: &Manifest) -> Self {
        let declared = manifest.installation.iter().flat_map(|it| &it.declared.components);
        let titles = declared
            .filter(|it| it.class == ComponentKind::Activity)
            .filter_map(|it| Some((it.name.clone(), it.label.clone()?)))
            .collect();
        Self { label: manifest.label.clone(), titles, fill: manifest.icon.fill }
    }
}

impl App for GenericApp {
    fn view(&self, env: &DrawContext<'_>) -> View {
        let title = self.titles.get(env.activity).unwrap_or(&self.label);
        let bar = row([text(title, theme::TITLE_LARGE.lines(1)).id("title")])
            .pad_xy(16.0, 14.0)
            .fill_width()
            .id("action_bar");
        let name = env.activity.rsplit('.').next().unwrap_or(env.activity);
        let middle = column([
            letter(&self.label, 72.0, self.fill).hide_from_accessibility(),
            text(name, theme::TITLE.centered()).id("activity"),
            text(
                "None of this app's code runs on the virtual phone",
                theme::BODY.quiet().centered(),
            )
            .id("note"),
        ])
        .align_center()
        .justify_center()
        .gap(16.0)
        .pad_each(24.0, 24.0, 24.0, env.insets.1 + 24.0)
        .fill_width()
        .grow();
        page([bar, middle], env)
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        if event == Event::Back {
            context.finish();
        }
    }
}

/// An app's icon: its own symbol, or the first letter of its name.
pub(crate) fn sign(app: &Manifest, size: f32) -> View {
    let AppIcon { symbol, fill, ink } = app.icon;
    match app.installation {
        Some(_) => letter(&app.label, size, fill),
        None => badge(symbol, size, fill, ink),
    }
}

fn letter(label: &str, size: f32, fill: Colour) -> View {
    let first = label.chars().find(|c| c.is_alphanumeric()).unwrap_or('?');
    let first: String = first.to_uppercase().collect();
    let (height, line) = ((size * 0.5).round(), (size * 0.6).round());
    let style =
        TextAppearance { size: height, line, ..theme::HEADLINE.colour(theme::WHITE).centered() };
    row([text(first, style).hide_from_accessibility()])
        .class(class::IMAGE)
        .size(size, size)
        .justify_center()
        .fill(fill)
        .radius(size / 2.0)
}
