//! A call of something that an app offers: checked, sent, heard.
//!
//! Begin with [`Bridge::ready`], which does all that can be done before the phone acts, and [`Bridge::send`]. Between the two a session
//! waits for its turn: nothing before `send` changes the phone. What comes back is held against the request by [`Pending`]: each request
//! has a callback of its own on the phone, but an app may answer another one's by it, or twice, or with something else.

use std::time::Duration;

use serde_json::{Map, Value};
use thumbwire_device::{Acted, Answer, Component, Delivery, Device, Error, Letter, Undelivered};
use thumbwire_mobile_mcp as protocol;
use thumbwire_mobile_mcp::words::harmless;
use thumbwire_mobile_mcp::{Request, Response, Status};
use tokio::time::{Instant, timeout};

use super::arguments::{self, is_of};
use super::discovery::Offer;
use super::{Bridge, functions, lock, quoted, trust};
use crate::action::{Answered, AppCall, AppTool, Ask, Cause, Failure, Heard, Phase};

/// How old the list may be by which a call is understood. Android takes no update by another signer, so that nobody slips in meanwhile
/// but by the app's removal.
const AGE: Duration = Duration::from_secs(60);

/// The most characters of an app's message, and of one text that it gives.
const MESSAGE: usize = 4_000;
const TEXT: usize = 100_000;

/// The most values that it may give beyond those that it declares.
const UNDECLARED: usize = 32;

/// The most warnings of one answer.
const WARNINGS: usize = 10;

/// A call that is checked and may be sent.
pub struct Ready {
    call: AppCall,
    tool: AppTool,
    /// The Linux user that the app runs as, where the phone tells.
    uid: Option<u32>,
    phases: Vec<(Phase, Duration)>,
}

impl Bridge {
    /// Checks a call: the tool is there, its app is trusted, the arguments fit. `ask` is who may agree to an app that has changed.
    ///
    /// # Errors
    /// Why it may not be sent; nothing was.
    pub async fn ready(
        &self,
        device: &dyn Device,
        call: AppCall,
        ask: &dyn Ask,
    ) -> Result<Ready, Failure> {
        let mut found = self.found(device, AGE).await?;
        if !found.offers.iter().any(|offer| offers(offer, &call)) {
            // Installed or updated a moment ago.
            found = self.found(device, Duration::ZERO).await?;
        }
        let began = Instant::now();
        let (offer, tool) = choose(&found.offers, &call)?;
        self.settled(&offer.tools, ask).await?;
        arguments::check(tool, &call.arguments)?;
        let phases = vec![(Phase::Check, began.elapsed())];
        Ok(Ready { tool: tool.clone(), call, uid: offer.uid, phases })
    }

    /// Sends a call and waits so long for the answer.
    ///
    /// # Errors
    /// Why there is none; the failure says whether the app may have acted.
    pub async fn send(
        &self,
        device: &dyn Device,
        ready: Ready,
        limit: Duration,
    ) -> Result<Answered, Failure> {
        let began = Instant::now();
        let limit = self.options.patience.map_or(limit, |patience| patience.min(limit));
        let heard = match &ready.tool.service {
            Some(service) => self.by_intent(device, &ready, service, limit).await,
            None => by_function(device, &ready.call, &ready.tool, limit).await,
        }?;
        let Ready { call, mut phases, .. } = ready;
        phases.push((Phase::Invoke, began.elapsed()));
        Ok(Answered { app: call.app, tool: call.tool, heard, phases })
    }

