//! Numbers and dates: `seq`, `expr`, `cal`, with toybox's texts.

use super::Invocation;
use super::format::Conversion;
use super::options::{Failure, Options, Outcome};
use super::regex::Matcher;

/// `seq [-w] [-f FORMAT] [-s SEPARATOR] [FIRST [STEP]] LAST`
pub(super) async fn seq(call: &Invocation) -> Outcome {
    // Negative numbers look like options.
    let at = call.args.iter().position(|arg| {
        arg.starts_with('-') && arg[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.')
    });
    let (own, negative) = call.args.split_at(at.unwrap_or(call.args.len()));
    let mut options = Options::read(own, "+f:s:w", &[])?;
    options.rest.extend_from_slice(negative);
    options.at_least(1)?;
    options.at_most(3)?;
    let mut numbers = Vec::new();
    for text in &options.rest {
        let number = text.parse::<f64>().ok().filter(|n| n.is_finite());
        numbers.push(
            number.ok_or_else(|| Failure::new(format!("strtod {text}: Argument list too long")))?,
        );
    }
    let (first, step, last) = match numbers.as_slice() {
        [last] => (1.0, 1.0, *last),
        [first, last] => (*first, 1.0, *last),
        all => (all[0], all[1], all[2]),
    };
    let digits = |text: &String| text.split_once('.').map_or(0, |(_, digits)| digits.len());
    // The last number has no say in how many digits are printed.
    let shown = if options.rest.len() > 1 { &options.rest[..options.rest.len() - 1] } else { &[] };
    let precision = shown.iter().map(digits).max().unwrap_or(0);
    let mut format = match options.value('f') {
        None => None,
        Some(text) => Some(split_format(text)?),
    };
    if options.has('w') && format.is_none() {
        let width =
            [first, last].iter().map(|n| format!("{n:.precision$}").len()).max().unwrap_or(0);
        format = Some(split_format(&format!("%0{width}.{precision}f"))?);
    }
    let separator = options.value('s').unwrap_or("\n");
    let mut pace = super::options::Pace::new();
    let mut nth = 0_u64;
    loop {
        let value = first + nth as f64 * step;
        if step > 0.0 && value > last + 1e-9 * step
            || step < 0.0 && value < last + 1e-9 * step
            || step == 0.0 && first > last
        {
            break;
        }
        let text = match &format {
            Some((before, conversion, after)) => {
                format!("{before}{}{after}", conversion.float(value))
            }
            None => format!("{value:.precision$}"),
        };
        let joint = if nth > 0 { separator } else { "" };
        call.out(format!("{joint}{text}")).await?;
        nth += 1;
        tokio::task::coop::consume_budget().await;
        pace.step(call).await;
    }
    if nth > 0 {
        call.out("\n").await?;
    }
    Ok(0)
}

/// The text before and after the one conversion of a format.
fn split_format(text: &str) -> Result<(String, Conversion, String), Failure> {
    let bad = || Failure::new(format!("bad -f '{text}'"));
    let (before, rest) = text.split_once('%').ok_or_else(bad)?;
    let (conversion, length) = Conversion::parse(rest, || 0).ok_or_else(bad)?;
    if !"aAeEfFgG".contains(conversion.letter) || rest[length..].contains('%') {
        return Err(bad());
    }
    Ok((before.to_owned(), conversion, rest[length..].to_owned()))
}

/// The words of an expression that are left. Values are texts that may be numbers.
struct ExprParser<'a> {
    words: &'a [String],
}

/// Operators of `expr` by precedence.
const LEVELS: [&[&str]; 6] = [
    &["|"],
    &["&"],
    &["=", "==", "!=", "<", "<=", ">", ">="],
    &["+", "-"],
    &["*", "/", "%"],
    &[":"],
];

impl ExprParser<'_> {
    fn level(&mut self, level: usize, depth: u32) -> Result<String, Failure> {
        let Some(operators) = LEVELS.get(level) else { return self.primary(depth) };
        let mut left = self.level(level + 1, depth)?;
        while let Some(operator) =
            self.words.first().filter(|word| operators.contains(&word.as_str()))
        {
            self.words = &self.words[1..];
            let right = self.level(level + 1, depth)?;
            left = apply(&left, operator, &right)?;
        }
        Ok(left)
    }

    fn primary(&mut self, depth: u32) -> Result<String, Failure> {
        let Some((first, rest)) = self.words.split_first().filter(|_| depth < 64) else {
            return Err(syntax());
        };
        self.words = rest;
        if first != "(" {
            return Ok(first.clone());
        }
        let value = self.level(0, depth + 1)?;
        match self.words.split_first() {
            Some((close, rest)) if close == ")" => {
                self.words = rest;
                Ok(value)
            }
            _ => Err(syntax()),
        }
    }
}

fn syntax() -> Failure {
    Failure::Message("syntax error".into(), 2)
}

