//! `thumbwire phone --ios`: serves virtual iPhones, each behind a WebDriverAgent.

use std::fmt::Write as _;

use serde_json::{Value, json};
use thumbwire_virtual_ios::{ClockMode, FaultRule, Profile, Setup, VirtualIphone};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::{Arguments, phone_address};
use crate::cli::{CliError, print};

/// A running phone and its listeners.
struct RunningIphone {
    phone: VirtualIphone,
    listener: TcpListener,
    address: String,
}

pub(super) async fn run(arguments: Arguments) -> Result<u8, CliError> {
    if arguments.flags.listed().is_some() {
        let faults = FaultRule::NAMES.map(|(name, does)| format!("{name:<14}{does}\n"));
        print(&faults.concat())?;
        return Ok(0);
    }
    let phones = start(&arguments).await?;
    let mjpeg = match &arguments.mjpeg {
        Some(address) => Some(arguments.bind(address).await?),
        None => None,
    };
    print(&greeting(&arguments, &phones))?;
    let mut served = JoinSet::new();
    if let (Some((listener, _)), [RunningIphone { phone, .. }]) = (mjpeg, phones.as_slice()) {
        let phone = phone.clone();
        served.spawn(async move { phone.serve_mjpeg(listener).await });
    }
    for RunningIphone { phone, listener, .. } in phones {
        served.spawn(async move { phone.serve(listener).await });
    }
    tokio::select! {
        // Phones never stop by themselves, so the first to end has failed.
        Some(ended) = served.join_next() => {
            let ended = ended.map_err(|error| CliError::failed(error.to_string()))?;
            ended.map_err(|error| CliError::failed(error.to_string()))?;
        }
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(0)
}

async fn start(arguments: &Arguments) -> Result<Vec<RunningIphone>, CliError> {
    let (profile, clock) = arguments.flags.speed();
    let setup = Setup {
        profile: profile.and_then(Profile::named).unwrap_or_default(),
        clock: ClockMode::named(clock).unwrap_or(ClockMode::Real),
        ..Setup::default()
    };
    let rules = arguments.flags.fault_rules().iter().map(|rule| rule.parse::<FaultRule>());
    let rules: Vec<FaultRule> = rules.collect::<Result<_, _>>().map_err(|reason| {
        CliError::usage(format!(
            "--fault: {reason}. Run `thumbwire phone --ios --fault list` to list them"
        ))
    })?;
    let mut phones = Vec::new();
    for nth in 0..arguments.count {
        let (listener, address) = arguments.bind(&phone_address(arguments.listen(), nth)?).await?;
        let seed = arguments.seed.wrapping_add(u64::from(nth));
        let phone = VirtualIphone::new(Setup { seed, ..setup.clone() });
        for (name, key, value) in arguments.flags.app_data() {
            let set = phone.world(|world| {
                let package = world.package_of(name).unwrap_or_else(|| name.to_owned());
                world.set_preference(&package, key, Some(value))
            });
            if !set {
                return Err(CliError::usage(format!("--app-pref: no app {name:?} on the phone")));
            }
        }
        rules.iter().cloned().for_each(|rule| phone.add_fault(rule));
        phones.push(RunningIphone { phone, listener, address });
    }
    Ok(phones)
}

/// What is printed once all phones listen.
fn greeting(arguments: &Arguments, phones: &[RunningIphone]) -> String {
    if arguments.json {
        let row =
            |one: &RunningIphone| json!({ "serial": one.phone.udid(), "address": one.address });
        return format!("{}\n", Value::from_iter(phones.iter().map(row)));
    }
    if let [RunningIphone { phone, address, .. }] = phones {
        return format!(
            "{} is running. Its WebDriverAgent listens on http://{address}; press Ctrl-C to stop. Try:\n  curl http://{address}/status\n  thumbwire devices --wda http://{address}\n  thumbwire call mobile_take_screenshot --wda http://{address}\n",
            phone.setup().name
        );
    }
    let mut output = format!("{} iPhones are running; press Ctrl-C to stop:\n", phones.len());
    for RunningIphone { phone, address, .. } in phones {
        // Writing to a string cannot fail.
        let _ = writeln!(output, "{}  http://{address}", phone.udid());
    }
    output
}
