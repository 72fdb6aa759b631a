//! Responses: the bodies that servers write in three formats, and the values in them. They are
//! written by `server`.

/// Writes and reads values of these types as responses.
macro_rules! responses {
    ($($name:ident),+) => {$(
        impl $name {
            /// The value to send.
            pub fn to_value(&self) -> serde_json::Value {
                $crate::field::Field::to_json(self).unwrap_or_default()
            }

            /// Reads a response.
            ///
            /// # Errors
            /// [`ResponseError::Malformed`](crate::ResponseError::Malformed) if a field is missing
            /// or has the wrong type.
            pub fn from_response(
                response: &$crate::Response,
            ) -> Result<Self, $crate::ResponseError> {
                response.read()
            }
        }
    )+};
}

mod device;
mod status;

use serde_json::{Map, Value, json};
use thumbwire_base::truncate;

pub use device::{ActiveApp, AppState, BatteryInfo, DeviceInfo, ScreenInfo};
pub use status::ServerStatus;

use crate::capabilities::Capabilities;
use crate::error::{ErrorCode, WebDriverError};
use crate::field::{Field, FieldError, get, object};
use crate::id::{ElementId, SessionId};
use crate::values::{Base64, Orientation, Rect, Size};

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ResponseError {
    /// The server reports a failure.
    #[error(transparent)]
    Failed(#[from] WebDriverError),
    /// The response is not WebDriver's: perhaps another server has the port, or the connection
    /// ended early.
    #[error("cannot read the response: {0}")]
    Malformed(String),
}

impl From<FieldError> for ResponseError {
    fn from(error: FieldError) -> Self {
        Self::Malformed(error.inside("value").message())
    }
}

/// The successful response to a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// What was asked for; `null` if the command only acts.
    pub value: Value,
    /// The session at the top level, as WebDriverAgent and the JSON wire protocol have it.
    pub session: Option<SessionId>,
}

/// Reads a response in any format, nested up to 128 levels.
///
/// # Errors
/// The server's failure, or [`Malformed`](ResponseError::Malformed).
pub fn parse_response(http_status: u16, body: &[u8]) -> Result<Response, ResponseError> {
    let malformed = |problem: &str| {
        let start = truncate(&String::from_utf8_lossy(body), 200);
        ResponseError::Malformed(format!("HTTP status {http_status}, {problem}: {start}"))
    };
    let is_success = (200..300).contains(&http_status);
    let mut whole = match serde_json::from_slice(body) {
        Ok(Value::Object(whole)) => whole,
        Ok(_) => return Err(malformed("the body is not an object")),
        Err(_) if body.trim_ascii().is_empty() => return Err(malformed("the body is empty")),
        Err(_) => return Err(malformed("the body is not JSON")),
    };
    if let Some(error) = read_failure(&whole, is_success) {
        return Err(ResponseError::Failed(error));
    }
    if !is_success {
        return Err(malformed("the body has no error"));
    }
    let value = whole.remove("value").ok_or_else(|| malformed("the body has no `value`"))?;
    let session = whole.get("sessionId").and_then(Value::as_str).and_then(SessionId::new);
    Ok(Response { value, session })
}

/// The failure that a body reports, in any format.
fn read_failure(whole: &Map<String, Value>, is_success: bool) -> Option<WebDriverError> {
    let value = whole.get("value").unwrap_or(&Value::Null);
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    // Like facebook-wda, do not rely on the HTTP status. A success may have a field `error`, but no
    // `message` beside it.
    let is_failure = !is_success || text("message").is_some();
    let w3c = text("error").filter(|_| is_failure).map(ErrorCode::from_text);
    let number = whole.get("status").and_then(Value::as_u64).and_then(ErrorCode::from_json_wire);
    let code = w3c.or(number)?;
    let message = value.as_str().or_else(|| text("message"));
    let message = message.map_or_else(|| truncate(&value.to_string(), 1000), str::to_owned);
    let stacktrace =
        text("stacktrace").or_else(|| text("traceback")).unwrap_or_default().to_owned();
    let data = value.get("data").filter(|data| !data.is_null()).cloned().map(Box::new);
    Some(WebDriverError { code, message, stacktrace, data })
}

