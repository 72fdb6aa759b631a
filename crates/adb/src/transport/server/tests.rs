//! What is said to a server and what its answers become, by servers that follow a script.

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
    check("FAIL000edevice offline", Error::Offline { serial: serial(), state: "offline".into() })
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
    assert_eq!(error, Some(Error::Refused { service: "nosuch:".into(), said: "closed".into() }));
}

#[tokio::test]
async fn each_change_of_the_list_is_told() {
    let server =
        server(vec![vec![("0014host:track-devices-l", "OKAY0000000aabc\tdevice000babc\toffline")]])
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
    assert!(matches!(server.version().await, Err(Error::Protocol { saw }) if saw.contains("HTTP")));
}

#[tokio::test]
async fn an_absent_server_is_not_reachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = AdbServer::new(&address).devices().await.unwrap_err();
    assert!(matches!(error, Error::NotReachable { place, .. } if place == address));
}
