//! Tasks in Maps.

use thumbwire_virtual_phone::world::Place;

use super::super::script::{Step, Way, field, like, says};
use super::super::task::{Case, Draw, Task, Want};
use super::{MAPS, given, kept};

pub(super) const TASKS: &[Task] = &[
    Task { name: "maps-save", apps: &["Maps"], make: save },
    Task { name: "maps-forget", apps: &["Maps"], make: forget },
    Task { name: "maps-phone", apps: &["Maps"], make: phone_of },
    Task { name: "maps-locate", apps: &["Maps"], make: locate },
];

/// A place that Maps knows.
pub(super) fn place(draw: &mut Draw<'_>) -> Place {
    let all = draw.world.places();
    draw.pick(&all)
}

/// From the map to a place's page.
pub(super) fn open(name: &str) -> Vec<Step> {
    vec![
        Step::Launch(MAPS),
        Step::Tap(says("Search here")),
        Step::Write(field(0), name.into()),
        Step::Press("ENTER"),
        Step::Tap(like(format!("^{}, ", regex_lite::escape(name))).or(says(name))),
    ]
}

fn save(draw: &mut Draw<'_>) -> Case {
    let place = place(draw);
    let mut script = open(&place.name);
    script.push(Step::Tap(says("Save").beside(says("Call"))));
    script.push(Step::Read(says("Saved")));
    Case {
        goal: format!("Save the place \"{}\" in Maps.", place.name),
        given: Vec::new(),
        script,
        wants: vec![kept(MAPS, [(&format!("saved/{:04}", place.number), "yes")])],
    }
}

fn forget(draw: &mut Draw<'_>) -> Case {
    let all = draw.world.places();
    let two = draw.some(&all, 2);
    let keys: Vec<String> = two.iter().map(|place| format!("saved/{:04}", place.number)).collect();
    Case {
        goal: format!("Take \"{}\" out of the saved places of Maps.", two[0].name),
        given: given(MAPS, [(&keys[0], "yes"), (&keys[1], "yes")]),
        script: vec![
            Step::Launch(MAPS),
            Step::Tap(says("Saved").beside(says("Contribute"))),
            Step::Tap(says(&*two[0].name)),
            Step::Tap(says("Saved").beside(says("Call"))),
            Step::Read(says("Save")),
        ],
        wants: vec![Want::Absent(MAPS, keys[0].clone())],
    }
}

fn phone_of(draw: &mut Draw<'_>) -> Case {
    let place = place(draw);
    Case {
        goal: format!("What is the phone number of \"{}\", by Maps?", place.name),
        given: Vec::new(),
        script: read_phone(&place.name).into_iter().chain([Step::Answer("{0}".into())]).collect(),
        wants: vec![Want::Answer(place.phone)],
    }
}

/// Reads a place's phone number.
pub(super) fn read_phone(name: &str) -> Vec<Step> {
    let number = like(r"^\(\d{3}\) \d{3}-\d{4}$");
    let mut script = open(name);
    script.extend([Step::Seek(number.clone(), Way::Up), Step::Read(number)]);
    script
}

fn locate(draw: &mut Draw<'_>) -> Case {
    let (answer, words) = draw.pick(&[
        ("While using the app", "while the app is used"),
        ("Only this time", "only this time"),
    ]);
    Case {
        goal: format!("Let Maps find your location, {words}."),
        given: Vec::new(),
        script: vec![
            Step::Launch(MAPS),
            Step::Tap(says("Re-center map to your location")),
            Step::Tap(says(answer)),
        ],
        wants: vec![Want::Granted(MAPS, "android.permission.ACCESS_FINE_LOCATION")],
    }
}
