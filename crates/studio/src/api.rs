//! The requests of the page: paths below `/api/`, JSON both ways. docs/studio.md lists them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, StreamExt as _};
use http::{Method, Request, Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use thumbwire_core::action::{
    Action, Call, ClientId, Failure, ListedDevice, PageAct, PageActEnd, Scope, TypedPerform as _,
    request,
};
use thumbwire_core::session::UserHold;

use super::page::protect;
use super::screen::SIDES;
use super::{Body, Parts, flow_run, runs};

/// How long a person who acts on a phone that a program uses keeps it after each act.
pub(super) const HOLD_AFTER_ACT: Duration = Duration::from_secs(15);

/// How long listing phones may take.
const LIST_TIME: Duration = Duration::from_secs(10);

/// The size of pictures that the page asks for by default, in pixels of the longer side.
const SIDE: u32 = 800;

/// Why a request was not answered: a status, what is wrong and what to do about it.
struct Refusal {
    status: StatusCode,
    text: String,
    next: Option<String>,
    end: PageActEnd,
}

impl Refusal {
    fn new(status: StatusCode, text: impl Into<String>) -> Self {
        let code = match status {
            StatusCode::FORBIDDEN => "insufficient_scope",
            StatusCode::CONFLICT => "refused",
            _ => "invalid_argument",
        };
        Self { status, text: text.into(), next: None, end: PageActEnd::Refused(code) }
    }
}

impl From<String> for Refusal {
    fn from(text: String) -> Self {
        Self::new(StatusCode::CONFLICT, text)
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        let next = Some(failure.next_step()).filter(|next| !next.is_empty());
        let (status, text) = (StatusCode::CONFLICT, failure.cause.to_string());
        Self { status, text, next, end: PageActEnd::Failed(failure.cause) }
    }
}

/// What a page asks for in a body. Each request uses some of it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PageRequest {
    device: String,
    action: Option<Action>,
    index: usize,
    selector: String,
    how: String,
    question: u64,
    text: Option<String>,
    #[serde(rename = "do")]
    what: String,
    #[serde(rename = "as")]
    form: String,
    from: usize,
    id: String,
}

/// Answers a request of the page.
pub(super) async fn answer(studio: &Arc<Parts>, request: Request<Bytes>) -> Response<Body> {
    let (mut response, end) = match route(studio, &request).await {
        Ok(response) => (response, PageActEnd::Done),
        Err(Refusal { status, text, next, end }) => {
            let mut body = json!({ "error": text });
            if let Some(next) = next {
                body["next"] = next.into();
            }
            let mut response = json_response(&body);
            *response.status_mut() = status;
            (response, end)
        }
    };
    if is_act(&request) {
        let asked: PageRequest = serde_json::from_slice(request.body()).unwrap_or_default();
        // What a page says is in the log only if it is the name of a phone.
        let is_phone = studio.session.shown_phone(&asked.device).await.is_ok();
        let phone = Some(asked.device).filter(|_| is_phone);
        response.extensions_mut().insert(PageAct { phone, end });
    }
    response
}

/// The requests by which a person does something.
const ACTS: [&str; 5] = ["act", "hold", "answer", "record", "flow/run"];

fn is_act(request: &Request<Bytes>) -> bool {
    let path = request.uri().path().strip_prefix("/api/").unwrap_or_default();
    *request.method() == Method::POST && ACTS.contains(&path)
}

/// The name of what a person does by this request; `None` if they only look.
pub(super) fn act(request: &Request<Bytes>) -> Option<String> {
    if !is_act(request) {
        return None;
    }
    let path = request.uri().path().strip_prefix("/api/")?;
    let asked: PageRequest = serde_json::from_slice(request.body()).unwrap_or_default();
    let action = asked.action.and_then(|action| match serde_json::to_value(action).ok()? {
        Value::Object(action) => action.into_iter().next().map(|(name, _)| name),
        action => action.as_str().map(str::to_owned),
    });
    let hold = ["pause", "stop", "hand_back"].into_iter().find(|hold| *hold == asked.how);
    let hold = hold.filter(|_| path == "hold");
    Some(format!("studio/{}", action.as_deref().or(hold).unwrap_or(path)))
}

