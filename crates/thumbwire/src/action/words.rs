//! Actions in words, for messages.

use std::fmt;

use thumbwire_device::Gesture;

use super::{Action, Choice, Target};

/// What is being done, as it stands after "Operation timed out:".
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ListDevices { .. } => f.write_str("list devices"),
            Self::UseDevice { device, .. } => write!(f, "use device {device}"),
            Self::UseAnyDevice => f.write_str("choose a device"),
            Self::Health => f.write_str("check the device's health"),
            Self::DeviceInfo { .. } => f.write_str("get device information"),
            Self::ListApps { .. } => f.write_str("list apps"),
            Self::CurrentApp => f.write_str("get current app"),
            Self::Scroll { direction, .. } => write!(f, "scroll {}", direction.name()),
            Self::Stop(app) => write!(f, "close {app}"),
            Self::ClearData(app) => write!(f, "clear the data of {app}"),
            Self::Permit { app, permission, granted: true } => {
                write!(f, "grant {permission} to {app}")
            }
            Self::Permit { app, permission, granted: false } => {
                write!(f, "revoke {permission} from {app}")
            }
            Self::Screenshot(_) => f.write_str("take screenshot"),
            Self::SaveScreenshot { .. } => f.write_str("save screenshot"),
            Self::Look(_) => f.write_str("read accessibility tree"),
            Self::Find(_) => f.write_str("find elements"),
            Self::Controls { .. } => f.write_str("list controls"),
            Self::Swipe { direction, .. } => write!(f, "swipe {}", direction.name()),
            Self::Wait(time) => write!(f, "wait {} s", time.as_secs_f64()),
            Self::Forget(_) => f.write_str("forget earlier answers"),
            Self::ReadLog { .. } => f.write_str("read the log"),
            Self::StartMonitor { .. } => f.write_str("start following the log"),
            Self::StopMonitor(_) => f.write_str("stop following the log"),
            Self::ListMonitors => f.write_str("list followed logs"),
            Self::StartRecording { .. } => f.write_str("start a recording"),
            Self::StopRecording { .. } => f.write_str("stop a recording"),
            Self::ListRecordings => f.write_str("list recordings"),
            Self::ListAppTools { .. } => f.write_str("list what apps offer"),
            Self::CallAppTool(call) => write!(f, "call {} of {}", call.tool, call.app),
            Self::TrustAppTools(app) => write!(f, "trust the tools of {app}"),
            Self::Snapshot(_) => f.write_str("take snapshot"),
            Self::SetOrientation(orientation) => write!(f, "turn to {}", orientation.name()),
            Self::Touch(Gesture::Tap { at }) => write!(f, "tap ({}, {})", at.x, at.y),
            Self::Touch(Gesture::LongPress { at, .. }) => {
                write!(f, "long press ({}, {})", at.x, at.y)
            }
            Self::Touch(Gesture::Swipe { from, to, .. }) => {
                write!(f, "swipe ({}, {}) to ({}, {})", from.x, from.y, to.x, to.y)
            }
            Self::TapElement(target) => write!(f, "tap element {target}"),
            // The text itself stays out of messages and logs: it may be a password.
            Self::Type(typing) => write!(f, "type {} characters", typing.text.chars().count()),
            Self::Press(key) => write!(f, "press {}", key.name()),
            Self::Launch(Choice::Id(app)) => write!(f, "launch {app}"),
            Self::Launch(Choice::Named(name)) => write!(f, "launch {name}"),
            Self::Launch(Choice::Numbered(number)) => write!(f, "launch app {number}"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named { id: Some(id), text: None } => f.write_str(id),
            Self::Named { id: None, text: Some(text) } => write!(f, "{text:?}"),
            Self::Named { id: Some(id), text: Some(text) } => write!(f, "{id} or {text:?}"),
            Self::Named { id: None, text: None } => f.write_str("(nothing named)"),
            Self::Control(number) => write!(f, "control {number}"),
            Self::Match(criteria, _) => {
                let words = [
                    ("text", &criteria.text),
                    ("id", &criteria.id),
                    ("description", &criteria.description),
                    ("class", &criteria.class),
                ];
                let given = words.iter().filter_map(|(name, word)| Some((name, word.as_ref()?)));
                let said: Vec<_> = given.map(|(name, word)| format!("{name} {word:?}")).collect();
                f.write_str(&said.join(", "))
            }
        }
    }
}
