//! lockdownd, the iPhone's service for computers: it reports what the phone is, checks that it
//! trusts the computer, and starts other services.
//!
//! Start with [`Lockdown::connect`]; [`Lockdown::start_session`] turns the connection into a
//! trusted one over TLS (`tls`). A message is its length in four big-endian bytes, and a property
//! list (`lockdown.c` and `property_list_service.c` of libimobiledevice).

mod tls;

use std::io;
use std::time::Duration;

use plist::{Dictionary, Value};
use thumbwire_base::visible::name;
use thumbwire_base::{Io, truncate};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::client::{PairRecord, UsbmuxClient, UsbmuxError, text};
use super::property_list;

/// The port of lockdownd on every iPhone.
const PORT: u16 = 62078;

/// The time limit of one exchange.
const EXCHANGE: Duration = Duration::from_secs(3);

/// The limit on a message: a list of all installed apps has some hundred kilobytes.
const MAX_MESSAGE: usize = 4 << 20;

/// A connection with lockdownd.
pub struct Lockdown {
    messages: MessageStream,
    udid: String,
    usbmux: UsbmuxClient,
    device: u64,
    session: Option<PairRecord>,
}

/// Why lockdownd did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum LockdownError {
    /// The phone could not be reached.
    #[error(transparent)]
    Usbmux(#[from] UsbmuxError),
    /// The connection ended early.
    #[error("the connection to the iPhone was lost: {0}")]
    Lost(io::Error),
    /// The phone did not answer in time.
    #[error("no answer from the iPhone within {0:?}")]
    TimedOut(Duration),
    /// No TLS: the phone is not the one that the pair record is about, or is too old.
    #[error("no TLS with the iPhone: {0}")]
    Tls(String),
    /// The message cannot be read.
    #[error("the iPhone sent an unexpected message: {0}")]
    Protocol(String),
    /// The phone does not trust this computer.
    #[error("the iPhone does not trust this computer ({})", name(.0))]
    NotTrusted(String),
    /// The phone's user has not answered the question whether to trust this computer.
    #[error("the iPhone asks its user whether to trust this computer")]
    TrustPending,
    /// The phone has not been unlocked since it was started.
    #[error("the iPhone is locked with a passcode")]
    Locked,
    /// The phone refused for another reason, in its own word.
    #[error("the iPhone refused: {}", name(.0))]
    Refused(String),
}

impl From<io::Error> for LockdownError {
    fn from(error: io::Error) -> Self {
        // How rustls reports what the other side refused. In TLS 1.3 a phone that refuses our
        // certificate says so after the handshake.
        match error.kind() {
            io::ErrorKind::InvalidData => Self::Tls(error.to_string()),
            _ => Self::Lost(error),
        }
    }
}

/// What lockdownd says about the phone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceValues {
    /// Its user's name for it: `Ana's iPhone`.
    pub name: String,
    /// Its model's code: `iPhone14,5`.
    pub product_type: String,
    /// The release of iOS: `17.4.1`.
    pub product_version: String,
}

/// A service that was started.
pub(crate) struct ServicePort {
    port: u16,
    has_tls: bool,
}

impl Lockdown {
    /// Connects to the lockdownd of the phone with this UDID.
    ///
    /// # Errors
    /// If the phone cannot be reached, or what answers is not lockdownd.
    pub async fn connect(usbmux: &UsbmuxClient, udid: &str) -> Result<Self, LockdownError> {
        let device = usbmux.find(udid).await?.id;
        let stream = usbmux.connect(device, PORT).await?;
        let messages = MessageStream(stream);
        let usbmux = usbmux.clone();
        let mut this = Self { messages, udid: udid.to_owned(), usbmux, device, session: None };
        let answer = this.ask("QueryType", Dictionary::new()).await?;
        match text(&answer, "Type") {
            Some("com.apple.mobile.lockdown") => Ok(this),
            other => Err(LockdownError::Protocol(format!("it is {}", name(other.unwrap_or("?"))))),
        }
    }

