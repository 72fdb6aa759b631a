//! Programs that automation tools push to a phone and start, on a phone that lacks their class,
//! provider, service or executable: it answers as Android does. A test for each helper.

use crate::common::Wired;
use thumbwire_virtual_android::{FileError, Setup};

/// Status, and both outputs together as a terminal shows them; an old phone reports no status.
async fn answer(wired: &Wired, command: &str) -> (Option<i32>, String) {
    let output = wired.run(command).await;
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text").replace("\r\n", "\n");
    (output.status, text(output.stdout) + &text(output.stderr))
}

fn phones() -> impl Iterator<Item = (&'static str, Wired)> {
    let made = |release| (release, Wired::made(Setup::of_release(release).expect("known")));
    ["4.4", "9", "11", "14", "16"].into_iter().map(made)
}

fn old(release: &str) -> bool {
    release == "4.4"
}

/// Puts a file where tools push theirs, with a mode.
fn push(wired: &Wired, name: &str, bytes: &[u8]) {
    let path = format!("/data/local/tmp/{name}");
    let written: Result<(), FileError> =
        wired.phone.files(|files| files.write(&path, bytes, 0o644));
    written.expect("there is room");
}

#[tokio::test]
async fn uiautomator2_server_has_no_instrumentation() {
    let name = "io.appium.uiautomator2.server.test/androidx.test.runner.AndroidJUnitRunner";
    for (release, wired) in phones() {
        let command = format!("am instrument -w -r -e debug false {name}");
        let (status, text) = answer(&wired, &command).await;
        let lines: Vec<&str> = text.lines().collect();
        let error = format!(
            "INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{{{name}}}"
        );
        let id = "INSTRUMENTATION_STATUS: id=ActivityManagerService";
        let first: [&str; 2] = if old(release) { [id, &error] } else { [&error, id] };
        assert_eq!(lines[..2], first, "{release}");
        assert_eq!(lines[2], "INSTRUMENTATION_STATUS_CODE: -1", "{release}");
        let thrown = format!("android.util.AndroidException: INSTRUMENTATION_FAILED: {name}");
        assert_eq!(lines[3], thrown, "{release}");
        assert!(lines[4].starts_with("\tat com.android.commands.am."), "{release}: {text}");
        assert_eq!(status, (!old(release)).then_some(1), "{release}");
        // Without -w nobody waits for a status.
        let (_, text) = answer(&wired, &format!("am instrument {name}")).await;
        assert!(text.starts_with(&thrown), "{release}: {text}");
        let (_, text) = answer(&wired, "pm list instrumentation").await;
        assert_eq!(text, "", "{release}");
    }
}

#[tokio::test]
async fn classes_that_no_file_contains_abort() {
    for (release, wired) in phones() {
        for command in [
            "CLASSPATH=/data/local/tmp/scrcpy-server.jar app_process / com.genymobile.scrcpy.Server 2.4",
            "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main",
            "CLASSPATH=/data/local/tmp/maxim.jar exec app_process /system/bin tv.panda.test.monkey.Monkey",
            "app_process -Djava.class.path=/data/local/tmp/x.jar / com.genymobile.scrcpy.Server",
        ] {
            let (status, text) = answer(&wired, command).await;
            assert_eq!(text, "Aborted \n", "{release}: {command}");
            assert_eq!(status, (!old(release)).then_some(134), "{release}: {command}");
        }
        let log = answer(&wired, "logcat -d -s appproc").await.1;
        let reason = "ERROR: could not find class 'com.genymobile.scrcpy.Server'";
        assert!(log.contains(reason), "{release}: {log}");
        let (_, text) = answer(&wired, "app_process").await;
        assert_eq!(
            text,
            "Error: no class name or --zygote supplied.\nUsage: app_process [java-options] cmd-dir start-class-name [options]\nAborted \n",
            "{release}"
        );
    }
}

