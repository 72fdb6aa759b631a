//! Replays the calls recorded from the original Android MCP server: about the same phone, our
//! replies match.
//!
//! The recordings may not be copied into this repository. This file supplies what the session
//! underneath returned, derived from the recordings. Replies are compared as a whole, except for
//! the shape of elements, where the document counts and the original is wrong, and for schema error
//! messages, which are pydantic's.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use thumbwire_test_support::{Capture, captured_files};

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_core::action::{
    Action, Call, Cause, DefaultDevice, DeviceKind, Failure, FoundElements, HealthResult,
    ListedDevice, LocalFile, LogMonitor, Outcome, Perform, Readback, RecordingInfo,
    SavedScreenshot, SelectionReason, SwipeResult, TapResult, TypeResult, check_name,
};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_core::toolset::android;
use thumbwire_device::{
    Check, Gesture, Health, Identity, LogFilter, Node, Platform, Point, Priority, Rect, Size, Tree,
    TypingMethod,
};

const FOLDER: &str = "originals/android-mcp-server";

/// Recordings from which our replies deviate on purpose.
const FAULTS: [(&str, &str); 28] = [
    ("006", "an unknown argument is refused"),
    ("010", "says more: `details`"),
    ("011", "any id that adb lists is valid"),
    ("014", "a number as a device's id has one reading"),
    ("016", "phone properties are not documented"),
    ("031", "the schema does not check search criteria"),
    ("033", "no character is dangerous in a resource id"),
    ("037", "as 031"),
    ("042", "a place below 0"),
    ("044", "as 031"),
    ("074", "a valid Android key"),
    ("075", "a valid Android key"),
    ("077", "a valid Android key"),
    ("084", "any text can be typed"),
    ("085", "any text can be typed"),
    ("086", "any text can be typed"),
    ("087", "any text can be typed"),
    ("090", "characters without a key are typed otherwise, or refused"),
    ("093", "any text can be typed"),
    ("094", "a newline is the Enter key"),
    ("102", "the file is fetched"),
    ("105", "the recording omits the path"),
    ("107", "the file is fetched"),
    ("108", "a folder is refused"),
    ("110", "an empty name is no name"),
    ("117", "an id never reaches a shell"),
    ("118", "the recording was not fetched"),
    ("145", "an id never reaches a shell"),
];

/// Recordings of server states that we do not have: no phone, a lost phone, the log's bug.
fn is_of_another_state(number: u32, name: &str) -> bool {
    number < 5 || (130..141).contains(&number) || number >= 157 || name.contains("stopwatch")
}

#[test]
fn every_original_tool_exists_with_the_same_arguments() {
    let Some(recorded) = captured("tools-list.json") else { return };
    let surface = android::toolset();
    let theirs = recorded["tools"].as_array().unwrap();
    assert_eq!(theirs.len(), surface.tools.len());
    for (theirs, ours) in theirs.iter().zip(&surface.tools) {
        assert_eq!(theirs["name"], *ours.name);
        let definitions = theirs["inputSchema"]["$defs"].as_object();
        let Some(schema) = definitions.and_then(|all| all.values().next()) else { continue };
        let mut published = Value::from(ours.schema.clone());
        let ours = published["properties"].as_object_mut().unwrap();
        ours.shift_remove("device");
        let theirs = schema["properties"].as_object().unwrap();
        assert!(theirs.keys().eq(ours.keys()), "{theirs:?} {ours:?}");
        for (name, theirs) in theirs {
            // A value or null: `anyOf` there, a list of types here.
            let plain = theirs.get("anyOf").map_or(theirs, |any| &any[0]);
            let ours = &ours[name];
            for rule in ["enum", "minimum", "maximum"] {
                // Indexes start at 0; the original accepts -1 for the last.
                let own = (name.as_str(), rule) == ("index", "minimum");
                assert!(own || plain.get(rule) == ours.get(rule), "{name}: {rule}");
            }
            assert_eq!(theirs.get("default"), ours.get("default"), "{name}");
            if name != "device_id" {
                assert_eq!(plain.get("pattern"), ours.get("pattern"), "{name}");
            }
        }
        assert_eq!(schema.get("required"), published.get("required"));
    }
}

