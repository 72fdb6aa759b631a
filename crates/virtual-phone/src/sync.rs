//! Locks a mutex whatever happened to its previous owner.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`. A step that panicked left the value as it was, and the phone goes on, as Android does after a crash of
/// a program.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
