//! Recordings: what a hand does becomes a flow, by the recorder of traces and the writer of flows.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_base::lock;
use thumbwire_core::action::{
    Action, ElementId, Failure, Observation, Observe, Outcome, Perform, Target, TypedPerform as _,
    WaitCondition, request,
};
use thumbwire_core::event::{EventSinks, ObservedPerform};
use thumbwire_core::random;
use thumbwire_core::snapshot::Snapshot;
use thumbwire_core::trace::{Recorder, Trace};
use thumbwire_flow::{WrittenFlow, from_trace, selector_of};

use super::api::HOLD_AFTER_ACT;
use super::feed::PersonFeed;
use super::python::{self, ToolCall};
use super::{MakeSkill, Parts};

/// How long a check waits for its element.
const CHECK_TIME: Duration = Duration::from_secs(5);

/// The recordings by phone.
#[derive(Default)]
pub(super) struct Recordings(Mutex<BTreeMap<String, Arc<Recording>>>);

/// What a person does on one phone.
struct Recording {
    folder: PathBuf,
    /// Performs and records.
    perform: Arc<dyn Perform>,
    /// One act after another, each with the screen that came of it.
    turn: Arc<tokio::sync::Mutex<()>>,
    progress: Mutex<Progress>,
}

struct Progress {
    is_running: bool,
    acts: usize,
    calls: Vec<ToolCall>,
    /// The screen after the last act.
    screen: Option<Arc<Snapshot>>,
}

impl Recording {
    fn flow(&self, maestro: bool) -> Result<WrittenFlow, String> {
        let trace = Trace::open(&self.folder).map_err(|error| {
            format!("cannot read the recording in {}: {error}", self.folder.display())
        })?;
        from_trace(&trace, maestro)
    }

    fn progress(&self) -> Value {
        let (is_running, acts) = {
            let progress = lock(&self.progress);
            (progress.is_running, progress.acts)
        };
        let flow = match acts {
            0 => Ok(String::new()),
            _ => self.flow(false).map(|flow| flow.text),
        };
        let (flow, error) = match flow {
            Ok(flow) => (flow, None),
            Err(error) => (String::new(), Some(error)),
        };
        json!({
            "running": is_running,
            "acts": acts,
            "flow": flow,
            "error": error,
            "folder": self.folder.display().to_string(),
        })
    }
}

/// The node by which a person knows an element: itself if it has a text, else the first one inside
/// that has.
fn named_node(snapshot: &Snapshot, node: usize) -> Option<usize> {
    let nodes = &snapshot.tree.nodes;
    let depth = nodes.get(node)?.depth;
    let inside = (node + 1..nodes.len()).take_while(|&at| nodes[at].depth > depth);
    let is_named = |&at: &usize| {
        let has_text = !nodes[at].text.is_empty() || !nodes[at].description.is_empty();
        has_text && !snapshot.shown(at).is_empty()
    };
    std::iter::once(node).chain(inside).find(is_named).or(Some(node))
}

/// What there is before the first recording.
fn nothing() -> Value {
    json!({ "running": false, "acts": 0, "flow": "" })
}

impl Recordings {
    fn get(&self, device: &str) -> Option<Arc<Recording>> {
        lock(&self.0).get(device).cloned()
    }

    fn running(&self, device: &str) -> Option<Arc<Recording>> {
        self.get(device).filter(|recording| lock(&recording.progress).is_running)
    }

    /// The phones on which a recording runs.
    pub(super) fn devices(&self) -> Vec<String> {
        let all = lock(&self.0);
        let running = all.iter().filter(|(_, recording)| lock(&recording.progress).is_running);
        running.map(|(device, _)| device.clone()).collect()
    }

    /// What was recorded on a phone.
    pub(super) fn progress(&self, device: &str) -> Value {
        self.get(device).map_or_else(nothing, |recording| recording.progress())
    }

    /// Ends the recording of a phone; its flow stays.
    pub(super) fn stop(&self, device: &str) -> Value {
        if let Some(recording) = self.get(device) {
            lock(&recording.progress).is_running = false;
        }
        self.progress(device)
    }

    /// Forgets the recording of a phone; its folder stays.
    pub(super) fn discard(&self, device: &str) -> Value {
        lock(&self.0).remove(device);
        nothing()
    }

