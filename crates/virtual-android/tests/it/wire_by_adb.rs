//! Newer parts of the wire, used by stock `adb` programs with their own servers: sync version 2
//! with every compression, `delayed_ack`, `abb`, and the features of each release.
//!
//! Debian's adb 29 and 34 and Google's 36, see [`stock_adbs`].

use crate::common::{spawned, stock_adbs};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use thumbwire_test_support::PrivateAdb;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::net::TcpListener;

/// Generous: a busy machine is not a failure.
const PATIENCE: Duration = Duration::from_secs(120);

/// A program's adb server, connected to one phone.
struct Stock {
    phone: VirtualPhone,
    server: PrivateAdb,
    /// Bytes sent to the phone.
    sent: Arc<AtomicUsize>,
}

impl Stock {
    /// With `burst`, the server offers `delayed_ack`.
    async fn start(program: &Path, release: &str, burst: bool) -> Self {
        let burst = if burst { "1" } else { "0" };
        let phone = VirtualPhone::new(Setup::of_release(release).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let serial = listener.local_addr().unwrap().to_string();
        let sent = Arc::<AtomicUsize>::default();
        let (served, count) = (phone.clone(), sent.clone());
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                socket.set_nodelay(true).unwrap();
                let (host, phone) = (socket.into_split(), split(served.in_memory()));
                tokio::spawn(carry(host.0, phone.1, count.clone()));
                tokio::spawn(carry(phone.0, host.1, Arc::default()));
            }
        });
        let server = PrivateAdb::start_with(program, &[("ADB_BURST_MODE", burst)]);
        let stock = Self { phone, server, sent };
        let output = stock.adb(&["connect", &serial]).await;
        assert!(text(&output.stdout).contains("connected to"), "{output:?}");
        stock
    }

    async fn adb(&self, arguments: &[&str]) -> Output {
        let mut command = spawned(self.server.command(arguments));
        tokio::time::timeout(PATIENCE, command.output()).await.expect("adb hangs").unwrap()
    }

    /// Standard output of a command that must succeed.
    async fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.adb(arguments).await;
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        text(&output.stdout)
    }

    fn path(&self, name: &str) -> String {
        self.server.home().join(name).to_string_lossy().into_owned()
    }

    /// Bytes sent to the phone since the last call.
    fn sent(&self) -> usize {
        self.sent.swap(0, Ordering::SeqCst)
    }

    /// Whether this adb supports `-z`, new in 30.
    async fn compresses(&self) -> bool {
        text(&self.adb(&["help"]).await.stdout).contains("-z ALGORITHM")
    }
}

