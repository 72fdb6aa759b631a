//! What apps store: small values that outlive their processes.
//!
//! `docs/virtual-phone.md` describes and tests each key. Not here: shared storage
//! (`storage.rs`), and the phone's settings.

use std::collections::BTreeMap;

/// An app's small values that outlive its process, as Android's shared preferences do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Preferences(BTreeMap<String, String>);

impl Preferences {
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub(crate) fn set(&mut self, key: &str, value: impl Into<String>) {
        self.0.insert(key.to_owned(), value.into());
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.0.remove(key);
    }

    /// The keys that start with `prefix`, in order.
    pub(crate) fn keys<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.keys().map(String::as_str).filter(move |key| key.starts_with(prefix))
    }

    /// Keys and values, by key.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
