//! `thumbwire serve --ufo`: where UFO's two servers listen. [`super::serve`] makes them share one
//! session.

use super::CliError;
use thumbwire_core::toolset::{Toolset, ufo};
use thumbwire_mcp::http::{self, Listener};

const UFO: &str = "UFO's servers";

#[derive(clap::Args)]
pub(super) struct Ufo {
    /// Serve UFO's data and action servers on one shared session, each at /mcp on its own port,
    /// without a token
    #[arg(long = "ufo", conflicts_with_all = ["toolset", "http"], help_heading = UFO)]
    pub(super) is_asked: bool,
    /// Host that both servers listen on
    #[arg(long, value_name = "HOST", requires = "is_asked", help_heading = UFO, default_value = "localhost")]
    host: String,
    /// Port of the data server
    #[arg(long, value_name = "PORT", requires = "is_asked", help_heading = UFO, default_value_t = 8020)]
    data_port: u16,
    /// Port of the action server
    #[arg(long, value_name = "PORT", requires = "is_asked", help_heading = UFO, default_value_t = 8021)]
    action_port: u16,
}

impl Ufo {
    /// Both servers with their listeners.
    pub(super) async fn listeners(&self) -> Result<Vec<(Listener, Toolset)>, CliError> {
        let listeners = [(self.data_port, ufo::data()), (self.action_port, ufo::action())];
        let mut open = Vec::new();
        for (port, toolset) in listeners {
            let listener = http::bind(&self.address(port)).await.map_err(CliError::usage)?;
            open.push((listener.into(), toolset));
        }
        Ok(open)
    }

    fn address(&self, port: u16) -> String {
        match self.host.as_str() {
            // A bare IPv6 address needs brackets before its port.
            host if host.contains(':') && !host.starts_with('[') => format!("[{host}]:{port}"),
            host => format!("{host}:{port}"),
        }
    }
}
