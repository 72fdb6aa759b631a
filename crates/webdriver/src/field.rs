//! JSON fields with types, read so that a refusal names the field: `actions[0].x must be a number`.

use serde_json::{Map, Number, Value};

use crate::error::{ErrorCode, WebDriverError};

/// What is wrong with a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FieldError {
    /// Where it is, such as `actions[0].x`; empty for the whole.
    path: String,
    problem: String,
}

impl FieldError {
    /// The field does not have the form that it needs: `must be a number`.
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self { path: String::new(), problem: problem.into() }
    }

    /// The same error, seen from the object that has the field.
    pub(crate) fn inside(self, key: &str) -> Self {
        let path = match self.path.as_str() {
            "" => key.to_owned(),
            path if path.starts_with('[') => format!("{key}{path}"),
            path => format!("{key}.{path}"),
        };
        Self { path, ..self }
    }

    /// The same error, seen from the list that has the entry.
    pub(crate) fn at(self, index: usize) -> Self {
        self.inside(&format!("[{index}]"))
    }

    /// The path in backticks and the problem.
    pub(crate) fn message(&self) -> String {
        match self.path.as_str() {
            "" => format!("the body {}", self.problem),
            path => format!("`{path}` {}", self.problem),
        }
    }
}

impl From<FieldError> for WebDriverError {
    fn from(error: FieldError) -> Self {
        Self::new(ErrorCode::InvalidArgument, error.message())
    }
}

/// A type that one JSON field can have.
pub(crate) trait Field: Sized {
    /// The value to write, or `None` to omit the field.
    fn to_json(&self) -> Option<Value>;

    /// Reads a field that is there. `null` counts as absent and never arrives here, except for
    /// types of any value.
    fn from_json(value: &Value) -> Result<Self, FieldError>;

    /// What an absent field means.
    fn absent() -> Result<Self, FieldError> {
        Err(FieldError::new("is missing"))
    }
}

/// A type that is written as several fields of a body.
pub(crate) trait Body: Sized {
    /// Adds its fields.
    fn write(&self, body: &mut Map<String, Value>);

    /// Reads its fields.
    fn read(body: &Map<String, Value>) -> Result<Self, FieldError>;
}

/// Reads one field of an object. A key such as `os.name` is a field of an object in it.
pub(crate) fn get<T: Field>(object: &Map<String, Value>, key: &str) -> Result<T, FieldError> {
    if let Some((outer, key)) = key.split_once('.') {
        let inner: Option<Map<String, Value>> = get(object, outer)?;
        return get(&inner.unwrap_or_default(), key).map_err(|error| error.inside(outer));
    }
    let value = object.get(key).filter(|value| !value.is_null());
    value.map_or_else(T::absent, T::from_json).map_err(|error| error.inside(key))
}

/// Writes one field of an object, unless it is absent. Keys are those of [`get`].
pub(crate) fn put(object: &mut Map<String, Value>, key: &str, value: &impl Field) {
    let Some(value) = value.to_json() else { return };
    match key.split_once('.') {
        Some((outer, key)) => {
            let inner = object.entry(outer).or_insert_with(|| Map::new().into());
            inner[key] = value;
        }
        None => _ = object.insert(key.to_owned(), value),
    }
}

/// Writes and reads a struct as an object, from one row for each field: its name and key, and
/// `default` if it may be absent.
macro_rules! fields {
    ($name:ident { $($field:ident: $key:literal $($default:ident)?),+ $(,)? }) => {
        impl $crate::field::Body for $name {
            fn write(&self, body: &mut serde_json::Map<String, serde_json::Value>) {
                $( $crate::field::put(body, $key, &self.$field); )+
            }

            fn read(
                body: &serde_json::Map<String, serde_json::Value>,
            ) -> Result<Self, $crate::field::FieldError> {
                Ok(Self { $( $field: $crate::field::fields!(@get body $key $($default)?), )+ })
            }
        }

        impl $crate::field::Field for $name {
            fn to_json(&self) -> Option<serde_json::Value> {
                let mut object = serde_json::Map::new();
                $crate::field::Body::write(self, &mut object);
                Some(object.into())
            }

            fn from_json(value: &serde_json::Value) -> Result<Self, $crate::field::FieldError> {
                $crate::field::Body::read($crate::field::object(value)?)
            }
        }
    };
    (@get $body:ident $key:literal) => { $crate::field::get($body, $key)? };
    (@get $body:ident $key:literal default) => {
        $crate::field::get::<Option<_>>($body, $key)?.unwrap_or_default()
    };
}
pub(crate) use fields;

/// The value as an object.
pub(crate) fn object(value: &Value) -> Result<&Map<String, Value>, FieldError> {
    value.as_object().ok_or_else(|| FieldError::new("must be an object"))
}

