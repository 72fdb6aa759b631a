//! Adds and removes overlays, and sends them events.

use crate::app::Event;
use crate::overlays::{
    Overlay, OverlayContext, OverlayEntry, OverlayOutcome, OverlayReach, OverlayRequest,
};
use crate::packages::Component;
use crate::world::World;

impl World {
    /// Adds a window in front of all others except the shade.
    pub(crate) fn push_overlay(&mut self, overlay: impl Overlay + 'static) {
        if self.overlays.push(Box::new(overlay)) {
            self.turn_focus();
        }
    }

    /// Sends an event to an overlay, and performs its requests.
    pub(crate) fn send_to_overlay(&mut self, id: u32, event: Event) {
        let Some((at, mut taken)) = self.overlays.take(id) else { return };
        let android = self.android();
        let platform = self.platform();
        let settings = &self.settings;
        let mut reach = OverlayReach { android, platform, settings, asked: Vec::new() };
        let mut outcome = taken.overlay.on(event, &mut reach);
        let mut afterwards = Vec::new();
        for request in reach.asked {
            if matches!(request, OverlayRequest::Choose(_) | OverlayRequest::ReplaceWord(_)) {
                afterwards.push(request);
                continue;
            }
            if self.handle_overlay_request(request) {
                outcome = OverlayOutcome::Dismiss;
            }
        }
        if outcome == OverlayOutcome::Keep {
            self.overlays.put_back(at, taken);
        }
        self.turn_focus();
        for request in afterwards {
            self.handle_overlay_request(request);
        }
    }

    /// Performs a request of an overlay; `true` if the overlay closes.
    fn handle_overlay_request(&mut self, request: OverlayRequest) -> bool {
        match request {
            OverlayRequest::Setting(table, name, value) => self.change_setting(table, name, &value),
            OverlayRequest::Dismiss(package, tag) => self.dismiss(&package, &tag),
            OverlayRequest::DismissAll => self.dismiss_all(),
            // Notifications of the shell have no app to open: they stay.
            OverlayRequest::Open(package, tag) => {
                return self.open_notification(&package, &tag).is_ok();
            }
            OverlayRequest::Answer(question, answer) => self.answer(&question, answer),
            OverlayRequest::Kill(package) => self.kill_after_error(&package),
            OverlayRequest::Wait(package) => self.respond_again(&package),
            // Settings, which is always installed.
            OverlayRequest::Start(intent) => drop(self.start_intent(&intent)),
            OverlayRequest::Choose(tag) => self.send_event_to_foreground(Event::Tap(tag)),
            OverlayRequest::ReplaceWord(by) => self.replace_word(&by),
        }
        false
    }

    /// What overlays can read while they draw.
    pub(crate) fn overlay_context(&self) -> OverlayContext<'_> {
        OverlayContext {
            android: self.android(),
            platform: self.platform(),
            now: self.clock.now(),
            battery: self.device.battery(),
            settings: &self.settings,
            notifications: self.notices.notifications(),
            apps: &self.apps,
        }
    }

    /// Removes those for which `goes` is true.
    pub(crate) fn remove_overlays(&mut self, goes: impl Fn(&dyn Overlay) -> bool) {
        if self.overlays.remove(goes) {
            self.turn_focus();
        }
    }

    /// The visible overlays, back to front.
    pub(crate) fn shown_overlays(&self) -> impl DoubleEndedIterator<Item = &OverlayEntry> {
        self.overlays.shown(self.foreground().package)
    }

    /// The overlay that has the focus.
    pub(crate) fn front_overlay(&self) -> Option<&OverlayEntry> {
        self.shown_overlays().next_back()
    }

    /// The top activity of the task in front: an app's, or the system's that prompts for it.
    pub fn top_activity(&self) -> Component {
        let mut asking = self.shown_overlays().filter_map(|standing| standing.overlay.activity());
        asking.next_back().unwrap_or_else(|| self.foreground())
    }

    /// Suspends the app's focus while there is an overlay, and restores it after the last one.
    fn turn_focus(&mut self) {
        if self.front_overlay().is_none() {
            self.input.give_back();
        } else {
            self.input.suspend();
        }
        self.rebuild();
    }
}
