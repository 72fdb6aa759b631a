//! `thumbwire demo`: first drives the virtual phone as an MCP client, then the virtual iPhone with the same tools ([`iphone`]), then runs the
//! agent towards a goal, then compares an app's own tool with tapping ([`apps`]).
//!
//! The demo uses only tools and the text on the screen; it never accesses the phone's internals. `demo/maps.jsonl` holds the scripted
//! model responses, each with what it expects on the screen.

mod apps;
#[cfg(feature = "ios")]
mod iphone;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::app_tools::millis;
use super::live::PlainView;
use super::run_setup::RunSetup;
use super::{CliError, print, trace};
use thumbwire_agent::model::{self, ModelSpec, Settings};
use thumbwire_agent::{
    AgentOptions, AgentStatus, Budgets, ModelPolicy, Safeguards, ScreenshotMode, Vault,
};
use thumbwire_core::action::Call;
use thumbwire_core::event::{EventSink, ObservedPerform};
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::Session;
use thumbwire_core::snapshot::ElementRef;
use thumbwire_core::toolset::{Content, Reply, mobile};
use thumbwire_core::trace::Recorder;
use thumbwire_mcp::Client;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// New directory for screenshots and traces [default: thumbwire-runs/demo-TIME]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) async fn run(arguments: Arguments) -> Result<u8, CliError> {
    let out = arguments.out.unwrap_or_else(|| {
        let now = jiff::Timestamp::now();
        Path::new("thumbwire-runs").join(now.strftime("demo-%Y%m%d-%H%M%S").to_string())
    });
    // The demo uses only built-in phones, so it contacts no adb server.
    let phones = DeviceProviders::default().with(VirtualPhoneProvider::default());
    let mut story = DemoScript::begin(phones, VIRTUAL, &out).await?;
    story.run().await?;
    story.end().await?;
    #[cfg(feature = "ios")]
    iphone::drive(&out.join("iphone")).await?;
    print("Next, the agent with scripted model responses:\n\n")?;
    let folder = pursue_a_goal(&out).await?;
    let page = Path::new(&folder).join(trace::PAGE);
    trace::report(Path::new(&folder), &page)?;
    print("\nFinally, app tools, which need no screen. ")?;
    apps::compare().await?;
    print(&format!(
        "\nScreenshots, snapshots and the trace:\n  {}\nReport of the agent's run:\n  {}\n",
        out.display(),
        page.display()
    ))?;
    Ok(0)
}

const GOAL: &str = "Search for restaurants on Maps";

/// Runs the agent towards a goal on a phone of its own. Returns the folder of its trace.
async fn pursue_a_goal(out: &Path) -> Result<String, CliError> {
    let choice = ModelSpec::Scripted("maps".into());
    let script = Some(include_str!("demo/maps.jsonl").to_owned());
    let settings = Settings { script, ..Settings::default() };
    let model = model::open(&choice, settings).map_err(CliError::failed)?;
    let session = Session::new(
        DeviceProviders::default().with(VirtualPhoneProvider::default()),
        Some(VIRTUAL.into()),
    );
    let session = Arc::new(session);
    let vault = Arc::new(Vault::default());
    let stage =
        RunSetup { session: Arc::clone(&session), vault, out: out.to_owned(), redact: false };
    let mut run = stage.begin("run").map_err(CliError::failed)?;
    let folder = run.folder();
    let options = AgentOptions {
        pictures: ScreenshotMode::Both,
        budgets: Budgets::default(),
        safeguards: Safeguards::default(),
        log_path: folder.clone(),
        clock: || jiff::Zoned::now().datetime(),
    };
    let lines = Arc::new(PlainView::new(|text: &str| drop(print(text))));
    lines.begin(GOAL, &[model.name()]);
    let memory = std::mem::take(&mut run.memory);
    let mind = Arc::new(ModelPolicy::new(model).with_pictures(ScreenshotMode::Both));
    let agent = run.agent(mind, options, Arc::clone(&lines) as Arc<dyn EventSink>);
    let ended = agent.run(&Call::with_timeout(Duration::from_secs(120)), GOAL, memory).await;
    session.end().await;
    lines.end(&ended);
    match ended.status {
        AgentStatus::Finish => print(&format!("        {}\n", ended.reason)).map(|()| folder),
        _ => Err(CliError::failed(format!("the agent did not reach the goal: {}", ended.reason))),
    }
}

const MAPS: &str = "com.google.android.apps.maps";

struct DemoScript {
    client: Client,
    session: Arc<Session>,
    out: PathBuf,
    steps: u32,
    calls: u32,
    began: Instant,
}

impl DemoScript {
    /// Connects a client to a server with this phone, and records its calls in this new directory.
    async fn begin(phones: DeviceProviders, id: &str, out: &Path) -> Result<Self, CliError> {
        let now = jiff::Timestamp::now().to_string();
        let recorder = Recorder::begin(out, now).map_err(|error| {
            CliError::failed(format!("cannot record the run in {}: {error}", out.display()))
        })?;
        let session = Arc::new(Session::new(phones, Some(id.into())));
        let perform = Arc::new(ObservedPerform::new(Arc::clone(&session), recorder));
        let client = Client::connect(Arc::new(mobile::toolset()), perform).await;
        let client = client.map_err(|error| CliError::failed(error.to_string()))?;
        let began = Instant::now();
        Ok(Self { client, session, out: out.to_owned(), steps: 0, calls: 0, began })
    }

