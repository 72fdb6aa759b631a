//! The screen's size and rotation.

use crate::world::World;
use thumbwire_virtual_screen::Display;

impl World {
    /// The screen as currently held, including overrides.
    pub fn display(&self) -> &Display {
        self.screen.display()
    }

    /// Width and height in the natural orientation, without overrides.
    pub fn physical_size(&self) -> (i32, i32) {
        self.screen.physical_size()
    }

    /// Density without overrides.
    pub fn physical_density(&self) -> i32 {
        self.screen.physical_density()
    }

    /// Overrides the size (natural orientation); `None` resets it.
    pub fn set_size_override(&mut self, size: Option<(i32, i32)>) {
        self.screen.set_size_override(size);
        self.on_rotation();
    }

    /// Overrides the density; `None` resets it.
    pub fn set_density_override(&mut self, density: Option<i32>) {
        self.screen.set_density_override(density);
        self.on_rotation();
    }

    /// Rotates the phone: quarter turns from the natural orientation, modulo 4.
    pub fn set_rotation(&mut self, rotation: u8) {
        self.screen.turn(rotation % 4);
        self.on_rotation();
    }

    fn on_rotation(&mut self) {
        self.input.cancel_touch();
        self.input.reveal_focus(true);
        self.rebuild();
    }
}
