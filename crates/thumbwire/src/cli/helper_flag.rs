//! `--helper`: whether the helper on phones is used.

use thumbwire_device::android::HelperMode;

/// Whether Thumbwire uses its helper on phones.
#[derive(clap::Args)]
pub(super) struct HelperFlag {
    /// When to use the helper, our program that runs on the phone: `installed` if its file is there, `push` after writing the
    /// file there, `off` never [default: installed]
    #[arg(long, value_name = "MODE", value_enum)]
    helper: Option<HelperName>,
}

/// A mode, as `--helper` takes it.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum HelperName {
    Off,
    Installed,
    Push,
}

impl HelperFlag {
    pub(super) fn mode(&self) -> HelperMode {
        match self.helper {
            None => HelperMode::default(),
            Some(HelperName::Off) => HelperMode::Off,
            Some(HelperName::Installed) => HelperMode::Installed,
            Some(HelperName::Push) => HelperMode::Push,
        }
    }
}
