//! Why a request failed, with the next move, and whether a retry can help. Reads the error formats
//! of various servers.

use std::time::Duration;

use serde_json::Value;
use thumbwire_base::visible::visible;

use super::PromptPart;

/// Why a request failed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RequestError {
    /// The message. It may still contain the key; [`super::http_model`] removes it.
    pub(super) reason: String,
    /// Whether to retry.
    pub(super) again: Retry,
    /// What the server said, if a request with other parameters may succeed.
    pub(super) refusal: Option<String>,
}

/// Whether to retry a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    /// It would fail again.
    Never,
    /// After a pause.
    Backoff,
    /// After this pause, which the server asked for.
    After(Duration),
    /// At once, with other parameters.
    Adapted,
    /// After a pause, but only once: each attempt takes minutes.
    Once,
    /// Not this request, but one whose prompt has no such part: functions are listed in the text,
    /// pictures left out.
    Without(PromptPart),
}

impl RequestError {
    /// A failure that a retry may overcome.
    pub(super) fn transient(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), again: Retry::Backoff, refusal: None }
    }

    /// A failure that a retry cannot overcome.
    pub(super) fn permanent(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), again: Retry::Never, refusal: None }
    }
}

/// An error response.
pub(super) struct ErrorResponse<'a> {
    /// The status.
    pub(super) status: u16,
    /// The body, as far as it was read.
    pub(super) body: &'a str,
    /// The pause that the server asked for.
    pub(super) pause: Option<Duration>,
    /// Whether the server recommends a retry (`x-should-retry`, which OpenAI's and Anthropic's own
    /// clients obey).
    pub(super) should: Option<bool>,
    /// The requested model.
    pub(super) model: &'a str,
    /// Whether a key was sent.
    pub(super) keyed: bool,
    /// The environment variable of the key.
    pub(super) variable: &'a str,
}

/// The failure for an error response.
pub(super) fn refused(refused: &ErrorResponse<'_>) -> RequestError {
    let ErrorResponse { status, body, model, variable, .. } = *refused;
    let output = error_message(body);
    let lower = output.to_lowercase();
    // No credit is left, so no pause helps (OpenAI's error code; OpenRouter and DeepSeek send 402).
    let broke = status == 402 || body.contains("insufficient_quota");
    let is_used_up = status == 429
        && ["per-day", "per day", "daily", "per month", "monthly"]
            .iter()
            .any(|words| lower.contains(words));
    // 408 and 409 as in OpenAI's own client; 520 to 524 are Cloudflare's for a server that did not
    // answer; 529 is Anthropic's "overloaded".
    let passing = matches!(status, 408 | 409 | 429 | 500 | 502..=504 | 520..=524 | 529);
    let blind = rejects_pictures(&output);
    let passing = !broke && !blind && !is_used_up && refused.should.unwrap_or(passing);
    let pause = refused.pause.or_else(|| named_pause(body));
    let next = match status {
        _ if broke => " The account has no credit left: add some, or use another model.".into(),
        _ if is_used_up => " The limit of the day or month is used up: use another model or key.".into(),
        _ if blind => " The model does not accept images: send text only.".into(),
        400 | 413 | 422 | 500 if is_too_long(&lower) => {
            " The prompt is longer than the model's context: allow more at the server (Ollama: num_ctx, llama.cpp: -c, vLLM: --max-model-len), or use another model.".into()
        }
        401 if refused.keyed => format!(" Check the key in {variable}."),
        401 => format!(" The server requires an API key: set {variable}."),
        403 => format!(" Check that the key in {variable} may use {model}."),
        404 | 405 => format!(" Check the model name, {model}, and {BASE_URL}"),
        413 => " The request is too large: send fewer images.".into(),
        429 => " Too many requests or tokens per minute: try again later.".into(),
        _ => String::new(),
    };
    let again = match (passing, pause) {
        _ if blind => Retry::Without(PromptPart::Pictures),
        (false, _) => Retry::Never,
        (true, Some(pause)) => Retry::After(pause),
        (true, None) => Retry::Backoff,
    };
    // llama.cpp sends 500: "tools param requires --jinja flag".
    let adaptable =
        matches!(status, 400 | 404 | 422 | 501) || status == 500 && mentions_tools(body);
    let refusal = adaptable.then(|| body.to_owned());
    RequestError { reason: format!("status {status}: {output}.{next}"), again, refusal }
}