    async fn by_intent(
        &self,
        device: &dyn Device,
        Ready { call, tool, uid, .. }: &Ready,
        service: &Component,
        limit: Duration,
    ) -> Result<Heard, Failure> {
        let keys = self.options.keys.get(&call.app).cloned().unwrap_or_default();
        let id = uuid().map_err(|why| Failure::from(Cause::PhoneFailed { said: why }))?;
        let request =
            Request { id, capability: tool.id.clone(), arguments: call.arguments.clone() };
        let mut letter = Letter {
            to: service.clone(),
            extras: request.extras(&keys).into_iter().collect(),
            callbacks: Vec::new(),
            wanted: Vec::new(),
        };
        let failed = |error: &Error| Failure::of_device(&device.identity().id, error);
        if call.send_only {
            device.start_service(&letter).await.map_err(|error| match error {
                Error::NotReady { said, .. } => in_background(call, &said).into(),
                error => failed(&error),
            })?;
            return Ok(Heard::Sent);
        }
        letter.callbacks.clone_from(&keys.callback);
        letter.wanted.clone_from(&keys.response);
        letter.wanted.extend(keys.id.iter().cloned());
        let sent = self.sent(&request, limit)?;
        let delivery = device.courier(&letter, limit).await.map_err(|error| match error {
            Error::Unsupported { .. } => Cause::Unheard {
                what: named(call),
                why: "Thumbwire's helper is not on this phone, and without it no app can answer",
            }
            .into(),
            error => failed(&error),
        })?;
        let answer = match delivery {
            Delivery::Answered(answer) => answer,
            Delivery::Silent => return Err(silent(call, limit)),
            Delivery::Not(why) => {
                if why == Undelivered::NotFound {
                    self.forget(&device.identity().id);
                }
                return Err(undelivered(call, service, why).into());
            }
        };
        from_whom(&answer, *uid).map_err(|why| odd(call, why))?;
        let response = Response::read(&answer.extras.into_iter().collect(), &keys);
        let heard = lock(&self.pending).heard(self.began.elapsed(), response);
        drop(sent);
        match heard {
            protocol::Heard::Answer(response) => Ok(told(response, tool)),
            protocol::Heard::Late(_) => Err(silent(call, limit)),
            protocol::Heard::Duplicate(_) => {
                Err(odd(call, "it answered a request a second time that was answered before"))
            }
            protocol::Heard::Foreign(response) => {
                Err(odd(call, format!("it answered another request, {}", quoted(&response.id, 60))))
            }
            protocol::Heard::Crossed(response) => Err(odd(
                call,
                format!("it answered for {} instead", quoted(&response.capability, 60)),
            )),
            protocol::Heard::Broken(protocol::Broken(why)) => {
                Err(odd(call, format!("its answer cannot be read: {}", harmless(&why, 300))))
            }
        }
    }

    /// Notes that a request goes out. It is given up when this is dropped.
    fn sent(&self, request: &Request, limit: Duration) -> Result<Waiting<'_>, Failure> {
        // The phone counts the limit from when it started the app, which is later.
        let deadline = self.began.elapsed().saturating_add(limit.saturating_mul(2));
        let noted = lock(&self.pending).sent(&request.id, &request.capability, deadline);
        noted.map_err(|why| Failure::from(Cause::Refused { why }))?;
        Ok(Waiting { bridge: self, id: request.id.clone() })
    }
}

/// A request that is waited for.
struct Waiting<'a> {
    bridge: &'a Bridge,
    id: String,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        lock(&self.bridge.pending).give_up(&self.id);
    }
}

async fn by_function(
    device: &dyn Device,
    call: &AppCall,
    tool: &AppTool,
    limit: Duration,
) -> Result<Heard, Failure> {
    let parameters = Value::Object(call.arguments.clone()).to_string();
    let calling = device.call_app_function(&call.app, &tool.id, &parameters);
    let said = match timeout(limit, calling).await {
        Ok(said) => said.map_err(|error| Failure::of_device(&device.identity().id, &error))?,
        Err(_) => return Err(silent(call, limit)),
    };
    let output = functions::answer(&said, tool).map_err(|why| odd(call, quoted(&why, 300)))?;
    let response = Response {
        id: String::new(),
        capability: String::new(),
        status: Status::Success,
        message: String::new(),
        output,
    };
    Ok(told(response, tool))
}

fn offers(offer: &Offer, call: &AppCall) -> bool {
    offer.tools.app == call.app && offer.tools.tools.iter().any(|tool| is_meant(tool, call))
}

fn is_meant(tool: &AppTool, call: &AppCall) -> bool {
    let of_service = |wanted: &String| tool.service.as_ref().is_some_and(|it| it.class == *wanted);
    tool.id == call.tool && call.service.as_ref().is_none_or(of_service)
}

/// The tool that is meant, with its app's offer. Of two protocols the first counts.
fn choose<'a>(all: &'a [Offer], call: &AppCall) -> Result<(&'a Offer, &'a AppTool), Cause> {
    let of_app: Vec<_> = all.iter().filter(|offer| offer.tools.app == call.app).collect();
    if of_app.is_empty() {
        return Err(trust::nothing(&call.app, &call.tool));
    }
    for offer in &of_app {
        let meant: Vec<_> = offer.tools.tools.iter().filter(|tool| is_meant(tool, call)).collect();
        match meant[..] {
            [] => {}
            [tool] => return Ok((offer, tool)),
            _ => {
                let services = meant.iter().filter_map(|tool| tool.service.as_ref());
                let classes: Vec<_> = services.map(|it| harmless(&it.class, 120)).collect();
                let why = format!(
                    "{} has {} in several services; name one of them as `service`: {}",
                    call.app,
                    harmless(&call.tool, 100),
                    classes.join(", ")
                );
                return Err(Cause::InvalidArgument { why });
            }
        }
    }
    let ids = of_app.iter().flat_map(|offer| &offer.tools.tools);
    let ids: Vec<_> = ids.take(20).map(|tool| harmless(&tool.id, 60)).collect();
    let mut fatal = of_app.iter().flat_map(|offer| &offer.tools.complaints);
    let why = match fatal.find(|complaint| complaint.fatal) {
        _ if !ids.is_empty() => format!("it offers {}", ids.join(", ")),
        Some(complaint) => complaint.says.clone(),
        None => "it offers nothing".into(),
    };
    let (app, tool) = (harmless(&call.app.0, 200), harmless(&call.tool, 200));
    Err(Cause::AppToolNotFound { app, tool, why: Some(why) })
}

