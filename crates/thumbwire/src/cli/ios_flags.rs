//! `--wda`: iPhones behind a WebDriverAgent; and those that this computer knows, on USB, on Wi-Fi,
//! and as simulators.

use thumbwire_core::providers::{
    DeviceProviders, SimulatorProvider, UsbmuxProvider, WdaAddress, WdaProvider,
};

use super::PHONES;
use crate::config::Config;

/// Where iPhones are.
#[derive(Clone, Default, clap::Args)]
#[group(skip)]
pub(super) struct IosFlags {
    /// iPhone, by the URL of its WebDriverAgent (repeatable) [default: $THUMBWIRE_WDA]
    #[arg(long, value_name = "URL", help_heading = PHONES)]
    wda: Vec<WdaAddress>,
}

impl IosFlags {
    /// The settings, with these phones instead of those of the environment.
    pub(super) fn applied_to(&self, config: Config) -> Config {
        match self.wda.is_empty() {
            true => config,
            false => Config { wda: self.wda.clone(), ..config },
        }
    }
}

/// Adds the iPhones: those that the settings name, then those of this computer.
pub(super) fn with_iphones(
    phones: DeviceProviders,
    config: &Config,
    named: &[&str],
) -> DeviceProviders {
    phones
        .with(provider(config, named))
        .with(UsbmuxProvider::new(config.usbmuxd.clone()))
        .with(SimulatorProvider::default())
}

/// The phones that the settings name, and those of these ids that are URLs.
fn provider(config: &Config, named: &[&str]) -> WdaProvider {
    let mut phones = config.wda.clone();
    let urls = named.iter().filter(|id| WdaAddress::is_url(id));
    let urls = urls.map(|url| WdaAddress { url: (*url).to_owned(), mjpeg: None });
    for phone in urls {
        if !phones.iter().any(|known| known.url == phone.url) {
            phones.push(phone);
        }
    }
    WdaProvider::new(phones)
}
