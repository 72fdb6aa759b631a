//! Joining on a small command line.

use std::fs;
use std::path::PathBuf;

use super::*;

fn cli() -> Command {
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    let one = |name: &'static str| Arg::new(name).long(name);
    let many = |name: &'static str| Arg::new(name).long(name).action(ArgAction::Append);
    let serve = Command::new("serve").args([
        many("device"),
        one("http"),
        flag("redact"),
        one("out"),
        one("resume").conflicts_with("out"),
    ]);
    Command::new("thumbwire").subcommands([serve, Command::new("run").arg(one("device"))])
}

fn file(text: &str) -> (tempfile::TempDir, ConfigFile) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("config.toml");
    fs::write(&path, text).unwrap();
    let read = ConfigFile::read(Some(path), true).unwrap();
    (home, read)
}

fn joined(line: &str, text: &str, variables: &[(&str, &str)]) -> Result<String, String> {
    let (_home, file) = file(text);
    let variable = |name: &str| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    let line = line.split(' ').map(OsString::from).collect();
    let (whole, _) = complete(&cli(), line, &file, &variable)?;
    let words: Vec<_> = whole.iter().map(|word| word.to_string_lossy()).collect();
    Ok(words.join(" "))
}

#[test]
fn flags_come_before_the_environment_and_that_before_the_file() {
    let text =
        "[serve]\ndevice = [\"a\", \"b\"]\nhttp = \"x:1\"\nredact = true\n[run]\ndevice = \"r\"\n";
    let check = |line, variables: &[(&str, &str)], expected: &str| {
        assert_eq!(joined(line, text, variables).unwrap(), expected);
    };
    check("thumbwire serve", &[], "thumbwire serve --device=a --device=b --http=x:1 --redact");
    check(
        "thumbwire serve --device c",
        &[("THUMBWIRE_SERVE_HTTP", "y:2"), ("THUMBWIRE_SERVE_REDACT", "false")],
        "thumbwire serve --http=y:2 --device c",
    );
    check(
        "thumbwire serve --http=z:3 --redact",
        &[("THUMBWIRE_SERVE_DEVICE", "d, e")],
        "thumbwire serve --device=d --device=e --http=z:3 --redact",
    );
    check("thumbwire run", &[], "thumbwire run --device=r");
    check("thumbwire --help", &[], "thumbwire --help");
}

#[test]
fn what_conflicts_with_the_command_line_is_left_out() {
    let text = "[serve]\nout = \"there\"\nredact = false\n";
    assert_eq!(
        joined("thumbwire serve --resume x", text, &[]).unwrap(),
        "thumbwire serve --resume x"
    );
    assert_eq!(joined("thumbwire serve", text, &[]).unwrap(), "thumbwire serve --out=there");
}

#[test]
fn mistakes_name_the_place() {
    let error = |text: &str| {
        let error = joined("thumbwire run", text, &[]).unwrap_err();
        let (_, rest) = error.split_once("config.toml: ").unwrap();
        rest.to_owned()
    };
    assert_eq!(
        error("[serve]\ndevices = [\"a\"]\n"),
        "`[serve]` has no option `devices`; there are device, http, redact, out, resume"
    );
    assert_eq!(error("[server]\n"), "there is no command `server`");
    assert_eq!(error("[run]\ndevice = [\"a\"]\n"), "`device` of `[run]` takes one value only");
    assert_eq!(error("[run]\ndevice = true\n"), "`device` of `[run]` must be a string or a number");
    let wrong = joined("thumbwire serve", "", &[("THUMBWIRE_SERVE_REDACT", "perhaps")]);
    assert_eq!(
        wrong.unwrap_err(),
        "THUMBWIRE_SERVE_REDACT must be `true` or `false`, not \"perhaps\""
    );
    let nowhere = ConfigFile::read(Some(PathBuf::from("/no/such/file")), false).unwrap();
    assert!(check(&cli(), &nowhere).is_ok());
}
