//! An unexpected alert that covers the app until the user answers it.

use crate::app::Event;
use crate::overlays::{Overlay, OverlayContext, OverlayOutcome, OverlayReach};
use crate::scene::WindowKind;
use crate::theme;
use crate::view::View;
use crate::widgets::{dialog, message, text_button};

/// `SystemUIDialog.java` names its windows after its class.
pub(crate) const TITLE: &str = "SystemUIDialog";

pub(crate) struct Alert {
    title: String,
    text: String,
}

impl Alert {
    /// An alert with that title and text.
    pub(crate) fn new(title: &str, text: &str) -> Self {
        Self { title: title.to_owned(), text: text.to_owned() }
    }
}

impl Overlay for Alert {
    fn package(&self) -> &str {
        crate::system_ui::PACKAGE
    }

    fn title(&self) -> String {
        TITLE.to_owned()
    }

    fn kind(&self) -> WindowKind {
        WindowKind::SystemAlert
    }

    fn view(&self, _: &OverlayContext<'_>) -> View {
        let later = text_button("Later", theme::PRIMARY, "later").id("android:id/button2");
        let install = text_button("Install", theme::PRIMARY, "install").id("android:id/button1");
        dialog(&self.title, message(&self.text), [later, install])
    }

    fn on(&mut self, event: Event, _: &mut OverlayReach<'_>) -> OverlayOutcome {
        match event {
            Event::Tap(_) | Event::Back => OverlayOutcome::Dismiss,
            _ => OverlayOutcome::Keep,
        }
    }
}
