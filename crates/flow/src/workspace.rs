//! Reads the `config.yaml` of a folder of flows: which files are flows, and which tags to run.
//!
//! Start with [`Workspace::read`]. The keys are those of Maestro's workspaces; the caller walks the
//! folder.

use super::error::{FlowError, Source};
use super::parse::context::{MapReader, Parameters, ParseContext};
use super::plan::Flow;
use super::yaml::{self, Value, ValueKind};

/// Which flows of a folder to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workspace {
    /// Patterns of files, relative to the folder.
    flows: Vec<String>,
    /// Only flows with one of these tags, unless there are none.
    pub include_tags: Vec<String>,
    /// No flows with one of these tags.
    pub exclude_tags: Vec<String>,
    /// The names of the flows to run first, in this order.
    order: Vec<String>,
}

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
        let mut texts = |key: &'static str| texts(&mut map, key, &mut context);
        let (flows, include_tags) = (texts("flows"), texts("includeTags"));
        let exclude_tags = texts("excludeTags");
        let order = match map.take("executionOrder") {
            Some(order) => execution_order(order, &mut context),
            None => Vec::new(),
        };
        // Other keys are for Maestro's own programs.
        match context.error_count() {
            0 => Ok(Some(Self { flows, include_tags, exclude_tags, order })),
            _ => Err(context.errors()),
        }
    }

    /// Whether a file is a flow of this workspace. `path` is relative to the folder, with `/`
    /// between its parts.
    pub fn takes(&self, path: &str) -> bool {
        let is_config = ["config.yaml", "config.yml"].contains(&path);
        let is_yaml = path.ends_with(".yaml") || path.ends_with(".yml");
        if is_config || !is_yaml {
            return false;
        }
        let parts: Vec<&str> = path.split('/').collect();
        let matches = |pattern: &str| {
            let pattern: Vec<&str> = pattern.trim_start_matches("./").split('/').collect();
            matches_path(&pattern, &parts)
        };
        match self.flows.as_slice() {
            [] => matches("*"),
            flows => flows.iter().any(|pattern| matches(pattern)),
        }
    }

    /// Whether to run a flow, by its tags.
    pub fn selects(&self, flow: &Flow) -> bool {
        let has = |tags: &[String]| tags.iter().any(|tag| flow.tags.contains(tag));
        (self.include_tags.is_empty() || has(&self.include_tags)) && !has(&self.exclude_tags)
    }

    /// Sorts flows: those whose order is given first.
    pub fn sort(&self, flows: &mut [Flow]) {
        let position = |flow: &Flow| self.order.iter().position(|name| *name == flow.name);
        flows.sort_by_key(|flow| position(flow).unwrap_or(usize::MAX));
    }
}

fn execution_order(value: &Value, context: &mut ParseContext) -> Vec<String> {
    let Some(mut map) = context.map(value, "`executionOrder`") else { return Vec::new() };
    if map.boolean("continueOnFailure", &Parameters::new(), context) == Some(false) {
        let instead = "`continueOnFailure: false` is not supported: run with --fail-fast";
        context.error(&value.at, instead);
    }
    texts(&mut map, "flowsOrder", context)
}

/// A text, or a list of texts.
fn texts(map: &mut MapReader<'_>, key: &'static str, context: &mut ParseContext) -> Vec<String> {
    let of = format!("`{key}`");
    let listed = match map.take(key) {
        None => &[][..],
        Some(value) => match &value.kind {
            ValueKind::Null => &[],
            ValueKind::Text(_) => std::slice::from_ref(value),
            _ => context.list(value, &of),
        },
    };
    let mut all = Vec::new();
    for one in listed {
        all.extend(context.written(one, &of).map(str::to_owned));
    }
    all
}

/// Whether a path matches a pattern: `*` stands for any part of a name, `**` for any folders.
fn matches_path(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**"], [_, ..]) => true,
        (["**", rest @ ..], _) => {
            matches_path(rest, path)
                || path.split_first().is_some_and(|(_, path)| matches_path(pattern, path))
        }
        ([first, rest @ ..], [name, path @ ..]) => {
            matches_name(first.as_bytes(), name.as_bytes()) && matches_path(rest, path)
        }
        _ => false,
    }
}

fn matches_name(pattern: &[u8], name: &[u8]) -> bool {
    // The place after the last `*`, and how much of the name it stands for.
    let (mut at, mut in_name) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while in_name < name.len() {
        match (pattern.get(at), star) {
            (Some(b'*'), _) => {
                star = Some((at + 1, in_name));
                at += 1;
            }
            (Some(byte), _) if *byte == b'?' || *byte == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            (_, Some((after, from))) => {
                star = Some((after, from + 1));
                (at, in_name) = (after, from + 1);
            }
            (_, None) => return false,
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
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
        check("flows: \"**/smoke/*.yaml\"\n", "smoke/x.yaml", true);
        check("flows: \"./*-?.yaml\"\n", "x-1.yaml", true);
    }

    #[test]
    fn long_patterns_are_matched_quickly() {
        let pattern = "*a".repeat(40);
        let began = std::time::Instant::now();
        assert!(!matches_name(pattern.as_bytes(), "b".repeat(10_000).as_bytes()));
        assert!(began.elapsed().as_secs() < 2);
    }

    #[test]
    fn flows_are_not_workspaces_and_errors_are_reported() {
        assert_eq!(Workspace::read("config.yaml", "appId: a.b\n---\n- launchApp\n"), Ok(None));
        let errors = Workspace::read(
            "config.yaml",
            "flows: { a: b }\nexecutionOrder: { continueOnFailure: false }\n",
        );
        let errors: Vec<String> = errors.unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors[1].contains("--fail-fast"), "{errors:?}");
    }
}
