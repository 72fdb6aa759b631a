//! Stock `adb`: shells, the screen, logs, forwarding in both directions, connecting and
//! disconnecting. Files are in `adb_files.rs`.

use crate::clients::bench::{Adb, Bench, CommandOutput, PATIENCE, serve};
use std::path::Path;
use std::process::Stdio;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Runs the test with each available adb, on a phone of its own.
pub(crate) async fn each(story: impl AsyncFn(&Bench)) {
    for version in Adb::ALL {
        let Some(bench) = Bench::start(version, Setup::default()).await else { continue };
        // Shown if the test fails.
        println!("with {version:?}");
        story(&bench).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_keep_streams_input_and_status() {
    each(async |bench| {
        let output = bench.adb(&["shell", "echo out; echo err >&2; exit 7"]).await;
        assert_eq!(
            (output.status, output.text(), output.err),
            (Some(7), "out\n".into(), "err\n".into())
        );
        // adb joins the arguments to one line, which the phone's shell splits again.
        let joined = bench.adb(&["shell", "echo", "a  b", "'c  d'"]).await.well();
        assert_eq!(joined, "a b c  d\n");
        let out = bench.adb_with_input(&["shell", "cat; echo -n end"], b"one\ntwo").await;
        assert_eq!(out.well(), "one\ntwoend");
        let many = bench.adb_with_input(&["shell", "wc -c"], &[b'x'; 3_000_000]).await;
        assert_eq!(many.well(), "3000000\n");
        let lines = b"cd /sdcard\npwd\nnosuch\nexit 5\n";
        let piped = bench.adb_with_input(&["shell"], lines).await;
        let error = "/system/bin/sh: <stdin>[3]: nosuch: inaccessible or not found\n";
        assert_eq!(
            (piped.status, piped.text(), piped.err),
            (Some(5), "/sdcard\n".into(), error.into())
        );
        let none = bench.adb_with_input(&["shell", "-n", "cat"], b"not read").await;
        assert_eq!(none.well(), "");
        let flood = bench.adb(&["shell", "cat /dev/zero | head -c 2000000"]).await;
        assert_eq!((flood.status, flood.out.len()), (Some(0), 2_000_000));
        // Without shell v2: one stream, no status, and unchanged newlines (a current phone).
        let old = bench.adb(&["shell", "-x", "echo out; echo err >&2; exit 7"]).await;
        assert_eq!((old.status, old.both()), (Some(0), "out\nerr\n".into()));
        // A terminal has one stream, with its own line ends.
        let terminal = bench.adb(&["shell", "-tt", "echo out; echo err >&2; exit 7"]).await;
        assert_eq!((terminal.status, terminal.text()), (Some(7), "out\r\nerr\r\n".into()));
        let raw = bench.adb(&["shell", "-T", "echo raw"]).await;
        assert_eq!(raw.well(), "raw\n");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn terminal_has_prompt_echo_and_control_keys() {
    each(async |bench| {
        // `script` gives adb a terminal, as a person has.
        let line = format!("{} shell", bench.adb_command(&[]).as_std().get_program().display());
        let mut command = bench.program(Path::new("script"));
        let mut child = command
            .args(["-qec", &line, "/dev/null"])
            .stdin(Stdio::piped())
            .spawn()
            .expect("script runs");
        let mut stdin = child.stdin.take().expect("piped");
        let mut stdout = child.stdout.take().expect("piped");
        let mut seen = String::new();
        let typing = async {
            // Types each line once the expected text has appeared.
            for (until, keys) in [
                ("vp:/ $ ", "cd /sdcard\r"),
                ("vp:/sdcard $ ", "cat\r"),
                ("cat\r\n", "echoed\r"),
                // Echoed once, printed once by `cat`.
                ("echoed\r\nechoed\r\n", "\u{3}"),
                ("vp:/sdcard $ ", "ls nowhere\r"),
                ("ls: nowhere: No such file or directory\r\n", "exit 5\r"),
            ] {
                let from = seen.len();
                while !seen[from..].contains(until) {
                    let mut some = [0; 1024];
                    let count = stdout.read(&mut some).await.expect("read");
                    assert_ne!(count, 0, "ended before {until:?}: {seen:?}");
                    seen.push_str(&String::from_utf8_lossy(&some[..count]));
                }
                stdin.write_all(keys.as_bytes()).await.expect("typed");
            }
            stdout.read_to_string(&mut seen).await.expect("read");
        };
        let typed = tokio::time::timeout(PATIENCE, typing).await;
        assert!(typed.is_ok(), "{seen:?}");
        let status = child.wait().await.expect("ended");
        assert_eq!(status.code(), Some(5), "{seen:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_pass_unchanged_in_both_directions() {
    each(async |bench| {
        let png = bench.adb(&["exec-out", "screencap", "-p"]).await;
        bench.adb(&["shell", "screencap -p /sdcard/s.png"]).await.well();
        let kept = bench.phone.files(|files| files.read("/sdcard/s.png")).expect("there");
        assert!(png.out == kept.as_ref(), "{} bytes", png.out.len());
        assert_eq!(&png.out[..8], b"\x89PNG\r\n\x1a\n");
        let all: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        bench.adb_with_input(&["exec-in", "cat > /sdcard/all"], &all).await.well();
        let there = || bench.phone.files(|files| files.read("/sdcard/all"));
        // adb does not wait for the command's end.
        let arriving = async {
            while there().map_or(0, |bytes| bytes.as_ref().len()) < all.len() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, arriving).await.expect("all arrives");
        assert!(there().expect("there").as_ref() == all);
        let back = bench.adb(&["exec-out", "cat", "/sdcard/all"]).await;
        assert!(back.out == all);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adb_reports_identity_and_unsupported_features() {
    each(async |bench| {
        let output = async |arguments: &[&str]| bench.adb(arguments).await.both();
        let listed = output(&["devices", "-l"]).await;
        let text = "device product:virtual model:Virtual_Pixel device:vp transport_id:";
        assert!(listed.contains(&format!("{:22} {text}", bench.serial)), "{listed}");
        assert_eq!(output(&["get-state"]).await, "device\n");
        assert_eq!(output(&["get-serialno"]).await, format!("{}\n", bench.serial));
        let features = output(&["features"]).await;
        assert!(features.lines().any(|feature| feature == "shell_v2"), "{features}");
        // Retail phones run production builds.
        let text = "adbd cannot run as root in production builds\n";
        assert_eq!(output(&["root"]).await, text);
        assert_eq!(output(&["unroot"]).await, "adbd not running as root\n");
        let remount = output(&["remount"]).await;
        assert!(remount.starts_with("Not running as root. Try \"adb root\" first."), "{remount}");
        let verity = output(&["disable-verity"]).await;
        assert!(verity.starts_with("verity cannot be disabled/enabled - USER build"), "{verity}");
        // It is not Google's emulator, and has no bug report.
        assert_eq!(output(&["emu", "kill"]).await, "error: no emulator detected\n");
        let report = bench.adb(&["bugreport", "b.zip"]).await;
        assert_ne!(report.status, Some(0), "{report:?}");
        assert!(report.err.contains("'bugreportz -v' returned '' (code 127)"), "{report:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logcat_dumps_and_follows_the_log() {
    each(async |bench| {
        bench.adb(&["logcat", "-c"]).await.well();
        bench.adb(&["shell", "log", "-t", "Mark", "-p", "w", "'first one'"]).await.well();
        let read = bench.adb(&["logcat", "-d", "-v", "brief", "Mark:V", "*:S"]).await.well();
        let lines: Vec<&str> = read.lines().filter(|line| !line.starts_with("---")).collect();
        assert!(
            lines.len() == 1 && lines[0].starts_with("W/Mark") && lines[0].ends_with("first one"),
            "{read}"
        );
        let mut following = bench.adb_command(&["logcat", "-v", "tag", "Mark:V", "*:S"]);
        let mut following = following.spawn().expect("adb runs");
        let mut lines = BufReader::new(following.stdout.take().expect("piped")).lines();
        let mut until = async |wanted: &str| {
            let looking = async {
                while lines.next_line().await.expect("read").as_deref() != Some(wanted) {}
            };
            tokio::time::timeout(PATIENCE, looking).await.expect("the line comes");
        };
        until("W/Mark    : first one").await;
        bench.adb(&["shell", "log", "-t", "Mark", "-p", "i", "second"]).await.well();
        until("I/Mark    : second").await;
        following.kill().await.expect("killed");
        assert_eq!(bench.adb(&["shell", "echo well"]).await.well(), "well\n");
        let commands = bench.phone.commands();
        let followed = commands.iter().rfind(|it| it.argv.contains(&"tag".to_owned()));
        assert_eq!(followed.expect("it ran").status, None, "dropped, not ended");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forward_and_reverse_connect_both_ways() {
    each(async |bench| {
        let mut inside = bench.phone.sockets().listen("localabstract:helper").expect("free");
        let port = bench.adb(&["forward", "tcp:0", "localabstract:helper"]).await.well();
        let near = format!("tcp:{}", port.trim());
        let list = bench.adb(&["forward", "--list"]).await.well();
        assert_eq!(list.trim(), format!("{} {near} localabstract:helper", bench.serial));
        let mut here =
            TcpStream::connect(format!("127.0.0.1:{}", port.trim())).await.expect("open");
        let mut there = inside.accept().await.expect("a pipe");
        let sent: Vec<u8> = (0..=255).cycle().take(300_000).collect();
        let (mut back, mut arrived) = (Vec::new(), vec![0; sent.len()]);
        let (mut reader, mut writer) = here.split();
        let sending = async {
            writer.write_all(&sent).await.expect("written");
            writer.flush().await.expect("flushed");
        };
        let answering = async {
            there.read_exact(&mut arrived).await.expect("read");
            there.write_all(&arrived).await.expect("written");
            drop(there);
        };
        let reading = async { reader.read_to_end(&mut back).await.expect("read") };
        tokio::time::timeout(PATIENCE, async { tokio::join!(sending, answering, reading) })
            .await
            .expect("in time");
        assert!(back == sent);
        let again = bench.adb(&["forward", "--no-rebind", &near, "tcp:1"]).await;
        assert!(again.err.contains("cannot rebind existing socket"), "{again:?}");
        bench.adb(&["forward", "--remove", &near]).await.well();
        assert_eq!(bench.adb(&["forward", "--list"]).await.well().trim(), "");

        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let near = format!("tcp:{}", listener.local_addr().expect("an address").port());
        let port = bench.adb(&["reverse", "tcp:0", &near]).await.well();
        let far = format!("tcp:{}", port.trim());
        let list = bench.adb(&["reverse", "--list"]).await.well();
        assert!(list.trim().ends_with(&format!(" {far} {near}")), "{list}");
        let mut there = bench.phone.sockets().connect(&far).await.expect("open");
        let (mut here, _) = listener.accept().await.expect("accepted");
        there.write_all(b"pong").await.expect("written");
        let mut four = [0; 4];
        here.read_exact(&mut four).await.expect("read");
        assert_eq!(&four, b"pong");
        bench.adb(&["reverse", "--remove-all"]).await.well();
        assert_eq!(bench.adb(&["reverse", "--list"]).await.well().trim(), "");
        assert!(bench.phone.sockets().connect(&far).await.is_err());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rebooted_phone_disconnects_and_returns() {
    each(async |bench| {
        let mut tracking = bench.adb_command(&["track-devices"]).spawn().expect("adb runs");
        let mut events = tracking.stdout.take().expect("piped");
        let mut seen = String::new();
        let mut until = async |wanted: &str| {
            let from = seen.len();
            let looking = async {
                while !seen[from..].contains(wanted) {
                    let mut some = [0; 256];
                    let count = events.read(&mut some).await.expect("read");
                    seen.push_str(&String::from_utf8_lossy(&some[..count]));
                }
            };
            let found = tokio::time::timeout(PATIENCE, looking).await.is_ok();
            assert!(found, "no {wanted:?} in {seen:?}");
        };
        until(&format!("{}\tdevice", bench.serial)).await;
        bench
            .phone
            .files(|files| files.write("/data/local/tmp/kept", b"x", 0o644))
            .expect("written");
        bench.adb(&["reboot"]).await.well();
        tokio::time::timeout(PATIENCE, bench.phone.unplugged()).await.expect("it goes away");
        // What a server calls a phone that it lost, until it gives up or reconnects.
        until("offline").await;
        let gone = bench.adb(&["shell", "true"]).await;
        assert_ne!(gone.status, Some(0), "{gone:?}");
        bench.phone.plug();
        connect_again(bench).await;
        until(&format!("{}\tdevice", bench.serial)).await;
        bench.adb(&["wait-for-device"]).await.well();
        assert_eq!(bench.adb(&["shell", "cat /data/local/tmp/kept"]).await.well(), "x");
        tracking.kill().await.expect("killed");
    })
    .await;
}

/// adb answers "already connected" while it retries the old connection itself. It is polled with
/// `shell`, since `install` waits forever for a phone that adb has just dropped.
pub(crate) async fn connect_again(bench: &Bench) {
    let trying = async {
        loop {
            bench.adb(&["disconnect", &bench.serial]).await;
            bench.adb(&["connect", &bench.serial]).await;
            let output = bench.adb(&["-s", &bench.serial, "shell", "echo back"]).await.text();
            if output.trim() == "back" {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, trying).await.expect("it connects again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn host_disconnects_and_reconnects() {
    each(async |bench| {
        let output = bench.adb(&["disconnect", &bench.serial]).await.well();
        assert_eq!(output, format!("disconnected {}\n", bench.serial));
        let gone = bench.adb(&["get-state"]).await;
        assert!(gone.status == Some(1) && gone.err.contains("no devices"), "{gone:?}");
        connect_again(bench).await;
        let output = bench.adb(&["connect", &bench.serial]).await.well();
        assert_eq!(output, format!("already connected to {}\n", bench.serial));
        let output = bench.adb(&["reconnect"]).await.well();
        assert!(output.starts_with("reconnecting "), "{output}");
        connect_again(bench).await;
        assert_eq!(bench.adb(&["shell", "echo here"]).await.well(), "here\n");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serial_selects_one_of_two_phones() {
    each(async |bench| {
        let other =
            VirtualPhone::new(Setup { seed: 2, ..Setup::of_release("4.4").expect("known") });
        let serial = serve(&other).await;
        bench.adb(&["connect", &serial]).await.well();
        let lost = bench.adb(&["shell", "true"]).await;
        assert!(lost.both().contains("more than one device/emulator"), "{lost:?}");
        let asked = async |serial: &str| {
            bench.adb(&["-s", serial, "shell", "getprop ro.build.version.sdk"]).await.well()
        };
        // Old shells run in a terminal; adb does not convert their line ends.
        assert_eq!(
            (asked(&bench.serial).await, asked(&serial).await),
            ("34\n".into(), "19\r\n".into())
        );
        bench.adb(&["disconnect"]).await.well();
        assert_eq!(bench.adb(&["devices"]).await.well().trim(), "List of devices attached");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn authorization_needs_the_owners_consent() {
    for version in Adb::ALL {
        let phone = VirtualPhone::new(Setup::default());
        phone.set_guarded(true);
        let Some(bench) = Bench::waiting(version, phone).await else { continue };
        bench.adb(&["connect", &bench.serial]).await;
        let key = tokio::time::timeout(PATIENCE, bench.phone.wait_for_key()).await;
        assert!(key.expect("it asks").contains('@'), "{version:?}");
        let refused = bench.adb(&["shell", "true"]).await;
        assert!(refused.err.contains("unauthorized"), "{refused:?}");
        bench.phone.answer_key(true);
        bench.adb(&["wait-for-device"]).await.well();
        assert_eq!(bench.adb(&["shell", "echo in"]).await.well(), "in\n");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adb_drives_every_release() {
    for (release, sdk) in [("4.4", "19"), ("9", "28"), ("16", "36")] {
        for version in Adb::ALL {
            let setup = Setup::of_release(release).expect("known");
            let Some(bench) = Bench::start(version, setup).await else { continue };
            println!("{release} with {version:?}");
            let output = bench.adb(&["shell", "getprop", "ro.build.version.sdk"]).await;
            assert_eq!(output.well().trim(), sdk);
            let status = bench.adb(&["shell", "exit 3"]).await;
            // An old phone reports no exit status.
            assert_eq!(status.status, Some(if release == "4.4" { 0 } else { 3 }));
            bench.adb(&["shell", "screencap -p /sdcard/s.png"]).await.well();
            bench.adb(&["pull", "/sdcard/s.png", "s.png"]).await.well();
            let png = std::fs::read(bench.path("s.png")).expect("pulled");
            assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
            bench.adb(&["push", "s.png", "/sdcard/again.png"]).await.well();
            let kept = bench.phone.files(|files| files.read("/sdcard/again.png")).expect("there");
            assert!(kept.as_ref() == png);
            let dump = dumped(&bench).await;
            assert!(dump.starts_with("<?xml") && dump.contains("</hierarchy>"), "{dump}");
            let focus = bench.adb(&["shell", "dumpsys window | grep mCurrentFocus"]).await;
            assert!(focus.well().contains("com.android.launcher3/"), "{release}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tcpip_and_usb_restart_adbd() {
    each(async |bench| {
        let output = bench.adb(&["tcpip", "5555"]).await.both();
        assert!(output.starts_with("restarting in TCP mode port: 5555"), "{output}");
        connect_again(bench).await;
        let port = bench.adb(&["shell", "getprop service.adb.tcp.port"]).await;
        assert_eq!(port.well(), "5555\n");
        let output = bench.adb(&["usb"]).await.both();
        assert!(output.starts_with("restarting in USB mode"), "{output}");
        tokio::time::timeout(PATIENCE, bench.phone.unplugged()).await.expect("it goes away");
        bench.phone.plug();
        connect_again(bench).await;
    })
    .await;
}

async fn dumped(bench: &Bench) -> String {
    let output: CommandOutput = bench.adb(&["shell", "uiautomator dump /sdcard/d.xml"]).await;
    assert!(output.well().contains("UI hierchary dumped to: /sdcard/d.xml"));
    bench.adb(&["pull", "/sdcard/d.xml", "d.xml"]).await.well();
    std::fs::read_to_string(bench.path("d.xml")).expect("pulled")
}
