//! App functions: lists, enables and calls them.

use crate::functions::{AppFunction, FunctionArgs, FunctionError, ListedFunction};
use crate::services::ServiceName;
use crate::world::World;
use serde_json::Value;
use std::time::Duration;

impl World {
    /// The packages that offer functions, with their functions.
    pub fn app_functions(&self) -> Vec<(&str, Vec<ListedFunction>)> {
        let offering = self.apps.iter().filter(|app| !app.app.functions().is_empty());
        offering
            .map(|app| {
                let package = app.manifest.package.as_str();
                let switched = |id: &str| self.functions.get(package, id);
                let functions = app.app.functions().iter();
                (package, functions.map(|it| (it, switched(it.id))).collect())
            })
            .collect()
    }

    /// Enables or disables a function, or restores its default. `false` if there is no such
    /// function.
    pub fn switch_app_function(&mut self, package: &str, id: &str, on: Option<bool>) -> bool {
        if self.app_function(package, id).is_none() {
            return false;
        }
        self.functions.set(package, id, on);
        true
    }

    /// Calls a function. Returns its result and how long it takes. Starts the app's process if
    /// needed.
    ///
    /// # Errors
    /// [`NotCalled::Thrown`] with the message, [`NotCalled::Silent`] if the app hangs.
    pub fn call_app_function(
        &mut self,
        package: &str,
        id: &str,
        args: &FunctionArgs,
    ) -> Result<(Value, Duration), FunctionError> {
        let thrown = |reason: &str| FunctionError::Thrown(reason.to_owned());
        let (at, function) =
            self.app_function(package, id).ok_or_else(|| thrown("App function not found."))?;
        if self.functions.get(package, id) == Some(false) {
            return Err(thrown("The app function is disabled"));
        }
        let class = id.split('#').next().unwrap_or(id).to_owned();
        let service = ServiceName { package: package.to_owned(), class };
        let (_, takes) = self.process_for_service(at, &service);
        if !self.responds(package) {
            return Err(FunctionError::Silent);
        }
        function.check(args).map_err(FunctionError::Thrown)?;
        let given = self.with_app(at, |app, reach| app.call(id, args, reach));
        self.rebuild();
        given.map(|value| (value, takes)).map_err(FunctionError::Thrown)
    }

    fn app_function(&self, package: &str, id: &str) -> Option<(usize, &'static AppFunction)> {
        let at = self.apps.position(package)?;
        let function = self.apps[at].app.functions().iter().find(|it| it.id == id)?;
        Some((at, function))
    }
}