async fn route(studio: &Arc<Parts>, request: &Request<Bytes>) -> Result<Response<Body>, Refusal> {
    let path = request.uri().path().strip_prefix("/api/").unwrap_or_default();
    let query = fields(request.uri().query().unwrap_or_default());
    let get = |name: &str| query.get(name).cloned().unwrap_or_default();
    let device = get("device");
    if *request.method() == Method::GET {
        return Ok(match path {
            "state" => json_response(&studio.state(scope(request)).await?),
            "events" => {
                let after = get("after").parse().unwrap_or_default();
                streaming(Arc::clone(&studio.feed).stream(after), "application/x-ndjson")
            }
            "screen" => {
                let max_side = get("max_side").parse().unwrap_or(SIDE);
                let max_side = max_side.clamp(*SIDES.start(), *SIDES.end());
                let frames = match get("codec").as_str() {
                    "h264" => studio.videos.frames(&device, max_side),
                    _ => studio.screens.frames(&device, max_side),
                };
                streaming(frames, "application/octet-stream")
            }
            "xml" => text_response(studio.xml(&device)?, "text/plain; charset=utf-8"),
            "marked" => bytes_response(studio.marked(&device).await?.into(), "image/png"),
            "record" => {
                let studio = Arc::clone(studio);
                json_response(&blocking(move || Ok(studio.recordings.progress(&device))).await?)
            }
            "runs" => {
                let folder = studio.options.folder.clone();
                json_response(&blocking(move || Ok(runs::list(&folder))).await?)
            }
            "runs/compare" => {
                let (folder, one, other) = (studio.options.folder.clone(), get("a"), get("b"));
                let compared = blocking(move || runs::compare(&folder, &one, &other)).await?;
                json_response(&compared)
            }
            _ => return Err(no_such_request()),
        });
    }
    if *request.method() != Method::POST {
        return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST are served"));
    }
    let asked: PageRequest = serde_json::from_slice(request.body()).map_err(|error| {
        Refusal::new(StatusCode::BAD_REQUEST, format!("invalid request: {error}"))
    })?;
    let looks = ["look", "addresses", "match", "flow/check", "runs/open"].contains(&path);
    if scope(request) != Scope::Act && !looks {
        return Err(Refusal::new(StatusCode::FORBIDDEN, "this token may only look"));
    }
    let device = &asked.device;
    Ok(match path {
        "look" => json_response(&studio.look(device).await?),
        "addresses" => json_response(&studio.addresses(device, asked.index)?),
        "match" => json_response(&studio.matches(device, &asked.selector)?),
        "act" => {
            let action = asked.action.filter(Action::is_by_hand);
            let action = action.ok_or_else(|| {
                Refusal::new(StatusCode::BAD_REQUEST, "the page cannot do this on a phone")
            })?;
            let outcome = studio.act(device, action).await?;
            json_response(&json!({ "outcome": outcome }))
        }
        "hold" => {
            studio.hold(device, &asked.how).await?;
            json_response(&json!({}))
        }
        "answer" => {
            studio.questions.answer(asked.question, asked.text)?;
            json_response(&json!({}))
        }
        "record" => json_response(&studio.record(device, &asked.what, asked.index).await?),
        "export" => {
            let (studio, device, form) = (Arc::clone(studio), device.clone(), asked.form);
            let goal = asked.text.unwrap_or_default();
            let export =
                move || studio.recordings.export(&device, &form, &goal, studio.options.make_skill);
            json_response(&blocking(export).await?)
        }
        "runs/open" => {
            let (folder, id) = (studio.options.folder.clone(), asked.id);
            let page = blocking(move || runs::page(&folder, &id)).await?;
            let ticket = studio.tickets.add(page.into())?;
            json_response(&json!({ "path": format!("report/{ticket}") }))
        }
        "flow/check" => json_response(&flow_run::check(&asked.text.unwrap_or_default())),
        "flow/run" => {
            let text = asked.text.unwrap_or_default();
            let lines = studio.run_flow(device, &text, asked.from)?;
            streaming(lines, "application/x-ndjson")
        }
        _ => return Err(no_such_request()),
    })
}

