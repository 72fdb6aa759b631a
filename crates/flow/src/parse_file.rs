//! Parses flow files: their headers, their cases, and the files that they run.
//!
//! Begin with [`read`]. A flow and every file that it runs are read and checked before the first step. The kinds of
//! steps are in `steps`.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::AppId;

use super::error::{FlowError, Source, SourceLocation};
use super::parse_value::{MapReader, Parameters, ParseContext, names};
use super::plan::{Case, CrashScope, Flow, FlowStep};
use super::yaml::{self, Value, ValueKind};

/// The default time that a step waits for what it needs.
const PATIENCE: Duration = Duration::from_secs(10);

/// How deep files may run one another.
const DEEPEST: usize = 16;

/// How many steps a flow may expand to.
pub(super) const MOST_STEPS: usize = 20_000;

/// Returns a file's text, or why it cannot be read.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> Result<String, String>;

/// Reads a flow and all files that it runs. `parameters` override those of the file.
///
/// # Errors
/// Everything wrong with it, at most 20 errors.
pub fn read(
    file: &str,
    parameters: &Parameters,
    files: ReadFile<'_>,
) -> Result<Flow, Vec<FlowError>> {
    let mut reading = ParseContext::new();
    let mut reader = Reader { files, parameters, opened: Vec::new(), steps: 0 };
    let flow = reader.flow(file, &mut reading);
    match flow {
        Some(flow) if reading.is_well() => Ok(flow),
        _ => Err(reading.mistakes()),
    }
}

/// The state of the parser.
pub(super) struct Reader<'a> {
    files: ReadFile<'a>,
    /// Parameters from outside, which none of our own files overrides.
    pub(super) parameters: &'a Parameters,
    /// The files being read, outermost first.
    opened: Vec<PathBuf>,
    /// The number of steps so far.
    steps: usize,
}

/// The settings in effect at a step.
#[derive(Clone)]
pub(super) struct Scope {
    pub(super) parameters: Parameters,
    pub(super) app: Option<AppId>,
    pub(super) patience: Duration,
}

