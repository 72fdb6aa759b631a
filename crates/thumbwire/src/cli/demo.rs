//! `thumbwire demo`: first drives the virtual phone as an MCP client, then the virtual iPhone with
//! the same tools ([`iphone`]), then runs the agent towards a goal, then compares an app's own tool
//! with tapping ([`apps`]).
//!
//! The demo uses only tools and the text on the screen; it never accesses the phone's internals.
//! `demo/maps.jsonl` holds the scripted model responses, each with what it expects on the screen.
//! Each part fits on one screen of a terminal; all of them are on one page.

mod apps;
#[cfg(feature = "ios")]
mod iphone;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::app_tools::millis;
use super::live::PlainView;
use super::model_flags::DEMO_SCRIPT;
use super::run_setup::RunSetup;
use super::style::Style;
use super::styled_output::StyledOutput;
use super::{CliError, print_styled, trace};
use crate::config::Config;
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
use thumbwire_core::trace::format::{NamedStep, TraceRecord};
use thumbwire_core::trace::report::{Suite, SuiteRun, Verdict};
use thumbwire_mcp::Client;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// New directory for screenshots and traces [default: logs/demo-TIME]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print every call with its result and times
    #[arg(short, long)]
    verbose: bool,
}

/// Width of the demo's lines where there is no terminal.
const WIDTH: usize = 80;

/// How the demo prints.
#[derive(Debug, Clone, Copy)]
struct Stage {
    output: StyledOutput,
    verbose: bool,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let (now, began) = (jiff::Timestamp::now(), Instant::now());
    let out = arguments
        .out
        .unwrap_or_else(|| Path::new("logs").join(now.strftime("demo-%Y%m%d-%H%M%S").to_string()));
    let output = StyledOutput::new(config.colours, Some(WIDTH));
    let stage = Stage { output, verbose: arguments.verbose };
    // The demo uses only built-in phones, so it contacts no adb server.
    let phones = DeviceProviders::default().with(VirtualPhoneProvider::default());
    let folder = out.join("android");
    let mut demo = DemoScript::begin(phones, VIRTUAL, &folder, stage).await?;
    demo.run().await?;
    let mut runs = vec![demo.end("android", "1. An MCP client drives an Android phone").await?];
    #[cfg(feature = "ios")]
    runs.push(iphone::drive(&out, stage).await?);
    runs.push(pursue_a_goal(&out, stage).await?);
    runs.push(apps::compare(stage).await?);
    let suite = Suite {
        version: 1,
        title: "Thumbwire's demo".into(),
        started: now.to_string(),
        duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        phones: vec!["virtual phones, in this program".into()],
        notes: Vec::new(),
        runs,
    };
    let page = trace::write_suite(&out, &suite)?;
    stage.output.gap()?;
    stage.output.line((Style::Plain, ""), &[(Style::Bold, "All screens, steps and reports:")])?;
    // A path is not wrapped, so that it can be copied.
    print_styled(&format!("  {}\n", super::style::sanitize(&page.display().to_string())))?;
    Ok(0)
}

const GOAL: &str = "Search for restaurants on Maps";

/// Runs the agent towards a goal on a phone of its own.
async fn pursue_a_goal(out: &Path, stage: Stage) -> Result<SuiteRun, CliError> {
    let choice = ModelSpec::Scripted("demo".into());
    let script = Some(DEMO_SCRIPT.to_owned());
    let settings = Settings { script, ..Settings::default() };
    let model = model::open(&choice, settings).map_err(CliError::failed)?;
    let session = Session::new(
        DeviceProviders::default().with(VirtualPhoneProvider::default()),
        Some(VIRTUAL.into()),
    );
    let session = Arc::new(session);
    let vault = Arc::new(Vault::default());
    let setup =
        RunSetup { session: Arc::clone(&session), vault, out: out.to_owned(), redact: false };
    let mut run = setup.begin().map_err(CliError::failed)?;
    let folder = run.folder();
    let options = AgentOptions {
        pictures: ScreenshotMode::Both,
        budgets: Budgets::default(),
        safeguards: Safeguards::default(),
        log_path: folder.clone(),
        clock: || jiff::Zoned::now().datetime(),
    };
    const TITLE: &str = "3. An agent works towards a goal";
    stage.output.title(TITLE)?;
    let write = |text: &str| drop(print_styled(text));
    let lines = Arc::new(PlainView::new(write, stage.output.style, stage.verbose));
    lines.begin(GOAL, &["Virtual Pixel".to_owned(), "a script in place of a model".to_owned()]);
    let memory = std::mem::take(&mut run.memory);
    let policy = Arc::new(ModelPolicy::new(model).with_pictures(ScreenshotMode::Both));
    let agent = run.agent(policy, options, Arc::clone(&lines) as Arc<dyn EventSink>);
    let ended = agent.run(&Call::with_timeout(Duration::from_secs(120)), GOAL, memory).await;
    session.end().await;
    lines.end(&ended);
    if ended.status != AgentStatus::Finish {
        let reason = format!("the agent did not reach the goal: {}", ended.reason);
        return Err(CliError::failed(reason));
    }
    stage.output.line((Style::Plain, "        "), &[(Style::Plain, &ended.reason)])?;
    trace::report(Path::new(&folder), &Path::new(&folder).join(trace::PAGE))?;
    stage.output.gap()?;
    let below = Path::new(&folder).strip_prefix(out).unwrap_or(Path::new(&folder));
    let below = below.to_string_lossy().replace('\\', "/");
    Ok(SuiteRun {
        name: format!("{TITLE}: {GOAL}"),
        verdict: Verdict::Passed,
        text: format!("{GOAL}\n{}", ended.reason),
        duration_ms: u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX),
        page: Some(format!("{below}/{}", trace::PAGE)),
        attempts: vec![below],
        ..SuiteRun::default()
    })
}

