//! The decorator that stands between the trace and the session, so that neither the story nor a mind nor an MCP client's
//! reply ever holds a value.
//!
//! Begin with [`Secrets`]. What goes down is an action with names; only a text that is typed, and what an app's tool is called with,
//! get values. What comes back is
//! cleaned: every node of a look and its source, what a field was read back as, log entries, and the words of failures. A
//! picture is taken together with a look, and painted over where the look says that a value stands. What no tree tells (a
//! toast, a canvas, a video) cannot be found; `docs/sharp-edges.md` says so.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};
use thumbwire_device::picture::{self, Pixels};
use thumbwire_device::{Blank, Node, Rect, Screenshot, field};

use super::matching::Pattern;
use super::{Cleaned, Vault};
use crate::action::{
    Action, Call, Cause, Controls, Failure, Fetched, Heard, Hit, Outcome, Perform, Readback,
    Recorded, Shape, Typed, Typing,
};
use crate::look::Look;

/// A decorator: what it is asked is performed by the inner one, with values where names are typed; what comes back has names
/// where values were.
pub struct Secrets<P> {
    inner: P,
    vault: Arc<Vault>,
}

impl<P> Secrets<P> {
    /// Keeps these from whoever asks.
    pub fn new(inner: P, vault: Arc<Vault>) -> Self {
        Self { inner, vault }
    }
}

#[async_trait]
impl<P: Perform> Perform for Secrets<P> {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        let done = match action {
            Action::Type(typing) => return self.type_text(call, typing).await,
            _ if self.vault.is_empty() => return self.inner.perform(call, action).await,
            Action::Screenshot(shape) => return self.picture(call, shape).await,
            Action::Snapshot(shape) => {
                let Outcome::Snapshot(picture, look) =
                    self.inner.perform(call, action).await.map_err(|it| self.failure(it))?
                else {
                    return Err(odd());
                };
                let painted = self.painted(picture, &look, shape).await?;
                return Ok(Outcome::Snapshot(painted, self.look(&look).look));
            }
            Action::SaveScreenshot { .. } => {
                self.refuse_where_one_shows(call).await?;
                self.inner.perform(call, action).await
            }
            Action::StartMonitor { file: Some(_), .. } => {
                let why = "a log that is followed into a file may hold a secret, and there are some in this run; read the log instead";
                return Err(Cause::Refused { why: why.into() }.into());
            }
            Action::CallAppTool(mut asked) => {
                asked.arguments.values_mut().try_for_each(|value| self.filled(value))?;
                self.inner.perform(call, Action::CallAppTool(asked)).await
            }
            action => self.inner.perform(call, action).await,
        };
        self.cleaned(done)
    }
}

/// A look without values, and where they stood.
struct Hidden {
    look: Arc<Look>,
    places: Vec<usize>,
}

impl<P: Perform> Secrets<P> {
    async fn type_text(&self, call: &Call, typing: Typing) -> Result<Outcome, Failure> {
        let filled = self.vault.fill(&typing.text).map_err(|why| Cause::Refused { why })?;
        let Some(text) = filled else {
            return self.cleaned(self.inner.perform(call, Action::Type(typing)).await);
        };
        let named = typing.text.clone();
        let done =
            self.cleaned(self.inner.perform(call, Action::Type(Typing { text, ..typing })).await)?;
        Ok(match done {
            // A field that shows something else than a value shows most of it.
            Outcome::Typed(Typed { by, field: Readback::Differs { .. }, into }) => {
                let shows = format!("(something else than {named})");
                Outcome::Typed(Typed { by, field: Readback::Differs { shows }, into })
            }
            other => other,
        })
    }

    fn cleaned(&self, done: Result<Outcome, Failure>) -> Result<Outcome, Failure> {
        match self.vault.is_empty() {
            true => done,
            false => {
                done.map(|outcome| self.outcome(outcome)).map_err(|failure| self.failure(failure))
            }
        }
    }

