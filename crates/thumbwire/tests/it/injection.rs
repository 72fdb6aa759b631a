//! Hostile strings in every string parameter of every tool: no second command, no smuggled option,
//! no file outside of the folders that the operator named. And the published advisories about tools
//! like ours, replayed by their names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use thumbwire_core::action::Call;
use thumbwire_core::allowed_apps::AllowedApps;
use thumbwire_core::app_tools::{AppToolOptions, TrustRules};
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::input_files::InputFolder;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_core::toolset::{ObserveMode, Reply, Tool, Toolset, android, ufo};
use thumbwire_device::android::HelperMode;
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::wire::{hostile_strings, nowhere};

/// The name of the program that hostile strings try to run, and of the files that they try to
/// write.
const CANARY: &str = "canary";

/// The fewest strings for each parameter.
const FEWEST: usize = 300;

/// Strings that run the canary, write it, or are options. The general ones are built of pieces.
fn strings() -> Vec<String> {
    let special = [
        "; canary",
        "\ncanary\n",
        "$(canary)",
        "`canary`",
        "'; canary; '",
        "\"; canary; \"",
        "| canary",
        "x > /sdcard/canary",
        "x; touch /data/local/tmp/canary",
        "/sdcard/canary",
        "/data/local/tmp/canary",
        "../canary",
        "../../../../../../tmp/canary",
        "/tmp/canary",
        "..\\..\\canary",
        "a/../../canary.png",
        "canary\0.png",
        "-canary",
        "--canary",
        "--user",
        "-s",
        "-rf",
        "@/etc/passwd",
        "file:///tmp/canary",
        "intent:#Intent;component=com.android.settings/.canary;end",
        "tel:*%2306%23",
        "javascript:canary()",
        "content://canary",
    ];
    let built = hostile_strings().into_iter().map(|text| text.replace("reboot", CANARY));
    let all: BTreeSet<String> = special.iter().map(|&text| text.to_owned()).chain(built).collect();
    // All that are short, and as many of the rest as are needed.
    let (short, long): (Vec<_>, Vec<_>) = all.into_iter().partition(|text| text.len() < 16);
    let rest = FEWEST.saturating_sub(short.len());
    short.into_iter().chain(long.into_iter().take(rest.max(1))).collect()
}

/// What people use today, and what was wrong with it. Each attack is the one of the advisory, on
/// our tools of that kind.
mod advisories {
    use super::*;

    async fn refused(caller: &(Session, VirtualPhone), tool: &str, arguments: Value) -> String {
        let toolsets = toolsets();
        let found = toolsets.iter().find_map(|set| set.tool(tool).map(|tool| (set, tool)));
        let (toolset, tool) = found.unwrap_or_else(|| panic!("no tool {tool}"));
        let arguments = arguments.as_object().unwrap().clone();
        let reply = answer(&caller.0, toolset, tool, arguments).await;
        assert!(reply.is_error || reply.cause.is_some(), "{}: {reply:?}", tool.name);
        format!("{reply:?}")
    }

    fn caller(root: &Path) -> (Session, VirtualPhone) {
        let phone = phone();
        (session(&phone, &root.join("out"), &root.join("input")), phone)
    }

    /// ADB MCP Server joined the argument `device` into a command line of the computer
    /// (CVE-2025-59834).
    #[tokio::test(start_paused = true)]
    async fn cve_2025_59834_device_is_no_part_of_a_command() {
        let root = tempfile::tempdir().unwrap();
        let caller = caller(root.path());
        let mark = root.path().join("pwned");
        let attacks = [
            "; touch MARK;",
            "$(touch MARK)",
            "`touch MARK`",
            "x\ntouch MARK",
            "virtual; touch MARK",
        ];
        for attack in attacks {
            let attack = attack.replace("MARK", &mark.display().to_string());
            for (tool, arguments) in [
                ("mobile_get_device_info", json!({ "device": attack })),
                ("mobile_use_device", json!({ "platform": "android", "device_id": attack })),
                ("mobile_get_accessibility_tree", json!({ "device": attack })),
                ("mobile_close_app", json!({ "bundle_id": "com.android.notes", "device": attack })),
            ] {
                refused(&caller, tool, arguments).await;
            }
        }
        assert!(!mark.exists());
        assert!(caller.1.commands().is_empty(), "no phone was asked");
    }

    /// mobile-mcp wrote screenshots and recordings to any path of the computer (CVE-2026-33989).
    #[tokio::test(start_paused = true)]
    async fn cve_2026_33989_files_stay_in_their_folder() {
        let root = tempfile::tempdir().unwrap();
        let caller = caller(root.path());
        let absolute = root.path().join("pwned.png").display().to_string();
        let paths = [
            absolute.as_str(),
            "../pwned.png",
            "a/../../pwned.png",
            "~/.ssh/pwned.png",
            "..",
            "/etc/cron.d/pwned",
        ];
        for path in paths {
            refused(&caller, "take_screenshot", json!({ "filename": path })).await;
            refused(&caller, "start_screen_recording", json!({ "filename": path })).await;
            let saved = json!({ "path": "/sdcard/x", "name": path });
            refused(&caller, "mobile_pull_file", saved).await;
        }
        assert_eq!(files(root.path()), BTreeSet::new());
    }

