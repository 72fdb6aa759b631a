//! The four phases of a round (seed 002, "Four-Phase Pipeline").
//!
//! A phase is a [`Strategy`]: it declares by the document's names what it needs and gives, and whether its failure is the run's. Begin
//! with [`Pipeline::of_a_round`], which is the document's table. An order in which something is needed before it is given is refused
//! at start-up ([`Pipeline::check`]); [`explain`] prints the graph. How rounds follow each other is [`super::run`]'s.

mod act;
mod collect;
mod remember;
mod think;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use async_trait::async_trait;
use tokio::time::Instant;

use super::context::Context;
use super::round::Round;
pub(super) use remember::line;
pub(super) use think::sight;

/// A part of a round.
#[async_trait]
pub(super) trait Strategy: Send + Sync {
    /// The document's name of it.
    fn name(&self) -> &'static str;

    /// The keys that must be there before it (`@depends_on`).
    fn needs(&self) -> Vec<&'static str>;

    /// The keys that are there after it (`@provides`).
    fn gives(&self) -> Vec<&'static str>;

    /// Whether its failure ends the run.
    fn fails_fast(&self) -> bool;

    /// The parts that it is composed of; none where it is one piece.
    fn parts(&self) -> &[Box<dyn Strategy>] {
        &[]
    }

    /// Carries it out.
    async fn carry_out(&self, round: &mut Round<'_>) -> Result<(), Broken>;
}

/// Why a strategy was not carried out, in words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Broken(pub(super) String);

/// Strategies, one after the other (`ComposedStrategy`).
pub(super) struct Composed {
    name: &'static str,
    parts: Vec<Box<dyn Strategy>>,
    fails_fast: bool,
}

#[async_trait]
impl Strategy for Composed {
    fn name(&self) -> &'static str {
        self.name
    }

    fn needs(&self) -> Vec<&'static str> {
        let mut given = BTreeSet::new();
        let mut needed = Vec::new();
        for part in &self.parts {
            let missing = part.needs().into_iter().filter(|key| !given.contains(key));
            needed.extend(missing.collect::<Vec<_>>());
            given.extend(part.gives());
        }
        needed
    }

    fn gives(&self) -> Vec<&'static str> {
        let mut given = Vec::new();
        for key in self.parts.iter().flat_map(|part| part.gives()) {
            if !given.contains(&key) {
                given.push(key);
            }
        }
        given
    }

    fn fails_fast(&self) -> bool {
        self.fails_fast
    }

    fn parts(&self) -> &[Box<dyn Strategy>] {
        &self.parts
    }

    async fn carry_out(&self, round: &mut Round<'_>) -> Result<(), Broken> {
        for part in &self.parts {
            carry_out(&**part, round).await?;
        }
        Ok(())
    }
}

