//! Pages for people, served beside the MCP endpoint behind the same checks.

use std::convert::Infallible;
use std::sync::Arc;

use async_trait::async_trait;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;
use futures::stream::{BoxStream, StreamExt as _};
use thumbwire_core::action::{ClientName, PageAct};

use super::limits::{Budget, Limits};
use super::message;
use super::rejection::Rejection;
use crate::call_log::CallLog;
use crate::grant::{Grant, Share};

/// The path below which pages are.
pub const PAGES_PATH: &str = "/studio";

/// What the audit log calls the person at a page.
const CLIENT: &str = "studio";

/// The body of a page's response: parts as they come, for a live view without an end.
pub type PageBody = BoxStream<'static, Bytes>;

/// Pages for people. The server has checked Host and Origin, and the token where one is needed.
#[async_trait]
pub trait Pages: Send + Sync {
    /// The file at this path below [`PAGES_PATH`] (`/studio.css`), which tells nothing of phones
    /// and needs no token: a browser cannot send one when it opens a page. `None`: there is none.
    fn file(&self, path: &str) -> Option<axum::http::Response<Bytes>>;

    /// Whether the form at this path needs no token: its address is one that nobody can guess.
    fn takes_form(&self, path: &str) -> bool;

    /// Answers such a form, whose fields are in the body.
    fn form(&self, path: &str, body: Bytes) -> axum::http::Response<Bytes>;

    /// What a person does by this request, in place of a tool's name, for the audit log; `None` if
    /// they only look.
    fn act(&self, request: &axum::http::Request<Bytes>) -> Option<String>;

    /// Answers a request of such a page, whose path is the part below [`PAGES_PATH`] and whose
    /// extensions have the [`Scope`](thumbwire_core::action::Scope) of its token. The response to
    /// an act has a [`PageAct`] as extension.
    async fn answer(&self, request: axum::http::Request<Bytes>) -> axum::http::Response<PageBody>;
}

/// The part of a path below the pages' own; `None` if it is another path.
pub(super) fn below(path: &str) -> Option<&str> {
    let rest = path.strip_prefix(PAGES_PATH)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// Answers a request that needs no token, if it is one.
pub(super) fn without_token(pages: &dyn Pages, method: &Method, path: &str) -> Option<Response> {
    // Some files are good once, and only for somebody who reads them.
    if *method != Method::GET {
        return None;
    }
    // The page's own addresses are relative to its folder.
    if path.is_empty() {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
        response.headers_mut().insert(LOCATION, HeaderValue::from_static("/studio/"));
        return Some(response);
    }
    pages.file(path).map(|file| file.map(Body::from))
}

/// Answers a form that needs no token.
pub(super) async fn form(
    pages: &dyn Pages,
    request: Request,
    path: &str,
    bytes: &Budget,
    limits: &Limits,
) -> Result<Response, Rejection> {
    let (body, _taken) =
        message::receive(request.into_body(), bytes, &Share::Whole, limits).await?;
    Ok(pages.form(path, body).map(Body::from))
}

/// Answers a request with a valid token.
pub(super) async fn with_token(
    pages: &Arc<dyn Pages>,
    request: Request,
    grant: &Grant,
    bytes: &Budget,
    limits: &Limits,
    log: &CallLog,
    received: impl Fn(),
) -> Result<Response, Rejection> {
    let (mut parts, body) = request.into_parts();
    let (body, _taken) = message::receive(body, bytes, &grant.share, limits).await?;
    received();
    let path = parts.uri.path_and_query().and_then(|it| below(it.as_str())).unwrap_or_default();
    parts.uri = path.parse().unwrap_or_else(|_| Uri::from_static("/"));
    parts.extensions.insert(grant.scope);
    let request = Request::from_parts(parts, body);
    let entry = pages.act(&request).map(|act| {
        let mut entry = log.begin(&ClientName::clean(CLIENT), Some(grant.clone()));
        entry.acts(act);
        entry
    });
    let response = pages.answer(request).await;
    if let (Some(entry), Some(act)) = (entry, response.extensions().get::<PageAct>()) {
        entry.answered(act);
    }
    Ok(response.map(|body| Body::from_stream(body.map(Ok::<_, Infallible>))))
}
