//! What clients and models see of the tools: their annotations and their size.

use std::fmt::Write as _;

use serde_json::{Value, json};
use thumbwire_core::toolset::reference::short_form;
use thumbwire_core::toolset::{ToolEffect, Toolset, android, mobile, ufo};

use crate::support::{McpProcess, thumbwire};

/// All toolsets.
fn surfaces() -> [Toolset; 4] {
    [mobile::toolset(), android::toolset(), ufo::data(), ufo::action()]
}

/// The tools in the files that describe them, each file with those of a specification.
fn described(files: &[&str]) -> Vec<Value> {
    files.iter().flat_map(|file| serde_json::from_str::<Vec<Value>>(file).unwrap()).collect()
}

macro_rules! toolset_file {
    ($name:literal) => {
        include_str!(concat!("../../../core/src/toolset/", $name))
    };
}

/// Descriptions and schemas are those of the specifications, letter for letter and with the keys in
/// the same order; the golden file has what a tool has beside them.
#[test]
fn tools_are_their_specifications_with_titles_hints_and_a_device() {
    let mobile_tools =
        described(&[toolset_file!("mobile/tools.json"), toolset_file!("mobile/own.json")]);
    let mobile_outputs = described(&[toolset_file!("mobile/outputs.json")]);
    let android_tools = described(&[toolset_file!("android/tools.json")]);
    let ufo_tools = described(&[toolset_file!("ufo/tools.json")]);
    let specifications = [
        (&mobile_tools, &mobile_outputs),
        (&android_tools, &android_tools),
        (&ufo_tools, &ufo_tools),
        (&ufo_tools, &ufo_tools),
    ];
    let mut out = String::new();
    for (toolset, (inputs, outputs)) in surfaces().iter().zip(specifications) {
        writeln!(out, "{}", toolset.name).unwrap();
        for tool in &toolset.tools {
            let mut tool = tool.to_json();
            let of = |tools: &[Value]| {
                tools.iter().find(|described| described["name"] == tool["name"]).cloned()
            };
            let (input, output) = (of(inputs).unwrap(), of(outputs).unwrap_or_default());
            let properties = tool["inputSchema"]["properties"].as_object_mut().unwrap();
            let device = properties.shift_remove("device");
            let changes = properties.shift_remove("changes");
            let name = tool["name"].as_str().unwrap();
            assert_eq!(tool["description"], input["description"], "{name}");
            let text = |tool: &Value, schema: &str| tool[schema].to_string();
            assert_eq!(text(&tool, "inputSchema"), text(&input, "inputSchema"), "{name}");
            // What acts answer with is in no file.
            let answer = match tool["outputSchema"].as_object() {
                Some(schema) if output.is_null() => format!(" {}", short_form(schema)),
                _ => {
                    let schema = "outputSchema";
                    assert_eq!(text(&tool, schema), text(&output, schema), "{name}");
                    String::new()
                }
            };
            let device = device.map_or(String::new(), |schema| format!(" device {schema}"));
            let changes = changes.map_or(String::new(), |schema| format!(" changes {schema}"));
            let [title, hints] = ["title", "annotations"].map(|key| tool[key].to_string());
            writeln!(out, "  {name} {title} {hints}{device}{changes}{answer}").unwrap();
        }
    }
    insta::assert_snapshot!(out);
}

/// A model reads the tool list before its first call, and a client waits for it.
#[test]
fn tool_lists_stay_within_their_budget() {
    // Name, limit on what a model reads, limit on the whole list; in bytes.
    let budgets = [
        ("mobile", 9_000, 15_100),
        ("android", 10_000, 30_000),
        ("ufo-data", 2_500, 7_500),
        ("ufo-action", 5_000, 8_000),
    ];
    for (surface, (name, read, whole)) in surfaces().into_iter().zip(budgets) {
        assert_eq!(surface.name, name);
        let tools = &surface.tools;
        let is_read: usize = tools.iter().map(|tool| tool.read_by_models()).sum();
        let is_listed: usize = tools.iter().map(|tool| tool.to_json().to_string().len()).sum();
        assert!(is_read <= read, "a model reads {is_read} bytes of {name}");
        assert!(is_listed <= whole, "the list of {name} has {is_listed} bytes");
    }
}

