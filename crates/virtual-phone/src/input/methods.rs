//! Keyboard apps: which are installed besides the phone's own, whether the selected one is bound to
//! a field, and lost characters.

use std::time::Duration;

/// A keyboard app that can be installed besides the phone's own and receives its text by broadcast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BroadcastKeyboard {
    /// senzhk's ADBKeyBoard. It listens while its view is shown and replies to no broadcast:
    /// `result=0` either way. Source: its `AdbIME.java`.
    AdbKeyboard,
    /// The one that uiautomator2 installs. It replies `result=-1`, with the action as data if no
    /// field took the text. Source: `AdbKeyboard.java` of android-uiautomator-server.
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

/// The installed keyboard apps, and the state of the selected one.
#[derive(Debug, Default)]
pub(crate) struct Methods {
    added: Vec<BroadcastKeyboard>,
    /// The uptime at which the selected method is bound.
    bound_from: Duration,
    losses: Losses,
}

/// Which typed characters are lost.
#[derive(Debug, Default)]
struct Losses {
    every: u32,
    left: u32,
    seen: u32,
}

/// The result of a broadcast, as `am broadcast` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BroadcastResult {
    /// 0 if nobody replied, -1 for `Activity.RESULT_OK`.
    pub result: i32,
    /// The reply's data.
    pub data: Option<String>,
}

impl Methods {
    /// The keyboard apps besides the phone's own.
    pub(crate) fn added(&self) -> &[BroadcastKeyboard] {
        &self.added
    }

    /// Installs one.
    pub(crate) fn install(&mut self, keyboard: BroadcastKeyboard) {
        if !self.added.contains(&keyboard) {
            self.added.push(keyboard);
        }
    }

    /// Whether the selected method is bound at this uptime.
    pub(crate) fn is_bound(&self, now: Duration) -> bool {
        now >= self.bound_from
    }

    /// Notes that another method was selected, which is bound from then on.
    pub(crate) fn bind_from(&mut self, at: Duration) {
        self.bound_from = at;
    }

    /// Loses every `every`-th typed character from now on, `times` in total.
    pub(crate) fn set_losses(&mut self, every: u32, times: u32) {
        self.losses = Losses { every: every.max(1), left: times, seen: 0 };
    }

    /// Whether the character being typed is lost.
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