/// The failure for an error inside a stream, or in a response with status 200. Most servers name a
/// kind, OpenRouter a number.
pub(super) fn inside(error: &Value) -> RequestError {
    let kind = error["type"].as_str().or(error["code"].as_str()).unwrap_or_default();
    let number =
        |value: &Value| value.as_u64().or(value.as_str().and_then(|code| code.parse().ok()));
    let status = number(&error["code"]).or(number(&error["status"]));
    // Kinds of permanent errors of Anthropic and OpenAI.
    let stays = [
        "invalid_request",
        "authentication",
        "permission",
        "not_found",
        "request_too_large",
        "billing",
        "insufficient_quota",
    ];
    let lasting = stays.iter().any(|word| kind.contains(word))
        || status.is_some_and(|code| (400..500).contains(&code) && !matches!(code, 408 | 429));
    let text = error_message(&serde_json::json!({ "error": error }).to_string());
    let mut reason = format!("the answer contains an error: {text}.");
    // LM Studio's, for a path that it does not know.
    let is_wrong_address = text.to_lowercase().contains("unexpected endpoint");
    if is_wrong_address {
        reason += &format!(" Check {BASE_URL}");
    }
    if lasting || is_wrong_address {
        RequestError { refusal: Some(text), ..RequestError::permanent(reason) }
    } else {
        RequestError::transient(reason)
    }
}

/// The next step where something else than a model answered.
pub(super) const BASE_URL: &str =
    "the base URL: it must end before `/chat/completions` or `/v1/messages`.";

/// Why an answer with a good status is not a model's.
pub(super) fn not_an_answer(body: &str) -> RequestError {
    let excerpt = error_message(body);
    let first: Option<Value> = body.lines().next().and_then(|line| serde_json::from_str(line).ok());
    if is_page(body) {
        return RequestError::permanent(format!(
            "the answer is a web page, not a model's: {excerpt}. Check {BASE_URL}"
        ));
    }
    if first.is_some_and(|first| first["done"].is_boolean()) {
        return RequestError::permanent(
            "this is Ollama's own API: use the one that is compatible with OpenAI's, whose base URL ends in `/v1`.",
        );
    }
    RequestError::transient(format!("the answer is not JSON: {excerpt}."))
}

fn is_page(body: &str) -> bool {
    let begin = body.trim_start().get(..15).unwrap_or_default().to_ascii_lowercase();
    begin.starts_with("<html") || begin.starts_with("<!doctype html")
}

/// Whether a refusal, in lower case, is about the length of the prompt.
fn is_too_long(refusal: &str) -> bool {
    let lengths = [
        "context length",
        "context window",
        "context size",
        "context_length",
        "n_ctx",
        "prompt is too long",
        "maximum context",
        "too many tokens",
        "input is too long",
        "input token count",
        "exceeds the available context",
    ];
    lengths.iter().any(|words| refusal.contains(words))
}

