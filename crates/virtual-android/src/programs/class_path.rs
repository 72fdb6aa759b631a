//! The file of `CLASSPATH` that has a class: its name is in the `classes*.dex` of an archive.

use super::Invocation;
use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive};
use std::io::Read as _;

/// Maximum bytes of the classes that are searched.
const MAX_DEX: u64 = 16 << 20;

/// The dex file with the class, if one of the files has it.
pub(super) fn dex_with_class(call: &Invocation, class: &str) -> Option<Vec<u8>> {
    let path = call.env.iter().find(|(name, _)| name == "CLASSPATH").map(|(_, path)| path.as_str());
    let files = path.unwrap_or_default().split(':').filter(|file| !file.is_empty());
    files.into_iter().find_map(|file| {
        let contents = call.phone.with(|phone| phone.kernel.files.read(&call.path(file)));
        find_class(contents.ok()?.as_ref(), class)
    })
}

/// The class as a dex file names it: its length in UTF-16 units, then the descriptor and NUL
/// (AOSP's "Dalvik executable format", `string_data_item`). Names of up to 125 characters have a
/// length of one byte.
fn descriptor(class: &str) -> Vec<u8> {
    let name = format!("L{};", class.replace('.', "/"));
    [&[name.len().min(127) as u8], name.as_bytes(), &[0]].concat()
}

fn find_class(bytes: &[u8], class: &str) -> Option<Vec<u8>> {
    let archive = ZipArchive::from_slice(bytes).ok()?;
    let (mut entries, mut found) = (archive.entries(), Vec::new());
    while let Ok(Some(entry)) = entries.next_entry() {
        let path = entry.file_path();
        let name = path.as_ref();
        if name.starts_with(b"classes") && name.ends_with(b".dex") {
            let size = entry.uncompressed_size_hint();
            found.push((size, entry.compression_method(), entry.wayfinder()));
        }
    }
    // The program's own classes are usually in a small file beside its libraries'.
    found.sort_by_key(|(size, ..)| *size);
    let wanted = descriptor(class);
    found.into_iter().filter(|(size, ..)| *size <= MAX_DEX).find_map(|(_, method, at)| {
        let entry = archive.get_entry(at).ok()?;
        let mut dex = Vec::new();
        let read = match method {
            CompressionMethod::STORE => entry.data().take(MAX_DEX).read_to_end(&mut dex),
            _ => DeflateDecoder::new(entry.data()).take(MAX_DEX).read_to_end(&mut dex),
        };
        (read.is_ok() && dex.starts_with(b"dex\n") && contains(&dex, &wanted)).then_some(dex)
    })
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    let first = |byte: &u8| Some(byte) == wanted.first();
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(first) {
        if rest[at..].starts_with(wanted) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::find_class;
    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use rawzip::{CompressionMethod, ZipArchiveWriter};
    use std::io::Write as _;

    fn archive(name: &str, dex: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut archive = ZipArchiveWriter::new(&mut bytes);
        let method = CompressionMethod::DEFLATE;
        let (mut entry, config) =
            archive.new_file(name).compression_method(method).start().expect("an entry");
        let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::fast()));
        writer.write_all(dex).expect("it is memory");
        let (encoder, descriptor) = writer.finish().expect("it is memory");
        encoder.finish().expect("it is memory");
        entry.finish(descriptor).expect("it is memory");
        archive.finish().expect("it is memory");
        bytes
    }

    #[test]
    fn class_is_found_by_its_descriptor_in_compressed_dex_files() {
        let dex = b"dex\n035\0..\x07La/b/C;\0..";
        let found = find_class(&archive("classes2.dex", dex), "a.b.C");
        assert_eq!(found.as_deref(), Some(&dex[..]));
        assert!(find_class(&archive("classes2.dex", dex), "b.C").is_none());
        assert!(find_class(&archive("assets/classes2.dex", dex), "a.b.C").is_none());
        assert!(
            find_class(&archive("classes.dex", &dex[1..]), "a.b.C").is_none(),
            "without the magic number of a dex file"
        );
        assert!(find_class(b"no archive", "a.b.C").is_none());
    }
}
