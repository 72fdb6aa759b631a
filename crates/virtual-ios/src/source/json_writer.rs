//! Writes WebDriverAgent's JSON tree (XCUIApplication+FBHelpers.m).

use serde_json::{Map, Value, json};

use super::{MAX_DEPTH, SourceNode, SourceOptions, has_placeholder};

/// Writes a JSON source: the value to send. Elements below [`MAX_DEPTH`] are left out. Of the
/// options, only the attributes `frame`, `enabled`, `visible`, `accessible`, `focused`,
/// `placeholderValue`, `traits` and those in [`SourceNode::other`] can be excluded.
pub fn write_json_source(root: &SourceNode, options: &SourceOptions) -> Value {
    write(root, 1, options)
}

fn write(node: &SourceNode, depth: usize, options: &SourceOptions) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| _ = object.insert(key.to_owned(), value);
    put("type", json!(node.element_type));
    put("rawIdentifier", json!(node.identifier));
    put("name", json!(node.name));
    put("value", json!(node.value));
    put("label", json!(node.label));
    if let Some(rect) = node.rect {
        let edges = [rect.x, rect.y, rect.width, rect.height];
        let [x, y, width, height] = edges.map(number);
        put("rect", json!({ "x": x, "y": y, "width": width, "height": height }));
        if options.includes("frame") {
            put("frame", format!("{{{{{x}, {y}}}, {{{width}, {height}}}}}").into());
        }
    }
    let flags = [
        ("enabled", "isEnabled", node.enabled),
        ("visible", "isVisible", node.visible),
        ("accessible", "isAccessible", node.accessible),
        ("focused", "isFocused", node.focused),
    ];
    for (attribute, key, value) in flags {
        if let Some(value) = value.filter(|_| options.includes(attribute)) {
            put(key, json!(if value { "1" } else { "0" }));
        }
    }
    if has_placeholder(&node.element_type) && options.includes("placeholderValue") {
        put("placeholderValue", json!(node.placeholder));
    }
    if options.includes("traits") {
        put("traits", json!(node.traits.join(", ")));
    }
    for (name, value) in node.other.iter().filter(|(name, _)| options.includes(name)) {
        put(name, json!(value));
    }
    if !node.children.is_empty() && depth < MAX_DEPTH {
        let children = node.children.iter().map(|child| write(child, depth + 1, options));
        put("children", children.collect());
    }
    Value::Object(object)
}

/// Whole numbers without a fraction, as Objective-C writes them.
fn number(edge: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
    match edge.fract() == 0.0 && edge.abs() < 1e9 {
        true => json!(edge as i64),
        false if edge.is_finite() => json!(edge),
        false => json!(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thumbwire_webdriver::Rect;

    fn field() -> SourceNode {
        SourceNode {
            element_type: "TextField".into(),
            name: Some("user".into()),
            identifier: Some("user".into()),
            placeholder: Some("Name".into()),
            traits: vec!["SearchField".into()],
            enabled: Some(true),
            visible: Some(false),
            rect: Some(Rect { x: 0.5, y: -1.0, width: 10.0, height: 20.0 }),
            other: vec![("minValue".into(), "0".into())],
            ..SourceNode::default()
        }
    }

    #[test]
    fn written_tree_is_webdriveragents() {
        let root = SourceNode {
            element_type: "Other".into(),
            children: vec![field()],
            ..SourceNode::default()
        };
        let options = SourceOptions {
            excluded_attributes: vec!["Visible".into()],
            ..SourceOptions::default()
        };
        let json = write_json_source(&root, &options);
        let expected = json!({
            "type": "TextField", "rawIdentifier": "user", "name": "user", "value": null, "label": null,
            "rect": { "x": 0.5, "y": -1, "width": 10, "height": 20 }, "frame": "{{0.5, -1}, {10, 20}}",
            "isEnabled": "1", "placeholderValue": "Name", "traits": "SearchField", "minValue": "0",
        });
        assert_eq!(json["children"], json!([expected]));
        assert!(json.get("rect").is_none() && json["type"] == "Other");
    }

    #[test]
    fn deep_tree_is_cut() {
        let mut root = field();
        for _ in 0..MAX_DEPTH + 10 {
            root = SourceNode {
                element_type: "Other".into(),
                children: vec![root],
                ..SourceNode::default()
            };
        }
        let json = write_json_source(&root, &SourceOptions::default());
        let children = std::iter::successors(Some(&json), |node| node["children"].get(0));
        assert_eq!(children.count(), MAX_DEPTH);
    }
}
