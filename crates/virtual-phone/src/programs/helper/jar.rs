//! The helper's file: where it lies, what is in it here, and what keeps Android from starting a class out of such a file.
//!
//! There is no Java in this phone. The file that lies here by default is an archive with one text, which says that it stands in for
//! Thumbwire's jar; `app_process` takes any copy of it for the helper.

use super::super::Invocation;
use crate::files::{Contents, Files, Kind};
use crate::latency::Work;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use std::io::Write as _;

/// Where hosts look for it, and put into `CLASSPATH`. The number is that of the wire between both, so that an old process never meets a new
/// host.
pub(crate) const PATH: &str = "/data/local/tmp/thumbwire-helper-1.jar";

/// The one entry.
const ENTRY: &str = "STAND-IN.txt";
const TEXT: &str = "This is the virtual phone's stand-in for Thumbwire's helper.\nThere is no Java in it: the virtual phone plays the class \
                    org.thumbwire.helper.Main itself.\n";

/// A class file that Dalvik optimised: the first of the system's own, for each place where such files are kept.
const OPTIMISED: &str = "system@framework@core.jar@classes.dex";

/// Why a Java program did not start.
pub(super) enum Failure {
    /// The runtime aborted without a word to whoever started it; what it wrote into the log.
    Aborted(String),
    /// No file of the class path has the class.
    NoClass,
}

/// Puts the file where hosts look for it.
pub(crate) fn lay(files: &mut Files) {
    // Only a phone whose storage was taken away could refuse.
    if let Some(bytes) = stand_in() {
        let _ = files.write(PATH, &bytes, 0o444);
    }
}

/// The archive.
fn stand_in() -> Option<Vec<u8>> {
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

/// Whether those bytes are that archive.
fn stands_in(bytes: &Contents) -> bool {
    stand_in().is_some_and(|known| known == bytes.as_ref() as &[u8])
}

/// Does what the runtime does before a class of the helper runs.
///
/// Dalvik needs a place that it can write to, `$ANDROID_DATA/dalvik-cache`, and aborts with nothing said where there is none (measured on
/// Android 4.4.4: status 134, no text); its first start with an empty one takes it 10 s, because all of the system's classes are
/// optimised anew. Since Android 14 a class file that can be written is refused before anything else (`Writable dex file '…' is not
/// allowed`; public reports agree on the words and on status 134).
pub(super) async fn start(call: &Invocation) -> Result<(), Failure> {
    let variable = |name: &str| {
        let found = call.env.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let path = variable("CLASSPATH");
    let files: Vec<&str> = path.split(':').filter(|part| !part.is_empty()).collect();
    if call.manners().dalvik {
        let data = Some(variable("ANDROID_DATA")).filter(|data| !data.is_empty());
        optimise(call, &format!("{}/dalvik-cache", data.as_deref().unwrap_or("/data"))).await?;
    }
    call.phone.with(|phone| {
        for file in &files {
            let at = crate::files::absolute(&call.cwd, file);
            let writable = phone.files.stat(&at, true).is_ok_and(|stat| stat.mode & 0o222 != 0);
            if writable && call.manners().refuses_writable_classes {
                let why = format!("Writable dex file '{file}' is not allowed.");
                return Err(Failure::Aborted(format!("java.lang.SecurityException: {why}")));
            }
            if phone.files.read(&at).is_ok_and(|bytes| stands_in(&bytes)) {
                return Ok(());
            }
        }
        Err(Failure::NoClass)
    })
}

/// Lets Dalvik find, or make, its optimised classes.
async fn optimise(call: &Invocation, cache: &str) -> Result<(), Failure> {
    let first = format!("{cache}/{OPTIMISED}");
    let is_there = call.phone.with(|phone| {
        let stat = phone.files.stat(cache, true).ok()?;
        let usable = stat.kind == Kind::Directory && stat.uid == 2_000;
        usable.then(|| phone.files.stat(&first, true).is_ok())
    });
    match is_there {
        Some(true) => Ok(()),
        Some(false) => {
            call.phone.spend(Work::Optimise).await;
            let made = call.phone.with(|phone| phone.files.write(&first, b"dey\n036\0", 0o644));
            made.map_err(|why| Failure::Aborted(format!("can't write to {cache}: {why}")))
        }
        None => Err(Failure::Aborted(format!("can't open dex cache '{cache}'"))),
    }
}
