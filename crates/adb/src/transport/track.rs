//! Changes of an adb server's list of devices, as they happen.

use tokio::net::TcpStream;

use super::server::AdbServer;
use crate::Error;
use crate::framed::Framed;
use crate::wire::devices::{Listed, read_devices};
use crate::wire::smart;

impl AdbServer {
    /// Watches the list of devices. The first one comes at once, another whenever a device appears,
    /// changes its state or goes.
    ///
    /// # Errors
    /// There is no server, or it does not talk like one.
    pub async fn track_devices(&self) -> Result<DeviceTracker, Error> {
        let socket = match self.converse("host:track-devices-l").await {
            // A server of 2019 or before knows the short form alone, which has no properties.
            Err(Error::Refused { .. }) => self.converse("host:track-devices").await?,
            other => other?,
        };
        Ok(DeviceTracker { framed: Framed::new(socket) })
    }
}

/// Watches an adb server's list of devices until it is dropped.
pub struct DeviceTracker {
    framed: Framed<TcpStream>,
}

impl DeviceTracker {
    /// Waits for the next list: all devices, whatever their state. Safe to be cancelled.
    ///
    /// # Errors
    /// The server has gone, or does not talk like one. Devices may have changed since: begin anew.
    pub async fn next(&mut self) -> Result<Vec<Listed>, Error> {
        match self.framed.next(smart::decode_text).await? {
            Some(list) => Ok(read_devices(&list)),
            None => Err(Error::vanished("the adb server has ended")),
        }
    }
}
