//! Reads the `config.yaml` of a folder of flows: which files are flows, and which tags to run.
//!
//! Start with [`Workspace::read`]. The keys are those of Maestro's workspaces, and the rules those
//! of its `WorkspaceExecutionPlanner`; the caller walks the folder.

use regex_lite::Regex;

use super::error::{FlowError, Source, SourceLocation};
use super::parse::context::ParseContext;
use super::plan::Flow;
use super::yaml::{self, Value, ValueKind};

/// Which flows of a folder to run.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// Patterns of files, relative to the folder, and whether they take a file or leave it out.
    flows: Vec<(Regex, bool)>,
    /// Only flows with one of these tags, unless there are none.
    pub include_tags: Vec<String>,
    /// No flows with one of these tags.
    pub exclude_tags: Vec<String>,
    /// The names of the flows to run first, in this order.
    order: Vec<String>,
    /// Whether those of them that follow a failed one do not run.
    stops_at_failure: bool,
}

/// The keys of Maestro's `WorkspaceConfig`.
const KEYS: [&str; 9] = [
    "flows",
    "includeTags",
    "excludeTags",
    "executionOrder",
    "baselineBranch",
    "notifications",
    "disableRetries",
    "platform",
    "testOutputDir",
];

impl Workspace {
    /// Reads a `config.yaml`. `None` if the file is a flow.
    ///
    /// # Errors
    /// Everything wrong with it.
    pub fn read(file: &str, text: &str) -> Result<Option<Self>, Vec<FlowError>> {
        let source = Source::new(file, text);
        let documents = yaml::read(&source).map_err(|error| vec![error])?;
        let value = match documents.as_slice() {
            [] => return Ok(Some(Self::default())),
            [value] => value,
            _ => return Ok(None),
        };
        let mut context = ParseContext::new();
        let Some(mut map) = context.map(value, "a workspace's `config.yaml`") else {
            return Err(context.errors());
        };
        let mut workspace = Self::default();
        let listed = map.take("flows");
        for (pattern, at) in texts(listed, "`flows`", &mut context) {
            let (glob, takes) = match pattern.strip_prefix('!') {
                Some(glob) => (glob, false),
                None => (&*pattern, true),
            };
            match Regex::new(&regex_of(glob.trim_start_matches("./"))) {
                Ok(regex) => workspace.flows.push((regex, takes)),
                Err(_) => context.error(&at, format!("{pattern:?} is not a pattern of files")),
            }
        }
        let takes_some = workspace.flows.iter().any(|(_, takes)| *takes);
        if !workspace.flows.is_empty() && !takes_some {
            let what = "`flows` leaves out files and takes none; add \"*\"";
            context.error(listed.map_or(&value.at, |listed| &listed.at), what);
        }
        let mut names = |key: &'static str| -> Vec<String> {
            let all = texts(map.take(key), &format!("`{key}`"), &mut context);
            all.into_iter().map(|(text, _)| text).collect()
        };
        workspace.include_tags = names("includeTags");
        workspace.exclude_tags = names("excludeTags");
        if let Some(order) = map.take("executionOrder").filter(|it| it.kind != ValueKind::Null)
            && let Some(mut map) = context.map(order, "`executionOrder`")
        {
            workspace.stops_at_failure =
                map.boolean("continueOnFailure", &mut context) == Some(false);
            let order = texts(map.take("flowsOrder"), "`flowsOrder`", &mut context);
            workspace.order = order.into_iter().map(|(text, _)| text).collect();
        }
        // Other keys are for Maestro's own programs.
        if context.has_errors() { Err(context.errors()) } else { Ok(Some(workspace)) }
    }

    /// Whether a file is another workspace's `config.yaml` under any name.
    pub fn is_config(text: &str) -> bool {
        let documents = yaml::read(&Source::new("", text)).unwrap_or_default();
        match documents.as_slice() {
            [Value { kind: ValueKind::Map(entries), .. }] => {
                entries.iter().all(|(key, _)| KEYS.contains(&&*key.name))
            }
            _ => false,
        }
    }

    /// Whether a file is a flow of this workspace. `path` is relative to the folder, with `/`
    /// between its parts.
    pub fn takes(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"));
        if stem.is_none_or(|stem| stem == "config") {
            return false;
        }
        if self.flows.is_empty() {
            return !path.contains('/');
        }
        let is_listed = |takes: bool| {
            self.flows.iter().any(|(regex, one)| *one == takes && regex.is_match(path))
        };
        is_listed(true) && !is_listed(false)
    }

    /// Whether to run a flow, by its tags.
    pub fn selects(&self, flow: &Flow) -> bool {
        let has = |tags: &[String]| tags.iter().any(|tag| flow.tags.contains(tag));
        (self.include_tags.is_empty() || has(&self.include_tags)) && !has(&self.exclude_tags)
    }

    /// Sorts flows: those whose order is given first, up to the first name that no flow has. They
    /// are the sequence `number`, if one that fails ends it.
    pub fn sort(&self, flows: &mut [Flow], number: usize) {
        let has = |name: &&String| flows.iter().any(|flow| flow.name == **name);
        let order: Vec<&String> = self.order.iter().take_while(has).collect();
        let position = |flow: &Flow| order.iter().position(|name| **name == flow.name);
        flows.sort_by_key(|flow| position(flow).unwrap_or(usize::MAX));
        if self.stops_at_failure {
            for flow in flows.iter_mut().filter(|flow| position(flow).is_some()) {
                flow.sequence = Some(number);
            }
        }
    }
}

