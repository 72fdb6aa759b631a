//! What goes wrong on request: rules such as `session-lost:on=/source,nth=2` that strike requests.

use std::time::Duration;

/// What a fault does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// WebDriverAgent forgets its session before the request.
    SessionLost,
    /// The response comes later.
    Slow(Duration),
    /// The server does not respond.
    Hang,
    /// WebDriverAgent ends before it answers, and a new one has no session.
    Restart,
    /// The request fails with `unknown error`.
    Error,
    /// The response ends in the middle.
    Cut,
}

/// A fault and when it strikes. As a text: `slow:ms=3000,on=/source,p=0.5,seed=7`.
///
/// | key | meaning |
/// |---|---|
/// | `on=TEXT` | only requests with this in their path |
/// | `nth=N` | only the Nth such request, from 1 |
/// | `p=P` | with this probability |
/// | `seed=N` | of the probability |
/// | `ms=N` | of `slow`: by how much |
#[derive(Debug, Clone, PartialEq)]
pub struct FaultRule {
    kind: FaultKind,
    on: String,
    nth: Option<u64>,
    probability: f64,
    seed: u64,
}

/// Why a text is not a fault rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseFaultRuleError(String);

impl std::fmt::Display for ParseFaultRuleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseFaultRuleError {}

impl FaultRule {
    /// The names of all faults, and what they do.
    pub const NAMES: [(&'static str, &'static str); 6] = [
        ("session-lost", "WebDriverAgent forgets its session"),
        ("slow", "the response comes ms=1000 milliseconds later"),
        ("hang", "the server does not respond"),
        ("restart", "the connection ends without a response, and the session is gone"),
        ("error", "the request fails with `unknown error`"),
        ("cut", "the response ends in the middle"),
    ];
}

impl std::str::FromStr for FaultRule {
    type Err = ParseFaultRuleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let kind = match name {
            "session-lost" => FaultKind::SessionLost,
            "slow" => FaultKind::Slow(Duration::from_secs(1)),
            "hang" => FaultKind::Hang,
            "restart" => FaultKind::Restart,
            "error" => FaultKind::Error,
            "cut" => FaultKind::Cut,
            _ => {
                let known: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
                return Err(ParseFaultRuleError(format!(
                    "unknown fault {name:?}; available: {}",
                    known.join(", ")
                )));
            }
        };
        let mut rule = Self { kind, on: String::new(), nth: None, probability: 1.0, seed: 1 };
        for option in options.split(',').filter(|option| !option.is_empty()) {
            let refused =
                || ParseFaultRuleError(format!("{option:?} is not an option of the fault {name}"));
            let (key, value) = option.split_once('=').ok_or_else(refused)?;
            match key {
                "on" => value.clone_into(&mut rule.on),
                "nth" => {
                    rule.nth = Some(value.parse().ok().filter(|nth| *nth > 0).ok_or_else(refused)?)
                }
                "seed" => rule.seed = value.parse().map_err(|_| refused())?,
                "p" => {
                    let probability: f64 = value.parse().map_err(|_| refused())?;
                    rule.probability = Some(probability)
                        .filter(|p| (0.0..=1.0).contains(p))
                        .ok_or_else(refused)?;
                }
                "ms" if matches!(rule.kind, FaultKind::Slow(_)) => {
                    rule.kind = FaultKind::Slow(Duration::from_millis(
                        value.parse().map_err(|_| refused())?,
                    ));
                }
                _ => return Err(refused()),
            }
        }
        Ok(rule)
    }
}

/// The rules of a phone, and how often each had its chance.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<ActiveRule>);

#[derive(Debug)]
struct ActiveRule {
    rule: FaultRule,
    seen: u64,
    random: fastrand::Rng,
}

impl Faults {
    pub(crate) fn add(&mut self, rule: FaultRule) {
        let random = fastrand::Rng::with_seed(rule.seed);
        self.0.push(ActiveRule { rule, seen: 0, random });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The faults that strike a request.
    pub(crate) fn strike(&mut self, target: &str) -> Vec<FaultKind> {
        let mut struck = Vec::new();
        for active in &mut self.0 {
            if !target.contains(&active.rule.on) {
                continue;
            }
            active.seen += 1;
            let is_turn = active.rule.nth.is_none_or(|nth| nth == active.seen);
            if is_turn && active.random.f64() < active.rule.probability {
                struck.push(active.rule.kind);
            }
        }
        struck
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_strike_when_they_say() {
        let mut faults = Faults::default();
        faults.add("session-lost:on=/source,nth=2".parse().unwrap());
        faults.add("slow:ms=30,on=/wda".parse().unwrap());
        assert_eq!(faults.strike("/session/1/source"), []);
        assert_eq!(faults.strike("/session/1/source"), [FaultKind::SessionLost]);
        assert_eq!(faults.strike("/session/1/source"), []);
        let slow = FaultKind::Slow(Duration::from_millis(30));
        assert_eq!(faults.strike("/wda/screen"), [slow]);
    }

    #[test]
    fn probability_has_a_seed() {
        let struck = |seed: u64| {
            let mut faults = Faults::default();
            faults.add(format!("error:p=0.5,seed={seed}").parse().unwrap());
            (0..64).map(|_| faults.strike("/").len()).collect::<Vec<_>>()
        };
        assert_eq!(struck(7), struck(7));
        assert_ne!(struck(7), struck(8));
        let times: usize = struck(7).iter().sum();
        assert!((10..54).contains(&times), "{times} of 64");
    }

    #[test]
    fn wrong_rules_say_what_is_wrong() {
        for (text, part) in [
            ("sleep", "available: session-lost, slow"),
            ("hang:ms=3", "\"ms=3\" is not an option"),
            ("error:p=2", "\"p=2\""),
            ("error:nth=0", "\"nth=0\""),
            ("error:on", "\"on\""),
        ] {
            let error = text.parse::<FaultRule>().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
