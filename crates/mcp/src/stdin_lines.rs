//! Checks each line from a client before rmcp reads it: rmcp silently ignores unreadable lines, and
//! their sender would wait until its own timeout.
//!
//! [`Lines`] passes on each line of JSON, byte for byte, unless it can be repaired
//! ([`repair()`]). An invalid line that looks like a request
//! becomes a request for [`UNREADABLE`] with the same id, so that it gets an error response; the
//! first other invalid line is logged to stderr.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};

use super::repair::repair;

/// The method of a request that could not be parsed. Its parameter `why` has the reason.
pub(super) const UNREADABLE: &str = "thumbwire/unreadable";

/// The longest accepted line; rmcp's own limit.
const MAX_LENGTH: usize = 16 << 20;

/// How much of an overlong line is searched for its id.
const HEAD: usize = 4096;

/// How much of an invalid line is logged, in bytes.
const TOLD: usize = 40;

/// The size of a read, in bytes.
const PIECE: usize = 64 << 10;

/// A reader that passes on only valid lines.
pub(super) struct Lines<R> {
    inner: R,
    /// The read buffer.
    piece: Box<[u8]>,
    /// The incomplete line; of an overlong one only its head, which may contain the id.
    line: Vec<u8>,
    too_long: bool,
    /// The bytes to pass on, from `passed`.
    ready: Vec<u8>,
    passed: usize,
    first_invalid: FirstInvalidLine,
}

/// The start of the first invalid line, once one was read.
pub(super) type FirstInvalidLine = Arc<OnceLock<String>>;

impl<R> Lines<R> {
    /// Wraps a reader.
    pub(super) fn new(inner: R) -> Self {
        Self {
            inner,
            piece: vec![0; PIECE].into(),
            line: Vec::new(),
            too_long: false,
            ready: Vec::new(),
            passed: 0,
            first_invalid: FirstInvalidLine::default(),
        }
    }

    /// A handle to the first invalid line.
    pub(super) fn first_invalid(&self) -> FirstInvalidLine {
        Arc::clone(&self.first_invalid)
    }

    fn take_in(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (rest, next) = bytes.split_at(end + 1);
            self.extend(rest);
            self.finish_line();
            bytes = next;
        }
        self.extend(bytes);
    }

    fn extend(&mut self, bytes: &[u8]) {
        if !self.too_long && self.line.len() + bytes.len() > MAX_LENGTH {
            self.too_long = true;
            let missing = HEAD.saturating_sub(self.line.len()).min(bytes.len());
            self.line.extend_from_slice(&bytes[..missing]);
            self.line.truncate(HEAD);
            self.line.shrink_to_fit();
        } else if !self.too_long {
            self.line.extend_from_slice(bytes);
        }
    }

    fn finish_line(&mut self) {
        let too_long = std::mem::take(&mut self.too_long);
        let reason = match serde_json::from_slice::<Value>(without_mark(&self.line)) {
            _ if too_long => format!("the line is longer than {} MiB", MAX_LENGTH >> 20),
            Err(error) if !self.line.trim_ascii().is_empty() => error.to_string(),
            Ok(Value::Array(batch)) if batch.iter().any(|message| message.get("id").is_some()) => {
                self.line.clear();
                for id in
                    batch.into_iter().filter_map(|mut message| Some(message.get_mut("id")?.take()))
                {
                    self.refuse(&id, "batches are not supported; send single messages");
                }
                return;
            }
            Ok(message) if lacks_method(&message) => "`method` is missing".into(),
            Ok(mut message) => {
                if repair(&mut message) {
                    self.line = format!("{message}\n").into_bytes();
                }
                return self.ready.append(&mut self.line);
            }
            Err(_) => return self.ready.append(&mut self.line),
        };
        let line = std::mem::take(&mut self.line);
        match id(&line) {
            Some(id) => self.refuse(&id, &reason),
            None => self.note(&line, &reason),
        }
    }

    /// Passes on a request that gets an error with this reason.
    fn refuse(&mut self, id: &Value, reason: &str) {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": UNREADABLE, "params": { "why": reason } });
        self.ready.extend_from_slice(format!("{request}\n").as_bytes());
    }

    fn note(&self, line: &[u8], reason: &str) {
        let out = line.trim_ascii();
        let out = String::from_utf8_lossy(&out[..out.len().min(TOLD)]).into_owned();
        if self.first_invalid.set(out.clone()).is_ok() {
            tracing::warn!(
                "ignored {out:?} from the client: not a JSON-RPC message ({reason}). Further lines like it are ignored silently"
            );
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.passed == this.ready.len() {
            this.passed = 0;
            this.ready.clear();
            this.ready.shrink_to(PIECE);
            let mut piece = ReadBuf::new(&mut this.piece);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut piece))?;
            let read = piece.filled().len();
            if read > 0 {
                let piece = std::mem::take(&mut this.piece);
                this.take_in(&piece[..read]);
                this.piece = piece;
            } else if this.line.is_empty() {
                return Poll::Ready(Ok(()));
            } else {
                // The last line may lack a line end.
                this.finish_line();
            }
        }
        let some = (this.ready.len() - this.passed).min(into.remaining());
        into.put_slice(&this.ready[this.passed..this.passed + some]);
        this.passed += some;
        Poll::Ready(Ok(()))
    }
}

/// Whether a message has an id, but is neither a request nor a response.
fn lacks_method(message: &Value) -> bool {
    message.get("id").is_some()
        && ["method", "result", "error"].iter().all(|key| message.get(key).is_none())
}

