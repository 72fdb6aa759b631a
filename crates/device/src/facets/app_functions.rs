//! The platform's own functions of apps (Android's AppFunctions).

use async_trait::async_trait;

use crate::{AppId, Error};

/// Lists and calls the functions that apps offer to their system.
#[async_trait]
pub trait AppFunctions: Send + Sync {
    /// The functions of one app or all: the JSON that the phone prints.
    async fn list_functions(&self, app: Option<&AppId>) -> Result<String, Error>;

    /// Calls an app function. `parameters` is a JSON object. Returns the JSON that the phone
    /// prints.
    async fn call_function(
        &self,
        app: &AppId,
        function: &str,
        parameters: &str,
    ) -> Result<String, Error>;
}
