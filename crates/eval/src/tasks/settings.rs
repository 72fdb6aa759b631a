//! Tasks in Settings.

use super::super::script::{ScriptStep, ScriptSwipe, field, like, with_text};
use super::super::task::{InitialState, Need, ParamSource, SuccessCondition, Task, TaskInstance};
use super::SETTINGS;

pub(super) const TASKS: &[Task] = &[
    Task { name: "settings-bluetooth", apps: &["Settings"], needs: &[], make: bluetooth },
    Task { name: "settings-timeout", apps: &["Settings"], needs: &[], make: timeout },
    Task { name: "settings-search", apps: &["Settings"], needs: &[], make: search },
    Task {
        name: "settings-developer",
        apps: &["Settings"],
        needs: &[Need::DeveloperOptions],
        make: developer,
    },
    Task { name: "settings-name", apps: &["Settings"], needs: &[], make: name },
];

fn bluetooth(draw: &mut ParamSource<'_>) -> TaskInstance {
    let on = draw.coin();
    let (before, after) = if on { ("0", "1") } else { ("1", "0") };
    TaskInstance {
        goal: format!("Turn Bluetooth {}.", if on { "on" } else { "off" }),
        given: vec![InitialState::Setting("global", "bluetooth_on", before.into())],
        script: vec![
            ScriptStep::Launch(SETTINGS),
            ScriptStep::Tap(with_text("Connected devices")),
            ScriptStep::SetSwitch(with_text("Use Bluetooth"), on),
        ],
        wants: vec![SuccessCondition::Setting("global", "bluetooth_on", after.into())],
    }
}

fn timeout(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (words, value) = draw.pick(&[
        ("15 seconds", "15000"),
        ("30 seconds", "30000"),
        ("2 minutes", "120000"),
        ("5 minutes", "300000"),
        ("30 minutes", "1800000"),
    ]);
    TaskInstance {
        goal: format!("Make the screen turn off after {words} of inactivity."),
        given: Vec::new(),
        script: vec![
            ScriptStep::Launch(SETTINGS),
            ScriptStep::ScrollTo(with_text("Display"), ScriptSwipe::Up),
            ScriptStep::Tap(with_text("Display")),
            ScriptStep::Tap(with_text("Screen timeout")),
            ScriptStep::Tap(with_text(words)),
            ScriptStep::Read(with_text(format!("After {words} of inactivity"))),
        ],
        wants: vec![SuccessCondition::Setting("system", "screen_off_timeout", value.into())],
    }
}

fn search(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (words, title, table, setting, on) = draw.pick(&[
        ("Do Not Disturb", "Do Not Disturb", "global", "zen_mode", true),
        ("Battery Saver", "Battery Saver", "global", "low_power", true),
        ("Touch sounds", "Touch sounds", "system", "sound_effects_enabled", false),
        ("Auto-rotate", "Auto-rotate screen", "system", "accelerometer_rotation", false),
        ("Mobile data", "Mobile data", "global", "mobile_data", false),
    ]);
    TaskInstance {
        goal: format!(
            "Turn \"{title}\" {}. You can find it with the search in Settings.",
            if on { "on" } else { "off" }
        ),
        given: Vec::new(),
        script: vec![
            ScriptStep::Launch(SETTINGS),
            ScriptStep::Tap(with_text("Search settings")),
            ScriptStep::Type(field(0), words.into()),
            ScriptStep::Tap(with_text(title)),
            ScriptStep::SetSwitch(with_text(title), on),
        ],
        wants: vec![SuccessCondition::Setting(table, setting, if on { "1" } else { "0" }.into())],
    }
}

fn developer(draw: &mut ParamSource<'_>) -> TaskInstance {
    let awake = draw.coin();
    let mut script = vec![
        ScriptStep::Launch(SETTINGS),
        ScriptStep::ScrollTo(with_text("About phone"), ScriptSwipe::Up),
        ScriptStep::Tap(with_text("About phone")),
    ];
    // `DevelopmentSettingsEnabler`: seven taps. One more does no harm.
    script.extend((0..7).map(|_| ScriptStep::Tap(with_text("Build number"))));
    script.extend([
        ScriptStep::Press("BACK"),
        ScriptStep::ScrollTo(with_text("System"), ScriptSwipe::Up),
        ScriptStep::Tap(with_text("System")),
        ScriptStep::Tap(with_text("Developer options")),
        ScriptStep::SetSwitch(with_text("Stay awake"), awake),
    ]);
    let stay = if awake { "7" } else { "0" };
    let before = if awake { "0" } else { "7" };
    TaskInstance {
        goal: format!(
            "Enable the developer options by tapping the build number seven times, then turn \"Stay awake\" {}.",
            if awake { "on" } else { "off" }
        ),
        given: vec![InitialState::Setting("global", "stay_on_while_plugged_in", before.into())],
        script,
        wants: vec![
            SuccessCondition::Setting("global", "development_settings_enabled", "1".into()),
            SuccessCondition::Setting("global", "stay_on_while_plugged_in", stay.into()),
        ],
    }
}

fn name(draw: &mut ParamSource<'_>) -> TaskInstance {
    let name = format!(
        "{} {}",
        draw.pick(&["Blue", "Spare", "Kitchen", "Field", "Test"]),
        draw.number(10, 99)
    );
    TaskInstance {
        goal: "What is this phone's device name according to Settings?".into(),
        given: vec![InitialState::Setting("global", "device_name", name.clone())],
        script: vec![
            ScriptStep::Launch(SETTINGS),
            ScriptStep::ScrollTo(with_text("About phone"), ScriptSwipe::Up),
            ScriptStep::Tap(with_text("About phone")),
            ScriptStep::Read(like(r"^\w+ \d\d$").beside(with_text("Device name"))),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(name)],
    }
}
