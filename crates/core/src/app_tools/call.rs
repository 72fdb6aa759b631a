//! Calls an app tool: check, send, receive.
//!
//! Start with [`AppToolHost::ready`], which does everything that needs no action on the phone, and
//! [`AppToolHost::send`]. Between the two a session waits for its turn; nothing before `send`
//! changes the phone. [`PendingRequests`](thumbwire_mobile_mcp::PendingRequests) matches replies
//! with requests: each request has its own callback on the phone, but an app may use it to answer
//! another request, twice, or with something else.

use std::time::Duration;

use serde_json::{Map, Value};
use thumbwire_base::{lock, sanitize};
use thumbwire_device::{
    CallbackResult, Component, Device, Error, ServiceReply, ServiceRequest, SideEffect,
    StartServiceError,
};
use thumbwire_mobile_mcp as protocol;
use thumbwire_mobile_mcp::{Request, Response, Status};
use tokio::time::{Instant, timeout};

use super::arguments::{self, is_of};
use super::discovery::Offer;
use super::{AppToolHost, functions, quoted, trust};
use crate::action::{
    AppTool, AppToolCall, AppToolPhase, AppToolReply, AppToolResult, AskUser, Cause, Failure,
};

/// How old a catalog a call may use. Android rejects an update with another signer, so an app can
/// only be replaced in this time by removing it first.
const AGE: Duration = Duration::from_secs(60);

/// The maximum length of an app's message and of one text value, in characters.
const MESSAGE: usize = 4_000;
const TEXT: usize = 100_000;

/// How many undeclared values an app may return.
const UNDECLARED: usize = 32;

/// The maximum number of warnings per reply.
const WARNINGS: usize = 10;

/// A checked call, ready to send.
pub struct CheckedCall {
    call: AppToolCall,
    tool: AppTool,
    /// The app's Linux user id, if the phone reports it.
    uid: Option<u32>,
    phases: Vec<(AppToolPhase, Duration)>,
}

impl AppToolHost {
    /// Checks a call: the tool exists, its app is trusted, the arguments match. `ask` asks the user
    /// to confirm an app that has changed.
    ///
    /// # Errors
    /// Why the call may not be sent. Nothing was sent.
    pub async fn ready(
        &self,
        device: &dyn Device,
        call: AppToolCall,
        ask: &dyn AskUser,
    ) -> Result<CheckedCall, Failure> {
        let mut found = self.found(device, AGE).await?;
        if !found.offers.iter().any(|offer| offers(offer, &call)) {
            // The app may have been installed or updated a moment ago.
            found = self.found(device, Duration::ZERO).await?;
        }
        let began = Instant::now();
        let (offer, tool) = choose(&found.offers, &call)?;
        self.ensure_trusted(&offer.tools, ask).await?;
        arguments::check(tool, &call.arguments)?;
        let phases = vec![(AppToolPhase::Check, began.elapsed())];
        Ok(CheckedCall { tool: tool.clone(), call, uid: offer.uid, phases })
    }

    /// Sends a call and waits for the reply.
    ///
    /// # Errors
    /// Why there is no reply. The failure says whether the app may have acted.
    pub async fn send(
        &self,
        device: &dyn Device,
        ready: CheckedCall,
        limit: Duration,
    ) -> Result<AppToolResult, Failure> {
        let began = Instant::now();
        let limit = self.options.timeout.map_or(limit, |patience| patience.min(limit));
        let heard = match &ready.tool.service {
            Some(service) => self.call_by_intent(device, &ready, service, limit).await,
            None => call_by_function(device, &ready.call, &ready.tool, limit).await,
        }?;
        let CheckedCall { call, mut phases, .. } = ready;
        phases.push((AppToolPhase::Invoke, began.elapsed()));
        Ok(AppToolResult { app: call.app, tool: call.tool, heard, phases })
    }

