//! Reads the elements of an XML text into a tree of any type of node, without recursion.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use thumbwire_base::truncate;

use super::{MAX_DEPTH, MAX_NODES, SourceError};

/// Limit on the attributes of one element.
const MAX_ATTRIBUTES: usize = 64;

/// A node that an element becomes.
pub(super) trait TreeNode: Sized {
    /// Makes the node of an element with this name.
    fn open(name: &str) -> Self;

    /// Takes one attribute over.
    fn attribute(&mut self, name: &str, value: String);

    /// Takes a child over.
    fn push(&mut self, child: Self);
}

/// Reads the single root element of a text. What is not an element or attribute is ignored; a reference that XML does not
/// define stays as it is written.
pub(super) fn read_tree<N: TreeNode>(text: &str) -> Result<N, SourceError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::from_str(text);
    let mut open: Vec<N> = Vec::new();
    let mut count = 0;
    loop {
        let offset = position(reader.buffer_position());
        let fail = |problem: String| Err(SourceError { offset, problem });
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => return fail(truncate(&error.to_string(), 200)),
        };
        let done = match event {
            Event::Start(tag) | Event::Empty(tag) if open.len() >= MAX_DEPTH => {
                let name = truncate(tag.name().as_ref(), 40);
                return fail(format!("<{name}> is nested more than {MAX_DEPTH} deep"));
            }
            Event::Start(tag) => {
                open.push(node(&tag, offset)?);
                count += 1;
                None
            }
            Event::Empty(tag) => {
                count += 1;
                Some(node(&tag, offset)?)
            }
            Event::End(_) => open.pop(),
            // Entities could be declared there.
            Event::DocType(_) => return fail("a document type is not supported".into()),
            Event::Eof => {
                let problem = if open.is_empty() {
                    "there is no element"
                } else {
                    "it ends inside an element"
                };
                return fail(problem.into());
            }
            _ => None,
        };
        if count > MAX_NODES {
            return fail(format!("there are more than {MAX_NODES} elements"));
        }
        if let Some(done) = done {
            match open.last_mut() {
                Some(around) => around.push(done),
                None => return Ok(done),
            }
        }
    }
}

fn node<N: TreeNode>(tag: &BytesStart<'_>, offset: usize) -> Result<N, SourceError> {
    let mut node = N::open(tag.name().as_ref());
    for (at, attribute) in tag.attributes().with_checks(false).enumerate() {
        let attribute =
            attribute.map_err(|error| SourceError { offset, problem: error.to_string() })?;
        if at >= MAX_ATTRIBUTES {
            let problem = format!("an element has more than {MAX_ATTRIBUTES} attributes");
            return Err(SourceError { offset, problem });
        }
        let value = match attribute.normalized_value(XmlVersion::Implicit1_0) {
            Ok(value) => value.into_owned(),
            Err(_) => attribute.value.clone().into_owned(),
        };
        node.attribute(attribute.key.as_ref(), value);
    }
    Ok(node)
}

fn position(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
