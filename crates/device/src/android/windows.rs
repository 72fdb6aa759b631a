//! The window manager's list of windows, as `dumpsys window` prints it.
//!
//! Each window begins with `Window #N Window{hash u0 TITLE}:` and has its attributes in the lines
//! below. Android 4.0 to 16 print the same keys with other details; only those that all of them
//! have are read.

use crate::{Rect, WindowKind};

/// A window of the list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window<'a> {
    /// The text between the braces: a number, the user, the title. Empty for a line without them.
    pub(super) text: &'a str,
    /// Whether it is on the built-in display and has something to show.
    pub(super) shows: bool,
    /// Whether it is kept out of screenshots.
    pub(super) secure: bool,
    /// Its type: a number before Android 8, then a name.
    pub(super) kind: Option<&'a str>,
    /// Its place on the screen.
    pub(super) frame: Option<Rect>,
    content_insets: Option<[i32; 4]>,
}

impl<'a> Window<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, shows: true, secure: false, kind: None, frame: None, content_insets: None }
    }

    /// Reads the attributes of a line, unless one before it had them.
    fn read(&mut self, line: &'a str) {
        let (mut own_frame, mut named_frame) = (None, None);
        // The list of a real phone has thousands of words, and this is done for each look.
        for (key, value) in line.split_ascii_whitespace().filter_map(|word| word.split_once('=')) {
            match key {
                "mDisplayId" => self.shows &= value == "0",
                "mHasSurface" | "isOnScreen" | "isVisible" => self.shows &= value != "false",
                "ty" => {
                    let kind = value.trim_end_matches('}');
                    self.kind = self.kind.or((!kind.is_empty()).then_some(kind));
                }
                // `mFrame=` before Android 12, then `frame=` in the line of all frames.
                "mFrame" => own_frame = own_frame.or(Some(value)),
                "frame" => named_frame = named_frame.or(Some(value)),
                "mGivenContentInsets" => {
                    self.content_insets = self.content_insets.or_else(|| pairs(value));
                }
                _ => {}
            }
        }
        self.frame = self.frame.or_else(|| own_frame.or(named_frame).and_then(rect));
    }

    /// The title.
    pub(super) fn title(&self) -> &'a str {
        title(self.text)
    }

    /// Its frame without the margins that it declares to be empty: the visible part of a keyboard.
    pub(super) fn content(&self) -> Option<Rect> {
        let Rect { left, top, right, bottom } = self.frame?;
        let [l, t, r, b] = self.content_insets.unwrap_or_default();
        let content = Rect {
            left: left.saturating_add(l),
            top: top.saturating_add(t),
            right: right.saturating_sub(r),
            bottom: bottom.saturating_sub(b),
        };
        (!content.is_empty()).then_some(content)
    }

    /// What it is to the app that it belongs to. Source: `WindowManager.LayoutParams`: an
    /// activity's own window is a `TYPE_BASE_APPLICATION`, a dialog a `TYPE_APPLICATION`; menus and
    /// popups are sub-windows.
    pub(super) fn role(&self) -> WindowKind {
        match self.kind.unwrap_or_default() {
            "2" | "APPLICATION" | "1003" | "APPLICATION_ATTACHED_DIALOG" => WindowKind::Dialog,
            "1000" | "APPLICATION_PANEL" | "1002" | "APPLICATION_SUB_PANEL" => WindowKind::Popup,
            _ => WindowKind::Main,
        }
    }

    /// Whether it belongs to an app: an activity, its dialogs, menus and popups. `None` if the list
    /// does not say. Source: `WindowManager.LayoutParams` (`FIRST_SYSTEM_WINDOW` is 2000).
    pub(super) fn is_of_app(&self) -> Option<bool> {
        let kind = self.kind?;
        Some(match kind.parse::<u32>() {
            Ok(number) => number < 2000,
            Err(_) => kind.contains("APPLICATION") && kind != "APPLICATION_OVERLAY",
        })
    }
}

/// The windows in a dump, topmost first.
pub(super) fn windows(text: &str) -> Vec<Window<'_>> {
    let mut windows: Vec<Window<'_>> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(head) = line.strip_prefix("Window #") {
            windows.push(Window::new(braced(head).unwrap_or_default()));
        } else if let Some(window) = windows.last_mut() {
            // A window's own flags are in its `mAttrs`; later lines of the same form belong to
            // other rotations.
            window.secure |= flags(line).is_some_and(is_secure);
            window.read(line);
        }
    }
    windows
}

/// The visible part of the keyboard, if it is shown. The tree of the active window lacks it.
pub(super) fn keyboard(windows: &[Window<'_>]) -> Option<Rect> {
    let shown = windows.iter().find(|window| window.shows && window.title() == "InputMethod");
    shown.and_then(Window::content)
}

/// The window with the focus.
pub(super) fn focused<'w, 'a>(windows: &'w [Window<'a>], text: &str) -> Option<&'w Window<'a>> {
    let mut lines = text.lines().filter_map(|line| line.trim().strip_prefix("mCurrentFocus="));
    let focus = lines.find_map(braced)?;
    windows.iter().find(|window| window.text == focus)
}

/// `Window{a67572b0 u0 Keyguard}` without the text around it.
pub(super) fn braced(text: &str) -> Option<&str> {
    let (_, words) = text.split_once("Window{")?;
    words.split_once('}').map(|(words, _)| words)
}

