//! What a phone keeps adb from: the switches of its maker, and users and profiles that it keeps to
//! themselves. Also whose apps a command is about.
//!
//! Start with [`Android::explained`]. Trying again never helps here, so a [`SecurityException`] is
//! always [`Error::Refused`].
//!
//! [`SecurityException`]: https://developer.android.com/reference/java/lang/SecurityException

use std::time::Duration;

use thumbwire_base::lock;
use tokio::time::Instant;

use super::packages::entry;
use super::{Android, CommandOutput, ShellCommand, info};
use crate::error::excerpt;
use crate::{AppId, Error};

/// How long the current user is remembered. Only a person changes it.
const FRESH: Duration = Duration::from_secs(30);

/// What a switch in the developer options allows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowance {
    /// Touches, keys, settings and permissions.
    Control,
    /// Installing apps.
    Install,
}

/// A maker's own switch.
struct Switch {
    /// As in `ro.product.manufacturer` and `ro.product.brand`, in lower case.
    makers: &'static [&'static str],
    allows: Allowance,
    advice: &'static str,
}

const SWITCHES: [Switch; 6] = [
    // Genymobile/scrcpy, README "Prerequisites" and issue 3824; the restart: appium issue 13802.
    Switch {
        makers: &["Xiaomi", "Redmi", "POCO"],
        allows: Allowance::Control,
        advice: "turn on \"USB debugging (Security settings)\" in the developer options, then restart the phone",
    },
    // appium/appium issue 13802 (a realme); the three share ColorOS.
    Switch {
        makers: &["OPPO", "realme", "OnePlus"],
        allows: Allowance::Control,
        advice: "turn on \"Disable permission monitoring\" in the developer options, then connect again",
    },
    // Not verified: Airtest's documentation, "Connect Android devices", from memory.
    Switch {
        makers: &["vivo", "iQOO"],
        allows: Allowance::Control,
        advice: "turn on \"USB simulated click\" (or \"USB debugging (Security settings)\") in the developer options",
    },
    // dotnet/maui issue 10829, and MIUI's own names.
    Switch {
        makers: &["Xiaomi", "Redmi", "POCO"],
        allows: Allowance::Install,
        advice: "turn on \"Install via USB\" in the developer options, and confirm on the screen",
    },
    // Not verified: Airtest's documentation, "Connect Android devices", and EMUI, from memory.
    Switch {
        makers: &["HUAWEI", "HONOR"],
        allows: Allowance::Install,
        advice: "turn off \"Monitor ADB install apps\" in the developer options, and confirm on the screen",
    },
    // Android Authority, 23 July 2024, on One UI 6.1.1.
    Switch {
        makers: &["samsung"],
        allows: Allowance::Install,
        advice: "turn off \"Auto Blocker\" in Security and privacy",
    },
];

/// What to do about it on a phone of this maker; for an unknown one, what the makers call it.
fn advice(allows: Allowance, maker: &str) -> String {
    let switches = SWITCHES.iter().filter(|switch| switch.allows == allows);
    let is_of = |switch: &&Switch| {
        switch.makers.iter().any(|name| maker.to_lowercase().contains(&name.to_lowercase()))
    };
    if let Some(switch) = switches.clone().find(is_of) {
        return format!("on a phone of this maker, {}", switch.advice);
    }
    let all: Vec<String> =
        switches.map(|it| format!("{}: {}", it.makers.join(", "), it.advice)).collect();
    match allows {
        Allowance::Control => format!(
            "some makers have a switch for it ({}); else the app in front may refuse it",
            all.join("; ")
        ),
        Allowance::Install => format!("some makers have a switch for it ({})", all.join("; ")),
    }
}

/// A user or profile by its number. Sources: Samsung's numbers from reports of `Shell does not have
/// permission to access user 150`; 999 is MIUI's and ColorOS's for cloned apps.
pub(super) fn profile(user: u32) -> String {
    let name = match user {
        0 => "the phone's first user",
        95..=99 => "Samsung's Dual Messenger",
        150..=160 => "Samsung's Secure Folder",
        999 => "cloned apps",
        _ => "another user, or a work profile",
    };
    format!("user {user} ({name})")
}

/// The line of a refusal.
fn refused_line(output: &CommandOutput) -> Option<&str> {
    let mut lines = output.out.lines().chain(output.err.lines());
    lines.find(|line| line.contains("SecurityException") || line.contains("INJECT_EVENTS"))
}

