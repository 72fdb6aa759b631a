//! The tools that apps offer to programs, and the results of calling them.

use std::sync::Arc;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use thumbwire_device::{AppId, Component};

/// The tools of all apps on a phone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// One entry per app, in the phone's order.
    pub apps: Vec<Arc<AppTools>>,
    /// How long each phase of discovery took.
    pub phases: Vec<(AppToolPhase, Duration)>,
}

impl Catalog {
    /// The tools of this app.
    pub fn of(&self, app: &AppId) -> Option<&Arc<AppTools>> {
        self.apps.iter().find(|tools| tools.app == *app)
    }
}

/// The tools of one app.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppTools {
    /// The app.
    pub app: AppId,
    /// The protocol that offers them.
    pub by: AppToolProtocol,
    /// The app's display name, as the app gives it.
    pub name: String,
    /// The app's description, as the app gives it.
    pub description: String,
    /// Its version code.
    pub version: u64,
    /// SHA-256 of its signing certificate, in hexadecimal; empty if unknown.
    pub certificate: String,
    /// Whether its tools may be called.
    pub trusted: TrustStatus,
    /// Its tools, in its order.
    pub tools: Vec<AppTool>,
    /// Which rules of its protocol it breaks.
    pub complaints: Vec<AppToolFinding>,
}

/// A protocol by which apps offer tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppToolProtocol {
    /// The Mobile-MCP Intent protocol.
    MobileMcp,
    /// Android's AppFunctions.
    AppFunctions,
}

impl AppToolProtocol {
    /// The name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::MobileMcp => "mobile-mcp",
            Self::AppFunctions => "app-functions",
        }
    }
}

/// Whether an app's tools may be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustStatus {
    /// Yes: the operator allows the app, and it is unchanged since it was pinned.
    Yes,
    /// The operator does not allow the app.
    NotAllowed,
    /// Its signing certificate differs from the pinned one.
    OtherSigner,
    /// Its tools changed since the operator accepted them. Holds what changed.
    Changed(String),
}

impl TrustStatus {
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

/// One tool of an app.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppTool {
    /// Its id in the app.
    pub id: String,
    /// What it does, as the app describes it.
    pub description: String,
    /// Its own version as the app writes it; empty if it has none.
    pub version: String,
    /// The service that implements it; `None` if the platform finds it.
    pub service: Option<Component>,
    /// Its parameters, in order.
    pub input: Vec<Parameter>,
    /// Its outputs, in order.
    pub output: Vec<Parameter>,
    /// The JSON schema of its arguments, if it has one that says more than `input`.
    pub schema: Option<Map<String, Value>>,
}

/// An input or output value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its JSON type: `string`, `boolean`, `integer`, `number`; AppFunctions also have `array` and
    /// `object`.
    #[serde(deserialize_with = "json_type")]
    pub kind: JsonType,
    /// Whether a call must have it.
    pub required: bool,
    /// What it is, as the app describes it.
    pub description: String,
}

/// The name of a JSON type. As a type of its own, so that it is not read as a part of its input.
pub(super) type JsonType = &'static str;

fn json_type<'de, D: Deserializer<'de>>(input: D) -> Result<JsonType, D::Error> {
    const TYPES: [&str; 6] = ["string", "boolean", "integer", "number", "array", "object"];
    let name = String::deserialize(input)?;
    let found = TYPES.into_iter().find(|known| *known == name);
    found.ok_or_else(|| D::Error::unknown_variant(&name, &TYPES))
}

/// A protocol rule that an app breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppToolFinding {
    /// The rule's name.
    pub rule: String,
    /// Whether the app, or the tool concerned, cannot be used because of it.
    pub fatal: bool,
    /// What is wrong and what would be valid.
    pub message: String,
}

/// A call of an app's tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppToolCall {
    /// The app.
    pub app: AppId,
    /// The full class name of the service, if several services of the app have the tool.
    pub service: Option<String>,
    /// The tool's id.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// Whether to send it without waiting for the reply. Without our helper on the phone nothing
    /// else is possible.
    pub send_only: bool,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppToolResult {
    /// The app.
    pub app: AppId,
    /// The tool's id.
    pub tool: String,
    /// The app's reply.
    pub heard: AppToolReply,
    /// How long each phase took.
    pub phases: Vec<(AppToolPhase, Duration)>,
}

/// An app's reply to a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppToolReply {
    /// The app replied.
    Answer {
        /// Whether it reports success.
        success: bool,
        /// The app's message; may be empty.
        message: String,
        /// Its outputs by name.
        output: Map<String, Value>,
        /// What is unusual about the reply.
        warnings: Vec<String>,
    },
    /// The call was sent; no reply can arrive.
    Sent,
}

/// A phase of discovery or of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppToolPhase {
    /// Lists the services.
    Query,
    /// Asks the package manager about the apps.
    Package,
    /// Fetches and reads the needed parts of their packages.
    Read,
    /// Lists Android's AppFunctions.
    Functions,
    /// Checks arguments and trust.
    Check,
    /// From the request to the answer.
    Invoke,
}

impl AppToolPhase {
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
