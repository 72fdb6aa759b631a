//! Our host end with our phone end, in memory and over TCP: services and transports.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::{TinyPhone, pattern, text};
use thumbwire_adb::services::shell::{OutputChunk, RunningCommand, read_to_end, run_with_limits};
use thumbwire_adb::services::sync::{FileSync, details, list, pull, push, stat};
use thumbwire_adb::wire::sync::{Entry, emit_entry};
use thumbwire_adb::{CommandOutput, DirectTransport, Error, Transport, exec, run};
use thumbwire_base::Io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn in_memory() -> DirectTransport {
    DirectTransport::from_io(TinyPhone::modern().pipe())
}

#[tokio::test]
async fn output_errors_and_status_are_separate() {
    let output = run(&in_memory(), "both").await.unwrap();
    let expected =
        CommandOutput { stdout: b"out\n".to_vec(), stderr: b"err\n".to_vec(), status: Some(9) };
    assert_eq!(output, expected);
}

#[tokio::test]
async fn shell_v1_merges_output_and_has_no_status() {
    let old = DirectTransport::from_io(TinyPhone::default().pipe());
    let output = run(&old, "both").await.unwrap();
    assert_eq!(
        output,
        CommandOutput { stdout: b"out\nerr\n".to_vec(), stderr: Vec::new(), status: None }
    );
}

#[tokio::test]
async fn reading_command_gets_end_of_input() {
    assert_eq!(run(&in_memory(), "cat").await.unwrap().status, Some(0));
}

#[tokio::test]
async fn cat_echoes_its_input() {
    let phone = in_memory();
    let mut stream = phone.open("shell:cat").await.unwrap();
    stream.write_all(b"there and back").await.unwrap();
    let mut back = [0; 14];
    stream.read_exact(&mut back).await.unwrap();
    assert_eq!(&back, b"there and back");
}

#[tokio::test]
async fn too_much_output_is_refused() {
    let phone = in_memory();
    let error = run_with_limits(&phone, "flood 300000", 200_000).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit: 200_000, .. }));
    let output = run_with_limits(&phone, "flood 300000", 300_000).await.unwrap();
    assert_eq!(output.stdout.len(), 300_000);
    let stream = exec(&phone, "flood 300000").await.unwrap();
    assert!(matches!(read_to_end(stream, 299_999).await, Err(Error::TooLarge { .. })));
    let stream = exec(&phone, "flood 300000").await.unwrap();
    assert_eq!(read_to_end(stream, 300_000).await.unwrap().len(), 300_000);
}

#[tokio::test]
async fn running_command_streams_output_and_repeats_its_end() {
    let phone = in_memory();
    let mut both = RunningCommand::start(&phone, "both").await.unwrap();
    assert_eq!(both.next().await.unwrap(), OutputChunk::Out("out\n".into()));
    assert_eq!(both.next().await.unwrap(), OutputChunk::Err("err\n".into()));
    for _ in 0..2 {
        assert_eq!(both.next().await.unwrap(), OutputChunk::End(Some(9)));
    }
    let old = DirectTransport::from_io(TinyPhone::default().pipe());
    let mut output = RunningCommand::start(&old, "say x").await.unwrap();
    assert_eq!(output.next().await.unwrap(), OutputChunk::Out("x".into()));
    for _ in 0..2 {
        assert_eq!(output.next().await.unwrap(), OutputChunk::End(None));
    }
}

#[tokio::test]
async fn dropping_a_running_command_hangs_up() {
    let phone = TinyPhone::modern();
    let host = DirectTransport::from_io(phone.pipe());
    let hanging = RunningCommand::start(&host, "hang").await.unwrap();
    run(&host, "say x").await.unwrap();
    assert_eq!(phone.left_alone.load(Ordering::SeqCst), 0);
    drop(hanging);
    while phone.left_alone.load(Ordering::SeqCst) == 0 {
        run(&host, "say x").await.unwrap();
    }
}

#[tokio::test]
async fn unknown_service_is_refused_by_name() {
    let error = in_memory().open("abb_exec:package").await.err();
    assert!(matches!(error, Some(Error::Refused { service, .. }) if service == "abb_exec:package"));
}

