//! Debian's `adb` drives the phone over TCP through a private adb server.

use crate::common::spawned;
use std::process::{Output, Stdio};
use std::time::Duration;
use thumbwire_test_support::PrivateAdb;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

/// Generous: a busy machine is not a failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// A phone on a port, and our own adb server connected to it.
struct Stock {
    phone: VirtualPhone,
    server: PrivateAdb,
    serial: String,
}

impl Stock {
    async fn start() -> Option<Self> {
        Self::with(Setup::default()).await
    }

    async fn with(setup: Setup) -> Option<Self> {
        let server = PrivateAdb::start()?;
        let phone = VirtualPhone::new(setup);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let serial = listener.local_addr().expect("an address").to_string();
        let served = phone.clone();
        tokio::spawn(async move { served.listen(listener).await });
        let stock = Self { phone, server, serial };
        let output = stock.adb(&["connect", &stock.serial]).await;
        assert!(text(&output.stdout).contains("connected to"), "{output:?}");
        Some(stock)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        spawned(self.server.command(arguments))
    }

    async fn adb(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output();
        tokio::time::timeout(PATIENCE, output).await.expect("adb hangs").expect("adb runs")
    }

    /// Reconnects to a phone that disconnected. adb drops the old connection in its own time and
    /// answers "already connected" until then; it is polled with `shell`, since `install` and
    /// `uninstall` wait forever for a phone that adb has just dropped.
    async fn connect_again(&self) {
        for _ in 0..40 {
            self.adb(&["disconnect", &self.serial]).await;
            self.adb(&["connect", &self.serial]).await;
            let output = self.adb(&["-s", &self.serial, "shell", "echo back"]).await;
            if text(&output.stdout).trim() == "back" {
                return;
            }
        }
        panic!("the phone does not come back");
    }

