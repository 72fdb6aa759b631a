//! Long calls that run as tasks (SEP-2663, `io.modelcontextprotocol/tasks`): the call's request
//! ends at once with the task's id, and the client asks for its state.
//!
//! ```text
//! tools/call ─> working ── asks ──> input_required ── tasks/update ──> working ─> completed
//!                  │                      │ no answer in time
//!                  └─ tasks/cancel, the client leaves, the server ends ──> cancelled
//! ```
//!
//! Start with [`Tasks::begin`]. A task belongs to the client that made it; for others it does not
//! exist. What is kept is bounded: tasks of a client and of a server, their results' bytes, and the
//! time. The work of a task that is dropped is cancelled. rmcp has a `TaskManager`, which knows no
//! clients and no bounds.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use jiff::Timestamp;
use rmcp::model::{
    DetailedTask, ErrorCode, ErrorData, InputResponses, JsonObject, Task, TaskPayload,
};
use serde_json::Value;
use thumbwire_base::lock;
use thumbwire_core::action::{Cause, ClientId};
use thumbwire_core::toolset::Reply;
use tokio::time::Instant;

use super::grant::Share;
use super::offers;
use super::panics;
use super::waiting_calls::{AskedQuestion, CancelOnDrop, RunningCall};

/// The maximum number of running tasks of a server, of one token, and of one client.
const MAX_RUNNING: usize = 64;
const MAX_RUNNING_OF_TOKEN: usize = MAX_RUNNING / 4;
const MAX_RUNNING_OF_CLIENT: usize = 8;

/// How many tasks of a client are kept, with those that have ended; the oldest ended ones are
/// forgotten.
const MAX_KEPT: usize = 32;

/// How many bytes the results of a client's tasks may have together; the oldest are forgotten, but
/// never the newest.
const MAX_BYTES: usize = 16 << 20;

/// How long a task is kept after the time that its work may take.
const KEPT: Duration = Duration::from_secs(10 * 60);

/// How often a client should ask for the state.
const POLL: Duration = Duration::from_secs(1);

/// The tasks of a server.
#[derive(Default)]
pub(super) struct Tasks(Mutex<TaskTable>);

#[derive(Default)]
struct TaskTable {
    rows: BTreeMap<u64, TaskEntry>,
    next: u64,
}

struct TaskEntry {
    id: String,
    client: ClientId,
    share: Share,
    created: Timestamp,
    updated: Timestamp,
    expires: Instant,
    time_to_live: Duration,
    message: Option<String>,
    /// The questions that wait for their answers, by name.
    asked: BTreeMap<String, AskedQuestion>,
    /// How many questions there were: each has a name of its own.
    questions: u32,
    /// What came of it, with the size in bytes; `None` while it works.
    ended: Option<(TaskPayload, usize)>,
    cancelled: CancelOnDrop,
}

impl Tasks {
    /// Lets a call go on as a task of its client. `time` is how long its work may take.
    ///
    /// # Errors
    /// If too many tasks run. The call is cancelled.
    pub(super) fn begin(
        self: &Arc<Self>,
        running: RunningCall,
        time: Duration,
    ) -> Result<Task, ErrorData> {
        let id = thumbwire_core::random::hex::<16>()
            .map_err(|error| ErrorData::internal_error(error, None))?;
        let (now, time_to_live) = (Timestamp::now(), time + KEPT);
        let (client, share) = (running.binding.client().clone(), running.binding.share().clone());
        let entry = TaskEntry {
            id,
            client: client.clone(),
            share: share.clone(),
            created: now,
            updated: now,
            expires: Instant::now() + time_to_live,
            time_to_live,
            message: None,
            asked: BTreeMap::new(),
            questions: 0,
            ended: None,
            cancelled: CancelOnDrop(running.cancelled.0.clone()),
        };
        let task = entry.task();
        let number = {
            let mut table = self.table();
            let running = || table.rows.values().filter(|entry| entry.ended.is_none());
            let own = running().filter(|entry| entry.client == client).count();
            let all = running().count();
            let alike = running().filter(|entry| entry.share == share).count();
            let is_full = share != Share::Whole && alike >= MAX_RUNNING_OF_TOKEN;
            if own >= MAX_RUNNING_OF_CLIENT || is_full || all >= MAX_RUNNING {
                let text = format!(
                    "{own} tasks of this client, {alike} of its token and {all} of the server are running, \
                     of {MAX_RUNNING_OF_CLIENT}, {MAX_RUNNING_OF_TOKEN} and {MAX_RUNNING} at most: \
                     wait until one ends, or end one with tasks/cancel"
                );
                return Err(ErrorData::new(ErrorCode::INVALID_REQUEST, text, None));
            }
            let number = table.next;
            table.next += 1;
            table.rows.insert(number, entry);
            forget_old(&mut table.rows, &client);
            number
        };
        tokio::spawn(follow(Arc::downgrade(self), number, running));
        Ok(task)
    }

