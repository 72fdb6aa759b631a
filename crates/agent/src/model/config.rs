//! Makes a model from the operator's settings.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use reqwest::header::HeaderValue;

use super::anthropic::{self, Anthropic};
use super::http::{ApiKey, AuthScheme, Endpoint, ProxySettings};
use super::http_model::{HttpModel, NativeTools, RequestTimeouts};
use super::image::Limits;
use super::openai::{self, OpenAi};
use super::price::Price;
use super::{Model, ScriptedModel, ToolCallMode, ToolSupport};

/// Which model to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSpec {
    /// `openai:MODEL`: any server with OpenAI's chat completions API.
    OpenAi(String),
    /// `anthropic:MODEL`: any server with Anthropic's Messages API.
    Anthropic(String),
    /// `scripted:FILE`: replies from a file.
    Scripted(PathBuf),
}

impl ModelSpec {
    /// The environment variable for the key, unless the operator names another one.
    pub fn key_variable(&self) -> Option<&'static str> {
        match self {
            Self::OpenAi(_) => Some("OPENAI_API_KEY"),
            Self::Anthropic(_) => Some("ANTHROPIC_API_KEY"),
            Self::Scripted(_) => None,
        }
    }

    /// The environment variable for the base URL: the one that the vendor's own client reads.
    pub fn base_url_variable(&self) -> Option<&'static str> {
        match self {
            Self::OpenAi(_) => Some("OPENAI_BASE_URL"),
            Self::Anthropic(_) => Some("ANTHROPIC_BASE_URL"),
            Self::Scripted(_) => None,
        }
    }
}

/// Models that read text alone, by parts of their names, as their makers' model lists say:
/// DeepSeek's, OpenAI's GPT-3.5 and small reasoning models, Llama and Qwen without vision, and the
/// usual code models.
const TEXT_ONLY: [&str; 16] = [
    "deepseek-chat",
    "deepseek-reasoner",
    "deepseek-v",
    "deepseek-r",
    "deepseek-coder",
    "gpt-3.5",
    "o1-mini",
    "o3-mini",
    "gpt-oss",
    "llama3.1",
    "llama3.3",
    "llama-3.1",
    "llama-3.3",
    "codestral",
    "qwen2.5-coder",
    "qwen3-coder",
];

impl ModelSpec {
    /// Whether it takes pictures, as far as its name tells: models do, unless they are known not
    /// to. A script reads nothing.
    pub fn takes_pictures(&self) -> bool {
        let name = match self {
            Self::OpenAi(model) | Self::Anthropic(model) => model.to_ascii_lowercase(),
            Self::Scripted(_) => return false,
        };
        let sees = ["-vl", "vision"].iter().any(|part| name.contains(part));
        sees || !TEXT_ONLY.iter().any(|part| name.contains(part))
    }
}

impl FromStr for ModelSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ways = "use `openai:MODEL` (with --base-url for any server with OpenAI's chat completions API), `anthropic:MODEL` or \
                    `scripted:FILE`";
        let Some((provider, rest)) = text.trim().split_once(':') else {
            return Err(format!("the model {text:?} has no provider; {ways}"));
        };
        let rest = rest.trim();
        if rest.is_empty() {
            return Err(format!("the provider {provider:?} has no model; {ways}"));
        }
        match provider.trim().to_lowercase().as_str() {
            "openai" => Ok(Self::OpenAi(rest.into())),
            "anthropic" => Ok(Self::Anthropic(rest.into())),
            "scripted" => Ok(Self::Scripted(rest.into())),
            // The names of Ollama's models contain colons: `llama3.2:11b`.
            _ => Err(format!("unknown provider {provider:?}; {ways}")),
        }
    }
}