const MAPS: &str = "com.google.android.apps.maps";

struct DemoScript {
    client: Client,
    session: Arc<Session>,
    recorder: Arc<Recorder>,
    out: PathBuf,
    stage: Stage,
    steps: u32,
    calls: u32,
    /// The last screenshot.
    picture: Option<String>,
    began: Instant,
}

impl DemoScript {
    /// Connects a client to a server with this phone, and records its calls in this new directory.
    async fn begin(
        phones: DeviceProviders,
        id: &str,
        out: &Path,
        stage: Stage,
    ) -> Result<Self, CliError> {
        let now = jiff::Timestamp::now().to_string();
        let recorder = Recorder::begin(out, now).map_err(|error| {
            CliError::failed(format!("cannot record the run in {}: {error}", out.display()))
        })?;
        let recorder = Arc::new(recorder);
        let session = Arc::new(Session::new(phones, Some(id.into())));
        let perform = ObservedPerform::new(Arc::clone(&session), Arc::clone(&recorder));
        let client = Client::connect(Arc::new(mobile::toolset()), Arc::new(perform)).await;
        let client = client.map_err(CliError::failed)?;
        Ok(Self {
            client,
            session,
            recorder,
            out: out.to_owned(),
            stage,
            steps: 0,
            calls: 0,
            picture: None,
            began: Instant::now(),
        })
    }

    /// Prints how long it took, and disconnects. Returns what the page says about it.
    async fn end(self, folder: &str, title: &str) -> Result<SuiteRun, CliError> {
        let took = self.began.elapsed();
        self.session.end().await;
        let text = format!("{} tool calls in {:.1} s", self.calls, took.as_secs_f64());
        self.stage.output.line((Style::Plain, "    "), &[(Style::Dim, &text)])?;
        self.stage.output.gap()?;
        Ok(SuiteRun {
            name: title.to_owned(),
            verdict: Verdict::Passed,
            text: format!("{} tool calls", self.calls),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            attempts: vec![folder.to_owned()],
            ..SuiteRun::default()
        })
    }

    async fn run(&mut self) -> Result<(), CliError> {
        let used = json!({ "device_id": VIRTUAL, "platform": "android" });
        let used = self.call("mobile_use_device", used).await?.0.structured.unwrap_or_default();
        let name = used["name"].as_str().unwrap_or_default();
        self.stage.output.title("1. An MCP client drives an Android phone")?;
        self.stage.output.line(
            (Style::Plain, ""),
            &[(Style::Dim, name), (Style::Dim, "· a virtual phone in this program")],
        )?;
        self.stage.output.gap()?;

        let maps = json!({ "bundle_id": MAPS });
        self.step("Launch Maps", "mobile_launch_app", maps, &["Search here"]).await?;
        let bar = json!({ "text": "Search here" });
        self.step("Tap the search bar", "mobile_tap_element", bar, &[]).await?;
        let query = json!({ "text": "restaurants\n" });
        let typed = self.step("Type the query", "mobile_type_keys", query, &["restaurants"]).await;
        let results = typed?;
        // The results are the rows inside the list.
        let first = results.iter().find(|line| line.depth > 0 && line.reference.is_some());
        let name = first.and_then(|line| line.texts.first()?.split(',').next());
        let (Some(first), Some(name)) = (first, name) else {
            return Err(CliError::failed("the screen shows no search result"));
        };
        let title = format!("Open the first result, {name}");
        let row = json!({ "element_id": first.reference });
        self.step(&title, "mobile_tap_element", row, &[name, "Directions"]).await?;
        let save = json!({ "text": "Save" });
        self.step("Save it", "mobile_tap_element", save, &[name, "Saved"]).await?;
        self.step("Go home", "mobile_press_key", json!({ "key": "home" }), &["Maps"]).await?;
        Ok(())
    }

