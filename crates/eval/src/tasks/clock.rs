//! Tasks in Clock.

use super::super::script::{ScriptStep, ScriptTarget, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{InitialState, ParamSource, SuccessCondition, Task, TaskInstance};
use super::{CLOCK, given, stored};

pub(super) const TASKS: &[Task] = &[
    Task::new("clock-alarm-add", &["Clock"], Medium, &[DataEntry, ComplexUiUnderstanding], add),
    Task::new("clock-alarm-on", &["Clock"], Easy, &[ScreenReading], on),
    Task::new("clock-alarm-delete", &["Clock"], Easy, &[DataEdit], delete),
    Task::new("clock-timer", &["Clock"], Medium, &[DataEntry, ComplexUiUnderstanding], timer),
    Task::new("clock-stopwatch-read", &["Clock"], Easy, &[InformationRetrieval], stopwatch),
    Task::new(
        "clock-alarms-off",
        &["Clock"],
        Easy,
        &[Composite, Repetition, Verification],
        all_off,
    ),
    Task::new("clock-alarm-move", &["Clock"], Easy, &[DataEdit, ComplexUiUnderstanding], later),
    Task::new("clock-alarm-label", &["Clock"], Easy, &[DataEdit, DataEntry], relabel),
    Task::new("clock-alarm-when", &["Clock"], Easy, &[InformationRetrieval], when),
    Task::new(
        "clock-alarms-count",
        &["Clock"],
        Easy,
        &[InformationRetrieval, MathCounting],
        count_on,
    ),
    Task::new("clock-three-alarms", &["Clock"], Hard, &[DataEntry, Composite, Repetition], three),
    Task::new("clock-stopwatch-resume", &["Clock"], Easy, &[Verification], resume),
    Task::new("clock-timer-extend", &["Clock"], Easy, &[DataEdit, Repetition], extend),
];

fn add(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (hour, minute) = (draw.pick(&[4, 5, 6, 8, 9, 10]), draw.pick(&[15, 20, 25]));
    let label = draw.pick(&["Early train", "Ferry", "Market", "Swimming"]);
    TaskInstance {
        goal: format!("In Clock, set an alarm for {hour}:{minute} with the label \"{label}\"."),
        given: Vec::new(),
        script: set(hour, minute, label),
        wants: vec![alarm(hour, minute, label)],
    }
}

/// Sets an alarm whose minute is a multiple of five other than zero.
pub(super) fn set(hour: u32, minute: u32, label: &str) -> Vec<ScriptStep> {
    // A new alarm starts at 7:00.
    let (turn, back) = match hour {
        ..7 => ("Decrease hour", "Increase hour"),
        _ => ("Increase hour", "Decrease hour"),
    };
    vec![
        ScriptStep::Launch(CLOCK),
        ScriptStep::SkipIfVisible(with_text(label)),
        ScriptStep::Tap(with_text("Add alarm")),
        ScriptStep::TapUntil {
            tap: with_text(turn),
            back: Some(with_text(back)),
            shows: setting(hour, "hour"),
            max: 12,
        },
        ScriptStep::TapUntil {
            tap: with_text("Increase minute"),
            back: Some(with_text("Decrease minute")),
            shows: setting(minute, "minute"),
            max: 12,
        },
        ScriptStep::Type(field(0), label.into()),
        ScriptStep::Tap(with_text("Save")),
        ScriptStep::Read(with_text(label)),
    ]
}

/// Sets an alarm for the time that was read before: the hour, 8 or 9, and the minute.
pub(super) fn set_as_read(label: &str) -> Vec<ScriptStep> {
    let mut script = set(8, 10, label);
    for step in &mut script {
        let ScriptStep::TapUntil { tap, shows, .. } = step else { continue };
        *shows = match *tap == with_text("Increase hour") {
            true => with_text("0{0}").or(with_text("{0} hour")),
            false => with_text("{1}").or(with_text("{1} minute")),
        };
    }
    script
}

/// What a number picker is set to. It shows `07`, and is called `7 hour`, which is what iOS lists.
fn setting(number: u32, unit: &str) -> ScriptTarget {
    with_text(format!("{number:02}")).or(with_text(format!("{number} {unit}")))
}

/// The alarm a task must create.
pub(super) fn alarm(hour: u32, minute: u32, label: &str) -> SuccessCondition {
    stored(
        CLOCK,
        [
            ("alarm/<n>/hour", &hour.to_string()),
            ("alarm/<n>/minute", &minute.to_string()),
            ("alarm/<n>/label", label),
            ("alarm/<n>/on", "yes"),
        ],
    )
}

fn on(draw: &mut ParamSource<'_>) -> TaskInstance {
    let labels = draw.some(&["Choir", "Rowing", "Bins", "Pills"], 2);
    let at = draw.number(0, 1) as usize;
    let mut all = Vec::new();
    for (number, label) in labels.iter().enumerate() {
        let key = |field: &str| format!("alarm/{}/{field}", 20 + number);
        all.extend(given(
            CLOCK,
            [
                (&key("hour"), &(5 + number).to_string()),
                (&key("minute"), "40"),
                (&key("label"), label),
                (&key("on"), "no"),
            ],
        ));
    }
    TaskInstance {
        goal: format!("In Clock, turn on only the alarm \"{}\".", labels[at]),
        given: all,
        script: vec![ScriptStep::Launch(CLOCK), ScriptStep::SetSwitch(with_text(labels[at]), true)],
        wants: vec![stored(CLOCK, [(&format!("alarm/{}/on", 20 + at), "yes")])],
    }
}

fn delete(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (hour, number) = (draw.number(4, 6), draw.number(20, 24));
    let key = |field: &str| format!("alarm/{number}/{field}");
    let hours = hour.to_string();
    TaskInstance {
        goal: format!("In Clock, delete the alarm for {hour}:50."),
        given: given(
            CLOCK,
            [
                (&key("hour"), &hours),
                (&key("minute"), "50"),
                (&key("label"), "Old"),
                (&key("on"), "no"),
            ],
        ),
        script: vec![
            ScriptStep::Launch(CLOCK),
            ScriptStep::Tap(with_text(format!("{hour}:50"))),
            ScriptStep::Tap(with_text("Delete alarm")),
        ],
        wants: vec![SuccessCondition::RecordRemoved(CLOCK, format!("alarm/{number}"))],
    }
}

fn timer(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (tens, ones) = (draw.number(1, 4), draw.number(1, 9));
    let digits = [
        (tens.to_string(), format!("00h 00m 0{tens}s")),
        (ones.to_string(), format!("00h 00m {tens}{ones}s")),
        ("00".to_owned(), format!("00h {tens}{ones}m 00s")),
    ];
    let mut script = vec![ScriptStep::Launch(CLOCK), ScriptStep::Tap(with_text("Timer"))];
    script.extend(digits.map(|(key, shows)| ScriptStep::TapUntil {
        tap: with_text(key),
        back: None,
        shows: with_text(shows),
        max: 1,
    }));
    script.push(ScriptStep::Tap(with_text("Start")));
    let length = ((tens * 10 + ones) * 60_000).to_string();
    TaskInstance {
        goal: format!("In Clock, start a timer for {tens}{ones} minutes."),
        given: Vec::new(),
        script,
        wants: vec![stored(CLOCK, [("timer/length", &length), ("timer/since", "<now>")])],
    }
}

fn stopwatch(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (minutes, seconds) = (draw.number(1, 9), draw.number(10, 59));
    let run = ((minutes * 60 + seconds) * 1_000).to_string();
    TaskInstance {
        goal: "How long did the stopwatch in Clock run? Answer with minutes and seconds, such as 01:30."
            .into(),
        given: given(CLOCK, [("stopwatch/before", &run)]),
        script: vec![
            ScriptStep::Launch(CLOCK),
            ScriptStep::Tap(with_text("Stopwatch")),
            ScriptStep::Read(like(r"^\d\d:\d\d$")),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(format!("{minutes:02}:{seconds:02}"))],
    }
}

/// An alarm that exists before a task.
fn existing(number: usize, hour: u32, minute: u32, label: &str, on: bool) -> Vec<InitialState> {
    let key = |field: &str| format!("alarm/{number}/{field}");
    given(
        CLOCK,
        [
            (&key("hour"), &hour.to_string()),
            (&key("minute"), &minute.to_string()),
            (&key("label"), label),
            (&key("on"), if on { "yes" } else { "no" }),
        ],
    )
}

const LABELS: [&str; 6] = ["Choir", "Rowing", "Bins", "Pills", "Bakery", "Tide"];

fn all_off(draw: &mut ParamSource<'_>) -> TaskInstance {
    let labels = draw.some(&LABELS, 3);
    let mut given = Vec::new();
    let mut script = vec![ScriptStep::Launch(CLOCK)];
    for (at, label) in labels.iter().enumerate() {
        given.extend(existing(20 + at, 4 + at as u32, 50, label, true));
        script.push(ScriptStep::Tap(with_text("Alarm on")));
    }
    TaskInstance {
        goal: "I am on holiday from tomorrow. Make sure that no alarm rings, but keep them all in Clock.".into(),
        given,
        script,
        wants: (20..23).map(|at| stored(CLOCK, [(&*format!("alarm/{at}/on"), "no")])).collect(),
    }
}

fn later(draw: &mut ParamSource<'_>) -> TaskInstance {
    let labels = draw.some(&LABELS, 2);
    let hour = draw.number(4, 6) as u32;
    let to = hour + draw.number(1, 3) as u32;
    let mut given = existing(20, hour, 35, labels[0], true);
    given.extend(existing(21, hour, 45, labels[1], true));
    TaskInstance {
        goal: format!("The alarm \"{}\" in Clock should ring at {to}:35 instead.", labels[0]),
        given,
        script: vec![
            ScriptStep::Launch(CLOCK),
            ScriptStep::SkipIfVisible(with_text(format!("{to}:35"))),
            ScriptStep::Tap(with_text(labels[0])),
            ScriptStep::TapUntil {
                tap: with_text("Increase hour"),
                back: Some(with_text("Decrease hour")),
                shows: setting(to, "hour"),
                max: 4,
            },
            ScriptStep::Tap(with_text("Save")),
            ScriptStep::Read(with_text(format!("{to}:35"))),
        ],
        wants: vec![stored(CLOCK, [("alarm/20/hour", &to.to_string())])],
    }
}

fn relabel(draw: &mut ParamSource<'_>) -> TaskInstance {
    let labels = draw.some(&LABELS, 3);
    let mut given = existing(20, 5, 10, labels[0], true);
    given.extend(existing(21, 6, 10, labels[1], true));
    TaskInstance {
        goal: format!(
            "Rename the alarm \"{}\" in Clock to \"{}\"; it rings at the same time.",
            labels[0], labels[2]
        ),
        given,
        script: vec![
            ScriptStep::Launch(CLOCK),
            ScriptStep::SkipIfVisible(with_text(labels[2])),
            ScriptStep::Tap(with_text(labels[0])),
            ScriptStep::Type(field(0), labels[2].into()),
            ScriptStep::Tap(with_text("Save")),
            ScriptStep::Read(with_text(labels[2])),
        ],
        wants: vec![stored(CLOCK, [("alarm/20/label", labels[2])])],
    }
}

fn when(draw: &mut ParamSource<'_>) -> TaskInstance {
    let labels = draw.some(&LABELS, 3);
    let minutes = draw.some(&[5, 15, 25, 35, 45, 55], 3);
    let at = draw.number(0, 2) as usize;
    let alarms = labels.iter().zip(&minutes).enumerate();
    let given = alarms
        .flat_map(|(at, (label, minute))| existing(20 + at, 4 + at as u32, *minute, label, false));
    TaskInstance {
        goal: format!("For what time is my alarm \"{}\" in Clock set?", labels[at]),
        given: given.collect(),
        script: vec![
            ScriptStep::Launch(CLOCK),
            ScriptStep::Read(like(r"^\d+:\d\d$").beside(with_text(labels[at]))),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(format!("{}:{:02}", 4 + at, minutes[at]))],
    }
}

fn count_on(draw: &mut ParamSource<'_>) -> TaskInstance {
    let labels = draw.some(&LABELS, 3);
    let on = draw.number(1, 3) as usize;
    let given = labels
        .iter()
        .enumerate()
        .flat_map(|(at, label)| existing(20 + at, 4 + at as u32, 30, label, at < on));
    TaskInstance {
        goal: "How many of the alarms in Clock are turned on?".into(),
        given: given.collect(),
        script: vec![
            ScriptStep::Launch(CLOCK),
            ScriptStep::Count(with_text("Alarm on")),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(on.to_string())],
    }
}

fn three(draw: &mut ParamSource<'_>) -> TaskInstance {
    let labels = draw.some(&LABELS, 3);
    let hours = draw.some(&[4, 5, 6, 8, 9], 3);
    let minutes = [draw.pick(&[15, 20]), draw.pick(&[25, 20]), draw.pick(&[10, 15])];
    let each = (0..3).map(|at| (hours[at], minutes[at], labels[at]));
    let alarms = each.clone().map(|(hour, minute, label)| format!("{hour}:{minute} \"{label}\""));
    TaskInstance {
        goal: format!(
            "Set three alarms in Clock, with these labels: {}.",
            alarms.collect::<Vec<_>>().join(", ")
        ),
        given: Vec::new(),
        script: each.clone().flat_map(|(hour, minute, label)| set(hour, minute, label)).collect(),
        wants: each.map(|(hour, minute, label)| alarm(hour, minute, label)).collect(),
    }
}

fn resume(draw: &mut ParamSource<'_>) -> TaskInstance {
    let run = (draw.number(60, 3_000) * 1_000).to_string();
    TaskInstance {
        goal: "I paused the stopwatch in Clock. Let it run on from where it is.".into(),
        given: given(CLOCK, [("stopwatch/before", &run)]),
        script: vec![
            ScriptStep::Launch(CLOCK),
            ScriptStep::Tap(with_text("Stopwatch")),
            ScriptStep::SkipIfVisible(with_text("Pause")),
            ScriptStep::Tap(with_text("Start")),
        ],
        wants: vec![stored(CLOCK, [("stopwatch/since", "<when>")])],
    }
}

fn extend(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (minutes, more) = (draw.number(3, 6), draw.number(2, 3));
    let length = |minutes: u64| (minutes * 60_000).to_string();
    TaskInstance {
        goal: format!(
            "The timer in Clock is paused at less than {minutes} minutes. Give it {more} minutes more, but do not start it."
        ),
        given: given(CLOCK, [("timer/length", &length(minutes)), ("timer/run", "20000")]),
        script: vec![
            ScriptStep::Launch(CLOCK),
            ScriptStep::Tap(with_text("Timer")),
            ScriptStep::TapUntil {
                tap: with_text("+1:00"),
                back: None,
                shows: with_text(format!("{:02}:00 timer", minutes + more)),
                max: 4,
            },
        ],
        wants: vec![stored(CLOCK, [("timer/length", &length(minutes + more))])],
    }
}
