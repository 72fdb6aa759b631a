//! A tool's reply, read without knowing which toolset wrote it.

use serde_json::Value;
use thumbwire_core::action::Cause;
use thumbwire_core::toolset::{Content, Reply};
use thumbwire_device::Image;

/// Why a check did not pass.
#[derive(Debug)]
pub(super) enum Problem {
    /// The call failed, or its effect is missing.
    Failed(String),
    /// This phone cannot show it, for this reason.
    Skipped(String),
}

/// What a check ends with: a note for the report, which may be empty, or a problem.
pub(super) type Found = Result<String, Problem>;

/// A check that passed without a note.
pub(super) const AS_EXPECTED: Found = Ok(String::new());

/// A failed check with this reason.
pub(super) fn failed<T>(reason: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Failed(reason.into()))
}

/// A skipped check with this reason.
pub(super) fn skipped<T>(reason: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Skipped(reason.into()))
}

/// Fails with the reason unless the condition holds.
pub(super) fn ensure(holds: bool, reason: impl FnOnce() -> String) -> Result<(), Problem> {
    if holds { Ok(()) } else { failed(reason()) }
}

/// The content of a successful reply.
pub(super) struct Answer {
    /// The structured content, without the `result` around it; null if there is none.
    pub(super) value: Value,
    /// All text blocks, joined.
    pub(super) text: String,
    /// The image, if there is one.
    pub(super) image: Option<Image>,
}

impl Answer {
    /// A field that must be a string.
    pub(super) fn string(&self, field: &str) -> Result<&str, Problem> {
        match self.value[field].as_str() {
            Some(text) => Ok(text),
            None => failed(format!("the reply has no {field}")),
        }
    }

    /// A field that must be a list; the whole content if `field` is empty.
    pub(super) fn list(&self, field: &str) -> Result<&Vec<Value>, Problem> {
        let value = if field.is_empty() { &self.value } else { &self.value[field] };
        match value.as_array() {
            Some(list) => Ok(list),
            None => failed(format!("the reply has no list {field}")),
        }
    }
}

/// A failed reply.
pub(super) struct Refusal {
    /// The first line of what it says.
    pub(super) text: String,
    /// The cause, if the reply has one.
    pub(super) cause: Option<Cause>,
}

impl Refusal {
    /// Whether the phone refused: it answered, and cannot do it.
    pub(super) fn is_by_the_phone(&self) -> bool {
        let causes = |cause: &Cause| {
            matches!(
                cause,
                Cause::Refused { .. }
                    | Cause::PlatformNotSupported { .. }
                    | Cause::HelperMissing { .. }
                    | Cause::DeviceError { .. }
            )
        };
        self.cause.as_ref().is_some_and(causes)
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal.cause {
            // Nothing is wrong with the phone or the tool.
            Some(Cause::PlatformNotSupported { what, platform }) => {
                Self::Skipped(format!("{what} is not supported on {platform}"))
            }
            _ => Self::Failed(format!("the tool replies: {}", refusal.text)),
        }
    }
}

/// Reads a reply. Toolsets fail in two ways: `isError`, and `success: false` in the content.
pub(super) fn read(reply: Reply) -> Result<Answer, Refusal> {
    let mut text = Vec::new();
    let mut image = None;
    for part in reply.content {
        match part {
            Content::Text(line) => text.push(line),
            Content::Image(picture) => image = Some(picture),
            Content::Resource(_) | Content::Link(_) => {}
        }
    }
    let value = match reply.structured {
        Some(Value::Object(mut object)) if object.len() == 1 && object.contains_key("result") => {
            object.remove("result").unwrap_or_default()
        }
        Some(value) => value,
        None => Value::Null,
    };
    let text = text.join("\n");
    if reply.is_error || value["success"] == false {
        let said = ["error", "message"].iter().find_map(|key| value[*key].as_str());
        let line = said.filter(|said| !said.is_empty()).unwrap_or(&text);
        let line = line.lines().next().unwrap_or("an error without words");
        let details = value["details"].as_str().or_else(|| value["reason"].as_str());
        let text = match details {
            Some(details) => format!("{line} ({details})"),
            None => line.to_owned(),
        };
        return Err(Refusal { text, cause: reply.cause });
    }
    Ok(Answer { value, text, image })
}
