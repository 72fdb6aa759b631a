//! scrcpy's server on the wire: what a client of each release gets and does, byte by byte.

use crate::common::Wired;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use std::io::Write as _;
use std::time::Duration;
use thumbwire_adb::{Stream, Transport as _};
use thumbwire_virtual_phone::{LogLine, World};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

const JAR: &str = "/data/local/tmp/scrcpy-server.jar";
const OLD_OPTIONS: &str = "info 800 8000000 0 -1 true - true true 0 false false - - false";

/// The part of a scrcpy-server that this phone reads: its class and its release.
pub(crate) fn server(version: &str) -> Vec<u8> {
    let class = "\x1eLcom/genymobile/scrcpy/Server;\0";
    let dex = format!("dex\n035\0{class}The server version ({version}) does not match\0");
    let mut bytes = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut bytes);
    let file = archive.new_file("classes.dex").compression_method(CompressionMethod::STORE);
    let (mut entry, config) = file.start().expect("an entry");
    let mut writer = config.wrap(&mut entry);
    writer.write_all(dex.as_bytes()).expect("it is memory");
    let (_, descriptor) = writer.finish().expect("it is memory");
    entry.finish(descriptor).expect("it is memory");
    archive.finish().expect("it is memory");
    bytes
}

fn command(version: &str, options: &str) -> String {
    format!("CLASSPATH={JAR} app_process / com.genymobile.scrcpy.Server {version} {options}")
}

/// A client with its shell and sockets.
struct Client {
    _shell: Stream,
    video: Stream,
    control: Stream,
}

async fn exact<const N: usize>(stream: &mut Stream) -> [u8; N] {
    let mut bytes = [0; N];
    let read = timeout(Duration::from_secs(60), stream.read_exact(&mut bytes)).await;
    read.expect("it hangs").expect("bytes");
    bytes
}

impl Client {
    /// Starts the server, which listens, and connects.
    async fn start(wired: &Wired, version: &str, options: &str) -> Self {
        let jar = server(version);
        wired.phone.files(|files| files.write(JAR, &jar, 0o644)).expect("there is room");
        let shell = format!("shell:{}", command(version, options));
        let mut shell = wired.adb.open(&shell).await.expect("a shell");
        exact::<20>(&mut shell).await;
        let mut video = connected(wired).await;
        assert_eq!(exact(&mut video).await, [0], "the dummy byte");
        let control = connected(wired).await;
        Self { _shell: shell, video, control }
    }

    /// The time of the next packet with its flags, and what it has after the start code. Pictures
    /// that only repeat the one before are passed over.
    async fn packet(&mut self) -> (u64, Vec<u8>) {
        loop {
            let time = u64::from_be_bytes(exact(&mut self.video).await);
            let length = u32::from_be_bytes(exact(&mut self.video).await) as usize;
            let mut body = vec![0; length];
            self.video.read_exact(&mut body).await.expect("a packet");
            assert_eq!(body[..4], [0, 0, 0, 1]);
            if length > REPEATED {
                return (time, body.split_off(4));
            }
        }
    }

    async fn send(&mut self, bytes: &[u8]) {
        self.control.write_all(bytes).await.expect("sent");
    }

