//! `$((…))`: integer expressions. Pure; variables come through a function.
//!
//! Start with [`evaluate`]. Numbers have 32 bits and wrap around, as in mksh. No assignments:
//! scripts can write `x=$((x + 1))`.

/// Maximum nesting of parentheses and signs.
const MAX_DEPTH: u32 = 64;

/// The value of `text`; `variable` returns a variable's value (an unset one counts as 0).
pub(crate) fn evaluate(text: &str, variable: &dyn Fn(&str) -> String) -> Result<i32, String> {
    nested(text, variable, 0)
}

fn nested(text: &str, variable: &dyn Fn(&str) -> String, depth: u32) -> Result<i32, String> {
    let text = text.trim();
    let mut expression = Expression { text, whole: text, variable, depth, unwanted: 0 };
    if expression.text.is_empty() {
        return Ok(0);
    }
    let value = expression.ternary()?;
    expression.skip();
    if expression.text.is_empty() { Ok(value) } else { Err(expression.wrong()) }
}

struct Expression<'a> {
    text: &'a str,
    whole: &'a str,
    variable: &'a dyn Fn(&str) -> String,
    depth: u32,
    /// Above 0 in a part whose value is not used, such as the right side of `1 || …`.
    unwanted: u32,
}

/// Binary operators from lowest to highest precedence; longer ones of a level first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Expression<'_> {
    fn ternary(&mut self) -> Result<i32, String> {
        let condition = self.binary(0)?;
        if !self.take("?") {
            return Ok(condition);
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong());
        }
        let holds = condition != 0;
        self.unwanted += u32::from(!holds);
        let yes = self.ternary()?;
        if !self.take(":") {
            return Err(self.wrong());
        }
        self.unwanted = self.unwanted - u32::from(!holds) + u32::from(holds);
        let no = self.ternary()?;
        self.unwanted -= u32::from(holds);
        self.depth -= 1;
        Ok(if condition != 0 { yes } else { no })
    }

    fn binary(&mut self, level: usize) -> Result<i32, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        'more: loop {
            for operator in *operators {
                // `|` must not match half of `||`, nor `<` half of `<<`.
                if self.starts(operator) && !(level > 1 && self.doubled(operator)) {
                    self.text = &self.text[operator.len()..];
                    let decided = match *operator {
                        "||" => left != 0,
                        "&&" => left == 0,
                        _ => false,
                    };
                    self.unwanted += u32::from(decided);
                    let right = self.binary(level + 1)?;
                    self.unwanted -= u32::from(decided);
                    left = apply(operator, left, right)
                        .or((self.unwanted > 0).then_some(0))
                        .ok_or_else(|| format!("{}: divide by zero", self.whole))?;
                    continue 'more;
                }
            }
            return Ok(left);
        }
    }

    fn unary(&mut self) -> Result<i32, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wrong());
        }
        let value = if self.take("(") {
            let value = self.ternary()?;
            if !self.take(")") {
                return Err(self.wrong());
            }
            value
        } else if self.take("-") {
            self.unary()?.wrapping_neg()
        } else if self.take("+") {
            self.unary()?
        } else if self.take("!") {
            i32::from(self.unary()? == 0)
        } else if self.take("~") {
            !self.unary()?
        } else {
            self.operand()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn operand(&mut self) -> Result<i32, String> {
        self.skip();
        let length = self
            .text
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(self.text.len());
        let (word, rest) = self.text.split_at(length);
        self.text = rest;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return number(word).ok_or_else(|| format!("{}: bad number '{word}'", self.whole));
        }
        if word.is_empty() {
            return Err(self.wrong());
        }
        let value = (self.variable)(word);
        let value = value.trim();
        if value.is_empty() {
            Ok(0)
        } else {
            // A variable may hold an expression; the depth limit ends self-references.
            match number(value) {
                Some(number) => Ok(number),
                None if self.depth >= MAX_DEPTH => Err(self.wrong()),
                None => nested(value, self.variable, self.depth + 1),
            }
        }
    }

    fn starts(&mut self, token: &str) -> bool {
        self.skip();
        self.text.starts_with(token)
    }

    fn doubled(&self, operator: &str) -> bool {
        operator.len() == 1
            && matches!(operator, "|" | "&" | "<" | ">")
            && self.text.as_bytes().get(1) == operator.as_bytes().first()
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.starts(token);
        if found {
            self.text = &self.text[token.len()..];
        }
        found
    }

    fn skip(&mut self) {
        self.text = self.text.trim_start();
    }

    fn wrong(&self) -> String {
        format!("{}: unexpected '{}'", self.whole, self.text.chars().take(20).collect::<String>())
    }
}

fn number(word: &str) -> Option<i32> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => (16, hex),
        None => (10, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let value = digits.chars().try_fold(0_i32, |value, c| {
        let digit = i32::try_from(c.to_digit(radix)?).ok()?;
        Some(value.wrapping_mul(radix as i32).wrapping_add(digit))
    })?;
    Some(if negative { value.wrapping_neg() } else { value })
}

fn apply(operator: &str, a: i32, b: i32) -> Option<i32> {
    Some(match operator {
        "||" => i32::from(a != 0 || b != 0),
        "&&" => i32::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i32::from(a == b),
        "!=" => i32::from(a != b),
        "<=" => i32::from(a <= b),
        ">=" => i32::from(a >= b),
        "<" => i32::from(a < b),
        ">" => i32::from(a > b),
        "<<" => a.wrapping_shl((b & 31) as u32),
        ">>" => a.wrapping_shr((b & 31) as u32),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if b != 0 => a.wrapping_div(b),
        "%" if b != 0 => a.wrapping_rem(b),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_evaluate_as_in_c() {
        let variable = |name: &str| if name == "x" { "7".to_owned() } else { String::new() };
        for (text, value) in [
            ("1+2*3", 7),
            ("(1 + 2) * 3", 9),
            ("x % 4", 3),
            ("-x - -x", 0),
            ("nope", 0),
            ("1 << 4 | 1", 17),
            ("3 > 2 && 2 >= 2", 1),
            ("0x10", 16),
            ("!x", 0),
            ("x == 7 ? 5 : 6", 5),
            ("1 | 0 || 0", 1),
            ("0 && 1 / 0", 0),
            ("1 ? 2 : 1 / 0", 2),
            ("2147483647 + 1", i32::MIN),
            ("", 0),
        ] {
            assert_eq!(evaluate(text, &variable), Ok(value), "{text}");
        }
        assert!(evaluate("x", &|_| "x + 1".to_owned()).is_err(), "it names itself");
        for text in
            ["1/0", "1 +", "(1", "1 2", "9z", "%", &"(".repeat(100_000), &"-".repeat(100_000)]
        {
            assert!(evaluate(text, &variable).is_err());
        }
    }
}
