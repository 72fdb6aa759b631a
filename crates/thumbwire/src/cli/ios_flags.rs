//! `--wda`: iPhones behind a WebDriverAgent.

use thumbwire_core::providers::{WdaAddress, WdaProvider};

use crate::config::Config;

/// Where iPhones are.
#[derive(clap::Args)]
pub(super) struct IosFlags {
    /// iPhone, by the URL of its WebDriverAgent (repeatable) [default: $THUMBWIRE_WDA]
    #[arg(long, value_name = "URL", global = true)]
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

/// The phones that the settings name, and those of these ids that are URLs.
pub(super) fn provider(config: &Config, named: &[&str]) -> WdaProvider {
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
