//! `thumbwire devices`

use std::fmt;

use super::log_flag::LogFlag;
use super::{CliError, PhoneSources, phone_locks, phones, print};
use crate::config::Config;
use thumbwire_core::action::{Cause, ClientName, DeviceKind, Failure, Holder, ListedDevice};
use thumbwire_core::phone_locks::{PhoneLocks, TAKEN_FOR};
use thumbwire_core::providers::{BUILT_IN, DeviceProviders};
use thumbwire_core::toolset::mobile;
use unicode_width::UnicodeWidthStr as _;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: PhoneSources,
    /// Take this phone over from the Thumbwire that acts on it: that one may not act on it for a
    /// minute
    #[arg(long, value_name = "ID", conflicts_with = "json")]
    take_over: Option<String>,
    /// Print JSON
    #[arg(short, long)]
    json: bool,
    #[command(flatten)]
    pub(super) log: LogFlag,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let config = &arguments.sources.applied_to(config)?;
    // Named, the built-in virtual phones are in the list, if this program has them.
    let phones = phones(config, BUILT_IN);
    let locks = phone_locks(config, PROGRAM);
    let others = fleet_phones(config, arguments.take_over.as_deref()).await?;
    if let Some(id) = &arguments.take_over {
        return match others {
            FleetPhones::TakenOver(holder) => taken_over(id, holder),
            FleetPhones::Listed(_) => take_over(id, &phones, locks.as_ref()),
        };
    }
    let in_use = |phone: &ListedDevice| {
        let name = phones.name_on_computer(&phone.id)?;
        // Another program's file that cannot be read hides no phone.
        locks.as_ref()?.holder(&name).ok()?
    };
    let mut listed: Vec<(ListedDevice, Option<Holder>)> =
        phones.list().await.into_iter().map(|phone| (phone.clone(), in_use(&phone))).collect();
    if let FleetPhones::Listed(others) = others {
        listed.extend(others);
    }
    if arguments.json {
        let rows = listed.into_iter().map(|(phone, holder)| row(&phone, holder));
        print(&format!("{}\n", serde_json::Value::from_iter(rows)))?;
        return Ok(0);
    }
    if listed.iter().all(|(phone, _)| is_built_in(phone)) {
        print(&format!(
            "No phone is connected: the adb server at {} is not running or lists none.\nNext: connect one and run `adb start-server`, or name a phone's adbd with `--device HOST:PORT`\n",
            config.adb_server
        ))?;
    }
    let columns = |phone: &ListedDevice| {
        let model = if phone.model.is_empty() { "-" } else { &phone.model };
        [phone.id.clone(), phone.platform.to_string(), model.to_owned()]
    };
    let rows = listed.iter().map(|(phone, _)| columns(phone).map(|text| text.width()));
    let widths = rows.fold([0; 3], |widths, row| std::array::from_fn(|at| widths[at].max(row[at])));
    let width = widths[0];
    for (phone, holder) in &listed {
        let used = match is_built_in(phone) {
            true => format!("  built in, used with `--device {}`", phone.id),
            false => String::new(),
        };
        let mut line = String::new();
        for (text, width) in columns(phone).into_iter().zip(widths) {
            let gap = width - text.width();
            line += &format!("{text}{:gap$}  ", "");
        }
        print(&format!("{line}{}{used}\n", phone.state))?;
        if let Some(holder) = holder {
            let seconds = holder.since.as_secs();
            print(&format!("{:width$}  In use: {holder}, for {seconds} s\n", ""))?;
        }
        if let Some(next) = phone.next_step() {
            print(&format!("{:width$}  Next: {next}\n", ""))?;
        }
    }
    Ok(0)
}

/// What this program calls itself.
const PROGRAM: &str = "thumbwire devices";

/// The phones of a fleet, each with who acts on it; or who acted on the one that was taken over.
enum FleetPhones {
    Listed(Vec<(ListedDevice, Option<Holder>)>),
    #[cfg_attr(not(feature = "fleet"), expect(dead_code, reason = "without a fleet"))]
    TakenOver(Option<ClientName>),
}

/// The phones of the fleet of the settings, if they name one.
#[cfg(feature = "fleet")]
async fn fleet_phones(config: &Config, take_over: Option<&str>) -> Result<FleetPhones, CliError> {
    use thumbwire_core::session::RemotePhones as _;
    let Some(door) = super::fleet_flags::door(config, PROGRAM).await? else {
        return Ok(FleetPhones::Listed(Vec::new()));
    };
    if let Some(id) = take_over.filter(|id| door.owns(id)) {
        return Ok(FleetPhones::TakenOver(door.take_over(id).await?));
    }
    let phones = door.phones().into_iter().map(|phone| (phone.device, phone.holder));
    Ok(FleetPhones::Listed(phones.collect()))
}

#[cfg(not(feature = "fleet"))]
async fn fleet_phones(_: &Config, _: Option<&str>) -> Result<FleetPhones, CliError> {
    Ok(FleetPhones::Listed(Vec::new()))
}

/// The id of the phone that was named, or of the only one that is ready.
pub(super) async fn chosen(
    device: Option<String>,
    phones: &DeviceProviders,
) -> Result<String, Failure> {
    if let Some(id) = device {
        return Ok(id);
    }
    let listed = phones.list().await;
    let mut ready = DeviceKind::candidates(&listed);
    ready.retain(|phone| phone.is_ready());
    match ready.as_slice() {
        [only] => Ok(only.id.clone()),
        _ => Err(Cause::NoDeviceChosen { devices: listed }.into()),
    }
}

fn is_built_in(phone: &ListedDevice) -> bool {
    phone.kind == DeviceKind::BuiltIn
}

/// The row of `mobile_list_devices`, whether the phone is a built-in one, which is used only by
/// name, and which other program acts on it.
fn row(phone: &ListedDevice, holder: Option<Holder>) -> serde_json::Value {
    let mut row = mobile::listed(phone);
    row["built_in"] = is_built_in(phone).into();
    if let Some(Holder { client, process: Some(process), since }) = holder {
        row["in_use"] = serde_json::json!({
            "client": client,
            "program": process.program,
            "process": process.id,
            "seconds": since.as_secs(),
        });
    }
    row
}

/// Takes a phone from the program that acts on it.
fn take_over(
    id: &str,
    phones: &DeviceProviders,
    locks: Option<&PhoneLocks>,
) -> Result<u8, CliError> {
    let (Some(name), Some(locks)) = (phones.name_on_computer(id), locks) else {
        return Err(CliError::failed(format!("no other program can act on {id}")));
    };
    let taken = locks.take_over(&name).map_err(|error| CliError::failed(error.to_string()))?;
    taken_over(id, taken)
}

/// Tells who may not act on a phone for a while.
fn taken_over(id: &str, holder: Option<impl fmt::Display>) -> Result<u8, CliError> {
    let seconds = TAKEN_FOR.as_secs();
    print(&match holder {
        Some(holder) => {
            format!("{id} is yours: {holder} may not act on it for the next {seconds} s.\n")
        }
        None => format!("Nobody else acts on {id}: act right away.\n"),
    })?;
    Ok(0)
}
