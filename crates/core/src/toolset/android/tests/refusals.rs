//! Replies to rejected and failed calls.

use thumbwire_device::SideEffect;

use super::*;
use crate::action::FileNameError;

/// Checks a call that is rejected before any action.
async fn refuses(tool: &str, arguments: Value, is_error: bool, error: &str, errors: &[&str]) {
    let (asked, reply) = call(tool, arguments.clone(), Vec::new()).await;
    assert_eq!(asked, [], "{tool} {arguments}");
    assert_eq!(reply.is_error, is_error, "{tool} {arguments}");
    let out = json!({
        "success": false,
        "error": error,
        "errors": errors,
        "warnings": [],
        "details": "Input parameters failed security validation",
        "next": "correct the argument and call again",
    });
    assert_eq!(value(&reply).to_string(), out.to_string());
}

#[tokio::test]
async fn schema_violations_are_errors() {
    let failed = "Validation failed for tap_screen";
    let check = |arguments, errors: &'static [&'static str]| {
        refuses("tap_screen", arguments, true, failed, errors)
    };
    check(
        json!({ "x": 4001, "y": -1 }),
        &["`x` is 4001; it must be at most 4000", "`y` is -1; it must be at least 0"],
    )
    .await;
    check(json!({ "x": 1.5, "y": 1 }), &["`x` must be an integer, not 1.5"]).await;
    check(json!({ "params": { "x": 5 } }), &["`y` is required"]).await;
    check(
        json!({ "params": 5 }),
        &[
            "`x` is required; \"params\" is not an argument of this tool",
            "`y` is required; \"params\" is not an argument of this tool",
        ],
    )
    .await;
}

#[tokio::test]
async fn limits_are_exact() {
    let ends = |ms: i64| json!({ "start_x": 0, "start_y": 0, "end_x": 4000, "end_y": 4000, "duration_ms": ms });
    let inside = |tool, arguments: Value| async move {
        let (asked, _) = call(tool, arguments, vec![Ok(Outcome::Done)]).await;
        assert_eq!(asked.len(), 1, "{tool}");
    };
    let outside = |tool, arguments: Value| async move {
        let (asked, reply) = call(tool, arguments.clone(), Vec::new()).await;
        assert!(asked.is_empty() && reply.is_error, "{tool} {arguments}");
        assert_eq!(value(&reply)["errors"].as_array().unwrap().len(), 1, "{tool} {arguments}");
    };
    for (low, high) in [(50, 10_000)] {
        inside("swipe_screen", ends(low)).await;
        inside("swipe_screen", ends(high)).await;
        outside("swipe_screen", ends(low - 1)).await;
        outside("swipe_screen", ends(high + 1)).await;
        let up = |ms| json!({ "direction": "up", "duration_ms": ms });
        inside("swipe_direction", up(low)).await;
        inside("swipe_direction", up(high)).await;
        outside("swipe_direction", up(low - 1)).await;
        outside("swipe_direction", up(high + 1)).await;
    }
    let far = |distance: i64| json!({ "direction": "up", "distance": distance });
    inside("swipe_direction", far(1)).await;
    inside("swipe_direction", far(3000)).await;
    outside("swipe_direction", far(0)).await;
    outside("swipe_direction", far(3001)).await;
    outside("swipe_direction", json!({ "direction": "diagonal" })).await;
    let mut off = ends(300);
    off["end_y"] = 4001.into();
    outside("swipe_screen", off).await;
    for (x, y) in [(0, 0), (4000, 4000)] {
        inside("tap_screen", json!({ "x": x, "y": y })).await;
    }
    for (x, y) in [(-1, 0), (0, 4001)] {
        outside("tap_screen", json!({ "x": x, "y": y })).await;
    }
    inside("tap_element", json!({ "text": "x", "index": 0 })).await;
    outside("tap_element", json!({ "text": "x", "index": -1 })).await;
    for seconds in [1, 600] {
        inside("start_screen_recording", json!({ "time_limit": seconds })).await;
    }
    for seconds in [0, 601] {
        outside("start_screen_recording", json!({ "time_limit": seconds })).await;
    }
    for (name, good, bad) in [
        ("bit_rate", ["1", "4M", "4m", "800k", "800K"], ["", "fast", "4G", "M", "4M "]),
        (
            "size_limit",
            ["1x1", "720x1280", "9x9", "2x2", "100x1"],
            ["", "big", "720X1280", "720x", "1x2x3"],
        ),
    ] {
        for word in good {
            inside("start_screen_recording", json!({ name: word })).await;
        }
        for word in bad.into_iter().filter(|word| !word.is_empty()) {
            outside("start_screen_recording", json!({ name: word })).await;
        }
    }
    inside("get_logcat", json!({ "max_lines": 1 })).await;
    outside("get_logcat", json!({ "max_lines": 0 })).await;
    for tool in ["get_logcat", "start_log_monitoring"] {
        for priority in ["V", "D", "I", "W", "E", "F", "S"] {
            inside(tool, json!({ "priority": priority })).await;
        }
        outside(tool, json!({ "priority": "X" })).await;
        outside(tool, json!({ "priority": "VD" })).await;
    }
}

