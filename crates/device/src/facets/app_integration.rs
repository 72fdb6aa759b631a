//! What apps offer to other programs: services that take Intents, and Android's AppFunctions.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{AppId, Error};

/// Finds, starts and calls the services and functions of apps.
#[async_trait]
pub trait AppIntegration: Send + Sync {
    /// The services that handle an action, in the phone's order, without duplicates.
    async fn find_services(&self, action: &str) -> Result<Vec<Component>, Error>;

    /// Starts a service with string extras. For a service that replies, use
    /// [`AppIntegration::call_service`] instead. Nothing was sent if the error is
    /// [`Error::Refused`] or [`Error::NotReady`].
    async fn start_service(&self, request: &ServiceRequest) -> Result<(), Error>;

    /// Starts a service with string extras and a callback, and waits up to `limit` for its reply.
    /// Requires our helper on the phone; without it, fails with [`Error::HelperMissing`] and sends
    /// nothing.
    async fn call_service(
        &self,
        request: &ServiceRequest,
        limit: Duration,
    ) -> Result<ServiceReply, Error>;

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

/// A component of an app, by its full class name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Component {
    /// The app.
    pub app: AppId,
    /// Full class name.
    pub class: String,
}

impl fmt::Display for Component {
    /// As Android writes it: `package/full.Class`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.app, self.class)
    }
}

/// An Intent for a service, with string extras.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceRequest {
    /// The service.
    pub to: Component,
    /// String extras, in order.
    pub extras: Vec<(String, String)>,
    /// Names of the extras that carry the callback.
    pub callbacks: Vec<String>,
    /// Names of the extras to return from the reply.
    pub result_extras: Vec<String>,
}

/// The result of an Intent with a callback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceReply {
    /// The service called back.
    Answered(CallbackResult),
    /// The service was started but did not call back in time. It may have acted.
    NoReply,
    /// The service was not started.
    NotStarted(StartServiceError),
}

/// A service's reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallbackResult {
    /// Result code.
    pub code: i32,
    /// String extras, limited to the requested names.
    pub extras: Vec<(String, String)>,
    /// The Linux uid of the sender, if the phone reports it.
    pub uid: Option<u32>,
}

/// Why a service was not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartServiceError {
    /// There is no such service.
    NotFound,
    /// The phone denied it: the service is not exported, or requires a permission. Holds the
    /// phone's message.
    Refused(String),
    /// The app may not be started from the background now. Holds the phone's message.
    BackgroundRestricted(String),
    /// The extras exceed what an Intent can carry.
    TooLarge {
        /// The maximum size, in UTF-16 units.
        max: usize,
    },
}
