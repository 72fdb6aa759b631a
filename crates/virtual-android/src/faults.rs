//! Fault injection: rules, added by a test or `thumbwire phone --fault`, that make things go wrong
//! as on real phones.
//!
//! Start with [`Rule`], then [`FaultInjector::draw`]. One table (`table`) lists all faults by name
//! and when each can trigger: when a host connects, before a command, while it runs, or after it.
//! Not here: what a fault does to the phone (`phone/inject`) and to the bytes of a connection
//! (`connections/faulty_stream`).
//!
//! Each rule has its own random stream, derived from its seed, the phone's seed and its name, and
//! draws once per opportunity: so the same commands meet the same faults, whatever other rules
//! exist.

mod corrupt;
mod rule;
mod table;

pub(crate) use self::corrupt::{ByteCorrupter, changed};
pub use self::rule::{ParseFaultRuleError, Rule};
pub use self::table::list;
pub(crate) use self::table::{Fault, InjectionPoint};

use self::table::FaultParam;
use std::collections::VecDeque;
use std::time::Duration;
use thumbwire_virtual_phone::rng::SplitMix64;

/// Maximum rules per phone; further ones are ignored.
const MAX_RULES: usize = 100;

/// Maximum remembered injections.
const KEPT: usize = 1_000;

/// A fault that was injected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultInjection {
    /// The fault's name.
    pub fault: &'static str,
    /// The phone's uptime.
    pub at: Duration,
    /// What triggered it: `connect`, or a command's first two words (the rest may contain a
    /// password).
    pub what: String,
}

/// The rules of a phone and their injections.
#[derive(Debug, Default)]
pub(crate) struct FaultInjector {
    rules: Vec<ActiveRule>,
    injections: VecDeque<FaultInjection>,
    dropped: u64,
    /// The previous dump of the screen, for `dump-stale`.
    pub(crate) dumped: Option<String>,
    /// Whether a rule currently drops typed characters.
    pub(crate) loses_text: bool,
}

#[derive(Debug)]
struct ActiveRule {
    rule: Rule,
    chance: SplitMix64,
    /// Opportunities so far, and how many of them triggered.
    opportunities: u64,
    triggered: u64,
}

/// A rule that triggers now, with its parameters.
#[derive(Clone, Debug)]
pub(crate) struct TriggeredFault {
    pub(crate) fault: Fault,
    /// What triggered it, as it will be reported.
    what: String,
    rule: Rule,
    /// Seed for the fault's own random choices.
    pub(crate) seed: u64,
}

impl TriggeredFault {
    fn number(&self, number: FaultParam) -> u64 {
        self.rule.number(number)
    }

    /// `ms`
    pub(crate) fn time(&self) -> Duration {
        Duration::from_millis(self.number(FaultParam::Ms))
    }

    /// `at`
    pub(crate) fn place(&self) -> u64 {
        self.number(FaultParam::At)
    }

    /// `every`
    pub(crate) fn every(&self) -> u64 {
        self.number(FaultParam::Every)
    }
}

impl FaultInjector {
    /// Adds a rule; `seed` is the phone's. Beyond the first hundred, rules are ignored.
    pub(crate) fn add(&mut self, rule: Rule, seed: u64) {
        if self.rules.len() < MAX_RULES {
            // Otherwise two rules with the same name and seed would always trigger together.
            let alike =
                self.rules.iter().filter(|armed| armed.rule.fault() == rule.fault()).count();
            let purpose = format!("{} {alike}", rule.fault().random_name());
            let chance = SplitMix64::new(seed ^ rule.seed().rotate_left(32), &purpose);
            self.rules.push(ActiveRule { rule, chance, opportunities: 0, triggered: 0 });
        }
    }

    /// Removes all rules.
    pub(crate) fn clear(&mut self) {
        self.rules.clear();
    }

    /// The injections so far, oldest first; only the last thousand are kept.
    pub(crate) fn injections(&self) -> impl Iterator<Item = &FaultInjection> {
        self.injections.iter()
    }

    /// Injection number `nth`, counted from 0, or the oldest one kept if that one was dropped.
    pub(crate) fn injection(&self, nth: u64) -> Option<&FaultInjection> {
        let place = usize::try_from(nth.saturating_sub(self.dropped)).ok()?;
        self.injections.get(place)
    }

    /// Whether there is any rule, or something left to undo.
    pub(crate) fn is_armed(&self) -> bool {
        !self.rules.is_empty() || self.loses_text
    }

    /// Whether there is a rule for this fault.
    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.rules.iter().any(|armed| armed.rule.fault() == fault)
    }

    /// Draws for each rule for `fault` that covers `command`; returns the first that triggers.
    pub(crate) fn draw(&mut self, fault: Fault, command: &str) -> Option<TriggeredFault> {
        let mut hit = None;
        for armed in self.rules.iter_mut().filter(|armed| armed.rule.fault() == fault) {
            if !armed.rule.covers(command) {
                continue;
            }
            // Draw even if another rule has already triggered, so that rules stay independent.
            let seed = armed.chance.next();
            armed.opportunities += 1;
            let due = armed.rule.is_due(seed, armed.opportunities, armed.triggered);
            if due && hit.is_none() {
                armed.triggered += 1;
                hit = Some(TriggeredFault {
                    fault,
                    what: render(command),
                    rule: armed.rule.clone(),
                    seed,
                });
            }
        }
        hit
    }

    pub(crate) fn note(&mut self, hit: &TriggeredFault, at: Duration) {
        self.injections.push_back(FaultInjection {
            fault: hit.fault.name(),
            at,
            what: hit.what.clone(),
        });
        if self.injections.len() > KEPT {
            self.injections.pop_front();
            self.dropped += 1;
        }
    }
}

/// The first two words of what triggered a rule, truncated.
fn render(command: &str) -> String {
    const MAX_LENGTH: usize = 100;
    let mut text = command.split(' ').map(|word| word.rsplit('/').next().unwrap_or(word));
    let (first, second) = (text.next().unwrap_or_default(), text.next().unwrap_or_default());
    format!("{first} {second}").trim_end().chars().take(MAX_LENGTH).collect()
}
