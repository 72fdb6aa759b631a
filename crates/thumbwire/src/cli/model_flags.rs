//! Model flags, shared by all verbs that give a goal to a model, and how they become a model.
//!
//! Files and the environment are read here and passed on: the agent reads neither.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;

use super::CliError;
use crate::config::{self, Config};
use thumbwire_agent::model::{
    self, ApiKey, Model, ModelSpec, Price, ProxySettings, RequestTimeouts, Settings,
};
use thumbwire_agent::{
    Budgets, ConfirmMode, Examples, Knowledge, ModelPolicy, Policy, ScreenshotMode,
};

/// Flags that choose and configure the model.
#[derive(clap::Args)]
#[group(skip)]
pub(super) struct ModelFlags {
    /// Model to use: `openai:MODEL` (with --base-url, any server with OpenAI's chat completions API), `anthropic:MODEL` or
    /// `scripted:FILE`; see docs/models.md
    #[arg(long, value_name = "PROVIDER:MODEL", help_heading = MODEL)]
    model: Option<ModelSpec>,
    /// Base URL of the model's API [default: $OPENAI_BASE_URL or $ANTHROPIC_BASE_URL, else the vendor's URL]
    #[arg(long, value_name = "URL", requires = "model", help_heading = MODEL)]
    base_url: Option<String>,
    /// Azure `api-version` to append to the base URL
    #[arg(long, value_name = "VERSION", requires = "base_url", help_heading = MODEL)]
    api_version: Option<String>,
    /// Environment variable with the API key [default: OPENAI_API_KEY or ANTHROPIC_API_KEY]
    #[arg(long = "api-key-env", alias = "key-env", value_name = "NAME", requires = "model", help_heading = MODEL)]
    key_env: Option<String>,
    /// Price of a million tokens in US dollars: IN,OUT[,CACHED[,CACHE-WRITE]]
    #[arg(long, value_name = "DOLLARS", requires = "model", help_heading = MODEL)]
    price: Option<Price>,
    /// Timeout of a model response, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 250, value_parser = clap::value_parser!(u64).range(1..=3600), help_heading = MODEL)]
    model_timeout: u64,
    /// Maximum number of tokens in a model response
    #[arg(long = "max-output-tokens", alias = "answer-tokens", value_name = "TOKENS", requires = "model", help_heading = MODEL)]
    answer_tokens: Option<u32>,
    /// Don't stream model responses
    #[arg(long, help_heading = MODEL)]
    no_stream: bool,
    /// Constrain responses to a JSON schema, if the endpoint supports it
    #[arg(long, requires = "model", help_heading = MODEL)]
    json_schema: bool,
    /// Screenshots that the model sees: `both` (clean and annotated), `annotated`, `none`, or `auto` (annotated, only when the
    /// text of the screen may not be enough)
    #[arg(long = "screenshots", alias = "look", value_name = "WHICH", value_enum, default_value_t = ScreenshotsFlag::Doubt, help_heading = MODEL)]
    look: ScreenshotsFlag,
    /// Directory of examples (YAML or JSON) to add to the prompt; see docs/prompting.md
    #[arg(long, value_name = "DIR", requires = "model", help_heading = MODEL)]
    examples: Option<PathBuf>,
    /// Directory of documents (Markdown or text) to search for relevant passages
    #[arg(long, value_name = "DIR", requires = "model", help_heading = MODEL)]
    knowledge: Option<PathBuf>,
}

const MODEL: &str = "Model";

/// Which screenshots a model sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScreenshotsFlag {
    Both,
    #[value(name = "annotated", alias = "marked")]
    Marked,
    #[value(name = "none", alias = "text")]
    Text,
    #[value(name = "auto", alias = "doubt")]
    Doubt,
}

impl From<ScreenshotsFlag> for ScreenshotMode {
    fn from(flag: ScreenshotsFlag) -> Self {
        match flag {
            ScreenshotsFlag::Both => Self::Both,
            ScreenshotsFlag::Marked => Self::Annotated,
            ScreenshotsFlag::Text => Self::None,
            ScreenshotsFlag::Doubt => Self::Auto,
        }
    }
}