    fn path(&self, name: &str) -> String {
        self.server.home().join(name).to_string_lossy().into_owned()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stock_adb_lists_the_phone_and_runs_its_shell() {
    let Some(stock) = Stock::start().await else { return };
    let listed = text(&stock.adb(&["devices", "-l"]).await.stdout);
    assert!(listed.contains("device product:virtual model:Virtual_Pixel device:vp"), "{listed}");
    assert_eq!(stock.adb(&["shell", "exit 3"]).await.status.code(), Some(3));
    let output = stock.adb(&["shell", "echo 'a  b'; echo c >&2"]).await;
    assert_eq!(
        (text(&output.stdout), text(&output.stderr)),
        ("a  b\n".to_owned(), "c\n".to_owned())
    );
    let (one, two) = tokio::join!(
        stock.adb(&["shell", "cat /proc/meminfo | wc -l; echo one"]),
        stock.adb(&["shell", "getprop ro.product.model; echo two"])
    );
    assert_eq!(
        (text(&one.stdout), text(&two.stdout)),
        ("3\none\n".to_owned(), "Virtual Pixel\ntwo\n".to_owned())
    );
    // A legacy shell, without shell v2.
    assert_eq!(text(&stock.adb(&["shell", "-x", "echo old; exit 4"]).await.stdout), "old\n");
    assert_eq!(text(&stock.adb(&["get-state"]).await.stdout), "device\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_pushed_by_stock_adb_pull_back_unchanged() {
    let Some(stock) = Stock::start().await else { return };
    for size in [0_usize, 1, 64 << 10, 5 << 20] {
        let bytes: Vec<u8> = (0..size).map(|n| (n * 31 % 253) as u8).collect();
        let (here, back) = (stock.path("here"), stock.path("back"));
        std::fs::write(&here, &bytes).expect("written");
        let pushed = stock.adb(&["push", &here, "/sdcard/Download/f"]).await;
        assert!(pushed.status.success(), "{pushed:?}");
        assert_eq!(
            stock.phone.files(|files| files.read("/sdcard/Download/f")).expect("there").as_ref(),
            bytes
        );
        let pulled = stock.adb(&["pull", "/sdcard/Download/f", &back]).await;
        assert!(pulled.status.success(), "{pulled:?}");
        assert!(std::fs::read(&back).expect("read") == bytes, "{size} bytes");
    }
    let folder = stock.path("folder");
    std::fs::create_dir_all(format!("{folder}/inner")).expect("made");
    std::fs::write(format!("{folder}/inner/x"), b"x").expect("written");
    assert!(stock.adb(&["push", &folder, "/sdcard/"]).await.status.success());
    assert_eq!(text(&stock.adb(&["shell", "cat /sdcard/folder/inner/x"]).await.stdout), "x");
    let refused = stock.adb(&["push", &stock.path("here"), "/system/f"]).await;
    assert!(
        !refused.status.success() && text(&refused.stdout).contains("Read-only file system"),
        "{refused:?}"
    );
    let missing = stock.adb(&["pull", "/sdcard/nope", &stock.path("nope")]).await;
    assert!(
        !missing.status.success()
            && (text(&missing.stdout) + &text(&missing.stderr))
                .contains("No such file or directory"),
        "{missing:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stock_adb_takes_screenshots() {
    let Some(stock) = Stock::start().await else { return };
    let png = stock.adb(&["exec-out", "screencap", "-p"]).await.stdout;
    let reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().expect("a PNG");
    assert_eq!((reader.info().width, reader.info().height), (1080, 2400));
    let dump = text(&stock.adb(&["exec-out", "uiautomator", "dump", "/dev/tty"]).await.stdout);
    assert!(dump.contains("</hierarchy>") && dump.starts_with("<?xml"), "{dump}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_client_does_not_harm_the_phone() {
    let Some(stock) = Stock::start().await else { return };
    let mut client = stock.command(&["shell", "logcat"]).spawn().expect("adb runs");
    let mut output = [0; 16];
    client.stdout.as_mut().expect("piped").read_exact(&mut output).await.expect("it talks");
    client.kill().await.expect("killed");
    assert_eq!(text(&stock.adb(&["shell", "echo well"]).await.stdout), "well\n");
    // The logcat did not end by itself: it was dropped.
    assert_eq!(stock.phone.commands()[0].status, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stock_adb_shell_runs_piped_lines() {
    let Some(stock) = Stock::start().await else { return };
    let mut shell = stock.command(&["shell"]).stdin(Stdio::piped()).spawn().expect("adb runs");
    let mut stdin = shell.stdin.take().expect("piped");
    stdin.write_all(b"cd /sdcard\npwd\necho out; nosuch\nexit 5\n").await.expect("written");
    drop(stdin);
    let output = tokio::time::timeout(PATIENCE, shell.wait_with_output())
        .await
        .expect("adb hangs")
        .expect("ended");
    assert_eq!(text(&output.stdout), "/sdcard\nout\n");
    assert_eq!(
        text(&output.stderr),
        "/system/bin/sh: <stdin>[3]: nosuch: inaccessible or not found\n"
    );
    assert_eq!(output.status.code(), Some(5));
    // With a terminal there are a prompt and an echo.
    let mut shell =
        stock.command(&["shell", "-tt"]).stdin(Stdio::piped()).spawn().expect("adb runs");
    let mut stdin = shell.stdin.take().expect("piped");
    stdin.write_all(b"echo hi\nexit\n").await.expect("written");
    let output = tokio::time::timeout(PATIENCE, shell.wait_with_output())
        .await
        .expect("adb hangs")
        .expect("ended");
    drop(stdin);
    assert!(
        text(&output.stdout).contains("vp:/ $ ") && text(&output.stdout).contains("hi\r\n"),
        "{output:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reboot_disconnects_until_plugged_in() {
    let Some(stock) = Stock::start().await else { return };
    assert!(stock.adb(&["reboot"]).await.status.success());
    assert_eq!(
        stock.phone.commands().last().map(|record| record.argv[0].clone()).as_deref(),
        Some("reboot")
    );
    tokio::time::timeout(PATIENCE, stock.phone.unplugged()).await.expect("it goes away");
    stock.phone.plug();
    stock.connect_again().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forward_and_reverse_work() {
    let Some(stock) = Stock::start().await else { return };
    let place = |stdout: Output| format!("127.0.0.1:{}", text(&stdout.stdout).trim());
    let mut inside = stock.phone.sockets().listen("localabstract:helper").expect("free");
    let forwarded = place(stock.adb(&["forward", "tcp:0", "localabstract:helper"]).await);
    let mut near = TcpStream::connect(forwarded).await.expect("connected");
    let mut far = inside.accept().await.expect("a pipe");
    near.write_all(b"ping").await.expect("written");
    let mut four = [0; 4];
    far.read_exact(&mut four).await.expect("read");
    far.write_all(&four).await.expect("written");
    drop(far);
    let mut back = String::new();
    near.read_to_string(&mut back).await.expect("read");
    assert_eq!(back, "ping");

    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let target = format!("tcp:{}", listener.local_addr().expect("an address").port());
    assert!(stock.adb(&["reverse", "tcp:8081", &target]).await.status.success());
    let mut far = stock.phone.sockets().connect("tcp:8081").await.expect("connected");
    let (mut near, _) = listener.accept().await.expect("accepted");
    far.write_all(b"pong").await.expect("written");
    near.read_exact(&mut four).await.expect("read");
    assert_eq!(&four, b"pong");
    // Forwarding to a host ends with its connection.
    stock.phone.unplug();
    while stock.phone.sockets().connect("tcp:8081").await.is_ok() {
        tokio::task::yield_now().await;
    }
}

/// The path of a file in `fixtures/apk`.
fn apk(name: &str) -> String {
    format!("{}/../../fixtures/apk/{name}.apk", env!("CARGO_MANIFEST_DIR"))
}

impl Stock {
    /// Whether adb succeeded, and its whole output.
    async fn output_of(&self, arguments: &[&str]) -> (bool, String) {
        let output = self.adb(arguments).await;
        (output.status.success(), text(&output.stdout) + &text(&output.stderr))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stock_adb_installs_updates_and_uninstalls() {
    let Some(stock) = Stock::start().await else { return };
    let (one, two, other) = (apk("hello-1"), apk("hello-2"), apk("hello-1-other-key"));
    assert_eq!(
        stock.output_of(&["install", &one]).await,
        (true, "Performing Streamed Install\nSuccess\n".to_owned())
    );
    // It is installed, and its bytes are unchanged.
    let path = text(&stock.adb(&["shell", "pm path org.example.hello"]).await.stdout);
    let path = path.trim().trim_start_matches("package:");
    let back = stock.path("back.apk");
    assert!(stock.adb(&["pull", path, &back]).await.status.success());
    assert_eq!(std::fs::read(&back).expect("read"), std::fs::read(&one).expect("read"));
    let (pushed, stdout) = stock.output_of(&["push", &two, path]).await;
    assert!(!pushed && stdout.contains("Permission denied"), "{stdout}");

    let output = stock.output_of(&["install", "--no-streaming", "-r", &two]).await;
    assert!(output.0 && output.1.ends_with("Success\n"), "{output:?}");
    let left = text(&stock.adb(&["shell", "ls /data/local/tmp"]).await.stdout);
    assert_eq!(left.trim(), "thumbwire-helper-1.jar", "adb takes away what it pushed");
    for (arguments, why) in [
        (vec!["install", "-r", &one], "Failure [INSTALL_FAILED_VERSION_DOWNGRADE: "),
        (vec!["install", "-r", "-d", &other], "Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: "),
    ] {
        let (installed, stdout) = stock.output_of(&arguments).await;
        assert!(
            !installed && stdout.contains("adb: failed to install") && stdout.contains(why),
            "{stdout}"
        );
    }
    assert!(stock.output_of(&["install", "-r", "-d", &one]).await.0);
    assert_eq!(
        stock.output_of(&["uninstall", "org.example.hello"]).await,
        (true, "Success\n".to_owned())
    );
    let (gone, stdout) = stock.output_of(&["uninstall", "org.example.hello"]).await;
    assert!(!gone && stdout.contains("Failure [DELETE_FAILED_INTERNAL_ERROR]"), "{stdout}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stock_adb_installs_splits_and_reports_errors() {
    let Some(stock) = Stock::start().await else { return };
    let (base, config) = (apk("split-base"), apk("split-config"));
    let (alone, stdout) = stock.output_of(&["install", &base]).await;
    assert!(!alone && stdout.contains("INSTALL_FAILED_MISSING_SPLIT"), "{stdout}");
    let output = stock.output_of(&["install-multiple", &base, &config]).await;
    assert!(output.0 && output.1.contains("Success"), "{output:?}");
    let paths = text(&stock.adb(&["shell", "pm path org.example.split"]).await.stdout);
    assert_eq!(paths.lines().count(), 2, "{paths}");

    let whole = std::fs::read(&base).expect("read");
    for (name, bytes) in [("garbage.apk", &b"garbage"[..]), ("cut.apk", &whole[..whole.len() / 2])]
    {
        let file = stock.path(name);
        std::fs::write(&file, bytes).expect("written");
        for how in ["--streaming", "--no-streaming"] {
            let (installed, stdout) = stock.output_of(&["install", how, &file]).await;
            assert!(!installed && stdout.contains("Failed to parse"), "{how} {stdout}");
        }
    }
    let left = text(&stock.adb(&["shell", "ls -d /data/app/vmdl*"]).await.stdout);
    assert_eq!(left, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn app_installed_on_an_old_phone_survives_a_reboot() {
    let old = Setup::of_release("4.4").expect("a release");
    let Some(stock) = Stock::with(old).await else { return };
    let output = stock.output_of(&["install", &apk("hello-1")]).await;
    assert!(output.0 && output.1.contains("Success"), "{output:?}");
    stock.phone.unplug();
    stock.phone.plug();
    let known = |phone: &VirtualPhone| {
        phone.world(|world| world.packages().iter().any(|it| it.package == "org.example.hello"))
    };
    assert!(known(&stock.phone));
    stock.connect_again().await;
    let output = stock.output_of(&["uninstall", "org.example.hello"]).await;
    assert!(output.0 && output.1.contains("Success"), "{output:?}");
    assert!(!known(&stock.phone));
}
