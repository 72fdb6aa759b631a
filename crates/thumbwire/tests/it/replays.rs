//! Replays of recorded runs without a model.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;

use thumbwire_agent::{Agent, AgentStatus, Memory, ReplayPolicy, RunResult};
use thumbwire_core::event::ObservedPerform;
use thumbwire_core::trace::format::VERSION;
use thumbwire_core::trace::{self, Recorder};
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::agent::{Script, an_hour, options, restaurants, session};
use crate::run::{GOAL, MAPS, Place, finish, judged, last_line};
use crate::support::thumbwire;

/// UFO MobileAgent's example, recorded in this folder.
async fn recorded(folder: &Path) {
    let recorder = Arc::new(Recorder::begin(folder, "2024-03-05T10:00:00Z".into()).unwrap());
    let perform =
        ObservedPerform::new(session(&VirtualPhone::new(Setup::default())), recorder.clone());
    let agent =
        Agent::new(Script::of(restaurants()), Arc::new(perform), options()).with_trace(recorder);
    let ended = agent.run(&an_hour(), "Search for restaurants on Maps", Memory::default()).await;
    assert_eq!(ended.status, AgentStatus::Finish);
}

async fn repeated(folder: &Path, phone: &VirtualPhone) -> RunResult {
    let session = Arc::new(session(phone));
    let lines = trace::read(folder).unwrap();
    let read = |file: &str| fs::read(folder.join(file)).ok();
    let replay = ReplayPolicy::of(&lines, read, session.clone()).unwrap();
    let request = replay.request().to_owned();
    Agent::new(Arc::new(replay), session, options())
        .run(&an_hour(), &request, Memory::default())
        .await
}

#[tokio::test(start_paused = true)]
async fn replay_follows_moved_controls() {
    let folder = tempfile::tempdir().unwrap();
    recorded(folder.path()).await;
    for moved in [false, true] {
        let phone = VirtualPhone::new(Setup::default());
        if moved {
            phone.add_fault("layout-shift:times=1,after=1".parse().unwrap());
        }
        let ended = repeated(folder.path(), &phone).await;
        assert_eq!(
            (ended.status, &*ended.reason),
            (AgentStatus::Finish, "There are restaurants"),
            "{ended:?}"
        );
        assert_eq!(phone.injections().len(), usize::from(moved));
        let recent = phone.world(|world| {
            let kept = world.preferences("com.google.android.apps.maps");
            kept.iter().any(|(name, value)| *name == "recent" && value.contains("restaurants"))
        });
        assert!(recent, "the phone recorded it, too");
    }
}

#[tokio::test(start_paused = true)]
async fn deviating_phone_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    recorded(folder.path()).await;
    let phone = VirtualPhone::new(Setup::default());
    // It appears before the first compared screen, and stays.
    phone.world(|world| world.pop_up("Software update", "Now?"));
    let ended = repeated(folder.path(), &phone).await;
    assert_eq!(ended.status, AgentStatus::Fail);
    assert!(
        ended.reason.starts_with("the replay stopped: at step 1 of the recorded run, "),
        "{ended:?}"
    );
}

/// The replays of the command in a folder.
fn replays(place: &Place) -> Vec<std::path::PathBuf> {
    let is = |run: &std::path::PathBuf| {
        run.file_name().unwrap().to_str().unwrap().starts_with("replay-")
    };
    place.runs().into_iter().filter(is).collect()
}

/// Records the demo's run on this phone; returns its folder.
fn run_on(place: &Place, device: &str) -> String {
    let model = format!("scripted:{MAPS}");
    let (_, err, code) = place.call(&["run", GOAL, "--device", device, "--model", &model]);
    assert_eq!(code, Some(0), "{err}");
    let [run] = place.runs().try_into().unwrap();
    run.display().to_string()
}