    /// The state of a client's task.
    ///
    /// # Errors
    /// If the client has no task with this id.
    pub(super) fn get(&self, client: &ClientId, id: &str) -> Result<DetailedTask, ErrorData> {
        self.with(client, id, |entry| DetailedTask::new(entry.task(), entry.payload()))
    }

    /// Passes answers on to the question of a client's task. Those to questions that are not open
    /// are ignored, as the specification says.
    ///
    /// # Errors
    /// If the client has no task with this id.
    pub(super) fn update(
        &self,
        client: &ClientId,
        id: &str,
        responses: &InputResponses,
    ) -> Result<(), ErrorData> {
        self.with(client, id, |entry| {
            for (name, response) in responses {
                let Some(asked) = entry.asked.remove(name) else { continue };
                entry.updated = Timestamp::now();
                asked.answer(response);
            }
        })
    }

    /// Cancels a client's task. It ends when its work has ended.
    ///
    /// # Errors
    /// If the client has no task with this id.
    pub(super) fn cancel(&self, client: &ClientId, id: &str) -> Result<(), ErrorData> {
        self.with(client, id, |entry| {
            entry.cancelled.0.cancel();
            // Nobody answers any more.
            entry.asked.clear();
        })
    }

    /// Cancels and forgets the tasks of a client that has left.
    pub(super) fn client_left(&self, client: &ClientId) {
        self.table().rows.retain(|_, entry| entry.client != *client);
    }

    /// The table, without the tasks whose time is over.
    fn table(&self) -> MutexGuard<'_, TaskTable> {
        let mut table = lock(&self.0);
        let now = Instant::now();
        table.rows.retain(|_, entry| entry.expires > now);
        table
    }

    fn with<T>(
        &self,
        client: &ClientId,
        id: &str,
        act: impl FnOnce(&mut TaskEntry) -> T,
    ) -> Result<T, ErrorData> {
        let mut table = self.table();
        let is_meant = |entry: &&mut TaskEntry| entry.id == id && entry.client == *client;
        let entry = table.rows.values_mut().find(is_meant).ok_or_else(|| {
            let text = "Task not found: it never existed, or its time is over. Call the tool again";
            ErrorData::invalid_params(text, None)
        })?;
        Ok(act(entry))
    }

    /// Changes the task with this number, if it is still kept.
    fn change(&self, number: u64, act: impl FnOnce(&mut TaskEntry)) {
        let mut table = self.table();
        let Some(entry) = table.rows.get_mut(&number) else { return };
        act(entry);
        let client = entry.client.clone();
        forget_old(&mut table.rows, &client);
    }
}

