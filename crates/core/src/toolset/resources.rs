//! The resources of a toolset: what its clients can read without calling a tool (MCP, "Resources").
//!
//! A caller brings a [`ResourceProvider`]; nothing here knows the protocol, `mcp` writes its
//! messages.

use std::path::Path;

use async_trait::async_trait;

use crate::action::{Call, ClientId, Failure, Perform};

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

    /// Lets the client of a call read this file from now on.
    async fn keep(&self, _client: &ClientId, _file: &Path) {}

    /// A client has left: nothing is kept for it any more.
    fn client_left(&self, _client: &ClientId) {}

    /// Now, for [`added_since`](Self::added_since).
    fn mark(&self) -> u64 {
        0
    }

    /// The resources that calls of this client have added since then.
    fn added_since(&self, _mark: u64, _client: &ClientId) -> Vec<ResourceInfo> {
        Vec::new()
    }

    /// Whether clients can be notified of changes.
    fn tells_changes(&self) -> bool {
        false
    }

    /// Waits until calls of this client have added resources since the mark; returns the mark of
    /// now.
    async fn list_changed(&self, _mark: u64, _client: &ClientId) -> u64 {
        std::future::pending().await
    }

    /// Whether the resource with this URI may change, so that a client can subscribe to it.
    fn can_change(&self, _uri: &str) -> bool {
        false
    }

    /// What the resource shows now, as a number that is another one when it shows something else;
    /// `None` if it cannot be read. Never acts.
    async fn state(&self, _uri: &str, _call: &Call, _perform: &dyn Perform) -> Option<u64> {
        None
    }

    /// The number of acts so far. Each may have changed something.
    fn acts(&self) -> u64 {
        0
    }

    /// Waits until there have been more acts.
    async fn acted(&self, _acts: u64) {
        std::future::pending().await
    }
}
