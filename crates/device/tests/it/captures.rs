//! Dumps of real phones: every node of every file is read, whatever text surrounds the XML.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use thumbwire_adb::daemon::{self, Handler, ServiceRefused, Services, handler};
use thumbwire_adb::{self as adb, Banner, DirectTransport, Features, Stream, Transport};
use thumbwire_device::android::Android;
use thumbwire_device::android::ui::read_dump;
use thumbwire_device::find::{HiddenReason, Visibility, elements, visibility};
use thumbwire_device::saved_tree::{SavedTree, read_saved};
use thumbwire_device::{Device as _, Error, Node, Size};
use thumbwire_test_support::{Capture, CaptureSet, capture, capture_sets};
use tokio::io::AsyncWriteExt as _;

/// Results for the captures in this repository; a changed number is a changed reader.
#[test]
fn the_dumps_kept_here_are_read_as_recorded() {
    let mut out = String::new();
    for file in CaptureSet::Committed.files("uiautomator") {
        let tree = read_dump(&file.bytes()).unwrap();
        let count = |is: fn(&Node) -> bool| tree.nodes.iter().filter(|node| is(node)).count();
        out.push_str(&format!(
            "{}: {} nodes, {} elements, {} clickable, {} with text, {} with an id, rotation {}\n",
            file.name(),
            tree.nodes.len(),
            elements(&tree).len(),
            count(|node| node.flags.clickable),
            count(|node| !node.text.is_empty()),
            count(|node| !node.id.is_empty()),
            tree.rotation
        ));
    }
    insta::assert_snapshot!(out);
}

/// The results are in this repository, even of captures that are not: a changed number is a changed
/// reader. Errors of the live-phone reader follow each result.
#[test]
fn every_tree_that_was_captured_is_read_as_recorded() {
    for set in capture_sets() {
        let mut out = String::new();
        for folder in ["uiautomator", "pagesource-ua2", "android-4.4.4", "ios/source"] {
            let is_tree = |file: &Capture| {
                let name = file.name();
                folder != "android-4.4.4"
                    || name.starts_with("dump-")
                    || name.contains("uiautomator")
            };
            for file in set.files(folder).into_iter().filter(is_tree) {
                let (name, counts) = (file.name(), counts(&file.bytes()));
                out.push_str(&format!("{folder}/{name}: {counts}\n"));
            }
        }
        insta::with_settings!({ snapshot_suffix => set.name() }, {
            insta::assert_snapshot!(out);
        });
    }
}

/// The captures of a folder: at least so many committed ones, and so many others if they are here.
fn at_least(folder: &str, committed: usize, others: usize) -> Vec<Capture> {
    let of_set = |set: CaptureSet| {
        let files = set.files(folder);
        let least = if set == CaptureSet::Committed { committed } else { others };
        assert!(files.len() >= least, "{folder}: {} {} captures", files.len(), set.name());
        files
    };
    capture_sets().into_iter().flat_map(of_set).collect()
}

fn counts(output: &[u8]) -> String {
    let live = read_dump(output);
    let Ok(SavedTree { tree, faults }) = read_saved(output) else {
        assert!(matches!(live, Err(Error::NotReady { .. })), "{live:?}");
        return "no tree".into();
    };
    let ios = tree.nodes.iter().any(|node| node.class.starts_with("XCUIElementType"));
    let showing = visibility(&tree);
    let hidden = |why| showing.iter().filter(|it| **it == Visibility::Hidden(why)).count();
    let count = |is: fn(&Visibility) -> bool| showing.iter().filter(|it| is(it)).count();
    let moved = count(|it| matches!(it, Visibility::Visible { part, at } if *at != part.center()));
    let mut out = format!(
        "{} nodes, {} elements, {} roots, depth {}, rotation {}; hidden: {} no size, {} outside, {} off, {} not \
         displayed; {} covered, {moved} tapped aside",
        tree.nodes.len(),
        elements(&tree).len(),
        tree.nodes.iter().filter(|node| node.parent.is_none()).count(),
        tree.nodes.iter().map(|node| node.depth).max().unwrap_or(0),
        tree.rotation,
        hidden(HiddenReason::NoSize),
        hidden(HiddenReason::OutsideParents),
        hidden(HiddenReason::OffScreen),
        hidden(HiddenReason::NotDisplayed),
        count(|it| matches!(it, Visibility::Covered { .. })),
    );
    for fault in faults {
        out.push_str(&format!("; {fault}"));
    }
    match live {
        Ok(live) => assert!(live == tree, "the two readers disagree"),
        // No Android writes these.
        Err(Error::NotReady { .. }) if ios => {}
        Err(error) => out.push_str(&format!("; of a live phone: {error}")),
    }
    out
}

#[test]
fn complete_dumps_keep_every_node() {
    for dump in at_least("uiautomator", 12, 63) {
        let name = dump.name();
        let tags = dump.text().matches("<node").count();
        let read = read_saved(&dump.bytes());
        let nodes = read.unwrap_or_else(|error| panic!("{name}: {error}")).tree.nodes;
        // A vendor's own element names count as nodes too.
        assert!(nodes.len() >= tags, "{name}: {tags} tags, {} nodes", nodes.len());
    }
}

#[test]
fn uiautomator2_page_sources_are_parsed() {
    for source in at_least("pagesource-ua2", 7, 12) {
        let name = source.name();
        let read = read_saved(&source.bytes());
        let nodes = read.unwrap_or_else(|error| panic!("{name}: {error}")).tree.nodes;
        // There an element's name is its class, and each element has bounds.
        assert_eq!(nodes.len(), source.text().matches(" bounds=\"").count(), "{name}");
        assert!(nodes.iter().all(|node| node.class.contains('.')), "{name}");
    }
}

