//! The session with a virtual phone that the test controls: what reaches its shell.

use std::time::Duration;

use thumbwire_adb::AdbServer;
use thumbwire_core::action::{
    Action, AppSelector, Call, Cause, Direction, Failure, Outcome, Perform as _, ScreenshotOptions,
    Target, TextInput,
};
use thumbwire_core::providers::{DeviceProviders, VIRTUAL};
use thumbwire_core::session::Session;
use thumbwire_device::{AppId, Gesture, Key, Point, SideEffect};
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::caller::provider;

pub(crate) const MAPS: &str = "com.google.android.apps.maps";

/// An address without an adb server.
pub(crate) fn nowhere() -> AdbServer {
    AdbServer::new("127.0.0.1:9")
}

pub(crate) fn held() -> (Session, VirtualPhone) {
    of(Setup { helper: false, ..Setup::default() })
}

/// A session with a virtual phone built from this setup.
pub(crate) fn of(setup: Setup) -> (Session, VirtualPhone) {
    let phone = VirtualPhone::new(setup);
    let phones = DeviceProviders::adb(nowhere()).with(provider(&phone));
    (Session::new(phones, Some(VIRTUAL.into())), phone)
}

pub(crate) async fn ask(session: &Session, action: Action) -> Result<Outcome, Failure> {
    session.perform(&Call::with_timeout(Duration::from_secs(60)), action).await
}

pub(crate) async fn tap_text(session: &Session, text: &str) {
    let target = Target::text(text);
    ask(session, Action::TapElement(target)).await.unwrap();
}

/// A session with the cursor in the search field of Maps.
async fn in_a_field() -> (Session, VirtualPhone) {
    let (session, phone) = held();
    ask(&session, Action::Launch(AppSelector::Id(AppId(MAPS.into())))).await.unwrap();
    tap_text(&session, "Search here").await;
    assert_eq!(focused(&phone), Some(String::new()));
    (session, phone)
}

pub(crate) fn focused(phone: &VirtualPhone) -> Option<String> {
    phone.world(|world| world.focused_text())
}

/// The programs that ran, by name, with their arguments.
pub(crate) fn ran(phone: &VirtualPhone, since: usize) -> Vec<Vec<String>> {
    // A tree comes with the state of the windows, and typing with readings of the uptime, in the
    // same round trip.
    let along =
        ["echo", "echo == windows", "dumpsys power", "dumpsys window -a", "cat /proc/uptime"];
    let argv = phone.commands().into_iter().skip(since).map(|command| command.argv);
    argv.filter(|argv| !along.contains(&argv.join(" ").as_str())).collect()
}

#[tokio::test]
async fn hostile_text_is_typed_and_runs_nothing() {
    let hostile = [
        "'; reboot #",
        "$(id)",
        "`id`",
        "\"; reboot; \"",
        "a && reboot || reboot & reboot | reboot > /sdcard/x",
        "\\'; reboot; '\\",
        "%s %%s %d",
        "--help",
        "-n",
        "${HOME} ~ * ? [a-z] {a,b} !! # //",
        "'''''",
    ];
    for text in hostile {
        let (session, phone) = in_a_field().await;
        let before = phone.commands().len();
        ask(&session, Action::Type(TextInput::of(text))).await.unwrap();
        assert_eq!(focused(&phone).as_deref(), Some(text));
        let mut ran = ran(&phone, before);
        assert_eq!(ran.pop().unwrap(), ["uiautomator", "dump", "/dev/tty"], "it was read back");
        assert!(!ran.is_empty());
        // Before the text, whether a field has the focus.
        for argv in ran.into_iter().filter(|argv| argv[0] != "dumpsys") {
            assert_eq!(argv[..2], ["input", "text"], "{text:?} ran {argv:?}");
        }
    }
}

/// Pieces that could confuse a shell, a terminal or a path.
const PIECES: &[&str] = &[
    "'",
    "\"",
    "\\",
    "`",
    "$(",
    ")",
    "${HOME}",
    "$IFS",
    ";",
    "&",
    "&&",
    "|",
    "||",
    ">",
    "<",
    "#",
    "*",
    "?",
    "~",
    "!",
    "%s",
    "\n",
    "\r",
    "\t",
    " ",
    "--",
    "-n",
    "reboot",
    "/../",
    "\u{1b}[2J",
    "caf\u{e9}",
    "\u{1f600}",
];

