//! Device information: manufacturer, Android version, screen and battery.

use super::{Android, ShellCommand, display};
use crate::error::excerpt;
use crate::{Battery, DeviceInfo, Error};

impl Android {
    /// API level such as 34; cached after the first request.
    pub(super) async fn api_level(&self) -> Result<u32, Error> {
        if let Some(level) = self.level.get() {
            return Ok(*level);
        }
        let line = ShellCommand::new("getprop ro.build.version.sdk");
        let command = line.as_str().to_owned();
        let output = self.ask(line).await?;
        let level = output.out.lines().find_map(|line| line.trim().parse().ok());
        let level =
            level.ok_or_else(|| Error::Unreadable { command, text: excerpt(&output.out) })?;
        Ok(*self.level.get_or_init(|| level))
    }

    pub(super) async fn read_info(&self) -> Result<DeviceInfo, Error> {
        let (properties, displays, battery) = tokio::try_join!(
            self.ask(properties_command()),
            self.displays(),
            self.ask(battery_command())
        )?;
        let display = display::read_display(&displays)?;
        let properties = read_properties(&properties.out);
        let property = |name: &str| {
            let found = properties.iter().find(|(known, _)| known == name);
            found.map_or_else(String::new, |(_, value)| value.clone())
        };
        Ok(DeviceInfo {
            manufacturer: property("ro.product.manufacturer"),
            model: property("ro.product.model"),
            os_version: property("ro.build.version.release"),
            api_level: property("ro.build.version.sdk").parse().ok(),
            screen: display.size,
            density: display.density,
            orientation: display.orientation(),
            battery: read_battery(&battery.out),
            serial: property("ro.serialno"),
            panel: display.panel,
        })
    }
}

/// Prints all system properties.
pub(super) fn properties_command() -> ShellCommand {
    ShellCommand::new("getprop")
}

/// Parses `getprop`'s list of `[name]: [value]`; a value may span several lines. Sorted by name.
pub(super) fn read_properties(text: &str) -> Vec<(String, String)> {
    let mut properties: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        let entry = line.strip_prefix('[').and_then(|line| line.split_once("]: ["));
        match entry {
            Some((name, value)) if !open => {
                open = !value.ends_with(']');
                properties.push((name.into(), value.strip_suffix(']').unwrap_or(value).into()));
            }
            _ => {
                if let Some((_, value)) = properties.last_mut().filter(|_| open) {
                    open = !line.ends_with(']');
                    value.push('\n');
                    value.push_str(line.strip_suffix(']').unwrap_or(line));
                }
            }
        }
    }
    properties.sort();
    properties
}

fn battery_command() -> ShellCommand {
    ShellCommand::new("dumpsys battery")
}

/// Parses `dumpsys battery`; `None` if the device has no battery or does not report one.
fn read_battery(text: &str) -> Option<Battery> {
    // Source: `android.os.BatteryManager`.
    const UNKNOWN: u32 = 1;
    const CHARGING: u32 = 2;
    let number = |name: &str| {
        let lines = text.lines().filter_map(|line| line.trim().split_once(": "));
        lines
            .filter(|(key, _)| *key == name)
            .find_map(|(_, value)| value.trim().parse::<u32>().ok())
    };
    let (level, scale) = (number("level")?, number("scale").filter(|&scale| scale > 0)?);
    let percent = u8::try_from(u64::from(level) * 100 / u64::from(scale)).ok()?;
    let status = number("status").unwrap_or(UNKNOWN);
    Some(Battery { percent: percent.min(100), charging: status == CHARGING, status })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_may_contain_brackets_and_line_breaks() {
        let output = "[b]: [two\r\nlines]\r\n[a]: [x [y]: z]\r\n[c]: []\r\n";
        let read = read_properties(output);
        let expected = [("a", "x [y]: z"), ("b", "two\nlines"), ("c", "")];
        assert_eq!(read.len(), 3);
        for ((name, value), expected) in read.iter().zip(expected) {
            assert_eq!((name.as_str(), value.as_str()), expected);
        }
    }

    #[test]
    fn battery_is_parsed() {
        let output = "Current Battery Service state:\r\n  AC powered: true\r\n  status: 2\r\n  level: 45\r\n  scale: 90\r\n";
        assert_eq!(read_battery(output), Some(Battery { percent: 50, charging: true, status: 2 }));
        let full = "  status: 5\n  level: 100\n  scale: 100\n";
        assert_eq!(read_battery(full), Some(Battery { percent: 100, charging: false, status: 5 }));
        assert_eq!(read_battery("Can't find service: battery"), None);
        assert_eq!(read_battery("  level: 5\n  scale: 0\n"), None);
    }
}
