//! Assembles the windows: the app in front, keyboard, overlays, status bar, gesture bar, toast.
//!
//! [`World::rebuild`] asks the app for its view after every change and updates the focus;
//! [`World::lay_out`] turns the view into a scene, only when it is needed.

use crate::app::DrawContext;
use crate::clock::date_time;
use crate::input::keyboard;
use crate::ios_look;
use crate::layout::{FocusMark, fields, visit};
use crate::notices::BANNER;
use crate::overlays::{Overlay, OverlaySize};
use crate::packages::Manifest;
use crate::scene::{Node, Scene, Window, WindowKind};
use crate::system_ui;
use crate::theme;
use crate::view::{BoxStyle, Content, View, column, frame};
use crate::world::World;
use thumbwire_virtual_screen::Platform;
use thumbwire_virtual_screen::Rect;
use thumbwire_virtual_screen::{ClippedOp, PaintOp};

/// Maximum width of a dialog, in dp (Material 3, "Dialogs: specs").
const MAX_DIALOG: f32 = 560.0;

impl World {
    /// Asks the app for its view and keeps the focus only if its field is still there. Call it
    /// after every change.
    pub(crate) fn rebuild(&mut self) {
        self.screen.forget_scene();
        let view = self.draw_front();
        let shown = self.keyboard_shown();
        self.sync_focus(&view);
        // The keyboard changes the app's insets, so hiding it requires a second drawing.
        let view = if shown == self.keyboard_shown() { view } else { self.draw_front() };
        self.screen.set_fields(fields(&view));
    }

    /// The key of scroll offsets for the activity in front.
    pub(crate) fn scroll_owner(&self) -> String {
        let front = self.foreground();
        format!("{}/{}", front.package, front.activity)
    }

    /// The bounds of the soft keyboard, down to the edge of the screen.
    fn keyboard_bounds(&self) -> Rect {
        let display = *self.screen.display();
        let keys = match self.platform() {
            Platform::Android => keyboard::height(&display),
            Platform::Ios => ios_look::keyboard_height(&display),
        };
        let height = keys + self.insets().1;
        let top = display.height - (height * display.scale()).round() as i32;
        Rect::new(0, top.max(display.height / 3), display.width, display.height)
    }

    /// The bounds of the app's window: the screen without the keyboard.
    fn app_bounds(&self) -> Rect {
        let mut bounds = self.screen.display().bounds();
        if self.keyboard_shown() {
            bounds.bottom = self.keyboard_bounds().top;
        }
        bounds
    }

    /// Heights of the status bar at the top and of the gesture bar at the bottom, in dp.
    fn insets(&self) -> (f32, f32) {
        match self.platform() {
            Platform::Android => (system_ui::STATUS, system_ui::NAVIGATION),
            Platform::Ios => ios_look::insets(self.screen.display()),
        }
    }

    /// The focused view: the overlay, else the app's dialog, else the app's view.
    fn draw_front(&self) -> View {
        if let Some(front) = self.front_overlay() {
            return self.draw_overlay(&*front.overlay);
        }
        let (view, dialog) = self.draw_app();
        dialog.unwrap_or(view)
    }

    /// An overlay's view with its decoration.
    fn draw_overlay(&self, overlay: &dyn Overlay) -> View {
        let view = overlay.view(&self.overlay_context());
        let view = match self.platform() {
            Platform::Android => view,
            Platform::Ios => ios_look::restyle(view),
        };
        match overlay.place() {
            OverlaySize::Card => decorated(view, self.insets()),
            OverlaySize::Popup => frame([view]),
            OverlaySize::Keyguard | OverlaySize::Cover => view,
        }
    }