    async fn call_by_intent(
        &self,
        device: &dyn Device,
        CheckedCall { call, tool, uid, .. }: &CheckedCall,
        service: &Component,
        limit: Duration,
    ) -> Result<AppToolReply, Failure> {
        let keys = self.options.keys.get(&call.app).cloned().unwrap_or_default();
        let id = uuid().map_err(|reason| Failure::from(Cause::DeviceError { text: reason }))?;
        let request =
            Request { id, capability: tool.id.clone(), arguments: call.arguments.clone() };
        let mut service_request = ServiceRequest {
            to: service.clone(),
            extras: request.extras(&keys).into_iter().collect(),
            callbacks: Vec::new(),
            result_extras: Vec::new(),
        };
        let failed = |error: &Error| Failure::of_device(&device.identity().id, error);
        if call.send_only {
            let starting = async { device.app_services()?.start_service(&service_request).await };
            starting.await.map_err(|error| match error {
                Error::NotReady { text, .. } => in_background(call, &text).into(),
                error => failed(&error),
            })?;
            return Ok(AppToolReply::Sent);
        }
        service_request.callbacks.clone_from(&keys.callback);
        service_request.result_extras.clone_from(&keys.response);
        service_request.result_extras.extend(keys.id.iter().cloned());
        let sent = self.sent(&request, limit)?;
        let calling = async { device.app_services()?.call_service(&service_request, limit).await };
        let delivery = calling.await.map_err(|error| match error {
            Error::HelperMissing { .. } => Cause::NoAppReply {
                what: named(call),
                reason: "apps reply through Thumbwire's helper, which is off or does not start on this phone".into(),
            }
            .into(),
            error => failed(&error),
        })?;
        let answer = match delivery {
            ServiceReply::Answered(answer) => answer,
            ServiceReply::NoReply => return Err(silent(call, limit)),
            ServiceReply::NotStarted(reason) => {
                if reason == StartServiceError::NotFound {
                    self.forget(&device.identity().id);
                }
                return Err(undelivered(call, service, reason).into());
            }
        };
        is_from_app(&answer, *uid).map_err(|reason| unexpected(call, reason))?;
        let response = Response::read(&answer.extras.into_iter().collect(), &keys);
        let heard = lock(&self.pending).on_response(self.began.elapsed(), response);
        drop(sent);
        match heard {
            protocol::ResponseMatch::Expected(response) => Ok(to_reply(response, tool)),
            protocol::ResponseMatch::Late(_) => Err(silent(call, limit)),
            protocol::ResponseMatch::Duplicate(_) => {
                Err(unexpected(call, "the app answered the same request twice"))
            }
            protocol::ResponseMatch::UnknownRequest(response) => Err(unexpected(
                call,
                format!("the app answered a different request, {}", quoted(&response.id, 60)),
            )),
            protocol::ResponseMatch::WrongCapability(response) => Err(unexpected(
                call,
                format!(
                    "the app answered for the capability {} instead",
                    quoted(&response.capability, 60)
                ),
            )),
            protocol::ResponseMatch::Malformed(protocol::MalformedResponse(reason)) => {
                Err(unexpected(
                    call,
                    format!("cannot parse the app's reply: {}", sanitize(&reason, 300)),
                ))
            }
        }
    }

    /// Registers an outgoing request. Dropping the guard abandons it.
    fn sent(&self, request: &Request, limit: Duration) -> Result<PendingGuard<'_>, Failure> {
        // The phone starts counting the limit when it starts the app, which is later.
        let deadline = self.began.elapsed().saturating_add(limit.saturating_mul(2));
        let noted = lock(&self.pending).on_sent(&request.id, &request.capability, deadline);
        noted.map_err(|reason| Failure::from(Cause::Refused { reason }))?;
        Ok(PendingGuard { host: self, id: request.id.clone() })
    }
}

/// A request that waits for its reply.
struct PendingGuard<'a> {
    host: &'a AppToolHost,
    id: String,
}

