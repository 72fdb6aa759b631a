//! `just soak`: one server, eight phones and eight clients for minutes, or for a million calls.
//!
//! ```sh
//! cargo bench -p thumbwire --bench soak -- --seconds 600        # phones that break in every way
//! cargo bench -p thumbwire --bench soak -- --calls 1000000      # phones that work, at full speed
//! ```
//!
//! Server and phones are processes of their own, so that the memory is the server's alone. Each
//! phone has a note with its own name on the screen; a reply with the name of another is counted as
//! wrong. A call that has no reply long after its own deadline hangs. Ends with an exit code of 1
//! if a call hung or was wrong, or if memory or file descriptors grew: without flags it runs for 10
//! s and shows only that this program works.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde_json::{Map, Value, json};
use thumbwire_core::toolset::Content;

#[path = "../tests/it/remote_client.rs"]
mod remote_client;

use remote_client::RemoteClient;

/// Phones, and clients: one for each.
const PHONES: usize = 8;

/// The longest timeout of the tools that are called is 60 s; a reply that comes later than this
/// does not come.
const HANGS: Duration = Duration::from_secs(90);

/// How much memory the server may gain between the second tenth of the time and the last, in KiB.
const GROWTH_KB: u64 = 2048;

/// How many file descriptors it may gain: connections to phones that are being opened.
const GROWTH_FILES: usize = 8;

const NOTES: &str = "com.android.notes";

/// How phones break. Each phone has two of these, so that all are there.
const FAULTS: [[&str; 2]; PHONES] = [
    ["offline:ms=3000,p=0.01", "dump-stale:p=0.1"],
    ["slow:ms=2000,p=0.05", "layout-shift:p=0.1"],
    ["disconnect:at=40000,p=0.05", "dump-killed:p=0.1"],
    ["corrupt-output:every=512,p=0.05", "popup:p=0.05"],
    ["corrupt-packets:at=9000,p=0.02", "text-lost:every=3,p=0.3"],
    ["adb-restart:p=0.02", "keyboard:p=0.1"],
    ["dump-not-idle:p=0.02", "app-crash:p=0.02"],
    ["anr:p=0.02", "secure-window:p=0.05"],
];

/// When to stop, and how phones behave.
#[derive(Clone, Copy)]
struct Plan {
    seconds: Option<u64>,
    calls: Option<u64>,
}

impl Plan {
    fn read() -> Self {
        let words: Vec<String> = std::env::args().collect();
        let value = |flag: &str| {
            let at = words.iter().position(|word| word == flag)?;
            words.get(at + 1)?.parse().ok()
        };
        let (seconds, calls) = (value("--seconds"), value("--calls"));
        Self { seconds: seconds.or(calls.is_none().then_some(10)), calls }
    }

    fn has_faults(self) -> bool {
        self.calls.is_none()
    }
}

/// What happened, for all clients.
#[derive(Default)]
struct Tally {
    calls: AtomicU64,
    errors: AtomicU64,
    hung: AtomicU64,
    wrong: AtomicU64,
    stop: AtomicBool,
    /// The first words of errors, with how often they came.
    reasons: Mutex<BTreeMap<String, u64>>,
}

fn main() -> ExitCode {
    let plan = Plan::read();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(soak(plan))
}

