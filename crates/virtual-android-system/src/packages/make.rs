//! Makes the APK of a preinstalled app without one: what its manifest says about it, and its label
//! as a resource.
//!
//! The file has no code and no signature; an app of this phone is drawn by `virtual-phone`.
//! Formats: `ResourceTypes.h` of Android, and the appnote of ZIP. All entries are stored, and the
//! table starts at a multiple of four, as Android 11 requires of apps that target it.

use thumbwire_virtual_phone::Manifest;

/// Ids of attributes in `android:`, in the order of [`NAMES`].
const IDS: [u32; 6] =
    [0x0101_0001, 0x0101_0003, 0x0101_0010, 0x0101_020c, 0x0101_021b, 0x0101_021c];
const NAMES: [&str; 6] =
    ["label", "name", "exported", "minSdkVersion", "versionCode", "versionName"];
const LABEL: u32 = 0;
const NAME: u32 = 1;
const EXPORTED: u32 = 2;
const MIN_SDK: u32 = 3;
const VERSION_CODE: u32 = 4;
const VERSION_NAME: u32 = 5;

/// The id of the label: the first string of the app's own package.
const LABEL_ID: u32 = 0x7f01_0000;
/// `Res_value` types.
const REFERENCE: u8 = 0x01;
const STRING: u8 = 0x03;
const INTEGER: u8 = 0x10;
const BOOLEAN: u8 = 0x12;
/// No string, no namespace.
const NONE: u32 = u32::MAX;

/// The bytes of the APK.
pub(super) fn apk(manifest: &Manifest) -> Vec<u8> {
    archive(&[("AndroidManifest.xml", xml(manifest)), ("resources.arsc", table(manifest))])
}

/// A compiled document in the making.
struct Document {
    strings: Vec<String>,
    chunks: Vec<u8>,
}

/// An attribute: the index of its name, the type of its value, the value.
type Attribute = (u32, u8, u32);

impl Document {
    fn string(&mut self, text: &str) -> u32 {
        let at = self.strings.iter().skip(NAMES.len()).position(|known| known == text);
        let at = at.map_or(self.strings.len(), |at| at + NAMES.len());
        if at == self.strings.len() {
            self.strings.push(text.to_owned());
        }
        number(at)
    }

    fn open(&mut self, name: &str, attributes: &[Attribute]) {
        let mut body = Vec::new();
        let name = self.string(name);
        words(&mut body, &[NONE, name]);
        halves(&mut body, &[20, 20, attributes.len() as u16, 0, 0, 0]);
        for (name, kind, value) in attributes {
            let raw = if *kind == STRING { *value } else { NONE };
            words(&mut body, &[NONE, *name, raw]);
            body.extend([8, 0, 0, *kind]);
            words(&mut body, &[*value]);
        }
        self.chunks.extend(chunk(0x0102, &[1, NONE], &body));
    }

    fn close(&mut self, name: &str) {
        let mut body = Vec::new();
        let name = self.string(name);
        words(&mut body, &[NONE, name]);
        self.chunks.extend(chunk(0x0103, &[1, NONE], &body));
    }

    fn named(&mut self, element: &str, name: &str) {
        let name = self.string(name);
        self.open(element, &[(NAME, STRING, name)]);
        self.close(element);
    }
}

fn xml(manifest: &Manifest) -> Vec<u8> {
    let strings = NAMES.map(str::to_owned).to_vec();
    let mut document = Document { strings, chunks: Vec::new() };
    let package = document.string("package");
    let own = document.string(&manifest.package);
    let version = document.string(&manifest.version_name);
    let code = manifest.version_code as u32;
    document.open(
        "manifest",
        &[(VERSION_CODE, INTEGER, code), (VERSION_NAME, STRING, version), (package, STRING, own)],
    );
    document.open("uses-sdk", &[(MIN_SDK, INTEGER, 19)]);
    document.close("uses-sdk");
    for permission in &manifest.permissions {
        document.named("uses-permission", permission);
    }
    document.open("application", &[(LABEL, REFERENCE, LABEL_ID)]);
    for activity in &manifest.activities {
        let name = document.string(activity);
        document.open("activity", &[(NAME, STRING, name), (EXPORTED, BOOLEAN, NONE)]);
        if manifest.launcher.as_ref() == Some(activity) {
            document.open("intent-filter", &[]);
            document.named("action", "android.intent.action.MAIN");
            document.named("category", "android.intent.category.LAUNCHER");
            document.close("intent-filter");
        }
        document.close("activity");
    }
    document.close("application");
    document.close("manifest");
    let mut body = pool(&document.strings);
    body.extend(chunk(0x0180, &[], &bytes_of(&IDS)));
    body.extend(document.chunks);
    chunk(0x0003, &[], &body)
}

