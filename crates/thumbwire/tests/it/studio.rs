//! The studio: its requests beside a real MCP client, and its page in a browser.
//!
//! `.ci/parts browser` installs Chromium and Selenium.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::{Value, json};
use thumbwire_test_support::python;

use crate::asking_support::with_meta;
use crate::support::{McpProcess, thumbwire};

/// The page's requests, by the address that the program printed.
struct Page {
    /// Up to the path of the page.
    url: String,
    token: String,
}

impl Page {
    /// Reads lines until the address comes.
    fn of(stderr: ChildStderr) -> Self {
        Self::reading(stderr, None)
    }

    /// The same; all further lines go to a file.
    fn of_logged(stderr: ChildStderr, log: &Path) -> Self {
        Self::reading(stderr, Some(fs::File::create(log).unwrap()))
    }

    fn reading(stderr: ChildStderr, mut log: Option<fs::File>) -> Self {
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        let line = lines.find(|line| line.contains("the studio is at")).expect("an address");
        // The program must not wait for somebody who reads the rest.
        std::thread::spawn(move || {
            lines.for_each(|line| {
                log.iter_mut().for_each(|log| writeln!(log, "{line}").unwrap());
            });
        });
        let url = line.rsplit(' ').next().unwrap();
        let (url, token) = url.split_once("#token=").expect("a token");
        Self { url: url.to_owned(), token: token.to_owned() }
    }

    fn address(&self) -> &str {
        self.url.split('/').nth(2).unwrap()
    }

    /// Sends a request of HTTP/1.0, whose answer ends with the connection.
    fn request(&self, path: &str, body: Option<&Value>, headers: &str) -> BufReader<TcpStream> {
        let method = if body.is_some() { "POST" } else { "GET" };
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} /studio/api/{path} HTTP/1.0\r\n{headers}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        BufReader::new(stream)
    }

    /// Sends a request of a browser that has no token; returns its status and its body.
    fn browse(&self, url: &str, form: Option<&str>) -> (u16, String) {
        let path = url.split_once(self.address()).expect("an address of this program").1;
        let (method, body) =
            (if form.is_some() { "POST" } else { "GET" }, form.unwrap_or_default());
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let (host, length) = (self.address(), body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nhost: {host}\r\norigin: http://{host}\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn send(&self, path: &str, body: Option<Value>, token: &str) -> (u16, Value) {
        let headers = format!("host: {}\r\nauthorization: Bearer {token}", self.address());
        let mut answer = String::new();
        self.request(path, body.as_ref(), &headers).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    fn get(&self, path: &str) -> Value {
        let (status, answer) = self.send(path, None, &self.token);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    fn post(&self, path: &str, mut body: Value) -> Value {
        body["device"] = "virtual".into();
        let (status, answer) = self.send(path, Some(body.clone()), &self.token);
        assert_eq!(status, 200, "{path} {body}: {answer}");
        answer
    }

    /// Waits for an event whose text contains this, from event number `after` on.
    fn event(&self, after: u64, text: &str) -> Value {
        let headers = format!("host: {}\r\nauthorization: Bearer {}", self.address(), self.token);
        let stream = self.request(&format!("events?after={after}"), None, &headers);
        let lines = stream.lines().map_while(Result::ok);
        let events = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        let is_it = |event: &Value| event["text"].as_str().is_some_and(|it| it.contains(text));
        events.into_iter().find(is_it).expect("the event")
    }

    fn last_event(&self) -> u64 {
        self.get("state")["last_event"].as_u64().unwrap()
    }

    fn tap(&self, name: &str) {
        let look = self.post("look", json!({}));
        let elements = look["elements"].as_array().unwrap();
        let is_it = |one: &&Value| one["visible"] == true && one["name"] == name;
        let found = elements.iter().find(is_it).unwrap_or_else(|| panic!("no {name} in {look}"));
        let side = |at: usize| found["bounds"][at].as_i64().unwrap();
        let at = json!({ "x": (side(0) + side(2)) / 2, "y": (side(1) + side(3)) / 2 });
        self.post("act", json!({ "action": { "touch": { "tap": { "at": at } } } }));
    }
}

/// A program with a page that ends with the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn studio(out: &Path) -> (Program, Page) {
    let mut command = thumbwire();
    command.args(["studio", "--device", "virtual", "--listen", "127.0.0.1:0", "--out"]).arg(out);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let page = Page::of(child.stderr.take().unwrap());
    (Program(child), page)
}

/// A folder that is kept, to look at the pictures.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("studio").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_person_pauses_a_client_acts_and_hands_back() {
    let mut command = thumbwire();
    command.args(["serve", "--device", "virtual", "--studio", "127.0.0.1:0"]);
    let (mut client, stderr) = McpProcess::spawn_with_stderr(&mut command);
    let page = Page::of(stderr);
    client.initialize_as("2025-11-25", "helpful");
    let press = |client: &mut McpProcess| client.say("mobile_press_key", json!({ "key": "home" }));
    press(&mut client);
    let phone = &page.get("state")["phones"][0];
    assert_eq!((&phone["holder"], &phone["hold"]), (&json!("client \"helpful\""), &Value::Null));

    page.post("hold", json!({ "how": "pause" }));
    let after = page.last_event();
    let waiting = std::thread::spawn(move || {
        let reply = press(&mut client);
        (client, reply)
    });
    page.event(after, "press home");
    page.tap("Notes");
    page.post("hold", json!({ "how": "hand_back" }));
    let (mut client, reply) = waiting.join().unwrap();
    insta::assert_snapshot!("after_a_person_acted", reply);

    page.post("hold", json!({ "how": "stop" }));
    insta::assert_snapshot!("after_a_person_stopped_it", press(&mut client));
    page.post("hold", json!({ "how": "hand_back" }));
    assert!(press(&mut client).contains("home"));
    client.close();
}

