//! Paths of commands: templates such as `/element/:element/click`, filled in and matched.
//!
//! | segment | stands for |
//! |---|---|
//! | `:name` | a value |
//! | `:element?` | `element/` and a value, or nothing |
//! | `:name\|0` | a value, or `0` for none |

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value};

/// All but the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// One text as a segment or a query's value.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// The text of a segment or a query's value; `None` if it is not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(Into::into)
}

/// A request's target: the segments of its path, still encoded, and its query. A `/` at the end
/// makes no difference.
pub(crate) fn split(target: &str) -> (Vec<&str>, &str) {
    let target = target.split('#').next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let segments = if path.is_empty() { Vec::new() } else { path.split('/').collect() };
    (segments, query)
}

/// The template with values for its names. A value that is absent where one is needed leaves an
/// empty segment; the types of the commands exclude that.
pub(crate) fn expand(template: &str, values: &Map<String, Value>) -> String {
    let mut path = String::new();
    for segment in segments_of(template) {
        let value = |name: &str| values.get(name).and_then(Value::as_str).map(encode);
        let text = match segment.strip_prefix(':') {
            None => Some(segment.to_owned()),
            Some(name) => match (name.strip_suffix('?'), name.strip_suffix("|0")) {
                (Some(name), _) => value(name).map(|value| format!("{name}/{value}")),
                (_, Some(name)) => Some(value(name).unwrap_or_else(|| "0".into())),
                _ => Some(value(name).unwrap_or_default()),
            },
        };
        if let Some(text) = text {
            path.push('/');
            path.push_str(&text);
        }
    }
    path
}

/// The values of a template's names in these segments, or `None` if they do not match. A value that
/// is not UTF-8 matches nothing.
pub(crate) fn matches(template: &str, segments: &[&str]) -> Option<Map<String, Value>> {
    let mut values = Map::new();
    let mut rest = segments;
    for segment in segments_of(template) {
        let Some(name) = segment.strip_prefix(':') else {
            rest = rest.strip_prefix(&[segment])?;
            continue;
        };
        if let Some(name) = name.strip_suffix('?') {
            if let [first, value, after @ ..] = rest
                && *first == name
            {
                values.insert(name.to_owned(), Value::from(decode(value)?));
                rest = after;
            }
            continue;
        }
        let (value, after) = rest.split_first()?;
        match name.strip_suffix("|0") {
            Some(_) if *value == "0" => {}
            optional => {
                let name = optional.unwrap_or(name);
                values.insert(name.to_owned(), Value::from(decode(value)?));
            }
        }
        rest = after;
    }
    rest.is_empty().then_some(values)
}

fn segments_of(template: &str) -> impl Iterator<Item = &str> {
    template.split('/').filter(|segment| !segment.is_empty())
}

/// A query with its `?`, or nothing.
pub(crate) fn query(values: &Map<String, Value>) -> String {
    let pairs = values.iter().filter_map(|(key, value)| Some((key, value.as_str()?)));
    let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={}", encode(value))).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// The values of a query. Of two with one name the last counts; what is not UTF-8 is left out.
pub(crate) fn parse_query(query: &str) -> Map<String, Value> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.filter_map(|(key, value)| Some((decode(key)?, Value::from(decode(value)?)))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[track_caller]
    fn round_trip(template: &str, given: Value, path: &str) {
        let given = values(given);
        assert_eq!(expand(template, &given), path);
        assert_eq!(matches(template, &split(path).0), Some(given));
    }

    #[test]
    fn templates_are_filled_in_and_matched() {
        round_trip("/status", json!({}), "/status");
        round_trip(
            "/element/:element/click",
            json!({ "element": "a/b ?é" }),
            "/element/a%2Fb%20%3F%C3%A9/click",
        );
        round_trip("/wda/:element?/tap", json!({}), "/wda/tap");
        round_trip("/wda/:element?/tap", json!({ "element": "1" }), "/wda/element/1/tap");
        round_trip("/wda/tap/:element|0", json!({}), "/wda/tap/0");
        round_trip("/wda/tap/:element|0", json!({ "element": "1" }), "/wda/tap/1");
    }

    #[test]
    fn other_paths_do_not_match() {
        for path in ["/element/1", "/element/1/click/2", "/elements/1/click", "/element/%FF/click"]
        {
            assert_eq!(matches("/element/:element/click", &split(path).0), None, "{path}");
        }
        assert!(matches("", &split("/").0).is_some());
    }

    #[test]
    fn queries_are_written_and_read() {
        let given = values(json!({ "format": "json", "excluded_attributes": "visible,x y" }));
        assert_eq!(query(&given), "?format=json&excluded_attributes=visible%2Cx%20y");
        assert_eq!(parse_query(&query(&given)[1..]), given);
        assert_eq!(parse_query("a&&=1&b=%FF"), values(json!({ "a": "", "": "1" })));
        assert_eq!(query(&Map::new()), "");
    }
}
