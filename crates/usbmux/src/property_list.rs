//! Property lists, the messages of usbmuxd and of iOS's services: XML is read and written, Apple's
//! binary form is read.
//!
//! The `plist` crate parses XML. Nesting is checked before, because a deep value overflows the
//! stack when it is dropped. Binary lists are parsed here, with a limit: they may reference one
//! value many times, so a few bytes can expand to gigabytes.

use plist::{Dictionary, Value};

/// How deep values may be nested.
const MAX_DEPTH: usize = 32;

/// How many values a binary list may have, counted as often as they are referred to.
const MAX_VALUES: usize = 100_000;

/// How many bytes the texts and data of a binary list may have together, counted as often as they
/// are referred to; those of a longer list its own length.
const MAX_CONTENT: usize = 16 << 20;

/// Why bytes are not a property list that is accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a property list: {0}")]
pub(crate) struct PropertyListError(&'static str);

/// A value as XML.
pub(crate) fn to_xml(message: impl Into<Value>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail, and every value has an XML form.
    let written = message.into().to_writer_xml(&mut bytes);
    debug_assert!(written.is_ok(), "{written:?}");
    bytes
}

/// Reads a list in either form, whose top is a dictionary.
///
/// # Errors
/// If it is malformed, too deep, or has another top.
pub(crate) fn parse(bytes: &[u8]) -> Result<Dictionary, PropertyListError> {
    let top = parse_value(bytes)?.into_dictionary();
    top.ok_or(PropertyListError("the top is not a dictionary"))
}

/// Reads a list in either form, with any top.
///
/// # Errors
/// If it is malformed, too deep, or stands for more than it may.
fn parse_value(bytes: &[u8]) -> Result<Value, PropertyListError> {
    if bytes.starts_with(b"bplist00") {
        return BinaryList::new(bytes)?.read_top();
    }
    check_nesting(bytes)?;
    Value::from_reader_xml(bytes).map_err(|_| PropertyListError("malformed XML"))
}

/// Refuses XML that is nested too deeply, or in which tags could hide from this scan: Apple's
/// writers use neither comments, nor CDATA, nor a document type with content.
fn check_nesting(bytes: &[u8]) -> Result<(), PropertyListError> {
    let mut depth = 0_usize;
    let mut rest = bytes;
    while let Some(begin) = rest.iter().position(|byte| *byte == b'<') {
        let after = &rest[begin + 1..];
        let end = after.iter().position(|byte| *byte == b'>');
        let end = end.ok_or(PropertyListError("a tag without an end"))?;
        let (tag, others) = (&after[..end], &after[end + 1..]);
        rest = others;
        let quotes = |quote| tag.iter().filter(|byte| **byte == quote).count();
        let is_odd = quotes(b'"') % 2 == 1 || quotes(b'\'') > 0;
        if is_odd || tag.iter().any(|byte| matches!(byte, b'<' | b'[')) {
            return Err(PropertyListError("an unusual tag"));
        }
        match tag.first() {
            Some(b'?') if tag.ends_with(b"?") => {}
            Some(b'!') if tag.starts_with(b"!DOCTYPE") => {}
            Some(b'?' | b'!') => return Err(PropertyListError("an unusual tag")),
            Some(b'/') if is_container(&tag[1..]) => depth = depth.saturating_sub(1),
            _ if tag.ends_with(b"/") => {}
            _ if is_container(tag) => depth += 1,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(PropertyListError("nested too deeply"));
        }
    }
    Ok(())
}

/// Whether this is the tag of an array or a dictionary, perhaps with a namespace's prefix.
fn is_container(tag: &[u8]) -> bool {
    let name = tag.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let local = name.rsplit(|byte| *byte == b':').next().unwrap_or_default();
    matches!(local, b"array" | b"dict")
}

/// A list in the binary form (CFBinaryPList.c of Apple's CoreFoundation): objects, a table of their
/// offsets, and a trailer of 32 bytes.
struct BinaryList<'a> {
    bytes: &'a [u8],
    /// Where the object with each number begins.
    offsets: Vec<usize>,
    reference_size: usize,
    top: usize,
    /// How many values may still be made.
    left: usize,
    /// How many bytes texts and data may still have.
    content_left: usize,
}

