//! Fault injection: rules, added by a test or `thumbwire phone --fault`, that make things go wrong as on real phones.
//!
//! Begin at [`Rule`], then [`VirtualPhone::add_fault`]. One table (`table`) lists all faults by name and when each can
//! trigger: when a host connects, before a command, while it runs, or after it. Commands ask there whether a rule
//! triggers (`VirtualPhone::strikes`); `inject` applies the fault to the phone, `stream` to the bytes of a connection.
//!
//! Each rule has its own random stream, derived from its seed, the phone's seed and its name, and draws once per
//! opportunity: so the same commands meet the same faults, whatever other rules exist. Not here: hooks that a test
//! calls directly (`VirtualPhone::unplug`, `hold`, `set_odd`).

mod corrupt;
mod inject;
mod rule;
mod stream;
mod table;

pub(crate) use self::corrupt::ByteCorrupter;
pub(crate) use self::inject::command_text;
pub use self::rule::{ParseFaultRuleError, Rule};
pub(crate) use self::stream::FaultyStream;
pub(crate) use self::table::Fault;
pub use self::table::list;

use self::rule::FaultParam;
use crate::phone::VirtualPhone;
use std::collections::VecDeque;
use std::time::Duration;
use thumbwire_virtual_phone::rng::SplitMix64;

/// Maximum rules per phone; further ones are ignored.
const MOST_RULES: usize = 100;

/// Maximum remembered injections.
const KEPT: usize = 1_000;

/// A fault that was injected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultInjection {
    /// The fault's name.
    pub fault: &'static str,
    /// The phone's uptime.
    pub at: Duration,
    /// What triggered it: `connect`, or a command's first two words (the rest may contain a password).
    pub what: String,
}

/// The rules of a phone and their injections.
#[derive(Debug, Default)]
pub(crate) struct FaultInjector {
    rules: Vec<ActiveRule>,
    strikes: VecDeque<FaultInjection>,
    dropped: u64,
    /// The previous dump of the screen, for `dump-stale`.
    pub(crate) dumped: Option<String>,
    /// Whether a rule currently drops typed characters.
    loses_text: bool,
}

#[derive(Debug)]
struct ActiveRule {
    rule: Rule,
    chance: SplitMix64,
    /// Opportunities so far, and how many of them triggered.
    had: u64,
    struck: u64,
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
    /// Whether there is any rule, or something left to undo.
    fn is_armed(&self) -> bool {
        !self.rules.is_empty() || self.loses_text
    }

    /// Whether there is a rule for this fault.
    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.rules.iter().any(|armed| armed.rule.fault() == fault)
    }

    /// Draws for each rule for `fault` that covers `met`; returns the first that triggers.
    fn draw(&mut self, fault: Fault, met: &str) -> Option<TriggeredFault> {
        let mut hit = None;
        for armed in self.rules.iter_mut().filter(|armed| armed.rule.fault() == fault) {
            if !armed.rule.covers(met) {
                continue;
            }
            // Draw even if another rule has already triggered, so that rules stay independent.
            let seed = armed.chance.next();
            armed.had += 1;
            let due = armed.rule.is_due(seed, armed.had, armed.struck);
            if due && hit.is_none() {
                armed.struck += 1;
                hit = Some(TriggeredFault {
                    fault,
                    what: render(met),
                    rule: armed.rule.clone(),
                    seed,
                });
            }
        }
        hit
    }

    fn note(&mut self, hit: &TriggeredFault, at: Duration) {
        self.strikes.push_back(FaultInjection {
            fault: hit.fault.name(),
            at,
            what: hit.what.clone(),
        });
        if self.strikes.len() > KEPT {
            self.strikes.pop_front();
            self.dropped += 1;
        }
    }
}

/// The first two words of what triggered a rule, truncated.
fn render(met: &str) -> String {
    const LONGEST: usize = 100;
    let mut text = met.split(' ').map(|word| word.rsplit('/').next().unwrap_or(word));
    let (first, second) = (text.next().unwrap_or_default(), text.next().unwrap_or_default());
    format!("{first} {second}").trim_end().chars().take(LONGEST).collect()
}

impl VirtualPhone {
    /// Adds a rule. Beyond the first hundred, rules are ignored.
    pub fn add_fault(&self, rule: Rule) {
        let seed = self.setup().seed;
        self.with(|phone| {
            let rules = &mut phone.faults.rules;
            if rules.len() < MOST_RULES {
                // Otherwise two rules with the same name and seed would always trigger together.
                let alike = rules.iter().filter(|armed| armed.rule.fault() == rule.fault()).count();
                let purpose = format!("{} {alike}", rule.fault().random_name());
                let chance = SplitMix64::new(seed ^ rule.seed().rotate_left(32), &purpose);
                rules.push(ActiveRule { rule, chance, had: 0, struck: 0 });
            }
        });
    }

    /// Removes all rules. Their effects on the phone stay.
    pub fn clear_faults(&self) {
        self.with(|phone| phone.faults.rules.clear());
    }

    /// The faults injected so far, oldest first; only the last thousand are kept.
    pub fn injections(&self) -> Vec<FaultInjection> {
        self.read(|phone| phone.faults.strikes.iter().cloned().collect())
    }

    /// Waits for injection number `nth`, counted from 0. Returns the oldest one kept if that one was dropped.
    pub async fn wait_for_injection(&self, nth: u64) -> FaultInjection {
        loop {
            let changed = self.changed();
            let found = self.read(|phone| {
                let place = usize::try_from(nth.saturating_sub(phone.faults.dropped));
                place.ok().and_then(|place| phone.faults.strikes.get(place)).cloned()
            });
            match found {
                Some(strike) => return strike,
                None => changed.await,
            }
        }
    }

    /// Whether a rule triggers for `met`, a command with its arguments. Records it.
    pub(crate) fn trigger(&self, fault: Fault, met: &str) -> Option<TriggeredFault> {
        let hit = self.chosen(fault, met)?;
        self.note(&hit);
        Some(hit)
    }

    /// The same, for a fault that is recorded later, when it takes effect.
    fn chosen(&self, fault: Fault, met: &str) -> Option<TriggeredFault> {
        if !self.read(|phone| phone.faults.has(fault)) {
            return None;
        }
        self.with(|phone| {
            let can = inject::has_effect(fault, phone);
            if can { phone.faults.draw(fault, met) } else { None }
        })
    }

    fn note(&self, hit: &TriggeredFault) {
        self.with(|phone| phone.faults.note(hit, phone.world.uptime()));
    }
}
