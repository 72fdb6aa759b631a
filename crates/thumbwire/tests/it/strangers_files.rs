//! Runs, flows and skills that strangers wrote: they write to no file of the user, and read none.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::run::Place;
use crate::support::{McpProcess, thumbwire};

const SECRET: &str = "sk-live-5f2e0c77";

/// A folder with a secret of the user's, and one of a stranger's beside it.
struct Desk {
    home: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("stranger")).unwrap();
        let desk = Self { home };
        fs::write(desk.at("secret"), format!("{SECRET}\nname: {SECRET}\n")).unwrap();
        desk
    }

    fn at(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn pipe(&self, name: &str) {
        assert!(Command::new("mkfifo").arg(self.at(name)).status().unwrap().success());
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The exit code, and all output of the program in the user's folder.
    fn call(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = thumbwire().args(arguments).current_dir(self.home.path()).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    }

    /// Records a run as the stranger's.
    fn run(&self) {
        let place = self.at("stranger").display().to_string();
        let mut server = McpProcess::connected(&["--device", "virtual", "--trace", &place]);
        server.say("mobile_list_apps", json!({}));
        server.call("mobile_take_screenshot", json!({}));
        server.close();
    }

    fn secret_is_untouched(&self) {
        assert!(fs::read_to_string(self.at("secret")).unwrap().starts_with(SECRET));
    }
}

#[test]
fn report_is_written_through_no_link() {
    let desk = Desk::new();
    desk.run();
    let report = desk.at("stranger/report.html");
    let refused = |what: &str| {
        let (code, text) = desk.call(&["trace", "report", "stranger"]);
        let expected = format!("{what} is in the way; remove it, or name another file");
        assert!(code == Some(1) && text.contains(&expected), "{text}");
        desk.secret_is_untouched();
        fs::remove_file(&report).unwrap();
    };
    symlink(desk.at("secret"), &report).unwrap();
    refused("a link");
    symlink(desk.at("new"), &report).unwrap();
    refused("a link");
    assert!(!desk.at("new").exists());
    desk.pipe("stranger/report.html");
    refused("a pipe or a device");
    fs::hard_link(desk.at("secret"), &report).unwrap();
    assert_eq!(desk.call(&["trace", "report", "stranger"]).0, Some(0));
    desk.secret_is_untouched();
    assert!(fs::read_to_string(&report).unwrap().starts_with("<!DOCTYPE html>"));
}

#[test]
fn report_shows_files_of_the_run_only() {
    let desk = Desk::new();
    desk.run();
    let trace = desk.at("stranger/trace.jsonl");
    let text = fs::read_to_string(&trace).unwrap();
    let picture = text.split('"').find(|word| word.ends_with(".png") || word.ends_with(".jpeg"));
    let picture = desk.at("stranger").join(picture.unwrap());
    fs::remove_file(&picture).unwrap();
    symlink(desk.at("secret"), &picture).unwrap();
    assert_eq!(desk.call(&["trace", "report", "stranger", "-o", "out.html"]).0, Some(0));
    let page = fs::read_to_string(desk.at("out.html")).unwrap();
    assert!(page.contains("it is a link, not a regular file") && !page.contains(SECRET));
    for bad in ["pipe", "/dev/zero", "secret"] {
        fs::remove_file(&trace).unwrap();
        match bad {
            "pipe" => desk.pipe("stranger/trace.jsonl"),
            other => symlink(desk.at(other), &trace).unwrap(),
        }
        for verb in [&["trace", "show"][..], &["trace", "report"], &["skill", "save"]] {
            let (code, text) = desk.call(&[verb, &["stranger"]].concat());
            assert!(code != Some(0) && text.contains("not a regular file"), "{verb:?}: {text}");
            assert!(!text.contains(SECRET), "{text}");
        }
    }
}

#[test]
fn flow_reads_files_of_its_folder_only() {
    let desk = Desk::new();
    symlink(desk.at("secret"), desk.at("stranger/link.yaml")).unwrap();
    symlink(desk.home.path(), desk.at("stranger/up")).unwrap();
    desk.pipe("stranger/pipe.yaml");
    let secret = desk.at("secret").display().to_string();
    for named in [
        &*secret,
        "../secret",
        "link.yaml",
        "up/secret",
        "sub/../../secret",
        "/proc/self/environ",
        "/dev/zero",
        "pipe.yaml",
        "up",
    ] {
        let text = format!("appId: com.android.notes\n---\n- runFlow: {named}\n");
        desk.write("stranger/f.yaml", &text);
        for flow in ["stranger/f.yaml", "stranger"] {
            let output = thumbwire()
                .args(["test", flow, "--device", "virtual"])
                .current_dir(desk.home.path())
                .env("API_KEY", SECRET)
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{named}: {text}");
            let is_refused = text.contains("can be used") || text.contains("not a regular file");
            assert!(is_refused && !text.contains(SECRET), "{named}: {text}");
        }
    }
    // A folder of flows has no flows elsewhere either.
    fs::remove_file(desk.at("stranger/pipe.yaml")).unwrap();
    fs::remove_file(desk.at("stranger/f.yaml")).unwrap();
    let (code, text) = desk.call(&["test", "stranger", "--device", "virtual"]);
    assert!(code == Some(2) && text.contains("it is a link"), "{text}");
}

#[test]
fn lines_of_what_is_no_flow_are_not_printed() {
    let desk = Desk::new();
    desk.write("stranger/f.yaml", "appId: com.android.notes\n---\n- runFlow: other\n");
    for other in [
        SECRET.to_owned(),
        format!("KEY={SECRET}\nOTHER=1\n"),
        format!("password: {SECRET}\n"),
        format!("password: {SECRET}\n---\n- {SECRET}\n"),
        format!("- \"{SECRET}\n"),
        format!("*{SECRET}\n"),
        format!("!{SECRET} x: [\n"),
        format!("a: 1\n{SECRET}: 1\n{SECRET}: 2\n---\n- a\n"),
        format!("- a\n---\n- {SECRET}\n---\n{SECRET}: 1\n"),
    ] {
        desk.write("stranger/other", &other);
        let (code, text) = desk.call(&["test", "stranger/f.yaml", "--device", "virtual"]);
        assert_eq!(code, Some(2), "{other}: {text}");
        assert!(!text.contains(SECRET), "{other}: {text}");
    }
}

#[test]
fn flow_uses_files_of_its_project() {
    let desk = Desk::new();
    let common = "appId: com.android.notes\n---\n- back\n";
    let using =
        |named: &str| format!("appId: com.android.notes\n---\n- runFlow: {named}\n- oops\n");
    let is_read = |arguments: &[&str]| {
        let (_, text) = desk.call(&[&["test", "--device", "virtual"], arguments].concat());
        // All files are read before the mistake is reported.
        assert!(text.contains("oops"), "{text}");
        !text.contains("cannot read")
    };
    for project in ["app/.maestro", "lib/maestro", "repository", "workspace", "plain"] {
        desk.write(&format!("{project}/common/login.yaml"), common);
        desk.write(&format!("{project}/flows/sub/a.yaml"), &using("../../common/login.yaml"));
    }
    desk.write("workspace/config.yaml", "flows: ['**']\n");
    fs::create_dir(desk.at("repository/.git")).unwrap();
    for flow in [
        "app/.maestro/flows/sub/a.yaml",
        "app/.maestro/flows/sub",
        "lib/maestro/flows/sub/a.yaml",
        "repository/flows/sub",
        "workspace",
    ] {
        assert!(is_read(&[flow]), "{flow}");
    }
    assert!(!is_read(&["plain/flows/sub"]));
    desk.write("plain/config.yaml", "server: { port: 80 }\n");
    assert!(!is_read(&["plain/flows/sub"]), "it is another program's");
    let (_, text) = desk.call(&["test", "--device", "virtual", "plain/flows/sub"]);
    assert!(text.contains("name a wider folder with --input"), "{text}");
    assert!(is_read(&["plain/flows/sub", "--input", "plain"]));
    assert!(!is_read(&["workspace/flows/sub/a.yaml", "--input", "workspace/flows"]));
    // What the operator names may be a link.
    symlink("plain/flows/sub/a.yaml", desk.at("a.yaml")).unwrap();
    assert!(!is_read(&["a.yaml"]), "it names files beside the link");
}

#[test]
fn goldens_are_written_in_the_folder_of_the_flow_only() {
    let desk = Desk::new();
    fs::create_dir(desk.at("stranger/goldens")).unwrap();
    fs::create_dir(desk.at("other")).unwrap();
    symlink(desk.at("secret"), desk.at("stranger/goldens/home.png")).unwrap();
    symlink(desk.at("other"), desk.at("stranger/elsewhere")).unwrap();
    for path in ["goldens/home", "elsewhere/home", "../other/home"] {
        let flow = format!("appId: com.android.notes\n---\n- assertScreenshot: {path}\n");
        desk.write("stranger/f.yaml", &flow);
        let flags = ["test", "stranger/f.yaml", "--device", "virtual", "--update-goldens"];
        let (code, text) = desk.call(&flags);
        assert!(code == Some(1) && text.contains("cannot write the golden"), "{path}: {text}");
        let (code, text) = desk.call(&flags[..4]);
        assert!(code == Some(1) && text.contains("cannot read the golden"), "{path}: {text}");
    }
    desk.secret_is_untouched();
    assert_eq!(fs::read_dir(desk.at("other")).unwrap().count(), 0);
    let results = ["test", "stranger/f.yaml", "--device", "virtual", "--junit", "junit.xml"];
    symlink(desk.at("secret"), desk.at("junit.xml")).unwrap();
    let (code, text) = desk.call(&results);
    assert!(code == Some(1) && text.contains("junit.xml: a link is in the way"), "{text}");
    desk.secret_is_untouched();
}

#[test]
fn runs_are_recorded_in_the_folder_that_was_named() {
    let desk = Desk::new();
    desk.write("stranger/f.yaml", "appId: com.android.notes\n---\n- back\n");
    fs::create_dir(desk.at("other")).unwrap();
    symlink(desk.at("other"), desk.at("logs")).unwrap();
    assert_eq!(desk.call(&["test", "stranger/f.yaml", "--device", "virtual"]).0, Some(0));
    symlink("../other", desk.at("stranger/logs")).unwrap();
    let elsewhere = ["test", "stranger/f.yaml", "--device", "virtual", "--out", "stranger"];
    let (code, text) = desk.call(&elsewhere);
    assert!(code == Some(1) && text.contains("only files in stranger can be used"), "{text}");
    let runs = || fs::read_dir(desk.at("other")).unwrap().count();
    assert_eq!(runs(), 1, "a link inside of the folder is followed");
    // A case of a run of flows is a folder, which may be a link, too.
    let run = fs::read_dir(desk.at("other")).unwrap().next().unwrap().unwrap().path();
    let is_case = |path: &PathBuf| path.is_dir();
    let mut cases = fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().path());
    let case = cases.find(is_case).unwrap();
    let run = run.display().to_string();
    let moved = desk.at("secret-run");
    fs::rename(&case, &moved).unwrap();
    symlink(&moved, &case).unwrap();
    assert_eq!(desk.call(&["trace", "report", &run, "-o", "out.html"]).0, Some(0));
    let page = fs::read_to_string(desk.at("out.html")).unwrap();
    assert!(page.contains("Cannot read the run in ") && page.contains("can be used"), "{run}");
}

