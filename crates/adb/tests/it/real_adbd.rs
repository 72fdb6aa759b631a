//! Our host end with a real adbd (Debian's), as unpacked by `.ci/parts adbd`.
//!
//! adbd accepts anybody on every interface. So each test runs this program again in its own network
//! and process namespaces: nobody else can reach it there, and nothing survives it. The tests are
//! skipped without adbd, or where only root may create namespaces, unless
//! `THUMBWIRE_REQUIRE_REAL` is set.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use thumbwire_test_support::missing;

use crate::common::{echo_outside, echoes, pattern, pull_compressed, push_compressed, text};
use futures::future::join_all;
use tempfile::TempDir;
use thumbwire_adb::daemon::compress::Compression;
use thumbwire_adb::services::shell::{OutputChunk, RunningCommand};
use thumbwire_adb::services::sync::{FileSync, details, list, pull, push, stat};
use thumbwire_adb::{DirectTransport, Error, Transport, exec, run};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Set when a test runs inside the namespaces.
const INSIDE: &str = "THUMBWIRE_TEST_INSIDE";
/// Generous: a busy machine is not a failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// A real adbd and our transport to it.
struct Real {
    address: String,
    phone: DirectTransport,
    adbd: Child,
    folder: TempDir,
}

impl Real {
    /// Starts adbd; call it only inside the namespaces.
    async fn start() -> Self {
        let up = Command::new("ip").args(["link", "set", "lo", "up"]).status();
        assert!(up.is_ok_and(|status| status.success()), "the loopback is up");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let folder = TempDir::new().unwrap();
        let adbd = Command::new(adbd())
            .env("ADBD_PORT", address.port().to_string())
            .env("TMPDIR", folder.path())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let address = address.to_string();
        let phone = DirectTransport::tcp(&address);
        let listening = async { while phone.banner().await.is_err() {} };
        tokio::time::timeout(PATIENCE, listening).await.expect("adbd listens");
        Self { address, phone, adbd, folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }
}

/// Whether this is the process that runs the test. If not, runs the test again inside the
/// namespaces.
fn inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let namespaces = match namespaces() {
        Ok(namespaces) => namespaces,
        Err(why) => {
            missing("adbd", why);
            return false;
        }
    };
    let ran = unshare(namespaces)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("real_adbd::{test}"), "--nocapture"])
        .env(INSIDE, "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let output = [ran.stdout, ran.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(ran.status.success() && output[0].contains("1 passed"), "{}{}", output[0], output[1]);
    false
}

/// The namespaces available here: adbd wants to be root, if only in a user namespace. The error
/// says what is missing.
fn namespaces() -> Result<&'static [&'static str], &'static str> {
    if !adbd().exists() {
        return Err("no adbd");
    }
    let kinds: [&[&str]; 2] = [&["--net", "--pid"], &["--net", "--pid", "--map-root-user"]];
    let work = |kinds: &&[&str]| {
        let probe = unshare(kinds).args(["sh", "-c", "test $(id -u) = 0"]).output();
        probe.is_ok_and(|ran| ran.status.success())
    };
    kinds.into_iter().find(work).ok_or("not root")
}

/// Runs a command in its own namespaces.
fn unshare(namespaces: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    command.args(namespaces).args(["--fork", "--kill-child", "--"]);
    command
}

fn adbd() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/real/adbd/run")
}

#[tokio::test]
async fn real_adbd_runs_commands() {
    if !inside("real_adbd_runs_commands") {
        return;
    }
    let real = Real::start().await;
    let phone = &real.phone;
    assert!(phone.features().await.unwrap().has("shell_v2"));
    let output = run(phone, "echo 'a  b'; echo c >&2; exit 7").await.unwrap();
    assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"a  b\n"[..], &b"c\n"[..]));
    assert_eq!(output.status, Some(7));
    for status in [0, 1, 127, 255] {
        assert_eq!(run(phone, &format!("exit {status}")).await.unwrap().status, Some(status));
    }
    assert_eq!(run(phone, "cat").await.unwrap().status, Some(0), "its input ends");
    let much = run(phone, "head -c 3000000 /dev/zero; head -c 100000 /dev/zero >&2").await.unwrap();
    assert_eq!((much.stdout.len(), much.stderr.len()), (3_000_000, 100_000));

    let old = phone.open("shell:echo old").await.unwrap();
    assert_eq!(text(old).await.trim_end(), "old");
    let error = phone.open("nosuch:").await.err();
    assert!(matches!(error, Some(Error::Refused { .. })), "{error:?}");
}

