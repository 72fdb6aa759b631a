//! The phone's sockets: opened by our host, and forwarded in both directions by a stock `adb`.

use std::sync::Arc;

use crate::common::stock::{Stock, stdout};
use crate::common::{TinyPhone, echo_inside, echo_outside, echoes, text};
use thumbwire_adb::{DirectTransport, Error, Transport};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

async fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).await.unwrap()
}

/// A client of this port sees an immediate end.
async fn leads_nowhere(port: u16) {
    let mut socket = connect(port).await;
    let read = socket.read(&mut [0; 1]).await;
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
}

/// The phone's reply to a `reverse:` request.
async fn reverse(host: &DirectTransport, request: &str) -> String {
    text(host.open(&format!("reverse:{request}")).await.unwrap()).await
}

#[tokio::test]
async fn phone_socket_is_a_service() {
    let phone = TinyPhone::modern();
    echo_inside(phone.sockets.listen("localabstract:echo").unwrap());
    echo_inside(phone.sockets.listen("tcp:8080").unwrap());
    let host = DirectTransport::from_io(phone.pipe());
    for place in ["localabstract:echo", "tcp:8080", "tcp:localhost:8080"] {
        echoes(host.open(place).await.unwrap(), 300_000).await;
    }
    for place in ["localabstract:nobody", "tcp:8081", "tcp:example.com:8080", "tcp:", "tcp:99999"] {
        let error = host.open(place).await.err();
        assert!(matches!(error, Some(Error::Refused { .. })), "{place}: {error:?}");
    }
}

#[tokio::test]
async fn reverse_requests_get_adbds_replies() {
    let phone = TinyPhone::modern();
    let host = DirectTransport::from_io(phone.pipe());
    assert_eq!(reverse(&host, "forward:tcp:8081;tcp:22").await, "OKAY00048081");
    assert_eq!(
        reverse(&host, "forward:norebind:tcp:8081;tcp:22").await,
        "FAIL001dcannot rebind existing socket"
    );
    assert_eq!(reverse(&host, "forward:tcp:8081;tcp:23").await, "OKAY00048081");
    assert_eq!(reverse(&host, "list-forward").await, "001a(reverse) tcp:8081 tcp:23\n");
    assert_eq!(reverse(&host, "killforward:tcp:9").await, "FAIL001alistener 'tcp:9' not found");
    assert_eq!(reverse(&host, "killforward:tcp:8081").await, "OKAY");
    assert!(reverse(&host, "forward:tcp:0;tcp:22").await.starts_with("OKAY0005"));
    assert_eq!(reverse(&host, "killforward-all").await, "OKAY");
    assert_eq!(reverse(&host, "list-forward").await, "0000");
}

#[tokio::test]
async fn host_refuses_every_stream_of_the_phone() {
    let phone = TinyPhone::modern();
    let host = DirectTransport::from_io(phone.pipe());
    assert_eq!(reverse(&host, "forward:tcp:8081;tcp:22").await, "OKAY00048081");
    assert!(phone.sockets.connect("tcp:8081").await.is_err());
}

#[tokio::test]
async fn reverse_sockets_end_with_their_connection() {
    let phone = TinyPhone::modern();
    let host = DirectTransport::from_io(phone.pipe());
    let (near, far) = tokio::io::duplex(1024);
    let served = tokio::spawn(thumbwire_adb::daemon::serve(far, Arc::new(phone.clone())));
    let other = DirectTransport::from_io(near);
    assert_eq!(reverse(&other, "forward:tcp:8082;tcp:22").await, "OKAY00048082");
    served.abort();
    assert!(served.await.unwrap_err().is_cancelled());
    assert_eq!(reverse(&host, "list-forward").await, "0000");
}

#[tokio::test(flavor = "multi_thread")]
async fn stock_adb_forwards_and_reverses() {
    let Some(stock) = Stock::start().await else { return };
    let sockets = &stock.phone.sockets;
    echo_inside(sockets.listen("localabstract:echo").unwrap());
    let forwarded = stdout(&stock.adb(&["forward", "tcp:0", "localabstract:echo"]).await);
    let port: u16 = forwarded.trim().parse().unwrap();
    echoes(connect(port).await, 1_000_000).await;
    let nowhere = stdout(&stock.adb(&["forward", "tcp:0", "tcp:9"]).await);
    leads_nowhere(nowhere.trim().parse().unwrap()).await;

    let target = format!("tcp:{}", echo_outside().await);
    let reversed = stdout(&stock.adb(&["reverse", "tcp:0", &target]).await);
    let place = format!("tcp:{}", reversed.trim());
    echoes(sockets.connect(&place).await.unwrap(), 1_000_000).await;
    let again = stock.adb(&["reverse", "--no-rebind", &place, &target]).await;
    let output = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(output.contains("cannot rebind existing socket"), "{output}");
    assert!(stock.adb(&["reverse", &place, &target]).await.status.success());
    let listed = stdout(&stock.adb(&["reverse", "--list"]).await);
    assert_eq!(listed.trim(), format!("(reverse) {place} {target}"));
    let output = stock.adb(&["reverse", "--remove", "tcp:9"]).await;
    assert!(String::from_utf8_lossy(&output.stderr).contains("listener 'tcp:9' not found"));
    assert!(stock.adb(&["reverse", "--remove", &place]).await.status.success());
    assert!(sockets.connect(&place).await.is_err());
    assert!(stock.adb(&["reverse", "--remove-all"]).await.status.success());
}
