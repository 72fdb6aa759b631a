//! Options from the configuration file and the environment, as a user sees them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::thumbwire;

fn written(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("thumbwire/config.toml");
    fs::create_dir_all(folder.join("thumbwire")).unwrap();
    fs::write(&path, text).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    path
}

fn ran(arguments: &[&str], home: &Path, variables: &[(&str, &str)]) -> Output {
    let mut command = thumbwire();
    command.args(arguments).env("XDG_CONFIG_HOME", home).envs(variables.iter().copied());
    command.output().unwrap()
}

fn text(bytes: &[u8], home: &Path) -> String {
    String::from_utf8_lossy(bytes).replace(&home.display().to_string(), "[home]")
}

#[test]
fn options_of_a_command_come_from_the_file() {
    let home = tempfile::tempdir().unwrap();
    written(home.path(), "[tools]\ntoolset = \"ufo-action\"\n");
    let first = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = ran(arguments, home.path(), variables);
        assert!(output.status.success(), "{}", text(&output.stderr, home.path()));
        text(&output.stdout, home.path())
    };
    let by_file = first(&["tools"], &[]);
    assert!(by_file.contains("click_control") && !by_file.contains("mobile_tap"), "{by_file}");
    let by_variable = first(&["tools"], &[("THUMBWIRE_TOOLS_TOOLSET", "android")]);
    assert!(by_variable.contains("select_device"), "{by_variable}");
    let by_flag =
        first(&["tools", "--toolset", "mobile"], &[("THUMBWIRE_TOOLS_TOOLSET", "android")]);
    assert!(by_flag.contains("mobile_tap"), "{by_flag}");
}

#[test]
fn config_show_tells_where_each_value_is_from() {
    let home = tempfile::tempdir().unwrap();
    let file = "log-level = \"info\"\nadb-server = \"127.0.0.1:5038\"\n\
                [serve]\ndevice = [\"R58M12ABCD\", \"virtual\"]\nredact = true\nhttp = true\n";
    written(home.path(), file);
    let variables = [("THUMBWIRE_SERVE_DEVICE", "virtual")];
    let mut command = thumbwire();
    command.env_remove("ANDROID_ADB_SERVER_ADDRESS").env_remove("ANDROID_ADB_SERVER_PORT");
    command.args(["config", "show"]).env("XDG_CONFIG_HOME", home.path()).envs(variables);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr, home.path()));
    insta::assert_snapshot!("config_show", text(&output.stdout, home.path()));
    let whole = ran(&["config", "show", "tools"], home.path(), &[]);
    insta::assert_snapshot!("config_show_tools", text(&whole.stdout, home.path()));
}

#[test]
fn mistakes_in_the_file_stop_the_program() {
    let home = tempfile::tempdir().unwrap();
    let failed = |file: &str| {
        written(home.path(), file);
        let output = ran(&["tools"], home.path(), &[]);
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr, home.path())
    };
    let unknown = failed("[tools]\ntoolsets = \"mobile\"\n");
    let expected = "thumbwire: [home]/thumbwire/config.toml: `[tools]` has no option `toolsets`; there are toolset, json\n";
    assert_eq!(unknown, expected);
    let value = failed("[tools]\ntoolset = \"moblie\"\n");
    assert!(value.contains("invalid value 'moblie'"), "{value}");
    assert!(
        value.starts_with("note: --toolset is set by [home]/thumbwire/config.toml\n"),
        "{value}"
    );
    // Help is there all the same.
    written(home.path(), "[tools\n");
    assert!(ran(&["--help"], home.path(), &[]).status.success());
    assert_eq!(ran(&["devices"], home.path(), &[]).status.code(), Some(2));
}
