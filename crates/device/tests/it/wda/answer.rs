//! What the stand-in does and answers for each command.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};
use thumbwire_virtual_ios::source::{SourceNode, SourceOptions, write_xml_source};
use thumbwire_webdriver::{
    ActiveApp, AppCommand, AppState, Base64, BatteryInfo, Command, DeviceCommand, DeviceInfo,
    ElementCommand, ElementId, ErrorCode, GestureCommand, MobileCommand, NewSessionResponse,
    Orientation, Rect, ResponseFormat, ScreenCommand, ScreenInfo, ServerStatus, SessionCommand,
    SessionId, Size, WebDriverError,
};

use super::State;

/// An element of a type with a name, at these points: left, top, width, height.
pub(crate) fn element(kind: &str, name: &str, rect: [f64; 4]) -> SourceNode {
    let [x, y, width, height] = rect;
    SourceNode {
        element_type: kind.into(),
        name: (!name.is_empty()).then(|| name.to_owned()),
        label: (!name.is_empty()).then(|| name.to_owned()),
        enabled: Some(true),
        visible: Some(true),
        rect: Some(Rect { x, y, width, height }),
        ..SourceNode::default()
    }
}

/// An iPhone with a form in front.
pub(super) fn fresh() -> State {
    let screen = [0.0, 0.0, 390.0, 844.0];
    let mut root = element("Application", "Forms", screen);
    let mut window = element("Window", "", screen);
    window.children.push(element("Button", "Save", [10.0, 50.0, 100.0, 44.0]));
    window.children.push(SourceNode {
        value: Some("Ada".into()),
        placeholder: Some("Name".into()),
        ..element("TextField", "name-field", [10.0, 100.0, 300.0, 40.0])
    });
    root.children.push(window);
    State {
        session: None,
        sessions: 0,
        settings: serde_json::Map::new(),
        capabilities: serde_json::Map::new(),
        authorizations: Vec::new(),
        requests: Vec::new(),
        tree: root,
        points: (390.0, 844.0),
        scale: Some(3.0),
        pixels: 3.0,
        landscape: false,
        stays_upright: false,
        locked: false,
        passcode: false,
        pasteboard: Vec::new(),
        apps: BTreeMap::from([
            ("com.example.forms".into(), AppState::Foreground),
            ("com.apple.Preferences".into(), AppState::Background),
            ("com.example.off".into(), AppState::NotRunning),
        ]),
        front: "com.example.forms".into(),
        field: None,
        battery: (0.5, 2),
        touches: Vec::new(),
        typed: Vec::new(),
        buttons: Vec::new(),
        hid: Vec::new(),
        urls: Vec::new(),
        faults: VecDeque::new(),
    }
}

type Reply = Result<Value, WebDriverError>;

fn refuse(code: ErrorCode, message: &str) -> Reply {
    Err(WebDriverError::new(code, message))
}

