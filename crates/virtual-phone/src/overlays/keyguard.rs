//! The keyguard: the lock screen, and the page that asks for the PIN.
//!
//! On Android 4.4 it is a window of its own, and its tree is that of the capture
//! `dump-keyguard.xml`; later it is part of the status bar's window (9) or the shade's, with the
//! ids of SystemUI's layouts (`keyguard_status_view.xml`, `keyguard_pin_view.xml`,
//! `keyguard_bottom_area.xml`). Begin at `world/lock.rs`, which shows it and sends it keys.
//!
//! Not here: patterns and passwords, notifications on the lock screen, the camera, and the pause
//! after five wrong PINs.

use crate::app::Event;
use crate::clock::{SHORT_DATE, date_time, time_of_day};
use crate::ios_look::{lock_screen, passcode_page};
use crate::overlays::{Overlay, OverlayContext, OverlayOutcome, OverlayReach, OverlaySize};
use crate::scene::WindowKind;
use crate::system_ui;
use crate::theme;
use crate::view::{
    Content, Field, FieldTraits, ImeAction, Tag, View, class, column, frame, icon, row, spacer,
    text,
};
use jiff::civil::DateTime;
use thumbwire_virtual_screen::Platform;
use thumbwire_virtual_screen::icons::Icon;

/// The package of Android 4.4's keyguard.
const OLD_PACKAGE: &str = "com.android.keyguard";

/// Since this release it is part of the status bar's window.
const IN_STATUS_BAR_FROM: u32 = 5;

/// The keyguard's window.
pub(crate) struct Keyguard {
    /// Major Android release.
    android: u32,
    pin: Option<String>,
    /// The page that asks for the PIN is shown.
    asks: bool,
    typed: String,
    wrong: bool,
}

/// Whether an overlay is the keyguard.
pub(crate) fn is_keyguard(overlay: &dyn Overlay) -> bool {
    overlay.place() == OverlaySize::Keyguard
}

impl Keyguard {
    /// The keyguard of a release; with a PIN it asks for it.
    pub(crate) fn new(android: u32, pin: Option<String>) -> Self {
        // Android 4.4 shows the keys at once, below the clock.
        let asks = pin.is_some() && android < IN_STATUS_BAR_FROM;
        Self { android, pin, asks, typed: String::new(), wrong: false }
    }

    fn is_old(&self) -> bool {
        self.android < IN_STATUS_BAR_FROM
    }

    /// The user wants to get in: opens, or asks for the PIN.
    fn unlock(&mut self) -> OverlayOutcome {
        if self.pin.is_none() {
            return OverlayOutcome::Dismiss;
        }
        self.asks = true;
        OverlayOutcome::Keep
    }

    /// A key of the page that asks for the PIN, or of a hardware keyboard.
    fn type_key(&mut self, key: &str) -> OverlayOutcome {
        match key {
            "enter" if self.pin.as_ref() == Some(&self.typed) => return OverlayOutcome::Dismiss,
            "enter" => {
                self.wrong = !self.typed.is_empty();
                self.typed.clear();
            }
            "delete" => drop(self.typed.pop()),
            digit if self.typed.len() < MAX_LENGTH => {
                self.wrong = false;
                self.typed.push_str(digit);
            }
            _ => {}
        }
        OverlayOutcome::Keep
    }
}

/// The longest PIN that Android accepts.
const MAX_LENGTH: usize = 16;

impl Overlay for Keyguard {
    fn package(&self) -> &str {
        if self.is_old() { OLD_PACKAGE } else { system_ui::PACKAGE }
    }

    fn title(&self) -> String {
        match self.android {
            ..IN_STATUS_BAR_FROM => "Keyguard",
            IN_STATUS_BAR_FROM..11 => "StatusBar",
            _ => "NotificationShade",
        }
        .to_owned()
    }

    fn kind(&self) -> WindowKind {
        match self.android {
            ..IN_STATUS_BAR_FROM => WindowKind::Keyguard,
            IN_STATUS_BAR_FROM..11 => WindowKind::StatusBar,
            _ => WindowKind::NotificationShade,
        }
    }

    fn place(&self) -> OverlaySize {
        OverlaySize::Keyguard
    }

    fn view(&self, context: &OverlayContext<'_>) -> View {
        let clock = date_time(context.now);
        if context.platform == Platform::Ios {
            return match &self.pin {
                Some(pin) if self.asks => passcode_page(self.typed.len(), pin.len(), self.wrong),
                _ => lock_screen(clock),
            };
        }
        if self.is_old() { self.old_view(clock) } else { self.new_view(clock) }
    }

    fn on(&mut self, event: Event, context: &mut OverlayReach<'_>) -> OverlayOutcome {
        match event {
            Event::Tap(Tag { name: "unlock", .. }) => self.unlock(),
            Event::Tap(Tag { name: "key", value }) if self.asks => {
                let outcome = self.type_key(&value);
                // iOS knows the passcode's length and needs no enter key.
                let complete = self.pin.as_ref().is_some_and(|pin| pin.len() == self.typed.len());
                match context.platform {
                    Platform::Ios if complete && value != "delete" => self.type_key("enter"),
                    _ => outcome,
                }
            }
            // Back leaves the page that asks for the PIN, but not the keyguard.
            Event::Back if !self.is_old() => {
                (self.asks, self.wrong) = (false, false);
                self.typed.clear();
                OverlayOutcome::Keep
            }
            _ => OverlayOutcome::Keep,
        }
    }
}

