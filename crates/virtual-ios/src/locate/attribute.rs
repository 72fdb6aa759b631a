//! Attributes of elements by name, with the aliases that WebDriverAgent knows (FBElementUtils.m).

use serde_json::{Value, json};

use crate::tree::Snapshot;

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Attribute {
    Text(String),
    Flag(bool),
    Number(f64),
    /// A rectangle and the like.
    Object(Value),
}

impl Attribute {
    /// As a text: flags as `true` and `false`.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Object(value) => value.to_string(),
        }
    }

    /// As WebDriverAgent sends it.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(text.as_str()),
            Self::Flag(flag) => Value::from(*flag),
            Self::Number(number) => Value::from(*number),
            Self::Object(value) => value.clone(),
        }
    }
}

/// The attribute's own name: `wdName`, `isWDVisible` and `getName` are other spellings.
fn own_name(name: &str) -> &str {
    let bare = name.strip_prefix("isWD").or_else(|| name.strip_prefix("wd"));
    let bare = bare
        .or_else(|| name.strip_prefix("is").filter(|rest| rest.starts_with(char::is_uppercase)));
    bare.unwrap_or(name)
}

/// Checks that an attribute has this name.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let own = own_name(name).to_ascii_lowercase();
    match NAMES.contains(&own.as_str()) {
        true => Ok(()),
        false => Err(format!("the attribute {name:?} is unknown; known are {}", NAMES.join(", "))),
    }
}

const NAMES: [&str; 24] = [
    "type",
    "elementtype",
    "name",
    "identifier",
    "rawidentifier",
    "label",
    "value",
    "placeholdervalue",
    "enabled",
    "visible",
    "accessible",
    "accessibilitycontainer",
    "focused",
    "selected",
    "hittable",
    "index",
    "rect",
    "frame",
    "x",
    "y",
    "width",
    "height",
    "traits",
    "uid",
];

/// An element's attribute, if it has it.
pub(crate) fn attribute(snapshot: &Snapshot, at: usize, name: &str) -> Option<Attribute> {
    let element = &snapshot.elements[at];
    let text = |text: &Option<String>| text.clone().map(Attribute::Text);
    let rect = snapshot.points(at);
    let number = |number: f64| Some(Attribute::Number(number));
    match own_name(name).to_ascii_lowercase().as_str() {
        "type" | "elementtype" => Some(Attribute::Text(format!("XCUIElementType{}", element.kind))),
        "name" => element.name().map(|name| Attribute::Text(name.to_owned())),
        "identifier" | "rawidentifier" => text(&element.identifier),
        "label" => text(&element.label),
        "value" => text(&element.value),
        "placeholdervalue" => text(&element.placeholder),
        "enabled" => Some(Attribute::Flag(element.enabled)),
        "visible" | "hittable" => Some(Attribute::Flag(element.visible)),
        "accessible" => Some(Attribute::Flag(element.accessible)),
        "accessibilitycontainer" => {
            let inside = snapshot.descendants(at);
            Some(Attribute::Flag(inside.iter().any(|at| snapshot.elements[*at].accessible)))
        }
        "focused" => Some(Attribute::Flag(element.focused)),
        "selected" => Some(Attribute::Flag(element.selected)),
        "index" => {
            let siblings = element.parent.map(|parent| &snapshot.elements[parent].children);
            let index = siblings.and_then(|all| all.iter().position(|other| *other == at));
            number(index.unwrap_or(0) as f64)
        }
        "rect" => Some(Attribute::Object(
            json!({ "x": rect.x, "y": rect.y, "width": rect.width, "height": rect.height }),
        )),
        "frame" => Some(Attribute::Text(format!(
            "{{{{{}, {}}}, {{{}, {}}}}}",
            rect.x, rect.y, rect.width, rect.height
        ))),
        "x" | "rect.x" => number(rect.x),
        "y" | "rect.y" => number(rect.y),
        "width" | "rect.width" => number(rect.width),
        "height" | "rect.height" => number(rect.height),
        "traits" => Some(Attribute::Text(element.traits().join(", "))),
        "uid" => Some(Attribute::Text(element.address.clone())),
        _ => None,
    }
}