    /// A picture, taken together with a look so that both show the same moment as nearly as the phone allows.
    async fn picture(&self, call: &Call, shape: Shape) -> Result<Outcome, Failure> {
        match self.inner.perform(call, Action::Snapshot(shape)).await {
            Ok(Outcome::Snapshot(picture, look)) => {
                Ok(Outcome::Picture(self.painted(picture, &look, shape).await?))
            }
            Ok(_) => Err(odd()),
            // Nobody knows what stands on it: nothing of it is shown.
            Err(failure) => {
                let taken = self.inner.perform(call, Action::Screenshot(shape)).await;
                match taken.map_err(|it| self.failure(it))? {
                    Outcome::Picture(picture) => {
                        let why = format!(
                            "kept back: a secret may stand on the screen, and what it says could not be read ({})",
                            failure.cause
                        );
                        let window = self.words(&why);
                        let whole = Rect {
                            left: 0,
                            top: 0,
                            right: picture.size.width,
                            bottom: picture.size.height,
                        };
                        let black = paint(picture, vec![whole], shape).await?;
                        Ok(Outcome::Picture(Screenshot {
                            blank: Some(Blank::Secure { window }),
                            ..black
                        }))
                    }
                    _ => Err(odd()),
                }
            }
        }
    }

    async fn painted(
        &self,
        picture: Screenshot,
        look: &Arc<Look>,
        shape: Shape,
    ) -> Result<Screenshot, Failure> {
        let hidden = self.look(look);
        // Also what lies under something else: that may be glass.
        let places = hidden.places.iter().map(|&node| look.tree.nodes[node].bounds).collect();
        paint(picture, places, shape).await
    }

    /// A picture that goes into a file cannot be painted over.
    async fn refuse_where_one_shows(&self, call: &Call) -> Result<(), Failure> {
        let Outcome::Look(look) =
            self.inner.perform(call, Action::LOOK).await.map_err(|it| self.failure(it))?
        else {
            return Err(odd());
        };
        match self.look(&look).places.as_slice() {
            [] => Ok(()),
            _ => Err(Cause::Refused {
                why: "a secret stands on the screen, and would stand in the file".into(),
            }
            .into()),
        }
    }

