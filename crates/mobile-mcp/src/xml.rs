//! Parses XML text into an [`Element`], for descriptors as app developers write them.
//!
//! Strict and small: no document type, only XML's five entities, and a limit on everything. Text
//! between elements is dropped. Whether the elements form a descriptor is up to
//! [`crate::descriptor`].

use quick_xml::errors::{Error, IllFormedError};
use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::{Attribute, Element, Finding, Rule, SourcePosition, Value};
use thumbwire_base::{is_longer, truncate};

/// Limit on the bytes of a file.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// Limit on the nesting of elements.
pub(crate) const MAX_DEPTH: usize = 16;

/// Limit on the attributes of one element.
pub(crate) const MAX_ATTRIBUTES: usize = 64;

/// Limit on the characters kept of a value. Higher than any rule allows, so that the rules still
/// see an overlong value.
const MAX_VALUE: usize = 8_192;

/// Parses the single root element of a text.
///
/// # Errors
/// The first violation of XML or of a limit, with its line and column.
pub(crate) fn read(text: &str) -> Result<Element, Finding> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; the limit is {MAX_BYTES}", text.len());
        return Err(Finding { rule: Rule::Bounds, position: SourcePosition::default(), message });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut positions = Places::new(text);
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let mut root: Option<Element> = None;
    loop {
        let start = offset(reader.buffer_position());
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => {
                return Err(fault_of(&mut positions, offset(reader.error_position()), &error));
            }
        };
        let outside = open.is_empty();
        let done = match event {
            Event::Start(tag) | Event::Empty(tag) if outside && root.is_some() => {
                let name = truncate(tag.name().as_ref(), 40);
                return Err(fault(
                    positions.at(start),
                    format!("`<{name}>` comes after the end of the root element"),
                ));
            }
            Event::Start(_) | Event::Empty(_) if open.len() >= MAX_DEPTH => {
                let message = format!("elements are nested more than {MAX_DEPTH} deep");
                return Err(Finding { rule: Rule::Bounds, position: positions.at(start), message });
            }
            Event::Start(tag) => {
                open.push(element(&tag, start, &mut positions)?);
                None
            }
            Event::Empty(tag) => Some(element(&tag, start, &mut positions)?),
            Event::End(_) => open.pop(),
            Event::DocType(_) => {
                return Err(fault(
                    positions.at(start),
                    "a document type (`<!DOCTYPE`) is not supported; remove it".into(),
                ));
            }
            Event::Text(words) if outside && !words.as_ref().trim().is_empty() => {
                return Err(fault(
                    positions.at(start),
                    "there is text outside the root element".into(),
                ));
            }
            Event::CData(_) if outside => {
                return Err(fault(
                    positions.at(start),
                    "there is text outside the root element".into(),
                ));
            }
            Event::GeneralRef(reference)
                if outside || !is_of_xml(&reference, reference.resolve_char_ref().is_ok()) =>
            {
                let name = truncate(reference.as_ref(), 40);
                return Err(fault(positions.at(start), unknown_entity(&name)));
            }
            Event::Eof => break,
            _ => None,
        };
        if let Some(done) = done {
            match open.last_mut() {
                Some(around) => around.children.push(done),
                None => root = Some(done),
            }
        }
    }
    match (open.pop(), root) {
        (Some(left), _) => {
            Err(fault(left.position, format!("`<{}>` is not closed", truncate(&left.name, 40))))
        }
        (None, Some(root)) => Ok(root),
        (None, None) => Err(fault(positions.at(text.len()), "there is no element".into())),
    }
}

/// Whether XML itself defines a reference.
fn is_of_xml(name: &str, is_character: bool) -> bool {
    if name.starts_with('#') {
        is_character
    } else {
        matches!(name, "lt" | "gt" | "amp" | "apos" | "quot")
    }
}

fn unknown_entity(name: &str) -> String {
    format!("unknown entity `&{name};`; XML itself defines &lt; &gt; &amp; &apos; &quot;")
}

