//! An observation as the scripted policy interprets it.

use super::super::script::{ScriptTarget, VisibleControl};
use thumbwire_agent::{Observation, readable};

/// An interpreted observation.
pub(super) struct ParsedObservation {
    pub(super) rows: Vec<VisibleControl>,
    pub(super) ids: Vec<String>,
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
}

impl ParsedObservation {
    pub(super) fn of(observation: &Observation) -> Self {
        let out = readable(observation);
        let shows = out.iter().filter(|row| !row.state.iter().any(|word| word == "hidden"));
        let (mut rows, mut ids) = (Vec::new(), Vec::new());
        for row in shows {
            rows.push(VisibleControl {
                name: row.name.clone(),
                kind: row.kind.clone(),
                rect: row.rect,
                checked: row.state.iter().any(|word| word == "checked"),
            });
            ids.push(row.id.clone());
        }
        let all = out.iter();
        let size =
            all.fold((0, 0), |(right, low), row| (right.max(row.rect[2]), low.max(row.rect[3])));
        let says = |signs: &[&str]| {
            observation.feedback.iter().any(|words| {
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
        Self { rows, ids, app: observation.app.clone(), failed, crashed, moved, strayed, size }
    }

    pub(super) fn find(&self, aim: &ScriptTarget) -> Option<usize> {
        aim.find(&self.rows)
    }

    pub(super) fn shows(&self, aim: &ScriptTarget) -> bool {
        self.find(aim).is_some()
    }
}
