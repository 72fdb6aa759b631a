//! Tasks in Clock.

use super::super::script::{ScriptStep, ScriptTarget, field, like, with_text};
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{CLOCK, given, stored};

pub(super) const TASKS: &[Task] = &[
    Task { name: "clock-alarm-add", apps: &["Clock"], needs: &[], make: add },
    Task { name: "clock-alarm-on", apps: &["Clock"], needs: &[], make: on },
    Task { name: "clock-alarm-delete", apps: &["Clock"], needs: &[], make: delete },
    Task { name: "clock-timer", apps: &["Clock"], needs: &[], make: timer },
    Task { name: "clock-stopwatch-read", apps: &["Clock"], needs: &[], make: stopwatch },
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
