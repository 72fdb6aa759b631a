//! Functions that apps offer to the system, since Android 16 (`android.app.appfunctions`): which there are, which are on, and calling one.
//!
//! Begin at [`World::call_app_function`]. An app says what it offers by [`App::functions`](super::app::App::functions) and does it in
//! [`App::call`](super::app::App::call), to the very state that its screens show. Here are the rules of `AppFunctionManagerServiceImpl`
//! and of the code that androidx.appfunctions generates around a function: it exists, it is on, its parameters are of their types. The
//! shell may call any of them, because it holds `EXECUTE_APP_FUNCTIONS`.
//!
//! Not here: how that is written down (`programs/app_function`), functions of APKs, activities that offer functions for a while.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::World;
use super::app::Reach;
use super::services::ServiceName;
use super::tasks::Installed;

/// A function of an app.
#[derive(Debug)]
pub(crate) struct AppFunction {
    /// The class that has it and its name, as in `com.x.Functions#doIt`.
    pub(crate) id: &'static str,
    pub(crate) description: &'static str,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) returns: Kind,
}

/// A parameter of a function.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
}

/// The type of a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Boolean,
    Int,
    Text,
    Object(&'static Shape),
    List(&'static Shape),
}

/// The type of an object, by its class name; its members are never left out.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) members: &'static [(&'static str, Kind)],
}

/// What a function is called with: each property has a list of values of one type, as in a `GenericDocument`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Given(pub(crate) Map<String, Value>);

impl Given {
    /// The first text of a property.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.first(name)?.as_str()
    }

    /// The first number of a property.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.first(name)?.as_i64()
    }

    fn first(&self, name: &str) -> Option<&Value> {
        self.0.get(name)?.as_array()?.first()
    }
}

/// Why a function gave nothing: the message of an `AppFunctionException`, or no word at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotCalled {
    Thrown(String),
    Silent,
}

/// A function, and how it was switched; `None` where nobody did.
pub(crate) type Listed = (&'static AppFunction, Option<bool>);

/// What was set of functions, by package and id: on or off.
pub(crate) type Switched = BTreeMap<(String, String), bool>;

impl World {
    /// The packages that offer functions, with those.
    pub(crate) fn app_functions(&self) -> Vec<(&str, Vec<Listed>)> {
        let offering = self.apps.iter().filter(|app| !app.app.functions().is_empty());
        offering
            .map(|app| {
                let package = app.manifest.package.as_str();
                let switched = |id: &str| {
                    self.switched_functions.get(&(package.to_owned(), id.to_owned())).copied()
                };
                let functions = app.app.functions().iter();
                (package, functions.map(|it| (it, switched(it.id))).collect())
            })
            .collect()
    }

    /// Switches a function on or off, or back to how its app has it. `false` when there is no such function.
    pub(crate) fn switch_app_function(
        &mut self,
        package: &str,
        id: &str,
        on: Option<bool>,
    ) -> bool {
        if self.app_function(package, id).is_none() {
            return false;
        }
        let key = (package.to_owned(), id.to_owned());
        match on {
            Some(on) => drop(self.switched_functions.insert(key, on)),
            None => drop(self.switched_functions.remove(&key)),
        }
        true
    }

    /// Calls a function; what it gives, and how long that takes it. The app's process is started if it does not run.
    ///
    /// # Errors
    /// [`NotCalled::Thrown`] with what is told, [`NotCalled::Silent`] of an app that hangs.
    pub(crate) fn call_app_function(
        &mut self,
        package: &str,
        id: &str,
        given: &Given,
    ) -> Result<(Value, Duration), NotCalled> {
        let thrown = |why: &str| NotCalled::Thrown(why.to_owned());
        let (at, function) =
            self.app_function(package, id).ok_or_else(|| thrown("App function not found."))?;
        if self.switched_functions.get(&(package.to_owned(), id.to_owned())) == Some(&false) {
            return Err(thrown("The app function is disabled"));
        }
        let class = id.split('#').next().unwrap_or(id).to_owned();
        let service = ServiceName { package: package.to_owned(), class };
        let (_, takes) = self.process_for_service(at, &service);
        if !self.responds(package) {
            return Err(NotCalled::Silent);
        }
        function.check(given).map_err(NotCalled::Thrown)?;
        let (now, in_front) = (self.uptime, self.screen_on && self.foreground().package == package);
        let Installed { app, store, .. } = &mut self.apps[at];
        let mut reach = Reach { store, now, in_front, asked: Vec::new() };
        let given = app.call(id, given, &mut reach);
        let asked = reach.asked;
        self.next_wake = None;
        for request in asked {
            self.fulfil(package, request);
        }
        self.settle();
        given.map(|value| (value, takes)).map_err(NotCalled::Thrown)
    }

    fn app_function(&self, package: &str, id: &str) -> Option<(usize, &'static AppFunction)> {
        let at = self.app_index(package)?;
        let function = self.apps[at].app.functions().iter().find(|it| it.id == id)?;
        Some((at, function))
    }
}

impl AppFunction {
    /// Holds what is given against the parameters: what must be there is, and all is of its type.
    fn check(&self, given: &Given) -> Result<(), String> {
        for parameter in self.parameters {
            let name = parameter.name;
            let right = match parameter.kind {
                Kind::Text => given.text(name).is_some(),
                Kind::Int => given.number(name).is_some_and(|it| i32::try_from(it).is_ok()),
                Kind::Boolean => given.first(name).is_some_and(Value::is_boolean),
                Kind::Object(_) | Kind::List(_) => given.0.contains_key(name),
            };
            if given.0.contains_key(name) && !right {
                return Err(format!("Parameter {name} has another type"));
            }
            if parameter.required && !right {
                return Err(format!("Parameter {name} is required"));
            }
        }
        Ok(())
    }
}
