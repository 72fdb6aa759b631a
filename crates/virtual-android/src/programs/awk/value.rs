//! Values and arrays of awk.

use super::Variable;
use super::lex::number_length;
use crate::programs::format::Conversion;
use std::sync::{Arc, Mutex};
use thumbwire_base::lock;

#[derive(Clone, Debug, Default)]
pub(super) enum Value {
    #[default]
    Unset,
    Number(f64),
    Text(Arc<str>),
    /// Text from outside, which counts as a number if it looks like one.
    Input(Arc<str>),
    /// Only in variables and arguments.
    Array(Array),
    /// An argument that has no value yet: the caller's variable, in case it becomes an array. The
    /// frame counts from 1; 0 is global.
    Reference(usize, Variable),
}

impl Value {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn truth(holds: bool) -> Self {
        Self::Number(f64::from(u8::from(holds)))
    }

    pub(super) fn number(&self) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Text(text) | Self::Input(text) => {
                let text = text.trim_start();
                text[..number_length(text)].parse().unwrap_or(0.0)
            }
            _ => 0.0,
        }
    }

    /// As text; `format` is `CONVFMT` or `OFMT`.
    pub(super) fn shown(&self, format: &str) -> Arc<str> {
        match self {
            Self::Text(text) | Self::Input(text) => Arc::clone(text),
            Self::Number(number) => shown(*number, format).into(),
            _ => "".into(),
        }
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Number(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Input(text) => {
                if looks_numeric(text) {
                    self.number() != 0.0
                } else {
                    !text.is_empty()
                }
            }
            _ => false,
        }
    }

    /// The number it is compared as; `None` for text.
    pub(super) fn comparable(&self) -> Option<f64> {
        match self {
            Self::Text(_) => None,
            Self::Input(text) => looks_numeric(text).then(|| self.number()),
            _ => Some(self.number()),
        }
    }
}

fn looks_numeric(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && number_length(text) == text.len()
}

fn shown(number: f64, format: &str) -> String {
    if number.fract() == 0.0 && number.abs() < 1e30 {
        return format!("{:.0}", if number == 0.0 { 0.0 } else { number });
    }
    let conversion = format.strip_prefix('%').and_then(|rest| Conversion::parse(rest, || 0));
    match conversion {
        Some((conversion, _)) => conversion.float(number),
        None => number.to_string(),
    }
}

/// An array: the hash table of the one true awk, because scripts see its order.
#[derive(Clone, Debug, Default)]
pub(super) struct Array(Arc<Mutex<Table>>);

/// Buckets, the latest element last; the real table puts it first.
#[derive(Debug)]
struct Table {
    buckets: Vec<Vec<(Arc<str>, Value)>>,
    length: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self { buckets: vec![Vec::new(); 50], length: 0 }
    }
}

impl Table {
    fn bucket(&self, key: &str) -> usize {
        let hash = key
            .bytes()
            .fold(0_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
        hash as usize % self.buckets.len()
    }

    fn grow(&mut self) {
        let buckets = vec![Vec::new(); self.buckets.len() * 4];
        for bucket in std::mem::replace(&mut self.buckets, buckets) {
            for (key, value) in bucket.into_iter().rev() {
                let at = self.bucket(&key);
                self.buckets[at].push((key, value));
            }
        }
    }
}

impl Array {
    pub(super) fn len(&self) -> usize {
        lock(&self.0).length
    }

    pub(super) fn get(&self, key: &str) -> Option<Value> {
        let table = lock(&self.0);
        let bucket = &table.buckets[table.bucket(key)];
        bucket.iter().find(|(known, _)| **known == *key).map(|(_, value)| value.clone())
    }

    pub(super) fn set(&self, key: &str, value: Value) {
        let mut table = lock(&self.0);
        let at = table.bucket(key);
        if let Some((_, old)) = table.buckets[at].iter_mut().find(|(known, _)| **known == *key) {
            *old = value;
            return;
        }
        table.length += 1;
        if table.length > 2 * table.buckets.len() {
            table.grow();
        }
        let at = table.bucket(key);
        table.buckets[at].push((key.into(), value));
    }

    pub(super) fn remove(&self, key: &str) {
        let mut table = lock(&self.0);
        let at = table.bucket(key);
        let before = table.buckets[at].len();
        table.buckets[at].retain(|(known, _)| **known != *key);
        table.length -= before - table.buckets[at].len();
    }

    pub(super) fn clear(&self) {
        *lock(&self.0) = Table::default();
    }

    pub(super) fn keys(&self) -> Vec<Arc<str>> {
        let table = lock(&self.0);
        table
            .buckets
            .iter()
            .flat_map(|bucket| bucket.iter().rev())
            .map(|(key, _)| Arc::clone(key))
            .collect()
    }
}
