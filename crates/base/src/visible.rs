//! Text that others wrote, with everything in it visible: the one function for lists, replies,
//! prompts, reports, logs and terminals.
//!
//! Apps, pages and senders choose the text of a screen, a label, a notification or a log line.
//! Invisible characters let such a text say one thing to a person and another to a model (tags,
//! runs of variation selectors), turn its direction, or begin a line that looks like ours.
//! [`visible`] writes each of them as its code point, `\u{202e}`: nothing is removed, and a reader
//! sees what is there. Letters and emoji of every language stay as they are, also where they need
//! an invisible character: a joiner between letters that join, a selector behind its base (Unicode
//! Standard, chapter 23).
//!
//! Start with [`visible`]; [`quoted`] is for a text inside a line of ours.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text on one line: line feeds as `\n`, tabs as `\t`, and every other invisible character as
/// `\u{202e}`.
///
/// Applying it twice changes nothing more.
pub fn visible(text: &str) -> Cow<'_, str> {
    escape_hidden(text, |_, _| false, write_mark)
}

/// Same as [`visible`], but line ends (also those of a terminal, `\r\n`) and tabs stay.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escape_hidden(text, is_line_part, write_mark)
}

fn is_line_part(c: char, next: Option<char>) -> bool {
    matches!(c, '\n' | '\t') || c == '\r' && next == Some('\n')
}

/// The text on one line in double quotes, which it cannot close: a quote in it is `\"`, and a
/// backslash `\\`.
pub fn quoted(text: &str) -> String {
    let escaped = match text.contains(['"', '\\']) {
        true => text.replace('\\', "\\\\").replace('"', "\\\"").into(),
        false => Cow::Borrowed(text),
    };
    format!("\"{}\"", visible(&escaped))
}

/// A name that others chose: as it is if it can be nothing but a name (ASCII letters, digits and
/// `_-.:$/+`), else quoted.
pub fn name(text: &str) -> Cow<'_, str> {
    const MAX_NAME: usize = 256;
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '$' | '/' | '+');
    match !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(is_plain) {
        true => text.into(),
        false => quoted(&crate::truncate(text, MAX_NAME)).into(),
    }
}

/// An XML document, or an escaped attribute value, with a character reference, `&#x202e;`, for each
/// invisible character: a parser gets the same text. What XML 1.0 does not allow as a reference is
/// written as in [`visible`]. Line feeds and tabs stay.
pub fn visible_xml(xml: &str) -> Cow<'_, str> {
    escape_hidden(xml, is_line_part, |c, out| match u32::from(c) {
        // XML 1.0, production 2 (`Char`).
        0xD | 0x20..=0xD7FF | 0xE000..=0xFFFD | 0x10000.. => {
            let _ = write!(out, "&#x{:x};", u32::from(c));
        }
        _ => write_mark(c, out),
    })
}

/// The text without invisible characters, and without their marks: for comparing names that should
/// look different.
pub fn without_hidden(text: &str) -> Cow<'_, str> {
    let shown = visible(text);
    let mut rest = &*shown;
    if !rest.contains("\\u{") {
        return shown;
    }
    let mut out = String::with_capacity(rest.len());
    while let Some(at) = rest.find("\\u{") {
        out.push_str(&rest[..at]);
        let mark = &rest[at..];
        let end = mark.find('}').unwrap_or(0);
        let code = mark.get(3..end).filter(|code| code.len() <= 6);
        let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
        match code.and_then(char::from_u32).filter(|c| is_invisible(*c)) {
            Some(_) => rest = &mark[end + 1..],
            None => {
                out.push_str(&mark[..3]);
                rest = &mark[3..];
            }
        }
    }
    Cow::Owned(out + rest)
}

/// Whether the text has a character that [`visible_lines`] would show as its code point.
pub fn has_hidden(text: &str) -> bool {
    matches!(visible_lines(text), Cow::Owned(_))
}

/// The text with `write` for each invisible character, except those that `keep` names, given the
/// next one: for forms with escapes of their own, such as XML and JSON.
pub fn escape_hidden(
    text: &str,
    keep: impl Fn(char, Option<char>) -> bool,
    mut write: impl FnMut(char, &mut String),
) -> Cow<'_, str> {
    // Most texts are plain ASCII.
    if text.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
        return text.into();
    }
    let has_braille = text.chars().any(|c| matches!(c, '\u{2801}'..='\u{28ff}'));
    let mut out: Option<String> = None;
    let mut before = None;
    // Where the tags of a flag end.
    let mut flag_end = 0;
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        if c == BLACK_FLAG {
            flag_end = at + c.len_utf8() + flag_tags(rest);
        }
        let is_fine = !is_invisible(c)
            || keep(c, rest.chars().next())
            || at < flag_end
            || (c == '\u{2800}' && has_braille)
            || belongs(c, before, rest.chars().next());
        if !is_fine {
            write(c, out.get_or_insert_with(|| text[..at].to_owned()));
        } else if let Some(out) = &mut out {
            out.push(c);
        }
        before = Some(c);
    }
    out.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// A character as its code point, as Rust writes it.