    /// Prints how long it took, and disconnects.
    async fn end(self) -> Result<(), CliError> {
        let seconds = self.began.elapsed().as_secs_f64();
        self.session.end().await;
        print(&format!("\n{} tool calls in {seconds:.1} s. ", self.calls))
    }

    async fn run(&mut self) -> Result<(), CliError> {
        let used = json!({ "device_id": VIRTUAL, "platform": "android" });
        let used = self.call("mobile_use_device", used).await?.0.structured.unwrap_or_default();
        let name = used["name"].as_str().unwrap_or_default();
        print(&format!("Driving {name}, a virtual phone, over MCP like any client:\n\n"))?;

        self.step("Launch Maps", "mobile_launch_app", json!({ "bundle_id": MAPS })).await?;
        self.expect(&["Search here"]).await?;
        self.step("Tap the search bar", "mobile_tap_element", json!({ "text": "Search here" }))
            .await?;
        self.step("Type the query", "mobile_type_keys", json!({ "text": "restaurants\n" })).await?;
        let results = self.expect(&["restaurants"]).await?;
        // The results are the rows inside the list.
        let first = results.iter().find(|line| line.depth > 0 && line.reference.is_some());
        let name = first.and_then(|line| line.texts.first()?.split(',').next());
        let (Some(first), Some(name)) = (first, name) else {
            return Err(CliError::failed("the screen shows no search result"));
        };
        let title = format!("Open the first result, {name}");
        self.step(&title, "mobile_tap_element", json!({ "element_id": first.reference })).await?;
        self.expect(&[name, "Directions"]).await?;
        self.step("Save it", "mobile_tap_element", json!({ "text": "Save" })).await?;
        self.expect(&[name, "Saved"]).await?;
        self.step("Go home", "mobile_press_key", json!({ "key": "home" })).await?;
        self.expect(&["Maps"]).await?;
        Ok(())
    }

    /// Calls a tool, then takes a screenshot.
    async fn step(&mut self, title: &str, tool: &str, arguments: Value) -> Result<(), CliError> {
        self.steps += 1;
        let shown = arguments.to_string();
        let (reply, took) = self.call(tool, arguments).await?;
        print(&format!("{:>2}  {title}\n      {tool} {shown}\n", self.steps))?;
        let output = reply.content.iter().find_map(|part| match part {
            Content::Text(text) => Some(text.as_str()),
            Content::Image(_) | Content::Resource(_) | Content::Link(_) => None,
        });
        let output = output.unwrap_or_default().replace('\n', "\n      ");
        print(&format!("      {output}  ({})\n", millis(took)))?;
        let (reply, took) = self.call("mobile_take_screenshot", json!({})).await?;
        let picture = reply.content.iter().any(|part| matches!(part, Content::Image(_)));
        if !picture {
            return Err(CliError::failed("the screenshot has no image"));
        }
        // The recorder names a screenshot after the number of its call.
        let file = self.out.join(format!("{:04}.png", self.calls));
        print(&format!("      {}  ({})\n", file.display(), millis(took)))
    }

    /// Reads the screen as text and checks that it contains all of `words`.
    async fn expect(&mut self, text: &[&str]) -> Result<Vec<ListLine>, CliError> {
        let (reply, took) = self.call("mobile_get_accessibility_tree", json!({})).await?;
        let seen = match reply.content.as_slice() {
            [Content::Text(list)] => read(list),
            _ => Vec::new(),
        };
        for word in text {
            let there = seen.iter().flat_map(|line| &line.texts).any(|text| text.contains(word));
            if !there {
                let text = format!(
                    "the screen does not show {word:?}. Screenshots are in {}",
                    self.out.display()
                );
                return Err(CliError::failed(text));
            }
        }
        let text: Vec<String> = text.iter().map(|word| format!("{word:?}")).collect();
        let line = format!("      the screen shows {}  ({})\n", text.join(" and "), millis(took));
        print(&line)?;
        Ok(seen)
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Result<(Reply, Duration), CliError> {
        self.calls += 1;
        let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        let asked = Instant::now();
        let reply = self.client.call(tool, arguments).await;
        let reply = reply.map_err(|error| CliError::failed(format!("{tool}: {error}")))?;
        match reply.content.as_slice() {
            [Content::Text(words), ..] if reply.is_error => {
                Err(CliError::failed(format!("{tool}: {words}")))
            }
            _ => Ok((reply, asked.elapsed())),
        }
    }
}

/// A line of the list of elements, as a client parses it.
#[derive(Clone)]
struct ListLine {
    /// What the element shows.
    texts: Vec<String>,
    /// Its ref, if it can be acted on.
    reference: Option<String>,
    /// How far it is indented.
    depth: usize,
}

fn read(list: &str) -> Vec<ListLine> {
    let line = |line: &str| ListLine {
        // Every second part is in quotes. The demo's apps show none themselves.
        texts: line.split('"').skip(1).step_by(2).map(str::to_owned).collect(),
        reference: line
            .rsplit(' ')
            .next()
            .filter(|last| last.parse::<ElementRef>().is_ok())
            .map(str::to_owned),
        depth: line.len() - line.trim_start().len(),
    };
    list.lines().skip(1).map(line).collect()
}
