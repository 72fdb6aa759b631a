//! What every crate needs and no library offers: [`lock`], [`truncate`], and [`sanitize()`] and
//! [`visible`](visible::visible) for text that others wrote. With the feature `io`, [`Io`] for
//! pipes; with the feature `files`, [`files`](mod@files) for files.
//!
//! Nothing else belongs here.

#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "io")]
mod io;
mod sanitize;
pub mod visible;

use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(feature = "io")]
pub use io::Io;
pub use sanitize::{is_longer, sanitize};

/// Locks a mutex, also after a panic of another holder.
///
/// Use it where no holder leaves the value half-changed, so that one failed call does not fail all
/// later ones.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first `max` characters of a text, with an ellipsis if there are more.
pub fn truncate(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_truncated_between_characters() {
        assert_eq!(truncate("", 0), "");
        assert_eq!(truncate("añb", 3), "añb");
        assert_eq!(truncate("añb", 2), "añ…");
        assert_eq!(truncate("añb", 0), "…");
    }

    #[test]
    fn poisoned_mutex_is_locked() {
        let mutex = Mutex::new(1);
        let result = std::panic::catch_unwind(|| {
            let _guard = lock(&mutex);
            panic!("a holder fails (this panic is part of the test)");
        });
        assert!(result.is_err() && mutex.is_poisoned());
        *lock(&mutex) += 1;
        assert_eq!(*lock(&mutex), 2);
    }
}
