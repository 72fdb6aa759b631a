//! Commands: what a client asks, as a value, and the HTTP request for it. The router that reads the
//! request again is in `server`.
//!
//! Each file here has the rows of one subject; [`route`] explains a row. To add a command, add its
//! row, its sample in `tests/it/samples.rs`, and its line in `docs/internals/protocol/webdriver.md`.

mod app;
mod device;
mod element;
mod gesture;
mod route;
mod screen;
mod session;

use serde_json::Value;

pub use app::AppCommand;
pub use device::{Appearance, DeviceCommand};
pub use element::ElementCommand;
pub use gesture::{GestureCommand, KeyPress, Scroll};
pub use route::{Method, Route, SessionScope};
pub use screen::ScreenCommand;
pub use session::SessionCommand;

use crate::id::SessionId;
use crate::path;
pub(crate) use route::RequestParts;

/// Everything that can be asked, by subject.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Sessions, the server itself, contexts, scripts, logs.
    Session(SessionCommand),
    /// Finding elements, and what is done to one.
    Element(ElementCommand),
    /// Sources, pictures, sizes, orientation, alerts.
    Screen(ScreenCommand),
    /// Touches and typing.
    Gesture(GestureCommand),
    /// Apps and URLs.
    App(AppCommand),
    /// The device: lock, buttons, clipboard, keyboard, battery.
    Device(DeviceCommand),
}

/// An HTTP request, without host and headers.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Path and query, encoded. It begins with `/` and follows the server's base path, such as
    /// `/wd/hub` of Appium 1.
    pub path: String,
    /// The JSON object to send with `POST`; other methods have none.
    pub body: Option<Value>,
}

impl Command {
    /// This command's route.
    pub fn route(&self) -> &'static Route {
        match self {
            Self::Session(command) => command.route(),
            Self::Element(command) => command.route(),
            Self::Screen(command) => command.route(),
            Self::Gesture(command) => command.route(),
            Self::App(command) => command.route(),
            Self::Device(command) => command.route(),
        }
    }

    /// The request in a session. Commands that never belong to one ignore it.
    pub fn request(&self, session: &SessionId) -> Request {
        let route = self.route();
        let session = (route.session != SessionScope::None).then_some(session);
        let path = route.paths.first().copied().unwrap_or_default();
        write(route.method, session, path, self.parts())
    }

    /// The request without a session, or `None` if the command needs one.
    pub fn request_without_session(&self) -> Option<Request> {
        let route = self.route();
        let path = route.paths.first()?;
        (route.session != SessionScope::Required)
            .then(|| write(route.method, None, path, self.parts()))
    }

    /// The request by each of the command's paths, the one in use first. A client that gets
    /// `unknown command` tries the next.
    pub fn requests(&self, session: &SessionId) -> impl Iterator<Item = Request> {
        let (route, parts) = (self.route(), self.parts());
        let session = (route.session != SessionScope::None).then_some(session);
        route.paths.iter().map(move |path| write(route.method, session, path, parts.clone()))
    }

    fn parts(&self) -> RequestParts {
        match self {
            Self::Session(command) => command.parts(),
            Self::Element(command) => command.parts(),
            Self::Screen(command) => command.parts(),
            Self::Gesture(command) => command.parts(),
            Self::App(command) => command.parts(),
            Self::Device(command) => command.parts(),
        }
    }
}

fn write(
    method: Method,
    session: Option<&SessionId>,
    template: &str,
    parts: RequestParts,
) -> Request {
    let session = session.map(|id| format!("/session/{}", path::encode(id.as_str())));
    let path = path::expand(template, &parts.path) + &path::query(&parts.query);
    let body = (method == Method::Post).then_some(Value::Object(parts.body));
    Request { method, path: session.unwrap_or_default() + &path, body }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::{ErrorCode, IncomingCommand};

    #[track_caller]
    fn refused(method: &str, target: &str, body: &str, code: ErrorCode, message: &str) {
        let error = Command::parse(method, target, body.as_bytes()).unwrap_err();
        assert_eq!((&error.code, error.message.as_str()), (&code, message));
    }

    #[test]
    fn unknown_paths_and_methods_are_told_apart() {
        let unknown = ErrorCode::UnknownCommand;
        refused(
            "GET",
            "/session/1/weather",
            "",
            unknown.clone(),
            "unknown command: GET /session/1/weather",
        );
        refused("POST", "/element", "{}", unknown.clone(), "unknown command: POST /element");
        refused("GET", "/session/1/status", "", unknown, "unknown command: GET /session/1/status");
        let method = ErrorCode::UnknownMethod;
        refused("POST", "/status", "{}", method.clone(), "unknown method: POST /status");
        refused(
            "PUT",
            "/session/1/orientation",
            "",
            method.clone(),
            "unknown method: PUT /session/1/orientation",
        );
        refused("GET", "/session", "", method, "unknown method: GET /session");
    }

    #[test]
    fn wrong_bodies_are_refused_by_field() {
        let argument = ErrorCode::InvalidArgument;
        refused(
            "POST",
            "/session/1/element",
            "[]",
            argument.clone(),
            "the body must be a JSON object",
        );
        refused("POST", "/session/1/element", "", argument.clone(), "`using` is missing");
        refused(
            "POST",
            "/session/1/wda/tap",
            r#"{"x":1,"y":"a"}"#,
            argument.clone(),
            "`y` must be a number",
        );
        refused(
            "GET",
            "/source?format=yaml",
            "",
            argument.clone(),
            "`format` must be one of `xml` `json` `description`",
        );
        let error = Command::parse("POST", "/session/1/url", b"{").unwrap_err();
        assert!(
            error.code == argument && error.message.starts_with("the body is not JSON: "),
            "{error}"
        );
    }

    #[test]
    fn slash_at_the_end_and_missing_bodies_are_accepted() {
        // As facebook-wda asks.
        let get = Command::parse("GET", "/session/A-1/", b"").unwrap();
        assert_eq!(get.command, SessionCommand::Get.into());
        assert_eq!(get.session, SessionId::new("A-1"));
        for body in ["", " \n", "{}", "null"] {
            let lock = Command::parse("POST", "/wda/lock", body.as_bytes()).unwrap();
            assert_eq!(
                lock,
                IncomingCommand { session: None, command: DeviceCommand::Lock.into() }
            );
        }
    }

    #[test]
    fn session_id_that_cannot_be_one_is_refused() {
        for target in ["/session/%FF", "/session/..", "/session//source"] {
            let error = Command::parse("GET", target, b"").unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidSessionId, "{target}");
        }
    }

    #[test]
    fn no_two_commands_have_the_same_request() {
        let mut seen = std::collections::BTreeMap::new();
        for route in Command::routes() {
            for path in route.paths {
                // Optional parts of a path are tried with and without.
                for element in
                    [Map::new(), Map::from_iter([("element".to_owned(), Value::from("e"))])]
                {
                    let filled = path::expand(path, &element);
                    let key = (route.method.as_str(), filled.clone());
                    let other = seen.insert(key, route.name);
                    assert!(
                        other.is_none_or(|other| other == route.name),
                        "{other:?} {} {filled}",
                        route.name
                    );
                }
            }
        }
    }
}
