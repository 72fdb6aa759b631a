//! `$((…))`, `((…))` and `let`: integer expressions. Variables come through a [`Scope`].
//!
//! Start with [`evaluate`]. Numbers have 32 bits and wrap around, as in mksh, whose messages the
//! errors have.

/// Maximum nesting of parentheses, signs and assignments.
const MAX_DEPTH: u32 = 64;

/// The variables of an expression. Plain ones have the index 0.
pub(crate) trait Scope {
    /// A variable's value; an unset one counts as 0.
    fn value(&self, name: &str, index: u32) -> String;

    /// Sets a variable, unless it is read-only.
    fn assign(&mut self, name: &str, index: u32, value: i32) -> Result<(), String>;
}

/// The value of `text`.
pub(crate) fn evaluate(text: &str, scope: &mut dyn Scope) -> Result<i32, String> {
    nested(text, scope, 0)
}

fn nested(text: &str, scope: &mut dyn Scope, depth: u32) -> Result<i32, String> {
    let mut expression = Expression { text, whole: text, scope, depth, unwanted: 0, place: None };
    expression.skip();
    if expression.text.is_empty() {
        return Ok(0);
    }
    let value = expression.comma()?;
    expression.skip();
    if expression.text.is_empty() { Ok(value) } else { Err(expression.unexpected()) }
}

struct Expression<'a> {
    text: &'a str,
    whole: &'a str,
    scope: &'a mut dyn Scope,
    depth: u32,
    /// Above 0 in a part whose value is not used, such as the right side of `1 || …`.
    unwanted: u32,
    /// A variable that was read already, in search of an assignment.
    place: Option<Place<'a>>,
}

/// A variable, or an element of an array.
struct Place<'a> {
    name: &'a str,
    index: u32,
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

/// Assignment operators, the longer ones first, with what they apply.
const ASSIGNMENTS: [(&str, &str); 11] = [
    ("<<=", "<<"),
    (">>=", ">>"),
    ("*=", "*"),
    ("/=", "/"),
    ("%=", "%"),
    ("+=", "+"),
    ("-=", "-"),
    ("&=", "&"),
    ("^=", "^"),
    ("|=", "|"),
    ("=", ""),
];

impl<'a> Expression<'a> {
    fn comma(&mut self) -> Result<i32, String> {
        loop {
            let value = self.assignment()?;
            if !self.take(",") {
                return Ok(value);
            }
        }
    }

    /// An assignment, or an expression without one.
    fn assignment(&mut self) -> Result<i32, String> {
        self.skip();
        if let Some(place) = self.place()? {
            self.skip();
            let found = ASSIGNMENTS.iter().find(|(sign, _)| self.text.starts_with(sign));
            if let Some((sign, operator)) = found.filter(|_| !self.text.starts_with("==")) {
                self.text = &self.text[sign.len()..];
                self.deeper()?;
                let right = self.assignment()?;
                self.depth -= 1;
                let value = match *operator {
                    "" => right,
                    operator => {
                        let left = self.read(&place)?;
                        self.apply(operator, left, right)?
                    }
                };
                self.write(&place, value)?;
                return Ok(value);
            }
            self.place = Some(place);
        }
        self.ternary()
    }

    fn ternary(&mut self) -> Result<i32, String> {
        let condition = self.binary(0)?;
        if !self.take("?") {
            return Ok(condition);
        }
        self.deeper()?;
        let holds = condition != 0;
        self.unwanted += u32::from(!holds);
        let yes = self.comma()?;
        if !self.take(":") {
            return Err(self.wrong("missing :"));
        }
        self.unwanted = self.unwanted - u32::from(!holds) + u32::from(holds);
        let no = self.ternary()?;
        self.unwanted -= u32::from(holds);
        self.depth -= 1;
        Ok(if holds { yes } else { no })
    }

