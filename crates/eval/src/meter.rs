//! The limits of a whole evaluation: cost, tokens, time, and an interruption by the user.
//!
//! A [`Meter`] is shared by all attempts. [`MeteredPolicy`] asks it before each decision and tells
//! it what the decision cost, so that attempts which run at the same time exceed a limit by a
//! decision each at most. An attempt that the meter ends has no score: it can be repeated.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use thumbwire_base::lock;
use tokio_util::sync::CancellationToken;

use thumbwire_agent::model::Usage;
use thumbwire_agent::{Decision, Judgement, Observation, Policy, PolicyError, PolicyOutput};
use thumbwire_core::action::Call;
use thumbwire_core::event::EventSink;

/// The limits of a whole evaluation; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EvalLimits {
    /// US dollars.
    pub dollars: Option<f64>,
    /// Tokens, input and output.
    pub tokens: Option<u64>,
    /// Real time.
    pub time: Option<Duration>,
}

/// What an evaluation has used, and whether it must end.
#[derive(Debug)]
pub struct Meter {
    limits: EvalLimits,
    spent: Mutex<Usage>,
    began: Instant,
    interrupted: CancellationToken,
}

impl Default for Meter {
    /// No limits.
    fn default() -> Self {
        Self::new(EvalLimits::default(), Usage::default())
    }
}

impl Meter {
    /// A meter that starts now; `spent` was used before.
    pub fn new(limits: EvalLimits, spent: Usage) -> Self {
        let interrupted = CancellationToken::new();
        Self { limits, spent: Mutex::new(spent), began: Instant::now(), interrupted }
    }

    /// Cancelling this ends the evaluation: attempts in progress stop after their current action.
    pub fn interruption(&self) -> CancellationToken {
        self.interrupted.clone()
    }

    /// What was used so far, attempts in progress included.
    pub fn spent(&self) -> Usage {
        lock(&self.spent).clone()
    }

    /// Why the evaluation must end, or `None` if it may go on.
    pub fn over(&self) -> Option<String> {
        let EvalLimits { dollars, tokens, time } = self.limits;
        if self.interrupted.is_cancelled() {
            return Some("interrupted".into());
        }
        let spent = lock(&self.spent);
        if let Some(max) = dollars {
            match spent.dollars {
                None if spent.calls > 0 => {
                    return Some("the cost is unknown: pass the model's price with --price".into());
                }
                Some(used) if used >= max => {
                    return Some(format!("the cost limit of ${max:.2} is reached"));
                }
                _ => {}
            }
        }
        if let Some(max) = tokens.filter(|max| spent.input_tokens + spent.output_tokens >= *max) {
            return Some(format!("the limit of {max} tokens is reached"));
        }
        let max = time.filter(|max| self.began.elapsed() >= *max)?;
        Some(format!("the time limit of {} s is reached", max.as_secs()))
    }

    /// What is left of the time.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.limits.time.map(|max| max.saturating_sub(self.began.elapsed()))
    }

    /// A token that is cancelled with the evaluation.
    pub(crate) fn cancelled(&self) -> CancellationToken {
        self.interrupted.child_token()
    }

    fn add(&self, usage: &Usage) {
        lock(&self.spent).add(usage);
    }

    fn check(&self) -> Result<(), PolicyError> {
        match self.over() {
            None => Ok(()),
            Some(reason) => Err(PolicyError { reason, spent: Usage::default(), cancelled: true }),
        }
    }
}

/// A policy that decides nothing more when the evaluation must end.
pub(crate) struct MeteredPolicy {
    inner: Arc<dyn Policy>,
    meter: Arc<Meter>,
}

impl MeteredPolicy {
    pub(crate) fn new(inner: Arc<dyn Policy>, meter: Arc<Meter>) -> Self {
        Self { inner, meter }
    }
}

#[async_trait]
impl Policy for MeteredPolicy {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn inner(&self) -> Option<&dyn Policy> {
        Some(&*self.inner)
    }

    async fn decide(
        &self,
        observation: &Observation,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        self.meter.check()?;
        let decided = self.inner.decide(observation, call, watch).await;
        self.meter.add(match &decided {
            Ok(output) => &output.spent,
            Err(error) => &error.spent,
        });
        decided
    }

    async fn judge(
        &self,
        observation: &Observation,
        claim: &Decision,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<Option<Judgement>, PolicyError> {
        self.meter.check()?;
        let judged = self.inner.judge(observation, claim, call, watch).await;
        match &judged {
            Ok(Some(judgement)) => self.meter.add(&judgement.spent),
            Ok(None) => {}
            Err(error) => self.meter.add(&error.spent),
        }
        judged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(tokens: u64, dollars: Option<f64>) -> Usage {
        Usage { calls: 1, input_tokens: tokens, dollars, ..Usage::default() }
    }

    #[test]
    fn each_limit_ends_the_evaluation() {
        let limits = EvalLimits { dollars: Some(1.0), tokens: Some(1_000), time: None };
        let over = |spent: Usage| Meter::new(limits, spent).over();
        assert_eq!(over(Usage::default()), None);
        assert_eq!(over(used(999, Some(0.99))), None);
        assert_eq!(over(used(5, Some(1.0))).as_deref(), Some("the cost limit of $1.00 is reached"));
        assert_eq!(
            over(used(1_000, Some(0.5))).as_deref(),
            Some("the limit of 1000 tokens is reached")
        );
        assert!(over(used(5, None)).unwrap().contains("--price"));
        let no_time = EvalLimits { time: Some(Duration::ZERO), ..EvalLimits::default() };
        assert!(Meter::new(no_time, Usage::default()).over().unwrap().contains("time limit"));
    }

    #[test]
    fn what_was_spent_adds_up_and_an_interruption_ends_it() {
        let meter = Meter::default();
        meter.add(&used(7, Some(0.1)));
        meter.add(&used(5, Some(0.2)));
        assert_eq!(meter.spent().input_tokens, 12);
        assert!(meter.over().is_none() && meter.check().is_ok());
        meter.interruption().cancel();
        assert!(meter.cancelled().is_cancelled());
        assert!(meter.check().unwrap_err().cancelled);
    }
}
