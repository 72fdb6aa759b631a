//! Reverse forwards (`reverse:`): sockets on the phone that connect to the host's side.
//!
//! The phone listens, and opens a stream to the host for each connection. Who receives it depends on the transport: an
//! adb server connects to the target on its own computer; over our own connection the streams come to us, see
//! [`crate::forwarding::reverse`]. Phones before Android 5 have no `reverse:`.

use tokio::io::{AsyncRead, AsyncReadExt};

use super::shell::read_to_end;
use crate::wire::forward::{Forward, Request, read_list};
use crate::wire::smart::{self, Status};
use crate::{Error, Transport};

/// Limit on a list, in bytes: the maximum of four hex digits, and the digits themselves.
const MAX_LIST: usize = smart::MAX_TEXT + 4;

/// Makes the phone listen on `listen`, such as `tcp:8080` or `localabstract:name`, and connect to `target` on the adb
/// server's computer. Returns the port if the phone reports it, as it does for `tcp:0`. Without `rebind`, a socket
/// already in use is refused.
///
/// # Errors
/// The phone cannot be reached, has no `reverse:`, or [`Error::Refused`] with its message.
pub async fn reverse(
    transport: &dyn Transport,
    listen: &str,
    target: &str,
    rebind: bool,
) -> Result<Option<u16>, Error> {
    let request = forward_request(listen, target, rebind);
    let service = service(request)?;
    read_status(transport.open(&service).await?, &service).await
}

/// Lists the phone's reverse forwards, for all hosts.
///
/// # Errors
/// The phone cannot be reached, or has no `reverse:`.
pub async fn list(transport: &dyn Transport) -> Result<Vec<Forward>, Error> {
    let stream = transport.open(&service(Request::List)?).await?;
    let output = read_to_end(stream, MAX_LIST).await?;
    let mut output = bytes::BytesMut::from(&output[..]);
    match smart::decode_text(&mut output)? {
        Some(text) => Ok(read_list(&text)),
        None => Err(Error::disconnected("the list of reverse forwards ended early")),
    }
}

/// Removes the reverse forward that listens on `listen`.
///
/// # Errors
/// The phone cannot be reached, or [`Error::Refused`] with its message.
pub async fn kill(transport: &dyn Transport, listen: &str) -> Result<(), Error> {
    let service = service(Request::Kill { listen: listen.to_owned() })?;
    read_status(transport.open(&service).await?, &service).await.map(drop)
}

/// Removes all reverse forwards, of all hosts.
///
/// # Errors
/// The phone cannot be reached, or has no `reverse:`.
pub async fn kill_all(transport: &dyn Transport) -> Result<(), Error> {
    let service = service(Request::KillAll)?;
    read_status(transport.open(&service).await?, &service).await.map(drop)
}

/// A request to forward `listen` to `target`.
pub(crate) fn forward_request(listen: &str, target: &str, rebind: bool) -> Request {
    Request::Forward { listen: listen.to_owned(), target: target.to_owned(), rebind }
}

/// The service name of a request.
pub(crate) fn service(request: Request) -> Result<String, Error> {
    Ok(format!("reverse:{}", checked(request)?))
}

/// The request, if its names survive the wire format.
pub(crate) fn checked(request: Request) -> Result<Request, Error> {
    request.checked().map_err(|malformed| Error::Refused {
        service: malformed.0,
        text: "a socket name must have 1 to 4096 bytes, without `;` and NUL".into(),
    })
}

/// Reads the reply to a forward or kill request: OKAY with an optional port, or FAIL with a reason.
///
/// adb servers since 2019 report the port of every listener that they create, older ones only for `tcp:0`; none reports
/// it for a rebind (`install_listener` in AOSP's `adb_listeners.cpp`).
pub(crate) async fn read_status(
    mut stream: impl AsyncRead + Unpin,
    service: &str,
) -> Result<Option<u16>, Error> {
    let mut word = [0; 4];
    stream.read_exact(&mut word).await.map_err(Error::from_io)?;
    let status = smart::read_status(word)?;
    let output = read_to_end(stream, MAX_LIST).await?;
    let output = smart::decode_text(&mut bytes::BytesMut::from(&output[..]))?.unwrap_or_default();
    match status {
        Status::Fail => Err(Error::Refused { service: service.to_owned(), text: output }),
        Status::Okay if output.is_empty() => Ok(None),
        Status::Okay => match output.parse() {
            Ok(port) => Ok(Some(port)),
            Err(_) => Err(Error::protocol(format!("expected a port, got {output:?}"))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reply_is_okay_with_optional_port_or_a_reason() {
        let check = async |wire: &[u8], expected: Result<Option<u16>, Error>| {
            assert_eq!(read_status(wire, "reverse:x").await, expected, "{wire:?}");
        };
        check(b"OKAY", Ok(None)).await;
        check(b"OKAY0000", Ok(None)).await;
        check(b"OKAY000540001", Ok(Some(40001))).await;
        let refused =
            |text: &str| Error::Refused { service: "reverse:x".into(), text: text.into() };
        check(b"FAIL0002no", Err(refused("no"))).await;
        check(b"FAIL0000", Err(refused(""))).await;
        check(b"OKAY000599999", Err(Error::protocol("expected a port, got \"99999\""))).await;
        for wire in [&b""[..], b"OKA", b"NOPE", b"OKAYzzzz"] {
            assert!(read_status(wire, "x").await.is_err(), "{wire:?}");
        }
    }

    #[test]
    fn truncatable_name_is_refused() {
        let refused = |listen: &str, target: &str| {
            let error = service(forward_request(listen, target, true)).unwrap_err();
            assert!(matches!(error, Error::Refused { .. }), "{error}");
        };
        refused("tcp:1;tcp:2", "tcp:3");
        refused("tcp:1", "tcp:3\0");
        refused("", "tcp:3");
    }
}