impl<T: Field> Field for Option<T> {
    fn to_json(&self) -> Option<Value> {
        self.as_ref().and_then(T::to_json)
    }

    fn from_json(value: &Value) -> Result<Self, FieldError> {
        T::from_json(value).map(Some)
    }

    fn absent() -> Result<Self, FieldError> {
        Ok(None)
    }
}

impl<T: Field> Field for Vec<T> {
    fn to_json(&self) -> Option<Value> {
        Some(self.iter().map(|entry| entry.to_json().unwrap_or_default()).collect())
    }

    fn from_json(value: &Value) -> Result<Self, FieldError> {
        let list = value.as_array().ok_or_else(|| FieldError::new("must be a list"))?;
        let entries = list.iter().enumerate();
        entries.map(|(at, entry)| T::from_json(entry).map_err(|error| error.at(at))).collect()
    }
}

impl Field for String {
    fn to_json(&self) -> Option<Value> {
        Some(Value::from(self.as_str()))
    }

    fn from_json(value: &Value) -> Result<Self, FieldError> {
        value.as_str().map(Self::from).ok_or_else(|| FieldError::new("must be a text"))
    }
}

impl Field for bool {
    fn to_json(&self) -> Option<Value> {
        Some(Value::from(*self))
    }

    /// Also 0 and 1, which Objective-C does not distinguish from booleans.
    fn from_json(value: &Value) -> Result<Self, FieldError> {
        match value {
            Value::Bool(is) => Ok(*is),
            Value::Number(number) if number.as_u64() == Some(0) => Ok(false),
            Value::Number(number) if number.as_u64() == Some(1) => Ok(true),
            _ => Err(FieldError::new("must be true or false")),
        }
    }
}

impl Field for f64 {
    fn to_json(&self) -> Option<Value> {
        Some(Number::from_f64(*self).map_or(Value::Null, Value::Number))
    }

    /// Also a text with a number, because WebDriverAgent's `doubleValue` takes both.
    fn from_json(value: &Value) -> Result<Self, FieldError> {
        let number = match value {
            Value::String(text) => text.trim().parse().ok(),
            value => value.as_f64(),
        };
        number
            .filter(|number: &Self| number.is_finite())
            .ok_or_else(|| FieldError::new("must be a number"))
    }
}

impl Field for u64 {
    fn to_json(&self) -> Option<Value> {
        Some(Value::from(*self))
    }

    fn from_json(value: &Value) -> Result<Self, FieldError> {
        // JavaScript and Python clients write 500.0.
        let whole = |number: f64| {
            number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number)
        };
        let float = value.as_f64().filter(|number| whole(*number));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is whole and in range"
        )]
        let float = float.map(|number| number as Self);
        value.as_u64().or(float).ok_or_else(|| FieldError::new("must be a whole number, 0 or more"))
    }
}

/// Any object.
impl Field for Map<String, Value> {
    fn to_json(&self) -> Option<Value> {
        Some(Value::Object(self.clone()))
    }

    fn from_json(value: &Value) -> Result<Self, FieldError> {
        object(value).cloned()
    }
}

/// Any value.
impl Field for Value {
    fn to_json(&self) -> Option<Value> {
        Some(self.clone())
    }

    fn from_json(value: &Value) -> Result<Self, FieldError> {
        Ok(value.clone())
    }

    fn absent() -> Result<Self, FieldError> {
        Ok(Self::Null)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem<T: Field + std::fmt::Debug>(value: Value) -> String {
        let object = Map::from_iter([("x".to_owned(), value)]);
        get::<T>(&object, "x").unwrap_err().message()
    }

    #[test]
    fn refusals_name_the_field() {
        assert_eq!(problem::<f64>(json!("left")), "`x` must be a number");
        assert_eq!(problem::<f64>(json!(null)), "`x` is missing");
        assert_eq!(problem::<u64>(json!(-1)), "`x` must be a whole number, 0 or more");
        assert_eq!(problem::<u64>(json!(1.5)), "`x` must be a whole number, 0 or more");
        assert_eq!(problem::<Vec<String>>(json!(["a", 1])), "`x[1]` must be a text");
        assert_eq!(problem::<Vec<String>>(json!({})), "`x` must be a list");
        let nested = FieldError::new("is missing").inside("y").at(2).inside("actions");
        assert_eq!(nested.message(), "`actions[2].y` is missing");
    }

    #[test]
    fn numbers_are_read_as_clients_write_them() {
        assert_eq!(f64::from_json(&json!("0.5")), Ok(0.5));
        assert_eq!(u64::from_json(&json!(500.0)), Ok(500));
        assert_eq!(bool::from_json(&json!(1)), Ok(true));
    }
}
