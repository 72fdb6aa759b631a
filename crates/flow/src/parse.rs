//! Reads flows: YAML files of a header and a list of commands, separated by `---`.
//!
//! Start with [`read`]. The language is Maestro's, with commands and keys of ours; both become the
//! same plan. `command` has the table of commands; `gesture`, `text`, `app`, `assertion` and
//! `control` parse them; `selector` parses elements, `expression` finds the `${…}`. A flow and
//! every file that it runs are read and checked before the first step, and what is not supported
//! is refused by name. A command with a `${…}` is parsed again when its step runs: `LateCommand`.
//!
//! The facts come from Maestro's documentation (<https://docs.maestro.dev>) and, where that is
//! silent, from its source.

mod app;
mod arguments;
mod assertion;
mod command;
pub(crate) mod context;
mod control;
mod expression;
mod gesture;
mod selector;
#[cfg(test)]
mod tests;
mod text;
pub(crate) mod value;

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::AppId;

use self::context::{Filled, MapReader, ParseContext};
pub(crate) use self::gesture::key_name;
pub(crate) use self::selector::{element_of_json, read_element};
use super::error::{FlowError, Source, SourceLocation};
use super::plan::{Case, CrashScope, Findings, Flow, FlowStep, LateStep, StepKind, Written};
use super::script::{Parameters, ScriptEngine};
use super::yaml::{self, Value, ValueKind};

/// How long a command waits for its element. Maestro's source; its documentation says 7 s for
/// assertions.
const LOOKUP: Duration = Duration::from_secs(17);

/// How long an optional command waits for its element, and a condition for its one.
pub(super) const SHORT_LOOKUP: Duration = Duration::from_secs(7);

/// How deep files may run one another.
const MAX_DEPTH: usize = 16;

/// How many steps a flow may expand to.
const MAX_STEPS: usize = 20_000;

/// Parameters that the runner defines.
const OF_THE_RUN: [&str; 3] = ["MAESTRO_DEVICE_UDID", "MAESTRO_SHARD_ID", "MAESTRO_SHARD_INDEX"];

/// How many files a flow may run, each counted as often as it is run: two files that run the next
/// one twice are four reads, and so on.
const MAX_FILES: usize = 1_000;

/// Returns a file's text, or why it cannot be read.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> Result<String, String>;

/// Reads a flow and all files that it runs.
///
/// # Errors
/// Everything wrong with it, at most 20 errors.
pub fn read(
    file: &str,
    parameters: &Parameters,
    files: ReadFile<'_>,
) -> Result<Flow, Vec<FlowError>> {
    let mut context = ParseContext::new();
    let mut reader = Reader::new(files, parameters);
    let flow = reader.flow(file, &mut context);
    match flow {
        Some(flow) if !context.has_errors() => {
            Ok(Flow { findings: context.into_findings(), ..flow })
        }
        _ => Err(context.errors()),
    }
}

/// A command whose texts are known when its step runs.
#[derive(Debug)]
struct LateCommand {
    command: Value,
    scope: Scope,
}

impl LateStep for LateCommand {
    fn now(&self, engine: &mut ScriptEngine) -> Result<FlowStep, String> {
        let files = |_: &Path| Err("the flow runs already".to_owned());
        let parameters = Parameters::new();
        let mut reader = Reader::new(&files, &parameters);
        let mut context = ParseContext::running(engine);
        match reader.command(&self.command, &self.scope, &mut context) {
            Some(step) if !context.has_errors() => Ok(step),
            _ => {
                let errors = context.errors().into_iter().map(|error| error.what);
                Err(errors.collect::<Vec<_>>().join("; "))
            }
        }
    }
}

/// Fills the `${…}` of a text with the values that they have now.
///
/// # Errors
/// What is wrong with a script; with `is_strict`, also that its value is not a text.
pub(super) fn fill_now(
    written: &Written,
    is_strict: bool,
    engine: &mut ScriptEngine,
) -> Result<String, String> {
    let mut context = ParseContext::running(engine);
    context.fill(&written.text, &written.at, is_strict).map(Filled::into_text)
}

