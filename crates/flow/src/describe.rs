//! What steps are called in reports, unless the flow names them.

use std::fmt;

use thumbwire_device::Point;

use super::plan::{
    Assertion, Condition, ElementState, FlowStep, Place, RandomText, RelativePoint, ScrollTo,
    StepKind, SwipeEnd, Touch,
};

/// Its name, else what it does.
impl fmt::Display for FlowStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None => self.kind.fmt(f),
        }
    }
}

impl fmt::Display for StepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Act(action) => action.fmt(f),
            Self::Type { written, .. } => write!(f, "type {written:?}"),
            Self::ScrollTo(ScrollTo { element, direction, .. }) => {
                write!(f, "scroll {} to {element}", direction.name())
            }
            Self::Expect(expected) => write!(f, "expect {expected}"),
            Self::Screenshot { name, .. } => write!(f, "screenshot {name:?}"),
            Self::Run { file, .. } => write!(f, "run {file}"),
            Self::When { conditions, .. } if conditions.is_empty() => f.write_str("run steps"),
            Self::When { conditions, .. } => write!(f, "when {}", joined(conditions)),
            Self::While { conditions, times, .. } => {
                f.write_str("repeat")?;
                if !conditions.is_empty() {
                    write!(f, " while {}", joined(conditions))?;
                }
                match times {
                    Some(times) if conditions.is_empty() => write!(f, " {times} times"),
                    Some(times) => write!(f, ", at most {times} times"),
                    None => Ok(()),
                }
            }
            Self::Condition(condition) => write!(f, "expect {condition}"),
            Self::Touch(touch) => touch.fmt(f),
            Self::SwipeFrom { from, to: SwipeEnd::Edge(direction), .. } => {
                write!(f, "swipe {} from {from}", direction.name())
            }
            Self::SwipeFrom { from, to: SwipeEnd::Point(to), .. } => {
                write!(f, "swipe from {from} to {to}")
            }
            Self::Copy(element) => write!(f, "copy the text of {element}"),
            Self::SetCopied(text) => write!(f, "set the copied text to {text:?}"),
            Self::Paste => f.write_str("type the copied text"),
            Self::TypeRandom(random) => write!(f, "type {random}"),
            Self::Erase(None) => f.write_str("erase the field"),
            Self::Erase(Some(1)) => f.write_str("erase 1 character"),
            Self::Erase(Some(many)) => write!(f, "erase {many} characters"),
            Self::HideKeyboard => f.write_str("hide the keyboard"),
            Self::ClearKeychain => f.write_str("clear the keychain"),
            Self::SetPermissions { app, permissions, requested_only: true } => {
                let granted = permissions.iter().any(|(_, granted)| *granted);
                let verb = if granted { "grant" } else { "revoke" };
                write!(f, "{verb} all permissions of {app}")
            }
            Self::SetPermissions { app, permissions, .. } => {
                let all: Vec<String> = permissions
                    .iter()
                    .map(|(name, granted)| {
                        let short = name.rsplit('.').next().unwrap_or(name);
                        format!("{} {short}", if *granted { "grant" } else { "revoke" })
                    })
                    .collect();
                write!(f, "{} for {app}", all.join(", "))
            }
            Self::Install(file) => write!(f, "install {}", file.display()),
            Self::AddMedia(file) => write!(f, "add {} to the gallery", file.display()),
            Self::Define(env) => {
                let names: Vec<&str> = env.iter().map(|(name, _)| &**name).collect();
                write!(f, "define {}", names.join(", "))
            }
            Self::EvalScript(script) => write!(f, "evaluate {}", script.text),
            Self::RunScript { file, .. } => write!(f, "run script {file}"),
            Self::Unavailable(what) => f.write_str(what),
            Self::ExpectDeviceClipboard(text) => {
                write!(f, "expect the phone's clipboard to have {text:?}")
            }
            Self::PasteDeviceClipboard => f.write_str("paste the phone's clipboard"),
            Self::ExpectScreenshot(golden) => write!(f, "expect screenshot {:?}", golden.name),
            Self::WaitUntilIdle(time) => {
                write!(f, "wait until the screen is still, at most {} s", time.as_secs_f64())
            }
            Self::Goal(goal) => write!(f, "goal {goal:?}"),
        }
    }
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Visible(element) => element.fmt(f),
            Self::NotVisible(element) => write!(f, "{element} gone"),
            Self::Count(element, count) => write!(f, "{count} of {element}"),
            Self::AppInForeground(app) => write!(f, "app {app}"),
            Self::HasState(element, states) => {
                write!(f, "{element} ")?;
                let states: Vec<String> = states.iter().map(ToString::to_string).collect();
                f.write_str(&states.join(" and "))
            }
        }
    }
}

impl fmt::Display for ElementState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (is, name) = match self {
            Self::Equals(text) => return write!(f, "equals {text:?}"),
            Self::Contains(text) => return write!(f, "contains {text:?}"),
            Self::Matches(pattern) => return write!(f, "matches /{pattern}/"),
            Self::Enabled(is) => (is, "enabled"),
            Self::Checked(is) => (is, "checked"),
            Self::Selected(is) => (is, "selected"),
            Self::Focused(is) => (is, "focused"),
        };
        write!(f, "{}{name}", if *is { "" } else { "not " })
    }
}

fn joined(conditions: &[Condition]) -> String {
    conditions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Platform(platform) => write!(f, "the phone runs {platform}"),
            Self::Visible(element) => write!(f, "{element} is visible"),
            Self::NotVisible(element) => write!(f, "{element} is not visible"),
            Self::Expression { written, .. } => f.write_str(written),
        }
    }
}

impl fmt::Display for Touch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.held, self.taps) {
            (Some(held), _) => {
                write!(f, "long press {} for {} s", self.at, held.as_secs_f64())
            }
            (None, 1) => write!(f, "tap {}", self.at),
            (None, 2) => write!(f, "double tap {}", self.at),
            (None, taps) => write!(f, "tap {} {taps} times", self.at),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Point(point) => point.fmt(f),
            Self::Element(element, None) => element.fmt(f),
            Self::Element(element, Some(point)) => write!(f, "{element} at {point}"),
        }
    }
}

impl fmt::Display for RelativePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pixels(Point { x, y }) => write!(f, "({x}, {y})"),
            Self::Percent(x, y) => write!(f, "({x} %, {y} %)"),
        }
    }
}

impl fmt::Display for RandomText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Letters(many) => write!(f, "{many} random letters"),
            Self::Digits(many) => write!(f, "{many} random digits"),
            Self::Email => f.write_str("a random email address"),
            Self::PersonName => f.write_str("a random name"),
            Self::City => f.write_str("a random city"),
            Self::Country => f.write_str("a random country"),
            Self::Color => f.write_str("a random color"),
        }
    }
}
