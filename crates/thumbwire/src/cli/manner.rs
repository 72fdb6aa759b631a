//! How a virtual phone is that others use: how long things take on it, what goes wrong, and what its apps keep.

use thumbwire_virtual_phone::{Clock, Profile, Rule, Setup, VirtualPhone, list_of_faults};

use super::Ended;

#[derive(clap::Args)]
pub(super) struct Manner {
    /// How long things take: nothing takes any time on `instant`, a screenshot 0.3 s on `pixel` and 2.6 s on `old` [default:
    /// pixel, or old for Android 4.4]
    #[arg(long, value_name = "PROFILE", value_parser = Profile::names().collect::<Vec<_>>())]
    profile: Option<String>,
    /// Whose time the phone lives in: `outside`, or `virtual`: then nobody waits, its clock is moved on by what each command
    /// takes and stands still in between, and the same commands give the same bytes
    #[arg(long, value_name = "CLOCK", value_parser = Clock::names().collect::<Vec<_>>(), default_value = "outside")]
    clock: String,
    /// What goes wrong, such as `dump-stale` or `slow:ms=3000,p=0.5,seed=7,on=screencap`; may be given several times, and
    /// `list` tells all faults
    #[arg(long, value_name = "RULE")]
    fault: Vec<String>,
    /// What an app keeps as the phone is switched on, such as `com.android.notes:note/40/title=Milk`; may be given several times;
    /// docs/virtual-phone-apps.md names all keys
    #[arg(long, value_name = "PACKAGE:KEY=VALUE", value_parser = kept)]
    keep: Vec<Kept>,
}

/// A value among those that an app keeps.
#[derive(Clone)]
struct Kept {
    package: String,
    key: String,
    value: String,
}

fn kept(text: &str) -> Result<Kept, String> {
    let read = text.split_once(':').and_then(|(package, rest)| {
        let (key, value) = rest.split_once('=')?;
        let [package, key, value] = [package, key, value].map(str::to_owned);
        Some(Kept { package, key, value })
    });
    read.filter(|kept| !kept.key.is_empty()).ok_or_else(|| "it is not PACKAGE:KEY=VALUE".to_owned())
}

impl Manner {
    /// All faults, when that was asked for.
    pub(super) fn listed(&self) -> Option<String> {
        let asked = self.fault.iter().any(|rule| rule == "list");
        asked.then(list_of_faults)
    }

    /// A phone that behaves so. It is as fast as phones of its release are, unless told otherwise: whoever tries a tool
    /// on it shall see the waiting that a real phone brings, which on a good one is a second at most.
    pub(super) fn setup(&self, setup: Setup) -> Setup {
        let profile = self.profile.as_deref().and_then(Profile::named);
        let clock = Clock::named(&self.clock).unwrap_or(Clock::Outside);
        Setup { profile: profile.unwrap_or(setup.profile), clock, ..setup }
    }

    /// Puts what its apps shall keep onto a phone.
    pub(super) fn furnish(&self, phone: &VirtualPhone) -> Result<(), Ended> {
        for Kept { package, key, value } in &self.keep {
            if !phone.world(|world| world.keep(package, key, Some(value))) {
                let there = phone.world(|world| {
                    let names = world.packages().into_iter().map(|one| one.package.clone());
                    names.collect::<Vec<_>>().join(", ")
                });
                return Err(Ended::usage(format!(
                    "--keep: there is no app {package:?}; there are {there}"
                )));
            }
        }
        Ok(())
    }

    /// The rules.
    pub(super) fn rules(&self) -> Result<Vec<Rule>, Ended> {
        let rules = self.fault.iter().map(|rule| rule.parse::<Rule>());
        rules.collect::<Result<_, _>>().map_err(|why| {
            Ended::usage(format!("--fault: {why}; `thumbwire phone --fault list` tells them all"))
        })
    }
}

/// Tells on standard error what went wrong on a phone, as it does.
pub(super) async fn tell_strikes(phone: &VirtualPhone) {
    for nth in 0.. {
        let strike = phone.strike(nth).await;
        let (at, what) = (strike.at.as_secs_f64(), strike.what.escape_debug());
        eprintln!("{} after {at:.3} s: fault {}, at {what}", phone.serial(), strike.fault);
    }
}
