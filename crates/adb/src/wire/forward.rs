//! Forward requests and lists of an adb server (`forward:`) and of adbd (`reverse:`).
//!
//! The keeper of a forward listens on one socket and connects each client to another one at the other end of the wire.
//! Sockets are named `tcp:8080`, `localabstract:name` … Source: `handle_forward_request` in AOSP's `adb.cpp`,
//! `format_listeners` in its `adb_listeners.cpp`.

use std::fmt;

use super::MalformedMessage;

/// Limit on a socket name, in bytes: the longest path on Linux.
const MAX_NAME: usize = 4096;

/// A forward request: the text after `host:` or `reverse:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Create a forward.
    Forward {
        /// The socket to listen on; `tcp:0` lets the listening side choose a port.
        listen: String,
        /// The socket to connect to, at the other end.
        target: String,
        /// Whether to replace an existing forward on `listen`; otherwise that is refused.
        rebind: bool,
    },
    /// Remove a forward.
    Kill {
        /// The socket that it listens on.
        listen: String,
    },
    /// Remove all forwards, of all phones.
    KillAll,
    /// List all forwards, of all phones.
    List,
}

impl Request {
    /// Parses a host's request.
    ///
    /// # Errors
    /// Not one of the four, or a name is missing. The messages are AOSP's.
    pub fn read(text: &str) -> Result<Self, MalformedMessage> {
        match text {
            "list-forward" => return Ok(Self::List),
            "killforward-all" => return Ok(Self::KillAll),
            _ => {}
        }
        if let Some(listen) = text.strip_prefix("killforward:") {
            let request = Self::Kill { listen: listen.to_owned() };
            return request
                .checked()
                .map_err(|_| MalformedMessage(format!("bad killforward: {listen}")));
        }
        let Some(rest) = text.strip_prefix("forward:") else {
            return Err(MalformedMessage(format!("unknown forward request {text:?}")));
        };
        let (rebind, names) = match rest.strip_prefix("norebind:") {
            Some(names) => (false, names),
            None => (true, rest),
        };
        let (listen, target) = names.split_once(';').unwrap_or_default();
        let request =
            Self::Forward { listen: listen.to_owned(), target: target.to_owned(), rebind };
        request.checked().map_err(|_| MalformedMessage(format!("bad forward: {names}")))
    }

    /// The request, if the wire format can express its names.
    ///
    /// # Errors
    /// A name is empty, longer than 4096 bytes, or contains `;` or a NUL; or the target starts with `*`, which adb
    /// reserves.
    pub fn checked(self) -> Result<Self, MalformedMessage> {
        let plain =
            |name: &str| (1..=MAX_NAME).contains(&name.len()) && !name.contains([';', '\0']);
        let fits = match &self {
            Self::Forward { listen, target, .. } => {
                plain(listen) && plain(target) && !target.starts_with('*')
            }
            Self::Kill { listen } => plain(listen),
            Self::KillAll | Self::List => true,
        };
        if fits { Ok(self) } else { Err(MalformedMessage(format!("{:?}", self.to_string()))) }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forward { listen, target, rebind } => {
                let norebind = if *rebind { "" } else { "norebind:" };
                write!(out, "forward:{norebind}{listen};{target}")
            }
            Self::Kill { listen } => write!(out, "killforward:{listen}"),
            Self::KillAll => out.write_str("killforward-all"),
            Self::List => out.write_str("list-forward"),
        }
    }
}

/// One line of the list: `SERIAL LISTEN TARGET`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// The phone, as named by the keeper of the list. adbd calls its host `host-19`, `UsbFfs` or `(reverse)`.
    pub serial: String,
    /// The socket that the keeper listens on.
    pub listen: String,
    /// The socket at the other end.
    pub target: String,
}

impl fmt::Display for Forward {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{} {} {}", self.serial, self.listen, self.target)
    }
}

/// Parses the list. A serial may contain spaces; names are assumed not to. Lines with fewer than three words are
/// skipped.
pub fn read_list(text: &str) -> Vec<Forward> {
    text.lines().filter_map(read_line).collect()
}

fn read_line(line: &str) -> Option<Forward> {
    let (rest, target) = line.trim().rsplit_once(' ')?;
    let (serial, listen) = rest.trim().rsplit_once(' ')?;
    let owned = str::to_owned;
    Some(Forward { serial: owned(serial.trim()), listen: owned(listen), target: owned(target) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn forward(listen: &str, target: &str, rebind: bool) -> Request {
        Request::Forward { listen: listen.into(), target: target.into(), rebind }
    }

    #[test]
    fn requests_format_and_parse() {
        let check = |request: Request, expected: &str| {
            assert_eq!(request.to_string(), expected);
            assert_eq!(Request::read(expected), Ok(request));
        };
        check(forward("tcp:0", "localabstract:a b", true), "forward:tcp:0;localabstract:a b");
        check(forward("tcp:1", "tcp:2", false), "forward:norebind:tcp:1;tcp:2");
        check(Request::Kill { listen: "tcp:1".into() }, "killforward:tcp:1");
        check(Request::KillAll, "killforward-all");
        check(Request::List, "list-forward");
    }

    #[test]
    fn malformed_requests_get_adbs_messages() {
        let check = |text: &str, expected: &str| {
            assert_eq!(Request::read(text).unwrap_err().0, expected);
        };
        check("forward:tcp:1", "bad forward: tcp:1");
        check("forward:norebind:tcp:1;", "bad forward: tcp:1;");
        check("forward:;tcp:1", "bad forward: ;tcp:1");
        check("forward:tcp:1;tcp:2;tcp:3", "bad forward: tcp:1;tcp:2;tcp:3");
        check("forward:tcp:1;*smartsocket*", "bad forward: tcp:1;*smartsocket*");
        check("killforward:", "bad killforward: ");
        check("killforward:a;b", "bad killforward: a;b");
        let long = format!("tcp:1;{}", "x".repeat(MAX_NAME + 1));
        check(&format!("forward:{long}"), &format!("bad forward: {long}"));
        check("pair:1", "unknown forward request \"pair:1\"");
    }

    #[test]
    fn list_parses_with_any_serial() {
        let text = "emulator-5554 tcp:6100 tcp:7100\n\
                    My Phone (2) tcp:9000 localabstract:scrcpy\n\
                    (reverse) tcp:8081 tcp:8081\nhalf tcp:1\n\n";
        let read: Vec<String> = read_list(text)
            .into_iter()
            .map(|forward| format!("{}|{}|{}", forward.serial, forward.listen, forward.target))
            .collect();
        assert_eq!(
            read,
            [
                "emulator-5554|tcp:6100|tcp:7100",
                "My Phone (2)|tcp:9000|localabstract:scrcpy",
                "(reverse)|tcp:8081|tcp:8081"
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_parses_or_fails(text in "(forward:|norebind:|killforward|-all|list-|[a-z:;*\\x00 ü]){0,8}") {
            if let Ok(request) = Request::read(&text) {
                prop_assert_eq!(Request::read(&request.to_string()), Ok(request));
            }
            let _ = read_list(&text);
        }

        #[test]
        fn line_round_trips(serial in "[!-~]([ -~]{0,10}[!-~])?", listen in "[!-~]{1,9}", target in "[!-~]{1,9}") {
            let forward = Forward { serial, listen, target };
            prop_assert_eq!(read_list(&forward.to_string()), [forward]);
        }
    }
}
