//! Model flags, shared by all verbs that give a goal to a model, and how they become a model.
//!
//! Files and the environment are read here and passed on: the agent reads neither.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::CliError;
use super::one_of::one_of;
use super::role_flags::{ModelChoice, RoleFlags};
use crate::config::{self, Config};
use thumbwire_agent::model::{
    self, ApiKey, Model, ModelSpec, Price, ProxySettings, RequestTimeouts, Settings, ToolCallMode,
};
use thumbwire_agent::{
    Budgets, ConfirmMode, CoordinateUnit, Examples, Knowledge, ModelPolicy, Policy, PromptForm,
    ScreenshotMode,
};
use thumbwire_base::files::{self, Folder};

/// Flags that choose and configure the model.
#[derive(clap::Args)]
#[group(skip)]
pub(super) struct ModelFlags {
    /// Model to use: `openai:MODEL` (with --base-url, any server with OpenAI's chat completions
    /// API), `anthropic:MODEL` or `scripted:FILE`; see docs/models.md
    #[arg(short, long, value_name = "PROVIDER:MODEL")]
    model: Option<ModelSpec>,
    /// Base URL of the model's API [default: $OPENAI_BASE_URL or $ANTHROPIC_BASE_URL, else the
    /// vendor's URL]
    #[arg(long, value_name = "URL", requires = "model", help_heading = MODEL)]
    base_url: Option<String>,
    /// Azure `api-version` to append to the base URL
    #[arg(long, value_name = "VERSION", requires = "base_url", help_heading = MODEL)]
    api_version: Option<String>,
    /// Environment variable with the API key [default: OPENAI_API_KEY or ANTHROPIC_API_KEY]
    #[arg(long, value_name = "NAME", requires = "model", help_heading = MODEL)]
    api_key_env: Option<String>,
    /// Price of a million tokens in US dollars: IN,OUT[,CACHED[,CACHE-WRITE]]
    #[arg(long, value_name = "DOLLARS", requires = "model", help_heading = MODEL)]
    price: Option<Price>,
    /// Timeout of a model response, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 250, value_parser = clap::value_parser!(u64).range(1..=3600), help_heading = MODEL)]
    model_timeout: u64,
    /// Maximum number of tokens in a model response
    #[arg(long, value_name = "TOKENS", requires = "model", help_heading = MODEL)]
    max_output_tokens: Option<u32>,
    /// Don't stream model responses
    #[arg(long, help_heading = MODEL)]
    no_stream: bool,
    /// Constrain responses to a JSON schema, if the endpoint supports it
    #[arg(long, requires = "model", help_heading = MODEL)]
    json_schema: bool,
    /// How the model calls functions: `native` (function calls of the API), `text` (JSON text), or
    /// `auto` (native where the server takes it, and text with --json-schema)
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = one_of(TOOL_CALLS), help_heading = MODEL)]
    tool_calls: ToolCallMode,
    /// Screenshots that the model sees: `both` (clean and annotated), `annotated`, `none`, or
    /// `auto` (annotated, only when the text of the screen may not be enough) [default: both, or
    /// none if the model takes no pictures]
    #[arg(long, value_name = "WHICH", value_parser = one_of(SCREENSHOTS), help_heading = MODEL)]
    screenshots: Option<ScreenshotMode>,
    /// How prompts show the screen, apps and past actions: `compact`, `coordinates` (with the place
    /// of each control) or `ufo` (JSON rows as UFO's MobileAgent has them)
    #[arg(long, value_name = "FORM", default_value = "compact", value_parser = one_of(PROMPTS), help_heading = MODEL)]
    prompt: PromptForm,
    /// Coordinates that the model reads and writes: `pixels` of its pictures, or `thousandths` of
    /// their sides [default: by the model's name]
    #[arg(long, value_name = "UNIT", value_parser = one_of(COORDINATES), help_heading = MODEL)]
    coordinates: Option<CoordinateUnit>,
    /// Directory of examples (YAML or JSON) to add to the prompt; see docs/models.md
    #[arg(long, value_name = "DIR", requires = "model", help_heading = MODEL)]
    examples: Option<PathBuf>,
    /// Directory of documents (Markdown or text) to search for relevant passages
    #[arg(long, value_name = "DIR", requires = "model", help_heading = MODEL)]
    knowledge: Option<PathBuf>,
    #[command(flatten)]
    roles: RoleFlags,
}

