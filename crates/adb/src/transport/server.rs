//! Through a running adb server: its list of devices, and services on one of them.
//!
//! Each request has a socket of its own; once a service is opened, that socket carries its bytes.
//! Source: `SERVICES.TXT` and `adb.cpp` (`handle_host_request`) in AOSP's adb.
//!
//! The server is never started from here, and its address is given by the caller.

#[cfg(test)]
mod tests;

use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::direct::connect_tcp;
use super::{Stream, Transport};
use crate::Error;
use crate::wire::banner::{Banner, Features};
use crate::wire::devices::{Listed, read_devices};
use crate::wire::smart::{self, Status};

/// How long connecting to the server may take.
const CONNECTING: Duration = Duration::from_secs(5);
/// How long one answer of the server may take.
const ANSWER: Duration = Duration::from_secs(10);

/// An adb server.
#[derive(Debug, Clone)]
pub struct AdbServer {
    address: String,
}

impl Default for AdbServer {
    /// Where adb servers listen unless told otherwise.
    fn default() -> Self {
        Self::new("localhost:5037")
    }
}

impl AdbServer {
    /// The server at `address` (host and port).
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into() }
    }

    /// All devices that the server knows, whatever their state.
    ///
    /// # Errors
    /// There is no server, or it does not talk like one.
    pub async fn devices(&self) -> Result<Vec<Listed>, Error> {
        Ok(read_devices(&self.query("host:devices-l").await?))
    }

    /// The server's protocol version, such as 41 (`1.0.41`).
    ///
    /// # Errors
    /// There is no server, or it does not talk like one.
    pub async fn version(&self) -> Result<u32, Error> {
        let said = self.query("host:version").await?;
        u32::from_str_radix(&said, 16)
            .map_err(|_| Error::protocol(format!("the adb server's version {said:?}")))
    }

    /// Asks the server a question that it answers with a text, such as `host:features`.
    ///
    /// # Errors
    /// There is no server, or it says FAIL: [`Error::Refused`] carries its words.
    pub async fn query(&self, request: &str) -> Result<String, Error> {
        let mut socket = self.connect().await?;
        within_answer(request, async {
            self.ask(&mut socket, request)
                .await?
                .map_err(|said| Error::Refused { service: request.to_owned(), said })?;
            read_text(&mut socket).await
        })
        .await
    }

    /// The way to one of its devices. Nothing is asked yet.
    pub fn device(&self, serial: impl Into<String>) -> ThroughServer {
        ThroughServer { server: self.clone(), serial: serial.into(), number: None }
    }

    /// The way to one of its devices by the `transport_id` of the list, for phones whose serial
    /// names several or none (`(no serial number)`). The number is another one when the phone comes
    /// back, or the server.
    pub fn device_numbered(&self, serial: impl Into<String>, number: u64) -> ThroughServer {
        ThroughServer { number: Some(number), ..self.device(serial) }
    }

    /// Asks for what goes on after the OKAY: the socket stands right behind it.
    pub(super) async fn converse(&self, request: &str) -> Result<TcpStream, Error> {
        let mut socket = self.connect().await?;
        within_answer(request, async {
            self.ask(&mut socket, request)
                .await?
                .map_err(|said| Error::Refused { service: request.to_owned(), said })
        })
        .await?;
        Ok(socket)
    }

    async fn connect(&self) -> Result<TcpStream, Error> {
        connect_tcp(&self.address, CONNECTING).await
    }

    /// Sends a request. The inner error is what the server said to refuse it.
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
pub struct ThroughServer {
    server: AdbServer,
    serial: String,
    /// Its `transport_id`, where the serial is not enough.
    number: Option<u64>,
}

impl ThroughServer {
    /// By which the server knows the phone.
    pub fn serial(&self) -> &str {
        &self.serial
    }

    /// The server that knows it.
    pub fn server(&self) -> &AdbServer {
        &self.server
    }

    /// Asks the server something about this phone, such as `features`; the socket stands right
    /// behind the OKAY.
    ///
    /// `host-serial:` has to guess where the serial ends (`parse_host_service` in AOSP's
    /// `sockets.cpp`); where it would guess wrong, the phone is chosen first.
    pub(super) async fn ask_about(&self, request: &str) -> Result<TcpStream, Error> {
        let mut socket = self.server.connect().await?;
        within_answer(request, async {
            let whole = match self.number {
                Some(number) => format!("host-transport-id:{number}:{request}"),
                None if ends_at_its_colon(&self.serial) => {
                    format!("host-serial:{}:{request}", self.serial)
                }
                None => {
                    self.choose(&mut socket).await?;
                    format!("host:{request}")
                }
            };
            match self.server.ask(&mut socket, &whole).await? {
                Ok(()) => Ok(()),
                Err(said) if is_about_the_phone(&said) => Err(self.sort(said)),
                Err(said) => Err(Error::Refused { service: request.to_owned(), said }),
            }
        })
        .await?;
        Ok(socket)
    }

