//! How many reads a package takes, and how many bytes: each read costs a round trip to a phone.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_apk::xml::Value;
use thumbwire_apk::{Apk, Error, Limits, Source};

use super::common::{captures, fixture, now};
use super::make::{deflated, least_manifest, package, stored};

/// Counts the reads.
struct Counting {
    bytes: Bytes,
    reads: Mutex<Vec<(u64, u64)>>,
    lengths: AtomicU64,
}

impl Counting {
    fn of(bytes: Bytes) -> Self {
        Self { bytes, reads: Mutex::default(), lengths: AtomicU64::new(0) }
    }

    /// The number of reads and of bytes.
    fn reads_and_bytes(&self) -> (usize, u64) {
        assert_eq!(self.lengths.load(Ordering::Relaxed), 1, "asks for the length once");
        let reads = self.reads.lock().unwrap();
        (reads.len(), reads.iter().map(|(_, length)| length).sum())
    }
}

#[async_trait]
impl Source for &Counting {
    async fn length(&self) -> Result<u64, String> {
        self.lengths.fetch_add(1, Ordering::Relaxed);
        self.bytes.length().await
    }

    async fn read(&self, from: u64, length: u64) -> Result<Bytes, String> {
        let end = from + length;
        assert!(end <= self.bytes.len() as u64, "reads nothing past the end");
        self.reads.lock().unwrap().push((from, length));
        self.bytes.read(from, length).await
    }
}

/// Everything app tool discovery needs from a package: the manifest, the files its services name,
/// the signers.
async fn discover(source: &Counting) {
    let mut apk = Apk::open(source, Limits::default()).await.unwrap();
    let manifest = apk.manifest().await.unwrap();
    for meta in manifest.services.iter().flat_map(|service| &service.meta) {
        if let Value::Reference(id) = meta.value {
            apk.xml(id).await.map(|_| ()).or_else(is_missing).unwrap();
        }
    }
    apk.certificates().await.unwrap();
}

/// The captures were reduced to a few of their files.
fn is_missing(error: Error) -> Result<(), Error> {
    if matches!(error, Error::Missing(_)) { Ok(()) } else { Err(error) }
}

#[test]
fn small_package_takes_one_read() {
    fn goes_to_other_threads<T: Send>(it: T) -> T {
        it
    }
    let source = Counting::of(fixture("clock-in.apk"));
    now(goes_to_other_threads(discover(&source)));
    assert_eq!(source.reads_and_bytes(), (1, 8601));
}

/// 780 of its 807 kB are the resource table, which is needed whole: the values of a type for each
/// language are spread all over it.
#[test]
fn large_table_takes_few_reads_and_no_byte_twice() {
    let all = captures("apk");
    for (name, max_reads) in [("mini_api-demos.apk", 2), ("mini_appium-settings.apk", 2)] {
        let (_, bytes) = all.iter().find(|(found, _)| found == name).unwrap().clone();
        let source = Counting::of(bytes);
        now(discover(&source));
        let (reads, read) = source.reads_and_bytes();
        assert!(
            reads <= max_reads && read <= source.bytes.len() as u64,
            "{name}: {reads} of {read}"
        );
    }
}

/// A package of 20 MB laid out as build tools do: code first, manifest and descriptor anywhere, the
/// table near the end, signed.
#[test]
fn large_package_reads_only_the_needed_ranges() {
    let code = vec![7; 8 << 20];
    let table = fixture("clock-in.apk");
    let manifest = now(async {
        let mut apk = Apk::open(table.clone(), Limits::default()).await.unwrap();
        let names = ["AndroidManifest.xml", "resources.arsc", "res/xml/mcp_capabilities.xml"];
        let mut files = Vec::new();
        for name in names {
            files.push(apk.file(name).await.unwrap());
        }
        files
    });
    let files = [
        stored("classes.dex", &code),
        deflated("AndroidManifest.xml", &manifest[0]),
        stored("lib/arm64-v8a/liba.so", &code),
        deflated("res/xml/mcp_capabilities.xml", &manifest[2]),
        stored("assets/model.bin", &code[..4 << 20]),
        stored("resources.arsc", &manifest[1]),
        stored("META-INF/a", &code[..200 << 10]),
    ];
    let source = Counting::of(package(&files));
    now(discover(&source));
    let (reads, read) = source.reads_and_bytes();
    assert_eq!(reads, 4, "the tail, the manifest, the table, the descriptor");
    assert!(read < 350_000, "{read}");
}

#[test]
fn failed_reads_report_the_reason() {
    struct Cut(Bytes, &'static str);
    #[async_trait]
    impl Source for Cut {
        async fn length(&self) -> Result<u64, String> {
            Ok(self.0.len() as u64 * 2)
        }
        async fn read(&self, from: u64, length: u64) -> Result<Bytes, String> {
            if self.1.is_empty() { self.0.read(from, length).await } else { Err(self.1.into()) }
        }
    }
    let bytes = package(&[stored("AndroidManifest.xml", &least_manifest())]);
    let length = bytes.len();
    for (says, expected) in [
        ("", format!("read only {length} of {} bytes at offset 0", length * 2)),
        ("the phone is gone", "the phone is gone".into()),
    ] {
        let opened = now(Apk::open(Cut(bytes.clone(), says), Limits::default()));
        assert_eq!(opened.map(|_| ()).unwrap_err(), Error::Source(expected));
    }
}
