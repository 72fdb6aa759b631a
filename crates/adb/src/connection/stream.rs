//! One stream of a [`Connection`](super::Connection): its two queues and its state. The connection
//! handles ids and packets.

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};

use super::flow_control::FlowControl;
use crate::Error;

/// Smaller payloads are copied together, so that a few bytes do not keep a large buffer alive, and
/// many small ones cost no more than their bytes.
const COPIED: usize = 16 * 1024;

/// The result of reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadResult {
    /// The next bytes, never empty.
    Data(Bytes),
    /// Nothing has arrived yet.
    Wait,
    /// The peer closed the stream and all its data has been read.
    End,
    /// The stream broke and all earlier data has been read.
    Broken(Error),
}

/// The result of writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteResult {
    /// This many bytes were queued.
    Queued(usize),
    /// The queue is full.
    Full,
    /// The stream was closed by either end.
    Closed,
    /// The stream broke.
    Broken(Error),
}

/// The state of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StreamState {
    Opening,
    Offered,
    Open,
    Ended(StreamEnd),
}

/// How a stream ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StreamEnd {
    Closed,
    Refused,
    Broken(Error),
}

#[derive(Debug)]
pub(super) struct Stream {
    /// The peer's id; 0 until known.
    pub(super) remote: u32,
    pub(super) state: StreamState,
    /// Data to send after the WRTE in flight.
    pub(super) outbox: BytesMut,
    /// What may be sent, and what is owed.
    pub(super) flow: FlowControl,
    /// CLSE follows the outbox.
    pub(super) finishing: bool,
    /// The stream's last handle was dropped.
    pub(super) released: bool,
    /// It ended before everything queued was sent.
    pub(super) cut_short: bool,
    inbox: VecDeque<Bytes>,
    /// Small payloads received after the inbox.
    small: BytesMut,
    unread: usize,
}

impl Stream {
    pub(super) fn new(remote: u32, state: StreamState, flow: FlowControl) -> Self {
        Self {
            remote,
            state,
            outbox: BytesMut::new(),
            flow,
            finishing: false,
            released: false,
            cut_short: false,
            inbox: VecDeque::new(),
            small: BytesMut::new(),
            unread: 0,
        }
    }

    pub(super) fn may_send(&self) -> bool {
        self.state == StreamState::Open && self.flow.may_send()
    }

    /// A WRTE arrived. `false` if it was not allowed and too much is unread.
    pub(super) fn on_wrte(&mut self, length: usize) -> bool {
        self.flow.received(length, self.unread.saturating_add(length))
    }

    /// The payload of an OKAY that is due now, if any; it then counts as sent.
    pub(super) fn take_due_okay(&mut self) -> Option<Vec<u8>> {
        self.flow.take_due_okay(self.unread)
    }

    /// Why nothing can be written now, if so.
    pub(super) fn unwritable(&self, bound: usize) -> Option<WriteResult> {
        match &self.state {
            StreamState::Ended(StreamEnd::Broken(error)) => {
                Some(WriteResult::Broken(error.clone()))
            }
            StreamState::Ended(_) => Some(WriteResult::Closed),
            _ if self.finishing => Some(WriteResult::Closed),
            _ => (self.outbox.len() >= bound).then_some(WriteResult::Full),
        }
    }

    /// The progress of the outbox: all sent, some waiting, or the rest lost.
    pub(super) fn flushed(&self) -> WriteResult {
        match &self.state {
            StreamState::Ended(StreamEnd::Broken(error)) => WriteResult::Broken(error.clone()),
            StreamState::Ended(_) if self.cut_short => WriteResult::Closed,
            _ if self.outbox.is_empty() => WriteResult::Queued(0),
            _ => WriteResult::Full,
        }
    }

    pub(super) fn read(&mut self, max: usize) -> ReadResult {
        if self.inbox.is_empty() {
            self.coalesce_small();
        }
        if let Some(front) = self.inbox.front_mut() {
            let data = front.split_to(max.min(front.len()));
            if !front.has_remaining() {
                self.inbox.pop_front();
            }
            self.unread -= data.len();
            return ReadResult::Data(data);
        }
        match &self.state {
            StreamState::Ended(StreamEnd::Broken(error)) => ReadResult::Broken(error.clone()),
            StreamState::Ended(_) => ReadResult::End,
            _ => ReadResult::Wait,
        }
    }

    pub(super) fn push_received(&mut self, payload: Bytes) {
        if payload.is_empty() {
            return;
        }
        self.unread += payload.len();
        if payload.len() >= COPIED {
            self.coalesce_small();
            return self.inbox.push_back(payload);
        }
        self.small.extend_from_slice(&payload);
        if self.small.len() >= COPIED {
            self.coalesce_small();
        }
    }

    /// Moves small payloads to the inbox.
    fn coalesce_small(&mut self) {
        if !self.small.is_empty() {
            self.inbox.push_back(self.small.split().freeze());
        }
    }

    pub(super) fn discard_received(&mut self) {
        self.inbox = VecDeque::new();
        self.small = BytesMut::new();
        self.unread = 0;
    }
}
