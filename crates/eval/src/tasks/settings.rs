//! Tasks in Settings.

use thumbwire_virtual_phone::World;

use super::super::script::{ScriptStep, ScriptSwipe, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{InitialState, Need, ParamSource, SuccessCondition, Task, TaskInstance};
use super::SETTINGS;

pub(super) const TASKS: &[Task] = &[
    Task::new("settings-bluetooth", &["Settings"], Easy, &[Verification], bluetooth),
    Task::new("settings-timeout", &["Settings"], Easy, &[ComplexUiUnderstanding], timeout),
    Task::new("settings-search", &["Settings"], Easy, &[Search], search),
    Task::new(
        "settings-developer",
        &["Settings"],
        Hard,
        &[Repetition, ComplexUiUnderstanding],
        developer,
    )
    .needing(&[Need::DeveloperOptions]),
    Task::new("settings-name", &["Settings"], Easy, &[InformationRetrieval, ScreenReading], name),
    Task::new("settings-wifi", &["Settings"], Easy, &[Verification], wifi),
    Task::new(
        "settings-app-version",
        &["Settings"],
        Easy,
        &[InformationRetrieval, ScreenReading],
        app_version,
    ),
    Task::new(
        "settings-open-app",
        &["Settings"],
        Easy,
        &[ComplexUiUnderstanding, ScreenReading],
        open_app,
    ),
    Task::new(
        "settings-clock",
        &["Settings"],
        Easy,
        &[Composite, ComplexUiUnderstanding],
        clock_by_hand,
    ),
    Task::new("settings-evening", &["Settings"], Hard, &[Composite, Repetition, Search], evening),
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

fn wifi(draw: &mut ParamSource<'_>) -> TaskInstance {
    let on = draw.coin();
    let (before, after) = if on { ("0", "1") } else { ("1", "0") };
    TaskInstance {
        goal: format!("Turn Wi-Fi {} in Settings.", if on { "on" } else { "off" }),
        given: vec![InitialState::Setting("global", "wifi_on", before.into())],
        script: vec![
            ScriptStep::Launch(SETTINGS),
            ScriptStep::Tap(with_text("Network & internet")),
            ScriptStep::Tap(with_text("Internet")),
            ScriptStep::SetSwitch(with_text("Wi-Fi"), on),
        ],
        wants: vec![SuccessCondition::Setting("global", "wifi_on", after.into())],
    }
}

/// Opens an app's page in Settings.
pub(super) fn app_page(label: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(SETTINGS),
        ScriptStep::Tap(with_text("Apps")),
        ScriptStep::ScrollTo(with_text(label), ScriptSwipe::Up),
        ScriptStep::Tap(with_text(label)),
    ]
}

/// Apps by label and package, without those whose label is also a title of Settings.
pub(super) const APPS: [(&str, &str); 6] = [
    ("Bank", super::BANK),
    ("Calendar", super::CALENDAR),
    ("Contacts", super::CONTACTS),
    ("Maps", super::MAPS),
    ("Messages", super::MESSAGES),
    ("Shop", super::SHOP),
];

/// The version that Settings shows for an app.
pub(super) fn version_of(package: &str, world: &World) -> String {
    let packages = world.packages();
    let manifest = packages.iter().find(|manifest| manifest.package == package);
    manifest.map(|manifest| manifest.version_name.clone()).unwrap_or_default()
}

fn app_version(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (label, package) = draw.pick(&APPS);
    let version = version_of(package, draw.world);
    let mut script = app_page(label);
    script.extend([
        ScriptStep::Read(like(r"^\d[\d.]*$").beside(with_text("Version"))),
        ScriptStep::Answer("{0}".into()),
    ]);
    TaskInstance {
        goal: format!("Which version of the app {label} do I have? Look in Settings."),
        given: Vec::new(),
        script,
        wants: vec![SuccessCondition::Answer(version)],
    }
}

fn open_app(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (label, package) = draw.pick(&APPS);
    let mut script = app_page(label);
    script.push(ScriptStep::Tap(with_text("Open")));
    TaskInstance {
        goal: format!("Open {label} from its page among the apps in Settings."),
        given: Vec::new(),
        script,
        wants: vec![SuccessCondition::AppInForeground(package)],
    }
}

fn clock_by_hand(draw: &mut ParamSource<'_>) -> TaskInstance {
    let on = draw.coin();
    let (before, after) = if on { ("0", "1") } else { ("1", "0") };
    let names = ["auto_time", "auto_time_zone"];
    TaskInstance {
        goal: match on {
            true => "Let the phone set both its time and its time zone automatically.".into(),
            false => {
                "I want to set the clock myself: the phone must not set time or time zone automatically any more.".into()
            }
        },
        given: names
            .map(|name| InitialState::Setting("global", name, before.into()))
            .into(),
        script: vec![
            ScriptStep::Launch(SETTINGS),
            ScriptStep::ScrollTo(with_text("System"), ScriptSwipe::Up),
            ScriptStep::Tap(with_text("System")),
            ScriptStep::Tap(with_text("Date & time")),
            ScriptStep::SetSwitch(with_text("Set time automatically"), on),
            ScriptStep::SetSwitch(with_text("Set time zone automatically"), on),
        ],
        wants: names
            .map(|name| SuccessCondition::Setting("global", name, after.into()))
            .into(),
    }
}

fn evening(draw: &mut ParamSource<'_>) -> TaskInstance {
    let all = [
        ("Do Not Disturb", "Do Not Disturb", "global", "zen_mode", true),
        ("Battery Saver", "Battery Saver", "global", "low_power", true),
        ("Touch sounds", "Touch sounds", "system", "sound_effects_enabled", false),
        ("Auto-rotate", "Auto-rotate screen", "system", "accelerometer_rotation", false),
        ("Mobile data", "Mobile data", "global", "mobile_data", false),
    ];
    let omitted = draw.number(0, 4) as usize;
    let four: Vec<_> = (0..5).filter(|at| *at != omitted).map(|at| all[at]).collect();
    let wished = |on: bool| {
        let titles = four.iter().filter(|row| row.4 == on).map(|row| row.1);
        titles.collect::<Vec<_>>().join(", ")
    };
    let script = four.iter().zip(1..).flat_map(|((words, title, _, _, on), number)| {
        let steps = [
            ScriptStep::Launch(SETTINGS),
            ScriptStep::Tap(with_text("Search settings")),
            ScriptStep::Type(field(0), (*words).into()),
            ScriptStep::Tap(with_text(*title)),
            ScriptStep::SetSwitch(with_text(*title), *on),
            ScriptStep::Press("BACK"),
            ScriptStep::Press("BACK"),
        ];
        // Nothing is to be found after the last switch.
        let ways_back = if number == four.len() { 2 } else { 0 };
        let wanted = steps.len() - ways_back;
        steps.into_iter().take(wanted)
    });
    TaskInstance {
        goal: format!(
            "Prepare my phone for the night. Turn on: {}. Turn off: {}. The search in Settings finds them all.",
            wished(true),
            wished(false)
        ),
        given: Vec::new(),
        script: script.collect(),
        wants: four
            .iter()
            .map(|(_, _, table, name, on)| {
                SuccessCondition::Setting(table, name, if *on { "1" } else { "0" }.into())
            })
            .collect(),
    }
}
