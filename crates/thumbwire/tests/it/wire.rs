//! The session against a virtual phone that the test holds: what reached its shell, and what happens when it goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use thumbwire::action::{
    Action, Call, Cause, Choice, Direction, Failure, Outcome, Perform as _, Shape, Target, Typing,
};
use thumbwire::session::{OurKey, Phones, Session, VIRTUAL};
use thumbwire_adb::daemon::shell::ShellIo;
use thumbwire_adb::daemon::{self, Doorkeeper, Handler, Refused, Services, handler};
use thumbwire_adb::wire::banner::{Banner, Features};
use thumbwire_adb::{AdbServer, Direct, PublicKey, Stream, Transport};
use thumbwire_device::android::Android;
use thumbwire_device::{Acted, AppId, Device as _, Gesture, Key, Point};
use thumbwire_virtual_phone::{Setup, VirtualPhone};
use tokio::net::TcpListener;
use tokio::time::Instant;

const MAPS: &str = "com.google.android.apps.maps";

/// No adb server listens there.
fn nowhere() -> AdbServer {
    AdbServer::new("127.0.0.1:9")
}

fn held() -> (Session, VirtualPhone) {
    of(Setup::default())
}

/// A session with a virtual phone made so.
pub(crate) fn of(setup: Setup) -> (Session, VirtualPhone) {
    let phone = VirtualPhone::new(setup);
    let phones = Phones::new(nowhere()).with_virtual(phone.clone());
    (Session::new(phones, Some(VIRTUAL.into())), phone)
}

pub(crate) async fn ask(session: &Session, action: Action) -> Result<Outcome, Failure> {
    session.perform(&Call::within(Duration::from_secs(60)), action).await
}

pub(crate) async fn tap_text(session: &Session, text: &str) {
    let target = Target::text(text);
    ask(session, Action::TapElement(target)).await.unwrap();
}

/// A session with the cursor in the search field of Maps.
async fn in_a_field() -> (Session, VirtualPhone) {
    let (session, phone) = held();
    ask(&session, Action::Launch(Choice::Id(AppId(MAPS.into())))).await.unwrap();
    tap_text(&session, "Search here").await;
    assert_eq!(focused(&phone), Some(String::new()));
    (session, phone)
}

pub(crate) fn focused(phone: &VirtualPhone) -> Option<String> {
    phone.world(|world| world.focused_text())
}

/// The programs that ran, by name, with their arguments.
pub(crate) fn ran(phone: &VirtualPhone, since: usize) -> Vec<Vec<String>> {
    phone.commands().into_iter().skip(since).map(|command| command.argv).collect()
}

#[tokio::test]
async fn hostile_text_reaches_the_field_as_text_and_runs_nothing() {
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
        ask(&session, Action::Type(Typing::of(text))).await.unwrap();
        assert_eq!(focused(&phone).as_deref(), Some(text));
        let mut ran = ran(&phone, before);
        assert_eq!(ran.pop().unwrap(), ["uiautomator", "dump", "/dev/tty"], "it was read back");
        assert!(!ran.is_empty());
        for argv in ran {
            assert_eq!(argv[..2], ["input", "text"], "{text:?} ran {argv:?}");
        }
    }
}

/// What a shell, a terminal or a path could trip over.
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

/// More than 500 strings made of [`PIECES`], which stand first.
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

