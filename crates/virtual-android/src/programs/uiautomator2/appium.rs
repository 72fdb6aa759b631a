//! Appium's UiAutomator2 server: the instrumentation of the package
//! `io.appium.uiautomator2.server.test`, WebDriver over HTTP on port 6790 of the phone.
//!
//! Start with [`run`], then [`Server::route`]: `find` locates elements, `element` answers about
//! one, `gestures` and `actions` touch the screen, `device` tells about the phone, `alert` answers
//! dialogs, `settings` keeps the session's settings. Paths and bodies are what the driver on npm
//! (`appium-uiautomator2-driver` 8) sends; errors are W3C WebDriver's.
//!
//! Not here: the MJPEG stream on port 7810, actions that repeat by themselves (`schedule_action`),
//! elements for toasts. They get `unknown command`, or nothing listens.

mod actions;
mod alert;
mod device;
mod element;
mod find;
mod gestures;
mod settings;

use super::http::{self, Request, Response, Service};
use super::tree::Tree;
use crate::latency;
use crate::phone::VirtualPhone;
use crate::phone::automation::AutomationGuard;
use crate::program::Invocation;
use find::KnownElements;
use futures::future::{BoxFuture, FutureExt as _};
use serde_json::{Map, Value, json};
use settings::Settings;
use std::sync::{Arc, Mutex};
use thumbwire_base::lock;
use thumbwire_virtual_shell::io::Status;
use thumbwire_webdriver::{ErrorCode, ResponseFormat, WebDriverError};
use tokio::sync::Notify;

/// The package that is instrumented, whose process the server runs in.
pub(in crate::programs) const PACKAGE: &str = "io.appium.uiautomator2.server";
/// The socket.
const PLACE: &str = "tcp:6790";
/// Maximum bytes of a session's capabilities that are kept.
const MAX_CAPABILITIES: usize = 64 << 10;

/// The result of a command.
type Outcome = Result<Value, WebDriverError>;

/// `am instrument -w`: serves until the session is deleted or the process is killed.
pub(in crate::programs) async fn run(call: &Invocation, wait: bool) -> Status {
    // The process of the instrumented app starts.
    call.phone.run_work(latency::JAVA).await;
    let Some(_held) = AutomationGuard::take(&call.phone, PACKAGE) else {
        let reason = "java.lang.IllegalStateException: UiAutomationService already registered!";
        return crashed(call, wait, reason).await;
    };
    let listener = match call.phone.sockets().listen(PLACE) {
        Ok(listener) => listener,
        Err(reason) => {
            let reason = format!("java.net.BindException: bind failed: {reason}");
            return crashed(call, wait, &reason).await;
        }
    };
    let Some(process) = Process::start(&call.phone) else {
        return crashed(call, wait, "the package is not installed").await;
    };
    let server = Arc::new(Server {
        phone: call.phone.clone(),
        session: Mutex::default(),
        sessions: Mutex::new(0),
        ended: Notify::new(),
    });
    tokio::select! {
        () = http::serve(listener, Arc::clone(&server) as Arc<dyn Service>) => {},
        () = server.ended.notified() => {
            // The response to the deletion is still on its way.
            tokio::task::yield_now().await;
            if wait {
                call.out("\nOK (1 test)\n\n\n").await?;
            }
            return Ok(0);
        }
        () = process.killed() => {},
    }
    crashed(call, wait, "Process crashed.").await
}

async fn crashed(call: &Invocation, wait: bool, reason: &str) -> Status {
    let pid = call.running.pid;
    call.phone.with(|phone| phone.world.write_log('E', "AndroidRuntime", pid, reason));
    if wait {
        call.out(format!("INSTRUMENTATION_RESULT: shortMsg={reason}\nINSTRUMENTATION_CODE: 0\n"))
            .await?;
    }
    Ok(0)
}

/// The process of the server; dropping it ends it.
struct Process {
    phone: VirtualPhone,
    pid: u32,
}

