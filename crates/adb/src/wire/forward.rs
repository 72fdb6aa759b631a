//! Forwards, as an adb server (`forward:`) and an adbd (`reverse:`) keep them: what is asked, and
//! the list.
//!
//! Whoever keeps a forward listens at one place and leads what connects there to another, at the
//! other end of the wire. Places are named `tcp:8080`, `localabstract:name` … Source:
//! `handle_forward_request` in AOSP's `adb.cpp`, `format_listeners` in its `adb_listeners.cpp`.

use std::fmt;

use super::Malformed;

/// The longest name of a place, in bytes: that of a path on Linux.
const MAX_NAME: usize = 4096;

/// What is asked of whoever keeps forwards: the text after `host:` or `reverse:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Listen, and lead on.
    Forward {
        /// Where to listen; `tcp:0` lets the listening side choose.
        listen: String,
        /// Where to, at the other end.
        target: String,
        /// Whether a forward that listens there already is led anew; it is refused otherwise.
        rebind: bool,
    },
    /// Listen there no longer.
    Kill {
        /// Where it listens.
        listen: String,
    },
    /// End all forwards, of all phones.
    KillAll,
    /// Tell of all forwards, of all phones.
    List,
}

impl Request {
    /// Reads what a host asks.
    ///
    /// # Errors
    /// It is none of the four, or a name in it is missing; the text is AOSP's.
    pub fn read(text: &str) -> Result<Self, Malformed> {
        match text {
            "list-forward" => return Ok(Self::List),
            "killforward-all" => return Ok(Self::KillAll),
            _ => {}
        }
        if let Some(listen) = text.strip_prefix("killforward:") {
            let request = Self::Kill { listen: listen.to_owned() };
            return request.checked().map_err(|_| Malformed(format!("bad killforward: {listen}")));
        }
        let Some(rest) = text.strip_prefix("forward:") else {
            return Err(Malformed(format!("unknown forward request {text:?}")));
        };
        let (rebind, names) = match rest.strip_prefix("norebind:") {
            Some(names) => (false, names),
            None => (true, rest),
        };
        let (listen, target) = names.split_once(';').unwrap_or_default();
        let request =
            Self::Forward { listen: listen.to_owned(), target: target.to_owned(), rebind };
        request.checked().map_err(|_| Malformed(format!("bad forward: {names}")))
    }

    /// The request, if its names can be told apart on the wire.
    ///
    /// # Errors
    /// A name is empty, longer than 4096 bytes, or holds `;` or a NUL; or the target begins with
    /// `*`, which is adb's own.
    pub fn checked(self) -> Result<Self, Malformed> {
        let plain =
            |name: &str| (1..=MAX_NAME).contains(&name.len()) && !name.contains([';', '\0']);
        let fits = match &self {
            Self::Forward { listen, target, .. } => {
                plain(listen) && plain(target) && !target.starts_with('*')
            }
            Self::Kill { listen } => plain(listen),
            Self::KillAll | Self::List => true,
        };
        if fits { Ok(self) } else { Err(Malformed(format!("{:?}", self.to_string()))) }
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
    /// The phone, as the keeper of the list calls it. An adbd calls its host `host-19`, `UsbFfs` or
    /// `(reverse)`.
    pub serial: String,
    /// Where the keeper listens.
    pub listen: String,
    /// Where it leads, at the other end.
    pub target: String,
}

impl fmt::Display for Forward {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{} {} {}", self.serial, self.listen, self.target)
    }
}

/// Reads the list. A serial may hold spaces, names are taken to hold none. Lines with fewer than
/// three words are passed over.
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
    fn requests_are_these_texts_and_read_back() {
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
    fn what_names_no_two_places_is_refused_in_the_words_of_adb() {
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
    fn a_list_is_read_whatever_a_serial_holds() {
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
        fn any_text_is_read_or_refused(text in "(forward:|norebind:|killforward|-all|list-|[a-z:;*\\x00 ü]){0,8}") {
            if let Ok(request) = Request::read(&text) {
                prop_assert_eq!(Request::read(&request.to_string()), Ok(request));
            }
            let _ = read_list(&text);
        }

        #[test]
        fn a_line_reads_back(serial in "[!-~]([ -~]{0,10}[!-~])?", listen in "[!-~]{1,9}", target in "[!-~]{1,9}") {
            let forward = Forward { serial, listen, target };
            prop_assert_eq!(read_list(&forward.to_string()), [forward]);
        }
    }
}
