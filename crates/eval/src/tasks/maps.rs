//! Tasks in Maps.

use thumbwire_virtual_phone::SeededPlace;

use super::super::script::{ScriptStep, ScriptSwipe, field, like, with_text};
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{MAPS, given, stored};

pub(super) const TASKS: &[Task] = &[
    Task { name: "maps-save", apps: &["Maps"], needs: &[], make: save },
    Task { name: "maps-forget", apps: &["Maps"], needs: &[], make: forget },
    Task { name: "maps-phone", apps: &["Maps"], needs: &[], make: phone_of },
    Task { name: "maps-locate", apps: &["Maps"], needs: &[], make: locate },
];

/// Picks a place that Maps knows.
pub(super) fn place(draw: &mut ParamSource<'_>) -> SeededPlace {
    let all = draw.world.places();
    draw.pick(&all)
}

/// Goes from the map to a place's page.
pub(super) fn open(name: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(MAPS),
        ScriptStep::Tap(with_text("Search here")),
        ScriptStep::Type(field(0), name.into()),
        ScriptStep::Press("ENTER"),
        ScriptStep::Tap(like(format!("^{}, ", regex_lite::escape(name))).or(with_text(name))),
    ]
}

fn save(draw: &mut ParamSource<'_>) -> TaskInstance {
    let place = place(draw);
    let mut script = open(&place.name);
    script.push(ScriptStep::Tap(with_text("Save").beside(with_text("Call"))));
    script.push(ScriptStep::Read(with_text("Saved")));
    TaskInstance {
        goal: format!("Save the place \"{}\" in Maps.", place.name),
        given: Vec::new(),
        script,
        wants: vec![stored(MAPS, [(&format!("saved/{:04}", place.number), "yes")])],
    }
}

fn forget(draw: &mut ParamSource<'_>) -> TaskInstance {
    let all = draw.world.places();
    let two = draw.some(&all, 2);
    let keys: Vec<String> = two.iter().map(|place| format!("saved/{:04}", place.number)).collect();
    TaskInstance {
        goal: format!("Remove \"{}\" from the saved places in Maps.", two[0].name),
        given: given(MAPS, [(&keys[0], "yes"), (&keys[1], "yes")]),
        script: vec![
            ScriptStep::Launch(MAPS),
            ScriptStep::Tap(with_text("Saved").beside(with_text("Contribute"))),
            ScriptStep::Tap(with_text(&*two[0].name)),
            ScriptStep::Tap(with_text("Saved").beside(with_text("Call"))),
            ScriptStep::Read(with_text("Save")),
        ],
        wants: vec![SuccessCondition::ValueAbsent(MAPS, keys[0].clone())],
    }
}

fn phone_of(draw: &mut ParamSource<'_>) -> TaskInstance {
    let place = place(draw);
    TaskInstance {
        goal: format!("What is the phone number of \"{}\" according to Maps?", place.name),
        given: Vec::new(),
        script: read_phone(&place.name)
            .into_iter()
            .chain([ScriptStep::Answer("{0}".into())])
            .collect(),
        wants: vec![SuccessCondition::Answer(place.phone)],
    }
}

/// Reads a place's phone number.
pub(super) fn read_phone(name: &str) -> Vec<ScriptStep> {
    let number = like(r"^\(\d{3}\) \d{3}-\d{4}$");
    let mut script = open(name);
    script
        .extend([ScriptStep::ScrollTo(number.clone(), ScriptSwipe::Up), ScriptStep::Read(number)]);
    script
}

fn locate(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (android, ios, words) = draw.pick(&[
        ("While using the app", "Allow While Using App", "only while I use the app"),
        ("Only this time", "Allow Once", "only this time"),
    ]);
    TaskInstance {
        goal: format!("Let Maps find my location, and allow it {words}."),
        given: Vec::new(),
        script: vec![
            ScriptStep::Launch(MAPS),
            ScriptStep::Tap(with_text("Re-center map to your location")),
            ScriptStep::Tap(with_text(android).or(with_text(ios))),
        ],
        wants: vec![SuccessCondition::Granted(MAPS, "android.permission.ACCESS_FINE_LOCATION")],
    }
}
