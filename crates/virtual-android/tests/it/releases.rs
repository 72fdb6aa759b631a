//! The same commands on each release: a golden for each ([`goldens`]), and lines of real phones of
//! that release that ours must have too.

use crate::common::difference::goldens;
use crate::common::{Wired, capture};
use thumbwire_virtual_android::Setup;

/// Replaces numbers after these prefixes, which depend on installed apps, by as many `N`.
fn steady(text: &str) -> String {
    let mut steady = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mark = ["mOwnerUid=", "u0a", " A=", "ffinity=", "pid=", "ProcessRecord{"]
            .into_iter()
            .find(|mark| rest.starts_with(mark));
        let Some(mark) = mark else {
            steady.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let (marked, after) = rest.split_at(mark.len());
        steady.push_str(marked);
        let (record, after) = match mark {
            "ProcessRecord{" => after.split_at(after.find(' ').map_or(0, |at| at + 1)),
            _ => ("", after),
        };
        steady.push_str(record);
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        steady.push_str(&"N".repeat(digits));
        rest = &after[digits..];
    }
    steady
}

#[tokio::test]
async fn every_release_matches_its_golden() {
    let newest = include_str!("snapshots/it__releases__android-16.snap");
    for (release, text) in goldens(newest, steady).await {
        insta::assert_snapshot!(format!("android-{release}"), text);
    }
}

fn of(release: &str) -> Wired {
    Wired::made(Setup::of_release(release).expect("it is there"))
}

/// The fixed part of each line: its indentation, and the text before its first value.
fn names(text: &str) -> Vec<String> {
    let cut = |line: &str| {
        let name = line.split(['=', ':', '{', '[']).next().unwrap_or_default();
        // `Window #3`, `Window #12`; `… in display# 0 null`, `… in display# 0 Window`
        let name = name.trim_end_matches("null").trim_end_matches("Window").trim_end();
        name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end().to_owned()
    };
    text.lines().map(cut).filter(|name| !name.trim().is_empty()).collect()
}

#[tokio::test]
async fn reports_have_only_lines_of_real_phones() {
    // Another emulator of Android 11 has it; in this one no field had the keyboard.
    const NO_FIELD: &str = "  mInputMethodInputTarget in display#";
    let mut all = Vec::new();
    for (release, command, file) in [
        ("11", "dumpsys window windows", "window/aad_windows_android11.txt"),
        ("11", "dumpsys window displays", "window/talos_window-displays.txt"),
        ("16", "dumpsys window windows", "window/emulator_android16_windows.txt"),
        ("16", "dumpsys window displays", "activity/pixel-emulator_android16_activities.txt"),
        ("16", "dumpsys activity activities", "activity/pixel-emulator_android16_activities.txt"),
    ] {
        let Some(real) = capture(&format!("shell/{file}")) else { continue };
        // A task's indentation depends on the tasks around it.
        let level = |text: &str| -> Vec<String> {
            let names = names(text);
            match command.contains("activities") {
                true => names.into_iter().map(|name| name.trim_start().to_owned()).collect(),
                false => names,
            }
        };
        let real = level(&real);
        let wired = of(release);
        wired.run("am start -n com.android.notes/.NotesActivity").await;
        let ours = wired.stdout(command).await;
        let known = |name: &str| name.starts_with("WINDOW MANAGER") || name == NO_FIELD;
        let odd = level(&ours).into_iter().filter(|name| !real.contains(name) && !known(name));
        all.extend(odd.map(|name| format!("Android {release}, {command}: {name}")));
    }
    assert!(all.is_empty(), "{all:#?}");
}

