//! A WebDriverAgent on a port of an iPhone that usbmuxd knows.

use async_trait::async_trait;
use thumbwire_base::Io;

use super::client::WDA;
use crate::ios::usbmux::UsbmuxClient;
use crate::webdriver::{Connect, HttpClient, ServerProfile};

/// The ports of WebDriverAgent and of its MJPEG stream on the phone (`FBConfiguration.m`).
pub(super) const WDA_PORT: u16 = 8100;
pub(super) const MJPEG_PORT: u16 = 9100;

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
        let connecting = async {
            let device = self.client.find(&self.udid).await?;
            self.client.connect(device.id, self.port).await
        };
        connecting.await.map_err(|error| error.to_string())
    }
}

/// A client of the server on this port of the phone with this UDID.
pub(super) fn http(client: &UsbmuxClient, udid: &str, port: u16) -> HttpClient {
    let server = ServerProfile { start: "List the devices to see what is missing", ..WDA };
    let address = format!("usbmux://{udid}:{port}");
    HttpClient::over(
        server,
        address,
        UsbmuxPort { client: client.clone(), udid: udid.to_owned(), port },
    )
}
