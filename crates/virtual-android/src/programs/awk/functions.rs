//! Built-in functions of awk.

use super::machine::Machine;
use super::value::Value;
use super::{Function, RLENGTH, RSTART};
use crate::programs::format::Conversion;
use crate::programs::options::Failure;

/// Maximum bytes of a text.
const MAX_LENGTH: usize = 2 << 20;

impl Machine<'_> {
    pub(super) async fn function(
        &mut self,
        function: Function,
        count: usize,
    ) -> Result<(), Failure> {
        let mut arguments = self.stack.split_off(self.stack.len().saturating_sub(count));
        let first = arguments.first().cloned().unwrap_or_default();
        let number = first.number();
        let value = match function {
            Function::Atan2 => Value::Number(number.atan2(arguments[1].number())),
            Function::Cos => Value::Number(number.cos()),
            Function::Exp => Value::Number(number.exp()),
            Function::Int => Value::Number(number.trunc()),
            Function::Log => Value::Number(number.ln()),
            Function::Sin => Value::Number(number.sin()),
            Function::Sqrt => Value::Number(number.sqrt()),
            Function::Rand => {
                self.random = self
                    .random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                Value::Number((self.random >> 33) as f64 / (1_u64 << 31) as f64)
            }
            Function::Srand => {
                let now = self.call.phone.with(|phone| phone.world.unix_time());
                let before =
                    std::mem::replace(&mut self.seed, if count == 0 { now as f64 } else { number });
                self.random = self.seed.to_bits();
                Value::Number(before)
            }
            Function::Length => match &first {
                Value::Array(array) => Value::Number(array.len() as f64),
                _ if count == 0 => {
                    let record = self.whole();
                    Value::Number(record.chars().count() as f64)
                }
                Value::Reference(..) => Value::Number(0.0),
                value => Value::Number(self.shown(value).chars().count() as f64),
            },
            Function::Tolower => Value::Text(self.shown(&first).to_lowercase().into()),
            Function::Toupper => Value::Text(self.shown(&first).to_uppercase().into()),
            Function::Index => {
                let (text, part) = (self.shown(&first), self.shown(&arguments[1]));
                let at = text.find(&*part).map_or(0, |at| text[..at].chars().count() + 1);
                Value::Number(at as f64)
            }
            Function::Substr => {
                let text = self.shown(&first);
                let length = text.chars().count() as f64;
                let start = arguments[1].number().trunc().clamp(1.0, length + 1.0);
                let most = length + 1.0 - start;
                let count =
                    arguments.get(2).map_or(most, |count| count.number().trunc().clamp(0.0, most));
                let part = text.chars().skip(start as usize - 1).take(count as usize);
                Value::Text(part.collect::<String>().into())
            }
            Function::Match => {
                let matcher = self.pattern_of(&arguments[1])?;
                let text = self.shown(&first);
                let found =
                    matcher.captures(&text, 0).and_then(|groups| groups.first().copied().flatten());
                let (start, length) = found.map_or((0, -1), |(from, to)| {
                    (text[..from].chars().count() as i64 + 1, text[from..to].chars().count() as i64)
                });
                self.globals[RSTART] = Value::Number(start as f64);
                self.globals[RLENGTH] = Value::Number(length as f64);
                Value::Number(start as f64)
            }
            Function::Sprintf => Value::Text(self.format(&std::mem::take(&mut arguments))?.into()),
            Function::System => {
                let command = self.shown(&first);
                Value::Number(f64::from(self.run_command(&command).await))
            }
            Function::Close => {
                let name = self.shown(&first);
                Value::Number(f64::from(self.close(&name).await?))
            }
            Function::Fflush => Value::Number(0.0),
        };
        self.stack.push(value);
        Ok(())
    }

    /// `printf`: the first value is the format.
    pub(super) fn format(&mut self, values: &[Value]) -> Result<String, Failure> {
        let Some((format, values)) = values.split_first() else { return Ok(String::new()) };
        let format = self.shown(format);
        let mut values = values.iter();
        let (mut out, mut rest) = (String::new(), &*format);
        while let Some((before, after)) = rest.split_once('%') {
            out.push_str(before);
            if let Some(after) = after.strip_prefix('%') {
                out.push('%');
                rest = after;
                continue;
            }
            let star = || values.next().map_or(0, |value| value.number() as i64);
            let Some((conversion, length)) = Conversion::parse(after, star) else {
                out.push('%');
                out.push_str(after);
                rest = "";
                break;
            };
            rest = &after[length..];
            let value = match values.next() {
                Some(value) => value.clone(),
                None if "diouxXeEfFgGaAsc".contains(conversion.letter) => {
                    return Err(Failure::Message(
                        format!("not enough args in printf({format})"),
                        2,
                    ));
                }
                None => Value::Unset,
            };
            out.push_str(&match conversion.letter {
                'd' | 'i' | 'o' | 'x' | 'X' | 'u' => conversion.integer(value.number() as i64),
                'e' | 'E' | 'f' | 'F' | 'g' | 'G' => conversion.float(value.number()),
                'c' => {
                    let letter =
                        match value.comparable().filter(|_| matches!(value, Value::Number(_))) {
                            Some(code) => {
                                char::from_u32(code as u32).map(String::from).unwrap_or_default()
                            }
                            None => self.shown(&value).chars().take(1).collect(),
                        };
                    conversion.text(&letter)
                }
                's' => conversion.text(&self.shown(&value)),
                letter => format!("%{letter}"),
            });
            if out.len() > MAX_LENGTH {
                return Err(Failure::Message("out of memory".into(), 2));
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    /// `sub` and `gsub`: replacement, pattern and text are on the stack.
    pub(super) fn substitute(&mut self, all: bool) -> Result<(), Failure> {
        let replacement = self.pop_text();
        let pattern = self.pop();
        let matcher = self.pattern_of(&pattern)?;
        let text = self.pop_text();
        let (mut out, mut copied, mut at, mut count) = (String::new(), 0, 0, 0);
        let mut previous = None;
        while at <= text.len() {
            let Some((from, to)) =
                matcher.captures(&text, at).and_then(|groups| groups.first().copied().flatten())
            else {
                break;
            };
            if from == to && previous == Some(from) {
                at = to + text[to..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            previous = Some(to);
            count += 1;
            out.push_str(&text[copied..from]);
            let mut chars = replacement.chars().peekable();
            while let Some(c) = chars.next() {
                match c {
                    '\\' if matches!(chars.peek(), Some('&' | '\\')) => out.extend(chars.next()),
                    '&' => out.push_str(&text[from..to]),
                    c => out.push(c),
                }
            }
            copied = to;
            if !all || out.len() > MAX_LENGTH {
                break;
            }
            at = if to > from {
                to
            } else {
                to + text[to..].chars().next().map_or(1, char::len_utf8)
            };
        }
        if out.len() > MAX_LENGTH {
            return Err(Failure::Message("out of memory".into(), 2));
        }
        out.push_str(&text[copied.min(text.len())..]);
        self.done = f64::from(count);
        self.stack.push(Value::Text(out.into()));
        Ok(())
    }
}
