//! Tokens of awk.

use crate::programs::format::escape;
use crate::programs::options::Failure;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Text(String),
    Pattern(String),
    Name(String),
    /// A name with `(` right behind it.
    Call(String),
    /// A keyword or the name of a built-in function.
    Word(&'static str),
    /// An operator or punctuation.
    Sign(&'static str),
    Newline,
}

const WORDS: [&str; 37] = [
    "BEGIN", "END", "function", "func", "if", "else", "while", "for", "do", "break", "continue",
    "next", "nextfile", "exit", "return", "delete", "in", "getline", "print", "printf", "atan2",
    "close", "cos", "exp", "fflush", "gsub", "index", "int", "length", "log", "match", "rand",
    "sin", "split", "sprintf", "sqrt", "srand",
];
const MORE_WORDS: [&str; 5] = ["sub", "substr", "system", "tolower", "toupper"];

/// Longer signs first.
const SIGNS: [&str; 45] = [
    "**=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**", "==", "<=", ">=",
    "!=", "!~", ">>", "{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!",
    ">", "<", "|", "?", ":", "~", "$", "=", "&", "@", "\\", ".",
];

fn word(name: &str) -> Option<&'static str> {
    WORDS.iter().chain(&MORE_WORDS).find(|word| **word == name).copied()
}

pub(super) fn lex(text: &str) -> Result<Vec<Token>, Failure> {
    let (mut tokens, mut rest) = (Vec::new(), text);
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("\\\n") {
            rest = after;
            continue;
        }
        match c {
            ' ' | '\t' | '\r' => rest = &rest[1..],
            '\n' => {
                tokens.push(Token::Newline);
                rest = &rest[1..];
            }
            '#' => rest = &rest[rest.find('\n').unwrap_or(rest.len())..],
            '"' => {
                let (body, after) =
                    delimited(&rest[1..], '"').ok_or_else(|| syntax("non-terminated string"))?;
                tokens.push(Token::Text(unescape(body)));
                rest = after;
            }
            '/' if !ends_operand(tokens.last()) => {
                let (body, after) = delimited(&rest[1..], '/')
                    .ok_or_else(|| syntax("non-terminated regular expression"))?;
                tokens.push(Token::Pattern(pattern(body)));
                rest = after;
            }
            c if c.is_ascii_digit()
                || c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()) =>
            {
                let length = number_length(rest);
                tokens.push(Token::Number(rest[..length].parse().unwrap_or(0.0)));
                rest = &rest[length..];
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let length = rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                let (name, after) = rest.split_at(length);
                tokens.push(match word(name) {
                    Some(word) => Token::Word(word),
                    None if after.starts_with('(') => Token::Call(name.to_owned()),
                    None => Token::Name(name.to_owned()),
                });
                rest = after;
            }
            c => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
                let sign = sign.ok_or_else(|| syntax(&format!("syntax error near {c}")))?;
                tokens.push(Token::Sign(match *sign {
                    "**" => "^",
                    "**=" => "^=",
                    sign => sign,
                }));
                rest = &rest[sign.len()..];
            }
        }
        if tokens.len() > 200_000 {
            return Err(syntax("program too long"));
        }
    }
    tokens.push(Token::Newline);
    Ok(tokens)
}

pub(super) fn syntax(what: &str) -> Failure {
    Failure::Message(format!("{what} at source line 1"), 2)
}

/// Whether a `/` after this token divides.
fn ends_operand(token: Option<&Token>) -> bool {
    match token {
        Some(Token::Number(_) | Token::Text(_) | Token::Name(_) | Token::Pattern(_)) => true,
        Some(Token::Sign(sign)) => [")", "]", "$", "++", "--"].contains(sign),
        Some(Token::Word(word)) => *word == "length",
        _ => false,
    }
}

/// The text up to the delimiter, and the text after it.
fn delimited(text: &str, end: char) -> Option<(&str, &str)> {
    let (mut escaped, mut class) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return None,
            '[' if end == '/' => class = true,
            ']' if end == '/' => class = false,
            c if c == end && !class => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    // A lone `[` does not hide the end.
    let at = text.find(end).filter(|_| class)?;
    Some((&text[..at], &text[at + 1..]))
}

/// The bytes of the decimal number at the start of a text; 0 without one.
pub(super) fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let start = usize::from(bytes.first().is_some_and(|byte| b"+-".contains(byte)));
    let mut end = digits(start);
    let mut any = end > start;
    if bytes.get(end) == Some(&b'.') {
        let after = digits(end + 1);
        any |= after > end + 1;
        if any {
            end = after;
        }
    }
    if !any {
        return 0;
    }
    if bytes.get(end).is_some_and(|byte| b"eE".contains(byte)) {
        let sign =
            end + 1 + usize::from(bytes.get(end + 1).is_some_and(|byte| b"+-".contains(byte)));
        if digits(sign) > sign {
            end = digits(sign);
        }
    }
    end
}

/// Resolves the escapes of a string; unknown ones keep their backslash.
pub(super) fn unescape(text: &str) -> String {
    let (mut out, mut chars) = (String::new(), text.chars().peekable());
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            None => out.push('\\'),
            Some('\n') => {}
            Some(c @ ('"' | '/')) => out.push(c),
            Some(first @ '0'..='7') => {
                let mut value = first.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    chars.next();
                }
                out.push(char::from(value as u8));
            }
            Some(letter) => match u8::try_from(letter).ok().and_then(escape) {
                Some(known) => out.push(char::from(known)),
                None => out.extend(['\\', letter]),
            },
        }
    }
    out
}

/// A pattern between slashes: escapes of control characters and of the slash are resolved, the
/// others stay.
fn pattern(text: &str) -> String {
    let (mut out, mut chars, mut class) = (String::new(), text.chars(), false);
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('/' | '"')) => out.push(c),
                Some(letter @ ('n' | 't' | 'r' | 'f' | 'v' | 'a' | 'b')) => {
                    out.extend(escape(letter as u8).map(char::from));
                }
                Some('\\') if class => out.push('\\'),
                Some(other) => {
                    if !class {
                        out.push('\\');
                    }
                    out.push(other);
                }
                None => out.push('\\'),
            },
            c => {
                class = if class {
                    c != ']' || out.ends_with('[') || out.ends_with("[^")
                } else {
                    c == '['
                };
                out.push(c);
            }
        }
    }
    out
}
