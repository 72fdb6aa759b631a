//! What the helper does to apps: a letter to a service with a callback of its own, and a list of services.
//!
//! Begin at [`answer`]. Each request has a callback (on a phone: a binder) of its own, which takes one reply: a second one, or one after the
//! request's end, is let go. Sizes and times were measured on an Android 4.4.4: 255,000 UTF-16 units pass in an Intent, 300,000 vanish
//! without a word to either side, which is why requests of more than 200,000 are refused here.

use crate::faults::words;
use crate::latency::Work;
use crate::phone::VirtualPhone;
use crate::world::{
    CallbackKeys, Caller, Class, DeclaredComponent, Delivered, Meta, MetaValue, Reply, ServiceName,
};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// UTF-16 units of a request's extras.
const LARGEST_REQUEST: usize = 200_000;
/// UTF-16 units of a reply's extras; larger ones vanish on their way.
const LARGEST_REPLY: usize = 255_000;
/// Extras, callbacks and wanted names of a request.
const MOST: usize = 256;
/// How long a service may take that nobody set a limit for, and the longest limit.
const LIMIT: Duration = Duration::from_secs(30);
const LONGEST_LIMIT: Duration = Duration::from_secs(600);
/// The action of services that are tools, which is asked for unless a host names another.
const ACTION: &str = "mobile.mcp.SERVICE";
/// The helper's user.
pub(super) const SHELL: u32 = 2_000;

/// Why a request was not answered as it wished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failed {
    /// The wire's word.
    pub(super) code: &'static str,
    /// One sentence, with the phone's words where it said some.
    pub(super) says: String,
    /// What to try.
    pub(super) advice: &'static str,
}

impl Failed {
    pub(super) fn of(code: &'static str, says: &str) -> Self {
        Self { code, says: says.to_owned(), advice: "" }
    }

    pub(super) fn trying(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }

    pub(super) fn malformed(says: String) -> Self {
        Self { code: "malformed", says, advice: "" }
    }

    pub(super) fn cancelled() -> Self {
        Self::of("cancelled", "the request was cancelled; the app may have acted")
    }

    pub(super) fn unsupported(op: &str) -> Self {
        let op: String = op.chars().take(100).collect();
        Self::of("unsupported", &format!("this helper knows no op {op:?}"))
            .trying("see the list `ops` in the answer to hello")
    }

    fn timeout(limit: Duration) -> Self {
        let says = format!("no reply within {} ms; the app may have acted", limit.as_millis());
        Self::of("timeout", &says).trying("look at the app before asking again")
    }
}

/// Does what a request asks for; `pid` is the helper's own process.
pub(super) async fn answer(
    phone: &VirtualPhone,
    pid: u32,
    op: &str,
    header: &Map<String, Value>,
) -> Result<Value, Failed> {
    match op {
        "courier" => deliver(phone, pid, &Letter::read(header)?).await,
        "tools" => tools(phone, header).await,
        _ => Err(Failed::unsupported(op)),
    }
}

/// A letter as a host wrote it.
struct Letter {
    to: ServiceName,
    extras: Vec<(String, String)>,
    callbacks: Vec<String>,
    wanted: Option<Vec<String>>,
    limit: Duration,
}

