//! `tcpip:` and `usb:`: adbd says how it will listen from now on, and starts anew.
//!
//! The words and the property are those of `restart_service.cpp`, the same from 4.4 to 16. What really listens is the caller's
//! ([`VirtualPhone::listen`]), so that after `tcpip:` the phone is where it was, whatever the port; after `usb:` it is nowhere until somebody
//! plugs it in.

use crate::phone::VirtualPhone;
use thumbwire_adb::daemon::{Handler, handler};
use tokio::io::AsyncWriteExt;

/// `tcpip:PORT`
pub(super) fn to_tcp(phone: VirtualPhone, port: &str) -> Handler {
    let port = port.trim_end_matches('\0').parse().ok().filter(|&port: &u16| port > 0);
    handler(move |mut stream| async move {
        let words = match port {
            Some(port) => format!("restarting in TCP mode port: {port}\n"),
            None => "invalid port\n".to_owned(),
        };
        // A host that has gone needs no answer; the same below.
        let _ = stream.write_all(words.as_bytes()).await;
        drop(stream);
        if let Some(port) = port {
            phone.with(|phone| phone.properties.set("service.adb.tcp.port", &port.to_string()));
            phone.soon(VirtualPhone::cut_all);
        }
    })
}

/// `usb:`
pub(super) fn to_usb(phone: VirtualPhone) -> Handler {
    handler(move |mut stream| async move {
        let _ = stream.write_all(b"restarting in USB mode\n").await;
        drop(stream);
        phone.with(|phone| phone.properties.set("service.adb.tcp.port", "0"));
        phone.soon(VirtualPhone::unplug);
    })
}
