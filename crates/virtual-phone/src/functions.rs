//! Functions that apps offer to the system, since Android 16 (`android.app.appfunctions`): which there are, which are on, and calling one.
//!
//! Begin at `World::call_app_function`. An app says what it offers by [`App::functions`](crate::app::App::functions) and does it in
//! [`App::call`](crate::app::App::call), to the very state that its screens show. Here are the rules of `AppFunctionManagerServiceImpl`
//! and of the code that androidx.appfunctions generates around a function: it exists, it is on, its parameters are of their types. The
//! shell may call any of them, because it holds `EXECUTE_APP_FUNCTIONS`.
//!
//! Not here: how that is written down (`programs/app_function`), functions of APKs, activities that offer functions for a while.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A function of an app.
#[derive(Debug)]
pub struct AppFunction {
    /// The class that has it and its name, as in `com.x.Functions#doIt`.
    pub id: &'static str,
    /// What it does, in words.
    pub description: &'static str,
    /// What it is called with, in order.
    pub parameters: &'static [Parameter],
    /// What it gives.
    pub returns: ValueType,
}

/// A parameter of a function.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it means, in words.
    pub description: &'static str,
    /// Its type.
    pub kind: ValueType,
    /// Whether a call must have it.
    pub required: bool,
}

/// The type of a value.
#[derive(Debug, Clone, Copy)]
pub enum ValueType {
    /// `true` or `false`
    Boolean,
    /// A number of 32 bits.
    Int,
    /// A text.
    Text,
    /// An object.
    Object(&'static ObjectType),
    /// A list of objects.
    List(&'static ObjectType),
}

/// The type of an object, by its class name; its members are never left out.
#[derive(Debug)]
pub struct ObjectType {
    /// The class.
    pub name: &'static str,
    /// Names and types of its members, in order.
    pub members: &'static [(&'static str, ValueType)],
}

/// What a function is called with: each property has a list of values of one type, as in a `GenericDocument`.
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

/// Why a function gave nothing: the message of an `AppFunctionException`, or no word at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FunctionError {
    /// The app threw an exception with this message.
    Thrown(String),
    /// The app hangs.
    Silent,
}

/// A function, and how it was switched; `None` where nobody did.
pub type ListedFunction = (&'static AppFunction, Option<bool>);

/// What was set of functions, by package and id: on or off.
#[derive(Debug, Default)]
pub(crate) struct EnabledStates(BTreeMap<(String, String), bool>);

impl EnabledStates {
    /// How somebody switched a function; `None` where nobody did.
    pub(crate) fn get(&self, package: &str, id: &str) -> Option<bool> {
        self.0.get(&(package.to_owned(), id.to_owned())).copied()
    }

    /// Switches a function on or off, or back to how its app has it.
    pub(crate) fn set(&mut self, package: &str, id: &str, on: Option<bool>) {
        let key = (package.to_owned(), id.to_owned());
        match on {
            Some(on) => drop(self.0.insert(key, on)),
            None => drop(self.0.remove(&key)),
        }
    }
}

impl AppFunction {
    /// Holds what is given against the parameters: what must be there is, and all is of its type.
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
