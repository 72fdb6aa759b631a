//! Server-sent events: bytes in, the data of events out. No sockets; input may be split anywhere,
//! even inside a character.
//!
//! Follows the HTML standard, "Server-sent events": lines end with `\n`, `\r\n` or `\r`, an empty
//! line ends an event, an event's `data` lines are joined by `\n`, and unknown fields are skipped.
//! Event names are dropped, because both APIs repeat them in the data.

/// Parses a stream of events. Buffers incomplete events; the caller limits how much it passes in.
#[derive(Debug, Default)]
pub(super) struct SseParser {
    /// The incomplete line.
    line: Vec<u8>,
    /// The data of the incomplete event.
    data: Option<String>,
    /// Whether the last byte was `\r`: a `\n` after it does not end another line.
    returned: bool,
    /// Whether there was a line already: only the first may start with a byte order mark.
    begun: bool,
}

impl SseParser {
    /// Parses the next bytes. Returns the data of each event that they complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut ended = Vec::new();
        for &byte in bytes {
            let second = std::mem::replace(&mut self.returned, byte == b'\r') && byte == b'\n';
            match byte {
                b'\n' if second => {}
                b'\n' | b'\r' => ended.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        ended
    }

    /// Ends the stream. Returns the last event even if it is incomplete, unlike the standard: some
    /// servers omit the last empty line.
    pub(super) fn end(mut self) -> Option<String> {
        self.end_line().or(self.data)
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let first = !std::mem::replace(&mut self.begun, true);
        let line = if first { line.strip_prefix('\u{feff}').unwrap_or(&line) } else { &line };
        if line.is_empty() {
            return self.data.take();
        }
        // A line that starts with a colon is a comment: its field has no name.
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        if field == "data" {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                none => *none = Some(value.to_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "\u{feff}: a comment\r\nevent: one\r\ndata: {\"text\":\"grüß dich 👍\"}\r\n\r\nid: 7\ndata:a\ndata:  b\n\nretry: 3\n\n\
                          nothing known\rdata\r\rdata: [DONE]\n";

    fn events(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = SseParser::default();
        let mut all: Vec<String> = pieces.iter().flat_map(|piece| events.push(piece)).collect();
        all.extend(events.end());
        all
    }

    #[test]
    fn events_are_the_same_wherever_the_pieces_end() {
        let whole = events(&[STREAM.as_bytes()]);
        assert_eq!(whole, ["{\"text\":\"grüß dich 👍\"}", "a\n b", "", "[DONE]"]);
        for at in 0..=STREAM.len() {
            let (one, two) = STREAM.as_bytes().split_at(at);
            assert_eq!(events(&[one, two]), whole, "split at {at}");
        }
        let bytes: Vec<&[u8]> = STREAM.as_bytes().chunks(1).collect();
        assert_eq!(events(&bytes), whole);
    }

    #[test]
    fn invalid_utf8_affects_only_its_event() {
        assert_eq!(events(&[b"data: \xff\xfe\n\ndata: on\n\n"]), ["\u{fffd}\u{fffd}", "on"]);
    }
}
