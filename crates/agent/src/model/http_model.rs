//! A model behind an HTTP endpoint: sends requests, retries them where that can help, and returns
//! the answer.
//!
//! A [`ProviderApi`] writes bodies and parses responses; everything else is here. An attempt is one
//! request with its response. It has a time limit, and a stream has another one between two pieces.
//! A pause that the server asks for is kept if the call's deadline and [`backoff::MAX_PAUSE`] allow
//! it. After a cancellation the connection is closed at once, and what was received so far is
//! counted.

use std::io::Read as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use backon::{ExponentialBuilder, Retryable as _};
use flate2::read::GzDecoder;
use jiff::Timestamp;
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION};
use serde_json::{Map, Value};
use thumbwire_device::Size;
use tokio::time::{Instant, timeout, timeout_at};

use super::backoff;
use super::error::{self, RequestError, Retry};
use super::http::{Endpoint, is_unresolved, root_cause};
use super::image::{self, Limits};
use super::price::Price;
use super::sse::SseParser;
use super::{
    Model, ModelError, ModelResponse, OnText, Prompt, PromptPart, ToolCall, ToolSupport, Usage,
};
use thumbwire_core::action::Call;

/// More than any answer has: 100,000 tokens as events are about 20 MB.
const MAX_BYTES: usize = 32 << 20;

/// The longest answer in one piece, the longest event of a stream, and the most of texts and
/// arguments together, in bytes.
const MAX_CONTENT: usize = 4 << 20;

/// How many calls of an answer are read. It is refused with fewer, by who reads its calls.
const MAX_CALLS: usize = 64;

/// How much of an error response is read.
const MAX_OF_REFUSAL: usize = 64 << 10;

/// Time limits and retries of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestTimeouts {
    /// For one attempt, from the request to the end of the answer.
    pub whole: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
    /// The maximum number of retries.
    pub retries: u32,
    /// The pause before the first retry. It doubles each time, up to 30 s, plus a random delay of
    /// up to as much again.
    pub pause: Duration,
}

impl Default for RequestTimeouts {
    /// UFO's 250 s for an answer; four retries.
    fn default() -> Self {
        Self {
            whole: Duration::from_secs(250),
            idle: Duration::from_secs(100),
            retries: 4,
            pause: Duration::from_millis(500),
        }
    }
}

/// Writes bodies and parses responses.
pub(super) trait ProviderApi: Send + Sync {
    /// The request's body.
    fn body(&self, prompt: &Prompt, schema: Option<&Value>) -> Value;

    /// Parses a complete response.
    fn parse_response(
        &self,
        body: &Value,
        reading: &mut PartialResponse,
    ) -> Result<(), RequestError>;

    /// Parses an event of a stream.
    fn parse_event(&self, event: &Value, reading: &mut PartialResponse)
    -> Result<(), RequestError>;

    /// Stops sending what the server rejects. Returns how to ask again; `None` if nothing changed.
    fn adapt(&self, refusal: &str) -> Option<Retry>;
}

/// What was received of an answer.
#[derive(Debug, Default)]
pub(super) struct PartialResponse {
    /// Its text.
    pub(super) text: String,
    /// Its calls.
    pub(super) calls: Vec<PartialCall>,
    /// Its reasoning, where the server sends it beside the text.
    pub(super) reasoning: String,
    /// What the provider wants back with the calls.
    pub(super) kept: Value,
    /// Whether the model refused to answer.
    pub(super) refused: bool,
    /// Its usage, as last reported.
    pub(super) spent: Usage,
    /// Whether it was truncated at the token limit.
    pub(super) cut_off: bool,
    /// Whether the text is complete, though the usage may follow.
    pub(super) ended: bool,
    /// Whether nothing follows.
    pub(super) over: bool,
}

impl PartialResponse {
    /// Adds a call. After too many nothing more is read.
    pub(super) fn add_call(&mut self, call: PartialCall) {
        if self.calls.len() <= MAX_CALLS {
            self.calls.push(call);
        }
        if self.calls.len() > MAX_CALLS {
            (self.ended, self.over) = (true, true);
        }
    }

    /// How many bytes its texts and arguments have.
    fn content(&self) -> usize {
        let arguments = self.calls.iter().map(|call| call.arguments.len());
        self.text.len() + self.reasoning.len() + arguments.sum::<usize>()
    }
}

