//! The server's end, which only a virtual phone has: the router that reads requests, and the bodies
//! of responses in three formats.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use crate::command::{
    AppCommand, Command, DeviceCommand, ElementCommand, GestureCommand, Method, RequestParts,
    Route, ScreenCommand, SessionCommand, SessionScope,
};
use crate::error::{ErrorCode, WebDriverError};
use crate::field::{Body, Field, FieldError, get};
use crate::id::SessionId;
use crate::locator::Strategy;
use crate::mobile::{MobileCommand, Script};
use crate::path::segments_of;

/// A request that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct IncomingCommand {
    /// The session in the path. Whether it exists is for the server to check; `None` only for
    /// commands whose [`Route::session`] is not `Required`.
    pub session: Option<SessionId>,
    /// The command.
    pub command: Command,
}

impl Command {
    /// The route of every command.
    pub fn routes() -> impl Iterator<Item = &'static Route> {
        [
            SessionCommand::ROUTES,
            ElementCommand::ROUTES,
            ScreenCommand::ROUTES,
            GestureCommand::ROUTES,
            AppCommand::ROUTES,
            DeviceCommand::ROUTES,
        ]
        .into_iter()
        .flatten()
    }

    /// The router: reads a request. `target` is its path and perhaps a query, after the server's
    /// base path. An empty body counts as `{}`.
    ///
    /// # Errors
    /// `unknown command` for a path that no command has, `unknown method` for one that others have,
    /// and `invalid argument`, with the name of the field, for a wrong body.
    pub fn parse(
        method: &str,
        target: &str,
        body: &[u8],
    ) -> Result<IncomingCommand, WebDriverError> {
        let (segments, query) = split(target);
        let (session, rest) = match segments.as_slice() {
            ["session", id, rest @ ..] => (Some(decode(id).and_then(SessionId::new)), rest),
            all => (None, all),
        };
        let scope = match session {
            Some(_) => SessionScope::Required,
            None => SessionScope::None,
        };
        let here =
            |route: &&Route| route.session == SessionScope::Optional || route.session == scope;
        let matching = |route: &'static Route| {
            let values = route.paths.iter().find_map(|path| matches(path, rest))?;
            Some((route, values))
        };
        let mut matching = Self::routes().filter(here).filter_map(matching).peekable();
        let known = matching.peek().is_some();
        let asked = Method::from_text(method);
        let Some((route, values)) = matching.find(|(route, _)| Some(route.method) == asked) else {
            let code = if known { ErrorCode::UnknownMethod } else { ErrorCode::UnknownCommand };
            let target = thumbwire_base::truncate(target, 200);
            let method = thumbwire_base::truncate(method, 20);
            let message = format!("{code}: {method} {target}");
            return Err(WebDriverError::new(code, message));
        };
        if session == Some(None) {
            return Err(WebDriverError::new(
                ErrorCode::InvalidSessionId,
                "the path has no valid session id",
            ));
        }
        let body = match route.method {
            Method::Post => read_body(body)?,
            Method::Get | Method::Delete => Map::new(),
        };
        let parts = RequestParts { path: values, query: parse_query(query), body };
        let command = (route.read)(&parts)?;
        Ok(IncomingCommand { session: session.flatten(), command })
    }
}

impl Strategy {
    /// The name that WebDriverAgent itself knows; Appium's XCUITest driver translates in the same
    /// way.
    #[must_use]
    pub fn for_webdriver_agent(self) -> Self {
        match self {
            Self::IosPredicate => Self::WdaPredicate,
            Self::IosClassChain => Self::WdaClassChain,
            other => other,
        }
    }
}

impl MobileCommand {
    /// The command of a script; `None` if the script is code, or has other arguments than one
    /// object or none.
    pub fn from_script(script: &Script) -> Option<Self> {
        let name = script.script.strip_prefix("mobile:")?.trim();
        let args = match script.args.as_slice() {
            [] => Map::new(),
            [Value::Object(args)] => args.clone(),
            _ => return None,
        };
        (!name.is_empty()).then(|| Self { name: name.to_owned(), args })
    }
}

impl RequestParts {
    pub(crate) fn get_path<T: Field>(&self, name: &str) -> Result<T, FieldError> {
        get(&self.path, name)
    }

    pub(crate) fn get_query<T: Field>(&self, name: &str) -> Result<T, FieldError> {
        get(&self.query, name)
    }

    pub(crate) fn get_field<T: Field>(&self, name: &str) -> Result<T, FieldError> {
        get(&self.body, name)
    }

    pub(crate) fn get_body<T: Body>(&self) -> Result<T, FieldError> {
        T::read(&self.body)
    }
}

