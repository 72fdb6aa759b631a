//! Why a command failed: the error table of W3C WebDriver (section 6.6), with the numbers of the
//! older JSON wire protocol.
//!
//! Bodies are written and read by [`ResponseFormat`](crate::ResponseFormat) and
//! [`parse_response`](crate::parse_response).

use std::fmt;

use serde_json::Value;

/// What kind of failure it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorCode {
    /// Another element would receive the click.
    ElementClickIntercepted,
    /// Neither pointer nor keyboard reaches the element.
    ElementNotInteractable,
    /// The element cannot be selected (JSON wire protocol only).
    ElementNotSelectable,
    /// The element is not visible (WebDriverAgent and JSON wire protocol only).
    ElementNotVisible,
    /// The shadow root has gone.
    DetachedShadowRoot,
    /// A certificate warning.
    InsecureCertificate,
    /// The arguments are wrong; the message names the field.
    InvalidArgument,
    /// The coordinates are wrong (WebDriverAgent and JSON wire protocol only).
    InvalidCoordinates,
    /// A cookie for another domain.
    InvalidCookieDomain,
    /// The element's state does not allow the command, such as clearing what cannot be edited.
    /// WebDriverAgent also reports other failed acts so.
    InvalidElementState,
    /// The locator cannot be parsed.
    InvalidSelector,
    /// The session has ended or never began: create another one.
    InvalidSessionId,
    /// A script threw.
    JavascriptError,
    /// The point is outside the screen.
    MoveTargetOutOfBounds,
    /// No alert is open.
    NoSuchAlert,
    /// No such cookie.
    NoSuchCookie,
    /// Nothing matches the locator, or the element is unknown.
    NoSuchElement,
    /// No such frame.
    NoSuchFrame,
    /// No such shadow root.
    NoSuchShadowRoot,
    /// No such window; Appium also means contexts.
    NoSuchWindow,
    /// A script took too long.
    ScriptTimeout,
    /// The session could not begin; the message says why.
    SessionNotCreated,
    /// The element was on an earlier screen: find it again.
    StaleElementReference,
    /// The command took too long; it may have happened.
    Timeout,
    /// The cookie was refused.
    UnableToSetCookie,
    /// No screenshot could be taken.
    UnableToCaptureScreen,
    /// An alert is in the way: accept or dismiss it.
    UnexpectedAlertOpen,
    /// The server has no such path.
    UnknownCommand,
    /// Anything else; the message says what.
    UnknownError,
    /// The path exists, but not with this HTTP method.
    UnknownMethod,
    /// The server knows the command and cannot do it here.
    UnsupportedOperation,
    /// A code that is in no table, as it was received.
    Other(String),
}

struct Row(ErrorCode, &'static str, u16, &'static [u64]);

/// Code, text, HTTP status, JSON wire numbers; the first number is the one to write. Texts and
/// statuses are W3C's, those it lacks are of FBCommandStatus.m. Numbers are those of Appium's base
/// driver and of FBCommandStatus.h before 2018.
static TABLE: [Row; 31] = [
    Row(ErrorCode::ElementClickIntercepted, "element click intercepted", 400, &[64]),
    Row(ErrorCode::ElementNotInteractable, "element not interactable", 400, &[60]),
    Row(ErrorCode::ElementNotSelectable, "element not selectable", 400, &[15]),
    Row(ErrorCode::ElementNotVisible, "element not visible", 400, &[11]),
    Row(ErrorCode::DetachedShadowRoot, "detached shadow root", 404, &[]),
    Row(ErrorCode::InsecureCertificate, "insecure certificate", 400, &[]),
    Row(ErrorCode::InvalidArgument, "invalid argument", 400, &[61]),
    Row(ErrorCode::InvalidCoordinates, "invalid coordinates", 400, &[29]),
    Row(ErrorCode::InvalidCookieDomain, "invalid cookie domain", 400, &[24]),
    Row(ErrorCode::InvalidElementState, "invalid element state", 400, &[12]),
    Row(ErrorCode::InvalidSelector, "invalid selector", 400, &[32, 19, 51, 52]),
    Row(ErrorCode::InvalidSessionId, "invalid session id", 404, &[6]),
    Row(ErrorCode::JavascriptError, "javascript error", 500, &[17]),
    Row(ErrorCode::MoveTargetOutOfBounds, "move target out of bounds", 500, &[34]),
    Row(ErrorCode::NoSuchAlert, "no such alert", 404, &[27]),
    Row(ErrorCode::NoSuchCookie, "no such cookie", 404, &[62]),
    Row(ErrorCode::NoSuchElement, "no such element", 404, &[7]),
    Row(ErrorCode::NoSuchFrame, "no such frame", 404, &[8]),
    Row(ErrorCode::NoSuchShadowRoot, "no such shadow root", 404, &[65]),
    Row(ErrorCode::NoSuchWindow, "no such window", 404, &[23, 35]),
    Row(ErrorCode::ScriptTimeout, "script timeout", 500, &[28]),
    Row(ErrorCode::SessionNotCreated, "session not created", 500, &[33]),
    Row(ErrorCode::StaleElementReference, "stale element reference", 404, &[10]),
    Row(ErrorCode::Timeout, "timeout", 500, &[21]),
    Row(ErrorCode::UnableToSetCookie, "unable to set cookie", 500, &[25]),
    Row(ErrorCode::UnableToCaptureScreen, "unable to capture screen", 500, &[63]),
    Row(ErrorCode::UnexpectedAlertOpen, "unexpected alert open", 500, &[26]),
    Row(ErrorCode::UnknownCommand, "unknown command", 404, &[9]),
    Row(ErrorCode::UnknownError, "unknown error", 500, &[13]),
    Row(ErrorCode::UnknownMethod, "unknown method", 405, &[405]),
    Row(ErrorCode::UnsupportedOperation, "unsupported operation", 500, &[1, 30, 31]),
];