/// More than 500 strings built from [`PIECES`], which come first.
pub(crate) fn hostile_strings() -> Vec<String> {
    let mut strings: Vec<String> = PIECES.iter().map(|piece| (*piece).to_owned()).collect();
    for (i, first) in PIECES.iter().enumerate() {
        for step in 1..=15 {
            let second = PIECES[(i + step) % PIECES.len()];
            strings.push(format!("com.x{first}{second} reboot {second}{first}"));
        }
    }
    strings
}

/// Every string parameter of every tool that reaches the phone's shell, through MCP calls: the
/// shell runs exactly the tool's own commands, with the caller's string unchanged in its place, or
/// nothing at all.
#[tokio::test]
async fn no_tool_argument_becomes_a_second_command() {
    let (session, phone) = held();
    let surface = thumbwire_core::toolset::mobile::toolset();
    let strings = hostile_strings();
    assert!(strings.len() >= 500, "{}", strings.len());
    let mut before = 0;
    for tool in &surface.tools {
        let properties = tool.schema["properties"].as_object().unwrap();
        let free = |name: &&String| {
            properties[*name]["type"] == "string" && properties[*name].get("enum").is_none()
        };
        for parameter in properties.keys().filter(free).filter(|name| *name != "device") {
            // A phone's id never reaches a phone.
            if tool.name == "mobile_use_device" {
                continue;
            }
            let mut held = 0;
            // For app tools, cached results suffice, and no app is allowed here: hardly anything
            // runs. Discovery takes so long that each piece alone must do.
            let seldom = ["mobile_list_app_tools", "mobile_call_app_tool"].contains(&&*tool.name);
            let tried = if seldom { &strings[..PIECES.len()] } else { &strings[..] };
            for string in tried {
                // What has no scheme is refused at once.
                let in_address = format!("https://x.y/{}", string.trim());
                let string = if parameter == "url" { &in_address } else { string };
                let mut arguments = serde_json::Map::new();
                // Other required arguments.
                if tool.name == "mobile_wait_for" {
                    arguments.insert("timeout".into(), 0.into());
                }
                if tool.name == "mobile_type" {
                    arguments.insert("text".into(), "x".into());
                }
                arguments.insert(parameter.clone(), string.as_str().into());
                let call = Call::with_timeout(Duration::from_secs(60));
                surface.answer(tool, arguments, call, &session).await;
                let all = phone.commands();
                let after = all.len() as u64 + phone.commands_dropped();
                let ran = &all[all.len() - usize::try_from(after - before).unwrap()..];
                before = after;
                let string = if parameter == "bundle_id" { string.trim() } else { string };
                let typed: String = ran.iter().map(|command| keys(&command.argv)).collect();
                let whole = typed.is_empty() || typed == *string;
                assert!(whole, "{} {parameter}={string:?} typed {typed:?}", tool.name);
                for command in ran {
                    let argv: Vec<&str> = command.argv.iter().map(String::as_str).collect();
                    let as_made = match argv.as_slice() {
                        ["monkey", "--pct-syskeys", "0", "-p", app, "-c", _, "1"] => *app == string,
                        // Discovery of app tools names the phone's own apps, and nothing from the
                        // caller.
                        [
                            "cmd",
                            "package",
                            "query-services",
                            "--brief",
                            "--user",
                            "0",
                            "-a",
                            "mobile.mcp.SERVICE",
                        ] => true,
                        ["pm", "path", "--user", "0", "com.android.notes" | "com.example.shop"]
                        | ["dumpsys", "package", "com.android.notes" | "com.example.shop"] => true,
                        ["dd", file, ..] => file.starts_with("if=/") && file.ends_with(".apk"),
                        ["getprop", "ro.build.version.sdk"] => true,
                        ["pm", "path", "--user", "0", app]
                        | ["am", "force-stop", "--user", "0", app] => *app == string,
                        [
                            "am",
                            "start",
                            "-W",
                            "--user",
                            "0",
                            "-a",
                            "android.intent.action.VIEW",
                            "-d",
                            url,
                        ] => {
                            let space = string.replace(' ', "%20");
                            *url == space
                                .replace('\u{e9}', "%C3%A9")
                                .replace('\u{1f600}', "%F0%9F%98%80")
                        }
                        // The helper lists them with their names.
                        ["sha256sum", "/data/local/tmp/thumbwire-helper-1.jar"]
                        | ["umask", "077"]
                        | ["trap", "", "HUP"]
                        | ["mkdir", "-p", "/data/local/tmp/dalvik-cache"]
                        | ["exec", "app_process", "/system/bin", "org.thumbwire.helper.Main", _] => {
                            parameter == "bundle_id"
                        }
                        // A name is compared with those of the installed apps; none of these has
                        // it.
                        ["pm", "list", "packages", "--user", "0"]
                        | ["pm", "list", "packages", "-3" | "-f", "--user", "0"] => {
                            parameter == "bundle_id"
                        }
                        [
                            "cmd",
                            "package",
                            "query-activities",
                            "--brief",
                            "--user",
                            "0",
                            "-a",
                            "android.intent.action.MAIN",
                            "-c",
                            "android.intent.category.LAUNCHER",
                        ]
                        | ["getprop"] => parameter == "bundle_id",
                        ["input", "text", piece] => string.contains(piece),
                        ["input", "keyevent", "66"] => string.contains('\n'),
                        ["am", "get-current-user"]
                        | ["dumpsys", "input_method"]
                        | ["dumpsys", "window", "windows"]
                        | ["uiautomator", "dump", "/dev/tty"]
                        | ["echo"]
                        | ["echo", "==", "windows"]
                        | ["dumpsys", "power"]
                        | ["dumpsys", "window", "-a"]
                        | ["cat", "/proc/uptime"]
                        | ["ime", "list", "-a", "-s"] => true,
                        // Once, when a session connects to a phone.
                        ["cat", "/data/local/tmp/thumbwire-orientation"] => true,
                        _ => false,
                    };
                    assert!(as_made, "{} {parameter}={string:?} ran {argv:?}", tool.name);
                    held += 1;
                }
            }
            // An id that no package can have is refused before a command is made. A name is looked
            // up on a screen that was just read.
            let is_typed = parameter == "text" && tool.name.starts_with("mobile_type");
            let is_name = ["bundle_id", "element_id", "element_text", "text", "app", "key"];
            let few = is_name.contains(&parameter.as_str()) && !is_typed;
            assert!(
                seldom || few || held >= strings.len() / 2,
                "{} {parameter}: {held} commands",
                tool.name
            );
        }
    }
}

