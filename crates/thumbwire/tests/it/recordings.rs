//! Recordings of virtual phones over real ADB. `ffprobe` checks the files; the phone's process list
//! shows what is left running.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use thumbwire_test_support::program;

use serde_json::json;
use thumbwire_adb::{AdbServer, DirectTransport};
use thumbwire_base::Io;
use thumbwire_core::action::{Action, Call, Cause, Failure, Outcome, Perform as _, RecordingInfo};
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_virtual_android::{ClockMode, Setup, VirtualPhone};
use thumbwire_virtual_phone::Display;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep_until};

use crate::support::{McpProcess, thumbwire};

/// A session that keeps files, its folder, and its in-memory phone, which is small enough to be
/// drawn quickly.
pub(crate) struct Studio {
    pub(crate) session: Session,
    pub(crate) phone: VirtualPhone,
    pub(crate) root: tempfile::TempDir,
}

pub(crate) fn small(release: &str, seed: u64) -> VirtualPhone {
    let display = Display { width: 240, height: 432, density: 120, rotation: 0 };
    VirtualPhone::new(Setup { seed, display, ..Setup::of_release(release).unwrap() })
}

impl Studio {
    pub(crate) fn of(release: &str) -> Self {
        Self::with(small(release, 1))
    }

    fn with(phone: VirtualPhone) -> Self {
        let root = tempfile::tempdir().unwrap();
        // An address without an adb server.
        let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"))
            .with(VirtualPhoneProvider::new(phone.clone()));
        let options = SessionOptions {
            files: Some(ArtifactStore::new(root.path())),
            ..SessionOptions::from(Some(VIRTUAL.into()))
        };
        let session = Session::new(phones, options);
        Self { session, phone, root }
    }

    pub(crate) async fn ask(&self, action: Action) -> Result<Outcome, Failure> {
        self.session.perform(&Call::with_timeout(Duration::from_secs(20)), action).await
    }

    async fn start(&self, name: &str, seconds: u64) -> RecordingInfo {
        match self.ask(start(name, seconds)).await {
            Ok(Outcome::Recording(recorded)) => recorded,
            other => panic!("{other:?}"),
        }
    }

    async fn stop(&self, id: &str) -> Result<RecordingInfo, Failure> {
        let stop = Action::StopRecording { recording: Some(id.into()), fetch: true };
        match self.ask(stop).await? {
            Outcome::Recordings(mut all) => Ok(all.remove(0)),
            other => panic!("{other:?}"),
        }
    }

    async fn listed(&self) -> Vec<RecordingInfo> {
        match self.ask(Action::ListRecordings).await {
            Ok(Outcome::Recordings(all)) => all,
            other => panic!("{other:?}"),
        }
    }
}

fn start(name: &str, seconds: u64) -> Action {
    let duration = Duration::from_secs(seconds);
    Action::StartRecording { name: Some(name.into()), duration, bit_rate: None, size: None }
}

#[tokio::test(start_paused = true)]
async fn recording_of_a_killed_program_is_listed_and_fetched_by_the_next_one() {
    let phone = small("14", 1);
    let killed = Studio::with(phone.clone());
    killed.start("left one", 60).await;
    // While it runs, it is its own program's.
    assert_eq!(Studio::with(phone.clone()).listed().await, []);
    pass(5).await;
    drop(killed);
    pass(2).await;
    let next = Studio::with(phone.clone());
    let [found] = &next.listed().await[..] else { panic!("one was left") };
    assert_eq!(found.on_phone, "/sdcard/left one.mp4");
    assert_eq!(found.warnings, ["a program that was killed had started it"]);
    assert_eq!(next.listed().await.len(), 1, "it is listed once");
    let stopped = next.stop(&found.id).await.unwrap();
    let file = stopped.local_file.unwrap().unwrap();
    assert_eq!(file.path, next.root.path().join("assets/left one.mp4"));
    assert_eq!(next.listed().await, []);
    assert_eq!(Studio::with(phone).listed().await, [], "its journal is gone");
}

/// Number of processes with this name on a phone.
pub(crate) async fn processes(phone: &VirtualPhone, name: &str) -> usize {
    let served = phone.clone();
    let wire = DirectTransport::with_connector("the virtual phone", move || {
        let io: Box<dyn Io> = Box::new(served.in_memory());
        async move { Ok(io) }
    });
    count(&wire, name).await
}

async fn count(wire: &DirectTransport, name: &str) -> usize {
    let output = thumbwire_adb::run(wire, "ps -A || ps").await.unwrap().stdout;
    let output = String::from_utf8(output).unwrap();
    output.lines().filter(|line| line.trim_end().ends_with(name)).count()
}