fn write_mark(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

/// Characters that a person does not see: controls, line separators, format characters (zero width,
/// bidirectional, tags, selectors), invisible letters, and what has no meaning without a private
/// agreement (Unicode's properties `Cc`, `Default_Ignorable_Code_Point`, `Co`,
/// `Noncharacter_Code_Point`). Spaces are not among them.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0xAD                        // soft hyphen
            | 0x34F                     // combining grapheme joiner
            | 0x61C                     // Arabic letter mark: changes the direction
            | 0x70F                     // Syriac abbreviation mark
            | 0x115F..=0x1160 | 0x3164 | 0xFFA0 // Hangul fillers
            | 0x17B4..=0x17B5           // Khmer inherent vowels
            | 0x180B..=0x180F           // Mongolian selectors and separator
            | 0x200B..=0x200F           // zero width, left-to-right and right-to-left marks
            | 0x2028..=0x202E           // line and paragraph separators, embeddings and overrides
            | 0x2060..=0x206F           // joiners, isolates, invisible operators
            | 0x2800                    // an empty braille pattern
            | 0xE000..=0xF8FF           // private use
            | 0xFDD0..=0xFDEF           // no characters
            | 0xFE00..=0xFE0F           // variation selectors
            | 0xFEFF                    // byte order mark
            | 0xFFF0..=0xFFFB           // annotations
            | 0x13430..=0x13455         // layout of hieroglyphs
            | 0x16FE4                   // Khitan filler
            | 0x1BCA0..=0x1BCA3         // shorthand
            | 0x1D159 | 0x1D173..=0x1D17A // invisible marks of music
            | 0xE0000..=0xE0FFF         // tags: a hidden alphabet, and more variation selectors
            | 0xF0000..)
        || u32::from(c) & 0xFFFE == 0xFFFE
}

/// Whether an invisible character changes how its neighbours look, as their scripts need. One per
/// base: a run of them could carry a hidden text.
fn belongs(c: char, before: Option<char>, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    match u32::from(c) {
        // The zero width space: between words of scripts that write no spaces.
        0x200B => is_unspaced(before) && after.is_some_and(is_unspaced),
        // The zero width non-joiner and joiner.
        0x200C => is_joining(before),
        0x200D => {
            is_joining(before)
                || (is_emoji(before) || before == '\u{fe0f}') && after.is_some_and(is_emoji)
        }
        0x70F => after.is_some_and(|after| matches!(after, '\u{710}'..='\u{74f}')),
        0x180B..=0x180F => matches!(before, '\u{1820}'..='\u{18aa}'),
        0xFE00..=0xFE02 => has_variants(before) || is_ideograph(before),
        0xFE0E | 0xFE0F => match before {
            '#' | '*' | '0'..='9' => after == Some('\u{20e3}'),
            before => is_emoji(before),
        },
        0x13430..=0x13455 => matches!(before, '\u{13000}'..='\u{13455}'),
        // The selectors in use for ideographs.
        0xE0100..=0xE011F => is_ideograph(before),
        _ => false,
    }
}

/// Letters and marks of scripts in which a joiner or non-joiner changes the shape: Arabic, Syriac,
/// the scripts of India and of South-East Asia, Tibetan, Mongolian, Adlam.
fn is_joining(c: char) -> bool {
    matches!(u32::from(c),
        0x620..=0x6FF | 0x710..=0x77F | 0x7CA..=0x7FF | 0x840..=0x85F | 0x860..=0x8FF
        | 0x900..=0xDFF | 0xF00..=0x109F | 0x1780..=0x17B3 | 0x17B6..=0x17FF
        | 0x1820..=0x18AA | 0x1A20..=0x1AAF | 0x1B00..=0x1C4F | 0x1CD0..=0x1CFF
        | 0xA800..=0xA82F | 0xA840..=0xA87F | 0xA880..=0xA9FF | 0xAA00..=0xAAFF | 0xABC0..=0xABFF
        | 0xFB50..=0xFDCF | 0xFDF0..=0xFDFF | 0xFE70..=0xFEFC
        | 0x10A00..=0x10A5F | 0x11000..=0x11FFF | 0x1E900..=0x1E95F)
}

/// Letters and marks of scripts that write no spaces: Thai, Lao, Tibetan, Myanmar, Khmer, Tai,
/// Javanese.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0xE00..=0x109F | 0x1780..=0x17B3 | 0x17B6..=0x17FF | 0x1950..=0x19FF | 0x1A20..=0x1AAF
        | 0xA980..=0xA9FF | 0xAA60..=0xAA7F)
}

