//! `mobile_push_file` and `mobile_pull_file` on phones of several releases: the bytes and times on
//! both sides, what is refused, and that a copy is whole or does not exist.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::input_files::InputFolder;
use thumbwire_core::session::SessionOptions;
use thumbwire_core::toolset::ObserveMode;
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::caller::Caller;

const RELEASES: [&str; 5] = ["4.4", "9", "11", "14", "16"];

/// When the file that is sent was changed, in seconds since 1970.
const CHANGED: u64 = 1_700_000_000;

/// A phone, a folder with files to send, and one for files that come back.
struct Desk {
    caller: Caller,
    input: TempDir,
    out: TempDir,
}

impl Desk {
    fn on(release: &str) -> Self {
        let (input, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let caller = Caller::of(VirtualPhone::new(Setup::of_release(release).unwrap()));
        let surface =
            mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, &[ToolGroup::Files]);
        let options = SessionOptions {
            input_files: Some(InputFolder::new(input.path())),
            files: Some(ArtifactStore::new(out.path())),
            ..SessionOptions::default()
        };
        let caller = Caller { surface, ..caller.with_options(options) };
        let desk = Self { caller, input, out };
        desk.write("a b.bin", &content());
        desk
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.input.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(CHANGED)).unwrap();
    }

    async fn push(&self, arguments: Value) -> (bool, String) {
        self.caller.call("mobile_push_file", arguments).await
    }

    async fn pull(&self, arguments: Value) -> (bool, String) {
        self.caller.call("mobile_pull_file", arguments).await
    }

    fn on_phone(&self, path: &str) -> Option<Vec<u8>> {
        let read = self.caller.phone.files(|files| files.read(path)).ok()?;
        Some(read.as_ref().to_vec())
    }

    /// The names in a folder of the phone.
    fn names(&self, folder: &str) -> Vec<String> {
        let list = self.caller.phone.files(|files| files.list(folder)).unwrap_or_default();
        list.into_iter().map(|(name, _)| name).filter(|name| name != "." && name != "..").collect()
    }

    fn local(&self) -> Vec<String> {
        let Ok(all) = std::fs::read_dir(self.out.path().join("files")) else { return Vec::new() };
        all.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// Bytes that a terminal would change, and more than one packet of them.
fn content() -> Vec<u8> {
    (0..300_000_u32).map(|at| [b'\n', b'\r', 0, (at / 7) as u8][at as usize % 4]).collect()
}

#[tokio::test(start_paused = true)]
async fn file_goes_to_the_phone_and_comes_back_unchanged_on_every_release() {
    for release in RELEASES {
        let desk = Desk::on(release);
        let (failed, said) = desk.push(json!({ "path": "a b.bin" })).await;
        assert!(!failed, "{release}: {said}");
        assert_eq!(said, "Wrote /sdcard/Download/a b.bin on the phone (300000 bytes)", "{release}");
        assert_eq!(desk.on_phone("/sdcard/Download/a b.bin"), Some(content()), "{release}");
        assert_eq!(desk.names("/sdcard/Download"), ["a b.bin"], "{release}: nothing else");
        let stat = desk.caller.phone.files(|files| files.stat("/sdcard/Download/a b.bin", false));
        assert_eq!(stat.unwrap().modified, CHANGED, "{release}");

        let (failed, said) = desk.pull(json!({ "path": "/sdcard/Download/a b.bin" })).await;
        let here = desk.out.path().join("files/a b.bin");
        assert_eq!((failed, said), (false, format!("Saved {} (300000 bytes)", here.display())));
        assert_eq!(std::fs::read(&here).unwrap(), content(), "{release}");
        let time = std::fs::metadata(&here).unwrap().modified().unwrap();
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(since.as_secs(), CHANGED, "{release}");
        // A second copy does not replace the first.
        let (_, said) = desk.pull(json!({ "path": "/sdcard/Download/a b.bin" })).await;
        assert!(said.contains("a b-2.bin"), "{release}: {said}");
        let named = json!({ "path": "/sdcard/Download/a b.bin", "name": "other" });
        assert!(desk.pull(named).await.1.contains("files/other (300000 bytes)"), "{release}");
    }
}

#[tokio::test(start_paused = true)]
async fn existing_file_is_replaced_only_if_asked() {
    for release in RELEASES {
        let desk = Desk::on(release);
        desk.write("new", b"");
        desk.write("old", b"old");
        let to = "/data/local/tmp/it's $(here).txt";
        desk.push(json!({ "path": "old", "to": to })).await;
        let (failed, said) = desk.push(json!({ "path": "new", "to": to })).await;
        assert!(failed && said.contains("is an existing file; use `overwrite`"), "{said}");
        assert_eq!(desk.on_phone(to).unwrap(), b"old", "{release}");
        let (failed, said) = desk.push(json!({ "path": "new", "to": to, "overwrite": true })).await;
        assert_eq!((failed, said), (false, format!("Replaced {to} on the phone (0 bytes)")));
        assert_eq!(desk.on_phone(to).unwrap(), b"", "{release}");
        // An empty file comes back, too.
        let (failed, said) = desk.pull(json!({ "path": to, "name": "empty" })).await;
        assert!(!failed && said.ends_with("files/empty (0 bytes)"), "{release}: {said}");

        let (failed, said) =
            desk.push(json!({ "path": "old", "to": "/sdcard/Download", "overwrite": true })).await;
        assert!(failed && said.contains("is a folder; to copy into it, end"), "{release}: {said}");
        let (failed, said) = desk.push(json!({ "path": "old", "to": "/sdcard/new folder/" })).await;
        assert!(!failed, "{release}: {said}");
        assert_eq!(desk.on_phone("/sdcard/new folder/old").unwrap(), b"old", "{release}");
    }
}

#[tokio::test(start_paused = true)]
async fn full_phone_keeps_the_old_file_and_no_part_of_the_new_one() {
    for release in RELEASES {
        let desk = Desk::on(release);
        desk.write("old", b"old");
        let to = "/sdcard/Download/x";
        desk.push(json!({ "path": "old", "to": to })).await;
        desk.caller.phone.files(|files| files.fill());
        let (failed, said) =
            desk.push(json!({ "path": "a b.bin", "to": to, "overwrite": true })).await;
        assert!(failed && said.contains("No space left on device"), "{release}: {said}");
        assert_eq!(desk.on_phone(to).unwrap(), b"old", "{release}");
        assert_eq!(desk.names("/sdcard/Download"), ["x"], "{release}");
    }
}

/// The caller gives up before the file has its name; a part of it is nowhere.
#[tokio::test(start_paused = true)]
async fn abandoned_copy_leaves_nothing_on_either_side() {
    for release in RELEASES {
        let desk = Desk::on(release);
        let limit = Duration::from_secs(20);
        desk.caller.phone.add_fault("slow:ms=60000,on=mv,times=1".parse().unwrap());
        let push = json!({ "path": "a b.bin" });
        let (failed, said) = desk.caller.call_within(limit, "mobile_push_file", push).await;
        assert!(failed && said.contains("the action may have happened"), "{release}: {said}");

        desk.caller.phone.files(|files| files.write("/sdcard/y", &content(), 0o644)).unwrap();
        desk.caller.phone.add_fault("slow:ms=60000,on=pull,times=1".parse().unwrap());
        let pull = json!({ "path": "/sdcard/y" });
        let (failed, _) = desk.caller.call_within(limit, "mobile_pull_file", pull).await;
        assert!(failed, "{release}");
        assert_eq!(desk.local(), [""; 0], "{release}");

        desk.caller.session.end().await;
        assert_eq!(desk.names("/sdcard/Download"), [""; 0], "{release}");
        assert_eq!(desk.caller.phone.injections().len(), 2, "{release}");
    }
}

#[tokio::test(start_paused = true)]
async fn hostile_paths_are_refused_before_the_phone_is_asked() {
    let desk = Desk::on("14");
    for (path, why) in [
        ("-rf", "not absolute"),
        ("sdcard/x", "not absolute"),
        ("/sdcard/../data/system/x", "`..`"),
        ("/sdcard//x", "empty part"),
        ("/data/data/com.android.notes/x", "may be in /sdcard, /storage and /data/local/tmp only"),
        ("/system/build.prop", "may be in /sdcard, /storage and /data/local/tmp only"),
        ("/data/local/tmp/thumbwire-helper-1.jar", "its own files"),
        ("/data/local/tmp/here/thumbwire-orientation", "its own files"),
        ("/sdcard/x\0y", "control character '\\0'"),
        ("/sdcard/x\n; reboot", "control character '\\n'"),
        (&format!("/sdcard/{}", "x".repeat(100_000)), "1024 are allowed"),
    ] {
        for (tool, arguments) in [
            ("mobile_push_file", json!({ "path": "a b.bin", "to": path })),
            ("mobile_pull_file", json!({ "path": path })),
        ] {
            let said = desk.caller.refused(tool, arguments).await;
            assert!(said.starts_with("Invalid argument: ") && said.contains(why), "{tool}: {said}");
            assert!(said.len() < 1000, "{}", said.len());
        }
    }
    for name in ["../x", "/etc/x", "a/b", "a\0b", "..", " ", "a:b", "-\u{1b}[2J"] {
        let arguments = json!({ "path": "/sdcard/x", "name": name });
        let said = desk.caller.refused("mobile_pull_file", arguments).await;
        assert!(said.contains("is not a valid file name"), "{name:?}: {said}");
    }
    for path in ["../secret", "/etc/passwd", "", "nope", "a\0b"] {
        let said = desk.caller.refused("mobile_push_file", json!({ "path": path })).await;
        assert!(said.starts_with("Invalid argument: "), "{path:?}: {said}");
    }
    assert!(desk.caller.phone.commands().is_empty(), "{:?}", desk.caller.phone.commands());
}

/// What is no file on the phone is not copied, and a link leads nowhere.
#[tokio::test(start_paused = true)]
async fn only_regular_files_are_pulled() {
    for release in RELEASES {
        let desk = Desk::on(release);
        let link = desk
            .caller
            .phone
            .files(|files| files.link("/data/local/tmp/link", "/system/build.prop"));
        link.unwrap();
        for (path, why) in [
            ("/data/local/tmp/link", "is a symbolic link"),
            ("/sdcard/Download", "is a folder"),
            ("/sdcard/nope", "does not exist on the phone"),
        ] {
            let (failed, said) = desk.pull(json!({ "path": path })).await;
            assert!(failed && said.contains(why), "{release}: {said}");
        }
        let (failed, said) = desk
            .push(json!({ "path": "a b.bin", "to": "/data/local/tmp/link", "overwrite": true }))
            .await;
        assert!(failed && said.contains("is a symbolic link"), "{release}: {said}");
        assert_eq!(desk.local(), [""; 0], "{release}");
    }
}

/// A link in place of the folder must not lead the copy elsewhere.
#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn pulled_files_stay_in_their_folder() {
    let desk = Desk::on("14");
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), desk.out.path().join("files")).unwrap();
    desk.caller.phone.files(|files| files.write("/sdcard/y", b"y", 0o644)).unwrap();
    let (failed, said) = desk.pull(json!({ "path": "/sdcard/y" })).await;
    assert!(failed && said.contains("it resolves outside the output folder"), "{said}");
    assert_eq!(std::fs::read_dir(elsewhere.path() as &Path).unwrap().count(), 0);
}