#[test]
fn replay_command_repeats_a_run_and_records_a_trace() {
    let place = Place::new();
    let run = run_on(&place, "virtual");
    let (out, err, code) = place.call(&["trace", "replay", &run]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(out, "Maps lists 18 restaurants; the first is Thai Orchid, 4.7 stars.\n");
    assert!(
        err.starts_with(GOAL) && err.contains("Virtual Pixel (virtual), Android 14 · replay ·")
    );
    let [replay] = replays(&place).try_into().unwrap();
    assert_eq!(last_line(&replay)["status"], "FINISH");
    let (_, err, code) = place.call(&["trace", "replay", &run, "--max-steps", "1", "--quiet"]);
    assert_eq!(code, Some(4), "{err}");
    let (_, err, code) = place.call(&["trace", "replay", &run, "--device", "127.0.0.1:9"]);
    assert_eq!(code, Some(3), "{err}");
    assert_eq!(replays(&place).len(), 2, "a missing phone leaves no folder behind");
}

#[test]
fn trace_of_another_version_is_refused() {
    let place = Place::new();
    let folder = tempfile::tempdir().unwrap();
    let first = r#"{"kind":"run","version":9,"program":"thumbwire 0.1.0","started":"2026-01-01T00:00:00Z"}"#;
    std::fs::write(folder.path().join("trace.jsonl"), format!("{first}\n")).unwrap();
    let run = folder.path().display().to_string();
    for verb in ["show", "report", "replay"] {
        let (_, err, code) = place.call(&["trace", verb, &run]);
        assert_eq!(code, Some(2), "{verb}: {err}");
        assert!(
            err.contains("the trace has version 9; this program reads version 1 only"),
            "{err}"
        );
    }
}

/// A virtual phone that keeps its state between runs of the program.
struct Lasting(Child, String);

impl Lasting {
    fn start() -> Self {
        let mut command = thumbwire();
        command.args(["phone", "--listen", "127.0.0.1:0", "--profile", "instant"]);
        let mut phone = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(phone.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        let address = first.split("listens on ").nth(1).unwrap().split(';').next().unwrap();
        Self(phone, address.to_owned())
    }
}

impl Drop for Lasting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn deviating_phone_ends_a_replay_or_hands_over_to_the_model() {
    let (place, phone) = (Place::new(), Lasting::start());
    let run = run_on(&place, &phone.1);
    let reason = "at step 1 of the recorded run, com.android.launcher3 was in front, but \
               com.google.android.apps.maps is now";
    let (out, err, code) = place.call(&["trace", "replay", &run]);
    assert_eq!((code, &*out), (Some(1), ""), "{err}");
    assert!(err.contains(&format!("the replay stopped: {reason}")), "{err}");
    let model = place.script("rest.jsonl", &[finish(), judged()]);
    let (out, err, code) = place.call(&["trace", "replay", &run, "--model", &model]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("Maps is"), "{out}");
    let handed = format!("! scripted rest.jsonl takes over: {reason}");
    assert!(err.contains(&handed), "{err}");
}

#[test]
fn invalid_replay_is_refused_before_touching_a_phone() {
    let place = Place::new();
    let check = |name: &str, trace: Option<&str>, text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join(name);
        if let Some(trace) = trace {
            fs::create_dir(&run).unwrap();
            fs::write(run.join("trace.jsonl"), trace).unwrap();
        }
        let run = run.display().to_string();
        let (_, err, code) = place.call(&["trace", "replay", &run, "--device", "virtual"]);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.starts_with(&format!("thumbwire: cannot replay the run in {run}: ")), "{err}");
        assert!(err.contains(text), "{err}");
    };
    let head = |version: u32| {
        format!(
            "{{\"kind\":\"run\",\"version\":{version},\"program\":\"x\",\"started\":\"2024-03-05T10:00:00Z\"}}\n"
        )
    };
    check("none", None, "no such directory");
    check("empty", Some(""), "the first line is not a run record");
    check("calls", Some(&head(VERSION)), "the trace has no goal: only agent runs can be replayed");
    check(
        "new",
        Some(&head(99)),
        &format!("the trace has version 99; this program reads version {VERSION} only"),
    );
    assert!(place.runs().is_empty());
}
