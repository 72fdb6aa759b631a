//! The variables of a shell, and how much memory they take.

use std::collections::BTreeMap;

/// Maximum bytes of a shell's variables.
const MAX_SIZE: usize = 4 << 20;

#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) value: String,
    pub(super) exported: bool,
}

/// Variables by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    map: BTreeMap<String, Variable>,
    size: usize,
}

fn size_of(name: &str, variable: &Variable) -> usize {
    name.len() + variable.value.len() + 64
}

impl Variables {
    pub(super) fn get(&self, name: &str) -> Option<&Variable> {
        self.map.get(name)
    }

    /// Sets a variable; `false` if that is too large.
    pub(super) fn insert(&mut self, name: &str, variable: Variable) -> bool {
        let old = self.map.get(name).map_or(0, |old| size_of(name, old));
        let size = self.size - old + size_of(name, &variable);
        if size > MAX_SIZE {
            return false;
        }
        self.size = size;
        self.map.insert(name.to_owned(), variable);
        true
    }

    pub(super) fn remove(&mut self, name: &str) {
        if let Some(old) = self.map.remove(name) {
            self.size -= size_of(name, &old);
        }
    }

    /// Names and values, sorted by name; only the exported ones if `exported` is set.
    pub(super) fn listed(&self, exported: bool) -> Vec<(String, String)> {
        let chosen = self.map.iter().filter(|(_, variable)| !exported || variable.exported);
        chosen.map(|(name, variable)| (name.clone(), variable.value.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_SIZE, Variable, Variables};

    #[test]
    fn sum_follows_every_change() {
        let large = || Variable { value: "x".repeat(MAX_SIZE / 2), exported: false };
        let mut variables = Variables::default();
        assert!(variables.insert("a", large()) && !variables.insert("b", large()));
        assert!(variables.insert("a", large()), "it replaces the old value");
        variables.remove("a");
        variables.remove("a");
        assert_eq!(variables.size, 0);
        assert!(variables.insert("b", large()));
    }
}
