//! Tools that type. The texts are plain words: what a field makes of other characters is tested
//! elsewhere.

use serde_json::{Value, json};

use crate::doctor::answer::{AS_EXPECTED, Found, Problem, ensure, failed};
use crate::doctor::exam::Exam;
use crate::doctor::scene::FieldSpot;

async fn field(exam: &mut Exam<'_>) -> Result<FieldSpot, Problem> {
    let (eye, apps, home) = (exam.eye, exam.apps.clone(), exam.home.clone());
    exam.scenes.field_spot(eye, &apps, &home).await
}

/// Calls the tool, and looks at the field again. What a field holds is never quoted: it may be the
/// owner's.
async fn types(exam: &mut Exam<'_>, arguments: Value, expected: &str) -> Found {
    exam.call(arguments).await?;
    let FieldSpot { screen, node, .. } = field(exam).await?;
    let shown = &screen.tree.nodes[node].text;
    ensure(**shown == *expected, || {
        let (is, should) = (shown.chars().count(), expected.chars().count());
        format!("the field shows another text: {is} characters instead of {should}")
    })?;
    AS_EXPECTED
}

pub(super) async fn mobile_type(exam: &mut Exam<'_>) -> Found {
    let spot = field(exam).await?;
    let Some(id) = spot.screen.ref_of(spot.node) else { return failed("the field has no ref") };
    let text = "checked by thumbwire";
    let arguments = json!({ "text": text, "element_id": id.to_string(), "clear": true });
    types(exam, arguments, text).await
}

pub(super) async fn steps(exam: &mut Exam<'_>) -> Found {
    let spot = field(exam).await?;
    let Some(id) = spot.screen.ref_of(spot.node) else { return failed("the field has no ref") };
    let text = "typed in steps";
    let steps = json!([
        { "type": text, "into": id.to_string(), "clear": true },
        { "wait_for": text },
    ]);
    types(exam, json!({ "steps": steps }), text).await
}

pub(super) async fn mobile_type_keys(exam: &mut Exam<'_>) -> Found {
    let spot = field(exam).await?;
    let shown = &*spot.screen.tree.nodes[spot.node].text;
    let before = if shown == spot.empty { "" } else { shown };
    let expected = format!("{before} again");
    types(exam, json!({ "text": " again" }), &expected).await
}