impl Keyguard {
    fn old_view(&self, clock: DateTime) -> View {
        let date = clock.strftime("%a, %B %-d").to_string();
        let time = clock.strftime("%-I:%M").to_string();
        let date = column([text(date, theme::BODY.centered()).id("date_view")]);
        let time = text(time, theme::HEADLINE.centered()).id("clock_view");
        let face = column([date.align_center(), time]).align_center().pad_xy(12.0, 12.0);
        let face = column([face]).class("android.widget.GridLayout").fill_width();
        let face = face.id("keyguard_status_view_face_palm").content_description("Status");
        let status = column([face]).class(class::FRAME).fill_width().id("keyguard_status_view");
        let status = status.content_description("Status widget.").on_long_press("widget");
        let widgets = column([status]).class(class::VIEW).fill_width().id("app_widget_container");
        let widgets = column([widgets.pad_xy(32.0, 24.0)]).class(class::FRAME).fill_width();
        let page = if self.asks { self.pin_view() } else { self.slide_view() };
        let flipper = column([page.grow()]).class("android.widget.ViewFlipper").fill_width();
        let security = column([flipper.grow().id("view_flipper")]).class(class::FRAME);
        let security = security.fill_width().grow().id("keyguard_security_container");
        let sliding = column([widgets, security]).class(class::VIEW).grow().id("sliding_layout");
        let host = column([sliding]).class(class::FRAME).grow().id("keyguard_host_view");
        column([host]).class(class::FRAME).fill(theme::SURFACE_CONTAINER).pad_each(
            0.0,
            system_ui::STATUS,
            0.0,
            system_ui::NAVIGATION,
        )
    }

    /// The ring that is slid to the lock at its right.
    fn slide_view(&self) -> View {
        let message = text("", theme::BODY).id("keyguard_message_area").height(16.0).fill_width();
        let lock = icon(Icon::RadioButtonUnchecked, 72.0, theme::ON_SURFACE_VARIANT);
        let pad = row([lock.hide_from_accessibility()]).class(class::VIEW).justify_center();
        let pad = pad.id("glow_pad_view").content_description("Slide area.").grow().fill_width();
        let inside = column([message, pad.on_swipe_right("unlock")]).class(class::FRAME).grow();
        column([inside]).id("keyguard_selector_view").content_description("Slide unlock.")
    }

    fn new_view(&self, clock: DateTime) -> View {
        let view = if self.asks {
            column([self.message_view("keyguard_message_area"), self.pin_view().grow()])
                .grow()
                .id("keyguard_security_container")
        } else {
            let time = text(time_of_day(clock), theme::HEADLINE);
            let date = text(clock.strftime(SHORT_DATE).to_string(), theme::BODY.quiet());
            let clock = column([time.id("lockscreen_clock_view"), date.id("keyguard_status_area")]);
            let hint = text("Swipe up to open", theme::BODY.quiet().centered());
            column([
                clock.pad_xy(28.0, 40.0).fill_width().id("keyguard_status_view"),
                spacer(),
                hint.id("keyguard_indication_text").fill_width().pad_xy(0.0, 16.0),
            ])
            .grow()
            .on_swipe_up("unlock")
            .id("notification_panel")
        };
        frame([view])
            .fill(theme::SURFACE_CONTAINER)
            .pad_each(0.0, system_ui::STATUS, 0.0, system_ui::NAVIGATION)
            .id("legacy_window_root")
    }

    fn message_view(&self, id: &'static str) -> View {
        let says = if self.wrong { "Wrong PIN" } else { "Enter PIN" };
        text(says, theme::BODY.centered()).id(id).fill_width().pad_xy(0.0, 8.0)
    }

    /// The PIN's field and its keys.
    fn pin_view(&self) -> View {
        let traits = FieldTraits { multi_line: false, password: true, action: ImeAction::Done };
        let mut entry = View::new(class::EDIT, []).id("pinEntry").height(theme::TOUCH).grow();
        entry.text = "\u{2022}".repeat(self.typed.len());
        entry.content =
            Content::Field(Box::new(Field { hint: String::new(), style: theme::TITLE, traits }));
        let delete = key("", "delete_button", "delete").content_description("Delete");
        let mut rows = Vec::new();
        if self.is_old() {
            rows.push(self.message_view("keyguard_message_area"));
        }
        rows.push(row([entry, delete]).fill_width());
        for line in [["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"]] {
            rows.push(
                row(line.map(|digit| key(digit, &format!("key{digit}"), digit))).fill_width(),
            );
        }
        let enter = key("", "key_enter", "enter").content_description("Enter");
        let gap = View::new(class::VIEW, []).grow().hide_from_accessibility();
        rows.push(row([gap, key("0", "key0", "0"), enter]).fill_width());
        column(rows).pad_xy(24.0, 0.0).fill_width().id("keyguard_pin_view")
    }
}

fn key(label: &str, id: &str, key: &str) -> View {
    row([text(label, theme::TITLE.centered()).hide_from_accessibility()])
        .class(class::BUTTON)
        .justify_center()
        .height(56.0)
        .grow()
        .dump_text(label)
        .id(id.to_owned())
        .on_tap(("key", key))
}
