//! `thumbwire test` of workspaces as they stand, of flows that are only checked, and of scripts on
//! the network.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;

use crate::support::thumbwire;

/// A folder with these files, and those inside folders.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Standard output and error, and the exit code.
fn run(
    folder: &tempfile::TempDir,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (String, Option<i32>) {
    let mut command = thumbwire();
    command.current_dir(folder.path()).arg("test").args(arguments).stdin(Stdio::null());
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout) + &text(output.stderr), output.status.code())
}

const OPENS: &str = "appId: com.android.notes\n---\n- launchApp\n- assertVisible: New note\n";
const FAILS: &str = "appId: com.android.notes\n---\n- assertTrue: ${1 == 2}\n";
const PASSES: &str = "appId: com.android.notes\n---\n- assertTrue: ${1 == 1}\n";

/// Maestro's `WorkspaceExecutionPlanner`.
#[test]
fn workspaces_list_the_flows_that_they_have_in_maestro() {
    let listed = |files: &[(&str, &str)]| -> Vec<String> {
        let folder = folder(files);
        let named = folder.path().join("named.yml").exists();
        let arguments = if named { &["--config", "named.yml"][..] } else { &[] };
        let (out, code) = run(&folder, &[&["--check", "."], arguments].concat(), &[]);
        assert_eq!(code, Some(0), "{out}");
        let flows = out.lines().filter(|line| line.starts_with("./") && line.ends_with(".yaml"));
        flows.map(|line| line.trim_start_matches("./").to_owned()).collect()
    };
    let negated = "flows: [\"**\", \"!sub/**\"]\n";
    assert_eq!(
        listed(&[("config.yaml", negated), ("a.yaml", PASSES), ("sub/b.yaml", PASSES)]),
        ["a.yaml"]
    );
    let all = "flows: [\"**\"]\n";
    assert_eq!(
        listed(&[
            ("config.yaml", all),
            ("b.yaml", PASSES),
            ("g1/config.yaml", all),
            ("g1/a.yaml", PASSES),
            ("g1/other.yaml", "includeTags: x\n"),
        ]),
        ["b.yaml", "g1/a.yaml"]
    );
    let named = [("named.yml", all), ("config.yaml", "flows: none\n"), ("a/b.yaml", PASSES)];
    assert_eq!(listed(&named), ["a/b.yaml"]);
    let with_app = "appId: com.android.notes\nflows:\n  - \"tests/**\"\n";
    assert_eq!(listed(&[("config.yaml", with_app), ("tests/a.yaml", PASSES)]), ["tests/a.yaml"]);
    let tagged = PASSES.replace("---", "tags: [util]\n---");
    let excludes = "flows: \"*\"\nexcludeTags: util\n";
    assert_eq!(
        listed(&[("config.yaml", excludes), ("a.yaml", &tagged), ("b.yaml", PASSES)]),
        ["b.yaml"]
    );
}

#[test]
fn folder_without_listed_flows_says_what_to_do() {
    let folder = folder(&[("sub/a.yaml", PASSES)]);
    let (out, code) = run(&folder, &[".", "--device", "virtual"], &[]);
    assert_eq!(code, Some(2), "{out}");
    assert!(out.contains("list them under `flows` in its config.yaml"), "{out}");
    let (out, code) = run(&folder, &["--check", "."], &[]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("./sub/a.yaml\n  a\n"), "{out}");
}

/// Maestro's `TestSuiteInteractor`: a sequence ends, the other flows run.
#[test]
fn sequence_ends_at_its_first_failure() {
    let config = "executionOrder:\n  continueOnFailure: false\n  flowsOrder: [a, b]\n";
    let folder = folder(&[
        ("config.yaml", config),
        ("a.yaml", FAILS),
        ("b.yaml", PASSES),
        ("c.yaml", PASSES),
    ]);
    let (out, code) = run(&folder, &[".", "--device", "virtual"], &[]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("1 failed") && out.contains("1 skipped"), "{out}");
    assert!(out.contains("a flow before it failed"), "{out}");
    fs::write(folder.path().join("config.yaml"), config.replace("false", "true")).unwrap();
    let (out, _) = run(&folder, &[".", "--device", "virtual"], &[]);
    assert!(out.contains("1 failed") && !out.contains("skipped"), "{out}");
}

#[test]
fn flows_of_a_sequence_go_on_where_the_last_one_ended() {
    let folder = folder(&[
        ("config.yaml", "flows: \"*\"\nexecutionOrder:\n  flowsOrder: [one, two]\n"),
        ("1.yaml", &OPENS.replace("---", "name: two\n---").replace("- launchApp\n", "")),
        ("2.yaml", &OPENS.replace("---", "name: one\n---")),
    ]);
    let (out, code) = run(&folder, &[".", "--device", "virtual"], &[]);
    assert_eq!(code, Some(0), "{out}");
}