impl Reader<'_> {
    fn flow(&mut self, file: &str, reading: &mut ParseContext) -> Option<Flow> {
        let source = Source::new(file, String::new());
        let at = SourceLocation::new(&source, 1, 1);
        let documents = self.open(Path::new(file), file, &at, reading)?;
        if is_maestro(&documents) {
            let flow = self.maestro_flow(file, &documents, reading);
            self.close();
            return flow;
        }
        let Some(value) = documents.first() else {
            reading.error(&at, "the file is empty");
            return None;
        };
        let mut head = reading.map(value, "a flow")?;
        let scope = Scope { parameters: self.parameters.clone(), app: None, patience: PATIENCE };
        let scope = self.scope(&mut head, scope, self.parameters, reading);
        let name = head
            .take("name")
            .and_then(|name| reading.interpolate(name, "`name`", &scope.parameters));
        let name = name.unwrap_or_else(|| stem(file));
        let device = head.take("device");
        let device = device.and_then(|id| reading.interpolate(id, "`device`", &scope.parameters));
        let start = CaseSetup::default().with(&mut head, &scope, reading);
        let cases = match (head.take("cases"), head.take("steps")) {
            (Some(cases), None) => self.cases(cases, &scope, &start, reading),
            (None, Some(steps)) => {
                let steps = self.steps(steps, &scope, reading);
                vec![start.case(name.clone(), head.at().clone(), &scope, steps, reading)]
            }
            (Some(_), Some(steps)) => {
                reading.error(&steps.at, "use either `cases` or `steps`, not both");
                Vec::new()
            }
            (None, None) => {
                reading.error(head.at(), "a flow needs `cases`, or `steps` for a single case");
                Vec::new()
            }
        };
        head.end(reading, "a flow");
        self.close();
        Some(Flow { name, file: file.to_owned(), device, tags: Vec::new(), cases })
    }

    fn cases(
        &mut self,
        value: &Value,
        scope: &Scope,
        start: &CaseSetup,
        reading: &mut ParseContext,
    ) -> Vec<Case> {
        let mut cases: Vec<Case> = Vec::new();
        let listed = reading.list(value, "`cases`");
        if listed.is_empty() {
            reading.error(&value.at, "`cases` must not be empty");
        }
        for one in listed {
            let Some(mut map) = reading.map(one, "a case") else { continue };
            let scope = self.scope(&mut map, scope.clone(), self.parameters, reading);
            let name = match map.take("name") {
                Some(name) => reading.interpolate(name, "`name`", &scope.parameters),
                None => {
                    reading.error(map.at(), "a case needs a `name`");
                    None
                }
            };
            let start = start.clone().with(&mut map, &scope, reading);
            let steps = match map.take("steps") {
                Some(steps) => self.steps(steps, &scope, reading),
                None => {
                    reading.error(map.at(), "a case needs `steps`");
                    Vec::new()
                }
            };
            let at = map.at().clone();
            map.end(reading, "a case");
            let Some(name) = name else { continue };
            if let Some(other) = cases.iter().find(|other| other.name == name) {
                let what =
                    format!("duplicate case name {name:?}, already used in line {}", other.at.line);
                reading.error(&at, what);
            }
            cases.push(start.case(name, at, &scope, steps, reading));
        }
        cases
    }

    /// The settings inside a flow or a case: `env`, `app` and `timeout`. Parameters from `above` override `env`.
    fn scope(
        &self,
        map: &mut MapReader<'_>,
        mut scope: Scope,
        above: &Parameters,
        reading: &mut ParseContext,
    ) -> Scope {
        if let Some(env) = map.take("env").and_then(|env| reading.map(env, "`env`")) {
            for (key, value) in env.rest() {
                check_name(&key.name, &key.at, reading);
                let value =
                    reading.text(value, &format!("the parameter {}", key.name), &scope.parameters);
                if let Some(value) = value.filter(|_| !above.contains_key(&key.name)) {
                    scope.parameters.insert(key.name.clone(), value);
                }
            }
        }
        if let Some(app) = map.take("app") {
            scope.app = app_id(app, "`app`", &scope.parameters, reading).or(scope.app);
        }
        if let Some(time) = map.take("timeout") {
            scope.patience =
                reading.time(time, "`timeout`", &scope.parameters).unwrap_or(scope.patience);
        }
        scope
    }

    /// Parses a list of steps, which must not be empty.
    pub(super) fn steps(
        &mut self,
        value: &Value,
        scope: &Scope,
        reading: &mut ParseContext,
    ) -> Vec<FlowStep> {
        let listed = reading.list(value, "`steps`");
        if listed.is_empty() {
            reading.error(&value.at, "`steps` must not be empty");
        }
        let mut steps = Vec::new();
        for one in listed {
            if !self.count_step() {
                reading.error(
                    &one.at,
                    format!("the flow has more than {MOST_STEPS} steps, including the flows that it runs"),
                );
                break;
            }
            steps.extend(self.step(one, scope, reading));
        }
        steps
    }

    /// Parses the steps of another file, named at `at`.
    pub(super) fn included(
        &mut self,
        named: &str,
        at: &SourceLocation,
        with: &Parameters,
        scope: &Scope,
        reading: &mut ParseContext,
    ) -> Vec<FlowStep> {
        let Some((name, documents)) = self.open_beside(named, at, "run", reading) else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        let value = documents.first();
        if is_maestro(&documents) {
            let what = format!("{name} is a flow of Maestro's; `run` takes our own flows");
            reading.error(at, what);
        } else if value.is_none() {
            reading.error(at, format!("{name} is empty"));
        } else if let Some(mut head) = value.and_then(|value| reading.map(value, "a flow")) {
            let mut inner = scope.clone();
            inner.parameters.extend(with.clone());
            let above = inner.parameters.clone();
            let inner = self.scope(&mut head, inner, &above, reading);
            let _ = head
                .take("name")
                .map(|name| reading.interpolate(name, "`name`", &inner.parameters));
            match head.take("steps") {
                Some(value) => steps = self.steps(value, &inner, reading),
                None => reading.error(
                    at,
                    format!("{name} has no top-level `steps`; `run` cannot run `cases`"),
                ),
            }
            head.end(reading, "a flow used in `run`");
        }
        self.close();
        steps
    }

    /// Opens a file that `word` names at `at`, by its path relative to the file there. Returns its name and documents.
    pub(super) fn open_beside(
        &mut self,
        named: &str,
        at: &SourceLocation,
        word: &str,
        reading: &mut ParseContext,
    ) -> Option<(String, Vec<Value>)> {
        let folder = Path::new(at.file()).parent().unwrap_or(Path::new(""));
        let path = plain(&folder.join(named));
        if self.opened.contains(&path) {
            let mut way: Vec<String> =
                self.opened.iter().map(|file| file.display().to_string()).collect();
            way.push(path.display().to_string());
            reading.error(at, format!("circular `{word}`: {}", way.join(" runs ")));
            return None;
        }
        if self.opened.len() >= DEEPEST {
            reading.error(at, format!("`{word}` is nested more than {DEEPEST} files deep"));
            return None;
        }
        let name = path.display().to_string();
        let documents = self.open(&path, &name, at, reading)?;
        Some((name, documents))
    }

    /// Closes the file that was opened last.
    pub(super) fn close(&mut self) {
        self.opened.pop();
    }

    /// Counts one more step. `false` if there are too many.
    pub(super) fn count_step(&mut self) -> bool {
        self.steps += 1;
        self.steps <= MOST_STEPS
    }

    /// Reads a file, which stays open until the caller closes it. `at` is where it was named.
    fn open(
        &mut self,
        path: &Path,
        name: &str,
        at: &SourceLocation,
        reading: &mut ParseContext,
    ) -> Option<Vec<Value>> {
        let text = match (self.files)(path) {
            Ok(text) => text,
            Err(why) => {
                reading.error(at, format!("cannot read {name}: {why}"));
                return None;
            }
        };
        let source: Arc<Source> = Source::new(name, text);
        match yaml::read(&source) {
            Ok(documents) => {
                self.opened.push(plain(path));
                Some(documents)
            }
            Err(mistake) => {
                reading.keep(mistake);
                None
            }
        }
    }
}