    fn binary(&mut self, level: usize) -> Result<i32, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        'more: loop {
            for operator in *operators {
                // `|` must not match half of `||`, nor `<` half of `<<`.
                if self.starts(operator) && !(level > 1 && self.doubled(operator)) {
                    if !["==", "!=", "<=", ">="].contains(operator)
                        && self.text[operator.len()..].starts_with('=')
                    {
                        return Err(self.unexpected());
                    }
                    self.text = &self.text[operator.len()..];
                    let decided = match *operator {
                        "||" => left != 0,
                        "&&" => left == 0,
                        _ => false,
                    };
                    self.unwanted += u32::from(decided);
                    let right = self.binary(level + 1)?;
                    self.unwanted -= u32::from(decided);
                    left = self.apply(operator, left, right)?;
                    continue 'more;
                }
            }
            return Ok(left);
        }
    }

    fn apply(&self, operator: &str, left: i32, right: i32) -> Result<i32, String> {
        apply(operator, left, right)
            .or((self.unwanted > 0).then_some(0))
            .ok_or_else(|| self.wrong("zero divisor"))
    }

    fn unary(&mut self) -> Result<i32, String> {
        if self.place.is_some() {
            return self.operand();
        }
        self.deeper()?;
        let value = if self.take("(") {
            let value = self.comma()?;
            if !self.take(")") {
                return Err(self.wrong("missing )"));
            }
            value
        } else if let Some(step) = self.take_step() {
            self.skip();
            match self.place()? {
                Some(place) => self.step(&place, step)?,
                None => {
                    let sign = if step > 0 { "++" } else { "--" };
                    return Err(self.wrong(&format!("{sign} requires lvalue")));
                }
            }
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
        let place = match self.place.take() {
            Some(place) => Some(place),
            None => self.place()?,
        };
        if let Some(place) = place {
            if let Some(step) = self.take_step() {
                return Ok(self.step(&place, step)?.wrapping_sub(step));
            }
            return self.read(&place);
        }
        let end = self.text.find(|c: char| !c.is_ascii_alphanumeric() && c != '#');
        let (word, rest) = self.text.split_at(end.unwrap_or(self.text.len()));
        if !word.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.unexpected());
        }
        self.text = rest;
        number(word).ok_or_else(|| self.wrong(&format!("bad number '{word}'")))
    }

    /// The variable that is named here, if any.
    fn place(&mut self) -> Result<Option<Place<'a>>, String> {
        let end = self.text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (name, rest) = self.text.split_at(end.unwrap_or(self.text.len()));
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        self.text = rest;
        let mut index = 0;
        if let Some(inner) = rest.strip_prefix('[') {
            let mut open = 1;
            let end = inner.find(|c| {
                open += i32::from(c == '[') - i32::from(c == ']');
                open == 0
            });
            let Some(end) = end else { return Err(self.wrong("missing ]")) };
            self.deeper()?;
            index = nested(&inner[..end], self.scope, self.depth)? as u32;
            self.depth -= 1;
            self.text = &inner[end + 1..];
        }
        Ok(Some(Place { name, index }))
    }

    fn read(&mut self, place: &Place<'_>) -> Result<i32, String> {
        if self.unwanted > 0 {
            return Ok(0);
        }
        let value = self.scope.value(place.name, place.index);
        match number(value.trim()) {
            Some(number) => Ok(number),
            // A variable may hold an expression; the depth limit ends self-references.
            None if self.depth >= MAX_DEPTH => {
                Err(self.wrong(&format!("expression recurses on parameter '{}'", place.name)))
            }
            None => nested(&value, self.scope, self.depth + 1),
        }
    }

    fn write(&mut self, place: &Place<'_>, value: i32) -> Result<(), String> {
        if self.unwanted > 0 {
            return Ok(());
        }
        self.scope.assign(place.name, place.index, value)
    }

    /// Adds to a variable, and returns its new value.
    fn step(&mut self, place: &Place<'_>, step: i32) -> Result<i32, String> {
        let value = self.read(place)?.wrapping_add(step);
        self.write(place, value)?;
        Ok(value)
    }

    /// `++` or `--`
    fn take_step(&mut self) -> Option<i32> {
        if self.take("++") {
            Some(1)
        } else if self.take("--") {
            Some(-1)
        } else {
            None
        }
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(self.wrong("nested too deeply")) } else { Ok(()) }
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

    fn wrong(&self, what: &str) -> String {
        format!("{}: {what}", self.whole)
    }

    /// The error for the token here.
    fn unexpected(&self) -> String {
        const SIGNS: [&str; 8] = ["++", "--", "==", "!=", "<=", ">=", "&&", "||"];
        let text = self.text.trim_start();
        let assigns = ASSIGNMENTS.iter().find(|(sign, _)| text.starts_with(sign));
        if let Some((sign, _)) = assigns.filter(|_| !text.starts_with("==")) {
            return self.wrong(&format!("{sign} requires lvalue"));
        }
        let word = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let sign = SIGNS.into_iter().find(|sign| text.starts_with(sign));
        let token = match (word.unwrap_or(text.len()), sign, text.chars().next()) {
            (_, _, None) => "end of expression",
            (_, Some(sign), _) => sign,
            (0, None, Some(c)) => &text[..c.len_utf8()],
            (length, ..) => &text[..length],
        };
        self.wrong(&format!("unexpected '{token}'"))
    }
}

