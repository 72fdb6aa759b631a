//! What apps offer, found and called by the whole way: session, bridge, driver, real ADB, the virtual phone's apps and their packages.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use thumbwire::action::{
    Action, AppCall, Call, Catalog, Cause, Failure, Heard, Outcome, Perform, Trusted,
};
use thumbwire::bridge::{BridgeOptions, MemoryStore, Trust};
use thumbwire::session::{Phones, Session, VIRTUAL};
use thumbwire_adb::AdbServer;
use thumbwire_device::{Acted, AppId};
use thumbwire_virtual_phone::VirtualPhone;

use crate::recordings::small;
use crate::wire::hostile_strings;

const ATTENDANCE: &str = "org.example.attendance";
const ODD: &str = "org.example.odd";
const JAR: &str = "/data/local/tmp/thumbwire-helper-1.jar";

struct Bench {
    phone: VirtualPhone,
    session: Session,
}

impl Bench {
    /// A phone with these apps of `fixtures/apk` beside its own.
    fn with(release: &str, apps: &[&str], allow: &[&str]) -> Self {
        let phone = small(release, 1);
        for name in apps {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/apk");
            let apk = fs::read(folder.join(format!("{name}.apk"))).unwrap();
            phone.install(&[&apk]).unwrap();
        }
        let phones = Phones::new(AdbServer::new("127.0.0.1:9")).with_virtual(phone.clone());
        // As if somebody had used them a moment ago.
        for app in [ATTENDANCE, ODD] {
            phone.world(|world| world.allow_in_background(app, Duration::MAX));
        }
        let allow = allow.iter().map(|pattern| (*pattern).to_owned()).collect();
        let trust = Trust { allow, store: Arc::new(MemoryStore::default()) };
        let options = BridgeOptions { trust, ..BridgeOptions::default() };
        let session = Session::new(phones, Some(VIRTUAL.into())).with_bridge(options);
        Self { phone, session }
    }

    async fn ask(&self, action: Action) -> Result<Outcome, Failure> {
        self.session.perform(&Call::within(Duration::from_secs(30)), action).await
    }

    async fn list(&self) -> Arc<Catalog> {
        match self.ask(Action::ListAppTools { no_older_than: Duration::ZERO }).await {
            Ok(Outcome::AppTools(catalog)) => catalog,
            other => panic!("{other:?}"),
        }
    }

    async fn call(&self, app: &str, tool: &str, arguments: Value) -> Result<Heard, Failure> {
        self.send(wanted(app, tool, arguments)).await
    }

    async fn send(&self, wanted: AppCall) -> Result<Heard, Failure> {
        match self.ask(Action::CallAppTool(wanted)).await? {
            Outcome::Answered(answered) => Ok(answered.heard),
            other => panic!("{other:?}"),
        }
    }

    fn days(&self) -> usize {
        self.phone.world(|world| world.kept(ATTENDANCE).len())
    }
}

fn wanted(app: &str, tool: &str, arguments: Value) -> AppCall {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let (app, service) = (AppId(app.into()), None);
    AppCall { app, service, tool: tool.into(), arguments, send_only: false }
}

#[tokio::test]
async fn clocking_in_takes_one_call_instead_of_five_taps() {
    for release in ["9", "14", "16"] {
        println!("Android {release}");
        let bench = Bench::with(release, &["attendance"], &[ATTENDANCE]);
        let catalog = bench.list().await;
        let tools = catalog.of(&AppId(ATTENDANCE.into())).unwrap();
        let ids: Vec<_> = tools.tools.iter().map(|tool| tool.id.as_str()).collect();
        assert_eq!(ids, ["clock_in_today", "query_clock_in", "make_up_clock_in"]);
        assert_eq!((&tools.trusted, tools.certificate.len()), (&Trusted::Yes, 64), "{tools:?}");
        assert!(tools.complaints.iter().all(|one| !one.fatal), "{tools:?}");
        assert!(!tools.name.is_empty() && !tools.name.starts_with('@'), "{tools:?}");
        let others = catalog.apps.iter().filter(|app| app.app.0 != ATTENDANCE);
        for app in others {
            assert!(!app.tools.is_empty() && app.trusted == Trusted::NotAllowed, "{app:?}");
        }

        assert_eq!(bench.days(), 0);
        let heard = bench.call(ATTENDANCE, "clock_in_today", json!({})).await.unwrap();
        let Heard::Answer { success: true, .. } = heard else { panic!("{heard:?}") };
        assert_eq!(bench.days(), 1, "it was done on the phone");
        let arguments = json!({ "date": "2020-02-30" });
        let heard = bench.call(ATTENDANCE, "query_clock_in", arguments).await.unwrap();
        let Heard::Answer { success: false, message, .. } = heard else { panic!("{heard:?}") };
        assert!(!message.is_empty());
        let failure = bench.call(ATTENDANCE, "query_clock_in", json!({})).await.unwrap_err();
        let Cause::InvalidArgument { why } = &failure.cause else { panic!("{failure:?}") };
        assert!(why.contains("`date` is missing"), "{why}");
    }
}

