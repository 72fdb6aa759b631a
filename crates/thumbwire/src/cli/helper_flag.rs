//! `--helper`: whether the helper on phones is used.

use thumbwire_device::android::HelperMode;

/// Whether Thumbwire uses its helper on phones.
#[derive(clap::Args)]
pub(super) struct HelperFlag {
    /// Whether to use the helper, our program that runs on the phone: `auto` where it starts,
    /// `require` or fail, `off` never. Its file is pushed to `/data/local/tmp`. With `auto` or
    /// `require` given, `serve` offers `mobile_pinch` [default: auto, without it]
    #[arg(long, value_name = "MODE", value_enum)]
    helper: Option<HelperName>,
}

/// A mode, as `--helper` takes it.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum HelperName {
    Auto,
    Off,
    Require,
}

impl HelperFlag {
    /// Whether the operator wants it used, not only tolerated.
    pub(super) fn is_asked_for(&self) -> bool {
        matches!(self.helper, Some(HelperName::Auto | HelperName::Require))
    }

    pub(super) fn is_off(&self) -> bool {
        self.helper == Some(HelperName::Off)
    }

    pub(super) fn mode(&self) -> HelperMode {
        match self.helper {
            None => HelperMode::default(),
            Some(HelperName::Auto) => HelperMode::Auto,
            Some(HelperName::Off) => HelperMode::Off,
            Some(HelperName::Require) => HelperMode::Require,
        }
    }
}