/// Every string parameter of every tool that goes to the phone's shell, by the way of an MCP call: the shell sees the
/// commands that the tool is made of, each with exactly the caller's string in its place, or nothing at all.
#[tokio::test]
async fn no_string_of_any_tool_becomes_a_second_command() {
    let (session, phone) = held();
    let surface = thumbwire::surface::mobile::surface();
    let strings = hostile_strings();
    assert!(strings.len() >= 500, "{}", strings.len());
    let mut before = 0;
    for tool in &surface.tools {
        let properties = tool.schema["properties"].as_object().unwrap();
        let free = |name: &&String| {
            properties[*name]["type"] == "string" && properties[*name].get("enum").is_none()
        };
        for parameter in properties.keys().filter(free).filter(|name| *name != "device") {
            // The id of a phone never reaches a phone.
            if tool.name == "mobile_use_device" {
                continue;
            }
            let mut held = 0;
            // Of apps' tools what was found out a moment ago is enough, and nobody allowed any app here: hardly anything is run. Looking
            // for them takes so long that each piece by itself must do.
            let seldom = ["mobile_list_app_tools", "mobile_call_app_tool"].contains(&&*tool.name);
            let tried = if seldom { &strings[..PIECES.len()] } else { &strings[..] };
            for string in tried {
                let mut arguments = serde_json::Map::new();
                // What must be there besides.
                if tool.name == "mobile_type" {
                    arguments.insert("text".into(), "x".into());
                }
                arguments.insert(parameter.clone(), string.as_str().into());
                let call = Call::within(Duration::from_secs(60));
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
                        // What looks for apps' tools names the phone's own apps, and nothing of a caller's.
                        [
                            "cmd",
                            "package",
                            "query-services",
                            "--brief",
                            "-a",
                            "mobile.mcp.SERVICE",
                        ] => true,
                        ["pm", "path", "com.android.notes" | "com.example.shop"]
                        | ["dumpsys", "package", "com.android.notes" | "com.example.shop"] => true,
                        ["dd", file, ..] => file.starts_with("if=/") && file.ends_with(".apk"),
                        ["getprop", "ro.build.version.sdk"] => true,
                        ["pm", "path", app] | ["am", "force-stop", app] => *app == string,
                        ["input", "text", piece] => string.contains(piece),
                        ["input", "keyevent", "66"] => string.contains('\n'),
                        ["uiautomator", "dump", "/dev/tty"] | ["ime", "list", "-a", "-s"] => true,
                        // Once, when a session meets a phone.
                        ["cat", "/data/local/tmp/thumbwire-orientation"] => true,
                        _ => false,
                    };
                    assert!(as_made, "{} {parameter}={string:?} ran {argv:?}", tool.name);
                    held += 1;
                }
            }
            assert!(
                seldom || held >= strings.len() / 2,
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

/// The parameters that take one of a few words, `mobile_use_device`'s platform among them.
#[tokio::test]
async fn a_word_that_is_no_choice_is_refused_before_the_phone_is_asked() {
    let (session, phone) = held();
    let surface = thumbwire::surface::mobile::surface();
    let mut parameters = Vec::new();
    for tool in &surface.tools {
        for (name, _) in tool.schema["properties"].as_object().unwrap() {
            if tool.schema["properties"][name].get("enum").is_none() {
                continue;
            }
            parameters.push(name.as_str());
            for string in hostile_strings() {
                let mut arguments = serde_json::Map::new();
                let required = tool.schema.get("required").and_then(|it| it.as_array());
                for required in required.into_iter().flatten() {
                    arguments.insert(required.as_str().unwrap().into(), VIRTUAL.into());
                }
                arguments.insert(name.clone(), string.as_str().into());
                let call = Call::within(Duration::from_secs(60));
                let reply = surface.answer(tool, arguments, call, &session).await;
                assert!(reply.is_error, "{} {name}={string:?}: {reply:?}", tool.name);
            }
        }
    }
    parameters.sort();
    let expected =
        ["app_type", "direction", "format", "key", "orientation", "platform", "platform"];
    assert_eq!(parameters, expected);
    assert!(phone.commands().is_empty());
}

#[tokio::test]
async fn ten_thousand_characters_arrive_whole() {
    let (session, phone) = in_a_field().await;
    let text: String = (0..10_000).map(|i| char::from(b' ' + (i % 95) as u8)).collect();
    ask(&session, Action::Type(Typing::of(text.clone()))).await.unwrap();
    assert_eq!(focused(&phone), Some(text));
}

#[tokio::test]
async fn what_cannot_be_typed_is_refused_with_the_reason_and_nothing_is_typed() {
    // Whether there is a keyboard app is asked for what one could type.
    let asked = ["ime", "list", "-a", "-s"].map(str::to_owned).to_vec();
    for (text, named, ran_then) in
        [("half\0way", "U+0000", vec![]), ("first caf\u{e9}", "U+00E9", vec![asked])]
    {
        let (session, phone) = in_a_field().await;
        let before = phone.commands().len();
        let failure = ask(&session, Action::Type(Typing::of(text))).await.unwrap_err();
        let Cause::Refused { why } = &failure.cause else { panic!("{failure:?}") };
        assert!(why.contains(named), "{why}");
        assert_eq!(failure.acted, Acted::No);
        assert_eq!(ran(&phone, before), ran_then);
        assert_eq!(focused(&phone), Some(String::new()));
    }
}

#[tokio::test]
async fn a_line_end_sends_a_search_off() {
    let (session, _phone) = in_a_field().await;
    ask(&session, Action::Type(Typing::of("restaurants\n"))).await.unwrap();
    let Outcome::Look(look) = ask(&session, Action::LOOK).await.unwrap() else { panic!() };
    let titles = look.tree.nodes.iter().filter(|node| node.id.ends_with(":id/title"));
    assert!(titles.count() > 2, "the results are listed");
}

#[tokio::test]
async fn scrolling_down_shows_what_is_further_down_and_up_goes_back() {
    let (session, _phone) = in_a_field().await;
    ask(&session, Action::Type(Typing::of("restaurants\n"))).await.unwrap();
    let titles = async || {
        let Outcome::Look(look) = ask(&session, Action::LOOK).await.unwrap() else { panic!() };
        let nodes = look.tree.nodes.iter().filter(|node| node.id.ends_with(":id/title"));
        nodes.map(|node| node.text.clone()).collect::<Vec<_>>()
    };
    let scroll = |direction| Action::Scroll { direction, distance: 0.4 };
    let first = titles().await;
    ask(&session, scroll(Direction::Down)).await.unwrap();
    let further = titles().await;
    assert!(!further.contains(&first[0]), "{first:?} then {further:?}");
    assert!(further.contains(&first[first.len() - 1]), "no row was passed over: {further:?}");
    ask(&session, scroll(Direction::Up)).await.unwrap();
    assert_eq!(titles().await, first);
}

#[tokio::test]
async fn each_look_and_each_touch_is_one_command() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    // Something is done, so that the next picture is a new one.
    ask(&session, Action::Press(Key::Home)).await.unwrap();
    let single = [
        (Action::Screenshot(Shape::default()), "screencap"),
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
async fn a_touch_outside_the_screen_is_refused() {
    let (session, phone) = held();
    let before = phone.commands().len();
    let outside = Gesture::Tap { at: Point { x: 10, y: 2400 } };
    let failure = ask(&session, Action::Touch(outside)).await.unwrap_err();
    let Cause::InvalidArgument { why } = failure.cause else { panic!("{failure:?}") };
    assert!(why.contains("1080 wide and 2400 high"), "{why}");
    assert!(ran(&phone, before).iter().all(|argv| argv[0] != "input"));
}

/// A virtual phone on TCP and a session that reaches it by address.
async fn on_tcp() -> (Session, VirtualPhone, String) {
    let phone = VirtualPhone::new(Setup::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = phone.clone();
    tokio::spawn(async move { served.listen(listener).await });
    let session = Session::new(Phones::new(nowhere()), Some(address.clone()));
    (session, phone, address)
}

#[tokio::test]
async fn a_phone_that_vanishes_is_not_connected_and_works_again_once_it_is_back() {
    let (session, phone, address) = on_tcp().await;
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    phone.unplug();
    let asked = Instant::now();
    let failure = ask(&session, Action::Press(Key::Home)).await.unwrap_err();
    let Cause::DeviceNotConnected { device, .. } = failure.cause else { panic!("{failure:?}") };
    assert_eq!(device, address);
    assert!(asked.elapsed() < Duration::from_secs(60), "within the deadline");
    phone.plug();
    ask(&session, Action::Press(Key::Home)).await.unwrap();
}

#[tokio::test]
async fn a_phone_that_vanishes_while_it_works_says_that_it_may_have_acted() {
    let (session, phone, _) = on_tcp().await;
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    // The phone takes the order and is unplugged before it answers.
    phone.hold();
    let session = Arc::new(session);
    let asking = tokio::spawn({
        let session = Arc::clone(&session);
        async move { ask(&session, Action::Press(Key::Home)).await }
    });
    phone.until_held().await;
    phone.unplug();
    let failure = asking.await.unwrap().unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    assert_eq!(failure.acted, Acted::Maybe);
    phone.release();
    phone.plug();
    ask(&session, Action::Press(Key::Home)).await.unwrap();
}

/// What is logged on this test's thread.
#[derive(Clone, Default)]
struct Logged(Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn eleven_phones_are_driven_at_once_by_one_session_and_the_last_brings_a_warning() {
    use tracing_subscriber::util::SubscriberInitExt as _;
    let log = Logged::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    let _logging = subscriber.set_default();
    let mut phones = Vec::new();
    for seed in 1..=11 {
        let phone = VirtualPhone::new(Setup { seed, ..Setup::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let served = phone.clone();
        tokio::spawn(async move { served.listen(listener).await });
        phones.push((address, phone));
    }
    let session = Session::new(Phones::new(nowhere()), None);
    let drive = async |address: String| {
        let call = Call::within(Duration::from_secs(60)).on(Some(address));
        let launch = Action::Launch(Choice::Id(AppId(MAPS.into())));
        session.perform(&call, launch).await.unwrap();
        let text = Target::text("Search here");
        session.perform(&call, Action::TapElement(text)).await.unwrap();
        let typed = Action::Type(Typing::of(format!("at {}", call.device.as_deref().unwrap())));
        session.perform(&call, typed).await.unwrap();
    };
    let all = phones.iter().map(|(address, _)| drive(address.clone()));
    futures::future::join_all(all).await;
    for (address, phone) in &phones {
        assert_eq!(focused(phone), Some(format!("at {address}")), "each got its own text");
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(log.matches("WARN").count(), 1, "{log}");
    assert!(log.contains("is phone 11 of this session; up to 10 are recommended"), "{log}");
}

/// A phone that asks for a key; its owner consents when told to.
struct Guarded {
    consents: AtomicBool,
    shown: std::sync::Mutex<Vec<String>>,
}

impl Services for Guarded {
    fn banner(&self) -> Banner {
        Banner::phone("p", "Guarded", "d", Features::read("shell_v2"))
    }

    fn open(&self, _service: &str) -> Result<Handler, Refused> {
        Ok(handler(async |stream| ShellIo::new(stream).control.exit(0).await))
    }
}

impl Doorkeeper for Guarded {
    fn knows(&self, token: &[u8], signature: &[u8]) -> bool {
        let shown = self.shown.lock().unwrap();
        let known = shown.iter().filter_map(|line| PublicKey::read(line).ok());
        self.consents.load(Ordering::SeqCst)
            && known.into_iter().any(|key| key.signed(token, signature))
    }

    fn consents(&self, key: String) -> BoxFuture<'static, bool> {
        self.shown.lock().unwrap().push(key);
        Box::pin(std::future::ready(self.consents.load(Ordering::SeqCst)))
    }
}

#[tokio::test]
async fn a_phone_that_asks_for_a_key_is_shown_ours_and_works_once_its_owner_consents() {
    let guarded = Arc::new(Guarded { consents: false.into(), shown: std::sync::Mutex::default() });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let served = Arc::clone(&guarded);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(daemon::serve_guarded(stream, served.clone(), served.clone()));
        }
    });
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("adbkey");
    let source = move || thumbwire::key::read_or_make(&file, "me@here").map(Arc::new);
    // The owner's refusal is not told to a host; it is seen by the time that passes.
    let (name, consent) = ("me@here".into(), Duration::from_millis(200));
    let phones = Phones::new(nowhere());
    let phones = phones.with_key(OurKey { source: Box::new(source), name, consent });
    let session = Session::new(phones, None);
    let choose = || Action::UseDevice { device: address.clone(), platform: None };

    let call = Call::within(Duration::from_secs(30));
    let failure = session.perform(&call, choose()).await.unwrap_err();
    assert_eq!(failure.cause, Cause::DeviceNotAuthorized { device: address.clone() });
    assert_eq!(failure.acted, Acted::No);
    assert!(guarded.shown.lock().unwrap()[0].ends_with(" me@here"));

    guarded.consents.store(true, Ordering::SeqCst);
    let Outcome::Using(identity) = ask(&session, choose()).await.unwrap() else { panic!() };
    assert_eq!(identity.model, "Guarded");
    let shown = guarded.shown.lock().unwrap();
    assert!(shown.iter().all(|key| *key == shown[0]), "the same key each time");
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_falls_silent_is_not_connected_within_the_deadline() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    phone.silence(true);
    let asked = Instant::now();
    let call = Call::within(Duration::from_secs(10));
    let failure = session.perform(&call, Action::Press(Key::Home)).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    assert_eq!(failure.acted, Acted::Maybe);
    assert!(asked.elapsed() <= Duration::from_secs(10), "{:?}", asked.elapsed());
    phone.silence(false);
    ask(&session, Action::Press(Key::Home)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_is_only_slow_times_out_and_stays_connected() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    phone.hold();
    let call = Call::within(Duration::from_secs(10));
    let failure = session.perform(&call, Action::LOOK).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::TimedOut { .. }), "{failure:?}");
    phone.release();
    ask(&session, Action::LOOK).await.unwrap();
}

#[tokio::test]
async fn a_cancelled_call_gives_way_at_once() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    phone.hold();
    let call = Call::within(Duration::from_secs(60));
    let cancelled = call.cancelled.clone();
    let (done, ()) = tokio::join!(session.perform(&call, Action::LOOK), async {
        phone.until_held().await;
        cancelled.cancel();
    });
    assert_eq!(done.unwrap_err().cause, Cause::Cancelled);
    phone.release();
    ask(&session, Action::LOOK).await.unwrap();
}

/// Something that takes connections and never says a word.
async fn hole() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

#[tokio::test]
async fn an_adb_server_that_hangs_holds_up_no_call_to_another_phone() {
    let (_hole, server) = hole().await;
    let phone = VirtualPhone::new(Setup::default());
    let session = Session::new(Phones::new(AdbServer::new(server)).with_virtual(phone), None);
    let waiting = ask(&session, Action::Screenshot(Shape::default()));
    let using = async {
        // Asked after the other call has begun to wait.
        tokio::task::yield_now().await;
        let call = Call::within(Duration::from_secs(2));
        let action = Action::UseDevice { device: VIRTUAL.into(), platform: None };
        session.perform(&call, action).await
    };
    tokio::select! {
        biased;
        done = waiting => panic!("{done:?}"),
        used = using => assert!(matches!(used, Ok(Outcome::Using(_))), "{used:?}"),
    }
}

#[tokio::test]
async fn a_phone_that_never_greets_is_not_connected_and_nothing_was_done() {
    let (_hole, address) = hole().await;
    let session = Session::new(Phones::new(nowhere()), Some(address.clone()));
    let call = Call::within(Duration::from_millis(400));
    let failure = session.perform(&call, Action::Press(Key::Home)).await.unwrap_err();
    let Cause::DeviceNotConnected { device, .. } = failure.cause else { panic!("{failure:?}") };
    assert_eq!((device, failure.acted), (address, Acted::No));
}

#[tokio::test]
async fn choosing_a_phone_that_never_greets_does_not_blame_the_chosen_one() {
    let (_hole, address) = hole().await;
    let (session, _phone) = held();
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    let call = Call::within(Duration::from_millis(400));
    let action = Action::UseDevice { device: address.clone(), platform: None };
    let failure = session.perform(&call, action).await.unwrap_err();
    let Cause::DeviceNotConnected { device, .. } = failure.cause else { panic!("{failure:?}") };
    assert_eq!(device, address);
}

#[tokio::test]
async fn a_phone_named_by_its_address_needs_no_adb_server_that_is_well() {
    use tokio::io::AsyncWriteExt as _;
    let (listener, server) = hole().await;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request").await;
        }
    });
    let (_, _phone, address) = on_tcp().await;
    let session = Session::new(Phones::new(AdbServer::new(server)), Some(address));
    ask(&session, Action::Press(Key::Home)).await.unwrap();
}