    /// mobile-mcp passed any URL to Android: `tel:` and USSD codes, `sms:`, `content:`
    /// (CVE-2026-35394).
    #[tokio::test(start_paused = true)]
    async fn cve_2026_35394_addresses_of_calls_and_content_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let (_, phone) = caller(root.path());
        let limited = |allowed_apps| {
            let options = SessionOptions { allowed_apps, ..SessionOptions::default() };
            super::session_with(&phone, root.path(), root.path(), options)
        };
        let caller = (limited(AllowedApps::matching([])), phone.clone());
        for url in [
            "tel:+15550100",
            "tel:*%2306%23",
            "TEL:*21*%2B15550100%23",
            "sms:+15550100?body=x",
            "smsto:+15550100",
            "content://com.android.contacts/contacts",
            "file:///sdcard/secret.html",
            "intent://x#Intent;scheme=tel;end",
            "android-app://com.android.phone/tel/1",
            "javascript:alert(1)",
            " tel:+15550100",
            "https:\ntel:+15550100",
        ] {
            refused(&caller, "mobile_open_url", json!({ "url": url })).await;
        }
        // Also where the operator allows calls: some phones run a code at once.
        let allowing = AllowedApps::matching([]).with_calls(true);
        let caller = (limited(allowing), phone.clone());
        for code in ["tel:*%2306%23", "TEL:*21*1", "tel:%2A1", "voicemail:1#"] {
            let said = refused(&caller, "mobile_open_url", json!({ "url": code })).await;
            assert!(said.contains("which some phones run at once"), "{said}");
        }
        let said = refused(&caller, "mobile_open_url", json!({ "url": "tel:+15550100" })).await;
        assert!(said.contains("no app on this phone opens `tel:`"), "it was tried: {said}");
        let opened = caller.1.commands().into_iter().filter(|it| it.argv[..2] == ["am", "start"]);
        assert_eq!(opened.count(), 1);
    }
}

/// A phone with few pixels, because screenshots are drawn in software.
fn phone() -> VirtualPhone {
    let mut setup = Setup::default();
    setup.display.width /= 6;
    setup.display.height /= 6;
    setup.display.density /= 6;
    VirtualPhone::new(setup)
}

fn session(phone: &VirtualPhone, out: &Path, input: &Path) -> Session {
    session_with(phone, out, input, SessionOptions::default())
}

fn session_with(
    phone: &VirtualPhone,
    out: &Path,
    input: &Path,
    options: SessionOptions,
) -> Session {
    let provider = VirtualPhoneProvider::new(phone.clone()).with_helper(HelperMode::Auto);
    let phones = DeviceProviders::adb(nowhere()).with(provider);
    let trust = TrustRules { allow: vec!["com.android.notes".into()], ..TrustRules::default() };
    let options = SessionOptions {
        devices: vec![VIRTUAL.into()],
        files: Some(ArtifactStore::new(out)),
        input_files: Some(InputFolder::new(input)),
        app_tools: AppToolOptions { trust, ..AppToolOptions::default() },
        ..options
    };
    Session::new(phones, options)
}

fn toolsets() -> [Toolset; 4] {
    let all = mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, &ToolGroup::ALL);
    [all, android::toolset(), ufo::data(), ufo::action()]
}

/// Something valid for each required parameter.
fn required(tool: &Tool) -> Map<String, Value> {
    let properties = &tool.schema["properties"];
    let names = tool.schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let names = names.filter_map(Value::as_str);
    names.map(|name| (name.to_owned(), valid(name, &properties[name]))).collect()
}

fn valid(name: &str, schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(false),
        Some("object") => json!({}),
        Some("array") => json!([valid(name, &schema["items"])]),
        _ if name.contains("device") => json!(VIRTUAL),
        _ if name == "url" => json!("https://example.org"),
        _ => json!("com.android.notes"),
    }
}

/// The arguments with `text` in the parameter, if that takes any text.
fn with(tool: &Tool, parameter: &str, text: &str) -> Option<Map<String, Value>> {
    let schema = &tool.schema["properties"][parameter];
    let is_text = |schema: &Value| {
        // Some published schemas tell no type, or several.
        let kind = schema["type"].as_str().unwrap_or("string");
        kind == "string" && schema.get("enum").is_none()
    };
    let value = match schema["type"].as_str() {
        _ if is_text(schema) => json!(text),
        Some("array") if is_text(&schema["items"]) => json!([text]),
        Some("object") => json!({ "title": text, text: text }),
        _ => return None,
    };
    let mut arguments = required(tool);
    arguments.insert(parameter.to_owned(), value);
    Some(arguments)
}

