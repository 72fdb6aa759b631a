//! `screenrecord` and the signals that end it, over the wire; `ffprobe` and `ffmpeg` check the
//! files.
//!
//! The clock is paused: a recording of three minutes takes no time. Tests that need a player are
//! skipped without `ffprobe`, unless `THUMBWIRE_REQUIRE_REAL` is set.

use crate::common::Wired;
use std::process::Command;
use std::time::Duration;
use thumbwire_adb::Transport;
use thumbwire_test_support::program;
use thumbwire_virtual_android::Setup;
use thumbwire_virtual_phone::Display;
use tokio::io::AsyncReadExt;

/// A phone small enough to draw quickly.
fn small(seed: u64) -> Wired {
    let display = Display { width: 240, height: 432, density: 120, rotation: 0 };
    Wired::made(Setup { seed, display, ..Setup::default() })
}

const FILE: &str = "/sdcard/v.mp4";

impl Wired {
    /// Runs `acts` while the screen is recorded, then stops it with `stop`; returns the result of
    /// `screenrecord`.
    async fn recorded(&self, command: &str, acts: &[&str], stop: &str) -> (i32, String, String) {
        let acting = async {
            self.until_recording().await;
            for act in acts {
                self.stdout(act).await;
            }
            self.run(stop).await
        };
        tokio::join!(self.all(command), acting).0
    }

    async fn until_recording(&self) {
        while self.run(&format!("[ -s {FILE} ]")).await.status != Some(0) {}
    }

    fn video(&self) -> Vec<u8> {
        self.phone.files(|files| files.read(FILE)).expect("a video").as_ref().to_vec()
    }
}

/// The fields that `ffprobe` reports for a file, in order; `None` if it is not available.
fn probed(video: &[u8], entries: &str) -> Option<Result<String, String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("v.mp4");
    std::fs::write(&path, video).expect("written");
    let mut command = Command::new(program("ffprobe")?);
    command
        .args(["-v", "error", "-count_frames", "-of", "csv=p=0", "-show_entries", entries])
        .arg(path);
    let output = command.output().expect("ffprobe runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    let (stdout, wrong) = (text(output.stdout), text(output.stderr));
    Some(if output.status.success() && wrong.is_empty() { Ok(stdout) } else { Err(wrong) })
}

/// The last picture of a video as red, green, blue.
fn last_picture(video: &[u8], pixels: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("v.mp4");
    std::fs::write(&path, video).expect("written");
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "error", "-i"]).arg(path).args([
        "-fps_mode",
        "passthrough",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-",
    ]);
    let output = command.output().expect("ffmpeg stands beside ffprobe");
    assert!(output.status.success(), "{output:?}");
    let start = output.stdout.len() - pixels * 3;
    output.stdout[start..].to_vec()
}

/// The names of a file's top-level boxes, as far as they are complete.
fn boxes(video: &[u8]) -> Vec<String> {
    let (mut at, mut names) = (0, Vec::new());
    while let Some(head) = video.get(at..at + 8) {
        let size = u32::from_be_bytes(head[..4].try_into().expect("four bytes")) as usize;
        let size = match (size, video.get(at + 8..at + 16)) {
            (1, Some(large)) => u64::from_be_bytes(large.try_into().expect("eight bytes")) as usize,
            _ => size,
        };
        names.push(String::from_utf8_lossy(&head[4..]).into_owned());
        match at.checked_add(size) {
            Some(next) if size >= 8 && next <= video.len() => at = next,
            _ => {
                names.push("broken".to_owned());
                break;
            }
        }
    }
    names
}