#[tokio::test]
async fn a_phone_lost_before_the_tap_went_out_says_that_nothing_was_done() {
    let (session, phone, _) = on_tcp().await;
    ask(&session, Action::LOOK).await.unwrap();
    phone.hold();
    let tap = Action::Touch(Gesture::Tap { at: Point { x: 5, y: 5 } });
    let (done, ()) = tokio::join!(ask(&session, tap), async {
        // It is asked for the size of its screen first.
        phone.until_held().await;
        phone.unplug();
    });
    let failure = done.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
    assert_eq!(failure.acted, Acted::No);
}

#[tokio::test]
async fn a_call_cancelled_before_its_turn_says_that_nothing_was_done() {
    let (session, phone) = held();
    ask(&session, Action::Screenshot(Shape::default())).await.unwrap();
    phone.hold();
    let call = Call::within(Duration::from_secs(60));
    let cancelled = call.cancelled.clone();
    let first = ask(&session, Action::Press(Key::Home));
    let second = async {
        tokio::join!(session.perform(&call, Action::Press(Key::Back)), async {
            phone.until_held().await;
            cancelled.cancel();
        })
    };
    tokio::select! {
        biased;
        done = first => panic!("{done:?}"),
        (done, ()) = second => {
            let expected = Failure { cause: Cause::Cancelled, acted: Acted::No };
            assert_eq!(done.unwrap_err(), expected);
        }
    }
}

