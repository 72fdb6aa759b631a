//! The same calls with the helper on the phone and with shell commands, in turns: the figures of
//! docs/evidence/benchmarks.md.
//!
//! ```sh
//! cargo bench -p thumbwire --bench helper                                # the virtual phone, profiles `pixel` and `old`
//! cargo bench -p thumbwire --bench helper -- --device 127.0.0.1:5555     # a phone of the adb server
//! ```
//!
//! `--rounds N` (10), `--tap X,Y` (where a tap does nothing), `--field URL` (opens a page whose
//! text field has the focus; without it no text is typed on a real phone), `--app PACKAGE --tool
//! NAME` (a tool of an app, called without arguments). Each time is that of a tool's call by an MCP
//! client. A second table has a tap, a key and a look after pauses: `--pauses N` rounds (3), 0 for
//! none. Without `--bench`, as under `cargo test`, nothing is measured.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use thumbwire_adb::AdbServer;
use thumbwire_core::action::{Action, AppToolCall, Call, Perform as _, ScreenshotOptions};
use thumbwire_core::allowed_apps::AllowedApps;
use thumbwire_core::app_tools::{AppToolOptions, TrustRules};
use thumbwire_core::providers::{
    AdbServerProvider, DeviceProviders, VIRTUAL, VirtualPhoneProvider,
};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::mobile::{self, TreeForm};
use thumbwire_core::toolset::{Content, ObserveMode};
use thumbwire_device::android::HelperMode;
use thumbwire_device::{AppId, Format, FormatPreference};
use thumbwire_mcp::Client;
use thumbwire_virtual_android::{ClockMode, Profile, Setup, VirtualPhone};
use tokio::time::sleep;

const MAPS: &str = "com.google.android.apps.maps";
const NOTES: &str = "com.android.notes";

/// The pauses before a call: a script's, and those of a model that thinks; the last is longer than
/// the helper holds UiAutomation.
const PAUSES: [u64; 5] = [0, 1, 5, 20, 40];

/// How many calls are made one way before the other's turn.
const BLOCK: usize = 5;

fn main() {
    let flags: Vec<String> = std::env::args().skip(1).collect();
    let of = |name: &str| {
        let at = flags.iter().position(|flag| flag == name)?;
        flags.get(at + 1).cloned()
    };
    if !flags.iter().any(|flag| flag == "--bench") {
        println!("not measured without --bench");
        return;
    }
    let number = |name: &str| of(name).and_then(|number| number.parse().ok());
    let (rounds, pauses) = (number("--rounds").unwrap_or(10), number("--pauses").unwrap_or(3));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    if let Some(id) = of("--device") {
        let tap = of("--tap").unwrap_or_else(|| "240,1".into());
        let (x, y) = tap.split_once(',').expect("--tap X,Y");
        let number = |text: &str| text.parse().expect("a number");
        let plan = Plan {
            tap: (number(x), number(y)),
            field: of("--field"),
            tool: of("--app").zip(of("--tool")).map(|(app, tool)| (app, tool, json!({}))),
            rounds,
            pauses,
        };
        let phones = |mode| {
            let server = AdbServerProvider::new(AdbServer::new("127.0.0.1:5037"));
            DeviceProviders::default().with(server.with_helper(mode))
        };
        runtime.block_on(measure(&format!("phone {id}"), &id, phones, &plan));
        return;
    }
    for (name, profile, android) in [("pixel", Profile::Pixel, 14), ("old", Profile::Old, 4)] {
        let setup = match android {
            4 => Setup::of_release("4.4").expect("a release"),
            _ => Setup::default(),
        };
        let phone = VirtualPhone::new(Setup { profile, clock: ClockMode::Real, ..setup });
        let plan = Plan {
            tap: (240, 1),
            field: None,
            tool: Some((
                NOTES.into(),
                "add_note".into(),
                json!({ "title": "Milk", "text": "two bottles" }),
            )),
            rounds,
            pauses,
        };
        let phones = |mode| {
            let provider = VirtualPhoneProvider::new(phone.clone()).with_helper(mode);
            DeviceProviders::default().with(provider)
        };
        let title = format!("virtual phone, profile {name}");
        runtime.block_on(measure(&title, VIRTUAL, phones, &plan));
    }
}

