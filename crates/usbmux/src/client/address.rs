//! Where usbmuxd listens, in the words of `USBMUXD_SOCKET_ADDRESS`, which libusbmuxd reads
//! (`socket_connect` and `connect_usbmuxd_socket` in `libusbmuxd.c`).

use std::fmt;
use std::io;
use std::str::FromStr;

use thumbwire_base::Io;
use tokio::net::TcpStream;

/// Where usbmuxd listens: `UNIX:/path`, or `HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsbmuxAddress {
    /// A Unix socket, by its path.
    Unix(String),
    /// A TCP address, as Apple's daemon on Windows has one.
    Tcp(String),
}

impl Default for UsbmuxAddress {
    fn default() -> Self {
        match cfg!(unix) {
            true => Self::Unix("/var/run/usbmuxd".into()),
            false => Self::Tcp("127.0.0.1:27015".into()),
        }
    }
}

/// The text is not the address of a usbmuxd.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected UNIX:/PATH or HOST:PORT")]
pub struct ParseUsbmuxAddressError;

impl FromStr for UsbmuxAddress {
    type Err = ParseUsbmuxAddressError;

    fn from_str(text: &str) -> Result<Self, ParseUsbmuxAddressError> {
        if let Some(path) = text.strip_prefix("UNIX:") {
            return match path.is_empty() {
                true => Err(ParseUsbmuxAddressError),
                false => Ok(Self::Unix(path.to_owned())),
            };
        }
        match text.rsplit_once(':') {
            Some((host, port))
                if !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0) =>
            {
                Ok(Self::Tcp(text.to_owned()))
            }
            _ => Err(ParseUsbmuxAddressError),
        }
    }
}

impl fmt::Display for UsbmuxAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "UNIX:{path}"),
            Self::Tcp(address) => f.write_str(address),
        }
    }
}

impl UsbmuxAddress {
    pub(super) async fn connect(&self) -> io::Result<Box<dyn Io>> {
        match self {
            #[cfg(unix)]
            Self::Unix(path) => Ok(Box::new(tokio::net::UnixStream::connect(path).await?)),
            #[cfg(not(unix))]
            Self::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
            Self::Tcp(address) => Ok(Box::new(TcpStream::connect(&**address).await?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_libusbmuxd() {
        for text in ["UNIX:/tmp/mux", "127.0.0.1:27015", "[::1]:27015", "host:1"] {
            assert_eq!(text.parse::<UsbmuxAddress>().unwrap().to_string(), text);
        }
        for text in ["", "UNIX:", "/var/run/usbmuxd", "host", "host:0", ":1", "host:port"] {
            assert!(text.parse::<UsbmuxAddress>().is_err(), "{text}");
        }
        assert!(UsbmuxAddress::default().to_string().parse::<UsbmuxAddress>().is_ok());
    }
}
