//! The flags that say who decides, for every verb that hands a goal to a model; and what is made of them.
//!
//! Files and the environment are read here and handed in: the agent reads neither.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;

use super::Ended;
use crate::agent::model::{self, Choice, Key, Model, Patience, Price, Settings, Through};
use crate::agent::{Budgets, Examples, Knowledge, Mind, Pictures, Prompter};
use crate::config::{self, Config};

/// Who decides.
#[derive(clap::Args)]
#[group(skip)]
pub(super) struct MindFlags {
    /// The model that decides: `openai:MODEL` (with --base-url for any server that speaks OpenAI's chat completions),
    /// `anthropic:MODEL`, or `scripted:FILE`; docs/models.md
    #[arg(long, value_name = "PROVIDER:MODEL", help_heading = MODEL)]
    model: Option<Choice>,
    /// Where the model answers [default: $OPENAI_BASE_URL or $ANTHROPIC_BASE_URL, else the vendor's own address]
    #[arg(long, value_name = "URL", requires = "model", help_heading = MODEL)]
    base_url: Option<String>,
    /// Azure's `api-version`, added to the base URL
    #[arg(long, value_name = "VERSION", requires = "base_url", help_heading = MODEL)]
    api_version: Option<String>,
    /// The environment variable that holds the key [default: OPENAI_API_KEY or ANTHROPIC_API_KEY]
    #[arg(long, value_name = "NAME", requires = "model", help_heading = MODEL)]
    key_env: Option<String>,
    /// What a million tokens cost in US dollars: IN,OUT[,CACHED[,CACHE-WRITE]]
    #[arg(long, value_name = "DOLLARS", requires = "model", help_heading = MODEL)]
    price: Option<Price>,
    /// How long an answer may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 250, value_parser = clap::value_parser!(u64).range(1..=3600), help_heading = MODEL)]
    model_timeout: u64,
    /// The most tokens of an answer
    #[arg(long, value_name = "TOKENS", requires = "model", help_heading = MODEL)]
    answer_tokens: Option<u32>,
    /// Have answers come whole, not as they are written
    #[arg(long, help_heading = MODEL)]
    no_stream: bool,
    /// Hold answers to a JSON schema, where the endpoint can
    #[arg(long, requires = "model", help_heading = MODEL)]
    json_schema: bool,
    /// Which pictures the model sees: the clean and the marked one, the marked one, none, or the marked one where the words alone
    /// may not do
    #[arg(long, value_enum, default_value_t = LookFlag::Doubt, help_heading = MODEL)]
    look: LookFlag,
    /// A folder of examples (YAML or JSON) that the model is shown; docs/prompting.md
    #[arg(long, value_name = "DIR", requires = "model", help_heading = MODEL)]
    examples: Option<PathBuf>,
    /// A folder of documents (Markdown or text) in which passages that may help are looked up
    #[arg(long, value_name = "DIR", requires = "model", help_heading = MODEL)]
    knowledge: Option<PathBuf>,
}

const MODEL: &str = "The model";

/// Which pictures a model sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LookFlag {
    Both,
    Marked,
    Text,
    Doubt,
}

impl From<LookFlag> for Pictures {
    fn from(flag: LookFlag) -> Self {
        match flag {
            LookFlag::Both => Self::Both,
            LookFlag::Marked => Self::Marked,
            LookFlag::Text => Self::Text,
            LookFlag::Doubt => Self::Doubt,
        }
    }
}

/// Where a run ends, whatever is still to be done.
#[derive(clap::Args)]
#[group(skip)]
pub(super) struct Limits {
    /// Rounds at most
    #[arg(long, value_name = "ROUNDS", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = LIMITS)]
    steps: u32,
    /// Time at most, such as `90s`, `10m` or `1h 30m`
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = LIMITS)]
    time: Option<Duration>,
    /// Tokens at most, read and written
    #[arg(long, value_name = "TOKENS", help_heading = LIMITS)]
    tokens: Option<u64>,
    /// US dollars at most; needs --price
    #[arg(long, value_name = "DOLLARS", requires = "price", value_parser = dollars, help_heading = LIMITS)]
    dollars: Option<f64>,
}

const LIMITS: &str = "Limits";

impl Limits {
    /// The budgets; where no time was given it is `time`.
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
    let wrong = || "it is no time; say `90s`, `10m` or `1h 30m`".to_owned();
    let time = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let span: jiff::SignedDuration = text.parse().map_err(|_| wrong())?;
            Duration::try_from(span).map_err(|_| wrong())?
        }
    };
    let fits = !time.is_zero() && time <= Duration::from_secs(7 * 24 * 60 * 60);
    fits.then_some(time)
        .ok_or_else(|| "it must be more than nothing, and a week at most".to_owned())
}

