//! From what the operator says to a model.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use reqwest::header::HeaderValue;

use super::anthropic::{self, Anthropic};
use super::http::{Endpoint, Key, Shown, Through};
use super::openai::{self, OpenAi};
use super::picture::Limits;
use super::price::Price;
use super::remote::{Patience, Remote};
use super::{Model, Scripted};

/// Which model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// `openai:MODEL`: whatever speaks OpenAI's chat completions.
    OpenAi(String),
    /// `anthropic:MODEL`: whatever speaks Anthropic's Messages.
    Anthropic(String),
    /// `scripted:FILE`: replies out of a file.
    Scripted(PathBuf),
}

impl Choice {
    /// The variable in which the key is looked for, unless the operator names another.
    pub fn key_variable(&self) -> Option<&'static str> {
        match self {
            Self::OpenAi(_) => Some("OPENAI_API_KEY"),
            Self::Anthropic(_) => Some("ANTHROPIC_API_KEY"),
            Self::Scripted(_) => None,
        }
    }

    /// The variable in which the base URL is looked for: the one that the vendor's own client reads.
    pub fn base_url_variable(&self) -> Option<&'static str> {
        match self {
            Self::OpenAi(_) => Some("OPENAI_BASE_URL"),
            Self::Anthropic(_) => Some("ANTHROPIC_BASE_URL"),
            Self::Scripted(_) => None,
        }
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ways = "say `openai:MODEL` (with --base-url for any server that speaks OpenAI's chat completions), `anthropic:MODEL` or \
                    `scripted:FILE`";
        let Some((provider, rest)) = text.trim().split_once(':') else {
            return Err(format!("the model {text:?} has no provider before it; {ways}"));
        };
        let rest = rest.trim();
        if rest.is_empty() {
            return Err(format!("{provider:?} has no model behind it; {ways}"));
        }
        match provider.trim().to_lowercase().as_str() {
            "openai" => Ok(Self::OpenAi(rest.into())),
            "anthropic" => Ok(Self::Anthropic(rest.into())),
            "scripted" => Ok(Self::Scripted(rest.into())),
            // Names of Ollama's models have a colon: `llama3.2:11b`.
            _ => Err(format!("there is no provider {provider:?}; {ways}")),
        }
    }
}

/// How a model is asked. Nothing of it is read from files or the environment here.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it answers; `None` is the vendor's own address. A query in it stays, as Azure's `api-version`.
    pub base_url: Option<String>,
    /// The key; `None` for servers that want none.
    pub key: Option<Key>,
    /// The variable that the key was looked for in, for advice; `None` is [`Choice::key_variable`].
    pub key_variable: Option<String>,
    /// How long is waited, and how often asked again.
    pub patience: Patience,
    /// What tokens cost.
    pub price: Option<Price>,
    /// Whether answers come as they are written.
    pub stream: bool,
    /// Whether answers are held to the JSON schema that is asked for.
    pub json_schema: bool,
    /// The most tokens of an answer; `None` is the server's own, or for Anthropic's dialect, which must be told, 8192.
    pub most_tokens: Option<u32>,
    /// A proxy.
    pub through: Option<Through>,
    /// What stands in the file of [`Choice::Scripted`].
    pub script: Option<String>,
}

impl Default for Settings {
    /// The vendor's address, no key, streaming.
    fn default() -> Self {
        Self {
            base_url: None,
            key: None,
            key_variable: None,
            patience: Patience::default(),
            price: None,
            stream: true,
            json_schema: false,
            most_tokens: None,
            through: None,
            script: None,
        }
    }
}