/// What is called.
struct Plan {
    /// Where a tap does nothing.
    tap: (i32, i32),
    /// An address that shows a text field with the focus.
    field: Option<String>,
    /// A tool of an app, with its arguments.
    tool: Option<(String, String, Value)>,
    rounds: usize,
    /// How often each call is made after each pause.
    pauses: usize,
}

/// Measures each row on one phone in two ways.
async fn measure(
    title: &str,
    id: &str,
    phones: impl Fn(HelperMode) -> DeviceProviders,
    plan: &Plan,
) {
    let helped = Way::new(phones(HelperMode::Require), id, plan).await;
    let shell = Way::new(phones(HelperMode::Off), id, plan).await;
    println!("\n| {title} | with the helper | by shell commands | times as fast |");
    println!("|---|---|---|---|");
    let row = async |name: &str, ask: Ask<'_>| {
        let [mut by_helper, mut by_shell] = [Vec::new(), Vec::new()];
        while by_helper.len() < plan.rounds {
            for (way, times) in [(&helped, &mut by_helper), (&shell, &mut by_shell)] {
                // The first call after the other way's turn connects to UiAutomation, or starts
                // something.
                if !way.answers(ask).await {
                    continue;
                }
                for _ in 0..BLOCK {
                    let began = Instant::now();
                    way.answers(ask).await;
                    times.push(began.elapsed());
                }
            }
            if by_helper.is_empty() {
                break;
            }
        }
        let ratio = match (median(&mut by_helper), median(&mut by_shell)) {
            (Some(helper), Some(shell)) => {
                format!("{:.1}", shell.as_secs_f64() / helper.as_secs_f64())
            }
            _ => String::new(),
        };
        println!("| {name} | {} | {} | {ratio} |", both(&mut by_helper), both(&mut by_shell));
    };
    let (x, y) = plan.tap;
    let tap = json!({ "x": x, "y": y });
    let [look, text] = ["mobile_get_accessibility_tree", "mobile_type_keys"];
    row("a look at the elements", Ask::Tool(look, &json!({}))).await;
    row("a tap", Ask::Tool("mobile_tap", &tap)).await;
    for (name, format) in [("a picture, PNG", Format::Png), ("a picture, JPEG", Format::Jpeg)] {
        let format = FormatPreference::Only(format);
        let options = ScreenshotOptions { format, fresh: true, ..ScreenshotOptions::default() };
        row(name, Ask::Action(&Action::Screenshot(options))).await;
    }
    let has_field = match (&plan.field, id) {
        (Some(url), _) => {
            helped.answers(Ask::Tool("mobile_open_url", &json!({ "url": url }))).await
        }
        (None, VIRTUAL) => {
            let (maps, field) = (json!({ "bundle_id": MAPS }), json!({ "text": "Search here" }));
            helped.answers(Ask::Tool("mobile_launch_app", &maps)).await
                && helped.answers(Ask::Tool("mobile_tap_element", &field)).await
        }
        (None, _) => false,
    };
    if has_field {
        row("12 letters, read back", Ask::Tool(text, &json!({ "text": "hello world!" }))).await;
        let accents = json!({ "text": "\u{e9}\u{6f22}\u{5b57}\u{1f600}" });
        row("\u{e9}\u{6f22}\u{5b57}\u{1f600}, read back", Ask::Tool(text, &accents)).await;
    }
    if let Some((app, tool, arguments)) = &plan.tool {
        let call = Action::CallAppTool(AppToolCall {
            app: AppId(app.clone()),
            service: None,
            tool: tool.clone(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            send_only: false,
        });
        row("an app's answer", Ask::Action(&call)).await;
    }
    if plan.pauses > 0 {
        measure_pauses(title, [&helped, &shell], plan).await;
    }
}

