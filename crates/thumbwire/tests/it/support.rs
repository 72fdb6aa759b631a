//! Shared by several tests of the whole program: the binary as started by an MCP client.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// The binary under test, isolated from any adb server and usbmuxd on this machine.
pub(crate) fn thumbwire() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thumbwire"));
    command.env_remove("LOG_LEVEL").env_remove("RUST_LOG");
    command.env_remove("ADB_SERVER_SOCKET");
    command.env_remove("THUMBWIRE_ALLOW_APP_TOOLS");
    // No configuration file of this machine.
    command.env_remove("THUMBWIRE_CONFIG").env("XDG_CONFIG_HOME", env!("CARGO_TARGET_TMPDIR"));
    // Nor files that it keeps between runs.
    command.env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"));
    // Nor the session of the short commands.
    command.env_remove("XDG_RUNTIME_DIR");
    // A port outside the dynamic range on which nothing listens.
    command.env("ANDROID_ADB_SERVER_ADDRESS", "127.0.0.1").env("ANDROID_ADB_SERVER_PORT", "9");
    command.env("USBMUXD_SOCKET_ADDRESS", "UNIX:/nonexistent/usbmuxd");
    command
}

/// A server on stdio with raw JSON lines, to check what a foreign client sees.
pub(crate) struct McpProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u32,
}

impl McpProcess {
    /// Starts `thumbwire serve` with these arguments, without a handshake.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::spawn(thumbwire().arg("serve").args(arguments))
    }

    /// The same for a server whose standard error is read.
    pub(crate) fn spawn_with_stderr(command: &mut Command) -> (Self, ChildStderr) {
        let mut server = Self::spawn(command.stderr(Stdio::piped()));
        let stderr = server.child.stderr.take().expect("it is piped");
        (server, stderr)
    }

    /// Starts a prepared command, without a handshake.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, next_id: 1 }
    }

    /// Starts a server and connects with this revision.
    pub(crate) fn connected(arguments: &[&str]) -> Self {
        let mut server = Self::start(arguments);
        server.initialize("2025-11-25");
        server
    }

    /// The handshake of revisions up to 2025-11-25; returns the server's response.
    pub(crate) fn initialize(&mut self, revision: &str) -> Value {
        self.initialize_as(revision, "test")
    }

    /// The same for a client of this name.
    pub(crate) fn initialize_as(&mut self, revision: &str, name: &str) -> Value {
        let client = json!({ "name": name, "version": "0" });
        let params =
            json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
        let answer = self.request("initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer["result"].clone()
    }

    /// Sends a message unchanged.
    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Sends any line.
    pub(crate) fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
    }

    /// Receives the server's next message.
    pub(crate) fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(Duration::from_secs(60)).expect("an answer");
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("stdout holds no JSON ({e}): {line}"))
    }

    /// Sends a request and waits for its response.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let answer = self.receive();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Calls a tool and returns its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.request("tools/call", params);
        assert!(answer.get("error").is_none(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool that replies with text, and returns the text.
    pub(crate) fn say(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        let text = result["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("{tool} has no words: {result}")).to_owned()
    }

    /// Sends the server a signal while its input is open, and waits for it to exit; returns its
    /// exit code.
    #[cfg(unix)]
    pub(crate) fn end_by(mut self, signal: &str) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }

    /// Closes the server's input and waits for it to exit; returns its exit code.
    pub(crate) fn close(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for McpProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