fn element(
    tag: &BytesStart<'_>,
    start: usize,
    positions: &mut Places<'_>,
) -> Result<Element, Finding> {
    let position = positions.at(start);
    let full = tag.name();
    if !is_name(full.as_ref()) {
        return Err(fault(
            position,
            format!("`{}` is not a valid element name", truncate(full.as_ref(), 40)),
        ));
    }
    // Where the search for the next attribute starts; 1 is the `<`.
    let mut next = start + 1 + full.as_ref().len();
    let mut found: Vec<(bool, Attribute)> = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| {
            let (at, message) = attribute_fault(&error);
            fault(positions.at(start + 1 + at), message)
        })?;
        let key = attribute.key.as_ref();
        if found.len() >= MAX_ATTRIBUTES {
            let message = format!("an element has more than {MAX_ATTRIBUTES} attributes");
            return Err(Finding { rule: Rule::Bounds, position, message });
        }
        let rest = positions.text.get(next..).unwrap_or_default();
        let at = next + (rest.len() - rest.trim_start().len());
        let quote = positions.text.get(at..).and_then(|rest| rest.find(['"', '\'']));
        next = at + quote.unwrap_or_default() + attribute.value.len() + 2;
        let position = positions.at(at);
        if !is_name(key) {
            return Err(fault(
                position,
                format!("`{}` is not a valid attribute name", truncate(key, 40)),
            ));
        }
        if attribute.value.contains('<') {
            return Err(fault(
                position,
                format!("the value of `{}` has a bare `<`; write &lt;", truncate(key, 40)),
            ));
        }
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|_| {
            let name = attribute.value.split('&').nth(1).and_then(|rest| rest.split(';').next());
            fault(position, unknown_entity(&truncate(name.unwrap_or_default(), 40)))
        })?;
        let (prefix, name) =
            key.split_once(':').map_or((None, key), |(prefix, name)| (Some(prefix), name));
        // Namespace declarations are not attributes, and those for Android's build tools never
        // reach an app.
        if key == "xmlns" || matches!(prefix, Some("xmlns" | "tools")) {
            continue;
        }
        let value = match is_longer(&value, MAX_VALUE) {
            true => truncate(&value, MAX_VALUE),
            false => value.into_owned(),
        };
        found.push((
            prefix.is_some(),
            Attribute { name: name.into(), value: Value::Text(value), position },
        ));
    }
    // The protocol's attributes have no namespace. If a prefixed attribute has the same name, the
    // bare one wins.
    found.sort_by_key(|(prefixed, _)| *prefixed);
    let mut attributes: Vec<Attribute> = Vec::new();
    for (_, attribute) in found {
        if attributes.iter().all(|other| other.name != attribute.name) {
            attributes.push(attribute);
        }
    }
    let name = full.as_ref().rsplit(':').next().unwrap_or_default().to_owned();
    Ok(Element { name, attributes, children: Vec::new(), position })
}

/// Whether XML could accept it as a name; precise enough for names that are only compared.
fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'))
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
}

fn fault(position: SourcePosition, text: String) -> Finding {
    Finding { rule: Rule::WellFormed, position, message: text }
}

fn attribute_fault(error: &AttrError) -> (usize, String) {
    match *error {
        AttrError::ExpectedEq(at) => (at, "an attribute has no `=`".into()),
        AttrError::ExpectedValue(at) => (at, "an attribute has no value after its `=`".into()),
        AttrError::UnquotedValue(at) => {
            (at, "the value of an attribute is not in quotes (\"…\")".into())
        }
        AttrError::ExpectedQuote(at, _) => {
            (at, "the value of an attribute has no closing quote".into())
        }
        AttrError::Duplicated(at, _) => (at, "an element repeats an attribute".into()),
    }
}

fn fault_of(positions: &mut Places<'_>, at: usize, error: &Error) -> Finding {
    // Quotes from a word processor: the tag seems not to end. The specification's own text has one
    // of them.
    let tag = positions.text.get(at..).unwrap_or_default();
    let tag = tag.get(..tag.find('>').unwrap_or(tag.len())).unwrap_or_default();
    if let Some(quote) = tag.find("=”").or_else(|| tag.find("=“")) {
        let message = "the value of an attribute is in typographic quotes; use \"…\"".into();
        return fault(positions.at(at + quote + 1), message);
    }
    let message = match error {
        Error::Syntax(error) => format!("{error}"),
        Error::IllFormed(IllFormedError::MismatchedEndTag { expected, found }) => format!(
            "found `</{}>` where `</{}>` was expected",
            truncate(found, 40),
            truncate(expected, 40)
        ),
        Error::IllFormed(IllFormedError::UnmatchedEndTag(name)) => {
            format!("`</{}>` has no opening tag", truncate(name, 40))
        }
        Error::InvalidAttr(error) => attribute_fault(error).1,
        other => truncate(&other.to_string(), 200),
    };
    fault(positions.at(at), message)
}

fn offset(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// Converts byte offsets to positions. Asked in text order, it walks the text once.
struct Places<'t> {
    text: &'t str,
    at: usize,
    position: SourcePosition,
}

