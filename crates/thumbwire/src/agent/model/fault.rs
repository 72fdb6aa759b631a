//! Why a request failed, in words that tell the next move, and whether asking again can help. Reads what the various servers say.

use std::time::Duration;

use serde_json::Value;

/// Why a request failed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    /// In words. Not yet free of keys: [`super::remote`] sees to that.
    pub(super) why: String,
    /// Whether the same request may do better later.
    pub(super) again: Again,
    /// What the server said, where a request written otherwise may do better.
    pub(super) refusal: Option<String>,
}

/// Whether a request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// It would fail again.
    No,
    /// After a pause.
    Yes,
    /// After this pause, which the server named.
    After(Duration),
    /// At once, written otherwise.
    Otherwise,
    /// After a pause, but a second time only: each attempt takes minutes.
    Once,
}

impl Fault {
    /// A failure after which the same request may do better.
    pub(super) fn passing(why: impl Into<String>) -> Self {
        Self { why: why.into(), again: Again::Yes, refusal: None }
    }

    /// A failure that stays.
    pub(super) fn lasting(why: impl Into<String>) -> Self {
        Self { why: why.into(), again: Again::No, refusal: None }
    }
}

/// What a server answered instead of an answer.
pub(super) struct Refused<'a> {
    /// The status.
    pub(super) status: u16,
    /// The body, as far as it was read.
    pub(super) body: &'a str,
    /// The pause that it named.
    pub(super) pause: Option<Duration>,
    /// Its word on whether asking again helps (`x-should-retry`, which OpenAI's and Anthropic's own clients heed).
    pub(super) should: Option<bool>,
    /// The model that was asked for.
    pub(super) model: &'a str,
    /// Whether a key was sent.
    pub(super) keyed: bool,
    /// The variable that holds the key.
    pub(super) variable: &'a str,
}

/// The failure that a refusal is.
pub(super) fn refused(refused: &Refused<'_>) -> Fault {
    let Refused { status, body, model, variable, .. } = *refused;
    let said = said(body);
    // No money is left: no pause helps (OpenAI's error code; OpenRouter and DeepSeek say 402).
    let broke = status == 402 || body.contains("insufficient_quota");
    // 408 and 409 as OpenAI's own client; 529 is Anthropic's "overloaded".
    let passing = matches!(status, 408 | 409 | 429 | 500 | 502..=504 | 529);
    // llama.cpp says 500 where its model has no eyes: "image input is not supported".
    let lower = said.to_lowercase();
    let blind = lower.contains("image") && lower.contains("not support");
    let passing = !broke && !blind && refused.should.unwrap_or(passing);
    let next = match status {
        _ if broke => " The account has no credit left: add some, or take another model.".into(),
        _ if blind => " It takes no pictures: show it words alone.".into(),
        401 if refused.keyed => format!(" Check the key in {variable}."),
        401 => format!(" It wants a key: set {variable}."),
        403 => format!(" Check that the key in {variable} may use {model}."),
        404 | 405 => {
            format!(
                " Check the name of the model, {model}, and the base URL: it ends before `/chat/completions` or `/v1/messages`."
            )
        }
        413 => " The request is too large: show it fewer pictures.".into(),
        429 => " Too many requests or tokens within a minute.".into(),
        _ => String::new(),
    };
    let again = match (passing, refused.pause) {
        (false, _) => Again::No,
        (true, Some(pause)) => Again::After(pause),
        (true, None) => Again::Yes,
    };
    let refusal = matches!(status, 400 | 404 | 422).then(|| body.to_owned());
    Fault { why: format!("status {status}: {said}.{next}"), again, refusal }
}

/// The failure that an error inside an answer is: in a stream, or with status 200. Most name a kind, OpenRouter a number.
pub(super) fn inside(error: &Value) -> Fault {
    let kind = error["type"].as_str().or(error["code"].as_str()).unwrap_or_default();
    let status = error["code"].as_u64().or(error["status"].as_u64());
    // Anthropic's and OpenAI's kinds of errors that stay.
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
    let words = said(&serde_json::json!({ "error": error }).to_string());
    let why = format!("the answer holds an error: {words}.");
    if lasting { Fault::lasting(why) } else { Fault::passing(why) }
}

