//! A decorator between the trace and the session that keeps secret values out of the trace, the
//! policy and MCP replies.
//!
//! Start with [`RedactedPerform`]. Actions go down with names; only text to type and the arguments
//! of app functions get values. Everything that comes back is redacted: all nodes of a snapshot and
//! its source, the read-back text of a field, log entries, and error messages. A screenshot is
//! taken together with a snapshot, and values in it are painted over. What is not in the tree (a
//! toast, a canvas, a video) cannot be found; see `docs/sharp-edges.md`.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};
use thumbwire_device::image::{self, Pixels};
use thumbwire_device::{BlackReason, ByteString, Node, Rect, Screenshot, text_field};

use super::matching::Pattern;
use super::{RedactedText, Vault};
use thumbwire_core::action::{
    Action, AppToolReply, Call, Cause, Controls, CrashList, Failure, FetchResult, FoundElements,
    Label, LabelledApps, LaunchResult, Observation, Outcome, Perform, Readback, RecordingInfo,
    ScreenshotAndSnapshot, ScreenshotOptions, TapResult, TextInput, TypeResult,
};
use thumbwire_core::snapshot::Snapshot;

/// A [`Perform`] around another one: placeholders become values in text to type, and values become
/// names in what comes back.
pub struct RedactedPerform<P> {
    inner: P,
    vault: Arc<Vault>,
}

impl<P> RedactedPerform<P> {
    /// Keeps the vault's values from the caller.
    pub fn new(inner: P, vault: Arc<Vault>) -> Self {
        Self { inner, vault }
    }
}

