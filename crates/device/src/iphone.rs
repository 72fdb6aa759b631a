//! An iPhone of a usbmuxd's list: what it is, and what it lacks before it can be controlled.
//!
//! Start with [`Iphone::examine`]. A WebDriverAgent that answers is all that is needed; only
//! without one does it matter what is missing first; [`Missing`] names it with the step that
//! provides it.

mod missing;

use std::time::Duration;

use thumbwire_usbmux::{
    DeviceValues, Lockdown, LockdownError, UsbmuxClient, UsbmuxDevice, UsbmuxError,
};
use tokio::time::timeout;

use crate::webdriver::answers;
pub use missing::Missing;

/// How long lockdownd and WebDriverAgent are asked. They answer in some ten milliseconds, on Wi-Fi
/// in some hundred.
const ANSWER: Duration = Duration::from_millis(2500);

/// The first release of iOS whose developer services need a tunnel.
const FIRST_WITH_TUNNEL: u32 = 17;

/// What was found out about an iPhone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Iphone {
    /// What it says about itself; empty if it does not answer.
    pub values: DeviceValues,
    /// What it lacks first; `None` if it is ready.
    pub missing: Option<Missing>,
}

impl Iphone {
    /// Asks a phone what it is, and finds out what it lacks. Takes 2.5 seconds at most.
    pub async fn examine(client: &UsbmuxClient, device: &UsbmuxDevice) -> Self {
        let mut values = DeviceValues::default();
        let (missing, answers) = tokio::join!(
            timeout(ANSWER, find_missing(client, &device.udid, &mut values)),
            timeout(ANSWER, answers(client, &device.udid)),
        );
        let missing = match answers {
            Ok(true) => None,
            _ => Some(missing.unwrap_or(Missing::Answer)),
        };
        Self { values, missing }
    }
}

/// What a phone lacks whose WebDriverAgent does not answer. `values` gets what the phone says about
/// itself.
async fn find_missing(client: &UsbmuxClient, udid: &str, values: &mut DeviceValues) -> Missing {
    let asked = async {
        let mut lockdown = Lockdown::connect(client, udid).await?;
        *values = lockdown.device_values().await?;
        lockdown.start_session().await?;
        lockdown.developer_mode().await
    };
    match asked.await {
        Ok(Some(false)) => Missing::DeveloperMode,
        Ok(_) if needs_tunnel(&values.product_version) => Missing::Tunnel,
        Ok(_) => Missing::WebDriverAgent,
        Err(error) => {
            tracing::debug!("{udid}: {error}");
            of_error(&error)
        }
    }
}

/// What an error of lockdownd says is missing.
fn of_error(error: &LockdownError) -> Missing {
    match error {
        LockdownError::Usbmux(UsbmuxError::NotPaired) | LockdownError::NotTrusted(_) => {
            Missing::Pairing
        }
        LockdownError::TrustPending => Missing::Trust,
        LockdownError::Locked => Missing::Unlocking,
        LockdownError::Tls(_) => Missing::ValidPairRecord,
        LockdownError::Usbmux(_)
        | LockdownError::Lost(_)
        | LockdownError::TimedOut(_)
        | LockdownError::Protocol(_)
        | LockdownError::Refused(_) => Missing::Answer,
    }
}

fn needs_tunnel(version: &str) -> bool {
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major >= FIRST_WITH_TUNNEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tunnel_is_needed_since_ios_17() {
        for (version, needs) in [("16.7.10", false), ("17.0", true), ("26.1", true), ("", false)] {
            assert_eq!(needs_tunnel(version), needs, "{version}");
        }
    }
}
