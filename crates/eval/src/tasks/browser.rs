//! Tasks in the browser, on pages stored on the phone.

use super::super::script::{ScriptStep, ScriptSwipe, field, like, with_text};
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{BROWSER, FIRST, stored};

pub(super) const TASKS: &[Task] = &[
    Task { name: "browser-height", apps: &["Chrome"], needs: &[], make: height },
    Task { name: "browser-form", apps: &["Chrome"], needs: &[], make: form },
    Task { name: "browser-open", apps: &["Chrome"], needs: &[], make: open },
];

/// The towers on the page "Heights of lighthouses".
pub(super) const TOWERS: [(&str, &str); 5] = [
    ("North Point", "42 m"),
    ("Gull Rock", "31 m"),
    ("Old Mole", "19 m"),
    ("Far Skerry", "55 m"),
    ("Harbour Light", "12 m"),
];

/// Reads a tower's height.
pub(super) fn read_height(tower: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(BROWSER),
        ScriptStep::Tap(with_text("Heights of lighthouses")),
        ScriptStep::Read(like(r"^\d+ m$").beside(with_text(tower))),
    ]
}

fn height(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (tower, height) = draw.pick(&TOWERS);
    let mut script = read_height(tower);
    script.push(ScriptStep::Answer("{0}".into()));
    TaskInstance {
        goal: format!(
            "How high is the lighthouse {tower}? The page open in Chrome links to the answer."
        ),
        given: Vec::new(),
        script,
        wants: vec![SuccessCondition::Answer(height.into())],
    }
}

fn form(draw: &mut ParamSource<'_>) -> TaskInstance {
    let name = draw.pick(&FIRST);
    let (choice, words) = draw.pick(&[("A correction", "A+correction"), ("A story", "A+story")]);
    let news = draw.coin();
    let mut script = vec![
        ScriptStep::Launch(BROWSER),
        ScriptStep::Tap(with_text("Write to us")),
        ScriptStep::Type(field(1), name.into()),
        ScriptStep::Tap(with_text(choice)),
    ];
    if news {
        script.extend([
            ScriptStep::ScrollTo(with_text("Send me the newsletter"), ScriptSwipe::Up),
            ScriptStep::SetSwitch(with_text("Send me the newsletter"), true),
        ]);
    }
    script.extend([
        ScriptStep::ScrollTo(with_text("Send"), ScriptSwipe::Up),
        ScriptStep::Tap(with_text("Send")),
    ]);
    let address =
        format!("https://lighthouse.example/thanks?name={name}&about={words}&news={news}");
    TaskInstance {
        goal: format!(
            "In Chrome, fill in the form \"Write to us\" as {name}, about \"{choice}\", {} the newsletter, and send it. Leave the message empty.",
            if news { "with" } else { "without" }
        ),
        given: Vec::new(),
        script,
        wants: vec![stored(BROWSER, [("visit/<n>/url", &address)])],
    }
}

fn open(draw: &mut ParamSource<'_>) -> TaskInstance {
    let page = draw.pick(&["keepers", "heights", "index", "contact"]);
    let address = format!("lighthouse.example/{page}");
    TaskInstance {
        goal: format!("Type the address {address} in Chrome and open it."),
        given: Vec::new(),
        script: vec![
            ScriptStep::Launch(BROWSER),
            ScriptStep::Tap(like("^lighthouse.example/$")),
            ScriptStep::Type(field(0), address.clone()),
            ScriptStep::Press("ENTER"),
            ScriptStep::Read(like(format!("^{}$", regex_lite::escape(&address)))),
        ],
        wants: vec![stored(BROWSER, [("visit/<n>/url", &format!("https://{address}"))])],
    }
}
