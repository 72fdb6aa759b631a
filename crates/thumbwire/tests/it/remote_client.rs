//! A small MCP client over HTTP, for tests and benchmarks: one session, one connection that is
//! kept.

use std::time::Duration;

use serde_json::{Map, Value, json};
use thumbwire_core::toolset::Reply;
use thumbwire_mcp::http_token::Token;
use thumbwire_mcp::reply_from_json;

/// A session with a server.
pub(crate) struct RemoteClient {
    http: reqwest::Client,
    url: String,
    token: Option<Token>,
    session: String,
}

impl RemoteClient {
    /// Opens a session with the server at a URL; its calls may take `limit`.
    ///
    /// # Errors
    /// If there is no server, or it refuses.
    pub(crate) async fn connect(
        url: &str,
        token: Option<Token>,
        limit: Duration,
    ) -> Result<Self, String> {
        // Fails harmlessly if a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).timeout(limit);
        let http = http.build().map_err(|error| error.to_string())?;
        let session = String::new();
        let mut client = Self { http, url: url.to_owned(), token, session };
        let about = json!({ "name": "test", "version": "0" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
        let answer = client.post("initialize", params).await?;
        let session = answer.headers().get("mcp-session-id");
        let session = session.and_then(|session| session.to_str().ok());
        client.session = session.ok_or("the server began no session")?.to_owned();
        Ok(client)
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// If there is no such tool, or no response in time.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Reply, String> {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.post("tools/call", params).await?;
        let answer = answer.text().await.map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_str(&answer).map_err(|error| error.to_string())?;
        let result = &answer["result"];
        if !result.is_object() {
            return Err(answer.to_string());
        }
        Ok(reply_from_json(result))
    }

    async fn post(&self, method: &str, params: Value) -> Result<reqwest::Response, String> {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = self.http.post(&self.url).body(message.to_string());
        let request = request.header("content-type", "application/json");
        let request = request.header("accept", "application/json");
        let request = match &self.token {
            Some(token) => request.bearer_auth(token.reveal()),
            None => request,
        };
        let request = match self.session.is_empty() {
            true => request,
            false => request.header("mcp-session-id", &self.session),
        };
        let answer = request.send().await.map_err(|error| match error.is_timeout() {
            true => format!("{}: no response within its time", self.url),
            false => format!("{}: {error}", self.url),
        })?;
        match answer.status().is_success() {
            true => Ok(answer),
            false => Err(format!("{}: {}", self.url, answer.status())),
        }
    }
}
