//! `Display` of actions and targets, for messages.

use std::fmt;

use thumbwire_device::Gesture;

use super::{Action, AppSelector, Observe, Target, WaitCondition};

/// Fits after "Operation timed out:".
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ListDevices { .. } => f.write_str("list devices"),
            Self::SelectDevice { device, .. } => write!(f, "use device {device}"),
            Self::SelectDefaultDevice => f.write_str("select a device"),
            Self::Health => f.write_str("check device health"),
            Self::DeviceInfo { .. } => f.write_str("get device information"),
            Self::ListApps { .. } | Self::ListLabelledApps { .. } => f.write_str("list apps"),
            Self::CurrentApp => f.write_str("get current app"),
            Self::Scroll { direction, .. } => write!(f, "scroll {}", direction.name()),
            Self::Stop(app) => write!(f, "close {app}"),
            // Not the folders: they may contain the operator's name.
            Self::InstallApp { path, .. } => write!(f, "install {}", file_name(path)),
            Self::UninstallApp(app) => write!(f, "uninstall {app}"),
            Self::PushFile { path, .. } => {
                write!(f, "copy {} to the phone", file_name(path))
            }
            Self::PullFile { path, .. } => {
                write!(f, "copy {} from the phone", file_name(path))
            }
            Self::ClearData(app) => write!(f, "clear the data of {app}"),
            Self::SetPermission { app, permission, granted: true } => {
                write!(f, "grant {permission} to {app}")
            }
            Self::SetPermission { app, permission, granted: false } => {
                write!(f, "revoke {permission} from {app}")
            }
            Self::Screenshot(_) => f.write_str("take screenshot"),
            Self::SaveScreenshot { .. } => f.write_str("save screenshot"),
            Self::Snapshot(_) => f.write_str("read accessibility tree"),
            Self::Observe(Observe::Until(condition, _)) => write!(f, "wait until {condition}"),
            Self::Observe(_) => f.write_str("read accessibility tree"),
            Self::FindElements(_) => f.write_str("find elements"),
            Self::Controls { .. } => f.write_str("list controls"),
            Self::Swipe { direction, .. } => write!(f, "swipe {}", direction.name()),
            Self::Wait(time) => write!(f, "wait {} s", time.as_secs_f64()),
            Self::InvalidateCache(_) => f.write_str("invalidate caches"),
            Self::ReadLog { .. } => f.write_str("read the log"),
            Self::ReadCrashes { .. } => f.write_str("read crashes"),
            Self::ListNotifications { .. } => f.write_str("list notifications"),
            Self::StartMonitor { .. } => f.write_str("start log monitoring"),
            Self::StopMonitor(_) => f.write_str("stop log monitoring"),
            Self::ListMonitors => f.write_str("list log monitors"),
            Self::StartRecording { .. } => f.write_str("start a recording"),
            Self::StopRecording { .. } => f.write_str("stop a recording"),
            Self::ListRecordings => f.write_str("list recordings"),
            Self::ListAppTools { .. } => f.write_str("list app tools"),
            Self::CallAppTool(call) => write!(f, "call {} of {}", call.tool, call.app),
            Self::TrustAppTools(app) => write!(f, "trust the tools of {app}"),
            Self::ScreenshotAndSnapshot(_) => f.write_str("take snapshot"),
            Self::Unlock => write!(f, "unlock the phone"),
            Self::SetOrientation(orientation) => write!(f, "turn to {}", orientation.name()),
            Self::Touch(Gesture::Tap { at }) => write!(f, "tap ({}, {})", at.x, at.y),
            Self::Touch(Gesture::DoubleTap { at }) => {
                write!(f, "double tap ({}, {})", at.x, at.y)
            }
            Self::Touch(Gesture::LongPress { at, .. }) => {
                write!(f, "long press ({}, {})", at.x, at.y)
            }
            Self::Touch(Gesture::Drag { from, to, .. }) => {
                write!(f, "drag ({}, {}) to ({}, {})", from.x, from.y, to.x, to.y)
            }
            Self::Touch(Gesture::Swipe { from, to, .. }) => {
                write!(f, "swipe ({}, {}) to ({}, {})", from.x, from.y, to.x, to.y)
            }
            Self::Touch(Gesture::Pinch { middle, .. }) => {
                write!(f, "pinch at ({}, {})", middle.x, middle.y)
            }
            Self::Pinch { scale, .. } => write!(f, "pinch by {scale}"),
            Self::ReadClipboard => f.write_str("read the clipboard"),
            Self::SetLocation(at) => {
                write!(f, "set the location to {}, {}", at.latitude, at.longitude)
            }
            // Never the text itself: it may be a password.
            Self::SetClipboard(text) => {
                write!(f, "set the clipboard to {} characters", text.chars().count())
            }
            Self::TapElement(target) => write!(f, "tap element {target}"),
            // Never the text itself: it may be a password.
            Self::Type(typing) => write!(f, "type {} characters", typing.text.chars().count()),
            Self::Press(key) => write!(f, "press {}", key.name()),
            // Not the rest: an address may contain a secret.
            Self::OpenUrl(url) => {
                let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
                write!(f, "open a {scheme}: address")
            }
            Self::Launch(AppSelector::Id(app)) => write!(f, "launch {app}"),
            Self::Launch(AppSelector::Named(name)) => write!(f, "launch {name}"),
            Self::Launch(AppSelector::ListIndex(number)) => write!(f, "launch app {number}"),
        }
    }
}