#[tokio::test]
async fn phone_sends_its_banner() {
    let phone = in_memory();
    assert_eq!(phone.banner().await.unwrap().model(), Some("Tiny Phone"));
    assert!(phone.features().await.unwrap().has("shell_v2"));
}

#[tokio::test]
async fn cancelling_host_ends_its_command() {
    let phone = TinyPhone::modern();
    let host = Arc::new(DirectTransport::from_io(phone.pipe()));
    let hanging = tokio::spawn({
        let host = host.clone();
        async move { run(&*host, "hang").await }
    });
    // The reply to a later command shows that the first one is running.
    run(&*host, "say x").await.unwrap();
    hanging.abort();
    while phone.left_alone.load(Ordering::SeqCst) == 0 {
        run(&*host, "say x").await.unwrap();
    }
    assert_eq!(run(&*host, "exit 3").await.unwrap().status, Some(3));
}

#[tokio::test]
async fn files_round_trip() {
    for address in [None, Some(TinyPhone::modern().listen().await)] {
        let phone = address.map_or_else(in_memory, DirectTransport::tcp);
        for length in [0, 1, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 5 * 1024 * 1024] {
            let sent = pattern(length);
            let pushed = push(&phone, "/sdcard/f", 0o640, 1_700_000_000, &sent[..]).await;
            assert_eq!(pushed, Ok(length as u64));
            assert!(pull(&phone, "/sdcard/f", length).await.unwrap() == sent, "{length} bytes");
            let out = stat(&phone, "/sdcard/f").await.unwrap();
            assert_eq!((out.mode, out.size as usize), (0o100_640, length));
            assert_eq!(out.mtime, 1_700_000_000);
        }
    }
}

#[tokio::test]
async fn too_large_file_is_refused() {
    let phone = in_memory();
    push(&phone, "/sdcard/f", 0o644, 0, &pattern(100_000)[..]).await.unwrap();
    let error = pull(&phone, "/sdcard/f", 99_999).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }));
}

#[tokio::test]
async fn folders_are_listed() {
    let phone = in_memory();
    for name in ["a.txt", "b with spaces", "ü.bin"] {
        push(&phone, &format!("/sdcard/{name}"), 0o644, 7, name.as_bytes()).await.unwrap();
    }
    let listed = list(&phone, "/sdcard").await.unwrap();
    let names: Vec<&str> = listed.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["a.txt", "b with spaces", "ü.bin"]);
    assert_eq!(listed[0].stat.size, 5);
    assert!(stat(&phone, "/sdcard").await.unwrap().is_folder());
    assert!(!stat(&phone, "/nothing").await.unwrap().exists());
    assert_eq!(list(&phone, "/nothing").await.unwrap(), []);
}

#[tokio::test]
async fn failure_carries_the_phones_message_and_ends_the_stream() {
    let phone = in_memory();
    let mut sync = FileSync::open(&phone).await.unwrap();
    let large = pattern(2_000_000);
    let error = sync.push("/system/x", 0o644, 0, &large[..]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "push \"/system/x\": \"couldn't create file: Read-only file system\""
    );
    let error = sync.stat("/sdcard").await.unwrap_err();
    assert!(matches!(error, Error::Disconnected { .. }), "{error:?}");
    let mut sync = FileSync::open(&phone).await.unwrap();
    let error = sync.pull("/nothing", tokio::io::sink()).await.unwrap_err();
    assert!(error.to_string().contains("No such file or directory"));
    let mut sync = FileSync::open(&phone).await.unwrap();
    sync.push("/sdcard/x", 0o644, 0, &b"fine"[..]).await.unwrap();
    let mut back = Vec::new();
    assert_eq!(sync.pull("/sdcard/x", &mut back).await, Ok(4));
    assert_eq!(back, b"fine");
}

