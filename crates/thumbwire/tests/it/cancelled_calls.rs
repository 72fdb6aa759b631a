//! Calls that are cancelled leave nothing behind: no program on the phone, no open service of adbd,
//! no call, and a lease that ends.
//!
//! Each long operation is cancelled at many moments, from its first step to its last.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tempfile::TempDir;
use thumbwire_adb::DirectTransport;
use thumbwire_agent::run_task::{self, RunTask, TaskOverrides, TaskResult};
use thumbwire_base::Io;
use thumbwire_core::action::{Action, Call, Perform};
use thumbwire_core::app_tools::{AppToolOptions, MemoryStore, TrustRules};
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::event::EventSink;
use thumbwire_core::input_files::InputFolder;
use thumbwire_core::providers::VIRTUAL;
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_core::toolset::{ObserveMode, Toolset, android};
use thumbwire_device::{Gesture, Point};
use thumbwire_virtual_android::{ClockMode, Setup, VirtualPhone};

use crate::caller::Caller;
use crate::http_support::{GOOD, Served, Wire};
use crate::pipe_client::PipeClient;
use crate::recordings::small;

const ATTENDANCE: &str = "org.example.attendance";

/// A phone, and a session that may do everything on it.
pub(crate) struct Bench {
    phone: VirtualPhone,
    pub(crate) session: Arc<Session>,
    _folders: [TempDir; 2],
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/apk");
    std::fs::read(folder.join(name)).unwrap()
}

