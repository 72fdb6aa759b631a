//! `thumbwire skill`, and runs that follow skills.

use std::fs;

use crate::run::{GOAL, MAPS, Place, finish, last_line};

/// Saves the demo's run on a fresh virtual phone as `skills/maps.yaml`.
pub(crate) fn saved(place: &Place) -> String {
    let model = format!("scripted:{MAPS}");
    let (_, err, code) = place.call(&["run", GOAL, "--device", "virtual", "--model", &model]);
    assert_eq!(code, Some(0), "{err}");
    let run = place.runs().remove(0).display().to_string();
    let (out, err, code) = place.call(&["skill", "save", &run, "--name", "maps"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("skills/maps.yaml\n    Search for {TEXT} on Maps\n"), "{out}");
    run
}

#[test]
fn saved_skill_reaches_its_goal_without_a_model() {
    let place = Place::new();
    saved(&place);
    let (out, _, code) = place.call(&["skill", "list"]);
    assert_eq!((&*out, code), ("maps\n    Search for {TEXT} on Maps\n", Some(0)));
    let (out, _, code) = place.call(&["skill", "show", "skills/maps.yaml"]);
    assert!(code == Some(0) && out.contains("  1  launch_app package_name="), "{out}");
    let (out, _, code) = place.call(&["skill", "check", "skills/maps.yaml"]);
    assert_eq!((&*out, code), ("skills/maps.yaml: 3 steps\n", Some(0)));
    let (_, err, code) = place.call(&["run", GOAL, "--device", "virtual", "--skills", "skills"]);
    assert!(err.contains("! following the skill maps"), "{err}");
    assert_eq!(code, Some(1), "only a model can say what the answer is: {err}");
    assert!(err.contains("the skill has no answer: all of its steps are done"), "{err}");
    let model = place
        .script("one.jsonl", &[finish(), serde_json::json!({ "reached": true, "why": "yes" })]);
    let with = ["run", GOAL, "--device", "virtual", "--skills", "skills", "--model", &model];
    let (out, err, code) = place.call(&with);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("Maps is"), "{out}");
    let last = place.runs().pop().unwrap();
    assert_eq!(last_line(&last)["status"], "FINISH");
}

#[test]
fn files_of_skills_are_checked_and_never_replaced_unasked() {
    let place = Place::new();
    let run = saved(&place);
    let again = ["skill", "save", &run, "--name", "maps"];
    let (_, err, code) = place.call(&again);
    assert_eq!(code, Some(1));
    assert!(err.contains("skills/maps.yaml exists already") && err.contains("--force"), "{err}");
    let (_, err, code) = place.call(&[&again[..], &["--force"]].concat());
    assert_eq!(code, Some(0), "{err}");
    let folder = std::path::Path::new(&run).parent().unwrap().parent().unwrap();
    let file = folder.join("skills/maps.yaml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("version: 1", "version: 7")).unwrap();
    for line in [
        &["skill", "check", "skills/maps.yaml"][..],
        &["run", GOAL, "--device", "virtual", "--skills", "skills"],
    ] {
        let (_, err, code) = place.call(line);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("version 7 is not supported"), "{err}");
    }
    let (_, err, code) = place.call(&["skill", "save", "nowhere"]);
    assert!(code == Some(1) && err.contains("cannot save nowhere: no such directory"), "{err}");
    let (_, err, code) = place.call(&["skill", "save", "skills"]);
    assert!(code == Some(1) && err.contains("it has no trace.jsonl; a run of the agent"), "{err}");
}

#[test]
fn run_is_learned_once_and_other_goals_need_a_model() {
    let place = Place::new();
    let model = format!("scripted:{MAPS}");
    let line =
        ["run", GOAL, "--device", "virtual", "--model", &model, "--skills", "known", "--learn"];
    let (_, err, code) = place.call(&line);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("Skill: known/search-on-maps.yaml"), "{err}");
    let other = ["run", "Delete all notes", "--device", "virtual", "--skills", "known"];
    let (_, err, code) = place.call(&other);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("no skill fits the goal, and no model is given"), "{err}");
}
