//! The screen: size and rotation, the laid-out scene, scroll offsets, and pixels.
//!
//! Start with [`Screen`]. It knows no apps; `world/windows.rs` decides which windows there are.

use crate::layout::{FocusMark, LaidOutField, Layout, Scrolls};
use crate::scene::{Node, Scene};
use crate::view::View;
use std::collections::BTreeSet;
use thumbwire_virtual_screen::Platform;
use thumbwire_virtual_screen::text::{TextStyle, Typesetter};
use thumbwire_virtual_screen::{Display, Rect};

/// The screen and what it shows.
pub(crate) struct Screen {
    /// Physical size (natural orientation) and density.
    physical: (i32, i32, i32),
    size_override: Option<(i32, i32)>,
    density_override: Option<i32>,
    display: Display,
    on: bool,
    /// The laid-out scene; `None` after a change.
    scene: Option<Scene>,
    /// The text fields of the view in front, in order.
    fields: Vec<LaidOutField>,
    scrolls: Scrolls,
    /// Packages whose windows were marked secure, whatever the app says.
    secure: BTreeSet<String>,
    types: Typesetter,
}

impl Screen {
    /// A lit, empty screen.
    pub(crate) fn new(display: Display, platform: Platform) -> Self {
        let display = display.sane();
        let (width, height) = match display.rotation % 2 {
            0 => (display.width, display.height),
            _ => (display.height, display.width),
        };
        Self {
            physical: (width, height, display.density),
            size_override: None,
            density_override: None,
            display,
            on: true,
            scene: None,
            fields: Vec::new(),
            scrolls: Scrolls::new(),
            secure: BTreeSet::new(),
            types: Typesetter::new(platform),
        }
    }

    /// The screen as currently held, including overrides.
    pub(crate) fn display(&self) -> &Display {
        &self.display
    }

    /// Width and height in the natural orientation, without overrides.
    pub(crate) fn physical_size(&self) -> (i32, i32) {
        (self.physical.0, self.physical.1)
    }

    /// Density without overrides.
    pub(crate) fn physical_density(&self) -> i32 {
        self.physical.2
    }

    /// Overrides the size (natural orientation); `None` resets it.
    pub(crate) fn set_size_override(&mut self, size: Option<(i32, i32)>) {
        self.size_override = size;
        self.turn(self.display.rotation);
    }

    /// Overrides the density; `None` resets it.
    pub(crate) fn set_density_override(&mut self, density: Option<i32>) {
        self.density_override = density;
        self.turn(self.display.rotation);
    }

    /// Rotates the phone: quarter turns from the natural orientation, 0 to 3.
    pub(crate) fn turn(&mut self, rotation: u8) {
        let (width, height) = self.size_override.unwrap_or(self.physical_size());
        let density = self.density_override.unwrap_or(self.physical.2);
        let (width, height) =
            if rotation.is_multiple_of(2) { (width, height) } else { (height, width) };
        self.display = Display { width, height, density, rotation }.sane();
        self.forget_scene();
    }

    /// Whether it is lit.
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// Turns it on or off.
    pub(crate) fn light(&mut self, on: bool) {
        self.on = on;
    }

    /// Notes a change: the scene must be laid out again.
    pub(crate) fn forget_scene(&mut self) {
        self.scene = None;
    }

    /// Takes the scene if nothing has changed since; return it with [`Screen::keep_scene`].
    pub(crate) fn take_scene(&mut self) -> Option<Scene> {
        self.scene.take()
    }

    /// Stores the scene until something changes.
    pub(crate) fn keep_scene(&mut self, scene: Scene) -> &Scene {
        self.scene.insert(scene)
    }

    /// The text fields of the view in front, in order.
    pub(crate) fn fields(&self) -> &[LaidOutField] {
        &self.fields
    }

    /// Sets the text fields of the view in front.
    pub(crate) fn set_fields(&mut self, fields: Vec<LaidOutField>) {
        self.fields = fields;
    }

    /// The field with that short resource id in the view in front.
    pub(crate) fn find_field(&self, id: &str) -> Option<&LaidOutField> {
        self.fields.iter().find(|field| field.id == id)
    }

    /// All scroll offsets.
    pub(crate) fn scrolls(&self) -> &Scrolls {
        &self.scrolls
    }

    /// Sets a container's scroll offset in pixels, by owner and address.
    pub(crate) fn scroll_to(&mut self, key: (String, String), offset: i32) {
        self.scrolls.insert(key, offset);
        self.forget_scene();
    }

    /// Scrolls a container to its start.
    pub(crate) fn scroll_to_top(&mut self, key: &(String, String)) {
        self.scrolls.remove(key);
    }

    /// Forgets a package's scroll offsets.
    pub(crate) fn forget_scrolls_of(&mut self, package: &str) {
        let activities = format!("{package}/");
        self.scrolls.retain(|(owner, _), _| !owner.starts_with(&activities));
    }

    /// Marks a package's windows secure, or removes that mark.
    pub(crate) fn set_secure(&mut self, package: &str, secure: bool) {
        if secure {
            self.secure.insert(package.to_owned());
        } else {
            self.secure.remove(package);
        }
    }

    /// Whether the windows of a package were marked secure.
    pub(crate) fn is_marked_secure(&self, package: &str) -> bool {
        self.secure.contains(package)
    }

    /// Lays out a view in an area.
    pub(crate) fn place(
        &mut self,
        view: &View,
        area: Rect,
        (package, owner): (&str, &str),
        focus: Option<&FocusMark>,
    ) -> Node {
        let scale = self.display.scale();
        let (types, scrolls) = (&mut self.types, &mut self.scrolls);
        Layout { types, scale, package, owner, scrolls, focus }.place(view, area)
    }

    /// The width of a text on one line, in pixels.
    pub(crate) fn advance(&mut self, text: &str, style: TextStyle) -> f32 {
        self.types.advance(text, style)
    }
}
