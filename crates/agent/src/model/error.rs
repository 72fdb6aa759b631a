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
    // No credit is left, so no pause helps (OpenAI's error code; OpenRouter and DeepSeek send 402).
    let broke = status == 402 || body.contains("insufficient_quota");
    // 408 and 409 as in OpenAI's own client; 529 is Anthropic's "overloaded".
    let passing = matches!(status, 408 | 409 | 429 | 500 | 502..=504 | 529);
    let blind = rejects_pictures(&output);
    let passing = !broke && !blind && refused.should.unwrap_or(passing);
    let next = match status {
        _ if broke => " The account has no credit left: add some, or use another model.".into(),
        _ if blind => " The model does not accept images: send text only.".into(),
        401 if refused.keyed => format!(" Check the key in {variable}."),
        401 => format!(" The server requires an API key: set {variable}."),
        403 => format!(" Check that the key in {variable} may use {model}."),
        404 | 405 => {
            format!(
                " Check the model name, {model}, and the base URL: it must end before `/chat/completions` or `/v1/messages`."
            )
        }
        413 => " The request is too large: send fewer images.".into(),
        429 => " Too many requests or tokens per minute: try again later.".into(),
        _ => String::new(),
    };
    let again = match (passing, refused.pause) {
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
    let status = error["code"].as_u64().or(error["status"].as_u64());
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
    let reason = format!("the answer contains an error: {text}.");
    if lasting {
        RequestError { refusal: Some(text), ..RequestError::permanent(reason) }
    } else {
        RequestError::transient(reason)
    }
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
    refusal.contains("image") && denies.iter().any(|words| refusal.contains(words))
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

fn json_message(value: &Value) -> Option<String> {
    let error = &value["error"];
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let detail = || {
        let first = &value["detail"][0];
        let place: Vec<String> = first["loc"]
            .as_array()?
            .iter()
            .map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned))
            .collect();
        Some(format!("{}: {}", place.join("."), first["msg"].as_str()?))
    };
    // OpenRouter's own message is "Provider returned error"; the provider's message is beside it.
    let raw = text(&error["metadata"]["raw"]).map(|raw| {
        serde_json::from_str(&raw).ok().and_then(|raw: Value| json_message(&raw)).unwrap_or(raw)
    });
    let message =
        text(&error["message"]).or_else(|| text(error)).or_else(|| text(&value["message"]));
    match (message, raw) {
        (Some(message), Some(raw)) => Some(format!("{message}: {raw}")),
        (message, raw) => message.or(raw),
    }
    .or_else(|| text(&value["detail"]))
    .or_else(detail)
    .or_else(|| text(&error["type"]))
}

/// The title of an HTML page.
fn title(body: &str) -> Option<&str> {
    let page = body.get(..2000).unwrap_or(body);
    let begin = page.find("<title")?;
    let rest = &page[begin..];
    let rest = &rest[rest.find('>')? + 1..];
    Some(&rest[..rest.find('<')?])
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
        check("", "empty body");
        check("[]", "[]");
        assert_eq!(error_message(&"long ".repeat(500)).chars().count(), 301);
        assert_eq!(
            error_message(&format!("{} half-a-word", "x".repeat(292))),
            format!("{} …", "x".repeat(292))
        );
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