/// Characters that are shown as a picture, or can be (Unicode Technical Standard 51:
/// `Extended_Pictographic`, in ranges).
fn is_emoji(c: char) -> bool {
    matches!(u32::from(c),
        0xA9 | 0xAE | 0x203C | 0x2049 | 0x2122 | 0x2139 | 0x2194..=0x21AA | 0x231A..=0x23FF
        | 0x24C2 | 0x25AA..=0x25FE | 0x2600..=0x27BF | 0x2934..=0x2935 | 0x2B05..=0x2B55
        | 0x3030 | 0x303D | 0x3297 | 0x3299 | 0x1F000..=0x1FAFF)
}

fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x323AF)
}

/// Characters with standardized variants (Unicode's `StandardizedVariants.txt`): mathematics,
/// punctuation of East Asia, Myanmar, Phags-pa.
fn has_variants(c: char) -> bool {
    matches!(u32::from(c),
        0x30 | 0x2229..=0x2297 | 0x2A9D..=0x2AFF | 0x3001..=0x3002 | 0xFF01..=0xFF1F
        | 0x1000..=0x109F | 0xA840..=0xA877 | 0xAA60..=0xAA7F)
}

/// 🏴, which tags make the flag of a region.
const BLACK_FLAG: char = '\u{1f3f4}';