/// The user that adb is kept out of: `Shell does not have permission to access user 150`.
fn kept_user(line: &str) -> Option<u32> {
    let (_, rest) = line.split_once("access user ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

impl Android {
    /// The user whose apps are on the screen, for the option `--user`. `None` before Android 7, and
    /// where the phone does not say: then its own default counts, which on some phones is all
    /// users, and a refusal for one of them costs the rest.
    pub(super) async fn user(&self) -> Result<Option<u32>, Error> {
        if self.legacy.is_some() {
            return Ok(None);
        }
        if let Some((user, at)) = *lock(&self.current_user)
            && at.elapsed() < FRESH
        {
            return Ok(Some(user));
        }
        let output = self.ask(ShellCommand::new("am get-current-user")).await?;
        let user = output.out.lines().find_map(|line| line.trim().parse().ok());
        *lock(&self.current_user) = user.map(|user| (user, Instant::now()));
        Ok(user)
    }

    /// The result of a command, or, if it failed because the phone refuses it, why and what allows
    /// it.
    pub(super) async fn explained<T>(
        &self,
        output: &CommandOutput,
        result: Result<T, Error>,
    ) -> Result<T, Error> {
        match (result, refused_line(output)) {
            (Err(Error::Failed { .. } | Error::Unreadable { .. }), Some(line)) => {
                Err(self.refusal(line).await)
            }
            (Err(Error::PackageRefused { code, text }), _) if is_kept_install(&code) => {
                let advice = advice(Allowance::Install, &self.maker().await);
                let text = if text.is_empty() { advice } else { format!("{text}; {advice}") };
                Err(Error::PackageRefused { code, text })
            }
            (result, _) => result,
        }
    }

    async fn refusal(&self, line: &str) -> Error {
        let reason = match kept_user(line) {
            Some(user) => {
                format!("the phone keeps adb out of {}: {}", profile(user), excerpt(line.trim()))
            }
            None => {
                let advice = advice(Allowance::Control, &self.maker().await);
                format!("{}; the phone does not let adb do it: {advice}", excerpt(line.trim()))
            }
        };
        Error::Refused { what: "access", reason }
    }

    /// Maker and brand; empty if the phone does not say.
    async fn maker(&self) -> String {
        let output = self.ask(info::properties_command()).await;
        let properties = output.map(|output| info::read_properties(&output.out));
        let names = ["ro.product.manufacturer", "ro.product.brand"];
        let named = properties.unwrap_or_default().into_iter();
        let values = named.filter(|(name, _)| names.contains(&&**name)).map(|(_, value)| value);
        values.collect::<Vec<_>>().join(" ")
    }

    /// The error for an app that the current user does not have: who else has it.
    pub(super) async fn no_such_app(&self, app: &AppId) -> Error {
        let report = async { self.ask(ShellCommand::new("dumpsys package").arg(&app.0)?).await };
        let others = report.await.map(|report| users_of(app, &report.out)).unwrap_or_default();
        if others.is_empty() {
            return Error::NoSuchApp { app: app.0.clone() };
        }
        let others: Vec<String> = others.into_iter().map(profile).collect();
        let reason = format!(
            "{} is installed only for {}; open it there by hand",
            app.0,
            others.join(" and ")
        );
        Error::Refused { what: "this app", reason }
    }
}

/// The install codes by which makers keep adb from installing.
fn is_kept_install(code: &str) -> bool {
    matches!(code, "INSTALL_FAILED_USER_RESTRICTED" | "INSTALL_FAILED_ABORTED")
}

/// The users for whom an app is installed, by the report about it.
fn users_of(app: &AppId, text: &str) -> Vec<u32> {
    let lines = entry(app, text).into_iter().flatten();
    let users = lines.filter_map(|line| line.strip_prefix("User ")?.split_once(':'));
    users
        .filter(|(_, state)| state.contains("installed=true"))
        .filter_map(|(user, _)| user.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switch_is_that_of_the_maker() {
        let check = |maker: &str, allows: Allowance, expected: &str| {
            let words = advice(allows, maker);
            assert!(words.contains(expected), "{maker}: {words}");
            words
        };
        for maker in ["Xiaomi Redmi", "POCO", "xiaomi"] {
            let words = check(maker, Allowance::Control, "USB debugging (Security settings)");
            assert!(!words.contains("permission monitoring"), "{words}");
        }
        for maker in ["OPPO OPPO", "realme", "OnePlus OnePlus"] {
            check(maker, Allowance::Control, "Disable permission monitoring");
        }
        check("vivo", Allowance::Control, "USB simulated click");
        check("HUAWEI HONOR", Allowance::Install, "Monitor ADB install");
        let all = check("Google google", Allowance::Control, "Xiaomi, Redmi, POCO: ");
        assert!(
            all.contains("OPPO, realme, OnePlus: ") && all.contains("the app in front"),
            "{all}"
        );
    }

    #[test]
    fn refused_user_is_named() {
        let line = "java.lang.SecurityException: Shell does not have permission to access user 150";
        assert_eq!(kept_user(line), Some(150));
        assert_eq!(profile(150), "user 150 (Samsung's Secure Folder)");
        assert_eq!(profile(10), "user 10 (another user, or a work profile)");
        assert_eq!(kept_user("java.lang.SecurityException: Permission Denial"), None);
    }

    #[test]
    fn users_of_an_app_are_those_that_have_it_installed() {
        let report = "Packages:\n  Package [com.x] (1):\n    versionCode=1\n    User 0: ceDataInode=0 installed=false hidden=false\n    User 150: ceDataInode=7 installed=true hidden=false\n";
        assert_eq!(users_of(&AppId("com.x".into()), report), [150]);
        assert_eq!(users_of(&AppId("com.y".into()), report), [0; 0]);
    }
}
