//! The phone's fault rules and what they injected.
//!
//! Start with [`VirtualPhone::add_fault`]. Commands ask [`VirtualPhone::trigger`] whether a rule
//! triggers; `inject` applies the fault.

use super::{VirtualPhone, inject};
use crate::faults::{Fault, FaultInjection, Rule, TriggeredFault};

impl VirtualPhone {
    /// Adds a rule. Beyond the first hundred, rules are ignored.
    pub fn add_fault(&self, rule: Rule) {
        let seed = self.setup().seed;
        self.with(|phone| phone.faults.add(rule, seed));
    }

    /// Removes all rules. Their effects on the phone stay.
    pub fn clear_faults(&self) {
        self.with(|phone| phone.faults.clear());
    }

    /// The faults injected so far, oldest first; only the last thousand are kept.
    pub fn injections(&self) -> Vec<FaultInjection> {
        self.read(|phone| phone.faults.injections().cloned().collect())
    }

    /// Waits for injection number `nth`, counted from 0. Returns the oldest one kept if that one
    /// was dropped.
    pub async fn wait_for_injection(&self, nth: u64) -> FaultInjection {
        loop {
            let changed = self.changed();
            match self.read(|phone| phone.faults.injection(nth).cloned()) {
                Some(injection) => return injection,
                None => changed.await,
            }
        }
    }

    /// Whether a rule triggers for `command`, a command with its arguments. Records it.
    pub(crate) fn trigger(&self, fault: Fault, command: &str) -> Option<TriggeredFault> {
        let hit = self.draw_fault(fault, command)?;
        self.record_injection(&hit);
        Some(hit)
    }

    /// The same, for a fault that is recorded later, when it takes effect.
    pub(crate) fn draw_fault(&self, fault: Fault, command: &str) -> Option<TriggeredFault> {
        if !self.read(|phone| phone.faults.has(fault)) {
            return None;
        }
        self.with(|phone| {
            let can = inject::has_effect(fault, phone);
            if can { phone.faults.draw(fault, command) } else { None }
        })
    }

    /// Records a fault that took effect.
    pub(crate) fn record_injection(&self, hit: &TriggeredFault) {
        self.with(|phone| phone.faults.note(hit, phone.world.uptime()));
    }
}
