//! The power key's menu: `GlobalActions.java` of Android 4.4, `GlobalActionsDialog.java` of
//! SystemUI since 9.
//!
//! Not here: what its buttons do. "Power off" and "Restart" only close it; `adb reboot` restarts
//! the phone.

use crate::app::Event;
use crate::overlays::{Overlay, OverlayContext, OverlayOutcome, OverlayReach};
use crate::scene::WindowKind;
use crate::system_ui;
use crate::theme;
use crate::view::{View, class, column, row, text};

/// The menu, in the look of a release.
pub(crate) struct PowerMenu {
    /// Major Android release.
    pub(crate) android: u32,
}

impl Overlay for PowerMenu {
    fn package(&self) -> &str {
        if self.android < 9 { "android" } else { system_ui::PACKAGE }
    }

    fn title(&self) -> String {
        match self.android {
            ..9 => "GlobalActions",
            9..12 => "ActionsDialog",
            _ => "ActionsDialogLite",
        }
        .to_owned()
    }

    fn kind(&self) -> WindowKind {
        WindowKind::PowerMenu
    }

    fn view(&self, _: &OverlayContext<'_>) -> View {
        let labels: &[&str] = match self.android {
            ..9 => &["Power off", "Airplane mode", "Silent mode"],
            9..12 => &["Power off", "Restart", "Screenshot"],
            _ => &["Emergency", "Lockdown", "Power off", "Restart"],
        };
        let rows = labels.iter().map(|label| {
            let words = text(*label, theme::BODY_LARGE.lines(1)).id("android:id/message");
            row([words]).height(56.0).pad_xy(24.0, 0.0).fill_width().on_tap("close")
        });
        column(rows)
            .class(class::LIST_VIEW)
            .fill(theme::SURFACE_CONTAINER)
            .radius(28.0)
            .fill_width()
            .id("android:id/select_dialog_listview")
    }

    fn on(&mut self, event: Event, _: &mut OverlayReach<'_>) -> OverlayOutcome {
        match event {
            Event::Tap(_) | Event::Back => OverlayOutcome::Dismiss,
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
