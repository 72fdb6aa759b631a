//! Pages of runs that were never made: hostile words, missing files, broken traces.

use std::fs;
use std::path::Path;

use super::super::format::{FILE, Line, VERSION};
use super::super::story::Story;
use super::*;
use crate::trace::format::{Carried, Goal, Round};
use crate::trace::show;

fn written(folder: &Path, lines: &[Line]) {
    let text: Vec<String> =
        lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect();
    fs::write(folder.join(FILE), text.concat()).unwrap();
}

fn run(version: u32) -> Line {
    Line::Run { trace: version, program: "p".into(), started: "2024-03-05T10:00:00Z".into() }
}

const HOSTILE: &str =
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\0\u{1b}[2J\"'&";

fn hostile() -> Vec<Line> {
    let words = || HOSTILE.to_owned();
    let action = Carried { function: words(), message: words(), ..Carried::default() };
    let round = Round {
        round: 1,
        app: Some(words()),
        clean: Some("../../etc/passwd".into()),
        look: Some("/etc/passwd".into()),
        prompt: Some("prompt.json".into()),
        observations: vec![words(); 300],
        thought: HOSTILE.repeat(10_000),
        actions: vec![action],
        status: words(),
        ..Round::default()
    };
    let goal = Goal { request: words(), mind: words(), ..Goal::default() };
    vec![run(VERSION), Line::Goal(goal), Line::Round(Box::new(round))]
}

#[test]
fn a_strangers_words_stay_words() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), &hostile());
    fs::write(folder.path().join("prompt.json"), HOSTILE).unwrap();
    let story = Story::open(folder.path()).unwrap();
    let page = page(&story, "n0nce");
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(!page.contains("<img") && !page.contains("onerror=alert(1)>\u{202e}"));
    assert!(!page.contains(['\u{202e}', '\0', '\u{1b}']));
    assert!(page.len() < 500_000, "{} bytes", page.len());
    let shown = show(&story);
    assert!(!shown.contains(['\u{202e}', '\0', '\u{1b}']));
    for name in ["../../etc/passwd", "/etc/passwd"] {
        assert!(story.file(name).unwrap_err().contains("not a file of this run"));
    }
    // The first line of the file that was named begins so.
    assert!(page.contains("is not a file of this run") && !page.contains("root:x:"));
}

#[test]
fn a_run_that_lacks_files_is_cut_off_or_old_is_told_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let round = Round { round: 1, clean: Some("action_step1.png".into()), ..Round::default() };
    written(folder.path(), &[run(3), Line::Goal(Goal::default()), Line::Round(Box::new(round))]);
    let file = folder.path().join(FILE);
    let mut text = fs::read_to_string(&file).unwrap();
    text.push_str("no JSON\n{\"kind\":\"ro");
    fs::write(&file, text).unwrap();
    let story = Story::open(folder.path()).unwrap();
    assert_eq!(story.moments.len(), 1);
    let page = page(&story, "n");
    for note in [
        &*format!("A trace of version 3, before {VERSION}"),
        "Line 4 is left out",
        "The last line was cut off",
        "The run has no end",
        "action_step1.png is missing.",
    ] {
        assert!(page.contains(note), "{note}");
    }
    written(folder.path(), &[run(VERSION + 1)]);
    assert!(Story::open(folder.path()).unwrap_err().to_string().contains("reads up to"));
    fs::write(&file, "").unwrap();
    assert!(Story::open(folder.path()).unwrap_err().to_string().contains("holds no run"));
}
