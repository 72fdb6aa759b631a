//! A phone on its own port, a private adb server connected to it, and the programs that drive both.

use crate::common::spawned;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use thumbwire_test_support::{PrivateAdb, program, real};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;

/// Generous: a busy machine is not a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// An adb program, by the version it prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Adb {
    /// Debian's, from the release.
    V29,
    /// Debian's, from backports.
    V34,
    /// Google's.
    V36,
}

impl Adb {
    pub(crate) const ALL: [Self; 3] = [Self::V29, Self::V34, Self::V36];

    fn program(self) -> Option<PathBuf> {
        match self {
            Self::V29 => program("adb"),
            Self::V34 => real("adb34", "run"),
            Self::V36 => real("adb36", "adb"),
        }
    }
}

/// The folder of our own APKs.
pub(crate) fn apks() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/apk").to_owned()
}

/// A program's output and exit status.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) status: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl CommandOutput {
    /// Its standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// Both outputs, stdout first.
    pub(crate) fn both(&self) -> String {
        self.text() + &self.err
    }

    /// The standard output of a program that must succeed.
    pub(crate) fn well(self) -> String {
        assert_eq!(self.status, Some(0), "{self:?}");
        self.text()
    }
}

impl From<std::process::Output> for CommandOutput {
    fn from(output: std::process::Output) -> Self {
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { status: output.status.code(), out: output.stdout, err }
    }
}

/// The phone, its server, and a temporary folder.
pub(crate) struct Bench {
    pub(crate) phone: VirtualPhone,
    /// The phone's serial on the server: the address it listens on.
    pub(crate) serial: String,
    pub(crate) version: Adb,
    server: PrivateAdb,
}

impl Bench {
    /// Starts with the phone connected; `None` if that adb is not available.
    pub(crate) async fn start(version: Adb, setup: Setup) -> Option<Self> {
        let phone = VirtualPhone::new(setup);
        let bench = Self::waiting(version, phone).await?;
        let output = bench.adb(&["connect", &bench.serial]).await;
        assert!(output.text().starts_with("connected to"), "{output:?}");
        bench.adb(&["wait-for-device"]).await;
        Some(bench)
    }

    /// Starts with a server that does not know the phone yet.
    pub(crate) async fn waiting(version: Adb, phone: VirtualPhone) -> Option<Self> {
        let server = PrivateAdb::start_with(&version.program()?, &[]);
        let serial = serve(&phone).await;
        Some(Self { phone, serial, version, server })
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> String {
        self.server.home().join(name).to_string_lossy().into_owned()
    }

    /// A command that finds only this server and this adb.
    pub(crate) fn program(&self, program: &Path) -> Command {
        let mut command = self.server.command_of(program);
        command.env("ADBUTILS_ADB_PATH", self.server.program());
        spawned(command)
    }

    pub(crate) fn adb_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(self.server.program());
        command.args(arguments);
        command
    }

    /// Runs adb to completion.
    pub(crate) async fn adb(&self, arguments: &[&str]) -> CommandOutput {
        let output = self.adb_command(arguments).output();
        tokio::time::timeout(PATIENCE, output)
            .await
            .unwrap_or_else(|_| panic!("adb {arguments:?} of {:?} hangs", self.version))
            .expect("adb runs")
            .into()
    }

    /// Runs adb with this standard input.
    pub(crate) async fn adb_with_input(&self, arguments: &[&str], input: &[u8]) -> CommandOutput {
        let mut child =
            self.adb_command(arguments).stdin(Stdio::piped()).spawn().expect("adb runs");
        let mut stdin = child.stdin.take().expect("piped");
        let talking = async {
            // A program that exits without reading all input is not a failure.
            let _ = stdin.write_all(input).await;
            drop(stdin);
            child.wait_with_output().await.expect("ended")
        };
        tokio::time::timeout(PATIENCE, talking)
            .await
            .unwrap_or_else(|_| panic!("adb {arguments:?} of {:?} hangs", self.version))
            .into()
    }

    /// Runs a script next to this file with the phone's address and `arguments`.
    ///
    /// A line that starts with `phone: ` is a request to the phone's owner ([`owner`]), which
    /// answers with a line on standard input.
    pub(crate) async fn script(&self, interpreter: &Path, name: &str, arguments: &[&str]) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/clients").join(name);
        // Node.js looks for modules next to the script.
        let script = self.server.home().join(name);
        std::fs::copy(&source, &script).expect("copied");
        let modules = self.server.home().join("node_modules");
        if let Some(installed) = real("node", "node_modules")
            && !modules.exists()
        {
            std::os::unix::fs::symlink(installed, modules).expect("linked");
        }
        let mut child = self
            .program(interpreter)
            .arg(&script)
            .arg(&self.serial)
            .args(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut stdin = child.stdin.take().expect("piped");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut stderr = child.stderr.take().expect("piped");
        let (mut stdout, mut wrong) = (String::new(), String::new());
        let talking = async {
            while let Ok(Some(line)) = lines.next_line().await {
                match line.strip_prefix("phone: ") {
                    Some(wish) => {
                        let answer = owner(&self.phone, wish).await;
                        // A script that has exited is noticed by its status.
                        let _ = stdin.write_all(format!("{answer}\n").as_bytes()).await;
                    }
                    None => stdout.push_str(&format!("{line}\n")),
                }
            }
        };
        let talked = tokio::time::timeout(PATIENCE, async {
            tokio::join!(talking, stderr.read_to_string(&mut wrong)).1.expect("text");
            child.wait().await.expect("ended")
        });
        let ended = talked.await;
        let ended = match ended {
            Ok(status) => status.success(),
            Err(_) => false,
        };
        assert!(ended, "{name} with {:?}\n{stdout}{wrong}", self.version);
    }
}

/// Serves a phone on a free port, and returns the address.
pub(crate) async fn serve(phone: &VirtualPhone) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let served = phone.clone();
    tokio::spawn(async move { served.listen(listener).await });
    address
}

/// Handles a script's request to the phone's owner.
async fn owner(phone: &VirtualPhone, wish: &str) -> String {
    let (verb, rest) = wish.split_once(' ').unwrap_or((wish, ""));
    match verb {
        // Completes once the phone has disconnected.
        "gone" => phone.unplugged().await,
        "plug" => phone.plug(),
        "guard" => phone.set_guarded(true),
        // Answers the dialog for a host's key as soon as it shows.
        "allow" => {
            let phone = phone.clone();
            tokio::spawn(async move {
                phone.wait_for_key().await;
                phone.answer_key(true);
            });
        }
        // From now on this socket echoes everything.
        "echo" => {
            let mut listener = phone.sockets().listen(rest).expect("free");
            tokio::spawn(async move {
                while let Some(stream) = listener.accept().await {
                    tokio::spawn(async move {
                        let (mut reader, mut writer) = tokio::io::split(stream);
                        let _ = tokio::io::copy(&mut reader, &mut writer).await;
                    });
                }
            });
        }
        // Connects to a socket on the phone, sends a word and answers with the reply.
        "call" => {
            let mut stream = phone.sockets().connect(rest).await.expect("connected");
            stream.write_all(b"ping").await.expect("written");
            let mut back = [0; 4];
            stream.read_exact(&mut back).await.expect("read");
            return String::from_utf8_lossy(&back).into_owned();
        }
        other => panic!("unknown request to the owner: {other}"),
    }
    "done".to_owned()
}
