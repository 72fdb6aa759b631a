//! `thumbwire fleet`: a demo on this computer, and what happens at the nodes.

#[cfg(feature = "virtual-phone")]
mod demo;

use futures::StreamExt as _;
use thumbwire_fleet::events;

use super::fleet_flags::{FleetFlags, connect, unusable};
use super::shutdown::ShutdownSignal;
use super::{CliError, print};
use crate::config::Config;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Start a NATS server, a node with virtual phones and a door on this computer, and use the
    /// phones at the same time.
    #[cfg(feature = "virtual-phone")]
    Demo {
        /// Number of virtual phones
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=200))]
        phones: u32,
    },
    /// Print what happens at the nodes as JSON lines, until Ctrl-C.
    Watch(FleetFlags),
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    match arguments.verb {
        #[cfg(feature = "virtual-phone")]
        Verb::Demo { phones } => demo::run(phones).await,
        Verb::Watch(flags) => watch(&flags.applied_to(config.clone())).await,
    }
}

async fn watch(config: &Config) -> Result<u8, CliError> {
    let Some(fleet) = &config.fleet else {
        return Err(CliError::usage("name the fleet to watch with --fleet URL"));
    };
    let connection = connect(fleet, "thumbwire fleet watch").await?;
    let mut events = std::pin::pin!(events::watch(&connection).await.map_err(unusable)?);
    let mut shutdown = ShutdownSignal::new();
    let mut ending = std::pin::pin!(shutdown.ending());
    loop {
        let event = tokio::select! {
            () = &mut ending => return Ok(0),
            event = events.next() => event,
        };
        let Some(event) = event else { return Ok(0) };
        let json = serde_json::to_string(&event).map_err(|it| CliError::failed(it.to_string()))?;
        print(&format!("{json}\n"))?;
    }
}
