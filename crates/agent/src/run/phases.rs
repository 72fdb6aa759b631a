//! The four phases of a step, in the order of the UFO MobileAgent strategy ("Four-Phase Pipeline").
//!
//! A failure of the first two ends the run (`fail_fast`): a step needs a screenshot and a decision.
//! A failure of the others is a note for the policy. How steps follow each other is in
//! [`crate::run`].

use tokio::time::Instant;

use super::step::{PhaseError, StepInProgress};
use super::{collect, decide, execute, record};

/// Runs the phases of a step.
///
/// # Errors
/// Why a fail-fast phase failed; later phases are skipped.
pub(crate) async fn run(step: &mut StepInProgress<'_>) -> Result<(), PhaseError> {
    let began = Instant::now();
    let collected = collect::collect(step).await;
    step.timed("DATA_COLLECTION", began);
    collected?;

    let began = Instant::now();
    let decided = decide::decide(step).await;
    step.timed("LLM_INTERACTION", began);
    decided?;

    let began = Instant::now();
    let executed = execute::execute(step).await;
    step.timed("ACTION_EXECUTION", began);
    step.tolerate(executed);

    let began = Instant::now();
    record::remember(step);
    step.timed("MEMORY_UPDATE", began);
    Ok(())
}