#[test]
fn webdriveragent_page_sources_are_parsed() {
    let mut sources = at_least("ios/source", 5, 0);
    sources.retain(|source| source.name().ends_with(".xml"));
    assert!(sources.len() >= 4);
    for source in sources {
        let name = source.name();
        let output = source.bytes();
        let SavedTree { tree, faults } =
            read_saved(&output).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(faults, [], "{name}");
        let text = source.text();
        assert_eq!(tree.nodes.len(), text.matches("<XCUIElementType").count(), "{name}");
        let count = |is: fn(&Node) -> bool| tree.nodes.iter().filter(|node| is(node)).count();
        let switches = text.matches("<XCUIElementTypeSwitch").count();
        assert_eq!(count(|node| node.flags.checkable), switches, "{name}");
        let hidden = text.matches(" visible=\"false\"").count();
        assert_eq!(count(|node| node.displayed == Some(false)), hidden, "{name}");
        assert!(read_dump(&output).is_err(), "{name}: not an Android dump");
    }
}

/// Truncates each complete dump at every hundredth byte: an error from a live phone, the nodes
/// before the cut from a file.
#[test]
fn truncated_capture_gives_the_nodes_before_the_cut() {
    for dump in CaptureSet::Committed.files("uiautomator") {
        let (name, output) = (dump.name(), dump.bytes());
        let whole = read_saved(&output).unwrap().tree;
        let end = output.windows(12).position(|word| word == b"</hierarchy>").unwrap();
        let mut nodes_read = 0;
        for cut in (0..end).step_by(100) {
            assert!(read_dump(&output[..cut]).is_err(), "{cut} bytes of {name}");
            let Ok(SavedTree { tree, faults }) = read_saved(&output[..cut]) else { continue };
            assert!(!faults.is_empty());
            assert_eq!(tree.nodes[..], whole.nodes[..tree.nodes.len()], "{cut} of {name}");
            nodes_read = tree.nodes.len();
        }
        assert!(nodes_read + 3 > whole.nodes.len(), "{nodes_read} of {name}");
    }
}

#[test]
fn android_4_4_dumps_with_crlf_are_parsed() {
    let output = capture("android-4.4.4/185-uiautomator-dump-tty.out").unwrap();
    let tree = read_dump(&output).unwrap();
    assert_eq!(tree.nodes[0].package, "com.android.keyguard");
    assert_eq!(tree.nodes.len(), String::from_utf8_lossy(&output).matches("<node").count());
}

/// Android 4.4 as recorded: no `exec:`, no shell v2, and a terminal between us and every program.
struct Old {
    adbd: DirectTransport,
    asked_exec: Arc<AtomicUsize>,
}

#[async_trait]
impl Transport for Old {
    async fn open(&self, service: &str) -> Result<Stream, adb::Error> {
        if service.starts_with("exec:") {
            self.asked_exec.fetch_add(1, Ordering::SeqCst);
        }
        self.adbd.open(service).await
    }
    async fn features(&self) -> Result<Features, adb::Error> {
        self.adbd.features().await
    }
    async fn banner(&self) -> Result<Banner, adb::Error> {
        self.adbd.banner().await
    }
}

/// Answers `shell:COMMAND` with what the recorded phone printed.
struct Recorded;

impl Services for Recorded {
    fn banner(&self) -> Banner {
        Banner::phone("cm", "Old", "old", Features::default())
    }
    fn open(&self, service: &str) -> Result<Handler, ServiceRefused> {
        let file = match service.trim_end_matches('\0') {
            "shell:screencap -p" => "187-screencap-p-stdout.out",
            "shell:uiautomator dump /dev/tty; echo; echo == windows; dumpsys power; dumpsys window -a" => {
                "185-uiautomator-dump-tty.out"
            }
            "shell:dumpsys window displays" => "038-dumpsys-window-displays.out",
            "shell:dumpsys display" => "040-dumpsys-display.out",
            "shell:getprop ro.build.version.sdk" => "011-getprop.out",
            _ => return Err(ServiceRefused),
        };
        let mut output = capture(&format!("android-4.4.4/{file}")).ok_or(ServiceRefused)?;
        if file == "011-getprop.out" {
            // One value of the list.
            let all = String::from_utf8(output).unwrap();
            let level = all.split_once("[ro.build.version.sdk]: [").unwrap().1;
            output = format!("{}\r\n", level.split(']').next().unwrap()).into_bytes();
        }
        Ok(handler(async move |stream| {
            let mut stream = stream;
            let _ = stream.write_all(&output).await;
        }))
    }
}

#[tokio::test]
async fn old_phone_is_read_through_its_terminal() {
    let (near, far) = tokio::io::duplex(1 << 16);
    tokio::spawn(daemon::serve(far, Arc::new(Recorded)));
    let asked_exec = Arc::new(AtomicUsize::new(0));
    let old = Old { adbd: DirectTransport::from_io(near), asked_exec: Arc::clone(&asked_exec) };
    let device = Android::attach("old", Arc::new(old)).await.unwrap();
    let picture = device.screenshot().await.unwrap();
    assert_eq!(picture.size, Size { width: 480, height: 800 });
    assert_eq!(
        device.tree(thumbwire_device::TreeDetail::Full).await.unwrap().nodes[0].package,
        "com.android.keyguard"
    );
    assert_eq!(device.screen_size().await.unwrap(), Size { width: 480, height: 800 });
    assert_eq!(asked_exec.load(Ordering::SeqCst), 1, "tries `exec:` once");
}
