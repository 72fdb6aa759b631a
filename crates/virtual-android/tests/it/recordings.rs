//! How much of what a real Android 4.4.4 printed has the same form here: every recorded command,
//! run in recorded order.
//!
//! Start with [`the_words_of_the_recorded_phone`]. [`form`] says when two answers have the same
//! form; [`known`] lists the commands that are known to differ, with the reason. A command in that
//! list that begins to match, and any other that begins to differ, both fail, so the share can only
//! grow.
//!
//! `THUMBWIRE_ANSWERS=FOLDER` writes this phone's answers beside the recorded ones, to compare them
//! by eye.

mod form;
mod known;

use crate::common::{Wired, capture};
use form::{Form, Match};
use known::Reason;
use std::path::PathBuf;
use thumbwire_virtual_android::Setup;

/// One recorded command.
struct Recorded {
    /// The file in the first set, the command itself in the second.
    name: String,
    command: String,
    answer: String,
}

/// Recorded apps and the ones of this phone that take their place: a package, or its component.
const APPS: &[(&str, &str)] = &[
    ("com.android.calculator2/.Calculator", "com.android.notes/.NotesActivity"),
    ("com.android.calculator2/com.android.calculator2", "com.android.notes/com.android.notes"),
    ("com.android.calculator2", "com.android.notes"),
    ("com.android.deskclock", "com.google.android.deskclock"),
    (
        "com.android.contacts/.activities",
        "com.google.android.contacts/com.android.contacts.activities",
    ),
    (
        "com.android.music/.MusicBrowserActivity",
        "com.google.android.calendar/com.android.calendar.AllInOneActivity",
    ),
];

/// What happened between two recorded commands without being recorded: run before the command of
/// that name.
const BEFORE: &[(&str, &str)] = &[
    ("043-dumpsys-activity-top", "am start -n com.android.notes/.NotesActivity"),
    ("044-dumpsys-activity-activities-locked", "input keyevent 3"),
    ("113-am-start-calc", "am force-stop com.android.notes"),
    ("118-dumpsys-activity-activities", "am start -n com.android.notes/.NotesActivity"),
    ("122-am-start-again", "am start -n com.android.notes/.NotesActivity"),
    (
        "196-uiautomator-dump-rotated",
        "settings put system accelerometer_rotation 0; settings put system user_rotation 1",
    ),
    ("205-wm-size-overridden", "wm size 400x600"),
    ("430-calc", "am force-stop com.android.notes"),
    ("dumpsys activity top nope", "am start -n com.android.notes/.NotesActivity"),
    ("settings get system zzz_t", "settings put system zzz_t 5"),
];

/// Pictures, and a file that the recording pushed.
const NO_TEXT: [&str; 2] = ["187-screencap-p-stdout", "329-shell-binary"];

/// The commands of the first set that ran on the phone. The others asked the adb server, not the
/// phone.
fn first_set() -> Option<Vec<Recorded>> {
    let index = capture("android-4.4.4/index.tsv")?;
    let rows = index.lines().filter_map(|line| {
        let mut cells = line.split('\t');
        let (name, command) = (cells.next()?, cells.nth(2)?);
        let quote = command.chars().next()?;
        let command = command.trim_matches(quote).strip_prefix("shell ")?;
        (!NO_TEXT.contains(&name)).then_some((name, command))
    });
    rows.map(|(name, command)| {
        let answer = capture(&format!("android-4.4.4/{name}.out"))?;
        Some(Recorded { name: name.to_owned(), command: command.to_owned(), answer })
    })
    .collect()
}

/// The 99 commands that were recorded later.
fn second_set() -> Option<Vec<Recorded>> {
    let text = capture("android-4.4.4/more-commands.json")?;
    let commands: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(&text).expect("JSON");
    // A map is sorted by name; the recorded order is the file's.
    let mut rows: Vec<_> = commands.iter().collect();
    rows.sort_by_key(|(command, _)| {
        text.find(&serde_json::Value::from(command.as_str()).to_string())
    });
    let recorded = rows.into_iter().map(|(command, row)| Recorded {
        name: command.clone(),
        command: command.clone(),
        answer: row["out"].as_str().expect("an output").replace("\r\n", "\n"),
    });
    Some(recorded.collect())
}

/// The recorded text as a phone with our apps would have it.
fn with_our_apps(text: &str) -> String {
    APPS.iter().fold(text.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
}

/// A command's answer, which a terminal printed: every line ends with `\r\n`.
async fn answer(wired: &Wired, command: &str) -> String {
    let output = wired.run(command).await;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!text.replace("\r\n", "").contains('\n'), "{command}: {text:?}");
    text.replace("\r\n", "\n")
}

#[tokio::test]
async fn the_words_of_the_recorded_phone() {
    let (Some(first), Some(second)) = (first_set(), second_set()) else { return };
    let folder = std::env::var_os("THUMBWIRE_ANSWERS").map(PathBuf::from);
    let (mut equal, mut asked, mut wrong) = (0, 0, Vec::new());
    for (nth, set) in [first, second].into_iter().enumerate() {
        let wired = Wired::made(Setup::of_release("4.4").expect("4.4 is there"));
        for recorded in &set {
            if let Some((_, before)) = BEFORE.iter().find(|(name, _)| *name == recorded.name) {
                answer(&wired, before).await;
            }
            let ours = answer(&wired, &with_our_apps(&recorded.command)).await;
            let theirs = with_our_apps(&recorded.answer);
            let result = Form::of(&recorded.command).compare(&theirs, &ours);
            if let Some(folder) = &folder {
                let mark = if result.is_same() { "same" } else { "differs" };
                let file = format!("{}-{mark}-{}", nth + 1, recorded.name.replace(['/', ' '], "_"));
                let text = format!("{result}\n=== recorded\n{theirs}=== ours\n{ours}");
                std::fs::write(folder.join(file), text).expect("written");
            }
            asked += 1;
            equal += u32::from(result.is_same());
            match (result, known::reason(&recorded.name)) {
                (Match::Same, None) => {}
                (Match::Same, Some(reason)) => {
                    wrong.push(format!(
                        "{}: matches now, but is listed as {reason:?}",
                        recorded.name
                    ));
                }
                (differs, Some(reason)) => println!("{}: {differs} ({reason:?})", recorded.name),
                (differs, None) => wrong.push(format!("{}: {differs}", recorded.name)),
            }
        }
    }
    println!("{equal} of {asked} recorded commands have the same form");
    for reason in Reason::ALL {
        println!("  {reason:?}: {}", known::KNOWN.iter().filter(|(_, it)| it == reason).count());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