#[tokio::test]
async fn cancelled_call_does_not_answer_the_next() {
    let phone = in_memory();
    push(&phone, "/sdcard/x", 0o644, 0, &b"fine"[..]).await.unwrap();
    let mut sync = FileSync::open(&phone).await.unwrap();
    assert!(futures::FutureExt::now_or_never(sync.stat("/sdcard/x")).is_none());
    let stale = sync.stat("/nothing").await;
    assert!(matches!(stale, Err(Error::Disconnected { .. })), "{stale:?}");

    let mut sync = FileSync::open(&phone).await.unwrap();
    let mut room = [0; 2];
    let error = sync.pull("/sdcard/x", std::io::Cursor::new(&mut room[..])).await.unwrap_err();
    assert!(matches!(error, Error::Local { .. }), "{error:?}");
    assert!(sync.stat("/nothing").await.is_err());
}

#[tokio::test]
async fn overlong_path_is_not_sent() {
    let long = "/".repeat(1025);
    assert!(matches!(stat(&in_memory(), &long).await, Err(Error::TooLarge { .. })));
    assert!(stat(&in_memory(), &long[1..]).await.is_ok());
}

#[tokio::test]
async fn path_with_nul_is_not_sent() {
    let phone = in_memory();
    let error = push(&phone, "/sdcard/a\0b", 0o644, 0, &b"x"[..]).await.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error:?}");
    assert_eq!(list(&phone, "/sdcard").await.unwrap(), []);
}

#[tokio::test]
async fn unknown_sync_request_gets_a_reason() {
    let phone = in_memory();
    let mut stream = phone.open("sync:").await.unwrap();
    stream.write_all(b"STA2\x01\0\0\0/").await.unwrap();
    // adbd's message: the id as a number.
    assert!(text(stream).await.ends_with("unknown command 32415453"));
    let mut stream = phone.open("sync:").await.unwrap();
    stream.write_all(b"WHAT\x01\0\0\0/").await.unwrap();
    assert!(text(stream).await.ends_with("unknown command 54414857"));
}

#[tokio::test]
async fn concurrent_uploads_do_not_mix() {
    let phone = Arc::new(in_memory());
    let uploads: Vec<_> = (0..20usize)
        .map(|n| {
            let phone = phone.clone();
            tokio::spawn(async move {
                let sent = pattern(300_000 + n);
                let path = format!("/sdcard/{n}");
                push(&*phone, &path, 0o644, 0, &sent[n..]).await.unwrap();
                assert!(pull(&*phone, &path, 400_000).await.unwrap() == sent[n..]);
            })
        })
        .collect();
    for upload in uploads {
        upload.await.unwrap();
    }
}

/// A phone on a cable that can be unplugged, and how often it was plugged in.
struct Cable {
    phone: TinyPhone,
    plugged: AtomicBool,
    connected: AtomicUsize,
    serving: std::sync::Mutex<Option<tokio::task::JoinHandle<()>>>,
}

impl Cable {
    fn to(phone: TinyPhone) -> Arc<Self> {
        Arc::new(Self {
            phone,
            plugged: AtomicBool::new(true),
            connected: AtomicUsize::new(0),
            serving: std::sync::Mutex::new(None),
        })
    }

    fn host(self: &Arc<Self>) -> DirectTransport {
        let cable = self.clone();
        DirectTransport::with_connector("the cable", move || {
            let cable = cable.clone();
            async move {
                // As slow as real sockets, so that callers overlap.
                tokio::task::yield_now().await;
                cable.connected.fetch_add(1, Ordering::SeqCst);
                if !cable.plugged.load(Ordering::SeqCst) {
                    return Err(Error::NotReachable {
                        address: "the cable".into(),
                        reason: "pulled".into(),
                    });
                }
                let (near, far) = tokio::io::duplex(64 * 1024);
                let phone = Arc::new(cable.phone.clone());
                let serving =
                    tokio::spawn(
                        async move { drop(thumbwire_adb::daemon::serve(far, phone).await) },
                    );
                *cable.serving.lock().unwrap() = Some(serving);
                Ok(Box::new(near) as Box<dyn Io>)
            }
        })
    }

    fn pull(&self) {
        self.plugged.store(false, Ordering::SeqCst);
        self.serving.lock().unwrap().take().unwrap().abort();
    }

