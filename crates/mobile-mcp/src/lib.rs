//! The Mobile-MCP Intent protocol 1.0 (seed 001), both ends: how an Android app declares capabilities, how an agent asks for one, how a
//! tool answers.
//!
//! A tool app declares a service ([`declaration`]) and a descriptor of its capabilities ([`descriptor`]); each rule of the specification
//! that they can break is a [`Rule`], and what was found a [`Finding`]. An agent writes a [`Request`], keeps it in [`Pending`], and reads
//! what comes back as a [`Response`]. A tool implements [`Tool`]; [`Dispatcher`] does for it what section 3.2 demands.
//!
//! ```
//! use thumbwire_mobile_mcp::{descriptor, Descriptor, Dispatcher, Keys, Output, Request, Response, Status, Tool, Values};
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
//! let answer = tool.handle(&request.extras(&Keys::default())).expect("the request has an id");
//! let answer = Response::read(&answer, &Keys::default())?;
//! assert_eq!((answer.status, answer.message.as_str()), (Status::Success, "It is on."));
//! # Ok::<(), thumbwire_mobile_mcp::Broken>(())
//! ```
//!
//! [`conformance`] tries whether an app, a tool or an agent keeps the specification; [`words::harmless`] makes an app's words fit to be shown.
//!
//! No I/O, no clock, no Android: Intents are [`Extras`], time is handed in, and XML comes as text or as an [`Element`] that whoever reads
//! APKs made of a compiled file.

mod check;
pub mod conformance;
pub mod declaration;
pub mod descriptor;
mod element;
mod finding;
mod misfit;
mod pending;
mod request;
mod response;
mod tool;
pub mod words;
mod xml;

pub use declaration::Declaration;
pub use descriptor::{Capability, Descriptor, Kind, Param, Reading};
pub use element::{Attribute, Element, Place, Value};
pub use finding::{Finding, Mode, Part, Rule, table};
pub use misfit::Misfit;
pub use pending::{Heard, Pending};
pub use request::{Asked, Dialect, Keys, Request, Silence};
pub use response::{Broken, Response, Status};
pub use tool::{Dispatcher, Output, Tool};

/// The version of the protocol that is spoken here, as it stands in descriptors, requests and responses.
pub const VERSION: &str = "1.0";

/// The Intent action by which a service says that it is a tool (section 1.1.1).
pub const ACTION: &str = "mobile.mcp.SERVICE";

/// The text extras of an Intent, by key. What is no text (a callback) is known by its key alone to whoever carries it.
pub type Extras = std::collections::BTreeMap<String, String>;

/// The values of a call or of an answer, by the names of the parameters.
pub type Values = serde_json::Map<String, serde_json::Value>;
