//! Many virtual phones in one process: each goes through its own story, and none affects another.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener as Blocked;
use std::process::{Child, Stdio};
use std::time::Duration;

use futures::future::join_all;
use thumbwire_adb::services::shell::{exec, read_to_end};
use thumbwire_adb::{AdbServer, DeviceState, DirectTransport, Transport};
use thumbwire_core::action::{Action, AppSelector, Call, Perform as _, Target, TextInput};
use thumbwire_core::providers::{AdbDirectProvider, DeviceProviders};
use thumbwire_core::session::Session;
use thumbwire_device::android::HelperMode;
use thumbwire_device::{AppId, Orientation};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::net::TcpListener;

use crate::stock_adb::Stock;
use crate::support::thumbwire;

const PHONES: u64 = 50;
/// The phone whose disk fills up.
const FULL: u64 = 3;
const NOTES: &str = "com.android.notes";

/// `thumbwire phone` with several phones; it ends with the test.
struct Many {
    process: Child,
    /// Serials and addresses, in seed order.
    phones: Vec<(String, String)>,
}

impl Many {
    fn start(arguments: &[&str]) -> Self {
        let mut command = thumbwire();
        command
            .args(["phone", "--listen", "127.0.0.1:0", "--json", "--clock", "virtual"])
            .args(arguments);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let rows: serde_json::Value = serde_json::from_str(&first).unwrap();
        let word = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap().to_owned();
        let rows = rows.as_array().unwrap().iter();
        let phones = rows.map(|row| (word(row, "serial"), word(row, "address"))).collect();
        Self { process, phones }
    }
}

