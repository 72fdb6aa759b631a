//! The official MCP client for Python drives the server, in both of MCP's eras.

use std::path::Path;
use std::process::Command;

use crate::support::thumbwire;
use serde_json::Value;

/// A Python that has the package `mcp`, second generation; `THUMBWIRE_PYTHON` names it.
fn python() -> Option<String> {
    let python = std::env::var("THUMBWIRE_PYTHON").unwrap_or_else(|_| "python3".into());
    let probe = Command::new(&python).args(["-c", "from mcp import Client"]).output();
    let there = probe.is_ok_and(|output| output.status.success());
    let required = std::env::var_os("THUMBWIRE_REQUIRE_REAL").is_some_and(|value| value == "1");
    assert!(there || !required, "{python} has no package `mcp` of version 2");
    there.then_some(python)
}

#[test]
fn the_python_client_lists_and_calls_in_both_eras() {
    let Some(python) = python() else {
        println!("skipped: no Python with the package `mcp` (version 2)");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/client.py");
    for mode in ["auto", "legacy"] {
        let output = Command::new(&python)
            .arg(&script)
            .arg(thumbwire().get_program())
            .arg(mode)
            .output()
            .expect("python was there a moment ago");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{mode}: {stderr}");
        let seen: Value = serde_json::from_slice(&output.stdout).expect("the script prints JSON");
        assert_eq!(
            seen["tools"].as_array().map(Vec::len),
            Some(thumbwire::surface::mobile::surface().tools.len()),
            "{mode}"
        );
        assert!(seen["tree"].as_str().is_some_and(|tree| tree.contains("Search here")), "{seen}");
        assert_eq!(seen["picture"], serde_json::json!(["image/png", "89504e470d0a1a0a"]));
        assert_eq!(seen["tapped"][0], false, "{seen}");
        assert_eq!(seen["missing"][0], true, "{seen}");
        let words = seen["missing"][1].as_str().unwrap_or_default();
        assert!(words.starts_with("App not found: com.example.nope\n"), "{words}");
    }
}