#[tokio::test]
async fn empty_searches_are_refused() {
    for nothing in
        [json!({}), json!({ "text": "" }), json!({ "text": null, "clickable_only": true })]
    {
        let reason = "At least one search criterion (text, resource_id, content_desc, class_name) must be provided";
        let failed = "Validation failed for element search";
        refuses("find_elements", nothing.clone(), false, failed, &[reason]).await;
        let reason = "At least one selector (text, resource_id, content_desc) must be provided";
        refuses("tap_element", nothing, false, "Validation failed for tap_element", &[reason])
            .await;
    }
}

#[tokio::test]
async fn invalid_file_names_are_validation_errors() {
    let bad = |name: &str, reason| Cause::InvalidFileName { name: name.into(), reason };
    for (tool, argument, reason, expected) in [
        (
            "take_screenshot",
            "../x",
            FileNameError::EscapesRoot,
            "Path traversal detected in filename: ../x",
        ),
        (
            "take_screenshot",
            "a:b?",
            FileNameError::Characters(vec![':', '?']),
            "Dangerous characters in filename: :, ?",
        ),
        (
            "start_screen_recording",
            "/r",
            FileNameError::EscapesRoot,
            "Path traversal detected in filename: /r",
        ),
        (
            "start_screen_recording",
            "a/b",
            FileNameError::Folder,
            "Folders are not allowed in filename: a/b",
        ),
        (
            "start_log_monitoring",
            "../m",
            FileNameError::EscapesRoot,
            "Path traversal detected in filename: ../m",
        ),
        (
            "start_log_monitoring",
            "long",
            FileNameError::TooLong(241),
            "Filename too long (241 characters)",
        ),
    ] {
        let key = if tool == "start_log_monitoring" { "output_file" } else { "filename" };
        let expected = json!({
            "success": false,
            "error": format!("Validation failed for {tool}"),
            "errors": [expected],
            "warnings": [],
            "details": "Input parameters failed security validation",
        });
        fails(tool, json!({ key: argument }), bad(argument, reason), expected).await;
    }
}

#[tokio::test]
async fn a_missing_device_is_reported() {
    let none = || Cause::NoDeviceChosen { devices: Vec::new() };
    let some = || Cause::NoDeviceChosen { devices: vec![listed("R58M", "offline")] };
    let text = "Tool execution failed: No Android device has been selected. Call select_device() or \
                 auto_select_device() first, or pass device_id explicitly.";
    let expected = json!({
        "success": false,
        "error": text,
        "error_code": "TOOL_EXECUTION_ERROR",
        "tool_name": "tap_screen",
    });
    fails("tap_screen", json!({ "x": 1, "y": 1 }), none(), expected.clone()).await;
    fails("tap_screen", json!({ "x": 1, "y": 1 }), some(), expected).await;
    let expected =
        json!({ "success": false, "error": "No Android devices connected", "elements": [] });
    fails("list_screen_elements", json!({}), none(), expected).await;
    let expected =
        json!({ "success": false, "error": "No Android devices connected", "devices": [] });
    fails("select_device", json!({}), none(), expected).await;
    let (_, reply) = call("select_device", json!({}), vec![Err(some().into())]).await;
    let out = value(&reply);
    assert_eq!(out["error"], "No devices in 'device' status");
    assert_eq!(out["devices"][0]["status"], "offline");
}

#[tokio::test]
async fn unready_devices_are_reported_with_their_state() {
    let id = json!({ "device_id": "R58M" });
    let gone = || Cause::DeviceNotConnected { device: "R58M".into(), reason: "unknown".into() };
    let expected = json!({
        "success": false,
        "error": "Device 'R58M' is not connected (not present in `adb devices`)",
        "device_id": "R58M",
        "state": "not-found",
        "details": "unknown",
    });
    fails("select_device", id.clone(), gone(), expected).await;
    let expected = json!({
        "success": false,
        "error": "Device 'R58M' is not connected: unknown",
        "operation": "get_devices",
    });
    fails("get_devices", json!({}), gone(), expected).await;
    let unready = || Cause::DeviceNotReady { device: "R58M".into(), state: "offline".into() };
    let error = "Device 'R58M' is not ready (state: offline); expected 'device'";
    let expected =
        json!({ "success": false, "error": error, "device_id": "R58M", "state": "offline" });
    fails("select_device", id.clone(), unready(), expected).await;
    let expected = json!({
        "success": false, "error": error, "operation": "list_screen_elements", "elements": [],
    });
    fails("list_screen_elements", json!({}), unready(), expected).await;
    let error = "Device 'R58M' is not ready (state: unauthorized); expected 'device'";
    let expected =
        json!({ "success": false, "error": error, "device_id": "R58M", "state": "unauthorized" });
    fails("select_device", id, Cause::DeviceNotAuthorized { device: "R58M".into() }, expected)
        .await;
}

