//! Two independent ADB clients, `libadb` and `adb_client`, connected directly to our phone end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::common::owner::Owner;
use crate::common::{TinyPhone, pattern};
use adb_client::ADBDeviceExt;
use adb_client::tcp::ADBTcpDevice;
use libadb::auth::Authenticator;
use libadb::{Connection, Feature, TokioTcp};
use thumbwire_adb::{Features, Key};
use tokio::net::TcpStream;

/// Our key for `libadb`, which has its own authentication order.
struct OurKey(Key, Vec<u8>);

impl OurKey {
    fn new() -> Self {
        let key = Key::generate().unwrap();
        let line = [key.public_line("libadb@here").as_bytes(), b"\0"].concat();
        Self(key, line)
    }
}

impl Authenticator for OurKey {
    type Error = Infallible;

    async fn sign(&mut self, token: &[u8]) -> Result<Vec<u8>, Infallible> {
        Ok(self.0.sign(token).unwrap())
    }

    fn public_key(&self) -> &[u8] {
        &self.1
    }
}

async fn libadb(address: &str, key: &mut OurKey) -> Connection<TokioTcp> {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    Connection::<_>::connect(TokioTcp::new(stream), key, &[Feature::ShellV2]).await.unwrap()
}

#[tokio::test]
async fn libadb_runs_commands() {
    let address = TinyPhone::modern().listen().await;
    let mut connection = libadb(&address, &mut OurKey::new()).await;
    let banner = String::from_utf8_lossy(connection.device_banner().unwrap()).into_owned();
    assert!(banner.contains("ro.product.model=Tiny Phone;"), "{banner}");
    let mut room = vec![0; 64 * 1024];
    // `exec` of this version fails if a command ends before its stdin is closed; this does not.
    for _ in 0..50 {
        let shell = libadb::shell::v2::open(&mut connection, "both", &mut room).await.unwrap();
        let output = shell.collect().await.unwrap();
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
        assert_eq!(output.exit_code, 9);
    }
    let shell = libadb::shell::v2::open(&mut connection, "flood 300000", &mut room).await.unwrap();
    assert_eq!(shell.collect().await.unwrap().stdout.len(), 300_000);

    let mut all = vec![0; 400_000];
    let length = libadb::exec::run(&mut connection, "flood 300000", &mut all).await.unwrap();
    assert_eq!(length, 300_000);
    let refused = connection.open(b"nosuch:\0").await;
    assert!(refused.is_err());
}

#[tokio::test]
async fn libadb_moves_files() {
    let address = TinyPhone::modern().listen().await;
    let mut connection = libadb(&address, &mut OurKey::new()).await;
    let mut room = vec![0; 66_000];
    let mut sync = libadb::sync::open(&mut connection, &mut room).await.unwrap();
    for length in [0, 1, 64 * 1024, 5 * 1024 * 1024] {
        let sent = pattern(length);
        sync.send("/sdcard/f", 0o100_640, 1_700_000_000, &sent).await.unwrap();
        assert!(sync.recv("/sdcard/f").await.unwrap() == sent, "{length} bytes");
        let out = sync.stat("/sdcard/f").await.unwrap();
        assert_eq!((out.mode, out.size as usize), (0o100_640, length));
        assert_eq!(out.mtime, 1_700_000_000);
    }
    let listed = sync.list("/sdcard").await.unwrap();
    assert_eq!(listed.iter().map(|entry| &entry.name[..]).collect::<Vec<_>>(), [b"f"]);
    assert!(sync.recv("/sdcard/nothing").await.is_err());
    assert!(sync.send("/system/f", 0o100_644, 0, b"x").await.is_err());
}

#[tokio::test]
async fn libadb_is_authorized_once_its_key_is_accepted() {
    let (owner, mut asked) = Owner::new(&[]);
    let address = TinyPhone::modern().listen_guarded(owner).await;
    let mut key = OurKey::new();
    let accept = async {
        let (_, answer) = asked.recv().await.unwrap();
        answer.send(true).unwrap();
    };
    let (connection, ()) = tokio::join!(libadb(&address, &mut key), accept);
    assert!(connection.device_banner().is_some());
    libadb(&address, &mut key).await;
    assert!(asked.try_recv().is_err(), "it is known now");
}

/// Runs a closure with a blocking `adb_client`, and drops the client before the phone: it spins on
/// a connection that the phone has closed.
async fn adb_client<T: Send + 'static>(
    address: &str,
    act: impl FnOnce(&mut ADBTcpDevice) -> T + Send + 'static,
) -> T {
    let address: SocketAddr = address.parse().unwrap();
    tokio::task::spawn_blocking(move || {
        let home = tempfile::tempdir().unwrap();
        let key = home.path().join("adbkey");
        let mut device = ADBTcpDevice::new_with_custom_private_key(address, key).unwrap();
        act(&mut device)
    })
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn adb_client_runs_commands() {
    for phone in
        [TinyPhone::modern(), TinyPhone { features: Features::default(), ..TinyPhone::modern() }]
    {
        let address = phone.listen().await;
        adb_client(&address, |device| {
            for (command, expected) in
                [("say a  b", "a  b"), ("both", "out\nerr\n"), ("exit 3", "")]
            {
                let mut output = Vec::new();
                // It speaks only shell v1: merged output, no status.
                let status = device.shell_command(&command, Some(&mut output), None).unwrap();
                assert_eq!((String::from_utf8_lossy(&output), status), (expected.into(), None));
            }
            let mut output = Vec::new();
            device.shell_command(&"flood 300000", Some(&mut output), None).unwrap();
            assert_eq!(output.len(), 300_000);
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn adb_client_transfers_files() {
    let address = TinyPhone::modern().listen().await;
    adb_client(&address, |device| {
        for length in [0, 1, 64 * 1024, 5 * 1024 * 1024] {
            let (sent, mut back) = (pattern(length), Vec::new());
            device.push(&mut &sent[..], &"/sdcard/f").unwrap();
            device.pull(&"/sdcard/f", &mut back).unwrap();
            assert!(back == sent, "{length} bytes");
            assert_eq!(device.stat(&"/sdcard/f").unwrap().file_size as usize, length);
        }
        assert!(device.pull(&"/sdcard/nothing", &mut Vec::new()).is_err());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn adb_client_is_authorized_once_its_key_is_accepted() {
    let (owner, mut asked) = Owner::new(&[]);
    let address = TinyPhone::modern().listen_guarded(Arc::clone(&owner) as _).await;
    let accept = async {
        let (key, answer) = asked.recv().await.unwrap();
        answer.send(true).unwrap();
        key
    };
    let act = |device: &mut ADBTcpDevice| {
        let mut output = Vec::new();
        device.shell_command(&"say in", Some(&mut output), None).unwrap();
        output
    };
    let (said, key) = tokio::join!(adb_client(&address, act), accept);
    assert_eq!(said, b"in");
    assert!(thumbwire_adb::PublicKey::read(&key).is_ok());
}