/// Reads files, and keeps count of them and of their steps.
struct Reader<'a> {
    files: ReadFile<'a>,
    /// Parameters from outside.
    parameters: &'a Parameters,
    /// The files being read, outermost first.
    opened: Vec<PathBuf>,
    /// The number of steps so far.
    steps: usize,
    /// The number of files that were run so far.
    run_files: usize,
}

/// What is known at a command.
#[derive(Debug, Clone)]
struct Scope {
    target: Target,
    /// How long a command waits, if it does not say so itself.
    timeout: Duration,
    crashes: CrashScope,
    auto_dismiss_alerts: bool,
}

/// What the header says that `launchApp` starts.
#[derive(Debug, Clone)]
enum Target {
    /// The app of `appId`.
    App(Value),
    /// The address of `url`.
    Url(Value),
    /// The header is wrong.
    Unknown,
}

/// What a command is about.
enum Launched {
    App(AppId),
    Url(String),
}

/// The header of a file.
struct Header {
    scope: Scope,
    name: Option<String>,
    device: Option<String>,
    tags: Vec<String>,
    properties: Vec<(String, String)>,
    start: Vec<FlowStep>,
    complete: Vec<FlowStep>,
}

impl<'a> Reader<'a> {
    fn new(files: ReadFile<'a>, parameters: &'a Parameters) -> Self {
        Self { files, parameters, opened: Vec::new(), steps: 0, run_files: 0 }
    }
}

