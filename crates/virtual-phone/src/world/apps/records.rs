//! Numbered records of text in an app's store, over those that a phone comes with.
//!
//! A seeded record is not written to the store before it changes, so clearing an app's data brings the seeded ones back as they were.

use std::collections::BTreeSet;

use crate::world::app::Store;

/// Records that one app keeps at most, gone ones included.
const MOST: usize = 1000;
const GONE: &str = "gone";

/// The kind of record that an app keeps, with `N` texts each.
pub(super) struct Records<const N: usize> {
    /// What the keys begin with.
    pub(super) kind: &'static str,
    /// The names of the texts.
    pub(super) fields: [&'static str; N],
    /// What the phone comes with; a record's number is its place here.
    pub(super) seeded: Vec<[String; N]>,
}

impl<const N: usize> Records<N> {
    /// All records with their numbers, oldest first.
    pub(super) fn all(&self, store: &Store) -> Vec<(usize, [String; N])> {
        let numbers = self.numbers(store);
        numbers.into_iter().filter_map(|id| Some((id, self.get(store, id)?))).collect()
    }

    /// One record; `None` when there is none, or no more.
    pub(super) fn get(&self, store: &Store, id: usize) -> Option<[String; N]> {
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

    /// Writes a record anew, or one more without a number, and gives its number; `None` when there is no room left.
    pub(super) fn put(
        &self,
        store: &mut Store,
        id: Option<usize>,
        texts: &[String; N],
    ) -> Option<usize> {
        let next = self.numbers(store).last().map_or(0, |last| last.saturating_add(1));
        let id = id.unwrap_or(next);
        if id >= MOST {
            return None;
        }
        for (field, text) in self.fields.iter().zip(texts) {
            store.set(&self.key(id, field), text);
        }
        Some(id)
    }

    /// Takes a record away; its number is not used again.
    pub(super) fn remove(&self, store: &mut Store, id: usize) {
        for field in self.fields {
            store.remove(&self.key(id, field));
        }
        store.set(&self.key(id, GONE), "yes");
    }

    /// The numbers in use or used before.
    fn numbers(&self, store: &Store) -> BTreeSet<usize> {
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
    fn a_record_is_added_changed_and_taken_away() {
        let (records, mut store) = (records(), Store::default());
        assert_eq!(records.put(&mut store, None, &texts("c", "")), Some(2));
        records.put(&mut store, Some(0), &texts("A", "9"));
        records.remove(&mut store, 1);
        let all = records.all(&store);
        assert_eq!(all, [(0, texts("A", "9")), (2, texts("c", ""))]);
        store.clear();
        assert_eq!(records.all(&store), [(0, texts("a", "1")), (1, texts("b", "2"))]);
    }

    #[test]
    fn the_number_of_one_that_is_gone_is_not_used_again() {
        let (records, mut store) = (records(), Store::default());
        let id = records.put(&mut store, None, &texts("c", "3")).unwrap();
        records.remove(&mut store, id);
        assert_eq!(records.put(&mut store, None, &texts("d", "4")), Some(id + 1));
        assert_eq!(records.get(&store, id), None);
    }

    #[test]
    fn there_is_an_end_to_what_is_kept() {
        let (records, mut store) = (records(), Store::default());
        let kept = (0..2 * MOST).filter_map(|_| records.put(&mut store, None, &texts("x", "")));
        assert_eq!(kept.count(), MOST - 2);
    }
}