/// Limits that end a run, finished or not.
#[derive(Clone, clap::Args)]
#[group(skip)]
pub(super) struct BudgetFlags {
    /// Maximum number of steps
    #[arg(long = "max-steps", alias = "steps", value_name = "STEPS", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = LIMITS)]
    steps: u32,
    /// Maximum duration, such as `90s`, `10m` or `1h 30m`
    #[arg(long = "timeout", alias = "time", value_name = "TIME", value_parser = time, help_heading = LIMITS)]
    time: Option<Duration>,
    /// Maximum number of tokens, input and output together
    #[arg(long = "max-tokens", alias = "tokens", value_name = "TOKENS", help_heading = LIMITS)]
    tokens: Option<u64>,
    /// Maximum cost in US dollars; requires --price
    #[arg(long = "max-cost", alias = "dollars", value_name = "DOLLARS", requires = "price", value_parser = dollars, help_heading = LIMITS)]
    dollars: Option<f64>,
}

const LIMITS: &str = "Limits";

impl BudgetFlags {
    /// The budgets, with `time` as the default time limit.
    pub(super) fn budgets(&self, time: Duration) -> Budgets {
        Budgets {
            rounds: self.steps,
            time: Some(self.time.unwrap_or(time)),
            tokens: self.tokens,
            dollars: self.dollars,
        }
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a duration such as `90s`, `10m` or `1h 30m`".to_owned();
    let time = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let span: jiff::SignedDuration = text.parse().map_err(|_| wrong())?;
            Duration::try_from(span).map_err(|_| wrong())?
        }
    };
    let fits = !time.is_zero() && time <= Duration::from_secs(7 * 24 * 60 * 60);
    fits.then_some(time).ok_or_else(|| "expected more than zero and at most a week".to_owned())
}

fn dollars(text: &str) -> Result<f64, String> {
    let dollars = text.trim_start_matches('$').parse().ok();
    let fits = |dollars: &f64| dollars.is_finite() && *dollars > 0.0;
    dollars.filter(fits).ok_or_else(|| "expected an amount such as 0.50".to_owned())
}

/// When to ask for confirmation.
#[derive(Debug, Clone, Copy, clap::Args)]
#[group(skip)]
pub(super) struct ConfirmFlag {
    /// When to ask before an action: `always` (anything that changes something), `risky` (paying, deleting, sending) or `never`.
    /// If nobody can be asked, such an action is refused [default: risky]
    #[arg(long, value_name = "WHEN", value_enum)]
    confirm: Option<ConfirmValue>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ConfirmValue {
    Always,
    Risky,
    Never,
}

impl ConfirmFlag {
    /// Whether the flag was given.
    pub(super) fn is_given(self) -> bool {
        self.confirm.is_some()
    }

    /// The mode to use, whether or not somebody can be asked.
    pub(super) fn mode(self) -> ConfirmMode {
        match self.confirm {
            Some(ConfirmValue::Always) => ConfirmMode::Always,
            Some(ConfirmValue::Risky) | None => ConfirmMode::Risky,
            Some(ConfirmValue::Never) => ConfirmMode::Never,
        }
    }
}

/// A model with its prompt settings.
pub(super) struct ModelSetup {
    model: Arc<dyn Model>,
    pictures: ScreenshotMode,
    examples: Examples,
    knowledge: Knowledge,
}

impl ModelFlags {
    /// Whether `--model` was given.
    pub(super) fn is_there(&self) -> bool {
        self.model.is_some()
    }

    /// Opens the named model. Reports every configuration error here, before a phone is used.
    pub(super) fn open(&self, config: &Config) -> Result<ModelSetup, CliError> {
        let Some(choice) = &self.model else {
            return Err(CliError::usage(
                "no model given. Set `--model openai:MODEL`, `--model anthropic:MODEL` or `--model scripted:FILE`",
            ));
        };
        let model = model::open(choice, self.settings(choice, config)?).map_err(CliError::usage)?;
        let examples = match &self.examples {
            None => Examples::default(),
            Some(folder) => {
                let files = texts(folder, &["yaml", "yml", "json"])?;
                Examples::with(&files).map_err(CliError::usage)?
            }
        };
        let knowledge = match &self.knowledge {
            None => Knowledge::default(),
            Some(folder) => Knowledge::new(&texts(folder, &["md", "markdown", "txt"])?),
        };
        Ok(ModelSetup { model, pictures: self.look.into(), examples, knowledge })
    }

