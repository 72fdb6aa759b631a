//! The host's half of the helper against a phone that speaks the wire as its description says, written here by hand: frames of two lengths,
//! a JSON header and a body; `hello`, `courier`, `cancel`, `bye`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_adb::daemon::{self, Handler, Refused, Services, handler};
use thumbwire_adb::wire::shell::{Id, emit};
use thumbwire_adb::{Banner, Direct, Features, LinkStream};
use thumbwire_device::android::Android;
use thumbwire_device::{
    Acted, Answer, AppId, Component, Delivery, Device as _, Error, Letter, Undelivered,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

const JAR: &str = "/data/local/tmp/thumbwire-helper-1.jar";
const LIMIT: Duration = Duration::from_secs(10);

/// What the helper does with a request other than `hello`; it may say nothing, several things, or break off.
type Manner = fn(&Value) -> Vec<Said>;

enum Said {
    /// A frame with this header.
    Header(Value),
    /// These bytes.
    Bytes(Vec<u8>),
    /// It dies.
    Death,
}

/// A phone with a helper of some manners.
struct Phone {
    old: bool,
    lies_there: AtomicBool,
    listens: bool,
    hello: fn(&Value) -> Value,
    manner: Manner,
    looked: AtomicUsize,
    starts: AtomicUsize,
    /// Name and token of the last start.
    started: Mutex<(String, String)>,
    heard: Mutex<Vec<Value>>,
    hears: Notify,
    /// Ends the program.
    ends: Mutex<Option<mpsc::Sender<()>>>,
    programs: AtomicUsize,
}

fn good_hello(_: &Value) -> Value {
    json!({ "ok": true, "proto": 1, "sdk": 34, "uid": 2000, "ops": ["courier", "cancel", "bye"], "new": {} })
}

impl Phone {
    fn with(manner: Manner) -> Self {
        Self {
            old: false,
            lies_there: AtomicBool::new(true),
            listens: true,
            hello: good_hello,
            manner,
            looked: AtomicUsize::new(0),
            starts: AtomicUsize::new(0),
            started: Mutex::default(),
            heard: Mutex::default(),
            hears: Notify::new(),
            ends: Mutex::default(),
            programs: AtomicUsize::new(0),
        }
    }

    async fn attach(self) -> (Arc<Self>, Arc<Android>) {
        let phone = Arc::new(self);
        let (near, far) = tokio::io::duplex(1 << 16);
        tokio::spawn(daemon::serve(far, Arc::new(Shared(Arc::clone(&phone)))));
        let device = Android::attach("helped", Arc::new(Direct::over(near))).await.unwrap();
        (phone, Arc::new(device))
    }

    fn heard(&self, op: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|said| said["op"] == op).cloned().collect()
    }

    async fn until_heard(&self, op: &str, times: usize) {
        loop {
            let hears = self.hears.notified();
            if self.heard(op).len() >= times {
                return;
            }
            hears.await;
        }
    }

    /// `sync:`, version 1, and of it what tells of a file.
    async fn sync(self: Arc<Self>, mut stream: LinkStream) {
        let mut head = [0; 8];
        while stream.read_exact(&mut head).await.is_ok() {
            let length = u32::from_le_bytes(head[4..].try_into().unwrap());
            let mut path = vec![0; length as usize];
            stream.read_exact(&mut path).await.unwrap();
            assert_eq!((&head[..4], &*path), (&b"STAT"[..], JAR.as_bytes()));
            self.looked.fetch_add(1, Ordering::SeqCst);
            let mode = if self.lies_there.load(Ordering::SeqCst) { 0o100_444_u32 } else { 0 };
            let stat = [mode, 14_000, 0].map(u32::to_le_bytes).concat();
            stream.write_all(&[&b"STAT"[..], &stat].concat()).await.unwrap();
        }
    }

    /// Everything in the shell: `getprop`, and the program.
    async fn shell(self: Arc<Self>, command: String, mut stream: LinkStream) {
        let framed = !self.old;
        let out = move |words: &str| {
            let mut bytes = bytes::BytesMut::new();
            match framed {
                true => emit(&mut bytes, Id::Stdout, words.as_bytes()),
                false => bytes.extend_from_slice(words.replace('\n', "\r\n").as_bytes()),
            }
            bytes
        };
        if command.starts_with("getprop") {
            stream.write_all(&out(if self.old { "19\n" } else { "34\n" })).await.unwrap();
        } else {
            let (_, name) = command.rsplit_once(' ').unwrap();
            assert!(command.contains("exec app_process /system/bin org.thumbwire.helper.Main"));
            assert!(command.contains(&format!("CLASSPATH={JAR}")), "{command}");
            let name = name.trim_matches('\'').to_owned();
            assert!(name.len() == 26 && name.starts_with("thumbwire-"), "{name}");
            self.starts.fetch_add(1, Ordering::SeqCst);
            let mut token = vec![0; if framed { 5 + 33 } else { 33 }];
            stream.read_exact(&mut token).await.unwrap();
            let token = String::from_utf8(token.split_off(token.len() - 33)).unwrap();
            assert!(token.ends_with('\n') && !command.contains(token.trim()), "not in `ps`");
            if self.old {
                // The terminal gives it back.
                stream.write_all(&out(&token)).await.unwrap();
            }
            *self.started.lock().unwrap() = (name, token.trim().to_owned());
            if !self.listens {
                stream.write_all(&out("Error: no such class\nAborted\n")).await.unwrap();
            } else {
                let (end, mut ended) = mpsc::channel(1);
                *self.ends.lock().unwrap() = Some(end);
                self.programs.fetch_add(1, Ordering::SeqCst);
                let words = "WARNING: linker: x\nready\n";
                stream.write_all(&out(words)).await.unwrap();
                let mut rest = [0; 9];
                tokio::select! {
                    _ = ended.recv() => stream.write_all(&out("Killed\n")).await.unwrap(),
                    _ = stream.read(&mut rest) => {}
                }
                self.programs.fetch_sub(1, Ordering::SeqCst);
                self.hears.notify_waiters();
            }
        }
        if framed {
            let mut end = bytes::BytesMut::new();
            emit(&mut end, Id::Exit, &[0]);
            let _ = stream.write_all(&end).await;
        }
    }

    async fn socket(self: Arc<Self>, mut stream: LinkStream) {
        let mut lengths = [0; 8];
        while stream.read_exact(&mut lengths).await.is_ok() {
            let [header, body] = [0, 4]
                .map(|at| u32::from_be_bytes(lengths[at..at + 4].try_into().unwrap()) as usize);
            let mut said = vec![0; header + body];
            stream.read_exact(&mut said).await.unwrap();
            let said: Value = serde_json::from_slice(&said[..header]).unwrap();
            self.heard.lock().unwrap().push(said.clone());
            self.hears.notify_waiters();
            let answers = if said["op"] == "hello" {
                let token = self.started.lock().unwrap().1.clone();
                assert_eq!((&said["token"], &said["proto"]), (&json!(token), &json!(1)));
                vec![answer(&said, (self.hello)(&said))]
            } else {
                (self.manner)(&said)
            };
            for one in answers {
                match one {
                    Said::Header(header) => stream.write_all(&frame(&header)).await.unwrap(),
                    Said::Bytes(bytes) => stream.write_all(&bytes).await.unwrap(),
                    Said::Death => {
                        let end = self.ends.lock().unwrap().clone().unwrap();
                        end.send(()).await.unwrap();
                        return;
                    }
                }
            }
        }
    }
}