#[test]
fn what_a_person_does_is_in_the_audit_log_without_its_words() {
    let out = folder("audit");
    let log = out.join("audit.jsonl");
    let mut command = thumbwire();
    command.args(["serve", "--device", "virtual", "--studio", "127.0.0.1:0", "--audit"]).arg(&log);
    let (client, stderr) = McpProcess::spawn_with_stderr(&mut command);
    let page = Page::of(stderr);
    page.post("look", json!({}));
    page.post("act", json!({ "action": { "press": "HOME" } }));
    let typing = json!({ "text": "hunter2", "clear": false, "submit": false });
    page.post("hold", json!({ "how": "pause" }));
    page.post("hold", json!({ "how": "hand_back" }));
    for (path, body) in [
        ("act", json!({ "device": "virtual", "action": { "type": typing } })),
        ("act", json!({ "device": "hunter2", "action": { "press": "HOME" } })),
        ("act", json!({ "device": "virtual", "action": { "clear_data": "com.android.notes" } })),
        ("answer", json!({ "question": 7, "text": "hunter2" })),
    ] {
        assert_ne!(page.send(path, Some(body), &page.token).0, 200);
    }
    client.close();
    let text = fs::read_to_string(log).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    let lines = text.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let fields = ["client", "transport", "phone", "tool", "outcome", "code"];
        fields.map(|field| line[field].as_str().unwrap_or("-").to_owned()).join(" ")
    });
    insta::assert_snapshot!("audited_acts", lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn what_a_hand_does_becomes_a_flow_that_passes() {
    let out = folder("recording");
    let (_program, page) = studio(&out);
    page.post("act", json!({ "action": { "press": "HOME" } }));
    page.post("record", json!({ "do": "start" }));
    page.tap("Notes");
    page.tap("New note");
    page.tap("Title");
    let typing = json!({ "type": { "text": "Grüße 漢字", "clear": false, "submit": false } });
    page.post("act", json!({ "action": typing }));
    let look = page.post("look", json!({}));
    let elements = look["elements"].as_array().unwrap();
    let title = elements.iter().position(|one| one["text"] == "Grüße 漢字").unwrap();
    page.post("record", json!({ "do": "check", "index": title }));
    let recording = page.post("record", json!({ "do": "stop" }));
    let flow = recording["flow"].as_str().unwrap();
    insta::assert_snapshot!("recorded_flow", flow);
    let python = page.post("export", json!({ "as": "python" }));
    insta::assert_snapshot!("recorded_python", python["text"].as_str().unwrap());
    let runs = page.get("runs");
    assert_eq!(runs["runs"][0]["kind"], "calls", "{runs}");

    let file = out.join("recorded.yaml");
    fs::write(&file, flow).unwrap();
    let mut test = thumbwire();
    test.arg("test").arg(&file).args(["--device", "virtual", "--out"]).arg(&out);
    let output = test.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));

    let goal = "Add a note with the title \"Grüße 漢字\".";
    let skill = page.post("export", json!({ "as": "skill", "text": goal }));
    let (name, text) = (skill["name"].as_str().unwrap(), skill["text"].as_str().unwrap());
    let date = regex_lite::Regex::new("(studio-[0-9-]+-[0-9a-f]+|date: .*)").unwrap();
    insta::assert_snapshot!("recorded_skill", date.replace_all(text, "…"));
    let skills = out.join("skills");
    fs::create_dir_all(&skills).unwrap();
    fs::write(skills.join(name), text).unwrap();
    let listed = thumbwire().args(["skill", "list"]).arg(&skills).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("Add a note with the title \"{TITLE}\"."), "{listed}");
    // Followed without a model, with another title.
    let mut run = thumbwire();
    run.args(["run", "--device", "virtual", "--no-ask", "--skills"]).arg(&skills);
    run.arg("--out").arg(&out).arg("Add a note with the title \"Milk\".");
    let output = run.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
}

