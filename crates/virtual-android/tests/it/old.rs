//! The phone as Android 4.4: programs' texts and the wire, compared with the recorded system.

use crate::common::{Wired, capture};
use thumbwire_adb::{Error, Transport as _, exec, services::shell::read_to_end};
use thumbwire_virtual_android::{ProgramStub, Setup};

const MAPS: &str = "com.google.android.apps.maps";

fn old() -> Wired {
    Wired::made(Setup::of_release("4.4").expect("4.4 is there"))
}

/// A command's output as bytes: an old phone reports no status, and its terminal mixes both
/// streams.
async fn raw(wired: &Wired, command: &str) -> Vec<u8> {
    let output = wired.run(command).await;
    assert_eq!((output.status, output.stderr.len()), (None, 0), "{command}");
    output.stdout
}

/// The same as text, with the terminal's line ends converted.
async fn stdout(wired: &Wired, command: &str) -> String {
    let text = String::from_utf8(raw(wired, command).await).expect("text");
    assert!(!text.replace("\r\n", "").contains('\n'), "{command}: {text:?}");
    text.replace("\r\n", "\n")
}

/// Outputs with the phone's own numbers: they have the recorded lines.
#[tokio::test]
async fn reports_contain_the_lines_of_the_recorded_phone() {
    let wired = old();
    // The fixed part of a line: its name, without what follows `=`, `:` or two spaces.
    let names = |text: &str| -> Vec<String> {
        let cut = |line: &str| line.split(['=', ':', '{']).next().unwrap_or_default().to_owned();
        text.lines().map(cut).filter(|name| !name.trim().is_empty()).collect()
    };
    for (name, command) in [
        ("035-dumpsys-battery", "dumpsys battery"),
        ("404-policy", "dumpsys window policy"),
        ("038-dumpsys-window-displays", "dumpsys window displays"),
        ("040-dumpsys-display", "dumpsys display"),
        ("302-dumpsys-power-off", "dumpsys power"),
        ("119-dumpsys-window-windows-calc", "dumpsys window windows"),
        ("118-dumpsys-activity-activities", "dumpsys activity activities"),
    ] {
        let Some(real) = capture(&format!("android-4.4.4/{name}.out")) else { return };
        let real = names(&real);
        let mut from = 0;
        for ours in names(&stdout(&wired, command).await) {
            // In the recorded order too, for lines that occur once.
            let place =
                real.iter().position(|name| *name == ours && !ours.starts_with("  Window #"));
            if ours.starts_with("  Window #") {
                continue;
            }
            assert!(place.is_some(), "{command}: {ours:?} is not in the recorded one");
            from = from.max(place.unwrap_or_default());
        }
        assert!(from > 0, "{command}");
    }
    if let Some(real) = capture("android-4.4.4/047-dumpsys-l.out") {
        for service in stdout(&wired, "dumpsys -l").await.lines() {
            assert!(real.lines().any(|line| line == service), "{service}");
        }
    }
}

#[tokio::test]
async fn wire_matches_an_old_adbd() {
    let wired = old();
    let banner = wired.adb.banner().await.expect("a banner");
    assert_eq!(
        banner.to_string(),
        "device::ro.product.name=virtual_old;ro.product.model=Virtual Phone 4.4;ro.product.device=vpold;"
    );
    assert!(!wired.adb.features().await.expect("features").has("shell_v2"));
    for service in ["exec:id", "shell,v2,raw:id", "shell,raw:id"] {
        let refused = wired.adb.open(service).await;
        assert!(matches!(refused, Err(Error::Refused { .. })), "{service}");
    }
    assert!(matches!(exec(&wired.adb, "id").await, Err(Error::Refused { .. })));
    // The longest name has 1,024 bytes.
    let name = |length: usize| format!("shell:: {}", "x".repeat(length - "shell:: ".len()));
    assert!(wired.adb.open(&name(1_024)).await.is_ok());
    assert!(matches!(wired.adb.open(&name(1_025)).await, Err(Error::Refused { .. })));
}

