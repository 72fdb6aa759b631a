//! An iPhone on USB or Wi-Fi without a WebDriverAgent: it can be looked at, not controlled.
//!
//! Begin with [`IphoneScreen::attach`]. Every request has connections of its own; nothing is remembered between them. Trees,
//! touches and typing need WebDriverAgent: they are refused before anything is sent, with the step that provides it. The
//! refusal is [`Error::NotConnected`], so that callers connect again, and get the full driver once a WebDriverAgent answers.

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_base::visible::visible;

use super::installed_apps;
use super::iphone::{self, Iphone};
use super::lockdown::{DeviceValues, Lockdown, LockdownError};
use super::missing::Missing;
use super::screenshotr::{self, Screenshotr};
use super::usbmux::UsbmuxClient;
use crate::webdriver::read_picture;
use crate::{
    AppId, AppList, Device, DeviceInfo, Error, Facets, Front, Gesture, Identity, Key, Orientation,
    Panel, Platform, Screenshot, SideEffect, Size, Tree, TreeDetail, TypingMethod,
};

/// What [`Ios`](super::Ios) can do beyond [`Device`], in the words of the errors for missing facets. A WebDriverAgent helps
/// with these.
const WITH_WDA: [&str; 8] = [
    "clearing a field",
    "setting the orientation",
    "unlocking the screen",
    "opening an address",
    "the clipboard",
    "setting the location",
    "health checks",
    "streaming the screen",
];

/// An iPhone or iPad of which iOS itself gives screenshots and the list of apps.
pub struct IphoneScreen {
    usbmux: UsbmuxClient,
    udid: String,
    identity: Identity,
}

impl IphoneScreen {
    /// A handle on the phone with this UDID. Starts iOS's service for screenshots once, to see whether it is there.
    ///
    /// `id` is the name by which clients select this phone.
    ///
    /// # Errors
    /// [`LockdownError::Refused`] if the phone has no such service: its iOS is 17 or later, or no developer disk image is
    /// mounted. Otherwise the phone cannot be reached, or does not trust this computer.
    pub async fn attach(
        id: &str,
        client: &UsbmuxClient,
        udid: &str,
    ) -> Result<Self, LockdownError> {
        Screenshotr::start(client, udid).await?;
        let DeviceValues { name, product_type, .. } = read_values(client, udid).await?;
        let model = match &*name {
            "" => product_type,
            name => format!("{name} ({product_type})"),
        };
        // A name that the phone's user chose.
        let model = visible(&model).into_owned();
        let identity = Identity { id: id.to_owned(), platform: Platform::Ios, model };
        Ok(Self { usbmux: client.clone(), udid: udid.to_owned(), identity })
    }

    async fn take_picture(&self) -> Result<Bytes, LockdownError> {
        Screenshotr::start(&self.usbmux, &self.udid).await?.take().await
    }

    /// The error for what only a WebDriverAgent does.
    async fn refusal(&self) -> Error {
        let device = match self.usbmux.find(&self.udid).await {
            Ok(device) => device,
            Err(error) => return not_connected(error.to_string()),
        };
        not_connected(match Iphone::examine(&self.usbmux, &device).await.missing {
            Some(missing) => look_only(missing),
            None => "its WebDriverAgent did not answer before and does now; call again".into(),
        })
    }

    /// The error for a failed request to one of iOS's services.
    async fn failed(&self, service: &'static str, error: LockdownError) -> Error {
        let text = error.to_string();
        match error {
            LockdownError::Protocol(text) => Error::Unreadable { command: service.into(), text },
            // The developer disk image is gone: the phone was restarted.
            LockdownError::Refused(_) => match self.refusal().await {
                Error::NotConnected { reason, .. } => {
                    not_connected(format!("{service}: {text}; {reason}"))
                }
                error => error,
            },
            error => {
                let step = iphone::of_error(&error).next_move();
                not_connected(format!("{text}. Next: {step}"))
            }
        }
    }
}

async fn read_values(client: &UsbmuxClient, udid: &str) -> Result<DeviceValues, LockdownError> {
    Lockdown::connect(client, udid).await?.device_values().await
}

