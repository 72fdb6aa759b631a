//! What a shell's variables and parameters are worth, and how they are assigned.

use super::super::arithmetic::Scope;
use super::super::ast::{AssignedValue, Assignment};
use super::variables::{Case, Declared, Variable};
use super::{CommandError, EXPORTED, Shell, quote};
use crate::io::Io;
use crate::processes::ADBD;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Shell {
    /// A parameter's value; `None` if unset.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        match name {
            "?" => Some(self.status.to_string()),
            "OPTIND" => Some(self.getopts.0.to_string()),
            "PPID" => Some(ADBD.to_string()),
            "$" => Some(self.pid.to_string()),
            "!" => Some(self.last_job.map_or_else(String::new, |pid| pid.to_string())),
            "-" => Some(self.option_letters()),
            "SECONDS" if self.variables.get(name).is_none() => {
                let now = self.system.with(|kernel| kernel.uptime());
                let (started, seconds) = self.started;
                Some((now.saturating_sub(started).as_secs() + seconds).to_string())
            }
            "RANDOM" if self.variables.get(name).is_none() => {
                let next = |state: u32| state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                let update =
                    self.random.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| {
                        Some(next(state))
                    });
                Some((next(update.unwrap_or_default()) >> 16 & 0x7fff).to_string())
            }
            // A command of `adb shell` has no lines.
            "LINENO" if self.variables.get(name).is_none() => {
                Some(self.source.as_ref().map_or(0, |source| source.line).to_string())
            }
            "#" => Some(self.positional.len().to_string()),
            "@" | "*" => Some(self.positional.join(" ")),
            "0" => Some(self.name.clone()),
            "PWD" => Some(self.cwd.clone()),
            digits if digits.starts_with(|c: char| c.is_ascii_digit()) => {
                self.positional.get(digits.parse::<usize>().ok()?.checked_sub(1)?).cloned()
            }
            name => self.element(name, 0).map(str::to_owned),
        }
    }

    /// An element of an array.
    pub(super) fn element(&self, name: &str, index: u32) -> Option<&str> {
        self.variables.get(name)?.elements.get(&index).map(String::as_str)
    }

    /// Sets a variable, or an element of an array: every assignment comes here. A shell whose
    /// variables are too large ends, as mksh does when out of memory.
    pub(super) fn assign(
        &mut self,
        name: &str,
        index: u32,
        value: &str,
    ) -> Result<(), CommandError> {
        let number = || value.parse::<u32>().unwrap_or(0);
        match name {
            "SECONDS" => {
                let now = self.system.with(|kernel| kernel.uptime());
                self.started = (now, u64::from(number()));
                return Ok(());
            }
            // The same seed does not repeat the numbers, as in mksh.
            "RANDOM" => {
                self.random.fetch_xor(number(), Ordering::Relaxed);
                return Ok(());
            }
            "OPTIND" => {
                self.getopts = (number() as usize, 0);
                return Ok(());
            }
            _ => {}
        }
        let declared = self.variables.get(name).map(|it| it.declared).unwrap_or_default();
        if declared.read_only {
            return Err(CommandError::read_only(name));
        }
        let value = match declared {
            Declared { integer: true, .. } => self.calculate(value)?.to_string(),
            Declared { case: Some(Case::Lower), .. } => value.to_lowercase(),
            Declared { case: Some(Case::Upper), .. } => value.to_uppercase(),
            _ => value.to_owned(),
        };
        let exports = self.option("allexport");
        let variables = Arc::make_mut(&mut self.variables);
        if !variables.set(name, index, value) {
            self.exit = Some(1);
            return Err(CommandError::fatal("out of memory"));
        }
        if exports {
            variables.declare(name, EXPORTED);
        }
        Ok(())
    }

    /// Sets a variable that is not an array.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), CommandError> {
        self.assign(name, 0, value)
    }

    /// Replaces an array, or adds elements to its end.
    pub(super) fn assign_array(
        &mut self,
        name: &str,
        values: &[String],
        appends: bool,
    ) -> Result<(), CommandError> {
        if self.is_read_only(name) {
            return Err(CommandError::read_only(name));
        }
        let old = self.variables.get(name).map(|old| (old.declared, old.elements.keys().last()));
        let mut next = 0;
        match old {
            Some((_, last)) if appends => next = last.map_or(0, |last| last.saturating_add(1)),
            Some((declared, _)) => {
                self.unset(name);
                self.declare(name, declared);
            }
            None => {}
        }
        for value in values {
            self.assign(name, next, value)?;
            next = next.saturating_add(1);
        }
        Ok(())
    }

    pub(super) fn unset(&mut self, name: &str) {
        Arc::make_mut(&mut self.variables).remove(name);
    }

    /// Adds to what is declared of a variable.
    pub(super) fn declare(&mut self, name: &str, declared: Declared) {
        Arc::make_mut(&mut self.variables).declare(name, declared);
    }

    pub(super) fn is_read_only(&self, name: &str) -> bool {
        self.variables.get(name).is_some_and(|variable| variable.declared.read_only)
    }

    /// The value of an arithmetic expression.
    pub(super) fn calculate(&mut self, text: &str) -> Result<i32, CommandError> {
        super::super::arithmetic::evaluate(text, self).map_err(CommandError::fatal)
    }

    /// Hides a variable until the function ends; `false` outside of functions.
    pub(super) fn make_local(&mut self, name: &str) -> bool {
        let old = self.variables.get(name).cloned();
        let Some(locals) = self.locals.last_mut() else { return false };
        if locals.iter().all(|(known, _)| known != name) {
            locals.push((name.to_owned(), old));
            self.unset(name);
        }
        true
    }

    /// Unsets a variable; under a local one its outer value shows again, as in mksh.
    pub(super) fn forget(&mut self, name: &str) {
        let locals = self.locals.last_mut();
        let hidden = locals.and_then(|locals| {
            let at = locals.iter().position(|(known, _)| known == name)?;
            Some(locals.remove(at).1)
        });
        self.restore(name, hidden.flatten());
    }

    /// Restores what the function that ends had hidden.
    pub(super) fn end_locals(&mut self) {
        for (name, old) in self.locals.pop().unwrap_or_default() {
            self.restore(&name, old);
        }
    }

    pub(super) fn restore(&mut self, name: &str, old: Option<Variable>) {
        match old {
            Some(old) => drop(Arc::make_mut(&mut self.variables).insert(name, old)),
            None => self.unset(name),
        }
    }

    /// The exported variables with their values.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        let exported = self.variables.all().filter(|(_, variable)| variable.declared.exported);
        let named = exported.filter_map(|(name, variable)| Some((name, variable.value()?)));
        named.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// Assigns, and returns the text for `set -x`.
    pub(super) async fn run_assignment(
        &mut self,
        assignment: &Assignment,
        io: &Io,
    ) -> Result<String, CommandError> {
        let Assignment { name, index, appends, value } = assignment;
        let word = match value {
            AssignedValue::Array(words) => {
                let values = self.arguments(words, io).await?;
                self.assign_array(name, &values, *appends)?;
                return Ok(String::new());
            }
            AssignedValue::Word(word) => word,
        };
        let index = match index {
            Some(index) => self.number(index, io).await? as u32,
            None => 0,
        };
        let value = self.value(word, io).await?;
        if !*appends {
            self.assign(name, index, &value)?;
            return Ok(format!("{name}={} ", quote(&value, false)));
        }
        let old = self.element(name, index).unwrap_or_default();
        let sum = format!("{old}{value}");
        self.assign(name, index, &sum)?;
        Ok(format!("{name}+={} ", quote(&value, false)))
    }
}

impl Scope for Shell {
    fn value(&self, name: &str, index: u32) -> String {
        match index {
            0 => self.parameter(name).unwrap_or_default(),
            index => self.element(name, index).unwrap_or_default().to_owned(),
        }
    }

    fn assign(&mut self, name: &str, index: u32, value: i32) -> Result<(), String> {
        Self::assign(self, name, index, &value.to_string()).map_err(|error| error.reason)
    }
}
