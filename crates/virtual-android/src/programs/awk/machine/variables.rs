//! Variables, fields and arrays of a running script.

use super::{CACHED, FIELDS, Machine, STORED};
use crate::programs::awk::value::{Array, Value};
use crate::programs::awk::{CONVFMT, FNR, FS, NF, NR, OFS, Place, RS, SPECIAL, Variable};
use crate::programs::options::Failure;
use crate::programs::regex::Matcher;
use std::sync::Arc;

impl Machine<'_> {
    /// Sets `$0`.
    pub(in crate::programs::awk) fn set_record(&mut self, record: &str) {
        self.record = record.into();
        (self.split, self.joined) = (false, true);
    }

    pub(in crate::programs::awk) fn count_record(&mut self) {
        for slot in [NR, FNR] {
            self.globals[slot] = Value::Number(self.globals[slot].number() + 1.0);
        }
    }

    pub(super) fn split_record(&mut self) {
        if self.split {
            return;
        }
        self.split = true;
        let separator = self.text_of(FS);
        let record = Arc::clone(&self.record);
        let parts = self.parts_of(&record, &separator, None);
        self.fields =
            parts.into_iter().take(FIELDS).map(|part| Value::Input(part.into())).collect();
        self.globals[NF] = Value::Number(self.fields.len() as f64);
    }

    /// The parts of a text, as `split` makes them.
    pub(in crate::programs::awk) fn parts_of(
        &mut self,
        text: &str,
        separator: &str,
        pattern: Option<&Matcher>,
    ) -> Vec<String> {
        if text.is_empty() {
            return Vec::new();
        }
        let paragraph = self.text_of(RS).is_empty();
        if pattern.is_none() && separator == " " {
            return text
                .split([' ', '\t', '\n'])
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect();
        }
        if pattern.is_none() && separator.is_empty() {
            return text.chars().map(String::from).collect();
        }
        let mut chars = separator.chars();
        if let (None, Some(only), None) = (pattern, chars.next(), chars.next()) {
            return text
                .split(|c| c == only || paragraph && c == '\n')
                .map(str::to_owned)
                .collect();
        }
        let compiled = match pattern {
            Some(_) => None,
            None => self.matcher(separator),
        };
        let Some(matcher) = pattern.or(compiled.as_deref()) else { return vec![text.to_owned()] };
        let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
        while at <= text.len() {
            let Some((from, to)) =
                matcher.captures(text, at).and_then(|groups| groups.first().copied().flatten())
            else {
                break;
            };
            if to == from {
                at = to + text[to..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            parts.push(text[start..from].to_owned());
            (start, at) = (to, to);
        }
        parts.push(text[start..].to_owned());
        parts
    }

    /// `$0`
    pub(in crate::programs::awk) fn whole(&mut self) -> Arc<str> {
        if !self.joined {
            let separator = self.text_of(OFS);
            let format = self.text_of(CONVFMT);
            let parts: Vec<Arc<str>> =
                self.fields.iter().map(|field| field.shown(&format)).collect();
            self.record = parts.join(&*separator).into();
            self.joined = true;
        }
        Arc::clone(&self.record)
    }

    /// A special variable as text.
    pub(in crate::programs::awk) fn text_of(&self, slot: usize) -> Arc<str> {
        self.globals[slot].shown("%.6g")
    }

    pub(in crate::programs::awk) fn shown(&self, value: &Value) -> Arc<str> {
        value.shown(&self.text_of(CONVFMT))
    }

    /// The pattern made from a text.
    pub(in crate::programs::awk) fn matcher(&mut self, text: &str) -> Option<Arc<Matcher>> {
        if let Some(known) = self.cache.get(text) {
            return Some(Arc::clone(known));
        }
        let made = Arc::new(Matcher::new(text, false, true, false)?);
        if self.cache.len() >= CACHED {
            self.cache.clear();
        }
        self.cache.insert(text.to_owned(), Arc::clone(&made));
        Some(made)
    }

    /// A pattern operand: a number from [`Op::Pattern`] is wrapped as an array-less reference,
    /// anything else is text.
    pub(in crate::programs::awk) fn pattern_of(
        &mut self,
        value: &Value,
    ) -> Result<Arc<Matcher>, Failure> {
        if let Value::Reference(usize::MAX, Variable::Global(nth)) = value {
            return Ok(Arc::clone(&self.program.patterns[*nth]));
        }
        let text = self.shown(value);
        self.matcher(&text).ok_or_else(|| {
            Failure::Message(format!("illegal primary in regular expression {text}"), 2)
        })
    }

    pub(in crate::programs::awk) fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or_default()
    }

    pub(in crate::programs::awk) fn pop_text(&mut self) -> Arc<str> {
        let value = self.pop();
        self.shown(&value)
    }

    pub(super) fn cell(&mut self, frame: usize, variable: Variable) -> &mut Value {
        match variable {
            Variable::Global(slot) => &mut self.globals[slot],
            Variable::Local(slot) => {
                let start = frame
                    .checked_sub(1)
                    .and_then(|nth| self.frames.get(nth))
                    .map_or(0, |frame| frame.locals);
                &mut self.locals[start + slot]
            }
        }
    }

    /// The array in a variable, which becomes one if it has no value yet, also for the callers that
    /// passed it on.
    pub(in crate::programs::awk) fn array(&mut self, variable: Variable) -> Result<Array, Failure> {
        let mut place = (self.frames.len(), variable);
        let mut chain = Vec::new();
        let array = loop {
            match self.cell(place.0, place.1) {
                Value::Array(array) => break array.clone(),
                Value::Reference(frame, variable) => {
                    chain.push(place);
                    place = (*frame, *variable);
                }
                Value::Unset => {
                    chain.push(place);
                    break Array::default();
                }
                _ => {
                    let name = match variable {
                        Variable::Global(slot) => self.program.globals[slot].clone(),
                        Variable::Local(_) => "argument".to_owned(),
                    };
                    return Err(Failure::Message(format!("can't use scalar {name} as array"), 2));
                }
            }
        };
        for (frame, variable) in chain {
            *self.cell(frame, variable) = Value::Array(array.clone());
        }
        Ok(array)
    }

    pub(super) fn load(&mut self, place: Place) -> Result<Value, Failure> {
        Ok(match place {
            Place::Variable(variable) => {
                if variable == Variable::Global(NF) {
                    self.split_record();
                }
                match self.cell(self.frames.len(), variable).clone() {
                    Value::Reference(..) => Value::Unset,
                    Value::Array(_) => {
                        return Err(Failure::Message("can't use array as a scalar".into(), 2));
                    }
                    value => value,
                }
            }
            Place::Element(variable) => {
                let array = self.array(variable)?;
                let key = self.pop_text();
                match array.get(&key) {
                    Some(value) => value,
                    // Looking at an element creates it.
                    None => {
                        self.put(&array, &key, Value::Unset)?;
                        Value::Unset
                    }
                }
            }
            Place::Field => {
                let nth = self.pop().number();
                self.field(nth)?
            }
        })
    }

    pub(super) fn field(&mut self, nth: f64) -> Result<Value, Failure> {
        if nth < 0.0 {
            return Err(Failure::Message(format!("trying to access out of range field {nth}"), 2));
        }
        let nth = nth as usize;
        if nth == 0 {
            return Ok(Value::Input(self.whole()));
        }
        self.split_record();
        Ok(self.fields.get(nth - 1).cloned().unwrap_or_default())
    }

    pub(super) fn put(&mut self, array: &Array, key: &str, value: Value) -> Result<(), Failure> {
        let size = |value: &Value| match value {
            Value::Text(text) | Value::Input(text) => text.len(),
            _ => 0,
        };
        let old = array.get(key).map_or(0, |old| size(&old) + key.len() + 64);
        self.stored = (self.stored + size(&value) + key.len() + 64).saturating_sub(old);
        if self.stored > STORED {
            return Err(Failure::Message("out of memory".into(), 2));
        }
        array.set(key, value);
        Ok(())
    }

    pub(super) fn store(&mut self, place: Place, value: Value) -> Result<(), Failure> {
        match place {
            Place::Variable(Variable::Global(slot)) if slot < SPECIAL.len() => {
                self.set_global(slot, value)
            }
            Place::Variable(variable) => {
                let cell = self.cell(self.frames.len(), variable);
                if matches!(cell, Value::Array(_)) {
                    return Err(Failure::Message("can't assign to array".into(), 2));
                }
                *cell = value;
            }
            Place::Element(variable) => {
                let array = self.array(variable)?;
                let key = self.pop_text();
                self.put(&array, &key, value)?;
            }
            Place::Field => {
                let nth = self.pop().number();
                if nth < 0.0 || nth > FIELDS as f64 {
                    return Err(Failure::Message(
                        format!("trying to access out of range field {nth}"),
                        2,
                    ));
                }
                let nth = nth as usize;
                if nth == 0 {
                    let text = self.shown(&value);
                    self.set_record(&text);
                } else {
                    self.split_record();
                    if self.fields.len() < nth {
                        self.fields.resize(nth, Value::text(""));
                        self.globals[NF] = Value::Number(nth as f64);
                    }
                    self.fields[nth - 1] = value;
                    self.joined = false;
                }
            }
        }
        Ok(())
    }
}