fn frame(header: &Value) -> Vec<u8> {
    let header = header.to_string();
    let length = u32::try_from(header.len()).unwrap().to_be_bytes();
    [&length[..], &[0; 4], header.as_bytes()].concat()
}

/// The answer to a request, with its number.
fn answer(said: &Value, mut answer: Value) -> Said {
    answer["id"] = said["id"].clone();
    Said::Header(answer)
}

struct Shared(Arc<Phone>);

impl Services for Shared {
    fn banner(&self) -> Banner {
        let features = if self.0.old { "" } else { "shell_v2" };
        Banner::phone("p", "Helped", "d", Features::read(features))
    }

    fn open(&self, service: &str) -> Result<Handler, Refused> {
        let phone = Arc::clone(&self.0);
        let service = service.trim_end_matches('\0');
        let listening = format!("localabstract:{}", phone.started.lock().unwrap().0);
        if service == "sync:" {
            return Ok(handler(async move |stream| phone.sync(stream).await));
        }
        if service == listening {
            return Ok(handler(async move |stream| phone.socket(stream).await));
        }
        let shell = if phone.old { "shell:" } else { "shell,v2,raw:" };
        let command = service.strip_prefix(shell).ok_or(Refused)?.to_owned();
        Ok(handler(async move |stream| phone.shell(command, stream).await))
    }
}

