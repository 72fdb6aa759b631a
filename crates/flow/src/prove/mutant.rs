//! Mutants of the app, and the checks that would notice them: both from a run of the flow that
//! passed.

use std::collections::BTreeMap;

use serde_json::Value;
use thumbwire_core::action::Action;
use thumbwire_core::trace::Trace;
use thumbwire_core::trace::format::TraceRecord;

use super::document::{CommandId, Document, Position};
use crate::from_trace::{self, Change};
use crate::plan::StepKind;
use crate::probe::{FoundElement, Label, Mutation, SeenStep};

/// Longer lists of checks for one mutant take many runs.
const MAX_CHECKS: usize = 8;

/// A mutated app.
pub(super) struct Mutant {
    /// The command that it was derived from.
    pub(super) command: CommandId,
    /// `None`: that command has no effect.
    mutation: Option<Mutation>,
    /// The checks that may notice it, the most likely first.
    pub(super) checks: Vec<(Position, Value)>,
}

/// What the commands did in a run that passed.
pub(super) struct Truth(BTreeMap<CommandId, CommandRun>);

#[derive(Default)]
struct CommandRun {
    steps: Vec<SeenStep>,
    changes: Vec<Change>,
}

impl Truth {
    /// `trace` is of the run of this version of the flow.
    pub(super) fn of(document: &Document, steps: Vec<SeenStep>, trace: &Trace) -> Self {
        let typed: Vec<(String, String)> = steps
            .iter()
            .filter_map(|step| match &step.kind {
                StepKind::Type { text, written } => Some((written.clone(), text.clone())),
                _ => None,
            })
            .collect();
        let mut commands: BTreeMap<CommandId, CommandRun> = BTreeMap::new();
        for step in steps {
            if let Some(id) = document.at(step.line) {
                commands.entry(id).or_default().steps.push(step);
            }
        }
        let command_of = |action: u32| {
            let mut outermost = trace.lines.iter().filter_map(|line| match line {
                TraceRecord::NamedStep(step) if step.parent.is_none() => Some(step),
                _ => None,
            });
            let has = |range: [u32; 2]| (range[0]..=range[1]).contains(&action);
            let step = outermost.find(|step| step.action_range.is_some_and(has))?;
            document.at(step.place.rsplit(':').nth(1)?.parse().ok()?)
        };
        for change in from_trace::changes(trace, &typed) {
            if let Some(id) = command_of(change.action_id) {
                commands.entry(id).or_default().changes.push(change);
            }
        }
        Self(commands)
    }

    /// The mutants that the run suggests.
    pub(super) fn mutants(&self) -> Vec<Mutant> {
        let mut mutants: Vec<Mutant> = Vec::new();
        let mut add = |command: CommandId, mutation: Option<Mutation>, checks| {
            let is_known = |one: &Mutant| mutation.is_some() && one.mutation == mutation;
            if !mutants.iter().any(is_known) {
                mutants.push(Mutant { command, mutation, checks });
            }
        };
        for (&id, run) in &self.0 {
            if self.acts(id) {
                let later = self.0.range(id..).flat_map(|(&id, run)| run.checks(id));
                add(id, None, later.take(MAX_CHECKS).collect());
            }
            for FoundElement { label, is_field } in
                run.steps.iter().filter_map(|step| step.element.as_ref())
            {
                let check = |text| vec![(Position::Before(id), from_trace::shows(text))];
                let checks = || match label {
                    Label::Text(text) => check(text),
                    Label::Id(_) => Vec::new(),
                };
                add(id, Some(Mutation::Gone(label.clone())), checks());
                if let (Label::Text(text), false) = (label, is_field) {
                    add(id, Some(Mutation::OtherText(text.clone())), checks());
                }
            }
            for (text, check) in run.changes.iter().flat_map(|change| &change.kept) {
                let checks = vec![(Position::After(id), check.clone())];
                add(id, Some(Mutation::NotKept(text.clone())), checks);
            }
        }
        mutants
    }

    /// Whether a command touches, types, presses or launches something.
    pub(super) fn acts(&self, id: CommandId) -> bool {
        self.0.get(&id).is_some_and(|run| run.steps.iter().any(|step| step.acts))
    }

    /// Whether a command only scrolls, hides the keyboard, or did nothing visible: a touch of what
    /// is off, the launch of the app in front.
    pub(super) fn is_idle(&self, id: CommandId) -> bool {
        let Some(run) = self.0.get(&id) else { return false };
        let is_seen = run.changes.iter().any(|change| change.is_visible);
        run.steps.iter().filter(|step| step.acts).all(|step| match &step.kind {
            StepKind::HideKeyboard
            | StepKind::ScrollTo(_)
            | StepKind::Act(Action::Scroll { .. }) => true,
            StepKind::Touch(_) | StepKind::Act(Action::Press(_) | Action::Launch(_)) => !is_seen,
            _ => false,
        })
    }
}

impl CommandRun {
    /// Checks of what it changed, after it.
    fn checks(&self, id: CommandId) -> impl Iterator<Item = (Position, Value)> {
        let checks = self.changes.iter().rev().flat_map(|change| change.checks.iter());
        checks.map(move |check| (Position::After(id), check.clone()))
    }
}

impl Mutant {
    /// Whether its command has no effect.
    pub(super) fn is_without_effect(&self) -> bool {
        self.mutation.is_none()
    }

    /// What is wrong with the app; `None` if this version of the flow has no such command.
    pub(super) fn mutation(&self, document: &Document) -> Option<Mutation> {
        self.mutation.clone().or_else(|| document.lines(self.command).map(Mutation::NoEffect))
    }

    /// In words.
    pub(super) fn describe(&self, original: &Document) -> String {
        let (number, text) = original.describe(self.command);
        let step = format!("step {number} `{text}`");
        match &self.mutation {
            None | Some(Mutation::NoEffect(_)) => format!("{step} does nothing"),
            Some(Mutation::Gone(Label::Text(text) | Label::Id(text))) => {
                format!("{text:?} of {step} is gone")
            }
            Some(Mutation::OtherText(text)) => format!("{text:?} of {step} says something else"),
            Some(Mutation::NotKept(text)) => format!("{text:?} is not shown after {step}"),
        }
    }
}
