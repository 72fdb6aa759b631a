//! Schemas of functions, as providers accept them.

use serde_json::json;

use super::*;

fn described(schema: Value) -> Option<Value> {
    let schema = schema.as_object().unwrap().clone();
    tool(&Function { name: "do_it".into(), description: "Does it.".into(), schema, acts: true })
        .map(|tool| tool.schema)
}

#[test]
fn only_common_keywords_remain() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "DoIt",
        "type": "object",
        "oneOf": [{ "required": ["x"] }],
        "properties": {
            "x": { "type": ["integer", "null"], "minimum": 0, "format": "int32", "description": "REQUIRED: Where." },
            "list": { "type": "array" },
            "way": { "anyOf": [{ "type": "string", "enum": ["up", null] }, { "type": "null" }], "default": null },
            "either": { "oneOf": [{ "type": "string" }, { "type": "number" }] },
            "deep": { "$ref": "#/$defs/deep" },
            "inner": { "type": "object", "properties": { "a": { "type": "string", "pattern": ".*" } }, "required": ["a"] },
        },
        "required": ["x", "gone"],
        "additionalProperties": true,
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "x": { "type": "integer", "minimum": 0, "description": "Where." },
            "list": { "type": "array", "items": {} },
            "way": { "type": "string", "enum": ["up"] },
            "either": { "anyOf": [{ "type": "string" }, { "type": "number" }] },
            "deep": {},
            "inner": { "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] },
        },
        "required": ["x"],
    });
    assert_eq!(described(schema).unwrap(), expected);
}

/// One function of a strange app must not make a provider reject the whole request.
#[test]
fn what_no_provider_accepts_is_left_out() {
    let odd = json!({ "properties": { "a b": { "type": "string" }, "c": { "type": "string" } } });
    assert_eq!(
        described(odd).unwrap(),
        json!({ "type": "object", "properties": { "c": { "type": "string" } } })
    );
    let needed = json!({ "properties": { "a b": { "type": "string" } }, "required": ["a b"] });
    assert_eq!(described(needed), None);
    let mut deep = json!({ "type": "string" });
    for _ in 0..20 {
        deep = json!({ "type": "array", "items": deep });
    }
    let deep = json!({ "properties": { "deep": deep }, "required": ["deep"] });
    assert_eq!(described(deep), None);
    let name = |name: &str| {
        let function = Function {
            name: name.into(),
            description: String::new(),
            schema: Map::new(),
            acts: true,
        };
        tool(&function).is_some()
    };
    assert!(name("app_x-1") && !name("app.x") && !name("") && !name(&"a".repeat(65)));
    assert_eq!(valid_name("app.x y"), "app_x_y");
}

#[test]
fn number_of_functions_is_limited() {
    let function = |at| Function {
        name: format!("f{at}"),
        description: String::new(),
        schema: Map::new(),
        acts: true,
    };
    let all = tools(&(0..500).map(function).collect::<Vec<_>>());
    assert_eq!(all.len(), MAX_TOOLS);
    let names: Vec<&str> = all.iter().rev().take(3).map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, [UPDATE_PLAN, FAIL, FINISH]);
}