impl Process {
    /// Starts it. `None` if the package is not installed.
    fn start(phone: &VirtualPhone) -> Option<Self> {
        let pid = phone.with(|phone| {
            // Instrumenting a package ends its former process.
            phone.world.force_stop(PACKAGE);
            phone.world.start_process(PACKAGE)
        })?;
        Some(Self { phone: phone.clone(), pid })
    }

    /// Completes when someone has ended it, such as `am force-stop`.
    async fn killed(&self) {
        loop {
            let changed = self.phone.changed();
            if self.phone.read(|phone| phone.world.pid_of(PACKAGE)) != Some(self.pid) {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.phone.with(|phone| {
            if phone.world.pid_of(PACKAGE) == Some(self.pid) {
                phone.world.force_stop(PACKAGE);
            }
        });
    }
}

struct Server {
    phone: VirtualPhone,
    session: Mutex<Option<Session>>,
    /// How many sessions there were.
    sessions: Mutex<u64>,
    ended: Notify,
}

struct Session {
    id: String,
    capabilities: Value,
    settings: Settings,
    elements: KnownElements,
}

impl Service for Server {
    fn answer(&self, request: Request) -> BoxFuture<'_, Response> {
        async move {
            let path = request.target.split('?').next().unwrap_or_default();
            let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
            let session = || lock(&self.session).as_ref().map(|session| session.id.clone());
            let before = session();
            let outcome = match read_body(&request.body) {
                Ok(body) => self.route(&request.method, &segments, &body).await,
                Err(error) => Err(error),
            };
            let format = ResponseFormat::W3c;
            let (status, mut body) = match outcome {
                Ok(value) => (200, format.success(None, value)),
                Err(error) => (format.http_status(&error.code), format.failure(None, &error)),
            };
            body["sessionId"] = session().or(before).unwrap_or_else(|| "None".to_owned()).into();
            Response::json(status, &body)
        }
        .boxed()
    }
}

fn read_body(body: &[u8]) -> Result<Map<String, Value>, WebDriverError> {
    if body.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(invalid("the body must be a JSON object")),
        Err(reason) => Err(invalid(&format!("the body is not JSON: {reason}"))),
    }
}

/// `invalid argument`
fn invalid(message: &str) -> WebDriverError {
    WebDriverError::new(ErrorCode::InvalidArgument, message)
}

/// `unknown command`, for a path that is not answered here.
fn unknown(method: &str, segments: &[&str]) -> WebDriverError {
    let path = thumbwire_base::truncate(&segments.join("/"), 200).to_string();
    let message = format!("{method} /{path} is not implemented by the virtual phone");
    WebDriverError::new(ErrorCode::UnknownCommand, message)
}

impl Server {
    async fn route(&self, method: &str, path: &[&str], body: &Map<String, Value>) -> Outcome {
        match (method, path) {
            ("GET", ["status"]) => {
                let message = "UiAutomator2 Server is ready to accept commands";
                Ok(json!({ "ready": true, "message": message }))
            }
            ("GET", ["sessions"]) => {
                let session = lock(&self.session);
                let list = session.iter();
                let list = list.map(|it| json!({ "id": it.id, "capabilities": it.capabilities }));
                Ok(list.collect::<Vec<_>>().into())
            }
            ("POST", ["session"]) => self.create_session(body),
            (_, ["session", id, rest @ ..]) => {
                if lock(&self.session).as_ref().is_none_or(|session| session.id != *id) {
                    let message = format!(
                        "unknown session {:?}",
                        thumbwire_base::truncate(id, 80).to_string()
                    );
                    return Err(WebDriverError::new(ErrorCode::InvalidSessionId, message));
                }
                self.in_session(method, rest, body).await
            }
            _ => Err(unknown(method, path)),
        }
    }

