//! Sync version 2, our host with our phone: compression both ways, links, dry runs, and metadata.
//! Other clients are tested in `virtual-phone`.

use crate::common::{TinyPhone, pattern, pull_compressed, push_compressed, text};
use bytes::{Bytes, BytesMut};
use thumbwire_adb::daemon::compress::{Compression, Stored};
use thumbwire_adb::daemon::sync::RequestV2 as Request;
use thumbwire_adb::services::sync::{FileSync, details, pull};
use thumbwire_adb::wire::sync::{emit_data, emit_done};
use thumbwire_adb::{DirectTransport, Error, Features, Transport};
use tokio::io::AsyncWriteExt;

const ALL: &str = "shell_v2,cmd,stat_v2,ls_v2,sendrecv_v2,sendrecv_v2_brotli,sendrecv_v2_lz4,\
                   sendrecv_v2_zstd,sendrecv_v2_dry_run_send";

fn phone(features: &str) -> (TinyPhone, DirectTransport) {
    let phone = TinyPhone { features: Features::read(features), ..TinyPhone::default() };
    let pipe = phone.pipe();
    (phone, DirectTransport::from_io(pipe))
}

/// The phone's reply to these bytes.
async fn answer(adb: &DirectTransport, bytes: &[u8]) -> String {
    let mut stream = adb.open("sync:").await.unwrap();
    stream.write_all(bytes).await.unwrap();
    text(stream).await
}

#[tokio::test]
async fn files_round_trip_with_every_compression() {
    let (phone, adb) = phone(ALL);
    for compression in [Compression::None, Compression::Brotli, Compression::Lz4, Compression::Zstd]
    {
        for length in [0, 1, 64 * 1024 + 1, 1_000_000] {
            let sent = [pattern(length / 2), vec![7; length - length / 2]].concat();
            push_compressed(&adb, "/sdcard/f", compression, &sent).await;
            assert!(phone.store.0.lock().unwrap()["/sdcard/f"].1 == sent);
            let back = pull_compressed(&adb, "/sdcard/f", compression).await;
            assert!(back == sent, "{compression:?} {length}");
        }
    }
}

#[tokio::test]
async fn stat_returns_full_sizes_and_errors() {
    let (phone, adb) = phone(ALL);
    let mut sync = FileSync::open(&adb).await.unwrap();
    sync.push("/sdcard/f", 0o640, 7, &b"five!"[..]).await.unwrap();
    phone.store.0.lock().unwrap().get_mut("/sdcard/f").unwrap().0.size = 5 << 32;
    let out = details(&adb, "/sdcard/f").await.unwrap();
    assert_eq!((out.mode, out.size, out.mtime), (0o100_640, 5 << 32, 7));
    let error = details(&adb, "/nothing").await.unwrap_err();
    assert_eq!(error.to_string(), "stat \"/nothing\": \"No such file or directory\"");
    // Version 1 has only 32 bits.
    assert_eq!(sync.stat("/sdcard/f").await.unwrap().size, 0);
}

#[tokio::test]
async fn phone_serves_what_it_announces() {
    let (_, adb) = phone("shell_v2,cmd,stat_v2,sendrecv_v2,sendrecv_v2_lz4");
    assert!(details(&adb, "/sdcard").await.is_ok());
    let ask = |request: Request| {
        let mut out = BytesMut::new();
        request.emit(&mut out);
        out
    };
    let path = || "/sdcard".to_owned();
    for (request, words) in [
        (Request::List(path()), "unknown command 3253494c"),
        (Request::Recv { path: path(), compression: Compression::Zstd }, "unknown flags: 4"),
        (
            Request::Send {
                path: path(),
                mode: 0o644,
                compression: Compression::Lz4,
                dry_run: true,
            },
            "unknown flags: -2147483648",
        ),
    ] {
        let output = answer(&adb, &ask(request)).await;
        assert!(output.ends_with(words), "{output:?}");
    }
    let (_, adb) = self::phone("shell_v2,cmd,stat_v2");
    let asked = Request::Recv { path: path(), compression: Compression::Zstd };
    assert!(answer(&adb, &ask(asked)).await.ends_with("unknown command 32564352"));
}

#[tokio::test]
async fn dry_run_leaves_no_file_and_links_are_created() {
    let (phone, adb) = phone(ALL);
    let mut out = BytesMut::new();
    let send = |mode, dry_run| Request::Send {
        path: "/sdcard/f".into(),
        mode,
        compression: Compression::Lz4,
        dry_run,
    };
    let mut packed = BytesMut::new();
    let mut stored = Stored::new(Compression::Lz4);
    stored.push(b"gone", &mut packed);
    stored.finish(&mut packed);
    send(0o100_644, true).emit(&mut out);
    emit_data(&mut out, &packed);
    emit_done(&mut out, 7);
    out.extend_from_slice(b"QUIT\0\0\0\0");
    assert_eq!(answer(&adb, &out).await, "OKAY\0\0\0\0");
    assert!(phone.store.0.lock().unwrap().is_empty());

    // adb sends the target with the NUL of its C string, and never compresses it.
    out.clear();
    send(0o120_777, false).emit(&mut out);
    emit_data(&mut out, b"/sdcard/target\0");
    emit_done(&mut out, 7);
    out.extend_from_slice(b"QUIT\0\0\0\0");
    assert_eq!(answer(&adb, &out).await, "OKAY\0\0\0\0");
    let link = phone.store.0.lock().unwrap()["/sdcard/f"].clone();
    assert_eq!((link.0.mode, link.0.mtime), (0o120_777, 7));
    assert_eq!(link.1, Bytes::from_static(b"/sdcard/target"));
}

#[tokio::test]
async fn malformed_data_is_refused_at_once_and_drained() {
    let (phone, adb) = phone(ALL);
    let mut out = BytesMut::new();
    Request::Send {
        path: "/sdcard/f".into(),
        mode: 0o644,
        compression: Compression::Zstd,
        dry_run: false,
    }
    .emit(&mut out);
    for _ in 0..40 {
        emit_data(&mut out, &[9; 60_000]);
    }
    emit_done(&mut out, 7);
    assert_eq!(answer(&adb, &out).await, "FAIL\x11\0\0\0decompress failed");
    assert!(phone.store.0.lock().unwrap().is_empty());
    let error = pull(&adb, "/sdcard/f", 10).await.unwrap_err();
    assert!(matches!(error, Error::Phone { .. }), "{error:?}");
}
