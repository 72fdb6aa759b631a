//! iPhones and iPads whose WebDriverAgent serves at an address that the operator named.

use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use thumbwire_device::webdriver::WebDriverPhone;
use thumbwire_device::{Device as _, Platform};
use tokio::time::timeout;

use super::{DeviceProvider, OpenResult};
use crate::action::{DeviceKind, Failure, ListedDevice};

/// How long listing waits for a WebDriverAgent. One that is up answers in milliseconds.
const LISTING: Duration = Duration::from_secs(3);

/// Where a WebDriverAgent serves. As text: its URL, then after a comma that of its MJPEG stream, if
/// it is to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WdaAddress {
    /// The URL, such as `http://127.0.0.1:8100`. It is the phone's id.
    pub url: String,
    /// The URL of the MJPEG stream, such as `http://127.0.0.1:9100`.
    pub mjpeg: Option<String>,
}

impl WdaAddress {
    /// Whether this is the form of such an address, and of no other phone's id.
    pub fn is_url(id: &str) -> bool {
        ["http://", "https://"].iter().any(|scheme| id.starts_with(scheme))
    }
}

impl FromStr for WdaAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut urls = text.split(',').map(|url| url.trim().trim_end_matches('/').to_owned());
        let (url, mjpeg) = (urls.next().unwrap_or_default(), urls.next());
        if text.contains('@') {
            return Err(
                "a WebDriverAgent takes no user name and password: leave them out of its URL"
                    .into(),
            );
        }
        let are_urls =
            [Some(&url), mjpeg.as_ref()].into_iter().flatten().all(|url| Self::is_url(url));
        if !are_urls || urls.next().is_some() {
            return Err("expected the URL of a WebDriverAgent, such as http://127.0.0.1:8100, and after a comma \
                        that of its MJPEG stream, if it is to be used".into());
        }
        Ok(Self { url, mjpeg })
    }
}

/// The phones behind these WebDriverAgents. Only these are opened: a caller that names another URL
/// reaches nothing, unless the caller is the operator ([`Self::any`]).
pub struct WdaProvider {
    phones: Vec<WdaAddress>,
    any: bool,
}

impl WdaProvider {
    /// The phones at these addresses.
    pub fn new(phones: impl IntoIterator<Item = WdaAddress>) -> Self {
        Self { phones: phones.into_iter().collect(), any: false }
    }

    /// The phone at whatever URL is named; none is listed.
    pub fn any() -> Self {
        Self { phones: Vec::new(), any: true }
    }

    fn find(&self, id: &str) -> Option<WdaAddress> {
        let known = self.phones.iter().find(|phone| phone.url == id).cloned();
        known.or_else(|| self.any.then(|| id.parse().ok()).flatten())
    }
}

#[async_trait]
impl DeviceProvider for WdaProvider {
    fn name(&self) -> &'static str {
        "WebDriverAgent"
    }

    /// All of them; each is asked for its status.
    async fn list(&self) -> Result<Vec<ListedDevice>, Failure> {
        Ok(join_all(self.phones.iter().map(|phone| listed(&phone.url))).await)
    }

    fn owns(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    async fn open(&self, id: &str) -> Result<OpenResult, Failure> {
        let Some(phone) = self.find(id) else { return Ok(OpenResult::NotMine(None)) };
        let opened = async {
            let device = WebDriverPhone::attach_wda(id, &phone.url).await?;
            match &phone.mjpeg {
                Some(url) => device.with_mjpeg(url),
                None => Ok(device),
            }
        };
        let device = opened.await.map_err(|error| Failure::of_device(id, &error))?;
        Ok(OpenResult::Opened(std::sync::Arc::new(device)))
    }
}

async fn listed(url: &str) -> ListedDevice {
    let (model, state) = match timeout(LISTING, WebDriverPhone::attach_wda(url, url)).await {
        Ok(Ok(device)) => (device.identity().model.clone(), ListedDevice::READY.into()),
        Ok(Err(reason)) => {
            tracing::debug!("{url}: {reason}");
            (String::new(), ListedDevice::NO_WDA.into())
        }
        Err(_) => (String::new(), ListedDevice::NO_WDA.into()),
    };
    ListedDevice {
        id: url.to_owned(),
        platform: Platform::Ios,
        model,
        state,
        kind: DeviceKind::Physical,
        properties: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_a_url_and_perhaps_a_stream() {
        let address = |url: &str, mjpeg: Option<&str>| {
            Ok(WdaAddress { url: url.into(), mjpeg: mjpeg.map(str::to_owned) })
        };
        assert_eq!("http://127.0.0.1:8100/".parse(), address("http://127.0.0.1:8100", None));
        assert_eq!(
            "http://[::1]:8100, http://[::1]:9100".parse(),
            address("http://[::1]:8100", Some("http://[::1]:9100"))
        );
        for invalid in [
            "",
            "127.0.0.1:8100",
            "http://a,9100",
            "http://a,http://b,http://c",
            "ftp://a",
            "http://u:p@a",
        ] {
            assert!(invalid.parse::<WdaAddress>().is_err(), "{invalid}");
        }
    }

    #[tokio::test]
    async fn only_named_phones_are_opened() {
        let provider = WdaProvider::new(["http://127.0.0.1:1".parse().unwrap()]);
        let other = provider.open("http://127.0.0.1:2").await;
        assert!(matches!(other, Ok(OpenResult::NotMine(None))));
        assert!(provider.owns("http://127.0.0.1:1") && !provider.owns("http://127.0.0.1:2"));
        let Err(failure) = provider.open("http://127.0.0.1:1").await else { panic!("opened") };
        assert!(matches!(failure.cause, crate::action::Cause::DeviceNotConnected { .. }));
        let listed = provider.list().await.unwrap();
        assert_eq!((&*listed[0].id, listed[0].is_ready()), ("http://127.0.0.1:1", false));
        assert!(listed[0].next_step().unwrap().contains("WebDriverAgent"));
    }
}
