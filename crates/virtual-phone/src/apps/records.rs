//! Numbered text records in an app's preferences, on top of the initial ones.
//!
//! An initial record is written to the preferences only when it changes, so clearing the app's data
//! restores it.

use std::collections::BTreeSet;

use crate::app::Preferences;

/// Maximum records of an app, deleted ones included.
const MAX_COUNT: usize = 1000;
const GONE: &str = "gone";

/// A kind of record, with `N` texts each.
pub(super) struct Records<const N: usize> {
    /// The prefix of the keys.
    pub(super) kind: &'static str,
    /// The names of the texts.
    pub(super) fields: [&'static str; N],
    /// The initial records; a record's number is its index here.
    pub(super) seeded: Vec<[String; N]>,
}

impl<const N: usize> Records<N> {
    /// All records with their numbers, oldest first.
    pub(super) fn all(&self, store: &Preferences) -> Vec<(usize, [String; N])> {
        let numbers = self.numbers(store);
        numbers.into_iter().filter_map(|id| Some((id, self.get(store, id)?))).collect()
    }

    /// One record; `None` if it does not exist or was deleted.
    pub(super) fn get(&self, store: &Preferences, id: usize) -> Option<[String; N]> {
        if store.get(&self.key(id, GONE)).is_some() {
            return None;
        }
        let seeded = self.seeded.get(id);
        let written = self.fields.map(|field| store.get(&self.key(id, field)));
        if seeded.is_none() && written.iter().all(Option::is_none) {
            return None;
        }
        Some(std::array::from_fn(|at| {
            let was = seeded.map(|texts| texts[at].as_str());
            written[at].or(was).unwrap_or_default().to_owned()
        }))
    }

    /// Writes a record, or adds one if `id` is `None`, and returns its number; `None` if there is
    /// no room.
    pub(super) fn put(
        &self,
        store: &mut Preferences,
        id: Option<usize>,
        texts: &[String; N],
    ) -> Option<usize> {
        let next = self.numbers(store).last().map_or(0, |last| last.saturating_add(1));
        let id = id.unwrap_or(next);
        if id >= MAX_COUNT {
            return None;
        }
        for (field, text) in self.fields.iter().zip(texts) {
            store.set(&self.key(id, field), text);
        }
        Some(id)
    }

    /// Deletes a record; its number is not reused.
    pub(super) fn remove(&self, store: &mut Preferences, id: usize) {
        for field in self.fields {
            store.remove(&self.key(id, field));
        }
        store.set(&self.key(id, GONE), "yes");
    }

    /// All numbers ever used.
    fn numbers(&self, store: &Preferences) -> BTreeSet<usize> {
        let prefix = format!("{}/", self.kind);
        let number = |key: &str| key.strip_prefix(&prefix)?.split('/').next()?.parse().ok();
        let written = store.keys(&prefix).filter_map(number);
        written.chain(0..self.seeded.len()).collect()
    }

    fn key(&self, id: usize, field: &str) -> String {
        format!("{}/{id}/{field}", self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Records<2> {
        let seeded = vec![["a".to_owned(), "1".to_owned()], ["b".to_owned(), "2".to_owned()]];
        Records { kind: "thing", fields: ["name", "worth"], seeded }
    }

    fn texts(name: &str, worth: &str) -> [String; 2] {
        [name.to_owned(), worth.to_owned()]
    }

    #[test]
    fn records_can_be_added_changed_and_removed() {
        let (records, mut store) = (records(), Preferences::default());
        assert_eq!(records.put(&mut store, None, &texts("c", "")), Some(2));
        records.put(&mut store, Some(0), &texts("A", "9"));
        records.remove(&mut store, 1);
        let all = records.all(&store);
        assert_eq!(all, [(0, texts("A", "9")), (2, texts("c", ""))]);
        store.clear();
        assert_eq!(records.all(&store), [(0, texts("a", "1")), (1, texts("b", "2"))]);
    }

    #[test]
    fn removed_record_numbers_are_not_reused() {
        let (records, mut store) = (records(), Preferences::default());
        let id = records.put(&mut store, None, &texts("c", "3")).unwrap();
        records.remove(&mut store, id);
        assert_eq!(records.put(&mut store, None, &texts("d", "4")), Some(id + 1));
        assert_eq!(records.get(&store, id), None);
    }

    #[test]
    fn number_of_records_is_limited() {
        let (records, mut store) = (records(), Preferences::default());
        let kept =
            (0..2 * MAX_COUNT).filter_map(|_| records.put(&mut store, None, &texts("x", "")));
        assert_eq!(kept.count(), MAX_COUNT - 2);
    }
}
