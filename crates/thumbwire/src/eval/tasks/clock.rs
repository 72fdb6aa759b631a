//! Tasks in Clock.

use super::super::script::{Step, field, like, says};
use super::super::task::{Case, Draw, Task, Want};
use super::{CLOCK, given, kept};

pub(super) const TASKS: &[Task] = &[
    Task { name: "clock-alarm-add", apps: &["Clock"], make: add },
    Task { name: "clock-alarm-on", apps: &["Clock"], make: on },
    Task { name: "clock-alarm-delete", apps: &["Clock"], make: delete },
    Task { name: "clock-timer", apps: &["Clock"], make: timer },
    Task { name: "clock-stopwatch-read", apps: &["Clock"], make: stopwatch },
];

fn add(draw: &mut Draw<'_>) -> Case {
    let (hour, minute) = (draw.pick(&[4, 5, 6, 8, 9, 10]), draw.pick(&[15, 20, 25]));
    let label = draw.pick(&["Early train", "Ferry", "Market", "Swimming"]);
    Case {
        goal: format!("Set an alarm for {hour}:{minute} in Clock, labelled \"{label}\"."),
        given: Vec::new(),
        script: set(hour, minute, label),
        wants: vec![alarm(hour, minute, label)],
    }
}

/// Sets an alarm, its minute a multiple of five that is no hour.
pub(super) fn set(hour: u32, minute: u32, label: &str) -> Vec<Step> {
    // A new alarm stands at 7:00.
    let (turn, back) = match hour {
        ..7 => ("Decrease hour", "Increase hour"),
        _ => ("Increase hour", "Decrease hour"),
    };
    vec![
        Step::Launch(CLOCK),
        Step::Enough(says(label)),
        Step::Tap(says("Add alarm")),
        Step::Until {
            tap: says(turn),
            back: Some(says(back)),
            shows: says(format!("{hour:02}")),
            most: 12,
        },
        Step::Until {
            tap: says("Increase minute"),
            back: Some(says("Decrease minute")),
            shows: says(format!("{minute:02}")),
            most: 12,
        },
        Step::Write(field(0), label.into()),
        Step::Tap(says("Save")),
        Step::Read(says(label)),
    ]
}

/// A new alarm after a task.
pub(super) fn alarm(hour: u32, minute: u32, label: &str) -> Want {
    kept(
        CLOCK,
        [
            ("alarm/<n>/hour", &hour.to_string()),
            ("alarm/<n>/minute", &minute.to_string()),
            ("alarm/<n>/label", label),
            ("alarm/<n>/on", "yes"),
        ],
    )
}

fn on(draw: &mut Draw<'_>) -> Case {
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
    Case {
        goal: format!("Turn the alarm \"{}\" on in Clock, and no other.", labels[at]),
        given: all,
        script: vec![Step::Launch(CLOCK), Step::Switch(says(labels[at]), true)],
        wants: vec![kept(CLOCK, [(&format!("alarm/{}/on", 20 + at), "yes")])],
    }
}

fn delete(draw: &mut Draw<'_>) -> Case {
    let (hour, number) = (draw.number(4, 6), draw.number(20, 24));
    let key = |field: &str| format!("alarm/{number}/{field}");
    let hours = hour.to_string();
    Case {
        goal: format!("Delete the alarm for {hour}:50 in Clock."),
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
            Step::Launch(CLOCK),
            Step::Tap(says(format!("{hour}:50"))),
            Step::Tap(says("Delete alarm")),
        ],
        wants: vec![Want::Gone(CLOCK, format!("alarm/{number}"))],
    }
}

fn timer(draw: &mut Draw<'_>) -> Case {
    let (tens, ones) = (draw.number(1, 4), draw.number(1, 9));
    let digits = [
        (tens.to_string(), format!("00h 00m 0{tens}s")),
        (ones.to_string(), format!("00h 00m {tens}{ones}s")),
        ("00".to_owned(), format!("00h {tens}{ones}m 00s")),
    ];
    let mut script = vec![Step::Launch(CLOCK), Step::Tap(says("Timer"))];
    script.extend(digits.map(|(key, shows)| Step::Until {
        tap: says(key),
        back: None,
        shows: says(shows),
        most: 1,
    }));
    script.push(Step::Tap(says("Start")));
    let length = ((tens * 10 + ones) * 60_000).to_string();
    Case {
        goal: format!("Start a timer of {tens}{ones} minutes in Clock."),
        given: Vec::new(),
        script,
        wants: vec![kept(CLOCK, [("timer/length", &length), ("timer/since", "<now>")])],
    }
}

fn stopwatch(draw: &mut Draw<'_>) -> Case {
    let (minutes, seconds) = (draw.number(1, 9), draw.number(10, 59));
    let run = ((minutes * 60 + seconds) * 1_000).to_string();
    Case {
        goal: "How long did the stopwatch in Clock run? Answer with minutes and seconds, as 01:30."
            .into(),
        given: given(CLOCK, [("stopwatch/before", &run)]),
        script: vec![
            Step::Launch(CLOCK),
            Step::Tap(says("Stopwatch")),
            Step::Read(like(r"^\d\d:\d\d$")),
            Step::Answer("{0}".into()),
        ],
        wants: vec![Want::Answer(format!("{minutes:02}:{seconds:02}"))],
    }
}