const TRUNCATED: PropertyListError = PropertyListError("it is truncated");

impl<'a> BinaryList<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, PropertyListError> {
        let end = bytes.len().checked_sub(32).ok_or(TRUNCATED)?;
        let trailer = &bytes[end..];
        let (offset_size, reference_size) = (usize::from(trailer[6]), usize::from(trailer[7]));
        let [count, top, table] = [8, 16, 24].map(|at| number(&trailer[at..at + 8]));
        let [count, top, table] = [count?, top?, table?];
        let are_sizes = (1..=8).contains(&offset_size) && (1..=8).contains(&reference_size);
        if !are_sizes {
            return Err(PropertyListError("sizes of integers are wrong"));
        }
        let length = count.checked_mul(offset_size).ok_or(TRUNCATED)?;
        let table_end = table.checked_add(length).filter(|it| *it <= end).ok_or(TRUNCATED)?;
        let offsets = bytes[table..table_end].chunks_exact(offset_size).map(number);
        let offsets = offsets.collect::<Result<_, _>>()?;
        let content_left = bytes.len().max(MAX_CONTENT);
        Ok(Self { bytes, offsets, reference_size, top, left: MAX_VALUES, content_left })
    }

    fn read_top(mut self) -> Result<Value, PropertyListError> {
        self.read(self.top, 0)
    }

    fn read(&mut self, object: usize, depth: usize) -> Result<Value, PropertyListError> {
        self.left = self.left.checked_sub(1).ok_or(PropertyListError("too many values"))?;
        if depth > MAX_DEPTH {
            return Err(PropertyListError("nested too deeply"));
        }
        let at = *self.offsets.get(object).ok_or(TRUNCATED)?;
        let marker = *self.bytes.get(at).ok_or(TRUNCATED)?;
        let (kind, low) = (marker >> 4, marker & 0xF);
        let content = at + 1;
        Ok(match kind {
            0x0 if low == 8 || low == 9 => Value::Boolean(low == 9),
            0x1 => {
                let bytes = self.slice(content, 1 << low.min(4))?;
                // Integers of 8 bytes are signed, those of 16 hold unsigned ones above.
                let wide = bytes.iter().fold(0_u128, |sum, byte| sum << 8 | u128::from(*byte));
                match (bytes.len(), u64::try_from(wide)) {
                    (8, Ok(wide)) => Value::Integer(wide.cast_signed().into()),
                    (_, Ok(wide)) => Value::Integer(wide.into()),
                    _ => return Err(PropertyListError("an integer is too large")),
                }
            }
            0x2 if low == 3 => {
                let bytes = self.slice(content, 8)?.try_into().map_err(|_| TRUNCATED)?;
                Value::Real(f64::from_be_bytes(bytes))
            }
            0x4 => {
                let (length, begin) = self.length(low, content)?;
                Value::Data(self.content(begin, length)?.to_vec())
            }
            0x5 => {
                let (length, begin) = self.length(low, content)?;
                Value::String(String::from_utf8_lossy(self.content(begin, length)?).into_owned())
            }
            0x6 => {
                let (length, begin) = self.length(low, content)?;
                let bytes = self.content(begin, length.checked_mul(2).ok_or(TRUNCATED)?)?;
                let units =
                    bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
                Value::String(String::from_utf16_lossy(&units.collect::<Vec<_>>()))
            }
            0xA => {
                let (length, begin) = self.length(low, content)?;
                let items = self.references(begin, length)?;
                let items = items.into_iter().map(|item| self.read(item, depth + 1));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            0xD => {
                let (length, begin) = self.length(low, content)?;
                let both = self.references(begin, length.checked_mul(2).ok_or(TRUNCATED)?)?;
                let (keys, values) = both.split_at(length);
                let mut dictionary = Dictionary::new();
                for (key, value) in keys.iter().zip(values) {
                    let Value::String(key) = self.read(*key, depth + 1)? else {
                        return Err(PropertyListError("a key is not a text"));
                    };
                    let value = self.read(*value, depth + 1)?;
                    dictionary.insert(key, value);
                }
                Value::Dictionary(dictionary)
            }
            // Dates, sets and ids of archives are in no message that is read here.
            0x3 | 0x8 | 0xC => Value::String(String::new()),
            _ => return Err(PropertyListError("an unknown kind of value")),
        })
    }

    /// The length of a value, and where its content begins: a long length is an integer after the
    /// marker.
    fn length(&self, low: u8, at: usize) -> Result<(usize, usize), PropertyListError> {
        if low != 0xF {
            return Ok((usize::from(low), at));
        }
        let marker = *self.bytes.get(at).ok_or(TRUNCATED)?;
        if marker >> 4 != 1 || marker & 0xF > 3 {
            return Err(PropertyListError("a length is not an integer"));
        }
        let size = 1_usize << (marker & 0xF);
        Ok((number(self.slice(at + 1, size)?)?, at + 1 + size))
    }

    fn references(&self, at: usize, count: usize) -> Result<Vec<usize>, PropertyListError> {
        let length = count.checked_mul(self.reference_size).ok_or(TRUNCATED)?;
        self.slice(at, length)?.chunks_exact(self.reference_size).map(number).collect()
    }

    /// The bytes of a text or of data.
    fn content(&mut self, at: usize, length: usize) -> Result<&'a [u8], PropertyListError> {
        let bytes = self.slice(at, length)?;
        let left = self.content_left.checked_sub(length);
        self.content_left = left.ok_or(PropertyListError("too much content"))?;
        Ok(bytes)
    }

    fn slice(&self, at: usize, length: usize) -> Result<&'a [u8], PropertyListError> {
        let end = at.checked_add(length).ok_or(TRUNCATED)?;
        self.bytes.get(at..end).ok_or(TRUNCATED)
    }
}

