//! Errors, with the original server's messages.
//!
//! Each is an object with `success: false` and one key of ours: `next`, what the caller can do.
//! Only schema violations are MCP errors (`isError`); all other errors are normal replies, as in
//! the original.

use serde_json::{Map, Value, json};
use thumbwire_base::truncate;

use super::super::{RejectedCall, RejectionReason};
use super::devices::rows;
use super::{MAX_NAME, MAX_SENTENCE, Reply, json_reply, rounded};
use crate::action::{Cause, Failure, FileNameError, what_they_lack};

/// The error code of unexpected errors.
pub(super) const UNEXPECTED: &str = "TOOL_EXECUTION_ERROR";

/// The reply to a rejected or failed call.
pub(super) fn refuse(rejected: &RejectedCall<'_>) -> Reply {
    match &rejected.reason {
        RejectionReason::InvalidArguments(violations) => {
            let errors = violations.iter().map(ToString::to_string).collect();
            let next = Failure::from(Cause::InvalidArgument { reason: String::new() }).next_step();
            Reply { is_error: true, ..json_reply(invalid(&rejected.tool.name, errors, &next)) }
        }
        RejectionReason::Failure(failure) => json_reply(failed(rejected, failure)),
    }
}

/// The error of the original server's validator.
fn invalid(tool: &str, errors: Vec<String>, next: &str) -> Value {
    // It names the tool, with one exception.
    let what = if tool == "find_elements" { "element search" } else { tool };
    json!({
        "success": false,
        "error": format!("Validation failed for {what}"),
        "errors": errors,
        "warnings": [],
        "details": "Input parameters failed security validation",
        "next": next,
    })
}

fn failed(rejected: &RejectedCall<'_>, failure: &Failure) -> Value {
    let tool = &*rejected.tool.name;
    let next = failure.next_step();
    match &failure.cause {
        Cause::InvalidArgument { reason } => invalid(tool, vec![reason.clone()], &next),
        Cause::InvalidFileName { name, reason } => {
            invalid(tool, vec![bad_name(name, reason)], &next)
        }
        Cause::TimedOut { .. } => timed_out(rejected, &next),
        Cause::NoDeviceChosen { devices } => {
            let next = "call select_device first, or pass `device`; get_devices lists the connected devices";
            let next = what_they_lack(devices).unwrap_or_else(|| next.to_owned());
            match tool {
                "select_device" => {
                    let none = devices.is_empty();
                    let error = if none { NONE_CONNECTED } else { NONE_READY };
                    failing(error, [("devices", rows(devices).into())], &failure.next_step())
                }
                "list_screen_elements" if devices.is_empty() => {
                    failing(NONE_CONNECTED, [("elements", json!([]))], &failure.next_step())
                }
                _ => unexpected(tool, NOT_SELECTED, &next),
            }
        }
        Cause::DeviceNotConnected { device, reason } if tool == "select_device" => {
            let error = format!(
                "Device '{}' is not connected (not present in `adb devices`)",
                truncate(device, MAX_NAME)
            );
            let more = [
                ("device_id", truncate(device, MAX_NAME).into()),
                ("state", "not-found".into()),
                ("details", truncate(reason, MAX_NAME).into()),
            ];
            failing(&error, more, &next)
        }
        Cause::DeviceNotConnected { device, reason }
        | Cause::DeviceNotAnswering { device, reason } => {
            let (device, reason) = (truncate(device, MAX_NAME), truncate(reason, MAX_SENTENCE));
            let error = format!("Device '{device}' is not connected: {reason}");
            failing(&error, in_tool(tool), &next)
        }
        Cause::DeviceNotReady { device, state } => not_ready(tool, device, state, &next),
        Cause::DeviceNotAuthorized { device } => not_ready(tool, device, "unauthorized", &next),
        Cause::ElementNotFound { reason, .. } if tool == "tap_element" => {
            let given = |name| rejected.arguments.get(name).cloned().unwrap_or_default();
            let criteria = ["text", "resource_id", "content_desc"].map(|name| (name, given(name)));
            let criteria: Map<String, Value> =
                criteria.into_iter().map(|(name, word)| (name.to_owned(), word)).collect();
            let mut more = vec![("criteria", criteria.into())];
            more.extend(reason.as_ref().map(|reason| ("details", reason.clone().into())));
            failing(NOT_FOUND, more, "call list_screen_elements and use an element from it")
        }
        Cause::IndexOutOfRange { index, found } => {
            let error = format!("Index {index} out of range. Found {found} elements");
            failing(&error, [("elements_found", (*found).into())], &next)
        }
        Cause::NoSuchRecording { id, known } => {
            let error = format!("Recording {} not found", truncate(id, MAX_NAME));
            failing(&error, [("active_recordings", known.clone().into())], &next)
        }
        Cause::NoSuchMonitor { id, known } => {
            let error = format!("Monitor {} not found", truncate(id, MAX_NAME));
            failing(&error, [("active_monitors", known.clone().into())], &next)
        }
        cause => failing(&truncate(&cause.to_string(), MAX_SENTENCE), in_tool(tool), &next),
    }
}