async fn soak(plan: Plan) -> ExitCode {
    let phones: Vec<Phone> = (0..PHONES).map(|at| Phone::start(at, plan)).collect();
    let server = Server::start(&phones);
    let tally = Arc::new(Tally::default());
    let began = Instant::now();
    let clients: Vec<_> = phones
        .iter()
        .enumerate()
        .map(|(at, phone)| {
            let (url, address) = (server.url.clone(), phone.address.clone());
            tokio::spawn(use_phone(at, url, address, plan, Arc::clone(&tally)))
        })
        .collect();
    println!(
        "{:>9}{:>12}{:>10}{:>8}{:>8}{:>12}{:>8}",
        "seconds", "calls", "errors", "hung", "wrong", "memory", "files"
    );
    // The least of a tenth: in between are the pictures of calls in flight.
    let (mut first, mut last) = (Least::default(), Least::default());
    let mut printed = Instant::now();
    let mut ticks = tokio::time::interval(Duration::from_millis(200));
    loop {
        ticks.tick().await;
        let calls = tally.calls.load(Ordering::Relaxed);
        let part = match plan {
            Plan { calls: Some(all), .. } => calls as f64 / all as f64,
            Plan { seconds, .. } => began.elapsed().as_secs_f64() / seconds.unwrap_or(10) as f64,
        };
        // Caches are full and every phone was met after a tenth.
        if (0.1..0.2).contains(&part) {
            first.add(&server);
        } else if part >= 0.9 {
            last.add(&server);
        }
        let is_over = part >= 1.0;
        if is_over || printed.elapsed() > Duration::from_secs(30) {
            printed = Instant::now();
            line(began, &tally, &server);
        }
        if is_over {
            break;
        }
    }
    tally.stop.store(true, Ordering::Relaxed);
    for client in clients {
        if client.await.is_err() {
            tally.hung.fetch_add(1, Ordering::Relaxed);
        }
    }
    let took = began.elapsed().as_secs_f64();
    println!("{:.0} calls a second", load(&tally.calls) as f64 / took);
    println!(
        "least memory and files in the second tenth {} KiB, {}; in the last {} KiB, {}",
        first.memory, first.files, last.memory, last.files
    );
    let reasons = tally.reasons.lock().expect("no panic");
    let mut reasons: Vec<_> = reasons.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (reason, count) in reasons.into_iter().take(20) {
        println!("{count:>9}  {reason}");
    }
    let has_grown =
        last.memory > first.memory + GROWTH_KB || last.files > first.files + GROWTH_FILES;
    let is_bad = load(&tally.hung) + load(&tally.wrong) > 0 || has_grown;
    ExitCode::from(u8::from(is_bad))
}

fn load(of: &AtomicU64) -> u64 {
    of.load(Ordering::Relaxed)
}

/// The least that a server needed.
struct Least {
    memory: u64,
    files: usize,
}

impl Default for Least {
    fn default() -> Self {
        Self { memory: u64::MAX, files: usize::MAX }
    }
}

impl Least {
    fn add(&mut self, server: &Server) {
        self.memory = self.memory.min(server.resident_kb());
        self.files = self.files.min(server.files());
    }
}

fn line(began: Instant, tally: &Tally, server: &Server) {
    println!(
        "{:>9.0}{:>12}{:>10}{:>8}{:>8}{:>8} KiB{:>8}",
        began.elapsed().as_secs_f64(),
        load(&tally.calls),
        load(&tally.errors),
        load(&tally.hung),
        load(&tally.wrong),
        server.resident_kb(),
        server.files()
    );
}

/// A client: selects its phone, then works with it. Begins a new session now and then.
async fn use_phone(at: usize, url: String, address: String, plan: Plan, tally: Arc<Tally>) {
    let mut random = Rng::with_seed(at as u64);
    let seldom = if plan.has_faults() { 100 } else { 10_000 };
    while !tally.stop.load(Ordering::Relaxed) {
        let Ok(client) = RemoteClient::connect(&url, None, HANGS).await else {
            count(&tally, "no session");
            continue;
        };
        let chosen = json!({ "platform": "android", "device_id": address });
        call(&client, at, "mobile_use_device", chosen, &tally).await;
        for _ in 0..seldom {
            if tally.stop.load(Ordering::Relaxed) {
                break;
            }
            let (tool, arguments) = next(&mut random, plan);
            call(&client, at, tool, arguments, &tally).await;
        }
    }
}

/// The next call. Half of them look; with faults, all kinds of work are among the rest.
fn next(random: &mut Rng, plan: Plan) -> (&'static str, Value) {
    let (x, y) = (random.u32(1..1000), random.u32(300..2000));
    let choice = random.u32(0..if plan.has_faults() { 16 } else { 8 });
    match choice {
        0..=3 => ("mobile_get_accessibility_tree", json!({})),
        4 => ("mobile_get_device_info", json!({})),
        5 => ("mobile_get_current_app", json!({})),
        6 => ("mobile_wait_for", json!({ "text": "Phone", "timeout": 1 })),
        7 => ("mobile_launch_app", json!({ "bundle_id": NOTES })),
        8 => ("mobile_take_screenshot", json!({})),
        9 => ("mobile_tap", json!({ "x": x / 2, "y": y / 2 })),
        10 => ("mobile_press_key", json!({ "key": "back" })),
        11 => ("mobile_type", json!({ "text": "soak" })),
        12 => {
            ("mobile_swipe", json!({ "start_x": 200, "start_y": 800, "end_x": 200, "end_y": 300 }))
        }
        13 => ("mobile_tap_element", json!({ "text": "Phone" })),
        14 => ("mobile_list_apps", json!({})),
        _ => ("mobile_press_key", json!({ "key": "home" })),
    }
}

