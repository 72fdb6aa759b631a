//! Changes to an adb server's device list, as they happen.

use tokio::net::TcpStream;

use super::server::AdbServer;
use crate::Error;
use crate::framed::Framed;
use crate::wire::devices::{DeviceEntry, read_devices};
use crate::wire::smart;

impl AdbServer {
    /// Tracks the device list. The first list comes immediately, another whenever a device appears,
    /// changes state or disappears.
    ///
    /// # Errors
    /// The server cannot be reached, or does not speak the protocol.
    pub async fn track_devices(&self) -> Result<DeviceTracker, Error> {
        let socket = match self.open_request("host:track-devices-l").await {
            // A server of 2019 or before knows only the short form, without properties.
            Err(Error::Refused { .. }) => self.open_request("host:track-devices").await?,
            other => other?,
        };
        Ok(DeviceTracker { framed: Framed::new(socket) })
    }
}

/// Tracks an adb server's device list until dropped.
pub struct DeviceTracker {
    framed: Framed<TcpStream>,
}

impl DeviceTracker {
    /// Waits for the next list: all devices in any state. Cancel-safe.
    ///
    /// # Errors
    /// The server has gone, or does not speak the protocol. Devices may have changed since: start
    /// again.
    pub async fn next(&mut self) -> Result<Vec<DeviceEntry>, Error> {
        match self.framed.next(smart::decode_text).await? {
            Some(list) => Ok(read_devices(&list)),
            None => Err(Error::disconnected("the adb server closed the connection")),
        }
    }
}