impl<'t> Places<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0, position: SourcePosition { line: 1, column: 1 } }
    }

    fn at(&mut self, offset: usize) -> SourcePosition {
        if offset < self.at {
            *self = Self::new(self.text);
        }
        let between = self.text.get(self.at..offset.min(self.text.len())).unwrap_or_default();
        for c in between.chars() {
            match c {
                '\n' => self.position = SourcePosition { line: self.position.line + 1, column: 1 },
                _ => self.position.column += 1,
            }
        }
        self.at += between.len();
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, line: u32, column: u32, message: &str) {
        let finding = read(text).unwrap_err();
        assert_eq!(finding.rule, Rule::WellFormed);
        assert!(finding.message.contains(message), "{finding:?}");
        assert_eq!(finding.position, SourcePosition { line, column }, "{finding:?}");
    }

    #[test]
    fn elements_and_attributes_know_their_positions() {
        let root = read("<?xml version='1.0'?>\n<!-- é -->\n<a x='1'\n   é:y = \"&lt;2&#33;\"><b/>text &amp;<c></c></a>\n").unwrap();
        assert_eq!(
            (root.name.as_str(), root.position),
            ("a", SourcePosition { line: 3, column: 1 })
        );
        let out: Vec<_> = root
            .attributes
            .iter()
            .map(|a| (a.name.as_str(), a.value.to_text(), a.position))
            .collect();
        assert_eq!(
            out,
            [
                ("x", "1".to_owned(), SourcePosition { line: 3, column: 4 }),
                ("y", "<2!".to_owned(), SourcePosition { line: 4, column: 4 })
            ]
        );
        let children: Vec<_> =
            root.children.iter().map(|c| (c.name.as_str(), c.position.column)).collect();
        assert_eq!(children, [("b", 23), ("c", 37)]);
    }

    #[test]
    fn namespaces_are_dropped_and_bare_names_win() {
        let root =
            read("<a xmlns='u' xmlns:t='v' tools:ignore='x' android:id='1' id='2'/>").unwrap();
        let out: Vec<_> =
            root.attributes.iter().map(|a| (a.name.as_str(), a.value.to_text())).collect();
        assert_eq!(out, [("id", "2".to_owned())]);
    }

    #[test]
    fn invalid_xml_is_rejected_with_its_position() {
        refused("", 1, 1, "no element");
        refused("words", 1, 1, "outside the root");
        refused("<a>\n <b>\n</a>", 3, 1, "found `</a>` where `</b>` was expected");
        refused("<a>\n <b/>", 1, 1, "`<a>` is not closed");
        refused("</a>", 1, 1, "has no opening tag");
        refused("<a/>\n<b/>", 2, 1, "after the end of the root");
        refused("<a/>&amp;", 1, 5, "&amp;");
        refused("<a>\n  <b x=1/></a>", 2, 8, "not in quotes");
        refused("<a x='1' x='2'/>", 1, 10, "repeats an attribute");
        refused("<a x='<'/>", 1, 4, "bare `<`");
        refused("<a 1x='2'/>", 1, 4, "not a valid attribute name");
        refused("<a x='&bomb;'/>", 1, 4, "unknown entity `&bomb;`");
        refused("<a>&bomb;</a>", 1, 4, "unknown entity `&bomb;`");
        refused("<a\n  name=”XXX\" type=\"t\"/>", 2, 8, "typographic quotes");
        refused("<a name=”XXX\" type=\"t\"/>", 1, 9, "typographic quotes");
    }

    #[test]
    fn document_type_is_rejected_before_it_defines_anything() {
        refused("<!DOCTYPE a [<!ENTITY b 'c'>]><a x='&b;'/>", 1, 1, "document type");
    }

    #[test]
    fn size_and_depth_are_bounded() {
        assert_eq!(read(&" ".repeat(MAX_BYTES + 1)).unwrap_err().rule, Rule::Bounds);
        let deep = |n: usize| format!("{}{}", "<a>".repeat(n), "</a>".repeat(n));
        assert!(read(&deep(MAX_DEPTH)).is_ok());
        let finding = read(&deep(MAX_DEPTH + 1)).unwrap_err();
        assert_eq!((finding.rule, finding.position.column), (Rule::Bounds, 3 * 16 + 1));
        assert_eq!(read(&"<a>".repeat(MAX_BYTES / 3)).unwrap_err().rule, Rule::Bounds);
        let long = read(&format!("<a x='{}'/>", "y".repeat(100_000))).unwrap();
        assert_eq!(long.attributes[0].value.to_text().chars().count(), MAX_VALUE + 1);
    }
}
