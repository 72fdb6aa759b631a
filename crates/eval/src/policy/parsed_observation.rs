//! An observation as the scripted policy interprets it.

use super::super::script::{ScriptTarget, VisibleControl};
use thumbwire_agent::{AnomalyKind, FunctionCall, Observation, readable};

/// An interpreted observation.
#[derive(Default)]
pub(crate) struct ParsedObservation {
    pub(crate) rows: Vec<VisibleControl>,
    pub(crate) ids: Vec<String>,
    /// What calls name the rows by.
    pub(crate) names: Vec<String>,
    /// Whether the rows have no places, so that calls must name them.
    pub(crate) by_id: bool,
    pub(crate) app: Option<String>,
    /// Whether the last action failed or had no effect.
    pub(crate) failed: bool,
    /// Whether the app crashed and was restarted.
    pub(crate) crashed: bool,
    /// Whether the tap target had moved.
    pub(crate) moved: bool,
    /// Whether the tap opened another page than intended.
    pub(crate) strayed: bool,
    pub(crate) size: (i32, i32),
    /// The last call that succeeded.
    pub(crate) last_done: Option<FunctionCall>,
}

impl ParsedObservation {
    pub(crate) fn of(observation: &Observation) -> Self {
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
        let has = |kind: AnomalyKind| observation.anomalies.contains(&kind);
        let in_vain = [
            AnomalyKind::NoEffect,
            AnomalyKind::TextMismatch,
            AnomalyKind::ToggleUnchanged,
            AnomalyKind::KeyboardCovers,
            AnomalyKind::TargetMoved,
            AnomalyKind::NeighbourOpened,
        ];
        let was_repaired = |kind: AnomalyKind| observation.repaired.contains(&kind);
        let strayed = has(AnomalyKind::NeighbourOpened);
        Self {
            rows,
            ids,
            names,
            by_id: false,
            app: observation.app.clone(),
            failed: observation.history.last().is_some_and(|last| !last.success)
                || in_vain.into_iter().any(has)
                || was_repaired(AnomalyKind::NotResponding),
            crashed: was_repaired(AnomalyKind::Crashed),
            moved: strayed || has(AnomalyKind::TargetMoved),
            strayed,
            size,
            last_done,
        }
    }

    pub(crate) fn find(&self, target: &ScriptTarget) -> Option<usize> {
        target.find(&self.rows)
    }

    pub(crate) fn shows(&self, target: &ScriptTarget) -> bool {
        self.find(target).is_some()
    }
}
