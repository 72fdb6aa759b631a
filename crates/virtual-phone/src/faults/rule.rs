//! A rule as text: `NAME[:KEY=VALUE[,KEY=VALUE]…]`, such as `dump-stale:p=0.2,seed=7` or `slow:ms=3000,on=screencap`.
//!
//! Every rule takes `p` (how likely it strikes at each chance, 0 to 1, else 1), `seed`, `on` (only commands with this in their words),
//! `after` (so many chances pass first) and `times` (strikes at most); a fault's own numbers stand in its row.

use super::table::{Fault, TABLE};
use std::fmt;
use std::str::FromStr;

/// Text of a rule at most.
const LONGEST: usize = 1_000;

/// A number that some faults take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// Milliseconds.
    Ms,
    /// Bytes from a connection's beginning.
    At,
    /// One of so many.
    Every,
}

impl Number {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ms => "ms",
            Self::At => "at",
            Self::Every => "every",
        }
    }

    /// The highest that is taken.
    fn most(self) -> u64 {
        match self {
            // A day.
            Self::Ms => 86_400_000,
            Self::At => 1 << 40,
            Self::Every => 1 << 30,
        }
    }
}

/// Something that may go wrong, and how often. Made from text with [`str::parse`].
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    fault: Fault,
    probability: f64,
    seed: u64,
    on: Option<String>,
    after: u64,
    times: u64,
    numbers: Vec<(Number, u64)>,
}

impl Rule {
    pub(super) fn fault(&self) -> Fault {
        self.fault
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether a command, or `connect`, is one that it may strike.
    pub(super) fn covers(&self, met: &str) -> bool {
        match &self.on {
            Some(on) => met.contains(on),
            None => {
                let on = self.fault.row().on;
                on.is_empty() || on.iter().any(|words| met.contains(words))
            }
        }
    }

    /// Whether it strikes, at its chance number `had` and after `struck` strikes, with this random number.
    pub(super) fn is_due(&self, random: u64, had: u64, struck: u64) -> bool {
        // 53 bits, all that a double holds: below 1 at any time.
        let drawn = (random >> 11) as f64 / (1_u64 << 53) as f64;
        drawn < self.probability && had > self.after && struck < self.times
    }

    pub(super) fn number(&self, number: Number) -> u64 {
        let default = self.fault.row().numbers.iter();
        let mut given = self.numbers.iter().chain(default);
        given.find(|(known, _)| *known == number).map_or(0, |(_, value)| *value)
    }
}

/// Why a text is no rule, with what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRule(String);

impl fmt::Display for BadRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadRule {}

impl FromStr for Rule {
    type Err = BadRule;

    fn from_str(text: &str) -> Result<Self, BadRule> {
        if text.len() > LONGEST {
            return Err(BadRule(format!("a rule has {LONGEST} bytes at most")));
        }
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let fault = Fault::named(name).ok_or_else(|| {
            let names: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
            BadRule(format!("there is no fault {name:?}; there are {}", names.join(", ")))
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
                BadRule(format!("{part:?} in the rule for {name} is not KEY=VALUE"))
            })?;
            rule.set(key, value)?;
        }
        Ok(rule)
    }
}

impl Rule {
    fn set(&mut self, key: &str, value: &str) -> Result<(), BadRule> {
        let name = self.fault.name();
        let whole = |most: u64| {
            let number = value.parse::<u64>().ok().filter(|number| *number <= most);
            number.ok_or_else(|| {
                let most = if most == u64::MAX { String::new() } else { format!(" up to {most}") };
                BadRule(format!("{key}={value} in the rule for {name} is not a whole number{most}"))
            })
        };
        match key {
            "p" => {
                let number = value.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
                self.probability = number.ok_or_else(|| {
                    BadRule(format!("p={value} in the rule for {name} is not between 0 and 1"))
                })?;
            }
            "seed" => self.seed = whole(u64::MAX)?,
            "after" => self.after = whole(u64::MAX)?,
            "times" => self.times = whole(u64::MAX)?,
            "on" => self.on = Some(value.to_owned()),
            _ => {
                let own = self.fault.row().numbers.iter();
                let own: Vec<Number> = own.map(|(number, _)| *number).collect();
                let Some(&number) = own.iter().find(|number| number.name() == key) else {
                    let own: String = own.iter().map(|own| format!("{}, ", own.name())).collect();
                    return Err(BadRule(format!(
                        "a rule for {name} has no {key:?}; it takes {own}p, seed, on, after and times"
                    )));
                };
                let value = whole(number.most())?;
                if number == Number::Every && value == 0 {
                    return Err(BadRule(format!("every=0 in the rule for {name} is not above 0")));
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

    fn why(text: &str) -> String {
        text.parse::<Rule>().unwrap_err().to_string()
    }

    #[test]
    fn a_rule_has_a_name_and_what_it_sets() {
        let rule: Rule = "slow:ms=5,p=0.5,seed=7,on=screencap -p,after=2,times=3".parse().unwrap();
        assert_eq!(rule.number(Number::Ms), 5);
        assert!(rule.covers("exec screencap -p x") && !rule.covers("screencap"));
        assert!(rule.is_due(0, 3, 2) && !rule.is_due(0, 2, 0) && !rule.is_due(0, 3, 3));
        assert!(
            rule.is_due(u64::MAX / 2 - 5_000, 3, 0) && !rule.is_due(u64::MAX / 2 + 5_000, 3, 0)
        );
        let rule: Rule = "slow".parse().unwrap();
        assert!(rule.is_due(u64::MAX, 1, 0) && rule.covers("anything"));
        assert_eq!(rule.number(Number::Ms), 3_000);
        assert!(!"cut:p=0".parse::<Rule>().unwrap().is_due(0, 1, 0));
        assert_eq!("unauthorised".parse::<Rule>(), "unauthorized".parse());
    }

    #[test]
    fn what_is_no_rule_says_what_would_be_one() {
        assert!(
            why("slwo").starts_with("there is no fault \"slwo\"; there are offline, unauthorized,")
        );
        assert_eq!(why("cut:4096"), "\"4096\" in the rule for cut is not KEY=VALUE");
        assert_eq!(why("cut:p=2"), "p=2 in the rule for cut is not between 0 and 1");
        assert_eq!(
            why("cut:at=-1"),
            "at=-1 in the rule for cut is not a whole number up to 1099511627776"
        );
        assert_eq!(
            why("cut:ms=1"),
            "a rule for cut has no \"ms\"; it takes at, p, seed, on, after and times"
        );
        assert_eq!(why("text-lost:every=0"), "every=0 in the rule for text-lost is not above 0");
        assert!(why(&"x".repeat(2_000)).contains("at most"));
    }
}
