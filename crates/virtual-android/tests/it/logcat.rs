//! `logcat` over the wire: buffers, filters, formats, and following the log.

use crate::common::Wired;
use thumbwire_adb::Transport;
use tokio::io::{AsyncBufReadExt, BufReader};

const SETTINGS: &str = "am start -n com.android.settings/.Settings >/dev/null";

/// The tags of a dump, without consecutive duplicates.
async fn tags(wired: &Wired, command: &str) -> Vec<String> {
    let output = wired.stdout(command).await;
    let mut tags: Vec<String> = output
        .lines()
        .filter(|line| !line.starts_with("---------"))
        .filter_map(|line| line.get(2..)?.split(':').next())
        .map(|tag| tag.trim_end().to_owned())
        .collect();
    tags.dedup();
    tags
}

#[tokio::test(start_paused = true)]
async fn events_are_logged_to_androids_buffers() {
    let wired = Wired::new();
    assert_eq!(wired.stdout("logcat -b all -c; logcat -b all -d").await, "");
    wired.stdout(SETTINGS).await;
    let system = wired.stdout("logcat -d -b system -v tag").await;
    assert_eq!(
        system
            .lines()
            .map(|line| line.split(" flg=").next().unwrap_or_default())
            .collect::<Vec<_>>(),
        [
            "--------- beginning of system",
            "I/ActivityTaskManager: START u0 {act=android.intent.action.MAIN cat=[android.intent.category.LAUNCHER]",
            "I/ActivityManager: Start proc 2434:com.android.settings/u0a105 for next-top-activity {com.android.settings/.Settings}",
            "I/ActivityTaskManager: Displayed com.android.settings/.Settings for user 0: +300ms",
        ]
    );
    assert_eq!(
        tags(&wired, "logcat -d -b events -v tag").await,
        [
            "am_proc_start",
            "am_proc_bound",
            "wm_create_activity",
            "wm_task_to_front",
            "wm_restart_activity",
            "wm_set_resumed_activity",
            "wm_on_create_called",
            "wm_on_resume_called"
        ]
    );
    // Shown only with `events` or `all`; each buffer starts with its name.
    assert_eq!(wired.stdout("logcat -d -s am_proc_start").await, "");
    let begun = wired.stdout("log x; logcat -d -b main -b events,system | grep beginning").await;
    assert_eq!(
        begun,
        "--------- beginning of system\n--------- beginning of events\n--------- beginning of main\n"
    );
    let switched = wired.stdout("logcat -d -D -b all | grep -c '^--------- switch to'").await;
    assert_ne!(switched, "0\n");
    // Clearing one buffer leaves the others.
    wired.stdout("logcat -c -b events").await;
    assert_eq!(wired.stdout("logcat -d -b events").await, "");
    assert_ne!(wired.stdout("logcat -d -b system").await, "");
    wired.stdout("input keyevent POWER").await;
    assert_eq!(wired.stdout("logcat -d -b events -v raw | tail -n 1").await, "0\n");
    wired.stdout("input keyevent POWER; am force-stop com.android.settings").await;
    let killed = wired.stdout("logcat -d -b events -v raw -s am_kill | tail -n 1").await;
    assert_eq!(killed, "[0,2434,com.android.settings,0,stop com.android.settings]\n");
}

#[tokio::test(start_paused = true)]
async fn crashes_have_their_own_buffer() {
    let wired = Wired::new();
    wired.stdout(SETTINGS).await;
    assert_eq!(wired.all("am crash com.android.settings").await, (0, String::new(), String::new()));
    let crash = wired.stdout("logcat -d -b crash -v tag").await;
    assert_eq!(
        crash.lines().take(4).collect::<Vec<_>>(),
        [
            "--------- beginning of crash",
            "E/AndroidRuntime: FATAL EXCEPTION: main",
            "E/AndroidRuntime: Process: com.android.settings, PID: 2434",
            "E/AndroidRuntime: android.app.RemoteServiceException$CrashedByAdbException: shell-induced crash",
        ]
    );
    assert_eq!(wired.all("pidof com.android.settings").await.0, 1);
    // It is one of the default buffers.
    assert_eq!(wired.stdout("logcat -d -e 'FATAL EXCEPTION' | grep -c FATAL").await, "1\n");
}

