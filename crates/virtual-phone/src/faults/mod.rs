//! Faults on demand: what goes wrong on phones, by rules that a test or `thumbwire phone --fault` adds.
//!
//! Begin at [`Rule`], then [`VirtualPhone::add_fault`]. All names stand in one table (`table`), which says when a fault has its chance: as a
//! host connects, before a command, while it runs, or after it. Whoever plays a command asks there whether a rule strikes
//! (`VirtualPhone::strikes`); what then happens to the phone is `befall`, to the bytes of a connection `wire`.
//!
//! Each rule draws from a random stream of its own, made from its seed, the phone's seed and its name, once for each chance that it has:
//! so the same commands meet the same faults, whichever other rules there are. Not here: hooks that a test pulls by hand
//! (`VirtualPhone::unplug`, `hold`, `set_odd`).

mod befall;
mod garble;
mod rule;
mod table;
mod wire;

pub(crate) use self::befall::words;
pub(crate) use self::garble::Garbler;
pub use self::rule::{BadRule, Rule};
pub(crate) use self::table::Fault;
pub use self::table::list;
pub(crate) use self::wire::Wire;

use self::rule::Number;
use crate::phone::VirtualPhone;
use crate::world::chance::Chance;
use std::collections::VecDeque;
use std::time::Duration;

/// Rules of one phone at most; more are not taken.
const MOST_RULES: usize = 100;

/// Strikes that are remembered.
const KEPT: usize = 1_000;

/// A rule that struck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strike {
    /// The fault's name.
    pub fault: &'static str,
    /// The phone's uptime.
    pub at: Duration,
    /// What it met: `connect`, or a command's first two words (the rest may be a password).
    pub what: String,
}

/// The rules of a phone, and what they did.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    rules: Vec<Armed>,
    strikes: VecDeque<Strike>,
    dropped: u64,
    /// The screen as it was dumped before, for a dump that comes too late.
    pub(crate) dumped: Option<String>,
    /// Whether characters are being lost because of a rule.
    loses_text: bool,
}

#[derive(Debug)]
struct Armed {
    rule: Rule,
    chance: Chance,
    /// Chances that it had, and strikes.
    had: u64,
    struck: u64,
}

/// A rule that strikes now, with what its parameters say.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) fault: Fault,
    /// What it met, as it will be told.
    what: String,
    rule: Rule,
    /// For what the fault itself leaves to chance.
    pub(crate) seed: u64,
}

impl Hit {
    fn number(&self, number: Number) -> u64 {
        self.rule.number(number)
    }

    /// `ms`
    pub(crate) fn time(&self) -> Duration {
        Duration::from_millis(self.number(Number::Ms))
    }

    /// `at`
    pub(crate) fn place(&self) -> u64 {
        self.number(Number::At)
    }

    /// `every`
    pub(crate) fn every(&self) -> u64 {
        self.number(Number::Every)
    }
}

impl Faults {
    /// Whether there is any rule, or something left to undo.
    fn is_armed(&self) -> bool {
        !self.rules.is_empty() || self.loses_text
    }

    /// Whether there is a rule of that kind.
    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.rules.iter().any(|armed| armed.rule.fault() == fault)
    }

    /// Gives each rule for `fault` whose scope `met` lies in its chance; gives the first that strikes.
    fn draw(&mut self, fault: Fault, met: &str) -> Option<Hit> {
        let mut hit = None;
        for armed in self.rules.iter_mut().filter(|armed| armed.rule.fault() == fault) {
            if !armed.rule.covers(met) {
                continue;
            }
            // Drawn also where another rule struck already, so that no rule depends on another.
            let seed = armed.chance.next();
            armed.had += 1;
            let due = armed.rule.is_due(seed, armed.had, armed.struck);
            if due && hit.is_none() {
                armed.struck += 1;
                hit = Some(Hit { fault, what: told(met), rule: armed.rule.clone(), seed });
            }
        }
        hit
    }

    fn note(&mut self, hit: &Hit, at: Duration) {
        self.strikes.push_back(Strike { fault: hit.fault.name(), at, what: hit.what.clone() });
        if self.strikes.len() > KEPT {
            self.strikes.pop_front();
            self.dropped += 1;
        }
    }
}

/// The first two words of what a rule met, bounded.
fn told(met: &str) -> String {
    const LONGEST: usize = 100;
    let mut words = met.split(' ').map(|word| word.rsplit('/').next().unwrap_or(word));
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    format!("{first} {second}").trim_end().chars().take(LONGEST).collect()
}

impl VirtualPhone {
    /// From now on this may go wrong. A rule beyond the first hundred is not taken.
    pub fn add_fault(&self, rule: Rule) {
        let seed = self.setup().seed;
        self.with(|phone| {
            let rules = &mut phone.faults.rules;
            if rules.len() < MOST_RULES {
                // Two rules of one name and seed would strike together.
                let alike = rules.iter().filter(|armed| armed.rule.fault() == rule.fault()).count();
                let purpose = format!("{} {alike}", rule.fault().name());
                let chance = Chance::new(seed ^ rule.seed().rotate_left(32), &purpose);
                rules.push(Armed { rule, chance, had: 0, struck: 0 });
            }
        });
    }

    /// Takes all rules away. What they did to the phone stays.
    pub fn clear_faults(&self) {
        self.with(|phone| phone.faults.rules.clear());
    }

    /// The strikes so far, oldest first; of very many the last thousand.
    pub fn strikes(&self) -> Vec<Strike> {
        self.peek(|phone| phone.faults.strikes.iter().cloned().collect())
    }

    /// The strike number `nth`, counted from 0, as soon as there is one; a later one where that is no longer remembered.
    pub async fn strike(&self, nth: u64) -> Strike {
        loop {
            let changed = self.changed();
            let found = self.peek(|phone| {
                let place = usize::try_from(nth.saturating_sub(phone.faults.dropped));
                place.ok().and_then(|place| phone.faults.strikes.get(place)).cloned()
            });
            match found {
                Some(strike) => return strike,
                None => changed.await,
            }
        }
    }

    /// Whether a rule strikes `met`, a command with its arguments; it is written down.
    pub(crate) fn struck(&self, fault: Fault, met: &str) -> Option<Hit> {
        let hit = self.chosen(fault, met)?;
        self.note(&hit);
        Some(hit)
    }

    /// The same, for a fault that is written down once it does something.
    fn chosen(&self, fault: Fault, met: &str) -> Option<Hit> {
        if !self.peek(|phone| phone.faults.has(fault)) {
            return None;
        }
        self.with(|phone| {
            let can = befall::possible(fault, phone);
            if can { phone.faults.draw(fault, met) } else { None }
        })
    }

    fn note(&self, hit: &Hit) {
        self.with(|phone| phone.faults.note(hit, phone.world.uptime()));
    }
}
