//! App functions, which apps offer to the system since Android 16 (`android.app.appfunctions`):
//! lists, enables and calls them.
//!
//! Start with `World::call_app_function`. An app declares its functions in
//! [`App::functions`](crate::app::App::functions) and runs them in
//! [`App::call`](crate::app::App::call), on the same state that its screens show. The rules are
//! those of `AppFunctionManagerServiceImpl` and of the code that androidx.appfunctions generates: a
//! function must exist and be enabled, and its parameters must have their types. The shell may call
//! all functions, because it holds `EXECUTE_APP_FUNCTIONS`.
//!
//! Not here: output formats (`programs/app_function`), functions of APKs, activities that offer
//! functions temporarily.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A function of an app.
#[derive(Debug)]
pub struct AppFunction {
    /// Class and name, as in `com.x.Functions#doIt`.
    pub id: &'static str,
    /// A description of what it does.
    pub description: &'static str,
    /// Its parameters, in order.
    pub parameters: &'static [Parameter],
    /// The type of its result.
    pub returns: ValueType,
}

/// A parameter of a function.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// A description of its meaning.
    pub description: &'static str,
    /// Its type.
    pub kind: ValueType,
    /// Whether a call must include it.
    pub required: bool,
}

/// The type of a value.
#[derive(Debug, Clone, Copy)]
pub enum ValueType {
    /// `true` or `false`
    Boolean,
    /// A 32-bit number.
    Int,
    /// A text.
    Text,
    /// An object.
    Object(&'static ObjectType),
    /// A list of objects.
    List(&'static ObjectType),
}

/// An object type, by class name; no member is optional.
#[derive(Debug)]
pub struct ObjectType {
    /// The class.
    pub name: &'static str,
    /// Names and types of its members, in order.
    pub members: &'static [(&'static str, ValueType)],
}

/// The arguments of a call: each property has a list of values of one type, as in a
/// `GenericDocument`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FunctionArgs(pub Map<String, Value>);

impl FunctionArgs {
    /// The first text of a property.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.first(name)?.as_str()
    }

    /// The first number of a property.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.first(name)?.as_i64()
    }

    fn first(&self, name: &str) -> Option<&Value> {
        self.0.get(name)?.as_array()?.first()
    }
}

/// Why a function returned nothing: the message of an `AppFunctionException`, or no reply at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FunctionError {
    /// The app threw an exception with this message.
    Thrown(String),
    /// The app hangs.
    Silent,
}

/// A function, and whether it was enabled or disabled explicitly; `None` if neither.
pub type ListedFunction = (&'static AppFunction, Option<bool>);

/// Functions that were enabled or disabled explicitly, by package and id.
#[derive(Debug, Default)]
pub(crate) struct EnabledStates(BTreeMap<(String, String), bool>);

impl EnabledStates {
    /// The explicit setting of a function, if any.
    pub(crate) fn get(&self, package: &str, id: &str) -> Option<bool> {
        self.0.get(&(package.to_owned(), id.to_owned())).copied()
    }

    /// Enables or disables a function, or restores its default.
    pub(crate) fn set(&mut self, package: &str, id: &str, on: Option<bool>) {
        let key = (package.to_owned(), id.to_owned());
        match on {
            Some(on) => drop(self.0.insert(key, on)),
            None => drop(self.0.remove(&key)),
        }
    }
}

impl AppFunction {
    /// Checks arguments against the parameters: required ones exist, and all have their types.
    pub(crate) fn check(&self, args: &FunctionArgs) -> Result<(), String> {
        for parameter in self.parameters {
            let name = parameter.name;
            let right = match parameter.kind {
                ValueType::Text => args.text(name).is_some(),
                ValueType::Int => args.number(name).is_some_and(|it| i32::try_from(it).is_ok()),
                ValueType::Boolean => args.first(name).is_some_and(Value::is_boolean),
                ValueType::Object(_) | ValueType::List(_) => args.0.contains_key(name),
            };
            if args.0.contains_key(name) && !right {
                return Err(format!("Parameter {name} has another type"));
            }
            if parameter.required && !right {
                return Err(format!("Parameter {name} is required"));
            }
        }
        Ok(())
    }
}