/// How many pictures a server takes in a request, from its refusal of more.
pub(super) fn picture_limit(refusal: &str) -> Option<usize> {
    let refusal = refusal.to_lowercase().replace("a single", "1").replace("one", "1");
    let limits =
        ["at most", "max", "up to", "only", "no more than", "limit", "allowed", "supports"];
    if !["image", "picture"].iter().any(|word| refusal.contains(word)) {
        return None;
    }
    let is_digit = |c: char| c.is_ascii_digit();
    let mut at = 0;
    while let Some(found) = refusal[at..].find(is_digit) {
        let begin = at + found;
        let rest = refusal[begin..].trim_start_matches(is_digit);
        let end = refusal.len() - rest.len();
        at = end;
        let before = &refusal[refusal.floor_char_boundary(begin.saturating_sub(30))..begin];
        // Sizes and lengths are limits of something else.
        let unit = rest.trim_start_matches([' ', '-', ',', '.']);
        let units = [
            "kb", "mb", "gb", "kib", "mib", "byte", "px", "pixel", "x", "token", "char", "s ", "%",
        ];
        let is_whole = refusal[..begin].ends_with([' ', ':', '=', '(', '"']);
        if is_whole
            && limits.iter().any(|words| before.contains(words))
            && !units.iter().any(|size| unit.starts_with(size))
        {
            return refusal[begin..end].parse().ok().filter(|count| *count <= 100);
        }
    }
    None
}

/// Whether a server takes a message's content as a string only.
pub(super) fn wants_text(refusal: &str) -> bool {
    let refusal = refusal.to_lowercase();
    let strings = [
        "expected a string",
        "str type expected",
        "string_type",
        "valid string",
        "must be a string",
        "should be a string",
        "expected string",
        "not a string",
    ];
    ["content", "sequence"].iter().any(|word| refusal.contains(word))
        && strings.iter().any(|words| refusal.contains(words))
}

/// The pause that a body names: Google's `retryDelay`, and sentences such as "try again in 1m7.5s".
fn named_pause(body: &str) -> Option<Duration> {
    let lower = body.to_lowercase();
    let marks = [
        "\"retrydelay\":",
        "try again in",
        "retry after",
        "retry in",
        "try again after",
        "wait for",
        "please wait",
    ];
    let rest = marks.iter().find_map(|mark| Some(&lower[lower.find(mark)? + mark.len()..]))?;
    pause_of(rest.trim_start_matches([' ', '"']))
}