/// Each of these reads the value as what a command responds with, and fails with
/// [`ResponseError::Malformed`] otherwise.
impl Response {
    /// An element.
    pub fn element(&self) -> Result<ElementId, ResponseError> {
        element(&self.value).map_err(Into::into)
    }

    /// A text, such as an alert's, or an XML source.
    pub fn text(&self) -> Result<String, ResponseError> {
        self.read()
    }

    /// A list of texts, such as the labels of an alert's buttons.
    pub fn texts(&self) -> Result<Vec<String>, ResponseError> {
        self.read()
    }

    /// A yes or no.
    pub fn boolean(&self) -> Result<bool, ResponseError> {
        self.read()
    }

    /// A rectangle.
    pub fn rect(&self) -> Result<Rect, ResponseError> {
        self.read()
    }

    /// A size.
    pub fn size(&self) -> Result<Size, ResponseError> {
        self.read()
    }

    /// An orientation.
    pub fn orientation(&self) -> Result<Orientation, ResponseError> {
        self.read()
    }

    /// Bytes that came as Base64, such as a screenshot.
    pub fn bytes(&self) -> Result<Vec<u8>, ResponseError> {
        self.read().map(|Base64(bytes)| bytes)
    }

    fn read<T: Field>(&self) -> Result<T, ResponseError> {
        T::from_json(&self.value).map_err(Into::into)
    }
}

fn element(value: &Value) -> Result<ElementId, FieldError> {
    ElementId::from_reference(value).ok_or_else(|| FieldError::new("is not an element"))
}

/// The response to `POST /session`, and to `GET /session/ID` of WebDriverAgent.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSessionResponse {
    /// The session's name in paths.
    pub session: SessionId,
    /// What the session has.
    pub capabilities: Capabilities,
}

impl NewSessionResponse {
    /// The value to send.
    pub fn to_value(&self) -> Value {
        json!({ "sessionId": self.session.as_str(), "capabilities": self.capabilities.0 })
    }

