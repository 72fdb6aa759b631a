//! What a page source of 10,000 elements costs: `cargo bench -p thumbwire --bench large_source`.
//!
//! A WebDriverAgent that serves nothing else, and `thumbwire call mobile_get_accessibility_tree` at
//! it: seconds from start to end, and the most memory that the process had. Beside it the same with
//! ten elements. Linux only: the memory is read from `/proc`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fmt::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use axum::http::{Method, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// How many times each is measured; the middle one is printed.
const RUNS: usize = 5;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    println!("{:>9}{:>9}{:>10}{:>10}{:>11}", "elements", "depth", "source", "seconds", "memory");
    // Rows of nine in a list, and groups in groups.
    for (rows, depth) in [(1, 3), (1_111, 3), (1_111, 60)] {
        let source = source(rows, depth);
        let url = runtime.block_on(serve(source.clone()));
        let mut runs: Vec<_> = (0..RUNS).map(|_| call(&url)).collect();
        runs.sort();
        let (time, memory_kb) = runs[RUNS / 2];
        println!(
            "{:>9}{depth:>9}{:>7} KB{:>10.2}{:>8.1} MB",
            rows * 9,
            source.len() / 1024,
            time.as_secs_f64(),
            memory_kb as f64 / 1024.0
        );
    }
}

/// XCUITest's XML of rows with eight texts each, which lie this deep.
fn source(rows: usize, depth: usize) -> String {
    let element = |kind: &str, number: usize, y: usize| {
        format!(
            "XCUIElementType{kind} type=\"XCUIElementType{kind}\" name=\"cell {number}\" label=\"The cell with the number \
             {number}\" enabled=\"true\" visible=\"true\" accessible=\"true\" x=\"0\" y=\"{y}\" width=\"414\" height=\"2\" \
             index=\"{number}\""
        )
    };
    let groups = depth - 3;
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = write!(xml, "<{}>", element("Application", 0, 0));
    for group in 0..groups {
        let _ = write!(xml, "<{}>", element("Other", group, 0));
    }
    for row in 0..rows {
        // All on the screen, so that none is left out of the answer.
        let y = row * 896 / rows;
        let _ = write!(xml, "<{}>", element("Cell", row, y));
        for column in 0..8 {
            let _ = write!(xml, "<{}/>", element("StaticText", row * 8 + column, y));
        }
        xml.push_str("</XCUIElementTypeCell>");
    }
    xml.push_str(&"</XCUIElementTypeOther>".repeat(groups));
    xml.push_str("</XCUIElementTypeApplication>");
    xml
}

/// A WebDriverAgent with this source. Returns its URL.
async fn serve(source: String) -> String {
    let answer = move |method: Method, uri: Uri| {
        let value = answer(&method, uri.path(), &source);
        async move { reply(value) }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("its address"));
    let router = axum::Router::new().fallback(answer);
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

fn answer(method: &Method, path: &str, source: &str) -> Value {
    let command = path.trim_start_matches("/session/S");
    match (method.as_str(), command) {
        ("GET", "/status") => {
            json!({ "ready": true, "state": "success", "os": { "name": "iOS", "version": "18.0" }, "device": "iphone" })
        }
        ("POST", "/session") => {
            json!({ "sessionId": "S", "capabilities": { "device": "iphone" } })
        }
        ("GET", "/source") => json!(source),
        ("GET", "/wda/screen") => {
            json!({ "screenSize": { "width": 414, "height": 896 }, "statusBarSize": { "width": 414, "height": 48 }, "scale": 2 })
        }
        ("GET", "/window/size" | "/window/rect") => {
            json!({ "x": 0, "y": 0, "width": 414, "height": 896 })
        }
        ("GET", "/orientation") => json!("PORTRAIT"),
        ("GET", "/wda/activeAppInfo") => {
            json!({ "bundleId": "com.example.list", "name": "List", "pid": 7, "processArguments": {} })
        }
        ("GET", "/wda/locked") => json!(false),
        _ => Value::Null,
    }
}

fn reply(value: Value) -> Response {
    let body = json!({ "value": value, "sessionId": "S" }).to_string();
    ([("content-type", "application/json")], body).into_response()
}

/// Asks for the tree by a process of its own: how long it took, and the most memory that it had, in
/// KiB.
fn call(url: &str) -> (Duration, u64) {
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_thumbwire"))
        .args(["call", "mobile_get_accessibility_tree", "{}", "--wda", url])
        .stdout(Stdio::null())
        .spawn()
        .expect("thumbwire runs");
    let memory = most_memory(&mut child);
    assert!(child.wait().expect("it ends").success(), "the call fails");
    (began.elapsed(), memory)
}

fn most_memory(child: &mut Child) -> u64 {
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().expect("its state").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|text| text.trim().strip_suffix(" kB")?.trim().parse().ok());
        most = most.max(peak.unwrap_or(0));
        std::thread::yield_now();
    }
    most
}
