//! Access checks: accepts requests meant for this server, from programs on this computer that have
//! the token.
//!
//! A web page can make a browser send requests to loopback. Its origin is then in `Origin`; and if
//! its own name resolves to 127.0.0.1 (DNS rebinding), that name is in `Host`. MCP requires both
//! checks (2025-06-18, transports, security warning). rmcp's own checks are off: these are
//! stricter, and tested here.

use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;

use super::Access;
use super::rejection::Rejection;
use crate::grant::{Grant, Share};
use crate::http_token::NamedToken;
use crate::oauth::{Issuer, SCOPE_ACT};
use crate::tls::Tls;

/// The checks of one server.
#[derive(Debug)]
pub(super) struct AccessCheck {
    port: u16,
    access: Access,
    /// Whether clients come over TLS.
    is_secure: bool,
    /// Names of this server besides those of loopback.
    names: Names,
}

/// What other computers may call a server, besides the names of loopback.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Host names, and addresses without brackets.
    pub(super) given: Vec<String>,
    /// Its certificate, whose names count too.
    pub(super) certificate: Option<Arc<Tls>>,
}

impl Names {
    fn has(&self, authority: &Authority) -> bool {
        let host = bare_host(authority);
        let address = |text: &str| text.parse().ok().map(|it: IpAddr| it.to_canonical());
        let is = |name: &String| match (address(name), address(host)) {
            (Some(name), Some(host)) => name == host,
            _ => name.eq_ignore_ascii_case(host),
        };
        self.given.iter().any(is) || self.certificate.as_ref().is_some_and(|it| it.names(host))
    }
}

impl AccessCheck {
    /// For a server that listens on this port.
    pub(super) fn new(port: u16, access: Access) -> Self {
        Self { port, access, is_secure: false, names: Names::default() }
    }

    /// For a server that clients reach over TLS, under these names too.
    pub(super) fn over_tls(self, names: Names) -> Self {
        Self { is_secure: true, names, ..self }
    }