    /// The app's view with its decoration, and its dialog.
    pub(super) fn draw_app(&self) -> (View, Option<View>) {
        let front = self.foreground();
        let bounds = self.app_bounds();
        let scale = self.screen.display().scale();
        let (top, bottom) = self.insets();
        let insets = (top, if self.keyboard_shown() { 0.0 } else { bottom });
        let packages: Vec<&Manifest> = self.packages();
        let owner = self.scroll_owner();
        let Some(at) = self.apps.position(&front.package) else { return (frame([]), None) };
        // A hanging app does not draw again.
        let now = self.tasks.frozen_since(&front.package).unwrap_or(self.clock.now());
        let env = DrawContext {
            size: (bounds.width() as f32 / scale, bounds.height() as f32 / scale),
            insets,
            activity: &front.activity,
            store: &self.apps[at].store,
            packages: &packages,
            settings: &self.settings,
            about: self.device.about(),
            android: self.device.android(),
            platform: self.platform(),
            battery: self.device.battery(),
            location: self.device.location(),
            storage: self.storage.entries(),
            clock: date_time(now),
            now,
            scrolls: (self.screen.scrolls(), &owner),
            scale,
        };
        let mut view = self.apps[at].app.view(&env);
        if self.platform() == Platform::Ios {
            view = ios_look::restyle_screen(view, &self.apps[at].manifest.label, env.wide());
        }
        let dialog = view.dialog.take().map(|dialog| {
            let mut around = decorated(*dialog, insets);
            around.mirrored = view.mirrored;
            around
        });
        let (top, bottom) = if view.edge_to_edge { (0.0, 0.0) } else { insets };
        let (light_bars, mirrored) = (view.light_bars, view.mirrored);
        let banner = self.notices.banner(insets.0);
        let below = if banner.is_some() { BANNER } else { 0.0 };
        let content = column([view.grow()])
            .class(crate::layout::DECOR)
            .id("android:id/content")
            .absolute([Some(0.0), Some(top + below), Some(0.0), Some(bottom)]);
        let mut root = frame([content]).fill(theme::SURFACE);
        root.children.extend(banner);
        root.light_bars = light_bars;
        root.mirrored = mirrored;
        (root, dialog)
    }

    /// Reads the focused field from the view; clears the focus if it is gone.
    fn sync_focus(&mut self, view: &View) {
        let Some(focus) = self.input.focus_mut() else { return };
        let mut there = false;
        visit(view, |view, address| {
            if *address != focus.address {
                return;
            }
            there = true;
            if view.text != focus.text {
                focus.text.clone_from(&view.text);
                focus.caret = focus.text.len();
            }
            focus.field = match &view.content {
                Content::Field(field) => Some(field.traits),
                _ => None,
            };
        });
        if !there {
            self.input.set_focus(None);
        }
    }

    /// Lays out every window, from the back to the front.
    pub(crate) fn lay_out(&mut self) -> Scene {
        let display = *self.screen.display();
        let front = self.foreground();
        let (view, dialog) = self.draw_app();
        let mark = self.input.focus().map(|focus| FocusMark {
            address: focus.address.clone(),
            caret: focus.caret,
            ring: focus.ring,
            reveal: focus.reveal,
        });
        let owner = self.scroll_owner();
        let title = format!("{}/{}", front.package, front.activity);
        let bounds = self.app_bounds();
        let covered = self.front_overlay().is_some();
        let mark_of = |front: bool| mark.as_ref().filter(|_| front && !covered);
        let root =
            self.screen.place(&view, bounds, (&front.package, &owner), mark_of(dialog.is_none()));
        let light = view.light_bars;
        self.input.reveal_focus(false);
        let secure = self.is_secure(&front.package);
        let window = |kind, title: &str, package: &str, root: Node| Window {
            secure: secure && kind == WindowKind::Application,
            kind,
            title: title.to_owned(),
            package: package.to_owned(),
            bounds: root.bounds,
            focused: false,
            root,
            overlay: None,
        };
        let mut windows = vec![window(WindowKind::Application, &title, &front.package, root)];
        if let Some(dialog) = dialog {
            let placed =
                self.screen.place(&dialog, bounds, (&front.package, &owner), mark_of(true));
            // The window is as large as the card; the area around it dims what is behind.
            if let Some(card) = self.dimming(placed) {
                windows.push(window(WindowKind::Application, &title, &front.package, card));
            }
        }
        if let Some(front) = windows.last_mut().filter(|_| !covered) {
            front.focused = true;
        }
        if self.keyboard_shown() {
            let action = self.input.focus().and_then(|focus| focus.field).unwrap_or_default();
            let view = match self.platform() {
                Platform::Android => keyboard::view(self.input.keyboard(), &display, action),
                Platform::Ios => ios_look::keyboard(self.input.keyboard(), &display, action),
            };
            let root =
                self.screen.place(&view, self.keyboard_bounds(), (keyboard::PACKAGE, ""), None);
            windows.push(window(WindowKind::InputMethod, "InputMethod", keyboard::PACKAGE, root));
        }
        if let Some(view) = self.notices.toast().map(system_ui::toast) {
            let mut area = self.app_bounds();
            area.top = area.bottom - (display.scale() * 130.0) as i32;
            // On a screen too small for its density, little or nothing is left.
            let area = area.intersect(&display.bounds());
            if !area.is_empty() {
                let root = self.screen.place(&view, area, (&front.package, ""), None);
                windows.push(window(WindowKind::Toast, "Toast", &front.package, root));
            }
        }
        let (status, navigation) = self.draw_bars(light);
        let (top, bottom) = self.insets();
        let scale = display.scale();
        let mut area = display.bounds();
        area.bottom = (top * scale).round() as i32;
        let root = self.screen.place(&status, area, (system_ui::PACKAGE, ""), None);
        let status = window(WindowKind::StatusBar, "StatusBar", system_ui::PACKAGE, root);
        // An iPhone on its side has none.
        let status = (top > 0.0).then_some(status);
        // Cards are behind the status bar (`shell/window/aad_windows_android11.txt`), the shade is
        // in front of it.
        self.place_overlays(&mut windows, mark.as_ref());
        let shade = windows.pop_if(|_| self.shade_shown());
        windows.extend(status);
        windows.extend(shade);
        let mut area = display.bounds();
        area.top = area.bottom - (bottom * scale).round() as i32;
        let root = self.screen.place(&navigation, area, (system_ui::PACKAGE, ""), None);
        windows.push(window(WindowKind::NavigationBar, "NavigationBar0", system_ui::PACKAGE, root));
        if self.platform() == Platform::Ios {
            windows.iter_mut().for_each(|window| ios_look::recolour(&mut window.root));
        }
        Scene { display, windows }
    }