impl Method {
    /// Reads it; `None` for methods that WebDriver does not use.
    pub fn from_text(text: &str) -> Option<Self> {
        [Self::Get, Self::Post, Self::Delete].into_iter().find(|method| method.as_str() == text)
    }
}

fn read_body(body: &[u8]) -> Result<Map<String, Value>, WebDriverError> {
    let refused = |message: String| WebDriverError::new(ErrorCode::InvalidArgument, message);
    if body.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err(refused("the body must be a JSON object".into())),
        Err(error) => Err(refused(format!("the body is not JSON: {error}"))),
    }
}

/// The text of a segment or a query's value; `None` if it is not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(Into::into)
}

/// A request's target: the segments of its path, still encoded, and its query. A `/` at the end
/// makes no difference.
pub(crate) fn split(target: &str) -> (Vec<&str>, &str) {
    let target = target.split('#').next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let segments = if path.is_empty() { Vec::new() } else { path.split('/').collect() };
    (segments, query)
}

/// The values of a template's names in these segments, or `None` if they do not match. A value that
/// is not UTF-8 matches nothing.
pub(crate) fn matches(template: &str, segments: &[&str]) -> Option<Map<String, Value>> {
    let mut values = Map::new();
    let mut rest = segments;
    for segment in segments_of(template) {
        let Some(name) = segment.strip_prefix(':') else {
            rest = rest.strip_prefix(&[segment])?;
            continue;
        };
        if let Some(name) = name.strip_suffix('?') {
            if let [first, value, after @ ..] = rest
                && *first == name
            {
                values.insert(name.to_owned(), Value::from(decode(value)?));
                rest = after;
            }
            continue;
        }
        let (value, after) = rest.split_first()?;
        match name.strip_suffix("|0") {
            Some(_) if *value == "0" => {}
            optional => {
                let name = optional.unwrap_or(name);
                values.insert(name.to_owned(), Value::from(decode(value)?));
            }
        }
        rest = after;
    }
    rest.is_empty().then_some(values)
}

/// The values of a query. Of two with one name the last counts; what is not UTF-8 is left out.
pub(crate) fn parse_query(query: &str) -> Map<String, Value> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.filter_map(|(key, value)| Some((decode(key)?, Value::from(decode(value)?)))).collect()
}

/// How a server writes its responses. All of them are read by [`parse_response`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseFormat {
    /// W3C WebDriver and Appium: `{"value": …}`.
    W3c,
    /// WebDriverAgent since 2018: `value` and `sessionId`; an error has `traceback`
    /// (FBResponsePayload.m).
    WebDriverAgent,
    /// The JSON wire protocol and older WebDriverAgents: `status`, `value` and `sessionId`.
    JsonWire,
}

impl ResponseFormat {
    /// The body of a success, to send with HTTP status 200. Commands that respond with nothing have
    /// `null`.
    pub fn success(self, session: Option<&SessionId>, value: Value) -> Value {
        let session = session.map(SessionId::as_str);
        match self {
            Self::W3c => json!({ "value": value }),
            Self::WebDriverAgent => json!({ "value": value, "sessionId": session }),
            Self::JsonWire => json!({ "status": 0, "value": value, "sessionId": session }),
        }
    }

    /// The body of a failure, to send with [`http_status`](Self::http_status).
    pub fn failure(self, session: Option<&SessionId>, error: &WebDriverError) -> Value {
        let session = session.map(SessionId::as_str);
        let WebDriverError { code, message, stacktrace, data } = error;
        match self {
            Self::W3c => {
                let mut value =
                    json!({ "error": code.as_str(), "message": message, "stacktrace": stacktrace });
                if let Some(data) = data {
                    value["data"] = Value::clone(data);
                }
                json!({ "value": value })
            }
            Self::WebDriverAgent => {
                let value =
                    json!({ "error": code.as_str(), "message": message, "traceback": stacktrace });
                json!({ "value": value, "sessionId": session })
            }
            Self::JsonWire => {
                json!({ "status": code.json_wire(), "value": message, "sessionId": session })
            }
        }
    }

    /// The HTTP status of a failure. WebDriverAgent and Appium have 408 for time-outs, W3C
    /// WebDriver 500, and the JSON wire protocol only 500.
    pub fn http_status(self, code: &ErrorCode) -> u16 {
        match self {
            Self::W3c => code.http_status(),
            Self::WebDriverAgent if *code == ErrorCode::Timeout => 408,
            Self::WebDriverAgent => code.http_status(),
            Self::JsonWire => 500,
        }
    }
}
