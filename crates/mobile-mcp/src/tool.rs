//! The tool's end: what section 3.2 demands of a service.

use super::request::Asked;
use super::{Capability, Descriptor, Dialect, Extras, Keys, Response, Status, VERSION, Values};

/// What a capability gives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    /// By name; their types are the descriptor's.
    pub values: Values,
    /// In words; empty for none.
    pub message: String,
}

/// An app's own part.
pub trait Tool {
    /// What it can do.
    fn descriptor(&self) -> &Descriptor;

    /// Does it. The arguments fit the descriptor.
    ///
    /// # Errors
    /// Why not, for the answer's message.
    fn call(&mut self, capability: &str, arguments: &Values) -> Result<Output, String>;
}

/// Does for a [`Tool`] what the specification demands of a service.
#[derive(Debug)]
pub struct Dispatcher<T>(pub T);

impl<T: Tool> Dispatcher<T> {
    /// Handles an Intent's text extras and gives those of the answer; `None` where the specification has nothing to answer by: there is no
    /// request, or it has no id. Real tools stay silent then.
    pub fn handle(&mut self, extras: &Extras) -> Option<Extras> {
        let asked = Asked::read(extras, &Keys::default()).ok()?;
        let capability = self.0.descriptor().capability(&asked.capability).cloned();
        let (status, output) = match self.done(&asked, capability.as_ref()) {
            Ok(output) => (Status::Success, output),
            Err(message) => (Status::Failure, Output { message, ..Output::default() }),
        };
        let response = Response {
            id: asked.id,
            capability: asked.capability,
            status,
            message: output.message,
            output: output.values,
        };
        Some(response.extras(capability.as_ref(), asked.dialect))
    }

    /// The steps of section 3.2 in its order: the version, the capability, its parameters, the call. The words for an unknown capability
    /// and for missing arguments begin as the authors' sample app has them.
    fn done(&mut self, asked: &Asked, capability: Option<&Capability>) -> Result<Output, String> {
        match (asked.version.as_deref(), asked.dialect) {
            (Some(VERSION), _) | (None, Dialect::Bare) => {}
            (Some(version), _) => {
                return Err(format!("Unsupported version: {version}. This tool speaks {VERSION}."));
            }
            (None, Dialect::Envelope) => {
                return Err(format!("Missing version. This tool speaks {VERSION}."));
            }
        }
        let capability =
            capability.ok_or_else(|| format!("Unknown capability ID: {}", asked.capability))?;
        let arguments = asked.arguments.as_ref().map_err(|why| format!("Invalid args. {why}."))?;
        if let Some(refusal) = capability.refusal(arguments) {
            let missing = capability
                .input
                .iter()
                .any(|param| param.required && !arguments.contains_key(&param.name));
            let begin = if missing { "Missing args." } else { "Invalid args." };
            return Err(format!("{begin} {refusal}."));
        }
        self.0.call(&asked.capability, arguments)
    }
}