#[tokio::test(start_paused = true)]
async fn recorded_frames_match_the_timeline() {
    let wired = small(1);
    let acts = ["am start -n com.android.settings/.Settings", "sleep 2", "input keyevent HOME"];
    let ended =
        wired.recorded(&format!("screenrecord {FILE}"), &acts, "pkill -INT screenrecord").await;
    assert_eq!(ended, (0, String::new(), String::new()));
    let video = wired.video();
    assert_eq!(boxes(&video), ["ftyp", "mdat", "moov"]);
    let Some(stdout) = probed(&video, "stream=codec_name,profile,width,height,pix_fmt,color_space")
    else {
        return;
    };
    assert_eq!(stdout.expect("a video"), "h264,Constrained Baseline,240,432,yuv420p,bt709");
    let times = probed(&video, "frame=pts_time").expect("it is there").expect("frames");
    let times: Vec<f64> =
        times.lines().map(|line| line.trim_matches(',').parse().expect("seconds")).collect();
    // Home, the app, home again: at least one picture each, the last two seconds after the previous
    // one.
    assert!((3..10).contains(&times.len()), "{times:?}");
    let rest = times[times.len() - 1] - times[times.len() - 2];
    assert!(times[0] == 0.0 && (1.9..2.5).contains(&rest), "{times:?}");
    let shown = wired.phone.world(|world| world.frame());
    let meant: Vec<u8> = shown.rgba.chunks(4).flat_map(|pixel| &pixel[..3]).copied().collect();
    let seen = last_picture(&video, 240 * 432);
    let off: f64 = seen.iter().zip(&meant).map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
    let psnr = 10.0 * (255.0 * 255.0 * meant.len() as f64 / off).log10();
    assert!(psnr > 30.0, "{psnr:.1} dB");
}

#[tokio::test(start_paused = true)]
async fn static_screen_records_one_frame_up_to_three_minutes() {
    let wired = small(1);
    let before = wired.phone.world(|world| world.uptime());
    assert_eq!(wired.all(&format!("screenrecord {FILE}")).await, (0, String::new(), String::new()));
    let lasted = wired.phone.world(|world| world.uptime()) - before;
    assert!((180..182).contains(&lasted.as_secs()), "{lasted:?}");
    // The status bar's clock goes on: one picture per minute.
    let Some(stdout) = probed(&wired.video(), "stream=nb_read_frames") else { return };
    assert_eq!(stdout.expect("a video"), "4");
    wired.stdout(&format!("screenrecord --time-limit 5 {FILE}")).await;
    let output = probed(&wired.video(), "stream=nb_read_frames,duration").expect("it is there");
    assert_eq!(output.expect("a video"), "0.000000,1");
}

#[tokio::test(start_paused = true)]
async fn requested_size_is_the_video_size() {
    let wired = small(1);
    let command = format!("screenrecord --verbose --size 320x240 --bit-rate=4M --time 2 {FILE}");
    let output = "\
Time limit set to 2 seconds
Display is 240x432 @60.00fps (orientation=ROTATION_0), layerStack=0
Configuring recorder for 320x240 video/avc at 4.00Mbps
Content area is 133x240 at offset x=93 y=0
Time limit reached
Encoder stopping; recorded 1 frames in 2 seconds
Stopping encoder and muxer
Executing: /system/bin/am broadcast -a android.intent.action.MEDIA_SCANNER_SCAN_FILE -d file:///sdcard/v.mp4
Broadcasting: Intent { act=android.intent.action.MEDIA_SCANNER_SCAN_FILE dat=file:///sdcard/v.mp4 flg=0x400000 }
Broadcast completed: result=0
";
    assert_eq!(wired.all(&command).await, (0, output.to_owned(), String::new()));
    let Some(stdout) = probed(&wired.video(), "stream=width,height") else { return };
    assert_eq!(stdout.expect("a video"), "320,240");
    wired.stdout(&format!("screenrecord --rotate --size 640x360 --time-limit 1 {FILE}")).await;
    let output = probed(&wired.video(), "stream=width,height:stream_side_data=rotation")
        .expect("it is there");
    assert_eq!(output.expect("a video"), "640,360,-90");
}

#[tokio::test(start_paused = true)]
async fn killed_recording_is_unplayable() {
    for (signal, status, epitaph) in [("-9", 137, "Killed \n"), ("-TERM", 143, "Terminated \n")] {
        let wired = small(1);
        let stop = format!("kill {signal} $(pidof screenrecord)");
        let ended = wired.recorded(&format!("screenrecord {FILE}"), &[], &stop).await;
        assert_eq!(ended, (status, String::new(), epitaph.to_owned()));
        assert_eq!(boxes(&wired.video()), ["ftyp", "mdat", "broken"]);
        assert_eq!(wired.all("pidof screenrecord").await.0, 1);
        let Some(stdout) = probed(&wired.video(), "stream=width") else { return };
        assert!(stdout.is_err_and(|why| why.contains("moov atom not found")));
    }
}

#[tokio::test(start_paused = true)]
async fn interrupted_recording_is_playable() {
    for stop in [
        "kill -2 $(pidof screenrecord)",
        "kill -s INT $(pgrep screenrecord)",
        "kill -SIGHUP $(pgrep -f 'screenrecord .*v.mp4')",
        "pkill -l 2 screenrecord",
        "pkill -2 -x screenrecord",
        "killall -INT screenrecord",
    ] {
        let wired = small(1);
        let ended = wired.recorded(&format!("screenrecord --time-limit 0 {FILE}"), &[], stop).await;
        assert_eq!(ended, (0, String::new(), String::new()), "{stop}");
        assert_eq!(boxes(&wired.video()), ["ftyp", "mdat", "moov"], "{stop}");
    }
}

#[tokio::test(start_paused = true)]
async fn host_disconnect_leaves_a_playable_file() {
    let wired = small(1);
    let stream =
        wired.adb.open(&format!("shell,v2,raw:screenrecord {FILE}")).await.expect("opened");
    wired.until_recording().await;
    assert_eq!(boxes(&wired.video()).last().map(String::as_str), Some("broken"));
    drop(stream);
    while wired.run("pidof screenrecord").await.status == Some(0) {}
    assert_eq!(boxes(&wired.video()), ["ftyp", "mdat", "moov"]);
}

#[tokio::test(start_paused = true)]
async fn ctrl_c_ends_a_recording_in_order() {
    use tokio::io::AsyncWriteExt;
    let wired = small(1);
    let mut stream =
        wired.adb.open(&format!("shell,pty:screenrecord {FILE}")).await.expect("opened");
    wired.until_recording().await;
    stream.write_all(b"\x03").await.expect("pressed");
    stream.flush().await.expect("pressed");
    let mut output = Vec::new();
    stream.read_to_end(&mut output).await.expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output), "^C\r\n");
    assert_eq!(boxes(&wired.video()), ["ftyp", "mdat", "moov"]);
}