/// What was received of a call.
#[derive(Debug, Default)]
pub(super) struct PartialCall {
    /// Its place in the answer, which later pieces name; `None` if the server sent none.
    pub(super) index: Option<u64>,
    /// Its id; empty if the server sent none.
    pub(super) id: String,
    /// The function's name.
    pub(super) name: String,
    /// The arguments, as far as they came.
    pub(super) arguments: String,
    /// What the provider wants back with the call.
    pub(super) kept: Value,
}

/// Whether functions are sent natively.
pub(super) struct NativeTools {
    /// The operator's choice, known without asking the server.
    pub(super) support: ToolSupport,
    /// Whether the server rejected them.
    pub(super) refused: AtomicBool,
}

impl NativeTools {
    pub(super) fn new(support: ToolSupport) -> Self {
        Self { support, refused: AtomicBool::new(false) }
    }

    /// What is known by now.
    fn now(&self) -> ToolSupport {
        match self.support {
            ToolSupport::Maybe if self.refused.load(Ordering::Relaxed) => ToolSupport::No,
            support => support,
        }
    }
}

/// A model behind an HTTP endpoint.
pub(super) struct HttpModel<D> {
    /// Its provider and name.
    pub(super) name: String,
    /// Its name.
    pub(super) model: String,
    /// The environment variable of the key, for error messages.
    pub(super) variable: String,
    pub(super) endpoint: Endpoint,
    pub(super) dialect: D,
    pub(super) tools: NativeTools,
    pub(super) patience: RequestTimeouts,
    pub(super) limits: Limits,
    pub(super) price: Option<Price>,
}

#[async_trait]
impl<D: ProviderApi> Model for HttpModel<D> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn picture_size(&self, size: Size) -> Size {
        self.limits.target(size)
    }

    fn tool_support(&self) -> ToolSupport {
        self.tools.now()
    }

    async fn complete(
        &self,
        prompt: &Prompt,
        schema: Option<&Value>,
        call: &Call,
        on_text: &OnText<'_>,
    ) -> Result<ModelResponse, ModelError> {
        let spent = Mutex::new(Usage::default());
        let asked = async {
            let prompt = self.fitted(prompt).await?;
            self.ask(&prompt, schema, call, on_text, &spent).await
        };
        let ended = tokio::select! {
            biased;
            () = call.cancelled.cancelled() => Err(Interrupt::Cancelled),
            answered = timeout_at(call.deadline, asked) => answered.map_err(|_| Interrupt::TimedOut),
        };
        let mut spent = spent.into_inner().unwrap_or_default();
        if let Some(price) = &self.price {
            spent.dollars = Some(price.of(&spent));
        }
        let rejected = match &ended {
            Ok(Err(RequestError { again: Retry::Without(part), .. })) => Some(*part),
            _ => None,
        };
        let (reason, cancelled) = match ended {
            Ok(Ok(answer)) => return Ok(ModelResponse { usage: spent, ..answer }),
            Ok(Err(fault)) => (fault.reason, false),
            Err(Interrupt::Cancelled) => ("the call was cancelled.".into(), true),
            Err(Interrupt::TimedOut) => {
                ("the call timed out before an answer came; allow more time.".into(), false)
            }
        };
        let reason = format!("{} at {}: {reason}", self.name, self.endpoint.shown());
        let reason = self.unkeyed(&reason);
        Err(ModelError { reason, cancelled, rejected, usage: spent })
    }
}

/// What ends the wait for an answer.
enum Interrupt {
    Cancelled,
    TimedOut,
}

impl<D: ProviderApi> HttpModel<D> {
    async fn fitted(&self, prompt: &Prompt) -> Result<Prompt, RequestError> {
        let (prompt, limits) = (prompt.clone(), self.limits);
        let fitted = tokio::task::spawn_blocking(move || image::fitted(&prompt, limits)).await;
        let fitted =
            fitted.map_err(|_| RequestError::permanent("the images could not be prepared."))?;
        fitted.map_err(|error| RequestError::permanent(format!("failed to {error}.")))
    }