/// How to ask a model. Nothing is read from files or the environment here.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The base URL; `None` for the vendor's own. A query is kept, such as Azure's `api-version`.
    pub base_url: Option<String>,
    /// The API key; `None` for servers that need none.
    pub key: Option<ApiKey>,
    /// The variable that the key was looked up in, for error messages; `None` is
    /// [`ModelSpec::key_variable`].
    pub key_variable: Option<String>,
    /// Time limits and retries.
    pub patience: RequestTimeouts,
    /// The price of tokens.
    pub price: Option<Price>,
    /// Whether to stream answers.
    pub stream: bool,
    /// Whether the endpoint enforces the JSON schema. With [`ToolCallMode::Auto`] the answer is
    /// then JSON text.
    pub json_schema: bool,
    /// How the model calls functions.
    pub tool_calls: ToolCallMode,
    /// The maximum number of output tokens; `None` is the server's default, or 8192 for Anthropic's
    /// API, which requires a number.
    pub max_tokens: Option<u32>,
    /// A proxy.
    pub through: Option<ProxySettings>,
    /// The content of the file of [`ModelSpec::Scripted`].
    pub script: Option<String>,
}

impl Default for Settings {
    /// The vendor's address, no key, streaming.
    fn default() -> Self {
        Self {
            base_url: None,
            key: None,
            key_variable: None,
            patience: RequestTimeouts::default(),
            price: None,
            stream: true,
            json_schema: false,
            tool_calls: ToolCallMode::default(),
            max_tokens: None,
            through: None,
            script: None,
        }
    }
}

/// Makes a model. Sends nothing yet.
///
/// # Errors
/// A URL is invalid, the vendor's endpoint needs a key and there is none, or the script cannot be
/// read; with the next move.
pub fn open(spec: &ModelSpec, settings: Settings) -> Result<Arc<dyn Model>, String> {
    match spec {
        ModelSpec::OpenAi(model) => {
            keyed(spec, &settings)?;
            let base = settings.base_url.as_deref().unwrap_or(openai::BASE);
            // Only the host matters here; the URL is checked below.
            let host = host(base);
            let scheme = if openai::is_azure(&host) {
                AuthScheme::Header("api-key")
            } else {
                AuthScheme::Bearer
            };
            let mut dialect = OpenAi::new(model, &host, settings.stream);
            dialect.max_tokens = settings.max_tokens;
            dialect.enforces_schema = settings.json_schema;
            let own = host == "api.openai.com" || openai::is_azure(&host);
            let limits = if own { Limits::OPENAI } else { Limits::OPENAI.for_other_servers() };
            let endpoint = endpoint(base, openai::PATH, scheme, &settings)?;
            Ok(remote(spec, model, endpoint, dialect, limits, &settings))
        }
        ModelSpec::Anthropic(model) => {
            keyed(spec, &settings)?;
            let base = settings.base_url.as_deref().unwrap_or(anthropic::BASE);
            let mut dialect = Anthropic::new(model, settings.stream);
            dialect.max_tokens = settings.max_tokens.unwrap_or(anthropic::MAX_TOKENS);
            dialect.enforces_schema = settings.json_schema;
            let own = host(base) == "api.anthropic.com";
            let limits =
                if own { Limits::ANTHROPIC } else { Limits::ANTHROPIC.for_other_servers() };
            let mut endpoint =
                endpoint(base, anthropic::PATH, AuthScheme::Header("x-api-key"), &settings)?;
            let version = HeaderValue::from_static(anthropic::VERSION);
            endpoint.headers.insert("anthropic-version", version);
            Ok(remote(spec, model, endpoint, dialect, limits, &settings))
        }
        ModelSpec::Scripted(file) => {
            let script = settings.script.ok_or_else(|| {
                format!("the script {} was not read; pass a file of replies", file.display())
            })?;
            let name = file.display().to_string();
            let model = ScriptedModel::read(&name, &script, settings.price)?;
            Ok(Arc::new(model.with_tool_calls(settings.tool_calls)))
        }
    }
}

