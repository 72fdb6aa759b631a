//! The helper's file: where it is, what it contains here, and why Android may refuse to start a
//! class from it.
//!
//! This phone has no Java. By default the file is an archive with one text, which says that it is a
//! placeholder for Thumbwire's jar; `app_process` treats any copy of it as the helper, and any
//! archive whose classes include [`super::CLASS`], such as one that a host has pushed: the phone
//! implements that class itself.

use super::super::Invocation;
use crate::latency;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveWriter};
use std::io::Write as _;
use thumbwire_virtual_shell::files::{Contents, FileType, Files};

/// Where hosts look for it, and what they put into `CLASSPATH`. The number is the wire version, so
/// that an old process never meets a new host.
pub(crate) const PATH: &str = "/data/local/tmp/thumbwire-helper-1.jar";

/// The only entry.
const ENTRY: &str = "STAND-IN.txt";
const TEXT: &str = "This is the virtual phone's placeholder for Thumbwire's helper.\nIt has no Java: the virtual phone implements the class \
                    org.thumbwire.helper.Main itself.\n";

/// A class file optimized by Dalvik: the first of the system's own, for each place where such files
/// are kept.
const OPTIMISED: &str = "system@framework@core.jar@classes.dex";

/// Why a Java program did not start.
pub(super) enum JavaStartError {
    /// The runtime aborted without output; contains what it logged.
    Aborted(String),
    /// No file of the class path contains the class.
    NoClass,
}

/// Writes the file where hosts look for it.
pub(crate) fn install(files: &mut Files) {
    // Fails only on a phone without storage.
    if let Some(bytes) = placeholder_jar() {
        let _ = files.write(PATH, &bytes, 0o444);
    }
}

/// The archive.
fn placeholder_jar() -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut bytes);
    let (mut entry, config) =
        archive.new_file(ENTRY).compression_method(CompressionMethod::STORE).start().ok()?;
    let mut writer = config.wrap(&mut entry);
    writer.write_all(TEXT.as_bytes()).ok()?;
    let (_, descriptor) = writer.finish().ok()?;
    entry.finish(descriptor).ok()?;
    archive.finish().ok()?;
    Some(bytes)
}

/// Whether the bytes are that archive.
fn is_placeholder(bytes: &Contents) -> bool {
    placeholder_jar().is_some_and(|known| known == bytes.as_ref() as &[u8])
}

/// The class as a dex file names it: its length in UTF-16 units, then the descriptor and NUL
/// (AOSP's "Dalvik executable format", `string_data_item`).
const DESCRIPTOR: &[u8] = b"\x1bLorg/thumbwire/helper/Main;\0";
/// Maximum size of the classes that are searched.
const MAX_DEX: u64 = 8 << 20;

/// Whether the bytes are an archive whose `classes.dex` has the class. Compressed classes are not
/// read.
fn has_class(bytes: &[u8]) -> bool {
    let Ok(archive) = ZipArchive::from_slice(bytes) else { return false };
    let mut entries = archive.entries();
    while let Ok(Some(entry)) = entries.next_entry() {
        let size = entry.uncompressed_size_hint();
        if entry.file_path().as_ref() != b"classes.dex"
            || entry.compression_method() != CompressionMethod::STORE
            || size > MAX_DEX
        {
            continue;
        }
        let found = archive.get_entry(entry.wayfinder());
        return found.is_ok_and(|entry| {
            let dex = entry.data();
            dex.starts_with(b"dex\n") && dex.windows(DESCRIPTOR.len()).any(|it| it == DESCRIPTOR)
        });
    }
    false
}

/// What the runtime does before a class of the helper runs.
///
/// Dalvik needs a writable directory `$ANDROID_DATA/dalvik-cache`, and aborts without output if
/// there is none (measured on Android 4.4.4: status 134, no text); its first start with an empty
/// one takes 10 s, because all system classes are optimized again. Since Android 14 a writable
/// class file is refused first (`Writable dex file '…' is not allowed`; public reports agree on the
/// text and on status 134).
pub(super) async fn start(call: &Invocation) -> Result<(), JavaStartError> {
    let variable = |name: &str| {
        let found = call.env.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let path = variable("CLASSPATH");
    let files: Vec<&str> = path.split(':').filter(|part| !part.is_empty()).collect();
    if call.release().dalvik {
        let data = Some(variable("ANDROID_DATA")).filter(|data| !data.is_empty());
        optimise(call, &format!("{}/dalvik-cache", data.as_deref().unwrap_or("/data"))).await?;
    }
    call.phone.with(|phone| {
        for file in &files {
            let at = thumbwire_virtual_shell::files::absolute(&call.cwd, file);
            let writable =
                phone.kernel.files.stat(&at, true).is_ok_and(|stat| stat.mode & 0o222 != 0);
            if writable && call.release().refuses_writable_classes {
                let reason = format!("Writable dex file '{file}' is not allowed.");
                return Err(JavaStartError::Aborted(format!(
                    "java.lang.SecurityException: {reason}"
                )));
            }
            let is_helper = |bytes: &Contents| is_placeholder(bytes) || has_class(bytes.as_ref());
            if phone.kernel.files.read(&at).is_ok_and(|bytes| is_helper(&bytes)) {
                return Ok(());
            }
        }
        Err(JavaStartError::NoClass)
    })
}

/// Finds or creates Dalvik's optimized classes.
async fn optimise(call: &Invocation, cache: &str) -> Result<(), JavaStartError> {
    let first = format!("{cache}/{OPTIMISED}");
    let is_there = call.phone.with(|phone| {
        let stat = phone.kernel.files.stat(cache, true).ok()?;
        let usable = stat.kind == FileType::Directory && stat.uid == 2_000;
        usable.then(|| phone.kernel.files.stat(&first, true).is_ok())
    });
    match is_there {
        Some(true) => Ok(()),
        Some(false) => {
            call.phone.run_work(latency::OPTIMISE).await;
            let made =
                call.phone.with(|phone| phone.kernel.files.write(&first, b"dey\n036\0", 0o644));
            made.map_err(|why| JavaStartError::Aborted(format!("can't write to {cache}: {why}")))
        }
        None => Err(JavaStartError::Aborted(format!("can't open dex cache '{cache}'"))),
    }
}
