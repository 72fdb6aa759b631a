//! Thumbwire's helper on the virtual phone, from a host's end of the real wire: starting, ending,
//! sharing, requests.

use crate::common::Wired;
use crate::common::helper::{JAR, RunningHelper, Talk, command, framed, in_a_terminal, piece};
use proptest::prelude::*;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::Duration;
use thumbwire_adb::Transport as _;
use thumbwire_adb::services::sync;
use thumbwire_virtual_android::{ClockMode, Profile, Setup};
use tokio::io::AsyncWriteExt as _;
use tokio::time::{Instant, timeout};

const MAPS: &str = "com.google.android.apps.maps/com.google.android.maps.MapsActivity";
const NAME: &str = "thumbwire-00112233445566aa";

fn of_release(name: &str) -> Wired {
    Wired::made(Setup::of_release(name).expect("a release"))
}

async fn helped(wired: &Wired) -> (RunningHelper, Talk) {
    let held = RunningHelper::started(wired, NAME).await;
    let talk = Talk::known(wired, NAME).await;
    (held, talk)
}

#[tokio::test(start_paused = true)]
async fn helper_shows_its_key_to_the_shell_and_to_hosts() {
    let wired = Wired::new();
    let (_held, mut talk) = helped(&wired).await;
    let hello = talk.ask(json!({"op": "hello", "protocol": 1, "more": [1]})).await;
    assert_eq!(
        (&hello["protocol"], &hello["sdk"], &hello["uid"]),
        (&json!(1), &json!(34), &json!(2000))
    );
    let file = format!("/data/local/tmp/{NAME}.key");
    assert_eq!(wired.stdout(&format!("cat {file}")).await, hello["key"].as_str().expect("text"));
    assert!(wired.stdout(&format!("ls -l {file}")).await.starts_with("-rw-------"));
    let shown = wired.stdout("ps -A -o PID,ARGS").await;
    assert!(shown.lines().any(|line| line.contains("app_process") && line.contains(NAME)));
}