impl Reader<'_> {
    fn flow(&mut self, file: &str, context: &mut ParseContext) -> Option<Flow> {
        let source = Source::new(file, String::new());
        let at = SourceLocation::new(&source, 1, 1);
        let documents = self.open(Path::new(file), file, &at, context)?;
        let flow = self.documents(file, &documents, &at, context);
        self.close();
        flow
    }

    fn documents(
        &mut self,
        file: &str,
        documents: &[Value],
        at: &SourceLocation,
        context: &mut ParseContext,
    ) -> Option<Flow> {
        let (head, commands) = two_documents(documents, at, context)?;
        let stem = stem(file);
        let mut parameters = self.parameters.clone();
        parameters.entry("MAESTRO_FILENAME".into()).or_insert_with(|| stem.clone());
        let known = parameters.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
        context.known = known.collect();
        context.known.extend(OF_THE_RUN.map(|name| (name.to_owned(), None)));
        let above = Scope {
            target: Target::Unknown,
            timeout: LOOKUP,
            crashes: CrashScope::Own,
            auto_dismiss_alerts: false,
        };
        let header = self.header(head, above, context)?;
        let name = header.name.clone().unwrap_or(stem);
        let cases = match is_suite(commands) {
            true => self.cases(commands, &header, context),
            false => {
                let steps = self.commands(commands, &header.scope, context);
                vec![header.case(name.clone(), head.at.clone(), &header.scope, steps, context)]
            }
        };
        let Header { device, tags, properties, .. } = header;
        Some(Flow {
            name,
            file: file.to_owned(),
            device,
            tags,
            properties,
            cases,
            parameters,
            sequence: None,
            findings: Findings::default(),
        })
    }

    /// Reads a list of nothing but `case`s.
    fn cases(
        &mut self,
        commands: &Value,
        header: &Header,
        context: &mut ParseContext,
    ) -> Vec<Case> {
        let mut cases: Vec<Case> = Vec::new();
        for one in context.list(commands, "the commands") {
            let Some(inner) = case_value(one) else {
                let what = "a flow with `case`s has no other commands; move this one into a \
                            case, or into `onFlowStart`, which runs before each case";
                context.error(&one.at, what);
                continue;
            };
            let Some(mut map) = context.map(inner, "`case`") else { continue };
            let mut scope = header.scope.clone();
            let outer = context.known.clone();
            let mut steps: Vec<FlowStep> =
                map.take("env").and_then(|env| define(env, context)).into_iter().collect();
            settings(&mut map, &mut scope, context);
            let name = map.text("name", context);
            if name.is_none() && !map.was_taken("name") {
                context.error(&one.at, "a `case` needs a `name`");
            }
            match map.take("commands") {
                Some(commands) => steps.extend(self.commands(commands, &scope, context)),
                None => context.error(&one.at, "a `case` needs `commands`"),
            }
            map.end(context, "`case`");
            let Some(name) = name else { continue };
            if let Some(other) = cases.iter().find(|other| other.name == name) {
                let line = other.at.line;
                let what = format!("duplicate case name {name:?}, already used in line {line}");
                context.error(&one.at, what);
            }
            let case = header.case(name, one.at.clone(), &scope, steps, context);
            cases.push(Case { is_fresh: true, ..case });
            context.known = outer;
        }
        cases
    }

    /// Reads a file that `runFlow` or `retry` names at `at`.
    fn subflow(
        &mut self,
        named: &str,
        at: &SourceLocation,
        scope: Scope,
        context: &mut ParseContext,
    ) -> Vec<FlowStep> {
        if context.is_running() {
            return Vec::new();
        }
        let path = beside(at, named);
        if self.opened.contains(&path) {
            let mut way: Vec<String> =
                self.opened.iter().map(|file| file.display().to_string()).collect();
            way.push(path.display().to_string());
            context.error(at, format!("circular `runFlow`: {}", way.join(" runs ")));
            return Vec::new();
        }
        if self.opened.len() >= MAX_DEPTH {
            context.error(at, format!("`runFlow` is nested more than {MAX_DEPTH} files deep"));
            return Vec::new();
        }
        self.run_files += 1;
        if self.run_files > MAX_FILES {
            context.error(at, format!("the flow runs more than {MAX_FILES} files"));
            return Vec::new();
        }
        let name = path.display().to_string();
        let Some(documents) = self.open(&path, &name, at, context) else { return Vec::new() };
        let mut steps = Vec::new();
        let outer = context.known.clone();
        if let Some((head, commands)) = two_documents(&documents, at, context)
            && let Some(header) = self.header(head, scope, context)
        {
            steps = header.start;
            steps.extend(self.commands(commands, &header.scope, context));
            steps.extend(header.complete);
        }
        context.known = outer;
        self.close();
        steps
    }

    /// The text of a script, empty while its step runs: the plan has it.
    fn script(
        &mut self,
        named: &str,
        at: &SourceLocation,
        context: &mut ParseContext,
    ) -> Option<String> {
        if context.is_running() {
            return Some(String::new());
        }
        self.run_files += 1;
        let path = beside(at, named);
        let read = match self.run_files > MAX_FILES {
            true => Err(format!("the flow runs more than {MAX_FILES} files")),
            false => (self.files)(&path),
        };
        let script = match read {
            Ok(script) => script,
            // A project may make it before its flows run.
            Err(reason) => {
                context.need(at, format!("cannot read {}: {reason}", path.display()), false);
                return Some(String::new());
            }
        };
        let checked = match script.len() > yaml::MAX_BYTES {
            true => Err(format!("it has more than {} bytes", yaml::MAX_BYTES)),
            false => context.check_script(&script),
        };
        let checked = checked.map_err(|error| format!("{}: {error}", path.display()));
        checked.map(|()| script).map_err(|what| context.error(at, what)).ok()
    }

    fn header(
        &mut self,
        value: &Value,
        mut scope: Scope,
        context: &mut ParseContext,
    ) -> Option<Header> {
        let mut map = context.map(value, "the header of a flow")?;
        let mut start: Vec<FlowStep> =
            map.take("env").and_then(|env| define(env, context)).into_iter().collect();
        let name = map.text("name", context);
        let device = map.text("device", context);
        scope.target = Target::Unknown;
        settings(&mut map, &mut scope, context);
        if let Some(url) = map.take("url")
            && value::text(url, "`url`", context).is_some()
            && !map.was_taken("appId")
        {
            scope.target = Target::Url(url.clone());
        }
        let tags = map.take("tags").map_or(&[][..], |tags| match &tags.kind {
            ValueKind::Null => &[],
            ValueKind::Text(_) => std::slice::from_ref(tags),
            _ => context.list(tags, "`tags`"),
        });
        let tags = tags.iter().filter_map(|tag| value::text(tag, "a tag", context));
        let tags = tags.collect();
        let mut properties = Vec::new();
        if let Some(listed) = map.take("properties").filter(|it| it.kind != ValueKind::Null) {
            for (key, value) in context.map(listed, "`properties`")?.rest() {
                let value = value::text(value, &format!("`{}`", key.name), context);
                properties.extend(value.map(|value| (key.name.clone(), value)));
            }
        }
        let mut steps = |key: &'static str| match map.take(key) {
            Some(hook) => self.commands(hook, &scope, context),
            None => Vec::new(),
        };
        start.extend(steps("onFlowStart"));
        let complete = steps("onFlowComplete");
        // Other keys are for Maestro's own programs, which accept any.
        Some(Header { scope, name, device, tags, properties, start, complete })
    }

    /// Counts one more step. `false` if there are too many.
    fn count_step(&mut self) -> bool {
        self.steps += 1;
        self.steps <= MAX_STEPS
    }

    /// Reads a file, which stays open until the caller closes it. `at` is where it was named.
    fn open(
        &mut self,
        path: &Path,
        name: &str,
        at: &SourceLocation,
        context: &mut ParseContext,
    ) -> Option<Vec<Value>> {
        let text = match (self.files)(path) {
            Ok(text) => text,
            Err(reason) => {
                context.error(at, format!("cannot read {name}: {reason}"));
                return None;
            }
        };
        let source: Arc<Source> = Source::new(name, text);
        match yaml::read(&source) {
            Ok(documents) => {
                if is_flow(&documents) {
                    source.is_flow();
                }
                self.opened.push(plain(path));
                Some(documents)
            }
            Err(error) => {
                context.keep(error);
                None
            }
        }
    }

    /// Closes the file that was opened last.
    fn close(&mut self) {
        self.opened.pop();
    }
}