impl Drop for Many {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What happens to a phone, by its seed: each kind of event to ten of fifty.
async fn tell(address: &str, seed: u64) -> Session {
    let direct = DirectTransport::tcp(address);
    let run = async |line: &str| thumbwire_adb::run(&direct, line).await.unwrap();
    // The programs that are compared need UiAutomation, which the helper would hold.
    let phones = AdbDirectProvider::default().with_helper(HelperMode::Off);
    let session = Session::new(DeviceProviders::default().with(phones), Some(address.into()));
    let act = async |action| {
        session.perform(&Call::with_timeout(Duration::from_secs(120)), action).await.unwrap()
    };
    // A small screen makes screenshots faster.
    run("wm size 480x800; wm density 240").await;
    match seed % 5 {
        0 => {
            act(Action::Launch(AppSelector::Id(AppId(NOTES.into())))).await;
            act(Action::TapElement(Target::text("New note"))).await;
            act(Action::Type(TextInput::of(format!("only phone {seed} knows")))).await;
        }
        1 => drop(act(Action::SetOrientation(Orientation::Landscape)).await),
        2 => {
            act(Action::Launch(AppSelector::Id(AppId(NOTES.into())))).await;
            run(&format!("am crash {NOTES}; log -t story crashed {seed}")).await;
        }
        3 => {
            run(&format!("echo {seed} > /sdcard/of_{seed}")).await;
            // A disk holds 512 MiB, and `dd` copies at most 64.
            for (part, size) in [63, 63, 63, 63, 63, 63, 63, 63, 7].into_iter().enumerate() {
                if seed == FULL {
                    let file = format!("/sdcard/part_{part}");
                    run(&format!("dd if=/dev/zero of={file} bs=1048576 count={size}")).await;
                }
            }
            let more = run("dd if=/dev/zero of=/sdcard/more bs=1048576 count=1").await;
            assert_eq!(more.status == Some(0), seed != FULL, "{more:?}");
        }
        _ => {
            run(&format!("settings put system screen_brightness {seed}")).await;
            // This disconnects the host; the owner then plugs the phone in again.
            let _ = thumbwire_adb::run(&direct, "reboot").await;
            while thumbwire_adb::run(&direct, "true").await.is_err() {
                tokio::task::yield_now().await;
            }
        }
    }
    session
}

/// Everything that a host can find out.
async fn found(phone: &dyn Transport) -> Vec<(&'static str, Vec<u8>)> {
    let mut found = Vec::new();
    for line in [
        "getprop ro.serialno; wm size; settings get system screen_brightness",
        "ls -R /sdcard; df /sdcard",
        "logcat -d -v brief -b all",
        "dumpsys window displays",
        "uiautomator dump /dev/tty",
        "screencap -p",
    ] {
        let stream = exec(phone, line).await.unwrap();
        found.push((line, read_to_end(stream, 64 << 20).await.unwrap()));
    }
    found
}

/// Text that only this story leaves, and the command that shows it.
fn trace_of(seed: u64) -> (usize, String) {
    match seed % 5 {
        0 => (4, format!("\"only phone {seed} knows\"")),
        1 => (4, "rotation=\"1\"".to_owned()),
        2 => (2, format!("crashed {seed}\n")),
        _ if seed == FULL => (1, "part_8".to_owned()),
        3 => (1, format!("of_{seed}\n")),
        _ => (0, format!("\n{seed}\n")),
    }
}

/// The same phone and story, with no other phone around.
async fn alone(seed: u64) -> Vec<(&'static str, Vec<u8>)> {
    let phone = VirtualPhone::new(Setup { seed, ..Setup::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let owner = async {
        loop {
            phone.unplugged().await;
            phone.plug();
        }
    };
    let story = async {
        let _session = tell(&address, seed).await;
        found(&DirectTransport::tcp(address.as_str())).await
    };
    tokio::select! {
        found = story => found,
        () = owner => unreachable!("owners never end"),
        ended = phone.listen(listener) => panic!("{ended:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_fifty_phones_behaves_as_if_alone() {
    let count = PHONES.to_string();
    let many = Many::start(&["--count", &count]);
    assert_eq!(many.phones.len(), 50);
    assert_eq!(many.phones[49].0, format!("VP{PHONES:08X}"));
    // An adb server holds all of them while our own driver talks to them directly.
    let stock = Stock::start();
    let server = stock.as_ref().map(|stock| AdbServer::new(format!("127.0.0.1:{}", stock.port())));
    let connect = async |address: &str| {
        let Some(server) = &server else { return };
        // adb disconnects a phone in its own time, and answers "already connected" until then.
        let output = async {
            loop {
                server.query(&format!("host:disconnect:{address}")).await.ok();
                let output = server.query(&format!("host:connect:{address}")).await.unwrap();
                if !output.starts_with("already") {
                    return output;
                }
            }
        };
        let output =
            tokio::time::timeout(Duration::from_secs(60), output).await.expect("an answer");
        assert!(output.starts_with("connected to"), "{output}");
    };
    // One after the other: adb 29 sometimes segfaults when several connect at once.
    for (_, address) in &many.phones {
        connect(address).await;
    }
    let seeds = 1..=PHONES;
    let stories = seeds.clone().zip(&many.phones).map(|(seed, (_, address))| tell(address, seed));
    let _sessions = join_all(stories).await;
    for (seed, (_, address)) in seeds.clone().zip(&many.phones) {
        if seed % 5 == 4 {
            // adb notices by itself that a phone disappeared, and learns here that it is back.
            connect(address).await;
        }
    }

    let ask = async |(serial, address): &(String, String)| {
        let Some(server) = &server else {
            return found(&DirectTransport::tcp(address.as_str())).await;
        };
        found(&server.device(address.as_str()))
            .await
            .into_iter()
            .inspect(|(line, said)| assert!(!said.is_empty(), "{serial} prints nothing for {line}"))
            .collect()
    };
    let among = join_all(many.phones.iter().map(ask));
    let among: Vec<Vec<_>> = among.await;
    if let Some(server) = &server {
        let there = server.devices().await.unwrap();
        assert_eq!(there.iter().filter(|phone| phone.state == DeviceState::Device).count(), 50);
    }
    let text =
        |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(4_000).collect::<String>();
    let full = text(&among[FULL as usize - 1][1].1);
    assert!(full.contains(" 100% "), "{full}");
    for (seed, among) in seeds.zip(among) {
        let (at, words) = trace_of(seed);
        assert!(String::from_utf8_lossy(&among[at].1).contains(&words), "phone {seed}: {words}");
        for ((line, among), (_, alone)) in among.into_iter().zip(alone(seed).await) {
            assert!(
                among == alone,
                "phone {seed} prints for {line}\n{}\nand alone\n{}",
                text(&among),
                text(&alone)
            );
        }
    }
}

#[test]
fn port_in_use_is_named_and_no_phone_stays_on() {
    // Two adjacent ports that are free at first; otherwise another pair is tried.
    let taken = loop {
        let taken = Blocked::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        if Blocked::bind(("127.0.0.1", port - 2)).is_ok() {
            break taken;
        }
    };
    let port = taken.local_addr().unwrap().port();
    let listen = format!("127.0.0.1:{}", port - 2);
    let output = thumbwire().args(["phone", "--count", "3", "--listen", &listen]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{text}");
    assert!(text.contains(&format!("cannot listen on 127.0.0.1:{port}: ")), "{text}");
}

#[test]
fn many_phones_are_listed_with_their_addresses() {
    let mut process = thumbwire()
        .args(["phone", "--count", "2", "--seed", "255", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines().take(3);
    let lines: Vec<String> = lines.map(Result::unwrap).collect();
    process.kill().unwrap();
    process.wait().unwrap();
    assert_eq!(lines[0], "2 phones are running; press Ctrl-C to stop:");
    assert!(lines[1].starts_with("VP000000FF  127.0.0.1:"), "{lines:?}");
    assert!(lines[2].starts_with("VP00000100  127.0.0.1:"), "{lines:?}");
}