#[tokio::test]
async fn the_virtual_phone_is_not_taken_silently_though_it_was_named_once() {
    let phone = VirtualPhone::new(Setup::default());
    let session = Session::new(Phones::new(nowhere()).with_virtual(phone), None);
    let failure = ask(&session, Action::Press(Key::Home)).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::NoDeviceChosen { .. }), "{failure:?}");
}

/// A way to a phone that is cut after some openings.
struct CutAfter {
    way: Direct,
    left: AtomicUsize,
}

#[async_trait]
impl Transport for CutAfter {
    async fn open(&self, service: &str) -> Result<Stream, thumbwire_adb::Error> {
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if left.is_err() {
            let (place, reason) = ("the phone".into(), "unplugged".into());
            return Err(thumbwire_adb::Error::NotReachable { place, reason });
        }
        self.way.open(service).await
    }
    async fn features(&self) -> Result<Features, thumbwire_adb::Error> {
        self.way.features().await
    }
    async fn banner(&self) -> Result<Banner, thumbwire_adb::Error> {
        self.way.banner().await
    }
}

#[tokio::test]
async fn a_phone_lost_in_the_middle_of_a_text_says_that_some_was_typed() {
    for (left, acted) in [(0, Acted::No), (1, Acted::Maybe)] {
        let phone = VirtualPhone::new(Setup::default());
        let way = CutAfter { way: Direct::over(phone.in_memory()), left: AtomicUsize::new(left) };
        let device = Android::attach("cut", Arc::new(way)).await.unwrap();
        let error = device.type_text("user\nsecret").await.unwrap_err();
        assert!(matches!(error, thumbwire_device::Error::NotConnected { .. }), "{error}");
        assert_eq!(error.acted(), acted);
    }
}

#[tokio::test]
async fn what_answers_but_is_no_phone_is_not_connected() {
    use tokio::io::AsyncWriteExt as _;
    let (listener, address) = hole().await;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let session = Session::new(Phones::new(nowhere()), Some(address));
    let failure = ask(&session, Action::Screenshot(Shape::default())).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::DeviceNotConnected { .. }), "{failure:?}");
}
