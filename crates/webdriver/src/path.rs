//! Paths of commands: templates such as `/element/:element/click`, filled in.
//!
//! | segment | stands for |
//! |---|---|
//! | `:name` | a value |
//! | `:element?` | `element/` and a value, or nothing |
//! | `:name\|0` | a value, or `0` for none |

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

/// All but the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// One text as a segment or a query's value.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
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

pub(crate) fn segments_of(template: &str) -> impl Iterator<Item = &str> {
    template.split('/').filter(|segment| !segment.is_empty())
}

/// A query with its `?`, or nothing.
pub(crate) fn query(values: &Map<String, Value>) -> String {
    let pairs = values.iter().filter_map(|(key, value)| Some((key, value.as_str()?)));
    let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}={}", encode(value))).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::server::{matches, parse_query, split};

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
