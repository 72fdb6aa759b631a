//! Tasks on the home screen and in what the system puts before it.

use super::super::script::{Step, Way, like, says};
use super::super::task::{Case, Draw, Given, Task, Want};
use super::{MEMBERS, NOTES, SHOP};

pub(super) const TASKS: &[Task] = &[
    Task { name: "launcher-open", apps: &["Launcher"], make: open },
    Task { name: "launcher-notice", apps: &["Launcher"], make: notice },
];

fn open(draw: &mut Draw<'_>) -> Case {
    let (label, package) = draw.pick(&[("Members", MEMBERS), ("Notes", NOTES), ("Shop", SHOP)]);
    Case {
        goal: format!("Open the app {label} from the list of all apps."),
        given: Vec::new(),
        script: vec![Step::Swipe(Way::Up), Step::Tap(says(label))],
        wants: vec![Want::Front(package)],
    }
}

fn notice(draw: &mut Draw<'_>) -> Case {
    let gate = format!("{}{}", draw.pick(&["A", "B", "C"]), draw.number(10, 99));
    let text = format!("Boarding now at gate {gate}");
    Case {
        goal: "Which gate does the newest notification name?".into(),
        given: vec![Given::Notice(SHOP, "Flight LH 2071".into(), text)],
        script: vec![
            Step::Swipe(Way::FromTop),
            Step::Read(like(r"at gate (\w+)")),
            Step::Answer("{0}".into()),
        ],
        wants: vec![Want::Answer(gate)],
    }
}