impl State {
    pub(super) fn check_session(&self, asked: Option<&str>) -> Result<(), WebDriverError> {
        match asked {
            Some(asked) if self.session.as_deref() != Some(asked) => {
                Err(WebDriverError::new(ErrorCode::InvalidSessionId, "Session does not exist"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn format(&self, reply: Reply) -> (u16, String) {
        let format = ResponseFormat::WebDriverAgent;
        let session = self.session.as_ref().and_then(SessionId::new);
        match reply {
            Ok(value) => (200, format.success(session.as_ref(), value).to_string()),
            Err(error) => (
                format.http_status(&error.code),
                format.failure(session.as_ref(), &error).to_string(),
            ),
        }
    }

    pub(super) fn perform(&mut self, command: Command) -> Reply {
        match command {
            Command::Session(command) => self.session_command(command),
            Command::Element(command) => self.element_command(command),
            Command::Screen(command) => self.screen_command(command),
            Command::Gesture(GestureCommand::Perform { sources }) => {
                self.touches.push(sources);
                Ok(Value::Null)
            }
            Command::Gesture(GestureCommand::Keys { text, .. }) => self.type_keys(&text.0),
            Command::App(command) => self.app_command(command),
            Command::Device(command) => self.device_command(command),
            Command::Gesture(_) => refuse(ErrorCode::UnknownCommand, "unhandled"),
        }
    }

    fn session_command(&mut self, command: SessionCommand) -> Reply {
        match command {
            SessionCommand::Status => {
                let text = |text: &str| Some(text.to_owned());
                let status = ServerStatus {
                    ready: Some(true),
                    message: text("WebDriverAgent is ready to accept commands"),
                    state: text("success"),
                    os_name: text("iOS"),
                    os_version: text("17.2"),
                    device: text("iphone"),
                    ..ServerStatus::default()
                };
                Ok(status.to_value())
            }
            SessionCommand::New { request } => {
                self.capabilities = request.capabilities.unwrap_or_default().always_match;
                self.sessions += 1;
                let id = format!("S-{}", self.sessions);
                self.session = Some(id.clone());
                let session = SessionId::new(id).unwrap();
                let capabilities = thumbwire_webdriver::Capabilities(serde_json::Map::new());
                Ok(NewSessionResponse { session, capabilities }.to_value())
            }
            SessionCommand::Execute { script } => match MobileCommand::from_script(&script) {
                Some(command) => self.mobile_command(&command),
                None => refuse(ErrorCode::UnknownMethod, "unknown script"),
            },
            SessionCommand::Delete => {
                self.session = None;
                Ok(Value::Null)
            }
            SessionCommand::SetSettings { settings } => {
                self.settings.extend(settings);
                Ok(Value::Object(self.settings.clone()))
            }
            _ => refuse(ErrorCode::UnknownCommand, "unhandled"),
        }
    }

    /// Appium's extension commands, as its XCUITest driver passes them on to a WebDriverAgent.
    fn mobile_command(&mut self, command: &MobileCommand) -> Reply {
        let text = |name: &str| command.args.get(name).and_then(Value::as_str).unwrap_or_default();
        let bundle_id = text("bundleId").to_owned();
        match command.name.as_str() {
            "isLocked" => self.device_command(DeviceCommand::IsLocked),
            "lock" => self.device_command(DeviceCommand::Lock),
            "unlock" => self.device_command(DeviceCommand::Unlock),
            "batteryInfo" => self.device_command(DeviceCommand::BatteryInfo),
            "deviceInfo" => self.device_command(DeviceCommand::DeviceInfo),
            "pressButton" => {
                let name = text("name").to_owned();
                self.device_command(DeviceCommand::PressButton { name, duration_s: None })
            }
            "performIoHidEvent" => {
                let number = |name: &str| command.args[name].as_u64().unwrap();
                self.hid.push((number("page"), number("usage")));
                Ok(Value::Null)
            }
            "getClipboard" => Ok(base64(&self.pasteboard).into()),
            "setClipboard" => {
                let content = Value::from(text("content"));
                let response = thumbwire_webdriver::Response { value: content, session: None };
                self.pasteboard = response.bytes().unwrap();
                Ok(Value::Null)
            }
            "activeAppInfo" => self.app_command(AppCommand::ActiveInfo),
            "queryAppState" => self.app_command(AppCommand::State { bundle_id }),
            "activateApp" => self.app_command(AppCommand::Activate { bundle_id }),
            "terminateApp" => self.app_command(AppCommand::Terminate { bundle_id }),
            "listApps" => {
                let system = text("applicationType") == "System";
                let apps = self.apps.keys().filter(|id| id.starts_with("com.apple.") == system);
                Ok(Value::Object(apps.map(|id| (id.clone(), json!({}))).collect()))
            }
            "deepLink" => {
                let url = text("url").to_owned();
                self.app_command(AppCommand::OpenUrl {
                    url,
                    bundle_id: None,
                    idle_timeout_ms: None,
                })
            }
            name => {
                refuse(ErrorCode::UnknownMethod, &format!("Unsupported execute method '{name}'"))
            }
        }
    }

    fn element_command(&mut self, command: ElementCommand) -> Reply {
        let Some((text, rect)) = &mut self.field else {
            return refuse(ErrorCode::NoSuchElement, "unable to find an element");
        };
        match command {
            ElementCommand::Active => Ok(ElementId::new("F-1").unwrap().to_reference()),
            ElementCommand::Rect { .. } => {
                let [x, y, width, height] = *rect;
                Ok(json!({ "x": x, "y": y, "width": width, "height": height }))
            }
            ElementCommand::SetValue { text, .. } => self.type_keys(&text.0),
            ElementCommand::Attribute { name, .. } if name == "value" => Ok(json!(text)),
            ElementCommand::Clear { .. } => {
                text.clear();
                Ok(Value::Null)
            }
            _ => refuse(ErrorCode::UnknownCommand, "unhandled"),
        }
    }

    fn screen_command(&mut self, command: ScreenCommand) -> Reply {
        let (width, height) = match self.landscape {
            true => (self.points.1, self.points.0),
            false => self.points,
        };
        match command {
            ScreenCommand::Source { .. } => {
                Ok(write_xml_source(&self.tree, &SourceOptions::default()).into())
            }
            ScreenCommand::Screenshot => {
                let picture = png((width * self.pixels).round(), (height * self.pixels).round());
                Ok(base64(&picture).into())
            }
            ScreenCommand::WindowRect => {
                Ok(json!({ "x": 0, "y": 0, "width": width, "height": height }))
            }
            ScreenCommand::WindowSize => Ok(json!({ "width": width, "height": height })),
            ScreenCommand::Screen => match self.scale {
                Some(scale) => {
                    let screen = Some(Size { width, height });
                    let status_bar = Size { width, height: 47.0 };
                    Ok(ScreenInfo { screen, status_bar, scale }.to_value())
                }
                None => refuse(ErrorCode::UnknownCommand, "unhandled"),
            },
            ScreenCommand::GetOrientation => {
                Ok(if self.landscape { "LANDSCAPE" } else { "PORTRAIT" }.into())
            }
            ScreenCommand::SetOrientation { orientation } => {
                let landscape = orientation == Orientation::Landscape;
                if landscape && self.stays_upright {
                    return refuse(ErrorCode::InvalidElementState, "Unable To Rotate Device");
                }
                self.landscape = landscape;
                Ok(Value::Null)
            }
            _ => refuse(ErrorCode::UnknownCommand, "unhandled"),
        }
    }

    fn type_keys(&mut self, keys: &str) -> Reply {
        let Some((text, _)) = &mut self.field else {
            let message = "Neither element nor any descendant has keyboard focus";
            return refuse(ErrorCode::InvalidElementState, message);
        };
        self.typed.push(keys.to_owned());
        for key in keys.chars() {
            match key {
                '\u{8}' => _ = text.pop(),
                // The cursor is at the end.
                '\u{7f}' => {}
                key => text.push(key),
            }
        }
        Ok(Value::Null)
    }

    fn app_command(&mut self, command: AppCommand) -> Reply {
        match command {
            AppCommand::Launch { bundle_id, .. } | AppCommand::Activate { bundle_id } => {
                if !self.apps.contains_key(&bundle_id) {
                    // As a phone with iOS 16 says it.
                    let message = format!(
                        "Error Domain=FBSOpenApplicationServiceErrorDomain Code=4 \"The request to open \"{bundle_id}\" failed.\""
                    );
                    return refuse(ErrorCode::InvalidArgument, &message);
                }
                self.apps.insert(self.front.clone(), AppState::Background);
                self.apps.insert(bundle_id.clone(), AppState::Foreground);
                self.front = bundle_id;
                Ok(Value::Null)
            }
            AppCommand::Terminate { bundle_id } => {
                let state = self.apps.get_mut(&bundle_id);
                let ran = state.map(|state| std::mem::replace(state, AppState::NotRunning));
                Ok(ran.is_some_and(|state| state != AppState::NotRunning).into())
            }
            AppCommand::State { bundle_id } => {
                Ok(self.apps.get(&bundle_id).copied().unwrap_or(AppState::NotInstalled).to_value())
            }
            AppCommand::List => {
                let running = |(_, state): &(&String, &AppState)| **state != AppState::NotRunning;
                let apps = self.apps.iter().filter(running);
                Ok(apps.map(|(id, _)| json!({ "pid": 7, "bundleId": id })).collect())
            }
            AppCommand::ActiveInfo => {
                let bundle_id = self.front.clone();
                let app = ActiveApp { bundle_id, name: String::new(), pid: 7, arguments: vec![] };
                Ok(app.to_value())
            }
            AppCommand::OpenUrl { url, .. } => {
                if url.starts_with("nobody:") {
                    let message = "The operation couldn’t be completed. (LSApplicationWorkspaceErrorDomain error 115.)";
                    return refuse(ErrorCode::UnknownError, message);
                }
                self.urls.push(url);
                Ok(Value::Null)
            }
            _ => refuse(ErrorCode::UnknownCommand, "unhandled"),
        }
    }

    fn device_command(&mut self, command: DeviceCommand) -> Reply {
        match command {
            DeviceCommand::Lock => self.locked = true,
            DeviceCommand::Unlock if self.locked && self.passcode => {
                let message = "Timed out while waiting until the screen gets unlocked";
                return refuse(ErrorCode::UnknownError, message);
            }
            DeviceCommand::Unlock => self.locked = false,
            DeviceCommand::IsLocked => return Ok(self.locked.into()),
            DeviceCommand::PressButton { name, .. } => self.buttons.push(name),
            DeviceCommand::PerformHidEvent { page, usage, .. } => self.hid.push((page, usage)),
            DeviceCommand::BatteryInfo => {
                let (level, state) = self.battery;
                return Ok(BatteryInfo { level, state }.to_value());
            }
            DeviceCommand::DeviceInfo => {
                let model = Some("iPhone".into());
                return Ok(DeviceInfo { model, ..DeviceInfo::default() }.to_value());
            }
            DeviceCommand::GetPasteboard { .. } => return Ok(base64(&self.pasteboard).into()),
            DeviceCommand::SetPasteboard { content: Base64(content), .. } => {
                self.pasteboard = content
            }
            _ => return refuse(ErrorCode::UnknownCommand, "unhandled"),
        }
        Ok(Value::Null)
    }
}

fn base64(bytes: &[u8]) -> String {
    use ::base64::Engine as _;
    ::base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// A black picture.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is small")]
fn png(width: f64, height: f64) -> Vec<u8> {
    let (width, height) = (width as u32, height as u32);
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![0; width.div_ceil(8) as usize * height as usize]).unwrap();
    writer.finish().unwrap();
    file
}
