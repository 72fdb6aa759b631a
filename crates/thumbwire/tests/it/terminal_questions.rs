//! Questions of a run at a real terminal: answered, interrupted, never asked.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use serde_json::{Value, json};

use crate::run::last_line;
use crate::support::thumbwire;

/// A program at a terminal of its own.
struct AtTerminal {
    child: Child,
    terminal: File,
    user: File,
    parts: Receiver<String>,
    shown: String,
}

/// Longer than any step takes on a busy computer.
const PATIENCE: Duration = Duration::from_secs(60);

impl AtTerminal {
    fn start(mut command: Command) -> Self {
        let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&user).unwrap();
        unlockpt(&user).unwrap();
        let path = PathBuf::from(ptsname(&user, Vec::new()).unwrap().into_string().unwrap());
        let open = || File::options().read(true).write(true).open(&path).unwrap();
        let terminal = open();
        command.stdin(Stdio::from(open())).stdout(Stdio::from(open())).stderr(Stdio::from(open()));
        let child = command.env("TERM", "dumb").spawn().unwrap();
        let user = File::from(user);
        let mut reader = user.try_clone().unwrap();
        let (sender, parts) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if sender.send(String::from_utf8_lossy(&bytes[..count]).into_owned()).is_err() {
                    return;
                }
            }
        });
        Self { child, terminal, user, parts, shown: String::new() }
    }

    /// Waits until the terminal shows this text again, after what it showed before.
    fn wait_for(&mut self, text: &str) {
        let begin = self.shown.len();
        while !self.shown[begin..].contains(text) {
            let part = self.parts.recv_timeout(PATIENCE);
            self.shown.push_str(&part.unwrap_or_else(|_| panic!("no {text:?} in {}", self.shown)));
        }
    }

    fn types(&mut self, text: &str) {
        self.user.write_all(text.as_bytes()).unwrap();
    }

    fn interrupt(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }

    /// The exit code, and everything that the terminal showed.
    fn end(mut self) -> (Option<i32>, String) {
        let began = Instant::now();
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            while let Ok(part) = self.parts.recv_timeout(Duration::from_millis(20)) {
                self.shown.push_str(&part);
            }
            if began.elapsed() > PATIENCE {
                self.child.kill().unwrap();
                panic!("it does not end: {}", self.shown);
            }
        };
        while let Ok(part) = self.parts.recv_timeout(Duration::from_millis(200)) {
            self.shown.push_str(&part);
        }
        (code, self.shown)
    }

    /// Whether the terminal shows what is typed.
    fn echoes(&self) -> bool {
        tcgetattr(&self.terminal).unwrap().local_modes.contains(LocalModes::ECHO)
    }
}

/// A folder with a scripted model that has a link sent, again and again.
struct Place(tempfile::TempDir);

fn click(function: &str, arguments: Value) -> Value {
    json!({ "reply": { "action": { "function": function, "arguments": arguments } } })
}

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let link =
            || click("click_control", json!({ "control_id": "4", "control_name": "Send link" }));
        let replies = json!([
            click("launch_app", json!({ "package_name": "com.example.members" })),
            click("click_control", json!({ "control_id": "6", "control_name": "Forgot password?" })),
            link(),
            link(),
            click("tap", json!({ "x": 540, "y": 560 })),
            { "reply": { "action": null, "status": "FAIL", "result": "that is all" } },
        ]);
        fs::write(place.0.path().join("link's.json"), replies.to_string()).unwrap();
        place
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = thumbwire();
        command.current_dir(self.0.path()).args(["run", "Send \"it\" to O'Neill & Söhne; $(now)"]);
        command.args(["--device", "virtual", "--model", "scripted:link's.json"]).args(arguments);
        command
    }

    fn run(&self) -> PathBuf {
        let folders = fs::read_dir(self.0.path().join("out dir/logs")).unwrap();
        folders.map(|entry| entry.unwrap().path()).next().unwrap()
    }
}

const OUT: [&str; 2] = ["--out", "out dir"];
const QUESTION: &str =
    "About to tap \"Send link\" in com.example.members, which may send something. Go ahead?";

/// Without the line breaks of the terminal.
fn joined(shown: &str) -> String {
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn statuses(run: &Path) -> Vec<String> {
    let lines = fs::read_to_string(run.join("trace.jsonl")).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|line| Some(line["status"].as_str()?.to_owned())).collect()
}

