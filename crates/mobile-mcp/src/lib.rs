//! The Mobile-MCP Intent protocol 1.0 from both ends: how an Android app declares capabilities, how
//! an agent calls one, and how the tool responds. Section numbers refer to the Mobile-MCP protocol
//! specification.
//!
//! A tool app declares a service ([`declaration`]) and a descriptor of its capabilities
//! ([`descriptor`]). Each rule that they can violate is a [`Rule`]; each violation is a
//! [`Finding`]. An agent writes a [`Request`], tracks it in [`PendingRequests`], and reads the
//! [`Response`]. A tool implements [`Tool`]; [`Dispatcher`] does the rest of section 3.2.
//!
//! ```
//! use thumbwire_mobile_mcp::{descriptor, Descriptor, Dispatcher, ExtraKeys, Output, Request, Response, Status, Tool, Values};
//!
//! struct Lamp(Descriptor);
//!
//! impl Tool for Lamp {
//!     fn descriptor(&self) -> &Descriptor {
//!         &self.0
//!     }
//!
//!     fn call(&mut self, _capability: &str, _arguments: &Values) -> Result<Output, String> {
//!         Ok(Output { message: "It is on.".into(), ..Output::default() })
//!     }
//! }
//!
//! let xml = r#"<mobile-mcp-capabilities version="1.0">
//!   <capability id="light" description="Turns the lamp on." version="1"/>
//! </mobile-mcp-capabilities>"#;
//! let mut tool = Dispatcher(Lamp(descriptor::read(xml).descriptor));
//!
//! let request = Request { id: "1".into(), capability: "light".into(), arguments: Values::new() };
//! let answer = tool.handle(&request.extras(&ExtraKeys::default())).expect("the request has an id");
//! let answer = Response::read(&answer, &ExtraKeys::default())?;
//! assert_eq!((answer.status, answer.message.as_str()), (Status::Success, "It is on."));
//! # Ok::<(), thumbwire_mobile_mcp::MalformedResponse>(())
//! ```
//!
//! No I/O, clock or Android: Intents are [`Extras`], the caller supplies the time, and XML is text
//! or an [`Element`] that an APK reader made from a compiled file.

pub mod declaration;
pub mod descriptor;
mod element;
mod mismatch;
mod pending;
mod request;
mod response;
mod rule;
mod tool;
mod xml;

pub use declaration::Declaration;
pub use descriptor::{Capability, Descriptor, Param, ParamType, ParsedDescriptor};
pub use element::{Attribute, Element, SourcePosition, Value};
pub use mismatch::ArgumentMismatch;
pub use pending::{PendingRequests, ResponseMatch};
pub use request::{ExtraKeys, IncomingRequest, Request, RequestError, RequestFormat};
pub use response::{MalformedResponse, Response, Status};
pub use rule::{Finding, Mode, Rule, RuleSubject, table};
pub use tool::{Dispatcher, Output, Tool};

/// The protocol version implemented here, as written in descriptors, requests and responses.
pub const VERSION: &str = "1.0";

/// The Intent action that marks a service as a tool (section 1.1.1).
pub const ACTION: &str = "mobile.mcp.SERVICE";

/// The text extras of an Intent, by key. Other extras, such as the callback, are left to the
/// transport.
pub type Extras = std::collections::BTreeMap<String, String>;

/// Argument or output values by parameter name.
pub type Values = serde_json::Map<String, serde_json::Value>;

/// Limit on the characters of an id or a name.
const MAX_NAME: usize = 256;

/// Limit on the characters kept of a description or a message.
const MAX_DESCRIPTION: usize = 4_000;