#[test]
fn variables_of_the_shell_that_are_maestros_are_parameters() {
    let flow = OPENS.replace("com.android.notes", "${MAESTRO_APP_ID}");
    let folder = folder(&[("a.yaml", &flow)]);
    let on = ["a.yaml", "--device", "virtual"];
    let (out, code) = run(&folder, &on, &[("MAESTRO_APP_ID", "com.android.notes")]);
    assert_eq!(code, Some(0), "{out}");
    let given = [&on[..], &["-e", "MAESTRO_APP_ID=com.android.notes"]].concat();
    let (out, code) = run(&folder, &given, &[("MAESTRO_APP_ID", "com.example.none")]);
    assert_eq!(code, Some(0), "{out}");
    let (out, code) = run(&folder, &on, &[("OTHER_APP_ID", "com.android.notes")]);
    assert_eq!(code, Some(2), "{out}");
    assert!(out.contains("unknown parameter in `${MAESTRO_APP_ID}`"), "{out}");
}

#[test]
fn flows_are_checked_without_a_phone() {
    let shared = "appId: a.b\nenv: { UNUSED: 1 }\n---\n- tapOn: One\n- tapOn: Two\n- wait: 500\n";
    let runs = "appId: a.b\n---\n- runFlow: shared/steps.yaml\n- inputText: ${WHO}\n";
    let folder = folder(&[
        ("a.yaml", runs),
        ("b.yaml", runs),
        (
            "cases.yaml",
            "appId: a.b\n---\n- case: { name: first, commands: [back] }\n- case: { name: second, commands: [back] }\n",
        ),
        ("shared/steps.yaml", shared),
    ]);
    let (out, code) = run(&folder, &["--check", ".", "-e", "NOBODY=x"], &[]);
    assert_eq!(code, Some(0), "{out}");
    insta::assert_snapshot!("flow_check", out);
    fs::write(folder.path().join("shared/steps.yaml"), "appId: a.b\n---\n- tapp: One\n").unwrap();
    let (out, code) = run(&folder, &["--check", "."], &[]);
    assert_eq!(code, Some(2), "{out}");
    assert_eq!(out.matches("unknown command `tapp`").count(), 1, "each error once: {out}");
    assert!(out.contains("  second\n") && out.contains("1 error"), "{out}");
}

#[test]
fn junit_has_properties_and_tags_of_flows() {
    let header =
        "tags: [smoke, \"a,b\"]\nproperties: { team: Shop, junitClassname: shop.Notes }\n---";
    let folder = folder(&[("a.yaml", &PASSES.replace("---", header))]);
    let (out, code) = run(&folder, &["a.yaml", "--device", "virtual", "--junit", "x.xml"], &[]);
    assert_eq!(code, Some(0), "{out}");
    let junit = fs::read_to_string(folder.path().join("x.xml")).unwrap();
    for part in [
        r#"<property name="team" value="Shop"/>"#,
        r#"<property name="tags" value="smoke, a,b"/>"#,
        r#"classname="shop.Notes""#,
    ] {
        assert!(junit.contains(part), "{part}: {junit}");
    }
    assert!(!junit.contains("junitClassname"), "{junit}");
}

/// Answers two requests: a redirection, then a user.
fn serve(listener: TcpListener) -> std::thread::JoinHandle<Vec<String>> {
    std::thread::spawn(move || {
        let answers = [
            "HTTP/1.1 302 Found\r\nLocation: /user\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 14\r\nConnection: close\r\n\r\n{\"name\":\"Ada\"}",
        ];
        let answer = |answer: &str| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&bytes[..count]).into_owned()
        };
        answers.iter().map(|one| answer(one)).collect()
    })
}

#[test]
fn scripts_reach_only_hosts_that_are_allowed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let script = format!(
        "const answer = http.post('http://{host}/new', {{ body: '{{}}', headers: {{ 'X-Key': 'k' }} }});\n\
         output.name = json(answer.body).name;\n"
    );
    let flow = "appId: a.b\n---\n- runScript: user.js\n- assertTrue: ${output.name == 'Ada'}\n";
    let folder = folder(&[("a.yaml", flow), ("user.js", &script)]);
    let on = ["a.yaml", "--device", "virtual", "--verbose"];
    for refused in [&on[..], &[&on[..], &["--allow-network", "example.com"]].concat()] {
        let (out, code) = run(&folder, refused, &[]);
        assert_eq!(code, Some(1), "{out}");
        assert!(out.contains("scripts may not reach 127.0.0.1"), "{out}");
    }
    let server = serve(listener);
    let (out, code) = run(&folder, &[&on[..], &["--allow-network", &host]].concat(), &[]);
    assert_eq!(code, Some(0), "{out}");
    let requests = server.join().unwrap();
    assert!(
        requests[0].starts_with("POST /new ") && requests[0].contains("x-key: k"),
        "{requests:?}"
    );
    assert!(requests[1].starts_with("GET /user "), "{requests:?}");
}
