//! Keyboard apps: which are installed beside the phone's own, whether the selected one is bound to a field, and characters that get lost.

use std::time::Duration;

/// A keyboard app that may be installed beside the phone's own and takes its text from broadcasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BroadcastKeyboard {
    /// senzhk's ADBKeyBoard. It listens while its view is shown and answers no broadcast: `result=0` comes either way. Source: its
    /// `AdbIME.java`.
    AdbKeyboard,
    /// The one that uiautomator2 brings along. It answers `result=-1`, and names the action again as data where no field took it.
    /// Source: `AdbKeyboard.java` of android-uiautomator-server.
    Uiautomator2,
}

impl BroadcastKeyboard {
    /// Its id as an input method.
    pub fn id(self) -> &'static str {
        match self {
            Self::AdbKeyboard => "com.android.adbkeyboard/.AdbIME",
            Self::Uiautomator2 => "com.github.uiautomator/.AdbKeyboard",
        }
    }
}

/// What is installed, and how the selected method stands.
#[derive(Debug, Default)]
pub(crate) struct Methods {
    added: Vec<BroadcastKeyboard>,
    /// Uptime from which on the selected method is bound.
    bound_from: Duration,
    losses: Losses,
}

/// Typed characters that are to be lost.
#[derive(Debug, Default)]
struct Losses {
    every: u32,
    left: u32,
    seen: u32,
}

/// What came of a broadcast, as `am broadcast` tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BroadcastResult {
    /// 0 where nobody answered, -1 for `Activity.RESULT_OK`.
    pub result: i32,
    /// What was answered in words.
    pub data: Option<String>,
}

impl Methods {
    /// Keyboard apps beside the phone's own.
    pub(crate) fn added(&self) -> &[BroadcastKeyboard] {
        &self.added
    }

    /// Installs one.
    pub(crate) fn install(&mut self, keyboard: BroadcastKeyboard) {
        if !self.added.contains(&keyboard) {
            self.added.push(keyboard);
        }
    }

    /// Whether the selected method is bound by now.
    pub(crate) fn is_bound(&self, now: Duration) -> bool {
        now >= self.bound_from
    }

    /// Another method was selected: it is bound from then on.
    pub(crate) fn bind_from(&mut self, at: Duration) {
        self.bound_from = at;
    }

    /// From now on every `every`-th typed character is lost, `times` in all.
    pub(crate) fn set_losses(&mut self, every: u32, times: u32) {
        self.losses = Losses { every: every.max(1), left: times, seen: 0 };
    }

    /// Whether the character that is being typed gets lost.
    pub(crate) fn loses_one(&mut self) -> bool {
        let losses = &mut self.losses;
        if losses.left == 0 {
            return false;
        }
        losses.seen += 1;
        let lost = losses.seen.is_multiple_of(losses.every);
        losses.left -= u32::from(lost);
        lost
    }
}
