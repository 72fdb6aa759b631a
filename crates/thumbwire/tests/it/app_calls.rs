//! App tools, discovered and called end to end: session, app tool host, driver, real ADB, the
//! virtual phone's apps and their packages.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_adb::AdbServer;
use thumbwire_core::action::{
    Action, AppToolCall, AppToolReply, Call, Catalog, Cause, Failure, Outcome, Perform, TrustStatus,
};
use thumbwire_core::app_tools::{AppToolOptions, MemoryStore, TrustRules};
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_device::android::HelperMode;
use thumbwire_device::{AppId, SideEffect};
use thumbwire_virtual_android::VirtualPhone;

use crate::recordings::small;
use crate::wire::hostile_strings;

const ATTENDANCE: &str = "org.example.attendance";
const ODD: &str = "org.example.odd";

struct Bench {
    phone: VirtualPhone,
    session: Session,
}

impl Bench {
    /// A phone with these apps of `fixtures/apk` added.
    fn with(release: &str, apps: &[&str], allow: &[&str]) -> Self {
        Self::with_helper(HelperMode::Auto, release, apps, allow)
    }

    /// The same, with the phone's helper used in this way.
    fn with_helper(helper: HelperMode, release: &str, apps: &[&str], allow: &[&str]) -> Self {
        let phone = small(release, 1);
        for name in apps {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/apk");
            let apk = fs::read(folder.join(format!("{name}.apk"))).unwrap();
            phone.install(&[&apk]).unwrap();
        }
        let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"))
            .with(VirtualPhoneProvider::new(phone.clone()).with_helper(helper));
        // As if the user had just used them.
        for app in [ATTENDANCE, ODD] {
            phone.world(|world| world.temp_allowlist(app, Duration::MAX));
        }
        let allow = allow.iter().map(|pattern| (*pattern).to_owned()).collect();
        let trust = TrustRules { allow, store: Arc::new(MemoryStore::default()) };
        let options = SessionOptions {
            app_tools: AppToolOptions { trust, ..AppToolOptions::default() },
            ..SessionOptions::from(Some(VIRTUAL.into()))
        };
        let session = Session::new(phones, options);
        Self { phone, session }
    }

    async fn ask(&self, action: Action) -> Result<Outcome, Failure> {
        self.session.perform(&Call::with_timeout(Duration::from_secs(30)), action).await
    }

    async fn list(&self) -> Arc<Catalog> {
        match self.ask(Action::ListAppTools { max_age: Duration::ZERO }).await {
            Ok(Outcome::AppTools(catalog)) => catalog,
            other => panic!("{other:?}"),
        }
    }

    async fn call(&self, app: &str, tool: &str, arguments: Value) -> Result<AppToolReply, Failure> {
        self.send(wanted(app, tool, arguments)).await
    }

    async fn send(&self, call: AppToolCall) -> Result<AppToolReply, Failure> {
        match self.ask(Action::CallAppTool(call)).await? {
            Outcome::AppToolResult(answered) => Ok(answered.heard),
            other => panic!("{other:?}"),
        }
    }

    fn days(&self) -> usize {
        self.phone.world(|world| world.preferences(ATTENDANCE).len())
    }
}

fn wanted(app: &str, tool: &str, arguments: Value) -> AppToolCall {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let (app, service) = (AppId(app.into()), None);
    AppToolCall { app, service, tool: tool.into(), arguments, send_only: false }
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
        assert_eq!((&tools.trusted, tools.certificate.len()), (&TrustStatus::Yes, 64), "{tools:?}");
        assert!(tools.complaints.iter().all(|one| !one.fatal), "{tools:?}");
        assert!(!tools.name.is_empty() && !tools.name.starts_with('@'), "{tools:?}");
        let others = catalog.apps.iter().filter(|app| app.app.0 != ATTENDANCE);
        for app in others {
            assert!(!app.tools.is_empty() && app.trusted == TrustStatus::NotAllowed, "{app:?}");
        }

        assert_eq!(bench.days(), 0);
        let heard = bench.call(ATTENDANCE, "clock_in_today", json!({})).await.unwrap();
        let AppToolReply::Answer { success: true, .. } = heard else { panic!("{heard:?}") };
        assert_eq!(bench.days(), 1, "the phone recorded it");
        let arguments = json!({ "date": "2020-02-30" });
        let heard = bench.call(ATTENDANCE, "query_clock_in", arguments).await.unwrap();
        let AppToolReply::Answer { success: false, message, .. } = heard else {
            panic!("{heard:?}")
        };
        assert!(!message.is_empty());
        let failure = bench.call(ATTENDANCE, "query_clock_in", json!({})).await.unwrap_err();
        let Cause::InvalidArgument { reason } = &failure.cause else { panic!("{failure:?}") };
        assert!(reason.contains("`date` is missing"), "{reason}");
    }
}