/// Some editors write a byte order mark.
fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// The id in an invalid line, if it can be found: the value of the key `id` in the outermost
/// object, a string or an integer.
fn id(line: &[u8]) -> Option<Value> {
    let line = without_mark(line);
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = line.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let end = at + 1 + string_end(&line[at + 1..])?;
                let key = depth == 1 && &line[at..end] == b"\"id\"";
                let rest = line[end..].trim_ascii_start();
                if let Some(value) = rest.strip_prefix(b":").filter(|_| key) {
                    return scalar(value.trim_ascii_start());
                }
                at = end;
                continue;
            }
            _ if depth == 0 && !byte.is_ascii_whitespace() => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The length of a string up to and including its closing quote; `text` starts after the opening
/// one.
fn string_end(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    let end = text.iter().position(|&byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    end.map(|end| end + 1)
}

fn scalar(text: &[u8]) -> Option<Value> {
    let end = match text.strip_prefix(b"\"") {
        Some(inner) => 1 + string_end(inner)?,
        None => text.iter().position(|byte| !matches!(byte, b'-' | b'0'..=b'9'))?,
    };
    let value: Value = serde_json::from_slice(&text[..end]).ok()?;
    (value.is_string() || value.is_i64()).then_some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// Returns what is passed on, and the first invalid line.
    async fn read(input: &[u8]) -> (String, Option<String>) {
        let mut lines = Lines::new(input);
        let mut passed = String::new();
        lines.read_to_string(&mut passed).await.unwrap();
        (passed, lines.first_invalid().get().cloned())
    }

    #[tokio::test]
    async fn json_lines_pass_unchanged() {
        let long = format!("{{\"a\":\"{}\"}}\n", "x".repeat(3 * PIECE));
        for good in ["", "\n\r\n", "{\"a\":1}\n  {}\n", "\u{feff}{}\n", "[1,\"\\n\"]\r\n{}", &long]
        {
            assert_eq!(read(good.as_bytes()).await, (good.to_owned(), None), "{good:?}");
        }
    }

    #[tokio::test]
    async fn invalid_requests_get_an_error_for_their_id() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":5,"params":{"text":"\ud800"}}"#, "5", "hex escape"),
            (r#"{"params":{"id":1,"x":1e999},"id" : "a\"b"}"#, r#""a\"b""#, "number out of range"),
            (r#"{"id":-7,"params":{"half":"#, "-7", "EOF"),
            (r#"  {"a":"id","id":12 oops"#, "12", "expected"),
            (r#"{"jsonrpc":"2.0","id":8,"params":{}}"#, "8", "`method` is missing"),
        ];
        for (line, id, reason) in cases {
            let (passed, first_invalid) = read(format!("{line}\n{{}}\n").as_bytes()).await;
            let (request, rest) = passed.split_once('\n').unwrap();
            let request: Value = serde_json::from_str(request).unwrap();
            assert_eq!(
                (&request["id"].to_string()[..], &request["method"]),
                (id, &json!(UNREADABLE))
            );
            let message = request["params"]["why"].as_str().unwrap();
            assert!(
                message.contains(reason) && rest == "{}\n" && first_invalid.is_none(),
                "{message}, {rest:?}"
            );
        }
        let mut first_invalid = br#"{"id":3,"x":""#.to_vec();
        first_invalid.extend_from_slice(b"\xff\"}\n");
        assert!(read(&first_invalid).await.0.starts_with(r#"{"jsonrpc":"2.0","id":3,"#));
    }

    #[tokio::test]
    async fn each_request_of_a_batch_gets_an_error() {
        let batch = r#"[{"id":1,"method":"ping"},{"method":"note"},{"id":"b","method":"ping"}]"#;
        let (passed, _) = read(format!("{batch}\n{{}}\n").as_bytes()).await;
        let lines: Vec<Value> =
            passed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            (&lines[0]["id"], &lines[1]["id"], &lines[2]),
            (&json!(1), &json!("b"), &json!({}))
        );
        assert!(lines[1]["params"]["why"].as_str().unwrap().contains("batches"), "{passed}");
    }

    #[tokio::test]
    async fn overlong_requests_get_an_error() {
        let mut long = br#"{"id":9,"text":""#.to_vec();
        long.resize(MAX_LENGTH + 10, b'x');
        long.extend_from_slice(b"\"}\n{}\n");
        let (passed, _) = read(&long).await;
        assert!(passed.contains("\"id\":9") && passed.contains("longer than 16 MiB"), "{passed}");
        assert!(passed.ends_with("\n{}\n") && passed.len() < 300);
    }

    #[tokio::test]
    async fn the_first_invalid_line_is_recorded() {
        let noted = async |input: &str| {
            let (passed, first_invalid) = read(input.as_bytes()).await;
            assert!(!passed.contains("hello") && !passed.contains("GET"), "{passed}");
            first_invalid
        };
        assert_eq!(noted("{}\nhello\nworld\n").await.as_deref(), Some("hello"));
        assert_eq!(noted("GET / HTTP/1.1\r\nhost: x\r\n").await.as_deref(), Some("GET / HTTP/1.1"));
        assert_eq!(noted("{\"id\":null,\"x\":}\n").await.as_deref(), Some("{\"id\":null,\"x\":}"));
        let long = noted(&"x".repeat(100)).await.unwrap();
        assert!(long.len() == TOLD, "{long}");
    }

    proptest! {
        #[test]
        fn only_json_lines_pass(input in proptest::collection::vec(any::<u8>(), 0..200)) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let mut lines = Lines::new(&input[..]);
            let mut passed = Vec::new();
            runtime.block_on(lines.read_to_end(&mut passed)).unwrap();
            for line in passed.split(|byte| *byte == b'\n').filter(|it| !it.trim_ascii().is_empty()) {
                prop_assert!(serde_json::from_slice::<Value>(without_mark(line)).is_ok());
            }
        }
    }
}