/// How many bytes of tags of a flag in use follow: England's, Scotland's, Wales's (Unicode
/// Technical Standard 51, annex C).
fn flag_tags(rest: &str) -> usize {
    const REGIONS: [&str; 3] = [
        "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
        "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
    ];
    REGIONS.iter().find(|tags| rest.starts_with(**tags)).map_or(0, |tags| tags.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_every_language_stays_as_it_is() {
        for text in [
            "",
            "Clock in today.",
            "Größe, Ünïcode, naïve\u{301}",
            "漢字 é 😀",
            // Persian with non-joiners, Arabic's abbreviated "hijri", a verse's end, Hebrew with
            // points.
            "می\u{200c}خواهم کتاب\u{200c}ها",
            "1445 ه\u{200d}",
            "بِسْمِ ٱللَّهِ \u{6dd}١",
            "שָׁלוֹם עולם",
            // Joiners of India: Devanagari, Bengali, Malayalam, Kannada, Sinhala.
            "क्\u{200d}ष श्री\u{200c}मान",
            "র\u{200d}্য ক্\u{200c}ত",
            "അവന്\u{200d} എന്\u{200d}റെ",
            "ರ\u{200d}್ಕ",
            "ශ්\u{200d}රී ලංකා",
            // Scripts without spaces.
            "ភាសា\u{200b}ខ្មែរ",
            "ภาษา\u{200b}ไทย",
            "မြန်မာ\u{200b}ဘာသာ",
            // Mongolian's selector and separator.
            "ᠭ\u{180b}ᠠᠯ ᠪᠢᠴᠢᠭ᠌",
            "ᠠ\u{180e}ᠠ",
            // Emoji: families, skin tones, selectors, keycaps, flags.
            "👨\u{200d}👩\u{200d}👧\u{200d}👦 👩🏽\u{200d}💻 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f}\u{200d}🔥",
            "☺\u{fe0f} ☎\u{fe0e} ©\u{fe0f} 1\u{fe0f}\u{20e3} #\u{fe0f}\u{20e3} 🇩🇪",
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} won",
            // Ideographs with a variant.
            "葛\u{e0100}城 辻\u{e0101} 﨑\u{fe00}",
            // French and Swiss spaces, braille art, object replacement.
            "10:30\u{202f}PM 1\u{a0}000 a\u{3000}b",
            "⠀⠀⣀⣤⠀ \u{fffc}\u{fffd}",
        ] {
            assert_eq!(visible(text), text);
            assert!(matches!(visible(text), Cow::Borrowed(_)));
            assert!(!has_hidden(text));
        }
    }

    #[test]
    fn what_has_no_ink_is_shown_as_its_code_point() {
        for (text, shown) in [
            ("two\r\n\tlines", "two\\r\\n\\tlines"),
            ("\u{1b}[31mred\u{7}\u{0}\u{7f}\u{9b}1m", "\\u{1b}[31mred\\u{7}\\u{0}\\u{7f}\\u{9b}1m"),
            ("invoice\u{202e}gpj.exe", "invoice\\u{202e}gpj.exe"),
            (
                "a\u{2066}b\u{2069}c\u{200e}d\u{200f}e\u{61c}",
                "a\\u{2066}b\\u{2069}c\\u{200e}d\\u{200f}e\\u{61c}",
            ),
            ("P\u{200b}a\u{200c}y\u{200d}!", "P\\u{200b}a\\u{200c}y\\u{200d}!"),
            ("a\u{2028}b\u{2029}c\u{85}d", "a\\u{2028}b\\u{2029}c\\u{85}d"),
            ("sure\u{e0041}\u{e0042}\u{e007f}", "sure\\u{e0041}\\u{e0042}\\u{e007f}"),
            ("so\u{ad}ft\u{34f}\u{2060}\u{feff}", "so\\u{ad}ft\\u{34f}\\u{2060}\\u{feff}"),
            ("\u{3164}\u{115f}\u{1160}\u{ffa0}", "\\u{3164}\\u{115f}\\u{1160}\\u{ffa0}"),
            ("\u{2800}\u{2800}", "\\u{2800}\\u{2800}"),
            (
                "x\u{e88a}\u{f0000}\u{10fffd}\u{ffff}\u{fdd0}",
                "x\\u{e88a}\\u{f0000}\\u{10fffd}\\u{ffff}\\u{fdd0}",
            ),
            // A hidden text in a run of selectors, or behind what has no variants.
            ("😀\u{fe0f}\u{fe0f}\u{e0120}", "😀\u{fe0f}\\u{fe0f}\\u{e0120}"),
            ("a\u{fe0f}1\u{fe0f}", "a\\u{fe0f}1\\u{fe0f}"),
            ("葛\u{e0100}\u{e0101}\u{e0180}", "葛\u{e0100}\\u{e0101}\\u{e0180}"),
            // Joiners without anything to join.
            ("می\u{200c}\u{200c}\u{200d}", "می\u{200c}\\u{200c}\\u{200d}"),
            ("😀\u{200d}a", "😀\\u{200d}a"),
            ("ខ\u{200b}x", "ខ\\u{200b}x"),
            // No flag in use.
            ("🏴\u{e0067}\u{e0062}\u{e007f}", "🏴\\u{e0067}\\u{e0062}\\u{e007f}"),
            (
                "\u{180b}\u{17b4}\u{fff9}\u{1d173}\u{206a}",
                "\\u{180b}\\u{17b4}\\u{fff9}\\u{1d173}\\u{206a}",
            ),
        ] {
            assert_eq!(visible(text), shown);
            assert_eq!(visible(&visible(text)), shown);
        }
        assert_eq!(visible_lines("one\n\ttwo\r\n\r\u{202e}"), "one\n\ttwo\r\n\\r\\u{202e}");
    }

    #[test]
    fn text_cannot_close_its_quotes() {
        let text = "a\" e9\nbutton \"Pay\" e2\u{202e}\\";
        assert_eq!(quoted(text), r#""a\" e9\nbutton \"Pay\" e2\u{202e}\\""#);
        // A backslash is escaped too, so a text that looks like a code point is not mistaken for
        // one.
        assert_eq!(quoted(r"\u{202e}"), r#""\\u{202e}""#);
    }

    #[test]
    fn names_that_are_more_than_names_are_quoted() {
        for same in ["com.app:id/save", ".ui.Main$1", "1.0-beta+3"] {
            assert_eq!(name(same), same);
        }
        assert_eq!(name("e2\nbutton"), r#""e2\nbutton""#);
        assert_eq!(name("e2 e3"), "\"e2 e3\"");
        assert_eq!(name(""), "\"\"");
        assert!(name(&"x".repeat(1 << 20)).len() < 300);
    }

    #[test]
    fn xml_has_references_that_a_parser_reads_back() {
        let xml = "<a\r\n\tb=\"x\u{202e}\u{e0041}\r\u{1b}\u{ffff} 👨\u{200d}👩\"/>";
        let expected = "<a\r\n\tb=\"x&#x202e;&#xe0041;&#xd;\\u{1b}\\u{ffff} 👨\u{200d}👩\"/>";
        assert_eq!(visible_xml(xml), expected);
    }

    #[test]
    fn names_are_compared_without_what_is_hidden() {
        for name in ["Set\u{200b}tings\u{202e}", r"Set\u{200b}tings\u{202e}", "Settings"] {
            assert_eq!(without_hidden(name), "Settings");
        }
        for same in [r"\u{41}", r"\u{", r"a\u{x}b\u{fffffff}", "👨\u{200d}👩 \\u{110000}"] {
            assert_eq!(without_hidden(same), same);
        }
    }

    #[test]
    fn every_character_is_shown_or_has_ink() {
        for c in '\u{0}'..=char::MAX {
            let text = format!("a{c}b");
            let shown = visible(&text);
            assert_eq!(is_invisible(c), shown != text, "{c:?}");
            assert!(!shown.chars().any(is_invisible), "{c:?}");
        }
    }
}