/// Since Android 8, services of idle apps cannot be started; the driver exempts the app from that
/// rule for a few seconds.
#[tokio::test]
async fn background_app_can_be_called() {
    let bench = Bench::with("14", &["attendance"], &[ATTENDANCE]);
    bench.phone.world(|world| world.temp_allowlist(ATTENDANCE, Duration::ZERO));
    bench.call(ATTENDANCE, "clock_in_today", json!({})).await.unwrap();
    assert_eq!(bench.days(), 1);
}

#[tokio::test]
async fn second_listing_reads_no_package_again() {
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
async fn phone_without_the_helper_accepts_calls_without_replies() {
    let bench = Bench::with_helper(HelperMode::Off, "14", &["attendance"], &["*"]);
    let failure = bench.call(ATTENDANCE, "clock_in_today", json!({})).await.unwrap_err();
    assert!(matches!(failure.cause, Cause::NoAppReply { .. }), "{failure:?}");
    assert_eq!((failure.side_effect, bench.days()), (SideEffect::None, 0));
    let only = AppToolCall { send_only: true, ..wanted(ATTENDANCE, "clock_in_today", json!({})) };
    assert_eq!(bench.send(only).await.unwrap(), AppToolReply::Sent);
    assert_eq!(bench.days(), 1);
}

/// Without the helper, an argument goes through the phone's shell: exactly one program runs, and
/// its service requests contain the argument unchanged.
#[tokio::test]
async fn app_arguments_pass_the_shell_unchanged() {
    let bench = Bench::with_helper(HelperMode::Off, "14", &["attendance"], &["*"]);
    bench.list().await;
    for string in hostile_strings() {
        let before = bench.phone.commands().len() as u64 + bench.phone.commands_dropped();
        let wanted = wanted(ATTENDANCE, "query_clock_in", json!({ "date": string }));
        bench.send(AppToolCall { send_only: true, ..wanted }).await.unwrap();
        let commands = bench.phone.commands();
        let after = commands.len() as u64 + bench.phone.commands_dropped();
        let ran = &commands[commands.len() - usize::try_from(after - before).unwrap()..];
        let [command] = ran else { panic!("{string:?} ran {ran:?}") };
        let service = format!("{ATTENDANCE}/{ATTENDANCE}.ToolService");
        let begins = ["am", "startservice", "--user", "0", "-n", &service];
        assert_eq!(command.argv[..6], begins, "{string:?}");
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let letters: Vec<_> = command.argv[6..]
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
async fn broken_app_responses_are_distinguished() {
    let bench = Bench::with("14", &["odd"], &[ODD]);
    let catalog = bench.list().await;
    let odd = catalog.of(&AppId(ODD.into())).unwrap();
    let service = odd.tools.iter().find(|tool| tool.id == "answer").unwrap().service.clone();
    for (tool, says) in [
        ("answer", ""),
        ("twice", ""),
        ("broken", "cannot parse"),
        ("other_id", "a different request"),
        ("other_capability", "instead"),
    ] {
        let service = service.as_ref().map(|it| it.class.clone());
        let call = AppToolCall { service, ..wanted(ODD, tool, json!({})) };
        match bench.send(call).await {
            Ok(heard) => assert!(says.is_empty(), "{tool}: {heard:?}"),
            Err(failure) => {
                assert!(!says.is_empty(), "{tool}: {failure:?}");
                assert!(failure.cause.to_string().contains(says), "{tool}: {failure:?}");
                assert_eq!(failure.side_effect, SideEffect::Possible, "{tool}");
            }
        }
    }
}

#[tokio::test]
async fn app_call_invalidates_the_screen() {
    let bench = Bench::with("14", &["attendance"], &[ATTENDANCE]);
    let Ok(Outcome::Controls(before)) = bench.controls().await else { panic!() };
    let Ok(Outcome::Controls(again)) = bench.controls().await else { panic!() };
    assert!(Arc::ptr_eq(&before, &again), "the snapshot is cached");
    bench.call(ATTENDANCE, "clock_in_today", json!({})).await.unwrap();
    let Ok(Outcome::Controls(after)) = bench.controls().await else { panic!() };
    assert!(!Arc::ptr_eq(&before, &after), "and not after a call");
}

impl Bench {
    async fn controls(&self) -> Result<Outcome, Failure> {
        self.ask(Action::Controls { max_age: Duration::from_secs(5) }).await
    }
}
