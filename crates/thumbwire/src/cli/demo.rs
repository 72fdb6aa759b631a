//! `thumbwire demo`: one story on the virtual phone, by the same way as any MCP client; then a goal, carried out by the agent; then what
//! an app's own tool saves ([`apps`]).
//!
//! The story knows tools and what a person reads on the screen; it never reaches into the phone. In the place of a model stand the
//! replies of `demo/maps.jsonl`, each of which says what it expects to be shown.

mod apps;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use thumbwire_adb::AdbServer;

use super::app_tools::millis;
use super::live::Lines;
use super::stage::Stage;
use super::{Ended, print, trace};
use crate::action::Call;
use crate::agent::model::{self, Choice, Settings};
use crate::agent::{Budgets, Options, Pictures, Prompter, Safeguards, Status, Vault, Watch};
use crate::mcp::Client;
use crate::session::{Phones, Session, VIRTUAL};
use crate::surface::{Content, Reply, mobile};
use crate::trace::{Recorder, Traced};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// A new folder for the pictures and the trace [default: thumbwire-runs/demo-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) async fn run(arguments: Arguments) -> Result<u8, Ended> {
    let now = jiff::Timestamp::now();
    let out = arguments.out.unwrap_or_else(|| {
        Path::new("thumbwire-runs").join(now.strftime("demo-%Y%m%d-%H%M%S").to_string())
    });
    let recorder = Recorder::begin(&out, now.to_string()).map_err(|error| {
        Ended::failed(format!("cannot keep the run in {}: {error}", out.display()))
    })?;
    // The story uses the built-in phone only; no adb server is asked for that.
    let session = Session::new(Phones::new(AdbServer::default()), Some(VIRTUAL.into()));
    let perform = Arc::new(Traced::new(session, recorder));
    let client = Client::connect(Arc::new(mobile::surface()), perform).await;
    let client = client.map_err(|error| Ended::failed(error.to_string()))?;
    let mut story = Story { client, out: out.clone(), steps: 0, calls: 0, began: Instant::now() };
    story.tell().await?;
    print(&format!(
        "\n{} tool calls in {:.1} s. Now the agent, with a script in a model's place:\n\n",
        story.calls,
        story.began.elapsed().as_secs_f64(),
    ))?;
    let folder = pursue_a_goal(&out).await?;
    let page = Path::new(&folder).join(trace::PAGE);
    trace::report(Path::new(&folder), &page)?;
    print("\nThe third part needs no screen. ")?;
    apps::compare().await?;
    print(&format!(
        "\nScreenshots, looks and the trace are in\n  {}\nWhat the agent saw, thought and did is told by the page\n  {}\n",
        out.display(),
        page.display()
    ))?;
    Ok(0)
}

const GOAL: &str = "Search for restaurants on Maps";

/// Has the agent carry out a goal on a phone of its own; gives the folder of its story.
async fn pursue_a_goal(out: &Path) -> Result<String, Ended> {
    let choice = Choice::Scripted("maps".into());
    let script = Some(include_str!("demo/maps.jsonl").to_owned());
    let settings = Settings { script, ..Settings::default() };
    let model = model::open(&choice, settings).map_err(Ended::failed)?;
    let session = Session::new(Phones::new(AdbServer::default()), Some(VIRTUAL.into()));
    let session = Arc::new(session);
    let vault = Arc::new(Vault::default());
    let stage = Stage { session: Arc::clone(&session), vault, out: out.to_owned() };
    let mut run = stage.begin("run").map_err(Ended::failed)?;
    let folder = run.folder();
    let options = Options {
        pictures: Pictures::Both,
        budgets: Budgets::default(),
        safeguards: Safeguards::default(),
        log_path: folder.clone(),
        clock: || jiff::Zoned::now().datetime(),
    };
    let lines = Arc::new(Lines::new(|text: &str| drop(print(text))));
    lines.begin(GOAL, &[model.name()]);
    let memory = std::mem::take(&mut run.memory);
    let mind = Arc::new(Prompter::new(model).with_pictures(Pictures::Both));
    let agent = run.agent(mind, options, Arc::clone(&lines) as Arc<dyn Watch>);
    let ended = agent.run(&Call::within(Duration::from_secs(120)), GOAL, memory).await;
    session.end().await;
    lines.end(&ended);
    match ended.status {
        Status::Finish => print(&format!("        {}\n", ended.why)).map(|()| folder),
        _ => Err(Ended::failed(format!("the agent did not get there: {}", ended.why))),
    }
}

const MAPS: &str = "com.google.android.apps.maps";

struct Story {
    client: Client,
    out: PathBuf,
    steps: u32,
    calls: u32,
    began: Instant,
}

