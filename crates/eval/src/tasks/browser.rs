//! Tasks in the browser, on pages stored on the phone.

use super::super::script::{ScriptStep, ScriptSwipe, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{BROWSER, FIRST, stored};

pub(super) const TASKS: &[Task] = &[
    Task::new("browser-height", &["Chrome"], Easy, &[InformationRetrieval, ScreenReading], height),
    Task::new("browser-form", &["Chrome"], Easy, &[DataEntry], form),
    Task::new("browser-open", &["Chrome"], Easy, &[DataEntry], open),
    Task::new("browser-built", &["Chrome"], Easy, &[InformationRetrieval, ScreenReading], built),
    Task::new("browser-search", &["Chrome"], Easy, &[DataEntry, Search, Composite], search),
    Task::new("browser-index", &["Chrome"], Easy, &[ScreenReading, Composite], index),
    Task::new("browser-copy-link", &["Chrome"], Easy, &[ComplexUiUnderstanding], copy_link),
    Task::new(
        "browser-heights-sum",
        &["Chrome"],
        Easy,
        &[InformationRetrieval, MathCounting, ScreenReading],
        heights_sum,
    ),
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

fn built(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (tower, year) = draw.pick(&[
        ("North Point", "1871"),
        ("Gull Rock", "1903"),
        ("Old Mole", "1788"),
        ("Far Skerry", "1857"),
        ("Harbour Light", "1922"),
    ]);
    TaskInstance {
        goal: format!(
            "In which year was the lighthouse {tower} built? The Lighthouse Pages, open in Chrome, should say."
        ),
        given: Vec::new(),
        script: vec![
            ScriptStep::Launch(BROWSER),
            ScriptStep::Tap(with_text("Heights of lighthouses")),
            ScriptStep::Read(like(r"^\d{4}$").beside(with_text(tower))),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(year.into())],
    }
}

fn search(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (word, title, page) = draw.pick(&[
        ("keepers", "The last keepers", "keepers"),
        ("heights", "Heights of lighthouses", "heights"),
        ("corrections", "Write to us", "contact"),
        ("lantern", "Heights of lighthouses", "heights"),
    ]);
    TaskInstance {
        goal: format!(
            "Search the web for \"{word}\" in Chrome (type only that word), and open the page \"{title}\" from the results."
        ),
        given: Vec::new(),
        script: vec![
            ScriptStep::Launch(BROWSER),
            ScriptStep::Tap(like("^lighthouse.example/$")),
            ScriptStep::Type(field(0), word.into()),
            ScriptStep::Press("ENTER"),
            ScriptStep::Tap(with_text(title)),
            ScriptStep::Read(like(format!("^lighthouse.example/{page}$"))),
        ],
        wants: vec![
            stored(BROWSER, [("visit/<n>/url", &format!("https://search.example/?q={word}"))]),
            stored(BROWSER, [("visit/<n>/url", &format!("https://lighthouse.example/{page}"))]),
        ],
    }
}

fn index(draw: &mut ParamSource<'_>) -> TaskInstance {
    let letter = draw.pick(&["D", "E", "F", "G", "H", "I", "J"]);
    let kind = draw.pick(&["Head", "Rock", "Point"]);
    let name = format!("{letter} {kind}");
    TaskInstance {
        goal: format!(
            "The start page in Chrome has an index from A to Z. Follow its link to the lighthouse {name}."
        ),
        given: Vec::new(),
        script: vec![
            ScriptStep::Launch(BROWSER),
            ScriptStep::Tap(with_text("Index from A to Z")),
            ScriptStep::ScrollTo(with_text(&*name), ScriptSwipe::Up),
            ScriptStep::Tap(with_text(&*name)),
            ScriptStep::Read(like("^Results for ")),
        ],
        wants: vec![
            stored(BROWSER, [("visit/<n>/url", "https://lighthouse.example/index")]),
            stored(
                BROWSER,
                [("visit/<n>/url", &format!("https://search.example/?q={letter}+{kind}"))],
            ),
        ],
    }
}

fn copy_link(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (title, page) = draw.pick(&[
        ("The last keepers", "keepers"),
        ("Heights of lighthouses", "heights"),
        ("Index from A to Z", "index"),
        ("Write to us", "contact"),
    ]);
    TaskInstance {
        goal: format!(
            "Copy the address that the link \"{title}\" on the page in Chrome leads to, without opening it."
        ),
        given: Vec::new(),
        script: vec![ScriptStep::Launch(BROWSER), ScriptStep::LongPress(with_text(title))],
        wants: vec![SuccessCondition::Clipboard(format!("https://lighthouse.example/{page}"))],
    }
}

fn heights_sum(draw: &mut ParamSource<'_>) -> TaskInstance {
    let two = draw.some(&TOWERS, 2);
    let metres = |height: &str| height.trim_end_matches(" m").parse::<u64>().unwrap_or(0);
    let mut script =
        vec![ScriptStep::Launch(BROWSER), ScriptStep::Tap(with_text("Heights of lighthouses"))];
    script.extend(
        two.iter().map(|(tower, _)| ScriptStep::Read(like(r"^(\d+) m$").beside(with_text(*tower)))),
    );
    script.extend([ScriptStep::Sum, ScriptStep::Answer("{2}".into())]);
    TaskInstance {
        goal: format!(
            "If the lighthouses {} and {} stood on top of each other, how many metres high would that be? Chrome has a page with their heights.",
            two[0].0, two[1].0
        ),
        given: Vec::new(),
        script,
        wants: vec![SuccessCondition::Answer((metres(two[0].1) + metres(two[1].1)).to_string())],
    }
}