    /// Asks until there is an answer, or a retry cannot help.
    async fn ask(
        &self,
        prompt: &Prompt,
        schema: Option<&Value>,
        call: &Call,
        on_text: &OnText<'_>,
        spent: &Mutex<Usage>,
    ) -> Result<ModelResponse, RequestError> {
        let pauses = ExponentialBuilder::default()
            .with_min_delay(self.patience.pause)
            .with_max_delay(Duration::from_secs(30))
            .with_max_times(self.patience.retries as usize)
            .with_jitter();
        let late = AtomicU32::new(0);
        let begun = AtomicBool::new(false);
        // A retry starts the answer again, on a new line.
        let hear = |text: &str| {
            if !text.is_empty() {
                begun.store(true, Ordering::Relaxed);
                on_text(text);
            }
        };
        let attempt = || async {
            if begun.swap(false, Ordering::Relaxed) {
                on_text("\n");
            }
            let attempted =
                timeout(self.patience.whole, self.attempt(prompt, schema, &hear, spent));
            let mut answered = attempted.await.unwrap_or_else(|_| {
                let limit = self.patience.whole.as_secs_f32();
                Err(RequestError { again: Retry::Once, ..RequestError::transient(format!("no complete answer within {limit} s; allow more time, or use a faster model.")) })
            });
            if let Err(fault) = &mut answered {
                let refusal = fault.refusal.take();
                let adapted = refusal.as_ref().and_then(|text| self.dialect.adapt(text));
                if let Some(again) = adapted {
                    fault.again = match again {
                        Retry::Without(part) if !prompt.has(part) => Retry::Adapted,
                        again => again,
                    };
                } else if fault.again != Retry::Without(PromptPart::Pictures)
                    && !prompt.tools.is_empty()
                    && refusal.as_ref().is_some_and(|said| error::mentions_tools(said))
                {
                    self.without_tools(fault);
                }
                if fault.again == Retry::Once && late.fetch_add(1, Ordering::Relaxed) > 0 {
                    fault.again = Retry::Never;
                }
            }
            answered
        };
        let left = || call.deadline.saturating_duration_since(Instant::now());
        let answered = attempt
            .retry(pauses)
            .when(|fault| !matches!(fault.again, Retry::Never | Retry::Without(_)))
            .adjust(|fault, pause| backoff::retry_delay(fault.again, pause, left()))
            .notify(|fault, pause| {
                tracing::info!(
                    model = self.name,
                    ?pause,
                    "retrying: {}",
                    self.unkeyed(&fault.reason)
                );
                if let Ok(mut spent) = spent.lock() {
                    spent.retries += 1;
                }
            })
            .await;
        answered.map_err(|mut fault| {
            let asked_too_much = |pause: &Duration| *pause > backoff::MAX_PAUSE.min(left());
            if let Retry::After(pause) = fault.again
                && asked_too_much(&pause)
            {
                let pause = pause.as_secs();
                fault.reason += &format!(
                    " The server asks for a pause of {pause} s, which is too long: try again later."
                );
            }
            let retries = spent.lock().map_or(0, |spent| spent.retries);
            if retries > 0 {
                fault.reason += &format!(" Gave up after {} attempts.", retries + 1);
            }
            fault
        })
    }

    /// The server rejects functions: the prompt must list them, unless the operator wants them
    /// sent.
    fn without_tools(&self, fault: &mut RequestError) {
        match self.tools.support {
            ToolSupport::Yes => {
                fault.again = Retry::Never;
                fault.reason += " The server or the model does not take functions: omit `--tool-calls native`, or use another model.";
            }
            ToolSupport::No | ToolSupport::Maybe => {
                self.tools.refused.store(true, Ordering::Relaxed);
                fault.again = Retry::Without(PromptPart::Tools);
            }
        }
    }

    fn unkeyed(&self, text: &str) -> String {
        self.endpoint.key.as_ref().map_or_else(|| text.to_owned(), |key| key.cut_from(text))
    }