impl Parts {
    async fn state(&self, scope: Scope) -> Result<Value, Refusal> {
        let call = Call { client: ClientId::Studio, ..Call::with_timeout(LIST_TIME) };
        let listing = request::ListDevices { platform: None, connect: false };
        let phones: Vec<ListedDevice> = self.session.request(&call, listing).await?;
        let rows: Vec<Value> = phones.iter().map(|phone| self.phone(phone)).collect();
        let first = rows.iter().find(|row| row["ready"] == true).map(|row| row["id"].clone());
        let device = self.options.device.clone().map(Value::from).or(first);
        Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "scope": if scope == Scope::Act { "act" } else { "look" },
            "phones": rows,
            "device": device,
            "questions": self.questions.list(),
            "recordings": self.recordings.devices(),
            "last_event": self.feed.last(),
        }))
    }

    fn phone(&self, phone: &ListedDevice) -> Value {
        let hold = self.session.user_hold(&phone.id).map(|hold| match hold {
            UserHold::Paused => "paused",
            UserHold::Stopped => "stopped",
        });
        let holder = self.session.lease(&phone.id).filter(|it| it.owner != ClientId::Studio);
        let holder = holder.map(|lease| match lease.owner {
            ClientId::ThisProcess => "this program".to_owned(),
            _ => lease.owner_name.to_string(),
        });
        json!({
            "id": phone.id,
            "model": phone.model,
            "platform": phone.platform,
            "state": phone.state,
            "ready": phone.is_ready(),
            "holder": holder,
            "hold": hold,
        })
    }

    /// Takes the phone for the person who is about to act, for this time, if a program has it.
    pub(super) fn claim(&self, device: &str, time: Duration) {
        let lease = self.session.lease(device).filter(|it| it.owner != ClientId::Studio);
        let Some(lease) = lease else { return };
        let was_held = self.session.user_hold(device).is_some();
        self.session.hold_for_user(device, &ClientId::Studio, UserHold::Paused, Some(time));
        if !was_held {
            let text = format!("paused {} for a moment: a person acts", lease.owner_name);
            self.feed.add("hold", Some(device), &text, json!({ "hold": "pause" }));
        }
    }

    async fn hold(&self, device: &str, how: &str) -> Result<(), Refusal> {
        let hold = match how {
            "pause" => Some(UserHold::Paused),
            "stop" => Some(UserHold::Stopped),
            "hand_back" => None,
            _ => {
                let text = "expected pause, stop or hand_back";
                return Err(Refusal::new(StatusCode::BAD_REQUEST, text));
            }
        };
        let text = match hold {
            Some(hold) => {
                // A hold on a phone that is not there would hold nothing.
                self.session.shown_phone(device).await?;
                self.session.hold_for_user(device, &ClientId::Studio, hold, None);
                if hold == UserHold::Paused { "paused by a person" } else { "stopped by a person" }
            }
            None => {
                self.session.hand_back(device);
                "handed back"
            }
        };
        self.feed.add("hold", Some(device), text, json!({ "hold": how }));
        Ok(())
    }

    async fn record(
        self: &Arc<Self>,
        device: &str,
        what: &str,
        index: usize,
    ) -> Result<Value, Refusal> {
        Ok(match what {
            "start" => self.start_recording(device).await?,
            "stop" => self.recordings.stop(device),
            "discard" => self.recordings.discard(device),
            "check" => self.add_check(device, index).await?,
            _ => {
                let text = "expected start, stop, discard or check";
                return Err(Refusal::new(StatusCode::BAD_REQUEST, text));
            }
        })
    }
}

fn scope(request: &Request<Bytes>) -> Scope {
    request.extensions().get().copied().unwrap_or(Scope::Look)
}

fn no_such_request() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "the studio has no such request")
}

/// Does what takes long without waiting on anything.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(error) => Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())),
    }
}

/// The parameters of an address, or the fields of a form.
pub(super) fn fields(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

/// A part of an address in plain text, as forms encode it.
fn decoded(text: &str) -> String {
    let text = text.replace('+', " ");
    percent_encoding::percent_decode_str(&text).decode_utf8_lossy().into_owned()
}

fn json_response(value: &Value) -> Response<Body> {
    text_response(value.to_string(), "application/json")
}

fn text_response(text: String, kind: &'static str) -> Response<Body> {
    bytes_response(text.into(), kind)
}

fn bytes_response(bytes: Bytes, kind: &'static str) -> Response<Body> {
    streaming(stream::once(async { bytes }).boxed(), kind)
}

fn streaming(body: Body, kind: &'static str) -> Response<Body> {
    let mut response = Response::new(body);
    protect(response.headers_mut(), kind);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        let query = fields("device=127.0.0.1%3A5555&a=one+two&b=&c");
        assert_eq!(query["device"], "127.0.0.1:5555");
        assert_eq!((&*query["a"], &*query["b"], query.len()), ("one two", "", 3));
    }
}
