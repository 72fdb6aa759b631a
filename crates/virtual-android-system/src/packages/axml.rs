//! Binary XML, as `aapt` writes manifests. Source: `ResourceTypes.h` and `ResXMLTree` of Android.

use super::pool::{Chunk, STRING_POOL, StringPool, Value, u16_at, u32_at};

/// Maximum nesting of elements; a manifest has about seven levels.
const MAX_DEPTH: usize = 64;
/// Maximum elements and attributes together.
const MAX_COUNT: usize = 200_000;

/// `RES_XML_TYPE`, the document; then its parts.
const XML: u16 = 0x0003;
const RESOURCE_MAP: u16 = 0x0180;
const START_ELEMENT: u16 = 0x0102;
const END_ELEMENT: u16 = 0x0103;

/// An element with its attributes and children.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    /// Its line in the source.
    pub(super) line: u32,
    pub(super) attributes: Vec<Attribute>,
    pub(super) children: Vec<Element>,
}

/// An attribute. Android's own are identified by resource id, whatever their name.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) id: u32,
    pub(super) value: Value,
}

impl Element {
    /// The root of a document; `None` if it is corrupt ("Corrupt XML binary file").
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let whole = Chunk::first(bytes).filter(|whole| whole.kind == XML)?;
        let mut chunks = Chunk::all(whole.inside());
        let (mut pool, mut ids): (Option<StringPool<'_>>, &[u8]) = (None, &[]);
        let (mut open, mut root, mut left): (Vec<Self>, Option<Self>, usize) =
            (Vec::new(), None, MAX_COUNT);
        for chunk in chunks.by_ref() {
            match chunk.kind {
                STRING_POOL => pool = Some(pool.map_or_else(|| StringPool::read(&chunk), Some)?),
                RESOURCE_MAP => ids = chunk.inside(),
                START_ELEMENT => {
                    let element = start(&chunk, pool.as_ref()?, ids)?;
                    left = left.checked_sub(1 + element.attributes.len())?;
                    if open.len() >= MAX_DEPTH || root.is_some() {
                        return None;
                    }
                    open.push(element);
                }
                END_ELEMENT => {
                    let done = open.pop()?;
                    match open.last_mut() {
                        Some(parent) => parent.children.push(done),
                        None => root = Some(done),
                    }
                }
                // Namespaces, text, and chunks of later versions.
                _ => {}
            }
        }
        chunks.sound.then_some(root).flatten()
    }

    /// The value of an attribute: Android's by id, one without namespace by name.
    pub(super) fn get(&self, id: u32, name: &str) -> Option<&Value> {
        let attribute = self.attributes.iter().find(|attribute| match id {
            0 => attribute.id == 0 && attribute.name == name,
            id => attribute.id == id,
        });
        attribute.map(|attribute| &attribute.value)
    }

    /// The children with that name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }
}

fn start(chunk: &Chunk<'_>, pool: &StringPool<'_>, ids: &[u8]) -> Option<Element> {
    let line = u32_at(chunk.bytes, 8)?;
    // Namespace, name, then offset, size and number of attributes.
    let inside = chunk.inside();
    let name = pool.get(u32_at(inside, 4)?)?;
    let (from, length) = (usize::from(u16_at(inside, 8)?), usize::from(u16_at(inside, 10)?));
    let count = usize::from(u16_at(inside, 12)?);
    if count > 0 && length < 20 {
        return None;
    }
    let mut attributes = Vec::new();
    for nth in 0..count {
        // Namespace, name, raw text, value.
        let at = from.checked_add(nth.checked_mul(length)?)?;
        let bytes = inside.get(at..at.checked_add(20)?)?;
        let name = u32_at(bytes, 4)?;
        attributes.push(Attribute {
            name: pool.get(name).unwrap_or_default(),
            id: u32_at(ids, (name as usize).checked_mul(4)?).unwrap_or(0),
            value: Value::read(bytes.get(12..)?, pool)?,
        });
    }
    Some(Element { name, line, attributes, children: Vec::new() })
}