/// Long-running commands rely on this: an `exec` is the process that gets SIGHUP, when its stream
/// is dropped and when the connection is lost.
#[tokio::test]
async fn real_adbd_ends_a_dropped_command() {
    if !inside("real_adbd_ends_a_dropped_command") {
        return;
    }
    let real = Real::start().await;
    let start = async |phone: &DirectTransport| {
        // The program prints its own process id: a shell that gets SIGHUP just before its `exec`
        // forgets it. Under nohup, every program ignores the signal that this waits for, so it is
        // reset here.
        let sleeps = r#"exec perl -e '$| = 1; $SIG{HUP} = "DEFAULT"; print $$; sleep 1000'"#;
        let mut running = RunningCommand::start(phone, sleeps).await.unwrap();
        let OutputChunk::Out(pid) = running.next().await.unwrap() else {
            panic!("it prints its process id")
        };
        let pid = String::from_utf8_lossy(&pid).trim().to_owned();
        let alive = format!("kill -0 {pid}");
        assert_eq!(run(&real.phone, &alive).await.unwrap().status, Some(0));
        (running, alive)
    };
    let ended = async |alive: &str| {
        let ended = async { while run(&real.phone, alive).await.unwrap().status == Some(0) {} };
        tokio::time::timeout(PATIENCE, ended).await.expect("it gets SIGHUP");
    };
    let (running, alive) = start(&real.phone).await;
    drop(running);
    ended(&alive).await;

    let between = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let cable = between.local_addr().unwrap().to_string();
    let address = real.address.clone();
    let passing = tokio::spawn(async move {
        let (mut near, _) = between.accept().await.unwrap();
        let mut far = TcpStream::connect(address).await.unwrap();
        tokio::io::copy_bidirectional(&mut near, &mut far).await
    });
    let (mut running, alive) = start(&DirectTransport::tcp(&cable)).await;
    passing.abort();
    ended(&alive).await;
    assert!(matches!(running.next().await, Err(Error::Disconnected { .. })));
}

#[tokio::test]
async fn real_adbd_transfers_files() {
    if !inside("real_adbd_transfers_files") {
        return;
    }
    let real = Real::start().await;
    let phone = &real.phone;
    for length in [0, 1, 64 * 1024, 5 * 1024 * 1024] {
        let (name, sent) = (real.path(&format!("f {length}")), pattern(length));
        // On one stream: adbd replies OKAY before it sets the time.
        let mut sync = FileSync::open(phone).await.unwrap();
        let pushed = sync.push(&name, 0o640, 1_700_000_000, &sent[..]).await;
        assert_eq!(pushed, Ok(length as u64));
        let out = sync.stat(&name).await.unwrap();
        assert_eq!((out.size as usize, out.mtime), (length, 1_700_000_000));
        assert_eq!(out.mode & 0o170_600, 0o100_600, "its owner can read and write it");
        assert!(std::fs::read(&name).unwrap() == sent, "{length} bytes arrived");
        assert!(pull(phone, &name, length).await.unwrap() == sent, "{length} bytes came back");
    }
    let listed = list(phone, real.folder.path().to_str().unwrap()).await.unwrap();
    let mut names: Vec<&str> = listed.iter().map(|entry| entry.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["f 0", "f 1", "f 5242880", "f 65536"]);

    let error = pull(phone, &real.path("nothing"), 10).await.unwrap_err();
    assert!(
        matches!(&error, Error::Phone { text, .. } if text.contains("No such file")),
        "{error}"
    );
    let large = pattern(2_000_000);
    let error = push(phone, "/proc/nothing/f", 0o644, 0, &large[..]).await.unwrap_err();
    assert!(matches!(error, Error::Phone { .. }), "{error}");
    assert!(!stat(phone, &real.path("nothing")).await.unwrap().exists());
}

#[tokio::test]
async fn real_adbd_returns_raw_output() {
    if !inside("real_adbd_returns_raw_output") {
        return;
    }
    let real = Real::start().await;
    let sent = pattern(5 * 1024 * 1024);
    std::fs::write(real.path("raw"), &sent).unwrap();
    let mut stream = exec(&real.phone, &format!("cat {}", real.path("raw"))).await.unwrap();
    let mut result = Vec::new();
    stream.read_to_end(&mut result).await.unwrap();
    assert!(result == sent);
}

#[tokio::test]
async fn real_adbd_serves_sixteen_streams_at_once() {
    if !inside("real_adbd_serves_sixteen_streams_at_once") {
        return;
    }
    let real = Real::start().await;
    let phone = &real.phone;
    let mut cats = join_all((0..16).map(|_| exec(phone, "cat"))).await;
    // All are open; each gets its own data back, the last one first.
    for (n, cat) in cats.iter_mut().enumerate().rev() {
        cat.as_mut().unwrap().write_all(&[n as u8; 1000]).await.unwrap();
    }
    for (n, cat) in cats.iter_mut().enumerate() {
        let mut back = [0; 1000];
        cat.as_mut().unwrap().read_exact(&mut back).await.unwrap();
        assert_eq!(back, [n as u8; 1000]);
    }
    let commands: Vec<String> =
        (0..16).map(|n| format!("head -c {n}00000 /dev/zero; exit {n}")).collect();
    for (n, said) in join_all(commands.iter().map(|line| run(phone, line))).await.iter().enumerate()
    {
        let output = said.as_ref().unwrap();
        assert_eq!((output.stdout.len(), output.status), (n * 100_000, Some(n as i32)));
    }
}