/// All files below a folder that contain this text.
fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files_with(&path, text)),
            false => {
                let bytes = fs::read(&path).unwrap();
                let has = bytes.windows(text.len()).any(|part| part == text.as_bytes());
                found.extend(has.then_some(path));
            }
        }
    }
    found
}

#[test]
fn a_secret_goes_from_its_page_to_the_phone_and_nowhere_else() {
    for revision in ["2025-11-25", BETWEEN_REQUESTS] {
        ask_for_a_secret(revision);
    }
}

/// The revision in which a call's request ends with the question.
const BETWEEN_REQUESTS: &str = "2026-07-28";

/// The parameters of a request in this revision, of a client that opens addresses.
fn of_client(revision: &str, params: Value) -> Value {
    if revision != BETWEEN_REQUESTS {
        return params;
    }
    let mut params = with_meta(params);
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": { "url": {} } });
    meta["io.modelcontextprotocol/clientInfo"]["name"] = "helpful".into();
    params
}

fn ask_for_a_secret(revision: &str) {
    const SECRET: &str = "Tr0mbone-7713";
    let out = folder(&format!("secret-{revision}"));
    let mut command = thumbwire();
    command.args(["serve", "--device", "virtual", "--studio", "127.0.0.1:0", "--out"]).arg(&out);
    command.arg("--trace").arg(out.join("trace")).arg("--audit").arg(out.join("audit.jsonl"));
    command.env("LOG_LEVEL", "debug");
    let (mut client, stderr) = McpProcess::spawn_with_stderr(&mut command);
    let log = out.join("log.txt");
    let page = Page::of_logged(stderr, &log);
    if revision != BETWEEN_REQUESTS {
        let capabilities = json!({ "elicitation": { "url": {} } });
        let info = json!({ "name": "helpful", "version": "0" });
        let params = json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": info });
        client.request("initialize", params);
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }
    let call_of = |tool: &str, arguments: Value| {
        of_client(revision, json!({ "name": tool, "arguments": arguments }))
    };
    let steps = json!([{ "launch": "Notes" }, { "tap": "New note" }, { "tap": "Title" }]);
    client.request("tools/call", call_of("mobile_do", json!({ "steps": steps })));

    let arguments = json!({ "reason": "to log in", "element_text": "Title" });
    let mut call = call_of("mobile_ask_secret", arguments);
    let calling = |id: u32, call: &Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call });
    client.send(&calling(900, &call));
    let asked = client.receive();
    let question = match revision {
        BETWEEN_REQUESTS => &asked["result"]["inputRequests"]["answer"]["params"],
        _ => &asked["params"],
    };
    assert_eq!(question["mode"], "url", "{asked}");
    insta::assert_snapshot!("asked_for_a_secret", question["message"].as_str().unwrap());
    let url = question["url"].as_str().unwrap();
    let (status, form) = page.browse(url, None);
    assert_eq!(status, 200, "{form}");
    let key = form.split("name=\"key\" value=\"").nth(1).expect("a form")[..32].to_owned();
    assert_eq!(page.browse(url, None).0, 401, "the page is shown once");
    let action = json!({ "action": "accept" });
    if revision == BETWEEN_REQUESTS {
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        call["requestState"] = asked["result"]["requestState"].clone();
        call["inputResponses"] = json!({ "answer": action });
        client.send(&calling(901, &call));
    } else {
        client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": action }));
    }
    let (status, thanks) = page.browse(url, Some(&format!("key={key}&secret={SECRET}&do=send")));
    assert!(status == 200 && thanks.contains("straight to the phone"), "{thanks}");

    let reply = client.receive();
    insta::assert_snapshot!(
        "after_a_secret",
        reply["result"]["content"][0]["text"].as_str().unwrap()
    );
    let screen = client.request("tools/call", call_of("mobile_snapshot", json!({}))).to_string();
    assert!(screen.contains("{{ASKED_"), "the phone shows it, the client sees its name: {screen}");
    let shown = page.post("look", json!({}))["outline"].as_str().unwrap().to_owned();
    assert!(shown.contains(SECRET), "the person at the page sees the phone: {shown}");
    for seen in [reply.to_string(), screen] {
        assert!(!seen.contains(SECRET), "{seen}");
    }
    client.close();
    assert_eq!(files_with(&out, SECRET), Vec::<PathBuf>::new());
    assert!(fs::metadata(log).unwrap().len() > 0, "the log is there");
    assert_eq!(files_with(&out, "mobile_ask_secret"), [out.join("audit.jsonl")]);
}

