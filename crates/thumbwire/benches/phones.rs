//! `just bench`: the memory of a process that serves virtual phones, and the start time per phone.
//!
//! Prints the resident memory (`VmRSS`; nothing without /proc): idle, after a screenshot of each
//! phone, and after an app and its screenshot on each. Nothing is asserted here.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use thumbwire_adb::services::shell::{exec, read_to_end};
use thumbwire_adb::{DirectTransport, run};

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    println!(
        "{:<10}{:>14}{:>12}{:>18}{:>18}",
        "phones", "on after", "idle", "screenshot each", "app each"
    );
    for count in [1, 10, 50] {
        runtime.block_on(measure(count));
    }
}

/// Prints a line: the time until they listen; the memory then, after a screenshot of each, and
/// after an app and its screenshot on each.
async fn measure(count: usize) {
    let began = Instant::now();
    let (phones, addresses) = Phones::start(count);
    let took = began.elapsed();
    let idle = phones.resident_kb();
    let picture = async |address: &str| {
        let stream = exec(&DirectTransport::tcp(address), "screencap -p").await.expect("a stream");
        read_to_end(stream, 64 << 20).await.expect("a picture");
    };
    for address in &addresses {
        picture(address).await;
    }
    let seen = phones.resident_kb();
    for address in &addresses {
        let line = "monkey -p com.google.android.apps.maps 1";
        run(&DirectTransport::tcp(address.as_str()), line).await.expect("an answer");
        picture(address).await;
    }
    let used = phones.resident_kb();
    let ms = took.as_secs_f64() * 1000.0;
    println!("{count:<10}{ms:>11.0} ms{idle:>9} KB{seen:>15} KB{used:>15} KB");
}

struct Phones {
    process: Child,
}

impl Phones {
    fn start(count: usize) -> (Self, Vec<String>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_thumbwire"));
        command.args(["phone", "--listen", "127.0.0.1:0", "--json", "--count", &count.to_string()]);
        let mut process = command.stdout(Stdio::piped()).spawn().expect("our own program");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let rows: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        let rows = rows.as_array().expect("a list").iter();
        let addresses = rows.filter_map(|row| Some(row["address"].as_str()?.to_owned())).collect();
        (Self { process }, addresses)
    }

    /// From the kernel's accounting; 0 without /proc.
    fn resident_kb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Phones {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
