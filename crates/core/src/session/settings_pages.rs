//! Pages of Settings that callers may look at and leave, but not act on: those that reset the
//! phone, and those for accounts, security and developers.
//!
//! Start with [`AttachedDevice::refuse_guarded_page`]. Most pages are fragments of one activity,
//! `SubSettings`, so the phone is asked for the fragment, once until the next action. Where it does
//! not tell, the words on the screen decide, and a screen that cannot be read is guarded.

use std::time::Duration;

use thumbwire_base::visible::without_hidden;
use thumbwire_device::ForegroundApp;

use super::attached_device::AttachedDevice;
use crate::action::{Cause, Failure, SnapshotOptions};

/// How old a look at the screen may be.
const JUST_SEEN: Duration = Duration::from_secs(5);

/// The app.
pub(super) const SETTINGS: &str = "com.android.settings";

/// How the classes of guarded pages begin: fragments and activities of AOSP's Settings, Android 4.4
/// to 16 (`SettingsGateway.ENTRY_FRAGMENTS`, before it those of `SettingsActivity` and `Settings`).
const GUARDED: [&str; 38] = [
    // Reset. Up to Android 9 `PrivacySettings` is "Backup & reset".
    "MasterClear",
    "MainClear",
    "ResetNetwork",
    "ResetDashboard",
    "FactoryReset",
    "PrivacySettings",
    "ToggleBackup",
    "EraseEuicc",
    // Accounts and users.
    "AccountSettings",
    "AccountSync",
    "AccountDashboard",
    "AccountDetail",
    "AccountPersonal",
    "AccountWork",
    "AddAccount",
    "ChooseAccount",
    "ManageAccounts",
    "UserAndAccount",
    "ManagedProfile",
    "UserSettings",
    "UserDetails",
    // Security.
    "Security",
    "Lockscreen",
    "ScreenLock",
    "ScreenPinning",
    "ChooseLock",
    "ConfirmLock",
    "ConfirmDeviceCredential",
    "TrustAgent",
    "TrustedCredentials",
    "UserCredentials",
    "CredentialStorage",
    "DeviceAdmin",
    "CryptKeeper",
    "Encryption",
    "ExternalSources",
    // Developers.
    "Development",
    "WirelessDebugging",
];

/// The same for biometrics and SIM locks, whose names begin in several ways.
const GUARDED_PARTS: [&str; 5] =
    ["Fingerprint", "FaceSettings", "FaceEnroll", "Biometric", "IccLock"];

/// Activities that show the list of subjects; in two panes, and on the virtual phone, beside or as
/// a page.
const HOME: [&str; 3] = ["Settings", "SettingsHomepageActivity", "MainSettings"];

/// Fragments of libraries, which say nothing of the page.
const NO_PAGE: [&str; 2] = ["ReportFragment", "SupportRequestManagerFragment"];

/// Words on guarded pages of Android 4.4 to 14 in English, if the phone does not tell the fragment.
const WORDS: [&str; 20] = [
    "reset options",
    "factory data reset",
    "erase all data (factory reset)",
    "erase all data",
    "erase everything",
    "reset phone",
    "reset network settings",
    "add account",
    "remove account",
    "auto-sync data",
    "automatically sync app data",
    "screen lock",
    "device administrators",
    "device admin apps",
    "encryption & credentials",
    "unknown sources",
    "install unknown apps",
    "use developer options",
    "usb debugging",
    "oem unlocking",
];

/// Titles of guarded pages that the list of subjects has, too.
const TITLES: [&str; 6] = [
    "backup & reset",
    "accounts",
    "passwords & accounts",
    "security",
    "security & privacy",
    "developer options",
];

impl AttachedDevice {
    /// Refuses to act on a guarded page of Settings, which is in front.
    pub(super) async fn refuse_guarded_page(&self, front: &ForegroundApp) -> Result<(), Failure> {
        let asked = self.screen.generation();
        let page = match self.screen.guard.page(asked) {
            Some(page) => page,
            None => {
                let page = self.guarded_page(front).await;
                self.screen.guard.learn_page(page.clone(), asked);
                page
            }
        };
        match page {
            Some(page) => Err(Cause::SettingsPageNotAllowed { page }.into()),
            None => Ok(()),
        }
    }

    /// The guarded page in front, or why it counts as one.
    async fn guarded_page(&self, front: &ForegroundApp) -> Option<String> {
        let activity = front.screen.rsplit(['.', '$']).next().unwrap_or_default();
        if is_guarded(activity) {
            return Some(activity.to_owned());
        }
        let reading = async { self.device.app_pages()?.fragments(&front.app).await };
        let fragments = reading.await.unwrap_or_else(|error| {
            tracing::debug!("cannot read the page of Settings: {error}");
            Vec::new()
        });
        if let Some(page) = fragments.iter().find(|class| is_guarded(class)) {
            return Some(page.clone());
        }
        if fragments.iter().any(|class| !NO_PAGE.contains(&class.as_str())) {
            return None;
        }
        let titles: &[&str] = if HOME.contains(&activity) { &[] } else { &TITLES };
        let is_word = |text: &String| WORDS.iter().chain(titles).any(|word| word == text);
        let looking = SnapshotOptions { max_age: JUST_SEEN, ..SnapshotOptions::default() };
        match self.snapshot(looking).await {
            Ok(seen) => {
                let nodes = seen.tree.nodes.iter();
                let texts = nodes.flat_map(|node| [&*node.text, &*node.description]);
                texts.map(|text| without_hidden(text).trim().to_lowercase()).find(is_word)
            }
            Err(_) => Some("a page that the phone does not tell".into()),
        }
    }
}

/// Whether a class is that of a guarded page.
fn is_guarded(class: &str) -> bool {
    GUARDED.iter().any(|start| class.starts_with(start))
        || GUARDED_PARTS.iter().any(|part| class.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_all_releases_are_known_by_their_class() {
        for class in [
            // 4.4 to 7
            "MasterClear",
            "MasterClearConfirm",
            "PrivacySettings",
            "SecuritySettings",
            "DevelopmentSettings",
            "ManageAccountsSettings",
            "AccountSettings",
            "ChooseLockGenericFragment",
            // 8 to 14
            "ResetDashboardFragment",
            "MainClear",
            "UserAndAccountDashboardFragment",
            "AccountDashboardFragment",
            "DevelopmentSettingsDashboardFragment",
            "LockscreenDashboardFragment",
            "FingerprintSettingsFragment",
            "CombinedBiometricSettings",
            // Activities.
            "DevelopmentSettingsDashboardActivity",
            "FactoryResetActivity",
            "SecuritySettingsActivity",
            "DeviceAdminAdd",
        ] {
            assert!(is_guarded(class), "{class}");
        }
        for class in [
            "WifiSettings",
            "DisplaySettings",
            "PrivacyDashboardFragment",
            "AppInfoDashboardFragment",
            "TopLevelSettings",
            "SubSettings",
            "AccessibilitySettings",
            "SoundSettings",
            "",
        ] {
            assert!(!is_guarded(class), "{class}");
        }
    }
}
