//! Compiled (binary) XML files: a tree of elements with typed attributes.
//!
//! Start with [`Element`]. Text between elements is dropped: manifests and descriptors do not use
//! it. The format is `ResXMLTree_node` and related types in AOSP's `androidfw/ResourceTypes.h`.
//! Unusual files are read as `ResXMLTree` in `ResourceTypes.cpp` reads them: unknown chunk kinds
//! are skipped, a document may end with open elements, and anything after the root element is
//! ignored.

use bytes::Bytes;

use super::chunk::{Chunk, Chunks, kind, u8_at, u16_at, u32_at};
use super::string_pool::StringPool;
use super::{Error, Limits};

/// Namespace URI of the platform's attributes.
pub const ANDROID: &str = "http://schemas.android.com/apk/res/android";

const WHAT: &str = "compiled XML";
/// The string index that means "no string".
const NONE: u32 = u32::MAX;

/// An element.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Element {
    /// Name without a prefix.
    pub name: String,
    /// Namespace URI.
    pub namespace: Option<String>,
    /// Attributes, in file order.
    pub attributes: Vec<Attribute>,
    /// Child elements, in order.
    pub children: Vec<Element>,
    /// Line in the source file, starting at 1; 0 if the file does not record it.
    pub line: u32,
}

/// An attribute of an [`Element`].
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Name without a prefix. If the name was stripped from the file, the name of the resource, if
    /// known here.
    pub name: String,
    /// Namespace URI.
    pub namespace: Option<String>,
    /// The attribute's resource id. In its own namespace Android goes by this id, not by the name.
    pub id: Option<u32>,
    /// The value.
    pub value: Value,
    /// The text as written in the source, if the file kept it.
    pub written: Option<String>,
}

/// The value of an attribute or a resource. aapt stores `version="1.0"` as a float and
/// `required="true"` as a boolean.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A string. For a file resource, its path.
    Text(String),
    /// An integer: decimal, hexadecimal or a color.
    Integer(i32),
    /// A floating-point number.
    Float(f32),
    /// A boolean.
    Boolean(bool),
    /// A resource id such as `0x7f0b0001`.
    Reference(u32),
    /// Anything else: null (`kind` 0), a theme attribute, a dimension, a fraction.
    Other {
        /// `Res_value::dataType`.
        kind: u8,
        /// `Res_value::data`.
        data: u32,
    },
}

impl Element {
    /// The attribute with this name, in any namespace.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|one| one.name == name)
    }

    /// The platform attribute with this resource id.
    pub(crate) fn by_id(&self, id: u32) -> Option<&Attribute> {
        self.attributes.iter().find(|one| one.id == Some(id))
    }

    /// Child elements with this name.
    pub(crate) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |one| one.name == name)
    }
}

impl Value {
    /// Reads a `Res_value`: `u16 size, u8 0, u8 kind, u32 data`.
    pub(crate) fn read(kind: u8, data: u32, pool: &StringPool) -> Self {
        match kind {
            // A dynamic reference gets its package number when the shared library is loaded.
            0x01 | 0x07 if data != 0 => Self::Reference(data),
            0x03 => pool.get(data).map_or(Self::Other { kind, data }, Self::Text),
            0x04 => Self::Float(f32::from_bits(data)),
            0x12 => Self::Boolean(data != 0),
            // `TypedValue.FIRST_INT` to `LAST_INT`.
            0x10 | 0x11 | 0x13..=0x1f => Self::Integer(data.cast_signed()),
            _ => Self::Other { kind, data },
        }
    }

    /// The string, if the value is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as text, like Android's `TypedValue.coerceToString`; `None` if it has no text
    /// form.
    pub fn to_display_string(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Integer(number) => Some(number.to_string()),
            Self::Float(number) => Some(format!("{number:?}")),
            Self::Boolean(is) => Some(is.to_string()),
            Self::Reference(id) => Some(format!("@{id:#010x}")),
            Self::Other { .. } => None,
        }
    }
}