    /// What it says about the phone. Without a session it says this much to every computer.
    ///
    /// # Errors
    /// If it does not answer.
    pub async fn device_values(&mut self) -> Result<DeviceValues, LockdownError> {
        let mut values = DeviceValues::default();
        for (key, value) in [
            ("DeviceName", &mut values.name),
            ("ProductType", &mut values.product_type),
            ("ProductVersion", &mut values.product_version),
        ] {
            if let Some(Value::String(text)) = self.value(None, key).await? {
                *value = truncate(&text, 100);
            }
        }
        Ok(values)
    }

    /// Whether developer mode is on; `None` for a phone that has no such mode (before iOS 16).
    /// Needs a session.
    ///
    /// # Errors
    /// If it does not answer.
    pub async fn developer_mode(&mut self) -> Result<Option<bool>, LockdownError> {
        let value = self.value(Some("com.apple.security.mac.amfi"), "DeveloperModeStatus").await?;
        Ok(value.and_then(|value| value.as_boolean()))
    }

    /// A value; `None` if there is none with this key.
    async fn value(
        &mut self,
        domain: Option<&str>,
        key: &str,
    ) -> Result<Option<Value>, LockdownError> {
        let mut request = texts([("Key", key)]);
        if let Some(domain) = domain {
            request.extend(texts([("Domain", domain)]));
        }
        match self.ask("GetValue", request).await {
            Ok(mut answer) => Ok(answer.remove("Value")),
            Err(LockdownError::Refused(word)) if is_missing(&word) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Begins a session: the phone checks that it trusts this computer, and both show the
    /// certificates of the pair record.
    ///
    /// # Errors
    /// [`UsbmuxError::NotPaired`], [`LockdownError::NotTrusted`], [`LockdownError::TrustPending`]
    /// or [`LockdownError::Locked`] say what is missing; [`LockdownError::Tls`] that the phone is
    /// another one.
    pub async fn start_session(&mut self) -> Result<(), LockdownError> {
        let record = self.usbmux.read_pair_record(&self.udid).await?;
        let request = texts([("HostID", &*record.host_id), ("SystemBUID", &*record.system_buid)]);
        let answer = self.ask("StartSession", request).await?;
        if answer.get("EnableSessionSSL").and_then(Value::as_boolean) != Some(true) {
            // Every iPhone since iOS 5 asks for TLS. Without it anybody could answer.
            return Err(LockdownError::Tls("it did not ask for TLS".into()));
        }
        self.messages.start_tls(&record).await?;
        self.session = Some(record);
        Ok(())
    }

    /// Starts a service, such as `com.apple.mobile.installation_proxy`, and connects to it. Needs a
    /// session.
    ///
    /// # Errors
    /// If the phone refuses, or does not have it.
    pub(crate) async fn start_service(
        &mut self,
        name: &str,
    ) -> Result<MessageStream, LockdownError> {
        let answer = self.ask("StartService", texts([("Service", name)])).await?;
        let service = read_service(&answer)?;
        let stream = self.usbmux.connect(self.device, service.port).await?;
        let mut messages = MessageStream(stream);
        if let (true, Some(record)) = (service.has_tls, &self.session) {
            messages.start_tls(record).await?;
        }
        Ok(messages)
    }

    async fn ask(
        &mut self,
        name: &'static str,
        mut request: Dictionary,
    ) -> Result<Dictionary, LockdownError> {
        request.extend(texts([
            ("Label", "thumbwire"),
            ("ProtocolVersion", "2"),
            ("Request", name),
        ]));
        self.messages.send(request).await?;
        let answer = self.messages.receive(EXCHANGE).await?;
        match text(&answer, "Error") {
            Some(word) => Err(refusal(word)),
            None => Ok(answer),
        }
    }
}

/// Messages over a connection with a service of the phone.
pub(crate) struct MessageStream(Box<dyn Io>);

impl MessageStream {
    pub(crate) async fn send(&mut self, message: impl Into<Value>) -> Result<(), LockdownError> {
        let body = property_list::to_xml(message);
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let bytes = [&length.to_be_bytes()[..], &body].concat();
        let sending = async {
            self.0.write_all(&bytes).await?;
            self.0.flush().await
        };
        Ok(timeout(EXCHANGE, sending).await.map_err(|_| LockdownError::TimedOut(EXCHANGE))??)
    }

    /// The next message, which is a dictionary.
    pub(crate) async fn receive(&mut self, limit: Duration) -> Result<Dictionary, LockdownError> {
        let body = self.receive_body(limit).await?;
        property_list::parse(&body).map_err(|error| LockdownError::Protocol(error.to_string()))
    }

    async fn receive_body(&mut self, limit: Duration) -> Result<Vec<u8>, LockdownError> {
        let receiving = async {
            let mut length = [0; 4];
            self.0.read_exact(&mut length).await?;
            let length = u32::from_be_bytes(length);
            if usize::try_from(length).map_or(true, |length| length > MAX_MESSAGE) {
                let text = format!("{length} bytes; the limit is {MAX_MESSAGE}");
                return Err(LockdownError::Protocol(text));
            }
            // Memory is taken as bytes arrive: the length is only what the phone says.
            let mut body = Vec::new();
            let read = (&mut self.0).take(length.into()).read_to_end(&mut body).await?;
            match u32::try_from(read) == Ok(length) {
                true => Ok(body),
                false => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            }
        };
        timeout(limit, receiving).await.unwrap_or(Err(LockdownError::TimedOut(limit)))
    }

    async fn start_tls(&mut self, record: &PairRecord) -> Result<(), LockdownError> {
        let (nothing, _) = tokio::io::duplex(1);
        let stream = std::mem::replace(&mut self.0, Box::new(nothing));
        let handshake = timeout(EXCHANGE, tls::connect(stream, record));
        self.0 = handshake.await.map_err(|_| LockdownError::TimedOut(EXCHANGE))??;
        Ok(())
    }
}

/// A dictionary of texts.
fn texts<const N: usize>(entries: [(&str, &str); N]) -> Dictionary {
    let entries = entries.into_iter();
    entries.map(|(name, text)| (name.to_owned(), Value::String(text.to_owned()))).collect()
}

fn read_service(answer: &Dictionary) -> Result<ServicePort, LockdownError> {
    let port = answer.get("Port").and_then(Value::as_unsigned_integer);
    let port = port.and_then(|port| u16::try_from(port).ok());
    Ok(ServicePort {
        port: port.ok_or_else(|| LockdownError::Protocol("a service without a port".into()))?,
        has_tls: answer.get("EnableServiceSSL").and_then(Value::as_boolean) == Some(true),
    })
}

/// Whether this error of lockdownd means that the key has no value.
fn is_missing(word: &str) -> bool {
    matches!(word, "MissingValue" | "GetProhibited" | "InvalidDomain" | "MissingKey")
}

/// The error for a word of lockdownd (`lockdownd_error_t` of libimobiledevice).
fn refusal(word: &str) -> LockdownError {
    match word {
        "PasswordProtected" => LockdownError::Locked,
        "PairingDialogResponsePending" => LockdownError::TrustPending,
        "InvalidHostID" | "UserDeniedPairing" | "InvalidPairRecord" | "PairingFailed"
        | "MissingPairRecord" | "MissingHostID" => LockdownError::NotTrusted(word.to_owned()),
        other => LockdownError::Refused(truncate(other, 100)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_lockdownd_tell_what_is_missing() {
        assert!(matches!(refusal("PasswordProtected"), LockdownError::Locked));
        assert!(matches!(refusal("PairingDialogResponsePending"), LockdownError::TrustPending));
        assert!(matches!(refusal("InvalidHostID"), LockdownError::NotTrusted(_)));
        assert_eq!(refusal("Odd\u{1b}[2J").to_string(), r#"the iPhone refused: "Odd\u{1b}[2J""#);
    }

    #[tokio::test]
    async fn lengths_beyond_the_limit_are_refused_before_memory_is_taken() {
        let (near, mut far) = tokio::io::duplex(64);
        far.write_all(&[0xFF; 4]).await.unwrap();
        let error = MessageStream(Box::new(near)).receive(EXCHANGE).await.unwrap_err();
        assert!(error.to_string().contains("4294967295 bytes"), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn phone_that_says_nothing_is_not_waited_for() {
        let (near, _far) = tokio::io::duplex(64);
        let error = MessageStream(Box::new(near)).receive(EXCHANGE).await.unwrap_err();
        assert!(matches!(error, LockdownError::TimedOut(_)), "{error}");
    }
}
