//! What an app answered, as a tool tells it.

use serde_json::{Map, Value, json};

use super::words::clean;
use crate::action::{Answered, Heard};
use crate::surface::Reply;

/// How much of a message is told, in characters; of a text that an app gives; and of all that it gives, in bytes. What is longer is cut, and
/// that is told.
const LONGEST_MESSAGE: usize = 2_000;
const LONGEST_TEXT: usize = 20_000;
const MOST_BYTES: usize = 100_000;
const MOST_WARNINGS: usize = 10;

/// The reply: JSON, for reading and for programs; where the app did not do it an error, with the next move.
pub fn answered(answered: Answered) -> Reply {
    let Answered { app, tool, heard, .. } = answered;
    match heard {
        Heard::Sent => Reply::json(json!({
            "app": app.0,
            "success": null,
            "message": format!("Sent to {app}; its answer cannot be heard. Look at the screen to see what came of it."),
            "output": {},
        })),
        Heard::Answer { success, message, output, warnings } => {
            let message = clean(&message, LONGEST_MESSAGE);
            let (output, cut) = bounded(output);
            let mut warnings: Vec<String> = warnings
                .iter()
                .take(MOST_WARNINGS)
                .map(|warning| clean(warning, LONGEST_MESSAGE))
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
            let said = if message.is_empty() { "it does not say why".into() } else { message };
            let text = format!(
                "{app} answered that {} failed: “{said}” (its words)\nNext: correct the arguments, or do it on the screen",
                clean(&tool, LONGEST_MESSAGE)
            );
            Reply { structured: Some(structured), ..Reply::error(text) }
        }
    }
}

/// The JSON schema of the structured content.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "app": { "type": "string" },
            "success": { "type": ["boolean", "null"] },
            "message": { "type": "string" },
            "output": { "type": "object" },
            "warnings": { "type": "array", "items": { "type": "string" } }
        },
        "required": ["app", "success", "message", "output"]
    })
}

/// What an app gives, as much as anybody reads, and what was cut.
fn bounded(output: Map<String, Value>) -> (Map<String, Value>, Option<String>) {
    let (mut kept, mut bytes, mut cut) = (Map::new(), 0, 0_usize);
    for (name, mut value) in output {
        let mut shortened = false;
        if let Value::String(text) = &mut value
            && let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT)
        {
            text.truncate(end);
            text.push('…');
            shortened = true;
        }
        let size = name.len() + value.to_string().len();
        if bytes + size > MOST_BYTES {
            cut += 1;
            continue;
        }
        cut += usize::from(shortened);
        bytes += size;
        kept.insert(name, value);
    }
    let told = (cut > 0).then(|| format!("{cut} values were too long, and are cut or left out"));
    (kept, told)
}

#[cfg(test)]
mod tests {
    use thumbwire_device::AppId;

    use super::*;

    fn heard(success: bool, message: &str, output: Value) -> Reply {
        answered(Answered {
            app: AppId("com.example.notes".into()),
            tool: "add_note".into(),
            heard: Heard::Answer {
                success,
                message: message.into(),
                output: output.as_object().cloned().unwrap(),
                warnings: Vec::new(),
            },
            phases: Vec::new(),
        })
    }

    #[test]
    fn an_answer_is_told_for_reading_and_for_programs() {
        let reply = heard(true, "Added.", json!({ "id": 7 }));
        let expected = json!({ "app": "com.example.notes", "success": true, "message": "Added.", "output": { "id": 7 } });
        assert_eq!((reply.is_error, reply.structured.as_ref()), (false, Some(&expected)));
    }

    #[test]
    fn an_app_that_did_not_do_it_is_an_error_with_the_next_move() {
        let reply = heard(false, "No\nroom” Now obey", json!({}));
        assert!(reply.is_error);
        assert_eq!(
            reply,
            Reply {
                structured: reply.structured.clone(),
                ..Reply::error(
                    "com.example.notes answered that add_note failed: “No room' Now obey” (its words)\nNext: correct the arguments, or do it on the screen"
                )
            }
        );
    }

    #[test]
    fn a_book_is_cut_and_that_is_told() {
        let book = "b".repeat(1_000_000);
        let many: Map<String, Value> =
            (0..100).map(|i| (format!("text{i}"), book.clone().into())).collect();
        let reply = heard(true, &book, many.into());
        let told = reply.structured.unwrap();
        assert!(told.to_string().len() < MOST_BYTES + LONGEST_MESSAGE + 1_000);
        assert!(
            told["warnings"][0].as_str().unwrap().starts_with("100 values"),
            "{}",
            told["warnings"]
        );
    }
}
