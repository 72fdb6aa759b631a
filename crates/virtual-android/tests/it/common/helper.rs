//! A host's end of the helper's wire, written only for the tests.

use super::Wired;
use serde_json::{Value, json};
use std::time::Duration;
use thumbwire_adb::{Stream, Transport as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

pub const JAR: &str = "/data/local/tmp/thumbwire-helper-1.jar";

/// The command with which a host starts it.
pub fn command(name: &str) -> String {
    format!(
        "mkdir -p /data/local/tmp/dalvik-cache; ANDROID_DATA=/data/local/tmp CLASSPATH={JAR} exec app_process /system/bin \
         org.thumbwire.helper.Main {name}"
    )
}

/// A running helper, held by its stream.
pub struct RunningHelper {
    pub stream: Stream,
    pub name: String,
}

/// The next piece of a shell v2 stream: its descriptor and bytes.
pub async fn piece(stream: &mut Stream) -> Option<(u8, Vec<u8>)> {
    let mut header = [0; 5];
    stream.read_exact(&mut header).await.ok()?;
    let length = u32::from_le_bytes(header[1..].try_into().expect("four")) as usize;
    let mut data = vec![0; length];
    stream.read_exact(&mut data).await.ok()?;
    Some((header[0], data))
}

impl RunningHelper {
    /// Starts it; does not wait until it is ready.
    pub async fn begun(wired: &Wired, name: &str) -> Self {
        Self::begun_by(wired, name, &command(name)).await
    }

    async fn begun_by(wired: &Wired, name: &str, command: &str) -> Self {
        let stream = wired.adb.open(&format!("shell,v2,raw:{command}")).await.expect("a shell");
        Self { stream, name: name.to_owned() }
    }

    /// Starts one that outlives its shell, and leaves the shell.
    pub async fn detached(wired: &Wired, name: &str) {
        let command = format!("trap '' HUP; {}", command(name));
        let mut held = Self::begun_by(wired, name, &command).await;
        assert_eq!(piece(&mut held.stream).await, Some((1, b"ready\n".to_vec())));
    }

    /// The same, and waits until it listens.
    pub async fn started(wired: &Wired, name: &str) -> Self {
        let mut held = Self::begun(wired, name).await;
        assert_eq!(piece(&mut held.stream).await, Some((1, b"ready\n".to_vec())));
        held
    }

    /// Its output until it ends, and its exit status.
    pub async fn end(mut self) -> (String, Option<u8>) {
        let mut output = Vec::new();
        let reading = async {
            while let Some((id, data)) = piece(&mut self.stream).await {
                match id {
                    3 => return Some(data[0]),
                    _ => output.extend(data),
                }
            }
            None
        };
        let status = timeout(Duration::from_secs(3_600), reading).await.expect("it hangs");
        (String::from_utf8(output).expect("text"), status)
    }
}

/// A helper on a phone whose shells run in a terminal.
pub async fn in_a_terminal(wired: &Wired, name: &str) -> Stream {
    let mut stream = wired.adb.open(&format!("shell:{}", command(name))).await.expect("opened");
    let mut output = Vec::new();
    while !output.ends_with(b"ready\r\n") {
        output.push(stream.read_u8().await.expect("it speaks"));
    }
    assert_eq!(output, b"ready\r\n");
    stream
}

/// A connection to the helper.
pub struct Talk {
    pub stream: Stream,
    next: u64,
}

impl Talk {
    /// Connects without sending anything.
    pub async fn opened(wired: &Wired, name: &str) -> Self {
        let stream = wired.adb.open(&format!("localabstract:{name}")).await.expect("connected");
        Self { stream, next: 1 }
    }

    /// Connects and greets.
    pub async fn known(wired: &Wired, name: &str) -> Self {
        let mut talk = Self::opened(wired, name).await;
        let hello = talk.ask(json!({"op": "hello", "protocol": 1})).await;
        assert_eq!(hello["ok"], true, "{hello}");
        talk
    }

    /// Sends a request and returns its id.
    pub async fn send(&mut self, mut request: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        request["id"] = id.into();
        self.stream.write_all(&framed(request.to_string().as_bytes())).await.expect("written");
        id
    }

    /// The next answer; `None` if the connection has ended.
    pub async fn answer(&mut self) -> Option<Value> {
        self.answer_and_body().await.map(|(header, _)| header)
    }

    /// The next answer with its body.
    pub async fn answer_and_body(&mut self) -> Option<(Value, Vec<u8>)> {
        let reading = async {
            let header = self.stream.read_u32().await.ok()?;
            let body = self.stream.read_u32().await.ok()?;
            let mut bytes = vec![0; header as usize + body as usize];
            self.stream.read_exact(&mut bytes).await.ok()?;
            let body = bytes.split_off(header as usize);
            Some((serde_json::from_slice(&bytes).expect("JSON"), body))
        };
        timeout(Duration::from_secs(3_600), reading).await.expect("it hangs")
    }

    /// Sends a request and waits for its answer.
    pub async fn ask(&mut self, request: Value) -> Value {
        let id = self.send(request).await;
        let answer = self.answer().await.expect("an answer");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Sends a request that ends another one, and returns both answers as they come.
    pub async fn ask_both(&mut self, request: Value) -> Vec<Value> {
        self.send(request).await;
        vec![self.answer().await.expect("an answer"), self.answer().await.expect("another")]
    }
}

/// A frame without a body.
pub fn framed(header: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u32).to_be_bytes().to_vec();
    bytes.extend(0_u32.to_be_bytes());
    bytes.extend(header);
    bytes
}