#[tokio::test(start_paused = true)]
async fn raw_stream_goes_to_stdout() {
    let wired = small(1);
    let output = wired.run("screenrecord --output-format=h264 --time-limit 1 -").await;
    // Start code and sequence parameters, then picture parameters.
    assert_eq!(output.stdout.get(..5), Some([0, 0, 0, 1, 0x67].as_slice()));
    let Some(stdout) = probed(&output.stdout, "stream=codec_name,width,height,nb_read_frames")
    else {
        return;
    };
    assert_eq!(stdout.expect("a video"), "h264,240,432,1");
}

#[tokio::test(start_paused = true)]
async fn same_commands_give_the_same_video() {
    let mut videos = Vec::new();
    for _ in 0..2 {
        let wired = small(3);
        let acts = [
            "am start -n com.android.settings/.Settings",
            "input swipe 180 500 180 200 300",
            "input keyevent BACK",
        ];
        wired
            .recorded(
                &format!("screenrecord --size 180x320 {FILE}"),
                &acts,
                "pkill -INT screenrecord",
            )
            .await;
        videos.push(wired.video());
    }
    assert!(videos[0] == videos[1], "{} and {} bytes", videos[0].len(), videos[1].len());
}

#[tokio::test(start_paused = true)]
async fn invalid_options_get_the_phones_errors() {
    let wired = small(1);
    for (arguments, status, why) in [
        ("", 2, "Must specify output file (see --help).\n"),
        ("/sdcard/a.mp4 /sdcard/b.mp4", 2, "Must specify output file (see --help).\n"),
        ("--size 10by10 /sdcard/a.mp4", 2, "Invalid size '10by10', must be width x height\n"),
        ("--size 0x10 /sdcard/a.mp4", 2, "Invalid size 0x10, width and height may not be zero\n"),
        (
            "--bit-rate 10 /sdcard/a.mp4",
            2,
            "Bit rate 10bps outside acceptable range [100000,200000000]\n",
        ),
        ("--bit-rate 4k /sdcard/a.mp4", 2, "Unrecognized value: 4k\n"),
        ("--time-limit soon /sdcard/a.mp4", 2, "Error parsing time limit argument\n"),
        (
            "--time-limit -1 /sdcard/a.mp4",
            2,
            "Time limit -1s outside acceptable range [0,4294967295] seconds\n",
        ),
        ("--output-format gif /sdcard/a.mp4", 2, "Unknown format 'gif'\n"),
        ("--display-id 7 /sdcard/a.mp4", 2, "Invalid physical display ID\n"),
        ("--sound /sdcard/a.mp4", 2, "screenrecord: unknown option -- sound\n"),
        (
            "/sdcard/none/a.mp4",
            1,
            "Unable to open '/sdcard/none/a.mp4': No such file or directory\n",
        ),
        ("/system/a.mp4", 1, "Unable to open '/system/a.mp4': Read-only file system\n"),
        (
            "--size 321x200 /sdcard/a.mp4",
            234,
            "ERROR: unable to configure video/avc codec at 321x200 (err=-22)\n",
        ),
        ("--version", 0, "1.4\n"),
    ] {
        let ended = wired.all(&format!("screenrecord {arguments}")).await;
        assert_eq!(ended, (status, String::new(), why.to_owned()), "{arguments}");
    }
}

