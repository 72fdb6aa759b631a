//! Builds packages and compiled files byte by byte, from the format descriptions and without any
//! code of the reader.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::DeflateEncoder;

/// A file for a package. Its directory entry can be made to differ from the actual data.
#[derive(Clone)]
pub(crate) struct File {
    pub(crate) name: Vec<u8>,
    pub(crate) packed: Vec<u8>,
    pub(crate) method: u16,
    pub(crate) packed_length: u32,
    pub(crate) unpacked_length: u32,
    /// The local header's offset according to the directory; the actual offset if `None`.
    pub(crate) header: Option<u32>,
}

pub(crate) fn stored(name: &str, bytes: &[u8]) -> File {
    let length = u32::try_from(bytes.len()).unwrap();
    File {
        name: name.into(),
        packed: bytes.to_vec(),
        method: 0,
        packed_length: length,
        unpacked_length: length,
        header: None,
    }
}

pub(crate) fn deflated(name: &str, bytes: &[u8]) -> File {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    let packed = encoder.finish().unwrap();
    let packed_length = u32::try_from(packed.len()).unwrap();
    File { method: 8, packed, packed_length, ..stored(name, bytes) }
}

fn words(bytes: &mut Vec<u8>, words: &[u16]) {
    words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
}

fn numbers(bytes: &mut Vec<u8>, numbers: &[u32]) {
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
}

/// A package of these files, with a block before its directory and a comment after it.
pub(crate) fn package_with(files: &[File], block: &[u8], comment: &[u8]) -> Bytes {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for file in files {
        let at = u32::try_from(bytes.len()).unwrap();
        let name = u16::try_from(file.name.len()).unwrap();
        let lengths = [0, file.packed_length, file.unpacked_length];
        numbers(&mut bytes, &[0x0403_4b50]);
        words(&mut bytes, &[20, 0, file.method, 0, 0]);
        numbers(&mut bytes, &lengths);
        words(&mut bytes, &[name, 0]);
        bytes.extend(&file.name);
        bytes.extend(&file.packed);
        numbers(&mut directory, &[0x0201_4b50]);
        words(&mut directory, &[20, 20, 0, file.method, 0, 0]);
        numbers(&mut directory, &lengths);
        words(&mut directory, &[name, 0, 0, 0, 0]);
        numbers(&mut directory, &[0, file.header.unwrap_or(at)]);
        directory.extend(&file.name);
    }
    bytes.extend(block);
    let (at, size) = (u32::try_from(bytes.len()).unwrap(), u32::try_from(directory.len()).unwrap());
    bytes.extend(directory);
    numbers(&mut bytes, &[0x0605_4b50, 0]);
    let count = u16::try_from(files.len() % 65_536).unwrap();
    words(&mut bytes, &[count, count]);
    numbers(&mut bytes, &[size, at]);
    words(&mut bytes, &[u16::try_from(comment.len()).unwrap()]);
    bytes.extend(comment);
    bytes.into()
}

pub(crate) fn package(files: &[File]) -> Bytes {
    package_with(files, b"", b"")
}

/// A chunk: `u16 kind, u16 header length, u32 length`, the rest of the header, the body.
pub(crate) fn chunk(kind: u16, header: &[u8], body: &[u8]) -> Vec<u8> {
    let (mut bytes, head) = (Vec::new(), 8 + header.len());
    words(&mut bytes, &[kind, u16::try_from(head).unwrap()]);
    numbers(&mut bytes, &[u32::try_from(head + body.len()).unwrap()]);
    bytes.extend(header);
    bytes.extend(body);
    bytes
}

/// A pool of UTF-8 strings, given as bytes.
pub(crate) fn pool(strings: &[&[u8]]) -> Vec<u8> {
    let (mut offsets, mut data) = (Vec::new(), Vec::new());
    for string in strings {
        numbers(&mut offsets, &[u32::try_from(data.len()).unwrap()]);
        let length = u16::try_from(string.len()).unwrap();
        let [high, low] = (length | 0x8000).to_be_bytes();
        data.extend([high, low, high, low]);
        data.extend(*string);
        data.push(0);
    }
    data.resize(data.len().next_multiple_of(4), 0);
    let count = u32::try_from(strings.len()).unwrap();
    let mut header = Vec::new();
    numbers(&mut header, &[count, 0, 0x100, 28 + count * 4, 0]);
    offsets.extend(data);
    chunk(0x0001, &header, &offsets)
}

/// A value: kind and data.
pub(crate) type Typed = (u8, u32);

/// The start of an element: its name and attributes (name, value). Names are string indices.
pub(crate) fn begin(name: u32, attributes: &[(u32, Typed)]) -> Vec<u8> {
    let (mut header, mut body) = (Vec::new(), Vec::new());
    numbers(&mut header, &[1, u32::MAX]);
    numbers(&mut body, &[u32::MAX, name]);
    words(&mut body, &[20, 20, u16::try_from(attributes.len()).unwrap(), 0, 0, 0]);
    for (name, (kind, data)) in attributes {
        numbers(&mut body, &[u32::MAX, *name, u32::MAX]);
        body.extend([8, 0, 0, *kind]);
        numbers(&mut body, &[*data]);
    }
    chunk(0x0102, &header, &body)
}

/// The end of an element.
pub(crate) fn end(name: u32) -> Vec<u8> {
    let (mut header, mut body) = (Vec::new(), Vec::new());
    numbers(&mut header, &[1, u32::MAX]);
    numbers(&mut body, &[u32::MAX, name]);
    chunk(0x0103, &header, &body)
}