    fn create_session(&self, body: &Map<String, Value>) -> Outcome {
        let wanted = body.get("capabilities").cloned().unwrap_or_default();
        let mut capabilities =
            wanted.pointer("/firstMatch/0").cloned().unwrap_or_else(|| json!({}));
        if let (Some(all), Some(Value::Object(always))) =
            (capabilities.as_object_mut(), wanted.get("alwaysMatch"))
        {
            all.extend(always.clone());
        }
        if capabilities.to_string().len() > MAX_CAPABILITIES {
            return Err(WebDriverError::new(
                ErrorCode::SessionNotCreated,
                "the capabilities are too long",
            ));
        }
        let number = {
            let mut sessions = lock(&self.sessions);
            *sessions += 1;
            *sessions
        };
        // As a UUID, like the server's own.
        let seed = self.phone.read(|phone| phone.world.seed());
        let id = format!("{:08x}-0000-4000-8000-{number:012x}", seed & 0xffff_ffff);
        capabilities["deviceInfo"] = device::info(&self.phone);
        let session = Session {
            id: id.clone(),
            capabilities: capabilities.clone(),
            settings: Settings::default(),
            elements: KnownElements::default(),
        };
        *lock(&self.session) = Some(session);
        Ok(json!({ "sessionId": id, "capabilities": capabilities }))
    }

    async fn in_session(&self, method: &str, path: &[&str], body: &Map<String, Value>) -> Outcome {
        let phone = &self.phone;
        match (method, path) {
            ("GET", []) => {
                let session = lock(&self.session);
                Ok(session.as_ref().map(|it| it.capabilities.clone()).unwrap_or_default())
            }
            ("DELETE", []) => {
                *lock(&self.session) = None;
                self.ended.notify_one();
                Ok(Value::Null)
            }
            ("GET", ["source"]) => Ok(super::source::for_appium(&self.tree().await).into()),
            ("POST", ["element"]) => self.find(body, false).await,
            ("POST", ["elements"]) => self.find(body, true).await,
            ("GET", ["element", "active"]) => self.active().await,
            ("POST", ["actions"]) => self.perform(body).await,
            ("POST", ["keys"]) => self.type_into_focus(body).await,
            ("GET" | "POST", ["element", id, rest @ ..]) => {
                self.element(method, id, rest, body).await
            }
            ("GET", ["appium", "element", id, "first_visible"]) => self.first_visible(id).await,
            ("POST", ["appium", "element", id, "scroll_to", to]) => {
                self.scroll_back_to(id, to).await
            }
            ("POST", ["gestures", "scroll_to"]) => self.scroll_to(body).await,
            ("POST", ["appium", "gestures", name]) => match self.gesture(name, body).await {
                Some(outcome) => outcome,
                None => Err(unknown(method, path)),
            },
            ("GET", ["alert", "text"]) => alert::text(&self.tree().await),
            ("POST", ["alert", answer @ ("accept" | "dismiss")]) => {
                alert::answer(phone, &self.tree().await, *answer == "accept", body).await
            }
            ("GET", ["appium", "settings"]) => {
                let session = lock(&self.session);
                Ok(session.as_ref().map(|it| it.settings.to_value()).unwrap_or_default())
            }
            ("POST", ["appium", "settings"]) => {
                let mut session = lock(&self.session);
                match session.as_mut() {
                    Some(session) => session.settings.update(body).map(|()| Value::Null),
                    None => Err(WebDriverError::new(
                        ErrorCode::InvalidSessionId,
                        "the session has ended",
                    )),
                }
            }
            _ => match device::command(phone, method, path, body).await {
                Some(outcome) => outcome,
                None => Err(unknown(method, path)),
            },
        }
    }

    /// The screen, as far as the settings let the client see it.
    async fn tree(&self) -> Tree {
        self.phone.run_work(latency::HELPER_TREE).await;
        let all =
            lock(&self.session).as_ref().is_some_and(|it| it.settings.flag("enableMultiWindows"));
        self.phone.with(|phone| Tree::take(phone, all))
    }
}
