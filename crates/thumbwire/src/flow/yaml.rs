//! YAML with the place of every value, and nothing of what a flow means.
//!
//! Begin with [`read`]. A file is read into a tree of our own, because a flow's mistakes are told all at once, each at its place and in
//! our words. What makes a YAML file dangerous is bounded here: its size, depth, number of nodes, and what its aliases unfold to.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Error, Location, Spanned};

use super::mistake::{Mistake, Place, Source};

/// The longest file, in bytes. A thousand steps are about 40 KB.
pub(super) const LONGEST: usize = 1 << 20;

/// The most values of a file, those that aliases repeat included.
const MOST_VALUES: usize = 50_000;

/// How deep values may lie in one another.
const DEEPEST: usize = 64;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    pub(super) at: Place,
    pub(super) is: Is,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Is {
    /// Nothing stands there, or `null`.
    Nothing,
    /// Whatever is neither list nor map: numbers as they were written, so that `0042` can be typed.
    Text(String),
    List(Vec<Value>),
    Map(Vec<(Key, Value)>),
}

/// A key and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    pub(super) at: Place,
    pub(super) name: String,
}

impl Value {
    /// What it is, for "… is written where … should stand".
    pub(super) fn kind(&self) -> &'static str {
        match self.is {
            Is::Nothing => "nothing",
            Is::Text(_) => "a word",
            Is::List(_) => "a list",
            Is::Map(_) => "a map",
        }
    }
}

/// Reads one document.
///
/// # Errors
/// The first thing that is no YAML, or more than is taken.
pub(super) fn read(source: &Arc<Source>) -> Result<Value, Mistake> {
    let start = Place::new(source, 1, 1);
    if source.text.len() > LONGEST {
        let what = format!("the file has {} bytes; {LONGEST} is the most", source.text.len());
        return Err(Mistake::new(start, what));
    }
    let options = serde_saphyr::options! {
        budget: bounds(),
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MOST_VALUES },
        with_snippet: false,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        // `y`, `no` and `on` are words.
        strict_booleans: true,
    };
    let read = serde_saphyr::from_str_with_options::<Spanned<Raw>>(&source.text, options);
    match read {
        Ok(raw) => value(source, raw),
        Err(error) => Err(broken(source, start, &error)),
    }
}

fn bounds() -> Option<serde_saphyr::Budget> {
    serde_saphyr::budget! {
        max_events: MOST_VALUES,
        max_nodes: MOST_VALUES,
        max_depth: DEEPEST,
        max_documents: 1,
    }
}

fn broken(source: &Arc<Source>, start: Place, error: &Error) -> Mistake {
    let at = error.location().map(|at| place(source, at)).filter(|at| at.line > 0);
    let words = error.without_snippet().to_string();
    // The library's words end with the place, which stands before ours.
    let words = words.split(" at line ").next().unwrap_or_default();
    Mistake::new(at.unwrap_or(start), format!("this is not YAML that can be read: {words}"))
}

fn place(source: &Arc<Source>, at: Location) -> Place {
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Place::new(source, small(at.line()), small(at.column()))
}

fn value(
    source: &Arc<Source>,
    Spanned { value: raw, referenced, defined }: Spanned<Raw>,
) -> Result<Value, Mistake> {
    let at = place(source, referenced);
    let is = match raw {
        Raw::Nothing => Is::Nothing,
        Raw::Words(words) => Is::Text(words),
        Raw::Number(words) => Is::Text(written(source, defined).unwrap_or(words)),
        Raw::List(all) => {
            Is::List(all.into_iter().map(|one| value(source, one)).collect::<Result<_, _>>()?)
        }
        Raw::Map(all) => {
            let mut entries = Vec::with_capacity(all.len());
            for (key, inner) in all {
                entries.push((name(source, key, &at)?, value(source, inner)?));
            }
            Is::Map(entries)
        }
    };
    Ok(Value { at, is })
}

fn name(source: &Arc<Source>, key: Spanned<Raw>, map: &Place) -> Result<Key, Mistake> {
    let at = Some(place(source, key.referenced)).filter(|at| at.line > 0);
    let at = at.unwrap_or_else(|| map.clone());
    match key.value {
        Raw::Words(name) => Ok(Key { at, name }),
        Raw::Number(name) => Ok(Key { at, name: written(source, key.defined).unwrap_or(name) }),
        Raw::Map(_) => Err(Mistake::new(at, "`{{NAME}}` must stand in quotes: \"{{NAME}}\"")),
        Raw::Nothing | Raw::List(_) => Err(Mistake::new(at, "a key must be a word")),
    }
}

