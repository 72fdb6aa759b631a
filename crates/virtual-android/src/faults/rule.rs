//! A rule as text: `NAME[:KEY=VALUE[,KEY=VALUE]…]`, such as `dump-stale:p=0.2,seed=7` or
//! `slow:ms=3000,on=screencap`.
//!
//! Every rule takes `p` (probability at each opportunity, 0 to 1, default 1), `seed`, `on` (only
//! commands that contain this text), `after` (skip that many opportunities first) and `times`
//! (maximum injections). The table lists each fault's own parameters.

use super::table::{Fault, FaultParam, TABLE};
use std::fmt;
use std::str::FromStr;

/// Maximum bytes of a rule's text.
const MAX_LENGTH: usize = 1_000;

/// A fault to inject, and how often. Parsed from text with [`str::parse`].
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    fault: Fault,
    probability: f64,
    seed: u64,
    on: Option<String>,
    after: u64,
    times: u64,
    numbers: Vec<(FaultParam, u64)>,
}

impl Rule {
    pub(super) fn fault(&self) -> Fault {
        self.fault
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether the rule covers a command, or `connect`.
    pub(super) fn covers(&self, command: &str) -> bool {
        match &self.on {
            Some(on) => command.contains(on),
            None => {
                let on = self.fault.row().on;
                on.is_empty() || on.iter().any(|words| command.contains(words))
            }
        }
    }

    /// Whether it triggers at opportunity number `opportunity`, after `triggered` injections, with
    /// this random number.
    pub(super) fn is_due(&self, random: u64, opportunity: u64, triggered: u64) -> bool {
        // 53 bits, the precision of a double, so the result is always below 1.
        let drawn = (random >> 11) as f64 / (1_u64 << 53) as f64;
        drawn < self.probability && opportunity > self.after && triggered < self.times
    }

    pub(super) fn number(&self, number: FaultParam) -> u64 {
        let default = self.fault.row().numbers.iter();
        let mut given = self.numbers.iter().chain(default);
        given.find(|(known, _)| *known == number).map_or(0, |(_, value)| *value)
    }
}

/// Why a rule could not be parsed, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseFaultRuleError(String);

impl fmt::Display for ParseFaultRuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseFaultRuleError {}

impl FromStr for Rule {
    type Err = ParseFaultRuleError;

    fn from_str(text: &str) -> Result<Self, ParseFaultRuleError> {
        if text.len() > MAX_LENGTH {
            return Err(ParseFaultRuleError(format!(
                "rule too long: the limit is {MAX_LENGTH} bytes"
            )));
        }
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let fault = Fault::named(name).ok_or_else(|| {
            let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
            ParseFaultRuleError(format!(
                "unknown fault {name:?}; expected one of: {}",
                names.join(", ")
            ))
        })?;
        let mut rule = Self {
            fault,
            probability: 1.0,
            seed: 0,
            on: None,
            after: 0,
            times: u64::MAX,
            numbers: Vec::new(),
        };
        for part in rest.split(',').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| {
                ParseFaultRuleError(format!("{part:?} in the rule for {name}: expected KEY=VALUE"))
            })?;
            rule.set(key, value)?;
        }
        Ok(rule)
    }
}

impl Rule {
    fn set(&mut self, key: &str, value: &str) -> Result<(), ParseFaultRuleError> {
        let name = self.fault.name();
        let whole = |max: u64| {
            let number = value.parse::<u64>().ok().filter(|number| *number <= max);
            number.ok_or_else(|| {
                let most = if max == u64::MAX { String::new() } else { format!(" up to {max}") };
                ParseFaultRuleError(format!(
                    "{key}={value} in the rule for {name}: expected an integer{most}"
                ))
            })
        };
        match key {
            "p" => {
                let number = value.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
                self.probability = number.ok_or_else(|| {
                    ParseFaultRuleError(format!(
                        "p={value} in the rule for {name}: expected a number from 0 to 1"
                    ))
                })?;
            }
            "seed" => self.seed = whole(u64::MAX)?,
            "after" => self.after = whole(u64::MAX)?,
            "times" => self.times = whole(u64::MAX)?,
            "on" => self.on = Some(value.to_owned()),
            _ => {
                let own = self.fault.row().numbers.iter();
                let own: Vec<FaultParam> = own.map(|(number, _)| *number).collect();
                let Some(&number) = own.iter().find(|number| number.name() == key) else {
                    let own: String = own.iter().map(|own| format!("{}, ", own.name())).collect();
                    return Err(ParseFaultRuleError(format!(
                        "unknown key {key:?} in the rule for {name}; expected one of: {own}p, seed, on, after, times"
                    )));
                };
                let value = whole(number.most())?;
                if number == FaultParam::Every && value == 0 {
                    return Err(ParseFaultRuleError(format!(
                        "every=0 in the rule for {name}: expected at least 1"
                    )));
                }
                self.numbers.insert(0, (number, value));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> String {
        text.parse::<Rule>().unwrap_err().to_string()
    }

    #[test]
    fn rule_text_parses() {
        let rule: Rule = "slow:ms=5,p=0.5,seed=7,on=screencap -p,after=2,times=3".parse().unwrap();
        assert_eq!(rule.number(FaultParam::Ms), 5);
        assert!(rule.covers("exec screencap -p x") && !rule.covers("screencap"));
        assert!(rule.is_due(0, 3, 2) && !rule.is_due(0, 2, 0) && !rule.is_due(0, 3, 3));
        assert!(
            rule.is_due(u64::MAX / 2 - 5_000, 3, 0) && !rule.is_due(u64::MAX / 2 + 5_000, 3, 0)
        );
        let rule: Rule = "slow".parse().unwrap();
        assert!(rule.is_due(u64::MAX, 1, 0) && rule.covers("anything"));
        assert_eq!(rule.number(FaultParam::Ms), 3_000);
        assert!(!"disconnect:p=0".parse::<Rule>().unwrap().is_due(0, 1, 0));
        assert_eq!("unauthorised".parse::<Rule>(), "unauthorized".parse());
    }

    #[test]
    fn invalid_rule_error_says_what_is_expected() {
        assert!(
            reason("slwo")
                .starts_with("unknown fault \"slwo\"; expected one of: offline, unauthorized,")
        );
        assert_eq!(
            reason("disconnect:4096"),
            "\"4096\" in the rule for disconnect: expected KEY=VALUE"
        );
        assert_eq!(
            reason("disconnect:p=2"),
            "p=2 in the rule for disconnect: expected a number from 0 to 1"
        );
        assert_eq!(
            reason("disconnect:at=-1"),
            "at=-1 in the rule for disconnect: expected an integer up to 1099511627776"
        );
        assert_eq!(
            reason("disconnect:ms=1"),
            "unknown key \"ms\" in the rule for disconnect; expected one of: at, p, seed, on, after, times"
        );
        assert_eq!(
            reason("text-lost:every=0"),
            "every=0 in the rule for text-lost: expected at least 1"
        );
        assert!(reason(&"x".repeat(2_000)).contains("rule too long"));
    }
}