const NONE_CONNECTED: &str = "No Android devices connected";
const NONE_READY: &str = "No devices in 'device' status";
const NOT_SELECTED: &str = "No Android device has been selected. Call select_device() or auto_select_device() first, or \
pass device_id explicitly.";
const NOT_FOUND: &str =
    "Element not found. Verify the text, resource_id, or content_desc is correct";

fn bad_name(name: &str, reason: &FileNameError) -> String {
    let name = truncate(name, MAX_NAME);
    match reason {
        FileNameError::Empty => "Filename cannot be empty".into(),
        FileNameError::EscapesRoot => format!("Path traversal detected in filename: {name}"),
        FileNameError::Folder => format!("Folders are not allowed in filename: {name}"),
        FileNameError::LeadingDash => format!("Filename starts with a dash: {name}"),
        FileNameError::EndsInDot => format!("Filename ends in a dot: {name}"),
        FileNameError::Characters(characters) => {
            let characters: Vec<String> = characters.iter().map(char::to_string).collect();
            format!("Dangerous characters in filename: {}", characters.join(", "))
        }
        FileNameError::Hidden => format!("Invisible characters in filename: {name}"),
        FileNameError::TooLong(characters) => {
            format!("Filename too long ({characters} characters)")
        }
    }
}

fn failing(
    error: &str,
    more: impl IntoIterator<Item = (&'static str, Value)>,
    next: &str,
) -> Value {
    let mut out = Map::new();
    out.insert("success".into(), false.into());
    out.insert("error".into(), error.into());
    out.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
    out.insert("next".into(), next.into());
    out.into()
}

/// The tool's name; and an empty list of elements for `list_screen_elements`.
fn in_tool(tool: &str) -> Vec<(&'static str, Value)> {
    let mut more = vec![("operation", tool.into())];
    if tool == "list_screen_elements" {
        more.push(("elements", json!([])));
    }
    more
}

fn not_ready(tool: &str, device: &str, state: &str, next: &str) -> Value {
    let (device, state) = (truncate(device, MAX_NAME), truncate(state, MAX_NAME));
    let error = format!("Device '{device}' is not ready (state: {state}); expected 'device'");
    let more = match tool {
        "select_device" => vec![("device_id", device.into()), ("state", state.into())],
        tool => in_tool(tool),
    };
    failing(&error, more, next)
}

fn unexpected(tool: &str, reason: &str, next: &str) -> Value {
    let more = [("error_code", UNEXPECTED.into()), ("tool_name", tool.into())];
    failing(&format!("Tool execution failed: {reason}"), more, next)
}

fn timed_out(rejected: &RejectedCall<'_>, next: &str) -> Value {
    let given = rounded(rejected.given.as_secs_f64(), 1);
    let more = [
        ("error_code", "OPERATION_TIMEOUT".into()),
        ("timeout_seconds", given.into()),
        ("elapsed_seconds", rounded(rejected.took.as_secs_f64(), 2).into()),
        ("tool_name", rejected.tool.name.clone().into()),
        (
            "recovery_suggestions",
            json!([next, "check the phone: its screen may be locked or busy"]),
        ),
    ];
    failing(&format!("Operation timed out after {given:.1} seconds"), more, next)
}