    /// Lets what follows on this socket go to the phone.
    async fn choose(&self, socket: &mut TcpStream) -> Result<(), Error> {
        let choose = match self.number {
            Some(number) => format!("host:transport-id:{number}"),
            None => format!("host:transport:{}", self.serial),
        };
        self.server.ask(socket, &choose).await?.map_err(|said| self.sort(said))
    }

    /// What the server's words about this phone mean.
    fn sort(&self, said: String) -> Error {
        let serial = self.serial.clone();
        if ["not found", "no device", "more than one"].iter().any(|words| said.contains(words)) {
            Error::NoSuchDevice { serial, said }
        } else if said.contains("unauthorized") {
            Error::Unauthorized { reason: said.lines().next().unwrap_or_default().to_owned() }
        } else if said.contains("no permissions") || said.contains("insufficient permissions") {
            Error::Unauthorized { reason: said }
        } else {
            let state = said.strip_prefix("device ").unwrap_or(&said).to_owned();
            Error::Offline { serial, state }
        }
    }
}

#[async_trait]
impl Transport for ThroughServer {
    async fn open(&self, service: &str) -> Result<Stream, Error> {
        if service.contains('\0') {
            return Err(Error::Refused {
                service: service.to_owned(),
                said: "a name with a NUL would reach the phone cut short".into(),
            });
        }
        let mut socket = self.server.connect().await?;
        within_answer(service, async {
            self.choose(&mut socket).await?;
            match self.server.ask(&mut socket, service).await? {
                Ok(()) => Ok(()),
                // The phone went away between the two requests.
                Err(said) if is_about_the_phone(&said) => Err(self.sort(said)),
                Err(said) => Err(Error::Refused { service: service.to_owned(), said }),
            }
        })
        .await?;
        Ok(socket.into())
    }

    async fn features(&self) -> Result<Features, Error> {
        match self.ask_about("features").await {
            Ok(mut socket) => {
                let said = within_answer("features", read_text(&mut socket)).await?;
                Ok(Features::read(&said))
            }
            // A server before 1.0.36 (2016) knows no features.
            Err(Error::Refused { said, .. }) if said.starts_with("unknown") => {
                Ok(Features::default())
            }
            Err(Error::Refused { said, .. }) => Err(self.sort(said)),
            Err(other) => Err(other),
        }
    }

    /// As the server passes it on: it turns characters such as spaces into `_`.
    async fn banner(&self) -> Result<Banner, Error> {
        let devices = self.server.devices().await?;
        let number = self.number.map(|number| number.to_string());
        let ours = |listed: &Listed| match &number {
            Some(number) => listed.property("transport_id") == Some(number),
            None => listed.serial == self.serial,
        };
        let Some(listed) = devices.into_iter().find(ours) else {
            return Err(self.sort(format!("device '{}' not found", self.serial)));
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

/// Gives the server [`ANSWER`] to do it.
pub(super) async fn within_answer<T>(
    what: &str,
    answer: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::time::timeout(ANSWER, answer).await.unwrap_or_else(|_| {
        Err(Error::TimedOut {
            what: format!("get an answer to {what:?} from the adb server"),
            after: ANSWER,
        })
    })
}

/// Whether a server sees where this serial ends in `host-serial:SERIAL:…`: it has no colon, or is
/// an address with a port.
fn ends_at_its_colon(serial: &str) -> bool {
    let (host, port) = serial.rsplit_once(':').map_or((serial, None), |(a, b)| (a, Some(b)));
    let bracketed = host.starts_with('[') && host.find(']') == Some(host.len() - 1);
    let plain = !host.is_empty() && !host.contains([':', '[']);
    // Behind these more is expected.
    let prefix = ["usb", "product", "model", "device", "tcp", "udp", "vsock"].contains(&host);
    let digits = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (plain || bracketed && port.is_some()) && !prefix && port.is_none_or(digits)
}

/// Whether a server's words mean the phone rather than what was asked of it.
fn is_about_the_phone(said: &str) -> bool {
    ["device ", "no device", "more than one "].iter().any(|words| said.starts_with(words))
}
