//! Server-sent events: bytes in, the data of events out. No sockets; a piece may end anywhere, inside a letter too.
//!
//! By the HTML standard, "Server-sent events": lines end with `\n`, `\r\n` or `\r`, an empty one ends an event, lines of one event's
//! `data` are joined by `\n`, and what is not known is skipped. Events' names are not kept: both dialects repeat them inside the data.

/// Takes a stream of events apart. What is not yet whole is kept; how much that may be, the caller bounds by what it hands in.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The data of the event that has not ended yet.
    data: Option<String>,
    /// Whether the last byte was `\r`: a `\n` behind it ends nothing more.
    returned: bool,
    /// Whether a line was there already: only the first may begin with a byte order mark.
    begun: bool,
}

impl Events {
    /// Takes in the next bytes; gives the data of each event that they end.
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

    /// The stream is over. An event that was not ended is given all the same, against the standard: some servers leave the last empty
    /// line out.
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
        // A line that begins with a colon is a comment: its field has no name.
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
        let mut events = Events::default();
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
    fn bytes_that_are_no_text_harm_nothing_else() {
        assert_eq!(events(&[b"data: \xff\xfe\n\ndata: on\n\n"]), ["\u{fffd}\u{fffd}", "on"]);
    }
}