#[tokio::test]
async fn death_of_real_adbd_is_noticed() {
    if !inside("death_of_real_adbd_is_noticed") {
        return;
    }
    let Real { phone, mut adbd, folder: _folder, .. } = Real::start().await;
    let mut stream = exec(&phone, "echo up; cat").await.unwrap();
    stream.read_exact(&mut [0; 3]).await.unwrap();
    adbd.kill().unwrap();
    adbd.wait().unwrap();
    let error = Error::from_io(stream.read_u8().await.unwrap_err());
    assert!(matches!(error, Error::Disconnected { .. }), "{error}");
    let error = run(&phone, "exit 3").await.unwrap_err();
    assert!(matches!(error, Error::NotReachable { .. }), "{error}");
}

#[tokio::test]
async fn real_adbd_stats_files_by_version_2() {
    if !inside("real_adbd_stats_files_by_version_2") {
        return;
    }
    let real = Real::start().await;
    let phone = &real.phone;
    assert!(phone.features().await.unwrap().has("stat_v2"));
    assert!(phone.features().await.unwrap().has("ls_v2"));
    std::fs::File::create(real.path("large")).unwrap().set_len(5 << 32).unwrap();
    std::os::unix::fs::symlink("large", real.path("link")).unwrap();
    let expected = std::fs::metadata(real.path("large")).unwrap();

    let out = details(phone, &real.path("large")).await.unwrap();
    assert_eq!((out.size, out.inode, out.device), (5 << 32, expected.ino(), expected.dev()));
    assert_eq!((out.mode, out.links), (expected.mode(), 1));
    assert_eq!((out.mtime, out.user), (expected.mtime(), 0));
    assert_eq!(details(phone, &real.path("link")).await.unwrap().mode & 0o170_000, 0o120_000);

    let error = details(phone, &real.path("nothing")).await.unwrap_err();
    assert!(error.to_string().contains("No such file or directory"), "{error}");
    let error = details(phone, &real.path("large/x")).await.unwrap_err();
    assert!(error.to_string().contains("Not a directory"), "{error}");

    // One stream serves both versions in turn.
    let mut sync = FileSync::open(phone).await.unwrap();
    assert!(sync.details(&real.path("nothing")).await.is_err());
    assert_eq!(sync.details(&real.path("large")).await.unwrap(), out);
    assert!(sync.stat(&real.path("large")).await.unwrap().exists());
}

#[tokio::test]
async fn real_adbd_transfers_files_compressed() {
    if !inside("real_adbd_transfers_files_compressed") {
        return;
    }
    let real = Real::start().await;
    for compression in Compression::ALL {
        for length in [0, 1, 65_536, 3_000_000] {
            let sent = [pattern(length / 3), b"again and ".repeat(length / 10)].concat();
            let name = real.path("f");
            push_compressed(&real.phone, &name, compression, &sent).await;
            assert!(std::fs::read(&name).unwrap() == sent, "{compression:?} {length}: there");
            let back = pull_compressed(&real.phone, &name, compression).await;
            assert!(back == sent, "{compression:?} {length}: back");
        }
    }
    // After a failed transfer it ends the stream.
    for request in [&b"RECV\x04\0\0\0/\xc3\xa4x"[..], b"SEND\x0a\0\0\0/proc/x,33DONE\0\0\0\0"] {
        let mut stream = real.phone.open("sync:").await.unwrap();
        stream.write_all(request).await.unwrap();
        let output = text(stream).await;
        assert!(output.starts_with("FAIL"), "{output:?}");
    }
}

#[tokio::test]
async fn real_adbd_connects_sockets() {
    if !inside("real_adbd_connects_sockets") {
        return;
    }
    let real = Real::start().await;
    let phone = &real.phone;
    // Both computers are this one.
    let echo = format!("tcp:{}", echo_outside().await);
    echoes(phone.open(&echo).await.unwrap(), 300_000).await;
    let error = phone.open("localabstract:nobody").await.err();
    assert!(matches!(error, Some(Error::Refused { .. })), "{error:?}");
    // We refuse the streams that the phone opens.
    let reply = text(phone.open("reverse:forward:tcp:0;tcp:2").await.unwrap()).await;
    let port: u16 = reply.strip_prefix("OKAY0005").unwrap().parse().unwrap();
    let mut refused = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    assert!(matches!(refused.read(&mut [0; 1]).await, Ok(0) | Err(_)));
}
