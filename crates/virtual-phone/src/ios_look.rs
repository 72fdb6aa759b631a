//! The look of iOS: redraws the views of apps and of the system in iOS's manner.
//!
//! Start with [`restyle`]. Apps describe their screens once, with the widgets of `widgets`, which
//! mark what they are ([`Role`]); here a toolbar becomes a navigation bar, a list of rows an inset
//! group, a dialog an alert. Colours are exchanged last, in what is painted ([`recolour`]), so that
//! the caret and hints have iOS's too. What Android lacks or has otherwise is drawn here in full:
//! status bar and home indicator, home screen, keyboard, lock screen.
//!
//! Text is set in Inter, which resembles Apple's San Francisco; that may not be shipped with other
//! products.

mod alert;
mod bars;
mod colours;
mod keyboard;
mod lists;
mod lock_screen;
mod springboard;
mod system;

pub(crate) use self::alert::{alert, alert_button, is_alert};
pub(crate) use self::colours::recolour;
pub(crate) use self::keyboard::{height as keyboard_height, view as keyboard};
pub(crate) use self::lock_screen::{lock_screen, passcode_page};
pub(crate) use self::springboard::springboard;
pub(crate) use self::system::{home_indicator, status};

use crate::platform::Role;
use crate::theme;
use crate::view::{Content, View, class, frame, spacer};
use thumbwire_virtual_screen::Display;
use thumbwire_virtual_screen::icons::Icon;

/// Width of an alert's card, in points.
pub(crate) const ALERT_WIDTH: f32 = 270.0;

/// Thickness of separators, in points: at least one pixel from one and a half pixels to the point
/// on.
const HAIR: f32 = 0.67;

/// Heights of the status bar and of the home indicator's area, in points, as on an iPhone 11. On
/// its side an iPhone has no status bar.
pub(crate) fn insets(display: &Display) -> (f32, f32) {
    if display.width > display.height { (0.0, 21.0) } else { (48.0, 34.0) }
}

/// An app's screen in iOS's manner; `label` is the app's name, the title of a screen that has none.
pub(crate) fn restyle_screen(view: View, label: &str, wide: bool) -> View {
    let mut view = restyle(view);
    bars::add_title(&mut view, label, wide);
    lists::ground(&mut view);
    view
}

/// A view in iOS's manner.
pub(crate) fn restyle(mut view: View) -> View {
    match view.role {
        Some(Role::Switch) => return switch(view),
        Some(Role::Alert) if is_alert(&view) => return view,
        Some(Role::Alert) => return alert::of_dialog(view),
        Some(Role::TabBar) => return bars::tab_bar(view),
        _ => {}
    }
    view.children = view.children.into_iter().map(restyle).collect();
    view.dialog = view.dialog.map(|dialog| Box::new(restyle(*dialog)));
    let has_back = view.children.iter().any(|child| child.role == Some(Role::BackButton));
    match view.role {
        _ if has_back && bars::has_field(&view) => return bars::search_row(view),
        _ if has_back => return bars::navigation_bar(view),
        Some(Role::NavigationBar) => return bars::navigation_bar(view),
        Some(Role::Table) => return lists::table(view),
        Some(Role::SearchField) => {
            view.look.radius = 10.0;
            return view.height(40.0).pad_xy(10.0, 0.0).fill(colours::FIELD);
        }
        _ => {}
    }
    if view.class == class::BUTTON && view.look.radius > 14.0 {
        view.look.radius = 12.0;
    }
    // Round icons on a coloured background are rounded squares, except people.
    let sign = |child: &View| match child.content {
        Content::Icon(icon, ..) => !matches!(icon, Icon::Person | Icon::AccountCircle),
        _ => false,
    };
    let round = view.look.radius > 0.0
        && view.style.size.width == taffy::Dimension::length(view.look.radius * 2.0);
    if view.class == class::IMAGE && round && view.children.iter().any(sign) {
        view.look.radius *= 0.45;
    }
    if view.class == class::IMAGE_BUTTON {
        if view.look.depth > 0.0 && view.look.radius > 0.0 {
            view.look.radius = 28.0;
        }
        view.children.iter_mut().for_each(tinted);
    }
    // Frames of fields.
    if let Some((_, line @ theme::OUTLINE)) = &mut view.look.border {
        *line = colours::SEPARATOR;
        view.look.fill = view.look.fill.or(Some(theme::WHITE));
    }
    view
}

/// Gives the icon of a button the tint, unless it has a colour of its own.
fn tinted(view: &mut View) {
    if let Content::Icon(_, _, colour @ theme::ON_SURFACE_VARIANT) = &mut view.content {
        *colour = colours::TINT;
    }
}

/// A switch: a white thumb on a green or grey track.
fn switch(view: View) -> View {
    let on = view.checked == Some(true);
    let thumb = View::new(class::VIEW, [])
        .size(27.0, 27.0)
        .radius(13.5)
        .fill(theme::WHITE)
        .elevation(1.0)
        .absolute([Some(if on { 22.0 } else { 2.0 }), Some(2.0), None, None]);
    let mut track = frame([thumb.hide_from_accessibility()])
        .class(class::SWITCH)
        .size(51.0, 31.0)
        .radius(15.5)
        .fill(if on { colours::GREEN } else { colours::TRACK })
        .checked(on)
        .role(Role::Switch);
    track.id = view.id;
    track.enabled = view.enabled;
    track
}

/// A view that takes a share of the free space, with `inside` at its end.
fn at_end(inside: Vec<View>) -> View {
    crate::view::row(std::iter::once(spacer()).chain(inside)).grow()
}
