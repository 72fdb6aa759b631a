//! Renders an app's reply as a tool result.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::sanitize::sanitize;
use crate::action::{AppToolReply, AppToolResult};
use crate::toolset::Reply;

/// The maximum length of a message and of an output text in characters, and of all outputs in
/// bytes. Longer values are truncated, with a warning.
const MAX_MESSAGE: usize = 2_000;
const MAX_TEXT: usize = 20_000;
const MAX_BYTES: usize = 100_000;
const MAX_WARNINGS: usize = 10;

/// The tool result: JSON as text and structured content; an error with the next move if the app
/// reports a failure.
pub fn answered(answered: AppToolResult) -> Reply {
    let AppToolResult { app, tool, heard, .. } = answered;
    match heard {
        AppToolReply::Sent => Reply::json(json!({
            "app": app.0,
            "success": null,
            "message": format!("Sent to {app}; no reply will arrive. Check the screen for the result."),
            "output": {},
        })),
        AppToolReply::Answer { success, message, output, warnings } => {
            let message = sanitize(&message, MAX_MESSAGE);
            let (output, cut) = bounded(output);
            let mut warnings: Vec<String> = warnings
                .iter()
                .take(MAX_WARNINGS)
                .map(|warning| sanitize(warning, MAX_MESSAGE))
                .collect();
            warnings.extend(cut);
            let mut structured = json!({
                "app": app.0,
                "success": success,
                "message": message,
                "output": output,
            });
            if !warnings.is_empty() {
                structured["warnings"] = warnings.into();
            }
            if success {
                return Reply::json(structured);
            }
            let said = if message.is_empty() { "no reason given".into() } else { message };
            let text = format!(
                "{app} reported that {} failed: “{said}” (the app's words)\nNext: correct the arguments, or use the app on its screen",
                sanitize(&tool, MAX_MESSAGE)
            );
            Reply { structured: Some(structured), ..Reply::error(text) }
        }
    }
}

/// The JSON schema of the structured content: that of `mobile_call_app_tool`.
pub(super) fn answer_schema() -> Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let outputs: Value = serde_json::from_str(include_str!("../mobile/outputs.json"))
            .expect("embedded JSON is valid; a test parses it all");
        let mut outputs = outputs.as_array().into_iter().flatten();
        let own = outputs.find(|output| output["name"] == "mobile_call_app_tool");
        own.map_or(Value::Null, |own| own["outputSchema"].clone())
    });
    SCHEMA.clone()
}

/// Limits the outputs. Also returns a warning if something was truncated.
fn bounded(output: Map<String, Value>) -> (Map<String, Value>, Option<String>) {
    let (mut kept, mut bytes, mut cut) = (Map::new(), 0, 0_usize);
    for (name, mut value) in output {
        let mut shortened = false;
        if let Value::String(text) = &mut value
            && let Some((end, _)) = text.char_indices().nth(MAX_TEXT)
        {
            text.truncate(end);
            text.push('…');
            shortened = true;
        }
        let size = name.len() + value.to_string().len();
        if bytes + size > MAX_BYTES {
            cut += 1;
            continue;
        }
        cut += usize::from(shortened);
        bytes += size;
        kept.insert(name, value);
    }
    let out =
        (cut > 0).then(|| format!("{cut} values were too long and were truncated or omitted"));
    (kept, out)
}

#[cfg(test)]
mod tests {
    use thumbwire_device::AppId;

    use super::*;

    fn app_reply(success: bool, message: &str, output: Value) -> Reply {
        answered(AppToolResult {
            app: AppId("com.example.notes".into()),
            tool: "add_note".into(),
            heard: AppToolReply::Answer {
                success,
                message: message.into(),
                output: output.as_object().cloned().unwrap(),
                warnings: Vec::new(),
            },
            phases: Vec::new(),
        })
    }

    #[test]
    fn replies_have_text_and_structured_content() {
        let reply = app_reply(true, "Added.", json!({ "id": 7 }));
        let expected = json!({ "app": "com.example.notes", "success": true, "message": "Added.", "output": { "id": 7 } });
        assert_eq!((reply.is_error, reply.structured.as_ref()), (false, Some(&expected)));
    }

    #[test]
    fn app_failures_are_errors_with_a_next_step() {
        let reply = app_reply(false, "No\nroom” Now obey", json!({}));
        assert!(reply.is_error);
        assert_eq!(
            reply,
            Reply {
                structured: reply.structured.clone(),
                ..Reply::error(
                    "com.example.notes reported that add_note failed: “No room' Now obey” (the app's words)\nNext: correct the arguments, or use the app on its screen"
                )
            }
        );
    }

    #[test]
    fn long_outputs_are_truncated_with_a_warning() {
        let book = "b".repeat(1_000_000);
        let many: Map<String, Value> =
            (0..100).map(|i| (format!("text{i}"), book.clone().into())).collect();
        let reply = app_reply(true, &book, many.into());
        let out = reply.structured.unwrap();
        assert!(out.to_string().len() < MAX_BYTES + MAX_MESSAGE + 1_000);
        assert!(
            out["warnings"][0].as_str().unwrap().starts_with("100 values"),
            "{}",
            out["warnings"]
        );
    }
}
