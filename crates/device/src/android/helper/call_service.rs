//! The helper's op `call_service`: an Intent with a callback, and its reply. Pure functions.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::frame::Header;
use super::protocol::HelperError;
use super::{fields, millis};
use crate::{CallbackResult, Error, ServiceReply, ServiceRequest, StartServiceError};

/// Maximum size of an Intent's extras in UTF-16 units. Measured on Android 4.4.4: 255,000 arrive,
/// 300,000 vanish silently.
const MAX_UNITS: usize = 200_000;

/// The uid of `system_server`, which delivers callbacks since Android 7; it does not say who sent
/// them.
const SYSTEM: u32 = 1000;

/// The name of this op on the wire.
pub(super) const OP: &str = "call_service";

/// What it does, after "failed to".
pub(super) const WHAT: &str = "deliver the request to the app";

/// Whether the phone would lose the Intent silently.
pub(super) fn is_too_large(request: &ServiceRequest) -> bool {
    let units = |text: &str| text.encode_utf16().count();
    let extras = request.extras.iter().map(|(key, value)| units(key) + units(value));
    let names = request.callbacks.iter().map(|name| units(name));
    extras.chain(names).sum::<usize>() > MAX_UNITS
}

pub(super) fn too_large() -> ServiceReply {
    ServiceReply::NotStarted(StartServiceError::TooLarge { max: MAX_UNITS })
}

/// The request. The helper waits up to `limit` for the callback.
pub(super) fn encode(request: &ServiceRequest, limit: Duration) -> Header {
    fields(json!({
        "component": request.to.to_string(),
        "extras": request.extras,
        "callbacks": request.callbacks,
        "result_extras": request.result_extras,
        "limit_ms": millis(limit),
    }))
}

/// What the service sent to the callback.
#[derive(Deserialize)]
pub(super) struct ServiceCallReply {
    code: i32,
    #[serde(default)]
    extras: Vec<(String, String)>,
    uid: Option<u32>,
}

/// Parses the service's reply.
pub(super) fn read_answer(request: &ServiceRequest, fields: Header) -> Result<ServiceReply, Error> {
    let ServiceCallReply { code, mut extras, uid } = super::read(OP, fields)?;
    extras.retain(|(key, _)| request.result_extras.contains(key));
    let uid = uid.filter(|uid| *uid != SYSTEM);
    Ok(ServiceReply::Answered(CallbackResult { code, extras, uid }))
}

/// Maps an error of the helper to the result of the request.
pub(super) fn read_fault(fault: HelperError) -> Result<ServiceReply, Error> {
    let HelperError { code, message, advice } = fault;
    Ok(ServiceReply::NotStarted(match code.as_str() {
        // The service was started.
        "timeout" => return Ok(ServiceReply::NoReply),
        "not_found" => StartServiceError::NotFound,
        "refused" => StartServiceError::Refused(message),
        "background" => StartServiceError::BackgroundRestricted(message),
        "too_large" => StartServiceError::TooLarge { max: MAX_UNITS },
        _ => {
            let words = [code, message, advice];
            let words = words.iter().filter(|word| !word.is_empty()).map(String::as_str);
            let text = words.collect::<Vec<_>>().join("; ");
            return Err(Error::Failed { what: WHAT, text });
        }
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{AppId, Component};

    fn request() -> ServiceRequest {
        ServiceRequest {
            to: Component { app: AppId("com.x".into()), class: "com.x.Tool".into() },
            extras: vec![("request".into(), "{\"id\":\"1\"}".into())],
            callbacks: vec!["mcp_callback".into(), "callback".into()],
            result_extras: vec!["response".into()],
        }
    }

    fn header(value: Value) -> Header {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn service_request_is_encoded() {
        let expected = r#"{"component":"com.x/com.x.Tool","extras":[["request","{\"id\":\"1\"}"]],"callbacks":["mcp_callback","callback"],"result_extras":["response"],"limit_ms":1500}"#;
        let request = encode(&request(), Duration::from_millis(1500));
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(Value::Object(request), expected);
    }

    #[test]
    fn only_requested_extras_are_returned() {
        let output = header(
            json!({ "id": 1, "ok": true, "code": 7, "extras": [["response", "{}"], ["other", "x"]], "uid": 10123 }),
        );
        let extras = vec![("response".to_owned(), "{}".to_owned())];
        let answer = CallbackResult { code: 7, extras, uid: Some(10123) };
        assert_eq!(read_answer(&request(), output).unwrap(), ServiceReply::Answered(answer));
    }

    #[test]
    fn callback_from_the_system_has_no_sender_uid() {
        let output = header(json!({ "ok": true, "code": -1, "uid": 1000 }));
        let answer = CallbackResult { code: -1, ..CallbackResult::default() };
        assert_eq!(read_answer(&request(), output).unwrap(), ServiceReply::Answered(answer));
    }

    #[test]
    fn malformed_reply_is_an_error() {
        for invalid in [
            json!({ "ok": true }),
            json!({ "code": "7" }),
            json!({ "code": 1_u64 << 40 }),
            json!({ "code": 7, "extras": [["response"]] }),
            json!({ "code": 7, "extras": [["response", 5]] }),
        ] {
            let read = read_answer(&request(), header(invalid.clone()));
            assert!(matches!(read, Err(Error::Unreadable { .. })), "{invalid}");
        }
    }

    #[test]
    fn helper_errors_are_mapped() {
        let read = |code: &str| {
            read_fault(HelperError {
                code: code.into(),
                message: "words".into(),
                advice: "y".into(),
            })
        };
        assert_eq!(read("timeout").unwrap(), ServiceReply::NoReply);
        for (code, reason) in [
            ("not_found", StartServiceError::NotFound),
            ("refused", StartServiceError::Refused("words".into())),
            ("background", StartServiceError::BackgroundRestricted("words".into())),
            ("too_large", StartServiceError::TooLarge { max: 200_000 }),
        ] {
            assert_eq!(read(code).unwrap(), ServiceReply::NotStarted(reason));
        }
        let error = read("internal").unwrap_err();
        assert!(error.to_string().contains("internal; words; y"), "{error}");
    }

    #[test]
    fn size_counts_utf16_units() {
        let mut request = request();
        request.extras = vec![("k".into(), "😀".repeat(99_980))];
        assert!(!is_too_large(&request));
        request.extras[0].1.push_str(&"😀".repeat(10));
        assert!(is_too_large(&request));
    }
}