#[tokio::test]
async fn every_program_runs_in_a_terminal() {
    let wired = old();
    wired
        .phone
        .files(|files| files.write("/sdcard/b", b"a\nb\r\nc\0\xff", 0o644))
        .expect("written");
    assert_eq!(raw(&wired, "cat /sdcard/b").await, b"a\r\nb\r\r\nc\0\xff");
    let picture = raw(&wired, "screencap -p").await;
    assert!(picture.starts_with(b"\x89PNG\r\r\n\x1a\r\n"));
    if let Some(real) = capture("android-4.4.4/187-screencap-p-stdout.out") {
        // Parsed as text here, so only its start can be compared.
        assert!(real.contains("PNG"));
    }
    // An interactive shell prints its user.
    let stream = wired.adb.open("shell:").await.expect("a shell");
    let (mut reader, mut writer) = tokio::io::split(stream);
    tokio::io::AsyncWriteExt::write_all(&mut writer, b"exit\n").await.expect("written");
    let mut text = Vec::new();
    tokio::io::AsyncReadExt::read_to_end(&mut reader, &mut text).await.expect("read");
    assert_eq!(String::from_utf8_lossy(&text), "shell@vp:/ $ exit\r\n");
}

#[tokio::test]
async fn unquoted_script_arguments_are_split_and_globbed() {
    let wired = old();
    let usage = stdout(&wired, "input").await;
    for text in ["'a b'", "'*'", "'{a,b}'", "''", "'?'"] {
        let out = stdout(&wired, &format!("input text {text}")).await;
        let wrong = "Error: Invalid arguments for command: text\n";
        // `/d` is the only file with a one-letter name, so `?` expands to it.
        let expected = if text == "'?'" { String::new() } else { format!("{wrong}{usage}") };
        assert_eq!(out, expected, "{text}");
    }
    assert!(stdout(&wired, "monkey -p 'com.x 7'").await.contains("No activities found"));
    // `am` and `pm` quote theirs.
    assert_eq!(stdout(&wired, "pm path 'a b'").await, "");
}

#[tokio::test]
async fn old_am_prints_its_own_messages() {
    let wired = old();
    assert_eq!(
        stdout(&wired, &format!("monkey -p {MAPS} -c android.intent.category.LAUNCHER 1")).await,
        capture("android-4.4.4/149-monkey-1.out")
            .unwrap_or_else(|| "** SYS_KEYS has no physical keys but with factor 2.0%.\n".into())
    );
    assert_ne!(wired.phone.world(|world| world.foreground().package), MAPS);
    let out = stdout(
        &wired,
        &format!("monkey --pct-syskeys 0 -p {MAPS} -c android.intent.category.LAUNCHER 1"),
    )
    .await;
    assert!(out.starts_with("Events injected: 1\n## Network stats: "), "{out}");
    let top = wired.phone.world(|world| world.foreground());
    assert_eq!(top.package, MAPS);
    let out = stdout(&wired, &format!("am start -n {}", top.short())).await;
    assert_eq!(
        out,
        format!(
            "Starting: Intent {{ cmp={} }}\nWarning: Activity not started, its current task has been brought to the front\n",
            top.short()
        )
    );
    let windows = stdout(&wired, "dumpsys window windows").await;
    assert!(windows.contains("  mCurrentFocus=Window{"), "{windows}");
    assert!(
        stdout(&wired, "dumpsys activity").await.contains("    mResumedActivity: ActivityRecord{")
    );
    let all = stdout(&wired, "pm list packages -f").await;
    assert!(all.contains("package:/system/app/Settings.apk=com.android.settings\n"), "{all}");
    assert!(stdout(&wired, "pm list packages -U").await.starts_with("Error: Unknown option: -U\n"));
    let package = stdout(&wired, &format!("dumpsys package {MAPS}")).await;
    assert!(package.contains("    firstInstallTime=2009-01-01 00:00:00\n"), "{package}");
}