#[tokio::test(start_paused = true)]
async fn hosts_share_a_helper_that_outlives_its_shell() {
    let wired = Wired::new();
    RunningHelper::detached(&wired, NAME).await;
    let (mut one, mut other) = (Talk::known(&wired, NAME).await, Talk::known(&wired, NAME).await);
    assert_eq!(one.ask(json!({"op": "clip_set", "text": "x"})).await["ok"], true);
    assert_eq!(other.ask(json!({"op": "clip_get"})).await["text"], "x");
    assert_eq!(one.ask(json!({"op": "bye"})).await["ok"], true);
    assert_eq!(one.answer().await, None);
    assert_eq!(other.ask(json!({"op": "tree"})).await["ok"], true);
    // UiAutomation is free when the last host has left; the helper ends some time later.
    drop(other);
    assert!(wired.stdout("uiautomator dump /dev/tty").await.contains("<hierarchy"));
    assert_eq!(Talk::known(&wired, NAME).await.ask(json!({"op": "tree"})).await["ok"], true);
    wired.stdout("sleep 11").await;
    assert!(wired.adb.open(&format!("localabstract:{NAME}")).await.is_err());
    assert!(!wired.stdout("ps -A -o ARGS").await.contains(NAME));
    // A signal or a reboot ends it at once; `bye` can, too.
    for end in ["kill $(pidof app_process)", "reboot", "bye"] {
        RunningHelper::detached(&wired, NAME).await;
        let mut talk = Talk::known(&wired, NAME).await;
        match end {
            "reboot" => drop(wired.adb.open("reboot:").await.expect("taken")),
            "bye" => {
                assert_eq!(talk.ask(json!({"op": "bye", "all": true})).await["ok"], true);
            }
            kill => drop(wired.stdout(kill).await),
        }
        assert_eq!(talk.answer().await, None, "{end}");
        if end == "reboot" {
            wired.phone.plug();
        }
        tokio::task::yield_now().await;
        assert!(wired.adb.open(&format!("localabstract:{NAME}")).await.is_err(), "{end}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_release_starts_the_helper_alike() {
    for release in Setup::releases().skip(1) {
        let wired = of_release(release);
        let (_held, mut talk) = helped(&wired).await;
        let answer = talk.ask(json!({"op": "bye"})).await;
        assert_eq!(answer, json!({"id": 2, "ok": true}), "{release}");
    }
}

#[tokio::test(start_paused = true)]
async fn old_phones_first_helper_start_is_slow() {
    let wired = of_release("4.4");
    for (nth, least) in [(0, 10_400), (1, 0)] {
        let name = format!("{NAME}{nth}");
        let before = wired.phone.world(|world| world.uptime());
        let stream = in_a_terminal(&wired, &name).await;
        let took = wired.phone.world(|world| world.uptime()) - before;
        assert!((least..least + 2_000).contains(&took.as_millis()), "{took:?}");
        let mut talk = Talk::opened(&wired, &name).await;
        let hello = talk.ask(json!({"op": "hello", "protocol": 1})).await;
        assert_eq!(hello["sdk"], 19);
        // Closing the terminal hangs up.
        drop(stream);
        assert_eq!(talk.answer().await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn runtime_failures_print_the_phones_errors() {
    let start = |path: &str| {
        format!("CLASSPATH={path} app_process /system/bin org.thumbwire.helper.Main x")
    };
    // The reason is in the log only.
    let no_class = "Aborted \n";
    let wired = Wired::new();
    for path in ["/data/local/tmp/other.jar", "", "/system/framework/am.jar"] {
        let output = wired.all(&start(path)).await;
        assert_eq!(output, (134, String::new(), no_class.to_owned()), "{path}");
    }
    assert!(wired.phone.remove_helper() && !wired.phone.remove_helper());
    assert_eq!(wired.all(&start(JAR)).await, (134, String::new(), no_class.to_owned()));
    let wired = Wired::made(Setup { helper: false, ..Setup::default() });
    assert_eq!(wired.all(&start(JAR)).await.2, no_class);
    // A writable copy is refused since Android 14.
    for (release, status) in [("13", 0), ("14", 134), ("16", 134)] {
        let wired = of_release(release);
        wired
            .stdout(&format!("cp {JAR} /data/local/tmp/c.jar; chmod 644 /data/local/tmp/c.jar"))
            .await;
        let output = wired.all(&start("/data/local/tmp/c.jar")).await;
        assert_eq!((output.0, output.2.as_str()), (status, ""), "{release}");
        wired.stdout("chmod 444 /data/local/tmp/c.jar").await;
        assert_eq!(wired.all(&start("/data/local/tmp/c.jar")).await.0, 0, "{release}");
    }
    // Dalvik has no directory for its classes, and prints nothing.
    let wired = of_release("4.4");
    let out = "; echo $?";
    let output = wired.run(&(start(JAR) + out)).await;
    assert_eq!(String::from_utf8_lossy(&output.stdout), "134\r\n");
    let elsewhere = "ANDROID_DATA=/data/local/tmp ";
    let output =
        wired.run(&(start(JAR).replace("CLASSPATH", &format!("{elsewhere}CLASSPATH")) + out)).await;
    assert_eq!(String::from_utf8_lossy(&output.stdout), "134\r\n");
}

/// An archive with one stored entry.
fn archive(name: &str, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut bytes);
    let entry = archive.new_file(name).compression_method(CompressionMethod::STORE);
    let (mut entry, config) = entry.start().expect("started");
    let mut writer = config.wrap(&mut entry);
    writer.write_all(content).expect("written");
    let (_, descriptor) = writer.finish().expect("finished");
    entry.finish(descriptor).expect("finished");
    archive.finish().expect("finished");
    bytes
}

#[tokio::test(start_paused = true)]
async fn pushed_archive_with_the_class_starts_the_helper() {
    let classes = b"dex\n035\0 \x1bLorg/thumbwire/helper/Main;\0 and more";
    let another = b"dex\n035\0 \x1cLorg/thumbwire/helper/Maine;\0";
    for (name, content, status) in [
        ("classes.dex", &classes[..], 0),
        ("classes.dex", another, 134),
        ("classes.dex", &classes[1..], 134),
        ("other.dex", classes, 134),
    ] {
        let wired = Wired::new();
        wired.phone.remove_helper();
        let bytes = archive(name, content);
        sync::push(&wired.adb, JAR, 0o100_444, 1, &bytes[..]).await.expect("pushed");
        let command = format!("CLASSPATH={JAR} app_process / org.thumbwire.helper.Main x");
        assert_eq!(
            wired.all(&command).await.0,
            status,
            "{name} {}",
            String::from_utf8_lossy(content)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn second_helper_of_a_name_and_one_without_do_not_start() {
    let wired = Wired::new();
    let (_held, mut talk) = helped(&wired).await;
    let hello = json!({"op": "hello", "protocol": 1});
    let key = talk.ask(hello.clone()).await["key"].clone();
    let second = RunningHelper::begun(&wired, NAME).await.end().await;
    assert_eq!(second, ("java.io.IOException: Address already in use\n".to_owned(), Some(1)));
    assert_eq!(talk.ask(hello).await["key"], key);
    assert_eq!(wired.all(&command("")).await.0, 2);
    // One that speaks another version of the wire takes nothing from the others.
    let mut newer = Talk::opened(&wired, NAME).await;
    let answer = newer.ask(json!({"op": "hello", "protocol": 2})).await;
    assert_eq!(answer["error"], "unsupported");
    assert_eq!(newer.answer().await, None);
    assert_eq!(talk.ask(json!({"op": "clip_get"})).await["ok"], true);
}

#[tokio::test(start_paused = true)]
async fn clipboard_is_the_phones() {
    let wired = Wired::new();
    let (_held, mut talk) = helped(&wired).await;
    let empty = talk.ask(json!({"op": "clip_get"})).await;
    assert_eq!(empty, json!({"id": 2, "ok": true, "text": null}));
    let text = "né 漢字 😀\n'; reboot";
    assert_eq!(
        talk.ask(json!({"op": "clip_set", "text": text})).await,
        json!({"id": 3, "ok": true})
    );
    assert_eq!(
        wired.phone.world(|world| world.clipboard().map(str::to_owned)).as_deref(),
        Some(text)
    );
    wired.phone.world(|world| world.set_clipboard("from an app"));
    let answer = talk.ask(json!({"op": "clip_get"})).await;
    assert_eq!(answer["text"], "from an app");
    let longest = "😀".repeat(100_000);
    assert_eq!(talk.ask(json!({"op": "clip_set", "text": longest})).await["ok"], true);
    let answer = talk.ask(json!({"op": "clip_set", "text": format!("{longest}x")})).await;
    assert_eq!(answer["error"], "too_large");
    for bad in [json!({"op": "clip_set"}), json!({"op": "clip_set", "text": 5})] {
        assert_eq!(talk.ask(bad).await["message"], "`text` is not a string");
    }
    assert!(wired.phone.world(|world| world.clipboard() == Some(longest.as_str())));
}

/// Two fingers on a diagonal around the middle of the map.
fn pinch(from: i32, to: i32, ms: u64) -> Value {
    let finger = |sign: i32| {
        let at = |half: i32| (540 + sign * half, 1_200 - sign * half);
        let ((x1, y1), (x2, y2)) = (at(from), at(to));
        json!([[0, x1, y1], [ms, x2, y2]])
    };
    json!({"op": "touch", "fingers": [finger(-1), finger(1)]})
}

#[tokio::test(start_paused = true)]
async fn two_fingers_are_seen_by_the_app() {
    let wired = Wired::new();
    wired.stdout(&format!("am start -n {MAPS}")).await;
    let (_held, mut talk) = helped(&wired).await;
    let before = wired.phone.world(|world| (world.frame(), world.uptime()));
    assert_eq!(talk.ask(pinch(200, 400, 300)).await, json!({"id": 2, "ok": true}));
    let (close, took) = wired.phone.world(|world| (world.frame(), world.uptime() - before.1));
    assert!(close != before.0, "the map is larger");
    assert!((300..400).contains(&took.as_millis()), "{took:?}");
    let log = wired.stdout("logcat -d -s VirtualInput:D").await;
    assert!(log.contains("pinch 540,1200 by 1.8") && log.contains("map_view"), "{log}");
    assert_eq!(talk.ask(pinch(420, 200, 300)).await["ok"], true);
    assert!(wired.phone.world(|world| world.frame()) == before.0);
    // One finger taps.
    let tap = json!({"op": "touch", "fingers": [[[0, 540, 200]]]});
    talk.ask(tap).await;
    assert!(wired.phone.world(|world| world.frame()) != before.0);
    let answer = talk.ask(json!({"op": "touch"})).await;
    let what = "`fingers` is not a list of lists of points";
    assert!(answer["message"].as_str().expect("words").starts_with(what), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn cancelled_gesture_leaves_no_finger_on_the_screen() {
    let wired =
        Wired::made(Setup { clock: ClockMode::Real, profile: Profile::Pixel, ..Setup::default() });
    wired.stdout(&format!("am start -W -n {MAPS}")).await;
    let (_held, mut talk) = helped(&wired).await;
    let gesture = talk.send(pinch(200, 400, 30_000)).await;
    let cancel = talk.ask_both(json!({"op": "cancel", "of": gesture})).await;
    assert!(cancel.iter().any(|answer| answer["error"] == "cancelled"), "{cancel:?}");
    // A finger that had stayed would make this a second one, which taps nothing.
    let before = wired.phone.world(|world| world.frame());
    talk.ask(json!({"op": "touch", "fingers": [[[0, 540, 200]]]})).await;
    assert!(wired.phone.world(|world| world.frame()) != before);
}

#[tokio::test(start_paused = true)]
async fn unknown_op_is_reported_and_bad_frame_disconnects() {
    let wired = Wired::new();
    let (_held, mut talk) = helped(&wired).await;
    assert_eq!(talk.ask(json!({"op": "fly"})).await["error"], "unsupported");
    for (call, what) in [
        (json!({"op": "call_service"}), "component"),
        (json!({"op": "call_service", "component": "x"}), "component"),
        (json!({"op": "call_service", "component": "a/b", "extras": [["k"]]}), "extras"),
        (json!({"op": "call_service", "component": "a/b", "extras": {"k": "v"}}), "extras"),
        (json!({"op": "call_service", "component": "a/b", "callbacks": "c"}), "callbacks"),
        (json!({"op": "call_service", "component": "a/b", "result_extras": [1]}), "result_extras"),
        (json!({"op": "call_service", "component": "a/b", "limit_ms": -1}), "limit_ms"),
    ] {
        let answer = talk.ask(call).await;
        assert_eq!(answer["error"], "malformed", "{answer}");
        assert!(answer["message"].as_str().expect("words").contains(what), "{answer}");
    }
    for (bytes, error) in [
        (framed(b"[]"), "malformed"),
        (framed(b"{\"op\":\"bye\"}"), "malformed"),
        (framed(b"\xff\xfe"), "malformed"),
        (framed("[".repeat(5_000).as_bytes()), "malformed"),
        (vec![0xff; 8], "too_large"),
        (vec![0, 0x80, 0, 0, 0, 0, 0, 1], "too_large"),
    ] {
        let mut talk = Talk::opened(&wired, NAME).await;
        talk.stream.write_all(&bytes).await.expect("written");
        let answer = talk.answer().await.expect("an answer");
        assert_eq!((&answer["id"], &answer["error"]), (&json!(0), &json!(error)));
        assert_eq!(talk.answer().await, None);
    }
    assert_eq!(talk.ask(json!({"op": "cancel", "of": 99})).await["cancelled"], false);
}

#[tokio::test(start_paused = true)]
async fn signal_reboot_or_closed_shell_ends_the_helper() {
    let wired = Wired::new();
    let (held, mut talk) = helped(&wired).await;
    wired.stdout("kill $(pidof app_process)").await;
    assert_eq!(talk.answer().await, None);
    assert_eq!(held.end().await.1, Some(143));
    let (held, mut talk) = helped(&wired).await;
    drop(held);
    assert_eq!(talk.answer().await, None);
    let (_held, mut talk) = helped(&wired).await;
    wired.adb.open("reboot:").await.expect("taken");
    assert_eq!(talk.answer().await, None);
    wired.phone.plug();
    assert!(wired.adb.open(&format!("localabstract:{NAME}")).await.is_err());
    helped(&wired).await;
}

#[tokio::test(start_paused = true)]
async fn helper_exits_after_ten_idle_minutes() {
    let wired = Wired::new();
    let (mut held, mut talk) = helped(&wired).await;
    for _ in 0..3 {
        wired.stdout("sleep 500").await;
        talk.ask(json!({"op": "cancel", "of": 9})).await;
    }
    wired.stdout("sleep 601").await;
    assert_eq!(piece(&mut held.stream).await, Some((3, vec![0])));
    let (mut held, _talk) = helped(&wired).await;
    let began = Instant::now();
    assert_eq!(piece(&mut held.stream).await, Some((3, vec![0])));
    assert_eq!(began.elapsed().as_secs(), 600);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn garbage_from_strangers_does_not_affect_the_host(
        pieces in proptest::collection::vec(garbage(), 1..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let wired = Wired::new();
            let (_held, mut other) = helped(&wired).await;
            let mut talk = Talk::opened(&wired, NAME).await;
            for piece in &pieces {
                // A disconnected client cannot write.
                if talk.stream.write_all(piece).await.is_err() {
                    break;
                }
            }
            let _ = timeout(Duration::from_secs(5), async {
                while let Some(answer) = talk.answer().await {
                    assert!(answer["ok"] == true || answer["error"].is_string(), "{answer}");
                }
            }).await;
            assert_eq!(other.ask(json!({"op": "cancel", "of": 1})).await["ok"], true);
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn garbage_from_the_host_ends_at_most_the_helper(
        pieces in proptest::collection::vec(garbage(), 1..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let wired = Wired::new();
            let (held, mut talk) = helped(&wired).await;
            for piece in &pieces {
                if talk.stream.write_all(piece).await.is_err() {
                    break;
                }
            }
            let _ = timeout(Duration::from_secs(5), async {
                while let Some(answer) = talk.answer().await {
                    assert!(answer["ok"] == true || answer["error"].is_string(), "{answer}");
                }
            }).await;
            drop(talk);
            assert_eq!(held.end().await.1, Some(0));
            helped(&wired).await;
        });
    }
}

/// Bytes, frames of bytes, and frames of almost valid requests.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..60);
    let word = prop_oneof![
        Just("hello".to_owned()),
        Just("call_service".to_owned()),
        Just("touch".to_owned()),
        Just("clip_set".to_owned()),
        Just("cancel".to_owned()),
        "[a-z]{0,5}",
    ];
    let value = prop_oneof![
        any::<u32>().prop_map(Value::from),
        ".{0,9}".prop_map(Value::from),
        Just(json!([["a", "b"]])),
        Just(json!(["x"])),
        Just(Value::Null),
    ];
    let request = (any::<u8>(), word, value.clone(), value).prop_map(|(id, op, one, two)| {
        let request = json!({"id": id, "op": op, "component": one, "extras": two, "of": 1});
        framed(request.to_string().as_bytes())
    });
    prop_oneof![bytes(), bytes().prop_map(|bytes| framed(&bytes)), request]
}
