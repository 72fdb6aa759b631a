//! C's `printf` conversions and escapes, for `printf`, `seq`, `find` and `tr`.
//!
//! Start with [`Conversion::parse`].

/// Maximum width and precision; larger ones would print megabytes.
const MAX_WIDTH: usize = 4_096;

/// `%[flags][width][.precision]letter`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Conversion {
    minus: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    pub(super) letter: char,
}

impl Conversion {
    /// The conversion after a `%`, and the bytes it takes.
    pub(super) fn parse(text: &str) -> Option<(Self, usize)> {
        let mut conversion = Self::default();
        let mut chars = text.char_indices().peekable();
        while let Some((_, flag)) = chars.next_if(|(_, c)| "-+ 0#'".contains(*c)) {
            match flag {
                '-' => conversion.minus = true,
                '+' => conversion.plus = true,
                ' ' => conversion.space = true,
                '0' => conversion.zero = true,
                '#' => conversion.alternate = true,
                _ => {}
            }
        }
        let size = |chars: &mut std::iter::Peekable<std::str::CharIndices<'_>>| -> usize {
            let mut value = 0_usize;
            while let Some((_, digit)) = chars.next_if(|(_, c)| c.is_ascii_digit()) {
                value = (value * 10 + usize::from(digit as u8 - b'0')).min(MAX_WIDTH);
            }
            value
        };
        conversion.width = size(&mut chars);
        if chars.next_if(|(_, c)| *c == '.').is_some() {
            conversion.precision = Some(size(&mut chars));
        }
        while chars.next_if(|(_, c)| "hlLqjzt".contains(*c)).is_some() {}
        let (at, letter) = chars.next()?;
        conversion.letter = letter;
        Some((conversion, at + letter.len_utf8()))
    }

    /// A number, for `%e %f %g` and their capitals.
    pub(super) fn float(&self, value: f64) -> String {
        let sign = self.sign(value.is_sign_negative() && !value.is_nan());
        let value = value.abs();
        if !value.is_finite() {
            return self.pad(&sign, if value.is_nan() { "nan" } else { "inf" }, false);
        }
        let precision = self.precision.unwrap_or(6);
        let text = match self.letter.to_ascii_lowercase() {
            'f' => format!("{value:.precision$}"),
            'e' => exponent(&format!("{value:.precision$e}")),
            _ => self.shortest(value, precision.max(1)),
        };
        let text = if self.letter.is_ascii_uppercase() { text.to_uppercase() } else { text };
        self.pad(&sign, &text, true)
    }

    /// A number, for `%d %i %u %o %x %X`.
    pub(super) fn integer(&self, value: i64) -> String {
        let signed = "di".contains(self.letter);
        let sign = if signed { self.sign(value < 0) } else { String::new() };
        let digits = match self.letter {
            'o' => format!("{value:o}"),
            'x' => format!("{value:x}"),
            'X' => format!("{value:X}"),
            'u' => (value as u64).to_string(),
            _ => value.unsigned_abs().to_string(),
        };
        let prefix = match self.letter {
            'x' if self.alternate && value != 0 => "0x",
            'X' if self.alternate && value != 0 => "0X",
            'o' if self.alternate && value != 0 => "0",
            _ => "",
        };
        let digits = format!("{digits:0>width$}", width = self.precision.unwrap_or(0));
        self.pad(&(sign + prefix), &digits, self.precision.is_none())
    }

    /// A text, for `%s` and `%c`.
    pub(super) fn text(&self, value: &str) -> String {
        let shown: String = value.chars().take(self.precision.unwrap_or(usize::MAX)).collect();
        self.pad("", &shown, false)
    }

    fn shortest(&self, value: f64, digits: usize) -> String {
        let scientific = format!("{value:.*e}", digits - 1);
        let power: i32 =
            scientific.rsplit_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
        if power < -4 || power >= digits as i32 {
            let (digits, power) = scientific.rsplit_once('e').unwrap_or((&scientific, "0"));
            let digits = if self.alternate { digits } else { trimmed(digits) };
            return exponent(&format!("{digits}e{power}"));
        }
        let fixed = format!("{value:.*}", usize::try_from(digits as i32 - 1 - power).unwrap_or(0));
        if self.alternate { fixed } else { trimmed(&fixed).to_owned() }
    }

    fn sign(&self, negative: bool) -> String {
        match (negative, self.plus, self.space) {
            (true, _, _) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
        .to_owned()
    }

    fn pad(&self, sign: &str, text: &str, zeros: bool) -> String {
        let missing = self.width.saturating_sub(sign.len() + text.chars().count());
        match (self.minus, self.zero && zeros) {
            (true, _) => format!("{sign}{text}{}", " ".repeat(missing)),
            (false, true) => format!("{sign}{}{text}", "0".repeat(missing)),
            (false, false) => format!("{}{sign}{text}", " ".repeat(missing)),
        }
    }
}

/// Without the zeros at the end of a fraction.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// `1.5e3` as `1.5e+03`.
fn exponent(text: &str) -> String {
    let (digits, power) = text.rsplit_once('e').unwrap_or((text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.abs())
}

/// C's one-letter escapes.
pub(super) fn escape(letter: u8) -> Option<u8> {
    Some(match letter {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' => b'\\',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::Conversion;

    #[test]
    fn numbers_are_formatted_as_in_c() {
        for (format, value, text) in [
            ("f", 1.5, "1.500000"),
            (".2f", 1.005, "1.00"),
            ("8.1f", -2.25, "    -2.2"),
            ("e", 12_345.678, "1.234568e+04"),
            (".0e", 0.00012, "1e-04"),
            ("g", 100_000.0, "100000"),
            ("g", 1_000_000.0, "1e+06"),
            ("g", 0.0001, "0.0001"),
            ("g", 0.00001, "1e-05"),
            (".6g", std::f64::consts::PI, "3.14159"),
            ("g", 0.0, "0"),
            ("g", f64::INFINITY, "inf"),
            ("G", 1e-10, "1E-10"),
        ] {
            let (conversion, length) = Conversion::parse(format).expect(format);
            assert_eq!(length, format.len());
            assert_eq!(conversion.float(value), text, "%{format} {value}");
        }
        assert_eq!(Conversion::parse("5"), None);
        for (format, value, text) in [
            ("d", -7, "-7"),
            ("+.3d", 5, "+005"),
            ("05d", -42, "-0042"),
            ("-5d|", 42, "42   "),
            ("x", 255, "ff"),
            ("#X", 255, "0XFF"),
            ("o", -1, "1777777777777777777777"),
            ("u", -1, "18446744073709551615"),
            ("5.3i", 7, "  007"),
        ] {
            let (conversion, _) = Conversion::parse(format).expect(format);
            assert_eq!(conversion.integer(value), text, "%{format} {value}");
        }
    }
}
