//! Clients that send and do not read, over in-memory pipes. The clock is paused: a time-out passes
//! once nothing moves.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_core::action::{Action, Call, Cause, Failure, Outcome, Perform};
use thumbwire_core::toolset::mobile;
use thumbwire_device::{Format, Image, Key, Screenshot, Size};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex,
    split,
};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::*;
use crate::server::serve;

/// Until when everything has certainly stopped.
const STILL: Duration = Duration::from_secs(1);

/// How long pressing Back takes.
const SLOW: Duration = Duration::from_secs(20);

/// A picture has this size. A key press waits until it is cancelled, except Home and Back.
struct Phone {
    picture: usize,
    begun: Arc<AtomicUsize>,
    cancelled: mpsc::UnboundedSender<()>,
}

#[async_trait]
impl Perform for Phone {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        match action {
            Action::Press(Key::Home) => Ok(Outcome::Done),
            Action::Press(Key::Back) => {
                timeout(SLOW, std::future::pending::<()>()).await.unwrap_err();
                Ok(Outcome::Done)
            }
            Action::Press(_) => {
                call.cancelled.cancelled().await;
                let _ = self.cancelled.send(());
                Err(Cause::Cancelled.into())
            }
            _ => {
                let image = Image { format: Format::Png, bytes: vec![0; self.picture].into() };
                let size = Size { width: 1, height: 1 };
                Ok(Outcome::Screenshot(Screenshot { image, size, blank: None }))
            }
        }
    }
}

struct Pipes {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    begun: Arc<AtomicUsize>,
    cancelled: mpsc::UnboundedReceiver<()>,
}

impl Pipes {
    /// An initialized client of a phone with pictures of this size.
    async fn open(picture: usize) -> Self {
        let (ours, theirs) = duplex(64 << 10);
        let begun = Arc::new(AtomicUsize::new(0));
        let (cancelling, cancelled) = mpsc::unbounded_channel();
        let phone = Phone { picture, begun: Arc::clone(&begun), cancelled: cancelling };
        let (reader, writer) = split(theirs);
        tokio::spawn(serve(Arc::new(mobile::toolset()), Arc::new(phone), reader, writer));
        let (reader, writer) = split(ours);
        let mut pipes = Self { reader: BufReader::new(reader), writer, begun, cancelled };
        let client = json!({ "name": "test", "version": "0" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        pipes
            .write(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }))
            .await;
        assert_eq!(pipes.reply().await, Some(0));
        pipes.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        pipes
    }

    async fn write(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn press(&mut self, id: usize, key: &str) {
        self.write(&call(id, "mobile_press_key", &json!({ "key": key }))).await;
    }

    async fn cancel(&mut self, id: usize) {
        let params = json!({ "requestId": id });
        self.write(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
        )
        .await;
    }

    /// The id of the next reply; `None` if none comes.
    async fn reply(&mut self) -> Option<u64> {
        let mut line = String::new();
        timeout(STILL, self.reader.read_line(&mut line)).await.ok()?.unwrap();
        let reply: Value = serde_json::from_str(&line).ok()?;
        assert!(reply["result"]["isError"] != true && reply.get("error").is_none(), "{line}");
        reply["id"].as_u64()
    }

    /// How many calls have begun once nothing moves.
    async fn begun(&self) -> usize {
        timeout(STILL, std::future::pending::<()>()).await.unwrap_err();
        self.begun.load(Ordering::SeqCst)
    }
}

fn call(id: usize, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[tokio::test(start_paused = true)]
async fn client_that_does_not_read_is_not_read_either() {
    const CALLS: usize = 3000;
    let mut pipes = Pipes::open(8 << 10).await;
    let mut writer = std::mem::replace(&mut pipes.writer, split(duplex(1).0).1);
    let sending = tokio::spawn(async move {
        for id in 1..=CALLS {
            let line = format!("{}\n", call(id, "mobile_take_screenshot", &json!({})));
            writer.write_all(line.as_bytes()).await.unwrap();
        }
        writer
    });
    let begun = pipes.begun().await;
    assert!((1..=REQUESTS + 8).contains(&begun), "{begun} calls have begun");
    assert!(!sending.is_finished());
    let mut replied = BTreeSet::new();
    while replied.len() < CALLS {
        replied.insert(pipes.reply().await.expect("every call has a reply"));
    }
    assert_eq!(replied.last(), Some(&(CALLS as u64)));
    assert!(sending.is_finished());
}

#[tokio::test(start_paused = true)]
async fn unread_bytes_are_limited_too() {
    const CALLS: usize = 6;
    let mut pipes = Pipes::open(3 << 20).await;
    for id in 1..=CALLS {
        pipes.write(&call(id, "mobile_take_screenshot", &json!({}))).await;
        pipes.begun().await;
    }
    assert_eq!(pipes.begun().await, 2, "two replies of 4 MiB wait");
    for _ in 1..=CALLS {
        assert!(pipes.reply().await.is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn cancellation_overtakes_waiting_requests() {
    let mut pipes = Pipes::open(0).await;
    for id in 1..=REQUESTS {
        pipes.press(id, "volume_up").await;
    }
    pipes.press(100, "home").await;
    pipes.press(101, "home").await;
    assert_eq!(pipes.begun().await, REQUESTS, "the others wait");
    pipes.cancel(100).await;
    pipes.cancel(1).await;
    assert_eq!(pipes.cancelled.recv().await, Some(()));
    assert_eq!(pipes.reply().await, Some(101), "one place is free");
    assert_eq!(pipes.begun().await, REQUESTS + 1, "a cancelled request is never begun");
    pipes.cancel(2).await;
    assert_eq!(pipes.cancelled.recv().await, Some(()));
    assert_eq!(pipes.reply().await, None, "a cancelled request gets no reply");
}

#[tokio::test(start_paused = true)]
async fn requests_before_the_end_are_answered() {
    let mut pipes = Pipes::open(16 << 10).await;
    let mut writer = std::mem::replace(&mut pipes.writer, split(duplex(1).0).1);
    let sending = tokio::spawn(async move {
        for id in 1..=REQUESTS + WAITING {
            let line = format!("{}\n", call(id, "mobile_take_screenshot", &json!({})));
            writer.write_all(line.as_bytes()).await.unwrap();
        }
        writer.shutdown().await.unwrap();
    });
    sending.await.unwrap();
    let mut replied = BTreeSet::new();
    while let Some(id) = pipes.reply().await {
        replied.insert(id);
    }
    assert_eq!(replied.len(), REQUESTS + WAITING);
}

#[tokio::test(start_paused = true)]
async fn client_that_closes_its_writing_end_gets_its_answer() {
    let mut pipes = Pipes::open(0).await;
    pipes.press(1, "back").await;
    pipes.writer.shutdown().await.unwrap();
    let began = Instant::now();
    let mut reply = None;
    while reply.is_none() && began.elapsed() < 2 * SLOW {
        reply = pipes.reply().await;
    }
    assert_eq!(reply, Some(1));
}

#[tokio::test(start_paused = true)]
async fn call_that_does_not_end_is_cancelled_some_time_after_its_client_has_left() {
    let mut pipes = Pipes::open(0).await;
    pipes.press(1, "volume_up").await;
    pipes.writer.shutdown().await.unwrap();
    let began = Instant::now();
    assert_eq!(pipes.cancelled.recv().await, Some(()));
    assert!((AFTER_END..2 * AFTER_END).contains(&began.elapsed()), "{:?}", began.elapsed());
}
