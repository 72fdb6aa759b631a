//! `thumbwire devices`

use super::{CliError, phones, print};
use crate::config::Config;
use thumbwire_core::toolset::mobile;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let there = phones(config, None).list().await?;
    if arguments.json {
        let rows = there.iter().map(mobile::listed);
        print(&format!("{}\n", serde_json::Value::from_iter(rows)))?;
    } else if there.is_empty() {
        print(&format!(
            "No phone is connected: the adb server at {} is not running or lists none.\nUse `--device HOST:PORT` for a phone's adbd, or `--device virtual` for the built-in phone.\n",
            config.adb_server
        ))?;
    } else {
        let width = there.iter().map(|phone| phone.id.len()).max().unwrap_or(0);
        for phone in &there {
            let model = if phone.model.is_empty() { "-" } else { &phone.model };
            let platform = phone.platform;
            print(&format!("{:width$}  {platform}  {model}  {}\n", phone.id, phone.state))?;
            if let Some(next) = phone.next_move() {
                print(&format!("{:width$}  Next: {next}\n", ""))?;
            }
        }
    }
    Ok(0)
}