/// A text, or a list of texts, with their places.
fn texts(
    value: Option<&Value>,
    of: &str,
    context: &mut ParseContext,
) -> Vec<(String, SourceLocation)> {
    let listed = match value {
        None => &[][..],
        Some(value) => match &value.kind {
            ValueKind::Null => &[],
            ValueKind::Text(_) => std::slice::from_ref(value),
            _ => context.list(value, of),
        },
    };
    let mut all = Vec::new();
    for one in listed {
        all.extend(context.written(one, of).map(|text| (text.to_owned(), one.at.clone())));
    }
    all
}

/// A pattern of files as a regular expression, by the rules of Java's `FileSystem.getPathMatcher`:
/// `*` stands for any part of a name, `**` for any characters.
fn regex_of(glob: &str) -> String {
    let mut regex = String::from("^");
    let mut chars = glob.chars().peekable();
    let mut in_braces = false;
    while let Some(c) = chars.next() {
        match c {
            '*' if chars.next_if_eq(&'*').is_some() => regex.push_str(".*"),
            '*' => regex.push_str("[^/]*"),
            '?' => regex.push_str("[^/]"),
            '[' => {
                let inside: String = chars.by_ref().take_while(|c| *c != ']').collect();
                let (negation, inside) = match inside.strip_prefix('!') {
                    Some(inside) => ("^", inside),
                    None => ("", &*inside),
                };
                regex.push_str(&format!("[{negation}{}]", inside.replace('\\', r"\\")));
            }
            '{' if !in_braces => {
                in_braces = true;
                regex.push_str("(?:");
            }
            '}' if in_braces => {
                in_braces = false;
                regex.push(')');
            }
            ',' if in_braces => regex.push('|'),
            '\\' => {
                let next = chars.next().unwrap_or('\\');
                regex.push_str(&regex_lite::escape(next.encode_utf8(&mut [0; 4])));
            }
            c => regex.push_str(&regex_lite::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    regex + "$"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(text: &str) -> Workspace {
        Workspace::read("config.yaml", text).unwrap().unwrap()
    }

    #[test]
    fn files_are_chosen_by_patterns() {
        let check = |text: &str, path: &str, expected: bool| {
            assert_eq!(workspace(text).takes(path), expected, "{text:?} {path}");
        };
        check("", "login.yaml", true);
        check("", "auth/login.yaml", false);
        check("", "config.yaml", false);
        check("", "script.js", false);
        check("flows: \"**\"\n", "a/b/login.yml", true);
        check("flows: [\"auth/*\", \"smoke-*.yaml\"]\n", "auth/login.yaml", true);
        check("flows: [\"auth/*\", \"smoke-*.yaml\"]\n", "auth/deep/login.yaml", false);
        check("flows: [\"auth/*\", \"smoke-*.yaml\"]\n", "smoke-1.yaml", true);
        check("flows: [\"auth/*\", \"smoke-*.yaml\"]\n", "login.yaml", false);
        check("flows: \"**/smoke/*.yaml\"\n", "a/b/smoke/x.yaml", true);
        // Java's `**` stands for any characters, and the `/` behind it for itself.
        check("flows: \"**/smoke/*.yaml\"\n", "smoke/x.yaml", false);
        check("flows: \"**.yaml\"\n", "a/b/x.yaml", true);
        check("flows: \"{a,b}/[a-c]?.yaml\"\n", "b/c1.yaml", true);
        check("flows: \"{a,b}/[!a-c]?.yaml\"\n", "b/c1.yaml", false);
        check("flows: [\"**\", \"!sub/**\"]\n", "a/b.yaml", true);
        check("flows: [\"**\", \"!sub/**\"]\n", "sub/b.yaml", false);
        check("flows: \"**\"\n", "nested/config.yaml", false);
        check("appId: a.b\nflows: [\"tests/**\"]\n", "tests/a.yaml", true);
        check("flows: \"./*-?.yaml\"\n", "x-1.yaml", true);
    }

    #[test]
    fn long_patterns_are_matched_quickly() {
        let long = workspace(&format!("flows: \"{}\"\n", "*a".repeat(40)));
        let began = std::time::Instant::now();
        assert!(!long.takes(&format!("{}.yaml", "b".repeat(10_000))));
        assert!(began.elapsed().as_secs() < 2);
    }

    #[test]
    fn flows_are_not_workspaces_and_errors_are_reported() {
        let flow = Workspace::read("config.yaml", "appId: a.b\n---\n- launchApp\n");
        assert!(matches!(flow, Ok(None)));
        for (text, part) in [
            ("flows: { a: b }\n", "`flows` must be a list"),
            ("flows: [\"!sub/**\"]\n", "leaves out files and takes none"),
            ("flows: [\"[b-a]\"]\n", "is not a pattern of files"),
            ("executionOrder: { continueOnFailure: maybe }\n", "must be one of true, false"),
        ] {
            let errors = Workspace::read("config.yaml", text).unwrap_err();
            assert!(errors[0].to_string().contains(part), "{errors:?}");
        }
        assert!(Workspace::is_config("flows: a\nplatform: { ios: { x: 1 } }\n"));
        assert!(!Workspace::is_config("user: a\nflows: b\n"));
        assert!(!Workspace::is_config("appId: a.b\n---\n- back\n"));
    }

    /// `ExecutionOrderPlanner` of Maestro, and `TestSuiteInteractor`.
    #[test]
    fn flows_are_sorted_up_to_the_first_that_is_missing() {
        let named = |name: &str| {
            let files =
                |_: &std::path::Path| Ok(format!("appId: a.b\nname: {name}\n---\n- back\n"));
            crate::read("x.yaml", &Default::default(), &files).unwrap()
        };
        let sorted = |text: &str| {
            let mut flows = ["a", "b", "c"].map(named);
            workspace(text).sort(&mut flows, 7);
            flows.map(|flow| format!("{}{:?}", flow.name, flow.sequence)).join(" ")
        };
        let order = "executionOrder: { flowsOrder: [c, a], continueOnFailure: false }\n";
        assert_eq!(sorted(order), "cSome(7) aSome(7) bNone");
        let order = "executionOrder: { flowsOrder: [c, none, a] }\n";
        assert_eq!(sorted(order), "cNone aNone bNone");
        assert_eq!(sorted("executionOrder: { continueOnFailure: false }\n"), "aNone bNone cNone");
    }
}
