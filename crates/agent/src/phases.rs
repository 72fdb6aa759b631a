//! The four phases of a step (UFO MobileAgent strategy, "Four-Phase Pipeline").
//!
//! A phase is a [`Strategy`]: it declares, by the specification's names, what it depends on and provides, and whether
//! its failure ends the run. Start with [`Pipeline::standard`], the specification's table. [`Pipeline::check`]
//! rejects an order in which a key is needed before it is provided; [`explain`] prints the graph. How steps follow each
//! other is in [`super::run`].

mod action_execution;
mod data_collection;
mod llm_interaction;
mod memory_update;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use async_trait::async_trait;
use tokio::time::Instant;

use super::context::Context;
use super::step::StepInProgress;
pub(super) use llm_interaction::observation;
pub(super) use memory_update::line;

/// A part of a step.
#[async_trait]
pub(super) trait Strategy: Send + Sync {
    /// Its name in the specification.
    fn name(&self) -> &'static str;

    /// The keys that it depends on (`@depends_on`).
    fn dependencies(&self) -> Vec<&'static str>;

    /// The keys that it provides (`@provides`).
    fn provides(&self) -> Vec<&'static str>;

    /// Whether its failure ends the run.
    fn fail_fast(&self) -> bool;

    /// Its parts; none if it is not composed.
    fn parts(&self) -> &[Box<dyn Strategy>] {
        &[]
    }

    /// Executes it.
    async fn execute(&self, step: &mut StepInProgress<'_>) -> Result<(), StrategyError>;
}

/// Why a strategy failed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StrategyError(pub(super) String);

/// Strategies executed one after the other (`ComposedStrategy`).
pub(super) struct ComposedStrategy {
    name: &'static str,
    parts: Vec<Box<dyn Strategy>>,
    fails_fast: bool,
}

#[async_trait]
impl Strategy for ComposedStrategy {
    fn name(&self) -> &'static str {
        self.name
    }

    fn dependencies(&self) -> Vec<&'static str> {
        let mut given = BTreeSet::new();
        let mut needed = Vec::new();
        for part in &self.parts {
            let missing = part.dependencies().into_iter().filter(|key| !given.contains(key));
            needed.extend(missing.collect::<Vec<_>>());
            given.extend(part.provides());
        }
        needed
    }

    fn provides(&self) -> Vec<&'static str> {
        let mut given = Vec::new();
        for key in self.parts.iter().flat_map(|part| part.provides()) {
            if !given.contains(&key) {
                given.push(key);
            }
        }
        given
    }

    fn fail_fast(&self) -> bool {
        self.fails_fast
    }

    fn parts(&self) -> &[Box<dyn Strategy>] {
        &self.parts
    }

    async fn execute(&self, step: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
        for part in &self.parts {
            execute(&**part, step).await?;
        }
        Ok(())
    }
}

