//! The exact form of a response, by section 3.2. [`Response`] accepts far more.

use serde_json::Value;

use thumbwire_base::sanitize;
use thumbwire_mobile_mcp::{Capability, ExtraKeys, Extras, Response, VERSION};

/// The response inside the specification's envelope, strictly.
fn enveloped(extras: &Extras) -> Result<Value, String> {
    let text = extras.get("mobile-mcp-response");
    let text =
        text.ok_or("no extra `mobile-mcp-response`; the specification knows no other name")?;
    let whole: Value =
        serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}"))?;
    let envelope = whole.get("mobile-mcp-response").ok_or("no `mobile-mcp-response` envelope")?;
    match envelope.get("version") {
        Some(Value::String(version)) if version == VERSION => {}
        Some(other) => return Err(format!("`version` is {}", sanitize(&other.to_string(), 40))),
        None => return Err("there is no `version`".into()),
    }
    envelope
        .get("response")
        .filter(|inner| inner.is_object())
        .cloned()
        .ok_or_else(|| "there is no `response`".into())
}

/// Checks the form of a response, except its output. Its id is a MUST of its own.
pub(super) fn schema(extras: &Extras, capability: &str) -> Result<(), String> {
    let response = enveloped(extras)?;
    if !response.get("id").is_some_and(Value::is_string) {
        return Err("`id` is not a string".into());
    }
    match response.get("status").and_then(Value::as_str) {
        Some("success" | "failure") => {}
        _ => return Err("`status` is neither success nor failure".into()),
    }
    if response.get("message").is_some_and(|message| !message.is_string()) {
        return Err("`message` is not a string".into());
    }
    match response.get("capability").and_then(|one| one.get("id")).and_then(Value::as_str) {
        Some(id) if id == capability => Ok(()),
        Some(id) => Err(format!("`capability.id` is `{}`", quote(id))),
        None => Err("there is no `capability.id`".into()),
    }
}

/// Checks the form of a response's output.
pub(super) fn output(extras: &Extras, capability: &Capability) -> Result<(), String> {
    // A response in another format violates `response-schema` and is not blamed twice, unless its
    // output is an object.
    let text = extras.get("mobile-mcp-response").or_else(|| extras.get("response"));
    let whole: Value = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let response = whole.get("mobile-mcp-response").unwrap_or(&whole);
    let response = response.get("response").unwrap_or(response);
    let list = match response.get("capability").and_then(|one| one.get("output")) {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err("`output` is not a list of {name, type, value}".into()),
    };
    for entry in list {
        let name = entry.get("name").and_then(Value::as_str).ok_or("an entry has no `name`")?;
        let param = capability.output.iter().find(|param| param.name == name);
        let param = param.ok_or_else(|| format!("`{}` is not in the descriptor", quote(name)))?;
        let named = entry.get("type").and_then(Value::as_str);
        if named != Some(param.written.as_str()) {
            let named = named.unwrap_or("missing");
            return Err(format!(
                "the type of `{}` is {}; expected {}",
                quote(name),
                quote(named),
                quote(&param.written)
            ));
        }
        if entry.get("value").is_none() {
            return Err(format!("`{}` has no `value`", quote(name)));
        }
    }
    let values =
        Response::read(extras, &ExtraKeys::default()).map(|read| read.output).unwrap_or_default();
    match capability.check_output(&values).first() {
        Some(problem) => Err(problem.to_string()),
        None => Ok(()),
    }
}

fn quote(text: &str) -> String {
    sanitize(text, 60)
}