/// `screenrecord.cpp` before Android 14: three minutes are the default and the maximum.
#[tokio::test(start_paused = true)]
async fn no_release_before_14_records_longer_than_three_minutes() {
    for release in ["9", "11", "13"] {
        let wired = Wired::made(Setup::of_release(release).expect("it is there"));
        for (limit, reported) in [("0", "0"), ("181", "181"), ("soon", "0"), ("-1", "-1")] {
            let ended =
                wired.all(&format!("screenrecord --time-limit {limit} /sdcard/a.mp4")).await;
            let reason = format!("Time limit {reported}s outside acceptable range [1,180]\n");
            assert_eq!(ended, (2, String::new(), reason), "{release}: {limit}");
        }
        let (_, _, help) = wired.all("screenrecord --help").await;
        assert!(help.contains("Default / maximum is 180.\n--display-id"), "{help}");
    }
}

#[tokio::test(start_paused = true)]
async fn recording_does_not_block_other_commands() {
    let wired = small(1);
    let acts = ["input tap 100 100", "uiautomator dump /sdcard/d.xml", "echo 1 | cat", "wm size"];
    let ended =
        wired.recorded(&format!("screenrecord {FILE}"), &acts, "pkill -INT screenrecord").await;
    assert_eq!(ended.0, 0);
    // While rotated, the picture is centred in the same video.
    let acts = [
        "settings put system user_rotation 1",
        "settings put system accelerometer_rotation 0",
        "input keyevent POWER",
    ];
    let ended = wired
        .recorded(&format!("rm {FILE}; screenrecord {FILE}"), &acts, "pkill -INT screenrecord")
        .await;
    assert_eq!(ended, (0, String::new(), String::new()));
    let Some(stdout) = probed(&wired.video(), "stream=width,height") else { return };
    assert_eq!(stdout.expect("a video"), "240,432");
}

#[tokio::test(start_paused = true)]
async fn processes_are_listed_and_foreign_ones_not_signalled() {
    let wired = small(1);
    for (command, status, out, err) in [
        ("kill 1", 1, "", "/system/bin/sh: kill: 1: Operation not permitted\n"),
        ("kill 99999", 1, "", "/system/bin/sh: kill: 99999: No such process\n"),
        ("kill abc", 1, "", "/system/bin/sh: kill: abc: arguments must be jobs or process IDs\n"),
        ("kill -s FOO 1", 1, "", "/system/bin/sh: kill: bad signal: FOO\n"),
        ("kill -l 2", 0, "INT\n", ""),
        ("kill -l 137", 0, "KILL\n", ""),
        ("kill -l KILL", 1, "", "/system/bin/sh: kill: bad number: KILL\n"),
        ("pkill nobody", 1, "", ""),
        ("killall nobody", 1, "", "killall: nobody: No such process\n"),
        ("pidof system_server", 0, "1432\n", ""),
        ("pgrep -l '^logd$'", 0, "212 logd\n", ""),
        ("ps -A -o PID,NAME | grep zygote", 0, "  402 zygote64\n", ""),
        ("ps | grep -c ' ps$'", 0, "1\n", ""),
        ("pkill system_server", 1, "", "pkill: kill 15 1432: Operation not permitted\n"),
    ] {
        let ended = wired.all(command).await;
        assert_eq!(ended, (status, out.to_owned(), err.to_owned()), "{command}");
    }
    // A pipe that waits forever is ended, and the shell that waits for it goes on.
    let waiting = wired.all("cat; echo $?");
    let killing = async { while wired.run("pkill -x cat").await.status != Some(0) {} };
    let (ended, ()) = tokio::join!(waiting, killing);
    assert_eq!(ended, (0, "143\n".to_owned(), "Terminated \n".to_owned()));
    assert!(wired.phone.world(|world| world.uptime()) < Duration::from_secs(600));
}