impl Drop for PendingGuard<'_> {
    fn drop(&mut self) {
        lock(&self.host.pending).give_up(&self.id);
    }
}

async fn call_by_function(
    device: &dyn Device,
    call: &AppToolCall,
    tool: &AppTool,
    limit: Duration,
) -> Result<AppToolReply, Failure> {
    let parameters = Value::Object(call.arguments.clone()).to_string();
    let calling =
        async { device.app_functions()?.call_function(&call.app, &tool.id, &parameters).await };
    let text = match timeout(limit, calling).await {
        Ok(text) => text.map_err(|error| Failure::of_device(&device.identity().id, &error))?,
        Err(_) => return Err(silent(call, limit)),
    };
    let output =
        functions::answer(&text, tool).map_err(|reason| unexpected(call, quoted(&reason, 300)))?;
    let response = Response {
        id: String::new(),
        capability: String::new(),
        status: Status::Success,
        message: String::new(),
        output,
    };
    Ok(to_reply(response, tool))
}

fn offers(offer: &Offer, call: &AppToolCall) -> bool {
    offer.tools.app == call.app && offer.tools.tools.iter().any(|tool| matches_call(tool, call))
}

fn matches_call(tool: &AppTool, call: &AppToolCall) -> bool {
    let of_service = |wanted: &String| tool.service.as_ref().is_some_and(|it| it.class == *wanted);
    tool.id == call.tool && call.service.as_ref().is_none_or(of_service)
}

/// The requested tool, with its app's offer. If both protocols offer it, the first counts.
fn choose<'a>(all: &'a [Offer], call: &AppToolCall) -> Result<(&'a Offer, &'a AppTool), Cause> {
    let of_app: Vec<_> = all.iter().filter(|offer| offer.tools.app == call.app).collect();
    if of_app.is_empty() {
        return Err(trust::no_tool_error(&call.app, &call.tool));
    }
    for offer in &of_app {
        let meant: Vec<_> =
            offer.tools.tools.iter().filter(|tool| matches_call(tool, call)).collect();
        match meant[..] {
            [] => {}
            [tool] => return Ok((offer, tool)),
            _ => {
                let services = meant.iter().filter_map(|tool| tool.service.as_ref());
                let classes: Vec<_> = services.map(|it| sanitize(&it.class, 120)).collect();
                let reason = format!(
                    "{} offers {} in several services; set `service` to one of: {}",
                    call.app,
                    sanitize(&call.tool, 100),
                    classes.join(", ")
                );
                return Err(Cause::InvalidArgument { reason });
            }
        }
    }
    let ids = of_app.iter().flat_map(|offer| &offer.tools.tools);
    let ids: Vec<_> = ids.take(20).map(|tool| sanitize(&tool.id, 60)).collect();
    let mut fatal = of_app.iter().flat_map(|offer| &offer.tools.complaints);
    let reason = match fatal.find(|complaint| complaint.fatal) {
        _ if !ids.is_empty() => format!("it offers {}", ids.join(", ")),
        Some(complaint) => complaint.message.clone(),
        None => "it offers nothing".into(),
    };
    let (app, tool) = (sanitize(&call.app.0, 200), sanitize(&call.tool, 200));
    Err(Cause::AppToolNotFound { app, tool, reason: Some(reason) })
}

fn named(call: &AppToolCall) -> String {
    format!("{} of {}", sanitize(&call.tool, 100), sanitize(&call.app.0, 100))
}

/// The app was started and did not reply.
fn silent(call: &AppToolCall, limit: Duration) -> Failure {
    let what = format!(
        "{}: the app was started but has not replied (it may still be working, be waiting for user input on its screen, or not understand the request)",
        named(call)
    );
    Failure { cause: Cause::TimedOut { what, after: limit }, side_effect: SideEffect::Possible }
}

