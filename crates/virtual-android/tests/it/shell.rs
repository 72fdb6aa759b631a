//! The shell over the wire: arguments, pipes, statuses, and what must not happen.

use crate::common::Wired;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::time::Duration;
use thumbwire_adb::Transport;
use thumbwire_test_support::quoted;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// What a host sees; the language is compared with mksh in `virtual-shell`.
#[tokio::test]
async fn status_and_both_outputs_reach_the_host() {
    let wired = Wired::new();
    for (script, status, out, err) in [
        ("exit 3", 3, "", ""),
        ("echo 'a  b'; echo c >&2", 0, "a  b\n", "c\n"),
        ("(cd /sdcard; pwd); pwd", 0, "/sdcard\n/\n", ""),
        (
            "touch /sdcard/s; /sdcard/s",
            126,
            "",
            "/system/bin/sh: /sdcard/s: can't execute: Permission denied\n",
        ),
        (
            "echo x > /system/x",
            1,
            "",
            "/system/bin/sh: can't create /system/x: Read-only file system\n",
        ),
        ("echo 'a", 1, "", "/system/bin/sh: no closing quote\n"),
        (
            "echo a; coproc reboot",
            2,
            "",
            "/system/bin/sh: syntax error: 'coproc' is not supported by this phone\n",
        ),
        ("echo abc >&-", 141, "", ""),
        ("sleep 3600; echo awake", 0, "awake\n", ""),
    ] {
        assert_eq!(wired.all(script).await, (status, out.to_owned(), err.to_owned()), "{script}");
    }
}

#[tokio::test]
async fn writer_ends_when_its_reader_closes() {
    let wired = Wired::new();
    // More than a pipe holds, so `cat` would wait forever.
    wired
        .phone
        .files(|files| files.write("/sdcard/big", &[b'x'; 1 << 20], 0o644))
        .expect("written");
    assert_eq!(wired.stdout("cat /sdcard/big /sdcard/big | head -c 3").await, "xxx");
    let statuses: Vec<_> = wired.phone.commands().into_iter().map(|record| record.status).collect();
    assert_eq!(statuses, [Some(141), Some(0)]);
}

#[tokio::test]
async fn recursive_script_ends() {
    let wired = Wired::new();
    wired.stdout("echo '/data/local/tmp/f' > /data/local/tmp/f; chmod 755 /data/local/tmp/f").await;
    let (status, _, err) = wired.all("/data/local/tmp/f").await;
    assert!(status != 0 && err.contains("nested too deeply"), "{err}");
    assert_eq!(wired.stdout("echo well").await, "well\n");
}

#[tokio::test]
async fn nesting_is_limited_before_the_stack_overflows() {
    let wired = Wired::new();
    let nested = |open: &str, times: usize, close: &str| {
        format!("{}echo in{}", open.repeat(times), close.repeat(times))
    };
    assert_eq!(wired.stdout(&nested("echo $(", 25, ")")).await, "in\n");
    assert_eq!(wired.stdout(&nested("(", 1, ")")).await, "in\n");
    for script in [
        nested("( ", 31, ")"),
        nested("echo $(", 31, ")"),
        nested("{ ", 31, "; }"),
        nested("sh -c \"$(", 15, ")\""),
    ] {
        wired.run(&script).await;
    }
    // Each text is nested as deeply as the parser allows, and runs the next.
    let deep = nested("( ", 25, ")").replace("echo in", "eval \"$NEXT\"");
    let (_, _, err) = wired.all(&format!("NEXT={}; export NEXT; {deep}", quoted(&deep))).await;
    assert!(err.contains("nested too deeply"), "{err}");
    assert_eq!(wired.stdout("echo well").await, "well\n");
}

#[tokio::test]
async fn fork_bomb_does_not_starve_others() {
    let wired = Wired::new();
    for script in [
        "f='eval \"$f\"; eval \"$f\"'; echo off; eval \"$f\" 2>/dev/null",
        "f='eval \"$f\" | eval \"$f\"'; echo off; eval \"$f\" 2>&1",
        "export f='sh -c \"$f\" | sh -c \"$f\"'; echo off; sh -c \"$f\" 2>/dev/null",
        "f='( eval \"$f\" ) & eval \"$f\"'; echo off; eval \"$f\" 2>&1",
    ] {
        let mut stream = wired.adb.open(&format!("exec:{script}")).await.expect("opened");
        let mut output = String::new();
        while !output.starts_with("off") {
            let mut chunk = [0; 1024];
            let read = stream.read(&mut chunk).await.expect("read");
            assert!(read > 0, "{script} ended after {output}");
            output.push_str(&String::from_utf8_lossy(&chunk[..read]));
        }
        assert_eq!(wired.stdout("echo well").await, "well\n");
    }
    // Their clients have disconnected, and they have ended.
    assert_eq!(wired.stdout(&format!("{}:; echo well", ": | ".repeat(100))).await, "well\n");
}