    /// The recording as a file: its name and its text. A skill is for a goal.
    ///
    /// # Errors
    /// If there is none, or it cannot be this.
    pub(super) fn export(
        &self,
        device: &str,
        form: &str,
        goal: &str,
        make_skill: MakeSkill,
    ) -> Result<Value, String> {
        let recording = self.get(device).ok_or("nothing was recorded on this phone")?;
        let name = recording.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if form == "skill" {
            let (name, text) = make_skill(&recording.folder, goal)?;
            return Ok(json!({ "name": format!("{name}.yaml"), "text": text }));
        }
        let (ending, text) = match form {
            "flow" => ("yaml", recording.flow(false)?.text),
            "maestro" => ("yaml", recording.flow(true)?.text),
            "python" => ("py", python::program(device, &lock(&recording.progress).calls)),
            _ => {
                return Err(format!(
                    "unknown form {form:?}: expected flow, maestro, python or skill"
                ));
            }
        };
        Ok(json!({ "name": format!("{name}.{ending}"), "text": text }))
    }
}

impl Parts {
    /// Starts to record what the person does on a phone.
    ///
    /// # Errors
    /// If the folder cannot be written, or the screen cannot be read.
    pub(super) async fn start_recording(self: &Arc<Self>, device: &str) -> Result<Value, String> {
        if self.recordings.running(device).is_some() {
            return Ok(self.recordings.progress(device));
        }
        let now = (self.options.clock)();
        let time = now.strftime("%Y%m%d-%H%M%S");
        let folder =
            self.options.folder.join(format!("logs/studio-{time}-{}", random::hex::<2>()?));
        let recorder = Recorder::begin(&folder, now.to_string())
            .map_err(|error| format!("cannot record in {}: {error}", folder.display()))?;
        let sinks = EventSinks::default().with(Arc::new(recorder));
        let sinks = sinks.with(PersonFeed(Arc::clone(&self.feed)));
        let perform = Arc::new(ObservedPerform::new(Arc::clone(&self.session), sinks));
        let outcome = perform.perform(&self.call(device), Action::LOOK).await;
        let outcome = outcome.map_err(|failure| failure.cause.to_string())?;
        let screen = outcome.try_into().ok();
        let progress = Progress { is_running: true, acts: 0, calls: Vec::new(), screen };
        let recording =
            Recording { folder, perform, turn: Arc::default(), progress: Mutex::new(progress) };
        lock(&self.recordings.0).insert(device.to_owned(), Arc::new(recording));
        Ok(self.recordings.progress(device))
    }

    /// Acts for the person, and records it if a recording runs.
    pub(super) async fn act(
        self: &Arc<Self>,
        device: &str,
        action: Action,
    ) -> Result<Outcome, Failure> {
        self.claim(device, HOLD_AFTER_ACT);
        let call = self.call(device);
        let Some(recording) = self.recordings.running(device) else {
            return self.perform.perform(&call, action).await;
        };
        let turn = Arc::clone(&recording.turn).lock_owned().await;
        let tool_call = {
            let progress = lock(&recording.progress);
            ToolCall::of(&action, progress.screen.as_deref())
        };
        let outcome = recording.perform.perform(&call, action).await?;
        {
            let mut progress = lock(&recording.progress);
            progress.acts += 1;
            progress.calls.extend(tool_call);
        }
        // The person goes on meanwhile; the next act waits until this one's screen is known.
        let call = self.call(device);
        tokio::spawn(async move {
            let observing = recording.perform.request(&call, request::Observe(Observe::Settled));
            let observation: Result<Observation, Failure> = observing.await;
            lock(&recording.progress).screen = observation.ok().map(|it| it.now);
            drop(turn);
        });
        Ok(outcome)
    }

    /// Adds a check that an element of the last look is there.
    ///
    /// # Errors
    /// If nothing is recorded, or the element is not there or cannot be named.
    pub(super) async fn add_check(&self, device: &str, node: usize) -> Result<Value, String> {
        let recording = self.recordings.running(device).ok_or("start a recording first")?;
        let _turn = recording.turn.lock().await;
        let snapshot = self.last_look(device)?;
        let node = named_node(&snapshot, node);
        let (node, id) = node
            .and_then(|node| Some((node, snapshot.ref_of(node)?)))
            .ok_or("this element says nothing that could be checked: choose one with a text")?;
        selector_of(&snapshot, node).ok_or("no selector means this element alone")?;
        let condition = WaitCondition::Shown(Target::Listed(ElementId::Ref(id)));
        let until = Observe::Until { condition, timeout: CHECK_TIME };
        let call = self.call(device);
        let observing = recording.perform.request(&call, request::Observe(until));
        let observation: Observation =
            observing.await.map_err(|failure| failure.cause.to_string())?;
        if !observation.settled {
            return Err("this element is not on the screen any more: look again".into());
        }
        {
            let mut progress = lock(&recording.progress);
            progress.acts += 1;
            progress.calls.push(ToolCall::check(snapshot.tree.nodes[node].name()));
            progress.screen = Some(observation.now);
        }
        Ok(recording.progress())
    }
}