/// A duration that a text begins with, in numbers with units: `1m7.5s`, `250ms`, `20 seconds`.
pub(super) fn pause_of(text: &str) -> Option<Duration> {
    let mut rest = text.trim_start();
    let mut seconds = 0.0;
    let mut is_named = false;
    loop {
        let digits =
            rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let Some(number) = rest.get(..digits).and_then(|number| number.parse::<f64>().ok()) else {
            break;
        };
        let behind = rest[digits..].trim_start();
        let letters =
            behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let unit = match &behind[..letters] {
            "ms" | "milliseconds" | "millisecond" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86400.0,
            _ => break,
        };
        seconds += number * unit;
        is_named = true;
        rest = behind[letters..].trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    is_named.then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
}

/// Whether an error says that the model takes no images. Seen:
///
/// * llama.cpp, 500: "image input is not supported"
/// * OpenRouter, 404: "No endpoints found that support image input"
/// * text-only servers, 400 or 422: "Unsupported content part type for text-only server:
///   image_url", "unknown variant `image_url`, expected `text`"
fn rejects_pictures(refusal: &str) -> bool {
    let refusal = refusal.to_lowercase();
    let denies = ["not support", "unsupported", "support image input", "unknown variant"];
    picture_limit(&refusal) == Some(0)
        || refusal.contains("image") && denies.iter().any(|words| refusal.contains(words))
}

/// Whether an error is about native functions. Seen:
///
/// * Ollama, 400: "… does not support tools"
/// * vLLM, 400: "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to
///   be set"
/// * OpenRouter, 404: "No endpoints found that support tool use."
/// * llama.cpp, 500: "tools param requires --jinja flag"
/// * OpenAI, 400: "Invalid schema for function …"; Anthropic, 400: "tools.3.custom.input_schema: …"
/// * servers that know no such parameter, 400 or 422: "tools: extra fields not permitted"
pub(super) fn mentions_tools(refusal: &str) -> bool {
    let refusal = refusal.to_lowercase();
    let words = refusal.split(|letter: char| !letter.is_ascii_alphabetic());
    words.into_iter().any(|word| matches!(word, "tool" | "tools" | "function" | "functions"))
}

/// The error message in a body, on one line, without a full stop. Formats seen:
///
/// * `{"error":{"message":…}}`: OpenAI, Azure, Anthropic, OpenRouter, llama.cpp; `{"error":"…"}`:
///   Ollama
/// * `{"message":…}`: Azure's gateway, older vLLM, Mistral; `{"detail":"…"}` or
///   `{"detail":[{"loc":…,"msg":…}]}`: servers on FastAPI
/// * an HTML page, from proxies; plain text; nothing
pub(super) fn error_message(body: &str) -> String {
    let body = body.trim();
    let value: Option<Value> = serde_json::from_str(body).ok();
    let text = match &value {
        Some(value) => json_message(value).unwrap_or_else(|| body.to_owned()),
        None if body.is_empty() => "empty body".into(),
        None => title(body).map_or_else(|| body.to_owned(), |title| format!("HTML page: {title}")),
    };
    truncate(&text)
}

/// The message of an error, wherever the server put it.
fn json_message(value: &Value) -> Option<String> {
    // OpenRouter's own message is "Provider returned error"; the provider's message is beside it.
    let raw = value["error"]["metadata"]["raw"].as_str().filter(|raw| !raw.is_empty()).map(|raw| {
        let inner: Option<Value> = serde_json::from_str(raw).ok();
        inner.and_then(|inner| json_message(&inner)).unwrap_or_else(|| raw.to_owned())
    });
    match (message_of(value, 0), raw) {
        (Some(message), Some(raw)) => Some(format!("{message}: {raw}")),
        (message, raw) => message.or(raw),
    }
}

/// Where messages are, the most telling first.
const MESSAGES: [&str; 14] = [
    "error",
    "message",
    "msg",
    "error_message",
    "error_msg",
    "errormessage",
    "errors",
    "error_description",
    "detail",
    "details",
    "title",
    "reason",
    "description",
    "type",
];

fn message_of(value: &Value, depth: usize) -> Option<String> {
    match value {
        Value::String(text) => {
            // Some gateways put another server's error there as text.
            let inner = text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok());
            let inner: Option<Value> = inner.flatten();
            let inner = inner.filter(|_| depth < 6).and_then(|inner| message_of(&inner, depth + 1));
            inner.or_else(|| (!text.trim().is_empty()).then(|| text.clone()))
        }
        Value::Array(list) if depth < 6 => {
            list.iter().take(8).find_map(|one| message_of(one, depth + 1))
        }
        Value::Object(object) if depth < 6 => {
            let of = |key: &&str| {
                object
                    .iter()
                    .find(|(name, _)| name.eq_ignore_ascii_case(key))
                    .and_then(|(_, value)| message_of(value, depth + 1))
            };
            let message = MESSAGES.iter().find_map(of)?;
            // FastAPI's, with the place.
            let place = object.get("loc").and_then(Value::as_array);
            let place = place.into_iter().flatten().map(|part| match part {
                Value::String(part) => part.clone(),
                part => part.to_string(),
            });
            let place: Vec<String> = place.collect();
            Some(match place.is_empty() {
                true => message,
                false => format!("{}: {message}", place.join(".")),
            })
        }
        _ => None,
    }
}

/// The title of an HTML page, or its heading.
fn title(body: &str) -> Option<&str> {
    let page = &body[..body.floor_char_boundary(2000)];
    let inside = |tag: &str| {
        let rest = &page[page.find(tag)?..];
        let rest = &rest[rest.find('>')? + 1..];
        Some(&rest[..rest.find('<')?]).filter(|text| !text.trim().is_empty())
    };
    inside("<title").or_else(|| inside("<h1"))
}

