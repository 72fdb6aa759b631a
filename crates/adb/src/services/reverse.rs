//! Places on the phone that lead back to the host's side: `reverse:`.
//!
//! The phone listens, and opens what connects there at the other end of the wire. Who that is
//! depends on the transport: an adb server connects to the target itself, on its own computer; over
//! a connection of ours the streams come to us, which is [`crate::transport::reversal`]'s matter.
//! Phones before Android 5 have no `reverse:`.

use tokio::io::{AsyncRead, AsyncReadExt};

use super::shell::read_to_end;
use crate::wire::forward::{Forward, Request, read_list};
use crate::wire::smart::{self, Status};
use crate::{Error, Transport};

/// The longest list that is read, in bytes: what four hex digits can tell, and those.
const MAX_LIST: usize = smart::MAX_TEXT + 4;

/// Makes the phone listen at `listen`, such as `tcp:8080` or `localabstract:name`, and lead what
/// connects there to `target` on the adb server's computer. Tells the port, if the phone does; one
/// that was asked for `tcp:0` does. Without `rebind` a place that is led already is refused.
///
/// # Errors
/// The phone cannot be reached, has no `reverse:`, or [`Error::Refused`] with its words.
pub async fn reverse(
    transport: &dyn Transport,
    listen: &str,
    target: &str,
    rebind: bool,
) -> Result<Option<u16>, Error> {
    let request = forward_request(listen, target, rebind);
    let service = service(request)?;
    settle(transport.open(&service).await?, &service).await
}

/// What the phone leads back, for whichever host.
///
/// # Errors
/// The phone cannot be reached, or has no `reverse:`.
pub async fn list(transport: &dyn Transport) -> Result<Vec<Forward>, Error> {
    let stream = transport.open(&service(Request::List)?).await?;
    let said = read_to_end(stream, MAX_LIST).await?;
    let mut said = bytes::BytesMut::from(&said[..]);
    match smart::decode_text(&mut said)? {
        Some(text) => Ok(read_list(&text)),
        None => Err(Error::vanished("the list of what the phone leads back ended early")),
    }
}

/// Makes the phone listen at `listen` no longer.
///
/// # Errors
/// The phone cannot be reached, or [`Error::Refused`] with its words.
pub async fn kill(transport: &dyn Transport, listen: &str) -> Result<(), Error> {
    let service = service(Request::Kill { listen: listen.to_owned() })?;
    settle(transport.open(&service).await?, &service).await.map(drop)
}

/// Makes the phone lead nothing back any more, for any host.
///
/// # Errors
/// The phone cannot be reached, or has no `reverse:`.
pub async fn kill_all(transport: &dyn Transport) -> Result<(), Error> {
    let service = service(Request::KillAll)?;
    settle(transport.open(&service).await?, &service).await.map(drop)
}

/// A request to lead `listen` to `target`.
pub(crate) fn forward_request(listen: &str, target: &str, rebind: bool) -> Request {
    Request::Forward { listen: listen.to_owned(), target: target.to_owned(), rebind }
}

/// The service that asks for it.
pub(crate) fn service(request: Request) -> Result<String, Error> {
    Ok(format!("reverse:{}", checked(request)?))
}

/// The request, if the far end would understand its names.
pub(crate) fn checked(request: Request) -> Result<Request, Error> {
    request.checked().map_err(|malformed| Error::Refused {
        service: malformed.0,
        said: "a place needs a name without `;` and NUL, of 4096 bytes at most".into(),
    })
}

/// Reads what follows a request to lead or to end: OKAY and, perhaps, the port that was chosen; or
/// FAIL and why.
///
/// adb servers since 2019 tell the port of each listener that they make, older ones that of `tcp:0`
/// alone, none that of one that is led anew (`install_listener` in AOSP's `adb_listeners.cpp`).
pub(crate) async fn settle(
    mut stream: impl AsyncRead + Unpin,
    service: &str,
) -> Result<Option<u16>, Error> {
    let mut word = [0; 4];
    stream.read_exact(&mut word).await.map_err(Error::from_io)?;
    let status = smart::read_status(word)?;
    let said = read_to_end(stream, MAX_LIST).await?;
    let said = smart::decode_text(&mut bytes::BytesMut::from(&said[..]))?.unwrap_or_default();
    match status {
        Status::Fail => Err(Error::Refused { service: service.to_owned(), said }),
        Status::Okay if said.is_empty() => Ok(None),
        Status::Okay => match said.parse() {
            Ok(port) => Ok(Some(port)),
            Err(_) => Err(Error::protocol(format!("{said:?} where a port belongs"))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_is_okay_with_or_without_a_port_or_a_reason() {
        let check = async |wire: &[u8], expected: Result<Option<u16>, Error>| {
            assert_eq!(settle(wire, "reverse:x").await, expected, "{wire:?}");
        };
        check(b"OKAY", Ok(None)).await;
        check(b"OKAY0000", Ok(None)).await;
        check(b"OKAY000540001", Ok(Some(40001))).await;
        let refused =
            |said: &str| Error::Refused { service: "reverse:x".into(), said: said.into() };
        check(b"FAIL0002no", Err(refused("no"))).await;
        check(b"FAIL0000", Err(refused(""))).await;
        check(b"OKAY000599999", Err(Error::protocol("\"99999\" where a port belongs"))).await;
        for wire in [&b""[..], b"OKA", b"NOPE", b"OKAYzzzz"] {
            assert!(settle(wire, "x").await.is_err(), "{wire:?}");
        }
    }

    #[test]
    fn a_name_that_would_end_early_is_refused() {
        let refused = |listen: &str, target: &str| {
            let error = service(forward_request(listen, target, true)).unwrap_err();
            assert!(matches!(error, Error::Refused { .. }), "{error}");
        };
        refused("tcp:1;tcp:2", "tcp:3");
        refused("tcp:1", "tcp:3\0");
        refused("", "tcp:3");
    }
}