    /// Rejects requests meant for another server, or sent by a web page of another computer.
    pub(super) fn check_address(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Rejection> {
        let host = match only(headers, &HOST) {
            SingleHeader::Value(host) => host.to_str().ok().and_then(authority),
            SingleHeader::None => {
                return Err(Rejection::bad_request("Bad Request: missing Host header"));
            }
            SingleHeader::Several => None,
        };
        let ours = |authority: &Authority| {
            let is_here = is_loopback(authority) || self.names.has(authority);
            is_here && port(authority).is_some_and(|port| port.is_none_or(|it| it == self.port))
        };
        // Requests to a proxy name the server in the request line too.
        if !host.is_some_and(|host| ours(&host)) || !uri.authority().is_none_or(ours) {
            let or = match self.is_remote() {
                true => ", or another name of this server (its certificate's, or --allow-host)",
                false => "",
            };
            return Err(forbidden(format!(
                "Forbidden: Host must be localhost:{port} or 127.0.0.1:{port}{or}",
                port = self.port
            )));
        }
        let origin = match only(headers, &ORIGIN) {
            SingleHeader::None => return Ok(()),
            SingleHeader::Value(origin) => origin.to_str().ok().and_then(|origin| {
                let (scheme, rest) = origin.split_once("://")?;
                Some((scheme, authority(rest)?))
            }),
            SingleHeader::Several => None,
        };
        let is_ours = |(scheme, origin): (&str, Authority)| {
            let is = |name: &str| scheme.eq_ignore_ascii_case(name);
            let is_named = || is_loopback(&origin) || self.names.has(&origin);
            is("http") && is_loopback(&origin) || self.is_secure && is("https") && is_named()
        };
        if !origin.is_some_and(is_ours) {
            let or = match self.is_remote() {
                true => ", or https:// with a name of this server",
                false => "",
            };
            return Err(forbidden(format!(
                "Forbidden: Origin must be loopback, such as http://localhost{or}"
            )));
        }
        Ok(())
    }

    /// Whether there are names for other computers.
    pub(super) fn is_remote(&self) -> bool {
        !self.names.given.is_empty() || self.names.certificate.is_some()
    }

    /// What a request's token grants at `now`. Rejects requests without a token.
    pub(super) async fn check_token(
        &self,
        headers: &HeaderMap,
        now: SystemTime,
    ) -> Result<Grant, Rejection> {
        let shown = shown_token(headers);
        let named = |tokens: &[NamedToken]| {
            // All are compared, so that the time does not tell which one nearly matched.
            let right = tokens.iter().filter(|one| shown.is_some_and(|shown| one.token.is(shown)));
            let right = right.collect::<Vec<_>>();
            let one = right.first()?;
            let token = one.name.as_str().into();
            Some(Grant { token, scope: one.scope, ..Grant::default() })
        };
        let grant = match &self.access {
            Access::Everyone => return Ok(Grant::default()),
            Access::Token(token) => shown.and_then(|shown| token.is(shown).then(Grant::default)),
            Access::Tokens(tokens) => named(tokens),
            Access::Issued { tokens, issuer } => match (named(tokens), shown) {
                (Some(grant), _) => Some(grant),
                (None, Some(shown)) => {
                    let issued = issuer.check(shown, now).await;
                    return issued.map_err(|error| Rejection::of_issued(error, issuer));
                }
                (None, None) => return Err(Rejection::no_issued_token(issuer)),
            },
        };
        grant.ok_or_else(Rejection::no_token)
    }

    /// Whose part of the server a request with this grant takes up: its token's if there are
    /// several, else its computer's if that may be another one.
    pub(super) fn share(&self, grant: &Grant) -> Share {
        let has_several = match &self.access {
            Access::Everyone | Access::Token(_) => false,
            Access::Tokens(tokens) => tokens.len() > 1,
            Access::Issued { .. } => true,
        };
        match (has_several, grant.peer) {
            (true, _) => Share::Part(Arc::clone(&grant.token)),
            (false, Some(peer)) => Share::Part(peer.to_string().into()),
            (false, None) => Share::Whole,
        }
    }

    /// The token's scope does not include the call.
    pub(super) fn insufficient_scope(&self, tool: &str) -> Rejection {
        let rejection = Rejection::insufficient_scope(tool);
        match &self.access {
            Access::Issued { issuer, .. } => rejection.challenging(
                issuer,
                "error=\"insufficient_scope\", error_description=\"this token may only look\"",
                SCOPE_ACT,
            ),
            _ => rejection,
        }
    }

    /// The issuer of tokens, if the server has one.
    pub(super) fn issuer(&self) -> Option<&Issuer> {
        match &self.access {
            Access::Issued { issuer, .. } => Some(issuer),
            _ => None,
        }
    }
}

/// The token in the headers.
fn shown_token(headers: &HeaderMap) -> Option<&[u8]> {
    let SingleHeader::Value(shown) = only(headers, &AUTHORIZATION) else { return None };
    let shown = shown.as_bytes();
    // The scheme name is case-insensitive (RFC 9110, section 11.1).
    let is_bearer = shown.get(..7).is_some_and(|it| it.eq_ignore_ascii_case(b"bearer "));
    is_bearer.then(|| shown.get(7..).unwrap_or_default().trim_ascii())
}

fn forbidden(text: impl Into<String>) -> Rejection {
    Rejection::new(StatusCode::FORBIDDEN, text)
}

/// A header that must not be repeated.
enum SingleHeader<'a> {
    None,
    Value(&'a HeaderValue),
    Several,
}

fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> SingleHeader<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => SingleHeader::None,
        (Some(value), None) => SingleHeader::Value(value),
        (Some(_), Some(_)) => SingleHeader::Several,
    }
}