    /// Calls a tool, takes a screenshot, and checks that the screen then shows these texts. Returns
    /// its elements; without texts the screen is not read.
    async fn step(
        &mut self,
        title: &str,
        tool: &str,
        arguments: Value,
        expected: &[&str],
    ) -> Result<Vec<ListLine>, CliError> {
        self.steps += 1;
        let (began, first) = (Instant::now(), self.recorder.action_count() + 1);
        let at_ms = self.recorder.at_ms(tokio::time::Instant::now());
        let shown = arguments.to_string();
        let (reply, took) = self.call(tool, arguments).await?;
        let output = reply.content.iter().find_map(|part| match part {
            Content::Text(text) => Some(text.as_str()),
            Content::Image(_) | Content::Resource(_) | Content::Link(_) => None,
        });
        let mut details = vec![
            format!("{tool} {shown}"),
            format!("{} · {}", output.unwrap_or_default(), millis(took)),
        ];
        let (picture, took) = self.call("mobile_take_screenshot", json!({})).await?;
        if !picture.content.iter().any(|part| matches!(part, Content::Image(_))) {
            return Err(CliError::failed("the screenshot has no image"));
        }
        // The recorder names a screenshot after the number of its call.
        let file = format!("{:04}.png", self.recorder.action_count());
        details.push(format!("{} · {}", self.out.join(&file).display(), millis(took)));
        let (seen, took) = match expected {
            [] => (Vec::new(), Duration::ZERO),
            expected => self.read_screen(expected).await?,
        };
        let quoted: Vec<String> = expected.iter().map(|word| format!("{word:?}")).collect();
        let shows = match quoted.is_empty() {
            true => String::new(),
            false => format!("shows {}", quoted.join(" and ")),
        };
        if !shows.is_empty() {
            details.push(format!("{shows} · {}", millis(took)));
        }
        self.print_step(title, &shows, &details)?;
        let record = NamedStep {
            step: self.steps,
            name: title.to_owned(),
            does: format!("{tool} {shown}"),
            at_ms,
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            status: "passed".into(),
            action_range: Some([first, self.recorder.action_count()]),
            before: self.picture.replace(file.clone()),
            after: Some(file),
            ..NamedStep::default()
        };
        let recorded = self.recorder.write_record(&TraceRecord::NamedStep(Box::new(record)));
        recorded.map_err(|error| CliError::failed(format!("cannot record the step: {error}")))?;
        Ok(seen)
    }

    /// Prints a step.
    fn print_step(&self, title: &str, shows: &str, details: &[String]) -> Result<(), CliError> {
        let Stage { output, verbose } = self.stage;
        let head = (Style::Good, "  ✓ ");
        let shows = match (shows.is_empty(), verbose) {
            (false, false) => format!("· {shows}"),
            _ => String::new(),
        };
        output.line(head, &[(Style::Plain, title), (Style::Dim, &shows)])?;
        let details = if verbose { details } else { &[] };
        details
            .iter()
            .try_for_each(|line| output.line((Style::Plain, "      "), &[(Style::Dim, line)]))
    }

    /// Reads the screen as text and checks that it contains all of `words`.
    async fn read_screen(&mut self, words: &[&str]) -> Result<(Vec<ListLine>, Duration), CliError> {
        let (reply, took) = self.call("mobile_get_accessibility_tree", json!({})).await?;
        let seen = match reply.content.as_slice() {
            [Content::Text(list)] => read(list),
            _ => Vec::new(),
        };
        for word in words {
            let is_shown = seen.iter().flat_map(|line| &line.texts).any(|text| text.contains(word));
            if !is_shown {
                let text = format!(
                    "the screen does not show {word:?}. Screenshots are in {}",
                    self.out.display()
                );
                return Err(CliError::failed(text));
            }
        }
        Ok((seen, took))
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
