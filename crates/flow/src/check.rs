//! What is worth knowing about a flow before it runs, besides errors.
//!
//! Start with [`Flow::warnings`], a pure function over the plan and what its files told.

use std::collections::{BTreeMap, BTreeSet};

use thumbwire_core::action::Action;

use super::error::{FlowError, SourceLocation};
use super::plan::{Flow, FlowStep, Place, StepKind};

impl Flow {
    /// What its steps need, what is wrong on one platform only, parameters that nothing uses, taps
    /// on elements that only a text describes, and waits by time.
    pub fn warnings(&self) -> Vec<FlowError> {
        let findings = &self.findings;
        let mut warnings = Vec::new();
        for need in &findings.needs {
            let when = if need.may_not_matter { " (if this step runs)" } else { "" };
            let what = format!("{}{when}", need.error.what);
            warnings.push(FlowError::new(need.error.at.clone(), what));
        }
        for (platform, error) in &findings.on_platform {
            let what = format!("on {platform}: {}", error.what);
            warnings.push(FlowError::new(error.at.clone(), what));
        }
        warnings.extend(findings.warnings.iter().cloned());
        for (name, at) in &findings.defined {
            if !self.uses_parameter(name) {
                warnings.push(FlowError::new(at.clone(), format!("nothing uses `{name}`")));
            }
        }
        warnings.extend(summarized(
            self.steps().filter(|step| is_tap_by_text(step)),
            "taps an element that only a text describes; an `id` survives translation; `thumbwire screen --full` shows ids",
        ));
        let travels = |step: &&FlowStep| matches!(step.kind, StepKind::Act(Action::SetLocation(_)));
        let travels: Vec<&SourceLocation> =
            self.steps().filter(travels).map(|step| &step.at).collect();
        warnings.extend(summarized(
            self.steps().filter(|step| is_wait(step) && !travels.contains(&&step.at)),
            "waits by time; `extendedWaitUntil` waits for what is meant",
        ));
        let mut seen = BTreeSet::new();
        warnings.retain(|warning| seen.insert((warning.at.to_string(), warning.what.clone())));
        warnings
    }

    /// Whether a script or text of its files mentions a parameter.
    pub fn uses_parameter(&self, name: &str) -> bool {
        self.findings.words.contains(name)
    }

    /// Its commands; not the steps that one command consists of.
    fn steps(&self) -> impl Iterator<Item = &FlowStep> {
        let steps = self.cases.iter().flat_map(|case| case.all_steps());
        steps.filter(|step| !step.kind.holds_others())
    }
}

/// A warning for the first of these steps in each file, with the number of the others.
fn summarized<'a>(steps: impl Iterator<Item = &'a FlowStep>, what: &str) -> Vec<FlowError> {
    let mut places: BTreeMap<(&str, u32), &SourceLocation> = BTreeMap::new();
    for step in steps {
        places.insert((step.at.file(), step.at.line), &step.at);
    }
    let mut by_file: BTreeMap<&str, (&SourceLocation, usize)> = BTreeMap::new();
    for ((file, _), at) in places {
        by_file.entry(file).or_insert((at, 0)).1 += 1;
    }
    let warning = |(at, count): (&SourceLocation, usize)| {
        let others = match count - 1 {
            0 => String::new(),
            others => format!(" (and {others} more in this file)"),
        };
        FlowError::new(at.clone(), format!("{what}{others}"))
    };
    by_file.into_values().map(warning).collect()
}

fn is_tap_by_text(step: &FlowStep) -> bool {
    match &step.kind {
        StepKind::Touch(touch) => match &touch.at {
            Place::Element(element, _) => element.is_only_a_text(),
            Place::Point(_) => false,
        },
        _ => false,
    }
}

fn is_wait(step: &FlowStep) -> bool {
    matches!(step.kind, StepKind::Act(Action::Wait(_)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::read;

    #[test]
    fn flows_are_checked_without_a_phone() {
        let text = "appId: a.b\nenv:\n  USED: a\n  UNUSED: b\n---\n- tapOn: One\n- tapOn: Two\n\
                    - tapOn: { id: three }\n- wait: 500\n- inputText: { text: \"${USED}\", id: x }\n\
                    - travel: { points: [\"0,0\", \"0,1\"] }\n- setDarkMode: enabled\n\
                    - evalScript: output.n = 1\n- inputText: ${NAME}\n";
        let files = |_: &Path| Ok(text.to_owned());
        let flow = read("a.yaml", &Default::default(), &files).unwrap();
        let mut warnings: Vec<String> =
            flow.warnings().iter().map(|it| format!("{}: {}", it.at.line, it.what)).collect();
        warnings.sort();
        let expected = [
            "12: `setDarkMode` is not done yet; switch it in the Settings app, as a person would",
            "13: Maestro evaluates only what is in `${…}`: this `evalScript` does nothing",
            "14: unknown parameter in `${NAME}`: define it in `env` or with --param",
            "4: nothing uses `UNUSED`",
            "6: taps an element that only a text describes; an `id` survives translation; `thumbwire screen --full` shows ids (and 1 more in this file)",
            "9: waits by time; `extendedWaitUntil` waits for what is meant",
            "10: Maestro passes over `id` of `inputText`",
        ];
        let mut expected = expected.map(str::to_owned);
        expected.sort();
        assert_eq!(warnings, expected);
        assert!(flow.uses_parameter("NAME") && !flow.uses_parameter("UNUSED"));
    }
}