#[tokio::test]
async fn unknown_ids_are_reported_with_the_known_ones() {
    let sought = Cause::ElementNotFound { sought: "x".into(), reason: None };
    let error = "Element not found. Verify the text, resource_id, or content_desc is correct";
    let criteria = json!({ "text": "x", "resource_id": null, "content_desc": null });
    let mut expected = json!({ "success": false, "error": error, "criteria": criteria });
    fails("tap_element", json!({ "text": "x" }), sought, expected.clone()).await;
    expected["details"] = "it is covered".into();
    let covered =
        Cause::ElementNotFound { sought: "x".into(), reason: Some("it is covered".into()) };
    fails("tap_element", json!({ "params": { "text": "x" } }), covered, expected).await;

    let error = "Index 50 out of range. Found 2 elements";
    let expected = json!({ "success": false, "error": error, "elements_found": 2 });
    let beyond = Cause::IndexOutOfRange { index: 50, found: 2 };
    fails("tap_element", json!({ "text": "x", "index": 50 }), beyond, expected).await;

    let known = || vec!["a".to_owned()];
    let expected = json!({
        "success": false, "error": "Recording x not found", "active_recordings": ["a"],
    });
    let unknown = Cause::NoSuchRecording { id: "x".into(), known: known() };
    fails("stop_screen_recording", json!({ "recording_id": "x" }), unknown, expected).await;
    let expected =
        json!({ "success": false, "error": "Monitor x not found", "active_monitors": ["a"] });
    let unknown = Cause::NoSuchMonitor { id: "x".into(), known: known() };
    fails("stop_log_monitoring", json!({ "monitor_id": "x" }), unknown, expected).await;

    let expected = json!({
        "success": false,
        "error": "maximum active recordings reached (5)",
        "operation": "start_screen_recording",
    });
    let full = Cause::TooManyActive { what: "recordings".into(), max: 5 };
    fails("start_screen_recording", json!({}), full, expected).await;
}

#[tokio::test(start_paused = true)]
async fn timeouts_report_their_limit() {
    struct Slow;
    #[async_trait]
    impl Perform for Slow {
        async fn perform(&self, call: &Call, _: Action) -> Result<Outcome, Failure> {
            tokio::time::sleep_until(call.deadline).await;
            let cause = Cause::TimedOut { what: "tap".into(), after: Duration::from_secs(5) };
            Err(Failure { cause, side_effect: SideEffect::Possible })
        }
    }
    let toolset = toolset();
    let tool = toolset.tool("tap_screen").unwrap();
    let arguments = json!({ "x": 1, "y": 1 }).as_object().cloned().unwrap();
    let reply = toolset.answer(tool, arguments, Call::with_timeout(tool.budget), &Slow).await;
    let out = value(&reply);
    assert_eq!(out["error"], "Operation timed out after 5.0 seconds");
    assert_eq!(out["error_code"], "OPERATION_TIMEOUT");
    assert_eq!(out["timeout_seconds"], 5.0);
    assert_eq!(out["elapsed_seconds"], 5.0);
    assert_eq!(out["tool_name"], "tap_screen");
    assert_eq!(out["recovery_suggestions"][0], out["next"]);
    assert!(out["next"].as_str().unwrap().starts_with("the action may have happened: "));
}

#[tokio::test]
async fn other_errors_name_the_tool() {
    let expected =
        json!({ "success": false, "error": "the phone is busy", "operation": "press_key" });
    let busy = || Cause::NotReady { text: "the phone is busy".into() };
    fails("press_key", json!({ "keycode": "BACK" }), busy(), expected).await;
    let book = Cause::DeviceError { text: "b".repeat(1_000_000) };
    let (_, reply) = call("get_devices", json!({}), vec![Err(book.into())]).await;
    assert!(value(&reply)["error"].as_str().unwrap().len() < 2000);
    let (_, reply) = call("get_ui_layout", json!({}), vec![Ok(Outcome::Done)]).await;
    assert_eq!(value(&reply)["error"], "bug in Thumbwire: unexpected outcome");
}

#[tokio::test]
async fn the_device_argument_selects_the_phone() {
    let fake = Fake { answers: Mutex::new(vec![Ok(Outcome::Done)]), asked: Mutex::default() };
    let toolset = toolset();
    let tool = toolset.tool("tap_screen").unwrap();
    let arguments = json!({ "params": { "x": 1, "y": 1, "device": "R58M" } });
    let arguments = arguments.as_object().cloned().unwrap();
    toolset.answer(tool, arguments, Call::with_timeout(tool.budget), &fake).await;
    assert_eq!(fake.asked.lock().unwrap()[0].0.as_deref(), Some("R58M"));
}