#[tokio::test]
async fn dumps_have_4_4_attributes_and_crash_on_emoji() {
    let wired = old();
    let dump = stdout(&wired, "uiautomator dump /dev/tty").await;
    let names = |dump: &str| -> Vec<String> {
        let tag = dump.split("<node ").nth(1).and_then(|rest| rest.split('>').next());
        let parts =
            tag.unwrap_or_default().split("=\"").filter_map(|part| part.rsplit(['"', ' ']).next());
        parts.filter(|name| name.len() > 1 && !name.contains('[')).map(str::to_owned).collect()
    };
    if let Some(real) = capture("android-4.4.4/185-uiautomator-dump-tty.out") {
        let names_of_real = names(&real);
        assert_eq!(names(&dump)[..names_of_real.len()], names_of_real);
    }
    assert!(!dump.contains("drawing-order") && !dump.contains("hint="));
    wired.phone.world(|world| {
        world.start(MAPS, None).expect("started");
        world.scene();
    });
    let (x, y) = (240, 100);
    stdout(&wired, &format!("input tap {x} {y}")).await;
    assert!(wired.phone.world(|world| world.type_char('\u{6f22}')));
    assert!(stdout(&wired, "uiautomator dump /dev/tty").await.contains("text=\"\u{6f22}\""));
    assert!(wired.phone.world(|world| world.type_char('\u{1f600}')));
    assert_eq!(stdout(&wired, "uiautomator dump /dev/tty").await, "Killed\n");
}

#[tokio::test]
async fn later_programs_are_missing() {
    let wired = old();
    for name in [
        "cmd", "head", "stat", "which", "tail", "md5sum", "pidof", "base64", "uname", "sed",
        "find", "sort", "xargs", "cut", "tr", "timeout", "nohup", "toybox", "sha1sum", "seq",
        "printf",
    ] {
        let missing = format!("/system/bin/sh: {name}: not found\n");
        assert_eq!(stdout(&wired, &format!("{name} x")).await, missing);
        assert_eq!(
            stdout(&wired, &format!("ls /system/bin/{name}")).await,
            format!("/system/bin/{name}: No such file or directory\n")
        );
    }
    for (command, output) in [
        ("toolbox", "Toolbox!\n"),
        ("toolbox nope", "nope: no such tool\n"),
        ("toolbox date +%Z", "GMT\n"),
        ("md5", "md5 file ...\n"),
        ("md5 /nope", "could not open /nope, No such file or directory\n"),
        ("echo -n abc > /sdcard/f; md5 /sdcard/f", "900150983cd24fb0d6963f7d28e17f72  /sdcard/f\n"),
        ("type md5", "md5 is a tracked alias for /system/bin/md5\n"),
    ] {
        assert_eq!(stdout(&wired, command).await, output, "{command}");
    }
    assert_eq!(stdout(&wired, "date +%Z").await, "GMT\n");
    assert!(
        stdout(&wired, "ps")
            .await
            .contains("\nsystem    1432  402   547488 51248 00000000 00000000 S system_server\n")
    );
    assert_eq!(stdout(&wired, "getprop ro.build.version.release").await, "4.4.4\n");
    assert_eq!(stdout(&wired, "getprop ro.build.version.sdk").await, "19\n");
}

#[tokio::test]
async fn program_stub_replaces_output() {
    for wired in [old(), Wired::new()] {
        let odd = ProgramStub { out: b"x\n".to_vec(), err: b"Killed\n".to_vec(), status: 137 };
        wired.phone.stub_program("uiautomator", Some(odd));
        let output = wired.run("uiautomator dump; echo $?").await;
        let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
        assert!(text.starts_with("x\n") && text.ends_with("137\n"), "{text}");
        wired.phone.stub_program("uiautomator", None);
        assert!(wired.run("uiautomator dump").await.stdout.starts_with(b"UI hierchary"));
    }
}

#[tokio::test]
async fn files_go_both_ways_through_small_packets() {
    let wired = old();
    let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n % 251) as u8).collect();
    wired.phone.files(|files| files.write("/sdcard/f", &bytes, 0o644)).expect("written");
    let stream = wired.adb.open("sync:").await.expect("sync");
    drop(stream);
    let stream = wired.adb.open("shell:cat /sdcard/f").await.expect("opened");
    let through = read_to_end(stream, 1 << 20).await.expect("read");
    let cooked: Vec<u8> =
        bytes.iter().flat_map(|&b| if b == b'\n' { vec![b'\r', b'\n'] } else { vec![b] }).collect();
    assert_eq!(through, cooked);
}

/// getopt(3): there are no options after `--`.
#[tokio::test]
async fn log_filters_may_follow_a_double_dash() {
    let wired = old();
    wired.phone.world(|world| world.write_log('I', "-c", 7, "kept"));
    let text = stdout(&wired, "logcat -d -v brief -- -c:V '*:S'").await;
    assert_eq!(text, "--------- beginning of /dev/log/main\nI/-c      (    7): kept\n");
}
