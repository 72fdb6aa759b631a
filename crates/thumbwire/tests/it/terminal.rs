//! Text of phones on a terminal: no verb prints a raw control character, and JSON stays what it is.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Output;

use serde_json::Value;
use thumbwire_base::visible::{has_hidden, visible};

use crate::support::thumbwire;

/// What clears the screen, sets the title, rings, turns text and hides a letter.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{200b}\u{e0041}";
const ESCAPED: &str = "\\u001b[2J\\u001b]0;owned\\u0007\\u009b31m\\u202e\\u200b\\udb40\\udc41";

fn printed(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8(text).unwrap()
}

fn check_plain(text: &str) {
    assert!(!has_hidden(text), "{text:?}");
}

/// A file with a dump in which an app's label is hostile.
fn dump() -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(
        file,
        "<?xml version='1.0'?><hierarchy rotation=\"0\"><node text=\"a{HOSTILE}z\" class=\"android.widget.Button\" clickable=\"true\" bounds=\"[0,0][9,9]\"/></hierarchy>"
    )
    .unwrap();
    file
}

#[test]
fn hostile_label_does_not_control_the_terminal() {
    let file = dump();
    let path = file.path().to_str().unwrap();
    let output = thumbwire().args(["screen", "--file", path]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
    check_plain(&printed(&output));
    let json = thumbwire().args(["screen", "--json", "--file", path]).output().unwrap();
    check_plain(&printed(&json));
    let read: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(read["nodes"][0]["text"], format!("a{HOSTILE}z"));
}

/// An adb server that answers one request with this device list.
fn adb_server(list: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut digits = [0; 4];
        socket.read_exact(&mut digits).unwrap();
        let length = usize::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap();
        let mut request = vec![0; length];
        socket.read_exact(&mut request).unwrap();
        write!(socket, "OKAY{:04x}{list}", list.len()).unwrap();
    });
    address
}

#[test]
fn hostile_serial_does_not_control_the_terminal() {
    let list = format!("{HOSTILE}    device usb:1-1 model:A{HOSTILE} transport_id:1\n");
    let devices = |arguments: &[&str]| {
        let socket = format!("tcp:{}", adb_server(list.clone()));
        thumbwire().args(arguments).env("ADB_SERVER_SOCKET", socket).output().unwrap()
    };
    let text = printed(&devices(&["devices"]));
    check_plain(&text);
    assert!(text.starts_with(ESCAPED), "{text}");
    let json = devices(&["devices", "--json"]);
    let read: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(read[0]["id"], HOSTILE, "{read}");
}

#[test]
fn hostile_text_in_an_error_does_not_control_the_terminal() {
    let call = ["call", "mobile_get_device_info", "--device", HOSTILE];
    let nobody = "tcp:127.0.0.1:9";
    let output = thumbwire().args(call).env("ADB_SERVER_SOCKET", nobody).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", printed(&output));
    let text = printed(&output);
    check_plain(&text);
    assert!(text.contains(&*visible(HOSTILE)), "{text}");
}
