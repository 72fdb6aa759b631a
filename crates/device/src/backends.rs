//! Which backend a driver used for each operation: some operations have several, the best first.
//!
//! A driver notes the backend where it chooses it, and does not know who asks. [`with_backends`]
//! collects what is noted during some work. The collector belongs to the task, so work in spawned
//! tasks is not collected.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use thumbwire_base::lock;

tokio::task_local! {
    static BACKENDS: Arc<Mutex<Backends>>;
}

/// Operations, such as `tree` and `tap`, and how they were done.
pub type Backends = BTreeMap<&'static str, Backend>;

/// A way to do an operation, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Backend {
    /// By Thumbwire's helper on the phone.
    Helper,
    /// By shell commands.
    Shell,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Helper => "helper",
            Self::Shell => "shell",
        })
    }
}

/// Operations and backends as texts, for JSON: `{"tree": "helper", "tap": "shell"}`.
pub fn backend_names(backends: &Backends) -> BTreeMap<String, String> {
    backends
        .iter()
        .map(|(operation, backend)| ((*operation).to_owned(), backend.to_string()))
        .collect()
}

/// Does some work and collects the backends of its operations: of each the worst, if it was done
/// several times. Enclosing calls of this function collect them too.
pub async fn with_backends<F: Future>(work: F) -> (F::Output, Backends) {
    let noted = Arc::<Mutex<Backends>>::default();
    let output = BACKENDS.scope(Arc::clone(&noted), work).await;
    let backends = std::mem::take(&mut *lock(&noted));
    for (operation, backend) in &backends {
        note(operation, *backend);
    }
    (output, backends)
}

/// Notes how an operation is done.
pub(crate) fn note(operation: &'static str, backend: Backend) {
    let _ = BACKENDS.try_with(|noted| {
        let mut noted = lock(noted);
        let worst = noted.entry(operation).or_insert(backend);
        *worst = backend.max(*worst);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn worst_backend_reaches_every_enclosing_collector() {
        note("tap", Backend::Helper);
        let outer = with_backends(async {
            note("tree", Backend::Helper);
            let ((), inner) = with_backends(async {
                note("tap", Backend::Shell);
                note("tap", Backend::Helper);
            })
            .await;
            assert_eq!(inner, Backends::from([("tap", Backend::Shell)]));
        });
        assert_eq!(
            outer.await.1,
            Backends::from([("tap", Backend::Shell), ("tree", Backend::Helper)])
        );
    }
}
