//! What apps keep, for whoever looks at it from outside.

use crate::world::World;

impl World {
    /// What an app keeps (its shared preferences): keys and values, by key. `docs/virtual-phone-apps.md` says what they mean. Nothing for a
    /// package that is not installed.
    pub fn preferences(&self, package: &str) -> Vec<(&str, &str)> {
        self.apps.get(package).map(|app| app.store.all().collect()).unwrap_or_default()
    }

    /// Puts a value among those that an app keeps, as if the app had written it; `None` takes it away. `false` when no such package is
    /// installed.
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