fn is_false(value: &str) -> bool {
    value.is_empty() || value.parse() == Ok(0_i64)
}

fn apply(left: &str, operator: &str, right: &str) -> Result<String, Failure> {
    let numbers = left.parse::<i64>().ok().zip(right.parse::<i64>().ok());
    let truth = |holds: bool| i64::from(holds).to_string();
    Ok(match operator {
        "|" => if is_false(left) { right } else { left }.to_owned(),
        "&" => if is_false(left) || is_false(right) { "0" } else { left }.to_owned(),
        ":" => return matched(left, right),
        "+" | "-" | "*" | "/" | "%" => {
            let (a, b) =
                numbers.ok_or_else(|| Failure::Message("non-integer argument".into(), 2))?;
            if b == 0 && "/%".contains(operator) {
                return Err(Failure::Message("division by zero".into(), 2));
            }
            match operator {
                "+" => a.wrapping_add(b),
                "-" => a.wrapping_sub(b),
                "*" => a.wrapping_mul(b),
                "/" => a.wrapping_div(b),
                _ => a.wrapping_rem(b),
            }
            .to_string()
        }
        operator => {
            let order = match numbers {
                Some((a, b)) => a.cmp(&b),
                None => left.cmp(right),
            };
            truth(match operator {
                "=" | "==" => order.is_eq(),
                "!=" => order.is_ne(),
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                ">" => order.is_gt(),
                _ => order.is_ge(),
            })
        }
    })
}

/// `TEXT : PATTERN`: the first group, or the length of the match at the start.
fn matched(text: &str, pattern: &str) -> Result<String, Failure> {
    let anchored = format!("^{}", pattern.trim_start_matches('^'));
    let matcher = Matcher::new(&anchored, false, false, false)
        .ok_or_else(|| Failure::Message(format!("bad regex '{pattern}'"), 2))?;
    let groups = matcher.captures(text, 0);
    let has_group = pattern.contains("\\(");
    let place = groups.and_then(|groups| groups.get(usize::from(has_group)).copied().flatten());
    Ok(match (place, has_group) {
        (Some((from, to)), true) => text[from..to].to_owned(),
        (Some((from, to)), false) => text[from..to].chars().count().to_string(),
        (None, true) => String::new(),
        (None, false) => "0".to_owned(),
    })
}

/// `expr ARGUMENT…`
pub(super) async fn expr(call: &Invocation) -> Outcome {
    if call.args.is_empty() {
        return Err(Failure::needs(1));
    }
    let mut parser = ExprParser { words: &call.args };
    let value = parser.level(0, 0)?;
    if !parser.words.is_empty() {
        return Err(syntax());
    }
    call.out(format!("{value}\n")).await?;
    Ok(i32::from(is_false(&value)))
}

/// `cal [[[DAY] MONTH] YEAR]`
pub(super) async fn cal(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "h", &[])?;
    options.at_most(3)?;
    let now = super::clock::date_time(call.phone.with(|phone| phone.world.unix_time()));
    let field = |text: &String, least: i16, most: i16| {
        let value: i16 = text.parse().map_err(|_| Failure::new(format!("not integer: {text}")))?;
        match value {
            value if value < least => Err(Failure::new(format!("{value} < {least}"))),
            value if value > most => Err(Failure::new(format!("{value} > {most}"))),
            value => Ok(value),
        }
    };
    let (year, months) = match options.rest.as_slice() {
        [] => (now.year(), now.month()..=now.month()),
        [year] => (field(year, 1, 9_999)?, 1..=12),
        [.., month, year] => {
            let month = field(month, 1, 12)? as i8;
            (field(year, 1, 9_999)?, month..=month)
        }
    };
    let months: Vec<Vec<String>> = months.map(|month| month_rows(year, month)).collect();
    for row in months.chunks(3) {
        for line in 0..8 {
            let gap = if months.len() > 1 { " " } else { "" };
            let text: String = row.iter().map(|month| format!("{}{gap}", month[line])).collect();
            call.out(format!("{text}\n")).await?;
        }
    }
    Ok(0)
}

fn month_rows(year: i16, month: i8) -> Vec<String> {
    let Ok(first) = jiff::civil::Date::new(year, month, 1) else { return vec![String::new(); 8] };
    let title = first.strftime("%B %Y").to_string();
    let left = (20 - title.len()) / 2;
    let mut rows = vec![
        format!("{:left$}{title:<width$} ", "", width = 20 - left),
        "Su Mo Tu We Th Fr Sa ".to_owned(),
    ];
    let mut cells = vec!["   ".to_owned(); first.weekday().to_sunday_zero_offset() as usize];
    cells.extend((1..=first.days_in_month()).map(|day| format!("{day:>2} ")));
    cells.resize(42, "   ".to_owned());
    rows.extend(cells.chunks(7).map(<[String]>::concat));
    rows
}