async fn call(client: &RemoteClient, at: usize, tool: &str, arguments: Value, tally: &Tally) {
    let Value::Object(arguments) = arguments else { unreachable!("all are objects") };
    let reply = client.call(tool, Map::from_iter(arguments)).await;
    tally.calls.fetch_add(1, Ordering::Relaxed);
    let reply = match reply {
        Ok(reply) => reply,
        Err(error) => {
            let text = error;
            if text.contains("no response within") {
                println!("hung: {tool} on phone {at}: {text}");
                tally.hung.fetch_add(1, Ordering::Relaxed);
            }
            count(tally, &format!("{tool}: {text}"));
            return;
        }
    };
    let texts = reply.content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let text: String = texts.collect();
    if (0..PHONES).any(|other| other != at && text.contains(&mark(other))) {
        println!("wrong: {tool} on phone {at}: {text}");
        tally.wrong.fetch_add(1, Ordering::Relaxed);
    }
    if reply.is_error {
        count(tally, &format!("{tool}: {}", text.lines().next().unwrap_or_default()));
    }
}

/// Counts an error by its first words, which have no numbers of their own.
fn count(tally: &Tally, text: &str) {
    tally.errors.fetch_add(1, Ordering::Relaxed);
    let reason: String =
        text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).take(80).collect();
    *tally.reasons.lock().expect("no panic").entry(reason).or_default() += 1;
}

/// What only this phone shows: the title of a note.
fn mark(at: usize) -> String {
    format!("Phone {}", char::from(b'A' + u8::try_from(at).unwrap_or(0)))
}

struct Phone {
    process: Child,
    address: String,
}

impl Phone {
    fn start(at: usize, plan: Plan) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thumbwire"));
        command.args(["phone", "--listen", "127.0.0.1:0", "--json", "--profile", "instant"]);
        command.args(["--seed", &at.to_string()]);
        command.arg("--app-pref").arg(format!("{NOTES}:note/90/title={}", mark(at)));
        if plan.has_faults() {
            for fault in FAULTS[at] {
                command.args(["--fault", &format!("{fault},seed={at}")]);
            }
        }
        // It reports each fault there.
        command.env("LOG_LEVEL", "off").stderr(Stdio::null());
        let mut process = command.stdout(Stdio::piped()).spawn().expect("our own program");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let rows: Value = serde_json::from_str(&line).expect("JSON");
        let address = rows[0]["address"].as_str().expect("an address").to_owned();
        Self { process, address }
    }
}

impl Drop for Phone {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(phones: &[Phone]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thumbwire"));
        command.args(["serve", "--http", "127.0.0.1:0", "--no-token"]);
        for phone in phones {
            command.args(["--device", &phone.address]);
        }
        command.env("LOG_LEVEL", "off").env("ADB_SERVER_SOCKET", "tcp:127.0.0.1:9");
        // glibc keeps freed memory in an arena for each thread, which hides what is in use. It
        // gives these back at once.
        for (name, value) in [
            ("MALLOC_ARENA_MAX", "1"),
            ("MALLOC_MMAP_THRESHOLD_", "65536"),
            ("MALLOC_TRIM_THRESHOLD_", "65536"),
        ] {
            command.env(name, value);
        }
        let mut process = command.stderr(Stdio::piped()).spawn().expect("our own program");
        let stderr = BufReader::new(process.stderr.take().expect("a pipe"));
        let mut url = None;
        let mut lines = stderr.lines();
        for line in lines.by_ref().map_while(Result::ok) {
            let words = line.split_whitespace();
            url = words.filter(|word| word.starts_with("http://")).map(str::to_owned).next();
            if url.is_some() {
                break;
            }
        }
        // It must not stop at a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, url: url.expect("the server tells its address") }
    }

    /// Its own memory, without the pages of the program's file, which come as they are used. From
    /// the kernel's accounting; 0 without /proc.
    fn resident_kb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }

    /// Its open file descriptors; 0 without /proc.
    fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.process.id())).map_or(0, Iterator::count)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
