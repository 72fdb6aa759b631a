//! `serve --ufo` as seen by UFO's client: two addresses, plain JSON, no token, one session.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::thumbwire;

const MAPS: &str = "com.google.android.apps.maps";

/// The program, with both servers on ports chosen by the system.
struct Servers {
    child: Child,
    data: Server,
    action: Server,
}

/// One of its servers, and our MCP session with it.
struct Server {
    address: String,
    session: Option<String>,
}

impl Servers {
    fn start() -> Self {
        let mut command = thumbwire();
        command.args(["serve", "--ufo", "--device", "virtual"]);
        command.args(["--data-port", "0", "--action-port", "0"]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut server = |name: &str| {
            let serving = format!("thumbwire: serving `{name}` at http://");
            let found = lines.by_ref().find_map(|line| {
                let line = line.unwrap();
                Some(line.strip_prefix(&serving)?.strip_suffix("/mcp")?.to_owned())
            });
            Server { address: found.unwrap(), session: None }
        };
        let (data, action) = (server("ufo-data"), server("ufo-action"));
        Self { child, data, action }
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Sends one message; returns the status, the head, and the body.
    fn post(&self, message: &Value) -> (u16, String, String) {
        let body = message.to_string();
        let session = self.session.iter().map(|id| format!("Mcp-Session-Id: {id}\r\n"));
        let session: String = session.collect();
        let port = self.address.rsplit(':').next().unwrap();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n\
             MCP-Protocol-Version: 2025-06-18\r\nAuthorization: Bearer any\r\n{session}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_lowercase(), body.to_owned())
    }

    fn request(&self, method: &str, params: Value) -> (String, Value) {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let (status, head, body) = self.post(&message);
        assert_eq!(status, 200, "{body}");
        assert!(head.contains("content-type: application/json"), "{head}");
        (head, serde_json::from_str(&body).unwrap())
    }

    /// The handshake; returns the server's response.
    fn initialize(&mut self) -> Value {
        let client = json!({ "name": "test", "version": "0" });
        let params =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let (head, answer) = self.request("initialize", params);
        let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        self.session = id.map(str::to_owned);
        let out = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(&out).0, 202);
        answer["result"].clone()
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let (_, answer) = self.request("tools/call", params);
        answer["result"]["structuredContent"].clone()
    }

    fn tools(&self) -> Vec<String> {
        let (_, answer) = self.request("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn two_servers_share_one_session() {
    let mut servers = Servers::start();
    let (data, action) = (servers.data.initialize(), servers.action.initialize());
    assert_eq!(data["protocolVersion"], "2025-06-18");
    assert_eq!(data["serverInfo"]["name"], "Mobile Data Collection MCP Server");
    assert_eq!(action["serverInfo"]["name"], "Mobile Action MCP Server");
    let Servers { data, action, .. } = &servers;
    assert_eq!(data.tools().len(), 5);
    assert_eq!(action.tools()[..2], ["tap", "swipe"]);

    let launched = action.call("launch_app", json!({ "package_name": MAPS }));
    assert_eq!(launched["success"], true, "{launched}");
    let listed = data.call("get_app_window_controls_target_info", json!({}));
    let rows = listed["result"].as_array().unwrap();
    let field = rows.iter().find(|row| row["name"] == "Search here").unwrap();
    let named = json!({ "control_id": field["id"], "control_name": "Search here" });
    let clicked = action.call("click_control", named.clone());
    assert_eq!(clicked["success"], true, "{clicked}");
    let refused = action.call("click_control", named);
    assert_eq!(refused["reason"], "stale reference: the screen changed since it was listed");

    let (_, unknown) = data.request("tools/call", json!({ "name": "tap", "arguments": {} }));
    assert_eq!(unknown["error"]["message"], "Unknown tool: tap");
}

#[cfg(unix)]
#[test]
fn both_servers_end_with_the_program() {
    let mut servers = Servers::start();
    servers.data.initialize();
    let id = servers.child.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
    assert_eq!(servers.child.wait().unwrap().code(), Some(0));
}

#[test]
fn startup_errors_come_before_serving() {
    let refused = |arguments: &[&str]| {
        let done = thumbwire().arg("serve").args(arguments).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(done.stderr).unwrap()
    };
    let wide = refused(&["--ufo", "--host", "0.0.0.0"]);
    assert!(wide.contains("other computers can reach it"), "{wide}");
    refused(&["--ufo", "--toolset", "mobile"]);
    refused(&["--ufo", "--http"]);
    refused(&["--data-port", "8020"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = refused(&["--ufo", "--data-port", "0", "--action-port", &port]);
    assert!(output.contains("cannot listen on"), "{output}");
}
