//! A decorator between the trace and the session that keeps secret values out of the trace, the
//! policy and MCP replies.
//!
//! Start with [`RedactedPerform`]. Actions go down with names; only text to type and the arguments
//! of app functions get values. Everything that comes back is redacted: all nodes of a snapshot and
//! its source, the read-back text of a field, log entries, and error messages. A screenshot is
//! taken together with a snapshot, and values in it are painted over. What is not in the tree (a
//! toast, a canvas, a video) cannot be found; see `docs/internals/sharp-edges/README.md`.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};
use thumbwire_device::image::{self, Pixels};
use thumbwire_device::{BlackReason, ByteString, Node, Rect, Screenshot, text_field};

use super::matching::Pattern;
use super::{RedactedText, Vault};
use thumbwire_core::action::{
    Action, AppToolReply, Call, Cause, Controls, Failure, FetchResult, Label, Outcome, Perform,
    Readback, RecordingInfo, ScreenshotOptions, SnapshotOptions, TextInput, TypeResult,
    TypedPerform as _, request,
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
            Action::Type(input) => return self.type_text(call, input).await,
            _ if self.vault.is_empty() => return self.inner.perform(call, action).await,
            Action::Screenshot(options) => {
                return self.screenshot(call, options).await.map(Outcome::from);
            }
            Action::ScreenshotAndSnapshot(options) => {
                let taken = self.inner.request(call, request::ScreenshotAndSnapshot(options)).await;
                let mut taken = taken.map_err(|failure| self.failure(failure))?;
                taken.screenshot = self.painted(taken.screenshot, &taken.snapshot, options).await?;
                self.snapshot(&mut taken.snapshot);
                return Ok(taken.into());
            }
            Action::ScreenshotAndControls(options) => {
                let taken = self.inner.request(call, request::ScreenshotAndControls(options)).await;
                let mut taken = taken.map_err(|failure| self.failure(failure))?;
                let snapshot = &taken.controls.snapshot;
                taken.screenshot = self.painted(taken.screenshot, snapshot, options).await?;
                self.controls(&mut taken.controls);
                return Ok(taken.into());
            }
            Action::SaveScreenshot { .. } => {
                self.refuse_where_one_shows(call).await?;
                self.inner.perform(call, action).await
            }
            Action::StartMonitor { file: Some(_), .. } => {
                return Err(refused(
                    "a log file may contain one of this run's secrets; read the log instead",
                ));
            }
            Action::StartRecording { .. } => {
                return Err(refused(
                    "a recording may show one of this run's secrets; take screenshots instead",
                ));
            }
            // Every app can read the clipboard, and an address leaves the phone.
            Action::SetClipboard(text) | Action::OpenUrl(text) if self.has_placeholder(&text) => {
                return Err(refused(
                    "a secret can only be typed, not copied or put into an address",
                ));
            }
            Action::LaunchWith { arguments, .. }
                if arguments.iter().any(|it| self.has_placeholder(&it.value.to_string())) =>
            {
                return Err(refused(
                    "a secret can only be typed, not given to an app as it starts",
                ));
            }
            Action::CallAppTool(mut tool_call) => {
                tool_call.arguments.values_mut().try_for_each(|value| self.filled(value))?;
                self.inner.perform(call, Action::CallAppTool(tool_call)).await
            }
            action => self.inner.perform(call, action).await,
        };
        self.cleaned(done)
    }
}

fn refused(reason: impl Into<String>) -> Failure {
    Cause::Refused { reason: reason.into() }.into()
}

/// A redacted snapshot, and the nodes that had values.
struct RedactedSnapshot {
    snapshot: Arc<Snapshot>,
    places: Vec<usize>,
}

impl<P: Perform> RedactedPerform<P> {
    async fn type_text(&self, call: &Call, input: TextInput) -> Result<Outcome, Failure> {
        let Some(text) = self.vault.fill(&input.text).map_err(refused)? else {
            return self.cleaned(self.inner.perform(call, Action::Type(input)).await);
        };
        let named = input.text.clone();
        let typed = self.inner.request(call, request::Type(TextInput { text, ..input })).await;
        let mut typed = typed.map_err(|failure| {
            self.failure(match failure.cause {
                // What the caller did not write itself is part of a secret.
                Cause::TextNotTypable(untypable) => {
                    let cause = Cause::TextNotTypable(untypable.only(|char| named.contains(char)));
                    Failure { cause, ..failure }
                }
                _ => failure,
            })
        })?;
        self.typed(&mut typed);
        // A field that shows something else may still show most of the value.
        if let Readback::Differs { shows } = &mut typed.field {
            *shows = format!("(something other than {named})");
        }
        Ok(typed.into())
    }

