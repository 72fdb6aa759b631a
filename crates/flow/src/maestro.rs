//! Reads Maestro's flows: YAML files of a header and a list of commands, separated by `---`.
//!
//! Begin with [`Reader::maestro_flow`]. A file becomes the same plan as our own flows and runs like them. `command` has the
//! table of commands; `gesture`, `text`, `app`, `assertion` and `control` parse them; `selector` parses elements,
//! `expression` evaluates `${…}`. What is not supported is refused by name, before the first step.
//!
//! The facts come from Maestro's documentation (<https://docs.maestro.dev>) and, where that is silent, from its source.

mod app;
mod arguments;
mod assertion;
mod command;
mod control;
mod expression;
mod gesture;
mod selector;
#[cfg(test)]
mod tests;
mod text;
mod value;

use std::time::Duration;

use thumbwire_device::AppId;

use self::value::MapValues as _;
use super::error::SourceLocation;
use super::parse_file::{Reader, is_maestro, stem};
use super::parse_value::{MapReader, Parameters, ParseContext};
use super::plan::{Case, CrashScope, Flow, FlowStep};
use super::yaml::{Value, ValueKind};

/// How long a command waits for its element. Maestro's source; its documentation says 7 s for assertions.
const LOOKUP: Duration = Duration::from_secs(17);

/// How long an optional command waits for its element, and a condition for its one.
pub(super) const SHORT_LOOKUP: Duration = Duration::from_secs(7);

/// What is known at a command.
#[derive(Debug, Clone)]
struct MaestroScope {
    parameters: Parameters,
    target: Launched,
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
    scope: MaestroScope,
    name: Option<String>,
    tags: Vec<String>,
    start: Vec<FlowStep>,
    complete: Vec<FlowStep>,
}

impl Reader<'_> {
    /// Reads a flow, which becomes a single case.
    pub(super) fn maestro_flow(
        &mut self,
        file: &str,
        documents: &[Value],
        reading: &mut ParseContext,
    ) -> Option<Flow> {
        let (header, commands) = two_documents(documents, reading)?;
        let mut parameters = self.parameters.clone();
        parameters.entry("MAESTRO_FILENAME".into()).or_insert_with(|| stem(file));
        let Header { scope, name, tags, mut start, complete } =
            self.header(header, parameters, reading)?;
        start.extend(self.commands(commands, &scope, reading));
        let name = name.unwrap_or_else(|| stem(file));
        let app = match scope.target {
            Launched::App(app) => Some(app),
            Launched::Url(_) | Launched::Unknown => None,
        };
        let case = Case {
            name: name.clone(),
            at: header.at.clone(),
            app,
            reset: false,
            permissions: Vec::new(),
            crashes: CrashScope::Own,
            steps: start,
            afterwards: complete,
        };
        Some(Flow { name, file: file.to_owned(), device: None, tags, cases: vec![case] })
    }

    /// Reads a file that `runFlow` or `retry` names at `at`.
    fn subflow(
        &mut self,
        named: &str,
        at: &SourceLocation,
        parameters: Parameters,
        reading: &mut ParseContext,
    ) -> Vec<FlowStep> {
        let Some((name, documents)) = self.open_beside(named, at, "runFlow", reading) else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        if is_maestro(&documents) {
            if let Some((header, commands)) = two_documents(&documents, reading)
                && let Some(header) = self.header(header, parameters, reading)
            {
                steps = header.start;
                steps.extend(self.commands(commands, &header.scope, reading));
                steps.extend(header.complete);
            }
        } else {
            reading.error(at, format!("{name} is not a flow of Maestro's: it has no `---` between a header and commands"));
        }
        self.close();
        steps
    }

    fn header(
        &mut self,
        value: &Value,
        mut parameters: Parameters,
        reading: &mut ParseContext,
    ) -> Option<Header> {
        let mut map = reading.map(value, "the header of a Maestro flow")?;
        if let Some(env) = map.take("env") {
            define(env, &mut parameters, reading);
        }
        let name = map.text("name", &parameters, reading);
        let target = target(&mut map, &parameters, reading);
        let tags = map.take("tags").map_or(&[][..], |tags| match &tags.kind {
            ValueKind::Null => &[],
            ValueKind::Text(_) => std::slice::from_ref(tags),
            _ => reading.list(tags, "`tags`"),
        });
        let tags = tags.iter().filter_map(|tag| value::text(tag, "a tag", &parameters, reading));
        let tags = tags.collect();
        let scope = MaestroScope { parameters, target };
        let mut steps = |key: &'static str| match map.take(key) {
            Some(hook) => self.commands(hook, &scope, reading),
            None => Vec::new(),
        };
        let (start, complete) = (steps("onFlowStart"), steps("onFlowComplete"));
        // Other keys are for Maestro's own programs, which accept any.
        Some(Header { scope, name, tags, start, complete })
    }
}

/// The header and the commands.
fn two_documents<'a>(
    documents: &'a [Value],
    reading: &mut ParseContext,
) -> Option<(&'a Value, &'a Value)> {
    match documents {
        [header, commands] => Some((header, commands)),
        [] => None,
        [only] => {
            reading.error(
                &only.at,
                "a Maestro flow needs a header with `appId` and a list of commands, separated by a line `---`",
            );
            None
        }
        [_, _, third, ..] => {
            reading.error(
                &third.at,
                "a Maestro flow has a header and a list of commands, nothing more",
            );
            None
        }
    }
}

fn target(
    map: &mut MapReader<'_>,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Launched {
    let at = map.at();
    if let Some(app) = map.text("appId", parameters, reading) {
        return Launched::App(AppId(app));
    }
    if map.was_taken("appId") {
        return Launched::Unknown;
    }
    match map.text("url", parameters, reading) {
        Some(url) => Launched::Url(url),
        None if map.was_taken("url") => Launched::Unknown,
        None => {
            reading.error(at, "the header needs `appId`: the id of the app under test");
            Launched::Unknown
        }
    }
}

/// Adds the parameters of `env`. As in Maestro, they replace those from outside, to which their values may refer.
fn define(env: &Value, parameters: &mut Parameters, reading: &mut ParseContext) {
    if env.kind == ValueKind::Null {
        return;
    }
    let Some(map) = reading.map(env, "`env`") else { return };
    for (key, value) in map.rest() {
        let of = format!("the parameter {}", key.name);
        let text = match value.kind {
            ValueKind::Null => Some(String::new()),
            _ => value::text(value, &of, parameters, reading),
        };
        if let Some(text) = text {
            parameters.insert(key.name.clone(), text);
        }
    }
}
