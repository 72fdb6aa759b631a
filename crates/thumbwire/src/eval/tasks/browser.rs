//! Tasks in the browser, on the pages that lie in the phone.

use super::super::script::{Step, Way, field, like, says};
use super::super::task::{Case, Draw, Task, Want};
use super::{BROWSER, FIRST, kept};

pub(super) const TASKS: &[Task] = &[
    Task { name: "browser-height", apps: &["Chrome"], make: height },
    Task { name: "browser-form", apps: &["Chrome"], make: form },
    Task { name: "browser-open", apps: &["Chrome"], make: open },
];

/// The towers of the page "Heights of lighthouses".
pub(super) const TOWERS: [(&str, &str); 5] = [
    ("North Point", "42 m"),
    ("Gull Rock", "31 m"),
    ("Old Mole", "19 m"),
    ("Far Skerry", "55 m"),
    ("Harbour Light", "12 m"),
];

/// Reads a tower's height.
pub(super) fn read_height(tower: &str) -> Vec<Step> {
    vec![
        Step::Launch(BROWSER),
        Step::Tap(says("Heights of lighthouses")),
        Step::Read(like(r"^\d+ m$").beside(says(tower))),
    ]
}

fn height(draw: &mut Draw<'_>) -> Case {
    let (tower, height) = draw.pick(&TOWERS);
    let mut script = read_height(tower);
    script.push(Step::Answer("{0}".into()));
    Case {
        goal: format!(
            "How high is the lighthouse {tower}? The page that Chrome shows leads there."
        ),
        given: Vec::new(),
        script,
        wants: vec![Want::Answer(height.into())],
    }
}

fn form(draw: &mut Draw<'_>) -> Case {
    let name = draw.pick(&FIRST);
    let (choice, words) = draw.pick(&[("A correction", "A+correction"), ("A story", "A+story")]);
    let news = draw.coin();
    let mut script = vec![
        Step::Launch(BROWSER),
        Step::Tap(says("Write to us")),
        Step::Write(field(1), name.into()),
        Step::Tap(says(choice)),
    ];
    if news {
        script.extend([
            Step::Seek(says("Send me the newsletter"), Way::Up),
            Step::Switch(says("Send me the newsletter"), true),
        ]);
    }
    script.extend([Step::Seek(says("Send"), Way::Up), Step::Tap(says("Send"))]);
    let address =
        format!("https://lighthouse.example/thanks?name={name}&about={words}&news={news}");
    Case {
        goal: format!(
            "Fill in the form \"Write to us\" in Chrome as {name}, about \"{choice}\", {} the newsletter, and send it. Leave the message empty.",
            if news { "with" } else { "without" }
        ),
        given: Vec::new(),
        script,
        wants: vec![kept(BROWSER, [("visit/<n>/url", &address)])],
    }
}

fn open(draw: &mut Draw<'_>) -> Case {
    let page = draw.pick(&["keepers", "heights", "index", "contact"]);
    let address = format!("lighthouse.example/{page}");
    Case {
        goal: format!("Open the address {address} in Chrome, by typing it."),
        given: Vec::new(),
        script: vec![
            Step::Launch(BROWSER),
            Step::Tap(like("^lighthouse.example/$")),
            Step::Write(field(0), address.clone()),
            Step::Press("ENTER"),
            Step::Read(like(format!("^{}$", regex_lite::escape(&address)))),
        ],
        wants: vec![kept(BROWSER, [("visit/<n>/url", &format!("https://{address}"))])],
    }
}
