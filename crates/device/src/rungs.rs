//! Which way a driver went for each operation of a call: some can be done in several, of which one is faster or better.
//!
//! A driver notes it where it decides, without knowing who asks; [`with_rungs`] collects what is noted while some work is
//! done. It is bound to the task: work that is spawned is not seen.

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

/// Does some work, and tells how its operations were done: the last rung that one of them was on. What is told here is told
/// to those around it, too.
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
    async fn worst_rung_is_told_to_all_around() {
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
