//! Tasks on the home screen and in system windows.

use super::super::script::{ScriptStep, ScriptSwipe, like, with_text};
use super::super::task::{InitialState, Need, ParamSource, SuccessCondition, Task, TaskInstance};
use super::{MEMBERS, NOTES, SHOP};

pub(super) const TASKS: &[Task] = &[
    Task { name: "launcher-open", apps: &["Launcher"], needs: &[Need::AppDrawer], make: open },
    Task {
        name: "launcher-notice",
        apps: &["Launcher"],
        needs: &[Need::NotificationShade],
        make: notice,
    },
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
