//! Changes settings and applies their effects.

use crate::settings::Settings;
use crate::world::World;

impl World {
    /// The value of a setting in the table `system`, `secure` or `global`, e.g. `global`,
    /// `wifi_on`.
    pub fn setting(&self, table: &str, name: &str) -> Option<&str> {
        self.settings.get(table, name)
    }

    /// Changes a setting and applies its effects: a locked screen rotates to `user_rotation`, the
    /// status bar updates. An unknown table changes nothing, nor does a new name when the tables
    /// are full.
    pub fn put_setting(&mut self, table: &str, name: &str, value: &str) {
        self.settings.put(table, name, value);
        let held = self.setting("system", "accelerometer_rotation") == Some("0");
        if held && table == "system" && matches!(name, "user_rotation" | "accelerometer_rotation") {
            let rotation = self.settings.number("system", "user_rotation", 0);
            self.set_rotation(rotation.rem_euclid(4) as u8);
        } else {
            self.rebuild();
        }
    }

    /// Changes a setting as the user does on the screen: turning auto-rotate off keeps the current
    /// rotation (`RotationPolicy.setRotationLock`).
    pub(crate) fn change_setting(&mut self, table: &str, name: &str, value: &str) {
        if name == "accelerometer_rotation" && value == "0" {
            let rotation = self.screen.display().rotation.to_string();
            self.put_setting("system", "user_rotation", &rotation);
        }
        self.put_setting(table, name, value);
    }

    /// Deletes a setting; `false` if there is none.
    pub fn remove_setting(&mut self, table: &str, name: &str) -> bool {
        let gone = self.settings.remove(table, name);
        self.rebuild();
        gone
    }

    /// All settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Setup;

    #[test]
    fn only_a_locked_screen_rotates_with_its_setting() {
        let mut world = World::new(Setup::default());
        world.put_setting("system", "user_rotation", "1");
        assert_eq!(world.display().rotation, 0);
        world.put_setting("system", "accelerometer_rotation", "0");
        assert_eq!(world.display().rotation, 1);
        world.put_setting("system", "user_rotation", "-9999999999");
        assert!(world.display().rotation < 4);
        world.put_setting("system", "user_rotation", "no number");
        assert_eq!(world.display().rotation, 0);
    }
}