impl ErrorCode {
    /// Every code of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0.clone())
    }

    /// The code for a text such as `no such element`; [`Other`](Self::Other) keeps an unknown one.
    pub fn from_text(text: &str) -> Self {
        let row = TABLE.iter().find(|row| row.1 == text);
        row.map_or_else(|| Self::Other(text.to_owned()), |row| row.0.clone())
    }

    /// The text, as in a response's `error`.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Other(text) => text,
            code => code.row().map_or("unknown error", |row| row.1),
        }
    }

    /// The HTTP status that W3C WebDriver gives it; 500 for an unknown code.
    pub fn http_status(&self) -> u16 {
        self.row().map_or(500, |row| row.2)
    }

    /// The code for a `status` of the JSON wire protocol; `None` for 0, which is success.
    pub fn from_json_wire(status: u64) -> Option<Self> {
        let row = TABLE.iter().find(|row| row.3.contains(&status));
        (status != 0).then(|| row.map_or(Self::UnknownError, |row| row.0.clone()))
    }

    /// The `status` of the JSON wire protocol; 13, which means unknown, for codes that it does not
    /// have.
    pub fn json_wire(&self) -> u64 {
        self.row().and_then(|row| row.3.first().copied()).unwrap_or(13)
    }

    fn row(&self) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.0 == *self)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A command's failure, as it is reported over the wire.
///
/// The texts are the other end's: pass them through `thumbwire_base::visible` before they reach a
/// terminal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct WebDriverError {
    /// What kind of failure it is.
    pub code: ErrorCode,
    /// What happened, for people.
    pub message: String,
    /// Where it happened in the server's code; WebDriverAgent calls it `traceback`. Often empty.
    pub stacktrace: String,
    /// What else the server says, such as the text of an unexpected alert.
    pub data: Option<Box<Value>>,
}

impl WebDriverError {
    /// A failure without stack trace and data.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), stacktrace: String::new(), data: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_converts_both_ways() {
        let all: Vec<ErrorCode> = ErrorCode::all().collect();
        for code in &all {
            assert_eq!(ErrorCode::from_text(code.as_str()), *code);
            assert!([400, 404, 405, 500].contains(&code.http_status()), "{code}");
            let number = code.json_wire();
            let lacks_number = number == 13 && *code != ErrorCode::UnknownError;
            assert!(lacks_number || ErrorCode::from_json_wire(number).as_ref() == Some(code));
        }
        let mut texts: Vec<&str> = all.iter().map(ErrorCode::as_str).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), all.len());
    }

    #[test]
    fn numbers_mean_one_code_each() {
        let mut numbers: Vec<u64> = TABLE.iter().flat_map(|row| row.3.iter().copied()).collect();
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
        assert_eq!(ErrorCode::from_json_wire(0), None);
        assert_eq!(ErrorCode::from_json_wire(888), Some(ErrorCode::UnknownError));
    }

    #[test]
    fn unknown_code_is_kept() {
        let code = ErrorCode::from_text("battery empty");
        assert_eq!(code, ErrorCode::Other("battery empty".into()));
        assert_eq!(
            (code.as_str(), code.http_status(), code.json_wire()),
            ("battery empty", 500, 13)
        );
    }
}