/// Executes a strategy. A fail-fast strategy fails its parent; the failure of any other is logged and reported to the
/// policy.
async fn execute(
    strategy: &dyn Strategy,
    step: &mut StepInProgress<'_>,
) -> Result<(), StrategyError> {
    let missing = strategy.dependencies().into_iter().find(|key| !step.context.has(key));
    if let Some(missing) = missing.filter(|_| strategy.parts().is_empty()) {
        tracing::debug!("{}: {missing} is missing in this step", strategy.name());
    }
    match strategy.execute(step).await {
        Err(broken) if strategy.fail_fast() => Err(broken),
        Err(StrategyError(why)) => {
            tracing::warn!("{}: {why}", strategy.name());
            step.failures.push(why);
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// The phases of a step, in order, each with its name in the specification.
pub(super) struct Pipeline(Vec<(&'static str, Box<dyn Strategy>)>);

impl Pipeline {
    /// The specification's pipeline ("Strategy Registration").
    pub(super) fn standard() -> Self {
        let collection = ComposedStrategy {
            name: "MobileDataCollectionStrategy",
            parts: vec![
                Box::new(data_collection::ScreenshotCapture),
                Box::new(data_collection::AppsCollection),
                Box::new(data_collection::ControlsCollection),
            ],
            fails_fast: true,
        };
        Self(vec![
            ("DATA_COLLECTION", Box::new(collection)),
            ("LLM_INTERACTION", Box::new(llm_interaction::LlmInteraction)),
            ("ACTION_EXECUTION", Box::new(action_execution::ActionExecution)),
            ("MEMORY_UPDATE", Box::new(memory_update::MemoryUpdate)),
        ])
    }

    /// Executes a step, phase by phase.
    ///
    /// # Errors
    /// Why a fail-fast phase failed; later phases are skipped.
    pub(super) async fn execute(&self, step: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
        for (phase, strategy) in &self.0 {
            let began = Instant::now();
            let done = execute(&**strategy, step).await;
            step.timed(phase, began.elapsed());
            done?;
        }
        Ok(())
    }

    /// Checks that each strategy's dependencies are provided by an earlier strategy or by the run.
    ///
    /// # Errors
    /// The missing key.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut given: BTreeSet<&str> = GIVEN_BY_THE_RUN.into();
        self.0.iter().try_for_each(|(_, strategy)| check(&**strategy, &mut given))
    }
}

/// The keys that a step starts with.
const GIVEN_BY_THE_RUN: [&str; 3] = ["request", "log_path", "session_step"];

fn check(strategy: &dyn Strategy, given: &mut BTreeSet<&str>) -> Result<(), String> {
    let name = strategy.name();
    let (needs, gives) = (strategy.dependencies(), strategy.provides());
    if let Some(odd) = needs.iter().chain(&gives).find(|key| !Context::KEYS.contains(key)) {
        return Err(format!("{name} names {odd}, which is not a context key"));
    }
    if strategy.parts().is_empty() {
        if let Some(missing) = needs.iter().find(|key| !given.contains(*key)) {
            return Err(format!("{name} needs {missing}, which no earlier strategy provides"));
        }
        given.extend(gives);
    }
    strategy.parts().iter().try_for_each(|part| check(&**part, given))
}

/// The phases of a step as text: what each depends on and provides, and what its failure means.
pub fn explain() -> String {
    let mut out = format!("A step starts with {}.\n", GIVEN_BY_THE_RUN.join(", "));
    for (number, (phase, strategy)) in (1..).zip(&Pipeline::standard().0) {
        let _ = write!(out, "\n{number}. {phase}\n");
        describe(&**strategy, 1, &mut out);
    }
    out.push_str(
        "\nThen, by status: CONTINUE starts the next step; FINISH ends the run once a check of the screen confirms it; FAIL ends the run.\n",
    );
    out
}

fn describe(strategy: &dyn Strategy, depth: usize, out: &mut String) {
    let indent = "   ".repeat(depth);
    let rule = if strategy.fail_fast() {
        "a failure ends the run"
    } else {
        "the run continues after a failure"
    };
    let _ = writeln!(out, "{indent}{} ({rule})", strategy.name());
    let _ = writeln!(out, "{indent}   needs {}", strategy.dependencies().join(", "));
    let _ = writeln!(out, "{indent}   provides {}", strategy.provides().join(", "));
    for part in strategy.parts() {
        describe(&**part, depth + 1, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graph_of_a_round() {
        insta::assert_snapshot!(explain());
    }

    #[test]
    fn pipeline_with_a_missing_dependency_is_rejected() {
        assert_eq!(Pipeline::standard().check(), Ok(()));
        let mut wrong = Pipeline::standard();
        wrong.0.swap(0, 1);
        assert_eq!(
            wrong.check().unwrap_err(),
            "MobileLLMInteractionStrategy needs installed_apps, which no earlier strategy provides"
        );
        let mut wrong = Pipeline::standard();
        wrong.0.swap(2, 3);
        let reason = wrong.check().unwrap_err();
        assert!(reason.contains("needs execution_result"), "{reason}");
        // Inside a composed strategy, too.
        let parts: Vec<Box<dyn Strategy>> = vec![
            Box::new(data_collection::ControlsCollection),
            Box::new(data_collection::ScreenshotCapture),
        ];
        let composed = ComposedStrategy { name: "Wrong", parts, fails_fast: true };
        let reason = Pipeline(vec![("DATA_COLLECTION", Box::new(composed))]).check().unwrap_err();
        assert!(reason.contains("needs clean_screenshot_url"), "{reason}");
    }
}
