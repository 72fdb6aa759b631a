//! `thumbwire devices`

use super::{CliError, PhoneSources, phones, print};
use crate::config::Config;
use thumbwire_core::action::{Cause, DeviceKind, Failure, ListedDevice};
use thumbwire_core::providers::{BUILT_IN, DeviceProviders};
use thumbwire_core::toolset::mobile;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    sources: PhoneSources,
    /// Print JSON
    #[arg(short, long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let config = &arguments.sources.applied_to(config)?;
    // Named, the built-in virtual phones are in the list, if this program has them.
    let listed = phones(config, BUILT_IN).list().await;
    if arguments.json {
        let rows = listed.iter().map(row);
        print(&format!("{}\n", serde_json::Value::from_iter(rows)))?;
        return Ok(0);
    }
    if listed.iter().all(is_built_in) {
        print(&format!(
            "No phone is connected: the adb server at {} is not running or lists none.\nUse `--device HOST:PORT` for a phone's adbd.\n",
            config.adb_server
        ))?;
    }
    let width = listed.iter().map(|phone| phone.id.len()).max().unwrap_or(0);
    for phone in &listed {
        let model = if phone.model.is_empty() { "-" } else { &phone.model };
        let platform = phone.platform;
        let used = match is_built_in(phone) {
            true => format!("  built in, used with `--device {}`", phone.id),
            false => String::new(),
        };
        print(&format!("{:width$}  {platform}  {model}  {}{used}\n", phone.id, phone.state))?;
        if let Some(next) = phone.next_step() {
            print(&format!("{:width$}  Next: {next}\n", ""))?;
        }
    }
    Ok(0)
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

/// The row of `mobile_list_devices`, and whether the phone is a built-in one, which is used only by
/// name.
fn row(phone: &ListedDevice) -> serde_json::Value {
    let mut row = mobile::listed(phone);
    row["built_in"] = is_built_in(phone).into();
    row
}