/// The vendors' own endpoints need a key. Says so before anything is sent.
fn keyed(spec: &ModelSpec, settings: &Settings) -> Result<(), String> {
    if settings.key.is_some() || settings.base_url.is_some() {
        return Ok(());
    }
    let variable = variable(spec, settings);
    Err(format!("no API key: set {variable}, or pass --base-url for a server that needs no key"))
}

fn variable(spec: &ModelSpec, settings: &Settings) -> String {
    let named = settings.key_variable.clone();
    named.unwrap_or_else(|| spec.key_variable().unwrap_or_default().to_owned())
}

fn host(base: &str) -> String {
    let url = reqwest::Url::parse(base.trim()).ok();
    url.and_then(|url| url.host_str().map(str::to_lowercase)).unwrap_or_default()
}

fn endpoint(
    base: &str,
    path: &str,
    scheme: AuthScheme,
    settings: &Settings,
) -> Result<Endpoint, String> {
    Endpoint::open(base, path, settings.key.clone(), scheme, settings.through.as_ref())
}

fn remote<D: super::http_model::ProviderApi + 'static>(
    spec: &ModelSpec,
    model: &str,
    endpoint: Endpoint,
    dialect: D,
    limits: Limits,
    settings: &Settings,
) -> Arc<dyn Model> {
    let provider = match spec {
        ModelSpec::OpenAi(_) => "openai",
        ModelSpec::Anthropic(_) => "anthropic",
        ModelSpec::Scripted(_) => "scripted",
    };
    let support = match settings.tool_calls {
        ToolCallMode::Auto if settings.json_schema => ToolSupport::No,
        ToolCallMode::Auto => ToolSupport::Maybe,
        ToolCallMode::Native => ToolSupport::Yes,
        ToolCallMode::Text => ToolSupport::No,
    };
    Arc::new(HttpModel {
        tools: NativeTools::new(support),
        name: format!("{provider} {model}"),
        model: model.to_owned(),
        variable: variable(spec, settings),
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
    fn model_choice_parses() {
        let check = |text: &str, expected| assert_eq!(text.parse::<ModelSpec>(), Ok(expected));
        check("openai:gpt-5", ModelSpec::OpenAi("gpt-5".into()));
        check("OpenAI: llama3.2-vision:11b", ModelSpec::OpenAi("llama3.2-vision:11b".into()));
        check("anthropic:claude-x", ModelSpec::Anthropic("claude-x".into()));
        check("scripted:a b/replies.jsonl", ModelSpec::Scripted("a b/replies.jsonl".into()));
        for text in ["", "gpt-5", "openai:", "llama3:8b", "scripted: "] {
            let reason = text.parse::<ModelSpec>().unwrap_err();
            assert!(reason.contains("`openai:MODEL`"), "{reason}");
        }
    }

    #[test]
    fn missing_settings_are_reported_before_any_request() {
        let open = |spec: &str, settings| open(&spec.parse().unwrap(), settings).err().unwrap();
        let reason = open("openai:gpt-5", Settings::default());
        assert!(reason.contains("set OPENAI_API_KEY"), "{reason}");
        let named = Settings { key_variable: Some("MY_KEY".into()), ..Settings::default() };
        assert!(open("anthropic:claude-x", named).contains("set MY_KEY"));
        let base = Settings { base_url: Some("localhost:1".into()), ..Settings::default() };
        assert!(open("openai:x", base).contains("http://127.0.0.1:8080/v1"));
        assert!(open("scripted:none.jsonl", Settings::default()).contains("none.jsonl"));
    }

    #[test]
    fn model_name_has_provider_and_name() {
        let settings =
            Settings { base_url: Some("http://127.0.0.1:1/v1".into()), ..Settings::default() };
        let name = |spec: &str| open(&spec.parse().unwrap(), settings.clone()).unwrap().name();
        assert_eq!(name("openai:llama3:8b"), "openai llama3:8b");
        assert_eq!(name("anthropic:claude-x"), "anthropic claude-x");
    }
}
