//! What apps keep: small values that outlive their processes.
//!
//! What each key means is written down in `docs/virtual-phone-apps.md`, and tried out there. Not here: shared storage (`storage.rs`), and
//! the phone's settings.

use std::collections::BTreeMap;

use super::World;

/// An app's small values that outlive its process, as Android's shared preferences do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Store(BTreeMap<String, String>);

impl Store {
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

impl World {
    /// What an app keeps (its shared preferences): keys and values, by key. `docs/virtual-phone-apps.md` says what they mean. Nothing for a
    /// package that is not installed.
    pub fn kept(&self, package: &str) -> Vec<(&str, &str)> {
        let app = self.app_index(package).map(|at| &self.apps[at]);
        app.map(|app| app.store.all().collect()).unwrap_or_default()
    }

    /// Puts a value among those that an app keeps, as if the app had written it; `None` takes it away. `false` when no such package is
    /// installed.
    pub fn keep(&mut self, package: &str, key: &str, value: Option<&str>) -> bool {
        let Some(at) = self.app_index(package) else { return false };
        match value {
            Some(value) => self.apps[at].store.set(key, value),
            None => self.apps[at].store.remove(key),
        }
        self.next_wake = None;
        self.settle();
        true
    }
}