#[test]
fn requests_need_the_token_and_do_what_a_hand_does() {
    let out = folder("requests");
    let (_program, page) = studio(&out);
    assert_eq!(page.send("state", None, "wrong").0, 401);
    assert_eq!(page.send("nothing", None, &page.token).0, 404);
    let refused = |path: &str, body: Value| {
        let (status, answer) = page.send(path, Some(body), &page.token);
        let error = answer["error"].as_str().unwrap_or_else(|| panic!("{path}: {answer}"));
        format!("{status} {path}: {error}")
    };
    let clear = json!({ "device": "virtual", "action": { "clear_data": "com.android.notes" } });
    let lines = [
        refused("act", clear),
        refused("act", json!({ "device": "none", "action": { "press": "HOME" } })),
        refused("hold", json!({ "device": "virtual", "how": "forever" })),
        refused("addresses", json!({ "device": "virtual", "index": 3 })),
        refused("record", json!({ "device": "virtual", "do": "check", "index": 3 })),
        refused("answer", json!({ "question": 7, "text": "yes" })),
        refused("runs/open", json!({ "id": "../../etc" })),
        refused("flow/run", json!({ "device": "virtual", "text": "- tapp: x" })),
    ];
    insta::assert_snapshot!("refused_requests", lines.join("\n"));
    let headers = format!("host: evil.example\r\nauthorization: Bearer {}", page.token);
    let mut answer = String::new();
    page.request("state", None, &headers).read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.0 403"), "{answer}");
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(python) = python("browser", "selenium") else { return };
    let out = folder("browser");
    let (_program, page) = studio(&out);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/studio.py");
    let url = format!("{}#token={}", page.url, page.token);
    let output = Command::new(python).arg(script).arg(url).arg(&out).output().unwrap();
    let lines = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{lines}{}", String::from_utf8_lossy(&output.stderr));
    println!("{lines}");
    let mut test = thumbwire();
    test.arg("test")
        .arg(out.join("recorded.yaml"))
        .args(["--device", "virtual", "--out"])
        .arg(&out);
    let skill = thumbwire().args(["skill", "check"]).arg(out.join("skill.yaml")).output().unwrap();
    assert!(skill.status.success(), "{skill:?}");
    let output = test.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// A program that acts again and again, is made to wait in the page, and goes on.
#[test]
fn a_client_is_steered_in_a_browser() {
    let Some(python) = python("browser", "selenium") else { return };
    let out = folder("steering");
    let mut command = thumbwire();
    command.args(["serve", "--device", "virtual", "--studio", "127.0.0.1:0"]);
    let (mut client, stderr) = McpProcess::spawn_with_stderr(&mut command);
    let page = Page::of(stderr);
    client.initialize_as("2025-11-25", "helpful");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/studio.py");
    let url = format!("{}#token={}", page.url, page.token);
    let mut watching =
        Command::new(python).arg(script).arg(url).arg(&out).arg("--steer").spawn().unwrap();
    let status = loop {
        if let Some(status) = watching.try_wait().unwrap() {
            break status;
        }
        client.say("mobile_press_key", json!({ "key": "home" }));
    };
    assert!(status.success());
    client.close();
}