/// A compiled file: strings, the resource ids of the attributes that the first strings name, and
/// the chunks.
pub(crate) fn xml(strings: &[&[u8]], map: &[u32], parts: &[Vec<u8>]) -> Bytes {
    let (mut body, mut ids) = (pool(strings), Vec::new());
    numbers(&mut ids, map);
    body.extend(chunk(0x0180, b"", &ids));
    parts.iter().for_each(|part| body.extend(part));
    chunk(0x0003, b"", &body).into()
}

/// The values of a type for one configuration. `config` excludes the configuration's own length.
pub(crate) struct Part {
    pub(crate) of: u8,
    pub(crate) config: Vec<u8>,
    pub(crate) values: Vec<Option<Typed>>,
}

/// A configuration for a language and a minimum API level.
pub(crate) fn config(language: &str, region: &str, sdk: u16) -> Vec<u8> {
    let mut config = vec![0; 32];
    config[4..4 + language.len()].copy_from_slice(language.as_bytes());
    config[6..6 + region.len()].copy_from_slice(region.as_bytes());
    config[20..22].copy_from_slice(&sdk.to_le_bytes());
    config
}

/// A type chunk with its offsets as pairs (`sparse`), in 16 bits (`short`) or in 32 bits.
pub(crate) fn part(part: &Part, manner: &str) -> Vec<u8> {
    let (mut places, mut values) = (Vec::new(), Vec::new());
    for (number, value) in part.values.iter().enumerate() {
        let number = u16::try_from(number).unwrap();
        let at = u16::try_from(values.len()).unwrap();
        match (manner, value) {
            ("sparse", Some(_)) => words(&mut places, &[number, at / 4]),
            ("sparse", None) => {}
            ("short", Some(_)) => words(&mut places, &[at / 4]),
            ("short", None) => words(&mut places, &[u16::MAX]),
            (_, Some(_)) => numbers(&mut places, &[u32::from(at)]),
            (_, None) => numbers(&mut places, &[u32::MAX]),
        }
        match value {
            // A compact entry of eight bytes: key, flags with the kind, data.
            Some((kind, data)) if manner == "compact" => {
                words(&mut values, &[0, 0x0008 | u16::from(*kind) << 8]);
                numbers(&mut values, &[*data]);
            }
            Some((kind, data)) => {
                words(&mut values, &[8, 0]);
                numbers(&mut values, &[0]);
                values.extend([8, 0, 0, *kind]);
                numbers(&mut values, &[*data]);
            }
            None => {}
        }
    }
    let count = match manner {
        "sparse" => places.len() / 4,
        _ => part.values.len(),
    };
    places.resize(places.len().next_multiple_of(4), 0);
    let flags = match manner {
        "sparse" => 1,
        "short" => 2,
        _ => 0,
    };
    let config_length = u32::try_from(part.config.len() + 4).unwrap();
    let start = 20 + config_length + u32::try_from(places.len()).unwrap();
    let mut header = vec![part.of, flags, 0, 0];
    numbers(&mut header, &[u32::try_from(count).unwrap(), start, config_length]);
    header.extend(&part.config);
    places.extend(values);
    chunk(0x0201, &header, &places)
}

/// A resource table with one package.
pub(crate) fn table(strings: &[&[u8]], package: u32, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut header = Vec::new();
    numbers(&mut header, &[package]);
    header.resize(4 + 256 + 20, 0);
    let mut body = pool(strings);
    body.extend(chunk(0x0200, &header, &parts.concat()));
    let mut count = Vec::new();
    numbers(&mut count, &[1]);
    chunk(0x0002, &count, &body)
}

/// The minimal manifest; its package is `a.b`.
pub(crate) fn least_manifest() -> Bytes {
    xml(&[b"manifest", b"package", b"a.b"], &[], &[begin(0, &[(1, (0x03, 2))]), end(0)])
}

/// An element of a manifest to compile.
#[derive(Clone)]
pub(crate) struct Node {
    name: &'static str,
    attributes: Vec<(&'static str, AttributeValue)>,
    children: Vec<Node>,
}

/// The value of an attribute to compile.
#[derive(Clone, Copy)]
pub(crate) enum AttributeValue {
    /// A string.
    Text(&'static str),
    /// Anything else.
    Typed(u8, u32),
}

pub(crate) fn node(name: &'static str, attributes: &[(&'static str, AttributeValue)]) -> Node {
    Node { name, attributes: attributes.to_vec(), children: Vec::new() }
}

impl Node {
    pub(crate) fn with(mut self, child: Node) -> Self {
        self.children.push(child);
        self
    }

    fn compile(&self, strings: &mut Vec<&'static str>, parts: &mut Vec<Vec<u8>>) {
        let mut number = |text: &'static str| {
            let found = strings.iter().position(|one| *one == text);
            let at = found.unwrap_or_else(|| {
                strings.push(text);
                strings.len() - 1
            });
            u32::try_from(at).unwrap()
        };
        let attributes = self.attributes.iter().map(|(name, said)| match said {
            AttributeValue::Text(text) => (number(name), (0x03, number(text))),
            AttributeValue::Typed(kind, data) => (number(name), (*kind, *data)),
        });
        let attributes: Vec<_> = attributes.collect();
        let name = number(self.name);
        parts.push(begin(name, &attributes));
        self.children.iter().for_each(|child| child.compile(strings, parts));
        parts.push(end(name));
    }
}

/// A compiled file in which the attributes with these names are the platform attributes with these
/// resource ids.
pub(crate) fn document(root: &Node, platform: &[(&'static str, u32)]) -> Bytes {
    let mut strings: Vec<_> = platform.iter().map(|(name, _)| *name).collect();
    let mut parts = Vec::new();
    root.compile(&mut strings, &mut parts);
    let strings: Vec<_> = strings.iter().map(|text| text.as_bytes()).collect();
    let ids: Vec<_> = platform.iter().map(|(_, id)| *id).collect();
    xml(&strings, &ids, &parts)
}
