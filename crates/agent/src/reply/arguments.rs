//! Coerces arguments as models write them where that is unambiguous, and checks them against the
//! function's schema.

use serde_json::{Map, Value};

use crate::policy::observation::Function;
use thumbwire_core::toolset::validate_arguments;

/// The arguments as the function accepts them, without those it does not know.
///
/// # Errors
/// How the arguments violate the schema.
pub(super) fn coerce(
    function: &Function,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, String> {
    let mut arguments = arguments;
    let properties = function.schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        if let Some(value) = arguments.get_mut(name)
            && let Some(right) = reading(property, value)
        {
            *value = right;
        }
    }
    let mut arguments = validate_arguments(&function.schema, &arguments).map_err(|misfits| {
        let out: Vec<String> = misfits.iter().map(ToString::to_string).collect();
        format!("the arguments of {} do not match its schema: {}", function.name, out.join("; "))
    })?;
    // Unknown arguments help to explain a violation. Without one they are meaningless.
    arguments.retain(|name, _| properties.is_some_and(|all| all.contains_key(name)));
    Ok(arguments)
}

/// The value converted to the property's type; `None` if no conversion is needed or possible.
fn reading(property: &Value, value: &Value) -> Option<Value> {
    let takes = |kind: &str| takes(property, kind);
    match value {
        // Ids are strings that look like numbers.
        Value::Number(number) if takes("string") && !takes("number") && !takes("integer") => {
            Some(number.to_string().into())
        }
        Value::Number(number) => {
            number.as_f64().and_then(floor).filter(|_| takes("integer") && !takes("number"))
        }
        Value::String(text) if !takes("string") => {
            let text = text.trim();
            let whole = || text.parse::<i64>().ok().map(Value::from);
            let float = || text.parse::<f64>().ok().filter(|float| float.is_finite());
            match &*text.to_ascii_lowercase() {
                "true" if takes("boolean") => Some(true.into()),
                "false" if takes("boolean") => Some(false.into()),
                _ if takes("number") => whole().or_else(|| float().map(Value::from)),
                _ if takes("integer") => whole().or_else(|| float().and_then(floor)),
                _ if takes("array") || takes("object") => serde_json::from_str(text).ok(),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The centre of a control is often at half a pixel. UFO's servers round down too.
fn floor(float: f64) -> Option<Value> {
    let float = float.floor();
    (float.abs() < 1e9).then_some(Value::from(float as i64))
}

/// Whether the property accepts this type.
fn takes(property: &Value, kind: &str) -> bool {
    match property.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(all)) => all.iter().any(|one| one == kind),
        _ => property
            .get("anyOf")
            .and_then(Value::as_array)
            .is_some_and(|any| any.iter().any(|one| takes(one, kind))),
    }
}