/// Parses a host with an optional port, and nothing else: no user, no path.
fn authority(text: &str) -> Option<Authority> {
    let plain = !text.contains(['@', '/', '?', '#']);
    let authority = plain.then(|| Authority::try_from(text).ok())??;
    port(&authority).is_some().then_some(authority)
}

/// The port; `Some(None)` if there is none, `None` if it is not a plain number up to 65535.
/// `Authority` knows none where a number is too large, and takes a sign and zeros before it.
fn port(authority: &Authority) -> Option<Option<u16>> {
    let text = authority.as_str().strip_prefix(authority.host())?;
    let Some(digits) = text.strip_prefix(':') else { return text.is_empty().then_some(None) };
    let port: u16 = digits.parse().ok()?;
    (port.to_string() == digits).then_some(Some(port))
}

fn is_loopback(authority: &Authority) -> bool {
    let host = bare_host(authority);
    let is = |address: IpAddr| address.to_canonical().is_loopback();
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(is)
}

/// The host without the brackets of an IPv6 address.
fn bare_host(authority: &Authority) -> &str {
    let host = authority.host();
    host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;
    use crate::http_token::{NamedToken, Scope, Token};

    /// Without an issuer nothing is waited for.
    fn token(access_check: &AccessCheck, headers: &HeaderMap) -> Result<Grant, Rejection> {
        access_check.check_token(headers, SystemTime::UNIX_EPOCH).now_or_never().unwrap()
    }

    fn status(access_check: &AccessCheck, uri: &str, headers: &[(HeaderName, &str)]) -> u16 {
        let headers: HeaderMap = headers.iter().fold(HeaderMap::new(), |mut all, (name, value)| {
            all.append(name, HeaderValue::from_str(value).unwrap());
            all
        });
        let uri: Uri = uri.parse().unwrap();
        let passed =
            access_check.check_address(&uri, &headers).and_then(|()| token(access_check, &headers));
        passed.map_or_else(|refusal| refusal.into_response().status().as_u16(), |_| 200)
    }

    #[test]
    fn only_loopback_hosts_are_accepted() {
        let access_check = AccessCheck::new(8080, Access::Everyone);
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
            assert_eq!(status(&access_check, "/mcp", &[(HOST, host)]), 200, "{host}");
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
            "localhost:99999",
            "localhost:73616",
            "localhost:+8080",
            "localhost:08080",
            "localhost:8080 ",
            "localhost:-1",
            "localhost:0x1f90",
            "127.0.0.1:+8080",
            "[::1]:99999",
            "[::1]:",
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
            assert_eq!(status(&access_check, "/mcp", &[(HOST, host)]), 403, "{host:?}");
        }
        assert_eq!(status(&access_check, "/mcp", &[]), 400, "none at all");
        let twice = [(HOST, "localhost:8080"), (HOST, "evil.example")];
        assert_eq!(status(&access_check, "/mcp", &twice), 403, "the second one counts too");
        let local = [(HOST, "localhost:8080")];
        assert_eq!(
            status(&access_check, "http://evil.example/mcp", &local),
            403,
            "a proxy's request"
        );
        assert_eq!(status(&access_check, "http://localhost:8080/mcp", &local), 200);
        for uri in ["http://localhost:99999/mcp", "http://localhost:+8080/mcp"] {
            assert!(uri.parse::<Uri>().is_err() || status(&access_check, uri, &local) == 403);
        }
    }

    #[test]
    fn foreign_origins_are_rejected() {
        let access_check = AccessCheck::new(8080, Access::Everyone);
        let from =
            |origin| status(&access_check, "/mcp", &[(HOST, "localhost:8080"), (ORIGIN, origin)]);
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
            "http://localhost:99999",
            "http://localhost:+80",
            "http://localhost:080",
            "http://localhost:",
            "http://[::1]:65536",
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
        assert_eq!(status(&access_check, "/mcp", &twice), 403);
    }

    #[test]
    fn names_for_other_computers_count_only_where_they_are_given() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["in-certificate.example", "192.0.2.7", "2001:db8::7"].map(str::to_owned);
        let now = std::time::SystemTime::now();
        let (tls, _) = Tls::open_self_signed(folder.path(), &names, now).unwrap();
        let given = vec!["given.example".to_owned(), "2001:db8::8".to_owned()];
        let names = Names { given, certificate: Some(Arc::new(tls)) };
        let access_check = AccessCheck::new(8080, Access::Everyone).over_tls(names);
        let local = AccessCheck::new(8080, Access::Everyone).over_tls(Names::default());
        let ours = [
            "given.example",
            "GIVEN.example:8080",
            "in-certificate.example:8080",
            "192.0.2.7",
            "[2001:db8::7]:8080",
            "[2001:db8:0::8]",
        ];
        for host in ours {
            assert_eq!(status(&access_check, "/mcp", &[(HOST, host)]), 200, "{host}");
            assert_eq!(status(&local, "/mcp", &[(HOST, host)]), 403, "{host}");
            for (scheme, expected) in [("https", 200), ("HTTPS", 200), ("http", 403), ("ws", 403)] {
                let origin = format!("{scheme}://{host}");
                let headers = [(HOST, "localhost"), (ORIGIN, origin.as_str())];
                assert_eq!(status(&access_check, "/mcp", &headers), expected, "{origin}");
                assert_eq!(status(&local, "/mcp", &headers), 403, "{origin}");
            }
        }
        let foreign = [
            "evil.example",
            "given.example.evil.example",
            "sub.given.example",
            "given.example:8081",
            "given.example@evil.example",
            "given.example.",
            "192.0.2.8",
            "[2001:db8::9]",
            "0.0.0.0:8080",
            "*",
            "",
        ];
        for host in foreign {
            assert_eq!(status(&access_check, "/mcp", &[(HOST, host)]), 403, "{host}");
        }
        for origin in ["https://localhost:8080", "http://localhost"] {
            let headers = [(HOST, "given.example"), (ORIGIN, origin)];
            assert_eq!(status(&access_check, "/mcp", &headers), 200, "{origin}");
        }
    }

    #[test]
    fn only_the_bearer_token_is_accepted() {
        let token = Token::generate().unwrap();
        let text = token.reveal().to_owned();
        let access_check = AccessCheck::new(8080, Access::Token(token));
        let shown = |value: &str| {
            status(&access_check, "/mcp", &[(HOST, "localhost"), (AUTHORIZATION, value)])
        };
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
        assert_eq!(status(&access_check, "/mcp", &[(HOST, "localhost")]), 401);
        let right = format!("Bearer {text}");
        let twice =
            [(HOST, "localhost"), (AUTHORIZATION, "Bearer x"), (AUTHORIZATION, right.as_str())];
        assert_eq!(status(&access_check, "/mcp", &twice), 401);
    }

    #[test]
    fn each_token_grants_its_own_scope() {
        let named = |name: &str, scope| NamedToken {
            name: name.into(),
            scope,
            token: Token::generate().unwrap(),
        };
        let tokens = vec![named("ci", Scope::Look), named("ann", Scope::Act)];
        let access_check = AccessCheck::new(8080, Access::Tokens(tokens.clone()));
        let grant = |secret: &str| {
            let value = HeaderValue::from_str(&format!("Bearer {secret}")).unwrap();
            token(&access_check, &HeaderMap::from_iter([(AUTHORIZATION, value)])).ok()
        };
        for one in &tokens {
            let grant = grant(one.token.reveal()).unwrap();
            assert_eq!((&*grant.token, grant.scope), (one.name.as_str(), one.scope));
        }
        assert!(grant(Token::generate().unwrap().reveal()).is_none());
        assert!(grant("").is_none() && grant("ci").is_none());
        let none = AccessCheck::new(8080, Access::Tokens(Vec::new()));
        assert!(token(&none, &HeaderMap::new()).is_err(), "a client without a token gets nothing");
    }
}
