//! The options of built-ins, as mksh reads them.

/// Options with their values, and the operands after them.
pub(super) type Options<'a> = (Vec<(char, &'a str)>, &'a [String]);

/// Reads the options of a built-in as mksh does: each letter of `known`, with a value if `:`
/// follows, with an attached one if `,` follows. The error is for [`Shell::builtin_error`].
pub(super) fn read_options<'a>(args: &'a [String], known: &str) -> Result<Options<'a>, String> {
    let (mut given, mut rest) = (Vec::new(), args);
    while let Some((arg, more)) = rest.split_first() {
        let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            break;
        };
        rest = more;
        if letters == "-" {
            break;
        }
        for (at, letter) in letters.char_indices() {
            let known_at = known.find(letter).filter(|_| !":,".contains(letter));
            let Some(known_at) = known_at else {
                return Err(format!("-{letter}: unknown option"));
            };
            let attached = &letters[at + letter.len_utf8()..];
            let value = match known[known_at + 1..].chars().next() {
                Some(',') => attached,
                Some(':') if !attached.is_empty() => attached,
                Some(':') => match rest.split_first() {
                    Some((value, more)) => {
                        rest = more;
                        value
                    }
                    None => return Err(format!("-{letter}: requires an argument")),
                },
                _ => {
                    given.push((letter, ""));
                    continue;
                }
            };
            given.push((letter, value));
            break;
        }
    }
    Ok((given, rest))
}
