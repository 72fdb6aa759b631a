//! Reads flows: YAML files of a header and a list of commands, separated by `---`.
//!
//! Start with [`read`]. The language is Maestro's, with commands and keys of ours; both become the
//! same plan. `command` has the table of commands; `gesture`, `text`, `app`, `assertion` and
//! `control` parse them; `selector` parses elements, `expression` evaluates `${…}`. A flow and
//! every file that it runs are read and checked before the first step, and what is not supported
//! is refused by name.
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

use self::context::{MapReader, Parameters, ParseContext};
use super::error::{FlowError, Source, SourceLocation};
use super::plan::{Case, CrashScope, Flow, FlowStep};
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
    let mut reader = Reader { files, parameters, opened: Vec::new(), steps: 0, run_files: 0 };
    let flow = reader.flow(file, &mut context);
    match flow {
        Some(flow) if context.error_count() == 0 => Ok(flow),
        _ => Err(context.errors()),
    }
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
    parameters: Parameters,
    target: Launched,
    /// How long a command waits, if it does not say so itself.
    timeout: Duration,
    crashes: CrashScope,
}

/// What `launchApp` starts by default.
#[derive(Debug, Clone)]
enum Launched {
    /// The app of `appId`.
    App(AppId),
    /// The address of `url`.
    Url(String),
    /// The header is wrong.
    Unknown,
}

/// The header of a file.
struct Header {
    scope: Scope,
    name: Option<String>,
    device: Option<String>,
    tags: Vec<String>,
    start: Vec<FlowStep>,
    complete: Vec<FlowStep>,
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
        let above = Scope {
            parameters,
            target: Launched::Unknown,
            timeout: LOOKUP,
            crashes: CrashScope::Own,
        };
        let header = self.header(head, above, context)?;
        let name = header.name.clone().unwrap_or(stem);
        let cases = match is_suite(commands) {
            true => self.cases(commands, &header, context),
            false => {
                let steps = self.commands(commands, &header.scope, context);
                vec![header.case(name.clone(), head.at.clone(), &header.scope, steps)]
            }
        };
        let Header { device, tags, .. } = header;
        Some(Flow { name, file: file.to_owned(), device, tags, cases })
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
            if let Some(env) = map.take("env") {
                define(env, &mut scope.parameters, context);
            }
            settings(&mut map, &mut scope, context);
            let name = map.text("name", &scope.parameters, context);
            if name.is_none() && !map.was_taken("name") {
                context.error(&one.at, "a `case` needs a `name`");
            }
            let steps = match map.take("commands") {
                Some(commands) => self.commands(commands, &scope, context),
                None => {
                    context.error(&one.at, "a `case` needs `commands`");
                    Vec::new()
                }
            };
            map.end(context, "`case`");
            let Some(name) = name else { continue };
            if let Some(other) = cases.iter().find(|other| other.name == name) {
                let line = other.at.line;
                let what = format!("duplicate case name {name:?}, already used in line {line}");
                context.error(&one.at, what);
            }
            cases.push(header.case(name, one.at.clone(), &scope, steps));
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
        if let Some((head, commands)) = two_documents(&documents, at, context)
            && let Some(header) = self.header(head, scope, context)
        {
            steps = header.start;
            steps.extend(self.commands(commands, &header.scope, context));
            steps.extend(header.complete);
        }
        self.close();
        steps
    }

    fn header(
        &mut self,
        value: &Value,
        mut scope: Scope,
        context: &mut ParseContext,
    ) -> Option<Header> {
        let mut map = context.map(value, "the header of a flow")?;
        if let Some(env) = map.take("env") {
            define(env, &mut scope.parameters, context);
        }
        let name = map.text("name", &scope.parameters, context);
        let device = map.text("device", &scope.parameters, context);
        scope.target = Launched::Unknown;
        settings(&mut map, &mut scope, context);
        if let Some(url) = map.text("url", &scope.parameters, context)
            && !map.was_taken("appId")
        {
            scope.target = Launched::Url(url);
        }
        let tags = map.take("tags").map_or(&[][..], |tags| match &tags.kind {
            ValueKind::Null => &[],
            ValueKind::Text(_) => std::slice::from_ref(tags),
            _ => context.list(tags, "`tags`"),
        });
        let parameters = &scope.parameters;
        let tags = tags.iter().filter_map(|tag| value::text(tag, "a tag", parameters, context));
        let tags = tags.collect();
        let mut steps = |key: &'static str| match map.take(key) {
            Some(hook) => self.commands(hook, &scope, context),
            None => Vec::new(),
        };
        let (start, complete) = (steps("onFlowStart"), steps("onFlowComplete"));
        // Other keys are for Maestro's own programs, which accept any.
        Some(Header { scope, name, device, tags, start, complete })
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
    fn case(&self, name: String, at: SourceLocation, scope: &Scope, steps: Vec<FlowStep>) -> Case {
        let app = match &scope.target {
            Launched::App(app) => Some(app.clone()),
            Launched::Url(_) | Launched::Unknown => None,
        };
        let steps = self.start.iter().cloned().chain(steps).collect();
        let afterwards = self.complete.clone();
        Case { name, at, app, crashes: scope.crashes, steps, afterwards }
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

/// What a header and a `case` can set: `appId`, `timeout` and `crashes`.
fn settings(map: &mut MapReader<'_>, scope: &mut Scope, context: &mut ParseContext) {
    const CRASHES: [(&str, CrashScope); 3] =
        [("own", CrashScope::Own), ("any", CrashScope::Any), ("none", CrashScope::None)];
    if let Some(app) = map.text("appId", &scope.parameters, context) {
        scope.target = Launched::App(AppId(app));
    }
    if let Some(timeout) = map.time("timeout", &scope.parameters, context) {
        scope.timeout = timeout;
    }
    if let Some(crashes) = map.one_of("crashes", &CRASHES, &scope.parameters, context) {
        scope.crashes = crashes;
    }
}

/// Adds the parameters of `env`. As in Maestro, they replace those from outside, to which their
/// values may refer.
fn define(env: &Value, parameters: &mut Parameters, context: &mut ParseContext) {
    if env.kind == ValueKind::Null {
        return;
    }
    let Some(map) = context.map(env, "`env`") else { return };
    for (key, value) in map.rest() {
        let of = format!("the parameter {}", key.name);
        let text = match value.kind {
            ValueKind::Null => Some(String::new()),
            _ => value::text(value, &of, parameters, context),
        };
        if let Some(text) = text {
            parameters.insert(key.name.clone(), text);
        }
    }
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
