//! Tasks in Maps.

use thumbwire_virtual_phone::SeededPlace;

use super::super::script::{ScriptStep, ScriptSwipe, ScriptTarget, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{MAPS, given, stored};

pub(super) const TASKS: &[Task] = &[
    Task::new("maps-save", &["Maps"], Medium, &[Search], save),
    Task::new("maps-forget", &["Maps"], Easy, &[DataEdit], forget),
    Task::new("maps-phone", &["Maps"], Easy, &[InformationRetrieval, Search], phone_of),
    Task::new("maps-locate", &["Maps"], Easy, &[ComplexUiUnderstanding], locate),
    Task::new("maps-address", &["Maps"], Easy, &[InformationRetrieval, Search], address),
    Task::new("maps-share", &["Maps"], Medium, &[Search], share),
    Task::new("maps-save-two", &["Maps"], Medium, &[Search, Composite, Repetition], save_two),
    Task::new("maps-trip", &["Maps"], Hard, &[Search, Composite, Repetition], trip),
];

/// Picks a place that Maps knows.
pub(super) fn place(draw: &mut ParamSource<'_>) -> SeededPlace {
    let all = draw.world.places();
    draw.pick(&all)
}

/// A place in a list.
fn row_of(name: &str) -> ScriptTarget {
    like(format!("^{}, ", regex_lite::escape(name))).or(with_text(name))
}

/// Goes from the map to a place's page.
pub(super) fn open(name: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(MAPS),
        ScriptStep::Tap(with_text("Search here")),
        ScriptStep::Type(field(0), name.into()),
        ScriptStep::Press("ENTER"),
        ScriptStep::Tap(row_of(name)),
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
            ScriptStep::Tap(row_of(&two[0].name)),
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

/// Reads a place's street and number.
pub(super) fn read_address(name: &str) -> Vec<ScriptStep> {
    let mut script = open(name);
    script.push(ScriptStep::Read(like(r"^\d+ [\w. ]+, Harbor City$")));
    script
}

fn address(draw: &mut ParamSource<'_>) -> TaskInstance {
    let place = place(draw);
    let mut script = read_address(&place.name);
    script.push(ScriptStep::Answer("{0}".into()));
    TaskInstance {
        goal: format!("What is the street address of \"{}\"? Maps should know it.", place.name),
        given: Vec::new(),
        script,
        wants: vec![SuccessCondition::Answer(place.address)],
    }
}

fn share(draw: &mut ParamSource<'_>) -> TaskInstance {
    let place = place(draw);
    let mut script = open(&place.name);
    script.push(ScriptStep::Tap(with_text("Share")));
    TaskInstance {
        goal: format!(
            "Copy a link to \"{}\" in Maps, so that I can send it to somebody.",
            place.name
        ),
        given: Vec::new(),
        script,
        wants: vec![SuccessCondition::Clipboard(format!(
            "https://maps.example/place/{}",
            place.number
        ))],
    }
}

/// Saves these places, one after the other, by the search on each page.
pub(super) fn save_all(places: &[SeededPlace]) -> Vec<ScriptStep> {
    let mut script = Vec::new();
    for place in places {
        let mut open = open(&place.name);
        open[1] = ScriptStep::Tap(with_text("Search here").or(with_text("Search")));
        script.extend(open);
        script.push(ScriptStep::Tap(with_text("Save").beside(with_text("Call"))));
        script.push(ScriptStep::Read(with_text("Saved")));
    }
    script
}

fn saved(places: &[SeededPlace]) -> Vec<SuccessCondition> {
    let each = places.iter();
    each.map(|place| stored(MAPS, [(&*format!("saved/{:04}", place.number), "yes")])).collect()
}

fn save_two(draw: &mut ParamSource<'_>) -> TaskInstance {
    let all = draw.world.places();
    let two = draw.some(&all, 2);
    TaskInstance {
        goal: format!(
            "Add \"{}\" and \"{}\" to my saved places in Maps.",
            two[0].name, two[1].name
        ),
        given: Vec::new(),
        script: save_all(&two),
        wants: saved(&two),
    }
}

fn trip(draw: &mut ParamSource<'_>) -> TaskInstance {
    let all = draw.world.places();
    let four = draw.some(&all, 4);
    let names: Vec<&str> = four.iter().map(|place| &*place.name).collect();
    TaskInstance {
        goal: format!(
            "I am planning a day in the city. Save all the stops in Maps: {}.",
            names.join("; ")
        ),
        given: Vec::new(),
        script: save_all(&four),
        wants: saved(&four),
    }
}