/// A number or a truth value as it stands in the file: as a number, `1.50` would lose its end.
fn written(source: &Source, at: Location) -> Option<String> {
    let span = at.span();
    let from = usize::try_from(span.byte_offset()?).ok()?;
    let end = from.checked_add(usize::try_from(span.byte_len()?).ok()?)?;
    let text = source.text.get(from..end)?.trim();
    (!text.is_empty() && !text.contains('\n')).then(|| text.to_owned())
}

/// A value as the library gives it.
#[derive(Debug)]
enum Raw {
    Nothing,
    Words(String),
    Number(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<Raw>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word, a number, a list or a map")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Nothing)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Nothing)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Raw, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_bool<E>(self, is: bool) -> Result<Raw, E> {
        Ok(Raw::Number(is.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }

    fn visit_str<E>(self, words: &str) -> Result<Raw, E> {
        Ok(Raw::Words(words.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Raw, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            all.push(one);
            bounded::<A::Error>(all.len())?;
        }
        Ok(Raw::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut all = Vec::new();
        while let Some(entry) = map.next_entry()? {
            all.push(entry);
            bounded::<A::Error>(all.len())?;
        }
        Ok(Raw::Map(all))
    }
}

fn bounded<E: serde::de::Error>(count: usize) -> Result<(), E> {
    if count > MOST_VALUES { Err(E::custom("there are too many values")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Result<Value, String> {
        read(&Source::new("a.yaml", text)).map_err(|mistake| mistake.to_string())
    }

    fn flat(value: &Value) -> String {
        match &value.is {
            Is::Nothing => "-".into(),
            Is::Text(text) => format!("{text}@{}:{}", value.at.line, value.at.column),
            Is::List(all) => format!("[{}]", all.iter().map(flat).collect::<Vec<_>>().join(" ")),
            Is::Map(all) => {
                let one = |(key, value): &(Key, Value)| {
                    format!("{}@{}:{}={}", key.name, key.at.line, key.at.column, flat(value))
                };
                format!("{{{}}}", all.iter().map(one).collect::<Vec<_>>().join(" "))
            }
        }
    }

    #[test]
    fn every_value_has_its_place_and_numbers_stay_as_written() {
        let read = tree("a: 0042\nb: [1.50, yes, \"5\", ~]\nc:\n  - tap: Überall 漢\n    n: 1e3\n")
            .unwrap();
        assert_eq!(
            flat(&read),
            "{a@1:1=0042@1:4 b@2:1=[1.50@2:5 yes@2:11 5@2:16 -] c@3:1=[{tap@4:5=Überall 漢@4:10 n@5:5=1e3@5:8}]}"
        );
    }

    #[test]
    fn an_alias_stands_where_it_is_used_and_a_merge_gives_its_keys() {
        let read = tree("a: &x\n  k: 007\nb: *x\nc:\n  <<: *x\n  l: w\n").unwrap();
        let flat = flat(&read);
        assert!(flat.contains("b@3:1={k@3:4=007@3:4}"), "{flat}");
        assert!(flat.matches("=007").count() == 3 && flat.contains("l@6:3=w"), "{flat}");
    }

    #[test]
    fn what_unfolds_without_end_is_refused() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for n in 1..9 {
            let inner = vec![format!("*a{}", n - 1); 10].join(", ");
            bomb.push_str(&format!("a{n}: &a{n} [{inner}]\n"));
        }
        let words = tree(&bomb).unwrap_err();
        assert!(words.starts_with("a.yaml:"), "{words}");
        assert!(tree(&"[".repeat(10_000)).is_err());
        assert!(tree(&"x".repeat(LONGEST + 1)).unwrap_err().contains("is the most"));
    }

    #[test]
    fn what_is_no_yaml_is_told_with_its_place() {
        let words = tree("a: 1\nb: [1, 2\nc: 3\n").unwrap_err();
        assert!(words.starts_with("a.yaml:3:") || words.starts_with("a.yaml:2:"), "{words}");
        let words = tree("steps:\n  - type: {{PIN}}\n").unwrap_err();
        assert!(words.contains("must stand in quotes"), "{words}");
        assert!(tree("a: 1\na: 2\n").unwrap_err().contains("a.yaml:2:1"));
    }
}
