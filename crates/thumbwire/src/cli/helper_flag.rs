//! `--helper`: whether the helper on phones is used.

use thumbwire_device::android::HelperMode;

use super::PHONES;
use super::one_of::one_of;

/// Whether Thumbwire uses its helper on phones.
#[derive(clap::Args)]
pub(super) struct HelperFlag {
    /// Whether to use the helper, our program that runs on the phone: `auto` where it starts,
    /// `require` or fail, `off` never. Its file is pushed to `/data/local/tmp`. With `auto` or
    /// `require` given, `serve` offers `mobile_pinch` [default: auto, without it]
    #[arg(long, value_name = "MODE", value_parser = one_of(HELPER_MODES), help_heading = PHONES)]
    helper: Option<HelperMode>,
}

/// The modes, as `--helper` takes them.
pub(super) const HELPER_MODES: &[(&str, HelperMode)] =
    &[("auto", HelperMode::Auto), ("off", HelperMode::Off), ("require", HelperMode::Require)];

impl HelperFlag {
    /// Whether the operator wants it used, not only tolerated.
    pub(super) fn is_asked_for(&self) -> bool {
        matches!(self.helper, Some(HelperMode::Auto | HelperMode::Require))
    }

    pub(super) fn is_off(&self) -> bool {
        self.helper == Some(HelperMode::Off)
    }

    pub(super) fn mode(&self) -> HelperMode {
        self.helper.unwrap_or_default()
    }
}
