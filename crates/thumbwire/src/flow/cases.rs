//! Reads flow files: their heads, their cases, and the files that they run.
//!
//! Begin with [`read`]. All of a flow is read and checked before its first step, with every file that it runs. What a step can be
//! stands in `steps`.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::AppId;

use super::mistake::{Mistake, Place, Source};
use super::plan::{Case, Crashes, Flow, Step};
use super::read::{Map, Parameters, Reading, names};
use super::yaml::{self, Value};

/// How long a step waits for what it needs, where nobody says.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many files may run one another.
const DEEPEST: usize = 16;

/// How many steps a flow may unfold to.
pub(super) const MOST_STEPS: usize = 20_000;

/// What gives a file's text, or says why it cannot.
pub type Files<'a> = &'a dyn Fn(&Path) -> Result<String, String>;

/// Reads a flow and all that it runs. `parameters` stand above those of the file.
///
/// # Errors
/// Everything that is wrong with it, at most 20 mistakes.
pub fn read(file: &str, parameters: &Parameters, files: Files<'_>) -> Result<Flow, Vec<Mistake>> {
    let mut reading = Reading::new();
    let mut reader = Reader { files, parameters, opened: Vec::new(), steps: 0 };
    let flow = reader.flow(file, &mut reading);
    match flow {
        Some(flow) if reading.is_well() => Ok(flow),
        _ => Err(reading.mistakes()),
    }
}

/// What steps are read with.
pub(super) struct Reader<'a> {
    files: Files<'a>,
    /// Those from outside, which no file overrides.
    parameters: &'a Parameters,
    /// The files that are being read, the outermost first.
    opened: Vec<PathBuf>,
    /// How many steps were read.
    steps: usize,
}

/// What holds where a step stands.
#[derive(Clone)]
pub(super) struct Scope {
    pub(super) known: Parameters,
    pub(super) app: Option<AppId>,
    pub(super) patience: Duration,
}