fn unexpected(call: &AppToolCall, reason: impl Into<String>) -> Failure {
    let output = format!("{} was called: {}", named(call), reason.into());
    Failure { cause: Cause::DeviceError { text: output }, side_effect: SideEffect::Possible }
}

/// The cause for a service that was not started; it says what the caller can do.
fn undelivered(call: &AppToolCall, service: &Component, reason: StartServiceError) -> Cause {
    match reason {
        StartServiceError::NotFound => Cause::AppToolNotFound {
            app: call.app.0.clone(),
            tool: sanitize(&call.tool, 200),
            reason: Some(format!(
                "the phone no longer has the service {}",
                sanitize(&service.class, 120)
            )),
        },
        StartServiceError::Refused(text) => Cause::Refused {
            reason: format!("the phone refused to start {}: {}", named(call), quoted(&text, 300)),
        },
        StartServiceError::BackgroundRestricted(text) => in_background(call, &text),
        StartServiceError::TooLarge { max } => Cause::InvalidArgument {
            reason: format!(
                "the arguments of {} are too large: at most {max} characters can be sent",
                named(call)
            ),
        },
    }
}

fn in_background(call: &AppToolCall, text: &str) -> Cause {
    Cause::BackgroundStartRestricted { what: named(call), text: quoted(text, 300) }
}

/// Whether a reply comes from the app itself, if the phone reports the sender.
fn is_from_app(answer: &CallbackResult, app: Option<u32>) -> Result<(), String> {
    // Each Android user has a range of 100,000 Linux user ids (`UserHandle.PER_USER_RANGE`).
    let of_app = |uid: u32| uid % 100_000;
    match (answer.uid, app) {
        (Some(uid), Some(app)) if of_app(uid) != of_app(app) => {
            Err(format!("ignored a reply from another app (uid {uid}, expected {app})"))
        }
        _ => Ok(()),
    }
}

/// The reply as returned to the caller, with warnings about what is wrong with it.
fn to_reply(response: Response, tool: &AppTool) -> AppToolReply {
    let success = response.status == Status::Success;
    let mut warnings = Vec::new();
    let mut warn = |text: String| {
        if warnings.len() < WARNINGS {
            warnings.push(text);
        }
    };
    let mut output = Map::new();
    let mut undeclared = 0;
    for (name, mut value) in response.output {
        let declared = tool.output.iter().find(|it| it.name == name);
        let called = sanitize(&name, 60);
        match declared {
            None if undeclared == UNDECLARED => {
                warn(format!("more than {UNDECLARED} undeclared values: the rest is omitted"));
                undeclared += 1;
                continue;
            }
            None if undeclared > UNDECLARED => continue,
            None => {
                undeclared += 1;
                warn(format!("{called} is not declared"));
            }
            Some(it) if !is_of(it.kind, &value) => {
                warn(format!("{called} is declared as {} but has another type", it.kind));
            }
            Some(_) => {}
        }
        if truncate(&mut value) {
            warn(format!("{called} is truncated to {TEXT} characters"));
        }
        output.insert(name, value);
    }
    let missing = tool.output.iter().filter(|it| success && !output.contains_key(&it.name));
    for it in missing {
        warn(format!("{} is declared but missing", sanitize(&it.name, 60)));
    }
    let message = sanitize(&response.message, MESSAGE);
    AppToolReply::Answer { success, message, output, warnings }
}

/// Truncates long texts. Returns whether it did.
fn truncate(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match text.char_indices().nth(TEXT) {
            Some((end, _)) => {
                text.truncate(end);
                text.push('…');
                true
            }
            None => false,
        },
        Value::Array(items) => items.iter_mut().fold(false, |cut, item| truncate(item) | cut),
        Value::Object(members) => {
            members.values_mut().fold(false, |cut, item| truncate(item) | cut)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A random UUID (RFC 9562, version 4).
fn uuid() -> Result<String, String> {
    let mut bytes = crate::random::bytes::<16>()?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    Ok(parts.join("-"))
}