fn named(call: &AppCall) -> String {
    format!("{} of {}", harmless(&call.tool, 100), harmless(&call.app.0, 100))
}

/// A tool that was started and said nothing.
fn silent(call: &AppCall, limit: Duration) -> Failure {
    let what = format!(
        "{}: the app was started and has not answered (it may be at it still, be waiting for somebody at its screen, or not understand the request)",
        named(call)
    );
    Failure { cause: Cause::TimedOut { what, after: limit }, acted: Acted::Maybe }
}

fn odd(call: &AppCall, why: impl Into<String>) -> Failure {
    let said = format!("{} was called: {}", named(call), why.into());
    Failure { cause: Cause::PhoneFailed { said }, acted: Acted::Maybe }
}

/// Why nothing was started, sorted by what a caller can do.
fn undelivered(call: &AppCall, service: &Component, why: Undelivered) -> Cause {
    match why {
        Undelivered::NotFound => Cause::AppToolNotFound {
            app: call.app.0.clone(),
            tool: harmless(&call.tool, 200),
            why: Some(format!(
                "the phone has no service {} any more",
                harmless(&service.class, 120)
            )),
        },
        Undelivered::Refused(said) => Cause::Refused {
            why: format!("the phone does not start {}: {}", named(call), quoted(&said, 300)),
        },
        Undelivered::Background(said) => in_background(call, &said),
        Undelivered::TooLarge { most } => Cause::InvalidArgument {
            why: format!(
                "the arguments of {} are too large: {most} characters are sent at most",
                named(call)
            ),
        },
    }
}

fn in_background(call: &AppCall, said: &str) -> Cause {
    Cause::InBackground { what: named(call), said: quoted(said, 300) }
}

/// Whether an answer is the app's own, where the phone tells whose it is.
fn from_whom(answer: &Answer, app: Option<u32>) -> Result<(), String> {
    // Each of the phone's users has a hundred thousand of Linux's (`UserHandle.PER_USER_RANGE`).
    let of_app = |uid: u32| uid % 100_000;
    match (answer.uid, app) {
        (Some(uid), Some(app)) if of_app(uid) != of_app(app) => Err(format!(
            "the answer came from another app (user {uid}, not {app}) and is not believed"
        )),
        _ => Ok(()),
    }
}

/// An answer as it is told, with what is odd about it.
fn told(response: Response, tool: &AppTool) -> Heard {
    let success = response.status == Status::Success;
    let mut warnings = Vec::new();
    let mut warn = |says: String| {
        if warnings.len() < WARNINGS {
            warnings.push(says);
        }
    };
    let mut output = Map::new();
    let mut undeclared = 0;
    for (name, mut value) in response.output {
        let declared = tool.output.iter().find(|it| it.name == name);
        let called = harmless(&name, 60);
        match declared {
            None if undeclared == UNDECLARED => {
                warn(format!(
                    "more than {UNDECLARED} values that are not declared: the rest is left out"
                ));
                undeclared += 1;
                continue;
            }
            None if undeclared > UNDECLARED => continue,
            None => {
                undeclared += 1;
                warn(format!("{called} is not declared"));
            }
            Some(it) if !is_of(it.kind, &value) => {
                warn(format!("{called} is declared as {} and is not one", it.kind));
            }
            Some(_) => {}
        }
        if shorten(&mut value) {
            warn(format!("{called} is cut after {TEXT} characters"));
        }
        output.insert(name, value);
    }
    let missing = tool.output.iter().filter(|it| success && !output.contains_key(&it.name));
    for it in missing {
        warn(format!("{} is declared and missing", harmless(&it.name, 60)));
    }
    let message = harmless(&response.message, MESSAGE);
    Heard::Answer { success, message, output, warnings }
}

/// Cuts long texts. Gives whether it did.
fn shorten(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match text.char_indices().nth(TEXT) {
            Some((end, _)) => {
                text.truncate(end);
                text.push('…');
                true
            }
            None => false,
        },
        Value::Array(items) => items.iter_mut().fold(false, |cut, item| shorten(item) | cut),
        Value::Object(members) => members.values_mut().fold(false, |cut, item| shorten(item) | cut),
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
