//! What an agent asks of a tool (section 3.1), from both ends: written by the agent, read by the tool.
//!
//! Three dialects go by the name of 1.0. The specification's has an envelope and `args`; its prose and its later text have `input`, a list
//! of `{name, type, value}` or an object; the authors' sample apps take the inner object alone, without an envelope, under another key.
//! We write all of them at once and read each.

use serde_json::{Value, json};

use super::words::shortened;
use super::{Extras, VERSION, Values};

/// The most bytes of an extra that are read. An Intent carries less than 1 MiB.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// A call of a capability.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Unique within the agent: a UUID, which the caller makes.
    pub id: String,
    /// The capability's id.
    pub capability: String,
    /// What it is called with.
    pub arguments: Values,
}

/// The names under which a request and its callback travel. The specification fixes `mobile-mcp-request` and leaves the callback's open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// Extras that hold the request in the specification's envelope.
    pub request: Vec<String>,
    /// Extras that hold it as the authors' sample apps want it, without the envelope.
    pub bare: Vec<String>,
    /// Extras that hold the callback.
    pub callback: Vec<String>,
    /// Extras in which an answer may come.
    pub response: Vec<String>,
    /// Extras that hold the request's id beside an answer.
    pub id: Vec<String>,
}

impl Default for Keys {
    /// All that are known, so that one Intent is understood by every dialect.
    fn default() -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            request: names(&["mobile-mcp-request"]),
            bare: names(&["request"]),
            callback: names(&["mcp_callback", "callback"]),
            response: names(&["mobile-mcp-response", "response"]),
            id: names(&["mcp_request_id"]),
        }
    }
}

impl Request {
    /// The request as the specification has it, for the extra `mobile-mcp-request`.
    pub fn to_json(&self) -> Value {
        envelope(json!({
            "id": self.id,
            "capability": { "id": self.capability, "args": self.arguments },
        }))
    }

    /// The text extras of an Intent that carries it, in every dialect at once; of dialects that are not the specification's, as many as
    /// there is room for. What is larger than an Intent nevertheless is for whoever sends it to refuse.
    pub fn extras(&self, keys: &Keys) -> Extras {
        let whole = self.extras_with(keys, &keys.bare, &["args", "input"], &["args", "input"]);
        if fits(&whole) {
            return whole;
        }
        // Every argument stands in that four times; twice is enough for the specification and the sample as it was published.
        let twice = self.extras_with(keys, &keys.bare, &["args"], &["input"]);
        if fits(&twice) {
            return twice;
        }
        self.extras_with(keys, &[], &["args"], &[])
    }

    fn extras_with(
        &self,
        keys: &Keys,
        bare: &[String],
        of_envelope: &[&str],
        of_bare: &[&str],
    ) -> Extras {
        let request = |names: &[&str]| {
            let mut capability = json!({ "id": self.capability });
            for name in names {
                capability[*name] = Value::Object(self.arguments.clone());
            }
            json!({ "id": self.id, "capability": capability })
        };
        let text = envelope(request(of_envelope)).to_string();
        let enveloped = keys.request.iter().map(|key| (key.clone(), text.clone()));
        let text = request(of_bare).to_string();
        let bare = bare.iter().map(|key| (key.clone(), text.clone()));
        enveloped.chain(bare).collect()
    }
}

/// Whether an Intent has room for these extras. More than 300,000 characters vanish without a word (measured on Android 4.4); the helper
/// sends no more than 200,000 in UTF-16.
fn fits(extras: &Extras) -> bool {
    extras.iter().map(|(key, text)| key.len() + text.encode_utf16().count()).sum::<usize>()
        <= 190_000
}

fn envelope(request: Value) -> Value {
    json!({ "mobile-mcp-request": { "version": VERSION, "request": request } })
}

/// How a request came, and so how its answer is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// In the specification's envelope.
    Envelope,
    /// As the authors' sample apps have it, without.
    Bare,
}

/// A request as a tool finds it, before anything of it is judged but that it can be answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Its id, which the answer repeats.
    pub id: String,
    /// How it came.
    pub dialect: Dialect,
    /// The version that it names; `None` for none.
    pub version: Option<String>,
    /// The capability's id; empty where it names none.
    pub capability: String,
    /// The arguments; or why they cannot be read, in words.
    pub arguments: Result<Values, String>,
}

/// Why a tool has nothing to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// The Intent holds no request.
    NoRequest,
    /// It holds something that is no JSON object, or none with a request.
    Malformed,
    /// The request has no id.
    NoId,
}

impl Asked {
    /// Reads the request that an Intent carries. The specification's key comes first; under either key it may have the envelope or not.
    ///
    /// # Errors
    /// When there is nothing by which it could be answered.
    pub fn read(extras: &Extras, keys: &Keys) -> Result<Self, Silence> {
        let text = keys
            .request
            .iter()
            .chain(&keys.bare)
            .find_map(|key| extras.get(key))
            .ok_or(Silence::NoRequest)?;
        if text.len() > MOST_BYTES {
            return Err(Silence::Malformed);
        }
        let whole: Value = serde_json::from_str(text).map_err(|_| Silence::Malformed)?;
        let (body, dialect, version) = match whole.get("mobile-mcp-request") {
            Some(inner) => (
                inner.get("request").unwrap_or(&Value::Null),
                Dialect::Envelope,
                words(inner.get("version")),
            ),
            None => (&whole, Dialect::Bare, words(whole.get("version"))),
        };
        let body = body.as_object().ok_or(Silence::Malformed)?;
        let id = words(body.get("id")).filter(|id| !id.is_empty()).ok_or(Silence::NoId)?;
        let capability = body.get("capability");
        Ok(Self {
            id,
            dialect,
            version,
            capability: words(capability.and_then(|one| one.get("id"))).unwrap_or_default(),
            arguments: arguments(capability),
        })
    }
}

/// The arguments, from `args` or `input`: the first of them that has any.
fn arguments(capability: Option<&Value>) -> Result<Values, String> {
    let mut read = Values::new();
    for key in ["args", "input"] {
        if let Some(value) = capability.and_then(|one| one.get(key)) {
            read = named_values(value).map_err(|why| format!("`{key}` {why}"))?;
        }
        if !read.is_empty() {
            break;
        }
    }
    Ok(read)
}

/// Values by name, from an object or from a list of `{name, type, value}`. The type says what the descriptor says.
pub(crate) fn named_values(value: &Value) -> Result<Values, String> {
    match value {
        Value::Null => Ok(Values::new()),
        Value::Object(values) => Ok(values.clone()),
        Value::Array(list) => {
            let mut values = Values::new();
            for entry in list {
                let name = entry
                    .get("name")
                    .and_then(Value::as_str)
                    .ok_or("has an entry without a name")?;
                let value = entry.get("value").cloned().unwrap_or_default();
                if values.insert(name.to_owned(), value).is_some() {
                    return Err(format!("has `{}` twice", shortened(name, 60)));
                }
            }
            Ok(values)
        }
        _ => Err("is neither an object nor a list".into()),
    }
}

/// A value that is to be words; programs write numbers for ids and versions too.
pub(crate) fn words(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
