//! What is asked of the server over HTTP besides MCP: whether it answers, how much it does, and who
//! issues its tokens.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Method};
use axum::response::Response;

use super::rejection::Rejection;
use crate::metrics::{Gauges, Metrics};
use crate::oauth::Issuer;

/// The type of Prometheus's text format.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The server answers. It says nothing about phones: anybody on this computer may ask.
pub(super) fn health(method: &Method) -> Result<Response, Rejection> {
    text(method, "text/plain; charset=utf-8", "ok\n".to_owned())
}

/// The numbers.
pub(super) fn metrics(
    method: &Method,
    metrics: &Metrics,
    gauges: Gauges,
) -> Result<Response, Rejection> {
    text(method, PROMETHEUS, metrics.render(gauges))
}

/// Where clients get their tokens (RFC 9728). It needs no token.
pub(super) fn resource_metadata(method: &Method, issuer: &Issuer) -> Result<Response, Rejection> {
    text(method, "application/json", issuer.metadata().to_string())
}

fn text(method: &Method, kind: &'static str, body: String) -> Result<Response, Rejection> {
    if *method != Method::GET {
        return Err(Rejection::no_such_method("GET"));
    }
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
