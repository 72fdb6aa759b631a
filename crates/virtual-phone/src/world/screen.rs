//! The screen's size, density and how it is turned, with what overrides them.

use super::World;
use super::geometry::Display;

impl World {
    /// The screen as held now, overrides included.
    pub fn display(&self) -> &Display {
        &self.display
    }

    /// Width and height in the natural orientation, without overrides.
    pub fn physical_size(&self) -> (i32, i32) {
        (self.physical.0, self.physical.1)
    }

    /// Density without overrides.
    pub fn physical_density(&self) -> i32 {
        self.physical.2
    }

    /// Makes the phone pretend another size (natural orientation); `None` takes that back.
    pub fn set_size_override(&mut self, size: Option<(i32, i32)>) {
        self.size_override = size;
        self.turn_screen(self.display.rotation);
    }

    /// Makes the phone pretend another density; `None` takes that back.
    pub fn set_density_override(&mut self, density: Option<i32>) {
        self.density_override = density;
        self.turn_screen(self.display.rotation);
    }

    /// Turns the phone: quarter turns from the natural orientation, counted modulo 4.
    pub fn set_rotation(&mut self, rotation: u8) {
        self.turn_screen(rotation % 4);
    }

    fn turn_screen(&mut self, rotation: u8) {
        let (width, height) = self.size_override.unwrap_or((self.physical.0, self.physical.1));
        let density = self.density_override.unwrap_or(self.physical.2);
        let (width, height) =
            if rotation.is_multiple_of(2) { (width, height) } else { (height, width) };
        self.display = Display { width, height, density, rotation }.sane();
        self.gesture = None;
        self.fling = None;
        if let Some(focus) = &mut self.focus {
            focus.reveal = true;
        }
        self.settle();
    }
}
