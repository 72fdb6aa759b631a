//! Reads WebDriverAgent's JSON tree (XCUIApplication+FBHelpers.m), of today and of 2015.

use super::json_lexer::{JsonLexer, Scalar};
use super::{
    MAX_DEPTH, MAX_NODES, SourceError, SourceNode, flag, short_type, split_traits, unwrap_root,
};
use crate::values::Rect;

/// An object that is not complete.
struct OpenNode {
    node: SourceNode,
    /// Whether the list of its children is being read.
    in_children: bool,
}

/// Reads a JSON source: the tree, or the whole response with the tree in `value`, or in `value.tree` as in 2015. Unlike
/// `serde_json`, it reads any tree up to [`MAX_DEPTH`]. A response with another HTTP status than 200 is a failure: read it by
/// [`parse_response`](crate::parse_response).
///
/// # Errors
/// The text is not JSON, has no element, or exceeds [`MAX_DEPTH`] or [`MAX_NODES`].
pub fn parse_json_source(text: &str) -> Result<SourceNode, SourceError> {
    let mut lexer = JsonLexer::new(text);
    let mut open = Vec::new();
    let mut count = 0;
    enter(&mut lexer, &mut open, &mut count)?;
    loop {
        let Some(current) = open.last_mut() else { return lexer.fail("there is no element") };
        if current.in_children {
            match lexer.peek() {
                Some(b']') => {
                    lexer.take(b']');
                    current.in_children = false;
                }
                Some(b'{') => enter(&mut lexer, &mut open, &mut count)?,
                Some(_) => _ = lexer.scalar()?,
                None => return lexer.fail("it ends inside a list"),
            }
            continue;
        }
        let Some(key) = lexer.key()? else {
            let Some(done) = open.pop() else { continue };
            match open.last_mut() {
                Some(around) => around.node.children.push(done.node),
                None => return finish(done.node, &lexer),
            }
            continue;
        };
        match key.as_str() {
            "children" if lexer.take(b'[') => current.in_children = true,
            "value" | "tree" if lexer.peek() == Some(b'{') => {
                enter(&mut lexer, &mut open, &mut count)?
            }
            "rect" if lexer.take(b'{') => current.node.rect = rect(&mut lexer)?,
            _ => {
                let value = lexer.scalar()?;
                set(&mut current.node, &key, value);
            }
        }
    }
}

/// Begins an object.
fn enter(
    lexer: &mut JsonLexer<'_>,
    open: &mut Vec<OpenNode>,
    count: &mut usize,
) -> Result<(), SourceError> {
    if open.len() >= MAX_DEPTH {
        return lexer.fail(format!("it is nested more than {MAX_DEPTH} deep"));
    }
    *count += 1;
    if *count > MAX_NODES {
        return lexer.fail(format!("there are more than {MAX_NODES} elements"));
    }
    if !lexer.take(b'{') {
        return lexer.fail("expected `{`");
    }
    open.push(OpenNode { node: SourceNode::default(), in_children: false });
    Ok(())
}

fn finish(root: SourceNode, lexer: &JsonLexer<'_>) -> Result<SourceNode, SourceError> {
    let root = unwrap_root(root, |node| node.element_type.is_empty());
    match root.element_type.is_empty() && root.children.is_empty() {
        true => lexer.fail("there is no element"),
        false => Ok(root),
    }
}

fn set(node: &mut SourceNode, key: &str, value: Scalar) {
    let Some(value) = value.into_text() else { return };
    match key {
        "type" => node.element_type = short_type(&value).to_owned(),
        "rawIdentifier" => node.identifier = Some(value),
        "name" => node.name = Some(value),
        "label" => node.label = Some(value),
        "value" => node.value = Some(value),
        "placeholderValue" => node.placeholder = Some(value),
        "traits" => node.traits = split_traits(&value),
        "isEnabled" => node.enabled = flag(&value),
        "isVisible" => node.visible = flag(&value),
        "isAccessible" => node.accessible = flag(&value),
        "isFocused" => node.focused = flag(&value),
        // `rect` says it; and what is beside the tree in a response.
        "frame" | "sessionId" | "status" => {}
        _ => node.other.push((key.to_owned(), value)),
    }
}

