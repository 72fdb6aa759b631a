//! usbmuxd, the program that knows the iPhones on USB and Wi-Fi and connects to their ports:
//! Apple's on macOS and Windows, libimobiledevice's on Linux.
//!
//! Start with [`UsbmuxClient`]. `message` has the bytes, `address` says where the daemon listens,
//! `pair_record` is what the daemon keeps for each phone that trusts this computer.
//!
//! Each exchange has a connection of its own, a limit on its time and one on the size of its
//! messages. An answer to `Connect` turns the connection into one with the phone.

mod address;
mod message;
mod pair_record;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use plist::{Dictionary, Value};
use thumbwire_base::{Io, visible::visible};
use tokio::time::timeout;

pub use address::{ParseUsbmuxAddressError, UsbmuxAddress};
pub(crate) use message::text;
pub use pair_record::PairRecord;

/// The time limit of one exchange. The daemon is on this computer and answers in less than a
/// millisecond; connecting to a phone on Wi-Fi takes longer.
const EXCHANGE: Duration = Duration::from_secs(3);

/// How many phones a list may have.
const MAX_DEVICES: usize = 1000;

/// A usbmuxd. Nothing is connected until it is asked something.
#[derive(Debug, Clone)]
pub struct UsbmuxClient {
    address: UsbmuxAddress,
    limit: Duration,
}

/// A phone that the daemon lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsbmuxDevice {
    /// The daemon's number for this connection. It changes when the phone is replugged.
    pub id: u64,
    /// The phone's identifier, as Xcode shows it: `00008030-001A2D3E4F50802E`, or 40 digits before
    /// the iPhone XS.
    pub udid: String,
    /// How it is connected.
    pub connection: Connection,
}

/// How a phone is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Connection {
    /// By cable.
    Usb,
    /// By Wi-Fi.
    Network,
}

impl Connection {
    /// `usb` or `network`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usb => "usb",
            Self::Network => "network",
        }
    }
}

/// Why usbmuxd did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum UsbmuxError {
    /// No daemon listens at its address. On Linux install and start `usbmuxd`; macOS starts its
    /// own.
    #[error("no usbmuxd at {address}: {cause}")]
    NoDaemon {
        /// The address.
        address: UsbmuxAddress,
        /// The system's message.
        cause: io::Error,
    },
    /// The daemon did not answer in time. Restart it.
    #[error("no answer from usbmuxd within {0:?}")]
    TimedOut(Duration),
    /// The connection ended early.
    #[error("the connection to usbmuxd was lost: {0}")]
    Lost(#[from] io::Error),
    /// What answers is not usbmuxd, or a version that we do not know.
    #[error("usbmuxd sent an unexpected message: {0}")]
    Protocol(String),
    /// The daemon does not know the phone: it was unplugged.
    #[error("usbmuxd does not have this iPhone")]
    NoDevice,
    /// Nothing listens on this port of the phone.
    #[error("nothing listens on port {0} of the iPhone")]
    PortClosed(u16),
    /// This computer has no pair record: the phone does not trust it.
    #[error("this computer is not paired with the iPhone")]
    NotPaired,
    /// The daemon refused with another code (`enum usbmuxd_result` in libusbmuxd's
    /// `usbmuxd-proto.h`).
    #[error("usbmuxd refused with code {0}")]
    Refused(u64),
}

impl UsbmuxClient {
    /// The daemon at this address.
    pub fn new(address: UsbmuxAddress) -> Self {
        Self { address, limit: EXCHANGE }
    }

    /// Sets the time limit of each exchange.
    #[must_use]
    pub fn with_limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Where it listens.
    pub fn address(&self) -> &UsbmuxAddress {
        &self.address
    }

    /// The phones that are connected now. One with a cable and Wi-Fi is in the list once, by its
    /// cable.
    ///
    /// # Errors
    /// If the daemon cannot be asked.
    pub async fn list(&self) -> Result<Vec<UsbmuxDevice>, UsbmuxError> {
        let (_, answer) = self.exchange(message::request("ListDevices")).await?;
        let Some(Value::Array(list)) = answer.get("DeviceList") else {
            return Err(refusal(&answer));
        };
        let devices = list.iter().take(MAX_DEVICES).filter_map(Value::as_dictionary);
        let mut by_udid: BTreeMap<String, UsbmuxDevice> = BTreeMap::new();
        for device in devices.filter_map(read_device) {
            let is_better =
                by_udid.get(&device.udid).is_none_or(|known| device.connection < known.connection);
            if is_better {
                by_udid.insert(device.udid.clone(), device);
            }
        }
        Ok(by_udid.into_values().collect())
    }

    /// The phone with this UDID.
    ///
    /// # Errors
    /// [`UsbmuxError::NoDevice`] if it is not connected.
    pub async fn find(&self, udid: &str) -> Result<UsbmuxDevice, UsbmuxError> {
        let listed = self.list().await?;
        listed.into_iter().find(|device| device.udid == udid).ok_or(UsbmuxError::NoDevice)
    }