/// A model, ready to be asked. Nothing is sent yet.
///
/// # Errors
/// When an address is none, the vendor's own wants a key and there is none, or a script cannot be read; with the next move.
pub fn open(choice: &Choice, settings: Settings) -> Result<Arc<dyn Model>, String> {
    match choice {
        Choice::OpenAi(model) => {
            keyed(choice, &settings)?;
            let base = settings.base_url.as_deref().unwrap_or(openai::BASE);
            // The host alone decides; whether the whole is an address, is seen below.
            let host = host(base);
            let shown =
                if openai::is_azure(&host) { Shown::Header("api-key") } else { Shown::Bearer };
            let mut dialect = OpenAi::new(model, &host, settings.stream);
            dialect.most_tokens = settings.most_tokens;
            dialect.shaped = settings.json_schema;
            let own = host == "api.openai.com" || openai::is_azure(&host);
            let limits = if own { Limits::OPENAI } else { Limits::OPENAI.elsewhere() };
            let endpoint = endpoint(base, openai::PATH, shown, &settings)?;
            Ok(remote(choice, model, endpoint, dialect, limits, &settings))
        }
        Choice::Anthropic(model) => {
            keyed(choice, &settings)?;
            let base = settings.base_url.as_deref().unwrap_or(anthropic::BASE);
            let mut dialect = Anthropic::new(model, settings.stream);
            dialect.most_tokens = settings.most_tokens.unwrap_or(anthropic::MOST_TOKENS);
            dialect.shaped = settings.json_schema;
            let own = host(base) == "api.anthropic.com";
            let limits = if own { Limits::ANTHROPIC } else { Limits::ANTHROPIC.elsewhere() };
            let mut endpoint =
                endpoint(base, anthropic::PATH, Shown::Header("x-api-key"), &settings)?;
            let version = HeaderValue::from_static(anthropic::VERSION);
            endpoint.headers.insert("anthropic-version", version);
            Ok(remote(choice, model, endpoint, dialect, limits, &settings))
        }
        Choice::Scripted(file) => {
            let script = settings.script.ok_or_else(|| {
                format!("the script {} was not read; name a file of replies", file.display())
            })?;
            Ok(Arc::new(Scripted::read(&file.display().to_string(), &script, settings.price)?))
        }
    }
}

/// The vendors' own endpoints want a key: that is said before anything is sent.
fn keyed(choice: &Choice, settings: &Settings) -> Result<(), String> {
    if settings.key.is_some() || settings.base_url.is_some() {
        return Ok(());
    }
    let variable = variable(choice, settings);
    Err(format!(
        "no key: set {variable}, or give the address of a server that wants none with --base-url"
    ))
}

fn variable(choice: &Choice, settings: &Settings) -> String {
    let named = settings.key_variable.clone();
    named.unwrap_or_else(|| choice.key_variable().unwrap_or_default().to_owned())
}

fn host(base: &str) -> String {
    let url = reqwest::Url::parse(base.trim()).ok();
    url.and_then(|url| url.host_str().map(str::to_lowercase)).unwrap_or_default()
}

fn endpoint(base: &str, path: &str, shown: Shown, settings: &Settings) -> Result<Endpoint, String> {
    Endpoint::open(base, path, settings.key.clone(), shown, settings.through.as_ref())
}

fn remote<D: super::remote::Dialect + 'static>(
    choice: &Choice,
    model: &str,
    endpoint: Endpoint,
    dialect: D,
    limits: Limits,
    settings: &Settings,
) -> Arc<dyn Model> {
    let provider = match choice {
        Choice::Anthropic(_) => "anthropic",
        _ => "openai",
    };
    Arc::new(Remote {
        name: format!("{provider} {model}"),
        model: model.to_owned(),
        variable: variable(choice, settings),
        endpoint,
        dialect,
        patience: settings.patience,
        limits,
        price: settings.price,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_provider_and_what_it_has() {
        let check = |text: &str, expected| assert_eq!(text.parse::<Choice>(), Ok(expected));
        check("openai:gpt-5", Choice::OpenAi("gpt-5".into()));
        check("OpenAI: llama3.2-vision:11b", Choice::OpenAi("llama3.2-vision:11b".into()));
        check("anthropic:claude-x", Choice::Anthropic("claude-x".into()));
        check("scripted:a b/replies.jsonl", Choice::Scripted("a b/replies.jsonl".into()));
        for text in ["", "gpt-5", "openai:", "llama3:8b", "scripted: "] {
            let why = text.parse::<Choice>().unwrap_err();
            assert!(why.contains("`openai:MODEL`"), "{why}");
        }
    }

    #[test]
    fn what_is_missing_is_said_before_anything_is_sent() {
        let open = |choice: &str, settings| open(&choice.parse().unwrap(), settings).err().unwrap();
        let why = open("openai:gpt-5", Settings::default());
        assert!(why.contains("set OPENAI_API_KEY"), "{why}");
        let named = Settings { key_variable: Some("MY_KEY".into()), ..Settings::default() };
        assert!(open("anthropic:claude-x", named).contains("set MY_KEY"));
        let base = Settings { base_url: Some("localhost:1".into()), ..Settings::default() };
        assert!(open("openai:x", base).contains("http://127.0.0.1:8080/v1"));
        assert!(open("scripted:none.jsonl", Settings::default()).contains("none.jsonl"));
    }

    #[test]
    fn a_model_is_called_by_its_provider_and_name() {
        let settings =
            Settings { base_url: Some("http://127.0.0.1:1/v1".into()), ..Settings::default() };
        let name = |choice: &str| open(&choice.parse().unwrap(), settings.clone()).unwrap().name();
        assert_eq!(name("openai:llama3:8b"), "openai llama3:8b");
        assert_eq!(name("anthropic:claude-x"), "anthropic claude-x");
    }
}
