//! Health checks: does the phone respond, is its screen on, can its screen be read.

use async_trait::async_trait;

use super::{Android, CommandOutput, ShellCommand, ui};
use crate::{Check, Error, Health, HealthChecks, HelperChecks, HelperStatus};

#[async_trait]
impl HealthChecks for Android {
    async fn check_health(&self) -> Result<Health, Error> {
        let (power, tools) = tokio::join!(self.ask(power_command()), self.ask(tools_command()));
        let connected = match &power {
            Ok(_) => Ok("connected".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        let checks = [
            ("connectivity", connected),
            ("screen_state", check_result(power, read_power)),
            ("ui_service", check_result(tools, read_tools)),
        ];
        let checks = checks.map(|(name, found)| match found {
            Ok(details) => Check { name: name.into(), passed: true, details },
            Err(details) => Check { name: name.into(), passed: false, details },
        });
        Ok(Health { checks: checks.into() })
    }
}

#[async_trait]
impl HelperChecks for Android {
    async fn check_helper(&self) -> Result<HelperStatus, Error> {
        self.helper_status().await
    }
}

/// The check's result, or why it could not run.
fn check_result(
    result: Result<CommandOutput, Error>,
    read: fn(&str) -> Result<String, String>,
) -> Result<String, String> {
    read(&result.map_err(|error| format!("check failed to run: {error}"))?.out)
}

fn power_command() -> ShellCommand {
    ShellCommand::new("dumpsys power")
}

/// Parses whether the screen is on. `mWakefulness` is in the report since Android 4.2; only `Awake`
/// accepts touches (`PowerManagerInternal.wakefulnessToString`). If a vendor removed it, the
/// display's own state is there since Android 5.
fn read_power(text: &str) -> Result<String, String> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(name))?;
        line.split(|char: char| !char.is_ascii_alphanumeric() && char != '_').next()
    };
    let known = value("mWakefulness=").or_else(|| value("Display Power: state="));
    match known.unwrap_or_default() {
        "Awake" | "ON" => Ok("on".into()),
        "Asleep" | "OFF" => Err("off".into()),
        "Dozing" | "DOZE" | "DOZE_SUSPEND" => Err("dozing".into()),
        "Dreaming" => Err("dreaming: the screen saver is on".into()),
        "" => Err("unknown: the phone does not report it".into()),
        other => Err(other.to_ascii_lowercase()),
    }
}

/// Prints whether `uiautomator` exists, then all processes with their arguments. The `ps` of phones
/// before Android 8 has no fields and lists all processes by default.
fn tools_command() -> ShellCommand {
    ShellCommand::new(
        "[ -f /system/bin/uiautomator ] && echo found; ps -A -o ARGS 2>/dev/null || ps",
    )
}

/// Parses whether trees can be read. The phone serves one tool at a time (`UiAutomation`): another
/// tool blocks it while it runs. Our own `uiautomator`, if it happens to be running right now,
/// cannot be distinguished and counts too.
fn read_tools(text: &str) -> Result<String, String> {
    let mut lines = text.lines().map(str::trim);
    if !lines.any(|line| line == "found") {
        return Err("uiautomator is missing on this phone".into());
    }
    match lines.find_map(find_holder) {
        Some(holder) => {
            Err(format!("in use by {holder}: only one tool at a time can read the screen"))
        }
        None => Ok("uiautomator is ready".into()),
    }
}

/// Parts of the names of processes that hold `UiAutomation`: Android's own `uiautomator`, the
/// servers of Appium (`io.appium.uiautomator2.server`) and of openatx (`com.github.uiautomator`,
/// later `com.wetest.uia2.Main`), Maestro, Poco.
const HOLDERS: [&str; 4] = ["uiautomator", "wetest.uia2", "dev.mobile.maestro", "pocoservice"];

/// The word of a line of `ps` that names one of these processes.
fn find_holder(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().filter(|word| !word.starts_with('/'));
    words.find(|word| HOLDERS.iter().any(|holder| word.contains(holder)))
}

impl Android {
    /// Another tool that may hold UiAutomation, if one is in the phone's process list.
    pub(super) async fn find_holder(&self) -> Option<String> {
        let tools = self.ask(tools_command()).await.map(|output| output.out).unwrap_or_default();
        tools.lines().find_map(find_holder).map(str::to_owned)
    }
}

/// The error of a dump that another tool may have prevented, with which tool it is. If the phone
/// does not say, only typical ones are named.
pub(super) fn held_by(text: &str, holder: Option<String>) -> Error {
    let advice = match holder {
        Some(holder) => format!("{holder} is running: stop that tool, then try again"),
        None => "Typical tools are Appium, uiautomator2 and Maestro; none of them is in the phone's process list, so it \
                 may be another adb session"
            .into(),
    };
    Error::NotReady { what: ui::WHAT, text: format!("{text}. {advice}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awake_screen_is_on() {
        let check = |text: &str, passed: bool, details: &str| {
            let found = if passed { Ok(details.to_owned()) } else { Err(details.to_owned()) };
            assert_eq!(read_power(text), found, "{text:?}");
        };
        check("Power Manager State:\r\n  mWakefulness=Awake\r\n", true, "on");
        check("  mWakefulness=Asleep\n", false, "off");
        check("  mWakefulness=Dozing\n", false, "dozing");
        check("  mWakefulness=Dreaming\n", false, "dreaming: the screen saver is on");
        check("\nDisplay Power: state=ON\n", true, "on");
        check("Can't find service: power\n", false, "unknown: the phone does not report it");
        check("  mWakefulness=3\n", false, "3");
    }

    #[test]
    fn advice_names_the_tool_that_runs_or_typical_ones() {
        let advice = |holder: Option<&str>| held_by("held", holder.map(str::to_owned)).to_string();
        let of_appium = advice(Some("io.appium.uiautomator2.server"));
        let words =
            "held. io.appium.uiautomator2.server is running: stop that tool, then try again";
        assert!(of_appium.contains(words), "{of_appium}");
        assert!(advice(None).contains("Appium, uiautomator2"), "{}", advice(None));
    }

    #[test]
    fn competing_tool_is_named() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(read_tools(text), expected, "{text:?}");
        };
        check("found\nARGS\ninit\n/system/bin/uiautomatord\n", Ok("uiautomator is ready"));
        check("ARGS\ninit\n", Err("uiautomator is missing on this phone"));
        check("", Err("uiautomator is missing on this phone"));
        let held =
            "in use by io.appium.uiautomator2.server: only one tool at a time can read the screen";
        check("found\r\nARGS\r\nio.appium.uiautomator2.server\r\n", Err(held));
        let old = "found\nUSER PID PPID VSIZE RSS WCHAN PC NAME\nu0_a1 9 1 2 3 0 0 S io.appium.uiautomator2.server\n";
        check(old, Err(held));
        check(
            "found\napp_process / com.wetest.uia2.Main\n",
            Err("in use by com.wetest.uia2.Main: only one tool at a time can read the screen"),
        );
        let shell = "in use by com.android.commands.uiautomator.Launcher: only one tool at a time can read the screen";
        check(
            "found\napp_process /system/bin com.android.commands.uiautomator.Launcher dump\n",
            Err(shell),
        );
    }
}
