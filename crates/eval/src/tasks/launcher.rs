//! Tasks on the home screen and in system windows.

use super::super::script::{ScriptStep, ScriptSwipe, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{InitialState, Need, ParamSource, SuccessCondition, Task, TaskInstance};
use super::{MEMBERS, NOTES, SHOP};

pub(super) const TASKS: &[Task] = &[
    Task::new("launcher-open", &["Launcher"], Easy, &[ScreenReading], open)
        .needing(&[Need::AppDrawer]),
    Task::new(
        "launcher-notice",
        &["Launcher"],
        Easy,
        &[InformationRetrieval, ScreenReading],
        notice,
    )
    .needing(&[Need::NotificationShade]),
    Task::new("launcher-search", &["Launcher"], Easy, &[Search], search)
        .needing(&[Need::AppDrawer]),
    Task::new(
        "launcher-quick-setting",
        &["Launcher"],
        Easy,
        &[ComplexUiUnderstanding, Verification],
        tile,
    )
    .needing(&[Need::NotificationShade]),
];

fn open(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (label, package) = draw.pick(&[("Members", MEMBERS), ("Notes", NOTES), ("Shop", SHOP)]);
    TaskInstance {
        goal: format!("Open the app {label} from the list of all apps."),
        given: Vec::new(),
        script: vec![ScriptStep::Swipe(ScriptSwipe::Up), ScriptStep::Tap(with_text(label))],
        wants: vec![SuccessCondition::AppInForeground(package)],
    }
}

fn notice(draw: &mut ParamSource<'_>) -> TaskInstance {
    let gate = format!("{}{}", draw.pick(&["A", "B", "C"]), draw.number(10, 99));
    let text = format!("Boarding now at gate {gate}");
    TaskInstance {
        goal: "Which gate does the newest notification mention?".into(),
        given: vec![InitialState::Notification(SHOP, "Flight LH 2071".into(), text)],
        script: vec![
            ScriptStep::Swipe(ScriptSwipe::FromTop),
            ScriptStep::Read(like(r"at gate (\w+)")),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(gate)],
    }
}

fn search(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (label, package) = draw.pick(&[
        ("Bank", super::BANK),
        ("Calendar", super::CALENDAR),
        ("Contacts", super::CONTACTS),
        ("Members", MEMBERS),
    ]);
    TaskInstance {
        goal: format!("Find the app {label} with the search of the home screen, and open it."),
        given: Vec::new(),
        script: vec![
            ScriptStep::Tap(with_text("Search your phone")),
            ScriptStep::Type(field(0), label.into()),
            ScriptStep::Tap(with_text(label)),
        ],
        wants: vec![SuccessCondition::AppInForeground(package)],
    }
}

fn tile(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (label, table, name, before) = draw.pick(&[
        ("Bluetooth", "global", "bluetooth_on", "0"),
        ("Bluetooth", "global", "bluetooth_on", "1"),
        ("Auto-rotate", "system", "accelerometer_rotation", "0"),
        ("Auto-rotate", "system", "accelerometer_rotation", "1"),
    ]);
    let (now, after, words) = if before == "1" { ("On", "0", "off") } else { ("Off", "1", "on") };
    TaskInstance {
        goal: format!(
            "Turn {label} {words} with the quick settings at the top of the notification shade."
        ),
        given: vec![InitialState::Setting(table, name, before.into())],
        script: vec![
            ScriptStep::Swipe(ScriptSwipe::FromTop),
            ScriptStep::Tap(with_text(format!("{label}, {now}"))),
        ],
        wants: vec![SuccessCondition::Setting(table, name, after.into())],
    }
}
