//! Keys: those that every phone has, and Android's own by name and number.

use std::borrow::Cow;

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// To the home screen.
    Home,
    /// One step back.
    Back,
    /// The menu of old Androids; newer ones mostly ignore it.
    Menu,
    /// Louder.
    VolumeUp,
    /// Quieter.
    VolumeDown,
    /// Screen off or on.
    Power,
    /// One of Android's own.
    Android(KeyCode),
}

impl Key {
    /// Those that every phone has.
    pub const COMMON: [Key; 6] =
        [Self::Home, Self::Back, Self::Menu, Self::VolumeUp, Self::VolumeDown, Self::Power];

    /// The name used on the wire by seed 004's tools; one of Android's own has Android's name.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::Home => "home".into(),
            Self::Back => "back".into(),
            Self::Menu => "menu".into(),
            Self::VolumeUp => "volume_up".into(),
            Self::VolumeDown => "volume_down".into(),
            Self::Power => "power".into(),
            Self::Android(code) => code.name(),
        }
    }

    /// The key that every phone has, of that name.
    pub fn from_name(name: &str) -> Option<Key> {
        Self::COMMON.into_iter().find(|key| key.name() == name)
    }
}

/// A key by its number in `android.view.KeyEvent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyCode(pub u16);

impl KeyCode {
    /// The highest number that a release of Android knows.
    pub const HIGHEST: u16 = 300;

    /// The key of that name, with or without `KEYCODE_`, small or capital; or of that number.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim();
        if let Ok(number) = name.parse::<u16>() {
            return (number <= Self::HIGHEST).then_some(Self(number));
        }
        let name = name.to_ascii_uppercase();
        let name = name.strip_prefix("KEYCODE_").unwrap_or(&name);
        NAMES.iter().find(|(known, _)| *known == name).map(|&(_, number)| Self(number))
    }

    /// Android's name for it, `KEYCODE_BACK`; its number where this table has no name.
    pub fn name(self) -> Cow<'static, str> {
        match NAMES.iter().find(|&&(_, number)| number == self.0) {
            Some((name, _)) => format!("KEYCODE_{name}").into(),
            None => self.0.to_string().into(),
        }
    }
}

/// `android.view.KeyEvent`.
const NAMES: &[(&str, u16)] = &[("HOME", 3), ("BACK", 4), ("ENTER", 66), ("DEL", 67)];
