//! The files of the page, and what the browser may do with them.

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, Response};
use thumbwire_core::random;
use thumbwire_core::trace::report::BASE_STYLE;

const PAGE: &str = include_str!("../web/page.html");

macro_rules! files {
    ($($name:literal)*) => {
        /// The modules and styles by name.
        const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../web/", $name)))),*];
    };
}

files! {
    "activity.js" "api.js" "dom.js" "elements.js" "inspect.js" "keyboard.js" "model.js" "overlay.js" "phones.js" "questions.js" "record.js" "runs.js" "screen.js" "studio.css" "studio.js" "touch.js" "video.js"
}

const CROSS_ORIGIN_OPENER_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-opener-policy");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");

/// The file at a path; `/` is the page.
pub(super) fn file(path: &str) -> Option<Response<Bytes>> {
    let name = path.strip_prefix('/')?;
    if name.is_empty() {
        // Without a nonce any script could run on the page.
        let nonce = random::hex::<16>().ok()?;
        let text = PAGE.replace("{{NONCE}}", &nonce);
        let text = text.replace("{{VERSION}}", env!("CARGO_PKG_VERSION"));
        let mut response = plain(text.into(), "text/html; charset=utf-8");
        let policy = HeaderValue::from_str(&content_policy(&nonce)).ok()?;
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        return Some(response);
    }
    if name == "base.css" {
        return Some(plain(BASE_STYLE.into(), "text/css; charset=utf-8"));
    }
    let (name, text) = FILES.iter().find(|(known, _)| *known == name)?;
    let kind = match name.ends_with(".css") {
        true => "text/css; charset=utf-8",
        false => "text/javascript; charset=utf-8",
    };
    Some(plain(Bytes::from_static(text.as_bytes()), kind))
}

/// Only the page's own modules and styles. Pictures come as blobs; reports in a frame, which has a
/// policy of its own.
fn content_policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; img-src blob:; \
         connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    )
}

pub(super) fn plain(text: Bytes, kind: &'static str) -> Response<Bytes> {
    let mut response = Response::new(text);
    protect(response.headers_mut(), kind);
    response
}

/// A report as a document of its own: it runs its script, and reaches nothing of the studio.
pub(super) fn report(text: Bytes) -> Response<Bytes> {
    let mut response = plain(text, "text/html; charset=utf-8");
    let policy = HeaderValue::from_static("sandbox allow-scripts; frame-ancestors 'self'");
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    response
}

/// The headers of every response.
pub(super) fn protect(headers: &mut HeaderMap, kind: &'static str) {
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CROSS_ORIGIN_OPENER_POLICY, "same-origin"),
        (CROSS_ORIGIN_RESOURCE_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_has_a_nonce_of_its_own() {
        let nonce = || {
            let page = file("/").unwrap();
            let policy = page.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
            let nonce = policy.split("'nonce-").nth(1).unwrap()[..32].to_owned();
            let text = String::from_utf8(page.body().to_vec()).unwrap();
            assert!(text.contains(&format!("nonce=\"{nonce}\"")));
            assert!(!text.contains("{{"), "no placeholder is left");
            nonce
        };
        assert_ne!(nonce(), nonce());
    }

    #[test]
    fn files_are_those_of_the_page_alone() {
        for path in ["/studio.css", "/studio.js", "/base.css"] {
            assert!(file(path).is_some(), "{path}");
        }
        for path in ["", "studio.js", "/../Cargo.toml", "/api/state", "//studio.js"] {
            assert!(file(path).is_none(), "{path}");
        }
    }
}