fn letter(value: &str) -> Letter {
    Letter {
        to: Component { app: AppId("com.x".into()), class: "com.x.Tool".into() },
        extras: vec![("request".into(), value.into())],
        callbacks: vec!["mcp_callback".into(), "callback".into()],
        wanted: vec!["response".into()],
    }
}

/// Answers with what it was asked.
fn echo(said: &Value) -> Vec<Said> {
    match said["op"].as_str().unwrap() {
        "courier" => {
            let asked = said["extras"][0][1].clone();
            let extras = json!([["response", asked], ["unasked", "x"]]);
            vec![answer(said, json!({ "ok": true, "code": 7, "extras": extras, "uid": 10123 }))]
        }
        _ => vec![answer(said, json!({ "ok": true }))],
    }
}

fn answered(value: &str) -> Delivery {
    let extras = vec![("response".to_owned(), value.to_owned())];
    Delivery::Answered(Answer { code: 7, extras, uid: Some(10123) })
}

#[tokio::test]
async fn a_letter_goes_there_and_its_answer_comes_back() {
    for old in [false, true] {
        let phone = Phone { old, ..Phone::with(echo) };
        let (phone, device) = phone.attach().await;
        for value in ["{\"é\":\"漢字 😀\"}", "second"] {
            assert_eq!(device.courier(&letter(value), LIMIT).await.unwrap(), answered(value));
        }
        assert_eq!(phone.starts.load(Ordering::SeqCst), 1, "started at the first, then kept");
        let asked = &phone.heard("courier")[0];
        assert_eq!(asked["component"], "com.x/com.x.Tool");
        assert_eq!(asked["callbacks"], json!(["mcp_callback", "callback"]));
        assert_eq!(asked["wanted"], json!(["response"]));
        assert_eq!(asked["limit_ms"], 10_000);
        device.settle().await;
        assert_eq!(phone.heard("bye").len(), 1);
        phone.until_gone().await;
    }
}

impl Phone {
    async fn until_gone(&self) {
        loop {
            let hears = self.hears.notified();
            if self.programs.load(Ordering::SeqCst) == 0 {
                return;
            }
            hears.await;
        }
    }
}