/// Whether the documents of a file are a flow of Maestro's.
pub(super) fn is_maestro(documents: &[Value]) -> bool {
    let is_list = |value: &Value| matches!(value.kind, ValueKind::List(_));
    match documents {
        [only] => {
            is_list(only)
                || matches!(&only.kind, ValueKind::Map(all) if all.iter().any(|(key, _)| key.name == "appId"))
        }
        _ => documents.len() > 1,
    }
}

/// How a case starts.
#[derive(Debug, Clone, Default)]
struct CaseSetup {
    reset: Option<(bool, Option<SourceLocation>)>,
    permissions: Vec<(String, bool)>,
    permitted: Option<SourceLocation>,
    crashes: CrashScope,
}

impl CaseSetup {
    /// Adds the settings of a flow or a case.
    fn with(mut self, map: &mut MapReader<'_>, scope: &Scope, reading: &mut ParseContext) -> Self {
        if let Some(value) = map.take_renamed("clear_data", "reset") {
            let reset =
                reading.boolean(value, "`clear_data`", &scope.parameters).unwrap_or_default();
            self.reset = Some((reset, Some(value.at.clone())));
        }
        if let Some(value) = map.take("permissions") {
            self.permitted = Some(value.at.clone());
            if let Some(mut both) = reading.map(value, "`permissions`") {
                for (key, granted) in [("grant", true), ("revoke", false)] {
                    let Some(list) = both.take(key) else { continue };
                    for one in reading.list(list, &format!("`{key}`")) {
                        let Some(name) =
                            reading.interpolate(one, "a permission", &scope.parameters)
                        else {
                            continue;
                        };
                        let name = whole_permission(name);
                        self.permissions.retain(|(known, _)| *known != name);
                        self.permissions.push((name, granted));
                    }
                }
                both.end(reading, "`permissions`");
            }
        }
        if let Some(value) = map.take("crashes") {
            let these =
                [("own", CrashScope::Own), ("any", CrashScope::Any), ("none", CrashScope::None)];
            self.crashes =
                reading.one_of(value, "`crashes`", &these, &scope.parameters).unwrap_or_default();
        }
        self
    }

