//! The tool's end: what section 3.2 requires of a service.

use super::request::IncomingRequest;
use super::{
    Capability, Descriptor, ExtraKeys, Extras, RequestFormat, Response, Status, VERSION, Values,
};

/// The result of a capability.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    /// Output values by name; the descriptor has their types.
    pub values: Values,
    /// A message; empty for none.
    pub message: String,
}

/// What an app implements.
pub trait Tool {
    /// The tool's descriptor.
    fn descriptor(&self) -> &Descriptor;

    /// Runs a capability. The arguments match the descriptor.
    ///
    /// # Errors
    /// The reason for the failure, used as the response's message.
    fn call(&mut self, capability: &str, arguments: &Values) -> Result<Output, String>;
}

/// Does for a [`Tool`] what the specification requires of a service.
#[derive(Debug)]
pub struct Dispatcher<T>(pub T);

impl<T: Tool> Dispatcher<T> {
    /// Handles an Intent's text extras and returns those of the response; `None` without a request
    /// or a request id. Real tools stay silent then, too.
    pub fn handle(&mut self, extras: &Extras) -> Option<Extras> {
        let request = IncomingRequest::read(extras, &ExtraKeys::default()).ok()?;
        let capability = self.0.descriptor().capability(&request.capability).cloned();
        let (status, output) = match self.success(&request, capability.as_ref()) {
            Ok(output) => (Status::Success, output),
            Err(message) => (Status::Failure, Output { message, ..Output::default() }),
        };
        let response = Response {
            id: request.id,
            capability: request.capability,
            status,
            message: output.message,
            output: output.values,
        };
        Some(response.extras(capability.as_ref(), request.dialect))
    }

    /// Section 3.2, step by step: version, capability, parameters, call. The messages for an
    /// unknown capability and for missing arguments begin like those of the authors' sample app.
    fn success(
        &mut self,
        request: &IncomingRequest,
        capability: Option<&Capability>,
    ) -> Result<Output, String> {
        match (request.version.as_deref(), request.dialect) {
            (Some(VERSION), _) | (None, RequestFormat::Bare) => {}
            (Some(version), _) => {
                return Err(format!("Unsupported version: {version}. This tool speaks {VERSION}."));
            }
            (None, RequestFormat::Envelope) => {
                return Err(format!("Missing version. This tool speaks {VERSION}."));
            }
        }
        let capability =
            capability.ok_or_else(|| format!("Unknown capability ID: {}", request.capability))?;
        let arguments =
            request.arguments.as_ref().map_err(|reason| format!("Invalid args. {reason}."))?;
        if let Some(refusal) = capability.argument_error(arguments) {
            let missing = capability
                .input
                .iter()
                .any(|param| param.required && !arguments.contains_key(&param.name));
            let begin = if missing { "Missing args." } else { "Invalid args." };
            return Err(format!("{begin} {refusal}."));
        }
        self.0.call(&request.capability, arguments)
    }
}
