//! An in-process MCP client, for our own callers.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Map, Value};
use thumbwire_device::{Format, Image};

use super::serve;
use thumbwire_core::action::Perform;
use thumbwire_core::toolset::{Content, Reply, Toolset};

/// An MCP session with a toolset of this process, over in-memory pipes.
pub struct Client {
    running: RunningService<RoleClient, ()>,
}

/// Why a client got no response. Failures of a tool are replies, not errors.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ClientError(String);

impl Client {
    /// Starts a server for the toolset and opens a session with it.
    pub async fn connect(
        toolset: Arc<Toolset>,
        perform: Arc<dyn Perform>,
    ) -> Result<Self, ClientError> {
        // Large enough to avoid passing screenshots in small chunks.
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        tokio::spawn(async move {
            if let Err(error) = serve(toolset, perform, reader, writer).await {
                tracing::error!("{error}");
            }
        });
        let running = ().serve(ours).await.map_err(|error| ClientError(error.to_string()))?;
        Ok(Self { running })
    }

    /// Calls a tool.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Reply, ClientError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let result = self.running.call_tool(params).await;
        let result = result.map_err(|error| ClientError(error.to_string()))?;
        Ok(reply(result))
    }
}

/// Converts a server's result; content types that our tools never use are dropped.
fn reply(result: CallToolResult) -> Reply {
    let content = result.content.into_iter().filter_map(|part| match part {
        ContentBlock::Text(text) => Some(Content::Text(text.text)),
        ContentBlock::Image(image) => {
            let format = Format::from_mime(&image.mime_type)?;
            let bytes = STANDARD.decode(image.data).ok()?.into();
            Some(Content::Image(Image { format, bytes }))
        }
        _ => None,
    });
    Reply {
        structured: result.structured_content,
        is_error: result.is_error.unwrap_or(false),
        ..Reply::parts(content.collect())
    }
}