/// A big-endian number of up to eight bytes.
fn number(bytes: &[u8]) -> Result<usize, PropertyListError> {
    let sum = bytes.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    // Half of the largest, so that sums of two do not overflow.
    usize::try_from(sum).ok().filter(|sum| *sum <= usize::MAX / 2).ok_or(TRUNCATED)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn xml(content: &str) -> Vec<u8> {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
             \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">{content}</plist>\n"
        )
        .into_bytes()
    }

    fn sample() -> Dictionary {
        let mut inner = Dictionary::new();
        inner.insert("Number".into(), Value::Integer(3.into()));
        inner.insert("Big".into(), Value::Integer(u64::MAX.into()));
        inner.insert("Negative".into(), Value::Integer((-5).into()));
        let mut outer = Dictionary::new();
        outer.insert("DeviceName".into(), Value::String("Ana’s <iPhone> 📱".into()));
        outer.insert("Plain".into(), Value::String("x".repeat(300)));
        outer.insert("Data".into(), Value::Data(vec![0, 1, 255]));
        outer.insert("Yes".into(), Value::Boolean(true));
        outer.insert("Real".into(), Value::Real(1.5));
        outer.insert("List".into(), Value::Array(vec![Value::Dictionary(inner)]));
        outer
    }

    #[test]
    fn both_forms_are_read_as_they_were_written() {
        let list = sample();
        assert_eq!(parse(&to_xml(list.clone())).unwrap(), list);
        let mut binary = Vec::new();
        Value::Dictionary(list.clone()).to_writer_binary(&mut binary).unwrap();
        assert_eq!(parse(&binary).unwrap(), list);
    }

    #[test]
    fn deep_nesting_is_refused_before_it_is_parsed() {
        let deep = |open: &str, close: &str| {
            let count = 100_000;
            xml(&format!("{}{}", open.repeat(count), close.repeat(count)))
        };
        let key = "<dict><key>a</key>";
        for bytes in [
            deep("<array>", "</array>"),
            deep("<a:array>", "</a:array>"),
            deep("<array >", "</array >"),
            deep(key, "</dict>"),
            deep("<array><!-- </array> -->", "</array>"),
            deep("<array><![CDATA[</array>]]>", "</array>"),
            deep("<array><string a=\"</array>\"/>", "</array>"),
            deep("<array><string a='>' b='</array>'/>", "</array>"),
            deep("<array><?a </array> ?>", "</array>"),
        ] {
            assert!(parse(&bytes).is_err());
        }
        assert!(parse(&xml("<dict><key>a</key><array><dict/></array></dict>")).is_ok());
        assert!(parse(&xml("<array/>")).is_err(), "the top is a dictionary");
        assert_eq!(parse_value(&xml("<array/>")).unwrap(), Value::Array(Vec::new()));
    }

    /// An array of twice the next one, and so on.
    #[test]
    fn few_bytes_that_stand_for_gigabytes_are_refused() {
        for levels in [20_u8, 31, 60] {
            let mut bytes = b"bplist00".to_vec();
            let mut offsets = Vec::new();
            for level in 0..levels {
                offsets.push(u8::try_from(bytes.len()).unwrap());
                bytes.extend([0xA2, level + 1, level + 1]);
            }
            offsets.push(u8::try_from(bytes.len()).unwrap());
            bytes.push(0x09);
            let table = u8::try_from(bytes.len()).unwrap();
            bytes.extend(&offsets);
            bytes.extend([0; 6]);
            bytes.extend([1, 1]);
            for number in [levels + 1, 0, table] {
                bytes.extend(u64::from(number).to_be_bytes());
            }
            assert!(BinaryList::new(&bytes).unwrap().read_top().is_err(), "{levels}");
        }
    }

    /// An array whose 200 items are all the same data of a megabyte.
    #[test]
    fn data_that_is_referred_to_often_is_refused() {
        let check = |references: usize, is_read: bool| {
            let mut bytes = b"bplist00".to_vec();
            bytes.extend([0xAF, 0x11]);
            bytes.extend(u16::try_from(references).unwrap().to_be_bytes());
            bytes.extend(vec![1; references]);
            let data = bytes.len();
            bytes.extend([0x4F, 0x12]);
            bytes.extend((1_u32 << 20).to_be_bytes());
            bytes.extend(vec![0; 1 << 20]);
            let table = bytes.len();
            bytes.extend(8_u32.to_be_bytes());
            bytes.extend(u32::try_from(data).unwrap().to_be_bytes());
            bytes.extend([0; 6]);
            bytes.extend([4, 1]);
            for number in [2, 0, table] {
                bytes.extend(u64::try_from(number).unwrap().to_be_bytes());
            }
            assert_eq!(parse_value(&bytes).is_ok(), is_read, "{references}");
        };
        check(16, true);
        check(200, false);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            at in any::<prop::sample::Index>(),
        ) {
            let _ = parse(&bytes);
            let _ = parse(&[b"bplist00", &bytes[..]].concat());
            for mut known in [to_xml(sample()), {
                let mut binary = Vec::new();
                Value::Dictionary(sample()).to_writer_binary(&mut binary).unwrap();
                binary
            }] {
                let begin = at.index(known.len());
                for (slot, byte) in known[begin..].iter_mut().zip(&bytes[..bytes.len().min(3)]) {
                    *slot = *byte;
                }
                let _ = parse(&known);
                let _ = parse(&known[..begin]);
            }
        }
    }
}