impl Header {
    fn case(
        &self,
        name: String,
        at: SourceLocation,
        scope: &Scope,
        steps: Vec<FlowStep>,
        context: &mut ParseContext,
    ) -> Case {
        let app = match &scope.target {
            Target::App(app) => value::text(app, "`appId`", context).map(AppId),
            Target::Url(_) | Target::Unknown => None,
        };
        let steps = self.start.iter().cloned().chain(steps).collect();
        let Scope { crashes, auto_dismiss_alerts, .. } = *scope;
        let afterwards = self.complete.clone();
        Case { name, at, app, crashes, auto_dismiss_alerts, is_fresh: false, steps, afterwards }
    }
}

/// Whether these are a header and commands, not another kind of file.
fn is_flow(documents: &[Value]) -> bool {
    let [Value { kind: ValueKind::Map(header), .. }, Value { kind: ValueKind::List(_), .. }] =
        documents
    else {
        return false;
    };
    header.iter().any(|(key, _)| matches!(&*key.name, "appId" | "url"))
}

/// The header and the commands. A file that is not a flow is read no further.
fn two_documents<'a>(
    documents: &'a [Value],
    at: &SourceLocation,
    context: &mut ParseContext,
) -> Option<(&'a Value, &'a Value)> {
    match documents {
        [header, commands] if is_flow(documents) => return Some((header, commands)),
        [header, commands] => match (&header.kind, &commands.kind) {
            (ValueKind::Map(_), ValueKind::List(_)) => {
                context.error(&header.at, "the header needs `appId`: the id of the app under test")
            }
            (ValueKind::Map(_), _) => drop(context.list(commands, "the commands")),
            _ => drop(context.map(header, "the header of a flow")),
        },
        [] => context.error(at, "the file is empty"),
        [only] => context.error(
            &only.at,
            "a flow needs a header with `appId` and a list of commands, separated by a line `---`",
        ),
        [_, _, third, ..] => {
            context.error(&third.at, "a flow has a header and a list of commands, nothing more")
        }
    }
    None
}

