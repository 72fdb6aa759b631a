//! Tasks in Settings.

use super::super::script::{Step, Way, field, like, says};
use super::super::task::{Case, Draw, Given, Task, Want};
use super::SETTINGS;

pub(super) const TASKS: &[Task] = &[
    Task { name: "settings-bluetooth", apps: &["Settings"], make: bluetooth },
    Task { name: "settings-timeout", apps: &["Settings"], make: timeout },
    Task { name: "settings-search", apps: &["Settings"], make: search },
    Task { name: "settings-developer", apps: &["Settings"], make: developer },
    Task { name: "settings-name", apps: &["Settings"], make: name },
];

fn bluetooth(draw: &mut Draw<'_>) -> Case {
    let on = draw.coin();
    let (before, after) = if on { ("0", "1") } else { ("1", "0") };
    Case {
        goal: format!("Turn Bluetooth {}.", if on { "on" } else { "off" }),
        given: vec![Given::Setting("global", "bluetooth_on", before.into())],
        script: vec![
            Step::Launch(SETTINGS),
            Step::Tap(says("Connected devices")),
            Step::Switch(says("Use Bluetooth"), on),
        ],
        wants: vec![Want::Setting("global", "bluetooth_on", after.into())],
    }
}

fn timeout(draw: &mut Draw<'_>) -> Case {
    let (words, value) = draw.pick(&[
        ("15 seconds", "15000"),
        ("30 seconds", "30000"),
        ("2 minutes", "120000"),
        ("5 minutes", "300000"),
        ("30 minutes", "1800000"),
    ]);
    Case {
        goal: format!("Let the screen turn off after {words} of inactivity."),
        given: Vec::new(),
        script: vec![
            Step::Launch(SETTINGS),
            Step::Seek(says("Display"), Way::Up),
            Step::Tap(says("Display")),
            Step::Tap(says("Screen timeout")),
            Step::Tap(says(words)),
            Step::Read(says(format!("After {words} of inactivity"))),
        ],
        wants: vec![Want::Setting("system", "screen_off_timeout", value.into())],
    }
}

fn search(draw: &mut Draw<'_>) -> Case {
    let (words, title, table, setting, on) = draw.pick(&[
        ("Do Not Disturb", "Do Not Disturb", "global", "zen_mode", true),
        ("Battery Saver", "Battery Saver", "global", "low_power", true),
        ("Touch sounds", "Touch sounds", "system", "sound_effects_enabled", false),
        ("Auto-rotate", "Auto-rotate screen", "system", "accelerometer_rotation", false),
        ("Mobile data", "Mobile data", "global", "mobile_data", false),
    ]);
    Case {
        goal: format!(
            "Turn \"{title}\" {}. The search of Settings finds it.",
            if on { "on" } else { "off" }
        ),
        given: Vec::new(),
        script: vec![
            Step::Launch(SETTINGS),
            Step::Tap(says("Search settings")),
            Step::Write(field(0), words.into()),
            Step::Tap(says(title)),
            Step::Switch(says(title), on),
        ],
        wants: vec![Want::Setting(table, setting, if on { "1" } else { "0" }.into())],
    }
}

fn developer(draw: &mut Draw<'_>) -> Case {
    let awake = draw.coin();
    let mut script = vec![
        Step::Launch(SETTINGS),
        Step::Seek(says("About phone"), Way::Up),
        Step::Tap(says("About phone")),
    ];
    // `DevelopmentSettingsEnabler`: seven taps. One more does no harm.
    script.extend((0..7).map(|_| Step::Tap(says("Build number"))));
    script.extend([
        Step::Press("BACK"),
        Step::Seek(says("System"), Way::Up),
        Step::Tap(says("System")),
        Step::Tap(says("Developer options")),
        Step::Switch(says("Stay awake"), awake),
    ]);
    let stay = if awake { "7" } else { "0" };
    let before = if awake { "0" } else { "7" };
    Case {
        goal: format!(
            "Become a developer by tapping the build number seven times, then turn \"Stay awake\" {}.",
            if awake { "on" } else { "off" }
        ),
        given: vec![Given::Setting("global", "stay_on_while_plugged_in", before.into())],
        script,
        wants: vec![
            Want::Setting("global", "development_settings_enabled", "1".into()),
            Want::Setting("global", "stay_on_while_plugged_in", stay.into()),
        ],
    }
}

fn name(draw: &mut Draw<'_>) -> Case {
    let name = format!(
        "{} {}",
        draw.pick(&["Blue", "Spare", "Kitchen", "Field", "Test"]),
        draw.number(10, 99)
    );
    Case {
        goal: "What is this phone's device name, by Settings?".into(),
        given: vec![Given::Setting("global", "device_name", name.clone())],
        script: vec![
            Step::Launch(SETTINGS),
            Step::Seek(says("About phone"), Way::Up),
            Step::Tap(says("About phone")),
            Step::Read(like(r"^\w+ \d\d$").beside(says("Device name"))),
            Step::Answer("{0}".into()),
        ],
        wants: vec![Want::Answer(name)],
    }
}