#[tokio::test]
async fn shell_memory_is_limited() {
    let wired = Wired::new();
    let tenfold = "x=$x$x$x$x$x$x$x$x$x$x;";
    let start = format!("x=0123456789;{}", tenfold.repeat(4));
    let many: String = (0..100).map(|n| format!("a{n}=$x;")).collect();
    let (status, out, err) = wired.all(&format!("{start}{many}echo reached")).await;
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(err.contains("out of memory"), "{err}");
    let (_, _, err) = wired.all(&format!("{start}echo \"{}\" {0}", "$x".repeat(500))).await;
    assert!(err.contains("argument list too long"), "{err}");
    // A pattern that would examine millions of files.
    let pattern = format!("echo /system/bin/*{}", "/../*".repeat(20));
    assert_eq!(wired.stdout(&pattern).await, format!("{}\n", &pattern[5..]));
    assert_eq!(
        wired.stdout("input keyevent --delay 18446744073709551615 3 3; date +%Y").await,
        "2034\n"
    );
}

#[test]
fn any_quoted_string_is_one_argument_and_runs_nothing_else() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let wired = runtime.block_on(async { Wired::new() });
    let check = |text: &str| {
        let seen = wired.phone.commands().len() as u64 + wired.phone.commands_dropped();
        let (status, out, _) = runtime.block_on(wired.all(&format!("printf %s {}", quoted(text))));
        let commands = wired.phone.commands();
        let now = commands.len() as u64 + wired.phone.commands_dropped();
        let last = commands.last().map(|record| record.argv.clone());
        let expected: Vec<String> = ["printf", "%s", text].map(str::to_owned).into();
        (status, now - seen, last.as_ref() == Some(&expected), out == text) == (0, 1, true, true)
    };
    for text in [
        "'; reboot #",
        "$(id)",
        "`id`",
        "a\nb",
        "\\",
        "'",
        "''",
        "\"",
        "!",
        "~",
        "*",
        "{a,b}",
        "",
        " ",
        "\t",
        "-n",
        "%s",
        "é日本🎉",
    ] {
        assert!(check(text), "{text:?}");
    }
    assert!(check(&"x'\"$(reboot)`".repeat(700)), "ten thousand characters");
    let strings = "[^\u{0}]{0,80}|[ -~]{0,40}|['\"\\\\$`;&|<>(){}\\n #*?!~%=a-c-]{0,30}";
    TestRunner::new(Config { cases: 600, failure_persistence: None, ..Config::default() })
        .run(&strings, |text| if check(&text) { Ok(()) } else { Err(TestCaseError::fail(text)) })
        .expect("every string");
}

/// Reads until the output ends with `end`.
async fn until(stream: &mut (impl tokio::io::AsyncRead + Unpin), end: &str) -> String {
    let mut output = String::new();
    while !output.ends_with(end) {
        let mut chunk = [0; 1024];
        let read = stream.read(&mut chunk).await.expect("read");
        assert!(read > 0, "ended after {output:?}");
        output.push_str(&String::from_utf8_lossy(&chunk[..read]));
    }
    output
}

