//! The dialogs about apps that hang or have crashed.
//!
//! The tree is that of the capture `pagesource-ua2/shirates_AppIsNotResponding.xml`; the window's
//! owner and title are those of `shell/window/aad_windows_android11.txt`. The buttons behave as in
//! `AppNotRespondingDialog.java`, `AppErrorDialog.java` and `AppErrors.java` of Android 9 to 15;
//! before Android 7 both were a message with one or two buttons.

use crate::app::Event;
use crate::overlays::{Overlay, OverlayContext, OverlayOutcome, OverlayReach, OverlayRequest};
use crate::packages::Intent;
use crate::theme;
use crate::view::{View, class, column, icon, row, text};
use crate::widgets::{dialog, message, text_button};
use thumbwire_virtual_screen::icons::Icon;

/// Since this release the dialogs have a title and a list of buttons, and Android does not report a
/// first crash.
pub(crate) const LISTS_FROM: u32 = 7;

/// The title of the window that reports an app's crash.
pub(crate) fn title_of_crash(package: &str) -> String {
    format!("Application Error: {package}")
}

/// "X isn't responding".
pub(crate) struct AnrDialog {
    pub(crate) package: String,
    pub(crate) label: String,
}

impl Overlay for AnrDialog {
    fn package(&self) -> &str {
        "android"
    }

    fn title(&self) -> String {
        format!("Application Not Responding: {}", self.package)
    }

    fn about(&self) -> Option<&str> {
        Some(&self.package)
    }

    fn view(&self, context: &OverlayContext<'_>) -> View {
        let says = format!("{} isn't responding", self.label);
        if context.android < LISTS_FROM {
            let text = format!("{says}.\n\nDo you want to close it?");
            return plain(&text, &[("Wait", "button2", "wait"), ("OK", "button1", "close")]);
        }
        let buttons = [
            button("Close app", Icon::Close, "aerr_close", "close"),
            button("Wait", Icon::Schedule, "aerr_wait", "wait"),
        ];
        listed(&says, buttons)
    }

    // It cannot be cancelled: back and touches outside it do nothing.
    fn on(&mut self, event: Event, context: &mut OverlayReach<'_>) -> OverlayOutcome {
        match event {
            Event::Tap(tag) if tag.name == "close" => {
                context.asked.push(OverlayRequest::Kill(self.package.clone()));
                OverlayOutcome::Dismiss
            }
            Event::Tap(tag) if tag.name == "wait" => {
                context.asked.push(OverlayRequest::Wait(self.package.clone()));
                OverlayOutcome::Dismiss
            }
            _ => OverlayOutcome::Keep,
        }
    }
}

/// "X has stopped", or "X keeps stopping" if it happened before.
pub(crate) struct CrashDialog {
    pub(crate) package: String,
    pub(crate) label: String,
    pub(crate) again: bool,
}

impl Overlay for CrashDialog {
    fn package(&self) -> &str {
        "android"
    }

    fn title(&self) -> String {
        title_of_crash(&self.package)
    }

    fn view(&self, context: &OverlayContext<'_>) -> View {
        let label = &self.label;
        if context.android < LISTS_FROM {
            let text = format!("Unfortunately, {label} has stopped.");
            return plain(&text, &[("OK", "button1", "close")]);
        }
        let what = if self.again { "keeps stopping" } else { "has stopped" };
        let buttons = [
            button("App info", Icon::Info, "aerr_app_info", "info"),
            button("Close app", Icon::Close, "aerr_close", "close"),
        ];
        listed(&format!("{label} {what}"), buttons)
    }

    fn on(&mut self, event: Event, context: &mut OverlayReach<'_>) -> OverlayOutcome {
        match event {
            Event::Tap(tag) if tag.name == "info" => {
                let intent = Intent {
                    action: Some("android.settings.APPLICATION_DETAILS_SETTINGS".to_owned()),
                    data: Some(format!("package:{}", self.package)),
                    ..Intent::default()
                };
                context.asked.push(OverlayRequest::Start(intent));
                OverlayOutcome::Dismiss
            }
            Event::Tap(tag) if tag.name == "close" => OverlayOutcome::Dismiss,
            // `setCancelable(false)` before Android 7.
            Event::Back if context.android >= LISTS_FROM => OverlayOutcome::Dismiss,
            _ => OverlayOutcome::Keep,
        }
    }

    fn canceled_on_touch_outside(&self) -> bool {
        true
    }

    fn closes_on_home(&self) -> bool {
        true
    }
}

/// A title with buttons below each other (`app_anr_dialog.xml`, `app_error_dialog.xml`).
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
        .fill_width()
        .id("android:id/parentPanel")
}

fn button(label: &str, symbol: Icon, id: &str, tag: &'static str) -> View {
    let sign = icon(symbol, 24.0, theme::ON_SURFACE_VARIANT);
    row([
        sign.hide_from_accessibility(),
        text(label, theme::BODY_LARGE.lines(1)).hide_from_accessibility(),
    ])
    .class(class::BUTTON)
    .gap(20.0)
    .pad_xy(24.0, 0.0)
    .height(52.0)
    .fill_width()
    .dump_text(label)
    .id(format!("android:id/{id}"))
    .on_tap(tag)
}

/// A message without a title, as before Android 7.
fn plain(text: &str, buttons: &[(&str, &str, &'static str)]) -> View {
    let buttons = buttons.iter().map(|(label, id, tag)| {
        text_button(label, theme::PRIMARY, *tag).id(format!("android:id/{id}"))
    });
    dialog("", message(text), buttons)
}
