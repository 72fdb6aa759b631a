//! A model behind an endpoint: what is asked goes out, is asked again where that can help, and comes back as an answer.
//!
//! A [`Dialect`] writes bodies and reads answers; everything else is here. One attempt is a request with its answer. It has a time of its
//! own; a stream that began may not pause long either. A pause that the server names is kept, as long as the call's deadline and
//! [`pauses::LONGEST`] allow. When the call is taken back, the connection is dropped at once, and what was read so far is counted.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use backon::{ExponentialBuilder, Retryable as _};
use jiff::Timestamp;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::events::Events;
use super::fault::{self, Again, Fault};
use super::http::{Endpoint, because};
use super::pauses;
use super::picture::{self, Limits};
use super::price::Price;
use super::{Answer, Heard, Model, Prompt, Spent, Unanswered};
use crate::action::Call;

/// More than any answer has: 100,000 tokens as events are some 20 MB.
const MOST_BYTES: usize = 32 << 20;

/// What is read of a refusal.
const MOST_OF_REFUSAL: usize = 64 << 10;

/// How long is waited for an answer, and how often it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For one attempt, to its last word.
    pub whole: Duration,
    /// Between two pieces of an answer that has begun.
    pub idle: Duration,
    /// How many times a request is sent again.
    pub retries: u32,
    /// The pause before the first retry; each further one is twice as long, up to 30 s, and up to twice that by chance.
    pub pause: Duration,
}

impl Default for Patience {
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

/// Writes bodies and reads answers.
pub(super) trait Dialect: Send + Sync {
    /// The request's body.
    fn body(&self, prompt: &Prompt, shape: Option<&Value>) -> Value;

    /// Takes in a whole answer.
    fn whole(&self, body: &Value, reading: &mut Reading) -> Result<(), Fault>;

    /// Takes in an event of a stream.
    fn event(&self, event: &Value, reading: &mut Reading) -> Result<(), Fault>;

    /// What the server would not take is left out from now on; whether there was something.
    fn adapt(&self, refusal: &str) -> bool;
}

/// What was read of an answer.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// Its words.
    pub(super) text: String,
    /// Its tokens, as they were told last.
    pub(super) spent: Spent,
    /// Whether it was cut off at the most tokens that it may have.
    pub(super) cut_off: bool,
    /// Whether it is whole, though counts may follow.
    pub(super) ended: bool,
    /// Whether nothing follows.
    pub(super) over: bool,
}

/// A model behind an endpoint.
pub(super) struct Remote<D> {
    /// Its provider and name.
    pub(super) name: String,
    /// Its name alone.
    pub(super) model: String,
    /// The variable that holds the key, for advice.
    pub(super) variable: String,
    pub(super) endpoint: Endpoint,
    pub(super) dialect: D,
    pub(super) patience: Patience,
    pub(super) limits: Limits,
    pub(super) price: Option<Price>,
}

#[async_trait]
impl<D: Dialect> Model for Remote<D> {
    fn name(&self) -> String {
        self.name.clone()
    }

    async fn answer(
        &self,
        prompt: &Prompt,
        shape: Option<&Value>,
        call: &Call,
        heard: &Heard<'_>,
    ) -> Result<Answer, Unanswered> {
        let spent = Mutex::new(Spent::default());
        let asked = async {
            let prompt = self.fitted(prompt).await?;
            self.ask(&prompt, shape, call, heard, &spent).await
        };
        let ended = tokio::select! {
            biased;
            () = call.cancelled.cancelled() => Err(Ended::Cancelled),
            answered = timeout_at(call.deadline, asked) => answered.map_err(|_| Ended::Late),
        };
        let mut spent = spent.into_inner().unwrap_or_default();
        if let Some(price) = &self.price {
            spent.dollars = Some(price.of(&spent));
        }
        let (why, cancelled) = match ended {
            Ok(Ok(answer)) => return Ok(Answer { spent, ..answer }),
            Ok(Err(fault)) => (fault.why, false),
            Err(Ended::Cancelled) => ("the call was taken back.".into(), true),
            Err(Ended::Late) => {
                ("the call's time is over and no answer has come; allow more time.".into(), false)
            }
        };
        let why = format!("{} at {}: {why}", self.name, self.endpoint.shown());
        let why = self.endpoint.key.as_ref().map_or_else(|| why.clone(), |key| key.cut_from(&why));
        Err(Unanswered { why, cancelled, spent })
    }
}

/// What ends the waiting for an answer.
enum Ended {
    Cancelled,
    Late,
}

impl<D: Dialect> Remote<D> {
    async fn fitted(&self, prompt: &Prompt) -> Result<Prompt, Fault> {
        let (prompt, limits) = (prompt.clone(), self.limits);
        let fitted = tokio::task::spawn_blocking(move || picture::fitted(&prompt, limits)).await;
        let fitted = fitted.map_err(|_| Fault::lasting("the pictures could not be made ready."))?;
        fitted.map_err(|error| Fault::lasting(format!("failed to {error}.")))
    }

