//! The phone's programs over the wire, compared with captures of real phones.

use crate::common::{Wired, capture};
use thumbwire_adb::{exec, services::shell::read_to_end};
use thumbwire_test_support::quoted;
use thumbwire_virtual_android::Setup;

const MAPS: &str = "com.google.android.apps.maps";

/// The centre of the first node whose start tag contains `mark`, from a dump.
fn middle(dump: &str, mark: &str) -> (i32, i32) {
    let node = dump
        .split("<node")
        .find(|node| node.contains(mark))
        .unwrap_or_else(|| panic!("no {mark} in {dump}"));
    let bounds =
        node.split("bounds=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("bounds");
    let edges: Vec<i32> =
        bounds.split(|c: char| !c.is_ascii_digit()).filter_map(|edge| edge.parse().ok()).collect();
    (i32::midpoint(edges[0], edges[2]), i32::midpoint(edges[1], edges[3]))
}

async fn dump(wired: &Wired) -> String {
    wired.stdout("uiautomator dump /dev/tty").await
}

/// Opens Maps' search page with the field focused.
async fn searching() -> Wired {
    let wired = Wired::new();
    wired.stdout(&format!("monkey -p {MAPS} -c android.intent.category.LAUNCHER 1")).await;
    let (x, y) = middle(&dump(&wired).await, "search_omnibox_text_box");
    wired.stdout(&format!("input tap {x} {y}")).await;
    assert_eq!(wired.phone.world(|world| world.focused_text()).as_deref(), Some(""));
    wired
}

#[tokio::test]
async fn dump_has_the_format_of_real_dumps() {
    let wired = searching().await;
    let output = dump(&wired).await;
    let (xml, line) = output.rsplit_once("</hierarchy>").expect("complete");
    assert_eq!(line, "UI hierchary dumped to: /dev/tty\n");
    assert!(xml.starts_with("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\"><node index=\"0\" text=\"\""), "{xml}");
    assert!(xml.contains("class=\"android.widget.EditText\"") && xml.contains("focused=\"true\""));
    let names = |xml: &str| -> Vec<String> {
        let tag = xml
            .split("<node ")
            .nth(1)
            .and_then(|rest| rest.split('>').next())
            .expect("a node")
            .to_owned();
        tag.split("=\"")
            .filter_map(|part| part.rsplit(['"', ' ']).next())
            .filter(|name| {
                name.len() > 1 && name.chars().all(|c| c.is_ascii_lowercase() || c == '-')
            })
            .map(str::to_owned)
            .collect()
    };
    if let Some(real) = capture("uiautomator/301__window_dump.xml") {
        assert_eq!(names(xml), names(&real), "names and order of the attributes");
    }
    // Files: the default one, and an unwritable path, which goes unnoticed.
    assert_eq!(
        wired.stdout("uiautomator dump").await,
        "UI hierchary dumped to: /sdcard/window_dump.xml\n"
    );
    assert!(wired.stdout("cat /sdcard/window_dump.xml").await.ends_with("</hierarchy>"));
    if let Some(real) = capture("android-4.4.4/184-uiautomator-dump-badpath.out") {
        assert_eq!(wired.stdout("uiautomator dump /nope/x.xml").await, real);
    }
    let compressed = wired.stdout("uiautomator dump --compressed /dev/tty").await;
    assert!(compressed.len() < output.len() && compressed.contains("EditText"));
}

#[tokio::test]
async fn screenshot_is_an_opaque_png_of_the_screen() {
    let wired = Wired::new();
    let shot = async |command: &str| {
        let stream = exec(&wired.adb, command).await.expect("opened");
        read_to_end(stream, 64 << 20).await.expect("read")
    };
    let png = shot("screencap -p").await;
    let mut reader =
        png::Decoder::new(std::io::Cursor::new(png.as_slice())).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!((info.width, info.height, info.color_type), (1080, 2400, png::ColorType::Rgba));
    let frame = wired.phone.world(thumbwire_virtual_phone::World::frame);
    let pixel = |at: usize| &pixels[at * 4..at * 4 + 4];
    assert!(
        (0..1080 * 2400)
            .step_by(997)
            .all(|at| pixel(at)[3] == 255 && pixel(at)[..3] == frame.rgba[at * 4..at * 4 + 3])
    );
    let raw = shot("screencap").await;
    assert_eq!(raw.len(), 16 + 1080 * 2400 * 4);
    assert_eq!(raw[..16], [0x38, 4, 0, 0, 0x60, 9, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
    wired.stdout("screencap /sdcard/s.png").await;
    assert_eq!(
        wired.phone.files(|files| files.read("/sdcard/s.png")).expect("there").as_ref().len(),
        png.len()
    );
    let (status, _, err) = wired.all("screencap -p /nope/x.png").await;
    assert_eq!(
        (status, err.as_str()),
        (1, "Error opening file: /nope/x.png (No such file or directory)\n")
    );
}

#[tokio::test]
async fn ime_lists_enables_and_selects_as_on_android() {
    let keyboards = vec![thumbwire_virtual_phone::BroadcastKeyboard::Uiautomator2];
    let wired = Wired::made(Setup { keyboards, ..Setup::default() });
    let (latin, id) =
        ("com.android.inputmethod.latin/.LatinIME", "com.github.uiautomator/.AdbKeyboard");
    assert_eq!(wired.stdout("ime list -s").await, format!("{latin}\n"));
    assert_eq!(wired.stdout("ime list -a -s").await, format!("{latin}\n{id}\n"));
    let unknown = |what| format!("Unknown input method {id} cannot be {what} for user #0\n");
    assert_eq!(
        wired.all(&format!("ime set {id}")).await,
        (255, String::new(), unknown("selected"))
    );
    for how in ["now", "already"] {
        let output = format!("Input method {id}: {how} enabled for user #0\n");
        assert_eq!(wired.stdout(&format!("cmd input_method ime enable {id}")).await, output);
    }
    let output = format!("Input method {id} selected for user #0\n");
    assert_eq!(wired.stdout(&format!("ime set {id}")).await, output);
    assert_eq!(wired.stdout("settings get secure default_input_method").await, format!("{id}\n"));
    let dump = wired.stdout("dumpsys input_method").await;
    assert!(
        dump.contains(&format!("mCurId={id} ")) && dump.contains("mBoundToMethod=false"),
        "{dump}"
    );
    // No field has the focus: the action is returned as data (`AdbKeyboard.java` of
    // android-uiautomator-server).
    let output = wired
        .stdout("am broadcast -p com.github.uiautomator -a ADB_KEYBOARD_INPUT_TEXT --es text eA==")
        .await;
    let answer = "Broadcast completed: result=-1, data=\"ADB_KEYBOARD_INPUT_TEXT\"\n";
    assert!(output.ends_with(answer), "{output}");
    wired.stdout("ime reset").await;
    assert_eq!(wired.stdout("ime list -s").await, format!("{latin}\n"));
}

#[tokio::test]
async fn long_input_method_list_starts_like_a_real_one() {
    let Some(real) = capture("android-4.4.4/166-ime-list-a.out") else { return };
    let ours = Wired::new().stdout("ime list -a").await;
    let names = |text: &str| -> Vec<String> {
        text.split_whitespace()
            .filter_map(|word| word.split_once('='))
            .map(|(name, _)| name.to_owned())
            .collect()
    };
    let (real, ours) = (names(&real), names(&ours));
    assert!(ours.iter().all(|name| real.contains(name)), "{ours:?} of {real:?}");
}

#[tokio::test]
async fn typed_text_reaches_the_field() {
    let wired = searching().await;
    let mut expected = String::new();
    for text in ["'; reboot #", "$(id)", "a%sb", "100%", "\"q\" & <x>"] {
        wired.stdout(&format!("input text {}", quoted(text))).await;
        expected.push_str(&text.replace("%s", " "));
        assert_eq!(
            wired.phone.world(|world| world.focused_text()).as_deref(),
            Some(expected.as_str())
        );
    }
    assert!(dump(&wired).await.contains("&amp; &lt;x&gt;"));
    // If the key map lacks a character, nothing is typed.
    let (status, _, err) = wired.all("input text 'caf\u{e9}'").await;
    assert!(
        status == 255
            && err.contains("java.lang.NullPointerException: Attempt to get length of null array"),
        "{err}"
    );
    assert_eq!(wired.phone.world(|world| world.focused_text()), Some(expected));
    wired.stdout("input keyevent 67 KEYCODE_A 9").await;
    assert!(
        wired.phone.world(|world| world.focused_text()).is_some_and(|text| text.ends_with("<xa2"))
    );
}

#[tokio::test]
async fn input_errors_match_android() {
    let wired = Wired::new();
    for (command, status, words) in [
        ("input tap 5", 255, "java.lang.IllegalArgumentException: Argument expected after \"5\""),
        (
            "input tap a b",
            255,
            "java.lang.IllegalArgumentException: Error: Invalid arguments for command: tap",
        ),
        ("input text", 255, "java.lang.IllegalArgumentException: Argument expected after \"text\""),
        (
            "input motionevent JUMP 1 1",
            255,
            "java.lang.IllegalArgumentException: Unknown action: JUMP",
        ),
        ("input frob 1", 0, ""),
        ("input tap -5 -5", 0, ""),
        ("input touchscreen tap 5000 5000", 0, ""),
        ("input swipe 1 2 2147483647 -2147483648 0", 0, ""),
        ("input keyevent NOPE", 0, ""),
        ("input roll 1 1", 0, ""),
    ] {
        let (got, _, err) = wired.all(command).await;
        assert!(
            got == status && err.contains(words) && err.is_empty() == words.is_empty(),
            "{command}: {got} {err}"
        );
    }
    assert!(wired.stdout("input").await.starts_with("Usage: input [<source>]"));
}

#[tokio::test]
async fn starting_and_stopping_apps_prints_what_android_prints() {
    let wired = Wired::new();
    let maps = format!("{MAPS}/com.google.android.maps.MapsActivity");
    let start = |what: &str| format!("am start {what} 2>&1");
    assert_eq!(
        wired.stdout(&start(&format!("-n {maps}"))).await,
        format!("Starting: Intent {{ cmp={maps} }}\n")
    );
    // An activity that is already in front; Android 4.4 prints for it what this one prints for a
    // task behind others.
    let again = wired.stdout(&start(&format!("-n {maps}"))).await;
    assert!(again.ends_with("delivered to currently running top-most instance.\n"), "{again}");
    wired.stdout("input keyevent HOME").await;
    if let Some(real) = capture("android-4.4.4/122-am-start-again.out") {
        let real = real.replace("com.android.calculator2/.Calculator", &maps);
        assert_eq!(wired.stdout(&start(&format!("-n {maps}"))).await, real);
    }
    for (command, file) in [
        ("-n com.nope/.Nope", "128-am-start-missing.out"),
        ("-a no.such.ACTION", "130-am-start-noaction.out"),
    ] {
        if let Some(real) = capture(&format!("android-4.4.4/{file}")) {
            assert_eq!(wired.stdout(&start(command)).await, real, "{command}");
        }
    }
    let waited = wired.stdout(&format!("am start -W -S -n {maps}")).await;
    assert!(
        waited.contains("Stopping: ")
            && waited.contains("Status: ok\nLaunchState: COLD\n")
            && waited.ends_with("Complete\n"),
        "{waited}"
    );
    let focus = wired.stdout("dumpsys window | grep mCurrentFocus").await;
    assert!(
        focus.starts_with("  mCurrentFocus=Window{") && focus.contains(&format!(" u0 {maps}}}")),
        "{focus}"
    );
    assert!(wired.stdout("dumpsys window displays | grep mFocusedApp").await.contains(MAPS));
    wired.stdout(&format!("am force-stop {MAPS}")).await;
    assert_eq!(wired.phone.world(|world| world.foreground().package), "com.android.launcher3");
    assert_eq!(wired.all("am start").await.0, 255);
    let (status, _, err) =
        wired.all("monkey -p com.nope -c android.intent.category.LAUNCHER 1").await;
    assert!(status == 252 && err.contains("No activities found"));
    assert_eq!(
        wired.stdout("am broadcast -a com.x.Y").await,
        "Broadcasting: Intent { act=com.x.Y flg=0x400000 }\nBroadcast completed: result=0\n"
    );
}

#[tokio::test]
async fn packages_are_listed_and_found() {
    let wired = Wired::new();
    let all = wired.stdout("pm list packages").await;
    assert!(all.lines().any(|line| line == format!("package:{MAPS}")), "{all}");
    assert_eq!(wired.stdout("cmd package list packages").await, all);
    assert_eq!(wired.stdout("pm list packages launcher").await, "package:com.android.launcher3\n");
    let path = wired.stdout(&format!("pm path {MAPS}")).await;
    assert_eq!(
        wired.stdout(&format!("pm list packages -f {MAPS}")).await.trim_end(),
        format!("{}={MAPS}", path.trim_end())
    );
    assert_eq!(wired.all("pm path com.nope").await, (1, String::new(), String::new()));
    assert_eq!(wired.all("pm clear com.nope").await.2, "Failed\n");
    assert_eq!(wired.stdout(&format!("pm clear {MAPS}")).await, "Success\n");
    let brief =
        wired.stdout(&format!("cmd package resolve-activity --brief {MAPS} | tail -n 1")).await;
    assert_eq!(brief, format!("{MAPS}/com.google.android.maps.MapsActivity\n"));
    assert_eq!(
        wired.all("cmd nosuch x").await,
        (20, String::new(), "cmd: Can't find service: nosuch\n".to_owned())
    );
}

#[tokio::test]
async fn screen_can_be_resized_and_rotated() {
    let wired = Wired::new();
    assert_eq!(wired.stdout("wm size").await, "Physical size: 1080x2400\n");
    wired.stdout("wm size 540x1200").await;
    assert_eq!(
        wired.stdout("wm size; wm density").await,
        "Physical size: 1080x2400\nOverride size: 540x1200\nPhysical density: 420\n"
    );
    wired.stdout("wm density 210").await;
    assert_eq!(wired.stdout("wm density").await, "Physical density: 420\nOverride density: 210\n");
    wired.stdout("wm size reset; wm density reset").await;
    assert_eq!(wired.stdout("wm size").await, "Physical size: 1080x2400\n");
    assert_eq!(
        wired.all("wm size 12").await,
        (255, String::new(), "Error: bad size 12\n".to_owned())
    );
    wired
        .stdout("settings put system accelerometer_rotation 0; settings put system user_rotation 1")
        .await;
    assert!(dump(&wired).await.contains("<hierarchy rotation=\"1\">"));
    // The physical size stays upright (capture `200-wm-size-rotated`).
    assert_eq!(wired.stdout("wm size").await, "Physical size: 1080x2400\n");
    assert_eq!(
        wired.stdout("settings get system user_rotation; settings get system nope").await,
        "1\nnull\n"
    );
}

#[tokio::test]
async fn properties_describe_the_phone() {
    let wired = Wired::made(Setup { seed: 0x2a, ..Setup::default() });
    assert_eq!(
        wired.stdout("getprop ro.serialno; getprop ro.build.version.sdk; getprop no.such x").await,
        "VP0000002A\n34\nx\n"
    );
    let all = wired.stdout("getprop").await;
    let lines: Vec<&str> = all.lines().collect();
    assert!(
        lines.is_sorted_by_key(|line| line.split(']').next())
            && lines.contains(&"[sys.boot_completed]: [1]")
            && lines.len() > 40
    );
    assert_eq!(wired.all("setprop ro.serialno x").await.0, 1);
    assert_eq!(wired.stdout("setprop debug.x 1; getprop debug.x").await, "1\n");
    assert!(wired.stdout("dumpsys battery").await.contains("  level: "));
    assert_eq!(wired.all("dumpsys nope").await.2, "Can't find service: nope\n");
    assert!(wired.stdout("id").await.starts_with("uid=2000(shell) gid=2000(shell) groups="));
    assert_eq!(wired.stdout("date +%F").await, "2024-03-05\n");
    assert_eq!(
        wired.stdout("which ls; ls /system/bin/wm").await,
        "/system/bin/ls\n/system/bin/wm\n"
    );
    wired.stdout("log -p w -t MyTag hello there").await;
    assert!(wired.stdout("logcat -d -v brief MyTag:W '*:S'").await.ends_with("): hello there\n"));
    wired.stdout("logcat -c").await;
    assert_eq!(wired.stdout("logcat -d").await, "");
    let listed = wired.stdout("ls -l /sdcard/ | head -n 2; ls -ld /sdcard").await;
    assert!(
        listed.contains("drwxrws---") && listed.ends_with(" /sdcard -> /storage/emulated/0\n"),
        "{listed}"
    );
    assert_eq!(
        wired.all("ls /data").await,
        (1, String::new(), "ls: /data: Permission denied\n".to_owned())
    );
}

#[tokio::test]
async fn same_seed_and_commands_give_the_same_bytes() {
    let story = async |seed| {
        let wired = Wired::made(Setup { seed, ..Setup::default() });
        wired.stdout(&format!("monkey -p {MAPS} -c android.intent.category.LAUNCHER 1")).await;
        let (x, y) = middle(&dump(&wired).await, "search_omnibox_text_box");
        wired
            .stdout(&format!("input tap {x} {y}; input text restaurants; input keyevent 66"))
            .await;
        wired.stdout("input swipe 540 1800 540 900 400; sleep 90").await;
        let tree = dump(&wired).await;
        let stream = exec(&wired.adb, "screencap -p").await.expect("opened");
        (tree, read_to_end(stream, 64 << 20).await.expect("read"))
    };
    let first = story(7).await;
    assert!(first == story(7).await, "same seed, same bytes");
    assert!(first.0 != story(8).await.0, "another seed, another phone");
}

#[tokio::test]
async fn settings_app_and_program_share_values() {
    let wired = Wired::new();
    wired.stdout("am start -a android.settings.WIFI_SETTINGS").await;
    let shown = dump(&wired).await;
    let switch = shown.split("<node").find(|node| node.contains("android.widget.Switch"));
    let switch = switch.expect("a switch");
    assert!(switch.contains("checkable=\"true\" checked=\"true\""), "{switch}");
    let (x, y) = middle(&shown, "main_switch_bar");
    wired.stdout(&format!("input tap {x} {y}")).await;
    assert_eq!(wired.stdout("settings get global wifi_on").await, "0\n");
    assert!(dump(&wired).await.contains("checkable=\"true\" checked=\"false\""));
    wired.stdout("settings put global wifi_on 1").await;
    assert!(dump(&wired).await.contains("checkable=\"true\" checked=\"true\""));
}

#[tokio::test]
async fn dump_shows_only_the_open_dialog() {
    let wired = Wired::new();
    wired.stdout("am start -a android.settings.DISPLAY_SETTINGS").await;
    let (x, y) = middle(&dump(&wired).await, "Screen timeout");
    wired.stdout(&format!("input tap {x} {y}")).await;
    let shown = dump(&wired).await;
    assert!(shown.contains("android:id/alertTitle") && !shown.contains("recycler_view"));
    let root = shown.split("<node ").nth(1).expect("a root");
    assert!(!root.contains("bounds=\"[0,0]"), "the window is as large as the dialog: {root}");
    let windows = wired.stdout("dumpsys window windows").await;
    assert!(windows.contains("ty=APPLICATION ") && windows.contains("ty=BASE_APPLICATION "));
    wired.stdout("input keyevent BACK").await;
    assert!(dump(&wired).await.contains("recycler_view"));
}

/// What the comparison with toybox in `virtual-shell` cannot have: the phone's own files, processes
/// and log.
#[tokio::test]
async fn programs_know_the_phones_files_processes_and_log() {
    let wired = Wired::new();
    for (script, status, out) in [
        ("cd /data/local/tmp; cp /system/bin/ls b; chmod 755 b; ./b", 126, ""),
        ("ps -o %CPU,PID -p 1", 0, "%CPU   PID\n 0.0     1\n"),
        ("ps -u shell | grep -c adbd; ps -p 1 -o NAME=", 0, "1\ninit\n"),
        ("id -G | cut -d ' ' -f 1-3; id -un; id -Z", 0, "2000 1004 1007\nshell\nu:r:shell:s0\n"),
        ("which -a sh; which sh nosuch", 1, "/system/bin/sh\n/system/bin/sh\n"),
        ("df -h /sdcard | wc -l; df /sdcard | grep -c 1K-blocks", 0, "2\n1\n"),
        ("read x y </proc/uptime; [ -n \"$y\" ] && cat </proc/uptime | wc -w", 0, "2\n"),
        ("cd /sdcard; cp /proc/uptime u; wc -w < u; grep -c . /proc/uptime", 0, "2\n1\n"),
        ("tr '\\0' ' ' < /proc/$$/cmdline | wc -w | grep -c .", 0, "1\n"),
        ("log -t T x; logcat -vtag -d -s T | tail -n 1", 0, "I/T       : x\n"),
        ("logcat -v epoch -d -s T | tail -n 1 | grep -c '^ *[0-9]*\\.[0-9]* '", 0, "1\n"),
        ("/system/bin/echo a; exec printf %s b", 0, "a\nb"),
    ] {
        let (is, stdout, err) = wired.all(script).await;
        assert_eq!((is, stdout.as_str()), (status, out), "{script}: {err}");
    }
}

#[tokio::test]
async fn services_are_listed_without_transactions() {
    let wired = Wired::new();
    let listed = wired.stdout("service list").await;
    let (first, rows) = listed.split_once('\n').expect("rows");
    assert_eq!(first, format!("Found {} services:", rows.lines().count()));
    assert!(rows.starts_with("0\tSurfaceFlinger: [android.ui.ISurfaceComposer]\n"), "{rows}");
    assert!(rows.contains("\twindow: [android.view.IWindowManager]\n"));
    let names = wired.stdout("dumpsys -l").await;
    assert_eq!(names, wired.stdout("cmd -l").await);
    assert_eq!(names.lines().count(), rows.lines().count() + 1);
    assert_eq!(wired.stdout("service check activity").await, "Service activity: found\n");
    assert_eq!(wired.stdout("service check nope").await, "Service nope: not found\n");
    assert_eq!(
        wired.all("service call nope 1").await,
        (10, String::new(), "service: Service nope does not exist\n".to_owned())
    );
    assert_eq!(
        wired.stdout("service call activity 1 i32 2").await,
        "Result: Parcel(Error: 0xffffffffffffffb6 \"Not a data message\")\n"
    );
    assert!(wired.all("service").await.1.starts_with("Usage: service [-h|-?]\n"));
    // Services without a report or commands, as Android has them.
    assert_eq!(wired.all("dumpsys wifi").await, (0, String::new(), String::new()));
    assert_eq!(
        wired.all("cmd clipboard").await,
        (0, String::new(), "No shell command implementation.\n".to_owned())
    );
}

#[tokio::test]
async fn reports_describe_the_current_state() {
    let wired = Wired::new();
    wired.stdout(&format!("am start -n {MAPS}/com.google.android.maps.MapsActivity")).await;
    let short = wired.phone.world(|world| world.foreground().short());
    let activities = wired.stdout("dumpsys activity activities").await;
    for marker in ["    topResumedActivity=", "    Resumed: ", "  ResumedActivity: "] {
        let line = activities.lines().find(|line| line.starts_with(marker)).expect(marker);
        assert!(line.contains(&short), "{line}");
    }
    // The recorded tablet has the same three.
    if let Some(real) = capture("shell/activity/xiaomi-pad6_android14_dumpsys-activity.txt") {
        for marker in ["\n    topResumedActivity=", "\n    Resumed: ", "\n  ResumedActivity: "] {
            assert!(real.contains(marker), "{marker:?}");
        }
    }
    let pid = wired.phone.world(|world| world.pid_of(MAPS)).expect("it runs");
    let top = wired.stdout("dumpsys activity top").await;
    assert!(top.starts_with(&format!("TASK {MAPS} id=1 userId=0\n  ACTIVITY {short} ")), "{top}");
    assert!(top.contains(&format!("pid={pid}\n")), "{top}");
    if let Some(real) = capture("shell/am/dumpsys-activity_unknown.txt") {
        let name = "com.funnyenglish.app";
        assert_eq!(
            wired.stdout(&format!("dumpsys activity {name}")).await.trim(),
            real.trim_start_matches('\u{feff}').trim()
        );
        let missing = capture("shell/am/dumpsys-package_not-found.txt").expect("it lies beside");
        assert_eq!(wired.stdout(&format!("dumpsys package {name}")).await.trim(), missing.trim());
    }
    let package = wired.stdout(&format!("dumpsys package {MAPS}")).await;
    for part in [
        "Activity Resolver Table:\n  Non-Data Actions:\n      android.intent.action.MAIN:\n",
        "          Category: \"android.intent.category.LAUNCHER\"\n",
        &format!("\nPackages:\n  Package [{MAPS}] ("),
        "    userId=",
        "    versionCode=",
        "    versionName=",
        "    firstInstallTime=20",
    ] {
        assert!(package.contains(part), "{part:?}: {package}");
    }
    let all = wired.stdout("dumpsys package").await;
    let packages = wired.stdout("pm list packages").await;
    assert_eq!(all.matches("\n  Package [").count(), packages.lines().count());
    for (key, wakefulness) in [("", "Awake"), ("input keyevent 26; ", "Asleep")] {
        let power = wired.stdout(&format!("{key}dumpsys power")).await;
        assert!(power.contains(&format!("  mWakefulness={wakefulness}\n")), "{power}");
        assert!(power.contains(&format!("  mHoldingDisplaySuspendBlocker={}\n", key.is_empty())));
        let held = u8::from(key.is_empty());
        let display = format!("  PowerManagerService.Display: ref count={held}\n");
        assert!(power.contains(&display), "{power}");
    }
    wired.stdout("input keyevent 26").await;
    let display = wired.stdout("dumpsys display").await;
    assert!(display.contains("    mDisplayId=0\n") && display.contains("real 1080 x 2400"));
}

#[tokio::test]
async fn ps_prints_the_requested_columns() {
    let wired = Wired::new();
    wired.stdout(&format!("monkey -p {MAPS} -c android.intent.category.LAUNCHER 1")).await;
    let pid = wired.phone.world(|world| world.pid_of(MAPS)).expect("it runs");
    let rows = wired.stdout("ps -A -o PID,NAME").await;
    assert!(rows.starts_with("  PID NAME                       \n    1 init"), "{rows}");
    assert!(rows.contains(&format!("{pid:>5} {MAPS}")), "{rows}");
    assert_eq!(wired.stdout(&format!("pidof {MAPS}")).await, format!("{pid}\n"));
    assert!(!wired.stdout("ps").await.contains("init"), "without -A only the shell's own");
    assert_eq!(
        wired.all("ps -o NOPE").await,
        (1, String::new(), "ps: bad -o 'NOPE'\n            ^\n".into())
    );
    wired.stdout(&format!("am force-stop {MAPS}")).await;
    assert_eq!(wired.all(&format!("pidof {MAPS}")).await.0, 1);
}

#[tokio::test]
async fn night_mode_is_set_and_read() {
    let wired = Wired::new();
    assert_eq!(wired.stdout("cmd uimode night").await, "Night mode: no\n");
    assert_eq!(wired.stdout("cmd uimode night yes").await, "Night mode: yes\n");
    assert_eq!(wired.stdout("settings get secure ui_night_mode").await, "2\n");
    assert_eq!(wired.all("cmd uimode night maybe").await.0, 255);
}
