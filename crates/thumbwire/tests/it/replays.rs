//! A run that was recorded is repeated without a model.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;

use thumbwire::agent::{Agent, Ended, Memory, Replay, Status};
use thumbwire::trace::format::VERSION;
use thumbwire::trace::{self, Recorder, Traced};
use thumbwire_virtual_phone::{Setup, VirtualPhone};

use crate::agent::{Script, an_hour, options, restaurants, session};
use crate::run::{GOAL, MAPS, Place, finish, judged, last_line};
use crate::support::thumbwire;

/// The seed's story, recorded in this folder.
async fn recorded(folder: &Path) {
    let recorder = Arc::new(Recorder::begin(folder, "2024-03-05T10:00:00Z".into()).unwrap());
    let perform = Traced::new(session(&VirtualPhone::new(Setup::default())), recorder.clone());
    let agent =
        Agent::new(Script::of(restaurants()), Arc::new(perform), options()).with_story(recorder);
    let ended = agent.run(&an_hour(), "Search for restaurants on Maps", Memory::default()).await;
    assert_eq!(ended.status, Status::Finish);
}

async fn repeated(folder: &Path, phone: &VirtualPhone) -> Ended {
    let session = Arc::new(session(phone));
    let lines = trace::read(folder).unwrap();
    let read = |file: &str| fs::read(folder.join(file)).ok();
    let replay = Replay::of(&lines, read, session.clone()).unwrap();
    let request = replay.request().to_owned();
    Agent::new(Arc::new(replay), session, options())
        .run(&an_hour(), &request, Memory::default())
        .await
}

#[tokio::test(start_paused = true)]
async fn a_recorded_run_is_repeated_also_where_things_have_moved() {
    let folder = tempfile::tempdir().unwrap();
    recorded(folder.path()).await;
    for moved in [false, true] {
        let phone = VirtualPhone::new(Setup::default());
        if moved {
            phone.add_fault("target-moved:times=1,after=1".parse().unwrap());
        }
        let ended = repeated(folder.path(), &phone).await;
        assert_eq!(
            (ended.status, &*ended.why),
            (Status::Finish, "There are restaurants"),
            "{ended:?}"
        );
        assert_eq!(phone.strikes().len(), usize::from(moved));
        let recent = phone.world(|world| {
            let kept = world.kept("com.google.android.apps.maps");
            kept.iter().any(|(name, value)| *name == "recent" && value.contains("restaurants"))
        });
        assert!(recent, "it was done on the phone too");
    }
}

#[tokio::test(start_paused = true)]
async fn a_phone_on_which_things_are_otherwise_is_told() {
    let folder = tempfile::tempdir().unwrap();
    recorded(folder.path()).await;
    let phone = VirtualPhone::new(Setup::default());
    // It stands before the first screen that is compared, and stays.
    phone.world(|world| world.pop_up("Software update", "Now?"));
    let ended = repeated(folder.path(), &phone).await;
    assert_eq!(ended.status, Status::Fail);
    assert!(
        ended.why.starts_with("the replay ends, since in round 1 of the recorded run"),
        "{ended:?}"
    );
}

/// The verb's replays that lie in a place.
fn replays(place: &Place) -> Vec<std::path::PathBuf> {
    let is = |run: &std::path::PathBuf| {
        run.file_name().unwrap().to_str().unwrap().starts_with("replay-")
    };
    place.runs().into_iter().filter(is).collect()
}

/// Records the demo's run on this phone; gives its folder.
fn run_on(place: &Place, device: &str) -> String {
    let model = format!("scripted:{MAPS}");
    let (_, err, code) = place.call(&["run", GOAL, "--device", device, "--model", &model]);
    assert_eq!(code, Some(0), "{err}");
    let [run] = place.runs().try_into().unwrap();
    run.display().to_string()
}

#[test]
fn the_verb_repeats_a_run_on_the_phone_that_it_named_and_tells_its_story() {
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
    let (_, err, code) = place.call(&["trace", "replay", &run, "--steps", "1", "--quiet"]);
    assert_eq!(code, Some(4), "{err}");
    let (_, err, code) = place.call(&["trace", "replay", &run, "--device", "127.0.0.1:9"]);
    assert_eq!(code, Some(3), "{err}");
    assert_eq!(replays(&place).len(), 2, "a phone that is not there leaves no folder behind");
}

/// A virtual phone that keeps its state from one call of the program to the next.
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
fn a_phone_that_was_left_elsewhere_ends_a_replay_or_is_the_models_matter() {
    let (place, phone) = (Place::new(), Lasting::start());
    let run = run_on(&place, &phone.1);
    let why = "in round 1 of the recorded run com.android.launcher3 was in front, and \
               com.google.android.apps.maps is";
    let (out, err, code) = place.call(&["trace", "replay", &run]);
    assert_eq!((code, &*out), (Some(1), ""), "{err}");
    assert!(err.contains(&format!("the replay ends, since {why}")), "{err}");
    let model = place.script("rest.jsonl", &[finish(), judged()]);
    let (out, err, code) = place.call(&["trace", "replay", &run, "--model", &model]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("Maps is"), "{out}");
    let handed = format!("! scripted rest.jsonl decides from here on, since {why}");
    assert!(err.contains(&handed), "{err}");
}

#[test]
fn what_cannot_be_repeated_is_refused_before_a_phone_is_touched() {
    let place = Place::new();
    let check = |name: &str, trace: Option<&str>, words: &str| {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join(name);
        if let Some(trace) = trace {
            fs::create_dir(&run).unwrap();
            fs::write(run.join("trace.jsonl"), trace).unwrap();
        }
        let run = run.display().to_string();
        let (_, err, code) = place.call(&["trace", "replay", &run, "--device", "virtual"]);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.starts_with(&format!("thumbwire: cannot repeat the run in {run}: ")), "{err}");
        assert!(err.contains(words), "{err}");
    };
    let head = |version: u32| {
        format!(
            "{{\"kind\":\"run\",\"trace\":{version},\"program\":\"x\",\"started\":\"2024-03-05T10:00:00Z\"}}\n"
        )
    };
    check("none", None, "there is no such folder");
    check("empty", Some(""), "the first line does not tell of a run");
    check(
        "calls",
        Some(&head(VERSION)),
        "the run has no goal: only runs of an agent can be repeated",
    );
    check(
        "old",
        Some(&head(3)),
        &format!("it is a trace of version 3, and version {VERSION} is what can be"),
    );
    check(
        "new",
        Some(&head(99)),
        &format!("a trace of version 99; this program reads up to {VERSION}"),
    );
    assert!(place.runs().is_empty());
}
