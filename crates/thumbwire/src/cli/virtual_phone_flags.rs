//! Flags of a virtual phone: its speed, its clock, injected faults and app data.

use thumbwire_virtual_android::{ClockMode, Profile, Rule, Setup, VirtualPhone, list_of_faults};

use super::CliError;

#[derive(clap::Args)]
pub(super) struct VirtualPhoneFlags {
    /// Speed of the phone: a screenshot takes no time on `instant`, 0.3 s on `pixel` and 2.6 s on
    /// `old` [default: pixel; old for Android 4.4]
    #[arg(long, value_name = "PROFILE", value_parser = Profile::names().collect::<Vec<_>>())]
    profile: Option<String>,
    /// Clock of the phone. With `real`, commands take real time. With `virtual`, each command
    /// returns at once and advances the phone's clock, so that the same commands give the same
    /// bytes
    #[arg(long, value_name = "CLOCK", value_parser = ClockMode::names().collect::<Vec<_>>(), default_value = "real")]
    clock: String,
    /// Fault to inject, such as `dump-stale` or `slow:ms=3000,p=0.5,seed=7,on=screencap`
    /// (repeatable); `list` prints all faults
    #[arg(long, value_name = "RULE")]
    fault: Vec<String>,
    /// App data to set at startup, such as `com.android.notes:note/40/title=Milk` (repeatable);
    /// docs/virtual-phone.md lists the keys
    #[arg(long, value_name = "PACKAGE:KEY=VALUE", value_parser = parse_app_pref)]
    app_pref: Vec<AppPref>,
}

/// A value of an app's stored data.
#[derive(Clone)]
struct AppPref {
    package: String,
    key: String,
    value: String,
}

fn parse_app_pref(text: &str) -> Result<AppPref, String> {
    let read = text.split_once(':').and_then(|(package, rest)| {
        let (key, value) = rest.split_once('=')?;
        let [package, key, value] = [package, key, value].map(str::to_owned);
        Some(AppPref { package, key, value })
    });
    read.filter(|kept| !kept.key.is_empty()).ok_or_else(|| "expected PACKAGE:KEY=VALUE".to_owned())
}

impl VirtualPhoneFlags {
    /// The list of all faults, for `--fault list`.
    pub(super) fn listed(&self) -> Option<String> {
        let asked = self.fault.iter().any(|rule| rule == "list");
        asked.then(list_of_faults)
    }

    /// The setup with these flags applied. By default a phone is as fast as real ones of its
    /// release, so that a tool shows realistic waiting times on it: at most a second on a good
    /// phone.
    pub(super) fn setup(&self, setup: Setup) -> Setup {
        let profile = self.profile.as_deref().and_then(Profile::named);
        let clock = ClockMode::named(&self.clock).unwrap_or(ClockMode::Real);
        Setup { profile: profile.unwrap_or(setup.profile), clock, ..setup }
    }

    /// The profile and the clock by name, for a phone of another platform.
    pub(super) fn speed(&self) -> (Option<&str>, &str) {
        (self.profile.as_deref(), &self.clock)
    }

    /// The fault rules as they were given.
    pub(super) fn fault_rules(&self) -> &[String] {
        &self.fault
    }

    /// The app data: package, key and value.
    pub(super) fn app_data(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.app_pref.iter().map(|it| (it.package.as_str(), it.key.as_str(), it.value.as_str()))
    }

    /// Writes the app data to a phone.
    pub(super) fn apply(&self, phone: &VirtualPhone) -> Result<(), CliError> {
        for AppPref { package, key, value } in &self.app_pref {
            if !phone.world(|world| world.set_preference(package, key, Some(value))) {
                let packages = phone.world(|world| {
                    let names = world.packages().into_iter().map(|one| one.package.clone());
                    names.collect::<Vec<_>>().join(", ")
                });
                return Err(CliError::usage(format!(
                    "--app-pref: no app {package:?} on the phone; available: {packages}"
                )));
            }
        }
        Ok(())
    }

    /// The parsed fault rules.
    pub(super) fn rules(&self) -> Result<Vec<Rule>, CliError> {
        let rules = self.fault.iter().map(|rule| rule.parse::<Rule>());
        rules.collect::<Result<_, _>>().map_err(|reason| {
            CliError::usage(format!(
                "--fault: {reason}. Run `thumbwire phone --fault list` to list them"
            ))
        })
    }
}

/// Reports each fault on standard error as it strikes.
pub(super) async fn log_injections(phone: &VirtualPhone) {
    for nth in 0.. {
        let strike = phone.wait_for_injection(nth).await;
        let (at, what) = (strike.at.as_secs_f64(), strike.what.escape_debug());
        eprintln!("{} after {at:.3} s: fault {}, at {what}", phone.serial(), strike.fault);
    }
}
