//! `thumbwire skill`, and runs that follow skills.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::run::{DEMO, GOAL, Place, finish, last_line};
use crate::support::{McpProcess, thumbwire};

/// Saves the demo's run on a fresh virtual phone as `skills/maps.yaml`.
pub(crate) fn saved(place: &Place) -> String {
    let (_, err, code) = place.call(&["run", GOAL, "--device", "virtual", "--model", DEMO]);
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
    let model = place.script("one.jsonl", &[finish(), json!({ "reached": true, "why": "yes" })]);
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
    let line =
        ["run", GOAL, "--device", "virtual", "--model", DEMO, "--skills", "known", "--learn"];
    let (_, err, code) = place.call(&line);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("Skill: known/search-on-maps.yaml"), "{err}");
    let other = ["run", "Delete all notes", "--device", "virtual", "--skills", "known"];
    let (_, err, code) = place.call(&other);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("no skill fits the goal, and no model is given"), "{err}");
}

#[test]
fn skills_are_served_with_the_digests_of_their_files() {
    let place = Place::new();
    saved(&place);
    let mut serve = place.program(&["serve", "--device", "virtual", "--skills", "skills"]);
    let mut server = McpProcess::spawn(&mut serve);
    let able = server.initialize("2025-11-25");
    assert_eq!(able["capabilities"]["extensions"]["io.modelcontextprotocol/skills"], json!({}));
    let listed = server.request("skills/list", json!({}));
    let skills = listed["result"]["skills"].as_array().unwrap();
    let names: Vec<&Value> = skills.iter().map(|skill| &skill["frontmatter"]["name"]).collect();
    assert_eq!(names, ["thumbwire", "thumbwire-flows", "thumbwire-test-app", "maps"]);
    for skill in skills {
        let got = server.request("skills/get", json!({ "uri": skill["uri"] }));
        assert_eq!(got["result"]["skill"], *skill);
        let read = server.request("resources/read", json!({ "uri": skill["uri"] }));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        let mut digest = "sha256:".to_owned();
        for byte in Sha256::digest(text) {
            let _ = write!(digest, "{byte:02x}");
        }
        assert_eq!(skill["resources"][0]["digest"], digest);
    }
    let maps = server.request("resources/read", json!({ "uri": "skill://maps/SKILL.md" }));
    insta::assert_snapshot!("recorded_skill", without_run(&maps["result"]["contents"][0]["text"]));
    let unknown = server.request("skills/get", json!({ "uri": "skill://nothing/SKILL.md" }));
    assert!(unknown["error"]["message"].as_str().unwrap().starts_with("unknown skill"));
}

/// The text without the name and the date of the run.
fn without_run(text: &Value) -> String {
    let text = text.as_str().unwrap();
    let lines = text.lines().map(|line| match line.starts_with("Learned from ") {
        true => "Learned from RUN on DATE.",
        false => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn skill_documents_are_installed_and_changed_ones_kept() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = thumbwire();
        let output = command.env("HOME", home.path()).args(arguments).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        (out.replace(&home.path().display().to_string(), "~"), output.status.code())
    };
    let (out, code) = run(&["skill", "install", "claude"]);
    let lines = |end: &str| {
        let names = ["thumbwire", "thumbwire-flows", "thumbwire-test-app"];
        names.map(|name| format!("~/.claude/skills/{name}/SKILL.md: {end}\n")).concat()
    };
    assert_eq!((out, code), (lines("written"), Some(0)));
    assert_eq!(run(&["skill", "install", "claude"]), (lines("is there already"), Some(0)));
    let file = home.path().join(".claude/skills/thumbwire/SKILL.md");
    fs::write(&file, "mine").unwrap();
    fs::write(file.with_file_name("notes.md"), "mine, too").unwrap();
    for verb in ["install", "uninstall"] {
        let (out, code) = run(&["skill", verb, "claude"]);
        assert!(
            out.contains("thumbwire/SKILL.md: differs from this version's and is kept"),
            "{out}"
        );
        assert_eq!((fs::read_to_string(&file).unwrap(), code), ("mine".into(), Some(1)));
    }
    run(&["skill", "install", "claude", "--force"]);
    assert_eq!(run(&["skill", "uninstall", "claude"]), (lines("removed"), Some(0)));
    let left: Vec<_> = fs::read_dir(home.path().join(".claude/skills")).unwrap().collect();
    assert_eq!(left.len(), 1, "the folder with another file");
    fs::remove_dir_all(file.parent().unwrap()).unwrap();
    assert_eq!(run(&["skill", "uninstall", "claude"]), (lines("is not there"), Some(0)));
    assert!(!home.path().join(".claude").exists(), "nothing was left in it");
    assert_eq!(run(&["skill", "install"]).1, Some(2));
}