/// What a body says, in one line, without a full stop. The shapes were seen with these servers:
///
/// * `{"error":{"message":…}}` OpenAI, Azure, Anthropic, OpenRouter, llama.cpp; `{"error":"…"}` Ollama
/// * `{"message":…}` Azure's gateway, older vLLM, Mistral; `{"detail":"…"}` or `{"detail":[{"loc":…,"msg":…}]}` whatever FastAPI serves
/// * a page of HTML, by proxies; some text; nothing
pub(super) fn said(body: &str) -> String {
    let body = body.trim();
    let value: Option<Value> = serde_json::from_str(body).ok();
    let words = match &value {
        Some(value) => json_said(value).unwrap_or_else(|| body.to_owned()),
        None if body.is_empty() => "nothing is said".into(),
        None => title(body).map_or_else(|| body.to_owned(), |title| format!("a page says {title}")),
    };
    brief(&words)
}

fn json_said(value: &Value) -> Option<String> {
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
    // OpenRouter's own message says "Provider returned error"; the provider's words lie beside it.
    let raw = text(&error["metadata"]["raw"]).map(|raw| {
        serde_json::from_str(&raw).ok().and_then(|raw: Value| json_said(&raw)).unwrap_or(raw)
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

/// The title of a page of HTML.
fn title(body: &str) -> Option<&str> {
    let page = body.get(..2000).unwrap_or(body);
    let begin = page.find("<title")?;
    let rest = &page[begin..];
    let rest = &rest[rest.find('>')? + 1..];
    Some(&rest[..rest.find('<')?])
}

/// One line of at most 300 characters, without its full stop. It ends with a whole word: half a key could not be cut out of it.
fn brief(words: &str) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|c| !c.is_control()).collect();
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

    fn fault(status: u16, body: &str) -> Fault {
        let (model, variable) = ("gpt-x", "OPENAI_API_KEY");
        let pause = None;
        refused(&Refused { status, body, pause, should: None, model, keyed: true, variable })
    }

    #[test]
    fn each_servers_way_of_saying_no_is_understood() {
        let check = |body: &str, expected: &str| assert_eq!(said(body), expected);
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
        check("<html><head><title>502 Bad\n Gateway</title></head>", "a page says 502 Bad Gateway");
        check("upstream\u{7} connect error", "upstream connect error");
        check("", "nothing is said");
        check("[]", "[]");
        assert_eq!(said(&"long ".repeat(500)).chars().count(), 301);
        assert_eq!(
            said(&format!("{} half-a-word", "x".repeat(292))),
            format!("{} …", "x".repeat(292))
        );
    }

    #[test]
    fn only_what_may_pass_is_asked_again() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            assert_eq!(fault(status, "{}").again, Again::Yes, "{status}");
        }
        for status in [400, 401, 402, 403, 404, 405, 413, 422, 501] {
            assert_eq!(fault(status, "{}").again, Again::No, "{status}");
        }
        let broke =
            fault(429, r#"{"error":{"message":"You exceeded","code":"insufficient_quota"}}"#);
        assert_eq!(broke.again, Again::No);
        assert!(broke.why.contains("no credit"), "{}", broke.why);
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        assert!(fault(401, "{}").why.ends_with("Check the key in OPENAI_API_KEY."));
        assert!(
            fault(404, "{}").why.contains("Check the name of the model, gpt-x, and the base URL")
        );
        assert!(fault(413, "{}").why.ends_with("show it fewer pictures."));
        let blind = fault(500, r#"{"error":{"message":"image input is not supported"}}"#);
        assert!(blind.why.ends_with("show it words alone.") && blind.again == Again::No);
    }

    #[test]
    fn an_error_inside_an_answer_stays_or_passes() {
        let again = |error: Value| inside(&error).again;
        assert_eq!(again(serde_json::json!({"type": "overloaded_error"})), Again::Yes);
        assert_eq!(again(serde_json::json!({"message": "upstream", "code": 502})), Again::Yes);
        assert_eq!(again(serde_json::json!({"message": "moderated", "code": 403})), Again::No);
        assert_eq!(again(serde_json::json!({"type": "invalid_request_error"})), Again::No);
        assert_eq!(again(serde_json::json!("odd")), Again::Yes);
    }
}
