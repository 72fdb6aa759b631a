//! The transport through a running adb server: its device list, and services on one of its devices.
//!
//! Each request has its own socket; once a service is open, that socket carries its bytes. Source:
//! `SERVICES.TXT` and `adb.cpp` (`handle_host_request`) in AOSP's adb.
//!
//! This never starts a server; the caller supplies the address.

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::direct::connect_tcp;
use super::{Stream, Transport};
use crate::Error;
use crate::wire::banner::{Banner, Features};
use crate::wire::devices::{DeviceEntry, read_devices};
use crate::wire::smart::{self, Status};

/// Time limit for connecting to the server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit for one reply of the server.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// An adb server.
#[derive(Debug, Clone)]
pub struct AdbServer {
    address: String,
}

impl Default for AdbServer {
    /// The default address of adb servers.
    fn default() -> Self {
        Self::new("localhost:5037")
    }
}

impl AdbServer {
    /// The server at `address` (host and port).
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into() }
    }

    /// Its address: host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether the server runs on this computer, judged by its address.
    pub fn is_local(&self) -> bool {
        let host = self.address.rsplit_once(':').map_or(&*self.address, |(host, _)| host);
        let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        ip.map_or(host.eq_ignore_ascii_case("localhost"), |ip| ip.is_loopback())
    }

    /// All devices that the server knows, in any state.
    ///
    /// # Errors
    /// The server cannot be reached, or does not speak the protocol.
    pub async fn devices(&self) -> Result<Vec<DeviceEntry>, Error> {
        Ok(read_devices(&self.query("host:devices-l").await?))
    }

    /// The server's protocol version, such as 41 (`1.0.41`).
    ///
    /// # Errors
    /// The server cannot be reached, or does not speak the protocol.
    pub async fn version(&self) -> Result<u32, Error> {
        let output = self.query("host:version").await?;
        u32::from_str_radix(&output, 16)
            .map_err(|_| Error::protocol(format!("the adb server's version {output:?}")))
    }

    /// Sends a request that the server answers with text, such as `host:features`.
    ///
    /// # Errors
    /// The server cannot be reached, or replies FAIL: [`Error::Refused`] has its message.
    pub async fn query(&self, request: &str) -> Result<String, Error> {
        let mut socket = self.connect().await?;
        with_answer_timeout(request, async {
            self.ask(&mut socket, request)
                .await?
                .map_err(|text| Error::Refused { service: request.to_owned(), text })?;
            read_text(&mut socket).await
        })
        .await
    }

    /// A transport to one of its devices. Sends nothing yet.
    pub fn device(&self, serial: impl Into<String>) -> ServerTransport {
        ServerTransport { server: self.clone(), serial: serial.into(), number: None }
    }

    /// A transport to one of its devices by `transport_id`, for phones whose serial is ambiguous or
    /// missing (`(no serial number)`). The id changes when the phone or the server reconnects.
    pub fn device_by_transport_id(
        &self,
        serial: impl Into<String>,
        number: u64,
    ) -> ServerTransport {
        ServerTransport { number: Some(number), ..self.device(serial) }
    }

    /// Sends a request whose reply continues after OKAY; the socket is positioned right behind it.
    pub(super) async fn open_request(&self, request: &str) -> Result<TcpStream, Error> {
        let mut socket = self.connect().await?;
        with_answer_timeout(request, async {
            self.ask(&mut socket, request)
                .await?
                .map_err(|text| Error::Refused { service: request.to_owned(), text })
        })
        .await?;
        Ok(socket)
    }

    async fn connect(&self) -> Result<TcpStream, Error> {
        connect_tcp(&self.address, CONNECT_TIMEOUT).await
    }

    /// Sends a request. The inner error is the server's FAIL message.
    async fn ask(
        &self,
        socket: &mut TcpStream,
        request: &str,
    ) -> Result<Result<(), String>, Error> {
        let request = smart::text(request)?;
        socket.write_all(&request).await.map_err(Error::from_io)?;
        let mut word = [0; 4];
        socket.read_exact(&mut word).await.map_err(Error::from_io)?;
        match smart::read_status(word)? {
            Status::Okay => Ok(Ok(())),
            Status::Fail => Ok(Err(read_text(socket).await?)),
        }
    }
}

/// A phone that an adb server knows.
#[derive(Debug, Clone)]
pub struct ServerTransport {
    server: AdbServer,
    serial: String,
    /// Its `transport_id`, if the serial is not enough.
    number: Option<u64>,
}

impl ServerTransport {
    /// The serial by which the server knows the phone.
    pub fn serial(&self) -> &str {
        &self.serial
    }

    /// The server that knows it.
    pub fn server(&self) -> &AdbServer {
        &self.server
    }

    /// Sends a request about this phone, such as `features`; the socket is positioned right behind
    /// the OKAY.
    ///
    /// `host-serial:` has to guess where the serial ends (`parse_host_service` in AOSP's
    /// `sockets.cpp`). Where it would guess wrong, the transport is selected first.
    async fn query_device(&self, request: &str) -> Result<TcpStream, Error> {
        let mut socket = self.server.connect().await?;
        with_answer_timeout(request, async {
            let whole = match self.number {
                Some(number) => format!("host-transport-id:{number}:{request}"),
                None if is_unambiguous_serial(&self.serial) => {
                    format!("host-serial:{}:{request}", self.serial)
                }
                None => {
                    self.select_transport(&mut socket).await?;
                    format!("host:{request}")
                }
            };
            match self.server.ask(&mut socket, &whole).await? {
                Ok(()) => Ok(()),
                Err(text) if is_device_error(&text) => Err(self.classify_error(text)),
                Err(text) => Err(Error::Refused { service: request.to_owned(), text }),
            }
        })
        .await?;
        Ok(socket)
    }