/// What a command types.
fn keys(argv: &[String]) -> &str {
    match argv {
        [input, text, piece] if input == "input" && text == "text" => piece,
        [input, event, key] if input == "input" && event == "keyevent" && key == "66" => "\n",
        _ => "",
    }
}

/// The parameters with a fixed set of words, including `mobile_use_device`'s platform.
#[tokio::test]
async fn invalid_choice_is_refused_before_reaching_the_phone() {
    let (session, phone) = held();
    let surface = thumbwire_core::toolset::mobile::toolset();
    let mut parameters = Vec::new();
    for tool in &surface.tools {
        for (name, _) in tool.schema["properties"].as_object().unwrap() {
            if tool.schema["properties"][name].get("enum").is_none() {
                continue;
            }
            parameters.push(name.as_str());
            // One without content counts as not given.
            for string in hostile_strings().into_iter().filter(|it| !it.trim().is_empty()) {
                let mut arguments = serde_json::Map::new();
                let required = tool.schema.get("required").and_then(|it| it.as_array());
                for required in required.into_iter().flatten() {
                    arguments.insert(required.as_str().unwrap().into(), VIRTUAL.into());
                }
                arguments.insert(name.clone(), string.as_str().into());
                let call = Call::with_timeout(Duration::from_secs(60));
                let reply = surface.answer(tool, arguments, call, &session).await;
                assert!(reply.is_error, "{} {name}={string:?}: {reply:?}", tool.name);
            }
        }
    }
    parameters.sort();
    let expected = [
        "app_type",
        "detail",
        "direction",
        "format",
        "key",
        "observe",
        "observe",
        "orientation",
        "platform",
        "platform",
    ];
    assert_eq!(parameters, expected);
    assert!(phone.commands().is_empty());
}

