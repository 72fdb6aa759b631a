//! A phone that serves one host: who reaches it, and what the others learn.

use std::sync::atomic::{AtomicUsize, Ordering};

use thumbwire_adb::DirectTransport;
use thumbwire_base::Io;
use thumbwire_device::SideEffect;
use thumbwire_device::android::HelperMode;
use tokio::time::Instant;

use super::*;
use crate::providers::adb_direct::attach_with_key;

#[tokio::test(start_paused = true)]
async fn phone_held_by_another_host_is_reported_with_the_way_out() {
    let ignored = Arc::new(Mutex::new(Vec::new()));
    let accepted = Arc::clone(&ignored);
    let direct = DirectTransport::with_connector("10.0.0.7:5555", move || {
        let (near, far) = tokio::io::duplex(4096);
        accepted.lock().unwrap().push(far);
        std::future::ready(Ok(Box::new(near) as Box<dyn Io>))
    });
    let began = Instant::now();
    let failure =
        attach_with_key("10.0.0.7:5555", None, HelperMode::default(), direct).await.err().unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(10));
    assert_eq!(failure.side_effect, SideEffect::None);
    assert_eq!(
        failure.cause.to_string(),
        "device 10.0.0.7:5555 is not connected: it accepts connections but did not answer ADB within 10s. An old phone \
         serves one host at a time: an adb server or another program probably holds it"
    );
    assert_eq!(
        failure.next_step(),
        "run `adb disconnect 10.0.0.7:5555` on the computer whose adb server has the phone, or use the id under which \
         that server lists it; if nothing else uses it, restart the phone"
    );
    assert_eq!(ignored.lock().unwrap().len(), 3);
}

/// Reads one request.
async fn request(socket: &mut TcpStream) -> String {
    let mut digits = [0; 4];
    socket.read_exact(&mut digits).await.unwrap();
    let length = usize::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap();
    let mut text = vec![0; length];
    socket.read_exact(&mut text).await.unwrap();
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn phone_that_the_local_adb_server_lists_is_not_dialed() {
    let phone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = phone.local_addr().unwrap().port();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = AdbServer::new(listener.local_addr().unwrap().to_string());
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let line = format!(
                "localhost:{port} device product:p model:Old_One device:d transport_id:7\n"
            );
            let answer = match request(&mut socket).await.as_str() {
                "host:devices-l" => line,
                features if features == format!("host-serial:localhost:{port}:features") => {
                    counted.fetch_add(1, Ordering::SeqCst);
                    "cmd".into()
                }
                other => panic!("{other}"),
            };
            socket.write_all(b"OKAY").await.unwrap();
            send(&mut socket, &answer).await;
        }
    });
    let id = format!("127.0.0.1:{port}");
    let device = DeviceProviders::adb(server).open(&id).await.unwrap();
    let identity = device.identity();
    assert_eq!((identity.id.as_str(), identity.model.as_str()), (id.as_str(), "Old One"));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let dialed = tokio::time::timeout(Duration::ZERO, phone.accept()).await;
    assert!(dialed.is_err(), "its adbd was left alone");
}
