//! `--appium` and `--appium-device`: phones behind an Appium server or a Selenium Grid.

use thumbwire_core::providers::{AppiumDevice, AppiumProvider, AppiumServer};

use super::CliError;
use crate::config::{self, Config};

/// The server, and its phones.
#[derive(clap::Args)]
pub(super) struct AppiumFlags {
    /// Appium server or Selenium Grid [default: $APPIUM_SERVER]
    #[arg(long, value_name = "URL", global = true)]
    appium: Option<AppiumServer>,
    /// Phone of the Appium server, by its W3C capabilities, or @FILE (repeatable) [default: $THUMBWIRE_APPIUM_DEVICE]
    #[arg(long, value_name = "JSON", global = true, value_parser = config::appium_devices, alias = "appium-capabilities")]
    appium_device: Vec<Devices>,
}

/// The phones of one flag.
type Devices = config::AppiumDevices;

impl AppiumFlags {
    /// The settings, with this server and these phones instead of those of the environment.
    ///
    /// # Errors
    /// There are phones without a server, or two with one id.
    pub(super) fn applied_to(&self, config: Config) -> Result<Config, CliError> {
        let appium = self.appium.clone().or(config.appium);
        let appium_devices: Vec<AppiumDevice> = match self.appium_device.is_empty() {
            true => config.appium_devices,
            false => self.appium_device.iter().flat_map(|flag| flag.0.clone()).collect(),
        };
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
