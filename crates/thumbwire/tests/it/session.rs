//! The short verbs and the process behind them: refs that last, two terminals, and what happens
//! when that process is killed, hangs or is another program.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use regex_lite::Regex;
use serde_json::{Value, json};

use crate::support::thumbwire;

/// A user with a session of their own, which ends with the test.
pub(crate) struct User {
    home: tempfile::TempDir,
}

/// What a command printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: Option<i32>,
}

impl From<Output> for Printed {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { out: text(output.stdout), err: text(output.stderr), code: output.status.code() }
    }
}

impl User {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = thumbwire();
        command.env("XDG_RUNTIME_DIR", self.home.path()).env("XDG_STATE_HOME", self.home.path());
        command.current_dir(self.home.path()).args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Printed {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs a command that succeeds, and returns what it prints.
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let printed = self.run(arguments);
        assert_eq!((printed.code, &*printed.err), (Some(0), ""), "{arguments:?}: {printed:?}");
        printed.out
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("thumbwire")
    }

    fn socket(&self) -> PathBuf {
        self.folder().join("socket")
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.done(&["session", "--json"])).unwrap()
    }

    fn process(&self) -> u64 {
        self.status()["process"].as_u64().unwrap()
    }

    fn make_folder(&self) {
        fs::create_dir(self.folder()).unwrap();
        fs::set_permissions(self.folder(), fs::Permissions::from_mode(0o700)).unwrap();
    }

    /// Listens in place of a session.
    fn listen(&self) -> UnixListener {
        self.make_folder();
        UnixListener::bind(self.socket()).unwrap()
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = self.run(&["session", "end"]);
    }
}

fn signal(process: u64, signal: &str) {
    let process = process.to_string();
    assert!(Command::new("kill").args(["-s", signal, &process]).status().unwrap().success());
}

/// Whether the process still runs; one whose exit nobody has read does not.
fn runs(process: u64) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat"));
    status.is_ok_and(|status| !status.rsplit(')').next().unwrap().starts_with(" Z"))
}

/// Waits until the process, which is about to end, has ended.
fn wait_for_end(process: u64) {
    while runs(process) {
        std::thread::yield_now();
    }
}

/// The ref of the line that has this text.
pub(crate) fn ref_of(list: &str, text: &str) -> String {
    let line = list.lines().find(|line| line.contains(&format!("\"{text}\"")));
    let line = line.unwrap_or_else(|| panic!("no {text:?} in {list}"));
    line.rsplit(' ').next().unwrap().to_owned()
}

/// The text with its refs numbered in the order in which they appear.
fn renumbered(text: &str) -> String {
    let mut numbers = BTreeMap::new();
    let mut out = String::new();
    let mut rest = 0;
    for found in Regex::new(r"\be[0-9]+\b").unwrap().find_iter(text) {
        let next = numbers.len() + 1;
        let number = *numbers.entry(found.as_str()).or_insert(next);
        let _ = write!(out, "{}e{number}", &text[rest..found.start()]);
        rest = found.end();
    }
    out + &text[rest..]
}

#[test]
fn a_short_session_reads_well() {
    let user = User::new();
    let mut transcript = String::new();
    let mut run = |arguments: &[&str]| {
        let Printed { out, err, code } = user.run(arguments);
        let words = arguments.iter().map(|word| match word.contains([' ', '\'']) {
            true => format!(" {word:?}"),
            false => format!(" {word}"),
        });
        let _ = writeln!(transcript, "$ thumbwire{}\n{out}{err}", words.collect::<String>());
        assert!(code == Some(0) || !err.is_empty(), "{arguments:?}");
        out
    };
    run(&["session"]);
    let list = run(&["look", "--device", "virtual"]);
    run(&["tap", &ref_of(&list, "Contacts")]);
    run(&["tap", "Create", "contact"]);
    run(&["do", "type Ada --into 'First name'", "type Lovelace --into 'Last name'", "tap Save"]);
    run(&["wait", "Ada Lovelace"]);
    run(&["look", "--changes"]);
    run(&["shot"]);
    run(&["shot"]);
    run(&["press", "back"]);
    run(&["launch", "Settings"]);
    run(&["scroll", "down"]);
    run(&["tap", "No such thing"]);
    run(&["do", "tap 5 7"]);
    run(&["session", "call", "mobile_get_current_app"]);
    run(&["session", "end"]);
    insta::assert_snapshot!("short_session", renumbered(&transcript));
    for picture in ["screenshot.png", "screenshot-2.png"] {
        let bytes = fs::read(user.home.path().join(picture)).unwrap();
        assert!(bytes.starts_with(b"\x89PNG"));
    }
}

#[test]
fn json_has_the_whole_result() {
    let user = User::new();
    let json = |arguments: &[&str]| -> Value {
        let printed = user.run(&[arguments, &["--json"]].concat());
        assert_eq!(printed.err, "");
        serde_json::from_str(&printed.out).unwrap()
    };
    let launched = json(&["launch", "Maps", "--device", "virtual"]);
    assert_eq!(launched["structuredContent"]["done"], "Launched com.google.android.apps.maps");
    assert_eq!(json(&["tap", "Nowhere"])["isError"], true);
    let status = json(&["session"]);
    assert_eq!((&status["device"], &status["calls"]), (&json!("virtual"), &json!(2)));
}

