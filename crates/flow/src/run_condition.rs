//! Runs steps that depend on conditions.
//!
//! Start with [`CaseRunner::unmet`]. A condition about an element waits a while for it, as Maestro
//! does: less the longer the phone has not been acted on.

use std::time::Duration;

use tokio::time::Instant;

use super::case_runner::{CaseRunner, StepError};
use super::parse::SHORT_LOOKUP;
use super::plan::{Assertion, Condition, FlowStep, MAX_ROUNDS, StepKind};
use super::report::FailureKind;
use super::run_step::{StepFailure, here};

impl CaseRunner<'_> {
    /// The first condition that does not hold.
    pub(super) async fn unmet<'c>(
        &mut self,
        conditions: &'c [Condition],
    ) -> Result<Option<&'c Condition>, StepError> {
        for condition in conditions {
            if !self.condition_holds(condition).await? {
                return Ok(Some(condition));
            }
        }
        Ok(None)
    }

    /// Whether a condition holds, now or in a moment.
    pub(super) async fn condition_holds(
        &mut self,
        condition: &Condition,
    ) -> Result<bool, StepError> {
        let expected = match condition {
            Condition::Platform(platform) => return Ok(*platform == self.context.platform),
            Condition::Expression { holds, .. } => return Ok(*holds),
            Condition::Visible(element) => Assertion::Visible(element.clone()),
            Condition::NotVisible(element) => Assertion::NotVisible(element.clone()),
        };
        match self.check(&expected, self.lookup_left()).await {
            Ok(()) => Ok(true),
            Err(error) if error.kind == FailureKind::Expectation => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// How long an element may still take to appear after the last action.
    fn lookup_left(&self) -> Duration {
        self.state.acted_at.map_or(SHORT_LOOKUP, |acted| {
            SHORT_LOOKUP.saturating_sub(Instant::now().saturating_duration_since(acted))
        })
    }

    /// Repeats steps while all conditions hold.
    pub(super) async fn repeat_while(
        &mut self,
        step: &FlowStep,
        conditions: &[Condition],
        times: Option<u32>,
        steps: &[FlowStep],
        depth: usize,
    ) -> Result<(), StepFailure> {
        for round in 0..times.unwrap_or(MAX_ROUNDS) {
            // Its scripts may have another value in each round; those of the first are known.
            let now = match round {
                0 => None,
                _ => self.evaluated(step).await.map_err(|error| here(step, error))?,
            };
            let conditions = match now.as_ref().map(|now| &now.kind) {
                Some(StepKind::While { conditions, .. }) => conditions,
                _ => conditions,
            };
            let unmet = self.unmet(conditions).await.map_err(|error| here(step, error))?;
            if unmet.is_some() {
                return Ok(());
            }
            self.run_scope(steps, depth + 1).await?;
        }
        match times {
            Some(_) => Ok(()),
            None => {
                let what = format!(
                    "the condition still holds after {MAX_ROUNDS} rounds; limit them with `times`"
                );
                Err(here(step, StepError::new(FailureKind::Expectation, what)))
            }
        }
    }
}