fn dollars(text: &str) -> Result<f64, String> {
    let dollars = text.trim_start_matches('$').parse().ok();
    let fits = |dollars: &f64| dollars.is_finite() && *dollars > 0.0;
    dollars.filter(fits).ok_or_else(|| "it is no sum of money; say `0.50`".to_owned())
}

/// A model, and what it is shown beside the screen.
pub(super) struct Thinker {
    model: Arc<dyn Model>,
    pictures: Pictures,
    examples: Examples,
    knowledge: Knowledge,
}

impl MindFlags {
    /// Whether a model was named.
    pub(super) fn is_there(&self) -> bool {
        self.model.is_some()
    }

    /// The model that was named. Whatever is wrong with it is told here, before a phone is touched.
    pub(super) fn open(&self, config: &Config) -> Result<Thinker, Ended> {
        let Some(choice) = &self.model else {
            return Err(Ended::usage(
                "who shall decide? Name a model: `--model openai:MODEL`, `--model anthropic:MODEL`, or `--model scripted:FILE`",
            ));
        };
        let model = model::open(choice, self.settings(choice, config)?).map_err(Ended::usage)?;
        let examples = match &self.examples {
            None => Examples::default(),
            Some(folder) => {
                let files = texts(folder, &["yaml", "yml", "json"])?;
                Examples::with(&files).map_err(Ended::usage)?
            }
        };
        let knowledge = match &self.knowledge {
            None => Knowledge::default(),
            Some(folder) => Knowledge::new(&texts(folder, &["md", "markdown", "txt"])?),
        };
        Ok(Thinker { model, pictures: self.look.into(), examples, knowledge })
    }

    fn settings(&self, choice: &Choice, config: &Config) -> Result<Settings, Ended> {
        let given = self.base_url.clone().or_else(|| config::value(choice.base_url_variable()?));
        let base_url = match (given, &self.api_version) {
            (Some(url), Some(version)) => {
                let joint = if url.contains('?') { '&' } else { '?' };
                Some(format!("{url}{joint}api-version={version}"))
            }
            (url, _) => url,
        };
        let variable = self.key_env.as_deref().or_else(|| choice.key_variable());
        let key = variable.and_then(config::value).map(Key::new);
        if let (Some(named), None) = (&self.key_env, &key) {
            return Err(Ended::usage(format!(
                "--key-env: the environment variable {named} is not set"
            )));
        }
        let script = match choice {
            Choice::Scripted(file) => Some(read(file)?),
            _ => None,
        };
        let whole = Duration::from_secs(self.model_timeout);
        let through = config.proxy.as_ref();
        Ok(Settings {
            base_url,
            key,
            key_variable: self.key_env.clone(),
            patience: Patience { whole, ..Patience::default() },
            price: self.price,
            stream: !self.no_stream,
            json_schema: self.json_schema,
            most_tokens: self.answer_tokens,
            through: through
                .map(|it| Through { proxy: it.address.clone(), except: it.except.clone() }),
            script,
        })
    }
}

impl Thinker {
    /// A mind that asks the model; with other pictures, where they are wanted.
    pub(super) fn mind(&self, pictures: Option<Pictures>) -> Arc<dyn Mind> {
        let mind = Prompter::new(Arc::clone(&self.model))
            .with_pictures(pictures.unwrap_or(self.pictures))
            .with_examples(self.examples.clone())
            .with_knowledge(self.knowledge.clone());
        Arc::new(mind)
    }

    /// Which pictures it sees.
    pub(super) fn pictures(&self) -> Pictures {
        self.pictures
    }
}

/// How large a file of examples, knowledge or replies may be.
const LARGEST: u64 = 16 << 20;

/// How many files a folder may have.
const MOST_FILES: usize = 1000;

/// The files of a folder that end so, by name, with their texts.
fn texts(folder: &Path, endings: &[&str]) -> Result<Vec<(String, String)>, Ended> {
    let wrong = |error: &dyn std::fmt::Display| {
        Ended::usage(format!("cannot read {}: {error}", folder.display()))
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
        return Err(wrong(&format!("it has no file that ends in .{}", endings.join(" or ."))));
    }
    if files.len() > MOST_FILES {
        return Err(wrong(&format!(
            "it has {} files, and {MOST_FILES} are read at most",
            files.len()
        )));
    }
    files.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.into_iter().map(|path| Ok((name(&path), read(&path)?))).collect()
}

fn read(file: &Path) -> Result<String, Ended> {
    let wrong = |why: String| Ended::usage(format!("cannot read {}: {why}", file.display()));
    let size = fs::metadata(file).map_err(|error| wrong(error.to_string()))?.len();
    if size > LARGEST {
        return Err(wrong(format!("it has {size} bytes, and {LARGEST} are read at most")));
    }
    fs::read_to_string(file).map_err(|error| wrong(error.to_string()))
}
