//! A round under way: what its phases share.
//!
//! The documented part of it is the [`Context`]; beside it stands what the phases need in types: the pictures, the listing, what was
//! decided, what came of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use thumbwire_device::Image;
use tokio::time::Instant;

use super::ask::Confirm;
use super::context::Context;
use super::hands::Hands;
use super::memory::Memory;
use super::mind::{Mind, Thinking};
use super::options::Options;
use super::reply::Status;
use super::scene::Scene;
use super::sight::ControlRow;
use super::story::Story;
use super::verify::Kind;
use super::watch::Watch;
use crate::action::Call;
use crate::trace::format::{Carried, Judged};

/// A round under way.
pub(super) struct Round<'a> {
    pub(super) mind: &'a dyn Mind,
    pub(super) hands: &'a Hands<'a>,
    pub(super) options: &'a Options,
    pub(super) story: &'a Story,
    pub(super) watch: &'a dyn Watch,
    pub(super) call: &'a Call,
    pub(super) memory: &'a Memory,
    /// The names of the secrets that can be typed.
    pub(super) secrets: &'a [String],
    /// Which acts a person is asked about.
    pub(super) confirm: Confirm,
    /// What the last round left.
    pub(super) before: &'a Left,
    /// What is left of the budgets, in words.
    pub(super) left: String,
    pub(super) number: u32,
    pub(super) began: Instant,
    /// The steps of the story before it.
    pub(super) steps_before: u32,
    pub(super) context: Context,
    pub(super) screen: Screen,
    /// What the mind is told of the round before and of this one's looks.
    pub(super) observations: Vec<String>,
    pub(super) thinking: Option<Thinking>,
    pub(super) carried: Vec<Carried>,
    pub(super) judged: Option<Judged>,
    /// What this one leaves to the next.
    pub(super) leaves: Left,
    /// How the task stands.
    pub(super) status: Status,
    /// What failed and did not end the run.
    pub(super) failures: Vec<String>,
    /// What models cost in this round.
    pub(super) spent: super::model::Spent,
    pub(super) timings: Map<String, Value>,
}

/// What a round leaves to the next one beside its line.
#[derive(Debug, Clone, Default)]
pub(super) struct Left {
    /// The screen after its last action; `None` where that was not looked at.
    pub(super) scene: Option<Scene>,
    /// What stayed wrong.
    pub(super) kinds: Vec<Kind>,
    /// Whether an action failed.
    pub(super) failed: bool,
}

/// The phone's screen as a round saw it.
#[derive(Debug, Clone, Default)]
pub(super) struct Screen {
    pub(super) clean: Option<Image>,
    pub(super) marked: Option<Image>,
    /// The app in front, and the listing behind the rows.
    pub(super) scene: Scene,
    pub(super) rows: Vec<ControlRow>,
    /// Whether the picture shows nothing: the app is secure, or the screen is off.
    pub(super) black: bool,
    /// Why the words alone may not do.
    pub(super) doubt: Option<String>,
}

impl Round<'_> {
    /// Keeps how long a phase took, in milliseconds.
    pub(super) fn timed(&mut self, phase: &str, took: Duration) {
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.timings.insert(phase.into(), millis.into());
    }

    /// What can be done.
    pub(super) fn functions(&self) -> Arc<[super::sight::Function]> {
        self.hands.functions()
    }

    /// Whether the mind claims that the goal is reached, all before that was done, and no judgement came.
    pub(super) fn claim_is_unchecked(&self) -> bool {
        let claims = self.thinking.as_ref().is_some_and(|it| it.decision.status == Status::Finish);
        claims
            && self.status == Status::Continue
            && self.judged.is_none()
            && self.carried.iter().all(|carried| carried.success)
    }

    /// Whether the run was taken back, or its time is over.
    pub(super) fn is_over(&self) -> bool {
        self.call.cancelled.is_cancelled() || Instant::now() >= self.call.deadline
    }
}