    /// Whether the text names a secret of this run.
    fn has_placeholder(&self, text: &str) -> bool {
        !matches!(self.vault.fill(text), Ok(None))
    }

    fn cleaned(&self, done: Result<Outcome, Failure>) -> Result<Outcome, Failure> {
        if self.vault.is_empty() {
            return done;
        }
        let mut outcome = done.map_err(|failure| self.failure(failure))?;
        self.outcome(&mut outcome);
        Ok(outcome)
    }

    /// A screenshot, taken together with a snapshot so that both show the same moment, as nearly as
    /// the phone allows.
    async fn screenshot(
        &self,
        call: &Call,
        options: ScreenshotOptions,
    ) -> Result<Screenshot, Failure> {
        let both = self.inner.request(call, request::ScreenshotAndSnapshot(options)).await;
        let failure = match both {
            Ok(taken) => return self.painted(taken.screenshot, &taken.snapshot, options).await,
            Err(failure) => failure,
        };
        // Nobody knows what is on it, so nothing is shown.
        let taken = self.inner.request(call, request::Screenshot(options)).await;
        let screenshot = taken.map_err(|failure| self.failure(failure))?;
        let mut window = format!(
            "withheld: the screen may show a secret, and its text could not be read ({})",
            failure.cause
        );
        self.text(&mut window);
        let (right, bottom) = (screenshot.size.width, screenshot.size.height);
        let whole = Rect { left: 0, top: 0, right, bottom };
        let black = paint(screenshot, vec![whole], options).await?;
        Ok(Screenshot { blank: Some(BlackReason::Secure { window }), ..black })
    }

    async fn painted(
        &self,
        screenshot: Screenshot,
        snapshot: &Arc<Snapshot>,
        options: ScreenshotOptions,
    ) -> Result<Screenshot, Failure> {
        let hidden = self.redacted(snapshot);
        // Covered nodes are included: what covers them may be transparent.
        let places = hidden.places.iter().map(|&node| snapshot.tree.nodes[node].bounds).collect();
        paint(screenshot, places, options).await
    }

    /// A screenshot that is saved to a file cannot be painted over.
    async fn refuse_where_one_shows(&self, call: &Call) -> Result<(), Failure> {
        let taken = self.inner.request(call, request::Snapshot(SnapshotOptions::default())).await;
        let snapshot = taken.map_err(|failure| self.failure(failure))?;
        match self.redacted(&snapshot).places.is_empty() {
            true => Ok(()),
            false => Err(refused("the screen shows a secret, and the file would too")),
        }
    }