/// Android 8 and later start no services of apps that nobody uses; the driver has the phone spare the app that rule for some seconds.
#[tokio::test]
async fn an_app_in_the_background_is_called_all_the_same() {
    let bench = Bench::with("14", &["attendance"], &[ATTENDANCE]);
    bench.phone.world(|world| world.allow_in_background(ATTENDANCE, Duration::ZERO));
    bench.call(ATTENDANCE, "clock_in_today", json!({})).await.unwrap();
    assert_eq!(bench.days(), 1);
}

#[tokio::test]
async fn a_second_list_reads_no_package_again() {
    let bench = Bench::with("14", &["attendance"], &[]);
    let first = bench.list().await;
    let before = bench.phone.commands().len();
    let second = bench.list().await;
    assert_eq!(first.apps, second.apps);
    let commands: Vec<_> = bench.phone.commands().split_off(before);
    let reads =
        commands.iter().filter(|one| one.argv.iter().any(|word| word.contains(".apk"))).count();
    assert_eq!(reads, 0, "{commands:?}");
}

#[tokio::test]
async fn a_phone_without_the_helper_can_be_told_and_not_heard() {
    let bench = Bench::with("14", &["attendance"], &["*"]);
    bench.phone.files(|files| files.remove(JAR, false)).unwrap();
    let failure = bench.call(ATTENDANCE, "clock_in_today", json!({})).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::Unheard { .. }), "{failure:?}");
    assert_eq!((failure.acted, bench.days()), (Acted::No, 0));
    let only = AppCall { send_only: true, ..wanted(ATTENDANCE, "clock_in_today", json!({})) };
    assert_eq!(bench.send(only).await.unwrap(), Heard::Sent);
    assert_eq!(bench.days(), 1);
}

/// Without the helper an argument goes through the phone's shell: one program ran, and each of its letters holds the argument as it was.
#[tokio::test]
async fn what_is_sent_to_an_app_goes_through_the_shell_whole() {
    let bench = Bench::with("14", &["attendance"], &["*"]);
    bench.phone.files(|files| files.remove(JAR, false)).unwrap();
    bench.list().await;
    for string in hostile_strings() {
        let before = bench.phone.commands().len() as u64 + bench.phone.commands_dropped();
        let wanted = wanted(ATTENDANCE, "query_clock_in", json!({ "date": string }));
        bench.send(AppCall { send_only: true, ..wanted }).await.unwrap();
        let commands = bench.phone.commands();
        let after = commands.len() as u64 + bench.phone.commands_dropped();
        let ran = &commands[commands.len() - usize::try_from(after - before).unwrap()..];
        let [command] = ran else { panic!("{string:?} ran {ran:?}") };
        let service = format!("{ATTENDANCE}/{ATTENDANCE}.ToolService");
        let begins = ["am", "startservice", "-n", &service];
        assert_eq!(command.argv[..4], begins, "{string:?}");
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let letters: Vec<_> = command.argv[4..]
            .chunks(3)
            .map(|extra| (extra[0].as_str(), extra[1].as_str(), read(&extra[2])))
            .collect();
        let [("--es", "mobile-mcp-request", new), ("--es", "request", old)] = &letters[..] else {
            panic!("{string:?} sent {letters:?}")
        };
        for request in [&new["mobile-mcp-request"]["request"], old] {
            assert_eq!(request["capability"]["args"]["date"], string);
        }
    }
}

#[tokio::test]
async fn apps_that_answer_oddly_are_told_apart() {
    let bench = Bench::with("14", &["odd"], &[ODD]);
    let catalog = bench.list().await;
    let odd = catalog.of(&AppId(ODD.into())).unwrap();
    let service = odd.tools.iter().find(|tool| tool.id == "answer").unwrap().service.clone();
    for (tool, says) in [
        ("answer", ""),
        ("twice", ""),
        ("broken", "cannot be read"),
        ("other_id", "another request"),
        ("other_capability", "instead"),
    ] {
        let service = service.as_ref().map(|it| it.class.clone());
        let call = AppCall { service, ..wanted(ODD, tool, json!({})) };
        match bench.send(call).await {
            Ok(heard) => assert!(says.is_empty(), "{tool}: {heard:?}"),
            Err(failure) => {
                assert!(!says.is_empty(), "{tool}: {failure:?}");
                assert!(failure.cause.to_string().contains(says), "{tool}: {failure:?}");
                assert_eq!(failure.acted, Acted::Maybe, "{tool}");
            }
        }
    }
}

#[tokio::test]
async fn a_call_makes_stale_what_was_known_of_the_screen() {
    let bench = Bench::with("14", &["attendance"], &[ATTENDANCE]);
    let Ok(Outcome::Controls(before)) = bench.controls().await else { panic!() };
    let Ok(Outcome::Controls(again)) = bench.controls().await else { panic!() };
    assert!(Arc::ptr_eq(&before, &again), "a list is served again");
    bench.call(ATTENDANCE, "clock_in_today", json!({})).await.unwrap();
    let Ok(Outcome::Controls(after)) = bench.controls().await else { panic!() };
    assert!(!Arc::ptr_eq(&before, &after), "and not after a call");
}

impl Bench {
    async fn controls(&self) -> Result<Outcome, Failure> {
        self.ask(Action::Controls { no_older_than: Duration::from_secs(5) }).await
    }
}