/// `x`, `y`, `width` and `height`; in 2015 the first two were in `origin`, the others in `size`.
fn rect(lexer: &mut JsonLexer<'_>) -> Result<Option<Rect>, SourceError> {
    let mut edges = [None; 4];
    let mut depth = 1;
    loop {
        let Some(key) = lexer.key()? else {
            depth -= 1;
            if depth == 0 {
                break;
            }
            continue;
        };
        let edge = ["x", "y", "width", "height"].iter().position(|name| *name == key);
        match edge {
            Some(edge) => {
                edges[edge] = lexer.scalar()?.into_text().and_then(|text| text.parse().ok())
            }
            None if depth == 1 && lexer.take(b'{') => depth = 2,
            None => _ = lexer.scalar()?,
        }
    }
    let [Some(x), Some(y), Some(width), Some(height)] = edges else { return Ok(None) };
    Ok(Some(Rect { x, y, width, height }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> String {
        let open = r#"{"type":"Other","children":["#;
        open.repeat(depth) + &"]}".repeat(depth)
    }

    #[test]
    fn fields_of_all_ages_are_read() {
        let json = r#"{ "sessionId": null, "value": { "tree": {
            "type": "UIAWindow", "rawIdentifier": null, "name": "A", "value": 0.5, "label": "",
            "rect": { "size": { "width": 375, "height": 667 }, "origin": { "x": -35.98201, "y": 0 } },
            "isEnabled": "1", "isVisible": "0", "isAccessible": true, "frame": "{{0, 0}, {375, 667}}",
            "attributes": { "type": "wrong", "children": [{}] }, "minValue": "0",
            "children": [{ "type": "XCUIElementTypeKey", "rect": { "x": 1, "y": 2, "width": 3, "height": 4 } }, null]
        } } }"#;
        let key = SourceNode {
            element_type: "Key".into(),
            rect: Some(Rect { x: 1.0, y: 2.0, width: 3.0, height: 4.0 }),
            ..SourceNode::default()
        };
        let expected = SourceNode {
            element_type: "Window".into(),
            name: Some("A".into()),
            value: Some("0.5".into()),
            label: Some(String::new()),
            rect: Some(Rect { x: -35.98201, y: 0.0, width: 375.0, height: 667.0 }),
            enabled: Some(true),
            visible: Some(false),
            accessible: Some(true),
            other: vec![("minValue".into(), "0".into())],
            children: vec![key],
            ..SourceNode::default()
        };
        assert_eq!(parse_json_source(json), Ok(expected));
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        let refused = |text: &str, problem: &str| {
            let error = parse_json_source(text).unwrap_err();
            assert!(error.problem.contains(problem), "{text}: {error}");
        };
        refused("", "expected `{`");
        refused("[]", "expected `{`");
        refused("{}", "there is no element");
        refused(r#"{"value":{"error":"no such alert","message":"x"}}"#, "there is no element");
        refused(r#"{"type":"Other""#, "expected a key or `}`");
        refused(r#"{"type" "Other"}"#, "expected `:`");
        refused(r#"{"type":"Other","children":["#, "it ends inside a list");
        refused(r#"{"type":"Other","rect":{"x":1"#, "expected a key or `}`");
    }

    #[test]
    fn deep_and_large_sources_are_refused() {
        // Two levels of JSON each: serde_json would stop at 64.
        assert!(parse_json_source(&nested(MAX_DEPTH)).is_ok());
        for depth in [MAX_DEPTH + 1, 10_000, 1_000_000] {
            assert!(
                parse_json_source(&nested(depth))
                    .unwrap_err()
                    .problem
                    .contains("more than 256 deep")
            );
        }
        let skipped =
            format!(r#"{{"type":"Other","a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse_json_source(&skipped).is_ok());
        let many = format!(r#"{{"children":[{}]}}"#, "{}".repeat(MAX_NODES));
        assert!(parse_json_source(&many).unwrap_err().problem.contains("more than 50000 elements"));
    }
}