impl Letter {
    fn read(header: &Map<String, Value>) -> Result<Self, Failed> {
        let wrong = |name: &str, what: &str| Failed::malformed(format!("`{name}` is not {what}"));
        let component = header.get("component").and_then(Value::as_str);
        let (package, class) = component
            .and_then(|component| component.split_once('/'))
            .filter(|(package, class)| !package.is_empty() && !class.is_empty())
            .ok_or_else(|| wrong("component", "a text of the form package/full.Class"))?;
        let class = match class.strip_prefix('.') {
            Some(_) => format!("{package}{class}"),
            None => class.to_owned(),
        };
        let texts = |name: &str| match header.get(name) {
            None => Ok(None),
            Some(value) => texts(value).map(Some).ok_or_else(|| wrong(name, "a list of texts")),
        };
        let extras = match header.get("extras") {
            None => Vec::new(),
            Some(value) => {
                pairs(value).ok_or_else(|| wrong("extras", "a list of pairs of texts"))?
            }
        };
        let limit = match header.get("limit_ms") {
            None => LIMIT,
            Some(value) => value
                .as_u64()
                .map(|limit| Duration::from_millis(limit).min(LONGEST_LIMIT))
                .ok_or_else(|| wrong("limit_ms", "a number of milliseconds"))?,
        };
        Ok(Self {
            to: ServiceName { package: package.to_owned(), class },
            extras,
            callbacks: texts("callbacks")?.unwrap_or_default(),
            wanted: texts("wanted")?,
            limit,
        })
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let list = value.as_array().filter(|list| list.len() <= MOST)?;
    list.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

fn pairs(value: &Value) -> Option<Vec<(String, String)>> {
    let list = value.as_array().filter(|list| list.len() <= MOST)?;
    let pair = |pair: &Value| match pair.as_array()?.as_slice() {
        [key, value] => Some((key.as_str()?.to_owned(), value.as_str()?.to_owned())),
        _ => None,
    };
    list.iter().map(pair).collect()
}

/// UTF-16 units, which is what Android's parcels hold.
fn units(extras: &[(String, String)]) -> usize {
    extras
        .iter()
        .flat_map(|(key, value)| [key, value])
        .map(|text| text.encode_utf16().count())
        .sum()
}

/// Starts the service, and waits for its reply.
async fn deliver(phone: &VirtualPhone, pid: u32, letter: &Letter) -> Result<Value, Failed> {
    let size = units(&letter.extras);
    if size > LARGEST_REQUEST {
        let says = format!("extras of {size} UTF-16 units; {LARGEST_REQUEST} are the most");
        return Err(Failed::of("too_large", &says).trying("send less"));
    }
    let met = words("courier", &[format!("{}/{}", letter.to.package, letter.to.class)]);
    phone.befall(&met).await;
    let callback = (!letter.callbacks.is_empty()).then(|| CallbackKeys(letter.callbacks.clone()));
    let by = Caller { uid: SHELL, pid };
    let delivered =
        phone.with(|phone| phone.world.start_service(by, &letter.to, &letter.extras, callback));
    let came = match delivered {
        Delivered::Started(reply) => returned(phone, letter, reply).await,
        not => Err(undelivered(&letter.to, not)),
    };
    phone.aftermath(&met);
    came
}

/// What comes back of a service that was started.
async fn returned(
    phone: &VirtualPhone,
    letter: &Letter,
    mut reply: Option<Reply>,
) -> Result<Value, Failed> {
    let mut passed = Duration::ZERO;
    // The first that arrives is the answer; whatever the app sends after it finds no callback any more.
    while let Some(coming) = reply.filter(|coming| coming.after < letter.limit) {
        phone.take(coming.after.saturating_sub(passed)).await;
        passed = passed.max(coming.after);
        // A process that died meanwhile has taken its callback with it.
        if !phone.with(|phone| phone.world.runs(coming.pid)) {
            break;
        }
        if units(&coming.extras) <= LARGEST_REPLY {
            return Ok(told(letter, coming));
        }
        phone.with(|phone| {
            let text = "!!! FAILED BINDER TRANSACTION !!!";
            phone.world.write_log('E', "JavaBinder", coming.pid, text);
        });
        reply = coming.then.map(|next| *next);
    }
    phone.take(letter.limit.saturating_sub(passed)).await;
    Err(Failed::timeout(letter.limit))
}

/// A reply as the wire has it.
fn told(letter: &Letter, reply: Reply) -> Value {
    let wanted =
        |key: &str| letter.wanted.as_ref().is_none_or(|wanted| wanted.iter().any(|one| one == key));
    let extras: Vec<_> = reply.extras.into_iter().filter(|(key, _)| wanted(key)).collect();
    json!({ "code": reply.code, "extras": extras, "uid": reply.uid })
}

/// The services that answer an action, with what their apps say of them: texts and numbers as texts, references to texts resolved, of
/// other resources their ids (as `Bundle` has them).
async fn tools(phone: &VirtualPhone, header: &Map<String, Value>) -> Result<Value, Failed> {
    let action = header.get("action").and_then(Value::as_str).unwrap_or(ACTION).to_owned();
    phone.spend(Work::Report).await;
    let services = phone.with(|phone| {
        let mut services = Vec::new();
        for manifest in phone.world.packages() {
            let Some(declared) = manifest.declared().filter(|it| !it.disabled) else { continue };
            let answers = |it: &DeclaredComponent| {
                it.class == Class::Service
                    && it.enabled
                    && it.filters.iter().any(|filter| filter.actions.contains(&action))
            };
            for service in declared.components.iter().filter(|it| answers(it)).take(MOST) {
                let meta: Vec<Value> = service.meta.iter().map(told_meta).collect();
                services.push(json!({
                    "component": format!("{}/{}", manifest.package, service.name),
                    "label": service.label.as_ref().or(declared.label.as_ref()),
                    "exported": service.exported,
                    "permission": service.permission,
                    "version": manifest.version_code,
                    "uid": manifest.uid,
                    "meta": meta,
                }));
            }
        }
        services
    });
    Ok(json!({ "services": services }))
}

fn told_meta(meta: &Meta) -> Value {
    match &meta.value {
        MetaValue::Text(text) => json!([meta.name, text]),
        MetaValue::Resource(id) => json!([meta.name, id]),
    }
}

/// A service that was not started, in the wire's words and the phone's.
fn undelivered(to: &ServiceName, delivered: Delivered) -> Failed {
    let ServiceName { package, class } = to;
    match delivered {
        Delivered::Refused(why) => {
            Failed::of("refused", &why).trying("only the app's maker can open the service")
        }
        Delivered::Background(why) => {
            Failed::of("background", &why).trying("start the app, then ask again")
        }
        Delivered::NotFound | Delivered::Started(_) => {
            Failed::of("not_found", &format!("no service {package}/{class}"))
                .trying("list the services again")
        }
    }
}