    fn plug(&self) {
        self.plugged.store(true, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn unplugging_breaks_the_call_and_replugging_recovers() {
    let cable = Cable::to(TinyPhone::modern());
    let host = cable.host();
    let mut stream = host.open("shell:cat").await.unwrap();
    cable.pull();
    let error = stream.read(&mut [0; 8]).await.unwrap_err();
    assert!(matches!(Error::from_io(error), Error::Disconnected { .. }));
    let error = run(&host, "say x").await.unwrap_err();
    assert!(matches!(error, Error::NotReachable { .. }), "{error:?}");
    cable.plug();
    assert_eq!(run(&host, "say back").await.unwrap().stdout, b"back");
    assert_eq!(cable.connected.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn concurrent_callers_share_one_connection() {
    let cable = Cable::to(TinyPhone::modern());
    let host = Arc::new(cable.host());
    let calls = (0..10).map(|_| run(&*host, "exit 4"));
    for said in futures::future::join_all(calls).await {
        assert_eq!(said.unwrap().status, Some(4));
    }
    assert_eq!(cable.connected.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn concurrent_callers_share_one_failure() {
    let cable = Cable::to(TinyPhone::modern());
    cable.plugged.store(false, Ordering::SeqCst);
    let host = Arc::new(cable.host());
    let calls = (0..10).map(|_| run(&*host, "exit 4"));
    for said in futures::future::join_all(calls).await {
        assert!(matches!(said, Err(Error::NotReachable { .. })));
    }
    assert_eq!(cable.connected.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn silent_phone_is_reconnected() {
    // The first connection sends CNXN and then nothing; the second one works.
    let connected = Arc::new(AtomicUsize::new(0));
    let host = DirectTransport::with_connector("a sleeper", {
        let connected = connected.clone();
        move || {
            let first = connected.fetch_add(1, Ordering::SeqCst) == 0;
            async move {
                if !first {
                    return Ok(Box::new(TinyPhone::modern().pipe()) as Box<dyn Io>);
                }
                let (near, mut far) = tokio::io::duplex(4096);
                tokio::spawn(async move {
                    let mut greeting = bytes::BytesMut::new();
                    thumbwire_adb::wire::packet::emit(
                        &mut greeting,
                        thumbwire_adb::wire::packet::Command::Cnxn,
                        thumbwire_adb::wire::packet::VERSION,
                        4096,
                        b"device::features=shell_v2",
                        true,
                    );
                    far.write_all(&greeting).await.unwrap();
                    std::future::pending::<()>().await;
                });
                Ok(Box::new(near) as Box<dyn Io>)
            }
        }
    });
    let answer = tokio::time::timeout(Duration::from_secs(5), run(&host, "say x")).await;
    assert!(answer.is_err(), "the caller's deadline ended it");
    let again = tokio::time::timeout(Duration::from_secs(5), run(&host, "say x")).await;
    assert_eq!(again.expect("the silent connection is used again").unwrap().stdout, b"x");
    assert_eq!(connected.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn silent_phone_recovers_without_reconnecting() {
    let (near, mut middle) = tokio::io::duplex(64 * 1024);
    let mut far = TinyPhone::modern().pipe();
    let host = DirectTransport::from_io(near);
    let greeted = async {
        tokio::select! {
            greeted = host.features() => greeted.unwrap(),
            _ = tokio::io::copy_bidirectional(&mut middle, &mut far) => unreachable!(),
        }
    };
    greeted.await;
    // Nothing arrives for a while.
    let patience = Duration::from_secs(5);
    assert!(tokio::time::timeout(patience, host.open("shell:cat")).await.is_err());
    assert!(matches!(host.open("shell:cat").await, Err(Error::NotReachable { .. })));
    tokio::spawn(async move { tokio::io::copy_bidirectional(&mut middle, &mut far).await });
    tokio::time::advance(patience).await;
    assert_eq!(run(&host, "say awake").await.unwrap().stdout, b"awake");
}

#[tokio::test]
async fn garbage_from_a_host_disconnects_it() {
    let mut host = TinyPhone::modern().pipe();
    host.write_all(b"GET / HTTP/1.1\r\nHost: phone\r\n\r\n").await.unwrap();
    let mut output = Vec::new();
    host.read_to_end(&mut output).await.unwrap();
    assert_eq!(output, b"");
}

#[tokio::test]
async fn garbage_from_a_phone_is_quoted() {
    let (near, mut far) = tokio::io::duplex(4096);
    tokio::spawn(async move {
        far.write_all(b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n").await.unwrap();
        far.read_to_end(&mut Vec::new()).await.unwrap();
    });
    let error = DirectTransport::from_io(near).features().await.unwrap_err();
    assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
}

/// A phone that sends one chunk `times` times on every stream, whatever is requested.
fn parrot(piece: Vec<u8>, times: usize) -> DirectTransport {
    struct Parrot(Vec<u8>, usize);
    impl thumbwire_adb::daemon::Services for Parrot {
        fn banner(&self) -> thumbwire_adb::Banner {
            TinyPhone::modern().banner()
        }
        fn open(
            &self,
            _service: &str,
        ) -> Result<thumbwire_adb::daemon::Handler, thumbwire_adb::daemon::ServiceRefused> {
            let (piece, times) = (self.0.clone(), self.1);
            Ok(thumbwire_adb::daemon::handler(async move |stream| {
                for _ in 0..times {
                    if stream.write_frame(&piece, &[]).await.is_err() {
                        return;
                    }
                }
            }))
        }
    }
    let (near, far) = tokio::io::duplex(1024 * 1024);
    tokio::spawn(thumbwire_adb::daemon::serve(far, Arc::new(Parrot(piece, times))));
    DirectTransport::from_io(near)
}

#[tokio::test]
async fn host_frame_from_a_phone_is_not_quoted_in_full() {
    let mut frame = vec![0, 0xff, 0xff, 0, 0];
    frame.resize(30_000, b'x');
    let error = run(&parrot(frame, 1), "id").await.unwrap_err();
    assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
    assert!(error.to_string().len() < 200);
}

#[tokio::test]
async fn endless_listing_is_refused() {
    let mut entry = bytes::BytesMut::new();
    let name = "x".repeat(60_000);
    let stat = Default::default();
    emit_entry(&mut entry, &Entry { name, stat });
    let phone = parrot(entry.to_vec(), 1000);
    let error = list(&phone, "/sdcard").await.unwrap_err();
    assert!(matches!(&error, Error::TooLarge { .. }), "{error}");
}

#[tokio::test]
async fn shell_without_a_status_is_an_error() {
    struct Abrupt;
    impl thumbwire_adb::daemon::Services for Abrupt {
        fn banner(&self) -> thumbwire_adb::Banner {
            TinyPhone::modern().banner()
        }
        fn open(
            &self,
            _service: &str,
        ) -> Result<thumbwire_adb::daemon::Handler, thumbwire_adb::daemon::ServiceRefused> {
            Ok(thumbwire_adb::daemon::handler(async |stream| {
                stream.write_frame(b"\x01\x04\0\0\0", b"half").await.unwrap();
            }))
        }
    }
    let (near, far) = tokio::io::duplex(4096);
    tokio::spawn(thumbwire_adb::daemon::serve(far, Arc::new(Abrupt)));
    let error = run(&DirectTransport::from_io(near), "say x").await.unwrap_err();
    assert!(matches!(error, Error::Disconnected { .. }));
    assert!(error.may_have_happened());
}

#[tokio::test]
async fn exit_ends_the_stream_with_an_open_output() {
    use thumbwire_adb::daemon::{
        Handler, ServiceRefused, Services, handler, serve, shell::ShellIo,
    };
    struct Holding;
    impl Services for Holding {
        fn banner(&self) -> thumbwire_adb::Banner {
            TinyPhone::modern().banner()
        }
        fn open(&self, _service: &str) -> Result<Handler, ServiceRefused> {
            Ok(handler(async |stream| {
                let ShellIo { stdout, control, .. } = ShellIo::new(stream);
                control.exit(5).await;
                std::future::pending::<()>().await;
                drop(stdout);
            }))
        }
    }
    let (near, far) = tokio::io::duplex(4096);
    tokio::spawn(serve(far, Arc::new(Holding)));
    let mut stream = DirectTransport::from_io(near).open("shell,v2,raw:x").await.unwrap();
    let mut output = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut output)).await;
    read.expect("the stream stays open").unwrap();
    assert_eq!(output, [3, 1, 0, 0, 0, 5]);
}

#[tokio::test]
async fn aborted_upload_leaves_no_file() {
    let phone = TinyPhone::modern();
    let host = DirectTransport::from_io(phone.pipe());
    let mut stream = host.open("sync:").await.unwrap();
    stream.write_all(b"SEND\x0f\0\0\0/sdcard/f,33188DATA\x04\0\0\0half").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(list(&host, "/sdcard").await.unwrap(), []);
}

#[tokio::test]
async fn ended_pipe_is_not_reachable() {
    let (near, far) = tokio::io::duplex(64);
    drop(far);
    let host = DirectTransport::from_io(near);
    for _ in 0..2 {
        assert!(matches!(host.features().await, Err(Error::NotReachable { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn phone_without_cnxn_is_not_reachable_and_safe_to_retry() {
    let (near, _far) = tokio::io::duplex(4096);
    let error = run(&DirectTransport::from_io(near), "input tap 1 1").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "reach the phone: it accepts connections but did not answer ADB's greeting within 10s"
    );
    assert!(!error.may_have_happened());
}

#[tokio::test]
async fn closed_port_is_not_reachable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = DirectTransport::tcp(&address).features().await.unwrap_err();
    assert!(matches!(error, Error::NotReachable { address: named, .. } if named == address));
}

#[tokio::test]
async fn panicking_service_leaves_the_phone_running() {
    struct Fragile;
    impl thumbwire_adb::daemon::Services for Fragile {
        fn banner(&self) -> thumbwire_adb::Banner {
            thumbwire_adb::Banner::default()
        }
        fn open(
            &self,
            service: &str,
        ) -> Result<thumbwire_adb::daemon::Handler, thumbwire_adb::daemon::ServiceRefused> {
            let breaks = service == "break:";
            Ok(thumbwire_adb::daemon::handler(async move |mut stream| {
                assert!(!breaks, "a broken program (this panic is part of the test)");
                stream.write_all(b"well").await.unwrap();
            }))
        }
    }
    let (near, far) = tokio::io::duplex(4096);
    tokio::spawn(thumbwire_adb::daemon::serve(far, Arc::new(Fragile)));
    let host = DirectTransport::from_io(near);
    let broken = host.open("break:").await.unwrap();
    assert_eq!(text(broken).await, "");
    assert_eq!(text(host.open("whole:").await.unwrap()).await, "well");
}

#[tokio::test]
async fn phone_without_version_2_gets_version_1() {
    let phone = in_memory();
    push(&phone, "/sdcard/f", 0o640, 7, &b"five!"[..]).await.unwrap();
    let out = details(&phone, "/sdcard/f").await.unwrap();
    assert_eq!((out.mode, out.size, out.mtime), (0o100_640, 5, 7));
    assert!(matches!(details(&phone, "/nothing").await, Err(Error::Phone { .. })));
}

#[tokio::test]
async fn returning_phone_is_reconnected() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let phone = TinyPhone::modern();
    let serve = async |listener: tokio::net::TcpListener| {
        let (socket, _) = listener.accept().await.unwrap();
        let served = tokio::spawn(thumbwire_adb::daemon::serve(socket, Arc::new(phone.clone())));
        served.abort_handle()
    };
    let host = DirectTransport::tcp(address.to_string());
    let (said, served) = tokio::join!(run(&host, "exit 3"), serve(listener));
    assert_eq!(said.unwrap().status, Some(3));
    let mut held = exec(&host, "cat").await.unwrap();
    served.abort();
    assert!(held.read_u8().await.is_err(), "open streams break");
    for _ in 0..2 {
        let error = run(&host, "exit 3").await.unwrap_err();
        assert!(matches!(error, Error::NotReachable { .. }), "{error}");
        assert!(!error.may_have_happened());
    }
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    let (said, _served) = tokio::join!(run(&host, "exit 4"), serve(listener));
    assert_eq!(said.unwrap().status, Some(4));
}
