//! Forwards in both directions: between our two ends, and through a stock `adb`. For a real adbd see
//! `tests/it/real_adbd.rs`.

use std::sync::Arc;

use crate::common::stock::{Stock, stdout};
use crate::common::{TinyPhone, echo_inside, echo_outside, echoes};
use thumbwire_adb::services::reverse;
use thumbwire_adb::{DirectTransport, Error, Forward, Transport, forward};
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

fn lines(listed: &[Forward]) -> Vec<String> {
    listed.iter().map(|forward| forward.to_string().trim().to_owned()).collect()
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
async fn own_forward_serves_connections_until_dropped() {
    let phone = TinyPhone::modern();
    echo_inside(phone.sockets.listen("localabstract:echo").unwrap());
    let host: Arc<dyn Transport> = Arc::new(DirectTransport::from_io(phone.pipe()));
    let forwarding = forward(host.clone(), "127.0.0.1:0", "localabstract:echo").await.unwrap();
    let port = forwarding.address().unwrap().port();
    let (one, two) = (connect(port).await, connect(port).await);
    tokio::join!(echoes(one, 300_000), echoes(two, 1000));
    let mut held = connect(port).await;
    echoes(&mut held, 10).await;
    drop(forwarding);
    assert!(matches!(held.read(&mut [0; 1]).await, Ok(0) | Err(_)), "it ends with the forward");
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());

    let nowhere = forward(host.clone(), "127.0.0.1:0", "localabstract:nobody").await.unwrap();
    leads_nowhere(nowhere.address().unwrap().port()).await;
    let taken = nowhere.address().unwrap().to_string();
    let error = forward(host, &taken, "tcp:1").await.unwrap_err();
    assert!(matches!(error, Error::Local { .. }), "{error}");
}

#[tokio::test]
async fn reverse_socket_serves_connections_until_dropped() {
    let phone = TinyPhone::modern();
    let host = DirectTransport::from_io(phone.pipe());
    let mut reversal = host.reverse("tcp:0", "here", true).await.unwrap();
    let place = reversal.listens_on().to_owned();
    assert_eq!(lines(&reverse::list(&host).await.unwrap()), [format!("(reverse) {place} here")]);

    let (inside, here) = tokio::join!(phone.sockets.connect(&place), reversal.accept());
    let (inside, here) = (inside.unwrap(), here.unwrap());
    let (mut reads, mut writes) = tokio::io::split(here);
    let echo = async { drop(tokio::io::copy(&mut reads, &mut writes).await) };
    tokio::select! {
        () = echoes(inside, 300_000) => {}
        () = echo => panic!("the stream ended early"),
    }

    let error = host.reverse("tcp:0", "here", true).await.err();
    assert!(matches!(error, Some(Error::Refused { .. })), "the name is in use: {error:?}");
    let error = host.reverse(&place, "there", false).await.err();
    assert!(
        matches!(&error, Some(Error::Refused { text, .. }) if text == "cannot rebind existing socket"),
        "{error:?}"
    );
    drop(reversal);
    // A later reply on the same connection: by then the phone has received the request.
    assert_eq!(reverse::list(&host).await.unwrap(), []);
    assert!(phone.sockets.connect(&place).await.is_err());
    drop(host.reverse(&place, "here", false).await.unwrap());
}

#[tokio::test]
async fn reverse_socket_forwards_to_a_local_port() {
    let phone = TinyPhone::modern();
    let host = DirectTransport::from_io(phone.pipe());
    let reversal = host.reverse("localabstract:back", "tcp:1", true).await.unwrap();
    let leading = reversal.forward_to(format!("127.0.0.1:{}", echo_outside().await));
    let connect = async || phone.sockets.connect("localabstract:back").await.unwrap();
    tokio::join!(async { echoes(connect().await, 300_000).await }, async {
        echoes(connect().await, 1000).await;
    });
    // Another host of the phone reaches it by a forward, through both connections.
    echoes(DirectTransport::from_io(phone.pipe()).open("localabstract:back").await.unwrap(), 1000)
        .await;
    drop(leading);
    while !reverse::list(&host).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn unexpected_stream_from_the_phone_is_refused() {
    let phone = TinyPhone::modern();
    let host = DirectTransport::from_io(phone.pipe());
    // Like an adb server: the phone gets the request, and nobody here expects its streams.
    let port = reverse::reverse(&host, "tcp:0", "tcp:22", true).await.unwrap().unwrap();
    assert!(phone.sockets.connect(&format!("tcp:{port}")).await.is_err());
    reverse::kill(&host, &format!("tcp:{port}")).await.unwrap();
    let error = reverse::kill(&host, "tcp:9").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "open service \"reverse:killforward:tcp:9\": listener 'tcp:9' not found"
    );
}