/// Whether some of the commands are `case`s.
fn is_suite(commands: &Value) -> bool {
    matches!(&commands.kind, ValueKind::List(all) if all.iter().any(|one| case_value(one).is_some()))
}

/// The value of a `case`, if a command is one.
fn case_value(command: &Value) -> Option<&Value> {
    match &command.kind {
        ValueKind::Map(entries) => match entries.as_slice() {
            [(key, inner)] if key.name == "case" => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

/// What a header and a `case` can set: `appId`, `timeout`, `crashes` and `autoDismissAlerts`.
fn settings(map: &mut MapReader<'_>, scope: &mut Scope, context: &mut ParseContext) {
    const CRASHES: [(&str, CrashScope); 3] =
        [("own", CrashScope::Own), ("any", CrashScope::Any), ("none", CrashScope::None)];
    if let Some(app) = map.take("appId")
        && value::nonempty_text(app, "`appId`", context).is_some()
    {
        scope.target = Target::App(app.clone());
    }
    if let Some(timeout) = map.time("timeout", context) {
        scope.timeout = timeout;
    }
    if let Some(crashes) = map.one_of("crashes", &CRASHES, context) {
        scope.crashes = crashes;
    }
    if let Some(dismissed) = map.boolean("autoDismissAlerts", context) {
        scope.auto_dismiss_alerts = dismissed;
    }
}

/// Reads the parameters of `env`, which the step defines when the flow comes to it. As in Maestro,
/// they replace those from outside, to which their values may refer.
fn define(env: &Value, context: &mut ParseContext) -> Option<FlowStep> {
    let written = definitions(env, context)?;
    for (name, value) in &written {
        let filled = context.fill(&value.text, &value.at, false);
        match filled.map_err(|what| context.error(&value.at, what)).ok()? {
            Filled::Known(text) => context.known.insert(name.clone(), Some(text)),
            // What nothing defines stays so.
            Filled::Pending(text) if context.is_undefined(&text) => context.known.remove(name),
            Filled::Pending(_) => context.known.insert(name.clone(), None),
        };
    }
    let defined = written.iter().map(|(name, value)| (name.clone(), value.at.clone()));
    context.findings.defined.extend(defined);
    Some(inner_step(&env.at, StepKind::Define(written)))
}

/// The names and values of `env`.
fn definitions(env: &Value, context: &mut ParseContext) -> Option<Vec<(String, Written)>> {
    if env.kind == ValueKind::Null {
        return Some(Vec::new());
    }
    let map = context.map(env, "`env`")?;
    let mut written = Vec::new();
    for (key, value) in map.rest() {
        let text = match value.kind {
            ValueKind::Null => "",
            _ => context.written(value, &format!("the parameter {}", key.name))?,
        };
        written.push((key.name.clone(), Written { text: text.to_owned(), at: value.at.clone() }));
    }
    Some(written)
}

/// A step that its file does not write as a command.
fn inner_step(at: &SourceLocation, kind: StepKind) -> FlowStep {
    let at = at.clone();
    FlowStep { at, name: None, kind, optional: false, retry: 0, timeout: LOOKUP, late: None }
}

/// A path relative to the file of a position.
fn beside(at: &SourceLocation, named: &str) -> PathBuf {
    let folder = Path::new(at.file()).parent().unwrap_or(Path::new(""));
    plain(&folder.join(named))
}

/// The file's name without its extension.
fn stem(file: &str) -> String {
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| file.to_owned())
}

/// The path without `.` and `x/..`, to recognize a file. Above the root there is nothing.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(plain.components().next_back(), Some(Component::Normal(_))) =>
            {
                plain.pop();
            }
            Component::ParentDir if plain.has_root() => {}
            part => plain.push(part),
        }
    }
    plain
}