    /// Connects to a port of a phone.
    ///
    /// # Errors
    /// [`UsbmuxError::PortClosed`] if nothing listens there, [`UsbmuxError::NoDevice`] if the phone
    /// is gone.
    pub async fn connect(&self, device: u64, port: u16) -> Result<Box<dyn Io>, UsbmuxError> {
        let mut request = message::request("Connect");
        request.insert("DeviceID".into(), Value::Integer(device.into()));
        // In network byte order, as the field of a C structure once was.
        request.insert("PortNumber".into(), Value::Integer(u64::from(port.to_be()).into()));
        let (stream, answer) = self.exchange(request).await?;
        match message::result(&answer) {
            Some(0) => Ok(stream),
            Some(2) => Err(UsbmuxError::NoDevice),
            Some(3) => Err(UsbmuxError::PortClosed(port)),
            _ => Err(refusal(&answer)),
        }
    }

    /// What this computer and a phone have agreed on.
    ///
    /// # Errors
    /// [`UsbmuxError::NotPaired`] if there is no such record.
    pub async fn read_pair_record(&self, udid: &str) -> Result<PairRecord, UsbmuxError> {
        let mut request = message::request("ReadPairRecord");
        request.insert("PairRecordID".into(), Value::String(udid.to_owned()));
        let (_, answer) = self.exchange(request).await?;
        match (answer.get("PairRecordData").and_then(Value::as_data), message::result(&answer)) {
            (Some(data), _) => PairRecord::parse(data).map_err(UsbmuxError::Protocol),
            // ENOENT in libimobiledevice's daemon, "bad device" in Apple's.
            (None, Some(2)) => Err(UsbmuxError::NotPaired),
            _ => Err(refusal(&answer)),
        }
    }

    /// Waits for changes of the list: each connected phone is one at the beginning.
    ///
    /// # Errors
    /// If the daemon cannot be asked.
    pub async fn listen(&self) -> Result<UsbmuxEvents, UsbmuxError> {
        let (stream, answer) = self.exchange(message::request("Listen")).await?;
        match message::result(&answer) {
            Some(0) => Ok(UsbmuxEvents(stream)),
            _ => Err(refusal(&answer)),
        }
    }

    /// Sends a request on a connection of its own, and returns the connection and the answer.
    async fn exchange(
        &self,
        request: Dictionary,
    ) -> Result<(Box<dyn Io>, Dictionary), UsbmuxError> {
        const TAG: u32 = 1;
        let exchange =
            async {
                let mut stream = self.address.connect().await.map_err(|cause| {
                    UsbmuxError::NoDaemon { address: self.address.clone(), cause }
                })?;
                message::write(&mut stream, TAG, request).await?;
                let answer = message::read(&mut stream).await?;
                Ok((stream, answer))
            };
        timeout(self.limit, exchange).await.unwrap_or(Err(UsbmuxError::TimedOut(self.limit)))
    }
}

/// Reports each change of the list of phones.
pub struct UsbmuxEvents(Box<dyn Io>);

impl UsbmuxEvents {
    /// Waits until a phone is attached or detached.
    ///
    /// # Errors
    /// If the connection ends.
    pub async fn next(&mut self) -> Result<(), UsbmuxError> {
        loop {
            let event = message::read(&mut self.0).await?;
            if matches!(text(&event, "MessageType"), Some("Attached" | "Detached")) {
                return Ok(());
            }
        }
    }
}

/// The error for an answer that is not the expected one.
fn refusal(answer: &Dictionary) -> UsbmuxError {
    match message::result(answer) {
        Some(code) if code != 0 => UsbmuxError::Refused(code),
        _ => {
            let kind = text(answer, "MessageType").unwrap_or("no type");
            UsbmuxError::Protocol(visible(kind).chars().take(60).collect())
        }
    }
}

/// A list entry; `None` if it lacks what identifies a phone.
fn read_device(entry: &Dictionary) -> Option<UsbmuxDevice> {
    let properties = entry.get("Properties").and_then(Value::as_dictionary).unwrap_or(entry);
    let number = |of: &Dictionary| of.get("DeviceID").and_then(Value::as_unsigned_integer);
    let connection = match text(properties, "ConnectionType") {
        Some("Network") => Connection::Network,
        // The daemon of Linux had no field for it before it knew Wi-Fi.
        _ => Connection::Usb,
    };
    Some(UsbmuxDevice {
        id: number(entry).or_else(|| number(properties))?,
        udid: normalized_udid(text(properties, "SerialNumber")?)?,
        connection,
    })
}

/// A UDID as Xcode writes it. Older daemons omit the hyphen of those with 24 digits, as USB
/// descriptors do.
fn normalized_udid(serial: &str) -> Option<String> {
    let is_udid = (1..=64).contains(&serial.len())
        && serial.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !is_udid {
        return None;
    }
    Some(match serial.len() {
        24 if !serial.contains('-') => format!("{}-{}", &serial[..8], &serial[8..]),
        _ => serial.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn udids_are_written_as_xcode_does() {
        let check = |serial: &str, udid: Option<&str>| {
            assert_eq!(normalized_udid(serial).as_deref(), udid, "{serial:?}");
        };
        check("00008030001A2D3E4F50802E", Some("00008030-001A2D3E4F50802E"));
        check("00008030-001A2D3E4F50802E", Some("00008030-001A2D3E4F50802E"));
        let old = "0123456789abcdef0123456789abcdef01234567";
        check(old, Some(old));
        check("", None);
        check("../../../etc/passwd", None);
        check("a b", None);
    }
}
