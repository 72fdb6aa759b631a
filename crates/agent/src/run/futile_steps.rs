//! Notices that a run's steps lead nowhere, so that a planner can find another way.

use super::step::CarryOver;
use crate::policy::observation::AnomalyKind;
use thumbwire_core::trace::format::AgentStep;

/// Steps that led nowhere.
#[derive(Default)]
pub(crate) struct FutileSteps {
    /// How many in a row.
    count: u32,
    /// How many steps the last plan may still take.
    rest: u32,
    /// Why the next step needs another plan.
    reason: Option<String>,
}

impl FutileSteps {
    /// After how many steps without effect another plan is needed. A new plan gets as many.
    const MAX_COUNT: u32 = 2;

    /// Takes note of a step. `circle` is the warning of a loop.
    pub(crate) fn on_step(&mut self, line: &AgentStep, left: &CarryOver, circle: Option<&str>) {
        let futile = left.failed || left.anomalies.contains(&AnomalyKind::NoEffect);
        self.count = if futile { self.count + 1 } else { 0 };
        self.rest = self.rest.saturating_sub(1);
        let rejected = line.judgement.as_ref().filter(|judgement| !judgement.reached);
        self.reason = match (rejected, circle) {
            (Some(judgement), _) => Some(format!("the goal is not reached: {}", judgement.reason)),
            (None, _) if self.rest > 0 => None,
            (None, Some(circle)) => Some(circle.to_owned()),
            (None, None) => (self.count >= Self::MAX_COUNT)
                .then(|| format!("{} steps in a row failed or changed nothing", self.count)),
        };
        if self.reason.is_some() {
            (self.count, self.rest) = (0, Self::MAX_COUNT);
        }
    }

    /// Why the next step needs another plan; `None` if it does not.
    pub(crate) fn take_reason(&mut self) -> Option<String> {
        self.reason.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thumbwire_core::trace::format::JudgementRecord;

    fn futile() -> CarryOver {
        CarryOver { failed: true, ..CarryOver::default() }
    }

    #[test]
    fn two_futile_steps_in_a_row_need_another_plan() {
        let mut steps = FutileSteps::default();
        let mut after = |left: CarryOver| {
            steps.on_step(&AgentStep::default(), &left, None);
            steps.take_reason()
        };
        assert_eq!(after(futile()), None);
        assert_eq!(after(CarryOver::default()), None);
        assert_eq!(after(futile()), None);
        let unchanged =
            CarryOver { anomalies: vec![AnomalyKind::NoEffect], ..CarryOver::default() };
        let reason = "2 steps in a row failed or changed nothing";
        assert_eq!(after(unchanged).as_deref(), Some(reason));
        assert_eq!(after(futile()), None, "the new plan gets its chance");
        assert_eq!(after(futile()).as_deref(), Some(reason));
    }

    #[test]
    fn loop_needs_another_plan_but_not_in_every_step() {
        let mut steps = FutileSteps::default();
        let mut looped = || {
            steps.on_step(&AgentStep::default(), &CarryOver::default(), Some("a loop"));
            steps.take_reason().is_some()
        };
        assert_eq!([looped(), looped(), looped()], [true, false, true]);
    }

    #[test]
    fn rejected_claim_needs_another_plan_at_once() {
        let mut steps = FutileSteps::default();
        let judgement = Some(JudgementRecord { reached: false, reason: "no results".into() });
        let claim = AgentStep { judgement, ..AgentStep::default() };
        for _ in 0..2 {
            steps.on_step(&claim, &CarryOver::default(), Some("a loop"));
            let reason = steps.take_reason();
            assert_eq!(reason.as_deref(), Some("the goal is not reached: no results"));
        }
    }
}
