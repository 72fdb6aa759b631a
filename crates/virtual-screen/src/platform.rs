//! The platform whose fonts and manner a phone has: Android or iOS.

/// The platform of a phone. Apps and their state are the same on both; `ios_look` redraws them in
/// iOS's manner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Platform {
    /// Android: a back key, a gesture bar, Material widgets.
    #[default]
    Android,
    /// iOS: no back key, navigation bars, a home indicator, alerts.
    Ios,
}

impl Platform {
    /// The version of iOS whose manner a virtual iPhone has.
    pub const IOS_VERSION: &str = "18.0";
}