#[async_trait]
impl<P: Perform> Perform for RedactedPerform<P> {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        let done = match action {
            Action::Type(typing) => return self.type_text(call, typing).await,
            _ if self.vault.is_empty() => return self.inner.perform(call, action).await,
            Action::Screenshot(shape) => return self.picture(call, shape).await,
            Action::ScreenshotAndSnapshot(shape) => {
                let Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot {
                    screenshot: picture,
                    snapshot: look,
                }) = self.inner.perform(call, action).await.map_err(|it| self.failure(it))?
                else {
                    return Err(unexpected_outcome());
                };
                let painted = self.painted(picture, &look, shape).await?;
                return Ok(Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot {
                    screenshot: painted,
                    snapshot: self.snapshot(&look).snapshot,
                }));
            }
            Action::SaveScreenshot { .. } => {
                self.refuse_where_one_shows(call).await?;
                self.inner.perform(call, action).await
            }
            Action::StartMonitor { file: Some(_), .. } => {
                let reason =
                    "a log file may contain one of this run's secrets; read the log instead";
                return Err(Cause::Refused { reason: reason.into() }.into());
            }
            Action::StartRecording { .. } => {
                let reason =
                    "a recording may show one of this run's secrets; take screenshots instead";
                return Err(Cause::Refused { reason: reason.into() }.into());
            }
            // Every app can read the clipboard, and an address leaves the phone.
            Action::SetClipboard(text) | Action::OpenUrl(text) if self.has_placeholder(&text) => {
                let reason = "a secret can only be typed, not copied or put into an address";
                return Err(Cause::Refused { reason: reason.into() }.into());
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

/// A redacted snapshot, and the nodes that had values.
struct RedactedSnapshot {
    snapshot: Arc<Snapshot>,
    places: Vec<usize>,
}

impl<P: Perform> RedactedPerform<P> {
    async fn type_text(&self, call: &Call, typing: TextInput) -> Result<Outcome, Failure> {
        let filled = self.vault.fill(&typing.text).map_err(|why| Cause::Refused { reason: why })?;
        let Some(text) = filled else {
            return self.cleaned(self.inner.perform(call, Action::Type(typing)).await);
        };
        let named = typing.text.clone();
        let done = self.inner.perform(call, Action::Type(TextInput { text, ..typing })).await;
        // What the caller did not write itself is part of a secret.
        let done = done.map_err(|failure| match failure.cause {
            Cause::TextNotTypable(odd) => {
                let cause = Cause::TextNotTypable(odd.only(|char| named.contains(char)));
                Failure { cause, ..failure }
            }
            _ => failure,
        });
        let done = self.cleaned(done)?;
        Ok(match done {
            // A field that shows something else may still show most of the value.
            Outcome::Typed(TypeResult { by, field: Readback::Differs { .. }, into }) => {
                let shows = format!("(something other than {named})");
                Outcome::Typed(TypeResult { by, field: Readback::Differs { shows }, into })
            }
            other => other,
        })
    }

    /// Whether the text names a secret of this run.
    fn has_placeholder(&self, text: &str) -> bool {
        !matches!(self.vault.fill(text), Ok(None))
    }

    fn cleaned(&self, done: Result<Outcome, Failure>) -> Result<Outcome, Failure> {
        match self.vault.is_empty() {
            true => done,
            false => {
                done.map(|outcome| self.outcome(outcome)).map_err(|failure| self.failure(failure))
            }
        }
    }

    /// A screenshot, taken together with a snapshot so that both show the same moment, as nearly as
    /// the phone allows.
    async fn picture(&self, call: &Call, shape: ScreenshotOptions) -> Result<Outcome, Failure> {
        match self.inner.perform(call, Action::ScreenshotAndSnapshot(shape)).await {
            Ok(Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot {
                screenshot: picture,
                snapshot: look,
            })) => Ok(Outcome::Screenshot(self.painted(picture, &look, shape).await?)),
            Ok(_) => Err(unexpected_outcome()),
            // Nobody knows what is on it, so nothing is shown.
            Err(failure) => {
                let taken = self.inner.perform(call, Action::Screenshot(shape)).await;
                match taken.map_err(|it| self.failure(it))? {
                    Outcome::Screenshot(picture) => {
                        let reason = format!(
                            "withheld: the screen may show a secret, and its text could not be read ({})",
                            failure.cause
                        );
                        let window = self.text(&reason);
                        let whole = Rect {
                            left: 0,
                            top: 0,
                            right: picture.size.width,
                            bottom: picture.size.height,
                        };
                        let black = paint(picture, vec![whole], shape).await?;
                        Ok(Outcome::Screenshot(Screenshot {
                            blank: Some(BlackReason::Secure { window }),
                            ..black
                        }))
                    }
                    _ => Err(unexpected_outcome()),
                }
            }
        }
    }

    async fn painted(
        &self,
        picture: Screenshot,
        snapshot: &Arc<Snapshot>,
        shape: ScreenshotOptions,
    ) -> Result<Screenshot, Failure> {
        let hidden = self.snapshot(snapshot);
        // Covered nodes are included: what covers them may be transparent.
        let places = hidden.places.iter().map(|&node| snapshot.tree.nodes[node].bounds).collect();
        paint(picture, places, shape).await
    }

    /// A screenshot that is saved to a file cannot be painted over.
    async fn refuse_where_one_shows(&self, call: &Call) -> Result<(), Failure> {
        let Outcome::Snapshot(look) =
            self.inner.perform(call, Action::LOOK).await.map_err(|it| self.failure(it))?
        else {
            return Err(unexpected_outcome());
        };
        match self.snapshot(&look).places.as_slice() {
            [] => Ok(()),
            _ => Err(Cause::Refused {
                reason: "the screen shows a secret, and the file would too".into(),
            }
            .into()),
        }
    }

    fn outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Snapshot(look) => Outcome::Snapshot(self.snapshot(&look).snapshot),
            Outcome::Observed(seen) => Outcome::Observed(Observation {
                now: self.snapshot(&seen.now).snapshot,
                before: seen.before.map(|before| self.snapshot(&before).snapshot),
                ..seen
            }),
            Outcome::Elements(FoundElements { snapshot: look, nodes }) => {
                Outcome::Elements(FoundElements { snapshot: self.snapshot(&look).snapshot, nodes })
            }
            Outcome::Controls(controls) => {
                let snapshot = self.snapshot(&controls.snapshot).snapshot;
                match Arc::ptr_eq(&snapshot, &controls.snapshot) {
                    true => Outcome::Controls(controls),
                    false => Outcome::Controls(Arc::new(Controls {
                        snapshot,
                        nodes: controls.nodes.clone(),
                    })),
                }
            }
            Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot {
                screenshot: picture,
                snapshot: look,
            }) => Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot {
                screenshot: picture,
                snapshot: self.snapshot(&look).snapshot,
            }),
            Outcome::Tapped(hit) => Outcome::Tapped(self.hit(hit)),
            Outcome::Typed(TypeResult { by, field, into }) => {
                let field = match field {
                    Readback::Differs { shows } => Readback::Differs { shows: self.shown(&shows) },
                    other => other,
                };
                Outcome::Typed(TypeResult { by, field, into: into.map(|hit| self.hit(hit)) })
            }
            Outcome::Launched(LaunchResult { app, text, locked }) => {
                Outcome::Launched(LaunchResult { app, text: self.text(&text), locked })
            }
            Outcome::Clipboard(text) => Outcome::Clipboard(text.map(|text| self.text(&text))),
            Outcome::Log(mut entries) => {
                for entry in &mut entries {
                    entry.message = self.text(&entry.message);
                    entry.tag = self.text(&entry.tag);
                }
                Outcome::Log(entries)
            }
            Outcome::Monitor(mut monitor) => {
                monitor.ended = monitor.ended.map(|why| self.text(&why));
                Outcome::Monitor(monitor)
            }
            Outcome::Monitors(mut all) => {
                for monitor in &mut all {
                    monitor.ended = monitor.ended.take().map(|why| self.text(&why));
                }
                Outcome::Monitors(all)
            }
            Outcome::Recording(recording) => Outcome::Recording(self.recording(recording)),
            Outcome::Recordings(all) => {
                Outcome::Recordings(all.into_iter().map(|one| self.recording(one)).collect())
            }
            Outcome::ScreenshotSaved(mut saved) => {
                saved.local_file = saved.local_file.map(|here| self.fetched(here));
                Outcome::ScreenshotSaved(saved)
            }
            Outcome::AppTools(catalog) => Outcome::AppTools(catalog),
            Outcome::AppToolResult(mut answered) => {
                if let AppToolReply::Answer { message, output, warnings, .. } = &mut answered.heard
                {
                    *message = self.text(message);
                    *output = self.members(std::mem::take(output));
                    warnings.iter_mut().for_each(|warning| *warning = self.text(warning));
                }
                Outcome::AppToolResult(answered)
            }
            Outcome::Crashes(CrashList { mut crashes, now }) => {
                for crash in &mut crashes {
                    crash.what = self.text(&crash.what);
                    crash.excerpt.iter_mut().for_each(|line| *line = self.text(line));
                }
                Outcome::Crashes(CrashList { crashes, now })
            }
            Outcome::Notifications(mut all) => {
                for one in &mut all {
                    for text in [&mut one.title, &mut one.text, &mut one.key] {
                        *text = self.text(text);
                    }
                }
                Outcome::Notifications(all)
            }
            // An app chooses its label.
            Outcome::LabelledApps(LabelledApps { mut apps, has_labels, is_complete }) => {
                for (_, label) in &mut apps {
                    if let Some(Label::Text(text)) = label {
                        *text = self.text(text);
                    }
                }
                Outcome::LabelledApps(LabelledApps { apps, has_labels, is_complete })
            }
            // These describe phones, apps and positions; apps cannot write into them.
            other @ (Outcome::Devices(_)
            | Outcome::DeviceSelected(_)
            | Outcome::DefaultDeviceSelected(_)
            | Outcome::Health(_)
            | Outcome::Info(_)
            | Outcome::Apps(_)
            | Outcome::Foreground(_)
            | Outcome::Screenshot(_)
            | Outcome::Swiped(_)
            | Outcome::Pinched(_)
            | Outcome::Installed(_)
            | Outcome::Pushed(_)
            | Outcome::Pulled(_)
            | Outcome::Done) => other,
        }
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(words) => *words = self.text(words),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => *members = self.members(std::mem::take(members)),
            // A secret may be a number.
            Value::Number(number) => {
                let (words, cleaned) = (number.to_string(), self.text(&number.to_string()));
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
            (self.text(&name), value)
        });
        cleaned.collect()
    }

    /// Replaces placeholders in the arguments of an app function.
    fn filled(&self, value: &mut Value) -> Result<(), Failure> {
        match value {
            Value::String(text) => {
                if let Some(filled) =
                    self.vault.fill(text).map_err(|why| Cause::Refused { reason: why })?
                {
                    *text = filled;
                }
                Ok(())
            }
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.filled(item)),
            Value::Object(members) => members.values_mut().try_for_each(|item| self.filled(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn hit(&self, hit: TapResult) -> TapResult {
        TapResult { snapshot: self.snapshot(&hit.snapshot).snapshot, ..hit }
    }

    fn recording(&self, mut recording: RecordingInfo) -> RecordingInfo {
        recording.warnings.iter_mut().for_each(|words| *words = self.text(words));
        recording.unstopped = recording.unstopped.map(|words| self.text(&words));
        recording.local_file = recording.local_file.map(|here| self.fetched(here));
        recording
    }

    fn fetched(&self, fetched: FetchResult) -> FetchResult {
        fetched.map_err(|why| self.text(&why))
    }

    /// The same snapshot if there is nothing to redact.
    fn snapshot(&self, snapshot: &Arc<Snapshot>) -> RedactedSnapshot {
        let nodes = &snapshot.tree.nodes;
        let rest = |node: &Node| {
            let label = text_field::is_text_field(node)
                .then(|| self.vault.rest_of_one(&node.text))
                .flatten()?;
            Some(Pattern::new(&node.text, &label))
        };
        // Other nodes may repeat what a field shows.
        let rests: Vec<Pattern> = nodes.iter().filter_map(rest).collect();
        let mut places = Vec::new();
        let mut changed: Option<Snapshot> = None;
        for (at, node) in nodes.iter().enumerate() {
            let Some((cleaned, showed)) = self.node(node, &rests) else { continue };
            if showed {
                places.push(at);
            }
            changed.get_or_insert_with(|| Snapshot::clone(snapshot)).tree.nodes[at] = cleaned;
        }
        if let Some(source) = self.vault.redact_xml(&snapshot.tree.source, &rests) {
            changed.get_or_insert_with(|| Snapshot::clone(snapshot)).tree.source =
                source.text.into();
        }
        RedactedSnapshot {
            snapshot: changed.map_or_else(|| Arc::clone(snapshot), Arc::new),
            places,
        }
    }

    /// A redacted node, and whether it showed a value.
    fn node(&self, node: &Node, rests: &[Pattern]) -> Option<(Node, bool)> {
        type NodeText = fn(&mut Node) -> &mut ByteString;
        let parts: [(&str, NodeText); 4] = [
            (&node.text, |it| &mut it.text),
            (&node.description, |it| &mut it.description),
            (&node.hint, |it| &mut it.hint),
            (&node.id, |it| &mut it.id),
        ];
        let mut changed: Option<Node> = None;
        let mut any = false;
        for (words, part) in parts {
            if let Some(RedactedText { text: words, showed }) = self.vault.redact(words, rests) {
                *part(changed.get_or_insert_with(|| node.clone())) = words.into();
                any |= showed;
            }
        }
        changed.map(|node| (node, any))
    }

    fn text(&self, text: &str) -> String {
        self.vault.cleaned(text)
    }

    /// The text of a field.
    fn shown(&self, shows: &str) -> String {
        self.vault.rest_of_one(shows).unwrap_or_else(|| self.text(shows))
    }

    /// A sentence of ours, which may quote what a field shows.
    fn sentence(&self, text: &str) -> String {
        let cleaned = self.text(text);
        let part = |(at, part): (usize, &str)| match at % 2 {
            1 => self.vault.rest_of_one(part).unwrap_or_else(|| part.to_owned()),
            _ => part.to_owned(),
        };
        cleaned.split('"').enumerate().map(part).collect::<Vec<_>>().join("\"")
    }

    fn failure(&self, failure: Failure) -> Failure {
        let mut cause = failure.cause;
        let clean = |text: &mut String| *text = self.sentence(text);
        match &mut cause {
            Cause::DeviceNotConnected { reason: why, .. }
            | Cause::DeviceNotAnswering { reason: why, .. }
            | Cause::InvalidArgument { reason: why }
            | Cause::StepFailed { reason: why }
            | Cause::Refused { reason: why } => clean(why),
            Cause::NotReady { text: said }
            | Cause::PackageRefused { text: said, .. }
            | Cause::DeviceError { text: said } => clean(said),
            Cause::ElementNotFound { sought, reason: why } => {
                clean(sought);
                why.iter_mut().for_each(clean);
            }
            Cause::StaleReference { reason: why, .. } => why.iter_mut().for_each(clean),
            Cause::TimedOut { what, .. }
            | Cause::ConditionNotMet { what, .. }
            | Cause::PlatformNotSupported { what, .. } => clean(what),
            Cause::AppNotFound { app } | Cause::AppNotLaunchable { app } => clean(app),
            Cause::AmbiguousApp { name, candidates } => {
                clean(name);
                candidates.iter_mut().for_each(clean);
            }
            Cause::AppToolNotFound { app, tool, reason: why } => {
                clean(app);
                clean(tool);
                why.iter_mut().for_each(clean);
            }
            Cause::AppNotTrusted { app, reason: why } => {
                clean(app);
                clean(why);
            }
            Cause::NoAppReply { what, .. } => clean(what),
            Cause::BackgroundStartRestricted { what, text: said } => {
                clean(what);
                clean(said);
            }
            Cause::DeviceNotReady { state, .. } => clean(state),
            Cause::DeviceNotAuthorized { .. }
            | Cause::DeviceBusy { .. }
            | Cause::DeviceNotAllowed { .. }
            | Cause::AppNotAllowed { .. }
            | Cause::SettingsPageNotAllowed { .. }
            | Cause::LinkNotAllowed { .. }
            | Cause::NoDeviceChosen { .. }
            | Cause::NoInputFolder
            | Cause::HelperMissing { .. }
            | Cause::IndexOutOfRange { .. }
            | Cause::NoSuchRecording { .. }
            | Cause::NoSuchMonitor { .. }
            | Cause::InvalidFileName { .. }
            | Cause::TooManyActive { .. }
            | Cause::Locked(_)
            // Of a secret, `type_text` shows none.
            | Cause::TextNotTypable(_)
            | Cause::TypingTooLong { .. }
            | Cause::Cancelled => {}
        }
        Failure { cause, ..failure }
    }
}

/// Paints over these areas.
async fn paint(
    picture: Screenshot,
    places: Vec<Rect>,
    shape: ScreenshotOptions,
) -> Result<Screenshot, Failure> {
    if places.is_empty() {
        return Ok(picture);
    }
    let Screenshot { image, size, blank } = picture;
    let format = image.format;
    let painting = tokio::task::spawn_blocking(move || {
        let text = |error: image::Error| error.to_string();
        let read = Pixels::read(&image).map_err(text)?;
        let pixels = painted(&read, &places).ok_or("invalid size")?;
        let written = pixels.write(format).map_err(text)?;
        image::fit(written, shape.format, shape.max_bytes).map_err(text)
    });
    let image = painting.await.map_err(|error| error.to_string()).flatten();
    match image {
        Ok(image) => Ok(Screenshot { image, size, blank }),
        Err(why) => {
            let output = format!("a secret in the screenshot could not be painted over: {why}");
            Err(Cause::DeviceError { text: output }.into())
        }
    }
}

/// Never `None`: the number of pixels is unchanged.
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

fn unexpected_outcome() -> Failure {
    Cause::DeviceError { text: "internal error in Thumbwire: unexpected outcome".into() }.into()
}

#[cfg(test)]
mod tests;
