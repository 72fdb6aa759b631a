//! `--helper`: whether the helper on phones is used.

use thumbwire_device::android::HelperMode;

/// Whether Thumbwire uses its helper on phones.
#[derive(clap::Args)]
pub(super) struct HelperFlag {
    /// When to use the helper, our program that runs on the phone: `installed` if its file is there, `push` after writing the
    /// file there, `off` never. With `installed` or `push`, `serve` offers `mobile_pinch` [default: installed, without it]
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
    /// Whether the operator wants it used, not only tolerated.
    pub(super) fn is_asked_for(&self) -> bool {
        matches!(self.helper, Some(HelperName::Installed | HelperName::Push))
    }

    pub(super) fn is_off(&self) -> bool {
        self.helper == Some(HelperName::Off)
    }

    pub(super) fn mode(&self) -> HelperMode {
        match self.helper {
            None => HelperMode::default(),
            Some(HelperName::Off) => HelperMode::Off,
            Some(HelperName::Installed) => HelperMode::Installed,
            Some(HelperName::Push) => HelperMode::Push,
        }
    }
}
