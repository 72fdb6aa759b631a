//! Stock `adb` transfers files in both directions.

use crate::clients::adb::each;
use crate::clients::bench::Bench;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};
use thumbwire_virtual_android::{FileType, Files};

/// 2001-02-03 04:05:06 UTC
const THEN: u64 = 981_173_106;

/// Creates a folder with typical contents.
fn tree(at: &Path) {
    fs::create_dir_all(at.join("with space/deeper")).expect("made");
    fs::create_dir_all(at.join("empty")).expect("made");
    fs::write(at.join("plain.txt"), "plain\n").expect("written");
    fs::write(at.join("nothing"), "").expect("written");
    fs::write(at.join("with space/it's \"quoted\" $HOME *.txt"), "q").expect("written");
    fs::write(at.join("with space/deeper/Größe 日本 😀.txt"), "unicode").expect("written");
    let big: Vec<u8> = (0..10_usize << 20).map(|n| (n * 31 % 253) as u8).collect();
    fs::write(at.join("big.bin"), big).expect("written");
    fs::write(at.join("run.sh"), "#!/system/bin/sh\necho ran $1\n").expect("written");
    fs::set_permissions(at.join("run.sh"), fs::Permissions::from_mode(0o755)).expect("set");
    std::os::unix::fs::symlink("plain.txt", at.join("link")).expect("linked");
    let file = fs::File::options().write(true).open(at.join("plain.txt")).expect("open");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(THEN)).expect("set");
}

/// Every path below a folder, with its contents; `None` for a folder. Follows links.
fn listed(at: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut waiting = vec![at.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).expect("read") {
            let path = entry.expect("read").path();
            let name = path.strip_prefix(at).expect("below").to_string_lossy().into_owned();
            if path.is_dir() {
                waiting.push(path);
                found.push((name, None));
            } else {
                found.push((name, Some(fs::read(path).expect("read"))));
            }
        }
    }
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pushed_folder_pulls_back_unchanged() {
    each(async |bench: &Bench| {
        let here = bench.path("tree");
        tree(Path::new(&here));
        bench.adb(&["push", &here, "/data/local/tmp"]).await.well();
        let read = |path: &str| bench.phone.files(|files| files.read(path));
        let name = "/data/local/tmp/tree/with space/deeper/Größe 日本 😀.txt";
        assert_eq!(read(name).expect("there").as_ref(), b"unicode");
        // A link arrives as a link.
        assert_eq!(
            bench.adb(&["shell", "readlink /data/local/tmp/tree/link"]).await.well(),
            "plain.txt\n"
        );
        let stat = |path: &str| bench.phone.files(|files| files.stat(path, false));
        let plain = stat("/data/local/tmp/tree/plain.txt").expect("there");
        assert_eq!((plain.kind, plain.modified), (FileType::File, THEN));
        let back = bench.path("back");
        bench.adb(&["pull", "-a", "/data/local/tmp/tree", &back]).await.well();
        let (mut sent, returned) = (listed(Path::new(&here)), listed(Path::new(&back)));
        // An empty folder is pushed only if adb and phone support it (the feature
        // `fixed_push_mkdir`).
        if stat("/data/local/tmp/tree/empty").is_err() {
            sent.retain(|(name, _)| name != "empty");
        }
        assert!(sent == returned, "{:?}", names(&returned));
        let modified = fs::metadata(format!("{back}/plain.txt")).expect("there").modified();
        let modified = modified.expect("output_of").duration_since(SystemTime::UNIX_EPOCH);
        assert_eq!(modified.expect("after"), Duration::from_secs(THEN));
    })
    .await;
}

fn names(list: &[(String, Option<Vec<u8>>)]) -> Vec<&str> {
    list.iter().map(|(name, _)| name.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn single_files_arrive_at_their_target() {
    each(async |bench: &Bench| {
        let here = bench.path("tree");
        tree(Path::new(&here));
        let path = |name: &str| format!("{here}/{name}");
        // Several files at once, into an existing folder.
        let (one, two) = (path("plain.txt"), path("run.sh"));
        bench.adb(&["push", &one, &two, "/data/local/tmp"]).await.well();
        let ran = bench.adb(&["shell", "/data/local/tmp/run.sh there"]).await;
        assert_eq!(ran.well(), "ran there\n");
        // The second time only newer files.
        let changed = |files: &mut Files| {
            files.write("/data/local/tmp/plain.txt", b"other\n", 0o666)?;
            files.set_modified("/data/local/tmp/plain.txt", true, THEN)
        };
        bench.phone.files(changed).expect("changed");
        bench.adb(&["push", "--sync", &one, &two, "/data/local/tmp"]).await.well();
        assert_eq!(bench.adb(&["shell", "cat /data/local/tmp/plain.txt"]).await.well(), "other\n");
        let far = bench.adb(&["shell", "stat -c '%a %s %Y' /data/local/tmp/plain.txt"]).await;
        // adbd gives everyone the owner's permissions.
        assert_eq!(far.well(), format!("666 6 {THEN}\n"));
        // Parent folders are created.
        bench.adb(&["push", &one, "/sdcard/a/b/c.txt"]).await.well();
        assert_eq!(bench.adb(&["shell", "cat /sdcard/a/b/c.txt"]).await.well(), "plain\n");
        // Pulls several at once.
        let out = bench.path("out");
        fs::create_dir(&out).expect("made");
        bench.adb(&["pull", "/sdcard/a/b/c.txt", "/data/local/tmp/run.sh", &out]).await.well();
        assert_eq!(names(&listed(Path::new(&out))), ["c.txt", "run.sh"]);
        let ls = bench.adb(&["ls", "/sdcard/a/b"]).await.well();
        let mut rows: Vec<Vec<&str>> =
            ls.lines().map(|line| line.split_whitespace().collect()).collect();
        rows.retain(|row| row.last() == Some(&"c.txt"));
        assert_eq!(rows[0][1..3], ["00000006", &format!("{THEN:08x}")], "{ls}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_transfers_get_androids_errors() {
    each(async |bench: &Bench| {
        let here = bench.path("file");
        fs::write(&here, "x").expect("written");
        let refused = async |arguments: &[&str], text: &str| {
            let output = bench.adb(arguments).await;
            assert!(output.status == Some(1) && output.both().contains(text), "{text}: {output:?}");
        };
        refused(&["push", &here, "/system/x"], "Read-only file system").await;
        refused(&["push", &here, "/data/x"], "Permission denied").await;
        refused(&["push", &bench.path("no such"), "/sdcard/x"], "cannot stat").await;
        let nowhere = "failed to stat remote object '/sdcard/nowhere': No such file or directory";
        refused(&["pull", "/sdcard/nowhere", &bench.path("x")], nowhere).await;
        refused(&["pull", "/data/system/x", &bench.path("x")], "remote object").await;
        assert!(!Path::new(&bench.path("x")).exists());
    })
    .await;
}
