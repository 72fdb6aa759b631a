//! `--fleet`: the phones of other computers; and how this program shows NATS who it is.

use std::path::PathBuf;
use std::sync::Arc;

use thumbwire_core::session::RemotePhones;
use thumbwire_fleet::{ConnectError, Connection, Credentials, Door};

use super::CliError;
use crate::config::{Config, FleetSettings};

/// The heading of these flags.
const FLEET: &str = "Fleet";

/// Where the phones of other computers are.
#[derive(Clone, Default, clap::Args)]
#[group(skip)]
pub(super) struct FleetFlags {
    /// Use the phones of the nodes at this NATS server, too: `nats://HOST:4222` or `tls://HOST`.
    /// Name one as NODE/ID, or the first free one by conditions: `--device
    /// 'android>=14,label=lab3'`
    #[arg(long, value_name = "URL", help_heading = FLEET)]
    fleet: Option<String>,
    #[command(flatten)]
    nats: NatsFlags,
}

/// How this program shows a NATS server who it is.
#[derive(Clone, Default, clap::Args)]
#[group(skip)]
pub(super) struct NatsFlags {
    /// Credentials for the NATS server, as `nsc` writes them; the URL can hold a name and a
    /// password or a token instead
    #[arg(long, value_name = "FILE", help_heading = FLEET)]
    nats_creds: Option<PathBuf>,
    /// Certificates, besides the system's, of those who may vouch for the NATS server
    #[arg(long, value_name = "FILE", help_heading = FLEET)]
    nats_ca: Option<PathBuf>,
    /// Certificate that this program shows to the NATS server
    #[arg(long, value_name = "FILE", requires = "nats_key", help_heading = FLEET)]
    nats_cert: Option<PathBuf>,
    /// Key of that certificate
    #[arg(long, value_name = "FILE", requires = "nats_cert", help_heading = FLEET)]
    nats_key: Option<PathBuf>,
}

impl FleetFlags {
    /// The settings, with this fleet.
    pub(super) fn applied_to(&self, config: Config) -> Config {
        let Some(url) = self.fleet.clone() else { return config };
        Config { fleet: Some(self.nats.for_server(url)), ..config }
    }
}

impl NatsFlags {
    /// The server with this URL.
    pub(super) fn for_server(&self, url: String) -> FleetSettings {
        let credentials = Credentials {
            file: self.nats_creds.clone(),
            authorities: self.nats_ca.clone(),
            certificate: self.nats_cert.clone().zip(self.nats_key.clone()),
        };
        FleetSettings { url, credentials }
    }
}

/// Connects to a server. `program` is what the server shows of this program.
pub(super) async fn connect(server: &FleetSettings, program: &str) -> Result<Connection, CliError> {
    Connection::open(&server.url, &server.credentials, program).await.map_err(unusable)
}

/// The door to the fleet of the settings, if they name one.
pub(super) async fn door(config: &Config, program: &str) -> Result<Option<Door>, CliError> {
    let Some(fleet) = &config.fleet else { return Ok(None) };
    let connection = connect(fleet, program).await?;
    Door::open(connection).await.map(Some).map_err(unusable)
}

/// The phones of that fleet.
pub(super) async fn remote_phones(
    config: &Config,
    program: &str,
) -> Result<Option<Arc<dyn RemotePhones>>, CliError> {
    let door = door(config, program).await?;
    Ok(door.map(|door| Arc::new(door) as Arc<dyn RemotePhones>))
}

/// Why a fleet cannot be used, with what to do.
pub(super) fn unusable(error: ConnectError) -> CliError {
    CliError::failed(format!("{error}\nNext: {}", error.next_step()))
}
