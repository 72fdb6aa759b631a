//! The helper's operation `call_service`: starting an app's service with a callback.
//!
//! Start with [`call_service`]. Each request has its own callback (on a phone: a binder), which
//! accepts one reply; a second one, or one after the request's end, is dropped. Sizes and times
//! were measured on an Android 4.4.4: 255,000 UTF-16 units pass in an Intent, 300,000 vanish
//! without an error on either side, which is why requests of more than 200,000 are refused here.

use super::error::HelperError;
use crate::phone::VirtualPhone;
use serde_json::{Map, Value, json};
use std::time::Duration;
use thumbwire_virtual_phone::{
    CallbackKeys, CallbackReply, Caller, ServiceName, StartServiceResult,
};
use thumbwire_virtual_shell::program::command_text;

/// Maximum UTF-16 units of a request's extras.
const MAX_REQUEST: usize = 200_000;
/// Maximum UTF-16 units of a reply's extras; larger ones vanish on the way.
const MAX_REPLY: usize = 255_000;
/// Maximum extras, callbacks and requested names of a request.
const MAX_COUNT: usize = 256;
/// Default and maximum timeout of a service call.
const LIMIT: Duration = Duration::from_secs(30);
const MAX_LIMIT: Duration = Duration::from_secs(600);
/// The helper's user id.
pub(super) const SHELL: u32 = 2_000;

/// A service call as a host sent it.
struct ServiceRequest {
    to: ServiceName,
    extras: Vec<(String, String)>,
    callbacks: Vec<String>,
    result_extras: Option<Vec<String>>,
    limit: Duration,
}

impl ServiceRequest {
    fn read(header: &Map<String, Value>) -> Result<Self, HelperError> {
        let wrong = HelperError::wrong;
        let component = header.get("component").and_then(Value::as_str);
        let (package, class) = component
            .and_then(|component| component.split_once('/'))
            .filter(|(package, class)| !package.is_empty() && !class.is_empty())
            .ok_or_else(|| wrong("component", "a string of the form package/full.Class"))?;
        let class = match class.strip_prefix('.') {
            Some(_) => format!("{package}{class}"),
            None => class.to_owned(),
        };
        let texts = |name: &str| match header.get(name) {
            None => Ok(None),
            Some(value) => texts(value).map(Some).ok_or_else(|| wrong(name, "a list of strings")),
        };
        let extras = match header.get("extras") {
            None => Vec::new(),
            Some(value) => {
                pairs(value).ok_or_else(|| wrong("extras", "a list of pairs of strings"))?
            }
        };
        let limit = match header.get("limit_ms") {
            None => LIMIT,
            Some(value) => value
                .as_u64()
                .map(|limit| Duration::from_millis(limit).min(MAX_LIMIT))
                .ok_or_else(|| wrong("limit_ms", "a number of milliseconds"))?,
        };
        Ok(Self {
            to: ServiceName { package: package.to_owned(), class },
            extras,
            callbacks: texts("callbacks")?.unwrap_or_default(),
            result_extras: texts("result_extras")?,
            limit,
        })
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array().filter(|list| list.len() <= MAX_COUNT)?;
    list.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

fn pairs(value: &Value) -> Option<Vec<(String, String)>> {
    let list = value.as_array().filter(|list| list.len() <= MAX_COUNT)?;
    let pair = |pair: &Value| match pair.as_array()?.as_slice() {
        [key, value] => Some((key.as_str()?.to_owned(), value.as_str()?.to_owned())),
        _ => None,
    };
    list.iter().map(pair).collect()
}

/// The number of UTF-16 units, which Android's parcels hold.
fn units(extras: &[(String, String)]) -> usize {
    extras
        .iter()
        .flat_map(|(key, value)| [key, value])
        .map(|text| text.encode_utf16().count())
        .sum()
}

/// `call_service`: starts a service and waits for its reply. `pid` is the helper's process id.
pub(super) async fn call_service(
    phone: &VirtualPhone,
    pid: u32,
    header: &Map<String, Value>,
) -> Result<Value, HelperError> {
    let request = &ServiceRequest::read(header)?;
    let size = units(&request.extras);
    if size > MAX_REQUEST {
        let message = format!("the extras have {size} UTF-16 units; the limit is {MAX_REQUEST}");
        return Err(HelperError::of("too_large", &message).trying("send less"));
    }
    let command =
        command_text("call_service", &[format!("{}/{}", request.to.package, request.to.class)]);
    phone.inject_before(&command).await;
    let callback = (!request.callbacks.is_empty()).then(|| CallbackKeys(request.callbacks.clone()));
    let by = Caller { uid: SHELL, pid };
    let delivered =
        phone.with(|phone| phone.world.start_service(by, &request.to, &request.extras, callback));
    let result = match delivered {
        StartServiceResult::Started(reply) => returned(phone, request, reply).await,
        not => Err(undelivered(&request.to, not)),
    };
    phone.inject_after(&command);
    result
}

/// Waits for the reply of a started service.
async fn returned(
    phone: &VirtualPhone,
    request: &ServiceRequest,
    mut reply: Option<CallbackReply>,
) -> Result<Value, HelperError> {
    let mut passed = Duration::ZERO;
    // The first to arrive is the answer; the callback is gone for anything after it.
    while let Some(coming) = reply.filter(|coming| coming.after < request.limit) {
        phone.sleep(coming.after.saturating_sub(passed)).await;
        passed = passed.max(coming.after);
        // A process that died meanwhile has taken its callback with it.
        if !phone.with(|phone| phone.world.runs(coming.pid)) {
            break;
        }
        if units(&coming.extras) <= MAX_REPLY {
            return Ok(render_reply(request, coming));
        }
        phone.with(|phone| {
            let text = "!!! FAILED BINDER TRANSACTION !!!";
            phone.world.write_log('E', "JavaBinder", coming.pid, text);
        });
        reply = coming.then.map(|next| *next);
    }
    phone.sleep(request.limit.saturating_sub(passed)).await;
    let message =
        format!("no reply within {} ms; the app may have acted", request.limit.as_millis());
    Err(HelperError::of("timeout", &message).trying("check the app before trying again"))
}

/// A reply in wire format.
fn render_reply(request: &ServiceRequest, reply: CallbackReply) -> Value {
    let wanted = |key: &str| {
        request.result_extras.as_ref().is_none_or(|names| names.iter().any(|one| one == key))
    };
    let extras: Vec<_> = reply.extras.into_iter().filter(|(key, _)| wanted(key)).collect();
    json!({ "code": reply.code, "extras": extras, "uid": reply.uid })
}

/// The error for a service that was not started, with the wire's code and the phone's message.
fn undelivered(to: &ServiceName, delivered: StartServiceResult) -> HelperError {
    let ServiceName { package, class } = to;
    match delivered {
        StartServiceResult::Refused(reason) => HelperError::of("refused", &reason)
            .trying("only the app's developer can open the service"),
        StartServiceResult::Background(reason) => {
            HelperError::of("background", &reason).trying("start the app, then try again")
        }
        StartServiceResult::NotFound | StartServiceResult::Started(_) => {
            HelperError::of("not_found", &format!("no service {package}/{class}"))
                .trying("list the services again")
        }
    }
}
