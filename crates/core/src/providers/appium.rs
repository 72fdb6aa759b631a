//! Phones behind an Appium server or a Selenium Grid that the operator named.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use thumbwire_device::webdriver::{AppiumCapabilities, WebDriverPhone};
use tokio::time::timeout;

use super::{DeviceProvider, OpenResult};
use crate::action::{DeviceKind, Failure, ListedDevice};

/// How long listing waits for the server. One that is up answers in milliseconds.
const LISTING: Duration = Duration::from_secs(3);

/// What the ids of these phones begin with.
const PREFIX: &str = "appium";

/// The URL of an Appium server or a Selenium Grid. It may have a user name and a password, so `{}`
/// and `{:?}` do not print those.
#[derive(Clone, PartialEq, Eq)]
pub struct AppiumServer(String);

impl FromStr for AppiumServer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let url = text.trim();
        let rest = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme));
        let Some(rest) = rest.filter(|rest| !rest.is_empty() && !rest.starts_with('/')) else {
            return Err(
                "expected the URL of an Appium server, such as http://127.0.0.1:4723".into()
            );
        };
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        // What follows is printed, so no part of a password may be in it.
        match rest.contains(['?', '#']) || path.contains('@') || rest.contains(char::is_control) {
            true => Err("a URL with `?`, `#`, or `@` in its path; in a user name or password write `/` as %2F, \
                         `?` as %3F, `#` as %23 and `@` as %40".into()),
            false => Ok(Self(url.to_owned())),
        }
    }
}

impl fmt::Display for AppiumServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or_default();
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = host.rsplit('@').next().unwrap_or_default();
        write!(f, "{scheme}://{host}{path}")
    }
}

impl fmt::Debug for AppiumServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AppiumServer({self})")
    }
}

/// A phone of an Appium server, by the capabilities of its session. As text: a JSON object of W3C
/// capabilities.
#[derive(Debug, Clone, PartialEq)]
pub struct AppiumDevice {
    /// The id: `appium:` and the capability `appium:udid`, else `appium:deviceName`; `appium` if
    /// there is neither.
    pub id: String,
    /// What its session needs to have.
    pub capabilities: AppiumCapabilities,
}

impl AppiumDevice {
    /// Reads one phone, or a JSON list of several.
    ///
    /// # Errors
    /// What is wrong, without the values.
    pub fn parse_all(json: &str) -> Result<Vec<Self>, String> {
        match serde_json::from_str::<Vec<serde_json::Value>>(json) {
            Ok(list) => list.iter().map(|one| one.to_string().parse()).collect(),
            Err(_) => json.parse().map(|one| vec![one]),
        }
    }

    fn new(capabilities: AppiumCapabilities) -> Self {
        let id = match capabilities.device_name() {
            Some(name) => format!("{PREFIX}:{name}"),
            None => PREFIX.to_owned(),
        };
        Self { id, capabilities }
    }
}

impl Default for AppiumDevice {
    /// The Android phone that the server chooses, with the id `appium`.
    fn default() -> Self {
        Self::new(AppiumCapabilities::default())
    }
}

impl FromStr for AppiumDevice {
    type Err = String;

    fn from_str(json: &str) -> Result<Self, String> {
        AppiumCapabilities::parse(json).map(Self::new)
    }
}

/// The phones of one Appium server. Only these are opened, and without a server's URL nothing is
/// connected.
pub struct AppiumProvider {
    server: AppiumServer,
    devices: Vec<AppiumDevice>,
}

impl AppiumProvider {
    /// These phones of this server; with none, the Android phone that the server chooses.
    ///
    /// # Errors
    /// A message, if two of them have the same id.
    pub fn new(
        server: AppiumServer,
        devices: impl IntoIterator<Item = AppiumDevice>,
    ) -> Result<Self, String> {
        let mut devices: Vec<AppiumDevice> = devices.into_iter().collect();
        if devices.is_empty() {
            devices.push(AppiumDevice::default());
        }
        for (at, device) in devices.iter().enumerate() {
            if devices[..at].iter().any(|other| other.id == device.id) {
                return Err(format!(
                    "two Appium devices have the id {}; give each its own `appium:udid`",
                    device.id
                ));
            }
        }
        Ok(Self { server, devices })
    }

    fn find(&self, id: &str) -> Option<&AppiumDevice> {
        self.devices.iter().find(|device| device.id == id)
    }
}