/// One line of at most 300 characters, without its full stop. It ends with a whole word, because
/// half a key could not be recognized and removed.
fn truncate(text: &str) -> String {
    let text: Vec<&str> = text.split_whitespace().collect();
    let line = text.join(" ");
    let line = visible(&line);
    let line = line.trim_end_matches('.');
    match line.char_indices().nth(300) {
        Some((end, _)) => {
            let line = &line[..end];
            format!("{} …", line.rsplit_once(' ').map_or(line, |(whole, _)| whole))
        }
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(status: u16, body: &str) -> RequestError {
        let (model, variable) = ("gpt-x", "OPENAI_API_KEY");
        let pause = None;
        refused(&ErrorResponse { status, body, pause, should: None, model, keyed: true, variable })
    }

    #[test]
    fn error_messages_of_all_servers_are_extracted() {
        let check = |body: &str, expected: &str| assert_eq!(error_message(body), expected);
        check(r#"{"error":{"message":"Bad thing.","type":"x","code":null}}"#, "Bad thing");
        check(
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "Overloaded",
        );
        check(r#"{"error":"model 'x' not found"}"#, "model 'x' not found");
        check(r#"{"object":"error","message":"too long","code":400}"#, "too long");
        check(r#"{"detail":"Not Found"}"#, "Not Found");
        check(
            r#"{"detail":[{"loc":["body","messages",0],"msg":"field required"}]}"#,
            "body.messages.0: field required",
        );
        check(
            r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"no such image\"}}"}}}"#,
            "Provider returned error: no such image",
        );
        check("<html><head><title>502 Bad\n Gateway</title></head>", "HTML page: 502 Bad Gateway");
        check("upstream\u{7} connect error", "upstream\\u{7} connect error");
        check(r#"[{"error":{"code":400,"message":"no signature"}}]"#, "no signature");
        check(r#"{"success":false,"errors":[{"code":7003,"message":"No route"}]}"#, "No route");
        check(r#"{"error":"{\"error\":{\"message\":\"inner\"}}"}"#, "inner");
        check(r#"{"statusCode":429,"message":"slow down"}"#, "slow down");
        check("<html><body><h1>404 Not Found</h1></body></html>", "HTML page: 404 Not Found");
        check("", "empty body");
        check("[]", "[]");
        assert_eq!(error_message(&"long ".repeat(500)).chars().count(), 301);
        assert_eq!(
            error_message(&format!("{} half-a-word", "x".repeat(292))),
            format!("{} …", "x".repeat(292))
        );
    }

    #[test]
    fn limits_of_pictures_are_read_from_refusals() {
        for (refusal, count) in [
            ("At most 1 image(s) may be provided in one request.", Some(1)),
            ("at most 0 image(s) may be provided", Some(0)),
            ("too many images: 12. Maximum allowed is 10.", Some(10)),
            ("This model supports only one image per request", Some(1)),
            ("Number of images exceeds the limit of 5", Some(5)),
            ("image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes", None),
            ("image dimensions exceed max allowed size: 8000 pixels", None),
            ("This model's maximum context length is 4096 tokens, with images", None),
            ("the maximum is 3", None),
        ] {
            assert_eq!(picture_limit(refusal), count, "{refusal}");
        }
    }

    #[test]
    fn pauses_in_bodies_are_read() {
        let seconds = |seconds: f64| Some(Duration::from_secs_f64(seconds));
        for (body, pause) in [
            (r#"[{"error":{"code":429,"details":[{"retryDelay":"34s"}]}}]"#, seconds(34.0)),
            ("Rate limit reached. Please try again in 1m7.5s. Visit …", seconds(67.5)),
            ("Please try again in 250ms.", seconds(0.25)),
            ("please retry after 20 seconds", seconds(20.0)),
            ("try again in 1 hour and 5 minutes", seconds(3_900.0)),
            ("try again in a while", None),
            ("no pause", None),
        ] {
            assert_eq!(named_pause(body), pause, "{body}");
        }
    }

    #[test]
    fn refusals_of_long_prompts_and_used_up_limits_are_recognized() {
        let long =
            "This model's maximum context length is 4096 tokens. However, you requested 5321";
        assert!(fault(400, long).reason.contains("longer than the model's context"));
        let day = "Rate limit exceeded: free-models-per-day";
        assert_eq!(fault(429, day).again, Retry::Never);
        assert_eq!(fault(524, "<title>A timeout occurred</title>").again, Retry::Backoff);
    }

    #[test]
    fn only_transient_errors_are_retried() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            assert_eq!(fault(status, "{}").again, Retry::Backoff, "{status}");
        }
        for status in [400, 401, 402, 403, 404, 405, 413, 422, 501] {
            assert_eq!(fault(status, "{}").again, Retry::Never, "{status}");
        }
        let broke =
            fault(429, r#"{"error":{"message":"You exceeded","code":"insufficient_quota"}}"#);
        assert_eq!(broke.again, Retry::Never);
        assert!(broke.reason.contains("no credit"), "{}", broke.reason);
    }

    #[test]
    fn error_response_names_the_next_step() {
        assert!(fault(401, "{}").reason.ends_with("Check the key in OPENAI_API_KEY."));
        assert!(fault(404, "{}").reason.contains("Check the model name, gpt-x, and the base URL"));
        assert!(fault(413, "{}").reason.ends_with("send fewer images."));
        let blind = fault(500, r#"{"error":{"message":"image input is not supported"}}"#);
        assert!(blind.reason.ends_with("send text only."));
        for (status, said) in [
            (500, "image input is not supported"),
            (404, "No endpoints found that support image input"),
            (400, "Unsupported content part type for text-only server: image_url"),
            (422, "messages[1]: unknown variant `image_url`, expected `text`"),
        ] {
            let body = serde_json::json!({ "error": { "message": said } }).to_string();
            assert_eq!(fault(status, &body).again, Retry::Without(PromptPart::Pictures), "{said}");
        }
        assert_eq!(fault(400, "the image is too large").again, Retry::Never);
    }

    #[test]
    fn refusals_of_tools_are_recognized() {
        for said in [
            "registry.ollama.ai/library/gemma3:4b does not support tools",
            r#""auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"#,
            "No endpoints found that support tool use. To learn more about provider routing",
            "tools param requires --jinja flag",
            "Invalid schema for function 'app_x': array schema missing items.",
            "tools.3.custom.input_schema: input_schema does not support oneOf",
            r#"{"detail":[{"loc":["body","tools"],"msg":"Extra inputs are not permitted"}]}"#,
        ] {
            assert!(mentions_tools(said), "{said}");
        }
        for said in ["model 'x' not found", "the prompt is too long", "malfunctioning toolbox"] {
            assert!(!mentions_tools(said), "{said}");
        }
        let jinja = r#"{"error":{"code":500,"message":"tools param requires --jinja flag"}}"#;
        assert!(fault(500, jinja).refusal.is_some());
        assert_eq!(fault(500, "{}").refusal, None, "it may pass");
        assert!(fault(501, "{}").refusal.is_some());
    }

    #[test]
    fn errors_inside_answers_are_classified() {
        let again = |error: Value| inside(&error).again;
        assert_eq!(again(serde_json::json!({"type": "overloaded_error"})), Retry::Backoff);
        assert_eq!(again(serde_json::json!({"message": "upstream", "code": 502})), Retry::Backoff);
        assert_eq!(again(serde_json::json!({"message": "moderated", "code": 403})), Retry::Never);
        assert_eq!(again(serde_json::json!({"type": "invalid_request_error"})), Retry::Never);
        assert_eq!(again(serde_json::json!("odd")), Retry::Backoff);
    }
}