    fn settings(&self, choice: &ModelSpec, config: &Config) -> Result<Settings, CliError> {
        let given = self.base_url.clone().or_else(|| config::value(choice.base_url_variable()?));
        let base_url = match (given, &self.api_version) {
            (Some(url), Some(version)) => {
                let joint = if url.contains('?') { '&' } else { '?' };
                Some(format!("{url}{joint}api-version={version}"))
            }
            (url, _) => url,
        };
        let variable = self.key_env.as_deref().or_else(|| choice.key_variable());
        let key = variable.and_then(config::value).map(ApiKey::new);
        if let (Some(named), None) = (&self.key_env, &key) {
            return Err(CliError::usage(format!(
                "--api-key-env: the environment variable {named} is not set"
            )));
        }
        let script = match choice {
            ModelSpec::Scripted(file) => Some(read(file)?),
            _ => None,
        };
        let whole = Duration::from_secs(self.model_timeout);
        let through = config.proxy.as_ref();
        Ok(Settings {
            base_url,
            key,
            key_variable: self.key_env.clone(),
            patience: RequestTimeouts { whole, ..RequestTimeouts::default() },
            price: self.price,
            stream: !self.no_stream,
            json_schema: self.json_schema,
            most_tokens: self.answer_tokens,
            through: through
                .map(|it| ProxySettings { proxy: it.address.clone(), except: it.except.clone() }),
            script,
        })
    }
}

impl ModelSetup {
    /// A policy that asks the model; `pictures` overrides which screenshots it sees.
    pub(super) fn policy(&self, pictures: Option<ScreenshotMode>) -> Arc<dyn Policy> {
        let mind = ModelPolicy::new(Arc::clone(&self.model))
            .with_pictures(pictures.unwrap_or(self.pictures))
            .with_examples(self.examples.clone())
            .with_knowledge(self.knowledge.clone());
        Arc::new(mind)
    }

    /// Which screenshots the model sees.
    pub(super) fn pictures(&self) -> ScreenshotMode {
        self.pictures
    }
}

/// Size limit of a file with examples, knowledge or scripted responses, in bytes.
const LARGEST: u64 = 16 << 20;

/// Maximum number of files that are read from a folder.
const MOST_FILES: usize = 1000;

/// The files of a folder with these extensions, sorted by name: file name and text.
pub(super) fn texts(folder: &Path, endings: &[&str]) -> Result<Vec<(String, String)>, CliError> {
    let wrong = |error: &dyn std::fmt::Display| {
        CliError::usage(format!("cannot read {}: {error}", folder.display()))
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| wrong(&error))? {
        let path = entry.map_err(|error| wrong(&error))?.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if path.is_file() && endings.contains(&ending.to_lowercase().as_str()) {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(wrong(&format!("it contains no .{} file", endings.join(" or ."))));
    }
    if files.len() > MOST_FILES {
        return Err(wrong(&format!(
            "it contains {} files; the limit is {MOST_FILES}",
            files.len()
        )));
    }
    files.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.into_iter().map(|path| Ok((name(&path), read(&path)?))).collect()
}

/// The text of a file of limited size.
pub(super) fn read(file: &Path) -> Result<String, CliError> {
    let wrong =
        |reason: String| CliError::usage(format!("cannot read {}: {reason}", file.display()));
    let size = fs::metadata(file).map_err(|error| wrong(error.to_string()))?.len();
    if size > LARGEST {
        return Err(wrong(format!("it has {size} bytes; the limit is {LARGEST}")));
    }
    fs::read_to_string(file).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirm_defaults_to_risky() {
        let mode = |confirm| ConfirmFlag { confirm }.mode();
        assert_eq!(mode(None), ConfirmMode::Risky);
        assert_eq!(mode(Some(ConfirmValue::Never)), ConfirmMode::Never);
        assert_eq!(mode(Some(ConfirmValue::Always)), ConfirmMode::Always);
    }
}