#[tokio::test]
async fn ten_thousand_characters_arrive() {
    let (session, phone) = in_a_field().await;
    let text: String = (0..10_000).map(|i| char::from(b' ' + (i % 95) as u8)).collect();
    ask(&session, Action::Type(TextInput::of(text.clone()))).await.unwrap();
    assert_eq!(focused(&phone), Some(text));
}

#[tokio::test]
async fn untypable_text_is_refused_with_the_reason() {
    for (text, named) in [("half\0way", "U+0000"), ("first caf\u{e9}", "U+00E9")] {
        let (session, phone) = in_a_field().await;
        let before = phone.commands().len();
        let failure = ask(&session, Action::Type(TextInput::of(text))).await.unwrap_err();
        let Cause::TextNotTypable(odd) = &failure.cause else { panic!("{failure:?}") };
        assert!(odd.to_string().contains(named), "{odd}");
        assert_eq!(failure.side_effect, SideEffect::None);
        assert!(ran(&phone, before).is_empty());
        assert_eq!(focused(&phone), Some(String::new()));
    }
}

#[tokio::test]
async fn newline_submits_a_search() {
    let (session, _phone) = in_a_field().await;
    ask(&session, Action::Type(TextInput::of("restaurants\n"))).await.unwrap();
    let Outcome::Snapshot(look) = ask(&session, Action::LOOK).await.unwrap() else { panic!() };
    let titles = look.tree.nodes.iter().filter(|node| node.id.ends_with(":id/title"));
    assert!(titles.count() > 2, "the results are listed");
}

#[tokio::test]
async fn scrolling_down_reveals_content_and_up_returns() {
    let (session, _phone) = in_a_field().await;
    ask(&session, Action::Type(TextInput::of("restaurants\n"))).await.unwrap();
    let titles = async || {
        let Outcome::Snapshot(look) = ask(&session, Action::LOOK).await.unwrap() else { panic!() };
        let nodes = look.tree.nodes.iter().filter(|node| node.id.ends_with(":id/title"));
        nodes.map(|node| node.text.clone()).collect::<Vec<_>>()
    };
    let scroll = |direction| Action::Scroll { direction, distance: 0.4 };
    let first = titles().await;
    ask(&session, scroll(Direction::Down)).await.unwrap();
    let further = titles().await;
    assert!(!further.contains(&first[0]), "{first:?} then {further:?}");
    assert!(further.contains(&first[first.len() - 1]), "no row was skipped: {further:?}");
    ask(&session, scroll(Direction::Up)).await.unwrap();
    assert_eq!(titles().await, first);
}

#[tokio::test]
async fn each_snapshot_and_each_touch_is_one_command() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(ScreenshotOptions::default())).await.unwrap();
    // An action, so that the next screenshot is not cached.
    ask(&session, Action::Press(Key::Home)).await.unwrap();
    let single = [
        (Action::Screenshot(ScreenshotOptions::default()), "screencap"),
        (Action::LOOK, "uiautomator"),
        (Action::Touch(Gesture::Tap { at: Point { x: 540, y: 1200 } }), "input"),
        (Action::Press(Key::Home), "input"),
    ];
    for (action, program) in single {
        let before = phone.commands().len();
        ask(&session, action).await.unwrap();
        let ran = ran(&phone, before);
        assert_eq!(ran.len(), 1, "{ran:?}");
        assert_eq!(ran[0][0], program);
    }
}

#[tokio::test]
async fn touch_outside_the_screen_is_refused() {
    let (session, phone) = held();
    let before = phone.commands().len();
    let outside = Gesture::Tap { at: Point { x: 10, y: 2400 } };
    let failure = ask(&session, Action::Touch(outside)).await.unwrap_err();
    let Cause::InvalidArgument { reason } = failure.cause else { panic!("{failure:?}") };
    assert!(reason.contains("1080 wide and 2400 high"), "{reason}");
    assert!(ran(&phone, before).iter().all(|argv| argv[0] != "input"));
}