/// Lets time pass, millisecond by millisecond, for those who sleep.
async fn pass(milliseconds: u32) {
    for _ in 0..milliseconds {
        tokio::time::advance(Duration::from_millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn endless_loop_ends_with_its_host() {
    let wired = Wired::new();
    for script in [
        "echo on; while true; do :; done",
        "echo on; until false; do x=1; done",
        "echo on; while do done",
        "echo on; f() { while :; do (:); done; }; f",
    ] {
        let mut stream = wired.adb.open(&format!("shell,v2,raw:{script}")).await.expect("opened");
        until(&mut stream, "on\n").await;
        // A clock paused by the test goes on, and others are served.
        pass(20).await;
        assert_eq!(wired.stdout("echo well").await, "well\n");
        // Each iteration takes some of the phone's time, so a running loop shows in it.
        let uptime = || wired.phone.world(|world| world.uptime());
        let before = uptime();
        pass(20).await;
        assert!(uptime() > before, "{script}");
        drop(stream);
        let ended = async {
            let mut before = Duration::ZERO;
            while before != uptime() {
                before = uptime();
                pass(5).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), ended).await.expect(script);
    }
}

#[tokio::test]
async fn sleeping_loop_waits_on_the_phones_clock() {
    let wired = Wired::new();
    let before = wired.phone.world(|world| world.uptime());
    let script = "i=0; while [ $i -lt 7 ]; do sleep 10; i=$((i + 1)); done; echo $i";
    assert_eq!(wired.stdout(script).await, "7\n");
    let passed = wired.phone.world(|world| world.uptime()) - before;
    assert!((70..75).contains(&passed.as_secs()), "{passed:?}");
}

#[tokio::test(start_paused = true)]
async fn background_command_has_a_process_id() {
    let wired = Wired::new();
    // `$!` is the program's own process id, available before the next command runs.
    let script = "logcat > /dev/null & p=$!; ps -o PID,NAME -p $p | tail -n 1 | wc -w; kill $p; wait $p; echo $?";
    assert_eq!(wired.stdout(script).await, "2\n143\n");
    assert_eq!(
        wired
            .stdout("logcat >/dev/null & kill -INT $!; kill -0 $! && kill -9 $!; wait $!; echo $?")
            .await,
        "137\n"
    );
    assert_eq!(wired.stdout("ps -A | grep -c logcat || :").await, "0\n");
}

#[tokio::test(start_paused = true)]
async fn stream_stays_open_while_a_background_command_may_write() {
    let wired = Wired::new();
    let mut stream =
        wired.adb.open("shell,raw:logcat -s Mark & echo started").await.expect("opened");
    until(&mut stream, "started\n").await;
    wired.stdout("log -t Mark hello").await;
    assert!(until(&mut stream, "hello\n").await.contains("Mark"));
    wired.stdout("pkill logcat").await;
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.expect("the end");
}

#[tokio::test(start_paused = true)]
async fn only_detached_background_commands_outlive_their_shell() {
    let wired = Wired::new();
    assert_eq!(wired.stdout("logcat > /sdcard/log 2>&1 & echo started").await, "started\n");
    assert_eq!(wired.stdout("pidof logcat | wc -w; pkill logcat").await, "1\n");
    let mut stream =
        wired.adb.open("shell,v2,raw:logcat -s Nothing & echo on").await.expect("opened");
    until(&mut stream, "on\n").await;
    drop(stream);
    let gone = async {
        while wired.stdout("ps -A").await.contains("logcat") {
            tokio::time::advance(Duration::from_secs(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("it is gone");
}

#[tokio::test]
async fn lines_piped_into_a_shell_run_one_by_one() {
    let wired = Wired::new();
    let mut stream = wired.adb.open("shell,raw:").await.expect("opened");
    stream
        .write_all(b"cd /sdcard\npwd\necho 'a\nb'\nnosuch\nexit 7\necho never\n")
        .await
        .expect("written");
    let mut output = String::new();
    stream.read_to_string(&mut output).await.expect("read");
    assert_eq!(
        output,
        "/sdcard\na\nb\n/system/bin/sh: <stdin>[5]: nosuch: inaccessible or not found\n"
    );
}

#[tokio::test]
async fn a_terminal_prompts_echoes_and_can_be_interrupted() {
    let wired = Wired::new();
    let mut stream = wired.adb.open("shell,pty:").await.expect("opened");
    let mut seen = String::new();
    let mut talk = async |keys: &str, until: &str| {
        stream.write_all(keys.as_bytes()).await.expect("written");
        seen.clear();
        while !seen.ends_with(until) {
            let mut chunk = [0; 1024];
            let read = stream.read(&mut chunk).await.expect("read");
            assert!(read > 0, "ended after {seen:?}");
            seen.push_str(&String::from_utf8_lossy(&chunk[..read]));
        }
        seen.clone()
    };
    assert_eq!(talk("", "$ ").await, "vp:/ $ ");
    assert_eq!(
        talk("ecgo\x7f\x7f\x7f\x7fecho hi\r", "$ ").await,
        "ecgo\x08 \x08\x08 \x08\x08 \x08\x08 \x08echo hi\r\nhi\r\nvp:/ $ "
    );
    assert_eq!(talk("false\r", "$ ").await, "false\r\n1|vp:/ $ ");
    let logcat = talk("logcat\r", "\n").await;
    assert!(logcat.starts_with("logcat"), "{logcat}");
    assert!(talk("\x03", "130|vp:/ $ ").await.contains("^C"));
    // An interrupted command ends, however often this happens.
    for _ in 0..50 {
        talk("{ cat; }\r", "cat; }\r\n").await;
        talk("\x03", "130|vp:/ $ ").await;
    }
    stream.write_all(b"\x04").await.expect("written");
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.expect("the end");
}

#[tokio::test]
async fn command_ends_when_its_client_disconnects() {
    let wired = Wired::new();
    let mut first = wired.adb.open("shell,v2,raw:logcat").await.expect("opened");
    let mut chunk = [0; 64];
    assert!(first.read(&mut chunk).await.expect("it talks") > 0);
    // A second shell is served at the same time.
    assert_eq!(wired.stdout("echo well").await, "well\n");
    drop(first);
    assert_eq!(wired.stdout("echo still").await, "still\n");
    let records = wired.phone.commands();
    assert_eq!(records[0].argv, ["logcat"]);
    assert_eq!((records[0].status, records[0].service.as_str()), (None, "shell,v2,raw"));
}

#[tokio::test]
async fn unplugged_phone_is_unreachable_until_plugged_in() {
    let wired = Wired::new();
    assert_eq!(wired.stdout("echo a").await, "a\n");
    wired.phone.unplug();
    assert!(thumbwire_adb::run(&wired.adb, "echo b").await.is_err());
    wired.phone.plug();
    assert_eq!(wired.stdout("echo c").await, "c\n");
    // A reboot shows as a disconnect.
    let _ = thumbwire_adb::run(&wired.adb, "reboot").await;
    assert!(thumbwire_adb::run(&wired.adb, "echo d").await.is_err());
    assert_eq!(wired.commands().last().map(Vec::as_slice), Some(["reboot".to_owned()].as_slice()));
}

#[tokio::test]
async fn rebooted_phone_boots_like_a_real_one() {
    let wired = Wired::new();
    wired.stdout("setprop debug.x 1; setprop persist.log.tag V; echo kept >/sdcard/kept").await;
    wired.stdout("am start -n com.android.settings/.Settings; sleep 200").await;
    assert!(wired.stdout("uptime").await.contains(" up  0:03, "));
    // Background commands: a program, and one within its own shell.
    wired.stdout("logcat >/sdcard/log 2>&1 & { logcat; : ; } >/sdcard/log2 2>&1 &").await;
    let left = async || wired.stdout("ps -A -o NAME").await.matches("logcat").count();
    assert_eq!(left().await, 2, "{}", wired.stdout("ps -A -o PID,PPID,NAME,ARGS").await);
    let _ = thumbwire_adb::run(&wired.adb, "reboot").await;
    wired.phone.plug();
    assert!(wired.stdout("uptime").await.contains(" up  0:00, "));
    assert_eq!(left().await, 0);
    let properties = "getprop debug.x; getprop persist.log.tag; getprop sys.boot_completed";
    assert_eq!(wired.stdout(properties).await, "\nV\n1\n");
    assert_eq!(wired.stdout("cat /sdcard/kept").await, "kept\n");
    assert!(wired.stdout("dumpsys window | grep mCurrentFocus").await.contains("launcher3"));
}

#[tokio::test]
async fn files_go_both_ways() {
    use thumbwire_adb::services::sync::{list, pull, push, stat};
    let wired = Wired::new();
    let bytes: Vec<u8> = (0..200_000_u32).map(|n| (n * 7 % 251) as u8).collect();
    push(&wired.adb, "/sdcard/new/folder/f.bin", 0o644, 1_700_000_000, bytes.as_slice())
        .await
        .expect("pushed");
    assert_eq!(pull(&wired.adb, "/sdcard/new/folder/f.bin", 1 << 20).await.expect("pulled"), bytes);
    let out = stat(&wired.adb, "/sdcard/new/folder/f.bin").await.expect("stat");
    assert_eq!((out.size, out.mtime), (200_000, 1_700_000_000));
    let names: Vec<String> = list(&wired.adb, "/sdcard/new")
        .await
        .expect("list")
        .into_iter()
        .map(|entry| entry.name)
        .collect();
    assert_eq!(names, ["folder"]);
    let refused =
        push(&wired.adb, "/system/x", 0o644, 0, b"x".as_slice()).await.expect_err("refused");
    assert!(refused.to_string().contains("Read-only file system"), "{refused}");
    assert!(
        pull(&wired.adb, "/nope", 10)
            .await
            .expect_err("refused")
            .to_string()
            .contains("No such file or directory")
    );
    assert_eq!(wired.stdout("md5sum /sdcard/new/folder/f.bin | head -c 32 | wc -c").await, "32\n");
}

#[tokio::test]
async fn interrupted_push_leaves_no_partial_file() {
    let wired = Wired::new();
    let mut stream = wired.adb.open("sync:").await.expect("opened");
    let name = b"/sdcard/half,33188";
    let mut sent = b"SEND".to_vec();
    sent.extend((name.len() as u32).to_le_bytes());
    sent.extend(name);
    sent.extend(b"DATA\x04\0\0\0half");
    // The second chunk is announced but never complete.
    sent.extend(b"DATA\x04\0\0\0ha");
    stream.write_all(&sent).await.expect("written");
    while wired.phone.files(|files| files.stat("/sdcard/half", true)).is_err() {
        tokio::task::yield_now().await;
    }
    drop(stream);
    let mut turns = 0;
    while wired.phone.files(|files| files.stat("/sdcard/half", true)).is_ok() {
        turns += 1;
        assert!(turns < 10_000, "it stays");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn unsupported_services_are_refused() {
    let wired = Wired::new();
    for service in
        ["jdwp:1", "abb", "track-devices", "tcp:80", "localabstract:nobody", "nonsense", ""]
    {
        assert!(wired.adb.open(service).await.is_err(), "{service}");
    }
    let mut stream = wired.adb.open("root:").await.expect("opened");
    let mut output = String::new();
    stream.read_to_string(&mut output).await.expect("read");
    assert_eq!(output, "adbd cannot run as root in production builds\n");
    let features = wired.adb.features().await.expect("features");
    assert!(features.has("shell_v2") && features.has("stat_v2") && !features.has("apex"));
}

#[tokio::test]
async fn raw_command_reads_all_input_sent_before_disconnect() {
    let wired = Wired::new();
    let sent = vec![b'x'; 300_000];
    let mut stream = wired.adb.open("exec:cat > /sdcard/kept; echo ended > /sdcard/end").await;
    let stream = stream.as_mut().expect("open");
    stream.write_all(&sent).await.expect("written");
    stream.shutdown().await.expect("closed");
    let there = |path: &str| wired.phone.files(|files| files.read(path));
    let until = async {
        while !there("/sdcard/end").is_ok_and(|end| end.as_ref() == b"ended\n") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), until).await.expect("it ends");
    assert!(there("/sdcard/kept").expect("there").as_ref() == sent);
}

#[tokio::test(start_paused = true)]
async fn idle_raw_command_ends_after_its_host_disconnects() {
    let wired = Wired::new();
    let stream = wired.adb.open("exec:logcat -s Nothing").await.expect("open");
    let runs = async || wired.stdout("ps -A").await.contains("logcat");
    while !runs().await {
        tokio::task::yield_now().await;
    }
    drop(stream);
    let gone = async {
        while runs().await {
            tokio::time::advance(Duration::from_secs(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(600), gone).await.expect("it is gone");
}

#[tokio::test(start_paused = true)]
async fn adbd_announces_its_port_and_restarts() {
    let wired = Wired::new();
    let asked = async |service: &str| {
        let mut stream = wired.adb.open(service).await.expect("open");
        let mut output = String::new();
        // The connection ends with the stream.
        let _ = stream.read_to_string(&mut output).await;
        output
    };
    assert_eq!(asked("tcpip:0").await, "invalid port\n");
    assert_eq!(asked("tcpip:5555").await, "restarting in TCP mode port: 5555\n");
    assert_eq!(wired.stdout("getprop service.adb.tcp.port").await, "5555\n");
    assert_eq!(asked("usb:").await, "restarting in USB mode\n");
    wired.phone.unplugged().await;
    wired.phone.plug();
    assert_eq!(wired.stdout("getprop service.adb.tcp.port").await, "0\n");
}

/// A program started by `exec` has the shell's process id (execve(2)), and `/proc` has its command
/// line (proc_pid_cmdline(5)).
#[tokio::test]
async fn exec_keeps_the_shells_process_id() {
    let wired = Wired::new();
    let output = wired.stdout("echo $$; exec ps -o PID,NAME").await;
    let (shell, listed) = output.split_once('\n').expect("two commands spoke");
    let mut rows = listed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert!(rows.any(|row| row == [shell, "ps"]), "{output}");
    let output = wired.stdout("echo $$; exec sh -c 'cat /proc/$$/cmdline' 'a b'").await;
    assert!(output.ends_with("\nsh\0-c\0cat /proc/$$/cmdline\0a b\0"), "{output:?}");
    let (status, _, why) = wired.all("cat /proc/99999/cmdline").await;
    assert_eq!((status, &*why), (1, "cat: /proc/99999/cmdline: No such file or directory\n"));
}
