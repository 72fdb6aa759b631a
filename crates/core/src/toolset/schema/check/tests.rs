//! Each keyword just inside and just outside its limits; and that our schemas use no other
//! keywords.

use serde_json::json;

use super::*;
use crate::toolset::{Toolset, android, mobile, ufo};

/// The first violation in `arguments`.
fn said(schema: &Value, arguments: &Value) -> Result<(), String> {
    let violations = check(schema.as_object().unwrap(), arguments.as_object().unwrap());
    violations.first().map_or(Ok(()), |violation| Err(violation.to_string()))
}

/// The first violation of an argument `v` with this schema.
fn of(schema: Value, value: Value) -> Result<(), String> {
    said(&json!({ "properties": { "v": schema } }), &json!({ "v": value }))
}

#[track_caller]
fn outside(schema: Value, value: Value, text: &str) {
    assert_eq!(of(schema, value), Err(text.into()));
}

#[test]
fn missing_arguments_are_reported_first() {
    let schema = json!({
        "type": "object",
        "properties": { "x": { "type": "number" }, "on": { "type": "boolean" } },
        "required": ["x"],
    });
    assert_eq!(said(&schema, &json!({ "x": 0 })), Ok(()));
    assert_eq!(said(&schema, &json!({ "x": 1, "something else": [] })), Ok(()));
    assert_eq!(said(&schema, &json!({ "on": 1 })), Err("`x` is required".into()));
    let meant = said(&schema, &json!({ "X": 1 }));
    assert_eq!(meant, Err("`x` is required; \"X\" is not an argument of this tool".into()));
}

#[test]
fn types_are_checked() {
    for (kind, value) in [
        ("string", json!("")),
        ("number", json!(1.5)),
        ("number", json!(1)),
        ("integer", json!(-3)),
        ("integer", json!(3.0)),
        ("boolean", json!(false)),
        ("object", json!({})),
        ("array", json!([])),
        ("null", json!(null)),
    ] {
        assert_eq!(of(json!({ "type": kind }), value), Ok(()), "{kind}");
    }
    outside(json!({ "type": "number" }), json!("1"), "`v` must be a number, not \"1\"");
    outside(json!({ "type": "number" }), json!(null), "`v` must be a number, not null");
    outside(json!({ "type": "integer" }), json!(1.5), "`v` must be an integer, not 1.5");
    outside(json!({ "type": "boolean" }), json!(1), "`v` must be a boolean, not 1");
    let either = || json!({ "type": ["string", "integer", "null"] });
    assert_eq!(of(either(), json!(null)), Ok(()));
    outside(either(), json!(true), "`v` must be a string or integer, not true");
    let book = of(json!({ "type": "number" }), json!("\u{e9}".repeat(1000)));
    assert!(book.unwrap_err().len() < 200);
}

#[test]
fn integers_out_of_range_are_reported() {
    let integer = || json!({ "type": ["integer", "null"] });
    assert_eq!(of(integer(), json!(i64::MAX)), Ok(()));
    assert_eq!(of(json!({ "type": "number" }), json!(1e300)), Ok(()));
    for large in [json!(u64::MAX), json!(2e16)] {
        let text = format!("`v` is {large}; it must be at most 9007199254740992");
        outside(integer(), large, &text);
    }
    let either = json!({ "anyOf": [integer(), { "type": "string" }] });
    outside(either, json!(-2e16), "`v` is -2e+16; it must be at least -9007199254740992");
    outside(
        json!({ "type": "integer", "maximum": 9 }),
        json!(1e300),
        "`v` is 1e+300; it must be at most 9",
    );
}

#[test]
fn bounds_are_checked() {
    let range = || json!({ "minimum": 0, "maximum": 10 });
    assert_eq!(of(range(), json!(0)), Ok(()));
    assert_eq!(of(range(), json!(10.0)), Ok(()));
    outside(range(), json!(-0.5), "`v` is -0.5; it must be at least 0");
    outside(range(), json!(10.5), "`v` is 10.5; it must be at most 10");
    let open = || json!({ "exclusiveMinimum": 0, "exclusiveMaximum": 1 });
    assert_eq!(of(open(), json!(0.5)), Ok(()));
    outside(open(), json!(0), "`v` is 0; it must be above 0");
    outside(open(), json!(1), "`v` is 1; it must be below 1");
}

#[test]
fn lengths_and_patterns_are_checked() {
    let text = || json!({ "minLength": 1, "maxLength": 2 });
    assert_eq!(of(text(), json!("\u{e9}\u{e9}")), Ok(()));
    outside(text(), json!(""), "`v` must not be empty");
    outside(text(), json!("abc"), "`v` has 3 characters; it must have at most 2");
    let list = || json!({ "minItems": 2, "maxItems": 3, "items": { "type": "integer" } });
    assert_eq!(of(list(), json!([1, 2])), Ok(()));
    outside(list(), json!([1]), "`v` has 1 items; it must have at least 2");
    outside(list(), json!([1, 2, 3, 4]), "`v` has 4 items; it must have at most 3");
    outside(list(), json!([1, "2"]), "`v[1]` must be an integer, not \"2\"");
    let size = || json!({ "pattern": "^\\d+x\\d+$" });
    assert_eq!(of(size(), json!("1280x720")), Ok(()));
    outside(size(), json!("1280x720 "), "`v` is \"1280x720 \"; it must match ^\\d+x\\d+$");
    // A backtracking engine would not finish on this one.
    let slow = json!({ "pattern": "^(a+)+$" });
    assert!(of(slow, json!("a".repeat(50_000) + "b")).is_err());
}