/// Copies bytes in one direction and counts them.
async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    count: Arc<AtomicUsize>,
) {
    let mut room = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut room).await {
        count.fetch_add(length, Ordering::SeqCst);
        if to.write_all(&room[..length]).await.is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Bytes, a third of them noise.
fn bytes(length: usize) -> Vec<u8> {
    let mut seed = 1_u32;
    let mut noise = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    (0..length).map(|at| if at % 96 < 32 { noise() } else { b"a word of it "[at % 13] }).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folders_round_trip_with_every_compression() {
    for program in stock_adbs() {
        let stock = Stock::start(&program, "14", false).await;
        let here = stock.path("folder");
        let folder = PathBuf::from(&here);
        std::fs::create_dir_all(folder.join("inner/deeper")).unwrap();
        for (name, length) in
            [("empty", 0), ("inner/one", 1), ("inner/deeper/ü b", 65_537), ("large", 3_000_000)]
        {
            std::fs::write(folder.join(name), bytes(length)).unwrap();
        }
        let ways: &[&[&str]] = match stock.compresses().await {
            true => &[&["-z", "any"], &["-z", "brotli"], &["-z", "lz4"], &["-z", "zstd"], &["-Z"]],
            false => &[&[]],
        };
        for (number, way) in ways.iter().enumerate() {
            let (there, back) = (format!("/sdcard/{number}"), stock.path(&number.to_string()));
            stock.sent();
            let push = [&["push"], *way, &[here.as_str(), &there]].concat();
            let output = stock.adb(&push).await;
            let words = text(&output.stdout) + &text(&output.stderr);
            assert!(words.contains("4 files pushed"), "{program:?} {way:?}: {output:?}");
            let pushed = stock.sent();
            for name in ["empty", "inner/one", "inner/deeper/ü b", "large"] {
                let kept =
                    stock.phone.files(|files| files.read(&format!("{there}/{name}")).unwrap());
                let sent = std::fs::read(folder.join(name)).unwrap();
                assert!(kept.as_ref() == sent, "{program:?} {way:?}: {name} there");
            }
            let pull = [&["pull"], *way, &[&there, &back]].concat();
            let output = stock.adb(&pull).await;
            let words = text(&output.stdout) + &text(&output.stderr);
            assert!(words.contains("4 files pulled"), "{program:?} {way:?}: {output:?}");
            // The files are 3 MB, a third of it noise. The phone itself does not make them smaller.
            let smaller = way.contains(&"-z");
            assert_eq!(pushed < 2_500_000, smaller, "{program:?} {way:?}: {pushed} bytes there");
            for name in ["empty", "inner/one", "inner/deeper/ü b", "large"] {
                let result = std::fs::read(Path::new(&back).join(name)).unwrap();
                let sent = std::fs::read(folder.join(name)).unwrap();
                assert!(result == sent, "{program:?} {way:?}: {name} back");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_megabytes_round_trip_with_and_without_delayed_ack() {
    let sent = bytes(20 << 20);
    for (program, burst) in
        stock_adbs().flat_map(|program| [(program.clone(), false), (program, true)])
    {
        let stock = Stock::start(&program, "14", burst).await;
        let (here, back) = (stock.path("here"), stock.path("back"));
        std::fs::write(&here, &sent).unwrap();
        stock.stdout(&["push", &here, "/sdcard/f"]).await;
        stock.stdout(&["pull", "/sdcard/f", &back]).await;
        assert!(std::fs::read(&back).unwrap() == sent, "{program:?} burst {burst}");
        let output = stock.adb(&["exec-out", "cat /sdcard/f"]).await;
        assert!(output.stdout == sent, "{program:?} burst {burst}: {} bytes", output.stdout.len());
        assert_eq!(stock.stdout(&["shell", "echo well"]).await, "well\n");
    }
}

/// adb omits an empty folder if the phone creates folders on the way (`fixed_push_mkdir`), and asks
/// the shell to create them on Android 9, which does not: `copy_local_dir_remote` in AOSP's
/// `file_sync_client.cpp`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn empty_folder_is_pushed_where_adb_creates_folders() {
    for program in stock_adbs() {
        for (release, made) in [("9", true), ("14", false)] {
            let stock = Stock::start(&program, release, false).await;
            std::fs::create_dir(stock.path("empty")).unwrap();
            stock.stdout(&["push", &stock.path("empty"), "/sdcard/"]).await;
            let there = stock.phone.files(|files| files.stat("/sdcard/empty", true).is_ok());
            assert_eq!(there, made, "{program:?} on {release}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn abb_works_without_a_shell() {
    for program in stock_adbs() {
        let stock = Stock::start(&program, "14", false).await;
        let value = "two  words; $(id) 'quoted'";
        stock.stdout(&["abb", "settings", "put", "system", "a_note", value]).await;
        assert_eq!(
            stock.stdout(&["abb", "settings", "get", "system", "a_note"]).await,
            format!("{value}\n")
        );
        let last = stock.phone.commands().pop().unwrap();
        assert_eq!((last.service.as_str(), last.argv[0].as_str()), ("abb", "cmd"));
        let output = stock.adb(&["abb", "no_such_service", "x"]).await;
        assert_eq!(text(&output.stderr), "cmd: Can't find service: no_such_service\n");
        assert_eq!(output.status.code(), Some(20));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_release_announces_what_its_adbd_does() {
    let mut out = String::new();
    // The newest adb knows, and so lists, most of them.
    let Some(program) = stock_adbs().last() else { return };
    if !program.ends_with("adb36/adb") {
        return;
    }
    for release in Setup::releases() {
        let stock = Stock::start(&program, release, true).await;
        let features = stock.stdout(&["features"]).await.trim().replace('\n', " ");
        out += &format!("{release}: {features}\n");
    }
    assert_eq!(
        out,
        "4.4: \n\
         9: cmd stat_v2 shell_v2\n\
         11: sendrecv_v2_brotli sendrecv_v2 abb_exec fixed_push_mkdir fixed_push_symlink_timestamp abb shell_v2 cmd ls_v2 stat_v2\n\
         13: shell_v2 cmd stat_v2 ls_v2 fixed_push_mkdir abb fixed_push_symlink_timestamp abb_exec track_app sendrecv_v2 sendrecv_v2_brotli \
         sendrecv_v2_lz4 sendrecv_v2_zstd sendrecv_v2_dry_run_send\n\
         14: shell_v2 cmd stat_v2 ls_v2 fixed_push_mkdir abb fixed_push_symlink_timestamp abb_exec track_app sendrecv_v2 sendrecv_v2_brotli \
         sendrecv_v2_lz4 sendrecv_v2_zstd sendrecv_v2_dry_run_send delayed_ack\n\
         16: shell_v2 cmd stat_v2 ls_v2 fixed_push_mkdir abb fixed_push_symlink_timestamp abb_exec track_app sendrecv_v2 sendrecv_v2_brotli \
         sendrecv_v2_lz4 sendrecv_v2_zstd sendrecv_v2_dry_run_send delayed_ack\n"
    );
}
