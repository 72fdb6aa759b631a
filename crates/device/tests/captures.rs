//! Dumps of real phones are read: every node of every file, whatever stands around the XML.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use thumbwire_adb::daemon::{self, Handler, Refused, Services, handler};
use thumbwire_adb::{Banner, Direct, Error, Features, Stream, Transport};
use thumbwire_device::android::Android;
use thumbwire_device::android::ui::read_dump;
use thumbwire_device::find::elements;
use thumbwire_device::{Device as _, Node, Size};
use tokio::io::AsyncWriteExt as _;

/// The captures that may not be copied into this project lie beside it.
fn data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("THUMBWIRE_DATA").map_or(beside, PathBuf::from);
    let required = std::env::var_os("THUMBWIRE_REQUIRE_REAL").is_some_and(|value| value == "1");
    assert!(data.is_dir() || !required, "the captures are required here: {}", data.display());
    data.is_dir().then_some(data)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// What is read out of the captures that are part of this project; a changed number is a changed reader.
#[test]
fn the_dumps_kept_here_are_read_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/uiautomator");
    let mut told = String::new();
    for file in files(&folder).into_iter().filter(|file| !file.ends_with("ORIGIN.md")) {
        let tree = read_dump(&fs::read(&file).unwrap()).unwrap();
        let count = |is: fn(&Node) -> bool| tree.nodes.iter().filter(|node| is(node)).count();
        told.push_str(&format!(
            "{}: {} nodes, {} elements, {} clickable, {} with text, {} with an id, rotation {}\n",
            file.file_name().unwrap().display(),
            tree.nodes.len(),
            elements(&tree).len(),
            count(|node| node.flags.clickable),
            count(|node| !node.text.is_empty()),
            count(|node| !node.id.is_empty()),
            tree.rotation
        ));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn every_dump_of_a_real_phone_is_read_whole_or_refused_with_the_phones_words() {
    let Some(data) = data() else {
        println!("skipped: no captures beside the project");
        return;
    };
    let mut read = 0;
    let mut refused = Vec::new();
    for file in files(&data.join("uiautomator")) {
        let said = fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&said);
        let tags = text.matches("<node").count();
        match read_dump(&said) {
            Ok(tree) => {
                // A vendor's own element names count as nodes too.
                assert!(
                    tree.nodes.len() >= tags,
                    "{}: {tags} tags, {} nodes",
                    file.display(),
                    tree.nodes.len()
                );
                read += 1;
            }
            Err(error) => refused.push(format!("{}: {error}", file.file_name().unwrap().display())),
        }
    }
    println!("{read} dumps read; refused: {refused:#?}");
    assert!(read >= 65, "{read} read; {refused:#?}");
}

#[test]
fn page_sources_of_the_uiautomator2_server_are_read_too() {
    let Some(data) = data() else {
        println!("skipped: no captures beside the project");
        return;
    };
    let sources = files(&data.join("pagesource-ua2"));
    assert!(sources.len() >= 19);
    for file in sources {
        let said = fs::read(&file).unwrap();
        let tree = read_dump(&said).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        // There an element's name is its class; each has its rectangle.
        let text = String::from_utf8_lossy(&said);
        assert_eq!(tree.nodes.len(), text.matches(" bounds=\"").count(), "{}", file.display());
        assert!(tree.nodes.iter().all(|node| node.class.contains('.')), "{}", file.display());
    }
}

#[test]
fn the_dumps_of_android_4_4_are_read_line_ends_and_all() {
    let Some(data) = data() else {
        println!("skipped: no captures beside the project");
        return;
    };
    let said = fs::read(data.join("android-4.4.4/185-uiautomator-dump-tty.out")).unwrap();
    let tree = read_dump(&said).unwrap();
    assert_eq!(tree.nodes[0].package, "com.android.keyguard");
    assert_eq!(tree.nodes.len(), String::from_utf8_lossy(&said).matches("<node").count());
}

/// Android 4.4 as it answered: no `exec:`, no shell v2, a terminal between us and every program.
struct Old {
    adbd: Direct,
    asked_exec: Arc<AtomicUsize>,
}

#[async_trait]
impl Transport for Old {
    async fn open(&self, service: &str) -> Result<Stream, Error> {
        if service.starts_with("exec:") {
            self.asked_exec.fetch_add(1, Ordering::SeqCst);
        }
        self.adbd.open(service).await
    }
    async fn features(&self) -> Result<Features, Error> {
        self.adbd.features().await
    }
    async fn banner(&self) -> Result<Banner, Error> {
        self.adbd.banner().await
    }
}

/// Answers `shell:COMMAND` with what the recorded phone said to it.
struct Recorded(PathBuf);

impl Services for Recorded {
    fn banner(&self) -> Banner {
        Banner::phone("cm", "Old", "old", Features::default())
    }
    fn open(&self, service: &str) -> Result<Handler, Refused> {
        let file = match service.trim_end_matches('\0') {
            "shell:screencap -p" => "187-screencap-p-stdout.out",
            "shell:uiautomator dump /dev/tty" => "185-uiautomator-dump-tty.out",
            "shell:dumpsys window displays" => "038-dumpsys-window-displays.out",
            _ => return Err(Refused),
        };
        let said = fs::read(self.0.join(file)).unwrap();
        Ok(handler(async move |stream| {
            let mut stream = stream;
            let _ = stream.write_all(&said).await;
        }))
    }
}

#[tokio::test]
async fn an_old_phone_is_looked_at_through_its_terminal() {
    let Some(data) = data() else {
        println!("skipped: no captures beside the project");
        return;
    };
    let (near, far) = tokio::io::duplex(1 << 16);
    let phone = Arc::new(Recorded(data.join("android-4.4.4")));
    tokio::spawn(daemon::serve(far, phone));
    let asked_exec = Arc::new(AtomicUsize::new(0));
    let old = Old { adbd: Direct::over(near), asked_exec: Arc::clone(&asked_exec) };
    let device = Android::attach("old", Arc::new(old)).await.unwrap();
    let picture = device.screenshot().await.unwrap();
    assert_eq!(picture.size, Size { width: 480, height: 800 });
    assert_eq!(device.tree().await.unwrap().nodes[0].package, "com.android.keyguard");
    assert_eq!(device.screen_size().await.unwrap(), Size { width: 480, height: 800 });
    assert_eq!(asked_exec.load(Ordering::SeqCst), 1, "it is asked for `exec:` once");
}