    /// One request with its response.
    async fn attempt(
        &self,
        prompt: &Prompt,
        schema: Option<&Value>,
        on_text: &OnText<'_>,
        spent: &Mutex<Usage>,
    ) -> Result<ModelResponse, RequestError> {
        let Endpoint { client, url, headers, .. } = &self.endpoint;
        let body = self.dialect.body(prompt, schema).to_string();
        let request = client.post(url.clone()).headers(headers.clone()).body(body);
        let mut response = request.send().await.map_err(|error| unreached(&error))?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        let mut tally = Tally { reading: PartialResponse::default(), spent };
        let is_plain = !response.headers().contains_key(CONTENT_ENCODING);
        let events = content_type(response.headers()).contains("text/event-stream");
        if events && is_plain {
            self.listen(&mut response, &mut tally.reading, on_text).await?;
        } else {
            let body = read(&mut response, MAX_CONTENT, self.patience.idle).await?;
            self.understand(&body, &mut tally.reading)?;
            on_text(&tally.reading.text);
        }
        let reading = &mut tally.reading;
        let mut text = std::mem::take(&mut reading.text);
        if text.trim().is_empty() && reading.calls.is_empty() && is_object(&reading.reasoning) {
            text = std::mem::take(&mut reading.reasoning);
        }
        let call =
            |PartialCall { id, name, arguments, kept, .. }| ToolCall { id, name, arguments, kept };
        let calls = std::mem::take(&mut reading.calls).into_iter().map(call).collect();
        let (refused, truncated) = (reading.refused, reading.cut_off);
        let kept = std::mem::take(&mut reading.kept);
        Ok(ModelResponse { text, calls, kept, refused, truncated, usage: Usage::default() })
    }

    /// Reads a stream of events to its end.
    async fn listen(
        &self,
        response: &mut Response,
        reading: &mut PartialResponse,
        on_text: &OnText<'_>,
    ) -> Result<(), RequestError> {
        let mut events = SseParser::default();
        let mut bytes = 0;
        let mut limit = self.patience.whole;
        loop {
            let piece = match timeout(limit, response.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                // The answer is complete. Losing only its usage is no reason to retry.
                _ if reading.ended => return Ok(()),
                Ok(Ok(None)) => break,
                Ok(Err(error)) => return Err(cut(&root_cause(&error))),
                Err(_) => {
                    return Err(cut(&format!("no data for {} s", limit.as_secs_f32())));
                }
            };
            limit = self.patience.idle;
            bytes += piece.len();
            if bytes > MAX_BYTES {
                return Err(too_long(MAX_BYTES));
            }
            for event in events.push(&piece) {
                if self.take(&event, reading, on_text)? {
                    return Ok(());
                }
            }
        }
        if let Some(event) = events.end() {
            self.take(&event, reading, on_text)?;
        }
        if reading.ended { Ok(()) } else { Err(cut("the connection closed")) }
    }

    /// Handles one event. Returns whether it is the last.
    fn take(
        &self,
        event: &str,
        reading: &mut PartialResponse,
        on_text: &OnText<'_>,
    ) -> Result<bool, RequestError> {
        // The end of OpenAI's streams.
        if event.trim() == "[DONE]" {
            reading.ended = true;
            reading.over = true;
            return Ok(true);
        }
        if event.trim().is_empty() {
            return Ok(false);
        }
        if event.len() > MAX_CONTENT || reading.content() > MAX_CONTENT {
            return Err(too_long(MAX_CONTENT));
        }
        let event: Value = serde_json::from_str(event).map_err(|_| {
            let output = error::error_message(&self.unkeyed(event));
            RequestError::transient(format!("an event is not JSON: {output}."))
        })?;
        let before = reading.text.len();
        let taken = self.dialect.parse_event(&event, reading);
        on_text(reading.text.get(before..).unwrap_or_default());
        taken.map(|()| reading.over)
    }

    /// Parses a response that came in one piece.
    fn understand(&self, body: &[u8], reading: &mut PartialResponse) -> Result<(), RequestError> {
        let text = String::from_utf8_lossy(body);
        let begins = text.trim_start();
        // Some servers stream with another content type.
        if begins.starts_with("data:") || begins.starts_with("event:") {
            let mut events = SseParser::default();
            let mut all = events.push(body);
            all.extend(events.end());
            for event in all {
                self.take(&event, reading, &|_| ())?;
            }
            return if reading.ended { Ok(()) } else { Err(cut("the body ended")) };
        }
        let value: Value =
            serde_json::from_str(&text).map_err(|_| error::not_an_answer(&self.unkeyed(&text)))?;
        self.dialect.parse_response(&value, reading)
    }