/// Reads a compiled file.
///
/// # Errors
/// [`Error::Malformed`] if it is not compiled XML, has no element, or has a chunk with invalid
/// lengths; [`Error::TooLarge`].
pub fn read(bytes: &Bytes, limits: &Limits) -> Result<Element, Error> {
    let header = u16_at(bytes, 2).map_or(0, usize::from);
    let size = u32_at(bytes, 4).and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
    // Android does not check the file's kind either, and some packages have an unusual one.
    if header < 8 || header > size || header > bytes.len() {
        return Err(Error::malformed(WHAT, "not a compiled XML file"));
    }
    // A file that declares more bytes than it has simply ends early.
    let mut chunks = Chunks::of(bytes.slice(header..size.min(bytes.len())));
    let mut reading = TreeBuilder::new(limits);
    for chunk in chunks.by_ref() {
        if reading.take(&chunk)? == Root::Closed {
            return reading.root();
        }
    }
    if !chunks.is_done() {
        return Err(Error::malformed(WHAT, "a chunk runs past its end"));
    }
    reading.root()
}

#[derive(PartialEq)]
enum Root {
    Open,
    Closed,
}

/// A file being read.
struct TreeBuilder<'l> {
    limits: &'l Limits,
    pool: Option<StringPool>,
    /// Resource ids of the attributes named by the first strings of the pool.
    map: Bytes,
    /// Open elements, the root first.
    open: Vec<Element>,
    root: Option<Element>,
    nodes: usize,
    text: usize,
}

impl<'l> TreeBuilder<'l> {
    fn new(limits: &'l Limits) -> Self {
        let (pool, map, open, root) = (None, Bytes::new(), Vec::new(), None);
        Self { limits, pool, map, open, root, nodes: 0, text: 0 }
    }

    fn take(&mut self, chunk: &Chunk) -> Result<Root, Error> {
        match chunk.kind {
            kind::POOL if self.pool.is_none() => self.pool = Some(StringPool::read(chunk)),
            kind::XML_MAP if self.map.is_empty() => self.map = chunk.body(),
            kind::XML_START_ELEMENT => {
                if self.open.len() >= self.limits.depth {
                    return Err(too_large("the nesting depth of compiled XML", self.limits.depth));
                }
                let element = self.element(chunk)?;
                self.open.push(element);
            }
            kind::XML_END_ELEMENT => {
                self.close();
                if self.root.is_some() {
                    return Ok(Root::Closed);
                }
            }
            _ => {}
        }
        Ok(Root::Open)
    }

    fn close(&mut self) {
        let Some(closed) = self.open.pop() else { return };
        match self.open.last_mut() {
            Some(parent) => parent.children.push(closed),
            None => self.root = Some(closed),
        }
    }

    fn root(mut self) -> Result<Element, Error> {
        while !self.open.is_empty() {
            self.close();
        }
        self.root.ok_or_else(|| Error::malformed(WHAT, "it has no element"))
    }

    /// `u32 line, u32 comment`; after the header: `u32 namespace, u32 name, u16 start, u16 size,
    /// u16 count` of attributes.
    fn element(&mut self, chunk: &Chunk) -> Result<Element, Error> {
        let body = chunk.body();
        let number = |at| u16_at(&body, at).map(usize::from);
        let broken = || Error::malformed(WHAT, "an element runs past its end");
        let (namespace, name) = u32_at(&body, 0).zip(u32_at(&body, 4)).ok_or_else(broken)?;
        let start = number(8).ok_or_else(broken)?;
        let (size, count) = number(10).zip(number(12)).ok_or_else(broken)?;
        if start + size * count > body.len() || (count > 0 && size < 20) {
            return Err(broken());
        }
        self.count(1 + count)?;
        let mut attributes = Vec::with_capacity(count);
        for at in 0..count {
            let attribute = body.slice(start + at * size..start + (at + 1) * size);
            attributes.push(self.attribute(&attribute)?);
        }
        Ok(Element {
            name: self.string(name)?.unwrap_or_default(),
            namespace: self.string(namespace)?,
            attributes,
            children: Vec::new(),
            line: if chunk.header >= 16 { chunk.u32(8).unwrap_or(0) } else { 0 },
        })
    }