/// Carries a strategy out by its rule: what fails fast fails what it is a part of; what does not is logged, and told to the mind.
async fn carry_out(strategy: &dyn Strategy, round: &mut Round<'_>) -> Result<(), Broken> {
    let missing = strategy.needs().into_iter().find(|key| !round.context.has(key));
    if let Some(missing) = missing.filter(|_| strategy.parts().is_empty()) {
        tracing::debug!("{}: there is no {missing} this time", strategy.name());
    }
    match strategy.carry_out(round).await {
        Err(broken) if strategy.fails_fast() => Err(broken),
        Err(Broken(why)) => {
            tracing::warn!("{}: {why}", strategy.name());
            round.failures.push(why);
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// A round's phases, in order, each with the document's name of the phase.
pub(super) struct Pipeline(Vec<(&'static str, Box<dyn Strategy>)>);

impl Pipeline {
    /// The document's ("Strategy Registration").
    pub(super) fn of_a_round() -> Self {
        let collection = Composed {
            name: "MobileDataCollectionStrategy",
            parts: vec![
                Box::new(collect::Screenshot),
                Box::new(collect::Apps),
                Box::new(collect::Controls),
            ],
            fails_fast: true,
        };
        Self(vec![
            ("DATA_COLLECTION", Box::new(collection)),
            ("LLM_INTERACTION", Box::new(think::Interaction)),
            ("ACTION_EXECUTION", Box::new(act::Execution)),
            ("MEMORY_UPDATE", Box::new(remember::Update)),
        ])
    }

    /// Carries a round out, phase by phase. A run that was taken back ends between two of them.
    ///
    /// # Errors
    /// Why a phase that fails fast failed; the later ones are left out.
    pub(super) async fn carry_out(&self, round: &mut Round<'_>) -> Result<(), Broken> {
        for (phase, strategy) in &self.0 {
            let began = Instant::now();
            let done = carry_out(&**strategy, round).await;
            round.timed(phase, began.elapsed());
            done?;
        }
        Ok(())
    }

    /// Whether each strategy finds what it needs: given by one before it, or by the run.
    ///
    /// # Errors
    /// What is needed and not there, in words.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut given: BTreeSet<&str> = GIVEN_BY_THE_RUN.into();
        self.0.iter().try_for_each(|(_, strategy)| check(&**strategy, &mut given))
    }
}

/// What a round begins with.
const GIVEN_BY_THE_RUN: [&str; 3] = ["request", "log_path", "session_step"];

fn check(strategy: &dyn Strategy, given: &mut BTreeSet<&str>) -> Result<(), String> {
    let name = strategy.name();
    let (needs, gives) = (strategy.needs(), strategy.gives());
    if let Some(odd) = needs.iter().chain(&gives).find(|key| !Context::KEYS.contains(key)) {
        return Err(format!("{name} names {odd}, which is no key of a round"));
    }
    if strategy.parts().is_empty() {
        if let Some(missing) = needs.iter().find(|key| !given.contains(*key)) {
            return Err(format!("{name} needs {missing}, which nothing before it gives"));
        }
        given.extend(gives);
    }
    strategy.parts().iter().try_for_each(|part| check(&**part, given))
}

/// The phases of a round as text: what each needs and gives, and what its failure means.
pub fn explain() -> String {
    let mut told = format!("A round begins with {}.\n", GIVEN_BY_THE_RUN.join(", "));
    for (number, (phase, strategy)) in (1..).zip(&Pipeline::of_a_round().0) {
        let _ = write!(told, "\n{number}. {phase}\n");
        describe(&**strategy, 1, &mut told);
    }
    told.push_str(
        "\nThen, by the status: CONTINUE, the next round; FINISH, done once a fresh look bears it out; FAIL, over.\n",
    );
    told
}

fn describe(strategy: &dyn Strategy, depth: usize, told: &mut String) {
    let indent = "   ".repeat(depth);
    let rule = if strategy.fails_fast() { "its failure ends the run" } else { "the run goes on" };
    let _ = writeln!(told, "{indent}{} ({rule})", strategy.name());
    let _ = writeln!(told, "{indent}   needs {}", strategy.needs().join(", "));
    let _ = writeln!(told, "{indent}   gives {}", strategy.gives().join(", "));
    for part in strategy.parts() {
        describe(&**part, depth + 1, told);
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
    fn an_order_in_which_something_is_missing_is_refused() {
        assert_eq!(Pipeline::of_a_round().check(), Ok(()));
        let mut wrong = Pipeline::of_a_round();
        wrong.0.swap(0, 1);
        assert_eq!(
            wrong.check().unwrap_err(),
            "MobileLLMInteractionStrategy needs installed_apps, which nothing before it gives"
        );
        let mut wrong = Pipeline::of_a_round();
        wrong.0.swap(2, 3);
        let why = wrong.check().unwrap_err();
        assert!(why.contains("needs execution_result"), "{why}");
        // Inside of what is composed, too.
        let parts: Vec<Box<dyn Strategy>> =
            vec![Box::new(collect::Controls), Box::new(collect::Screenshot)];
        let composed = Composed { name: "Wrong", parts, fails_fast: true };
        let why = Pipeline(vec![("DATA_COLLECTION", Box::new(composed))]).check().unwrap_err();
        assert!(why.contains("needs clean_screenshot_url"), "{why}");
    }
}
