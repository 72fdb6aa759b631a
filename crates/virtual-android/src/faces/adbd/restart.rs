//! `tcpip:` and `usb:`: adbd announces how it will listen and restarts.
//!
//! The messages and the property are those of `restart_service.cpp`, unchanged from 4.4 to 16. The
//! caller decides what really listens ([`VirtualPhone::listen`]), so after `tcpip:` the phone stays
//! reachable where it was, whatever the port; after `usb:` it is unreachable until plugged in
//! again.

use crate::phone::VirtualPhone;
use thumbwire_adb::daemon::{Handler, handler};
use tokio::io::AsyncWriteExt;

/// `tcpip:PORT`
pub(super) fn to_tcp(phone: VirtualPhone, port: &str) -> Handler {
    let port = port.trim_end_matches('\0').parse().ok().filter(|&port: &u16| port > 0);
    handler(move |mut stream| async move {
        let text = match port {
            Some(port) => format!("restarting in TCP mode port: {port}\n"),
            None => "invalid port\n".to_owned(),
        };
        // The host may have disconnected; that is fine, here and below.
        let _ = stream.write_all(text.as_bytes()).await;
        drop(stream);
        if let Some(port) = port {
            phone.with(|phone| phone.properties.set("service.adb.tcp.port", &port.to_string()));
            phone.defer(VirtualPhone::cut_all);
        }
    })
}

/// `usb:`
pub(super) fn to_usb(phone: VirtualPhone) -> Handler {
    handler(move |mut stream| async move {
        let _ = stream.write_all(b"restarting in USB mode\n").await;
        drop(stream);
        phone.with(|phone| phone.properties.set("service.adb.tcp.port", "0"));
        phone.defer(VirtualPhone::unplug);
    })
}
