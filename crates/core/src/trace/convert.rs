//! Converts live values to the types of the trace format.
//!
//! Outcomes with files (screenshots, snapshots) are converted by the [`Recorder`](super::Recorder), which writes them.

use serde_json::Map;
use thumbwire_device::find::Visibility;
use thumbwire_device::{Gesture, Point, SideEffect, TypingMethod};

use super::format::{
    ActionResult, StoredAction, StoredAppToolCall, StoredAppToolResult, StoredNode, StoredOutcome,
    StoredSelector, StoredSnapshot, StoredTarget,
};
use crate::action::{
    Action, AppSelector, AppToolReply, AppToolResult, ElementId, ElementSelector, Failure,
    Readback, Since, TapResult, Target, TextInput, TypeResult,
};
use crate::snapshot::Snapshot;

impl From<&Action> for StoredAction {
    fn from(action: &Action) -> Self {
        let millis =
            |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let name =
            |platform: &Option<thumbwire_device::Platform>| platform.map(|p| p.name().into());
        match action {
            Action::ListDevices { platform, .. } => Self::ListDevices { platform: name(platform) },
            Action::SelectDevice { device, platform } => {
                Self::SelectDevice { device: device.clone(), platform: name(platform) }
            }
            Action::SelectDefaultDevice => Self::SelectDefaultDevice,
            Action::Health => Self::Health,
            Action::DeviceInfo { .. } => Self::DeviceInfo,
            Action::ListApps { which, .. } | Action::ListLabelledApps { which } => {
                Self::ListApps { which: format!("{which:?}").to_lowercase() }
            }
            Action::CurrentApp => Self::CurrentApp,
            Action::Scroll { direction, distance } => {
                Self::Scroll { direction: direction.name().into(), distance: *distance }
            }
            Action::Stop(app) => Self::Stop { app: app.0.clone() },
            Action::InstallApp { path, .. } => Self::InstallApp { path: path.clone() },
            Action::UninstallApp(app) => Self::UninstallApp { app: app.0.clone() },
            Action::PushFile { path, to, .. } => {
                Self::PushFile { path: path.clone(), to: to.clone() }
            }
            Action::PullFile { path, name } => {
                Self::PullFile { path: path.clone(), name: name.clone() }
            }
            Action::Pinch { at, scale, lasting } => Self::Pinch {
                at: at.map(|at| [at.x, at.y]),
                scale: *scale,
                duration_ms: millis(*lasting),
            },
            Action::ReadClipboard => Self::ReadClipboard,
            Action::SetClipboard(text) => Self::SetClipboard { text: text.clone() },
            Action::SetLocation(at) => {
                Self::SetLocation { latitude: at.latitude, longitude: at.longitude }
            }
            Action::ClearData(app) => Self::ClearData { app: app.0.clone() },
            Action::SetPermission { app, permission, granted } => Self::SetPermission {
                app: app.0.clone(),
                permission: permission.clone(),
                granted: *granted,
            },
            Action::Screenshot(_) => Self::Screenshot,
            Action::ScreenshotAndSnapshot(_) => Self::ScreenshotAndSnapshot,
            Action::Snapshot(_) | Action::Observe(_) => Self::Snapshot,
            Action::SaveScreenshot { name, .. } => Self::SaveScreenshot { name: name.clone() },
            Action::FindElements(criteria) => Self::FindElements(Box::new(criteria.into())),
            Action::Controls { .. } => Self::Controls,
            Action::Swipe { direction, distance, lasting } => Self::SwipeDirection {
                direction: direction.name().into(),
                distance: *distance,
                duration_ms: millis(*lasting),
            },
            Action::Wait(time) => Self::Wait { ms: millis(*time) },
            Action::InvalidateCache(cache) => {
                Self::InvalidateCache { cache: format!("{cache:?}").to_lowercase() }
            }
            Action::ReadLog { filter, max, clear } => Self::ReadLog {
                tag: filter.tag.clone(),
                priority: filter.priority.letter(),
                max_lines: *max,
                clear: *clear,
            },
            Action::ReadCrashes { since, app } => Self::ReadCrashes {
                since: match since {
                    Since::Ago(time) => format!("{} s ago", time.as_secs()),
                    Since::Time(time) => time.clone(),
                },
                app: app.as_ref().map(|app| app.0.clone()),
            },
            Action::ListNotifications { max } => Self::ListNotifications { max: *max },
            Action::StartMonitor { filter, file } => Self::StartMonitor {
                tag: filter.tag.clone(),
                priority: filter.priority.letter(),
                file: file.clone(),
            },
            Action::StopMonitor(id) => Self::StopMonitor { id: id.clone() },
            Action::ListMonitors => Self::ListMonitors,
            Action::StartRecording { name, lasting, .. } => {
                Self::StartRecording { name: name.clone(), duration_ms: millis(*lasting) }
            }
            Action::StopRecording { recording, .. } => {
                Self::StopRecording { id: recording.clone() }
            }
            Action::ListRecordings => Self::ListRecordings,
            Action::ListAppTools { .. } => Self::ListAppTools,
            Action::CallAppTool(call) => Self::CallAppTool(Box::new(StoredAppToolCall {
                app: call.app.0.clone(),
                service: call.service.clone(),
                tool: call.tool.clone(),
                arguments: call.arguments.clone(),
                send_only: call.send_only,
            })),
            Action::TrustAppTools(app) => Self::TrustAppTools { app: app.0.clone() },
            Action::Touch(Gesture::Tap { at: Point { x, y } }) => Self::Tap { x: *x, y: *y },
            Action::Touch(Gesture::LongPress { at: Point { x, y }, held }) => {
                Self::LongPress { x: *x, y: *y, duration_ms: millis(*held) }
            }
            Action::Touch(Gesture::DoubleTap { at: Point { x, y } }) => {
                Self::DoubleTap { x: *x, y: *y }
            }
            Action::Touch(Gesture::Drag { from, to, lasting }) => Self::Drag {
                from: [from.x, from.y],
                to: [to.x, to.y],
                duration_ms: millis(*lasting),
            },
            Action::Touch(Gesture::Pinch { middle, from, to, lasting }) => Self::Pinch {
                at: Some([middle.x, middle.y]),
                scale: f64::from(*to) / f64::from((*from).max(1)),
                duration_ms: millis(*lasting),
            },
            Action::OpenUrl(url) => Self::OpenUrl { url: url.clone() },
            Action::Touch(Gesture::Swipe { from, to, lasting }) => Self::Swipe {
                from: [from.x, from.y],
                to: [to.x, to.y],
                duration_ms: millis(*lasting),
            },
            Action::TapElement(target) => Self::TapElement(target.into()),
            Action::Type(TextInput { text, into, clear, submit }) => Self::Type {
                text: text.clone(),
                into: into.as_ref().map(StoredTarget::from),
                clear: *clear,
                submit: *submit,
            },
            Action::Unlock => Self::Unlock,
            Action::SetOrientation(orientation) => {
                Self::SetOrientation { orientation: orientation.name().into() }
            }
            Action::Press(key) => Self::Press { key: key.name().into_owned() },
            Action::Launch(choice) => Self::Launch {
                app: match choice {
                    AppSelector::Id(app) => app.0.clone(),
                    AppSelector::Named(name) => name.clone(),
                    AppSelector::ListIndex(number) => format!("#{number}"),
                },
            },
        }
    }
}

