//! Numbers: `seq`, with toybox's texts.

use super::Invocation;
use super::format::Conversion;
use super::options::{Failure, Options, Outcome};

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
    let (conversion, length) = Conversion::parse(rest).ok_or_else(bad)?;
    if !"aAeEfFgG".contains(conversion.letter) || rest[length..].contains('%') {
        return Err(bad());
    }
    Ok((before.to_owned(), conversion, rest[length..].to_owned()))
}