#[tokio::test(start_paused = true)]
async fn lines_are_filtered_by_number_time_tag_pattern_and_process() {
    let wired = Wired::new();
    wired.stdout("logcat -b all -c; log -t A -p w one; log -t B two; sleep 10; log -t A three; log -t C four").await;
    for (options, stdout) in [
        ("-d", "one two three four"),
        ("-t 2", "three four"),
        // The last two are selected first, then the tag.
        ("-t 2 B '*:S'", ""),
        ("-T 3 -d", "two three four"),
        ("-d -s A", "one three"),
        ("-d A:W C '*:S'", "one four"),
        ("-d -e 'o$'", "two"),
        ("-d -m 2", "one two"),
        ("-d -e 'r' -m 1 --print", "one two three"),
        ("-t '03-05 10:00:05.000'", "three four"),
        ("-t '2024-03-05 10:00:05.000'", "three four"),
        ("-t '1709632805.000'", "three four"),
        ("-d --uid=1000", ""),
        ("-d --pid=1432", ""),
        ("-d -b crash", ""),
    ] {
        let all = wired.stdout(&format!("logcat -v raw {options}")).await;
        let lines: Vec<&str> = all.lines().filter(|line| !line.starts_with("-----")).collect();
        assert_eq!(lines.join(" "), stdout, "{options}");
    }
    let variables =
        wired.stdout("ANDROID_LOG_TAGS='B:V *:S' ANDROID_PRINTF_LOG=tag logcat -d").await;
    assert_eq!(variables, "--------- beginning of main\nI/B       : two\n");
    assert_eq!(wired.stdout("logcat -d -f /sdcard/l.txt; wc -l < /sdcard/l.txt").await, "5\n");
    assert_eq!(
        wired.stdout("logcat -g -b main,crash").await,
        "main: ring buffer is 256 KiB (143 B consumed, 143 B readable), max entry is 5120 B, max payload is 4068 B\n\
         crash: ring buffer is 256 KiB (0 B consumed, 0 B readable), max entry is 5120 B, max payload is 4068 B\n"
    );
    assert_eq!(wired.stdout("logcat -G 16M").await, "");
    let wrong = wired.all("logcat -v pretty").await;
    assert_eq!(wrong, (1, String::new(), "logcat: Invalid -v 'pretty'.\n".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn live_stream_ends_with_its_reader() {
    let wired = Wired::new();
    let stream = wired
        .adb
        .open("shell,raw:logcat -T 1 -v brief ActivityTaskManager:I '*:S'")
        .await
        .expect("opened");
    let mut lines = BufReader::new(stream).lines();
    let mut next = async || lines.next_line().await.expect("it lasts").unwrap_or_default();
    wired.stdout(SETTINGS).await;
    while !next().await.contains("START u0") {}
    while !next().await.contains("Displayed com.android.settings/.Settings") {}
    // Nothing more is written: it ends because its reader has gone.
    assert_eq!(wired.stdout("logcat | head -n 1").await, "--------- beginning of system\n");
    assert_eq!(wired.stdout("logcat -s NOBODY | true; echo done").await, "done\n");
}

#[tokio::test(start_paused = true)]
async fn binary_output_matches_logd() {
    let wired = Wired::new();
    wired.stdout("logcat -c; log -t Tag -p e hi").await;
    let bytes = wired.run("logcat -B -d").await.stdout;
    // `struct logger_entry` of 28 bytes: payload length, header length, process, thread, seconds,
    // nanoseconds, buffer, user.
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    assert_eq!((bytes[0], bytes[1], bytes[2], bytes[3]), (8, 0, 28, 0));
    assert_eq!((word(4), word(12) / 86_400, word(20), word(24)), (word(8), 19_787, 0, 2_000));
    assert_eq!(&bytes[28..], b"\x06Tag\0hi\0");
}