    async fn refused(&self, mut response: Response) -> RequestError {
        let status = response.status();
        if status.is_redirection() {
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let to = to.unwrap_or_default().split('?').next().unwrap_or_default();
            return RequestError::permanent(format!(
                "status {}: redirect to {to:?}, which the key was not meant for; if that address is right, pass it as the base URL.",
                status.as_u16()
            ));
        }
        let headers = response.headers();
        let should = headers.get("x-should-retry").map(|word| word == "true");
        let pause = backoff::named(headers, Timestamp::now());
        // An incomplete body is better than none.
        let body = read_some(&mut response, MAX_OF_REFUSAL, self.patience.idle).await;
        error::refused(&error::ErrorResponse {
            status: status.as_u16(),
            // Before it is truncated: half a key could not be recognized.
            body: &self.unkeyed(&String::from_utf8_lossy(&body)),
            pause,
            should,
            model: &self.model,
            keyed: self.endpoint.key.is_some(),
            variable: &self.variable,
        })
    }
}

/// Whether the reasoning is an answer as a whole, or ends with its mark and an answer: servers that
/// take a model's answer for its reasoning send it there. An object among other text is a draft.
fn is_object(reasoning: &str) -> bool {
    let text = reasoning.rsplit_once("</think>").map_or(reasoning, |(_, answer)| answer).trim();
    let text =
        text.strip_prefix("```json").and_then(|text| text.strip_suffix("```")).unwrap_or(text);
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

/// Counts the usage of an attempt however it ends, even if it is dropped.
struct Tally<'a> {
    reading: PartialResponse,
    spent: &'a Mutex<Usage>,
}

impl Drop for Tally<'_> {
    fn drop(&mut self) {
        let mut cost = std::mem::take(&mut self.reading.spent);
        if self.reading.ended || cost.input_tokens + cost.output_tokens > 0 {
            cost.calls = 1;
        }
        if let Ok(mut spent) = self.spent.lock() {
            spent.add(&cost);
        }
    }
}

fn content_type(headers: &HeaderMap) -> String {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.unwrap_or_default().to_ascii_lowercase()
}

/// Reads a body of at most `most` bytes, with at most `idle` between two pieces.
async fn read(
    response: &mut Response,
    max: usize,
    idle: Duration,
) -> Result<Vec<u8>, RequestError> {
    let mut body = Vec::new();
    loop {
        // The first piece arrives only after the model has finished.
        let chunk = response.chunk();
        let piece = if body.is_empty() { Ok(chunk.await) } else { timeout(idle, chunk).await };
        match piece {
            Ok(Ok(Some(piece))) if body.len() + piece.len() > max => return Err(too_long(max)),
            Ok(Ok(Some(piece))) => body.extend_from_slice(&piece),
            Ok(Ok(None)) => return unzipped(body, max),
            Ok(Err(error)) => return Err(cut(&root_cause(&error))),
            Err(_) => return Err(cut(&format!("no data for {} s", idle.as_secs_f32()))),
        }
    }
}

/// Reads a body until it ends, breaks off, pauses or is long enough.
async fn read_some(response: &mut Response, max: usize, idle: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < max
        && let Ok(Ok(Some(piece))) = timeout(idle, response.chunk()).await
    {
        body.extend_from_slice(&piece);
    }
    body.truncate(max);
    unzipped(body, max).unwrap_or_default()
}

/// The body without the compression that some gateways use although nobody asked for it.
fn unzipped(body: Vec<u8>, max: usize) -> Result<Vec<u8>, RequestError> {
    const GZIP: &[u8] = &[0x1f, 0x8b];
    if !body.starts_with(GZIP) {
        return Ok(body);
    }
    let mut plain = Vec::new();
    let unpacked = GzDecoder::new(&*body).take(max as u64 + 1).read_to_end(&mut plain);
    match unpacked {
        Ok(_) if plain.len() > max => Err(too_long(max)),
        // What came of a body that broke off is better than none.
        Err(error) if plain.is_empty() => Err(cut(&error.to_string())),
        Ok(_) | Err(_) => Ok(plain),
    }
}

fn unreached(error: &reqwest::Error) -> RequestError {
    let reason = root_cause(error);
    if error.is_connect() {
        let next = match is_unresolved(error) {
            true => "Check the network, the name in the base URL, and HTTPS_PROXY behind a proxy",
            false => "Check the base URL, and that the server is running",
        };
        RequestError::transient(format!("cannot connect: {reason}. {next}."))
    } else {
        RequestError::transient(format!("the request failed: {reason}."))
    }
}

fn cut(reason: &str) -> RequestError {
    RequestError::transient(format!("the answer broke off: {reason}."))
}

fn too_long(max: usize) -> RequestError {
    RequestError::permanent(format!(
        "the answer is longer than {} MB, which no model's answer is; check the base URL.",
        max >> 20
    ))
}
