//! Requests to an adb server and the meaning of its replies, with scripted servers.

use super::*;
use crate::wire::devices::DeviceState;
use tokio::net::TcpListener;

/// A server that reads and checks one request per script, and replies.
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
async fn query_returns_text() {
    let server = server(vec![vec![("000chost:version", "OKAY00040029")]]).await;
    assert_eq!(server.version().await, Ok(41));
}

#[tokio::test]
async fn service_opens_after_selecting_the_device() {
    let server =
        server(vec![vec![("0013host:transport:abc1", "OKAY"), ("0009exec:date", "OKAYnoon")]])
            .await;
    let mut stream = server.device("abc1").open("exec:date").await.unwrap();
    let mut output = String::new();
    stream.read_to_string(&mut output).await.unwrap();
    assert_eq!(output, "noon");
}

#[tokio::test]
async fn server_messages_map_to_error_kinds() {
    let check = async |answer: &'static str, expected: Error| {
        let server = server(vec![vec![("0010host:transport:x", answer)]]).await;
        assert_eq!(server.device("x").open("sync:").await.err(), Some(expected));
    };
    let serial = || "x".to_owned();
    check(
        "FAIL0014device 'x' not found",
        Error::NoSuchDevice { serial: serial(), text: "device 'x' not found".into() },
    )
    .await;
    check("FAIL000edevice offline", Error::Offline { serial: serial(), state: "offline".into() })
        .await;
    check(
        "FAIL0018device still authorizing",
        Error::Unauthorized { reason: "device still authorizing".into() },
    )
    .await;
    check(
        "FAIL0025device unauthorized.\nThis adb server's",
        Error::Unauthorized { reason: "device unauthorized.".into() },
    )
    .await;
}

#[tokio::test]
async fn refused_service_contains_the_servers_message() {
    let server =
        server(vec![vec![("0010host:transport:x", "OKAY"), ("0007nosuch:", "FAIL0006closed")]])
            .await;
    let error = server.device("x").open("nosuch:").await.err();
    assert_eq!(error, Some(Error::Refused { service: "nosuch:".into(), text: "closed".into() }));
}

#[tokio::test]
async fn every_change_of_the_device_list_is_reported() {
    let server =
        server(vec![vec![("0014host:track-devices-l", "OKAY0000000aabc\tdevice000babc\toffline")]])
            .await;
    let mut tracker = server.track_devices().await.unwrap();
    assert_eq!(tracker.next().await.unwrap(), []);
    for state in [DeviceState::Device, DeviceState::Offline] {
        let listed = tracker.next().await.unwrap();
        assert_eq!((&listed[0].serial[..], &listed[0].state), ("abc", &state));
    }
    assert!(matches!(tracker.next().await, Err(Error::Disconnected { .. })), "the server ended");
}

#[tokio::test]
async fn old_server_falls_back_to_the_short_list() {
    let server = server(vec![
        vec![("0014host:track-devices-l", "FAIL0014unknown host service")],
        vec![("0012host:track-devices", "OKAY000cabc\toffline\n")],
    ])
    .await;
    let listed = server.track_devices().await.unwrap().next().await.unwrap();
    assert_eq!(listed[0].state, DeviceState::Offline);
}

#[tokio::test]
async fn non_adb_server_gets_a_clear_error() {
    let server = server(vec![vec![("000chost:version", "HTTP/1.1 400 Bad Request")]]).await;
    assert!(matches!(server.version().await, Err(Error::Protocol { saw }) if saw.contains("HTTP")));
}

#[tokio::test]
async fn absent_server_is_not_reachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = AdbServer::new(&address).devices().await.unwrap_err();
    assert!(matches!(error, Error::NotReachable { address: named, .. } if named == address));
}

/// Like [`server`], for requests without their lengths; the socket ends after the last reply.
async fn asked(scripts: Vec<Vec<(String, &'static str)>>) -> AdbServer {
    let framed = |request: String| {
        let bytes = smart::text(&request).unwrap();
        &*String::from_utf8(bytes).unwrap().leak()
    };
    let script = |script: Vec<(String, &'static str)>| {
        script.into_iter().map(|(request, answer)| (framed(request), answer)).collect()
    };
    server(scripts.into_iter().map(script).collect()).await
}

#[tokio::test]
async fn ambiguous_serial_selects_the_transport_first() {
    for serial in ["abc1", "My Phone (2)", "it's \"a\"; b", "192.168.1.2:5555", "[fe80::1%2]:5555"]
    {
        let request = format!("host-serial:{serial}:features");
        let server = asked(vec![vec![(request, "OKAY0003cmd")]]).await;
        assert!(server.device(serial).features().await.unwrap().has("cmd"), "{serial}");
    }
    for serial in [
        "a:b",
        "a:5555:c",
        "usb:1-4",
        "tcp:5555",
        "vsock:2:5555",
        "model:1",
        "[a",
        "::1",
        "usb",
        "tcp",
    ] {
        let choose = format!("host:transport:{serial}");
        let scripts = vec![(choose, "OKAY"), ("host:features".into(), "OKAY0003cmd")];
        let server = asked(vec![scripts]).await;
        assert!(server.device(serial).features().await.unwrap().has("cmd"), "{serial}");
        let scripts = vec![(format!("host:transport:{serial}"), "OKAY"), ("sync:".into(), "OKAY")];
        let server = asked(vec![scripts]).await;
        assert!(server.device(serial).open("sync:").await.is_ok(), "{serial}");
    }
}

#[tokio::test]
async fn phone_without_serial_is_reached_by_transport_id() {
    let list = "OKAY0044(no serial number)     device usb:1 model:A transport_id:7\nx\tdevice\n";
    let server = asked(vec![
        vec![("host-transport-id:7:features".into(), "OKAY0003cmd")],
        vec![("host:transport-id:7".into(), "OKAY"), ("exec:date".into(), "OKAYnoon")],
        vec![("host:devices-l".into(), list)],
        vec![("host-transport-id:7:features".into(), "OKAY0003cmd")],
        vec![("host:transport-id:7".into(), "FAIL001fno device with transport id '7'")],
    ])
    .await;
    let phone = server.device_by_transport_id("(no serial number)", 7);
    assert!(phone.features().await.unwrap().has("cmd"));
    assert!(phone.open("exec:date").await.is_ok());
    assert_eq!(phone.banner().await.unwrap().model(), Some("A"));
    let error = phone.open("exec:date").await.err();
    assert!(matches!(error, Some(Error::NoSuchDevice { .. })), "{error:?}");
}

#[tokio::test]
async fn restarted_server_is_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let phone = AdbServer::new(address.to_string()).device("x");
    drop(listener);
    let error = phone.open("exec:date").await.err();
    assert!(matches!(error, Some(Error::NotReachable { .. })), "{error:?}");
    assert!(matches!(phone.features().await, Err(Error::NotReachable { .. })));
    let listener = TcpListener::bind(address).await.unwrap();
    let serve = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.write_all(b"OKAY0003cmd").await.unwrap();
        socket
    };
    let (features, _socket) = tokio::join!(phone.features(), serve);
    assert!(features.unwrap().has("cmd"));
}
