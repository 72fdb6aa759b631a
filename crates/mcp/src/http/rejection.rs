//! Rejected requests: an HTTP status and a short JSON-RPC error in the body.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::oauth::{Issuer, SCOPE_ACT, SCOPE_LOOK, TokenError};

/// A rejected request.
#[derive(Debug)]
pub(super) struct Rejection {
    status: StatusCode,
    code: i64,
    text: String,
    id: Option<Box<Value>>,
    header: Option<(&'static str, Cow<'static, str>)>,
}

/// JSON-RPC's code for a message that is not JSON.
const PARSE_ERROR: i64 = -32700;
/// JSON-RPC's code for everything else that is not a valid request.
const INVALID_REQUEST: i64 = -32600;

/// When a client may try again, in seconds.
const RETRY_AFTER: &str = "5";

impl Rejection {
    /// With this status and message.
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, code: INVALID_REQUEST, text: text.into(), id: None, header: None }
    }

    /// The message cannot be read or served.
    pub(super) fn bad_request(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// Plain HTTP where TLS is spoken.
    pub(super) fn needs_tls() -> Self {
        Self::bad_request("Bad Request: this server speaks TLS; use https:// instead of http://")
    }

    /// The body is not JSON.
    pub(super) fn no_json(error: &serde_json::Error) -> Self {
        let text = format!("Parse error: {error}");
        Self { code: PARSE_ERROR, ..Self::bad_request(text) }
    }

    /// The token is missing or wrong; the response is the same for both.
    pub(super) fn no_token() -> Self {
        let text = "Unauthorized: send the header `Authorization: Bearer TOKEN`; \
                     the server printed the path of its token file when it started";
        let header = Some(("www-authenticate", "Bearer realm=\"thumbwire\"".into()));
        Self { header, ..Self::new(StatusCode::UNAUTHORIZED, text) }
    }

    /// The token's scope does not include the call (2025-11-25, authorization, "Scope Challenge
    /// Handling").
    pub(super) fn insufficient_scope(tool: &str) -> Self {
        let text = format!(
            "Forbidden: {tool} changes something, and this token has the scope `look`; \
             use a tool of the list, or ask the operator of this server for a token with the scope `act`"
        );
        let challenge = "Bearer realm=\"thumbwire\", error=\"insufficient_scope\", scope=\"act\", \
                         error_description=\"this token may only look\"";
        let header = Some(("www-authenticate", challenge.into()));
        Self { header, ..Self::new(StatusCode::FORBIDDEN, text) }
    }

    /// No token, where an issuer gives them: tells where to find it (RFC 9728, section 5.1).
    pub(super) fn no_issued_token(issuer: &Issuer) -> Self {
        let text = "Unauthorized: get a token from the issuer that `resource_metadata` in the header \
                     WWW-Authenticate leads to, and send it as `Authorization: Bearer TOKEN`";
        Self::new(StatusCode::UNAUTHORIZED, text).challenging(issuer, "", SCOPE_ACT)
    }

    /// A token that counts neither here nor with the issuer (RFC 6750, section 3.1).
    pub(super) fn of_issued(error: TokenError, issuer: &Issuer) -> Self {
        match error {
            TokenError::Invalid(reason) => {
                let text = format!("Unauthorized: the token is not accepted: {reason}");
                let error = format!("error=\"invalid_token\", error_description=\"{reason}\"");
                Self::new(StatusCode::UNAUTHORIZED, text).challenging(issuer, &error, SCOPE_ACT)
            }
            TokenError::NoScope => {
                let text = format!(
                    "Forbidden: the token has neither the scope `{SCOPE_LOOK}` nor `{SCOPE_ACT}`"
                );
                let error = "error=\"insufficient_scope\"";
                Self::new(StatusCode::FORBIDDEN, text).challenging(issuer, error, SCOPE_LOOK)
            }
            TokenError::IssuerUnavailable => {
                Self::busy("the keys of the issuer of tokens cannot be fetched")
            }
        }
    }

    /// With a challenge that leads to the issuer. `error` are parameters, or empty.
    pub(super) fn challenging(self, issuer: &Issuer, error: &str, scope: &str) -> Self {
        let comma = if error.is_empty() { "" } else { ", " };
        let metadata = issuer.metadata_url();
        let challenge = format!(
            "Bearer realm=\"thumbwire\"{comma}{error}, scope=\"{scope}\", resource_metadata=\"{metadata}\""
        );
        Self { header: Some(("www-authenticate", challenge.into())), ..self }
    }

    /// The path has other HTTP methods.
    pub(super) fn no_such_method(allowed: &'static str) -> Self {
        let header = Some(("allow", allowed.into()));
        Self { header, ..Self::new(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed") }
    }

    /// Others take up what this request needs.
    pub(super) fn busy(reason: &str) -> Self {
        let text = format!("Service Unavailable: {reason}; try again in {RETRY_AFTER} s");
        let header = Some(("retry-after", RETRY_AFTER.into()));
        Self { header, ..Self::new(StatusCode::SERVICE_UNAVAILABLE, text) }
    }

    /// Adds the id of the request, if known.
    pub(super) fn of(self, id: Option<&Value>) -> Self {
        Self { id: id.cloned().map(Box::new), ..self }
    }

    /// The message.
    #[cfg(test)]
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The HTTP response. Without a known request id the error has no `id` (MCP 2025-06-18,
    /// transports, and 2026-07-28, error responses), although JSON-RPC itself would write null.
    pub(super) fn into_response(self) -> Response {
        let mut error = Map::new();
        error.insert("jsonrpc".into(), "2.0".into());
        error.extend(self.id.map(|id| ("id".to_owned(), *id)));
        error.insert("error".into(), json!({ "code": self.code, "message": self.text }));
        let mut response = Response::new(Body::from(Value::from(error).to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let header = self.header.and_then(|(name, value)| {
            Some((HeaderName::from_static(name), HeaderValue::from_str(&value).ok()?))
        });
        headers.extend(header);
        response
    }
}
