//! Parses YAML into values with positions; knows nothing about flows.
//!
//! Start with [`read`]. Files are parsed into our own tree because all errors of a flow are
//! reported at once, with positions and in our own words. What makes YAML dangerous is bounded
//! here: size, depth, number of nodes, and the expansion of aliases.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Error, Location, Spanned};

use super::error::{FlowError, Source, SourceLocation};

/// The maximum file size, in bytes. A thousand steps take about 40 KB.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// The maximum number of values, including those repeated by aliases.
const MAX_VALUES: usize = 50_000;

/// The maximum nesting depth.
const MAX_DEPTH: usize = 64;

/// A value and its position.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    pub(super) at: SourceLocation,
    pub(super) kind: ValueKind,
}

/// The kind and content of a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ValueKind {
    /// An empty value or `null`.
    Null,
    /// Any scalar, as written: numbers too, so that `0042` can be typed.
    Text(String),
    List(Vec<Value>),
    Map(Vec<(Key, Value)>),
}

/// A key and its position.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    pub(super) at: SourceLocation,
    pub(super) name: String,
}

impl Value {
    /// The value under a key, if this is a map that has it.
    pub(super) fn entry(&self, name: &str) -> Option<&Value> {
        let ValueKind::Map(entries) = &self.kind else { return None };
        entries.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }

    /// A value of JSON.
    pub(super) fn of_json(json: &serde_json::Value, at: &SourceLocation) -> Self {
        use serde_json::Value as Json;
        let kind = match json {
            Json::Null => ValueKind::Null,
            Json::String(text) => ValueKind::Text(text.clone()),
            Json::Array(all) => {
                ValueKind::List(all.iter().map(|it| Self::of_json(it, at)).collect())
            }
            Json::Object(all) => {
                let key = |name: &String| Key { at: at.clone(), name: name.clone() };
                ValueKind::Map(
                    all.iter().map(|(name, it)| (key(name), Self::of_json(it, at))).collect(),
                )
            }
            Json::Bool(_) | Json::Number(_) => ValueKind::Text(json.to_string()),
        };
        Self { at: at.clone(), kind }
    }

    /// A name for the kind, for "… must be a map, not …".
    pub(super) fn kind(&self) -> &'static str {
        match self.kind {
            ValueKind::Null => "an empty value",
            ValueKind::Text(_) => "a string",
            ValueKind::List(_) => "a list",
            ValueKind::Map(_) => "a map",
        }
    }
}

/// Parses the documents of a file, which lines `---` separate. Empty ones are left out.
///
/// # Errors
/// The first syntax error, or a limit that was exceeded.
pub(super) fn read(source: &Arc<Source>) -> Result<Vec<Value>, FlowError> {
    let start = SourceLocation::new(source, 1, 1);
    if source.text.len() > MAX_BYTES {
        let what = format!("the file has {} bytes; the maximum is {MAX_BYTES}", source.text.len());
        return Err(FlowError::new(start, what));
    }
    let options = serde_saphyr::options! {
        budget: bounds(),
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_VALUES },
        with_snippet: false,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        // `y`, `no` and `on` are strings.
        strict_booleans: true,
    };
    let mut documents = Vec::new();
    for text in split(&source.text) {
        let read = serde_saphyr::from_str_with_options::<Spanned<Raw>>(&text, options.clone());
        match read {
            Ok(raw) => documents.push(value(source, raw)?),
            Err(error) => return Err(broken(source, start, &error)),
        }
    }
    Ok(documents)
}

/// The texts of the documents, each at its place: what is before it is blank, so that positions are
/// those of the file.
fn split(text: &str) -> Vec<Cow<'_, str>> {
    /// More than any flow has; what is behind them is one.
    const MAX_DOCUMENTS: usize = 8;
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let marks = line.strip_prefix("---").is_some_and(|rest| {
            rest.trim().is_empty() || rest.starts_with([' ', '\t']) && rest.trim().starts_with('#')
        });
        if marks && starts.len() < MAX_DOCUMENTS {
            starts.push(at);
        }
    }
    starts.push(text.len());
    let document = |pair: &[usize]| {
        let (from, to) = (pair[0], pair[1]);
        let own = &text[from..to];
        // The marker that ends a document is its last line.
        let own = match own.trim_end_matches(['\n', '\r']).rfind('\n') {
            Some(last) if own[last + 1..].starts_with("---") => &own[..=last],
            None if own.starts_with("---") => "",
            _ => own,
        };
        let is_blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
        if own.lines().all(is_blank) {
            return None;
        }
        if from == 0 {
            return Some(Cow::Borrowed(own));
        }
        let blank = text[..from].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' });
        let mut whole: String = blank.collect();
        whole.push_str(own);
        Some(Cow::Owned(whole))
    };
    starts.windows(2).filter_map(document).collect()
}