pub(super) const MODEL: &str = "Model";

/// The replies of `scripted:demo`, which reach the demo's goal on the virtual phone.
pub(super) const DEMO_SCRIPT: &str = include_str!("demo/maps.jsonl");

/// Which screenshots a model sees.
const SCREENSHOTS: &[(&str, ScreenshotMode)] = &[
    ("both", ScreenshotMode::Both),
    ("annotated", ScreenshotMode::Annotated),
    ("none", ScreenshotMode::None),
    ("auto", ScreenshotMode::Auto),
];

/// How prompts are written.
const PROMPTS: &[(&str, PromptForm)] = &[
    ("compact", PromptForm::Compact),
    ("coordinates", PromptForm::Coordinates),
    ("ufo", PromptForm::Ufo),
];

/// How a model names places.
const COORDINATES: &[(&str, CoordinateUnit)] =
    &[("pixels", CoordinateUnit::Pixels), ("thousandths", CoordinateUnit::Thousandths)];

/// How a model calls functions.
const TOOL_CALLS: &[(&str, ToolCallMode)] =
    &[("auto", ToolCallMode::Auto), ("native", ToolCallMode::Native), ("text", ToolCallMode::Text)];

/// Limits that end a run, finished or not.
#[derive(Clone, clap::Args)]
#[group(skip)]
pub(super) struct BudgetFlags {
    /// Maximum duration, such as `90s`, `10m` or `1h 30m`
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = LIMITS)]
    timeout: Option<Duration>,
    /// Maximum number of steps
    #[arg(long, value_name = "STEPS", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_STEPS)), help_heading = LIMITS)]
    max_steps: u32,
    /// Maximum number of tokens, input and output together
    #[arg(long, value_name = "TOKENS", help_heading = LIMITS)]
    max_tokens: Option<u64>,
    /// Maximum cost in US dollars; requires --price
    #[arg(long, value_name = "DOLLARS", requires = "price", value_parser = dollars, help_heading = LIMITS)]
    max_cost: Option<f64>,
}

pub(super) const LIMITS: &str = "Limits";

/// The highest `--max-steps`.
pub(super) const MAX_STEPS: u32 = 10_000;

impl BudgetFlags {
    /// The budgets, with `time` as the default time limit.
    pub(super) fn budgets(&self, time: Duration) -> Budgets {
        Budgets {
            rounds: self.max_steps,
            time: Some(self.timeout.unwrap_or(time)),
            tokens: self.max_tokens,
            dollars: self.max_cost,
        }
    }
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
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

pub(super) fn dollars(text: &str) -> Result<f64, String> {
    let dollars = text.trim_start_matches('$').parse().ok();
    let fits = |dollars: &f64| dollars.is_finite() && *dollars > 0.0;
    dollars.filter(fits).ok_or_else(|| "expected an amount such as 0.50".to_owned())
}

/// When to ask for confirmation.
#[derive(Debug, Clone, Copy, clap::Args)]
#[group(skip)]
pub(super) struct ConfirmFlag {
    /// When to ask before an action: `always` (anything that changes something), `risky` (paying,
    /// deleting, sending) or `never`. If nobody can be asked, such an action is refused [default:
    /// risky]
    #[arg(long, value_name = "WHEN", value_parser = one_of(CONFIRM_MODES))]
    confirm: Option<ConfirmMode>,
}

const CONFIRM_MODES: &[(&str, ConfirmMode)] = &[
    ("always", ConfirmMode::Always),
    ("risky", ConfirmMode::Risky),
    ("never", ConfirmMode::Never),
];

impl ConfirmFlag {
    /// Whether the flag was given.
    pub(super) fn is_given(self) -> bool {
        self.confirm.is_some()
    }

