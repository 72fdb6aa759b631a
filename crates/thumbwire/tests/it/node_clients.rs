//! MCP's own clients for Node.js with our server, over stdio and HTTP: the TypeScript SDK in both
//! generations, which checks each result against its schema, and the Inspector's command line.
//!
//! `.ci/parts node-clients` installs them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use thumbwire_test_support::real;

use serde_json::Value;

use crate::python::HttpServer;
use crate::support::thumbwire;

/// The folder with the clients, if they are installed.
fn folder() -> Option<PathBuf> {
    real("node-clients", "node_modules/@modelcontextprotocol/inspector")?;
    real("node-clients", "")
}

/// A script or program of Node.js, with no phone of an adb server that happens to run here.
fn node(folder: &Path) -> Command {
    let mut command = Command::new(folder.join("node_modules/.bin/node"));
    command.env("ANDROID_ADB_SERVER_PORT", "9").stdin(Stdio::null());
    command
}

/// What the command printed.
fn output(command: &mut Command) -> String {
    let ended = command.output().unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr);
    let printed = String::from_utf8(ended.stdout).unwrap();
    assert!(ended.status.success(), "{command:?}: {errors}{printed}");
    printed
}

#[test]
fn typescript_sdk_works_in_both_generations() {
    let Some(folder) = folder() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/node/sdk_client.mjs");
    let token = tempfile::tempdir().unwrap();
    let server = HttpServer::start("mobile", &token.path().join("token"));
    for generation in ["1", "2"] {
        let client = || {
            let mut command = node(&folder);
            command.arg(&script).arg(&folder).arg(generation);
            command
        };
        let program = thumbwire().get_program().to_owned();
        let by_stdio =
            output(client().arg("stdio").arg(program).args(["serve", "--device", "virtual"]));
        let by_http =
            output(client().arg("http").arg(&server.url).env("THUMBWIRE_TOKEN", &server.token));
        assert_eq!(by_stdio, by_http, "generation {generation}");
        insta::assert_snapshot!("sdk_client", by_stdio);
    }
}

#[test]
fn inspector_lists_and_calls() {
    let Some(folder) = folder() else { return };
    let inspector =
        folder.join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let home = tempfile::tempdir().unwrap();
    let server = HttpServer::start("mobile", &home.path().join("token"));
    let ask = |is_http: bool, arguments: &[&str]| -> Value {
        let mut command = node(&folder);
        command.env("HOME", home.path()).arg(&inspector).arg("--cli");
        match is_http {
            true => {
                let token = format!("Authorization: Bearer {}", server.token);
                command.arg(&server.url).args(arguments).args(["--header", &token]);
            }
            false => {
                let program = thumbwire().get_program().to_owned();
                command.arg(program).args(["serve", "--device", "virtual"]).args(arguments);
            }
        }
        serde_json::from_str(&output(&mut command)).expect("the Inspector prints JSON")
    };
    for is_http in [false, true] {
        // `--strict` fails if a schema cannot be used by other programs.
        let listed = ask(is_http, &["--method", "tools/list", "--strict"]);
        assert!(listed["tools"].as_array().unwrap().len() > 20, "{listed}");
        let info = ["--method", "tools/call", "--tool-name", "mobile_get_device_info"];
        let info = ask(is_http, &info);
        assert_eq!(info["structuredContent"]["device_id"], "virtual", "{info}");
        let key =
            ["--method", "tools/call", "--tool-name", "mobile_press_key", "--tool-arg", "key=home"];
        assert_ne!(ask(is_http, &key)["isError"], true);
        let resources = ask(is_http, &["--method", "resources/list"]);
        assert!(!resources["resources"].as_array().unwrap().is_empty(), "{resources}");
        let prompts = ask(is_http, &["--method", "prompts/list"]);
        assert!(!prompts["prompts"].as_array().unwrap().is_empty(), "{prompts}");
    }
}
