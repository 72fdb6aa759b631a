//! `thumbwire test --prove FLOW`: what people see, the flow that is written, and what is refused.

use std::fs;
use std::path::Path;

use crate::support::thumbwire;

/// Standard output, standard error, exit code.
fn run(folder: &Path, arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut command = thumbwire();
    let output = command.current_dir(folder).arg("test").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// Nothing checks that the note is deleted, and one wait is for nothing.
const FLOW: &str = "appId: com.android.notes\n---\n- launchApp\n# Which one does not matter\n\
    - tapOn: 'Shopping'\n- wait: 500\n- tapOn: Delete note\n- tapOn: { id: .*button1 }\n";

#[test]
fn a_flow_is_proved_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("delete.yaml"), FLOW).unwrap();
    let prove = ["--prove", "delete.yaml", "--runs", "1", "--faults", "slow"];
    let (out, err, code) = run(folder, &[&prove[..], &["--write-flow", "proved.yaml"]].concat());
    let written = fs::read_to_string(folder.join("proved.yaml")).unwrap();
    insta::assert_snapshot!(format!("{err}---\n{out}---\n{written}"));
    assert_eq!(code, Some(0));
    let (out, err, code) = run(folder, &["proved.yaml", "--device", "virtual"]);
    assert_eq!(code, Some(0), "{out}{err}");
}

#[test]
fn a_proof_refuses_what_it_cannot_prove() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("delete.yaml"), FLOW).unwrap();
    let fails = "appId: com.android.notes\n---\n- launchApp\n\
                 - assertVisible: { text: Nonsense, timeout: 100 }\n";
    fs::write(folder.join("fails.yaml"), fails).unwrap();
    let reset = "appId: com.android.notes\n---\n- clearState\n";
    fs::write(folder.join("reset.yaml"), reset).unwrap();
    let refused = |arguments: &[&str], code: i32, part: &str| {
        let (out, err, found) = run(folder, arguments);
        assert_eq!(found, Some(code), "{arguments:?}: {out}{err}");
        assert!(err.contains(part), "{arguments:?}: {err}");
    };
    refused(&["--prove", "delete.yaml", "fails.yaml"], 2, "one flow");
    refused(&["--prove", "delete.yaml", "--device", "emulator-5554"], 2, "leave out --device");
    refused(&["--prove", "delete.yaml", "--faults", "fire"], 2, "no such kind of fault");
    refused(&["delete.yaml", "--runs", "3"], 2, "--prove");
    refused(&["--prove", "fails.yaml"], 1, "the flow fails without faults");
    refused(&["--prove", "reset.yaml"], 5, "--allow-reset");
}
