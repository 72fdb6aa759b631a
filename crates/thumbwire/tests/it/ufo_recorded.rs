//! Replays the calls recorded from UFO's own servers: about the same phone, our replies match.
//!
//! The recordings are in `fixtures/captures`. This file supplies what the session underneath
//! returned, derived from the recordings; only the texts are compared.

use std::sync::{Arc, Mutex};
use thumbwire_test_support::{CaptureSet, capture};

use async_trait::async_trait;
use serde_json::Value;
use thumbwire_core::action::{
    Action, AppSelector, CacheKind, Call, Cause, ControlNumber, Controls, ElementId, Failure,
    InfoResult, LaunchResult, NumberedList, Outcome, Perform, Readback, TapResult, Target,
    TypeResult,
};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_core::toolset::ufo::{action, data};
use thumbwire_device::{
    App, AppId, Battery, DeviceInfo, Gesture, Identity, Node, Orientation, Panel, Platform, Rect,
    Size, Tree, TypingMethod,
};

const FOLDER: &str = "originals/ufo";

/// Recordings from which our replies deviate on purpose; they are not committed.
const FAULTS: [(&str, &str); 19] = [
    ("015", "the recording truncates the screenshot"),
    ("020", "`field_list` is ignored"),
    ("032", "a control from before an action"),
    ("035", "no such key"),
    ("038", "no such key"),
    ("039", "no such key, and a command"),
    ("040", "no such key"),
    ("043", "outside the screen"),
    ("044", "outside the screen"),
    ("050", "other words"),
    ("054", "a negative time"),
    ("064", "no such app"),
    ("066", "an app that cannot be started"),
    ("069", "no app is named"),
    ("070", "no such app, and a command"),
    ("071", "an app that cannot be started"),
    ("107", "no such tool: a protocol error"),
    ("108", "no such tool: a protocol error"),
    ("090", "empty text is typed into a control that is not a field"),
];

/// Letter for letter, except for FastMCP's own `_meta` and an app's `package`, which the
/// specification has.
#[test]
fn tool_lists_match_the_original_servers() {
    let recorded = recorded("tools-list.json");
    for (server, surface) in [("data", data()), ("action", action())] {
        let theirs = recorded[server]["tools"].as_array().unwrap();
        assert_eq!(theirs.len(), surface.tools.len());
        for (theirs, ours) in theirs.iter().zip(&surface.tools) {
            assert_eq!(theirs["name"], *ours.name);
            assert_eq!(theirs["description"], *ours.description);
            let schema = Value::from(ours.schema.clone());
            assert_eq!(theirs["inputSchema"].to_string(), schema.to_string());
            let mut output = Value::from(ours.output.clone().unwrap());
            if ours.name == "get_mobile_app_target_info" {
                let app = output.pointer_mut("/$defs/TargetInfo/properties").unwrap();
                app.as_object_mut().unwrap().shift_remove("package").unwrap();
            }
            assert_eq!(theirs["outputSchema"].to_string(), output.to_string());
        }
    }
}

/// Both servers identify themselves with the original names.
#[test]
fn server_names_match_the_original() {
    let recorded = recorded("initialize.json");
    for (server, surface) in [("data", data()), ("action", action())] {
        let theirs = &recorded[server]["message"]["result"];
        assert_eq!(theirs["serverInfo"]["name"], surface.server);
        assert_eq!(theirs["instructions"], surface.instructions);
    }
}