fn bounds() -> Option<serde_saphyr::Budget> {
    serde_saphyr::budget! {
        max_events: MAX_VALUES,
        max_nodes: MAX_VALUES,
        max_depth: MAX_DEPTH,
        max_documents: 1,
    }
}

fn broken(source: &Arc<Source>, start: SourceLocation, error: &Error) -> FlowError {
    let at = error.location().map(|at| location(source, at)).filter(|at| at.line > 0);
    let text = error.without_snippet().to_string();
    // The library appends the position, which our message already has, and after a colon what it
    // found.
    let text = text.split(" at line ").next().unwrap_or_default();
    let text = text.split(": ").next().unwrap_or_default();
    FlowError::new(at.unwrap_or(start), format!("invalid YAML: {}", without_quotes(text)))
}

/// A message without the words of the file that it quotes: that may be something else than YAML.
fn without_quotes(text: &str) -> String {
    let parts = text.split(['`', '\'', '"']).enumerate();
    let shown = parts.map(|(number, part)| match number % 2 {
        1 if part.len() == 1 => format!("`{part}`"),
        1 => "`…`".to_owned(),
        _ => part.to_owned(),
    });
    shown.collect()
}

fn location(source: &Arc<Source>, at: Location) -> SourceLocation {
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    SourceLocation::new(source, small(at.line()), small(at.column()))
}

fn value(
    source: &Arc<Source>,
    Spanned { value: raw, referenced, defined }: Spanned<Raw>,
) -> Result<Value, FlowError> {
    let at = location(source, referenced);
    let is = match raw {
        Raw::Nothing => ValueKind::Null,
        Raw::String(text) => ValueKind::Text(text),
        Raw::Number(text) => ValueKind::Text(written(source, defined).unwrap_or(text)),
        Raw::List(all) => ValueKind::List(
            all.into_iter().map(|one| value(source, one)).collect::<Result<_, _>>()?,
        ),
        Raw::Map(all) => {
            let mut entries = Vec::with_capacity(all.len());
            for (key, inner) in all {
                entries.push((name(source, key, &at)?, value(source, inner)?));
            }
            ValueKind::Map(entries)
        }
    };
    Ok(Value { at, kind: is })
}

fn name(source: &Arc<Source>, key: Spanned<Raw>, map: &SourceLocation) -> Result<Key, FlowError> {
    let at = Some(location(source, key.referenced)).filter(|at| at.line > 0);
    let at = at.unwrap_or_else(|| map.clone());
    match key.value {
        Raw::String(name) => Ok(Key { at, name }),
        Raw::Number(name) => Ok(Key { at, name: written(source, key.defined).unwrap_or(name) }),
        Raw::Map(_) => Err(FlowError::new(at, "`{{NAME}}` must be quoted: \"{{NAME}}\"")),
        Raw::Nothing | Raw::List(_) => Err(FlowError::new(at, "a key must be a string")),
    }
}

/// A number or boolean as written in the file: parsed as a number, `1.50` would lose its last
/// digit.
fn written(source: &Source, at: Location) -> Option<String> {
    let span = at.span();
    let from = usize::try_from(span.byte_offset()?).ok()?;
    let end = from.checked_add(usize::try_from(span.byte_len()?).ok()?)?;
    let text = source.text.get(from..end)?.trim();
    (!text.is_empty() && !text.contains('\n')).then(|| text.to_owned())
}