#[tokio::test]
async fn replies_match_the_original_server() {
    let files = captured_files(FOLDER);
    if files.is_empty() {
        return;
    }
    let (mut compared, mut differing) = (0, String::new());
    for file in files {
        let name = file.name();
        let Some(number) = name.get(..3).and_then(|number| number.parse().ok()) else { continue };
        // The original refuses the document's flat form.
        let flat = name.contains("-flat") || name.contains("-no-params");
        let fault = FAULTS.iter().any(|(fault, _)| name.starts_with(fault));
        if is_of_another_state(number, &name) || flat || fault {
            continue;
        }
        let record = read(&file);
        let theirs = &record["result"];
        let output: Value = theirs["content"][0]["text"]
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        let phone = Phone(Mutex::new(output.clone()));
        let surface = android::toolset();
        let tool = surface.tool(record["tool"].as_str().unwrap()).unwrap();
        let arguments = record["arguments"].as_object().cloned().unwrap();
        let reply = surface.answer(tool, arguments, Call::with_timeout(tool.budget), &phone).await;
        let ours = reply.to_json();
        let out = plain(ours["structuredContent"]["result"].clone());
        let same = match ours["isError"] == theirs["isError"] {
            true if ours["isError"] == false => out == plain(output.clone()),
            same => same,
        };
        if !same {
            differing.push_str(&format!("{name}\n{out}\n{}\n", plain(output)));
        }
        compared += 1;
    }
    assert!(differing.is_empty(), "{differing}");
    assert_eq!(compared, 97);
}

/// A reply without the keys that only one of the two has.
fn plain(mut reply: Value) -> Value {
    let own = [
        "next",
        "validation_warnings",
        "execution_time",
        "search_criteria",
        "process_id",
        "elements",
        "element",
        "xml_dump",
        "transport_id",
        "total_elements_scanned",
        "warnings",
    ];
    match &mut reply {
        Value::Object(said) => {
            said.retain(|key, _| !own.contains(&key.as_str()));
            said.values_mut().for_each(|value| *value = plain(value.take()));
        }
        Value::Array(said) => said.iter_mut().for_each(|value| *value = plain(value.take())),
        _ => {}
    }
    reply
}

/// The recorded phone as the toolset sees it: it returns the recorded outcomes.
struct Phone(Mutex<Value>);

impl Phone {
    fn word(reply: &Value, key: &str) -> String {
        reply[key].as_str().unwrap_or_default().into()
    }

    fn recorded(reply: &Value) -> RecordingInfo {
        let size = reply["size_limit"].as_str().map(|_| Size { width: 240, height: 400 });
        RecordingInfo {
            id: Self::word(reply, "recording_id"),
            name: Self::word(reply, "filename"),
            on_phone: Self::word(reply, "device_path"),
            running: Duration::from_secs_f64(
                reply["duration_seconds"].as_f64().unwrap_or_default(),
            ),
            duration: Duration::from_secs(reply["time_limit"].as_u64().unwrap_or_default()),
            bit_rate: None,
            size,
            process: 1,
            warnings: Vec::new(),
            unstopped: None,
            local_file: None,
        }
    }

    fn monitor(reply: &Value) -> LogMonitor {
        let priority = Self::word(reply, "priority").chars().next();
        LogMonitor {
            id: Self::word(reply, "monitor_id"),
            filter: LogFilter {
                tag: reply["tag_filter"].as_str().map(str::to_owned),
                priority: priority.and_then(Priority::from_letter).unwrap_or(Priority::Info),
            },
            file: reply["output_file"].as_str().map(PathBuf::from),
            running: Duration::from_secs_f64(
                reply["duration_seconds"].as_f64().unwrap_or_default(),
            ),
            entries: reply["entries_processed"].as_u64().unwrap_or_default(),
            ended: None,
        }
    }
}

