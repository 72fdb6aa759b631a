//! An MCP client over streamable HTTP: how our dispatcher reaches the tools of another process.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ServerResult};
use rmcp::service::{PeerRequestOptions, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::ClientError;
use super::client::reply;
use crate::http_token::Token;
use thumbwire_core::toolset::Reply;
use thumbwire_core::toolset::dispatch::Server;

/// The timeout of the handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The default timeout of a call: longer than most of our tools need, shorter than a person waits.
const CALL: Duration = Duration::from_secs(120);

/// An MCP session with a remote server. Calls may run concurrently.
///
/// A restarted server no longer knows the session; then the handshake is repeated once and the call is sent again,
/// which is safe because the server refused it unread. If the connection fails instead, the call may have run: it
/// fails, and the next one reconnects.
pub struct RemoteClient {
    url: String,
    token: Option<Token>,
    limit: Duration,
    running: Mutex<Option<Arc<RunningService<RoleClient, ()>>>>,
}

impl RemoteClient {
    /// Connects to the server at a URL such as `http://127.0.0.1:8020/mcp`, with its token, if any.
    ///
    /// # Errors
    /// If nothing answers within 10 s, the token is wrong, or it is not an MCP server.
    pub async fn connect(url: &str, token: Option<Token>) -> Result<Self, ClientError> {
        let remote = Self { url: url.to_owned(), token, limit: CALL, running: Mutex::new(None) };
        remote.running().await?;
        Ok(remote)
    }

    /// Sets the timeout of calls.
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// If there is no such tool, the server is unreachable, or the call exceeds its timeout: 120 s, or that of
    /// [`with_timeout`](Self::with_timeout). On a timeout the call is cancelled.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Reply, ClientError> {
        let running = self.running().await?;
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::with_timeout(self.limit);
        let answer = async {
            let asked = running.send_cancellable_request(request, options).await?;
            asked.await_response().await
        };
        match answer.await {
            Ok(ServerResult::CallToolResult(result)) => Ok(reply(result)),
            Ok(_) => Err(self.failed("unexpected response to `tools/call`")),
            // The server's own message, as from a server in this process.
            Err(ServiceError::McpError(error)) => Err(ClientError(error.message.into_owned())),
            Err(ServiceError::Timeout { timeout }) => {
                Err(self.failed(format!("no response within {} s", timeout.as_secs_f64())))
            }
            Err(error) => {
                if matches!(error, ServiceError::TransportClosed | ServiceError::TransportSend(_)) {
                    self.drop_connection(&running).await;
                }
                Err(self.failed(error))
            }
        }
    }

    /// The session; opens a new one if there is none.
    async fn running(&self) -> Result<Arc<RunningService<RoleClient, ()>>, ClientError> {
        let mut kept = self.running.lock().await;
        if let Some(running) = kept.as_ref().filter(|running| !running.is_closed()) {
            return Ok(Arc::clone(running));
        }
        let begun = timeout(HANDSHAKE, self.initialize()).await;
        let begun = begun.map_err(|_| self.failed("no response within 10 s"))??;
        Ok(Arc::clone(kept.insert(Arc::new(begun))))
    }

    async fn initialize(&self) -> Result<RunningService<RoleClient, ()>, ClientError> {
        // Fails harmlessly if a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Neither a proxy nor a redirect target may get the token.
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(HANDSHAKE);
        // Plain HTTP also works on a machine without CA certificates.
        let plain = self.url.starts_with("http://");
        let client = if plain { client.tls_certs_only([]) } else { client };
        let client = client.build().map_err(|error| self.failed(error))?;
        let config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str());
        let config = match &self.token {
            Some(token) => config.auth_header(token.reveal()),
            None => config,
        };
        let transport = StreamableHttpClientTransport::with_client(client, config);
        ().serve(transport).await.map_err(|error| self.failed(error))
    }

    /// Drops a failed connection, but keeps a newer one.
    async fn drop_connection(&self, failed: &Arc<RunningService<RoleClient, ()>>) {
        let mut kept = self.running.lock().await;
        if kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, failed)) {
            *kept = None;
        }
    }

    fn failed(&self, reason: impl std::fmt::Display) -> ClientError {
        ClientError(format!("{}: {reason}", self.url))
    }
}

#[async_trait]
impl Server for RemoteClient {
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String> {
        Self::call(self, tool, arguments).await.map_err(|error| error.to_string())
    }
}