/// A table with one string, in the default configuration.
fn table(manifest: &Manifest) -> Vec<u8> {
    // `ResTable_type`: id 1, one entry, its offset 0; `ResTable_config` of 64 bytes, all zeros but
    // its size.
    let mut kind = vec![1, 0, 0, 0];
    words(&mut kind, &[1, 20 + 64 + 4, 64]);
    kind.resize(kind.len() + 60, 0);
    let mut entry = bytes_of(&[0]);
    // `ResTable_entry` with key 0, then a `Res_value`: the first string of the table.
    halves(&mut entry, &[8, 0]);
    words(&mut entry, &[0]);
    entry.extend([8, 0, 0, STRING]);
    words(&mut entry, &[0]);
    // `ResTable_typeSpec`: id 1, one entry that depends on no configuration.
    let spec = chunk(0x0202, &[1, 1], &bytes_of(&[0]));
    let kind = chunk_after(0x0201, &kind, &entry);
    let (types, keys) = (pool(&["string".to_owned()]), pool(&["app_name".to_owned()]));
    // `ResTable_package`: id, name in 128 UTF-16 units, offsets of the two pools and their public
    // parts, offset of ids.
    let mut package = bytes_of(&[0x7f]);
    let name: Vec<u16> = manifest.package.encode_utf16().take(127).collect();
    halves(&mut package, &name);
    package.resize(4 + 256, 0);
    let head = 8 + 256 + 4 + 20;
    words(&mut package, &[head, 1, head + number(types.len()), 1, 0]);
    let package = chunk_after(0x0200, &package, &[types, keys, spec, kind].concat());
    let body = [pool(std::slice::from_ref(&manifest.label)), package].concat();
    chunk(0x0002, &[1], &body)
}

/// A pool of UTF-8 strings.
fn pool(strings: &[String]) -> Vec<u8> {
    let (mut offsets, mut data) = (Vec::new(), Vec::new());
    for text in strings {
        words(&mut offsets, &[number(data.len())]);
        // The lengths in UTF-16 units and in bytes, each in one byte or, with the top bit set, in
        // two.
        for length in [text.encode_utf16().count(), text.len()] {
            match length {
                0..0x80 => data.push(length as u8),
                _ => data.extend([(length >> 8) as u8 | 0x80, length as u8]),
            }
        }
        data.extend(text.as_bytes());
        data.push(0);
    }
    data.resize(data.len().next_multiple_of(4), 0);
    let count = number(strings.len());
    let start = 28 + 4 * count;
    chunk(0x0001, &[count, 0, 0x100, start, 0], &[offsets, data].concat())
}

/// A chunk: type, length of the header, length; the rest of the header; the body.
fn chunk(kind: u16, header: &[u32], body: &[u8]) -> Vec<u8> {
    chunk_after(kind, &bytes_of(header), body)
}

fn chunk_after(kind: u16, header: &[u8], body: &[u8]) -> Vec<u8> {
    let (mut bytes, head) = (Vec::new(), 8 + header.len());
    halves(&mut bytes, &[kind, head as u16]);
    words(&mut bytes, &[number(head + body.len())]);
    bytes.extend(header);
    bytes.extend(body);
    bytes
}

/// A ZIP archive of stored files, whose contents start at multiples of four.
fn archive(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    /// 2009-01-01, the date of files in Android's images, in the form of MS-DOS.
    const DATE: u16 = (2009 - 1980) << 9 | 1 << 5 | 1;
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let (at, length) = (number(bytes.len()), number(content.len()));
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let pad =
            (bytes.len() + 30 + name.len()).next_multiple_of(4) - (bytes.len() + 30 + name.len());
        words(&mut bytes, &[0x0403_4b50]);
        halves(&mut bytes, &[10, 0, 0, 0, DATE]);
        words(&mut bytes, &[crc.sum(), length, length]);
        halves(&mut bytes, &[name.len() as u16, pad as u16]);
        bytes.extend(name.as_bytes());
        bytes.resize(bytes.len() + pad, 0);
        bytes.extend(content);
        words(&mut directory, &[0x0201_4b50]);
        halves(&mut directory, &[10, 10, 0, 0, 0, DATE]);
        words(&mut directory, &[crc.sum(), length, length]);
        halves(&mut directory, &[name.len() as u16, 0, 0, 0, 0]);
        words(&mut directory, &[0, at]);
        directory.extend(name.as_bytes());
    }
    let (at, size, count) = (number(bytes.len()), number(directory.len()), files.len() as u16);
    bytes.extend(directory);
    words(&mut bytes, &[0x0605_4b50, 0]);
    halves(&mut bytes, &[count, count]);
    words(&mut bytes, &[size, at]);
    halves(&mut bytes, &[0]);
    bytes
}

fn words(into: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| into.extend(word.to_le_bytes()));
}

fn halves(into: &mut Vec<u8>, halves: &[u16]) {
    halves.iter().for_each(|half| into.extend(half.to_le_bytes()));
}

fn bytes_of(numbers: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    words(&mut bytes, numbers);
    bytes
}

/// Lengths here are those of a few texts.
fn number(length: usize) -> u32 {
    length as u32
}

#[cfg(test)]
mod tests {
    use thumbwire_virtual_phone::{Setup, World};

    use super::*;
    use crate::packages::Apk;

    #[test]
    fn made_apk_says_what_the_phone_says() {
        let world = World::new(Setup::default());
        for manifest in world.packages() {
            let declared = Apk::read(&apk(manifest), 3).expect("it can be read").declared;
            assert_eq!(declared.package, manifest.package);
            assert_eq!(declared.version_code, manifest.version_code);
            assert_eq!(declared.version_name.as_ref(), Some(&manifest.version_name));
            assert_eq!(declared.label.as_ref(), Some(&manifest.label));
            assert_eq!(declared.permissions, manifest.permissions);
            assert_eq!(declared.launcher().map(|it| &it.name), manifest.launcher.as_ref());
            let activities: Vec<_> = declared.components.iter().map(|it| it.name.clone()).collect();
            assert_eq!(activities, manifest.activities);
        }
    }
}
