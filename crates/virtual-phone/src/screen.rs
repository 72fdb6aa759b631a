//! The screen: its size and which way up it is, what is laid out on it, how far its lists are scrolled, and its pixels.
//!
//! Begin with [`Screen`]. It knows no apps: which windows there are is put together by `world/windows.rs`.

use crate::geometry::{Display, Rect};
use crate::graphics::text::{TextStyle, Typesetter};
use crate::layout::{FocusMark, LaidOutField, Layout, Scrolls};
use crate::render::{Frame, Renderer};
use crate::scene::{Node, Scene};
use crate::view::View;
use std::collections::BTreeSet;

/// The screen, and what is on it.
pub(crate) struct Screen {
    /// Size in the natural orientation and density, as built.
    physical: (i32, i32, i32),
    size_override: Option<(i32, i32)>,
    density_override: Option<i32>,
    display: Display,
    on: bool,
    /// What is laid out; `None` once something has changed.
    scene: Option<Scene>,
    /// The text fields of the view in front, in order.
    fields: Vec<LaidOutField>,
    scrolls: Scrolls,
    /// Packages whose windows are secure whatever the app says.
    secure: BTreeSet<String>,
    types: Typesetter,
    renderer: Renderer,
}

impl Screen {
    /// A screen that is lit and shows nothing yet.
    pub(crate) fn new(display: Display) -> Self {
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
            types: Typesetter,
            renderer: Renderer,
        }
    }

    /// The screen as held now, overrides included.
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

    /// Pretends another size (natural orientation); `None` takes that back.
    pub(crate) fn set_size_override(&mut self, size: Option<(i32, i32)>) {
        self.size_override = size;
        self.turn(self.display.rotation);
    }

    /// Pretends another density; `None` takes that back.
    pub(crate) fn set_density_override(&mut self, density: Option<i32>) {
        self.density_override = density;
        self.turn(self.display.rotation);
    }

    /// Turns the phone: quarter turns from the natural orientation, 0 to 3.
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

    /// Lights it or turns it off.
    pub(crate) fn light(&mut self, on: bool) {
        self.on = on;
    }

    /// Something has changed: what is on it has to be laid out anew.
    pub(crate) fn forget_scene(&mut self) {
        self.scene = None;
    }

    /// Takes what is laid out, if nothing has changed since; to be given back with [`Screen::keep_scene`].
    pub(crate) fn take_scene(&mut self) -> Option<Scene> {
        self.scene.take()
    }

    /// Keeps what is laid out, until something changes.
    pub(crate) fn keep_scene(&mut self, scene: Scene) -> &Scene {
        self.scene.insert(scene)
    }

    /// The pixels of a scene: as a person sees it, or as a capture shows it (`Renderer::frame`, `Renderer::capture`).
    pub(crate) fn paint(
        &mut self,
        paint: fn(&mut Renderer, &Scene) -> Frame,
        scene: &Scene,
    ) -> Frame {
        paint(&mut self.renderer, scene)
    }

    /// The text fields of the view in front, in order.
    pub(crate) fn fields(&self) -> &[LaidOutField] {
        &self.fields
    }

    /// The view in front has these text fields.
    pub(crate) fn set_fields(&mut self, fields: Vec<LaidOutField>) {
        self.fields = fields;
    }

    /// The field with a short resource id in the view in front.
    pub(crate) fn find_field(&self, id: &str) -> Option<&LaidOutField> {
        self.fields.iter().find(|field| field.id == id)
    }

    /// How far all lists are scrolled.
    pub(crate) fn scrolls(&self) -> &Scrolls {
        &self.scrolls
    }

    /// Scrolls a container, by owner and address, to an offset in pixels.
    pub(crate) fn scroll_to(&mut self, key: (String, String), offset: i32) {
        self.scrolls.insert(key, offset);
        self.forget_scene();
    }

    /// Scrolls a container back to its beginning.
    pub(crate) fn scroll_to_top(&mut self, key: &(String, String)) {
        self.scrolls.remove(key);
    }

    /// Forgets how far the lists of a package were scrolled.
    pub(crate) fn forget_scrolls_of(&mut self, package: &str) {
        let activities = format!("{package}/");
        self.scrolls.retain(|(owner, _), _| !owner.starts_with(&activities));
    }

    /// Marks the windows of a package secure, or takes that back.
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

    /// The byte of a line of text before which a finger puts the caret that is `along` pixels from the left edge of a field `width` wide.
    pub(crate) fn caret_along(
        &mut self,
        text: &str,
        setting: TextStyle,
        (along, width): (i32, i32),
    ) -> usize {
        let shaped = self.types.shape(text, setting);
        let rtl = shaped.lines.first().is_some_and(|line| line.rtl);
        let along = if rtl { width - along } else { along } as f32;
        let ends = text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]);
        let mut before = 0;
        for end in ends.take(200) {
            let middle = self.types.advance(text.get(..end).unwrap_or_default(), setting);
            if middle > along {
                return before;
            }
            before = end;
        }
        text.len()
    }
}