#[test]
fn only_tools_without_effects_are_read_only() {
    // According to their documents; a screenshot stored on the phone counts as an addition.
    let looks = [
        "mobile_list_devices",
        "mobile_get_device_info",
        "mobile_list_apps",
        "mobile_get_current_app",
        "mobile_take_screenshot",
        "mobile_get_accessibility_tree",
        "mobile_snapshot",
        "mobile_list_app_tools",
        "get_devices",
        "get_device_info",
        "get_ui_layout",
        "list_screen_elements",
        "find_elements",
        "list_active_recordings",
        "list_active_monitors",
        "capture_screenshot",
        "get_ui_tree",
        "get_mobile_app_target_info",
        "get_app_window_controls_target_info",
        "wait",
    ];
    let settles = [
        "mobile_use_device",
        "mobile_set_orientation",
        "mobile_unlock",
        "mobile_wait_for",
        "select_device",
        "invalidate_cache",
    ];
    for surface in surfaces() {
        for tool in &surface.tools {
            let manner = match tool.name.as_str() {
                name if looks.contains(&name) => ToolEffect::ReadOnly,
                name if settles.contains(&name) => ToolEffect::Idempotent,
                "start_log_monitoring" => ToolEffect::Additive,
                // Home, Back, volume and power; another app in front; another part of a list.
                "mobile_press_key" | "mobile_launch_app" | "mobile_scroll" => ToolEffect::Additive,
                // Idempotent: what is stopped stays stopped.
                "stop_screen_recording" | "stop_log_monitoring" => ToolEffect::Idempotent,
                // Including `get_logcat`, which can clear the log, and tools that may overwrite a
                // file on the phone.
                _ => ToolEffect::Destructive,
            };
            assert_eq!(tool.effect, manner, "{}: {}", surface.name, tool.name);
        }
    }
}

/// What a client may assume without a hint is left off; a tool that acts says whether it stays on
/// the phone.
#[test]
fn hints_are_honest_and_titles_are_for_people() {
    let open = ["mobile_open_url", "mobile_call_app_tool"];
    for surface in surfaces() {
        for tool in &surface.tools {
            let hints = tool.hints();
            let acts = hints.read_only.is_none();
            let stays = (acts && !open.contains(&&*tool.name)).then_some(false);
            assert_eq!(hints.open_world, stays, "{}", tool.name);
            let written = tool.to_json();
            assert_eq!(
                written["annotations"].get("destructiveHint"),
                hints.destructive.map(Value::from).as_ref()
            );
            let title = written["title"].as_str().unwrap();
            assert!(title.starts_with(char::is_uppercase) && !title.contains('_'), "{title}");
        }
    }
    let toolset = mobile::toolset();
    let hints = |name: &str| toolset.tool(name).unwrap().hints();
    // Home leaves an app as it is; a tap can do anything.
    assert_eq!(hints("mobile_press_key").destructive, Some(false));
    assert_eq!(hints("mobile_tap").destructive, None);
    assert_eq!(toolset.tool("mobile_open_url").unwrap().title, "Open URL");
}

/// The time limits of the original Android MCP server, in seconds (from its sources).
#[test]
fn android_tools_have_the_original_time_limits() {
    for tool in &android::toolset().tools {
        let seconds = match tool.name.as_str() {
            "get_devices"
            | "start_screen_recording"
            | "stop_log_monitoring"
            | "swipe_screen"
            | "swipe_direction" => 15,
            "get_device_info" | "stop_screen_recording" | "input_text" => 20,
            "select_device"
            | "get_ui_layout"
            | "list_screen_elements"
            | "tap_element"
            | "press_key"
            | "get_logcat"
            | "start_log_monitoring" => 10,
            "find_elements" | "take_screenshot" => 8,
            "tap_screen" | "list_active_recordings" | "list_active_monitors" => 5,
            other => panic!("{other} has no original time limit"),
        };
        assert_eq!(tool.budget.as_secs(), seconds, "{}", tool.name);
    }
}

#[test]
fn tool_help_is_readable_and_available_as_json() {
    let said = |arguments: &[&str]| {
        let output = thumbwire().arg("tools").args(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let mut out = String::new();
    for tool in ["mobile_swipe", "mobile_type", "mobile_get_accessibility_tree"] {
        let (code, help, _) = said(&[tool]);
        assert_eq!(code, Some(0));
        out.push_str(&help);
        out.push('\n');
    }
    insta::assert_snapshot!("help_of_a_tool", out);

    // This prints what a client receives.
    let (_, json, _) = said(&["--json"]);
    let printed: Value = serde_json::from_str(&json).unwrap();
    let mut server = McpProcess::connected(&["--device", "virtual"]);
    let listed = server.request("tools/list", json!({}));
    assert_eq!(printed["tools"], listed["result"]["tools"]);

    let (code, _, words) = said(&["mobile_nope"]);
    assert_eq!(code, Some(2));
    assert!(words.contains("Run `thumbwire tools`"), "{words}");
}
