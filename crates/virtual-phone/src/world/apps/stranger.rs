//! What the phone shows of an app that came as an APK: its name and the activity's. None of its code runs, and the screen says so.

use crate::world::app::{App, AppIcon, Env, Event, Manifest, Reach};
use crate::world::icons::Icon;
use crate::world::packages::Class;
use crate::world::theme::{self, Colour, Type};
use crate::world::view::{View, class, column, row, text};
use crate::world::widgets::{badge, page};
use std::collections::BTreeMap;

/// An installed app.
#[derive(Debug, Clone)]
pub(crate) struct Stranger {
    label: String,
    /// Activities that have a label of their own.
    titles: BTreeMap<String, String>,
    fill: Colour,
}

/// Grounds that white letters can be read on.
const FILLS: [u32; 8] =
    [0x0B57D0, 0x146C2E, 0xB3261E, 0x7B1FA2, 0x00639B, 0x8C5000, 0x5D4037, 0x455A64];

impl Stranger {
    pub(crate) fn of(manifest: &Manifest) -> Self {
        let declared = manifest.installation.iter().flat_map(|it| &it.declared.components);
        let titles = declared
            .filter(|it| it.class == Class::Activity)
            .filter_map(|it| Some((it.name.clone(), it.label.clone()?)))
            .collect();
        Self { label: manifest.label.clone(), titles, fill: manifest.icon.fill }
    }

    /// A colour that is always the same for one package. The symbol stands where there is no room for a letter.
    pub(crate) fn icon(package: &str) -> AppIcon {
        let sum =
            package.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31) + usize::from(byte));
        AppIcon {
            symbol: Icon::Apps,
            fill: Colour::hex(FILLS[sum % FILLS.len()]),
            ink: theme::WHITE,
        }
    }
}

impl App for Stranger {
    fn manifest() -> Manifest {
        // Nobody asks: its manifest comes with the APK.
        Manifest::of_installation(crate::world::packages::Installation::unknown())
    }

    fn new(_seed: u64) -> Self {
        Self { label: String::new(), titles: BTreeMap::new(), fill: Self::icon("").fill }
    }

    fn view(&self, env: &Env<'_>) -> View {
        let title = self.titles.get(env.activity).unwrap_or(&self.label);
        let bar = row([text(title, theme::TITLE_LARGE.lines(1)).id("title")])
            .pad_xy(16.0, 14.0)
            .wide()
            .id("action_bar");
        let name = env.activity.rsplit('.').next().unwrap_or(env.activity);
        let middle = column([
            letter(&self.label, 72.0, self.fill).unlisted(),
            text(name, theme::TITLE.centered()).id("activity"),
            text(
                "None of this app's code runs on the virtual phone",
                theme::BODY.quiet().centered(),
            )
            .id("note"),
        ])
        .align_center()
        .pack_center()
        .gap(16.0)
        .pad_each(24.0, 24.0, 24.0, env.insets.1 + 24.0)
        .wide()
        .grow();
        page([bar, middle], env)
    }

    fn on(&mut self, event: Event, reach: &mut Reach<'_>) {
        if event == Event::Back {
            reach.finish();
        }
    }
}

/// The sign of an app: the symbol that it came with, or the first letter of its name.
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
    let style = Type { size: height, line, ..theme::HEADLINE.colour(theme::WHITE).centered() };
    row([text(first, style).unlisted()])
        .class(class::IMAGE)
        .size(size, size)
        .pack_center()
        .fill(fill)
        .radius(size / 2.0)
}