#[test]
fn skills_and_pictures_are_written_through_no_link() {
    let place = Place::new();
    let run = crate::skills::saved(&place);
    let home = Path::new(&run).parent().unwrap().parent().unwrap();
    let skill = home.join("skills/maps.yaml");
    fs::remove_file(&skill).unwrap();
    fs::write(home.join("victim"), SECRET).unwrap();
    symlink(home.join("victim"), &skill).unwrap();
    let (_, text, code) = place.call(&["skill", "save", &run, "--name", "maps", "--force"]);
    assert!(code == Some(1) && text.contains("a link is in the way"), "{text}");
    fs::rename(home.join("skills"), home.join("elsewhere")).unwrap();
    symlink("/tmp", home.join("skills")).unwrap();
    let (_, text, code) = place.call(&["skill", "save", &run, "--name", "other"]);
    assert!(code == Some(1) && text.contains("name a folder with --out"), "{text}");
    symlink(home.join("victim"), home.join("mobile_take_screenshot.png")).unwrap();
    symlink(home.join("victim"), home.join("mobile_take_screenshot.jpeg")).unwrap();
    let (_, text, code) =
        place.call(&["call", "mobile_take_screenshot", "--device", "virtual", "--out", "."]);
    assert!(code == Some(1) && text.contains("a link is in the way"), "{text}");
    assert_eq!(fs::read_to_string(home.join("victim")).unwrap(), SECRET);
}

#[test]
fn configuration_in_a_folder_of_others_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = Desk::new();
    let file = desk.write("config/config.toml", "log-level = \"info\"\n");
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let shown = || {
        let mut command = thumbwire();
        command.args(["config", "show"]).env("THUMBWIRE_CONFIG", &file).output().unwrap()
    };
    set(&file, 0o600);
    set(&desk.at("config"), 0o755);
    assert!(shown().status.success());
    set(&desk.at("config"), 0o777);
    let text = String::from_utf8(shown().stderr).unwrap();
    assert!(
        text.contains("other users can change its folder (mode 0777). Run `chmod go-w"),
        "{text}"
    );
}