    /// The mode to use, whether or not somebody can be asked.
    pub(super) fn mode(self) -> ConfirmMode {
        self.confirm.unwrap_or(ConfirmMode::Risky)
    }
}

/// Models with their prompt settings.
pub(super) struct ModelSetup {
    model: Arc<dyn Model>,
    planner: Option<Arc<dyn Model>>,
    judge: Option<Arc<dyn Model>>,
    pictures: ScreenshotMode,
    form: PromptForm,
    unit: CoordinateUnit,
    examples: Examples,
    knowledge: Knowledge,
}

impl ModelFlags {
    /// Whether `--model` was given.
    pub(super) fn is_there(&self) -> bool {
        self.model.is_some()
    }

    /// The price that was passed, as text.
    pub(super) fn price(&self) -> Option<String> {
        let Price { input, output, cached, cache_write } = self.price?;
        Some(format!("{input},{output},{cached},{cache_write}"))
    }

    /// Opens the models, if one was named.
    pub(super) fn open_named(&self, config: &Config) -> Result<Option<ModelSetup>, CliError> {
        self.is_there().then(|| self.open(config)).transpose()
    }

    /// Opens the named models. Reports every configuration error here, before a phone is used.
    pub(super) fn open(&self, config: &Config) -> Result<ModelSetup, CliError> {
        let Some(main) = self.choice() else {
            return Err(CliError::usage(
                "no model given. Set `--model openai:MODEL`, `--model anthropic:MODEL` or `--model scripted:FILE`. \
                 To try it without an account: `thumbwire run \"Search for restaurants on Maps\" --model scripted:demo \
                 --device virtual`",
            ));
        };
        if self.json_schema && self.tool_calls == ToolCallMode::Native {
            return Err(CliError::usage(
                "--json-schema constrains JSON text, but `--tool-calls native` asks for native calls: omit one of them",
            ));
        }
        let open = |choice: &ModelChoice| {
            model::open(&choice.model, self.settings(choice, config)?).map_err(CliError::usage)
        };
        let model = open(&main)?;
        let planner = self.roles.planner(&main).as_ref().map(open).transpose()?;
        let judge = self.roles.judge(&main).as_ref().map(open).transpose()?;
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
        let pictures = self.screenshots.unwrap_or_else(|| pictures_for(&main.model));
        let unit = self.coordinates.unwrap_or_else(|| CoordinateUnit::of_model(&model.name()));
        let form = self.prompt;
        Ok(ModelSetup { model, planner, judge, pictures, form, unit, examples, knowledge })
    }

    /// Refuses a cost limit that cannot be kept, because the price of a model is unknown.
    pub(super) fn check_prices(&self, limits: &BudgetFlags) -> Result<(), CliError> {
        let Some(main) = self.choice().filter(|_| limits.max_cost.is_some()) else { return Ok(()) };
        let roles = [self.roles.planner(&main), self.roles.judge(&main)];
        match roles.into_iter().flatten().find(|role| role.price.is_none()) {
            Some(role) => Err(CliError::usage(format!(
                "--max-cost needs the price of every model: add {}",
                role.price_flag
            ))),
            None => Ok(()),
        }
    }

    /// The model that decides.
    fn choice(&self) -> Option<ModelChoice> {
        Some(ModelChoice {
            model: self.model.clone()?,
            base_url: self.base_url.clone(),
            key_env: self.api_key_env.clone(),
            price: self.price,
            key_flag: "--api-key-env",
            price_flag: "--price",
        })
    }