/// The trace is complete, and the last line is a command that a shell understands.
#[test]
fn interrupt_at_a_question_ends_the_run_with_its_resume_line() {
    let place = Place::new();
    let mut at = AtTerminal::start(place.command(&OUT));
    at.wait_for("Go ahead?");
    at.interrupt();
    let (code, shown) = at.end();
    assert_eq!(code, Some(130), "{shown}");
    assert!(joined(&shown).contains(QUESTION), "{shown}");
    let run = place.run();
    assert_eq!(last_line(&run)["status"], "CONTINUE", "{:?}", statuses(&run));
    let lines: Vec<&str> =
        shown.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let command =
        lines.last().unwrap().strip_prefix("Resume with: ").unwrap_or_else(|| panic!("{shown}"));

    // Pasted into a shell, without anybody to ask.
    let mut shell = Command::new("sh");
    for (name, value) in thumbwire().get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.args(["-c", command]).current_dir(place.0.path()).stdin(Stdio::null());
    let output = shell.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{command}: {said}");
    assert!(said.contains("Resuming after step 3") && said.contains("O'Neill"), "{said}");
    assert!(said.contains("nobody can be asked"), "{said}");
    assert_eq!(last_line(&run)["status"], "FAIL");
}

#[test]
fn no_is_final_also_by_other_ways_and_after_a_resume() {
    let place = Place::new();
    let mut at = AtTerminal::start(place.command(&[&OUT[..], &["--max-steps", "5"]].concat()));
    at.wait_for("Go ahead?");
    at.types("no\n");
    let (code, shown) = at.end();
    assert_eq!(code, Some(4), "{shown}");
    assert_eq!(joined(&shown).matches("Go ahead?").count(), 1, "{shown}");
    assert!(joined(&shown).contains("the user has refused this before"), "{shown}");
    let resume = shown.lines().find_map(|line| line.strip_prefix("Resume with: ")).unwrap();
    assert!(resume.contains("--max-steps 10"), "the limit is raised: {resume}");
    // The same script once more, in a resumed run: nobody is asked.
    let name = place.run().display().to_string();
    let at = AtTerminal::start(place.command(&["--resume", &name, "--max-steps", "20"]));
    let (code, shown) = at.end();
    assert_eq!(code, Some(1), "{shown}");
    assert!(!shown.contains("Go ahead?"), "{shown}");
    assert!(joined(&shown).contains("the user has refused this before"), "{shown}");
}

#[test]
fn yes_at_the_terminal_is_an_approval() {
    let place = Place::new();
    let mut at = AtTerminal::start(place.command(&OUT));
    at.wait_for("Go ahead?");
    at.types("yes\n");
    let (_, shown) = at.end();
    assert!(joined(&shown).contains("✓ click_control 4 \"Send link\""), "{shown}");
}

#[test]
fn run_that_must_not_ask_prints_no_question() {
    let modes: [&[&str]; 3] = [&[], &["--json"], &["--quiet", "--confirm", "always"]];
    for more in modes {
        let place = Place::new();
        let at =
            AtTerminal::start(place.command(&[&OUT[..], &["--non-interactive"], more].concat()));
        let (code, shown) = at.end();
        assert_eq!(code, Some(1), "{shown}");
        assert!(!shown.contains("Go ahead?") && !shown.contains("user_asked"), "{more:?}: {shown}");
        assert!(
            more.contains(&"--quiet") || joined(&shown).contains("nobody can be asked"),
            "{shown}"
        );
    }
}

/// A question for a secret has the terminal's echo off.
#[test]
fn interrupt_at_a_hidden_question_shows_typing_again() {
    let place = Place::new();
    let mut at = AtTerminal::start(place.command(&["--secret", "PIN"]));
    at.wait_for("Secret PIN (input is hidden): ");
    while at.echoes() {
        std::thread::yield_now();
    }
    at.interrupt();
    while at.child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    assert!(at.echoes());
    let (code, shown) = at.end();
    assert_eq!(code, Some(130), "{shown}");
}

#[test]
fn configuration_is_changed_only_after_a_yes() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".cursor/mcp.json");
    let answer = |verb: &str, question: &str, typed: &str| {
        let mut command = thumbwire();
        command.env("HOME", home.path()).env_remove("XDG_CONFIG_HOME");
        command.args(["mcp", verb, "cursor"]);
        let mut program = AtTerminal::start(command);
        program.wait_for(&format!("? {question} ~/.cursor/mcp.json?"));
        program.types(typed);
        let (code, shown) = program.end();
        (code, shown.trim_end().lines().last().unwrap_or_default().to_owned())
    };
    // The end of input.
    let (code, last) = answer("install", "Write", "\u{4}");
    assert_eq!((code, file.exists()), (Some(2), false), "{last}");
    let refused = (Some(0), "nothing was changed".to_owned());
    assert_eq!(answer("install", "Write", "n\n"), refused);
    assert!(!file.exists());
    let (code, last) = answer("install", "Write", "y\n");
    assert!(code == Some(0) && last.contains("mcp uninstall cursor` takes it back"), "{last}");
    assert_eq!(answer("uninstall", "Delete", "y\n"), (Some(0), "deleted".to_owned()));
    assert!(!file.exists());
}
