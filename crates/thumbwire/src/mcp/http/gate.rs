//! Who is let in: requests that were meant for this server, from programs of this computer that hold the token.
//!
//! A web page may make a browser send requests to loopback. Its address stands in `Origin`; and when it let its own
//! name point to 127.0.0.1 (DNS rebinding), that name stands in `Host`. MCP demands both checks (2025-06-18,
//! transports, security warning). rmcp has checks of its own, which are off: these are stricter, and tested here.

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use std::net::IpAddr;

use super::Access;
use super::refusal::Refusal;

/// The checks of one server.
#[derive(Debug)]
pub(super) struct Gate {
    port: u16,
    access: Access,
}

impl Gate {
    /// Of a server that listens on this port.
    pub(super) fn new(port: u16, access: Access) -> Self {
        Self { port, access }
    }

    /// Refuses what was meant for another server, or comes from a web page of another computer.
    pub(super) fn check_address(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = match only(headers, &HOST) {
            One::Value(host) => host.to_str().ok().and_then(authority),
            One::None => return Err(Refusal::bad_request("Bad Request: there is no Host header")),
            One::Several => None,
        };
        let ours = |authority: &Authority| {
            is_loopback(authority) && authority.port_u16().is_none_or(|port| port == self.port)
        };
        // A request to a proxy names its server in the first line as well.
        if !host.is_some_and(|host| ours(&host)) || !uri.authority().is_none_or(ours) {
            return Err(forbidden(format!(
                "Forbidden: Host must be localhost:{port} or 127.0.0.1:{port}",
                port = self.port
            )));
        }
        let origin = match only(headers, &ORIGIN) {
            One::None => return Ok(()),
            One::Value(origin) => origin.to_str().ok().and_then(|origin| {
                let (scheme, rest) = origin.split_once("://")?;
                scheme.eq_ignore_ascii_case("http").then(|| authority(rest))?
            }),
            One::Several => None,
        };
        if !origin.is_some_and(|origin| is_loopback(&origin)) {
            return Err(forbidden("Forbidden: web pages of other computers are not served"));
        }
        Ok(())
    }

    /// Refuses who does not hold the token.
    pub(super) fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Access::Token(token) = &self.access else { return Ok(()) };
        let One::Value(shown) = only(headers, &AUTHORIZATION) else {
            return Err(Refusal::no_token());
        };
        let shown = shown.as_bytes();
        // The scheme's name is in any case (RFC 9110, section 11.1).
        let is_bearer = shown.get(..7).is_some_and(|it| it.eq_ignore_ascii_case(b"bearer "));
        let secret = shown.get(7..).unwrap_or_default().trim_ascii();
        if is_bearer && token.is(secret) { Ok(()) } else { Err(Refusal::no_token()) }
    }
}

fn forbidden(words: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, words)
}

/// A header that may stand there once.
enum One<'a> {
    None,
    Value(&'a HeaderValue),
    Several,
}

fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> One<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => One::None,
        (Some(value), None) => One::Value(value),
        (Some(_), Some(_)) => One::Several,
    }
}

/// A host with or without a port, and nothing else: no user, no path.
fn authority(text: &str) -> Option<Authority> {
    let plain = !text.contains(['@', '/', '?', '#']) && !text.ends_with(':');
    plain.then(|| Authority::try_from(text).ok())?
}