    /// A finger of 3.3 on a video of 360x800.
    async fn touch(&mut self, action: u8, pointer: u64, x: u32, y: u32) {
        let mut bytes = vec![2, action];
        bytes.extend(pointer.to_be_bytes());
        bytes.extend([x, y, 360 << 16 | 800].map(u32::to_be_bytes).concat());
        bytes.extend([0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
        self.send(&bytes).await;
    }
}

/// A connection to the server, as soon as it listens.
async fn connected(wired: &Wired) -> Stream {
    for _ in 0..1_000 {
        if let Ok(stream) = wired.adb.open("localabstract:scrcpy").await {
            return stream;
        }
        tokio::task::yield_now().await;
    }
    panic!("nobody listens");
}

/// Waits until the phone is so.
async fn until<T>(wired: &Wired, look: impl Fn(&mut World) -> Option<T>) -> T {
    for _ in 0..10_000 {
        if let Some(found) = wired.phone.world(&look) {
            return found;
        }
        tokio::task::yield_now().await;
    }
    panic!("it does not become so");
}

const V3: &str = "max_size=800 audio=false tunnel_forward=true";
/// Maximum bytes of a picture that repeats the one before.
const REPEATED: usize = 16;
const CONFIG: u64 = 1 << 63;
const KEY_FRAME: u64 = 1 << 62;

#[tokio::test(start_paused = true)]
async fn video_begins_as_in_each_release() {
    for (version, options) in
        [("1.20", OLD_OPTIONS), ("1.24", "max_size=800 tunnel_forward=true"), ("3.3.4", V3)]
    {
        let wired = Wired::new();
        let mut client = Client::start(&wired, version, options).await;
        let name: [u8; 64] = exact(&mut client.video).await;
        assert!(name.starts_with(b"Virtual Pixel\0"), "{version}");
        match version {
            "3.3.4" => assert_eq!(exact(&mut client.video).await, *b"h264\0\0\x01\x68\0\0\x03\x20"),
            _ => assert_eq!(exact(&mut client.video).await, [1, 0x68, 3, 0x20], "{version}"),
        }
        let (time, sets) = client.packet().await;
        assert_eq!((time, sets[0] & 31), (CONFIG, 7), "{version}");
        let (time, picture) = client.packet().await;
        assert_eq!((time & KEY_FRAME != 0, picture[0] & 31), (version != "1.20", 5), "{version}");
        wired.stdout("input tap 660 1600").await;
        let (time, picture) = client.packet().await;
        assert_eq!((time & (CONFIG | KEY_FRAME), picture[0] & 31), (0, 1), "{version}");
    }
}

#[tokio::test(start_paused = true)]
async fn fingers_keys_and_texts_reach_the_phone() {
    let wired = Wired::new();
    let mut client = Client::start(&wired, "3.3.3", V3).await;
    wired.phone.world(|world| world.start("com.android.notes", None)).expect("an app");
    // Its button for a new note.
    for action in [0, 1] {
        client.touch(action, 5, 321, 740).await;
    }
    until(&wired, |world| world.focused_text()).await;
    client.send("\x01\0\0\0\x08Né 😀".as_bytes()).await;
    let key = |action, code, meta| {
        [&[0, action][..], &[code, 0, meta].map(u32::to_be_bytes).concat()].concat()
    };
    // KEYCODE_A and KEYCODE_1 with shift.
    for code in [29, 8] {
        client.send(&key(0, code, 1)).await;
        client.send(&key(1, code, 1)).await;
    }
    until(&wired, |world| world.focused_text().filter(|text| text == "Né A!")).await;
    client.send(b"\x09\0\0\0\0\0\0\0\x07\x01\0\0\0\x02+1").await;
    assert_eq!(exact(&mut client.control).await, [1, 0, 0, 0, 0, 0, 0, 0, 7]);
    let typed = wired.phone.world(|world| world.focused_text());
    assert_eq!(typed.as_deref(), Some("Né A!+1"));
    wired.phone.world(|world| world.set_clipboard("copied"));
    assert_eq!(exact(&mut client.control).await, *b"\0\0\0\0\x06copied");
    client.send(&[4, 0, 4, 1]).await;
    client.send(&[5]).await;
    until(&wired, |world| world.shade_shown().then_some(())).await;
    client.send(&[7, 11]).await;
    until(&wired, |world| (world.display().rotation == 1).then_some(())).await;
    assert!(!wired.phone.world(|world| world.shade_shown()));
}

#[tokio::test(start_paused = true)]
async fn two_fingers_pinch_and_a_wheel_scrolls() {
    let wired = Wired::new();
    let mut client = Client::start(&wired, "3.3.4", V3).await;
    let starts = |package| wired.phone.world(|world| world.start(package, None)).expect("an app");
    starts("com.google.android.apps.maps");
    for (action, spread) in [(0, 40), (2, 90), (2, 135), (1, 135)] {
        client.touch(action, 1, 180 - spread, 400).await;
        client.touch(action, 2, 180 + spread, 400).await;
    }
    let pinched = |world: &mut World| {
        let text = |line: &LogLine| line.text.starts_with("pinch 540,1200 by 1.50");
        world.log().lines().any(text).then_some(())
    };
    until(&wired, pinched).await;
    starts("com.google.android.contacts");
    let before = wired.phone.world(|world| world.scene().clone());
    let place = [180, 400, 360 << 16 | 800].map(u32::to_be_bytes).concat();
    client.send(&[&[3][..], &place, &[0, 0, 0xf0, 0, 0, 0, 0, 0]].concat()).await;
    until(&wired, |world| (*world.scene() != before).then_some(())).await;
}

#[tokio::test(start_paused = true)]
async fn rotation_and_reset_begin_again_with_a_key_frame() {
    let wired = Wired::new();
    let mut client = Client::start(&wired, "3.3.4", V3).await;
    exact::<76>(&mut client.video).await;
    let (_, upright) = client.packet().await;
    client.packet().await;
    wired.phone.world(|world| world.set_rotation(1));
    let (time, turned) = client.packet().await;
    assert_eq!(time, CONFIG);
    assert_ne!(upright, turned, "another size");
    assert_eq!(client.packet().await.0 & KEY_FRAME, KEY_FRAME);
    client.send(&[17]).await;
    assert_eq!(client.packet().await, (CONFIG, turned));
    assert_eq!(client.packet().await.0 & KEY_FRAME, KEY_FRAME);
}

#[tokio::test(start_paused = true)]
async fn other_releases_are_refused_in_the_words_of_the_server() {
    let wired = Wired::new();
    for (of_server, of_client, named) in [("3.3.4", "2.4", "3.3.4"), ("4.1", "4.1", "3.3.4")] {
        let jar = server(of_server);
        wired.phone.files(|files| files.write(JAR, &jar, 0o644)).expect("there is room");
        let (status, _, error) = wired.all(&command(of_client, "scid=1")).await;
        let why = format!("The server version ({named}) does not match the client ({of_client})");
        assert_eq!(status, 1);
        assert!(error.starts_with(&format!("[server] ERROR: {why}\n")), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn hostile_bytes_end_only_their_client() {
    for bytes in [&[0xee; 100][..], b"\x01\xff\xff\xff\xff", &[2; 31], b"\x0c\0\0\0\0\0\0\xff"] {
        let wired = Wired::new();
        let mut client = Client::start(&wired, "3.3.4", V3).await;
        client.send(bytes).await;
        // It may have ended already.
        let _ = client.control.write_all(&vec![b'a'; 1 << 19]).await;
        let mut rest = Vec::new();
        let ended = timeout(Duration::from_secs(60), client.video.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "it does not end: {bytes:?}");
        assert_eq!(wired.stdout("echo alive").await, "alive\n");
        assert_eq!(wired.stdout("pidof app_process || echo none").await, "none\n");
    }
}