#[async_trait]
impl Perform for Phone {
    async fn perform(&self, _: &Call, action: Action) -> Result<Outcome, Failure> {
        let output = self.0.lock().unwrap().clone();
        let listed = |row: &Value| ListedDevice {
            id: Phone::word(row, "id"),
            platform: Platform::Android,
            model: String::new(),
            state: Phone::word(row, "status"),
            kind: DeviceKind::Physical,
            properties: ["product", "model", "device"]
                .map(|name| (name.into(), Phone::word(row, name)))
                .into(),
        };
        let identity = || Identity {
            id: "127.0.0.1:15565".into(),
            platform: Platform::Android,
            model: String::new(),
        };
        let point = |at: &Value| Point {
            x: at["x"].as_i64().unwrap() as i32,
            y: at["y"].as_i64().unwrap() as i32,
        };
        let rows = |key: &str| output[key].as_array().cloned().unwrap_or_default();
        let strings = |key: &str| -> Vec<String> {
            rows(key).iter().map(|word| word.as_str().unwrap().to_owned()).collect()
        };
        Ok(match action {
            Action::ListDevices { .. } => {
                Outcome::Devices(rows("devices").iter().map(listed).collect())
            }
            Action::SelectDefaultDevice => Outcome::DefaultDeviceSelected(DefaultDevice {
                device: listed(&output["selected"]),
                reason: SelectionReason::AlreadySelected,
            }),
            Action::SelectDevice { .. } => Outcome::DeviceSelected(identity()),
            Action::Health => {
                let check = |name: &'static str| Check {
                    name: name.into(),
                    passed: true,
                    details: Phone::word(&output["health"]["checks"][name], "details"),
                };
                let checks = ["connectivity", "screen_state", "ui_service"].map(check).into();
                Outcome::Health(HealthResult { identity: identity(), health: Health { checks } })
            }
            Action::Snapshot(_) => Outcome::Snapshot(Arc::new(look(&rows("elements")))),
            Action::FindElements(_) => {
                let found = rows("elements");
                Outcome::Elements(FoundElements {
                    snapshot: Arc::new(look(&found)),
                    nodes: (0..found.len()).collect(),
                })
            }
            Action::TapElement(sought) => match &output["error"] {
                Value::String(error) if error.starts_with("Index") => {
                    return Err(Cause::IndexOutOfRange { index: 50, found: 2 }.into());
                }
                Value::String(_) => {
                    let sought = sought.to_string();
                    return Err(Cause::ElementNotFound { sought, reason: None }.into());
                }
                _ => Outcome::Tapped(TapResult {
                    at: point(&output["coordinates"]),
                    snapshot: Arc::new(look(&[output["element"].clone()])),
                    node: 0,
                    of: output["total_found"].as_u64().unwrap() as usize,
                }),
            },
            Action::Swipe { .. } => Outcome::Swiped(SwipeResult {
                from: point(&output["start"]),
                to: point(&output["end"]),
                screen: Size { width: 480, height: 800 },
            }),
            Action::Type(_) => Outcome::Typed(TypeResult {
                by: TypingMethod::Keys,
                field: Readback::Same,
                into: None,
                tapped: false,
            }),
            Action::SaveScreenshot { name, fetch } => {
                if let Some(name) = name {
                    check_name(&name).map_err(|reason| Cause::InvalidFileName { name, reason })?;
                }
                let bytes = output["file_size_bytes"].as_u64().unwrap_or_default();
                let here = fetch.then(|| Ok(LocalFile { path: "<path>".into(), bytes }));
                let name = Phone::word(&output, "filename");
                Outcome::ScreenshotSaved(SavedScreenshot {
                    name,
                    on_phone: Phone::word(&output, "device_path"),
                    local_file: here,
                })
            }
            Action::StartRecording { name, .. } => {
                if let Some(name) = name {
                    check_name(&name).map_err(|reason| Cause::InvalidFileName { name, reason })?;
                }
                Outcome::Recording(Phone::recorded(&output))
            }
            Action::StartMonitor { file, .. } => {
                if let Some(name) = file {
                    check_name(&name).map_err(|reason| Cause::InvalidFileName { name, reason })?;
                }
                Outcome::Monitor(Phone::monitor(&output))
            }
            Action::StopRecording { recording: Some(id), .. } => {
                return Err(
                    Cause::NoSuchRecording { id, known: strings("active_recordings") }.into()
                );
            }
            Action::StopRecording { recording: None, .. } => {
                Outcome::Recordings(rows("results").iter().map(Phone::recorded).collect())
            }
            Action::ListRecordings => {
                Outcome::Recordings(rows("active_recordings").iter().map(Phone::recorded).collect())
            }
            Action::StopMonitor(Some(id)) if output["success"] == false => {
                return Err(Cause::NoSuchMonitor { id, known: strings("active_monitors") }.into());
            }
            Action::StopMonitor(Some(_)) => Outcome::Monitors(vec![Phone::monitor(&output)]),
            Action::StopMonitor(None) => {
                Outcome::Monitors(rows("results").iter().map(Phone::monitor).collect())
            }
            Action::ListMonitors => {
                Outcome::Monitors(rows("active_monitors").iter().map(Phone::monitor).collect())
            }
            Action::Touch(Gesture::Tap { .. } | Gesture::Swipe { .. }) | Action::Press(_) => {
                Outcome::Done
            }
            other => panic!("nobody asks for {other}"),
        })
    }
}

/// A snapshot with the recorded number of elements.
fn look(elements: &[Value]) -> Snapshot {
    let nodes = elements.iter().map(|element| {
        let clickable = element["clickable"] == "true" || element["clickable"] == true;
        let mut node = Node {
            class: "android.widget.Button".into(),
            text: "x".into(),
            bounds: Rect { left: 0, top: 0, right: 10, bottom: 10 },
            displayed: Some(true),
            ..Node::default()
        };
        node.flags.clickable = clickable;
        node
    });
    let tree = Tree { nodes: nodes.collect(), ..Tree::default() };
    Snapshot::number(tree, None, &1.into())
}

fn read(file: &Capture) -> Value {
    serde_json::from_slice(&file.bytes()).unwrap_or_else(|_| json!(null))
}

/// A recording; `None` if it is not here, which is reported.
fn captured(name: &str) -> Option<Value> {
    let bytes = thumbwire_test_support::capture(&format!("{FOLDER}/{name}"))?;
    Some(serde_json::from_slice(&bytes).unwrap())
}