#[test]
fn one_alternative_is_enough() {
    outside(
        json!({ "type": "string", "enum": ["home", "back"] }),
        json!("menu"),
        "`v` is \"menu\"; it must be one of home, back",
    );
    let open = || json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }] });
    assert_eq!(of(open(), json!(1)), Ok(()));
    assert_eq!(of(open(), json!(null)), Ok(()));
    outside(open(), json!(0), "`v` is 0; it must be at least 1");
    outside(open(), json!("1"), "`v` must be an integer, not \"1\"");
}

#[test]
fn nested_violations_have_a_path() {
    let schema = json!({
        "$defs": {
            "Target": {
                "type": "object",
                "properties": { "name": { "type": "string" }, "next": { "$ref": "#/$defs/Target" } },
                "required": ["name"],
                "additionalProperties": false,
            },
        },
        "properties": {
            "result": { "type": "array", "items": { "$ref": "#/$defs/Target" } },
            "more": { "type": "object", "additionalProperties": { "type": "integer" } },
        },
    });
    let check = |arguments: Value, text: &str| {
        assert_eq!(said(&schema, &arguments), Err(text.into()));
    };
    assert_eq!(said(&schema, &json!({ "result": [{ "name": "a" }], "more": { "b": 1 } })), Ok(()));
    check(json!({ "result": [{ "name": "a" }, {}] }), "`result[1].name` is required");
    check(
        json!({ "result": [{ "name": "a", "next": { "name": 1 } }] }),
        "`result[0].next.name` must be a string, not 1",
    );
    check(
        json!({ "result": [{ "name": "a", "x": 1 }] }),
        "`result[0].x` is not an argument of this tool",
    );
    check(json!({ "more": { "b": "1" } }), "`more.b` must be an integer, not \"1\"");
    let wrong: Vec<Value> = (0..1000).map(|i| json!({ "no": i })).collect();
    let schema = schema.as_object().unwrap();
    assert_eq!(check_many(schema, json!({ "result": wrong })), MAX_COUNT);
    let circle = json!({ "$defs": { "A": { "$ref": "#/$defs/A" } }, "properties": { "v": { "$ref": "#/$defs/A" } } });
    assert_eq!(check_many(circle.as_object().unwrap(), json!({ "v": 1 })), 0);
}

fn check_many(schema: &Map<String, Value>, arguments: Value) -> usize {
    check(schema, arguments.as_object().unwrap()).len()
}

#[test]
fn published_schemas_use_supported_keywords_only() {
    let toolsets = [mobile::toolset(), android::toolset(), ufo::data(), ufo::action()];
    assert!(!toolsets[0].tools.is_empty());
    for Toolset { tools, .. } in toolsets {
        for tool in tools {
            for schema in [Some(&tool.schema), tool.output.as_ref()].into_iter().flatten() {
                assert_eq!(schema["type"], "object", "{}", tool.name);
                is_understood(&tool.name, schema, schema);
            }
        }
    }
}

/// Visits all nested schemas.
fn is_understood(tool: &str, root: &Map<String, Value>, schema: &Map<String, Value>) {
    // `required` and `$defs` are handled with objects and references; the others are annotations.
    const SAID: [&str; 7] = [
        "required",
        "$defs",
        "title",
        "description",
        "default",
        "examples",
        "x-fastmcp-wrap-result",
    ];
    for (keyword, value) in schema {
        let known = CHECKED.contains(&keyword.as_str()) || SAID.contains(&keyword.as_str());
        assert!(known, "{tool}: {keyword} is not checked");
        let inside: Vec<&Value> = match keyword.as_str() {
            "properties" | "$defs" => value.as_object().unwrap().values().collect(),
            "items" | "additionalProperties" => vec![value],
            "anyOf" => value.as_array().unwrap().iter().collect(),
            _ => Vec::new(),
        };
        for value in inside {
            match value {
                Value::Object(schema) => is_understood(tool, root, schema),
                other => assert!(other.is_boolean(), "{tool}: {other} is no schema"),
            }
        }
        match keyword.as_str() {
            "pattern" => assert!(Regex::new(value.as_str().unwrap()).is_ok(), "{tool}: {value}"),
            "$ref" => {
                let name = value.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                assert!(root["$defs"].get(name).is_some(), "{tool}: {name} is not defined");
            }
            _ => {}
        }
    }
    // An invalid default would be rejected when a client fills it in.
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        assert_eq!(of(schema.clone().into(), default.clone()), Ok(()), "{tool}");
    }
}
