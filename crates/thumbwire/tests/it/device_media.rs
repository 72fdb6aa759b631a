//! Logs, recordings, files and health through the driver alone, on virtual phones of every release.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_adb::{DirectTransport, Transport};
use thumbwire_base::Io;
use thumbwire_device::android::Android;
use thumbwire_device::{
    Device as _, DeviceFiles as _, Error, HealthChecks as _, LogEntry, LogFilter, Logs as _,
    Priority, RecordingOptions, ScreenCapture as _, ScreenStreaming as _, Size, VideoOptions,
};
use thumbwire_test_support::program;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_phone::KeyCode;

const RELEASES: [&str; 6] = ["4.4", "9", "11", "13", "14", "16"];

/// A transport to a phone.
fn wire(phone: &VirtualPhone) -> DirectTransport {
    let served = phone.clone();
    DirectTransport::with_connector("the virtual phone", move || {
        let io: Box<dyn Io> = Box::new(served.in_memory());
        async move { Ok(io) }
    })
}

/// A virtual phone of this release, and a handle on it.
async fn attached(release: &str) -> (VirtualPhone, Android) {
    let phone = VirtualPhone::new(Setup::of_release(release).unwrap());
    let transport: Arc<dyn Transport> = Arc::new(wire(&phone));
    let device = Android::attach("virtual", transport).await.unwrap();
    (phone, device)
}

/// Number of processes with this name on the phone.
async fn running(phone: &VirtualPhone, name: &str) -> usize {
    let output = thumbwire_adb::run(&wire(phone), "ps").await.unwrap().stdout;
    let output = String::from_utf8(output).unwrap();
    output.lines().filter(|line| line.trim_end().ends_with(name)).count()
}

