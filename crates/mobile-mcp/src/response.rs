//! A tool's response (section 3.2), from both ends: written by the tool, read by the agent.
//!
//! Reading is lenient, because sample apps differ from the specification and from each other: with
//! or without the envelope, values as a list or as an object. Errors are strict, because a
//! half-read response would be taken for what happened.

use std::fmt;

use serde_json::{Value, json};
use thumbwire_base::{sanitize, truncate};

use super::request::{MAX_BYTES, named_values, text_of};
use super::{Capability, ExtraKeys, Extras, ParamType, RequestFormat, VERSION, Values};
use super::{MAX_DESCRIPTION, MAX_NAME};

/// Limit on the output values of a response.
const MAX_VALUES: usize = 256;

/// How a call went, according to the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The call succeeded.
    Success,
    /// The call failed.
    Failure,
}

impl Status {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
        }
    }

    /// `error` is how the first version of the authors' sample app reported a failure.
    fn of(written: &str) -> Option<Self> {
        match written.to_ascii_lowercase().as_str() {
            "success" => Some(Self::Success),
            "failure" | "error" => Some(Self::Failure),
            _ => None,
        }
    }
}

/// A response.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The request's id.
    pub id: String,
    /// The capability's id; empty if the tool omits it.
    pub capability: String,
    /// Success or failure.
    pub status: Status,
    /// The app's message; empty if none.
    pub message: String,
    /// The output values by name.
    pub output: Values,
}

/// Why a response cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedResponse(pub String);

impl fmt::Display for MalformedResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MalformedResponse {}

impl Response {
    /// Reads a response from an Intent's extras, in any format.
    ///
    /// # Errors
    /// No extra holds a valid response.
    pub fn read(extras: &Extras, keys: &ExtraKeys) -> Result<Self, MalformedResponse> {
        let id = keys.id.iter().find_map(|key| extras.get(key)).filter(|id| !id.is_empty());
        let mut broken = None;
        // Several extras are one response in several formats.
        for text in keys.response.iter().filter_map(|key| extras.get(key)) {
            match Self::of_text(text, id) {
                Ok(answer) => return Ok(answer),
                Err(reason) => broken = broken.or(Some(reason)),
            }
        }
        let names = || keys.response.join(" or ");
        Err(broken.unwrap_or_else(|| MalformedResponse(format!("no response under {}", names()))))
    }

    fn of_text(text: &str, id: Option<&String>) -> Result<Self, MalformedResponse> {
        if text.len() > MAX_BYTES {
            let message =
                format!("the response has {} bytes; the limit is {MAX_BYTES}", text.len());
            return Err(MalformedResponse(message));
        }
        match serde_json::from_str(text) {
            Ok(whole) => Self::of(&whole, id),
            Err(error) => recover_failure(text, id).ok_or_else(|| {
                MalformedResponse(format!("not valid JSON ({error}): {}", sanitize(text, 120)))
            }),
        }
    }

    fn of(whole: &Value, id: Option<&String>) -> Result<Self, MalformedResponse> {
        let body = whole.get("mobile-mcp-response").unwrap_or(whole);
        let body = body.get("response").unwrap_or(body);
        let Value::Object(body) = body else {
            return Err(MalformedResponse(format!(
                "not a JSON object: {}",
                sanitize(&whole.to_string(), 120)
            )));
        };
        let id = text_of(body.get("id")).filter(|id| !id.is_empty()).or_else(|| id.cloned());
        let id = id.ok_or_else(|| MalformedResponse("the response has no request id".into()))?;
        let written = body.get("status").and_then(Value::as_str);
        let status = match written.map(|written| (written, Status::of(written))) {
            Some((_, Some(status))) => status,
            Some((written, None)) => {
                let message = format!(
                    "its status is `{}`; expected success or failure",
                    sanitize(written, 40)
                );
                return Err(MalformedResponse(message));
            }
            None => return Err(MalformedResponse("the response has no status".into())),
        };
        let capability = body.get("capability");
        // The samples omit the capability in failures.
        let named =
            text_of(capability.and_then(|one| one.get("id"))).or_else(|| text_of(capability));
        let output = capability.and_then(|one| one.get("output")).or_else(|| body.get("output"));
        let output = named_values(output.unwrap_or(&Value::Null))
            .map_err(|reason| MalformedResponse(format!("its `output` {reason}")))?;
        if output.len() > MAX_VALUES {
            let message =
                format!("its output has {} values; the limit is {MAX_VALUES}", output.len());
            return Err(MalformedResponse(message));
        }
        Ok(Self {
            id: truncate(&id, MAX_NAME),
            capability: truncate(&named.unwrap_or_default(), MAX_NAME),
            status,
            message: truncate(&text_of(body.get("message")).unwrap_or_default(), MAX_DESCRIPTION),
            output,
        })
    }

    /// The response as specified, for the extra `mobile-mcp-response`. Values get their JSON types.
    pub fn to_json(&self) -> Value {
        self.enveloped(None)
    }

    /// The text extras of the Intent that returns it, in the request's format. The specification's
    /// extra is always included.
    pub fn extras(&self, capability: Option<&Capability>, dialect: RequestFormat) -> Extras {
        let mut extras = Extras::new();
        extras.insert("mobile-mcp-response".into(), self.enveloped(capability).to_string());
        if dialect == RequestFormat::Bare {
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

fn kind_of(value: &Value) -> ParamType {
    match value {
        Value::Bool(_) => ParamType::Boolean,
        Value::Number(number) if number.is_f64() => ParamType::Number,
        Value::Number(_) => ParamType::Integer,
        _ => ParamType::String,
    }
}

/// Reads a failure from broken JSON. When an exception's text does not fit into JSON, the authors'
/// sample app builds one by hand: `{"id":"REQUEST, "status":"failure", "message":"…"}`, without the
/// quote after the id. A success is never read this way.
fn recover_failure(text: &str, id: Option<&String>) -> Option<Response> {
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
        id: truncate(&id, MAX_NAME),
        capability: String::new(),
        status,
        message: truncate(message, MAX_DESCRIPTION),
        output: Values::new(),
    })
}

/// The text after the first `"key":"`.
fn after<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let quoted = format!("\"{key}\"");
    let rest = text.split_once(quoted.as_str())?.1;
    rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')
}
