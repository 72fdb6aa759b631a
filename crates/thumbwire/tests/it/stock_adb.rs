//! A stock `adb` server between us and our own phones: which phones exist, and which one is meant.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Output, Stdio};
use thumbwire_test_support::PrivateAdb;

use crate::support::thumbwire;

/// A private adb server; it ends with the test.
pub(crate) struct Stock {
    server: PrivateAdb,
}

impl Stock {
    /// `None`, with a message, if adb is not installed.
    pub(crate) fn start() -> Option<Self> {
        PrivateAdb::start().map(|server| Self { server })
    }

    pub(crate) fn port(&self) -> String {
        self.server.port().to_string()
    }

    pub(crate) fn adb(&self, arguments: &[&str]) -> Output {
        self.server.run(arguments)
    }

    /// Runs our program with this server; returns its output on both streams, and its exit code.
    pub(crate) fn thumbwire(&self, arguments: &[&str]) -> (String, Option<i32>) {
        let mut command = thumbwire();
        command.env("ANDROID_ADB_SERVER_PORT", self.port()).args(arguments);
        command.env("XDG_STATE_HOME", self.server.home());
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (String::from_utf8(text).unwrap(), output.status.code())
    }
}

/// `thumbwire phone` as a separate process.
pub(crate) struct Phone {
    process: Child,
    pub(crate) address: String,
    said: BufReader<ChildStdout>,
}

impl Phone {
    pub(crate) fn start(seed: &str) -> Self {
        Self::made(&["--seed", seed])
    }

    fn made(arguments: &[&str]) -> Self {
        let mut command = thumbwire();
        command.args(["phone", "--listen", "127.0.0.1:0", "--clock", "virtual"]).args(arguments);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = piped.spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut first = String::new();
        output.read_line(&mut first).unwrap();
        let address = first.split("listens on ").nth(1).unwrap();
        Self { address: address.split(';').next().unwrap().to_owned(), process, said: output }
    }

    /// Reads its output up to a line that starts with `beginning`.
    fn until(&mut self, beginning: &str) -> String {
        let mut line = String::new();
        while !line.starts_with(beginning) {
            line.clear();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "it never printed {beginning:?}");
        }
        line
    }
}

impl Drop for Phone {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn single_phone_is_selected_and_two_are_ambiguous() {
    let Some(stock) = Stock::start() else { return };
    assert!(stock.thumbwire(&["devices"]).0.starts_with("No phone is connected"));

    let one = Phone::start("1");
    stock.adb(&["connect", &one.address]);
    let listed = format!("{}  Android  Virtual Pixel  device\n", one.address);
    let (all, code) = stock.thumbwire(&["devices"]);
    assert!(all.starts_with(&listed) && code == Some(0), "{all}");
    let home = ["call", "mobile_press_key", r#"{"key":"home"}"#];
    assert_eq!(stock.thumbwire(&home), ("Pressed home\n".into(), Some(0)));
    let (tree, _) = stock.thumbwire(&["call", "mobile_get_accessibility_tree"]);
    assert!(tree.contains("\"Maps\" e"), "{tree}");

    let two = Phone::start("2");
    stock.adb(&["connect", &two.address]);
    let (words, code) = stock.thumbwire(&home);
    assert_eq!(code, Some(3), "{words}");
    for named in [one.address.as_str(), two.address.as_str(), "--device ID"] {
        assert!(words.contains(named), "{named} is not named: {words}");
    }
    let chosen = [&home[..], &["--device", &two.address]].concat();
    assert_eq!(stock.thumbwire(&chosen), ("Pressed home\n".into(), Some(0)));
}

#[test]
fn server_and_direct_connections_give_equal_replies() {
    let Some(stock) = Stock::start() else { return };
    let story = [
        ("mobile_launch_app", r#"{"bundle_id":"com.google.android.apps.maps"}"#),
        ("mobile_tap_element", r#"{"text":"Search here"}"#),
        ("mobile_type_keys", r#"{"text":"it's; $(reboot) %s"}"#),
        ("mobile_get_accessibility_tree", "{}"),
        ("mobile_take_screenshot", "{}"),
        ("mobile_launch_app", r#"{"bundle_id":"com.example.nope"}"#),
    ];
    let out = |android: &str, connect: bool| {
        let phone = Phone::made(&["--seed", "7", "--android", android]);
        if connect {
            stock.adb(&["connect", &phone.address]);
        }
        story.map(|(tool, arguments)| {
            stock.thumbwire(&["call", tool, arguments, "--json", "--device", &phone.address])
        })
    };
    for android in ["14", "4.4"] {
        let (through, straight) = (out(android, true), out(android, false));
        assert!(through[3].0.contains("it's; $(reboot) %s"), "{android}: {}", through[3].0);
        for ((through, straight), (tool, _)) in through.iter().zip(&straight).zip(story) {
            assert_eq!(through, straight, "{tool} on Android {android}");
        }
    }
}

#[test]
fn phone_is_unauthorized_until_its_user_accepts_the_key() {
    let Some(stock) = Stock::start() else { return };
    let mut phone = Phone::made(&["--require-auth"]);
    stock.adb(&["connect", &phone.address]);
    phone.until("Allow USB debugging by ");
    let (listed, _) = stock.thumbwire(&["devices"]);
    assert!(listed.contains("unauthorized\n"), "{listed}");
    assert!(listed.contains("  Next: accept the USB debugging prompt"), "{listed}");
    let tap = ["call", "mobile_press_key", r#"{"key":"home"}"#, "--device", &phone.address];
    let (words, code) = stock.thumbwire(&tap);
    assert_eq!(code, Some(3), "{words}");
    assert!(words.contains("has not authorized this computer"), "{words}");

    phone.process.stdin.as_mut().unwrap().write_all(b"y\n").unwrap();
    stock.adb(&["-s", &phone.address, "wait-for-device"]);
    assert_eq!(stock.thumbwire(&tap), ("Pressed home\n".into(), Some(0)));
    // Its key is remembered: nobody is asked again.
    stock.adb(&["disconnect", &phone.address]);
    stock.adb(&["connect", &phone.address]);
    assert_eq!(stock.thumbwire(&tap), ("Pressed home\n".into(), Some(0)));
}