    /// Directs the rest of this socket to the phone.
    async fn select_transport(&self, socket: &mut TcpStream) -> Result<(), Error> {
        let choose = match self.number {
            Some(number) => format!("host:transport-id:{number}"),
            None => format!("host:transport:{}", self.serial),
        };
        self.server.ask(socket, &choose).await?.map_err(|text| self.classify_error(text))
    }

    /// Classifies the server's message about this phone.
    fn classify_error(&self, text: String) -> Error {
        let serial = self.serial.clone();
        if ["not found", "no device", "more than one"].iter().any(|words| text.contains(words)) {
            Error::NoSuchDevice { serial, text }
        } else if text.contains("unauthorized") || text.contains("authorizing") {
            Error::Unauthorized { reason: text.lines().next().unwrap_or_default().to_owned() }
        } else if text.contains("no permissions") || text.contains("insufficient permissions") {
            Error::Unauthorized { reason: text }
        } else {
            let state = text.strip_prefix("device ").unwrap_or(&text).to_owned();
            Error::Offline { serial, state }
        }
    }
}

#[async_trait]
impl Transport for ServerTransport {
    async fn open(&self, service: &str) -> Result<Stream, Error> {
        if service.contains('\0') {
            return Err(Error::Refused {
                service: service.to_owned(),
                text: "a name with a NUL would be truncated on the phone".into(),
            });
        }
        let mut socket = self.server.connect().await?;
        with_answer_timeout(service, async {
            self.select_transport(&mut socket).await?;
            match self.server.ask(&mut socket, service).await? {
                Ok(()) => Ok(()),
                // The phone disconnected between the two requests.
                Err(text) if is_device_error(&text) => Err(self.classify_error(text)),
                Err(text) => Err(Error::Refused { service: service.to_owned(), text }),
            }
        })
        .await?;
        Ok(socket.into())
    }

    async fn features(&self) -> Result<Features, Error> {
        match self.query_device("features").await {
            Ok(mut socket) => {
                let output = with_answer_timeout("features", read_text(&mut socket)).await?;
                Ok(Features::read(&output))
            }
            // A server before 1.0.36 (2016) does not know `features`.
            Err(Error::Refused { text, .. }) if text.starts_with("unknown") => {
                Ok(Features::default())
            }
            Err(Error::Refused { text, .. }) => Err(self.classify_error(text)),
            Err(other) => Err(other),
        }
    }

    /// As the server reports it: it replaces characters such as spaces by `_`.
    async fn banner(&self) -> Result<Banner, Error> {
        let devices = self.server.devices().await?;
        let number = self.number.map(|number| number.to_string());
        let ours = |listed: &DeviceEntry| match &number {
            Some(number) => listed.property("transport_id") == Some(number),
            None => listed.serial == self.serial,
        };
        let Some(listed) = devices.into_iter().find(ours) else {
            return Err(self.classify_error(format!("device '{}' not found", self.serial)));
        };
        let property = |name| listed.property(name).unwrap_or_default().to_owned();
        Ok(Banner {
            serial: self.serial.clone(),
            ..Banner::phone(
                &property("product"),
                &property("model"),
                &property("device"),
                self.features().await?,
            )
        })
    }
}

async fn read_text(socket: &mut TcpStream) -> Result<String, Error> {
    let mut digits = [0; 4];
    socket.read_exact(&mut digits).await.map_err(Error::from_io)?;
    let mut text = vec![0; smart::read_length(digits)?];
    socket.read_exact(&mut text).await.map_err(Error::from_io)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Applies the time limit [`ANSWER_TIMEOUT`].
async fn with_answer_timeout<T>(
    what: &str,
    answer: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::time::timeout(ANSWER_TIMEOUT, answer).await.unwrap_or_else(|_| {
        Err(Error::TimedOut {
            what: format!("get a response to {what:?} from the adb server"),
            after: ANSWER_TIMEOUT,
        })
    })
}

/// Whether a server can tell where this serial ends in `host-serial:SERIAL:…`: it has no colon, or
/// is an address with a port.
fn is_unambiguous_serial(serial: &str) -> bool {
    let (host, port) = serial.rsplit_once(':').map_or((serial, None), |(a, b)| (a, Some(b)));
    let bracketed = host.starts_with('[') && host.find(']') == Some(host.len() - 1);
    let plain = !host.is_empty() && !host.contains([':', '[']);
    // More text is expected after these.
    let prefix = ["usb", "product", "model", "device", "tcp", "udp", "vsock"].contains(&host);
    let digits = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (plain || bracketed && port.is_some()) && !prefix && port.is_none_or(digits)
}

/// Whether a server's message is about the phone rather than about the request.
fn is_device_error(text: &str) -> bool {
    ["device ", "no device", "more than one "].iter().any(|words| text.starts_with(words))
}