    /// Asks until there is an answer, or asking again does not help.
    async fn ask(
        &self,
        prompt: &Prompt,
        shape: Option<&Value>,
        call: &Call,
        heard: &Heard<'_>,
        spent: &Mutex<Spent>,
    ) -> Result<Answer, Fault> {
        let pauses = ExponentialBuilder::default()
            .with_min_delay(self.patience.pause)
            .with_max_delay(Duration::from_secs(30))
            .with_max_times(self.patience.retries as usize)
            .with_jitter();
        let late = AtomicU32::new(0);
        let begun = AtomicBool::new(false);
        // A retry begins the answer anew: who watches sees a new line.
        let hear = |words: &str| {
            if !words.is_empty() {
                begun.store(true, Ordering::Relaxed);
                heard(words);
            }
        };
        let attempt = || async {
            if begun.swap(false, Ordering::Relaxed) {
                heard("\n");
            }
            let attempted = timeout(self.patience.whole, self.attempt(prompt, shape, &hear, spent));
            let mut answered = attempted.await.unwrap_or_else(|_| {
                let limit = self.patience.whole.as_secs_f32();
                Err(Fault { again: Again::Once, ..Fault::passing(format!("no whole answer came within {limit} s; allow more time, or take a faster model.")) })
            });
            if let Err(fault) = &mut answered {
                let adapted = fault.refusal.take().is_some_and(|said| self.dialect.adapt(&said));
                if adapted {
                    fault.again = Again::Otherwise;
                }
                if fault.again == Again::Once && late.fetch_add(1, Ordering::Relaxed) > 0 {
                    fault.again = Again::No;
                }
            }
            answered
        };
        let left = || call.deadline.saturating_duration_since(Instant::now());
        let answered = attempt
            .retry(pauses)
            .when(|fault| fault.again != Again::No)
            .adjust(|fault, pause| pauses::until_again(fault.again, pause, left()))
            .notify(|fault, pause| {
                tracing::info!(
                    model = self.name,
                    ?pause,
                    "asks again: {}",
                    self.unkeyed(&fault.why)
                );
                if let Ok(mut spent) = spent.lock() {
                    spent.retries += 1;
                }
            })
            .await;
        answered.map_err(|mut fault| {
            let asked_too_much = |pause: &Duration| *pause > pauses::LONGEST.min(left());
            if let Again::After(pause) = fault.again
                && asked_too_much(&pause)
            {
                let pause = pause.as_secs();
                fault.why +=
                    &format!(" It wants a pause of {pause} s, which is too long: come back later.");
            }
            let retries = spent.lock().map_or(0, |spent| spent.retries);
            if retries > 0 {
                fault.why += &format!(" It was asked {} times.", retries + 1);
            }
            fault
        })
    }

    fn unkeyed(&self, words: &str) -> String {
        self.endpoint.key.as_ref().map_or_else(|| words.to_owned(), |key| key.cut_from(words))
    }

    /// One request with its answer.
    async fn attempt(
        &self,
        prompt: &Prompt,
        shape: Option<&Value>,
        heard: &Heard<'_>,
        spent: &Mutex<Spent>,
    ) -> Result<Answer, Fault> {
        let Endpoint { client, url, headers, .. } = &self.endpoint;
        let body = self.dialect.body(prompt, shape).to_string();
        let request = client.post(url.clone()).headers(headers.clone()).body(body);
        let mut response = request.send().await.map_err(|error| unreached(&error))?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        let mut tally = Tally { reading: Reading::default(), spent };
        let events = content_type(response.headers()).contains("text/event-stream");
        if events {
            self.listen(&mut response, &mut tally.reading, heard).await?;
        } else {
            let body = read(&mut response, MOST_BYTES, self.patience.idle).await?;
            self.understand(&body, &mut tally.reading)?;
            heard(&tally.reading.text);
        }
        let text = std::mem::take(&mut tally.reading.text);
        Ok(Answer { text, cut_off: tally.reading.cut_off, spent: Spent::default() })
    }

    /// Reads a stream of events to its end.
    async fn listen(
        &self,
        response: &mut Response,
        reading: &mut Reading,
        heard: &Heard<'_>,
    ) -> Result<(), Fault> {
        let mut events = Events::default();
        let mut bytes = 0;
        let mut limit = self.patience.whole;
        loop {
            let piece = match timeout(limit, response.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                // The answer is whole; that only its counts got lost is no reason to ask again.
                _ if reading.ended => return Ok(()),
                Ok(Ok(None)) => break,
                Ok(Err(error)) => return Err(cut(&because(&error))),
                Err(_) => {
                    return Err(cut(&format!("nothing came for {} s", limit.as_secs_f32())));
                }
            };
            limit = self.patience.idle;
            bytes += piece.len();
            if bytes > MOST_BYTES {
                return Err(too_long());
            }
            for event in events.push(&piece) {
                if self.take(&event, reading, heard)? {
                    return Ok(());
                }
            }
        }
        if let Some(event) = events.end() {
            self.take(&event, reading, heard)?;
        }
        if reading.ended { Ok(()) } else { Err(cut("the connection ended")) }
    }