    fn outcome(&self, outcome: &mut Outcome) {
        match outcome {
            Outcome::Snapshot(snapshot) => self.snapshot(snapshot),
            Outcome::Observed(seen) => {
                self.snapshot(&mut seen.now);
                seen.before.iter_mut().for_each(|before| self.snapshot(before));
            }
            Outcome::Elements(found) => self.snapshot(&mut found.snapshot),
            Outcome::Controls(controls) => self.controls(controls),
            Outcome::ScreenshotAndSnapshot(taken) => self.snapshot(&mut taken.snapshot),
            Outcome::ScreenshotAndControls(taken) => self.controls(&mut taken.controls),
            Outcome::Tapped(hit) => self.snapshot(&mut hit.snapshot),
            Outcome::Typed(typed) => self.typed(typed),
            Outcome::Launched(launched) => self.text(&mut launched.text),
            Outcome::Clipboard(text) => self.texts(text),
            Outcome::Log(entries) => {
                self.texts(entries.iter_mut().flat_map(|it| [&mut it.message, &mut it.tag]));
            }
            Outcome::Monitor(monitor) => self.texts(&mut monitor.ended),
            Outcome::Monitors(all) => self.texts(all.iter_mut().flat_map(|it| &mut it.ended)),
            Outcome::Recording(recording) => self.recording(recording),
            Outcome::Recordings(all) => all.iter_mut().for_each(|it| self.recording(it)),
            Outcome::ScreenshotSaved(saved) => self.fetched(&mut saved.local_file),
            Outcome::AppToolResult(result) => {
                if let AppToolReply::Answer { message, output, warnings, .. } = &mut result.heard {
                    self.text(message);
                    *output = self.members(std::mem::take(output));
                    self.texts(warnings);
                }
            }
            Outcome::Crashes(list) => {
                for crash in &mut list.crashes {
                    self.text(&mut crash.what);
                    self.texts(&mut crash.excerpt);
                }
            }
            Outcome::Notifications(all) => {
                self.texts(
                    all.iter_mut().flat_map(|it| [&mut it.title, &mut it.text, &mut it.key]),
                );
            }
            // An app chooses its label.
            Outcome::LabelledApps(listed) => {
                self.texts(listed.apps.iter_mut().filter_map(|(_, label)| match label {
                    Some(Label::Text(text)) => Some(text),
                    _ => None,
                }));
            }
            // These describe phones, apps and positions; apps cannot write into them.
            Outcome::Devices(_)
            | Outcome::DeviceSelected(_)
            | Outcome::DefaultDeviceSelected(_)
            | Outcome::Health(_)
            | Outcome::Info(_)
            | Outcome::Apps(_)
            | Outcome::AppTools(_)
            | Outcome::Foreground(_)
            | Outcome::Screenshot(_)
            | Outcome::Swiped(_)
            | Outcome::Pinched(_)
            | Outcome::Installed(_)
            | Outcome::Pushed(_)
            | Outcome::Pulled(_)
            | Outcome::Done => {}
        }
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => *members = self.members(std::mem::take(members)),
            // A secret may be a number.
            Value::Number(number) => {
                if let Some(redacted) = self.vault.redact(&number.to_string(), &[]) {
                    *value = redacted.text.into();
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn members(&self, members: Map<String, Value>) -> Map<String, Value> {
        let cleaned = members.into_iter().map(|(mut name, mut value)| {
            self.value(&mut value);
            self.text(&mut name);
            (name, value)
        });
        cleaned.collect()
    }

    /// Replaces placeholders in the arguments of an app function.
    fn filled(&self, value: &mut Value) -> Result<(), Failure> {
        match value {
            Value::String(text) => {
                if let Some(filled) = self.vault.fill(text).map_err(refused)? {
                    *text = filled;
                }
                Ok(())
            }
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.filled(item)),
            Value::Object(members) => members.values_mut().try_for_each(|item| self.filled(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn typed(&self, typed: &mut TypeResult) {
        if let Readback::Differs { shows } = &mut typed.field {
            match self.vault.rest_of_one(shows) {
                Some(rest) => *shows = rest,
                None => self.text(shows),
            }
        }
        typed.into.iter_mut().for_each(|hit| self.snapshot(&mut hit.snapshot));
    }

    fn recording(&self, recording: &mut RecordingInfo) {
        self.texts(&mut recording.warnings);
        self.texts(&mut recording.unstopped);
        self.fetched(&mut recording.local_file);
    }

    fn fetched(&self, fetched: &mut Option<FetchResult>) {
        if let Some(Err(reason)) = fetched {
            self.text(reason);
        }
    }

    fn controls(&self, controls: &mut Arc<Controls>) {
        let snapshot = self.redacted(&controls.snapshot).snapshot;
        if !Arc::ptr_eq(&snapshot, &controls.snapshot) {
            *controls = Arc::new(Controls { snapshot, nodes: controls.nodes.clone() });
        }
    }

    fn snapshot(&self, snapshot: &mut Arc<Snapshot>) {
        *snapshot = self.redacted(snapshot).snapshot;
    }

    /// The same snapshot if there is nothing to redact.
    fn redacted(&self, snapshot: &Arc<Snapshot>) -> RedactedSnapshot {
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

    fn text(&self, text: &mut String) {
        if let Some(redacted) = self.vault.redact(text, &[]) {
            *text = redacted.text;
        }
    }

    fn texts<'a>(&self, texts: impl IntoIterator<Item = &'a mut String>) {
        texts.into_iter().for_each(|text| self.text(text));
    }

    /// A sentence of ours, which may quote what a field shows.
    fn sentence(&self, text: &mut String) {
        self.text(text);
        let part = |(at, part): (usize, &str)| match at % 2 {
            1 => self.vault.rest_of_one(part).unwrap_or_else(|| part.to_owned()),
            _ => part.to_owned(),
        };
        *text = text.split('"').enumerate().map(part).collect::<Vec<_>>().join("\"");
    }

    fn failure(&self, mut failure: Failure) -> Failure {
        let clean = |text: &mut String| self.sentence(text);
        match &mut failure.cause {
            Cause::DeviceNotConnected { reason: text, .. }
            | Cause::DeviceNotAnswering { reason: text, .. }
            | Cause::DeviceNotReady { state: text, .. }
            | Cause::InvalidArgument { reason: text }
            | Cause::StepFailed { reason: text }
            | Cause::Refused { reason: text }
            | Cause::NotReady { text }
            | Cause::PackageRefused { text, .. }
            | Cause::DeviceError { text }
            | Cause::TimedOut { what: text, .. }
            | Cause::ConditionNotMet { what: text, .. }
            | Cause::PlatformNotSupported { what: text, .. }
            | Cause::NoAppReply { what: text, .. }
            | Cause::AppNotFound { app: text }
            | Cause::AppNotLaunchable { app: text } => clean(text),
            Cause::AppNotTrusted { app: one, reason: other }
            | Cause::BackgroundStartRestricted { what: one, text: other } => {
                [one, other].into_iter().for_each(clean);
            }
            Cause::ElementNotFound { sought, reason } => {
                std::iter::once(sought).chain(reason).for_each(clean);
            }
            Cause::StaleReference { reason, .. } => reason.iter_mut().for_each(clean),
            Cause::AmbiguousApp { name, candidates } => {
                std::iter::once(name).chain(candidates).for_each(clean);
            }
            Cause::AppToolNotFound { app, tool, reason } => {
                [app, tool].into_iter().chain(reason).for_each(clean);
            }
            Cause::DeviceNotAuthorized { .. }
            | Cause::DeviceBusy { .. }
            | Cause::DeviceTakenOver { .. }
            | Cause::TakenByUser { .. }
            | Cause::LeaseLost { .. }
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
            | Cause::TooManyLooks { .. }
            | Cause::Locked(_)
            // `type_text` shows none of a secret's characters.
            | Cause::TextNotTypable(_)
            | Cause::NoFocusedField { .. }
            | Cause::TypingTooLong { .. }
            | Cause::Cancelled => {}
        }
        failure
    }
}

/// Paints over these areas.
async fn paint(
    screenshot: Screenshot,
    places: Vec<Rect>,
    options: ScreenshotOptions,
) -> Result<Screenshot, Failure> {
    if places.is_empty() {
        return Ok(screenshot);
    }
    let Screenshot { image, size, blank } = screenshot;
    let format = image.format;
    let painting = tokio::task::spawn_blocking(move || {
        let text = |error: image::Error| error.to_string();
        let read = Pixels::read(&image).map_err(text)?;
        let pixels = painted(&read, &places).ok_or("invalid size")?;
        let written = pixels.write(format).map_err(text)?;
        image::fit(written, options.format, options.max_bytes).map_err(text)
    });
    let image = painting.await.map_err(|error| error.to_string()).flatten();
    match image {
        Ok(image) => Ok(Screenshot { image, size, blank }),
        Err(reason) => {
            let text = format!("a secret in the screenshot could not be painted over: {reason}");
            Err(Cause::DeviceError { text }.into())
        }
    }
}

/// Never `None`: the number of pixels is unchanged.
fn painted(pixels: &Pixels, places: &[Rect]) -> Option<Pixels> {
    const GREY: [u8; 3] = [64, 64, 64];
    let size = pixels.size();
    let mut rgb = pixels.rgb().to_vec();
    let inside = |at: i32, max: i32| usize::try_from(at.clamp(0, max)).unwrap_or(0);
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

#[cfg(test)]
mod tests;