/// Waits until the phone has no such process.
async fn until_ended(phone: &VirtualPhone, name: &str) {
    let ended = async {
        while running(phone, name).await > 0 {
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(60), ended).await;
    assert!(ended.is_ok(), "{name} was left on Android {}", phone.serial());
}

fn everything() -> LogFilter {
    LogFilter { tag: None, priority: Priority::Verbose }
}

fn tagged(tag: &str) -> LogFilter {
    LogFilter { tag: Some(tag.into()), priority: Priority::Verbose }
}

fn messages(entries: &[LogEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.message.as_str()).collect()
}

#[tokio::test]
async fn log_entries_are_read_on_every_release() {
    for release in RELEASES {
        let (phone, device) = attached(release).await;
        phone.world(|world| {
            world.write_log('I', "Tag", 77, "one");
            world.write_log('W', "two words", 78, "two\nlines");
            world.write_log('E', "it's; reboot", 79, "three: \u{e9}");
            world.write_log('D', "Tag", 77, "four");
        });
        let of = async |filter: LogFilter, most| device.read_logs(&filter, most).await.unwrap();
        let all = of(everything(), 5).await;
        assert_eq!(messages(&all), ["one", "two", "lines", "three: \u{e9}", "four"], "{release}");
        assert_eq!((all[0].pid, all[0].priority, &*all[0].tag), (77, Priority::Info, "Tag"));
        let today = phone.world(|world| world.unix_time());
        assert!(all[0].time.starts_with("20") && all[0].time.len() == 26, "{}", all[0].time);
        assert!(today > 1_700_000_000);
        assert_eq!(messages(&of(everything(), 1).await), ["four"], "{release}");
        assert_eq!(of(everything(), 0).await, [], "{release}");
        assert_eq!(messages(&of(tagged("Tag"), 1).await), ["four"], "{release}");
        assert_eq!(messages(&of(tagged("Tag"), 9).await), ["one", "four"], "{release}");
        assert_eq!(messages(&of(tagged("two words"), 9).await), ["two", "lines"], "{release}");
        assert_eq!(messages(&of(tagged("it's; reboot"), 9).await), ["three: \u{e9}"], "{release}");
        assert_eq!(messages(&of(tagged("Tag:I *:S"), 9).await), ["one"], "{release}");
        assert_eq!(of(tagged("-c"), 9).await, [], "{release}");
        let errors = LogFilter { tag: None, priority: Priority::Error };
        assert_eq!(messages(&of(errors, 1).await), ["three: \u{e9}"], "{release}");
        device.clear_logs().await.unwrap();
        assert_eq!(of(tagged("Tag"), 9).await, [], "{release}");
        let odd = device.read_logs(&tagged("Tag:Q"), 9).await.unwrap_err();
        assert!(odd.to_string().contains("Tag:Q"), "{release}: {odd}");
    }
}

#[tokio::test]
async fn log_is_followed_from_now_or_from_an_entry() {
    for release in RELEASES {
        let (phone, device) = attached(release).await;
        let write = |tag: &str, text: &str| {
            phone.world(|world| world.write_log('I', tag, 77, text));
        };
        write("Tag", "old");
        write("Other", "old");
        let mut from_now = device.follow_logs(&tagged("Tag"), None).await.unwrap();
        write("Other", "not this");
        write("Tag", "one");
        let one = from_now.next().await.unwrap().unwrap();
        assert_eq!(one.message, "one", "{release}");
        write("Tag", "two\nlines");
        for line in ["two", "lines"] {
            assert_eq!(from_now.next().await.unwrap().unwrap().message, line, "{release}");
        }
        let mut from_one = device.follow_logs(&tagged("Tag"), Some(&one)).await.unwrap();
        for line in ["two", "lines"] {
            assert_eq!(from_one.next().await.unwrap().unwrap().message, line, "{release}");
        }
        assert_eq!(running(&phone, "logcat").await, 2, "{release}");
        drop(from_now);
        drop(from_one);
        until_ended(&phone, "logcat").await;
    }
}

#[tokio::test]
async fn log_from_the_future_is_followed_from_now() {
    for release in RELEASES {
        let (phone, device) = attached(release).await;
        let write = |text: &str| phone.world(|world| world.write_log('I', "Tag", 77, text));
        write("old");
        let mut last = device.read_logs(&tagged("Tag"), 1).await.unwrap().pop().unwrap();
        // As if its clock had been fast.
        last.time.replace_range(11..13, "23");
        let mut stream = device.follow_logs(&tagged("Tag"), Some(&last)).await.unwrap();
        write("new");
        let next = tokio::time::timeout(Duration::from_secs(10), stream.next()).await;
        assert_eq!(next.unwrap().unwrap().unwrap().message, "new", "{release}");
    }
}

#[tokio::test]
async fn followed_log_survives_a_disconnect_without_gaps_or_repeats() {
    for release in ["4.4", "14"] {
        let phone = VirtualPhone::new(Setup::of_release(release).unwrap());
        let (cut, wire) = Cut::wire(&phone);
        let device = Android::attach("virtual", Arc::new(wire)).await.unwrap();
        // All within one millisecond of the phone's clock, unless its programs take longer.
        let write = |text: &str| phone.world(|world| world.write_log('I', "Tag", 77, text));
        write("old");
        let filter = tagged("Tag");
        let mut stream = device.follow_logs(&filter, None).await.unwrap();
        let mut given = Vec::new();
        for text in ["one", "two"] {
            write(text);
            given.push(stream.next().await.unwrap().unwrap());
        }
        cut.cut();
        write("while it was cut");
        let lost = stream.next().await.unwrap_err();
        assert!(matches!(lost, Error::NotConnected { .. }), "{release}: {lost}");
        let mut stream = device.follow_logs(&filter, given.last()).await.unwrap();
        write("three");
        for text in ["while it was cut", "three"] {
            assert_eq!(stream.next().await.unwrap().unwrap().message, text, "{release}");
        }
        drop(stream);
        until_ended(&phone, "logcat").await;
    }
}

#[tokio::test]
async fn recording_is_limited_to_the_phones_maximum() {
    for (release, seconds) in [("4.4", 180), ("13", 180), ("14", 600), ("16", 600)] {
        let (_phone, device) = attached(release).await;
        let long =
            RecordingOptions { time_limit: Duration::from_secs(600), ..wish("/sdcard/a.mp4") };
        let recording = device.start_recording(&long).await.unwrap();
        assert_eq!(recording.time_limit(), Duration::from_secs(seconds), "{release}");
        let brief =
            RecordingOptions { time_limit: Duration::from_millis(1_200), ..wish("/sdcard/b.mp4") };
        let recording = device.start_recording(&brief).await.unwrap();
        assert_eq!(recording.time_limit(), Duration::from_secs(2), "{release}");
    }
}

fn wish(path: &str) -> RecordingOptions {
    RecordingOptions {
        path: path.into(),
        time_limit: Duration::from_secs(60),
        bit_rate: Some(2_000_000),
        // Small, because a debug build is slow at it.
        size: Some(Size { width: 96, height: 160 }),
    }
}

async fn fetched(device: &Android, path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let length = device.fetch_file(path, &mut bytes).await.unwrap();
    assert_eq!(length, bytes.len() as u64);
    bytes
}

/// The names of a file's boxes, in order: each starts with its length and its name (ISO/IEC
/// 14496-12).
fn boxes(mut bytes: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    while let Some((head, _)) = bytes.split_at_checked(8) {
        let length = match u32::from_be_bytes(head[..4].try_into().unwrap()) {
            // The length is in the eight bytes after the name.
            1 => u64::from_be_bytes(bytes[8..16].try_into().unwrap()) as usize,
            length => length as usize,
        };
        names.push(String::from_utf8_lossy(&head[4..]).into_owned());
        bytes = bytes.get(length.max(8)..).expect("a whole box");
    }
    assert!(bytes.is_empty());
    names
}

/// Whether ffprobe finds one video with a duration.
fn accepted_by_ffprobe(video: &[u8], name: &str) {
    let Some(ffprobe) = program("ffprobe") else { return };
    let file = std::env::temp_dir().join(format!("thumbwire-{}-{name}.mp4", std::process::id()));
    std::fs::write(&file, video).unwrap();
    let mut ffprobe = std::process::Command::new(ffprobe);
    ffprobe.args(["-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0"]);
    let output = ffprobe.arg(&file).output().unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "h264", "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[tokio::test]
async fn stopped_recording_is_complete_on_every_release() {
    for release in RELEASES {
        let (phone, device) = attached(release).await;
        let path = "/sdcard/it's one.mp4";
        let mut recording = device.start_recording(&wish(path)).await.unwrap();
        assert_eq!(recording.time_limit(), Duration::from_secs(60));
        assert_eq!(running(&phone, "screenrecord").await, 1, "{release}");
        device.press(thumbwire_device::Key::Home).await.unwrap();
        recording.stop().await.unwrap();
        assert_eq!(running(&phone, "screenrecord").await, 0, "{release}");
        let interrupts = || {
            let kills = phone.commands().into_iter().filter(|one| one.argv[0] == "kill");
            kills.map(|one| one.argv.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(interrupts(), [format!("kill -2 {}", recording.process())], "{release}");
        // Stopping twice is fine.
        recording.stop().await.unwrap();
        recording.wait().await;
        assert_eq!(interrupts().len(), 1);
        let video = fetched(&device, path).await;
        assert!(boxes(&video).iter().any(|name| name == "moov"), "{release}");
        accepted_by_ffprobe(&video, release);
        device.remove_file(path).await.unwrap();
        device.remove_file(path).await.unwrap();
        let gone = device.fetch_file(path, &mut Vec::new()).await.unwrap_err();
        assert!(gone.to_string().contains("No such file"), "{release}: {gone}");
    }
}

#[tokio::test]
async fn video_of_the_screen_comes_as_pictures_until_it_is_dropped() {
    let options = VideoOptions { max_side: 320, bit_rate: 1_000_000 };
    for release in ["9", "14"] {
        let (phone, device) = attached(release).await;
        let mut video = device.stream_video(options).await.unwrap().unwrap();
        let first = video.0.recv().await.unwrap();
        assert_eq!(first.key.as_deref(), Some("avc1.42C014"), "{release}");
        assert_eq!(first.bytes[..5], [0, 0, 0, 1, 0x67], "parameters come first");
        phone.world(|world| {
            world.advance(world.uptime() + Duration::from_millis(20));
            world.key(KeyCode::POWER);
        });
        let second = video.0.recv().await.unwrap();
        assert_eq!((second.key, &second.bytes[..5]), (None, &[0, 0, 0, 1, 0x61][..]), "{release}");
        drop(video);
        until_ended(&phone, "screenrecord").await;

        let mut video = device.stream_video(options).await.unwrap().unwrap();
        thumbwire_adb::run(&wire(&phone), "pkill -INT screenrecord").await.unwrap();
        while video.0.recv().await.is_some() {}
    }
}

#[tokio::test]
async fn phone_without_a_binary_shell_or_an_encoder_sends_no_video() {
    let options = VideoOptions { max_side: 320, bit_rate: 1_000_000 };
    let (_, device) = attached("4.4").await;
    assert!(device.stream_video(options).await.unwrap().is_none());
    let (phone, device) = attached("14").await;
    phone.add_fault("no-encoder".parse().unwrap());
    assert!(device.stream_video(options).await.unwrap().is_none());
}

#[tokio::test]
async fn impossible_recording_fails_at_once() {
    for release in RELEASES {
        let (phone, device) = attached(release).await;
        let Err(why) = device.start_recording(&wish("/nowhere/a.mp4")).await else {
            panic!("{release}: it records into nowhere");
        };
        assert!(why.to_string().contains("/nowhere/a.mp4"), "{release}: {why}");
        assert_eq!(running(&phone, "screenrecord").await, 0, "{release}");
    }
}

#[tokio::test]
async fn dropped_recording_ends_and_is_complete() {
    for release in ["4.4", "14"] {
        let (phone, device) = attached(release).await;
        let recording = device.start_recording(&wish("/sdcard/a.mp4")).await.unwrap();
        drop(recording);
        until_ended(&phone, "screenrecord").await;
        let video = fetched(&device, "/sdcard/a.mp4").await;
        assert!(boxes(&video).iter().any(|name| name == "moov"), "{release}");
    }
}

/// A connection that can be cut; using it again restores it.
struct Cut(tokio::sync::watch::Sender<u32>);

impl Cut {
    fn wire(phone: &VirtualPhone) -> (Self, DirectTransport) {
        let (cut, cuts) = tokio::sync::watch::channel(0);
        let served = phone.clone();
        let wire = DirectTransport::with_connector("the virtual phone", move || {
            let (ours, mut theirs) = tokio::io::duplex(1 << 16);
            let mut phone = served.in_memory();
            let mut cuts = cuts.clone();
            cuts.mark_unchanged();
            tokio::spawn(async move {
                tokio::select! {
                    _ = tokio::io::copy_bidirectional(&mut theirs, &mut phone) => {},
                    _ = cuts.changed() => {},
                }
            });
            let io: Box<dyn Io> = Box::new(ours);
            async move { Ok(io) }
        });
        (Self(cut), wire)
    }

    fn cut(&self) {
        self.0.send_modify(|cuts| *cuts += 1);
    }
}

#[tokio::test]
async fn recording_can_be_stopped_after_a_disconnect() {
    for release in ["4.4", "14"] {
        let phone = VirtualPhone::new(Setup::of_release(release).unwrap());
        let (cut, wire) = Cut::wire(&phone);
        let device = Android::attach("virtual", Arc::new(wire)).await.unwrap();
        let mut recording = device.start_recording(&wish("/sdcard/a.mp4")).await.unwrap();
        cut.cut();
        recording.stop().await.unwrap_or_else(|error| panic!("{release}: {error}"));
        assert_eq!(running(&phone, "screenrecord").await, 0, "{release}");
        let video = fetched(&device, "/sdcard/a.mp4").await;
        assert!(boxes(&video).iter().any(|name| name == "moov"), "{release}");
    }
}

#[tokio::test]
async fn reused_process_id_gets_no_signal() {
    for release in RELEASES {
        let (phone, device) = attached(release).await;
        let mut recording = device.start_recording(&wish("/sdcard/a.mp4")).await.unwrap();
        let interrupt = format!("kill -2 {}", recording.process());
        thumbwire_adb::run(&wire(&phone), &interrupt).await.unwrap();
        until_ended(&phone, "screenrecord").await;
        recording.stop().await.unwrap();
        let kills = phone.commands().into_iter().filter(|one| one.argv[0] == "kill").count();
        assert_eq!(kills, 1, "{release}");
    }
}

/// Through an adb server, losing a phone that reports no exit status looks like the end of its
/// program.
#[tokio::test]
async fn recording_without_exit_status_is_checked_on_the_phone() {
    for (release, looks) in [("4.4", 1), ("14", 0)] {
        let (phone, device) = attached(release).await;
        let mut recording = device.start_recording(&wish("/sdcard/a.mp4")).await.unwrap();
        let interrupt = format!("kill -2 {}", recording.process());
        thumbwire_adb::run(&wire(&phone), &interrupt).await.unwrap();
        recording.wait().await;
        recording.stop().await.unwrap();
        let status = format!("/proc/{}/cmdline", recording.process());
        let looked = phone.commands().into_iter().filter(|one| one.argv.contains(&status));
        assert_eq!(looked.count(), looks, "{release}");
    }
}

#[tokio::test(start_paused = true)]
async fn recording_ends_at_its_time_limit() {
    for release in ["4.4", "14"] {
        let (phone, device) = attached(release).await;
        let five = RecordingOptions { time_limit: Duration::from_secs(5), ..wish("/sdcard/a.mp4") };
        let mut recording = device.start_recording(&five).await.unwrap();
        recording.wait().await;
        assert_eq!(running(&phone, "screenrecord").await, 0, "{release}");
        recording.stop().await.unwrap();
        let video = fetched(&device, "/sdcard/a.mp4").await;
        assert!(boxes(&video).iter().any(|name| name == "moov"), "{release}");
    }
}

#[tokio::test]
async fn screenshots_go_to_files_and_health_is_reported() {
    for release in RELEASES {
        let (phone, device) = attached(release).await;
        device.screenshot_into("/sdcard/it's a picture").await.unwrap();
        let picture = fetched(&device, "/sdcard/it's a picture").await;
        assert!(picture.starts_with(b"\x89PNG"), "{release}");
        let reason = device.screenshot_into("/nowhere/a.png").await.unwrap_err().to_string();
        assert!(reason.contains("/nowhere/a.png"), "{release}: {reason}");
        let out = async || {
            let health = device.check_health().await.unwrap();
            let checks = health.checks.iter();
            let checks =
                checks.map(|check| format!("{}: {} {}", check.name, check.passed, check.details));
            (health.is_well(), checks.collect::<Vec<_>>().join(", "))
        };
        let well = "connectivity: true connected, screen_state: true on, ui_service: true uiautomator is ready";
        assert_eq!(out().await, (true, well.to_owned()), "{release}");
        device.press(thumbwire_device::Key::Power).await.unwrap();
        let dark = "connectivity: true connected, screen_state: false off, ui_service: true uiautomator is ready";
        assert_eq!(out().await, (false, dark.to_owned()), "{release}");
        drop(phone);
    }
}
