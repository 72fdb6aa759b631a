//! `thumbwire mcp`: the configuration files of MCP clients.

use std::fs;
use std::path::Path;

use crate::support::thumbwire;

fn run(home: &Path, arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut command = thumbwire();
    command.env("HOME", home).env_remove("XDG_CONFIG_HOME").args(["mcp"]).args(arguments);
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let program = env!("CARGO_BIN_EXE_thumbwire");
    (text(output.stdout).replace(program, "THUMBWIRE"), text(output.stderr), output.status.code())
}

#[test]
fn a_change_is_shown_written_and_taken_back() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".cursor/mcp.json");
    fs::create_dir(home.path().join(".cursor")).unwrap();
    let before =
        "{\n  // Mine.\n  \"mcpServers\": {\n    \"files\": { \"command\": \"npx\" }\n  }\n}\n";
    fs::write(&file, before).unwrap();
    let install = ["install", "cursor", "--device", "virtual"];
    let (out, err, code) = run(home.path(), &install);
    assert_eq!(code, Some(2), "{out}");
    assert!(err.contains("nobody answered, and nothing was changed; --yes does not ask"), "{err}");
    let (printed, _, code) = run(home.path(), &[&install[..], &["--print"]].concat());
    assert_eq!((fs::read_to_string(&file).unwrap(), code), (before.to_owned(), Some(0)));
    let (out, _, code) = run(home.path(), &[&install[..], &["--yes"]].concat());
    assert_eq!(code, Some(0));
    assert!(out.starts_with(&printed), "{out}");
    insta::assert_snapshot!("mcp_install", out);
    let (out, _, _) = run(home.path(), &[&install[..], &["--yes"]].concat());
    assert_eq!(out, "~/.cursor/mcp.json has it already\n");
    let (_, _, code) = run(home.path(), &["uninstall", "cursor", "--yes"]);
    assert_eq!((fs::read_to_string(&file).unwrap(), code), (before.to_owned(), Some(0)));
    let (out, _, _) = run(home.path(), &["uninstall", "cursor", "--yes"]);
    assert_eq!(out, "~/.cursor/mcp.json has no server \"phone\"\n");
}

#[test]
fn files_that_are_made_go_again_and_broken_ones_stay() {
    let home = tempfile::tempdir().unwrap();
    for (client, file) in [
        ("claude-code", ".claude.json"),
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json"),
        ("windsurf", ".codeium/windsurf/mcp_config.json"),
        ("zed", ".config/zed/settings.json"),
    ] {
        let file = home.path().join(file);
        let (_, err, code) = run(home.path(), &["install", client, "--yes", "--name", "handy"]);
        assert_eq!((code, file.exists()), (Some(0), true), "{client}: {err}");
        run(home.path(), &["uninstall", client, "--yes", "--name", "handy"]);
        assert!(!file.exists(), "{client}");
    }
    let left: Vec<_> = fs::read_dir(home.path()).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(left, [home.path().join(".config")], "what the system's settings are in stays");
    let file = home.path().join("broken.json");
    fs::write(&file, "{ \"mcpServers\": {").unwrap();
    let named = file.to_str().unwrap();
    let (_, err, code) = run(home.path(), &["install", "cursor", "--yes", "--to", named]);
    assert_eq!(code, Some(1));
    assert!(
        err.contains("cannot change the configuration") && err.contains("broken.json"),
        "{err}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ \"mcpServers\": {");
}

#[cfg(unix)]
#[test]
fn program_is_named_by_its_link_on_the_path() {
    let home = tempfile::tempdir().unwrap();
    let link = home.path().join("bin/thumbwire");
    fs::create_dir(home.path().join("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_thumbwire"), &link).unwrap();
    let mut command = thumbwire();
    command.env("PATH", home.path().join("bin"));
    let output = command.args(["mcp", "install", "cursor", "--print"]).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains(&format!("\"command\": \"{}\"", link.display())), "{out}");
    assert!(
        out.ends_with("No phone is connected now; `--device virtual` tries it without one\n"),
        "{out}"
    );
}
