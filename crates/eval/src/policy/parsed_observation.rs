//! An observation as the scripted policy interprets it.

use super::super::script::{ScriptTarget, VisibleControl};
use thumbwire_agent::{FunctionCall, Observation, readable};

/// An interpreted observation.
#[derive(Default)]
pub(super) struct ParsedObservation {
    pub(super) rows: Vec<VisibleControl>,
    pub(super) ids: Vec<String>,
    /// What calls name the rows by.
    pub(super) names: Vec<String>,
    /// Whether the rows have no places, so that calls must name them.
    pub(super) by_id: bool,
    pub(super) app: Option<String>,
    /// Whether feedback says that the last action had no effect.
    pub(super) failed: bool,
    /// Whether feedback says that the app crashed and was restarted.
    pub(super) crashed: bool,
    /// Whether feedback says that the tap target had moved.
    pub(super) moved: bool,
    /// Whether feedback says that the tap opened another page than intended.
    pub(super) strayed: bool,
    pub(super) size: (i32, i32),
    /// The last call that succeeded.
    pub(super) last_done: Option<FunctionCall>,
}

impl ParsedObservation {
    pub(super) fn of(observation: &Observation) -> Self {
        let out = readable(observation);
        let shows = out.iter().filter(|row| !row.state.iter().any(|word| word == "hidden"));
        let (mut rows, mut ids, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for row in shows {
            rows.push(VisibleControl {
                name: row.name.clone(),
                kind: row.kind.clone(),
                rect: row.rect,
                checked: row.state.iter().any(|word| word == "checked"),
                line: None,
            });
            ids.push(row.id.clone());
            names.push(row.name.clone());
        }
        let all = out.iter();
        let size =
            all.fold((0, 0), |(right, low), row| (right.max(row.rect[2]), low.max(row.rect[3])));
        let last_done = observation.last_success_actions.last().map(|last| last.call.clone());
        Self { rows, ids, names, app: observation.app.clone(), size, last_done, ..Self::default() }
            .with_feedback(&observation.feedback)
    }

    /// Notes what the feedback says about the last action.
    pub(super) fn with_feedback(self, feedback: &[String]) -> Self {
        let says = |signs: &[&str]| {
            feedback.iter().any(|words| {
                let text = words.to_lowercase();
                signs.iter().any(|sign| text.contains(sign))
            })
        };
        let failed = says(&[
            "nothing on the screen changed",
            "as before",
            "not there",
            "failed",
            "refused",
            "did not answer",
            "the tap may have gone",
        ]);
        let crashed = says(&["the app crashed."]);
        let moved = says(&["the tap may have gone"]);
        let strayed = says(&["the control beside it"]);
        Self { failed, crashed, moved, strayed, ..self }
    }

    pub(super) fn find(&self, aim: &ScriptTarget) -> Option<usize> {
        aim.find(&self.rows)
    }

    pub(super) fn shows(&self, aim: &ScriptTarget) -> bool {
        self.find(aim).is_some()
    }
}