/// Replays every call recorded before the phone was disconnected, in order. Ours replies the same,
/// plus `next` and `package`.
#[tokio::test]
async fn replies_match_the_original_servers() {
    let session =
        Recorded { controls: Mutex::default(), apps: Mutex::default(), result: Mutex::default() };
    let mut compared = 0;
    for file in CaptureSet::Committed.files(FOLDER) {
        let name = file.name();
        let Some(number) = name.get(..3).filter(|number| *number < "120") else { continue };
        if FAULTS.iter().any(|(fault, _)| *fault == number) {
            continue;
        }
        let record: Value = serde_json::from_slice(&file.bytes()).unwrap();
        *session.result.lock().unwrap() = record["result"].clone();
        let surface = if record["server"] == "data" { data() } else { action() };
        let tool = surface.tool(record["tool"].as_str().unwrap()).unwrap();
        let arguments = record["arguments"].as_object().cloned().unwrap();
        let reply =
            surface.answer(tool, arguments, Call::with_timeout(tool.budget), &session).await;
        let ours = without_more(reply.to_json());
        // What has one reading is read: a number for a text, and the reverse.
        if record["result"].to_string().contains("is not of type ") {
            continue;
        }
        let same = ours == record["result"];
        assert!(same, "{name}\n{ours}\n{}", record["result"]);
        compared += 1;
    }
    assert!(compared >= 90, "{compared}");
}

/// A reply without the keys that only ours has; its text is rebuilt from the rest, to be compared
/// byte by byte.
fn without_more(mut reply: Value) -> Value {
    let Some(structured) = reply.get_mut("structuredContent") else { return reply };
    let more = |row: &mut Value, key: &str| {
        row.as_object_mut().is_some_and(|row| row.shift_remove(key).is_some())
    };
    let mut has_more = more(structured, "next");
    let text = match structured.get_mut("result").and_then(Value::as_array_mut) {
        Some(rows) => {
            has_more = rows.iter_mut().fold(has_more, |had, row| more(row, "package") || had);
            Value::from(rows.as_slice())
        }
        None => structured.clone(),
    };
    if has_more {
        reply["content"][0]["text"] = text.to_string().into();
    }
    reply
}

/// The recorded phone as the toolset sees it: it knows what was listed, and returns the recorded
/// outcomes.
struct Recorded {
    controls: Mutex<Option<Arc<Controls>>>,
    apps: Mutex<Option<Vec<App>>>,
    result: Mutex<Value>,
}

impl Recorded {
    fn listed(&self) -> Vec<Value> {
        let result = self.result.lock().unwrap();
        result["structuredContent"]["result"].as_array().cloned().unwrap_or_default()
    }

    fn word(&self, key: &str) -> String {
        let result = self.result.lock().unwrap();
        result["structuredContent"][key].as_str().unwrap_or_default().into()
    }

    fn tap(&self, target: &Target) -> Result<TapResult, Failure> {
        let &Target::Listed(ElementId::Number(number)) = target else { panic!("{target}") };
        let listed = self.controls.lock().unwrap().take();
        let hit = listed.as_ref().and_then(|listed| hit(listed, number));
        if hit.is_none() {
            *self.controls.lock().unwrap() = listed;
        }
        let (list, why, none) = (NumberedList::Controls, None, true);
        hit.ok_or_else(|| {
            Cause::StaleReference { list, number: number.to_string(), reason: why, none }.into()
        })
    }

    fn launch(&self, choice: AppSelector) -> Result<Outcome, Failure> {
        let app = match choice {
            AppSelector::Id(app) => app.0,
            AppSelector::Named(app) if self.word("package_name").is_empty() => {
                return Err(Cause::AppNotFound { app }.into());
            }
            AppSelector::Named(_) => self.word("package_name"),
            AppSelector::ListIndex(number) => {
                let apps = self.apps.lock().unwrap();
                let at = number.parse::<usize>().unwrap() - 1;
                let found = apps.as_ref().and_then(|apps| apps.get(at));
                let (list, why, none) = (NumberedList::Apps, None, apps.is_none());
                let missing = Cause::StaleReference { list, number, reason: why, none };
                found.ok_or(missing)?.id.0.clone()
            }
        };
        Ok(Outcome::Launched(LaunchResult {
            app: AppId(app),
            text: self.word("output"),
            locked: None,
            in_front: None,
        }))
    }
}

