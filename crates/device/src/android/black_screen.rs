//! Asks the phone why a screenshot is black. Runs once, and only for black screenshots.
//!
//! Android excludes windows with FLAG_SECURE from screenshots, and a screen that is off gives a
//! black one. Sources: `WindowManager.LayoutParams` (0x2000 is FLAG_SECURE; the dump has `fl=#hex`
//! on old phones, `fl=… FLAG_SECURE …` later and `fl=… SECURE …` since about Android 10),
//! `PowerManagerService.dump` (`mWakefulness=`).

use super::front::is_off;
use super::screen::capture_failed;
use super::windows::{Window, braced, windows};
use super::{Android, CommandOutput, ShellCommand};
use crate::image::{Blackness, Effort, Pixels, blackness, may_be_black};
use crate::{BlackReason, Device as _, Error, Foreground, ForegroundApp, LockState, Screenshot};

/// Prints the power manager's state, then the windows, in one round trip.
fn blank_command() -> ShellCommand {
    ShellCommand::new("dumpsys power; dumpsys window windows")
}

/// Finds the reason in the command's output; `None` if there is none.
fn read_blank(text: &str) -> Option<BlackReason> {
    if is_off(text) {
        return Some(BlackReason::ScreenOff);
    }
    let windows = windows(text);
    let focus =
        text.lines().filter_map(|line| line.trim().strip_prefix("mCurrentFocus=")).find_map(braced);
    let secure = |window: &&Window<'_>| window.secure && window.shows && !window.text.is_empty();
    let focused = |window: &&Window<'_>| focus == Some(window.text);
    // The window with the focus; otherwise, as behind a dialog, the topmost one.
    let found = windows.iter().filter(secure).find(focused);
    let window = found.or_else(|| windows.iter().find(secure))?;
    Some(BlackReason::Secure { window: short(window.title()) })
}

fn short(title: &str) -> String {
    const MAX_TITLE: usize = 200;
    title.chars().take(MAX_TITLE).collect()
}

impl Android {
    /// Takes the place of a screenshot that the phone did not make. Some phones refuse one of a
    /// secure window where others make a black one: then this is black, too, with the reason.
    pub(super) async fn missing_picture(&self, error: Error) -> Result<Screenshot, Error> {
        let asked = self.ask(blank_command()).await;
        let reason = asked.ok().and_then(|output| read_blank(&output.out));
        let is_said = error.to_string().to_ascii_lowercase().contains("secure");
        let reason = match reason {
            Some(BlackReason::ScreenOff) => return Err(Error::Locked(LockState::ScreenOff)),
            Some(reason) => reason,
            // Also without its flag in the report, the window in front is meant.
            None if is_said => BlackReason::Secure { window: self.window_in_front().await },
            None => return Err(error),
        };
        let size = self.screen_size().await?;
        let side = |length: i32| u32::try_from(length).unwrap_or_default();
        let (width, height) = (side(size.width), side(size.height));
        let Some(pixels) = Pixels::black(width, height) else { return Err(error) };
        let image = pixels.write_png(Effort::Fast);
        let image = image.map_err(|error| capture_failed(&error))?;
        Ok(Screenshot { image, size, blank: Some(reason) })
    }

    async fn window_in_front(&self) -> String {
        match self.read_front().await {
            Ok(Foreground::App(ForegroundApp { app, screen })) => short(&format!("{app}/{screen}")),
            Ok(Foreground::System { title }) => short(&title),
            _ => "unknown".into(),
        }
    }

