//! What is in front: the window with the focus, or what keeps a person from using it.
//!
//! Start with [`read_front`]. The power manager and the window manager are asked in one round trip.
//! A window is named by its title; its type says whether it belongs to an app.

use super::windows::{Window, braced, title, windows};
use super::{Android, CommandOutput, ShellCommand, display};
use crate::app_name::is_package_name;
use crate::error::excerpt;
use crate::{AppId, Error, Foreground, ForegroundApp};

/// Prints the power manager's state, then the window manager's.
///
/// Not filtered on the phone: old ones have no `grep`.
pub(super) fn front_command() -> ShellCommand {
    ShellCommand::new(FRONT)
}

/// The reports that [`read_front`] reads. Without `-a` the windows have no frames.
pub(super) const FRONT: &str = "dumpsys power; dumpsys window -a";

impl Android {
    pub(super) async fn read_front(&self) -> Result<Foreground, Error> {
        let CommandOutput { out, .. } = self.ask(front_command()).await?;
        read_front(&out).ok_or_else(|| Error::Unreadable {
            command: front_command().as_str().to_owned(),
            text: excerpt(out),
        })
    }
}

/// Parses the output of both reports; `None` if it has nothing about windows.
///
/// The focus is in `mCurrentFocus=Window{hash u0 TITLE}`, or `null` during a window change; then
/// the focused app's record names the next one. Since Android 10 each display has its own focus
/// (`DisplayContent.dump` in AOSP); the built-in display's counts.
pub(super) fn read_front(text: &str) -> Option<Foreground> {
    if is_off(text) {
        return Some(Foreground::ScreenOff);
    }
    let built_in = display::section(text).filter(|part| part.contains("mCurrentFocus="));
    let output = built_in.unwrap_or(text);
    if !output.contains("mCurrentFocus") && !output.contains("mFocusedApp") {
        return None;
    }
    let focused_app = || values(output, "mFocusedApp=").find_map(component);
    let focus = values(output, "mCurrentFocus=").find_map(braced);
    let Some(focus) = focus else {
        return Some(if is_locked(text) {
            Foreground::Keyguard
        } else {
            focused_app().map_or(Foreground::Unknown, Foreground::App)
        });
    };
    let title = title(focus);
    Some(match title {
        "Keyguard" => Foreground::Keyguard,
        // Since Android 5 the keyguard is a part of one of these.
        "StatusBar" | "NotificationShade" if is_locked(text) => Foreground::Keyguard,
        // A menu or dialog of an activity.
        _ => match app_of(title.strip_prefix("AtchDlg:").unwrap_or(title)) {
            Some(app) => Foreground::App(app),
            None if is_of_app(text, focus, title) => {
                focused_app().map_or(Foreground::Unknown, Foreground::App)
            }
            None => Foreground::System { title: title.chars().take(MAX_TITLE).collect() },
        },
    })
}

const MAX_TITLE: usize = 200;

/// Whether a window without an app in its title belongs to one: a popup is titled
/// `PopupWindow:hash`.
fn is_of_app(text: &str, focus: &str, title: &str) -> bool {
    let listed = windows(text).into_iter().find(|window| window.text == focus);
    listed.as_ref().and_then(Window::is_of_app).unwrap_or(title.starts_with("PopupWindow:"))
}

/// Whether the power manager reports that the screen shows nothing. Dozing is the always-on
/// display, which shows a clock at most. Source: `PowerManagerService.dump`.
pub(super) fn is_off(text: &str) -> bool {
    match values(text, "mWakefulness=").next() {
        Some(state) => matches!(state.trim(), "Asleep" | "Dozing"),
        None => values(text, "mScreenOn=").next().is_some_and(|on| on.trim() == "false"),
    }
}