/// The first words of what [`Action`] displays, as they are while it is being done.
const UNDER_WAY: &[(&str, &str)] = &[
    ("call", "calling"),
    ("check", "checking"),
    ("clear", "clearing"),
    ("close", "closing"),
    ("copy", "copying"),
    ("double tap", "double tapping"),
    ("drag", "dragging"),
    ("find", "finding"),
    ("get", "getting"),
    ("grant", "granting"),
    ("install", "installing"),
    ("invalidate", "invalidating"),
    ("launch", "launching"),
    ("list", "listing"),
    ("long press", "long pressing"),
    ("open", "opening"),
    ("pinch", "pinching"),
    ("press", "pressing"),
    ("read", "reading"),
    ("revoke", "revoking"),
    ("save", "saving"),
    ("scroll", "scrolling"),
    ("select", "selecting"),
    ("set", "setting"),
    ("start", "starting"),
    ("stop", "stopping"),
    ("swipe", "swiping"),
    ("take", "taking"),
    ("tap", "tapping"),
    ("trust", "trusting"),
    ("turn", "turning"),
    ("type", "typing"),
    ("uninstall", "uninstalling"),
    ("unlock", "unlocking"),
    ("use", "using"),
    ("wait", "waiting"),
];

impl Action {
    /// What is going on while the action is performed: `installing app.apk`. Like [`Display`](fmt::Display) it has no typed
    /// text; it may have texts of the caller.
    pub fn under_way(&self) -> String {
        let text = self.to_string();
        let under_way = UNDER_WAY.iter().find_map(|(verb, now)| {
            let rest = text.strip_prefix(verb)?;
            (rest.is_empty() || rest.starts_with(' ')).then(|| format!("{now}{rest}"))
        });
        under_way.unwrap_or(text)
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Fits after "wait until".
impl fmt::Display for WaitCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shown(target) => write!(f, "{target} is visible"),
            Self::Gone(target) => write!(f, "{target} is gone"),
            Self::App(app) => write!(f, "{app} is in front"),
            Self::Idle => f.write_str("the screen stays the same"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed(id) => id.fmt(f),
            Self::Named { id: Some(id), text: None } => f.write_str(id),
            Self::Named { id: None, text: Some(text) } => write!(f, "{text:?}"),
            Self::Named { id: Some(id), text: Some(text) } => write!(f, "{id} or {text:?}"),
            Self::Named { id: None, text: None } => f.write_str("(no element given)"),
            Self::Selector(criteria, _) => {
                let words = [
                    ("text", &criteria.text),
                    ("id", &criteria.id),
                    ("description", &criteria.description),
                    ("class", &criteria.class),
                ];
                let given = words.iter().filter_map(|(name, word)| Some((name, word.as_ref()?)));
                let output: Vec<_> = given.map(|(name, word)| format!("{name} {word:?}")).collect();
                f.write_str(&output.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use thumbwire_device::{Gesture, Point};

    use super::*;
    use crate::action::TextInput;

    #[test]
    fn progress_message_has_no_typed_text() {
        let check = |action: Action, expected: &str| assert_eq!(action.under_way(), expected);
        check(Action::Wait(Duration::from_secs(3)), "waiting 3 s");
        check(Action::Type(TextInput::of("hunter2")), "typing 7 characters");
        let at = Point { x: 1, y: 2 };
        check(Action::Touch(Gesture::DoubleTap { at }), "double tapping (1, 2)");
        let shown = WaitCondition::Shown(Target::text("a\u{202e}b"));
        let condition = Action::Observe(Observe::Until(shown, Duration::from_secs(9)));
        check(condition, "waiting until \"a\\u{202e}b\" is visible");
    }
}
