//! An alert that nobody asked for: it covers the app until somebody answers it.

use super::{After, Overlay};
use crate::world::World;
use crate::world::app::Event;
use crate::world::scene::WindowKind;
use crate::world::theme;
use crate::world::view::View;
use crate::world::widgets::{dialog, message, text_button};

/// `SystemUIDialog.java` gives its windows the name of its class.
const TITLE: &str = "SystemUIDialog";

struct Alert {
    title: String,
    text: String,
}

impl World {
    /// Puts an alert before the app in front, such as "Software update": a title, a text, and the buttons "Later" and "Install". Either of
    /// them or the back key takes it away; the app behind gets no touch and no key until then.
    pub fn pop_up(&mut self, title: &str, text: &str) {
        self.put_before(Alert { title: title.to_owned(), text: text.to_owned() });
    }
}

impl World {
    /// Whether such an alert waits for an answer.
    pub(crate) fn has_popped_up(&self) -> bool {
        self.stands_before(|overlay| overlay.title() == TITLE)
    }
}

impl Overlay for Alert {
    fn package(&self) -> &str {
        crate::world::system_ui::PACKAGE
    }

    fn title(&self) -> String {
        TITLE.to_owned()
    }

    fn kind(&self) -> WindowKind {
        WindowKind::SystemAlert
    }

    fn view(&self, _: &World) -> View {
        let later = text_button("Later", theme::PRIMARY, "later").id("android:id/button2");
        let install = text_button("Install", theme::PRIMARY, "install").id("android:id/button1");
        dialog(&self.title, message(&self.text), [later, install])
    }

    fn on(&mut self, event: Event, _: &mut World) -> After {
        match event {
            Event::Tap(_) | Event::Back => After::Goes,
            _ => After::Stays,
        }
    }
}
