//! `thumbwire devices`

use super::{Ended, phones, print};
use crate::config::Config;
use crate::surface::mobile;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    let there = phones(config).list().await?;
    if arguments.json {
        let rows = there.iter().map(mobile::listed);
        print(&format!("{}\n", serde_json::Value::from_iter(rows)))?;
    } else if there.is_empty() {
        print(&format!(
            "No phone is attached: no adb server at {} knows one.\nA phone's adbd is reached directly with `--device HOST:PORT`, the built-in phone with `--device virtual`.\n",
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