fn is_loopback(authority: &Authority) -> bool {
    let host = authority.host();
    let address = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
    let is = |address: IpAddr| address.to_canonical().is_loopback();
    host.eq_ignore_ascii_case("localhost") || address.parse().is_ok_and(is)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::Token;

    fn status(gate: &Gate, uri: &str, headers: &[(HeaderName, &str)]) -> u16 {
        let headers: HeaderMap = headers.iter().fold(HeaderMap::new(), |mut all, (name, value)| {
            all.append(name, HeaderValue::from_str(value).unwrap());
            all
        });
        let uri: Uri = uri.parse().unwrap();
        let passed = gate.check_address(&uri, &headers).and_then(|()| gate.check_token(&headers));
        passed.map_or_else(|refusal| refusal.into_response().status().as_u16(), |()| 200)
    }

    #[test]
    fn a_name_that_points_to_loopback_is_no_name_of_ours() {
        let gate = Gate::new(8080, Access::Everyone);
        let ours = [
            "localhost:8080",
            "localhost",
            "LocalHost:8080",
            "127.0.0.1:8080",
            "127.0.0.1",
            "127.9.9.9:8080",
            "[::1]:8080",
            "[::1]",
            "[::ffff:127.0.0.1]:8080",
        ];
        for host in ours {
            assert_eq!(status(&gate, "/mcp", &[(HOST, host)]), 200, "{host}");
        }
        let foreign = [
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example:8080",
            "127.0.0.1.evil.example",
            "localhost:8081",
            "localhost:80",
            "localhost:",
            "localhost:8080:8080",
            "0.0.0.0:8080",
            "192.168.1.2:8080",
            "[::]:8080",
            "127.1:8080",
            "2130706433:8080",
            "user@localhost:8080",
            "localhost:8080@evil.example",
            "localhost,evil.example",
            "localhost/evil.example",
            "",
            " ",
            "::1",
        ];
        for host in foreign {
            assert_eq!(status(&gate, "/mcp", &[(HOST, host)]), 403, "{host:?}");
        }
        assert_eq!(status(&gate, "/mcp", &[]), 400, "none at all");
        let twice = [(HOST, "localhost:8080"), (HOST, "evil.example")];
        assert_eq!(status(&gate, "/mcp", &twice), 403, "the second one counts too");
        let local = [(HOST, "localhost:8080")];
        assert_eq!(status(&gate, "http://evil.example/mcp", &local), 403, "a proxy's request");
        assert_eq!(status(&gate, "http://localhost:8080/mcp", &local), 200);
    }

    #[test]
    fn a_web_page_of_another_computer_is_refused() {
        let gate = Gate::new(8080, Access::Everyone);
        let from = |origin| status(&gate, "/mcp", &[(HOST, "localhost:8080"), (ORIGIN, origin)]);
        for origin in
            ["http://localhost", "http://localhost:6274", "http://127.0.0.1:8080", "HTTP://[::1]:1"]
        {
            assert_eq!(from(origin), 200, "{origin}");
        }
        let foreign = [
            "http://evil.example",
            "https://evil.example",
            "http://evil.example:8080",
            "null",
            "",
            "file://",
            "http://",
            "https://localhost:8080",
            "http://localhost.evil.example",
            "http://localhost@evil.example",
            "http://evil.example/localhost",
            "http://localhost/",
            "http://localhost http://evil.example",
            "localhost",
            "chrome-extension://abcdef",
            "http://192.168.1.2:8080",
        ];
        for origin in foreign {
            assert_eq!(from(origin), 403, "{origin:?}");
        }
        let twice = [
            (HOST, "localhost:8080"),
            (ORIGIN, "http://localhost"),
            (ORIGIN, "http://evil.example"),
        ];
        assert_eq!(status(&gate, "/mcp", &twice), 403);
    }

    #[test]
    fn only_the_token_opens_and_its_scheme_is_in_any_case() {
        let token = Token::generate().unwrap();
        let text = token.reveal().to_owned();
        let gate = Gate::new(8080, Access::Token(token));
        let shown =
            |value: &str| status(&gate, "/mcp", &[(HOST, "localhost"), (AUTHORIZATION, value)]);
        for good in [format!("Bearer {text}"), format!("bearer {text}"), format!("BEARER  {text}")]
        {
            assert_eq!(shown(&good), 200, "{good}");
        }
        let bad = [
            String::new(),
            text.clone(),
            format!("Basic {text}"),
            format!("Bearer{text}"),
            "Bearer ".into(),
            "Bearer".into(),
            format!("Bearer {}", &text[..20]),
            format!("Bearer {text}A"),
            format!("Bearer {text},Bearer {text}"),
        ];
        for bad in bad {
            assert_eq!(shown(&bad), 401, "{bad}");
        }
        assert_eq!(status(&gate, "/mcp", &[(HOST, "localhost")]), 401);
        let right = format!("Bearer {text}");
        let twice =
            [(HOST, "localhost"), (AUTHORIZATION, "Bearer x"), (AUTHORIZATION, right.as_str())];
        assert_eq!(status(&gate, "/mcp", &twice), 401);
    }
}