/// A value from the library.
#[derive(Debug)]
enum Raw {
    Nothing,
    String(String),
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
        f.write_str("a string, a number, a list or a map")
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

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::String(text.to_owned()))
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
    if count > MAX_VALUES { Err(E::custom("too many values")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trees(text: &str) -> Result<Vec<Value>, String> {
        read(&Source::new("a.yaml", text)).map_err(|mistake| mistake.to_string())
    }

    fn tree(text: &str) -> Result<Value, String> {
        trees(text).map(|mut all| all.pop().unwrap())
    }

    fn flat(value: &Value) -> String {
        match &value.kind {
            ValueKind::Null => "-".into(),
            ValueKind::Text(text) => format!("{text}@{}:{}", value.at.line, value.at.column),
            ValueKind::List(all) => {
                format!("[{}]", all.iter().map(flat).collect::<Vec<_>>().join(" "))
            }
            ValueKind::Map(all) => {
                let one = |(key, value): &(Key, Value)| {
                    format!("{}@{}:{}={}", key.name, key.at.line, key.at.column, flat(value))
                };
                format!("{{{}}}", all.iter().map(one).collect::<Vec<_>>().join(" "))
            }
        }
    }

    #[test]
    fn values_have_positions_and_numbers_stay_as_written() {
        let read = tree("a: 0042\nb: [1.50, yes, \"5\", ~]\nc:\n  - tap: Überall 漢\n    n: 1e3\n")
            .unwrap();
        assert_eq!(
            flat(&read),
            "{a@1:1=0042@1:4 b@2:1=[1.50@2:5 yes@2:11 5@2:16 -] c@3:1=[{tap@4:5=Überall 漢@4:10 n@5:5=1e3@5:8}]}"
        );
    }

    #[test]
    fn documents_are_separated_and_keep_their_positions() {
        let documents =
            |text: &str| trees(text).unwrap().iter().map(flat).collect::<Vec<_>>().join(" | ");
        let two = "{a@1:1=Ü@1:4} | [x@3:3 1.50@4:3]";
        assert_eq!(documents("a: Ü\n---\n- x\n- 1.50\n"), two);
        assert_eq!(documents("a: Ü\r\n--- # steps\r\n- x\r\n- 1.50"), two);
        assert_eq!(documents("---\na: 1\n"), "{a@2:1=1@2:4}");
        assert_eq!(documents("# A\n---\na: 1\n---\n\n---\n- b\n---\n"), "{a@3:1=1@3:4} | [b@7:3]");
        assert_eq!(documents(""), "");
        assert_eq!(documents("a: |\n  x\n  ---\n  y\n").matches("---").count(), 1);
        assert!(trees("a: 1\n---\n- [\n").unwrap_err().starts_with("a.yaml:"));
    }

    #[test]
    fn alias_positions_and_merge_keys_are_resolved() {
        let read = tree("a: &x\n  k: 007\nb: *x\nc:\n  <<: *x\n  l: w\n").unwrap();
        let flat = flat(&read);
        assert!(flat.contains("b@3:1={k@3:4=007@3:4}"), "{flat}");
        assert!(flat.matches("=007").count() == 3 && flat.contains("l@6:3=w"), "{flat}");
    }

    #[test]
    fn alias_bombs_are_refused() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for n in 1..9 {
            let inner = vec![format!("*a{}", n - 1); 10].join(", ");
            bomb.push_str(&format!("a{n}: &a{n} [{inner}]\n"));
        }
        let text = tree(&bomb).unwrap_err();
        assert!(text.starts_with("a.yaml:"), "{text}");
        assert!(tree(&"[".repeat(10_000)).is_err());
        assert!(tree(&"x".repeat(MAX_BYTES + 1)).unwrap_err().contains("the maximum is"));
    }

    #[test]
    fn invalid_yaml_is_reported_with_its_position() {
        let text = tree("a: 1\nb: [1, 2\nc: 3\n").unwrap_err();
        assert!(text.starts_with("a.yaml:3:") || text.starts_with("a.yaml:2:"), "{text}");
        let text = tree("steps:\n  - type: {{PIN}}\n").unwrap_err();
        assert!(text.contains("must be quoted"), "{text}");
        assert!(tree("a: 1\na: 2\n").unwrap_err().contains("a.yaml:2:1"));
    }
}