    /// Takes in one event; whether it says that nothing more comes.
    fn take(&self, event: &str, reading: &mut Reading, heard: &Heard<'_>) -> Result<bool, Fault> {
        // The end of a stream of OpenAI's.
        if event.trim() == "[DONE]" {
            reading.ended = true;
            reading.over = true;
            return Ok(true);
        }
        if event.trim().is_empty() {
            return Ok(false);
        }
        let event: Value = serde_json::from_str(event).map_err(|_| {
            let said = fault::said(&self.unkeyed(event));
            Fault::passing(format!("an event is no JSON: {said}."))
        })?;
        let before = reading.text.len();
        let taken = self.dialect.event(&event, reading);
        heard(reading.text.get(before..).unwrap_or_default());
        taken.map(|()| reading.over)
    }

    /// Takes in an answer that came in one piece.
    fn understand(&self, body: &[u8], reading: &mut Reading) -> Result<(), Fault> {
        let text = String::from_utf8_lossy(body);
        let begins = text.trim_start();
        // Some servers stream under another name.
        if begins.starts_with("data:") || begins.starts_with("event:") {
            let mut events = Events::default();
            let mut all = events.push(body);
            all.extend(events.end());
            for event in all {
                self.take(&event, reading, &|_| ())?;
            }
            return if reading.ended { Ok(()) } else { Err(cut("the body ended")) };
        }
        let value: Value = serde_json::from_str(&text).map_err(|_| {
            Fault::passing(format!("the answer is no JSON: {}.", fault::said(&self.unkeyed(&text))))
        })?;
        self.dialect.whole(&value, reading)
    }

    async fn refused(&self, mut response: Response) -> Fault {
        let status = response.status();
        if status.is_redirection() {
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let to = to.unwrap_or_default().split('?').next().unwrap_or_default();
            return Fault::lasting(format!(
                "status {}: it points to {to:?}, where the key was not meant to go; if that is right, give its base URL.",
                status.as_u16()
            ));
        }
        let headers = response.headers();
        let should = headers.get("x-should-retry").map(|word| word == "true");
        let pause = pauses::named(headers, Timestamp::now());
        // What it said before it broke off is better than nothing.
        let body = read_some(&mut response, MOST_OF_REFUSAL, self.patience.idle).await;
        fault::refused(&fault::Refused {
            status: status.as_u16(),
            // Before it is shortened: half a key is found by nobody.
            body: &self.unkeyed(&String::from_utf8_lossy(&body)),
            pause,
            should,
            model: &self.model,
            keyed: self.endpoint.key.is_some(),
            variable: &self.variable,
        })
    }
}

/// Counts what an attempt has cost, however it ends: also when nobody waits for it any more.
struct Tally<'a> {
    reading: Reading,
    spent: &'a Mutex<Spent>,
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

/// A body of at most so many bytes, whose pieces may be so far apart.
async fn read(response: &mut Response, most: usize, idle: Duration) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    loop {
        // The first piece is a whole answer's thinking away.
        let chunk = response.chunk();
        let piece = if body.is_empty() { Ok(chunk.await) } else { timeout(idle, chunk).await };
        match piece {
            Ok(Ok(Some(piece))) if body.len() + piece.len() > most => return Err(too_long()),
            Ok(Ok(Some(piece))) => body.extend_from_slice(&piece),
            Ok(Ok(None)) => return Ok(body),
            Ok(Err(error)) => return Err(cut(&because(&error))),
            Err(_) => return Err(cut(&format!("nothing came for {} s", idle.as_secs_f32()))),
        }
    }
}

/// What comes of a body until it ends, breaks off, pauses or is long enough.
async fn read_some(response: &mut Response, most: usize, idle: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < most
        && let Ok(Ok(Some(piece))) = timeout(idle, response.chunk()).await
    {
        body.extend_from_slice(&piece);
    }
    body.truncate(most);
    body
}

fn unreached(error: &reqwest::Error) -> Fault {
    let why = because(error);
    if error.is_connect() {
        Fault::passing(format!(
            "it is not reached: {why}. Check the base URL, and that the server runs."
        ))
    } else {
        Fault::passing(format!("the request failed: {why}."))
    }
}

fn cut(why: &str) -> Fault {
    Fault::passing(format!("the answer broke off: {why}."))
}

fn too_long() -> Fault {
    Fault::lasting(format!(
        "the answer is longer than {} MB; that is no answer of a model.",
        MOST_BYTES >> 20
    ))
}