/// Whether the window manager's policy reports that the keyguard is showing: `mShowingLockscreen`
/// up to Android 7, `isKeyguardShowing` since 10, and the state of `KeyguardServiceDelegate` since
/// 8.
fn is_locked(text: &str) -> bool {
    let marks = ["mShowingLockscreen=true", "isKeyguardShowing=true", "mIsShowing=true"];
    let mut words = text.split_whitespace();
    words.any(|word| marks.contains(&word))
        || text.lines().any(|line| line.trim() == "showing=true")
}

/// The values of lines that begin with this key.
fn values<'a>(text: &'a str, key: &'static str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| line.trim().strip_prefix(key))
}

/// The app and activity in a record such as `ActivityRecord{9f u0 com.x/.Main t12}`.
fn component(record: &str) -> Option<ForegroundApp> {
    record.split([' ', '{', '}']).find_map(|word| word.contains('/').then(|| app_of(word))?)
}

/// The app in a window's title: `PACKAGE/ACTIVITY`, or a bare package.
pub(super) fn app_of(title: &str) -> Option<ForegroundApp> {
    let (package, activity) = title.split_once('/').unwrap_or((title, ""));
    // Words behind a component's name, such as `EXITING` or the rest of a record, are its state.
    let activity = activity.split([' ', ',', ';']).next().unwrap_or_default();
    // The system itself is the package `android`; any other has a dot.
    let named = package.contains('.') || (package == "android" && !activity.is_empty());
    if !named || !is_package_name(package) {
        return None;
    }
    let screen = match activity.strip_prefix('.') {
        Some(_) => format!("{package}{activity}"),
        None => activity.to_owned(),
    };
    Some(ForegroundApp { app: AppId(package.into()), screen })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(text: &str) -> Foreground {
        read_front(text).unwrap()
    }

    fn app(app: &str, screen: &str) -> Foreground {
        Foreground::App(ForegroundApp { app: AppId(app.into()), screen: screen.into() })
    }

    fn system(title: &str) -> Foreground {
        Foreground::System { title: title.into() }
    }

    #[test]
    fn focus_is_parsed() {
        let plain = "  mCurrentFocus=Window{41b3 u0 com.android.calculator2/com.android.calculator2.Calculator}\n  mFocusedApp=AppWindowToken{41 token=Token{41 ActivityRecord{41 u0 com.android.calculator2/.Calculator t3}}}\n";
        let calculator = app("com.android.calculator2", "com.android.calculator2.Calculator");
        assert_eq!(front(plain), calculator);
        let changing =
            "  mCurrentFocus=null\r\n  mFocusedApp=ActivityRecord{9f u0 com.x/.Main t12}\r\n";
        assert_eq!(front(changing), app("com.x", "com.x.Main"));
        // Android 13 prints a stray brace.
        let braced = "  mCurrentFocus=null\n  mFocusedApp=ActivityRecord{9f u0 com.x/.Main} t12}\n";
        assert_eq!(front(braced), app("com.x", "com.x.Main"));
        // Words behind the component: another window's state, the rest of a record.
        let leaving = "  mCurrentFocus=Window{7 u0 com.x/com.x.Main EXITING}\n";
        assert_eq!(front(leaving), app("com.x", "com.x.Main"));
        let record = "  mCurrentFocus=null\n  mFocusedApp=AppWindowToken{3 token=Token{9 ActivityRecord{2 u0 com.x/.Main, isShadow:false t10}}}\n";
        assert_eq!(front(record), app("com.x", "com.x.Main"));
        assert_eq!(front("  mCurrentFocus=null\n  mFocusedApp=null\n"), Foreground::Unknown);
        assert_eq!(read_front("dumpsys: not found"), None);
    }

    /// Focused titles with the app that had been in front before.
    #[test]
    fn windows_of_the_system_never_count_as_the_app_behind_them() {
        let of = |title: &str| {
            front(&format!(
                "  mCurrentFocus=Window{{7 u0 {title}}}\r\n  mFocusedApp=ActivityRecord{{9f u0 com.x/.Main t12}}\r\n"
            ))
        };
        let behind = app("com.x", "com.x.Main");
        for (title, expected) in [
            ("Keyguard", Foreground::Keyguard),
            ("NotificationShade", system("NotificationShade")),
            ("Application Error: com.x", system("Application Error: com.x")),
            ("Application Not Responding: com.x", system("Application Not Responding: com.x")),
            ("GlobalActions", system("GlobalActions")),
            ("AtchDlg:com.y/com.y.Compose", app("com.y", "com.y.Compose")),
            ("PopupWindow:41f0a8", behind),
            (
                "android/com.android.internal.app.ResolverActivity",
                app("android", "com.android.internal.app.ResolverActivity"),
            ),
            ("com.foo.bar", app("com.foo.bar", "")),
            ("a title / of words", system("a title / of words")),
        ] {
            assert_eq!(of(title), expected, "{title}");
        }
    }

    #[test]
    fn type_of_the_focused_window_tells_whose_it_is() {
        let of = |kind: &str| {
            front(&format!(
                "  Window #3 Window{{7 u0 My window}}:\n    mAttrs={{(0,0)(fillxfill) sim=#20 {kind} fl=#1 fmt=-3}}\n  mCurrentFocus=Window{{7 u0 My window}}\n  mFocusedApp=ActivityRecord{{9f u0 com.x/.Main t12}}\n"
            ))
        };
        assert_eq!(of("ty=2"), app("com.x", "com.x.Main"));
        assert_eq!(of("ty=APPLICATION_PANEL"), app("com.x", "com.x.Main"));
        assert_eq!(of("ty=2003"), system("My window"));
        assert_eq!(of("ty=VOLUME_OVERLAY"), system("My window"));
    }

    #[test]
    fn keyguard_is_recognized_in_all_releases() {
        let of = |policy: &str, title: &str| {
            front(&format!(
                "{policy}\n  mCurrentFocus={title}\n  mFocusedApp=ActivityRecord{{9f u0 com.x/.Main t12}}\n"
            ))
        };
        let (shade, bar) = ("Window{7 u0 NotificationShade}", "Window{7 u0 StatusBar}");
        assert_eq!(
            of("    mShowingLockscreen=true mShowingDream=false", bar),
            Foreground::Keyguard
        );
        assert_eq!(
            of("    KeyguardServiceDelegate\n      showing=true", bar),
            Foreground::Keyguard
        );
        assert_eq!(of("    x=1 isKeyguardShowing=true", shade), Foreground::Keyguard);
        assert_eq!(of("        mIsShowing=true", "null"), Foreground::Keyguard);
        assert_eq!(of("    isKeyguardShowing=false", shade), system("NotificationShade"));
    }

    #[test]
    fn sleeping_screen_wins() {
        let off = "Power Manager State:\r\n  mWakefulness=Asleep\r\n  mCurrentFocus=Window{1 u0 com.x/com.x.Main}\r\n";
        assert_eq!(front(off), Foreground::ScreenOff);
    }

    #[test]
    fn focus_of_the_built_in_display_is_used() {
        // The order in a car with several displays.
        let output = |focus: &str| {
            format!(
                "  Display: mDisplayId=8 (organized)\n  mCurrentFocus=Window{{1 u0 com.cluster/com.cluster.Dials}}\n  Display: mDisplayId=0 (organized)\n  mCurrentFocus={focus}\n  Display: mDisplayId=9\n  mFocusedApp=ActivityRecord{{9f u0 com.rear/.Main t12}}\n"
            )
        };
        let map = app("com.map", "com.map.Main");
        assert_eq!(front(&output("Window{2 u0 com.map/com.map.Main}")), map);
        assert_eq!(front(&output("null")), Foreground::Unknown);
        // Before Android 10 there is only one focus, after all displays.
        let one = "  Display: mDisplayId=0\n  Display: mDisplayId=8\n  mCurrentFocus=Window{2 u0 com.map/com.map.Main}\n";
        assert_eq!(front(one), map);
    }
}
