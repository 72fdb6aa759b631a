//! What a tool answers (section 3.2), from both ends: written by the tool, read by the agent.
//!
//! Read leniently, because sample apps differ from the specification and from each other: with the envelope or without, values as a list or
//! as an object. Refused clearly, because a half-read answer would be taken for what happened.

use std::fmt;

use serde_json::{Value, json};

use super::request::{MOST_BYTES, named_values, words};
use super::words::{MOST_IN_A_DESCRIPTION, MOST_IN_A_NAME, harmless, shortened};
use super::{Capability, Dialect, Extras, Keys, Kind, VERSION, Values};

/// The most values that an answer may give.
const MOST_VALUES: usize = 256;

/// How a call went, by the tool's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It was done.
    Success,
    /// It was not.
    Failure,
}

impl Status {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
        }
    }

    /// `error` is what the first version of the authors' sample app said for a failure.
    fn of(written: &str) -> Option<Self> {
        match written.to_ascii_lowercase().as_str() {
            "success" => Some(Self::Success),
            "failure" | "error" => Some(Self::Failure),
            _ => None,
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The request's.
    pub id: String,
    /// The capability's; empty where the tool leaves it out.
    pub capability: String,
    /// How it went.
    pub status: Status,
    /// In words, by the app; empty where it says nothing.
    pub message: String,
    /// What it gives, by name.
    pub output: Values,
}

/// An answer that cannot be read: why, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}

impl Response {
    /// Reads an answer out of an Intent's extras, in whichever dialect it is.
    ///
    /// # Errors
    /// When there is none, or it is no answer.
    pub fn read(extras: &Extras, keys: &Keys) -> Result<Self, Broken> {
        let id = keys.id.iter().find_map(|key| extras.get(key)).filter(|id| !id.is_empty());
        let mut broken = None;
        // Where there are several, they are one answer in several dialects.
        for text in keys.response.iter().filter_map(|key| extras.get(key)) {
            match Self::of_text(text, id) {
                Ok(answer) => return Ok(answer),
                Err(why) => broken = broken.or(Some(why)),
            }
        }
        let names = || keys.response.join(" or ");
        Err(broken.unwrap_or_else(|| Broken(format!("there is no answer under {}", names()))))
    }

    fn of_text(text: &str, id: Option<&String>) -> Result<Self, Broken> {
        if text.len() > MOST_BYTES {
            let says = format!("it has {} bytes; no more than {MOST_BYTES} are read", text.len());
            return Err(Broken(says));
        }
        match serde_json::from_str(text) {
            Ok(whole) => Self::of(&whole, id),
            Err(error) => salvaged(text, id)
                .ok_or_else(|| Broken(format!("it is no JSON ({error}): {}", harmless(text, 120)))),
        }
    }

    fn of(whole: &Value, id: Option<&String>) -> Result<Self, Broken> {
        let body = whole.get("mobile-mcp-response").unwrap_or(whole);
        let body = body.get("response").unwrap_or(body);
        let Value::Object(body) = body else {
            return Err(Broken(format!("it is no object: {}", harmless(&whole.to_string(), 120))));
        };
        let id = words(body.get("id")).filter(|id| !id.is_empty()).or_else(|| id.cloned());
        let id = id.ok_or_else(|| Broken("it has no id of a request".into()))?;
        let written = body.get("status").and_then(Value::as_str);
        let status = match written.map(|written| (written, Status::of(written))) {
            Some((_, Some(status))) => status,
            Some((written, None)) => {
                let says =
                    format!("its status is `{}`: it is success or failure", harmless(written, 40));
                return Err(Broken(says));
            }
            None => return Err(Broken("it has no status".into())),
        };
        let capability = body.get("capability");
        // The samples' failures leave the capability out.
        let named = words(capability.and_then(|one| one.get("id"))).or_else(|| words(capability));
        let output = capability.and_then(|one| one.get("output")).or_else(|| body.get("output"));
        let output = named_values(output.unwrap_or(&Value::Null))
            .map_err(|why| Broken(format!("its `output` {why}")))?;
        if output.len() > MOST_VALUES {
            let says =
                format!("it gives {} values; no more than {MOST_VALUES} are read", output.len());
            return Err(Broken(says));
        }
        Ok(Self {
            id: shortened(&id, MOST_IN_A_NAME),
            capability: shortened(&named.unwrap_or_default(), MOST_IN_A_NAME),
            status,
            message: shortened(
                &words(body.get("message")).unwrap_or_default(),
                MOST_IN_A_DESCRIPTION,
            ),
            output,
        })
    }

    /// The answer as the specification has it, for the extra `mobile-mcp-response`. The types of the values are those of JSON.
    pub fn to_json(&self) -> Value {
        self.enveloped(None)
    }

    /// The answer as the specification has it, with the types that the capability's descriptor names.
    pub fn to_json_of(&self, capability: &Capability) -> Value {
        self.enveloped(Some(capability))
    }

    /// The text extras of the Intent that carries it back, in the dialect of the request; the specification's is always there.
    pub fn extras(&self, capability: Option<&Capability>, dialect: Dialect) -> Extras {
        let mut extras = Extras::new();
        extras.insert("mobile-mcp-response".into(), self.enveloped(capability).to_string());
        if dialect == Dialect::Bare {
            let output = Value::Object(self.output.clone());
            extras.insert("response".into(), self.body(output).to_string());
            extras.insert("mcp_request_id".into(), self.id.clone());
        }
        extras
    }

    fn enveloped(&self, capability: Option<&Capability>) -> Value {
        let params = capability.map_or(&[][..], |capability| &capability.output);
        let output = self.output.iter().map(|(name, value)| {
            let param =
                params.iter().find(|param| param.name == *name && !param.written.is_empty());
            let kind = param.map_or(kind_of(value).name(), |param| param.written.as_str());
            json!({ "name": name, "type": kind, "value": value })
        });
        let body = self.body(output.collect());
        json!({ "mobile-mcp-response": { "version": VERSION, "response": body } })
    }

    fn body(&self, output: Value) -> Value {
        let mut body = json!({
            "id": self.id,
            "capability": { "id": self.capability, "output": output },
            "status": self.status.name(),
        });
        if !self.message.is_empty() {
            body["message"] = self.message.as_str().into();
        }
        body
    }
}

fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Bool(_) => Kind::Boolean,
        Value::Number(number) if number.is_f64() => Kind::Number,
        Value::Number(_) => Kind::Integer,
        _ => Kind::String,
    }
}

/// What can be read of a failure whose JSON is broken. The authors' sample app puts one together by hand when an exception's text does not
/// go into JSON: `{"id":"REQUEST, "status":"failure", "message":"…"}`, without the quote after the id. A success is never read like this.
fn salvaged(text: &str, id: Option<&String>) -> Option<Response> {
    let text = text.trim();
    if !text.starts_with('{') {
        return None;
    }
    let status = Status::of(after(text, "status")?.split('"').next()?)?;
    let inside = || after(text, "id")?.split(['"', ',']).next().map(|id| id.trim().to_owned());
    let id = id.cloned().or_else(inside).filter(|id| !id.is_empty())?;
    let message = after(text, "message").unwrap_or_default();
    let message = message.trim_end_matches(['}', ' ', '\n']).trim_end_matches('"');
    (status == Status::Failure).then(|| Response {
        id: shortened(&id, MOST_IN_A_NAME),
        capability: String::new(),
        status,
        message: shortened(message, MOST_IN_A_DESCRIPTION),
        output: Values::new(),
    })
}

/// The text behind the first `"key":"`.
fn after<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let quoted = format!("\"{key}\"");
    let rest = text.split_once(quoted.as_str())?.1;
    rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')
}