    /// Adds the reason to a black screenshot. Asks the phone only if it is black.
    pub(super) async fn explain_black(&self, picture: Screenshot) -> Result<Screenshot, Error> {
        let (image, size) = (picture.image.clone(), picture.size);
        if picture.blank.is_some() || !may_be_black(&image, size) {
            return Ok(picture);
        }
        let black = tokio::task::spawn_blocking(move || blackness(&image, size));
        let black = black.await.map_err(|error| capture_failed(&error))?;
        if black == Blackness::No {
            return Ok(picture);
        }
        let reason = match self.ask(blank_command()).await {
            Ok(CommandOutput { out, .. }) => read_blank(&out),
            Err(error) => {
                tracing::debug!("cannot find out why the screen is black: {error}");
                None
            }
        };
        // A dark app's nearly black screen is normal.
        let blank = reason.or((black == Blackness::Whole).then_some(BlackReason::Unexplained));
        Ok(Screenshot { blank, ..picture })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AWAKE: &str = "Power Manager State:\n  mWakefulness=Awake\n";

    fn secure(window: &str) -> Option<BlackReason> {
        Some(BlackReason::Secure { window: window.into() })
    }

    #[test]
    fn secure_window_is_found_by_flag_name() {
        let of = |flags: &str, shows: bool, focus: &str| {
            read_blank(&format!(
                "{AWAKE}WINDOW MANAGER WINDOWS (dumpsys window windows)\n  Window #0 Window{{1a u0 StatusBar}}:\n    mAttrs={{(0,0)(fillx63) ty=STATUS_BAR fmt=TRANSLUCENT\n      fl=NOT_FOCUSABLE SPLIT_TOUCH\n      pfl=SECURE}}\n    mHasSurface=true isReadyForDisplay()=true\n  Window #1 Window{{2b u0 com.bank/com.bank.Login}}:\n    mAttrs={{(0,0)(fillxfill) ty=BASE_APPLICATION wanim=0x10302fe\n      fl={flags}\n      pfl=FIT_INSETS_CONTROLLED}}\n    mHasSurface={shows} isReadyForDisplay()={shows}\n  mCurrentFocus=Window{{{focus}}}\n"
            ))
        };
        let bank = "com.bank/com.bank.Login";
        let text = "LAYOUT_IN_SCREEN SECURE LAYOUT_INSET_DECOR";
        assert_eq!(of(text, true, "2b u0 com.bank/com.bank.Login"), secure(bank));
        assert_eq!(of("SECURE}", true, "none"), secure(bank));
        assert_eq!(of("LAYOUT_IN_SCREEN FLAG_SECURE", true, "none"), secure(bank));
        assert_eq!(of(text, false, "2b u0 com.bank/com.bank.Login"), None);
        assert_eq!(of("LAYOUT_IN_SCREEN INSECURE SECURED", true, "none"), None);
    }

    #[test]
    fn secure_window_is_found_by_hex_flags() {
        let of = |flags: &str| {
            read_blank(&format!(
                "{AWAKE}  Window #6 Window{{a6 u0 Keyguard}}:\n    mAttrs=WM.LayoutParams{{(0,0)(fillxfill) sim=#10 ty=2004 fl={flags} pfl=0xa fmt=-3}}\n    mHasSurface=true\n"
            ))
        };
        assert_eq!(of("#d132900"), secure("Keyguard"));
        assert_eq!(of("#d130900"), None);
        assert_eq!(of("#"), None);
        assert_eq!(of("#ffffffffffffffffffffffff"), None);
    }

    #[test]
    fn focused_window_wins_over_one_above_it() {
        let window = |number: u8, name: &str| {
            format!("  Window #{number} Window{{{number} u0 {name}}}:\n    fl=SECURE\n")
        };
        let output = |focus: &str| {
            let focus = format!("  mCurrentFocus=Window{{{focus}}}\n");
            read_blank(&[AWAKE, &window(0, "Pin"), &window(1, "Bank"), &focus].concat())
        };
        assert_eq!(output("1 u0 Bank"), secure("Bank"));
        assert_eq!(output("9 u0 Dialog"), secure("Pin"));
    }

    #[test]
    fn secure_window_on_another_display_is_ignored() {
        let on = |display: u8| {
            let place = format!("    mDisplayId={display} rootTaskId=7 mSession=Session{{1 2:u0}}");
            read_blank(&format!(
                "{AWAKE}  Window #0 Window{{1 u0 Bank}}:\n{place}\n    fl=SECURE\n"
            ))
        };
        assert_eq!((on(0), on(8)), (secure("Bank"), None));
    }

    #[test]
    fn screen_off_wins_over_secure_windows() {
        let secure = "  Window #0 Window{1 u0 Bank}:\n    fl=SECURE\n";
        for state in ["mWakefulness=Asleep", "mWakefulness=Dozing", "mScreenOn=false"] {
            let output = format!("  {state}\r\n{secure}");
            assert_eq!(read_blank(&output), Some(BlackReason::ScreenOff), "{state}");
        }
        // A stale line of an old phone that is awake, next to its display's state.
        let output = "  mWakefulness=Awake\n  mScreenOn=false\n";
        assert_eq!(read_blank(output), None);
    }

    #[test]
    fn meaningless_output_gives_no_reason() {
        for message in
            ["", "Can't find service: power\n", "Window #", "fl=SECURE", "Window #1\nfl=SECURE"]
        {
            assert_eq!(read_blank(message), None, "{message}");
        }
    }
}