/// Both act on one screen of one phone, by refs from the first look: each tap hits the same place.
#[test]
fn a_thousand_calls_from_two_terminals_find_their_refs() {
    const EACH: usize = 500;
    let user = User::new();
    user.done(&["do", "launch Settings", "tap Display", "--device", "virtual"]);
    let list = user.done(&["look"]);
    let switches: Vec<(String, String)> = ["Adaptive brightness", "Auto-rotate screen"]
        .iter()
        .map(|name| ((*name).to_owned(), ref_of(&list, name)))
        .collect();
    std::thread::scope(|terminals| {
        for (name, element) in &switches {
            let user = &user;
            terminals.spawn(move || {
                let tap = || user.done(&["tap", element]).lines().next().unwrap().to_owned();
                let place = tap();
                for call in 1..EACH {
                    match call % 10 {
                        0 => assert_eq!(tap(), place, "{element}"),
                        _ => assert_eq!(ref_of(&user.done(&["look"]), name), *element),
                    }
                }
            });
        }
    });
    let status = user.status();
    assert_eq!(status["calls"], 2 * EACH + 2);
    let process = user.process();
    assert_eq!(user.done(&["session", "end"]), "the session has ended\n");
    wait_for_end(process);
    assert!(!user.socket().exists());
}

#[test]
fn commands_that_start_at_once_share_one_session() {
    let user = User::new();
    let started: Vec<_> = (0..8)
        .map(|_| {
            let mut look = user.command(&["look", "--device", "virtual"]);
            look.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in started {
        let printed = Printed::from(child.wait_with_output().unwrap());
        assert_eq!((printed.code, &*printed.err), (Some(0), ""), "{printed:?}");
    }
    assert_eq!(user.status()["calls"], 8);
}

#[test]
fn the_first_phone_stays_until_another_is_chosen() {
    let user = User::new();
    let front = |arguments: &[&str]| user.done(&[&["look"], arguments].concat());
    assert_eq!(user.run(&["look"]).code, Some(3), "there is none");
    let android = front(&["--device", "virtual"]);
    let ios = front(&["--device", "virtual-ios"]);
    assert_ne!(android, ios);
    assert_eq!(front(&[]).lines().next(), android.lines().next());
    user.done(&["session", "use", "virtual-ios"]);
    assert_eq!(front(&[]).lines().next(), ios.lines().next());
    assert_eq!(user.status()["device"], "virtual-ios");
}

#[test]
fn after_a_kill_the_next_command_says_that_refs_are_gone() {
    let user = User::new();
    let list = user.done(&["look", "--device", "virtual"]);
    let process = user.process();
    signal(process, "KILL");
    let tapped = user.run(&["tap", &ref_of(&list, "Maps"), "--device", "virtual"]);
    assert_eq!(tapped.code, Some(3), "{tapped:?}");
    assert!(
        tapped.err.contains("a new session: the one before was killed, and refs"),
        "{tapped:?}"
    );
    assert!(tapped.err.contains("no snapshot has been taken yet"), "{tapped:?}");
    assert_ne!(user.process(), process);
    let looked = user.run(&["look"]);
    assert_eq!((looked.code, &*looked.err), (Some(0), ""), "it is said once");
}

/// A killed process takes a call with it, and nothing is done twice.
#[test]
fn a_call_whose_session_is_killed_fails() {
    let user = User::new();
    user.done(&["look", "--device", "virtual"]);
    let process = user.process();
    let mut wait = user.command(&["wait", "No such thing", "--timeout", "60"]);
    let wait = wait.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while user.status()["calls"] != 2 {}
    signal(process, "KILL");
    let printed = Printed::from(wait.wait_with_output().unwrap());
    assert_eq!(printed.code, Some(1));
    assert!(printed.err.contains("ended before it answered; the action may have happened"));
}

#[test]
fn a_command_that_is_interrupted_ends_its_call() {
    let user = User::new();
    user.done(&["look", "--device", "virtual"]);
    let mut wait = user.command(&["wait", "No such thing", "--timeout", "60"]).spawn().unwrap();
    while user.status()["calls"] != 2 {}
    // Ctrl-C sends SIGINT, which programs in the background of a script ignore.
    signal(wait.id().into(), "TERM");
    wait.wait().unwrap();
    let process = user.process();
    assert_eq!(user.done(&["session", "end"]), "the session has ended\n");
    wait_for_end(process);
}

#[test]
fn a_hung_session_is_named_and_can_be_ended() {
    let user = User::new();
    user.done(&["look", "--device", "virtual"]);
    let process = user.process();
    signal(process, "STOP");
    let looked = user.run(&["look"]);
    assert_eq!(looked.code, Some(1));
    let expected = format!(
        "thumbwire: the session (process {process}) does not answer. End it with `thumbwire session end`, and call again\n"
    );
    assert_eq!(looked.err, expected);
    let ended = user.done(&["session", "end"]);
    assert_eq!(ended, "the session did not answer and was killed\n");
    wait_for_end(process);
    assert!(!user.socket().exists());
}

#[test]
fn a_ref_of_an_ended_session_names_nothing() {
    let user = User::new();
    let screen_text = || user.done(&["look", "--device", "virtual"]);
    let refs = |text: &str| -> Vec<u32> {
        let words = text.split_whitespace().filter_map(|word| word.strip_prefix('e'));
        words.filter_map(|number| number.parse().ok()).collect()
    };
    let before = screen_text();
    user.done(&["session", "end"]);
    let after = screen_text();
    let (last, first) = (refs(&before).into_iter().max(), refs(&after).into_iter().min());
    assert!(last.is_some() && last < first, "{before}{after}");
    let old = format!("e{}", last.unwrap());
    assert_eq!(user.run(&["tap", &old]).code, Some(3), "{old}");
}

#[test]
fn a_session_ends_by_itself() {
    let user = User::new();
    let mut serve = user.command(&["session", "serve", "--idle", "1"]);
    let mut serve = serve.stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(serve.stderr.take().unwrap()).lines();
    assert!(log.next().unwrap().unwrap().contains("the session is ready"));
    assert_eq!(user.process(), u64::from(serve.id()));
    let second = user.run(&["session", "serve"]);
    assert!(second.code == Some(1) && second.err.contains("a session runs already"), "{second:?}");
    assert!(serve.wait().unwrap().success());
    assert_eq!(user.status(), Value::Null);
    assert!(!user.socket().exists());
}

/// One line of `listener`'s next client, after this greeting.
fn greet(listener: &UnixListener, greeting: &str) -> String {
    let (mut stream, _) = listener.accept().unwrap();
    stream.write_all(greeting.as_bytes()).unwrap();
    let mut line = String::new();
    let _ = BufReader::new(stream).read_line(&mut line);
    line
}

#[test]
fn a_session_of_another_version_is_replaced() {
    let user = User::new();
    let listener = user.listen();
    let socket = user.socket();
    let older = std::thread::spawn(move || {
        let greeting = json!({ "thumbwire": "0.0.1", "settings": 0, "process": 1 });
        let request = greet(&listener, &format!("{greeting}\n"));
        fs::remove_file(socket).unwrap();
        request
    });
    let looked = user.run(&["look", "--device", "virtual"]);
    assert_eq!(older.join().unwrap(), "\"end\"\n");
    assert_eq!(looked.code, Some(0));
    assert!(looked.err.contains("the one of version 0.0.1 has ended, and refs"), "{looked:?}");
}

#[test]
fn other_settings_of_phones_are_noticed() {
    let user = User::new();
    user.done(&["look", "--device", "virtual"]);
    let mut look = user.command(&["look"]);
    let printed = Printed::from(look.env("ANDROID_ADB_SERVER_PORT", "10").output().unwrap());
    assert_eq!(printed.code, Some(1));
    assert!(printed.err.contains("was started with other settings of phones"), "{printed:?}");
}

#[test]
fn other_programs_at_the_socket_are_left_alone() {
    let user = User::new();
    let listener = user.listen();
    let server = std::thread::spawn(move || greet(&listener, "HTTP/1.1 400 Bad Request\n"));
    let looked = user.run(&["look"]);
    assert!(
        looked.err.contains("is not a session of yours: it does not greet as one"),
        "{looked:?}"
    );
    assert_eq!((server.join().unwrap(), looked.code), (String::new(), Some(1)));
    fs::remove_file(user.socket()).unwrap();
    fs::write(user.socket(), "mine").unwrap();
    let looked = user.run(&["look"]);
    assert!(looked.err.contains("is no socket"), "{looked:?}");
    assert_eq!(fs::read_to_string(user.socket()).unwrap(), "mine");
}

#[test]
fn a_folder_that_others_can_use_is_refused() {
    let user = User::new();
    user.make_folder();
    let refused = |reason: &str| {
        for arguments in [&["look"][..], &["session"], &["session", "end"], &["session", "serve"]] {
            let printed = user.run(arguments);
            assert_eq!(printed.code, Some(1), "{arguments:?}: {printed:?}");
            assert!(printed.err.contains(reason), "{arguments:?}: {printed:?}");
        }
    };
    fs::set_permissions(user.folder(), fs::Permissions::from_mode(0o755)).unwrap();
    refused("others can use it, too. Run `chmod 700 ");
    fs::set_permissions(user.folder(), fs::Permissions::from_mode(0o700)).unwrap();
    match std::os::unix::fs::chown(user.folder(), Some(65_534), None) {
        Ok(()) => refused("it belongs to another user"),
        Err(_) => println!("skipped: another user's folder, because this user is not root"),
    }
    let _ = std::os::unix::fs::chown(user.folder(), Some(0), None);
    fs::rename(user.folder(), user.home.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(Path::new("elsewhere"), user.folder()).unwrap();
    refused("it is not a folder");
}
