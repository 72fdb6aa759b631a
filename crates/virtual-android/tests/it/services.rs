//! Services of adbd other than the shell: system services by `abb`, files by sync version 2, the
//! framebuffer, the lists of debuggable processes.

use crate::common::Wired;
use thumbwire_adb::Transport;
use thumbwire_adb::services::sync::{details, pull, push};
use thumbwire_virtual_android::Setup;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn all(wired: &Wired, service: &str) -> Vec<u8> {
    let (mut stream, mut stdout) = (wired.adb.open(service).await.unwrap(), Vec::new());
    stream.read_to_end(&mut stdout).await.unwrap();
    stdout
}

#[tokio::test]
async fn abb_passes_arguments_unchanged() {
    let wired = Wired::new();
    let value = "two  words; $(id) 'x' *";
    let put = format!("abb_exec:settings\0put\0system\0a_note\0{value}");
    assert_eq!(all(&wired, &put).await, b"");
    let got = all(&wired, "abb_exec:settings\0get\0system\0\0a_note\0").await;
    assert_eq!(got, format!("{value}\n").into_bytes());
    let record = &wired.phone.commands()[0];
    assert_eq!(record.service, "abb_exec");
    assert_eq!(record.argv, ["cmd", "settings", "put", "system", "a_note", value]);
    assert_eq!(record.status, Some(0));
    // Shell v2 framing: standard error, and a status of 20.
    let output = all(&wired, "abb:nothing\0x").await;
    let frames = b"\x02\x24\0\0\0cmd: Can't find service: nothing";
    assert!(output.starts_with(&frames[..1]), "{output:?}");
    assert!(output.ends_with(b"\x03\x01\0\0\0\x14"), "{output:?}");
    for release in ["4.4", "9"] {
        let old = Wired::made(Setup::of_release(release).unwrap());
        assert!(old.adb.open("abb_exec:settings").await.is_err(), "{release}");
    }
}

#[tokio::test]
async fn sync_and_shell_agree_on_files() {
    let wired = Wired::new();
    push(&wired.adb, "/data/local/tmp/f", 0o640, 1_700_000_000, &b"five!"[..]).await.unwrap();
    let out = details(&wired.adb, "/data/local/tmp/f").await.unwrap();
    // adbd gives everyone the owner's permissions.
    assert_eq!(out.mode, 0o100_666);
    assert_eq!((out.size, out.mtime, out.links), (5, 1_700_000_000, 1));
    assert_eq!((out.user, out.group), (2000, 2000));
    let other = details(&wired.adb, "/data/local/tmp").await.unwrap();
    assert_ne!(out.inode, other.inode);
    assert_eq!(out.device, other.device);
    for (path, reason) in [
        ("/sdcard/nothing", "No such file or directory"),
        ("/data/local/tmp/f/x", "Not a directory"),
    ] {
        let error = details(&wired.adb, path).await.unwrap_err();
        assert!(error.to_string().ends_with(&format!("{reason:?}")), "{error}");
    }
}

#[tokio::test]
async fn files_are_compressed_as_the_release_supports() {
    // The flags of brotli, lz4 and zstd.
    for (release, served) in [("14", &[1_u32, 2, 4][..]), ("11", &[1]), ("9", &[])] {
        let wired = Wired::made(Setup::of_release(release).unwrap());
        push(&wired.adb, "/sdcard/f", 0o644, 7, &b"five!"[..]).await.unwrap();
        for flag in [1_u32, 2, 4] {
            let request =
                [&b"RCV2\x09\0\0\0/sdcard/fRCV2"[..], &flag.to_le_bytes(), b"QUIT\0\0\0\0"];
            let mut stream = wired.adb.open("sync:").await.unwrap();
            stream.write_all(&request.concat()).await.unwrap();
            let mut reply = Vec::new();
            stream.read_to_end(&mut reply).await.unwrap();
            let expected = if served.contains(&flag) { b"DATA" } else { b"FAIL" };
            assert_eq!(reply[..4], expected[..], "Android {release}, flag {flag}");
        }
    }
}

#[tokio::test]
async fn pushed_links_and_files_replace_each_other() {
    let wired = Wired::new();
    let link = |target: &str| {
        let path = "/data/local/tmp/here,41471";
        let mut sent = b"SEND".to_vec();
        sent.extend((path.len() as u32).to_le_bytes());
        sent.extend(path.as_bytes());
        sent.extend(b"DATA");
        sent.extend((target.len() as u32 + 1).to_le_bytes());
        sent.extend(target.as_bytes());
        sent.extend(b"\0DONE\x07\0\0\0QUIT\0\0\0\0");
        sent
    };
    push(&wired.adb, "/data/local/tmp/target", 0o644, 7, &b"there"[..]).await.unwrap();
    push(&wired.adb, "/data/local/tmp/here", 0o644, 7, &b"here"[..]).await.unwrap();
    for target in ["/data/local/tmp/nothing", "/data/local/tmp/target"] {
        let mut stream = wired.adb.open("sync:").await.unwrap();
        stream.write_all(&link(target)).await.unwrap();
        let mut output = Vec::new();
        stream.read_to_end(&mut output).await.unwrap();
        assert_eq!(output, b"OKAY\0\0\0\0");
        let shown = wired.stdout("readlink /data/local/tmp/here").await;
        assert_eq!(shown, format!("{target}\n"));
    }
    let out = details(&wired.adb, "/data/local/tmp/here").await.unwrap();
    assert_eq!((out.mode, out.mtime), (0o120_777, 7));
    assert_eq!(pull(&wired.adb, "/data/local/tmp/here", 10).await.unwrap(), b"there");
    push(&wired.adb, "/data/local/tmp/here", 0o644, 7, &b"a file"[..]).await.unwrap();
    assert_eq!(pull(&wired.adb, "/data/local/tmp/target", 10).await.unwrap(), b"there");
    assert_eq!(pull(&wired.adb, "/data/local/tmp/here", 10).await.unwrap(), b"a file");
}

#[tokio::test]
async fn framebuffer_equals_screencap() {
    for (release, words, before) in [("14", 14, 16), ("4.4", 13, 0)] {
        let wired = Wired::made(Setup::of_release(release).unwrap());
        let output = all(&wired, "framebuffer:").await;
        let (head, pixels) = output.split_at(words * 4);
        assert_eq!(u32::from(head[0]), if release == "14" { 2 } else { 1 });
        let size =
            usize::try_from(u32::from_le_bytes(head[words * 4 - 44..][..4].try_into().unwrap()));
        assert_eq!(size.unwrap(), pixels.len());
        if before > 0 {
            let capture = all(&wired, "exec:screencap").await;
            assert!(capture[before..] == *pixels);
        }
    }
}

#[tokio::test]
async fn no_app_is_debuggable() {
    let wired = Wired::new();
    assert_eq!(all(&wired, "jdwp").await, b"");
    for service in ["track-jdwp", "track-app"] {
        let mut stream = wired.adb.open(service).await.unwrap();
        let mut four = [0; 4];
        stream.read_exact(&mut four).await.unwrap();
        assert_eq!(&four, b"0000");
        // It stays open for those who wait for a change.
        assert!(futures::FutureExt::now_or_never(stream.read_exact(&mut four)).is_none());
    }
    let old = Wired::made(Setup::of_release("11").unwrap());
    assert!(old.adb.open("track-app").await.is_err());
    assert!(old.adb.open("track-jdwp").await.is_ok());
}