    /// `u32 namespace, u32 name, u32 raw value`, and a `Res_value`.
    fn attribute(&mut self, bytes: &[u8]) -> Result<Attribute, Error> {
        let number = |at| u32_at(bytes, at).unwrap_or(NONE);
        let id =
            usize::try_from(number(4)).ok().and_then(|it| u32_at(&self.map, it.checked_mul(4)?));
        let mut id = id.filter(|id| *id != 0);
        let mut name = self.string(number(4))?.unwrap_or_default();
        if name.is_empty() {
            name = id.and_then(known_name).unwrap_or_default().to_owned();
        }
        let none = StringPool::default();
        let pool = self.pool.as_ref().unwrap_or(&none);
        let value = Value::read(u8_at(bytes, 15).unwrap_or(0), number(16), pool);
        self.charge(value.text().map_or(0, str::len))?;
        let (namespace, written) = (self.string(number(0))?, self.string(number(8))?);
        if self.map.is_empty() && namespace.as_deref() == Some(ANDROID) {
            id = known_id(&name);
        }
        Ok(Attribute { name, namespace, id, value, written })
    }

    fn string(&mut self, number: u32) -> Result<Option<String>, Error> {
        if number == NONE {
            return Ok(None);
        }
        let string = self.pool.as_ref().and_then(|pool| pool.get(number));
        self.charge(string.as_ref().map_or(0, String::len))?;
        Ok(string)
    }

    fn charge(&mut self, text: usize) -> Result<(), Error> {
        self.text = self.text.saturating_add(text);
        let max = self.limits.text;
        if self.text > max { Err(too_large("the text of compiled XML", max)) } else { Ok(()) }
    }

    fn count(&mut self, nodes: usize) -> Result<(), Error> {
        self.nodes = self.nodes.saturating_add(nodes);
        let max = self.limits.nodes;
        if self.nodes > max { Err(too_large("the number of nodes", max)) } else { Ok(()) }
    }
}

fn too_large(what: &'static str, limit: usize) -> Error {
    Error::TooLarge { what, limit: limit as u64 }
}

/// Resource ids of the platform attributes that matter in manifests. Source: `public-final.xml` of
/// AOSP's framework resources.
pub(crate) mod id {
    pub(crate) const LABEL: u32 = 0x0101_0001;
    pub(crate) const NAME: u32 = 0x0101_0003;
    pub(crate) const PERMISSION: u32 = 0x0101_0006;
    pub(crate) const ENABLED: u32 = 0x0101_000e;
    pub(crate) const EXPORTED: u32 = 0x0101_0010;
    pub(crate) const VALUE: u32 = 0x0101_0024;
    pub(crate) const RESOURCE: u32 = 0x0101_0025;
    pub(crate) const TARGET_ACTIVITY: u32 = 0x0101_0202;
    pub(crate) const MIN_SDK: u32 = 0x0101_020c;
    pub(crate) const VERSION_CODE: u32 = 0x0101_021b;
    pub(crate) const VERSION_NAME: u32 = 0x0101_021c;
    pub(crate) const TARGET_SDK: u32 = 0x0101_0270;
    pub(crate) const VERSION_CODE_MAJOR: u32 = 0x0101_0576;
}

/// Resource ids with a known name.
const KNOWN: &[(u32, &str)] = &[
    (id::LABEL, "label"),
    (0x0101_0002, "icon"),
    (id::NAME, "name"),
    (id::PERMISSION, "permission"),
    (id::ENABLED, "enabled"),
    (id::EXPORTED, "exported"),
    (0x0101_0020, "description"),
    (id::VALUE, "value"),
    (id::RESOURCE, "resource"),
    (id::TARGET_ACTIVITY, "targetActivity"),
    (id::MIN_SDK, "minSdkVersion"),
    (id::VERSION_CODE, "versionCode"),
    (id::VERSION_NAME, "versionName"),
    (id::TARGET_SDK, "targetSdkVersion"),
    (id::VERSION_CODE_MAJOR, "versionCodeMajor"),
];

fn known_name(id: u32) -> Option<&'static str> {
    KNOWN.iter().find(|(known, _)| *known == id).map(|(_, name)| *name)
}

/// The resource id of a known name, for files without a resource map.
fn known_id(name: &str) -> Option<u32> {
    KNOWN.iter().find(|(_, known)| *known == name).map(|(id, _)| *id)
}
