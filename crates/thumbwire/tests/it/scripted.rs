//! Ten tasks of the suite by a scripted client without a model. It knows only what replies tell it.
//! Each task is done three times: with a look before each act, by `--tree xml` and by `--observe
//! off`; and by `--observe diff`, without a look. A client in a shell does them once more, with
//! commands of `skills/thumbwire/SKILL.md` only. The suite's judge reads the phone.

use std::fmt::Write as _;
use std::sync::Arc;

use regex_lite::Regex;
use serde_json::{Value, json};
use thumbwire_core::action::{Call, Perform};
use thumbwire_core::toolset::mobile::{self, TreeForm};
use thumbwire_core::toolset::{Content, ObserveMode, Toolset};
use thumbwire_eval::script::{ScriptStep, ScriptSwipe, ScriptTarget, fill};
use thumbwire_eval::state::{PhoneState, judge};
use thumbwire_eval::{EvalPhone, Platform, Task, TaskEnv, TimeMode, oracle, tasks};

use crate::scripted_screen::Screen;
#[cfg(unix)]
use crate::session::{Printed, User};

const TASKS: [&str; 10] = [
    "settings-bluetooth",
    "settings-timeout",
    "notes-add",
    "clock-alarm-on",
    "maps-save",
    "shop-cart",
    "contacts-add",
    "contacts-number",
    "files-folder",
    "browser-height",
];

const SEED: u64 = 3;
const LOOK: &str = "mobile_get_accessibility_tree";

/// What a model writes and reads: each call's tool and arguments, and its reply.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    calls: u32,
    bytes: usize,
    tokens: usize,
}

impl Cost {
    fn count(&mut self, text: &str) {
        self.bytes += text.len();
        self.tokens += bpe_openai::o200k_base().count(text);
    }

    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.bytes += other.bytes;
        self.tokens += other.tokens;
    }
}

/// How a client reaches its phone.
enum Way {
    Tools(Arc<dyn Perform>, Box<Toolset>),
    #[cfg(unix)]
    Shell(Shell),
}

struct Client {
    way: Way,
    form: TreeForm,
    observes: bool,
    screen: Screen,
    /// Whether the screen may differ from what the client read.
    is_stale: bool,
    cost: Cost,
    /// Texts read for later steps.
    read: Vec<String>,
    answer: String,
    protocol: String,
}

impl Client {
    fn new(perform: Arc<dyn Perform>, form: TreeForm, observe: ObserveMode) -> Self {
        Self::by(Way::Tools(perform, Box::new(mobile::toolset_with(form, observe))), form, observe)
    }