impl From<&Target> for StoredTarget {
    fn from(target: &Target) -> Self {
        match target {
            Target::Listed(ElementId::Ref(id)) => {
                Self { id: Some(id.to_string()), ..Self::default() }
            }
            Target::Listed(ElementId::Number(number)) => {
                Self { control: Some(number.to_string()), ..Self::default() }
            }
            Target::Named { id, text } => {
                Self { id: id.clone(), text: text.clone(), ..Self::default() }
            }
            Target::Selector(criteria, index) => Self {
                selector: Some(Box::new(criteria.into())),
                index: Some(*index),
                ..Self::default()
            },
        }
    }
}

impl From<&ElementSelector> for StoredSelector {
    fn from(criteria: &ElementSelector) -> Self {
        let ElementSelector { text, id, description, class, clickable, enabled, exact } =
            criteria.clone();
        Self { text, id, description, class, clickable, enabled, exact }
    }
}

impl From<&TapResult> for StoredOutcome {
    fn from(hit: &TapResult) -> Self {
        Self::Tapped { x: hit.at.x, y: hit.at.y, name: hit.name().to_owned() }
    }
}

impl From<&TypeResult> for StoredOutcome {
    fn from(typed: &TypeResult) -> Self {
        let by = match &typed.by {
            TypingMethod::Keys => "keys".into(),
            TypingMethod::Clipboard => "clipboard".into(),
            TypingMethod::SetText => "set text".into(),
        };
        let (field, shows) = match &typed.field {
            Readback::Same => ("same", None),
            Readback::Corrected => ("repaired", None),
            Readback::Differs { shows } => ("differs", Some(shows.clone())),
            Readback::Hidden => ("hidden", None),
            Readback::NoField => ("no field", None),
        };
        Self::Typed { by, field: field.into(), shows }
    }
}

impl From<&AppToolResult> for StoredOutcome {
    fn from(result: &AppToolResult) -> Self {
        let (success, message, output) = match &result.heard {
            AppToolReply::Answer { success, message, output, .. } => {
                (Some(*success), message.clone(), output.clone())
            }
            AppToolReply::Sent => (None, String::new(), Map::new()),
        };
        Self::AppToolResult(Box::new(StoredAppToolResult { success, message, output }))
    }
}

impl From<&Failure> for ActionResult {
    fn from(failure: &Failure) -> Self {
        Self::Failure {
            reason: failure.cause.to_string(),
            may_have_happened: failure.side_effect == SideEffect::Possible,
        }
    }
}

impl<'a> From<&'a Snapshot> for StoredSnapshot<'a> {
    fn from(snapshot: &'a Snapshot) -> Self {
        let mut nodes: Vec<StoredNode<'_>> = snapshot.tree.nodes.iter().map(stored).collect();
        for (at, node) in nodes.iter_mut().enumerate() {
            node.covered_by = snapshot.covered_by(at);
            if let Visibility::Hidden(reason) = snapshot.showing[at] {
                node.hidden = Some(reason.reason().into());
            }
        }
        for element in &snapshot.refs {
            nodes[element.node].control = Some(element.id.0);
        }
        Self { rotation: snapshot.tree.rotation, nodes }
    }
}

fn stored(node: &thumbwire_device::Node) -> StoredNode<'_> {
    let set = node.flags.named().into_iter().filter(|(_, set)| *set);
    let bounds = node.bounds;
    StoredNode {
        parent: node.parent,
        control: None,
        class: (*node.class).into(),
        package: (*node.package).into(),
        id: (*node.id).into(),
        text: (*node.text).into(),
        description: (*node.description).into(),
        bounds: [bounds.left, bounds.top, bounds.right, bounds.bottom],
        flags: set.map(|(name, _)| name.into()).collect(),
        hidden: None,
        covered_by: None,
    }
}