impl Reader<'_> {
    fn flow(&mut self, file: &str, reading: &mut Reading) -> Option<Flow> {
        let source = Source::new(file, String::new());
        let value = self.open(Path::new(file), file, &Place::new(&source, 1, 1), reading)?;
        let mut head = reading.map(&value, "a flow")?;
        let scope = Scope { known: self.parameters.clone(), app: None, patience: PATIENCE };
        let scope = self.scope(&mut head, scope, self.parameters, reading);
        let name = head.take("name").and_then(|name| reading.filled(name, "`name`", &scope.known));
        let name = name.unwrap_or_else(|| stem(file));
        let device = head.take("device");
        let device = device.and_then(|id| reading.filled(id, "`device`", &scope.known));
        let start = Start::default().with(&mut head, &scope, reading);
        let cases = match (head.take("cases"), head.take("steps")) {
            (Some(cases), None) => self.cases(cases, &scope, &start, reading),
            (None, Some(steps)) => {
                let steps = self.steps(steps, &scope, reading);
                vec![start.case(name.clone(), head.at().clone(), &scope, steps, reading)]
            }
            (Some(_), Some(steps)) => {
                reading.wrong(&steps.at, "a flow has `cases` or `steps`, not both");
                Vec::new()
            }
            (None, None) => {
                reading.wrong(head.at(), "a flow has `cases`, or `steps` where it is only one");
                Vec::new()
            }
        };
        head.end(reading, "a flow");
        self.opened.pop();
        Some(Flow { name, file: file.to_owned(), device, cases })
    }

    fn cases(
        &mut self,
        value: &Value,
        scope: &Scope,
        start: &Start,
        reading: &mut Reading,
    ) -> Vec<Case> {
        let mut cases: Vec<Case> = Vec::new();
        let listed = reading.list(value, "`cases`");
        if listed.is_empty() {
            reading.wrong(&value.at, "there is no case");
        }
        for one in listed {
            let Some(mut map) = reading.map(one, "a case") else { continue };
            let scope = self.scope(&mut map, scope.clone(), self.parameters, reading);
            let name = match map.take("name") {
                Some(name) => reading.filled(name, "`name`", &scope.known),
                None => {
                    reading.wrong(map.at(), "a case needs a `name`");
                    None
                }
            };
            let start = start.clone().with(&mut map, &scope, reading);
            let steps = match map.take("steps") {
                Some(steps) => self.steps(steps, &scope, reading),
                None => {
                    reading.wrong(map.at(), "a case needs `steps`");
                    Vec::new()
                }
            };
            let at = map.at().clone();
            map.end(reading, "a case");
            let Some(name) = name else { continue };
            if let Some(other) = cases.iter().find(|other| other.name == name) {
                let what = format!(
                    "two cases are called {name:?}; the other stands in line {}",
                    other.at.line
                );
                reading.wrong(&at, what);
            }
            cases.push(start.case(name, at, &scope, steps, reading));
        }
        cases
    }

    /// What holds inside of a flow or a case: its `env`, its `app` and its `timeout`. Who is above wins over `env`.
    fn scope(
        &self,
        map: &mut Map<'_>,
        mut scope: Scope,
        above: &Parameters,
        reading: &mut Reading,
    ) -> Scope {
        if let Some(env) = map.take("env").and_then(|env| reading.map(env, "`env`")) {
            for (key, value) in env.rest() {
                check_name(&key.name, &key.at, reading);
                let value =
                    reading.text(value, &format!("the parameter {}", key.name), &scope.known);
                if let Some(value) = value.filter(|_| !above.contains_key(&key.name)) {
                    scope.known.insert(key.name.clone(), value);
                }
            }
        }
        if let Some(app) = map.take("app") {
            scope.app = app_id(app, "`app`", &scope.known, reading).or(scope.app);
        }
        if let Some(time) = map.take("timeout") {
            scope.patience =
                reading.time(time, "`timeout`", &scope.known).unwrap_or(scope.patience);
        }
        scope
    }

    /// The steps of a list, which is not empty.
    pub(super) fn steps(
        &mut self,
        value: &Value,
        scope: &Scope,
        reading: &mut Reading,
    ) -> Vec<Step> {
        let listed = reading.list(value, "`steps`");
        if listed.is_empty() {
            reading.wrong(&value.at, "there is no step");
        }
        let mut steps = Vec::new();
        for one in listed {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                reading.wrong(
                    &one.at,
                    format!("with all that it runs, the flow has more than {MOST_STEPS} steps"),
                );
                break;
            }
            steps.extend(self.step(one, scope, reading));
        }
        steps
    }

    /// The steps of another file, named in one that stands at `at`.
    pub(super) fn included(
        &mut self,
        named: &str,
        at: &Place,
        with: &Parameters,
        scope: &Scope,
        reading: &mut Reading,
    ) -> Vec<Step> {
        let folder = Path::new(at.file()).parent().unwrap_or(Path::new(""));
        let path = plain(&folder.join(named));
        if self.opened.contains(&path) {
            let mut way: Vec<String> =
                self.opened.iter().map(|file| file.display().to_string()).collect();
            way.push(path.display().to_string());
            reading.wrong(
                at,
                format!("the flows run one another in a circle: {}", way.join(" runs ")),
            );
            return Vec::new();
        }
        if self.opened.len() >= DEEPEST {
            reading.wrong(at, format!("more than {DEEPEST} flows run one another"));
            return Vec::new();
        }
        let name = path.display().to_string();
        let Some(value) = self.open(&path, &name, at, reading) else { return Vec::new() };
        let mut steps = Vec::new();
        if let Some(mut head) = reading.map(&value, "a flow") {
            let mut inner = scope.clone();
            inner.known.extend(with.clone());
            let above = inner.known.clone();
            let inner = self.scope(&mut head, inner, &above, reading);
            let _ = head.take("name").map(|name| reading.filled(name, "`name`", &inner.known));
            match head.take("steps") {
                Some(value) => steps = self.steps(value, &inner, reading),
                None => reading
                    .wrong(at, format!("{name} has no `steps`: only those can be run as a step")),
            }
            head.end(reading, "a flow that is run as a step");
        }
        self.opened.pop();
        steps
    }

    /// Reads a file, which stays open until its caller closes it. `at` is where it was asked for.
    fn open(
        &mut self,
        path: &Path,
        name: &str,
        at: &Place,
        reading: &mut Reading,
    ) -> Option<Value> {
        let text = match (self.files)(path) {
            Ok(text) => text,
            Err(why) => {
                reading.wrong(at, format!("cannot read {name}: {why}"));
                return None;
            }
        };
        let source: Arc<Source> = Source::new(name, text);
        match yaml::read(&source) {
            Ok(value) => {
                self.opened.push(plain(path));
                Some(value)
            }
            Err(mistake) => {
                reading.keep(mistake);
                None
            }
        }
    }
}