impl Bench {
    /// On a phone on which work takes time.
    pub(crate) fn slow() -> Self {
        let setup = small("14", 1).setup().clone();
        let phone = VirtualPhone::new(Setup { clock: ClockMode::Real, ..setup });
        phone.install(&[&fixture("attendance.apk")]).unwrap();
        phone.world(|world| world.temp_allowlist(ATTENDANCE, Duration::MAX));
        let (input, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(input.path().join("hello.apk"), fixture("hello-1.apk")).unwrap();
        std::fs::write(input.path().join("large.bin"), vec![7; 2 << 20]).unwrap();
        phone
            .files(|files| files.write("/sdcard/Download/back.bin", &[7; 2 << 20], 0o660).unwrap());
        let trust = TrustRules { allow: vec!["*".into()], store: Arc::new(MemoryStore::default()) };
        let options = SessionOptions {
            input_files: Some(InputFolder::new(input.path())),
            files: Some(ArtifactStore::new(out.path())),
            app_tools: AppToolOptions { trust, ..AppToolOptions::default() },
            lease_time: Duration::from_secs(30),
            ..SessionOptions::default()
        };
        let session = Caller::of(phone.clone()).with_options(options).session;
        Self { phone, session: Arc::new(session), _folders: [input, out] }
    }

    /// What a client can call: the tools of both toolsets, and runs of an agent.
    pub(crate) fn surface(&self) -> Toolset {
        let groups = ToolGroup::HARMFUL;
        let mut surface = mobile::toolset_allowing(TreeForm::List, ObserveMode::Diff, &groups);
        surface.tools.extend(android::toolset().tools);
        let agent = Arc::new(Swipes(Arc::clone(&self.session)));
        surface.tools.push(run_task::tool(agent, Duration::from_secs(600)));
        surface
    }

    /// The services of adbd that are open, except the helper's, which lives as long as the session,
    /// and the helper's running requests.
    pub(crate) fn services(&self) -> Vec<String> {
        let open = self.phone.open_services().into_iter();
        let requests = vec!["a request to the helper".to_owned(); self.phone.helper_requests()];
        open.filter(|service| !service.contains("thumbwire-")).chain(requests).collect()
    }

    /// The programs that run for a host, except the helper and those that answer this question.
    async fn programs(&self) -> Vec<String> {
        let served = self.phone.clone();
        let wire = DirectTransport::with_connector("the virtual phone", move || {
            let io: Box<dyn Io> = Box::new(served.in_memory());
            async move { Ok(io) }
        });
        let listed = thumbwire_adb::run(&wire, "ps -A -o USER,NAME").await.unwrap().stdout;
        let listed = String::from_utf8(listed).unwrap();
        let ours = listed.lines().filter_map(|line| line.strip_prefix("shell ")).map(str::trim);
        ours.filter(|name| !["adbd", "sh", "ps", "app_process"].contains(name))
            .map(str::to_owned)
            .collect()
    }

    /// Checks that soon nothing runs for a host any more: within four seconds, in which a call that
    /// was not stopped would not end by itself.
    pub(crate) async fn is_idle(&self, what: &str) {
        for _ in 0..200 {
            if self.services().is_empty() {
                assert_eq!(self.programs().await, [] as [String; 0], "{what}");
                return;
            }
            step(8).await;
            // Files are read in other threads, which do not know the stopped clock.
            tokio::task::spawn_blocking(|| ()).await.unwrap();
        }
        panic!("{what}: {:?}", self.services());
    }
}

/// An agent that swipes for five seconds, again and again.
struct Swipes(Arc<Session>);

#[async_trait]
impl RunTask for Swipes {
    async fn run(
        &self,
        _goal: &str,
        _overrides: TaskOverrides,
        call: &Call,
        _watch: Arc<dyn EventSink>,
    ) -> Result<TaskResult, String> {
        loop {
            let (from, to) = (Point { x: 90, y: 300 }, Point { x: 90, y: 100 });
            let swipe = Gesture::Swipe { from, to, duration: Duration::from_secs(5) };
            if let Err(failure) = self.0.perform(call, Action::Touch(swipe)).await {
                // The run's reply does not matter here.
                return Err(failure.cause.to_string());
            }
        }
    }
}

/// The long operations. `at` keeps the names of files apart.
fn operations(at: usize) -> Vec<(&'static str, Value)> {
    let swipe = json!({ "start_x": 90, "start_y": 300, "end_x": 90, "end_y": 100, "duration": 5 });
    let tool = json!({ "bundle_id": ATTENDANCE, "tool": "clock_in_today", "arguments": {} });
    vec![
        ("mobile_swipe", swipe),
        ("mobile_wait_for", json!({ "text": "Nope", "timeout": 20 })),
        ("mobile_push_file", json!({ "path": "large.bin", "overwrite": true })),
        (
            "mobile_pull_file",
            json!({ "path": "/sdcard/Download/back.bin", "name": format!("back-{at}.bin") }),
        ),
        ("mobile_install_app", json!({ "path": "hello.apk" })),
        ("mobile_call_app_tool", tool),
        ("mobile_run_task", json!({ "goal": "Swipe" })),
    ]
}

/// Operations whose work goes on when the call has ended.
fn beginnings(at: usize) -> Vec<(&'static str, Value)> {
    vec![
        ("mobile_start_recording", json!({ "seconds": 60 })),
        ("start_log_monitoring", json!({ "output_file": format!("log-{at}") })),
    ]
}

/// Lets tasks run, and some time pass.
async fn step(count: usize) {
    for at in 0..count {
        tokio::task::yield_now().await;
        if at % 8 == 7 {
            tokio::time::advance(Duration::from_millis(20)).await;
        }
    }
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

async fn stop_all(client: &mut PipeClient) {
    client.ask("tools/call", call("mobile_stop_recording", &json!({}))).await;
    client.ask("tools/call", call("stop_log_monitoring", &json!({}))).await;
}

#[tokio::test(start_paused = true)]
async fn call_cancelled_at_any_moment_leaves_nothing_on_the_phone() {
    let bench = Bench::slow();
    let mut client =
        PipeClient::connected(bench.surface(), Arc::clone(&bench.session) as Arc<dyn Perform>)
            .await;
    // The connection exists.
    client.ask("tools/call", call("mobile_get_accessibility_tree", &json!({}))).await;
    let all = |at| [operations(at), beginnings(at)].concat();
    for at in 0..all(0).len() {
        let (mut moment, mut cancelled) = (0, 0);
        loop {
            let (tool, arguments) = all(moment).swap_remove(at);
            let id = client.request("tools/call", call(tool, &arguments)).await;
            step(moment).await;
            let stop = json!({ "requestId": id, "reason": "test" });
            client
                .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": stop }))
                .await;
            // What is asked next is answered next, if the call was cancelled.
            let ping = client.request("ping", json!({})).await;
            let (before, _) = client.answer(ping).await;
            let answer = before.iter().find(|message| message["id"] == id);
            let what = format!("{tool} cancelled after {moment} steps");
            if let Some(answer) = answer {
                let text = answer["result"]["content"][0]["text"].to_string();
                let ended = !text.contains("cancelled");
                if ended {
                    assert_eq!(answer["result"]["isError"], false, "{what}: {text}");
                    break;
                }
            }
            cancelled += 1;
            if at >= operations(0).len() {
                // The reply may have crossed the cancellation. What goes on then is listed, and can
                // be stopped.
                stop_all(&mut client).await;
            }
            bench.is_idle(&what).await;
            moment += 1 + moment / 8;
            if moment > 3000 {
                break;
            }
        }
        let (tool, _) = all(0).swap_remove(at);
        println!("{tool}: cancelled at {cancelled} moments, the last after {moment} steps");
        assert!(cancelled > 3, "{tool}");
        stop_all(&mut client).await;
        bench.is_idle(tool).await;
    }
    // The lease ends with its time, since no call holds it.
    tokio::time::advance(Duration::from_secs(31)).await;
    let holder = bench.session.lease(VIRTUAL);
    assert!(holder.is_none(), "{holder:?}");
}

#[tokio::test]
async fn closing_the_http_connection_stops_the_work_on_the_phone() {
    let bench = Bench::slow();
    let perform = Arc::clone(&bench.session) as Arc<dyn Perform>;
    let server = Served::of(bench.surface(), perform).await;
    let (session, _) = server.initialize("2025-11-25").await;
    let headers = [GOOD[0], GOOD[1], ("mcp-session-id", &*session)];
    let message =
        |params| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let look = message(call("mobile_get_accessibility_tree", &json!({})));
    server.post(Some(&session), &look).await;
    for (tool, arguments) in operations(0) {
        let mut wire = Wire::open(server.address).await;
        wire.send("POST", &headers, &message(call(tool, &arguments)).to_string()).await;
        // Until it does something on the phone.
        while bench.services().is_empty() {
            tokio::task::yield_now().await;
        }
        // From here on time passes only in steps.
        tokio::time::pause();
        step(40).await;
        drop(wire);
        bench.is_idle(tool).await;
        tokio::time::resume();
    }
}
