//! The hosts that scripts of flows may reach: `--allow-network`.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Method, Response, StatusCode, Url};
use thumbwire_agent::model::{ProxySettings, http_client};
use thumbwire_flow::{ScriptNetwork, ScriptRequest, ScriptResponse};
use tokio::runtime::Handle;

/// How long a request may take, with its redirections.
const TIMEOUT: Duration = Duration::from_secs(50);

/// The largest body of a response, in bytes.
const MAX_BODY: usize = 4 << 20;

/// How many redirections are followed.
const MAX_REDIRECTS: usize = 5;

/// Sends requests to the hosts that the operator allowed.
pub(in crate::cli) struct ScriptHosts {
    /// Each as `HOST` or `HOST:PORT`.
    hosts: Vec<String>,
    proxy: Option<ProxySettings>,
    runtime: Handle,
}

impl ScriptHosts {
    /// These hosts. Must be called in the runtime that will send the requests.
    pub(in crate::cli) fn of(hosts: &[String], proxy: Option<ProxySettings>) -> Self {
        Self { hosts: hosts.to_vec(), proxy, runtime: Handle::current() }
    }

    /// # Errors
    /// Why a script may not reach this address.
    fn check(&self, url: &Url) -> Result<(), String> {
        let host = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https"));
        let host = host.ok_or("an address starts with http:// or https://")?;
        let port = url.port_or_known_default().unwrap_or_default();
        let with_port = format!("{host}:{port}");
        let is_allowed = |one: &String| [host, &with_port].contains(&one.to_lowercase().as_str());
        match self.hosts.iter().any(is_allowed) {
            true => Ok(()),
            false => Err(format!("scripts may not reach {host}; allow it with --allow-network")),
        }
    }

    async fn answer(&self, request: ScriptRequest) -> Result<ScriptResponse, String> {
        let mut url = Url::parse(&request.url).map_err(|error| error.to_string())?;
        let method = request.method.parse();
        let mut method: Method = method.map_err(|_| "the method is not a word")?;
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            let wrong = |_| format!("the header {name:?} has characters that no header may have");
            let value = HeaderValue::from_str(value).map_err(|error| wrong(error.to_string()))?;
            let name = HeaderName::try_from(name).map_err(|error| wrong(error.to_string()))?;
            headers.append(name, value);
        }
        let mut body = request.body;
        for _ in 0..=MAX_REDIRECTS {
            self.check(&url)?;
            let client = http_client(&url, self.proxy.as_ref())?;
            let sent = client.request(method.clone(), url.clone()).headers(headers.clone());
            let sent = match body.clone() {
                Some(body) => sent.body(body),
                None => sent,
            };
            let response = sent.send().await.map_err(|error| error.without_url().to_string())?;
            let Some(next) = redirection(&url, &response) else { return read(response).await };
            if next.origin() != url.origin() {
                headers.remove(AUTHORIZATION);
                headers.remove(COOKIE);
            }
            let repeats = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT];
            if !repeats.contains(&response.status()) && method != Method::HEAD {
                (method, body) = (Method::GET, None);
            }
            url = next;
        }
        Err(format!("more than {MAX_REDIRECTS} redirections"))
    }
}

impl ScriptNetwork for ScriptHosts {
    fn send(&self, request: ScriptRequest) -> Result<ScriptResponse, String> {
        let answer = async { tokio::time::timeout(TIMEOUT, self.answer(request)).await };
        let late = || format!("no answer in {} s", TIMEOUT.as_secs());
        self.runtime.block_on(answer).map_err(|_| late())?
    }
}

/// Where a response sends the client.
fn redirection(url: &Url, response: &Response) -> Option<Url> {
    let is_moved = response.status().is_redirection();
    let location = response.headers().get(LOCATION).filter(|_| is_moved)?;
    url.join(location.to_str().ok()?).ok()
}

async fn read(mut response: Response) -> Result<ScriptResponse, String> {
    let status = response.status().as_u16();
    let headers = response.headers().iter();
    let headers = headers
        .map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect();
    let mut body = Vec::new();
    while let Some(part) =
        response.chunk().await.map_err(|error| error.without_url().to_string())?
    {
        body.extend_from_slice(&part);
        if body.len() > MAX_BODY {
            return Err(format!("the response has more than {MAX_BODY} bytes"));
        }
    }
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok(ScriptResponse { status, headers, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_named_hosts_are_reached() {
        let hosts = ["api.example.com".to_owned(), "127.0.0.1:8080".to_owned()];
        let hosts = ScriptHosts::of(&hosts, None);
        let check = |url: &str| hosts.check(&Url::parse(url).unwrap());
        for url in
            ["https://api.example.com/x", "http://API.example.com:9/x", "http://127.0.0.1:8080/"]
        {
            assert_eq!(check(url), Ok(()), "{url}");
        }
        for url in [
            "https://example.com/",
            "https://api.example.com.evil.org/",
            "https://api.example.com@evil.org/",
            "http://127.0.0.1/",
            "http://localhost:8080/",
            "http://[::1]:8080/",
            "file:///etc/passwd",
            "data:text/plain,x",
        ] {
            assert!(check(url).is_err(), "{url}");
        }
    }
}