#[tokio::test]
async fn answers_out_of_order_find_their_askers_and_the_helper_is_started_once_for_all() {
    /// Keeps every answer back until the last was asked.
    fn backwards(said: &Value) -> Vec<Said> {
        static KEPT: Mutex<Vec<Value>> = Mutex::new(Vec::new());
        let mut kept = KEPT.lock().unwrap();
        kept.push(said.clone());
        if kept.len() < 20 {
            return Vec::new();
        }
        // Each of them twice.
        kept.drain(..).rev().flat_map(|said| [echo(&said), echo(&said)]).flatten().collect()
    }
    let (phone, device) = Phone::with(backwards).attach().await;
    let asking = (0..20).map(|nth| {
        let device = Arc::clone(&device);
        tokio::spawn(async move {
            let value = format!("number {nth}");
            assert_eq!(device.courier(&letter(&value), LIMIT).await.unwrap(), answered(&value));
        })
    });
    for asked in asking.collect::<Vec<_>>() {
        asked.await.unwrap();
    }
    assert_eq!(phone.starts.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_helpers_codes_are_what_came_of_the_letter() {
    fn by_code(said: &Value) -> Vec<Said> {
        let code = said["extras"][0][1].clone();
        vec![answer(said, json!({ "error": code, "says": "its words", "try": "advice" }))]
    }
    let (_, device) = Phone::with(by_code).attach().await;
    let words = || "its words".to_owned();
    for (code, expected) in [
        ("timeout", Delivery::Silent),
        ("not_found", Delivery::Not(Undelivered::NotFound)),
        ("refused", Delivery::Not(Undelivered::Refused(words()))),
        ("background", Delivery::Not(Undelivered::Background(words()))),
        ("too_large", Delivery::Not(Undelivered::TooLarge { most: 200_000 })),
    ] {
        assert_eq!(device.courier(&letter(code), LIMIT).await.unwrap(), expected, "{code}");
    }
    let error = device.courier(&letter("internal"), LIMIT).await.unwrap_err();
    assert!(matches!(&error, Error::Failed { said, .. } if said.contains("its words")), "{error}");
    let error = device.courier(&letter("unsupported"), LIMIT).await.unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}

#[tokio::test]
async fn a_phone_without_the_helper_is_told_so_and_asked_again_after_a_minute() {
    tokio::time::pause();
    let (phone, device) = Phone::with(echo).attach().await;
    phone.lies_there.store(false, Ordering::SeqCst);
    for _ in 0..3 {
        let error = device.courier(&letter("x"), LIMIT).await.unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert_eq!(error.acted(), Acted::No);
    }
    assert_eq!(phone.looked.load(Ordering::SeqCst), 1);
    assert_eq!(phone.starts.load(Ordering::SeqCst), 0);
    phone.lies_there.store(true, Ordering::SeqCst);
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(device.courier(&letter("x"), LIMIT).await.unwrap(), answered("x"));
}

#[tokio::test]
async fn what_is_too_large_is_not_sent() {
    let (phone, device) = Phone::with(echo).attach().await;
    let came = device.courier(&letter(&"x".repeat(200_001)), LIMIT).await.unwrap();
    assert_eq!(came, Delivery::Not(Undelivered::TooLarge { most: 200_000 }));
    assert_eq!(phone.starts.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_helper_that_dies_fails_all_that_wait_and_the_next_letter_starts_another() {
    fn dies(said: &Value) -> Vec<Said> {
        match said["extras"][0][1].as_str().unwrap() {
            "die" => vec![Said::Death],
            "wait" => Vec::new(),
            _ => echo(said),
        }
    }
    let (phone, device) = Phone::with(dies).attach().await;
    let waits = {
        let device = Arc::clone(&device);
        tokio::spawn(async move { device.courier(&letter("wait"), LIMIT).await })
    };
    phone.until_heard("courier", 1).await;
    let dies = device.courier(&letter("die"), LIMIT).await;
    for failed in [dies, waits.await.unwrap()] {
        let error = failed.unwrap_err();
        assert_eq!(error.acted(), Acted::Maybe);
        assert!(error.to_string().contains("Killed"), "{error}");
    }
    assert_eq!(phone.heard("courier").len(), 2, "nothing was asked twice");
    assert_eq!(device.courier(&letter("x"), LIMIT).await.unwrap(), answered("x"));
    assert_eq!(phone.starts.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn garbage_ends_the_connection_and_is_named() {
    fn garbage(said: &Value) -> Vec<Said> {
        match said["extras"][0][1].as_str().unwrap() {
            "long" => vec![Said::Bytes(vec![0xFF; 8])],
            "list" => vec![Said::Bytes(b"\0\0\0\x02\0\0\0\0[]".to_vec())],
            "no id" => vec![Said::Header(json!({ "ok": true }))],
            "neither" => vec![answer(said, json!({}))],
            "cut" => vec![Said::Bytes(b"\0\0\0\x09\0\0".to_vec()), Said::Death],
            _ => echo(said),
        }
    }
    let (phone, device) = Phone::with(garbage).attach().await;
    let cases = [
        ("long", "8589934590 bytes"),
        ("list", "no JSON object: []"),
        ("no id", "without the id"),
        ("neither", "neither ok nor"),
        ("cut", "closed"),
    ];
    for (nth, (value, named)) in cases.into_iter().enumerate() {
        let error = device.courier(&letter(value), LIMIT).await.unwrap_err();
        let named = error.to_string().contains(named) || value == "cut";
        assert!(named && error.acted() == Acted::Maybe, "{value}: {error}");
        assert_eq!(device.courier(&letter("x"), LIMIT).await.unwrap(), answered("x"));
        assert_eq!(phone.starts.load(Ordering::SeqCst), nth + 2);
    }
}

#[tokio::test]
async fn an_answer_of_another_form_is_our_gap_and_the_connection_stays() {
    fn odd(said: &Value) -> Vec<Said> {
        match said["extras"][0][1].as_str().unwrap() {
            "odd" => vec![answer(said, json!({ "ok": true, "code": "seven" }))],
            _ => echo(said),
        }
    }
    let (phone, device) = Phone::with(odd).attach().await;
    let error = device.courier(&letter("odd"), LIMIT).await.unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
    assert_eq!(device.courier(&letter("x"), LIMIT).await.unwrap(), answered("x"));
    assert_eq!(phone.starts.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn who_goes_away_has_the_helper_told_so() {
    fn silent(said: &Value) -> Vec<Said> {
        if said["op"] == "courier" { Vec::new() } else { echo(said) }
    }
    let (phone, device) = Phone::with(silent).attach().await;
    let waits = {
        let device = Arc::clone(&device);
        tokio::spawn(async move { device.courier(&letter("x"), LIMIT).await })
    };
    phone.until_heard("courier", 1).await;
    waits.abort();
    phone.until_heard("cancel", 1).await;
    assert_eq!(phone.heard("cancel")[0]["of"], phone.heard("courier")[0]["id"]);
}

#[tokio::test]
async fn a_helper_that_does_not_answer_in_its_time_may_have_acted() {
    fn silent(said: &Value) -> Vec<Said> {
        if said["op"] == "courier" { Vec::new() } else { echo(said) }
    }
    let (phone, device) = Phone::with(silent).attach().await;
    tokio::time::pause();
    let began = Instant::now();
    let error = device.courier(&letter("x"), LIMIT).await.unwrap_err();
    assert!(began.elapsed() >= LIMIT && began.elapsed() <= LIMIT + Duration::from_secs(3));
    assert_eq!(error.acted(), Acted::Maybe);
    phone.until_heard("cancel", 1).await;
}

#[tokio::test]
async fn a_helper_that_does_not_come_up_is_told_with_its_words_and_nothing_was_sent() {
    let phone = Phone { listens: false, ..Phone::with(echo) };
    let (_, device) = phone.attach().await;
    let error = device.courier(&letter("x"), LIMIT).await.unwrap_err();
    assert!(error.to_string().contains("no such class"), "{error}");
    assert_eq!(error.acted(), Acted::No);
}

#[tokio::test]
async fn a_helper_that_does_not_take_the_token_or_speaks_otherwise_is_not_used() {
    fn refuses(_: &Value) -> Value {
        json!({ "error": "refused", "says": "not the token", "try": "" })
    }
    fn newer(_: &Value) -> Value {
        json!({ "ok": true, "proto": 2, "ops": ["courier"] })
    }
    fn without(_: &Value) -> Value {
        json!({ "ok": true, "proto": 1, "ops": ["tools"] })
    }
    for (hello, told) in [
        (refuses as fn(&Value) -> Value, "not the token"),
        (newer, "another version"),
        (without, "another version"),
    ] {
        let phone = Phone { hello, ..Phone::with(echo) };
        let (phone, device) = phone.attach().await;
        let error = device.courier(&letter("x"), LIMIT).await.unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!(error.acted(), Acted::No);
        assert!(phone.heard("courier").is_empty());
        phone.until_gone().await;
    }
}

#[tokio::test]
async fn a_start_outlives_who_asked_for_it_and_an_old_silence_starts_anew() {
    let (phone, device) = Phone::with(echo).attach().await;
    {
        let letter = letter("gone");
        let mut asked = Box::pin(device.courier(&letter, LIMIT));
        // Until the phone was asked for its level, and the start has begun.
        while phone.starts.load(Ordering::SeqCst) == 0 {
            let hears = phone.hears.notified();
            tokio::select! {
                _ = &mut asked => panic!("too early"),
                () = hears => {}
                () = tokio::task::yield_now() => {}
            }
        }
    }
    assert_eq!(device.courier(&letter("x"), LIMIT).await.unwrap(), answered("x"));
    assert_eq!(phone.starts.load(Ordering::SeqCst), 1);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(55)).await;
    assert_eq!(device.courier(&letter("y"), LIMIT).await.unwrap(), answered("y"));
    assert_eq!(phone.starts.load(Ordering::SeqCst), 2);
}

/// The connection stays: others may hold it.
#[tokio::test]
async fn a_handle_that_is_dropped_ends_its_helper() {
    let phone = Arc::new(Phone::with(echo));
    let (near, far) = tokio::io::duplex(1 << 16);
    tokio::spawn(daemon::serve(far, Arc::new(Shared(Arc::clone(&phone)))));
    let direct: Arc<Direct> = Arc::new(Direct::over(near));
    let device = Android::attach("helped", Arc::<Direct>::clone(&direct)).await.unwrap();
    device.courier(&letter("x"), LIMIT).await.unwrap();
    drop(device);
    phone.until_gone().await;
}
