//! What apps store, for tests and hosts.

use crate::world::World;

impl World {
    /// What an app stores (its shared preferences), sorted by key; `docs/virtual-phone.md`
    /// describes the keys. Empty for a package that is not installed.
    pub fn preferences(&self, package: &str) -> Vec<(&str, &str)> {
        self.apps.get(package).map(|app| app.store.all().collect()).unwrap_or_default()
    }

    /// Sets a stored value as if the app had written it; `None` removes it. `false` if no such
    /// package is installed.
    pub fn set_preference(&mut self, package: &str, key: &str, value: Option<&str>) -> bool {
        let Some(at) = self.apps.position(package) else { return false };
        match value {
            Some(value) => self.apps[at].store.set(key, value),
            None => self.apps[at].store.remove(key),
        }
        self.clock.forget_next_wake();
        self.rebuild();
        true
    }
}