    fn settings(&self, choice: &ModelChoice, config: &Config) -> Result<Settings, CliError> {
        let ModelChoice { model: choice, base_url, key_env, price, key_flag, .. } = choice;
        // The version belongs to the main model's address.
        let is_main = *base_url == self.base_url;
        let given = base_url.clone().or_else(|| config::value(choice.base_url_variable()?));
        let base_url = match (given, self.api_version.as_ref().filter(|_| is_main)) {
            (Some(url), Some(version)) => {
                let joint = if url.contains('?') { '&' } else { '?' };
                Some(format!("{url}{joint}api-version={version}"))
            }
            (url, _) => url,
        };
        let variable = key_env.as_deref().or_else(|| choice.key_variable());
        let key = variable.and_then(config::value).map(ApiKey::new);
        if let (Some(named), None) = (key_env, &key) {
            return Err(CliError::usage(format!(
                "{key_flag}: the environment variable {named} is not set"
            )));
        }
        let script = match choice {
            ModelSpec::Scripted(name) if name == Path::new("demo") => Some(DEMO_SCRIPT.to_owned()),
            ModelSpec::Scripted(file) => Some(read(file)?),
            _ => None,
        };
        let whole = Duration::from_secs(self.model_timeout);
        Ok(Settings {
            base_url,
            key,
            key_variable: key_env.clone(),
            patience: RequestTimeouts { whole, ..RequestTimeouts::default() },
            price: *price,
            stream: !self.no_stream,
            json_schema: self.json_schema,
            tool_calls: self.tool_calls,
            max_tokens: self.max_output_tokens,
            through: proxy(config),
            script,
        })
    }
}

/// The proxy for servers on the internet.
pub(super) fn proxy(config: &Config) -> Option<ProxySettings> {
    let proxy = config.proxy.as_ref()?;
    Some(ProxySettings { proxy: proxy.address.clone(), except: proxy.except.clone() })
}

/// Both screenshots, as in the UFO MobileAgent strategy, where the model takes pictures.
fn pictures_for(choice: &ModelSpec) -> ScreenshotMode {
    match choice.takes_pictures() {
        true => ScreenshotMode::Both,
        false => ScreenshotMode::None,
    }
}

impl ModelSetup {
    /// A policy that asks the models; `pictures` overrides which screenshots it sees.
    pub(super) fn policy(&self, pictures: Option<ScreenshotMode>) -> Arc<dyn Policy> {
        let policy = ModelPolicy::new(Arc::clone(&self.model))
            .with_pictures(pictures.unwrap_or(self.pictures))
            .with_prompt_form(self.form)
            .with_coordinates(self.unit)
            .with_examples(self.examples.clone())
            .with_knowledge(self.knowledge.clone());
        let policy = match &self.planner {
            Some(planner) => policy.with_planner(Arc::clone(planner)),
            None => policy,
        };
        match &self.judge {
            Some(judge) => Arc::new(policy.with_judge(Arc::clone(judge))),
            None => Arc::new(policy),
        }
    }

    /// Which screenshots the model sees.
    pub(super) fn pictures(&self) -> ScreenshotMode {
        self.pictures
    }
}

/// Size limit of a file with examples, knowledge or scripted responses, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Maximum number of files that are read from a folder.
const MAX_FILES: usize = 1000;

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
    if files.len() > MAX_FILES {
        return Err(wrong(&format!("it contains {} files; the limit is {MAX_FILES}", files.len())));
    }
    files.sort();
    let inside = Folder::new(folder);
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default();
        let text = inside.read_text(Path::new(name), MAX_BYTES);
        let text = text.map_err(|error| unread(&path, &error))?;
        Ok((name.to_string_lossy().into_owned(), text))
    };
    files.into_iter().map(read).collect()
}

/// The text of a file of limited size.
pub(super) fn read(file: &Path) -> Result<String, CliError> {
    files::read_text(file, MAX_BYTES).map_err(|error| unread(file, &error))
}

fn unread(file: &Path, error: &io::Error) -> CliError {
    CliError::usage(format!("cannot read {}: {error}", file.display()))
}