/// The title, which follows the number and the user (`u0`; not printed by Android 4.1 and earlier).
pub(super) fn title(text: &str) -> &str {
    let title = text.split_once(' ').map_or(text, |(_, title)| title);
    let user = |word: &str| word.strip_prefix('u').is_some_and(|user| user.parse::<u32>().is_ok());
    let title = match title.split_once(' ') {
        Some((first, title)) if user(first) => title,
        _ => title,
    };
    // Android 4.0 and 4.1 end with the state.
    title.split(" paused=").next().unwrap_or(title)
}

/// `[l,t][r,b]`
fn rect(text: &str) -> Option<Rect> {
    let [left, top, right, bottom] = pairs(text)?;
    Some(Rect { left, top, right, bottom })
}

fn pairs(text: &str) -> Option<[i32; 4]> {
    let mut numbers = text
        .split(['[', ']', ','])
        .filter(|number| !number.is_empty())
        .map(|number| number.parse().ok());
    let mut next = || numbers.next().flatten();
    Some([next()?, next()?, next()?, next()?])
}

/// The text after `fl=`, up to the end of the line.
fn flags(line: &str) -> Option<&str> {
    match line.strip_prefix("fl=") {
        Some(flags) => Some(flags),
        None => line.split_once(" fl=").map(|(_, flags)| flags),
    }
}

fn is_secure(flags: &str) -> bool {
    const FLAG_SECURE: u64 = 0x2000;
    let mut text = flags.split(|c: char| c.is_whitespace() || c == '}');
    if let Some(number) = flags.strip_prefix('#') {
        let digits = number.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default();
        return u64::from_str_radix(digits, 16).is_ok_and(|flags| flags & FLAG_SECURE != 0);
    }
    text.any(|word| word == "SECURE" || word == "FLAG_SECURE")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a keyboard that a real Android 4.4.4 printed, and of newer ones in the keys of
    /// their captures.
    fn keyboard_of(lines: &str) -> Option<Rect> {
        let text = format!("  Window #2 Window{{9672a8f8 u0 InputMethod}}:\r\n{lines}");
        keyboard(&windows(&text))
    }

    #[test]
    fn keyboard_is_its_frame_without_the_given_insets() {
        let old = "    mAttrs=WM.LayoutParams{(0,0)(fillxfill) gr=#50 sim=#20 ty=2011 fl=#81800108 fmt=-3 wanim=0x1030056}\r\n    mGivenContentInsets=[0,309][0,0] mGivenVisibleInsets=[0,309][0,0]\r\n    mHasSurface=true mShownFrame=[0.0,87.0][480.0,800.0] isReadyForDisplay()=true\r\n    mFrame=[0,87][480,800] last=[0,87][480,800]\r\n";
        let shown = Rect { left: 0, top: 396, right: 480, bottom: 800 };
        assert_eq!(keyboard_of(old), Some(shown));
        let new = "    mAttrs={(0,0)(fillxfill) gr=BOTTOM CENTER_VERTICAL sim={adjust=pan} ty=INPUT_METHOD fmt=TRANSPARENT\n    mGivenContentInsets=[0,1344][0,0] mGivenVisibleInsets=[0,1344][0,0]\n    mHasSurface=true isReadyForDisplay()=true\n    Frames: parent=[0,142][1080,2424] display=[0,142][1080,2424] frame=[0,142][1080,2424] last=[0,0][0,0] insetsChanged=false\n    isOnScreen=true\n    isVisible=true\n";
        let shown = Rect { left: 0, top: 1486, right: 1080, bottom: 2424 };
        assert_eq!(keyboard_of(new), Some(shown));
        assert_eq!(keyboard_of(&new.replace("isVisible=true", "isVisible=false")), None);
        assert_eq!(keyboard_of("    mHasSurface=true\n"), None, "no frame");
    }

    #[test]
    fn title_follows_number_and_user() {
        assert_eq!(title("a67572b0 u0 Application Error: com.x"), "Application Error: com.x");
        assert_eq!(title("41b3 com.x/com.x.Main paused=false"), "com.x/com.x.Main");
        assert_eq!(title("Keyguard"), "Keyguard");
    }

    #[test]
    fn window_type_tells_whose_it_is() {
        let of = |kind: &str| {
            let text = format!("Window #0 Window{{1 u0 X}}:\n    mAttrs={{(0,0) {kind} fmt=-3}}\n");
            let window = windows(&text)[0];
            (window.is_of_app(), window.role())
        };
        use WindowKind::{Dialog, Main, Popup};
        for (kind, app, role) in [
            ("ty=1", Some(true), Main),
            ("ty=2", Some(true), Dialog),
            ("ty=1002", Some(true), Popup),
            ("ty=2003", Some(false), Main),
            ("ty=BASE_APPLICATION", Some(true), Main),
            ("ty=APPLICATION", Some(true), Dialog),
            ("ty=APPLICATION_SUB_PANEL", Some(true), Popup),
            ("ty=APPLICATION_OVERLAY", Some(false), Main),
            ("ty=NOTIFICATION_SHADE", Some(false), Main),
            ("", None, Main),
        ] {
            assert_eq!(of(kind), (app, role), "{kind}");
        }
    }
}
