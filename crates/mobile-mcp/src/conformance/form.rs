//! The form of an answer, by the letter of section 3.2. [`crate::Response`] reads far more than this lets pass.

use serde_json::Value;

use crate::words::harmless;
use crate::{Capability, Extras, Keys, Response};

/// The response of the specification's envelope, exactly.
fn enveloped(answer: &Extras) -> Result<Value, String> {
    let text = answer.get("mobile-mcp-response");
    let text = text.ok_or(
        "there is no extra `mobile-mcp-response`; other names are not the specification's",
    )?;
    let whole: Value =
        serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let envelope =
        whole.get("mobile-mcp-response").ok_or("there is no `mobile-mcp-response` around it")?;
    match envelope.get("version") {
        Some(Value::String(version)) if version == crate::VERSION => {}
        Some(other) => return Err(format!("`version` is {}", harmless(&other.to_string(), 40))),
        None => return Err("there is no `version`".into()),
    }
    envelope
        .get("response")
        .filter(|inner| inner.is_object())
        .cloned()
        .ok_or_else(|| "there is no `response`".into())
}

/// Whether an answer has the form of section 3.2, but for its output. Which id it has is a MUST of its own.
pub(super) fn schema(answer: &Extras, capability: &str) -> Result<(), String> {
    let response = enveloped(answer)?;
    if !response.get("id").is_some_and(Value::is_string) {
        return Err("`id` is no string".into());
    }
    match response.get("status").and_then(Value::as_str) {
        Some("success" | "failure") => {}
        _ => return Err("`status` is neither success nor failure".into()),
    }
    if response.get("message").is_some_and(|message| !message.is_string()) {
        return Err("`message` is no string".into());
    }
    match response.get("capability").and_then(|one| one.get("id")).and_then(Value::as_str) {
        Some(id) if id == capability => Ok(()),
        Some(id) => Err(format!("`capability.id` is `{}`", shown(id))),
        None => Err("there is no `capability.id`".into()),
    }
}

/// Whether an answer's output has the form of section 3.2.
pub(super) fn output(answer: &Extras, capability: &Capability) -> Result<(), String> {
    // An answer in another dialect breaks `response-schema` and is not blamed twice, unless its output is an object.
    let text = answer.get("mobile-mcp-response").or_else(|| answer.get("response"));
    let whole: Value = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let response = whole.get("mobile-mcp-response").unwrap_or(&whole);
    let response = response.get("response").unwrap_or(response);
    let list = match response.get("capability").and_then(|one| one.get("output")) {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err("`output` is no list of {name, type, value}".into()),
    };
    for entry in list {
        let name = entry.get("name").and_then(Value::as_str).ok_or("an entry has no `name`")?;
        let param = capability.output.iter().find(|param| param.name == name);
        let param = param.ok_or_else(|| format!("`{}` is not in the descriptor", shown(name)))?;
        let named = entry.get("type").and_then(Value::as_str);
        if named != Some(param.written.as_str()) {
            let named = named.unwrap_or("missing");
            return Err(format!(
                "the type of `{}` is {} instead of {}",
                shown(name),
                shown(named),
                shown(&param.written)
            ));
        }
        if entry.get("value").is_none() {
            return Err(format!("`{}` has no `value`", shown(name)));
        }
    }
    let values =
        Response::read(answer, &Keys::default()).map(|read| read.output).unwrap_or_default();
    match capability.oddities(&values).first() {
        Some(odd) => Err(odd.to_string()),
        None => Ok(()),
    }
}

fn shown(words: &str) -> String {
    harmless(words, 60)
}
