//! A client of a server elsewhere, over streamable HTTP: how a dispatcher of ours reaches the tools of another process.

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
use crate::surface::Reply;
use crate::surface::dispatch::Server;
use crate::token::Token;

/// How long a server may take to shake hands.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How long a call may take, unless told otherwise: longer than any tool of ours, shorter than a person waits.
const CALL: Duration = Duration::from_secs(120);

/// An MCP session with a server elsewhere. Calls may be made at once.
///
/// A server that was started anew no longer knows the session: the handshake is repeated then, once, and the call that
/// met this goes out again, which is safe because it was refused before it was read. When the connection fails instead,
/// the call may have been carried out; it fails, and the next one connects anew.
pub struct Remote {
    url: String,
    token: Option<Token>,
    limit: Duration,
    running: Mutex<Option<Arc<RunningService<RoleClient, ()>>>>,
}

impl Remote {
    /// Connects to the server at a URL such as `http://127.0.0.1:8020/mcp`, with the token that it wants, if any.
    ///
    /// # Errors
    /// When nothing answers there within 10 s, it wants another token, or it is no MCP server.
    pub async fn connect(url: &str, token: Option<Token>) -> Result<Self, ClientError> {
        let remote = Self { url: url.to_owned(), token, limit: CALL, running: Mutex::new(None) };
        remote.running().await?;
        Ok(remote)
    }

    /// The same, whose calls may take so long.
    pub fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// When there is no such tool, the server is not reached, or it takes longer than 120 s, or what
    /// [`within`](Self::within) says; then it is told that nobody waits any more.
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
            Ok(_) => Err(self.failed("it answers a call with something else")),
            // The server's own words, as a server in this process would say them.
            Err(ServiceError::McpError(error)) => Err(ClientError(error.message.into_owned())),
            Err(ServiceError::Timeout { timeout }) => {
                Err(self.failed(format!("it did not answer within {} s", timeout.as_secs_f64())))
            }
            Err(error) => {
                if matches!(error, ServiceError::TransportClosed | ServiceError::TransportSend(_)) {
                    self.let_go(&running).await;
                }
                Err(self.failed(error))
            }
        }
    }

    /// The session, begun anew where there is none any more.
    async fn running(&self) -> Result<Arc<RunningService<RoleClient, ()>>, ClientError> {
        let mut kept = self.running.lock().await;
        if let Some(running) = kept.as_ref().filter(|running| !running.is_closed()) {
            return Ok(Arc::clone(running));
        }
        let begun = timeout(HANDSHAKE, self.shake_hands()).await;
        let begun = begun.map_err(|_| self.failed("it does not answer"))??;
        Ok(Arc::clone(kept.insert(Arc::new(begun))))
    }

    async fn shake_hands(&self) -> Result<RunningService<RoleClient, ()>, ClientError> {
        // Fails where it was done before, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // The address was named; neither a proxy nor another address that it points to should get the token.
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(HANDSHAKE);
        // A machine without certificates of authorities can talk to its own servers.
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

    /// Forgets a connection that failed; a newer one stays.
    async fn let_go(&self, failed: &Arc<RunningService<RoleClient, ()>>) {
        let mut kept = self.running.lock().await;
        if kept.as_ref().is_some_and(|kept| Arc::ptr_eq(kept, failed)) {
            *kept = None;
        }
    }

    fn failed(&self, why: impl std::fmt::Display) -> ClientError {
        ClientError(format!("{}: {why}", self.url))
    }
}

#[async_trait]
impl Server for Remote {
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String> {
        Self::call(self, tool, arguments).await.map_err(|error| error.to_string())
    }
}