#[tokio::test]
async fn rebound_socket_outlives_its_predecessor() {
    let phone = TinyPhone::modern();
    let host = DirectTransport::from_io(phone.pipe());
    let first = host.reverse("tcp:8081", "one", true).await.unwrap();
    let mut second = host.reverse("tcp:8081", "two", true).await.unwrap();
    drop(first);
    assert_eq!(lines(&reverse::list(&host).await.unwrap()), ["(reverse) tcp:8081 two"]);
    let (inside, here) = tokio::join!(phone.sockets.connect("tcp:8081"), second.accept());
    assert!(inside.is_ok() && here.is_ok());
    drop(second);
    assert_eq!(reverse::list(&host).await.unwrap(), []);
}

#[tokio::test]
async fn reverse_sockets_end_with_their_connection() {
    let phone = TinyPhone::modern();
    let host = DirectTransport::from_io(phone.pipe());
    let mut reversal = host.reverse("tcp:8081", "here", true).await.unwrap();
    let other = DirectTransport::from_io(phone.pipe());
    let error = other.reverse("tcp:8081", "there", false).await.err();
    assert!(matches!(error, Some(Error::Refused { .. })), "{error:?}");
    reverse::kill_all(&other).await.unwrap();
    assert!(phone.sockets.connect("tcp:8081").await.is_err());
    drop(other.reverse("tcp:8081", "there", false).await.unwrap());

    let (near, far) = tokio::io::duplex(1024);
    let cut = tokio::spawn(thumbwire_adb::daemon::serve(far, Arc::new(phone.clone())));
    let short = DirectTransport::from_io(near);
    let mut ended = short.reverse("tcp:8082", "here", true).await.unwrap();
    cut.abort();
    assert!(matches!(ended.accept().await, Err(Error::Disconnected { .. })));
    assert_eq!(reverse::list(&host).await.unwrap(), []);
    drop(host);
    assert!(futures::poll!(std::pin::pin!(reversal.accept())).is_pending(), "its own stream stays");
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

#[tokio::test(flavor = "multi_thread")]
async fn stock_server_forwards_and_reverses_for_us() {
    let Some(stock) = Stock::start().await else { return };
    let (server, sockets) = (stock.server(), &stock.phone.sockets);
    let phone = server.device(&stock.serial);
    echo_inside(sockets.listen("localabstract:echo").unwrap());
    echoes(phone.open("localabstract:echo").await.unwrap(), 300_000).await;

    let port = phone.forward("tcp:0", "localabstract:echo", true).await.unwrap().unwrap();
    echoes(connect(port).await, 300_000).await;
    let listen = format!("tcp:{port}");
    let expected = [format!("{} {listen} localabstract:echo", stock.serial)];
    assert_eq!(lines(&phone.forwards().await.unwrap()), expected);
    assert_eq!(lines(&server.forwards().await.unwrap()), expected);
    assert_eq!(phone.forward(&listen, "tcp:9", true).await, Ok(None), "it is rebound");
    leads_nowhere(port).await;
    let error = phone.forward(&listen, "tcp:9", false).await.unwrap_err();
    assert!(
        matches!(&error, Error::Refused { text, .. } if text.contains("cannot rebind")),
        "{error}"
    );
    phone.kill_forward(&listen).await.unwrap();
    let error = phone.kill_forward(&listen).await.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    assert!(phone.forward("tcp:0", "localabstract:echo", false).await.unwrap().is_some());
    phone.kill_forwards().await.unwrap();
    assert_eq!(server.forwards().await.unwrap(), []);
    let error = server.device("nobody").forward("tcp:0", "tcp:1", true).await.unwrap_err();
    assert!(matches!(error, Error::NoSuchDevice { .. }), "{error}");

    let target = format!("tcp:{}", echo_outside().await);
    let port = reverse::reverse(&phone, "tcp:0", &target, true).await.unwrap().unwrap();
    let place = format!("tcp:{port}");
    echoes(sockets.connect(&place).await.unwrap(), 300_000).await;
    assert_eq!(
        lines(&reverse::list(&phone).await.unwrap()),
        [format!("(reverse) {place} {target}")]
    );
    reverse::kill(&phone, &place).await.unwrap();
    assert!(reverse::kill(&phone, &place).await.is_err());
    reverse::kill_all(&phone).await.unwrap();
}
