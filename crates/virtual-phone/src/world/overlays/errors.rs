//! The dialogs about apps that do not answer or have crashed.
//!
//! The tree is that of the capture `pagesource-ua2/shirates_AppIsNotResponding.xml`; owner and title of the window are those of
//! `shell/window/aad_windows_android11.txt`. What the buttons do: `AppNotRespondingDialog.java`, `AppErrorDialog.java` and
//! `AppErrors.java` of Android 9 to 15; before Android 7 both were a message with a button or two.

use super::{After, Overlay};
use crate::world::app::{Event, Intent};
use crate::world::icons::Icon;
use crate::world::theme;
use crate::world::view::{View, class, column, icon, row, text};
use crate::world::widgets::{dialog, message, text_button};
use crate::world::{World, failing};

/// "X isn't responding".
pub(crate) struct NotResponding {
    pub(crate) package: String,
    pub(crate) label: String,
}

impl Overlay for NotResponding {
    fn package(&self) -> &str {
        "android"
    }

    fn title(&self) -> String {
        format!("Application Not Responding: {}", self.package)
    }

    fn about(&self) -> Option<&str> {
        Some(&self.package)
    }

    fn view(&self, world: &World) -> View {
        let says = format!("{} isn't responding", self.label);
        if world.android() < failing::LISTS_FROM {
            let words = format!("{says}.\n\nDo you want to close it?");
            return plain(&words, &[("Wait", "button2", "wait"), ("OK", "button1", "close")]);
        }
        let buttons = [
            button("Close app", Icon::Close, "aerr_close", "close"),
            button("Wait", Icon::Schedule, "aerr_wait", "wait"),
        ];
        listed(&says, buttons)
    }

    // It cannot be cancelled: back and touches beside it do nothing.
    fn on(&mut self, event: Event, world: &mut World) -> After {
        match event {
            Event::Tap(tag) if tag.name == "close" => {
                world.kill_after_error(&self.package);
                After::Goes
            }
            Event::Tap(tag) if tag.name == "wait" => {
                world.respond_again(&self.package);
                After::Goes
            }
            _ => After::Stays,
        }
    }
}

/// "X has stopped", and "X keeps stopping" when that happened before.
pub(crate) struct Crashed {
    pub(crate) package: String,
    pub(crate) label: String,
    pub(crate) again: bool,
}

impl Overlay for Crashed {
    fn package(&self) -> &str {
        "android"
    }

    fn title(&self) -> String {
        failing::title_of_crash(&self.package)
    }

    fn view(&self, world: &World) -> View {
        let label = &self.label;
        if world.android() < failing::LISTS_FROM {
            let words = format!("Unfortunately, {label} has stopped.");
            return plain(&words, &[("OK", "button1", "close")]);
        }
        let what = if self.again { "keeps stopping" } else { "has stopped" };
        let buttons = [
            button("App info", Icon::Info, "aerr_app_info", "info"),
            button("Close app", Icon::Close, "aerr_close", "close"),
        ];
        listed(&format!("{label} {what}"), buttons)
    }

    fn on(&mut self, event: Event, world: &mut World) -> After {
        match event {
            Event::Tap(tag) if tag.name == "info" => {
                let intent = Intent {
                    action: Some("android.settings.APPLICATION_DETAILS_SETTINGS".to_owned()),
                    data: Some(format!("package:{}", self.package)),
                    ..Intent::default()
                };
                // Settings is always installed.
                let _ = world.start_intent(&intent);
                After::Goes
            }
            Event::Tap(tag) if tag.name == "close" => After::Goes,
            // `setCancelable(false)` before Android 7.
            Event::Back if world.android() >= failing::LISTS_FROM => After::Goes,
            _ => After::Stays,
        }
    }

    fn yields(&self) -> bool {
        true
    }

    fn leaves_for_home(&self) -> bool {
        true
    }
}

/// A title and buttons below each other (`app_anr_dialog.xml`, `app_error_dialog.xml`).
fn listed(title: &str, buttons: impl IntoIterator<Item = View>) -> View {
    let title = text(title, theme::TITLE_LARGE.lines(3)).id("android:id/alertTitle");
    let title = column([title]).pad_each(24.0, 20.0, 24.0, 4.0).id("android:id/title_template");
    let top = column([title]).id("android:id/topPanel");
    let list = column(buttons).pad_each(0.0, 8.0, 0.0, 12.0);
    let custom = column([list]).class(class::FRAME).id("android:id/custom");
    let custom = column([custom]).class(class::FRAME).id("android:id/customPanel");
    column([top, custom])
        .fill(theme::SURFACE_CONTAINER)
        .radius(28.0)
        .wide()
        .id("android:id/parentPanel")
}

fn button(label: &str, symbol: Icon, id: &str, tag: &'static str) -> View {
    let sign = icon(symbol, 24.0, theme::ON_SURFACE_VARIANT);
    row([sign.unlisted(), text(label, theme::BODY_LARGE.lines(1)).unlisted()])
        .class(class::BUTTON)
        .gap(20.0)
        .pad_xy(24.0, 0.0)
        .height(52.0)
        .wide()
        .says(label)
        .id(format!("android:id/{id}"))
        .on_tap(tag)
}

/// A message without a title, as before Android 7.
fn plain(words: &str, buttons: &[(&str, &str, &'static str)]) -> View {
    let buttons = buttons.iter().map(|(label, id, tag)| {
        text_button(label, theme::PRIMARY, *tag).id(format!("android:id/{id}"))
    });
    dialog("", message(words), buttons)
}