    /// The status bar and the gesture bar; `light` is for dark backgrounds.
    fn draw_bars(&self, light: bool) -> (View, View) {
        let (clock, battery) = (date_time(self.clock.now()), self.device.battery());
        let light_below = light && !self.keyboard_shown() && !self.shade_shown();
        match self.platform() {
            Platform::Android => {
                let signs = self.notification_signs();
                let status = system_ui::status(clock, &battery, &self.settings, &signs, light);
                (status, system_ui::navigation(light_below))
            }
            Platform::Ios => {
                // The lock screen is dark.
                let locked = self.keyguard_shown();
                let status = ios_look::status(clock, &battery, &self.settings, light || locked);
                (status, ios_look::home_indicator(light_below || locked))
            }
        }
    }

    /// Adds the overlays' windows; the last one has the focus.
    fn place_overlays(&mut self, windows: &mut Vec<Window>, mark: Option<&FocusMark>) {
        let shown = self.shown_overlays().map(|standing| {
            let overlay = &standing.overlay;
            let view = self.draw_overlay(&**overlay);
            let (id, kind, place) = (standing.id, overlay.kind(), overlay.place());
            (id, kind, place, overlay.package().to_owned(), overlay.title(), view)
        });
        let shown: Vec<_> = shown.collect();
        let last = shown.len().wrapping_sub(1);
        for (nth, (id, kind, place, package, title, view)) in shown.into_iter().enumerate() {
            let focused = nth == last;
            let area = self.screen.display().bounds();
            let placed =
                self.screen.place(&view, area, (&package, &title), mark.filter(|_| focused));
            let root = match place {
                OverlaySize::Card => self.dimming(placed),
                OverlaySize::Popup => placed.children.into_iter().next(),
                OverlaySize::Keyguard | OverlaySize::Cover => Some(placed),
            };
            let Some(root) = root else { continue };
            let (bounds, secure, overlay) = (root.bounds, false, Some(id));
            windows.push(Window { kind, title, package, bounds, focused, secure, root, overlay });
        }
    }

    /// A dialog's card as a window: as large as the card, with the area around it dimmed.
    fn dimming(&self, placed: Node) -> Option<Node> {
        let mut card = placed.children.into_iter().next()?;
        let (clip, radius) = (self.screen.display().bounds(), 0.0);
        let style = PaintOp::Fill { rect: clip, radius, colour: theme::SCRIM };
        card.inks.insert(0, ClippedOp { clip, ink: style });
        Some(card)
    }
}

/// A dialog's card, centred between the bars; a higher one scrolls as a whole, unless a part of it
/// scrolls.
fn decorated(mut dialog: View, insets: (f32, f32)) -> View {
    let whole = !scrolls(&dialog);
    let is_ios_alert = ios_look::is_alert(&dialog);
    // The card's background stays while its content scrolls.
    let ground = if whole { std::mem::take(&mut dialog.look) } else { BoxStyle::default() };
    let mut card = column([dialog.shrinks()]);
    if whole {
        card = card.scrolls();
    }
    card.look = ground;
    let widest = if is_ios_alert { ios_look::ALERT_WIDTH } else { MAX_DIALOG };
    let card = card.class(crate::layout::DECOR).max_width(widest).fits();
    let (above, below) = (insets.0 + 8.0, insets.1 + 8.0);
    frame([card.grow()]).justify_center().align_center().pad_each(28.0, above, 28.0, below)
}

fn scrolls(view: &View) -> bool {
    view.scroll.is_some() || view.children.iter().any(scrolls)
}