/// Measures a tap, a key and a look after each pause.
async fn measure_pauses(title: &str, ways: [&Way; 2], plan: &Plan) {
    println!(
        "\n| {title}: after a pause of | helper: tap | key | look | shell: tap | key | look |"
    );
    println!("|---|---|---|---|---|---|---|");
    let tap = json!({ "x": plan.tap.0, "y": plan.tap.1 });
    let (key, none) = (json!({ "key": "volume_up" }), json!({}));
    for pause in PAUSES {
        print!("| {pause} s ");
        for way in ways {
            for (tool, arguments) in [
                ("mobile_tap", &tap),
                ("mobile_press_key", &key),
                ("mobile_get_accessibility_tree", &none),
            ] {
                // In a model's rhythm a look was the pause ago.
                way.answers(Ask::Tool("mobile_get_accessibility_tree", &none)).await;
                let mut times = Vec::new();
                for _ in 0..plan.pauses {
                    sleep(Duration::from_secs(pause)).await;
                    let began = Instant::now();
                    way.answers(Ask::Tool(tool, arguments)).await;
                    times.push(began.elapsed());
                }
                let shown = median(&mut times).map_or(0.0, |time| time.as_secs_f64() * 1000.0);
                print!("| {shown:.0} ms ");
            }
        }
        println!("|");
    }
}

/// What is measured.
#[derive(Clone, Copy)]
enum Ask<'a> {
    /// A tool with its arguments.
    Tool(&'a str, &'a Value),
    /// What no tool of this client asks for.
    Action(&'a Action),
}

/// A client of a server in this process, whose acts are bare.
struct Way {
    client: Client,
    session: Arc<Session>,
}

impl Way {
    async fn new(phones: DeviceProviders, id: &str, plan: &Plan) -> Self {
        let allow = plan.tool.iter().map(|(app, ..)| app.clone()).collect();
        let trust = TrustRules { allow, ..TrustRules::default() };
        let options = SessionOptions {
            // As `serve` does: an act asks what is in front.
            allowed_apps: AllowedApps::matching([]),
            app_tools: AppToolOptions { trust, ..AppToolOptions::default() },
            ..SessionOptions::from(Some(id.into()))
        };
        let session = Arc::new(Session::new(phones, options));
        let surface = mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, &[]);
        let client = Client::connect(Arc::new(surface), session.clone()).await;
        Self { client: client.expect("a server in this process"), session }
    }

    /// Whether the call succeeds; otherwise prints the error.
    async fn answers(&self, ask: Ask<'_>) -> bool {
        match ask {
            Ask::Tool(tool, arguments) => {
                let arguments = arguments.as_object().cloned().unwrap_or_default();
                let reply = self.client.call(tool, arguments).await.expect("an answer");
                if let (true, Some(Content::Text(text))) = (reply.is_error, reply.content.first()) {
                    eprintln!("{tool}: {text}");
                }
                !reply.is_error
            }
            Ask::Action(action) => {
                let limit = Call::with_timeout(Duration::from_secs(30));
                let reply = self.session.perform(&limit, action.clone()).await;
                reply.inspect_err(|error| eprintln!("{:?}", error.cause)).is_ok()
            }
        }
    }
}

fn median(times: &mut [Duration]) -> Option<Duration> {
    times.sort();
    times.get(times.len().saturating_sub(1) / 2).copied()
}

/// Median and 95th percentile.
fn both(times: &mut [Duration]) -> String {
    times.sort();
    if times.is_empty() {
        return "cannot".into();
    }
    let at = |part: usize| times[(times.len() - 1) * part / 100].as_secs_f64() * 1000.0;
    format!("{:.0} / {:.0} ms", at(50), at(95))
}