#[async_trait]
impl Perform for Recorded {
    async fn perform(&self, _: &Call, action: Action) -> Result<Outcome, Failure> {
        Ok(match action {
            Action::Controls { .. } => {
                let word = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
                let nodes = self.listed().into_iter().map(|row| {
                    let (name, kind) = (word(&row, "name"), word(&row, "type"));
                    let text = if name == kind { "" } else { &name };
                    let rect = serde_json::from_value(row["rect"].clone()).unwrap();
                    control(text, &format!("android.widget.{kind}"), rect)
                });
                let controls = Arc::new(listing(nodes.collect()));
                *self.controls.lock().unwrap() = Some(Arc::clone(&controls));
                Outcome::Controls(controls)
            }
            Action::ListApps { containing, .. } => {
                let id = |row: Value| AppId(row["type"].as_str().unwrap().into());
                let rows = self.listed().into_iter();
                let apps: Vec<App> = rows.map(|row| App { id: id(row), system: true }).collect();
                if containing.is_empty() {
                    *self.apps.lock().unwrap() = Some(apps.clone());
                }
                Outcome::Apps(apps)
            }
            Action::DeviceInfo { .. } => {
                info(self.result.lock().unwrap()["structuredContent"]["from_cache"] == true)
            }
            Action::Snapshot(_) => {
                let tree = Tree { source: self.word("ui_tree").into(), ..Tree::default() };
                Outcome::Snapshot(Arc::new(Snapshot::number(tree, None, &1.into())))
            }
            Action::TapElement(target) => Outcome::Tapped(self.tap(&target)?),
            Action::Type(typing) => {
                let into = Some(self.tap(&typing.into.unwrap())?);
                Outcome::Typed(TypeResult {
                    by: TypingMethod::Keys,
                    field: Readback::Same,
                    into,
                    tapped: true,
                })
            }
            Action::Launch(choice) => self.launch(choice)?,
            Action::InvalidateCache(CacheKind::Controls | CacheKind::All)
            | Action::Touch(Gesture::Tap { .. } | Gesture::Swipe { .. })
            | Action::Press(_) => {
                *self.controls.lock().unwrap() = None;
                Outcome::Done
            }
            Action::Wait(_) | Action::InvalidateCache(_) => Outcome::Done,
            other => panic!("nobody asks for {other}"),
        })
    }
}

/// The recorded phone's device info.
fn info(earlier: bool) -> Outcome {
    let size = Size { width: 480, height: 800 };
    Outcome::Info(InfoResult {
        identity: Identity {
            id: "x".into(),
            platform: Platform::Android,
            model: "AOSP on Mako".into(),
        },
        info: DeviceInfo {
            manufacturer: "LGE".into(),
            model: "AOSP on Mako".into(),
            os_version: "4.4.4".into(),
            api_level: Some(19),
            screen: size,
            density: Some(240),
            orientation: Orientation::Portrait,
            battery: Some(Battery { percent: 50, charging: false, status: 3 }),
            serial: "x".into(),
            panel: Panel { size, size_set: None, density: Some(240), density_set: None },
        },
        earlier,
    })
}

fn control(name: &str, class: &str, [left, top, right, bottom]: [i32; 4]) -> Node {
    let bounds = Rect { left, top, right, bottom };
    Node { text: name.into(), class: class.into(), bounds, ..Node::default() }
}

fn listing(nodes: Vec<Node>) -> Controls {
    let all = (0..nodes.len()).collect();
    let snapshot = Snapshot::number(Tree { nodes, ..Tree::default() }, None, &1.into());
    Controls { snapshot: Arc::new(snapshot), nodes: all }
}

/// A tap on one of the controls.
fn hit(controls: &Controls, number: ControlNumber) -> Option<TapResult> {
    let node = controls.node_of(number)?;
    let at = controls.snapshot.tree.nodes[node].bounds.center();
    Some(TapResult { at, snapshot: Arc::clone(&controls.snapshot), node, of: 1 })
}

fn recorded(name: &str) -> Value {
    serde_json::from_slice(&capture(&format!("{FOLDER}/{name}")).unwrap()).unwrap()
}