pub(crate) async fn pass(seconds: u64) {
    sleep_until(Instant::now() + Duration::from_secs(seconds)).await;
}

/// ffprobe's description of the video in a file; nothing if there is none.
fn probed(file: &Path) -> Option<String> {
    let mut command = Command::new(program("ffprobe")?);
    let shown = "stream=codec_name,width,height";
    command.args(["-v", "error", "-of", "csv=p=0", "-show_entries", shown]).arg(file);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    assert!(output.status.success(), "{}: {}", file.display(), text(output.stderr));
    Some(text(output.stdout))
}

#[tokio::test(start_paused = true)]
async fn two_phones_are_recorded_at_once() {
    let studio = Studio::of("14");
    let second = small("11", 2);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = second.clone();
    tokio::spawn(async move { served.listen(listener).await });
    let on_second = Call::with_timeout(Duration::from_secs(20)).on(Some(address.clone()));
    let one = studio.start("tour", 60).await;
    studio.session.perform(&on_second, start("tour", 60)).await.unwrap();
    assert_eq!(one.id, "virtual_tour.mp4");
    assert_eq!(processes(&studio.phone, "screenrecord").await, 1);
    let ids: Vec<_> = studio.listed().await.into_iter().map(|one| one.id).collect();
    assert_eq!(ids, [one.id, format!("{address}_tour.mp4")]);
    for phone in [&studio.phone, &second] {
        phone.world(|world| world.advance(Duration::from_secs(2)));
    }
    let all = Action::StopRecording { recording: None, fetch: true };
    let Ok(Outcome::Recordings(stopped)) = studio.ask(all).await else { panic!() };
    assert_eq!(stopped.len(), 2);
    for recorded in stopped {
        let file = recorded.local_file.unwrap().unwrap();
        assert!(file.path.starts_with(studio.root.path().join("assets")), "{file:?}");
        if let Some(said) = probed(&file.path) {
            assert_eq!(said, "h264,240,432");
        }
    }
    for phone in [&studio.phone, &second] {
        assert_eq!(processes(phone, "screenrecord").await, 0);
        assert!(phone.files(|files| files.read("/sdcard/tour.mp4")).is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn finished_recording_can_be_fetched_on_every_release() {
    for release in ["4.4", "9", "14"] {
        let studio = Studio::of(release);
        let name = "it's short";
        let started = studio.start(name, 2).await;
        assert!(started.warnings.is_empty(), "{release}: {started:?}");
        pass(30).await;
        let listed = studio.listed().await;
        assert_eq!(listed[0].id, "virtual_it's short.mp4", "{release}");
        assert_eq!(listed[0].warnings, ["the recording ended by itself after 2.0 s"], "{release}");
        let stopped = studio.stop(&started.id).await.unwrap();
        let file = stopped.local_file.unwrap().unwrap();
        assert!(probed(&file.path).is_none_or(|said| said == "h264,240,432"), "{release}");
        assert!(studio.listed().await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn phone_before_android_14_warns_about_three_minutes() {
    let (old, new) = (Studio::of("13"), Studio::of("14"));
    let started = old.start("long", 600).await;
    assert_eq!(started.duration, Duration::from_secs(180));
    let cut = "this phone records for at most 180 s, not the requested 600 s";
    assert_eq!(started.warnings, [cut]);
    let started = new.start("long", 600).await;
    assert_eq!((started.duration.as_secs(), started.warnings.len()), (600, 0));
    old.session.end().await;
    new.session.end().await;
}

#[tokio::test(start_paused = true)]
async fn recording_survives_a_disconnect() {
    let studio = Studio::of("14");
    let started = studio.start("lost", 100).await;
    studio.phone.unplug();
    pass(1).await;
    let reason = &studio.listed().await[0].warnings[0];
    assert!(
        reason.starts_with("the recording ended by itself or lost its connection after "),
        "{reason}"
    );
    let failure = studio.stop(&started.id).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    let listed = studio.listed().await;
    assert_eq!(listed.len(), 1);
    assert!(!listed[0].warnings.iter().any(|one| one.contains("by itself after")), "{listed:?}");
    studio.phone.plug();
    let stopped = studio.stop(&started.id).await.unwrap();
    let file = stopped.local_file.unwrap().unwrap();
    assert!(probed(&file.path).is_none_or(|said| said == "h264,240,432"));
    assert_eq!(processes(&studio.phone, "screenrecord").await, 0);
}

#[tokio::test(start_paused = true)]
async fn failed_recording_quotes_the_phone() {
    let studio = Studio::of("14");
    let duration = Duration::from_secs(10);
    let size = Some(thumbwire_device::Size { width: 99_999, height: 99_999 });
    let start = Action::StartRecording { name: None, duration, bit_rate: None, size };
    let failure = studio.ask(start).await.unwrap_err();
    let Cause::Refused { reason } = &failure.cause else { panic!("{failure:?}") };
    assert!(reason.contains("99999") && reason.contains("no file was left"), "{reason}");
    assert!(studio.listed().await.is_empty());
}

/// As a real Android 4.4.4 without an encoder: it exits with status 0 after half a second, and has
/// made an empty file.
#[tokio::test(start_paused = true)]
async fn recording_without_an_encoder_fails_at_the_start_and_leaves_no_file() {
    for release in ["4.4", "14"] {
        let phone = VirtualPhone::new(Setup {
            clock: ClockMode::Real,
            ..Setup::of_release(release).unwrap()
        });
        phone.add_fault("no-encoder".parse().unwrap());
        let studio = Studio::with(phone);
        let failure = studio.ask(start("a", 10)).await.unwrap_err();
        let Cause::Refused { reason } = &failure.cause else { panic!("{release}: {failure:?}") };
        assert!(reason.contains("unable to create video/avc codec instance"), "{reason}");
        assert_eq!(failure.side_effect, thumbwire_device::SideEffect::None);
        assert!(studio.listed().await.is_empty());
        assert!(studio.phone.files(|files| files.read("/sdcard/a.mp4")).is_err(), "{release}");
        let saved = std::fs::read_dir(studio.root.path().join("assets"));
        assert_eq!(saved.map_or(0, Iterator::count), 0, "{release}");
    }
}

#[tokio::test(start_paused = true)]
async fn screenshot_is_saved_to_a_file() {
    for release in ["4.4", "14"] {
        let studio = Studio::of(release);
        let name = Some("it's; here".to_owned());
        let save = Action::SaveScreenshot { name, fetch: true };
        let saved = match studio.ask(save).await {
            Ok(Outcome::ScreenshotSaved(saved)) => saved,
            other => panic!("{release}: {other:?}"),
        };
        let file = saved.local_file.unwrap().unwrap();
        assert_eq!(file.path, studio.root.path().join("assets/it's; here.png"));
        let bytes = std::fs::read(&file.path).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() as u64 == file.bytes);
        assert!(studio.phone.files(|files| files.read("/sdcard/it's; here.png")).is_err());
    }
}

/// A process that ends with its test.
#[cfg(unix)]
struct Ending(std::process::Child);

#[cfg(unix)]
impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A phone in one process, driven by a server in another.
#[cfg(unix)]
#[tokio::test]
async fn stopped_server_leaves_nothing_running_on_the_phone() {
    use std::io::{BufRead as _, BufReader};
    let mut command = thumbwire();
    command.args(["phone", "--listen", "127.0.0.1:0", "--clock", "virtual"]);
    let mut phone = Ending(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut greeting = String::new();
    BufReader::new(phone.0.stdout.take().unwrap()).read_line(&mut greeting).unwrap();
    let address = greeting.split("listens on ").nth(1).unwrap().split(';').next().unwrap();
    let wire = DirectTransport::tcp(address);
    for signal in ["TERM", "INT", ""] {
        let root = tempfile::tempdir().unwrap();
        let out = root.path().to_str().unwrap();
        let arguments = ["--toolset", "android", "--device", address, "--out", out];
        let mut server = McpProcess::connected(&arguments);
        let file = json!({ "output_file": "last", "priority": "V" });
        let started = server.say("start_log_monitoring", file);
        assert!(started.contains("last.log"), "{started}");
        let video = json!({ "filename": "last", "size_limit": "120x216" });
        let started = server.say("start_screen_recording", video);
        assert!(started.contains("\"success\": true"), "{started}");
        assert_eq!(count(&wire, "screenrecord").await, 1);
        assert_eq!(count(&wire, "logcat").await, 1);
        let code = if signal.is_empty() { server.close() } else { server.end_by(signal) };
        assert_eq!(code, Some(0), "{signal}");
        assert_eq!(count(&wire, "screenrecord").await, 0, "{signal}");
        let left = tokio::time::timeout(Duration::from_secs(20), async {
            while count(&wire, "logcat").await > 0 {}
        });
        assert!(left.await.is_ok(), "{signal}: logcat is still running");
        // The file is complete on the phone; a server does not fetch it during shutdown.
        let whole = thumbwire_adb::run(&wire, "grep -c moov /sdcard/last.mp4; rm /sdcard/last.mp4");
        let output = String::from_utf8(whole.await.unwrap().stdout).unwrap();
        assert_eq!(output.trim(), "1", "{signal}");
        assert!(root.path().join("logs/last.log").exists());
    }
}
