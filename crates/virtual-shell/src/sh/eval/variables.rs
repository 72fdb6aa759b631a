//! The variables of a shell, and how much memory they take.

use std::collections::BTreeMap;

/// Maximum bytes of a shell's variables.
const MAX_SIZE: usize = 4 << 20;

/// Bytes that a variable takes without its name and values, and an element without its value.
const VARIABLE: usize = 64;
const ELEMENT: usize = 16;

/// A variable: its value, and what `typeset` declared.
#[derive(Clone, Debug, Default)]
pub(super) struct Variable {
    /// The elements of an array by index; any other variable has at most the first, index 0.
    pub(super) elements: BTreeMap<u32, String>,
    pub(super) declared: Declared,
}

/// What `typeset`, `export` and `readonly` declare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Declared {
    /// `-x`
    pub(super) exported: bool,
    /// `-r`
    pub(super) read_only: bool,
    /// `-i`: its values are arithmetic expressions.
    pub(super) integer: bool,
    /// `-l`, `-u`: its values change their case.
    pub(super) case: Option<Case>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Lower,
    Upper,
}

impl Declared {
    /// Both declarations together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            exported: self.exported || other.exported,
            read_only: self.read_only || other.read_only,
            integer: self.integer || other.integer,
            case: other.case.or(self.case),
        }
    }

    /// `typeset`'s letters for it.
    pub(super) fn letters(self) -> String {
        let case = match self.case {
            None => "",
            Some(Case::Lower) => "-l ",
            Some(Case::Upper) => "-u ",
        };
        let letter = |has: bool, letter| if has { letter } else { "" };
        [
            letter(self.integer, "-i "),
            case,
            letter(self.read_only, "-r "),
            letter(self.exported, "-x "),
        ]
        .concat()
    }
}

impl Variable {
    /// Its value; `None` if it is only declared.
    pub(super) fn value(&self) -> Option<&str> {
        self.elements.get(&0).map(String::as_str)
    }

    /// Whether it has more than a plain value.
    pub(super) fn is_array(&self) -> bool {
        self.elements.keys().any(|index| *index > 0)
    }

    fn size(&self, name: &str) -> usize {
        let elements = self.elements.values().map(|value| value.len() + ELEMENT);
        name.len() + VARIABLE + elements.sum::<usize>()
    }
}

/// Variables by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    map: BTreeMap<String, Variable>,
    size: usize,
}

impl Variables {
    pub(super) fn get(&self, name: &str) -> Option<&Variable> {
        self.map.get(name)
    }

    /// Replaces a variable; `false` if that is too large.
    pub(super) fn insert(&mut self, name: &str, variable: Variable) -> bool {
        let old = self.map.get(name).map_or(0, |old| old.size(name));
        let size = self.size - old + variable.size(name);
        if size > MAX_SIZE {
            return false;
        }
        self.size = size;
        self.map.insert(name.to_owned(), variable);
        true
    }

    /// Sets an element; `false` if that is too large.
    pub(super) fn set(&mut self, name: &str, index: u32, value: String) -> bool {
        let Some(variable) = self.map.get_mut(name) else {
            let elements = [(index, value)].into();
            return self.insert(name, Variable { elements, ..Variable::default() });
        };
        let old = variable.elements.get(&index).map_or(0, |old| old.len() + ELEMENT);
        let size = self.size - old + value.len() + ELEMENT;
        if size > MAX_SIZE {
            return false;
        }
        self.size = size;
        variable.elements.insert(index, value);
        true
    }

    /// Declares a variable; `false` if that is too large.
    pub(super) fn declare(&mut self, name: &str, declared: Declared) -> bool {
        match self.map.get_mut(name) {
            Some(variable) => {
                variable.declared = variable.declared.and(declared);
                true
            }
            None => self.insert(name, Variable { declared, ..Variable::default() }),
        }
    }

    /// Removes an element.
    pub(super) fn remove_element(&mut self, name: &str, index: u32) {
        if let Some(variable) = self.map.get_mut(name)
            && let Some(old) = variable.elements.remove(&index)
        {
            self.size -= old.len() + ELEMENT;
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        if let Some(old) = self.map.remove(name) {
            self.size -= old.size(name);
        }
    }

    /// All variables, sorted by name.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &Variable)> {
        self.map.iter().map(|(name, variable)| (name.as_str(), variable))
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_SIZE, Variables};

    #[test]
    fn sum_follows_every_change() {
        let large = || "x".repeat(MAX_SIZE / 2);
        let mut variables = Variables::default();
        assert!(variables.set("a", 0, large()) && !variables.set("b", 0, large()));
        assert!(variables.set("a", 0, large()), "it replaces the old value");
        assert!(!variables.set("a", 1, large()));
        variables.remove("a");
        variables.remove("a");
        assert_eq!(variables.size, 0);
        assert!(variables.set("b", 7, large()));
        variables.remove_element("b", 7);
        assert!(variables.set("b", 8, large()));
    }
}
