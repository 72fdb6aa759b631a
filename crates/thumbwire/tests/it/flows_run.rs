//! `thumbwire test FLOW` as CI runs it: exit codes, the JUnit file, refused flags, interruption.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::support::thumbwire;

/// A folder with these flows.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn command(folder: &tempfile::TempDir, arguments: &[&str]) -> Command {
    let mut command = thumbwire();
    command.current_dir(folder.path()).arg("test").args(arguments).stdin(Stdio::null());
    command
}

/// Standard output, standard error, exit code.
fn run(command: &mut Command) -> (String, String, Option<i32>) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

const PASSES: &str = "appId: com.android.notes\n---\n- launchApp\n- assertVisible: New note\n";
const FAILS: &str = "appId: com.android.notes\n---\n- launchApp\n\
                     - assertVisible: { text: Nonsense, timeout: 100 }\n";

#[test]
fn exit_codes_report_the_result_of_flows() {
    let folder = folder(&[
        ("passes.yaml", PASSES),
        ("fails.yaml", FAILS),
        ("wrong.yaml", "appId: a.b\n---\n- tapp: Save\n"),
        ("reset.yaml", "appId: com.android.notes\n---\n- clearState\n"),
        ("goal.yaml", "appId: a.b\n---\n- goal: Order a pizza\n"),
        (
            "slow.yaml",
            "appId: com.android.notes\n---\n- case: { name: a, commands: [wait: 9000] }\n\
             - case: { name: b, commands: [wait: 9000] }\n",
        ),
    ]);
    let check = |arguments: &[&str], code: i32, text: &str| {
        let (out, err, found) = run(&mut command(&folder, arguments));
        assert_eq!(found, Some(code), "{arguments:?}: {out}{err}");
        assert!(out.contains(text) || err.contains(text), "{arguments:?}: {out}{err}");
    };
    let on = ["--device", "virtual"];
    check(&[&["passes.yaml"], &on[..]].concat(), 0, "1 of 1 cases passed");
    check(&[&["fails.yaml", "passes.yaml"], &on[..]].concat(), 1, "1 failed");
    check(&[&["wrong.yaml", "passes.yaml"], &on[..]].concat(), 2, "wrong.yaml:3:3: ");
    check(&[&["none.yaml"], &on[..]].concat(), 2, "cannot read none.yaml");
    check(&[&["passes.yaml", "--only", "zzz"], &on[..]].concat(), 2, "no case matches");
    check(&["passes.yaml"], 3, "no device selected");
    check(&[&["slow.yaml", "--timeout", "3"], &on[..]].concat(), 4, "the run timed out");
    check(&[&["reset.yaml"], &on[..]].concat(), 5, "--allow-reset");
    check(&[&["goal.yaml"], &on[..]].concat(), 5, "--model");
}

#[test]
fn run_names_the_verb_for_flows() {
    let folder = folder(&[("passes.yaml", PASSES)]);
    let run_verb = |arguments: &[&str]| {
        let mut command = thumbwire();
        command.current_dir(folder.path()).args(arguments).stdin(Stdio::null());
        run(&mut command)
    };
    let named = [&["passes.yaml"][..], &["none.yml"], &["."], &["passes.yaml", "passes.yaml"]];
    for arguments in named {
        let (out, err, code) = run_verb(&[&["run", "--device", "virtual"], arguments].concat());
        assert_eq!(code, Some(2), "{arguments:?}: {out}{err}");
        let hint = format!("thumbwire test {}`", arguments[0]);
        assert!(err.contains(&hint), "{arguments:?}: {err}");
        assert!(!folder.path().join("logs").exists(), "{arguments:?}");
    }
    // Neither verb takes the flags of the other.
    for arguments in [
        &["test", "passes.yaml", "--resume", "logs/x"][..],
        &["run", "Open notes", "--junit", "x.xml"],
        &["run", "Open notes", "--allow-reset"],
    ] {
        let (out, err, code) = run_verb(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {out}{err}");
        assert!(err.contains("unexpected argument"), "{arguments:?}: {err}");
    }
}

#[test]
fn secret_is_in_no_output_of_a_flow() {
    let steps = "appId: com.android.notes\n---\n- launchApp\n- tapOn: New note\n\
                 - tapOn: { id: editable_title }\n- inputText: \"{{PIN}}\"\n\
                 - assertState: { element: { id: editable_title }, equals: other, timeout: 100 }\n";
    let folder = folder(&[("secret.yaml", steps)]);
    let arguments = ["secret.yaml", "--device", "virtual", "--secret", "PIN", "--junit", "x.xml"];
    let mut command = command(&folder, &arguments);
    let (out, err, code) = run(command.env("THUMBWIRE_SECRET_PIN", "tulip-4711"));
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("{{PIN}}") && !out.contains("tulip") && !err.contains("tulip"), "{out}");
    let (mut open, mut files) = (vec![folder.path().to_owned()], 0);
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        files += 1;
        let bytes = fs::read(&path).unwrap();
        assert!(!bytes.windows(5).any(|window| window == b"tulip"), "{}", path.display());
    }
    assert!(files > 4, "{files}");
}

#[cfg(unix)]
#[test]
fn interrupted_flows_exit_with_130_and_write_junit() {
    let steps = "appId: com.android.notes\n---\n\
                 - case: { name: a, commands: [pressKey: home, wait: 60000] }\n\
                 - case: { name: b, commands: [wait: 60000] }\n";
    let folder = folder(&[("long.yaml", steps)]);
    for signal in ["-INT", "-TERM"] {
        let arguments = ["long.yaml", "--device", "virtual", "--junit", "x.xml", "--verbose"];
        let mut command = command(&folder, &arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.by_ref().map(Result::unwrap).find(|line| line.contains("press home")).unwrap();
        let id = child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}: {rest:?}");
        assert!(rest.iter().any(|line| line.contains("cancelled")), "{rest:?}");
        let junit = fs::read_to_string(folder.path().join("x.xml")).unwrap();
        assert!(junit.contains("<skipped") && junit.contains("time-out"), "{junit}");
        fs::remove_file(folder.path().join("x.xml")).unwrap();
    }
}
