//! Requests of the service `reverse:`: a host has the phone listen, and each client of that socket
//! becomes a stream to the host.
//!
//! Sockets are named `tcp:8080`, `localabstract:name` … Source: `handle_forward_request` in AOSP's
//! `adb.cpp`.

use crate::wire::MalformedMessage;

/// Limit on a socket name, in bytes: the longest path on Linux.
const MAX_NAME: usize = 4096;

/// A host's request: the text after `reverse:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request {
    /// Listen.
    Forward {
        /// The phone's socket; `tcp:0` lets the phone choose a port.
        listen: String,
        /// The host's name for the other end.
        target: String,
        /// Whether to replace an existing forward on `listen`; otherwise that is refused.
        rebind: bool,
    },
    /// Stop listening.
    Kill {
        /// The phone's socket.
        listen: String,
    },
    /// Stop listening on all sockets, for all hosts.
    KillAll,
    /// List the sockets, of all hosts.
    List,
}

impl Request {
    /// Parses a request.
    ///
    /// # Errors
    /// Not one of the four; or a name is missing, too long, or contains `;` or a NUL; or the target
    /// starts with `*`, which adb reserves. The messages are AOSP's.
    pub(super) fn read(text: &str) -> Result<Self, MalformedMessage> {
        match text {
            "list-forward" => return Ok(Self::List),
            "killforward-all" => return Ok(Self::KillAll),
            _ => {}
        }
        if let Some(listen) = text.strip_prefix("killforward:") {
            if !is_name(listen) {
                return Err(MalformedMessage(format!("bad killforward: {listen}")));
            }
            return Ok(Self::Kill { listen: listen.to_owned() });
        }
        let Some(rest) = text.strip_prefix("forward:") else {
            return Err(MalformedMessage(format!("unknown forward request {text:?}")));
        };
        let (rebind, names) = match rest.strip_prefix("norebind:") {
            Some(names) => (false, names),
            None => (true, rest),
        };
        let (listen, target) = names.split_once(';').unwrap_or_default();
        if !is_name(listen) || !is_name(target) || target.starts_with('*') {
            return Err(MalformedMessage(format!("bad forward: {names}")));
        }
        Ok(Self::Forward { listen: listen.to_owned(), target: target.to_owned(), rebind })
    }
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && !name.contains([';', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_are_parsed() {
        let check = |text: &str, expected: Request| {
            assert_eq!(Request::read(text), Ok(expected));
        };
        let forward = |listen: &str, target: &str, rebind: bool| Request::Forward {
            listen: listen.into(),
            target: target.into(),
            rebind,
        };
        check("forward:tcp:0;localabstract:a b", forward("tcp:0", "localabstract:a b", true));
        check("forward:norebind:tcp:1;tcp:2", forward("tcp:1", "tcp:2", false));
        check("killforward:tcp:1", Request::Kill { listen: "tcp:1".into() });
        check("killforward-all", Request::KillAll);
        check("list-forward", Request::List);
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

    proptest! {
        #[test]
        fn any_text_parses_or_fails(
            text in "(forward:|norebind:|killforward|-all|list-|[a-z:;*\\x00 ü]){0,8}",
        ) {
            let _ = Request::read(&text);
        }
    }
}
