//! Two third-party ADB clients, `libadb` and `adb_client`, drive the virtual phone over TCP.

use std::convert::Infallible;
use std::net::SocketAddr;

use adb_client::ADBDeviceExt;
use adb_client::tcp::ADBTcpDevice;
use libadb::auth::Authenticator;
use libadb::{Connection, Feature, TokioTcp};
use thumbwire_adb::Key;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::net::{TcpListener, TcpStream};

/// A key for a phone that does not ask for one.
struct AnyKey(Key);

impl Authenticator for AnyKey {
    type Error = Infallible;

    async fn sign(&mut self, token: &[u8]) -> Result<Vec<u8>, Infallible> {
        Ok(self.0.sign(token).unwrap())
    }

    fn public_key(&self) -> &[u8] {
        b"any\0"
    }
}

/// A phone on TCP, and its address.
async fn listening(setup: Setup) -> (VirtualPhone, SocketAddr) {
    let phone = VirtualPhone::new(setup);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = phone.clone();
    tokio::spawn(async move { served.listen(listener).await });
    (phone, address)
}

#[tokio::test]
async fn libadb_drives_the_virtual_phone() {
    let (phone, address) = listening(Setup::default()).await;
    let stream = TokioTcp::new(TcpStream::connect(address).await.unwrap());
    let mut key = AnyKey(Key::generate().unwrap());
    let mut connection =
        Connection::<_>::connect(stream, &mut key, &[Feature::ShellV2]).await.unwrap();
    let mut room = vec![0; 66_000];
    for (command, out, status) in [
        (
            "monkey -p com.google.android.apps.maps -c android.intent.category.LAUNCHER 1",
            "Events injected: 1\n",
            0,
        ),
        ("dumpsys window | grep mCurrentFocus", "com.google.android.apps.maps", 0),
        ("nosuch", "", 127),
    ] {
        let shell = libadb::shell::v2::open(&mut connection, command, &mut room).await.unwrap();
        let output = shell.collect().await.unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let is_expected = if out.is_empty() { text.is_empty() } else { text.contains(out) };
        assert!(is_expected && i32::from(output.exit_code) == status, "{command}: {text}");
    }
    let mut all = vec![0; 4 << 20];
    let length = libadb::exec::run(&mut connection, "screencap -p", &mut all).await.unwrap();
    assert!(all[..length].starts_with(b"\x89PNG"), "{length} bytes");
    let mut sync = libadb::sync::open(&mut connection, &mut room).await.unwrap();
    sync.send("/sdcard/f", 0o100_644, 1_700_000_000, b"from a stranger").await.unwrap();
    assert_eq!(sync.recv("/sdcard/f").await.unwrap(), b"from a stranger");
    assert!(phone.commands().iter().any(|command| command.argv == ["screencap", "-p"]));
}

/// Its `SND2` and `RCV2` (0.7.0) omit the id before the flags, unlike a real adbd and the stock
/// adb: not tested here.
#[tokio::test]
async fn libadb_uses_stat_v2_and_delayed_ack() {
    let (phone, address) = listening(Setup::default()).await;
    let stream = TokioTcp::new(TcpStream::connect(address).await.unwrap());
    let mut key = AnyKey(Key::generate().unwrap());
    let features = [
        Feature::ShellV2,
        Feature::StatV2,
        Feature::LsV2,
        Feature::AbbExec,
        Feature::TrackApp,
        Feature::DelayedAck,
    ];
    let mut connection = Connection::<_>::connect(stream, &mut key, &features).await.unwrap();
    let mut room = vec![0; 66_000];
    let sent: Vec<u8> = (0..5_000_000_u32).map(|at| (at * 31 % 253) as u8).collect();
    let mut sync = libadb::sync::open(&mut connection, &mut room).await.unwrap();
    sync.send("/sdcard/f", 0o100_644, 1_700_000_000, &sent).await.unwrap();
    assert!(sync.recv("/sdcard/f").await.unwrap() == sent);
    let out = sync.stat_v2("/sdcard/f").await.unwrap();
    assert_eq!((out.size, out.mtime, out.nlink), (5_000_000, 1_700_000_000, 1));
    let listed = sync.list_v2("/sdcard").await.unwrap();
    let entry = listed.iter().find(|entry| entry.name == b"f").unwrap();
    assert_eq!(entry.stat, out);
    assert!(format!("{:?}", sync.stat_v2("/nothing").await).contains("RemoteErrno(2)"));
    sync.quit().await.unwrap();
    let output =
        libadb::abb::exec(&mut connection, &["settings", "list", "secure"], &mut room).await;
    assert!(String::from_utf8(output.unwrap()).unwrap().contains("default_input_method="));
    assert_eq!(phone.commands().pop().unwrap().argv, ["cmd", "settings", "list", "secure"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn adb_client_drives_the_virtual_phone_new_and_old() {
    for release in ["14", "4.4"] {
        let (phone, address) = listening(Setup::of_release(release).unwrap()).await;
        let out = tokio::task::spawn_blocking(move || {
            let home = tempfile::tempdir().unwrap();
            let key = home.path().join("adbkey");
            // Dropped before the phone: it spins on a connection that the phone has closed.
            let mut device = ADBTcpDevice::new_with_custom_private_key(address, key).unwrap();
            device.push(&mut &b"from a stranger"[..], &"/sdcard/f").unwrap();
            let mut back = Vec::new();
            device.pull(&"/sdcard/f", &mut back).unwrap();
            let mut output = Vec::new();
            let command = "input keyevent 3; cat /sdcard/f; getprop ro.build.version.release";
            device.shell_command(&command, Some(&mut output), None).unwrap();
            (back, String::from_utf8(output).unwrap())
        });
        let (back, stdout) = out.await.unwrap();
        assert_eq!(back, b"from a stranger");
        assert!(stdout.starts_with("from a stranger") && stdout.contains(release), "{stdout:?}");
        assert!(phone.commands().iter().any(|command| command.argv == ["input", "keyevent", "3"]));
    }
}
