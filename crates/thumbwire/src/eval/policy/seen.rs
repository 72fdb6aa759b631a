//! What a sight comes to for the scripted policy.

use super::super::script::{Aim, Shown};
use crate::agent::{Sight, readable};

/// What a sight comes to.
pub(super) struct Seen {
    pub(super) rows: Vec<Shown>,
    pub(super) ids: Vec<String>,
    pub(super) app: Option<String>,
    /// Whether an observation says that the last action did not do what it was for.
    pub(super) failed: bool,
    /// Whether one says that the app crashed and was started again.
    pub(super) crashed: bool,
    /// Whether one says that what was tapped lay elsewhere by then.
    pub(super) moved: bool,
    /// Whether one says that the tap opened another page than it was for.
    pub(super) strayed: bool,
    pub(super) size: (i32, i32),
}

impl Seen {
    pub(super) fn of(sight: &Sight) -> Self {
        let told = readable(&sight.current_controls);
        let shows = told.iter().filter(|row| !row.state.iter().any(|word| word == "hidden"));
        let (mut rows, mut ids) = (Vec::new(), Vec::new());
        for row in shows {
            rows.push(Shown {
                name: row.name.clone(),
                kind: row.kind.clone(),
                rect: row.rect,
                checked: row.state.iter().any(|word| word == "checked"),
            });
            ids.push(row.id.clone());
        }
        let all = told.iter();
        let size =
            all.fold((0, 0), |(right, low), row| (right.max(row.rect[2]), low.max(row.rect[3])));
        let says = |signs: &[&str]| {
            sight.observations.iter().any(|words| {
                let words = words.to_lowercase();
                signs.iter().any(|sign| words.contains(sign))
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
        Self { rows, ids, app: sight.app.clone(), failed, crashed, moved, strayed, size }
    }

    pub(super) fn find(&self, aim: &Aim) -> Option<usize> {
        aim.find(&self.rows)
    }

    pub(super) fn shows(&self, aim: &Aim) -> bool {
        self.find(aim).is_some()
    }
}