#[tokio::test]
async fn binaries_of_minicap_and_atx_agent_are_not_executable() {
    for (release, wired) in phones() {
        push(&wired, "minicap", b"\x7fELF\x01\x01\x01");
        push(&wired, "atx-agent", b"\x7fELF\x02\x01\x01");
        wired.run("chmod 755 /data/local/tmp/minicap /data/local/tmp/atx-agent").await;
        let shell = "/system/bin/sh: /data/local/tmp";
        let command =
            "LD_LIBRARY_PATH=/data/local/tmp /data/local/tmp/minicap -P 1080x2400@1080x2400/0 -t";
        let (status, text) = answer(&wired, command).await;
        match old(release) {
            true => assert_eq!(text, format!("{shell}/minicap: not executable: magic 7F45\n")),
            false => {
                assert_eq!(text, format!("{shell}/minicap: not executable: 32-bit ELF file\n"));
                assert_eq!(status, Some(126), "{release}");
            }
        }
        let (_, text) = answer(&wired, "/data/local/tmp/atx-agent server -d").await;
        let kind = if old(release) { "magic 7F45" } else { "64-bit ELF file" };
        assert_eq!(text, format!("{shell}/atx-agent: not executable: {kind}\n"), "{release}");
        let (_, text) = answer(&wired, "/data/local/tmp/minitouch").await;
        let missing = ["4.4", "9"].contains(&release);
        let missing = if missing { "not found" } else { "inaccessible or not found" };
        assert_eq!(text, format!("{shell}/minitouch: {missing}\n"), "{release}");
        push(&wired, "minitouch", b"\x7fELF\x02\x01\x01");
        wired.run("chmod 644 /data/local/tmp/minitouch").await;
        let (_, text) = answer(&wired, "/data/local/tmp/minitouch").await;
        let denied = "can't execute: Permission denied";
        assert_eq!(text, format!("{shell}/minitouch: {denied}\n"), "{release}");
    }
}

#[tokio::test]
async fn appium_settings_is_not_there() {
    for (release, wired) in phones() {
        let (_, text) = answer(&wired, "pm path io.appium.settings").await;
        assert_eq!(text, "", "{release}");
        let start = "am start -n io.appium.settings/.Settings -a android.intent.action.MAIN -c android.intent.category.LAUNCHER";
        let (_, text) = answer(&wired, start).await;
        assert!(
            text.ends_with(
                "Error type 3\nError: Activity class {io.appium.settings/io.appium.settings.Settings} does not exist.\n"
            ),
            "{release}: {text}"
        );
        let (_, text) = answer(&wired, "am startservice -n io.appium.settings/.NLService").await;
        assert!(text.ends_with("Error: Not found; no service started.\n"), "{release}: {text}");
        let locale = "am broadcast -a io.appium.settings.locale -n io.appium.settings/.receivers.LocaleSettingReceiver --es lang en --es country US";
        let (_, text) = answer(&wired, locale).await;
        assert!(text.ends_with("Broadcast completed: result=0\n"), "{release}: {text}");
    }
}

#[tokio::test]
async fn adb_keyboard_is_unknown_and_its_broadcast_reaches_nobody() {
    for (release, wired) in phones() {
        let (_, text) = answer(&wired, "am broadcast -a ADB_INPUT_TEXT --es msg hello").await;
        assert!(text.ends_with("Broadcast completed: result=0\n"), "{release}: {text}");
        let (_, text) = answer(&wired, "ime set com.android.adbkeyboard/.AdbIME").await;
        let known = text.contains("Unknown id: com.android.adbkeyboard/.AdbIME")
            || text.contains(
                "Unknown input method com.android.adbkeyboard/.AdbIME cannot be selected",
            );
        assert!(known, "{release}: {text}");
    }
}

#[tokio::test]
async fn portal_of_droidrun_is_no_provider() {
    for (release, wired) in phones() {
        let (_, text) =
            answer(&wired, "content query --uri content://com.droidrun.portal/state").await;
        assert!(
            text.starts_with(
                "Error while accessing provider:com.droidrun.portal\njava.lang.IllegalStateException: Could not find provider: com.droidrun.portal\n\tat com.android.commands.content.Content$Command.execute(Content.java:"
            ),
            "{release}: {text}"
        );
    }
}

#[tokio::test]
async fn maestro_driver_has_no_instrumentation_and_no_socket() {
    let command = "am instrument -w -m -e class 'dev.mobile.maestro.MaestroDriverService#grpcServer' dev.mobile.maestro.test/androidx.test.runner.AndroidJUnitRunner";
    for (release, wired) in phones().filter(|(release, _)| !old(release)) {
        let (status, text) = answer(&wired, command).await;
        assert!(text.contains("INSTRUMENTATION_FAILED: dev.mobile.maestro.test/"), "{text}");
        assert_eq!(status, Some(1), "{release}");
    }
}

#[tokio::test]
async fn nothing_speaks_of_the_virtual_phone() {
    for (release, wired) in phones() {
        let services = answer(&wired, "dumpsys -l").await.1;
        let services: Vec<&str> =
            services.lines().skip(1).map(str::trim).filter(|name| !name.is_empty()).collect();
        assert!(services.len() > 70, "{release}: {services:?}");
        for service in services {
            for command in [
                format!("cmd {service} help"),
                format!("dumpsys {service}"),
                format!("service call {service} 77"),
            ] {
                let (_, text) = answer(&wired, &command).await;
                assert!(!text.contains("virtual phone"), "{release}: {command}: {text}");
            }
        }
    }
}