    fn by(way: Way, form: TreeForm, observe: ObserveMode) -> Self {
        Self {
            way,
            form,
            observes: observe == ObserveMode::Diff,
            screen: Screen::default(),
            is_stale: true,
            cost: Cost::default(),
            read: Vec::new(),
            answer: String::new(),
            protocol: String::new(),
        }
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> String {
        let (request, text, is_done) = match &mut self.way {
            Way::Tools(perform, surface) => {
                let called = surface.tool(tool).unwrap();
                let request = format!("{tool} {arguments}");
                let call = Call::with_timeout(called.budget);
                let arguments = arguments.as_object().cloned().unwrap();
                let reply = surface.answer(called, arguments, call, &**perform).await;
                let texts = reply.content.iter().filter_map(|content| match content {
                    Content::Text(text) => Some(text.as_str()),
                    _ => None,
                });
                (request, texts.collect::<String>(), !reply.is_error)
            }
            #[cfg(unix)]
            Way::Shell(shell) => shell.run(tool, &arguments).await,
        };
        let _ = write!(self.protocol, "> {request}\n{text}\n\n");
        assert!(is_done, "{}", self.protocol);
        self.cost.calls += 1;
        self.cost.count(&request);
        self.cost.count(&text);
        text
    }

    async fn act(&mut self, tool: &str, arguments: Value) {
        let reply = self.call(tool, arguments).await;
        if self.observes {
            self.screen.read(&reply);
        }
        self.is_stale = !self.observes;
    }

    /// Without observed replies: looks, unless nothing was done since the last look.
    async fn see(&mut self) {
        if self.is_stale {
            assert!(!self.observes, "the screen is in each reply");
            let list = self.call(LOOK, json!({})).await;
            match self.form {
                TreeForm::Xml | TreeForm::Platform => self.screen.replace_by_xml(&list),
                TreeForm::List => self.screen.replace(&list),
            }
            self.is_stale = false;
        }
    }

    /// The ref of the target.
    async fn id(&mut self, aim: &ScriptTarget) -> String {
        self.see().await;
        let aim = aim.filled(&self.read);
        if let (None, true, ScriptTarget::Text(text)) =
            (self.screen.find(&aim), self.observes, &aim)
        {
            self.act("mobile_wait_for", json!({ "text": text })).await;
        }
        let id = self.screen.id(&aim).map(str::to_owned);
        id.unwrap_or_else(|| panic!("no {aim:?} in {:?}\n{}", self.screen, self.protocol))
    }

    async fn tap(&mut self, aim: &ScriptTarget) {
        let id = self.id(aim).await;
        self.act("mobile_tap_element", json!({ "element_id": id })).await;
    }

    /// Types into fields of one screen: in one call if the tools can, else one by one.
    async fn write(&mut self, typed: &[(&ScriptTarget, String)], submit: bool) {
        let mut steps = Vec::new();
        for (aim, text) in typed {
            let id = self.id(aim).await;
            if self.observes && typed.len() > 1 {
                steps.push(json!({ "type": text, "into": id, "clear": true }));
            } else {
                let field =
                    json!({ "element_id": id, "text": text, "clear": true, "submit": submit });
                self.act("mobile_type", field).await;
            }
        }
        if !steps.is_empty() {
            self.act("mobile_do", json!({ "steps": steps })).await;
        }
    }

    async fn run(&mut self, script: &[ScriptStep]) {
        let mut at = 0;
        while let Some(step) = script.get(at) {
            at += 1;
            match step {
                ScriptStep::Launch(app) => {
                    self.act("mobile_launch_app", json!({ "bundle_id": app })).await;
                }
                ScriptStep::Tap(aim) => self.tap(aim).await,
                ScriptStep::Type(aim, text) => {
                    let mut typed = vec![(aim, fill(text, &self.read))];
                    while let Some(ScriptStep::Type(aim, text)) = script.get(at) {
                        typed.push((aim, fill(text, &self.read)));
                        at += 1;
                    }
                    let submit = script.get(at) == Some(&ScriptStep::Press("ENTER"));
                    at += usize::from(submit);
                    self.write(&typed, submit).await;
                }
                ScriptStep::ScrollTo(aim, ScriptSwipe::Up) => loop {
                    self.see().await;
                    if self.screen.find(&aim.filled(&self.read)).is_some() {
                        break;
                    }
                    self.act("mobile_scroll", json!({ "direction": "down", "distance": 0.7 }))
                        .await;
                },
                ScriptStep::TapUntil { tap, shows, max, .. } => {
                    for _ in 0..*max {
                        self.see().await;
                        if self.screen.find(shows).is_some() {
                            break;
                        }
                        self.tap(tap).await;
                    }
                }
                ScriptStep::SetSwitch(aim, on) => {
                    self.see().await;
                    let switch = self.screen.switch(aim).unwrap();
                    if switch.checked != *on {
                        let id = json!({ "element_id": switch.id });
                        self.act("mobile_tap_element", id).await;
                    }
                }
                ScriptStep::Read(aim) => {
                    self.see().await;
                    let aim = aim.filled(&self.read);
                    let found = self.screen.find(&aim);
                    let found = found.unwrap_or_else(|| panic!("no {aim:?}\n{}", self.protocol));
                    let text = text_of(&aim, &self.screen.0[found].texts);
                    self.read.push(text);
                }
                ScriptStep::SkipIfVisible(aim) => {
                    self.see().await;
                    assert_eq!(self.screen.find(aim), None, "done before it began");
                }
                ScriptStep::Answer(words) => self.answer = fill(words, &self.read),
                other => panic!("no such step in these tasks: {other:?}"),
            }
        }
    }
}

/// The text of a line that the target means.
fn text_of(aim: &ScriptTarget, texts: &[String]) -> String {
    let pattern = match aim {
        ScriptTarget::SameRow(what, _) => return text_of(what, texts),
        ScriptTarget::Pattern(pattern) => Regex::new(pattern).unwrap(),
        _ => return texts[0].clone(),
    };
    let found = texts.iter().find(|text| pattern.is_match(text)).unwrap();
    aim.read(found)
}

#[cfg(unix)]
const SKILL: &str = include_str!("../../../../skills/thumbwire/SKILL.md");

/// A client in a shell, on a phone that it reaches by its address.
#[cfg(unix)]
struct Shell {
    user: User,
    /// The phone, until it was named.
    device: Option<String>,
}

#[cfg(unix)]
impl Shell {
    /// Runs the command that is such a call. Returns it, what it prints, and whether it succeeded.
    async fn run(&mut self, tool: &str, arguments: &Value) -> (String, String, bool) {
        let text = |name: &str| arguments[name].as_str().unwrap().to_owned();
        let mut words = match tool {
            "mobile_launch_app" => vec!["launch".into(), text("bundle_id")],
            "mobile_tap_element" => vec!["tap".into(), text("element_id")],
            "mobile_wait_for" => vec!["wait".into(), text("text")],
            "mobile_scroll" => vec!["scroll".into(), text("direction")],
            "mobile_type" => {
                let typed = vec!["type".into(), text("text"), "--into".into(), text("element_id")];
                let submit = (arguments["submit"] == true).then(|| "--submit".to_owned());
                typed.into_iter().chain(["--clear".to_owned()]).chain(submit).collect()
            }
            "mobile_do" => {
                let steps = arguments["steps"].as_array().unwrap().iter().map(|step| {
                    let (typed, into) = (step["type"].as_str(), step["into"].as_str());
                    format!("type '{}' --into {} --clear", typed.unwrap(), into.unwrap())
                });
                std::iter::once("do".to_owned()).chain(steps).collect()
            }
            other => panic!("the skill has no command for {other}"),
        };
        for word in words.iter().enumerate().filter(|(at, word)| *at == 0 || word.starts_with("--"))
        {
            let (at, word) = word;
            let known = if at == 0 { format!("thumbwire {word} ") } else { word.clone() };
            assert!(SKILL.contains(&known), "the skill does not show {known:?}");
        }
        if let Some(device) = self.device.take() {
            words.extend(["--device".to_owned(), device]);
        }
        let line: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = tokio::process::Command::from(self.user.command(&line));
        let Printed { out, err, code } = command.output().await.unwrap().into();
        let quoted = line.iter().map(|word| match word.contains([' ', '\'']) {
            true => format!(" \"{word}\""),
            false => format!(" {word}"),
        });
        (format!("thumbwire{}", quoted.collect::<String>()), out + &err, code == Some(0))
    }
}

/// What a client in a shell needs for a task.
#[cfg(unix)]
async fn attempt_in_a_shell(task: &Task) -> Cost {
    let phone = EvalPhone::new(Platform::Android, SEED);
    let env = TaskEnv::new(phone.clone(), &[], TimeMode::Real, false);
    let case = env.phone.world(|world| task.case(SEED, world));
    env.apply(&case);
    let before = PhoneState::of(&env.phone);
    let EvalPhone::Android(phone) = phone else { panic!("an Android phone") };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let device = Some(listener.local_addr().unwrap().to_string());
    let served = tokio::spawn(async move { phone.listen(listener).await });
    let shell = Shell { user: User::new(), device };
    let mut client = Client::by(Way::Shell(shell), TreeForm::List, ObserveMode::Diff);
    client.run(&case.script).await;
    let judged = judge(&before, &env.phone, &client.answer, &case.wants);
    assert_eq!(judged, Ok(()), "{}: {}\n{}", task.name, case.goal, client.protocol);
    served.abort();
    client.cost
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_agent_that_knows_only_the_skill_does_ten_tasks() {
    let mut table = String::from("| task | actions | calls | tokens |\n|---|---|---|---|\n");
    let (mut acts, mut all) = (0, Cost::default());
    for name in TASKS {
        let task = tasks::all().into_iter().find(|task| task.name == name).unwrap();
        let needs = needed(&task, TimeMode::Real).await;
        let cost = attempt_in_a_shell(&task).await;
        assert!(cost.calls * 10 <= needs * 13, "{name}: {cost:?} for {needs} actions");
        let _ = writeln!(table, "| {name} | {needs} | {} | {} |", cost.calls, cost.tokens);
        acts += needs;
        all.add(cost);
    }
    let _ = writeln!(table, "| all | {acts} | {} | {} |", all.calls, all.tokens);
    let count = |text: &str| bpe_openai::o200k_base().count(text);
    let toolset = mobile::toolset_with(TreeForm::List, ObserveMode::Diff);
    let tools = toolset.tools.iter().map(|tool| {
        let schema = Value::from(tool.schema.clone());
        count(&format!("{} {} {schema}", tool.name, tool.description))
    });
    let tools = tools.sum::<usize>() + count(&toolset.instructions);
    println!("{table}before the first call: skill {}, tools {tools} tokens", count(SKILL));
    assert!(count(SKILL) * 2 < tools, "a skill is short");
}

async fn attempt(task: &Task, form: TreeForm, observe: ObserveMode) -> Cost {
    let phone = EvalPhone::new(Platform::Android, SEED);
    let env = TaskEnv::new(phone, &[], TimeMode::Paused, false);
    let case = env.phone.world(|world| task.case(SEED, world));
    env.apply(&case);
    let before = PhoneState::of(&env.phone);
    let mut client = Client::new(env.perform(), form, observe);
    client.run(&case.script).await;
    let judged = judge(&before, &env.phone, &client.answer, &case.wants);
    assert_eq!(judged, Ok(()), "{}: {}\n{}", task.name, case.goal, client.protocol);
    if client.observes {
        assert!(!client.protocol.contains(LOOK), "{}", client.protocol);
    }
    client.cost
}

/// The number of actions that the suite's oracle needs.
async fn needed(task: &Task, time: TimeMode) -> u32 {
    let phone = EvalPhone::new(Platform::Android, SEED);
    let env = TaskEnv::new(phone, &[], time, false);
    let case = env.phone.world(|world| task.case(SEED, world));
    env.apply(&case);
    oracle::run_script(&*env.perform(), &case.script).await.unwrap().acts
}

/// By XML, by lists, and by replies.
type Ways = [Cost; 3];

fn row(name: &str, acts: u32, ways: Ways) -> String {
    let cells = |of: &dyn Fn(Cost) -> usize| {
        let cells = ways.map(|cost| of(cost).to_string());
        cells.join(" | ")
    };
    let (calls, bytes, tokens) =
        (cells(&|cost| cost.calls as usize), cells(&|cost| cost.bytes), cells(&|cost| cost.tokens));
    format!("| {name} | {acts} | {calls} | {bytes} | {tokens} |")
}

#[tokio::test(start_paused = true)]
async fn ten_tasks_take_no_more_calls_than_1_3_for_each_action() {
    let mut table = String::from("| task | actions |");
    for unit in ["calls", "bytes", "tokens"] {
        let _ = write!(table, " {unit}: XML | list | replies |");
    }
    let _ = writeln!(table, "\n|{}", "---|".repeat(11));
    let (mut acts, mut all) = (0, Ways::default());
    for name in TASKS {
        let task = tasks::all().into_iter().find(|task| task.name == name).unwrap();
        let needs = needed(&task, TimeMode::Paused).await;
        let ways = [
            attempt(&task, TreeForm::Xml, ObserveMode::Off).await,
            attempt(&task, TreeForm::List, ObserveMode::Off).await,
            attempt(&task, TreeForm::List, ObserveMode::Diff).await,
        ];
        let [.., observed] = ways;
        assert!(observed.calls * 10 <= needs * 13, "{name}: {observed:?} for {needs} actions");
        let _ = writeln!(table, "{}", row(name, needs, ways));
        acts += needs;
        all.iter_mut().zip(ways).for_each(|(sum, cost)| sum.add(cost));
    }
    let [by_xml, by_list, observed] = all;
    assert!(observed.calls * 10 <= acts * 13, "{observed:?} for {acts} actions");
    assert!(observed.tokens < by_list.tokens && by_list.tokens < by_xml.tokens, "{all:?}");
    let sum = row("all", acts, all);
    table.push_str(&sum);
    insta::assert_snapshot!("ten_tasks", table);
    let docs = include_str!("../../../../docs/evidence/snapshots.md");
    assert!(docs.contains(&sum), "docs/evidence/snapshots.md lacks {sum}");
}
