//! The queue of a fleet: `submit` and `work` with a real NATS server and a node, each a process of
//! its own.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::json;
use tempfile::TempDir;
use thumbwire_test_support::NatsServer;
use thumbwire_virtual_ios::{Setup, VirtualIphone};
use thumbwire_virtual_phone::Platform;
use tokio::net::TcpListener;

use crate::appium_server::{Server, appium};
use crate::support::thumbwire;

/// A process that runs until the test ends.
struct Background(Child);

impl Background {
    /// Starts the binary, and waits for its first line.
    fn start(arguments: &[&str], state: &Path) -> Self {
        let mut command = thumbwire();
        command.env("XDG_STATE_HOME", state).args(arguments).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "{arguments:?} ended at once");
        Self(child)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a person sees who runs commands in a folder.
struct Terminal {
    folder: TempDir,
    transcript: String,
}

impl Terminal {
    /// Runs the binary. Returns what it prints.
    fn run(&mut self, arguments: &[&str]) -> String {
        let mut command = thumbwire();
        command.env("XDG_STATE_HOME", self.folder.path().join("state"));
        let output = command.current_dir(self.folder.path()).args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        let lines = masked(text.trim()).replace('\n', "\n    ");
        let shown = lines.replace("\n    \n", "\n\n");
        let code = output.status.code().unwrap();
        let command = masked(&arguments.join(" "));
        let _ = writeln!(self.transcript, "$ thumbwire {command}\n    {shown}");
        let _ = writeln!(self.transcript, "    exit code {code}");
        text
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// The text without ports, times, processes and ids of runs.
fn masked(text: &str) -> String {
    let masks = [
        (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
        (r"\b\d+\.\d+ s\b", "S s"),
        (r"run-\d+-\d+(-\d+)?", "run-TIME"),
        (r"\b[0-9a-f]{8}-[0-9a-f]{8}\b", "RUN"),
        (r"worker \S+-\d+", "worker NAME"),
        (r"time=.\d+\.\d+.", "time=…"),
    ];
    masks.iter().fold(text.to_owned(), |text, (pattern, mask)| {
        regex_lite::Regex::new(pattern).unwrap().replace_all(&text, *mask).into_owned()
    })
}

const PASSES: &str = "\
appId: com.android.notes
name: Notes open
---
- launchApp
- runFlow: steps/sees-notes.yaml
- takeScreenshot: notes
";

const FAILS: &str = "\
appId: com.android.notes
name: Notes close
---
- launchApp
- assertVisible:
    text: Nothing like this
    timeout: 100
";

const RESETS: &str = "\
appId: com.android.notes
name: Notes empty
---
- launchApp: { clearState: true }
";

/// A node offers the phones of a real Appium server, and a flow runs on one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn phone_of_an_appium_server_is_used_through_a_node() {
    let Some(appium) = appium() else { return };
    let Some(nats) = NatsServer::start() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let wda = format!("http://{}", listener.local_addr().unwrap());
    let phone = VirtualIphone::new(Setup::default());
    tokio::spawn(async move { phone.serve(listener).await });
    tokio::task::block_in_place(|| {
        let server = Server::start(&appium);
        let folder = tempfile::tempdir().unwrap();
        let (url, state) = (nats.url(), folder.path().join("state"));
        let mut terminal = Terminal { folder, transcript: String::new() };
        let device = json!({
            "platformName": "iOS", "appium:udid": "00008030-0000000000000001",
            "appium:deviceName": "iPhone", "appium:platformVersion": Platform::IOS_VERSION,
            "appium:webDriverAgentUrl": wda,
        });
        let (device, id) = (device.to_string(), "appium:00008030-0000000000000001");
        // An iPhone does not tell which apps its launcher shows.
        let apps = "com.apple.*";
        let phones = ["--appium", &server.url, "--appium-device", &device, "--device", id];
        let node = ["node", "--nats", &url, "--name", "grid", "--allow-app", apps];
        let node = [&node[..], &phones].concat();
        let _node = Background::start(&node, &state);
        let listed = terminal.run(&["devices", "--fleet", &url]);
        assert!(listed.contains(&format!("grid/{id}")), "{listed}");
        let phone = format!("grid/{id}");
        let call = ["call", "mobile_get_current_app", "--fleet", &url, "--device", &phone];
        let answer = terminal.run(&call);
        assert!(answer.contains("com.apple.springboard"), "{answer}");
        let flow = "appId: com.apple.mobilenotes\n---\n- launchApp\n- assertVisible: Notes\n";
        terminal.write("notes.yaml", flow);
        let _worker = Background::start(&["work", "--fleet", &url], &state);
        let submit = ["submit", "notes.yaml", "--fleet", &url, "--device", "ios"];
        let report = terminal.run(&submit);
        assert!(report.contains("1 of 1 cases passed"), "{report}");
    });
}

/// A run is submitted, run by a worker and reported; another one is followed later; a third is
/// cancelled while no worker runs.
#[test]
fn flows_are_run_by_workers() {
    let Some(server) = NatsServer::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (url, state) = (server.url(), folder.path().join("state"));
    let mut terminal = Terminal { folder, transcript: String::new() };
    terminal.write("flows/a.yaml", PASSES);
    terminal.write("flows/b.yaml", FAILS);
    terminal.write("flows/c.yaml", RESETS);
    terminal.write("flows/steps/sees-notes.yaml", "appId: a\n---\n- assertVisible: Notes\n");
    let node =
        ["node", "--nats", &url, "--name", "lab", "--device", "virtual", "--label", "shelf-2"];
    let _node = Background::start(&node, &state);

    terminal.run(&["submit", "flows/a.yaml", "--fleet", &url, "--detach"]);
    let run = terminal.transcript.clone();
    assert!(run.contains("run RUN is in the queue"), "{run}");
    terminal.run(&["submit", "flows/x.yaml", "--fleet", &url]);
    let text = terminal.run(&["submit", "flows/b.yaml", "--fleet", &url, "--detach"]);
    let cancelled = text.split(' ').nth(1).unwrap().to_owned();
    terminal.run(&["submit", "--cancel", &cancelled, "--fleet", &url]);
    terminal.run(&["submit", "--attach", &cancelled, "--fleet", &url]);

    let _worker = Background::start(&["work", "--fleet", &url], &state);
    let selector = "android>=14,label=shelf-2";
    let arguments =
        ["submit", "flows", "--fleet", &url, "--device", selector, "--junit", "results.xml"];
    terminal.run(&arguments);
    let logs = terminal.folder.path().join("logs");
    let newest = std::fs::read_dir(logs).unwrap().map(|it| it.unwrap().path()).max().unwrap();
    let page = std::fs::read_to_string(newest.join("index.html")).unwrap();
    assert!(page.contains("lab/virtual"), "the page names the phone");
    assert!(newest.join("001-notes-open/trace.jsonl").is_file());
    let junit = std::fs::read_to_string(terminal.folder.path().join("results.xml")).unwrap();
    assert_eq!(junit.matches("<testcase").count(), 3);
    let picture = junit.split("[[ATTACHMENT|").nth(1).unwrap().split(']').next().unwrap();
    assert!(terminal.folder.path().join(picture).is_file(), "{picture}");
    insta::assert_snapshot!(terminal.transcript);
}
