//! `thumbwire serve --ufo`: where UFO's two servers listen. That they share one session is [`super::serve`]'s matter.

use tokio::net::TcpListener;

use super::Ended;
use crate::mcp::http;
use crate::surface::{Surface, ufo};

#[derive(clap::Args)]
pub(super) struct Ufo {
    /// Serve UFO's data server and its action server over one session, each at its port of this computer, path /mcp, without a
    /// token
    #[arg(long = "ufo", conflicts_with_all = ["surface", "http"])]
    pub(super) is_asked: bool,
    /// Where both listen
    #[arg(long, value_name = "HOST", requires = "is_asked", default_value = "localhost")]
    host: String,
    /// The data server's port
    #[arg(long, value_name = "PORT", requires = "is_asked", default_value_t = 8020)]
    data_port: u16,
    /// The action server's port
    #[arg(long, value_name = "PORT", requires = "is_asked", default_value_t = 8021)]
    action_port: u16,
}

impl Ufo {
    /// Both servers and where they listen.
    pub(super) async fn doors(&self) -> Result<Vec<(TcpListener, Surface)>, Ended> {
        let doors = [(self.data_port, ufo::data()), (self.action_port, ufo::action())];
        let mut open = Vec::new();
        for (port, surface) in doors {
            let listener = http::bind(&self.address(port)).await.map_err(Ended::usage)?;
            open.push((listener, surface));
        }
        Ok(open)
    }

    fn address(&self, port: u16) -> String {
        match self.host.as_str() {
            // A bare IPv6 address would run into its port.
            host if host.contains(':') && !host.starts_with('[') => format!("[{host}]:{port}"),
            host => format!("{host}:{port}"),
        }
    }
}