    fn case(
        &self,
        name: String,
        at: SourceLocation,
        scope: &Scope,
        steps: Vec<FlowStep>,
        reading: &mut ParseContext,
    ) -> Case {
        let reset = self.reset.as_ref().is_some_and(|(reset, _)| *reset);
        if scope.app.is_none() {
            if let Some((true, Some(at))) = &self.reset {
                reading.error(at, "`clear_data` needs an app: set `app`");
            }
            if let Some(at) = &self.permitted {
                reading.error(at, "`permissions` needs an app: set `app`");
            }
        }
        Case {
            name,
            at,
            app: scope.app.clone(),
            reset,
            permissions: self.permissions.clone(),
            crashes: self.crashes,
            steps,
            afterwards: Vec::new(),
        }
    }
}

/// An app by its full id.
pub(super) fn app_id(
    value: &Value,
    of: &str,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<AppId> {
    let text = reading.interpolate(value, of, parameters)?;
    if !text.contains('.') {
        reading.error(
            &value.at,
            format!("{of} must be a full app id such as `com.example.app`, not {text:?}"),
        );
        return None;
    }
    Some(AppId(text))
}

/// Checks a parameter's name.
pub(super) fn check_name(name: &str, at: &SourceLocation, reading: &mut ParseContext) {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(plain) || name.starts_with(|c: char| c.is_ascii_digit())
    {
        reading.error(
            at,
            format!(
                "invalid parameter name {name:?}: use letters, digits and {}, and do not start with a digit",
                names(&["_"])
            ),
        );
    }
}

/// `CAMERA` is `android.permission.CAMERA`.
pub(super) fn whole_permission(name: String) -> String {
    if name.contains('.') { name } else { format!("android.permission.{name}") }
}

/// The file's name without its extension.
pub(super) fn stem(file: &str) -> String {
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| file.to_owned())
}

/// The path without `.` and `x/..`, to recognize a file.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(plain.components().next_back(), Some(Component::Normal(_))) =>
            {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<String, String> {
        let flow = read("test.yaml", &Parameters::new(), &|_| Ok(text.to_owned()));
        flow.map(|flow| {
            format!(
                "{:?}",
                flow.cases.iter().map(|case| (case.reset, &case.steps)).collect::<Vec<_>>()
            )
        })
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }

    /// Without positions, which depend on the length of the keys.
    fn meaning(text: &str) -> String {
        let position = regex_lite::Regex::new(" at: [^,]+,").unwrap();
        position.replace_all(&parsed(text).unwrap(), "").into_owned()
    }

    #[test]
    fn former_names_of_keys_are_read() {
        for (former, current) in [
            ("steps: [scroll: { until: End, most: 3 }]", "steps: [scroll: { until: End, max: 3 }]"),
            (
                "steps: [long_press: { text: A, hold: 2 }]",
                "steps: [long_press: { text: A, duration: 2 }]",
            ),
            ("steps: [expect: { gone: A }]", "steps: [expect: { not_visible: A }]"),
            (
                "app: a.b\nreset: true\nsteps: [launch]",
                "app: a.b\nclear_data: true\nsteps: [launch]",
            ),
            (
                "steps: [repeat: { until: End, times: 3, steps: [scroll] }]",
                "steps: [repeat: { until: End, max: 3, steps: [scroll] }]",
            ),
        ] {
            assert_eq!(meaning(former), meaning(current));
        }
    }

    #[test]
    fn former_and_current_name_together_are_an_error() {
        for text in [
            "steps: [scroll: { until: End, most: 3, max: 3 }]",
            "steps: [expect: { gone: A, not_visible: A }]",
            "app: a.b\nreset: true\nclear_data: true\nsteps: [launch]",
        ] {
            assert!(parsed(text).unwrap_err().contains("unknown key"), "{text}");
        }
        // Without `until` there is a number of repetitions, not a limit.
        let text = "steps: [repeat: { max: 3, steps: [scroll] }]";
        assert!(parsed(text).unwrap_err().contains("`repeat` needs `times` or `until`"));
    }
}
