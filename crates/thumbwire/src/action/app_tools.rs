//! What apps offer to programs, and what they answer.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use thumbwire_device::{AppId, Component};

/// What the apps on a phone offer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    /// By app, in the phone's order.
    pub apps: Vec<Arc<AppTools>>,
    /// How long each part of finding them out took.
    pub phases: Vec<(Phase, Duration)>,
}

impl Catalog {
    /// The app's tools.
    pub fn of(&self, app: &AppId) -> Option<&Arc<AppTools>> {
        self.apps.iter().find(|tools| tools.app == *app)
    }
}

/// What one app offers.
#[derive(Debug, Clone, PartialEq)]
pub struct AppTools {
    /// The app.
    pub app: AppId,
    /// By which protocol.
    pub by: By,
    /// Its name, for people: the app's own words.
    pub name: String,
    /// What it is for: the app's own words.
    pub description: String,
    /// Its version, as the phone compares it.
    pub version: u64,
    /// SHA-256 of the certificate that it is signed with, in hexadecimal digits; empty where it is not known.
    pub certificate: String,
    /// Whether its tools may be called.
    pub trusted: Trusted,
    /// What it offers, in its order.
    pub tools: Vec<AppTool>,
    /// What it has against the rules of its protocol.
    pub complaints: Vec<Complaint>,
}

/// A protocol by which apps offer something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The Mobile-MCP Intent protocol (seed 001).
    MobileMcp,
    /// Android's AppFunctions.
    AppFunctions,
}

impl By {
    /// The name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::MobileMcp => "mobile-mcp",
            Self::AppFunctions => "app-functions",
        }
    }
}

/// Whether an app's tools may be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trusted {
    /// They may: the operator allows the app, and it is as it was when it was first used.
    Yes,
    /// The operator does not allow the app.
    NotAllowed,
    /// It is signed by somebody else than when it was first used.
    OtherSigner,
    /// It offers other things than when it was last agreed to: what changed, in words.
    Changed(String),
}

impl Trusted {
    /// The name used in output.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::NotAllowed => "not_allowed",
            Self::OtherSigner => "other_signer",
            Self::Changed(_) => "changed",
        }
    }
}

/// One thing that an app offers.
#[derive(Debug, Clone, PartialEq)]
pub struct AppTool {
    /// Its id in the app.
    pub id: String,
    /// What it does: the app's own words.
    pub description: String,
    /// The service behind it; `None` where the platform finds it.
    pub service: Option<Component>,
    /// What it takes, in order.
    pub input: Vec<Parameter>,
    /// What it gives, in order.
    pub output: Vec<Parameter>,
    /// The JSON schema of what it takes, where it has one that says more than `input`.
    pub schema: Option<Map<String, Value>>,
}

/// A value that is taken or given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type in JSON: `string`, `boolean`, `integer`, `number`; of the platform's functions also `array`, `object`.
    pub kind: &'static str,
    /// Whether a call must have it.
    pub required: bool,
    /// The app's own words.
    pub description: String,
}

/// Something that an app has against a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The rule's name.
    pub rule: String,
    /// Whether the app, or the part of it that this is about, cannot be used for it.
    pub fatal: bool,
    /// What is wrong and what would be right.
    pub says: String,
}

/// A call of something that an app offers.
#[derive(Debug, Clone, PartialEq)]
pub struct AppCall {
    /// The app.
    pub app: AppId,
    /// The full class name of the service, where an app has several with the same tool.
    pub service: Option<String>,
    /// The tool's id.
    pub tool: String,
    /// What it is called with.
    pub arguments: Map<String, Value>,
    /// Whether it is only sent, and the answer not waited for: all that can be done without our helper on the phone.
    pub send_only: bool,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The app.
    pub app: AppId,
    /// The tool's id.
    pub tool: String,
    /// What was heard of it.
    pub heard: Heard,
    /// How long each part took.
    pub phases: Vec<(Phase, Duration)>,
}

/// What was heard of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// The app did it, or says that it could not.
    Answer {
        /// Whether it did it, by its own words.
        success: bool,
        /// The app's own words; empty where it says nothing.
        message: String,
        /// What it gives, by name.
        output: Map<String, Value>,
        /// What is odd about the answer, for whoever reads it.
        warnings: Vec<String>,
    },
    /// It was sent, and no answer can come.
    Sent,
}

/// A part of finding out or of calling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The services that there are.
    Query,
    /// What the phone knows of the apps.
    Package,
    /// What is needed of their packages, fetched and read.
    Read,
    /// What the platform's own functions are.
    Functions,
    /// Arguments and trust, checked.
    Check,
    /// From the request to the answer.
    Invoke,
}

impl Phase {
    /// The name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Package => "package",
            Self::Read => "read",
            Self::Functions => "functions",
            Self::Check => "check",
            Self::Invoke => "invoke",
        }
    }
}