#[async_trait]
impl DeviceProvider for AppiumProvider {
    fn name(&self) -> &'static str {
        "Appium"
    }

    /// All of them; the server is asked for its status, and no session is created.
    async fn list(&self) -> Result<Vec<ListedDevice>, Failure> {
        Ok(join_all(self.devices.iter().map(|device| listed(&self.server.0, device))).await)
    }

    fn owns(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    async fn open(&self, id: &str) -> Result<OpenResult, Failure> {
        let Some(device) = self.find(id) else { return Ok(OpenResult::NotMine(None)) };
        let opened = WebDriverPhone::attach_appium(id, &self.server.0, &device.capabilities).await;
        let device = opened.map_err(|error| Failure::of_device(id, &error))?;
        Ok(OpenResult::Opened(std::sync::Arc::new(device)))
    }
}

async fn listed(url: &str, device: &AppiumDevice) -> ListedDevice {
    let AppiumDevice { id, capabilities } = device;
    let state = match timeout(LISTING, WebDriverPhone::attach_appium(id, url, capabilities)).await {
        Ok(Ok(_)) => ListedDevice::READY,
        Ok(Err(reason)) => {
            tracing::debug!("{id}: {reason}");
            ListedDevice::NO_APPIUM
        }
        Err(_) => ListedDevice::NO_APPIUM,
    };
    ListedDevice {
        id: id.clone(),
        platform: capabilities.platform(),
        model: String::new(),
        state: state.into(),
        kind: if id == PREFIX { DeviceKind::ServerChoice } else { DeviceKind::Physical },
        properties: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Cause;

    fn device(json: &str) -> AppiumDevice {
        json.parse().unwrap()
    }

    #[test]
    fn id_is_made_of_what_names_the_phone() {
        assert_eq!(AppiumDevice::default().id, "appium");
        assert_eq!(device(r#"{"appium:udid":"U","appium:deviceName":"N"}"#).id, "appium:U");
        assert_eq!(device(r#"{"appium:deviceName":"Pixel 8"}"#).id, "appium:Pixel 8");
        assert!("{".parse::<AppiumDevice>().is_err());
    }

    fn server(url: &str) -> AppiumServer {
        url.parse().unwrap()
    }

    #[test]
    fn url_is_printed_without_credentials() {
        let printed = |url: &str| format!("{} {:?}", server(url), server(url));
        assert_eq!(
            printed("https://me:pass@grid:4444/wd/hub"),
            "https://grid:4444/wd/hub AppiumServer(https://grid:4444/wd/hub)"
        );
        assert!(printed("http://127.0.0.1:4723").starts_with("http://127.0.0.1:4723 "));
        for invalid in ["", "127.0.0.1:4723", "ftp://a", "http://", "http:///x"] {
            assert!(invalid.parse::<AppiumServer>().is_err(), "{invalid}");
        }
        for secret in ["pa/s3cret", "pa?s3cret", "pa#s3cret"] {
            let error = format!("https://me:{secret}@grid").parse::<AppiumServer>().unwrap_err();
            assert!(error.contains("%2F") && !error.contains("s3cret"), "{error}");
        }
        assert!("https://grid/wd?key=s3cret".parse::<AppiumServer>().is_err());
    }

    #[test]
    fn list_has_several_phones() {
        let ids = |json: &str| {
            let all = AppiumDevice::parse_all(json)?;
            Ok::<_, String>(all.into_iter().map(|one| one.id).collect::<Vec<_>>())
        };
        let two = r#"[{"appium:udid":"A"},{"appium:udid":"B","platformName":"iOS"}]"#;
        assert_eq!(ids(two), Ok(vec!["appium:A".into(), "appium:B".into()]));
        assert_eq!(ids("{}"), Ok(vec!["appium".into()]));
        assert!(ids("[1]").is_err() && ids("x").is_err());
    }

    #[test]
    fn two_phones_need_two_ids() {
        let two = [device(r#"{"appium:udid":"U"}"#), device(r#"{"appium:udid":"U"}"#)];
        let error = AppiumProvider::new(server("http://127.0.0.1:1"), two).err().unwrap();
        assert!(error.contains("appium:U"), "{error}");
    }

    #[tokio::test]
    async fn only_named_phones_are_opened() {
        let named = [device(r#"{"appium:udid":"U"}"#)];
        let provider = AppiumProvider::new(server("http://me:secret@127.0.0.1:1"), named).unwrap();
        assert!(provider.owns("appium:U") && !provider.owns("appium:V"));
        let other = provider.open("appium:V").await;
        assert!(matches!(other, Ok(OpenResult::NotMine(None))));
        let Err(failure) = provider.open("appium:U").await else { panic!("opened") };
        let Cause::DeviceNotConnected { .. } = &failure.cause else { panic!("{failure:?}") };
        assert!(!format!("{failure:?}").contains("secret"), "{failure:?}");
        let listed = provider.list().await.unwrap();
        assert_eq!((&*listed[0].id, listed[0].is_ready()), ("appium:U", false));
        assert!(listed[0].next_step().unwrap().contains("Appium"));
    }
}
