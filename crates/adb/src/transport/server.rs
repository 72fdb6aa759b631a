//! Through a running adb server: its list of devices, and services on one of them.
//!
//! Each request has a socket of its own; once a service is opened, that socket carries its bytes.
//! Source: `SERVICES.TXT` and `adb.cpp` (`handle_host_request`) in AOSP's adb.
//!
//! The server is never started from here, and its address is given by the caller.

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
        within(ANSWER, request, async {
            self.ask(&mut socket, request)
                .await?
                .map_err(|said| Error::Refused { service: request.to_owned(), said })?;
            read_text(&mut socket).await
        })
        .await
    }

    /// The way to one of its devices. Nothing is asked yet.
    pub fn device(&self, serial: impl Into<String>) -> ThroughServer {
        ThroughServer { server: self.clone(), serial: serial.into() }
    }

    /// Asks for what goes on after the OKAY: the socket stands right behind it.
    pub(super) async fn converse(&self, request: &str) -> Result<TcpStream, Error> {
        let mut socket = self.connect().await?;
        within(ANSWER, request, async {
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
}

impl ThroughServer {
    /// By which the server knows the phone.
    pub fn serial(&self) -> &str {
        &self.serial
    }

    /// What the server's words about this phone mean.
    fn sort(&self, said: String) -> Error {
        let serial = self.serial.clone();
        if said.contains("not found") || said.contains("no devices") {
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
        within(ANSWER, service, async {
            let choose = format!("host:transport:{}", self.serial);
            self.server.ask(&mut socket, &choose).await?.map_err(|said| self.sort(said))?;
            match self.server.ask(&mut socket, service).await? {
                Ok(()) => Ok(()),
                // The phone went away between the two requests.
                Err(said) if said.starts_with("device ") => Err(self.sort(said)),
                Err(said) => Err(Error::Refused { service: service.to_owned(), said }),
            }
        })
        .await?;
        Ok(socket.into())
    }

    async fn features(&self) -> Result<Features, Error> {
        let request = format!("host-serial:{}:features", self.serial);
        match self.server.query(&request).await {
            Ok(said) => Ok(Features::read(&said)),
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
        let Some(listed) = devices.into_iter().find(|listed| listed.serial == self.serial) else {
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

async fn within<T>(
    after: Duration,
    what: &str,
    answer: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::time::timeout(after, answer).await.unwrap_or_else(|_| {
        Err(Error::TimedOut {
            what: format!("get an answer to {what:?} from the adb server"),
            after,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::devices::State;
    use tokio::net::TcpListener;

    /// A server that reads one request for each script, checks it, and answers.
    async fn server(scripts: Vec<Vec<(&'static str, &'static str)>>) -> AdbServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            for script in scripts {
                let (mut socket, _) = listener.accept().await.unwrap();
                for (request, answer) in script {
                    let mut got = vec![0; request.len()];
                    socket.read_exact(&mut got).await.unwrap();
                    assert_eq!(String::from_utf8_lossy(&got), request);
                    socket.write_all(answer.as_bytes()).await.unwrap();
                }
            }
        });
        AdbServer::new(address)
    }

    #[tokio::test]
    async fn a_query_is_answered_with_a_text() {
        let server = server(vec![vec![("000chost:version", "OKAY00040029")]]).await;
        assert_eq!(server.version().await, Ok(41));
    }

    #[tokio::test]
    async fn a_service_is_opened_after_its_device_was_chosen() {
        let server =
            server(vec![vec![("0013host:transport:abc1", "OKAY"), ("0009exec:date", "OKAYnoon")]])
                .await;
        let mut stream = server.device("abc1").open("exec:date").await.unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "noon");
    }

    #[tokio::test]
    async fn the_servers_words_are_sorted_by_what_one_can_do() {
        let check = async |answer: &'static str, expected: Error| {
            let server = server(vec![vec![("0010host:transport:x", answer)]]).await;
            assert_eq!(server.device("x").open("sync:").await.err(), Some(expected));
        };
        let serial = || "x".to_owned();
        check(
            "FAIL0014device 'x' not found",
            Error::NoSuchDevice { serial: serial(), said: "device 'x' not found".into() },
        )
        .await;
        check(
            "FAIL000edevice offline",
            Error::Offline { serial: serial(), state: "offline".into() },
        )
        .await;
        check(
            "FAIL0018device still authorizing",
            Error::Offline { serial: serial(), state: "still authorizing".into() },
        )
        .await;
        check(
            "FAIL0025device unauthorized.\nThis adb server's",
            Error::Unauthorized { reason: "device unauthorized.".into() },
        )
        .await;
    }

    #[tokio::test]
    async fn a_refused_service_carries_the_servers_words() {
        let server =
            server(vec![vec![("0010host:transport:x", "OKAY"), ("0007nosuch:", "FAIL0006closed")]])
                .await;
        let error = server.device("x").open("nosuch:").await.err();
        assert_eq!(
            error,
            Some(Error::Refused { service: "nosuch:".into(), said: "closed".into() })
        );
    }

    #[tokio::test]
    async fn each_change_of_the_list_is_told() {
        let server = server(vec![vec![(
            "0014host:track-devices-l",
            "OKAY0000000aabc\tdevice000babc\toffline",
        )]])
        .await;
        let mut tracker = server.track_devices().await.unwrap();
        assert_eq!(tracker.next().await.unwrap(), []);
        for state in [State::Device, State::Offline] {
            let listed = tracker.next().await.unwrap();
            assert_eq!((&listed[0].serial[..], &listed[0].state), ("abc", &state));
        }
        assert!(matches!(tracker.next().await, Err(Error::Vanished { .. })), "the server ended");
    }

    #[tokio::test]
    async fn a_server_that_knows_the_short_list_alone_is_asked_for_that() {
        let server = server(vec![
            vec![("0014host:track-devices-l", "FAIL0014unknown host service")],
            vec![("0012host:track-devices", "OKAY000cabc\toffline\n")],
        ])
        .await;
        let listed = server.track_devices().await.unwrap().next().await.unwrap();
        assert_eq!(listed[0].state, State::Offline);
    }

    #[tokio::test]
    async fn whoever_is_no_adb_server_is_told_so() {
        let server = server(vec![vec![("000chost:version", "HTTP/1.1 400 Bad Request")]]).await;
        assert!(
            matches!(server.version().await, Err(Error::Protocol { saw }) if saw.contains("HTTP"))
        );
    }

    #[tokio::test]
    async fn an_absent_server_is_not_reachable() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        let error = AdbServer::new(&address).devices().await.unwrap_err();
        assert!(matches!(error, Error::NotReachable { place, .. } if place == address));
    }
}