/// How a case begins.
#[derive(Debug, Clone, Default)]
struct Start {
    reset: Option<(bool, Option<Place>)>,
    permissions: Vec<(String, bool)>,
    permitted: Option<Place>,
    crashes: Crashes,
}

impl Start {
    /// With what a flow or a case says of it.
    fn with(mut self, map: &mut Map<'_>, scope: &Scope, reading: &mut Reading) -> Self {
        if let Some(value) = map.take("reset") {
            let reset = reading.truth(value, "`reset`", &scope.known).unwrap_or_default();
            self.reset = Some((reset, Some(value.at.clone())));
        }
        if let Some(value) = map.take("permissions") {
            self.permitted = Some(value.at.clone());
            if let Some(mut both) = reading.map(value, "`permissions`") {
                for (key, granted) in [("grant", true), ("revoke", false)] {
                    let Some(list) = both.take(key) else { continue };
                    for one in reading.list(list, &format!("`{key}`")) {
                        let Some(name) = reading.filled(one, "a permission", &scope.known) else {
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
            let these = [("own", Crashes::Own), ("any", Crashes::Any), ("none", Crashes::None)];
            self.crashes =
                reading.one_of(value, "`crashes`", &these, &scope.known).unwrap_or_default();
        }
        self
    }

    fn case(
        &self,
        name: String,
        at: Place,
        scope: &Scope,
        steps: Vec<Step>,
        reading: &mut Reading,
    ) -> Case {
        let reset = self.reset.as_ref().is_some_and(|(reset, _)| *reset);
        if scope.app.is_none() {
            if let Some((true, Some(at))) = &self.reset {
                reading.wrong(at, "`reset` forgets what an app keeps: say which by `app`");
            }
            if let Some(at) = &self.permitted {
                reading.wrong(at, "`permissions` are an app's: say which by `app`");
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
        }
    }
}

/// An app by its whole id.
pub(super) fn app_id(
    value: &Value,
    of: &str,
    known: &Parameters,
    reading: &mut Reading,
) -> Option<AppId> {
    let text = reading.filled(value, of, known)?;
    if !text.contains('.') {
        reading.wrong(
            &value.at,
            format!("{of} is an app's whole id, such as `com.example.app`, and not {text:?}"),
        );
        return None;
    }
    Some(AppId(text))
}

/// Checks the name of a parameter.
pub(super) fn check_name(name: &str, at: &Place, reading: &mut Reading) {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(plain) || name.starts_with(|c: char| c.is_ascii_digit())
    {
        reading.wrong(
            at,
            format!(
                "{name:?} is no parameter's name: letters, digits and {} make one",
                names(&["_"])
            ),
        );
    }
}

/// `CAMERA` is `android.permission.CAMERA`.
fn whole_permission(name: String) -> String {
    if name.contains('.') { name } else { format!("android.permission.{name}") }
}

/// The file's name without its ending.
fn stem(file: &str) -> String {
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| file.to_owned())
}

/// The path without `.` and `x/..`: by it a file is known again.
fn plain(path: &Path) -> PathBuf {
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
