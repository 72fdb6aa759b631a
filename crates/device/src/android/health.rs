//! How well a phone can be driven: whether it answers, whether its screen is on, whether its screen can be read.

use super::{Android, Line, Said};
use crate::{Check, Error, Health};

impl Android {
    pub(super) async fn check_health(&self) -> Health {
        let (power, tools) = tokio::join!(self.ask(power_command()), self.ask(tools_command()));
        let connected = match &power {
            Ok(_) => Ok("connected".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        let checks = [
            ("connectivity", connected),
            ("screen_state", found(power, read_power)),
            ("ui_service", found(tools, read_tools)),
        ];
        let checks = checks.map(|(name, found)| match found {
            Ok(details) => Check { name, passed: true, details },
            Err(details) => Check { name, passed: false, details },
        });
        Health { checks: checks.into() }
    }
}

/// What was found, or why nothing was.
fn found(
    said: Result<Said, Error>,
    read: fn(&str) -> Result<String, String>,
) -> Result<String, String> {
    read(&said.map_err(|error| format!("not checked: {error}"))?.out)
}

fn power_command() -> Line {
    Line::new("dumpsys power")
}

/// Reads whether the screen is on. `mWakefulness` stands in the report since Android 4.2; only `Awake` takes touches
/// (`PowerManagerInternal.wakefulnessToString`). Where a maker took it away, the display's own state is told since Android 5.
fn read_power(said: &str) -> Result<String, String> {
    let value = |name: &str| {
        let line = said.lines().find_map(|line| line.trim().strip_prefix(name))?;
        line.split(|char: char| !char.is_ascii_alphanumeric() && char != '_').next()
    };
    let known = value("mWakefulness=").or_else(|| value("Display Power: state="));
    match known.unwrap_or_default() {
        "Awake" | "ON" => Ok("on".into()),
        "Asleep" | "OFF" => Err("off".into()),
        "Dozing" | "DOZE" | "DOZE_SUSPEND" => Err("dozing".into()),
        "Dreaming" => Err("dreaming: a screen saver is shown".into()),
        "" => Err("unknown: the phone does not say".into()),
        other => Err(other.to_ascii_lowercase()),
    }
}

/// Whether `uiautomator` is there, then every process with its arguments. The `ps` of phones before Android 8 knows no
/// fields, and tells all processes by itself.
fn tools_command() -> Line {
    Line::new("[ -f /system/bin/uiautomator ] && echo found; ps -A -o ARGS 2>/dev/null || ps")
}

/// Reads whether trees can be had. One tool at a time is served by the phone (`UiAutomation`): another one holds it while it
/// runs, and a `uiautomator` of ours that looks at this moment counts as one too, since that cannot be told apart.
fn read_tools(said: &str) -> Result<String, String> {
    let mut lines = said.lines().map(str::trim);
    if lines.next() != Some("found") {
        return Err("uiautomator is not on this phone".into());
    }
    let words = lines.flat_map(str::split_whitespace);
    match words.filter(|word| !word.starts_with('/')).find(|word| word.contains("uiautomator")) {
        Some(holder) => Err(format!("held by {holder}: one tool at a time is served")),
        None => Ok("uiautomator is ready".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_that_takes_touches_is_on() {
        let check = |said: &str, passed: bool, details: &str| {
            let found = if passed { Ok(details.to_owned()) } else { Err(details.to_owned()) };
            assert_eq!(read_power(said), found, "{said:?}");
        };
        check("Power Manager State:\r\n  mWakefulness=Awake\r\n", true, "on");
        check("  mWakefulness=Asleep\n", false, "off");
        check("  mWakefulness=Dozing\n", false, "dozing");
        check("  mWakefulness=Dreaming\n", false, "dreaming: a screen saver is shown");
        check("\nDisplay Power: state=ON\n", true, "on");
        check("Can't find service: power\n", false, "unknown: the phone does not say");
        check("  mWakefulness=3\n", false, "3");
    }

    #[test]
    fn another_tool_that_reads_the_screen_is_named() {
        let check = |said: &str, expected: Result<&str, &str>| {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(read_tools(said), expected, "{said:?}");
        };
        check("found\nARGS\ninit\n/system/bin/uiautomatord\n", Ok("uiautomator is ready"));
        check("ARGS\ninit\n", Err("uiautomator is not on this phone"));
        check("", Err("uiautomator is not on this phone"));
        let held = "held by io.appium.uiautomator2.server: one tool at a time is served";
        check("found\r\nARGS\r\nio.appium.uiautomator2.server\r\n", Err(held));
        let old = "found\nUSER PID PPID VSIZE RSS WCHAN PC NAME\nu0_a1 9 1 2 3 0 0 S io.appium.uiautomator2.server\n";
        check(old, Err(held));
        let shell =
            "held by com.android.commands.uiautomator.Launcher: one tool at a time is served";
        check(
            "found\napp_process /system/bin com.android.commands.uiautomator.Launcher dump\n",
            Err(shell),
        );
    }
}
