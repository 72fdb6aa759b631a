//! `thumbwire health`: for a container's health check, where there is no `curl`.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::{CliError, print};

/// A server that needs longer should be restarted.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Address that `serve --http` listens on
    #[arg(value_name = "HOST:PORT", default_value = "127.0.0.1:8080")]
    address: SocketAddr,
}

/// A server with TLS refuses plain HTTP with an answer, which shows that it works, too.
pub(super) fn run(arguments: &Arguments) -> Result<u8, CliError> {
    let address = arguments.address;
    let answer = ask(address).map_err(|error| {
        CliError::failed(format!(
            "no server answers at {address}: {error}. Start one with `thumbwire serve --http {address}`"
        ))
    })?;
    match &answer {
        b"HTTP/1.1 200" | b"HTTP/1.1 400" => print("ok\n").map(|()| 0),
        _ => Err(CliError::failed(format!("what answers at {address} is not `thumbwire serve`"))),
    }
}

/// The beginning of the answer.
fn ask(address: SocketAddr) -> std::io::Result<[u8; 12]> {
    let mut server = TcpStream::connect_timeout(&address, TIMEOUT)?;
    server.set_read_timeout(Some(TIMEOUT))?;
    server.set_write_timeout(Some(TIMEOUT))?;
    write!(server, "GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = [0; 12];
    server.read_exact(&mut answer)?;
    Ok(answer)
}