fn not_connected(reason: String) -> Error {
    Error::NotConnected { reason, acted: SideEffect::None }
}

/// Why a phone can only be looked at, and the step that changes it.
fn look_only(missing: Missing) -> String {
    format!("it can only be looked at: {}. Next: {}", missing.state(), missing.next_move())
}

/// Reads the picture that iOS sent.
fn read_screenshot(bytes: Bytes) -> Result<Screenshot, Error> {
    // As `get_image_filename` of libimobiledevice's idevicescreenshot tells them apart.
    if [b"MM\0*", b"II*\0"].iter().any(|start| bytes.starts_with(*start)) {
        let step = Missing::WebDriverAgent.next_move();
        return Err(Error::Refused {
            what: "taking a screenshot",
            reason: format!("this old iOS sends it as a TIFF, which is not read here; {step}"),
        });
    }
    read_picture(bytes)
}

#[async_trait]
impl Device for IphoneScreen {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn facets(&self) -> Facets<'_> {
        Facets::default()
    }

    async fn probe(&self) -> Result<(), Error> {
        match Lockdown::connect(&self.usbmux, &self.udid).await {
            Ok(_) => Ok(()),
            Err(error) => Err(self.failed("lockdownd", error).await),
        }
    }

    /// By a screenshot: iOS tells it in no other way.
    async fn screen_size(&self) -> Result<Size, Error> {
        Ok(self.screenshot().await?.size)
    }

    async fn screenshot(&self) -> Result<Screenshot, Error> {
        match self.take_picture().await {
            Ok(bytes) => read_screenshot(bytes),
            Err(error) => Err(self.failed(screenshotr::SERVICE, error).await),
        }
    }

    async fn tree(&self, _detail: TreeDetail) -> Result<Tree, Error> {
        Err(self.refusal().await)
    }

    async fn touch(&self, _gesture: Gesture) -> Result<(), Error> {
        Err(self.refusal().await)
    }

    async fn type_text(&self, _text: &str) -> Result<TypingMethod, Error> {
        Err(self.refusal().await)
    }

    async fn press(&self, _key: Key) -> Result<(), Error> {
        Err(self.refusal().await)
    }

    async fn apps(&self) -> Result<AppList, Error> {
        match installed_apps::list(&self.usbmux, &self.udid).await {
            Ok(apps) => Ok(apps.into()),
            Err(error) => Err(self.failed("com.apple.mobile.installation_proxy", error).await),
        }
    }

    async fn launch(&self, _app: &AppId) -> Result<String, Error> {
        Err(self.refusal().await)
    }

    async fn stop(&self, _app: &AppId) -> Result<(), Error> {
        Err(self.refusal().await)
    }

    async fn foreground(&self) -> Result<Front, Error> {
        Err(self.refusal().await)
    }

    /// What lockdownd tells, with the size of a screenshot.
    async fn info(&self) -> Result<DeviceInfo, Error> {
        let values = match read_values(&self.usbmux, &self.udid).await {
            Ok(values) => values,
            Err(error) => return Err(self.failed("lockdownd", error).await),
        };
        let screen = self.screen_size().await?;
        let orientation = match screen.width > screen.height {
            true => Orientation::Landscape,
            false => Orientation::Portrait,
        };
        let (short, long) = (screen.width.min(screen.height), screen.width.max(screen.height));
        Ok(DeviceInfo {
            manufacturer: "Apple".into(),
            model: values.product_type,
            os_version: values.product_version,
            api_level: None,
            screen,
            density: None,
            orientation,
            battery: None,
            serial: String::new(),
            panel: Panel {
                size: Size { width: short, height: long },
                size_set: None,
                density: None,
                density_set: None,
            },
        })
    }

    /// Nothing is borrowed.
    async fn restore_borrowed(&self) {}

    /// No connection is kept.
    async fn disconnect(&self) {}

    /// What iOS lacks in any case is still [`Error::Unsupported`].
    fn unsupported(&self, what: &'static str) -> Error {
        match WITH_WDA.contains(&what) {
            true => not_connected(format!("{what}: {}", look_only(Missing::WebDriverAgent))),
            false => Error::Unsupported { what, platform: Platform::Ios },
        }
    }
}
