//! Finds the `${…}` in a text.
//!
//! Start with [`parts`]. [`ParseContext`](super::context::ParseContext) evaluates them.

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// As it is.
    Text(&'a str),
    /// The JavaScript between `${` and `}`.
    Script(&'a str),
    /// What looks like a script and is none to Maestro.
    Ignored(&'a str),
}

/// The parts of a text, in order. `\${` stands for `${`, and `${}` for nothing, as in Maestro's
/// `Env.kt`.
///
/// # Errors
/// What Maestro would not evaluate.
pub(super) fn parts(text: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        if let Some(before) = before.strip_suffix('\\') {
            parts.extend([Part::Text(before), Part::Text("${")]);
            rest = after;
            continue;
        }
        parts.push(Part::Text(before));
        let end =
            closing(after).ok_or("`${` has no closing `}`; write `\\${` for a literal `${`")?;
        let script = &after[..end];
        if script.contains("${") {
            return Err(format!(
                "`${{{script}}}`: Maestro does not evaluate a `${{…}}` in another one; join texts with `+`"
            ));
        }
        if script.contains('$') {
            parts.push(Part::Ignored(&rest[at..at + end + 3]));
        } else if !script.trim().is_empty() {
            parts.push(Part::Script(script));
        }
        rest = &after[end + 1..];
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}

/// Where the brace is that closes a script. Braces in strings do not count.
fn closing(script: &str) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    for (at, c) in script.char_indices() {
        match (quote, c) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') if depth == 0 => return Some(at),
            (None, '}') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

/// Whether a script is nothing but a name.
pub(super) fn is_name(script: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    script.starts_with(|c: char| is_part(c) && !c.is_ascii_digit()) && script.chars().all(is_part)
}

/// The words of a script that may be names of parameters.
pub(super) fn words(script: &str) -> impl Iterator<Item = &str> {
    script
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))
        .filter(|it| is_name(it))
}

/// Whether Maestro takes the text of a condition for true (its `Orchestra.evaluateCondition`).
pub(super) fn is_true(text: &str) -> bool {
    !(text.trim().is_empty()
        || text.eq_ignore_ascii_case("false")
        || ["undefined", "null"].contains(&text)
        || text.parse::<f64>().is_ok_and(|number| number == 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_in_texts() {
        let shown = |text: &str| {
            let shown = parts(text).unwrap().into_iter().map(|part| match part {
                Part::Text(text) => text.to_owned(),
                Part::Script(script) => format!("<{script}>"),
                Part::Ignored(text) => format!("!{text}!"),
            });
            shown.collect::<String>()
        };
        for (text, expected) in [
            ("Hello ${USER}, ${ USER }!", "Hello <USER>, < USER >!"),
            ("${}${ }", ""),
            ("\\${USER} costs 5 $", "${USER} costs 5 $"),
            ("a } b ${'}'}", "a } b <'}'>"),
            ("${{a: {b: 1}}.a} }", "<{a: {b: 1}}.a> }"),
            (r"${'it\'s }'}", r"<'it\'s }'>"),
            ("a ${'5 $'} b", "a !${'5 $'}! b"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
        assert!(parts("${USER").unwrap_err().contains("has no closing `}`"));
        assert!(parts("${`Hi ${USER}`}").unwrap_err().contains("join texts with `+`"));
        assert_eq!(words("a.b + 'c' + 1d").collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn conditions_are_judged_by_their_text() {
        for text in ["", " ", "false", "False", "undefined", "null", "0", "0.0", "-0"] {
            assert!(!is_true(text), "{text}");
        }
        for text in ["true", "1", "no", "NaN", "[object Object]"] {
            assert!(is_true(text), "{text}");
        }
    }
}