    /// Reads a response. Old servers have the session at the top level only, and the capabilities
    /// as the whole value.
    ///
    /// # Errors
    /// [`ResponseError::Malformed`] if no session is named.
    pub fn from_response(response: &Response) -> Result<Self, ResponseError> {
        let value = object(&response.value)?;
        let inner: Option<SessionId> = get(value, "sessionId")?;
        let session = inner.or_else(|| response.session.clone());
        let session = session.ok_or_else(|| FieldError::new("is missing").inside("sessionId"))?;
        let capabilities: Option<Map<String, Value>> = get(value, "capabilities")?;
        Ok(Self {
            session,
            capabilities: Capabilities(capabilities.unwrap_or_else(|| value.clone())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ResponseFormat;

    const FORMATS: [ResponseFormat; 3] =
        [ResponseFormat::W3c, ResponseFormat::WebDriverAgent, ResponseFormat::JsonWire];

    fn read(body: &Value) -> Result<Response, ResponseError> {
        parse_response(200, body.to_string().as_bytes())
    }

    #[test]
    fn every_format_of_success_is_read() {
        let session = SessionId::new("S").unwrap();
        for format in FORMATS {
            let response = read(&format.success(Some(&session), json!(1))).unwrap();
            assert_eq!(response.value, json!(1));
            assert_eq!(response.session.is_some(), format != ResponseFormat::W3c);
            assert_eq!(read(&format.success(None, Value::Null)).unwrap().session, None);
        }
    }

    #[test]
    fn every_format_of_failure_is_read() {
        let alert = json!({ "text": "Allow?" });
        for format in FORMATS {
            for code in ErrorCode::all() {
                let mut error = WebDriverError::new(code.clone(), "why");
                if format != ResponseFormat::JsonWire {
                    error.stacktrace = "at f".into();
                } else if code.json_wire() == 13 {
                    error.code = ErrorCode::UnknownError;
                }
                if format == ResponseFormat::W3c {
                    error.data = Some(Box::new(alert.clone()));
                }
                let body = format.failure(None, &error);
                let status = format.http_status(&error.code);
                let read = parse_response(status, body.to_string().as_bytes());
                assert_eq!(read, Err(ResponseError::Failed(error)));
            }
        }
        let unknown = WebDriverError::new(ErrorCode::Other("battery empty".into()), "why");
        let body = ResponseFormat::W3c.failure(None, &unknown);
        assert_eq!(read(&body), Err(ResponseError::Failed(unknown)));
        assert_eq!(ResponseFormat::WebDriverAgent.http_status(&ErrorCode::Timeout), 408);
    }

    #[test]
    fn old_failures_have_a_number_and_some_message() {
        let failure = |body: Value| match read(&body) {
            Err(ResponseError::Failed(error)) => (error.code, error.message),
            other => panic!("{other:?}"),
        };
        let text = json!({ "status": 7, "value": "nothing found", "sessionId": "S" });
        assert_eq!(failure(text), (ErrorCode::NoSuchElement, "nothing found".into()));
        let object = json!({ "status": 33, "value": { "message": "no app" } });
        assert_eq!(failure(object), (ErrorCode::SessionNotCreated, "no app".into()));
        assert_eq!(failure(json!({ "status": 888 })), (ErrorCode::UnknownError, "null".into()));
        let bare = br#"{"value":{"error":"no such alert"}}"#;
        assert!(matches!(
            parse_response(404, bare),
            Err(ResponseError::Failed(error)) if error.code == ErrorCode::NoSuchAlert
        ));
        assert_eq!(
            read(&json!({ "value": { "error": "x" } })).unwrap().value,
            json!({ "error": "x" }),
            "a value may have such a field"
        );
    }

    #[test]
    fn what_is_not_webdriver_is_malformed() {
        let message = |status: u16, body: &str| match parse_response(status, body.as_bytes()) {
            Err(ResponseError::Malformed(message)) => message,
            other => panic!("{other:?}"),
        };
        assert_eq!(message(502, "<html>"), "HTTP status 502, the body is not JSON: <html>");
        assert_eq!(message(200, ""), "HTTP status 200, the body is empty: ");
        assert_eq!(message(200, "[]"), "HTTP status 200, the body is not an object: []");
        assert_eq!(message(200, "{}"), "HTTP status 200, the body has no `value`: {}");
        assert_eq!(
            message(500, r#"{"value":1}"#),
            "HTTP status 500, the body has no error: {\"value\":1}"
        );
    }

    #[test]
    fn values_are_read_by_type() {
        let of = |value: Value| Response { value, session: None };
        let element = ElementId::new("E").unwrap();
        assert_eq!(of(element.to_reference()).element(), Ok(element));
        let wrong = of(json!({})).element().unwrap_err();
        assert_eq!(wrong.to_string(), "cannot read the response: `value` is not an element");
        assert_eq!(of(json!("aGk=")).bytes(), Ok(b"hi".to_vec()));
        assert_eq!(of(json!(true)).boolean(), Ok(true));
        assert_eq!(of(json!("LANDSCAPE")).orientation(), Ok(Orientation::Landscape));
        let size = Size { width: 375.0, height: 667.0 };
        assert_eq!(of(json!({ "width": 375, "height": 667 })).size(), Ok(size));
        let wrong = of(json!({ "x": 1, "y": 2, "width": 3 })).rect().unwrap_err();
        assert_eq!(wrong.to_string(), "cannot read the response: `value.height` is missing");
    }

    #[test]
    fn session_is_read_from_either_level() {
        let response = |value: Value, session| Response { value, session };
        let session = SessionId::new("S").unwrap();
        let capabilities = Capabilities(Map::from_iter([("device".to_owned(), json!("iphone"))]));
        let expected = NewSessionResponse { session: session.clone(), capabilities };
        assert_eq!(
            NewSessionResponse::from_response(&response(expected.to_value(), None)).as_ref(),
            Ok(&expected)
        );
        let old = response(json!({ "device": "iphone" }), Some(session));
        assert_eq!(NewSessionResponse::from_response(&old), Ok(expected));
        let none = NewSessionResponse::from_response(&response(json!({}), None)).unwrap_err();
        assert_eq!(none.to_string(), "cannot read the response: `value.sessionId` is missing");
    }
}
