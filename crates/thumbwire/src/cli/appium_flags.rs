//! `--appium` and `--appium-device`: phones behind an Appium server or a Selenium Grid.

use thumbwire_core::providers::{AppiumDevice, AppiumProvider};

use super::{CliError, PHONES};
use crate::config::{self, Config};

/// The server, and its phones. Both are read by [`AppiumFlags::applied_to`], because clap's errors
/// would print passwords.
#[derive(Clone, Default, clap::Args)]
#[group(skip)]
pub(super) struct AppiumFlags {
    /// Appium server or Selenium Grid [default: $APPIUM_SERVER]
    #[arg(long, value_name = "URL", help_heading = PHONES)]
    appium: Option<String>,
    /// Phone of the Appium server, by its W3C capabilities, or @FILE (repeatable) [default:
    /// $THUMBWIRE_APPIUM_DEVICE]
    #[arg(long, value_name = "JSON", help_heading = PHONES)]
    appium_device: Vec<String>,
}

impl AppiumFlags {
    /// The settings, with this server and these phones instead of those of the environment.
    ///
    /// # Errors
    /// A value is not what it should be, there are phones without a server, or two with one id.
    pub(super) fn applied_to(&self, config: Config) -> Result<Config, CliError> {
        let invalid =
            |flag: &str, reason: String| CliError::usage(format!("invalid {flag}: {reason}"));
        let appium = match &self.appium {
            Some(url) => Some(url.parse().map_err(|reason| invalid("--appium", reason))?),
            None => config.appium,
        };
        let mut appium_devices: Vec<AppiumDevice> = Vec::new();
        for text in &self.appium_device {
            let devices = config::appium_devices(text);
            appium_devices.extend(devices.map_err(|reason| invalid("--appium-device", reason))?);
        }
        if appium_devices.is_empty() {
            appium_devices = config.appium_devices;
        }
        let config = Config { appium, appium_devices, ..config };
        match &config.appium {
            Some(server) => AppiumProvider::new(server.clone(), config.appium_devices.clone())
                .map(drop)
                .map_err(CliError::usage)?,
            None if config.appium_devices.is_empty() => {}
            None => {
                return Err(CliError::usage(
                    "an Appium device needs a server: add --appium URL, or set APPIUM_SERVER",
                ));
            }
        }
        Ok(config)
    }
}

/// The phones that the settings name; `None` without a server, which is never guessed.
pub(super) fn provider(config: &Config) -> Option<AppiumProvider> {
    let server = config.appium.clone()?;
    // Two phones with one id were refused before.
    AppiumProvider::new(server, config.appium_devices.clone()).ok()
}
