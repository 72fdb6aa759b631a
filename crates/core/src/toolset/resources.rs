//! The resources of a toolset: what its clients can read without calling a tool (MCP, "Resources").
//!
//! A caller brings a [`ResourceProvider`]; nothing here knows the protocol, `mcp` writes its messages.

use async_trait::async_trait;

use crate::action::{Call, Failure, Perform};

/// A resource, or its link in a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceInfo {
    /// Its URI.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Its MIME type.
    pub mime: String,
    /// Its size in bytes, if known.
    pub bytes: Option<u64>,
}

/// Resources whose URIs have a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceTemplate {
    /// The URI with parameters, as in RFC 6570: `thumbwire://screen/{device}`.
    pub uri: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// The MIME type of its resources.
    pub mime: &'static str,
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceContents {
    /// Its URI.
    pub uri: String,
    /// Its MIME type.
    pub mime: String,
    /// The data.
    pub data: ResourceData,
}

/// The data of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceData {
    /// Text.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

/// Why a resource could not be read.
#[derive(Debug)]
pub enum ResourceError {
    /// There is none with this URI for this client.
    NotFound,
    /// It could not be read now.
    Failed(Failure),
    /// It could not be read, for this reason.
    Unreadable(String),
}

/// The resources of a toolset.
#[async_trait]
pub trait ResourceProvider: Send + Sync {
    /// Resources whose URIs have a parameter.
    fn templates(&self) -> Vec<ResourceTemplate>;

    /// The resources that the client of this call can read now.
    async fn list(&self, call: &Call, perform: &dyn Perform) -> Vec<ResourceInfo>;

    /// Reads a resource.
    ///
    /// # Errors
    /// If there is none for the client of this call, or it cannot be read.
    async fn read(
        &self,
        uri: &str,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<ResourceContents, ResourceError>;

    /// Now, for [`added_since`](Self::added_since).
    fn mark(&self) -> u64 {
        0
    }

    /// The resources that calls of this client have added since then.
    fn added_since(&self, _mark: u64, _client: &str) -> Vec<ResourceInfo> {
        Vec::new()
    }
}