    fn outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Look(look) => Outcome::Look(self.look(&look).look),
            Outcome::Found(look, nodes) => Outcome::Found(self.look(&look).look, nodes),
            Outcome::Controls(controls) => {
                let look = self.look(&controls.look).look;
                match Arc::ptr_eq(&look, &controls.look) {
                    true => Outcome::Controls(controls),
                    false => Outcome::Controls(Arc::new(Controls {
                        look,
                        nodes: controls.nodes.clone(),
                    })),
                }
            }
            Outcome::Snapshot(picture, look) => Outcome::Snapshot(picture, self.look(&look).look),
            Outcome::Tapped(hit) => Outcome::Tapped(self.hit(hit)),
            Outcome::Typed(Typed { by, field, into }) => {
                let field = match field {
                    Readback::Differs { shows } => Readback::Differs { shows: self.shown(&shows) },
                    other => other,
                };
                Outcome::Typed(Typed { by, field, into: into.map(|hit| self.hit(hit)) })
            }
            Outcome::Launched { app, said } => Outcome::Launched { app, said: self.words(&said) },
            Outcome::Log(mut entries) => {
                for entry in &mut entries {
                    entry.message = self.words(&entry.message);
                    entry.tag = self.words(&entry.tag);
                }
                Outcome::Log(entries)
            }
            Outcome::Monitor(mut monitor) => {
                monitor.ended = monitor.ended.map(|why| self.words(&why));
                Outcome::Monitor(monitor)
            }
            Outcome::Monitors(mut all) => {
                for monitor in &mut all {
                    monitor.ended = monitor.ended.take().map(|why| self.words(&why));
                }
                Outcome::Monitors(all)
            }
            Outcome::Recording(recording) => Outcome::Recording(self.recording(recording)),
            Outcome::Recordings(all) => {
                Outcome::Recordings(all.into_iter().map(|one| self.recording(one)).collect())
            }
            Outcome::Saved(mut saved) => {
                saved.here = saved.here.map(|here| self.fetched(here));
                Outcome::Saved(saved)
            }
            Outcome::AppTools(catalog) => Outcome::AppTools(catalog),
            Outcome::Answered(mut answered) => {
                if let Heard::Answer { message, output, warnings, .. } = &mut answered.heard {
                    *message = self.words(message);
                    *output = self.members(std::mem::take(output));
                    warnings.iter_mut().for_each(|warning| *warning = self.words(warning));
                }
                Outcome::Answered(answered)
            }
            // Of phones, apps and places, none of which an app can write into.
            other @ (Outcome::Devices(_)
            | Outcome::Using(_)
            | Outcome::Chosen(..)
            | Outcome::Health(..)
            | Outcome::Info { .. }
            | Outcome::Apps(_)
            | Outcome::Current(_)
            | Outcome::Picture(_)
            | Outcome::Swiped { .. }
            | Outcome::Done) => other,
        }
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(words) => *words = self.words(words),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => *members = self.members(std::mem::take(members)),
            // A secret may be a number.
            Value::Number(number) => {
                let (words, cleaned) = (number.to_string(), self.words(&number.to_string()));
                if cleaned != words {
                    *value = cleaned.into();
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn members(&self, members: Map<String, Value>) -> Map<String, Value> {
        let cleaned = members.into_iter().map(|(name, mut value)| {
            self.value(&mut value);
            (self.words(&name), value)
        });
        cleaned.collect()
    }

    /// The arguments of an app's tool with the values of the secrets that they name.
    fn filled(&self, value: &mut Value) -> Result<(), Failure> {
        match value {
            Value::String(text) => {
                if let Some(filled) = self.vault.fill(text).map_err(|why| Cause::Refused { why })? {
                    *text = filled;
                }
                Ok(())
            }
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.filled(item)),
            Value::Object(members) => members.values_mut().try_for_each(|item| self.filled(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn hit(&self, hit: Hit) -> Hit {
        Hit { look: self.look(&hit.look).look, ..hit }
    }

    fn recording(&self, mut recording: Recorded) -> Recorded {
        recording.warnings.iter_mut().for_each(|words| *words = self.words(words));
        recording.unstopped = recording.unstopped.map(|words| self.words(&words));
        recording.here = recording.here.map(|here| self.fetched(here));
        recording
    }

    fn fetched(&self, fetched: Fetched) -> Fetched {
        fetched.map_err(|why| self.words(&why))
    }

    /// The look itself where nothing in it is to be hidden.
    fn look(&self, look: &Arc<Look>) -> Hidden {
        let nodes = &look.tree.nodes;
        let rest = |node: &Node| {
            let label =
                field::takes_text(node).then(|| self.vault.rest_of_one(&node.text)).flatten()?;
            Some(Pattern::new(&node.text, &label))
        };
        // What a field holds may be told elsewhere as well.
        let rests: Vec<Pattern> = nodes.iter().filter_map(rest).collect();
        let mut places = Vec::new();
        let mut changed: Option<Look> = None;
        for (at, node) in nodes.iter().enumerate() {
            let Some((cleaned, showed)) = self.node(node, &rests) else { continue };
            if showed {
                places.push(at);
            }
            changed.get_or_insert_with(|| Look::clone(look)).tree.nodes[at] = cleaned;
        }
        if let Some(source) = self.vault.clean_xml(&look.tree.source, &rests) {
            changed.get_or_insert_with(|| Look::clone(look)).tree.source = source.words.into();
        }
        Hidden { look: changed.map_or_else(|| Arc::clone(look), Arc::new), places }
    }

    /// A node without values, and whether it showed one.
    fn node(&self, node: &Node, rests: &[Pattern]) -> Option<(Node, bool)> {
        type Part = fn(&mut Node) -> &mut String;
        let parts: [(&str, Part); 4] = [
            (&node.text, |it| &mut it.text),
            (&node.description, |it| &mut it.description),
            (&node.hint, |it| &mut it.hint),
            (&node.id, |it| &mut it.id),
        ];
        let mut changed: Option<Node> = None;
        let mut any = false;
        for (words, part) in parts {
            if let Some(Cleaned { words, showed }) = self.vault.clean(words, rests) {
                *part(changed.get_or_insert_with(|| node.clone())) = words;
                any |= showed;
            }
        }
        changed.map(|node| (node, any))
    }

    fn words(&self, words: &str) -> String {
        self.vault.cleaned(words)
    }

    /// What a field shows.
    fn shown(&self, shows: &str) -> String {
        self.vault.rest_of_one(shows).unwrap_or_else(|| self.words(shows))
    }

    /// A sentence of ours, which may quote what a field shows.
    fn sentence(&self, said: &str) -> String {
        let cleaned = self.words(said);
        let part = |(at, part): (usize, &str)| match at % 2 {
            1 => self.vault.rest_of_one(part).unwrap_or_else(|| part.to_owned()),
            _ => part.to_owned(),
        };
        cleaned.split('"').enumerate().map(part).collect::<Vec<_>>().join("\"")
    }

    fn failure(&self, failure: Failure) -> Failure {
        let mut cause = failure.cause;
        let clean = |words: &mut String| *words = self.sentence(words);
        match &mut cause {
            Cause::DeviceNotConnected { why, .. }
            | Cause::InvalidArgument { why }
            | Cause::Refused { why } => clean(why),
            Cause::NotReady { said } | Cause::PhoneFailed { said } => clean(said),
            Cause::ElementNotFound { sought, why } => {
                clean(sought);
                why.iter_mut().for_each(clean);
            }
            Cause::NotListed { why, .. } => why.iter_mut().for_each(clean),
            Cause::TimedOut { what, .. } | Cause::PlatformNotSupported { what, .. } => clean(what),
            Cause::AppNotFound { app } => clean(app),
            Cause::AppToolNotFound { app, tool, why } => {
                clean(app);
                clean(tool);
                why.iter_mut().for_each(clean);
            }
            Cause::AppNotTrusted { app, why } => {
                clean(app);
                clean(why);
            }
            Cause::Unheard { what, .. } => clean(what),
            Cause::InBackground { what, said } => {
                clean(what);
                clean(said);
            }
            Cause::DeviceNotReady { state, .. } => clean(state),
            Cause::DeviceNotAuthorized { .. }
            | Cause::NoDeviceChosen { .. }
            | Cause::NoSuchIndex { .. }
            | Cause::NoSuchRecording { .. }
            | Cause::NoSuchMonitor { .. }
            | Cause::BadFileName { .. }
            | Cause::TooMany { .. }
            | Cause::Cancelled => {}
        }
        Failure { cause, ..failure }
    }
}

/// Paints over these places.
async fn paint(
    picture: Screenshot,
    places: Vec<Rect>,
    shape: Shape,
) -> Result<Screenshot, Failure> {
    if places.is_empty() {
        return Ok(picture);
    }
    let Screenshot { image, size, blank } = picture;
    let format = image.format;
    let painting = tokio::task::spawn_blocking(move || {
        let words = |error: picture::Error| error.to_string();
        let read = Pixels::read(&image).map_err(words)?;
        let pixels = painted(&read, &places).ok_or("its size is none")?;
        let written = pixels.write(format).map_err(words)?;
        picture::fit(written, shape.format, shape.most_bytes).map_err(words)
    });
    let image = painting.await.map_err(|error| error.to_string()).flatten();
    match image {
        Ok(image) => Ok(Screenshot { image, size, blank }),
        Err(why) => {
            let said =
                format!("a secret stands on the picture and could not be painted over: {why}");
            Err(Cause::PhoneFailed { said }.into())
        }
    }
}

/// `None` never: the counts are those of a picture.
fn painted(pixels: &Pixels, places: &[Rect]) -> Option<Pixels> {
    const GREY: [u8; 3] = [64, 64, 64];
    let size = pixels.size();
    let mut rgb = pixels.rgb().to_vec();
    let inside = |at: i32, most: i32| usize::try_from(at.clamp(0, most)).unwrap_or(0);
    let width = inside(size.width, i32::MAX);
    for place in places {
        let (left, right) = (inside(place.left, size.width), inside(place.right, size.width));
        for row in inside(place.top, size.height)..inside(place.bottom, size.height) {
            if let Some(line) =
                rgb.get_mut((row * width + left) * 3..(row * width + right.max(left)) * 3)
            {
                line.chunks_exact_mut(3).for_each(|pixel| pixel.copy_from_slice(&GREY));
            }
        }
    }
    let (width, height) = (u32::try_from(size.width), u32::try_from(size.height));
    width.ok().zip(height.ok()).and_then(|(width, height)| Pixels::new(width, height, rgb))
}

fn odd() -> Failure {
    Cause::PhoneFailed { said: "a fault in Thumbwire: an outcome nobody asked for".into() }.into()
}

#[cfg(test)]
mod tests;