impl Story {
    async fn tell(&mut self) -> Result<(), Ended> {
        let used = json!({ "device_id": VIRTUAL, "platform": "android" });
        let used = self.call("mobile_use_device", used).await?.0.structured.unwrap_or_default();
        let name = used["name"].as_str().unwrap_or_default();
        print(&format!("{name}, a phone made of memory, driven over MCP as by any client:\n\n"))?;

        self.step("Launch Maps", "mobile_launch_app", json!({ "bundle_id": MAPS })).await?;
        self.expect(&["Search here"]).await?;
        self.step("Tap the search bar", "mobile_tap_element", json!({ "text": "Search here" }))
            .await?;
        self.step("Type what to look for", "mobile_type_keys", json!({ "text": "restaurants\n" }))
            .await?;
        let results = self.expect(&["restaurants"]).await?;
        let first = results.iter().find(|node| node.id.ends_with(":id/title"));
        let Some(first) = first.cloned() else {
            return Err(Ended::failed("the screen lists no result"));
        };
        let title = format!("Open the first result, {}", first.text);
        self.step(&title, "mobile_tap_element", json!({ "element_id": first.reference })).await?;
        self.expect(&[&first.text, "Directions"]).await?;
        self.step("Save it", "mobile_tap_element", json!({ "text": "Save" })).await?;
        self.expect(&[&first.text, "Saved"]).await?;
        self.step("Go home", "mobile_press_key", json!({ "key": "home" })).await?;
        self.expect(&["Maps"]).await?;
        Ok(())
    }

    /// One act, then a picture of what it led to.
    async fn step(&mut self, title: &str, tool: &str, arguments: Value) -> Result<(), Ended> {
        self.steps += 1;
        let shown = arguments.to_string();
        let (reply, took) = self.call(tool, arguments).await?;
        print(&format!("{:>2}  {title}\n      {tool} {shown}\n", self.steps))?;
        let said = reply.content.iter().find_map(|part| match part {
            Content::Text(text) => Some(text.as_str()),
            Content::Picture(_) => None,
        });
        let said = said.unwrap_or_default().replace('\n', "\n      ");
        print(&format!("      {said}  ({})\n", millis(took)))?;
        let (reply, took) = self.call("mobile_take_screenshot", json!({})).await?;
        let picture = reply.content.iter().any(|part| matches!(part, Content::Picture(_)));
        if !picture {
            return Err(Ended::failed("the screenshot holds no picture"));
        }
        // The recorder names a picture after its call.
        let file = self.out.join(format!("{:04}.png", self.calls));
        print(&format!("      {}  ({})\n", file.display(), millis(took)))
    }

    /// Looks at the screen as text; everything named must stand there.
    async fn expect(&mut self, words: &[&str]) -> Result<Vec<Seen>, Ended> {
        let (reply, took) = self.call("mobile_get_accessibility_tree", json!({})).await?;
        let seen = match reply.content.as_slice() {
            [Content::Text(xml)] => read(xml),
            _ => Vec::new(),
        };
        for word in words {
            let there =
                seen.iter().any(|node| node.text.contains(word) || node.description.contains(word));
            if !there {
                let words = format!(
                    "the screen does not say {word:?}; the pictures are in {}",
                    self.out.display()
                );
                return Err(Ended::failed(words));
            }
        }
        let said: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        let line = format!("      the screen says {}  ({})\n", said.join(" and "), millis(took));
        print(&line)?;
        Ok(seen)
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Result<(Reply, Duration), Ended> {
        self.calls += 1;
        let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        let asked = Instant::now();
        let reply = self.client.call(tool, arguments).await;
        let reply = reply.map_err(|error| Ended::failed(format!("{tool}: {error}")))?;
        match reply.content.as_slice() {
            [Content::Text(words), ..] if reply.is_error => {
                Err(Ended::failed(format!("{tool}: {words}")))
            }
            _ => Ok((reply, asked.elapsed())),
        }
    }
}

/// A line of the accessibility tree, as a client reads it.
#[derive(Clone)]
struct Seen {
    reference: String,
    id: String,
    text: String,
    description: String,
}

fn read(xml: &str) -> Vec<Seen> {
    let nodes = xml.lines().filter(|line| line.trim_start().starts_with("<node "));
    let seen = nodes.map(|line| Seen {
        reference: attribute(line, "ref"),
        id: attribute(line, "resource-id"),
        text: attribute(line, "text"),
        description: attribute(line, "content-desc"),
    });
    seen.collect()
}

fn attribute(line: &str, name: &str) -> String {
    let value = line.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
    let value = value.map_or("", |(value, _)| value);
    value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
