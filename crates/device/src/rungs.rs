//! By what means a driver did each operation: some can be done in several ways, of which one is the best.
//!
//! A driver notes the rung where it chooses it, and does not know who asks. [`with_rungs`] collects what is noted during
//! some work. The collector belongs to the task, so work in spawned tasks is not collected.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use thumbwire_base::lock;

tokio::task_local! {
    static RUNGS: Arc<Mutex<Rungs>>;
}

/// Operations, such as `tree` and `tap`, and how they were done.
pub type Rungs = BTreeMap<&'static str, Rung>;

/// A way to do an operation, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    /// By Thumbwire's helper on the phone.
    Helper,
    /// By shell commands.
    Shell,
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Helper => "helper",
            Self::Shell => "shell",
        })
    }
}

/// The same as texts, for JSON: `{"tree": "helper", "tap": "shell"}`.
pub fn rung_names(rungs: &Rungs) -> BTreeMap<String, String> {
    rungs.iter().map(|(operation, rung)| ((*operation).to_owned(), rung.to_string())).collect()
}

/// Does some work and collects the rungs of its operations: of each the worst, if it was done several times. Enclosing
/// calls of this function collect them too.
pub async fn with_rungs<F: Future>(work: F) -> (F::Output, Rungs) {
    let noted = Arc::<Mutex<Rungs>>::default();
    let output = RUNGS.scope(Arc::clone(&noted), work).await;
    let rungs = std::mem::take(&mut *lock(&noted));
    for (operation, rung) in &rungs {
        note(operation, *rung);
    }
    (output, rungs)
}

/// Notes how an operation is done.
pub(crate) fn note(operation: &'static str, rung: Rung) {
    let _ = RUNGS.try_with(|noted| {
        let mut noted = lock(noted);
        let worst = noted.entry(operation).or_insert(rung);
        *worst = rung.max(*worst);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn worst_rung_reaches_every_enclosing_collector() {
        note("tap", Rung::Helper);
        let outer = with_rungs(async {
            note("tree", Rung::Helper);
            let ((), inner) = with_rungs(async {
                note("tap", Rung::Shell);
                note("tap", Rung::Helper);
            })
            .await;
            assert_eq!(inner, Rungs::from([("tap", Rung::Shell)]));
        });
        assert_eq!(outer.await.1, Rungs::from([("tap", Rung::Shell), ("tree", Rung::Helper)]));
    }
}
