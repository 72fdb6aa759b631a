//! A port of an iPhone that usbmuxd reaches.

use async_trait::async_trait;
use thumbwire_adb::transport::Io;

use super::http::{Connect, HttpClient};
use crate::Error;
use crate::ios::usbmux::UsbmuxClient;

/// A port of an iPhone.
struct UsbmuxPort {
    client: UsbmuxClient,
    /// The phone. Its number at the daemon is looked up for each connection: a number that is used again after a restart of
    /// the daemon could be another phone's.
    udid: String,
    port: u16,
}

#[async_trait]
impl Connect for UsbmuxPort {
    async fn connect(&self) -> Result<Box<dyn Io>, String> {
        let device = self.client.find(&self.udid).await.map_err(|error| error.to_string())?;
        let connected = self.client.connect(device.id, self.port).await;
        connected.map_err(|error| error.to_string())
    }
}

/// A client for the server on a port of the phone with this UDID.
pub(super) fn http(client: &UsbmuxClient, udid: &str, port: u16) -> Result<HttpClient, Error> {
    let connector = UsbmuxPort { client: client.clone(), udid: udid.to_owned(), port };
    HttpClient::over_streams(&format!("usbmux://{udid}:{port}"), Box::new(connector))
}
