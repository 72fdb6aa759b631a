//! The phone's settings: the tables `system`, `secure` and `global`, as the Settings app shows them
//! and the shell's `settings` prints them.
//!
//! Start with `World::put_setting`, the only way to change one: it stores the value and applies its
//! effects. Values are text under Android's names (`android.provider.Settings`). Not here: access
//! rights; on this phone everyone may change everything.

use std::collections::BTreeMap;

/// The phone's own input method.
pub(crate) const LATIN: &str = "com.android.inputmethod.latin/.LatinIME";

/// Maximum entries of all tables together.
const MAX_COUNT: usize = 4_000;

/// Values of `wifi_on` besides off and on: on despite airplane mode, and off only while airplane
/// mode lasts (`WifiSettingsStore.java` of Android 14).
pub(crate) mod wifi {
    pub(crate) const OFF: &str = "0";
    pub(crate) const ON: &str = "1";
    pub(crate) const ON_IN_AIRPLANE_MODE: &str = "2";
    pub(crate) const OFF_FOR_AIRPLANE_MODE: &str = "3";
}

/// Table to name to value.
#[derive(Debug)]
pub struct Settings(BTreeMap<String, BTreeMap<String, String>>);

impl Default for Settings {
    fn default() -> Self {
        let tables = ["global", "secure", "system"];
        let mut settings = Self(tables.map(|table| (table.to_owned(), BTreeMap::new())).into());
        for (table, name, value) in [
            ("global", "adb_enabled", "1"),
            ("global", "airplane_mode_on", "0"),
            ("global", "animator_duration_scale", "1.0"),
            ("global", "auto_time", "1"),
            ("global", "auto_time_zone", "1"),
            ("global", "bluetooth_on", "1"),
            ("global", "device_name", "Virtual Pixel"),
            ("global", "device_provisioned", "1"),
            ("global", "low_power", "0"),
            ("global", "mobile_data", "1"),
            ("global", "stay_on_while_plugged_in", "7"),
            ("global", "transition_animation_scale", "1.0"),
            ("global", "wifi_on", wifi::ON),
            ("global", "window_animation_scale", "1.0"),
            ("global", "zen_mode", "0"),
            ("secure", "android_id", "d782e5ebfdd5edf0"),
            ("secure", "default_input_method", LATIN),
            ("secure", "enabled_input_methods", LATIN),
            ("secure", "location_mode", "3"),
            ("secure", "notification_badging", "1"),
            ("secure", "user_setup_complete", "1"),
            ("system", "accelerometer_rotation", "1"),
            ("system", "font_scale", "1.0"),
            ("system", "haptic_feedback_enabled", "1"),
            ("system", "screen_brightness", "128"),
            ("system", "screen_brightness_mode", "0"),
            ("system", "screen_off_timeout", "600000"),
            ("system", "sound_effects_enabled", "1"),
            ("system", "status_bar_show_battery_percent", "1"),
            ("system", "user_rotation", "0"),
            ("system", "volume_alarm_speaker", "6"),
            ("system", "volume_music_speaker", "7"),
            ("system", "volume_ring_speaker", "5"),
        ] {
            settings.put(table, name, value);
        }
        settings
    }
}

impl Settings {
    pub(crate) fn get(&self, table: &str, name: &str) -> Option<&str> {
        self.0.get(table)?.get(name).map(String::as_str)
    }

    /// Whether a setting is set to anything but `0`; a missing one counts as off.
    pub(crate) fn on(&self, table: &str, name: &str) -> bool {
        self.get(table, name).is_some_and(|value| value != "0")
    }

    /// A setting's number; `otherwise` if it has none.
    pub(crate) fn number(&self, table: &str, name: &str, otherwise: i64) -> i64 {
        self.get(table, name).and_then(|value| value.parse().ok()).unwrap_or(otherwise)
    }

    /// Whether the Wi-Fi radio is on, airplane mode considered.
    pub(crate) fn wifi(&self) -> bool {
        matches!(self.get("global", "wifi_on"), Some(wifi::ON | wifi::ON_IN_AIRPLANE_MODE))
    }

    /// The new value of `wifi_on` when Wi-Fi is turned on or off.
    pub(crate) fn wifi_state(&self) -> &'static str {
        match (self.wifi(), self.on("global", "airplane_mode_on")) {
            (true, _) => wifi::OFF,
            (false, true) => wifi::ON_IN_AIRPLANE_MODE,
            (false, false) => wifi::ON,
        }
    }

    /// The new value of `wifi_on` when airplane mode changes: the radio goes off, and comes back
    /// afterwards unless the user chose otherwise.
    pub(crate) fn wifi_for_airplane_mode(&self, on: bool) -> &str {
        match (on, self.get("global", "wifi_on").unwrap_or(wifi::OFF)) {
            (true, wifi::ON) => wifi::OFF_FOR_AIRPLANE_MODE,
            (false, wifi::OFF_FOR_AIRPLANE_MODE | wifi::ON_IN_AIRPLANE_MODE) => wifi::ON,
            (_, as_it_is) => as_it_is,
        }
    }

    /// Names and values of a table, sorted by name.
    pub fn list(&self, table: &str) -> impl Iterator<Item = (&str, &str)> {
        let rows = self.0.get(table).into_iter().flatten();
        rows.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Deletes a setting; `false` if there is none.
    pub(crate) fn remove(&mut self, table: &str, name: &str) -> bool {
        self.0.get_mut(table).and_then(|table| table.remove(name)).is_some()
    }

    /// Stores a value. An unknown table, or a new name when the tables are full, changes nothing.
    pub(crate) fn put(&mut self, table: &str, name: &str, value: &str) {
        let full = self.0.values().map(BTreeMap::len).sum::<usize>() >= MAX_COUNT;
        if let Some(table) = self.0.get_mut(table)
            && (!full || table.contains_key(name))
        {
            table.insert(name.to_owned(), value.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_table_still_accepts_new_values_for_existing_names() {
        let mut settings = Settings::default();
        for number in 0..MAX_COUNT {
            settings.put("system", &format!("name{number}"), "x");
        }
        settings.put("system", "one_more", "x");
        assert_eq!(settings.get("system", "one_more"), None);
        settings.put("system", "user_rotation", "1");
        assert_eq!(settings.get("system", "user_rotation"), Some("1"));
        settings.put("nowhere", "user_rotation", "1");
        assert_eq!(settings.list("nowhere").count(), 0);
    }
}