async fn answer(
    session: &Session,
    toolset: &Toolset,
    tool: &Tool,
    arguments: Map<String, Value>,
) -> Reply {
    let call = Call::with_timeout(Duration::from_secs(3)).on(None);
    toolset.answer(tool, arguments, call, session).await
}

/// Why a command is not one of ours: its program came from a caller, or an option did.
fn is_injected(argv: &[String], text: &str) -> Option<&'static str> {
    let program = argv.first().map_or("", String::as_str);
    // `exec PROGRAM` runs the program in place of the shell.
    let program = match program {
        "exec" => argv.get(1).map_or("", String::as_str),
        other => other,
    };
    if program.contains(CANARY) || program == "touch" {
        return Some("a second command");
    }
    let text = text.trim();
    // `input text` types whatever follows it.
    let is_typed = argv.first().is_some_and(|it| it == "input");
    // `--` alone is one of our own guards, or does nothing.
    let is_option =
        text.starts_with('-') && text != "--" && argv.iter().any(|argument| argument == text);
    // After `--`, or after the option that it belongs to, a word is no option.
    let is_guarded = argv.iter().position(|argument| argument == text).is_some_and(|at| {
        let before = argv[..at].iter().map(String::as_str).collect::<Vec<_>>();
        before.contains(&"--") || before.last().is_some_and(|it| ["-d", "-e"].contains(it))
    });
    // The current user, which we name ourselves.
    let is_ours = text == "--user" && argv.windows(2).any(|two| two == ["--user", "0"]);
    (is_option && !is_typed && !is_guarded && !is_ours).then_some("an option")
}

/// The files below a folder.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    found.insert(path.strip_prefix(folder).unwrap().display().to_string());
                }
            }
        }
    }
    found
}

#[tokio::test(start_paused = true)]
async fn no_string_of_any_tool_runs_a_command_or_leaves_a_folder() {
    let root = tempfile::tempdir().unwrap();
    let (out, input) = (root.path().join("out"), root.path().join("input"));
    std::fs::create_dir_all(&input).unwrap();
    std::fs::write(root.path().join("secret"), "outside").unwrap();
    let strings = strings();
    assert!(strings.len() >= FEWEST, "{}", strings.len());
    let mut tried: BTreeMap<&str, usize> = BTreeMap::new();
    for toolset in &toolsets() {
        for tool in &toolset.tools {
            // A phone of its own for each tool: they rotate it, record it, uninstall apps.
            let phone = phone();
            let session = session(&phone, &out, &input);
            let mut seen = 0;
            let properties = tool.schema["properties"].as_object().unwrap();
            for parameter in properties.keys() {
                for text in &strings {
                    let Some(arguments) = with(tool, parameter, text) else { continue };
                    let reply = answer(&session, toolset, tool, arguments).await;
                    let said = format!("{reply:?}");
                    assert!(!said.contains("outside"), "{} {parameter}={text:?}", tool.name);
                    let commands = phone.commands();
                    let now = commands.len() as u64 + phone.commands_dropped();
                    let new = usize::try_from(now - seen).unwrap().min(commands.len());
                    for command in &commands[commands.len() - new..] {
                        let why = is_injected(&command.argv, text);
                        let argv = &command.argv;
                        assert_eq!(why, None, "{} {parameter}={text:?}: {argv:?}", tool.name);
                    }
                    seen = now;
                    *tried.entry(toolset.name).or_default() += 1;
                }
            }
            let mut listed = Vec::new();
            for folder in ["/", "/sdcard", "/data/local/tmp", "/system/bin"] {
                let names = phone.files(|files| files.list(folder)).unwrap_or_default();
                listed.extend(names.into_iter().map(|(name, _)| format!("{folder}/{name}")));
            }
            // Pushed files may have the name that the caller gave, in the folders for them.
            let pushes = ["mobile_push_file"].contains(&tool.name.as_str());
            let canaries: Vec<_> = listed.iter().filter(|name| name.contains(CANARY)).collect();
            assert!(pushes || canaries.is_empty(), "{}: {canaries:?}", tool.name);
            session.end().await;
        }
    }
    let outside: Vec<String> = files(root.path())
        .into_iter()
        .filter(|file| !file.starts_with("out/") && file != "secret")
        .collect();
    assert_eq!(outside, Vec::<String>::new());
    let folders = ["out/assets/", "out/logs/", "out/files/"];
    let stray: Vec<String> = files(root.path())
        .into_iter()
        .filter(|file| file != "secret" && !folders.iter().any(|folder| file.starts_with(folder)))
        .collect();
    assert_eq!(stray, Vec::<String>::new());
    assert!(!Path::new("/tmp/canary").exists());
    println!("{} strings; calls by toolset: {tried:?}", strings.len());
    assert_eq!(tried.len(), toolsets().len(), "{tried:?}");
    assert!(tried.values().sum::<usize>() >= FEWEST * 100, "{tried:?}");
}
