//! Tools that type. The texts are plain words: what a field makes of other characters is tested
//! elsewhere.

use serde_json::{Value, json};

use crate::doctor::answer::{AS_EXPECTED, Found, Problem, failed};
use crate::doctor::exam::Exam;

/// The id of a field that text may be typed into, on the screen now.
async fn field(exam: &mut Exam<'_>) -> Result<String, Problem> {
    let spot = exam.scenes.field_spot(exam.phone, &exam.apps, &exam.home).await?;
    match spot.screen.ref_of(spot.node) {
        Some(id) => Ok(id.to_string()),
        None => failed("the field has no ref"),
    }
}

/// Calls the tool, which reads the field back. What a field holds is never quoted: it may be the
/// owner's.
async fn types(exam: &mut Exam<'_>, arguments: Value) -> Found {
    let answer = exam.call(arguments).await?;
    match answer.value["field"].as_str() {
        Some("same" | "repaired") => AS_EXPECTED,
        Some("differs") => failed("the field shows another text"),
        _ => failed("the field could not be read back"),
    }
}

pub(super) async fn mobile_type(exam: &mut Exam<'_>) -> Found {
    let id = field(exam).await?;
    let arguments = json!({ "text": "checked by thumbwire", "element_id": id, "clear": true });
    types(exam, arguments).await
}

/// A step fails if its field shows another text, or if the wait does not end.
pub(super) async fn steps(exam: &mut Exam<'_>) -> Found {
    let id = field(exam).await?;
    let text = "typed in steps";
    let steps = json!([{ "type": text, "into": id, "clear": true }, { "wait_for": text }]);
    exam.call(json!({ "steps": steps })).await?;
    AS_EXPECTED
}

pub(super) async fn mobile_type_keys(exam: &mut Exam<'_>) -> Found {
    field(exam).await?;
    types(exam, json!({ "text": " again" })).await
}