/// Lines that tools look for, as emulators of those releases print them (the tests of auto-mobile,
/// Apache-2.0), with our phone's values.
#[tokio::test]
async fn lines_that_tools_parse_match_each_release() {
    let notes = "com.android.notes/.NotesActivity";
    let window = "u0 com.android.notes/com.android.notes.NotesActivity}";
    for (release, command, lines) in [
        (
            "9",
            "dumpsys window windows",
            vec![
                format!("  mCurrentFocus=Window{{* {window}"),
                format!("  mFocusedApp=AppWindowToken{{* token=Token{{* ActivityRecord{{* u0 {notes} t1}}}}}}"),
                "  mRotation=0 mAltOrientation=false".into(),
            ],
        ),
        (
            "9",
            "dumpsys activity activities",
            vec![
                format!("    mResumedActivity: ActivityRecord{{* u0 {notes} t1}}"),
                format!("  ResumedActivity: ActivityRecord{{* u0 {notes} t1}}"),
                "    * TaskRecord{* #1 A=com.android.notes U=0 StackId=1 sz=1}".into(),
            ],
        ),
        (
            "11",
            "dumpsys window windows",
            vec![
                format!("  mInputMethodTarget in display# 0 Window{{* {window}"),
                format!("  inputMethodControlTarget in display# 0 Window{{* {window}"),
                "  mDisplayFrozen=false windows=0 client=false apps=0  mRotation=0  mLastOrientation=-1".into(),
            ],
        ),
        (
            "11",
            "dumpsys activity activities",
            vec![
                format!("    mResumedActivity: ActivityRecord{{* u0 {notes} t1}}"),
                format!("    Resumed: ActivityRecord{{* u0 {notes} t1}}"),
            ],
        ),
        (
            "13",
            "dumpsys window displays",
            vec![
                format!("  mCurrentFocus=Window{{* {window}"),
                format!("  mFocusedApp=ActivityRecord{{* u0 {notes}}} t1}}"),
            ],
        ),
        (
            "13",
            "dumpsys window windows",
            vec![
                format!("  imeInputTarget in display# 0 Window{{* {window}"),
                "  Minimum task size of display#0 220  mInTouchMode=true".into(),
            ],
        ),
        (
            "13",
            "dumpsys activity activities",
            vec![format!("    topResumedActivity=ActivityRecord{{* u0 {notes}}} t1}}")],
        ),
        (
            "14",
            "dumpsys window windows",
            vec![
                format!("  imeInputTarget in display# 0 Window{{* {window}"),
                "  Minimum task size of display#0 220  mBlurEnabled=true".into(),
                "  mDisplayFrozen=false windows=0 client=false apps=0".into(),
                "  mRotation=0".into(),
            ],
        ),
        (
            "14",
            "dumpsys activity activities",
            vec![format!("    topResumedActivity=ActivityRecord{{* u0 {notes} t1}}")],
        ),
    ] {
        let wired = of(release);
        wired.run(&format!("am start -n {notes}")).await;
        let output = wired.stdout(command).await;
        for line in lines {
            let parts: Vec<&str> = line.split('*').collect();
            let has = |text: &str| {
                let ends = parts.first().is_some_and(|first| text.starts_with(first))
                    && parts.last().is_some_and(|last| text.ends_with(last));
                ends && parts.iter().all(|part| text.contains(part))
            };
            assert!(output.lines().any(has), "Android {release}, {command}: {line}\n{output}");
        }
    }
}

#[tokio::test]
async fn properties_exist_on_real_phones() {
    for (release, files, odd) in [
        ("4.4", &["huawei-g700_android4.4.txt"][..], &["ro.boot.hardware"][..]),
        ("11", &["lg-v60_android11.txt", "oneplus-n100-be2028_android11.txt"], &[]),
    ] {
        let real: Option<String> =
            files.iter().map(|file| capture(&format!("shell/getprop/{file}"))).collect();
        let Some(real) = real else { continue };
        let output = of(release).run("getprop").await.stdout;
        for line in String::from_utf8(output).expect("text").lines() {
            let name = line.split("]: [").next().unwrap_or_default().trim_start_matches('[');
            let known = real.contains(&format!("[{name}]: [")) || odd.contains(&name);
            assert!(known, "Android {release}: {name}");
        }
    }
}
