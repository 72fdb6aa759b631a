//! The helper's op `courier`: an Intent with a callback, and its reply. Pure functions.

use std::time::Duration;

use serde_json::{Value, json};

use super::frame::Header;
use super::protocol::HelperError;
use crate::error::excerpt;
use crate::{CallbackResult, Error, ServiceReply, ServiceRequest, StartServiceError};

/// Maximum size of an Intent's extras in UTF-16 units. Measured on Android 4.4.4: 255,000 arrive, 300,000 vanish
/// silently.
const MOST: usize = 200_000;

/// The uid of `system_server`, which delivers callbacks since Android 7; it does not tell who sent them.
const SYSTEM: u64 = 1000;

/// The name of this op in error messages.
pub(super) const WHAT: &str = "deliver the request to the app";

/// Whether the phone would lose the Intent silently.
pub(super) fn is_too_large(request: &ServiceRequest) -> bool {
    let units = |text: &str| text.encode_utf16().count();
    let extras = request.extras.iter().map(|(key, value)| units(key) + units(value));
    let names = request.callbacks.iter().map(|name| units(name));
    extras.chain(names).sum::<usize>() > MOST
}

pub(super) fn too_large() -> ServiceReply {
    ServiceReply::NotStarted(StartServiceError::TooLarge { max: MOST })
}

/// The request. The helper waits up to `limit` for the callback.
pub(super) fn encode(letter: &ServiceRequest, limit: Duration) -> Header {
    let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let fields = json!({
        "component": letter.to.to_string(),
        "extras": letter.extras,
        "callbacks": letter.callbacks,
        "wanted": letter.result_extras,
        "limit_ms": limit,
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Header::new(),
    }
}

/// Parses the service's reply.
pub(super) fn read_answer(request: &ServiceRequest, said: &Header) -> Result<ServiceReply, Error> {
    let unreadable = || Error::Unreadable {
        command: "courier".into(),
        text: excerpt(Value::from(said.clone()).to_string()),
    };
    let code = said.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let mut extras = Vec::new();
    for pair in said.get("extras").and_then(Value::as_array).into_iter().flatten() {
        let pair = pair.as_array().map(Vec::as_slice);
        let Some([Value::String(key), Value::String(value)]) = pair else {
            return Err(unreadable());
        };
        if request.result_extras.contains(key) {
            extras.push((key.clone(), value.clone()));
        }
    }
    let uid = said.get("uid").and_then(Value::as_u64).filter(|uid| *uid != SYSTEM);
    let uid = uid.and_then(|uid| u32::try_from(uid).ok());
    Ok(ServiceReply::Answered(CallbackResult { code: code.ok_or_else(unreadable)?, extras, uid }))
}

/// Maps an error of the helper to the result of the request.
pub(super) fn read_fault(fault: HelperError) -> Result<ServiceReply, Error> {
    let HelperError { code, text: says, advice } = fault;
    Ok(ServiceReply::NotStarted(match code.as_str() {
        // The service was started.
        "timeout" => return Ok(ServiceReply::NoReply),
        "not_found" => StartServiceError::NotFound,
        "refused" => StartServiceError::Refused(says),
        "background" => StartServiceError::BackgroundRestricted(says),
        "too_large" => StartServiceError::TooLarge { max: MOST },
        _ => {
            let text = [code, says, advice];
            let text = text.iter().filter(|word| !word.is_empty()).map(String::as_str);
            let output = text.collect::<Vec<_>>().join("; ");
            return Err(Error::Failed { what: WHAT, text: output });
        }
    }))
}

#[cfg(test)]
mod tests {
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
        let expected = r#"{"component":"com.x/com.x.Tool","extras":[["request","{\"id\":\"1\"}"]],"callbacks":["mcp_callback","callback"],"wanted":["response"],"limit_ms":1500}"#;
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
        assert_eq!(read_answer(&request(), &output).unwrap(), ServiceReply::Answered(answer));
    }

    #[test]
    fn callback_from_the_system_has_no_sender_uid() {
        let output = header(json!({ "ok": true, "code": -1, "uid": 1000 }));
        let answer = CallbackResult { code: -1, ..CallbackResult::default() };
        assert_eq!(read_answer(&request(), &output).unwrap(), ServiceReply::Answered(answer));
    }

    #[test]
    fn malformed_reply_is_an_error() {
        for odd in [
            json!({ "ok": true }),
            json!({ "code": "7" }),
            json!({ "code": 1_u64 << 40 }),
            json!({ "code": 7, "extras": [["response"]] }),
            json!({ "code": 7, "extras": [["response", 5]] }),
        ] {
            let read = read_answer(&request(), &header(odd.clone()));
            assert!(matches!(read, Err(Error::Unreadable { .. })), "{odd}");
        }
    }

    #[test]
    fn helper_errors_are_mapped() {
        let read = |code: &str| {
            read_fault(HelperError { code: code.into(), text: "words".into(), advice: "y".into() })
        };
        assert_eq!(read("timeout").unwrap(), ServiceReply::NoReply);
        for (code, why) in [
            ("not_found", StartServiceError::NotFound),
            ("refused", StartServiceError::Refused("words".into())),
            ("background", StartServiceError::BackgroundRestricted("words".into())),
            ("too_large", StartServiceError::TooLarge { max: 200_000 }),
        ] {
            assert_eq!(read(code).unwrap(), ServiceReply::NotStarted(why));
        }
        let error = read("internal").unwrap_err();
        assert!(error.to_string().contains("internal; words; y"), "{error}");
    }

    #[test]
    fn size_counts_utf16_units() {
        let mut letter = request();
        letter.extras = vec![("k".into(), "😀".repeat(99_980))];
        assert!(!is_too_large(&letter));
        letter.extras[0].1.push_str(&"😀".repeat(10));
        assert!(is_too_large(&letter));
    }
}
