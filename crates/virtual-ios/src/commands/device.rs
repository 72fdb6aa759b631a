//! The device itself: lock, buttons, keyboard, clipboard, battery.

use base64::Engine as _;
use serde_json::Value;
use thumbwire_virtual_phone::KeyCode;
use thumbwire_webdriver::{Appearance, BatteryInfo, DeviceCommand, DeviceInfo, ErrorCode};

use super::{Reply, refuse};
use crate::phone::VirtualIphone;
use crate::tree::Snapshot;

/// Limit on the clipboard in bytes.
const MAX_CLIPBOARD: usize = 1024 * 1024;

impl VirtualIphone {
    pub(super) async fn device_command(&self, command: DeviceCommand) -> Reply {
        match command {
            DeviceCommand::Lock => self.with(|phone| {
                if phone.world.screen_on() {
                    phone.world.key(KeyCode::POWER);
                }
            }),
            DeviceCommand::Unlock => return self.unlock(),
            DeviceCommand::IsLocked => {
                return Ok(self
                    .with(|phone| !phone.world.screen_on() || phone.world.keyguard_shown())
                    .into());
            }
            DeviceCommand::HomeScreen => self.with(|phone| phone.world.key(KeyCode::HOME)),
            DeviceCommand::PressButton { name, .. } => return self.press_button(&name),
            DeviceCommand::PerformHidEvent { page, usage, .. } => {
                return self.hid_event(page, usage);
            }
            DeviceCommand::ActivateSiri { text } => self.ask_siri(&text),
            DeviceCommand::BatteryInfo => {
                let battery = self.with(|phone| phone.world.battery());
                let state = match (battery.charging, battery.level) {
                    (true, 100..) => 3,
                    (true, _) => 2,
                    (false, _) => 1,
                };
                return Ok(
                    BatteryInfo { level: f64::from(battery.level) / 100.0, state }.to_value()
                );
            }
            DeviceCommand::DeviceInfo => return Ok(self.device_info()),
            DeviceCommand::SetAppearance { name } => {
                self.with(|phone| phone.is_dark = name == Appearance::Dark);
            }
            DeviceCommand::GetPasteboard { content_type } => {
                return self.pasteboard(content_type.as_deref());
            }
            DeviceCommand::SetPasteboard { content, content_type } => {
                if !matches!(content_type.as_deref().unwrap_or("plaintext"), "plaintext" | "url") {
                    return Err(refuse(
                        ErrorCode::InvalidArgument,
                        "this phone's pasteboard takes texts and URLs only",
                    ));
                }
                let text =
                    String::from_utf8(content.0).ok().filter(|text| text.len() <= MAX_CLIPBOARD);
                let text = text.ok_or_else(|| {
                    refuse(ErrorCode::InvalidArgument, "the content is not UTF-8, or too long")
                })?;
                self.with(|phone| phone.world.set_clipboard(text));
            }
            DeviceCommand::SetSimulatedLocation { latitude, longitude } => {
                self.with(|phone| phone.world.set_location(Some((latitude, longitude))));
            }
            DeviceCommand::DismissKeyboard { .. } => return self.dismiss_keyboard().await,
        }
        Ok(Value::Null)
    }

    /// Siri opens apps by name, and reports no failure.
    fn ask_siri(&self, text: &str) {
        let Some(name) = text.strip_prefix("open ") else { return };
        self.with(|phone| {
            let packages = phone.world.packages();
            let named = packages.iter().find(|app| app.label.eq_ignore_ascii_case(name));
            let package = named.map(|app| app.package.clone());
            if let Some(package) = package {
                // An app without an icon cannot be opened; Siri says so to the user only.
                let _ = phone.world.start(&package, None);
            }
        });
    }

    fn unlock(&self) -> Reply {
        let locked = self.with(|phone| {
            if !phone.world.screen_on() {
                phone.world.key(KeyCode::POWER);
            }
            phone.world.dismiss_keyguard();
            phone.world.keyguard_shown()
        });
        match locked {
            false => Ok(Value::Null),
            true => Err(refuse(
                ErrorCode::UnknownError,
                "Timed out while waiting until the screen gets unlocked",
            )),
        }
    }

    fn press_button(&self, name: &str) -> Reply {
        let key = match name.to_ascii_lowercase().as_str() {
            "home" => KeyCode::HOME,
            "volumeup" => KeyCode::VOLUME_UP,
            "volumedown" => KeyCode::VOLUME_DOWN,
            _ => {
                let message = format!(
                    "Unknown button '{name}'. Only the following button names are supported: home, volumeUp, volumeDown"
                );
                return Err(refuse(ErrorCode::InvalidArgument, message));
            }
        };
        self.with(|phone| phone.world.key(key));
        Ok(Value::Null)
    }

    fn hid_event(&self, page: u64, usage: u64) -> Reply {
        let key = match (page, usage) {
            (7, usage) if self.press_hid_key(usage) => return Ok(Value::Null),
            (12, 0x30) => KeyCode::POWER,
            (12, 0x40) => KeyCode::HOME,
            (12, 0xE9) => KeyCode::VOLUME_UP,
            (12, 0xEA) => KeyCode::VOLUME_DOWN,
            // A phone ignores events that nothing listens to.
            _ => return Ok(Value::Null),
        };
        self.with(|phone| phone.world.key(key));
        Ok(Value::Null)
    }

    fn device_info(&self) -> Value {
        let is_dark = self.with(|phone| phone.is_dark);
        DeviceInfo {
            name: Some(self.setup().name.clone()),
            model: Some("iPhone".to_owned()),
            current_locale: Some("en_US".to_owned()),
            time_zone: Some("UTC".to_owned()),
            uuid: Some(self.udid()),
            is_simulator: Some(false),
            style: Some(if is_dark { "dark" } else { "light" }.to_owned()),
        }
        .to_value()
    }

    fn pasteboard(&self, content_type: Option<&str>) -> Reply {
        let text =
            self.with(|phone| phone.world.clipboard().map(str::to_owned)).unwrap_or_default();
        let content = match content_type.unwrap_or("plaintext") {
            "plaintext" => text,
            // Only what is a URL is one.
            "url" if text.contains("://") => text,
            "url" | "image" => String::new(),
            other => {
                return Err(refuse(
                    ErrorCode::InvalidArgument,
                    format!("unsupported content type '{other}'"),
                ));
            }
        };
        Ok(base64::engine::general_purpose::STANDARD.encode(content).into())
    }

    async fn dismiss_keyboard(&self) -> Reply {
        if !self.with(|phone| phone.world.keyboard_shown()) {
            return Ok(Value::Null);
        }
        // On iOS, an app's own way or a key hides the keyboard; this one has such a key.
        let key = self.with(|phone| {
            let snapshot = Snapshot::take(&mut phone.world);
            let keyboard = snapshot.first("Keyboard")?;
            let keys = snapshot.descendants(keyboard).into_iter().map(|at| &snapshot.elements[at]);
            let mut hides = keys.filter(|key| {
                key.label.as_deref().is_some_and(|label| label.to_lowercase().contains("hide"))
            });
            hides.next().map(|key| key.bounds.center())
        });
        match key {
            Some(at) => self.play(crate::touches::Touches::taps(at, 1)).await,
            None => self.with(|phone| phone.world.key(KeyCode::ESCAPE)),
        }
        match self.with(|phone| phone.world.keyboard_shown()) {
            false => Ok(Value::Null),
            true => Err(refuse(
                ErrorCode::InvalidElementState,
                "The keyboard on iPhone cannot be dismissed because of a known XCTest issue. Try to dismiss it in the way supported by your application under test.",
            )),
        }
    }
}
