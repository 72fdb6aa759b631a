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
            && let Some(pixel) = whole_pixel(property, value)
        {
            *value = pixel;
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

/// The whole pixel of a place at half a pixel, as the centre of a control often is: UFO's servers
/// round down, too. Everything else is read with the schema. `None` for another value.
fn whole_pixel(property: &Value, value: &Value) -> Option<Value> {
    let float = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    let is_place = takes(property, "integer") && !takes(property, "number");
    (is_place && float.abs() < 1e9).then(|| Value::from(float.floor() as i64))
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