/// Forgets the client's oldest ended tasks beyond what is kept.
fn forget_old(rows: &mut BTreeMap<u64, TaskEntry>, client: &ClientId) {
    loop {
        let own: Vec<_> = rows.iter().filter(|(_, entry)| entry.client == *client).collect();
        let bytes: usize = own.iter().map(|(_, entry)| entry.bytes()).sum();
        let ended: Vec<u64> = own
            .iter()
            .filter(|(_, entry)| entry.ended.is_some())
            .map(|(number, _)| **number)
            .collect();
        let too_many = own.len() > MAX_KEPT || bytes > MAX_BYTES && ended.len() > 1;
        match ended.first().filter(|_| too_many) {
            Some(oldest) => drop(rows.remove(oldest)),
            None => return,
        }
    }
}

/// Follows the work of a task until it ends. If the task is forgotten meanwhile, its work has been
/// cancelled.
async fn follow(tasks: Weak<Tasks>, number: u64, mut running: RunningCall) {
    let reply = loop {
        tokio::select! {
            biased;
            reply = &mut running.work => break reply,
            report = running.progress.next() => {
                if let Some(tasks) = tasks.upgrade() {
                    tasks.change(number, |entry| entry.tells(report.text));
                }
            }
            Some(asked) = running.questions.recv() => {
                if let Some(tasks) = tasks.upgrade() {
                    tasks.change(number, |entry| entry.asks(asked));
                }
            }
        }
    };
    let payload = match reply {
        Ok(reply) => {
            let is_cancelled = matches!(reply.cause, Some(Cause::Cancelled));
            running.entry.replied(&reply);
            if is_cancelled { TaskPayload::Cancelled } else { completed(reply) }
        }
        Err(error) if error.is_panic() => failed(panics::TEXT),
        Err(error) => failed(&format!("the call failed: {error}")),
    };
    let bytes = match &payload {
        TaskPayload::Completed { result } => Value::from(result.clone()).to_string().len(),
        _ => 0,
    };
    if let Some(tasks) = tasks.upgrade() {
        tasks.change(number, |entry| entry.ends(payload, bytes));
    }
}

fn completed(reply: Reply) -> TaskPayload {
    match serde_json::to_value(offers::result(reply)) {
        Ok(Value::Object(result)) => TaskPayload::Completed { result },
        _ => failed("the result could not be written"),
    }
}

fn failed(text: &str) -> TaskPayload {
    let mut error = JsonObject::new();
    error.insert("code".into(), ErrorCode::INTERNAL_ERROR.0.into());
    error.insert("message".into(), text.into());
    TaskPayload::Failed { error }
}

impl TaskEntry {
    fn task(&self) -> Task {
        let mut task = Task::new(
            &*self.id,
            self.payload().status(),
            self.created.to_string(),
            self.updated.to_string(),
        );
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        task.ttl_ms = Some(milliseconds(self.time_to_live));
        task.poll_interval_ms = Some(milliseconds(POLL));
        task.status_message.clone_from(&self.message);
        task
    }

    fn payload(&self) -> TaskPayload {
        if let Some((payload, _)) = &self.ended {
            return payload.clone();
        }
        if self.asked.is_empty() {
            return TaskPayload::Working;
        }
        let requests = self.asked.iter();
        let requests = requests.filter_map(|(name, asked)| Some((name.clone(), asked.request()?)));
        TaskPayload::InputRequired { input_requests: requests.collect() }
    }

    /// The size of its result.
    fn bytes(&self) -> usize {
        self.ended.as_ref().map_or(0, |(_, bytes)| *bytes)
    }

    fn ends(&mut self, payload: TaskPayload, bytes: usize) {
        self.updated = Timestamp::now();
        self.asked.clear();
        self.ended = Some((payload, bytes));
    }

    fn tells(&mut self, text: String) {
        if self.message.as_ref() != Some(&text) {
            self.updated = Timestamp::now();
            self.message = Some(text);
        }
    }

    /// A question; one that cannot be shown is not asked, and has no answer.
    fn asks(&mut self, asked: AskedQuestion) {
        if asked.request().is_none() {
            return;
        }
        self.questions += 1;
        let name = format!("{}-{}", asked.question().name, self.questions);
        self.updated = Timestamp::now();
        self.asked.insert(name, asked);
    }
}