/// A number as mksh writes it: decimal, `0x` hexadecimal, or `base#digits`.
fn number(word: &str) -> Option<i32> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => (16, hex),
        None => match digits.split_once('#') {
            Some((radix, digits)) => {
                (radix.parse().ok().filter(|radix| (2..=36).contains(radix))?, digits)
            }
            None => (10, digits),
        },
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
    use std::collections::BTreeMap;

    #[derive(Default)]
    struct Variables(BTreeMap<(String, u32), String>);

    impl Scope for Variables {
        fn value(&self, name: &str, index: u32) -> String {
            self.0.get(&(name.to_owned(), index)).cloned().unwrap_or_default()
        }

        fn assign(&mut self, name: &str, index: u32, value: i32) -> Result<(), String> {
            self.0.insert((name.to_owned(), index), value.to_string());
            Ok(())
        }
    }

    fn variables() -> Variables {
        Variables([(("x".to_owned(), 0), "7".to_owned())].into())
    }

    #[test]
    fn expressions_evaluate_as_in_c() {
        for (text, value) in [
            ("1+2*3", 7),
            ("(1 + 2) * 3", 9),
            ("x % 4", 3),
            ("-x - -x", 0),
            ("nope", 0),
            ("1 << 4 | 1", 17),
            ("3 > 2 && 2 >= 2", 1),
            ("0x10", 16),
            ("16#1f", 31),
            ("!x", 0),
            ("x == 7 ? 5 : 6", 5),
            ("1 | 0 || 0", 1),
            ("0 && 1 / 0", 0),
            ("1 ? 2 : 1 / 0", 2),
            ("2147483647 + 1", i32::MIN),
            ("", 0),
            ("x++ + x", 15),
            ("++x", 8),
            ("x--, x", 6),
            ("x += 3", 10),
            ("y = z = 4, y * z", 16),
            ("x <<= 2", 28),
            ("a[1] = 5, a[x - 6] + a", 5),
            ("0 && (x = 1), x", 7),
            ("x=x==7", 1),
        ] {
            assert_eq!(evaluate(text, &mut variables()), Ok(value), "{text}");
        }
        let mut itself = Variables([(("x".to_owned(), 0), "x + 1".to_owned())].into());
        assert!(evaluate("x", &mut itself).is_err(), "it names itself");
    }

    #[test]
    fn errors_name_what_is_wrong() {
        for (text, error) in [
            ("1/0", "1/0: zero divisor"),
            ("1 +", "1 +: unexpected 'end of expression'"),
            ("(1", "(1: missing )"),
            ("1 2", "1 2: unexpected '2'"),
            ("9z", "9z: bad number '9z'"),
            ("%", "%: unexpected '%'"),
            ("1.5", "1.5: unexpected '.'"),
            ("5 = 1", "5 = 1: = requires lvalue"),
            ("5 += 1", "5 += 1: += requires lvalue"),
            ("++5", "++5: ++ requires lvalue"),
            ("a[1", "a[1: missing ]"),
        ] {
            assert_eq!(evaluate(text, &mut variables()), Err(error.to_owned()), "{text}");
        }
        for text in ["(", "-", "a[", "x=", "1?", "x?x:"] {
            assert!(evaluate(&text.repeat(100_000), &mut variables()).is_err(), "{text}");
        }
    }
}
